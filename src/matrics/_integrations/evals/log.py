"""What every evaluation log says, whichever tool wrote it: one graded answer a row."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

from matrics._files.plain_values import of_one_type
from matrics._quoting import quoted

#: The columns of a log, in this order; those of the metadata of samples follow.
COLUMNS = ("sample", "epoch", "task", "model", "scorer", "target", "prediction", "score")


@dataclass(frozen=True)
class Graded:
    """One answer of a model, graded by one scorer."""

    sample: Any  # its id: text or an integer
    epoch: int  # from 1
    task: str
    model: str
    scorer: str
    target: Any  # text, or None
    prediction: Any  # text, or None
    score: float
    more: Mapping[str, Any] = field(default_factory=dict)  # plain values that describe the sample, by column


@dataclass(frozen=True)
class Log:
    """The graded answers of a file, and those without a grade."""

    file: str
    tool: str  # and its version, as far as the file says
    rows: tuple[Graded, ...]
    left_out: tuple[str, ...] = ()  # answers without a grade, each with its reason


def columns_of_rows(rows: Sequence[Graded]) -> dict[str, list[Any]]:
    """The columns by name; a value that a row does not have is None."""
    found = {name: [getattr(row, name) for row in rows] for name in COLUMNS}
    found["sample"] = ids(found["sample"])
    for name in dict.fromkeys(name for row in rows for name in row.more):
        found[name] = of_one_type([row.more.get(name) for row in rows])
    return found


def checked(log: Log) -> Log:
    """The log; raise if it has no graded answers, or grades one answer twice."""
    if not log.rows:
        why = f": {log.left_out[0]}" if log.left_out else ""
        raise ValueError(f"expected graded answers, got a log of {log.tool} without any{why}")
    seen: set[tuple[Any, ...]] = set()
    for row in log.rows:
        key = (row.task, row.model, row.scorer, str(row.sample), row.epoch)
        if key in seen:
            raise ValueError(
                f"expected one answer of {row.model} for sample {row.sample} in epoch {row.epoch}, got several "
                f"(scorer {row.scorer})"
            )
        seen.add(key)
    return log


def ids(values: list[Any]) -> list[Any]:
    """The names of samples: integers if all are, else text."""
    return values if all(type(value) is int for value in values) else [str(value) for value in values]


def plain(values: Mapping[str, Any], prefix: str = "") -> dict[str, Any]:
    """Those values of a mapping that fit in a cell, by the name of their column."""
    return {f"{prefix}{key}": value for key, value in values.items() if isinstance(value, (str, int, float, bool))}


def number(value: Any) -> float | None:
    """A grade as a number: numbers, booleans, and text that says one of them; None for anything else."""
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
    """The number of an epoch; raise for anything that is no integer of 64 bits."""
    if type(value) is not int or not -(2**63) <= value < 2**63:
        raise ValueError(f"expected an integer as epoch, got {quoted(value)}")
    return value


def text(value: Any) -> str | None:
    """A target or an answer as text; None stays None, and so does what is no single value."""
    if isinstance(value, bool):
        return str(value).lower()
    if isinstance(value, list) and len(value) == 1:
        return text(value[0])
    return str(value) if isinstance(value, (str, int, float)) else None


def member(of: Any, *names: str, where: str = "") -> Any:
    """A value inside of nested objects of JSON; raise if it is not there."""
    found = of
    for name in names:
        if not isinstance(found, Mapping) or name not in found:
            raise ValueError(f"expected {quoted('.'.join(names))}{where}, got none")
        found = found[name]
    return found
