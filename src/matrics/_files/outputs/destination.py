"""The destination of results: a .csv or .parquet file, or a directory of Parquet files."""

from __future__ import annotations

import os
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

from matrics._errors import ArgumentError
from matrics._files import fragments
from matrics._quoting import quoted

if TYPE_CHECKING:
    from collections.abc import Sequence

SUFFIXES = (".csv", ".parquet")


@dataclass(frozen=True)
class Destination:
    """The path and the format of an output."""

    path: Path
    kind: str  # csv or parquet
    is_directory: bool = False


def check_output(output: str, source: Path) -> Destination:
    """The destination of an output; raise an error before any work is done if the output cannot be written."""
    path = Path(output)
    # The parameter is text, as Path drops the slash at the end.
    is_directory = output.endswith(("/", os.sep)) or bool(output and path.is_dir())
    if not is_directory and path.suffix.lower() not in SUFFIXES:
        raise ArgumentError(
            "output",
            "expected a name that ends in .csv or .parquet, or in / for a directory of Parquet files, or in "
            f".json, .md, .tex or .txt, got {quoted(output)}",
        )
    if not path.parent.is_dir():
        raise ArgumentError("output", f"expected an existing directory, got {quoted(str(path.parent))}")
    refuse_input(path, [source])
    path = followed(path)
    if is_directory:
        if path.exists() and not path.is_dir():
            raise ArgumentError("output", f"expected a directory, got the file {quoted(str(path))}")
        if path.is_dir() and any(path.iterdir()):
            raise ArgumentError(
                "output", f"expected a new or an empty directory, got {quoted(str(path))}, which has files"
            )
        return Destination(path, "parquet", is_directory=True)
    return Destination(path, path.suffix.lower().removeprefix("."))


def free_file(path: Path, sources: Sequence[Path]) -> Path:
    """The file of an output that is no directory; raise an error if it cannot be written, or if it is a source."""
    if path.is_dir():
        raise ArgumentError("output", f"expected the name of a file, got the directory {quoted(str(path))}")
    if not path.parent.is_dir():
        raise ArgumentError("output", f"expected an existing directory, got {quoted(str(path.parent))}")
    refuse_input(path, sources)
    return path


def followed(path: Path) -> Path:
    """The file that a symbolic link points to, which an output replaces instead of the link; else the path itself."""
    return Path(os.path.realpath(path)) if path.is_symlink() else path


def refuse_input(output: Path, sources: Sequence[Path]) -> None:
    """Raise an error if an output would replace a file that is read, or would be read as an input the next time."""
    for source in sources:
        inside = output.resolve().relative_to(source.resolve()).parts if _is_in(output, source) else ()
        if inside and not any(part.startswith((".", "_")) for part in inside):  # such names are no data
            raise ArgumentError(
                "output", f"expected a name outside of the input {quoted(str(source))}, got {quoted(str(output))}"
            )
        is_many = source.is_dir() or fragments.is_pattern(source)
        files = [fragment.path for fragment in fragments.find(source)] if is_many and output.exists() else [source]
        if output.exists() and any(file.exists() and output.samefile(file) for file in files):
            raise ArgumentError("output", f"expected a file other than the input, got {quoted(str(output))}")


def _is_in(output: Path, source: Path) -> bool:
    return source.is_dir() and source.resolve() in output.resolve().parents


def check_file(output: str, source: Path) -> Destination:
    """The destination of results that must be a single file."""
    destination = check_output(output, source)
    if destination.is_directory:
        raise ArgumentError("output", f"expected a file, got the directory {quoted(output)}")
    return destination
