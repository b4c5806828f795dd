"""Pictures of confusion matrices, of few or many classes."""

from __future__ import annotations

from collections.abc import Hashable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any, Literal, get_args

import numpy as np

from matrics._engine.evaluation import InvalidConfusionMatrix, check
from matrics._engine.results import NamedResult
from matrics._plot.display import Display, checked_width
from matrics._plot.heat_map import (
    FEW,
    CellText,
    cell_text,
    class_ticks,
    draw_cells,
    height_of_cells,
    scale_bar,
    short_name,
    size_of_cells,
    write_below,
)
from matrics._plot.inputs import host_stack, names_of_classes, names_of_panels
from matrics._plot.order import ordered_classes
from matrics._plot.style import INK, right, shaded, tidy, wrong
from matrics._quoting import quoted
from matrics._tables.label_counts import count_labels
from matrics._uncertainty.model_samples import named_models
from matrics._wording import percentage
from matrics.typing import ArrayLike, NumPyArray

if TYPE_CHECKING:
    from matplotlib.axes import Axes

__all__ = ["Confusion", "ConfusionMatrixDisplay", "confusion_matrix", "most_frequent"]

MOST_PANELS = 30

# Inches for the names next to the cells, and for the smallest cells with room for a count and a share, or for a share.
NAMES, CELL_OF_BOTH, CELL_OF_SHARE = 1.0, 0.28, 0.22


class Confusion(NamedResult):
    """An error: samples of a true class that are predicted as another class.

    Parameters
    ----------
    true, predicted : str
        The names of the classes.
    samples : float
        The number of samples.
    share : float
        The share of the samples of the true class.
    """

    true: str
    predicted: str
    samples: float
    share: float

    def __str__(self) -> str:
        """The error in words, for captions."""
        share = f"{percentage(self.share)}% of {self.true}"
        return f"{self.true} predicted as {self.predicted}: {self.samples:,.10g} ({share})"


@dataclass(eq=False, repr=False)
class ConfusionMatrixDisplay(Display):
    """Confusion matrices, as from :func:`matrics.plot.confusion_matrix`.

    Parameters
    ----------
    matrices : array, shape (P, n, n)
        The counts, a matrix for each panel, with classes in the order in which they are drawn.
    shares : array, shape (P, n, n)
        The same as shares of the row sums; NaN in rows without samples.
    class_names : tuple of str
        The names of the classes, in that order.
    names : list of str
        The titles of the panels.
    top_confusions : list of list of Confusion
        For each panel the most frequent errors, the most frequent first.
    text : str
        The text in the cells.
    invalid : frozenset of int
        The panels whose matrix has a negative, NaN or infinite cell.
    """

    matrices: NumPyArray
    shares: NumPyArray
    class_names: tuple[str, ...]
    names: list[str]
    top_confusions: list[list[Confusion]]
    text: CellText = "none"
    invalid: frozenset[int] = field(default_factory=frozenset)

    def panels(self) -> int:
        """The number of matrices."""
        return len(self.matrices)

    def panel_size(self) -> tuple[float, float]:
        """The width of a paper's column for few classes, of its page for many; smaller for several panels."""
        n = len(self.class_names)
        if self.panels() > 1:
            cell = {"both": 0.46, "share": 0.27, "count": 0.4}.get(self.text, 0.0)
            return (side := min(3.6, max(2.4, 0.9 + cell * n))), side
        return size_of_cells(n, self.text, self._lines())

    def _draw(self, panels: Sequence[Axes]) -> None:
        """Draw each matrix."""
        for number, axes in enumerate(panels):
            tidy(axes)
            axes.set_title(self.names[number])
            if number in self.invalid:
                axes.set(xticks=[], yticks=[])
                axes.text(0.5, 0.5, "invalid matrix", transform=axes.transAxes, ha="center", color=INK)
                continue
            shares = self.shares[number]
            colours = wrong(shaded(shares))
            diagonal = np.arange(len(shares))
            colours[diagonal, diagonal] = right(shaded(shares[diagonal, diagonal]))
            draw_cells(axes, colours, cell_text(self.matrices[number], shares, self.text))
            class_ticks(axes, self.class_names)
            axes.set_xlabel("predicted class")
            axes.set_ylabel("true class")
        if self.panels() == 1 and self.top_confusions[0]:
            write_below(panels[0], "predicted class", self._lines(), owns_figure=self.owns_figure)
        if self.text not in {"both", "share"}:
            scale_bar(panels, "share of the true class: correct (blue), errors (orange)", (right, wrong))

    def _height_at(self, width: float) -> float:
        """The height of a panel of this width: a square, and the lines below."""
        return width if self.panels() > 1 else height_of_cells(width, self._lines())

    def _lines(self) -> list[str]:
        """The most frequent errors of a single matrix in words, with a heading."""
        errors = [
            confusion._replace(true=short_name(confusion.true), predicted=short_name(confusion.predicted))
            for confusion in self.top_confusions[0]
        ]
        return ["Most frequent errors", *map(str, errors)] if errors else []

    def describe(self) -> str:
        """Describe the picture in a few sentences."""
        sentences = []
        for number, matrix in enumerate(self.matrices):
            name = f"{self.names[number]}: " if self.names[number] else ""
            if number in self.invalid:
                sentences.append(f"{name}an invalid matrix.")
                continue
            total, hits = matrix.sum(dtype=np.float64), np.trace(matrix, dtype=np.float64)
            correct = f", {percentage(hits / total)}% of them predicted correctly" if total > 0 else ""
            classes = f"{len(matrix)} class{'es' * (len(matrix) > 1)}"
            sentences.append(
                f"{name}confusion matrix of {classes} and {total:,.10g} samples{correct}."
                + "".join(f" {confusion}." for confusion in self.top_confusions[number][:3])
            )
        return " ".join(sentences)


def confusion_matrix(
    cm: ArrayLike | Mapping[str, ArrayLike] | None = None,
    *,
    y_true: ArrayLike | None = None,
    y_pred: ArrayLike | Mapping[str, ArrayLike] | None = None,
    labels: Iterable[Hashable] | None = None,
    class_names: Sequence[str] | None = None,
    names: Sequence[str] | None = None,
    order: Literal["clusters"] | Sequence[int] | None = None,
    top: int = 5,
    text: Literal["auto", "both", "share", "count", "none"] = "auto",
    width: float | None = None,
    ax: Any = None,
) -> ConfusionMatrixDisplay:
    """Draw confusion matrices: counts and row shares in the cells, coloured by the row share.

    Correct predictions are blue and errors orange; a larger share of the true class is darker. Rows without samples are
    grey. The colour follows a root of the share, so that a few per cent are visible.

    Parameters
    ----------
    cm : array_like, shape (*B, n, n), or mapping of str to array_like, shape (n, n), optional
        Counts of any library; rows are true classes, columns are predicted classes. Each matrix has a panel.
    y_true : array_like, shape (N,), optional
        Instead of ``cm``: true labels of any kind, text, integers or booleans, in a list, a column of a data frame, or
        an array of any library.
    y_pred : array_like, shape (N,) or (M, N), or mapping of str to array_like, shape (N,), optional
        The predicted labels of a model, or of several models; a mapping has the names of the models.
    labels : sequence of text, integers or other hashables, optional
        The label of each class, in order, for ``y_true`` and ``y_pred``. If left out, the classes are the labels that
        occur, sorted, or the categories of a categorical type.
    class_names : sequence of str, optional
        Names of the classes, in their order; the labels, or else the classes' numbers, if left out. If there is no room
        for all of them, some are left out.
    names : sequence of str, optional
        The titles of the panels; the keys of a mapping, or positions in the stack, if left out.
    order : {"clusters"} or sequence of int, optional
        The order of the classes: ``"clusters"`` makes classes neighbours that are confused with each other (needs
        SciPy; for a stack by the sum of its matrices), and class numbers in their new order. Unchanged
        if left out.
    top : int, default 5
        The number of the most frequent errors that are named below a single matrix.
    text : {"auto", "both", "share", "count", "none"}
        The text of a cell: the count and the row share, either, or none. ``"auto"`` writes both for up
        to 12 classes, the share for up to 25, and nothing for more; for half as many classes if there are several
        panels. Shares are percentages.
    width : float, optional
        The width of a new figure in inches, such as 3.5, a column of many journals; chosen by the contents if left out.
        Texts keep their size.
    ax : matplotlib.axes.Axes, or array of them, optional
        The axes to draw on, an Axes for each panel, which is a matrix; a new figure if left out.

    Returns
    -------
    ConfusionMatrixDisplay
        The data, ``figure_`` and ``ax_``.

    Raises
    ------
    ImportError
        Matplotlib is not installed.
    TypeError
        Neither ``cm`` nor ``y_true`` and ``y_pred`` are given, or both.
    ValueError
        The shape is not (*B, n, n), there are more than 30 matrices, or names or numbers do not fit the classes.
    InvalidConfusionMatrix
        The only matrix has a negative, NaN or infinite cell. In a stack such a matrix is drawn as an empty panel.

    Examples
    --------
    >>> import matrics.plot
    >>> cm = [[50, 3, 2], [4, 60, 1], [0, 2, 40]]
    >>> display = matrics.plot.confusion_matrix(cm, class_names=["cat", "dog", "fox"])
    >>> display.top_confusions[0][0]
    Confusion(true='dog', predicted='cat', samples=4, share=0.06154)
    >>> print(display.describe()[:74])
    confusion matrix of 3 classes and 162 samples, 92.6% of them predicted cor
    >>> display = matrics.plot.confusion_matrix(y_true=["cat", "dog", "dog"], y_pred=["cat", "cat", "dog"])
    >>> display.class_names
    ('cat', 'dog')
    """
    if (
        (cm is None) == (y_true is None)
        or (y_true is None) != (y_pred is None)
        or (y_true is None and labels is not None)
    ):
        arguments = {"cm": cm, "y_true": y_true, "y_pred": y_pred, "labels": labels}
        got = ", ".join(name for name, value in arguments.items() if value is not None) or "nothing"
        raise TypeError(f"expected either cm, or y_true= and y_pred= (with or without labels=), got {got}")
    if cm is None:
        names_of_models, predictions = named_models(y_pred)
        counts = count_labels(y_true, predictions, labels)
        cm = counts.matrix if names_of_models is None else dict(zip(names_of_models, counts.matrix, strict=True))
        class_names = counts.class_names if class_names is None else class_names
    positions, matrices = host_stack(cm)
    if len(matrices) > MOST_PANELS:
        raise ValueError(
            f"cm: expected at most {MOST_PANELS} matrices, each in a panel, got {len(matrices):,}; choose some, add "
            "them, or see matrics.plot.distribution for a measure of all of them"
        )
    if text not in ("auto", *get_args(CellText)):
        raise ValueError(f"text: expected 'auto', 'both', 'share', 'count' or 'none', got {quoted(text)}")
    if isinstance(top, bool) or not isinstance(top, int) or top < 0:
        raise ValueError(f"top: expected a number of errors to name, 0 or more, got {quoted(top)}")
    n = matrices.shape[-1]
    invalid = frozenset(k for k, matrix in enumerate(matrices) if not _is_valid(matrix))
    if positions is None and invalid:
        check(matrices[0])
    valid = np.delete(matrices, list(invalid), axis=0)
    places = ordered_classes(valid.sum(axis=0, dtype=np.float64), order)
    class_names = names_of_classes(class_names, n, *(cm.values() if isinstance(cm, Mapping) else (cm,)))
    in_order = tuple(class_names[place] for place in places)
    matrices = matrices[:, places][:, :, places]
    with np.errstate(invalid="ignore"):
        # Sums of floating-point numbers, as sums of integers such as 1e17 would overflow.
        shares = matrices / matrices.sum(axis=-1, keepdims=True, dtype=np.float64)
    limits_of_text = (12, FEW) if len(matrices) == 1 else (6, 12)
    width = checked_width(width, ax)
    if width is not None and len(matrices) == 1:
        limits_of_text = int((width - NAMES) / CELL_OF_BOTH), int((width - NAMES) / CELL_OF_SHARE)
    content = (
        text if text != "auto" else "both" if n <= limits_of_text[0] else "share" if n <= limits_of_text[1] else "none"
    )
    return ConfusionMatrixDisplay(
        matrices,
        shares,
        in_order,
        names_of_panels(names, positions, len(matrices)),
        [[] if k in invalid else most_frequent(m, in_order, top) for k, m in enumerate(matrices)],
        content,
        invalid,
    ).plot(ax, width=width)


def _is_valid(matrix: NumPyArray) -> bool:
    try:
        check(matrix)
    except InvalidConfusionMatrix:
        return False
    return True


def most_frequent(matrix: NumPyArray, names: Sequence[str], top: int) -> list[Confusion]:
    """The errors with the most samples; errors with equally many samples are sorted by their share."""
    errors = matrix * ~np.eye(len(matrix), dtype=bool)
    sizes = matrix.sum(axis=1, dtype=np.float64)
    confusions = [
        Confusion(names[i], names[j], errors[i, j].item(), float(errors[i, j] / sizes[i]))
        for i, j in np.argwhere(errors > 0)
    ]
    return sorted(confusions, key=lambda error: (-error.samples, -error.share))[:top]
