"""Measures of margins alone: their table, and the measures that need all cells."""

from __future__ import annotations

import functools
import math
import warnings
from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import Any

import numpy as np

from matrics._arrays import NUMPY, Array, Standard, is_compiling
from matrics._catalogue.record import Metric
from matrics._counting.labels import MANY_CLASSES
from matrics._engine.evaluation import Invalid, InvalidConfusionMatrix, finish, frames_to_the_user, refuse_unseen
from matrics._engine.execution.host import TableFunction
from matrics._engine.execution.host_arithmetic import HostArithmetic
from matrics._engine.execution.no_cells import CellsNeeded, NoCells
from matrics._engine.margins import margin
from matrics._states.two_words import TwoWords
from matrics.typing import NumPyArray


def table_of(counts: Any, backend: Standard, zero_division: float) -> NoCells:
    """The table of counts (*B, 3, n): an array, or ``TwoWords``."""
    xp, has_words = backend.xp, isinstance(counts, TwoWords)

    def first(x: Array) -> Array:
        return xp.permute_dims(x, (x.ndim - 2, x.ndim - 1, *range(x.ndim - 2)))

    counts = TwoWords(first(counts.low), first(counts.high)) if has_words else first(counts)
    tp, fn, fp = (counts[k] for k in range(3)) if has_words else (counts[k, ...] for k in range(3))
    if not has_words and backend.is_float(counts):
        return NoCells({"tp": tp, "fn": fn, "fp": fp}, backend, zero_division=zero_division)
    kind = _OnHost if backend is NUMPY else _WholeMargins
    return kind(tp, fn, fp, backend, zero_division)


class _WholeMargins(NoCells):
    """Margins of integers, whose sums and differences are exact; they are rounded to floats last."""

    def __init__(self, tp: Any, fn: Any, fp: Any, backend: Standard, zero_division: float) -> None:
        self._tp, self._fn, self._fp = tp, fn, fp
        self._has_words = isinstance(tp, TwoWords)
        like = tp.low if self._has_words else tp
        self._dtype = backend.float_dtype(like)
        # Products of five 64-bit integers are well within the range of float64.
        is_moderate = bool(self._dtype == backend.xp.float64)
        super().__init__({}, backend, like=like, zero_division=zero_division, is_moderate=is_moderate)

    @property
    def dtype(self) -> Any:
        """See ``Margins``."""
        return self._dtype

    def _rounded(self, x: Any) -> Array:
        return x.to_float(self.backend) if self._has_words else self.backend.to_float(x)

    def _added(self, x: Any) -> Any:
        return x.sum(0, self.backend) if self._has_words else self._sum(x, 0)

    @margin
    def _true(self) -> Any:
        return self._tp + self._fn

    @margin
    def _pred(self) -> Any:
        return self._tp + self._fp

    @margin
    def _hits(self) -> Any:
        return self._added(self._tp)

    @margin
    def _errors(self) -> Any:
        return self._added(self._fn)

    @margin
    def _total(self) -> Any:
        return self._hits + self._errors

    @margin
    def _not_true(self) -> Any:
        return self._total[None, ...] - self._true

    @margin
    def tp(self) -> Array:
        """Correct predictions of each class."""
        return self._rounded(self._tp)

    @margin
    def fn(self) -> Array:
        """Errors of each true class."""
        return self._rounded(self._fn)

    @margin
    def fp(self) -> Array:
        """Errors of each predicted class."""
        return self._rounded(self._fp)

    @margin
    def tn(self) -> Array:
        """A difference."""
        return self._rounded(self._not_true - self._fp)

    @margin
    def true(self) -> Array:
        """Row sums."""
        return self._rounded(self._true)

    @margin
    def pred(self) -> Array:
        """Column sums."""
        return self._rounded(self._pred)

    @margin
    def mean_size(self) -> Array:
        """The mean of the row sum and the column sum, rounded once."""
        return 0.5 * self._rounded(self._tp + self._tp + self._fn + self._fp)

    @margin
    def not_true(self) -> Array:
        """A difference."""
        return self._rounded(self._not_true)

    @margin
    def not_pred(self) -> Array:
        """A difference."""
        return self._rounded(self._total[None, ...] - self._pred)

    @margin
    def total(self) -> Array:
        """The sum of all cells."""
        return self._rounded(self._total)

    @margin
    def hits(self) -> Array:
        """The sum of the diagonal."""
        return self._rounded(self._hits)

    @margin
    def errors(self) -> Array:
        """The sum of all other cells."""
        return self._rounded(self._errors)

    @margin
    def valid(self) -> Array:
        """Whether no count is negative."""
        parts = (self._tp, self._fn, self._fp)
        # The low words are at least 0.
        lowest = [self.xp.min(part.high if self._has_words else part, axis=0) for part in parts]
        return (lowest[0] >= 0) & (lowest[1] >= 0) & (lowest[2] >= 0)


class _OnHost(HostArithmetic, _WholeMargins):
    """The table of margins for arrays of NumPy, whose values can be inspected."""

    def _rounded(self, x: Array) -> Array:
        return x.astype(np.float64) if x.ndim else np.float64(x)  # as the method of a scalar takes much longer

    def _added(self, x: Array) -> Array:
        return np.add.reduce(x, axis=0)

    def unless_invalid(self, values: Array) -> Array:
        """See ``Margins``."""
        return values if self.nowhere(~self.valid) else super().unless_invalid(values)


def scores_on_host(
    counts: NumPyArray,
    functions: Sequence[TableFunction],
    zero_division: float,
    *,
    are_valid: bool,
    hits: Array | None = None,
) -> list[Array]:
    """The values of measures of margins for NumPy counts (3, n); with ``are_valid``, the counts are not checked.

    ``hits`` is the sum of the true positives, if it is known.
    """
    with NUMPY.quiet():
        if are_valid:
            known = _OnHost(counts[0], counts[1], counts[2], NUMPY, zero_division)
            known.valid = np.True_
            if hits is not None:
                known._hits = hits
            table: NoCells = known
        else:
            table = table_of(counts, NUMPY, zero_division)
        return [finish(function(table), table)[()] for function in functions]


def scores_of(chosen: Mapping[str, Metric], functions: Sequence[TableFunction], table: NoCells) -> dict[str, Array]:
    """The values of all measures; measures that need cells raise an error, which names them."""
    scores: dict[str, Array] = {}
    lacking: list[str] = []
    # A formula may allocate a number for each pair of classes before it reads cells: it is first tried on few classes.
    if table.n > MANY_CLASSES and not is_compiling():
        lacking = measures_of_cells(chosen)
    if not lacking:
        for name, function in zip(chosen, functions, strict=True):
            try:
                scores[name] = finish(function(table), table)
            except CellsNeeded:
                lacking.append(name)
    if lacking:
        verb = "needs" if len(lacking) == 1 else "need"
        raise ValueError(
            f"{', '.join(lacking)} {verb} all cells of the matrix, which a MarginState does not keep; use "
            "ConfusionState"
        )
    return scores


def measures_of_cells(chosen: Mapping[str, Metric]) -> list[str]:
    """The names of the measures that need cells."""
    return [name for name, metric in chosen.items() if _reads_cells(metric)]


@functools.lru_cache(1024)
def _reads_cells(metric: Metric) -> bool:
    """Whether a measure needs cells, tried on a matrix of three classes: the first in place of others."""
    # A matrix of weights or costs has as many rows as classes, and needs the cells.
    if tuple in [type(value) for _, value in metric.fixed]:
        return True
    tried = replace(metric, classes=metric.classes and (0,), class_weights=())
    table = table_of(np.ones((3, 3), dtype=np.int64), NUMPY, math.nan)
    with NUMPY.quiet():
        try:
            tried.bind()(table)
        except CellsNeeded:
            return True
    return False


def tell_of_invalid(table: NoCells, invalid: Invalid) -> None:
    """Raise an error, or warn, if counts are invalid; the message names the first invalid counts."""
    backend = table.backend
    refuse_unseen(table.valid, backend)
    valid = np.asarray(backend.to_numpy(table.valid))
    bad = np.argwhere(~valid)
    if not len(bad):
        return
    where = ", ".join(str([int(i) for i in position]) for position in bad[:3])
    message = (
        f"{len(bad)} of {valid.size} matrices {'is' if len(bad) == 1 else 'are'} invalid, with a negative, NaN or "
        f"infinite count{f'; first {where}' if valid.ndim else ''}"
    )
    if invalid == "raise":
        raise InvalidConfusionMatrix(message)
    warnings.warn(message, RuntimeWarning, stacklevel=frames_to_the_user())
