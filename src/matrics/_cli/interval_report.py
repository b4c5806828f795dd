"""Intervals on the screen: a table for a few matrices, the widths for many, and the meaning of each status."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np
from rich.text import Text

from matrics import IntervalStatus
from matrics._cli.interval import ERROR, ESTIMATE, HIGH, LOW, STATUS
from matrics._cli.printing import Column, fold, marked, show, show_blocks, sort
from matrics._wording import number, plain

if TYPE_CHECKING:
    from collections import Counter

    from rich.console import Console

Array = Any

RAISED = str.maketrans("0123456789", "⁰¹²³⁴⁵⁶⁷⁸⁹")
PIPE_WIDTH = 100  # a value and two limits are long: to a pipe, tables are as wide as on a usual terminal


def show_intervals(
    console: Console, columns: list[Column], found: Array, names: list[str], heading: str, *, ordered: bool
) -> None:
    """Print one row per matrix, or one row per measure if there is one matrix."""
    width = None if console.is_terminal else PIPE_WIDTH
    if len(names) == 1:
        cells = {
            "value": _cells(found[0]),
            "standard error": [marked(error) for error in found[0, :, ERROR]],
            "range": [Text(column.range) for column in columns],
        }
        show_blocks(console, "measure", [Text(plain(column.label)) for column in columns], list(cells.items()), width)
        return
    order, sorting = sort(columns, found[..., ESTIMATE], ordered=ordered)
    head = [Text(plain(names[row])) for row in order]
    blocks = [(fold(column.label, 20), _cells(found[order, k])) for k, column in enumerate(columns)]
    show_blocks(console, heading, head, blocks, width)
    if sorting:
        show(console, Text(), Text(sorting, "dim"))


def _cells(found: Array) -> list[Text]:
    """Values with their limits, one below the other, and the sign of a status that is not 0."""
    texts = [[number(value) for value in row[[ESTIMATE, LOW, HIGH]]] for row in found]
    wide = [max(map(len, column)) for column in zip(*texts, strict=True)]
    cells = []
    for (estimate, low, high), status in zip(texts, found[:, STATUS].astype(int), strict=True):
        limits = f"[{low:>{wide[1]}}, {high:>{wide[2]}}]"
        cells.append(Text(f"{estimate:>{wide[0]}} {limits}{sign_of(status)}"))
    return cells


def sign_of(status: int) -> str:
    """The number of a status, small and raised; a space for 0."""
    return str(int(status)).translate(RAISED) if status else " "


def widths(found: Array) -> Array:
    """How wide each interval is: (rows, columns)."""
    with np.errstate(invalid="ignore"):  # between two infinite limits
        return found[..., HIGH] - found[..., LOW]


def show_statuses(console: Console, counts: Counter[int], *, signs: bool) -> None:
    """Print what every status that is not 0 means, and how many values it concerns."""
    total = sum(counts.values())
    lines = [
        Text(f"{sign_of(code) if signs else f'status {code:d}:'} {code.sentence} ({counts[code]:,} of {total:,})")
        for code in IntervalStatus
        if code and counts[code]
    ]
    if lines:
        show(console, Text(), *lines)
