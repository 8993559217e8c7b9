/** The layout of the page: the verdict, the tools, the panels, the timeline, and which of them are shown. */

import { Dialogs } from "./dialogs.js";
import { button, h, refill } from "./dom.js";
import { listen } from "./keys.js";
import { Proof } from "./proof.js";
import { Sharing } from "./sharing.js";
import { Space } from "./space.js";
import { Step } from "./step.js";
import { Timeline } from "./timeline.js";
import { Tools } from "./tools.js";
import { words } from "./words.js";

export class Layout {
  /** @param {Lab} lab @param {HTMLElement} root */
  constructor(lab, root) {
    this.lab = lab;
    this.root = root;
    this.verdict = h("p", { "aria-live": "polite", id: "verdict" });
    this.lesson = h("span", { "aria-live": "polite" });
    this.status = h("span", { class: "status" });
    this.trouble = h("p", { class: "trouble", role: "alert", hidden: true });
    this.present = button("present", words.tools.present, () => this.togglePresent(), {
      shown: true,
      id: "present",
    });
    this.dialogs = new Dialogs(lab);
    this.sharing = new Sharing(lab, (sentence) => { this.timeline.sentence.textContent = sentence; });
    this.timeline = new Timeline(lab, lab.parts.length > 0 && this.sharing.outside());
    this.tools = new Tools(lab);
    this.space = new Space(lab);
    this.step = new Step(lab);
    this.proof = new Proof(lab);
    this.build();
    listen(root, lab, this.dialogs.node, () => this.togglePresent());
  }

  build() {
    const { dialogs, lab, sharing } = this;
    const { help, tour } = words.tools;
    const { legend, panel } = words.plane;
    const links = h("div", { class: "links" },
      lab.linked && button("eye", tour, () => lab.startTour(), { shown: true, id: "tour" }),
      sharing.link, sharing.menu,
      this.present, button("help", help, () => dialogs.help(), { id: "help" }));
    const answers = h("small", { class: "by", title: lab.host.about }, words.page.answers(lab.host.name));
    const keys = Object.entries(legend).map(([name, text]) =>
      h("li", { class: `key-${name}` }, h("i"), text));
    refill(this.root,
      h("header", { class: "top" },
        h("h1", {}, words.page.title, answers),
        h("div", { class: "says" }, this.verdict, h("p", { class: "lesson" }, this.lesson, this.status)),
        links),
      this.tools.node, lab.tour.node, lab.challenges.node, this.trouble,
      h("div", { class: "panels" },
        h("section", { class: "panel plane-panel", "aria-label": panel },
          h("div", { class: "drawing" }, lab.plane.node, lab.plane.tip),
          h("ul", { class: "legend" }, ...keys, lab.plane.note, lab.plane.absent),
        ),
        h(
          "div",
          { class: "side" },
          h("div", { class: "middle" }, this.space.node, this.step.node),
          this.proof.node,
        ),
      ),
      this.timeline.node,
      dialogs.node,
    );
    this.root.classList.toggle("embed", lab.parts.length > 0);
    this.root.dataset.embed = lab.parts.join(" ");
  }

  /** Draw everything but the panels. */
  draw() {
    const { lab, root } = this;
    const { answer, predict, question } = lab;
    Object.assign(root.dataset, {
      kind: answer?.kind ?? "",
      name: lab.chosen,
      settled: lab.settled,
      rule: question.rule,
      challenge: lab.challenges.name,
    });
    for (const [name, on] of Object.entries({
      veiled: predict !== null, seedless: !this.tools.seeded, touring: lab.tour.at >= 0,
      compared: lab.beside.run !== null, challenging: lab.challenges.name !== "",
    })) root.classList.toggle(name, on);
    for (const node of root.querySelectorAll(".fold")) {
      const name = node.getAttribute("data-panel") ?? "";
      node.classList.toggle("open", lab.opened.middle === name || lab.opened.proof === name);
      node.classList.toggle("shown", lab.shown === name);
      node.classList.toggle(
        "part",
        lab.parts.includes(name) || (lab.parts.includes("proof") && lab.shown === name),
      );
    }
    this.verdict.textContent = predict ? words.predict.title : answer?.sentence ?? words.page.waiting;
    this.verdict.className = `verdict ${answer?.kind ?? ""}`;
    this.lesson.textContent = this.remark();
    this.status.textContent = lab.status;
    this.trouble.textContent = lab.trouble || lab.warning;
    this.trouble.hidden = !this.trouble.textContent;
    this.tools.draw();
    this.timeline.draw();
  }

  /** Draw the panels, except the plane. */
  drawPanels() {
    for (const panel of [this.space, this.proof, this.step]) panel.draw();
  }

  /** The sentence below the verdict. */
  remark() {
    const { lab } = this;
    if (!lab.plane.pointer.moving) return lab.shading?.sentence || lab.lesson || lab.pocket?.sentence || "";
    return words.page.moving(document.activeElement?.closest("[data-handle]") ? null : lab.selected);
  }

  togglePresent() {
    this.present.setAttribute("aria-pressed", String(this.root.classList.toggle("presenting")));
  }
}
