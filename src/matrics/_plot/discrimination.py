"""Discrimination lines: which of two kinds of errors a measure prefers."""

from __future__ import annotations

import itertools
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np

from matrics._arrays.sizes import check_count
from matrics._catalogue.classes import Classes
from matrics._catalogue.naming import title_of
from matrics._catalogue.record import Metric
from matrics._engine.results import NamedResult
from matrics._plot.lines import LEGEND_LINE, LinesDisplay, draw_line, legend_below
from matrics._plot.style import FAINT, Style, sequence_of_styles, styles, tidy
from matrics._scoring.score import resolve
from matrics._study.line import DiscriminationLine, LineStatus, discrimination_line
from matrics._wording import rounded
from matrics.typing import ArrayLike, NumPyArray

if TYPE_CHECKING:
    from matplotlib.axes import Axes

__all__ = ["DiscriminationLinesDisplay", "NamedLine", "discrimination_lines"]

MOST_LINES = 24
STATUSES = {int(status): status for status in LineStatus}
MOST_PANELS = 12
SAME = 1e-6  # lines with smaller differences are drawn as a single line
NOTE = "above a line errors in one class are preferred,\nbelow it errors in all classes"
FOLD = 0.25  # two branches that begin at a smaller distance belong to a fold
NEAR = 0.05  # roots of neighbouring x at a larger distance are not joined, unless the number of roots stays the same


class NamedLine(NamedResult):
    """A discrimination line with the names of all measures, or all imbalances, that share it.

    Parameters
    ----------
    names : tuple of str
        The measures or imbalances.
    line : DiscriminationLine
        The line, of a single imbalance.
    """

    names: tuple[str, ...]
    line: DiscriminationLine


@dataclass(eq=False, repr=False)
class DiscriminationLinesDisplay(LinesDisplay):
    """Discrimination lines, as from :func:`matrics.plot.discrimination_lines`.

    Parameters
    ----------
    lines : list of list of NamedLine
        The lines of each panel.
    titles : list of str
        The titles of the panels.
    num_classes : int
        The number of classes.
    by_imbalance : bool
        Whether the lines of a panel differ in their imbalance, and not in their measure.
    imbalance : float
        The imbalance of all lines, if it is the same.
    """

    lines: list[list[NamedLine]]
    titles: list[str]
    num_classes: int
    by_imbalance: bool
    imbalance: float = 0.0

    def panels(self) -> int:
        """The number of measures if the lines differ in their imbalance; otherwise 1."""
        return len(self.lines)

    def panel_size(self) -> tuple[float, float]:
        """The width of a paper's column, and room for the legend; smaller for several panels."""
        rows = sum(_label(line.names).count("\n") + 1 for line in self.lines[0]) + 3
        size = (3.5, 3.4) if self.panels() == 1 else (2.6, 2.7)
        return size[0], size[1] + LEGEND_LINE * rows / self.grid()[0]

    def _draw(self, panels: Sequence[Axes]) -> None:
        """Draw the lines of each panel."""
        handles: list[Any] = []
        for number, (axes, lines) in enumerate(zip(panels, self.lines, strict=True)):
            tidy(axes, grid="both")
            axes.plot([0, 1], [0, 1], color=FAINT, linewidth=4, solid_capstyle="butt", zorder=1.4)
            line_styles = sequence_of_styles(len(lines)) if self.by_imbalance else styles(len(lines))
            line_handles = [self._draw_line(axes, line, style) for line, style in zip(lines, line_styles, strict=True)]
            axes.set(xlim=(-0.02, 1.03), ylim=(-0.02, 1.03), aspect="equal", title=self.titles[number])
            axes.set_xlabel("recall x of every class")
            axes.set_ylabel("recall y of the first class,\nothers without errors")
            if number == 0:
                handles = [*line_handles, *axes.plot([], [], color=FAINT, linewidth=4, label="y = x")]
            if self.panels() > 1:
                axes.set(xticks=[0, 0.5, 1], yticks=[0, 0.5, 1])
        handles += panels[0].plot([], [], linestyle="none", label=NOTE)
        legend_below(panels, handles, owns_figure=self.owns_figure)

    def _draw_line(self, axes: Axes, named_line: NamedLine, style: Style) -> Any:
        """Draw all branches of a line, and the intervals of equal values; returns the handle for the legend."""
        if (named_line.line.status == LineStatus.EQUAL).all() and len(named_line.line.x) > 1:
            return axes.plot([], [], linestyle="none", label=f"{_label(named_line.names)}: the same for all errors")[0]
        x, low, high = _intervals(named_line.line)
        if len(x) == 1:
            axes.vlines(x, low, high, color=style.colour, linestyle=style.dashes, linewidth=1.3)
        elif len(x):
            width = np.diff(x).min()
            axes.bar(
                x,
                high - low,
                width,
                low,
                color=style.colour,
                alpha=0.2,
                linewidth=0,
                zorder=1.2,
                rasterized=len(x) > 50,
            )
        handle = None
        for place, (x, y) in enumerate(sorted(branches(named_line.line), key=lambda part: -len(part[0]))):
            marker = style.marker if len(x) > 20 or place == 0 else ""
            drawn = draw_line(
                axes,
                x,
                y,
                style,
                _label(named_line.names),
                num_lines=len(self.lines[0]) * len(self.lines),
                marker=marker,
            )
            handle = handle or drawn
        if handle is None:
            preferred = STATUSES[int(np.bincount(named_line.line.status).argmax())].name.lower().replace("_", " ")
            (handle,) = axes.plot([], [], linestyle="none", label=f"{_label(named_line.names)}: no line ({preferred})")
        return handle

    def describe(self) -> str:
        """Describe the picture in a few sentences."""
        text = (
            f"discrimination lines for {self.num_classes} classes: the recall y of only the first class that is as "
            "good as the recall x of every class. Above its line a measure prefers errors in one class, below it "
            "errors in all classes."
        )
        sentences = [text]
        for title, lines in zip(self.titles, self.lines, strict=True):
            parts = [f"{', '.join(named_line.names)} {_root_at(named_line.line, 0.9)}" for named_line in lines[:12]]
            sentences.append(f"{title + ': ' if title else ''}{'; '.join(parts)}.")
        return " ".join(sentences)


def _root_at(line: DiscriminationLine, x: float) -> str:
    """The greatest root at this x in words, or the preference if there is no root."""
    place = int(np.abs(line.x - x).argmin())
    if np.isfinite(line.y[place]):
        return f"has y = {rounded(line.y[place])} for x = {line.x[place]:.3g}"
    return f"has none for x = {line.x[place]:.3g}: {STATUSES[int(line.status[place])].sentence}"


def _label(names: tuple[str, ...]) -> str:
    """The names, with line breaks for a legend with the width of a column."""
    rows = [""]
    for name in names:
        rows = (
            [*rows[:-1], f"{rows[-1]}, {name}".removeprefix(", ")] if len(rows[-1]) + len(name) < 40 else [*rows, name]
        )
    return ",\n".join(row for row in rows if row)


def branches(line: DiscriminationLine) -> list[tuple[NumPyArray, NumPyArray]]:
    """The branches of a line: roots of neighbouring x, joined to lines.

    Parameters
    ----------
    line : DiscriminationLine
        The line of a single imbalance, with arrays (X,) and (X, R).

    Returns
    -------
    list of (array, array)
        The coordinates x and y of each branch.
    """
    finished: list[list[tuple[float, float]]] = []
    current: list[list[tuple[float, float]]] = []
    limit = max(NEAR, 4 * float(np.diff(line.x, prepend=line.x[:1]).max(initial=0)))
    for x, row in zip(line.x, line.roots, strict=True):
        roots = [float(root) for root in row[np.isfinite(row)]]
        pairs = list(zip(range(len(current)), range(len(roots)), strict=False))
        if len(current) != len(roots):  # a branch begins or ends: the nearest branches continue
            distances = sorted(
                (abs(branch[-1][1] - root), k, j) for k, branch in enumerate(current) for j, root in enumerate(roots)
            )
            pairs = []
            for distance, k, j in distances:
                if distance <= limit and k not in {i for i, _ in pairs} and j not in {i for _, i in pairs}:
                    pairs.append((k, j))
        continued = {j: current[k] for k, j in pairs}
        finished += [branch for k, branch in enumerate(current) if k not in {k for k, _ in pairs}]
        current = [[*continued.get(j, []), (float(x), root)] for j, root in enumerate(roots)]
    return [(np.asarray(points)[:, 0], np.asarray(points)[:, 1]) for points in _folded([*finished, *current], line.x)]


def _folded(parts: list[list[tuple[float, float]]], x: NumPyArray) -> list[list[tuple[float, float]]]:
    """The branches, after joining pairs that begin or end close to each other, because the line turns back there."""
    for end, outermost in ((0, x[0]), (-1, x[-1])):
        for first, second in itertools.combinations(sorted(parts, key=lambda part: part[end]), 2):
            (x_first, y_first), (x_second, y_second) = first[end], second[end]
            if x_first == x_second != outermost and abs(y_first - y_second) < FOLD and len(first) > 1 < len(second):
                rest = [part for part in parts if part is not first and part is not second]
                joined = [*first[::-1], *second] if end == 0 else [*first, *second[::-1]]
                return _folded([*rest, joined], x)
    return parts


def _intervals(line: DiscriminationLine) -> tuple[NumPyArray, NumPyArray, NumPyArray]:
    """The x, lower and upper ends of intervals in which all y have the same value, for x with exactly two roots."""
    is_interval = line.has_interval & (np.isfinite(line.roots).sum(axis=-1) == 2)
    if not is_interval.any():
        return np.empty(0), np.empty(0), np.empty(0)
    return line.x[is_interval], np.nanmin(line.roots[is_interval], axis=-1), np.nanmax(line.roots[is_interval], axis=-1)


def discrimination_lines(
    metrics: str | Metric | Iterable[str | Metric] | Mapping[str, str | Metric],
    num_classes: int,
    *,
    imbalance: float | ArrayLike = 0.0,
    positive: int | None = None,
    hits: ArrayLike | None = None,
    width: float | None = None,
    ax: Any = None,
) -> DiscriminationLinesDisplay:
    """Draw discrimination lines of measures, or of class sizes (:func:`matrics.study.discrimination_line`).

    Measures with the same line share it. For a single imbalance all measures are in the same panel; for several, each
    measure has a panel with a line for each imbalance.

    Parameters
    ----------
    metrics : str, Metric, or several of them, or mapping of names to them
        Names, aliases, groups (``core``, ``overall``, ``all``, ``on_host``, or a family of
        :func:`matrics.list_metrics`), specs (``"recall:class"``, ``"recall[1]"``, ``"fbeta(beta=2):weighted"``; see
        :func:`matrics.get_metric`), or metrics. A string may contain several of these, separated by commas. Each has a
        single value for each matrix. A mapping has the names for the legend.
    num_classes : int
        Number of classes, n, at least 2.
    imbalance : float or array_like, shape (P,), default 0
        In [0, 1]: 0 for classes of equal size, 1 for halving sizes.
    positive : int, optional
        The index of the class, for per-class measures without an average.
    hits : array_like, shape (X,), optional
        The recalls x; 201 numbers from 0 to 1 if left out.
    width : float, optional
        The width of a new figure in inches, such as 3.5, a column of many journals; chosen by the contents if left out.
        Texts keep their size.
    ax : matplotlib.axes.Axes, or array of them, optional
        The axes to draw on, an Axes for each panel; a new figure if left out.

    Returns
    -------
    DiscriminationLinesDisplay
        The data, ``figure_`` and ``ax_``.

    Raises
    ------
    ImportError
        Matplotlib is not installed.
    ValueError
        As :func:`matrics.study.discrimination_line`; or there are more than 24 measures or imbalances, or more than 12
        panels.

    Examples
    --------
    >>> import matrics.plot
    >>> display = matrics.plot.discrimination_lines(["accuracy", "cohen_kappa", "csi"], 3, hits=[0.8, 0.9, 1])
    >>> [line.names for line in display.lines[0]]
    [('accuracy', 'cohen_kappa'), ('csi',)]
    >>> print(display.describe()[-70:])
    cohen_kappa has y = 0.700 for x = 0.9; csi has y = 0.678 for x = 0.9.
    """
    measures: dict[str, Any]
    if isinstance(metrics, Mapping):
        measures = {str(key): metric for key, metric in metrics.items()}
    else:
        classes = Classes.of(check_count(num_classes, "num_classes"), None, positive)
        measures = {title_of(key): metric for key, metric in resolve(metrics, classes).items()}
    levels = np.asarray(imbalance, float)
    by_imbalance = levels.ndim == 1 and levels.size > 1
    if levels.ndim > 1 or not levels.size:
        raise ValueError(f"imbalance: expected a number, or several of shape (P,), got shape {levels.shape}")
    number = levels.size if by_imbalance else len(measures)
    if not 0 < number <= MOST_LINES or (by_imbalance and not 0 < len(measures) <= MOST_PANELS):
        raise ValueError(
            f"metrics: expected 1 to {MOST_LINES} lines in a panel, and up to {MOST_PANELS} panels, got "
            f"{len(measures)} measures and {levels.size} imbalances"
        )
    x = np.linspace(0, 1, 201) if hits is None else hits
    lines = {
        name: discrimination_line(metric, num_classes, levels.reshape(-1), positive=positive, hits=x)
        for name, metric in measures.items()
    }
    if not next(iter(lines.values())).x.size:
        raise ValueError("hits: expected at least one recall, got none")
    if by_imbalance:
        panels = [
            _merged((f"p = {level:g}", _of_level(line, k)) for k, level in enumerate(levels)) for line in lines.values()
        ]
        titles = list(measures) if len(measures) > 1 else [f"{next(iter(measures))}, by imbalance p"]
        return DiscriminationLinesDisplay(panels, titles, num_classes, by_imbalance=True).plot(ax, width=width)
    panels = [_merged((name, _of_level(line, 0)) for name, line in lines.items())]
    return DiscriminationLinesDisplay(
        panels, [""], num_classes, by_imbalance=False, imbalance=float(levels.reshape(-1)[0])
    ).plot(ax, width=width)  # fmt: skip


def _of_level(line: DiscriminationLine, k: int) -> DiscriminationLine:
    """The line of imbalance ``k``."""
    return DiscriminationLine(line.x, line.y[k], line.roots[k], line.has_interval[k], line.status[k])


def _merged(lines: Iterable[tuple[str, DiscriminationLine]]) -> list[NamedLine]:
    """The lines, with equal lines merged into a single line with several names."""
    merged: list[NamedLine] = []
    for name, line in lines:
        same = next((k for k, named_line in enumerate(merged) if _are_same(named_line.line, line)), None)
        if same is None:
            merged.append(NamedLine((name,), line))
        else:
            merged[same] = merged[same]._replace(names=(*merged[same].names, name))
    return merged


def _are_same(a: DiscriminationLine, b: DiscriminationLine) -> bool:
    width = max(a.roots.shape[-1], b.roots.shape[-1])
    first, second = (
        np.pad(line.roots, ((0, 0), (0, width - line.roots.shape[-1])), constant_values=np.nan) for line in (a, b)
    )
    return np.array_equal(a.status, b.status) and np.allclose(first, second, rtol=0, atol=SAME, equal_nan=True)
