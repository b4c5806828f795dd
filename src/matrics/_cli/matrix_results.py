"""Results of many matrices: in files, as tables or summaries on the screen, and in other formats."""

from __future__ import annotations

import contextlib
import math
from collections import Counter
from collections.abc import Callable
from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING, Any

import numpy as np
import pyarrow as pa

from matrics._cli.blocks import BlockResult, in_order, joined
from matrics._cli.results import Measured, Result, Rows, column, keys_of, layouts, refuse_same
from matrics._cli.screen import show, show_statuses, show_tables
from matrics._cli.writers import open_console
from matrics._errors import ArgumentError
from matrics._files.outputs.destination import check_output
from matrics._files.outputs.whole import table_of, whole_output
from matrics._quoting import quoted
from matrics._scoring.fairness import disparity as disparity_of
from matrics._scoring.score import resolve
from matrics._wording import counted, listed

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator
    from contextlib import AbstractContextManager
    from pathlib import Path

    from matrics._cli.run import Run
    from matrics._cli.writers import Delivery
    from matrics._files.outputs.whole import Output


Array = Any
Names = Callable[[int], str]

MOST_ROWS = 40  # more matrices than this are summarised
QUANTILES = {"5 %": 0.05, "median": 0.5, "95 %": 0.95}
MOST_KEPT = 2**22  # scores: 32 MiB, and five times that for a moment


def open_work(path: Path, output: str | None) -> AbstractContextManager[Output | None]:
    """Open the output of a command that reads this input; None is the screen."""
    return contextlib.nullcontext() if output is None else whole_output(check_output(output, path), [path])


def deliver(
    run: Run,
    work: Output | None,
    delivery: Delivery,
    *,
    disparity: bool = False,
    sort: str | None = None,
    positive: str | None = None,
    library: str | None = None,
) -> None:
    """Write all results to a file, or show them as a table or, for many matrices, as a summary.

    ``sort`` is the measure by which matrices are sorted, and ``library`` the array library whose version matters in
    addition to that of NumPy.
    """
    column = None if sort is None else _column_of(run, sort, positive, work, delivery)
    if work is not None:
        _write(run, work, disparity=disparity)
        return
    summary = Summary(len(run.columns))
    if delivery.is_table and run.source.count > MOST_ROWS:
        for block in _computed(run):
            summary.add(block.start, run.summarised(block.values))
        delivery.write(lambda: _summarised(run, summary, disparity=disparity))
        return
    every = joined(list(_computed(run)))
    rows = np.arange(run.source.count)
    if run.settings.on_invalid == "skip":
        rows = rows[every.valid]
    values = every.values[rows]
    if disparity:
        summary.add(0, values)
    if column is not None:
        order = run.columns[column].order(run.estimates(values)[:, column].tolist())
        rows, values = rows[order], values[order]

    def result() -> Result:
        keys = {name: of_all.take(rows) for name, of_all in run.source.columns(0, run.source.count).items()}
        refuse_same("format", [*keys, *run.labels])
        names = [run.source.name(position) for position in rows.tolist()]
        tables = {"disparity": disparity_rows(summary, run.columns, names.__getitem__)} if disparity else {}
        cells, facts = keys_of(keys) | run.rows_of(values), run.facts(positive)
        libraries = () if library is None else (library,)
        return Result(
            *(run.command, run.titles, facts, cells, run.measures, tables),
            libraries=libraries,
            ordered=run.source.in_order or column is not None,
            remarks=[] if column is None else [run.columns[column].sorting],
        )

    delivery.write(result)


def _column_of(run: Run, sort: str, positive: str | None, work: Output | None, delivery: Delivery) -> int:
    """The column of the measure by which the matrices are sorted; raises if there is nothing to sort.

    The measure is a heading of the table, or a name as in ``--metrics`` that has a single column.
    """
    labels = [column.label for column in run.columns]
    label = sort
    if sort not in labels:
        known = getattr(run.source, "known", None)
        with contextlib.suppress(ValueError):
            specs = {metric.spec for metric in resolve(sort, None if known is None else known(positive)).values()}
            columns = [name for about in run.measures if about["spec"] in specs for name in about["columns"]]
            label = columns[0] if len(columns) == 1 else sort
    if label not in labels:
        headings = listed(labels, len(labels))
        raise ArgumentError("sort", f"expected a heading of the table ({headings}), got {quoted(sort)}: see --metrics")
    if run.source.count < 2:
        raise ArgumentError("sort", "expected several matrices with it, got a single matrix")
    if work is not None:
        file = work.destination.path
        raise ArgumentError("sort", f"expected no file that is written in blocks, got {file}: redirect --format csv")
    if delivery.is_table and run.source.count > MOST_ROWS:
        raise ArgumentError(
            "sort",
            f"expected at most {MOST_ROWS} matrices in a table, got {counted(run.source.count, 'matrix')}: choose "
            "--format csv",
        )
    return labels.index(label)


def _summarised(run: Run, summary: Summary, *, disparity: bool) -> Result:
    names = run.source.name
    result = summary_result(
        summary, run.columns, run.titles, total=run.remaining, names=names, of_widths=run.summarises
    )
    tables = {"disparity": disparity_rows(summary, run.columns, names)} if disparity else {}
    return replace(result, tables=tables, totals=run.totals.statuses)


def _write(run: Run, work: Output, *, disparity: bool) -> None:
    refuse_same("output", [*(key.name for key in run.source.keys), *run.labels])
    summary = Summary(len(run.columns)) if disparity else None
    write_blocks(run, work, summary)
    console = open_console()
    written = f"{counted(run.remaining, 'row')} of {counted(len(run.columns), run.unit)}"
    show(console, *run.titles, f"{work.destination.path}: {written}")
    show_statuses(console, run.totals.statuses, signs=False)
    if summary is not None:
        show_tables(console, layouts(disparity_rows(summary, run.columns, run.source.name), ordered=True))


def _computed(run: Run) -> Iterator[BlockResult]:
    """The results of all pieces, while it is shown how far the run is."""
    with run.shown():
        for block in run.results():
            run.totals.add(block)
            yield block
    if not run.remaining:
        raise ValueError(f"{run.source.file}: expected at least one valid matrix, got none")


def write_blocks(run: Run, output: Output, summary: Summary | None) -> None:
    """Write all blocks, give the output its name, and add the values to a summary."""
    output.begin(_schema(run))

    def encode(result: BlockResult) -> tuple[BlockResult, Any]:
        return result, output.encode(_table(run, result))

    blocks = run.blocks()
    # Closed explicitly after an error, and not by garbage collection, because they have threads.
    with (
        run.shown(),
        contextlib.closing(blocks),
        contextlib.closing(in_order(encode, blocks, run.settings.workers)) as encoded,
    ):
        for result, block in encoded:
            run.totals.add(result)
            if summary is not None:
                summary.add(result.start, result.values)
            output.append(block)
    output.finish()


def _table(run: Run, result: BlockResult) -> Any:
    """The rows of a block."""
    keys = run.source.columns(result.start, result.stop) if result.keys is None else result.keys
    table = table_of({**keys, **run.outputs(result.values)})
    if result.invalid and run.settings.on_invalid == "skip":
        return table.filter(pa.array(result.valid))
    return table


def _schema(run: Run) -> Any:
    """The names and types of the columns, from a table without rows."""
    keys = {name: column[:0] for name, column in run.source.columns(0, 1).items()}
    return _table(run, BlockResult(0, 0, run.missing(0), keys=keys)).schema


# Summaries: means, quantiles, extremes, and differences between groups -----------------------------------------------


@dataclass
class Sample:
    """Rows of scores that are added block by block: all of them, or a random sample without replacement."""

    width: int
    count: int = 0
    blocks: list[Array] = field(default_factory=list)
    keys: list[Array] = field(default_factory=list)  # a random number for each row; the smallest are kept

    def __post_init__(self) -> None:
        self.most = MOST_KEPT // self.width
        self.random = np.random.default_rng(0)  # the same rows in every run, and with blocks of any size

    def add(self, rows: Array) -> None:
        """Add a block of scores (rows, columns)."""
        self.count += len(rows)
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
        return min(self.count, self.most)

    def quantiles(self, shares: Iterable[float]) -> Iterator[Array]:
        """Yield quantiles of the defined scores of each column, interpolated linearly; NaN if no score is defined."""
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
        """Sample standard deviation; NaN where there are fewer than two values, or an infinite value."""
        known = (self.count > 1) & (self.infinite == 0)
        return np.sqrt(np.where(known, self.squares / np.maximum(self.count - 1, 1), np.nan))

    @property
    def means(self) -> Array:
        """Sample mean, including infinite values; NaN where there are no values."""
        return np.where(self.count > 0, np.where(self.infinite == 0, self.mean, self.infinite), np.nan)


def summary_result(
    summary: Summary, measures: list[Measured], titles: list[str], *, total: int, names: Names, of_widths: str
) -> Result:
    """One row for each measure of many matrices; ``of_widths`` says that the summary is of something else."""
    quantiles = summary.sample.quantiles(QUANTILES.values())
    values = {"mean": summary.means, "std": summary.deviation, **dict(zip(QUANTILES, quantiles, strict=True))}
    rows = {"measure": column([measure.label for measure in measures], is_key=True)}
    rows |= {heading: column(of_all) for heading, of_all in values.items()}
    known = [np.where(summary.count, summary.extremes[end], math.nan) for end in (False, True)]
    rows |= _ends(summary, known, names)
    undefined = [total - int(count) for count in summary.count]
    if any(undefined):
        rows["no limits" if of_widths else "undefined"] = column(undefined)
    notes = []
    if summary.sample.kept < total:
        notes.append(f"quantiles of a random sample of {summary.sample.kept:,} matrices")
    wins: Counter[str] = Counter()
    for k, measure in enumerate(measures):
        if not of_widths and measure.higher_is_better is not None and known[0][k] < known[1][k]:
            wins[names(int(summary.where[measure.higher_is_better][k]))] += 1
    if wins:
        most = max(wins.values())
        best = listed((name for name, count in wins.items() if count == most), 3)
        notes.append(f"most often best, in {most} of {sum(wins.values())} measures: {best}")
    titles = [*titles, *([f"{of_widths}:"] if of_widths else [])]
    return Result("", titles, {}, rows, ordered=True, notes=notes)


def disparity_rows(summary: Summary, measures: list[Measured], names: Names) -> Rows:
    """The smallest and the largest value of each measure over the groups, their difference and their ratio."""
    counts = ((False, summary.count > 0), (True, summary.count > 1))  # measure group is not compared with itself
    known = np.stack([np.where(known, summary.extremes[end], math.nan) for end, known in counts])
    result = disparity_of(known, axis=0)
    rows = {
        "measure": column([measure.label for measure in measures], is_key=True),
        **_ends(summary, list(result[:2]), names),
    }
    return rows | {"difference": column(result.difference), "ratio": column(result.ratio)}


def _ends(summary: Summary, values: list[Array], names: Names) -> Rows:
    """The smallest and the largest values, and where they are."""
    rows: Rows = {}
    for heading, end, of_end in zip(("min", "max"), (False, True), values, strict=True):
        where = [names(row) if row >= 0 else None for row in summary.where[end].tolist()]
        rows |= {heading: column(of_end), f"{heading}_group": column(where, title="at")}
    return rows
