"""Where the time of a call goes: run.py prints these shares. Functions of the library are clocked from outside.

The time of a function is that between its call and its return, without that of other clocked functions in it. A margin
is computed where the first formula needs it, and is then no part of that formula. The clocks add some 5% at n = 3 and
3% at n = 10.
"""

from __future__ import annotations

import time
from collections import defaultdict
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from functools import wraps
from unittest.mock import patch

import numpy as np

import matrics
from matrics._arrays import NUMPY
from matrics._counting import count
from matrics._engine.evaluation import evaluate
from matrics._engine.execution import blocks
from matrics._engine.execution.host import HostTable
from matrics._engine.execution.scratch import Scratch
from matrics._engine.margins import margin

# Owners and names of what is clocked, by the part that its time belongs to.
OF_SCORE = {
    "checks": [(blocks, "_checked_table"), (Scratch, "all_integers")],
    "copies": [(blocks, "_class_first")],
    "margins": [(margin, "__get__"), (blocks, "sweep")],  # which looks at the cells itself
    "eigenvalues": [(HostTable, "eigenvalues")],
}
CHECKS = [name for name in vars(count) if name.startswith(("check_", "refuse_"))]
OF_LABELS = {
    "checks": [(count, name) for name in (*CHECKS, "all_within", "as_arrays", "listed", "broadcast")],
    "keys": [(count, "widen"), (count.Count, "_bins"), (count.Count, "_by_group")],
    "counting": [(type(NUMPY), "count")],
}
Parts = dict[str, list[tuple[object, str]]]
SCORE_PARTS, LABEL_PARTS = ((*OF_SCORE, "formulas", "rest"), (*OF_LABELS, "rest"))


class Clock:
    """Processor time of parts; the part of the innermost clocked function has it."""

    def __init__(self) -> None:
        self.spent: dict[str, float] = defaultdict(float)
        self._part = "rest"
        self._since = time.process_time()

    def enter(self, part: str) -> str:
        """From now on time is this part's; the one whose it was."""
        now = time.process_time()
        self.spent[self._part] += now - self._since
        before, self._part, self._since = self._part, part, now
        return before

    def of(self, part: str, function: Callable) -> Callable:
        """The function, whose time is this part's."""

        @wraps(function)
        def clocked(*arguments: object, **options: object) -> object:
            before = self.enter(part)
            try:
                return function(*arguments, **options)
            finally:
                self.enter(before)

        return clocked

    @contextmanager
    def within(self, parts: Parts) -> Iterator[None]:
        """Clock what belongs to the parts."""
        patches = [
            patch.object(owner, name, self.of(part, getattr(owner, name)))
            for part, members in parts.items()
            for owner, name in members
        ]
        for one in patches:
            one.start()
        try:
            yield
        finally:
            for one in patches:
                one.stop()


def shares(call: Callable[[Clock], object], parts: Parts, runs: int) -> dict[str, float]:
    """The share of each part of the shortest run, and its seconds."""
    found = []
    for _ in range(runs):
        clock = Clock()
        with clock.within(parts):
            clock.enter("rest")
            clock.spent.clear()
            call(clock)
            clock.enter("rest")
        found.append(clock.spent)
    least = min(found, key=lambda spent: sum(spent.values()))
    total = sum(least.values())
    return {"seconds": total, **{part: taken / total for part, taken in least.items()}}


def of_score(n: int, cells: int, runs: int = 3) -> dict[str, float]:
    """Of the measures of core of a stack, in one thread."""
    stack = np.random.default_rng(n).integers(1, 100, (cells // n**2, n, n)).astype(np.float64)
    metrics = [matrics.get_metric(name) for name in matrics.list_metrics("core")]
    found = shares(lambda clock: evaluate(stack, [clock.of("formulas", m.bind()) for m in metrics]), OF_SCORE, runs)
    return {"of": f"score(cm), n = {n}", "each": found["seconds"] / len(stack), **found}


def of_labels(rows: int, items: int, classes: int, runs: int = 5) -> dict[str, float]:
    """Of ``confusion_matrix`` of labels in so many rows."""
    true, pred = np.random.default_rng(rows).integers(0, classes, (2, rows, items // rows)).squeeze()
    call = shares(lambda _: matrics.confusion_matrix(true, pred, num_classes=classes), OF_LABELS, runs)
    return {"of": f"confusion_matrix, {true.shape}", "each": call["seconds"] / items, **call}


def print_shares(rows: list[dict[str, float]], parts: tuple[str, ...], what: str) -> None:
    """One table."""
    print(f"\n{what}\n")
    print(f"{'':<32} {'ns':>10}", *(f"{part:>11}" for part in parts))
    for row in rows:
        print(f"{row['of']:<32} {row['each'] * 1e9:>10,.1f}", *(f"{row.get(part, 0):>11.0%}" for part in parts))
