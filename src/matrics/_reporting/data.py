"""The input of a report: the matrices of all models, and the data of single samples."""

from __future__ import annotations

from collections.abc import Hashable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Any, NamedTuple

import numpy as np

from matrics._arrays import NUMPY
from matrics._arrays.sizes import most_cells
from matrics._catalogue.classes import Classes
from matrics._catalogue.naming import check_names
from matrics._errors import ArgumentError
from matrics._plot.inputs import host_stack, names_of_classes
from matrics._quoting import quoted, quoted_list
from matrics._reporting.origin import Origin, origin_of_columns, origin_of_matrices
from matrics._reporting.report_columns import ReportColumns
from matrics._reporting.scores import THRESHOLD, ReportScores, predicted, read_scores
from matrics._reporting.verdicts import ModelVerdict
from matrics._tables.any_table import open_table
from matrics._tables.columns import (
    Coded,
    class_codes,
    coded,
    combined,
    common_order,
    listed,
    numbers_of,
    sorted_labels,
    taken,
    weights_of,
)
from matrics._tables.counts import warn_of_odd_labels
from matrics._tables.samples import joined
from matrics._tables.vocabularies import ADVICE_WITH_POSITIVE, apart, refuse_disjoint, two_names
from matrics._uncertainty.weighted import kish
from matrics.typing import NumPyArray

__all__ = ["Data", "Groups", "Paired", "data_of_matrices", "data_of_table"]


class Paired(NamedTuple):
    """Predictions of all models for the same samples: true classes (N,), predictions (M, N) and samples (N,)."""

    true: NumPyArray
    pred: NumPyArray
    samples: NumPyArray
    column: str

    @property
    def number(self) -> int:
        """The number of distinct samples."""
        return len(np.unique(self.samples))


class Weighted(NamedTuple):
    """The weights of the samples.

    Parameters
    ----------
    column : str
        The column of the weights.
    squares : array, shape (M, n, n)
        The matrices of squared weights.
    rows : array of int, shape (M,)
        The number of predictions of each model.
    samples : array, shape (N,), or None
        The weights of paired samples.
    """

    column: str
    squares: NumPyArray
    rows: NumPyArray
    samples: NumPyArray | None


class Judged(NamedTuple):
    """Answers with grades of a judge, some of them with grades of people, and the corrected pass rates."""

    judge: str
    human: str
    answers: NumPyArray  # (M,), the number of answers
    labelled: NumPyArray  # (M,), the number of answers that people have graded
    verdict: ModelVerdict


class Groups(NamedTuple):
    """The matrices of each model in each group, (M, G, n, n), with the names of the groups and of their column."""

    column: str
    names: tuple[str, ...]
    matrices: NumPyArray


@dataclass(frozen=True)
class Data:
    """The input of a report.

    Parameters
    ----------
    origin : Origin
        The origin of the data.
    models : tuple of str
        The names of the models.
    known : Classes
        The classes: their labels, the positive class, and whether their order is meaningful.
    classes : tuple of str
        The names of the classes.
    matrices : array, shape (M, n, n)
        The confusion matrix of each model.
    rows : int or None
        The number of rows of the table; None for matrices.
    by : str
        The column that identifies the model.
    paired : Paired or None
        The predictions, if all models have the same samples.
    same_labels : bool
        Whether all models have the same true labels in the same order although no column of samples was given.
    groups : Groups or None
        The matrices of the groups.
    scores : Scores or None
        The scores of each model.
    threshold : float or None
        The lowest score that predicts the positive class; None with predicted labels or scores of several classes.
    from_scores : str
        A sentence on how classes were predicted from scores; empty if there are predicted labels.
    weighted : Weighted or None
        The weights of the samples; the matrices are then sums of weights.
    judged : Judged or None
        The grades of a judge; the matrices are then corrected for its errors.
    """

    origin: Origin
    models: tuple[str, ...]
    known: Classes
    classes: tuple[str, ...]
    matrices: NumPyArray = field(repr=False)
    rows: int | None = None
    by: str = "model"
    paired: Paired | None = None
    same_labels: bool = False
    groups: Groups | None = None
    scores: ReportScores | None = None
    from_scores: str = ""
    threshold: float | None = None
    weighted: Weighted | None = None
    judged: Judged | None = None

    @property
    def are_passes(self) -> bool:
        """Whether the labels are only the results of answers, as in a log: the true class of every answer is "pass"."""
        if self.judged is not None:
            return True
        if not set(self.classes) <= {"pass", "fail"}:
            return False
        names = np.asarray(self.classes)
        return not self.matrices[:, names == "fail"].any() and bool(self.matrices.any())

    @property
    def unit(self) -> str:
        """The noun for a row of the data: sample, or prediction if samples are repeated."""
        repeated = self.paired is not None and len(self.paired.samples) > self.paired.number
        unit = "answer" if self.are_passes else "prediction" if repeated else "sample"
        return unit if self.weighted is None else f"weighted {unit}"

    @property
    def sizes(self) -> NumPyArray:
        """The number of samples of each model in each true class (M, n); effective numbers with weights."""
        sizes: NumPyArray = self.matrices.sum(axis=-1)
        return sizes if self.weighted is None else kish(sizes, self.weighted.squares.sum(axis=-1), NUMPY)

    @property
    def totals(self) -> NumPyArray:
        """The number of samples of each model (M,); effective numbers with weights."""
        totals: NumPyArray = self.matrices.sum(axis=(-2, -1))
        return totals if self.weighted is None else kish(totals, self.weighted.squares.sum(axis=(-2, -1)), NUMPY)

    @property
    def predictions(self) -> NumPyArray:
        """The number of predictions of each model (M,)."""
        if self.judged is not None:
            return self.judged.answers
        numbers: NumPyArray = self.matrices.sum(axis=(-2, -1)) if self.weighted is None else self.weighted.rows
        return numbers

    def squares_of(self, models: Any) -> NumPyArray | None:
        """The squared weights of one or several models, the argument ``squared_weights`` of ``interval``."""
        return None if self.weighted is None else self.weighted.squares[models]


def data_of_matrices(
    matrices: Mapping[Any, Any],
    class_names: Sequence[str] | None,
    origin: Origin | None = None,
    *,
    positive: Hashable = None,
) -> Data:
    """The data from a mapping of names of models to confusion matrices.

    Raises
    ------
    ValueError
        The matrices have different shapes, or a cell is negative, NaN or infinite.
    """
    keys, stack = host_stack(matrices)
    names = tuple(keys or ["all"])
    if len(set(names)) < len(names):
        raise ArgumentError("data", f"expected models with different names, got [{quoted_list(names)}]")
    invalid = [k for k, matrix in enumerate(stack) if not (np.isfinite(matrix) & (matrix >= 0)).all()]
    if invalid:
        raise ArgumentError(
            "data",
            "expected counts of at least 0 in all cells, got other values in the matrix of "
            f"{quoted(names[invalid[0]])}",
        )
    origin = origin or origin_of_matrices(names, stack)
    n = stack.shape[-1]
    known = Classes.of(n, check_names(class_names, n), positive)
    known = replace(known, positive=known.default_positive)
    return Data(origin, names, known, names_of_classes(class_names, n), stack)


def data_of_table(table: Any, names: ReportColumns, origin: Origin | None = None) -> Data:
    """The data from a table of labels with a single prediction in each row.

    Raises
    ------
    TypeError, ValueError
        A column does not exist or has values of another kind, a value is missing, or the models have different samples
        although ``paired_on`` names a column.
    """
    names.check()
    source = open_table("data", table, others="; or a mapping of confusion matrices, or a path")
    has_labels = names.y_pred in source.names or not names.y_score
    labels = [names.y_true, *([names.y_pred] if has_labels else [])]
    others = [*names.by, *(name for name in (names.paired_on, names.groups) if name is not None)]
    weight = () if names.sample_weight is None else (names.sample_weight,)
    columns = source.columns([*labels, *others, *names.y_score.values(), *weight])
    coded_columns = {name: coded(name, columns[name]) for name in dict.fromkeys([*labels, *others])}
    numbers = {name: numbers_of(name, columns[name]) for name in names.y_score.values()}
    weights = None
    if names.sample_weight is not None:
        weights = numbers[names.sample_weight] = _weights(names.sample_weight, columns[names.sample_weight])
    rows = len(coded_columns[names.y_true].codes)
    if not rows:
        raise ArgumentError("data", "expected at least one row, got none")
    models, model_names = _models([coded_columns[name] for name in names.by], rows)
    known_labels, (true, *codes) = _coded(
        {name: coded_columns[name] for name in labels}, models, names.positive, has_warning=origin is None
    )
    classes = tuple(map(str, known_labels))
    by = ", ".join(map(str, names.by))
    of_true, *of_pred = (np.bincount(side, minlength=len(classes)) for side in (true, *codes))
    no_rest = apart(classes, of_true, of_pred[0]) if has_labels else ()
    known = Classes.of(len(classes), known_labels, names.positive, apart=no_rest)
    scores = read_scores(numbers, names.y_score, known, true) if names.y_score else None
    if scores is not None and len(scores.positives) == 1 and known.positive is None:
        known = replace(known, positive=scores.positives[0])
    known = replace(known, positive=known.default_positive)
    pred, how = (codes[0], "") if has_labels else predicted(scores, classes)
    counted = origin or origin_of_columns({str(name): column for name, column in (coded_columns | numbers).items()})
    number, n = len(model_names), len(classes)
    cells = (models * n + true) * n + pred
    groups = None
    if names.groups is not None:
        groups = _grouped(str(names.groups), coded_columns[names.groups], cells, number, n)
    _refuse_many(number, n)
    matrices = np.bincount(cells, weights, number * n * n).reshape(number, n, n)
    paired, of_samples, order = (
        None,
        None,
        [np.flatnonzero(models == k) for k in range(number)] if scores is not None else [],
    )
    if names.paired_on is not None:
        column = coded_columns[names.paired_on]
        both = joined(
            *(models, column.codes, true, pred),
            names=model_names,
            sample_names=column.listed(),
            column=str(names.paired_on),
            weights=weights,
        )
        of_samples = both.weights
        paired, order = Paired(both.true, both.pred, both.samples, str(names.paired_on)), list(both.rows)
    weighted = None
    if weights is not None:
        squares = np.bincount(cells, weights**2, number * n * n).reshape(number, n, n)
        weighted = Weighted(str(names.sample_weight), squares, np.bincount(models, minlength=number), of_samples)
    return Data(
        origin=counted,
        models=model_names,
        known=known,
        classes=classes,
        matrices=matrices,
        rows=rows,
        by=by,
        paired=paired,
        same_labels=paired is None and _have_same_labels(models, true, number),
        groups=groups,
        scores=None if scores is None else scores.of_models(true, order),
        from_scores=how,
        threshold=THRESHOLD if how and scores is not None and len(scores.positives) == 1 else None,
        weighted=weighted,
    )


def _coded(
    columns: Mapping[Hashable, Coded], models: NumPyArray, positive: Hashable, *, has_warning: bool
) -> tuple[Sequence[Hashable], list[NumPyArray]]:
    """The labels of the classes, and the true and, if there is a column for it, the predicted class of each row."""
    true, *pred = (column.listed() for column in columns.values())
    named = two_names(true, pred[0], positive) if pred else None
    if named is not None:
        sides = zip(columns.values(), (named.of_true, named.of_pred), strict=True)
        return named.classes, [
            np.asarray([codes_of[x] for x in column.listed()])[column.codes] for column, codes_of in sides
        ]
    categories = common_order((column.categories, column.listed()) for column in columns.values())
    labels = categories or sorted_labels(list(columns.items()))
    codes = [class_codes(name, column, labels) for name, column in columns.items()]
    if pred and not categories:
        of_row, places = np.divmod(np.unique(models * len(labels) + codes[1]), len(labels))
        for k in range(int(of_row[-1]) + 1):  # each model may use other words for the classes
            of_model = [labels[place] for place in places[of_row == k].tolist()]
            refuse_disjoint(true, of_model, ADVICE_WITH_POSITIVE, tuple(columns))
        if has_warning:
            warn_of_odd_labels(true, pred[0], advice="")
    return labels, codes


def _weights(name: Any, column: Any) -> NumPyArray:
    """The weights of all rows; an error is raised if all are 0."""
    weights: NumPyArray = weights_of(name, column).astype(np.float64)
    if not weights.any():
        raise ValueError(f"column {quoted(name)}: expected weights above 0, got only 0")
    return weights


def _models(columns: Sequence[Coded], rows: int) -> tuple[NumPyArray, tuple[str, ...]]:
    """The model of each row, and the names of the models: their values, with commas between several columns."""
    if not columns:
        return np.zeros(rows, np.int64), ("all predictions",)
    models, places = combined(columns, rows)
    parts = [
        [str(value) for value in listed(taken(column.values, at))] for column, at in zip(columns, places, strict=True)
    ]
    keys = list(zip(*parts, strict=True))
    names = tuple(", ".join(key) for key in keys)
    if len(set(names)) < len(names):  # the values contain commas
        names = tuple(", ".join(map(repr, key)) for key in keys)
    return models, names


def _grouped(name: str, column: Coded, cells: NumPyArray, models: int, n: int) -> Groups:
    number = len(column.values)
    _refuse_many(models * number, n)
    model, cell = np.divmod(cells, n * n)
    bins = (model * number + column.codes) * n * n + cell
    counts = np.bincount(bins, minlength=models * number * n * n)
    return Groups(name, tuple(map(str, column.listed())), counts.reshape(models, number, n, n))


def _refuse_many(matrices: int, n: int) -> None:
    if matrices * n * n > most_cells():
        raise ArgumentError("data", f"expected labels of few classes, got {n:,} classes in {matrices:,} matrices")


def _have_same_labels(models: NumPyArray, true: NumPyArray, number: int) -> bool:
    if number < 2 or len(set(np.bincount(models).tolist())) > 1:
        return False
    by_model = true[np.argsort(models, kind="stable")].reshape(number, -1)
    return bool((by_model == by_model[0]).all()) and by_model.shape[1] > 20
