"""Pictures of eigenvalues and of discrimination lines."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest

import matrics
from matrics import plot

pytest.importorskip("matplotlib")

from pictures import compare

from matrics._plot.discrimination import branches
from matrics.study import discrimination_line

M_B = [[45, 5], [5, 45]]
STACK = np.array([M_B, [[10, 0], [3, 7]], [[0, 0], [1, 2]], [[0, 3], [1, 2]], [[-1, 3], [1, 2]]])
CM = np.array([[30, 4, 2, 0], [5, 20, 1, 3], [0, 9, 8, 1], [2, 2, 2, 2]])


@pytest.mark.sampled(1)
@pytest.mark.parametrize(
    ("name", "draw"),
    [
        ("spectrum_rows", lambda: plot.spectrum(STACK, names=["M_b", "M2", "empty", "zero", "invalid"])),
        pytest.param("spectrum_circles", lambda: plot.spectrum(CM), marks=pytest.mark.exhaustive),
        pytest.param("spectrum_a", lambda: plot.spectrum(CM, matrix="A"), marks=pytest.mark.exhaustive),
        (
            "discrimination",
            lambda: plot.discrimination_lines(
                ["accuracy", "cohen_kappa", "cen", "eve", "imbalance_ratio"], 2, hits=np.linspace(0, 1, 41)
            ),
        ),
        pytest.param(
            "discrimination_imbalance",
            lambda: plot.discrimination_lines(["accuracy", "csi"], 3, imbalance=[0, 0.5, 1]),
            marks=pytest.mark.exhaustive,
        ),
    ],
)
def test_it_looks_as_it_did(name: str, draw: object, tmp_path: Path) -> None:
    compare(draw(), name, tmp_path)


@pytest.mark.exhaustive
def test_files_are_small() -> None:
    cells = np.random.default_rng(0).integers(0, 9, (60, 5, 5)) + 30 * np.eye(5, dtype=int)
    assert len(plot.spectrum(cells).svg()) < 150_000
    assert len(plot.spectrum(np.eye(200) + 0.01).svg()) < 150_000
    assert len(plot.discrimination_lines(matrics.list_metrics("overall")[:24], 3).svg()) < 150_000


@pytest.mark.parametrize("matrix", ["B", "A"])
def test_circles_hold_the_eigenvalues(matrix: str) -> None:
    (one,) = plot.spectrum(CM, matrix=matrix).spectra
    rates = CM / CM.sum(axis=1, keepdims=True)
    b = (rates + rates.T) / 2
    wanted = b if matrix == "B" else b / np.sqrt(np.outer(np.diag(b), np.diag(b)))
    np.testing.assert_allclose(one.values, np.linalg.eigvalsh(wanted), atol=1e-12)
    np.testing.assert_allclose(one.centres, np.diag(wanted))
    np.testing.assert_allclose(one.radii, np.abs(wanted).sum(axis=1) - np.diag(wanted))
    assert all((np.abs(value - one.centres) <= one.radii + 1e-12).any() for value in one.values)
    shares = one.values[one.values > 0] / one.values[one.values > 0].sum()
    if matrix == "B":
        assert one.eve == pytest.approx(-(shares * np.log(shares)).sum() / np.log(4))


def test_the_bounds_as_printed_and_those_that_hold() -> None:
    (one,) = plot.spectrum(M_B).spectra  # an example of the paper, whose lower bound is above the eigenvalue 0.8
    np.testing.assert_allclose([one.lower, one.upper, one.valid_lower], [8 / 9, 10 / 9, 0.8])
    assert "above the smallest eigenvalue; the lower bound that holds is 0.800" in plot.spectrum(M_B).describe()
    assert "above the smallest" not in plot.spectrum(M_B, matrix="A").describe()
    legend = [text.get_text() for text in plot.spectrum(M_B).figure_.legends[0].get_texts()]
    assert "1 - r and 1 + r, printed as bounds; the lower fails" in legend


def test_rows_that_are_undefined_say_so() -> None:
    display = plot.spectrum(STACK)
    assert [one.problem for one in display.spectra] == ["", "", "a true class has no samples", "", "an invalid matrix"]
    told = display.describe()
    assert "2: undefined, as a true class has no samples." in told
    assert "no bounds, as the diagonal has a zero." in told
    of_a = plot.spectrum(STACK, matrix="A")
    assert of_a.spectra[3].problem == "a class has no correct predictions"
    assert plot.spectrum(STACK[2]).ax_.texts[0].get_text() == "undefined: a true class has no samples"
    assert plot.spectrum(STACK[[2, 2]]).describe().count("a true class has no samples") == 2
    far = plot.spectrum([np.ones((10, 10)), 9 * np.eye(10)])  # the first has r = 9
    assert "cut at the edge" in "".join(text.get_text() for text in far.figure_.legends[0].get_texts())
    with pytest.raises(matrics.InvalidConfusionMatrix):
        plot.spectrum(STACK[4])


def test_many_rows_and_many_classes() -> None:
    random = np.random.default_rng(0)
    display = plot.spectrum(random.integers(0, 9, (14, 5, 5)) + 30 * np.eye(5, dtype=int))
    assert "And 2 more matrices." in display.describe()
    plot.spectrum(np.eye(201) + 0.01)
    many = plot.spectrum(random.integers(0, 3, (100, 100)) + 100 * np.eye(100, dtype=int))
    assert len(many.ax_.patches) == 40
    with pytest.raises(ValueError, match="at most 60 matrices"):
        plot.spectrum(np.ones((61, 2, 2)))
    with pytest.raises(ValueError, match="matrix: expected 'B' or 'A'"):
        plot.spectrum(M_B, matrix="C")


def test_spectra_of_any_library(backend: object) -> None:
    np.testing.assert_allclose(plot.spectrum(backend.asarray(CM)).spectra[0].values, matrics.study.eigenvalues(CM))


def test_lines_are_those_of_the_study() -> None:
    x = np.array([0.7, 0.8, 0.9, 1.0])
    display = plot.discrimination_lines(["accuracy", "cohen_kappa", "csi"], 3, hits=x)
    assert [one.names for one in display.lines[0]] == [("accuracy", "cohen_kappa"), ("csi",)]
    np.testing.assert_allclose(display.lines[0][0].line.y, 3 * x - 2)  # of three classes of one size
    assert "csi has y = 0.678 for x = 0.9" in display.describe()
    texts = [text.get_text() for text in display.figure_.legends[0].get_texts()]
    assert texts[:2] == ["accuracy, cohen_kappa", "csi"]


def test_lines_of_class_sizes() -> None:
    display = plot.discrimination_lines(
        {"OSR": "accuracy", "CKC": "cohen_kappa"}, 3, imbalance=[0, 0.5, 1], hits=[0.9, 1]
    )
    assert display.titles == ["OSR", "CKC"]
    np.testing.assert_allclose([one.line.y[0] for one in display.lines[0]], [0.7, 0.779, 0.825], atol=5e-4)
    assert "OSR: p = 0 has y = 0.700" in display.describe()
    one = plot.discrimination_lines("f1", 3, imbalance=[0, 1], positive=0, hits=[0.5, 1])
    np.testing.assert_allclose(one.lines[0][0].line.y, [1 / 3, 1], atol=1e-6)  # x / (2 - x)


def test_branches_of_a_line_that_turns_back() -> None:
    (found,) = branches(discrimination_line("cen", 2, hits=np.linspace(0.85, 0.92, 71)))
    assert len(found[0]) > 30
    assert np.abs(np.diff(found[1])).max() < 0.1  # from one end to the other, without a leap
    found = branches(discrimination_line("eve", 2, hits=np.linspace(0, 1, 21)))
    interval, rest = sorted((part for part in found if len(part[0]) > 1), key=lambda part: part[1].max())
    assert interval[1].max() == 0  # all y from 0 to 0.172 have the same value up to x = 0.5
    assert rest[1][0] == pytest.approx(3 - 2 * np.sqrt(2), abs=1e-6)
    assert rest[1][-1] == pytest.approx(1, abs=1e-5)


def test_measures_without_a_line_say_so() -> None:
    display = plot.discrimination_lines(["imbalance_ratio", "precision"], 3, hits=np.linspace(0, 0.9, 4))
    texts = [text.get_text() for text in display.figure_.legends[0].get_texts()]
    assert texts[0] == "imbalance_ratio: the same for all errors"
    specific = plot.discrimination_lines("precision", 3, positive=0, hits=[0.5, 0.9])
    assert "no line (one class)" in specific.figure_.legends[0].get_texts()[0].get_text()
    (vertical,) = plot.discrimination_lines("precision", 3, positive=0, hits=[0.5, 1]).ax_.collections
    np.testing.assert_allclose(vertical.get_segments()[0], [[1, 0], [1, 1]], atol=1e-8)
    assert "has none for x = 0.9: errors in the first class alone are preferred" in specific.describe()


@pytest.mark.parametrize(
    ("arguments", "options", "message"),
    [
        ((matrics.list_metrics("overall")[:25], 3), {}, "1 to 24 lines"),
        (("mcc", 3), {"imbalance": [[0.0]]}, "imbalance: expected a number, or several"),
        (("mcc", 1), {}, "num_classes: expected at least 2"),
        (("recall:class", 3), {}, "metric: expected a single value"),
        ((matrics.list_metrics("overall")[:13], 3), {"imbalance": [0, 1]}, "up to 12 panels"),
    ],
)
def test_errors_say_what_was_expected(arguments: tuple, options: dict, message: str) -> None:
    with pytest.raises(ValueError, match=message):
        plot.discrimination_lines(*arguments, **options)


def test_discrimination_lines_need_a_recall() -> None:
    with pytest.raises(ValueError, match="hits: expected at least one recall, got none"):
        plot.discrimination_lines("accuracy", 3, hits=[])
