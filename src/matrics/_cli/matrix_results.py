"""Results of many matrices: in files, as tables or summaries on the screen, and in other formats."""

from __future__ import annotations

import contextlib
import math
from collections import Counter
from collections.abc import Callable
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

import numpy as np
import pyarrow as pa
from rich.text import Text

from matrics._cli.blocks import BlockResult, in_order, joined
from matrics._cli.screen import Column, marked, show, show_blocks, show_notes, show_statuses
from matrics._cli.writers import Result, Rows, column, keys_of, open_console, refuse_same
from matrics._files.outputs.destination import check_output
from matrics._files.outputs.whole import table_of, whole_output
from matrics._scoring.fairness import Disparity, disparity
from matrics._wording import counted, plain

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator
    from contextlib import AbstractContextManager
    from pathlib import Path

    from rich.console import Console

    from matrics._cli.run import Run
    from matrics._cli.writers import Delivery
    from matrics._files.outputs.whole import Output


Names = Callable[[int], str]

MOST_ROWS = 40  # more matrices than this are summarised
QUANTILES = {"5 %": 0.05, "median": 0.5, "95 %": 0.95}
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
    show_blocks(console, "measure", [column.label for column in columns], list(cells.items()))
    kept = summary.sample.kept
    sampled = f"quantiles of a random sample of {kept:,} matrices" if kept < total else ""
    show_notes(console, wins, sum(wins.values()), missing="" if summary.count.all() else missing, remark=sampled)


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
    show(console, "", "differences between the groups:", "")
    show_blocks(console, "measure", [column.label for column in columns], list(cells.items()))


def disparities(summary: Summary) -> Disparity:
    """The extremes of each measure, their difference and their ratio."""
    counts = ((False, summary.count > 0), (True, summary.count > 1))  # one group is not compared with itself
    ends = np.stack([np.where(known, summary.extremes[end], math.nan) for end, known in counts])
    return disparity(ends, axis=0)


Array = Any


def open_work(path: Path, output: str | None) -> AbstractContextManager[Output | None]:
    """Open the output of a command that reads this input; None is the screen."""
    return contextlib.nullcontext() if output is None else whole_output(check_output(output, path), [path])


def deliver(
    run: Run,
    work: Output | None,
    delivery: Delivery,
    *,
    disparity: bool = False,
    positive: str | None = None,
    library: str | None = None,
) -> None:
    """Write all results to a file, or show them as a table or, for many matrices, as a summary.

    ``library`` is the array library whose version matters besides that of NumPy.
    """
    if work is not None:
        _write(run, work, disparity=disparity)
        return
    summary = Summary(len(run.columns))
    if delivery.is_table and run.source.count > MOST_ROWS:
        for block in _computed(run):
            summary.add(block.start, run.summarised(block.values))
        delivery.print(lambda console: _summarise(console, run, summary, disparity=disparity))
        return
    every = joined(list(_computed(run)))
    rows = np.arange(run.source.count)
    if run.manner.on_invalid == "skip":
        rows = rows[every.valid]
    values = every.values[rows]
    names = [run.source.name(position) for position in rows.tolist()]
    if disparity:
        summary.add(0, values)

    def tabulate(console: Console) -> None:
        show(console, *run.titles, "")
        run.show(console, values, names)
        if disparity:
            show_disparity(console, run.columns, summary, names.__getitem__)

    def result() -> Result:
        keys = {name: of_all.take(rows) for name, of_all in run.source.columns(0, run.source.count).items()}
        refuse_same("format", [*keys, *run.labels])
        tables = {"disparity": _disparity(run, summary, names)} if disparity else {}
        cells, facts = keys_of(keys) | run.rows_of(values), run.facts(positive)
        libraries = () if library is None else (library,)
        return Result(run.command, run.titles, facts, cells, run.measures, tables, libraries=libraries)

    delivery.write(result, tabulate)


def _summarise(console: Console, run: Run, summary: Summary, *, disparity: bool) -> None:
    run.show_summary(console, summary)
    if disparity:
        show_disparity(console, run.columns, summary, run.source.name)


def _disparity(run: Run, summary: Summary, names: list[str]) -> Rows:
    where = {
        f"{end}_group": column([names[row] if row >= 0 else None for row in summary.where[end == "max"].tolist()])
        for end in ("min", "max")
    }
    ends = dict(zip(("min", "max", "difference", "ratio"), map(column, disparities(summary)[:4]), strict=True))
    return {"measure": column([one.label for one in run.columns]), **ends, **where}


def _write(run: Run, work: Output, *, disparity: bool) -> None:
    refuse_same("output", [*(key.name for key in run.source.keys), *run.labels])
    summary = Summary(len(run.columns)) if disparity else None
    write_blocks(run, work, summary)
    console = open_console()
    written = f"{counted(run.remaining, 'row')} of {counted(len(run.columns), run.unit)}"
    show(console, *run.titles, f"{work.destination.path}: {written}")
    show_statuses(console, run.totals.statuses, signs=False)
    if summary is not None:
        show_disparity(console, run.columns, summary, run.source.name)


def _computed(run: Run) -> Iterator[BlockResult]:
    """The results of all pieces, while it is shown how far the run is."""
    with run.shown():
        for block in run.found():
            run.totals.add(block)
            yield block
    if not run.remaining:
        raise ValueError(f"{run.source.file}: expected at least one valid matrix, got none")


def write_blocks(run: Run, output: Output, summary: Summary | None) -> None:
    """Write all blocks, give the output its name, and add the values to a summary."""
    output.begin(_schema(run))

    def encode(found: BlockResult) -> tuple[BlockResult, Any]:
        return found, output.encode(_table(run, found))

    blocks = run.blocks()
    # Closed explicitly after an error, and not by garbage collection, because they have threads.
    with (
        run.shown(),
        contextlib.closing(blocks),
        contextlib.closing(in_order(encode, blocks, run.manner.workers)) as encoded,
    ):
        for found, block in encoded:
            run.totals.add(found)
            if summary is not None:
                summary.add(found.start, found.values)
            output.append(block)
    output.finish()


def _table(run: Run, found: BlockResult) -> Any:
    """The rows of a block."""
    keys = run.source.columns(found.start, found.stop) if found.keys is None else found.keys
    table = table_of({**keys, **run.outputs(found.values)})
    if found.invalid and run.manner.on_invalid == "skip":
        return table.filter(pa.array(found.valid))
    return table


def _schema(run: Run) -> Any:
    """The names and types of the columns, from a table without rows."""
    keys = {name: column[:0] for name, column in run.source.columns(0, 1).items()}
    return _table(run, BlockResult(0, 0, run.missing(0), keys=keys)).schema
