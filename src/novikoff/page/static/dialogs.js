/** The dialogs: help, and a table to paste or to open. */

import { button, h, refill } from "./dom.js";
import { words } from "./words.js";

export class Dialogs {
  /** @param {Lab} lab */
  constructor(lab) {
    this.lab = lab;
    this.node = h("dialog", { "aria-label": words.help.dialog });
  }

  help() {
    const { close, keys, rounding, rows, title } = words.help;
    refill(this.node, h("h2", {}, title), h("p", {}, rows),
      h("dl", {}, ...keys.flatMap(([key, text]) => [h("dt", {}, key), h("dd", {}, text)])),
      h("p", {}, this.lab.host.about + rounding),
      button("", close, () => this.node.close(), { shown: true }));
    this.node.showModal();
  }

  askTable() {
    const { cancel, file, how, label, placeholder, title, use } = words.table;
    const text = h("textarea", { rows: 10, "aria-label": label, placeholder });
    const wrong = h("p", { class: "trouble", role: "alert", hidden: true });
    const refuse = (/** @type {Error} */ error) =>
      Object.assign(wrong, { hidden: false, textContent: error.message });
    const take = () => this.lab.paste(text.value).then(() => this.node.close(), refuse);
    const read = (/** @type {string} */ content) => {
      text.value = content;
      take();
    };
    const open = h("input", {
      type: "file",
      id: "open-file",
      accept: ".csv,.tsv,.txt",
      onchange: () => open.files?.[0]?.text().then(read),
    });
    refill(
      this.node,
      h("h2", {}, title),
      h("p", {}, how),
      text,
      h("p", {}, h("label", {}, file, open)),
      wrong,
      button("", use, take, { shown: true, id: "use-table" }),
      button("", cancel, () => this.node.close(), { shown: true }));
    this.node.showModal();
  }
}
