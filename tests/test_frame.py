"""Scores as tidy tables."""

from __future__ import annotations

import sys
from typing import Any

import numpy as np
import pytest

import matrics

pandas = pytest.importorskip("pandas")

STACK = np.random.default_rng(3).integers(0, 9, (2, 3, 4, 4))


def test_one_row_a_matrix(backend: Any) -> None:
    """In the order of the stack, with its axes as columns and a column for each class."""
    scores = matrics.score(backend.asarray(STACK, np.float32), ["mcc", "recall:class", "mcc:one_vs_rest"])
    frame = matrics.to_frame(scores, axes={"model": ["a", "b"], "fold": range(3)}, class_names=list("wxyz"))
    classes = [
        f"{measure} of {name}{rest}"
        for measure, rest in (("recall", ""), ("mcc", " against the rest"))
        for name in "wxyz"
    ]
    assert list(frame.columns) == ["model", "fold", "mcc", *classes]
    chosen = frame[(frame["model"] == "b") & (frame["fold"] == 1)]
    assert len(frame) == 6
    assert chosen["mcc"].item() == backend.numpy(scores["mcc"])[1, 1]
    assert chosen["recall of y"].item() == backend.numpy(scores["recall:class"])[1, 1, 2]


def test_axes_without_names() -> None:
    frame = matrics.to_frame(matrics.score(STACK, "accuracy"))
    assert list(frame.columns) == ["index_0", "index_1", "accuracy"]
    assert frame["index_1"].tolist() == [0, 1, 2, 0, 1, 2]
    single = matrics.to_frame(matrics.score(STACK[0, 0], ["mcc", "recall:class"]))
    assert list(single.columns) == ["mcc", *(f"recall of class {k}" for k in range(4))]
    assert len(single) == 1
    assert len(matrics.to_frame(matrics.score(STACK[:0], "accuracy"))) == 0


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"axes": ["model"]}, "axes: expected 2 different names"),
        ({"axes": {"model": "ab", "fold": [1]}}, "axes: expected 3 labels for 'fold', got 1"),
        ({"axes": ["mcc", "fold"]}, "axes: expected names that differ from those of the measures, got 'mcc'"),
        ({"class_names": ["a"]}, "expected 4 different names"),
    ],
)
def test_what_does_not_fit(options: dict[str, Any], message: str) -> None:
    scores = matrics.score(STACK, ["mcc", "recall:class"])
    with pytest.raises(ValueError, match=message):
        matrics.to_frame(scores, **options)


def test_scores_of_two_stacks() -> None:
    with pytest.raises(ValueError, match="expected values of the same stack"):
        matrics.to_frame({"mcc": np.zeros(3), "f1": np.zeros(4)})
    with pytest.raises(TypeError, match="expected the dict that"):
        matrics.to_frame(np.zeros(3))
    with pytest.raises(TypeError, match=r"expected the dict that .* got an empty dict"):
        matrics.to_frame({})
    found = matrics.interval(STACK, "mcc") | matrics.score(STACK, "accuracy")
    with pytest.raises(TypeError, match="scores: expected the results of a single function, got several kinds"):
        matrics.to_frame(found)
    with pytest.raises(ValueError, match="layout: expected 'wide' or 'long', got 'tall'"):
        matrics.to_frame(matrics.score(STACK), layout="tall")
    with pytest.raises(ValueError, match="library: expected 'pandas' or 'polars', got 'dask'"):
        matrics.to_frame(matrics.score(STACK), library="dask")


@pytest.mark.parametrize(
    ("axes", "message"),
    [
        (3, "axes: expected names of axes, or a mapping of names to labels, got 3"),
        ({"model": 2, "fold": [1, 2, 3]}, "axes: expected a list of labels for 'model', got 2"),
        (
            {"model": np.ones((2, 2)), "fold": [1, 2, 3]},
            r"a list of labels for 'model', got an array of shape \(2, 2\)",
        ),
        (
            {"model": pandas.MultiIndex.from_tuples([(1, 2), (3, 4)]), "fold": [1, 2, 3]},
            r"labels for 'model', got a MultiIndex: pass its \.to_frame\(\)",
        ),
    ],
)
def test_what_are_no_labels(axes: Any, message: str) -> None:
    with pytest.raises((TypeError, ValueError), match=message):
        matrics.to_frame(matrics.score(STACK, "mcc"), axes=axes)


def test_no_value_is_lost_under_the_name_of_another() -> None:
    """One measure under two keys is one column, as both have the same values."""
    twice = matrics.to_frame(matrics.score(STACK[0], ["recall:class", "recall(average=class)"]))
    assert list(twice.columns) == ["index_0", *(f"recall of class {k}" for k in range(4))]
    found = matrics.interval(STACK[0], "recall:class")
    with pytest.raises(
        ValueError, match="scores: expected a column for each value, got two that are named 'recall of a/"
    ):
        matrics.to_frame(found, class_names=["a", "a/low", "b", "c"])
    assert len(matrics.to_frame(found, class_names=["a", "a/low", "b", "c"], layout="long")) == 3 * 4


def test_what_are_no_scores() -> None:
    with pytest.raises(TypeError, match=r"scores: expected the names of measures as keys, got \[3\]"):
        matrics.to_frame({3: np.zeros(2)})  # type: ignore[dict-item]
    with pytest.raises(ValueError, match=r"recall:class: expected a value for each class, .*, got a single value"):
        matrics.to_frame({"recall:class": 0.5})


@pytest.mark.parametrize("library", ["pandas", "polars"])
def test_columns_of_no_matrix_have_their_types(library: Any) -> None:
    """As they are put below those of other stacks."""
    frames = pytest.importorskip(library)
    some, none = (
        matrics.to_frame(matrics.score(part, ["mcc", "recall:class"]), layout="long", library=library)
        for part in (STACK[0], STACK[0, :0])
    )
    assert len(none) == 0
    assert list(none.dtypes) == list(some.dtypes)
    assert len(frames.concat([some, none])) == len(some)


AXES = {"model": ["a", "b"], "fold": [7, 8, 9]}


def test_long_is_wide_melted() -> None:
    """One row a value, in the order of the matrices; pandas itself is asked what that is."""
    scores = matrics.score(STACK, ["mcc", "recall:class", "recall", "mcc:one_vs_rest"])
    wide = matrics.to_frame(scores, axes=AXES, class_names=list("wxyz"))
    long = matrics.to_frame(scores, axes=AXES, class_names=list("wxyz"), layout="long")
    melted = wide.melt(list(AXES), var_name="column")
    melted = melted.set_index([*AXES, "column"])["value"]
    assert list(long.columns) == [*AXES, "measure", "class", "value"]
    assert len(long) == len(melted) == 6 * 10
    names = long["measure"] + (" of " + long["class"]).where(long["class"].notna(), "")
    names = names.where(~names.str.startswith("mcc of"), names + " against the rest")
    found = long.set_index([long["model"], long["fold"], names.rename("column")])["value"]
    pandas.testing.assert_series_equal(found, melted.loc[found.index])
    assert long["measure"][:6].tolist() == ["mcc", *["recall"] * 4, "recall, macro"]
    assert long["class"].isna().sum() == 6 * 2
    assert (long["model"] == np.repeat(["a", "b"], 30)).all()
    overall = matrics.to_frame(matrics.score(STACK, "mcc"), axes=AXES, layout="long")
    assert list(overall.columns) == [*AXES, "measure", "value"]


def test_long_of_values_under_names_of_classes() -> None:
    """As score gives them with class_names, and as the metrics of training loops do."""
    named = matrics.score(STACK[0], "mcc, recall:class", class_names=["a/b", "x", "y", "z"])
    long = matrics.to_frame(named, layout="long")
    assert long["class"][1:3].tolist() == ["a/b", "x"]
    assert set(long["measure"]) == {"mcc", "recall"}
    assert matrics.to_frame({"val/mcc": np.zeros(2)}, layout="long")["measure"].tolist() == ["val/mcc"] * 2


def test_intervals() -> None:
    """Five columns each, named as the command line names them."""
    found = matrics.interval(STACK, ["mcc", "recall:class"])
    wide = matrics.to_frame(found, axes=AXES, class_names=list("wxyz"))
    parts = ["", "/low", "/high", "/standard_error", "/status"]
    starts = ["mcc", *(f"recall of {name}" for name in "wxyz")]
    assert list(wide.columns) == [*AXES, *(start + part for start in starts for part in parts)]
    np.testing.assert_array_equal(wide["recall of y/low"], found["recall:class"].low[..., 2].ravel())
    np.testing.assert_array_equal(wide["mcc/status"], found["mcc"].status.ravel())
    long = matrics.to_frame(found, axes=AXES, class_names=list("wxyz"), layout="long")
    assert list(long.columns[-6:]) == ["class", "value", "low", "high", "standard_error", "status"]
    assert long["status"].dtype.kind == "i"
    chosen = long[(long["measure"] == "recall") & (long["class"] == "x")]
    np.testing.assert_array_equal(chosen["high"], wide["recall of x/high"])


def test_comparisons() -> None:
    """The difference has the title, and the other fields have columns with it."""
    a, b = [[45, 5], [5, 45]], [[40, 10], [10, 40]]
    found = matrics.compare(a, b, "recall,recall:class", positive=1)
    wide = matrics.to_frame(found)
    endings = ["", "/low", "/high", "/standard_error", "/probability", "/status"]
    assert list(wide.columns) == [f"recall of class {k}{ending}" for k in (1, 0) for ending in endings]
    assert wide["recall of class 1"].tolist() == pytest.approx([0.1])
    assert wide["recall of class 0/low"].tolist() == [found["recall:class"].low[0]]
    long = matrics.to_frame(found, layout="long")
    assert list(long.columns) == ["measure", "class", "value", "low", "high", "standard_error", "probability", "status"]
    joint = np.ones((2, 2, 2))
    assert "mcc/unpaired_width" in matrics.to_frame(matrics.compare_paired(joint, "mcc")).columns
    models = matrics.compare_models([0, 1, 1, 0], [[0, 1, 0, 0], [1, 1, 1, 0]], "mcc", num_classes=2, num=10, rng=0)
    with pytest.raises(TypeError, match=r"got ModelComparison; use its to_frame\(\)"):
        matrics.to_frame(models)


def test_an_axis_of_several_columns() -> None:
    """A stack with one axis takes them all; one with more takes a mapping or a data frame for one of them."""
    groups = {"site": ["n", "s", "s"], "day": np.asarray(["2024-01-01", "2024-01-01", "2024-01-02"], "datetime64[D]")}
    scores = matrics.score(STACK[0], "mcc")
    expected = pandas.DataFrame({**groups, "mcc": scores["mcc"]})
    pandas.testing.assert_frame_equal(matrics.to_frame(scores, axes=groups), expected)
    pandas.testing.assert_frame_equal(matrics.to_frame(scores, axes={"group": groups}), expected)
    pandas.testing.assert_frame_equal(matrics.to_frame(scores, axes=pandas.DataFrame(groups)), expected)
    both = matrics.to_frame(matrics.score(STACK, "mcc"), axes={"model": ["a", "b"], "group": pandas.DataFrame(groups)})
    assert list(both.columns) == ["model", "site", "day", "mcc"]
    assert both["site"].tolist() == ["n", "s", "s"] * 2
    with pytest.raises(ValueError, match="axes: expected 2 different names"):
        matrics.to_frame(matrics.score(STACK, "mcc"), axes={"site": ["a", "b"], "group": groups})
    with pytest.raises(ValueError, match="axes: expected 1 different names"):
        matrics.to_frame(scores, axes={})
    with pytest.raises(ValueError, match="axes: expected names that differ from those of the measures, got 'value'"):
        matrics.to_frame(scores, axes=["value"], layout="long")


def test_columns_of_axes_keep_their_type() -> None:
    kinds = {
        "category": pandas.Series(["x", "y", "x"], dtype=pandas.CategoricalDtype(["y", "x", "z"], ordered=True)),
        "nullable": pandas.Series([1, None, 3], dtype="Int8"),
        "time": pandas.Series(pandas.to_datetime(["2024-01-01", "2024-02-01", "2024-03-01"])).dt.tz_localize("CET"),
        "index": pandas.Index([5, 6, 7], dtype="uint8"),
    }
    for layout in ("wide", "long"):
        found = matrics.to_frame(matrics.score(STACK[1], "mcc"), axes=kinds, layout=layout)
        for name, column in kinds.items():
            assert found[name].dtype == column.dtype
            assert found[name].tolist() == column.tolist()


def test_polars() -> None:
    """The same as of pandas, column by column."""
    polars = pytest.importorskip("polars")
    from polars.testing import assert_frame_equal

    scores = matrics.score(STACK, ["mcc", "recall:class"])
    wide = matrics.to_frame(scores, axes=AXES, library="polars")
    expected = matrics.to_frame(scores, axes=AXES)
    assert_frame_equal(wide, polars.DataFrame({name: expected[name].to_list() for name in expected}))
    long = matrics.to_frame(scores, axes=AXES, library="polars", layout="long")
    assert long.schema["class"] == polars.String
    assert long["class"].null_count() == 6
    ids = polars.DataFrame({"day": polars.Series(["a", "b", "a"], dtype=polars.Enum(["b", "a"])), "n": [1, 2, 3]})
    found = matrics.to_frame(matrics.interval(STACK[0], "mcc"), axes=ids, library="polars")
    assert_frame_equal(found[["day", "n"]], ids)
    assert found.columns[2:] == ["mcc", "mcc/low", "mcc/high", "mcc/standard_error", "mcc/status"]
    with pytest.raises(TypeError, match=r"axes: expected text as the names of columns of Polars, got \[1\]"):
        matrics.to_frame(matrics.score(STACK[0], "mcc"), axes={1: range(3)}, library="polars")
    # Columns of the other library, and of NumPy.
    other = matrics.to_frame(matrics.score(STACK[0], "mcc"), axes={"n": pandas.Series([1, 2, 3])}, library="polars")
    assert other["n"].to_list() == [1, 2, 3]
    back = matrics.to_frame(matrics.score(STACK[0], "mcc"), axes={"n": polars.Series([1, 2, 3]), "k": np.arange(3)})
    assert back["n"].tolist() == [1, 2, 3]


@pytest.mark.parametrize("library", ["pandas", "polars"])
def test_a_library_that_is_missing(library: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, library, None)
    with pytest.raises(ImportError, match=f"to_frame needs {library}: python -m pip install {library}"):
        matrics.to_frame(matrics.score(STACK), library=library)
