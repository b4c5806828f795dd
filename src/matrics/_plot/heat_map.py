"""Heat maps of classes: coloured cells with text, and names of classes if there is room."""

from __future__ import annotations

import textwrap
from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING, Any, Literal

import numpy as np

from matrics._plot.style import INK, POWER, SMALL, ink_on
from matrics.typing import NumPyArray

if TYPE_CHECKING:
    from matplotlib.axes import Axes

__all__ = [
    "FEW",
    "CellText",
    "cell_text",
    "class_ticks",
    "draw_cells",
    "height_of_cells",
    "scale_bar",
    "short_name",
    "size_of_cells",
    "write_below",
]

CellText = Literal["both", "share", "count", "none"]
LONGEST = 14  # characters of a name of a class
LETTER, LINE = 0.062, 0.15  # inches of a letter and of a line below a picture
FEW = 25  # up to this number of classes there is room for text in the cells on a page


def cell_text(counts: NumPyArray, shares: NumPyArray, text: CellText) -> list[list[str]] | None:
    """The text of each cell; cells without samples have no text, so that the others are easier to see."""
    if text == "none":
        return None
    count = np.vectorize(lambda x: "" if x == 0 else _short(x), otypes=[str])(counts)
    share = np.vectorize(lambda x: "" if x == 0 or np.isnan(x) else _per_cent(x), otypes=[str])(shares)
    if text == "both":
        return [
            [f"{c}\n{s}%" if c else "" for c, s in zip(*row, strict=True)] for row in zip(count, share, strict=True)
        ]
    texts: list[list[str]] = (share if text == "share" else count).tolist()
    return texts


def _short(count: float) -> str:
    """A count in about five characters."""
    for power, unit in ((1e15, ""), (1e12, "T"), (1e9, "G"), (1e6, "M"), (1e4, "k")):
        if count >= power:
            return f"{count:.0e}" if not unit else f"{count / (1e3 if unit == 'k' else power):.3g}{unit}"
    return f"{count:.4g}"


def _per_cent(share: float) -> str:
    """A share as a percentage of two or three digits; shares near 0 and 1 are not rounded to 0 or 100."""
    if share < 0.001:
        return "<0.1"
    if share < 0.0095 or 0.995 <= share < 1:
        return f"{min(99.9, 100 * share):.1f}"
    return f"{100 * share:.0f}"


def size_of_cells(n: int, text: CellText, lines: Sequence[str] = ()) -> tuple[float, float]:
    """Width and height of a single picture of n classes with lines of text below it, for a column or a page."""
    cell = {"both": 0.46, "share": 0.27, "count": 0.4}.get(text, 0.0)
    side = min(7.2, max(3.0, 1.2 + cell * n) if n <= FEW else 5.8)
    return max(side, 0.3 + LETTER * max(map(len, lines), default=0)), height_of_cells(side, lines)


def height_of_cells(width: float, lines: Sequence[str]) -> float:
    """The height of a picture with square cells and lines of text below it."""
    return width - 0.3 + LINE * len(lines)


def draw_cells(
    axes: Axes, colours: NumPyArray, text: list[list[str]] | None, *, bold: NumPyArray | None = None
) -> None:
    """Draw cells in these colours (n, m, 3), with lines between them, and with text that contrasts with the colour."""
    rows, columns = colours.shape[:2]
    axes.imshow(colours, interpolation="nearest", aspect="equal")
    axes.spines[:].set(visible=True, color=INK, linewidth=0.8)
    if max(rows, columns) <= 30:
        axes.set_xticks(np.arange(columns - 1) + 0.5, minor=True)
        axes.set_yticks(np.arange(rows - 1) + 0.5, minor=True)
        axes.grid(visible=True, which="minor", color="white", linewidth=1)
        axes.tick_params(which="minor", length=0)
    if text is None:
        return
    is_white = ink_on(colours)
    for row in range(rows):
        for column in range(columns):
            if text[row][column]:
                axes.text(
                    column, row, text[row][column], ha="center", va="center", linespacing=1.15,
                    fontsize=SMALL - 0.5, color="white" if is_white[row, column] else INK,
                    fontweight="bold" if bold is not None and bold[row, column] else "normal",
                )  # fmt: skip


def class_ticks(axes: Axes, names: Sequence[str], columns: Sequence[str] | None = None) -> None:
    """Label the rows and the columns: all of up to 50, otherwise every second, fifth, tenth, …."""
    for axis, own in ((axes.yaxis, names), (axes.xaxis, columns or names)):
        step = next(step for step in (1, 2, 5, 10, 20, 50, 100, 200, 500, len(own)) if len(own) <= 50 * step)
        places = range(0, len(own), step)
        axis.set_ticks(list(places), labels=[short_name(own[place]) for place in places])
        axis.set_tick_params(length=2, labelsize=SMALL if len(own) <= 30 else SMALL - 1.5)
    if len(columns or names) > 30 or not _fit(axes, columns or names):
        for label in axes.get_xticklabels():
            label.set(rotation=90 if len(columns or names) > 12 else 45, ha="center" if len(names) > 12 else "right")
            label.set_rotation_mode("anchor" if len(columns or names) <= 12 else "default")


def _fit(axes: Axes, names: Sequence[str]) -> bool:
    """Whether names fit next to each other below square cells.

    The layout is computed later, so this estimates the room that ticks, labels and names will leave.
    """
    figure: Any = axes.get_figure(root=True)
    position = axes.get_position()  # in Matplotlib's default layout, in which axes take 0.77 of the figure
    width, height = position.width * figure.get_figwidth() / 0.77, position.height * figure.get_figheight() / 0.77
    longest = LETTER * max(len(short_name(name)) for name in names)
    side = min(width - 0.55 - longest, height - 0.45)
    return bool(longest + LETTER / 2 <= side / len(names))


def short_name(name: str, longest: int = LONGEST) -> str:
    """The name, shortened in its middle, because names often differ at the end."""
    if len(name) <= longest:
        return name
    return f"{name[: longest // 2]}…{name[-longest // 2 + 1 :]}"


def scale_bar(panels: Sequence[Axes], label: str, colours: tuple[Callable[[NumPyArray], NumPyArray], ...]) -> None:
    """Draw the colour bar of shares next to the panels, with a strip for each scale of colours."""
    from matplotlib.cm import ScalarMappable
    from matplotlib.colors import ListedColormap, PowerNorm

    figure: Any = panels[0].get_figure(root=True)
    shares = np.linspace(0, 1, 256)
    for scale in reversed(colours):  # from the outermost inwards
        mappable = ScalarMappable(PowerNorm(POWER, 0, 1), ListedColormap(scale(shares)))
        bar = figure.colorbar(mappable, ax=list(panels), fraction=0.03, pad=0.01, aspect=40)
        bar.outline.set(linewidth=0.5)
        bar.set_ticks([])
        if scale is colours[-1]:
            bar.set_ticks([0, 0.001, 0.01, 0.1, 0.5, 1], labels=["0", "0.1 %", "1 %", "10 %", "50 %", "100 %"])
            bar.ax.tick_params(labelsize=SMALL, color=INK, labelcolor=INK, length=2)
            bar.set_label(label, fontsize=SMALL, color=INK)


def write_below(axes: Axes, label: str, lines: Sequence[str], *, owns_figure: bool) -> None:
    """Write lines below the label of the x axis; empty lines of the label reserve the room."""
    if owns_figure:
        figure: Any = axes.get_figure(root=True)
        letters = max(10, int((figure.get_figwidth() - 0.1) / LETTER))
        wrapped = [part for line in lines for part in textwrap.wrap(line, letters, subsequent_indent="  ") or [""]]
        figure.set_figheight(figure.get_figheight() + LINE * (len(wrapped) - len(lines)))
        lines = wrapped
    axes.set_xlabel(label + "\n" * (len(lines) + 1 if lines else 0))
    left = 0.02 if owns_figure else 0.0
    axes.annotate(
        "\n".join(lines), (left, 1), (0, -17), textcoords="offset points",
        xycoords=("figure fraction" if owns_figure else "axes fraction", axes.xaxis.label),
        va="top", fontsize=SMALL, color=INK, linespacing=1.35,
    ).set_in_layout(False)  # fmt: skip
