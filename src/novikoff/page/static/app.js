/** The page: its state, and when it asks the library for answers. The panels draw the state. */

import { h, refill } from "./dom.js";
import { Frame, PANELS } from "./frame.js";
import { Challenges } from "./challenges.js";
import { Latest, Refusal, load, servedHost } from "./hosts.js";
import { ORDERS, brief, fromLink, fromTable, toLink, whole } from "./link.js";
import { NEVER, afterUpdate, lastMoment, momentOf, nextMistake, outcome, previousMistake } from "./moments.js";
import { Plane } from "./plane.js";
import { Proof } from "./proof.js";
import { Space } from "./space.js";
import { Step } from "./step.js";
import { Tour } from "./tour.js";

const REST = 150; // milliseconds without a change before the page asks for the pocket and writes the link
const BEAT = 700; // milliseconds between two steps of the player
const RETRY = 1000; // milliseconds until the page asks a server again that did not answer

export class LabPage {
  /** @param {HTMLElement} root @param {Host} host */
  constructor(root, host) {
    this.host = host;
    this.linked = !root.classList.contains("embedded"); // the address of a notebook is not the page's
    this.question = whole({ points: [] });
    this.answer = /** @type {Answer | null} */ (null);
    this.pocket = /** @type {Pocket | null} */ (null);
    this.sides = /** @type {Sides | null} */ (null);
    /** @type {PredictState} */
    this.predict = null;
    this.moment = 0;
    this.selected = -1;
    this.newLabel = 1;
    this.averaged = false;
    this.lesson = "";
    this.trouble = "";
    /** What is wrong with the link that was opened; it stays until the next change. */
    this.warning = "";
    this.past = /** @type {{question: Question, view: Plane["view"]}[]} */ ([]);
    /** The last points that the learner placed or pasted: the entry "your own" of the menu. */
    this.own = /** @type {Question | null} */ (null);
    this.player = 0;
    /** The open panels of the two columns where there is no room for all, and the last panel that was opened. */
    this.opened = { middle: "space", proof: "leaf" };
    this.shown = "leaf";
    this.speed = 1;
    /** Another order or rule whose run is compared, "" for none, and its run. */
    this.beside = { name: "", run: /** @type {Run | null} */ (null) };
    this.besides = new Latest((body) => host.ask("run", body), ({ run }) => { this.beside.run = run ?? null; this.draw(); });
    /** The parts that an embedded page shows, none for all. */
    this.parts = this.linked ? (new URLSearchParams(location.search).get("embed") ?? "").split(",").filter(Boolean) : [];
    this.tour = new Tour(() => this.frame.draw());
    this.challenges = new Challenges(this);
    this.runs = new Latest((body) => host.ask("run", body), (answer) => this.receive(answer), (error) => this.fail(error));
    this.pockets = new Latest((body) => host.ask("pocket", body), (found) => { this.pocket = found; this.draw(); });
    const shade = (/** @type {Sides} */ sides) => { this.sides = sides; this.draw(); };
    this.shades = new Latest((body) => host.ask("sides", body), shade, (error) => error instanceof Refusal && shade({ box: [0, 0, 1, 1], rows: [], sentence: error.message }));
    this.plane = new Plane(this);
    this.frame = new Frame(this, root, new Space(this), new Proof(this), new Step(this));
  }

  get hands() {
    return this.plane.hands;
  }

  get full() {
    return this.answer && this.answer.kind !== "empty" ? this.answer : null;
  }

  /** The sides of another rule that the plane shows instead of those of the line, or null. */
  get shading() {
    return this.predict || this.question.sides === "line" ? null : this.sides;
  }

  /** Start over with a question; `record` holds its answer if it is known.
   * @param {Question} question @param {RecordedAnswer} [record] */
  begin(question, record, moment = Infinity) {
    this.stop();
    this.hands.setMoving(false);
    Object.assign(this, { question: structuredClone(question), selected: -1, predict: null, trouble: "", moment, pocket: null, sides: null });
    this.plane.fit();
    this.answer = null; // the old answer is about other points
    if (!record) {
      this.draw();
      return this.ask();
    }
    for (const asked of [this.runs, this.pockets, this.shades]) asked.forget();
    this.receive(record.answer, record.pocket, record.sides ?? null);
    this.askBeside();
  }

  /** Compare the run with that of another order or rule. @param {string} name */
  compare(name) {
    this.beside = { name, run: null };
    this.askBeside();
    this.draw();
  }

  askBeside() {
    const { name } = this.beside;
    this.besides.forget();
    this.beside.run = null;
    const part = ORDERS.includes(name) ? { order: name } : { rule: name };
    if (name && this.question.points.length) this.besides.ask(brief({ ...this.question, ...part }));
  }

  /** Start over with a question from outside the page, if the library accepts it.
   * @param {Preset["question"]} question @param {number} [moment] */
  async open(question, moment) {
    const answer = await this.host.ask("run", question);
    if (this.answer) this.remember();
    this.lesson = "";
    this.begin(whole(question), { answer, pocket: null }, moment);
  }

  /** Change the question. @param {(question: Question) => void} edit @param {{remember?: boolean, rest?: boolean}} how */
  change(edit, { remember = true, rest = true } = {}) {
    if (remember) this.remember();
    edit(this.question);
    this.lesson = "";
    this.ask(rest);
  }

  /** Show the learner's own points again, or an empty plane if there are none. */
  openOwn() {
    this.remember();
    this.lesson = "";
    this.begin(this.own ?? whole({ points: [] }));
  }

  /** Remove all points; undo brings them back. */
  clear() {
    this.remember();
    this.lesson = "";
    this.begin({ ...this.question, points: [], mine: null });
  }

  remember() {
    this.warning = "";
    this.past.push(structuredClone({ question: this.question, view: this.plane.view }));
  }

  undo() {
    const before = this.past.pop();
    if (!before) return;
    this.question = before.question;
    this.plane.view = before.view;
    this.selected = Math.min(this.selected, this.question.points.length - 1);
    this.lesson = "";
    this.ask();
  }

  ask(rest = true) {
    this.predict = null;
    if (!this.lesson) this.own = this.question;
    this.runs.ask(brief(this.question));
    this.pockets.forget();
    this.askBeside();
    this.askSides();
    this.plane.drawPoints(); // the points follow the pointer at once; everything else waits for the answer
    this.frame.draw();
    if (rest) this.rest();
  }

  /** Write the link and ask for the rest once nothing has changed for a while. */
  rest() {
    window.clearTimeout(this.resting);
    this.resting = window.setTimeout(() => { this.writeLink(); this.askMore(); }, REST);
  }

  askMore() {
    if (!this.full) return;
    if (this.full.kind !== "separable" && !this.pocket && !this.runs.busy) this.pockets.ask(brief(this.question));
    if (JSON.stringify(this.sides?.box) !== JSON.stringify(this.plane.box())) this.askSides();
  }

  askSides() {
    if (this.question.sides !== "line") this.shades.ask({ question: brief(this.question), box: this.plane.box() });
  }

  /** Show an answer. If the old run was shown at its end, the new run is too. @param {Answer} answer @param {Pocket | null} pocket */
  receive(answer, pocket = null, sides = this.sides) {
    const ended = this.full !== null && this.moment >= lastMoment(this.full.run);
    Object.assign(this, { answer, trouble: "", pocket, sides });
    const last = this.full ? lastMoment(this.full.run) : 0;
    this.moment = ended ? last : Math.min(this.moment, last);
    this.draw();
    this.rest();
  }

  /** @param {unknown} error */
  fail(error) {
    const gone = !(error instanceof Refusal);
    this.trouble = gone ? "The server does not answer. Start novikoff lab again; this page then continues by itself." : error.message;
    this.draw();
    if (gone) window.setTimeout(() => this.host.ready().then(() => this.ask(), (again) => this.fail(again)), RETRY);
  }

  /** Open a panel. @param {string} name */
  show(name) {
    this.opened[name === "space" || name === "step" ? "middle" : "proof"] = this.shown = name;
    this.frame.draw();
  }

  /** @param {number} row */
  select(row) {
    this.selected = row;
    this.plane.drawPoints();
    this.frame.draw();
  }

  /** @param {number} moment */
  goTo(moment, playing = false) {
    if (!playing) this.stop();
    if (!this.full) return;
    this.moment = Math.min(lastMoment(this.full.run), Math.max(0, moment));
    this.draw();
    this.rest();
  }

  /** @param {string} way a name of the timeline's buttons */
  go(way) {
    const run = this.full?.run;
    if (!run) return;
    if (this.predict && this.predict.asked !== "done") {
      if (this.predict.asked === "row" && ["step", "next", "play"].includes(way)) this.reveal("");
      return;
    }
    if (way === "play") return this.player ? this.stop() : this.play();
    const { moment } = this;
    const moments = { first: 0, back: moment - 1, step: moment + 1, last: lastMoment(run), previous: previousMistake(run, moment), next: nextMistake(run, moment) };
    this.goTo(moments[/** @type {keyof typeof moments} */ (way)]);
  }

  play() {
    if (this.full && this.moment >= lastMoment(this.full.run)) this.goTo(0);
    this.player = window.setInterval(() => {
      if (!this.full || this.moment >= lastMoment(this.full.run)) return this.stop();
      this.goTo(nextMistake(this.full.run, this.moment), true);
    }, BEAT / this.speed);
    this.frame.draw();
  }

  /** @param {number} speed */
  setSpeed(speed) {
    this.speed = speed;
    if (!this.player) return;
    window.clearInterval(this.player);
    this.play();
  }

  stop() {
    window.clearInterval(this.player);
    this.player = 0;
    this.frame.draw();
  }

  /** Hide the rest of the run and let the learner predict it, or stop this. */
  togglePredict() {
    this.predict = this.predict ? null : { asked: "count", said: "" };
    this.goTo(this.predict ? 0 : this.moment);
  }

  /** Take a click on a point as the answer to “Which row causes the next update?”. @param {number} row */
  guessRow(row) {
    if (this.predict?.asked === "row") this.reveal(String(row + 1));
    return this.predict !== null;
  }

  /** Show what happens, and ask for the next prediction. @param {string} guess */
  reveal(guess) {
    const { full, predict } = this;
    if (!full || !predict) return;
    if (predict.asked === "done") return this.togglePredict();
    const { index } = full.run;
    if (predict.asked === "count") {
      const said = guess === NEVER ? "You say that it never ends. " : guess ? `You say ${guess}. ` : "";
      this.predict = { asked: "row", count: guess, said: `${said}Which row causes the first update?` };
      return index.length ? this.draw() : this.finishPrediction();
    }
    const { t } = momentOf(full.run, this.moment);
    const row = index[t] + 1;
    const heard = !guess ? "It" : Number(guess) === row ? "Yes! It" : `Not row ${guess}: it`;
    const said = `${heard} was row ${row}.`;
    if (t + 1 === index.length) return this.finishPrediction(`${said} `);
    this.predict = { ...predict, said: `${said} Which row causes the next update?` };
    this.goTo(nextMistake(full.run, this.moment));
  }

  /** Show the end of the run, and compare it with the predicted number of updates. */
  finishPrediction(said = "") {
    const { full, predict } = this;
    if (!full || !predict) return;
    this.predict = { ...predict, asked: "done", said: said + outcome(full, this.question, predict.count ?? "") };
    this.goTo(lastMoment(full.run));
  }

  draw() {
    this.plane.draw();
    this.frame.draw();
    for (const panel of this.frame.panels) panel.draw();
    this.challenges.draw();
  }

  writeLink() {
    if (this.linked) history.replaceState(null, "", `${location.pathname}${location.search}#${toLink(this.question, this.moment)}${this.challenges.link()}`);
  }

  /** @param {string} text */
  async paste(text) {
    await this.open({ ...this.question, ...fromTable(text), mine: null });
    this.own = this.question;
  }

  /** Show the points of a file that was dropped on the plane. @param {File} file */
  async openFile(file) {
    await file.text().then((text) => this.paste(text)).catch((error) => {
      this.trouble = `${file.name}: ${error.message}`;
      this.draw();
    });
  }
}

/** Open the page: what the link in the address asks for, or `own`, or the first preset.
 * @param {Host} host @param {() => Promise<Begin | null>} own */
export async function start(host, own) {
  const page = new LabPage(/** @type {HTMLElement} */ (document.getElementById("lab")), host);
  /** @type {Record<string, Preset>} */
  const menu = await host.record("menu");
  /** @param {string} name @param {{question?: Partial<Question>, at?: number, beside?: string}} how */
  const choose = async (name, { question = {}, at = menu[name].at, beside = menu[name].beside ?? "" } = {}) => {
    const changed = Object.keys(question).length > 0;
    const record = changed ? undefined : await host.record(name);
    page.lesson = menu[name].lesson;
    page.frame.data.value = name;
    page.beside = { name: beside, run: null };
    page.begin(whole({ ...menu[name].question, ...question }), record, at);
  };
  page.frame.startTour = async (scene = 0) => {
    page.remember();
    page.challenges.end();
    await page.tour.start(await host.record("tour"), scene, async (scene) => {
      await choose(scene.preset, scene);
      page.show(scene.panel);
    });
  };
  page.challenges.offer(menu, await host.record("challenges"));
  page.frame.menu(menu, page.challenges.all, (name) => {
    page.challenges.end();
    if (page.tour.at >= 0) page.tour.go(-1);
    if (!name) return page.openOwn();
    page.remember();
    if (name in menu) choose(name);
    else page.challenges.start(name);
  });
  let shown = "";
  /** @param {string} text of a link, or "" */
  const begin = async (text) => {
    shown = text;
    if (text) {
      const { question, moment, tour, challenge, score } = fromLink(text);
      if (tour) return page.frame.startTour(tour - 1);
      if (challenge in page.challenges.all && !question.points.length) return page.challenges.start(challenge);
      if (challenge && !(challenge in page.challenges.all)) throw new Error(`There is no challenge “${challenge}”.`);
      await page.open(question, moment);
      return page.challenges.resume(challenge, score);
    }
    const given = await own();
    if (!given) await choose("two_clouds");
    else {
      page.begin(whole(given.question), undefined, given.moment ?? 0);
      page.lesson = given.title ?? "";
      page.own = page.question;
    }
    // A visitor sees the run before the first click.
    if (given?.moment === undefined && !matchMedia("(prefers-reduced-motion: reduce)").matches) page.play();
  };
  const open = (text = location.hash.slice(1)) => begin(text).catch(async (error) => {
    await choose("two_clouds");
    page.warning = `The link in this address cannot be opened. ${/** @type {Error} */ (error).message}`;
    page.draw();
  });
  window.addEventListener("hashchange", () => open());
  // A page around this page can ask for the points of a link, a panel and an update.
  window.addEventListener("message", async ({ data }) => {
    if (!Object.values(PANELS).includes(data?.panel)) return;
    if (typeof data.link === "string" && data.link !== shown) await open(data.link);
    page.show(data.panel);
    if (page.full && Number.isInteger(data.t)) page.goTo(afterUpdate(page.full.run, Math.min(data.t, page.full.run.index.length)));
  });
  await open();
  return page;
}

/** The page of `novikoff lab`. */
export async function startServed() {
  const page = await start(servedHost(), () => (new URLSearchParams(location.search).has("token") ? load(`/api/data${location.search}`) : Promise.resolve(null)));
  watchReady(page);
}

/** Say what is being compiled until everything is ready. @param {LabPage} page */
async function watchReady(page) {
  const stages = await page.host.ready().catch(() => [{ name: "library", done: false }]);
  const next = stages.find(({ done }) => !done);
  page.frame.status.textContent = next ? `Compiling the ${next.name} …` : "";
  if (next) window.setTimeout(() => watchReady(page), RETRY);
}

/** The page in a notebook. @param {HTMLElement} root @param {Host} host @param {Preset["question"]} question */
export function startWidget(root, host, question) {
  const node = h("div", { class: "lab embedded" });
  refill(root, node);
  new LabPage(node, host).begin(whole(question));
}
