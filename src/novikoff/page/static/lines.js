/** The fewest mistakes of any line, exactly.
 *
 * A mistake is a row with ⟨a, w⟩ ≤ 0. The planes ⟨a, w⟩ = 0 cut the space of all w into cells, on which
 * the mistakes are constant. Unless all rows lie in a plane, every cell has an edge along a vector
 * ±(a_i × a_j). So it is enough to look around each of these vectors: the rows with another product than
 * 0 keep their sign, and the others, which lie in one plane, are a smaller problem of the same kind. */

import { cross, product } from "./exact.js";

/** @typedef {import("./exact.js").Whole} Whole */

const ROUNDING = 2 ** -49; // more than the relative rounding error of a product of three rows, each number of which is rounded once

/** The rows that a line with the fewest mistakes classifies correctly, and its mistakes.
 * @param {Vec3[]} rows none is 0
 * @param {Whole[]} signed the same rows as whole numbers @returns {{right: number[], mistakes: number}} */
export function fewestMistakes(rows, signed) {
  const n = rows.length;
  let best = { right: /** @type {number[]} */ ([]), mistakes: n };
  const offer = (/** @type {number[]} */ right) => {
    if (n - right.length < best.mistakes) best = { right, mistakes: n - right.length };
  };
  const apart = (/** @type {number} */ i, /** @type {number} */ j) =>
    cross(signed[i], signed[j]).some(Boolean);
  const all = rows.map((_, row) => row);
  if (n > 0 && all.every((row) => !apart(0, row))) offer(alongLine(all, signed));
  const normal = normalOf(rows, signed);
  const views = normal ? alongNormal(rows, signed, normal) : rows;
  if (normal && all.every((row) => product(signed[row], normal) === 0n)) offer(inPlane(all, signed, normal));
  else if (normal) for (let i = 0; i < n; i++) for (let j = i + 1; j < n; j++) {
    const signs = signsAround(views, signed, i, j, best.mistakes);
    if (!signs) continue;
    const flat = all.filter((row) => signs[row] === 0);
    // The same vector is met at each pair of these rows; the first pair is enough.
    if (flat[0] !== i || flat.find((row) => apart(i, row)) !== j) continue;
    const local = inPlane(flat, signed, cross(signed[i], signed[j]));
    for (const side of [1, -1]) offer([...all.filter((row) => signs[row] === side), ...local]);
  }
  return { right: [...best.right].sort((a, b) => a - b), mistakes: best.mistakes };
}

/** A vector at right angles to the first row and to the row that is farthest from its direction; null if all are parallel.
 * @param {Vec3[]} rows @param {Whole[]} signed */
function normalOf([first], signed) {
  let best = /** @type {Whole | null} */ (null);
  let most = 0n;
  for (const row of first ? signed : []) {
    const normal = cross(signed[0], row);
    const size = product(normal, normal);
    if (size > most) [best, most] = [normal, size];
  }
  return best;
}

/** The rows with their exact product with `normal` as a coordinate, in place of the coordinate in which it is largest.
 * If all rows nearly lie in a plane, floats then tell them apart. Products of three rows keep their signs.
 * @param {Vec3[]} rows @param {Whole[]} signed @param {Whole} normal @returns {Vec3[]} */
function alongNormal(rows, signed, normal) {
  const size = (/** @type {bigint} */ value) => (value < 0n ? -value : value);
  const axis = [0, 1, 2].reduce((most, j) => (size(normal[j]) > size(normal[most]) ? j : most), 0);
  const heights = signed.map((row) => product(row, normal) * (normal[axis] < 0n ? -1n : 1n));
  const bits = Math.max(...heights.map((height) => size(height).toString(2).length));
  const scaled = heights.map((height) => {
    const cut = Math.max(0, size(height).toString(2).length - 64);
    return Number(height >> BigInt(cut)) * 2 ** (cut - bits);
  });
  if (heights.some((height, k) => height !== 0n && Math.abs(scaled[k]) < 2 ** -300)) return rows; // products could underflow
  return rows.map((row, k) => /** @type {Vec3} */ (row.map((value, j) => (j === axis ? scaled[k] : value))));
}

/** The signs of all products with a_i × a_j; null if both sides of it have too many mistakes, or if it is 0.
 * @param {Vec3[]} rows @param {Whole[]} signed @param {number} i @param {number} j @param {number} enough */
function signsAround(rows, signed, i, j, enough) {
  const [[a1, a2, a3], [b1, b2, b3]] = [rows[i], rows[j]];
  const [x, y, z] = [a2 * b3 - a3 * b2, a3 * b1 - a1 * b3, a1 * b2 - a2 * b1];
  const [ex, ey, ez] = [
    Math.abs(a2 * b3) + Math.abs(a3 * b2),
    Math.abs(a3 * b1) + Math.abs(a1 * b3),
    Math.abs(a1 * b2) + Math.abs(a2 * b1),
  ];
  let exact = /** @type {Whole | null} */ (null);
  let [plus, minus] = [0, 0];
  const signs = new Int8Array(rows.length);
  for (let k = 0; k < rows.length; k++) {
    const [c1, c2, c3] = rows[k];
    const value = c1 * x + c2 * y + c3 * z;
    const slip = ROUNDING * (Math.abs(c1) * ex + Math.abs(c2) * ey + Math.abs(c3) * ez);
    let sign = value > slip ? 1 : value < -slip ? -1 : 0;
    if (sign === 0 && k !== i && k !== j) {
      exact ??= cross(signed[i], signed[j]);
      if (!exact.some(Boolean)) return null;
      const whole = product(signed[k], exact);
      sign = whole > 0n ? 1 : whole < 0n ? -1 : 0;
    }
    signs[k] = sign;
    if (sign > 0) plus++;
    else if (sign < 0) minus++;
    if (plus >= enough && minus >= enough) return null;
  }
  return signs;
}

/** The rows of a plane that the best vector classifies correctly; `normal` is at right angles to the plane.
 * @param {number[]} flat @param {Whole[]} signed @param {Whole} normal */
function inPlane(flat, signed, normal) {
  let best = /** @type {number[]} */ ([]);
  for (const row of flat) {
    const ray = cross(normal, signed[row]);
    const values = flat.map((k) => product(signed[k], ray));
    const parallel = alongLine(flat.filter((_, k) => values[k] === 0n), signed);
    for (const right of [flat.filter((_, k) => values[k] > 0n), flat.filter((_, k) => values[k] < 0n)]) {
      if (right.length + parallel.length > best.length) best = [...right, ...parallel];
    }
  }
  return best;
}

/** The larger of the two groups of parallel rows that point to the same side.
 * @param {number[]} parallel @param {Whole[]} signed */
function alongLine(parallel, signed) {
  const same = parallel.filter((row) => product(signed[row], signed[parallel[0]]) > 0n);
  return 2 * same.length >= parallel.length ? same : parallel.filter((row) => !same.includes(row));
}
