"""True and predicted labels of graded answers: the classes, or pass and fail."""

from __future__ import annotations

from collections.abc import Sequence

from matrics._integrations.evals.log import Graded

PASS, FAIL = "pass", "fail"
# With more different answers than this, or than half the number of samples, answers are free text and no classes.
MOST_CLASSES = 50


def are_classes(rows: Sequence[Graded]) -> bool:
    """Whether the targets and predictions of a task and scorer are classes.

    They are classes if an answer passes exactly where both are equal, and if there are few different texts.
    """
    classes: set[str] = set()
    for row in rows:
        if None in (row.target, row.prediction) or row.score != (row.target == row.prediction):
            return False
        classes |= {row.target, row.prediction}
    samples = len({str(row.sample) for row in rows})
    return 2 <= len(classes) <= min(MOST_CLASSES, samples / 2)


def classes_of(row: Graded) -> tuple[str | None, str | None]:
    """The true and the predicted class."""
    return row.target, row.prediction


def passed_of(row: Graded) -> tuple[str | None, str | None]:
    """The true label, pass, and the predicted label, pass or fail; both None for a score between 0 and 1."""
    word = {1.0: PASS, 0.0: FAIL}.get(row.score)
    return None if word is None else PASS, word
