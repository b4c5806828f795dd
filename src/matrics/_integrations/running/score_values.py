"""The values of metrics of scores for PyTorch, torchmetrics and Flax, computed from a ScoreState, and their names."""

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
from matrics._integrations.running.settings import CountProperties, Undefined, checked_prefix
from matrics._integrations.running.values import Counted, Values, on_host
from matrics._quoting import quoted
from matrics._ranking.areas_of_state import Histograms
from matrics._ranking.averages import check_average
from matrics._ranking.bounds import Bounded
from matrics._ranking.positive import REST
from matrics._ranking.state import ScoreState
from matrics._ranking.state_names import AT_K, BOUNDED, CALIBRATION

# With a mask, the labels of samples that are left out, and of samples with labels out of range.
MASKED, OUTSIDE = -2, -1

ODD_SCORES = (
    "some scores are not in [0, 1], as calibration and losses expect: if they are logits, make the metric with "
    "from_logits=True; for other scores use areas and measures at thresholds, such as metrics='roc_auc, f1@2.5'"
)
# A warning is issued if the bounds of a measure are farther apart, and there are at least this many samples; with fewer
# samples the random error is larger.
WIDE, FEW_SAMPLES = 0.01, 100


# Values without bounds that may be averages over classes, and the arrays of a state with an axis of classes.
AVERAGED = (CALIBRATION, "top_k_recall")
_OF_CLASSES = (
    *("counts", "carried", "bins", "bins_carried", "calibration", "calibration_remainders", "sums", "remainders"),
)


@dataclass(frozen=True, kw_only=True)
class ScoreValues(Values):
    """The requested values of histograms of scores."""

    specs: tuple[ScoreValue, ...]
    positive: tuple[int | None, str] | None  # the index and the name of the positive class
    bounds: bool
    left_out: tuple[int, ...] = ()  # the classes that averages leave out

    @classmethod
    def of_state(
        cls,
        state: ScoreState,
        num_classes: int | None,
        specs: Sequence[ScoreValue],
        *,
        prefix: str,
        class_names: Sequence[str] | None,
        positive: Any,
        undefined: Undefined,
        bounds: bool,
        ignored: Sequence[int],
    ) -> ScoreValues:
        """The values of states with the structure of this state; raises for values that cannot be computed."""
        if class_names is not None and num_classes is None:
            raise ValueError("class_names: expected None without num_classes=, because all values belong to class 1")
        known = _positive(num_classes, class_names, positive)
        thresholds = None
        if state.bins.shape[-2]:
            thresholds = as_arrays(thresholds=state.thresholds)[0].to_numpy(state.thresholds)
        result = cls(
            prefix=checked_prefix(prefix),
            class_names=None
            if num_classes is None
            else check_names(class_names, num_classes) or tuple(map(str, range(num_classes))),
            undefined=undefined,
            specs=placed(specs, thresholds),
            positive=known,
            bounds=bool(bounds),
            left_out=() if num_classes is None else left_out(list(ignored), num_classes, None),
        )
        return replace(result, keys=tuple(map(str, result.of(state))))

    @property
    def requested(self) -> list[str]:
        """The names of the values, as the user gave them."""
        return [spec.key for spec in self.specs]

    @property
    def higher_is_better(self) -> bool | None:
        """Whether higher values of the first measure are better: not of errors and losses."""
        first = self.specs[0]
        return first.name not in (CALIBRATION, *LOSSES) if first.metric is None else first.metric.higher_is_better

    def _only(self, place: int) -> Self:
        return replace(self, specs=self.specs[place : place + 1], bounds=False)

    def of(self, state: ScoreState) -> dict[str, Array]:
        """All values, as scalar arrays under names for a logger."""
        return self._read(state)[0]

    def _read(self, state: ScoreState) -> tuple[dict[str, Array], dict[str, Bounded], Counted, Histograms | None]:
        """All values; those with limits; the counts; and the histograms."""
        values_by_key: dict[str, Array] = {}
        bounded_specs = [spec for spec in self.specs if spec.name in BOUNDED]
        histograms = Histograms(state) if bounded_specs else None
        others = self._others(state)
        histograms_of_others = Histograms(others) if bounded_specs and others is not state else histograms
        bounded: dict[str, Bounded] = {}
        for spec in bounded_specs:
            used = histograms if self._is_of_classes(spec) else histograms_of_others
            if used is not None:
                bounded[spec.key] = self._bounded(spec, used)
        counted = _counted(state) or (histograms.samples() if histograms is not None else state.counts, None)
        properties = CountProperties.of(*counted)
        for spec in self.specs:
            if spec.key in bounded:
                value, low, high = bounded[spec.key]
                values = {"": value} | ({"_low": low, "_high": high} if self.bounds else {})
            else:
                is_average = spec.name in AVERAGED and not self._is_of_classes(spec)
                values = {"": self._value(spec, others if is_average else state)}
            for ending, part in values.items():
                # These values are defined if there are samples: NaN means a NaN score, a score that is not a
                # probability, or invalid sums.
                is_defined = spec.name in (CALIBRATION, "top_k_accuracy", *LOSSES)
                undefined = self.undefined._replace(fill=None) if is_defined else self.undefined
                values_by_key |= self._named(spec, ending, undefined.filled(part, properties, is_count=spec.is_count))
        return values_by_key, bounded, counted, histograms

    def _is_of_classes(self, spec: ScoreValue) -> bool:
        """Whether a value belongs to a class, or to each class, and is not an average over classes."""
        return spec.option == "class" or self._class_of(spec) is not None

    def _class_of(self, spec: ScoreValue) -> int | None:
        """The class of a value, as in the functions of scores; None for an average, and for values of each class."""
        if spec.option is not None:
            return None
        if self._class is not None or spec.name not in BOUNDED:
            return self._class
        number = None if self.class_names is None else len(self.class_names)
        return 1 if check_average("auto", num_classes=number) == "binary" else None

    def _others(self, state: ScoreState) -> ScoreState:
        """The state without the counts of the classes that averages leave out."""
        number = len(self.class_names or ())
        if not 0 < len(self.left_out) < number:
            return state
        parts = [
            slice(start, end)
            for start, end in zip((0, *(k + 1 for k in self.left_out)), (*self.left_out, None), strict=True)
        ]
        backend, arrays = as_arrays(**state._asdict())
        # Unneeded arrays of classes have no elements; the calibration of the top class is after those of the classes.
        kept = {
            name: backend.xp.concat([x[part, ...] for part in parts])
            for name, x in zip(state._fields, arrays, strict=True)
            if name in _OF_CLASSES and x.shape[0] >= number
        }
        return state._replace(**kept)

    def _bounded(self, spec: ScoreValue, histograms: Histograms) -> Bounded:
        place = self._class_of(spec)
        average = "class" if place is not None else spec.option or "macro"
        result = bounded_of(histograms, spec.name, spec.k, average, self.undefined.zero_division)
        return result if place is None else Bounded(*(value[..., place] for value in result))

    def _value(self, spec: ScoreValue, state: ScoreState) -> Array:
        zero_division = self.undefined.zero_division
        if spec.metric is not None:  # the metric itself, as its name may not be registered in another process
            (values,) = state.score(spec.metric, zero_division=zero_division, invalid="nan").values()
            values = values[..., spec.place]
            return values if self._class is None else values[..., self._class]
        method = getattr(state, spec.name)
        if spec.name == CALIBRATION:
            return method(of=spec.option, zero_division=zero_division)
        if spec.name in LOSSES:
            return method(zero_division=zero_division)
        if spec.name == "top_k_accuracy":
            return method(zero_division=zero_division)[..., spec.place]
        is_single = self._class is not None and spec.option is None
        values = method(average="class" if is_single else spec.option or "macro", zero_division=zero_division)
        values = values[..., spec.place, :] if is_single or spec.option == "class" else values[..., spec.place]
        return values[..., self._class] if is_single else values

    def _named(self, spec: ScoreValue, ending: str, values: Array) -> dict[str, Array]:
        if values.ndim == 0 or self.class_names is None:
            return {self._key(spec, ending, self._label(spec)): values}
        measure = replace(spec, key=spec.key.removesuffix(":class"))
        keys = [self._key(measure, ending, in_words(name), f"/{name}") for name in self.class_names]
        return dict(zip(keys, by_class(values), strict=True))

    def _key(self, spec: ScoreValue, ending: str, label: str | None, of_class: str = "") -> str:
        key = f"{self.prefix}{spec.key}{ending}{of_class}"
        # In compiled code keys are plain text without titles.
        return key if is_compiling() else named(key, f"{self.prefix}{self._title(spec, label)}{ending}")

    def _label(self, spec: ScoreValue) -> str | None:
        """The name of the class of a single value, if titles have it."""
        if self.positive is not None:
            return self.positive[1]
        place = self._class_of(spec)
        return None if place is None or self.class_names is None else in_words(self.class_names[place])

    @property
    def _class(self) -> int | None:
        return None if self.positive is None else self.positive[0]

    def _title(self, spec: ScoreValue, label: str | None) -> str:
        """The title of a value on screens, with the class or the average."""
        if spec.metric is not None:
            names = (REST, label) if label is not None else None
            title = spec.metric.title(Classes(2, names, by_construction=True))
            if self.class_names is not None and spec.metric.average != "binary":
                title += f" of {label} against the rest"
            return f"{title} at {spec.key.rpartition('@')[2].strip()}"
        if spec.name in (CALIBRATION, "top_k_accuracy", *LOSSES):
            return spec.key
        measure = spec.key.partition(":")[0]
        if spec.option not in (None, "class"):
            return f"{measure}, {spec.option}"
        return (
            f"{measure} of {label}"
            if label is not None
            else measure
            if self.class_names is None
            else f"{measure}, macro"
        )

    def _samples(self, state: ScoreState) -> float | None:
        if state.sums.shape[-1]:
            sums = on_host(state.sums, state.remainders)
            return None if sums is None else float(sums[..., 0].sum())
        if state.calibration.shape[-2]:
            sums = on_host(state.calibration, state.calibration_remainders)
            return None if sums is None else float(sums[..., -1, :, 0].sum())  # the calibration of the top class
        of_bins = (state.bins, state.bins_carried) if state.bins.shape[-2] else (state.counts, state.carried)
        sums = on_host(*of_bins)
        return None if sums is None else float(sums.sum(axis=(-2, -1)).max(initial=0))

    def _known(self, state: ScoreState) -> tuple[dict[str, Array], str, Counted]:
        values, bounded, counted, histograms = self._read(state)
        return values, _odd_scores(state) or wide_bounds(bounded, histograms), counted


def bounded_of(histograms: Histograms, name: str, k: int | None, average: str, zero_division: float) -> Bounded:
    """An area, or a measure of the k highest scores, with its limits."""
    if name in AT_K:
        return histograms.at_k(name, k, average, zero_division)
    return histograms.area(name, average, zero_division)


def _counted(state: ScoreState) -> Counted | None:
    """The smallest array of counts that are all 0 without samples; None if the state has buckets alone."""
    if state.sums.shape[-1]:
        return state.sums[..., 0], None
    if state.calibration.shape[-2]:
        return state.calibration[..., 0], None
    return (state.bins, state.bins_carried) if state.bins.shape[-2] else None


def _odd_scores(state: ScoreState) -> str:
    """A warning about scores that are not probabilities, if calibration or losses need them, or an empty text."""
    backend, (calibration, sums) = as_arrays(calibration=state.calibration, sums=state.sums)
    outside, host_sums = backend.host_view(calibration), backend.host_view(sums)
    if outside is None or host_sums is None:
        return ""
    is_odd = outside.shape[-2] and ((outside[..., 0, 0] != 0).any() or (outside[..., -1, 0] != 0).any())
    return ODD_SCORES if is_odd or np.isnan(host_sums).any() else ""


def wide_bounds(bounded: dict[str, Bounded], histograms: Histograms | None) -> str:
    """A warning about the measure with the widest limits; empty if all are narrow, or cannot be read immediately.

    Limits of a measure above 1 are compared with its upper limit.
    """
    if histograms is None:
        return ""
    backend, (samples,) = as_arrays(samples=histograms.samples())
    number = backend.host_view(samples)
    if number is None or not np.max(number, initial=0) >= FEW_SAMPLES:
        return ""
    widths = []
    for name, measure in bounded.items():
        backend, arrays = as_arrays(low=measure.low, high=measure.high)
        low, high = (backend.host_view(x) for x in arrays)
        if low is None or high is None:
            return ""
        width = np.nan_to_num(np.asarray((high - low) / np.maximum(high, 1)), nan=0.0)
        at = np.unravel_index(np.argmax(width), width.shape)
        widths.append((float(width[at]), name, float(np.asarray(low)[at]), float(np.asarray(high)[at])))
    width, name, low, high = max(widths, default=(0.0, "", 0.0, 0.0))
    if width <= WIDE:
        return ""
    return (
        f"{name} treats scores in the same bucket as equal, and the exact value for these scores is between "
        f"{low:.3f} and {high:.3f}. If these scores are equal, the value is exact; if they differ by little, "
        "make the metric with more bits=, or subtract a common offset from the scores; pass rounded probabilities as "
        "logits, with from_logits=True"
    )


def checked_positive(positive: Any, num_classes: int | None) -> int | None:
    """The label of the class of the scores; None for class 1, or for scores of all classes."""
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
    """The index of the positive class, if scores have an axis of classes, and its name in titles."""
    if positive is None:
        return None
    if num_classes is None:
        return None, in_words(positive)
    classes = Classes.of(num_classes, class_names, positive)
    return classes.positive, classes.name(classes.positive_of("positive"))


def masked(  # noqa: PLR0917 (all arguments are needed)
    y_true: Array,
    mask: Array,
    ignored: tuple[int, ...],
    num_classes: int | None,
    positive: int | None,
    backend: Standard,
) -> Array:
    """The labels with MASKED for masked or ignored samples, and OUTSIDE for labels out of range.

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
