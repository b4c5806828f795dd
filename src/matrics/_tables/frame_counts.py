"""The confusion matrices of a data frame of labels, with groups and classes."""

from __future__ import annotations

import math
from collections.abc import Hashable, Iterable
from typing import Any, NamedTuple

import numpy as np

from matrics._catalogue.classes import Classes, Sorted, class_names_of
from matrics._catalogue.record import Metric
from matrics._engine.evaluation import Invalid
from matrics._quoting import quoted
from matrics._scoring.score import score
from matrics._tables.columns import listed
from matrics._tables.table import Library, axis_columns, imported
from matrics._tables.vocabularies import apart
from matrics._uncertainty.interval import interval
from matrics._uncertainty.options import Method
from matrics._uncertainty.results import Interval
from matrics.typing import NumPyArray

__all__ = ["FrameCounts"]

MOST_NAMED = 10


class FrameCounts(NamedTuple):
    """The matrices of a data frame of labels, as from :func:`matrics.frames.count`.

    Parameters
    ----------
    matrix : array, shape (G, n, n), or (n, n) without groups
        A confusion matrix for each group; integers, or floating numbers if weighted.
    groups : dict of str to column
        For each column of groups, the values of all groups; the ``axes`` of :func:`matrics.to_frame`. A Series of
        pandas or Polars, or an array of pyarrow for any other table.
    labels : tuple, length n
        The label of each class.
    squared_weights : array, shape of the matrix, or None
        With weights, the matrices of their squares, which :func:`matrics.interval` and :func:`matrics.compare` need for
        variances.
    """

    matrix: NumPyArray
    groups: dict[str, Any]
    labels: tuple[Hashable, ...]
    squared_weights: NumPyArray | None = None

    @property
    def class_names(self) -> tuple[str, ...]:
        """The labels as text: the ``class_names`` of :func:`matrics.score` and :func:`matrics.to_frame`.

        If the labels are the sorted texts of the columns, their order has no meaning, and no class is positive by
        default: ``positive=`` names the positive class.
        """
        return class_names_of(self.labels)

    def _check(self, positive: Hashable) -> None:
        """Raise if predictions that are not a true label would count as negative, unless the labels are known."""
        if positive is None or not isinstance(self.labels, Sorted):
            return
        n = len(self.labels)
        cells = np.asarray(self.matrix).reshape(-1, n, n).sum(axis=0)
        Classes.of(n, self.labels, positive, apart=apart(self.labels, cells.sum(axis=1), cells.sum(axis=0)))

    def score(
        self,
        metrics: str | Metric | Iterable[str | Metric] = "core",
        *,
        zero_division: float = math.nan,
        invalid: Invalid = "warn",
        workers: int = 1,
        positive: Hashable = None,
    ) -> dict[str, Any]:
        """Measures of the matrix of every group, as from :func:`matrics.score`, with the labels as class names.

        Parameters
        ----------
        metrics : str, Metric, or several of them, default "core"
            Names, aliases, groups (``core``, ``overall``, ``all``, ``on_host``, or a family of
            :func:`matrics.list_metrics`), specs (``"recall:class"``, ``"recall[1]"``, ``"fbeta(beta=2):weighted"``; see
            :func:`matrics.get_metric`), or metrics. A string may contain several of these, separated by commas. Square
            brackets take the label of a class: ``"recall[cat]"``.
        zero_division : float, default NaN
            The value of undefined measures (0/0).
        invalid : {"warn", "raise", "nan"}
            What to do about matrices with a negative, NaN or infinite cell. Every measure of such a matrix is NaN, and
            no other matrix is affected. ``"warn"`` names the first of them if the check is cheap (NumPy); ``"raise"``
            checks on every backend, which waits for the device.
        workers : int, default 1
            Number of threads on the host; -1 for as many as there are cores. It does not change results. The blocks of
            a stack are scored in parallel.
        positive : label, optional
            The positive class: a label. Per-class measures without an average are values of this class. Of two labels
            that are texts, neither is positive without it: class measures are then means over both (``macro``).
            ``:binary`` needs it, unless the data frame or ``labels=`` has given the order of the labels.

        Returns
        -------
        dict of str to array
            Keyed by metric, as requested; the key of a value for each class contains the label: ``recall/fraud``.

        Raises
        ------
        ValueError, TypeError
            As in :func:`matrics.score`.

        Examples
        --------
        >>> import matrics
        >>> import pandas as pd
        >>> frame = pd.DataFrame({"y_true": ["ok", "fraud", "ok", "fraud"], "y_pred": ["ok", "fraud", "ok", "ok"]})
        >>> counts = matrics.frames.count(frame)
        >>> scores = counts.score("sensitivity, specificity, precision", positive="fraud")
        >>> matrics.to_frame(scores)
           sensitivity of fraud  specificity of fraud  precision of fraud
        0                   0.5                   1.0                 1.0
        """
        self._check(positive)
        options: Any = {"zero_division": zero_division, "invalid": invalid, "workers": workers}
        return score(self.matrix, metrics, class_names=self.class_names, positive=positive, **options)

    def interval(
        self,
        metrics: str | Metric | Iterable[str | Metric] = "core",
        *,
        level: float = 0.95,
        method: Method = "auto",
        zero_division: float = math.nan,
        invalid: Invalid = "warn",
        workers: int = 1,
        positive: Hashable = None,
    ) -> dict[str, Interval]:
        """Confidence intervals of the matrix of every group, as from :func:`matrics.interval`, with labels and weights.

        Parameters
        ----------
        metrics : str, Metric, or several of them, default "core"
            Names, aliases, groups (``core``, ``overall``, ``all``, ``on_host``, or a family of
            :func:`matrics.list_metrics`), specs (``"recall:class"``, ``"recall[1]"``, ``"fbeta(beta=2):weighted"``; see
            :func:`matrics.get_metric`), or metrics. A string may contain several of these, separated by commas. Square
            brackets take the label of a class: ``"recall[cat]"``.
        level : float, default 0.95
            The probability with which an interval is to contain the true value.
        method : str, default "auto"
            How limits are formed: "auto", "bootstrap", "bca", "posterior" or "delta"; of proportions "wilson",
            "agresti_coull", "clopper_pearson" or "jeffreys"; of ratios "log" or "score". :func:`matrics.interval`
            explains them.
        zero_division : float, default NaN
            The value of undefined measures (0/0).
        invalid : {"warn", "raise", "nan"}
            What to do about matrices with a negative, NaN or infinite cell. Every measure of such a matrix is NaN, and
            no other matrix is affected. ``"warn"`` names the first of them if the check is cheap (NumPy); ``"raise"``
            checks on every backend, which waits for the device.
        workers : int, default 1
            Number of threads on the host; -1 for as many as there are cores. It does not change results.
        positive : label, optional
            The positive class: a label. Per-class measures without an average are values of this class. Of two labels
            that are texts, neither is positive without it: class measures are then means over both (``macro``).

        Returns
        -------
        dict of str to Interval
            Keyed by metric, as requested; the key of an interval for each class contains the label: ``recall/fraud``.

        Raises
        ------
        ValueError, TypeError
            As in :func:`matrics.interval`.

        Examples
        --------
        >>> import matrics
        >>> import pandas as pd
        >>> frame = pd.DataFrame({"y_true": [0, 1] * 300, "y_pred": [0, 1, 0, 1, 1, 0] * 100, "w": [1.0, 2.5] * 300})
        >>> accuracy = matrics.frames.count(frame, sample_weight="w").interval("accuracy")["accuracy"]
        >>> print(f"{accuracy.estimate:.3f}, between {accuracy.low:.3f} and {accuracy.high:.3f}")
        0.667, between 0.625 and 0.706
        """
        self._check(positive)
        options: Any = {"level": level, "method": method, "zero_division": zero_division, "invalid": invalid}
        return interval(
            self.matrix,
            metrics,
            squared_weights=self.squared_weights,
            class_names=self.class_names,
            positive=positive,
            workers=workers,
            **options,
        )

    def to_frame(self, *, library: Library = "pandas") -> Any:
        """The counts in long form: a row for each group, true label and predicted label, also for counts of 0.

        Parameters
        ----------
        library : {"pandas", "polars"}
            Which library the data frame is of.

        Returns
        -------
        pandas.DataFrame or polars.DataFrame
            The columns of the groups, then ``true``, ``pred`` and ``count``.

        Raises
        ------
        ImportError
            The library is not installed.
        ValueError
            A column of the groups has one of these three names.
        """
        frames = imported(library)
        n = len(self.labels)
        stack = np.reshape(self.matrix, (-1, n, n))
        columns = axis_columns(self.groups, (len(stack),), library, times=n * n) if self.groups else {}
        own = {
            "true": [label for label in self.labels for _ in self.labels] * len(stack),
            "pred": [*self.labels] * (n * len(stack)),
            "count": stack.ravel(),
        }
        both = sorted(set(columns) & set(own))
        if both:
            raise ValueError(f"by: expected columns other than true, pred and count, got {quoted(both[0])}")
        return frames.DataFrame({**columns, **own})

    def to_dict(self) -> dict[str, Any]:
        """The matrices, the groups and the labels as lists, numbers and texts, for JSON."""
        plain = (bool, int, float, str)
        return {
            "matrix": self.matrix.tolist(),
            "groups": {
                str(name): [value if isinstance(value, plain) else str(value) for value in listed(column)]
                for name, column in self.groups.items()
            },
            "labels": [label if isinstance(label, plain) else str(label) for label in self.labels],
            "squared_weights": None if self.squared_weights is None else self.squared_weights.tolist(),
        }

    def __repr__(self) -> str:
        """The shape of the matrices and their classes, as all counts may be thousands of numbers."""
        by = f", by={list(self.groups)}" if self.groups else ""
        more = f" and {len(self.labels) - MOST_NAMED} more" if len(self.labels) > MOST_NAMED else ""
        named = ", ".join(map(repr, self.labels[:MOST_NAMED]))
        return f"FrameCounts(matrix of shape {self.matrix.shape}{by}, labels={named}{more})"
