"""Score a source block by block on a backend, so that memory stays bounded for a file of any size."""

from __future__ import annotations

import importlib
import sys
import time
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, ClassVar

import numpy as np
from rich.console import Console
from rich.progress import Progress

import matrics
from matrics.catalogue.description import facts
from matrics.catalogue.record import Metric
from matrics.cli.report import Column, counted
from matrics.naming import columns as named_columns

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Sequence

    from matrics.cli.keys import Keyed
    from matrics.cli.read import Source

Array = Any

BLOCK_BYTES = 32 * 1024 * 1024  # of the file at a time


@dataclass(kw_only=True)
class Run:
    """One pass over a source; subclasses compute scores or intervals."""

    unit: ClassVar[str]  # what it computes for a matrix and a measure, in words

    source: Keyed
    metrics: dict[str, Metric]
    zero_division: float
    samples: float = 0.0  # counted on the way

    @property
    def counts(self) -> str:
        """What there is, in words."""
        raise NotImplementedError

    @property
    def columns(self) -> list[Column]:
        """One column per measure, or one per class for measures of every class."""
        raise NotImplementedError

    @property
    def labels(self) -> list[str]:
        """The names of the columns of an output file."""
        return [column.label for column in self.columns]

    def outputs(self, found: Array) -> dict[str, Array]:
        """The columns of an output file."""
        return dict(zip(self.labels, found.T, strict=True))

    def blocks(self) -> Iterator[tuple[int, Array]]:
        """Yield the first matrix of each block and what is found for it: (rows, columns, ...)."""
        raise NotImplementedError


@dataclass(kw_only=True)
class MatrixRun(Run):
    """One pass over matrices, block by block."""

    source: Source

    @property
    def counts(self) -> str:
        """What there is, in words."""
        matrices = counted(self.source.count, "matrix", "matrices")
        return f"{matrices} of {counted(self.source.n, 'class', 'classes')}"

    @property
    def block_bytes(self) -> int:
        """Bytes of the file at a time."""
        return BLOCK_BYTES

    def evaluate(self, start: int, block: Array) -> Array:
        """What is found for a block, true classes in rows, that begins at matrix ``start``: (rows, columns, ...)."""
        raise NotImplementedError

    @property
    def columns(self) -> list[Column]:
        """One column per measure, or one per class for measures of every class."""
        return score_columns(self.metrics, self.source.classes)

    def blocks(self) -> Iterator[tuple[int, Array]]:
        """Yield the first matrix of each block and what is found for it, with a progress bar if it takes long."""
        source = self.source
        size = max(1, self.block_bytes // (8 * source.n**2))
        begin, bar_shown = time.monotonic(), False
        progress = Progress(console=Console(stderr=True), transient=True)
        task = progress.add_task("scoring", total=source.count)
        try:
            for start in range(0, source.count, size):
                yield start, self._found(start, min(start + size, source.count))
                progress.update(task, completed=start + size)
                if not bar_shown and time.monotonic() - begin > 1 and sys.stderr.isatty():
                    bar_shown = True
                    progress.start()
        finally:
            if bar_shown:
                progress.stop()

    def _found(self, start: int, stop: int) -> Array:
        block = self.source.block(start, stop)
        oriented = block if self.source.rows == "true" else block.transpose(0, 2, 1)
        try:
            found = self.evaluate(start, oriented)
        except matrics.InvalidConfusionMatrix as error:
            raise ValueError(_name_invalid(self.source, start, block)) from error
        self.samples += float(block.sum(dtype=np.float64))
        return found


@dataclass(kw_only=True)
class ScoreRun(MatrixRun):
    """The scores (rows, columns) of one source."""

    unit: ClassVar[str] = "score"

    to_backend: Callable[[Array], Array]

    def evaluate(self, start: int, block: Array) -> Array:
        """The scores of a block."""
        del start
        scores = matrics.score(
            self.to_backend(block),
            self.metrics.values(),
            zero_division=self.zero_division,
            invalid="raise",
            workers=-1,
        )
        return np.column_stack([np.asarray(values) for values in scores.values()])


def score_columns(metrics: dict[str, Metric], classes: Sequence[str]) -> list[Column]:
    """One column per measure, or one per class for measures of every class."""
    columns = []
    for name, metric in metrics.items():
        labels = named_columns(name, metric, classes)
        known = facts(metric)
        reach = f"{known['range']}, {known['direction']}"
        columns += [Column(label, reach, metric.higher_is_better) for label in labels]
    names = [column.label for column in columns]
    twice = next((name for name in names if names.count(name) > 1), None)
    if twice is not None:
        raise ValueError(f"--metrics: expected each measure once, got two of the name {twice!r}")
    return columns


def _name_invalid(source: Source, start: int, block: Array) -> str:
    wrong = ~(np.isfinite(block) & (block >= 0))
    if not wrong.any():
        return f"{source.file}: expected counts with a finite sum, got a matrix whose sum is infinite"
    return f"{source.file}: expected counts of at least 0, got {name_cell(source, start, block, wrong)}"


def name_cell(source: Source, start: int, block: Array, wrong: Array) -> str:
    """Name the first wrong cell by its position in the file; the library would count from the start of the block."""
    position, i, j = (int(index) for index in np.argwhere(wrong)[0])
    matrix = f" of matrix {source.name(start + position)}" if source.keys else ""
    return f"{block[position, i, j]:.10g} in the cell [{i}, {j}] (from 0){matrix}"


def open_backend(backend: str) -> Callable[[Array], Array]:
    """Import a backend, and return a function that converts a NumPy array to its array."""
    if backend not in ("numpy", "torch", "jax"):
        raise ValueError(f"--backend: expected numpy, torch or jax, got {backend!r}")
    if backend == "numpy":
        return np.asarray
    try:
        library = importlib.import_module(backend)
        if backend == "jax":
            # Set here and not in the library, where users choose for themselves.
            library.config.update("jax_enable_x64", True)
            return importlib.import_module("jax.numpy").asarray  # type: ignore[no-any-return]
    except ImportError as error:
        raise ValueError(f"--backend: {backend} is not installed: python -m pip install {backend}") from error
    return lambda block: library.from_numpy(np.require(block, requirements=["C", "W"]))
