"""Pictures made of lines: few points for each, names for a few of many, and a legend outside of the panels."""

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
    "looks",
    "most_telling",
    "thinned",
]

MOST_NAMED = 8  # lines that have a style and a name of their own; of more only some stand out, and the others are grey
OF_A_CROWD = 5  # lines of such a crowd that stand out
POINTS = 1000  # of a line
POINTS_OF_ALL = 2400  # of all lines with a name together, and of all others
UNSEEN = 1 / 2000  # of the picture: hardly a printer shows a line that is so little out of its place
LONGEST = 30  # characters of a name
LEGEND_LINE = 0.155  # inches
MARKERS_OF_A_LINE = 7
HANDLE, LETTER = 0.6, 0.052  # inches, of a legend
BAND = 0.18  # how opaque limits are


class LinesDisplay(Display):
    """A picture made of lines, whose layout is found in two steps."""

    def layout(self) -> Any:
        """See ``Display``, in two steps."""
        return _layout_in_two_steps()


def _layout_in_two_steps() -> Any:
    """Matplotlib's layout, twice: the size of square axes, and of what is next to them, is known after a first one."""
    from matplotlib.layout_engine import ConstrainedLayoutEngine

    class LayoutInTwoSteps(ConstrainedLayoutEngine):
        def execute(self, fig: Any) -> Any:
            super().execute(fig)
            return super().execute(fig)

        def __reduce__(self) -> Any:
            return _layout_in_two_steps, ()  # a class of this function cannot be pickled by its name

    return LayoutInTwoSteps(h_pad=0.07)


def thinned(x: NumPyArray, y: NumPyArray, most: int = POINTS) -> tuple[NumPyArray, NumPyArray]:
    """The points that determine the shape of a line; the line through them looks like that through all points.

    The point that is farthest from the line through those that are kept is kept as well, again and again (Douglas and
    Peucker), until none is farther than can be seen, or there are enough. Gaps (NaN) stay gaps.
    """
    x, y = np.asarray(x, float), np.asarray(y, float)
    kept = _kept(x, y, most)
    return x[kept], y[kept]


def _kept(x: NumPyArray, y: NumPyArray, most: int) -> NumPyArray:
    """Which points to keep."""
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
    while pieces and -pieces[0][0] > UNSEEN and number < most:
        _, first, place, last = heapq.heappop(pieces)
        kept[place] = True
        number += 1
        for ends in ((first, place), (place, last)):
            heapq.heappush(pieces, _farthest(u, v, *ends))
    kept[1:] &= known[1:] | known[:-1]  # one NaN is enough for a gap
    return kept


def _farthest(u: NumPyArray, v: NumPyArray, first: int, last: int) -> tuple[float, int, int, int]:
    """The point between two that is farthest from the line through these, and how far, with a minus."""
    if last - first < 2:
        return 0.0, first, first, last
    along, across = u[last] - u[first], v[last] - v[first]
    beside, above = u[first + 1 : last] - u[first], v[first + 1 : last] - v[first]
    length = np.hypot(along, across)
    away = np.abs(along * above - across * beside) / length if length > 0 else np.hypot(beside, above)
    place = int(away.argmax())
    return -float(away[place]), first, first + 1 + place, last


def most_telling(values: Sequence[float], *, higher_is_better: bool | None = True) -> list[int]:
    """The numbers of the lines with a name: all of a few, the best of many, in the order of the lines."""
    if len(values) <= MOST_NAMED:
        return list(range(len(values)))
    sign = 1 if higher_is_better is False else -1
    order = np.argsort(sign * np.asarray(values, float), kind="stable")  # undefined ones (NaN) last
    return sorted(int(place) for place in order[:OF_A_CROWD])


def looks(number: int, *, in_a_crowd: bool) -> list[Style]:
    """A style for each line; before grey lines only those that are dark enough to be seen there in grey as well."""
    return [styles(7)[k] for k in (0, 2, 4, 5, 6)][:number] if in_a_crowd else styles(number)


def draw_line(
    axes: Axes, x: NumPyArray, y: NumPyArray, look: Style, label: str, *, beside: int = 1, **options: Any
) -> Any:
    """Draw a line by few points and with some markers; returns it for the legend."""
    x, y = np.asarray(x, float), np.asarray(y, float)
    kept, marked = _kept(x, y, min(POINTS, POINTS_OF_ALL // beside)), _places_of_markers(x, y, look.number)
    kept[marked] = True
    given: dict[str, Any] = {
        "color": look.colour,
        "linestyle": look.dashes,
        "linewidth": 1.3,
        "marker": look.marker,
        "markersize": 3.8,
        "markeredgewidth": 0.9,
        "markerfacecolor": "white" if look.number % 2 else look.colour,
        "markevery": (kept.cumsum() - 1)[marked].tolist(),
        "label": label,
    }
    return axes.plot(x[kept], y[kept], **{**given, **options})[0]


def _places_of_markers(x: NumPyArray, y: NumPyArray, number: int) -> list[int]:
    """Some points at equal distances along a line, other ones for each line; and those between two gaps."""
    places = np.flatnonzero(np.isfinite(x) & np.isfinite(y))
    if len(places) <= MARKERS_OF_A_LINE:
        return [int(place) for place in places]
    u, v = (part[places] / (np.ptp(part[places]) or 1) for part in (x, y))
    along = np.concatenate([[0], np.hypot(np.diff(u), np.diff(v)).cumsum()])
    first = 0.15 + number * 0.37 % 0.7
    wanted = (np.arange(MARKERS_OF_A_LINE) + first) / MARKERS_OF_A_LINE * along[-1]
    chosen = places[np.minimum(np.searchsorted(along, wanted), len(places) - 1)]
    is_alone = ~np.isin(places - 1, places) & ~np.isin(places + 1, places)
    return sorted({int(place) for place in (*chosen, *places[is_alone])})


def draw_band(axes: Axes, x: NumPyArray, low: NumPyArray, high: NumPyArray, look: Style, *, beside: int = 1) -> None:
    """Draw the area between two lines in a light shade; not where one of them is NaN."""
    known = np.isfinite(low) & np.isfinite(high)
    edges = np.flatnonzero(np.diff(np.concatenate([[False], known, [False]])))
    most = max(40, POINTS_OF_ALL // 4 // beside)
    for start, stop in zip(edges[::2], edges[1::2], strict=True):
        (x_low, y_low), (x_high, y_high) = (thinned(x[start:stop], y[start:stop], most) for y in (low, high))
        corners = np.concatenate([x_high, x_low[::-1]]), np.concatenate([y_high, y_low[::-1]])
        axes.fill(*corners, color=look.colour, alpha=BAND, linewidth=0, zorder=1.6)


def draw_crowd(axes: Axes, lines: Sequence[tuple[NumPyArray, NumPyArray]], *, colour: Any = FAINT) -> None:
    """Draw background lines: grey and thin. Many of them are rasterised in a vector file, which stays small."""
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
    """As :func:`short_name`, with the room that a legend has."""
    return short_name(name, longest)


def legend_below(panels: Sequence[Axes], handles: Sequence[Any], *, owns_figure: bool, under: float = 0) -> None:
    """A legend below the panels of a new figure, or below the last of the user's axes.

    Below these there may already be something, as high as this part of their height. Handles in a tuple share a
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
