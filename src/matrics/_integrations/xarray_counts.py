"""A DataArray of confusion matrices from DataArrays of labels; the counts of chunks are added up."""

from __future__ import annotations

from collections.abc import Hashable, Iterable, Mapping, Sequence
from typing import Any

import numpy as np
import xarray as xr

from matrics._arrays import Array
from matrics._counting.codes import check_classes
from matrics._integrations.xarray_dimensions import PRED, TRUE, check_array, library_for
from matrics._quoting import quoted, quoted_list


def confusion_matrix(
    y_true: xr.DataArray,
    y_pred: xr.DataArray,
    *,
    dim: Hashable | Sequence[Hashable] = "sample",
    num_classes: int | None = None,
    labels: Iterable[Hashable] | None = None,
    class_dim: Hashable = "class",
    threshold: float | None = None,
    sample_weight: xr.DataArray | None = None,
    ignore_index: Any = None,
    groups: xr.DataArray | None = None,
    class_dims: tuple[str, str] | None = None,
) -> xr.DataArray:
    """Count DataArrays of labels into confusion matrices along the dimension of the samples.

    All other dimensions broadcast by their names: a single ``y_true`` (sample) against the predictions (model, sample)
    of many models. Arrays are aligned by their coordinates, which must be the same. Chunked arrays (Dask) stay lazy,
    with any chunks: the counts of chunks are added up.

    Parameters
    ----------
    y_true : xarray.DataArray of int, bool, or text
        True labels.
    y_pred : xarray.DataArray
        Predicted labels. Floating numbers are class scores along the dimension ``class_dim``; the largest is
        the prediction; or, with ``threshold``, scores of class 1 of two. Scores whose classes have coordinates are
        taken in the order of ``labels``.
    dim : name or sequence of names, default "sample"
        The dimensions of the samples, which are counted into a single matrix.
    num_classes : int, optional
        Number of classes, n; labels are 0 to n - 1. Required without ``labels``.
    labels : sequence of text, integers or other hashables, optional
        The label of each class, in order; required without ``num_classes``.
    class_dim : name, default "class"
        The dimension of class scores.
    threshold : float, optional
        ``y_pred`` is the score of class 1 of two; samples with a score of at least this are predicted as 1.
    sample_weight : xarray.DataArray, optional
        The weights of samples; broadcast by name.
    ignore_index : int or sequence of int, optional
        Samples with any of these true labels are left out, with any prediction, weight and group. With ``labels`` it is
        a label, or a list of labels, as ``y_true`` has them.
    groups : xarray.DataArray, optional
        The group of each sample, of any type, such as a coordinate ``y_true["site"]``. There is a matrix for each
        group, along a dimension of its name. Its values are computed immediately.
    class_dims : two names, optional
        The dimensions of the true and of the predicted classes in the result; ``"true"`` and ``"pred"`` if left out.

    Returns
    -------
    xarray.DataArray
        Counts with the dimensions of the batch, of the groups if there are any, and of the true and predicted classes,
        whose coordinates are the labels.

    Raises
    ------
    TypeError
        An argument is not a DataArray, or :func:`matrics.confusion_matrix` does not accept the type of the labels.
    ValueError
        A dimension does not exist, coordinates differ, or :func:`matrics.confusion_matrix` does not accept labels,
        weights or scores. Values of chunked arrays are checked when the chunks are computed.

    Examples
    --------
    >>> import matrics.xarray as mx, xarray as xr
    >>> y_true = xr.DataArray(["cat", "dog", "dog"], dims="sample")
    >>> y_pred = xr.DataArray(
    ...     [["cat", "dog", "cat"], ["dog", "dog", "dog"]], dims=("model", "sample"), coords={"model": ["tree", "net"]}
    ... )
    >>> cm = mx.confusion_matrix(y_true, y_pred, labels=["cat", "dog"])
    >>> cm.sel(model="tree", true="dog").values
    array([1, 1])
    >>> cm.matrics.score("accuracy")["accuracy"].values.round(2)
    array([0.67, 0.67])
    """
    samples = [dim] if isinstance(dim, str) or not isinstance(dim, Sequence) else list(dim)
    arrays = {"y_true": y_true, "y_pred": y_pred}
    arrays |= {"sample_weight": sample_weight} if sample_weight is not None else {}
    for name, array in (arrays | ({"groups": groups} if groups is not None else {})).items():
        check_array(name, array)
        missing = [name for name in samples if name not in array.dims]
        if missing:
            raise ValueError(
                f"{name}: expected the dimension {quoted(missing[0])} of the samples (dim=), got {array.dims}"
            )
    classes = check_classes(num_classes, labels)
    names: tuple[Hashable, ...] = classes.labels or tuple(range(classes.number))
    has_classes = bool(np.issubdtype(y_pred.dtype, np.floating)) and threshold is None
    if has_classes:
        ordered = _in_order(y_pred, class_dim, names, num_classes)
        # A prediction needs the scores of all classes in the same chunk.
        arrays["y_pred"] = ordered if ordered.chunks is None else ordered.chunk({class_dim: -1})
    values: Array = None
    if groups is not None:
        if groups.name is None:
            raise ValueError("groups: expected a DataArray with a name, the dimension of the result, got none")
        if groups.isnull().any():
            raise ValueError(f"groups: expected a value for every sample, got {int(groups.isnull().sum())} missing")
        values, codes = np.unique(groups.values, return_inverse=True)
        coded = groups.copy(data=codes.reshape(groups.shape))
        arrays["groups"] = coded.drop_vars([groups.name], errors="ignore")
    options = {
        "num_classes": num_classes,
        "labels": classes.labels,
        "sample_ndim": len(samples),
        "threshold": threshold,
        "ignore_index": ignore_index,
        "num_groups": None if groups is None else len(values),
    }
    class_dims_of_result = [*([groups.name] if groups is not None else []), *(class_dims or (TRUE, PRED))]
    cm: xr.DataArray = _counted(
        arrays, options, {"y_pred": [class_dim]} if has_classes else {}, samples, class_dims_of_result
    )
    coordinates = [values] * (groups is not None) + [_coordinate(names)] * 2
    cm = cm.assign_coords({name: (name, value) for name, value in zip(class_dims_of_result, coordinates, strict=True)})
    cm.name, cm.attrs = "confusion_matrix", {"long_name": "confusion matrix", "units": "1"}
    return cm


def _in_order(y_pred: xr.DataArray, dim: Hashable, names: Sequence[Hashable], num_classes: int | None) -> xr.DataArray:
    """Class scores in the order of the labels, if their classes have coordinates."""
    if dim not in y_pred.dims:
        raise ValueError(
            f"y_pred: expected the dimension {quoted(dim)} of the classes (class_dim=), as floating-point numbers are "
            "class "
            f"scores, got {y_pred.dims}; pass threshold= if these are scores of class 1 of two"
        )
    if dim not in y_pred.indexes:
        return y_pred
    classes = list(y_pred.indexes[dim])
    if len(classes) == len(names) and set(classes) == set(names):
        return y_pred.isel({dim: [classes.index(name) for name in names]})
    if num_classes is None:
        raise ValueError(
            f"y_pred: expected scores of the classes [{quoted_list(names)}] along {quoted(dim)}, got "
            f"{quoted_list(classes)}"
        )
    return y_pred


def _counted(
    arrays: Mapping[str, xr.DataArray],
    options: Mapping[str, Any],
    extra_dims: Mapping[str, list[Hashable]],
    samples: Sequence[Hashable],
    result_dims: Sequence[Hashable],
) -> Any:
    """The counts, with the dimensions and coordinates of the batch; xarray broadcasts and aligns the arrays.

    ``extra_dims`` are the dimensions of an array after the dimensions of the samples, ``result_dims`` those of the
    counts.
    """
    library = library_for(**arrays)

    def counted(*values: Array) -> Array:
        return library.confusion_matrix(**dict(zip(arrays, values, strict=True)), **options)

    return xr.apply_ufunc(
        counted,
        *arrays.values(),
        input_core_dims=[[*samples, *extra_dims.get(name, [])] for name in arrays],
        output_core_dims=[list(result_dims)],
        join="exact",
        dask="allowed",
        keep_attrs="override",
    )


def _coordinate(names: Sequence[Hashable]) -> Array:
    """The labels as a coordinate; tuples and other objects are not converted."""
    coordinate = np.asarray(names)
    if coordinate.ndim != 1 or (coordinate.dtype.kind == "U" and not all(isinstance(name, str) for name in names)):
        coordinate = np.empty(len(names), object)
        coordinate[:] = names
    return coordinate
