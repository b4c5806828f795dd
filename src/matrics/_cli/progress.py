"""How far a command is: a bar on a terminal while it works, and lines elsewhere if they are requested."""

from __future__ import annotations

import contextlib
import functools
import sys
from typing import TYPE_CHECKING

from matrics._files.notices import say
from matrics._progress.bar import Working, draw, in_percent, watched

if TYPE_CHECKING:
    import threading
    from collections.abc import Iterator

    from matrics._progress.bar import Shown

LINE_EVERY = 10.0


@contextlib.contextmanager
def shown(progress: Shown, *, lines: bool) -> Iterator[None]:
    """Show the progress while the context is open: a bar on a terminal; elsewhere lines, if requested."""
    on_terminal = sys.stderr.isatty()
    if not on_terminal and not lines:
        yield
        return
    with watched(functools.partial(draw if on_terminal else _print, progress)):
        yield


def _print(progress: Shown, stop: threading.Event) -> None:
    while not stop.wait(LINE_EVERY):
        say(in_percent(progress))


# Commands without a count of rows or matrices -----------------------------------------------------------------------

_working = contextlib.ExitStack()  # the progress bar of the current command


@contextlib.contextmanager
def working(command: str) -> Iterator[None]:
    """Show on a terminal that a command works, until it ends or ``end_working`` is called."""
    if sys.stderr.isatty():
        _working.enter_context(watched(functools.partial(draw, Working(command))))
    try:
        yield
    finally:
        end_working()


def end_working() -> None:
    """Remove the bar of the command."""
    _working.close()
