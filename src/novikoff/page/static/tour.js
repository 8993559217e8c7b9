/** The tour: scenes of one lesson, each with a question before and an answer after. */

import { button, h, refill } from "./dom.js";
import { words } from "./words.js";

/** @typedef {{title: string, minutes: number, preset: string, question?: Partial<Question>, at?: number,
 *   panel: string, beside?: string, text: string, ask: string, answer: string}} Scene */

export class Tour {
  /** @param {() => void} redraw */
  constructor(redraw) {
    this.redraw = redraw;
    this.scenes = /** @type {Scene[]} */ ([]);
    /** The number of the scene that is shown, −1 if there is no tour. */
    this.at = -1;
    this.open = (/** @type {Scene} */ scene) => Promise.resolve(scene);
    this.node = h("section", { class: "panel tour", "aria-label": words.tour.label, hidden: true });
  }

  /** @param {Scene[]} scenes @param {number} at @param {(scene: Scene) => Promise<any>} open */
  start(scenes, at, open) {
    Object.assign(this, { scenes, open });
    return this.go(Math.max(0, Math.min(at, scenes.length - 1)));
  }

  /** Show a scene; before the first and after the last, the tour ends. @param {number} at */
  async go(at) {
    const scene = this.scenes[at];
    this.at = scene ? at : -1;
    this.node.hidden = !scene;
    if (!scene) return this.redraw();
    const answer = h("p", { class: "answer", hidden: true }, scene.answer);
    const reveal = button(
      "",
      words.tour.answer,
      () => {
        answer.hidden = !answer.hidden;
      },
      { shown: true, id: "answer" },
    );
    const last = at + 1 === this.scenes.length;
    const { heading, minutes, previous, next, end } = words.tour;
    refill(
      this.node,
      h(
        "header",
        {},
        h("h2", {}, heading(at + 1, this.scenes.length, scene.title)),
        h("span", { class: "minutes" }, minutes(scene.minutes)),
        at > 0 && button("left", previous, () => this.go(at - 1)),
        button(last ? "" : "right", last ? end : next, () => this.go(at + 1), {
          shown: true,
          id: "next-scene",
        }),
        !last && button("clear", end, () => this.go(-1), { id: "end-tour" }),
      ),
      h("p", {}, scene.text),
      h("p", {}, h("b", {}, scene.ask), " ", reveal),
      answer,
    );
    await this.open(scene);
    this.redraw();
  }
}
