/** The moments of a run: every visit to a row, or every update if there are too many visits. */

import { used } from "./link.js";
import { words } from "./words.js";

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

/** The shortest loop at the end of a periodic run, which is seen twice: from one update to the update
 * with the same weights. @param {Run} run @returns {number[]} */
export function loopOf({ index, period, weights }) {
  const last = index.length;
  const equal = (/** @type {number} */ one, /** @type {number} */ other) =>
    weights[one].every((value, j) => value === weights[other][j]);
  for (let length = 1; period && 2 * length <= last; length++) {
    const repeats = Array.from({ length }, (_, k) => last - k).every(
      (at) => index[at - 1] === index[at - 1 - length] && equal(at, at - length),
    );
    if (repeats && equal(last - length, last))
      return Array.from({ length: length + 1 }, (_, k) => last - length + k);
  }
  return [];
}

/** y·(x₁, x₂, 1). @param {Question} question @param {number} row */
export function signedRow(question, row) {
  const [x1, x2, label] = question.points[row] ?? [0, 0, 1];
  return [label * x1, label * x2, question.bias ? label : 0];
}

/** The number of a row, with its sign. @param {Question} question @param {number} row */
export const sayNumber = (question, row) =>
  `${row + 1} (${(question.points[row]?.[2] ?? 1) > 0 ? "+" : "−"})`;

/** @param {Question} question @param {number} row */
export const sayRow = (question, row) => words.moment.row(sayNumber(question, row));

/** The guess that the run never ends. */
export const NEVER = "never";

/** How the run ends, compared with a guess: a number of updates, "never", or "" for no guess.
 * @param {Full} full @param {Question} given @param {string} guess */
export function outcome({ kind, run }, given, guess) {
  const { rule, threshold } = used(given);
  const { ended, longer, endless } = words.predict;
  const [made, updates, never] = [run.index.length, threshold > 0 || rule === "aggressive", guess === NEVER];
  if (run.converged) return ended(made, updates, guess, never);
  // With a margin, the theorem ends every run but that of the aggressive rule, which updates on every row.
  const ends = rule === "aggressive" ? false : kind === "separable" ? true : null;
  return kind === "separable" || kind === "undecided" ? longer(made, updates, guess, never, ends) : endless(guess, never);
}

/** A sentence about a moment of the run, with its numbers.
 * @param {Full} full @param {Question} given @param {number} moment */
export function tell({ run, reference }, given, moment) {
  const question = used(given);
  const { row, acted } = momentOf(run, moment);
  const { ended, stopped, allRight } = words.moment;
  const event = row === null ? words.moment.start(question, Boolean(run.pocket), run.weights[0]) :
    tellVisit(run, question, moment, reference !== null && reference.margin > 0);
  if (moment < lastMoment(run)) return event;
  if (!run.converged) return event + stopped(run.stop, run.period);
  return event + (run.pocket ? allRight : ended(acted, question.threshold));
}

/** A sentence about the visit to a row. @param {Run} run @param {Question} question @param {number} moment
 * @param {boolean} proves whether w* has a margin: only then the angle to it means something */
function tellVisit(run, question, moment, proves) {
  const { t, row, acted, margin } = momentOf(run, moment);
  const { aggressive, angle, had, pocket: pocketed, random, skipped, update } = words.moment;
  const visit = had(sayRow(question, /** @type {number} */ (row)), margin);
  if (!acted) return skipped(moment, lastMoment(run), visit, question.threshold);
  const move = words.moment.move(run.tau[t - 1], run.weights[t]);
  if (run.pocket) {
    const [before, now] = [run.pocket[t - 1], run.pocket[t]];
    return random(t, visit, move) + pocketed(run.errors[t], run.errors[before], now === t);
  }
  if (question.rule === "aggressive") return aggressive(t, visit, margin > 0, move);
  const turn = run.cosine && proves && t > 1 ? angle(run.cosine[t - 1], run.cosine[t]) : "";
  return update(t, visit, question.threshold, move) + turn;
}
