"""What the certificates of the catalogue say: the tables of ``certificates.md``, and a page of witnesses per family."""

import json
from pathlib import Path

import matrics
from matrics._catalogue.description import certified
from matrics._catalogue.record import METRICS
from matrics._study.certificates.catalogue import SOURCES, STATEMENTS
from matrics._study.certificates.results import key_of
from matrics._study.certificates.stored import from_record
from matrics._tables.markdown import escape, table
from matrics._wording import exact

CERTIFICATES = json.loads((Path(__file__).parent / "certificates.json").read_text(encoding="utf-8"))

# The columns of the tables, in words that fit; the rest is on the pages of the witnesses.
COLUMNS = {
    "class_sizes": "class sizes",
    "range": "range",
    "one_class_missed": "one class missed",
    "chance": "chance",
    "expected_chance": "expected chance",
    "transposition": "⇄",
    "relabelling": "renamed",
    "scaling": "scaled",
    "true_negatives": "true negatives",
    "correction": "correction",
    "strict_correction": "strict",
    "correct_sample": "correct sample",
    "strict_correct_sample": "strict",
    "error": "error",
    "strict_error": "strict",
    "perfect": "perfect",
    "only_perfect": "only perfect",
    "wrong": "wrong",
    "only_wrong": "only wrong",
    "triangle": "triangle",
    "quasi_concave": "quasi-concave",
    "continuity": "empty class",
}
NUMBERS = {"sensitivity": "one sample", "undefined": "undefined"}

PAGE = """\
# Certificates: {title}

% Written by certificate_tables.py from the certificates of the catalogue. Do not edit it.

What each measure lacks, with the smallest matrices found that show it; {{doc}}`/certificates` says what the properties
mean and how they were searched for. Rows are true classes.
"""

SECTION = """
({anchor})=
## `{spec}`

{summary}

{lacks}

{has}
"""


def stored_certificate(spec):
    """The certificate of a measure of the catalogue, without a search."""
    name = key_of(matrics.get_metric(spec))
    return from_record(name, CERTIFICATES[name])


def anchor(spec, name=None):
    """Where the certificate of a measure, or one of its witnesses, is."""
    parts = ("certificate", spec.replace(":", "-"), *([name] if name else []))
    return "-".join(parts).replace("_", "-")


def _mark(found, name):
    verdict = found.verdicts[name]
    if verdict.holds is None:
        return "–"
    if verdict.holds:
        return "✓"
    return f"[{'②' if 2 in verdict.classes else '✗'}](#{anchor(found.metric, name)})"


def rows(specs):
    """A row for each measure: a mark for each property, and two numbers."""
    for spec in filter(certified().__contains__, specs):
        found = stored_certificate(spec)
        values = [found.verdicts[name].value for name in NUMBERS]
        yield [
            f"[`{spec}`](#{anchor(spec)})",
            *(_mark(found, name) for name in COLUMNS),
            *("–" if value is None else escape(exact(float(f"{value:.2g}"))) for value in values),
        ]


def tables():
    """The tables of the page, by the names that stand for them."""
    head = ["measure", *COLUMNS.values(), *NUMBERS.values()]
    overall = [name for name, record in METRICS.items() if record.kind == "overall" and not record.needs]
    by_class = [name for name, record in METRICS.items() if record.kind == "per_class" and not record.needs]
    return {
        "properties": table(
            ["property", "what it says", "source"],
            ([f"`{name}`", escape(STATEMENTS[name]), escape(SOURCES[name])] for name in STATEMENTS),
        ),
        "certificates_overall": table(head, rows(overall)),
        "certificates_binary": table(head, rows(f"{name}:binary" for name in by_class)),
        "certificates_macro": table(head, rows(by_class)),
    }


def section(spec):
    """All that a measure lacks, with witnesses, and what holds."""
    found = stored_certificate(spec)
    lacks = []
    for name in found.lacks:
        verdict = found.verdicts[name]
        few = f" (it holds for {' and '.join(map(str, verdict.classes))} classes)" if verdict.classes else ""
        said = f"**{name}** fails{few}: {STATEMENTS[name]}.\\\n*Witness:* {escape(str(verdict.witness))}."
        lacks.append(f"({anchor(spec, name)})=\n{said}")
    has = ", ".join(f"`{name}` ({found.verdicts[name].cases:,} cases)" for name in found.has)
    return SECTION.format(
        anchor=anchor(spec),
        spec=spec,
        summary=escape(METRICS[spec.partition(":")[0]].summary),
        lacks="\n\n".join(lacks) or "Nothing was found that it lacks.",
        has=f"No counterexample: {has}." if has else "",
    )


def pages(families):
    """The pages of witnesses by their names; ``families`` maps a family to its title."""
    for family, title in families.items():
        specs = [name for name, record in METRICS.items() if record.family == family]
        both = [each for spec in specs for each in (spec, f"{spec}:binary") if each in certified()]
        yield f"certificates/{family}.md", PAGE.format(title=title) + "".join(map(section, both))
