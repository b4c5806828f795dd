"""The values that metrics of several labels for PyTorch, torchmetrics and Flax compute from their sums."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Any, Self

from matrics._arrays import Array, is_compiling
from matrics._catalogue.naming import by_class, check_names, named
from matrics._integrations.running.multilabel_names import AREAS, LabelValue
from matrics._integrations.running.multilabel_states import MultilabelStates, as_classes
from matrics._integrations.running.score_values import wide_bounds
from matrics._integrations.running.settings import Seen, Undefined, checked_prefix
from matrics._integrations.running.values import Counted, Values, on_host
from matrics._multilabel.state import MultilabelState
from matrics._ranking.areas_of_state import Areas
from matrics._ranking.bounds import Bounded
from matrics.typing import NumPyArray


@dataclass(frozen=True, kw_only=True)
class MultilabelValues(Values):
    """The requested values of samples with several labels."""

    wanted: tuple[LabelValue, ...]
    bounds: bool

    @classmethod
    def of_states(
        cls,
        empty: MultilabelStates,
        num_labels: int,
        wanted: Sequence[LabelValue],
        *,
        prefix: str,
        class_names: Sequence[str] | None,
        undefined: Undefined,
        bounds: bool,
    ) -> MultilabelValues:
        """The values of states like these, which are empty."""
        made = cls(
            prefix=checked_prefix(prefix),
            class_names=check_names(class_names, num_labels) or tuple(map(str, range(num_labels))),
            undefined=undefined,
            wanted=tuple(wanted),
            bounds=bool(bounds),
        )
        return replace(made, keys=tuple(map(str, made.of(empty))))

    @property
    def requested(self) -> list[str]:
        """The names of the values, as they were given."""
        return [wanted.key for wanted in self.wanted]

    @property
    def higher_is_better(self) -> bool | None:
        """Of the ranking loss not."""
        first = self.wanted[0]
        return first.name != "ranking_loss" if first.metric is None else first.metric.higher_is_better

    def _only(self, place: int) -> Self:
        return replace(self, wanted=self.wanted[place : place + 1], bounds=False)

    def of(self, state: MultilabelStates) -> dict[str, Array]:
        """All values, as scalar arrays under names for a logger."""
        return self._read(state)[0]

    def _read(self, state: MultilabelStates) -> tuple[dict[str, Array], dict[str, Bounded], Counted, Areas | None]:
        """All values; the areas with their limits; what was counted; and what the areas were read from."""
        of_areas = [wanted for wanted in self.wanted if wanted.name in AREAS and wanted.metric is None]
        read = Areas(as_classes(state.scores)) if of_areas and state.scores is not None else None
        areas = {
            wanted.key: read.bounded(
                wanted.name, "class" if wanted.average == "label" else wanted.average, self.undefined.zero_division
            )
            for wanted in of_areas
            if read is not None
        }
        counted: Counted
        if state.labels is not None:
            counted = state.labels.counts, state.labels.carried
        else:
            counted = (read.samples() if read is not None else state.losses.sums), None  # type: ignore[union-attr]
        seen = Seen.of(*counted)
        of_matrices = {} if state.labels is None else self._of_matrices(state.labels)
        of_nothing = self.undefined.zero_division
        found: dict[str, Array] = {}
        for wanted in self.wanted:
            if wanted.metric is not None:
                parts = {"": of_matrices[wanted.average][str(wanted.metric)]}
            elif wanted.name == "subset_accuracy" and state.labels is not None:
                parts = {"": state.labels.subset_accuracy(zero_division=of_nothing)}
            elif wanted.name == "ranking_loss" and state.losses is not None:
                parts = {"": state.losses.mean(of_nothing)}
            else:
                area = areas[wanted.key]
                parts = {"": area.value} | ({"_low": area.low, "_high": area.high} if self.bounds else {})
            for ending, values in parts.items():
                filled = self.undefined.filled(values, seen, is_count=wanted.is_count)
                found |= self._named(wanted, ending, filled)
        return found, areas, counted, read

    def _of_matrices(self, labels: MultilabelState) -> dict[str, dict[str, Array]]:
        """The measures of the matrices, by average and by spec."""
        by_average: dict[str, list[Any]] = {}
        for wanted in self.wanted:
            if wanted.metric is not None and wanted.metric not in by_average.setdefault(wanted.average, []):
                by_average[wanted.average].append(wanted.metric)
        options: Any = {"zero_division": self.undefined.zero_division, "invalid": "nan"}
        return {
            average: labels.score(metrics, average=average, **options)  # type: ignore[arg-type]
            for average, metrics in by_average.items()
        }

    def _named(self, wanted: LabelValue, ending: str, values: Array) -> dict[str, Array]:
        head = f"{self.prefix}{wanted.measure}{ending}"
        title = f"{self.prefix}{wanted.title}{ending}"
        if wanted.average != "label":
            over = "" if wanted.name in ("subset_accuracy", "ranking_loss") else f", {wanted.average} over labels"
            return {head if is_compiling() else named(head, title + over, wanted.metric): values}
        keys = [
            f"{head}/{name}"
            if is_compiling()
            else named(f"{head}/{name}", f"{title} of {f'label {name}' if name.isdecimal() else name}", wanted.metric)
            for name in self.class_names or ()
        ]
        return dict(zip(keys, by_class(values), strict=True))

    def _samples(self, state: MultilabelStates) -> NumPyArray | None:
        """Of each label."""
        if state.labels is not None:
            found = on_host(state.labels.counts, state.labels.carried)
        elif state.scores is not None:
            has_bins = state.scores.bins.shape[-2] > 0
            found = on_host(*(state.scores[2:4] if has_bins else state.scores[:2]))
        elif state.losses is not None:
            found = on_host(*state.losses[:2])
            return None if found is None else found[1:]
        return None if found is None else found.sum(axis=(-2, -1))

    def _dropped(self, state: MultilabelStates) -> NumPyArray:
        first: Any = next(part for part in state if part is not None)
        return super()._dropped(first)

    def _known(self, state: MultilabelStates) -> tuple[dict[str, Array], str, Counted]:
        found, areas, counted, read = self._read(state)
        return found, wide_bounds(areas, read), counted
