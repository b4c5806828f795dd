"""CSV files and JSON lines: each step appends a line, also in a run that continues."""

from __future__ import annotations

import contextlib
import csv
import io
import json
import math
import os
import warnings
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from matrics._arrays import Array
from matrics._catalogue.naming import title_of
from matrics._engine.evaluation import frames_to_the_user
from matrics._files.outputs.texts import csv_text
from matrics._quoting import quoted

STEP = "step"
BEGINNING = json.dumps({STEP: 0})[:-2].encode()  # of every JSON line of this logger


@dataclass(frozen=True)
class LinesFile:
    """A path, or a text file that is open for writing."""

    target: Any

    def check_pictures(self) -> None:
        """Raise an error, as a text file does not accept pictures."""
        raise TypeError(
            "writer: expected a logger that accepts pictures, got a file: save the picture in its own file by "
            'matrics.plot.confusion_matrix(cm).figure_.savefig("matrix.png")'
        )

    def show(self, name: str, pixels: Array, step: int) -> None:  # noqa: ARG002
        """Raise an error, as a text file does not accept pictures."""
        self.check_pictures()

    @property
    def path(self) -> Path | None:
        """The path of the file, or None."""
        if isinstance(self.target, Path):
            return self.target
        name = getattr(self.target, "name", None)
        return Path(name) if isinstance(name, str) and not name.startswith("<") else None

    @property
    def is_appended_to(self) -> bool:
        """Whether the file is open for appending."""
        return isinstance(self.target, Path) or "a" in str(getattr(self.target, "mode", ""))

    @contextlib.contextmanager
    def opened(self) -> Iterator[Any]:
        """A context manager that returns the file, open for writing, and flushes it at the end."""
        if not isinstance(self.target, Path):
            yield self.target
            self.target.flush()
            return
        self.target.parent.mkdir(parents=True, exist_ok=True)
        with self.target.open("a", encoding="utf-8", newline="") as stream:
            yield stream


class JsonLines(LinesFile):
    """A file with a JSON object on each line; lines may have different names."""

    def write(self, numbers: dict[str, float], step: int) -> None:
        """Append a line."""
        _check_step(numbers)
        known = {title_of(name): number if math.isfinite(number) else None for name, number in numbers.items()}
        line = json.dumps({STEP: step, **known}, ensure_ascii=False)
        ending = ""
        if self.path is not None and self.is_appended_to:
            last = half_line(self.path)
            if last and (_is_object(last) or not last.startswith(BEGINNING[: len(last)])):
                ending = "\n"  # only the line break is missing, or another program wrote the line
            elif last:
                cut_half_line(self.path, last)
        with self.opened() as stream:
            stream.write(f"{ending}{line}\n")


class CsvFile(LinesFile):
    """A CSV file with a row for each step; the first line has the names of the columns."""

    def write(self, numbers: dict[str, float], step: int) -> None:
        """Append a row, below the names of the columns if the file is new."""
        _check_step(numbers)
        cells = {STEP: str(step), **{title_of(name): _written(number) for name, number in numbers.items()}}
        if not isinstance(self.target, Path):
            self.target.flush()  # otherwise the file would seem to be empty
        header = self._header(list(cells))
        with self.opened() as stream:
            if header is None:
                stream.write(csv_text([list(cells)]))
            stream.write(csv_text([[cells[name] for name in header or cells]]))

    def _header(self, columns: list[str]) -> list[str] | None:
        """The columns in the order of the file, or None for a new file; raises if the file has other columns."""
        if self.path is None or not self.path.exists():
            return None
        last = half_line(self.path) if self.is_appended_to else b""
        with self.path.open(encoding="utf-8-sig", errors="replace", newline="") as stream:  # a half line may end in é
            header = next(csv.reader(stream), None)
        if header is not None and set(header) == set(columns) and len(header) == len(columns):
            if last:
                cut_half_line(self.path, last)
            return header if self.path.stat().st_size else None
        if last and len(last) == self.path.stat().st_size and csv_text([columns]).encode().startswith(last):
            cut_half_line(self.path, last)  # the header itself was not written completely
            return None
        if header is None:
            return None
        raise ValueError(
            f"scores: expected the columns of {self.path}, got {_difference(columns, header)}: log to another file, or "
            "to a .jsonl file, whose lines may differ"
        )


def destination_of_file(target: Any) -> CsvFile | JsonLines:
    """The logger for a path or an open file, by the ending of its name; a file without a name gets JSON lines."""
    if isinstance(target, (io.RawIOBase, io.BufferedIOBase)):
        raise TypeError("writer: expected a text file, got a binary file: open it without 'b'")
    path = LinesFile(target).path
    if path is None:
        return JsonLines(target)
    ending = path.suffix.lower()
    if ending == ".csv":
        return CsvFile(target)
    if ending in {".jsonl", ".ndjson"}:
        return JsonLines(target)
    raise ValueError(f"writer: expected a file that ends in .csv or .jsonl, got {quoted(str(path))}")


def _check_step(numbers: dict[str, float]) -> None:
    if STEP in numbers:
        raise ValueError(f"scores: expected no score named {STEP!r}, the name of the step: pass a prefix=")


def _written(number: float) -> str:
    """The number as text, with NaN and inf as pandas, Polars and R read them."""
    return "NaN" if math.isnan(number) else repr(number)


def _is_object(line: bytes) -> bool:
    try:
        return isinstance(json.loads(line), dict)
    except ValueError:
        return False


def _difference(columns: list[str], header: list[str]) -> str:
    more = [name for name in columns if name not in header]
    fewer = [name for name in header if name not in columns]
    parts = [f"{', '.join(map(repr, names[:3]))} {what}" for names, what in ((more, "more"), (fewer, "less")) if names]
    return " and ".join(parts) or "the same names, but the file has a name twice"


BLOCK = 2**16


def half_line(path: Path) -> bytes:
    """The bytes after the last line break: empty for a complete file, and for a missing file."""
    try:
        with path.open("rb") as file:
            start = file.seek(0, os.SEEK_END)
            text = b""
            while start:
                size = min(BLOCK, start)
                start = file.seek(start - size)
                block = file.read(size)
                _, end, after = block.rpartition(b"\n")
                text = after + text
                if end:
                    break
            return text
    except FileNotFoundError:
        return b""


def cut_half_line(path: Path, line: bytes) -> None:
    """Remove an incomplete last line, and warn about it."""
    os.truncate(path, path.stat().st_size - len(line))
    warnings.warn(
        f"{path}: the last line was incomplete, as after a killed process, and has been removed: "
        f"{quoted(line.decode(errors='replace'))}",
        RuntimeWarning,
        stacklevel=frames_to_the_user(),
    )
