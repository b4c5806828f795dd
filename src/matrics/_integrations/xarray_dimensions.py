"""The dimensions of the classes of a DataArray, and the variables of a Dataset of its measures."""

from __future__ import annotations

from collections.abc import Hashable, Mapping, Sequence
from typing import Any, NamedTuple

import xarray as xr

import matrics
from matrics._arrays import Array
from matrics._catalogue.classes import Classes
from matrics._catalogue.description import direction_of, range_of
from matrics._catalogue.record import Metric
from matrics._quoting import quoted

TRUE, PRED = "true", "pred"


class Layout(NamedTuple):
    """The dimensions of a DataArray of confusion matrices, and the classes."""

    array: xr.DataArray
    batch: tuple[Hashable, ...]
    core: tuple[
        Hashable, ...
    ]  # the dimension of clusters, if any, and the dimensions of the true and the predicted classes
    classes: xr.Variable | None  # the coordinate of the true dimension

    @property
    def num_classes(self) -> int:
        """The number of classes."""
        return int(self.array.sizes[self.core[-1]])

    def known(self, positive: Any) -> Classes:
        """The classes with the labels of their coordinates, and the positive class."""
        labels = None if self.classes is None else self.classes.values.tolist()
        return Classes.of(self.num_classes, labels, positive)

    @property
    def stack(self) -> Array:
        """The values, with the axes of the classes last; raises if the classes are in several chunks."""
        chunks = self.array.chunksizes
        split = [dim for dim in self.core if len(chunks.get(dim, ())) > 1]
        if split:
            raise ValueError(
                f"da: expected {quoted(split[0])} whole in each chunk, got {len(chunks[split[0]])} chunks: use "
                f"da.chunk({dict.fromkeys(self.core, -1)})"
            )
        return self.array.variable.transpose(*self.batch, *self.core).data


def layout_of(da: Any, class_dims: Sequence[Hashable] | None) -> Layout:
    """The layout of a DataArray; raises unless both dimensions have the same classes in the same order."""
    check_array("da", da)
    true, pred = _named(da, class_dims)
    if da.sizes[true] != da.sizes[pred]:
        raise ValueError(
            f"da: expected equal numbers of true and predicted classes, got {da.sizes[true]} along {quoted(true)} and "
            f"{da.sizes[pred]} along {quoted(pred)}; class_dims=(true, pred) names other dimensions"
        )
    indexes = [da.indexes[dim] for dim in (true, pred) if dim in da.indexes]
    if len(indexes) == 2 and not indexes[0].equals(indexes[1]):
        hint = f"da.sel({{{quoted(pred)}: da[{quoted(true)}].values}}) puts them in the same order"
        raise ValueError(
            f"da: expected the same classes in the same order along {quoted(true)} and {quoted(pred)}, got "
            f"{list(indexes[0][:5])} and {list(indexes[1][:5])}; {hint}"
        )
    if any(index.nlevels > 1 for index in indexes):
        raise ValueError(
            f"da: expected a single label for each class along {quoted(true)}, got a multi-index: call reset_index() "
            "first"
        )
    labelled = [dim for dim in (true, pred) if dim in da.indexes][:1]
    classes = da.coords[labelled[0]].variable if labelled else None
    return Layout(da, tuple(dim for dim in da.dims if dim not in (true, pred)), (true, pred), classes)


def clusters_last(layout: Layout, dim: Hashable) -> Layout:
    """The layout with the dimension of clusters moved from the batch to the place before the classes."""
    if dim not in layout.batch:
        raise ValueError(f"cluster_dim: expected one of the dimensions {layout.batch}, got {quoted(dim)}")
    batch = tuple(name for name in layout.batch if name != dim)
    return layout._replace(batch=batch, core=(dim, *layout.core))


def check_array(name: str, value: Any) -> None:
    """Raise an error unless the value is a DataArray."""
    if not isinstance(value, xr.DataArray):
        hint = ': choose a variable of the Dataset, ds["confusion_matrix"]' if isinstance(value, xr.Dataset) else ""
        raise TypeError(f"{name}: expected an xarray.DataArray, got a {type(value).__name__}{hint}")


def library_for(**arrays: xr.DataArray) -> Any:
    """The module with the functions for these arrays: the module for Dask if an array is in chunks."""
    chunked = {name: array.data for name, array in arrays.items() if array.chunks is not None}
    for name, values in chunked.items():
        if not hasattr(values, "__dask_graph__"):
            kind = f"{type(values).__module__}.{type(values).__qualname__}"
            raise TypeError(
                f"{name}: expected values in memory or in chunks of Dask, got a {kind}: {name}.load() reads them"
            )
    if not chunked:
        return matrics
    from matrics._integrations import dask

    return dask


def _named(da: xr.DataArray, class_dims: Sequence[Hashable] | None) -> tuple[Hashable, Hashable]:
    """The dimensions of the true and of the predicted classes."""
    if class_dims is not None:
        named = () if isinstance(class_dims, str) else tuple(class_dims)
        if len(named) != 2 or len(set(named)) != 2:
            raise ValueError(
                f"class_dims: expected two names, of the true and of the predicted classes, got {quoted(class_dims)}"
            )
        missing = [dim for dim in named if dim not in da.dims]
        if missing:
            raise ValueError(f"class_dims: expected two of the dimensions {da.dims}, got {quoted(missing[0])}")
        return named[0], named[1]
    if TRUE in da.dims and PRED in da.dims:
        return TRUE, PRED
    if da.ndim < 2:
        raise ValueError(f"da: expected two dimensions of classes, got the dimensions {da.dims}")
    last = da.dims[-2:]
    if last[0] == PRED or last[1] == TRUE or {TRUE, PRED} & set(da.dims[:-2]):
        raise ValueError(
            f"class_dims: expected the names of both dimensions of classes, as the last two of {da.dims} are not "
            "clearly dimensions of classes, got None"
        )
    return last[0], last[1]


def dataset(
    layout: Layout,
    variables: Mapping[str, tuple[tuple[Hashable, ...], Any, dict[str, Any]]],
    coords: Mapping[str, Any],
    *,
    keep_attrs: bool | None,
) -> xr.Dataset:
    """A Dataset of variables; each has dimensions (after those of the batch), values and attributes."""
    da, used = layout.array, {dim for dims, _, _ in variables.values() for dim in dims}
    along = [name for name, coord in da.coords.items() if set(layout.core) & set(coord.dims)]
    batch = da.drop_vars(along).isel(dict.fromkeys(layout.core, 0))
    taken = {*batch.dims, *batch.coords}
    for name in sorted(used & taken, key=str):
        raise ValueError(
            f"class_dim: expected a name that differs from other dimensions and coordinates, got {quoted(name)}"
        )
    for name in variables:
        if name in taken:
            raise ValueError(
                f"da: expected dimensions and coordinates whose names differ from those of measures, got {quoted(name)}"
            )
    kept = xr.get_options()["keep_attrs"] if keep_attrs is None else keep_attrs
    result = xr.Dataset(
        {name: ((*layout.batch, *dims), values, attrs) for name, (dims, values, attrs) in variables.items()},
        coords=batch.coords,
        attrs=da.attrs if kept is not False else None,
    )
    return result.assign_coords({name: coord for name, coord in coords.items() if name in used})


def unique(metrics: Mapping[str, Metric]) -> list[Metric]:
    """The metrics with different specs: two keys may mean the same metric, such as f1 and dice."""
    return list({metric.spec: metric for metric in metrics.values()}.values())


def attributes(metric: Metric, title: str) -> dict[str, Any]:
    """The attributes of a variable, which describe its measure; all are text, which every file format supports."""
    attrs = {
        "long_name": title,
        "units": "1",
        "comment": metric.summary.rstrip("."),
        "metric": metric.spec,
        "range": range_of(metric),
        "direction": direction_of(metric),
        "references": metric.source,
    }
    return {name: text for name, text in attrs.items() if text}
