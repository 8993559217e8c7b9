/** The check of a question that comes from outside the page, as page/question.py does it. */

import { ORDERS, whole } from "./link.js";

const [MAX_POINTS, MAX_NUMBER, MIN_NUMBER, MAX_NAME, MAX_SEED] = [300, 1e6, 1e-60, 40, 2 ** 31 - 1];
/** @type {Record<string, readonly unknown[]>} */
const CHOICES = { order: ORDERS, rule: ["perceptron", "aggressive", "pocket"], sides: ["line", "voted", "rbf", "poly", "network"], bias: [true, false] };

/** The question with all its fields; an Error says what is wrong. @param {object} asked @returns {Question} */
export function checkedQuestion(asked) {
  const given = /** @type {Preset["question"]} */ (asked);
  const question = whole(given);
  const { points, names, seed, start, mine } = question;
  for (const name of Object.keys(given)) if (!(name in whole({ points: [] }))) throw new Error(`The question has the unknown field '${name}'.`);
  for (const [name, allowed] of Object.entries(CHOICES)) {
    const value = /** @type {Record<string, unknown>} */ (/** @type {unknown} */ (question))[name];
    if (!allowed.includes(value)) throw new Error(`The field '${name}' must be ${allowed.join(" or ")}, not ${String(value).slice(0, 40)}.`);
  }
  const texts = Array.isArray(names) && names.length === 2 && names.every((name) => typeof name === "string" && [...name].length <= MAX_NAME);
  for (const [good, sentence] of /** @type {[boolean, string][]} */ ([
    [Array.isArray(points), "The field 'points' must be a list."],
    [Array.isArray(points) && points.length <= MAX_POINTS, `The lab draws at most ${MAX_POINTS} points. novikoff fit reads files of any size.`],
    [Number.isInteger(seed) && seed >= 0, "The seed must be a whole number."], [seed <= MAX_SEED, `The seed must be at most ${MAX_SEED}.`],
    [texts, `The names must be two texts of at most ${MAX_NAME} characters.`]])) if (!good) throw new Error(sentence);
  const numbers = [["The step size μ", [question.step_size], 1], ["The threshold δ", [question.threshold], 1], start && ["w₀", start, 3], mine && ["Your w*", mine, 3],
    ...points.map((point, row) => [`Point ${row + 1}`, point, 3])];
  for (const three of numbers) if (three) checkNumbers(.../** @type {[string, unknown, number]} */ (three));
  if (!(question.step_size > 0)) throw new Error("The step size μ must be positive.");
  if (!(question.threshold >= 0)) throw new Error("The threshold δ must not be negative.");
  points.forEach(([, , label], row) => { if (label !== 1 && label !== -1) throw new Error(`Point ${row + 1} has the label ${label}, not +1 or −1.`); });
  return question;
}

/** The left, bottom, right and top ends of a box. @param {unknown} box @returns {Sides["box"]} */
export function checkedBox(box) {
  checkNumbers("The box", box, 4);
  return /** @type {Sides["box"]} */ (box);
}

/** @param {string} what @param {unknown} given @param {number} count */
function checkNumbers(what, given, count) {
  const values = Array.isArray(given) ? given : [];
  if (values.length !== count || !values.every((value) => typeof value === "number" && Math.abs(value) <= MAX_NUMBER)) {
    throw new Error(`${what} must be ${count === 1 ? "a number" : `${count} numbers`} between −10⁶ and 10⁶, not ${JSON.stringify(given)?.slice(0, 40)}.`);
  }
  if (values.some((value) => value !== 0 && Math.abs(value) < MIN_NUMBER)) {
    throw new Error(`${what} has a number closer to 0 than 10⁻⁶⁰, too small for products in float64: ${JSON.stringify(given).slice(0, 60)}. Use 0, or other units.`);
  }
}
