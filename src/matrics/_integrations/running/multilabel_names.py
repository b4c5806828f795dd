"""The names of the values of a MultilabelMetric: their meaning, and the counts that they need."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import NamedTuple

from matrics._catalogue.classes import TWO
from matrics._catalogue.naming import title_of
from matrics._catalogue.of_scores import name_of, spec_of
from matrics._catalogue.record import Metric
from matrics._integrations.running.settings import are_counts, empty_values
from matrics._quoting import quoted, split_outside
from matrics._ranking.state_names import AREAS, AT_K, BOUNDED, read_method
from matrics._scoring.score import resolve

#: Measures of whole samples, which have no average over labels.
OF_SAMPLES = ("subset_accuracy", "ranking_loss")
AVERAGES = ("macro", "micro", "weighted", "label")


@dataclass(frozen=True)
class LabelValue:
    """A value: a measure of the matrices of the labels, a measure of scores with bounds, or of whole samples."""

    key: str
    name: str  # the name of a measure of scores or of samples, or the spec of a measure of matrices
    average: str = "macro"
    metric: Metric | None = None
    title: str = ""  # without the average
    is_count: bool = False  # whether it is 0 before the first sample
    k: int | None = None  # the number of samples with the highest scores

    @property
    def measure(self) -> str:
        """The name without ``:label``."""
        return self.key.removesuffix(":label")


class Kept(NamedTuple):
    """The necessary counts: matrices of labels, correct samples, histograms of scores, ranking losses."""

    labels: bool
    samples: bool
    histogram: bool
    losses: bool

    @property
    def predictions(self) -> bool:
        """Whether scores are compared with thresholds."""
        return self.labels or self.samples

    @property
    def scores(self) -> bool:
        """Whether scores are necessary, so that predicted labels are not sufficient."""
        return self.histogram or self.losses


def read_names(metrics: str | Metric | Iterable[str | Metric]) -> tuple[LabelValue, ...]:
    """The requested values; raises for unknown names."""
    items = [metrics] if isinstance(metrics, (str, Metric)) else metrics
    if isinstance(items, Mapping) or not isinstance(items, Iterable):
        resolve(items)  # raises
    values: dict[str, LabelValue] = {}
    for item in items:
        names = [part.strip() for part in split_outside(item) if part.strip()] if isinstance(item, str) else [item]
        for name in names:
            values |= {value.key: value for value in _read(name)}
    if not values:
        raise ValueError("metrics: expected at least one name, got none")
    return tuple(values.values())


def kept_for(values: Sequence[LabelValue]) -> Kept:
    """The counts that the values need."""
    names = {value.name for value in values if value.metric is None}
    return Kept(
        labels=any(value.metric is not None for value in values),
        samples="subset_accuracy" in names,
        histogram=not names.isdisjoint(BOUNDED),
        losses="ranking_loss" in names,
    )


def _read(name: str | Metric) -> list[LabelValue]:
    """The values of a name, which may be a group of measures."""
    if not isinstance(name, str):
        return _of_matrices(name, "")
    measure, colon, average = name.rpartition(":")
    if average == "samples":
        raise ValueError(
            f"metrics: expected an average (:{', :'.join(AVERAGES)}) after a measure, got {quoted(name)}: a mean over "
            "samples needs the matrix of each sample; use matrics.multilabel.score"
        )
    if average not in AVERAGES:
        measure, colon, average = name, "", ""
    measure = spec_of(measure)
    if measure in OF_SAMPLES:
        if colon:
            raise ValueError(
                f"metrics: expected {quoted(measure)} alone, a measure of whole samples, got {quoted(name)}"
            )
        return [LabelValue(name, measure, title=measure)]
    if measure in AREAS:
        return [LabelValue(name, measure, average or "macro", title=measure)]
    if name_of(measure) in AT_K and ":" not in measure:
        function, _, places = read_method(measure, has_classes=True)
        specs = [f"{function}(k={k})" for k in places]
        return [
            LabelValue(f"{spec}{colon}{average}", function, average or "macro", title=spec, k=k)
            for spec, k in zip(specs, places, strict=True)
        ]
    return _of_matrices(measure, average)


def _of_matrices(measure: str | Metric, average: str) -> list[LabelValue]:
    """The values of measures of the 2×2 matrices of the labels."""
    if isinstance(measure, str) and name_of(spec_of(measure)) in (*BOUNDED, *OF_SAMPLES):
        raise ValueError(
            f"metrics: expected an average (:{', :'.join(AVERAGES)}) after a measure of scores, got {quoted(measure)}"
        )
    ending = f":{average}" if average else ""
    values = []
    for key, metric in resolve(measure, TWO).items():
        if metric.is_classwise:
            raise ValueError(
                f"metrics: expected measures with a single value for each label, got {quoted(str(key) + ending)} with "
                "values "
                f"for the classes 0 and 1; use '{metric.name}:label' for the value of each label"
            )
        (is_count,) = are_counts(empty_values([metric], 2, has_cells=True))
        title = title_of(key).removesuffix(" of class 1")
        values.append(LabelValue(f"{key}{ending}", metric.spec, average or "macro", metric, title, is_count))
    return values
