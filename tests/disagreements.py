"""A new kind of metric, as CONTRIBUTING.md shows it: how often two models disagree."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, NamedTuple, Self, Unpack

from matrics._arrays import Array, as_arrays
from matrics._integrations.running.parts import Arrays
from matrics._integrations.running.recipe import CommonOptions, Recipe
from matrics._integrations.running.samples import kept_samples, of_samples
from matrics._integrations.running.settings import CountProperties
from matrics._integrations.running.values import Values, on_host


class Disagreements(NamedTuple):
    """The running state."""

    counts: Array  # (2,): samples with equal labels, and with different labels
    dropped: Array
    carried: None = None


@dataclass(frozen=True, kw_only=True)
class DisagreementValues(Values):
    """The share of the samples with different labels."""

    requested: tuple[str, ...] = ("disagreement",)
    higher_is_better: bool | None = False

    def _only(self, place: int) -> Self:  # noqa: ARG002 (there is one value)
        return self

    def of(self, state: Disagreements) -> dict[str, Array]:
        backend, (counts,) = as_arrays(counts=state.counts)
        counts = backend.to_wide(counts)
        share = backend.divide(counts[1], counts[0] + counts[1])
        return {self.keys[0]: self.undefined.filled(share, CountProperties.of(state.counts), is_count=False)}

    def _samples(self, state: Disagreements) -> float | None:
        counts = on_host(state.counts)
        return None if counts is None else float(counts.sum())


class DisagreementRecipe(Recipe):
    """Counts the samples to which two models give equal labels, and different labels."""

    kind = "disagreements"
    second = "y_pred"
    weighed = ("counts",)

    def __init__(self, library: str, **common: Unpack[CommonOptions]) -> None:
        super().__init__(library, **common)
        keys, options = (f"{self.prefix}disagreement",), {"class_names": None, "undefined": self.undefined}
        self.num_classes, self.values = None, DisagreementValues(prefix=self.prefix, keys=keys, **options)

    def _empty(self) -> tuple[Arrays, Arrays]:
        xp, integer = self.backend.xp, self.backend.widest_int(self._like()) or self.backend.xp.int32
        return {"counts": xp.zeros((2,), dtype=self.dtype or integer), "dropped": xp.zeros((), dtype=integer)}, {}

    def _add(
        self, arrays: Arrays, y_true: Array, y_pred: Array, *, mask: Any = None, sample_weight: Any = None, **_: Any
    ) -> None:
        self._refuse_weights(sample_weight)
        backend, xp, counts = self.backend, self.backend.xp, arrays["counts"]
        differ = xp.astype(y_true != y_pred, counts.dtype)
        kept = kept_samples(y_true, mask, self.ignored, backend)
        weights = xp.zeros_like(differ) + 1
        if sample_weight is not None:
            weights = of_samples(sample_weight, "sample_weight", y_true, backend)
        weights = xp.astype(weights if kept is None else xp.where(kept, weights, 0), counts.dtype)
        earlier = counts if self.decay is None else counts * self.decay
        arrays["counts"] = earlier + xp.stack([xp.sum(weights * (1 - differ)), xp.sum(weights * differ)])

    def _state(self, arrays: Arrays) -> Disagreements:
        return Disagreements(arrays["counts"], arrays["dropped"])
