"""Agreement of raters: a measure of all pairs of raters as a heat map."""

from __future__ import annotations

from collections.abc import Hashable, Iterable, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np

from matrics._catalogue.naming import title_of
from matrics._plot.display import Display
from matrics._plot.heat_map import class_ticks, draw_cells
from matrics._plot.style import SMALL, right, tidy
from matrics._quoting import quoted
from matrics._raters.pairs import pairwise
from matrics._scoring.score import score
from matrics._wording import rounded
from matrics.typing import ArrayLike, NumPyArray

if TYPE_CHECKING:
    from matplotlib.axes import Axes

__all__ = ["RatersDisplay", "raters"]

WITH_TEXT = 15  # up to this number of raters, numbers are written into the cells


@dataclass(eq=False, repr=False)
class RatersDisplay(Display):
    """A measure of all pairs of R raters, as from :func:`matrics.plot.raters`.

    Parameters
    ----------
    agreement : array, shape (R, R)
        The measure of each pair, in the order in which raters are drawn; NaN for pairs without common items.
    items : array of int, shape (R, R)
        The number of items that both raters have rated.
    names : tuple of str
        The raters in that order.
    metric : str
        The measure.
    """

    agreement: NumPyArray
    items: NumPyArray
    names: tuple[str, ...]
    metric: str

    def panel_size(self) -> tuple[float, float]:
        """The width and height in inches, with room for the names at the left."""
        side = min(6.5, max(2.4, 0.42 * len(self.names)))
        return side + 0.9 + 0.06 * max(map(len, self.names)), side + 0.9

    def _draw(self, panels: Sequence[Axes]) -> None:
        """Draw the heat map; the diagonal has the number of items of each rater."""
        (axes,) = panels
        tidy(axes)
        is_diagonal = np.eye(len(self.names), dtype=bool)
        colours = right(np.where(is_diagonal, 0.0, np.clip(self.agreement, 0, 1)))
        colours[is_diagonal] = 0.96
        draw_cells(axes, colours, self._texts() if len(self.names) <= WITH_TEXT else None)
        class_ticks(axes, self.names)
        axes.set_xlabel(f"{self._title()} of two raters; diagonal: items rated", fontsize=SMALL)

    def _title(self) -> str:
        return title_of(self.metric).replace("_", " ").capitalize()

    def _texts(self) -> list[list[str]]:
        def text_of(row: int, column: int) -> str:
            if row == column:
                return f"{self.items[row, row]:,}"
            value = self.agreement[row, column]
            return "" if np.isnan(value) else rounded(value, 2).replace("-", "−")

        number = range(len(self.names))
        return [[text_of(row, column) for column in number] for row in number]

    def describe(self) -> str:
        """Describe the picture in a few sentences."""
        number = len(self.names)
        rows, columns = np.triu_indices(number, 1)
        pairs = self.agreement[rows, columns]
        defined = np.flatnonzero(~np.isnan(pairs))
        first = f"{self._title()} of all {len(pairs)} pairs of {number} raters."
        if not len(defined):
            return f"{first} No two have rated items in common."
        high, low = defined[np.argmax(pairs[defined])], defined[np.argmin(pairs[defined])]
        best, worst = (f"{self.names[rows[k]]} and {self.names[columns[k]]}" for k in (high, low))
        sentences = [
            first,
            f"{best} agree most ({rounded(pairs[high], 2)}), {worst} least ({rounded(pairs[low], 2)}).",
            f"{self.names[-1]} agrees least with all others on average.",
        ]
        if len(defined) < len(pairs):
            sentences.append(f"{len(pairs) - len(defined)} pairs have no value, and are grey.")
        return " ".join(sentences)


def raters(
    ratings: ArrayLike,
    metric: str = "cohen_kappa",
    *,
    num_classes: int | None = None,
    labels: Iterable[Hashable] | None = None,
    names: Sequence[str] | None = None,
    width: float | None = None,
    ax: Any = None,
) -> RatersDisplay:
    """Draw the agreement of each pair of raters, in descending order of the mean agreement with all others.

    Parameters
    ----------
    ratings : array_like, shape (items, raters), or a data frame with a column for each rater
        The ratings; None, NaN or -1 where a rater has left an item out.
    metric : str, default "cohen_kappa"
        A measure of a confusion matrix with a single value, such as ``"accuracy"``.
    num_classes : int, optional
        Number of classes, n; ratings are 0 to n - 1. Required without ``labels``.
    labels : sequence of text, integers or other hashables, optional
        The label of each class, in order; required without ``num_classes``.
    names : sequence of str, optional
        The names of the raters; the columns of a data frame, or numbers, if left out.
    width : float, optional
        The width of a new figure in inches, such as 3.5, a column of many journals; chosen by the contents if left out.
        Texts keep their size.
    ax : matplotlib.axes.Axes, optional
        The axes to draw on; a new figure if left out.

    Returns
    -------
    RatersDisplay
        The data, ``figure_`` and ``ax_``.

    Raises
    ------
    ImportError
        Matplotlib is not installed.
    ValueError
        There are fewer than two raters, several tables, or names do not fit the raters.

    Examples
    --------
    >>> import matrics.plot
    >>> ratings = [[0, 0, 1], [0, 0, 0], [1, 1, 1], [1, 0, 1], [1, 1, 0]]
    >>> matrics.plot.raters(ratings, num_classes=2, names=["Ada", "Ben", "Cem"]).names
    ('Ada', 'Ben', 'Cem')
    """
    class_labels = None if labels is None else tuple(labels)
    if names is None and hasattr(ratings, "columns"):
        names = [str(name) for name in ratings.columns]
    stack = np.asarray(pairwise(ratings, num_classes=num_classes, labels=class_labels))
    if stack.ndim != 4 or len(stack) < 2:
        raise ValueError(f"ratings: expected a table (items, raters) of two raters or more, got {stack.shape[:-3]}")
    titles = tuple(map(str, names if names is not None else range(1, len(stack) + 1)))
    if len(titles) != len(stack):
        raise ValueError(f"names: expected a name for each of {len(stack)} raters, got {quoted(list(titles))}")
    (values,) = score(stack, metric).values()
    if np.shape(values) != stack.shape[:2]:
        raise ValueError(f"metric: expected a measure with a single value, such as 'cohen_kappa', got {quoted(metric)}")
    off_diagonal = np.where(np.eye(len(stack), dtype=bool), np.nan, values)
    is_defined = ~np.isnan(off_diagonal)
    mean = np.where(is_defined, off_diagonal, 0).sum(axis=1) / np.maximum(is_defined.sum(axis=1), 1)
    order = np.argsort(-mean, kind="stable")
    table = off_diagonal[np.ix_(order, order)]
    items = stack.sum(axis=(-2, -1))[np.ix_(order, order)]
    return RatersDisplay(table, items, tuple(titles[k] for k in order), metric).plot(ax, width=width)
