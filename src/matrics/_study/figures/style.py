"""Styles of the figures: every line has its own colour, brightness, dash pattern and marker."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

__all__ = ["Style", "draw", "label_all", "new_figure", "sequence_of_styles", "styles"]

# Dark and light colours alternate, so that neighbours also differ in grey; colour-blind readers can distinguish them.
COLOURS = ("#000000", "#e69f00", "#0072b2", "#56b4e9", "#d55e00", "#009e73", "#882255", "#999999")
DASHES: tuple[Any, ...] = ("-", (0, (6, 2)), (0, (2, 1.5)), (0, (6, 2, 1, 2)), (0, (10, 3)), (0, (4, 1, 1, 1, 1, 1)))
MARKERS = "osD^vPX*"
MARKERS_OF_A_LINE = 9


class Style(NamedTuple):
    """The style of a line."""

    colour: Any
    dashes: Any
    marker: str
    number: int  # the number of the line, which shifts its markers, so that coinciding lines are both visible


def styles(number: int) -> list[Style]:
    """The styles of a number of lines of different kinds."""
    return [
        Style(COLOURS[i % len(COLOURS)], DASHES[i % len(DASHES)], MARKERS[i % len(MARKERS)], i) for i in range(number)
    ]


def sequence_of_styles(number: int) -> list[Style]:
    """The styles of a number of ordered lines, from dark to light."""
    from matplotlib import colormaps

    shades = colormaps["viridis"](np.linspace(0, 0.85, number))
    return [Style(shades[i], DASHES[i % len(DASHES)], MARKERS[i % len(MARKERS)], i) for i in range(number)]


def new_figure(title: str, panels: int = 1, *, size: tuple[float, float] = (4.2, 4.4)) -> tuple[Figure, list[Axes]]:
    """An empty figure with panels side by side, each of this size in inches, and space for a legend at the right.

    Raises
    ------
    ImportError
        Matplotlib is not installed.
    """
    try:
        from matplotlib.figure import Figure
    except ImportError as error:
        raise ImportError('figures need Matplotlib: python -m pip install "matrics[plot]"') from error
    figure = Figure(figsize=(panels * size[0] + 1.5, size[1]), dpi=110, layout="constrained")
    figure.suptitle(title, fontsize=10.5)
    axes = list(figure.subplots(1, panels, squeeze=False)[0])
    for panel in axes:
        panel.grid(visible=True, color="0.9", linewidth=0.6)
        panel.set_axisbelow(True)
    return figure, axes


def draw(
    axes: Axes, x: Sequence[float] | np.ndarray, y: Sequence[float] | np.ndarray, label: str, style: Style
) -> None:
    """Draw a line with a few markers."""
    step = max(1, len(x) // MARKERS_OF_A_LINE)
    axes.plot(
        x,
        y,
        label=label,
        color=style.colour,
        linestyle=style.dashes,
        linewidth=1.5,
        marker=style.marker,
        markersize=5,
        markerfacecolor="white" if style.number % 2 else style.colour,
        markevery=(style.number * step // 3 % step, step),
    )


def label_all(figure: Figure, axes: Sequence[Axes], x: str, y: str, *, legend: str = "") -> None:
    """Label the axes of all panels, and draw a common legend next to the panels."""
    for panel in axes:
        panel.set_xlabel(x)
    axes[0].set_ylabel(y)
    handles, labels = axes[0].get_legend_handles_labels()
    figure.legend(
        handles, labels, title=legend or None, loc="outside right center", frameon=False, fontsize=9, handlelength=3.5
    )
