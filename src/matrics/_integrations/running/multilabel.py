"""The recipe of samples with several labels: measures of each label, over labels, and of whole samples."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from typing import Any, Unpack

import numpy as np

from matrics._arrays import Array
from matrics._catalogue.record import Metric
from matrics._counting.labels import check_labels
from matrics._integrations.running.labels import sigmoid
from matrics._integrations.running.multilabel_counts import Entries, check_batch, flat, with_batch
from matrics._integrations.running.multilabel_names import kept_for, read_names
from matrics._integrations.running.multilabel_states import MultilabelStates, checked_thresholds, empty
from matrics._integrations.running.multilabel_values import MultilabelValues
from matrics._integrations.running.odd_scores import are_probabilities, check_probabilities
from matrics._integrations.running.parts import Arrays, StoredStates
from matrics._integrations.running.recipe import CommonOptions, StateRecipe, plain
from matrics._integrations.running.samples import of_samples
from matrics._integrations.running.score_names import refuse_weighted
from matrics.typing import ArrayLike


class MultilabelOptions(CommonOptions, total=False):
    """The options of a metric of samples with several labels."""

    threshold: float | Sequence[float] | ArrayLike | None
    bits: int | None
    edges: Sequence[float] | ArrayLike | None
    bounds: bool


class MultilabelRecipe(StateRecipe):
    """The arrays of ``MultilabelStates`` with the counts that the measures need, and the thresholds."""

    kind = "multilabel"
    weighed = (
        *("labels_counts", "labels_carried", "scores_counts", "scores_bins"),
        *("losses_sums", "losses_remainders"),
    )
    values: MultilabelValues
    num_classes: int

    def __init__(
        self,
        library: str,
        num_labels: int,
        metrics: str | Metric | Iterable[str | Metric],
        *,
        threshold: float | Sequence[float] | ArrayLike | None = None,
        bits: int | None = None,
        edges: Sequence[float] | ArrayLike | None = None,
        bounds: bool = False,
        **common: Unpack[CommonOptions],
    ) -> None:
        super().__init__(library, **common)
        specs = read_names(metrics)
        refuse_weighted(specs, self.decay, self.dtype)
        self.kept = kept_for(specs)
        bins = {"bits": bits, "edges": plain(edges)}
        self._options: dict[str, Any] = {"num_labels": num_labels, "kept": self.kept, "bins": bins}
        self._options["in_place"] = library == "torch"
        states = empty(**self._options, like=self._like(), dtype=self.dtype, allow_large=self.allow_large)
        self._stored = StoredStates(states, library)
        self.num_classes = int(num_labels)
        thresholds = checked_thresholds(threshold, self.num_classes, self.kept)
        self._thresholds = thresholds if self.kept.predictions else thresholds[:0]
        if self.from_logits:
            check_probabilities(self._thresholds.tolist())
        self._checks_scores = not self.from_logits and are_probabilities(self._thresholds)
        # Eager PyTorch computes unnecessary logistic functions, which compilers remove.
        self._needs_probabilities = self.kept.predictions or (self.kept.histogram and edges is not None)
        self.values = MultilabelValues.of_states(
            empty(**self._options, like=np.zeros(()), dtype=None, allow_large=True),  # NumPy is faster
            self.num_classes,
            specs,
            prefix=self.prefix,
            class_names=self.class_names,
            undefined=self.undefined,
            bounds=bounds,
        )

    def _own_options(self) -> dict[str, Any]:
        kinds = "_".join(name for name, is_kept in self.kept._asdict().items() if is_kept)
        return {"kind": f"multilabel_{kinds}"}

    def _empty(self) -> tuple[Arrays, Arrays]:
        states = empty(**self._options, like=self._like(), dtype=self.dtype, allow_large=True)
        sums, settings = self._stored.parts(states)
        if len(self._thresholds):
            xp = self.backend.xp
            is_wide = self.library == "torch"  # JAX compares in the dtype of the scores
            settings["thresholds"] = xp.asarray(self._thresholds, dtype=xp.float64 if is_wide else xp.float32)
        return sums, settings

    def _add(
        self,
        arrays: Arrays,
        y_true: Array,
        y_score: Array,
        *,
        mask: Array | None = None,
        sample_weight: Array | None = None,
        are_logits: bool | None = None,
    ) -> None:
        are_logits = self.from_logits if are_logits is None else are_logits
        self._refuse_weights(sample_weight)
        backend, kept = self.backend, self.kept
        y_true = check_labels(y_true, "y_true", backend)  # also floating numbers, as for a binary cross-entropy
        axis = check_batch(y_true, y_score, self.num_classes, self.class_axis, self.axis, kept, backend)
        samples = y_true
        if mask is not None or sample_weight is not None:
            samples = y_true[(slice(None),) * (axis % y_true.ndim) + (0,)]
        if sample_weight is not None:
            sample_weight = of_samples(backend.detached(sample_weight), "sample_weight", samples, backend).reshape(-1)
        if mask is not None:
            mask = backend.xp.astype(of_samples(mask, "mask", samples, backend).reshape(-1, 1), backend.xp.bool)
        y_true = flat(y_true, axis, "y_true", backend)
        y_score = flat(backend.detached(y_score), axis, "y_score", backend)
        is_float = backend.is_float(y_score)
        y_score = backend.to_float(y_score) if is_float else y_score
        order = y_score
        if is_float and are_logits and self._needs_probabilities:
            y_score = sigmoid(y_score, backend)
        elif is_float and not are_logits:
            self._check_scores_in_range(y_true, y_score, mask)
        batch = Entries(y_true, y_score, order, mask, sample_weight)
        if self.library == "torch":
            self._add_in_place(arrays, batch)
            return
        if self.decay is not None:
            self._decay(arrays)
        thresholds = arrays.get("thresholds")
        self.keep(arrays, with_batch(self._state(arrays), kept, batch, thresholds, self.ignored, backend))

    def _add_in_place(self, arrays: Arrays, batch: Entries) -> None:
        """Add a batch to tensors, by NumPy if all tensors are on the host."""
        tensors = arrays | {name: x for name, x in batch._asdict().items() if x is not None}
        views = self.backend.host_views(*tensors.values())
        used = tensors if views is None else dict(zip(tensors, views, strict=True))
        own = {name: used[name] for name in arrays}
        if self.decay is not None:
            self._decay(own)
        entries, thresholds = Entries(*map(used.get, Entries._fields)), used.get("thresholds")
        states, backend = self._state(own), self._library_of(own)
        states_after = with_batch(states, self.kept, entries, thresholds, self.ignored, backend, in_place=True)
        for name, values in self._stored.parts(states_after)[0].items():
            if values is not own[name]:
                own[name][...] = values

    def matrix(self, state: MultilabelStates) -> Array:
        """The matrices of the labels of a state, (L, 2, 2); raises if the metric does not count them."""
        if not self.kept.labels or state.labels is None:
            raise ValueError("matrix: expected a metric with a measure of predicted labels, such as 'f1', got none")
        return state.labels.matrix

    def _is_setting(self, name: str) -> bool:
        return super()._is_setting(name.removeprefix("scores_"))

    def _check_same(self, other: Any, arrays: Arrays, others: Arrays) -> None:
        has_edges = [recipe._options["bins"]["edges"] is not None for recipe in (self, other)]
        if (other.num_classes, other.kept, has_edges[1]) != (self.num_classes, self.kept, has_edges[0]):
            raise ValueError(
                "merge_state: expected metrics of the same labels, bins and kinds of measures, got different metrics"
            )
        for name in ("scores_counts", "scores_edges", "thresholds"):
            if name not in arrays:
                continue
            own, given = arrays[name], others[name]
            if self.library == "torch":
                self._checks()[name]("merge_state", given, own)
            elif self._is_setting(name):
                views: list[Any] = [self.backend.host_view(x) for x in (own, given)]
                if all(view is not None for view in views) and not np.array_equal(*views):
                    setting = name.removeprefix("scores_")
                    raise ValueError(
                        f"merge_state: expected a metric with the same {setting}, got a metric with others"
                    )

    def _checks(self) -> dict[str, Callable[..., None]]:
        from matrics._integrations.tensors import checkpoints

        return {
            "scores_counts": checkpoints.check_buckets,
            "scores_edges": checkpoints.check_edges,
            "thresholds": checkpoints.check_thresholds,
        }
