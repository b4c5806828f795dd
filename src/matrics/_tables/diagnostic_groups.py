"""diagnostic_groups(): a table of a diagnostic test for each group, and tests of differences between groups."""

from __future__ import annotations

import math
from collections.abc import Hashable, Iterable, Sequence
from dataclasses import dataclass
from typing import Any, cast

import numpy as np

from matrics._counting.codes import labels_on_host, places
from matrics._errors import ArgumentError
from matrics._metrics.inference import special
from matrics._quoting import quoted
from matrics._tables.diagnostic import (
    PARTS,
    RATIOS,
    YOUDEN,
    IndexTest,
    MethodOfProportions,
    check_method,
    read_test,
    table_of,
)
from matrics._tables.diagnostic_pair import binary_codes
from matrics._tables.diagnostic_results import DiagnosticTable
from matrics._tables.paper import PaperResult, PaperTable, in_columns
from matrics._uncertainty.options import check_level
from matrics._wording import in_percent, rounded, shown_p_value
from matrics.typing import ArrayLike, NumPyArray

__all__ = ["DiagnosticGroups", "diagnostic_groups"]

OVERALL = "overall"
ABOUT_P = "p-value of the hypothesis that the measure has the same value in all groups"
# The printed measures; the data frame and Markdown contain all measures.
SHOWN = ("sensitivity", "specificity", "positive predictive value", "negative predictive value")


@dataclass(frozen=True, eq=False, repr=False)
class DiagnosticGroups(PaperResult):
    """Measures of a diagnostic test in groups of samples, as from :func:`matrics.stats.diagnostic_groups`.

    ``print`` writes sensitivity, specificity and predictive values. The columns of ``to_frame()`` are ``measure``,
    ``group``, ``numerator``, ``denominator``, ``estimate``, ``low``, ``high``, ``status`` and ``p_value``, with rows of
    each group and of all samples.

    Parameters
    ----------
    groups : tuple of str, length G
        The groups, in order.
    tables : tuple of DiagnosticTable, length G
        The table of each group.
    overall : DiagnosticTable
        The table of all samples.
    p_value : array, shape (R,)
        The p-values of the hypothesis that the measure of a row has the same value in all groups; NaN without a test.
    """

    groups: tuple[str, ...]
    tables: tuple[DiagnosticTable, ...]
    overall: DiagnosticTable
    p_value: NumPyArray

    def _columns(self) -> dict[str, Any]:
        tables = dict(zip((*self.groups, OVERALL), (*self.tables, self.overall), strict=True))
        rows = [(k, group, table) for k in range(len(self.overall.names)) for group, table in tables.items()]
        columns: dict[str, list[Any]] = {
            "measure": [table.names[k] for k, _, table in rows],
            "group": [group for _, group, _ in rows],
        }
        for part in ("numerator", "denominator", "estimate", "low", "high", "status"):
            columns[part] = [getattr(table, part)[k].item() for k, _, table in rows]
        return {**columns, "p_value": [self.p_value[k].item() for k, _, _ in rows]}

    def _table(self) -> PaperTable:
        head = ["measure", "group", *self._head()[1:], "p"]
        rows, size = self._cells(self.overall.names), len(self.groups) + 1
        rules = range(size, len(rows), size)
        return PaperTable(self.overall.title(), head, rows, 4, [f"{ABOUT_P}."], texts=(0, 1), rules=rules)

    def __str__(self) -> str:
        rows, titles = [self._head()], []
        for name, group, *cells, p_value in self._cells(SHOWN):
            if name:
                test = f" (homogeneity: p {_relation(p_value)})" if p_value else ""
                titles.append((len(rows), f"{name}{test}"))
            rows.append([f"  {group}", *cells])
        lines = in_columns(rows, texts=(0,))
        for place, title in reversed(titles):
            lines.insert(place, title)
        return "\n".join(lines)

    __repr__ = __str__

    def _head(self) -> list[str]:
        return ["", "n/N", "value", f"{in_percent(self.overall.level)} limits"]

    def _cells(self, names: Sequence[str]) -> list[list[str]]:
        """Measure (once), group, samples, value, limits and p-value (once) of each row."""
        rows = []
        cells = [table.cells() for table in (*self.tables, self.overall)]
        for name in names:
            k = self.overall.names.index(name)
            p_value = self.p_value[k]
            text = "" if math.isnan(p_value) else rounded(shown_p_value(float(p_value)))
            for position, group in enumerate((*self.groups, OVERALL)):
                _, counts, value, limits, _ = cells[position][k]
                rows.append([name if position == 0 else "", group, counts, value, limits, text if not position else ""])
        return rows


def _relation(p_value: str) -> str:
    return f"{p_value[0]} {p_value[1:]}" if p_value[0] in "<>" else f"= {p_value}"


def diagnostic_groups(
    y_true_or_cm: ArrayLike,
    y_pred: ArrayLike | None = None,
    *,
    groups: ArrayLike | Sequence[Hashable] | None = None,
    positive: Hashable = None,
    level: float = 0.95,
    method: MethodOfProportions = "wilson",
    labels: Iterable[Hashable] | None = None,
    ignore_index: Any = None,
    class_names: Sequence[str] | None = None,
) -> DiagnosticGroups:
    """Tables of a diagnostic test for each group and for all samples, with tests of differences between groups.

    Parameters
    ----------
    y_true_or_cm : array_like, shape (G, n, n), or (N,) with ``y_pred``
        Counts of a confusion matrix for each group; or the true labels, as in
        :func:`matrics.stats.diagnostic_table`.
    y_pred : array_like, shape (N,), optional
        The results of the test, if the first argument is labels.
    groups : array_like, shape (N,), or sequence of str, length G, optional
        The group of each sample, such as its site: numbers or text. For matrices, the name of each matrix, by default
        its index.
    positive : label, str or int, optional
        The class that the test is for: a label, one of ``class_names`` or of the labels of a data frame, and an index
        where there is neither. If left out, class 1 of two classes, of labels that are numbers or booleans; in
        all other cases it is required. With more than two classes all other classes count as negative and are listed
        in the table. With two true classes, predictions of a third class, such as "indeterminate", raise an error. If
        the true labels and the results use different words, join both with an equals sign: ``"ill=reactive"``.
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
    DiagnosticGroups
        The tables; ``print`` writes them, and ``to_frame()``, ``to_markdown()``, ``to_latex()`` and ``to_dict()``
        convert them.

    Raises
    ------
    ValueError
        There is a single group, or a sample without a group; or as in :func:`matrics.stats.diagnostic_table`.
    ImportError
        SciPy is not installed (extra ``stats``), which the p-values need.

    Notes
    -----
    Proportions are compared by Pearson's chi-squared test, odds ratios by the test of Breslow and Day with Tarone's
    correction, and likelihood ratios, on the scale of the logarithm, and Youden's index by Cochran's Q. Groups without
    samples of a proportion, and groups in which a ratio has no variance because a cell is 0, are left out of the test.
    The p-values are not corrected: with many measures or kinds of groups, some are small by chance.

    References
    ----------
    Breslow and Day 1980, "Statistical Methods in Cancer Research", volume 1; Tarone 1985, "On heterogeneity tests based
    on efficient scores"; Cochran 1954, "The combination of estimates from different experiments".

    Examples
    --------
    >>> import matrics
    >>> sites = [[[180, 12], [6, 42]], [[160, 9], [14, 31]]]
    >>> print(matrics.stats.diagnostic_groups(sites, groups=["north", "south"]))
                   n/N  value     95 % limits
    sensitivity (homogeneity: p = 0.029)
      north      42/48  0.875  0.753 to 0.941
      south      31/45  0.689  0.543 to 0.805
      overall    73/93  0.785  0.691 to 0.856
    specificity (homogeneity: p = 0.708)
      north    180/192  0.938  0.894 to 0.964
      south    160/169  0.947  0.902 to 0.972
      overall  340/361  0.942  0.913 to 0.962
    positive predictive value (homogeneity: p = 0.974)
      north      42/54  0.778  0.651 to 0.868
      south      31/40  0.775  0.625 to 0.877
      overall    73/94  0.777  0.682 to 0.849
    negative predictive value (homogeneity: p = 0.046)
      north    180/186  0.968  0.931 to 0.985
      south    160/174  0.920  0.869 to 0.951
      overall  340/360  0.944  0.916 to 0.964
    """
    level = check_level(level)
    check_method(method)
    if y_pred is None:
        test = read_test(
            y_true_or_cm,
            None,
            positive=positive,
            labels=labels,
            ignore_index=ignore_index,
            class_names=class_names,
        )
        if test.cells.ndim != 3:
            raise ArgumentError("cm", f"expected a matrix for each group (G, n, n), got shape {test.cells.shape}")
        names: list[Any] = list(range(len(test.cells))) if groups is None else list(cast("Any", groups))
        if len(names) != len(test.cells):
            raise ArgumentError("groups", f"expected the names of {len(test.cells)} matrices, got {len(names)}")
        binary, title, rest = test.binary, test.labels[test.place], [*test.labels]
        del rest[test.place]
    else:
        if class_names is not None:
            raise ArgumentError(
                "class_names", f"expected None for labels, got {quoted(class_names)}; pass labels=[...]"
            )
        options: dict[str, Any] = {"positive": positive, "labels": labels, "ignore_index": ignore_index}
        (test,), codes = binary_codes(y_true_or_cm, {"y_pred": y_pred}, **options)
        names, binary = _counted(groups, *codes)
        title, rest = test.labels[test.place], [label for k, label in enumerate(test.labels) if k != test.place]
    if len(names) < 2:
        raise ArgumentError(
            "groups", f"expected at least two groups, got {len(names)}; use matrics.stats.diagnostic_table"
        )
    two = ["the rest" if len(rest) > 1 else rest[0], title]

    def table(cells: NumPyArray) -> DiagnosticTable:
        return table_of(IndexTest(cells, two, 1, 1), level=level, method=method)

    overall = table(binary.sum(axis=0))
    p_value = np.asarray([_homogeneity(name, binary) for name in overall.names])
    return DiagnosticGroups(tuple(map(str, names)), tuple(map(table, binary)), overall, p_value)


def _counted(groups: Any, y_true: NumPyArray, y_pred: NumPyArray) -> tuple[list[Any], NumPyArray]:
    """The names of the groups, and their matrices (G, 2, 2)."""
    if groups is None:
        raise ArgumentError(
            "groups", "expected the group of each sample, got None; without groups use diagnostic_table"
        )
    values, _ = labels_on_host(groups, "groups")
    if values is None or values.shape != y_true.shape:
        got = "values that cannot be inspected" if values is None else f"shape {values.shape}"
        raise ArgumentError("groups", f"expected the group of each sample, shape {y_true.shape}, got {got}")
    names, codes = places(values, "groups")
    kept = y_true >= 0
    cells = np.bincount((4 * codes + 2 * y_true + y_pred)[kept], minlength=4 * len(names))
    return names.tolist(), cells.reshape(-1, 2, 2).astype(np.float64)


# Tests of homogeneity ------------------------------------------------------------------------------------------------


def _homogeneity(name: str, binary: NumPyArray) -> float:
    """The p-value of the hypothesis that all matrices (G, 2, 2) have the same value of a measure."""
    if name in PARTS:
        hits, whole = ((binary * part).sum((-2, -1)) for part in PARTS[name])
        return _chi_squared(hits, whole)
    tn, fp, fn, tp = binary.reshape(-1, 4).T
    if name == "odds ratio":
        return _breslow_day(tp, fn, fp, tn)
    ill, healthy = tp + fn, fp + tn
    with np.errstate(divide="ignore", invalid="ignore"):
        if name == YOUDEN:
            return _cochran(tp / ill - fp / healthy, tp * fn / ill**3 + fp * tn / healthy**3)
        above, below = (tp, fp) if name == next(iter(RATIOS)) else (fn, tn)
        variance = 1 / above - 1 / ill + 1 / below - 1 / healthy
        return _cochran(np.log(above / ill) - np.log(below / healthy), variance)


def _chi_squared(hits: NumPyArray, whole: NumPyArray) -> float:
    """The p-value of Pearson's test for a table of successes and failures."""
    hits, whole = hits[whole > 0], whole[whole > 0]
    share = hits.sum() / whole.sum() if len(whole) else math.nan
    if len(whole) < 2 or not 0 < share < 1:
        return math.nan
    return _tail(float(((hits - share * whole) ** 2 / (share * (1 - share) * whole)).sum()), len(whole) - 1)


def _cochran(values: NumPyArray, variances: NumPyArray) -> float:
    """The p-value of Cochran's Q, the weighted squared distances from the weighted mean."""
    known = np.isfinite(values) & np.isfinite(variances) & (variances > 0)
    if known.sum() < 2:
        return math.nan
    values, weights = values[known], 1 / variances[known]
    mean = (weights * values).sum() / weights.sum()
    return _tail(float((weights * (values - mean) ** 2).sum()), int(known.sum()) - 1)


def _breslow_day(a: NumPyArray, b: NumPyArray, c: NumPyArray, d: NumPyArray) -> float:
    """The p-value of the Breslow-Day test of equal odds ratios, with Tarone's correction."""
    known = ((a + b) * (c + d) * (a + c) * (b + d)) > 0
    a, b, c, d = (cell[known] for cell in (a, b, c, d))
    total, row, column = a + b + c + d, a + b, a + c
    top, bottom = (a * d / total).sum(), (b * c / total).sum()
    if len(a) < 2 or top == 0 or bottom == 0:
        return math.nan
    ratio = top / bottom
    if ratio == 1:
        expected = row * column / total
    else:  # of two solutions, the cell without negative cells in the table
        half = total + (ratio - 1) * (row + column)
        root = np.sqrt(half**2 - 4 * ratio * (ratio - 1) * row * column)
        expected = (half - root) / (2 * (ratio - 1))
    cells = (expected, row - expected, column - expected, total - row - column + expected)
    variance = 1 / sum(1 / cell for cell in cells)
    gap = a - expected
    return _tail(float((gap**2 / variance).sum() - gap.sum() ** 2 / variance.sum()), len(a) - 1)


def _tail(statistic: float, degrees: int) -> float:
    """The probability of a larger chi-squared."""
    return float(special("chdtrc")(degrees, statistic))
