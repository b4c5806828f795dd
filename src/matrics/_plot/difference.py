"""Differences of two confusion matrices, cell by cell, with marks of significant differences."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Literal, get_args

import numpy as np

from matrics._engine.evaluation import check
from matrics._engine.results import NamedResult
from matrics._plot.display import Display
from matrics._plot.heat_map import class_ticks, draw_cells, height_of_cells, short_name, size_of_cells, write_below
from matrics._plot.inputs import host_stack, names_of_classes, on_host
from matrics._plot.order import ordered_classes
from matrics._plot.signs import mark_cells, outline, signed, signed_bar
from matrics._plot.style import blend, ink_on, right, tidy, wrong
from matrics._quoting import quoted
from matrics._uncertainty.cells import adjusted, independent_cells, paired_cells
from matrics._uncertainty.options import check_level
from matrics._wording import percentage
from matrics.typing import ArrayLike, NumPyArray

if TYPE_CHECKING:
    from matplotlib.axes import Axes

__all__ = ["Change", "DifferenceDisplay", "difference"]

Values = Literal["share", "count"]
Correction = Literal["holm", "benjamini_hochberg"]
CORRECTIONS = {"holm": "Holm", "benjamini_hochberg": "Benjamini and Hochberg"}

NOISE = 1e-12  # smaller differences are rounding errors
LEAST = 0.05  # the least limit of the scale of colours, as a share of a class
GREYS = ("#ffffff", "#efefef", "#dddddd", "#cacaca")  # of differences that are not significant


class Change(NamedResult):
    """A cell in which two confusion matrices differ.

    Parameters
    ----------
    true, predicted : str
        The names of the classes.
    a, b : float
        The shares of the true class that are predicted as the other, in either matrix.
    p_value : float
        The p-value of this cell, corrected for the number of cells.
    """

    true: str
    predicted: str
    a: float
    b: float
    p_value: float

    def __str__(self) -> str:
        """The change in words, for captions."""
        p_value = "p < 0.001" if self.p_value < 0.001 else f"p = {self.p_value:.2g}"
        return f"{self.true} predicted as {self.predicted}: {percentage(self.a)}% → {percentage(self.b)}% ({p_value})"


@dataclass(eq=False, repr=False)
class DifferenceDisplay(Display):
    """The difference of two confusion matrices, as from :func:`matrics.plot.difference`.

    Parameters
    ----------
    a, b : array, shape (n, n)
        The counts, with classes in the order in which they are drawn.
    difference : array, shape (n, n)
        The row shares of b minus those of a (or the counts); NaN in rows without samples in a or b.
    p_values : array, shape (n, n)
        The p-values, corrected for the number of cells; NaN for cells that were not tested.
    beyond_chance : array of bool, shape (n, n)
        The cells that are marked.
    changes : list of Change
        The same cells in words, the largest difference of shares first.
    class_names : tuple of str
        The names of the classes, in the order in which they are drawn.
    names : tuple of str
        The names of a and of b.
    test : str
        The test of each cell, with its correction and level; or why there is no test.
    tested : int
        The number of cells that were tested.
    what : {"share", "count"}
        The subtracted values: shares or counts.
    text : bool
        Whether the differences are written into the cells.
    top : int
        The number of changes that are named below the picture.
    """

    a: NumPyArray
    b: NumPyArray
    difference: NumPyArray
    p_values: NumPyArray
    beyond_chance: NumPyArray
    changes: list[Change]
    class_names: tuple[str, ...]
    names: tuple[str, str]
    test: str
    tested: int
    what: Values = "share"
    text: bool = True
    top: int = 5

    def _height_at(self, width: float) -> float:
        """The height of a panel of this width: a square, and the lines below."""
        return height_of_cells(width, self._lines()) + 0.25

    def panel_size(self) -> tuple[float, float]:
        """The width and height in inches: a column of a paper for few classes, a page for many."""
        width, height = size_of_cells(len(self.class_names), "count" if self.text else "none", self._lines())
        return max(width, 3.5), max(width, 3.5) - width + height + 0.25

    def _draw(self, panels: Sequence[Axes]) -> None:
        """Draw the cells, the marks of significant cells, and the legend of colours."""
        (axes,) = panels
        tidy(axes)
        is_marked = self.beyond_chance
        draw_cells(axes, self._colours(), self._texts() if self.text else None, bold=is_marked)
        if self.text:
            outline(axes, is_marked, ink_on(self._colours()))
        else:
            self._mark_signs(axes)
        class_ticks(axes, self.class_names)
        axes.set_ylabel("true class")
        write_below(axes, "predicted class", self._lines(), owns_figure=self.owns_figure)
        if not self.text:
            signed_bar(
                axes,
                self._limit() * (100 if self.what == "share" else 1),
                "points" if self.what == "share" else "samples",
            )

    def describe(self) -> str:
        """Describe the picture in a few sentences."""
        first, second = self.names
        improvement = np.where(np.eye(len(self.a), dtype=bool), self.difference, -self.difference)[self.beyond_chance]
        counts = np.count_nonzero(improvement > 0), np.count_nonzero(improvement < 0)
        of_them = f"; in {counts[0]} of them {second} is better, in {counts[1]} worse" if any(counts) else ""
        subject = f"Difference of two confusion matrices of {len(self.class_names)} classes, {second} less {first}"
        return " ".join([f"{subject}: {self._verdict()}{of_them}.", *(f"{change}." for change in self.changes[:3])])

    def _verdict(self) -> str:
        if not self.tested:
            return self.test
        verb = "differs" if len(self.changes) == 1 else "differ"
        return f"{np.count_nonzero(self.beyond_chance)} of {self.tested} cells {verb} by more than chance ({self.test})"

    def _lines(self) -> list[str]:
        """The meaning of the colours and marks, and the largest changes in words."""
        first, second = map(short_name, self.names)
        unit = "percentage points of the true class" if self.what == "share" else "numbers of samples"
        lines = [f"{second} less {first}: {unit}", f"Blue: {second} is better. Orange: it is worse."]
        if self.tested:
            lines[1] += " Grey: not more than chance."
        if not self.tested:
            return [*lines, f"{self.test[0].upper()}{self.test[1:]}."]
        if not self.changes:
            return [*lines, f"None of {self.tested} cells differs by more than chance", f"({self.test})."]
        mark = "bold, outlined" if self.text else "marked + or −"
        changes = [
            change._replace(true=short_name(change.true), predicted=short_name(change.predicted))
            for change in self.changes[: self.top]
        ]
        verb = "differs" if len(self.changes) == 1 else "differ"
        counted = f"{len(self.changes)} of {self.tested} cells {verb} by more than chance ({mark}),"
        return [*lines, counted, f"by {self.test}{':' if changes else '.'}", *map(str, changes)]

    def _colours(self) -> NumPyArray:
        """The colours of the cells: blue where b is better, orange where it is worse, grey if not significant.

        They follow the square root of the difference, so that small differences are visible.
        """
        diagonal = np.eye(len(self.difference), dtype=bool)
        better = np.where(diagonal, self.difference, -self.difference)
        sizes = np.sqrt(np.abs(better) / self._limit())
        coloured = np.where((better > 0)[..., None], right(sizes), wrong(sizes))
        if not self.tested:
            return coloured
        return np.where(self.beyond_chance[..., None], coloured, blend(GREYS, sizes))

    def _limit(self) -> float:
        """The limit of the scale of colours for both signs: the largest difference, and at least 5 % of a class.

        Without this minimum, the largest of many small differences would have the darkest colour.
        """
        unit = 1.0 if self.what == "share" else float(max(self.a.sum(axis=1).max(initial=0), 1))
        return max(float(np.nanmax(np.abs(self.difference), initial=0)), LEAST * unit)

    def _texts(self) -> list[list[str]]:
        """The signed differences; empty texts for cells without samples in both matrices."""
        empty = (self.a + self.b) == 0
        factor, digits = (100, 1) if self.what == "share" else (1, 0)
        return [
            [
                "" if none or np.isnan(value) else signed(factor * value, digits)
                for none, value in zip(*row, strict=True)
            ]
            for row in zip(empty, self.difference, strict=True)
        ]

    def _mark_signs(self, axes: Axes) -> None:
        """Mark significant cells with signs, as small cells have no room for numbers."""
        cell = 0.7 * 72 * self.panel_size()[0] * self.scale / len(self.a)
        size = max(4.0, 0.6 * cell)
        is_dark = ink_on(self._colours()) & (size < 1.2 * cell)  # a larger mark covers other cells as well
        for marker, has_sign in (("+", self.difference > 0), ("_", self.difference < 0)):
            mark_cells(axes, self.beyond_chance & has_sign, marker, size, is_dark)


def difference(
    a: ArrayLike | None = None,
    b: ArrayLike | None = None,
    *,
    joint: ArrayLike | None = None,
    class_names: Sequence[str] | None = None,
    names: Sequence[str] = ("a", "b"),
    what: Values = "share",
    level: float = 0.95,
    correction: Correction = "holm",
    order: Literal["clusters"] | Sequence[int] | None = None,
    top: int = 5,
    text: Literal["auto"] | bool = "auto",
    width: float | None = None,
    ax: Any = None,
) -> DifferenceDisplay:
    """Draw the differences of two confusion matrices, and mark significant differences.

    Each cell is the share of its true class in b minus the share in a. In blue cells b is better (larger on the
    diagonal, smaller elsewhere); in orange cells it is worse. Grey cells do not differ significantly; coloured cells
    are bold and outlined. The scale of colours ends at the largest difference, and at 5 percentage points or more.

    Parameters
    ----------
    a, b : array_like, shape (n, n), optional
        Counts of different samples, such as two test sets, of any library; rows are true classes.
    joint : array_like, shape (n, n, n), optional
        In place of both: two classifiers on the same samples, as from :func:`matrics.stats.joint_confusion_matrix`. The
        test then uses the samples on which they differ, and has more power.
    class_names : sequence of str, optional
        Names of the classes, in their order; the labels of data frames, or their numbers, if left out.
    names : sequence of str, default ("a", "b")
        The names of a and of b.
    what : {"share", "count"}
        The subtracted values: shares of the true classes, or numbers of samples, if both have equally many of each
        class.
    level : float, default 0.95
        A cell is marked if its corrected p-value is at most 1 - level.
    correction : {"holm", "benjamini_hochberg"}
        How p-values are corrected for the number of cells: by Holm's method, after which the probability of a single
        wrong mark is at most 1 - level; or for the expected share of wrong marks among the marks.
    order : {"clusters"} or sequence of int, optional
        The order of the classes: ``"clusters"`` makes classes neighbours that are confused with each other in the sum
        of both matrices (needs SciPy), and class numbers in their new order. Unchanged if left out.
    top : int, default 5
        The number of significant differences that are named below, the largest first.
    text : "auto" or bool, default "auto"
        Whether numbers are written into the cells, the differences: for up to 20 classes if left out. Without numbers,
        significant cells are marked by their signs.
    width : float, optional
        The width of a new figure in inches, such as 3.5, a column of many journals; chosen by the contents if left out.
        Texts keep their size.
    ax : matplotlib.axes.Axes, optional
        The axes to draw on; a new figure if left out.

    Returns
    -------
    DifferenceDisplay
        The data, ``figure_`` and ``ax_``.

    Raises
    ------
    ImportError
        Matplotlib is not installed.
    ValueError
        The shapes do not fit two matrices of the same classes or a joint table, or an option does not fit.
    InvalidConfusionMatrix
        A cell is negative, NaN or infinite.

    Notes
    -----
    Matrices of different samples are compared by Fisher's exact test of each cell (the share of the row), a joint table
    by McNemar's exact test of each cell, because samples with equal predictions have no information about a difference.
    Both tests need independent samples: repeats of the same sample make p-values too small. Matrices of the same
    samples without their joint table are tested as if the samples were different. This test has less power, and is
    valid unless the errors of the classifiers are negatively correlated.

    The correction counts all cells that could differ. Cells without samples in both matrices (in a joint table: without
    samples that a single classifier predicts as the class) have a p-value of 1 and do not count. If counts are not
    whole numbers, such as sums of weights, no cell is tested, as a note in the picture states.

    Examples
    --------
    >>> import matrics.plot
    >>> a, b = [[80, 20], [15, 85]], [[81, 19], [2, 98]]
    >>> display = matrics.plot.difference(a, b, class_names=["cat", "dog"], names=["old", "new"])
    >>> display.beyond_chance
    array([[False, False],
           [ True,  True]])
    >>> print(display.changes[0])
    dog predicted as cat: 15.0% → 2.0% (p = 0.0061)
    """
    level = check_level(level)
    if what not in get_args(Values):
        raise ValueError(f"what: expected 'share' or 'count', got {quoted(what)}")
    if correction not in CORRECTIONS:
        raise ValueError(f"correction: expected 'holm' or 'benjamini_hochberg', got {quoted(correction)}")
    if text not in ("auto", True, False):
        raise ValueError(f"text: expected 'auto', True or False, got {quoted(text)}")
    if isinstance(top, bool) or not isinstance(top, int) or top < 0:
        raise ValueError(f"top: expected a number of differences to name, 0 or more, got {quoted(top)}")
    if isinstance(names, str) or len(names) != 2:
        raise ValueError(f"names: expected the names of a and of b, got {quoted(names)}")
    first, second, table = _read(a, b, joint)
    n = len(first)
    places = ordered_classes(first + second, order)
    all_names = names_of_classes(class_names, n, a, b)
    first, second = (matrix[np.ix_(places, places)] for matrix in (first, second))
    if table is not None:
        table = table[np.ix_(places, places, places)]
    p_values, tested, test = _test(first, second, table, correction)
    if tested:
        test = f"{test}, level {1 - level:.2g}"
    sizes = [matrix.sum(axis=1, keepdims=True) for matrix in (first, second)]
    if what == "count" and not np.array_equal(*sizes):
        raise ValueError("what: expected 'share', as a and b have different numbers of samples of a class")
    with np.errstate(invalid="ignore"):
        shares = [matrix / size for matrix, size in zip((first, second), sizes, strict=True)]
        beyond = p_values <= 1 - level
        gap = shares[1] - shares[0]
    in_order = tuple(all_names[place] for place in places)
    changes = [
        Change(in_order[i], in_order[j], float(shares[0][i, j]), float(shares[1][i, j]), float(p_values[i, j]))
        for i, j in np.argwhere(beyond)
    ]
    return DifferenceDisplay(
        first,
        second,
        second - first if what == "count" else np.where(np.abs(gap) < NOISE, 0.0, gap),
        p_values,
        beyond,
        sorted(changes, key=lambda change: -abs(change.b - change.a)),
        in_order,
        (str(names[0]), str(names[1])),
        test,
        tested,
        what,
        n <= 20 if text == "auto" else bool(text),
        top,
    ).plot(ax, width=width)


def _read(a: Any, b: Any, joint: Any) -> tuple[NumPyArray, NumPyArray, NumPyArray | None]:
    """Both matrices, and the joint table or None."""
    if joint is None:
        if a is None or b is None:
            raise TypeError(
                "expected two matrices, a and b, or joint=, the joint table of two classifiers on the same samples"
            )
        both = []
        for name, matrix in (("a", a), ("b", b)):
            matrices = host_stack(matrix)[1]
            if np.ndim(matrix) != 2:
                raise ValueError(f"{name}: expected a single confusion matrix (n, n), got shape {np.shape(matrix)}")
            check(matrices[0])
            both.append(matrices[0].astype(np.float64))
        if both[0].shape != both[1].shape:
            raise ValueError(f"expected matrices of the same classes, got {len(both[0])} in a and {len(both[1])} in b")
        return both[0], both[1], None
    if a is not None or b is not None:
        raise TypeError("joint: expected None with a and b, which are its sums, got both; pass joint= alone")
    table = on_host("joint", joint)
    if table.ndim != 3 or len(set(table.shape)) != 1:
        raise ValueError(
            "joint: expected counts (n, n, n) by true class and both predictions, as from "
            f"matrics.stats.joint_confusion_matrix, got shape {table.shape}"
        )
    table = table.astype(np.float64)
    first, second = table.sum(axis=2), table.sum(axis=1)
    check(table.min(axis=2))
    check(first)  # the minimum above does not show infinite counts
    return first, second, table


def _test(a: NumPyArray, b: NumPyArray, table: NumPyArray | None, correction: str) -> tuple[NumPyArray, int, str]:
    """The corrected p-values, the number of tests, and the name of the test, or why there is no test."""
    if not all(np.array_equal(cells, np.rint(cells)) for cells in (a, b, *([] if table is None else [table]))):
        return np.full(a.shape, np.nan), 0, "not tested for chance, as the counts are no whole numbers"
    if table is None:
        sizes = a.sum(axis=1, keepdims=True) + b.sum(axis=1, keepdims=True)
        p_values, name = independent_cells(a, b), "Fisher's exact test"
        is_tested = np.isfinite(p_values) & (a + b > 0) & (a + b < sizes)
    else:
        both_correct = np.diagonal(table, axis1=1, axis2=2)
        p_values, name = paired_cells(table), "McNemar's exact test of the same samples"
        is_tested = a + b > 2 * both_correct
    if not is_tested.any():
        return p_values, 0, "no cell has samples for a test"
    description = f"{name}, corrected by {CORRECTIONS[correction]}"
    return adjusted(p_values, is_tested, correction), int(np.count_nonzero(is_tested)), description
