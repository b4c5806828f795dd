"""The values of metrics of several labels for PyTorch, torchmetrics and Flax, computed from their states."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Any, Self

from matrics._arrays import Array, is_compiling
from matrics._catalogue.naming import by_class, check_names, named
from matrics._integrations.running.multilabel_names import LabelValue
from matrics._integrations.running.multilabel_states import MultilabelStates, as_classes
from matrics._integrations.running.score_values import bounded_of, wide_bounds
from matrics._integrations.running.settings import CountProperties, Undefined, checked_prefix
from matrics._integrations.running.values import Counted, Values, on_host
from matrics._multilabel.state import MultilabelState
from matrics._ranking.areas_of_state import Histograms
from matrics._ranking.bounds import Bounded
from matrics._ranking.state_names import BOUNDED
from matrics.typing import NumPyArray


@dataclass(frozen=True, kw_only=True)
class MultilabelValues(Values):
    """The requested values of samples with several labels."""

    specs: tuple[LabelValue, ...]
    bounds: bool

    @classmethod
    def of_states(
        cls,
        empty: MultilabelStates,
        num_labels: int,
        specs: Sequence[LabelValue],
        *,
        prefix: str,
        class_names: Sequence[str] | None,
        undefined: Undefined,
        bounds: bool,
    ) -> MultilabelValues:
        """The values of states with the structure of these empty states."""
        result = cls(
            prefix=checked_prefix(prefix),
            class_names=check_names(class_names, num_labels) or tuple(map(str, range(num_labels))),
            undefined=undefined,
            specs=tuple(specs),
            bounds=bool(bounds),
        )
        return replace(result, keys=tuple(map(str, result.of(empty))))

    @property
    def requested(self) -> list[str]:
        """The names of the values, as the user gave them."""
        return [spec.key for spec in self.specs]

    @property
    def higher_is_better(self) -> bool | None:
        """Whether higher values of the first measure are better: not of the ranking loss."""
        first = self.specs[0]
        return first.name != "ranking_loss" if first.metric is None else first.metric.higher_is_better

    def _only(self, place: int) -> Self:
        return replace(self, specs=self.specs[place : place + 1], bounds=False)

    def of(self, state: MultilabelStates) -> dict[str, Array]:
        """All values, as scalar arrays under names for a logger."""
        return self._read(state)[0]

    def _read(self, state: MultilabelStates) -> tuple[dict[str, Array], dict[str, Bounded], Counted, Histograms | None]:
        """All values; those with limits; the counts; and the histograms."""
        of_scores = [spec for spec in self.specs if spec.name in BOUNDED and spec.metric is None]
        histograms = Histograms(as_classes(state.scores)) if of_scores and state.scores is not None else None
        zero_division = self.undefined.zero_division
        bounded = {
            spec.key: bounded_of(
                histograms, spec.name, spec.k, "class" if spec.average == "label" else spec.average, zero_division
            )
            for spec in of_scores
            if histograms is not None
        }
        counted: Counted
        if state.labels is not None:
            counted = state.labels.counts, state.labels.carried
        else:
            counted = (histograms.samples() if histograms is not None else state.losses.sums), None  # type: ignore[union-attr]
        properties = CountProperties.of(*counted)
        of_matrices = {} if state.labels is None else self._of_matrices(state.labels)
        values_by_key: dict[str, Array] = {}
        for spec in self.specs:
            if spec.metric is not None:
                parts = {"": of_matrices[spec.average][str(spec.metric)]}
            elif spec.name == "subset_accuracy" and state.labels is not None:
                parts = {"": state.labels.subset_accuracy(zero_division=zero_division)}
            elif spec.name == "ranking_loss" and state.losses is not None:
                parts = {"": state.losses.mean(zero_division)}
            else:
                value, low, high = bounded[spec.key]
                parts = {"": value} | ({"_low": low, "_high": high} if self.bounds else {})
            for ending, values in parts.items():
                filled = self.undefined.filled(values, properties, is_count=spec.is_count)
                values_by_key |= self._named(spec, ending, filled)
        return values_by_key, bounded, counted, histograms

    def _of_matrices(self, labels: MultilabelState) -> dict[str, dict[str, Array]]:
        """The measures of the matrices, by average and spec."""
        by_average: dict[str, list[Any]] = {}
        for spec in self.specs:
            if spec.metric is not None and spec.metric not in by_average.setdefault(spec.average, []):
                by_average[spec.average].append(spec.metric)
        options: Any = {"zero_division": self.undefined.zero_division, "invalid": "nan"}
        return {
            average: labels.score(metrics, average=average, **options)  # type: ignore[arg-type]
            for average, metrics in by_average.items()
        }

    def _named(self, spec: LabelValue, ending: str, values: Array) -> dict[str, Array]:
        head = f"{self.prefix}{spec.measure}{ending}"
        title = f"{self.prefix}{spec.title}{ending}"
        if spec.average != "label":
            over = "" if spec.name in ("subset_accuracy", "ranking_loss") else f", {spec.average} over labels"
            return {head if is_compiling() else named(head, title + over, spec.metric): values}
        keys = [
            f"{head}/{name}"
            if is_compiling()
            else named(f"{head}/{name}", f"{title} of {f'label {name}' if name.isdecimal() else name}", spec.metric)
            for name in self.class_names or ()
        ]
        return dict(zip(keys, by_class(values), strict=True))

    def _samples(self, state: MultilabelStates) -> NumPyArray | None:
        """The number of samples of each label; see ``Values``."""
        if state.labels is not None:
            counts = on_host(state.labels.counts, state.labels.carried)
        elif state.scores is not None:
            has_bins = state.scores.bins.shape[-2] > 0
            counts = on_host(*(state.scores[2:4] if has_bins else state.scores[:2]))
        elif state.losses is not None:
            counts = on_host(*state.losses[:2])
            return None if counts is None else counts[1:]
        return None if counts is None else counts.sum(axis=(-2, -1))

    def _dropped(self, state: MultilabelStates) -> NumPyArray:
        first: Any = next(part for part in state if part is not None)
        return super()._dropped(first)

    def _known(self, state: MultilabelStates) -> tuple[dict[str, Array], str, Counted]:
        values, bounded, counted, histograms = self._read(state)
        return values, wide_bounds(bounded, histograms), counted
