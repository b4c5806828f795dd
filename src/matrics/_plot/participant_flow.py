"""The flow of participants through a diagnostic study, as the diagram of STARD shows it."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from matrics._plot.display import Display
from matrics._plot.heat_map import short_name
from matrics._plot.style import INK, SMALL
from matrics._quoting import quoted
from matrics._tables.participant_flow import ParticipantFlow

if TYPE_CHECKING:
    from matplotlib.axes import Axes

__all__ = ["ParticipantFlowDisplay", "participant_flow"]

MOST = 6  # the largest number of results of the test next to each other
NAME = 20  # letters of a label
COLUMN, LINE = 1.9, 0.16  # inches of the boxes of a result, and of a line of text
TOP, SIDE, FORK, MIDDLE, BOTTOM = 0.93, 0.76, 0.62, 0.5, 0.16  # positions of boxes, as shares of the height


@dataclass(eq=False, repr=False)
class ParticipantFlowDisplay(Display):
    """A diagram of participants, as from :func:`matrics.plot.participant_flow`.

    Parameters
    ----------
    flow : ParticipantFlow
        The numbers of participants.
    """

    flow: ParticipantFlow

    def panel_size(self) -> tuple[float, float]:
        """The width and height in inches, with a column of boxes for each result of the test."""
        lines = max((len(by_standard) for by_standard in self.flow.by_result.values()), default=1)
        return max(3.5, COLUMN * len(self.flow.by_result)), 3.0 + LINE * max(lines, len(self.flow.without_test))

    def _draw(self, panels: Sequence[Axes]) -> None:
        """Draw the boxes from top to bottom, with arrows between them."""
        (axes,) = panels
        axes.set(xlim=(0, 1), ylim=(0, 1))
        axes.set_axis_off()
        number = max(1, len(self.flow.by_result))
        start = _box(axes, 0.5, TOP, f"participants\nn = {self.flow.participants:,}")
        without_test = self.flow.without_test
        box_of_excluded = _box(
            axes, 0.99, SIDE, "\n".join(_excluded("without test result", without_test)), align="right"
        )
        axes.annotate("", (0, 0.5), (0.5, SIDE), box_of_excluded.get_bbox_patch(), "data", _arrow())
        ends = [0.5 / number, 1 - 0.5 / number]
        axes.annotate("", (0.5, FORK), (0.5, 0), "data", start.get_bbox_patch(), {**_arrow(), "arrowstyle": "-"})
        axes.plot(ends, [FORK, FORK], color=INK, linewidth=0.8, solid_capstyle="projecting")
        for k, (result, by_standard) in enumerate(self.flow.by_result.items()):
            x = (k + 0.5) / number
            label = f"test result {short_name(result, NAME)}\nn = {sum(by_standard.values()):,}"
            middle = _box(axes, x, MIDDLE, label)
            axes.annotate("", (0.5, 1), (x, FORK), middle.get_bbox_patch(), "data", _arrow())
            texts = [f"no reference standard: {by_standard.get('', 0):,}"]
            texts += [f"{short_name(name, NAME)}: {size:,}" for name, size in by_standard.items() if name]
            below = _box(axes, x, BOTTOM, "reference standard\n" + "\n".join(texts))
            axes.annotate("", (0.5, 1), (0.5, 0), below.get_bbox_patch(), middle.get_bbox_patch(), _arrow())

    def describe(self) -> str:
        """Describe the flow in words."""
        return " ".join(f"{line.strip()}." for line in str(self.flow).splitlines())


def _box(axes: Axes, x: float, y: float, text: str, *, align: str = "center") -> Any:
    """Write text in a frame; returns the text."""
    return axes.text(
        x, y, text, ha=align,
        multialignment="center" if align == "center" else "left", va="center",
        fontsize=SMALL, color=INK, linespacing=1.35,
        bbox={"boxstyle": "square,pad=0.5", "facecolor": "white", "edgecolor": INK, "linewidth": 0.8},
    )  # fmt: skip


def _arrow() -> dict[str, Any]:
    return {"arrowstyle": "-|>", "color": INK, "linewidth": 0.8, "shrinkA": 0, "shrinkB": 0}


def _excluded(title: str, by_standard: dict[str, int]) -> list[str]:
    """The number of excluded participants, by the reference standard."""
    named = {name: size for name, size in by_standard.items() if name} | (
        {"neither": by_standard[""]} if by_standard.get("") else {}
    )
    return [
        f"{title}: {sum(by_standard.values()):,}",
        *(f"{short_name(name, NAME)}: {size:,}" for name, size in named.items()),
    ]


def participant_flow(result: ParticipantFlow, *, width: float | None = None, ax: Any = None) -> ParticipantFlowDisplay:
    """Draw the flow of participants through a diagnostic study, as the diagram of STARD shows it.

    Parameters
    ----------
    result : ParticipantFlow
        The numbers of participants, from :func:`matrics.stats.participant_flow`.
    width : float, optional
        The width of a new figure in inches, such as 3.5, a column of many journals; chosen by the contents if left out.
        Texts keep their size.
    ax : matplotlib.axes.Axes, optional
        The axes to draw on; a new figure if left out.

    Returns
    -------
    ParticipantFlowDisplay
        The data, ``figure_`` and ``ax_``.

    Raises
    ------
    ImportError
        Matplotlib is not installed.
    TypeError, ValueError
        The result is not a ParticipantFlow, or the test has more than six results.

    Examples
    --------
    >>> import matrics.plot
    >>> flow = matrics.stats.participant_flow(["ill", "ill", "healthy", None], ["+", "-", "-", "+"])
    >>> print(matrics.plot.participant_flow(flow).describe()[:53])
    4 participants. without test result: 0. test result +
    """
    if not isinstance(result, ParticipantFlow):
        raise TypeError(f"result: expected the result of matrics.stats.participant_flow, got {quoted(result)}")
    if len(result.by_result) > MOST:
        raise ValueError(f"result: expected at most {MOST} results of the test, got {len(result.by_result)}")
    return ParticipantFlowDisplay(result).plot(ax, width=width)
