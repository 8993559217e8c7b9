/** Downloads: texts that the library wrote, and pictures of the plane. */

import { h, s } from "./dom.js";

const SCALE = 2; // pixels of a PNG file for each pixel of the page

/** @param {string} name @param {Blob} blob */
export function save(name, blob) {
  const link = h("a", { href: URL.createObjectURL(blob), download: name });
  link.click();
  window.setTimeout(() => URL.revokeObjectURL(link.href), 10_000);
}

// Without paint-order, the halo of a text would cover the text.
const STYLES = ["fill", "fill-opacity", "stroke", "stroke-width", "stroke-opacity", "stroke-dasharray",
  "paint-order", "opacity",
  "font-size", "font-family", "font-weight", "font-style", "text-anchor"];

/** A copy of a picture with its background, and with its styles as attributes, so that it needs no
 * style sheet. @param {SVGSVGElement} svg */
function standalone(svg) {
  const copy = /** @type {SVGSVGElement} */ (svg.cloneNode(true));
  const { width, height } = svg.getBoundingClientRect();
  for (const [name, value] of Object.entries({ xmlns: "http://www.w3.org/2000/svg", width, height }))
    copy.setAttribute(name, String(value));
  const originals = svg.querySelectorAll("*");
  copy.querySelectorAll("*").forEach((node, k) => {
    const style = getComputedStyle(originals[k]);
    if (style.display === "none") node.setAttribute("display", "none");
    for (const name of STYLES) node.setAttribute(name, style.getPropertyValue(name));
    for (const name of ["class", "tabindex", "role"]) node.removeAttribute(name);
  });
  copy.prepend(s("rect", { width, height, fill: paper(svg) }));
  return { text: new XMLSerializer().serializeToString(copy), width, height };
}

/** The colour behind a picture. @param {SVGSVGElement} svg */
function paper(svg) {
  const colour = getComputedStyle(svg).backgroundColor;
  return colour && colour !== "rgba(0, 0, 0, 0)"
    ? colour
    : getComputedStyle(/** @type {Element} */ (svg.closest(".lab"))).getPropertyValue("--paper");
}

/** @param {SVGSVGElement} svg @param {string} form */
export async function savePicture(svg, form) {
  const { text, width, height } = standalone(svg);
  const blob = new Blob([text], { type: "image/svg+xml" });
  if (form === "svg") return save("novikoff-lab.svg", blob);
  const image = new Image();
  image.src = URL.createObjectURL(blob);
  await image.decode();
  const sheet = h("canvas", { width: width * SCALE, height: height * SCALE });
  sheet.getContext("2d")?.drawImage(image, 0, 0, sheet.width, sheet.height);
  sheet.toBlob((png) => { if (png) save("novikoff-lab.png", png); });
}
