"""The command line: ``matrics score``, ``interval``, ``compare``, ``curve``, ``threshold``, ``metrics`` and others."""

import io
import sys


def main() -> None:
    """Run the command ``matrics``; every error is reported in one line on stderr."""
    for stream in (sys.stdout, sys.stderr):
        if isinstance(stream, io.TextIOWrapper):  # do not fail on a terminal that cannot print "–"
            stream.reconfigure(errors="replace")
    try:
        import pyarrow as pa
        import rich  # noqa: F401 (only to check that it is installed)
        import typer

        from matrics.cli.app import UsageError, app
    except ModuleNotFoundError as error:
        if (error.name or "").partition(".")[0] not in {"pyarrow", "rich", "typer"}:
            raise
        print("the command line needs more packages: python -m pip install typer rich pyarrow", file=sys.stderr)  # noqa: T201
        sys.exit(2)
    try:
        # Not standalone, or typer would draw a box around errors in the arguments.
        sys.exit(app(["--help"] if len(sys.argv) < 2 else None, standalone_mode=False))
    except typer.Abort:
        sys.exit(130)
    except UsageError as error:
        message = error.format_message()
    except (ValueError, TypeError, OSError, ImportError, MemoryError, pa.ArrowException) as error:
        message = _message(error)
    line = "".join(letter if letter.isprintable() else "?" for letter in " ".join(message.split()))
    print(f"matrics: {line}", file=sys.stderr)  # noqa: T201
    sys.exit(2)


def _message(error: BaseException) -> str:
    if isinstance(error, OSError) and error.filename is not None:
        return f"{error.filename}: {error.strerror}"
    if isinstance(error, MemoryError):
        return f"not enough memory: {error}"
    return str(error) or type(error).__name__
