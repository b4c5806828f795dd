"""Labels with named dimensions to confusion matrices, in memory and in chunks of Dask."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

import matrics

xr = pytest.importorskip("xarray")
named = pytest.importorskip("matrics.xarray")

from xarray.testing import assert_allclose, assert_equal, assert_identical  # noqa: E402

RANDOM = np.random.default_rng(0)
NAMES = ["cat", "dog", "owl"]
N = 60


def labels() -> tuple[Any, Any]:
    """True labels of each sample at two sites, and the predictions of three models with coordinates."""
    y_true = xr.DataArray(
        RANDOM.integers(0, 3, (2, N)),
        dims=("site", "sample"),
        coords={"site": ["north", "south"], "patient": ("sample", RANDOM.integers(0, 4, N)), "run": 1},
    )
    y_pred = xr.DataArray(
        RANDOM.integers(0, 3, (N, 3, 2)),
        dims=("sample", "model", "site"),
        coords={"model": ["a", "b", "c"], "site": ["north", "south"], "depth": ("model", [3, 1, 2])},
    )
    return y_true, y_pred


def test_dimensions_broadcast_by_name() -> None:
    """One truth against many models, with what each of both knows of its dimensions."""
    y_true, y_pred = labels()
    found = named.confusion_matrix(y_true, y_pred, num_classes=3)
    assert found.dims == ("site", "model", "true", "pred")
    for site in ("north", "south"):
        for model in "abc":
            expected = matrics.confusion_matrix(
                y_true.sel(site=site).values, y_pred.sel(site=site, model=model).values, num_classes=3
            )
            np.testing.assert_array_equal(found.sel(site=site, model=model), expected)
    assert found["true"].values.tolist() == found["pred"].values.tolist() == [0, 1, 2]
    assert set(found.coords) == {"site", "model", "depth", "run", "true", "pred"}
    assert found.name == "confusion_matrix"
    assert found.sum("pred").sel(site="north", model="a", true=2).item() == int((y_true.sel(site="north") == 2).sum())
    scores = found.matrics.score("mcc, recall:class")
    np.testing.assert_array_equal(scores["mcc"], matrics.mcc(found.values))


def test_labels_of_text() -> None:
    y_true, y_pred = (xr.apply_ufunc(np.asarray(NAMES).__getitem__, one) for one in labels())
    found = named.confusion_matrix(y_true, y_pred, labels=NAMES[::-1], class_dims=("actual", "guess"))
    assert found.dims == ("site", "model", "actual", "guess")
    assert found["actual"].values.tolist() == NAMES[::-1]
    given = (y_true == "cat") & (y_pred.sel(model="b") == "owl")
    assert_equal(
        found.sel(model="b", actual="cat", guess="owl", drop=True), given.sum("sample").drop_vars(["model", "depth"])
    )
    tuples = named.confusion_matrix(*labels(), labels=[0, 1, 2])
    assert tuples["true"].dtype.kind == "i"
    left = named.confusion_matrix(y_true, y_pred, labels=NAMES, ignore_index="cat")
    assert left.sel(true="cat").sum().item() == 0
    mixed = xr.DataArray(np.asarray([1, "a"], object), dims="sample")
    assert named.confusion_matrix(mixed, mixed, labels=[1, "a"])["true"].values.tolist() == [1, "a"]


def test_several_dimensions_of_samples() -> None:
    y_true, y_pred = labels()
    found = named.confusion_matrix(y_true, y_pred, dim=["sample", "site"], num_classes=3)
    assert_equal(found, named.confusion_matrix(y_true, y_pred, num_classes=3).sum("site"))
    with pytest.raises(ValueError, match=r"y_true: expected the dimension 'pixel' of the samples \(dim=\)"):
        named.confusion_matrix(y_true, y_pred, dim="pixel", num_classes=3)


def test_scores_of_classes() -> None:
    """In the order of the labels, wherever the dimension is, and whatever the order of its coordinates."""
    codes = RANDOM.integers(0, 3, N)
    y_true = xr.DataArray(np.asarray(NAMES)[codes], dims="sample")
    probabilities = xr.DataArray(
        RANDOM.random((3, 2, N)), dims=("class", "model", "sample"), coords={"class": ["owl", "cat", "dog"]}
    )
    found = named.confusion_matrix(y_true, probabilities, labels=NAMES)
    expected = matrics.confusion_matrix(codes, np.moveaxis(probabilities.values[[1, 2, 0]], 0, -1), num_classes=3)
    np.testing.assert_array_equal(found, expected)
    by_position = named.confusion_matrix(xr.DataArray(codes, dims="sample"), probabilities, num_classes=3)
    np.testing.assert_array_equal(
        by_position, matrics.confusion_matrix(codes, np.moveaxis(probabilities.values, 0, -1), num_classes=3)
    )
    renamed = probabilities.drop_vars("class").rename({"class": "label"})
    assert_equal(
        named.confusion_matrix(xr.DataArray(codes, dims="sample"), renamed, class_dim="label", num_classes=3),
        by_position,
    )
    positive = xr.DataArray(RANDOM.random(N), dims="sample")
    of_two = named.confusion_matrix(xr.DataArray(codes > 0, dims="sample"), positive, num_classes=2, threshold=0.4)
    np.testing.assert_array_equal(
        of_two, matrics.confusion_matrix(codes > 0, positive.values, num_classes=2, threshold=0.4)
    )
    with pytest.raises(ValueError, match="expected the dimension 'class' of the classes"):
        named.confusion_matrix(y_true, positive, labels=NAMES)
    with pytest.raises(ValueError, match=r"y_pred: expected scores of the classes \['cat', 'dog', 'fox'\]"):
        named.confusion_matrix(y_true, probabilities, labels=["cat", "dog", "fox"])


def test_weights_and_groups() -> None:
    y_true, y_pred = labels()
    weights = xr.DataArray(RANDOM.random(N).astype(np.float32), dims="sample")
    found = named.confusion_matrix(y_true, y_pred, num_classes=3, sample_weight=weights, groups=y_true["patient"])
    assert found.dims == ("site", "model", "patient", "true", "pred")
    assert found["patient"].values.tolist() == np.unique(y_true["patient"]).tolist()
    of_one = y_true["patient"] == 2
    expected = matrics.confusion_matrix(
        y_true.sel(site="south").values[of_one],
        y_pred.sel(site="south", model="c").values[of_one],
        num_classes=3,
        sample_weight=weights.values[of_one],
    )
    np.testing.assert_allclose(found.sel(site="south", model="c", patient=2), expected, rtol=1e-6)
    unnamed = xr.DataArray(np.zeros(N), dims="sample")
    with pytest.raises(ValueError, match="groups: expected a DataArray with a name"):
        named.confusion_matrix(y_true, y_pred, num_classes=3, groups=unnamed)
    with pytest.raises(ValueError, match="groups: expected a value for every sample, got 1 missing"):
        named.confusion_matrix(y_true, y_pred, num_classes=3, groups=unnamed.where(np.arange(N) > 0).rename("g"))


def test_what_does_not_fit() -> None:
    y_true, y_pred = labels()
    with pytest.raises(ValueError, match=r"cannot align objects with join='exact'.*'site'"):
        named.confusion_matrix(y_true, y_pred.assign_coords(site=["north", "west"]), num_classes=3)
    with pytest.raises(ValueError, match="sample"):
        named.confusion_matrix(y_true.isel(sample=slice(9)), y_pred, num_classes=3)
    with pytest.raises(ValueError, match=r"y_pred: expected labels in \[0, 2\), got 2"):
        named.confusion_matrix(y_true.where(y_true < 2, 0), y_pred, num_classes=2)
    with pytest.raises(TypeError, match=r"y_pred: expected an xarray.DataArray, got a ndarray"):
        named.confusion_matrix(y_true, y_pred.values, num_classes=3)
    with pytest.raises(TypeError, match="expected either num_classes="):
        named.confusion_matrix(y_true, y_pred)


@pytest.mark.sampled(1)
@pytest.mark.parametrize("chunks", [{}, {"sample": 7}, {"sample": 25, "site": 1}])
@pytest.mark.parametrize("others", [{}, {"sample": 11, "model": 2}])
def test_chunks(chunks: dict[str, int], others: dict[str, int]) -> None:
    """Counted chunk by chunk and added up, whatever the chunks of both are; nothing before it is asked for."""
    dask = pytest.importorskip("dask")
    y_true, y_pred = labels()
    weights = xr.DataArray(RANDOM.random((N, 3)).astype(np.float32), dims=("sample", "model"))
    scores = xr.DataArray(RANDOM.random((N, 3, 4)), dims=("sample", "class", "threshold"))

    def no_scheduler(*_: Any, **__: Any) -> Any:
        raise AssertionError("computed too early")

    def counts(true: Any, pred: Any, probabilities: Any) -> list[Any]:
        return [
            named.confusion_matrix(true, pred, num_classes=3),
            named.confusion_matrix(true, pred, dim=("site", "sample"), labels=[2, 0, 1], ignore_index=[1]),
            named.confusion_matrix(true, pred, num_classes=3, sample_weight=weights, groups=y_true["patient"]),
            named.confusion_matrix(true, probabilities, num_classes=3),
        ]

    with dask.config.set(scheduler=no_scheduler):
        lazy = counts(
            y_true.chunk(chunks), y_pred.chunk(others), scores.chunk({"sample": 20, "threshold": 3, "class": 2})
        )
    with dask.config.set(scheduler="sync"):
        for found, expected in zip(lazy, counts(y_true, y_pred, scores), strict=True):
            assert found.chunks is not None
            assert found.dtype == expected.dtype
            compare = assert_identical if expected.dtype.kind == "i" else assert_allclose
            compare(found.compute(), expected)
        beside = named.confusion_matrix(y_true, y_pred.chunk(others), num_classes=3)  # one of them in memory
        assert_identical(beside.compute(), named.confusion_matrix(y_true, y_pred, num_classes=3))
        wrong = named.confusion_matrix(y_true.chunk(chunks) + 1, y_pred, num_classes=3)
        with pytest.raises(ValueError, match=r"y_true: expected labels in \[0, 3\), got 3"):
            wrong.compute()


def test_a_lazy_path_from_labels_to_scores() -> None:
    dask = pytest.importorskip("dask")
    y_true, y_pred = labels()
    text = [xr.apply_ufunc(np.asarray(NAMES).__getitem__, one).chunk(sample=16) for one in (y_true, y_pred)]
    lazy = named.confusion_matrix(*text, labels=NAMES).matrics.score("mcc, recall:class")
    expected = matrics.confusion_matrix(
        y_true.values[:, None], y_pred.transpose("site", "model", "sample").values, num_classes=3
    )
    with dask.config.set(scheduler="sync"):
        np.testing.assert_array_equal(lazy["mcc"], matrics.mcc(expected))
        np.testing.assert_array_equal(
            lazy["recall:class"].sel({"class": "owl"}), matrics.recall(expected, average="class")[..., 2]
        )
