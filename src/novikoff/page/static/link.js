/** Questions as text: the link that restores everything, and tables that are pasted. Whether they
 * can be answered is for the library to say. */

export const ORDERS = ["cyclic", "fixed", "permuted", "blocks", "random", "max_distance", "max_residual"];

/** @type {Omit<Question, "points">} */
const PLAIN = { order: "cyclic", seed: 0, bias: true, rule: "perceptron", step: 1, threshold: 0, start: null, mine: null, names: ["x₁", "x₂"], sides: "line" };

/** @param {Partial<Question> & {points: Point[]}} given @returns {Question} */
export const whole = (given) => structuredClone({ ...PLAIN, ...given });

/** The numbers that the rule uses: only the perceptron has a threshold δ, and the pocket has no step μ.
 * @param {Question} question @returns {Question} */
export const used = (question) => ({ ...question,
  threshold: question.rule === "perceptron" ? question.threshold : 0, step: question.rule === "pocket" ? 1 : question.step });

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
  for (const [name, value] of Object.entries(rest)) parts.push(`${name}=${encodeURIComponent(typeof value === "string" ? value : JSON.stringify(value))}`);
  return parts.join("&");
}

/** What a link asks; it may come from a stranger, and be no question at all. @param {string} text */
export function fromLink(text) {
  const { p = "", at = "", ...rest } = Object.fromEntries(new URLSearchParams(text));
  const points = p.split(";").filter(Boolean).map((part) => part.split(",").map(Number));
  const more = Object.fromEntries(Object.entries(rest).map(([name, value]) => [name, parsed(value)]));
  return { question: /** @type {Preset["question"]} */ ({ points, ...more }), moment: Math.max(0, parseInt(at, 10) || 0) };
}

/** JSON, or else a word. @param {string} text */
function parsed(text) {
  try {
    return JSON.parse(text);
  } catch {
    return text;
  }
}

/** Three numbers that were typed, with commas, semicolons or blanks between them; nothing is zero.
 * @param {string} text @returns {Vec3 | null} */
export function fromNumbers(text) {
  const cells = text.trim() ? ascii(text).split(SEPARATOR) : ["0", "0", "0"];
  return cells.length === 3 && cells.every(isNumber) ? /** @type {Vec3} */ (cells.map(Number)) : null;
}

/** Points of a pasted table: two numbers and a label in each line, and names above, if there are any.
 * The larger of two labels is positive, where + is 1 and − is −1; words are compared as text. A label
 * that is alone is positive, unless it is negative or 0.
 * @param {string} text @returns {Pick<Question, "points" | "names">} */
export function fromTable(text) {
  const lines = ascii(text).split(/\r?\n/).map((line) => line.trim().split(SEPARATOR).map((cell) => cell.replace(/^"|"$/g, "")));
  const [first, second] = lines[0];
  const head = [first, second].every(isNumber) ? 0 : 1;
  const rows = lines.slice(head);
  if (rows.length === 0) throw new Error("The table has no rows: each is x₁, x₂, label.");
  const labels = [...new Set(rows.map((cells) => cells[2]))];
  if (labels.length > 2) throw new Error(`The third column has ${labels.length} different labels; the lab takes two.`);
  const sign = (/** @type {string} */ label) => (label === "+" || label === "-" ? `${label}1` : label);
  const counted = labels.map(sign).every(isNumber);
  labels.sort((a, b) => (counted ? Number(sign(a)) - Number(sign(b)) : a < b ? -1 : 1));
  const only = labels.length === 1 && /^(-|0$)/.test(labels[0]);
  const points = rows.map((cells, k) => {
    if (cells.length !== 3 || !cells.slice(0, 2).every(isNumber)) throw new Error(`Line ${head + k + 1} of the table is not x₁, x₂, label.`);
    return /** @type {Point} */ ([Number(cells[0]), Number(cells[1]), cells[2] === labels.at(-1) && !only ? 1 : -1]);
  });
  return { points, names: head && second ? [first, second] : PLAIN.names };
}

const SEPARATOR = /\s*[,;\t]\s*|\s+/;

/** With the minus of a keyboard in the place of the printed one. @param {string} text */
const ascii = (text) => text.trim().replace(/−/g, "-");

/** @param {string | undefined} text */
const isNumber = (text) => Boolean(text) && Number.isFinite(Number(text));
