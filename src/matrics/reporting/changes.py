"""What changed since an older page: each page has its values as JSON, which a later report reads."""

from __future__ import annotations

import json
import math
import re
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from matrics.quoting import quoted
from matrics.reporting.data import Data
from matrics.reporting.findings import Findings
from matrics.reporting.wording import capital, count, listed, number, short

__all__ = ["Change", "Changes", "changes_since", "stored_values"]

ELEMENT = "matrics-values"
NEARLY = 5e-4  # which three digits show as no change


@dataclass(frozen=True)
class Change:
    """One model in both reports: the old and the new value of each measure that both have."""

    model: str
    values: list[tuple[float, float]]

    @property
    def is_one(self) -> bool:
        """Whether any value is another."""
        return any(_differ(*pair) for pair in self.values)


@dataclass(frozen=True)
class Changes:
    """The differences to an older report.

    Parameters
    ----------
    since : str
        The name of the older page, and the date of its data.
    measures : list of str
        The measures that both have.
    models : list of Change
        The models that both have, in the order of the new leaderboard.
    sentences : list of str
        What changed, in words.
    """

    since: str
    measures: list[str]
    models: list[Change]
    sentences: list[str]


def stored_values(data: Data, found: Findings) -> str:
    """The values of all models as JSON, for the reports that come after this one."""
    board = found.leaderboard
    return json.dumps(
        {
            "data": data.origin.name,
            "date": data.origin.date,
            "sha256": data.origin.checksum,
            "order": [data.models[k] for k in board.order],
            "measures": [verdict.label for verdict in board.verdicts.values()],
            "values": [
                [_plain(float(verdict.estimate[k])) for verdict in board.verdicts.values()] for k in board.order
            ],
        },
        ensure_ascii=False,
        separators=(",", ":"),
    )


def changes_since(path: str | Path, data: Data, found: Findings) -> Changes:
    """The differences between a report on these data and the page of an older one.

    Raises
    ------
    ValueError
        The file is not a page of ``matrics report`` that has its values.
    """
    path = Path(path)
    old = _read(path)
    board = found.leaderboard
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
    since = f"{path.name}{', data of ' + old['date'].partition(' ')[0] if old['date'] else ''}"
    return Changes(
        since,
        [names[label].title for label in shared],
        models,
        _sentences(old, data, found, [names[label].title for label in shared], models),
    )


def _sentences(old: Any, data: Data, found: Findings, measures: list[str], models: list[Change]) -> list[str]:
    told = []
    if old["sha256"] == data.origin.checksum:
        told.append("The data are the same, byte by byte.")
    best = data.models[found.leaderboard.order[0]]
    if old["order"] and old["order"][0] != best:
        told.append(f"{short(best)} is best now; it was {short(old['order'][0])}.")
    for what, names in (
        ("New", [name for name in data.models if name not in old["order"]]),
        ("No longer there", [name for name in old["order"] if name not in data.models]),
    ):
        if names:
            told.append(f"{what}: {listed(names)}.")
    if not measures:
        told.append("The two reports have no measure in common.")
    elif models and not any(one.is_one for one in models):
        told.append("No value of a model that both have is different.")
    elif models:
        changed = [one for one in models if one.is_one]
        largest = max(changed, key=lambda one: _size(one.values[0]))
        before, now = largest.values[0]
        told.append(
            f"{capital(count(len(changed), 'model'))} of {len(models):,} that both have changed; {measures[0]} changed "
            f"most for {largest.model}, from {number(before)} to {number(now)}."
        )
    return told


def _read(path: Path) -> dict[str, Any]:
    text = path.read_text("utf-8", errors="replace")
    stored = re.search(rf'<script type="application/json" id="{ELEMENT}">(.*?)</script>', text, re.DOTALL)
    problem = f"compare: expected a page that matrics report has written, with its values, got {quoted(str(path))}"
    if stored is None:
        raise ValueError(problem)
    try:
        values = json.loads(stored[1])
        complete = {"data", "date", "sha256", "order", "measures", "values"} <= values.keys()
        complete = complete and len(values["order"]) == len(values["values"])
        complete = complete and all(len(row) == len(values["measures"]) for row in values["values"])
    except (ValueError, TypeError, AttributeError) as error:
        raise ValueError(problem) from error
    if not complete:
        raise ValueError(problem)
    return dict(values)


def _plain(value: float) -> float | str | None:
    """A number of JSON, which has neither NaN nor infinities."""
    return None if math.isnan(value) else value if math.isfinite(value) else str(value)


def _number(value: float | str | None) -> float:
    return math.nan if value is None else float(value)


def _size(pair: tuple[float, float]) -> float:
    return 0.0 if math.isnan(pair[0]) or math.isnan(pair[1]) or pair[0] == pair[1] else abs(pair[1] - pair[0])


def _differ(before: float, now: float) -> bool:
    return math.isnan(before) != math.isnan(now) or _size((before, now)) > NEARLY
