/** The lab's answers, computed in the page: a second implementation of the contract lab.schema.json.
 *
 * Runs are computed in float64, as in the library. Verdicts, margins and bounds are exact, and so are
 * the contradictions and the fewest mistakes. The tests ask this module and the library the same
 * questions, and compare the answers. */

import {
  direction, fraction, nearestTo0, over, product, rootOf, rounded, separable, sum, times, unit,
  wholeNumbers, wholeRoot,
} from "./exact.js";
import { fewestMistakes } from "./lines.js";
import { used, whole } from "./link.js";
import { say } from "./numbers.js";
import { checkedBox, checkedQuestion } from "./question.js";
import { Generator, epochsOf } from "./random.js";
import { words } from "./words.js";

/** @typedef {import("./exact.js").Whole} Whole */
/** @typedef {import("./exact.js").Fraction} Fraction */
/** @typedef {{rows: Vec3[], whole: Whole[], power: number}} Problem the signed rows as floats, and as whole
 * numbers times 2^power */

const MAX_UPDATES = 300;
const MAX_VISITS = 2000;
const RUN_EPOCHS = 2000;
const KERNEL_EPOCHS = 200;
const GRID = 80; // points across and up that are shaded
const CLEAN = "a clean cycle";
const EPSILON = 2 ** -52; // twice the relative rounding error of a float

/** @param {Question} question @returns {Problem} */
function problemOf({ points, bias }) {
  const rows = points.map(
    ([x1, x2, label]) => /** @type {Vec3} */ ([label * x1, label * x2, bias ? label : 0]),
  );
  const { whole: signed, power } = wholeNumbers(rows);
  return { rows, whole: signed, power };
}

/** ⟨a, w⟩ in floats. @param {number[]} a @param {number[]} w */
const inner = (a, w) => a[0] * w[0] + a[1] * w[1] + a[2] * w[2];

/** A vector of the question, or zeros; without a bias its last number is 0.
 * @param {Question} question @param {Vec3 | null} given @returns {Vec3} */
const vectorOf = ({ bias }, given) => [given?.[0] ?? 0, given?.[1] ?? 0, bias ? given?.[2] ?? 0 : 0];

/** A number of a problem's unit, as a fraction.
 * @param {bigint} value @param {number} power @returns {Fraction} */
const inUnits = (value, power) => [value, 1n << BigInt(-power)];

/** Answer a question with the verdict, the reference w* of the proof, and the run.
 * @param {object} asked @returns {Answer} */
export function answerRun(asked) {
  const question = used(checkedQuestion(asked));
  if (question.points.length === 0) return { kind: "empty", sentence: words.answer.empty };
  const problem = problemOf(question);
  const near = nearestTo0(problem.whole);
  const apart = near.point.some(Boolean);
  const support = [...near.rows].sort((i, j) => i - j);
  const square = times(inUnits(product(near.point, near.point), 2 * problem.power), [1n, near.divisor ** 2n]);
  const found = apart
    ? { separated: question.points.map((_, row) => row), weak: null }
    : separable(problem.whole, near.rows);
  const kind = apart ? "separable" : found.weak ? "quasi-separable" : "inseparable";
  const best = apart ? unit(near.point) : null;
  const reference = referenceOf(question, problem, best, square);
  const ran = runOf(question, problem, reference);
  const told = { kind, support, separated: found.separated, run: ran, best, gamma: square };
  return {
    kind, sentence: headline(question, problem, told), w_star: best, support, separated: found.separated,
    ...(apart ? { weights: [] } : contradictionOf(question, near, found.weak)), reference, run: ran,
  };
}

/** R², exactly. @param {Problem} problem @returns {Fraction} */
function squaredRadius({ whole: rows, power }) {
  const largest = rows.map((a) => product(a, a)).reduce((a, b) => (a > b ? a : b));
  return inUnits(largest, 2 * power);
}

/** R, rounded up as the library rounds it. @param {Problem} problem */
const radiusAbove = ({ rows }) => Math.sqrt(Math.max(...rows.map((a) => inner(a, a)))) * (1 + 7 * EPSILON) * (1 + EPSILON);

/** γ, rounded down by the error of ⟨a, w*⟩ in floats, as the library rounds it. The run computes its products in
 * floats too, so it can make an update more than the exact ⌊R²/γ²⌋.
 * @param {Question} question @param {Problem} problem @param {Vec3} w of length 1 @param {Fraction} square γ² */
function marginBelow({ bias }, { rows }, w, square) {
  const gamma = rootOf(square, false);
  const error = (/** @type {Vec3} */ a) => ((bias ? 9 : 8) * Math.abs(a[0] * w[0]) + (bias ? 9 : 8) * Math.abs(a[1] * w[1]) + 9 * Math.abs(a[2] * w[2])) * EPSILON;
  const low = Math.min(...rows.map((a) => inner(a, w) - error(a)));
  return gamma - low <= 2 ** -36 * gamma ? Math.min(gamma, low) * (1 - EPSILON) : gamma;
}

/** The unit vector w* of the proof: the learner's own, or that of the largest margin.
 * @param {Question} question @param {Problem} problem
 * @param {Vec3 | null} best @param {Fraction} square γ² @returns {Reference | null} */
function referenceOf(question, problem, best, square) {
  const mine = vectorOf(question, question.mine);
  const own = mine.some(Boolean);
  if (!own && !best) return null;
  const length = Math.hypot(...mine);
  const w = own ? /** @type {Vec3} */ (mine.map((value) => value / length)) : /** @type {Vec3} */ (best);
  const { whole: [exact], power } = wholeNumbers([own ? mine : w]);
  const sides = problem.whole.map((a) => product(a, exact));
  const least = sides.reduce((a, b) => (a < b ? a : b));
  const squared = own
    ? times(inUnits(least * least, 2 * problem.power), [1n, product(exact, exact)])
    : square;
  const margin = least < 0n && own ? -rootOf(squared, true) : rootOf(squared, false);
  const bound = updateBound(question, problem, margin > 0 ? marginBelow(question, problem, w, squared) : null);
  return {
    w,
    margin,
    bound: bound === null ? null : Number(bound),
    bound_text: bound === null ? null : large(bound),
    formula: formulaOf(question),
    mine: own,
    wrong: sides.flatMap((side, row) => (side > 0n ? [] : [row])) };
}

/** The largest number of updates of this run, ⌊(R² + 2δ/μ)/γ² + 2‖w₀‖/(μγ)⌋; null if no theorem bounds it.
 * @param {Question} question @param {Problem} problem @param {number | null} margin γ, rounded down */
function updateBound(question, problem, margin) {
  if (margin === null || question.rule === "aggressive") return null;
  const [radius, gamma, mu, delta] = [radiusAbove(problem), margin, question.step_size, question.threshold].map(fraction);
  const square = times(gamma, gamma);
  const start = sum(...vectorOf(question, question.start).map(fraction).map((value) => times(value, value)));
  const [a, b] = over(sum(times(radius, radius), over(times([2n, 1n], delta), mu)), square);
  const [c, d] = over(times([4n, 1n], start), times(mu, mu, square));
  if (c === 0n) return a / b;
  const fine = 1n << 64n;
  return (a * fine / b + 1n + wholeRoot(c * fine * fine / d) + 1n) / fine;
}

/** The bound in letters. @param {Question} question */
function formulaOf(question) {
  const below = question.step_size === 1 ? "" : "/μ";
  const terms = [
    question.threshold > 0 && ` + 2δ${below}`,
    vectorOf(question, question.start).some(Boolean) && ` + 2γ‖w₀‖${below}`,
  ].filter(Boolean);
  return terms.length ? `(R²${terms.join("")})/γ²` : "R²/γ²";
}

/** An upper bound on a count, with two digits if it has more than 15. @param {bigint} bound */
function large(bound) {
  if (bound < 10n ** 15n) return bound.toLocaleString("en");
  const power = bound.toString().length - 1;
  const tens = 10n ** BigInt(power - 1);
  const digits = (bound + tens - 1n) / tens;
  return digits === 100n ? `1.0·10^${power + 1}` : `${digits / 10n}.${digits % 10n}·10^${power}`;
}

/** λ with the sum 1, the common point of the hulls, and weights that separate weakly.
 * @param {Question} question
 * @param {import("./exact.js").Nearest} near @param {Whole | null} weak */
function contradictionOf({ points, bias }, { rows, multipliers, divisor }, weak) {
  const weights = rows
    .map((row, k) => /** @type {[number, number]} */ ([row, rounded([multipliers[k], divisor], false)]))
    .sort(([i], [j]) => i - j);
  const plus = weights.filter(([row]) => points[row][2] > 0);
  const total = plus.reduce((done, [, weight]) => done + weight, 0);
  const mean = (/** @type {0 | 1} */ j) =>
    plus.reduce((done, [row, weight]) => done + weight * points[row][j], 0) / total;
  const meeting = !bias ? [0, 0] : plus.length ? [mean(0), mean(1)] : null;
  return {
    weights,
    ...(meeting && { meeting: /** @type {Spot} */ (meeting) }),
    ...(weak && { weak: direction(weak) }),
  };
}

/** @typedef {{kind: string, support: number[], separated: number[], run: Run, best: Vec3 | null, gamma: Fraction}} Told */

/** The verdict as a sentence. @param {Question} question @param {Problem} problem @param {Told} told */
function headline(question, problem, { kind, support, separated, run, best, gamma }) {
  const { bias, points, rule, threshold } = question;
  if (bias && new Set(points.map(([, , label]) => label)).size === 1) return words.answer.oneLabel;
  if (kind === "inseparable") return words.answer.inseparable(bias, support);
  if (kind === "quasi-separable")
    return words.answer.quasi(bias, separated.length, points.length - separated.length);
  const bound = updateBound(question, problem, best && marginBelow(question, problem, best, gamma));
  const made = run.index.length;
  return words.answer.separable({
    gamma: rootOf(gamma, false), radius: rootOf(squaredRadius(problem), true),
    limit: bound === null ? words.answer.noLimit :
      words.answer.limit(formulaOf(question), large(bound), threshold > 0, bound === 1n),
    made, converged: run.converged,
    mistakes: threshold > 0 || rule === "aggressive" ? run.mistakes[made] : null,
  });
}

/** The run, with its lists over t, which begin with t = 0.
 * @param {Question} question @param {Problem} problem @param {Reference | null} reference @returns {Run} */
function runOf(question, problem, reference) {
  const { rows } = problem;
  const raw = question.rule === "pocket" ? pocketRun(question, rows) : sweepRun(question, rows);
  const { index, n_steps, margin, visited, converged, stop, period } = raw;
  const start = vectorOf(question, question.start);
  const weights = [start];
  for (const row of index)
    weights.push(
      /** @type {Vec3} */ (
        weights[weights.length - 1].map((value, j) => value + question.step_size * rows[row][j])
      ),
    );
  const squares = weights.map((w) => inner(w, w));
  let mistakes = 0;
  const wrong = weights.map((w) => rows.filter((a) => !(inner(a, w) > 0)).length);
  const w_star = reference?.w;
  const along = w_star && weights.map((w) => inner(w, w_star));
  return {
    index, n_steps, margin, visited, converged, stop, weights,
    tau: index.map(() => question.step_size),
    averages: averagesOf(weights, n_steps),
    squared_norm: squares,
    errors: raw.errors ?? wrong,
    mistakes: [0, ...margin.map((m) => (mistakes += m > 0 ? 0 : 1))],
    period: period !== null && sumsAreExact(question, index.length) ? period : null,
    ...(raw.pocket && { pocket: raw.pocket }),
    ...visitsOf(question, rows, raw, weights),
    ...(along && {
      inner: along,
      cosine: along.map((value, t) => (squares[t] > 0 ? value / Math.sqrt(squares[t]) : 0)),
    }),
    bounds: proofBounds(question, problem, reference?.margin ?? 0, along?.[0] ?? 0, start, weights.length),
    ...(!start.some(Boolean) && { ceiling: ceilingsOf(squares, question.step_size) }),
  };
}

/** @typedef {{index: number[], n_steps: number[], margin: number[], visited: number, converged: boolean,
 *   stop: string, period: number | null, errors?: number[], pocket?: number[]}} Raw */

/** The perceptron or the aggressive rule, in the order of the question.
 * @param {Question} question @param {Vec3[]} rows @returns {Raw} */
function sweepRun(question, rows) {
  const { order, rule, seed, step_size: mu } = question;
  const threshold = rule === "aggressive" ? Infinity : question.threshold;
  const w = vectorOf(question, question.start);
  const raw = {
    index: /** @type {number[]} */ ([]),
    n_steps: /** @type {number[]} */ ([]),
    margin: /** @type {number[]} */ ([]),
    visited: 0,
    converged: false,
    stop: "the limit on updates",
    period: /** @type {number | null} */ (null),
  };
  const update = (/** @type {number} */ row, /** @type {number} */ m) => {
    raw.index.push(row);
    raw.n_steps.push(raw.visited);
    raw.margin.push(m);
    rows[row].forEach((value, j) => { w[j] += mu * value; });
    raw.visited++;
    return raw.index.length === MAX_UPDATES;
  };
  const ended = () => ({ ...raw, converged: true, stop: CLEAN });
  const watch = new Repetition(w);
  if (order.startsWith("max_")) {
    const lengths = rows.map((a) => (order === "max_distance" ? Math.sqrt(inner(a, a)) : 1));
    for (;;) {
      const worst = worstRow(rows, lengths, w, threshold);
      if (!worst) return ended();
      if (update(worst.row, worst.m)) return raw;
      if (raw.visited % rows.length === 0) raw.period ??= watch.compare(w);
    }
  }
  let epochs = 0;
  for (const epoch of epochsOf(order, rows.map((a) => inner(a, a)), seed)) {
    const before = raw.index.length;
    for (const row of epoch) {
      const m = inner(rows[row], w);
      if (m > threshold) raw.visited++;
      else if (update(row, m)) return raw;
    }
    const quiet =
      raw.index.length === before && (order !== "random" || rows.every((a) => inner(a, w) > threshold));
    if (quiet) return ended();
    if (order === "cyclic" || order === "fixed") raw.period ??= watch.compare(w);
    if (++epochs === RUN_EPOCHS) return { ...raw, stop: "the limit on epochs" };
  }
  return raw;
}

/** Brent's algorithm (1980): the number of rounds after which the weights at the end of a round repeat. */
class Repetition {
  /** @param {Vec3} w */
  constructor(w) {
    this.saved = [...w];
    this.since = 0;
    this.power = 1;
  }

  /** The period, if w at the end of a round is the saved w; otherwise null. @param {Vec3} w */
  compare(w) {
    const period = ++this.since;
    const repeats = w.every((value, j) => value === this.saved[j]);
    if (period === this.power) Object.assign(this, { saved: [...w], since: 0, power: 2 * period });
    return repeats ? period : null;
  }
}

/** Whether all numbers of a run are whole and below 2⁵³: then its sums are exact.
 * @param {Question} question @param {number} updates */
function sumsAreExact({ points, start, step_size }, updates) {
  const entries = points.flatMap(([x1, x2]) => [x1, x2]);
  const largest = Math.max(1, ...entries.map(Math.abs));
  const reach = Math.max(0, ...(start ?? []).map(Math.abs)) + updates * step_size * largest;
  return [...entries, ...(start ?? []), step_size].every(Number.isInteger) && 3 * reach * largest < 2 ** 53;
}

/** The row that the order "max distance" or "max residual" visits next, or null if no row needs an update.
 * @param {Vec3[]} rows @param {number[]} lengths @param {Vec3} w @param {number} threshold */
function worstRow(rows, lengths, w, threshold) {
  let worst = /** @type {{row: number, m: number} | null} */ (null);
  let least = Infinity;
  rows.forEach((a, row) => {
    const m = inner(a, w);
    if (m > threshold) return;
    const violation =
      lengths[row] > 0 ? (m - (threshold < Infinity ? threshold : 0)) / lengths[row] : Infinity;
    if (!worst || violation < least) [worst, least] = [{ row, m }, violation];
  });
  return /** @type {{row: number, m: number} | null} */ (worst);
}

/** The pocket algorithm: add a random misclassified row; keep the best w so far (Gallant 1990).
 * @param {Question} question @param {Vec3[]} rows @returns {Raw} */
function pocketRun(question, rows) {
  const rng = new Generator(question.seed);
  const w = vectorOf(question, question.start);
  const [index, margin, errors, pocket] = [[], [], [], []].map((list) => /** @type {number[]} */ (list));
  for (;;) {
    const margins = rows.map((a) => inner(a, w));
    const wrong = margins.flatMap((m, row) => (m > 0 ? [] : [row]));
    const t = errors.push(wrong.length) - 1;
    pocket.push(t === 0 || wrong.length < errors[pocket[t - 1]] ? t : pocket[t - 1]);
    if (wrong.length === 0 || t === MAX_UPDATES) {
      const stop = wrong.length === 0 ? "no mistake of w" : "the limit on updates";
      return {
        index,
        n_steps: index.map((_, k) => k),
        margin,
        visited: index.length,
        converged: wrong.length === 0,
        stop,
        period: null,
        errors,
        pocket,
      };
    }
    const row = wrong[rng.integer(wrong.length)];
    index.push(row);
    margin.push(margins[row]);
    rows[row].forEach((value, j) => { w[j] += value; });
  }
}

/** The mean of w over all rows visited up to each update.
 * @param {Vec3[]} weights @param {number[]} n_steps */
function averagesOf(weights, n_steps) {
  const total = [0, 0, 0];
  return weights.map((w, t) => {
    if (t === 0) return w;
    const stood = n_steps[t - 1] - (t > 1 ? n_steps[t - 2] : 0);
    weights[t - 1].forEach((value, j) => { total[j] += stood * value; });
    return /** @type {Vec3} */ (total.map((value, j) => (value + w[j]) / (n_steps[t - 1] + 1)));
  });
}

/** The rows in the order of their visits, with ⟨a, w⟩ at each; null if there are too many, or if they depend
 * on w.
 * @param {Question} question @param {Vec3[]} rows @param {Raw} raw @param {Vec3[]} weights */
function visitsOf({ order, rule, seed }, rows, { n_steps, visited }, weights) {
  if (rule === "pocket" || order.startsWith("max_") || visited > MAX_VISITS) return { visits: null };
  const visits = /** @type {number[]} */ ([]);
  for (const epoch of epochsOf(order, rows.map((a) => inner(a, a)), seed)) {
    visits.push(...epoch);
    if (visits.length >= visited) break;
  }
  visits.length = visited;
  let t = 0;
  return { visits, visit_margin: visits.map((row, k) => {
    while (t < n_steps.length && n_steps[t] < k) t++;
    return inner(rows[row], weights[t]);
  }) };
}

/** ‖w_t‖/Σ τ, rounded up: upper bounds on γ from w₀ = 0. @param {number[]} squares @param {number} mu */
function ceilingsOf(squares, mu) {
  const small = 2 ** -52;
  let [slip, steps] = [0, 0];
  return squares.map((square, t) => {
    if (t === 0) return null;
    const length = Math.sqrt(square) * (1 + 7 * small) + Math.sqrt(3) * 2 ** -537;
    slip += length;
    steps += mu;
    return (length + 4 * small * slip + 3 * t * 2 ** -1074) / steps * (1 + (t + 16) * small);
  });
}

/** The three inequalities of the proof for t = 0, 1, …: lower bounds on ⟨w*, w⟩ and on the cosine are rounded
 * down, upper bounds on ‖w‖² up.
 * @param {Question} question @param {Problem} problem @param {number} margin @param {number} along ⟨w*, w₀⟩
 * @param {Vec3} start @param {number} count */
function proofBounds({ step_size, threshold }, problem, margin, along, start, count) {
  const [mu, delta] = [step_size, threshold].map(fraction);
  const rise = times(mu, fraction(margin));
  const growth = sum(times(mu, mu, squaredRadius(problem)), times([2n, 1n], mu, delta));
  const first = sum(...start.map(fraction).map((value) => times(value, value)));
  const bounds = Array.from({ length: count }, (_, t) => {
    const below = sum(fraction(along), times([BigInt(t), 1n], rise));
    const above = sum(first, times([BigInt(t), 1n], growth));
    const cosine = below[0] < 0n ? -1 : above[0] > 0n ? rootOf(over(times(below, below), above), false) : 0;
    return [rounded(below, false), rounded(above, true), cosine];
  });
  const [lower, upper, cosines] = [0, 1, 2].map((k) => bounds.map((three) => three[k]));
  return { inner: lower, squared_norm: upper, cosine: cosines };
}


/** The vectors whose numbers are a float above or below those of a vector, at a few lengths. @param {Vec3} w @returns {Vec3[]} */
function neighboursOf(w) {
  const steps = [-EPSILON, 0, EPSILON];
  return [1, 1.1, 1.3, 1.7].flatMap((length) => steps.flatMap((x) => steps.flatMap((y) => steps.map((z) =>
    /** @type {Vec3} */ ([w[0] * length * (1 + x), w[1] * length * (1 + y), w[2] * length * (1 + z)])))));
}

/** Answer with a line of the fewest mistakes, which is exact. @param {object} asked @returns {Pocket} */
export function answerPocket(asked) {
  const question = checkedQuestion(asked);
  const problem = problemOf(question);
  const { rows, whole: signed } = problem;
  // Without a bias, f(x) = 0 is the negative class for points at the origin.
  const fixed = question.points.filter(([, , label], row) => label > 0 && !rows[row].some(Boolean)).length;
  const own = rows.map((_, row) => row).filter((row) => rows[row].some(Boolean));
  const { right, mistakes } = fewestMistakes(own.map((row) => rows[row]), own.map((row) => signed[row]));
  const chosen = right.map((k) => signed[own[k]]);
  const aim = chosen.length ? nearestTo0(chosen).point : /** @type {Whole} */ ([0n, 0n, 0n]);
  const wrong = (/** @type {Vec3} */ vector) => {
    const { whole: [exact] } = wholeNumbers([vector]);
    return own.filter((row) => product(signed[row], exact) <= 0n).length;
  };
  let [w, missed] = [/** @type {Vec3} */ ([0, 0, 0]), own.length];
  /** Take the best of some vectors, unless it is clear that there is no better one. @param {() => Vec3[]} vectors */
  const offer = (vectors) => {
    for (const vector of missed > mistakes ? vectors() : []) {
      const count = wrong(vector);
      if (count < missed) [w, missed] = [vector, count];
    }
  };
  offer(() => [unit(aim), direction(aim)]);
  // If the margin of these rows is tiny, rounding w may misclassify some of them.
  offer(() => neighboursOf(unit(aim)));
  offer(() => (question.bias ? [[0, 0, 1], [0, 0, -1]] : []));
  offer(() => runOf(used(question), problem, null).weights);
  const [errors, bound] = [fixed + missed, fixed + mistakes];
  const sentence = words.answer.fewest(question.bias, bound, errors);
  return { w, errors, bound, history: [[0, errors]], sentence };
}

/** Answer with the side of every point of a grid over a box.
 * @param {{question?: object, box?: unknown}} asked @returns {Sides} */
export function answerSides({ question: given, box: asked }) {
  const question = used(checkedQuestion(given ?? {}));
  const box = checkedBox(asked);
  const [left, bottom, right, top] = box;
  if (question.sides === "line") throw new Error(words.wrong.sidesOfLine);
  const { score, name } = scoreOf(question);
  const at = (/** @type {number} */ low, /** @type {number} */ high, /** @type {number} */ k) =>
    low + (k * (high - low)) / (GRID - 1);
  const rows = Array.from({ length: GRID }, (_, up) =>
    Array.from({ length: GRID }, (__, across) =>
      score(at(left, right, across), at(bottom, top, up)) > 0 ? "+" : "-",
    ).join(""),
  );
  const fit = question.points.filter(([x1, x2, label]) => score(x1, x2) * label > 0).length;
  return { box, rows, sentence: words.answer.shaded(name, fit, question.points.length) };
}

/** The score of the rule to shade, positive on the side +, and the rule in words. @param {Question} question
 * @returns {{score: (x1: number, x2: number) => number, name: string}} */
function scoreOf(question) {
  if (question.points.length === 0) throw new Error(words.wrong.noPoints);
  if (question.sides === "network") {
    const fires = (/** @type {boolean} */ on) => (on ? 1 : 0);
    return {
      score: (x1, x2) => fires(x1 + x2 >= 0.5) - fires(x1 + x2 >= 1.5) - 0.5,
      name: words.answer.network,
    };
  }
  return question.sides === "voted" ? voteOf(question) : kernelOf(question);
}

/** The voted perceptron: every w votes, once for each row visited with it (Freund and Schapire 1999).
 * @param {Question} question */
function voteOf(question) {
  if (question.rule === "pocket") throw new Error(words.wrong.noVote);
  const { weights, n_steps, visited } = runOf(question, problemOf(question), null);
  const votes = [...n_steps, visited].map((until, t) => until - (t ? n_steps[t - 1] : 0));
  const score = (/** @type {number} */ x1, /** @type {number} */ x2) =>
    weights.reduce((total, w, t) => total + (inner([x1, x2, 1], w) > 0 ? votes[t] : -votes[t]), 0);
  return { score, name: words.answer.vote };
}

/** The kernel perceptron, f(x) = Σ k_i·y_i·K(x_i, x). @param {Question} question */
function kernelOf({ points, bias, order, seed, sides }) {
  if (order.startsWith("max_")) throw new Error(words.wrong.noMaximum);
  const spread = [0, 1].reduce((total, j) => {
    const mean = points.reduce((done, point) => done + point[j], 0) / points.length;
    return total + points.reduce((done, point) => done + (point[j] - mean) ** 2, 0) / points.length;
  }, 0);
  const gamma = spread > 0 ? 1 / spread : 1; // the kernel is as wide as the points spread
  const constant = bias ? 1 : 0;
  const kernel = (/** @type {number[]} */ [x1, x2], /** @type {number[]} */ [z1, z2]) =>
    constant +
    (sides === "rbf"
      ? Math.exp(-gamma * ((x1 - z1) ** 2 + (x2 - z2) ** 2))
      : (gamma * (x1 * z1 + x2 * z2) + 1) ** 2);
  const [scores, counts] = [points.map(() => 0), points.map(() => 0)];
  let [mistakes, epochs, clean] = [0, 0, false];
  for (const epoch of epochsOf(order, points.map(([x1, x2]) => x1 * x1 + x2 * x2 + constant), seed)) {
    const before = mistakes;
    for (const row of epoch) if (scores[row] * points[row][2] <= 0) {
      mistakes++;
      counts[row] += points[row][2];
      points.forEach((point, k) => { scores[k] += points[row][2] * kernel(point, points[row]); });
    }
    epochs++;
    clean = mistakes === before && scores.every((score, row) => score * points[row][2] > 0);
    if (clean || epochs === KERNEL_EPOCHS) break;
  }
  const supports = points.map((_, row) => row).filter((row) => counts[row] !== 0);
  const g = say(gamma, 3);
  const formula = sides === "rbf" ? `exp(−${g}·‖x − z‖²)` : `(${g}·⟨x, z⟩ + 1)²`;
  const score = (/** @type {number} */ x1, /** @type {number} */ x2) =>
    supports.reduce((total, row) => total + counts[row] * kernel(points[row], [x1, x2]), 0);
  return { score, name: words.answer.kernel(formula, mistakes, clean, epochs) };
}

/** The files that this page can write. @param {{form?: string, question?: object}} asked */
export function answerExport({ form, question: given }) {
  if (form !== "csv") throw new Error(words.wrong.noFile);
  const { points, names } = whole(checkedQuestion(given ?? {}));
  const cell = (/** @type {unknown} */ value) =>
    /[",\n]/.test(String(value)) ? `"${String(value).replace(/"/g, '""')}"` : String(value);
  return [[...names, "label"], ...points].map((line) => `${line.map(cell).join(",")}\n`).join("");
}
