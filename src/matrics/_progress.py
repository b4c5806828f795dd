"""The share of a computation that is done: long loops count their steps, and the command line shows the share."""

from __future__ import annotations

import contextlib
import threading
from collections.abc import Iterator, Sequence
from typing import TypeVar

__all__ = ["CountedLoop", "counted_loop", "share_done", "steps"]

Item = TypeVar("Item")


class CountedLoop:
    """A loop with a known number of steps, whose steps threads count."""

    def __init__(self, total: int) -> None:
        self.total, self.done = total, 0
        self._lock = threading.Lock()

    def advance(self) -> None:
        """Count a step."""
        with self._lock:
            self.done += 1


# The loops that the main thread is in, the outermost first. Loops of other threads run at the same time, in any order.
_loops: list[CountedLoop] = []


@contextlib.contextmanager
def counted_loop(total: int) -> Iterator[CountedLoop]:
    """Count the steps of a loop while the context is open."""
    loop = CountedLoop(total)
    is_counted = total > 0 and threading.current_thread() is threading.main_thread()
    if is_counted:
        _loops.append(loop)
    try:
        yield loop
    finally:
        if is_counted:
            _loops.remove(loop)


def steps(items: Sequence[Item]) -> Iterator[Item]:
    """Yield the items of a loop, and count them.

    >>> [(item, share_done()) for item in steps("ab")], share_done()
    ([('a', 0.0), ('b', 0.5)], None)
    """
    with counted_loop(len(items)) as loop:
        for item in items:
            yield item
            loop.advance()


def share_done() -> float | None:
    """The share of the outermost loop that is done, with the shares of the loops within its step; None without a loop.

    >>> [share_done() for _ in steps("ab") for _ in steps("cd")]
    [0.0, 0.25, 0.5, 0.75]
    """
    loops = _loops.copy()
    if not loops:
        return None
    share = 0.0
    for loop in reversed(loops):
        share = min((loop.done + share) / loop.total, 1.0)
    return share
