/** One step in numbers: the sum w + a by components and as arrows, and the mistakes out of the bound. */

import { canvas, h, refill, s, say } from "./dom.js";
import { used } from "./link.js";
import { momentOf, sayRow, signedRow } from "./moments.js";
import { arrow, fitting } from "./shapes.js";

export class Step {
  /** @param {Lab} lab */
  constructor(lab) {
    this.lab = lab;
    const { node, size } = canvas({ class: "sum", role: "img", "aria-label": "w plus a, as arrows" }, () => this.draw());
    this.svg = node;
    this.size = size;
    this.title = h("h2", {}, "This step in numbers");
    this.table = h("div", { class: "numbers" });
    this.bar = h("div", { class: "budget" });
    this.node = h("section", { class: "panel step-panel", "aria-label": "This step in numbers" },
      this.bar, this.title, h("div", { class: "step-body" }, this.table, h("div", { class: "drawing" }, node)));
  }

  draw() {
    const { full, question } = this.lab;
    if (!full) {
      refill(this.bar);
      refill(this.table, h("p", {}, "A mistake on row a changes w to w + a. Nothing else changes w."));
      refill(this.svg);
      return;
    }
    const { run } = full;
    const { t, row, acted } = momentOf(run, this.lab.moment);
    this.drawBudget(t);
    const after = run.weights[t];
    const before = acted ? run.weights[t - 1] : after;
    const tau = acted ? run.tau[t - 1] : 1;
    const a = row === null ? [0, 0, 0] : signedRow(question, row);
    const factor = tau === 1 ? "" : `${say(tau)}·`;
    const lines = [["w before", before], [`${acted ? "+" : ""} ${factor}a`, a], ["w after", after]];
    if (row === null) lines.splice(0, 2);
    refill(this.table,
      h("table", {},
        h("thead", {}, h("tr", {}, h("td", {}), ...["w₁", "w₂", "bias"].map((name) => h("th", { scope: "col" }, name)))),
        h("tbody", {}, ...lines.map(([name, vector]) => h("tr", {}, h("th", { scope: "row" }, String(name)),
          .../** @type {number[]} */ (vector).map((value) => h("td", { "data-value": value }, say(value, 3))))))),
      h("p", {}, row === null ? "No row has been visited yet." : `a = y·(x₁, x₂${question.bias ? ", 1" : ""}) of ${sayRow(question, row)}`));
    this.title.textContent = acted ? `Update ${t} in numbers` : "This step in numbers";
    this.drawSum(before, after, acted);
  }

  /** Show the mistakes so far, and how many the theorem allows. @param {number} t */
  drawBudget(t) {
    const { full } = this.lab;
    const question = used(this.lab.question);
    if (!full) return refill(this.bar);
    const [bound, made] = [full.reference?.bound ?? null, full.run.mistakes[t]];
    const mistakes = `${say(made)} mistake${made === 1 ? "" : "s"}`;
    const among = `${say(t)} update${t === 1 ? "" : "s"}, among them ${mistakes}`;
    if (question.rule === "aggressive") return refill(this.bar, h("p", {}, `${among}; R²/γ² does not bound this rule.`));
    const counted = question.threshold ? among : mistakes;
    const because = full.kind === "separable" && full.reference?.mine ? "your w* has no margin, so it gives no bound" : "without a margin there is no bound";
    const { errors, pocket } = full.run;
    const both = pocket && h("p", { class: "both" }, `misclassified rows: w ${errors[t]}, pocket ${errors[pocket[t]]} (w after update ${pocket[t]})`);
    if (bound === null) return refill(this.bar, h("p", {}, `${counted} so far; ${because}.`), both);
    const share = Math.min(1, bound ? t / bound : 1);
    const bar = s("svg", { class: "bar", viewBox: "0 0 100 6", preserveAspectRatio: "none", "aria-hidden": "true" },
      s("rect", { class: "allowed", width: 100, height: 6 }), s("rect", { class: "made", width: Math.max(share * 100, t ? 0.8 : 0), height: 6 }));
    const told = question.threshold ? ["updates", `, ${mistakes} among them`] : ["mistakes", ""];
    refill(this.bar, h("p", {}, `${told[0]} `, h("b", {}, say(t)), ` of at most ${full.reference?.bound_text}${told[1]}`), bar, both);
  }

  /** @param {number[]} before @param {number[]} after @param {boolean} acted */
  drawSum(before, after, acted) {
    const corners = [[0, 0], before, after].map(([x, y]) => /** @type {Spot} */ ([x, y]));
    const [o, b, c] = corners.map(fitting(corners, this.size, 44));
    const middle = [(o[0] + b[0] + c[0]) / 3, (o[1] + b[1] + c[1]) / 3];
    /** An arrow and its name, on the side away from the middle. @param {Spot} p @param {Spot} q @param {string} name @param {string} kind @param {number} lean */
    const named = (p, q, name, kind, lean) => {
      const [dx, dy] = [q[0] - p[0], q[1] - p[1]];
      const gap = (dx * (middle[1] - p[1]) - dy * (middle[0] - p[0]) > lean ? 20 : -20) / Math.hypot(dx, dy);
      const place = { x: (p[0] + q[0]) / 2 + gap * dy, y: (p[1] + q[1]) / 2 - gap * dx + 5, "text-anchor": "middle" };
      return Math.hypot(dx, dy) < 3 ? null : s("g", {}, arrow(p, q, kind), s("text", { class: "arrow-name", ...place }, name));
    };
    refill(this.svg, acted && named(o, b, "w", "arrow faint", 1), acted && named(b, c, "a", "arrow added", 1),
      named(o, c, acted ? "w + a" : "w", "arrow", -1), s("circle", { class: "origin", cx: o[0], cy: o[1], r: 3 }));
  }
}
