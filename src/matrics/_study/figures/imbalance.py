"""Figures 3 to 5 of Mullick et al., "Appropriateness of performance indices for imbalanced data classification".

The data sets come with scikit-learn (:func:`matrics.study.stability_experiment`), so the figures agree with the source
in their conclusions, not in their numbers.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from functools import cache
from typing import TYPE_CHECKING

import numpy as np

from matrics._study.figures.style import new_figure, styles
from matrics._study.imbalance import MULTI_CLASS_PROBLEMS, TWO_CLASS_PROBLEMS, StabilityResult, stability_experiment

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

__all__ = ["FIGURES", "figure_3", "figure_4", "figure_5"]

TITLE = "Mullick et al., Figure {}: {}"
SPREAD = "standard deviation over test sets"
MEASURES_OF_FIGURE_3 = ("GMean", "AUROC", "Precision", "AURPC", "mPrecision", "mAURPC")
MEASURES_OF_FIGURE_4 = ("GMean", "ACSA", "nAUROC-OVA", "AURPC-OVA", "mAURPC-OVA")
MEASURES_OF_FIGURE_4B = ("ACSA", "nAUROC-OVA")
MEASURES_OF_FIGURE_5 = ("AUROC-OVO", "AUROC-OVA", "ACSA", "nAUROC-OVA", "GMean")


def figure_3() -> Figure:
    """The figure of how much measures of two classes depend on the class sizes of the test set.

    Examples
    --------
    >>> from matrics._study.figures import imbalance
    >>> [axes.get_title() for axes in imbalance.figure_3().axes]
    ['two classes']
    """
    figure, (panel,) = new_figure(TITLE.format(3, "effect of the test set's class sizes"), size=(6.5, 4.6))
    result = _two_classes()
    _draw_points(panel, result, {name: result.spread()[name] for name in MEASURES_OF_FIGURE_3})
    panel.set(title="two classes", ylabel=SPREAD, yscale="log")
    return _finish(figure, panel)


def figure_4() -> Figure:
    """The figure of how much multiclass measures depend on the class sizes of the test set.

    The right panel shows two measures relative to their lowest value.
    """
    title = TITLE.format(4, "effect of the test set's class sizes")
    figure, (left, right) = new_figure(title, 2, size=(5.4, 4.8))
    result = _many_classes()
    spread = result.spread()
    _draw_points(left, result, {name: spread[name] for name in MEASURES_OF_FIGURE_4})
    left.set(title="(a) several classes", ylabel=SPREAD, yscale="log")
    relative = {name: spread[name] / spread[name].min() for name in MEASURES_OF_FIGURE_4B}
    _draw_points(right, result, relative, of=MEASURES_OF_FIGURE_4)
    right.set(title="(b) relative to the most stable problem", ylabel="standard deviation / lowest", yscale="log")
    return _finish(figure, left)


def figure_5() -> Figure:
    """The figure of the lowest values of measures, for problems of 3, 5 and 10 classes."""
    figure, (panel,) = new_figure(TITLE.format(5, "effect of the number of classes"), size=(6.5, 4.6))
    result = _many_classes()
    _draw_points(panel, result, {name: result.lowest()[name] for name in MEASURES_OF_FIGURE_5})
    panel.set(title="several classes", ylabel="lowest value", ylim=(-0.03, 1))
    return _finish(figure, panel)


#: The functions by figure name: the number of the source and of the figure.
FIGURES: dict[str, Callable[[], Figure]] = {
    "003_figure_3": figure_3,
    "003_figure_4": figure_4,
    "003_figure_5": figure_5,
}


@cache
def _two_classes() -> StabilityResult:
    return stability_experiment(TWO_CLASS_PROBLEMS)


@cache
def _many_classes() -> StabilityResult:
    return stability_experiment(MULTI_CLASS_PROBLEMS)


def _draw_points(
    panel: Axes, result: StabilityResult, values: Mapping[str, np.ndarray], *, of: tuple[str, ...] | None = None
) -> None:
    """Draw a column of markers for each problem, with measures side by side; lines separate numbers of classes."""
    names = of or tuple(values)
    places = np.arange(len(result.problems))
    for number, (name, style) in enumerate(zip(names, styles(len(names)), strict=True)):
        if name in values:
            panel.plot(
                places + 0.15 * (number - (len(names) - 1) / 2),
                values[name],
                label=name,
                color=style.colour,
                marker=style.marker,
                markerfacecolor="white" if number % 2 else style.colour,
                linestyle="none",
                markersize=6,
            )
    for place in np.flatnonzero(np.diff(result.num_classes)):
        panel.axvline(place + 0.5, color="0.5", linewidth=0.8)
    panel.set_xticks(places, result.problems, rotation=60, ha="right", rotation_mode="anchor", fontsize=8)
    panel.grid(visible=False, axis="x")


def _finish(figure: Figure, panel: Axes) -> Figure:
    handles, labels = panel.get_legend_handles_labels()
    figure.legend(handles, labels, loc="outside right center", frameon=False, fontsize=9)
    return figure
