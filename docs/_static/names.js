/* The theme's buttons that fold a list of pages have no name. */
document.addEventListener("DOMContentLoaded", () => {
  for (const button of document.querySelectorAll(".bd-sidebar summary")) {
    button.setAttribute("aria-label", "Show or hide the pages below");
  }
});
