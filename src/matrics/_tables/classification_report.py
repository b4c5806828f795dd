"""classification_report(): scikit-learn's table of precision, recall and F1, with limits."""

from __future__ import annotations

import math
import textwrap
from collections.abc import Hashable, Iterable, Sequence
from dataclasses import dataclass
from typing import Any, Literal, overload

import numpy as np

from matrics._arrays import Array, as_arrays
from matrics._catalogue.naming import check_names
from matrics._counting.codes import left_out
from matrics._engine.results import Result
from matrics._tables import latex
from matrics._tables.label_counts import count_labels
from matrics._tables.table import Library, imported, parts_of
from matrics._uncertainty.interval import interval
from matrics._uncertainty.options import check_level
from matrics._uncertainty.results import Interval, IntervalStatus
from matrics._wording import rounded
from matrics.typing import ArrayLike, NumPyArray

__all__ = ["ClassificationReport", "classification_report"]

MEASURES = ("precision", "recall", "f1")
AVERAGES = {"macro avg": "macro", "weighted avg": "weighted"}
WIDTH = 80  # of a screen
FEWEST_LETTERS = len("weighted avg")  # smallest width of the names
CELL = len("0.00 [0.00, 0.00]")
GAP = "  "
ACCURACY = -3  # the row of accuracy


@dataclass(frozen=True, eq=False, repr=False)
class ClassificationReport(Result):
    """Precision, recall and F1 of every class with their limits, as from :func:`matrics.classification_report`.

    ``print`` writes it as a table. The rows are the classes, then ``accuracy``, ``macro avg`` and ``weighted avg``, as
    in scikit-learn's table: accuracy is in the column of F1.

    Parameters
    ----------
    names : tuple of str, length n + 3
        The names of the rows.
    precision, recall, f1 : Interval
        The values and limits of all rows: arrays (n + 3,).
    support : array, shape (n + 3,)
        The number of samples of the true class of each row, or of all samples; sums of weights with weights.
    level : float
        The confidence level of the limits.
    matrix : array, shape (n, n)
        The confusion matrix.
    """

    names: tuple[str, ...]
    precision: Interval
    recall: Interval
    f1: Interval
    support: NumPyArray
    level: float
    matrix: NumPyArray

    def to_frame(self, *, library: Library = "pandas") -> Any:
        """The table as a data frame with a row for each class and average.

        Parameters
        ----------
        library : {"pandas", "polars"}
            Which library the data frame is of.

        Returns
        -------
        pandas.DataFrame or polars.DataFrame
            The column ``class``; five columns for each measure, as in :func:`matrics.to_frame` (``f1``, ``f1/low``,
            ``f1/high``, ``f1/standard_error``, ``f1/status``); and ``support``. NaN where there is no value.

        Raises
        ------
        ImportError
            The library is not installed.
        """
        columns: dict[str, Any] = {"class": list(self.names)}
        for measure in MEASURES:
            columns |= {measure + ending: values for ending, values in parts_of(getattr(self, measure)).items()}
        return imported(library).DataFrame({**columns, "support": self.support})

    def to_latex(self) -> str:
        """The table in LaTeX, with the rules of booktabs: limits in brackets, and notes as comments."""
        cells = [[latex.escape(name)] for name in self.names]
        for measure in MEASURES:
            interval = getattr(self, measure)
            for row, limits in zip(
                cells, zip(interval.estimate, interval.low, interval.high, strict=True), strict=True
            ):
                row.append(latex.with_limits(*map(float, limits)))
        for row, number in zip(cells, self.support.tolist(), strict=True):
            row.append(f"{number:,.10g}")
        cells[ACCURACY][1 : len(MEASURES)] = [""] * (len(MEASURES) - 1)
        rule = len(cells) + ACCURACY
        comments = [latex.comment(note) for note in self._notes()]
        return "\n".join([*comments, latex.tabular(["class", *MEASURES, "support"], cells, texts=1, rules=[rule])])

    def __str__(self) -> str:
        """The table, at most 80 columns wide unless numbers are long."""
        is_whole = bool((self.support == np.round(self.support)).all())
        support = [f"{number:,.{0 if is_whole else 1}f}" for number in self.support.tolist()]
        width = max(len("support"), *map(len, support))
        room = WIDTH - len(MEASURES) * (len(GAP) + CELL) - len(GAP) - width
        letters = max(FEWEST_LETTERS, min(max(map(len, self.names)), room))

        def line(name: str, cells: Iterable[str], number: str) -> str:
            short = name if len(name) <= letters else f"{name[: letters - 1]}…"
            return GAP.join([f"{short:<{letters}}", *(f"{cell:>{CELL}}" for cell in cells), f"{number:>{width}}"])

        rows = [
            line(name, [self._cell(measure, row) for measure in MEASURES], support[row])
            for row, name in enumerate(self.names)
        ]
        head = line("", [f"{measure:<{CELL}}" for measure in MEASURES], "support")
        rule = "─" * len(head)
        return "\n".join([head, rule, *rows[:ACCURACY], rule, *rows[ACCURACY:], rule, *self._notes()])

    __repr__ = __str__

    def _cell(self, measure: str, row: int) -> str:
        """A value with its limits; the row of accuracy has only the column of F1."""
        if measure != "f1" and row == len(self.names) + ACCURACY:
            return ""
        interval = getattr(self, measure)
        value, low, high = (float(part[row]) for part in (interval.estimate, interval.low, interval.high))
        limits = "" if math.isnan(low + high) else f"[{rounded(low, 2)}, {rounded(high, 2)}]"
        return f"{'–' if math.isnan(value) else rounded(value, 2):>4} {limits:<12}"

    def _notes(self) -> list[str]:
        """Notes on the brackets, and on missing or unreliable values and limits."""
        codes = {int(code) for measure in MEASURES for code in getattr(self, measure).status}
        notes = [f"in brackets: {self.level * 100:.6g} % limits"]
        if any("–" in self._cell(measure, row) for measure in MEASURES for row in range(len(self.names))):
            notes.append("– undefined: no true sample of the class, or no prediction of it")
        codes -= {IntervalStatus.OK, IntervalStatus.UNDEFINED}
        notes += [status.sentence for status in IntervalStatus if status in codes]
        return [line for note in notes for line in textwrap.wrap(note, WIDTH)]


@overload
def classification_report(
    y_true: ArrayLike,
    y_pred: ArrayLike,
    *,
    labels: Iterable[Hashable] | None = ...,
    class_names: Sequence[str] | None = ...,
    sample_weight: ArrayLike | None = ...,
    ignore_index: Any = ...,
    level: float = ...,
    zero_division: float = ...,
    as_frame: Literal[False] = ...,
) -> ClassificationReport: ...
@overload
def classification_report(
    y_true: ArrayLike,
    y_pred: ArrayLike,
    *,
    labels: Iterable[Hashable] | None = ...,
    class_names: Sequence[str] | None = ...,
    sample_weight: ArrayLike | None = ...,
    ignore_index: Any = ...,
    level: float = ...,
    zero_division: float = ...,
    as_frame: bool,
) -> Any: ...
def classification_report(
    y_true: ArrayLike,
    y_pred: ArrayLike,
    *,
    labels: Iterable[Hashable] | None = None,
    class_names: Sequence[str] | None = None,
    sample_weight: ArrayLike | None = None,
    ignore_index: Any = None,
    level: float = 0.95,
    zero_division: float = math.nan,
    as_frame: bool = False,
) -> Any:
    """Precision, recall and F1 of every class with limits: the table of scikit-learn's function of this name.

    Parameters
    ----------
    y_true, y_pred : array_like, shape (N,)
        True and predicted labels of any kind: text, integers or booleans, in a list, a column of pandas, Polars or
        pyarrow, or an array or tensor of any library.
    labels : sequence of text, integers or other hashables, optional
        The label of each class, in order. If left out, the classes are the labels that occur, true or predicted,
        sorted; or all categories in their order, if both columns are of the same categorical type of pandas or the same
        Enum of Polars.
    class_names : sequence of str, optional
        Names of the classes, in their order, for the table; their labels if left out.
    sample_weight : array_like, shape (N,), optional
        A weight for each sample, of which the limits take account.
    ignore_index : label, or list of labels, optional
        Samples with this true label, or any of these, are left out. It is a class only if ``labels`` has it or other
        samples are predicted as it, which is an error of their true class; averages are over the other classes.
    level : float, default 0.95
        The probability with which an interval is to contain the true value.
    zero_division : float, default NaN
        The value of undefined measures (0/0), which are left out of the means if it is NaN. It is 0, with a warning, in
        scikit-learn.
    as_frame : bool, default False
        Whether to return a data frame of pandas, as from ``to_frame()`` of the report.

    Returns
    -------
    ClassificationReport or pandas.DataFrame
        ``print`` shows the table; ``to_frame()`` and ``to_dict()`` have its numbers.

    Raises
    ------
    ImportError
        With ``as_frame``, pandas is not installed.
    TypeError, ValueError
        As in :func:`matrics.score_labels` and :func:`matrics.interval`; or the labels have more than one axis.

    Examples
    --------
    >>> import matrics
    >>> y_true = ["cat"] * 600 + ["dog"] * 400 + ["owl"] * 500
    >>> y_pred = ["cat"] * 520 + ["dog"] * 430 + ["owl"] * 470 + ["cat"] * 80
    >>> print(matrics.classification_report(y_true, y_pred))
                  precision          recall             f1                 support
    ──────────────────────────────────────────────────────────────────────────────
    cat           0.87 [0.84, 0.89]  0.87 [0.84, 0.89]  0.87 [0.84, 0.89]      600
    dog           0.81 [0.77, 0.85]  0.88 [0.84, 0.90]  0.84 [0.81, 0.87]      400
    owl           0.89 [0.86, 0.92]  0.84 [0.81, 0.87]  0.87 [0.84, 0.89]      500
    ──────────────────────────────────────────────────────────────────────────────
    accuracy                                            0.86 [0.84, 0.88]    1,500
    macro avg     0.86 [0.84, 0.87]  0.86 [0.84, 0.88]  0.86 [0.84, 0.88]    1,500
    weighted avg  0.86 [0.84, 0.88]  0.86 [0.84, 0.88]  0.86 [0.84, 0.88]    1,500
    ──────────────────────────────────────────────────────────────────────────────
    in brackets: 95 % limits
    """
    check_level(level)
    counts = count_labels(y_true, y_pred, labels, sample_weight, ignore_index, squares=True)
    if counts.matrix.ndim != 2:
        raise ValueError(
            f"y_true, y_pred: expected the labels of a single model, (N,), got matrices {tuple(counts.matrix.shape)}: "
            "make a report for each model"
        )
    names = counts.class_names if class_names is None else tuple(check_names(class_names, len(counts.labels)) or ())
    left = left_out(ignore_index, len(counts.labels), tuple(counts.labels))
    others = f"[{','.join(str(k) for k in range(len(counts.labels)) if k not in left)}]" if left else ""
    specs = [
        f"{measure}:{average}"
        for measure in MEASURES
        for average in ("class", *(x + others for x in AVERAGES.values()))
    ]
    matrix = _on_host(counts.matrix)
    squares = None if counts.squared_weights is None else _on_host(counts.squared_weights)
    options: Any = {"squared_weights": squares, "level": level, "zero_division": zero_division}
    intervals = interval(matrix, [*specs, "accuracy"], **options)
    sizes = matrix.sum(axis=-1)
    precision, recall, f1 = (_rows(intervals, measure, others) for measure in MEASURES)
    support = np.concatenate([sizes, [sizes.sum()] * (1 + len(AVERAGES))])
    rows = (*names, "accuracy", *AVERAGES)
    report = ClassificationReport(rows, precision, recall, f1, support, float(level), matrix)
    return report.to_frame() if as_frame else report


def _on_host(matrix: Any) -> Array:
    backend, (array,) = as_arrays(cm=matrix)
    return backend.to_numpy(array)


def _rows(intervals: dict[str, Interval], measure: str, others: str) -> Interval:
    """The intervals of a measure for the rows: classes, accuracy, averages."""
    nothing = Interval._make([*[math.nan] * 4, 0, int(IntervalStatus.UNDEFINED)])
    averages = [intervals[f"{measure}:{average}{others}"] for average in AVERAGES.values()]
    parts = [intervals[f"{measure}:class"], intervals["accuracy"] if measure == "f1" else nothing, *averages]
    return Interval._make(
        np.concatenate([np.atleast_1d(part) for part in column]) for column in zip(*parts, strict=True)
    )
