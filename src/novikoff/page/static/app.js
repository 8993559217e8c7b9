/** The page: its state, and when it asks the library for answers. The panels draw the state. */

import { Challenges } from "./challenges.js";
import { h, refill } from "./dom.js";
import { Latest, Refusal, load, servedHost } from "./hosts.js";
import { PANELS } from "./keys.js";
import { Layout } from "./layout.js";
import { ORDERS, brief, fromLink, fromTable, toLink, whole } from "./link.js";
import { Plane } from "./plane.js";
import { NEVER, afterUpdate, lastMoment, momentOf, nextMistake, outcome, previousMistake } from "./run.js";
import { Tour } from "./tour.js";
import { words } from "./words.js";

const QUIET = 150; // milliseconds without a change before the page asks for the pocket and writes the link
const BEAT = 700; // milliseconds between two steps of the player
const RETRY = 1000; // milliseconds until the page asks a server again that did not answer
const FIRST = "two_clouds"; // the preset that opens where nothing else is asked for

export class LabPage {
  /** @param {HTMLElement} root @param {Host} host */
  constructor(root, host) {
    this.root = root;
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
    /** The name of the preset that was opened last. */
    this.preset = "";
    /** What the server is doing before it can answer. */
    this.status = "";
    this.trouble = "";
    /** What is wrong with the link that was opened; it stays until the next change. */
    this.warning = "";
    this.past = /** @type {{question: Question, view: Plane["view"]}[]} */ ([]);
    /** The last points that the learner placed or pasted: the entry "your own" of the menu. */
    this.own = /** @type {Question | null} */ (null);
    this.player = 0;
    /** The open panels of the two columns where there is no room for all, and the last panel that was
     * opened. */
    this.opened = { middle: "space", proof: "leaf" };
    this.shown = "leaf";
    this.speed = 1;
    /** Another order or rule whose run is compared, "" for none, and its run. */
    this.beside = { name: "", run: /** @type {Run | null} */ (null) };
    /** The parts that an embedded page shows, none for all. */
    this.parts = this.linked
      ? (new URLSearchParams(location.search).get("embed") ?? "").split(",").filter(Boolean)
      : [];
    this.menu = /** @type {Record<string, Preset>} */ ({});
    this.tour = new Tour(() => this.drawAround());
    this.challenges = new Challenges(this);
    const shade = (/** @type {Sides} */ sides) => {
      this.sides = sides;
      this.draw();
    };
    const fail = (/** @type {unknown} */ error) => this.fail(error);
    this.runs = new Latest((body) => host.ask("run", body), (answer) => this.receive(answer), fail);
    this.besides = new Latest((body) => host.ask("run", body), ({ run }) => {
      this.beside.run = run ?? null;
      this.draw();
    });
    this.pockets = new Latest((body) => host.ask("pocket", body), (found) => {
      this.pocket = found;
      this.draw();
    });
    this.shades = new Latest((body) => host.ask("sides", body), shade, (error) => {
      if (error instanceof Refusal) shade({ box: [0, 0, 1, 1], rows: [], sentence: error.message });
    });
    this.plane = new Plane(this);
    this.layout = new Layout(this, root);
  }

  get full() {
    return this.answer && this.answer.kind !== "empty" ? this.answer : null;
  }

  /** The entry of the menu that is shown: a challenge, a preset, or "" for the learner's own points. */
  get chosen() {
    return this.challenges.name || (this.lesson ? this.preset : "");
  }

  /** Whether the answer belongs to the present question. */
  get settled() {
    return this.runs.shown === this.runs.asked;
  }

  /** The sides of another rule that the plane shows instead of those of the line, or null. */
  get shading() {
    return this.predict || this.question.sides === "line" ? null : this.sides;
  }

  /** Start over with a question; `record` holds its answer if it is known.
   * @param {Question} question @param {RecordedAnswer} [record] */
  begin(question, record, moment = Infinity) {
    this.stop();
    this.plane.pointer.setMoving(false);
    Object.assign(this, {
      question: structuredClone(question),
      selected: -1,
      predict: null,
      trouble: "",
      moment,
      pocket: null,
      sides: null,
    });
    this.plane.fit();
    this.answer = null; // the old answer is about other points
    if (!record) {
      this.draw();
      this.ask();
      return this.askLater();
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

  /** Change the question.
   * @param {(question: Question) => void} edit @param {{remember?: boolean, dragging?: boolean}} how */
  change(edit, { remember = true, dragging = false } = {}) {
    if (remember) this.remember();
    edit(this.question);
    this.lesson = "";
    this.ask();
    if (!dragging) this.askLater();
  }

  /** Multiply all points by a number, then move them.
   * @param {number} factor @param {number} dx @param {number} dy */
  move(factor, dx, dy) {
    const near = (/** @type {number} */ value) => Number(value.toPrecision(9));
    this.change(({ points }) => points.forEach((point) => {
      point.splice(0, 2, near(factor * point[0] + dx), near(factor * point[1] + dy));
    }));
    this.plane.fit();
    this.draw();
  }

  /** Shade the plane by another rule. @param {string} sides */
  shade(sides) {
    this.question.sides = sides;
    this.shades.forget();
    this.sides = null;
    this.draw();
    this.askLater();
  }

  /** @param {boolean} on */
  showAverage(on) {
    this.averaged = on;
    this.draw();
  }

  /** Say what went wrong, until the next answer. @param {string} sentence */
  complain(sentence) {
    this.trouble = sentence;
    this.draw();
  }

  askTable() {
    this.layout.dialogs.askTable();
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
    this.askLater();
  }

  ask() {
    this.predict = null;
    if (!this.lesson) this.own = this.question;
    this.runs.ask(brief(this.question));
    this.pockets.forget();
    this.askBeside();
    this.askSides();
    this.plane.drawPoints(); // the points follow the pointer at once; everything else waits for the answer
    this.drawAround();
  }

  /** Write the link, and ask for what takes longer, once nothing has changed for a while. */
  askLater() {
    window.clearTimeout(this.timer);
    this.timer = window.setTimeout(() => {
      this.writeLink();
      this.askMore();
    }, QUIET);
  }

  askMore() {
    if (!this.full) return;
    if (this.full.kind !== "separable" && !this.pocket && !this.runs.busy)
      this.pockets.ask(brief(this.question));
    if (JSON.stringify(this.sides?.box) !== JSON.stringify(this.plane.box())) this.askSides();
  }

  askSides() {
    if (this.question.sides !== "line")
      this.shades.ask({ question: brief(this.question), box: this.plane.box() });
  }

  /** Show an answer. If the old run was shown at its end, the new run is too.
   * @param {Answer} answer @param {Pocket | null} pocket */
  receive(answer, pocket = null, sides = this.sides) {
    const ended = this.full !== null && this.moment >= lastMoment(this.full.run);
    Object.assign(this, { answer, trouble: "", pocket, sides });
    const last = this.full ? lastMoment(this.full.run) : 0;
    this.moment = ended ? last : Math.min(this.moment, last);
    this.draw();
    this.askLater();
  }

  /** @param {unknown} error */
  fail(error) {
    if (error instanceof Refusal) return this.complain(error.message);
    this.complain(words.page.gone);
    const again = () => {
      this.ask();
      this.askLater();
    };
    window.setTimeout(() => this.host.ready().then(again, (failure) => this.fail(failure)), RETRY);
  }

  /** Open a panel. @param {string} name */
  show(name) {
    this.opened[name === "space" || name === "step" ? "middle" : "proof"] = this.shown = name;
    this.drawAround();
  }

  /** @param {number} row */
  select(row) {
    this.selected = row;
    this.plane.drawPoints();
    this.drawAround();
  }

  /** @param {number} moment */
  goTo(moment, playing = false) {
    if (!playing) this.stop();
    if (!this.full) return;
    this.moment = Math.min(lastMoment(this.full.run), Math.max(0, moment));
    this.draw();
    this.askLater();
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
    const moments = {
      first: 0, back: moment - 1, step: moment + 1, last: lastMoment(run),
      previous: previousMistake(run, moment), next: nextMistake(run, moment),
    };
    this.goTo(moments[/** @type {keyof typeof moments} */ (way)]);
  }

  play() {
    if (this.full && this.moment >= lastMoment(this.full.run)) this.goTo(0);
    this.player = window.setInterval(() => {
      if (!this.full || this.moment >= lastMoment(this.full.run)) return this.stop();
      this.goTo(nextMistake(this.full.run, this.moment), true);
    }, BEAT / this.speed);
    this.drawAround();
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
    this.drawAround();
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
    const { heard, heardNever, row: was, whichFirst, whichNext } = words.predict;
    if (predict.asked === "count") {
      const said = guess === NEVER ? heardNever : guess ? heard(Number(guess)) : "";
      this.predict = { asked: "row", count: guess, said: said + whichFirst };
      return index.length ? this.draw() : this.finishPrediction();
    }
    const { t } = momentOf(full.run, this.moment);
    const said = was(index[t], guess ? Number(guess) - 1 : null);
    if (t + 1 === index.length) return this.finishPrediction(`${said} `);
    this.predict = { ...predict, said: said + whichNext };
    this.goTo(nextMistake(full.run, this.moment));
  }

  /** Show the end of the run, and compare it with the predicted number of updates. */
  finishPrediction(said = "") {
    const { full, predict } = this;
    if (!full || !predict) return;
    this.predict = {
      ...predict,
      asked: "done",
      said: said + outcome(full, this.question, predict.count ?? ""),
    };
    this.goTo(lastMoment(full.run));
  }

  draw() {
    this.plane.draw();
    this.drawAround();
    this.layout.drawPanels();
    this.challenges.draw();
  }

  /** Draw what stands around the panels. */
  drawAround() {
    this.layout.draw();
  }

  writeLink() {
    if (!this.linked) return;
    const link = toLink(this.question, this.moment) + this.challenges.link();
    history.replaceState(null, "", `${location.pathname}${location.search}#${link}`);
  }

  /** @param {string} text */
  async paste(text) {
    await this.open({ ...this.question, ...fromTable(text), mine: null });
    this.own = this.question;
  }

  /** Show the points of a file that was dropped on the plane. @param {File} file */
  async openFile(file) {
    await file.text().then((text) => this.paste(text))
      .catch((error) => this.complain(words.files.failed(file.name, error.message)));
  }


  /** Open a preset.
   * @param {string} name @param {{question?: Partial<Question>, at?: number, beside?: string}} how */
  async choose(name, { question = {}, at = this.menu[name].at, beside = this.menu[name].beside ?? "" } = {}) {
    const record = Object.keys(question).length > 0 ? undefined : await this.host.record(name);
    Object.assign(this, {
      lesson: this.menu[name].lesson,
      preset: name,
      beside: { name: beside, run: null },
    });
    this.begin(whole({ ...this.menu[name].question, ...question }), record, at);
  }

  /** Open an entry of the menu: a preset, a challenge, or "" for the learner's own points.
   * @param {string} name */
  pick(name) {
    this.root.dataset.settled = "false";
    this.challenges.end();
    if (this.tour.at >= 0) this.tour.go(-1);
    if (!name) return this.openOwn();
    this.remember();
    if (name in this.menu) this.choose(name);
    else this.challenges.start(name);
  }

  async startTour(scene = 0) {
    this.remember();
    this.challenges.end();
    await this.tour.start(await this.host.record("tour"), scene, async (scene) => {
      await this.choose(scene.preset, scene);
      this.show(scene.panel);
    });
  }

  /** Open what a link asks for. @param {string} text */
  async openLink(text) {
    const { question, moment, tour, challenge, score } = fromLink(text);
    const { all } = this.challenges;
    if (tour) return this.startTour(tour - 1);
    if (this.tour.at >= 0) this.tour.go(-1);
    const known = Object.hasOwn(all, challenge);
    if (known && !question.points.length) return this.challenges.start(challenge);
    if (challenge && !known) throw new Error(words.page.noChallenge(challenge));
    await this.open(question, moment);
    this.challenges.resume(challenge, score);
  }

  /** Open what this page was written for, or the first preset. @param {Begin | null} given */
  async openGiven(given) {
    if (!given) await this.choose(FIRST);
    else {
      this.begin(whole(given.question), undefined, given.moment ?? 0);
      this.lesson = given.title ?? "";
      this.own = this.question;
    }
    // A visitor sees the run before the first click.
    if (given?.moment === undefined && !matchMedia("(prefers-reduced-motion: reduce)").matches) this.play();
  }
}

/** Open the page: what the link in the address asks for, or `own`, or the first preset.
 * @param {Host} host @param {() => Promise<Begin | null>} own */
export async function start(host, own) {
  const page = new LabPage(/** @type {HTMLElement} */ (document.getElementById("lab")), host);
  page.menu = await host.record("menu");
  page.challenges.offer(page.menu, await host.record("challenges"));
  page.layout.tools.offer(page.menu, page.challenges.all);
  let shown = "";
  const open = async (text = location.hash.slice(1)) => {
    shown = text;
    try {
      await (text ? page.openLink(text) : page.openGiven(await own()));
    } catch (error) {
      await page.choose(FIRST);
      page.warning = words.page.badLink(/** @type {Error} */ (error).message);
      page.draw();
    }
  };
  window.addEventListener("hashchange", () => open());
  // A page around this page can ask for the points of a link, a panel and an update.
  window.addEventListener("message", async ({ data }) => {
    if (!Object.values(PANELS).includes(data?.panel)) return;
    if (typeof data.link === "string" && data.link !== shown) await open(data.link);
    page.show(data.panel);
    const run = page.full?.run;
    if (run && Number.isInteger(data.t)) page.goTo(afterUpdate(run, Math.min(data.t, run.index.length)));
  });
  await open();
  return page;
}

/** The page of `novikoff lab`. */
export async function startServed() {
  const tokened = new URLSearchParams(location.search).has("token");
  const page = await start(servedHost(), async () => (tokened ? load(`/api/data${location.search}`) : null));
  watchReady(page);
}

/** Say what is being compiled until everything is ready. @param {LabPage} page */
async function watchReady(page) {
  const stages = await page.host.ready().catch(() => [{ name: words.page.library, done: false }]);
  const next = stages.find(({ done }) => !done);
  page.status = next ? words.page.compiling(next.name) : "";
  page.drawAround();
  if (next) window.setTimeout(() => watchReady(page), RETRY);
}

/** The page in a notebook.
 * @param {HTMLElement} root @param {Host} host @param {Preset["question"]} question */
export function startWidget(root, host, question) {
  const node = h("div", { class: "lab embedded" });
  refill(root, node);
  new LabPage(node, host).begin(whole(question));
}
