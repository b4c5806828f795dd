"""The eigenvalues behind the eigenvalues entropy, with Gershgorin's circles and the bounds that follow from them."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Literal, get_args

import numpy as np

from matrics._engine.evaluation import InvalidConfusionMatrix, check
from matrics._engine.results import NamedResult
from matrics._metrics.spectral import Matrix, eigenvalues, eve, gershgorin_bounds
from matrics._plot.inputs import host_stack, names_of_panels
from matrics._plot.lines import LEGEND_LINE, LinesDisplay, cut_name, legend_below
from matrics._plot.style import INK, SMALL, tidy
from matrics._quoting import quoted
from matrics._study.figures.eigenvalues import gershgorin_circles
from matrics._wording import rounded
from matrics.typing import ArrayLike, NumPyArray

if TYPE_CHECKING:
    from matplotlib.axes import Axes

__all__ = ["Spectrum", "SpectrumDisplay", "spectrum"]

MOST_ROWS = 60
MOST_CIRCLES = 40
MOST_VALUES = 200  # of a row
CIRCLE = "#0072b2"
FAILS = "#b85606"


class Spectrum(NamedResult):
    """The eigenvalues of one confusion matrix.

    Parameters
    ----------
    name : str
        The matrix.
    values : array, shape (n,)
        The eigenvalues, ascending; NaN if undefined.
    centres, radii : array, shape (n,)
        Gershgorin's circles of the same matrix, one a class.
    lower, upper : float
        The bounds 1 - r and 1 + r that Dembélé prints, with r the largest radius of A.
    valid_lower : float
        The valid lower bound.
    eve : float
        The eigenvalues entropy.
    problem : str
        Why there are no eigenvalues; empty if there are.
    """

    name: str
    values: NumPyArray
    centres: NumPyArray
    radii: NumPyArray
    lower: float
    upper: float
    valid_lower: float
    eve: float
    problem: str = ""


@dataclass(eq=False, repr=False)
class SpectrumDisplay(LinesDisplay):
    """Eigenvalues of one or several matrices, as from :func:`matrics.plot.spectrum`.

    Parameters
    ----------
    spectra : list of Spectrum
        One a matrix.
    matrix : {"B", "A"}
        Which matrix the eigenvalues are of.
    """

    spectra: list[Spectrum]
    matrix: Matrix

    as_high_as_rows = True

    def panel_size(self) -> tuple[float, float]:
        """A column of a paper, and as high as the rows need."""
        rows = len(self.spectra)
        legend = LEGEND_LINE * (4 + (self.matrix == "B"))
        if rows == 1:
            (low, high), reach = self._reach(self.spectra[0])
            return 3.5, 0.75 + legend + min(2.7, max(0.9, 5.6 * reach / (high - low)))
        return (3.5 if rows <= 8 else 5.0), 0.8 + legend + max(rows * (0.3 if rows <= 12 else 0.2), 1.0)

    def _draw(self, panels: Sequence[Axes]) -> None:
        """Draw circles in the plane of complex numbers for one matrix, and a row for each of several."""
        (axes,) = panels
        tidy(axes)
        handles = self._draw_circles(axes) if len(self.spectra) == 1 else self._draw_rows(axes)
        axes.set_xlabel(f"eigenvalue of {self.matrix}")
        legend_below(panels, handles, owns_figure=self.owns_figure)

    def _draw_circles(self, axes: Axes) -> list[Any]:
        from matplotlib.patches import Circle

        (one,) = self.spectra
        if one.problem:
            axes.set(xticks=[], yticks=[])
            axes.text(0.5, 0.5, f"undefined: {one.problem}", transform=axes.transAxes, ha="center", color=INK)
            return []
        order = np.argsort(-one.radii)[:MOST_CIRCLES]
        width = 1.0 if len(order) <= 12 else 0.5
        for place in order:
            axes.add_patch(
                Circle((one.centres[place], 0), one.radii[place], fill=False, edgecolor=CIRCLE, linewidth=width)
            )  # fmt: skip
        axes.axhline(0, color=INK, linewidth=0.6, zorder=1)
        ends, reach = self._reach(one)
        axes.set(xlim=ends, ylim=(-reach, reach), aspect="equal", ylabel="imaginary part")
        handles = self._draw_bounds(axes, one, -0.35 * reach, 0.35 * reach, wide=False)
        if len(one.centres) <= 12:
            handles += axes.plot(one.centres, 0 * one.centres, "+", color=CIRCLE, markersize=6, label="centres")
        handles += self._draw_values(axes, one, 0.0)
        label = "Gershgorin's circles" + (
            f", the {MOST_CIRCLES} largest of {len(one.radii)}" * (len(one.radii) > MOST_CIRCLES)
        )
        handles += axes.plot([], [], color=CIRCLE, linewidth=1, marker="o", markersize=8, markerfacecolor="none",
                             linestyle="none", label=label)  # fmt: skip
        return handles[::-1]

    def _reach(self, one: Spectrum) -> tuple[tuple[float, float], float]:
        """The limits of a picture with all circles and bounds, and its height."""
        if one.problem:
            return (0.0, 1.0), 0.2
        ends = [one.values.min(), one.values.max(), (one.centres - one.radii).min(), (one.centres + one.radii).max()]
        ends += [end for end in (one.lower, one.upper, one.valid_lower) if np.isfinite(end)]
        low, high = float(min(ends)), float(max(ends))
        room = max(0.04 * (high - low), 0.01)
        return (low - room, high + room), 1.1 * float(max(one.radii.max(), 0.05))

    def _limits(self) -> tuple[float, float]:
        """The limits of the rows: all eigenvalues, and bounds that are not too far away."""
        known = [one for one in self.spectra if not one.problem]
        if not known:
            return 0.0, 1.0
        values = np.concatenate([one.values for one in known])
        low, high = float(values.min()), float(values.max())
        span = max(high - low, 0.05)
        bounds = [end for one in known for end in (one.lower, one.upper, one.valid_lower) if np.isfinite(end)]
        ends = np.clip([low, high, *bounds], low - 0.6 * span, high + 0.6 * span)
        return float(ends.min()) - 0.04 * span, float(ends.max()) + 0.04 * span

    def _draw_rows(self, axes: Axes) -> list[Any]:
        handles: list[Any] = []
        for row, one in enumerate(self.spectra):
            if one.problem:
                where = axes.get_yaxis_transform()
                axes.text(
                    0.02, row, f"undefined: {one.problem}", transform=where, va="center", fontsize=SMALL, color=INK
                )
                continue
            found = [
                *self._draw_bounds(axes, one, row - 0.32, row + 0.32, wide=True),
                *self._draw_values(axes, one, row),
            ]
            handles = found if len(found) > len(handles) else handles
        axes.set_yticks(range(len(self.spectra)), [cut_name(one.name, 18) for one in self.spectra])
        axes.set(xlim=self._limits(), ylim=(len(self.spectra) - 0.4, -0.6))
        axes.grid(visible=True, axis="x", color="#dddddd", linewidth=0.5)
        axes.set_axisbelow(True)
        right = axes.secondary_yaxis("right")
        right.set_yticks(range(len(self.spectra)), [_three(one.eve) for one in self.spectra])
        right.tick_params(length=0, labelsize=SMALL, labelcolor=INK)
        right.spines[:].set_visible(False)
        right.set_ylabel("eigenvalues entropy", fontsize=SMALL + 0.5, color=INK)
        return handles[::-1]

    def _draw_bounds(self, axes: Axes, one: Spectrum, bottom: float, top: float, *, wide: bool) -> list[Any]:
        """The interval 1 ± r as a bar or by its ends, and the valid lower bound as a thick stroke."""
        if not np.isfinite(one.lower):
            return []
        handles = []
        height = top - bottom
        if self.matrix == "B":
            axes.vlines(one.valid_lower, bottom, top, color=INK, linewidth=2.0, zorder=2)
            if wide and one.valid_lower < self._limits()[0]:  # an arrow towards it
                axes.plot(0.0, (bottom + top) / 2, marker="<", transform=axes.get_yaxis_transform(), color=INK,
                          markersize=5, clip_on=False, zorder=4)  # fmt: skip
            handles += axes.plot(
                [], [], marker="|", markersize=9, markeredgewidth=2, color=INK, linestyle="none",
                label="lower bound that holds",
            )  # fmt: skip
        if wide:
            axes.barh(
                (bottom + top) / 2, one.upper - one.lower, height * 0.72, one.lower, color="#d9d9d9",
                edgecolor="#8a8a8a", linewidth=0.6, zorder=1.5,
            )  # fmt: skip
            handles += axes.plot([], [], marker="s", markersize=8, color="#d9d9d9", markeredgecolor="#8a8a8a",
                                 linestyle="none", label=f"1 ± r{self._that_fails()}{self._that_is_cut()}")  # fmt: skip
        else:
            axes.vlines(
                [one.lower, one.upper], bottom, top, color=FAILS, linewidth=1.4, linestyle=(0, (3, 1.5)), zorder=2
            )
            handles += axes.plot([], [], marker="|", markersize=9, markeredgewidth=1.4, color=FAILS, linestyle="none",
                                 label=f"1 - r and 1 + r{self._that_fails()}")  # fmt: skip
        return handles

    def _that_fails(self) -> str:
        return ", printed as bounds; the lower fails" if self.matrix == "B" and any(map(_fails, self.spectra)) else ""

    def _that_is_cut(self) -> str:
        low, high = self._limits()
        cut = any(one.lower < low or one.upper > high for one in self.spectra if np.isfinite(one.lower))
        return "; cut at the edge" if cut and len(self.spectra) > 1 else ""

    def _draw_values(self, axes: Axes, one: Spectrum, height: float) -> list[Any]:
        """Eigenvalues: full markers of positive ones, which count for the entropy, and empty ones of the others."""
        values = one.values
        if len(values) > MOST_VALUES:
            values = values[np.linspace(0, len(values) - 1, MOST_VALUES).round().astype(int)]
        dense = len(values) > 30  # strokes, which do not cover each other
        size = 7.0 if dense else 3.6 if len(self.spectra) > 12 else 5.0
        counts = values > 0
        handles = []
        for which, face, label in (
            (counts, INK, "eigenvalues"),
            (~counts, "white", "eigenvalues that are not positive"),
        ):
            if which.any():
                full = face == INK
                handles += axes.plot(
                    values[which], np.full(which.sum(), height), ("|" if full else "x") if dense else "o", color=INK,
                    markerfacecolor=face, markersize=size, markeredgewidth=0.5 if full else 0.9, zorder=3,
                    markeredgecolor="white" if full and not dense else INK, clip_on=False, label=label,
                )  # fmt: skip
        return handles[::-1]

    def describe(self) -> str:
        """Describe the picture in a few sentences."""
        drawn = "circles" if len(self.spectra) == 1 else "bounds"
        told = [f"eigenvalues of the matrix {self.matrix} with Gershgorin's {drawn}."]
        told += [self._in_words(one) for one in self.spectra[:12]]
        if len(self.spectra) > 12:
            told.append(f"And {len(self.spectra) - 12} more matrices.")
        return " ".join(told)

    def _in_words(self, one: Spectrum) -> str:
        name = f"{one.name}: " if one.name else ""
        if one.problem:
            return f"{name}undefined, as {one.problem}."
        text = (
            f"{name}{len(one.values)} eigenvalues from {rounded(one.values[0])} to {rounded(one.values[-1])}, "
            f"{int((one.values > 0).sum())} of them positive; eigenvalues entropy {_three(one.eve)}"
        )
        if not np.isfinite(one.lower):
            return f"{text}; no bounds, as the diagonal has a zero."
        text += f"; 1 - r is {rounded(one.lower)}, 1 + r is {rounded(one.upper)}"
        if self.matrix == "B":
            fails = ", above the smallest eigenvalue" if _fails(one) else ""
            text += f"{fails}; the lower bound that holds is {rounded(one.valid_lower)}"
        return f"{text}."


def _three(value: float) -> str:
    return "undefined" if np.isnan(value) else rounded(value)


def _fails(one: Spectrum) -> bool:
    return bool(np.isfinite(one.lower) and one.lower > one.values.min() + 1e-9)


def spectrum(
    cm: ArrayLike | Mapping[str, ArrayLike],
    *,
    matrix: Literal["B", "A"] = "B",
    names: Sequence[str] | None = None,
    width: float | None = None,
    ax: Any = None,
) -> SpectrumDisplay:
    """Draw the eigenvalues from which the eigenvalues entropy (:func:`matrics.eve`) is computed, with their bounds.

    One matrix has its eigenvalues and Gershgorin's circles in the plane of complex numbers; several have a row each.
    The interval 1 ± r that Dembélé prints holds for the matrix A. For B its lower end may lie above the smallest
    eigenvalue; the valid bound is drawn next to it (:func:`matrics.study.gershgorin_bounds`).

    Parameters
    ----------
    cm : array_like, shape (*B, n, n), or mapping of str to array_like, shape (n, n)
        Counts of any library; rows are true classes, columns predicted ones.
    matrix : {"B", "A"}
        B = (P + Pᵀ) / 2, where P has every true class scaled to 1 (Dembélé, equation 23); or A, which is B scaled to a
        diagonal of 1 (Dembélé, equation 29).
    names : sequence of str, optional
        The names of the matrices; the keys of a mapping, or positions in the stack, if left out.
    width : float, optional
        The width of a new figure in inches, such as 3.5, a column of many journals; chosen by the contents if left out.
        Texts keep their size.
    ax : matplotlib.axes.Axes, optional
        The axes to draw on; a new figure if left out.

    Returns
    -------
    SpectrumDisplay
        The data, ``figure_`` and ``ax_``.

    Raises
    ------
    ImportError
        Matplotlib is not installed.
    ValueError
        The shape is not (*B, n, n), there are more than 60 matrices, names do not fit, or ``matrix`` is neither.
    InvalidConfusionMatrix
        The only matrix has a negative, NaN or infinite cell. In a stack its row is marked as undefined.

    Examples
    --------
    >>> import matrics.plot
    >>> display = matrics.plot.spectrum([[45, 5], [5, 45]])
    >>> display.spectra[0].values
    array([0.8, 1. ])
    >>> print(display.describe()[-99:])
    1 - r is 0.889, 1 + r is 1.111, above the smallest eigenvalue; the lower bound that holds is 0.800.
    """
    if matrix not in get_args(Matrix):
        raise ValueError(f"matrix: expected 'B' or 'A', got {quoted(matrix)}")
    found, matrices = host_stack(cm)
    if len(matrices) > MOST_ROWS:
        raise ValueError(
            f"cm: expected at most {MOST_ROWS} matrices, one a row, got {len(matrices):,}: choose some, or see "
            "matrics.plot.distribution for the eigenvalues entropy of all of them"
        )
    titles = names_of_panels(names, found, len(matrices))
    if found is None:
        check(matrices[0])
    return SpectrumDisplay(
        [_spectrum_of(name, one, matrix) for name, one in zip(titles, matrices, strict=True)], matrix
    ).plot(ax, width=width)


def _spectrum_of(name: str, cm: NumPyArray, matrix: Matrix) -> Spectrum:
    try:
        check(cm)
    except InvalidConfusionMatrix:
        nothing = np.full(len(cm), np.nan)
        return Spectrum(name, nothing, nothing, nothing, np.nan, np.nan, np.nan, np.nan, "an invalid matrix")
    values = np.asarray(eigenvalues(cm, matrix=matrix))
    centres, radii = gershgorin_circles(cm, matrix)
    problem = ""
    if np.isnan(values).any():
        empty = (cm.sum(axis=1) == 0).any()
        problem = "a true class has no samples" if empty else "a class has no correct predictions"
    lower, upper, valid = (float(bound) for bound in gershgorin_bounds(cm))
    return Spectrum(name, values, centres, radii, lower, upper, valid, float(eve(cm)), problem)
