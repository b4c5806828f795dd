"""The page of all measures: one table, which ``_static/catalogue.js`` searches and filters in the browser."""

from html import escape

import matrics
from matrics._catalogue import description

HEAD = """\
---
hide-toc: true
---

# Catalogue

% Written by catalogue_table.py from the records of the metrics. Do not edit it.

The library has {count} measures, and {host} more that need SciPy. Each name links to the formula, the undefined cases,
the source, the other names and how to call the measure. A measure here is not a recommendation: {{doc}}`which_measure`
names five for each kind of question. The search also finds other names, and those of PyCM. Any selection has an
address of its own, which you can keep or send.

"""

TAIL = """

## How to read the table

- **of**: `class` measures give one value per class, and then an average; `whole` measures give one value per matrix.
  By default the average is the value of the positive class of two, and the mean over more classes
  ({{doc}}`conventions`).
- **range**: the lowest and the highest value. Where the lowest value depends on the number n of classes, those for
  n = 2, 3, 10 follow.
- **guesses**: the common value of all guesses (predictions independent of the truth), in the limit of many samples. A
  measure that has one is corrected for chance. It may hold only for guesses that predict each class as often as it is
  true (`true`), or all classes equally often (`equal`), or all equally often while the true classes have equal sizes
  (`equal, all`). –: there is no common value.
- **symmetric**: whether a transposed matrix has the same value, with any options.
- **class sizes**: whether the value changes if a true class gets more or fewer samples at the same rates. `no effect`:
  it does not change; `none for two`: it does not change if there are two classes.
- **every class**: `needed` if it is undefined when a true class is empty: any class for `whole`, the class itself for
  `class`.
- **samples**: `count` if it depends on the number of samples, and not on shares alone ({{doc}}`numerics`).
- **gradient**: whether it is of use in training. `useful`: it leads from a guess to the goal; `to refine`: from
  half-way on; `flat in places`, `unreliable` and `misleads`: it does not; `no target`: neither higher nor lower is
  better, or nothing moves it; `none`: it has no gradient. {{doc}}`losses` explains this,
  and {{doc}}`catalogue/gradients` has the numbers.

`tests/test_facts.py` checks the lowest values, and the columns from guesses to samples, on random matrices of 2 to 5
classes. A measure marked (SciPy) needs the extra `stats`; it is only in the group `on_host`. The works cited are listed
in {{doc}}`sources`.

## Families

Each family is a group for {{func}}`matrics.score`; {{doc}}`conventions` has other groups. The same facts are printed by
{{func}}`matrics.describe` and listed by {{func}}`matrics.list_metrics`.

{families}

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

```{{toctree}}
:hidden:

{contents}
```
"""

# Of each filter the name, the words before it, and its choices: a value and what the reader sees. A row passes if the
# value is among the words of its attribute.
FILTERS = {
    "of": ("of", {"class": "one class", "whole": "the whole matrix"}),
    "family": ("family", {}),  # the families
    "better": ("better", {"higher": "higher", "lower": "lower", "neither": "neither"}),
    "guesses": (
        "value of guesses",
        {"all": "fixed (chance-corrected)", "some": "fixed for some guesses at least", "none": "not fixed"},
    ),
    "symmetric": ("symmetric", {"yes": "yes", "no": "no"}),
    "sizes": ("class sizes", {"always": "no effect", "two": "no effect for two classes", "matter": "matter"}),
    "every": ("every class", {"needed": "needed", "not": "not needed"}),
    "samples": ("number of samples", {"share": "has no effect", "count": "matters"}),
    "gradient": (
        "gradient",
        {
            "useful": "useful",
            "to-refine": "to refine",
            "flat-in-places": "flat in places",
            "unreliable": "unreliable",
            "misleads": "misleads",
            "no-target": "no target",
            "none": "none",
        },
    ),
}

# The heads of the columns, and what is said about each where a pointer rests on it.
COLUMNS = {
    "measure": "its name, and what it is",
    "family": "the group of measures of the same kind",
    "of": "one value per class, or one for the whole matrix",
    "range": "the lowest and the highest value",
    "better": "whether higher or lower values are better",
    "guesses": "the common value of all guesses",
    "symmetric": "whether a transposed matrix has the same value",
    "class sizes": "whether the sizes of the true classes affect the value",
    "every class": "whether an empty true class makes it undefined",
    "samples": "whether it depends on shares alone, or on the number of samples",
    "gradient": "whether its gradient is of use in training",
}


def page(families, titles, signals):
    """The page: ``families`` has the records of each family, ``signals`` what the gradient of each is worth."""
    heads = "".join(
        f'<th role="columnheader" scope="col" title="{escape(what)}">{name}</th>' for name, what in COLUMNS.items()
    )
    rows = "\n".join(row(record, signals) for records in families.values() for record in records)
    raw = (
        "```{raw} html\n"
        + form(titles)
        + '<div class="catalogue-box"><table class="catalogue" id="measures" role="table">\n'
        + f'<thead role="rowgroup"><tr role="row">{heads}</tr></thead>\n<tbody role="rowgroup">\n{rows}\n</tbody>\n'
        + '</table></div>\n<script src="_static/catalogue.js"></script>\n```\n'
    )
    links = [f"- [{title}](catalogue/{family}.md): `{family}`" for family, title in titles.items()]
    contents = "\n".join(f"catalogue/{family}" for family in families)
    counts = {"count": len(matrics.list_metrics()), "host": len(matrics.list_metrics("on_host"))}
    return HEAD.format(**counts) + raw + TAIL.format(families="\n".join(links), contents=contents)


def form(titles):
    """The filters; they are hidden until the script runs, for without it they would do nothing."""
    choices = dict(FILTERS, family=("family", titles))
    fields = "".join(
        f'<label>{words} <select name="{name}"><option value="">any</option>'
        + "".join(f'<option value="{value}">{escape(text)}</option>' for value, text in options.items())
        + "</select></label>\n"
        for name, (words, options) in choices.items()
    )
    return (
        '<form class="catalogue-filters" id="filters" role="search" aria-label="Measures" hidden>\n'
        '<label class="words">search <input type="search" name="q" autocomplete="off" spellcheck="false"'
        ' placeholder="kappa, TPR, entropy …"></label>\n'
        f'{fields}<button type="reset">show all</button>\n'
        '</form>\n<p class="catalogue-count" id="count" role="status" aria-live="polite"></p>\n'
    )


def row(record, signals):
    """A row of the table; the filters compare its attributes, and the search looks through ``data-search``."""
    guess = {"any sizes": "", "true sizes": " true", "equal sizes": " equal"}
    of = "class" if record.kind == "per_class" else "whole"
    better = {True: "higher", False: "lower", None: "neither"}[record.higher_is_better]
    sizes = {"always": ("no effect", "always two"), "two classes": ("none for two", "two"), None: ("matter", "matter")}
    verdict = signals[record.name].verdict if record.name in signals else "none"
    in_pycm = description.facts(record).get("in PyCM", "")
    names = ", ".join(
        filter(None, dict.fromkeys([*record.aliases, *(name.partition(" :")[0] for name in in_pycm.split(", "))]))
    )
    keys = {
        "of": of,
        "family": record.family,
        "better": better,
        "guesses": {"any sizes": "all some", None: "none"}.get(record.chance, "some"),
        "symmetric": "yes" if record.symmetric else "no",
        "sizes": sizes[record.ignores_class_sizes][1],
        "every": "needed" if record.needs_every_class else "not",
        "samples": "share" if record.scale_free else "count",
        "gradient": verdict.replace(" ", "-"),
        "search": f"{record.name} {record.name.replace('_', ' ')} {record.summary} {names}".lower(),
    }
    attributes = " ".join(f'data-{key}="{escape(value)}"' for key, value in keys.items())
    chance = f"{record.chance_value:g}{guess.get(record.chance, ' equal, all')}" if record.chance else "–"
    cells = [
        record.family.replace("_", " "),
        of,
        bounds(record),
        {"higher": "↑\N{NO-BREAK SPACE}higher", "lower": "↓\N{NO-BREAK SPACE}lower", "neither": "–"}[better],
        chance,
        keys["symmetric"],
        sizes[record.ignores_class_sizes][0],
        "needed" if record.needs_every_class else "–",
        "" if record.scale_free else "count",
        verdict,
    ]
    labels = list(COLUMNS)[1:]
    values = "".join(
        f'<td role="cell" data-label="{label}">{escape(cell) or "–"}</td>'
        for label, cell in zip(labels, cells, strict=True)
    )
    also = f'<span class="also" hidden>also: {escape(names)}</span>' if names else ""
    what = escape(record.summary) + (" (SciPy)" if record.on_host else "")
    return (
        f'<tr role="row" {attributes}><th role="rowheader" scope="row">'
        f'<a href="catalogue/{record.family}.html#{anchor(record)}"><code>{record.name}</code></a>'
        f"<span>{what}</span>{also}</th>{values}</tr>"
    )


def bounds(record):
    """The range; if the lowest value depends on the number of classes, with its value for a few numbers."""
    stated = description.facts(record)["range"]
    if record.lowest is None:
        return stated
    least = ", ".join(f"{record.lowest(n):.3g}" for n in (2, 3, 10))
    return f"{stated}, from {least}"


def anchor(record):
    """Where a measure is on the page of its family."""
    return f"metric-{record.name.replace('_', '-')}"
