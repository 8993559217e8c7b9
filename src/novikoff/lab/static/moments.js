/** The moments of a run: every look at a row, or every update where the looks are too many. */

import { degrees, say, sayVector } from "./dom.js";

/** @typedef {import("./types").Run} Run */
/** @typedef {import("./types").Full} Full */
/** @typedef {import("./types").Question} Question */
/** @typedef {import("./types").Moment} Moment */

/** @param {Run} run */
export const lastMoment = (run) => (run.visits ? run.visited : run.index.length);

/** @param {Run} run @param {number} moment @returns {Moment} */
export function momentOf(run, moment) {
  if (!run.visits || !run.visit_margin) {
    const t = Math.min(moment, run.index.length);
    return { t, row: t ? run.index[t - 1] : null, acted: t > 0, margin: t ? run.margin[t - 1] : 0 };
  }
  if (moment === 0) return { t: 0, row: null, acted: false, margin: 0 };
  const t = updatesBefore(run, moment);
  return {
    t,
    row: run.visits[moment - 1],
    acted: t > 0 && run.step[t - 1] === moment - 1,
    margin: run.visit_margin[moment - 1],
  };
}

/** The moment just after update t. @param {Run} run @param {number} t */
export const afterUpdate = (run, t) => (run.visits ? (t ? run.step[t - 1] + 1 : 0) : t);

/** @param {Run} run @param {number} moment */
function updatesBefore(run, moment) {
  let low = 0;
  let high = run.step.length;
  while (low < high) {
    const middle = (low + high) >> 1;
    if (run.step[middle] < moment) low = middle + 1;
    else high = middle;
  }
  return low;
}

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

/** y·(x₁, x₂, 1). @param {Question} question @param {number} row */
export function signedRow(question, row) {
  const [x1, x2, label] = question.points[row] ?? [0, 0, 1];
  return [label * x1, label * x2, question.bias ? label : 0];
}

/** @param {Question} question @param {number} row */
export const sayRow = (question, row) =>
  `row ${row + 1} (${(question.points[row]?.[2] ?? 1) > 0 ? "+" : "−"})`;

/**
 * What happens at a moment, in a sentence with its numbers.
 * @param {Full} full
 * @param {Question} question
 * @param {number} moment
 */
export function tell(full, question, moment) {
  const { run } = full;
  const { t, row, acted, margin } = momentOf(run, moment);
  const end = moment === lastMoment(run) ? ` ${ending(full)}` : "";
  if (row === null) {
    const w = sayVector(run.weights[0]);
    return `Start: w = ${w}. Rows are looked at in ${question.order.replace("_", " ")} order; ` +
      `a row with ⟨a, w⟩ ≤ ${say(question.threshold)} is a mistake.${end}`;
  }
  const name = sayRow(question, row);
  const had = `⟨a, w⟩ = ${say(margin, 3)}`;
  if (!acted) return `Look ${moment}: ${name} has ${had} > 0, so it is right and w stays.${end}`;
  const tau = run.tau[t - 1];
  const move = `w ← w + ${tau === 1 ? "" : `${say(tau)}·`}a = ${sayVector(run.weights[t])}`;
  const limit = question.threshold ? ` ≤ δ = ${say(question.threshold)}` : " ≤ 0";
  const angle = run.cosine && t > 1 ?
    ` Angle to w*: ${degrees(run.cosine[t - 1])} → ${degrees(run.cosine[t])}.` : "";
  if (question.rule === "aggressive") {
    return `Update ${t}: ${name} had ${had}${margin > 0 ? ", right already, and moves w all the same" : ""}: ${move}.${end}`;
  }
  return `t = ${t}: ${name} had ${had}${limit}, so ${move}.${angle}${end}`;
}

/** @param {Full} full */
function ending({ run }) {
  if (run.converged) return "Since then a full cycle without a mistake: done.";
  return `Stopped here, by ${run.stop}; the run would go on.`;
}
