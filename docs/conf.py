"""Sphinx configuration; also writes the catalogue, and the tables of names, of coverage and of reproduced numbers."""

import math
import re
import sys
from pathlib import Path

import matrics
from matrics.catalogue import description, pycm
from matrics.catalogue.elsewhere import ELSEWHERE
from matrics.cli.markdown import escape, table

sys.path.insert(0, str(Path(__file__).parent))
import certificate_tables
import coming_tables
import coverage_tables
import figure_files
import gradients
import reproduce_tables

project = "matrics"
author = "the matrics contributors"
project_copyright = author
version = release = matrics.__version__

extensions = ["myst_parser", "sphinx.ext.autodoc", "sphinx.ext.napoleon", "sphinx.ext.mathjax"]
exclude_patterns = ["_build"]

html_theme = "furo"
html_title = f"matrics {release}"
html_show_sourcelink = False

myst_enable_extensions = ["amsmath", "colon_fence", "dollarmath", "fieldlist"]
myst_heading_anchors = 3

autodoc_typehints = "none"  # the docstrings have the types
napoleon_google_docstring = False
napoleon_use_rtype = False

python_use_unqualified_type_names = True
toc_object_entries = False  # the headings are the measures


# The catalogue --------------------------------------------------------------------------------------------------------

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

HEAD = """\
# Catalogue

% Written by conf.py from the records of the metrics. Do not edit it.

The library has {count} measures, and {host} more that need SciPy. These pages are generated from the same records that
{{func}}`matrics.describe` prints and {{func}}`matrics.list_metrics` lists. There is a table for each family; every name
links to the formula, the undefined cases, the source, the other names and how to call the measure. The works cited are
listed in {{doc}}`sources`. Each family is a group for {{func}}`matrics.score`; {{doc}}`conventions` has other groups.

## How to read the tables

- **of**: `class` measures give one value per class, and then an average; `whole` measures give one value per matrix
  ({{doc}}`conventions`).
- **range**: the lowest and the highest value. Where the lowest value depends on the number n of classes, those for
  n = 2, 3, 10 follow.
- **better**: ↑ higher, ↓ lower, – neither.
- **chance**: the common value of all guesses (predictions independent of the truth), in the limit of many samples. It
  may hold only for guesses that predict each class as often as it is true (`true`), or all classes equally often
  (`equal`), or all equally often while the true classes have equal sizes (`equal, all`). –: there is no common value.
- **⇄**: `=` if a transposed matrix has the same value, with any options, else `≠`.
- **sizes**: what happens if a true class gets more or fewer samples at the same rates. `=`: the value does not change;
  `2`: it does not change if there are two classes; `≠`: it changes.
- **needs**: `all` if it is undefined when a true class is empty: any class for `whole`, the class itself for `class`.
- **counts**: `#` if it depends on the number of samples, and not on shares alone ({{doc}}`numerics`).

`tests/test_facts.py` checks the lowest values, and the columns from chance to counts, on random matrices of 2 to 5
classes. A measure marked (SciPy) needs the extra `stats`; it is only in the group `on_host`.

## Symbols

In the formulas rows are true classes: $c_{{ij}}$ is the number of samples of true class $i$ predicted as $j$, $m$ is
the sum of all cells, $n$ the number of classes, $t_k$ the size of true class $k$ (its row sum), $k_k$ the size of
predicted class $k$ (its column sum), $p_{{ij}} = c_{{ij}} / m$ unless a formula says otherwise, and a dot stands for a
sum over that index. $tp_k = c_{{kk}}$, $fn_k = t_k - tp_k$, $fp_k = k_k - tp_k$, and $tn_k$ is the sum of the cells
outside row and column $k$. The rates are $tpr_k = tp_k / t_k$, $fnr_k = fn_k / t_k$, $tnr_k = tn_k / (m - t_k)$ and
$fpr_k = fp_k / (m - t_k)$. The accuracy is $p_o = \\sum_k tp_k / m$, and $p_e = \\sum_k t_k k_k / m^2$ is its value
expected by chance, unless a formula says otherwise. The formula of a class measure omits the index of its class: $t$
and $k$ are the sizes of that class.

These are definitions. The library computes them in a way that loses fewer digits ({{doc}}`numerics`).
"""

COLUMNS = ["name", "of", "range", "better", "chance", "⇄", "sizes", "needs", "counts", "what it is"]

TABLE = """
## {title}

{what} Group `{family}`; [formulas and details](catalogue/{family}.md).

{table}
"""

PAGE = """\
# {title}

% Written by conf.py from the records of the metrics. Do not edit it.

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
    counts = {"count": len(matrics.list_metrics()), "host": len(matrics.list_metrics("on_host"))}
    pages, tables = {}, []
    for family, records in families.items():
        about = {
            "family": family,
            "title": FAMILIES.get(family, family.capitalize()),
            "what": getattr(matrics.metrics, family).__doc__.partition("\n")[0],
        }
        tables.append(TABLE.format(**about, table=table(COLUMNS, map(overview_row, records))))
        pages[f"catalogue/{family}.md"] = PAGE.format(**about) + "".join(map(section, records))
    contents = ["```{toctree}", ":hidden:", "", *(f"catalogue/{family}" for family in families), "```", ""]
    signals = gradients.signals().items()
    pages["catalogue/gradients.md"] = GRADIENTS + table(GRADIENT_COLUMNS, map(gradient_row, signals)) + "\n"
    witnesses = dict(certificate_tables.pages(FAMILIES))
    return {"catalogue.md": HEAD.format(**counts) + "".join(tables) + "\n".join(contents), **pages, **witnesses}


GRADIENTS = """\
# How useful the gradient of each measure is

% Written by conf.py from what gradients.py measures. Do not edit it.

{doc}`/losses` explains how to read this table, and how it was measured. Class measures are macro averages, and every
option has its default.

"""

GRADIENT_COLUMNS = ["name", "verdict", "helps", "slope", "rare", "from a guess", "from half-way", "absent class"]


def gradient_row(item):
    name, found = item
    shares = (found.helps, found.untrained, found.half_trained)
    helps, *arrives = ("" if math.isnan(share) else f"{math.floor(100 * share)} %" for share in shares)
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


def overview_row(record):
    guess = {"any sizes": "", "true sizes": " true", "equal sizes": " equal"}
    return [
        f"[`{record.name}`](#{anchor(record)})",
        "class" if record.kind == "per_class" else "whole",
        escape(bounds(record)),
        {True: "↑", False: "↓", None: "–"}[record.higher_is_better],
        f"{record.chance_value:g}{guess.get(record.chance, ' equal, all')}" if record.chance else "–",
        "=" if record.symmetric else "≠",
        {"always": "=", "two classes": "2", None: "≠"}[record.ignores_class_sizes],
        "all" if record.needs_every_class else "",
        "" if record.scale_free else "#",
        escape(record.summary) + (" (SciPy)" if record.on_host else ""),
    ]


def section(record):
    facts = {key: text for key, text in description.facts(record).items() if key not in {"family", "formula"}}
    facts["range"] = bounds(record)
    code = {
        "options": f"`{facts.get('options')}`",
        "aliases": ", ".join(f"`{alias}`" for alias in record.aliases),
        "in PyCM": ", ".join(f"`{name}`" for name in facts.get("in PyCM", "").split(", ")),
    }
    public = getattr(matrics, record.name, None) is record
    return SECTION.format(
        anchor=anchor(record),
        name=record.name,
        summary=escape(record.summary),
        formula=record.formula,
        facts="\n".join(f":{key}: {code.get(key) or escape(text)}" for key, text in facts.items()),
        path=f"matrics.{record.name}" if public else f"matrics.metrics.{record.family}.{record.name}",
    )


def bounds(record):
    """The range; if the lowest value depends on the number of classes, with its value for a few numbers."""
    stated = description.facts(record)["range"]
    if record.lowest is None:
        return stated
    least = ", ".join(f"{record.lowest(n):.3g}" for n in (2, 3, 10))
    return f"{stated}, from {least}"


def anchor(record):
    return f"metric-{record.name.replace('_', '-')}"


# PyCM's names, for pycm.md --------------------------------------------------------------------------------------------


def pycm_links(name):
    """The specs that give PyCM's number; a class statistic has one value per class."""
    ends = {spec: "" if name in pycm.OVERALL or ":" in spec else ":class" for spec in pycm.PYCM[name]}
    return ", ".join(f"[`{spec}{end}`](#{anchor(matrics.get_metric(spec))})" for spec, end in ends.items())


def elsewhere_rows():
    """A row for each function elsewhere that means something else, with the specs that give it here."""
    for name, notes in ELSEWHERE.items():
        for note in notes:
            specs = dict.fromkeys(spec for spec in (note.two, note.more) if spec is not None)
            found = ", ".join(f"`{spec}`" for spec in specs)
            yield [f"[`{name}`](#{anchor(matrics.get_metric(name))})", f"`{note.there}`", escape(note.what), found]


TABLES = {
    "elsewhere": table(["here", "elsewhere", "what it is there", "what gives it here"], elsewhere_rows()),
    "pycm_overall": table(["PyCM", "here"], ([name, pycm_links(name)] for name in pycm.OVERALL)),
    "pycm_class": table(["PyCM", "here"], ([name, pycm_links(name)] for name in pycm.CLASS)),
    "pycm_distances": table(["PyCM", "here"], ([name, pycm_links(name)] for name in pycm.DISTANCES)),
    "pycm_moved": table(
        ["name", "here", "PyCM's number"], ([name, found, pycm_links(name)] for name, found in pycm.MOVED.items())
    ),
    **coming_tables.tables(),  # for coming_from_scikit_learn.md and coming_from_torchmetrics.md
    **coverage_tables.tables(),  # for uncertainty_coverage.md
    **certificate_tables.tables(),  # for certificates.md
    **reproduce_tables.tables(),
}


def insert_tables(*event):
    """Write the tables in place of the comments that stand for them: in the repository a page has no raw marks."""
    source = event[-1]  # a list of one text, which is changed in place
    source[0] = re.sub(r"<!-- table: (\w+) .*?-->", lambda found: TABLES[found[1]], source[0])


# Docstrings -----------------------------------------------------------------------------------------------------------


def as_plain_text(*event):
    """Mark ``(*B, n, n)`` as code and escape ``|x|``: they would start an emphasis and a substitution."""
    lines = event[-1]  # event is (app, what, name, obj, options, lines); lines are changed in place
    for number, line in enumerate(lines):
        if line.lstrip().startswith((">>>", "...", ".. math::")):
            continue
        pieces = line.split("``")
        pieces[::2] = [re.sub(r"\(\*[BS][^()]*\)", r"``\g<0>``", p.replace("|", r"\|")) for p in pieces[::2]]
        lines[number] = "``".join(pieces)


def setup(app):
    app.connect("builder-inited", write_catalogue)
    app.connect("builder-inited", figure_files.write_figures)
    coming_tables.add_style(app)
    app.connect("source-read", insert_tables)
    app.connect("autodoc-process-docstring", as_plain_text, priority=400)  # before napoleon
