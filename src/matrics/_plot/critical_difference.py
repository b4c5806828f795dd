"""Critical difference diagrams: mean ranks of models over data sets, and groups of models that do not differ."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np

from matrics._folds.compare_datasets import MethodOfDatasets, compare_datasets
from matrics._folds.results import DatasetComparison
from matrics._plot.display import Display
from matrics._plot.lines import cut_name
from matrics._plot.style import INK, SMALL
from matrics._quoting import quoted
from matrics.typing import ArrayLike

if TYPE_CHECKING:
    from matplotlib.axes import Axes

__all__ = ["CriticalDifferenceDisplay", "critical_difference"]

LINE = 0.2  # inches for each model on a side
GROUP = 0.09  # inches for each bar of models that do not differ
TOP = 0.55  # inches above the axis of ranks


@dataclass(eq=False, repr=False)
class CriticalDifferenceDisplay(Display):
    """A critical difference diagram, as from :func:`matrics.plot.critical_difference`.

    Parameters
    ----------
    comparison : DatasetComparison
        The mean ranks, and the tests of pairs.
    groups : list of tuple of int
        The largest groups of neighbouring models without significant differences, as positions.
    """

    comparison: DatasetComparison
    groups: list[tuple[int, ...]]

    as_high_as_rows = True

    def panel_size(self) -> tuple[float, float]:
        """The width and height in inches, with room for half of the names below each other, and for the bars."""
        half = (len(self.comparison.names) + 1) // 2
        return 5.2, TOP + GROUP * len(self.groups) + LINE * half + 0.25

    def _draw(self, panels: Sequence[Axes]) -> None:
        """Draw the axis of ranks, the names of the models on both sides, and a bar over each group."""
        (axes,) = panels
        comparison, height = self.comparison, self.panel_size()[1]
        ranks, models = np.asarray(comparison.mean_ranks), len(comparison.names)
        axes.set(xlim=(0.55, models + 0.45), ylim=(-height + TOP, TOP))
        axes.axis("off")
        axes.plot([1, models], [0, 0], color=INK, linewidth=1.0)
        for rank in range(1, models + 1):
            axes.plot([rank, rank], [0, 0.06], color=INK, linewidth=1.0)
            axes.text(rank, 0.09, str(rank), ha="center", va="bottom", fontsize=SMALL, color=INK)
        order = np.argsort(ranks, kind="stable")
        left = order[: (models + 1) // 2]
        below = 0.12 + GROUP * len(self.groups)
        for place, k in enumerate(order):
            is_left = place < len(left)
            row = place if is_left else models - 1 - place
            y = -below - LINE * (row + 0.5)
            edge, text = (0.95, "right") if is_left else (models + 0.05, "left")
            axes.plot([ranks[k], ranks[k], edge], [0, y, y], color="#6b6b6b", linewidth=0.8)
            parts = [cut_name(comparison.names[k], 18), f"{ranks[k]:.2f}"]
            label = "  ".join(parts if is_left else parts[::-1])
            axes.text(edge + (-0.04 if is_left else 0.04), y, label, ha=text, va="center", fontsize=SMALL, color=INK)
        for number, group in enumerate(self.groups):
            low, high = min(ranks[list(group)]), max(ranks[list(group)])
            y = -0.09 - GROUP * number
            axes.plot([low - 0.04, high + 0.04], [y, y], color=INK, linewidth=2.6, solid_capstyle="round")
        if comparison.method == "nemenyi" and np.isfinite(comparison.critical_difference):
            end = min(1 + comparison.critical_difference, models + 0.3)
            axes.plot([1, end], [0.38, 0.38], color=INK, linewidth=1.0, marker="|", markersize=5)
            axes.text(
                (1 + end) / 2, 0.41, f"critical difference {comparison.critical_difference:.2f}", ha="center",
                va="bottom", fontsize=SMALL, color=INK,
            )  # fmt: skip

    def describe(self) -> str:
        """Describe the picture in a few sentences."""
        comparison = self.comparison
        order = np.argsort(comparison.mean_ranks, kind="stable")
        sentences = [
            f"mean ranks of {len(comparison.names)} models on {comparison.datasets} data sets, 1 is best: "
            + ", ".join(f"{comparison.names[k]} {comparison.mean_ranks[k]:.2f}" for k in order)
            + "."
        ]
        for group in self.groups:
            *first, last = [comparison.names[k] for k in group]
            sentences.append(f"{', '.join(first)} and {last} are not significantly different.")
        if not self.groups:
            sentences.append("All differ significantly.")
        sentences.append(f"The test of pairs is {comparison.method.capitalize()}'s, at {1 - comparison.level:.2g}.")
        return " ".join(sentences)


def critical_difference(
    scores: ArrayLike | Mapping[str, ArrayLike] | DatasetComparison,
    *,
    names: Sequence[str] | None = None,
    higher_is_better: bool | None = None,
    method: MethodOfDatasets | None = None,
    level: float | None = None,
    width: float | None = None,
    ax: Any = None,
) -> CriticalDifferenceDisplay:
    """Draw the mean ranks of models over data sets, with bars over models that do not differ significantly.

    Parameters
    ----------
    scores : array_like, shape (datasets, models), data frame, mapping of str to scores, or DatasetComparison
        The score of each model on each data set; a data frame has a column for each model. Or the result of
        :func:`matrics.stats.compare_datasets` without a control; ``names``, ``higher_is_better`` and ``method`` are
        then left out.
    names : sequence of str, optional
        The names of the models; the columns of a data frame, the keys of a mapping, or numbers, if left out.
    higher_is_better : bool, optional
        Whether the higher of two scores is better; True, if left out.
    method : {"auto", "nemenyi", "holm", "wilcoxon"}, optional
        The test of pairs: of mean ranks for all pairs at once (Nemenyi), or with the correction of Holm; or of the
        scores themselves, by Wilcoxon's signed ranks with the correction of Holm. By default Wilcoxon's for two models,
        and Nemenyi's for more.
    level : float, optional
        Models differ significantly if the p-value is below 1 - level; 0.95 if left out, or the level of a
        DatasetComparison.
    width : float, optional
        The width of a new figure in inches, such as 3.5, a column of many journals; chosen by the contents if left out.
        Texts keep their size.
    ax : matplotlib.axes.Axes, optional
        The axes to draw on; a new figure if left out.

    Returns
    -------
    CriticalDifferenceDisplay
        The data, ``figure_`` and ``ax_``.

    Raises
    ------
    ImportError
        Matplotlib or SciPy is not installed.
    TypeError
        An option is given with a DatasetComparison, which has its own; or as :func:`matrics.stats.compare_datasets`.
    ValueError
        As :func:`matrics.stats.compare_datasets`; a comparison is with a control only.

    References
    ----------
    Demšar 2006, "Statistical comparisons of classifiers over multiple data sets".

    Examples
    --------
    >>> import matrics.plot
    >>> scores = [[0.91, 0.92, 0.85], [0.82, 0.84, 0.79], [0.77, 0.76, 0.70], [0.95, 0.96, 0.91], [0.88, 0.89, 0.80]]
    >>> display = matrics.plot.critical_difference(scores, names=["forest", "boosting", "tree"])
    >>> [[display.comparison.names[k] for k in group] for group in display.groups]
    [['boosting', 'forest'], ['forest', 'tree']]
    """
    options = {"names": names, "higher_is_better": higher_is_better, "method": method, "level": level}
    options_given: dict[str, Any] = {name: value for name, value in options.items() if value is not None}
    if isinstance(scores, DatasetComparison):
        for name, value in options_given.items():
            raise TypeError(f"{name}: expected None with a comparison, which has its own, got {quoted(value)}")
        comparison = scores
    else:
        comparison = compare_datasets(scores, **options_given)
    off_diagonal = ~np.eye(len(comparison.names), dtype=bool)
    if np.isnan(comparison.p_values[off_diagonal]).any():
        raise ValueError("scores: expected a comparison of all pairs of models, got a comparison with a control")
    return CriticalDifferenceDisplay(comparison, _groups(comparison, 1 - comparison.level)).plot(ax, width=width)


def _groups(comparison: DatasetComparison, alpha: float) -> list[tuple[int, ...]]:
    """The largest runs of models, in the order of their ranks, without significant differences."""
    order = np.argsort(comparison.mean_ranks, kind="stable").tolist()
    runs: list[tuple[int, int]] = []
    for first in range(len(order)):
        last = first
        while last + 1 < len(order) and all(
            comparison.p_values[order[k], order[last + 1]] >= alpha for k in range(first, last + 1)
        ):
            last += 1
        if last > first and not any(start <= first and last <= stop for start, stop in runs):
            runs.append((first, last))
    return [tuple(order[first : last + 1]) for first, last in runs]
