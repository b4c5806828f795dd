"""The properties of a measure that intervals need, and the data of a call."""

from __future__ import annotations

import math
import os
from collections.abc import Callable, Sequence
from dataclasses import replace
from functools import lru_cache
from typing import Any, NamedTuple

import numpy as np

from matrics._arrays import NUMPY, Array, Standard
from matrics._catalogue.record import Metric
from matrics._engine.evaluation import TableFunction, evaluate
from matrics._engine.table import Table
from matrics._stacks.prevalence import reweighted
from matrics._uncertainty.limits import Range
from matrics._uncertainty.options import Options
from matrics._uncertainty.ratios import RATIOS
from matrics._uncertainty.target import Target

Score = Callable[[Array, int], list[Array]]

# The measures of contingency without a second derivative, which a correction of bias would need.
MADE_OF_MAXIMA = ("goodman_kruskal_lambda",)


class Measure(NamedTuple):
    """The properties of a measure that intervals need."""

    name: str
    function: TableFunction
    range: Range
    trials: TableFunction | None  # of a proportion: the number of samples in the denominator
    margin: str | None  # of a proportion: the name of these samples
    biased: bool  # whether the estimate is noticeably biased
    higher_is_better: bool | None
    scale_free: bool  # whether the measure depends on shares only
    extreme: Extreme | None = None  # if it is the lowest or the highest value of the classes
    samples: tuple[TableFunction, ...] = ()  # of a ratio of two proportions: successes and sizes
    ratio: str = ""  # the name of the ratio
    metric: Metric | None = None

    @classmethod
    def of(cls, metric: Metric) -> Measure:
        """The measure of a metric with its options."""
        classwise = metric.kind == "per_class"
        margin = metric.proportion_of if metric.average in (("class", "binary") if classwise else (None,)) else None
        pick = metric.classes[0] if metric.average == "binary" else None

        def trials(table: Table) -> Array:
            count = getattr(table, margin or "total")
            if not classwise:
                return count
            counts = count[None, ...] * table.xp.ones_like(table.true) if count.ndim < table.true.ndim else count
            return counts if pick is None else counts[pick, ...]

        contingency = metric.function.__module__.endswith(".contingency") and metric.name not in MADE_OF_MAXIMA
        biased = not metric.is_own and (metric.family in ("information", "spectral") or contingency)
        return cls(
            str(metric),
            metric.bind(),
            metric.range,
            trials if margin else None,
            margin,
            biased,
            metric.higher_is_better,
            metric.scale_free,
            Extreme.of(metric) if metric.average in ("min", "max") else None,
            _two_samples(metric, pick),
            metric.name,
            metric,
        )


@lru_cache(maxsize=1024)
def is_count(metric: Metric | None) -> bool:
    """Whether a measure is a sum of cells, such as the number of errors: its values for two matrices add up."""
    if metric is None:
        return False
    average = "class" if metric.average == "binary" else metric.average
    a, b = np.random.default_rng(0).uniform(50, 150, (2, 3, 3))
    try:
        function = replace(metric, average=average, classes=()).bind()
        value_a, value_b, value_of_sum = evaluate(np.stack([a, b, a + b]), [function], invalid="nan")[0]
    except Exception:  # noqa: BLE001 (a measure of the user, which may require another number of classes)
        return False
    return bool(np.allclose(value_a + value_b, value_of_sum, rtol=1e-9, atol=0))


def _two_samples(metric: Metric, pick: int | None) -> tuple[TableFunction, ...]:
    """The successes and sizes of the two samples that a ratio compares, for each class or for a single class."""
    if metric.name not in RATIOS or metric.average not in ("class", "binary") or metric.is_own:
        return ()
    samples = RATIOS[metric.name][0]

    def part(k: int) -> TableFunction:
        return lambda table: samples(table)[k] if pick is None else samples(table)[k][pick, ...]

    return tuple(part(k) for k in range(4))


class Extreme(NamedTuple):
    """The per-class measure behind a lowest or highest value over classes."""

    each: Measure
    classes: tuple[int, ...]  # empty for all classes
    is_highest: bool

    @classmethod
    def of(cls, metric: Metric) -> Extreme:
        """The per-class measure behind an average over classes."""
        each = Measure.of(replace(metric, average="class", classes=()))
        return cls(each, metric.classes, metric.average == "max")


class Task(NamedTuple):
    """A call: what to compute, and the tables (r, c), which are matrices or joint tables of two classifiers."""

    cells: Array  # (B, r, c), or (K, B, r, c) of clusters
    whole: Array  # (B, r, c): the cells, or their sums over clusters
    estimates: list[Array]  # (B,) or (B, C) for each measure
    measures: Sequence[Measure]
    score: Score  # scores tables (*, r, c) with this number of threads
    options: Options
    zero_division: float
    workers: int
    backend: Standard
    squares: Array | None = None  # (B, r, c): squared weights, if the cells are sums of weights
    target: Target | None = None  # the prevalence at which tables are scored, if it is not their own

    @property
    def threads(self) -> int:
        """The number of threads."""
        return (os.cpu_count() or 1) if self.workers == -1 else self.workers

    @property
    def size(self) -> int:
        """The number of cells of a table."""
        return math.prod(self.whole.shape[-2:])

    def part(self, which: slice | Array) -> Task:
        """The task for some of the tables."""
        estimates = [estimate[which, ...] for estimate in self.estimates]
        squares = None if self.squares is None else self.squares[which, :, :]
        cells, whole = self.cells[..., which, :, :], self.whole[which, :, :]
        target = None if self.target is None else self.target.part(which)
        return self._replace(cells=cells, whole=whole, estimates=estimates, squares=squares, target=target)

    def there(self, tables: Array) -> Array:
        """The tables (…, B, r, c) that are scored: at the target prevalence, if it is set."""
        if self.target is None:
            return tables
        shares = self.backend.xp.broadcast_to(self.target.shares, tuple(tables.shape[:-1]))
        return reweighted(self.backend.to_float(tables), shares, self.backend)


#: Lower and upper limits, standard errors and numbers of undefined replicates of a measure.
Limits = tuple[Array, Array, Array, Array]


def tables_of(array: Array, batch: tuple[int, ...], backend: Standard, *, clusters: bool) -> tuple[Array, Array]:
    """Tables (B, r, c), or (K, B, r, c), with zeros in invalid tables, and whether each table is valid."""
    xp, lead, ends = backend.xp, tuple(array.shape[: int(clusters)]), tuple(array.shape[-2:])
    cells = xp.broadcast_to(backend.to_float(array), (*lead, *batch, *ends))
    cells = xp.reshape(cells, (*lead, math.prod(batch), *ends))
    if backend is NUMPY:
        cells = cells.astype(np.float64, copy=False)
    valid = xp.all(xp.isfinite(cells) & (cells >= 0), axis=(-2, -1))
    valid = xp.all(valid, axis=0) if clusters else valid
    return xp.where(valid[:, None, None], cells, 0), valid


def like(flags: Array, value: Array, xp: Any) -> Array:
    """Flags (B,), broadcast to the shape of values (B,) or (B, C)."""
    return flags if value.ndim == 1 else xp.broadcast_to(flags[:, None], value.shape)


def scored(task: Task, valid: Array) -> Task:
    """The task with the values of its measures: NaN for tables that are not valid."""
    xp = task.backend.xp
    values = task.score(task.there(task.whole), task.workers)
    return task._replace(estimates=[xp.where(like(valid, value, xp), value, math.nan) for value in values])


def nothing(task: Task) -> list[Limits]:
    """The limits of an empty stack."""
    xp, backend = task.backend.xp, task.backend
    integer = backend.widest_int(task.whole) or xp.int32
    return [(value, value, value, xp.astype(xp.zeros_like(value), integer)) for value in task.estimates]


def score_of(measures: Sequence[Measure], zero_division: float) -> Score:
    """A function that computes all measures of matrices."""
    functions = [measure.function for measure in measures]

    def score(cm: Array, workers: int) -> list[Array]:
        return evaluate(cm, functions, zero_division=zero_division, invalid="nan", workers=workers)

    return score
