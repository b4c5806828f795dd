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
    """Predictions of all models for the same samples: true classes (N,), predictions (M, N), and samples (N,)."""

    true: NumPyArray
    pred: NumPyArray
    samples: NumPyArray
    column: str

    @property
    def number(self) -> int:
        """How many samples there are, each counted once."""
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
        How many predictions each model has.
    samples : array, shape (N,), or None
        The weights of paired samples.
    """

    column: str
    squares: NumPyArray
    rows: NumPyArray
    samples: NumPyArray | None


class Judged(NamedTuple):
    """Answers that a judge has graded, and people in part, and the pass rates that follow."""

    judge: str
    human: str
    answers: NumPyArray  # (M,)
    labelled: NumPyArray  # (M,), the answers that people have graded
    verdict: ModelVerdict


class Groups(NamedTuple):
    """The matrices of each model in each group, (M, G, n, n), with the names of the groups and of their column."""

    column: str
    names: tuple[str, ...]
    matrices: NumPyArray


@dataclass(frozen=True)
class Data:
    """All that a report is made of.

    Parameters
    ----------
    origin : Origin
        The origin of the data.
    models : tuple of str
        Their names.
    known : Classes
        The classes: their labels, the positive class, and whether their order is meaningful.
    classes : tuple of str
        The names of the classes.
    matrices : array, shape (M, n, n)
        One confusion matrix for each model.
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
        The score from which on samples were predicted as positive; None if labels were given or several classes scored.
    from_scores : str
        How classes were predicted from scores, in words; empty if there were predicted labels.
    weighted : Weighted or None
        The weights of the samples; the matrices are then sums of weights.
    judged : Judged or None
        The grades of a judge; the matrices are then corrected ones.
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
        """Whether the labels only say which answers pass, as in a log: all are to pass, and none has another class."""
        if self.judged is not None:
            return True
        if not set(self.classes) <= {"pass", "fail"}:
            return False
        names = np.asarray(self.classes)
        return not self.matrices[:, names == "fail"].any() and bool(self.matrices.any())

    @property
    def unit(self) -> str:
        """What a row of the data is: a sample, or a prediction if samples are repeated."""
        repeated = self.paired is not None and len(self.paired.samples) > self.paired.number
        unit = "answer" if self.are_passes else "prediction" if repeated else "sample"
        return unit if self.weighted is None else f"weighted {unit}"

    @property
    def sizes(self) -> NumPyArray:
        """The samples of each model in each true class (M, n); with weights, the effective numbers."""
        sizes: NumPyArray = self.matrices.sum(axis=-1)
        return sizes if self.weighted is None else kish(sizes, self.weighted.squares.sum(axis=-1), NUMPY)

    @property
    def totals(self) -> NumPyArray:
        """The samples of each model (M,), likewise."""
        totals: NumPyArray = self.matrices.sum(axis=(-2, -1))
        return totals if self.weighted is None else kish(totals, self.weighted.squares.sum(axis=(-2, -1)), NUMPY)

    @property
    def predictions(self) -> NumPyArray:
        """How many predictions each model has (M,)."""
        if self.judged is not None:
            return self.judged.answers
        found: NumPyArray = self.matrices.sum(axis=(-2, -1)) if self.weighted is None else self.weighted.rows
        return found

    def squares_of(self, models: Any) -> NumPyArray | None:
        """The squared weights of a model, or of some: what ``interval`` takes with their matrices."""
        return None if self.weighted is None else self.weighted.squares[models]


def data_of_matrices(
    matrices: Mapping[Any, Any],
    class_names: Sequence[str] | None,
    origin: Origin | None = None,
    *,
    positive: Hashable = None,
) -> Data:
    """The data of a mapping of names of models to confusion matrices.

    Raises
    ------
    ValueError
        The matrices have different shapes, or a cell is negative or no number.
    """
    found, stack = host_stack(matrices)
    names = tuple(found or ["all"])
    if len(set(names)) < len(names):
        raise ArgumentError("data", f"expected models of different names, got [{quoted_list(names)}]")
    invalid = [k for k, matrix in enumerate(stack) if not (np.isfinite(matrix) & (matrix >= 0)).all()]
    if invalid:
        raise ArgumentError(
            "data", f"expected counts of at least 0 in all cells, got others in {quoted(names[invalid[0]])}"
        )
    origin = origin or origin_of_matrices(names, stack)
    n = stack.shape[-1]
    known = Classes.of(n, check_names(class_names, n), positive)
    known = replace(known, positive=known.default_positive)
    return Data(origin, names, known, names_of_classes(class_names, n), stack)


def data_of_table(table: Any, wanted: ReportColumns, origin: Origin | None = None) -> Data:
    """The data of a table of labels, one prediction a row.

    Raises
    ------
    TypeError, ValueError
        A column is not there or has values of another kind, a value is missing, or models that are said to be paired
        have other samples.
    """
    wanted.check()
    source = open_table("data", table, others="; or a mapping of confusion matrices, or a path")
    has_labels = wanted.y_pred in source.names or not wanted.y_score
    labels = [wanted.y_true, *([wanted.y_pred] if has_labels else [])]
    others = [*wanted.by, *(one for one in (wanted.paired_on, wanted.groups) if one is not None)]
    weight = () if wanted.sample_weight is None else (wanted.sample_weight,)
    columns = source.columns([*labels, *others, *wanted.y_score.values(), *weight])
    found = {name: coded(name, columns[name]) for name in dict.fromkeys([*labels, *others])}
    numbers = {name: numbers_of(name, columns[name]) for name in wanted.y_score.values()}
    weights = None
    if wanted.sample_weight is not None:
        weights = numbers[wanted.sample_weight] = _weights(wanted.sample_weight, columns[wanted.sample_weight])
    rows = len(found[wanted.y_true].codes)
    if not rows:
        raise ArgumentError("data", "expected at least one row, got none")
    models, model_names = _models([found[name] for name in wanted.by], rows)
    known_labels, (true, *codes) = _coded(
        {name: found[name] for name in labels}, models, wanted.positive, has_warning=origin is None
    )
    classes = tuple(map(str, known_labels))
    by = ", ".join(map(str, wanted.by))
    of_true, *of_pred = (np.bincount(side, minlength=len(classes)) for side in (true, *codes))
    no_rest = apart(classes, of_true, of_pred[0]) if has_labels else ()
    known = Classes.of(len(classes), known_labels, wanted.positive, apart=no_rest)
    scores = read_scores(numbers, wanted.y_score, known, true) if wanted.y_score else None
    if scores is not None and len(scores.positives) == 1 and known.positive is None:
        known = replace(known, positive=scores.positives[0])
    known = replace(known, positive=known.default_positive)
    pred, how = (codes[0], "") if has_labels else predicted(scores, classes)
    counted = origin or origin_of_columns({str(name): one for name, one in (found | numbers).items()})
    number, n = len(model_names), len(classes)
    cells = (models * n + true) * n + pred
    groups = None
    if wanted.groups is not None:
        groups = _grouped(str(wanted.groups), found[wanted.groups], cells, number, n)
    _refuse_many(number, n)
    matrices = np.bincount(cells, weights, number * n * n).reshape(number, n, n)
    paired, of_samples, order = (
        None,
        None,
        [np.flatnonzero(models == k) for k in range(number)] if scores is not None else [],
    )
    if wanted.paired_on is not None:
        column = found[wanted.paired_on]
        both = joined(
            *(models, column.codes, true, pred),
            names=model_names,
            sample_names=column.listed(),
            column=str(wanted.paired_on),
            weights=weights,
        )
        of_samples = both.weights
        paired, order = Paired(both.true, both.pred, both.samples, str(wanted.paired_on)), list(both.rows)
    weighted = None
    if weights is not None:
        squares = np.bincount(cells, weights**2, number * n * n).reshape(number, n, n)
        weighted = Weighted(str(wanted.sample_weight), squares, np.bincount(models, minlength=number), of_samples)
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
    """The labels of the classes, and the class of each row by the true and, if there is one, the predicted label."""
    true, *pred = (column.listed() for column in columns.values())
    named = two_names(true, pred[0], positive) if pred else None
    if named is not None:
        sides = zip(columns.values(), (named.of_true, named.of_pred), strict=True)
        return named.classes, [np.asarray([of[x] for x in one.listed()])[one.codes] for one, of in sides]
    given = common_order((column.categories, column.listed()) for column in columns.values())
    labels = given or sorted_labels(list(columns.items()))
    codes = [class_codes(name, column, labels) for name, column in columns.items()]
    if pred and not given:
        of_row, places = np.divmod(np.unique(models * len(labels) + codes[1]), len(labels))
        for k in range(int(of_row[-1]) + 1):  # models, of which each may have words of its own
            of_model = [labels[place] for place in places[of_row == k].tolist()]
            refuse_disjoint(true, of_model, ADVICE_WITH_POSITIVE, tuple(columns))
        if has_warning:
            warn_of_odd_labels(true, pred[0], advice="")
    return labels, codes


def _weights(name: Any, column: Any) -> NumPyArray:
    """The weights of all rows. Some of them are above 0."""
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
    if len(set(names)) < len(names):  # as the values have commas
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
