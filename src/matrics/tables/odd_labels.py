"""One line about labels that are probably not what someone meant: misspelt, or on one side only."""

from __future__ import annotations

import math
from collections.abc import Hashable, Iterable, Sequence

from matrics.quoting import quoted

MOST_NAMED = 5
#: Texts for missing values by other programs.
MISSING = {"na", "n/a", "<na>", "#n/a", "nan", "null"}


def odd_labels(true_labels: Iterable[Hashable], pred_labels: Iterable[Hashable]) -> str | None:
    """Describe labels that are probably mistakes, in one line; None if there are none.

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
    """
    true, pred = dict.fromkeys(true_labels), dict.fromkeys(pred_labels)
    every = list(dict.fromkeys([*true, *pred]))
    alike: dict[str, list[Hashable]] = {}
    for label in every:
        alike.setdefault(_folded(label), []).append(label)
    groups = [labels for labels in alike.values() if len(labels) > 1]
    said = {label for labels in groups for label in labels}
    facts = [f"the labels {' and '.join(map(quoted, labels))} are different classes" for labels in groups[:MOST_NAMED]]
    if len(groups) > MOST_NAMED:
        facts.append(f"and {len(groups) - MOST_NAMED} more such")
    for where, here, there in (("the true labels", true, pred), ("the predicted labels", pred, true)):
        alone = [label for label in here if label not in there and label not in said]
        if alone:
            facts.append(f"only among {where}: {_listed(alone)}")
    rest = [label for label in every if label not in said and not _is_missing(label)]
    numbers = [label for label in rest if _is_number(label)]
    if 0 < len(numbers) < len(rest):
        others = [label for label in rest if not _is_number(label)]
        facts.append(f"some labels are numbers ({_listed(numbers)}) and some are not ({_listed(others)})")
    missing = [label for label in every if _is_missing(label)]
    if missing:
        facts.append(f"{_listed(missing)} is a class and not a missing value")
    return "; ".join(facts) or None


def _listed(labels: Sequence[Hashable]) -> str:
    more = f" and {len(labels) - MOST_NAMED} more" if len(labels) > MOST_NAMED else ""
    return ", ".join(map(repr, labels[:MOST_NAMED])) + more


def _is_missing(label: Hashable) -> bool:
    return isinstance(label, str) and label.strip().casefold() in MISSING


def _is_number(label: Hashable) -> bool:
    try:
        return not isinstance(label, bool) and math.isfinite(float(_folded(label)))
    except ValueError:
        return False


def _folded(label: Hashable) -> str:
    """One text for all labels that a reader would take for the same."""
    text = " ".join(str(label).split()).casefold()
    try:
        number = math.nan if "_" in text else float(text)
    except ValueError:
        return text
    return repr(number) if math.isfinite(number) else text
