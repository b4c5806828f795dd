"""Pictures of lines: few points for each line, names for the most important lines, and a legend below the panels."""

from __future__ import annotations

import heapq
import textwrap
from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

import numpy as np

from matrics._plot.display import Display
from matrics._plot.heat_map import short_name
from matrics._plot.style import FAINT, INK, SMALL, Style, styles
from matrics.typing import NumPyArray

if TYPE_CHECKING:
    from matplotlib.axes import Axes

__all__ = [
    "BAND",
    "LEGEND_LINE",
    "MOST_NAMED",
    "LinesDisplay",
    "cut_name",
    "draw_band",
    "draw_crowd",
    "draw_line",
    "legend_below",
    "line_styles",
    "lines_to_name",
    "thinned",
]

MOST_NAMED = 8  # up to this number, each line has its own style and name; of more, most lines are grey
OF_A_CROWD = 5  # the number of lines with a name if most are grey
POINTS = 1000  # the largest number of points of a line
POINTS_OF_ALL = 2400  # the largest number of points of all named lines together, and of all grey lines
INVISIBLE = 1 / 2000  # deviations below this share of the picture are not visible in print
LONGEST = 30  # characters of a name
LEGEND_LINE = 0.155  # inches
MARKERS_OF_A_LINE = 7
HANDLE, LETTER = 0.6, 0.052  # inches, of a legend
BAND = 0.18  # the opacity of bands


class LinesDisplay(Display):
    """A picture of lines, whose layout is computed in two steps."""

    def layout(self) -> Any:
        """The layout engine of a new figure, with two steps."""
        return _layout_in_two_steps()


def _layout_in_two_steps() -> Any:
    """Matplotlib's layout engine, executed twice: the size of square axes is known only after the first execution."""
    from matplotlib.layout_engine import ConstrainedLayoutEngine

    class LayoutInTwoSteps(ConstrainedLayoutEngine):
        def execute(self, fig: Any) -> Any:
            super().execute(fig)
            return super().execute(fig)

        def __reduce__(self) -> Any:
            return _layout_in_two_steps, ()  # a local class cannot be pickled by its name

    return LayoutInTwoSteps(h_pad=0.07)


def thinned(x: NumPyArray, y: NumPyArray, most: int = POINTS) -> tuple[NumPyArray, NumPyArray]:
    """The points that determine the shape of a line: the line through them looks like the line through all points.

    The algorithm of Douglas and Peucker repeatedly adds the farthest point from the current line. It stops if all
    deviations are invisible, or at the largest number of points. Gaps (NaN) stay gaps.
    """
    x, y = np.asarray(x, float), np.asarray(y, float)
    is_kept = _kept(x, y, most)
    return x[is_kept], y[is_kept]


def _kept(x: NumPyArray, y: NumPyArray, most: int) -> NumPyArray:
    """Whether to keep each point."""
    known = np.isfinite(x) & np.isfinite(y)
    if known.sum() < 3:
        return np.ones(len(x), bool)
    u, v = (part / (np.ptp(part[known]) or 1) for part in (x, y))
    kept = ~known
    edges = np.flatnonzero(np.diff(np.concatenate([[False], known, [False]])))
    pieces: list[tuple[float, int, int, int]] = []
    for start, stop in zip(edges[::2], edges[1::2], strict=True):
        kept[[start, stop - 1]] = True
        pieces.append(_farthest(u, v, int(start), int(stop) - 1))
    heapq.heapify(pieces)
    number = int((kept & known).sum())
    while pieces and -pieces[0][0] > INVISIBLE and number < most:
        _, first, place, last = heapq.heappop(pieces)
        kept[place] = True
        number += 1
        for ends in ((first, place), (place, last)):
            heapq.heappush(pieces, _farthest(u, v, *ends))
    kept[1:] &= known[1:] | known[:-1]  # a single NaN is enough for a gap
    return kept


def _farthest(u: NumPyArray, v: NumPyArray, first: int, last: int) -> tuple[float, int, int, int]:
    """The negative distance, and the index, of the farthest point from the line through two points, between them."""
    if last - first < 2:
        return 0.0, first, first, last
    span_x, span_y = u[last] - u[first], v[last] - v[first]
    offset_x, offset_y = u[first + 1 : last] - u[first], v[first + 1 : last] - v[first]
    length = np.hypot(span_x, span_y)
    distances = np.abs(span_x * offset_y - span_y * offset_x) / length if length > 0 else np.hypot(offset_x, offset_y)
    place = int(distances.argmax())
    return -float(distances[place]), first, first + 1 + place, last


def lines_to_name(values: Sequence[float], *, higher_is_better: bool | None = True) -> list[int]:
    """The indices of the lines with a name, ascending: all of a few lines, or the best of many."""
    if len(values) <= MOST_NAMED:
        return list(range(len(values)))
    sign = 1 if higher_is_better is False else -1
    order = np.argsort(sign * np.asarray(values, float), kind="stable")  # undefined values (NaN) last
    return sorted(int(place) for place in order[:OF_A_CROWD])


def line_styles(number: int, *, on_grey: bool) -> list[Style]:
    """A style for each line; ``on_grey`` selects styles that are dark enough to be visible on grey lines."""
    return [styles(7)[k] for k in (0, 2, 4, 5, 6)][:number] if on_grey else styles(number)


def draw_line(
    axes: Axes, x: NumPyArray, y: NumPyArray, style: Style, label: str, *, num_lines: int = 1, **options: Any
) -> Any:
    """Draw a line with few points and some markers; returns the handle for the legend."""
    x, y = np.asarray(x, float), np.asarray(y, float)
    kept, marked = _kept(x, y, min(POINTS, POINTS_OF_ALL // num_lines)), _places_of_markers(x, y, style.number)
    kept[marked] = True
    defaults: dict[str, Any] = {
        "color": style.colour,
        "linestyle": style.dashes,
        "linewidth": 1.3,
        "marker": style.marker,
        "markersize": 3.8,
        "markeredgewidth": 0.9,
        "markerfacecolor": "white" if style.number % 2 else style.colour,
        "markevery": (kept.cumsum() - 1)[marked].tolist(),
        "label": label,
    }
    return axes.plot(x[kept], y[kept], **{**defaults, **options})[0]


def _places_of_markers(x: NumPyArray, y: NumPyArray, number: int) -> list[int]:
    """The points with markers: at equal distances along a line, with an offset for each line, and between gaps."""
    places = np.flatnonzero(np.isfinite(x) & np.isfinite(y))
    if len(places) <= MARKERS_OF_A_LINE:
        return [int(place) for place in places]
    u, v = (part[places] / (np.ptp(part[places]) or 1) for part in (x, y))
    distances = np.concatenate([[0], np.hypot(np.diff(u), np.diff(v)).cumsum()])
    offset = 0.15 + number * 0.37 % 0.7
    distances_of_markers = (np.arange(MARKERS_OF_A_LINE) + offset) / MARKERS_OF_A_LINE * distances[-1]
    marked = places[np.minimum(np.searchsorted(distances, distances_of_markers), len(places) - 1)]
    is_alone = ~np.isin(places - 1, places) & ~np.isin(places + 1, places)
    return sorted({int(place) for place in (*marked, *places[is_alone])})


def draw_band(
    axes: Axes, x: NumPyArray, low: NumPyArray, high: NumPyArray, style: Style, *, num_lines: int = 1
) -> None:
    """Draw the area between two lines in a light shade, except where a limit is NaN."""
    known = np.isfinite(low) & np.isfinite(high)
    edges = np.flatnonzero(np.diff(np.concatenate([[False], known, [False]])))
    most = max(40, POINTS_OF_ALL // 4 // num_lines)
    for start, stop in zip(edges[::2], edges[1::2], strict=True):
        (x_low, y_low), (x_high, y_high) = (thinned(x[start:stop], y[start:stop], most) for y in (low, high))
        corners = np.concatenate([x_high, x_low[::-1]]), np.concatenate([y_high, y_low[::-1]])
        axes.fill(*corners, color=style.colour, alpha=BAND, linewidth=0, zorder=1.6)


def draw_crowd(axes: Axes, lines: Sequence[tuple[NumPyArray, NumPyArray]], *, colour: Any = FAINT) -> None:
    """Draw thin grey lines in the background; many lines are rasterised to keep vector files small."""
    if not lines:
        return
    from matplotlib.collections import LineCollection

    points = [np.stack(thinned(x, y, max(80, POINTS_OF_ALL // len(lines))), axis=-1) for x, y in lines]
    many = sum(map(len, points)) > 1.5 * POINTS_OF_ALL
    axes.add_collection(
        LineCollection(points, colors=colour, linewidths=0.6, zorder=1.5, rasterized=many, antialiaseds=not many)
    )
    axes.autoscale_view()


def cut_name(name: str, longest: int = LONGEST) -> str:
    """The name, shortened to the width of a legend as by :func:`short_name`."""
    return short_name(name, longest)


def legend_below(panels: Sequence[Axes], handles: Sequence[Any], *, owns_figure: bool, under: float = 0) -> None:
    """Draw a legend below the panels of a new figure, or below the last of the user's axes.

    ``under`` is the part of the height of the user's axes that is already used below them. Handles in a tuple share a
    label.
    """
    from matplotlib.legend_handler import HandlerTuple

    if not handles:
        return
    options: dict[str, Any] = {
        "handles": list(handles), "frameon": False, "fontsize": SMALL, "labelcolor": INK, "handlelength": 3.2,
        "labelspacing": 0.35, "borderaxespad": 0.3, "handler_map": {tuple: HandlerTuple(ndivide=None, pad=0)},
        "labels": [(handle[0] if isinstance(handle, tuple) else handle).get_label() for handle in handles],
    }  # fmt: skip
    figure: Any = panels[0].get_figure(root=True)
    if owns_figure:
        letters = max(12, int((figure.get_figwidth() - HANDLE) / LETTER))
        options["labels"] = [textwrap.fill(label, letters) for label in options["labels"]]
        figure.legend(loc="outside lower center", **options)
        return
    height = panels[-1].get_position().height * figure.get_figheight()
    panels[-1].legend(loc="upper center", bbox_to_anchor=(0.5, -under - 0.5 / max(height, 0.5)), **options)
