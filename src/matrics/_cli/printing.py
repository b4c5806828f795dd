"""Tables on the screen: of a few matrices, or a summary of many."""

from __future__ import annotations

import math
import re
from collections import Counter
from collections.abc import Callable
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

import numpy as np
from rich import box
from rich.table import Table
from rich.text import Text

from matrics._wording import listed, number, plain

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator

    from rich.console import Console

Array = Any


MOST_KEPT = 2**22  # scores: 32 MiB, and five times that for a moment


@dataclass
class Sample:
    """Rows of scores that are added block by block: all of them, or a random sample without replacement."""

    width: int
    seen: int = 0
    blocks: list[Array] = field(default_factory=list)
    keys: list[Array] = field(default_factory=list)  # a random number for each row; the smallest are kept

    def __post_init__(self) -> None:
        self.most = MOST_KEPT // self.width
        self.random = np.random.default_rng(0)  # the same rows in every run, and with blocks of any size

    def add(self, rows: Array) -> None:
        """Add a block of scores (rows, columns)."""
        self.seen += len(rows)
        self.blocks.append(rows)
        self.keys.append(self.random.random(len(rows)))
        if sum(map(len, self.keys)) > 2 * self.most:
            self._cut()

    def _cut(self) -> None:
        rows, keys = np.concatenate(self.blocks), np.concatenate(self.keys)
        if len(keys) > self.most:
            kept = np.argpartition(keys, self.most)[: self.most]
            rows, keys = rows[kept], keys[kept]
        self.blocks, self.keys = [rows], [keys]

    @property
    def kept(self) -> int:
        """How many rows the quantiles are computed from."""
        return min(self.seen, self.most)

    def quantiles(self, shares: Iterable[float]) -> Iterator[Array]:
        """Yield quantiles of the defined scores of each column, interpolated linearly; NaN without any."""
        self._cut()
        ordered = np.sort(self.blocks[0], axis=0)  # NaN last
        last = np.maximum((~np.isnan(ordered)).sum(axis=0) - 1, 0)
        for share in shares:
            place = share * last
            around = np.stack([np.floor(place), np.ceil(place)]).astype(int)
            low, high = np.take_along_axis(ordered, around, axis=0)
            part = place - around[0]
            # numpy.quantile has NaN next to an infinite score.
            with np.errstate(invalid="ignore"):
                yield np.where(low == high, low, low * (1 - part) + high * part)


Names = Callable[[int], str]

MOST_ROWS = 40  # more matrices than this are summarised
BEST = "bold green"
QUANTILES = {"5 %": 0.05, "median": 0.5, "95 %": 0.95}
LEFT = ("min", "max", "range")  # columns that contain words


@dataclass(frozen=True)
class Column:
    """One column of scores: its label, its range in words, and which end is better."""

    label: str
    range: str
    higher_is_better: bool | None


@dataclass
class Summary:
    """Mean, deviation, quantiles and extremes of each column, kept up to date block by block."""

    width: int
    sample: Sample = field(init=False)
    count: Array = field(init=False)
    infinite: Array = field(init=False)  # the sum of infinite values: ∞, -∞, or NaN if there are both
    mean: Array = field(init=False)  # of the finite values
    finite: Array = field(init=False)
    squares: Array = field(init=False)
    extremes: dict[bool, Array] = field(init=False)  # True: the highest, False: the lowest
    where: dict[bool, Array] = field(init=False)

    def __post_init__(self) -> None:
        self.sample = Sample(self.width)
        self.count, self.infinite, self.finite, self.mean, self.squares = np.zeros((5, self.width))
        self.extremes = {True: np.full(self.width, -np.inf), False: np.full(self.width, np.inf)}
        self.where = {end: np.full(self.width, -1) for end in (True, False)}

    def add(self, start: int, scores: Array) -> None:
        """Add the scores (rows, columns) of the matrices from ``start`` on."""
        self.sample.add(scores)
        defined, finite = ~np.isnan(scores), np.where(np.isfinite(scores), scores, 0)
        count, some = defined.sum(axis=0), np.isfinite(scores).sum(axis=0)
        with np.errstate(invalid="ignore"):  # ∞ - ∞
            self.infinite += np.where(np.isinf(scores), scores, 0).sum(axis=0)
        mean = finite.sum(axis=0) / np.maximum(some, 1)
        squares = np.where(np.isfinite(scores), (finite - mean) ** 2, 0).sum(axis=0)
        # Combine two means and their squares as Chan, Golub and LeVeque do, without losing digits.
        share = some / np.maximum(self.finite + some, 1)
        self.squares += squares + (mean - self.mean) ** 2 * self.finite * share
        self.mean += (mean - self.mean) * share
        self.count += count
        self.finite += some
        for highest, extreme in self.extremes.items():
            row = np.where(defined, scores if highest else -scores, -np.inf).argmax(axis=0)
            value = np.take_along_axis(scores, row[None], axis=0)[0]
            beyond = (count > 0) & ((value > extreme) if highest else (value < extreme))
            extreme[beyond] = value[beyond]
            self.where[highest][beyond] = start + row[beyond]

    @property
    def deviation(self) -> Array:
        """Sample standard deviation; NaN where there are fewer than two values, or an infinite one."""
        known = (self.count > 1) & (self.infinite == 0)
        return np.sqrt(np.where(known, self.squares / np.maximum(self.count - 1, 1), np.nan))

    @property
    def means(self) -> Array:
        """Sample mean, including infinite values; NaN where there are no values."""
        return np.where(self.count > 0, np.where(self.infinite == 0, self.mean, self.infinite), np.nan)


def show_summary(
    console: Console, columns: list[Column], summary: Summary, total: int, names: Names, *, missing: str = "undefined"
) -> None:
    """Print one row per measure, for many matrices; ``missing`` is the meaning of NaN."""
    lowest, highest = summary.extremes[False], summary.extremes[True]
    quantiles = summary.sample.quantiles(QUANTILES.values())
    values = {"mean": summary.means, "std": summary.deviation, **dict(zip(QUANTILES, quantiles, strict=True))}
    cells = {heading: [marked(value) for value in column] for heading, column in values.items()}
    wins: Counter[str] = Counter()
    for heading, end in (("min", False), ("max", True)):
        where = [names(int(row)) if row >= 0 else "" for row in summary.where[end]]
        best = [c.higher_is_better is end and bool(lowest[k] < highest[k]) for k, c in enumerate(columns)]
        wins.update(name for name, won in zip(where, best, strict=True) if won)
        extremes = np.where(summary.count, summary.extremes[end], math.nan)
        ends = [marked(value, best=won) for value, won in zip(extremes, best, strict=True)]
        width = max(len(value) for value in ends)
        for value, name in zip(ends, where, strict=True):
            value.pad_left(width - len(value))
            value.append(f" {plain(name)}")
        cells[heading] = ends
    undefined = [total - int(count) for count in summary.count]
    if any(undefined):
        cells[missing] = [Text(f"{count:,}") for count in undefined]
    labels = [Text(plain(column.label)) for column in columns]
    show_blocks(console, "measure", labels, list(cells.items()))
    kept = summary.sample.kept
    sampled = f"quantiles of a random sample of {kept:,} matrices" if kept < total else ""
    _notes(console, wins, sum(wins.values()), missing="" if summary.count.all() else missing, remark=sampled)


def show_scores(
    console: Console, columns: list[Column], scores: Array, names: list[str], heading: str, *, ordered: bool
) -> None:
    """Print one row per matrix, or one row per measure if there is one matrix."""
    missing = "undefined" if np.isnan(scores).any() else ""
    if len(names) == 1:
        values = [marked(value) for value in scores[0]]
        ranges = [Text(column.range) for column in columns]
        labels = [Text(plain(column.label)) for column in columns]
        show_blocks(console, "measure", labels, [("value", values), ("range", ranges)])
        _notes(console, Counter(), 0, missing=missing)
        return
    best = best_of_columns(columns, scores)
    order, sorting = sort(columns, scores, ordered=ordered)
    cells = [[marked(scores[row, k], best=bool(best[row, k])) for row in order] for k in range(len(columns))]
    headers = [fold(column.label) for column in columns]
    show_blocks(console, heading, [Text(plain(names[row])) for row in order], list(zip(headers, cells, strict=True)))
    what = f"{heading} " if ordered and "," not in heading else ""  # a bare number would be ambiguous
    wins = Counter({what + name: int(won) for name, won in zip(names, best.sum(axis=1), strict=True) if won})
    judged = int(best.any(axis=0).sum())
    _notes(console, wins, judged, missing=missing, remark=sorting)


def sort(columns: list[Column], scores: Array, *, ordered: bool) -> tuple[list[int], str]:
    """Return the order of the rows by the first measure, best first, and a remark; ordered rows keep their order."""
    if ordered or columns[0].higher_is_better is None:
        return list(range(len(scores))), ""
    # Undefined values come last, as NaN does in NumPy.
    order = np.argsort(-scores[:, 0] if columns[0].higher_is_better else scores[:, 0], stable=True)
    return order.tolist(), f"sorted by {plain(columns[0].label)}, best first"


def best_of_columns(columns: list[Column], scores: Array) -> Array:
    """Mark the best values of each column; none in a column without a direction, or with equal values only."""
    best = np.zeros(scores.shape, bool)
    for index, column in enumerate(columns):
        values = scores[:, index]
        defined = values[~np.isnan(values)]
        if column.higher_is_better is not None and len(defined) and defined.min() < defined.max():
            best[:, index] = values == (defined.max() if column.higher_is_better else defined.min())
    return best


def show(console: Console, *parts: Table | Text) -> None:
    """Print; to a pipe, without trailing blanks."""
    if console.is_terminal:
        console.print(*parts, sep="\n")
        return
    with console.capture() as captured:
        console.print(*parts, sep="\n")
    console.out("\n".join(line.rstrip() for line in captured.get().splitlines()), highlight=False)


def show_blocks(
    console: Console, heading: str, head: list[Text], columns: list[tuple[str, list[Text]]], width: int | None = None
) -> None:
    """Print a table of named rows; columns that do not fit the width go into further tables below it.

    The default is the width of the terminal.
    """
    rest = columns
    while rest:
        taken = 1
        while taken < len(rest) and _fits(console, _table(heading, head, rest[: taken + 1]), width):
            taken += 1
        show(console, _table(heading, head, rest[:taken]))
        rest = rest[taken:]
        if rest:
            show(console, Text())


def text_table(*headers: str) -> Table:
    """Make an empty table with these headers."""
    table = Table(box=box.SIMPLE_HEAD, pad_edge=False, header_style="bold", show_edge=False)
    for header in headers:
        table.add_column(Text(plain(header, keep="\n")), overflow="fold")
    return table


def _table(heading: str, head: list[Text], columns: list[tuple[str, list[Text]]]) -> Table:
    table = text_table(heading, *(header for header, _ in columns))
    for column in table.columns:
        column.vertical = "bottom"
    for (header, _), column in zip(columns, table.columns[1:], strict=True):
        column.justify = "left" if header in LEFT else "right"
    for name, *values in zip(head, *(cells for _, cells in columns), strict=True):
        table.add_row(name, *values)
    return table


def _fits(console: Console, table: Table, width: int | None) -> bool:
    unlimited = console.options.update(max_width=10**6)
    return console.measure(table, options=unlimited).maximum <= (width or console.width)


NARROW = 10  # letters of a header above numbers


def fold(label: str, width: int = NARROW) -> str:
    """Break a label into lines after ``_``, ``:``, ``,``, ``(`` or a blank; above numbers an average has its own."""
    lines = [""]
    for part in re.split(r"(?<=[_:( ])(?<! of )|(?<=,)(?! )", label):
        is_average = width == NARROW and lines[-1].endswith(", ")
        if lines[-1] and (is_average or len(lines[-1]) + len(part.rstrip()) > width):
            lines.append("")
        lines[-1] += part
    return "\n".join(line.rstrip() for line in lines)


def marked(value: float, *, best: bool = False) -> Text:
    """A score; a star and a colour mark the best value of a column."""
    return star(number(value), best=best)


def star(text: str, *, best: bool) -> Text:
    """A cell, with the star and the colour of the best value of a column."""
    return Text(text + ("*" if best else " "), BEST if best else "")


def _notes(console: Console, wins: Counter[str], judged: int, *, missing: str, remark: str = "") -> None:
    """Print the meaning of the signs, and which row is best most often."""
    signs = ["* best of its measure" if judged else "", f"– {missing}" if missing else "", remark]
    notes = [Text("; ".join(filter(None, signs)), "dim")] if any(signs) else []
    if judged:
        most = max(wins.values())
        names = listed((name for name, count in wins.items() if count == most), 3)
        if 2 * most > judged:
            notes.append(Text(f"best in {most} of {judged} measures: {names}", BEST))
        else:
            notes.append(Text(f"most often best, in {most} of {judged} measures: {names}"))
    if notes:
        show(console, Text(), *notes)
