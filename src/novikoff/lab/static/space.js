/** Weight space: the sky of directions seen from w*, the plane of w without a bias, or, where no
 * line exists, why. */

import { canvas, h, refill, s, say, sayVector } from "./dom.js";
import { momentOf, sayRow, signedRow } from "./moments.js";
import { arrowPath, path } from "./plane.js";

/** @typedef {import("./types").Lab} Lab */
/** @typedef {import("./types").Full} Full */
/** @typedef {import("./types").Reference} Reference */
/** @typedef {[number, number]} Spot */

const RIM = Math.PI / 2;
const MAX_ARCS = 80;

export class Space {
  /** @param {Lab} lab */
  constructor(lab) {
    this.lab = lab;
    const { node, size } = canvas({ class: "space", role: "img", "aria-label": "Weight space" }, () => this.draw());
    this.svg = node;
    this.size = size;
    this.title = h("h2", {}, "Weight space");
    this.text = h("div", { class: "explain" });
    this.node = h("section", { class: "panel space-panel", "aria-label": "Weight space" },
      this.title, h("div", { class: "drawing" }, node), this.text);
  }

  draw() {
    const { full, question } = this.lab;
    if (!full) {
      this.title.textContent = "Weight space";
      refill(this.svg);
      refill(this.text, h("p", {}, "Every point (x₁, x₂) with label y forbids the weights w with ",
        h("span", { class: "formula" }, "y·(⟨w, x⟩ + b) ≤ 0"), ". Add a point of each label to see what is left."));
      return;
    }
    const reference = seenFrom(full);
    if (full.kind === "separable" && reference) {
      this.title.textContent = question.bias ? "Weight space: the sky seen from w*" : "Weight space: the plane of w";
      if (question.bias) this.drawSky(full, reference);
      else this.drawPlane(full, reference);
      this.explain(full, reference);
    } else {
      this.drawLoop(full);
    }
  }

  /** @param {Full} full @param {Reference} reference */
  explain(full, reference) {
    const bound = full.reference?.bound ?? null;
    const closes = bound === null ? "" : `, and closes at t = R²/γ² = ${say(bound)}: there cannot be more`;
    const first = this.lab.question.bias ?
      "A dot is a direction of (w, b), w* in the middle, the rim 90° away. Each row forbids one side of its arc; what is left is the shaded cell of solutions." :
      "Each row forbids half of the plane; what is left is the shaded cone of solutions.";
    const second = this.lab.question.rule === "aggressive" ?
      "This rule is not bound by the ring: it moves without a mistake." :
      full.reference && full.reference.margin <= 0 ?
      "Your own rule errs, so it proves nothing: there is no ring." :
      `The third inequality is the violet ${this.lab.question.bias ? "ring: wₜ cannot leave it. It" : "wedge: wₜ cannot leave it. It"} shrinks with every mistake${closes}.`;
    refill(this.text, h("p", {}, first), h("p", {}, second));
    this.svg.setAttribute("aria-label", `${first} ${second}`);
  }

  /** The sphere of directions around w*, its radius the angle. @param {Full} full @param {Reference} reference */
  drawSky(full, reference) {
    const { question, moment } = this.lab;
    const { width, height } = this.size;
    const radius = Math.min(width, height) / 2 - 6;
    const [cx, cy] = [width / 2, height / 2];
    const centre = reference.w;
    const [first, second] = basis(centre);
    /** @param {number[]} v @returns {Spot | null} */
    const seen = (v) => {
      const length = Math.hypot(...v);
      if (length === 0) return null;
      const angle = Math.min(RIM, Math.acos(Math.max(-1, Math.min(1, dot3(v, centre) / length))));
      const [a, b] = [dot3(v, first), dot3(v, second)];
      const share = angle / RIM * radius / (Math.hypot(a, b) || 1);
      return [cx + share * a, cy - share * b];
    };
    const rows = question.points.map((_, row) => signedRow(question, row));
    const rim = 180;
    const closest = new Set();
    /** @type {Spot[]} */
    const cell = [];
    for (let k = 0; k < rim; k += 1) {
      const turn = 2 * Math.PI * k / rim;
      const ray = first.map((value, j) => value * Math.cos(turn) + second[j] * Math.sin(turn));
      let [angle, which] = [RIM, -1];
      rows.forEach((a, row) => {
        const reach = limit(dot3(a, centre), dot3(a, ray));
        if (reach < angle) [angle, which] = [reach, row];
      });
      if (which >= 0) closest.add(which);
      const far = angle / RIM * radius;
      cell.push([cx + far * Math.cos(turn), cy - far * Math.sin(turn)]);
    }
    const arcs = rows.slice(0, MAX_ARCS).map((a, row) => {
      const [m, p, q] = [dot3(a, centre), dot3(a, first), dot3(a, second)];
      const away = Math.atan2(-q, -p);
      /** @type {Spot[]} */
      const spots = [];
      for (let k = -24; k <= 24; k += 1) {
        const turn = away + k / 24 * RIM * 0.999;
        const far = limit(m, p * Math.cos(turn) + q * Math.sin(turn)) / RIM * radius;
        spots.push([cx + far * Math.cos(turn), cy - far * Math.sin(turn)]);
      }
      return s("path", { class: closest.has(row) ? "arc arc-near" : "arc", d: path(spots, false) });
    });
    const { run } = full;
    const { t } = momentOf(run, moment);
    const trail = run.weights.slice(0, t + 1).map(seen).filter((spot) => spot !== null);
    const now = trail[trail.length - 1];
    const due = run.cosine && full.reference && full.reference.margin > 0 && question.rule !== "aggressive";
    const cap = due ? Math.acos(Math.min(1, run.bounds.cosine[t])) / RIM * radius : null;
    refill(this.svg,
      s("circle", { class: "sky", cx, cy, r: radius }),
      s("path", { class: "cell", d: path(cell, true) }), ...arcs,
      cap !== null && s("circle", { class: "cap", cx, cy, r: Math.min(radius, cap) }),
      s("path", { class: "trail", d: path(trail, false) }),
      ...trail.slice(0, -1).map(([x, y]) => s("circle", { class: "was", cx: x, cy: y, r: 3 })),
      s("path", { class: "star", d: `M${cx - 7} ${cy}h14M${cx} ${cy - 7}v14` }),
      s("text", { class: "star-name", x: cx + 9, y: cy - 8 }, "w*"),
      now && s("circle", { class: "now", cx: now[0], cy: now[1], r: 7 }),
      now && s("text", { class: "now-name", x: now[0] + 10, y: now[1] + 18 }, `w${subscript(t)}`));
  }

  /** Without a bias: w itself. @param {Full} full @param {Reference} reference */
  drawPlane(full, reference) {
    const { question, moment } = this.lab;
    const { width, height } = this.size;
    const radius = Math.min(width, height) / 2 - 6;
    const [cx, cy] = [width / 2, height / 2];
    const { run } = full;
    const longest = Math.max(...run.weights.map(([a, b]) => Math.hypot(a, b)), 1e-9);
    const unit = radius * 0.9 / longest;
    const toward = Math.atan2(reference.w[1], reference.w[0]);
    const across = [-reference.w[1], reference.w[0], 0];
    const rows = question.points.map((_, row) => signedRow(question, row));
    const reach = [1, -1].map((side) =>
      Math.min(Math.PI, ...rows.map((a) => limit(dot3(a, reference.w), side * dot3(a, across)))));
    /** @param {number} from @param {number} to */
    const wedge = (from, to) => {
      /** @type {Spot[]} */
      const spots = [[cx, cy]];
      for (let k = 0; k <= 40; k += 1) {
        const turn = from + (to - from) * k / 40;
        spots.push([cx + radius * Math.cos(turn), cy - radius * Math.sin(turn)]);
      }
      return path(spots, true);
    };
    const { t } = momentOf(run, moment);
    const spots = run.weights.slice(0, t + 1).map(([a, b]) => /** @type {Spot} */ ([cx + unit * a, cy - unit * b]));
    const cap = run.cosine && full.reference && full.reference.margin > 0 ? Math.acos(Math.min(1, run.bounds.cosine[t])) : null;
    const [x, y] = spots[t];
    refill(this.svg,
      s("circle", { class: "sky", cx, cy, r: radius }),
      s("path", { class: "cell", d: wedge(toward - reach[1], toward + reach[0]) }),
      ...rows.slice(0, MAX_ARCS).map(([a, b]) => {
        const far = radius / (Math.hypot(a, b) || 1);
        return s("line", { class: "arc", x1: cx - far * b, y1: cy - far * a, x2: cx + far * b, y2: cy + far * a });
      }),
      cap !== null && s("path", { class: "cap", d: wedge(toward - cap, toward + cap) }),
      s("path", { class: "trail", d: path(spots, false) }),
      s("line", { class: "star", x1: cx, y1: cy, x2: cx + radius * Math.cos(toward), y2: cy - radius * Math.sin(toward) }),
      s("text", { class: "star-name", x: cx + radius * 0.8 * Math.cos(toward) + 8, y: cy - radius * 0.8 * Math.sin(toward) }, "w*"),
      t > 0 && arrowPath(cx, cy, x, y, "arrow"),
      s("circle", { class: "now", cx: x, cy: y, r: 6 }),
      s("text", { class: "now-name", x: x + 9, y: y + 16 }, `w${subscript(t)}`));
  }

  /** Why there is no line: λ_i a_i one after the other come back to where they began. @param {Full} full */
  drawLoop(full) {
    const { question } = this.lab;
    const { width, height } = this.size;
    const known = full.weights.filter(([row]) => row < question.points.length);
    if (full.kind === "separable") {
      this.title.textContent = "Weight space";
      refill(this.svg);
      refill(this.text, h("p", {}, full.sentence));
      return;
    }
    if (known.length === 0) {
      this.title.textContent = "Undecided so far";
      refill(this.svg);
      refill(this.text, h("p", {}, `γ is between ${say(full.margin[0])} and ${full.margin[1] === null ? "∞" : say(full.margin[1])}.`));
      return;
    }
    this.title.textContent = `Why no line ${full.kind === "quasi-separable" ? "is strict" : "exists"}: Σ λ·a = 0`;
    /** @type {Spot[]} */
    const walk = [[0, 0]];
    for (const [row, weight] of known) {
      const a = signedRow(question, row);
      const [x, y] = walk[walk.length - 1];
      walk.push([x + weight * a[0], y + weight * a[1]]);
    }
    const [xs, ys] = [walk.map(([x]) => x), walk.map(([, y]) => y)];
    const span = Math.max(Math.max(...xs) - Math.min(...xs), Math.max(...ys) - Math.min(...ys), 1e-12);
    const unit = (Math.min(width, height) - 70) / span;
    const place = (/** @type {Spot} */ [x, y]) => /** @type {Spot} */ ([
      width / 2 + unit * (x - (Math.max(...xs) + Math.min(...xs)) / 2),
      height / 2 - unit * (y - (Math.max(...ys) + Math.min(...ys)) / 2)]);
    const parts = known.map(([row], k) => {
      const [[x1, y1], [x2, y2]] = [place(walk[k]), place(walk[k + 1])];
      const length = Math.hypot(x2 - x1, y2 - y1) || 1;
      const [mx, my] = [(x1 + x2) / 2 + 16 * (y2 - y1) / length, (y1 + y2) / 2 - 16 * (x2 - x1) / length];
      const plus = question.points[row][2] > 0;
      return s("g", { class: plus ? "link-plus" : "link-minus" }, arrowPath(x1, y1, x2, y2, "link"),
        length > 8 && s("text", { x: mx, y: my + 5, "text-anchor": "middle" }, `row ${row + 1}`));
    });
    const [x0, y0] = place(walk[0]);
    refill(this.svg, ...parts, s("circle", { class: "meeting", cx: x0, cy: y0, r: 6 }));
    const table = h("table", {}, h("thead", {}, h("tr", {},
      ...["row", "λ", "a = y·(x₁, x₂, 1)"].map((name) => h("th", { scope: "col" }, name)))),
    h("tbody", {}, ...known.slice(0, 6).map(([row, weight]) => h("tr", { "data-row": row, "data-weight": weight },
      h("td", {}, sayRow(question, row).slice(4)), h("td", {}, say(weight, 3)),
      h("td", {}, sayVector(signedRow(question, row)))))));
    const quasi = full.kind === "quasi-separable";
    refill(this.text, table,
      h("p", {}, "A line with all rows right has every ⟨a, w⟩ > 0, so Σ λ⟨a, w⟩ > 0. But that is ⟨Σ λ·a, w⟩ = 0: the arrows λ·a come back to where they began."),
      quasi && h("p", { class: "apart" }, `Apart: rows ${list(full.separated)}. On the line: rows ${list(others(full, question.points.length))}.`));
    this.svg.setAttribute("aria-label", `The vectors λ·a of rows ${list(known.map(([row]) => row))} form a closed loop: their sum is zero.`);
  }
}

/** The separating vector to look from. @param {Full} full @returns {Reference | null} */
function seenFrom(full) {
  const { reference, w_star } = full;
  if (reference && reference.margin > 0) return reference;
  return w_star ? { w: w_star, margin: full.margin[0], bound: full.bound, mine: false, wrong: [] } : null;
}

/** How far w* can be turned along a ray before a row is lost. @param {number} m @param {number} q */
const limit = (m, q) => (q < 0 ? Math.atan2(Math.max(0, m), -q) : RIM);

/** @param {number[]} a @param {number[]} b */
const dot3 = (a, b) => a[0] * b[0] + a[1] * b[1] + a[2] * b[2];

/** Two directions at right angles to a unit vector and to each other. @param {number[]} u @returns {[number[], number[]]} */
function basis(u) {
  const aside = Math.abs(u[2]) < 0.9 ? [0, 0, 1] : [1, 0, 0];
  const lean = dot3(aside, u);
  const first = aside.map((value, j) => value - lean * u[j]);
  const length = Math.hypot(...first);
  const e = first.map((value) => value / length);
  return [e, [u[1] * e[2] - u[2] * e[1], u[2] * e[0] - u[0] * e[2], u[0] * e[1] - u[1] * e[0]]];
}

/** @param {number} t */
const subscript = (t) => String(t).replace(/\d/g, (digit) => "₀₁₂₃₄₅₆₇₈₉"[Number(digit)]);

/** @param {number[]} rows */
const list = (rows) => (rows.length > 12 ? `${rows.slice(0, 12).map((row) => row + 1).join(", ")}, …` : rows.map((row) => row + 1).join(", "));

/** @param {Full} full @param {number} count */
function others(full, count) {
  const apart = new Set(full.separated);
  return Array.from({ length: count }, (_, row) => row).filter((row) => !apart.has(row));
}
