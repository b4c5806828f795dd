"use strict";
// Sort a table by the column of the button that was pressed; undefined values stay last.
for (const button of document.querySelectorAll("thead button")) {
  button.addEventListener("click", () => {
    const head = button.closest("th"), table = head.closest("table"), body = table.tBodies[0];
    const place = [...head.parentNode.children].indexOf(head);
    const before = head.getAttribute("aria-sort");
    const first = head.dataset.first || "ascending";
    const other = { ascending: "descending", descending: "ascending" };
    const order = before ? other[before] : first;
    const sign = order === "ascending" ? 1 : -1, isText = head.dataset.kind === "text";
    const keyOf = (row) => row.children[place].dataset.key ?? row.children[place].textContent.trim();
    const compare = (a, b) => {
      const [x, y] = [keyOf(a), keyOf(b)];
      if (x === "" || y === "") return (x === "") - (y === "");
      return sign * (isText ? x.localeCompare(y) : Number(x) - Number(y));
    };
    for (const one of head.parentNode.children) one.removeAttribute("aria-sort");
    head.setAttribute("aria-sort", order);
    body.append(...[...body.rows].sort(compare));
  });
}
