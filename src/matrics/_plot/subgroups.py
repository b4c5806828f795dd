"""A forest plot of a diagnostic test in groups of samples: counts, values and limits of each group and of all."""

from __future__ import annotations

import math
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

from matrics._errors import ArgumentError
from matrics._plot.display import Display
from matrics._plot.heat_map import short_name
from matrics._plot.style import INK, SMALL, tidy
from matrics._quoting import quoted
from matrics._tables.diagnostic_groups import DiagnosticGroups
from matrics._tables.diagnostic_results import DiagnosticTable
from matrics._tables.paper import as_fraction
from matrics._wording import in_percent, limits, rounded

if TYPE_CHECKING:
    from matplotlib.axes import Axes

__all__ = ["SubgroupsDisplay", "subgroups"]

NAME = 24  # letters of the name of a group
LETTER, ROW = 0.062, 0.19  # inches of text, and of a row
TEXTS = 2.1  # inches of the counts and the values
COLOUR = "#08306b"
MEASURES = ("sensitivity", "specificity")


@dataclass(eq=False, repr=False)
class SubgroupsDisplay(Display):
    """Forest plots of a diagnostic test in groups, as from :func:`matrics.plot.subgroups`.

    Parameters
    ----------
    groups : DiagnosticGroups
        The tables of all groups, and of all samples.
    measures : tuple of str
        The measures of the panels.
    """

    groups: DiagnosticGroups
    measures: tuple[str, ...]

    as_high_as_rows = True

    def panels(self) -> int:
        """The number of measures."""
        return len(self.measures)

    def grid(self) -> tuple[int, int]:
        """The numbers of rows and columns: panels are below each other, as each has texts at both sides."""
        return self.panels(), 1

    def panel_size(self) -> tuple[float, float]:
        """The width and height in inches, with room for names, counts and values next to the axes."""
        names = LETTER * max(len(short_name(name, NAME)) for name in (*self.groups.groups, "overall"))
        return names + TEXTS + 2.3, 0.65 + ROW * (len(self.groups.groups) + 2)

    def _draw(self, panels: Sequence[Axes]) -> None:
        """Draw a row for each group, and another for all samples below a line."""
        tables = (*self.groups.tables, self.groups.overall)
        last = len(tables) - 1
        for axes, measure in zip(panels, self.measures, strict=True):
            tidy(axes, grid="x")
            k = self.groups.overall.names.index(measure)
            self._write(axes, -1, "n/N", f"value [{in_percent(self.groups.overall.level)} limits]")
            for place, table in enumerate(tables):
                value, low, high = (float(part[k]) for part in (table.estimate, table.low, table.high))
                counts = as_fraction(float(table.numerator[k]), float(table.denominator[k]))
                self._write(axes, place, counts, _in_words(table, k), bold=place == last)
                if math.isnan(value):
                    continue
                axes.plot([low, high], [place, place], color=COLOUR, linewidth=1.6, solid_capstyle="butt")
                marker, size = ("D", 6.0) if place == last else ("s", 4.5)
                axes.plot(value, place, color=COLOUR, marker=marker, markersize=size)
            overall = float(self.groups.overall.estimate[k])
            if not math.isnan(overall):
                axes.axvline(overall, color=INK, linewidth=0.8, linestyle=(0, (4, 2)), zorder=1.5)
            axes.axhline(last - 0.5, color=INK, linewidth=0.5)
            axes.set_ylim(last + 0.6, -0.6)
            names = [short_name(name, NAME) for name in self.groups.groups]
            axes.set_yticks(range(last + 1), labels=[*names, "overall"])
            axes.get_yticklabels()[last].set_fontweight("bold")
            axes.tick_params(axis="y", length=0, labelsize=SMALL)
            axes.spines["left"].set_visible(False)
            axes.locator_params(axis="x", nbins=5 if self.scale > 0.8 else 2)
            axes.set_xlabel(self._title(measure), fontsize=SMALL + 0.5)

    def _write(self, axes: Axes, place: int, counts: str, value: str, *, bold: bool = False) -> None:
        """Write the cells of a row at the right of the axes."""
        for away, text in ((8, counts), (14 + 72 * LETTER * self._letters(), value)):
            axes.annotate(
                text, (1, place), (away, 0), xycoords=axes.get_yaxis_transform(), textcoords="offset points",
                va="center", fontsize=SMALL, color=INK, fontweight="bold" if bold else "normal",
                annotation_clip=False,
            )  # fmt: skip

    def _letters(self) -> int:
        """The width of the column of counts in characters."""
        tables = (*self.groups.tables, self.groups.overall)
        places = [self.groups.overall.names.index(measure) for measure in self.measures]
        parts = [(float(table.numerator[k]), float(table.denominator[k])) for table in tables for k in places]
        return max(len(as_fraction(*part)) for part in parts)

    def _title(self, measure: str) -> str:
        """The name of the measure, and the p-value of the test of homogeneity."""
        p_value = float(self.groups.p_value[self.groups.overall.names.index(measure)])
        text = "" if math.isnan(p_value) else rounded(p_value)
        test = f"; homogeneity: p {text if text[:1] == '<' else '= ' + text}" if text else ""
        return f"{measure}{test}"

    def describe(self) -> str:
        """Describe the picture in a few sentences."""
        sentences = [f"Forest plot of {len(self.groups.groups)} groups and all samples."]
        for measure in self.measures:
            k = self.groups.overall.names.index(measure)
            rows = [
                f"{name} {_in_words(table, k)}"
                for name, table in zip(
                    (*self.groups.groups, "overall"), (*self.groups.tables, self.groups.overall), strict=True
                )
            ]
            sentences.append(f"{self._title(measure)}: {', '.join(rows)}.")
        return " ".join(sentences)


def _in_words(table: DiagnosticTable, k: int) -> str:
    """A value with its limits."""
    value, low, high = (float(part[k]) for part in (table.estimate, table.low, table.high))
    return "undefined" if math.isnan(value) else limits(value, low, high)


def subgroups(
    result: DiagnosticGroups,
    measures: str | Iterable[str] | None = None,
    *,
    width: float | None = None,
    ax: Axes | Sequence[Axes] | None = None,
) -> SubgroupsDisplay:
    """Draw a diagnostic test in groups of samples as a forest plot: n/N, values and limits, and a row for all samples.

    Parameters
    ----------
    result : DiagnosticGroups
        The tables of all groups, from :func:`matrics.stats.diagnostic_groups`.
    measures : str or iterable of str, optional
        Names of measures, as rows of the table have them: each has a panel. Sensitivity and specificity if left out.
    width : float, optional
        The width of a new figure in inches, such as 3.5, a column of many journals; chosen by the contents if left out.
        Texts keep their size.
    ax : matplotlib.axes.Axes, or array of them, optional
        The axes to draw on, an Axes for each panel, which is a measure; a new figure if left out.

    Returns
    -------
    SubgroupsDisplay
        The data, ``figure_`` and ``ax_``.

    Raises
    ------
    ImportError
        Matplotlib is not installed.
    TypeError, ValueError
        The result is not a DiagnosticGroups, or has no such measure.

    Examples
    --------
    >>> import matrics.plot
    >>> groups = matrics.stats.diagnostic_groups([[[80, 10], [2, 8]], [[70, 5], [4, 16]]], groups=["north", "south"])
    >>> print(matrics.plot.subgroups(groups, "sensitivity").describe())
    Forest plot of 2 groups and all samples. sensitivity; homogeneity: p = 1.000: north 0.800 [0.490, 0.943], ...
    """
    if not isinstance(result, DiagnosticGroups):
        raise TypeError(f"result: expected the result of matrics.stats.diagnostic_groups, got {quoted(result)}")
    names = (measures,) if isinstance(measures, str) else MEASURES if measures is None else tuple(measures)
    known = result.overall.names
    for name in names:
        if name not in known:
            raise ArgumentError("measures", f"expected names out of {', '.join(known)}, got {quoted(name)}")
    if not names:
        raise ArgumentError("measures", "expected names, got none")
    return SubgroupsDisplay(result, names).plot(ax, width=width)
