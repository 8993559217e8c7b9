/** Questions as text: the link that restores everything, and pasted tables. The library decides
 * whether it can answer them. */

import { words } from "./words.js";

export const ORDERS = ["cyclic", "fixed", "permuted", "blocks", "random", "max_distance", "max_residual"];
export const RULES = ["perceptron", "aggressive", "pocket"];
export const SIDES = ["line", "voted", "rbf", "poly", "network"];

/** @type {Omit<Question, "points">} */
const PLAIN = {
  order: "cyclic",
  seed: 0,
  bias: true,
  rule: "perceptron",
  step_size: 1,
  threshold: 0,
  start: null,
  mine: null,
  names: ["x₁", "x₂"],
  sides: "line",
};

/** @param {Partial<Question> & {points: Point[]}} given @returns {Question} */
export const whole = (given) => structuredClone({ ...PLAIN, ...given });

/** A question with the numbers that its rule uses: only the perceptron has a threshold δ, and the
 * pocket algorithm has no step size μ.
 * @param {Question} question @returns {Question} */
export const used = (question) => ({
  ...question,
  threshold: question.rule === "perceptron" ? question.threshold : 0,
  step_size: question.rule === "pocket" ? 1 : question.step_size,
});

/** The fields of a question that differ from their defaults. @param {Question} question */
export function brief(question) {
  const defaults = /** @type {Record<string, unknown>} */ (PLAIN);
  return Object.fromEntries(Object.entries(question).filter(([name, value]) =>
    name === "points" || JSON.stringify(value) !== JSON.stringify(defaults[name])));
}

/** @param {Question} question @param {number} moment */
export function toLink(question, moment) {
  const { points, ...others } = brief(question);
  const parts = [
    `p=${points.map((/** @type {Point} */ point) => point.join(",")).join(";")}`,
    `at=${moment}`,
  ];
  for (const [name, value] of Object.entries(others)) {
    parts.push(`${name}=${encodeURIComponent(typeof value === "string" ? value : JSON.stringify(value))}`);
  }
  return parts.join("&");
}

/** The question in a link. Anyone may have written it, so it may not be a valid question.
 * @param {string} text */
export function fromLink(text) {
  const {
    p = "",
    at = "",
    tour = "",
    challenge = "",
    score = "",
    ...others
  } = Object.fromEntries(new URLSearchParams(text));
  const numberOf = (/** @type {string} */ cell) => (isNumber(cell.trim()) ? Number(cell) : cell);
  const points = p.split(";").filter(Boolean).map((part) => part.split(",").map(numberOf));
  const more = Object.fromEntries(Object.entries(others).map(([name, value]) => [name, parsed(value)]));
  return {
    question: /** @type {Preset["question"]} */ ({ points, ...more }),
    moment: Math.max(0, parseInt(at, 10) || 0),
    tour: parseInt(tour, 10) || 0,
    challenge,
    score: score.slice(0, 80),
  };
}

/** The value of a JSON text, or the text itself if it is not JSON. @param {string} text */
function parsed(text) {
  try {
    return JSON.parse(text);
  } catch {
    return text;
  }
}

/** Three typed numbers with commas, semicolons or spaces between them; an empty text is 0, 0, 0.
 * @param {string} text @returns {Vec3 | null} */
export function fromNumbers(text) {
  const cells = text.trim() ? ascii(text).split(SEPARATOR) : ["0", "0", "0"];
  return cells.length === 3 && cells.every(isNumber) ? /** @type {Vec3} */ (cells.map(Number)) : null;
}

/** The points of a pasted table. Each line has two numbers and a label; a first line may name the
 * columns. The larger of two labels is positive, where + is 1 and − is −1; labels that are the same
 * number are one label, and words are compared as text. A single label is positive, unless it is
 * negative or 0.
 * @param {string} text @returns {Pick<Question, "points" | "names">} */
export function fromTable(text) {
  const cellsOf = (/** @type {string} */ line) =>
    line
      .trim()
      .split(SEPARATOR)
      .map((cell) => cell.replace(/^"|"$/g, ""));
  const lines = ascii(text).split(/\r?\n/).map(cellsOf);
  const [first, second] = lines[0];
  const head = [first, second].some((cell) => isNumber(cell) || isLost(cell)) ? 0 : 1;
  const rows = lines.slice(head);
  if (rows.length === 0) throw new Error(words.table.empty);
  rows.forEach((cells, k) => checkLine(cells, head + k + 1));
  const labelOf = (/** @type {string[]} */ cells) => {
    const label = /^[+-]$/.test(cells[2]) ? `${cells[2]}1` : cells[2];
    return isNumber(label) ? String(Number(label)) : label;
  };
  const labels = [...new Set(rows.map(labelOf))];
  if (labels.length > 2) throw new Error(words.table.labels(labels.length));
  const counted = labels.every(isNumber);
  labels.sort((a, b) => (counted ? Number(a) - Number(b) : a < b ? -1 : 1));
  const only = labels.length === 1 && /^(-|0$)/.test(labels[0]);
  const points = rows.map((cells) =>
    /** @type {Point} */ ([Number(cells[0]), Number(cells[1]), labelOf(cells) === labels.at(-1) && !only ? 1 : -1]));
  return { points, names: head && second ? [first, second] : PLAIN.names };
}

/** Throw an Error if the cells of a line are not two numbers and a label. @param {string[]} cells @param {number} line */
function checkLine(cells, line) {
  const { badLine, blank, missing, noLabel, noNumber } = words.table;
  if (cells.join("") === "") throw new Error(blank(line));
  const wrong = cells.slice(0, 2).find((cell) => !isNumber(cell));
  if (wrong) throw new Error(noNumber(line, wrong));
  if (cells.length === 2 || cells[2] === "") throw new Error(missing(line));
  if (cells.length !== 3 || wrong !== undefined) throw new Error(badLine(line));
  if (isLost(cells[2])) throw new Error(noLabel(line, cells[2]));
}

const SEPARATOR = /\s*[,;\t]\s*|\s+/;

/** A text with the signs, digits and separators of a keyboard: every printed minus sign or dash is a hyphen.
 * @param {string} text */
const ascii = (text) => text.trim().replace(/[−–—‒﹣－]/g, "-").replace(/[＋﹢]/g, "+");

/** Whether a cell stands for a number that is missing or has no value. @param {string | undefined} cell */
const isLost = (cell) => /^([+-]?(nan|inf(inity)?)|n\/?a|null|none|\?|\.|)$/i.test(cell ?? "") || Boolean(cell) && !Number.isNaN(Number(cell)) && !isNumber(cell);

/** @param {string | undefined} text */
const isNumber = (text) => Boolean(text) && Number.isFinite(Number(text));
