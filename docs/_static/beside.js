/* The lab beside the text shows what the text is about: the last mark above the middle of the window. */
document.addEventListener("DOMContentLoaded", () => {
  const frame = document.querySelector("iframe.beside");
  const marks = [...document.querySelectorAll("[data-lab-panel]")];
  if (!frame || marks.length === 0) return;
  let shown = null;
  const show = () => {
    const mark = marks.findLast((one) => one.getBoundingClientRect().top < window.innerHeight / 2) ?? marks[0];
    if (mark === shown) return;
    shown = mark;
    const { labPanel, labT, labLink } = mark.dataset;
    frame.contentWindow.postMessage({ panel: labPanel, t: Number(labT), link: labLink ?? "" }, "*");
  };
  frame.addEventListener("load", () => { shown = null; show(); });
  document.addEventListener("scroll", show, { passive: true });
  show();
});
