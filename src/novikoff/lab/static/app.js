/** The page: state, undo, what is asked of the library and when; the rest is drawn by panels. */

import { refill, toggle } from "./dom.js";
import { Latest, Refusal, recordedHost, servedHost } from "./hosts.js";
import { brief, fromLink, fromTable, toLink, whole } from "./link.js";
import { lastMoment, momentOf, nextMistake, previousMistake, tell } from "./moments.js";
import { Plane } from "./plane.js";
import { Proof } from "./proof.js";
import { Space } from "./space.js";
import { Step } from "./step.js";
import { Frame } from "./frame.js";

/** @typedef {import("./types").Host} Host */
/** @typedef {import("./types").Question} Question */
/** @typedef {import("./types").Answer} Answer */
/** @typedef {import("./types").Preset} Preset */
/** @typedef {import("./types").Recorded} Recorded */

const REST = 150; // milliseconds without a change, before the pocket is asked and the link written
const BEAT = 700; // between two steps of the player
const RETRY = 1000;
const MAX_UNDO = 200;

export class LabPage {
  /** @param {HTMLElement} root @param {Host} host */
  constructor(root, host) {
    this.host = host;
    this.live = host.live;
    this.question = whole({ points: [] });
    /** @type {Answer | null} */
    this.answer = null;
    /** @type {import("./types").Pocket | null} */
    this.pocket = null;
    /** @type {import("./types").Voted | null} */
    this.voted = null;
    this.moment = 0;
    this.selected = -1;
    this.newLabel = 1;
    this.show = { average: false, voted: false };
    /** @type {import("./types").PredictState} */
    this.predict = null;
    this.lesson = "";
    this.trouble = "";
    /** @type {string[]} */
    this.past = [];
    /** @type {number | undefined} */
    this.player = undefined;
    this.plane = new Plane(this);
    this.space = new Space(this);
    this.proof = new Proof(this);
    this.step = new Step(this);
    this.runs = new Latest((body) => host.ask("run", body), (answer) => this.receive(answer), (error) => this.fail(error));
    this.pockets = new Latest((body) => host.ask("pocket", body), (found) => { this.pocket = found; this.draw(); }, () => {});
    this.votes = new Latest((body) => host.ask("voted", body), (found) => { this.voted = found; this.draw(); }, () => {});
    this.frame = new Frame(this, root);
  }

  get full() {
    return this.answer && this.answer.kind !== "empty" ? this.answer : null;
  }

  box() {
    return this.plane.box();
  }

  /** Begin anew with a question; `record` has its answer, if that is known. @param {Question} question
   * @param {{answer: Answer, pocket: import("./types").Pocket | null}} [record] @param {number} [moment] */
  begin(question, record, moment) {
    this.stop();
    this.question = structuredClone(question);
    this.selected = -1;
    this.predict = null;
    this.trouble = "";
    this.moment = moment ?? Infinity;
    this.plane.fit();
    this.pocket = null;
    this.voted = null;
    if (record) {
      this.runs.forget();
      this.pockets.forget();
      this.receive(record.answer);
      this.pocket = record.pocket;
      this.draw();
      this.rest();
    } else {
      this.ask();
    }
  }

  /** Change the question. @param {(question: Question) => void} edit @param {{remember?: boolean, rest?: boolean}} how */
  change(edit, how = {}) {
    if (how.remember !== false) this.remember();
    edit(this.question);
    this.lesson = "";
    this.ask(how.rest !== false);
  }

  remember() {
    this.past.push(JSON.stringify(this.question));
    if (this.past.length > MAX_UNDO) this.past.shift();
  }

  undo() {
    const before = this.past.pop();
    if (!before) return;
    this.question = JSON.parse(before);
    this.selected = Math.min(this.selected, this.question.points.length - 1);
    this.ask();
  }

  ask(rest = true) {
    this.predict = null;
    this.runs.ask(brief(this.question));
    this.pockets.forget();
    this.draw();
    if (rest) this.rest();
  }

  /** What is done when nothing has changed for a while. */
  rest() {
    window.clearTimeout(this.resting);
    this.resting = window.setTimeout(() => {
      this.writeLink();
      this.askMore();
    }, REST);
  }

  askMore() {
    if (!this.live || !this.full) return;
    if (this.full.kind !== "separable" && !this.pocket && !this.runs.busy) this.pockets.ask(brief(this.question));
    if (this.show.voted) this.votes.ask({ question: brief(this.question), box: this.box() });
  }

  /** @param {Answer} answer */
  receive(answer) {
    const before = this.full;
    const ended = !before || this.moment >= lastMoment(before.run);
    this.answer = answer;
    this.trouble = "";
    const last = this.full ? lastMoment(this.full.run) : 0;
    this.moment = this.moment === Infinity || (before && ended) ? last : Math.min(this.moment, last);
    this.pocket = null;
    this.draw();
    this.rest();
  }

  /** @param {unknown} error */
  fail(error) {
    if (error instanceof Refusal) {
      this.trouble = error.message;
      this.draw();
      return;
    }
    this.trouble = "The server does not answer. Start novikoff lab again; this page goes on by itself.";
    this.draw();
    window.setTimeout(async () => {
      try {
        await this.host.ready();
        this.ask();
      } catch (again) {
        this.fail(again);
      }
    }, RETRY);
  }

  /** @param {number} row */
  select(row) {
    this.selected = row;
    this.plane.drawDots();
    this.frame.draw();
  }

  /** @param {number} moment */
  goTo(moment) {
    if (!this.full) return;
    this.moment = Math.min(lastMoment(this.full.run), Math.max(0, moment));
    this.draw();
    this.rest();
  }

  /** Step, back, next mistake and so on. @param {string} way */
  go(way) {
    const run = this.full?.run;
    if (!run) return;
    if (way !== "play") this.stop();
    const forward = way === "step" || way === "next";
    if (this.predict && forward && this.predict.asked === "row") return this.reveal("");
    if (way === "play") return this.play();
    this.goTo({
      first: 0, previous: previousMistake(run, this.moment), back: this.moment - 1,
      step: this.moment + 1, next: nextMistake(run, this.moment), last: lastMoment(run),
    }[way] ?? this.moment);
  }

  play() {
    if (this.player !== undefined || !this.full) return this.stop();
    if (this.moment >= lastMoment(this.full.run)) this.goTo(0);
    this.player = window.setInterval(() => {
      if (!this.full || this.moment >= lastMoment(this.full.run)) return this.stop();
      this.goTo(nextMistake(this.full.run, this.moment));
    }, BEAT);
    this.draw();
  }

  stop() {
    window.clearInterval(this.player);
    this.player = undefined;
    this.frame?.draw();
  }

  /** Veil what comes, and ask for it. */
  startPredicting() {
    this.stop();
    this.predict = this.predict ? null : { asked: "count", guess: "" };
    if (this.predict) this.goTo(0);
    this.draw();
  }

  /** A click on a point answers “which row errs next?”. @param {number} row */
  guessRow(row) {
    if (!this.predict) return false;
    if (this.predict.asked === "row") this.reveal(String(row + 1));
    return true;
  }

  /** Show what was predicted, and ask for the next. @param {string} guess */
  reveal(guess) {
    const { full, predict } = this;
    if (!full || !predict) return;
    const total = full.run.index.length;
    if (predict.asked === "count") {
      const verdict = guess ? `You say ${guess}. We shall see: which row errs first?` : "Which row errs first?";
      this.predict = { asked: "row", guess: verdict };
    } else {
      const { t } = momentOf(full.run, this.moment);
      const row = full.run.index[t];
      this.goTo(nextMistake(full.run, this.moment));
      const heard = row === undefined || !guess ? "" : Number(guess) === row + 1 ? "Yes! " : `Not row ${guess}: `;
      const told = row === undefined ? `No more: ${total} mistakes in all.` : `it was row ${row + 1}.`;
      const more = t + 1 < total ? " Which row errs next?" : " Is there another? Press next.";
      this.predict = row === undefined ? null : { asked: "row", guess: heard + told + more };
      if (row === undefined) this.trouble = "";
    }
    this.draw();
  }

  draw() {
    for (const panel of [this.plane, this.space, this.proof, this.step, this.frame]) panel.draw();
  }

  /** What happens now, in a sentence. */
  sentence() {
    return this.full ? tell(this.full, this.question, this.moment) : "";
  }

  writeLink() {
    if (!this.live || this.host.ready === undefined || !location.protocol.startsWith("http")) return;
    history.replaceState(null, "", `${location.pathname}${location.search}#${toLink(this.question, this.moment)}`);
  }

  /** @param {string} text */
  paste(text) {
    const points = fromTable(text);
    this.remember();
    this.begin({ ...this.question, points, mine: null });
  }
}

/** The page of `novikoff lab`. */
export async function startServed() {
  const root = /** @type {HTMLElement} */ (document.getElementById("lab"));
  const host = servedHost();
  const page = new LabPage(root, host);
  /** @type {Record<string, Preset>} */
  const menu = await (await fetch("/static/presets/menu.json")).json();
  const token = new URLSearchParams(location.search).get("token");
  /** @param {string} name */
  const choose = async (name) => {
    const preset = menu[name];
    page.lesson = preset.lesson;
    page.begin(whole(preset.question), await host.record(name));
    page.frame.chosen(name);
  };
  page.frame.menu(menu, (name) => { page.remember(); choose(name); });
  try {
    if (location.hash.length > 1) {
      const { question, moment } = fromLink(location.hash.slice(1));
      page.begin(question, undefined, moment);
    } else if (token) {
      const reply = await fetch(`/api/data?token=${encodeURIComponent(token)}`);
      const own = await reply.json();
      if (!reply.ok) throw new Error(own.error);
      page.lesson = own.title;
      page.begin(whole(own.question));
    } else {
      await choose("two_clouds");
    }
  } catch (error) {
    await choose("two_clouds");
    page.trouble = `The link could not be read: ${/** @type {Error} */ (error).message}.`;
    page.draw();
  }
  watchReady(page);
  return page;
}

/** Say what is being compiled, until all is ready. @param {LabPage} page */
async function watchReady(page) {
  try {
    const { stages } = await page.host.ready();
    const open = stages.filter(({ done }) => !done);
    page.frame.compiling(stages, open.length > 0);
    if (open.length > 0) window.setTimeout(() => watchReady(page), RETRY);
  } catch {
    window.setTimeout(() => watchReady(page), RETRY);
  }
}

/** One offline file with a recorded run. @param {Recorded} record */
export function startRecorded(record) {
  const root = /** @type {HTMLElement} */ (document.getElementById("lab"));
  const page = new LabPage(root, recordedHost(record));
  page.begin(whole(record.question), record, record.view.moment);
  toggle(root, "recorded", true);
  return page;
}

/** In a notebook. @param {HTMLElement} root @param {Host} host @param {Partial<Question> & {points: import("./types").Point[]}} question */
export function startWidget(root, host, question) {
  const node = document.createElement("div");
  node.className = "lab embedded";
  refill(root, node);
  const page = new LabPage(node, host);
  page.begin(whole(question));
  return page;
}
