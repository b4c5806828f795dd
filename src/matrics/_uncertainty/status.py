"""The status of confidence limits: whether the samples suffice, and the gravest reason against the limits."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import replace
from functools import lru_cache
from typing import Any, Literal, NamedTuple

import numpy as np

from matrics._arrays import NUMPY, Array, Standard
from matrics._catalogue.record import Metric
from matrics._engine.evaluation import evaluate
from matrics._uncertainty.bias import NOTICEABLE, bias_of, may_be_biased
from matrics._uncertainty.measure import Limits, Measure, Task, score_of
from matrics._uncertainty.options import Options
from matrics._uncertainty.results import IntervalStatus
from matrics._uncertainty.slopes import slopes
from matrics._uncertainty.weighted import are_counts, effective, kish

#: The limit whose status is computed; None for both limits.
Side = Literal["low", "high"] | None

#: The matrices for which each reason holds.
Reasons = Mapping[IntervalStatus, Array]

#: The reasons, the gravest last.
BY_GRAVITY = (
    IntervalStatus.FEW_LABELS,
    IntervalStatus.BIASED,
    IntervalStatus.FEW_SAMPLES,
    IntervalStatus.AT_THE_EDGE,
    IntervalStatus.UNDETERMINED,
    IntervalStatus.EMPTY_CLASS,
    IntervalStatus.UNDEFINED_REPLICATES,
    IntervalStatus.NOT_COUNTS,
    IntervalStatus.NO_VARIATION,
    IntervalStatus.UNDEFINED,
    IntervalStatus.NO_SAMPLES,
    IntervalStatus.INVALID,
)

# Below these numbers, the coverage in simulations was less than the level: samples of a true class (or clusters that
# contain it), or of the denominator of a proportion; samples for each of n² cells; and errors, or correct predictions.
SAMPLES_OF_A_CLASS, SAMPLES_OF_A_CELL, EITHER_OUTCOME = 20, 20, 5

# The least effective number of clusters, and the least sum of squared errors of the clusters in units of the squared
# size of a cluster (1 for a single cluster without a correct prediction).
EFFECTIVE_CLUSTERS, CLUSTERS_OF_ERRORS = 10, 0.1

# Effective number of weighted samples: below this, single weights dominate, and the variance is unreliable.
WEIGHTED_SAMPLES = 200

# The share of undefined replicates above which the status is UNDEFINED_REPLICATES.
UNDEFINED_SHARE = 0.05

# Up to MOST_CLASSES classes the influence of each cell is computed; above, that of the kinds of cells with FEW_CLASSES.
MOST_CLASSES, FEW_CLASSES = 6, 4

# The averages for which a measure has a value for each class, or for a single class.
CLASSWISE = ("class", "binary")

# Influences of cells are equal if they differ by less than this part of the largest.
EQUAL = 1e-4


class Need(NamedTuple):
    """A number of samples, effective samples or clusters, (B,) or (B, C), and the fewest that are enough."""

    number: Array
    least: float


def status_of(task: Task, valid: Array, measure: Measure, side: Side = None, *, of_difference: bool = False) -> Array:
    """The status of the limits of a measure of each matrix, by its samples or clusters: (B,) or (B, C).

    All limits of measures of confusion matrices follow this rule. With a ``side`` the status is that of a single limit,
    and with ``of_difference`` that of the limits of the difference from another value.
    """
    status = _status_of_samples(task, valid, measure, side)
    xp = task.backend.xp
    status = xp.where(status == 0, at_best(measure, task.whole.shape[-1], task.whole, xp), status)
    if not may_be_biased(measure, task.options.method, of_difference=of_difference):
        return status
    bias = bias_of(task, measure)
    beyond = _is_noticeable(bias, side, xp)
    status = status[:, None] if status.ndim < bias.ndim else status
    return xp.where((status == 0) & beyond, int(IntervalStatus.BIASED), status)


def _status_of_samples(task: Task, valid: Array, measure: Measure, side: Side) -> Array:
    """The status by the numbers of samples or clusters alone, without bias: (B,) or (B, C)."""
    backend, xp, whole = task.backend, task.backend.xp, task.whole
    few, pools = few_samples(task, measure, side)
    integer = backend.widest_int(whole) or xp.int32
    status = xp.astype(few, integer) * 0
    empty, counts = xp.any(pools == 0, axis=-1) if pools is not None else whole[:, 0, 0] < 0, are_counts(whole, backend)
    if status.ndim > 1:
        valid, counts = valid[:, None], counts[:, None]
        empty = empty if empty.ndim > 1 else empty[:, None]
    conditions = {IntervalStatus.FEW_SAMPLES: few, IntervalStatus.EMPTY_CLASS: empty & valid}
    if task.squares is None and task.options.scheme != "clusters":  # clusters have the variance of sums
        conditions[IntervalStatus.NOT_COUNTS] = ~counts
    return graver(status, conditions, xp)


def few_samples(task: Task, measure: Measure, side: Side = None) -> tuple[Array, Array | None]:
    """Whether a measure has too few samples, (B,) or (B, C), and the sizes of the classes that must not be empty."""
    needs, pools = _needs(task, measure, side)
    few = task.backend.xp.zeros_like(task.whole[:, 0, 0]) > 0
    for number, least in needs:
        short = ~enough(number, least)
        few = (few[:, None] if short.ndim > few.ndim else few) | (short[:, None] if few.ndim > short.ndim else short)
    return few, pools


def needs_of(
    cm: Array, measure: Measure, side: Side, *, squares: Array | None = None, clusters: Array | None = None
) -> list[tuple[float, float]]:
    """The numbers of a single matrix, and the least numbers for the limit of a single value at ``side`` to hold."""
    needs, _ = _needs(_task_of(cm, measure, squares, clusters), measure, side)
    return [(float(np.min(number)), least) for number, least in needs]


def is_biased(
    cm: Array, measure: Measure, side: Side, *, squares: Array | None = None, clusters: Array | None = None
) -> bool:
    """Whether the bias of the estimate of a single matrix is so large that its limit at ``side`` may not hold."""
    return bool(np.any(_is_noticeable(bias_of(_task_of(cm, measure, squares, clusters), measure), side, np)))


def at_best(measure: Measure, n: int, counts: Array | None = None, xp: Any = np) -> Array | int:
    """The status of limits from enough samples: not 0 where no number sufficed in simulations, by the metric's record.

    Without the ``counts`` from which limits are computed, the status is that of the worst matrix.
    """
    misses = None if measure.metric is None or measure.metric.average is not None else measure.metric.limits_miss
    if _samples_needed(measure, n) == math.inf or (misses is not None and n > 2 and counts is None):
        return int(IntervalStatus.LIMITS_MISS)
    if misses is None or n == 2:
        return int(IntervalStatus.OK)
    (flags,) = evaluate(counts, [lambda table: table.xp.astype(misses(table), table.true_rates.dtype)], invalid="nan")
    return xp.where(flags > 0, int(IntervalStatus.LIMITS_MISS), int(IntervalStatus.OK))


def _samples_needed(measure: Measure, n: int) -> float:
    """The number of samples that limits of a measure of n classes need; infinite if no number is enough."""
    needed = None if measure.metric is None else measure.metric.limits_need
    return SAMPLES_OF_A_CELL * n**2 if needed is None else needed(n)


def _is_noticeable(bias: Array, side: Side, xp: Any) -> Array:
    """Whether a bias endangers the limits, or that at ``side``: if estimates are too low, lower limits still hold."""
    return {None: xp.abs(bias), "low": bias, "high": -bias}[side] > NOTICEABLE


def _task_of(cm: Array, measure: Measure, squares: Array | None, clusters: Array | None) -> Task:
    """The task for a single matrix and measure."""
    cells = np.asarray(cm if clusters is None else clusters, dtype=np.float64)
    cells = cells[None] if clusters is None else cells[:, None]
    whole = cells if clusters is None else cells.sum(axis=0)
    options = Options(0.95, "auto", "multinomial" if clusters is None else "clusters", 0)
    if squares is not None:
        whole, squares = effective(whole, np.asarray(squares, dtype=np.float64)[None], NUMPY)
        cells = whole
    return Task(cells, whole, [], [measure], score_of([measure], math.nan), options, math.nan, 1, NUMPY, squares)


def enough(number: Any, least: float) -> Any:
    """Whether a number is enough. Effective numbers are not whole, so rounding errors are allowed for."""
    return number >= least * (1 - 1e-6)


def reasons(value: Array, limits: Limits, general: Array, valid: Array, task: Task) -> tuple[Array, Array, Array]:
    """Which values are defined, which have limits, and the status of each; ``general`` is the status of the samples."""
    xp, (low, high, _, undefined) = task.backend.xp, limits
    known = ~xp.isnan(value)
    has_limits = known & ~xp.isnan(low) & ~xp.isnan(high) & (low != high)  # a point is no interval
    if value.ndim > 1:
        general = general if general.ndim > 1 else general[:, None]
        general, valid = general + xp.zeros_like(undefined), valid[:, None] & (undefined >= 0)
    conditions = {
        IntervalStatus.UNDEFINED_REPLICATES: undefined > int(UNDEFINED_SHARE * task.options.num),
        IntervalStatus.NO_VARIATION: ~has_limits,
        IntervalStatus.UNDEFINED: ~known,
        IntervalStatus.INVALID: ~valid,
    }
    return known, has_limits, graver(general, conditions, xp)


def graver(status: Array, reasons: Reasons, xp: Any) -> Array:
    """The gravest reason that holds, or the status of the samples where that is graver.

    The statuses of all results are determined here.
    """
    for code in sorted(reasons, key=BY_GRAVITY.index):
        is_lighter = (status < int(code)) | (status >= int(IntervalStatus.FEW_LABELS))
        status = xp.where(reasons[code] & is_lighter, int(code), status)
    return status


def graver_of(a: Array, b: Array, xp: Any) -> Array:
    """The graver of two statuses. The statuses from FEW_LABELS on are the lightest, although their codes are large."""
    of_a, of_b = (xp.where(status >= int(IntervalStatus.FEW_LABELS), 1, status) for status in (a, b))
    return xp.where(of_b > of_a, b, a)


# What a measure depends on -------------------------------------------------------------------------------------------


class Dependence(NamedTuple):
    """The cells on which a measure depends, and the cells that have equal influence on it.

    Cells are numbered by kind. A measure of each class has the five kinds of ``_parts``; others have correct and wrong
    predictions, or single cells.
    """

    successes: tuple[int, ...]  # of a proportion: the kinds of cells that raise it
    failures: tuple[int, ...]  # of a proportion: the kinds of cells that lower it
    pools: tuple[tuple[int, ...], ...]  # of other measures: kinds of whole rows; () if each row is a pool
    are_single: bool  # whether the kinds are single cells


EVERYTHING = Dependence((), (), (), are_single=False)


def dependence_of(measure: Measure, n: int) -> Dependence:
    """The cells on which a measure of n classes depends: all cells, unless the influences of the cells differ."""
    metric = measure.metric
    if metric is None or measure.extreme is not None or n < 2:
        return EVERYTHING
    if metric.kind == "per_class" and metric.average not in (*CLASSWISE, "micro") and not metric.classes:
        return EVERYTHING  # a mean over all classes
    return _dependence(metric, n if n <= MOST_CLASSES else -1)


@lru_cache(maxsize=1024)
def _dependence(metric: Metric, n: int) -> Dependence:
    """The dependence of a metric; n is -1 for more classes than the influence of each cell is computed for."""
    is_classwise = metric.average in CLASSWISE
    influences = _influences(metric, n)
    if influences is None:
        return EVERYTHING
    group_of = _groups(influences)
    if len(set(group_of.values())) == 2:
        ups = tuple(k for k in group_of if influences[k].max() > EQUAL)
        downs = tuple(k for k in group_of if influences[k].min() < -EQUAL)
        if ups and downs and not set(ups) & set(downs):
            return Dependence(ups, downs, (), are_single=not is_classwise and n > 0)
    if is_classwise:
        is_against_the_rest = group_of.get(3) == group_of.get(4, group_of.get(3))
        return Dependence((), (), ((0, 1), (2, 3, 4)), are_single=False) if is_against_the_rest else EVERYTHING
    return EVERYTHING if n < 0 else _by_rows(group_of, n)


def _influences(metric: Metric, n: int) -> dict[int, Array] | None:
    """The derivative by each kind of cell at several matrices; None if those of a kind differ."""
    is_classwise = metric.average in CLASSWISE
    size = FEW_CLASSES if n < 0 or (is_classwise and n > FEW_CLASSES) else n
    cells = _tables(size)
    try:
        function = (replace(metric, average="class", classes=()) if is_classwise else metric).bind()
        with NUMPY.quiet():
            derivatives = slopes(
                cells, lambda x, _: evaluate(x, [function], invalid="nan"), NUMPY, second=False, workers=1
            )
    except Exception:  # noqa: BLE001 (a measure of the user, which may require another number of classes)
        return None
    first = derivatives.first[0][:, 0, :] if is_classwise and derivatives.first[0].ndim == 3 else derivatives.first[0]
    if first.shape != (len(cells), size * size) or not np.isfinite(first).all():
        return None
    products = first * cells.reshape(first.shape)
    if (np.abs(products.sum(axis=1)) > EQUAL * np.abs(products).sum(axis=1)).any():
        return None  # the measure changes with the number of samples
    first = first / np.maximum(np.abs(first).max(axis=1, keepdims=True), 1e-300)
    rows, columns = np.divmod(np.arange(size * size), size)
    if is_classwise:
        of_class = [(rows == 0) & (columns == 0), rows == 0, columns == 0, rows == columns]
        kinds = np.select(of_class, [0, 1, 2, 3], default=4)
    else:
        kinds = np.arange(size * size) if n > 0 else (rows != columns).astype(int)
    by_kind = {int(kind): first[:, kinds == kind] for kind in np.unique(kinds)}
    if any((np.ptp(of_kind, axis=1) > EQUAL).any() for of_kind in by_kind.values()):
        return None
    return {kind: of_kind[:, 0] for kind, of_kind in by_kind.items()}


def _by_rows(group_of: dict[int, int], n: int) -> Dependence:
    """The dependence on rows: the rows whose cells have the same influences are a pool."""
    pools: dict[Any, tuple[int, ...]] = {}
    for k in range(n):
        own = range(k * n, (k + 1) * n)
        signature = frozenset(group_of[cell] for cell in own if cell in group_of)
        if signature:
            pools[signature] = (*pools.get(signature, ()), *own)
    return EVERYTHING if len(pools) in {0, 1, n} else Dependence((), (), tuple(pools.values()), are_single=True)


def _groups(influences: dict[int, Array]) -> dict[int, int]:
    """The number of the group of each kind of cell with an influence: kinds with equal influences are a group."""
    representatives: list[Array] = []
    group_of = {}
    for kind, influence in influences.items():
        if np.abs(influence).max() <= EQUAL:
            continue
        equal = [
            k for k, representative in enumerate(representatives) if np.abs(representative - influence).max() <= EQUAL
        ]
        representatives += [] if equal else [influence]
        group_of[kind] = equal[0] if equal else len(representatives) - 1
    return group_of


def _tables(n: int) -> Array:
    """Matrices without equal cells, where each class is the worst, the best, the largest and the smallest in turn."""
    cells = np.random.default_rng(0).uniform(50, 150, (4 * n, n, n))
    diagonal = cells[:, np.arange(n), np.arange(n)] * 2 * n
    for k in range(n):
        for place, factor in ((k, 8.0), (n + k, 0.125)):
            cells[place, k, :] *= factor
            cells[place, :, k] *= factor
    cells[:, np.arange(n), np.arange(n)] = diagonal
    for k in range(n):
        for place, factor in ((2 * n + k, 8.0 * n), (3 * n + k, 0.125)):
            cells[place, k, :] *= factor
    return cells


# How many samples a measure depends on -------------------------------------------------------------------------------


class _Samples(NamedTuple):
    """The samples of each kind of cell of a measure."""

    on: Dependence
    weights: list[Array]  # (B,) or (B, C) for each kind
    squares: list[Array] | None
    clusters: list[Array] | None  # as weights, with an axis of clusters
    backend: Standard

    @classmethod
    def of(cls, task: Task, on: Dependence, metric: Metric | None) -> _Samples:
        """The samples of a task, by the kinds of cells on which a measure depends."""
        clusters = _parts(task.cells, on, metric, task.backend) if task.options.scheme == "clusters" else None
        squares = None if task.squares is None else _parts(task.squares, on, metric, task.backend)
        return cls(on, _parts(task.whole, on, metric, task.backend), squares, clusters, task.backend)

    def number(self, kinds: Sequence[int]) -> Array:
        """The number of samples of some kinds, or their effective number."""
        weights = sum(self.weights[k] for k in kinds)
        return weights if self.squares is None else kish(weights, sum(self.squares[k] for k in kinds), self.backend)

    def units(self, kinds: Sequence[int]) -> Array:
        """The number of samples of some kinds, or of clusters with such samples."""
        if self.clusters is None:
            return self.number(kinds)
        xp = self.backend.xp
        return xp.sum(xp.astype(sum(self.clusters[k] for k in kinds) > 0, self.weights[0].dtype), axis=0)

    def effective(self, kinds: Sequence[int]) -> Array:
        """The effective number of clusters with some kinds of samples: how many of equal size vary as much."""
        assert self.clusters is not None  # noqa: S101 (the caller checks this)
        return _effective_number(sum(self.clusters[k] for k in kinds), self.backend)

    def full(self, right: Sequence[int], wrong: Sequence[int], whole: Array) -> Array:
        """How many clusters without a correct prediction vary as much as the wrong predictions of all clusters (K, B).

        The comparison uses sums of squares. The size of such a cluster is the average over samples, so that large
        clusters count more. Each correct prediction of a class would be a miss there, and add a false alarm.
        """
        assert self.clusters is not None  # noqa: S101 (the caller checks this)
        xp = self.backend.xp
        errors, hits = (sum(self.clusters[k] for k in kinds) for kinds in (wrong, right))
        whole = whole if errors.ndim == whole.ndim else whole[..., None]
        sizes = xp.where(2 * hits + errors < whole, 2 * hits + errors, whole + 0 * errors)
        number = _effective_number(sizes, self.backend)
        size = xp.sum(sizes, axis=0) / xp.where(number > 0, number, 1)
        return xp.sum(errors * errors, axis=0) / xp.where(size > 0, size, 1) ** 2

    def of_pools(self, task: Task) -> tuple[Array, Array]:
        """The sizes of the pools of rows (…, pools), and the numbers of samples or clusters in the pools."""
        xp = self.backend.xp
        if self.on.pools:
            sizes = xp.stack([sum(self.weights[k] for k in kinds) for kinds in self.on.pools], axis=-1)
            return sizes, xp.stack([self.units(kinds) for kinds in self.on.pools], axis=-1)
        sizes = xp.sum(task.whole, axis=-1)
        if self.clusters is not None:
            return sizes, xp.sum(xp.astype(xp.sum(task.cells, axis=-1) > 0, sizes.dtype), axis=0)
        return sizes, _effective(sizes, None if task.squares is None else xp.sum(task.squares, axis=-1), self.backend)


def _parts(cells: Array, on: Dependence, metric: Metric | None, backend: Standard) -> list[Array]:
    """The samples of each kind of cell.

    For a class these are hits, misses, false alarms, and the correct and wrong predictions of the other classes.
    """
    xp, n = backend.xp, cells.shape[-1]
    if on.are_single:
        flat = xp.reshape(cells, (*cells.shape[:-2], n * n))
        return [flat[..., k] for k in range(n * n)]
    hits, total = xp.sum(cells * _identity(n, cells, backend), axis=-1), xp.sum(cells, axis=(-2, -1))
    right = xp.sum(hits, axis=-1)
    if metric is None or metric.average not in CLASSWISE or on is EVERYTHING:
        return [right, total - right]
    misses, alarms = (xp.sum(cells, axis=axis) - hits for axis in (-1, -2))
    kinds = [hits, misses, alarms, right[..., None] - hits, (total - right)[..., None] - misses - alarms]
    return [part[..., metric.classes[0]] for part in kinds] if metric.average == "binary" else kinds


def _needs(task: Task, measure: Measure, side: Side) -> tuple[list[Need], Array | None]:
    """The numbers of samples that a measure needs, and the sizes of the classes that must not be empty, (…, pools)."""
    backend, xp = task.backend, task.backend.xp
    on = EVERYTHING if task.target is not None else dependence_of(measure, task.whole.shape[-1])
    samples = _Samples.of(task, on, measure.metric)
    needs, sizes = [], None
    if on.successes:
        right, wrong = list(on.successes), list(on.failures)
        needs.append(Need(samples.units((*right, *wrong)), SAMPLES_OF_A_CLASS))
        needs += [Need(samples.number(right), EITHER_OUTCOME)] if side != "high" else []
        needs += [Need(samples.number(wrong), EITHER_OUTCOME)] if side != "low" else []
    else:
        sizes, units = samples.of_pools(task)
        right, wrong = _outcomes(on, task.whole.shape[-1])
        needed = _samples_needed(measure, units.shape[-1])
        needed = needed if needed < math.inf else SAMPLES_OF_A_CELL * units.shape[-1] ** 2
        needs.append(Need(samples.number((*right, *wrong)), needed))
        needs.append(Need(xp.min(xp.where(sizes > 0, units, math.inf), axis=-1), SAMPLES_OF_A_CLASS))
        needs.append(Need(samples.number(right), EITHER_OUTCOME))
        # Few errors are no reason against the limit on the side of more errors.
        if side is None or side != {True: "low", False: "high"}.get(measure.higher_is_better):  # type: ignore[arg-type]
            needs.append(Need(samples.number(wrong), EITHER_OUTCOME))
    if samples.clusters is not None:
        needs.append(Need(samples.effective((*right, *wrong)), EFFECTIVE_CLUSTERS))
        # Other clusters, unlike those of the data, would have more errors. The default limits of a proportion allow for
        # such clusters: they count as few trials as the clusters with errors do.
        safe: Side = "low" if measure.higher_is_better is False and not on.successes else "high"
        if side != safe and (measure.trials is None or task.options.method != "auto"):
            needs.append(Need(samples.full(right, wrong, xp.sum(task.cells, axis=(-2, -1))), CLUSTERS_OF_ERRORS))
    if task.target is not None:  # each row is a sample by itself, and a small row may have the largest weight
        right_cells = _identity(task.whole.shape[-1], task.whole, backend)
        for chosen in (right_cells, 1 - right_cells):
            squares = None if task.squares is None else xp.sum(task.squares * chosen, axis=-1)
            number = _effective(xp.sum(task.whole * chosen, axis=-1), squares, backend)
            needs.append(Need(xp.min(xp.where(task.target.shares > 0, number, math.inf), axis=-1), EITHER_OUTCOME))
    if task.squares is not None:
        total, of_squares = (xp.sum(x, axis=(-2, -1)) for x in (task.whole, task.squares))
        needs.append(Need(kish(total, of_squares, backend), WEIGHTED_SAMPLES))
    return needs, sizes


def _outcomes(on: Dependence, n: int) -> tuple[list[int], list[int]]:
    """The kinds of correct and of wrong predictions on which a measure depends."""
    if not on.pools:
        return [0], [1]
    kinds = [k for pool in on.pools for k in pool]
    is_right = {k * n + k for k in range(n)} if on.are_single else {0, 3}
    return [k for k in kinds if k in is_right], [k for k in kinds if k not in is_right]


def _effective_number(sizes: Array, backend: Standard) -> Array:
    """The effective number of clusters of these sizes (K, …)."""
    return kish(backend.xp.sum(sizes, axis=0), backend.xp.sum(sizes * sizes, axis=0), backend)


def _effective(weights: Array, squares: Array | None, backend: Standard) -> Array:
    return weights if squares is None else kish(weights, squares, backend)


def _identity(n: int, like: Array, backend: Standard) -> Array:
    return backend.constant([[float(i == j) for j in range(n)] for i in range(n)], like)[None, :, :]
