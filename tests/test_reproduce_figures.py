"""The figures of sources 000 and 002: the numbers behind them, and the files that the command writes."""

from __future__ import annotations

import math
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import matrics
from matrics._study.sources import experiment
from matrics._study.sources.records import matrices

pytest.importorskip("matplotlib")
from matrics._study.figures import eigenvalues, entropy


@pytest.mark.parametrize("name", ["Mb", "M1", "M4", "M5", "M6", "M8", "M9"])
def test_largest_radius_is_that_of_the_bounds(name: str) -> None:
    """Two classes have the radius of section 3.3: r = (p12 + p21) / 2√(p11 p22)."""
    cm = np.asarray(matrics.transform.transpose(matrices()[f"000 {name}"]))
    radii = eigenvalues.circle_radii(cm)
    assert radii.shape == (len(cm),)
    assert radii.max() == pytest.approx(matrics.study.gershgorin_bounds(cm).upper - 1)
    if len(cm) == 2:
        (p11, p12), (p21, p22) = cm / cm.sum(1, keepdims=True)
        assert radii == pytest.approx([(p12 + p21) / 2 / math.sqrt(p11 * p22)] * 2)


def test_share_without_second_eigenvalue() -> None:
    """The area below √p11 + √p22 = √2 in the square: 56.2 %."""
    begin = (math.sqrt(2) - 1) ** 2  # up to here all rates of the other class are below the curve
    below = begin + 2 * (1 - begin) - 4 * math.sqrt(2) / 3 * (1 - begin**1.5) + (1 - begin**2) / 2
    assert eigenvalues.share_without_second(400) == pytest.approx(below, abs=1e-3)
    assert round(100 * below, 1) == 56.2


def test_second_eigenvalue_is_zero_on_the_curve() -> None:
    p22 = np.linspace(0.2, 1, 9)
    values = eigenvalues.second_eigenvalue(p22 + 2 - np.sqrt(8 * p22), p22)
    np.testing.assert_allclose(values, 0, atol=1e-12)


def test_hexagons_hold_all_matrices() -> None:
    """Their shade is the mean number of classes, so that no hexagon is without one."""
    left, right, bar = entropy.figure_1(2000).axes
    made = experiment.run(2000)
    for panel, x, y in ((left, made.mcc, made.cen), (right, made.tmcc, made.scaled_cen)):
        (hexagons,) = panel.collections
        shades = hexagons.get_array()
        assert shades.min() >= 3
        assert shades.max() <= 30
        assert 300 < len(shades) <= 2000
        box = np.asarray(hexagons.get_offsets())
        assert box.min(0) == pytest.approx([x.min(), y.min()], abs=0.03)
        assert box.max(0) == pytest.approx([x.max(), y.max()], abs=0.03)
    assert "classes" in bar.get_ylabel()


@pytest.mark.exhaustive
def test_the_command_draws(command: Any, tmp_path: Path) -> None:
    pytest.importorskip("typer")
    code, out, err = command("reproduce", "--source", "000", "--figures", str(tmp_path / "new" / "folder"))
    assert code == 0, out + err
    written = sorted((tmp_path / "new" / "folder").iterdir())
    assert [path.name for path in written] == ["000_figure_1.png", "000_figure_2.png"]
    assert all(str(path) in out for path in written)
    assert all(path.read_bytes().startswith(b"\x89PNG") for path in written)


def test_a_source_without_figures(command: Any, tmp_path: Path) -> None:
    pytest.importorskip("typer")
    code, out, err = command("reproduce", "--source", "zoo", "--figures", str(tmp_path))
    assert code == 0, out + err
    assert not list(tmp_path.iterdir())
