/** Elements and icons: everything that does not depend on perceptrons. */

/** @typedef {Record<string, unknown>} Attributes */
/** @typedef {(Node | string | null | false | undefined)} Child */

/** Set attributes and children of an element. A function becomes a listener: `onclick`.
 * @template {Element} E @param {E} node
 * @param {Attributes} attributes @param {Child[]} children @returns {E} */
function dress(node, attributes, children) {
  for (const [name, value] of Object.entries(attributes)) {
    if (typeof value === "function")
      node.addEventListener(name.slice(2), /** @type {EventListener} */ (value));
    else if (value !== false && value !== null && value !== undefined)
      node.setAttribute(name, value === true ? "" : String(value));
  }
  refill(node, ...children);
  return node;
}

/** An HTML element. @template {keyof HTMLElementTagNameMap} K @param {K} tag
 * @param {Attributes} attributes @param {Child[]} children */
export const h = (tag, attributes = {}, ...children) =>
  dress(document.createElement(tag), attributes, children);

/** An SVG element. @template {keyof SVGElementTagNameMap} K @param {K} tag
 * @param {Attributes} attributes @param {Child[]} children */
export const s = (tag, attributes = {}, ...children) =>
  dress(document.createElementNS("http://www.w3.org/2000/svg", tag), attributes, children);

/** @param {Element} node @param {Child[]} children */
export function refill(node, ...children) {
  node.replaceChildren(.../** @type {(Node | string)[]} */ (children.filter(Boolean)));
}

/** Keep `count` children of a group: existing elements stay, others are made or removed.
 * @param {SVGGElement} group @param {number} count @param {(k: number) => Element} make */
export function keep(group, count, make) {
  while (group.children.length > count) group.lastElementChild?.remove();
  while (group.children.length < count) group.append(make(group.children.length));
  return [...group.children];
}

/** The paths of the icons, in a box of 24 × 24. @type {Record<string, string>} */
const ICONS = {
  first: "M3 5v14M6 5v14M19 5l-9 7 9 7z",
  previous: "M18 5l-9 7 9 7zM6 5v14",
  back: "M16 5l-9 7 9 7z",
  play: "M8 5l11 7-11 7z",
  pause: "M8 5v14M16 5v14",
  step: "M8 5l9 7-9 7z",
  next: "M6 5l9 7-9 7zM18 5v14",
  last: "M5 5l9 7-9 7zM18 5v14M21 5v14",
  undo: "M9 7L4 12l5 5M4 12h10a5 5 0 0 1 0 10h-2",
  link: "M10 14a4 4 0 0 0 6 0l3-3a4 4 0 0 0-6-6l-1 1M14 10a4 4 0 0 0-6 0l-3 3a4 4 0 0 0 6 6l1-1",
  save: "M12 4v11M7 11l5 5 5-5M5 20h14",
  present: "M4 5h16v11H4zM12 16v4M8 20h8",
  help: "M9 9a3 3 0 1 1 4 3c-1 .5-1 1-1 2M12 17.5v.5",
  dice: "M5 5h14v14H5zM9 9v.2M15 9v.2M9 15v.2M15 15v.2M12 12v.2",
  flip: "M4 9h13l-3-3M20 15H7l3 3",
  remove: "M6 7h12M10 7V5h4v2M8 7l1 12h6l1-12",
  paste: "M8 5H6v15h12V5h-2M9 4h6v3H9zM9 11h6M9 15h6",
  clear: "M5 5h14v14H5zM9 9l6 6M15 9l-6 6",
  eye: "M3 12c4-7 14-7 18 0-4 7-14 7-18 0zM12 9.5a2.5 2.5 0 1 0 .01 0z",
  left: "M19 12H5M10 7l-5 5 5 5",
  right: "M5 12h14M14 7l5 5-5 5",
  up: "M12 19V5M7 10l5-5 5 5",
  down: "M12 5v14M7 14l5 5 5-5",
};

/** @param {string} name */
export const icon = (name) =>
  s(
    "svg",
    { viewBox: "0 0 24 24", class: "icon", "aria-hidden": "true" },
    s("path", { d: ICONS[name] ?? "" }),
  );

/** A button with an icon ("" is none). Its text is shown, or is its label for screen readers.
 * @param {string} name @param {string} text @param {(event: Event) => void} onclick
 * @param {{shown?: boolean, class?: string, id?: string}} options */
export const button = (name, text, onclick, { shown, ...more } = {}) =>
  h("button", { type: "button", onclick, title: text, "aria-label": shown ? null : text, ...more },
    name ? icon(name) : null, shown ? text : null);

/** A panel with a heading that opens it where there is no room for all panels.
 * @param {Lab} lab @param {string} name
 * @param {Child} beside what stands beside the title @param {Child[]} body */
export function fold(lab, name, beside, ...body) {
  const title = h("button", { type: "button", class: "opener", onclick: () => lab.show(name) });
  const header = h("header", {}, h("h2", {}, title), beside);
  return { title, node: h("section", { class: "panel fold", "data-panel": name }, header, ...body) };
}

/** Follow a pointer that is pressed on an element.
 * @param {SVGElement} node @param {(event: PointerEvent) => void} follow */
export function whilePressed(node, follow) {
  node.addEventListener("pointerdown", follow);
  node.addEventListener("pointermove", (event) => { if (event.buttons & 1) follow(event); });
}

/** The number on a horizontal or vertical axis. @param {number} x @param {number} y @param {string} text */
export const tick = (x, y, text, anchor = "middle") =>
  s("text", { class: "tick", x, y, "text-anchor": anchor }, text);

/** A menu with a title that opens it. @param {string} id @param {Child[]} title @param {Child[]} items */
export const menu = (id, title, ...items) =>
  h("details", { class: "menu", id }, h("summary", {}, ...title), h("div", { class: "items" }, ...items));

/** An SVG that is drawn again whenever its size changes. Its units are pixels; em is the size of its text.
 * @param {Attributes} attributes @param {() => void} draw */
export function canvas(attributes, draw) {
  const node = s("svg", { ...attributes, width: "100%", height: "100%" });
  const size = { width: 320, height: 200, em: 13 };
  new ResizeObserver(([{ contentRect: { width, height } }]) => {
    if (width < 1 || (width === size.width && height === size.height)) return;
    Object.assign(size, { width, height, em: parseFloat(getComputedStyle(node).fontSize) });
    node.setAttribute("viewBox", `0 0 ${width} ${height}`);
    draw();
  }).observe(node);
  return { node, size };
}
