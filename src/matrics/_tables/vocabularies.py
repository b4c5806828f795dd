"""True and predicted labels in different words: an error, unless the positive class is called by both of its names."""

from __future__ import annotations

from collections.abc import Hashable, Iterable, Sequence
from typing import Any, NamedTuple

import numpy as np

from matrics._arrays import Array
from matrics._catalogue.classes import TRUTHS
from matrics._errors import ArgumentError
from matrics._quoting import quoted, quoted_list

MOST_NAMED = 5
KNOWN = (*TRUTHS, ("fail", "pass"))  # the words of graded answers
ADVICE = "rename the labels of one of them, or pass all classes as labels="
ADVICE_WITH_POSITIVE = f"pass both names of the positive class as positive=, such as 'yes=pos'; or {ADVICE}"


class TwoNames(NamedTuple):
    """The two classes of labels in different words, the positive one last."""

    classes: tuple[str, ...]
    of_true: dict[Hashable, int]
    of_pred: dict[Hashable, int]

    def codes(self, y_true: Array, *predictions: Array) -> list[Array]:
        """Arrays of labels as numbers of the classes; -1 for others, which are to be left out."""
        found = []
        for values, places in ((y_true, self.of_true), *((one, self.of_pred) for one in predictions)):
            listed = values.ravel().tolist()
            numbers = np.fromiter((places.get(label, -1) for label in listed), np.int64, len(listed))
            found.append(numbers.reshape(values.shape))
        return found


def two_names(true_labels: Iterable[Hashable], pred_labels: Iterable[Hashable], positive: Any) -> TwoNames | None:
    """The classes where ``positive`` is a text with both names, ``yes=pos``; None if it is something else.

    A label that is the whole text is one class. Both sides have at most one other label, which are the other class.

    >>> two_names(["no", "yes"], ["neg", "pos"], "yes=pos")
    TwoNames(classes=('no', 'yes=pos'), of_true={'no': 0, 'yes': 1}, of_pred={'neg': 0, 'pos': 1})
    >>> two_names(["no", "yes"], ["no", "yes"], "yes") is None
    True
    """
    true, pred = list(dict.fromkeys(true_labels)), list(dict.fromkeys(pred_labels))
    if not isinstance(positive, str) or "=" not in positive or positive in {str(label) for label in (*true, *pred)}:
        return None
    parts = positive.split("=")
    pairs = [("=".join(parts[:k]), "=".join(parts[k:])) for k in range(1, len(parts))]
    in_true, in_pred = set(map(str, true)), set(map(str, pred))
    # A label may have an equals sign itself.
    names = max(pairs, key=lambda pair: (pair[0] in in_true) + (pair[1] in in_pred))
    if names[0] not in in_true and names[1] not in in_pred:
        return None
    of_true = {label: int(str(label) == names[0]) for label in true}
    of_pred = {label: int(str(label) in names) for label in pred}  # some models may have the words of the true labels
    others = [label for label in true if not of_true[label]]
    more = [label for label in pred if not of_pred[label] and label not in of_true]
    if max(len(others), len(more)) > 1 or any(of_pred.get(label, k) != k for label, k in of_true.items()):
        raise ArgumentError(
            "positive",
            f"expected one true and one predicted label beside both names of the positive class, "
            f"{quoted(positive)}, got {quoted_list(true, MOST_NAMED)} in y_true and {quoted_list(pred, MOST_NAMED)} in "
            "y_pred",
        )
    rest = [*others, *more]
    if not rest:
        raise ArgumentError("positive", f"expected labels of two classes, got only those of one, {quoted(positive)}")
    return TwoNames((str(rest[0]), positive), of_true, of_pred)


def refuse_disjoint(
    true_labels: Iterable[Hashable], pred_labels: Iterable[Hashable], advice: str = ADVICE, names: Sequence[Any] = ()
) -> None:
    """Raise where true and predicted labels have nothing in common; 0 and 1, false and true, fail and pass may.

    >>> refuse_disjoint([0, 0], [1, 1])
    """
    true, pred = list(dict.fromkeys(true_labels)), list(dict.fromkeys(pred_labels))
    if not true or not pred or not set(true).isdisjoint(pred):
        return
    texts = {str(label).lower() for label in (*true, *pred)}
    if any(texts <= set(pair) for pair in KNOWN):
        return
    of_true, of_pred = map(quoted, names or ("y_true", "y_pred"))
    words = [quoted_list(side, MOST_NAMED) for side in (true, pred)]
    raise ValueError(
        f"expected true and predicted labels in the same words, got {words[0]} in {of_true} and {words[1]} in "
        f"{of_pred}, which have none in common: {advice}"
    )


def foreign_predictions(true: Array, pred: Array, groups: Array) -> Array:
    """The predicted classes of the first group, such as a model, that predicts no true class at all.

    >>> import numpy
    >>> foreign_predictions(numpy.array([0, 1, 0, 1]), numpy.array([0, 1, 2, 3]), numpy.array([0, 0, 1, 1]))
    array([2, 3])
    """
    is_true = np.isin(pred, true)
    there, place = np.unique(groups, return_inverse=True)
    without = np.flatnonzero(np.bincount(place, is_true, len(there)) == 0)
    return np.unique(pred[place == without[0]]) if without.size else pred[:0]


def apart(
    classes: Sequence[Hashable], of_true: Array, of_pred: Array, missing: str = ""
) -> tuple[tuple[int, str], ...]:
    """The classes that are not to be counted as negative beside a positive one, and what their rows are, in words.

    These are the class of missing labels, and where there are no more than two true classes all others: results such
    as "indeterminate".

    Parameters
    ----------
    classes : sequence
        The labels.
    of_true, of_pred : array, shape (n,)
        How many rows have each class as true, and as predicted label.
    missing : str, optional
        What the class of missing labels is called, if there may be one.

    Examples
    --------
    >>> import numpy
    >>> apart(["maybe", "no", "yes"], numpy.array([0, 90, 10]), numpy.array([7, 81, 12]))
    ((0, "7 predictions of 'maybe', which is no true label"),)
    """
    found = {k: "" for k, label in enumerate(classes) if missing and label == missing}
    are_true = [k for k in range(len(classes)) if of_true[k] and k not in found]
    words = {k: f"{of_true[k] + of_pred[k]:,.10g} missing labels (missing=drop leaves their rows out)" for k in found}
    if len(classes) - len(found) > 2 >= len(are_true):
        for k, label in enumerate(classes):
            if not of_true[k] and of_pred[k] and k not in found:
                words[k] = f"{of_pred[k]:,.10g} predictions of {quoted(label)}, which is no true label"
    return tuple(sorted(words.items()))
