"""The completed share of a computation, from the completed steps of its long loops."""

from __future__ import annotations

import contextlib
import threading
from collections.abc import Iterator, Sequence
from typing import TypeVar

__all__ = ["CountedLoop", "counted_loop", "share_done", "steps"]

Item = TypeVar("Item")


class CountedLoop:
    """A loop with a known number of steps, whose steps threads count."""

    def __init__(self, total: int, *, nested: bool = True) -> None:
        self.total, self.done, self.nested = total, 0, nested
        self.shown = 0.0  # the largest share so far, as a step may run several loops in sequence
        self._lock = threading.Lock()

    def advance(self, number: int = 1) -> None:
        """Add completed steps to the count."""
        with self._lock:
            self.done += number


# The loops that the main thread is in, the outermost first. Loops of other threads run at the same time, in any order.
_loops: list[CountedLoop] = []


@contextlib.contextmanager
def counted_loop(total: int, *, nested: bool = True) -> Iterator[CountedLoop]:
    """Count the completed steps of a loop while the context is open.

    With ``nested=False``, loops within a step are not counted, as a step runs many different loops in sequence.
    """
    loop = CountedLoop(total, nested=nested)
    is_counted = total > 0 and threading.current_thread() is threading.main_thread()
    if is_counted:
        _loops.append(loop)
    try:
        yield loop
    finally:
        if is_counted:
            _loops.remove(loop)


def steps(items: Sequence[Item], *, nested: bool = True) -> Iterator[Item]:
    """Yield the items of a loop, and count the completed steps as :func:`counted_loop` does.

    >>> [(item, share_done()) for item in steps("ab")], share_done()
    ([('a', 0.0), ('b', 0.5)], None)
    """
    with counted_loop(len(items), nested=nested) as loop:
        for item in items:
            yield item
            loop.advance()


def share_done() -> float | None:
    """The completed share of the outermost loop, including the shares of the loops within its current step.

    None without a loop of several steps.

    >>> [share_done() for _ in steps("ab") for _ in steps("cd")]
    [0.0, 0.25, 0.5, 0.75]
    """
    share: float | None = None
    for loop in reversed(_loops.copy()):
        if loop.total == 1:  # its share is that of the loop within its step
            share = share if loop.nested else None
            continue
        inner = share if share is not None and loop.nested else 0.0
        share = loop.shown = max(loop.shown, min((loop.done + inner) / loop.total, 1.0))
    return share
