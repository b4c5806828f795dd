"""One line about labels that are probably not what someone meant: misspelt, or on one side only."""

from __future__ import annotations

import math
import unicodedata
from collections import Counter
from collections.abc import Hashable, Iterable, Sequence

from matrics._quoting import quoted

MOST_NAMED = 5
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
