"""Colours and fonts of the pictures: safe for colour-blind readers, different in grey, and few."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from matrics._study.figures.style import Style, sequence_of_styles, styles
from matrics.typing import NumPyArray

if TYPE_CHECKING:
    from matplotlib.axes import Axes

__all__ = [
    "FAINT",
    "INK",
    "POWER",
    "SMALL",
    "Style",
    "blend",
    "ink_on",
    "linear",
    "luminance",
    "right",
    "sequence_of_styles",
    "shaded",
    "styles",
    "tidy",
    "wrong",
]

INK = "#222222"  # text, axes, and lines of a single colour
FAINT = "#bbbbbb"  # grids, and lines in the background
SMALL = 7.5  # points; the smallest text in print

# Two hues that differ in every common kind of colour blindness, from white to dark in equal steps of lightness.
BLUES = ("#ffffff", "#d4e4f1", "#9cc4e2", "#5b9fd0", "#2171b5", "#08306b")
ORANGES = ("#ffffff", "#fdeada", "#fbc58e", "#f08b2c", "#b85606", "#5f2a02")


# Colours follow this power of a share: good models differ in cells below 1 %, which a square root leaves white.
POWER = 1 / 3


def shaded(shares: NumPyArray) -> NumPyArray:
    """The positions of shares of a class on a scale of colours: 0.1 % is at 0.1, and 1 % at about 0.2."""
    positions: NumPyArray = shares**POWER
    return positions


def right(shares: NumPyArray) -> NumPyArray:
    """Colours (…, 3) for shares of correctly predicted samples, from white to blue."""
    return blend(BLUES, shares)


def wrong(shares: NumPyArray) -> NumPyArray:
    """Colours (…, 3) for shares of wrongly predicted samples, from white to orange."""
    return blend(ORANGES, shares)


def blend(colours: tuple[str, ...], shares: NumPyArray) -> NumPyArray:
    """The colours (…, 3) at positions in [0, 1] on a scale of colours; NaN is grey."""
    stops = np.array([[int(colour[k : k + 2], 16) / 255 for k in (1, 3, 5)] for colour in colours])
    places = np.linspace(0, 1, len(stops))
    known = np.isfinite(shares)
    channels = [np.interp(np.where(known, shares, 0), places, stops[:, channel]) for channel in range(3)]
    return np.where(known[..., None], np.stack(channels, axis=-1), 0.92)


def linear(colours: NumPyArray) -> NumPyArray:
    """The linear intensities of sRGB colours (…, 3) between 0 and 1."""
    return np.where(colours <= 0.04045, colours / 12.92, ((colours + 0.055) / 1.055) ** 2.4)


def luminance(colours: NumPyArray) -> NumPyArray:
    """The relative luminance of colours (…, 3) between 0 and 1, as WCAG defines it."""
    values: NumPyArray = linear(colours) @ np.array([0.2126, 0.7152, 0.0722])
    return values


def ink_on(colours: NumPyArray) -> NumPyArray:
    """Whether text on each of these colours (…, 3) must be white, by the contrast that WCAG defines."""
    return np.asarray((luminance(colours) + 0.05) ** 2 < 1.05 * 0.066)  # 0.066: the luminance of INK, and 0.05


def tidy(axes: Axes, *, grid: str = "") -> None:
    """Draw thin axes without a frame at the right and above, and a faint grid along "x", "y", "both" or no axes."""
    axes.spines[["top", "right"]].set_visible(False)
    axes.spines[["left", "bottom"]].set(color=INK, linewidth=0.8)
    axes.tick_params(labelsize=SMALL + 0.5, color=INK, labelcolor=INK, width=0.8, length=3)
    for label in (axes.xaxis.label, axes.yaxis.label):
        label.set(fontsize=SMALL + 1.5, color=INK)
    axes.title.set(fontsize=SMALL + 2, color=INK)
    if grid:
        which: Any = grid
        axes.grid(visible=True, axis=which, color=FAINT, linewidth=0.5, alpha=0.6)
        axes.set_axisbelow(True)
