"""Sphinx configuration; also writes ``catalogue.md`` from the records of the metrics."""

import inspect
import re
from pathlib import Path

import matrics
from matrics.metrics import catalogue

project = "matrics"
author = "the matrics contributors"
project_copyright = author
version = release = matrics.__version__

extensions = ["myst_parser", "sphinx.ext.autodoc", "sphinx.ext.napoleon", "sphinx.ext.mathjax"]
exclude_patterns = ["_build"]

html_theme = "furo"
html_title = f"matrics {release}"
html_show_sourcelink = False

myst_enable_extensions = ["amsmath", "colon_fence", "deflist", "dollarmath"]
myst_heading_anchors = 3

autodoc_typehints = "none"  # the docstrings say it
napoleon_google_docstring = False
napoleon_use_rtype = False

python_use_unqualified_type_names = True


# The catalogue --------------------------------------------------------------------------------------------------------

FAMILIES = {
    "rates": "Rates of one class against the rest",
    "agreement": "Agreement",
    "correlation": "Correlation",
    "information": "Information",
    "spectral": "Spectral",
}

HEAD = """\
# Catalogue

% Written by conf.py from the records of the metrics. Do not edit it.

The library has {count} measures. This page is made from the same records that {{func}}`matrics.describe` prints and
{{func}}`matrics.list_metrics` lists. In the table, "class" measures give one value a class and then an average, and
"overall" measures give one value a matrix ({{doc}}`conventions`). The works cited are listed in {{doc}}`sources`.

In the formulas rows are true classes: $c_{{ij}}$ is the number of items of true class $i$ that were called $j$, $m$ is
the sum of all cells, $n$ the number of classes, $t_k$ the size of true class $k$ (its row sum), $k_k$ the size of
predicted class $k$ (its column sum), $p_{{ij}} = c_{{ij}} / m$ unless a formula says otherwise, and a dot stands for a
sum over that index. $tp_k = c_{{kk}}$, $fn_k = t_k - tp_k$, $fp_k = k_k - tp_k$, and $tn_k$ is the sum of the cells
outside row and column $k$. The formula of a class measure leaves its index $k$ out.

These are definitions. The way the library computes them loses fewer digits ({{doc}}`numerics`).
"""


def write_catalogue(app):
    """Write ``catalogue.md``, if it would change."""
    path = Path(app.srcdir) / "catalogue.md"
    text = catalogue_page()
    if not path.is_file() or path.read_text(encoding="utf-8") != text:
        path.write_text(text, encoding="utf-8")


def catalogue_page():
    records = {name: catalogue.get_metric(name) for name in catalogue.list_metrics()}
    members = {}
    for name, record in records.items():
        members.setdefault(record.family, []).append(name)
    order = sorted(members, key=lambda family: ([*FAMILIES, family].index(family), family))
    parts = [HEAD.format(count=len(records)), "## Overview", overview(records, order, members)]
    parts.append("Groups that {func}`matrics.score` and {func}`matrics.list_metrics` know:\n")
    for name, group in catalogue.groups().items():
        parts.append(f"`{name}`\n: " + ", ".join(f"`{member}`" for member in group) + "\n")
    for family in order:
        parts.append(f"## {FAMILIES.get(family, family.capitalize())}\n\nGroup `{family}`.\n")
        parts.extend(section(records[name]) for name in members[family])
    return "\n".join(parts)


def overview(records, order, members):
    lines = ["| name | kind | range | better | source | what it is |", "|---|---|---|---|---|---|"]
    for record in (records[name] for family in order for name in members[family]):
        bounds = catalogue.facts(record)["range"]
        better = {True: "higher", False: "lower", None: "–"}[record.higher_is_better]
        kind = "class" if record.kind == "per_class" else "overall"
        cells = [escape(bounds), better, escape(record.source), escape(record.summary)]
        lines.append(f"| [`{record.name}`](#{anchor(record)}) | {kind} | " + " | ".join(cells) + " |")
    return "\n".join(lines) + "\n"


def section(record):
    public = getattr(matrics, record.name, None) is record
    name = f"{{func}}`matrics.{record.name}`" if public else f'`matrics.get_metric("{record.name}")`'
    formula = f"$$\n{record.formula}\n$$"
    lines = [f"({anchor(record)})=", f"### {record.name}", "", escape(record.summary), "", formula, "", remarks(record)]
    facts = {k: v for k, v in catalogue.facts(record).items() if k not in ("family", "formula")}
    for key, value in facts.items():
        if key == "aliases":
            shown = ", ".join(f"`{alias}`" for alias in record.aliases)
        else:
            shown = f"`{value}`" if key == "options" else escape(value)
        lines.append(f"{key}\n: {shown}\n")
    lines.append(f"call\n: {name}\n")
    return "\n".join(lines)


def remarks(record):
    """What the docstring of the function says after its summary, as Markdown."""
    text = inspect.getdoc(record.function).partition("Examples\n--------\n")[0].partition("\n\n")[2].strip()
    roles = re.split(r":func:`([^`]+)`", text)
    roles[1::2] = [f"{{func}}`matrics.{name.removeprefix('matrics.')}`" for name in roles[1::2]]
    roles[::2] = [escape(part) for part in roles[::2]]
    return "".join(roles) + "\n"


def anchor(record):
    return f"metric-{record.name.replace('_', '-')}"


def escape(text):
    """Text of a record as Markdown; what is between double backticks stays code."""
    pieces = text.split("``")
    return "`".join(re.sub(r"([\\*_|<>\[\]$#])", r"\\\1", p) if i % 2 == 0 else p for i, p in enumerate(pieces))


# Docstrings -----------------------------------------------------------------------------------------------------------


def shapes_as_code(*event):
    """``(*B, n, n)`` as code: the asterisk of a shape would begin an emphasis."""
    lines = event[-1]  # of app, what, name, obj, options, lines; changed in place
    for number, line in enumerate(lines):
        if line.lstrip().startswith((">>>", "...", ".. math::")):
            continue
        pieces = line.split("``")
        pieces[::2] = [re.sub(r"\(\*[BS][^()]*\)", r"``\g<0>``", piece) for piece in pieces[::2]]
        lines[number] = "``".join(pieces)


def setup(app):
    app.connect("builder-inited", write_catalogue)
    app.connect("autodoc-process-docstring", shapes_as_code, priority=400)  # before napoleon
