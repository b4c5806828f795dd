// Mends what the theme, Markdown's tables, sphinx-gallery and pandas leave out for readers who use a keyboard or a screen reader.
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

  // The columns beside the page are told apart by their names.
  document.querySelector(".sidebar-drawer")?.setAttribute("aria-label", "All pages");
  document.querySelector(".toc-drawer")?.setAttribute("aria-label", "On this page");

  // The corner of a table is a heading of nothing.
  for (const head of document.querySelectorAll("th")) {
    if (head.textContent.trim()) continue;
    const cell = document.createElement("td");
    cell.className = head.className;
    head.replaceWith(cell);
  }

  // The links of the gallery show a picture and hide their text.
  for (const link of document.querySelectorAll(".sphx-glr-thumbcontainer a.internal")) {
    link.setAttribute("aria-label", link.textContent);
  }
});
