"""Counts of dask data frames of labels, against matrics on the same rows in memory."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from in_dask import refuse_to_compute

import matrics

dask = pytest.importorskip("dask")
pd = pytest.importorskip("pandas")
dd = pytest.importorskip("dask.dataframe")
on_dask = pytest.importorskip("matrics.dask")

RANDOM = np.random.default_rng(19)
WORDS = np.array(["cat", "dog", "eel"])


@pytest.fixture(autouse=True)
def _one_thread() -> Any:
    with dask.config.set(scheduler="synchronous"):
        yield


def rows(number: int = 60, **columns: Any) -> Any:
    """Labels in words, the site and the year of each, and a weight."""
    drawn = {
        "y_true": WORDS[RANDOM.integers(0, 3, number)],
        "y_pred": WORDS[RANDOM.integers(0, 3, number)],
        "site": np.array(["north", "south"])[RANDOM.integers(0, 2, number)],
        "year": RANDOM.integers(2020, 2023, number),
        "weight": RANDOM.integers(1, 9, number) / 4,
    }
    return pd.DataFrame({**drawn, **columns})


def by_hand(table: Any, by: list[str], classes: Any, weight: str | None = None) -> tuple[Any, np.ndarray]:
    """The groups and their matrices, from pandas and matrics in memory."""
    groups, matrices = [], []
    for key, part in table.groupby(by, sort=True, observed=True):
        groups.append(key)
        worth = None if weight is None else part[weight]
        matrices.append(matrics.confusion_matrix(part["y_true"], part["y_pred"], labels=classes, sample_weight=worth))
    return pd.DataFrame(groups, columns=by), np.stack(matrices)


@pytest.mark.sampled(1)
@pytest.mark.parametrize("partitions", [1, 3, 20])
@pytest.mark.parametrize("split_every", [None, 2])
def test_groups_are_those_in_memory(partitions: int, split_every: int | None) -> None:
    table = rows()
    frame = dd.from_pandas(table, npartitions=partitions)
    found = on_dask.count_frame(frame, by=["site", "year"], split_every=split_every).compute()
    groups, wanted = by_hand(table, ["site", "year"], WORDS)
    assert isinstance(found, matrics.results.FrameCounts)
    assert found.labels == tuple(WORDS)
    np.testing.assert_array_equal(found.matrix, wanted)
    assert found.matrix.dtype == np.int64
    pd.testing.assert_frame_equal(pd.DataFrame(found.groups), groups, check_dtype=False)


def test_without_groups_there_is_one_matrix() -> None:
    table = rows()
    found = on_dask.count_frame(dd.from_pandas(table, npartitions=3)).compute()
    np.testing.assert_array_equal(
        found.matrix, matrics.confusion_matrix(table["y_true"], table["y_pred"], labels=WORDS)
    )
    assert found.groups == {}


def test_weights_other_names_and_ignored_labels() -> None:
    table = rows()
    kept = table[table["y_true"] != "eel"]
    _, wanted = by_hand(kept, ["site"], WORDS, "weight")
    frame = dd.from_pandas(table.rename(columns={"y_true": "count", "y_pred": "pred", "site": "true"}), npartitions=4)
    found = on_dask.count_frame(
        frame, y_true="count", y_pred="pred", by="true", sample_weight="weight", ignore_index="eel", labels=WORDS
    ).compute()
    np.testing.assert_allclose(found.matrix, wanted, rtol=1e-12)
    assert list(found.groups["true"]) == ["north", "south"]


@pytest.mark.parametrize("kind", ["int8", "Int64", "bool", "category", "object"])
def test_kinds_of_labels(kind: str) -> None:
    codes = RANDOM.integers(0, 2, (2, 40))
    given = codes.astype(bool) if kind == "bool" else codes
    words = kind in {"category", "object"}
    table = pd.DataFrame(WORDS[codes].T if words else given.T, columns=["y_true", "y_pred"]).astype(kind)
    found = on_dask.count_frame(dd.from_pandas(table, npartitions=3)).compute()
    np.testing.assert_array_equal(found.matrix, matrics.confusion_matrix(*codes, num_classes=2))
    assert found.labels == (("cat", "dog") if words else (False, True) if kind == "bool" else (0, 1))


def test_classes_that_are_given_are_there_without_samples() -> None:
    table = rows(y_true=[0] * 60, y_pred=[2] * 60)
    frame = dd.from_pandas(table, npartitions=2)
    assert on_dask.count_frame(frame, num_classes=4).compute().matrix.tolist()[0] == [0, 0, 60, 0]
    none = on_dask.count_frame(frame[frame["y_true"] > 5], num_classes=3, by="site").compute()
    assert none.matrix.shape == (0, 3, 3)
    assert on_dask.count_frame(frame[frame["y_true"] > 5], num_classes=3).compute().matrix.sum() == 0
    with pytest.raises(ValueError, match="columns 'y_true' and 'y_pred': expected at least one row, got none"):
        on_dask.count_frame(frame[frame["y_true"] > 5]).compute()


def test_groups_by_a_column_of_labels_and_by_categories() -> None:
    table = rows().astype({"site": "category"})
    found = on_dask.count_frame(dd.from_pandas(table, npartitions=3), by=["site", "y_true"]).compute()
    assert len(found.groups["site"]) == 6
    np.testing.assert_array_equal(found.matrix.sum(axis=-1).argmax(axis=-1), [0, 1, 2] * 2)


def test_categories_that_dask_knows_are_classes_and_order_groups_as_in_memory() -> None:
    """Those of labels are classes though no sample has them, and groups keep their type."""
    labels = pd.CategoricalDtype(["eel", "dog", "cat", "ant"])
    sites = pd.CategoricalDtype(["south", "north", "east"])
    table = rows().astype({"y_true": labels, "y_pred": labels, "site": sites})
    frame = dd.from_pandas(table, npartitions=3)
    for by in ("site", ["year", "site"]):
        found, wanted = on_dask.count_frame(frame, by=by).compute(), matrics.frames.count(table, by=by)
        assert found.labels == wanted.labels == tuple(labels.categories)
        np.testing.assert_array_equal(found.matrix, wanted.matrix)
        pd.testing.assert_frame_equal(pd.DataFrame(found.groups), pd.DataFrame(wanted.groups))
    # The same categories in another order, which pandas takes for the same type.
    other = table.assign(y_pred=table["y_pred"].cat.reorder_categories(labels.categories[::-1]))
    assert other["y_pred"].dtype == labels
    assert on_dask.count_frame(dd.from_pandas(other, npartitions=3)).compute().labels == ("cat", "dog", "eel")
    assert matrics.frames.count(other).labels == ("cat", "dog", "eel")
    unknown = on_dask.count_frame(frame.assign(y_true=frame["y_true"].cat.as_unknown()), by="site").compute()
    assert unknown.labels == ("cat", "dog", "eel")


@pytest.mark.parametrize("kind", ["uint64", "datetime64[s]"])
def test_labels_are_those_in_memory(kind: str) -> None:
    """Integers beyond those with a sign, and times."""
    far = np.asarray([2**63 + 5, 7, 7, 2**63 + 5], np.uint64) if kind == "uint64" else np.arange(4).astype(kind)
    table = pd.DataFrame({"y_true": far, "y_pred": far[::-1]})
    found, wanted = on_dask.count_frame(dd.from_pandas(table, npartitions=2)).compute(), matrics.frames.count(table)
    assert found.labels == wanted.labels
    np.testing.assert_array_equal(found.matrix, wanted.matrix)


def test_nothing_is_computed_while_the_graph_is_built_and_nothing_is_shuffled() -> None:
    with dask.config.set(scheduler=refuse_to_compute):
        made = dd.from_delayed([dask.delayed(refuse_to_compute)()], meta=rows(1))
        counted = on_dask.count_frame(made, by="site")
        with pytest.raises(AssertionError, match="something was computed"):
            counted.compute()
    counted = on_dask.count_frame(dd.from_pandas(rows(), npartitions=8), by="site")
    names = " ".join(map(str, dict(counted.__dask_graph__())))
    assert "shuffle" not in names
    matrix, scored = dask.compute(counted.matrix, dask.delayed(matrics.mcc)(counted.matrix))  # as any delayed object
    np.testing.assert_array_equal(matrics.mcc(matrix), scored)


def test_only_the_columns_that_are_named_are_read(tmp_path: Any) -> None:
    pytest.importorskip("pyarrow")
    table = rows()
    table.to_parquet(tmp_path / "labels.parquet")
    frame = dd.read_parquet(tmp_path / "labels.parquet")
    found = on_dask.count_frame(frame, by="site")
    np.testing.assert_array_equal(found.compute().matrix, by_hand(table, ["site"], WORDS)[1])
    with pytest.raises(ValueError, match=r"expected a column 'town', got the columns 'y_true', 'y_pred', 'site'"):
        on_dask.count_frame(frame, by="town")


@pytest.mark.exhaustive
def test_what_cannot_be_counted_is_refused_with_its_column() -> None:
    def counted(**columns: Any) -> Any:
        return on_dask.count_frame(dd.from_pandas(rows(**columns), npartitions=2), by="site", labels=WORDS).compute()

    words = list(WORDS[[0] * 60])
    with pytest.raises(
        ValueError, match=r"column 'y_pred': expected a value in every row, got 1 missing, the first at the index 59"
    ):
        counted(y_pred=[*words[:-1], None])
    with pytest.raises(ValueError, match=r"column 'site': expected a value in every row, got 1 missing"):
        counted(site=[*words[:-1], None])
    with pytest.raises(ValueError, match=r"column 'site': expected a value in every row, got 2 missing"):
        counted(site=["", "", *words[2:]])
    with pytest.raises(
        ValueError, match=r"column 'y_true': expected one of the labels 'cat', 'dog', 'eel', got 'elk' at the index 59"
    ):
        counted(y_true=[*words[:-1], "elk"])
    with pytest.raises(TypeError, match=r"column 'y_true': expected labels, integers or text, got float64"):
        counted(y_true=np.ones(60))
    with pytest.raises(TypeError, match="frame: expected a dask data frame, got pandas"):
        on_dask.count_frame(rows())
    frame = dd.from_pandas(rows(weight=[-1.0] + [1.0] * 59), npartitions=2)
    with pytest.raises(
        ValueError, match=r"column 'weight': expected finite weights of at least 0, got -1 at the index 0"
    ):
        on_dask.count_frame(frame, sample_weight="weight").compute()
    with pytest.raises(TypeError, match=r"column 'site': expected weights, which are numbers, got str"):
        on_dask.count_frame(frame, sample_weight="site").compute()
    with pytest.raises(ValueError, match=r"by: expected different columns, got \['site', 'site'\]"):
        on_dask.count_frame(frame, by=["site", "site"])
    with pytest.raises(TypeError, match=r"a DataFrame of dask, which matrics\.dask\.count_frame counts"):
        matrics.frames.count(frame)
    with pytest.raises(TypeError, match="got both"):
        on_dask.count_frame(frame, labels=WORDS, num_classes=3)
    mixed = dd.from_pandas(rows(y_pred=np.arange(60)), npartitions=2)
    with pytest.raises(TypeError, match=r"expected labels that have an order, .*: pass labels="):
        on_dask.count_frame(mixed).compute()
    names = dd.from_pandas(rows(10**5, y_true=np.arange(10**5), y_pred=np.arange(10**5)), npartitions=2)
    with pytest.raises(ValueError, match="got 100,000 classes in 1 groups, which need too much memory"):
        on_dask.count_frame(names).compute()


def test_columns_of_frames_are_counted_as_arrays() -> None:
    """Their chunks are of unknown sizes."""
    table = rows(y_true=RANDOM.integers(0, 3, 60), y_pred=RANDOM.integers(0, 3, 60))
    frame = dd.from_pandas(table, npartitions=4)
    found = on_dask.confusion_matrix(frame["y_true"], frame["y_pred"], num_classes=3)
    np.testing.assert_array_equal(found, matrics.confusion_matrix(table["y_true"], table["y_pred"], num_classes=3))
    table = rows()
    words = dd.from_pandas(table.astype({"year": "Int64"}), npartitions=3)
    found = on_dask.confusion_matrix(
        words["y_true"], words["y_pred"], labels=WORDS, groups=words["year"] - 2020, num_groups=3
    )
    np.testing.assert_array_equal(found, by_hand(table, ["year"], WORDS)[1])
