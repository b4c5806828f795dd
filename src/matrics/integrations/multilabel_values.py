"""The values that metrics of several labels for PyTorch, torchmetrics and Flax compute from their sums."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Any, Self

from matrics.arrays import Array, as_arrays, is_compiling
from matrics.catalogue.naming import by_class, check_names, named
from matrics.integrations.multilabel_names import LabelValue
from matrics.integrations.multilabel_sums import Layout, MultilabelSums
from matrics.integrations.score_values import odd_scores
from matrics.integrations.settings import Seen, Undefined, checked_prefix
from matrics.integrations.values import Values
from matrics.multilabel.state import MultilabelState


@dataclass(frozen=True, kw_only=True)
class MultilabelValues(Values):
    """The requested values of samples with several labels."""

    layout: Layout
    wanted: tuple[LabelValue, ...]
    bounds: bool
    are_probabilities: bool  # the edges are from 0 to 1

    @classmethod
    def of_sums(
        cls,
        layout: Layout,
        empty: MultilabelSums,
        wanted: Sequence[LabelValue],
        *,
        prefix: str,
        class_names: Sequence[str] | None,
        undefined: Undefined,
        bounds: bool,
    ) -> MultilabelValues:
        """The values of sums like these, which are empty."""
        number = layout.num_labels
        are_probabilities = False
        if layout.kept.histogram:
            thresholds = layout.scores(empty).thresholds
            are_probabilities = bool(thresholds[-2] == 0 and thresholds[1] == 1)
        made = cls(
            prefix=checked_prefix(prefix),
            class_names=check_names(class_names, number) or tuple(map(str, range(number))),
            undefined=undefined,
            layout=layout,
            wanted=tuple(wanted),
            bounds=bool(bounds),
            are_probabilities=are_probabilities,
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

    def of(self, state: MultilabelSums) -> dict[str, Array]:
        """All values, as scalar arrays under names for a logger."""
        seen = Seen.of(state.counts, state.carried)
        of_matrices = self._of_matrices(self.layout.labels(state)) if self.layout.kept.labels else {}
        found: dict[str, Array] = {}
        for wanted in self.wanted:
            if wanted.metric is not None:
                parts = {"": of_matrices[wanted.average][str(wanted.metric)]}
            elif wanted.name == "subset_accuracy":
                parts = {"": self.layout.labels(state).subset_accuracy(zero_division=self.undefined.zero_division)}
            elif wanted.name == "ranking_loss":
                parts = {"": self._loss(state)}
            else:
                parts = self._area(wanted, state)
            for ending, values in parts.items():
                filled = self.undefined.filled(values, seen, is_count=wanted.is_count)
                found |= self._named(wanted, ending, filled)
        return found

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

    def _area(self, wanted: LabelValue, state: MultilabelSums) -> dict[str, Array]:
        average = "class" if wanted.average == "label" else wanted.average
        method = getattr(self.layout.scores(state), wanted.name)
        found = method(average=average, zero_division=self.undefined.zero_division)
        return {"": found.value, "_low": found.low, "_high": found.high} if self.bounds else {"": found.value}

    def _loss(self, state: MultilabelSums) -> Array:
        """The mean of the samples' losses."""
        number = self.layout.parts(state.counts)[3]
        carried = self.layout.parts(state.carried)[3] if state.carried.shape[-1] else None
        backend, (number, sums, remainders) = as_arrays(number=number, sums=state.sums, remainders=state.remainders)
        xp = backend.xp
        number = xp.astype(number, sums.dtype)
        if carried is not None:
            number = number + xp.astype(carried, sums.dtype) * 2.0**16
        total = sums + remainders if remainders.shape[-1] else sums
        some = number > 0
        return xp.where(some, total / xp.where(some, number, 1), self.undefined.zero_division)[0]

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

    def _counted(self, state: MultilabelSums) -> Array:
        return state.counts[None]

    def _oddity(self, state: MultilabelSums, counts: Array) -> str:
        if not self.are_probabilities:
            return ""
        shape = (self.layout.num_labels, self.layout.length)
        return odd_scores(self.layout.parts(counts)[2].reshape(*shape, 2), state.offsets.reshape(shape))
