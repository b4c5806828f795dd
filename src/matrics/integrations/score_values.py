"""The values that metrics for PyTorch, torchmetrics and Flax compute from a ScoreState, and their names."""

from __future__ import annotations

import math
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from matrics.arrays import Array, Standard, as_arrays, is_compiling
from matrics.catalogue.classes import TWO, Classes, in_words
from matrics.catalogue.naming import by_class, check_names, named
from matrics.catalogue.record import Metric
from matrics.counting.labels import is_kept, labels_to_ignore, widen
from matrics.integrations.settings import Seen, Undefined, are_counts, checked_prefix, of_nothing
from matrics.integrations.values import Values
from matrics.quoting import quoted, split_outside
from matrics.ranking.positive import REST
from matrics.ranking.state import ScoreState
from matrics.scoring.score import resolve

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
class ScoreValue:
    """One of the values: a method of the state, or a measure of the catalogue at one of its thresholds."""

    key: str
    name: str  # of a method, or of a measure
    option: str | None = None  # what follows the colon
    place: int | None = None  # among the thresholds of the state
    metric: Metric | None = None  # the measure at a threshold
    is_count: bool = False  # and so 0 before the first sample


@dataclass(frozen=True, kw_only=True)
class ScoreValues(Values):
    """The requested values of histograms of scores."""

    wanted: tuple[ScoreValue, ...]
    positive: tuple[int | None, str] | None  # the class that values without an average are of, and its name
    bounds: bool
    num_bins: int
    are_probabilities: bool  # the edges are from 0 to 1

    @classmethod
    def of_state(
        cls,
        state: ScoreState,
        num_classes: int | None,
        metrics: str | Iterable[str] | None,
        *,
        prefix: str,
        class_names: Sequence[str] | None,
        positive: Any,
        undefined: Undefined,
        bounds: bool,
        num_bins: int,
    ) -> ScoreValues:
        """The values of states like this one; raises for values that cannot be computed."""
        if class_names is not None and num_classes is None:
            raise ValueError("class_names: expected None without num_classes=, because all values belong to class 1")
        wanted = DEFAULT if metrics is None else _names(metrics)
        known = _positive(num_classes, class_names, positive)
        thresholds = as_arrays(thresholds=state.thresholds)[0].to_numpy(state.thresholds)
        made = cls(
            prefix=checked_prefix(prefix),
            class_names=None
            if num_classes is None
            else check_names(class_names, num_classes) or tuple(map(str, range(num_classes))),
            undefined=undefined,
            wanted=tuple(_read(name, thresholds, positive, has_classes=num_classes is not None) for name in wanted),
            positive=known,
            bounds=bool(bounds),
            num_bins=num_bins,
            are_probabilities=bool(thresholds[-2] == 0 and thresholds[1] == 1),
        )
        return replace(made, keys=tuple(map(str, made.of(state))))

    @property
    def requested(self) -> list[str]:
        """The names of the values, as they were given."""
        return [wanted.key for wanted in self.wanted]

    def of(self, state: ScoreState) -> dict[str, Array]:
        """All values, as scalar arrays under names for a logger."""
        found: dict[str, Array] = {}
        seen = Seen.of(state.counts, state.carried)
        for wanted in self.wanted:
            for ending, values in self._values(wanted, state).items():
                found |= self._named(wanted, ending, self.undefined.filled(values, seen, is_count=wanted.is_count))
        return found

    def _values(self, wanted: ScoreValue, state: ScoreState) -> dict[str, Array]:
        of_nothing = self.undefined.zero_division
        if wanted.metric is not None:  # not by its name, which may not be registered in another process
            (values,) = state.score(wanted.metric, zero_division=of_nothing, invalid="nan").values()
            values = values[..., wanted.place]
            return {"": values if self._class is None else values[..., self._class]}
        method = getattr(state, wanted.name)
        if wanted.name == CALIBRATION:
            return {"": method(num_bins=self.num_bins, of=wanted.option, zero_division=of_nothing)}
        of_one = self._class is not None and wanted.option is None
        found = method(average="class" if of_one else wanted.option or "macro", zero_division=of_nothing)
        parts = {"": found.value, "_low": found.low, "_high": found.high} if self.bounds else {"": found.value}
        return {ending: value[..., self._class] for ending, value in parts.items()} if of_one else parts

    def _named(self, wanted: ScoreValue, ending: str, values: Array) -> dict[str, Array]:
        if values.ndim == 0 or self.class_names is None:
            return {self._key(wanted, ending, None if self.positive is None else self.positive[1]): values}
        measure = replace(wanted, key=wanted.key.removesuffix(":class"))
        keys = [self._key(measure, ending, in_words(name), f"/{name}") for name in self.class_names]
        return dict(zip(keys, by_class(values), strict=True))

    def _key(self, wanted: ScoreValue, ending: str, label: str | None, of_class: str = "") -> str:
        key = f"{self.prefix}{wanted.key}{ending}{of_class}"
        # In compiled code keys are plain texts without titles.
        return key if is_compiling() else named(key, f"{self.prefix}{self._title(wanted, label)}{ending}")

    @property
    def _class(self) -> int | None:
        return None if self.positive is None else self.positive[0]

    def _title(self, wanted: ScoreValue, label: str | None) -> str:
        """The title of a value on screens: it names the class or the average."""
        if wanted.metric is not None:
            names = (REST, label) if label is not None else None
            title = wanted.metric.title(Classes(2, names, by_construction=True))
            if self.class_names is not None and wanted.metric.average != "binary":
                title += f" of {label} against the rest"
            return f"{title} at {wanted.key.rpartition('@')[2].strip()}"
        if wanted.name == CALIBRATION:
            return wanted.key
        measure = wanted.key.partition(":")[0]
        if wanted.option not in (None, "class"):
            return f"{measure}, {wanted.option}"
        return (
            f"{measure} of {label}"
            if label is not None
            else measure
            if self.class_names is None
            else f"{measure}, macro"
        )

    def _oddity(self, state: ScoreState, counts: Array) -> str:
        """A warning of scores below the first edge, or above the last, where probabilities are expected.

        The last bin includes values equal to the last edge. The histogram of the top score is redundant.
        """
        backend, (offsets,) = as_arrays(offsets=state.offsets)
        above = backend.host_view(offsets)
        if not self.are_probabilities or above is None:
            return ""
        if not (counts[..., 0, :] != 0).any() and not (above[..., -1] != 0).any():
            return ""
        return (
            "some scores are not in [0, 1]: if they are logits, make the metric with from_logits=True; for other "
            "scores, with low= and high=, or edges="
        )


def checked_positive(positive: Any, num_classes: int | None) -> int | None:
    """The label of the class that scores are of; None if they are of class 1, or of all classes."""
    if positive is None or num_classes is not None:
        return None
    if isinstance(positive, bool) or not isinstance(positive, (int, np.integer)):
        raise TypeError(
            "positive: expected an integer, the label of the scores' class (on a device only integers are possible), "
            f"got {quoted(positive)}"
        )
    return int(positive)


def _positive(
    num_classes: int | None, class_names: Sequence[str] | None, positive: Any
) -> tuple[int | None, str] | None:
    """The positive class, if scores have an axis of classes, and its name in titles."""
    if positive is None:
        return None
    if num_classes is None:
        return None, in_words(positive)
    classes = Classes.of(num_classes, class_names, positive)
    return classes.positive, classes.name(classes.positive_of("positive"))


def masked(  # noqa: PLR0917 (all is needed)
    y_true: Array,
    mask: Array,
    ignored: tuple[int, ...],
    num_classes: int | None,
    positive: int | None,
    backend: Standard,
) -> Array:
    """Labels with those that are masked or ignored as MASKED, and those out of range as OUTSIDE.

    With a positive class, labels become 1 for this class and 0 for the others.
    """
    xp = backend.xp
    kept, others = xp.astype(mask, xp.bool), is_kept(y_true, labels_to_ignore(ignored, y_true, backend), backend)
    if others is not None:
        kept = kept & others
    wide = widen(y_true, backend)
    if positive is not None:
        wide = xp.where(wide == positive, xp.ones_like(wide), xp.where(wide < 0, wide, xp.zeros_like(wide)))
    is_inside = (wide >= 0) & (wide < (num_classes or 2))
    outside = xp.full_like(wide, OUTSIDE)
    return xp.where(kept, xp.where(is_inside, wide, outside), xp.full_like(wide, MASKED))


def _names(metrics: str | Iterable[str]) -> list[str]:
    if isinstance(metrics, Metric) or not isinstance(metrics, Iterable):
        raise TypeError(f"metrics: expected names, such as {', '.join(DEFAULT)}, got {quoted(metrics)}")
    given = [metrics] if isinstance(metrics, str) else list(metrics)
    if not all(isinstance(name, str) for name in given):
        raise TypeError(f"metrics: expected names, such as {', '.join(DEFAULT)}, got {quoted(given)}")
    names = [part.strip() for name in given for part in split_outside(name) if part.strip()]
    if not names:
        raise ValueError("metrics: expected at least one name, got none")
    return list(dict.fromkeys(names))


def _read(key: str, thresholds: np.ndarray, positive: Any, *, has_classes: bool) -> ScoreValue:
    measure, at, threshold = key.rpartition("@")
    if at:
        if has_classes and any(metric.classes for metric in resolve(measure).values()):
            raise ValueError(
                "metrics: expected no class in square brackets where each class is scored against the rest, got "
                f"{quoted(key)}: positive= picks one class, and without it there is a value for each"
            )
        is_one = positive is not None and not has_classes
        known = Classes(2, (REST, positive), by_construction=True) if is_one else TWO
        chosen = list(resolve(measure, known).values())
        if len(chosen) != 1 or chosen[0].is_classwise:
            raise ValueError(f"metrics: expected one measure, with one value, before @, got {quoted(key)}")
        (is_count,) = are_counts(of_nothing(chosen, 2, has_cells=True))
        return ScoreValue(key, chosen[0].spec, None, _place(key, threshold, thresholds), chosen[0], is_count)
    name, colon, option = key.partition(":")
    if name not in METHODS:
        raise ValueError(
            f"metrics: expected {', '.join(METHODS)}, or a measure at a threshold, such as 'recall@0.5', got "
            f"{quoted(key)}"
        )
    method, options = METHODS[name]
    if not colon:
        return ScoreValue(key, method)
    if not has_classes:
        raise ValueError(
            f"metrics: expected {quoted(name)}, because there is no average without num_classes=, got {quoted(key)}"
        )
    if option not in options:
        raise ValueError(
            f"metrics: expected {quoted(name)}, possibly with one of :{', :'.join(options)}, got {quoted(key)}"
        )
    return ScoreValue(key, method, option)


def _place(key: str, text: str, thresholds: np.ndarray) -> int:
    """The index of the threshold among the edges; other thresholds have no matrix."""
    try:
        threshold = float(text)
    except ValueError:
        raise ValueError(f"metrics: expected a number after @, got {quoted(key)}") from None
    edges = thresholds[1:-1]
    nearest = int(np.argmin(np.abs(edges - threshold)))
    if not math.isclose(edges[nearest], threshold, rel_tol=1e-6, abs_tol=1e-9):  # edges are rounded to float32
        raise ValueError(
            f"metrics: expected the threshold in {quoted(key)} to be an edge of a bin; the nearest edge is "
            f"{edges[nearest]:.6g}; histogram_bins= or edges= can be chosen so that it is one"
        )
    return 1 + nearest
