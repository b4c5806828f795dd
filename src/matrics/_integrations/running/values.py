"""The values of metrics for PyTorch, torchmetrics and Flax, computed from their states, and their names."""

from __future__ import annotations

import functools
import math
import warnings
from abc import abstractmethod
from collections.abc import Hashable, Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any, Self

import numpy as np

from matrics._arrays import NUMPY, Array, as_arrays, is_compiling
from matrics._arrays.sizes import check_count
from matrics._catalogue.naming import by_class, check_names, named, scalars, with_dropped
from matrics._catalogue.record import Metric
from matrics._engine.evaluation import TableFunction, frames_to_the_user
from matrics._engine.execution.blocks import score_blocks
from matrics._integrations.running.settings import (
    CountProperties,
    Undefined,
    are_counts,
    checked_prefix,
    classes_of,
    empty_values,
    keeps_cells,
    resolved,
    warn_of_no_samples,
)
from matrics._quoting import quoted
from matrics._states.confusion import ConfusionState
from matrics._states.margin_scores import scores_on_host
from matrics._states.margins import MarginState
from matrics._states.two_words import WORD
from matrics.typing import NumPyArray

# Counts that are all 0 without samples, and their high words.
Counted = tuple[Array, Array | None]


@dataclass(frozen=True, kw_only=True)
class Values:
    """The requested values of a state; the fields are constants, so that instances can be compared and hashed."""

    prefix: str
    class_names: tuple[str, ...] | None
    undefined: Undefined  # a tuple, as NaN in a data class is not equal to itself from Python 3.13 on
    keys: tuple[str, ...] = ()  # the names of all values

    @abstractmethod
    def of(self, state: Any) -> dict[str, Array]:
        """All values, as scalar arrays under names for a logger."""

    @property
    @abstractmethod
    def requested(self) -> list[str]:
        """The names of the values, as the user gave them."""

    @property
    @abstractmethod
    def higher_is_better(self) -> bool | None:
        """Whether higher values of the first measure are better."""

    @abstractmethod
    def _only(self, place: int) -> Self:
        """The values of the measure at this place."""

    def only(self, name: str, state: Any) -> Self:
        """The values of a single requested measure, by its name with or without the prefix, for states of this kind."""
        requested = self.requested
        plain = name.removeprefix(self.prefix) if isinstance(name, str) and name not in requested else name
        if plain not in requested:
            raise KeyError(f"expected one of {', '.join(map(quoted, requested))}, got {quoted(name)}")
        result = self._only(requested.index(plain))
        return replace(result, keys=tuple(map(str, result.of(state))))

    def __str__(self) -> str:
        return f"{self.requested}, prefix={quoted(self.prefix)}"

    def renamed(self, prefix: str) -> Self:
        """The values with another prefix."""
        keys = tuple(checked_prefix(prefix) + key.removeprefix(self.prefix) for key in self.keys)
        return replace(self, prefix=prefix, keys=keys)

    def report(self, state: Any, *, has_warned: bool, warns_of_nothing: bool = True) -> tuple[dict[str, Array], bool]:
        """All values, with the number of dropped samples if it is not 0, and whether a warning was issued.

        It warns once about dropped samples and about invalid counts, and each time if there are no samples. Numbers
        that cannot be read without synchronization are ignored.
        """
        known, warning, counted = self._known(state)
        number = state.dropped
        dropped, *counts = [_host_view(x) for x in (number, *(counted or ())) if x is not None]
        if dropped is None or any(x is None for x in counts):
            return known, has_warned
        samples = int(dropped)
        if warning and not has_warned:
            warnings.warn(warning, RuntimeWarning, stacklevel=frames_to_the_user())
        if warns_of_nothing and counts and not samples and not any(map(_are_some, counts)):
            warn_of_no_samples()
        known = with_dropped(known, number, self.prefix, samples=samples, warn=not has_warned)
        return known, has_warned or bool(warning) or samples > 0

    def check_expected(self, state: Any, expected: Any) -> None:
        """Warn unless this number of samples was counted or dropped; None and traced counts are not checked."""
        if expected is None:
            return
        expected = check_count(expected, "expected")
        counted = self._samples(state)
        if counted is None:
            return
        total, dropped = max((float(sum(pair)), int(pair[1])) for pair in np.broadcast(counted, self._dropped(state)))
        if total == expected:
            return
        aside = f", of which {dropped:,} were dropped" if dropped else ""
        warnings.warn(
            f"expected {expected:,} samples, got {total:,.10g}{aside}: a sampler that gives several "
            "processes equal numbers of samples repeats some: leave them out with mask=; ignored samples are not "
            "counted",
            RuntimeWarning,
            stacklevel=frames_to_the_user(),
        )

    @abstractmethod
    def _samples(self, state: Any) -> float | NumPyArray | None:
        """The number of counted samples, or the sum of their weights; None if counts cannot be read.

        With several labels it is an array with the number of each label.
        """

    def _dropped(self, state: Any) -> NumPyArray:
        """The number of dropped samples, in the shape of ``_samples``."""
        backend, (dropped,) = as_arrays(dropped=state.dropped)
        numbers: NumPyArray = backend.to_numpy(dropped)
        return numbers

    def _known(self, state: Any) -> tuple[dict[str, Array], str, Counted | None]:
        """All values, the text of a warning (may be empty), and the counts (None if there are samples)."""
        return self.of(state), "", (state.counts, state.carried)


@dataclass(frozen=True, kw_only=True)
class ConfusionValues(Values):
    """The requested measures of a confusion matrix."""

    metrics: tuple[tuple[str, Metric], ...]  # under plain text keys, which compiled code supports
    titles: tuple[str, ...]
    keeps_cells: bool  # False for margins alone
    are_counts: tuple[bool, ...]

    @classmethod
    def of_classes(
        cls,
        num_classes: int,
        metrics: str | Metric | Iterable[str | Metric],
        codes: Mapping[Hashable, int] | None,
        *,
        prefix: str,
        class_names: Sequence[str] | None,
        positive: Hashable,
        has_threshold: bool,
        ignored: Sequence[int],
        undefined: Undefined,
        bytes_of_cell: int,
        margins_alone: bool,
        allow_large: bool,
    ) -> ConfusionValues:
        """The measures, resolved for the classes; raises for unsupported measures, and for too many cells."""
        names = check_names(class_names, num_classes) or (None if codes is None else tuple(map(str, codes)))
        classes = classes_of(num_classes, codes, class_names, positive, by_construction=has_threshold, ignored=ignored)
        records, titles = resolved(metrics, classes)
        has_cells = keeps_cells(
            records, num_classes, bytes_of_cell, margins_alone=margins_alone, allow_large=allow_large
        )
        empty = empty_values(records.values(), num_classes, has_cells=has_cells)
        result = cls(
            prefix=checked_prefix(prefix),
            class_names=names,
            undefined=undefined,
            metrics=tuple(records.items()),
            titles=tuple(titles),
            keeps_cells=has_cells,
            are_counts=are_counts(empty),
        )
        return replace(result, keys=tuple(map(str, result._named(empty))))

    @property
    def requested(self) -> list[str]:
        """The keys of the measures."""
        return [key for key, _ in self.metrics]

    @property
    def higher_is_better(self) -> bool | None:
        """Whether higher values of the first measure are better."""
        return self.metrics[0][1].higher_is_better

    def _only(self, place: int) -> Self:
        here = slice(place, place + 1)
        return replace(self, metrics=self.metrics[here], titles=self.titles[here], are_counts=self.are_counts[here])

    def of(self, state: ConfusionState | MarginState) -> dict[str, Array]:
        """All measures of the matrix, as scalar arrays under names for a logger."""
        return self._known(state)[0]

    def _known(self, state: ConfusionState | MarginState) -> tuple[dict[str, Array], str, Counted | None]:
        values, counted = self._scored(state), None
        if not self._are_complete(values, state.counts):
            counted = state.counts, state.carried
            properties = CountProperties.of(*counted)
            pairs = zip(values, self.are_counts, strict=True)
            values = [self.undefined.filled(value, properties, is_count=is_count) for value, is_count in pairs]
        return self._named(values), "", counted

    def _scored(self, state: ConfusionState | MarginState) -> list[Array]:
        """The values of all measures, which may be undefined."""
        counts, zero_division = state.counts, self.undefined.zero_division
        if type(counts) is not np.ndarray or self._functions is None:
            metrics = [metric for _, metric in self.metrics]
            scores = state.score(metrics, zero_division=zero_division, invalid="nan")
            return [scores[metric.spec] for metric in metrics]
        # ``score`` checks its arguments, which takes longer than most measures.
        if self.keeps_cells:
            return score_blocks(counts, self._functions, zero_division, 1)[0]
        hits = getattr(state, "hits", None)
        return scores_on_host(counts, self._functions, zero_division, are_valid=NUMPY.is_integer(counts), hits=hits)

    @functools.cached_property
    def _functions(self) -> list[TableFunction] | None:
        """The measures as functions of a table; None if a metric has traced arrays, which NumPy cannot read."""
        metrics = [metric for _, metric in self.metrics]
        return None if any(metric.is_traced for metric in metrics) else [metric.bind() for metric in metrics]

    @functools.cached_property
    def _are_classwise(self) -> tuple[bool, ...]:
        """Whether each measure has a value for each class."""
        return tuple(metric.is_classwise for _, metric in self.metrics)

    def __getstate__(self) -> dict[str, Any]:
        """The fields without cached values, as functions cannot be pickled."""
        return {name: value for name, value in self.__dict__.items() if not name.startswith("_")}

    def _are_complete(self, values: Sequence[Array], counts: Array) -> bool:
        """Whether there are samples and all values are defined; False if this requires synchronization."""
        view = _host_view(counts)
        if view is None or any(map(_has_nan, values)):
            return False
        # Without samples, all measures except counts are undefined.
        return (math.isnan(self.undefined.zero_division) and not all(self.are_counts)) or _are_some(view)

    def _samples(self, state: ConfusionState | MarginState) -> float | None:
        host_values = on_host(state.counts, state.carried)
        if host_values is None:
            return None
        return float((host_values[..., :2, :] if isinstance(state, MarginState) else host_values).sum())

    def _named(self, values: Sequence[Array]) -> dict[str, Array]:
        known: tuple[str, ...] | None = self.__dict__.get("_names")
        if known is not None and not is_compiling():
            if True in self._are_classwise:
                pairs = zip(values, self._are_classwise, strict=True)
                values = [part for value, is_each in pairs for part in (by_class(value) if is_each else (value,))]
            return dict(zip(known, values, strict=True))
        metrics = dict(self.metrics)
        keys = map(named, metrics, self.titles, metrics.values())
        result = scalars(dict(zip(keys, values, strict=True)), metrics, self.prefix, self.class_names)
        if not is_compiling():
            self.__dict__["_names"] = tuple(result)  # the names of later values, which are the same
        return result


def on_host(counts: Array, carried: Array | None = None) -> NumPyArray | None:
    """The counts as NumPy floats, including high words or rounding errors; None if they cannot be read."""
    backend, (counts, more) = as_arrays(counts=counts, carried=counts if carried is None else carried)
    if not backend.can_look(counts):
        return None
    host_counts: NumPyArray = backend.to_numpy(counts).astype(np.float64)
    if carried is None or 0 in more.shape:
        return host_counts
    whole: NumPyArray = host_counts + backend.to_numpy(more) * (2.0**WORD if backend.is_integer(counts) else 1.0)
    return whole


def _host_view(x: Array) -> Any:
    """The array as an array of the host; None if it cannot be read without synchronization."""
    if isinstance(x, (np.ndarray, np.generic)):
        return x
    backend, (x,) = as_arrays(x=x)
    return backend.host_view(x)


def _has_nan(value: Array) -> bool:
    """Whether the value, or the value of any class, is NaN; True if it cannot be read without synchronization."""
    view = _host_view(value)
    if view is None:
        return True
    differs = view != view  # noqa: PLR0124 (isnan takes twice as long)
    return bool(differs.any() if view.ndim else differs)


def _are_some(counts: Array) -> bool:
    """Whether any count is not 0; checked row by row, as the first row nearly always has nonzero counts."""
    is_long = counts.ndim == 0 or len(counts) > counts.size / 64
    return bool(np.count_nonzero(counts)) if is_long else any(map(np.count_nonzero, counts))
