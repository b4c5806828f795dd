"""Data frames of labels, by pandas and by Polars, to one matrix for each group."""

from __future__ import annotations

import datetime as dt
import json
import subprocess
import sys
from typing import Any

import numpy as np
import pytest

import matrics

pandas = pytest.importorskip("pandas")

RANDOM = np.random.default_rng(0)
N = 500
NAMES = np.asarray(["cat", "dog", "owl"])


def table() -> dict[str, list[Any]]:
    """Labels of text, two columns of groups, and weights."""
    return {
        "y_true": NAMES[RANDOM.integers(0, 3, N)].tolist(),
        "y_pred": NAMES[RANDOM.integers(0, 3, N)].tolist(),
        "site": np.asarray(["west", "east", "north"])[RANDOM.integers(0, 3, N)].tolist(),
        "day": [dt.date(2024, 1, 1 + int(day)) for day in RANDOM.integers(0, 2, N)],
        "weight": RANDOM.random(N).tolist(),
    }


@pytest.fixture(params=["pandas", "polars"])
def library(request: pytest.FixtureRequest) -> Any:
    return pytest.importorskip(request.param)


def test_one_matrix_a_group(library: Any) -> None:
    """Sorted by the first column, then by the second; pandas' own groups and crosstab are the reference."""
    rows = table()
    counts = matrics.frames.count(library.DataFrame(rows), by=["site", "day"])
    frame = pandas.DataFrame(rows)
    parts = frame.groupby(["site", "day"])
    assert counts.labels == ("cat", "dog", "owl")
    assert counts.class_names == ("cat", "dog", "owl")
    found = list(zip(counts.groups["site"].to_list(), counts.groups["day"].to_list(), strict=True))
    assert found == [name for name, _ in parts]
    assert counts.matrix.dtype == np.int64
    for (_, part), matrix in zip(parts, counts.matrix, strict=True):
        np.testing.assert_array_equal(matrix, pandas.crosstab(part["y_true"], part["y_pred"]))
    weighted = matrics.frames.count(library.DataFrame(rows), by="site", sample_weight="weight")
    for (_, part), matrix in zip(frame.groupby("site"), weighted.matrix, strict=True):
        sums = pandas.crosstab(part["y_true"], part["y_pred"], part["weight"], aggfunc="sum")
        np.testing.assert_allclose(matrix, sums)


def test_from_predictions_to_scores(library: Any) -> None:
    """The groups are the axes, with their types."""
    frame = library.DataFrame(table())
    counts = matrics.frames.count(frame, by=("day", "site"))
    name = library.__name__
    found = matrics.to_frame(counts.score("mcc, recall:class, f1"), axes=counts.groups, library=name)
    by_class = ["recall of cat", "recall of dog", "recall of owl"]
    assert list(found.columns) == ["day", "site", "mcc", *by_class, "f1, macro"]
    scores = matrics.score(counts.matrix, "mcc, recall:class, f1")
    named = matrics.to_frame(scores, axes=counts.groups, class_names=counts.class_names, library=name)
    assert named.equals(found)
    assert len(found) == 6
    for column in ("day", "site"):
        assert found[column].dtype == frame[column].dtype
        assert found[column].to_list() == counts.groups[column].to_list()


def test_results_are_tables_and_texts(library: Any) -> None:
    """One row a cell, what JSON takes, and a line on the screen however many numbers there are."""
    frame = library.DataFrame(table())
    counts = matrics.frames.count(frame, by=["site", "day"])
    name = library.__name__
    long = counts.to_frame(library=name)
    assert list(long.columns) == ["site", "day", "true", "pred", "count"]
    assert long["site"].dtype == frame["site"].dtype
    rows = list(zip(*(long[column].to_list() for column in long.columns), strict=True))
    given = pandas.DataFrame({column: frame[column].to_list() for column in ("site", "day", "y_true", "y_pred")})
    wanted = given.value_counts().to_dict()
    assert {row[:4]: row[4] for row in rows if row[4]} == wanted
    assert len(rows) == 6 * 9
    whole = matrics.frames.count(frame)
    np.testing.assert_array_equal(np.reshape(whole.to_frame(library=name)["count"].to_list(), (3, 3)), whole.matrix)
    back = json.loads(json.dumps(counts.to_dict()))
    assert back["matrix"] == counts.matrix.tolist()
    assert (back["labels"], back["groups"]["day"][0]) == (["cat", "dog", "owl"], "2024-01-01")
    said = "FrameCounts(matrix of shape (6, 3, 3), by=['site', 'day'], labels='cat', 'dog', 'owl')"
    assert repr(counts) == said
    many = matrics.frames.count(library.DataFrame({"y_true": range(500), "y_pred": range(500)}))
    assert repr(many).endswith("8, 9 and 490 more)")
    with pytest.raises(ValueError, match="by: expected columns other than true, pred and count, got 'pred'"):
        matrics.frames.count(frame.rename(**named(library, site="pred")), by="pred").to_frame(library=name)


def named(library: Any, **names: str) -> dict[str, Any]:
    """New names of columns, as each library takes them."""
    return {"columns": names} if library is pandas else {"mapping": names}


def test_without_groups(library: Any) -> None:
    rows = table()
    counts = matrics.frames.count(library.DataFrame(rows), y_true="y_pred", y_pred="y_true")
    np.testing.assert_array_equal(
        counts.matrix, pandas.crosstab(np.asarray(rows["y_pred"]), np.asarray(rows["y_true"]))
    )
    assert counts.groups == {}
    assert len(matrics.to_frame(matrics.score(counts.matrix), axes=counts.groups)) == 1


def test_which_classes(library: Any) -> None:
    """Those that are given; those that occur in either column; and the categories, if both columns have the same."""
    frame = library.DataFrame({"y_true": ["b", "a", "b"], "y_pred": ["b", "c", "b"]})
    with pytest.warns(UserWarning, match="only among the true labels: 'a'; only among the predicted labels: 'c'"):
        assert matrics.frames.count(frame).labels == ("a", "b", "c")
    given = matrics.frames.count(frame, labels=["c", "b", "a", "z"])
    assert given.labels == ("c", "b", "a", "z")
    assert given.matrix.tolist() == [[0, 0, 0, 0], [0, 2, 0, 0], [1, 0, 0, 0], [0, 0, 0, 0]]
    integers = matrics.frames.count(library.DataFrame({"y_true": [3, 10, 3], "y_pred": [10, 10, 3]}))
    assert integers.labels == (3, 10)
    assert integers.class_names == ("3", "10")
    both = matrics.frames.count(library.DataFrame({"y_true": [True, False, False], "y_pred": [True, True, False]}))
    assert both.labels == (False, True)
    assert both.matrix.tolist() == [[1, 1], [0, 1]]
    assert matrics.frames.count(library.DataFrame({"y_true": [0, 2], "y_pred": [2, 2]}), num_classes=4).labels == (
        *(0, 1, 2, 3),
    )
    with pytest.raises(TypeError, match=r"either num_classes=.* got both"):
        matrics.frames.count(frame, num_classes=3, labels=["a", "b", "c"])


def test_ignored_labels(library: Any) -> None:
    """They may have any prediction, and groups of nothing else are not there."""
    rows = {"y_true": ["a", "b", "?", "void"], "y_pred": ["a", "b", "x", "a"], "g": [1, 1, 1, 2], "w": [1, 2, 3, 4]}
    counts = matrics.frames.count(library.DataFrame(rows), by="g", ignore_index=["?", "void"], sample_weight="w")
    assert counts.labels == ("a", "b")
    assert counts.matrix.tolist() == [[[1, 0], [0, 2]]]
    assert counts.groups["g"].to_list() == [1]
    one = matrics.frames.count(library.DataFrame(rows), ignore_index="?", labels=["a", "b", "void"])
    assert int(one.matrix.sum()) == 3


FRAUD = {"y_true": ["ok", "fraud", "ok", "fraud", "fraud"], "y_pred": ["ok", "fraud", "ok", "ok", "fraud"]}


@pytest.mark.parametrize("spec", ["sensitivity", "recall", "npv", "plr", "dor"])
def test_nobody_has_said_which_of_two_texts_is_positive(library: Any, spec: str) -> None:
    """Neither the file nor the call: the value is the mean, and ``:binary`` raises, naming both and positive=."""
    counts = matrics.frames.count(library.DataFrame(FRAUD))
    for call in (
        counts.score,
        lambda spec, **options: matrics.score(counts.matrix, spec, class_names=counts.class_names, **options),
        lambda spec, **options: matrics.score(counts.matrix, spec, class_names=counts.labels, **options),
    ):
        with pytest.raises(
            ValueError, match=r"needs a positive class, and neither of 'fraud', 'ok' is the default: .*positive="
        ):
            call(f"{spec}:binary")
        ((key, mean),) = call(spec).items()
        assert matrics.to_frame({key: mean}).columns.tolist() == [f"{spec}, macro"]
        assert mean == matrics.score(counts.matrix, f"{spec}:macro")[f"{spec}:macro"]
        (value,) = call(spec, positive="fraud").values()
        (wanted,) = matrics.score([[2, 0], [1, 2]], spec).values()
        assert value == wanted


def test_whose_order_of_two_is_known(library: Any) -> None:
    """Class 1 is positive where labels are numbers or truth values, and ``:binary`` where the call gives the order."""
    frame = library.DataFrame(FRAUD)
    given = matrics.frames.count(frame, labels=["ok", "fraud"])
    assert given.score("recall:binary")["recall:binary"] == 2 / 3
    assert given.score("sensitivity")["sensitivity"] == pytest.approx((1 + 2 / 3) / 2)
    for no, yes in ((0, 1), (False, True), ("0", "1"), ("false", "true")):
        rows = {name: [yes if label == "fraud" else no for label in labels] for name, labels in FRAUD.items()}
        counts = matrics.frames.count(library.DataFrame(rows))
        assert counts.score("sensitivity, recall") == {"sensitivity": 2 / 3, "recall": 2 / 3}
        assert counts.score("recall", positive=no)["recall"] == 1
    unsaid = matrics.frames.count(frame).score("recall, mcc")  # neither of which is of one class
    assert unsaid["recall"] == pytest.approx((1 + 2 / 3) / 2)


def test_columns_say_what_was_measured(library: Any) -> None:
    counts = matrics.frames.count(library.DataFrame(FRAUD))
    name = library.__name__
    macro = matrics.to_frame(counts.score("recall"), library=name)
    fraud = matrics.to_frame(counts.score("recall, mcc", positive="fraud"), library=name)
    assert (list(macro.columns), list(fraud.columns)) == (["recall, macro"], ["recall of fraud", "mcc"])
    long = matrics.to_frame(counts.score("recall, recall:class"), library=name, layout="long")
    assert long["measure"].to_list() == ["recall, macro", "recall", "recall"]
    assert long["class"].to_list()[1:] == ["fraud", "ok"]


@pytest.mark.parametrize(
    ("pred", "said"),
    [
        (["ok", "ok"], "only among the true labels: 'fraud'"),
        (["ok", "Fraud"], "the labels 'fraud' and 'Fraud' are different classes"),
        (["ok", "fraud "], "the labels 'fraud' and 'fraud ' are different classes"),
        (["fine", "fraud"], "only among the true labels: 'ok'; only among the predicted labels: 'fine'"),
    ],
)
def test_odd_labels(library: Any, pred: list[str], said: str) -> None:
    """One line, at the user's call; labels= says that they are meant."""
    frame = library.DataFrame({"y_true": ["ok", "fraud"], "y_pred": pred})
    with pytest.warns(UserWarning, match=said) as caught:
        matrics.frames.count(frame)
    assert [warning.filename for warning in caught] == [__file__]
    matrics.frames.count(frame, labels=["ok", "fraud", "Fraud", "fraud ", "fine"])


def test_categories() -> None:
    kind = pandas.CategoricalDtype(["z", "b", "a"])
    rows = {"y_true": ["b", "a", "b"], "y_pred": ["b", "b", "a"], "g": ["a", "b", "b"]}
    frame = pandas.DataFrame(rows).astype(kind)
    counts = matrics.frames.count(frame, by="g")
    assert counts.labels == ("z", "b", "a")
    assert counts.groups["g"].tolist() == ["b", "a"]  # in the order of the categories, and only those that occur
    assert counts.groups["g"].dtype == kind
    other = frame.astype({"y_pred": pandas.CategoricalDtype(["b", "a"])})
    assert type(counts.labels) is tuple  # an order that someone has given
    assert type(matrics.frames.count(other).labels) is not tuple
    assert matrics.frames.count(other).labels == ("a", "b")
    polars = pytest.importorskip("polars")
    enum = polars.Enum(["z", "b", "a"])
    frame = polars.DataFrame(rows).cast(enum)
    counts = matrics.frames.count(frame, by="g")
    assert counts.labels == ("z", "b", "a")
    assert counts.groups["g"].to_list() == ["b", "a"]
    categories = frame.cast(polars.Categorical)
    assert matrics.frames.count(categories, by="g").labels == ("a", "b")
    assert matrics.frames.count(categories, by="g").groups["g"].to_list() == ["a", "b"]


@pytest.mark.parametrize("kind", ["Int8", "string", "boolean", "Float32", "object", "datetime64[us]"])
def test_kinds_of_groups_in_pandas(kind: str) -> None:
    values = pandas.Series({"string": ["b", "a", "b"], "boolean": [True, False, True]}.get(kind, [5, 2, 5])).astype(
        kind
    )
    frame = pandas.DataFrame({"y_true": [0, 1, 1], "y_pred": [0, 1, 0], "g": values})
    frame.index = [7, 7, 7]
    counts = matrics.frames.count(frame, by="g")
    assert counts.matrix.tolist() == [[[0, 0], [0, 1]], [[1, 0], [1, 0]]]
    assert counts.groups["g"].dtype == values.dtype
    assert counts.groups["g"].tolist() == values.iloc[[1, 0]].tolist()


def test_kinds_of_groups_in_polars() -> None:
    polars = pytest.importorskip("polars")
    from polars.testing import assert_series_equal

    base = polars.Series("g", [5, 2, 5])
    for kind in (polars.UInt8, polars.Float32, polars.Datetime, polars.Duration, polars.Decimal(5, 1)):
        frame = polars.DataFrame({"y_true": [0, 1, 1], "y_pred": [0, 1, 0], "g": base.cast(kind)})
        counts = matrics.frames.count(frame, by="g")
        assert counts.matrix.tolist() == [[[0, 0], [0, 1]], [[1, 0], [1, 0]]]
        assert_series_equal(counts.groups["g"], base.cast(kind)[[1, 0]])


def test_many_groups(library: Any) -> None:
    """More of them than there are places to mark, so that they are sorted."""
    rows = {"y_true": [0, 1] * 200, "y_pred": [1, 0] * 200, "a": list(range(400)), "b": list(range(400, 0, -1))}
    rows["c"] = rows["b"]
    counts = matrics.frames.count(library.DataFrame(rows), by=["a", "b", "c"])
    assert counts.matrix.shape == (400, 2, 2)
    assert counts.groups["a"].to_list() == rows["a"]
    assert counts.groups["c"].to_list() == rows["b"]
    assert (counts.matrix.sum((1, 2)) == 1).all()


def test_no_rows(library: Any) -> None:
    frame = library.DataFrame({"y_true": ["a"], "y_pred": ["a"], "g": [1]})[:0]
    assert matrics.frames.count(frame, labels=["a", "b"]).matrix.tolist() == [[0, 0], [0, 0]]
    counts = matrics.frames.count(frame, by="g", labels=["a", "b"])
    assert counts.matrix.shape == (0, 2, 2)
    assert len(matrics.to_frame(matrics.score(counts.matrix), axes=counts.groups)) == 0
    with pytest.raises(ValueError, match=r"expected at least one row, got none: pass labels="):
        matrics.frames.count(frame)
    if library is pandas:
        with pytest.raises(ValueError, match=r"expected at least one row, got none"):  # nor any categories
            matrics.frames.count(frame.astype({"y_true": "category", "y_pred": "category"}))


def test_what_is_refused(library: Any) -> None:
    frame = library.DataFrame(table())
    refused = [
        ({"y_true": "truth"}, "frame: expected a column 'truth', got the columns 'y_true', 'y_pred'"),
        ({"by": "hospital"}, "frame: expected a column 'hospital'"),
        ({"by": ["site", "site"]}, "by: expected different columns"),
        ({"labels": ["cat", "dog"]}, "column 'y_true': expected one of the labels 'cat', 'dog', got 'owl' at position"),
        ({"labels": ["cat", "cat"]}, "labels: expected different labels"),
    ]
    for options, message in refused:
        with pytest.raises(ValueError, match=message):
            matrics.frames.count(frame, **options)
    with pytest.raises(ValueError, match=r"columns 'weight' and 'weight': expected labels, .* which is not whole"):
        matrics.frames.count(frame, y_true="weight", y_pred="weight")
    mixed = library.DataFrame({"y_true": ["a", "b"], "y_pred": [0, 1]})
    with pytest.raises(TypeError, match=r"expected labels that have an order, .*: pass labels="):
        matrics.frames.count(mixed)
    assert matrics.frames.count(mixed, labels=["a", "b", 0, 1]).matrix.sum() == 2
    negative = library.DataFrame({"y_true": [0, 1], "y_pred": [0, 1], "w": [1.0, -2.0]})
    with pytest.raises(ValueError, match=r"column 'w': expected finite weights of at least 0, got -2 at position 1"):
        matrics.frames.count(negative, sample_weight="w")
    lists = library.DataFrame({"y_true": [0, 1], "y_pred": [0, 1], "g": [[1], [2]]})
    with pytest.raises(TypeError, match="column 'g': expected values of the same kind, such as numbers, text or times"):
        matrics.frames.count(lists, by="g")
    parts = library.DataFrame({"y_true": [{"a": 1}, {"a": 2}], "y_pred": [0, 1]})
    with pytest.raises(
        TypeError, match="column 'y_true': expected values of the same kind, such as numbers, text or times"
    ):
        matrics.frames.count(parts)
    for column in ("site", "day"):
        with pytest.raises(TypeError, match=f"column '{column}': expected weights, which are numbers, got"):
            matrics.frames.count(frame, sample_weight=column)


@pytest.mark.parametrize("column", ["y_true", "y_pred", "site", "weight"])
def test_missing_values(library: Any, column: str) -> None:
    """By the name of the column, and by the position of the first."""
    rows = table()
    rows[column][3] = rows[column][8] = None
    message = f"column '{column}': expected a value in every row, got 2 missing, the first at position 3"
    with pytest.raises(ValueError, match=message):
        matrics.frames.count(library.DataFrame(rows), by="site", sample_weight="weight")
    if column == "weight":
        rows[column][3] = rows[column][8] = float("nan")
        with pytest.raises(ValueError, match=message):
            matrics.frames.count(library.DataFrame(rows), by="site", sample_weight="weight")


def test_names_of_columns_that_are_not_text() -> None:
    frame = pandas.DataFrame({0: ["a", "b"], 1: ["b", "a"], ("site", 2): ["s", "n"], 3: [8, 9]})
    counts = matrics.frames.count(frame, y_true=0, y_pred=1, by=3)
    assert counts.groups[3].tolist() == [8, 9]
    assert matrics.frames.count(frame, y_true=0, y_pred=1, by=[("site", 2), 3]).matrix.tolist() == [
        [[0, 0], [1, 0]],
        [[0, 1], [0, 0]],
    ]
    assert list(matrics.to_frame(matrics.score(counts.matrix, "accuracy"), axes=counts.groups)) == [3, "accuracy"]


def test_what_is_no_data_frame() -> None:
    frame = pandas.DataFrame(table())
    with pytest.raises(TypeError, match=r"frame: expected a data frame of pandas or Polars, .*, got a list"):
        matrics.frames.count([table()])
    with pytest.raises(TypeError, match="got a Series of pandas"):
        matrics.frames.count(frame["site"])
    twice = pandas.concat([frame, frame["site"]], axis=1)
    with pytest.raises(ValueError, match="frame: expected a column 'site', got several"):
        matrics.frames.count(twice, by="site")
    polars = pytest.importorskip("polars")
    with pytest.raises(
        TypeError, match=r"a LazyFrame: collect it first, frame.select\(\['y_true', 'y_pred', 'site'\]\)"
    ):
        matrics.frames.count(polars.LazyFrame(table()), by="site")


def test_what_is_not_imported() -> None:
    code = """if True:
        import sys
        sys.modules["pyarrow"] = None
        import matrics
        assert not {"pandas", "polars", "xarray", "dask"} & set(sys.modules)
        import pandas
        frame = pandas.DataFrame({"site": ["s", "n"], "y_true": ["a", "b"], "y_pred": ["b", "b"]})
        counts = matrics.frames.count(frame, by="site", labels=["a", "b"])
        print(matrics.to_frame(matrics.score(counts.matrix, "accuracy"), axes=counts.groups).to_dict("list"))
    """
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert done.stdout == "{'site': ['n', 's'], 'accuracy': [1.0, 0.0]}\n"


@pytest.mark.sampled(1)
def test_too_many_cells(library: Any) -> None:
    frame = library.DataFrame({"y_true": list(range(40_000)), "y_pred": list(range(40_000))})
    with pytest.raises(ValueError, match="got 40,000 classes in 1 groups, which need too much memory"):
        matrics.frames.count(frame)


# Columns as arguments -------------------------------------------------------------------------------------------------


def columns(values: list[Any]) -> list[Any]:
    """A column in every type that holds these values."""
    polars = pytest.importorskip("polars")
    kinds = ["string", "category", "object"] if isinstance(values[0], str) else ["Int64", "category", "int64[pyarrow]"]
    found = [pandas.Series(values, dtype=kind) for kind in kinds] + [polars.Series(values)]
    if isinstance(values[0], str):
        names = sorted({value for value in values if value})
        found += [pandas.Series(values), polars.Series(values, dtype=polars.Enum(names))]
        found += [polars.Series(values, dtype=polars.Categorical)]
    return found


def test_columns_as_labels() -> None:
    """Of pandas and of Polars, categorical and nullable ones, and text."""
    pytest.importorskip("pyarrow")
    texts, numbers = ["a", "b", "b", "a"], [0, 1, 1, 0]
    expected = [[1, 1], [0, 2]]
    for true in columns(texts):
        for pred in columns(["a", "b", "b", "b"]):
            assert matrics.confusion_matrix(true, pred, labels=["a", "b"]).tolist() == expected
    for true in columns(numbers):
        for pred in columns([0, 1, 1, 1]):
            assert matrics.confusion_matrix(true, pred, num_classes=2).tolist() == expected
            assert matrics.confusion_matrix(true, pred, labels=[0, 1]).tolist() == expected


def test_columns_with_missing_values() -> None:
    """Refused under the name of the argument, whether true or predicted."""
    pytest.importorskip("pyarrow")
    for values, options in (
        (["a", "b", None], {"labels": ["a", "b"]}),
        ([0, 1, None], {"num_classes": 2}),
        ([0, 1, None], {"labels": [0, 1]}),
    ):
        whole = [values[0]] * 3
        for column in columns(values):
            with pytest.raises(ValueError, match=r"y_true: .* \(2,\)"):
                matrics.confusion_matrix(column, whole, **options)
            with pytest.raises(ValueError, match=r"y_pred: .* \(2,\)"):
                matrics.confusion_matrix(whole, column, **options)


def test_polars_scores_of_classes() -> None:
    """A column of scores for each class, taken in the order of the labels; and a nullable column for two classes."""
    polars = pytest.importorskip("polars")
    scores = polars.DataFrame({"b": [0.9, 0.2, 0.3], "a": [0.1, 0.8, 0.7]})
    true = polars.Series(["b", "a", "b"])
    assert matrics.confusion_matrix(true, scores, labels=["a", "b"]).tolist() == [[1, 0], [1, 1]]
    for column in (polars.Series([0.9, 0.2, 0.3]), pandas.Series([0.9, 0.2, 0.3], dtype="Float64")):
        assert matrics.confusion_matrix(true, column, labels=["a", "b"], threshold=0.5).tolist() == [[1, 0], [1, 1]]
    labels = polars.DataFrame({"first": [0, 1, 1], "second": [1, 1, 0]})
    assert matrics.confusion_matrix([0, 1, 1], labels, num_classes=2).tolist() == [[[1, 0], [0, 2]], [[0, 1], [1, 1]]]


@pytest.mark.parametrize("library", ["pandas", "polars"])
def test_intervals_of_a_column_of_weights(library: str) -> None:
    """Each group by itself: the squares are counted with the weights, also of whole ones, which look like counts."""
    frames = pytest.importorskip(library)
    rng = np.random.default_rng(0)
    site, true = rng.integers(0, 2, 800), rng.integers(0, 2, 800)
    pred = np.where(rng.random(800) < 0.8, true, 1 - true)
    weights = rng.integers(1, 9, 800) * 10
    names = np.asarray(["fraud", "ok"])
    columns = {"site": site, "y_true": names[true].tolist(), "y_pred": names[pred].tolist(), "w": weights}
    counts = matrics.frames.count(frames.DataFrame(columns), by="site", sample_weight="w")
    found = counts.interval("accuracy, sensitivity, mcc", positive="fraud")
    for group in (0, 1):
        chosen = site == group
        right, share = (true == pred)[chosen], weights[chosen] / weights[chosen].sum()
        mean = (share * right).sum()
        np.testing.assert_allclose(found["accuracy"].estimate[group], mean)
        error = np.sqrt((share**2 * (right - mean) ** 2).sum())
        np.testing.assert_allclose(found["accuracy"].standard_error[group], error)
        of_fraud = chosen & (true == 0)
        share = weights[of_fraud] / weights[of_fraud].sum()
        np.testing.assert_allclose(found["sensitivity"].estimate[group], (share * (pred == 0)[of_fraud]).sum())
    assert (found["mcc"].status == 0).all()
    assert (found["mcc"].high - found["mcc"].low > 3 * np.subtract(*of_counts(counts, "mcc"))).all()
    plain = matrics.frames.count(frames.DataFrame(columns), by="site")
    assert plain.squared_weights is None
    one, other = plain.interval("mcc")["mcc"], matrics.interval(plain.matrix, "mcc")["mcc"]
    np.testing.assert_array_equal(one.low, other.low)
    labelled = counts.interval("recall:class")
    assert set(labelled) == {"recall/fraud", "recall/ok"}


def of_counts(counts: Any, metric: str) -> tuple[Any, Any]:
    """The limits of the same matrix if its weights were counts."""
    one = matrics.interval(counts.matrix, metric)[metric]
    return one.high, one.low
