"""The recipe of scores: areas under curves, calibration, measures at thresholds, losses."""

from __future__ import annotations

import functools
from collections.abc import Callable, Hashable, Iterable, Sequence
from typing import Any, Unpack

from matrics._arrays import Array
from matrics._counting.labels import refuse_axis_of_one, said, warn_if_either_fits
from matrics._integrations.running.parts import Arrays, StoredState
from matrics._integrations.running.recipe import CommonOptions, StateRecipe, plain
from matrics._integrations.running.samples import of_samples
from matrics._integrations.running.score_names import checks_thresholds, kept_for, read_names, refuse_weighted
from matrics._integrations.running.score_values import MASKED, ScoreValues, checked_positive, masked
from matrics._ranking.batches import count_into
from matrics._ranking.leaves import check_same
from matrics._ranking.state import ScoreState
from matrics.typing import ArrayLike


class ScoreOptions(CommonOptions, total=False):
    """The options of a metric of scores."""

    bits: int | None
    edges: Sequence[float] | ArrayLike | None
    bounds: bool
    num_bins: int
    positive: Hashable


class ScoreRecipe(StateRecipe):
    """The arrays of a :class:`matrics.ScoreState` with the counts that the measures need."""

    kind = "scores"
    values: ScoreValues

    def __init__(
        self,
        library: str,
        num_classes: int | None = None,
        metrics: str | Iterable[str] | None = None,
        *,
        bits: int | None = None,
        edges: Sequence[float] | ArrayLike | None = None,
        bounds: bool = False,
        num_bins: int = 15,
        positive: Hashable = None,
        **common: Unpack[CommonOptions],
    ) -> None:
        super().__init__(library, **common)
        specs = read_names(metrics, positive, has_classes=num_classes is not None)
        refuse_weighted(specs, self.decay, self.dtype)
        edges = plain(edges)
        kept = kept_for(specs, bits=bits, edges=edges, num_bins=num_bins)
        self.positive, self.num_classes = checked_positive(positive, num_classes), num_classes
        self._kept = kept | {"num_classes": num_classes, "dtype": self.dtype, "allow_large": self.allow_large}
        self._checks_scores = checks_thresholds(kept) and not self.from_logits
        state = self._zeros()
        has_areas = 0 not in state.counts.shape or 0 not in state.bins.shape
        self._stored = StoredState(state, library, unneeded=() if has_areas else ("rounded",))
        self.values = ScoreValues.of_state(
            ScoreState.zeros(**self._kept | {"dtype": None}),  # NumPy is faster for this single evaluation
            num_classes,
            specs,
            prefix=self.prefix,
            class_names=self.class_names,
            positive=positive,
            undefined=self.undefined,
            bounds=bounds,
            ignored=self.ignored,
        )

    @property
    def warns_of_scores(self) -> bool:
        """Whether scores outside of [0, 1] cause a warning, because of bins, losses, or thresholds."""
        return self._checks_scores or bool(self._kept["num_bins"] or self._kept["losses"])

    def _own_options(self) -> dict[str, Any]:
        axis = {} if self.num_classes else {"axis": None}
        return axis | {"kind": "score", "of": self.positive}

    def _zeros(self) -> ScoreState:
        return ScoreState.zeros(**self._kept, like=self._like())

    def _empty(self) -> tuple[Arrays, Arrays]:
        return self._stored.parts(self._zeros())

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
        backend = self.backend
        y_score = self._last(y_true, y_score)
        if not are_logits:
            self._check_scores_in_range(y_true, y_score, mask)
        ignore_index: int | tuple[int, ...] = self.ignored
        positive = self.positive
        if mask is not None and not backend.is_float(y_true):
            mask = of_samples(mask, "mask", y_true, backend)
            y_true, ignore_index = masked(y_true, mask, self.ignored, self.num_classes, positive, backend), MASKED
            positive = None
        if sample_weight is not None:
            sample_weight = of_samples(sample_weight, "sample_weight", y_true, backend)
        options: Any = {"sample_weight": sample_weight, "ignore_index": ignore_index, "positive": positive}
        if self.library == "torch":
            count_into(y_true, y_score, self._state(arrays), **options, are_logits=are_logits, decay=self.decay)
            return
        if self.decay is not None:
            self._decay(arrays)
        scores = {"logits" if are_logits else "y_score": y_score}
        self.keep(arrays, self._state(arrays).update(y_true, **options, **scores))

    def _last(self, y_true: Array, y_score: Array) -> Array:
        """The scores in the shape of the labels, with the axis of the classes last."""
        n, axis, ndim = self.num_classes, self.axis, y_score.ndim
        if n is None:
            if y_true.shape != y_score.shape:
                got = said({"y_true": y_true, "y_score": y_score})
                raise ValueError(
                    f"expected labels and scores of the same shape, or num_classes= for class scores, got {got}"
                )
            return y_score
        if self.class_axis is None:
            warn_if_either_fits(y_true, y_score, n, axis)
        refuse_axis_of_one(y_true, y_score, axis, "y_score")
        if ndim != y_true.ndim + 1 or not -ndim <= axis < ndim or y_score.shape[axis] != n:
            got = said({"y_true": y_true, "y_score": y_score})
            fits = ndim == y_true.ndim + 1 and y_score.shape[-1] == n and axis != -1
            hint = "; the last axis has as many: pass class_axis=-1" if fits else ""
            raise ValueError(
                f"expected scores with {n} classes along class_axis={axis}, next to labels, got {got}{hint}"
            )
        return y_score if axis in (-1, ndim - 1) else self.backend.xp.moveaxis(y_score, axis, -1)

    def _check_same(self, other: Any, arrays: Arrays, others: Arrays) -> None:
        hosts = [
            {name: x[0, ...] if self.window is not None and not self._is_setting(name) else x for name, x in of.items()}
            for of in (arrays, others)
        ]
        states = [recipe._on_host(of) for recipe, of in zip((self, other), hosts, strict=True)]
        check_same(self.backend, *states)

    def _on_host(self, arrays: Arrays) -> ScoreState:
        """The state with its settings on the host, where they can be compared."""
        state: ScoreState = self._state(arrays)
        if self.library != "torch":
            return state
        return state._replace(**{name: getattr(state, name).cpu() for name in ("edges", "top_k", "states")})

    def _checks(self) -> dict[str, Callable[..., None]]:
        from matrics._integrations.tensors import checkpoints

        return {
            "edges": checkpoints.check_edges,
            "top_k": checkpoints.check_top_k,
            "counts": checkpoints.check_buckets,
            "calibration": checkpoints.check_calibration,
            "sums": functools.partial(checkpoints.check_sums, places=len(self._kept["top_k"] or ())),
        }
