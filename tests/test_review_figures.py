"""What section 6 of Labatut and Cherifi says of its figures, and where it is wrong; and that the figures show it."""

from __future__ import annotations

import io
import itertools
from fractions import Fraction
from typing import Any

import numpy as np
import pytest

import matrics
from matrics._study.figures import review
from matrics.study import LineStatus, discrimination_line

X = np.linspace(0.01, 1, 100)
LEVELS = [0, 0.25, 0.5, 0.75, 1]
CLASS_MEASURES, OVERALL = review.CLASS_MEASURES, review.OVERALL_MEASURES


def height(metric: str, k: int = 3, p: Any = 0.0, positive: int | None = None) -> np.ndarray:
    """The y of the line, 0 where it is below, and so where the one class is preferred."""
    line = discrimination_line(metric, k, p, positive=positive, hits=X)
    assert np.isin(line.status, (LineStatus.CROSSES, LineStatus.ONE_CLASS, LineStatus.EQUAL)).all()
    return np.nan_to_num(line.y)


def same(a: np.ndarray, b: np.ndarray) -> bool:
    return np.allclose(a, b, rtol=0, atol=1e-8)


def below(a: np.ndarray, b: np.ndarray) -> bool:
    """Whether no point of a line is above another one, and some are lower."""
    return bool((a <= b + 1e-8).all() and (a < b - 1e-3).any())


# Section 6.2 ----------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("positive", [0, 1, 2])
def test_errors_in_one_class_are_preferred(positive: int) -> None:
    for name, metric in CLASS_MEASURES.items():
        y = height(metric, positive=positive)
        assert same(y, X) if (name, positive) == ("TPR", 0) else below(y, X), name


def test_class_1() -> None:
    y = {name: height(metric, positive=0) for name, metric in CLASS_MEASURES.items()}
    assert same(y["F"], y["JCC"])
    for name in ("TNR", "PPV"):  # vertical at the right
        np.testing.assert_array_equal(y[name][:-1], 0)
    assert below(y["ICSI"], y["TPR"])
    assert below(y["PPV"], y["ICSI"])
    assert below(y["F"], y["TPR"])


def test_npv_of_class_1_is_not_constant() -> None:
    """The text says that it is for errors in this class; what is constant is the TNR."""
    y = np.linspace(0, 1, 11)
    recalls = np.stack([y, np.ones(11), np.ones(11)], axis=-1)
    cm = matrics.simulate.controlled_errors(matrics.simulate.class_proportions(3, 0), recalls)
    found = matrics.score(cm, ["npv:class", "specificity:class"])
    np.testing.assert_allclose(found["npv:class"][:, 0], 2 / (3 - y), rtol=1e-14)
    np.testing.assert_array_equal(found["specificity:class"][:, 0], 1)


def test_class_2_and_3() -> None:
    y = {name: height(metric, positive=1) for name, metric in CLASS_MEASURES.items()}
    for name, metric in CLASS_MEASURES.items():  # "the two other classes undergo similar changes"
        assert same(y[name], height(metric, positive=2))
        more = below(y[name], height(metric, positive=0))
        assert more == (name not in {"TNR", "PPV"}), name  # one class is preferred even more than by class 1
    for name in ("TPR", "NPV"):
        np.testing.assert_array_equal(y[name][:-1], 0)
    assert same(y["F"], y["JCC"])
    for name in ("F", "JCC", "ICSI", "TPR", "NPV"):  # which favour one class more than TNR and PPV
        assert below(y[name], y["PPV"])
        assert below(y[name], y["TNR"])
    assert below(y["TPR"], y["ICSI"])


def test_overall_measures_of_classes_of_one_size() -> None:
    y = {name: height(metric) for name, metric in OVERALL.items()}
    for name in ("CKC", "SPC", "MRE"):
        assert same(y["OSR"], y[name])
    assert below(y["CSI"], y["OSR"])
    assert below(y["OSR"], X)


# Section 6.3 ----------------------------------------------------------------------------------------------------------


@pytest.mark.sampled(2)
@pytest.mark.parametrize("positive", [0, 1, 2])
def test_which_measures_of_a_class_depend_on_class_sizes(positive: int) -> None:
    for name, metric in CLASS_MEASURES.items():
        y = height(metric, p=LEVELS, positive=positive)
        insensitive = name in ("TPR", "NPV") or (name in ("TNR", "PPV") and positive == 0)
        assert same(y, y[:1]) == insensitive, name


@pytest.mark.sampled(2)
@pytest.mark.parametrize(("metric", "positive"), [("f1", 0), ("f1", 2), *((name, None) for name in OVERALL.values())])
def test_imbalance_moves_lines_to_the_left(metric: str, positive: int | None) -> None:
    """They come closer to y = x."""
    y = height(metric, p=LEVELS, positive=positive)
    assert all(below(low, high) for low, high in itertools.pairwise(y))
    assert below(y[-1], X)


def test_overall_measures_of_classes_of_different_sizes() -> None:
    y = {name: height(metric, p=LEVELS) for name, metric in OVERALL.items()}
    assert same(y["OSR"], y["SPC"])
    assert same(y["OSR"], y["MRE"])
    for level in range(1, len(LEVELS)):
        assert below(y["CKC"][level], y["OSR"][level])


def test_csi_is_less_sensitive_to_class_sizes() -> None:
    """The start of its line at y = 0 moves less than that of the accuracy."""
    start = {name: 1 - np.mean(height(metric, p=[0, 1]) > 0, axis=-1) for name, metric in OVERALL.items()}
    moved = {name: no - yes for name, (no, yes) in start.items()}
    assert moved["CSI"] < 0.75 * moved["OSR"]


# Section 6.4 ----------------------------------------------------------------------------------------------------------


@pytest.mark.sampled(2)
@pytest.mark.parametrize("name", OVERALL)
@pytest.mark.parametrize("p", [0, 1])
def test_more_classes_move_lines_to_the_right(name: str, p: int) -> None:
    """Not so for CSI where classes differ in size: with few errors the line for 10 classes is left of that for 6."""
    y = [height(OVERALL[name], k, p) for k in (3, 4, 6, 10)]
    assert all(below(more, fewer) for fewer, more in itertools.pairwise(y)) == ((name, p) != ("CSI", 1))
    if (name, p) == ("CSI", 1):
        six, ten = y[2:]
        assert ten[80] < six[80] - 1e-3  # x = 0.81
        assert six[97] < ten[97] - 5e-4  # x = 0.98


def test_more_classes_matter_less_where_sizes_differ() -> None:
    """The text says more; but 1 - y is (1 - x)/π, and π of the first class falls to 1/2 alone, not to 1/k."""
    shares = {0: [Fraction(1, k) for k in (3, 10)], 1: [Fraction(2 ** (k - 1), 2**k - 1) for k in (3, 10)]}
    for p, (few, many) in shares.items():
        for k, share in ((3, few), (10, many)):
            found = discrimination_line("accuracy", k, p, hits=[0.95]).y[0]
            assert found == pytest.approx(float(1 - Fraction(1, 20) / share), abs=2e-9)
    assert 1 / shares[0][1] - 1 / shares[0][0] == 7
    assert 1 / shares[1][1] - 1 / shares[1][0] < Fraction(1, 4)


# The figures ----------------------------------------------------------------------------------------------------------


@pytest.fixture(scope="module")
def figures() -> dict[str, Any]:
    pytest.importorskip("matplotlib")
    return {name: make() for name, make in review.FIGURES.items()}


def drawn(axes: Any) -> dict[str, tuple[np.ndarray, np.ndarray]]:
    return {line.get_label(): line.get_data() for line in axes.get_lines()}


@pytest.mark.exhaustive
def test_every_figure_is_complete(figures: dict[str, Any]) -> None:
    assert list(figures) == [f"001_figure_{i}" for i in range(1, 6)]
    for (name, figure), panels, lines in zip(figures.items(), [2, 1, 2, 2, 2], [7, 5, 6, 6, 8], strict=True):
        assert figure.get_suptitle().startswith(f"Labatut and Cherifi, Figure {name[-1]}")
        assert len(figure.axes) == panels
        assert figure.axes[0].get_ylabel()
        for axes in figure.axes:
            assert axes.get_xlabel()
            assert len(axes.get_lines()) == lines + 1  # and y = x
            assert all(len(line.get_xdata()) > 1 for line in axes.get_lines())
        assert len(figure.legends[0].get_texts()) == lines + 1
    figures["001_figure_1"].savefig(file := io.BytesIO(), dpi=30)
    assert file.getvalue().startswith(b"\x89PNG")


def test_figures_show_the_lines(figures: dict[str, Any]) -> None:
    first, second = (drawn(axes) for axes in figures["001_figure_1"].axes)
    np.testing.assert_allclose(*first["TPR"], rtol=0, atol=1e-8)
    for line in (first["PPV"], first["TNR"], second["TPR"], second["NPV"]):
        np.testing.assert_array_equal(line[0], 1)
        np.testing.assert_allclose([line[1].min(), line[1].max()], [0, 1], rtol=0, atol=2e-9)
    x, y = first["F"]
    np.testing.assert_allclose(y, x / (2 - x), rtol=0, atol=1e-8)
    for axes, share in zip(figures["001_figure_5"].axes, (1 / 3, 4 / 7), strict=True):
        x, y = drawn(axes)["k = 3"]
        np.testing.assert_allclose(y, 1 - (1 - x) / share, rtol=0, atol=1e-8)


def test_lines_differ_without_colour(figures: dict[str, Any]) -> None:
    for figure in figures.values():
        for axes in figure.axes:
            looks = {(line.get_marker(), str(line._dash_pattern)) for line in axes.get_lines()}
            assert len(looks) == len(axes.get_lines())
