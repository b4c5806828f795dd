"""The values that metrics for PyTorch, torchmetrics and Flax compute from a ScoreState, and their names."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Any, Self

import numpy as np

from matrics._arrays import Array, Standard, as_arrays, is_compiling
from matrics._catalogue.classes import Classes, in_words
from matrics._catalogue.naming import by_class, check_names, named
from matrics._counting.codes import left_out
from matrics._counting.labels import is_kept, labels_to_ignore, widen
from matrics._integrations.running.score_names import LOSSES, ScoreValue, placed
from matrics._integrations.running.settings import Seen, Undefined, checked_prefix
from matrics._integrations.running.values import Counted, Values, on_host
from matrics._quoting import quoted
from matrics._ranking.areas_of_state import Areas
from matrics._ranking.averages import check_average
from matrics._ranking.bounds import Bounded
from matrics._ranking.positive import REST
from matrics._ranking.state import ScoreState
from matrics._ranking.state_names import AREAS, CALIBRATION

# Under a mask, the new labels of samples that are left out, and of labels out of range.
MASKED, OUTSIDE = -2, -1

ODD_SCORES = (
    "some scores are not in [0, 1], as calibration and losses expect them: if they are logits, make the metric with "
    "from_logits=True; of other scores it has areas and measures at thresholds, such as metrics='roc_auc, f1@2.5'"
)
# The distance of the bounds of an area from which on its value says too little; and the fewest samples of which this is
# said, because with fewer chance leaves more open.
WIDE, FEW_SAMPLES = 0.01, 100


# Other values than areas that may be averages over classes, and the arrays of a state with an axis of classes.
AVERAGED = (CALIBRATION, "top_k_recall")
_OF_CLASSES = (
    *("counts", "carried", "bins", "bins_carried", "calibration", "calibration_remainders", "sums", "remainders"),
)


@dataclass(frozen=True, kw_only=True)
class ScoreValues(Values):
    """The requested values of histograms of scores."""

    wanted: tuple[ScoreValue, ...]
    positive: tuple[int | None, str] | None  # the class that was given as positive, and its name
    bounds: bool
    left_out: tuple[int, ...] = ()  # the classes that take no part in averages

    @classmethod
    def of_state(
        cls,
        state: ScoreState,
        num_classes: int | None,
        wanted: Sequence[ScoreValue],
        *,
        prefix: str,
        class_names: Sequence[str] | None,
        positive: Any,
        undefined: Undefined,
        bounds: bool,
        ignored: Sequence[int],
    ) -> ScoreValues:
        """The values of states like this one; raises for values that cannot be computed."""
        if class_names is not None and num_classes is None:
            raise ValueError("class_names: expected None without num_classes=, because all values belong to class 1")
        known = _positive(num_classes, class_names, positive)
        thresholds = None
        if state.bins.shape[-2]:
            thresholds = as_arrays(thresholds=state.thresholds)[0].to_numpy(state.thresholds)
        made = cls(
            prefix=checked_prefix(prefix),
            class_names=None
            if num_classes is None
            else check_names(class_names, num_classes) or tuple(map(str, range(num_classes))),
            undefined=undefined,
            wanted=placed(wanted, thresholds),
            positive=known,
            bounds=bool(bounds),
            left_out=() if num_classes is None else left_out(list(ignored), num_classes, None),
        )
        return replace(made, keys=tuple(map(str, made.of(state))))

    @property
    def requested(self) -> list[str]:
        """The names of the values, as they were given."""
        return [wanted.key for wanted in self.wanted]

    @property
    def higher_is_better(self) -> bool | None:
        """Of errors and losses not."""
        first = self.wanted[0]
        return first.name not in (CALIBRATION, *LOSSES) if first.metric is None else first.metric.higher_is_better

    def _only(self, place: int) -> Self:
        return replace(self, wanted=self.wanted[place : place + 1], bounds=False)

    def of(self, state: ScoreState) -> dict[str, Array]:
        """All values, as scalar arrays under names for a logger."""
        return self._read(state)[0]

    def _read(self, state: ScoreState) -> tuple[dict[str, Array], dict[str, Bounded], Counted, Areas | None]:
        """All values; the areas with their limits; what was counted; and what the areas were read from."""
        found: dict[str, Array] = {}
        of_areas = [wanted for wanted in self.wanted if wanted.name in AREAS]
        read = Areas(state) if of_areas else None
        others = self._others(state)
        read_of_others = Areas(others) if of_areas and others is not state else read
        areas: dict[str, Bounded] = {}
        for wanted in of_areas:
            of_these = read if self._is_of_classes(wanted) else read_of_others
            if of_these is not None:
                areas[wanted.key] = self._area(wanted, of_these)
        counted = _counted(state) or (read.samples() if read is not None else state.counts, None)
        seen = Seen.of(*counted)
        for wanted in self.wanted:
            if wanted.key in areas:
                area = areas[wanted.key]
                values = {"": area.value} | ({"_low": area.low, "_high": area.high} if self.bounds else {})
            else:
                is_average = wanted.name in AVERAGED and not self._is_of_classes(wanted)
                values = {"": self._value(wanted, others if is_average else state)}
            for ending, part in values.items():
                # These are never undefined where there are samples: NaN tells of a NaN, of a number that is no
                # probability, or of sums that no samples have.
                is_defined = wanted.name in (CALIBRATION, "top_k_accuracy", *LOSSES)
                undefined = self.undefined._replace(fill=None) if is_defined else self.undefined
                found |= self._named(wanted, ending, undefined.filled(part, seen, is_count=wanted.is_count))
        return found, areas, counted, read

    def _is_of_classes(self, wanted: ScoreValue) -> bool:
        """Whether a value is of one class, or of each, and no average over classes."""
        return wanted.option == "class" or self._class_of(wanted) is not None

    def _class_of(self, wanted: ScoreValue) -> int | None:
        """The class that a value is of, as in the functions of scores: none if it is an average or of each class."""
        if wanted.option is not None:
            return None
        if self._class is not None or wanted.name not in AREAS:
            return self._class
        number = None if self.class_names is None else len(self.class_names)
        return 1 if check_average("auto", num_classes=number) == "binary" else None

    def _others(self, state: ScoreState) -> ScoreState:
        """The state without the counts of classes that take no part in averages."""
        number = len(self.class_names or ())
        if not 0 < len(self.left_out) < number:
            return state
        parts = [
            slice(start, end)
            for start, end in zip((0, *(k + 1 for k in self.left_out)), (*self.left_out, None), strict=True)
        ]
        backend, arrays = as_arrays(**state._asdict())
        # An array of classes that is not kept has no elements; the calibration of the top class is behind that of each.
        kept = {
            name: backend.xp.concat([x[part, ...] for part in parts])
            for name, x in zip(state._fields, arrays, strict=True)
            if name in _OF_CLASSES and x.shape[0] >= number
        }
        return state._replace(**kept)

    def _area(self, wanted: ScoreValue, areas: Areas) -> Bounded:
        place = self._class_of(wanted)
        average = "class" if place is not None else wanted.option or "macro"
        found = areas.bounded(wanted.name, average, self.undefined.zero_division)
        return found if place is None else Bounded(*(value[..., place] for value in found))

    def _value(self, wanted: ScoreValue, state: ScoreState) -> Array:
        of_nothing = self.undefined.zero_division
        if wanted.metric is not None:  # not by its name, which may not be registered in another process
            (values,) = state.score(wanted.metric, zero_division=of_nothing, invalid="nan").values()
            values = values[..., wanted.place]
            return values if self._class is None else values[..., self._class]
        method = getattr(state, wanted.name)
        if wanted.name == CALIBRATION:
            return method(of=wanted.option, zero_division=of_nothing)
        if wanted.name in LOSSES:
            return method(zero_division=of_nothing)
        if wanted.name == "top_k_accuracy":
            return method(zero_division=of_nothing)[..., wanted.place]
        of_one = self._class is not None and wanted.option is None
        found = method(average="class" if of_one else wanted.option or "macro", zero_division=of_nothing)
        found = found[..., wanted.place, :] if of_one or wanted.option == "class" else found[..., wanted.place]
        return found[..., self._class] if of_one else found

    def _named(self, wanted: ScoreValue, ending: str, values: Array) -> dict[str, Array]:
        if values.ndim == 0 or self.class_names is None:
            return {self._key(wanted, ending, self._label(wanted)): values}
        measure = replace(wanted, key=wanted.key.removesuffix(":class"))
        keys = [self._key(measure, ending, in_words(name), f"/{name}") for name in self.class_names]
        return dict(zip(keys, by_class(values), strict=True))

    def _key(self, wanted: ScoreValue, ending: str, label: str | None, of_class: str = "") -> str:
        key = f"{self.prefix}{wanted.key}{ending}{of_class}"
        # In compiled code keys are plain texts without titles.
        return key if is_compiling() else named(key, f"{self.prefix}{self._title(wanted, label)}{ending}")

    def _label(self, wanted: ScoreValue) -> str | None:
        """The name of the class that a single value is of, where titles have it."""
        if self.positive is not None:
            return self.positive[1]
        place = self._class_of(wanted)
        return None if place is None or self.class_names is None else in_words(self.class_names[place])

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
        if wanted.name in (CALIBRATION, "top_k_accuracy", *LOSSES):
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

    def _samples(self, state: ScoreState) -> float | None:
        if state.sums.shape[-1]:
            found = on_host(state.sums, state.remainders)
            return None if found is None else float(found[..., 0].sum())
        if state.calibration.shape[-2]:
            found = on_host(state.calibration, state.calibration_remainders)
            return None if found is None else float(found[..., -1, :, 0].sum())  # of the top class
        of_bins = (state.bins, state.bins_carried) if state.bins.shape[-2] else (state.counts, state.carried)
        found = on_host(*of_bins)
        return None if found is None else float(found.sum(axis=(-2, -1)).max(initial=0))

    def _known(self, state: ScoreState) -> tuple[dict[str, Array], str, Counted]:
        found, areas, counted, read = self._read(state)
        return found, _odd_scores(state) or wide_bounds(areas, read), counted


def _counted(state: ScoreState) -> Counted | None:
    """The shortest counts that are all 0 without samples; None if the state has areas alone."""
    if state.sums.shape[-1]:
        return state.sums[..., 0], None
    if state.calibration.shape[-2]:
        return state.calibration[..., 0], None
    return (state.bins, state.bins_carried) if state.bins.shape[-2] else None


def _odd_scores(state: ScoreState) -> str:
    """A warning of scores that are no probabilities, where calibration or losses need them; empty if none is seen."""
    backend, (calibration, sums) = as_arrays(calibration=state.calibration, sums=state.sums)
    outside, seen = backend.host_view(calibration), backend.host_view(sums)
    if outside is None or seen is None:
        return ""
    is_odd = outside.shape[-2] and ((outside[..., 0, 0] != 0).any() or (outside[..., -1, 0] != 0).any())
    return ODD_SCORES if is_odd or np.isnan(seen).any() else ""


def wide_bounds(areas: dict[str, Bounded], read: Areas | None) -> str:
    """A warning of the area whose limits are farthest apart; empty if all are near, or not at hand."""
    if read is None:
        return ""
    backend, (samples,) = as_arrays(samples=read.samples())
    number = backend.host_view(samples)
    if number is None or not np.max(number, initial=0) >= FEW_SAMPLES:
        return ""
    found = []
    for name, area in areas.items():
        backend, arrays = as_arrays(low=area.low, high=area.high)
        low, high = (backend.host_view(x) for x in arrays)
        if low is None or high is None:
            return ""
        width = np.nan_to_num(np.asarray(high - low), nan=0.0)
        at = np.unravel_index(np.argmax(width), width.shape)
        found.append((float(width[at]), name, float(np.asarray(low)[at]), float(np.asarray(high)[at])))
    width, name, low, high = max(found, default=(0.0, "", 0.0, 0.0))
    if width <= WIDE:
        return ""
    return (
        f"{name} counts scores that share a bucket as equal, and so many do that the area of the scores themselves may "
        f"be anything from {low:.3f} to {high:.3f}. If they are equal, the value is exact; if they differ by little, "
        "make the metric with more bits=, or subtract what they have in common; probabilities that were rounded are "
        "better passed as logits, with from_logits=True"
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
