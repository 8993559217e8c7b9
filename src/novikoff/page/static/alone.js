/** The page as one file, which answers by itself: it needs neither a server nor the library. */

import { answerExport, answerPocket, answerRun, answerSides } from "./answers.js";
import { start } from "./app.js";
import { Refusal } from "./hosts.js";
import { words } from "./words.js";

const ANSWERS = { run: answerRun, pocket: answerPocket, sides: answerSides, export: answerExport };

/** Open the page. The records are the menu, the tour and the challenges; `begin` is what the file was written
 * for.
 * @param {{begin: Begin | null, records: Record<string, any>}} told */
export function startAlone({ begin, records }) {
  const file = document.documentElement.cloneNode(true);
  /** @type {Host} */
  const host = {
    name: words.hosts.alone,
    about: words.hosts.aboutAlone,
    forms: ["html", "csv", "embed"],
    ask: async (what, body) => {
      try {
        return what === "export" && body.form === "html"
          ? withBegin(/** @type {Element} */ (file), body, records)
          : ANSWERS[what](body);
      } catch (error) {
        throw new Refusal(/** @type {Error} */ (error).message);
      }
    },
    ready: () => Promise.resolve([]),
    record: (name) => Promise.resolve(records[name]),
  };
  return start(host, () => Promise.resolve(begin));
}

/** The text of this file with another question to begin with. @param {Element} file
 * @param {{question: Preset["question"], view: {moment: number}}} asked
 * @param {Record<string, any>} records */
function withBegin(file, { question, view: { moment } }, records) {
  const told = JSON.stringify({ begin: { question, moment }, records }).replace(/</g, "\\u003c");
  const script = /** @type {Element} */ (file.querySelector("#begin"));
  script.textContent = told;
  return `<!doctype html>\n${file.outerHTML}\n`;
}
