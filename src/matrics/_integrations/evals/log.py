"""The content of an evaluation log of any tool: rows of graded answers."""

from __future__ import annotations

import math
from collections import Counter, defaultdict
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Any, Literal, get_args

from matrics._errors import ArgumentError
from matrics._files.plain_values import of_common_type
from matrics._quoting import quoted, quoted_list
from matrics._wording import listed

#: The columns of a log, in this order; the columns of the metadata of samples follow.
COLUMNS = ("sample", "epoch", "task", "model", "scorer", "target", "prediction", "score")

#: The treatment of answers without a score.
MissingScore = Literal["drop", "zero", "error"]
NO_ANSWER = "no answer"


@dataclass(frozen=True)
class Graded:
    """An answer of a model, graded by a scorer."""

    sample: Any  # the id: text or an integer
    epoch: int  # from 1
    task: str
    model: str
    scorer: str
    target: Any  # text, or None
    prediction: Any  # text, or None
    score: float  # NaN without a score
    more: Mapping[str, Any] = field(default_factory=dict)  # by column, plain values that describe the sample
    reason: str = ""  # the reason for a missing score

    @property
    def has_score(self) -> bool:
        """Whether the scorer gave a score."""
        return not math.isnan(self.score)

    @property
    def place(self) -> str:
        """The sample and the epoch, for messages."""
        return f"sample {self.sample}, epoch {self.epoch}"


@dataclass(frozen=True)
class Log:
    """The answers in a file; an answer that failed before it was scored has the scorer ``""``."""

    file: str
    tool: str  # with its version, if the file has it
    rows: tuple[Graded, ...]
    no_numbers: tuple[str, ...] = ()  # descriptions of scores that are not numbers, such as lists
    unscored: tuple[Graded, ...] = ()  # of a log of ``scored``: the answers that have no score in the file
    missing_score: MissingScore = "drop"  # of a log of ``scored``: the treatment of these answers


def columns_of_rows(rows: Sequence[Graded]) -> dict[str, list[Any]]:
    """The columns by name; None where a row has no value."""
    columns = {name: [getattr(row, name) for row in rows] for name in COLUMNS}
    columns["sample"] = ids(columns["sample"])
    for name in dict.fromkeys(name for row in rows for name in row.more):
        columns[name] = of_common_type([row.more.get(name) for row in rows])
    return columns


def scored(log: Log, missing_score: MissingScore = "drop", scorer: str | None = None) -> Log:
    """The log with scored answers only.

    Parameters
    ----------
    log : Log
        As read from a file.
    missing_score : {"drop", "zero", "error"}
        Whether answers without a score are left out, have the score 0, or are an error.
    scorer : str, optional
        The scorer whose scores are kept; None keeps all.

    Raises
    ------
    ValueError
        No answer has a score, or an answer has several by the same scorer.
    ArgumentError
        The log has no such scorer, or a score is missing and ``missing_score`` is ``"error"``.
    """
    check_missing_score(missing_score)
    rows = _with_scorers(log.rows)
    _check_single(rows)
    scorers = tuple(dict.fromkeys(row.scorer for row in rows))
    if scorer is not None:
        if scorer not in scorers:
            raise ArgumentError("scorer", f"expected one of {quoted_list(scorers, 20)}, got {quoted(scorer)}")
        rows = [row for row in rows if row.scorer == scorer]
    unscored = tuple(row for row in rows if not row.has_score)
    if unscored and missing_score == "error":
        first = unscored[0]
        raise ArgumentError(
            "missing_score",
            f"expected 'drop' or 'zero', as {len(unscored):,} of {len(rows):,} answers have no score, got 'error'; the "
            f"first: {first.place}: {first.reason}",
        )
    if missing_score == "zero":
        kept = [row if row.has_score else _as_zero(row) for row in rows if row.scorer]
    else:
        kept = [row for row in rows if row.has_score]
    if not kept:
        reasons = [*(f"{row.place}: {row.reason}" for row in unscored), *log.no_numbers]
        reason = f": {reasons[0]}" if reasons else ""
        raise ValueError(f"expected answers with scores, got a log of {log.tool} without scores{reason}")
    return replace(log, rows=tuple(kept), unscored=unscored, missing_score=missing_score)


def check_missing_score(value: Any) -> None:
    """Raise unless it is 'drop', 'zero' or 'error'."""
    if not isinstance(value, str) or value not in get_args(MissingScore):
        words = ", ".join(map(repr, get_args(MissingScore)))
        raise ArgumentError("missing_score", f"expected one of {words}, got {quoted(value)}")


def _with_scorers(rows: Sequence[Graded]) -> list[Graded]:
    """The rows, with a row for each scorer of the task and model for answers that failed before they were graded."""
    of_run: dict[tuple[str, str], dict[str, None]] = defaultdict(dict)
    for row in rows:
        if row.scorer:
            of_run[row.task, row.model][row.scorer] = None
    all_scorers = dict.fromkeys(scorer for scorers in of_run.values() for scorer in scorers)
    result: list[Graded] = []
    for row in rows:
        scorers = [row.scorer] if row.scorer else list(of_run.get((row.task, row.model)) or all_scorers) or [""]
        result += [replace(row, scorer=scorer) for scorer in scorers]
    return result


def _check_single(rows: Sequence[Graded]) -> None:
    keys: set[tuple[Any, ...]] = set()
    for row in rows:
        key = (row.task, row.model, row.scorer, str(row.sample), row.epoch)
        if key in keys:
            raise ValueError(
                f"expected one answer of {row.model} for sample {row.sample} in epoch {row.epoch}, got several "
                f"(scorer {row.scorer})"
            )
        keys.add(key)


def _as_zero(row: Graded) -> Graded:
    """The row of a failed answer with the score 0; if there is a target, the prediction is a separate class."""
    prediction = NO_ANSWER if row.prediction is None and row.target is not None else row.prediction
    return replace(row, score=0.0, prediction=prediction)


def no_scores(names: Sequence[str]) -> str:
    """The message that no answer of these models has a score."""
    return f"{listed(names)} {'has' if len(names) == 1 else 'have'} no answer with a score"


def unscored_in_words(logs: Sequence[Log]) -> str:
    """The message about answers without a score and their treatment; empty if all answers have a score."""
    rows = [row for log in logs for row in log.unscored]
    others = [text for log in logs for text in log.no_numbers]
    parts = []
    if rows:
        by_model = Counter(row.model for row in rows)
        models = ", ".join(f"{count:,} of {model}" for model, count in by_model.items())
        verb, zero = ("scored", " as 0") if logs[0].missing_score == "zero" else ("left out", "")
        number = f"{len(rows):,} answer{'' if len(rows) == 1 else 's'}"
        parts.append(f"{verb} {number} without a score{zero} ({models}), the first: {rows[0].place}: {rows[0].reason}")
        have_scores = {row.model for log in logs for row in log.rows}
        without = [model for model in by_model if model not in have_scores]
        if without:
            parts.append(no_scores(without))
    if others:
        parts.append(f"left out {len(others):,} whose score is no number, the first: {others[0]}")
    return "; ".join(parts)


def ids(values: list[Any]) -> list[Any]:
    """The names of samples: integers if all names are integers, otherwise text."""
    return values if all(type(value) is int for value in values) else [str(value) for value in values]


def plain(values: Mapping[str, Any], prefix: str = "") -> dict[str, Any]:
    """The plain values of a mapping, by the name of their column."""
    return {f"{prefix}{key}": value for key, value in values.items() if isinstance(value, (str, int, float, bool))}


def is_missing(value: Any) -> bool:
    """Whether a score is missing: None, NaN, or an empty text."""
    return (
        value is None
        or (isinstance(value, float) and math.isnan(value))
        or (isinstance(value, str) and value.strip().lower() in {"", "nan", "null", "none"})
    )


def number(value: Any) -> float | None:
    """A number, a boolean, or the text of such a value as a number; None for anything else."""
    if isinstance(value, str):
        word = value.strip().lower()
        if word in ("true", "yes"):
            return 1.0
        if word in ("false", "no"):
            return 0.0
        try:
            value = float(word)
        except ValueError:
            return None
    if not isinstance(value, (int, float)):
        return None
    try:
        grade = float(value)
    except OverflowError:
        raise ValueError(f"expected a grade within the range of float64, got {quoted(value)}") from None
    return grade if math.isfinite(grade) else None


def epoch_of(value: Any) -> int:
    """The number of an epoch; raise unless it is an integer of 64 bits."""
    if type(value) is not int or not -(2**63) <= value < 2**63:
        raise ValueError(f"expected an integer as epoch, got {quoted(value)}")
    return value


def text(value: Any) -> str | None:
    """A target or an answer as text; None for anything that is not a single value."""
    if isinstance(value, bool):
        return str(value).lower()
    if isinstance(value, list) and len(value) == 1:
        return text(value[0])
    return str(value) if isinstance(value, (str, int, float)) else None


def member(content: Any, *names: str, where: str = "") -> Any:
    """A value in nested objects of JSON; raise if it is missing."""
    value = content
    for name in names:
        if not isinstance(value, Mapping) or name not in value:
            raise ValueError(f"expected {quoted('.'.join(names))}{where}, got none")
        value = value[name]
    return value
