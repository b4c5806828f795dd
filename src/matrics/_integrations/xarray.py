"""Scores and intervals of xarray's DataArrays of confusion matrices, as Datasets.

Import it by its name, ``import matrics.xarray``; that also gives every DataArray ``da.matrics.score(...)``
and ``da.matrics.interval(...)``. It needs the extra ``xarray``.
"""

from __future__ import annotations

import math
from collections.abc import Hashable, Iterable, Sequence
from typing import Any

import xarray as xr

import matrics
from matrics._arrays import Array, as_arrays
from matrics._catalogue.naming import title_of
from matrics._catalogue.record import Metric
from matrics._engine.evaluation import Invalid
from matrics._integrations.xarray_counts import confusion_matrix
from matrics._integrations.xarray_dimensions import (
    Layout,
    attributes,
    clusters_last,
    dataset,
    layout_of,
    library_for,
    unique,
)
from matrics._scoring.score import resolve
from matrics._uncertainty.options import Method, SchemeOfInterval
from matrics._uncertainty.results import IntervalStatus
from matrics.typing import ArrayLike

__all__ = ["MatricsAccessor", "confusion_matrix", "interval", "score"]


def score(
    da: xr.DataArray,
    metrics: str | Metric | Iterable[str | Metric] = "core",
    *,
    class_dims: Sequence[Hashable] | None = None,
    class_dim: str = "class",
    zero_division: float = math.nan,
    invalid: Invalid = "warn",
    workers: int = 1,
    positive: Hashable = None,
    keep_attrs: bool | None = None,
) -> xr.Dataset:
    """Many measures of every confusion matrix of a DataArray, as the variables of a Dataset.

    Parameters
    ----------
    da : xarray.DataArray
        Counts, with one dimension of true classes, one of predicted classes, and any others, in any order; they may be
        soft. Chunked arrays (Dask) stay lazy, and all measures of a chunk are computed together, as
        :func:`matrics.dask.score` does; the dimensions of the classes are whole in each chunk.
    metrics : str, Metric, or several of them, default "core"
        Names, aliases, groups (``core``, ``overall``, ``all``, ``on_host``, or a family of
        :func:`matrics.list_metrics`), specs (``"recall:class"``, ``"recall[1]"``, ``"fbeta(beta=2):weighted"``; see
        :func:`matrics.get_metric`), or metrics. A string may contain several of these, separated by commas.
    class_dims : two names, optional
        The dimensions of the true and of the predicted classes. If left out: ``"true"`` and ``"pred"``, wherever they
        are, and in an array without these the last two.
    class_dim : str, default "class"
        The dimension of measures of every class (``"recall:class"``).
    zero_division : float, default NaN
        The value of undefined measures (0/0).
    invalid : {"warn", "raise", "nan"}
        What to do about matrices with a negative, NaN or infinite cell. Every measure of such a matrix is NaN, and no
        other matrix is affected. ``"warn"`` names the first of them, ``"raise"`` raises an error: for a chunked array
        when a chunk is computed, with the name of the chunk, and matrices by their place in it.
    workers : int, default 1
        Number of threads on the host; -1 for as many as there are cores. It does not change results. For a chunked
        array it is the number of threads for each chunk.
    positive : label or int, optional
        The positive class: a label where the dimension of the true or of the predicted classes has coordinates, an
        index otherwise. Per-class measures without an average are values of this class. Without it they are values of
        class 1 of two classes, and means over more (``macro``). Specs name classes in the same way: ``"recall[dog]"``.
    keep_attrs : bool, optional
        Whether the Dataset has the attributes of ``da``; xarray's option ``keep_attrs`` if left out, which keeps them
        by default.

    Returns
    -------
    xarray.Dataset
        A variable for each measure, with the names of the keys of :func:`matrics.score`. All dimensions and coordinates
        of ``da`` are kept except those of the classes; the classes are the coordinate of the dimension ``class_dim``.
        The attributes of each variable describe it. Names and attributes can be written to netCDF and Zarr.

    Raises
    ------
    TypeError
        ``da`` is not a DataArray, its cells are not real numbers, or its chunks are not chunks of Dask.
    ValueError
        The dimensions of the classes are ambiguous, differ in their classes or in the order of the classes, or are
        chunked; or a measure or an option does not exist.
    InvalidConfusionMatrix
        A matrix is invalid and ``invalid="raise"``.

    Examples
    --------
    >>> import matrics.xarray, xarray as xr
    >>> cm = xr.DataArray(
    ...     [[[45, 5], [5, 45]], [[50, 0], [10, 40]]],
    ...     dims=("model", "true", "pred"),
    ...     coords={"model": ["tree", "net"], "true": ["cat", "dog"], "pred": ["cat", "dog"]},
    ... )
    >>> scores = matrics.xarray.score(cm, ["accuracy", "recall:class"])
    >>> float(scores["recall:class"].sel({"model": "net", "class": "dog"}))
    0.8
    >>> cm.matrics.score("accuracy")["accuracy"].idxmax("model").item()
    'tree'
    """
    layout = layout_of(da, class_dims)
    stack, library = layout.stack, library_for(da=da)
    chosen = resolve(metrics, layout.known(positive))
    results = library.score(stack, unique(chosen), zero_division=zero_division, invalid=invalid, workers=workers)
    variables = {
        str(name): (
            (class_dim,) if metric.is_classwise else (),
            results[str(metric)],
            attributes(metric, title_of(name)),
        )
        for name, metric in chosen.items()
    }
    return dataset(layout, variables, _classes(layout, class_dim), keep_attrs=keep_attrs)


def interval(
    da: xr.DataArray,
    metrics: str | Metric | Iterable[str | Metric] = "core",
    *,
    class_dims: Sequence[Hashable] | None = None,
    class_dim: str = "class",
    level: float = 0.95,
    method: Method = "auto",
    scheme: SchemeOfInterval | None = None,
    prior: ArrayLike | None = None,
    num: int | None = None,
    rng: Any = None,
    cluster_dim: Hashable | None = None,
    zero_division: float = math.nan,
    invalid: Invalid = "warn",
    workers: int = 1,
    positive: Hashable = None,
    keep_attrs: bool | None = None,
) -> xr.Dataset:
    """Confidence intervals of many measures of every confusion matrix of a DataArray, as the variables of a Dataset.

    Parameters
    ----------
    da : xarray.DataArray
        Counts, with one dimension of true classes, one of predicted classes, and any others, in any order. Chunked
        arrays (Dask) stay lazy; the dimensions of the classes and of the clusters are whole in each chunk.
    metrics : str, Metric, or several of them, default "core"
        Names, aliases, groups (``core``, ``overall``, ``all``, ``on_host``, or a family of
        :func:`matrics.list_metrics`), specs (``"recall:class"``, ``"recall[1]"``, ``"fbeta(beta=2):weighted"``; see
        :func:`matrics.get_metric`), or metrics. A string may contain several of these, separated by commas.
    class_dims : two names, optional
        The dimensions of the true and of the predicted classes. If left out: ``"true"`` and ``"pred"``, wherever they
        are, and in an array without these the last two.
    class_dim : str, default "class"
        The dimension of measures of every class (``"recall:class"``).
    level : float, default 0.95
        The probability with which an interval is to contain the true value.
    method : str, default "auto"
        How limits are formed: "auto", "bootstrap", "bca", "posterior" or "delta"; of proportions "wilson",
        "agresti_coull", "clopper_pearson" or "jeffreys"; of ratios "log" or "score". :func:`matrics.interval` explains
        them.
    scheme : {"multinomial", "rows", "poisson", "clusters"}, optional
        The random part: the samples (``"multinomial"``, the default), the predictions of samples whose true classes are
        fixed (``"rows"``), the number of samples as well (``"poisson"``), or whole clusters of samples. Not every
        method takes each.
    prior : float or array_like, shape (n, n), optional
        For ``"posterior"``: the number added to each cell; 1/n² if left out, which adds one sample in all.
    num : int, optional
        Number of replicates for the methods that draw them; 10,000 if left out.
    rng : Generator, key or int, optional
        Where random numbers come from: a generator of NumPy, PyTorch or JAX, the library of the values of ``da``; an
        integer is a seed for NumPy. New draws every time if left out. For a chunked array it is a seed or a generator
        of NumPy, and each chunk draws from its own stream: the replicates depend on the seed and on the chunks.
    cluster_dim : name, optional
        The dimension of the clusters, such as patients or documents; their sum is scored, and whole clusters are
        random.
    zero_division : float, default NaN
        The value of undefined measures (0/0).
    invalid : {"warn", "raise", "nan"}
        What to do about matrices with a negative, NaN or infinite cell. Every measure of such a matrix is NaN, and no
        other matrix is affected. ``"warn"`` names the first of them, ``"raise"`` raises an error: for a chunked array
        when a chunk is computed, with the name of the chunk, and matrices by their place in it.
    workers : int, default 1
        Number of threads on the host; -1 for as many as there are cores. It does not change results. For a chunked
        array it is the number of threads for each chunk.
    positive : label or int, optional
        The positive class: a label where the dimension of the true or of the predicted classes has coordinates, an
        index otherwise. Per-class measures without an average are values of this class. Without it they are values of
        class 1 of two classes, and means over more (``macro``). Specs name classes in the same way: ``"recall[dog]"``.
    keep_attrs : bool, optional
        Whether the Dataset has the attributes of ``da``; xarray's option ``keep_attrs`` if left out, which keeps them
        by default.

    Returns
    -------
    xarray.Dataset
        Five variables for each measure. ``mcc`` is the estimate, as from :func:`score`. ``mcc_limits`` has an
        additional dimension, ``bound``, with the coordinates ``"low"`` and ``"high"``. ``mcc_standard_error``,
        ``mcc_undefined`` (the number of replicates for which the measure is undefined) and ``mcc_status`` have the
        shape of the estimate; the attributes of the status explain its numbers, as :class:`matrics.IntervalStatus`
        does.

    Raises
    ------
    TypeError
        As in :func:`score`; or ``rng`` is of another library than the values of ``da``.
    ValueError
        As in :func:`score` and :func:`matrics.interval`; or the dimension of clusters is in several chunks.

    Examples
    --------
    >>> import matrics.xarray, xarray as xr
    >>> cm = xr.DataArray([[[45, 5], [5, 45]], [[50, 0], [10, 40]]], dims=("model", "true", "pred"))
    >>> intervals = cm.matrics.interval("accuracy")
    >>> intervals["accuracy_limits"].sel(bound="low").round(2).values
    array([0.83, 0.83])
    """
    layout = layout_of(da, class_dims)
    options: dict[str, Any] = {"level": level, "method": method, "scheme": scheme, "prior": prior, "num": num}
    options |= {"rng": rng, "zero_division": zero_division, "invalid": invalid, "workers": workers}
    if cluster_dim is not None:
        layout, options["cluster_axis"] = clusters_last(layout, cluster_dim), -3
    stack, library = layout.stack, library_for(da=da)
    chosen = resolve(metrics, layout.known(positive))
    intervals = library.interval(stack, unique(chosen), **options)
    variables = {}
    for name, metric in chosen.items():
        class_dims_of_metric = (class_dim,) if metric.is_classwise else ()
        for (ending, part), values in zip(_PARTS.items(), _parts(intervals[str(metric)]), strict=True):
            own_dims = (*class_dims_of_metric, "bound") if ending == "_limits" else class_dims_of_metric
            title = title_of(name)
            attrs = _about(part, title, level, method) if part else attributes(metric, title)
            variables[str(name) + ending] = own_dims, values, attrs
    coords = {**_classes(layout, class_dim), "bound": ["low", "high"]}
    return dataset(layout, variables, coords, keep_attrs=keep_attrs)


# The suffixes of the variables of an interval, and their descriptions, followed by the measure.
_PARTS = {
    "": "",
    "_limits": "{level:.10g} % limits of the {name}",
    "_standard_error": "standard error of the {name}",
    "_undefined": "replicates for which the {name} is undefined",
    "_status": "why the limits of the {name} are missing or unreliable",
}


def _parts(interval: matrics.Interval) -> list[Array]:
    """The variables of an interval, in the order of ``_PARTS``."""
    low, high = interval.low, interval.high
    if hasattr(low, "__dask_graph__"):
        limits = low.map_blocks(_limits, high, new_axis=low.ndim, chunks=(*low.chunks, (2,)), dtype=low.dtype)
    else:
        limits = _limits(low, high)
    return [interval.estimate, limits, interval.standard_error, interval.undefined, interval.status]


def _limits(low: Array, high: Array) -> Array:
    """The limits stacked along a new last axis."""
    backend, bounds = as_arrays(low=low, high=high)
    return backend.xp.stack(bounds, axis=-1)


def _about(part: str, title: str, level: float, method: str) -> dict[str, Any]:
    """The attributes of a part of an interval; those of the status follow CF's convention for flags."""
    attrs: dict[str, Any] = {
        "long_name": part.format(level=100 * level, name=title),
        "units": "1",
        "method": method,
    }
    if part == _PARTS["_status"]:
        codes = list(IntervalStatus)
        attrs |= {"flag_values": [int(code) for code in codes]}
        attrs |= {"flag_meanings": " ".join(code.name.lower() for code in codes)}
    return attrs


def _classes(layout: Layout, class_dim: str) -> dict[str, Any]:
    """The coordinate of the classes, if they have labels."""
    if layout.classes is None:
        return {}
    return {class_dim: (class_dim, layout.classes.values, layout.classes.attrs)}


@xr.register_dataarray_accessor("matrics")
class MatricsAccessor:
    """The accessor ``da.matrics`` of every DataArray, once this module is imported.

    Parameters
    ----------
    da : xarray.DataArray
        Counts, with one dimension of true classes, one of predicted classes, and any others, in any order.
    """

    def __init__(self, da: xr.DataArray) -> None:
        self._da = da

    def score(self, metrics: str | Metric | Iterable[str | Metric] = "core", **options: Any) -> xr.Dataset:
        """Many measures of every confusion matrix; :func:`matrics.xarray.score` has the options.

        Parameters
        ----------
        metrics : str, Metric, or several of them, default "core"
            Names, aliases, groups (``core``, ``overall``, ``all``, ``on_host``, or a family of
            :func:`matrics.list_metrics`), specs (``"recall:class"``, ``"recall[1]"``, ``"fbeta(beta=2):weighted"``; see
            :func:`matrics.get_metric`), or metrics. A string may contain several of these, separated by commas.
        **options : Any
            The options of :func:`matrics.xarray.score`: ``class_dims``, ``zero_division``, and so on.
        """
        return score(self._da, metrics, **options)

    def interval(self, metrics: str | Metric | Iterable[str | Metric] = "core", **options: Any) -> xr.Dataset:
        """Intervals of many measures; :func:`matrics.xarray.interval` has the options.

        Parameters
        ----------
        metrics : str, Metric, or several of them, default "core"
            Names, aliases, groups (``core``, ``overall``, ``all``, ``on_host``, or a family of
            :func:`matrics.list_metrics`), specs (``"recall:class"``, ``"recall[1]"``, ``"fbeta(beta=2):weighted"``; see
            :func:`matrics.get_metric`), or metrics. A string may contain several of these, separated by commas.
        **options : Any
            The options of :func:`matrics.xarray.interval`: ``level``, ``method``, ``cluster_dim``, and so on.
        """
        return interval(self._da, metrics, **options)
