"""The values of several running states that were counted from the same batches."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, replace
from typing import NamedTuple, Self

from matrics._arrays import Array
from matrics._integrations.running.multilabel_states import MultilabelStates
from matrics._integrations.running.parts import States
from matrics._integrations.running.values import Counted, Values
from matrics._ranking.state import ScoreState
from matrics._states.confusion import ConfusionState
from matrics._states.margins import MarginState
from matrics.typing import NumPyArray


class StatesOfKinds(NamedTuple):
    """The states of a metric of any measures; None where no measure needs a state."""

    labels: ConfusionState | MarginState | None = None
    scores: ScoreState | None = None
    sets: MultilabelStates | None = None


class CombinedState(States, StatesOfKinds):
    """The states of several kinds of metrics, which can be added up over batches and processes."""

    __slots__ = ()

    @property
    def dropped(self) -> Array:
        """The number of dropped samples, which is the same in each state."""
        dropped: Array = next(state.dropped for state in self if state is not None)
        return dropped


@dataclass(frozen=True, kw_only=True)
class CombinedValues(Values):
    """The values of each state, in the order of the states."""

    parts: tuple[tuple[str, Values], ...]

    @classmethod
    def of_parts(cls, parts: Mapping[str, Values], prefix: str) -> CombinedValues:
        """The values of the states with these names."""
        first = next(iter(parts.values()))
        return cls(
            prefix=prefix,
            class_names=first.class_names,
            undefined=first.undefined,
            parts=tuple(parts.items()),
            keys=tuple(key for values in parts.values() for key in values.keys),
        )

    def of(self, state: CombinedState) -> dict[str, Array]:
        """All values, as scalar arrays under names for a logger."""
        return {key: value for part, values in self.parts for key, value in values.of(getattr(state, part)).items()}

    @property
    def requested(self) -> list[str]:
        """The names of the values, as the user gave them."""
        return [name for _, values in self.parts for name in values.requested]

    @property
    def higher_is_better(self) -> bool | None:
        """Whether higher values of the first measure are better."""
        return self.parts[0][1].higher_is_better

    def _only(self, place: int) -> Self:
        for part, values in self.parts:
            number = len(values.requested)
            if place < number:
                return replace(self, parts=((part, values._only(place)),))
            place -= number
        raise IndexError(place)

    def renamed(self, prefix: str) -> Self:
        """The values with another prefix."""
        result = super().renamed(prefix)
        return replace(result, parts=tuple((part, values.renamed(prefix)) for part, values in self.parts))

    def _samples(self, state: CombinedState) -> float | NumPyArray | None:
        part, values = self.parts[0]
        return values._samples(getattr(state, part))

    def _dropped(self, state: CombinedState) -> NumPyArray:
        part, values = self.parts[0]
        return values._dropped(getattr(state, part))

    def _known(self, state: CombinedState) -> tuple[dict[str, Array], str, Counted | None]:
        results = [values._known(getattr(state, part)) for part, values in self.parts]
        known = {key: value for values, _, _ in results for key, value in values.items()}
        return known, next((warning for _, warning, _ in results if warning), ""), results[0][2]
