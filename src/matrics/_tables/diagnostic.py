"""diagnostic_table(): the measures of a diagnostic test, with limits."""

from __future__ import annotations

import math
from collections.abc import Hashable, Iterable, Sequence
from dataclasses import replace
from typing import Any, Literal, NamedTuple, cast

import numpy as np

from matrics._arrays import NUMPY
from matrics._catalogue.classes import Classes
from matrics._engine.evaluation import as_stack, raise_if_invalid
from matrics._errors import ArgumentError
from matrics._quoting import quoted
from matrics._stacks.prevalence import PrevalenceEstimate
from matrics._tables.diagnostic_results import DiagnosticTable
from matrics._tables.label_counts import count_labels
from matrics._tables.vocabularies import ADVICE_WITH_POSITIVE, apart
from matrics._uncertainty.arguments import classes_of
from matrics._uncertainty.interval import interval
from matrics._uncertainty.limits import around, normal_quantile
from matrics._uncertainty.options import OF_PROPORTIONS, check_level
from matrics._uncertainty.results import Interval, IntervalStatus
from matrics.typing import ArrayLike, NumPyArray

__all__ = ["DiagnosticTable", "diagnostic_table"]

MethodOfProportions = Literal["wilson", "agresti_coull", "clopper_pearson", "jeffreys"]
# The names of measures in the table, and in the library.
SHARES = {
    "sensitivity": "recall[1]",
    "specificity": "specificity[1]",
    "positive predictive value": "precision[1]",
    "negative predictive value": "npv[1]",
}
RATIOS = {
    "positive likelihood ratio": "positive_likelihood_ratio[1]",
    "negative likelihood ratio": "negative_likelihood_ratio[1]",
    "odds ratio": "diagnostic_odds_ratio[1]",
}
YOUDEN = "Youden's index"
OF_ALL = {"accuracy": "accuracy", "prevalence": "prevalence[1]"}
# The cells of [[tn, fp], [fn, tp]] that are the samples of a proportion, and those of them that count.
PARTS = {
    "sensitivity": ([[0, 0], [0, 1]], [[0, 0], [1, 1]]),
    "specificity": ([[1, 0], [0, 0]], [[1, 1], [0, 0]]),
    "positive predictive value": ([[0, 0], [0, 1]], [[0, 1], [0, 1]]),
    "negative predictive value": ([[1, 0], [0, 0]], [[1, 0], [1, 0]]),
    "accuracy": ([[1, 0], [0, 1]], [[1, 1], [1, 1]]),
    "prevalence": ([[0, 0], [1, 1]], [[1, 1], [1, 1]]),
}
AT_PREVALENCE = ("positive predictive value", "negative predictive value", "accuracy")
METHOD_NAMES = {
    "wilson": "Wilson",
    "agresti_coull": "Agresti-Coull",
    "clopper_pearson": "Clopper-Pearson",
    "jeffreys": "Jeffreys",
    "log": "log",
    "score": "score",
}
Prevalence = float | PrevalenceEstimate


class Row(NamedTuple):
    """A measure with its limits, the name of their method, and the samples of a proportion."""

    interval: Interval
    method: str
    numerator: float = math.nan
    denominator: float = math.nan


def diagnostic_table(
    y_true_or_cm: ArrayLike,
    y_pred: ArrayLike | None = None,
    *,
    positive: Hashable = None,
    prevalence: Prevalence | Sequence[float] | None = None,
    level: float = 0.95,
    method: MethodOfProportions = "wilson",
    labels: Iterable[Hashable] | None = None,
    ignore_index: Any = None,
    class_names: Sequence[str] | None = None,
) -> DiagnosticTable:
    """Sensitivity, specificity, predictive values, likelihood ratios, odds ratio and more of a test, with limits.

    Parameters
    ----------
    y_true_or_cm : array_like, shape (n, n), or (N,) with ``y_pred``
        Counts of one confusion matrix, where rows are true classes and columns predicted ones; or the true labels of
        any kind, as in :func:`matrics.score_labels`.
    y_pred : array_like, shape (N,), optional
        The results of the test, if the first argument is labels.
    positive : label, str or int, optional
        The class that the test is for: a label, one of ``class_names`` or of the labels of a data frame, and an index
        where there is neither. If left out, class 1 of two classes, of labels that are numbers or booleans; in
        all other cases it is required. With more than two classes all other classes count as negative and are listed
        in the table. With two true classes, predictions of a third class, such as "indeterminate", raise an error. If
        the true labels and the results use different words, join both with an equals sign: ``"ill=reactive"``.
    prevalence : float, PrevalenceEstimate or sequence of float, optional
        How frequent the class is where the test will be used: predictive values and accuracy are those there. The
        samples of a case-control study say nothing about it. With several, the table keeps the values of the samples,
        and has the predictive values at each prevalence in further rows.
    level : float, default 0.95
        The confidence level.
    method : {"wilson", "agresti_coull", "clopper_pearson", "jeffreys"}
        The limits of proportions; the last two need SciPy (extra ``stats``).
    labels : sequence of text, integers or other hashables, optional
        The label of each class, in order; by default the labels that occur.
    ignore_index : label, or list of labels, optional
        Samples with this true label, or any of these, are left out.
    class_names : sequence of str, optional
        Names of the classes, in their order; only for matrices.

    Returns
    -------
    DiagnosticTable
        ``print`` writes it; ``to_frame()``, ``to_markdown()``, ``to_latex()`` and ``to_dict()`` hand it on.

    Raises
    ------
    ValueError
        There are several matrices, or the positive class is not known, or an option does not exist; or some
        predictions are of a third class without samples, and would count as negative; or as of
        :func:`matrics.score_labels`.
    InvalidConfusionMatrix
        A cell is negative, NaN or infinite.

    See Also
    --------
    diagnostic_groups : A table for each group, such as a site, and tests of whether they differ.
    diagnostic_comparison : Two tests of the same samples.

    Notes
    -----
    All limits are those of :func:`matrics.interval`. Proportions have those of ``method``, ratios those of the log
    method (Simel and others 1991; Woolf 1955), or, where a cell is 0, score limits (Miettinen and Nurminen 1985).
    Youden's index has limits by the delta method, or the score limits of a sum of two proportions (Martín Andrés and
    others 2011) where these are wider; they contain the true value more often than Newcombe's. At another prevalence,
    predictive values and accuracy have limits by the delta method, on the scale of the logit (Mercaldo, Lau and Zhou
    2007).

    epiR's ``epi.tests`` has the same values with ``method="clopper_pearson"``; its limits of Youden's index are the sum
    of both lower and of both upper limits, less 1.

    Examples
    --------
    >>> import matrics
    >>> print(matrics.stats.diagnostic_table([[640, 202], [74, 670]]))
    1,586 samples; positive: class 1. 670 true positives, 74 false negatives, 202 false positives, 640
    true negatives.
    <BLANKLINE>
                                     n/N  value     95 % limits  method
    sensitivity                  670/744  0.901  0.877 to 0.920  Wilson
    specificity                  640/842  0.760  0.730 to 0.788  Wilson
    positive predictive value    670/872  0.768  0.739 to 0.795  Wilson
    negative predictive value    640/714  0.896  0.872 to 0.917  Wilson
    positive likelihood ratio             3.754  3.321 to 4.243  log
    negative likelihood ratio             0.131  0.105 to 0.163  log
    odds ratio                            28.69  21.52 to 38.24  log
    Youden's index                        0.661  0.623 to 0.695  delta and score
    accuracy                   1310/1586  0.826  0.807 to 0.844  Wilson
    prevalence                  744/1586  0.469  0.445 to 0.494  Wilson
    """
    level = check_level(level)
    check_method(method)
    check_prevalence(prevalence)
    test = read_test(
        y_true_or_cm, y_pred, positive=positive, labels=labels, ignore_index=ignore_index, class_names=class_names
    )
    if test.cells.ndim != 2:
        raise ArgumentError(
            "cm",
            f"expected a single matrix (n, n), got shape {tuple(test.cells.shape)}; "
            "matrics.stats.diagnostic_groups makes a table of each",
        )
    return table_of(test, prevalence=prevalence, level=level, method=method)


class IndexTest(NamedTuple):
    """The counts of a test (*B, n, n), the names of the classes, the index of the positive class, and its label."""

    cells: NumPyArray
    labels: list[str]
    place: int
    label: Hashable

    @property
    def binary(self) -> NumPyArray:
        """The matrices of the rest and the class, (*B, 2, 2)."""
        cells, place = self.cells, self.place
        fn, fp = (np.delete(line, place, -1).sum(-1) for line in (cells[..., place, :], cells[..., :, place]))
        tn = np.delete(np.delete(cells, place, -2), place, -1).sum((-2, -1))
        return np.stack([np.stack([tn, fp], -1), np.stack([fn, cells[..., place, place]], -1)], -2)


def read_test(
    y_true_or_cm: Any, y_pred: Any, *, positive: Any, labels: Any, ignore_index: Any, class_names: Any
) -> IndexTest:
    """The counts of labels, or of matrices, with their classes."""
    if y_pred is None:
        for name, value in (("labels", labels), ("ignore_index", ignore_index)):
            if value is not None:
                raise ValueError(f"{name}: expected None for a confusion matrix, got {quoted(value)}; it is for labels")
        backend, array = as_stack(y_true_or_cm)
        cells = backend.known("cm", array).astype(np.float64)
        classes = classes_of(cells.shape[-1], class_names, None, y_true_or_cm)
        known: tuple[Hashable, ...] = tuple(range(classes.number))
    else:
        if class_names is not None:
            raise ArgumentError(
                "class_names", f"expected None for labels, got {quoted(class_names)}; pass labels=[...]"
            )
        counts = count_labels(
            y_true_or_cm, y_pred, labels, None, ignore_index, positive=positive, advice=ADVICE_WITH_POSITIVE
        )
        cells = np.asarray(counts.matrix, np.float64)
        classes = Classes.of(len(counts.labels), counts.class_names, None)
        known = tuple(counts.labels)
    raise_if_invalid(cells, NUMPY)
    whole = cells.reshape(-1, *cells.shape[-2:]).sum(axis=0)
    names = [classes.name(k) for k in range(classes.number)]
    classes = replace(classes, apart=apart(names, whole.sum(axis=1), whole.sum(axis=0)))
    place = _positive(classes, positive)
    return IndexTest(cells, names, place, known[place])


def table_of(test: IndexTest, *, prevalence: Any = None, level: float, method: Any) -> DiagnosticTable:
    """The table of a single matrix."""
    binary = test.binary
    rows = _rows(binary, prevalence, level, method)

    def column(part: str) -> NumPyArray:
        return np.asarray([float(getattr(row.interval, part)) for row in rows.values()])

    return DiagnosticTable(
        names=tuple(rows),
        estimate=column("estimate"),
        low=column("low"),
        high=column("high"),
        standard_error=column("standard_error"),
        status=column("status").astype(np.int64),
        method=tuple(row.method for row in rows.values()),
        numerator=np.asarray([row.numerator for row in rows.values()]),
        denominator=np.asarray([row.denominator for row in rows.values()]),
        counts=binary[::-1, ::-1].copy(),
        positive=test.labels[test.place],
        level=level,
        rest={label: float(test.cells[k].sum()) for k, label in enumerate(test.labels) if k != test.place},
    )


def check_method(method: Any) -> None:
    """Raise unless it is a method of proportions."""
    if method not in OF_PROPORTIONS:
        raise ArgumentError("method", f"expected one of {', '.join(map(repr, OF_PROPORTIONS))}, got {quoted(method)}")


def check_prevalence(prevalence: Any) -> None:
    """Raise unless it is a share, an estimate, or several shares."""
    if prevalence is None or isinstance(prevalence, PrevalenceEstimate):
        return
    shares = list(prevalence) if are_several(prevalence) else [prevalence]
    if shares and all(map(is_share, shares)):
        return
    raise ArgumentError(
        "prevalence", f"expected a number between 0 and 1, several of them, or an estimate, got {quoted(prevalence)}"
    )


def are_several(prevalence: Any) -> bool:
    """Whether these are several prevalences; an estimate is a tuple as well."""
    return isinstance(prevalence, (list, tuple, np.ndarray)) and not isinstance(prevalence, PrevalenceEstimate)


def is_share(value: Any) -> bool:
    """Whether it is a number between 0 and 1."""
    return isinstance(value, (int, float, np.number)) and not isinstance(value, bool) and bool(0 < value < 1)


def _positive(classes: Classes, positive: Hashable) -> int:
    if positive is not None:
        return classes.index(positive, "positive")
    place = classes.default_positive
    if place is None:
        raise ArgumentError(
            "positive",
            f"expected the class that the test is for, one of {classes.listed}, got None; others are the rest",
        )
    return place


def _rows(binary: NumPyArray, prevalence: Any, level: float, method: Any) -> dict[str, Row]:
    """The measures, in the order of the table."""
    shares = {**SHARES, **OF_ALL}
    intervals = interval(binary, list(shares.values()), level=level, method=method)
    of_shares = {
        name: Row(intervals[spec], METHOD_NAMES[method], *(float((binary * part).sum()) for part in PARTS[name]))
        for name, spec in shares.items()
    }
    rows = {name: of_shares[name] for name in SHARES} | _ratios(binary, level)
    youden = interval(binary, "informedness[1]", level=level)["informedness[1]"]
    rows[YOUDEN] = Row(youden, "delta and score")
    rows |= {name: of_shares[name] for name in OF_ALL}
    if are_several(prevalence):
        for share in prevalence:
            there = _at(binary, float(share), level)
            rows |= {f"{name} at {share:.10g}": there[name] for name in AT_PREVALENCE[:2]}
    elif prevalence is not None:
        rows |= _at(binary, prevalence, level) | {"prevalence": Row(_given(prevalence, level), "given")}
    return rows


def _at(binary: NumPyArray, prevalence: Prevalence, level: float) -> dict[str, Row]:
    """Predictive values and accuracy at another prevalence."""
    specs = {name: (SHARES | OF_ALL)[name] for name in AT_PREVALENCE}
    intervals = interval(binary, list(specs.values()), level=level, prevalence=cast("Any", prevalence))
    return {name: Row(intervals[spec], "delta method") for name, spec in specs.items()}


def _ratios(binary: NumPyArray, level: float) -> dict[str, Row]:
    """The likelihood ratios and the odds ratio: by the log method, or by the score where it has no limits."""
    intervals = interval(binary, list(RATIOS.values()), level=level)
    by_log = interval(binary, list(RATIOS.values()), level=level, method="log")
    rows = {}
    for name, spec in RATIOS.items():
        is_score = bool(np.isnan(by_log[spec].low) & ~np.isnan(intervals[spec].low))
        rows[name] = Row(intervals[spec], METHOD_NAMES["score" if is_score else "log"])
    return rows


def _given(prevalence: float | PrevalenceEstimate, level: float) -> Interval:
    """The prevalence of the positive class; an estimate has limits by its covariance, on the scale of the logit."""
    if not isinstance(prevalence, PrevalenceEstimate):
        return Interval(float(prevalence), math.nan, math.nan, math.nan, 0, IntervalStatus.OK)
    share, error = (np.ravel(np.asarray(x, float))[-1:] for x in (prevalence.prevalence, prevalence.covariance))
    low, high = around(share, np.sqrt(error), normal_quantile(level), (0.0, 1.0), NUMPY)
    return Interval(share[0], low[0], high[0], math.sqrt(error[0]), 0, IntervalStatus.OK)
