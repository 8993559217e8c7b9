/** Weight space: the directions of (w, b) around w*, or the plane of w without a bias. Where no line
 * separates, the proof of this. */

import { canvas, fold, h, refill, s } from "./dom.js";
import { used } from "./link.js";
import { momentOf, sayNumber, signedRow } from "./run.js";
import { say, sayVector } from "./numbers.js";
import { arrow, beside, fitting, path } from "./shapes.js";
import { words } from "./words.js";

const RIM = Math.PI / 2;
const MAX_ARCS = 80;
const MAX_LISTED = 12;
const MAX_TABLE = 6;

export class Space {
  /** @param {Lab} lab */
  constructor(lab) {
    this.lab = lab;
    const { node, size } = canvas({ class: "space", role: "img", "aria-label": words.space.title }, () =>
      this.draw(),
    );
    this.svg = node;
    this.size = size;
    this.text = h("div", { class: "explain" });
    const { node: panel, title } = fold(lab, "space", null, h("div", { class: "drawing" }, node), this.text);
    panel.classList.add("space-panel");
    this.node = panel;
    this.title = title;
  }

  draw() {
    const { full, predict, question } = this.lab;
    if (predict) return this.show(words.space.title, [], [words.space.later]);
    const known = full?.weights.filter(([row]) => row < question.points.length) ?? [];
    const seenFrom = full?.reference && full.reference.margin > 0 ? full.reference.w : full?.w_star;
    if (full && seenFrom) {
      const parts = question.bias ? this.sky(full, seenFrom) : this.cone(full, seenFrom);
      this.show(question.bias ? words.space.sky : words.space.cone, parts, this.explain(full));
    } else if (full && known.length) {
      this.drawLoop(full, known);
    } else {
      this.show(words.space.title, [], [full?.sentence ?? words.space.start]);
    }
  }

  /** @param {string} title @param {import("./dom.js").Child[]} parts @param {string[]} texts
   * @param {import("./dom.js").Child[]} more */
  show(title, parts, texts, ...more) {
    this.title.textContent = title;
    refill(this.svg, ...parts);
    refill(this.text, ...more, ...texts.map((text) => h("p", {}, text)));
    this.svg.setAttribute("aria-label", texts.join(" "));
  }

  /** Two sentences that explain the picture. @param {Full} full */
  explain({ reference }) {
    const { bias, rule, start, threshold } = used(this.lab.question);
    const { closes, coneText, noRing, ring, shrinks, skyText, wrongLine } = words.space;
    const picture = bias ? skyText : coneText;
    if (rule === "aggressive") return [picture, noRing];
    if (reference && reference.margin <= 0) return [picture, wrongLine];
    const { bound = null, bound_text = null, formula = "" } = reference ?? {};
    if (bound === null || bound_text === null) return [picture, ring(bias)];
    return [
      picture,
      ring(bias) + (start || threshold ? closes(bound_text, formula) : shrinks(bound_text, bound)),
    ];
  }

  get disc() {
    const { width, height } = this.size;
    return { cx: width / 2, cy: height / 2, radius: Math.max(1, Math.min(width, height) / 2 - 6) };
  }

  /** The largest angle to w* that the third inequality allows at update t, or null if it says nothing.
   * @param {Full} full @param {number} t */
  angleLeft({ run, reference }, t) {
    const speaks = run.cosine && reference && reference.margin > 0 && this.lab.question.rule !== "aggressive";
    return speaks ? Math.acos(Math.min(1, run.bounds.cosine[t])) : null;
  }

  /** The sphere of directions around w*, drawn with the angle to w* as the radius.
   * @param {Full} full @param {Vec3} centre */
  sky(full, centre) {
    const { question, moment } = this.lab;
    const { cx, cy, radius } = this.disc;
    const [first, second] = basis(centre);
    /** @param {number} turn @param {number} angle @returns {Spot} */
    const at = (turn, angle) => [
      cx + Math.min(1, angle / RIM) * radius * Math.cos(turn),
      cy - Math.min(1, angle / RIM) * radius * Math.sin(turn),
    ];
    const rows = question.points
      .map((_, row) => signedRow(question, row))
      .map((a) => [dot3(a, centre), dot3(a, first), dot3(a, second)]);
    const nearest = new Set();
    const cell = Array.from({ length: 180 }, (_, k) => {
      const turn = k * Math.PI / 90;
      const reaches = rows.map(([m, p, q]) => reach(m, p * Math.cos(turn) + q * Math.sin(turn)));
      const least = Math.min(RIM, ...reaches);
      if (least < RIM) nearest.add(reaches.indexOf(least));
      return at(turn, least);
    });
    const arcs = rows.slice(0, MAX_ARCS).map(([m, p, q], row) => {
      const away = Math.atan2(-q, -p);
      const spots = Array.from({ length: 49 }, (_, k) => {
        const turn = away + (k - 24) / 24 * RIM * 0.999;
        return at(turn, reach(m, p * Math.cos(turn) + q * Math.sin(turn)));
      });
      return s("path", { class: nearest.has(row) ? "arc arc-near" : "arc", d: path(spots, false) });
    });
    const { t } = momentOf(full.run, moment);
    const steps = full.run.weights.slice(0, t + 1).filter((w) => w.some((value) => value !== 0));
    const trail = steps.map((w) => {
      const cosine = dot3(w, centre) / Math.hypot(...w);
      return at(Math.atan2(dot3(w, second), dot3(w, first)), Math.acos(Math.min(1, Math.max(-1, cosine))));
    });
    const left = this.angleLeft(full, t);
    return [
      s("circle", { class: "sky", cx, cy, r: radius }),
      s("path", { class: "cell", d: path(cell, true) }),
      ...arcs,
      left !== null && s("circle", { class: "cap", cx, cy, r: Math.min(1, left / RIM) * radius }),
      ...trailOf(trail, t), s("path", { class: "star", d: `M${cx - 7} ${cy}h14M${cx} ${cy - 7}v14` }),
      s("text", { class: "star-name", x: cx - 9, y: cy - 8, "text-anchor": "end" }, "w*"),
    ];
  }

  /** Without a bias: the plane of w, with the cone of solutions. @param {Full} full @param {Vec3} w */
  cone(full, w) {
    const { question, moment } = this.lab;
    const { run } = full;
    const { cx, cy, radius } = this.disc;
    const unit = radius * 0.9 / Math.max(...run.weights.map(([a, b]) => Math.hypot(a, b)), 1e-9);
    const toward = Math.atan2(w[1], w[0]);
    /** @param {number} turn @returns {Spot} */
    const rim = (turn) => [cx + radius * Math.cos(turn), cy - radius * Math.sin(turn)];
    /** @param {number} right @param {number} left */
    const wedge = (right, left) =>
      path(
        [[cx, cy], ...Array.from({ length: 41 }, (_, k) => rim(toward - right + ((left + right) * k) / 40))],
        true,
      );
    const rows = question.points.map((_, row) => signedRow(question, row));
    const [left, right] = [[-w[1], w[0], 0], [w[1], -w[0], 0]].map((side) =>
      Math.min(RIM, ...rows.map((a) => reach(dot3(a, w), dot3(a, side)))));
    const { t } = momentOf(run, moment);
    const spots = run.weights
      .slice(0, t + 1)
      .map(([a, b]) => /** @type {Spot} */ ([cx + unit * a, cy - unit * b]));
    const open = this.angleLeft(full, t);
    const [x, y] = rim(toward);
    return [
      s("circle", { class: "sky", cx, cy, r: radius }), s("path", { class: "cell", d: wedge(right, left) }),
      ...rows.slice(0, MAX_ARCS).map(([a, b]) =>
        s("path", { class: "arc", d: path([rim(Math.atan2(a, -b)), rim(Math.atan2(-a, b))], false) })),
      open !== null && s("path", { class: "cap", d: wedge(open, open) }),
      s("path", { class: "star", d: `M${cx} ${cy}L${x} ${y}` }),
      s(
        "text",
        { class: "star-name", x: cx + 0.8 * (x - cx) - 8, y: cy + 0.8 * (y - cy) - 6, "text-anchor": "end" },
        "w*",
      ),
      t > 0 && arrow([cx, cy], spots[t], "arrow"),
      ...trailOf(spots, t),
    ];
  }

  /** Why no line separates the points: the arrows λ·a form a closed loop.
   * @param {Full} full @param {[number, number][]} known */
  drawLoop(full, known) {
    const { question } = this.lab;
    const walk = known.reduce((done, [row, weight]) => {
      const [[x, y], a] = [done[done.length - 1], signedRow(question, row)];
      return [...done, /** @type {Spot} */ ([x + weight * a[0], y + weight * a[1]])];
    }, /** @type {Spot[]} */ ([[0, 0]]));
    const { em } = this.size;
    const spots = walk.map(fitting(walk, this.size, 5 * em, 4 * em));
    const middle = /** @type {Spot} */ ([0, 1].map((j) => known.reduce((sum, _, k) => sum + spots[k][j] / known.length, 0)));
    const links = known.map(([row], k) => {
      const [from, to] = [spots[k], spots[k + 1]];
      const length = Math.hypot(to[0] - from[0], to[1] - from[1]);
      const name = length > 2 * em && s("text", beside(from, to, middle, em), String(row + 1));
      return length < 8 ? null :
        s("g", { class: question.points[row][2] > 0 ? "link-plus" : "link-minus" }, arrow(from, to, "link"), name);
    });
    const table = h("table", {},
      h("thead", {}, h("tr", {}, ...words.space.columns.map((name) => h("th", { scope: "col" }, name)))),
      h("tbody", {}, ...known.slice(0, MAX_TABLE).map(([row, weight]) => {
        const cells = [sayNumber(question, row), say(weight, 3), sayVector(signedRow(question, row))];
        return h("tr", { "data-row": row, "data-weight": weight }, ...cells.map((text) => h("td", {}, text)));
      })));
    const quasi = full.kind === "quasi-separable";
    const apart = new Set(full.separated);
    const others = [...question.points.keys()].filter((row) => !apart.has(row));
    const texts = [words.space.loopText];
    if (quasi) texts.push(words.space.strictly(list(full.separated), list(others)));
    this.show(words.space.loop(quasi),
      [...links, s("circle", { class: "meeting", cx: spots[0][0], cy: spots[0][1], r: 6 })], texts, table);
  }
}

/** The path of w up to update t, and its present place. @param {Spot[]} spots @param {number} t */
function trailOf(spots, t) {
  if (spots.length === 0) return [];
  const [cx, cy] = spots[spots.length - 1];
  return [
    s("path", { class: "trail", d: path(spots, false) }),
    ...spots.slice(0, -1).map(([x, y]) => s("circle", { class: "was", cx: x, cy: y, r: 3 })),
    s("circle", { class: "now", cx, cy, r: 7 }),
    s("text", { class: "now-name", x: cx + 10, y: cy + 18 }, `w${subscript(t)}`),
  ];
}

/** The angle by which w* can turn along a ray before it misclassifies a row with ⟨a, w*⟩ = m.
 * @param {number} m @param {number} q */
const reach = (m, q) => (q < 0 ? Math.atan2(Math.max(0, m), -q) : RIM);

/** @param {number[]} a @param {number[]} b */
const dot3 = (a, b) => a[0] * b[0] + a[1] * b[1] + a[2] * b[2];

/** Two directions at right angles to a unit vector and to each other.
 * @param {Vec3} u @returns {[number[], number[]]} */
function basis(u) {
  const aside = Math.abs(u[2]) < 0.9 ? [0, 0, 1] : [1, 0, 0];
  const lean = aside.map((value, j) => value - dot3(aside, u) * u[j]);
  const e = lean.map((value) => value / Math.hypot(...lean));
  return [e, [u[1] * e[2] - u[2] * e[1], u[2] * e[0] - u[0] * e[2], u[0] * e[1] - u[1] * e[0]]];
}

/** @param {number} t */
const subscript = (t) => String(t).replace(/\d/g, (digit) => "₀₁₂₃₄₅₆₇₈₉"[Number(digit)]);

/** @param {number[]} rows */
const list = (rows) =>
  rows.slice(0, MAX_LISTED).map((row) => row + 1).join(", ") + (rows.length > MAX_LISTED ? ", …" : "");
