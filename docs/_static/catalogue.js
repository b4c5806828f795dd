// Searches and filters the table of measures. The selection is kept in the address after #, so that it can be sent.
(() => {
  "use strict";
  const form = document.getElementById("filters");
  const count = document.getElementById("count");
  const rows = [...document.querySelectorAll("#measures tbody tr")];
  const keys = [...form.querySelectorAll("select")].map((select) => select.name);

  function words() {
    return form.elements.q.value.toLowerCase().split(/\s+/).filter(Boolean);
  }

  function passes(row, searched) {
    const found = searched.every((word) => row.dataset.search.includes(word));
    return found && keys.every((key) => {
      const wanted = form.elements[key].value;
      return !wanted || row.dataset[key].split(" ").includes(wanted);
    });
  }

  // Other names are shown where they are why a row was found.
  function showNames(row, searched) {
    const also = row.querySelector(".also");
    if (!also) return;
    const seen = row.querySelector("a").textContent + row.querySelector("th > span").textContent;
    also.hidden = searched.every((word) => seen.toLowerCase().includes(word));
  }

  function show() {
    const searched = words();
    let shown = 0;
    for (const row of rows) {
      row.hidden = !passes(row, searched);
      shown += !row.hidden;
      showNames(row, searched);
    }
    count.textContent = shown === rows.length ? `All ${shown} measures` : `${shown} of ${rows.length} measures`;
  }

  function remember() {
    const chosen = new URLSearchParams();
    for (const [key, value] of new FormData(form)) {
      if (value) chosen.set(key, value);
    }
    const address = chosen.size ? `#${chosen}` : location.pathname + location.search;
    history.replaceState(null, "", address);
  }

  // A # without "=" is that of a heading.
  function recall() {
    const chosen = new URLSearchParams(location.hash.includes("=") ? location.hash.slice(1) : "");
    for (const key of ["q", ...keys]) form.elements[key].value = chosen.get(key) ?? "";
    show();
  }

  form.addEventListener("input", () => { show(); remember(); });
  form.addEventListener("submit", (event) => event.preventDefault());
  form.addEventListener("reset", () => setTimeout(() => { show(); remember(); }));
  window.addEventListener("hashchange", recall);
  form.hidden = false;
  recall();
})();
