"""The command line: ``matrics score``, ``interval``, ``compare``, ``curve``, ``threshold``, ``metrics`` and others."""

import contextlib
import io
import os
import re
import sys
import traceback
from importlib.metadata import version
from importlib.util import find_spec
from typing import Any, NoReturn

from matrics._errors import ArgumentError

# Arguments of the library whose options have other names.
ALIASES = {
    "rng": "seed",
    "sample_weight": "weight",
    "groups": "group",
    "requirements": "require",
    "people": "human",
    "unlabelled_scores": "budget_over",
}
# ``by=``, or with a value ``by=scorer``; not a call of Python, whose values are in quotes.
MENTION = re.compile(r"(?<![\w'\"=.-])([a-z_]+)=(?:(?=[\s,;.:)]|$)|(?=\w)([^\s,;:)]*))")

PACKAGES = ("typer", "rich", "pyarrow")


def main(*, owns_process: bool = False) -> None:
    """Run the command ``matrics``; every error is reported in a single line on stderr.

    ``owns_process`` says that the process has no other purpose, and may be ended by a thread after a signal.
    """
    for name in ("stdout", "stderr"):
        if getattr(sys, name) is None:  # the parent process has closed it, as ``>&-`` does
            setattr(sys, name, open(os.devnull, "w", encoding="utf-8"))  # noqa: PTH123, SIM115 (open to the end)
    for stream in (sys.stdout, sys.stderr):
        if isinstance(stream, io.TextIOWrapper):  # do not fail on a terminal that cannot print "–"
            stream.reconfigure(errors="replace")
    _buffer_output()
    if not all(map(find_spec, PACKAGES)):
        _end_without_packages(sys.argv[1:])
    from matrics._cli import app
    from matrics._files import notices

    if owns_process:
        notices.own_process()
    notices.leave(_end(app))


def _end_without_packages(arguments: list[str]) -> NoReturn:
    """Answer the two questions that need no more packages than the library; say for others what to install."""
    install = 'the command line needs more packages: python -m pip install "matrics[cli]"'
    if arguments == ["--version"]:
        print(f"matrics {version('matrics')}")  # noqa: T201
        sys.exit(0)
    if arguments in ([], ["--help"]):
        print(f"Usage: matrics COMMAND FILE [OPTIONS]\n\n{install}")  # noqa: T201
        sys.exit(0)
    print(install, file=sys.stderr)  # noqa: T201
    sys.exit(2)


class _StandardOutput(io.FileIO):
    """Standard output, which names itself in errors."""

    def write(self, data: Any) -> Any:
        try:
            return super().write(data)
        except OSError as error:
            raise OSError(error.errno, error.strerror, "standard output") from None


def _buffer_output() -> None:
    """Give standard output a buffer, which PYTHONUNBUFFERED takes away, and a name.

    Without a buffer, Python drops the rest of a text of which the system has written a part, as it does on a full disk.
    """
    stream = sys.stdout
    if isinstance(stream, io.TextIOWrapper) and stream is sys.__stdout__:  # else its file closes with it
        with contextlib.suppress(OSError):  # it is no file
            stream.flush()
            buffered = io.BufferedWriter(_StandardOutput(stream.fileno(), "wb", closefd=False))
            options: dict[str, Any] = {"encoding": stream.encoding, "errors": stream.errors}
            sys.stdout = io.TextIOWrapper(buffered, line_buffering=stream.isatty(), **options)


def _end(app: Any) -> int:
    """The exit code of a command, however it ends."""
    import typer

    from matrics._files import notices

    code = 0
    try:
        with notices.signals_stop():
            code = _run(app)
            sys.stdout.flush()  # here, where its errors are caught
    except (typer.Abort, KeyboardInterrupt):  # of a command, or before it has begun
        code = notices.INTERRUPTED
    except notices.Stopped as stop:
        code = stop.code
        if str(stop):
            notices.say(str(stop))
        if code == notices.BROKEN_PIPE:
            _close_output()
    except BrokenPipeError:  # the reader of the output has closed it, as in ``matrics metrics | head``
        code = notices.BROKEN_PIPE
        _close_output()
    except OSError as error:
        if not code:  # or the command itself has met the error, and reported it
            notices.say(_message(error))
        code = 2
        _close_output()
    return code


def _run(app: Any) -> int:
    """The exit code of a command."""
    from matrics._files.notices import say

    try:
        # Not standalone, or typer would draw a box around errors in the arguments.
        # The name is the same by ``python -m``, as shells complete the arguments of a program by its name.
        arguments = ["--help"] if len(sys.argv) < 2 else None
        return int(app.app(arguments, prog_name="matrics", standalone_mode=False) or 0)
    except app.UsageError as error:
        say(error.format_message())
    except BrokenPipeError:
        raise
    except _expected_errors() as error:
        say(_message(error))
    except Exception as error:  # noqa: BLE001 (every error ends with 2)
        # Python itself would end with 1, which means "fail" for a gate.
        if os.environ.get("MATRICS_TRACEBACK"):
            traceback.print_exc()
        say(f"internal error: {type(error).__name__}: {_message(error)}; MATRICS_TRACEBACK=1 shows where it was raised")
    return 2


def _expected_errors() -> tuple[type[Exception], ...]:
    """The errors that are reported in a single line; called after an error, as pyarrow is needed for files alone."""
    import pyarrow as pa

    return (ValueError, TypeError, OSError, ImportError, MemoryError, pa.ArrowException)


def _close_output() -> None:
    """Send the rest of standard output to the null device, so that closing it raises no further error."""
    with contextlib.suppress(OSError, ValueError):  # standard output is no file
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())


def _message(error: BaseException) -> str:
    if isinstance(error, OSError) and error.strerror is not None:
        # Output files name themselves, and so do files that are read, and standard output.
        return f"{error.filename}: {error.strerror}" if error.filename else error.strerror
    if isinstance(error, MemoryError):
        return f"not enough memory: {error}" if str(error) else "not enough memory"
    if isinstance(error, ArgumentError):
        return _in_options(error)
    name, colon, rest = str(error).partition(": ")
    if colon and isinstance(error, (ValueError, TypeError)) and name in _options():
        return _in_options(ArgumentError(name, rest))  # of a function that raises the errors of Python
    notes = getattr(error, "__notes__", ())  # of a user's own measure
    return " ".join([_with_options(str(error)) or type(error).__name__, *notes])


def _in_options(error: ArgumentError) -> str:
    """The message of an error, with the option in place of the argument."""
    name = error.argument.replace("-", "_")
    argument = _options().get(ALIASES.get(name, name), error.argument)
    return ": ".join(filter(None, (error.file, argument, _with_options(error.text))))


def _with_options(text: str) -> str:
    """A text with options in place of the arguments that it mentions: ``--by`` for ``by=``."""
    options = _options()
    if "true" in options:  # messages about labels name options of the command that scores them
        options = _options("score") | options

    def option(mention: re.Match[str]) -> str:
        name = options.get(ALIASES.get(mention[1], mention[1]))
        return mention[0] if name is None else f"{name} {mention[2] or ''}".rstrip()

    return MENTION.sub(option, text)


def _options(command: str | None = None) -> dict[str, str]:
    """The options of a command, or of that which runs, by the names of arguments."""
    from matrics._cli.app import command_of

    name = "".join(sys.argv[1:2]) if command is None else command
    return {
        option.lstrip("-").replace("-", "_"): parameter.opts[0]
        for parameter in getattr(command_of(name), "params", ())
        for option in parameter.opts
        if option.startswith("--")
    }
