"""The test samples of models, and their resamples."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, NamedTuple

import numpy as np

from matrics._arrays import NUMPY, Array, as_arrays, on_host
from matrics._arrays.frames import numbers
from matrics._counting.build import confusion_matrix
from matrics._counting.codes import CodedClasses, as_codes, check_classes, labels_on_host, left_out, places
from matrics._counting.labels import (
    check_ignore_index,
    check_weights,
    check_whole,
    is_kept,
    labels_to_ignore,
    refuse_weights,
)
from matrics._quoting import first_twice, quoted

# Cells of replicates that a thread counts and scores at a time: 64 MiB.
CELLS_AT_ONCE = 2**23


class PairedSamples(NamedTuple):
    """The samples on the host: class numbers, clusters, and weights with mean 1."""

    true: Array  # (N,)
    predictions: Array  # (M, N)
    clusters: Array | None  # (N,)
    weights: Array | None  # (N,); None also if all weights are equal
    classes: CodedClasses
    left_out: tuple[int, ...] = ()  # the classes that take no part in averages

    @classmethod
    def of(  # noqa: PLR0917 (the parameters of the public functions)
        cls, y_true: Any, y_pred: Any, num_classes: Any, labels: Any, clusters: Any, weights: Any, ignore_index: Any
    ) -> PairedSamples:
        """The labels and predictions of the samples that are not ignored."""
        classes = check_classes(num_classes, labels)
        ignored: tuple[int, ...]
        if classes.labels is None:
            ignored = check_ignore_index(ignore_index)
        else:
            y_true, y_pred, ignored = as_codes(classes.labels, y_true, y_pred, ignore_index, may_drop=False)
        # Each by itself: predictions by names of models are on the host already.
        true, predictions = (_known(name, x) for name, x in (("y_true", y_true), ("y_pred", y_pred)))
        fits = true.ndim == 1 and predictions.ndim == 2 and predictions.shape[1:] == true.shape
        if not (fits and predictions.size):
            raise ValueError(
                "expected true labels (N,) and those predicted by M models (M, N), got y_true "
                f"{true.shape}, y_pred {predictions.shape}"
            )
        # This raises an error for invalid labels.
        confusion_matrix(true, predictions, num_classes=classes.number, ignore_index=ignored)
        kept = is_kept(true, labels_to_ignore(ignored, true, NUMPY), NUMPY)
        kept = np.ones(true.shape, bool) if kept is None else kept
        if not kept.any():
            raise ValueError(f"ignore_index: expected some samples to be left, got {quoted(ignore_index)}")
        return cls(
            true[kept].astype(np.int64),
            predictions[:, kept].astype(np.int64),
            None if clusters is None else _values_of_samples(true, clusters, "clusters")[kept],
            None if weights is None else _weights(_values_of_samples(true, weights, "sample_weight"), kept),
            classes,
            left_out(ignore_index, classes.number, classes.labels),
        )

    def matrices(self, weights: Array | None = None) -> Array:
        """The matrices of the models (M, n, n), with weights of 1 unless ``weights`` has others."""
        counted: Array = confusion_matrix(
            self.true, self.predictions, num_classes=self.classes.number, sample_weight=weights
        )
        return counted


def _known(name: str, labels: Any) -> Array:
    backend, (array,) = as_arrays(**{name: labels})
    return backend.known(name, array)


def cluster_codes(clusters: Any, number: int) -> Array:
    """The number of the cluster of each sample, for at least two clusters."""
    names = np.asarray(on_host(clusters, "clusters"))
    if names.shape != (number,):
        raise ValueError(f"clusters: expected a cluster for each sample, ({number},), got shape {names.shape}")
    distinct, codes = places(names, "clusters")
    if distinct.size < 2:
        raise ValueError(f"clusters: expected at least two, got {distinct.size}")
    return codes


def named_models(y_pred: Any, argument: str = "y_pred") -> tuple[tuple[str, ...] | None, Any]:
    """The names of models and their predictions (M, N) on the host, from a mapping; other values have no names.

    >>> named_models({"net": [0, 1], "tree": [1, 1]})
    (('net', 'tree'), array([[0, 1],
           [1, 1]]))
    """
    if not isinstance(y_pred, Mapping):
        return None, y_pred
    names = tuple(map(str, y_pred))
    if not names or len(set(names)) < len(names):
        raise ValueError(
            f"{argument}: expected predictions by names of models, got "
            + (f"{quoted(first_twice(names))} twice" if names else "an empty mapping")
        )
    rows = [
        _labels_of_model(f"{argument}[{quoted(name)}]" if name else argument, labels)
        for name, labels in zip(names, y_pred.values(), strict=True)
    ]
    if len({row.shape for row in rows}) > 1 or rows[0].ndim != 1:
        raise ValueError(
            f"{argument}: expected the labels (N,) that each model predicts for the same samples, got "
            + ", ".join(f"{quoted(name)} {row.shape}" for name, row in zip(names[:8], rows, strict=False))
        )
    if len({row.dtype.kind for row in rows}) > 1:  # NumPy would write numbers as texts
        rows = [np.asarray(row.tolist(), object) for row in rows]
    labels_of_models = np.stack(rows)
    # A list of numbers becomes an array of numbers again.
    return names, np.asarray(labels_of_models.tolist()) if _are_integers(labels_of_models) else labels_of_models


def _labels_of_model(name: str, labels: Any) -> Array:
    array, _ = labels_on_host(labels, name)
    array = numbers(_known(name, labels) if array is None else array)
    if array.dtype.kind != "f":
        return array
    check_whole(array, name)
    return array.astype(np.int64)


def _are_integers(labels: Array) -> bool:
    return labels.dtype == object and all(isinstance(label, (int, np.integer)) for label in labels.flat)


def _values_of_samples(true: Array, values: Any, name: str) -> Array:
    """The values of the samples (N,), on the host, checked against the true labels."""
    if name == "sample_weight":
        backend, (array,) = as_arrays(sample_weight=values)
        array = backend.to_numpy(check_weights(backend.detached(array), backend))
    else:
        array = np.asarray(on_host(values, name))
    if array.shape != true.shape:
        raise ValueError(f"{name}: expected a value for each sample, {true.shape}, got shape {array.shape}")
    return array


def _weights(weights: Array, kept: Array) -> Array | None:
    """The weights of the selected samples, scaled to a mean of 1; None if all are equal."""
    refuse_weights(weights, kept)
    selected = weights[kept].astype(np.float64)
    if not selected.any():
        raise ValueError("sample_weight: expected a weight above 0, got none")
    return None if (selected == selected[0]).all() else selected / selected.mean()


class Draws:
    """The units to resample: distinct samples with their numbers, or clusters."""

    def __init__(self, cells: Array, counts: Array, weights: Array, n: int, of_clusters: Array | None) -> None:
        self.cells = cells  # (M, U): the cell of each distinct sample in the matrix of each model
        self.counts = counts  # (U,)
        self.weights = weights  # (U,)
        self.n = n
        self.of_clusters = of_clusters  # (K, M, n, n)
        self.units = int(counts.sum())

    @classmethod
    def of(cls, samples: PairedSamples) -> Draws:
        """The units of the samples: distinct samples, counted in a single pass, or the matrices of the clusters."""
        n, weights = samples.classes.number, samples.weights
        cells = samples.true * n + samples.predictions
        models = len(cells)
        if samples.clusters is None:
            kinds = cells if weights is None else np.vstack([cells, np.unique(weights, return_inverse=True)[1]])
            _, first, counts = np.unique(kinds, axis=1, return_index=True, return_counts=True)
            own = np.ones(len(first)) if weights is None else weights[first]
            return cls(cells[:, first], counts, own, n, None)
        names = samples.clusters
        code = cluster_codes(names, names.size)
        number = int(code.max()) + 1
        bins = (code * models + np.arange(models)[:, None]) * n * n + cells
        of_each = None if weights is None else np.tile(weights, models)
        counted = np.bincount(bins.ravel(), of_each, minlength=number * models * n * n)
        return cls(cells, np.ones(number), np.ones(number), n, counted.reshape(number, models, n, n))

    @property
    def effective(self) -> float:
        """The number of units of equal size with the same variance: of clusters Kish's (Σ m)² / Σ m²."""
        if self.of_clusters is None:
            return float(self.units)
        sizes = self.of_clusters[:, 0].sum(axis=(-2, -1))
        return float(sizes.sum() ** 2 / (sizes**2).sum())

    @property
    def at_once(self) -> int:
        """The number of replicates counted and scored at a time, limited by memory for many classes and models."""
        return max(1, CELLS_AT_ONCE // (len(self.cells) * self.n**2))

    def matrices(self, weights: Array) -> Array:
        """The matrices (R, M, n, n) of replicates, by the weights (R, U) of the distinct samples or the clusters."""
        if self.of_clusters is not None:
            number, models = self.of_clusters.shape[:2]
            flat = self.of_clusters.reshape(number, -1).astype(np.float64)
            return (weights.astype(np.float64) @ flat).reshape(len(weights), models, self.n, self.n)
        models, size = len(self.cells), self.n**2
        bins = (self.cells + size * np.arange(models)[:, None]).ravel()
        matrices = [np.bincount(bins, np.tile(row * self.weights, models), models * size) for row in weights]
        return np.stack(matrices).reshape(len(weights), models, self.n, self.n)
