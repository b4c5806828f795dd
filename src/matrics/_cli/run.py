"""Score a source piece by piece on a backend, so that memory stays bounded for a file of any size."""

from __future__ import annotations

import functools
import itertools
import math
from collections import Counter
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any, ClassVar

import numpy as np

import matrics
from matrics._arrays import NUMPY
from matrics._catalogue.description import direction_of, range_of
from matrics._catalogue.naming import columns as named_columns
from matrics._catalogue.naming import title_of
from matrics._catalogue.record import Metric
from matrics._cli.blocks import BlockResult, Piece, Progress, Totals, in_order, joined
from matrics._cli.measures import about_classes, about_measures, reasons_of
from matrics._cli.progress import shown
from matrics._cli.results import Measured, column, plain_size
from matrics._engine.execution import table_in_order
from matrics._errors import ArgumentError
from matrics._quoting import first_twice, quoted
from matrics._wording import counted, plain

if TYPE_CHECKING:
    from collections.abc import Callable, Generator, Iterator, Mapping, Sequence
    from contextlib import AbstractContextManager

    from matrics._cli.measures import Target
    from matrics._cli.options import RunOptions
    from matrics._cli.results import Rows
    from matrics._files.keys import Keyed
    from matrics._files.source import MatrixSource

Array = Any

# A piece is read and scored at a time, and a block is written at a time. Their sizes do not depend on the number of
# workers, and so no digit of the results does, nor a byte of an output file.
PIECE_BYTES = 8 * 1024 * 1024  # of matrices, as float64
BLOCK_CELLS = 2**20  # of the table that is written
BLOCK_BYTES = 256 * 1024 * 1024  # of matrices, as float64
LEAST_ROWS = 8192


@dataclass(kw_only=True)
class Run:
    """A pass over a source; subclasses compute scores or intervals."""

    command: ClassVar[str] = "score"
    unit: ClassVar[str] = "score"  # the noun for a result
    piece_bytes: ClassVar[int | None] = None  # where pieces and blocks take much longer than with scores
    block_cells: ClassVar[int | None] = None
    least_rows: ClassVar[int | None] = None
    summarises: ClassVar[str] = ""  # what a summary is of, if it is not the values

    source: Keyed
    metrics: dict[str, Metric]
    zero_division: float
    settings: RunOptions
    headings: Mapping[str, str] = field(default_factory=dict)  # the titles of measures that differ from their names
    totals: Totals = field(default_factory=Totals)

    @property
    def counts(self) -> str:
        """The number of matrices and of their classes or labels, in words."""
        raise NotImplementedError

    @property
    def columns(self) -> list[Measured]:
        """A column for each measure; for measures of every class, a column for each class."""
        raise NotImplementedError

    @property
    def about(self) -> list[str]:
        """The method of the results, in lines of a title."""
        return []

    @property
    def titles(self) -> list[str]:
        """The input of the results, in lines of a title."""
        total = counted(self.totals.samples, "sample")
        if getattr(self.source, "squares", None) is not None:
            total = f"weights of {self.totals.samples:,.7g} in all"
        lines = [f"{self.source.file}: {self.counts}, {total}", *self.about]
        return [plain(line) for line in (*lines, *([self._invalid] if self.totals.invalid else []))]

    @property
    def _invalid(self) -> str:
        """How many matrices are invalid, which are the first of them, and what became of them."""
        names = ", ".join(self.source.name(position) for position in self.totals.first_invalid)
        more = self.totals.invalid - len(self.totals.first_invalid)
        what = "left out" if self.settings.on_invalid == "skip" else "undefined"
        named = f": {names}" + (f" and {more:,} more" if more else "") if self.source.keys else ""
        return f"{counted(self.totals.invalid, 'invalid matrix')}, {what}{named}"

    @property
    def remaining(self) -> int:
        """The number of matrices that are not left out."""
        return self.source.count - (self.totals.invalid if self.settings.on_invalid == "skip" else 0)

    def facts(self, positive: str | None) -> dict[str, Any]:
        """The facts of the titles, as plain values."""
        return {
            "file": self.source.file,
            "matrices": self.source.count,
            **self.classes(positive),
            "samples": plain_size(self.totals.samples),
            "weighted": getattr(self.source, "squares", None) is not None,
            "invalid": self.totals.invalid,
            "seed": None,
        }

    def classes(self, positive: str | None) -> dict[str, Any]:
        """The classes, and which is positive."""
        raise NotImplementedError

    @property
    def measures(self) -> list[dict[str, Any]]:
        """The measures and their columns."""
        raise NotImplementedError

    def rows_of(self, values: Array) -> Rows:
        """The columns of a result."""
        reasons = reasons_of(self.measures)
        return {
            name: column(part, undefined=reasons[name], measured=measured, title=self.headings.get(name, ""))
            for (name, part), measured in zip(self.outputs(values).items(), self.columns, strict=True)
        }

    def estimates(self, values: Array) -> Array:
        """The values of the measures without their limits: (rows, columns)."""
        return values

    def summarised(self, values: Array) -> Array:
        """The numbers of which a summary has quantiles: (rows, columns)."""
        return values

    @property
    def labels(self) -> list[str]:
        """The names of the columns of an output file."""
        return [column.label for column in self.columns]

    def outputs(self, values: Array) -> dict[str, Array]:
        """The columns of an output file."""
        return dict(zip(self.labels, values.T, strict=True))

    @functools.cached_property
    def rows(self) -> int:
        """The number of matrices of a block: a power of two."""
        columns = len(self.source.keys) + len(self.labels)
        rows = max(self.least_rows or LEAST_ROWS, (self.block_cells or BLOCK_CELLS) // columns)
        most = max(1, BLOCK_BYTES // self.matrix_bytes) if self.matrix_bytes else rows
        return int(2 ** math.floor(math.log2(min(rows, most))))

    @property
    def matrix_bytes(self) -> int:
        """The bytes of a matrix as float64; 0 where samples are scored."""
        return 0

    def missing(self, rows: int) -> Array:
        """The placeholder values of invalid matrices: (rows, columns, ...)."""
        return np.full((len(self.columns), rows), np.nan, self.dtype).T

    @property
    def dtype(self) -> np.dtype[Any]:
        """The dtype of the results."""
        return np.dtype(np.float64)

    def pieces(self) -> Iterator[tuple[int, int]]:
        """Yield the start and stop of each piece; no piece extends beyond its block."""
        count = self.source.count
        for start in range(0, count, self.rows):
            stop = min(start + self.rows, count)
            number = min(stop - start, -(-(stop - start) * self.matrix_bytes // (self.piece_bytes or PIECE_BYTES)) or 1)
            cuts = [start + (stop - start) * k // number for k in range(number + 1)]
            yield from itertools.pairwise(cuts)

    def read(self) -> Iterator[Piece]:
        """The pieces, with the matrices that must be read in order."""
        yield from itertools.starmap(Piece, self.pieces())

    def find(self, piece: Piece) -> BlockResult:
        """Compute the results of a piece."""
        raise NotImplementedError

    @property
    def threads(self) -> int:
        """The number of pieces computed at the same time; if it is 1, the library itself may use all workers."""
        return 1

    def results(self) -> Generator[BlockResult]:
        """Yield the results of every piece in order."""
        return in_order(self.find if self.threads > 1 else self._find_here, self.read(), self.threads)

    def _find_here(self, piece: Piece) -> BlockResult:
        """Compute the results of a piece in the main thread, where its progress can be shown."""
        self.totals.current = piece.start, piece.stop
        return self.find(piece)

    def blocks(self) -> Generator[BlockResult]:
        """The same for every block."""
        waiting: list[BlockResult] = []
        for piece in self.results():
            waiting.append(piece)
            if piece.stop % self.rows == 0 or piece.stop == self.source.count:
                yield joined(waiting)
                waiting = []

    def shown(self) -> AbstractContextManager[None]:
        """Show how far the run is."""
        totals = self.totals
        return shown(Progress(self.source.count, self.input_bytes, totals), lines=self.settings.progress)

    @property
    def input_bytes(self) -> float:
        """The bytes of a matrix in the input; 0 where samples were counted."""
        return 0.0


@dataclass(kw_only=True)
class MatrixRun(Run):
    """A pass over matrices."""

    source: MatrixSource
    target: Target | None = None

    @property
    def counts(self) -> str:
        """The number of matrices and of their classes, in words."""
        matrices = counted(self.source.count, "matrix")
        return f"{matrices} of {counted(self.source.n, 'class')}"

    @property
    def matrix_bytes(self) -> int:
        """The bytes of a matrix as float64."""
        return 8 * self.source.n**2

    @functools.cached_property
    def dtype(self) -> np.dtype[Any]:
        """The dtype of the results; float32 stays float32."""
        dtype: np.dtype[Any] = self.source.block(0, 1).dtype
        return dtype

    @property
    def input_bytes(self) -> float:
        """The bytes of a matrix in the source."""
        return float(getattr(self.source.stack, "dtype", self.dtype).itemsize * self.source.n**2)

    def read(self) -> Iterator[Piece]:
        """Yield pieces: the threads read arrays; this method reads the blocks and columns of a stream in order."""
        if self.source.is_read_in_any_order:
            yield from super().read()
            return
        for start, stop in self.pieces():
            yield Piece(start, stop, self.source.block(start, stop), self.source.columns(start, stop))

    def evaluate(self, positions: Array, block: Array) -> Array:
        """Compute the results (rows, columns, ...) of a block with true classes in rows, at these positions."""
        raise NotImplementedError

    @functools.cached_property
    def columns(self) -> list[Measured]:
        """A column for each measure; for measures of every class, a column for each class."""
        return score_columns(self.metrics, self.source.titles)

    @property
    def measures(self) -> list[dict[str, Any]]:
        """The measures and their columns."""
        return about_measures(self.metrics, self.source.titles)

    def classes(self, positive: str | None) -> dict[str, Any]:
        """The classes, and which is positive."""
        return about_classes(self.source.known(positive))

    @property
    def about(self) -> list[str]:
        """The target prevalence."""
        return [] if self.target is None else [self.target.title]

    def facts(self, positive: str | None) -> dict[str, Any]:
        """The facts of the titles, as plain values."""
        target = {} if self.target is None else {"prevalence": self.target.shares}
        return super().facts(positive) | target

    def find(self, piece: Piece) -> BlockResult:
        """Compute the results of a piece; an invalid matrix is an error, unless ``on_invalid`` is another option."""
        start, stop = piece.start, piece.stop
        block = self.source.block(start, stop) if piece.block is None else piece.block
        oriented = block if self.source.rows == "true" else block.transpose(0, 2, 1)
        positions = np.arange(start, stop)
        try:
            values, valid = self.evaluate(positions, oriented), None
        except matrics.InvalidConfusionMatrix as error:
            if self.settings.on_invalid == "raise":
                raise ValueError(_name_invalid(self.source, positions, block)) from error
            valid = _valid(oriented)
            values = self.missing(len(block))
            if valid.any():
                values[valid] = self.evaluate(positions[valid], oriented[valid])
        scores = self.scores_of(values)
        counted_matrices = block if valid is None else block[valid]
        return BlockResult(
            start,
            stop,
            values.astype(self.dtype, copy=False),
            samples=float(counted_matrices.sum(dtype=np.float64)),
            undefined=int(np.isnan(scores if valid is None else scores[valid]).sum()),
            invalid=() if valid is None else tuple(positions[~valid].tolist()),
            statuses=self.statuses_of(values if valid is None or self.settings.on_invalid == "nan" else values[valid]),
            keys=piece.keys,
        )

    def scores_of(self, values: Array) -> Array:
        """The scores: (rows, columns)."""
        return values

    def statuses_of(self, values: Array) -> Counter[int]:
        """How many intervals have each status."""
        del values
        return Counter()


@dataclass(kw_only=True)
class ScoreRun(MatrixRun):
    """The scores (rows, columns) of a source."""

    to_backend: Callable[[Array], Array]

    @property
    def threads(self) -> int:
        """The number of workers; 1 for PyTorch and JAX, which use their own threads."""
        return self.settings.workers if self.to_backend is np.asarray else 1

    def evaluate(self, positions: Array, block: Array) -> Array:
        """The scores of a block."""
        del positions
        stack: Any = self.to_backend(block)
        invalid: Any = "raise"
        if self.target is not None:
            matrics.check(block)
            # A matrix without samples of a class becomes NaN: its measures are undefined, and it is not invalid.
            stack, invalid = matrics.transform.at_prevalence(stack, self.target.shares), "nan"
        scores = matrics.score(stack, self.metrics.values(), zero_division=self.zero_division, invalid=invalid)
        # Each column is contiguous, as it will be written column by column.
        return np.concatenate([np.atleast_2d(np.asarray(values).T) for values in scores.values()]).T


def score_columns(metrics: dict[str, Metric], classes: Sequence[str]) -> list[Measured]:
    """A column for each measure; for measures of every class, a column for each class."""
    columns = []
    for name, metric in metrics.items():
        labels = map(title_of, named_columns(name, metric, classes))
        reach = f"{range_of(metric)}, {direction_of(metric)}"
        # Measures that weigh errors by the odds of the threshold are comparable only at the same threshold.
        better = None if metric.awaits else metric.higher_is_better
        columns += [Measured(label, reach, better) for label in labels]
    names = [column.label for column in columns]
    twice = first_twice(names)
    if twice is not None:
        raise ArgumentError("metrics", f"expected each measure once, got two of the name {quoted(twice)}")
    return columns


def _valid(block: Array) -> Array:
    """Which matrices are valid, by ``matrics.check``."""
    with NUMPY.quiet():
        return NUMPY.to_numpy(table_in_order(NUMPY.to_float(block), NUMPY).valid)


def _name_invalid(source: MatrixSource, positions: Array, block: Array) -> str:
    wrong = ~(np.isfinite(block) & (block >= 0))
    if not wrong.any():
        return f"{source.file}: expected counts with a finite sum, got a matrix whose sum is infinite"
    return f"{source.file}: expected counts of at least 0, got {name_cell(source, positions, block, wrong)}"


def name_cell(source: MatrixSource, positions: Array, block: Array, wrong: Array) -> str:
    """Name the first wrong cell by its position in the file; the library would count from the start of the block."""
    row, i, j = (int(index) for index in np.argwhere(wrong)[0])
    matrix = f" of matrix {source.name(int(positions[row]))}" if source.keys else ""
    return f"{block[row, i, j]:.10g} in the cell [{i}, {j}] (from 0){matrix}"
