/** The check of a question that comes from outside the page, as page/question.py does it. */

import { ORDERS, RULES, SIDES, whole } from "./link.js";
import { words } from "./words.js";

const [MAX_POINTS, MAX_NUMBER, MIN_NUMBER, MAX_NAME, MAX_SEED] = [300, 1e6, 1e-60, 40, 2 ** 31 - 1];
/** @type {Record<string, readonly unknown[]>} */
const CHOICES = { order: ORDERS, rule: RULES, sides: SIDES, bias: [true, false] };

/** The question with all its fields; an Error says what is wrong.
 * @param {object} asked @returns {Question} */
export function checkedQuestion(asked) {
  const given = /** @type {Preset["question"]} */ (asked);
  const question = whole(given);
  const { points, names, seed, start, mine } = question;
  for (const name of Object.keys(given)) if (!Object.hasOwn(whole({ points: [] }), name)) throw new Error(words.wrong.field(name));
  for (const [name, allowed] of Object.entries(CHOICES)) {
    const value = /** @type {Record<string, unknown>} */ (/** @type {unknown} */ (question))[name];
    if (!allowed.includes(value))
      throw new Error(words.wrong.choice(name, allowed, String(value).slice(0, 40)));
  }
  const texts = Array.isArray(names) && names.length === 2 &&
    names.every((name) => typeof name === "string" && [...name].length <= MAX_NAME);
  for (const [good, sentence] of /** @type {[boolean, string][]} */ ([
    [Array.isArray(points), words.wrong.points],
    [Array.isArray(points) && points.length <= MAX_POINTS, words.wrong.tooMany(MAX_POINTS)],
    [Number.isInteger(seed) && seed >= 0, words.wrong.seed],
    [seed <= MAX_SEED, words.wrong.largeSeed(MAX_SEED)],
    [texts, words.wrong.names(MAX_NAME)],
  ])) if (!good) throw new Error(sentence);
  const { mu, delta } = words.wrong;
  checkNumbers(mu, [question.step_size], 1);
  checkNumbers(delta, [question.threshold], 1);
  if (start !== null) checkNumbers(words.wrong.start, start, 3);
  if (mine !== null) checkNumbers(words.wrong.mine, mine, 3);
  points.forEach((point, row) => checkNumbers(words.wrong.point(row), point, 3));
  if (!(question.step_size > 0)) throw new Error(words.wrong.positive(mu));
  if (!(question.threshold >= 0)) throw new Error(words.wrong.notNegative(delta));
  points.forEach(([, , label], row) => {
    if (label !== 1 && label !== -1) throw new Error(words.wrong.label(row, label));
  });
  return question;
}

/** The left, bottom, right and top ends of a box. @param {unknown} box @returns {Sides["box"]} */
export function checkedBox(box) {
  checkNumbers(words.wrong.box, box, 4);
  return /** @type {Sides["box"]} */ (box);
}

/** @param {string} what @param {unknown} given @param {number} count */
function checkNumbers(what, given, count) {
  const values = Array.isArray(given) ? given : [];
  if (
    values.length !== count ||
    !values.every((value) => typeof value === "number" && Math.abs(value) <= MAX_NUMBER)
  ) {
    throw new Error(words.wrong.numbers(what, count, JSON.stringify(given)?.slice(0, 40)));
  }
  if (values.some((value) => value !== 0 && Math.abs(value) < MIN_NUMBER)) {
    throw new Error(words.wrong.tiny(what, JSON.stringify(given).slice(0, 60)));
  }
}
