"""count(): what people, a judge and a model said of the same samples, counted."""

from __future__ import annotations

from collections.abc import Hashable, Iterable
from typing import Any, NamedTuple, Self

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
    """Counts of samples by judge and model, and by people where these have looked, as from :func:`count`.

    Parameters
    ----------
    labelled : array, shape (*B, n, n, n)
        The samples with a true label: ``[true, judge, predicted]``.
    unlabelled : array, shape (*B, n, n)
        The samples without one: ``[judge, predicted]``.
    labelled_squares, unlabelled_squares : array or None
        Of weighted samples the sums of squared weights, in the same shapes; None where all samples count the same.

    Notes
    -----
    Counts of two batches of samples add up: ``counts + others``. JAX and PyTorch take them as a tree of arrays.
    """

    __slots__ = ()

    def _plus(self, other: Self) -> Self:
        if (self.labelled_squares is None) != (other.labelled_squares is None):
            raise TypeError("expected counts that are both weighted or both not, got one of each")
        return type(self)(*(a if a is None else a + b for a, b in zip(self, other, strict=True)))


def count(
    y_true: ArrayLike,
    y_judge: ArrayLike,
    y_pred: ArrayLike | None = None,
    *,
    labelled: ArrayLike | None = None,
    num_classes: int | None = None,
    labels: Iterable[Hashable] | None = None,
    sample_weight: ArrayLike | None = None,
) -> JudgedCounts:
    """Count samples by the labels of people, where there are any, of a judge, and of a model.

    The judge (a language model, a crowd, a rule) has labelled every sample, and people some of them.
    :func:`matrics.judged.confusion_matrix` makes a confusion matrix of all samples from these counts, which is neither
    biased as the judge is nor as noisy as few labels are; :func:`matrics.judged.interval` gives limits of its measures.

    Parameters
    ----------
    y_true : array_like, shape (*B, N)
        True labels. A sample without a true label has any value if ``labelled`` is given. Otherwise it has None, NaN or
        -1 (unless ``labels`` contain it).
    y_judge : array_like, shape (*B, N)
        The judge's labels of all samples.
    y_pred : array_like, shape (*B, N), optional
        The predicted labels. Batches broadcast: (M, N) predictions of M models with the labels (N,) of a judge. Left
        out where the answers of a model are graded as fail (class 0) or pass (class 1): then class 1 is predicted of
        all, and the accuracy is the pass rate.
    labelled : array_like of bool, shape (*B, N), optional
        Which samples have a true label; ``y_true`` is ignored elsewhere.
    num_classes : int, optional
        Number of classes, n; labels are 0 to n - 1. Required without ``labels``.
    labels : sequence of text, integers or other hashables, optional
        The label of each class, in order; required without ``num_classes``.
    sample_weight : array_like, shape (*B, N), optional
        A weight for each sample. The counts then have the sums of squared weights as well.

    Returns
    -------
    JudgedCounts
        ``labelled`` (*B, n, n, n) by true label, judge and prediction, and ``unlabelled`` (*B, n, n) by judge and
        prediction. On devices and in compiled code, where values are not inspected, samples with a label out of range
        are left out.

    Raises
    ------
    ValueError
        A label or a weight is out of range, or the shapes do not fit.
    TypeError
        Labels are of another kind, or not exactly one of ``num_classes`` and ``labels`` is given.

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
    given = judged_codes({"y_true": y_true, "y_judge": y_judge, "y_pred": y_pred}, labelled, classes)
    numbers = {"y_true": n + 1, "y_judge": n, "y_pred": n}
    table = count_jointly(given, numbers, sample_weight=sample_weight)
    parts = (table[..., :n, :, :], table[..., n, :, :])
    if sample_weight is None:
        return JudgedCounts(*parts)
    squares = count_jointly(given, numbers, sample_weight=squared_weights(sample_weight))
    return JudgedCounts(*parts, squares[..., :n, :, :], squares[..., n, :, :])


def judged_codes(given: dict[str, Any], labelled: Any, classes: CodedClasses) -> dict[str, Any]:
    """The labels as numbers of classes; true labels that are missing get the number of classes."""
    true = given.pop("y_true")
    found = {"y_true": codes_with_gaps(true, labelled, classes, "y_true")}
    codes = None if classes.labels is None else {label: code for code, label in enumerate(classes.labels)}
    for name, values in given.items():
        if values is None:
            found[name] = _all_pass(found["y_judge"], name, classes.number)
        else:
            found[name] = values if codes is None else codes_of(values, codes, name, classes.labels or ())
    return found


def _all_pass(judge: Any, name: str, n: int) -> Array:
    """Class 1 as the prediction of all samples of two classes."""
    if n != 2:
        raise ValueError(
            f"{name}: expected predicted labels, which only grades of two classes have not, got {n} classes"
        )
    backend, (array,) = as_arrays(y_judge=judge)
    return backend.xp.ones_like(array)
