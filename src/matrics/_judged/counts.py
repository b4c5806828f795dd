"""count(): counts of samples by the labels of people, of a judge and of a model."""

from __future__ import annotations

from collections.abc import Hashable, Iterable
from typing import Any, NamedTuple, Self

import numpy as np

from matrics._arrays import Array, as_arrays
from matrics._arrays.sizes import check_size
from matrics._counting.codes import CodedClasses, check_classes, codes_of
from matrics._counting.gaps import codes_with_gaps
from matrics._counting.jointly import count_jointly
from matrics._counting.labels import squared_weights
from matrics._states.leaves import Additive
from matrics.typing import ArrayLike


class _JudgedCounts(NamedTuple):
    labelled: Array
    unlabelled: Array
    labelled_squares: Array | None = None
    unlabelled_squares: Array | None = None


class JudgedCounts(Additive, _JudgedCounts):
    """Counts of samples by judge's label, predicted label and, if known, true label, as from :func:`count`.

    Parameters
    ----------
    labelled : array, shape (*B, n, n, n) or (*B, n, n + 1, n)
        The samples with a true label: ``[true, judge, predicted]``. The judge's label n means that the judge
        has refused or failed to label the sample.
    unlabelled : array, shape (*B, n, n) or (*B, n + 1, n)
        The samples without a true label: ``[judge, predicted]``.
    labelled_squares, unlabelled_squares : array or None
        The sums of the squared weights of weighted samples, in the same shapes; None for samples without weights.

    Notes
    -----
    ``counts + others`` are the counts of two batches of samples, also if the judge has labelled all samples of a single
    batch. JAX and PyTorch treat counts as a tree of arrays.
    """

    __slots__ = ()

    def _plus(self, other: Self) -> Self:
        if (self.labelled_squares is None) != (other.labelled_squares is None):
            raise TypeError("expected counts that are both weighted or both not, got weighted and unweighted counts")
        width = max(self.unlabelled.shape[-2], other.unlabelled.shape[-2])
        first, second = (counts._with_judge_labels(width) for counts in (self, other))
        return type(self)(*(a if a is None else a + b for a, b in zip(first, second, strict=True)))

    def _with_judge_labels(self, number: int) -> Self:
        """The counts with ``number`` rows of judge's labels, the last of them zeros if it is new."""
        if self.unlabelled.shape[-2] == number:
            return self
        parts: list[Array | None] = []
        for part in self:
            if part is None:
                parts.append(None)
                continue
            backend, (array,) = as_arrays(counts=part)
            parts.append(backend.xp.concat([array, backend.xp.zeros_like(array[..., :1, :])], axis=-2))
        return type(self)(*parts)


def count(
    y_true: ArrayLike,
    y_judge: ArrayLike,
    y_pred: ArrayLike | None = None,
    *,
    labelled: ArrayLike | None = None,
    num_classes: int | None = None,
    labels: Iterable[Hashable] | None = None,
    sample_weight: ArrayLike | None = None,
    unanswered: bool | None = None,
) -> JudgedCounts:
    """Counts of samples by the labels of a judge, of a model and, where these exist, of people.

    The judge (a language model, a crowd, a rule) has labelled the samples, and people have labelled some of them.
    :func:`matrics.judged.confusion_matrix` estimates the confusion matrix of all samples from these counts, without the
    bias of the judge and with less variance than the labelled samples alone. :func:`matrics.judged.interval` returns
    confidence limits of its measures.

    Parameters
    ----------
    y_true : array_like, shape (*B, N)
        True labels. A sample without a true label has any value if ``labelled`` is given. Otherwise it has None, NaN or
        -1 (unless ``labels`` contain it).
    y_judge : array_like, shape (*B, N)
        The judge's labels. A sample that the judge has not labelled has None, NaN or -1 (unless ``labels`` contain it).
    y_pred : array_like, shape (*B, N), optional
        The predicted labels. Batches broadcast: (M, N) predictions of M models with the labels (N,) of a judge. None
        for answers that are graded as fail (class 0), pass (class 1), and perhaps further grades, such as refused: then
        the prediction of all samples is class 1, and the accuracy is the pass rate.
    labelled : array_like of bool, shape (*B, N), optional
        Which samples have a true label; ``y_true`` is ignored elsewhere.
    num_classes : int, optional
        Number of classes, n; labels are 0 to n - 1. Required without ``labels``.
    labels : sequence of text, integers or other hashables, optional
        The label of each class, in order; required without ``num_classes``.
    sample_weight : array_like, shape (*B, N), optional
        A weight for each sample. The counts then have the sums of squared weights as well.
    unanswered : bool, optional
        Whether samples without a judge's label are counted, with the label n of the judge. By default they are if there
        are any. On devices and in compiled code, where values are not inspected, the default is no, and such samples
        are left out.

    Returns
    -------
    JudgedCounts
        ``labelled`` (*B, n, n, n) by true label, judge and prediction, and ``unlabelled`` (*B, n, n) by judge and
        prediction; the judge has n + 1 labels if ``unanswered`` samples are counted. On devices and in compiled code,
        where values are not inspected, samples with a label out of range are left out.

    Raises
    ------
    ValueError
        A label or a weight is out of range, the shapes do not fit, or a judge's label is missing and ``unanswered`` is
        False.
    TypeError
        Labels have another type, or both or neither of ``num_classes`` and ``labels`` are given.

    Examples
    --------
    >>> import matrics
    >>> counts = matrics.judged.count(
    ...     y_true=["good", None, "bad", None, None],
    ...     y_judge=["good", "good", "good", "bad", "bad"],
    ...     y_pred=["good", "good", "bad", "bad", "good"],
    ...     labels=["bad", "good"],
    ... )
    >>> counts.labelled.sum(), counts.unlabelled
    (np.int64(2), array([[1, 1],
           [0, 1]]))
    """
    classes = check_classes(num_classes, labels)
    n = classes.number
    check_size((n + 1) * n**2, num_classes=n)
    codes = judged_codes({"y_true": y_true, "y_judge": y_judge, "y_pred": y_pred}, labelled, classes)
    numbers = {"y_true": n + 1, "y_judge": judge_labels(codes["y_judge"], n, unanswered=unanswered), "y_pred": n}
    table = count_jointly(codes, numbers, sample_weight=sample_weight)
    parts = (table[..., :n, :, :], table[..., n, :, :])
    if sample_weight is None:
        return JudgedCounts(*parts)
    squares = count_jointly(codes, numbers, sample_weight=squared_weights(sample_weight))
    return JudgedCounts(*parts, squares[..., :n, :, :], squares[..., n, :, :])


def judged_codes(labels: dict[str, Any], labelled: Any, classes: CodedClasses) -> dict[str, Any]:
    """The labels as numbers of classes; missing labels of people and of the judge have the number n."""
    true = labels.pop("y_true")
    codes = {"y_true": codes_with_gaps(true, labelled, classes, "y_true")}
    code_of = None if classes.labels is None else {label: code for code, label in enumerate(classes.labels)}
    for name, values in labels.items():
        if name == "y_judge":
            codes[name] = codes_with_gaps(values, None, classes, name)
        elif values is None:
            codes[name] = _all_pass(codes["y_judge"], name, classes.number)
        else:
            codes[name] = values if code_of is None else codes_of(values, code_of, name, classes.labels or ())
    return codes


def judge_labels(codes: Array, n: int, *, unanswered: bool | None) -> int:
    """The number of labels of a judge: n, or n + 1 with the label of samples that the judge has not labelled.

    Raises
    ------
    ValueError
        Samples have no label, and ``unanswered`` is False.
    """
    if unanswered:
        return n + 1
    backend, (array,) = as_arrays(y_judge=codes)
    host = backend.host_view(array)
    missing = None if host is None else np.argwhere(host == n)
    if missing is None or not len(missing):
        return n
    if unanswered is None:
        return n + 1
    raise ValueError(
        f"y_judge: expected a label of each sample, got {len(missing):,} samples without a label, the first at "
        f"{tuple(missing[0].tolist())}: unanswered=True counts them"
    )


def _all_pass(judge: Any, name: str, n: int) -> Array:
    """Class 1 as the prediction of all samples."""
    if n < 2:
        raise ValueError(f"{name}: expected predicted labels, or grades of fail and pass, got {n} class")
    backend, (array,) = as_arrays(y_judge=judge)
    return backend.xp.ones_like(array)
