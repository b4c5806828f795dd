"""Comparison of two diagnostic tests of the same patients, and the labels of tests as numbers."""

from __future__ import annotations

import math
from collections.abc import Hashable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from matrics._arrays.sizes import one_or_more
from matrics._errors import ArgumentError
from matrics._tables.diagnostic import SHARES, IndexTest, read_test
from matrics._tables.label_counts import occurring
from matrics._tables.paper import PaperResult, PaperTable, as_fraction, as_number
from matrics._tables.vocabularies import two_names
from matrics._uncertainty.compare import compare_paired
from matrics._uncertainty.joint import mcnemar
from matrics._uncertainty.options import check_level
from matrics._wording import in_percent, rounded, shown_p_value
from matrics.typing import ArrayLike, NumPyArray

__all__ = ["DiagnosticComparison", "binary_codes", "diagnostic_comparison"]


@dataclass(frozen=True, eq=False, repr=False)
class DiagnosticComparison(PaperResult):
    """Two diagnostic tests of the same samples, as from :func:`matrics.stats.diagnostic_comparison`.

    ``print`` writes the table. The columns of ``to_frame()`` are ``measure``, the values of both tests by their names,
    ``difference``, ``low``, ``high``, ``p_value`` and ``status``.

    Parameters
    ----------
    measures : tuple of str, length 4
        Sensitivity, specificity, and the predictive values.
    names : tuple of str, length 2
        The two tests.
    numerator, denominator : array, shape (4, 2)
        The samples of each proportion, such as 21 of 32, of both tests.
    estimate : array, shape (4, 2)
        The values of both tests.
    difference, low, high : array, shape (4,)
        The first value minus the second value, and the limits of this difference.
    standard_error : array, shape (4,)
        The standard errors of the differences.
    p_value : array, shape (4,)
        The p-values of the hypothesis that both tests have the same value, by McNemar's test, and by Kosinski's test
        for predictive values.
    status : array of int, shape (4,)
        Why limits are missing or unreliable: a code of :class:`matrics.IntervalStatus`.
    joint : array, shape (2, 2, 2)
        The samples by true class, result of the first and result of the second test; index 1 is positive.
    positive : str
        The positive class.
    level : float
        The confidence level.
    """

    measures: tuple[str, ...]
    names: tuple[str, ...]
    numerator: NumPyArray
    denominator: NumPyArray
    estimate: NumPyArray
    difference: NumPyArray
    low: NumPyArray
    high: NumPyArray
    standard_error: NumPyArray
    p_value: NumPyArray
    status: NumPyArray
    joint: NumPyArray
    positive: str
    level: float

    def _columns(self) -> dict[str, Any]:
        columns: dict[str, Any] = {"measure": list(self.measures)}
        columns |= {name: self.estimate[:, k] for k, name in enumerate(self.names)}
        columns |= {"difference": self.difference, "low": self.low, "high": self.high}
        return {**columns, "p_value": self.p_value, "status": self.status}

    def _table(self) -> PaperTable:
        tests = [text for name in self.names for text in ("n/N", name)]
        head = ["measure", *tests, "difference", f"{in_percent(self.level)} limits", "p"]
        return PaperTable(self.title(), head, self._cells(), 6)

    def title(self) -> str:
        """A sentence with the numbers of samples on which the tests differ."""
        first, second = self.names
        healthy, ill = self.joint
        return (
            f"{self.joint.sum():,.10g} samples; positive: {self.positive}. Of {ill.sum():,.10g} positive samples "
            f"{ill[1, 0]:,.10g} are positive by {first} alone and {ill[0, 1]:,.10g} by {second} alone; of "
            f"{healthy.sum():,.10g} negative samples {healthy[1, 0]:,.10g} and {healthy[0, 1]:,.10g}."
        )

    def _cells(self) -> list[list[str]]:
        rows = []
        for k, name in enumerate(self.measures):
            cells = []
            for j in range(2):
                counts = as_fraction(self.numerator[k, j].item(), self.denominator[k, j].item())
                cells += [counts, as_number(self.estimate[k, j].item())[0]]
            numbers = (self.difference, self.low, self.high, self.standard_error)
            cells += as_number(*(values[k].item() for values in numbers))
            p_value = self.p_value[k].item()
            rows.append([name, *cells, "" if math.isnan(p_value) else rounded(shown_p_value(p_value))])
        return rows


def diagnostic_comparison(
    y_true: ArrayLike,
    y_a: ArrayLike,
    y_b: ArrayLike,
    *,
    positive: Hashable = None,
    names: Sequence[str] = ("a", "b"),
    level: float = 0.95,
    exact: bool = True,
    mid_p: bool = False,
    labels: Iterable[Hashable] | None = None,
    ignore_index: Any = None,
) -> DiagnosticComparison:
    """Compare the sensitivity, the specificity and the predictive values of two diagnostic tests of the same samples.

    Parameters
    ----------
    y_true : array_like, shape (N,)
        True and predicted labels of any kind: the true labels.
    y_a, y_b : array_like, shape (N,)
        The results of both tests, for the samples of ``y_true`` in their order.
    positive : label, optional
        The positive class, which the tests detect.
    names : sequence of str, default ("a", "b")
        The names of both tests.
    level : float, default 0.95
        The confidence level.
    exact : bool, default True
        Whether McNemar's test is exact, which needs SciPy, or by the chi-squared distribution.
    mid_p : bool, default False
        Whether the exact test counts half of the probability of the observed result, as McNemar's mid-p test.
    labels : sequence of text, integers or other hashables, optional
        The label of each class, in order; by default the labels that occur.
    ignore_index : label, or list of labels, optional
        Samples with this true label, or any of these, are left out.

    Returns
    -------
    DiagnosticComparison
        The comparison; ``print`` writes it as a table, and ``to_frame()``, ``to_markdown()``, ``to_latex()`` and
        ``to_dict()`` convert it.

    Raises
    ------
    ValueError
        ``names`` does not have two names, or the arrays have different shapes; or as in
        :func:`matrics.stats.diagnostic_table`.
    ImportError
        SciPy is not installed (extra ``stats``), and ``exact`` is true.

    Notes
    -----
    The limits of the differences are those of :func:`matrics.compare_paired`. Sensitivities are compared by McNemar's
    test of the positive samples, specificities by the same test of the negative samples. Predictive values are not
    proportions of the same samples: their test is the weighted generalized score statistic.

    References
    ----------
    McNemar 1947; Kosinski 2013, "A weighted generalized score statistic for comparison of predictive values of
    diagnostic tests".

    Examples
    --------
    >>> import matrics
    >>> y_true = [1] * 50 + [0] * 100
    >>> rapid = [1] * 40 + [0] * 10 + [1] * 8 + [0] * 92
    >>> culture = [1] * 30 + [0] * 15 + [1] * 5 + [1] * 5 + [0] * 95
    >>> print(matrics.stats.diagnostic_comparison(y_true, rapid, culture, names=["rapid", "culture"]))
    150 samples; positive: class 1. Of 50 positive samples 10 are positive by rapid alone and 5 by
    culture alone; of 100 negative samples 3 and 0.
    <BLANKLINE>
                                  n/N  rapid     n/N  culture  difference      95 % limits      p
    sensitivity                 40/50  0.800   35/50    0.700       0.100  -0.050 to 0.246  0.302
    specificity                92/100  0.920  95/100    0.950      -0.030  -0.082 to 0.011  0.250
    positive predictive value   40/48  0.833   35/40    0.875      -0.042  -0.128 to 0.048  0.249
    negative predictive value  92/102  0.902  95/110    0.864       0.038  -0.028 to 0.106  0.236
    """
    level = check_level(level)
    if isinstance(names, str) or len(names) != 2:
        raise ArgumentError("names", f"expected the names of two tests, got {names!r}")
    tests, (true, a, b) = binary_codes(
        y_true, {"y_a": y_a, "y_b": y_b}, positive=positive, labels=labels, ignore_index=ignore_index
    )
    kept = true >= 0
    joint = np.bincount((4 * true + 2 * a + b)[kept], minlength=8).reshape(2, 2, 2)
    specs = list(SHARES.values())
    compared = compare_paired(joint, specs, level=level)
    results = [compared[spec] for spec in specs]
    ill, healthy = np.zeros_like(joint), np.zeros_like(joint)
    ill[1], healthy[0] = joint[1], joint[0]
    p_values = [float(mcnemar(part, exact=exact, mid_p=mid_p).p_value) for part in (ill, healthy)]
    p_values += [_of_predictive_values(joint, result) for result in (1, 0)]
    numerator, denominator = _samples(joint)

    def column(part: str) -> NumPyArray:
        return np.asarray([float(getattr(result, part)) for result in results])

    estimate = np.where(denominator > 0, numerator / np.where(denominator > 0, denominator, 1), math.nan)
    return DiagnosticComparison(
        measures=tuple(SHARES),
        names=tuple(map(str, names)),
        numerator=numerator,
        denominator=denominator,
        estimate=estimate,
        difference=column("difference"),
        low=column("low"),
        high=column("high"),
        standard_error=column("standard_error"),
        p_value=np.asarray(p_values),
        status=column("status").astype(np.int64),
        joint=joint,
        positive=tests[0].labels[tests[0].place],
        level=level,
    )


def _samples(joint: NumPyArray) -> tuple[NumPyArray, NumPyArray]:
    """The numerators and denominators (4, 2) of the measures of both tests."""
    rows = []
    for cm in (joint.sum(axis=2), joint.sum(axis=1)):
        (tn, fp), (fn, tp) = cm.astype(float)
        rows.append([(tp, tp + fn), (tn, tn + fp), (tp, tp + fp), (tn, tn + fn)])
    both = np.asarray(rows).transpose(2, 1, 0)
    return both[0], both[1]


def _of_predictive_values(joint: NumPyArray, result: int) -> float:
    """Kosinski's p-value of the hypothesis that the predictive values of a result are equal for both tests."""
    right, wrong = joint[result].astype(float), joint[1 - result].astype(float)
    hits = right[result].sum(), right[:, result].sum()
    sizes = hits[0] + wrong[result].sum(), hits[1] + wrong[:, result].sum()
    if min(sizes) == 0:
        return math.nan
    share = sum(hits) / sum(sizes)
    # Both proportions contain the samples with this result by both tests.
    together = (right[result, result] * (1 - share) ** 2 + wrong[result, result] * share**2) / sum(sizes)
    variance = (share * (1 - share) - 2 * together) * (1 / sizes[0] + 1 / sizes[1])
    if variance <= 0:
        return math.nan
    statistic = (hits[0] / sizes[0] - hits[1] / sizes[1]) ** 2 / variance
    return math.erfc(math.sqrt(statistic / 2))


def binary_codes(
    y_true: Any, predictions: Mapping[str, Any], *, positive: Any, labels: Any, ignore_index: Any
) -> tuple[list[IndexTest], list[NumPyArray]]:
    """The counts of the tests, and the true and predicted labels (N,) as numbers."""
    labels = None if labels is None else list(labels)
    tests = [
        read_test(y_true, y_pred, positive=positive, labels=labels, ignore_index=ignore_index, class_names=None)
        for y_pred in predictions.values()
    ]
    true = occurring("y_true", y_true).values
    others = [occurring(name, y_pred).values for name, y_pred in predictions.items()]
    for name, values in zip(predictions, others, strict=True):
        if values.shape != true.shape or values.ndim != 1:
            raise ValueError(
                f"{name}: expected labels (N,) of the samples of y_true, got shapes {values.shape} and {true.shape}"
            )
    left_out = one_or_more(ignore_index)
    kept = np.asarray([label not in left_out for label in true.tolist()], bool)
    named = two_names(true[kept].tolist(), [label for values in others for label in values[kept].tolist()], positive)
    if named is not None:
        codes = named.codes(true, *others)
    else:
        positive = tests[0].label
        codes = [np.asarray([label == positive for label in values.tolist()], np.int64) for values in (true, *others)]
    return tests, [np.where(kept, values, -1) for values in codes]
