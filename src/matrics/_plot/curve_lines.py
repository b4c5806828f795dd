"""Lines on which a measure has the same value, behind a ROC curve or a precision-recall curve."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from matrics._catalogue.record import Metric
from matrics._engine.evaluation import evaluate
from matrics._plot.style import INK, SMALL
from matrics.typing import NumPyArray

if TYPE_CHECKING:
    from matplotlib.axes import Axes

__all__ = ["BEHIND", "draw_equal_values", "measure_at"]

GRID = 201
BEHIND = "#8a8a8a"  # darker than a grid, as these lines are read, and lighter than a curve


def measure_at(kind: str, x: NumPyArray, y: NumPyArray, prevalence: float, metric: Metric) -> NumPyArray:
    """The values of a measure at points of the picture; NaN at points that no classifier can attain.

    Parameters
    ----------
    kind : {"roc", "precision_recall"}
        The meaning of x and y: false and true positive rate, or recall and precision.
    x, y : array
        The points, two arrays of the same shape.
    prevalence : float
        The share of positive samples.
    metric : Metric
        A measure with a single value for each matrix.
    """
    with np.errstate(divide="ignore", invalid="ignore"):
        if kind == "roc":
            tp, fp = prevalence * y, (1 - prevalence) * x
        else:
            tp = prevalence * x
            fp = tp * (1 - y) / y
        fn, tn = prevalence - tp, 1 - prevalence - fp
    possible = np.isfinite(fp) & (tn >= -1e-12)
    cells = [np.where(possible, np.maximum(cell, 0), 0) for cell in (tn, fp, fn, tp)]
    cm = np.stack(cells, axis=-1).reshape(*x.shape, 2, 2)
    (values,) = evaluate(cm, [metric.bind()], invalid="nan")
    return np.where(possible, values, np.nan)


def draw_equal_values(axes: Axes, kind: str, prevalence: float, metric: Metric) -> list[float]:
    """Draw the lines with their values; returns the values. A constant measure has no lines."""
    from matplotlib.ticker import MaxNLocator

    positions = np.linspace(0.0025, 0.9975, GRID)
    x, y = np.meshgrid(positions, positions)
    values = measure_at(kind, x, y, prevalence, metric)
    is_defined = np.isfinite(values)
    if not is_defined.any():
        return []
    low, high = np.quantile(values[is_defined], [0.02, 0.98])
    round_numbers = MaxNLocator(8, steps=[1, 2, 2.5, 5, 10]).tick_values(low, high)
    levels = [round(float(level), 9) for level in round_numbers if low < level < high]
    if not levels:
        return []
    drawn = axes.contour(
        x, y, np.ma.masked_invalid(values), levels=levels, colors=BEHIND, linewidths=0.6, linestyles=":"
    )
    for level, pieces in zip(levels, drawn.allsegs, strict=True):
        if len(points := max(pieces, key=len, default=np.empty((0, 2)))):
            _name_end(axes, points[np.argmax(points[:, 0] + (points[:, 1] if kind == "roc" else 0))], f"{level:g}")
    return levels


def _name_end(axes: Axes, place: NumPyArray, text: str) -> None:
    """Write the value at the end of a line: next to the picture, above it, or inside it."""
    above = place[1] > 0.98
    axes.annotate(
        text, (place[0], place[1]), (0, 2) if above else (2, 0), textcoords="offset points", alpha=0.8,
        ha="center" if above else "left", va="bottom" if above else "center", fontsize=SMALL - 0.5, color=INK,
    )  # fmt: skip
