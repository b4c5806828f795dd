"""Lines on stderr, and how a run ends before it is done: by Ctrl-C, or by SIGTERM."""

from __future__ import annotations

import contextlib
import os
import signal
import sys
import threading
import time
from typing import TYPE_CHECKING, Any, NoReturn

from matrics._files import READER

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Iterator

    from matrics._tables.vocabularies import TwoNames

# Exit codes of a shell for programs that a signal has ended: 128 and the number of the signal.
INTERRUPTED = 130
BROKEN_PIPE = 141
TERMINATED = 143

# Seconds after a signal: the main thread may take the former to end by itself, and the work of another thread that is
# left then, such as to remove a file, may take the latter. Together with the end of the process this is one second.
GRACE = 0.4
CLEANING = 0.3

LONGEST_LINE = 2000
ADVICE = "pass both names of the positive class, such as positive=yes=pos; or rename the labels of one column"


class Stopped(BaseException):
    """Raised to end the run at once, with an exit code and at most one line of text."""

    def __init__(self, code: int, message: str = "") -> None:
        super().__init__(message)
        self.code = code


def say(message: str) -> None:
    """Print one line on stderr, without what would move the cursor of a terminal."""
    if len(message) > LONGEST_LINE:  # a path or a text of a file may be of any length
        message = f"{message[:LONGEST_LINE]}…"
    line = "".join(letter if letter.isprintable() else "?" for letter in " ".join(message.split()))
    with contextlib.suppress(OSError):  # standard error is closed
        print(f"matrics: {line}", file=sys.stderr, flush=True)  # noqa: T201


def warn_of_odd_labels(file: str, true: Iterable[str], pred: Iterable[str]) -> None:
    """Print a warning of one line about labels that are probably mistakes."""
    from matrics._tables.vocabularies import A_CLASS, odd_labels  # here, as most lines need none of it

    odd = odd_labels(true, pred)
    if odd is not None:
        hint = ", unless the option na names it" if odd.endswith(A_CLASS) else ""
        say(f"warning: {file}: {odd}{hint}")


def refuse_disjoint(file: str, true: Iterable[Any], pred: Iterable[Any], names: tuple[str, ...]) -> None:
    """Raise where the columns of these names have no label in common."""
    from matrics._files.rows import named
    from matrics._tables.vocabularies import refuse_disjoint as refuse

    with named(file):
        refuse(true, pred, ADVICE, names)


def two_names(true: Iterable[Any], pred: Iterable[Any], positive: str | None) -> TwoNames | None:
    """The two classes where ``positive`` has the names of a true and a predicted label."""
    from matrics._tables.vocabularies import two_names as found

    return found(true, pred, positive)


class _Signals:
    """What is known of signals in this process."""

    received = False
    owns_process = False  # whether the process is the command's, and may be ended by another thread
    cleaners: tuple[Callable[[], None], ...] = ()  # what is left to do if the main thread does not end


def own_process() -> None:
    """Say that the process is the command's own: a thread may end it if the main thread does not."""
    _Signals.owns_process = True


@contextlib.contextmanager
def signals_stop() -> Iterator[None]:
    """Make SIGTERM raise Stopped and Ctrl-C KeyboardInterrupt in the main thread, so that files are removed.

    A main thread that waits for a thread, a disk or a long computation does not see the exception. In the process of
    the command another thread then ends the process. Afterwards Ctrl-C ends the process without a traceback; there is
    nothing left to remove.
    """

    def stop(*_: Any) -> None:
        _Signals.received = True
        raise Stopped(TERMINATED)

    def interrupt(*_: Any) -> None:
        _Signals.received = True
        raise KeyboardInterrupt

    if threading.current_thread() is not threading.main_thread():  # not in the main thread
        yield
        return
    before = signal.signal(signal.SIGTERM, stop)
    is_own = signal.getsignal(signal.SIGINT) is signal.SIG_DFL
    if is_own:
        signal.signal(signal.SIGINT, interrupt)
    try:
        with _watched() if _Signals.owns_process and sys.platform != "win32" else contextlib.nullcontext():
            yield
    finally:
        signal.signal(signal.SIGTERM, before)
        if is_own:
            signal.signal(signal.SIGINT, signal.SIG_DFL)


@contextlib.contextmanager
def _watched() -> Iterator[None]:
    """Have a thread end the process after a signal; without one, the thread ends with the context."""
    incoming, outgoing = os.pipe()
    os.set_blocking(outgoing, False)
    signal.set_wakeup_fd(outgoing, warn_on_full_buffer=False)  # Python writes the number of each signal to it
    watch = threading.Thread(target=_watch, args=(incoming,), daemon=True)
    watch.start()
    try:
        yield
    finally:
        signal.set_wakeup_fd(-1)
        os.close(outgoing)
        if not _Signals.received:
            watch.join()


def _watch(incoming: int) -> None:
    codes = {signal.SIGTERM: TERMINATED, signal.SIGINT: INTERRUPTED}
    while number := os.read(incoming, 1):
        if number[0] in codes:
            time.sleep(GRACE)
            cleaning = threading.Thread(target=_clean, daemon=True)  # it may wait for a disk, or for a full pipe
            cleaning.start()
            cleaning.join(CLEANING)
            os._exit(codes[signal.Signals(number[0])])
    os.close(incoming)


def _clean() -> None:
    for clean in reversed(_Signals.cleaners):
        with contextlib.suppress(Exception):
            clean()


@contextlib.contextmanager
def cleaned_by(clean: Callable[[], None]) -> Iterator[None]:
    """Call a function if a signal ends the process within this context.

    The main thread does this itself as soon as it has left the context.
    """
    before = _Signals.cleaners
    _Signals.cleaners = (*before, clean)
    try:
        yield
    finally:
        _Signals.cleaners = before


def leave(code: int) -> NoReturn:
    """End the process with this code, also where a thread would wait for a pipe or a disk, or for its reader."""
    if _Signals.owns_process and (_Signals.received or any(thread.name == READER for thread in threading.enumerate())):
        # Python would write to standard output, which may be a full pipe, and end below the library that a thread has
        # called.
        os._exit(code)
    sys.exit(code)
