"""The recipes of predicted labels: all cells of the confusion matrix, or only margins."""

from __future__ import annotations

from collections.abc import Callable, Hashable, Iterable
from typing import Any, ClassVar, Unpack

import numpy as np

from matrics._arrays import NUMPY, Array
from matrics._catalogue.record import Metric
from matrics._counting.codes import integer_codes, searched
from matrics._counting.labels import decide, is_kept, labels_to_ignore, warn_if_either_fits
from matrics._integrations.running.odd_scores import are_probabilities, check_probabilities
from matrics._integrations.running.parts import Arrays, StoredState
from matrics._integrations.running.recipe import CommonOptions, StateRecipe
from matrics._integrations.running.samples import of_samples
from matrics._integrations.running.score_values import MASKED, OUTSIDE
from matrics._integrations.running.settings import no_matrix
from matrics._integrations.running.values import ConfusionValues
from matrics._states.confusion import ConfusionState
from matrics._states.margins import MarginState


class LabelOptions(CommonOptions, total=False):
    """The options of a metric of predicted labels."""

    labels: Iterable[int] | None
    positive: Hashable
    threshold: float | None


class LabelRecipe(StateRecipe):
    """Counts of predicted labels: the cells of a matrix, or margins if cells are too many and unnecessary.

    With PyTorch the counts are a single tensor, into which ``tensors/guarded.py`` counts in place.
    """

    kind = "labels"
    second = "y_pred"
    margins_alone: ClassVar[bool] = False
    values: ConfusionValues
    num_classes: int

    def __init__(
        self,
        library: str,
        num_classes: int | None = None,
        metrics: str | Metric | Iterable[str | Metric] = "core",
        *,
        labels: Iterable[int] | None = None,
        positive: Hashable = None,
        threshold: float | None = None,
        **common: Unpack[CommonOptions],
    ) -> None:
        super().__init__(library, **common)
        self.num_classes, self.codes = integer_codes(num_classes, labels)
        self.threshold = threshold
        if threshold is not None:
            decide(np.empty(0), self.num_classes, class_axis=-1, sample_ndim=1, threshold=threshold, backend=NUMPY)
            if self.from_logits:
                check_probabilities([threshold])
        self._checks_scores = threshold is not None and not self.from_logits and are_probabilities([threshold])
        width = 4 if self.dtype == self.backend.xp.float32 else 8
        self.values = ConfusionValues.of_classes(
            self.num_classes,
            metrics,
            self.codes,
            prefix=self.prefix,
            class_names=self.class_names,
            positive=positive,
            has_threshold=threshold is not None,
            ignored=self.ignored,
            undefined=self.undefined,
            # Twice in PyTorch, as a metric stores counts before and after a sync, or the zeros of a reset.
            bytes_of_cell=width * (2 if library == "torch" else 1),
            margins_alone=self.margins_alone,
            allow_large=self.allow_large,
        )
        self._guarded: Any = None
        if library == "torch":
            from matrics._integrations.tensors.guarded import GuardedCells, GuardedMargins

            self._guarded = (GuardedCells if self.values.keeps_cells else GuardedMargins)(self)
            if self.window is None:
                self.count = self._guarded.add  # type: ignore[method-assign]  # an update takes microseconds
        else:
            self._stored = StoredState(self._zeros(), library)

    def _own_options(self) -> dict[str, Any]:
        return {
            "kind": None if self.values.keeps_cells else "margins",
            "logits": None if self.threshold is None else self.from_logits or None,
            "threshold": self.threshold,
            "of": None if self.codes is None else "_".join(map(str, self.codes)),
        }

    def _zeros(self) -> ConfusionState | MarginState:
        kind = ConfusionState if self.values.keeps_cells else MarginState
        return kind.zeros(self.num_classes, like=self._like(), dtype=self.dtype, allow_large=True)

    def _empty(self) -> tuple[Arrays, Arrays]:
        if self._guarded is not None:
            return {"counts": self._guarded.zeros()}, {}
        return self._stored.parts(self._zeros())

    def _add(
        self,
        arrays: Arrays,
        y_true: Array,
        y_pred: Array,
        *,
        mask: Array | None = None,
        sample_weight: Array | None = None,
        are_logits: bool | None = None,  # noqa: ARG002 (an argument of all recipes)
    ) -> None:
        if self._guarded is not None:
            self._guarded.add(arrays, y_true, y_pred, mask=mask, sample_weight=sample_weight)
            return
        self._refuse_weights(sample_weight)
        backend, xp, n = self.backend, self.backend.xp, self.num_classes
        is_float = backend.is_float(y_pred)
        if is_float and self.threshold is None and self.class_axis is None:
            warn_if_either_fits(y_true, y_pred, n, self.axis)
        if self.threshold is not None and is_float:
            self._check_scores_in_range(y_true, y_pred, mask)
            if self.from_logits:
                y_pred = sigmoid(y_pred, backend)
        ignore_index: int | tuple[int, ...] = self.ignored
        if mask is not None or self.codes is not None:
            kept = xp.ones(y_true.shape, dtype=xp.bool) if mask is None else of_samples(mask, "mask", y_true, backend)
            others = is_kept(y_true, labels_to_ignore(self.ignored, y_true, backend), backend)
            kept = xp.astype(kept, xp.bool) if others is None else xp.astype(kept, xp.bool) & others
            if self.codes is not None:
                y_true = searched(y_true, self.codes, "labels", backend)
                y_pred = y_pred if is_float else searched(y_pred, self.codes, "logits", backend)
            inside = (y_true >= 0) & (y_true < n)
            y_true = xp.where(kept, xp.where(inside, xp.astype(y_true, xp.int32), OUTSIDE), MASKED)
            ignore_index = MASKED
        if self.decay is not None:
            self._decay(arrays)
        options: Any = {"class_axis": self.axis, "threshold": self.threshold, "ignore_index": ignore_index}
        self.keep(arrays, self._state(arrays).update(y_true, y_pred, sample_weight=sample_weight, **options))

    def state(self, arrays: Arrays) -> Any:
        """The running state of all counts, which later batches do not change."""
        return self.view(arrays) if self._guarded is None else self._guarded.state(self._total(arrays)["counts"])

    def matrix(self, state: ConfusionState | MarginState) -> Array:
        """The confusion matrix of a state; raises an error for margins."""
        return state.matrix if isinstance(state, ConfusionState) else no_matrix(self.num_classes)

    def _state(self, arrays: Arrays) -> Any:
        return super()._state(arrays) if self._guarded is None else self._guarded.view(arrays["counts"])

    def _decay(self, arrays: Arrays) -> None:
        if self._guarded is None:
            super()._decay(arrays)
        else:
            self._guarded.forget(arrays["counts"])

    def _check_same(self, other: Any, arrays: Arrays, others: Arrays) -> None:  # noqa: ARG002 (the sizes of arrays follow from the options)
        if other.num_classes != self.num_classes:
            raise ValueError(f"expected metrics of {self.num_classes} classes, got a metric of {other.num_classes}")
        kinds = ["all cells" if x.values.keeps_cells else "margins" for x in (self, other)]
        if kinds[0] != kinds[1]:
            raise ValueError(f"expected metrics that count {kinds[0]}, got a metric that counts {kinds[1]}")

    def _checks(self) -> dict[str, Callable[..., None]]:
        return {"counts": self._guarded.check_loaded}


class MarginRecipe(LabelRecipe):
    """A recipe of margins; measures that need all cells raise an error."""

    margins_alone = True


def sigmoid(logits: Array, backend: Any) -> Array:
    """The probabilities of logits in the widest dtype, as probabilities in float32 are 1 from a logit of 17 on."""
    if hasattr(logits, "sigmoid"):
        return logits.to(backend.widest_float(logits)).sigmoid()
    import jax

    return jax.nn.sigmoid(logits.astype(backend.widest_float(logits)))
