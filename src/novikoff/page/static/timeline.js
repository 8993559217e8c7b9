/** The timeline: the moment of the run, the player, the sentence about this moment, and predictions. */

import { button, h, icon, refill } from "./dom.js";
import { used } from "./link.js";
import { NEVER, lastMoment, momentOf, tell } from "./run.js";
import { words } from "./words.js";

const CONTROLS = /** @type {const} */ (["first", "previous", "back", "play", "step", "next", "last"]);
const SPEEDS = [1, 2, 5, 20];

export class Timeline {
  /** @param {Lab} lab @param {import("./dom.js").Child} more what stands at the end */
  constructor(lab, more) {
    this.lab = lab;
    const text = words.timeline;
    this.sentence = h("p", { class: "now-sentence", "aria-live": "polite", id: "sentence" });
    this.slider = h("input", {
      type: "range",
      min: 0,
      value: 0,
      "aria-label": text.moment,
      oninput: () => lab.goTo(Number(this.slider.value)),
    });
    this.where = h("output", { class: "where" });
    this.play = h("span");
    const speed = h("select", {
      id: "speed", "aria-label": text.speed, onchange: () => lab.setSpeed(Number(speed.value)),
    }, ...SPEEDS.map((times) => h("option", { value: times }, text.times(times))));
    const controls = CONTROLS.map((name) => button(name, text[name], () => lab.go(name), { id: `go-${name}` }));
    refill(controls[CONTROLS.indexOf("play")], this.play);
    this.predict = button("eye", words.predict.button, () => lab.togglePredict(), {
      shown: true,
      id: "predict",
    });
    this.guess = h("input", { type: "number", min: 0, "aria-label": words.predict.guess, class: "guess" });
    this.never = button("", words.predict.never, () => lab.reveal(NEVER), { shown: true, id: "never" });
    this.toEnd = button("", words.predict.toEnd, () => lab.finishPrediction(), { shown: true, id: "show-rest" });
    this.prompt = h("form", { class: "prompt", hidden: true, onsubmit: (/** @type {Event} */ event) => {
      event.preventDefault();
      lab.reveal(this.guess.value);
      this.guess.value = "";
    } });
    this.node = h("footer", { class: "timeline" },
      h("div", { class: "controls" }, ...controls, speed, this.slider, this.where, this.predict, more),
      this.prompt, this.sentence);
  }

  draw() {
    const { full, moment, player, predict, question } = this.lab;
    const last = full ? lastMoment(full.run) : 0;
    const shown = Math.min(last, moment);
    this.sentence.textContent = full && predict?.asked !== "count" ? tell(full, question, shown) : "";
    this.slider.max = String(last);
    this.slider.value = String(shown);
    this.slider.disabled = predict !== null;
    this.where.textContent = full ?
      words.timeline.where(momentOf(full.run, shown).t, predict ? null : full.run.index.length) : "";
    this.slider.setAttribute("aria-valuetext", this.where.textContent);
    this.drawPlayer(player > 0);
    this.predict.setAttribute("aria-pressed", String(predict !== null));
    this.drawPrompt(predict);
  }

  /** @param {boolean} playing */
  drawPlayer(playing) {
    if (this.play.dataset.shown === String(playing)) return;
    this.play.dataset.shown = String(playing);
    refill(this.play, icon(playing ? "pause" : "play"));
    this.play.parentElement?.setAttribute("aria-label", playing ? words.timeline.pause : words.timeline.play);
  }

  /** @param {PredictState} predict */
  drawPrompt(predict) {
    this.prompt.hidden = !predict;
    if (!predict) return;
    const { click, end, howMany, reveal, submit } = words.predict;
    const { rule, threshold } = used(this.lab.question);
    const [counting, choosing] = [predict.asked === "count", predict.asked === "row"];
    const text = counting
      ? howMany(threshold > 0 || rule === "aggressive")
      : predict.said + (choosing ? click : "");
    if (this.prompt.firstChild?.textContent === text) return;
    refill(this.prompt, h("b", {}, text), counting && this.guess,
      h("button", { type: "submit" }, counting ? submit : choosing ? reveal : end),
      counting && this.never, choosing && this.toEnd);
  }
}
