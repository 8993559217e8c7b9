/** Questions as text: the link that restores everything, and tables that are pasted. All of it is
 * checked, for links come from strangers. */

const MAX_POINTS = 300;
const MAX_NUMBER = 1e6;
export const ORDERS = ["cyclic", "fixed", "permuted", "blocks", "random", "max_distance", "max_residual"];

/** @type {Omit<Question, "points">} */
const PLAIN = { order: "cyclic", seed: 0, bias: true, rule: "perceptron", step: 1, threshold: 0, start: null, mine: null };

/** @param {Partial<Question> & {points: Point[]}} given @returns {Question} */
export const whole = (given) => structuredClone({ ...PLAIN, ...given });

/** Only what differs from the usual. @param {Question} question */
export function brief(question) {
  const usual = /** @type {Record<string, unknown>} */ (PLAIN);
  return Object.fromEntries(Object.entries(question).filter(([name, value]) =>
    name === "points" || JSON.stringify(value) !== JSON.stringify(usual[name])));
}

/** @param {Question} question @param {number} moment */
export function toLink(question, moment) {
  const { points, ...rest } = brief(question);
  const parts = [`p=${points.map((/** @type {Point} */ point) => point.join(",")).join(";")}`, `at=${moment}`];
  for (const [name, value] of Object.entries(rest)) parts.push(`${name}=${Array.isArray(value) ? value.join(",") : value}`);
  return parts.join("&");
}

/**
 * The question of a link; an Error says in a sentence what is wrong with it.
 * @param {string} text
 * @returns {{question: Question, moment: number}}
 */
export function fromLink(text) {
  const given = new URLSearchParams(text);
  const known = ["p", "at", ...Object.keys(PLAIN)];
  for (const name of given.keys()) if (!known.includes(name)) throw new Error(`it has an unknown part “${name.slice(0, 20)}”`);
  const points = (given.get("p") ?? "").split(";").filter(Boolean).map((part) => {
    const [x, y, label] = numbers(part, 3);
    if (label !== 1 && label !== -1) throw new Error("a label is neither 1 nor −1");
    return /** @type {Point} */ ([x, y, label]);
  });
  if (points.length > MAX_POINTS) throw new Error(`it has ${points.length} points, and at most ${MAX_POINTS} are shown`);
  const question = whole({ points });
  question.order = oneOf(given.get("order") ?? "cyclic", ORDERS);
  question.rule = oneOf(given.get("rule") ?? "perceptron", ["perceptron", "aggressive"]);
  question.bias = oneOf(given.get("bias") ?? "true", ["true", "false"]) === "true";
  question.seed = count(given.get("seed") ?? "0");
  [question.step] = numbers(given.get("step") ?? "1", 1);
  [question.threshold] = numbers(given.get("threshold") ?? "0", 1);
  if (!(question.step > 0) || question.threshold < 0) throw new Error("μ must be positive, and δ not negative");
  for (const name of /** @type {const} */ (["start", "mine"])) {
    const value = given.get(name);
    if (value) question[name] = /** @type {Vec3} */ (numbers(value, 3));
  }
  return { question, moment: count(given.get("at") ?? "0") };
}

/**
 * Points of a pasted table: two numbers and a label in each line. The larger of two labels, or the
 * only one that begins with +, is positive.
 * @param {string} text
 * @returns {Point[]}
 */
export function fromTable(text) {
  const lines = text.trim().split(/\r?\n/).map((line) => line.trim().split(/\s*[,;\t]\s*|\s+/).map((cell) => cell.replace(/^"|"$/g, "")));
  if (lines.length && lines[0].slice(0, 2).some((cell) => !Number.isFinite(Number(cell)) || cell === "")) lines.shift();
  if (lines.length === 0) throw new Error("The table has no rows.");
  if (lines.length > MAX_POINTS) throw new Error(`The table has ${lines.length} rows; the lab takes at most ${MAX_POINTS}.`);
  const labels = [...new Set(lines.map((cells) => cells[2] ?? ""))];
  if (labels.length > 2) throw new Error(`The third column has ${labels.length} different labels; the lab takes two.`);
  const numeric = labels.every((label) => label !== "" && Number.isFinite(Number(label)));
  labels.sort((a, b) => (numeric ? Number(a) - Number(b) : a < b ? -1 : 1));
  const only = labels.length === 1 && /^(-|−|0$)/.test(labels[0]);
  return lines.map((cells, k) => {
    if (cells.length !== 3) throw new Error(`Line ${k + 1} of the table is not x₁, x₂, label.`);
    let spot;
    try {
      spot = numbers(cells.slice(0, 2).join(","), 2);
    } catch (error) {
      throw new Error(`Line ${k + 1} of the table: ${/** @type {Error} */ (error).message}.`);
    }
    return /** @type {Point} */ ([spot[0], spot[1], cells[2] === labels[labels.length - 1] && !only ? 1 : -1]);
  });
}

/** @param {string} text @param {number} wanted */
function numbers(text, wanted) {
  const found = text.split(",").map((part) => (part.trim() === "" ? NaN : Number(part)));
  if (found.length !== wanted) throw new Error(`“${text.slice(0, 20)}” is not ${wanted} number${wanted > 1 ? "s" : ""}`);
  if (!found.every((value) => Math.abs(value) <= MAX_NUMBER)) throw new Error(`“${text.slice(0, 20)}” is not between −10⁶ and 10⁶`);
  return found;
}

/** @param {string} value @param {string[]} words */
function oneOf(value, words) {
  if (!words.includes(value)) throw new Error(`“${value.slice(0, 20)}” is none of ${words.join(", ")}`);
  return value;
}

/** @param {string} text */
function count(text) {
  if (!/^\d{1,9}$/.test(text)) throw new Error(`“${text.slice(0, 20)}” is not a whole number`);
  return Number(text);
}
