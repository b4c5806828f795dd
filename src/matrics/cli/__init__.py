"""The command line: ``matrics score``, ``matrics metrics`` and ``matrics describe``."""

import io
import sys


def main() -> None:
    """Run the command ``matrics``; whatever goes wrong ends in one line on stderr."""
    for stream in (sys.stdout, sys.stderr):
        if isinstance(stream, io.TextIOWrapper):  # a terminal that has no "–" is no reason to stop
            stream.reconfigure(errors="replace")
    try:
        import pyarrow as pa
        import rich  # noqa: F401 (only whether it is there)

        from matrics.cli.app import app
    except ModuleNotFoundError as error:
        if (error.name or "").partition(".")[0] not in {"pyarrow", "rich", "typer"}:
            raise
        print("the command line needs the extra: pip install 'matrics[cli]'", file=sys.stderr)  # noqa: T201
        sys.exit(2)
    try:
        app()
    except (ValueError, TypeError, OSError, MemoryError, pa.ArrowException) as error:
        print(f"matrics: {_one_line(error)}", file=sys.stderr)  # noqa: T201
        sys.exit(2)


def _one_line(error: BaseException) -> str:
    if isinstance(error, OSError) and error.filename is not None:
        message = f"{error.filename}: {error.strerror}"
    elif isinstance(error, MemoryError):
        message = f"not enough memory: {error}"
    else:
        message = str(error) or type(error).__name__
    return "".join(letter if letter.isprintable() else "?" for letter in " ".join(message.split()))
