"""The figure of source 002: confusion entropy against MCC, and against the transformed MCC."""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING, Any

import numpy as np

from matrics._study.figures.style import new_figure
from matrics._study.sources.experiment import FEWEST_CLASSES, MOST_CLASSES, NUM, correlation, run

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

__all__ = ["FIGURES", "figure_1"]

HEXAGONS = 110  # in a row


def figure_1(num: int = NUM) -> Figure:
    """Random confusion matrices: their confusion entropy against MCC, and scaled by k(n) against the transformed MCC.

    Parameters
    ----------
    num : int, default 200,000
        The number of matrices.
    """
    experiment = run(num)
    figure, (left, right) = new_figure(f"{num:,} random confusion matrices of 3 to 30 classes", 2)
    _draw(left, experiment.mcc, experiment.cen, experiment.classes)
    left.set_xlabel("MCC")
    left.set_ylabel("CEN")
    shade = _draw(right, experiment.tmcc, experiment.scaled_cen, experiment.classes)
    right.set_xlabel("tMCC")
    right.set_ylabel("k(n) CEN")
    ends = [0, float(max(experiment.tmcc.max(), experiment.scaled_cen.max()))]
    right.plot(ends, ends, color="red", linewidth=1, linestyle="--", label="equal")
    right.legend(fontsize=8, loc="upper left")
    right.set_title(f"correlation {correlation(experiment.tmcc, experiment.scaled_cen):.4f}", fontsize=10)
    figure.colorbar(shade, ax=[left, right], label="classes (mean of those in a hexagon)")
    return figure


def _draw(axes: Axes, x: np.ndarray, y: np.ndarray, classes: np.ndarray) -> Any:
    """Hexagons instead of points, which would hide each other; the shade is darker with more classes."""
    return axes.hexbin(
        x,
        y,
        C=classes,
        reduce_C_function=np.mean,
        gridsize=HEXAGONS,
        cmap="viridis_r",
        vmin=FEWEST_CLASSES,
        vmax=MOST_CLASSES,
        linewidths=0.1,
        rasterized=True,
    )


FIGURES: dict[str, Callable[[], Figure]] = {"002_figure_1": figure_1}
