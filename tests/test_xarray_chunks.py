"""DataArrays in chunks of Dask: lazy Datasets with the values of arrays in memory."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from in_xarray import METRICS, cube

import matrics

xr = pytest.importorskip("xarray")
dask = pytest.importorskip("dask")
named = pytest.importorskip("matrics.xarray")
on_dask = pytest.importorskip("matrics.dask")

from xarray.testing import assert_allclose, assert_identical  # noqa: E402 (once it is known to be there)


def no_scheduler(*_: Any, **__: Any) -> Any:
    raise AssertionError("computed too early")


@pytest.mark.sampled(2)
@pytest.mark.parametrize("dtype", [np.int32, np.float32, np.float64])
@pytest.mark.parametrize("chunks", [{}, {"model": 1, "epoch": 3}, {"fold": (1, 2), "epoch": 1}])
def test_chunks_stay_lazy(chunks: dict[str, Any], dtype: Any) -> None:
    """Nothing is computed before it is asked for; dtypes are known; the values are those of one piece."""
    da = cube(dtype)
    with dask.config.set(scheduler=no_scheduler):
        lazy = named.score(da.chunk(chunks), METRICS)
    expected = named.score(da, METRICS)
    for name in METRICS:
        assert lazy[name].chunks is not None
        assert lazy[name].dtype == expected[name].dtype == (np.float32 if dtype == np.float32 else np.float64)
    with dask.config.set(scheduler="sync"):
        assert_identical(lazy.compute(), expected)


@pytest.mark.parametrize("function", ["score", "interval"])
def test_a_chunk_is_read_once(function: str) -> None:
    """For all variables together, and for the limits alone."""
    da, reads = cube(), []

    def read(block: Any) -> Any:
        reads.append(block.shape)
        return block

    chunked = da.chunk(model=1)
    lazy = getattr(named, function)(chunked.copy(data=chunked.data.map_blocks(read, meta=chunked.data._meta)), METRICS)
    assert not reads
    with dask.config.set(scheduler="sync"):
        lazy.compute()
        assert reads == [(1, 3, 4, 3, 3)] * 2
        lazy["mcc_limits" if function == "interval" else "mcc"].compute()
        assert reads == [(1, 3, 4, 3, 3)] * 4


def test_intervals_of_chunks() -> None:
    da = cube()
    chosen = ["mcc", "recall:class"]
    with dask.config.set(scheduler=no_scheduler):
        lazy = named.interval(da.chunk(model=1), chosen)
    expected = named.interval(da, chosen)
    assert lazy["mcc_limits"].chunksizes["bound"] == (2,)
    with dask.config.set(scheduler="sync"):
        assert_identical(lazy.compute(), expected)
        clusters = named.interval(da.chunk(model=1), "mcc", cluster_dim="fold").compute()
        single = named.interval(da[0, 0, 0].chunk(), chosen).compute()
    assert_allclose(clusters, named.interval(da, "mcc", cluster_dim="fold"))
    assert_allclose(single, named.interval(da[0, 0, 0], chosen))
    assert {name: lazy[name].dtype for name in lazy} == {name: expected[name].dtype for name in expected}


@pytest.mark.parametrize("cluster_dim", [None, "fold"])
def test_draws_of_chunks(cluster_dim: str | None) -> None:
    """Those of matrics.dask: the same whenever they are computed, and others in every chunk."""
    da = cube().transpose("pred", "epoch", "true", "fold", "model")
    da = xr.ones_like(da) * da.isel(model=0, epoch=0)  # the same matrices for all models and epochs
    chunked = da.chunk(model=1, epoch=2)
    options: dict[str, Any] = {"method": "bootstrap", "num": 60}
    with dask.config.set(scheduler=no_scheduler):
        lazy = named.interval(chunked, "mcc", rng=3, cluster_dim=cluster_dim, **options)
    ordered = chunked.transpose("epoch", "fold", "model", "true", "pred").data
    axis = None if cluster_dim is None else 1
    with dask.config.set(scheduler="sync"):
        found, again = lazy.compute(), lazy.compute()
        expected = dask.compute(on_dask.interval(ordered, "mcc", rng=3, cluster_axis=axis, **options))[0]["mcc"]
    assert_identical(found, again)
    low = found["mcc_limits"].sel(bound="low")
    assert low.dims == ("epoch", *(() if cluster_dim else ("fold",)), "model")
    np.testing.assert_array_equal(low, expected.low)
    np.testing.assert_array_equal(found["mcc_standard_error"], expected.standard_error)
    assert (low.isel(model=0) != low.isel(model=1)).any()
    assert (low.isel(epoch=[0, 1]).values != low.isel(epoch=[2, 3]).values).any()


def test_nothing_to_score() -> None:
    """A batch without matrices keeps its other dimensions, in memory and in chunks."""
    empty = cube().isel(model=[])
    sizes = {"model": 0, "fold": 3, "epoch": 4, "class": 3}
    assert named.score(empty, METRICS).sizes == named.score(empty.chunk(), METRICS).compute().sizes == sizes
    assert named.interval(empty, "recall:class").sizes == sizes | {"bound": 2}


@pytest.mark.exhaustive
def test_chunks_in_other_processes() -> None:
    """What is to be computed can be sent to them."""
    da = cube()
    y_true = xr.DataArray(np.arange(100) % 3, dims="sample")
    chosen = ["mcc", "fbeta(beta=2):class", matrics.recall]
    lazy = [
        named.score(da.chunk(model=1), chosen),
        named.interval(da.chunk(fold=1), "mcc"),
        named.confusion_matrix(y_true.chunk(sample=30), y_true, num_classes=3),
    ]
    expected = [
        named.score(da, chosen),
        named.interval(da, "mcc"),
        named.confusion_matrix(y_true, y_true, num_classes=3),
    ]
    for found, again in zip(dask.compute(*lazy, scheduler="processes", num_workers=2), expected, strict=True):
        assert_identical(found, again)


def test_chunks_that_are_refused() -> None:
    da = cube()
    with pytest.raises(ValueError, match=r"expected 'pred' whole in each chunk, got 3 chunks: use da.chunk"):
        named.score(da.chunk(pred=1))
    message = r"expected 'fold' whole in each chunk.*use da.chunk\({'fold': -1, 'true': -1, 'pred': -1}\)"
    with pytest.raises(ValueError, match=message):
        named.interval(da.chunk(fold=1), cluster_dim="fold")
    with pytest.raises(ValueError, match="binary"):  # what does not fit raises at once
        named.score(da.chunk(model=1), "recall:binary")
    with pytest.raises(TypeError, match="rng: expected a seed"):
        named.interval(da.chunk(model=1), "mcc", method="bootstrap", rng="1")


class ChunksElsewhere:
    """As much of an array in chunks of another library than Dask as xarray looks at."""

    shape, ndim, dtype, chunks = (4, 2, 2), 3, np.dtype(np.int64), ((2, 2), (2,), (2,))

    def __array_function__(self, *_: Any) -> Any:
        raise AssertionError("computed before it is refused")

    __array_ufunc__ = __array_function__


def test_chunks_of_another_library() -> None:
    da = xr.DataArray(ChunksElsewhere(), dims=("model", "true", "pred"))
    for function in (named.score, named.interval):
        with pytest.raises(TypeError, match=r"da: expected values in memory or in chunks of Dask, got a .*Elsewhere"):
            function(da)
    samples = da.rename(model="sample")
    with pytest.raises(TypeError, match=r"y_true: expected .* in chunks of Dask, .*: y_true.load\(\) reads them"):
        named.confusion_matrix(samples, samples, num_classes=2)
