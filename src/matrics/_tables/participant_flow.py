"""participant_flow(): the numbers of participants of a diagnostic study by their results, as in the STARD diagram."""

from __future__ import annotations

from collections import Counter
from dataclasses import dataclass
from typing import Any

from matrics._arrays.inputs import is_missing
from matrics._counting.codes import labels_on_host
from matrics._engine.results import Result
from matrics.typing import ArrayLike

__all__ = ["ParticipantFlow", "participant_flow"]


@dataclass(frozen=True, eq=False, repr=False)
class ParticipantFlow(Result):
    """The participants of a diagnostic study, as from :func:`matrics.stats.participant_flow`.

    ``print`` writes the flow.

    Parameters
    ----------
    participants : int
        The number of rows.
    without_test : dict of str to int
        The numbers of participants without a test result, by the reference standard; the key ``""`` counts participants
        without a reference standard.
    by_result : dict of str to dict of str to int
        For each test result, the numbers of participants by the reference standard; the key ``""`` as above.
    """

    participants: int
    without_test: dict[str, int]
    by_result: dict[str, dict[str, int]]

    @property
    def counted(self) -> int:
        """The number of participants with a test result and a reference standard, which a diagnostic table counts."""
        return sum(number for of in self.by_result.values() for label, number in of.items() if label)

    @property
    def without_reference(self) -> int:
        """The number of participants without a reference standard, with or without a test result."""
        return sum(of.get("", 0) for of in (self.without_test, *self.by_result.values()))

    def __str__(self) -> str:
        lines = [f"{self.participants:,} participants"]
        lines.append(f"  without test result: {sum(self.without_test.values()):,}{_listed(self.without_test)}")
        for result, of in self.by_result.items():
            lines.append(f"  test result {result}: {sum(of.values()):,}")
            lines.append(f"    without reference standard: {of.get('', 0):,}")
            lines += [f"    reference standard {label}: {number:,}" for label, number in of.items() if label]
        return "\n".join([*lines, f"  counted, with both: {self.counted:,}"])

    __repr__ = __str__


def participant_flow(y_true: ArrayLike, y_pred: ArrayLike) -> ParticipantFlow:
    """The numbers of participants by the results of a test and of the reference standard, and of those without either.

    Parameters
    ----------
    y_true : array_like, shape (N,)
        True and predicted labels of any kind: the reference standard of each participant; None, NaN or empty text
        where there is none.
    y_pred : array_like, shape (N,)
        True and predicted labels of any kind: the result of the test, or None, NaN or empty text.

    Returns
    -------
    ParticipantFlow
        The numbers; ``print`` writes the flow, and ``to_dict()`` returns a dict.

    Raises
    ------
    ValueError
        The arrays have different shapes, or several axes.

    References
    ----------
    Bossuyt and others 2015, "STARD 2015: an updated list of essential items for reporting diagnostic accuracy studies",
    item 19.

    Examples
    --------
    >>> import matrics
    >>> reference = ["ill"] * 4 + ["healthy"] * 5 + [None] * 2
    >>> test = ["+", "+", "+", "-", "-", "-", "-", "-", None, "+", None]
    >>> print(matrics.stats.participant_flow(reference, test))
    11 participants
      without test result: 2 (healthy 1, without reference standard 1)
      test result +: 4
        without reference standard: 1
        reference standard ill: 3
      test result -: 5
        without reference standard: 0
        reference standard healthy: 4
        reference standard ill: 1
      counted, with both: 8
    """
    sides = []
    for name, given in (("y_true", y_true), ("y_pred", y_pred)):
        values, _ = labels_on_host(given, name)
        if values is None or values.ndim != 1:
            got = "values that cannot be inspected" if values is None else f"shape {values.shape}"
            raise ValueError(f"{name}: expected a label, or None, for each participant, shape (N,), got {got}")
        sides.append([_text(label) for label in values.tolist()])
    true, pred = sides
    if len(true) != len(pred):
        raise ValueError(f"y_true, y_pred: expected the same number of labels, got {len(true):,} and {len(pred):,}")
    counts = Counter(zip(pred, true, strict=True))

    def of(result: str) -> dict[str, int]:
        return {label: counts[result, label] for label in sorted(set(true)) if counts[result, label]}

    return ParticipantFlow(len(true), of(""), {result: of(result) for result in sorted(set(pred)) if result})


def _text(label: Any) -> str:
    """A label as text; empty where it is missing."""
    if is_missing(label):
        return ""
    return str(int(label)) if isinstance(label, float) and label.is_integer() else str(label)


def _listed(numbers: dict[str, int]) -> str:
    parts = [f"{label} {number:,}" for label, number in numbers.items() if label]
    parts += [f"without reference standard {numbers['']:,}"] if numbers.get("") else []
    return f" ({', '.join(parts)})" if parts else ""
