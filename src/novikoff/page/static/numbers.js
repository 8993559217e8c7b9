/** Numbers as people read them. Bounds are rounded to the safe side. */

const LOCALE = "en"; // how digits are grouped and points are written

/** A number for people, rounded to the nearest: a true minus sign, four significant digits, no −0.
 * @param {number} value */
export function say(value, digits = 4) {
  const size = Math.abs(value);
  const text = !Number.isFinite(value) ? "∞" :
    size >= 1e15 ? size.toExponential(digits - 1) : // floats have no more digits
    size >= 10 ** digits ? Math.round(size).toLocaleString(LOCALE) :
    size !== 0 && size < 1e-4 ? size.toExponential(1) :
    Number(size.toPrecision(digits)).toLocaleString(LOCALE, { maximumFractionDigits: 12 });
  return (value < 0 && text !== "0" ? "−" : "") + text;
}

/** A lower bound for people: not above the number. @param {number} value */
export const sayDown = (value, digits = 4) => say(cut(value, digits, value < 0), digits);

/** An upper bound for people: not below the number. @param {number} value */
export const sayUp = (value, digits = 4) => say(cut(value, digits, value > 0), digits);

/** A number cut to the digits that `say` shows, or rounded away from zero if digits are lost. 60
 * decimals are enough to see whether any digit is lost.
 * @param {number} value @param {number} digits @param {boolean} away */
function cut(value, digits, away) {
  if (!Number.isFinite(value) || value === 0) return value;
  const [mantissa, power] = Math.abs(value).toExponential(60).split("e");
  const shown =
    Math.abs(value) < 1e-4 ? 2 : Math.abs(value) >= 1e15 ? digits : Math.max(digits, Number(power) + 1);
  const [kept, lost] = [mantissa.replace(".", "").slice(0, shown), mantissa.slice(shown + 1)];
  const whole = BigInt(kept) + (away && /[1-9]/.test(lost) ? 1n : 0n);
  return Math.sign(value) * Number(`${whole}e${Number(power) - kept.length + 1}`);
}

/** A number in few characters, such as 2.9M. @param {number} value */
export const brieflySay = (value) =>
  Math.abs(value) < 1e4
    ? say(value, 3)
    : new Intl.NumberFormat(LOCALE, { notation: "compact" }).format(value);

/** @param {number[]} vector */
export const sayVector = (vector) => `(${vector.map((value) => say(value, 3)).join(", ")})`;

/** @param {number} cosine */
export const degrees = (cosine) => `${say(Math.acos(Math.min(1, Math.max(-1, cosine))) * 180 / Math.PI, 3)}°`;
