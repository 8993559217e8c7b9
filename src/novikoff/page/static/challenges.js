/** Challenges: tasks whose score is computed from the state of the page, and never taken from a link. */

import { button, h, refill } from "./dom.js";
import { used, whole } from "./link.js";

/** @typedef {{title: string, goal: string, preset: string, question?: Partial<Question>, beside?: string, panel: string}} Challenge */
/** @typedef {{text: string, done: boolean}} Score */

/** The score of each challenge; a text alone says what the rules are. @type {Record<string, (lab: Lab, full: Full, given: Question) => Score | string>} */
const SCORES = {
  bound({ question }, { kind, reference, run }) {
    const { points, mine, rule, start, threshold } = used(question);
    if (kind !== "separable" || points.length < 3 || new Set(points.map(([, , label]) => label)).size < 2) return "At least three points with both labels, which a line separates.";
    if (rule !== "perceptron" || mine || start || threshold) return "The plain perceptron counts: the best w*, w₀ = 0 and δ = 0.";
    const [made, most] = [run.index.length, reference?.bound ?? Infinity];
    return { text: `${made} of ${reference?.bound_text} mistakes`, done: made === most };
  },
  label({ question }, { kind }, { points }) {
    if (!samePlaces(question, points)) return "Only labels may change: undo what moved.";
    const flips = points.filter(([, , label], row) => label !== question.points[row][2]).length;
    return { text: `${flips} label${flips === 1 ? "" : "s"} flipped${kind === "separable" ? ", and a line separates" : ""}`, done: kind === "separable" && flips === 1 };
  },
  order({ beside, question }, { run }, { points }) {
    if (!samePlaces(question, points) || points.some(([, , label], row) => label !== question.points[row][2])) return "Only the order and its seed may change: undo the rest.";
    const { bias, rule, start, threshold } = used(question);
    if (rule !== "perceptron" || start || threshold || !bias) return "The plain perceptron counts: a bias, w₀ = 0 and δ = 0.";
    if (beside.name !== "cyclic" || !beside.run) return "Compare with the cyclic order.";
    const [made, plain] = [run.index.length, beside.run.index.length];
    return { text: `${made} mistakes instead of ${plain}`, done: made >= 2 * plain };
  },
  line({ pocket, question }, { reference }, { points }) {
    if (!samePlaces(question, points) || points.some(([, , label], row) => label !== question.points[row][2])) return "Only the line may move: undo the rest.";
    if (!question.mine || !reference) return "Choose w*: mine, and drag the two handles of the line.";
    const wrong = reference.wrong.length;
    return { text: `${wrong} mistake${wrong === 1 ? "" : "s"}`, done: pocket !== null && wrong === pocket.bound };
  },
};

/** Whether all points are where they were. @param {Question} question @param {Point[]} points */
const samePlaces = (question, points) => points.length === question.points.length && points.every(([x, y], row) => x === question.points[row][0] && y === question.points[row][1]);

export class Challenges {
  /** @param {Lab} lab */
  constructor(lab) {
    this.lab = lab;
    this.all = /** @type {Record<string, Challenge>} */ ({});
    this.menu = /** @type {Record<string, Preset>} */ ({});
    /** The name of the present challenge, "" for none, and the score that a link claims. */
    this.name = "";
    this.claimed = "";
    this.score = h("p", { class: "score", "aria-live": "polite" });
    this.node = h("section", { class: "panel tour challenge", "aria-label": "Challenge", hidden: true });
  }

  /** @param {Record<string, Preset>} menu @param {Record<string, Challenge>} all */
  offer(menu, all) {
    Object.assign(this, { menu, all });
  }

  /** The question that a challenge begins with. @param {string} name @returns {Question} */
  given(name) {
    const { preset, question } = this.all[name];
    return whole({ ...this.menu[preset].question, ...question });
  }

  /** @param {string} name */
  start(name) {
    this.lab.lesson = this.all[name].title; // these are not the learner's own points
    this.lab.begin(this.given(name), undefined, 0);
    this.resume(name, "");
  }

  /** Go on with a challenge from a link. @param {string} name @param {string} claimed */
  resume(name, claimed) {
    this.end();
    if (!Object.hasOwn(this.all, name)) return;
    const { title, goal, beside = "", panel } = this.all[name];
    Object.assign(this, { name, claimed });
    refill(this.node, h("header", {}, h("h2", {}, `Challenge: ${title}`), button("clear", "End the challenge", () => this.end(), { id: "end-challenge" })), h("p", {}, goal), this.score);
    this.node.hidden = false;
    this.lab.show(panel);
    this.lab.compare(beside);
  }

  end() {
    if (!this.name) return;
    Object.assign(this, { name: "", claimed: "" });
    this.node.hidden = true;
    this.lab.lesson = "";
    this.lab.compare("");
  }

  /** The score, or what is missing for one. @returns {Score} */
  result() {
    const { full } = this.lab;
    const found = this.name && full ? SCORES[this.name](this.lab, full, this.given(this.name)) : "Place points.";
    return typeof found === "string" ? { text: found, done: false } : found;
  }

  draw() {
    if (!this.name) return;
    const { text, done } = this.result();
    const claim = !this.claimed ? "" : this.claimed === text ? " The link says the same." : ` The link says: ${this.claimed}.`;
    this.score.textContent = `${text}${done ? ". Solved! Link copies your solution." : "."}${claim}`.replace("..", ".");
    this.node.classList.toggle("done", done);
  }

  /** The part of a link that names the challenge and its score. */
  link() {
    return this.name ? `&challenge=${this.name}&score=${encodeURIComponent(this.result().text)}` : "";
  }
}
