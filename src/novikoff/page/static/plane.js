/** The data plane: points, the line and its sides, the margin, the contradiction. */

import { canvas, h, keep, refill, s } from "./dom.js";
import { Pointer } from "./pointer.js";
import { momentOf, sayRow, signedRow } from "./run.js";
import { say } from "./numbers.js";
import { arrow, hull, path, ticks } from "./shapes.js";
import { words } from "./words.js";

const MAX_LABELLED = 6;
const MAX_STRETCH = 8; // if one range exceeds the other by more, each feature has its own unit

export class Plane {
  /** @param {Lab} lab */
  constructor(lab) {
    this.lab = lab;
    /** The middle of the view and half its width and height, in units of the data. */
    this.view = { x: 0, y: 0, halfX: 2, halfY: 2 };
    const { node, size } = canvas({ class: "plane", role: "group", "aria-label": words.plane.label }, () => {
      this.draw();
      if (lab.full) lab.askLater();
    });
    this.node = node;
    this.size = size;
    this.layers = {
      back: s("g"),
      front: s("g"),
      tip: s("g"),
      dots: s("g"),
      names: s("g", { "pointer-events": "none" }),
      handles: s("g"),
    };
    node.append(...Object.values(this.layers));
    this.note = h("li", {}, words.plane.units);
    this.absent = h("li", { class: "absent" });
    /** The row under the pointer or with the focus, −1 for none, and what is said about it. */
    this.pointed = -1;
    this.tip = h("p", { class: "tip", hidden: true });
    this.pointer = new Pointer(lab, this);
  }

  /** Choose the view that shows all points with a border around them. */
  fit() {
    const { points, bias } = this.lab.question;
    const spots = bias && points.length ? points : [...points, [0, 0]];
    const [[x, acrossHalf], [y, upHalf]] = [0, 1].map((k) => {
      const values = spots.map((spot) => spot[k]);
      const [low, high] = [Math.min(...values), Math.max(...values)];
      return [(low + high) / 2, (high - low) / 2];
    });
    const least = Math.min(0.5, Math.max(acrossHalf, upHalf) || 0.5);
    const [halfX, halfY] = [acrossHalf, upHalf].map((half) => Math.max(half, least) * 1.25);
    this.view = { x, y, halfX, halfY };
  }

  /** Whether both features are drawn in the same unit. */
  get even() {
    const ratio = this.view.halfX / this.view.halfY;
    return ratio < MAX_STRETCH && ratio > 1 / MAX_STRETCH;
  }

  /** Pixels per unit, across and up. @returns {Spot} */
  get scale() {
    const [across, up] = [this.size.width / 2 / this.view.halfX, this.size.height / 2 / this.view.halfY];
    const both = Math.min(across, up);
    return this.even ? [both, both] : [across, up];
  }

  /** The left, bottom, right and top ends of the view, or of a box `times` as large.
   * @returns {[number, number, number, number]} */
  box(times = 1) {
    const { x, y } = this.view;
    const [across, up] = [
      (times * this.size.width) / 2 / this.scale[0],
      (times * this.size.height) / 2 / this.scale[1],
    ];
    return [x - across, y - up, x + across, y + up];
  }

  /** Data coordinates in pixels. @param {number[]} spot @returns {Spot} */
  place([x, y]) {
    const [across, up] = this.scale;
    return [this.size.width / 2 + (x - this.view.x) * across, this.size.height / 2 - (y - this.view.y) * up];
  }

  /** The place of a row in pixels. @param {number} row */
  at = (row) => this.place(this.lab.question.points[row] ?? [0, 0]);

  draw() {
    const { full } = this.lab;
    refill(this.layers.back, ...(full ? this.sides(full) : []), ...this.grid());
    refill(this.layers.front, ...(full ? this.findings(full) : []));
    const names = full && !this.lab.predict ? this.weightNames(full) : [];
    refill(this.layers.names, full && this.due(full), ...names);
    this.drawPoints();
    this.drawTip();
    this.note.hidden = this.even;
    this.absent.textContent = full && !this.lab.shading ? this.missing(this.now(full)) : "";
    this.absent.hidden = !this.absent.textContent;
  }

  /** Why no line of w is to be seen, or "". @param {Vec3} w */
  missing(w) {
    if (w.every((part) => part === 0)) return words.plane.noLine;
    return this.cut(w).ends.length < 2 ? words.plane.outside : "";
  }

  /** The present w. @param {Full} full */
  now = ({ run }) => run.weights[momentOf(run, this.lab.moment).t];

  /** Say the numbers of a row. @param {number} row */
  point(row) {
    if (row === this.pointed) return;
    this.pointed = row;
    this.drawTip();
  }

  /** The number of the row under the pointer, ⟨a, w⟩, the projection of a on w, and the way to the line. */
  drawTip() {
    const { full, predict, question } = this.lab;
    const row = this.pointed;
    const known = full && !predict && question.points[row];
    this.tip.hidden = !known;
    refill(this.layers.tip);
    if (!known) return;
    const [w, a, [x, y]] = [this.now(full), signedRow(question, row), question.points[row]];
    const product = a[0] * w[0] + a[1] * w[1] + a[2] * w[2];
    const [size, long, across] = [Math.hypot(...w), Math.hypot(...a), Math.hypot(w[0], w[1])];
    const text = words.plane;
    const lines = [text.product(product)];
    if (size && long) lines.push(text.projection(product / size), text.angle(product / (size * long)));
    if (across) lines.push(text.distance(Math.abs(product) / across));
    const title = h("b", {}, text.at(sayRow(question, row), x, y));
    refill(this.tip, title, ...lines.flatMap((line) => [h("br"), line]));
    const [px, py] = this.at(row);
    const { width, height } = this.size;
    Object.assign(
      this.tip.style,
      px > width / 2
        ? { left: "auto", right: `${width - px + 24}px` }
        : { left: `${px + 24}px`, right: "auto" },
      py > height / 2
        ? { top: "auto", bottom: `${height - py + 6}px` }
        : { top: `${py + 6}px`, bottom: "auto" },
    );
    if (!across || !this.even) return;
    const f = (w[0] * x + w[1] * y + w[2]) / across ** 2;
    const foot = this.place([x - f * w[0], y - f * w[1]]);
    this.layers.tip.append(s("path", { class: "way", d: path([[px, py], foot], false) }));
  }

  grid() {
    const [left, bottom, right, top] = this.box();
    const { width, height } = this.size;
    const upright = ticks(left, right).map((value) => {
      const [x] = this.place([value, 0]);
      return s("g", {}, s("line", { class: value ? "grid" : "axis", x1: x, x2: x, y1: 0, y2: height }),
        x > 3 * this.size.em ? s("text", { class: "tick", x: x + 4, y: height - 6 }, say(value)) : null);
    });
    const level = ticks(bottom, top).map((value) => {
      const [, y] = this.place([0, value]);
      return s(
        "g",
        {},
        s("line", { class: value ? "grid" : "axis", y1: y, y2: y, x1: 0, x2: width }),
        y > 2.8 * this.size.em && y < height - 1.8 * this.size.em
          ? s("text", { class: "tick", x: 6, y: y - 4 }, say(value))
          : null,
      );
    });
    const [across, up] = this.lab.question.names;
    const { em } = this.size;
    return [...upright, ...level,
      s("text", { class: "axis-name", x: width - 8, y: height - 1.8 * em, "text-anchor": "end" }, across),
      s("text", { class: "axis-name", x: 8, y: 1.5 * em }, up)];
  }

  /** The sides of the current line, or of another rule. @param {Full} full */
  sides(full) {
    const { shading } = this.lab;
    if (shading) {
      return [["side-plus", "+"], ["side-minus", "-"]].map(([name, sign]) =>
        s("path", { class: `${name} shading`, d: this.cellsOf(shading, sign) }));
    }
    const w = this.now(full);
    const other = /** @type {Vec3} */ (w.map((value) => -value));
    return [s("path", { class: "side-plus", d: path(this.cut(w).inside, true) }),
      s("path", { class: "side-minus", d: path(this.cut(other).inside, true) })];
  }

  /** The cells of one sign in a grid of sides, as an SVG path. @param {Sides} sides @param {string} sign */
  cellsOf({ box: [left, bottom, right, top], rows }, sign) {
    const [dx, dy] = [(right - left) / (rows.length - 1), (top - bottom) / (rows.length - 1)];
    const [across, up] = this.scale;
    const stretches = (/** @type {string} */ row) => [...row.matchAll(RegExp(`[${sign}]+`, "g"))];
    return rows.flatMap((row, k) => stretches(row).map(({ 0: { length }, index }) => {
      const [x, y] = this.place([left + (index - 0.5) * dx, bottom + (k + 0.5) * dy]);
      return `M${x} ${y}h${length * dx * across}v${dy * up}H${x}z`;
    })).join("");
  }

  /** The part of the view where ⟨w, (x, 1)⟩ ≥ level, and the ends of its border line, in pixels.
   * @param {Vec3} w */
  cut(w, level = 0) {
    const [left, bottom, right, top] = this.box();
    const corners = [[left, bottom], [right, bottom], [right, top], [left, top]];
    /** @type {{inside: Spot[], ends: Spot[]}} */
    const { inside, ends } = { inside: [], ends: [] };
    if (w.every((part) => part === 0)) return { inside, ends };
    const values = corners.map(([x, y]) => w[0] * x + w[1] * y + w[2] - level);
    corners.forEach(([x, y], k) => {
      const [[nextX, nextY], a, b] = [corners[(k + 1) % 4], values[k], values[(k + 1) % 4]];
      if (a >= 0) inside.push(this.place([x, y]));
      if (a >= 0 === b >= 0) return;
      const share = a / (a - b);
      ends.push(this.place([x + share * (nextX - x), y + share * (nextY - y)]));
      inside.push(ends[ends.length - 1]);
    });
    return { inside, ends };
  }

  /** The line ⟨w, (x, 1)⟩ = level. @param {Vec3} w @param {string} name */
  line(w, name, level = 0) {
    const { ends } = this.cut(w, level);
    return ends.length === 2 ? s("path", { class: name, d: path(ends, false) }) : null;
  }

  /** @param {Full} full */
  findings(full) {
    const { lab } = this;
    const { run, reference } = full;
    const { t, acted } = momentOf(run, lab.moment);
    const hidden = lab.predict !== null; // the class predicts what these lines would tell
    const parts = full.weights.length && !hidden ? this.contradiction(full) : [];
    if (full.weak && !hidden) parts.push(this.line(full.weak, "line-weak"));
    if (reference && !hidden) {
      const { w, margin } = reference;
      if (margin > 0) {
        const edges = path(this.cut(w, -margin).inside, true) + path(this.cut(w, margin).inside, true);
        parts.push(s("path", { class: "band", "fill-rule": "evenodd", d: edges }),
          this.line(w, "line-margin", margin), this.line(w, "line-margin", -margin));
      }
      parts.push(this.line(w, "line-star"));
    }
    if (run.pocket) parts.push(this.line(run.weights[run.pocket[t]], "line-pocket"));
    else if (lab.pocket && full.kind !== "separable" && !hidden)
      parts.push(this.line(lab.pocket.w, "line-pocket"));
    const compared = lab.beside.run?.weights.at(-1);
    if (compared && !hidden) parts.push(this.line(compared, "line-beside"));
    if (lab.averaged) parts.push(this.line(run.averages[t], "line-average"));
    if (acted) parts.push(this.line(run.weights[t - 1], "line-before"));
    parts.push(this.line(run.weights[t], "line-now"), ...this.normal(run.weights[t]));
    return parts;
  }

  /** A ring around the row of this moment, above all other elements; it glows at an update.
   * @param {Full} full */
  due({ run }) {
    const { row, acted } = momentOf(run, this.lab.moment);
    const [cx, cy] = this.at(row ?? 0);
    return row !== null && s("circle", { class: acted ? "glow" : "looked", cx, cy, r: 20 });
  }

  /** The foot and the tip of the arrow of w, in pixels; none if it is not in the picture.
   * @param {Vec3} w @returns {Spot[]} */
  arrowOf(w) {
    const length = Math.hypot(w[0], w[1]);
    if (length === 0 || !this.even) return [];
    const [ux, uy] = [w[0] / length, w[1] / length];
    const off = (w[0] * this.view.x + w[1] * this.view.y + w[2]) / length;
    const foot = this.place(
      this.lab.question.bias ? [this.view.x - off * ux, this.view.y - off * uy] : [0, 0],
    );
    const { width, height, em } = this.size;
    if (foot[0] < 20 || foot[1] < 20 || foot[0] > width - 20 || foot[1] > height - 20) return [];
    return [foot, [foot[0] + 3.5 * em * ux, foot[1] - 3.5 * em * uy]];
  }

  /** The vector w, at right angles to its line. @param {Vec3} w */
  normal(w) {
    const [foot, tip] = this.arrowOf(w);
    if (!foot) return [];
    const name = {
      class: "arrow-name",
      x: tip[0] + 0.2 * (tip[0] - foot[0]),
      y: tip[1] + 0.2 * (tip[1] - foot[1]),
    };
    return [arrow(foot, tip, "arrow"), s("text", name, "w")];
  }

  /** The convex hulls of the contradicting rows of each class, and a point that both contain.
   * Without a bias there is one hull, of the rows times their labels, and it contains the origin.
   * @param {Full} full
   * @returns {(SVGElement | null)[]} */
  contradiction(full) {
    const { points, bias } = this.lab.question;
    const rows = full.weights.map(([row]) => row).filter((row) => row < points.length);
    const shapes = bias ? [1, -1].map((label) => rows.filter((row) => points[row][2] === label)) : [rows];
    const hulls = shapes.map((members, k) => {
      const spots = members.map((row) => {
        const [x, y, label] = points[row];
        return this.place(bias ? [x, y] : [label * x, label * y]);
      });
      const name = bias ? ["hull-plus", "hull-minus"][k] : "hull-mirrored";
      return spots.length > 1
        ? s("path", { class: `hull ${name}`, d: path(hull(spots), spots.length > 2) })
        : null;
    });
    const sizes = full.weights.map(([row, weight]) => {
      const [cx, cy] = this.at(row);
      return s("circle", { class: "weight", cx, cy, r: 11 + 22 * Math.sqrt(weight) });
    });
    const [cx, cy] = this.place(full.meeting ?? [0, 0]);
    return [...hulls, ...sizes, full.meeting ? s("circle", { class: "meeting", cx, cy, r: 7 }) : null];
  }

  /** The value λ beside each contradicting row. @param {Full} full */
  weightNames({ weights, meeting }) {
    if (weights.length > MAX_LABELLED) return [];
    const [midX, midY] = this.place(meeting ?? [0, 0]);
    return weights.map(([row, weight]) => {
      const [[x, y], label] = [this.at(row), this.lab.question.points[row]?.[2] ?? 1];
      const away = Math.sign(x - midX) || label; // from the hulls
      const side = x > this.size.width - 140 ? -1 : x < 140 ? 1 : away;
      const above = Math.abs(y - midY) < 1 ? label > 0 : y < midY;
      const size = Math.sqrt(weight);
      const place = { x: x + side * (8 + 16 * size), y: above ? y - 16 - 6 * size : y + 26 + 6 * size };
      const anchor = side > 0 ? "start" : "end";
      return s("text", { class: "weight-name", "text-anchor": anchor, ...place }, words.plane.weight(weight));
    });
  }

  /** Move the elements of the points instead of making new ones, so that the focus stays. */
  drawPoints() {
    this.pointer.drawHandles();
    const { full, question, selected } = this.lab;
    const carrying = new Set(full?.kind === "separable" ? full.support : []);
    const wrong = new Set(full?.reference?.mine ? full.reference.wrong : []);
    keep(this.layers.dots, question.points.length, dot).forEach((node, row) => {
      const [x, y, label] = question.points[row];
      const names = [
        "dot",
        label > 0 ? "plus" : "minus",
        carrying.has(row) && "support",
        wrong.has(row) && "wrong",
      ];
      if (row === selected) names.push("selected", this.pointer.moving && "moving");
      for (const [name, value] of Object.entries({
        transform: `translate(${this.place([x, y]).join(" ")})`, class: names.filter(Boolean).join(" "),
        "data-row": row, "data-point": `${x},${y},${label}`, tabindex: row === Math.max(0, selected) ? 0 : -1,
        "aria-label": words.plane.point(row, [x, y, label], carrying.has(row)),
      })) node.setAttribute(name, String(value));
    });
  }
}

const dot = () =>
  s("g", { role: "button" }, s("circle", { class: "hit", r: 18 }), s("circle", { class: "ring", r: 15 }),
    s("circle", { class: "body round", r: 9.5 }),
    s("rect", { class: "body square", x: -9, y: -9, width: 18, height: 18, rx: 1.5 }),
    s("path", { class: "sign across", d: "M-5 0h10" }), s("path", { class: "sign upright", d: "M0 -5v10" }));
