"""The tables of ``reproduce.md``: the numbers of the sources, computed again when the pages are built.

``conf.py`` puts them into the page; ``python docs/reproduce_tables.py`` prints them.
"""

import math

import matrics
from matrics._study.sources.reproduction import SOURCES
from matrics._tables.markdown import escape, table

VERDICTS = ["match", "erratum", "ambiguous", "unexplained"]


def tables():
    """All tables by the names that the page uses."""
    found = matrics.study.reproduce()
    reasons = ["source", "where", "what", "paper", "true", "reason"]
    return {
        "reproduce_totals": table(["source", "numbers", *VERDICTS], totals(found)),
        "reproduce_errata": table(reasons, map(reason_row, found.of("erratum"))),
        "reproduce_ambiguous": table(reasons, map(reason_row, found.of("ambiguous"))),
        "reproduce_experiment": escape(found.remarks[0]),
    }


def totals(found):
    rows = [[f"{number} {SOURCES[number].title}", *counts.values()] for number, counts in found.totals().items()]
    rows.append(["all", *(sum(column) for column in list(zip(*rows, strict=True))[1:])])
    return [[escape(row[0]), *(f"{count:,}" for count in row[1:])] for row in rows]


def reason_row(one):
    record = one.record
    value = "undefined" if math.isnan(one.value) else f"{one.value:.6g}"
    value += f" ± {one.error:.1g}" if one.error else ""
    others = [f"{label}: {other:.6g}" for label, other in one.readings.items()]
    where = f"{record.table}, {record.matrix_name}"
    return list(
        map(escape, [record.source, where, record.measure, record.printed, value, "; ".join([one.reason, *others])])
    )


if __name__ == "__main__":
    for name, text in tables().items():
        print(f"{name}\n\n{text}\n")
