"""Lines on stderr, and the end of a run by Ctrl-C or SIGTERM."""

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

# A shell reports a program that a signal has ended with the exit code 128 plus the number of the signal.
INTERRUPTED = 130
BROKEN_PIPE = 141
TERMINATED = 143

# Seconds after a signal: the main thread has GRACE to end by itself; then another thread has CLEANING to remove files.
# With the end of the process, both take less than a second.
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
    """Print a line on stderr, without characters that control a terminal."""
    if len(message) > LONGEST_LINE:  # a path or a text of a file may be of any length
        message = f"{message[:LONGEST_LINE]}…"
    line = "".join(letter if letter.isprintable() else "?" for letter in " ".join(message.split()))
    with contextlib.suppress(OSError):  # standard error is closed
        print(f"matrics: {line}", file=sys.stderr, flush=True)  # noqa: T201


def warn_of_odd_labels(file: str, true: Iterable[str], pred: Iterable[str]) -> None:
    """Print a warning about labels that are probably mistakes."""
    from matrics._tables.vocabularies import A_CLASS, odd_labels  # imported here, as few runs need it

    odd = odd_labels(true, pred)
    if odd is not None:
        hint = ", unless the option na names it" if odd.endswith(A_CLASS) else ""
        say(f"warning: {file}: {odd}{hint}")


def refuse_disjoint(file: str, true: Iterable[Any], pred: Iterable[Any], names: tuple[str, ...]) -> None:
    """Raise if the columns of these names have no label in common."""
    from matrics._files.rows import named
    from matrics._tables.vocabularies import refuse_disjoint as refuse

    with named(file):
        refuse(true, pred, ADVICE, names)


def two_names(true: Iterable[Any], pred: Iterable[Any], positive: str | None) -> TwoNames | None:
    """The two classes if ``positive`` names a true and a predicted label; None otherwise."""
    from matrics._tables.vocabularies import two_names as classes_of

    return classes_of(true, pred, positive)


class _Signals:
    """The state of the signals of this process."""

    received = False
    owns_process = False  # whether the process belongs to the command, so that another thread may end it
    cleaners: tuple[Callable[[], None], ...] = ()  # called before another thread ends the process


def own_process() -> None:
    """Declare that the process belongs to the command: a thread may end it if the main thread does not."""
    _Signals.owns_process = True


@contextlib.contextmanager
def signals_stop() -> Iterator[None]:
    """Make SIGTERM raise Stopped and Ctrl-C KeyboardInterrupt in the main thread, so that files are removed.

    While the main thread waits for a thread, a disk or a long computation, Python does not raise the exception. In the
    process of the command, another thread then ends the process. After this context, Ctrl-C ends the process without
    a traceback, as no files are left to remove.
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
    """Start a thread that ends the process after a signal; without a signal, the thread ends with the context."""
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
            cleaning = threading.Thread(target=_clean, daemon=True)  # the functions may wait for a disk or a full pipe
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

    If the main thread leaves the context, it cleans up itself.
    """
    before = _Signals.cleaners
    _Signals.cleaners = (*before, clean)
    try:
        yield
    finally:
        _Signals.cleaners = before


def leave(code: int) -> NoReturn:
    """End the process with this exit code, also if a thread still waits for a pipe or a disk."""
    if _Signals.owns_process and (_Signals.received or any(thread.name == READER for thread in threading.enumerate())):
        # sys.exit would flush standard output, which may be a full pipe, and unload libraries while a thread uses them.
        os._exit(code)
    sys.exit(code)
