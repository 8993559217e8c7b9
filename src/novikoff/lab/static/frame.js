/** The frame around the panels: verdict, tools, timeline, menus, keys. */

import { button, h, icon, refill, toggle } from "./dom.js";
import { ORDERS, brief } from "./link.js";
import { lastMoment, momentOf } from "./moments.js";
import { savePicture, saveText } from "./save.js";

/** @typedef {import("./app.js").LabPage} LabPage */
/** @typedef {import("./types").Preset} Preset */

const HELP = [
  ["Click, or A", "adds a point of the chosen label"],
  ["Drag, or arrow keys", "moves the selected point (with Shift ten times as far)"],
  ["Double-click, or F", "flips its label"],
  ["Delete", "removes it; Ctrl-Z brings it back"],
  ["N and P", "go from point to point"],
  ["→ ← , Page keys", "next and previous mistake"],
  ["K and J", "one look forward, one back"],
  ["Home, End, Space", "start, end, play"],
];
const KEYS = new Map(Object.entries({
  ArrowRight: "next", PageDown: "next", ArrowLeft: "previous", PageUp: "previous", k: "step", j: "back", Home: "first", End: "last", " ": "play",
}));
const TIMELINE = [["first", "To the start"], ["previous", "Previous mistake"], ["back", "One look back"], ["play", "Play"],
  ["step", "One look forward"], ["next", "Next mistake"], ["last", "To the end"]];
const KINDS = /** @type {Record<string, string>} */ ({ separable: "good", "quasi-separable": "middling", inseparable: "bad" });

export class Frame {
  /** @param {LabPage} lab @param {HTMLElement} root */
  constructor(lab, root) {
    this.lab = lab;
    this.root = root;
    this.verdict = h("p", { class: "verdict", "aria-live": "polite", id: "verdict" });
    this.lesson = h("p", { class: "lesson" });
    this.now = h("p", { class: "now-sentence", "aria-live": "polite", id: "sentence" });
    this.trouble = h("p", { class: "trouble", role: "alert", hidden: true });
    this.status = h("span", { class: "status" });
    this.says = h("span");
    this.slider = h("input", { type: "range", min: 0, value: 0, "aria-label": "The moment of the run",
      oninput: () => lab.goTo(Number(this.slider.value)) });
    this.where = h("output", { class: "where" });
    this.data = h("select", { id: "data" });
    this.order = h("select", { id: "order", onchange: () => lab.change((q) => { q.order = this.order.value; }) },
      ...ORDERS.map((name) => h("option", { value: name }, name.replace("_", " "))));
    this.seed = h("input", { id: "seed", type: "number", min: 0, max: 999999, onchange: () => lab.change((q) => { q.seed = Math.max(0, Math.round(Number(this.seed.value) || 0)); }) });
    this.bias = h("input", { id: "bias", type: "checkbox", onchange: () => lab.change((q) => { q.bias = this.bias.checked; }) });
    this.best = choice("reference", "best", () => lab.change((q) => { q.mine = null; }));
    this.mine = choice("reference", "mine", () => this.takeMine());
    this.plus = choice("label", "plus", () => { lab.newLabel = 1; });
    this.minus = choice("label", "minus", () => { lab.newLabel = -1; });
    this.plus.input.checked = true;
    this.edit = [button("flip", "Flip the label", () => lab.plane.hands.flip(lab.selected)), button("remove", "Delete the point", () => lab.plane.hands.remove(lab.selected))];
    this.undo = button("undo", "Undo", () => lab.undo(), { id: "undo" });
    this.buttons = new Map(TIMELINE.map(([name, text]) => [name, button(name, text, () => lab.go(name), { id: `go-${name}` })]));
    this.predicting = button("eye", "Predict", () => lab.startPredicting(), { shown: true, id: "predict" });
    this.guess = h("input", { type: "number", min: 0, "aria-label": "Your guess", class: "guess" });
    this.prompt = h("form", { class: "prompt", hidden: true, onsubmit: (/** @type {Event} */ event) => { event.preventDefault(); lab.reveal(this.guess.value); this.guess.value = ""; } });
    this.dialog = h("dialog", { "aria-label": "Help" });
    this.more = this.moreMenu();
    this.build();
    this.listen();
  }

  build() {
    const { lab } = this;
    const save = h("details", { class: "menu", id: "save" }, h("summary", {}, icon("save"), "Export"), h("div", { class: "items" },
      ...[["svg", "Picture (SVG)"], ["png", "Picture (PNG)"]].map(([form, text]) => button("", text, () => savePicture(lab.plane.node, form), { shown: true })),
      ...(lab.live ? [["html", "One offline page (HTML)"], ["csv", "Points (CSV)"], ["python", "Python script"], ["certificate", "Certificate"]] : [])
        .map(([form, text]) => button("", text, () => this.save(form), { shown: true, id: `save-${form}` }))));
    const tools = h("div", { class: "tools" },
      h("label", { class: "field" }, "Data ", this.data), button("paste", "Paste a table", () => this.askTable(), { id: "paste" }),
      h("label", { class: "field" }, "Order ", this.order), h("label", { class: "field seed" }, "seed ", this.seed),
      button("dice", "Another seed", () => lab.change((q) => { q.seed += 1; }), { class: "seed" }),
      h("label", { class: "field check" }, this.bias, " bias"),
      h("fieldset", { class: "field" }, h("legend", {}, "w*"), this.best.node, this.mine.node),
      h("fieldset", { class: "field" }, h("legend", {}, "New point"), this.plus.node, this.minus.node),
      ...this.edit, this.undo, this.more);
    const links = h("div", { class: "links" }, lab.live && button("link", "Link", () => this.copyLink(), { shown: true, id: "link" }), save,
      button("present", "Present", () => this.present(), { shown: true, id: "present" }), button("help", "Help", () => this.help(), { id: "help" }));
    refill(this.root,
      h("header", { class: "top" }, h("h1", {}, "novikoff lab"), h("div", { class: "says" }, this.verdict, this.lesson), links),
      lab.live && tools, this.trouble,
      h("div", { class: "panels" },
        h("section", { class: "panel plane-panel", "aria-label": "Data plane" }, h("div", { class: "drawing" }, lab.plane.node), lab.plane.note, legend()),
        h("div", { class: "middle" }, lab.space.node, lab.step.node), lab.proof.node),
      h("footer", { class: "timeline" }, h("div", { class: "controls" }, ...this.buttons.values(), this.slider, this.where, this.predicting), this.prompt, this.now),
      this.dialog);
    this.lesson.append(this.says, this.status);
    this.data.append(h("option", { value: "" }, "your own"));
  }

  /** @param {Record<string, Preset>} menu @param {(name: string) => void} choose */
  menu(menu, choose) {
    for (const [name, { title }] of Object.entries(menu)) this.data.append(h("option", { value: name }, title));
    this.data.addEventListener("change", () => { if (this.data.value) choose(this.data.value); });
  }

  /** @param {string} name */
  chosen(name) {
    this.data.value = name;
    this.draw();
  }

  moreMenu() {
    const { lab } = this;
    /** @param {string} name @param {"step" | "threshold"} key @param {string} note */
    const number = (name, key, note) => h("label", {}, name, h("input", { type: "number", step: "any", value: lab.question[key], "data-key": key,
      onchange: (/** @type {Event} */ event) => { const value = Number(/** @type {HTMLInputElement} */ (event.target).value); lab.change((q) => { q[key] = value; }); } }), h("small", {}, note));
    const start = h("input", { type: "text", size: 12, placeholder: "0, 0, 0", onchange: () => {
      const given = start.value.split(",").map(Number);
      lab.change((q) => { q.start = given.length === 3 && given.every(Number.isFinite) ? /** @type {[number, number, number]} */ (given) : null; });
    } });
    /** @param {(point: number[]) => [number, number]} map */
    const move = (map) => () => { lab.change((q) => { q.points.forEach((point) => point.splice(0, 2, ...map(point).map((v) => Number(v.toPrecision(9))))); q.mine = null; }); lab.plane.fit(); lab.draw(); };
    const shown = (/** @type {"average" | "voted"} */ key, /** @type {string} */ text) => h("label", {}, h("input", { type: "checkbox",
      onchange: (/** @type {Event} */ event) => { lab.show[key] = /** @type {HTMLInputElement} */ (event.target).checked; lab.draw(); lab.askMore(); } }), text);
    this.rule = h("select", { onchange: () => lab.change((q) => { q.rule = this.rule?.value ?? "perceptron"; }) }, ...["perceptron", "aggressive"].map((name) => h("option", { value: name }, name)));
    return h("details", { class: "menu", id: "more" }, h("summary", {}, "More"), h("div", { class: "items" },
      shown("average", " the averaged line (teal)"), shown("voted", " the vote of all w (shading)"),
      number("step μ ", "step", "changes nothing from w₀ = 0 (B6)"), number("threshold δ ", "threshold", "acts when ⟨a, w⟩ ≤ δ"),
      h("label", {}, "start w₀ ", start, h("small", {}, "w₁, w₂, bias")), h("label", {}, "rule ", this.rule),
      h("div", { class: "moves" }, "data ", button("", "× 2", move(([x, y]) => [2 * x, 2 * y]), { shown: true }), button("", "÷ 2", move(([x, y]) => [x / 2, y / 2]), { shown: true }),
        button("left", "Move all left by 1", move(([x, y]) => [x - 1, y])), button("right", "Move all right by 1", move(([x, y]) => [x + 1, y])),
        button("up", "Move all up by 1", move(([x, y]) => [x, y + 1])), button("down", "Move all down by 1", move(([x, y]) => [x, y - 1])),
        h("small", {}, "scale and translation change R and γ: watch the bound"))));
  }

  takeMine() {
    const { full, question } = this.lab;
    const w = full?.reference?.w ?? full?.weak ?? (full ? full.run.weights[full.run.weights.length - 1] : null);
    const usable = w && (w[0] !== 0 || w[1] !== 0);
    this.lab.change((q) => { q.mine = usable ? /** @type {[number, number, number]} */ (w.map((v) => Number(v.toPrecision(6)))) : [1, 1, 0]; });
    if (!question.bias) this.lab.draw();
  }

  draw() {
    const { lab } = this;
    const { answer, full, question } = lab;
    const veiled = lab.predict !== null;
    this.verdict.textContent = veiled ? "Predict: what will the perceptron do?" : answer ? answer.sentence : "…";
    this.verdict.className = `verdict ${KINDS[answer?.kind ?? ""] ?? ""}`;
    this.root.dataset.kind = answer?.kind ?? "";
    this.root.dataset.name = this.data.value;
    this.root.dataset.settled = String(lab.runs.shown === lab.runs.asked);
    this.says.textContent = lab.lesson || (lab.pocket ? lab.pocket.sentence : "");
    this.now.textContent = lab.predict?.asked === "count" ? "" : lab.sentence();
    this.trouble.hidden = !lab.trouble;
    this.trouble.textContent = lab.trouble;
    const last = full ? lastMoment(full.run) : 0;
    this.slider.max = String(last);
    this.slider.value = String(Math.min(last, lab.moment));
    const t = full ? momentOf(full.run, Math.min(last, lab.moment)).t : 0;
    this.where.textContent = full ? `t = ${t}${veiled ? "" : ` of ${full.run.index.length}`}` : "";
    this.slider.setAttribute("aria-valuetext", this.where.textContent);
    this.slider.disabled = veiled;
    toggle(this.root, "veiled", veiled);
    const playing = lab.player !== undefined;
    const play = this.buttons.get("play");
    if (play) refill(play, icon(playing ? "pause" : "play"));
    play?.setAttribute("aria-label", playing ? "Pause" : "Play");
    this.predicting.setAttribute("aria-pressed", String(veiled));
    this.drawPrompt();
    if (lab.lesson === "" && this.data.value) this.data.value = "";
    this.order.value = question.order;
    this.seed.value = String(question.seed);
    toggle(this.root, "seedless", ["cyclic", "max_distance", "max_residual"].includes(question.order));
    this.bias.checked = question.bias;
    this.best.input.checked = question.mine === null;
    this.mine.input.checked = question.mine !== null;
    if (this.rule) this.rule.value = question.rule;
    for (const input of this.more.querySelectorAll("[data-key]")) {
      const key = /** @type {"step" | "threshold"} */ (input.getAttribute("data-key"));
      if (document.activeElement !== input) /** @type {HTMLInputElement} */ (input).value = String(question[key]);
    }
    for (const node of this.edit) node.disabled = lab.selected < 0;
    this.undo.disabled = lab.past.length === 0;
  }

  drawPrompt() {
    const { predict } = this.lab;
    const asked = predict?.asked ?? "";
    this.prompt.hidden = !predict;
    if (this.prompt.dataset.asked === asked + (predict?.guess ?? "")) return;
    this.prompt.dataset.asked = asked + (predict?.guess ?? "");
    const text = asked === "count" ? "How many mistakes will it make until it is done?" : `${predict?.guess} Click a point, or reveal it.`;
    refill(this.prompt, h("b", {}, text), asked === "count" && this.guess, h("button", { type: "submit" }, asked === "count" ? "That is my guess" : "Reveal"));
  }

  /** @param {{name: string, done: boolean}[]} stages @param {boolean} open */
  compiling(stages, open) {
    const next = stages.find(({ done }) => !done)?.name;
    this.status.textContent = open ? `Compiling the ${next} …, until then answers are recorded` : "";
  }

  /** @param {string} form */
  async save(form) {
    const { lab } = this;
    try {
      const { name, text } = await lab.host.ask("export", { form, question: brief(lab.question), view: { moment: lab.moment } });
      saveText(name, text);
    } catch (error) {
      lab.trouble = /** @type {Error} */ (error).message;
      lab.draw();
    }
  }

  async copyLink() {
    this.lab.writeLink();
    try {
      await navigator.clipboard.writeText(location.href);
      this.now.textContent = "The link is copied: it restores these points, this order and this moment.";
    } catch {
      this.now.textContent = "The address of this page restores everything: copy it from the address bar.";
    }
  }

  present() {
    toggle(this.root, "presenting", !this.root.classList.contains("presenting"));
  }

  help() {
    refill(this.dialog, h("h2", {}, "How to use it"),
      h("p", {}, "A row a is a point with its label: a = y·(x₁, x₂, 1). Rows are counted from 1. The perceptron looks at rows in turn; where ⟨a, w⟩ ≤ 0 it errs, and adds a to w."),
      h("dl", {}, ...HELP.flatMap(([keys, text]) => [h("dt", {}, keys), h("dd", {}, text)])),
      h("p", {}, "Verdict, γ, R, the bound and λ are proved by the library; Export, Certificate is the proof, and novikoff verify checks it against the points."),
      button("", "Close", () => this.dialog.close(), { shown: true }));
    this.dialog.showModal();
  }

  askTable() {
    const text = h("textarea", { rows: 10, "aria-label": "A table: x₁, x₂, label", placeholder: "x1,x2,label\n0.5,1.2,+1\n-1,0.3,-1" });
    const wrong = h("p", { class: "trouble", role: "alert", hidden: true });
    refill(this.dialog, h("h2", {}, "Paste a table"), h("p", {}, "Two numbers and one of two labels in each line."), text, wrong,
      button("", "Use it", () => {
        try {
          this.lab.paste(text.value);
          this.dialog.close();
        } catch (error) {
          wrong.hidden = false;
          wrong.textContent = /** @type {Error} */ (error).message;
        }
      }, { shown: true, id: "use-table" }), button("", "Cancel", () => this.dialog.close(), { shown: true }));
    this.dialog.showModal();
  }

  listen() {
    this.root.addEventListener("keydown", (event) => {
      const { lab } = this;
      const target = /** @type {HTMLElement} */ (event.target);
      if (this.dialog.open) return;
      if ((event.ctrlKey || event.metaKey) && event.key === "z" && lab.live) {
        if (target.matches("input[type=text], input[type=number], textarea")) return;
        lab.undo();
      } else if (event.ctrlKey || event.metaKey || event.altKey || target.matches("input, select, textarea, summary")) {
        return;
      } else if (event.key === " " && target.matches("button")) {
        return;
      } else if (event.key === "Escape" && this.root.classList.contains("presenting")) {
        this.present();
      } else if (/^[aA]$/.test(event.key) && lab.live) {
        lab.plane.hands.add(lab.plane.view.x, lab.plane.view.y);
        lab.plane.hands.focus(lab.question.points.length - 1);
      } else if (KEYS.has(event.key)) {
        lab.go(KEYS.get(event.key) ?? "");
      } else {
        return;
      }
      event.preventDefault();
    });
    this.root.tabIndex = -1;
    document.addEventListener("keydown", (event) => { if (event.target === document.body) this.root.dispatchEvent(new KeyboardEvent("keydown", event)); });
    document.addEventListener("click", (event) => {
      for (const menu of this.root.querySelectorAll("details[open]")) if (!menu.contains(/** @type {Node} */ (event.target))) menu.removeAttribute("open");
    });
  }
}

/** @param {string} group @param {string} text @param {() => void} onchange */
function choice(group, text, onchange) {
  const input = h("input", { type: "radio", name: group, id: `${group}-${text}`, onchange });
  const mark = group === "label" ? h("i", { class: `mark mark-${text}` }) : null;
  return { input, node: h("label", { class: "choice" }, input, mark, h("span", {}, text)) };
}

function legend() {
  return h("ul", { class: "legend" }, ...[["line-now", "w now"], ["line-star", "w* and its margin"], ["line-before", "w before"], ["line-pocket", "fewest mistakes"]]
    .map(([name, text]) => h("li", { class: `key-${name}` }, h("i", {}), text)));
}
