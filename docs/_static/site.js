// Mends what the theme, sphinx-gallery and pandas leave out for readers who use a keyboard or a screen reader.
document.addEventListener("DOMContentLoaded", () => {
  "use strict";

  // What scrolls by itself has to be reached by the keyboard.
  function reachable() {
    const boxes = "pre, .table-wrapper, .formula, .catalogue-box, .output_html, .sidebar-scroll, .toc-scroll";
    for (const box of document.querySelectorAll(boxes)) {
      if (box.scrollWidth > box.clientWidth || box.scrollHeight > box.clientHeight) box.tabIndex = 0;
      else box.removeAttribute("tabindex");
    }
  }
  reachable();
  window.addEventListener("load", reachable);
  window.addEventListener("resize", reachable);

  // The captions of the sidebar are headings without a level.
  for (const caption of document.querySelectorAll(".caption[role=heading]")) caption.setAttribute("aria-level", "2");

  // The bar above the page is a landmark of navigation; the box around it is none.
  document.querySelector(".announcement-content")?.setAttribute("role", "none");

  // The corner of a data frame is a heading of nothing.
  for (const corner of document.querySelectorAll("table.dataframe th:empty")) {
    corner.replaceWith(document.createElement("td"));
  }

  // The links of the gallery show a picture and hide their text.
  for (const link of document.querySelectorAll(".sphx-glr-thumbcontainer a.internal")) {
    link.setAttribute("aria-label", link.textContent);
  }
});
