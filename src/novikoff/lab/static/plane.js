/** The data plane: points that can be moved, the line, its sides, the margin, the contradiction. */

import { canvas, h, s, say, refill } from "./dom.js";
import { momentOf } from "./moments.js";

/** @typedef {import("./types").Lab} Lab */
/** @typedef {import("./types").Full} Full */
/** @typedef {import("./types").Vec3} Vec3 */
/** @typedef {[number, number]} Spot */

const NUDGE = 0.05;
const MAX_LABELLED = 6;

export class Plane {
  /** @param {Lab} lab */
  constructor(lab) {
    this.lab = lab;
    /** The middle of the view and half its width and height, in units of the data. */
    this.view = { x: 0, y: 0, halfX: 2, halfY: 2, true: true };
    const { node, size } = canvas(
      { class: "plane", role: "group", "aria-label": "The data plane, with one element per point" },
      () => this.draw());
    this.node = node;
    this.size = size;
    this.back = s("g");
    this.front = s("g");
    this.dots = s("g");
    this.names = s("g");
    this.handles = s("g");
    node.append(this.back, this.front, this.dots, this.names, this.handles);
    this.note = h("p", { class: "plane-note" });
    this.listen();
  }

  /** Show all points, with some room around them. */
  fit() {
    const { points, bias } = this.lab.question;
    const spots = points.map(([x, y]) => /** @type {Spot} */ ([x, y]));
    if (!bias || spots.length === 0) spots.push([0, 0]);
    const [xs, ys] = [spots.map(([x]) => x), spots.map(([, y]) => y)];
    const spread = (/** @type {number[]} */ values) =>
      Math.max((Math.max(...values) - Math.min(...values)) / 2, 0.5) * 1.25;
    const middle = (/** @type {number[]} */ values) =>
      (Math.max(...values) + Math.min(...values)) / 2;
    const [halfX, halfY] = [spread(xs), spread(ys)];
    const ratio = halfX / halfY;
    this.view = {
      x: middle(xs), y: middle(ys), halfX, halfY, true: ratio < 8 && ratio > 1 / 8,
    };
  }

  /** Pixels per unit, across and up. @returns {Spot} */
  scale() {
    const { width, height } = this.size;
    const across = width / 2 / this.view.halfX;
    const up = height / 2 / this.view.halfY;
    const both = Math.min(across, up);
    return this.view.true ? [both, both] : [across, up];
  }

  /** @param {number} x @param {number} y @returns {Spot} */
  place(x, y) {
    const [across, up] = this.scale();
    return [
      this.size.width / 2 + (x - this.view.x) * across,
      this.size.height / 2 - (y - this.view.y) * up,
    ];
  }

  /** The point of the data under a pointer, not outside the view. @param {PointerEvent} event */
  under(event) {
    const frame = this.node.getBoundingClientRect();
    const [across, up] = this.scale();
    const { width, height } = this.size;
    const left = Math.min(width - 8, Math.max(8, (event.clientX - frame.left) * width / frame.width));
    const top = Math.min(height - 8, Math.max(8, (event.clientY - frame.top) * height / frame.height));
    const digits = Math.max(0, Math.ceil(Math.log10(Math.max(across, up)))) || 1;
    const x = this.view.x + (left - width / 2) / across;
    const y = this.view.y - (top - height / 2) / up;
    return /** @type {Spot} */ ([Number(x.toFixed(digits)), Number(y.toFixed(digits))]);
  }

  /** Left, bottom, right, top of the view. @returns {[number, number, number, number]} */
  box() {
    const [across, up] = this.scale();
    const [w, t] = [this.size.width / 2 / across, this.size.height / 2 / up];
    return [this.view.x - w, this.view.y - t, this.view.x + w, this.view.y + t];
  }

  draw() {
    const { lab } = this;
    const full = lab.full;
    refill(this.back, ...(full ? this.sides(full) : []), ...this.grid());
    refill(this.front, ...(full ? this.findings(full) : []));
    this.drawDots(full);
    refill(this.names, ...(full ? this.weightNames(full) : []));
    this.drawHandles();
    this.note.textContent = this.view.true ? "" : "x₁ and x₂ are drawn in different units.";
  }

  grid() {
    const [left, bottom, right, top] = this.box();
    const { width, height } = this.size;
    const upright = ticks(left, right).map((value) => {
      const [x] = this.place(value, 0);
      return s("g", {}, s("line", { class: value ? "grid" : "axis", x1: x, x2: x, y1: 0, y2: height }),
        x > 40 ? s("text", { class: "tick", x: x + 4, y: height - 6 }, say(value)) : null);
    });
    const level = ticks(bottom, top).map((value) => {
      const [, y] = this.place(0, value);
      return s("g", {}, s("line", { class: value ? "grid" : "axis", y1: y, y2: y, x1: 0, x2: width }),
        y < height - 24 ? s("text", { class: "tick", x: 6, y: y - 4 }, say(value)) : null);
    });
    return [...upright, ...level];
  }

  /** The sides of the current line, or the vote. @param {Full} full */
  sides(full) {
    const { voted, show } = this.lab;
    if (show.voted && voted) return this.voteRects(voted);
    const { t } = momentOf(full.run, this.lab.moment);
    const w = full.run.weights[t];
    return [["side-plus", w], ["side-minus", w.map((value) => -value)]].map(([name, rule]) =>
      s("path", { class: name, d: path(this.half(/** @type {Vec3} */ (rule)), true) }));
  }

  /** Stretches of equal vote, row by row. @param {import("./types").Voted} voted */
  voteRects({ size, shares }) {
    const parts = [];
    const [width, height] = [this.size.width / (size - 1), this.size.height / (size - 1)];
    for (let k = 0; k < size; k += 1) {
      for (let j = 0, from = 0; j < size; j += 1) {
        const plus = shares[k * size + j] > 0;
        if (j + 1 < size && shares[k * size + j + 1] > 0 === plus) continue;
        parts.push(s("rect", {
          class: plus ? "side-plus" : "side-minus", x: (from - 0.5) * width,
          y: this.size.height - (k + 0.5) * height, width: (j + 1 - from) * width, height,
        }));
        from = j + 1;
      }
    }
    return parts;
  }

  /** The part of the view where ⟨w, (x, 1)⟩ ≥ level, as pixels. @param {Vec3} w @param {number} level */
  half(w, level = 0) {
    const [left, bottom, right, top] = this.box();
    /** @type {Spot[]} */
    const corners = [[left, bottom], [right, bottom], [right, top], [left, top]];
    const value = (/** @type {Spot} */ [x, y]) => w[0] * x + w[1] * y + w[2] - level;
    /** @type {Spot[]} */
    const kept = [];
    if (w.every((part) => part === 0)) return kept;
    corners.forEach((corner, k) => {
      const after = corners[(k + 1) % 4];
      const [a, b] = [value(corner), value(after)];
      if (a >= 0) kept.push(this.place(...corner));
      if (a >= 0 !== b >= 0) {
        const share = a / (a - b);
        kept.push(this.place(corner[0] + share * (after[0] - corner[0]), corner[1] + share * (after[1] - corner[1])));
      }
    });
    return kept;
  }

  /** The line ⟨w, (x, 1)⟩ = level. @param {Vec3} w @param {string} name @param {number} level */
  line(w, name, level = 0) {
    const [left, bottom, right, top] = this.box();
    const [a, b, c] = [w[0], w[1], w[2] - level];
    /** @type {Spot[]} */
    const ends = [];
    if (a === 0 && b === 0) return null;
    const inside = (/** @type {number} */ v, /** @type {number} */ lo, /** @type {number} */ hi) =>
      v >= lo - 1e-9 * (hi - lo) && v <= hi + 1e-9 * (hi - lo);
    for (const x of [left, right]) {
      const y = -(a * x + c) / b;
      if (b !== 0 && inside(y, bottom, top)) ends.push([x, y]);
    }
    for (const y of [bottom, top]) {
      const x = -(b * y + c) / a;
      if (a !== 0 && inside(x, left, right)) ends.push([x, y]);
    }
    if (ends.length < 2) return null;
    const far = ends.reduce((best, end) => (apart(end, ends[0]) > apart(best, ends[0]) ? end : best));
    const [[x1, y1], [x2, y2]] = [this.place(...ends[0]), this.place(...far)];
    return s("line", { class: name, x1, y1, x2, y2 });
  }

  /** @param {Full} full */
  findings(full) {
    const { lab } = this;
    const { run, reference } = full;
    const now = momentOf(run, lab.moment);
    const w = run.weights[now.t];
    const parts = [];
    if (full.weights.length > 0) parts.push(...this.contradiction(full));
    if (full.weak) parts.push(this.line(full.weak, "line-star"));
    if (reference) {
      const gamma = Math.max(0, reference.margin);
      if (gamma > 0) parts.push(this.band(reference.w, gamma));
      parts.push(this.line(reference.w, "line-star"));
      if (gamma > 0) parts.push(this.line(reference.w, "line-margin", gamma), this.line(reference.w, "line-margin", -gamma));
    }
    if (lab.pocket && full.kind !== "separable") parts.push(this.line(lab.pocket.w, "line-pocket"));
    if (lab.show.average) parts.push(this.line(run.averages[now.t], "line-average"));
    if (now.acted && now.t > 0) parts.push(this.line(run.weights[now.t - 1], "line-before"));
    parts.push(this.line(w, "line-now"), ...this.arrow(w));
    if (now.row !== null) {
      const [x, y] = this.place(...this.spot(now.row));
      parts.push(s("circle", { class: now.acted ? "glow" : "looked", cx: x, cy: y, r: 20 }));
    }
    return parts;
  }

  /** @param {Vec3} w @param {number} gamma */
  band(w, gamma) {
    const above = this.half(w, -gamma);
    const below = this.half(w, gamma);
    const minus = below.length ? path(below, true) : "";
    return s("path", { class: "band", "fill-rule": "evenodd", d: path(above, true) + minus });
  }

  /** The vector w, at right angles to its line. @param {Vec3} w */
  arrow(w) {
    const length = Math.hypot(w[0], w[1]);
    if (length === 0 || !this.view.true) return [];
    const [unitX, unitY] = [w[0] / length, w[1] / length];
    const off = (w[0] * this.view.x + w[1] * this.view.y + w[2]) / length;
    const [x, y] = this.place(this.view.x - off * unitX, this.view.y - off * unitY);
    const { width, height } = this.size;
    if (x < 20 || y < 20 || x > width - 20 || y > height - 20) return [];
    const [tipX, tipY] = [x + 46 * unitX, y - 46 * unitY];
    return [
      arrowPath(x, y, tipX, tipY, "arrow"),
      s("text", { class: "arrow-name", x: tipX + 8 * unitX, y: tipY - 8 * unitY }, "w"),
    ];
  }

  /** The hulls of the rows that contradict each other, and the point they share. @param {Full} full */
  contradiction(full) {
    const { question } = this.lab;
    const parts = [];
    /** @param {number[]} rows @param {boolean} mirror @param {string} name */
    const shape = (rows, mirror, name) => {
      const spots = rows.map((row) => {
        const [x, y] = this.spot(row);
        const sign = mirror ? question.points[row][2] : 1;
        return this.place(sign * x, sign * y);
      });
      if (spots.length > 1) parts.push(s("path", { class: name, d: path(hull(spots), spots.length > 2) }));
    };
    const rows = full.weights.map(([row]) => row).filter((row) => row < question.points.length);
    if (question.bias) {
      shape(rows.filter((row) => question.points[row][2] > 0), false, "hull hull-plus");
      shape(rows.filter((row) => question.points[row][2] < 0), false, "hull hull-minus");
    } else {
      shape(rows, true, "hull hull-mirrored");
    }
    for (const [row, weight] of full.weights) {
      const [x, y] = this.place(...this.spot(row));
      parts.push(s("circle", { class: "weight", cx: x, cy: y, r: 11 + 22 * Math.sqrt(weight) }));
    }
    if (full.meeting) {
      const [x, y] = this.place(...full.meeting);
      parts.push(s("circle", { class: "meeting", cx: x, cy: y, r: 7 }));
    }
    return parts;
  }

  /** λ beside its row, above the points. @param {Full} full */
  weightNames({ weights }) {
    return weights.slice(0, weights.length > MAX_LABELLED ? 0 : undefined).map(([row, weight]) => {
      const [x, y] = this.place(...this.spot(row));
      const side = x > this.size.width - 90 ? -1 : 1;
      const place = { x: x + side * (14 + 22 * Math.sqrt(weight)), y: y - 14, "text-anchor": side > 0 ? "start" : "end" };
      return s("text", { class: "weight-name", ...place }, `λ = ${say(weight, 3)}`);
    });
  }

  /** @param {number} row @returns {Spot} */
  spot(row) {
    const [x, y] = this.lab.question.points[row] ?? [0, 0];
    return [x, y];
  }

  /** Points are kept and moved, so that focus stays. @param {Full | null} full */
  drawDots(full) {
    const { points } = this.lab.question;
    while (this.dots.children.length > points.length) this.dots.lastElementChild?.remove();
    while (this.dots.children.length < points.length) this.dots.append(dot());
    const carrying = new Set(full?.kind === "separable" ? full.support : []);
    const wrong = new Set(full?.reference?.mine ? full.reference.wrong : []);
    points.forEach(([x, y, label], row) => {
      const node = this.dots.children[row];
      const [left, top] = this.place(x, y);
      node.setAttribute("transform", `translate(${left} ${top})`);
      node.setAttribute("class", ["dot", label > 0 ? "plus" : "minus",
        carrying.has(row) ? "support" : "", wrong.has(row) ? "wrong" : "",
        row === this.lab.selected ? "selected" : ""].join(" "));
      node.setAttribute("data-row", String(row));
      node.setAttribute("data-point", `${x},${y},${label}`);
      node.setAttribute("tabindex", row === Math.max(0, this.lab.selected) ? "0" : "-1");
      node.setAttribute("aria-label",
        `Row ${row + 1}, ${label > 0 ? "plus" : "minus"}, at ${say(x)}, ${say(y)}` +
        (carrying.has(row) ? ", carries the margin" : ""));
    });
  }

  /** The two handles of the learner's own line. */
  drawHandles() {
    const { question, live } = this.lab;
    const { mine } = question;
    if (!mine || !live) return refill(this.handles);
    const spots = this.handleSpots(mine);
    while (this.handles.children.length > spots.length) this.handles.lastElementChild?.remove();
    while (this.handles.children.length < spots.length) {
      const k = this.handles.children.length;
      this.handles.append(s("g", {
        class: "handle", role: "button", tabindex: "0", "data-handle": k,
        "aria-label": `Handle ${k + 1} of your own line: drag it, or use the arrow keys`,
      }, s("circle", { class: "hit", r: 18 }), s("circle", { class: "grip", r: 9 })));
    }
    spots.forEach(([x, y], k) => {
      const [left, top] = this.place(x, y);
      this.handles.children[k].setAttribute("transform", `translate(${left} ${top})`);
    });
  }

  /** Where the learner's line is held: two spots on it, or one if it passes the origin.
   * @param {Vec3} mine @returns {Spot[]} */
  handleSpots([a, b, c]) {
    const length = Math.hypot(a, b) || 1;
    const [, bottom, , top] = this.box();
    const reach = (top - bottom) * 0.3;
    const along = [-b / length * reach, a / length * reach];
    if (!this.lab.question.bias) return [[along[0], along[1]]];
    const off = (a * this.view.x + b * this.view.y + c) / length ** 2;
    const [x, y] = [this.view.x - off * a, this.view.y - off * b];
    return [[x - along[0], y - along[1]], [x + along[0], y + along[1]]];
  }

  /** The line through the handles, one of which moved. @param {number} k @param {Spot} to */
  moveHandle(k, to) {
    const { mine, bias } = this.lab.question;
    if (!mine) return;
    const spots = this.held ?? this.handleSpots(mine);
    spots[k] = to;
    const [[x1, y1], [x2, y2]] = bias ? spots : [[0, 0], spots[0]];
    const [a, b] = [y2 - y1, x1 - x2];
    const length = Math.hypot(a, b);
    if (length === 0) return;
    const rounded = [a, b, bias ? -(a * x1 + b * y1) : 0].map((v) => Number((v / length).toPrecision(6)));
    this.lab.change((question) => { question.mine = /** @type {Vec3} */ (rounded); }, { remember: false });
  }

  listen() {
    const { lab, node } = this;
    /** @type {{kind: "row" | "handle" | "new", which: number, x: number, y: number, moved: boolean} | null} */
    let grip = null;
    node.addEventListener("pointerdown", (event) => {
      if (!lab.live && !lab.predict) return;
      if (event.button !== 0) return;
      const target = /** @type {Element} */ (event.target);
      const row = target.closest(".dot")?.getAttribute("data-row");
      const handle = target.closest(".handle")?.getAttribute("data-handle");
      if (row !== null && row !== undefined && lab.guessRow(Number(row))) return;
      const kind = row ? "row" : handle ? "handle" : "new";
      if (!lab.live) return;
      grip = { kind, which: Number(row ?? handle ?? -1), x: event.clientX, y: event.clientY, moved: false };
      if (kind === "row") lab.select(grip.which);
      if (kind === "handle" && lab.question.mine) this.held = this.handleSpots(lab.question.mine);
      node.setPointerCapture(event.pointerId);
    });
    node.addEventListener("pointermove", (event) => {
      if (!grip) return;
      if (!grip.moved && Math.hypot(event.clientX - grip.x, event.clientY - grip.y) < 4) return;
      if (!grip.moved && grip.kind !== "new") lab.remember();
      grip.moved = true;
      const { which } = grip;
      const [x, y] = this.under(event);
      if (grip.kind === "row") {
        lab.change((question) => { question.points[which].splice(0, 2, x, y); }, { remember: false, rest: false });
      } else if (grip.kind === "handle") {
        this.moveHandle(which, [x, y]);
      }
    });
    node.addEventListener("pointerup", (event) => {
      if (!grip) return;
      const { kind, moved, which } = grip;
      grip = null;
      this.held = undefined;
      if (kind === "new" && !moved) this.add(...this.under(event));
      else if (moved) lab.change(() => {}, { remember: false });
      if (kind === "row") this.focus(which);
    });
    node.addEventListener("pointercancel", () => { grip = null; this.held = undefined; });
    node.addEventListener("dblclick", (event) => {
      const row = /** @type {Element} */ (event.target).closest(".dot")?.getAttribute("data-row");
      if (row && lab.live) this.flip(Number(row));
    });
    node.addEventListener("keydown", (event) => this.key(event));
    node.addEventListener("focusin", (event) => {
      const row = /** @type {Element} */ (event.target).closest(".dot")?.getAttribute("data-row");
      if (row && Number(row) !== lab.selected) lab.select(Number(row));
    });
  }

  /** @param {KeyboardEvent} event */
  key(event) {
    const { lab } = this;
    const target = /** @type {Element} */ (event.target);
    const row = target.closest(".dot")?.getAttribute("data-row");
    const handle = target.closest(".handle")?.getAttribute("data-handle");
    if (event.ctrlKey || event.metaKey || event.altKey) return;
    const [dx, dy] = { ArrowLeft: [-1, 0], ArrowRight: [1, 0], ArrowUp: [0, 1], ArrowDown: [0, -1] }[event.key] ?? [0, 0];
    const size = (event.shiftKey ? 10 : 1) * NUDGE;
    const [across, up] = [size * this.view.halfX / 2.5, size * this.view.halfY / 2.5].map((v) =>
      this.view.true ? size : v);
    if (lab.live && row && (dx || dy)) {
      lab.change((question) => {
        const point = question.points[Number(row)];
        point[0] = Number((point[0] + dx * across).toPrecision(9));
        point[1] = Number((point[1] + dy * up).toPrecision(9));
      });
    } else if (lab.live && handle && lab.question.mine && (dx || dy)) {
      const [x, y] = this.handleSpots(lab.question.mine)[Number(handle)];
      this.moveHandle(Number(handle), [x + dx * across, y + dy * up]);
    } else if (row && /^[nN\]]$/.test(event.key)) {
      this.focus((Number(row) + 1) % lab.question.points.length);
    } else if (row && /^[pP[]$/.test(event.key)) {
      this.focus((Number(row) + lab.question.points.length - 1) % lab.question.points.length);
    } else if (lab.live && row && /^[fF]$/.test(event.key)) {
      this.flip(Number(row));
    } else if (lab.live && row && (event.key === "Delete" || event.key === "Backspace")) {
      this.remove(Number(row));
    } else if (row && event.key === "Enter") {
      lab.guessRow(Number(row));
    } else {
      return;
    }
    event.preventDefault();
    event.stopPropagation();
  }

  /** @param {number} row */
  focus(row) {
    const node = /** @type {SVGElement | undefined} */ (this.dots.children[row]);
    this.lab.select(row);
    node?.focus();
  }

  /** @param {number} x @param {number} y */
  add(x, y) {
    const { lab } = this;
    lab.change((question) => { question.points.push([x, y, lab.newLabel]); });
    lab.select(lab.question.points.length - 1);
  }

  /** @param {number} row */
  flip(row) {
    this.lab.change((question) => { if (question.points[row]) question.points[row][2] *= -1; });
  }

  /** @param {number} row */
  remove(row) {
    this.lab.change((question) => { question.points.splice(row, 1); });
    this.focus(Math.min(row, this.lab.question.points.length - 1));
  }
}

function dot() {
  return s("g", { role: "button", tabindex: "-1" },
    s("circle", { class: "hit", r: 18 }), s("circle", { class: "ring", r: 15 }),
    s("circle", { class: "body round", r: 9.5 }),
    s("rect", { class: "body square", x: -9, y: -9, width: 18, height: 18, rx: 1.5 }),
    s("path", { class: "sign across", d: "M-5 0h10" }), s("path", { class: "sign upright", d: "M0 -5v10" }));
}

/** @param {Spot} a @param {Spot} b */
const apart = (a, b) => Math.hypot(a[0] - b[0], a[1] - b[1]);

/** @param {Spot[]} spots @param {boolean} closed */
export const path = (spots, closed) =>
  spots.length === 0 ? "" :
  `M${spots.map(([x, y]) => `${x.toFixed(1)} ${y.toFixed(1)}`).join("L")}${closed ? "Z" : ""}`;

/** @param {number} x @param {number} y @param {number} tipX @param {number} tipY @param {string} name */
export function arrowPath(x, y, tipX, tipY, name) {
  const length = Math.hypot(tipX - x, tipY - y) || 1;
  const [ux, uy] = [(tipX - x) / length, (tipY - y) / length];
  const head = Math.min(9, length * 0.6);
  const [bx, by] = [tipX - head * ux, tipY - head * uy];
  const side = head * 0.45;
  return s("path", {
    class: name,
    d: `M${x} ${y}L${bx} ${by}M${tipX} ${tipY}L${bx - side * uy} ${by + side * ux}L${bx + side * uy} ${by - side * ux}Z`,
  });
}

/** The convex hull, for drawing (Andrew's monotone chain). @param {Spot[]} spots @returns {Spot[]} */
export function hull(spots) {
  const sorted = [...spots].sort((a, b) => a[0] - b[0] || a[1] - b[1]);
  const chain = (/** @type {Spot[]} */ way) => {
    /** @type {Spot[]} */
    const kept = [];
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
  const around = [...chain(sorted), ...chain([...sorted].reverse())];
  return around.length > 1 ? around : sorted;
}

/** Round numbers between two ends, some five of them. @param {number} low @param {number} high */
export function ticks(low, high) {
  const rough = (high - low) / 5;
  const power = 10 ** Math.floor(Math.log10(rough));
  const unit = [1, 2, 5, 10].map((factor) => factor * power).find((value) => value >= rough) ?? rough;
  const found = [];
  for (let k = Math.ceil(low / unit); k * unit <= high; k += 1) found.push(Number((k * unit).toPrecision(12)));
  return found;
}
