/* The theme's buttons that fold a list of pages have no name. */
document.addEventListener("DOMContentLoaded", () => {
  for (const button of document.querySelectorAll(".bd-sidebar summary")) {
    button.setAttribute("aria-label", "Show or hide the pages below");
  }
});

/* Reports have a column of headings. On a narrow screen the rest of a long line begins below its value. */
document.addEventListener("DOMContentLoaded", () => {
  const count = (text, tag) => text.split(tag).length;
  for (const pre of document.querySelectorAll(".highlight-console pre, .highlight-none pre, .cell_output pre")) {
    const lines = pre.innerHTML.replace(/\n$/, "").split("\n");
    if (!lines.every((line) => count(line, "<span") === count(line, "</span"))) continue;
    pre.innerHTML = lines.map((line) => {
      const text = line.replace(/<[^>]*>/g, "");
      const indent = /^(?:\S.{0,12}? {2,}| +)?/.exec(text)[0].length || (text.startsWith("$") ? 4 : 0);
      return `<span class="line" style="--indent: ${indent}ch">${line || " "}</span>`;
    }).join("");
  }
});
