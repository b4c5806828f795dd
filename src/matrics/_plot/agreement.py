"""Redundant measures: their rank correlations as a heat map, with families and the tree of the clustering."""

from __future__ import annotations

import importlib
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Literal, get_args

import numpy as np

from matrics._catalogue.naming import title_of
from matrics._catalogue.record import Metric
from matrics._catalogue.registry import list_metrics
from matrics._plot.display import Display
from matrics._plot.heat_map import draw_cells, short_name
from matrics._plot.signs import mark_cells
from matrics._plot.style import FAINT, INK, SMALL, ink_on, right, tidy, wrong
from matrics._quoting import quoted
from matrics._study.agreement import Agreement, Correlation
from matrics._study.agreement import agreement as compute
from matrics._wording import rounded
from matrics.typing import ArrayLike, NumPyArray

if TYPE_CHECKING:
    from matplotlib.axes import Axes

__all__ = ["AgreementDisplay", "agreement"]

NAME = 28  # characters
WITH_TEXT = 12  # up to this number of measures, numbers are written into the cells
WITH_NAMES = 45  # up to this number of measures, each row has a name
LINE = 9.0  # points between two names
NEGATIVE = -0.3  # lower correlations are marked
SIGNS = {"spearman": "ρ", "kendall": "τ"}


@dataclass(eq=False, repr=False)
class AgreementDisplay(Display):
    """Rank correlations of K measures, as from :func:`matrics.plot.agreement`.

    Parameters
    ----------
    correlation : array, shape (K, K)
        Rank correlations of the measures, in the order in which they are drawn; NaN where undefined.
    names : tuple of str
        The measures in that order.
    families : list of list of str
        Groups of redundant measures, in that order; each other measure is a family by itself.
    linkage : array, shape (K - 1, 4)
        The clustering, as of :meth:`matrics.study.Agreement.linkage`.
    by : {"spearman", "kendall"}
        The kind of correlation.
    threshold : float
        The least average of the absolute correlations within a family.
    text : bool
        Whether numbers are written into the cells.
    """

    correlation: NumPyArray
    names: tuple[str, ...]
    families: list[list[str]]
    linkage: NumPyArray
    by: Correlation
    threshold: float
    text: bool = False

    def _side(self) -> float:
        """The height of the heat map in inches."""
        return min(6.3, max(1.6, (0.27 if self.text else 0.15) * len(self.names)))

    def panel_size(self) -> tuple[float, float]:
        """The width and height of the heat map, with the names at its left and the tree at its right."""
        side = self._side()
        names = 0.066 * max(map(len, self._names_of_rows().values()))
        return side * 1.3 + names + 0.75, side + 0.5 + (0.062 * self._longest_name() if self.text else 0)

    def _draw(self, panels: Sequence[Axes]) -> None:
        """Draw the heat map, frames around the families, the tree and the scale of colours."""
        (axes,) = panels
        tidy(axes)
        number = len(self.names)
        draw_cells(axes, self._colours(self.correlation), self._texts() if self.text else None)
        axes.tick_params(length=0, labelsize=SMALL)
        labels = self._names_of_rows()
        axes.set_yticks(list(labels), labels=list(labels.values()))
        axes.set_xticks(list(labels) if self.text else [], labels=list(labels.values()) if self.text else [])
        for label in axes.get_xticklabels():
            label.set_rotation(90)
        axes.set_xlabel("" if self.text else "columns in the order of the rows")
        if not self.text:
            self._mark_negative(axes)
        self._frame_families(axes)
        self._draw_tree(axes.inset_axes((1.015, 0, 0.16, 1)), number)
        self._draw_scale(axes.inset_axes((1.23, 0.1, 0.035, 0.8)))

    def describe(self) -> str:
        """Describe the picture in a few sentences."""
        above = self.correlation[np.triu_indices(len(self.names), 1)]
        defined = above[np.isfinite(above)]
        redundant = sorted((family for family in self.families if len(family) > 1), key=len, reverse=True)
        summary = (
            f"{self.by.capitalize()}'s rank correlations of {len(self.names)} measures, which form "
            f"{len(self.families)} {'family' if len(self.families) == 1 else 'families'} (average absolute "
            f"correlation at least {self.threshold:g})."
        )
        sentences = [summary, *(f"{len(family)} are redundant: {_first_names(family)}." for family in redundant[:3])]
        if len(defined):
            sentences.append(f"Correlations are between {rounded(defined.min(), 2)} and {rounded(defined.max(), 2)}.")
        if len(defined) < len(above):
            sentences.append(f"{len(above) - len(defined)} of {len(above)} are undefined, and grey.")
        return " ".join(sentences)

    def _longest_name(self) -> int:
        return max(len(_display_name(name)) for name in self.names)

    def _names_of_rows(self) -> dict[int, str]:
        """The labels of rows: of many measures a label for each family, the largest first, as far as there is room."""
        if len(self.names) <= WITH_NAMES:
            return {row: _display_name(name) for row, name in enumerate(self.names)}
        rows_of_line = LINE / 72 * len(self.names) / (self._side() * self.scale)
        labels: dict[int, str] = {}
        for start, family in sorted(self._starts(), key=lambda item: -len(item[1])):
            row = start + (len(family) - 1) // 2
            if all(abs(row - other) >= rows_of_line for other in labels):
                core = list_metrics("core")
                representative = min(family, key=lambda name: core.index(name) if name in core else len(core))
                others = f" and {len(family) - 1} more" if len(family) > 1 else ""
                labels[row] = _display_name(representative) + others
        return dict(sorted(labels.items()))

    def _starts(self) -> list[tuple[int, list[str]]]:
        """The families and their first rows."""
        starts = np.cumsum([0, *map(len, self.families)])
        return list(zip(starts.tolist(), self.families, strict=False))

    def _texts(self) -> list[list[str]]:
        def text_of(value: float) -> str:
            text = "" if np.isnan(value) else rounded(value, 2)
            return text.replace("0.", ".").replace("-", "−").replace("1.00", "1")

        return [[text_of(value) for value in row] for row in self.correlation]

    def _colours(self, values: NumPyArray) -> NumPyArray:
        """Blue for positive correlations, orange for negative; by the square, as most are high."""
        return np.where((values >= 0)[..., None], right(values**2), wrong(values**2))

    def _mark_negative(self, axes: Axes) -> None:
        """Mark clearly negative correlations with a minus, as both colours look alike in grey."""
        size = 0.5 * 72 * self._side() * self.scale / len(self.names)
        mark_cells(axes, self.correlation < NEGATIVE, "_", size, ink_on(self._colours(self.correlation)))

    def _frame_families(self, axes: Axes) -> None:
        """Draw bright frames with dark edges, which are visible on every colour, and in grey."""
        from matplotlib.patches import Rectangle

        for start, family in self._starts():
            size = len(family)
            if size > 1:
                for colour, width in ((INK, 3.0), ("#ffb000", 1.6)):
                    axes.add_patch(
                        Rectangle(
                            (start - 0.5, start - 0.5), size, size, fill=False, edgecolor=colour, linewidth=width,
                            clip_on=False, zorder=4,
                        )
                    )  # fmt: skip

    def _draw_tree(self, axes: Axes, number: int) -> None:
        """Draw the tree of the clustering; the horizontal position of a joint is the distance between its parts."""
        tree = importlib.import_module("scipy.cluster.hierarchy").dendrogram(self.linkage, no_plot=True)
        gap = np.full((number - 1, 1), np.nan)
        rows = np.concatenate([(np.asarray(tree["icoord"]) - 5) / 10, gap], axis=1)  # SciPy's numbers of leaves
        distances = np.concatenate([np.asarray(tree["dcoord"]), gap], axis=1)
        axes.plot(distances.ravel(), rows.ravel(), color=INK, linewidth=0.8 if number <= WITH_NAMES else 0.5)
        axes.axvline(1 - self.threshold, color=INK, linewidth=0.8, linestyle=(0, (3, 2)))
        axes.set_ylim(number - 0.5, -0.5)
        farthest = max(float(self.linkage[-1, 2]), 1 - self.threshold) or 1.0
        axes.set_xlim(0, farthest * 1.05)
        axes.spines[["top", "right", "left"]].set_visible(False)
        axes.spines["bottom"].set(color=INK, linewidth=0.8)
        axes.set_yticks([])
        axes.set_xticks([0, farthest], labels=["0", f"{farthest:.2g}"])
        axes.tick_params(labelsize=SMALL, length=2, color=INK, labelcolor=INK)
        axes.set_xlabel(f"1 − |{SIGNS[self.by]}|", fontsize=SMALL, color=INK, labelpad=1)
        axes.patch.set_visible(False)

    def _draw_scale(self, axes: Axes) -> None:
        """Draw the colour scale of correlations."""
        has_negative = bool(np.nanmin(self.correlation, initial=0) < -0.005)
        low = -1 if has_negative else 0
        values = np.linspace(1, low, 200)[:, None]
        axes.imshow(self._colours(values), aspect="auto", extent=(0, 1, low, 1), interpolation="nearest")
        axes.set_xticks([])
        axes.yaxis.tick_right()
        axes.yaxis.set_label_position("right")
        ticks = [-1, -0.8, -0.5, 0, 0.5, 0.8, 1] if has_negative else [0, 0.5, 0.8, 0.9, 1]
        axes.set_yticks(ticks, labels=[f"{tick:g}".replace("-", "−") for tick in ticks])
        axes.tick_params(labelsize=SMALL, length=2, color=INK, labelcolor=INK)
        axes.spines[:].set(color=FAINT, linewidth=0.5)
        axes.set_ylabel(f"{self.by.capitalize()}'s {SIGNS[self.by]}", fontsize=SMALL, color=INK, labelpad=2)


def _display_name(name: str) -> str:
    """The name of a measure as the picture shows it."""
    return short_name(title_of(name), NAME)


def _first_names(names: Sequence[str]) -> str:
    """Up to six names, and the number of the others."""
    return ", ".join(map(title_of, names[:6])) + (f" and {len(names) - 6} more" if len(names) > 6 else "")


def agreement(
    found: Agreement | ArrayLike,
    metrics: str | Metric | Iterable[str | Metric] = "core",
    *,
    correlation: Correlation = "spearman",
    least_correlation: float = 0.95,
    text: Literal["auto"] | bool = "auto",
    width: float | None = None,
    ax: Any = None,
) -> AgreementDisplay:
    """Draw the agreement of measures: a heat map of their rank correlations, with similar measures next to each other.

    Frames are around families, measures that order the matrices alike. The tree at the right shows the distances of
    measures and groups of measures, with a dashed line at ``least_correlation``. Colours follow the square of the
    correlation: blue for positive, orange for negative (with a minus below -0.3), and grey for undefined correlations.

    Parameters
    ----------
    found : Agreement, or array_like, shape (*B, n, n)
        The result of :func:`matrics.study.agreement`; or confusion matrices, for which it is computed.
    metrics : str, Metric, or several of them, default "core"
        Names, aliases, groups (``core``, ``overall``, ``all``, ``on_host``, or a family of
        :func:`matrics.list_metrics`), specs (``"recall:class"``, ``"recall[1]"``, ``"fbeta(beta=2):weighted"``; see
        :func:`matrics.get_metric`), or metrics. A string may contain several of these, separated by commas. Only where
        matrices are given.
    correlation : {"spearman", "kendall"}
        The kind of rank correlation.
    least_correlation : float, default 0.95
        The least average of the absolute correlations between two groups that join to a family, from 0 to 1.
    text : "auto" or bool, default "auto"
        Whether numbers are written into the cells: for up to 12 measures if left out. Of more than 45 measures, a
        single measure of each family is named.
    width : float, optional
        The width of a new figure in inches, such as 3.5, a column of many journals; chosen by the contents if left out.
        Texts keep their size.
    ax : matplotlib.axes.Axes, optional
        The axes to draw on; a new figure if left out. The tree and the scale are to the right.

    Returns
    -------
    AgreementDisplay
        The data, ``figure_`` and ``ax_``.

    Raises
    ------
    ImportError
        Matplotlib or SciPy is not installed.
    ValueError
        There are fewer than two measures, or an option does not fit.

    Examples
    --------
    >>> import matrics.plot
    >>> stack = matrics.simulate.resample([[40, 5, 5], [4, 20, 1], [2, 3, 20]], 500, rng=0)
    >>> display = matrics.plot.agreement(stack, ["accuracy", "true_entropy", "error_rate", "mcc"])
    >>> display.families
    [['true_entropy'], ['mcc', 'error_rate', 'accuracy']]
    """
    if correlation not in get_args(Correlation):
        raise ValueError(f"correlation: expected 'spearman' or 'kendall', got {quoted(correlation)}")
    if text not in ("auto", True, False):
        raise ValueError(f"text: expected 'auto', True or False, got {quoted(text)}")
    result = found if isinstance(found, Agreement) else compute(found, metrics)
    if len(result.names) < 2:
        raise ValueError(f"metrics: expected at least two measures, got {len(result.names)}")
    order = result.order(correlation=correlation)
    rows = {result.names[number]: row for row, number in enumerate(order)}
    families = [
        sorted(family, key=rows.__getitem__)
        for family in result.families(least_correlation=least_correlation, correlation=correlation)
    ]
    table = np.asarray(result.spearman if correlation == "spearman" else result.kendall)
    return AgreementDisplay(
        table[np.ix_(order, order)],
        tuple(rows),
        sorted(families, key=lambda family: rows[family[0]]),
        np.asarray(result.linkage(correlation=correlation)),
        correlation,
        least_correlation,
        len(order) <= WITH_TEXT if text == "auto" else bool(text),
    ).plot(ax, width=width)
