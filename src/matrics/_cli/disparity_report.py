"""The differences between the groups of a file, below the table of their scores."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING

import numpy as np
from rich.text import Text

from matrics._cli.printing import Column, Names, Summary, marked, show, show_blocks
from matrics._scoring.fairness import disparity
from matrics._wording import plain

if TYPE_CHECKING:
    from rich.console import Console

    from matrics._scoring.fairness import Disparity


def show_disparity(console: Console, columns: list[Column], summary: Summary, names: Names) -> None:
    """Print the smallest and the largest value of each measure over the groups, their difference and their ratio."""
    found = disparities(summary)
    cells = {}
    for heading, values in zip(("min", "max"), found[:2], strict=True):
        where = [names(int(row)) if row >= 0 else "" for row in summary.where[heading == "max"]]
        texts = [marked(value) for value in values]
        width = max(map(len, texts))
        for text, name in zip(texts, where, strict=True):
            text.pad_left(width - len(text))
            text.append(plain(name))
        cells[heading] = texts
    for heading, values in (("difference", found.difference), ("ratio", found.ratio)):
        cells[heading] = [marked(value) for value in values]
    show(console, Text(), Text("differences between the groups:"), Text())
    show_blocks(console, "measure", [Text(plain(column.label)) for column in columns], list(cells.items()))


def disparities(summary: Summary) -> Disparity:
    """The extremes of each measure, their difference and their ratio."""
    counts = ((False, summary.count > 0), (True, summary.count > 1))  # one group is not compared with itself
    ends = np.stack([np.where(known, summary.extremes[end], math.nan) for end, known in counts])
    return disparity(ends, axis=0)
