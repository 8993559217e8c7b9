/** The proof during the run: three inequalities as charts, or those that hold where no line exists. */

import { canvas, fold, h, refill, s, tick, whilePressed } from "./dom.js";
import { ProofChart } from "./proof_chart.js";
import { afterUpdate, momentOf } from "./run.js";
import { used } from "./link.js";
import { brieflySay, say, sayDown, sayUp } from "./numbers.js";
import { path, ticks } from "./shapes.js";
import { words } from "./words.js";

const SLACK = 1e-9; // relative rounding error of the numbers that are compared
const [LEFT, RIGHT, ABOVE, BELOW] = [4, 1, 1, 1.8]; // around a chart, in units of the size of its text
const CARDS = ["inner", "norm", "angle"];
const FORMULAS = ["⟨w*, wₜ⟩ ≥ t·γ", "‖wₜ‖² ≤ t·R²", "cos ≥ √t·γ/R"];

/** The proof in three lines. @param {Lab} lab @returns {string[]} */
function story({ answer, full, predict, question }) {
  const { rule, start, step_size: mu, threshold } = used(question);
  const reference = full?.reference ?? null;
  const text = words.story;
  const [times, squared, updates] = mu === 1 ? ["", "", threshold > 0] : ["μ", "μ²", threshold > 0];
  const still = text.stillAdds(squared);
  if (full && !predict && full.kind !== "separable") {
    const [first, last] = full.kind === "undecided" ? text.undecided : rule === "aggressive" ? text.hopelessAggressive : text.hopeless;
    return [first, `${still} …`, last];
  }
  if (reference && reference.margin <= 0) return [text.wrongMine, `${still}.`, text.provesNothing];
  if (rule === "aggressive") return text.aggressive;
  const bound = predict ? null : reference?.bound_text;
  const room = bound && reference ? text.roomOf(bound, updates, reference.bound, reference.formula) :
    start || threshold ? text.finite : text.plainRoom;
  const growth = `${squared}R²${threshold ? ` + 2${times}δ` : ""}`;
  return [text.moves(updates, times), text.adds(growth), text.room(room)];
}

/** An inequality in numbers, and whether it holds.
 * @param {Card} card @param {number} t @returns {[string, boolean]} */
function compared({ values, bound, forbidden }, t) {
  const [value, limit, sign] = [values[t] ?? 0, bound[t] ?? 0, forbidden === "above" ? "≤" : "≥"];
  const left = sign === "≤" ? limit - value : value - limit;
  const size = Math.max(...[...values.slice(0, t + 1), ...bound.slice(0, t + 1)].map((number) => Math.abs(number ?? 0)));
  const text = `${say(value)} ${sign} ${sign === "≤" ? sayUp(limit) : sayDown(limit)}`;
  return [text, left >= -SLACK * size];
}

/** The cards for a run; the library computes the bounds.
 * @param {Lab} lab @param {Full} full @returns {Card[]} */
function cardsFor(lab, full) {
  const { reference, run } = full;
  const [pocket, question] = [lab.pocket, used(lab.question)];
  const { bounds, ceiling, cosine, errors, inner, squared_norm: squares } = run;
  const text = words.proof;
  const plain = question.threshold === 0 && question.start === null && question.step_size === 1;
  /** @type {Card} */
  const norm = {
    formula: plain ? FORMULAS[1] : "‖wₜ‖² ≤ ‖w₀‖² + t·(μ²R² + 2μδ)",
    caption: question.rule === "aggressive" ? text.aggressiveNorm : text.norm(plain),
    values: squares, bound: bounds.squared_norm, forbidden: "above",
  };
  const last = errors.length - 1;
  /** A line at a number that does not depend on t. @param {number} level @returns {Spot[]} */
  const flat = (level) => [[0, level], [last, level]];
  const kept = run.pocket?.map((at) => errors[at]);
  const best = kept ? stairs(kept) : pocket && flat(pocket.errors);
  const least = pocket?.bound ?? null;
  /** @type {Card} */
  const wrongRows = {
    formula: text.wrongRows,
    caption: kept ? text.pocket(question.bias, least) : pocket?.sentence ?? text.searching,
    values: errors, bound: errors.map(() => least ?? 0), forbidden: "below",
    more: { ...(best && { pocket: best }), ...(least !== null && { least: flat(least) }) },
    read: (t) => [text.wrongNow(errors[t], kept?.[t] ?? null, pocket?.errors ?? null, least), null],
  };
  if (full.kind === "separable" && reference && inner && cosine) {
    const { bound, bound_text, formula, margin, mine, wrong } = reference;
    return [{
      formula: plain ? FORMULAS[0] : "⟨w*, wₜ⟩ ≥ ⟨w*, w₀⟩ + t·μγ",
      caption: margin > 0 ? text.inner(plain, question.step_size !== 1, mine ? margin : null) :
        text.noMargin(margin, wrong.length),
      values: inner, bound: bounds.inner, forbidden: "below",
    }, norm, kept ? wrongRows : {
      formula: plain ? FORMULAS[2] : text.generalAngle,
      caption: margin > 0 ? text.angle(bound, String(bound_text), formula) : text.noAngle,
      values: cosine, bound: bounds.cosine, forbidden: "below", more: { one: [[0, 1], [cosine.length - 1, 1]] },
      read: (t) => (squares[t] === 0 ? [text.noDirection, null] : null),
    }];
  }
  const tends = question.rule === "aggressive" ? text.ceilingAggressive : text.ceilingTends;
  /** @type {Card} */
  const ceilings = {
    formula: question.step_size === 1 ? "γ ≤ ‖wₜ‖ / t" : "γ ≤ ‖wₜ‖ / (μ·t)",
    caption: text.ceiling + (full.kind === "undecided" ? "" : tends),
    values: ceiling ?? [], bound: errors.map(() => 0), forbidden: "below",
    read: (t) => [t === 0 ? text.noUpdate : `γ ≤ ${sayUp(ceiling?.[t] ?? 0)}`, null],
  };
  return [norm, ...(ceiling ? [ceilings] : []), wrongRows];
}

/** A list of numbers as a step function of t. @param {number[]} levels @returns {Spot[]} */
const stairs = (levels) => levels.flatMap((level, t) =>
  /** @type {Spot[]} */ (t && level !== levels[t - 1] ? [[t, levels[t - 1]], [t, level]] : [[t, level]]));

export class Proof {
  /** @param {Lab} lab */
  constructor(lab) {
    this.lab = lab;
    this.story = h("ol", { class: "panel story" });
    this.leaf = new ProofChart(lab);
    this.cards = CARDS.map((name) => this.card(name));
    this.node = h("section", { class: "proof", "aria-label": words.proof.label },
      this.story, this.leaf.node, ...this.cards.map(({ node }) => node));
  }

  /** @param {string} name */
  card(name) {
    const readout = h("output", { class: "readout" });
    const caption = h("p", { class: "caption" });
    const { node: svg, size } = canvas({ class: "chart", role: "img" }, () => this.draw());
    whilePressed(svg, (event) => this.scrub(svg, event));
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
    if (this.lab.predict) for (const card of cards) { // the learner predicts what follows
      Object.assign(card, { values: card.values.slice(0, t + 1), bound: card.bound.slice(0, t + 1), more: {} });
    }
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
    const judged =
      holds !== null &&
      h("b", { class: holds ? "holds" : "fails" }, holds ? words.proof.holds : words.proof.fails);
    refill(card.readout, text, judged);
    const { width, height, em } = card.size;
    const [left, right, above, below] = [LEFT * em, RIGHT * em, ABOVE * em, BELOW * em];
    const last = Math.max(1, data.values.length - 1);
    const numbers = [...data.values, ...data.bound, ...Object.values(more).flat().map(([, level]) => level)]
      .filter((value) => value !== null);
    const [low, high] = [Math.min(0, ...numbers), Math.max(0, ...numbers) || 1];
    const x = (/** @type {number} */ at) => left + (at / last) * (width - left - right);
    const y = (/** @type {number} */ value) =>
      height - below - ((value - low) / (high - low)) * (height - below - above);
    const curve = (/** @type {(number | null)[]} */ values) =>
      values.flatMap((value, at) => (value === null ? [] : [/** @type {Spot} */ ([x(at), y(value)])]));
    const edge = data.forbidden === "above" ? above : height - below;
    const bound = curve(data.bound);
    const forbidden = path([...bound, [x(data.bound.length - 1), edge], [x(0), edge]], true);
    const value = data.values[t];
    const grid = [0, high].map((level) => s("g", {},
      s("line", { class: "grid", x1: left, x2: width - right, y1: y(level), y2: y(level) }),
      tick(left - 0.4 * em, y(level) + 0.3 * em, brieflySay(level), "end")));
    const times = ticks(0, last).filter(Number.isInteger).map((at) =>
      tick(x(at), height - 0.35 * em, at === 0 ? "t = 0" : say(at), at === last ? "end" : "middle"));
    refill(card.svg, ...grid, ...times,
      s("path", { class: "forbidden", d: forbidden }),
      s("path", { class: "bound", d: path(bound, false) }),
      ...Object.entries(more).map(([name, points]) =>
        s("path", {
          class: `more ${name}`,
          d: path(
            points.map(([at, level]) => [x(at), y(level)]),
            false,
          ),
        }),
      ),
      s("path", {
        class: data.values.length > 120 ? "values thin" : "values",
        d: path(curve(data.values), false),
      }),
      s("line", { class: "cursor", x1: x(t), x2: x(t), y1: above, y2: height - below }),
      value !== null && s("circle", { class: "now", cx: x(t), cy: y(value), r: 5.5 }));
    card.svg.setAttribute("aria-label", words.proof.read(data.formula, t, text, holds));
  }
}
