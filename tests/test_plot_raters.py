"""The picture of the agreement of raters."""

from __future__ import annotations

import importlib
import sys
from pathlib import Path

import numpy as np
import pytest

import matrics
from matrics import plot

pytest.importorskip("matplotlib")

from pictures import compare

RANDOM = np.random.default_rng(0)
TRUTH = RANDOM.integers(0, 3, 120)
CARE = {"Ada": 0.9, "Ben": 0.85, "Cem": 0.8, "Dana": 0.35, "Eve": 0.88}
RATINGS = np.stack(
    [np.where(RANDOM.random(120) < right, TRUTH, RANDOM.integers(0, 3, 120)) for right in CARE.values()], axis=1
)


def test_it_looks_as_it_did(tmp_path: Path) -> None:
    compare(plot.raters(RATINGS, num_classes=3, names=list(CARE)), "raters", tmp_path)


def test_values_and_order() -> None:
    display = plot.raters(RATINGS, num_classes=3, names=list(CARE))
    assert display.names[-1] == "Dana"
    column = {name: k for k, name in enumerate(CARE)}
    for a, row in enumerate(display.names):
        for b, other in enumerate(display.names):
            if a != b:
                cm = matrics.confusion_matrix(RATINGS[:, column[row]], RATINGS[:, column[other]], num_classes=3)
                assert display.agreement[a, b] == matrics.cohen_kappa(cm)
    assert "Dana agrees least with all others" in display.describe()
    means = np.nanmean(display.agreement, axis=1)
    assert (np.diff(means) <= 0).all()


def test_gaps_and_frames() -> None:
    ratings = np.where(np.arange(120)[:, None] < [[60, 60, 120, 120, 120]], RATINGS, -1)
    ratings[:60, 2] = -1  # nothing in common with the first two
    display = plot.raters(ratings, "accuracy", num_classes=3)
    assert np.isnan(display.agreement).sum() == 5 + 4
    assert "2 pairs have no value" in display.describe()
    pandas = pytest.importorskip("pandas")
    frame = pandas.DataFrame(RATINGS, columns=list(CARE))
    assert set(plot.raters(frame, num_classes=3).names) == set(CARE)


def test_wrong_input() -> None:
    with pytest.raises(ValueError, match="names: expected a name for each of 5 raters"):
        plot.raters(RATINGS, num_classes=3, names=["Ada"])
    with pytest.raises(ValueError, match="metric: expected a measure with a single value"):
        plot.raters(RATINGS, "recall:class", num_classes=3)
    with pytest.raises(ValueError, match="a table"):
        plot.raters(RATINGS[None], num_classes=3)
    with pytest.raises(ValueError, match="of two raters or more"):
        plot.raters(RATINGS[:, :1], num_classes=3)


def test_the_gallery(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.syspath_prepend(Path(__file__).parents[1] / "docs" / "gallery")
    importlib.import_module("plot_raters")
    sys.modules.pop("plot_raters")
