"""Lines on stderr, and how a run ends before it is done: by Ctrl-C, or by SIGTERM."""

from __future__ import annotations

import contextlib
import signal
import sys
import threading
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator

    from matrics._tables.vocabularies import TwoNames

# Exit codes of a shell for programs that a signal has ended: 128 and the number of the signal.
INTERRUPTED = 130
BROKEN_PIPE = 141
TERMINATED = 143

LONGEST_LINE = 2000
ADVICE = "pass both names of the positive class, such as --positive yes=pos; or rename the labels of one column"


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
    from matrics._tables.odd_labels import A_CLASS, odd_labels  # here, as most lines need none of it

    odd = odd_labels(true, pred)
    if odd is not None:
        hint = ", unless --na names it" if odd.endswith(A_CLASS) else ""
        say(f"warning: {file}: {odd}{hint}")


def refuse_disjoint(file: str, true: Iterable[Any], pred: Iterable[Any], names: tuple[str, ...]) -> None:
    """Raise where the columns of these names have no label in common."""
    from matrics._files.rows import named
    from matrics._tables.vocabularies import refuse_disjoint as refuse

    with named(file):
        refuse(true, pred, ADVICE, names)


def two_names(true: Iterable[Any], pred: Iterable[Any], positive: str | None) -> TwoNames | None:
    """The two classes where ``--positive`` has the names of a true and a predicted label."""
    from matrics._tables.vocabularies import two_names as found

    try:
        return found(true, pred, positive)
    except ValueError as error:
        raise ValueError(f"--{error}") from error


@contextlib.contextmanager
def signals_stop() -> Iterator[None]:
    """Make SIGTERM raise Stopped and Ctrl-C KeyboardInterrupt in the main thread, so that results are saved.

    Afterwards Ctrl-C ends the process without a traceback; there is nothing left to save.
    """

    def stop(*_: Any) -> None:
        raise Stopped(TERMINATED)

    if threading.current_thread() is not threading.main_thread():  # not in the main thread
        yield
        return
    before = signal.signal(signal.SIGTERM, stop)
    is_own = signal.getsignal(signal.SIGINT) is signal.SIG_DFL
    if is_own:
        signal.signal(signal.SIGINT, signal.default_int_handler)
    try:
        yield
    finally:
        signal.signal(signal.SIGTERM, before)
        if is_own:
            signal.signal(signal.SIGINT, signal.SIG_DFL)
