/** The moments of a run: every visit to a row, or every update if there are too many visits. */

import { degrees, say, sayVector } from "./dom.js";
import { used } from "./link.js";

/** @param {Run} run */
export const lastMoment = (run) => (run.visits ? run.visited : run.index.length);

/** @param {Run} run @param {number} moment @returns {Moment} */
export function momentOf(run, moment) {
  const { index, margin, n_steps, visits, visit_margin: margins } = run;
  const t = visits ? n_steps.filter((before) => before < moment).length : Math.min(moment, index.length);
  if (moment === 0) return { t, row: null, acted: false, margin: 0 };
  if (!visits || !margins) return { t, row: index[t - 1], acted: true, margin: margin[t - 1] };
  return { t, row: visits[moment - 1], acted: n_steps[t - 1] === moment - 1, margin: margins[moment - 1] };
}

/** The moment just after update t. @param {Run} run @param {number} t */
export const afterUpdate = (run, t) => (run.visits ? (t ? run.n_steps[t - 1] + 1 : 0) : t);

/** @param {Run} run @param {number} moment */
export function nextMistake(run, moment) {
  const { t } = momentOf(run, moment);
  return t < run.index.length ? afterUpdate(run, t + 1) : lastMoment(run);
}

/** @param {Run} run @param {number} moment */
export function previousMistake(run, moment) {
  const { t } = momentOf(run, moment);
  const here = afterUpdate(run, t);
  return here < moment ? here : afterUpdate(run, Math.max(0, t - 1));
}

/** The shortest loop at the end of a periodic run, which is seen twice: from one update to the update with the same weights.
 * @param {Run} run @returns {number[]} */
export function loopOf({ index, period, weights }) {
  const last = index.length;
  const equal = (/** @type {number} */ one, /** @type {number} */ other) => weights[one].every((value, j) => value === weights[other][j]);
  for (let length = 1; period && 2 * length <= last; length++) {
    const repeats = Array.from({ length }, (_, k) => last - k).every((at) => index[at - 1] === index[at - 1 - length] && equal(at, at - length));
    if (repeats && equal(last - length, last)) return Array.from({ length: length + 1 }, (_, k) => last - length + k);
  }
  return [];
}

/** y·(x₁, x₂, 1). @param {Question} question @param {number} row */
export function signedRow(question, row) {
  const [x1, x2, label] = question.points[row] ?? [0, 0, 1];
  return [label * x1, label * x2, question.bias ? label : 0];
}

/** @param {Question} question @param {number} row */
export const sayRow = (question, row) =>
  `row ${row + 1} (${(question.points[row]?.[2] ?? 1) > 0 ? "+" : "−"})`;

/** The guess that the run never ends. */
export const NEVER = "never";

/** How the run ends, compared with a guess: a number of updates, "never", or "" for no guess.
 * @param {Full} full @param {Question} given @param {string} guess */
export function outcome({ kind, run }, given, guess) {
  const { rule, threshold } = used(given);
  const made = run.index.length;
  const noun = `${threshold || rule === "aggressive" ? "update" : "mistake"}${made === 1 ? "" : "s"}`;
  const yours = guess === NEVER ? "You said that it never ends" : `You said ${guess}`;
  if (run.converged) {
    const error = Number(guess) - made;
    const judged = guess === NEVER ? `${yours}: it does end.` : error === 0 ? `${yours}: exactly right.` : `${yours}: ${Math.abs(error)} too ${error < 0 ? "few" : "many"}.`;
    return `The run made ${made} ${noun}.${guess ? ` ${judged}` : ""}`;
  }
  if (kind === "separable" || kind === "undecided") return `The run makes at least ${made} ${noun}, more than are shown.${guess ? ` ${yours}.` : ""}`;
  return `The run never ends: no line separates the points, so every w misclassifies a row.${guess ? ` ${yours}: ${guess === NEVER ? "right" : "not right"}.` : ""}`;
}

/** A sentence about a moment of the run, with its numbers. @param {Full} full @param {Question} given @param {number} moment */
export function tell({ run }, given, moment) {
  const question = used(given);
  const { t, row, acted, margin } = momentOf(run, moment);
  const last = lastMoment(run);
  const end = moment < last ? "" : !run.converged ? ` The run was stopped here by ${run.stop}; it ${run.period ? `repeats every ${run.period === 1 ? "round" : `${run.period} rounds`} and never ends` : "has not ended"}.` :
    run.pocket ? " w classifies every row correctly: the run ends." : `${acted ? " After it comes" : " This completes"} a full round without ${question.threshold ? "an update" : "a mistake"}: the run ends.`;
  if (row === null) {
    const added = question.step_size === 1 ? "a is added to w" : "μ·a is added to w";
    const acts = question.rule === "aggressive" ? `at every visit ${added}, whether the row is a mistake (⟨a, w⟩ ≤ 0) or not` :
      `if ⟨a, w⟩ ≤ ${say(question.threshold)}${question.threshold ? "" : ", which is a mistake,"} ${added}`;
    const turns = run.pocket ? "In each step, a misclassified row a is drawn at random and added to w. If the new w misclassifies fewer rows than the w in the pocket, it replaces the w in the pocket" :
      `Rows are visited in ${question.order.replace("_", " ")} order; ${acts}`;
    return `Start: w = ${sayVector(run.weights[0])}. Each point is a row a = y·(x₁, x₂${question.bias ? ", 1" : ""}), where y is its label. ${turns}.${end}`;
  }
  const had = `${sayRow(question, row)} had ⟨a, w⟩ = ${say(margin, 3)}`;
  if (!acted) return `Visit ${moment} of ${last}: ${had} > ${say(question.threshold)}, so ${question.threshold ? "" : "it is classified correctly and "}w does not change.${end}`;
  const factor = run.tau[t - 1] === 1 ? "" : `${say(run.tau[t - 1])}·`;
  const move = `w ← w + ${factor}a = ${sayVector(run.weights[t])}.`;
  if (run.pocket) return `Update ${t}: ${had}, a random mistake, so ${move} ${sayPocket(run, t)}${end}`;
  if (question.rule === "aggressive") return `Update ${t}: ${had}, ${margin > 0 ? "which is correct, but this rule updates anyway" : "a mistake"}: ${move}${end}`;
  const limit = question.threshold ? `δ = ${say(question.threshold)}` : "0";
  const angle = run.cosine && t > 1 ? ` Angle to w*: ${degrees(run.cosine[t - 1])} → ${degrees(run.cosine[t])}.` : "";
  return `${limit === "0" ? "Mistake" : "Update"} t = ${t}: ${had} ≤ ${limit}, so ${move}${angle}${end}`;
}

/** A sentence about the pocket at update t. @param {Run} run @param {number} t */
function sayPocket({ errors, pocket = [] }, t) {
  const before = errors[pocket[t - 1]];
  return pocket[t] === t ? `The new w misclassifies ${errors[t]}, fewer than the ${before} of the pocket, and replaces it.` :
    `The new w misclassifies ${errors[t]}, not fewer than the ${before} of the pocket, so the pocket stays.`;
}
