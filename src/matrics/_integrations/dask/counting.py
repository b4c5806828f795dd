"""``confusion_matrix`` for dask arrays: the matrices of the blocks of samples are added up in a tree."""

from __future__ import annotations

import math
from collections.abc import Hashable, Iterable, Sequence
from typing import Any

import dask.array as da
import numpy as np
from dask.layers import ArrayBlockIdDep

import matrics
from matrics._arrays import NUMPY
from matrics._arrays.sizes import check_count
from matrics._counting.codes import check_classes
from matrics._counting.labels import broadcast, check_scores, given_or_last
from matrics._integrations.dask.blocks import Axes, Part, at_block, check_whole, per_block, stand_in, unwrapped
from matrics._stacks.transform import Over


def confusion_matrix(
    y_true: Any,
    y_pred: Any,
    *,
    num_classes: int | None = None,
    labels: Iterable[Hashable] | None = None,
    class_axis: int | None = None,
    sample_ndim: int = 1,
    threshold: float | None = None,
    sample_weight: Any = None,
    ignore_index: Any = None,
    groups: Any = None,
    num_groups: int | None = None,
    normalize: Over | None = None,
    split_every: int | None = None,
) -> Any:
    """Count labels in dask arrays, lazily: partial matrices of the blocks of samples, added up in a tree.

    No sample is moved: each worker counts its blocks, and the matrices of ``split_every`` blocks at a time are added.

    Parameters
    ----------
    y_true : dask array or series, or array_like, shape (*B, *S)
        True labels in [0, num_classes), or any of ``labels``. At least one of the arrays is a dask array or a column of
        a dask data frame. Other arrays, lists and chunks that differ are cut to the same chunks; if the sizes of chunks
        are unknown, their numbers must be equal.
    y_pred : dask array or series, or array_like, shape (*B, *S), or (*B, *S) with a class axis
        Predicted labels like the true ones. Floating numbers are class scores with ``num_classes`` entries along
        ``class_axis``, which is whole in one chunk, the largest being the prediction; or, with ``threshold``, scores of
        class 1 of two.
    num_classes : int, optional
        Number of classes, n; labels are 0 to n - 1. Required without ``labels``.
    labels : sequence of text, integers or other hashables, optional
        The label of each class, in order; required without ``num_classes``.
    class_axis : int, optional
        The axis of the classes: of class scores in ``y_pred``, the last if left out, 1 for the layout of PyTorch's
        losses, (N, n, H, W). There is a warning if it is left out and axis 1 is as long as the last axis.
    sample_ndim : int, default 1
        How many of the last axes (without the class axis) are samples, pooled into one matrix; the axes before them are
        the batch. 2 for one matrix per image.
    threshold : float, optional
        ``y_pred`` is the score of class 1 of two; samples with a score of at least this are predicted as 1.
    sample_weight : dask array or series, or array_like, optional
        A weight for each sample; broadcasts against the labels.
    ignore_index : int or sequence of int, optional
        Samples with any of these true labels are left out, with any prediction, weight and group. With ``labels`` it is
        a label, or a list of labels, as ``y_true`` has them.
    groups : dask array or series, or array_like, optional
        The group of each sample, an integer in [0, num_groups); broadcasts against the labels. There is a matrix for
        each group, all counted in a single pass.
    num_groups : int, optional
        Number of groups, G; needed with ``groups``.
    normalize : {"true", "pred", "all"}, optional
        Scale rows, columns or the whole to sum 1, as :func:`matrics.transform.normalize` does.
    split_every : int, optional
        How many partial results are merged in a task: matrices are added; dask's ``split_every`` (4) if left out.

    Returns
    -------
    dask array, shape (*B, n, n), or (*B, G, n, n) with groups
        Exact 64-bit integers; floats if weighted or normalised. The class axes are whole, so it can be scored.

    Raises
    ------
    TypeError
        None of the arrays is a dask array, or as in :func:`matrics.confusion_matrix`.
    ValueError
        Shapes or chunks do not fit. When the result is computed: a label or group is out of range or unknown, a score
        is NaN, or a weight is negative, NaN or infinite; the message names the block, and the position within it.

    Examples
    --------
    >>> import dask.array, numpy
    >>> from matrics.dask import confusion_matrix
    >>> y_true = dask.array.from_array(numpy.array([0, 1, 1, 2, 2, 2]), chunks=2)
    >>> y_pred = dask.array.from_array(numpy.array([0, 1, 2, 2, 2, 0]), chunks=3)
    >>> cm = confusion_matrix(y_true, y_pred, num_classes=3)
    >>> cm
    dask.array<sum-aggregate, shape=(3, 3), dtype=int64, chunksize=(3, 3), chunktype=numpy.ndarray>
    >>> cm.compute()
    array([[1, 0, 0],
           [0, 1, 1],
           [1, 0, 2]])
    """
    sample_ndim = check_count(sample_ndim, "sample_ndim")
    classes = check_classes(num_classes, labels)
    n = classes.number
    arrays = as_dask(y_true=y_true, y_pred=y_pred, groups=groups, sample_weight=sample_weight)
    has_classes = arrays["y_pred"].dtype.kind == "f" and threshold is None
    options = {
        "num_classes": n if classes.labels is None else None,
        "labels": classes.labels,
        "class_axis": -1,
        "sample_ndim": sample_ndim,
        "threshold": threshold,
        "ignore_index": ignore_index,
        "num_groups": num_groups,
    }
    # The counts of empty arrays give all dtypes, and check all options.
    empty: dict[str, Any] = {name: np.zeros((0,) * sample_ndim, array.dtype) for name, array in arrays.items()}
    if has_classes:
        empty["y_pred"] = np.zeros((*empty["y_true"].shape, n), arrays["y_pred"].dtype)
    dtype = matrics.confusion_matrix(**empty, **options, normalize=normalize).dtype
    if has_classes:
        class_axis = given_or_last(class_axis, arrays["y_pred"].shape, n)
        _check_scores(arrays["y_pred"], n, class_axis=class_axis, sample_ndim=sample_ndim)
        arrays["y_pred"] = da.moveaxis(arrays["y_pred"], class_axis, -1)
        check_whole(arrays["y_pred"], "y_pred", (-1,), "classes")
    _check_shapes(arrays, sample_ndim, has_classes=has_classes)
    if "sample_weight" in arrays:  # partial sums in float32 would lose digits
        weight = arrays["sample_weight"]
        arrays["sample_weight"] = weight.astype(np.result_type(weight.dtype, np.float64))
    partial = _partial_counts(arrays, options, sample_ndim, has_classes=has_classes, n=n)
    samples = tuple(range(partial.ndim - 2 - ("groups" in arrays)))[-sample_ndim:]
    cm = partial.sum(axis=samples, split_every=split_every)
    if normalize is not None:
        cm = da.map_blocks(_normalized, cm, over=normalize, dtype=dtype, meta=np.empty((0,) * cm.ndim, dtype))
    return cm if cm.dtype == dtype else cm.astype(dtype)


def as_dask(**values: Any) -> dict[str, Any]:
    """The arguments that are not None, as dask arrays; a column of a data frame has chunks of unknown sizes."""
    given = {name: value for name, value in values.items() if value is not None}
    arrays = {name: _column(value) if hasattr(value, "to_dask_array") else value for name, value in given.items()}
    if not any(isinstance(value, da.Array) for value in arrays.values()):
        kinds = ", ".join(f"{name}: {type(value).__name__}" for name, value in given.items())
        raise TypeError(
            f"expected at least one dask array or column of a dask data frame, got {kinds}; use "
            "matrics.confusion_matrix for other arrays"
        )
    return {
        name: value if isinstance(value, da.Array) else da.from_array(np.asarray(value), chunks=-1)
        for name, value in arrays.items()
    }


def _column(series: Any) -> Any:
    """A column of a dask data frame as a dask array with a dtype of NumPy."""
    kind = series.dtype
    if not isinstance(kind, np.dtype):
        series = series.astype(kind.numpy_dtype if getattr(kind, "kind", "O") in "biuf" else object)
    return series.to_dask_array()


def _check_scores(scores: Any, n: int, *, class_axis: int, sample_ndim: int) -> None:
    """Raise an error unless class scores have an axis of n classes with a known length."""
    if -scores.ndim <= class_axis < scores.ndim and math.isnan(scores.shape[class_axis]):
        raise ValueError(
            f"y_pred: expected a class axis with a known length at class_axis={class_axis}, got shape "
            f"{scores.shape}; call y_pred.compute_chunk_sizes() first"
        )
    empty = stand_in(scores.dtype, scores.shape)
    check_scores(empty, n, class_axis=class_axis, sample_ndim=sample_ndim, threshold=None, backend=NUMPY)


def _check_shapes(arrays: dict[str, Any], sample_ndim: int, *, has_classes: bool) -> None:
    """Raise an error unless samples agree and batches broadcast, as far as lengths are known."""
    shapes = {name: list(array.shape) for name, array in arrays.items()}
    ends = {name: len(shape) - (has_classes and name == "y_pred") for name, shape in shapes.items()}
    for back in range(1, max(ends.values()) + 1):
        present = [name for name, end in ends.items() if end >= back]
        if any(math.isnan(shapes[name][ends[name] - back]) for name in present):
            for name in present:
                if back <= sample_ndim or shapes[name][ends[name] - back] != 1:
                    shapes[name][ends[name] - back] = 0
    stand_ins = [stand_in(array.dtype, tuple(shapes[name])) for name, array in arrays.items()]
    given = {name: array.shape for name, array in arrays.items()}
    broadcast(sample_ndim, NUMPY, given, *stand_ins, has_classes=has_classes)


def _partial_counts(
    arrays: dict[str, Any], options: dict[str, Any], sample_ndim: int, *, has_classes: bool, n: int
) -> Any:
    """The counts of every block of samples, (*B, *blocks, n, n)."""
    ndim = max(array.ndim - (has_classes and name == "y_pred") for name, array in arrays.items())
    axes_of = {}
    for name, array in arrays.items():
        class_axes = (ndim,) if has_classes and name == "y_pred" else ()
        axes_of[name] = (*range(ndim - array.ndim + len(class_axes), ndim), *class_axes)
    aligned, chunks = _aligned(arrays, axes_of)
    axes, samples = tuple(range(ndim)), tuple(range(ndim - sample_ndim, ndim))
    added = {ndim + 1: options["num_groups"]} if "groups" in arrays else {}
    added |= {ndim + 2: n, ndim + 3: n}
    floats = "sample_weight" in arrays
    dtype = np.dtype(arrays["sample_weight"].dtype if floats else np.int64)
    parts = [Part((0,), np.empty((0,) * (ndim + len(added)), dtype), added)]
    (counts,) = per_block(
        _count_block,
        "count",
        axes,
        ArrayBlockIdDep(tuple(chunks[axis] for axis in axes)),
        axes,
        *(argument for name, array in aligned.items() for argument in (array, axes_of[name])),
        parts=parts,
        single=samples,
        names=tuple(aligned),
        counting=options,
    )
    return counts


def _aligned(arrays: dict[str, Any], places: dict[str, Axes]) -> tuple[dict[str, Any], dict[int, tuple[int, ...]]]:
    """The arrays in the same chunks, and the chunks of every axis.

    Where sizes are unknown, only the numbers of chunks can be compared; blocks of different lengths raise an error when
    they are counted.
    """
    unknown = {
        axis
        for name, array in arrays.items()
        for axis, length in zip(places[name], array.shape, strict=True)
        if math.isnan(length)
    }
    for axis in sorted(unknown):
        numbers = {
            name: array.numblocks[places[name].index(axis)]
            for name, array in arrays.items()
            if axis in places[name] and array.shape[places[name].index(axis)] != 1
        }
        if len(set(numbers.values())) > 1:
            got = ", ".join(f"{name} {number}" for name, number in numbers.items())
            raise ValueError(
                f"expected equal numbers of chunks in all arrays if their sizes are unknown (nan), got {got}; "
                "call compute_chunk_sizes() of each array first, after which any chunks fit"
            )
    arguments: list[Any] = []
    for (
        name,
        array,
    ) in arrays.items():  # an axis of unknown sizes gets another name in each array, and so stays unchanged
        letters = [(name, axis) if axis in unknown else axis for axis in places[name]]
        arguments += [array, letters]
    _, unified = da.core.unify_chunks(*arguments, warn=False)
    chunks: dict[int, tuple[int, ...]] = {}
    for name, array in zip(arrays, unified, strict=True):
        for axis, sizes in zip(places[name], array.chunks, strict=True):
            widest = chunks.get(axis, ())
            if len(sizes) > len(widest) or (len(sizes) == len(widest) and sizes != (1,)):  # a length of 1 broadcasts
                chunks[axis] = sizes
    return dict(zip(arrays, unified, strict=True)), chunks


def _count_block(place: tuple[int, ...], *blocks: Any, names: Sequence[str], counting: dict[str, Any]) -> Any:
    """The counts of a block, with an axis of length 1 for each axis of samples."""
    arrays = {name: unwrapped(block) for name, block in zip(names, blocks, strict=True)}
    try:
        counts = matrics.confusion_matrix(**arrays, **counting)
    except ValueError as error:
        raise ValueError(at_block(place) + str(error)) from error
    except TypeError as error:
        raise TypeError(at_block(place) + str(error)) from error
    batch = len(place) - counting["sample_ndim"]
    unit_axes = (1,) * counting["sample_ndim"]
    return [np.reshape(counts, (*counts.shape[:batch], *unit_axes, *counts.shape[batch:]))]


def _normalized(cm: Any, *, over: Over) -> Any:
    return matrics.transform.normalize(cm, over=over)
