"""True and predicted labels in different words, and labels that are probably mistakes."""

from __future__ import annotations

import math
import unicodedata
from collections import Counter
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


A_CLASS = "is a class and not a missing value"
UNSEEN = dict.fromkeys(range(0xFE00, 0xFE10))  # variation selectors, which choose the form of a letter before them
#: Texts for missing values by other programs.
MISSING = {"na", "n/a", "<na>", "#n/a", "nan", "nat", "null"}


def odd_labels(true_labels: Iterable[Hashable], pred_labels: Iterable[Hashable]) -> str | None:
    r"""Describe labels that are probably mistakes, in one line; None if there are none.

    Classes that occur only among the true or only among the predicted labels, labels that differ only in case, blanks,
    type or the way a number is written, numbers with texts, and texts that other programs write where a value is
    missing.

    >>> odd_labels(["cat", "dog"], ["cat", "Dog"])
    "the labels 'dog' and 'Dog' are different classes"
    >>> odd_labels(["cat", "dog", "NA"], ["cat", "dog", "cow"])
    "only among the true labels: 'NA'; only among the predicted labels: 'cow'; 'NA' is a class and not a missing value"
    >>> odd_labels(["cat", "dog"], ["dog", "cat"]) is None
    True
    >>> odd_labels([0, 1, "one"], [0, 1, "one"])
    "some labels are numbers (0, 1) and some are not ('one')"
    >>> print(ascii(odd_labels(["caf\xe9"], ["cafe\u0301"])))
    "the labels 'caf\xe9' (U+00E9) and 'cafe\u0301' (e U+0301) are different classes"
    """
    true, pred = dict.fromkeys(true_labels), dict.fromkeys(pred_labels)
    every = list(dict.fromkeys([*true, *pred]))
    alike: dict[str, list[Hashable]] = {}
    for label in every:
        alike.setdefault(_folded(label), []).append(label)
    groups = [labels for labels in alike.values() if len(labels) > 1]
    said = {label for labels in groups for label in labels}
    facts = [f"the labels {' and '.join(_apart(labels))} are different classes" for labels in groups[:MOST_NAMED]]
    if len(groups) > MOST_NAMED:
        facts.append(f"and {len(groups) - MOST_NAMED} more such")
    for where, here, there in (("the true labels", true, pred), ("the predicted labels", pred, true)):
        alone = [label for label in here if label not in there and label not in said]
        if alone:
            facts.append(f"only among {where}: {_listed(alone)}")
    rest = [label for label in every if label not in said and not stands_for_missing(label)]
    numbers = [label for label in rest if _is_number(label)]
    if 0 < len(numbers) < len(rest):
        others = [label for label in rest if not _is_number(label)]
        facts.append(f"some labels are numbers ({_listed(numbers)}) and some are not ({_listed(others)})")
    missing = [label for label in every if stands_for_missing(label)]
    if missing:
        facts.append(f"{_listed(missing)} {A_CLASS}")
    return "; ".join(facts) or None


def _apart(labels: Sequence[Hashable]) -> list[str]:
    """Labels as messages quote them, with the code points of those that print the same."""
    printed = Counter(_printed(quoted(label)) for label in labels)
    return [
        quoted(label) + (f" ({_code_points(str(label))})" if printed[_printed(quoted(label))] > 1 else "")
        for label in labels
    ]


def _printed(text: str) -> str:
    """The text as it is printed, however its letters are composed."""
    return unicodedata.normalize("NFC", text).translate(UNSEEN)


def _code_points(text: str) -> str:
    r"""The letters beyond ASCII of a text, with those that they change.

    >>> _code_points("cafe\u0301")
    'e U+0301'
    """
    parts = []
    for place, letter in enumerate(text):
        if letter.isascii():
            continue
        if unicodedata.combining(letter) and text[place - 1 : place].isascii():
            parts.append(text[place - 1 : place])
        parts.append(f"U+{ord(letter):04X}")
    return " ".join(parts) or "ASCII"


def _listed(labels: Sequence[Hashable]) -> str:
    more = f" and {len(labels) - MOST_NAMED} more" if len(labels) > MOST_NAMED else ""
    return ", ".join(map(repr, labels[:MOST_NAMED])) + more


def stands_for_missing(label: Hashable) -> bool:
    """Whether a label is a text that programs write for a missing value."""
    # "none" is a class of many scales, and "None" is what Python writes for a missing value.
    return isinstance(label, str) and (label.strip().casefold() in MISSING or label.strip() == "None")


def _is_number(label: Hashable) -> bool:
    try:
        return not isinstance(label, bool) and math.isfinite(float(_folded(label)))
    except ValueError:
        return False


def _folded(label: Hashable) -> str:
    """One text for all labels that a reader would take for the same."""
    text = unicodedata.normalize("NFKC", str(label))
    text = "".join(letter for letter in text.translate(UNSEEN) if unicodedata.category(letter) != "Cf")
    text = " ".join(text.split()).casefold()
    try:
        number = math.nan if "_" in text else float(text)
    except ValueError:
        return text
    return repr(number) if math.isfinite(number) else text
