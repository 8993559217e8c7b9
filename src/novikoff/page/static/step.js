/** One step in numbers: the sum w + a by components and as arrows, and the mistakes out of the bound. */

import { canvas, fold, h, refill, s, say } from "./dom.js";
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
    this.table = h("div", { class: "numbers" });
    this.bar = h("div", { class: "budget" });
    const { node: panel, title } = fold(lab, "step", null, h("div", { class: "step-body" }, this.table, h("div", { class: "drawing" }, node)));
    panel.classList.add("step-panel");
    panel.prepend(this.bar);
    this.node = panel;
    this.title = title;
    title.textContent = "This step in numbers";
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
      h("p", {}, row === null ? "No row has been visited yet." : `a = y·(x₁, x₂${question.bias ? ", 1" : ""}) of ${sayRow(question, row)}`),
      acted && h("p", { class: "squares" }, pythagoras(before, after)));
    this.title.textContent = acted ? `Update ${t} in numbers` : "This step in numbers";
    this.drawSum(before, after, acted);
  }

  /** Show the mistakes so far, and how many the theorem allows. @param {number} t */
  drawBudget(t) {
    const { full } = this.lab;
    const question = used(this.lab.question);
    if (!full) return refill(this.bar);
    this.fillBudget(full, question, t);
    if (this.lab.beside.run) this.bar.append(h("p", { class: "both" }, sayBeside(this.lab.beside.name, this.lab.beside.run, full.run, t)));
  }

  /** @param {Full} full @param {Question} question @param {number} t */
  fillBudget(full, question, t) {
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

  /** w, a and w + a in the plane that w and a span, with their true lengths and angles. The dashed arc is where w + a
   * would end if a stood at a right angle on w. @param {number[]} before @param {number[]} after @param {boolean} acted */
  drawSum(before, after, acted) {
    const added = after.map((value, j) => value - before[j]);
    const [long, more] = [Math.hypot(...before), Math.hypot(...added)];
    const cosine = long && more ? before.reduce((sum, value, j) => sum + value * added[j], 0) / (long * more) : 1;
    const sine = Math.sqrt(Math.max(0, 1 - cosine * cosine));
    /** @type {Spot[]} */
    const corners = acted ? [[0, 0], [long, 0], [long + more * cosine, more * sine], [long, long ? more : 0]] : [[0, 0], [long, 0]];
    const { em } = this.size;
    const [o, b, c, d] = corners.map(fitting(corners, this.size, 3.4 * em));
    const end = c ?? b;
    const middle = [(o[0] + b[0] + end[0]) / 3, (o[1] + b[1] + end[1]) / 3];
    /** An arrow and its name, on the side away from the middle. @param {Spot} p @param {Spot} q @param {string} name @param {string} kind @param {number} lean */
    const named = (p, q, name, kind, lean) => {
      const [dx, dy] = [q[0] - p[0], q[1] - p[1]];
      const gap = (dx * (middle[1] - p[1]) - dy * (middle[0] - p[0]) > lean ? 1.4 : -1.4) * em / Math.hypot(dx, dy);
      const side = gap * dy / em;
      const place = { x: (p[0] + q[0]) / 2 + gap * dy * (Math.abs(side) > 0.7 ? 0.5 : 1), y: (p[1] + q[1]) / 2 - gap * dx + 5, "text-anchor": side > 0.7 ? "start" : side < -0.7 ? "end" : "middle" };
      return Math.hypot(dx, dy) < 3 ? null : s("g", {}, arrow(p, q, kind), s("text", { class: "arrow-name", ...place }, name));
    };
    const radius = d ? Math.hypot(d[0] - o[0], d[1] - o[1]) : 0;
    const [dx, dy] = [end[0] - o[0], end[1] - o[1]];
    const far = radius / (Math.hypot(dx, dy) || 1);
    const right = acted && long > 0 && more > 0 && [
      s("path", { class: "right", d: `M${o.join(" ")}L${d.join(" ")}L${b.join(" ")}` }),
      s("path", { class: "right", d: `M${d.join(" ")}A${radius} ${radius} 0 0 ${cosine < 0 ? 0 : 1} ${o[0] + far * dx} ${o[1] + far * dy}` })];
    refill(this.svg, ...(right || []), acted && named(o, b, "w", "arrow faint", 1), acted && named(b, c, "a", "arrow added", 1),
      named(o, end, acted ? "w + a" : "w", "arrow", -1), s("circle", { class: "origin", cx: o[0], cy: o[1], r: 3 }));
  }
}

/** The mistakes of the compared run: in all, and in as many visits as are shown. @param {string} name @param {Run} other @param {Run} run @param {number} t */
function sayBeside(name, other, run, t) {
  const [all, visits] = [other.mistakes.at(-1) ?? 0, t && !run.pocket ? run.n_steps[t - 1] + 1 : 0];
  const some = visits ? `, ${other.mistakes[other.n_steps.filter((before) => before < visits).length]} of them in the first ${visits} visits` : "";
  return `Compared, ${name.replace("_", " ")}: ${all} mistake${all === 1 ? "" : "s"} ${other.converged ? "in all" : "until it was stopped"}${some}.`;
}

/** The squared length of w after an update, term by term. @param {number[]} before @param {number[]} after */
function pythagoras(before, after) {
  const [w, a, sum] = [before, after.map((value, j) => value - before[j]), after].map((vector) => vector.reduce((total, value) => total + value * value, 0));
  const cross = sum - w - a;
  const right = w && a ? ` ${cross < 0 ? "The angle is more than 90°, so this is less than" : cross > 0 ? "The angle is less than 90°, so this is more than" : "At a right angle this equals"} ‖w‖² + ‖a‖².` : "";
  return `‖w + a‖² = ‖w‖² + 2⟨a, w⟩ + ‖a‖² = ${say(w, 3)} ${cross < 0 ? "−" : "+"} ${say(Math.abs(cross), 3)} + ${say(a, 3)} = ${say(sum, 3)}.${right}`;
}
