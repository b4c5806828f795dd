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

INK = "#222222"  # text, axes, and what is drawn in one colour
FAINT = "#bbbbbb"  # grids, and what stands behind
SMALL = 7.5  # points; the smallest text that a paper prints

# Two hues distinct in every common kind of colour-blindness, from white to dark in equal steps of lightness.
BLUES = ("#ffffff", "#d4e4f1", "#9cc4e2", "#5b9fd0", "#2171b5", "#08306b")
ORANGES = ("#ffffff", "#fdeada", "#fbc58e", "#f08b2c", "#b85606", "#5f2a02")


# Shares are shaded by this power of them: good models differ in cells below 1 %, which a square root leaves white.
POWER = 1 / 3


def shaded(shares: NumPyArray) -> NumPyArray:
    """Where shares of a class are on a scale of colours: 0.1 % is a tenth of the way, and 1 % a fifth."""
    found: NumPyArray = shares**POWER
    return found


def right(shares: NumPyArray) -> NumPyArray:
    """Colours (…, 3) for shares of samples that are predicted right, from white to blue."""
    return blend(BLUES, shares)


def wrong(shares: NumPyArray) -> NumPyArray:
    """Colours (…, 3) for shares of samples that are predicted wrong, from white to orange."""
    return blend(ORANGES, shares)


def blend(colours: tuple[str, ...], shares: NumPyArray) -> NumPyArray:
    """The colour at each share in [0, 1] of the way through these colours; NaN is grey."""
    stops = np.array([[int(colour[k : k + 2], 16) / 255 for k in (1, 3, 5)] for colour in colours])
    places = np.linspace(0, 1, len(stops))
    known = np.isfinite(shares)
    found = [np.interp(np.where(known, shares, 0), places, stops[:, channel]) for channel in range(3)]
    return np.where(known[..., None], np.stack(found, axis=-1), 0.92)


def linear(colours: NumPyArray) -> NumPyArray:
    """The amounts of light of colours (…, 3) between 0 and 1 of sRGB."""
    return np.where(colours <= 0.04045, colours / 12.92, ((colours + 0.055) / 1.055) ** 2.4)


def luminance(colours: NumPyArray) -> NumPyArray:
    """The relative luminance of colours (…, 3) between 0 and 1, as WCAG defines it."""
    found: NumPyArray = linear(colours) @ np.array([0.2126, 0.7152, 0.0722])
    return found


def ink_on(colours: NumPyArray) -> NumPyArray:
    """Whether text on each of these colours (…, 3) has to be white: by the contrast that WCAG defines."""
    return np.asarray((luminance(colours) + 0.05) ** 2 < 1.05 * 0.066)  # 0.066: the luminance of INK, and 0.05


def tidy(axes: Axes, *, grid: str = "") -> None:
    """Thin lines, no frame on the right and above, and a faint grid along these axes: "x", "y", "both" or none."""
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
