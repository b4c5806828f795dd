"""The changes since an older page: each page contains its values as JSON for later reports."""

from __future__ import annotations

import contextlib
import json
import math
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from matrics._errors import ArgumentError
from matrics._quoting import quoted
from matrics._reporting.data import Data
from matrics._reporting.findings import Findings
from matrics._wording import counted, listed, number, short

__all__ = ["Change", "Changes", "changes_since", "stored_values"]

ELEMENT = "matrics-values"
# The largest page and the longest values that are read, far above those of ten thousand models by all measures.
MOST_BYTES, MOST_VALUES = 2**28, 2**26
TEXTS = ("data", "date", "sha256", "first")


@dataclass(frozen=True)
class Change:
    """A model that is in both reports: the old and the new value of each common measure."""

    model: str
    values: list[tuple[float, float]]

    @property
    def is_different(self) -> bool:
        """Whether a value differs."""
        return any(_differ(*pair) for pair in self.values)


@dataclass(frozen=True)
class Changes:
    """The differences to an older report.

    Parameters
    ----------
    since : str
        The name of the older page, and the date of its data.
    measures : list of str
        The measures of both reports.
    models : list of Change
        The models of both reports, in the order of the new leaderboard.
    sentences : list of str
        The most important changes.
    """

    since: str
    measures: list[str]
    models: list[Change]
    sentences: list[str]


def stored_values(data: Data, findings: Findings) -> str:
    """The values of all models as JSON, for comparisons by later reports."""
    board = findings.leaderboard
    return json.dumps(
        {
            "data": data.origin.name,
            "date": data.origin.date,
            "sha256": data.origin.checksum,
            "first": board.verdict.label,
            "order": [data.models[k] for k in board.order],
            "measures": [verdict.label for verdict in board.verdicts.values()],
            "values": [
                [_plain(float(verdict.estimate[k])) for verdict in board.verdicts.values()] for k in board.order
            ],
        },
        ensure_ascii=False,
        separators=(",", ":"),
    )


def changes_since(path: str | Path, data: Data, findings: Findings) -> Changes:
    """The differences between a report on these data and an older page.

    Raises
    ------
    ValueError
        The file is not a page of ``matrics report`` with its values.
    """
    path = Path(path)
    old = _read(path)
    board = findings.leaderboard
    before = dict(zip(old["order"], old["values"], strict=True))
    names = {verdict.label: verdict for verdict in board.verdicts.values()}
    shared = [label for label in old["measures"] if label in names]
    places = [old["measures"].index(label) for label in shared]
    models = [
        Change(
            short(data.models[k]),
            [
                (_number(before[data.models[k]][place]), float(names[label].estimate[k]))
                for label, place in zip(shared, places, strict=True)
            ],
        )
        for k in board.order
        if data.models[k] in before
    ]
    since = f"{short(path.name)}{', data of ' + short(old['date'].partition(' ')[0]) if old['date'] else ''}"
    return Changes(
        since,
        [names[label].title for label in shared],
        models,
        _sentences(old, data, findings, [names[label].title for label in shared], models),
    )


def _sentences(old: Any, data: Data, findings: Findings, measures: list[str], models: list[Change]) -> list[str]:
    sentences = []
    if old["sha256"] == data.origin.checksum:
        sentences.append("The data are identical, byte by byte.")
    board = findings.leaderboard
    best = data.models[board.order[0]]
    is_ranked = board.verdict.best is not None and board.verdict.label == old["first"] and old["order"]
    if is_ranked and old["order"][0] != best:
        sentences.append(f"{short(best)} is the best model now; before, it was {short(old['order'][0])}.")
    for what, names in (
        ("New models", [name for name in data.models if name not in old["order"]]),
        ("Models that are no longer included", [name for name in old["order"] if name not in data.models]),
    ):
        if names:
            sentences.append(f"{what}: {listed(names)}.")
    if not measures:
        sentences.append("The two reports have no measure in common.")
    elif models and not any(change.is_different for change in models):
        sentences.append("No value has changed for the models of both reports.")
    elif models:
        changed = [change for change in models if change.is_different]
        pairs = [
            (_size(pair), measure, change.model, pair)
            for change in changed
            for measure, pair in zip(measures, change.values, strict=True)
        ]
        _, measure, model, (before, now) = max(pairs, key=lambda pair: pair[0])
        sentences.append(
            f"Values of {counted(len(changed), 'model')} have changed, of the {len(models):,} in both reports. The "
            f"largest change is in {measure} of {model}, from {number(before)} to {number(now)}."
        )
    return sentences


def _read(path: Path) -> dict[str, Any]:
    size = path.stat().st_size
    if size > MOST_BYTES:
        raise ArgumentError(
            "compare", f"expected a page of at most {MOST_BYTES:,} bytes, got {size:,} bytes: {quoted(str(path))}"
        )
    text = path.read_text("utf-8", errors="replace")
    # Plain search: a regular expression takes quadratic time if the end of the element is missing.
    stored, end, _ = text.partition(f'<script type="application/json" id="{ELEMENT}">')[2].partition("</script>")
    values: Any = None
    if len(stored) > MOST_VALUES:
        raise ArgumentError(
            "compare",
            f"expected a page whose values have at most {MOST_VALUES:,} characters, got {len(stored):,} in "
            f"{quoted(str(path))}",
        )
    if end:
        with contextlib.suppress(ValueError, RecursionError):
            values = json.loads(stored)
    if not _is_complete(values):
        raise ArgumentError(
            "compare", f"expected a page written by matrics report, with its values, got {quoted(str(path))}"
        )
    return dict(values)


def _is_complete(values: Any) -> bool:
    """Whether these are values as ``stored_values`` writes them."""
    if not isinstance(values, dict) or not all(isinstance(values.get(name), str) for name in TEXTS):
        return False
    for name in ("order", "measures"):
        texts = values.get(name)
        if (
            not isinstance(texts, list)
            or not all(isinstance(text, str) for text in texts)
            or len(set(texts)) < len(texts)
        ):
            return False
    rows = values.get("values")
    if not isinstance(rows, list) or len(rows) != len(values["order"]):
        return False
    return all(
        isinstance(row, list) and len(row) == len(values["measures"]) and all(map(_is_value, row)) for row in rows
    )


def _is_value(value: Any) -> bool:
    if isinstance(value, int) and not isinstance(value, bool):
        return abs(value) < 2**1000  # larger integers cannot be converted to floats
    return value is None or isinstance(value, float) or value in ("inf", "-inf")


def _plain(value: float) -> float | str | None:
    """A value that JSON can represent, as JSON has neither NaN nor infinities."""
    return None if math.isnan(value) else value if math.isfinite(value) else str(value)


def _number(value: float | str | None) -> float:
    return math.nan if value is None else float(value)


def _size(pair: tuple[float, float]) -> float:
    """The absolute difference of two values; infinite if a single value is undefined."""
    if pair[0] == pair[1] or (math.isnan(pair[0]) and math.isnan(pair[1])):
        return 0.0
    return math.inf if math.isnan(pair[0]) or math.isnan(pair[1]) else abs(pair[1] - pair[0])


def _differ(before: float, now: float) -> bool:
    """Whether the two values differ as they are printed."""
    return number(before) != number(now)
