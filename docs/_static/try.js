// The form of the page to try: Python runs in the browser, and computes and words all that is shown, errors as well.
(() => {
  "use strict";
  const { python, numpy, size } = document.currentScript.dataset;
  const form = document.getElementById("try-form");
  const fields = { rows: null, names: null, metrics: null };
  for (const name in fields) fields[name] = document.getElementById(`try-${name}`);
  const status = document.getElementById("try-status");
  const result = document.getElementById("try-result");
  let started; // by the first computation, as it loads so much

  async function start() {
    const place = new URL(python, document.baseURI);
    const { loadPyodide } = await import(new URL("pyodide.mjs", place));
    const pyodide = await loadPyodide({ indexURL: place.href });
    await pyodide.loadPackage(new URL(numpy, place).href, { messageCallback() {} });
    const library = await fetch(new URL("matrics.zip", place));
    pyodide.unpackArchive(await library.arrayBuffer(), "zip");
    return pyodide.pyimport("try_matrix");
  }

  function show(html) {
    result.innerHTML = html;
    dispatchEvent(new Event("resize")); // site.js looks which boxes scroll
  }

  async function compute(event) {
    event.preventDefault();
    status.textContent = started ? "Computing …" : "Loading Python …";
    try {
      started ??= start();
      const matrix = await started;
      await new Promise((resolve) => setTimeout(resolve)); // or the browser would not show what it does
      const answer = matrix.answer(fields.rows.value, fields.names.value, fields.metrics.value);
      show(answer.get(1));
      status.textContent = answer.get(0) ? "Computed in this window." : "This cannot be computed:";
      answer.destroy();
    } catch (error) {
      started = undefined;
      show("");
      status.textContent = `Python cannot be loaded: ${error.message}`;
    }
  }

  // An example is there already, on the same page.
  function choose(button) {
    for (const name of ["rows", "names"]) fields[name].value = button.dataset[name];
    fields.metrics.value = fields.metrics.defaultValue;
    const copy = document.getElementById(button.dataset.section).cloneNode(true);
    copy.querySelector("h3").remove();
    for (const one of [copy, ...copy.querySelectorAll("[id]")]) one.removeAttribute("id");
    show(copy.outerHTML);
    status.textContent = `${button.textContent}, computed when this page was made.`;
  }

  if (!python) return;
  const alone = document.getElementById("try-alone");
  if (location.protocol === "file:") {
    alone.textContent = "Browsers run Python only in pages from a server. Start one in the folder of this page with "
      + "“python -m http.server”, and open http://localhost:8000/try.html.";
    return;
  }
  alone.hidden = true;
  form.hidden = false;
  document.getElementById("try-size").textContent = size;
  form.addEventListener("submit", compute);
  for (const button of form.querySelectorAll("[data-rows]")) button.addEventListener("click", () => choose(button));
  // The examples further down are for pages without a form.
  document.getElementById("examples").hidden = true;
  document.querySelector('.toc-tree a[href="#examples"]')?.closest("li").remove();
  const wanted = form.querySelector(`[data-section="${CSS.escape(location.hash.slice(1))}"]`);
  choose(wanted ?? form.querySelector("[data-rows]"));
})();
