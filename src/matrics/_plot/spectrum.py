"""The eigenvalues of the eigenvalues entropy, with Gershgorin's circles and the bounds that follow from them."""

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
INVALID = "#b85606"


class Spectrum(NamedResult):
    """The eigenvalues of a confusion matrix.

    Parameters
    ----------
    name : str
        The name of the matrix.
    values : array, shape (n,)
        The eigenvalues, ascending; NaN if undefined.
    centres, radii : array, shape (n,)
        Gershgorin's circles of the same matrix, a circle for each class.
    lower, upper : float
        The bounds 1 - r and 1 + r that Dembélé prints, with r the largest radius of A.
    valid_lower : float
        The valid lower bound.
    eve : float
        The eigenvalues entropy.
    problem : str
        Why there are no eigenvalues; empty if there are eigenvalues.
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
    """Eigenvalues of matrices, as from :func:`matrics.plot.spectrum`.

    Parameters
    ----------
    spectra : list of Spectrum
        The eigenvalues of each matrix.
    matrix : {"B", "A"}
        The matrix that has the eigenvalues.
    """

    spectra: list[Spectrum]
    matrix: Matrix

    as_high_as_rows = True

    def panel_size(self) -> tuple[float, float]:
        """The width and height in inches: a column of a paper, and a height for all rows."""
        rows = len(self.spectra)
        legend = LEGEND_LINE * (4 + (self.matrix == "B"))
        if rows == 1:
            (low, high), reach = self._reach(self.spectra[0])
            return 3.5, 0.75 + legend + min(2.7, max(0.9, 5.6 * reach / (high - low)))
        return (3.5 if rows <= 8 else 5.0), 0.8 + legend + max(rows * (0.3 if rows <= 12 else 0.2), 1.0)

    def _draw(self, panels: Sequence[Axes]) -> None:
        """Draw circles in the complex plane for a single matrix, or a row for each matrix."""
        (axes,) = panels
        tidy(axes)
        handles = self._draw_circles(axes) if len(self.spectra) == 1 else self._draw_rows(axes)
        axes.set_xlabel(f"eigenvalue of {self.matrix}")
        legend_below(panels, handles, owns_figure=self.owns_figure)

    def _draw_circles(self, axes: Axes) -> list[Any]:
        from matplotlib.patches import Circle

        (spectrum,) = self.spectra
        if spectrum.problem:
            axes.set(xticks=[], yticks=[])
            axes.text(0.5, 0.5, f"undefined: {spectrum.problem}", transform=axes.transAxes, ha="center", color=INK)
            return []
        order = np.argsort(-spectrum.radii)[:MOST_CIRCLES]
        width = 1.0 if len(order) <= 12 else 0.5
        for place in order:
            axes.add_patch(
                Circle(
                    (spectrum.centres[place], 0), spectrum.radii[place], fill=False, edgecolor=CIRCLE, linewidth=width,
                )
            )  # fmt: skip
        axes.axhline(0, color=INK, linewidth=0.6, zorder=1)
        ends, reach = self._reach(spectrum)
        axes.set(xlim=ends, ylim=(-reach, reach), aspect="equal", ylabel="imaginary part")
        handles = self._draw_bounds(axes, spectrum, -0.35 * reach, 0.35 * reach, wide=False)
        if len(spectrum.centres) <= 12:
            handles += axes.plot(
                spectrum.centres, 0 * spectrum.centres, "+", color=CIRCLE, markersize=6, label="centres"
            )
        handles += self._draw_values(axes, spectrum, 0.0)
        label = "Gershgorin's circles" + (
            f", the {MOST_CIRCLES} largest of {len(spectrum.radii)}" * (len(spectrum.radii) > MOST_CIRCLES)
        )
        handles += axes.plot([], [], color=CIRCLE, linewidth=1, marker="o", markersize=8, markerfacecolor="none",
                             linestyle="none", label=label)  # fmt: skip
        return handles[::-1]

    def _reach(self, spectrum: Spectrum) -> tuple[tuple[float, float], float]:
        """The limits of the x axis for all circles and bounds, and the limit of the y axis."""
        if spectrum.problem:
            return (0.0, 1.0), 0.2
        ends = [
            spectrum.values.min(),
            spectrum.values.max(),
            (spectrum.centres - spectrum.radii).min(),
            (spectrum.centres + spectrum.radii).max(),
        ]
        ends += [end for end in (spectrum.lower, spectrum.upper, spectrum.valid_lower) if np.isfinite(end)]
        low, high = float(min(ends)), float(max(ends))
        room = max(0.04 * (high - low), 0.01)
        return (low - room, high + room), 1.1 * float(max(spectrum.radii.max(), 0.05))

    def _limits(self) -> tuple[float, float]:
        """The limits of the x axis of rows: all eigenvalues, and bounds that are not too far away."""
        defined = [spectrum for spectrum in self.spectra if not spectrum.problem]
        if not defined:
            return 0.0, 1.0
        values = np.concatenate([spectrum.values for spectrum in defined])
        low, high = float(values.min()), float(values.max())
        span = max(high - low, 0.05)
        bounds = [
            end
            for spectrum in defined
            for end in (spectrum.lower, spectrum.upper, spectrum.valid_lower)
            if np.isfinite(end)
        ]
        ends = np.clip([low, high, *bounds], low - 0.6 * span, high + 0.6 * span)
        return float(ends.min()) - 0.04 * span, float(ends.max()) + 0.04 * span

    def _draw_rows(self, axes: Axes) -> list[Any]:
        handles: list[Any] = []
        for row, spectrum in enumerate(self.spectra):
            if spectrum.problem:
                transform = axes.get_yaxis_transform()
                axes.text(
                    0.02,
                    row,
                    f"undefined: {spectrum.problem}",
                    transform=transform,
                    va="center",
                    fontsize=SMALL,
                    color=INK,
                )
                continue
            row_handles = [
                *self._draw_bounds(axes, spectrum, row - 0.32, row + 0.32, wide=True),
                *self._draw_values(axes, spectrum, row),
            ]
            handles = row_handles if len(row_handles) > len(handles) else handles
        axes.set_yticks(range(len(self.spectra)), [cut_name(spectrum.name, 18) for spectrum in self.spectra])
        axes.set(xlim=self._limits(), ylim=(len(self.spectra) - 0.4, -0.6))
        axes.grid(visible=True, axis="x", color="#dddddd", linewidth=0.5)
        axes.set_axisbelow(True)
        right = axes.secondary_yaxis("right")
        right.set_yticks(range(len(self.spectra)), [_value_text(spectrum.eve) for spectrum in self.spectra])
        right.tick_params(length=0, labelsize=SMALL, labelcolor=INK)
        right.spines[:].set_visible(False)
        right.set_ylabel("eigenvalues entropy", fontsize=SMALL + 0.5, color=INK)
        return handles[::-1]

    def _draw_bounds(self, axes: Axes, spectrum: Spectrum, bottom: float, top: float, *, wide: bool) -> list[Any]:
        """Draw the interval 1 ± r as a bar or by its ends, and the valid lower bound as a thick line."""
        if not np.isfinite(spectrum.lower):
            return []
        handles = []
        height = top - bottom
        if self.matrix == "B":
            axes.vlines(spectrum.valid_lower, bottom, top, color=INK, linewidth=2.0, zorder=2)
            if wide and spectrum.valid_lower < self._limits()[0]:  # an arrow points to a bound outside the picture
                axes.plot(0.0, (bottom + top) / 2, marker="<", transform=axes.get_yaxis_transform(), color=INK,
                          markersize=5, clip_on=False, zorder=4)  # fmt: skip
            handles += axes.plot(
                [], [], marker="|", markersize=9, markeredgewidth=2, color=INK, linestyle="none",
                label="lower bound that holds",
            )  # fmt: skip
        if wide:
            axes.barh(
                (bottom + top) / 2, spectrum.upper - spectrum.lower, height * 0.72, spectrum.lower, color="#d9d9d9",
                edgecolor="#8a8a8a", linewidth=0.6, zorder=1.5,
            )  # fmt: skip
            handles += axes.plot([], [], marker="s", markersize=8, color="#d9d9d9", markeredgecolor="#8a8a8a",
                                 linestyle="none",
                                 label=f"1 ± r{self._note_of_failure()}{self._note_of_cut()}")  # fmt: skip
        else:
            axes.vlines(
                [spectrum.lower, spectrum.upper],
                bottom,
                top,
                color=INVALID,
                linewidth=1.4,
                linestyle=(0, (3, 1.5)),
                zorder=2,
            )
            handles += axes.plot([], [], marker="|", markersize=9, markeredgewidth=1.4, color=INVALID, linestyle="none",
                                 label=f"1 - r and 1 + r{self._note_of_failure()}")  # fmt: skip
        return handles

    def _note_of_failure(self) -> str:
        return ", printed as bounds; the lower fails" if self.matrix == "B" and any(map(_fails, self.spectra)) else ""

    def _note_of_cut(self) -> str:
        low, high = self._limits()
        is_cut = any(
            spectrum.lower < low or spectrum.upper > high for spectrum in self.spectra if np.isfinite(spectrum.lower)
        )
        return "; cut at the edge" if is_cut and len(self.spectra) > 1 else ""

    def _draw_values(self, axes: Axes, spectrum: Spectrum, height: float) -> list[Any]:
        """Draw positive eigenvalues, which count in the entropy, as filled markers, and others as empty markers."""
        values = spectrum.values
        if len(values) > MOST_VALUES:
            values = values[np.linspace(0, len(values) - 1, MOST_VALUES).round().astype(int)]
        is_dense = len(values) > 30  # thin lines do not cover each other
        size = 7.0 if is_dense else 3.6 if len(self.spectra) > 12 else 5.0
        is_positive = values > 0
        handles = []
        for is_chosen, face, label in (
            (is_positive, INK, "eigenvalues"),
            (~is_positive, "white", "eigenvalues that are not positive"),
        ):
            if is_chosen.any():
                is_full = face == INK
                handles += axes.plot(
                    values[is_chosen], np.full(is_chosen.sum(), height), ("|" if is_full else "x") if is_dense else "o",
                    color=INK, markerfacecolor=face, markersize=size, markeredgewidth=0.5 if is_full else 0.9, zorder=3,
                    markeredgecolor="white" if is_full and not is_dense else INK, clip_on=False, label=label,
                )  # fmt: skip
        return handles[::-1]

    def describe(self) -> str:
        """Describe the picture in a few sentences."""
        drawn = "circles" if len(self.spectra) == 1 else "bounds"
        sentences = [f"eigenvalues of the matrix {self.matrix} with Gershgorin's {drawn}."]
        sentences += [self._in_words(spectrum) for spectrum in self.spectra[:12]]
        if len(self.spectra) > 12:
            sentences.append(f"And {len(self.spectra) - 12} more matrices.")
        return " ".join(sentences)

    def _in_words(self, spectrum: Spectrum) -> str:
        name = f"{spectrum.name}: " if spectrum.name else ""
        if spectrum.problem:
            return f"{name}undefined, as {spectrum.problem}."
        text = (
            f"{name}{len(spectrum.values)} eigenvalues from {rounded(spectrum.values[0])} to "
            f"{rounded(spectrum.values[-1])}, {int((spectrum.values > 0).sum())} of them positive; "
            f"eigenvalues entropy {_value_text(spectrum.eve)}"
        )
        if not np.isfinite(spectrum.lower):
            return f"{text}; no bounds, as the diagonal has a zero."
        text += f"; 1 - r is {rounded(spectrum.lower)}, 1 + r is {rounded(spectrum.upper)}"
        if self.matrix == "B":
            fails = ", above the smallest eigenvalue" if _fails(spectrum) else ""
            text += f"{fails}; the lower bound that holds is {rounded(spectrum.valid_lower)}"
        return f"{text}."


def _value_text(value: float) -> str:
    return "undefined" if np.isnan(value) else rounded(value)


def _fails(spectrum: Spectrum) -> bool:
    return bool(np.isfinite(spectrum.lower) and spectrum.lower > spectrum.values.min() + 1e-9)


def spectrum(
    cm: ArrayLike | Mapping[str, ArrayLike],
    *,
    matrix: Literal["B", "A"] = "B",
    names: Sequence[str] | None = None,
    width: float | None = None,
    ax: Any = None,
) -> SpectrumDisplay:
    """Draw the eigenvalues from which the eigenvalues entropy (:func:`matrics.eve`) is computed, with their bounds.

    For a single matrix, eigenvalues and Gershgorin's circles are drawn in the complex plane; several matrices have a
    row each. The interval 1 ± r that Dembélé prints holds for the matrix A. For B its lower end may lie above the
    smallest eigenvalue; the valid bound is drawn next to it (:func:`matrics.study.gershgorin_bounds`).

    Parameters
    ----------
    cm : array_like, shape (*B, n, n), or mapping of str to array_like, shape (n, n)
        Counts of any library; rows are true classes, columns are predicted classes.
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
    default_names, matrices = host_stack(cm)
    if len(matrices) > MOST_ROWS:
        raise ValueError(
            f"cm: expected at most {MOST_ROWS} matrices, each in a row, got {len(matrices):,}; choose some, or see "
            "matrics.plot.distribution for the eigenvalues entropy of all of them"
        )
    titles = names_of_panels(names, default_names, len(matrices))
    if default_names is None:
        check(matrices[0])
    return SpectrumDisplay(
        [_spectrum_of(name, cm_of_row, matrix) for name, cm_of_row in zip(titles, matrices, strict=True)], matrix
    ).plot(ax, width=width)


def _spectrum_of(name: str, cm: NumPyArray, matrix: Matrix) -> Spectrum:
    try:
        check(cm)
    except InvalidConfusionMatrix:
        undefined = np.full(len(cm), np.nan)
        return Spectrum(name, undefined, undefined, undefined, np.nan, np.nan, np.nan, np.nan, "an invalid matrix")
    values = np.asarray(eigenvalues(cm, matrix=matrix))
    centres, radii = gershgorin_circles(cm, matrix)
    problem = ""
    if np.isnan(values).any():
        empty = (cm.sum(axis=1) == 0).any()
        problem = "a true class has no samples" if empty else "a class has no correct predictions"
    lower, upper, valid = (float(bound) for bound in gershgorin_bounds(cm))
    return Spectrum(name, values, centres, radii, lower, upper, valid, float(eve(cm)), problem)
