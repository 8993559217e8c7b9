/** The frame around the panels: verdict, tools, timeline, dialogs, keys. */

import { button, h, icon, refill } from "./dom.js";
import { ORDERS, brief, fromNumbers, used } from "./link.js";
import { NEVER, lastMoment, momentOf, tell } from "./moments.js";
import { save, savePicture } from "./save.js";

/** @typedef {import("./app.js").LabPage} LabPage */
/** @typedef {{node: HTMLElement, draw(): void}} Panel */

const HELP = [
  ["Click, or A", "adds a point of the chosen label; a right-click adds one of the other label"],
  ["Drag", "moves the nearest point"],
  ["N and P", "select the next and the previous point"],
  ["Enter", "lets the arrow keys move the selected point (with Shift, ten times as far), until Enter or Escape"],
  ["Double-click, or F", "flips the label of the point"],
  ["Delete", "removes the point; Ctrl-Z brings it back"],
  ["→ ←, Page keys", "next and previous mistake"],
  ["K and J", "one row forward, one row back"],
  ["Home, End, Space", "start, end, play"],
  ["S, Shift-S", "next and previous scene of the tour"],
  ["1 to 6", "open a panel: weight space, this step, the proof in one chart, and its three inequalities"],
];
/** @type {Record<string, string>} */
const KEYS = { ArrowRight: "next", PageDown: "next", ArrowLeft: "previous", PageUp: "previous", k: "step", j: "back", Home: "first", End: "last", " ": "play" };
/** @type {Record<string, string>} */
export const PANELS = { 1: "space", 2: "step", 3: "leaf", 4: "inner", 5: "norm", 6: "angle" };
// The keys of presenters step wherever the focus is.
const ALWAYS = ["PageDown", "PageUp"];
// A menu that has the focus keeps its other keys.
const SIDEWAYS = ["ArrowLeft", "ArrowRight"];
const TIMELINE = [["first", "To the start"], ["previous", "Previous mistake"], ["back", "One row back"], ["play", "Play"],
  ["step", "One row forward"], ["next", "Next mistake"], ["last", "To the end"]];
const PICTURES = [["svg", "Picture (SVG)"], ["png", "Picture (PNG)"]];
const FILES = [["html", "One offline page (HTML)", "novikoff-lab.html"], ["csv", "Points (CSV)", "novikoff-lab.csv"],
  ["python", "Python script", "novikoff_lab.py"], ["certificate", "Certificate", "novikoff-lab.cert.json"]];
const LINES = [["line-now", "w now"], ["line-star", "w*, its margin, ringed support vectors"], ["line-weak", "separates weakly"], ["line-before", "w before"], ["line-pocket", "fewest mistakes found"], ["line-beside", "end of the compared run"]];
const SHADES = new Map([["line", "w"], ["voted", "the vote of all w"], ["rbf", "a kernel: RBF"], ["poly", "a kernel: degree 2"], ["network", "a network for XOR"]]);
const SPEEDS = [1, 2, 5, 20];
const UNSEEDED = ["cyclic", "max_distance", "max_residual"];

export class Frame {
  /** @param {LabPage} lab @param {HTMLElement} root @param {[Panel, Panel, Panel]} panels weight space, proof, step */
  constructor(lab, root, ...panels) {
    this.lab = lab;
    this.root = root;
    this.panels = panels;
    this.verdict = h("p", { "aria-live": "polite", id: "verdict" });
    this.lesson = h("span", { "aria-live": "polite" });
    this.status = h("span", { class: "status" });
    this.trouble = h("p", { class: "trouble", role: "alert", hidden: true });
    this.now = h("p", { class: "now-sentence", "aria-live": "polite", id: "sentence" });
    this.slider = h("input", { type: "range", min: 0, value: 0, "aria-label": "The moment of the run", oninput: () => lab.goTo(Number(this.slider.value)) });
    this.where = h("output", { class: "where" });
    this.play = h("span");
    this.predict = button("eye", "Predict", () => lab.togglePredict(), { shown: true, id: "predict" });
    this.guess = h("input", { type: "number", min: 0, "aria-label": "Your guess", class: "guess" });
    this.never = button("", "It never ends", () => lab.reveal(NEVER), { shown: true, id: "never" });
    this.rest = button("", "Show the rest", () => lab.finishPrediction(), { shown: true, id: "show-rest" });
    this.prompt = h("form", { class: "prompt", hidden: true, onsubmit: (/** @type {Event} */ event) => {
      event.preventDefault();
      lab.reveal(this.guess.value);
      this.guess.value = "";
    } });
    this.dialog = h("dialog", { "aria-label": "Dialog" });
    this.data = h("select", { id: "data" }, h("option", { value: "" }, "your own"));
    this.present = button("present", "Present", () => this.togglePresent(), { shown: true, id: "present" });
    const set = (/** @type {Partial<Question>} */ part) => lab.change((question) => Object.assign(question, part));
    this.order = select("order", ORDERS, (order) => set({ order }));
    this.rule = select("rule", ["perceptron", "aggressive", "pocket"], (rule) => set({ rule }));
    this.sides = select("sides", [...SHADES.keys()], (sides) => { Object.assign(lab.question, { sides }); lab.shades.forget(); lab.sides = null; lab.draw(); lab.rest(); });
    this.seed = number("seed", (seed) => set({ seed }));
    this.mu = number("step_size", (step_size) => set({ step_size }));
    this.delta = number("threshold", (threshold) => set({ threshold }));
    this.start = h("input", { id: "start", type: "text", size: 12, placeholder: "0, 0, 0", onchange: () => this.takeStart() });
    this.bias = h("input", { id: "bias", type: "checkbox", onchange: () => set({ bias: this.bias.checked }) });
    this.best = choice("reference", "best", () => set({ mine: null }));
    this.mine = choice("reference", "mine", () => this.takeMine());
    this.plus = choice("label", "plus", () => { lab.newLabel = 1; });
    this.minus = choice("label", "minus", () => { lab.newLabel = -1; });
    this.plus.input.checked = true;
    const { hands } = lab.plane;
    this.edit = [button("flip", "Flip the label", () => hands.flip(lab.selected)), button("remove", "Delete the point", () => hands.remove(lab.selected))];
    this.undo = button("undo", "Undo", () => lab.undo(), { id: "undo" });
    this.speed = h("select", { id: "speed", "aria-label": "Speed of the player", onchange: () => lab.setSpeed(Number(this.speed.value)) }, ...SPEEDS.map((speed) => h("option", { value: speed }, `${speed} ×`)));
    this.beside = select("beside", ["", ...ORDERS, "perceptron", "aggressive"], (name) => lab.compare(name));
    /** Start the tour at a scene. @type {(scene?: number) => any} */
    this.startTour = () => {};
    this.build();
    this.listen();
  }

  build() {
    const { lab } = this;
    const [space, proof, step] = this.panels;
    const files = menu("save", [icon("save"), "Export"],
      ...PICTURES.map(([form, text]) => button("", text, () => savePicture(lab.plane.node, form), { shown: true })),
      ...FILES.filter(([form]) => lab.host.forms.includes(form)).map(([form, text, name]) => button("", text, () => this.save(form, name), { shown: true, id: `save-${form}` })),
      lab.linked && lab.host.forms.includes("embed") && button("", "Copy a line to embed it", () => this.copyEmbed(), { shown: true, id: "embed" }));
    const tools = h("div", { class: "tools" },
      h("label", { class: "field" }, "Data ", this.data), button("paste", "Paste a table, or open a file", () => this.askTable(), { id: "paste" }),
      button("clear", "Remove all points", () => lab.clear(), { id: "clear" }),
      h("label", { class: "field order" }, "Order ", this.order), h("label", { class: "field seed" }, "seed ", this.seed),
      button("dice", "Another seed", () => lab.change((question) => { question.seed += 1; }), { class: "seed" }),
      h("label", { class: "field check" }, this.bias, " bias"),
      h("fieldset", { class: "field" }, h("legend", {}, "w*"), this.best.node, this.mine.node),
      h("fieldset", { class: "field" }, h("legend", {}, "New point"), this.plus.node, this.minus.node), ...this.edit, this.undo, this.more());
    const controls = TIMELINE.map(([name, text]) => button(name, text, () => lab.go(name), { id: `go-${name}` }));
    refill(controls[3], this.play);
    refill(this.root,
      h("header", { class: "top" }, h("h1", {}, "novikoff lab", h("small", { class: "by", title: lab.host.about }, `answers: ${lab.host.name}`)), h("div", { class: "says" }, this.verdict, h("p", { class: "lesson" }, this.lesson, this.status)),
        h("div", { class: "links" }, lab.linked && button("eye", "Tour", () => this.startTour(), { shown: true, id: "tour" }), lab.linked && button("link", "Link", () => this.copyLink(), { shown: true, id: "link" }), files,
          this.present, button("help", "Help", () => this.help(), { id: "help" }))),
      tools, lab.tour.node, lab.challenges.node, this.trouble,
      h("div", { class: "panels" },
        h("section", { class: "panel plane-panel", "aria-label": "Data plane" }, h("div", { class: "drawing" }, lab.plane.node, lab.plane.tip),
          h("ul", { class: "legend" }, ...LINES.map(([name, text]) => h("li", { class: `key-${name}` }, h("i"), text)), lab.plane.note, lab.plane.absent)),
        h("div", { class: "side" }, h("div", { class: "middle" }, space.node, step.node), proof.node)),
      h("footer", { class: "timeline" }, h("div", { class: "controls" }, ...controls, this.speed, this.slider, this.where, this.predict, lab.parts.length > 0 && this.outside()), this.prompt, this.now), this.dialog);
    this.root.classList.toggle("embed", lab.parts.length > 0);
    this.root.dataset.embed = lab.parts.join(" ");
  }

  /** @param {Record<string, {title: string}>} presets @param {Record<string, {title: string}>} challenges @param {(name: string) => void} choose */
  menu(presets, challenges, choose) {
    const options = (/** @type {Record<string, {title: string}>} */ all) => Object.entries(all).map(([name, { title }]) => h("option", { value: name }, title));
    this.data.append(...options(presets), h("optgroup", { label: "Challenges" }, ...options(challenges)));
    this.data.addEventListener("change", () => {
      this.root.dataset.settled = "false";
      choose(this.data.value);
    });
  }

  more() {
    const { lab } = this;
    const average = h("input", { type: "checkbox", onchange: () => { lab.averaged = average.checked; lab.draw(); } });
    const moves = /** @type {[string, string, number, number, number][]} */ ([["", "× 2", 2, 0, 0], ["", "÷ 2", 0.5, 0, 0],
      ["left", "Move all left by 1", 1, -1, 0], ["right", "Move all right by 1", 1, 1, 0], ["up", "Move all up by 1", 1, 0, 1], ["down", "Move all down by 1", 1, 0, -1]]);
    const move = (/** @type {number} */ factor, /** @type {number} */ dx, /** @type {number} */ dy) => {
      const near = (/** @type {number} */ value) => Number(value.toPrecision(9));
      lab.change(({ points }) => points.forEach((point) => point.splice(0, 2, near(factor * point[0] + dx), near(factor * point[1] + dy))));
      lab.plane.fit();
      lab.draw();
    };
    return menu("more", ["More"], h("label", {}, "shade the sides of ", this.sides), h("label", {}, "compare with ", this.beside, h("small", {}, "the run of another order or rule")), h("label", {}, average, " the averaged line (teal)"),
      h("label", {}, "step size μ ", this.mu, h("small", {}, "has no effect if w₀ = 0 and δ = 0")),
      h("label", {}, "threshold δ ", this.delta, h("small", {}, "updates when ⟨a, w⟩ ≤ δ")),
      h("label", {}, "start w₀ ", this.start, h("small", {}, "w₁, w₂, bias")), h("label", {}, "rule ", this.rule),
      h("div", { class: "moves" }, "data ", ...moves.map(([name, text, ...how]) => button(name, text, () => move(...how), { shown: !name })),
        h("small", {}, "scaling and moving the data change R, γ and the bound")));
  }

  /** Start the run at the w₀ that was typed, or say what is wrong with it. */
  takeStart() {
    const { lab } = this;
    const start = fromNumbers(this.start.value);
    if (start) return lab.change((question) => { question.start = start.some(Boolean) ? start : null; });
    lab.trouble = `w₀ must be three numbers, for example 0, 1, -2.5. “${this.start.value}” is not. The run still starts at ${lab.question.start?.join(", ") ?? "0, 0, 0"}.`;
    lab.draw();
  }

  /** Place the learner's own line on the best line, or on the last w if there is no best line. */
  takeMine() {
    const { full } = this.lab;
    const w = full?.reference?.w ?? full?.weak ?? full?.run.weights.at(-1) ?? [0, 0, 0];
    const [a, b, c] = w.map((value) => Number(value.toPrecision(6)));
    this.lab.change((question) => { question.mine = a || b ? [a, b, c] : [1, 1, 0]; });
  }

  draw() {
    const { lab, root } = this;
    const { answer, full, predict, question } = lab;
    const last = full ? lastMoment(full.run) : 0;
    const moment = Math.min(last, lab.moment);
    if (lab.challenges.name || !lab.lesson) this.data.value = lab.challenges.name;
    Object.assign(root.dataset, { kind: answer?.kind ?? "", name: this.data.value, settled: lab.runs.shown === lab.runs.asked });
    root.classList.toggle("veiled", predict !== null);
    root.classList.toggle("seedless", question.rule !== "pocket" && UNSEEDED.includes(question.order));
    root.dataset.rule = question.rule;
    root.classList.toggle("touring", lab.tour.at >= 0);
    root.classList.toggle("compared", lab.beside.run !== null);
    this.beside.value = lab.beside.name;
    for (const node of root.querySelectorAll(".fold")) {
      const name = node.getAttribute("data-panel") ?? "";
      node.classList.toggle("open", lab.opened.middle === name || lab.opened.proof === name);
      node.classList.toggle("shown", lab.shown === name);
      node.classList.toggle("part", lab.parts.includes(name) || (lab.parts.includes("proof") && lab.shown === name));
    }
    root.classList.toggle("challenging", lab.challenges.name !== "");
    root.dataset.challenge = lab.challenges.name;
    this.mu.disabled = question.rule === "pocket";
    this.delta.disabled = question.rule !== "perceptron";
    this.verdict.textContent = predict ? "Predict: what will the perceptron do?" : answer?.sentence ?? "…";
    this.verdict.className = `verdict ${answer?.kind ?? ""}`;
    this.lesson.textContent = lab.hands.moving ? `The arrow keys move ${document.activeElement?.closest("[data-handle]") ? "the handle" : `row ${lab.selected + 1}`} (with Shift, ten times as far). Enter or Escape ends this.` : lab.shading?.sentence || lab.lesson || lab.pocket?.sentence || "";
    this.now.textContent = full && predict?.asked !== "count" ? tell(full, question, moment) : "";
    this.trouble.textContent = lab.trouble || lab.warning;
    this.trouble.hidden = !this.trouble.textContent;
    this.slider.max = String(last);
    this.slider.value = String(moment);
    this.slider.disabled = predict !== null;
    this.where.textContent = full ? `t = ${momentOf(full.run, moment).t}${predict ? "" : ` of ${full.run.index.length}`}` : "";
    this.slider.setAttribute("aria-valuetext", this.where.textContent);
    if (this.play.dataset.shown !== String(lab.player > 0)) {
      this.play.dataset.shown = String(lab.player > 0);
      refill(this.play, icon(lab.player ? "pause" : "play"));
      this.play.parentElement?.setAttribute("aria-label", lab.player ? "Pause" : "Play");
    }
    this.predict.setAttribute("aria-pressed", String(predict !== null));
    this.drawPrompt(predict);
    for (const name of /** @type {const} */ (["order", "rule", "sides"])) this[name].value = question[name];
    for (const [input, value] of /** @type {const} */ ([[this.seed, question.seed], [this.mu, question.step_size], [this.delta, question.threshold], [this.start, question.start?.join(", ") ?? ""]])) {
      if (document.activeElement !== input) input.value = String(value);
    }
    this.bias.checked = question.bias;
    (question.mine ? this.mine : this.best).input.checked = true;
    for (const node of this.edit) node.disabled = lab.selected < 0;
    this.undo.disabled = lab.past.length === 0;
  }

  /** @param {PredictState} predict */
  drawPrompt(predict) {
    this.prompt.hidden = !predict;
    const counting = predict?.asked === "count";
    const { rule, threshold } = used(this.lab.question);
    const text = counting ? `How many ${threshold || rule === "aggressive" ? "updates" : "mistakes"} will the perceptron make?` : `${predict?.said}${predict?.asked === "row" ? " Click a point, or reveal it." : ""}`;
    if (this.prompt.firstChild?.textContent === text) return;
    refill(this.prompt, h("b", {}, text), counting && this.guess, h("button", { type: "submit" }, counting ? "That is my guess" : predict?.asked === "row" ? "Reveal" : "End"),
      counting && this.never, predict?.asked === "row" && this.rest);
  }

  /** @param {string} form @param {string} name */
  async save(form, name) {
    const { lab } = this;
    try {
      const text = await lab.host.ask("export", { form, question: brief(lab.question), view: { moment: lab.moment, box: lab.plane.box(1.5) } }); // wider than this window, for windows of other shapes
      save(name, new Blob([text], { type: "text/plain" }));
    } catch (error) {
      lab.trouble = /** @type {Error} */ (error).message;
      lab.draw();
    }
  }

  copyLink() {
    this.lab.writeLink();
    const elsewhere = location.protocol === "file:" || ["127.0.0.1", "localhost"].includes(location.hostname) ? " On another machine, put the part after # behind the address of a copy of this page." : "";
    this.copy(location.href, `The link is copied. It restores these points, this order and this moment.${elsewhere}`, "Copy the address of this page from the address bar: it restores everything.");
  }

  /** Copy an iframe with the plane and the proof. */
  copyEmbed() {
    this.lab.writeLink();
    const line = `<iframe src="${this.address("plane,proof").replace(/&/g, "&amp;")}" title="novikoff lab" style="width: 100%; height: 600px; border: 0"></iframe>`;
    this.copy(line, "The line is copied. In it, embed= names the parts: plane, proof, space, step, leaf, inner, norm, angle.", line);
  }

  /** The address of this page with some parts of it, or with all if none is named. @param {string} parts */
  address(parts) {
    const address = new URL(location.href);
    address.search = parts && `?embed=${parts}`;
    return address.href;
  }

  /** A link from an embedded page to the whole page. */
  outside() {
    const link = h("a", { class: "outside", target: "_blank", rel: "noopener", href: "", title: "Open the whole lab", onclick: () => { this.lab.writeLink(); link.href = this.address(""); } }, "whole lab ↗");
    return link;
  }

  /** Copy a text, and say so; where a page may not copy, show what to do. @param {string} text @param {string} done @param {string} instead */
  copy(text, done, instead) {
    const told = (/** @type {string} */ sentence) => { this.now.textContent = sentence; };
    if (!navigator.clipboard) return told(instead); // pages without https
    navigator.clipboard.writeText(text).then(() => told(done), () => told(instead));
  }

  togglePresent() {
    this.present.setAttribute("aria-pressed", String(this.root.classList.toggle("presenting")));
  }

  help() {
    refill(this.dialog, h("h2", {}, "How to use it"),
      h("p", {}, "Each point with its label y, +1 or −1, is a row a = y·(x₁, x₂, 1). The perceptron visits the rows in turn. If ⟨a, w⟩ = a₁w₁ + a₂w₂ + a₃w₃ ≤ 0, it misclassifies the row and adds a to w. t counts these updates."),
      h("dl", {}, ...HELP.flatMap(([keys, text]) => [h("dt", {}, keys), h("dd", {}, text)])),
      h("p", {}, `${this.lab.host.about} γ is shown rounded down, R and the bounds rounded up, λ to the nearest digit.`),
      button("", "Close", () => this.dialog.close(), { shown: true }));
    this.dialog.showModal();
  }

  askTable() {
    const text = h("textarea", { rows: 10, "aria-label": "A table: x₁, x₂, label", placeholder: "x1,x2,label\n0.5,1.2,+1\n-1,0.3,-1" });
    const wrong = h("p", { class: "trouble", role: "alert", hidden: true });
    const refuse = (/** @type {Error} */ error) => Object.assign(wrong, { hidden: false, textContent: error.message });
    const use = () => this.lab.paste(text.value).then(() => this.dialog.close(), refuse);
    const file = h("input", { type: "file", id: "open-file", accept: ".csv,.tsv,.txt", onchange: () => file.files?.[0]?.text().then((read) => { text.value = read; use(); }) });
    refill(this.dialog, h("h2", {}, "Paste a table"), h("p", {}, "Each line has two numbers and one of two labels. You can also drop a file on the plane."), text,
      h("p", {}, h("label", {}, "or open a file ", file)), wrong,
      button("", "Use it", use, { shown: true, id: "use-table" }), button("", "Cancel", () => this.dialog.close(), { shown: true }));
    this.dialog.showModal();
  }

  listen() {
    const embedded = this.root.classList.contains("embedded"); // then keys outside the page belong to the notebook
    (embedded ? this.root : document).addEventListener("keydown", (event) => {
      if (this.key(/** @type {KeyboardEvent} */ (event))) event.preventDefault();
      if (embedded) event.stopPropagation();
    });
    // A button that was clicked gives up the focus, so that the keys go on stepping.
    this.root.addEventListener("click", (event) => {
      const pressed = /** @type {HTMLElement} */ (event.target).closest("button, summary, [type=checkbox], [type=radio], [type=range]");
      if (event.detail > 0 && pressed && !this.dialog.open) /** @type {HTMLElement} */ (document.activeElement)?.blur();
    });
    this.root.addEventListener("pointerdown", () => { this.pointed = true; }, true);
    this.root.addEventListener("keydown", () => { this.pointed = false; }, true);
    this.root.addEventListener("change", (event) => {
      const chosen = /** @type {HTMLElement} */ (event.target);
      if (this.pointed && chosen.matches("select")) chosen.blur();
    });
    document.addEventListener("click", (event) => {
      for (const open of this.root.querySelectorAll("details[open]")) if (!open.contains(/** @type {Node} */ (event.target))) open.removeAttribute("open");
    });
  }

  /** Handle a key; return whether it meant something. @param {KeyboardEvent} event */
  key(event) {
    const { lab } = this;
    const target = /** @type {HTMLElement} */ (event.target);
    const control = event.ctrlKey || event.metaKey;
    const typing = target.matches("input:not([type=range], [type=checkbox], [type=radio]), textarea");
    const native = event.key === " " ? target.matches("button, summary, select, input:not([type=range])") : target.matches("select") && !SIDEWAYS.includes(event.key);
    if (this.dialog.open || event.altKey) return false;
    if (control && event.key === "z" && !typing) lab.undo();
    else if (control || ((typing || native) && !ALWAYS.includes(event.key))) return false;
    else if (event.key === "Escape" && this.root.classList.contains("presenting")) this.togglePresent();
    else if (event.key.toLowerCase() === "a") {
      lab.plane.hands.add(lab.plane.view.x, lab.plane.view.y);
      lab.plane.hands.focus(lab.selected);
    } else if (PANELS[event.key]) lab.show(PANELS[event.key]);
    else if (event.key.toLowerCase() === "s" && lab.tour.at >= 0) lab.tour.go(lab.tour.at + (event.shiftKey ? -1 : 1));
    else if (KEYS[event.key]) lab.go(KEYS[event.key]);
    else return false;
    return true;
  }
}

/** @param {string} id @param {string[]} names @param {(value: string) => void} change */
function select(id, names, change) {
  const node = h("select", { id, onchange: () => change(node.value) }, ...names.map((name) => h("option", { value: name }, SHADES.get(name) ?? (name ? name.replace("_", " ") : "nothing"))));
  return node;
}

/** @param {string} id @param {(value: number) => void} change */
function number(id, change) {
  const node = h("input", { id, type: "number", step: "any", min: 0, onchange: () => change(Number(node.value)) });
  return node;
}

/** @param {string} group @param {string} text @param {() => void} onchange */
function choice(group, text, onchange) {
  const input = h("input", { type: "radio", name: group, id: `${group}-${text}`, onchange });
  return { input, node: h("label", { class: "choice" }, input, group === "label" && h("i", { class: `mark mark-${text}` }), h("span", {}, text)) };
}

/** @param {string} id @param {import("./dom.js").Child[]} title @param {import("./dom.js").Child[]} items */
const menu = (id, title, ...items) => h("details", { class: "menu", id }, h("summary", {}, ...title), h("div", { class: "items" }, ...items));
