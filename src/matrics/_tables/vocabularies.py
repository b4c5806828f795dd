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
KNOWN = (*TRUTHS, ("fail", "pass"))  # pairs of classes, the last of graded answers
ADVICE = "rename the labels of one of them, or pass all classes as labels="
ADVICE_WITH_POSITIVE = f"pass both names of the positive class as positive=, such as 'yes=pos'; or {ADVICE}"


class TwoNames(NamedTuple):
    """The two classes of true and predicted labels with different names; the positive class is last."""

    classes: tuple[str, ...]
    of_true: dict[Hashable, int]
    of_pred: dict[Hashable, int]

    def codes(self, y_true: Array, *predictions: Array) -> list[Array]:
        """Arrays of labels as class numbers; -1 for other labels, which the caller leaves out."""
        codes = []
        for values, places in ((y_true, self.of_true), *((values, self.of_pred) for values in predictions)):
            labels = values.ravel().tolist()
            numbers = np.fromiter((places.get(label, -1) for label in labels), np.int64, len(labels))
            codes.append(numbers.reshape(values.shape))
        return codes


def two_names(true_labels: Iterable[Hashable], pred_labels: Iterable[Hashable], positive: Any) -> TwoNames | None:
    """The classes if ``positive`` is a text with both names, ``yes=pos``; None for other values of ``positive``.

    A label that equals the whole text is a single class. Each side has at most a single other label, and these are the
    other class.

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
    # A label may contain an equals sign.
    names = max(pairs, key=lambda pair: (pair[0] in in_true) + (pair[1] in in_pred))
    if names[0] not in in_true and names[1] not in in_pred:
        return None
    of_true = {label: int(str(label) == names[0]) for label in true}
    of_pred = {label: int(str(label) in names) for label in pred}  # some models may use the words of the true labels
    others = [label for label in true if not of_true[label]]
    more = [label for label in pred if not of_pred[label] and label not in of_true]
    if max(len(others), len(more)) > 1 or any(of_pred.get(label, k) != k for label, k in of_true.items()):
        raise ArgumentError(
            "positive",
            f"expected a single true and a single predicted label other than the names of the positive class, "
            f"{quoted(positive)}, got {quoted_list(true, MOST_NAMED)} in y_true and {quoted_list(pred, MOST_NAMED)} in "
            "y_pred",
        )
    rest = [*others, *more]
    if not rest:
        raise ArgumentError("positive", f"expected labels of two classes, got only labels of {quoted(positive)}")
    return TwoNames((str(rest[0]), positive), of_true, of_pred)


def refuse_disjoint(
    true_labels: Iterable[Hashable], pred_labels: Iterable[Hashable], advice: str = ADVICE, names: Sequence[Any] = ()
) -> None:
    """Raise if true and predicted labels have none in common, except 0 and 1, false and true, fail and pass.

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
    """The predicted classes of the first group, such as a model, without a prediction of any true class.

    >>> import numpy
    >>> foreign_predictions(numpy.array([0, 1, 0, 1]), numpy.array([0, 1, 2, 3]), numpy.array([0, 0, 1, 1]))
    array([2, 3])
    """
    is_true = np.isin(pred, true)
    distinct, place = np.unique(groups, return_inverse=True)
    without = np.flatnonzero(np.bincount(place, is_true, len(distinct)) == 0)
    return np.unique(pred[place == without[0]]) if without.size else pred[:0]


def apart(
    classes: Sequence[Hashable], of_true: Array, of_pred: Array, missing: str = ""
) -> tuple[tuple[int, str], ...]:
    """The classes that must not count as negative, with a description of their rows.

    These are the class of missing labels and, with at most two true classes, all classes without true labels, such as
    the result "indeterminate".

    Parameters
    ----------
    classes : sequence
        The labels.
    of_true, of_pred : array, shape (n,)
        The number of rows with each class as true label, and as predicted label.
    missing : str, optional
        The name of the class of missing labels; empty if there is no such class.

    Examples
    --------
    >>> import numpy
    >>> apart(["maybe", "no", "yes"], numpy.array([0, 90, 10]), numpy.array([7, 81, 12]))
    ((0, "7 predictions of 'maybe', which is no true label"),)
    """
    missing_classes = {k: "" for k, label in enumerate(classes) if missing and label == missing}
    are_true = [k for k in range(len(classes)) if of_true[k] and k not in missing_classes]
    words = {
        k: f"{of_true[k] + of_pred[k]:,.10g} missing labels (missing=drop leaves their rows out)"
        for k in missing_classes
    }
    if len(classes) - len(missing_classes) > 2 >= len(are_true):
        for k, label in enumerate(classes):
            if not of_true[k] and of_pred[k] and k not in missing_classes:
                words[k] = f"{of_pred[k]:,.10g} predictions of {quoted(label)}, which is no true label"
    return tuple(sorted(words.items()))


A_CLASS = "is a class and not a missing value"
INVISIBLE = dict.fromkeys(range(0xFE00, 0xFE10))  # variation selectors, which change the form of the letter before
#: Texts that other programs write for missing values.
MISSING = {"na", "n/a", "<na>", "#n/a", "nan", "nat", "null"}


def odd_labels(true_labels: Iterable[Hashable], pred_labels: Iterable[Hashable]) -> str | None:
    r"""A description of labels that are probably mistakes, in a single line; None without such labels.

    These are classes that occur only among the true or only among the predicted labels; labels that differ only in
    case, blanks, type or the notation of a number; numbers together with texts; and texts that other programs write for
    missing values.

    >>> odd_labels(["cat", "dog"], ["cat", "Dog"])
    "the labels 'dog' and 'Dog' are different classes"
    >>> odd_labels(["cat", "dog", "NA"], ["cat", "dog", "cow"])
    "only among the true labels: 'NA'; only among the predicted labels: 'cow'; 'NA' is a class and not a missing value"
    >>> odd_labels(["cat", "dog"], ["dog", "cat"]) is None
    True
    >>> odd_labels([0, 1, "two"], [0, 1, "two"])
    "some labels are numbers (0, 1) and some are not ('two')"
    >>> print(ascii(odd_labels(["caf\xe9"], ["cafe\u0301"])))
    "the labels 'caf\xe9' (U+00E9) and 'cafe\u0301' (e U+0301) are different classes"
    """
    true, pred = dict.fromkeys(true_labels), dict.fromkeys(pred_labels)
    every = list(dict.fromkeys([*true, *pred]))
    alike: dict[str, list[Hashable]] = {}
    for label in every:
        alike.setdefault(_folded(label), []).append(label)
    groups = [labels for labels in alike.values() if len(labels) > 1]
    listed = {label for labels in groups for label in labels}
    facts = [f"the labels {' and '.join(_apart(labels))} are different classes" for labels in groups[:MOST_NAMED]]
    if len(groups) > MOST_NAMED:
        facts.append(f"and {len(groups) - MOST_NAMED} more such")
    for where, labels_here, labels_there in (("the true labels", true, pred), ("the predicted labels", pred, true)):
        alone = [label for label in labels_here if label not in labels_there and label not in listed]
        if alone:
            facts.append(f"only among {where}: {_listed(alone)}")
    rest = [label for label in every if label not in listed and not stands_for_missing(label)]
    numbers = [label for label in rest if _is_number(label)]
    if 0 < len(numbers) < len(rest):
        others = [label for label in rest if not _is_number(label)]
        facts.append(f"some labels are numbers ({_listed(numbers)}) and some are not ({_listed(others)})")
    missing = [label for label in every if stands_for_missing(label)]
    if missing:
        facts.append(f"{_listed(missing)} {A_CLASS}")
    return "; ".join(facts) or None


def _apart(labels: Sequence[Hashable]) -> list[str]:
    """Quoted labels, with the code points of labels that are printed alike."""
    printed = Counter(_printed(quoted(label)) for label in labels)
    return [
        quoted(label) + (f" ({_code_points(str(label))})" if printed[_printed(quoted(label))] > 1 else "")
        for label in labels
    ]


def _printed(text: str) -> str:
    """A text that is equal for texts that are printed alike."""
    return unicodedata.normalize("NFC", text).translate(INVISIBLE)


def _code_points(text: str) -> str:
    r"""The code points of the letters beyond ASCII, with the letters that combining characters change.

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
    """Whether a label is a text that other programs write for a missing value."""
    # Many scales have a class "none", while Python writes "None" for a missing value.
    return isinstance(label, str) and (label.strip().casefold() in MISSING or label.strip() == "None")


def _is_number(label: Hashable) -> bool:
    try:
        return not isinstance(label, bool) and math.isfinite(float(_folded(label)))
    except ValueError:
        return False


def _folded(label: Hashable) -> str:
    """A text that is equal for labels that a reader would confuse."""
    text = unicodedata.normalize("NFKC", str(label))
    text = "".join(letter for letter in text.translate(INVISIBLE) if unicodedata.category(letter) != "Cf")
    text = " ".join(text.split()).casefold()
    try:
        number = math.nan if "_" in text else float(text)
    except ValueError:
        return text
    return repr(number) if math.isfinite(number) else text
