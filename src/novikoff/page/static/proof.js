/** The proof during the run: three inequalities as charts, or those that hold where no line exists. */

import { brieflySay, canvas, fold, h, refill, s, say, sayDown, sayUp } from "./dom.js";
import { Leaf } from "./leaf.js";
import { afterUpdate, momentOf } from "./moments.js";
import { used } from "./link.js";
import { path, ticks } from "./shapes.js";

const SLACK = 1e-9; // relative rounding error of the numbers that are compared
const [LEFT, RIGHT, ABOVE, BELOW] = [4, 1, 1, 1.8]; // around a chart, in units of the size of its text
const NAMES = ["inner", "norm", "angle"];
const FORMULAS = ["⟨w*, wₜ⟩ ≥ t·γ", "‖wₜ‖² ≤ t·R²", "cos ≥ √t·γ/R"];

/** The proof in three lines. @param {Lab} lab @returns {string[]} */
function story({ answer, full, predict, question }) {
  const { rule, start, step_size: mu, threshold } = used(question);
  const reference = full?.reference ?? null;
  const event = threshold ? "update" : "mistake";
  const added = `but adds at most ${threshold || mu !== 1 ? `${mu === 1 ? "" : "μ²"}R²${threshold ? ` + 2${mu === 1 ? "" : "μ"}δ` : ""}` : "R²"} to ‖w‖² …`;
  if (full && !predict && full.kind !== "separable") return [full.kind === "undecided" ? "It is not decided whether a w* with a margin γ > 0 exists." : "No line has a margin γ > 0, so there is no w* toward which every mistake moves w.",
    `A mistake still adds at most ${mu === 1 ? "" : "μ²"}R² to ‖w‖² …`, full.kind === "undecided" ? "… and whether mistakes end is not decided." : "… but every w misclassifies a row, so mistakes never end."];
  if (reference && reference.margin <= 0) return ["Your w* misclassifies rows, so a mistake need not move w along it.", `A mistake still adds at most ${mu === 1 ? "" : "μ²"}R² to ‖w‖².`, "So your w* proves nothing; the best w* does."];
  if (rule === "aggressive") return ["Every update moves w along w* by at least γ …", "… but an update on a correctly classified row can add more than R² to ‖w‖² …", "… so R²/γ² does not bound its mistakes."];
  const room = reference?.bound_text && !predict ? `${reference.bound_text} ${event}${reference.bound === 1 ? "" : "s"}: ${reference.formula}` : start || threshold ? "finitely many" : "R²/γ² mistakes";
  return [`Every ${event} moves w along w* by at least ${mu === 1 ? "" : "μ"}γ …`, `… ${added}`, `… and ⟨w*, w⟩ ≤ ‖w‖, so there is only room for ${room}.`];
}

/** An inequality in numbers, and whether it holds. @param {Card} card @param {number} t @returns {[string, boolean]} */
function compared({ values, bound, forbidden }, t) {
  const [value, limit, sign] = [values[t] ?? 0, bound[t] ?? 0, forbidden === "above" ? "≤" : "≥"];
  return [`${say(value)} ${sign} ${sign === "≤" ? sayUp(limit) : sayDown(limit)}`, (sign === "≤" ? limit - value : value - limit) >= -SLACK * Math.max(1, Math.abs(limit))];
}

/** The cards for a run; the library computes the bounds. @param {Lab} lab @param {Full} full @returns {Card[]} */
function cardsFor(lab, full) {
  const { reference, run } = full;
  const [pocket, question] = [lab.pocket, used(lab.question)];
  const { bounds, ceiling, cosine, errors, inner, squared_norm: squares } = run;
  const plain = question.threshold === 0 && question.start === null && question.step_size === 1;
  /** @type {Card} */
  const norm = {
    formula: plain ? "‖wₜ‖² ≤ t·R²" : "‖wₜ‖² ≤ ‖w₀‖² + t·(μ²R² + 2μδ)",
    caption: question.rule === "aggressive" ? "This inequality needs mistakes. An update on a correctly classified row can add more." :
      `${plain ? "A mistake has ⟨a, w⟩ ≤ 0, so it adds at most R²" : "An update has ⟨a, w⟩ ≤ δ, so it adds at most μ²R² + 2μδ"} to ‖w‖². R is the largest ‖a‖.`,
    values: squares, bound: bounds.squared_norm, forbidden: "above",
  };
  const last = errors.length - 1;
  /** A line at a number that does not depend on t. @param {number} level @returns {Spot[]} */
  const flat = (level) => [[0, level], [last, level]];
  const kept = run.pocket?.map((at) => errors[at]);
  /** @type {Card} */
  const wrongRows = {
    formula: "misclassified rows",
    caption: kept ? `w after each update, and the w in the pocket (violet).${pocket ? ` Every line${question.bias ? "" : " through the origin"} misclassifies at least ${pocket.bound}, proved.` : ""}` :
      pocket ? pocket.sentence : "Searching for the line with the fewest mistakes …",
    values: errors, bound: errors.map(() => pocket?.bound ?? 0), forbidden: "below",
    more: { ...(kept ? { pocket: stairs(kept) } : pocket ? { pocket: flat(pocket.errors) } : {}), ...(pocket ? { least: flat(pocket.bound) } : {}) },
    read: (t) => [`${errors[t]} now${kept ? ` · pocket ${kept[t]}` : pocket ? ` · fewest found ${pocket.errors}` : ""}${pocket ? ` · at least ${pocket.bound}` : ""}`, null],
  };
  if (full.kind === "separable" && reference && inner && cosine) {
    const { bound, bound_text, formula, margin, mine, wrong } = reference;
    return [{
      formula: plain ? "⟨w*, wₜ⟩ ≥ t·γ" : "⟨w*, wₜ⟩ ≥ ⟨w*, w₀⟩ + t·μγ",
      caption: margin > 0 ? `${plain ? "A mistake" : "An update"} moves w along ${mine ? "your w*" : "w*"} by at least ${question.step_size === 1 ? "" : "μ times "}the margin γ${mine ? `, which is at least ${sayDown(margin)}` : ""}.` : `Your w* has γ ≤ ${sayUp(margin)}: it misclassifies ${wrong.length}, so it proves nothing.`,
      values: inner, bound: bounds.inner, forbidden: "below",
    }, norm, kept ? wrongRows : {
      formula: plain ? "cos ≥ √t·γ/R" : "cos ≥ first bound / √second",
      caption: margin > 0 ? `cos ∠(w*, wₜ) is at most 1${bound === null ? "" : `, so t ≤ ${formula}: at most ${bound_text} update${bound === 1 ? "" : "s"}`}.` : "With γ ≤ 0, this inequality says nothing about the angle.",
      values: cosine, bound: bounds.cosine, forbidden: "below", more: { one: [[0, 1], [cosine.length - 1, 1]] },
      read: (t) => (squares[t] === 0 ? ["w = 0 has no direction", null] : null),
    }];
  }
  const tends = question.rule === "aggressive" ? " This rule also updates on correctly classified rows, so ‖wₜ‖/t need not tend to 0." : " Here the bound tends to 0: there is no margin.";
  /** @type {Card} */
  const ceilings = {
    formula: question.step_size === 1 ? "γ ≤ ‖wₜ‖ / t" : "γ ≤ ‖wₜ‖ / (μ·t)",
    caption: `After t updates, no line has a larger margin than this.${full.kind === "undecided" ? "" : tends}`,
    values: ceiling ?? [], bound: errors.map(() => 0), forbidden: "below",
    read: (t) => [t === 0 ? "no update yet" : `γ ≤ ${sayUp(ceiling?.[t] ?? 0)}`, null],
  };
  return [norm, ...(ceiling ? [ceilings] : []), wrongRows];
}

/** A list of numbers as a step function of t. @param {number[]} levels @returns {Spot[]} */
const stairs = (levels) => levels.flatMap((level, t) => /** @type {Spot[]} */ (t && level !== levels[t - 1] ? [[t, levels[t - 1]], [t, level]] : [[t, level]]));

export class Proof {
  /** @param {Lab} lab */
  constructor(lab) {
    this.lab = lab;
    this.story = h("ol", { class: "panel story" });
    this.leaf = new Leaf(lab);
    this.cards = NAMES.map((name) => this.card(name));
    this.node = h("section", { class: "proof", "aria-label": "The proof, inequality by inequality" },
      this.story, this.leaf.node, ...this.cards.map(({ node }) => node));
  }

  /** @param {string} name */
  card(name) {
    const readout = h("output", { class: "readout" });
    const caption = h("p", { class: "caption" });
    const { node: svg, size } = canvas({ class: "chart", role: "img" }, () => this.draw());
    svg.addEventListener("pointerdown", (event) => this.scrub(svg, event));
    svg.addEventListener("pointermove", (event) => { if (event.buttons & 1) this.scrub(svg, event); });
    const { node, title } = fold(this.lab, name, readout, caption, h("div", { class: "drawing" }, svg));
    node.classList.add("card");
    return { node, title, readout, caption, svg, size };
  }

  /** @param {SVGElement} svg @param {PointerEvent} event */
  scrub(svg, event) {
    const { full } = this.lab;
    if (!full || this.lab.predict) return;
    const frame = svg.getBoundingClientRect();
    const { em } = this.cards[0].size;
    const share = (event.clientX - frame.left - LEFT * em) / (frame.width - (LEFT + RIGHT) * em);
    const last = full.run.index.length;
    this.lab.goTo(afterUpdate(full.run, Math.round(Math.min(1, Math.max(0, share)) * last)));
  }

  draw() {
    const { full } = this.lab;
    this.leaf.draw();
    refill(this.story, ...story(this.lab).map((text) => h("li", {}, text)));
    if (!full) {
      this.cards.forEach((card, k) => {
        card.title.textContent = FORMULAS[k];
        refill(card.caption);
        refill(card.readout);
        refill(card.svg);
      });
      return;
    }
    const { t } = momentOf(full.run, this.lab.moment);
    const cards = cardsFor(this.lab, full).filter(({ formula }) => !this.lab.predict || formula.startsWith("‖"));
    const before = (/** @type {(number | null)[]} */ values) => values.slice(0, t + 1); // the learner predicts the rest
    if (this.lab.predict) for (const card of cards) Object.assign(card, { values: before(card.values), bound: before(card.bound), more: {} });
    this.cards.forEach((card, k) => {
      card.node.hidden = k >= cards.length;
      if (k < cards.length) this.drawCard(card, cards[k], t);
    });
  }

  /** @param {ReturnType<Proof["card"]>} card @param {Card} data @param {number} t */
  drawCard(card, data, t) {
    const [[text, holds], { more = {} }] = [data.read?.(t) ?? compared(data, t), data];
    card.title.textContent = data.formula;
    card.caption.textContent = data.caption;
    refill(card.readout, text, holds !== null && h("b", { class: holds ? "holds" : "fails" }, holds ? " holds" : " fails"));
    const { width, height, em } = card.size;
    const [left, right, above, below] = [LEFT * em, RIGHT * em, ABOVE * em, BELOW * em];
    const last = Math.max(1, data.values.length - 1);
    const numbers = [...data.values, ...data.bound, ...Object.values(more).flat().map(([, level]) => level)]
      .filter((value) => value !== null);
    const [low, high] = [Math.min(0, ...numbers), Math.max(0, ...numbers) || 1];
    const x = (/** @type {number} */ at) => left + at / last * (width - left - right);
    const y = (/** @type {number} */ value) => height - below - (value - low) / (high - low) * (height - below - above);
    const curve = (/** @type {(number | null)[]} */ values) =>
      values.flatMap((value, at) => (value === null ? [] : [/** @type {Spot} */ ([x(at), y(value)])]));
    const edge = data.forbidden === "above" ? above : height - below;
    const bound = curve(data.bound);
    const forbidden = path([...bound, [x(data.bound.length - 1), edge], [x(0), edge]], true);
    const value = data.values[t];
    const grid = [0, high].map((level) => s("g", {},
      s("line", { class: "grid", x1: left, x2: width - right, y1: y(level), y2: y(level) }),
      s("text", { class: "tick", x: left - 0.4 * em, y: y(level) + 0.3 * em, "text-anchor": "end" }, brieflySay(level))));
    const times = ticks(0, last).filter((at) => Number.isInteger(at)).map((at) =>
      s("text", { class: "tick", x: x(at), y: height - 0.35 * em, "text-anchor": at === last ? "end" : "middle" }, at === 0 ? "t = 0" : say(at)));
    refill(card.svg, ...grid, ...times,
      s("path", { class: "forbidden", d: forbidden }),
      s("path", { class: "bound", d: path(bound, false) }),
      ...Object.entries(more).map(([name, points]) => s("path", { class: `more ${name}`, d: path(points.map(([at, level]) => [x(at), y(level)]), false) })),
      s("path", { class: data.values.length > 120 ? "values thin" : "values", d: path(curve(data.values), false) }),
      s("line", { class: "cursor", x1: x(t), x2: x(t), y1: above, y2: height - below }),
      value !== null && s("circle", { class: "now", cx: x(t), cy: y(value), r: 5.5 }));
    card.svg.setAttribute("aria-label", `${data.formula}: after ${t} updates ${text}${holds === null ? "" : holds ? ", it holds" : ", it fails"}`);
  }
}
