/** Exact geometry of up to 300 rows: floats are fractions, and whole numbers of any length have exact signs.
 *
 * Rows are vectors of three whole numbers (the third is 0 without a bias). `nearestTo0` is Wolfe's
 * nearest point of the convex hull of the rows, in exact arithmetic, so that each verdict is a proof:
 * if the point is not 0, it is the w of the largest margin; if it is 0, its multipliers contradict w. */

/** @typedef {[bigint, bigint]} Fraction a numerator and a positive denominator */
/** @typedef {[bigint, bigint, bigint]} Whole three whole numbers */
/** @typedef {{point: Whole, divisor: bigint, rows: number[], multipliers: bigint[]}} Nearest
 * point/divisor is the nearest point, and also Σ multiplier·row/divisor */

const BITS = new DataView(new ArrayBuffer(8));
const DIGITS = 53; // of a float, in bits

/** A float as a whole number times a power of two. @param {number} value @returns {[bigint, number]} */
function binary(value) {
  BITS.setFloat64(0, value);
  const bits = BITS.getBigUint64(0);
  const power = Number((bits >> 52n) & 0x7ffn);
  const size = (bits & 0xfffffffffffffn) | (power ? 1n << 52n : 0n);
  return [bits >> 63n ? -size : size, Math.max(power, 1) - 1075];
}

/** @param {number} value @returns {Fraction} */
export function fraction(value) {
  const [size, power] = binary(value);
  return power < 0 ? [size, 1n << BigInt(-power)] : [size << BigInt(power), 1n];
}

/** @param {Fraction[]} terms @returns {Fraction} */
export const sum = (...terms) => terms.reduce(([a, b], [c, d]) => [a * d + c * b, b * d]);

/** @param {Fraction[]} factors @returns {Fraction} */
export const times = (...factors) => factors.reduce(([a, b], [c, d]) => [a * c, b * d]);

/** @param {Fraction} above @param {Fraction} below a positive number @returns {Fraction} */
export const over = ([a, b], [c, d]) => [a * d, b * c];

/** The length of a number in bits, or up to three more. @param {bigint} value */
const lengthOf = (value) => 4 * value.toString(16).length;

/** The largest whole number whose square is not above a number. @param {bigint} square */
export function wholeRoot(square) {
  if (square < 2n) return square;
  let root = 1n << BigInt(lengthOf(square) / 2 + 1);
  for (;;) {
    const next = (root + square / root) >> 1n;
    if (next >= root) return root;
    root = next;
  }
}

/** The float next to head·2^power, where `more` says whether digits beyond head are lost.
 * @param {bigint} head @param {number} power @param {boolean} more @param {boolean} up */
function cutFloat(head, power, more, up) {
  const cut = BigInt(Math.max(0, head.toString(2).length - DIGITS));
  const kept = head >> cut;
  const away = up && (more || kept << cut !== head);
  return Number(kept + (away ? 1n : 0n)) * 2 ** (power + Number(cut));
}

/** A fraction as a float, not below it if `up` and not above it otherwise.
 * @param {Fraction} value @param {boolean} up @returns {number} */
export function rounded([above, below], up) {
  if (above < 0n) return -rounded([-above, below], !up);
  if (above === 0n) return 0;
  const shift = Math.max(0, 2 * DIGITS + lengthOf(below) - lengthOf(above));
  const shifted = above << BigInt(shift);
  return cutFloat(shifted / below, -shift, shifted % below !== 0n, up);
}

/** The square root of a fraction as a float, rounded in the same way.
 * @param {Fraction} square @param {boolean} up */
export function rootOf([above, below], up) {
  if (above === 0n) return 0;
  const shift = Math.max(0, 2 * Math.ceil((4 * DIGITS + lengthOf(below) - lengthOf(above)) / 2));
  const shifted = above << BigInt(shift);
  const root = wholeRoot(shifted / below);
  return cutFloat(root, -shift / 2, root * root * below !== shifted, up);
}

/** Vectors of floats as vectors of whole numbers, and the power of two that is 1 of these numbers.
 * @param {number[][]} vectors */
export function wholeNumbers(vectors) {
  const parts = vectors.map((vector) => vector.map(binary));
  const powers = parts.flat().filter(([size]) => size !== 0n).map(([size, power]) => {
    let zeros = 0;
    while (zeros < DIGITS && !((size >> BigInt(zeros)) & 1n)) zeros++;
    return power + zeros;
  });
  const power = Math.min(0, ...powers);
  const whole = parts.map(
    (vector) =>
      /** @type {Whole} */ (
        vector.map(([size, at]) => (at < power ? size >> BigInt(power - at) : size << BigInt(at - power)))
      ),
  );
  return { whole, power };
}

/** @param {Whole} a @param {Whole} b */
export const product = (a, b) => a[0] * b[0] + a[1] * b[1] + a[2] * b[2];

/** @param {Whole} a @param {Whole} b @returns {Whole} */
export const cross = (a, b) => [
  a[1] * b[2] - a[2] * b[1],
  a[2] * b[0] - a[0] * b[2],
  a[0] * b[1] - a[1] * b[0],
];

/** @param {Whole} a @param {Whole} b @returns {Whole} */
const minus = (a, b) => [a[0] - b[0], a[1] - b[1], a[2] - b[2]];

/** @param {Whole[]} vectors @param {bigint[]} multipliers @returns {Whole} */
const combined = (vectors, multipliers) =>
  /** @type {Whole} */ (
    [0, 1, 2].map((j) => vectors.reduce((total, vector, k) => total + multipliers[k] * vector[j], 0n))
  );

/** The multipliers of the point nearest to 0 in the affine hull of up to four rows, with a positive
 * sum. @param {Whole[]} rows affinely independent */
function affineMultipliers(rows) {
  const [p, q, r, s] = rows;
  if (rows.length === 1) return [1n];
  if (rows.length === 2) return [product(q, minus(q, p)), product(p, minus(p, q))];
  if (rows.length === 3) {
    const normal = cross(minus(q, p), minus(r, p));
    return [cross(q, r), cross(r, p), cross(p, q)].map((area) => product(area, normal));
  }
  const volumes = [
    product(q, cross(r, s)),
    -product(p, cross(r, s)),
    product(p, cross(q, s)),
    -product(p, cross(q, r)),
  ];
  return volumes.reduce((a, b) => a + b) > 0n ? volumes : volumes.map((volume) => -volume);
}

/** The nearest point of a few rows, if all its multipliers are positive.
 * @param {Whole[]} whole @param {number[]} rows
 * @returns {Nearest | null} */
function inside(whole, rows) {
  const corners = rows.map((row) => whole[row]);
  const multipliers = affineMultipliers(corners);
  if (multipliers.some((multiplier) => multiplier <= 0n)) return null;
  return {
    point: combined(corners, multipliers),
    divisor: multipliers.reduce((a, b) => a + b),
    rows,
    multipliers,
  };
}

/** The row with the least product with a vector; the first of equals.
 * @param {Whole[]} whole @param {Whole} vector */
function lowest(whole, vector) {
  let [best, least] = [0, product(whole[0], vector)];
  for (let row = 1; row < whole.length; row++) {
    const value = product(whole[row], vector);
    if (value < least) [best, least] = [row, value];
  }
  return { row: best, least };
}

/** The point of the convex hull of the rows that is nearest to 0, by Wolfe's algorithm (1976): add the
 * row that is farthest on the near side, and take the nearest point of these few rows.
 * @param {Whole[]} whole @returns {Nearest} */
export function nearestTo0(whole) {
  const first = whole.reduce(
    (best, vector, row) => (product(vector, vector) < product(whole[best], whole[best]) ? row : best),
    0,
  );
  let found = /** @type {Nearest} */ (inside(whole, [first]));
  for (;;) {
    const { point, divisor, rows } = found;
    const square = product(point, point);
    const { row, least } = lowest(whole, point);
    if (square === 0n || least * divisor >= square) return found;
    const few = [...rows, row];
    const subsets = Array.from({ length: 1 << rows.length }, (_, chosen) =>
      few.filter((_, k) => k === rows.length || (chosen >> k) & 1),
    );
    const isNearest = (/** @type {Nearest | null} */ near) =>
      near !== null &&
      few.every((k) => product(whole[k], near.point) * near.divisor >= product(near.point, near.point));
    found = /** @type {Nearest} */ (subsets.map((subset) => inside(whole, subset)).find(isNearest));
  }
}

/** What rows without a common w with ⟨a, w⟩ > 0 have: the rows that some w with ⟨a, w⟩ ≥ 0 on all rows
 * has strictly on its side, and such a w for all of them (null if there are no such rows).
 * @param {Whole[]} whole @param {number[]} contradiction rows with positive multipliers whose sum is 0
 * @returns {{separated: number[], weak: Whole | null}} */
export function separable(whole, contradiction) {
  const fixed = [...contradiction]; // ⟨a, w⟩ = 0 on these rows, for every such w
  for (;;) {
    const basis = complement(fixed.map((row) => whole[row]));
    const views = whole.map(
      (vector) => /** @type {Whole} */ ([0, 1, 2].map((k) => (basis[k] ? product(basis[k], vector) : 0n))),
    );
    const left = whole.map((_, row) => row).filter((row) => views[row].some(Boolean));
    if (left.length === 0) return { separated: [], weak: null };
    const near = nearestTo0(left.map((row) => views[row]));
    if (near.point.some(Boolean))
      return { separated: left, weak: combined(basis, near.point.slice(0, basis.length)) };
    fixed.push(...near.rows.map((k) => left[k]));
  }
}

/** Vectors that span everything at right angles to some vectors.
 * @param {Whole[]} vectors @returns {Whole[]} */
function complement(vectors) {
  const first = vectors.find((vector) => vector.some(Boolean));
  if (!first) return [[1n, 0n, 0n], [0n, 1n, 0n], [0n, 0n, 1n]];
  const normals = vectors.map((vector) => cross(first, vector)).filter((normal) => normal.some(Boolean));
  if (normals.length > 0)
    return normals.every((normal) => !cross(normal, normals[0]).some(Boolean)) ? [normals[0]] : [];
  const axis = first.findIndex((value) => value !== 0n);
  const units = /** @type {Whole[]} */ ([[1n, 0n, 0n], [0n, 1n, 0n], [0n, 0n, 1n]]);
  const across = cross(first, units[(axis + 1) % 3]);
  return [across, cross(first, across)];
}

/** A vector of whole numbers as floats of any common length; every number keeps its own digits.
 * @param {Whole} vector @returns {Vec3} */
export function direction(vector) {
  const sizes = vector.map((value) => (value < 0n ? -value : value));
  const longest = Math.max(...sizes.map(lengthOf));
  const [x, y, z] = sizes.map((size, j) => {
    const cut = Math.max(0, lengthOf(size) - 256);
    return (vector[j] < 0n ? -1 : 1) * Number(size >> BigInt(cut)) * 2 ** (cut - longest);
  });
  return [x, y, z];
}

/** The same direction with length 1. @param {Whole} vector @returns {Vec3} */
export function unit(vector) {
  const [x, y, z] = direction(vector);
  const length = Math.hypot(x, y, z);
  return [x / length, y / length, z / length];
}
