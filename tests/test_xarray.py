"""DataArrays in, Datasets out: dimensions and coordinates, in memory and in files."""

from __future__ import annotations

import warnings
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from in_xarray import METRICS, NAMES, cube

import matrics

xr = pytest.importorskip("xarray")
named = pytest.importorskip("matrics.xarray")

from xarray.testing import assert_allclose, assert_equal, assert_identical  # noqa: E402

RANDOM = np.random.default_rng(0)
CLASSWISE = {"recall:class", "mcc:one_vs_rest"}


def test_dimensions_and_coordinates() -> None:
    """Those of the batch stay; the classes are a coordinate of their measures."""
    da = cube()
    found = named.score(da, METRICS)
    expected = matrics.score(da.values, METRICS)
    assert list(found.data_vars) == METRICS
    for name, values in expected.items():
        dims = ("model", "fold", "epoch", *(("class",) if name in CLASSWISE else ()))
        np.testing.assert_array_equal(found[name].values, values)
        assert found[name].dims == dims
    assert_identical(
        found["class"].drop_vars("run"),
        xr.DataArray(NAMES, [("class", NAMES, da["true"].attrs)], name="class", attrs=da["true"].attrs),
    )
    assert set(found.coords) == {"model", "epoch", "depth", "seconds", "run", "class"}
    for name in ("model", "epoch", "depth", "seconds", "run"):
        assert_identical(found[name].variable, da[name].variable)
    assert found.attrs == da.attrs
    assert (
        float(found["recall:class"].sel({"model": "net", "fold": 1, "epoch": 5, "class": "owl"}))
        == expected["recall:class"][1, 1, 2, 2]
    )


def test_dimensions_in_any_order() -> None:
    """By their names, whether these are given or the usual ones; otherwise the last two."""
    da = cube()
    expected = named.score(da, METRICS)
    turned = da.transpose("pred", "epoch", "true", "model", "fold")
    assert_identical(named.score(turned, METRICS).transpose(*expected.dims), expected)
    other = turned.rename({"true": "actual", "pred": "guess"})
    with pytest.raises(ValueError, match="expected equal numbers of true and predicted classes, got 2 along 'model'"):
        named.score(other)
    found = named.score(other, METRICS, class_dims=("actual", "guess"))
    assert_identical(found.transpose(*expected.dims), expected)
    last = da.rename({"true": "actual", "pred": "guess"})
    assert_identical(named.score(last, METRICS), expected)
    assert_equal(
        named.score(da, "recall", class_dims=("pred", "true")), named.score(da, "precision").rename(precision="recall")
    )


def test_without_coordinates() -> None:
    values = RANDOM.integers(1, 9, (4, 3, 3))
    found = named.score(xr.DataArray(values), ["mcc", "recall:class"])
    assert found.sizes == {"dim_0": 4, "class": 3}
    assert not found.coords
    single = named.score(xr.DataArray(values[0], dims=("true", "pred"), coords={"pred": NAMES}), "mcc, recall:class")
    assert single["mcc"].shape == ()
    assert single["class"].values.tolist() == NAMES  # those of either dimension
    assert single["mcc"].item() == matrics.mcc(values[0])


def test_a_multi_index_stays() -> None:
    da = cube().stack(case=("model", "fold"))
    found = named.score(da, METRICS)
    assert found.indexes["case"].equals(da.indexes["case"])
    back = found.unstack("case").transpose(*named.score(cube(), "recall:class").dims)
    assert back.sizes == {"model": 2, "fold": 3, "epoch": 4, "class": 3}
    picked = found["mcc"].sel(model="net", fold=2, epoch=9)
    assert picked.item() == matrics.mcc(da.sel(model="net", fold=2, epoch=9).transpose("true", "pred").values)


def test_attributes() -> None:
    """What a measure is; and those of the array as xarray's option says."""
    da = cube()
    found = named.score(da, ["tpr:class", "Kappa"])
    assert found["tpr:class"].attrs == {
        "long_name": "recall of each class",
        "units": "1",
        "comment": matrics.recall.summary.rstrip("."),
        "metric": "recall:class",
        "range": "[0, 1]",
        "direction": "higher is better",
        "references": matrics.recall.source,
    }
    assert found["Kappa"].attrs["metric"] == "cohen_kappa"
    assert named.score(da, "mcc", keep_attrs=False).attrs == {}
    with xr.set_options(keep_attrs=False):
        assert named.score(da, "mcc").attrs == {}
        assert named.score(da, "mcc", keep_attrs=True).attrs == da.attrs


def test_a_multi_index_of_classes_is_refused() -> None:
    pairs = cube().isel(true=[0, 1], pred=[0, 1]).drop_vars(["true", "pred", "weight"])
    joint = pairs.rename(true="a", fold="b").isel(b=[0, 1]).stack(true=("a", "b"))
    square = joint.isel(true=[0, 1])
    with pytest.raises(ValueError, match="expected a single label for each class along 'true', got a multi-index"):
        named.score(square)
    assert named.score(square.reset_index("true"), "mcc").sizes == {"model": 2, "epoch": 4}


def test_options_reach_the_scores() -> None:
    da = xr.DataArray([[[5, 0], [0, 0]], [[5, -1], [1, 3]]], dims=("case", "true", "pred"))
    with pytest.warns(RuntimeWarning, match=r"1 of 2 confusion matrices is invalid: \[1\]") as caught:
        found = named.score(da, "recall:class", zero_division=0)
    assert caught[0].filename == __file__
    np.testing.assert_array_equal(found["recall:class"], [[1, 0], [np.nan, np.nan]])
    assert named.score(da, "mcc", invalid="nan")["mcc"].isnull().all()
    with pytest.raises(matrics.InvalidConfusionMatrix):
        da.matrics.score("mcc", invalid="raise")


def test_intervals() -> None:
    """The estimate under the name of its measure, and the limits along a dimension of their own."""
    da = cube()
    chosen = ["mcc", "recall:class"]
    found = da.matrics.interval(chosen, level=0.9)
    for name, expected in matrics.interval(da.values, chosen, level=0.9).items():
        assert_equal(found[name], named.score(da, name)[name])
        own = ("class",) if name in CLASSWISE else ()
        assert found[f"{name}_limits"].dims == ("model", "fold", "epoch", *own, "bound")
        for bound in ("low", "high"):
            np.testing.assert_array_equal(found[f"{name}_limits"].sel(bound=bound), getattr(expected, bound))
        for part in ("standard_error", "undefined", "status"):
            np.testing.assert_array_equal(found[f"{name}_{part}"], getattr(expected, part))
            assert found[f"{name}_{part}"].dims == found[name].dims
    assert found["bound"].values.tolist() == ["low", "high"]
    assert found["mcc_limits"].attrs["long_name"] == "90 % limits of the mcc"
    flags = found["mcc_status"].attrs
    assert dict(zip(flags["flag_values"], flags["flag_meanings"].split(), strict=True))[1] == "few_samples"


def test_intervals_of_clusters_and_draws() -> None:
    da = cube()
    found = named.interval(da, "mcc", cluster_dim="fold")
    expected = matrics.interval(da.values, "mcc", cluster_axis=1)["mcc"]
    np.testing.assert_allclose(found["mcc"], expected.estimate)
    np.testing.assert_allclose(found["mcc_limits"].sel(bound="low"), expected.low)
    assert found["mcc_limits"].dims == ("model", "epoch", "bound")
    with pytest.raises(ValueError, match="cluster_dim: expected one of the dimensions"):
        named.interval(da, "mcc", cluster_dim="patient")
    drawn = named.interval(da, "mcc", method="bootstrap", num=50, rng=1)
    again = matrics.interval(da.values, "mcc", method="bootstrap", num=50, rng=1)["mcc"]
    np.testing.assert_array_equal(drawn["mcc_limits"].sel(bound="high"), again.high)


@pytest.mark.exhaustive
def test_arrays_of_jax_stay_there() -> None:
    jax = pytest.importorskip("jax")
    da = cube(np.float32)
    there = da.copy(data=jax.numpy.asarray(da.values))
    for found, expected in (
        (named.score(there, "mcc"), named.score(da, "mcc")),
        (named.interval(there, "mcc"), named.interval(da, "mcc")),
    ):
        assert all(isinstance(variable.data, jax.Array) for variable in found.data_vars.values())
        assert_allclose(xr.Dataset({name: found[name].as_numpy() for name in found}), expected, rtol=1e-5)


# What is refused ------------------------------------------------------------------------------------------------------


@pytest.mark.sampled(2)
@pytest.mark.parametrize(
    ("change", "options", "message"),
    [
        (lambda da: da.assign_coords(pred=NAMES[::-1]), {}, "expected the same classes in the same order"),
        (lambda da: da.assign_coords(pred=list("abc")), {}, r"got \['cat', 'dog', 'owl'\] and \['a', 'b', 'c'\]"),
        (lambda da: da, {"class_dims": ("true",)}, "class_dims: expected two names"),
        (lambda da: da, {"class_dims": "tp"}, "class_dims: expected two names"),
        (lambda da: da, {"class_dims": ("true", "guess")}, "class_dims: expected two of the dimensions"),
        (lambda da: da.isel(pred=0), {}, "as the last two of .* are not clearly dimensions"),
        (lambda da: da.rename(true="actual").transpose(..., "pred", "actual"), {}, "are not clearly dimensions"),
        (lambda da: da.rename(true="actual").transpose("pred", ...), {}, "are not clearly dimensions"),
        (lambda da: da[0, 0, 0, 0], {}, "da: expected two dimensions of classes"),
        (lambda da: da.rename(model="class"), {}, "class_dim: expected a name that differs from other .* got 'class'"),
        (lambda da: da.rename(run="class"), {}, "class_dim: expected a name that differs from other .* got 'class'"),
        (lambda da: da.rename(model="accuracy"), {}, "whose names differ from those of measures, got 'accuracy'"),
        (
            lambda da: da.isel(true=[0, 1]),
            {},
            "expected equal numbers of true and predicted classes, got 2 along 'true'",
        ),
    ],
)
def test_what_is_refused(change: Any, options: dict[str, Any], message: str) -> None:
    with pytest.raises(ValueError, match=message):
        named.score(change(cube()), METRICS, **options)


def test_what_is_no_data_array() -> None:
    with pytest.raises(TypeError, match=r"da: expected an xarray.DataArray, got a ndarray"):
        named.score(np.ones((2, 2)))
    with pytest.raises(TypeError, match='got a Dataset: choose a variable of the Dataset, ds\\["confusion_matrix"\\]'):
        named.score(cube().to_dataset())
    with pytest.raises(TypeError, match="cm: expected counts"):
        named.score(cube(complex))
    found = named.score(cube().rename(model="class"), METRICS, class_dim="species")
    assert found["recall:class"].dims == ("class", "fold", "epoch", "species")
    ways = cube().assign_coords(pred=NAMES[::-1])
    assert named.score(ways.sel(pred=ways["true"].values), "mcc").sizes["model"] == 2  # as the message says


# Files ----------------------------------------------------------------------------------------------------------------


@pytest.mark.exhaustive
@pytest.mark.parametrize("engine", ["h5netcdf", "scipy"])
def test_netcdf(engine: str, tmp_path: Path) -> None:
    """Names, attributes and coordinates survive."""
    pytest.importorskip(engine)
    if engine == "h5netcdf":
        pytest.importorskip("h5py")
    da = cube()
    found = named.interval(da, METRICS).merge(named.score(da, ["Overall J", "nmi(normalizer=joint)"]))
    found.to_netcdf(tmp_path / "scores.nc", engine=engine)
    with xr.open_dataset(tmp_path / "scores.nc", engine=engine) as back:
        assert_equal(back.load(), found)
        for name in found.variables:
            attrs = {key: np.asarray(value).tolist() for key, value in back[name].attrs.items()}
            assert attrs == found[name].attrs


def test_zarr(tmp_path: Path) -> None:
    pytest.importorskip("zarr")
    found = named.interval(cube(), METRICS)
    with warnings.catch_warnings():  # coordinates of text, and metadata in one place, are not in Zarr's third format
        warnings.filterwarnings("ignore", module="zarr")
        warnings.filterwarnings("ignore", message=".*Zarr")
        found.to_zarr(tmp_path / "scores.zarr")
        back = xr.open_zarr(tmp_path / "scores.zarr", chunks=None).load()
    assert_identical(back, found)
