"""How a result is delivered: its format, and the file or standard output."""

from __future__ import annotations

import contextlib
import io
import os
import sys
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, overload

from rich.console import Console

from matrics._errors import ArgumentError
from matrics._quoting import quoted

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Sequence

    from matrics._cli.result import Result

FORMATS = ("table", "json", "csv", "markdown", "latex")
ENDS = {".csv": "csv", ".json": "json", ".md": "markdown", ".tex": "latex", ".txt": "table"}
SCREEN_WIDTH = 10_000  # a pipe and a file have no width: do not split lines


@dataclass(frozen=True)
class Delivery:
    """The format of a result, and its file; None is standard output."""

    format: str = "table"
    output: Path | None = None

    @property
    def is_table(self) -> bool:
        """Whether the result is shown as on the screen."""
        return self.format == "table"

    def show(self, shown: Callable[[Console], None]) -> None:
        """Print what ``shown`` prints on a console, here or in the file."""
        with self._console() as console:
            shown(console)

    def write(self, found: Result) -> None:
        """Write a result in a format other than the table."""
        from matrics._cli.formats import WRITERS

        text = WRITERS[self.format](found)
        if self.output is None:
            if isinstance(sys.stdout, io.TextIOWrapper):
                sys.stdout.reconfigure(encoding="utf-8", newline="\n")  # as a file has it, on every machine
            sys.stdout.write(text)
        else:
            self._write(text)

    @contextlib.contextmanager
    def _console(self) -> Iterator[Console]:
        if self.output is None:
            yield open_console()
            return
        text = io.StringIO()
        yield Console(file=text, highlight=False, width=SCREEN_WIDTH)
        self._write(text.getvalue())

    def _write(self, text: str) -> None:
        from matrics._files.outputs.whole import write_whole

        assert self.output is not None  # noqa: S101 (for mypy: only then)
        write_whole(self.output, text.encode())


def open_console() -> Console:
    """A console on standard output."""
    return Console(highlight=False, width=None if sys.stdout.isatty() else SCREEN_WIDTH)


@overload
def read_delivery(format_: str | None, output: str | None, sources: Sequence[Path]) -> Delivery: ...


@overload
def read_delivery(
    format_: str | None, output: str | None, sources: Sequence[Path], *, blocks: Sequence[str]
) -> Delivery | None: ...


def read_delivery(
    format_: str | None, output: str | None, sources: Sequence[Path], *, blocks: Sequence[str] = ()
) -> Delivery | None:
    """Check both options; None for the ends of names in ``blocks``, which are written block by block, and folders."""
    if format_ is not None and format_ not in FORMATS:
        raise ArgumentError("format", f"expected {', '.join(FORMATS[:-1])} or {FORMATS[-1]}, got {quoted(format_)}")
    if output in (None, "-"):
        return Delivery(format_ or "table")
    path = Path(str(output))
    end = path.suffix.lower()
    is_folder = str(output).endswith(("/", os.sep)) or path.is_dir()
    if blocks and (is_folder or end in blocks or (format_ is None and end not in ENDS)):
        if format_ not in (None, ENDS.get(end)) or (format_ is not None and is_folder):
            what = "a folder" if is_folder else f"a name that ends in {end}"
            raise ArgumentError("format", f"expected no such option with {what} as --output, got {quoted(format_)}")
        return None
    if is_folder or not output:
        raise ArgumentError("output", f"expected the name of a file, or -, got {quoted(str(output))}")
    if format_ is None and end not in ENDS:
        raise ArgumentError(
            "output", f"expected a name that ends in {', '.join(ENDS)}, or --format with it, got {quoted(str(output))}"
        )
    if format_ is not None and ENDS.get(end, format_) != format_:
        raise ArgumentError("format", f"expected {ENDS[end]}, as --output ends in {end}, got {quoted(format_)}")
    if not path.parent.is_dir():
        raise ArgumentError("output", f"expected an existing directory, got {quoted(str(path.parent))}")
    from matrics._files.outputs.destination import refuse_input
    from matrics._files.text import STDIN

    refuse_input(path, [source for source in sources if source != STDIN])
    return Delivery(format_ or ENDS[end], path)
