"""The labels and scores of several models on the same samples, with or without clusters."""

from __future__ import annotations

import math
from collections.abc import Iterator
from functools import cached_property
from typing import Any, NamedTuple

import numpy as np

from matrics._arrays import NUMPY, Array, as_arrays, on_host
from matrics._counting.codes import in_order, known_labels
from matrics._ranking.inputs import ScoredSamples, read
from matrics._uncertainty.model_samples import cluster_codes


class SampleScores:
    """Labels of samples, and the scores of M models for them."""

    def __init__(self, true: Array, scores: Array, units: Array | None, spoiled: Array) -> None:
        self.true = true  # (N,), class numbers
        self.scores = scores  # (M, N), of class 1, or (M, N, n)
        self.number = true.size if units is None else int(units.max(initial=-1)) + 1
        self.units = units  # (N,), the number of the cluster of each sample
        self.spoiled = spoiled  # (M,), whether a score is NaN

    @property
    def models(self) -> int:
        """The number of models."""
        return len(self.scores)

    @cached_property
    def positive(self) -> Array:
        """Whether a sample is positive (C, N): of class 1, or of each class against the rest."""
        if self.scores.ndim == 2:
            return self.true[None] == 1
        return self.true == np.arange(self.scores.shape[-1])[:, None]

    @cached_property
    def by_class(self) -> Array:
        """The scores of each class (C, M, N)."""
        return self.scores[None] if self.scores.ndim == 2 else np.moveaxis(self.scores, -1, 0)

    @cached_property
    def class_sizes(self) -> Array:
        """The number of units with a sample of each class, (n,)."""
        number = 2 if self.scores.ndim == 2 else self.scores.shape[-1]
        return np.asarray([self._units_of(self.true == k) for k in range(number)])

    @cached_property
    def sides(self) -> tuple[Array, Array]:
        """The numbers of units with a positive sample, and with a negative sample, (C,)."""
        positive = np.asarray([self._units_of(row) for row in self.positive])
        return positive, np.asarray([self._units_of(~row) for row in self.positive])

    @cached_property
    def wrong_units(self) -> Array:
        """The number of units with a sample whose most likely class is not the true class, (M,)."""
        likely = self.scores >= 0.5 if self.scores.ndim == 2 else np.argmax(self.scores, axis=-1)
        return np.asarray([self._units_of(row) for row in likely != self.true])

    def _units_of(self, is_member: Array) -> int:
        return int(np.count_nonzero(is_member) if self.units is None else np.unique(self.units[is_member]).size)

    def within(self, x: Array) -> Array:
        """The sums within each cluster (..., K) of values (..., N); the values themselves without clusters."""
        if self.units is None:
            return x
        rows = x.reshape(-1, x.shape[-1])
        sums = [np.bincount(self.units, row, self.number) for row in rows]
        return np.asarray(sums).reshape(*x.shape[:-1], self.number)


class Samples(NamedTuple):
    """The checked samples of all elements of a batch."""

    read: ScoredSamples
    batch: tuple[int, ...]
    has_models: bool
    codes: Array | None  # (N,)

    @classmethod
    def of(  # noqa: PLR0917 (the parameters of the public functions)
        cls,
        y_true: Any,
        y_score: Any,
        positive: Any,
        ignore_index: Any,
        clusters: Any,
        where: str,
        *,
        labels: Any = None,
        lower_is_positive: bool = False,
        name: str = "y_score",
        has_models: bool = False,
        has_classes: bool | None = None,
    ) -> Samples:
        """The checked samples; with ``has_models`` the last axis of the batch is that of the models."""
        if (class_labels := known_labels(labels)) is not None:
            y_score = in_order(y_score, class_labels, name)
        own, (y_score,) = as_arrays(**{name: y_score})
        y_true, y_score = on_host(y_true), on_host(y_score)
        options: Any = {"labels": class_labels, "positive": positive, "name": name, "has_classes": has_classes}
        options["lower_is_positive"] = lower_is_positive
        samples = read(y_true, y_score, None, ignore_index, **options)._replace(own=own)
        if samples.backend is not NUMPY:
            raise TypeError(f"{where}: expected arrays in the memory of the CPU, outside jit, compile and vmap")
        length = samples.y_true.shape[-1]
        batch = tuple(samples.y_true.shape[:-1])
        return cls(samples, batch, has_models, None if clusters is None else cluster_codes(clusters, length))

    @property
    def num_classes(self) -> int | None:
        """The number of classes; None for scores of class 1 of two."""
        return self.read.num_classes

    @property
    def are_probabilities(self) -> bool:
        """Whether all scores are between 0 and 1; NaN scores are ignored."""
        scores = self.read.scores
        return not ((scores < 0) | (scores > 1)).any()

    @property
    def models(self) -> int:
        """The number of models."""
        return self.batch[-1] if self.has_models else 1

    @property
    def shape(self) -> tuple[int, ...]:
        """The shape of the batch without the axis of models."""
        return self.batch[:-1] if self.has_models else self.batch

    def finish_rows(self, rows: list[Array], length: int | None) -> Array:
        """The results of all elements as an array (*B,), or (*B, T) with ``length``, of the user's library."""
        shape = self.shape if length is None else (*self.shape, length)
        return self.read.finish(np.asarray(rows).reshape(shape) if rows else np.zeros(shape))

    def of_element(self, x: Array, k: int) -> Array:
        """The values (M, N) of an element, from values of all samples (*B, N)."""

        def rows(values: Array) -> Array:
            length = values.shape[-1]
            broadcast = np.broadcast_to(values, (*self.batch, length))
            return np.asarray(broadcast.reshape(math.prod(self.shape), self.models, length)[k], np.float64)

        weight = self.read.weight
        return rows(x) if weight is None else rows(x)[:, rows(weight)[0] > 0]

    def elements(self) -> Iterator[SampleScores]:
        """The samples of each element of the batch, without the axis of models."""
        models = self.models
        length = self.read.y_true.shape[-1]
        count = math.prod(self.shape)
        true = self.read.y_true.reshape(count, models, length)
        scores = self.read.scores
        scores = scores.reshape(count, models, *scores.shape[len(self.batch) :])
        weight = self.read.weight
        has_weight = (
            None if weight is None else np.broadcast_to(weight, (*self.batch, length)).reshape(count, models, length)
        )
        for k in range(count):
            members = slice(None) if has_weight is None else has_weight[k, 0] > 0
            scores_of_element = np.asarray(scores[k][:, members], np.float64)
            spoiled = np.isnan(scores_of_element).any(axis=tuple(range(1, scores_of_element.ndim)))
            units = None if self.codes is None else np.unique(self.codes[members], return_inverse=True)[1]
            yield SampleScores(
                true[k, 0, members], np.where(np.isnan(scores_of_element), 0, scores_of_element), units, spoiled
            )
