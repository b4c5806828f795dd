"""The recipe of samples with several labels: measures of each label, over labels, and of whole samples."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from typing import Any, Unpack

import numpy as np

from matrics._arrays import Array
from matrics._catalogue.record import Metric
from matrics._counting.labels import check_labels
from matrics._integrations.running.labels import sigmoid
from matrics._integrations.running.multilabel_counts import Entries, added, check_batch, flat
from matrics._integrations.running.multilabel_names import kept_for, read_names
from matrics._integrations.running.multilabel_sums import ADDED, MultilabelSums, checked_thresholds, empty
from matrics._integrations.running.multilabel_values import MultilabelValues
from matrics._integrations.running.odd_scores import are_probabilities, check_probabilities
from matrics._integrations.running.recipe import Arrays, CommonOptions, StateRecipe, plain
from matrics._integrations.running.samples import of_samples
from matrics.typing import ArrayLike


class MultilabelOptions(CommonOptions, total=False):
    """The options of a metric of samples with several labels."""

    threshold: float | Sequence[float] | ArrayLike | None
    bits: int | None
    edges: Sequence[float] | ArrayLike | None
    bounds: bool


class MultilabelRecipe(StateRecipe):
    """The arrays of ``MultilabelSums`` with what the measures need, and the thresholds."""

    kind = "multilabel"
    weighed = ("counts", "buckets", "bins", "sums", "remainders")
    values: MultilabelValues

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
        wanted = read_names(metrics)
        kept = kept_for(wanted)
        bins = {"bits": bits, "edges": plain(edges)}
        self._options: dict[str, Any] = {"num_labels": num_labels, "kept": kept, "bins": bins}
        self.layout, state = empty(**self._options, like=self._like(), dtype=self.dtype, allow_large=self.allow_large)
        self._remember(state, unneeded=() if kept.histogram else ("rounded",))
        self.num_classes = self.layout.num_labels
        thresholds = checked_thresholds(threshold, self.layout.num_labels, kept)
        self._thresholds = thresholds if kept.predictions else thresholds[:0]
        if self.from_logits:
            check_probabilities(self._thresholds.tolist())
        self._looks = not self.from_logits and are_probabilities(self._thresholds)
        # In PyTorch a logistic function takes longer than in a compiler, which leaves out what nothing needs.
        self._needs_probabilities = kept.predictions or (kept.histogram and not self.layout.has_buckets)
        self.values = MultilabelValues.of_sums(
            self.layout,
            empty(**self._options, like=np.zeros(()), dtype=None, allow_large=True)[1],  # NumPy takes less time
            wanted,
            prefix=self.prefix,
            class_names=self.class_names,
            undefined=self.undefined,
            bounds=bounds,
        )

    def _own_options(self) -> dict[str, Any]:
        kinds = "_".join(name for name, is_kept in self.layout.kept._asdict().items() if is_kept)
        return {"kind": f"multilabel_{kinds}"}

    def _empty(self) -> tuple[Arrays, Arrays]:
        _, state = empty(**self._options, like=self._like(), dtype=self.dtype, allow_large=True)
        sums, settings = self._parts(state)
        if len(self._thresholds):
            xp = self.backend.xp
            is_wide = self.library == "torch"  # JAX compares in the dtype of scores
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
        backend, kept = self.backend, self.layout.kept
        y_true = check_labels(y_true, "y_true", backend)  # of floating numbers, as a binary cross-entropy takes them
        axis = check_batch(y_true, y_score, self.layout.num_labels, self.class_axis, self.axis, kept, backend)
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
            self._looks_at(y_true, y_score, mask)
        batch = Entries(y_true, y_score, order, mask, sample_weight)
        if self.library == "torch":
            self._add_in_place(arrays, batch)
            return
        if self.decay is not None:
            self._decay(arrays)
        state = self._state(arrays)
        found = added(self.layout, state, batch, arrays.get("thresholds"), self.ignored, backend)
        self.keep(arrays, state.plus(found, buckets=found.buckets))

    def _add_in_place(self, arrays: Arrays, batch: Entries) -> None:
        """Add to tensors, by NumPy where all of them are on the host."""
        given = arrays | {name: x for name, x in batch._asdict().items() if x is not None}
        views = self.backend.host_views(*given.values())
        used = given if views is None else dict(zip(given, views, strict=True))
        own = {name: used[name] for name in arrays}
        if self.decay is not None:
            self._decay(own)
        state, entries = self._state(own), Entries(*map(used.get, Entries._fields))
        backend = self._library_of(own)
        found = added(self.layout, state, entries, used.get("thresholds"), self.ignored, backend, in_place=True)
        for name in ADDED[1:]:  # the first of which was added to in place
            if name in own:
                part = getattr(found, name)
                own[name] += part if views is not None else part.to(own[name].dtype)

    def matrix(self, state: MultilabelSums) -> Array:
        """The matrices of the labels, (L, 2, 2), of a state."""
        return self.layout.matrix(state)

    def _check_same(self, other: Any, arrays: Arrays, others: Arrays) -> None:
        if other.layout != self.layout:
            raise ValueError("merge_state: expected metrics of the same labels, bins and kinds of measures, got others")
        for name, own in arrays.items():
            if self.library == "torch" and name in ("buckets", "edges", "thresholds"):
                self._checks()[name]("merge_state", others.get(name), own)
            elif name in ("edges", "thresholds"):
                views: list[Any] = [self.backend.host_view(x) for x in (own, others[name])]
                if all(view is not None for view in views) and not np.array_equal(*views):
                    raise ValueError(f"merge_state: expected a metric with the {name} of this one, got others")

    def _checks(self) -> dict[str, Callable[..., None]]:
        from matrics._integrations.tensors import checkpoints

        return {
            "buckets": checkpoints.check_buckets,
            "edges": checkpoints.check_edges,
            "thresholds": checkpoints.check_thresholds,
        }


__all__ = ["MultilabelOptions", "MultilabelRecipe", "MultilabelSums"]
