/** One step in numbers: the sum w + a by components and as arrows, and the mistakes out of the bound. */

import { canvas, fold, h, refill, s } from "./dom.js";
import { used } from "./link.js";
import { momentOf, sayRow, signedRow } from "./run.js";
import { say } from "./numbers.js";
import { arrow, beside, fitting } from "./shapes.js";
import { words } from "./words.js";

export class Step {
  /** @param {Lab} lab */
  constructor(lab) {
    this.lab = lab;
    const { node, size } = canvas({ class: "sum", role: "img", "aria-label": words.step.picture }, () =>
      this.draw(),
    );
    this.svg = node;
    this.size = size;
    this.table = h("div", { class: "numbers" });
    this.bar = h("div", { class: "budget" });
    const body = h("div", { class: "step-body" }, this.table, h("div", { class: "drawing" }, node));
    const { node: panel, title } = fold(lab, "step", null, body);
    panel.classList.add("step-panel");
    panel.prepend(this.bar);
    this.node = panel;
    this.title = title;
    title.textContent = words.step.title;
  }

  draw() {
    const { full, question } = this.lab;
    if (!full) {
      refill(this.bar);
      refill(this.table, h("p", {}, words.step.empty));
      refill(this.svg);
      return;
    }
    const { run } = full;
    const { t, row, acted } = momentOf(run, this.lab.moment);
    this.drawBudget(full, t);
    const after = run.weights[t];
    const before = acted ? run.weights[t - 1] : after;
    const tau = acted ? run.tau[t - 1] : 1;
    const a = row === null ? [0, 0, 0] : signedRow(question, row);
    const text = words.step;
    const lines = /** @type {[string, number[]][]} */ ([
      [text.before, before], [text.added(acted, tau), a], [text.after, after]]).slice(row === null ? 2 : 0);
    refill(this.table,
      h("table", {},
        h("thead", {}, h("tr", {}, h("td", {}), ...text.columns.map((name) => h("th", { scope: "col" }, name)))),
        h("tbody", {}, ...lines.map(([name, vector]) => h("tr", {}, h("th", { scope: "row" }, name),
          ...vector.map((value) => h("td", { "data-value": value }, say(value, 3))))))),
      h("p", {}, row === null ? text.notYet : text.vector(sayRow(question, row), question.bias)),
      acted && h("p", { class: "squares" }, pythagoras(before, after)));
    this.title.textContent = acted ? text.titleOf(t) : text.title;
    this.drawSum(before, after, acted);
  }

  /** Show the mistakes so far, and how many the theorem allows. @param {Full} full @param {number} t */
  drawBudget(full, t) {
    const { beside } = this.lab;
    refill(
      this.bar,
      ...this.budget(full, t),
      beside.run && h("p", { class: "both" }, sayBeside(beside.name, beside.run, full.run, t)),
    );
  }

  /** The mistakes so far as text and as a bar. @param {Full} full @param {number} t */
  budget({ kind, reference, run }, t) {
    const { rule, threshold } = used(this.lab.question);
    const { aggressive, among, mistakes, unbounded } = words.step;
    const made = run.mistakes[t];
    if (rule === "aggressive") return [h("p", {}, aggressive(among(t, made)))];
    const { errors, pocket } = run;
    const both =
      pocket && h("p", { class: "both" }, words.step.pocket(errors[t], errors[pocket[t]], pocket[t]));
    if (typeof reference?.bound !== "number") {
      const mine = kind === "separable" && Boolean(reference?.mine);
      return [h("p", {}, unbounded(threshold ? among(t, made) : mistakes(made), mine)), both];
    }
    const share = Math.min(1, reference.bound ? t / reference.bound : 1);
    const bar = s(
      "svg",
      { class: "bar", viewBox: "0 0 100 6", preserveAspectRatio: "none", "aria-hidden": "true" },
      s("rect", { class: "allowed", width: 100, height: 6 }),
      s("rect", { class: "made", width: Math.max(share * 100, t ? 0.8 : 0), height: 6 }));
    const [before, after] = words.step.budget(String(reference.bound_text), threshold > 0, made);
    return [h("p", {}, before, h("b", {}, say(t)), after), bar, both];
  }

  /** w, a and w + a in the plane that w and a span, with their true lengths and angles. The dashed arc
   * is where w + a would end if a stood at a right angle on w.
   * @param {number[]} before @param {number[]} after @param {boolean} acted */
  drawSum(before, after, acted) {
    const added = after.map((value, j) => value - before[j]);
    const [long, more] = [Math.hypot(...before), Math.hypot(...added)];
    const cosine =
      long && more ? before.reduce((sum, value, j) => sum + value * added[j], 0) / (long * more) : 1;
    const sine = Math.sqrt(Math.max(0, 1 - cosine * cosine));
    /** @type {Spot[]} */
    const corners = [[0, 0], [long, 0]];
    if (acted) corners.push([long + more * cosine, more * sine], [long, long ? more : 0]);
    const { em } = this.size;
    const [o, b, c, d] = corners.map(fitting(corners, this.size, 9 * em, 3.4 * em));
    const end = c ?? b;
    const middle = /** @type {Spot} */ ([0, 1].map((j) => (o[j] + b[j] + end[j]) / 3));
    /** An arrow and, if there is room, its name.
     * @param {Spot} p @param {Spot} q @param {string} name @param {string} kind @param {number} [lean] */
    const named = (p, q, name, kind, lean) => {
      const length = Math.hypot(q[0] - p[0], q[1] - p[1]);
      const text = length > em && s("text", { class: "arrow-name", ...beside(p, q, middle, em, lean) }, name);
      return length < 3 ? null : s("g", {}, arrow(p, q, kind), text);
    };
    const radius = d ? Math.hypot(d[0] - o[0], d[1] - o[1]) : 0;
    const [dx, dy] = [end[0] - o[0], end[1] - o[1]];
    const far = radius / (Math.hypot(dx, dy) || 1);
    const arc = `A${radius} ${radius} 0 0 ${cosine < 0 ? 0 : 1} ${o[0] + far * dx} ${o[1] + far * dy}`;
    const right = acted && long > 0 && more > 0 ? [
      s("path", { class: "right", d: `M${o.join(" ")}L${d.join(" ")}L${b.join(" ")}` }),
      s("path", { class: "right", d: `M${d.join(" ")}${arc}` }),
    ] : [];
    refill(this.svg, ...right,
      acted && named(o, b, "w", "arrow faint"), acted && named(b, c, "a", "arrow added"),
      named(o, end, acted ? "w + a" : "w", "arrow", -1),
      s("circle", { class: "origin", cx: o[0], cy: o[1], r: 3 }));
  }
}

/** The mistakes of the compared run: in all, and in as many visits as are shown.
 * @param {string} name @param {Run} other @param {Run} run @param {number} t */
function sayBeside(name, other, run, t) {
  const visits = t && !run.pocket ? run.n_steps[t - 1] + 1 : 0;
  const made = other.mistakes[other.n_steps.filter((before) => before < visits).length];
  return words.step.compared(
    name,
    other.mistakes.at(-1) ?? 0,
    other.converged,
    visits ? [made, visits] : null,
  );
}

/** The squared length of w after an update, term by term. @param {number[]} before @param {number[]} after */
function pythagoras(before, after) {
  const square = (/** @type {number[]} */ vector) =>
    vector.reduce((total, value) => total + value * value, 0);
  return words.step.squares(
    square(before),
    square(after.map((value, j) => value - before[j])),
    square(after),
  );
}
