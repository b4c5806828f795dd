"""An enlarged corner of a picture of curves, in which good models overlap."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

import numpy as np

from matrics._plot.lines import draw_line
from matrics._plot.style import INK, SMALL, Style
from matrics.typing import NumPyArray

if TYPE_CHECKING:
    from matplotlib.axes import Axes

__all__ = ["draw_corner"]

SIDES = (0.05, 0.1, 0.2)  # of the enlarged part; a larger part would hardly be enlarged
# Empty parts of the picture: below a ROC curve, and at the left of a precision-recall curve.
PLACES = {"roc": (0.47, 0.12, 0.48, 0.48), "precision_recall": (0.12, 0.12, 0.48, 0.48)}

Curve = tuple[NumPyArray, NumPyArray]


def draw_corner(axes: Axes, kind: str, curves: Sequence[Curve], line_styles: Sequence[Style]) -> None:
    """Enlarge the corner of perfect scores, if several curves turn there."""
    from matplotlib.patches import Rectangle

    side = _side(kind, curves) if kind in PLACES and len(curves) > 1 else None
    if side is None:
        return
    left, below, width, height = PLACES[kind]
    # Pictures are saved with a transparent background, so the lines behind the inset must be covered.
    axes.add_patch(
        Rectangle((left, below), width, height, transform=axes.transAxes, facecolor="white", linewidth=0, zorder=4.5)
    )
    inset: Any = axes.inset_axes(PLACES[kind])
    for (x, y), style in zip(curves, line_styles, strict=True):
        draw_line(inset, x, y, style, "", num_lines=len(curves), marker=None)
    room = side / 50
    if kind == "roc":
        inset.set(xlim=(-room, side), ylim=(1 - side, 1 + room), xticks=[0, side], yticks=[1 - side, 1])
    else:
        inset.set(xlim=(1 - side, 1 + room), ylim=(1 - side, 1 + room), xticks=[1 - side, 1], yticks=[1 - side, 1])
    inset.tick_params(labelsize=SMALL, color=INK, labelcolor=INK, width=0.6, length=2, pad=1.5)
    inset.spines[:].set(color=INK, linewidth=0.6)
    inset.set_title("the corner, enlarged", fontsize=SMALL, color=INK, pad=2)


def _side(kind: str, curves: Sequence[Curve]) -> float | None:
    """The side of the smallest part in which all curves turn; None if any curve turns elsewhere."""
    turns = []
    for x, y in curves:
        far = np.maximum(x if kind == "roc" else 1 - x, 1 - y)  # the larger of both distances from the corner
        turns.append(float(np.nanmin(far)))
    return next((side for side in SIDES if max(turns) <= 0.6 * side), None)
