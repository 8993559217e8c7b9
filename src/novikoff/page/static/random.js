/** NumPy's random generator, so that a seed gives the same order here as in the library.
 *
 * `Generator` is numpy.random.default_rng: PCG64 (O'Neill 2014), seeded by SeedSequence, with the
 * methods that the orders use. `epochsOf` yields the row numbers of each epoch, as core/orders.py does. */

const WORD = 0xffffffff;
const MASK_64 = (1n << 64n) - 1n;
const MASK_128 = (1n << 128n) - 1n;
const MULTIPLIER = 0x2360ed051fc65da44385df649fccf645n;
const BLOCK = 64; // rows in a block of the order "blocks"

/** The four numbers of 64 bits that SeedSequence makes of a seed below 2³². @param {number} seed */
function seedWords(seed) {
  const stir = (/** @type {number} */ value) => (value ^ (value >>> 16)) >>> 0;
  let constant = 0x43b0d7e5;
  const hashed = (/** @type {number} */ value, /** @type {number} */ factor) => {
    const mixed = value ^ constant;
    constant = Math.imul(constant, factor) >>> 0;
    return stir(Math.imul(mixed, constant));
  };
  const pool = [seed, 0, 0, 0].map((value) => hashed(value, 0x931e8875));
  for (let from = 0; from < 4; from++) for (let to = 0; to < 4; to++) if (from !== to) {
    pool[to] = stir(Math.imul(0xca01f9dd, pool[to]) - Math.imul(0x4973f715, hashed(pool[from], 0x931e8875)));
  }
  constant = 0x8b51f9dd;
  const words = Array.from({ length: 8 }, (_, k) => BigInt(hashed(pool[k % 4], 0x58f38ded)));
  return [0, 2, 4, 6].map((k) => words[k] | (words[k + 1] << 32n));
}

export class Generator {
  /** @param {number} seed */
  constructor(seed) {
    const [high, low, highStream, lowStream] = seedWords(seed);
    this.stream = ((((highStream << 64n) | lowStream) << 1n) | 1n) & MASK_128;
    this.state = (this.stream + ((high << 64n) | low)) & MASK_128;
    this.state = (this.state * MULTIPLIER + this.stream) & MASK_128;
    /** The half of the last 64 bits that `word` has not returned yet. @type {number | null} */
    this.half = null;
  }

  /** 64 random bits. */
  next() {
    this.state = (this.state * MULTIPLIER + this.stream) & MASK_128;
    const mixed = (this.state >> 64n) ^ (this.state & MASK_64);
    const turn = this.state >> 122n;
    return ((mixed >> turn) | (mixed << (64n - turn))) & MASK_64;
  }

  /** 32 random bits. */
  word() {
    const { half } = this;
    if (half !== null) {
      this.half = null;
      return half;
    }
    const bits = this.next();
    this.half = Number(bits >> 32n);
    return Number(bits & 0xffffffffn);
  }

  /** A number from 0 to 1, without 1. */
  random() {
    return Number(this.next() >> 11n) * 2 ** -53;
  }

  /** A whole number from 0 to count − 1 (Lemire 2019). @param {number} count */
  integer(count) {
    if (count === 1) return 0;
    let product = this.word() * count;
    const least = (2 ** 32 - count) % count;
    while (product % 2 ** 32 < least) product = this.word() * count;
    return Math.floor(product / 2 ** 32);
  }

  /** A random permutation of a list. @param {number[]} list */
  permutation(list) {
    const out = [...list];
    for (let i = out.length - 1; i > 0; i--) {
      const mask = WORD >>> Math.clz32(i);
      let j = (this.word() & mask) >>> 0;
      while (j > i) j = (this.word() & mask) >>> 0;
      [out[i], out[j]] = [out[j], out[i]];
    }
    return out;
  }
}

/** The epochs of an order that does not depend on w: lists of row numbers, without end.
 * @param {string} order @param {number[]} squares the ‖a_i‖² of the rows @param {number} seed
 * @returns {Iterable<number[]>} */
export function* epochsOf(order, squares, seed) {
  const rng = new Generator(seed);
  const rows = squares.map((_, row) => row);
  const drawn = order === "fixed" ? rng.permutation(rows) : rows;
  const ladder = ladderOf(squares);
  for (;;) {
    if (order === "permuted") yield rng.permutation(rows);
    else if (order === "blocks") yield shuffledBlocks(rng, rows);
    else if (order === "random")
      yield rows.map(() => rng.random() * ladder[ladder.length - 1]).map((at) => rungAbove(ladder, at));
    else yield drawn;
  }
}

/** @param {Generator} rng @param {number[]} rows */
function shuffledBlocks(rng, rows) {
  const whole = rows.length - rows.length % BLOCK;
  const starts = rows.filter((row) => row < whole && row % BLOCK === 0);
  const places = starts.map(() => {
    const keys = Array.from({ length: BLOCK }, () => rng.random());
    return [...keys.keys()].sort((i, j) => keys[i] - keys[j]);
  });
  const shuffled = rng.permutation(starts).flatMap((start, k) => places[k].map((place) => start + place));
  const at = BLOCK * rng.integer(starts.length + 1); // where the shorter block goes
  return [...shuffled.slice(0, at), ...rng.permutation(rows.slice(whole)), ...shuffled.slice(at)];
}

/** The sums of the shares of all rows up to each row; equal shares if all squares are 0. @param {number[]} squares */
function ladderOf(squares) {
  const largest = Math.max(...squares);
  let sum = 0;
  return squares.map((square) => (sum += largest ? square / largest : 1));
}

/** The first rung of a ladder that is above a number, or the last rung.
 * @param {number[]} ladder @param {number} at */
function rungAbove(ladder, at) {
  let [low, high] = [0, ladder.length - 1];
  while (low < high) {
    const middle = (low + high) >> 1;
    if (ladder[middle] > at) high = middle;
    else low = middle + 1;
  }
  return low;
}
