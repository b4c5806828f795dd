"""Pictures of confusion matrices."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest

import matrics
from matrics import plot

pytest.importorskip("matplotlib")

from matplotlib import rcParams
from matplotlib.figure import Figure
from pictures import compare

CM = np.array([[50, 3, 2], [4, 60, 1], [0, 2, 40]])
NAMES = ["cat", "dog", "a fox in the wood"]


def many_classes(n: int, group: int) -> np.ndarray:
    """Classes k, k + group, k + 2 group, … are confused with each other."""
    number = np.arange(n)
    together = (number[:, None] - number) % group == 0
    return np.diag(number % 7 + 20) * 4 + 3 * together + (number[:, None] * 3 + number * 5) % 11 // 10


def texts(display: plot.Display) -> list[str]:
    return [text.get_text() for text in display.ax_.texts]


@pytest.mark.sampled(1)
@pytest.mark.parametrize(
    ("name", "display"),
    [
        ("confusion_two", lambda: plot.confusion_matrix([[9500, 300], [4, 0.5]])),
        ("confusion_names", lambda: plot.confusion_matrix(CM, class_names=NAMES)),
        ("confusion_stack", lambda: plot.confusion_matrix({"a": CM, "b": CM.T, "c": -CM}, class_names=NAMES)),
        ("confusion_20", lambda: plot.confusion_matrix(many_classes(20, 6), order="clusters")),
        ("confusion_60", lambda: plot.confusion_matrix(many_classes(60, 8), order="clusters", top=2)),
    ],
)
def test_it_looks_as_it_did(name: str, display: object, tmp_path: Path) -> None:
    compare(display(), name, tmp_path)


def test_a_picture_of_other_data_is_told_apart(tmp_path: Path) -> None:
    with pytest.raises(AssertionError, match="did not match"):
        compare(plot.confusion_matrix(CM.T, class_names=NAMES), "confusion_names", tmp_path)


def test_cells_have_counts_and_row_shares() -> None:
    cells = texts(plot.confusion_matrix(CM))
    assert cells[:3] == ["50\n91%", "3\n5%", "2\n4%"]
    assert "1\n2%" in cells
    assert texts(plot.confusion_matrix([[0, 0], [0, 5]], top=0)) == ["5\n100%"]  # no share of a row without samples
    assert texts(plot.confusion_matrix([[99_999, 1], [123_456_789, 5e17]], top=0)) == [
        "100k\n99.9%", "1\n<0.1%", "123M\n<0.1%", "5e+17\n99.9%",
    ]  # fmt: skip
    assert texts(plot.confusion_matrix(CM, text="count", top=0))[0] == "50"


def test_the_most_frequent_errors_have_names() -> None:
    display = plot.confusion_matrix(CM, class_names=NAMES, top=2)
    assert [error[:3] for error in display.top_confusions[0]] == [("dog", "cat", 4), ("cat", "dog", 3)]
    assert texts(display)[-1].splitlines()[1] == "dog predicted as cat: 4 (6.2% of dog)"
    assert display.describe().startswith("confusion matrix of 3 classes and 162 samples, 92.6% of them")
    assert texts(plot.confusion_matrix(np.eye(3), top=3)) == ["1\n100%"] * 3  # and no heading without errors


def test_labels_are_thinned_and_clusters_are_beside_each_other() -> None:
    cm = many_classes(200, 20)
    display = plot.confusion_matrix(cm, order="clusters")
    assert len(display.ax_.get_xticks()) == 40
    groups = np.array([int(name) % 20 for name in display.class_names])
    assert np.count_nonzero(np.diff(groups)) == 19  # each group is in one piece
    order = [int(name) for name in display.class_names]
    np.testing.assert_array_equal(display.matrices[0], cm[np.ix_(order, order)])
    np.testing.assert_array_equal(plot.confusion_matrix(CM, order=[2, 0, 1]).matrices[0, 0], [40, 0, 2])


def test_one_invalid_matrix_does_not_spoil_the_others() -> None:
    display = plot.confusion_matrix([CM, -CM])
    assert [axes.texts[0].get_text() for axes in display.ax_] == ["50\n91%", "invalid matrix"]
    assert "1: an invalid matrix." in display.describe()
    with pytest.raises(matrics.InvalidConfusionMatrix, match=r"the cell -50 at \[0, 0\]"):
        plot.confusion_matrix(-CM)


def test_nothing_is_registered_and_no_setting_is_changed() -> None:
    before = dict(rcParams)
    display = plot.confusion_matrix(CM)
    display.svg()
    assert dict(rcParams) == before
    assert "matplotlib.pyplot" not in sys.modules or not sys.modules["matplotlib.pyplot"].get_fignums()


def test_it_is_drawn_where_the_user_says() -> None:
    figure = Figure(figsize=(8, 4))
    left, right = figure.subplots(1, 2)
    display = plot.confusion_matrix(CM, ax=right)
    assert display.ax_ is right
    assert display.figure_ is figure
    assert not left.images
    assert display.plot().figure_ is not figure
    with pytest.raises(TypeError, match="expected 2 Axes, an Axes for each panel"):
        plot.confusion_matrix([CM, CM], ax=left)


def test_an_svg_stands_in_a_page_and_the_same_data_give_the_same_bytes() -> None:
    text = plot.confusion_matrix(CM, class_names=["<b>", "&", '"']).svg()
    assert text.startswith('<svg role="img" aria-label="confusion matrix of 3 classes')
    assert "<b>" not in text
    assert text == plot.confusion_matrix(CM, class_names=["<b>", "&", '"']).svg()
    assert "<text" in text


def test_a_dollar_in_a_name_begins_no_formula() -> None:
    figure = Figure()
    axes = figure.subplots()
    axes.set_title(r"$\alpha$")  # one of the user
    names = ["$x$", r"a $\foo$", "5 $"]
    text = plot.confusion_matrix(CM, class_names=names, ax=axes).svg()
    assert all(f">{name}</text>" in text for name in names)
    assert r"\alpha" not in text


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"order": "size"}, "order: expected 'clusters'"),
        ({"order": [0, 1]}, "each of the 3 classes once"),
        ({"class_names": ["a"]}, "3 different names"),
        ({"text": "percent"}, "text: expected 'auto', 'both'"),
        ({"top": -1}, "top: expected a number of errors"),
        ({"names": ["a", "b"]}, "names: expected 1, a name for each matrix"),
        ({"ax": 3}, "ax: expected Axes of Matplotlib, got 3"),
    ],
)
def test_errors_say_what_was_expected(options: dict, message: str) -> None:
    with pytest.raises((ValueError, TypeError), match=message):
        plot.confusion_matrix(CM, **options)


def test_shapes_that_are_no_matrices() -> None:
    with pytest.raises(ValueError, match="expected a confusion matrix"):
        plot.confusion_matrix(np.zeros((2, 3)))
    with pytest.raises(ValueError, match="at least one"):
        plot.confusion_matrix(np.zeros((0, 3, 3)))
    with pytest.raises(ValueError, match="at most 30 matrices, each in a panel, got 31"):
        plot.confusion_matrix(np.ones((31, 2, 2)))
    with pytest.raises(ValueError, match="all of the same classes"):
        plot.confusion_matrix({"a": CM, "b": np.eye(2)})


@pytest.mark.sampled(2)
def test_arrays_of_any_library(backend: object) -> None:
    np.testing.assert_array_equal(plot.confusion_matrix(backend.asarray(CM), text="none").matrices[0], CM)


def test_matplotlib_is_not_imported_before_something_is_drawn() -> None:
    code = "import sys, matrics; matrics.plot.confusion_matrix; sys.exit('matplotlib' in sys.modules)"
    assert subprocess.run([sys.executable, "-c", code], check=False).returncode == 0


def test_sums_of_huge_counts_do_not_overflow() -> None:
    display = plot.confusion_matrix(np.full((100, 100), 10**18))
    np.testing.assert_allclose(display.shares, 0.01)
    assert "and 1e+22 samples, 1.0% of them" in display.describe()
    assert display.top_confusions[0][0].share == pytest.approx(0.01)


def test_a_dark_style_of_the_user_leaves_the_picture_readable(tmp_path: Path) -> None:
    from matplotlib import style
    from matplotlib.image import imread

    with style.context("dark_background"):
        path = plot.confusion_matrix([[3, 1], [0, 4]]).save(tmp_path / "dark.png", dpi=50)
    np.testing.assert_array_equal(imread(path)[0, 0, :3], 1)


def test_classes_of_a_data_frame_have_its_labels() -> None:
    """Its rows are not numbered anew, and none is drawn under the name of another."""
    pandas = pytest.importorskip("pandas")
    table = pandas.DataFrame([[27, 3], [20, 80]], index=["fraud", "ok"], columns=["fraud", "ok"])
    turned = table.loc[["ok", "fraud"], ["ok", "fraud"]]
    assert matrics.plot.confusion_matrix(turned).class_names == ("ok", "fraud")
    assert matrics.plot.confusion_matrix({"a": table, "b": table + 1}).class_names == ("fraud", "ok")
    assert matrics.plot.difference(table, table + 1).class_names == ("fraud", "ok")
    for draw in (
        lambda: matrics.plot.confusion_matrix({"a": table, "b": turned}),
        lambda: matrics.plot.difference(table, turned),
    ):
        with pytest.raises(ValueError, match="the same labels in the same order"):
            draw()
    with pytest.raises(ValueError, match="in the order of its rows"):
        matrics.plot.confusion_matrix(table, class_names=["ok", "fraud"])
