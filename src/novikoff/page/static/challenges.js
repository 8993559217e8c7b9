/** Challenges: tasks whose score is computed from the state of the page, and never taken from a link. */

import { button, h, refill } from "./dom.js";
import { used, whole } from "./link.js";
import { words } from "./words.js";

/** @typedef {{title: string, goal: string, preset: string, question?: Partial<Question>, beside?: string,
 *   panel: string}} Challenge */
/** @typedef {{text: string, done: boolean}} Score */

/** The score of each challenge; a text alone says what the rules are.
 * @type {Record<string, (lab: Lab, full: Full, given: Question) => Score | string>} */
const SCORES = {
  bound({ question }, { kind, reference, run }) {
    const { points, mine, rule, start, threshold } = used(question);
    const labels = new Set(points.map(([, , label]) => label));
    if (kind !== "separable" || points.length < 3 || labels.size < 2) return words.challenge.threePoints;
    if (rule !== "perceptron" || mine || start || threshold) return words.challenge.plainBest;
    const [made, most] = [run.index.length, reference?.bound ?? Infinity];
    return { text: words.challenge.ofBound(made, String(reference?.bound_text)), done: made === most };
  },
  label({ question }, { kind }, { points }) {
    if (!samePlaces(question, points)) return words.challenge.onlyLabels;
    const flips = points.filter(([, , label], row) => label !== question.points[row][2]).length;
    const apart = kind === "separable";
    return { text: words.challenge.flipped(flips, apart), done: apart && flips === 1 };
  },
  order({ beside, question }, { run }, { points }) {
    if (!samePoints(question, points)) return words.challenge.onlyOrder;
    const { bias, rule, start, threshold } = used(question);
    if (rule !== "perceptron" || start || threshold || !bias) return words.challenge.plainBias;
    if (beside.name !== "cyclic" || !beside.run) return words.challenge.compare;
    const [made, plain] = [run.index.length, beside.run.index.length];
    return { text: words.challenge.instead(made, plain), done: made >= 2 * plain };
  },
  line({ pocket, question }, { reference }, { points }) {
    if (!samePoints(question, points)) return words.challenge.onlyLine;
    if (!question.mine || !reference) return words.challenge.chooseMine;
    if (!question.bias) return words.challenge.onlyLine;
    const wrong = reference.wrong.length;
    return { text: words.challenge.mistakes(wrong), done: pocket !== null && wrong === pocket.bound };
  },
};

/** Whether all points are where they were. @param {Question} question @param {Point[]} points */
const samePlaces = (question, points) => points.length === question.points.length &&
  points.every(([x, y], row) => x === question.points[row][0] && y === question.points[row][1]);

/** Whether all points are where they were and have their labels.
 * @param {Question} question @param {Point[]} points */
const samePoints = (question, points) =>
  samePlaces(question, points) && points.every(([, , label], row) => label === question.points[row][2]);

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
    this.node = h("section", {
      class: "panel tour challenge",
      "aria-label": words.challenge.label,
      hidden: true,
    });
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
    const end = button("clear", words.challenge.end, () => this.end(), { id: "end-challenge" });
    refill(
      this.node,
      h("header", {}, h("h2", {}, words.challenge.heading(title)), end),
      h("p", {}, goal),
      this.score,
    );
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
    const found =
      this.name && full ? SCORES[this.name](this.lab, full, this.given(this.name)) : words.challenge.place;
    return typeof found === "string" ? { text: found, done: false } : found;
  }

  draw() {
    if (!this.name) return;
    const { text, done } = this.result();
    const { solved, sameClaim, otherClaim } = words.challenge;
    const claim = this.claimed && (this.claimed === text ? sameClaim : otherClaim(this.claimed));
    const sentence = text.endsWith(".") ? text : `${text}.`;
    this.score.textContent = [sentence, done && solved, claim].filter(Boolean).join(" ");
    this.node.classList.toggle("done", done);
  }

  /** The part of a link that names the challenge and its score. */
  link() {
    return this.name ? `&challenge=${this.name}&score=${encodeURIComponent(this.result().text)}` : "";
  }
}
