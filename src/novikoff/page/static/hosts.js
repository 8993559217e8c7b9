/** Where answers come from, and how only the latest answer is shown. */

import { words } from "./words.js";

/** The library rejects a question; the message says why. */
export class Refusal extends Error {}

/** @param {string} address @param {RequestInit} [options] */
export async function load(address, options) {
  const reply = await fetch(address, options);
  if (!reply.ok) throw new Refusal(await reply.text());
  return reply.json();
}

/** What the page says about a host with the library behind it, and the files that it writes. */
export const LIBRARY = {
  name: words.hosts.library,
  about: words.hosts.aboutLibrary,
  forms: ["html", "csv", "python", "certificate"],
};

/** The server of `novikoff lab`. @returns {Host} */
export const servedHost = () => ({
  ...LIBRARY,
  ask: (what, body) =>
    load(`/api/${what}`, {
      method: "POST",
      headers: { "content-type": "application/json" },
      body: JSON.stringify(body),
    }),
  ready: () => load("/api/ready"),
  record: (name) => load(`/static/presets/${name}.json`),
});

/** Sends one question at a time. While it waits for the answer, it keeps only the newest of the
 * later questions. It drops the answer to a question that is older than the one shown. */
export class Latest {
  /** @param {(body: any) => Promise<any>} send
   * @param {(answer: any) => void} show @param {(error: unknown) => void} fail */
  constructor(send, show, fail = () => {}) {
    this.send = send;
    this.show = show;
    this.fail = fail;
    this.asked = 0;
    this.shown = 0;
    this.busy = false;
    this.waiting = /** @type {{body: any, number: number} | null} */ (null);
  }

  /** Drop all questions and answers that are under way: what is shown now is newer. */
  forget() {
    this.waiting = null;
    this.shown = ++this.asked;
  }

  /** @param {any} body */
  ask(body) {
    this.waiting = { body, number: ++this.asked };
    if (!this.busy) this.next();
  }

  async next() {
    if (!this.waiting) return;
    const { body, number } = this.waiting;
    this.waiting = null;
    this.busy = true;
    const [answer, error] = await this.send(body).then((good) => [good, null], (bad) => [null, bad]);
    this.busy = false;
    if (number > this.shown) {
      this.shown = number;
      if (error) this.fail(error);
      else this.show(answer);
    }
    this.next();
  }
}
