"""Discrimination lines: the boundary where a measure changes its preference between two kinds of errors."""

from __future__ import annotations

import math
from enum import IntEnum
from typing import Any, NamedTuple, Self

import numpy as np

from matrics._arrays import Array
from matrics._arrays.sizes import check_count
from matrics._catalogue.classes import Classes
from matrics._catalogue.record import Metric
from matrics._catalogue.registry import get_metric
from matrics._engine.results import NamedResult, frame_of
from matrics._quoting import quoted
from matrics._stacks.simulate import class_proportions, controlled_errors
from matrics.typing import ArrayLike

__all__ = ["DiscriminationLine", "LineStatus", "discrimination_line"]

# Two values that differ by less are equal: this is the rounding error of a sum of a few cells of order 1.
ABSOLUTE_NOISE = 1e-13
RELATIVE_NOISE = 1e-12
# A narrower interval of equal values is a single root: values around a root differ by less than the noise.
NARROW = 1e-6
# Replaces the sign of a difference if a measure is undefined.
UNDEFINED = 2
# Points close to both ends, where measures are steep or undefined.
CLOSEST = 23


class LineStatus(IntEnum):
    """Which series a measure prefers at an x of a discrimination line; ``sentence`` says it in words.

    Examples
    --------
    >>> from matrics.study import LineStatus
    >>> LineStatus(1).sentence
    'errors in the first class alone are preferred, however many of its samples are wrong'
    """

    sentence: str

    def __new__(cls, value: int, sentence: str) -> Self:
        """The code with this sentence."""
        status = int.__new__(cls, value)
        status._value_ = value
        status.sentence = sentence
        return status

    CROSSES = 0, "for some share of errors in the first class both matrices have the same value"
    ONE_CLASS = 1, "errors in the first class alone are preferred, however many of its samples are wrong"
    ALL_CLASSES = 2, "errors in all classes are preferred, however few samples of the first class are wrong"
    EQUAL = 3, "the value is the same, however many samples of the first class are wrong"
    UNDEFINED = 4, "the measure is undefined for errors in all classes, or for any errors in the first class"


class DiscriminationLine(NamedResult):
    """A discrimination line, as from :func:`matrics.study.discrimination_line`.

    Parameters
    ----------
    x : array, shape (X,)
        The recall of all classes in the first series of matrices.
    y : array, shape (*B, X)
        The recall of the first class in the second series at which both series have the same value: the greatest root.
        NaN if no root exists.
    roots : array, shape (*B, X, R)
        All y at which both series have the same value, or at which the preference changes in a jump; ascending, padded
        with NaN. R is the largest number of roots of an x. An interval of equal values has both ends as roots.
    has_interval : array of bool, shape (*B, X)
        Whether two of the roots are the ends of an interval of equal values.
    status : array of int, shape (*B, X)
        Codes of :class:`matrics.study.LineStatus`. Without a root, they name the preferred series.
    """

    x: Array
    y: Array
    roots: Array
    has_interval: Array
    status: Array

    def to_frame(self) -> Any:
        """A data frame of pandas with a row for each x."""
        return frame_of({**self._asdict(), "x": np.broadcast_to(self.x, self.y.shape)})


def discrimination_line(
    metric: str | Metric,
    num_classes: int,
    imbalance: float | ArrayLike = 0.0,
    *,
    positive: int | None = None,
    hits: ArrayLike | None = None,
    tolerance: float = 1e-9,
    intervals: int = 512,
) -> DiscriminationLine:
    """The line on which a measure prefers neither of two series of matrices.

    In the first series every class has the recall x. In the second series the first class has the recall y, and all
    other classes have no errors. For each x, the line has the y at which the measure has the same value.

    Parameters
    ----------
    metric : str or Metric
        A name, a spec or a metric with a single value for a matrix. A measure of each class is averaged as its spec
        says (by default the value of class 1 of two, and the mean over more classes), or is the value of a single
        class: ``"f1[0]"``, ``"mcc[0]"``.
    num_classes : int
        Number of classes k, at least 2.
    imbalance : array_like, shape (*B,), default 0
        p in [0, 1]: with 0 all classes have the same size, with 1 each class is half as large as the previous one.
    positive : int, optional
        The index of the class, for a per-class measure without an average (``"recall"``).
    hits : array_like, shape (X,), optional
        The recalls x of the first series; 101 numbers from 0 to 1 if left out.
    tolerance : float, default 1e-9
        The width to which the interval around a root is narrowed. If the measure hardly depends on y, rounding causes a
        larger error.
    intervals : int, default 512
        Number of intervals of [0, 1] that are searched for a change of preference. Two roots in the same interval are
        missed.

    Returns
    -------
    DiscriminationLine
        Arrays of NumPy, shapes (*B, X) and (*B, X, R).

    Raises
    ------
    ValueError
        The measure has a value for each class, ``positive`` is not a class, k is below 2, ``hits`` or ``imbalance``
        are not in [0, 1], or ``tolerance`` is not in (0, 1).

    Notes
    -----
    The cells of the matrices are shares of samples that add up to 1, so a measure that depends on the
    number of samples has the value of a single sample, and may be meaningless. A y at which the measure is undefined,
    as precision is without any prediction, is not a root, and does not affect the rest of the line. Values that differ
    only by rounding are equal. If a measure has no direction, the status assumes that higher values are preferred.

    Memory: a few arrays of about 560 numbers for each x and p.

    References
    ----------
    Labatut and Cherifi, "Accuracy measures for the comparison of classifiers", section 6.

    Examples
    --------
    A recall of 0.8 in all of three classes is as good as a recall of 0.4 in a single class. A recall
    of 0.5 in all classes is worse than any errors in a single class.

    >>> from matrics.study import LineStatus, discrimination_line
    >>> line = discrimination_line("accuracy", 3, hits=[0.5, 0.8, 1])
    >>> line.y.round(3)
    array([nan, 0.4, 1. ])
    >>> [LineStatus(code).name for code in line.status]
    ['ONE_CLASS', 'CROSSES', 'CROSSES']
    """
    k = check_count(num_classes, "num_classes")
    if k < 2:
        raise ValueError("num_classes: expected at least 2, as errors go to other classes, got 1")
    if isinstance(tolerance, bool) or not isinstance(tolerance, (int, float, np.number)) or not 0 < tolerance < 1:
        raise ValueError(f"tolerance: expected a number between 0 and 1, such as 1e-9, got {quoted(tolerance)}")
    x = _read_hits(hits)
    levels = np.asarray(imbalance, dtype=np.float64)
    series = _Series(_read_metric(metric, positive, k), class_proportions(k, levels.reshape(-1)), x)
    roots = _search(series, _grid(check_count(intervals, "intervals")), float(tolerance))
    batch = levels.shape
    return DiscriminationLine(
        x, *(array.reshape(*batch, len(x), *array.shape[2:]) for array in (roots.y, roots.roots, *roots[2:]))
    )


def _read_hits(hits: Any) -> np.ndarray:
    x = np.linspace(0, 1, 101) if hits is None else np.asarray(hits, dtype=np.float64)
    if x.ndim != 1:
        raise ValueError(f"hits: expected a single axis of recalls (X,), got shape {x.shape}")
    if not ((x >= 0) & (x <= 1)).all():
        raise ValueError(f"hits: expected recalls in [0, 1], got {x[~((x >= 0) & (x <= 1))][0]}")
    return x


def _read_metric(metric: str | Metric, positive: Any, num_classes: int) -> Metric:
    """The metric; raises unless it has a single value for a matrix."""
    known = get_metric(metric).resolved_for(Classes.of(num_classes, None, positive))
    if known.is_classwise:
        raise ValueError(
            f"metric: expected a single value for each matrix, got {known} with a value for each class: choose an "
            f"average, or a class, such as '{known.name}[0]'"
        )
    return known


def _grid(intervals: int) -> np.ndarray:
    near = 0.5 ** np.arange(1, CLOSEST + 1)
    return np.union1d(np.linspace(0, 1, intervals + 1), np.concatenate([near, 1 - near]))


# Values ---------------------------------------------------------------------------------------------------------------


class _Series(NamedTuple):
    """Both series of matrices, and the measure."""

    metric: Metric
    proportions: np.ndarray  # (B, k)
    x: np.ndarray  # (X,)

    @property
    def higher_is_better(self) -> bool:
        """Whether higher values are preferred."""
        return self.metric.higher_is_better is not False

    def of(self, proportions: np.ndarray, recalls: np.ndarray) -> np.ndarray:
        """The measure of matrices with these class sizes and recalls."""
        return np.asarray(self.metric(controlled_errors(proportions, recalls), invalid="nan"))

    def first_class(self, y: np.ndarray) -> np.ndarray:
        """The recalls of all classes, where the first class has the recall y."""
        recalls = np.ones((*y.shape, self.proportions.shape[-1]))
        recalls[..., 0] = y
        return recalls

    def on(self, grid: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
        """The values of the first series, (B, X), and of the second series on a grid, (B, G)."""
        k = self.proportions.shape[-1]
        recalls = np.concatenate([np.repeat(self.x[:, None], k, axis=-1), self.first_class(grid)])
        both = self.of(self.proportions[:, None, :], recalls[None])
        return both[:, : len(self.x)], both[:, len(self.x) :]


def _preference(first: np.ndarray, second: np.ndarray) -> np.ndarray:
    """The sign of the second value minus the first: 0 if they are equal up to rounding, 2 if a value is undefined."""
    with np.errstate(invalid="ignore"):
        gap = np.where(first == second, 0.0, second - first)  # two infinite values are equal
        # The difference of an infinite and a finite value is infinite, and so would be the noise.
        size = np.maximum(np.abs(first), np.abs(second))
        noise = ABSOLUTE_NOISE + RELATIVE_NOISE * np.where(np.isinf(size), 0, size)
        sign = np.where(np.abs(gap) <= noise, 0, np.sign(gap))
    return np.where(np.isnan(gap), UNDEFINED, sign).astype(np.int8)


# The search -----------------------------------------------------------------------------------------------------------


class _Roots(NamedTuple):
    y: np.ndarray
    roots: np.ndarray
    has_interval: np.ndarray
    status: np.ndarray


class _Brackets(NamedTuple):
    """Intervals of y with different preferences at both ends."""

    row: np.ndarray  # the number of the pair of an imbalance and an x
    low: np.ndarray
    high: np.ndarray


def _search(series: _Series, grid: np.ndarray, tolerance: float) -> _Roots:
    first, on_grid = series.on(grid)
    signs = _preference(first[..., None], on_grid[:, None, :]).reshape(-1, len(grid))
    changes = _changes(signs, grid)
    enters, leaves = _intervals(signs, grid)
    together = _Brackets(*(np.concatenate(parts) for parts in zip(changes, enters, leaves, strict=True)))
    low, high = _bisect(series, first.reshape(-1), together, tolerance)
    crossed, entered, left = np.split(np.arange(len(low)), np.cumsum([len(changes.row), len(enters.row)]))
    # The inner ends have equal values.
    start, stop = high[entered], low[left]
    wide = stop - start > NARROW
    rows = [changes.row, enters.row, leaves.row[wide]]
    roots = _pad(
        np.concatenate(rows),
        np.concatenate([(low[crossed] + high[crossed]) / 2, np.where(wide, start, (start + stop) / 2), stop[wide]]),
        len(signs),
    )
    has_interval = np.zeros(len(signs), bool)
    has_interval[enters.row[wide]] = True
    shape = first.shape
    y = np.full(len(signs), math.nan) if roots.shape[1] == 0 else np.fmax.reduce(roots, axis=1)
    status = _status(signs, np.isfinite(y), higher_is_better=series.higher_is_better)
    return _Roots(*(array.reshape(*shape, *array.shape[1:]) for array in (y, roots, has_interval, status)))


def _changes(signs: np.ndarray, grid: np.ndarray) -> _Brackets:
    """The neighbours on the grid between which the preferred series changes."""
    row, column = np.nonzero(signs[:, :-1] * signs[:, 1:] == -1)
    return _Brackets(row, grid[column], grid[column + 1])


def _intervals(signs: np.ndarray, grid: np.ndarray) -> tuple[_Brackets, _Brackets]:
    """The brackets where runs of equal values on the grid begin and end, in the same order."""
    equal = np.pad(signs == 0, ((0, 0), (1, 1)))
    last = len(grid) - 1
    row, column = np.nonzero(equal[:, 1:-1] & ~equal[:, :-2])
    enters = _Brackets(row, grid[np.maximum(column - 1, 0)], grid[column])
    row, column = np.nonzero(equal[:, 1:-1] & ~equal[:, 2:])
    return enters, _Brackets(row, grid[column], grid[np.minimum(column + 1, last)])


def _bisect(series: _Series, first: np.ndarray, brackets: _Brackets, tolerance: float) -> tuple[np.ndarray, np.ndarray]:
    """The limits of all brackets, narrowed together until none is wider than the tolerance."""
    low, high = brackets.low.copy(), brackets.high.copy()
    if not len(low):
        return low, high
    proportions, target = series.proportions[brackets.row // len(series.x)], first[brackets.row]

    def sign(y: np.ndarray) -> np.ndarray:
        return _preference(target, series.of(proportions, series.first_class(y)))

    at_low = sign(low)
    for _ in range(max(0, math.ceil(math.log2((high - low).max() / tolerance))) if (high > low).any() else 0):
        middle = (low + high) / 2
        below = sign(middle) == at_low
        low, high = np.where(below, middle, low), np.where(below, high, middle)
    return low, high


def _pad(rows: np.ndarray, values: np.ndarray, number: int) -> np.ndarray:
    """The values of each row in ascending order, padded with NaN."""
    order = np.lexsort((values, rows))
    rows, values = rows[order], values[order]
    counts = np.bincount(rows, minlength=number)
    padded = np.full((number, counts.max(initial=0)), math.nan)
    padded[rows, np.arange(len(rows)) - np.repeat(np.cumsum(counts) - counts, counts)] = values
    return padded


def _status(signs: np.ndarray, crosses: np.ndarray, *, higher_is_better: bool) -> np.ndarray:
    defined = signs != UNDEFINED
    better = signs > 0 if higher_is_better else signs < 0
    alone = np.where((better & defined).any(axis=1), LineStatus.ONE_CLASS, LineStatus.ALL_CLASSES)
    status = np.where(crosses, LineStatus.CROSSES, alone)
    status = np.where((signs == 0).any(axis=1) & ((signs == 0) | ~defined).all(axis=1), LineStatus.EQUAL, status)
    return np.where(defined.any(axis=1), status, LineStatus.UNDEFINED)
