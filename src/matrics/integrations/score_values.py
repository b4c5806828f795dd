"""What the metrics for PyTorch, torchmetrics and Flax compute from a ScoreState, and under which names."""

from __future__ import annotations

import math
import warnings
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, replace

import numpy as np

from matrics import _backend
from matrics._backend import Array, Standard
from matrics._names import split_outside
from matrics.catalogue.record import Metric
from matrics.evaluation import check_options, frames_to_the_user
from matrics.labels import is_kept, labels_to_ignore, widen
from matrics.naming import CLASSWISE, by_class, check_names, with_dropped
from matrics.ranking.state import ScoreState
from matrics.scoring import resolve_of_two

CALIBRATION = "expected_calibration_error"
AREAS = ("macro", "weighted", "micro", "class")
# The names, the methods of a ScoreState, and what may follow a colon in the name.
METHODS = {
    "roc_auc": ("roc_auc", AREAS),
    "average_precision": ("average_precision", AREAS),
    CALIBRATION: (CALIBRATION, ("top_label", "class_wise")),
    "ece": (CALIBRATION, ("top_label", "class_wise")),
}
DEFAULT = ("roc_auc", "average_precision", CALIBRATION)
# Under a mask, the new labels of samples that are left out, and of labels out of range.
MASKED, OUTSIDE = -2, -1


@dataclass(frozen=True)
class Wanted:
    """One of the values: a method of the state, or a measure of the catalogue at one of its thresholds."""

    key: str
    name: str  # of a method, or of a measure
    option: str | None = None  # what follows the colon
    place: int | None = None  # among the thresholds of the state


@dataclass(frozen=True)
class ScoreValues:
    """The requested values of a state. It holds nothing but constants, so that it can be compared and hashed."""

    wanted: tuple[Wanted, ...]
    prefix: str
    class_names: tuple[str, ...] | None
    zero_division: tuple[float | None]  # in a tuple, as NaN in a data class is not equal to itself from Python 3.13 on
    bounds: bool
    calibration_bins: int
    are_probabilities: bool  # the edges are those from 0 to 1

    @classmethod
    def of_state(
        cls,
        state: ScoreState,
        num_classes: int | None,
        metrics: str | Iterable[str],
        *,
        prefix: str,
        class_names: Sequence[str] | None,
        zero_division: float | None,
        bounds: bool,
        calibration_bins: int,
    ) -> ScoreValues:
        """The values of states like this one; raises for what they do not have."""
        check_options(math.nan if zero_division is None else zero_division, "nan")
        if not isinstance(prefix, str):
            raise TypeError(f"prefix: expected text, got {prefix!r}")
        if class_names is not None and num_classes is None:
            raise ValueError("class_names: expected None without num_classes=, as all values are those of class 1")
        if zero_division is not None:  # always the same NaN object, as others are not equal
            zero_division = math.nan if math.isnan(zero_division) else float(zero_division)
        thresholds = _backend.as_arrays(thresholds=state.thresholds)[0].to_numpy(state.thresholds)
        return cls(
            tuple(_read(name, thresholds, has_classes=num_classes is not None) for name in _names(metrics)),
            prefix,
            None if num_classes is None else check_names(class_names, num_classes) or _numbers(num_classes),
            (zero_division,),
            bool(bounds),
            calibration_bins,
            bool(thresholds[-2] == 0 and thresholds[1] == 1),
        )

    def renamed(self, prefix: str) -> ScoreValues:
        """The same with another prefix."""
        return replace(self, prefix=prefix)

    def __str__(self) -> str:
        return f"{[wanted.key for wanted in self.wanted]}, prefix={self.prefix!r}"

    def of(self, state: ScoreState) -> dict[str, Array]:
        """All values, as scalar arrays under names for a logger."""
        named: dict[str, Array] = {}
        for wanted in self.wanted:
            for ending, values in self._values(wanted, state).items():
                named |= self._named(wanted, ending, self._defined(values, state))
        return named

    def _values(self, wanted: Wanted, state: ScoreState) -> dict[str, Array]:
        (zero_division,) = self.zero_division
        of_nothing = math.nan if zero_division is None else zero_division
        if wanted.place is not None:
            (values,) = state.score(wanted.name, zero_division=of_nothing, invalid="nan").values()
            return {"": values[..., wanted.place]}
        method = getattr(state, wanted.name)
        if wanted.name == CALIBRATION:
            return {"": method(self.calibration_bins, of=wanted.option, zero_division=of_nothing)}
        average = wanted.option or "macro"
        found = method(average=None if average == "class" else average, zero_division=of_nothing)
        return {"": found.value, "_low": found.low, "_high": found.high} if self.bounds else {"": found.value}

    def _defined(self, values: Array, state: ScoreState) -> Array:
        """Zero for what is undefined as a whole, unless a number was asked for or the counts are invalid."""
        if self.zero_division != (None,):
            return values
        backend, (values, counts) = _backend.as_arrays(values=values, counts=state.counts)
        xp = backend.xp
        is_undefined = xp.isnan(values)
        if backend.is_float(counts):
            is_undefined = is_undefined & xp.all((counts >= 0) & (counts < math.inf))
        return xp.where(is_undefined, xp.zeros_like(values), values)

    def _named(self, wanted: Wanted, ending: str, values: Array) -> dict[str, Array]:
        if values.ndim == 0 or self.class_names is None:
            return {f"{self.prefix}{wanted.key}{ending}": values}
        measure = wanted.key.removesuffix(":class")
        names = [f"{self.prefix}{measure}{ending}/{name}" for name in self.class_names]
        return dict(zip(names, by_class(values), strict=True))

    def report(self, state: ScoreState, *, has_warned: bool) -> tuple[dict[str, Array], bool]:
        """All values, with the number of dropped samples where it is not 0, if values are at hand.

        Warns once of them, and of scores that should be probabilities; the second result is whether it has by now.
        """
        named = self.of(state)
        backend, leaves = _backend.as_arrays(**state._asdict())
        counts, offsets, dropped = (backend.host_view(leaf) for leaf in leaves[:3])
        if counts is None or offsets is None or dropped is None:
            return named, has_warned
        is_outside, samples = self.are_probabilities and _has_scores_outside(counts, offsets), int(dropped)
        if is_outside and not has_warned:
            warnings.warn(
                "some scores are not in [0, 1]: if they are logits, make the metric with from_logits=True; for other "
                "scores, with low= and high=, or edges=",
                RuntimeWarning,
                stacklevel=frames_to_the_user(),
            )
        named = with_dropped(named, state.dropped, self.prefix, samples=samples, warn=not has_warned)
        return named, has_warned or is_outside or samples > 0


def masked(y_true: Array, mask: Array, ignored: tuple[int, ...], num_classes: int | None, backend: Standard) -> Array:
    """Labels with those that are masked or ignored as MASKED, and those out of range as OUTSIDE."""
    xp = backend.xp
    kept, others = xp.astype(mask, xp.bool), is_kept(y_true, labels_to_ignore(ignored, y_true, backend), backend)
    if others is not None:
        kept = kept & others
    wide = widen(y_true, backend)
    is_inside = (wide >= 0) & (wide < (num_classes or 2))
    outside = xp.full_like(wide, OUTSIDE)
    return xp.where(kept, xp.where(is_inside, wide, outside), xp.full_like(wide, MASKED))


def _has_scores_outside(counts: Array, offsets: Array) -> bool:
    """Whether a score is below the first edge, or above the last: the last bin has those that are equal to it as well.

    The histogram of the top score says nothing new.
    """
    return bool((counts[..., 0, :] != 0).any() or (offsets[..., -1] != 0).any())


def _names(metrics: str | Iterable[str]) -> list[str]:
    if isinstance(metrics, Metric) or not isinstance(metrics, Iterable):
        raise TypeError(f"metrics: expected names, such as {', '.join(DEFAULT)}, got {metrics!r}")
    given = [metrics] if isinstance(metrics, str) else list(metrics)
    if not all(isinstance(name, str) for name in given):
        raise TypeError(f"metrics: expected names, such as {', '.join(DEFAULT)}, got {given!r}")
    names = [part.strip() for name in given for part in split_outside(name) if part.strip()]
    if not names:
        raise ValueError("metrics: expected at least one name, got none")
    return list(dict.fromkeys(names))


def _numbers(num_classes: int) -> tuple[str, ...]:
    return tuple(map(str, range(num_classes)))


def _read(key: str, thresholds: np.ndarray, *, has_classes: bool) -> Wanted:
    measure, at, threshold = key.rpartition("@")
    if at:
        chosen = list(resolve_of_two(measure).values())
        if len(chosen) != 1 or chosen[0].average in CLASSWISE:
            raise ValueError(f"metrics: expected one measure, with one value, before @, got {key!r}")
        return Wanted(key, measure, place=_place(key, threshold, thresholds))
    name, colon, option = key.partition(":")
    if name not in METHODS:
        raise ValueError(
            f"metrics: expected {', '.join(METHODS)}, or a measure at a threshold, such as 'recall@0.5', got {key!r}"
        )
    method, options = METHODS[name]
    if not colon:
        return Wanted(key, method)
    if not has_classes:
        raise ValueError(
            f"metrics: expected {name!r}, as without num_classes= there is nothing to average, got {key!r}"
        )
    if option not in options:
        raise ValueError(f"metrics: expected {name!r} alone or with one of :{', :'.join(options)}, got {key!r}")
    return Wanted(key, method, option)


def _place(key: str, text: str, thresholds: np.ndarray) -> int:
    """Where the threshold is; it has to be an edge, as there is a matrix at edges only."""
    try:
        threshold = float(text)
    except ValueError:
        raise ValueError(f"metrics: expected a number after @, got {key!r}") from None
    edges = thresholds[1:-1]
    nearest = int(np.argmin(np.abs(edges - threshold)))
    if not math.isclose(edges[nearest], threshold, rel_tol=1e-6, abs_tol=1e-9):  # edges are rounded to float32
        raise ValueError(
            f"metrics: expected the threshold in {key!r} to be an edge of a bin, of which {edges[nearest]:.6g} is the "
            "nearest; num_bins= or edges= can be chosen so that it is one"
        )
    return 1 + nearest
