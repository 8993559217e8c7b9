/** The keys of the page. The plane has keys of its own for its points; see pointer.js. */

/** @type {Record<string, string>} */
const KEYS = {
  ArrowRight: "next", PageDown: "next", ArrowLeft: "previous", PageUp: "previous", k: "step", j: "back",
  Home: "first", End: "last", " ": "play",
};
/** @type {Record<string, string>} */
export const PANELS = { 1: "space", 2: "step", 3: "leaf", 4: "inner", 5: "norm", 6: "angle" };
// The keys of presenters step wherever the focus is.
const ALWAYS = ["PageDown", "PageUp"];
// A menu that has the focus keeps its other keys.
const SIDEWAYS = ["ArrowLeft", "ArrowRight"];

/** Handle a key; return whether it meant something.
 * @param {KeyboardEvent} event @param {Lab} lab @param {(() => void) | null} endPresenting */
function handleKey(event, lab, endPresenting) {
  const target = /** @type {HTMLElement} */ (event.target);
  const control = event.ctrlKey || event.metaKey;
  const typing = target.matches("input:not([type=range], [type=checkbox], [type=radio]), textarea");
  const native = event.key === " " ? target.matches("button, summary, select, input:not([type=range])") :
    target.matches("select") && !SIDEWAYS.includes(event.key);
  const letter = event.key.toLowerCase();
  const { pointer, view } = lab.plane;
  if (event.altKey) return false;
  if (control && event.key === "z" && !typing) lab.undo();
  else if (control || ((typing || native) && !ALWAYS.includes(event.key))) return false;
  else if (event.key === "Escape" && endPresenting) endPresenting();
  else if (letter === "a") {
    pointer.add(view.x, view.y);
    pointer.focus(lab.selected);
  } else if (PANELS[event.key]) lab.show(PANELS[event.key]);
  else if (letter === "s" && lab.tour.at >= 0) lab.tour.go(lab.tour.at + (event.shiftKey ? -1 : 1));
  else if (KEYS[event.key]) lab.go(KEYS[event.key]);
  else return false;
  return true;
}

/** Listen to the keys, and let what was clicked give up the focus, so that the keys go on stepping.
 * @param {HTMLElement} root @param {Lab} lab @param {HTMLDialogElement} dialog @param {() => void} present */
export function listen(root, lab, dialog, present) {
  const embedded = root.classList.contains("embedded"); // then keys outside the page belong to the notebook
  (embedded ? root : document).addEventListener("keydown", (event) => {
    const endPresenting = root.classList.contains("presenting") ? present : null;
    if (!dialog.open && handleKey(/** @type {KeyboardEvent} */ (event), lab, endPresenting))
      event.preventDefault();
    if (embedded) event.stopPropagation();
  });
  root.addEventListener("click", (event) => {
    const target = /** @type {HTMLElement} */ (event.target);
    const pressed = target.closest("button, summary, [type=checkbox], [type=radio], [type=range]");
    if (event.detail > 0 && pressed && !dialog.open)
      /** @type {HTMLElement} */ (document.activeElement)?.blur();
  });
  let pointed = false; // whether the last input was by a pointer
  root.addEventListener("pointerdown", () => { pointed = true; }, true);
  root.addEventListener("keydown", () => { pointed = false; }, true);
  root.addEventListener("change", (event) => {
    const chosen = /** @type {HTMLElement} */ (event.target);
    if (pointed && chosen.matches("select")) chosen.blur();
  });
  document.addEventListener("click", (event) => {
    for (const open of root.querySelectorAll("details[open]")) {
      if (!open.contains(/** @type {Node} */ (event.target))) open.removeAttribute("open");
    }
  });
}
