"""How far a command is: a bar on a terminal while it works, and lines elsewhere if they are requested."""

from __future__ import annotations

import contextlib
import sys
import threading
import time
from typing import TYPE_CHECKING, Protocol

from matrics._files.notices import say
from matrics._progress import share_done

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

SHOW_AFTER = 1.0  # seconds; shorter runs show no bar
REFRESH = 0.2
LINE_EVERY = 10.0


class Shown(Protocol):
    """The progress of a run."""

    def words(self) -> str:
        """How far it is, in words."""

    @property
    def percent(self) -> int | None:
        """The share that is done, rounded down; None if it is not known."""


@contextlib.contextmanager
def shown(progress: Shown, *, lines: bool) -> Iterator[None]:
    """Show the progress while the context is open: a bar on a terminal; elsewhere lines, if requested."""
    on_terminal = sys.stderr.isatty()
    if not on_terminal and not lines:
        yield
        return
    watch = _Watch(_draw if on_terminal else _print, progress)
    try:
        yield
    finally:
        watch.end()


class _Watch:
    """A thread that shows a progress.

    Parameters
    ----------
    show
        The function that the thread calls; it returns after the event is set.
    progress
        The progress.
    """

    def __init__(self, show: Callable[[Shown, threading.Event], None], progress: Shown) -> None:
        self._stop = threading.Event()
        self._thread = threading.Thread(target=show, args=(progress, self._stop), daemon=True)
        self._thread.start()

    def end(self) -> None:
        """Remove the bar, or print no further lines."""
        self._stop.set()
        self._thread.join()


# Commands without a count of rows or matrices -----------------------------------------------------------------------


class _Working:
    """The progress of a command: the seconds since it began, and within loops of known length the share done."""

    @property
    def percent(self) -> int | None:
        """The share of the current loop, such as that of replicates; None outside of such loops."""
        share = share_done()
        return None if share is None else int(100 * share)

    def __init__(self, command: str) -> None:
        self._command, self._begin = command, time.monotonic()

    def words(self) -> str:
        """The command and its time."""
        return f"{self._command}: {time_text(time.monotonic() - self._begin)}"


_working: list[_Watch] = []


@contextlib.contextmanager
def working(command: str) -> Iterator[None]:
    """Show on a terminal that a command works, until it ends or ``end_working`` is called."""
    if sys.stderr.isatty():
        _working.append(_Watch(_draw, _Working(command)))
    try:
        yield
    finally:
        end_working()


def end_working() -> None:
    """Remove the bar of the command."""
    while _working:
        _working.pop().end()


def _print(progress: Shown, stop: threading.Event) -> None:
    while not stop.wait(LINE_EVERY):
        say(_line(progress))


def _line(progress: Shown) -> str:
    percent = progress.percent
    return progress.words() if percent is None else f"{percent} %: {progress.words()}"


def _draw(progress: Shown, stop: threading.Event) -> None:
    if stop.wait(SHOW_AFTER):
        return
    from rich.console import Console
    from rich.progress import BarColumn, TextColumn
    from rich.progress import Progress as Bar

    columns = BarColumn(bar_width=20), TextColumn("{task.description}")
    console, same = Console(stderr=True), sys.stdout.isatty()
    with Bar(*columns, console=console, transient=True, auto_refresh=False, redirect_stdout=same) as bar:
        task = bar.add_task("", total=None)
        while True:
            percent = progress.percent
            bar.tasks[0].total = None if percent is None else 100  # without a share to show, the bar only moves
            bar.update(task, completed=percent or 0, description=_line(progress), refresh=True)
            if stop.wait(REFRESH):
                return


def time_text(seconds: float) -> str:
    """A time in words."""
    minutes, rest = divmod(round(seconds), 60)
    hours, minutes = divmod(minutes, 60)
    return f"{hours} h {minutes} min" if hours else f"{minutes} min {rest} s" if minutes else f"{rest} s"
