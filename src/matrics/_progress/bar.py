"""A progress bar on a terminal while a computation runs, in commands and within ``matrics.progress()``."""

from __future__ import annotations

import contextlib
import importlib.util
import sys
import threading
import time
from collections.abc import Callable, Iterator
from types import FrameType
from typing import Protocol

from matrics._extras import requires
from matrics._progress import share_done

__all__ = ["Working", "draw", "in_percent", "progress", "time_text", "watched"]

SHOW_AFTER = 1.0  # seconds; shorter runs show no bar
REFRESH = 0.2
THREAD = "progress"


class Shown(Protocol):
    """The progress of a computation."""

    def words(self) -> str:
        """The progress as text."""

    @property
    def percent(self) -> int | None:
        """The completed share in percent, rounded down; None if it is unknown."""


class Ending(Protocol):
    """The end of a computation, such as an event."""

    def wait(self, timeout: float) -> bool:
        """Wait for the end, at most ``timeout`` seconds; return whether the computation has ended."""


@contextlib.contextmanager
def watched(show: Callable[[threading.Event], None]) -> Iterator[None]:
    """Run a function in a thread while the context is open. Its argument is an event that is set at the end."""
    stop = threading.Event()
    thread = threading.Thread(target=show, args=(stop,), name=THREAD, daemon=True)
    thread.start()
    try:
        yield
    finally:
        stop.set()
        thread.join()


def draw(run: Shown, end: Ending) -> None:
    """Draw a progress bar until the end of a computation that takes more than a second."""
    if end.wait(SHOW_AFTER):
        return
    from rich.console import Console
    from rich.progress import BarColumn, TextColumn
    from rich.progress import Progress as Bar

    columns = BarColumn(bar_width=20), TextColumn("{task.description}", markup=False)
    console, same = Console(stderr=True), sys.stdout.isatty()
    with Bar(*columns, console=console, transient=True, auto_refresh=False, redirect_stdout=same) as bar:
        task = bar.add_task("", total=None)
        while True:
            percent = run.percent
            bar.tasks[0].total = None if percent is None else 100  # without a known share, the bar only moves
            bar.update(task, completed=percent or 0, description=in_percent(run), refresh=True)
            if end.wait(REFRESH):
                return


def in_percent(run: Shown) -> str:
    """The completed share in percent, if it is known, and the progress as text."""
    percent = run.percent
    return run.words() if percent is None else f"{percent} %: {run.words()}"


def time_text(seconds: float) -> str:
    """A time as text, such as ``2 min 5 s``."""
    minutes, rest = divmod(round(seconds), 60)
    hours, minutes = divmod(minutes, 60)
    return f"{hours} h {minutes} min" if hours else f"{minutes} min {rest} s" if minutes else f"{rest} s"


class Working:
    """The progress of a command or function: the completed share of the current loop, and the time since the start."""

    def __init__(self, name: str) -> None:
        self._name, self._begin = name, time.monotonic()

    @property
    def percent(self) -> int | None:
        """The completed share of the current loop, for example over replicates; None outside of such loops."""
        share = share_done()
        return None if share is None else int(100 * share)

    def words(self) -> str:
        """The name, and the time since the start."""
        return f"{self._name}: {time_text(time.monotonic() - self._begin)}"


# Functions in Python -------------------------------------------------------------------------------------------------


@contextlib.contextmanager
def progress() -> Iterator[None]:
    """A context manager that shows a progress bar for each call of matrics that takes more than a second.

    The bar appears if standard error is a terminal, and disappears when the call returns. Otherwise, as in a file or a
    notebook, nothing is printed.

    Raises
    ------
    ModuleNotFoundError
        rich, which draws the bar, is not installed; the extra ``cli`` installs it.
    RuntimeError
        The context is entered in a thread other than the main thread.

    Notes
    -----
    The bar shows the completed share of the current loop, the name of the function and the seconds since its call.
    Loops run over replicates, thresholds, groups or blocks of matrices. A function may run several loops in sequence.
    Without a loop, as in a single sort, the share is unknown and the bar only moves. Results do not depend on the bar.
    Commands show the same bar without this function.

    Examples
    --------
    >>> import matrics
    >>> with matrics.progress():
    ...     result = matrics.interval([[45, 5], [5, 45]], "mcc", method="bootstrap", rng=0)["mcc"]
    >>> print(f"{result.low:.2f} to {result.high:.2f}")
    0.68 to 0.90
    """
    with requires("matrics.progress needs", "rich", extra="cli"):
        if importlib.util.find_spec("rich") is None:
            raise ModuleNotFoundError("rich", name="rich")
    if threading.current_thread() is not threading.main_thread():
        raise RuntimeError("progress: expected the main thread, as loops are counted only there, got another thread")
    if _Calls.are_shown or not sys.stderr.isatty():
        yield
        return
    _Calls.are_shown = True
    try:
        with watched(_draw_calls):
            yield
    finally:
        _Calls.are_shown = False


class _Calls:
    """Whether a context already shows the calls of the main thread; a context within it shows no second bar."""

    are_shown = False


def _draw_calls(stop: threading.Event) -> None:
    """Draw a bar for each long call of the main thread."""
    while not stop.wait(REFRESH):
        frame = _public_frame()
        if frame is not None:
            draw(Working(_name_of(frame)), _EndOfCall(frame, stop))
            del frame  # a reference to the frame would keep the arrays of the call in memory


class _EndOfCall:
    """The end of a call, or of its ``progress()`` context."""

    def __init__(self, frame: FrameType, stop: threading.Event) -> None:
        self._frame, self._stop = frame, stop

    def wait(self, timeout: float) -> bool:
        """Wait for the end, at most ``timeout`` seconds; return whether the call or the context has ended."""
        end = time.monotonic() + timeout
        while True:
            if self._stop.wait(min(REFRESH, max(0.0, end - time.monotonic()))):
                return True
            if _public_frame() is not self._frame:
                return True
            if time.monotonic() >= end:
                return False


def _public_frame() -> FrameType | None:
    """The frame of the outermost function of matrics in the main thread; None if there is no such function."""
    frame = sys._current_frames().get(threading.main_thread().ident or 0)
    called = None
    while frame is not None:
        name = str(frame.f_globals.get("__name__"))
        if name.startswith("matrics._cli."):  # commands draw their own bar
            return None
        if name.startswith("matrics.") and not name.startswith(__name__):
            called = frame
        frame = frame.f_back
    return called


def _name_of(frame: FrameType) -> str:
    """The name of a function; if a measure is called, the name of the measure."""
    name = frame.f_code.co_qualname.partition(".<")[0]
    if name.endswith(".__call__"):
        called = frame.f_locals.get("self")
        return str(getattr(called, "name", type(called).__name__))
    return name
