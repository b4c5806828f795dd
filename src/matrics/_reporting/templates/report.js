"use strict";
// Sort a table by the column of the pressed button; undefined values stay last.
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
    for (const cell of head.parentNode.children) cell.removeAttribute("aria-sort");
    head.setAttribute("aria-sort", order);
    body.append(...[...body.rows].sort(compare));
  });
}

// Buttons that copy tables as text, and the code of pictures. Without this script there are no buttons.
const limitsOf = (cell) => cell.querySelector("small")?.textContent.trim() ?? "";
const valueOf = (cell) =>
  [...cell.childNodes].filter((node) => node.nodeName !== "SMALL").map((node) => node.textContent).join("").trim();
const textOf = (cell) => (limitsOf(cell) ? `${valueOf(cell)} (${limitsOf(cell)})` : valueOf(cell));
const rowsOf = (table) => [...table.rows].map((row) => [...row.cells].map(textOf));
const oneLine = (text) => text.replace(/\s+/g, " ");
const formats = {
  Markdown: (table) => {
    const rows = rowsOf(table).map((row) => row.map((cell) => oneLine(cell).replace(/[\\|*_<>[\]`$#&~]/g, "\\$&")));
    rows.splice(1, 0, rows[0].map((_, k) => (k ? "--:" : "---")));
    return rows.map((row) => `| ${row.join(" | ")} |`).join("\n");
  },
  LaTeX: (table) => {
    const signs = { "\\": "\\textbackslash{}", "~": "\\textasciitilde{}", "^": "\\textasciicircum{}", "−": "$-$", "≈": "$\\approx$", "∞": "$\\infty$" };
    const safe = (cell) => oneLine(cell).replace(/[&%$#_{}]/g, "\\$&").replace(/\\(?![&%$#_{}])|[~^−≈∞]/g, (sign) => signs[sign]);
    // At the start of a row LaTeX would read [ and * as arguments of the row before.
    const rows = rowsOf(table).map((row) => `${row.map(safe).join(" & ").replace(/^[[*]/, "{}$&")} \\\\`);
    const columns = "l" + "r".repeat(table.rows[0].cells.length - 1);
    return [`\\begin{tabular}{${columns}}`, "\\hline", rows[0], "\\hline", ...rows.slice(1), "\\hline", "\\end{tabular}"].join("\n");
  },
  CSV: (table) => {  // numbers without signs that other programs cannot read, and limits in a column of their own
    const quoted = (cell) => (/[",\n]/.test(cell) ? `"${cell.replace(/"/g, '""')}"` : cell);
    const plain = (cell) => {
      const text = oneLine(cell).replace(/ =$/, "");
      return /^−?\d{1,3}(,\d{3})*(\.\d+)?$/.test(text) ? text.replace(/,/g, "").replace("−", "-") : text;
    };
    const rows = [...table.rows].map((row) => [...row.cells]);
    const limited = rows[0].map((_, k) => rows.some((row) => limitsOf(row[k])));
    const line = (row, of) => row.flatMap((cell, k) => [plain(valueOf(cell)), ...(limited[k] ? [of(cell)] : [])]).map(quoted).join(",");
    return [line(rows[0], (cell) => `${valueOf(cell)} limits`), ...rows.slice(1).map((row) => line(row, limitsOf))].join("\n");
  },
};
const copy = async (text) => {
  try {
    await navigator.clipboard.writeText(text);
  } catch {  // frames in notebooks have no access to the clipboard
    const area = document.createElement("textarea");
    area.value = text;
    document.body.append(area);
    area.select();
    document.execCommand("copy");
    area.remove();
  }
};
const copier = (label, name, text) => {
  const button = document.createElement("button");
  button.type = "button";
  button.textContent = label;
  button.setAttribute("aria-label", name);
  button.addEventListener("click", async () => {
    await copy(text());
    button.textContent = "copied";
    setTimeout(() => { button.textContent = label; }, 1500);
  });
  return button;
};
for (const frame of document.querySelectorAll(".scroll")) {
  const table = frame.querySelector("table"), line = document.createElement("p");
  line.className = "copy";
  line.append("Copy as ", ...Object.entries(formats).map(([label, text]) => copier(label, `${label}: copy the table`, () => text(table))));
  frame.after(line);
}
// A hint above tables and pictures that are wider than the screen, as phones show no scroll bars.
for (const frame of document.querySelectorAll(".scroll, .card")) {
  const hint = document.createElement("p");
  hint.className = "copy";
  hint.textContent = "Scroll sideways to see everything →";
  frame.before(hint);
  const update = () => { hint.hidden = frame.scrollWidth <= frame.clientWidth + 2; };
  frame.closest("details")?.addEventListener("toggle", update);
  addEventListener("resize", update);
  update();
}
for (const figure of document.querySelectorAll("figure[data-code]")) {
  const line = document.createElement("p");
  line.className = "copy";
  line.append(copier("Copy the code", `Copy the code of the picture ${figure.id.replace(/-figure$/, "")}`, () => figure.dataset.code));
  figure.append(line);
}
