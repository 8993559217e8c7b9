/** Input on the plane by mouse, touch and keyboard: points, and the learner's own line.
 *
 * A pointer takes the nearest point or handle, whatever is drawn on top of it. Arrow keys move a point
 * or a handle only after Enter, and the page shows this state; all other keys keep their meaning. */

import { keep, s } from "./dom.js";
import { words } from "./words.js";

/** @typedef {import("./plane.js").Plane} Plane */

const NUDGE = 0.05; // how far an arrow key moves a point
const SLIP = 4; // pixels that the pointer may move during a click
const REACH = 20; // a pointer takes a point or a handle that is at most this many pixels away
/** @type {Record<string, Spot>} */
const ARROWS = { ArrowLeft: [-1, 0], ArrowRight: [1, 0], ArrowUp: [0, 1], ArrowDown: [0, -1] };

export class Pointer {
  /** @param {Lab} lab @param {Plane} plane */
  constructor(lab, plane) {
    this.lab = lab;
    this.plane = plane;
    /** What the pointer holds: a point, a handle, or neither; then a click adds a point.
     * @type {{row: number, handle: number, x: number, y: number, moved: boolean, spots: Spot[]} | null} */
    this.grip = null;
    /** Whether the arrow keys move the element that has the focus. */
    this.moving = false;
    const { node } = plane;
    node.addEventListener("pointerdown", (event) => this.down(event));
    node.addEventListener("pointermove", (event) => this.move(event));
    node.addEventListener("pointerup", (event) => this.up(event));
    node.addEventListener("pointercancel", () => { this.grip = null; });
    node.addEventListener("pointerleave", () => { if (!this.grip) plane.point(-1); });
    node.addEventListener("dblclick", (event) => {
      const { row } = this.nearest(event);
      if (row >= 0) this.flip(row);
    });
    node.addEventListener("contextmenu", (event) => this.menu(event));
    node.addEventListener("dragover", (event) => event.preventDefault());
    node.addEventListener("drop", (event) => {
      event.preventDefault();
      if (event.dataTransfer?.files[0]) lab.openFile(event.dataTransfer.files[0]);
    });
    node.addEventListener("keydown", (event) => {
      if (!this.key(event)) return;
      event.preventDefault();
      event.stopPropagation();
    });
    node.addEventListener("focusin", (event) => {
      const { row } = touched(event);
      if (row >= 0 && row !== lab.selected) lab.select(row);
      plane.point(row);
    });
    node.addEventListener("focusout", () => this.setMoving(false));
  }

  /** The coordinates under a pointer, rounded to about a pixel, inside the view.
   * @param {MouseEvent} event @returns {Spot} */
  under(event) {
    const [box, scale] = [this.plane.box(), this.plane.scale];
    const frame = this.plane.node.getBoundingClientRect();
    const shares = [
      (event.clientX - frame.left) / frame.width,
      (frame.bottom - event.clientY) / frame.height,
    ];
    const [x, y] = shares.map((share, k) => {
      const value = box[k] + Math.min(0.985, Math.max(0.015, share)) * (box[k + 2] - box[k]);
      return Number(value.toFixed(Math.max(0, Math.ceil(Math.log10(scale[k])))));
    });
    return [x, y];
  }

  /** The nearest point or handle within reach of a pointer; -1 for none. @param {MouseEvent} event */
  nearest(event) {
    const frame = this.plane.node.getBoundingClientRect();
    const [x, y] = [event.clientX - frame.left, event.clientY - frame.top];
    const far = (/** @type {Spot} */ [px, py]) => Math.hypot(px - x, py - y);
    const rows = this.lab.question.points.map((_, row) => far(this.plane.at(row)));
    const handles = this.handles().map((spot) => far(this.plane.place(spot)));
    const [row, handle] = [rows, handles].map((distances) =>
      distances.indexOf(Math.min(REACH, ...distances)),
    );
    return handle >= 0 && handles[handle] < (rows[row] ?? Infinity)
      ? { row: -1, handle }
      : { row, handle: -1 };
  }

  /** Right-click: flip the nearest point, or add a point of the other label. @param {MouseEvent} event */
  menu(event) {
    const { lab } = this;
    event.preventDefault();
    if (lab.predict) return;
    const { row, handle } = this.nearest(event);
    if (row >= 0) this.flip(row);
    else if (handle < 0) this.add(...this.under(event), -lab.newLabel);
  }

  /** @param {PointerEvent} event */
  down(event) {
    const { lab } = this;
    const { row, handle } = this.nearest(event);
    if (event.button !== 0 || (row >= 0 && lab.guessRow(row))) return;
    const spots = this.handles();
    this.grip = { row, handle, x: event.clientX, y: event.clientY, moved: false, spots };
    if (row >= 0) lab.select(row);
    this.plane.node.setPointerCapture(event.pointerId);
  }

  /** @param {PointerEvent} event */
  move(event) {
    const { grip, lab } = this;
    if (!grip && !event.buttons) return this.plane.point(this.nearest(event).row);
    if (!grip || (!grip.moved && Math.hypot(event.clientX - grip.x, event.clientY - grip.y) < SLIP)) return;
    if (!grip.moved && (grip.row >= 0 || grip.handle >= 0)) lab.remember();
    grip.moved = true;
    const spot = this.under(event);
    const put = (/** @type {Question} */ { points }) => { points[grip.row].splice(0, 2, ...spot); };
    if (grip.row >= 0) lab.change(put, { remember: false, dragging: true });
    else if (grip.handle >= 0) this.hold(grip.handle, spot, grip.spots);
  }

  /** @param {PointerEvent} event */
  up(event) {
    const { grip, lab } = this;
    this.grip = null;
    if (!grip) return;
    if (grip.row < 0 && grip.handle < 0 && !grip.moved) this.add(...this.under(event));
    else if (grip.moved && grip.row >= 0) lab.change(() => {}, { remember: false });
    if (grip.row >= 0) this.focus(grip.row);
    if (grip.handle >= 0) /** @type {SVGElement} */ (this.plane.layers.handles.children[grip.handle]).focus();
  }

  /** Begin or end the state in which the arrow keys move a point or a handle. @param {boolean} moving */
  setMoving(moving) {
    if (this.moving === moving) return;
    this.moving = moving;
    this.plane.drawPoints();
    this.lab.drawAround();
  }

  /** Handle a key; return whether it meant something. @param {KeyboardEvent} event */
  key(event) {
    const { lab, plane } = this;
    const { row, handle } = touched(event);
    if (event.ctrlKey || event.metaKey || event.altKey || (row < 0 && handle < 0)) return false;
    const count = lab.question.points.length;
    const letter = event.key.toLowerCase();
    const [dx, dy] = ARROWS[event.key] ?? [0, 0];
    const size = (event.shiftKey ? 10 : 1) * NUDGE;
    const { halfX, halfY } = plane.view;
    const [across, up] = plane.even ? [size, size] : [size * halfX / 2.5, size * halfY / 2.5];
    const arrow = this.moving && (dx !== 0 || dy !== 0);
    if (row >= 0 && letter === "n") this.focus((row + 1) % count);
    else if (row >= 0 && letter === "p") this.focus((row + count - 1) % count);
    else if (letter === "enter" && row >= 0 && lab.predict) lab.guessRow(row);
    else if (letter === "enter") this.setMoving(!this.moving);
    else if (letter === "escape" && this.moving) this.setMoving(false);
    else if (row >= 0 && letter === "f") this.flip(row);
    else if (row >= 0 && (letter === "delete" || letter === "backspace")) this.remove(row);
    else if (row >= 0 && arrow) {
      lab.change(({ points }) => {
        const [x, y] = points[row];
        points[row].splice(
          0,
          2,
          Number((x + dx * across).toPrecision(9)),
          Number((y + dy * up).toPrecision(9)),
        );
      });
    } else if (handle >= 0 && arrow) {
      const spots = this.handles();
      this.hold(handle, [spots[handle][0] + dx * across, spots[handle][1] + dy * up], spots);
    } else return false;
    return true;
  }

  /** @param {number} row */
  focus(row) {
    this.lab.select(row);
    /** @type {SVGElement | undefined} */ (this.plane.layers.dots.children[row])?.focus();
  }

  /** @param {number} x @param {number} y */
  add(x, y, label = this.lab.newLabel) {
    this.lab.change(({ points }) => { points.push([x, y, label]); });
    this.lab.select(this.lab.question.points.length - 1);
  }

  /** @param {number} row */
  flip(row) {
    this.lab.change(({ points }) => { if (points[row]) points[row][2] *= -1; });
  }

  /** @param {number} row */
  remove(row) {
    this.lab.change(({ points }) => { points.splice(row, 1); });
    this.focus(Math.min(row, this.lab.question.points.length - 1));
  }

  /** Where the handles of the learner's line are: two points on it, or one if it passes through the origin.
   * @param {Vec3} mine @returns {Spot[]} */
  handleSpots([a, b, c]) {
    const { view } = this.plane;
    const [, bottom, , top] = this.plane.box();
    const length = Math.hypot(a, b) || 1;
    const [dx, dy] = [-b / length * (top - bottom) * 0.3, a / length * (top - bottom) * 0.3];
    if (!this.lab.question.bias) return [[dx, dy]];
    const off = (a * view.x + b * view.y + c) / length ** 2;
    const [x, y] = [view.x - off * a, view.y - off * b];
    return [[x - dx, y - dy], [x + dx, y + dy]];
  }

  /** How many handles the learner's line has. */
  get onLine() {
    const { bias, mine } = this.lab.question;
    return mine ? (bias ? 2 : 1) : 0;
  }

  /** Where all handles are: those of the learner's line, then the tip and the foot of the arrow of w.
   * @returns {Spot[]} */
  handles() {
    const { full, predict, question } = this.lab;
    if (predict) return [];
    const [left, bottom] = this.plane.box();
    const [across, up] = this.plane.scale;
    const arrow = full ? this.plane.arrowOf(this.plane.now(full)) : [];
    const { height } = this.plane.size;
    const spots = arrow.map(
      ([x, y]) => /** @type {Spot} */ ([left + x / across, bottom + (height - y) / up]),
    );
    const own = question.mine ? this.handleSpots(question.mine) : [];
    return [...own, ...spots.reverse().slice(0, question.bias ? 2 : 1)];
  }

  /** Move a handle: take the line through the handles as the learner's w*, or begin the run with another w₀.
   * @param {number} handle @param {Spot} spot @param {Spot[]} old */
  hold(handle, spot, old) {
    const { bias } = this.lab.question;
    const count = this.onLine;
    if (handle < count) return this.holdLine(old.slice(0, count).map((at, k) => (k === handle ? spot : at)));
    const { full } = this.lab;
    if (!full) return;
    const [w1, w2] = this.plane.now(full);
    const length = Math.hypot(w1, w2);
    const foot = !bias ? [0, 0] : handle === count ? old[count + 1] : spot;
    const turn = [spot[0] - foot[0], spot[1] - foot[1]];
    const reach = Math.hypot(...turn);
    const [a, b] = handle > count ? [w1, w2] : reach ? turn.map((part) => part / reach * length) : [0, 0];
    if (!a && !b) return;
    const start = [a, b, bias ? -(a * foot[0] + b * foot[1]) : 0].map((value) =>
      Number(value.toPrecision(4)),
    );
    this.lab.moment = 0;
    this.lab.change((question) => { question.start = /** @type {Vec3} */ (start); }, { remember: false });
  }

  /** Take the line through the handles as the learner's w*. @param {Spot[]} spots */
  holdLine(spots) {
    const [[x1, y1], [x2, y2]] = spots.length > 1 ? spots : [[0, 0], spots[0]];
    const [a, b, length] = [y2 - y1, x1 - x2, Math.hypot(y2 - y1, x1 - x2)];
    if (length === 0) return;
    const c = spots.length > 1 ? -(a * x1 + b * y1) : 0;
    const mine = [a, b, c].map((value) => Number((value / length).toPrecision(6)));
    this.lab.change((question) => { question.mine = /** @type {Vec3} */ (mine); }, { remember: false });
  }

  drawHandles() {
    const spots = this.handles();
    const count = this.onLine;
    keep(this.plane.layers.handles, spots.length, handle).forEach((node, k) => {
      node.setAttribute("transform", `translate(${this.plane.place(spots[k]).join(" ")})`);
      const moving = this.moving && node === document.activeElement;
      node.setAttribute(
        "class",
        ["handle", k >= count && "of-w", moving && "moving"].filter(Boolean).join(" "),
      );
      const { drag, foot, handleOfLine, tip } = words.plane;
      node.setAttribute("aria-label", drag(k < count ? handleOfLine(k) : k === count ? tip : foot));
    });
  }
}

/** The row and the handle that have the focus of an event, −1 for none. @param {Event} event */
function touched(event) {
  const target = /** @type {Element} */ (event.target);
  const number = (/** @type {string} */ name) =>
    Number(target.closest(`[${name}]`)?.getAttribute(name) ?? -1);
  return { row: number("data-row"), handle: number("data-handle") };
}

/** @param {number} k */
const handle = (k) =>
  s("g", { class: "handle", role: "button", tabindex: 0, "data-handle": k },
  s("circle", { class: "hit", r: 18 }), s("circle", { class: "grip", r: 9 }));
