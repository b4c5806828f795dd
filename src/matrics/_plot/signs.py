"""Signed differences in pictures: signs, a diverging scale of colours, and frames around cells."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from matrics._plot.style import INK, SMALL, right, wrong
from matrics.typing import NumPyArray

if TYPE_CHECKING:
    from matplotlib.axes import Axes

# More marks than this make a large vector file.
MANY = 200

__all__ = ["mark_cells", "outline", "signed", "signed_bar"]


def signed_bar(axes: Axes, limit: float, unit: str) -> None:
    """Draw the colour bar of differences next to the cells, from -limit (worse) to limit (better)."""
    from matplotlib.cm import ScalarMappable
    from matplotlib.colors import FuncNorm, ListedColormap

    steps = np.linspace(0, 1, 128)
    colours = np.concatenate([wrong(steps[::-1]), right(steps)])
    norm = FuncNorm((_signed_root, _signed_square), -limit, limit)
    figure: Any = axes.get_figure(root=True)
    bar = figure.colorbar(ScalarMappable(norm, ListedColormap(colours)), ax=axes, fraction=0.035, pad=0.01, aspect=40)
    bar.outline.set(linewidth=0.5)
    bar.set_ticks([-limit, -limit / 4, 0, limit / 4, limit])
    bar.set_ticks([], minor=True)
    bar.set_ticklabels([f"{tick:.2g}" for tick in (limit, limit / 4, 0, limit / 4, limit)])
    bar.ax.tick_params(labelsize=SMALL, color=INK, labelcolor=INK, length=2)
    bar.set_label(f"worse ← {unit} → better", fontsize=SMALL, color=INK)


def _signed_root(x: NumPyArray) -> NumPyArray:
    return np.sign(x) * np.sqrt(np.abs(x))


def _signed_square(x: NumPyArray) -> NumPyArray:
    return np.sign(x) * np.square(x)


def signed(value: float, digits: int) -> str:
    """A number with its sign and a number of digits; small numbers are not rounded to 0."""
    size = abs(value)
    if size == 0:
        return "0"
    smallest = 10.0**-digits
    written = f"<{smallest:g}" if size < smallest / 2 else f"{size:.{digits if size < 9.95 else 0}f}"
    return ("+" if value > 0 else "−") + (written if size < 1e5 else f"{size:.0e}")


def outline(axes: Axes, cells: NumPyArray, is_dark: NumPyArray) -> None:
    """Draw a frame around each of these cells (n, m), which is white in dark cells."""
    from matplotlib.patches import Rectangle

    for row, column in np.argwhere(cells):
        colour, side = ("white", 0.84) if is_dark[row, column] else (INK, 0.92)
        corner = (column - side / 2, row - side / 2)
        axes.add_patch(Rectangle(corner, side, side, fill=False, edgecolor=colour, linewidth=1.3, zorder=3))


def mark_cells(axes: Axes, cells: NumPyArray, marker: str, size: float, is_dark: NumPyArray) -> None:
    """Draw a marker in each of these cells (n, m), which is white in dark cells."""
    for colour, where in (("white", is_dark), (INK, ~is_dark)):
        rows, columns = np.nonzero(cells & where)
        axes.plot(
            columns, rows, linestyle="", marker=marker, markersize=size, color=colour, markeredgewidth=0.8,
            rasterized=len(rows) > MANY,
        )  # fmt: skip
