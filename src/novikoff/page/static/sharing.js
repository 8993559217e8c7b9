/** What leaves the page: links, a line to embed it, pictures and files. */

import { button, h, icon, menu } from "./dom.js";
import { brief } from "./link.js";
import { save, savePicture } from "./pictures.js";
import { words } from "./words.js";

const PICTURES = /** @type {const} */ (["svg", "png"]);
const FILES = /** @type {const} */ ([
  ["html", "novikoff-lab.html"], ["csv", "novikoff-lab.csv"], ["python", "novikoff_lab.py"],
  ["certificate", "novikoff-lab.cert.json"],
]);
const WIDER = 1.5; // a file shows this many times the box of this window, for windows of other shapes

export class Sharing {
  /** @param {Lab} lab @param {(sentence: string) => void} say */
  constructor(lab, say) {
    this.lab = lab;
    this.say = say;
    const { forms } = lab.host;
    this.link =
      lab.linked && button("link", words.tools.link, () => this.copyLink(), { shown: true, id: "link" });
    this.menu = menu(
      "save",
      [icon("save"), words.tools.export],
      ...PICTURES.map((form) =>
        button("", words.files[form], () => savePicture(lab.plane.node, form), { shown: true }),
      ),
      ...FILES.filter(([form]) => forms.includes(form)).map(([form, name]) =>
        button("", words.files[form], () => this.save(form, name), { shown: true, id: `save-${form}` })),
      lab.linked && forms.includes("embed") &&
        button("", words.files.embed, () => this.copyEmbed(), { shown: true, id: "embed" }));
  }

  /** @param {string} form @param {string} name */
  async save(form, name) {
    const { host, moment, plane, question } = this.lab;
    try {
      const text = await host.ask("export", {
        form,
        question: brief(question),
        view: { moment, box: plane.box(WIDER) },
      });
      save(name, new Blob([text], { type: "text/plain" }));
    } catch (error) {
      this.lab.complain(/** @type {Error} */ (error).message);
    }
  }

  copyLink() {
    this.lab.writeLink();
    const local = location.protocol === "file:" || ["127.0.0.1", "localhost"].includes(location.hostname);
    this.copy(location.href, words.files.linkCopied(local), words.files.linkNotCopied);
  }

  /** Copy an iframe with the plane and the proof. */
  copyEmbed() {
    this.lab.writeLink();
    const address = this.address("plane,proof").replace(/&/g, "&amp;");
    const style = "width: 100%; height: 600px; border: 0";
    const line = `<iframe src="${address}" title="${words.page.title}" style="${style}"></iframe>`;
    this.copy(line, words.files.embedCopied, line);
  }

  /** The address of this page with some parts of it, or with all if none is named. @param {string} parts */
  address(parts) {
    const address = new URL(location.href);
    address.search = parts && `?embed=${parts}`;
    return address.href;
  }

  /** A link from an embedded page to the whole page. */
  outside() {
    const link = h("a", {
      class: "outside", target: "_blank", rel: "noopener", href: "", title: words.files.openWholeLab,
      onclick: () => {
        this.lab.writeLink();
        link.href = this.address("");
      },
    }, words.files.wholeLab);
    return link;
  }

  /** Copy a text, and say so; where a page may not copy, show what to do.
   * @param {string} text @param {string} done @param {string} instead */
  copy(text, done, instead) {
    if (!navigator.clipboard) return this.say(instead); // pages without https
    navigator.clipboard.writeText(text).then(() => this.say(done), () => this.say(instead));
  }
}
