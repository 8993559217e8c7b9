/** The proof in one chart: t·γ ≤ ⟨w*, wₜ⟩ ≤ ‖wₜ‖ ≤ √t·R, up to the t at which no room is left. Where no
 * line separates the points, the path of w. */

import { canvas, fold, h, refill, s, tick, whilePressed } from "./dom.js";
import { used } from "./link.js";
import { afterUpdate, loopOf, momentOf } from "./run.js";
import { brieflySay, say, sayDown, sayUp, sayVector } from "./numbers.js";
import { arrow, fitting, path, ticks } from "./shapes.js";
import { words } from "./words.js";

const FAR = 12; // if the bound exceeds the updates by this factor, both axes are logarithmic
const CORNERS = 80; // of each curve of a bound

export class ProofChart {
  /** @param {Lab} lab */
  constructor(lab) {
    this.lab = lab;
    const { node, size } = canvas({ class: "leaf-chart", role: "img" }, () => this.draw());
    this.svg = node;
    this.size = size;
    this.caption = h("p", { class: "caption" });
    this.readout = h("output", { class: "readout" });
    const { node: panel, title } = fold(
      lab,
      "leaf",
      this.readout,
      this.caption,
      h("div", { class: "drawing" }, node),
    );
    panel.classList.add("leaf");
    this.node = panel;
    this.title = title;
    whilePressed(node, (event) => this.scrub(event));
  }

  draw() {
    const { beside, full, predict, question } = this.lab;
    const { aggressive, noMargin, title } = words.chart;
    const bound = full?.reference?.bound ?? null;
    const known = full && !(predict && full.kind !== "separable");
    if (!full || !known || !full.run.index.length) this.show(title, "", "", []);
    else if (bound !== null && full.run.inner) this.drawRoom(full, full.run.inner, bound);
    else if (full.kind !== "separable") this.drawPath(full);
    else if (beside.run && full.run.visits) this.drawCounters(full.run, beside.run);
    else this.show(title, "", question.rule === "aggressive" ? aggressive : noMargin, []);
  }

  /** @param {string} title
   * @param {string} readout @param {string} caption @param {import("./dom.js").Child[]} parts */
  show(title, readout, caption, parts) {
    [this.title.textContent, this.readout.textContent, this.caption.textContent] = [title, readout, caption];
    refill(this.svg, ...parts);
    this.svg.setAttribute("aria-label", `${caption} ${readout}`);
  }

  /** The curves of the run and the room that the proof leaves for them.
   * @param {Full} full @param {number[]} inner @param {number} bound */
  drawRoom({ run, reference }, inner, bound) {
    const { moment, predict, question } = this.lab;
    const { start, step_size: mu, threshold } = used(question);
    const { t } = momentOf(run, moment);
    const made = run.index.length;
    const slope = (/** @type {number[]} */ line) => (line[made] - line[0]) / made;
    const [rise, growth] = [slope(run.bounds.inner), slope(run.bounds.squared_norm)];
    const low = (/** @type {number} */ at) => run.bounds.inner[0] + rise * at;
    const high = (/** @type {number} */ at) => Math.sqrt(run.bounds.squared_norm[0] + growth * at);
    const end = predict ? Math.max(2, t) : Math.max(bound, made);
    const log = end > FAR * made && low(1) > 0;
    const first = log ? 1 : 0;
    const last = log ? end * 1.6 : end * 1.08;
    const { width, height, em } = this.size;
    const [left, right, above, below] = [4 * em, em, 1.2 * em, 1.8 * em];
    const bottom = log ? Math.min(low(1), ...inner.slice(1).filter((value) => value > 0)) / 1.3 :
      Math.min(0, low(0), ...inner);
    const top = high(last) * (log ? 1.3 : 1.02);
    const share = (/** @type {number} */ value, /** @type {number} */ from, /** @type {number} */ to) =>
      (log ? Math.log(value / from) / Math.log(to / from) : (value - from) / (to - from));
    const x = (/** @type {number} */ at) => left + share(at, first, last) * (width - left - right);
    const y = (/** @type {number} */ value) =>
      height - below - share(value, bottom, top) * (height - above - below);
    this.place = { first, last, left, right, log, made };
    const spread = Array.from({ length: CORNERS + 1 }, (_, k) =>
      (log ? first * (last / first) ** (k / CORNERS) : last * (k / CORNERS) ** 2));
    const lowest = (/** @type {number} */ at) => Math.max(bottom, low(at));
    const curve = (/** @type {(at: number) => number} */ value, along = spread) =>
      along.map((at) => /** @type {Spot} */ ([x(at), y(value(at))]));
    const open = spread.filter((at) => low(at) <= high(at));
    const room = path([...curve(lowest, open), ...curve(high, open).reverse()], true);
    const drawn = (/** @type {number[]} */ values, /** @type {number} */ at) =>
      at >= first && !(log && values[at] <= 0);
    const shown = (/** @type {number[]} */ values) =>
      path(
        values
          .slice(0, t + 1)
          .flatMap((value, at) => (drawn(values, at) ? [/** @type {Spot} */ ([x(at), y(value)])] : [])),
        false,
      );
    const lengths = run.squared_norm.map(Math.sqrt);
    const dots = (/** @type {number[]} */ values, /** @type {string} */ name) =>
      drawn(values, t) && s("circle", { class: name, cx: x(t), cy: y(values[t]), r: 5 });
    const plain = !start && !threshold && mu === 1;
    const [lower, upper] = plain ? ["t·γ", "√t·R"] : [words.chart.low, words.chart.high];
    const middle = log ? Math.sqrt(end) : end * 0.45;
    const times = log ? powers(first, last) : ticks(0, last).filter(Number.isInteger);
    const levels = log ? powers(bottom, top) : ticks(bottom, top);
    const [inside, tall] = [Math.max(0, width - left - right), Math.max(0, height - above - below)];
    const label = { class: "limits", x: x(middle) };
    const closing = words.chart.closed(String(reference?.formula), String(reference?.bound_text));
    const parts = [
      s("rect", { class: "forbidden", x: left, y: above, width: inside, height: tall }),
      s("path", { class: "room", d: room }),
      ...levels.map((level) => tick(left - 0.4 * em, y(level) + 0.3 * em, brieflySay(level), "end")),
      ...times.map((at) => tick(x(at), height - 0.35 * em, at === first ? `t = ${first}` : brieflySay(at))),
      s("path", { class: "bound", d: path(curve(lowest), false) }),
      s("path", { class: "bound", d: path(curve(high), false) }),
      !predict && s("line", { class: "limit", x1: x(bound), x2: x(bound), y1: above, y2: height - below }),
      s("path", { class: "values", d: shown(lengths) }), s("path", { class: "progress", d: shown(inner) }),
      dots(lengths, "now"), dots(inner, "now along"),
      s("text", { ...label, y: y(high(middle)) - 0.6 * em, "text-anchor": "end" }, upper),
      s("text", { ...label, y: y(lowest(middle)) + 1.3 * em, "text-anchor": "start" }, lower),
      !predict && s("text", {
        class: "limit-name", x: x(bound) - 0.5 * em, y: height - below - 0.6 * em, "text-anchor": "end",
      }, closing),
    ];
    const chain = `${sayDown(run.bounds.inner[t])} ≤ ${say(inner[t])} ≤ ${say(lengths[t])} ≤ ${sayUp(high(t))}`;
    this.show(words.chart.title, chain, words.chart.room(plain, log), parts);
  }

  /** Go to the moment under the pointer. @param {PointerEvent} event */
  scrub(event) {
    const { full, predict } = this.lab;
    if (!full || predict || !this.place || !full.run.inner) return;
    const { first, last, left, right, log, made } = this.place;
    const box = this.svg.getBoundingClientRect();
    const share = Math.min(1, Math.max(0, (event.clientX - box.left - left) / (box.width - left - right)));
    const at = log ? (share === 0 ? 0 : first * (last / first) ** share) : share * last;
    this.lab.goTo(afterUpdate(full.run, Math.min(made, Math.round(at))));
  }

  /** The mistakes of this run and of the compared run against the visits.
   * @param {Run} run @param {Run} other */
  drawCounters(run, other) {
    const { beside, moment, question } = this.lab;
    const { width, height, em } = this.size;
    const [left, right, above, below] = [3 * em, em, em, 1.8 * em];
    const high = Math.max(run.mistakes.at(-1) ?? 0, other.mistakes.at(-1) ?? 0, 1);
    const x = (/** @type {number} */ visits) => left + visits / run.visited * (width - left - right);
    const y = (/** @type {number} */ count) => height - below - count / high * (height - above - below);
    const counter = (/** @type {Run} */ { mistakes, n_steps }, /** @type {number} */ last) => {
      const steps = n_steps.filter((before) => before < last).flatMap((before, k) =>
        /** @type {Spot[]} */ ([[x(before + 1), y(mistakes[k])], [x(before + 1), y(mistakes[k + 1])]]));
      return path([[x(0), y(0)], ...steps, [x(last), steps.at(-1)?.[1] ?? y(0)]], false);
    };
    const count = (/** @type {Run} */ { mistakes, n_steps }) =>
      mistakes[n_steps.filter((before) => before < moment).length];
    const { counters, countersNow, countersText, noVisit } = words.chart;
    this.show(counters, countersNow(count(run), count(other)), countersText(question.rule, beside.name), [
      ...ticks(0, high)
        .filter(Number.isInteger)
        .map((level) => tick(left - 0.4 * em, y(level) + 0.3 * em, say(level), "end")),
      ...ticks(0, run.visited).map((at) => tick(x(at), height - 0.35 * em, at ? say(at) : noVisit)),
      s("path", { class: "counter", d: counter(other, moment) }),
      s("path", { class: "values", d: counter(run, moment) }),
    ]);
  }

  /** The path of w in the plane of (w₁, w₂), and the loop that a periodic run repeats. @param {Full} full */
  drawPath({ run }) {
    const { moment, question } = this.lab;
    const { t } = momentOf(run, moment);
    const loop = loopOf(run);
    const plane = run.weights.map(([a, b]) => /** @type {Spot} */ ([a, b]));
    const spots = plane.map(fitting(plane, this.size, 5 * this.size.em, 3 * this.size.em));
    const steps = loop.slice(1).map((at, k) => [spots[loop[k]], spots[at]])
      .filter(([p, q]) => Math.hypot(q[0] - p[0], q[1] - p[1]) > 1);
    const [cx, cy] = spots[t];
    const text = words.chart;
    const title = run.period ? text.repeats(run.period) : text.path;
    const caption = run.period ? text.loop(run.period) : run.converged ? text.allUpdates : text.pathText;
    this.show(title, `w = ${sayVector(run.weights[t])}`, caption + (question.bias ? text.projected : ""), [
      s("path", { class: "trail", d: path(spots.slice(0, t + 1), false) }),
      ...steps.map(([p, q]) => arrow(p, q, "loop")),
      s("circle", { class: "origin", cx: spots[0][0], cy: spots[0][1], r: 4 }),
      s("circle", { class: "now", cx, cy, r: 7 }),
      s("text", { class: "now-name", x: cx + 0.8 * this.size.em, y: cy - 0.6 * this.size.em }, "w"),
    ]);
  }
}

/** The powers of ten between two positive numbers, at most six of them.
 * @param {number} low @param {number} high */
function powers(low, high) {
  const [first, last] = [Math.ceil(Math.log10(low)), Math.floor(Math.log10(high))];
  const stride = Math.max(1, Math.ceil((last - first + 1) / 6));
  return Array.from(
    { length: Math.max(0, Math.floor((last - first) / stride) + 1) },
    (_, k) => 10 ** (first + k * stride),
  );
}
