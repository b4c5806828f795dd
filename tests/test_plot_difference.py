"""Pictures of the difference of two confusion matrices, and the tests of its cells."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest

import matrics
from matrics import plot
from matrics._uncertainty import cells

pytest.importorskip("matplotlib")

from pictures import compare

A = np.array([[50, 13, 2], [24, 60, 1], [0, 2, 40]])
B = np.array([[60, 3, 2], [4, 80, 1], [0, 0, 30]])


def labels(seed: int = 3) -> np.ndarray:
    """True labels, and those of two classifiers of which the first errs more often."""
    random = np.random.default_rng(seed)
    true = random.integers(0, 4, 600)
    second = np.where(random.random(600) < 0.9, true, random.integers(0, 4, 600))
    first = np.where(random.random(600) < 0.7, second, random.integers(0, 4, 600))
    return np.stack([true, first, second])


@pytest.mark.parametrize(
    ("name", "display"),
    [
        ("difference_two_sets", lambda: plot.difference(A, B, class_names=["cat", "dog", "fox"])),
        pytest.param(
            "difference_paired",
            lambda: plot.difference(
                joint=matrics.stats.joint_confusion_matrix(*labels(), num_classes=4), names=["old", "new"]
            ),
            marks=pytest.mark.exhaustive,
        ),
        pytest.param(
            "difference_60",
            lambda: plot.difference(100 * np.eye(60) + 20, 160 * np.eye(60) + 3 * np.eye(60, k=1) + 19),
            marks=pytest.mark.exhaustive,
        ),
    ],
)
def test_it_looks_as_it_did(name: str, display: object, tmp_path: Path) -> None:
    compare(display(), name, tmp_path)


def test_differences_and_marks() -> None:
    display = plot.difference(A, B, class_names=["cat", "dog", "fox"], names=["old", "new"])
    shares = [matrix / matrix.sum(axis=1, keepdims=True) for matrix in (A, B)]
    np.testing.assert_allclose(display.difference, shares[1] - shares[0])
    texts = [text.get_text() for text in display.ax_.texts]
    assert texts[:4] == ["+15", "−15", "0", "−24"]
    assert "" not in texts  # neither matrix has a fox that is predicted as a cat
    assert display.changes[0][:2] == ("dog", "cat")
    assert "dog predicted as cat: 28.2% → 4.7% (p < 0.001)" in texts[-1]
    assert "of 8 cells differ by more than chance" in display.describe()


def test_of_different_samples_the_test_is_fishers() -> None:
    """As SciPy has it, for each cell."""
    stats = pytest.importorskip("scipy.stats")
    random = np.random.default_rng(0)
    for _ in range(3):
        a, b = random.integers(0, 12, (2, 4, 4)) * np.array([1, 1, 1, 60])
        a[2], b[3, 0] = 0, 0
        found = cells.independent_cells(a, b)
        assert np.isnan(found[2]).all()
        for i, j in np.ndindex(4, 4):
            if i != 2:
                tables = [[x[i, j], x[i].sum() - x[i, j]] for x in (a, b)]
                assert found[i, j] == pytest.approx(stats.fisher_exact(tables).pvalue, rel=1e-9)


def test_many_samples_are_no_burden() -> None:
    """Where numbers are large, the exact test is the asymptotic one; and far away its probability is below floats."""
    stats = pytest.importorskip("scipy.stats")
    z = 10_000 / np.sqrt(2e8 * 0.25)
    found = cells.independent_cells(np.array([[50_000_000, 50_000_000]]), np.array([[50_010_000, 49_990_000]]))
    np.testing.assert_allclose(found, 2 * stats.norm.sf(z), rtol=1e-3)
    assert cells.independent_cells(np.array([[0, 10**7]]), np.array([[10**7, 0]])).max() == 0


def test_of_the_same_samples_the_test_is_mcnemars() -> None:
    """As statsmodels has it, from the labels themselves."""
    tables = pytest.importorskip("statsmodels.stats.contingency_tables")
    true, first, second = labels()
    found = cells.paired_cells(matrics.stats.joint_confusion_matrix(true, first, second, num_classes=5).astype(float))
    assert np.isnan(found[4]).all()
    for i, j in np.ndindex(4, 4):
        both = [predicted[true == i] == j for predicted in (first, second)]
        table = [[np.sum(both[0] & both[1]), np.sum(both[0] & ~both[1])], [np.sum(~both[0] & both[1]), 0]]
        assert found[i, j] == pytest.approx(tables.mcnemar(table, exact=True).pvalue, rel=1e-9)


@pytest.mark.exhaustive
@pytest.mark.parametrize(("name", "other"), [("holm", "holm"), ("benjamini_hochberg", "fdr_bh")])
def test_corrections_are_those_of_statsmodels(name: str, other: str) -> None:
    multitest = pytest.importorskip("statsmodels.stats.multitest")
    p_values = np.random.default_rng(1).random((6, 7)) ** 4
    counted = np.arange(42).reshape(6, 7) % 5 > 0
    found = cells.adjusted(p_values, counted, name)
    np.testing.assert_allclose(found[counted], multitest.multipletests(p_values[counted], method=other)[1])
    np.testing.assert_array_equal(found[~counted], p_values[~counted])


@pytest.mark.exhaustive
def test_by_chance_alone_hardly_anything_is_marked() -> None:
    """Of matrices with the same shares at most one of twenty pairs has a mark, whichever test is made."""
    random = np.random.default_rng(2)
    shares = np.array([[0.8, 0.15, 0.05], [0.1, 0.85, 0.05], [0.3, 0.3, 0.4]])
    marks = np.zeros(2)
    for _ in range(60):
        a, b = (np.stack([random.multinomial(40, row) for row in shares]) for _ in range(2))
        marks[0] += plot.difference(a, b, top=0).beyond_chance.any()
        true = np.repeat(np.arange(3), 40)
        labels = [[random.choice(3, p=shares[k]) for k in true] for _ in range(2)]
        joint = matrics.stats.joint_confusion_matrix(true, *np.asarray(labels), num_classes=3)
        marks[1] += plot.difference(joint=joint, top=0).beyond_chance.any()
    assert (marks <= 60 * 0.05 + 3 * np.sqrt(60 * 0.05)).all()


def test_pairs_find_more() -> None:
    joint = matrics.stats.joint_confusion_matrix(*labels(), num_classes=4)
    paired = plot.difference(joint=joint, text=False)
    apart = plot.difference(joint.sum(2), joint.sum(1), text=False, what="count")
    np.testing.assert_array_equal(paired.a, apart.a)
    np.testing.assert_array_equal(apart.difference, joint.sum(1) - joint.sum(2))
    assert np.nansum(paired.p_values) < np.nansum(apart.p_values)
    assert "McNemar's exact test of the same samples" in paired.describe()


def test_what_is_not_tested_is_said() -> None:
    weighted = plot.difference(A / 2, B)
    assert np.isnan(weighted.p_values).all()
    assert "not tested for chance, as the counts are no whole numbers" in weighted.describe()
    same = plot.difference(A, A)
    assert not same.beyond_chance.any()
    assert "None of 8 cells differs by more than chance" in same.ax_.texts[-1].get_text()
    empty = plot.difference([[0, 0], [0, 0]], [[0, 0], [3, 3]])
    assert np.isnan(empty.difference).all()
    assert "no cell has samples for a test" in empty.describe()


def test_an_order_moves_classes_and_their_tests() -> None:
    usual, moved = plot.difference(A, B, text=False), plot.difference(A, B, order=[2, 0, 1], text=False)
    assert moved.class_names == ("2", "0", "1")
    np.testing.assert_array_equal(moved.p_values, usual.p_values[np.ix_([2, 0, 1], [2, 0, 1])])


@pytest.mark.sampled(1)
def test_arrays_of_any_library(backend: object) -> None:
    display = plot.difference(backend.asarray(A), backend.asarray(B), text=False, top=0)
    np.testing.assert_array_equal(display.a, A)
    joint = matrics.stats.joint_confusion_matrix(*labels(), num_classes=4)
    table = plot.difference(joint=backend.asarray(joint), text=False, top=0)
    np.testing.assert_array_equal(table.b, joint.sum(1))


@pytest.mark.sampled(2)
@pytest.mark.parametrize(
    ("given", "message"),
    [
        ({"a": A}, "expected two matrices, a and b, or joint="),
        ({"a": A, "b": B, "joint": np.ones((3, 3, 3))}, "joint: expected None with a and b"),
        ({"a": A, "b": np.eye(2)}, "the same classes, got 3 in a and 2 in b"),
        ({"a": [A, A], "b": B}, "a: expected a single confusion matrix"),
        ({"joint": A}, r"joint: expected counts \(n, n, n\)"),
        ({"a": A, "b": B, "correction": "bonferroni"}, "correction: expected 'holm' or"),
        ({"a": A, "b": B, "what": "counts"}, "what: expected 'share' or 'count'"),
        ({"a": A, "b": B, "what": "count"}, "different numbers of samples of a class"),
        ({"a": A, "b": B, "names": "ab"}, "names: expected the names of a and of b"),
        ({"a": A, "b": B, "text": "both"}, "text: expected 'auto'"),
        ({"a": A, "b": B, "top": 1.5}, "top: expected a number of differences"),
        ({"a": A, "b": B, "level": 95}, "level: expected"),
        ({"a": A, "b": -B}, "the cell -60"),
        ({"joint": -np.ones((2, 2, 2))}, "the cell -1"),
    ],
)
def test_errors_say_what_was_expected(given: dict, message: str) -> None:
    with pytest.raises((ValueError, TypeError), match=message):
        plot.difference(**given)


def test_an_infinite_cell_of_a_joint_table_is_refused() -> None:
    joint = np.ones((2, 2, 2))
    joint[0, 0, 1] = np.inf
    with pytest.raises(matrics.InvalidConfusionMatrix, match="inf"):
        plot.difference(joint=joint)


def test_chance_is_grey_and_small_differences_stay_small() -> None:
    """Half a point of which nothing is significant is no catastrophe: the scale ends at 5 points at least."""
    a = np.asarray([[970, 20, 10], [15, 975, 10], [12, 8, 980]])
    b = np.asarray([[972, 17, 11], [12, 979, 9], [12, 10, 978]])
    display = plot.difference(a, b)
    assert not display.beyond_chance.any()
    (image,) = display.ax_.images
    colours = np.asarray(image.get_array())
    np.testing.assert_array_equal(colours[..., 0], colours[..., 1])  # grey
    np.testing.assert_array_equal(colours[..., 0], colours[..., 2])
    assert colours.min() > 0.85  # and light: 0.4 points of 5
    worse = plot.difference(a, [[970, 20, 10], [15, 875, 110], [12, 8, 980]])
    colours = np.asarray(worse.ax_.images[0].get_array())
    assert worse.beyond_chance.tolist() == [[False] * 3, [False, True, True], [False] * 3]
    assert (colours[1, 1, 0] > colours[1, 1, 2] + 0.2) & (colours[1, 2, 0] > colours[1, 2, 2] + 0.2)  # orange
    assert "Grey: not more than chance." in display._lines()[1]


def test_cells_below_one_percent_are_seen() -> None:
    display = plot.confusion_matrix([[9960, 40], [5, 9995]])
    colours = np.asarray(display.figure_.axes[0].images[0].get_array())
    assert colours[0, 1, 2] < 0.92  # 0.4 %
    assert colours[1, 0, 2] < 0.96  # 0.05 %


def test_huge_counts_are_tested_by_a_normal_law(monkeypatch: pytest.MonkeyPatch) -> None:
    """With 1e15 samples all probabilities would fill the memory; with fewer the normal law is as exact as it says."""
    from matrics._uncertainty import cells

    tables = [(50_000_000 + step, 10**8, 50_000_000, 10**8) for step in (0, 3000, 12_000, 30_000)]
    exact = [cells.fisher(*table) for table in tables]
    monkeypatch.setattr(cells, "MOST_ERROR", 0)
    assert [cells.fisher(*table) for table in tables] == pytest.approx(exact, rel=1e-3)
    monkeypatch.undo()
    base = np.array([[1e15, 2e14], [3e14, 1e15]])
    found = plot.difference(base, base + np.array([[1e9, -1e9], [0, 0]]))
    assert found.beyond_chance.tolist() == [[True, True], [False, False]]
