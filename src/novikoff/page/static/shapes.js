/** Paths, arrows, convex hulls and axis ticks. */

import { s } from "./dom.js";

/** @param {Spot[]} spots @param {boolean} closed */
export const path = (spots, closed) =>
  spots.length === 0 ? "" :
  `M${spots.map(([x, y]) => `${x.toFixed(1)} ${y.toFixed(1)}`).join("L")}${closed ? "Z" : ""}`;

/** @param {Spot} from @param {Spot} to @param {string} name */
export function arrow([x, y], [tipX, tipY], name) {
  const length = Math.hypot(tipX - x, tipY - y) || 1;
  const head = Math.min(9, length * 0.6);
  const [ux, uy] = [head * (tipX - x) / length, head * (tipY - y) / length];
  const [bx, by] = [tipX - ux, tipY - uy];
  const point = `M${tipX} ${tipY}L${bx - 0.45 * uy} ${by + 0.45 * ux}L${bx + 0.45 * uy} ${by - 0.45 * ux}Z`;
  return s("path", { class: name, d: `M${x} ${y}L${bx} ${by}${point}` });
}

/** A map from vectors to pixels under which all of them fit into a box.
 * @param {Spot[]} spots @param {{width: number, height: number}} size @param {number} room
 * @returns {(spot: number[]) => Spot} */
export function fitting(spots, { width, height }, room) {
  const middle = (/** @type {number[]} */ values) => (Math.max(...values) + Math.min(...values)) / 2;
  const [xs, ys] = [spots.map(([x]) => x), spots.map(([, y]) => y)];
  const [mx, my] = [middle(xs), middle(ys)];
  const span = 2 * Math.max(Math.max(...xs) - mx, Math.max(...ys) - my, 1e-9);
  const unit = (Math.min(width, height) - room) / span;
  return ([x, y]) => [width / 2 + unit * (x - mx), height / 2 - unit * (y - my)];
}

/** The convex hull (Andrew's monotone chain). @param {Spot[]} spots @returns {Spot[]} */
export function hull(spots) {
  const sorted = [...spots].sort((a, b) => a[0] - b[0] || a[1] - b[1]);
  const chain = (/** @type {Spot[]} */ way) => {
    const kept = /** @type {Spot[]} */ ([]);
    for (const spot of way) {
      while (kept.length > 1) {
        const [[ax, ay], [bx, by]] = kept.slice(-2);
        if ((bx - ax) * (spot[1] - ay) - (by - ay) * (spot[0] - ax) > 0) break;
        kept.pop();
      }
      kept.push(spot);
    }
    return kept.slice(0, -1);
  };
  const around = [...chain(sorted), ...chain(sorted.reverse())];
  return around.length > 1 ? around : sorted;
}

/** About five round numbers between two ends. @param {number} low @param {number} high */
export function ticks(low, high) {
  const rough = (high - low) / 5;
  const power = 10 ** Math.floor(Math.log10(rough));
  const unit = power * (rough <= power ? 1 : rough <= 2 * power ? 2 : rough <= 5 * power ? 5 : 10);
  const first = Math.ceil(low / unit);
  return Array.from({ length: Math.max(0, Math.floor(high / unit) - first + 1) },
    (_, k) => Number(((first + k) * unit).toPrecision(12)));
}
