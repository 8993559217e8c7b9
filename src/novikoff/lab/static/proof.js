/** The proof, live: three inequalities as charts, and what is left of them where no line exists. */

import { brieflySay, canvas, h, refill, s, say } from "./dom.js";
import { afterUpdate, momentOf } from "./moments.js";
import { path, ticks } from "./shapes.js";

/** @typedef {import("./types").Lab} Lab */
/** @typedef {import("./types").Full} Full */
/** @typedef {import("./types").Card} Card */

const SLACK = 1e-9;

/** @param {number} a @param {number} b */
const atLeast = (a, b) => a >= b - SLACK * Math.max(1, Math.abs(b));

/** @param {Lab} lab @param {Full} full @returns {Card[]} */
function cardsFor(lab, full) {
  const { run, reference } = full;
  const { bounds } = run;
  const plain = lab.question.threshold === 0 && lab.question.start === null && lab.question.step === 1;
  const still = reference ? "" : " This needs no line: it is still true.";
  const aggressive = lab.question.rule === "aggressive";
  /** @type {Card} */
  const norm = {
    formula: plain ? "‖wₜ‖² ≤ t·R²" : "‖wₜ‖² ≤ ‖w₀‖² + t·(μ²R² + 2μδ)",
    caption: aggressive ? "It needs mistakes: rows already right make w longer by more." :
      `A mistake has ⟨a, w⟩ ≤ ${plain ? 0 : "δ"}, so w grows slowly.${still}`,
    values: run.squared_norm, bound: bounds.squared_norm, forbidden: "above", more: [],
    read: (t) => [`${say(run.squared_norm[t])} ≤ ${say(bounds.squared_norm[t])}`,
      atLeast(bounds.squared_norm[t], run.squared_norm[t])],
  };
  const { inner, cosine } = run;
  if (full.kind === "separable" && reference && inner && cosine) {
    const whose = reference.mine ? "your w*" : "w*";
    const useless = reference.margin <= 0;
    const caption = useless ?
      `Your w* has γ = ${say(reference.margin)} ≤ 0: it errs on ${reference.wrong.length}, so it proves nothing.` :
      `Every mistake brings w forward along ${whose}, by ${reference.mine ? `its γ = ${say(reference.margin)}` : "γ"} or more.`;
    return [
      {
        formula: plain ? "⟨w*, wₜ⟩ ≥ t·γ" : "⟨w*, wₜ⟩ ≥ ⟨w*, w₀⟩ + t·μγ", caption,
        values: inner, bound: bounds.inner, forbidden: "below", more: [],
        read: (t) => [`${say(inner[t])} ≥ ${say(bounds.inner[t])}`, atLeast(inner[t], bounds.inner[t])],
      },
      norm,
      {
        formula: plain ? "cos ≥ √t·γ/R" : "cos ≥ first bound / √second",
        caption: useless ? "A rule with γ ≤ 0 says nothing about the angle." :
          "The cosine of the angle between w* and wₜ. It is at most 1" +
          (reference.bound === null ? "." : `, so t ≤ ${plain ? "R²/γ² = " : ""}${say(reference.bound)}.`),
        values: cosine, bound: bounds.cosine, forbidden: "below",
        more: [{ name: "one", points: [[0, 1], [cosine.length - 1, 1]] }],
        read: (t) => [t === 0 && !cosine[0] ? "w = 0 has no direction" : `${say(cosine[t])} ≥ ${say(bounds.cosine[t])}`,
          t === 0 && !cosine[0] ? null : atLeast(cosine[t], bounds.cosine[t])],
      },
    ];
  }
  const { ceiling, errors } = run;
  const { pocket } = lab;
  const last = errors.length - 1;
  const cards = [norm];
  if (ceiling) {
    cards.push({
      formula: "γ ≤ ‖wₜ‖ / t",
      caption: `Every run bounds the margin from above.${full.kind === "undecided" ? "" : " Here it sinks to 0: there is no margin."}`,
      values: ceiling, bound: ceiling.map(() => 0), forbidden: "below", more: [],
      read: (t) => [t === 0 ? "no mistake yet" : `γ ≤ ${say(ceiling[t] ?? 0)}`, null],
    });
  }
  /** @type {Card["more"]} */
  const stairs = [];
  if (pocket) {
    const steps = pocket.history.flatMap(([t, cost], k) => {
      const before = k ? pocket.history[k - 1][1] : cost;
      return /** @type {[number, number][]} */ ([[Math.min(t, last), before], [Math.min(t, last), cost]]);
    });
    stairs.push({ name: "pocket", points: steps },
      { name: "least", points: [[0, pocket.bound], [last, pocket.bound]] });
  }
  cards.push({
    formula: "rows wrong",
    caption: pocket ? pocket.sentence : "The pocket, the best rule of a run at random, is being computed …",
    values: errors, bound: errors.map(() => pocket?.bound ?? 0), forbidden: "below", more: stairs,
    read: (t) => [`${errors[t]} now${pocket ? ` · pocket ${pocket.errors} · minimum ${pocket.bound}` : ""}`, null],
  });
  return cards;
}

export class Proof {
  /** @param {Lab} lab */
  constructor(lab) {
    this.lab = lab;
    this.cards = [0, 1, 2].map(() => this.card());
    this.node = h("section", { class: "proof", "aria-label": "The proof, inequality by inequality" },
      ...this.cards.map(({ node }) => node));
  }

  card() {
    const title = h("h2", { class: "formula" });
    const readout = h("output", { class: "readout" });
    const caption = h("p", { class: "caption" });
    const { node: svg, size } = canvas({ class: "chart", role: "img" }, () => this.draw());
    svg.addEventListener("pointerdown", (event) => this.scrub(svg, event));
    svg.addEventListener("pointermove", (event) => { if (event.buttons & 1) this.scrub(svg, event); });
    const node = h("article", { class: "panel card" },
      h("header", {}, title, readout), caption, h("div", { class: "drawing" }, svg));
    return { node, title, readout, caption, svg, size };
  }

  /** @param {SVGElement} svg @param {PointerEvent} event */
  scrub(svg, event) {
    const { full } = this.lab;
    if (!full || this.lab.predict) return;
    const frame = svg.getBoundingClientRect();
    const share = (event.clientX - frame.left - LEFT) / (frame.width - LEFT - RIGHT);
    const last = full.run.index.length;
    this.lab.goTo(afterUpdate(full.run, Math.round(Math.min(1, Math.max(0, share)) * last)));
  }

  draw() {
    const { full } = this.lab;
    if (!full) {
      const texts = [["⟨w*, wₜ⟩ ≥ t·γ", "Every mistake brings w forward …"],
        ["‖wₜ‖² ≤ t·R²", "… but makes it only so much longer …"],
        ["cos ≥ √t·γ/R", "… so the angle closes, and mistakes end."]];
      this.cards.forEach((card, k) => {
        [card.title.textContent, card.caption.textContent] = texts[k];
        card.readout.textContent = "";
        refill(card.svg);
      });
      return;
    }
    const { t } = momentOf(full.run, this.lab.moment);
    const cards = cardsFor(this.lab, full);
    if (this.lab.predict) cards.forEach((card) => upTo(card, t));
    this.cards.forEach((card, k) => {
      card.node.hidden = k >= cards.length;
      if (k < cards.length) this.drawCard(card, cards[k], t);
    });
  }

  /** @param {ReturnType<Proof["card"]>} card @param {Card} data @param {number} t */
  drawCard(card, data, t) {
    const [text, holds] = data.read(t);
    card.title.textContent = data.formula;
    card.caption.textContent = data.caption;
    refill(card.readout, text, holds !== null && h("b", { class: holds ? "holds" : "fails" }, holds ? " holds" : " fails"));
    const { width, height } = card.size;
    const last = Math.max(1, data.values.length - 1);
    const numbers = [...data.values, ...data.bound, ...data.more.flatMap(({ points }) => points.map(([, y]) => y))]
      .filter((value) => value !== null);
    const [low, high] = [Math.min(0, ...numbers), Math.max(...numbers, 1e-9)];
    const x = (/** @type {number} */ at) => LEFT + at / last * (width - LEFT - RIGHT);
    const y = (/** @type {number} */ value) => height - BELOW - (value - low) / (high - low) * (height - BELOW - ABOVE);
    const curve = (/** @type {(number | null)[]} */ values) => values
      .map((value, at) => (value === null ? null : /** @type {[number, number]} */ ([x(at), y(value)])))
      .filter((spot) => spot !== null);
    const edge = data.forbidden === "above" ? ABOVE : height - BELOW;
    const bound = curve(data.bound);
    const forbidden = bound.length ? [...bound, /** @type {[number, number]} */ ([x(last), edge]), /** @type {[number, number]} */ ([x(0), edge])] : [];
    const value = data.values[t];
    const grid = [0, high].map((level) => s("g", {},
      s("line", { class: "grid", x1: LEFT, x2: width - RIGHT, y1: y(level), y2: y(level) }),
      s("text", { class: "tick", x: LEFT - 5, y: y(level) + 4, "text-anchor": "end" }, brieflySay(level))));
    const times = ticks(0, last).filter((at) => Number.isInteger(at)).map((at) =>
      s("text", { class: "tick", x: x(at), y: height - 4, "text-anchor": "middle" }, at === 0 ? "t = 0" : say(at)));
    refill(card.svg, ...grid, ...times,
      s("path", { class: "forbidden", d: path(forbidden, true) }),
      s("path", { class: "bound", d: path(bound, false) }),
      ...data.more.map(({ name, points }) => s("path", { class: `more ${name}`, d: path(points.map(([at, level]) => [x(at), y(level)]), false) })),
      s("path", { class: data.values.length > 120 ? "values thin" : "values", d: path(curve(data.values), false) }),
      s("line", { class: "cursor", x1: x(t), x2: x(t), y1: ABOVE, y2: height - BELOW }),
      value !== null && s("circle", { class: "now", cx: x(t), cy: y(value), r: 5.5 }));
    card.svg.setAttribute("aria-label", `${data.formula}: after ${t} updates ${text}${holds === null ? "" : holds ? ", it holds" : ", it fails"}`);
  }
}

/** Leave out what comes after t: it is to be predicted. @param {Card} card @param {number} t */
function upTo(card, t) {
  card.values = card.values.slice(0, t + 1);
  card.bound = card.bound.slice(0, t + 1);
  card.more = [];
}

const [LEFT, RIGHT, ABOVE, BELOW] = [44, 12, 8, 20];
