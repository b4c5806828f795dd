"""diagnostic_table(): all that a reader of a study of a diagnostic test asks for, with limits."""

from __future__ import annotations

import math
import textwrap
from collections.abc import Hashable, Sequence
from dataclasses import dataclass, field, replace
from typing import Any, Literal

import numpy as np

from matrics._arrays import NUMPY
from matrics._catalogue.classes import Classes
from matrics._engine.evaluation import as_stack, raise_if_invalid
from matrics._engine.results import Result
from matrics._errors import ArgumentError
from matrics._quoting import quoted
from matrics._stacks.prevalence import PrevalenceEstimate
from matrics._tables import latex, markdown
from matrics._tables.table import Library, imported
from matrics._tables.vocabularies import apart
from matrics._uncertainty.arguments import classes_of, second_class
from matrics._uncertainty.differences import recovered
from matrics._uncertainty.interval import interval
from matrics._uncertainty.limits import around, normal_quantile
from matrics._uncertainty.options import OF_PROPORTIONS, check_level
from matrics._uncertainty.results import Interval, IntervalStatus
from matrics._wording import amount, between, capital, counted, in_percent, number
from matrics.typing import ArrayLike, NumPyArray

__all__ = ["DiagnosticTable", "diagnostic_table"]

MethodOfProportions = Literal["wilson", "agresti_coull", "clopper_pearson", "jeffreys"]
# What is printed, and the measures.
SHARES = {
    "sensitivity": "recall",
    "specificity": "specificity",
    "positive predictive value": "precision",
    "negative predictive value": "npv",
}
RATIOS = {
    "positive likelihood ratio": "positive_likelihood_ratio",
    "negative likelihood ratio": "negative_likelihood_ratio",
    "odds ratio": "diagnostic_odds_ratio",
}
WIDTH = 100  # of a line of text
SENTENCES = {
    **{int(status): status.sentence for status in IntervalStatus},
    # The table takes no squared weights, for which the sentence of the status asks.
    int(IntervalStatus.NOT_COUNTS): "cells are not whole numbers, and limits treat them as counts: those of weighted "
    "samples are others",
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


@dataclass(frozen=True, eq=False, repr=False)
class DiagnosticTable(Result):
    """Measures of a diagnostic test with their limits, as from :func:`matrics.stats.diagnostic_table`.

    ``print`` writes the table.

    Parameters
    ----------
    names : tuple of str, length 10
        The measures, one a row.
    estimate, low, high : array, shape (10,)
        The values and their limits; NaN where there are none.
    status : array of int, shape (10,)
        Why limits are missing or not to be relied on: a code of :class:`matrics.IntervalStatus`.
    method : tuple of str, length 10
        How the limits of each row are formed; empty where the value is given.
    counts : array, shape (2, 2)
        True positives and false negatives; false positives and true negatives.
    positive : str
        The positive class.
    level : float
        The confidence level.
    rest : dict of str to float
        The samples of each other true class: these count as negative, as do predictions of these classes.
    """

    names: tuple[str, ...]
    estimate: NumPyArray
    low: NumPyArray
    high: NumPyArray
    status: NumPyArray
    method: tuple[str, ...]
    counts: NumPyArray
    positive: str
    level: float
    rest: dict[str, float] = field(default_factory=dict)

    def to_frame(self, *, library: Library = "pandas") -> Any:
        """The table as a data frame: ``measure``, ``estimate``, ``low``, ``high``, ``method`` and ``status``.

        Parameters
        ----------
        library : {"pandas", "polars"}
            Which library the data frame is of.

        Returns
        -------
        pandas.DataFrame or polars.DataFrame
            A row for each measure.

        Raises
        ------
        ImportError
            The library is not installed.
        """
        columns = {"measure": list(self.names), "estimate": self.estimate, "low": self.low, "high": self.high}
        return imported(library).DataFrame({**columns, "method": list(self.method), "status": self.status})

    def to_markdown(self) -> str:
        """The table in Markdown, with the counts above it and remarks below."""
        head = ["measure", "value", f"{in_percent(self.level)} limits", "method"]
        return "\n\n".join([self.title(), markdown.table(head, self._cells(), texts=1), *self.remarks()])

    def to_latex(self) -> str:
        """The table in LaTeX, with the rules of booktabs: limits in brackets, and title and remarks as comments."""
        head = ["measure", latex.escape(f"value [{in_percent(self.level)} limits]"), "method"]
        cells = zip(self.names, self.estimate.tolist(), self.low.tolist(), self.high.tolist(), self.method, strict=True)
        rows = [[latex.escape(name), latex.with_limits(*of), latex.escape(how)] for name, *of, how in cells]
        comments = [latex.comment(text) for text in (self.title(), *self.remarks())]
        return "\n".join([*comments, latex.tabular(head, rows, texts=1)])

    def __str__(self) -> str:
        rows = [["", "value", f"{in_percent(self.level)} limits", "method"], *self._cells()]
        widths = [max(len(row[k]) for row in rows) for k in range(4)]
        lines = [
            f"{row[0]:<{widths[0]}}  {row[1]:>{widths[1]}}  {row[2]:>{widths[2]}}  {row[3]}".rstrip() for row in rows
        ]
        remarks = [textwrap.fill(remark, WIDTH) for remark in self.remarks()]
        return "\n".join([textwrap.fill(self.title(), WIDTH), "", *lines, *([""] if remarks else []), *remarks])

    __repr__ = __str__

    def title(self) -> str:
        """The counts, in a sentence."""
        parts = ("true positive", "false negative", "false positive", "true negative")
        cells = [counted(size, what) for size, what in zip(self.counts.ravel().tolist(), parts, strict=True)]
        against = ""
        if len(self.rest) > 1:  # which of them are meant is not clear by itself
            against = f", against {', '.join(f'{name} ({amount(size)})' for name, size in self.rest.items())}"
        samples = counted(float(self.counts.sum()), "sample")
        return f"{samples}; positive: {self.positive}{against}. {', '.join(cells)}."

    def remarks(self) -> list[str]:
        """What the statuses of the rows say, in sentences."""
        found: dict[str, list[str]] = {}
        for name, status, value in zip(self.names, self.status.tolist(), self.estimate.tolist(), strict=True):
            if status != IntervalStatus.OK:
                reason = "0/0, as there are no such samples" if math.isnan(value) else SENTENCES[status]
                found.setdefault(reason, []).append(name)
        return [
            f"{'All rows' if len(names) == len(self.names) else capital(', '.join(names))}: {reason}."
            for reason, names in found.items()
        ]

    def _cells(self) -> list[list[str]]:
        rows = zip(self.names, self.estimate, self.low, self.high, self.method, strict=True)
        return [
            [name, number(value), "" if math.isnan(low + high) else between(low, high), method]
            for name, value, low, high, method in rows
        ]


def diagnostic_table(
    cm: ArrayLike,
    *,
    positive: Hashable = None,
    prevalence: float | PrevalenceEstimate | None = None,
    level: float = 0.95,
    method: MethodOfProportions = "wilson",
    class_names: Sequence[str] | None = None,
) -> DiagnosticTable:
    """Sensitivity, specificity, predictive values, likelihood ratios, odds ratio and more of a test, with limits.

    Parameters
    ----------
    cm : array_like, shape (n, n)
        Counts of one confusion matrix; rows are true classes, columns predicted ones.
    positive : str or int, optional
        The class that the test is for: one of ``class_names`` or of the labels of a data frame, and an index where
        there are neither. If left out, class 1 of two classes; with more than two classes it is required, and all other
        classes count as negative and are listed in the table. With two true classes, predictions of a third class, such
        as "indeterminate", raise an error.
    prevalence : float or PrevalenceEstimate, optional
        How frequent the class is where the test will be used: predictive values and accuracy are those there. The
        samples of a case-control study say nothing about it.
    level : float, default 0.95
        The confidence level.
    method : {"wilson", "agresti_coull", "clopper_pearson", "jeffreys"}
        The limits of proportions; the last two need SciPy (extra ``stats``).
    class_names : sequence of str, optional
        Names of the classes, one for each.

    Returns
    -------
    DiagnosticTable
        ``print`` writes it; ``to_frame()``, ``to_markdown()`` and ``to_dict()`` hand it on.

    Raises
    ------
    ValueError
        There are several matrices, or more than two classes without ``positive``, or an option does not exist; or some
        predictions are of a class without samples beside two others, and would count as negative.
    InvalidConfusionMatrix
        A cell is negative, NaN or infinite.

    Notes
    -----
    Proportions have the limits of ``method``, ratios those of the log method (Simel and others 1991; Woolf 1955), or,
    where a cell is 0, score limits (Miettinen and Nurminen 1985), and Youden's index those of Newcombe's method 10,
    from the limits of sensitivity and specificity. At another prevalence, predictive values and accuracy have limits by
    the delta method, on the scale of the logit (Mercaldo, Lau and Zhou 2007).

    epiR's ``epi.tests`` has the same values with ``method="clopper_pearson"``; its limits of Youden's index are the sum
    of both lower and of both upper limits, less 1, which are wider.

    References
    ----------
    Newcombe 1998, "Interval estimation for the difference between independent proportions".

    Examples
    --------
    >>> import matrics
    >>> print(matrics.stats.diagnostic_table([[640, 202], [74, 670]]))
    1,586 samples; positive: class 1. 670 true positives, 74 false negatives, 202 false positives, 640
    true negatives.
    <BLANKLINE>
                                value       95 % limits  method
    sensitivity                 0.901    0.877 to 0.920  Wilson
    specificity                 0.760    0.730 to 0.788  Wilson
    positive predictive value   0.768    0.739 to 0.795  Wilson
    negative predictive value   0.896    0.872 to 0.917  Wilson
    positive likelihood ratio   3.754    3.321 to 4.243  log
    negative likelihood ratio   0.131    0.105 to 0.163  log
    odds ratio                 28.686  21.518 to 38.242  log
    Youden's index              0.661    0.622 to 0.694  Newcombe
    accuracy                    0.826    0.807 to 0.844  Wilson
    prevalence                  0.469    0.445 to 0.494  Wilson
    """
    backend, array = as_stack(cm)
    if array.ndim != 2:
        raise ArgumentError("cm", f"expected one matrix (n, n), got shape {tuple(array.shape)}; make a table of each")
    if method not in OF_PROPORTIONS:
        raise ArgumentError("method", f"expected one of {', '.join(map(repr, OF_PROPORTIONS))}, got {quoted(method)}")
    if not (prevalence is None or isinstance(prevalence, PrevalenceEstimate) or is_share(prevalence)):
        raise ArgumentError(
            "prevalence", f"expected a number between 0 and 1, or an estimate, got {quoted(prevalence)}"
        )
    level = check_level(level)
    cells = backend.known("cm", array).astype(np.float64)
    raise_if_invalid(cells, NUMPY)
    classes = classes_of(cells.shape[0], class_names, None, cm)
    labels = [classes.name(k) for k in range(classes.number)]
    classes = replace(classes, apart=apart(labels, cells.sum(axis=1), cells.sum(axis=0)))
    place = _positive(classes, positive)
    binary = _one_against_the_rest(cells, place)
    found = _rows(binary, prevalence, level, method)
    names = tuple(found)
    values = [found[name][0] for name in names]
    estimate, low, high, status = (
        np.asarray([float(getattr(value, part)) for value in values]) for part in ("estimate", "low", "high", "status")
    )
    return DiagnosticTable(
        names,
        estimate,
        low,
        high,
        status.astype(np.int64),
        tuple(found[name][1] for name in names),
        binary[::-1, ::-1].copy(),
        labels[place],
        level,
        {label: float(cells[k].sum()) for k, label in enumerate(labels) if k != place},
    )


def is_share(value: Any) -> bool:
    """Whether it is a number between 0 and 1."""
    return isinstance(value, (int, float, np.number)) and not isinstance(value, bool) and bool(0 < value < 1)


def _positive(classes: Classes, positive: Hashable) -> int:
    if positive is not None:
        return classes.index(positive, "positive")
    found = second_class(classes) if classes.number == 2 else None
    if found is None:
        raise ArgumentError(
            "positive",
            f"expected the class that the test is for, one of {classes.listed}, got None; others are the rest",
        )
    return found


def _one_against_the_rest(cells: NumPyArray, place: int) -> NumPyArray:
    """The matrix of the rest and the class, (2, 2)."""
    tp, fn, fp = cells[place, place], np.delete(cells[place], place).sum(), np.delete(cells[:, place], place).sum()
    tn = np.delete(np.delete(cells, place, 0), place, 1).sum()
    return np.asarray([[tn, fp], [fn, tp]])


def _rows(
    binary: NumPyArray, prevalence: float | PrevalenceEstimate | None, level: float, method: Any
) -> dict[str, tuple[Interval, str]]:
    """The interval of each row, and its method."""
    specs = {name: f"{measure}[1]" for name, measure in SHARES.items()}
    specs |= {"accuracy": "accuracy", "prevalence": "prevalence[1]"}
    shares = interval(binary, list(specs.values()), level=level, method=method)
    found = {name: (shares[spec], METHOD_NAMES[method]) for name, spec in specs.items()}
    accuracy, share = found.pop("accuracy"), found.pop("prevalence")
    found |= _ratios(binary, level)
    youden = _youden(found["sensitivity"][0], found["specificity"][0])
    found["Youden's index"] = (youden, "Newcombe")
    found["accuracy"] = accuracy
    if prevalence is None:
        found["prevalence"] = share
        return found
    wanted = [specs[name] for name in AT_PREVALENCE]
    there: dict[str, Interval] = interval(binary, wanted, level=level, prevalence=prevalence)  # type: ignore[arg-type]
    found |= {name: (there[specs[name]], "delta method") for name in AT_PREVALENCE}
    found["prevalence"] = (_given(prevalence, level), "given")
    return found


def _ratios(binary: NumPyArray, level: float) -> dict[str, tuple[Interval, str]]:
    """The likelihood ratios and the odds ratio: by the log method, or by the score where it has no limits."""
    specs = {name: f"{measure}[1]" for name, measure in RATIOS.items()}
    by_log = interval(binary, list(specs.values()), level=level, method="log")
    by_score = interval(binary, list(specs.values()), level=level, method="score")
    found = {}
    for name, spec in specs.items():
        has_none = bool(np.isnan(by_log[spec].low) & ~np.isnan(by_score[spec].low))
        found[name] = (by_score[spec], METHOD_NAMES["score"]) if has_none else (by_log[spec], METHOD_NAMES["log"])
    return found


def _youden(sensitivity: Interval, specificity: Interval) -> Interval:
    """Sensitivity less the share of false alarms, of independent samples: Newcombe's limits of a difference."""
    alarms = 1 - specificity.estimate, 1 - specificity.high, 1 - specificity.low
    low, high = recovered((sensitivity.estimate, sensitivity.low, sensitivity.high), alarms, 0.0, np)
    error = np.hypot(sensitivity.standard_error, specificity.standard_error)
    status = max(sensitivity.status, specificity.status)
    estimate = sensitivity.estimate + specificity.estimate - 1
    return Interval(estimate, low, high, error, np.int64(0), status)


def _given(prevalence: float | PrevalenceEstimate, level: float) -> Interval:
    """The prevalence of the positive class; an estimate has limits by its covariance, on the scale of the logit."""
    if not isinstance(prevalence, PrevalenceEstimate):
        return Interval(float(prevalence), math.nan, math.nan, math.nan, 0, IntervalStatus.OK)
    share, error = (np.ravel(np.asarray(x, float))[-1:] for x in (prevalence.prevalence, prevalence.covariance))
    low, high = around(share, np.sqrt(error), normal_quantile(level), (0.0, 1.0), NUMPY)
    return Interval(share[0], low[0], high[0], math.sqrt(error[0]), 0, IntervalStatus.OK)
