"""The figures of source 000: Gershgorin circles, and the second eigenvalue for two classes."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import TYPE_CHECKING, Literal

import numpy as np

from matrics._metrics.spectral import eigenvalues
from matrics._stacks.transform import normalize, repair, transpose
from matrics._study.figures.style import new_figure, styles
from matrics._study.sources.records import matrices

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

__all__ = ["FIGURES", "circle_radii", "figure_1", "figure_2", "gershgorin_circles", "share_without_second"]

CLOSE = ("Mb", "M1", "M2", "M3", "M4", "M5", "M6", "M8")  # r < 1
FAR = ("Ma", "Mc", "M7", "M9")
CIRCLES_OF = "M6"
MARKERS = {"A": "o", "B": "D"}
GRID = 201


def circle_radii(cm: np.ndarray) -> np.ndarray:
    """The radii of the circles of the matrix A: the sums of the off-diagonal cells of each row (equation 30).

    Parameters
    ----------
    cm : array, shape (n, n)
        Counts; rows are true classes.

    Returns
    -------
    array, shape (n,)
        A radius for each class, not negative; all circles have the centre 1.
    """
    return gershgorin_circles(np.asarray(repair(cm, where="zero_diagonal")), "A")[1]


def gershgorin_circles(cm: np.ndarray, matrix: Literal["B", "A"]) -> tuple[np.ndarray, np.ndarray]:
    """The centres and radii of the circles of B or A: the diagonal, and the sums of the other cells of each row.

    Parameters
    ----------
    cm : array, shape (n, n)
        Counts; rows are true classes.
    matrix : {"B", "A"}
        The matrix, as in :func:`matrics.study.eigenvalues`.

    Returns
    -------
    tuple of array, shape (n,)
        NaN if a true class is empty, and for A if the diagonal has a zero.
    """
    rates = np.asarray(normalize(cm))
    b = (rates + rates.T) / 2
    if matrix == "A":
        roots = np.sqrt(np.where(np.diag(b) > 0, np.diag(b), np.nan))
        b = b / roots / roots[:, None]
    centres = np.diag(b)
    return centres, np.asarray(b.sum(1) - centres)


def figure_1() -> Figure:
    """Gershgorin circles: the sketch of the paper, the circles of a matrix, and the bounds of all matrices."""
    figure, (sketch, circles, close, far) = new_figure(
        "Gershgorin's circles of A have the centre 1. Their bounds hold for the eigenvalues of A, not for those of B.",
        4,
        size=(3.6, 4.6),
    )
    _draw_circles(sketch, {"r₁ < 1": 0.6, "r₂ > 1": 1.4})
    sketch.set_title("a sketch, as in the paper", fontsize=10)
    cm = _matrix(CIRCLES_OF)
    _draw_circles(circles, {f"r = {r:.2f}": float(r) for r in np.sort(circle_radii(cm))})
    for name, values, fill in _spectra(cm):
        circles.plot(values, 0 * values, MARKERS[name], color="black", markerfacecolor=fill, label=f"values of {name}")
    circles.set_title(f"{CIRCLES_OF} of the paper, {len(cm)} classes", fontsize=10)
    for panel, names, which in ((close, CLOSE, "r < 1"), (far, FAR, "r ≥ 1")):
        _draw_bounds(panel, names)
        panel.set_title(f"1 ± r, where {which}; ● of A, ◇ of B", fontsize=10)
    for panel in (sketch, circles):
        panel.legend(fontsize=8, loc="upper center", bbox_to_anchor=(0.5, -0.2), ncols=2, frameon=False)
    return figure


def _spectra(cm: np.ndarray) -> Iterator[tuple[str, np.ndarray, str]]:
    yield "A", np.asarray(eigenvalues(cm, matrix="A")), "black"
    yield "B", np.asarray(eigenvalues(cm, matrix="B")), "white"


def _draw_circles(axes: Axes, radii: dict[str, float]) -> None:
    angles = np.linspace(0, 2 * np.pi, 181)
    for (label, radius), look in zip(radii.items(), styles(len(radii)), strict=True):
        axes.plot(
            1 + radius * np.cos(angles), radius * np.sin(angles), color=look.colour, linestyle=look.dashes, label=label
        )
    axes.plot(1, 0, "+", color="black", markersize=9)
    axes.set_aspect("equal")
    axes.set_xlabel("eigenvalue: all are real")
    axes.set_ylabel("imaginary part")


def _draw_bounds(axes: Axes, names: tuple[str, ...]) -> None:
    for row, name in enumerate(names):
        cm = _matrix(name)
        radius = circle_radii(cm).max()
        axes.plot([1 - radius, 1 + radius], [row, row], color="0.6", linewidth=5, solid_capstyle="butt")
        for matrix, values, fill in _spectra(cm):
            height = np.full(len(values), row + (0.18 if matrix == "A" else -0.18))
            axes.plot(values, height, MARKERS[matrix], color="black", markerfacecolor=fill, markersize=4)
    axes.set_yticks(range(len(names)), [f"{name} + J/5" if name == "M7" else name for name in names])
    axes.set_ylim(len(names) - 0.5, -0.5)
    axes.set_xlabel("eigenvalue")


def _matrix(name: str) -> np.ndarray:
    cm = np.asarray(transpose(matrices()[f"000 {name}"]))
    return np.asarray(repair(cm, where="zero_diagonal"))


def second_eigenvalue(p11: np.ndarray, p22: np.ndarray) -> np.ndarray:
    """The smaller eigenvalue of B for two classes with these rates of hits, arrays of the same shape."""
    cm = np.stack([np.stack([p11, 1 - p11], -1), np.stack([1 - p22, p22], -1)], -2)
    return np.asarray(eigenvalues(cm)[..., 0])


def share_without_second(grid: int = 1000) -> float:
    """The share of pairs of rates for which λ₂ is not positive, so that the eigenvalues entropy is 0."""
    middles = (np.arange(grid) + 0.5) / grid
    return float(np.mean(second_eigenvalue(*np.meshgrid(middles, middles)) <= 0))


def figure_2() -> Figure:
    """The smaller eigenvalue over the rates of hits of two classes, and the curve on which it is 0."""
    figure, (axes,) = new_figure(
        f"λ₂ ≤ 0, and so the eigenvalues entropy is 0, in {100 * share_without_second():.1f} % of the square",
        size=(5.2, 4.8),
    )
    rates = np.linspace(0, 1, GRID)
    p11, p22 = np.meshgrid(rates, rates)
    values = second_eigenvalue(p11, p22)
    shade = axes.contourf(p11, p22, values, levels=np.arange(-10, 11) / 10, cmap="cividis")
    levels = [level / 5 for level in range(-4, 5) if level]  # 0 is the curve
    lines = axes.contour(p11, p22, values, levels=levels, colors="white", linewidths=0.6, linestyles="-")
    for text in axes.clabel(lines, fontsize=8, inline_spacing=10):
        text.set_bbox({"facecolor": "white", "edgecolor": "none", "pad": 0.6})
        text.set_color("black")
    curve = rates + 2 - np.sqrt(8 * rates)
    inside = curve <= 1
    axes.plot(curve[inside], rates[inside], color="white", linewidth=4)
    axes.plot(
        curve[inside], rates[inside], color="black", linewidth=1.8, linestyle="--", label="p₁₁ = p₂₂ + 2 - √(8 p₂₂)"
    )
    axes.plot(0.7, 0.4, "o", color="black", markerfacecolor="white", label="p₁₁ = 0.7, p₂₂ = 0.4: λ₂ > 0")
    axes.set_xlabel("p₁₁, sensitivity")
    axes.set_ylabel("p₂₂, specificity")
    axes.set_aspect("equal")
    axes.legend(fontsize=8, loc="upper center", bbox_to_anchor=(0.5, -0.12), ncols=2, frameon=False)
    figure.colorbar(shade, ax=axes, label="λ₂")
    return figure


FIGURES: dict[str, Callable[[], Figure]] = {"000_figure_1": figure_1, "000_figure_2": figure_2}
