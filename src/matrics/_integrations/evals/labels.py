"""True and predicted labels of graded answers: the classes themselves, or passed and failed."""

from __future__ import annotations

from collections.abc import Sequence

from matrics._integrations.evals.log import Graded

PASS, FAIL = "pass", "fail"
# More classes than this, or than one for every other sample, are no classes but answers in words.
MOST_CLASSES = 50


def are_classes(rows: Sequence[Graded]) -> bool:
    """Whether targets and predictions of one task and scorer are classes.

    They are if an answer passes exactly where both are equal, and if there are few of them.
    """
    found: set[str] = set()
    for row in rows:
        if None in (row.target, row.prediction) or row.score != (row.target == row.prediction):
            return False
        found |= {row.target, row.prediction}
    samples = len({str(row.sample) for row in rows})
    return 2 <= len(found) <= min(MOST_CLASSES, samples / 2)


def classes_of(row: Graded) -> tuple[str | None, str | None]:
    """The true and the predicted class."""
    return row.target, row.prediction


def passed_of(row: Graded) -> tuple[str | None, str | None]:
    """That an answer should pass, and whether it did; None for one that passed in part."""
    word = {1.0: PASS, 0.0: FAIL}.get(row.score)
    return None if word is None else PASS, word
