"""A comparison on the screen: a table for each measure, best first, with the ties for the best."""

from __future__ import annotations

from collections import Counter
from typing import TYPE_CHECKING

import numpy as np
from rich.text import Text

from matrics._catalogue.naming import title_of
from matrics._cli.interval_report import show_statuses, sign_of
from matrics._cli.printing import BEST, fold, marked, show, text_table
from matrics._wording import limits, plain

if TYPE_CHECKING:
    from rich.console import Console

    from matrics._cli.compare import Compared
    from matrics._reporting.verdicts import ModelVerdict


def show_comparison(console: Console, found: Compared, heading: str) -> None:
    """Print the tables of all measures, and what to be wary of."""
    show(console, *(Text(plain(title)) for title in [*found.titles, *found.left_out]))
    for verdict in found.verdicts:
        _show(console, found.models, verdict, heading)
    show_statuses(console, Counter(int(one) for verdict in found.verdicts for one in verdict.status), signs=True)


def _show(console: Console, models: list[str], verdict: ModelVerdict, heading: str) -> None:
    chances = verdict.probability_best
    table = text_table(
        heading, fold(title_of(verdict.label), 20), "best less this", *(["P(best)"] if chances is not None else []), ""
    )
    for column in table.columns[1 : 3 if chances is None else 4]:
        column.justify = "right"
    order = np.argsort(-verdict.estimate if verdict.higher_is_better else verdict.estimate, stable=True)
    for row in order:
        is_best = row == verdict.best
        style = BEST if is_best else ""
        gap = "" if is_best else _limits(verdict.difference, verdict.difference_low, verdict.difference_high, row)
        word = "best" if is_best else "tied" if verdict.tied[row] else ""
        values = _limits(verdict.estimate, verdict.low, verdict.high, row) + sign_of(verdict.status[row])
        cells = [Text(plain(models[row]), style), Text(values), Text(gap)]
        cells += [marked(float(chances[row]), digits=2)] if chances is not None else []
        table.add_row(*cells, Text(word, style))
    show(console, Text(), table, Text(_remark(models, verdict, order), "dim"))


def _remark(models: list[str], verdict: ModelVerdict, order: np.ndarray) -> str:
    if verdict.best is None:
        return "undefined for all of them"
    names = [plain(models[row]) for row in order if verdict.tied[row]]
    if len(names) > 1:
        return f"not significantly different from the best: {', '.join(names)}"
    return f"{plain(models[verdict.best])} is the best"


def _limits(value: np.ndarray, low: np.ndarray, high: np.ndarray, row: int) -> str:
    return limits(float(value[row]), float(low[row]), float(high[row]))
