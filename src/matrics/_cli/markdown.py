"""Records of metrics as Markdown; needs none of the libraries of the command line, and serves the pages as well."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

from matrics._catalogue.description import range_of

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

    from matrics._catalogue.record import Metric

COLUMNS = ("name", "aliases", "kind", "range", "formula", "summary", "source")


def catalogue(metrics: Iterable[Metric]) -> str:
    """Make a table of metrics, one in each row."""
    return table(COLUMNS, map(_row, metrics))


def _row(metric: Metric) -> list[str]:
    return [
        f"`{metric.name}`",
        ", ".join(f"`{alias}`" for alias in metric.aliases),
        metric.kind.replace("_", " "),
        escape(range_of(metric)),
        "$" + metric.formula.replace("|", r"\vert ") + "$",  # a bar would end the cell
        escape(metric.summary),
        escape(metric.source),
    ]


def escape(text: str) -> str:
    """Write text of a record so that it is no markup; text between double backticks stays code."""
    pieces = text.split("``")
    return "`".join(re.sub(r"([\\*_|<>\[\]$#])", r"\\\1", p) if i % 2 == 0 else p for i, p in enumerate(pieces))


def table(head: Sequence[str], rows: Iterable[Sequence[str]]) -> str:
    """Make a table of cells in Markdown."""
    return "\n".join(f"| {' | '.join(row)} |" for row in [head, ["---"] * len(head), *rows])
