"""The pages of the catalogue, written from the records of the measures: the table of all, and a page per family."""

import math
from pathlib import Path

import catalogue_table
import certificate_tables
import gradients
from catalogue_table import anchor, bounds

import matrics
from matrics import _metrics
from matrics._catalogue import description
from matrics._tables.markdown import escape, table

FAMILIES = {
    "rates": "Rates of one class against the rest",
    "counts": "Counts and shares of one class",
    "odds": "Odds and likelihood ratios",
    "imbalance": "Class imbalance",
    "chance_corrected": "Agreement beyond chance",
    "agreement": "Agreement",
    "association": "Association and correlation",
    "information": "Information",
    "spectral": "Eigenvalues",
    "inference": "Errors, limits and tests",
    "similarity": "Similarity",
    "dissimilarity": "Dissimilarity",
}

PAGE = """\
# {title}

% Written by catalogue_pages.py from the records of the metrics. Do not edit it.

{what} Group `{family}`; {{doc}}`/catalogue` has the table and explains the symbols.
"""

SECTION = """
({anchor})=
## {name}

{summary}

$$
{formula}
$$

{facts}

```{{eval-rst}}
.. autofunction:: {path}
```
"""

GRADIENTS = """\
# How useful the gradient of each measure is

% Written by catalogue_pages.py from what gradients.py measures. Do not edit it.

{doc}`/losses` explains how to read this table, and how it was measured. Class measures are macro averages, and every
option has its default.

"""

GRADIENT_COLUMNS = ["name", "verdict", "helps", "slope", "rare", "from a guess", "from half-way", "absent class"]


def write_catalogue(app):
    """Write ``catalogue.md`` and a page for each family, if their text has changed."""
    folder = Path(app.srcdir)
    for name in ("catalogue", "certificates"):
        (folder / name).mkdir(exist_ok=True)
    for name, text in catalogue_pages().items():
        path = folder / name
        if not path.is_file() or path.read_text(encoding="utf-8") != text:
            path.write_text(text, encoding="utf-8")


def catalogue_pages():
    families = {family: [] for family in FAMILIES}
    for name in [*matrics.list_metrics(), *matrics.list_metrics("on_host")]:
        record = matrics.get_metric(name)
        families.setdefault(record.family, []).append(record)
    signals = gradients.signals()
    titles = {family: FAMILIES.get(family, family.capitalize()) for family in families}
    pages = {"catalogue.md": catalogue_table.page(families, titles, signals)}
    for family, records in families.items():
        what = getattr(_metrics, family).__doc__.partition("\n")[0]
        head = PAGE.format(family=family, title=titles[family], what=what)
        pages[f"catalogue/{family}.md"] = head + "".join(map(section, records))
    pages["catalogue/gradients.md"] = GRADIENTS + table(GRADIENT_COLUMNS, map(gradient_row, signals.items())) + "\n"
    return {**pages, **dict(certificate_tables.pages(FAMILIES))}


def gradient_row(item):
    name, found = item
    shares = (found.helps, found.untrained, found.half_trained)
    helps, *arrives = ("" if math.isnan(share) else f"{math.floor(100 * share)}\N{NO-BREAK SPACE}%" for share in shares)
    target = found.verdict != "no target"
    return [
        f"[`{name}`](#{anchor(matrics.get_metric(name))})",
        found.verdict,
        helps,
        f"{found.slope:.2g}" if target else "",
        f"{found.rare:.1f}" if target else "",
        *arrives,
        "stops" if target and found.stops else "",
    ]


def section(record):
    facts = {key: text for key, text in description.facts(record).items() if key not in {"family", "formula"}}
    facts["range"] = bounds(record)
    code = {
        "options": f"`{facts.get('options')}`",
        "aliases": ", ".join(f"`{alias}`" for alias in record.aliases),
        "in PyCM": ", ".join(f"`{name}`" for name in facts.get("in PyCM", "").split(", ")),
    }
    public = getattr(matrics.metrics, record.name, None) is record
    return SECTION.format(
        anchor=anchor(record),
        name=record.name,
        summary=escape(record.summary),
        formula=record.formula,
        facts="\n".join(f":{key}: {code.get(key) or escape(text)}" for key, text in facts.items()),
        path=f"matrics.metrics.{record.name}" if public else f"matrics._metrics.{record.family}.{record.name}",
    )
