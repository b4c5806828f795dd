"""Figures 1 to 5 of Labatut and Cherifi, "Accuracy measures for the comparison of classifiers".

All of them show discrimination lines (:func:`matrics.study.discrimination_line`).
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import TYPE_CHECKING

import numpy as np

from matrics._study.figures.style import Style, draw, label_all, new_figure, sequence_of_styles, styles
from matrics._study.line import DiscriminationLine, discrimination_line

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

__all__ = ["FIGURES", "figure_1", "figure_2", "figure_3", "figure_4", "figure_5"]

#: The names of the measures in the source, and in this library.
CLASS_MEASURES = {
    "TPR": "recall",
    "TNR": "specificity",
    "PPV": "precision",
    "NPV": "npv",
    "F": "f1",
    "JCC": "jaccard",
    "ICSI": "icsi",
}
OVERALL_MEASURES = {
    "OSR": "accuracy",
    "CKC": "cohen_kappa",
    "SPC": "scott_pi(proportions=true)",
    "MRE": "bennett_s",
    "CSI": "csi",
}
IMBALANCES = (0.0, 0.2, 0.4, 0.6, 0.8, 1.0)
CLASSES = range(3, 11)
X = np.linspace(0, 1, 501)
TITLE = "Labatut and Cherifi, Figure {}: {}"


def figure_1() -> Figure:
    """The figure of measures of a class, for the first and the second of three classes of equal size.

    Examples
    --------
    >>> from matrics._study.figures import review
    >>> len(review.figure_1().axes)
    2
    """
    figure, panels = new_figure(TITLE.format(1, "measures of a class, three classes of equal size"), 2)
    for positive, panel in enumerate(panels):
        lines = {
            name: discrimination_line(metric, 3, positive=positive, hits=X) for name, metric in CLASS_MEASURES.items()
        }
        _draw_all(panel, lines, f"class {positive + 1}", styles(len(lines)))
    return _finish(figure, panels, "measure")


def figure_2() -> Figure:
    """The figure of overall measures, for three classes of equal size."""
    figure, panels = new_figure(TITLE.format(2, "overall measures"))
    lines = {name: discrimination_line(metric, 3, hits=X) for name, metric in OVERALL_MEASURES.items()}
    _draw_all(panels[0], lines, "three classes of equal size", styles(len(lines)))
    return _finish(figure, panels, "measure")


def figure_3() -> Figure:
    """The figure of the F measure of the first and the third of three classes, for different class sizes."""
    figure, panels = new_figure(TITLE.format(3, "F measure of one of three classes, by imbalance p"), 2)
    for positive, panel in zip((0, 2), panels, strict=True):
        _draw_by_imbalance(panel, "f1", positive, f"class {positive + 1}")
    return _finish(figure, panels, "imbalance")


def figure_4() -> Figure:
    """The figure of accuracy (OSR) and Cohen's kappa (CKC) for three classes of different sizes."""
    figure, panels = new_figure(TITLE.format(4, "overall measures of three classes, by imbalance p"), 2)
    for name, panel in zip(("OSR", "CKC"), panels, strict=True):
        _draw_by_imbalance(panel, OVERALL_MEASURES[name], None, name)
    return _finish(figure, panels, "imbalance")


def figure_5() -> Figure:
    """The figure of accuracy (OSR) for 3 to 10 classes, of equal and of halving sizes."""
    figure, panels = new_figure(TITLE.format(5, "OSR, by the number of classes k"), 2)
    for imbalance, panel in zip((0, 1), panels, strict=True):
        lines = {f"k = {k}": discrimination_line("accuracy", k, imbalance, hits=X) for k in CLASSES}
        title = "p = 0: classes of equal size" if imbalance == 0 else "p = 1: each class half the previous"
        _draw_all(panel, lines, title, sequence_of_styles(len(lines)))
    return _finish(figure, panels, "classes")


#: The functions by figure name: the number of the source and of the figure.
FIGURES: dict[str, Callable[[], Figure]] = {
    "001_figure_1": figure_1,
    "001_figure_2": figure_2,
    "001_figure_3": figure_3,
    "001_figure_4": figure_4,
    "001_figure_5": figure_5,
}


def _draw_by_imbalance(panel: Axes, metric: str, positive: int | None, title: str) -> None:
    lines = {f"p = {p:g}": discrimination_line(metric, 3, p, positive=positive, hits=X) for p in IMBALANCES}
    _draw_all(panel, lines, title, sequence_of_styles(len(lines)))


def _draw_all(panel: Axes, lines: Mapping[str, DiscriminationLine], title: str, line_styles: list[Style]) -> None:
    panel.plot([0, 1], [0, 1], color="0.75", linewidth=4, label="y = x")
    for (name, line), style in zip(lines.items(), line_styles, strict=True):
        draw(panel, *_curve(line), name, style)
    panel.set(title=title, aspect="equal", xlim=(-0.02, 1.03), ylim=(-0.03, 1.03))


def _curve(line: DiscriminationLine) -> tuple[np.ndarray, np.ndarray]:
    """The points of a line with a single branch; both ends of an interval of equal values make a vertical part."""
    x = np.repeat(line.x, line.roots.shape[-1])
    y = line.roots.reshape(-1)
    x, y = x[np.isfinite(y)], y[np.isfinite(y)]
    if (
        len(x) < len(line.x) and len(x) <= 2
    ):  # a vertical line needs more points, as its markers would otherwise be missing
        return np.full(len(line.x), x[0]), np.linspace(y[0], y[-1], len(line.x))
    return x, y


def _finish(figure: Figure, panels: list[Axes], legend: str) -> Figure:
    label_all(
        figure, panels, "recall x of all classes", "recall y of the first class, others without errors", legend=legend
    )
    return figure
