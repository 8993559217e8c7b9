/** The tools above the panels: the data, the order of the rows, the rule, and the menu "More". */

import { button, h, menu } from "./dom.js";
import { ORDERS, RULES, SIDES, fromNumbers } from "./link.js";
import { words } from "./words.js";

const UNSEEDED = ["cyclic", "max_distance", "max_residual"];
const COMPARED = ["", ...ORDERS, "perceptron", "aggressive"];

/** What the buttons for the data do: multiply all points by a number, then move them. */
const MOVES = /** @type {const} */ ([
  ["double", "", 2, 0, 0], ["halve", "", 0.5, 0, 0],
  ["left", "left", 1, -1, 0], ["right", "right", 1, 1, 0], ["up", "up", 1, 0, 1], ["down", "down", 1, 0, -1],
]);

export class Tools {
  /** @param {Lab} lab */
  constructor(lab) {
    this.lab = lab;
    const set = (/** @type {Partial<Question>} */ part) =>
      lab.change((question) => Object.assign(question, part));
    const text = words.tools;
    this.data = h(
      "select",
      { id: "data", onchange: () => lab.pick(this.data.value) },
      h("option", { value: "" }, text.own),
    );
    this.order = select("order", ORDERS, (order) => set({ order }));
    this.rule = select("rule", RULES, (rule) => set({ rule }));
    this.sides = select("sides", SIDES, (sides) => lab.shade(sides));
    this.beside = select("beside", COMPARED, (name) => lab.compare(name));
    this.seed = number("seed", (seed) => set({ seed }));
    this.mu = number("step_size", (step_size) => set({ step_size }));
    this.delta = number("threshold", (threshold) => set({ threshold }));
    this.start = h("input", {
      id: "start",
      type: "text",
      size: 12,
      placeholder: "0, 0, 0",
      onchange: () => this.takeStart(),
    });
    this.bias = h("input", {
      id: "bias",
      type: "checkbox",
      onchange: () => set({ bias: this.bias.checked }),
    });
    this.best = choice("reference", "best", () => set({ mine: null }));
    this.mine = choice("reference", "mine", () => this.takeMine());
    const [plus, minus] = /** @type {const} */ (["plus", "minus"]).map((name) =>
      choice("label", name, () => { lab.newLabel = name === "plus" ? 1 : -1; }));
    plus.input.checked = true;
    const { pointer } = lab.plane;
    this.edit = [
      button("flip", text.flip, () => pointer.flip(lab.selected)),
      button("remove", text.remove, () => pointer.remove(lab.selected)),
    ];
    this.undo = button("undo", text.undo, () => lab.undo(), { id: "undo" });
    this.node = h("div", { class: "tools" },
      h("label", { class: "field" }, text.data, this.data),
      button("paste", text.paste, () => lab.askTable(), { id: "paste" }),
      button("clear", text.clear, () => lab.clear(), { id: "clear" }),
      h("label", { class: "field order" }, text.order, this.order),
      h("label", { class: "field seed" }, text.seed, this.seed),
      button(
        "dice",
        text.anotherSeed,
        () =>
          lab.change((question) => {
            question.seed += 1;
          }),
        { class: "seed" },
      ),
      h("label", { class: "field check" }, this.bias, text.bias),
      h("fieldset", { class: "field" }, h("legend", {}, text.reference), this.best.node, this.mine.node),
      h("fieldset", { class: "field" }, h("legend", {}, text.newPoint), plus.node, minus.node),
      ...this.edit, this.undo, this.more());
  }

  /** Fill the menu of the data.
   * @param {Record<string, {title: string}>} presets @param {Record<string, {title: string}>} challenges */
  offer(presets, challenges) {
    const options = (/** @type {Record<string, {title: string}>} */ all) =>
      Object.entries(all).map(([name, { title }]) => h("option", { value: name }, title));
    this.data.append(
      ...options(presets),
      h("optgroup", { label: words.tools.challenges }, ...options(challenges)),
    );
  }

  more() {
    const { lab } = this;
    const text = words.more;
    const average = h("input", { type: "checkbox", onchange: () => lab.showAverage(average.checked) });
    const line = (/** @type {import("./dom.js").Child[]} */ ...parts) => h("label", {}, ...parts);
    const note = (/** @type {string} */ sentence) => h("small", {}, sentence);
    const moves = MOVES.map(([name, icon, factor, dx, dy]) =>
      button(icon, text[name], () => lab.move(factor, dx, dy), { shown: !icon }));
    return menu("more", [text.title],
      line(text.sides, this.sides), line(text.beside, this.beside, note(text.besideNote)),
      line(average, text.averaged), line(text.stepSize, this.mu, note(text.stepSizeNote)),
      line(text.threshold, this.delta, note(text.thresholdNote)),
      line(text.start, this.start, note(text.startNote)), line(text.rule, this.rule),
      h("div", { class: "moves" }, text.moves, ...moves, note(text.movesNote)));
  }

  /** Start the run at the w₀ that was typed, or say what is wrong with it. */
  takeStart() {
    const { lab } = this;
    const start = fromNumbers(this.start.value);
    if (start) return lab.change((question) => { question.start = start.some(Boolean) ? start : null; });
    lab.complain(words.more.badStart(this.start.value, lab.question.start?.join(", ") ?? "0, 0, 0"));
  }

  /** Place the learner's own line on the best line, or on the last w if there is no best line. */
  takeMine() {
    const { full } = this.lab;
    const w = full?.reference?.w ?? full?.weak ?? full?.run.weights.at(-1) ?? [0, 0, 0];
    const [a, b, c] = w.map((value) => Number(value.toPrecision(6)));
    this.lab.change((question) => { question.mine = a || b ? [a, b, c] : [1, 1, 0]; });
  }

  /** Whether the seed has an effect. */
  get seeded() {
    const { order, rule } = this.lab.question;
    return rule === "pocket" || !UNSEEDED.includes(order);
  }

  draw() {
    const { beside, chosen, past, question, selected } = this.lab;
    this.data.value = chosen;
    this.beside.value = beside.name;
    this.mu.disabled = question.rule === "pocket";
    this.delta.disabled = question.rule !== "perceptron";
    for (const name of /** @type {const} */ (["order", "rule", "sides"])) this[name].value = question[name];
    for (const [input, value] of /** @type {const} */ ([
      [this.seed, question.seed], [this.mu, question.step_size], [this.delta, question.threshold],
      [this.start, question.start?.join(", ") ?? ""],
    ])) if (document.activeElement !== input) input.value = String(value);
    this.bias.checked = question.bias;
    (question.mine ? this.mine : this.best).input.checked = true;
    for (const node of this.edit) node.disabled = selected < 0;
    this.undo.disabled = past.length === 0;
  }
}

/** @param {string} id @param {string[]} names @param {(value: string) => void} change */
function select(id, names, change) {
  const options = names.map((name) => h("option", { value: name }, words.tools.nameOf(name)));
  const node = h("select", { id, onchange: () => change(node.value) }, ...options);
  return node;
}

/** @param {string} id @param {(value: number) => void} change */
function number(id, change) {
  const node = h("input", {
    id,
    type: "number",
    step: "any",
    min: 0,
    onchange: () => change(Number(node.value)),
  });
  return node;
}

/** @param {string} group @param {"best" | "mine" | "plus" | "minus"} name @param {() => void} onchange */
function choice(group, name, onchange) {
  const input = h("input", { type: "radio", name: group, id: `${group}-${name}`, onchange });
  const mark = group === "label" && h("i", { class: `mark mark-${name}` });
  return { input, node: h("label", { class: "choice" }, input, mark, h("span", {}, words.tools[name])) };
}
