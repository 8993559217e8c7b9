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

/** A map from vectors to pixels under which all of them fit into a box, with room for names.
 * @param {Spot[]} spots @param {{width: number, height: number}} size
 * @param {number} across the room at both sides @param {number} up the room above and below
 * @returns {(spot: number[]) => Spot} */
export function fitting(spots, { width, height }, across, up) {
  const ends = [0, 1].map((j) => spots.map((spot) => spot[j])).map((all) => [Math.min(...all), Math.max(...all)]);
  const [mx, my] = ends.map(([low, high]) => (low + high) / 2);
  const [spanX, spanY] = ends.map(([low, high]) => Math.max(high - low, 1e-9));
  const unit = Math.min(Math.max(width - across, 9) / spanX, Math.max(height - up, 9) / spanY);
  return ([x, y]) => [width / 2 + unit * (x - mx), height / 2 - unit * (y - my)];
}

/** Where the name of an arrow stands: beside its middle, on the side away from a point.
 * @param {Spot} from @param {Spot} to @param {Spot} point @param {number} em
 * @param {number} lean how far beyond the point the arrow counts as on this side */
export function beside([px, py], [qx, qy], [mx, my], em, lean = 1) {
  const [dx, dy] = [qx - px, qy - py];
  const away = dx * (my - py) - dy * (mx - px) > lean ? 1.4 : -1.4;
  const [across, down] = [dy, -dx].map((part) => (away * part) / (Math.hypot(dx, dy) || 1));
  return {
    x: (px + qx) / 2 + across * em * (Math.abs(across) > 0.7 ? 0.5 : 1),
    y: (py + qy) / 2 + down * em + 5,
    "text-anchor": across > 0.7 ? "start" : across < -0.7 ? "end" : "middle",
  };
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
