"""A comparison on the screen: a table for each measure, best first, with the ties for the best."""

from __future__ import annotations

from collections import Counter
from typing import TYPE_CHECKING

import numpy as np
from rich.text import Text

from matrics._catalogue.naming import title_of
from matrics._cli.interval_report import show_statuses, sign_of
from matrics._cli.printing import BEST, fold, show, text_table
from matrics._wording import limits, number, plain

if TYPE_CHECKING:
    from rich.console import Console

    from matrics._cli.compare import Compared
    from matrics._reporting.verdicts import ModelVerdict


def show_comparison(console: Console, found: Compared, heading: str) -> None:
    """Print the tables of all measures, and what to be wary of."""
    show(console, *(Text(plain(title)) for title in [*found.titles, *found.left_out]))
    show_verdicts(console, found.models, found.verdicts, heading)


def show_verdicts(console: Console, models: list[str], verdicts: list[ModelVerdict], heading: str) -> None:
    """Print a table for each measure, and what statuses mean."""
    for verdict in verdicts:
        _show(console, models, verdict, heading)
    show_statuses(console, Counter(int(one) for verdict in verdicts for one in verdict.status), signs=True)


def _show(console: Console, models: list[str], verdict: ModelVerdict, heading: str) -> None:
    chances = {"p": (verdict.p_value, 3), "P(best)": (verdict.probability_best, 2)}
    shown = {name: (values, digits) for name, (values, digits) in chances.items() if values is not None}
    table = text_table(heading, fold(title_of(verdict.label), 20), "best less this", *shown, "")
    for column in table.columns[1:-1]:
        column.justify = "right"
    order = np.argsort(-verdict.estimate if verdict.higher_is_better else verdict.estimate, stable=True)
    for row in order:
        is_best = row == verdict.best
        style = BEST if is_best else ""
        gap = limits(*(float(of[row]) for of in (verdict.difference, verdict.difference_low, verdict.difference_high)))
        word = "best" if is_best else "tied" if verdict.tied[row] else ""
        values = limits(*(float(of[row]) for of in (verdict.estimate, verdict.low, verdict.high)))
        cells = [Text(plain(models[row]), style), Text(values + sign_of(verdict.status[row]))]
        cells += [Text("" if is_best else gap)]
        cells += [
            Text("" if is_best and name == "p" else number(float(of_all[row]), digits))
            for name, (of_all, digits) in shown.items()
        ]
        table.add_row(*cells, Text(word, style))
    show(console, Text(), table, Text(_remark(models, verdict, order), "dim"))


def _remark(models: list[str], verdict: ModelVerdict, order: np.ndarray) -> str:
    if verdict.best is None:
        return "undefined for all of them"
    names = [plain(models[row]) for row in order if verdict.tied[row]]
    if len(names) > 1:
        return f"not significantly different from the best: {', '.join(names)}"
    return f"{plain(models[verdict.best])} is the best"
