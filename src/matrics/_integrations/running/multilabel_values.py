"""The values that metrics of several labels for PyTorch, torchmetrics and Flax compute from their sums."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Any, Self

from matrics._arrays import Array, as_arrays, is_compiling
from matrics._catalogue.naming import by_class, check_names, named
from matrics._integrations.running.multilabel_names import AREAS, LabelValue
from matrics._integrations.running.multilabel_sums import Layout, MultilabelSums
from matrics._integrations.running.score_values import wide_bounds
from matrics._integrations.running.settings import Seen, Undefined, checked_prefix
from matrics._integrations.running.values import Counted, Values, on_host
from matrics._multilabel.state import MultilabelState
from matrics._ranking.answers import Areas
from matrics._ranking.bounds import Bounded


@dataclass(frozen=True, kw_only=True)
class MultilabelValues(Values):
    """The requested values of samples with several labels."""

    layout: Layout
    wanted: tuple[LabelValue, ...]
    bounds: bool

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
        made = cls(
            prefix=checked_prefix(prefix),
            class_names=check_names(class_names, number) or tuple(map(str, range(number))),
            undefined=undefined,
            layout=layout,
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

    def of(self, state: MultilabelSums) -> dict[str, Array]:
        """All values, as scalar arrays under names for a logger."""
        return self._read(state)[0]

    def _read(self, state: MultilabelSums) -> tuple[dict[str, Array], dict[str, Bounded], Counted, Areas | None]:
        """All values; the areas with their limits; what was counted; and what the areas were read from."""
        of_areas = [wanted for wanted in self.wanted if wanted.name in AREAS and wanted.metric is None]
        read = Areas(self.layout.scores(state)) if of_areas else None
        areas = {
            wanted.key: read.bounded(
                wanted.name, "class" if wanted.average == "label" else wanted.average, self.undefined.zero_division
            )
            for wanted in of_areas
            if read is not None
        }
        has_counts = sum(self.layout.sizes) > 0 or read is None
        counted = (state.counts, state.carried) if has_counts else (read.samples(), None)  # type: ignore[union-attr]
        seen = Seen.of(*counted)
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

    def _loss(self, state: MultilabelSums) -> Array:
        """The mean of the samples' losses."""
        number = self.layout.parts(state.counts)[2]
        carried = self.layout.parts(state.carried)[2] if state.carried.shape[-1] else None
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

    def _samples(self, state: MultilabelSums) -> float | None:
        """Of the label with the most."""
        kept, found = self.layout.kept, on_host(state.counts, state.carried)
        if found is None:
            return None
        labels, whole, losses = self.layout.parts(found)
        if kept.samples or kept.losses:
            return float((whole if kept.samples else losses).sum())
        if kept.labels:
            return float(labels.reshape(-1, 4).sum(axis=-1).max())
        of_scores = (state.bins, state.bins_carried) if state.bins.shape[-2] else (state.buckets, state.buckets_carried)
        found = on_host(*of_scores)
        return None if found is None else float(found.sum(axis=(-2, -1)).max())

    def _known(self, state: MultilabelSums) -> tuple[dict[str, Array], str, Counted]:
        found, areas, (counts, carried), read = self._read(state)
        return found, wide_bounds(areas, read), (counts[None], carried)
