"""Calls in threads, their results in order."""

from __future__ import annotations

import os
import sys
from collections import deque
from typing import TYPE_CHECKING, TypeVar

if TYPE_CHECKING:
    from collections.abc import Callable, Generator, Iterable
    from concurrent.futures import Future

Given = TypeVar("Given")
Made = TypeVar("Made")


def cores() -> int:
    """The number of cores that this process may use."""
    return len(os.sched_getaffinity(0)) if sys.platform == "linux" else os.cpu_count() or 1


def in_order(function: Callable[[Given], Made], given: Iterable[Given], workers: int) -> Generator[Made]:
    """What ``function`` makes of each, in order; few more than ``workers`` are under way or waiting at any time."""
    if workers == 1:
        yield from map(function, given)
        return
    from concurrent.futures import ThreadPoolExecutor

    waiting: deque[Future[Made]] = deque()
    with ThreadPoolExecutor(workers) as pool:
        try:
            for one in given:
                waiting.append(pool.submit(function, one))
                if len(waiting) > workers:
                    yield waiting.popleft().result()
            while waiting:
                yield waiting.popleft().result()
        finally:
            for future in waiting:
                future.cancel()
