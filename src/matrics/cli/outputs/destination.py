"""Where results go: a .csv or .parquet file, or a directory of Parquet files."""

from __future__ import annotations

import os
from dataclasses import dataclass
from pathlib import Path

SUFFIXES = (".csv", ".parquet")


@dataclass(frozen=True)
class Destination:
    """A name that an output is to have."""

    path: Path
    kind: str  # csv or parquet
    is_directory: bool = False


def check_output(output: str, source: Path) -> Destination:
    """Read the name of an output, and raise an error, before any work is done, if it cannot be written."""
    path = Path(output)
    # Path drops the slash at the end, so this takes text.
    is_directory = output.endswith(("/", os.sep)) or path.is_dir()
    if not is_directory and path.suffix.lower() not in SUFFIXES:
        raise ValueError(
            "--output: expected a name that ends in .csv or .parquet, or in / for a directory of Parquet files, "
            f"got {output!r}"
        )
    if not path.parent.is_dir():
        raise ValueError(f"--output: expected an existing directory, got {str(path.parent)!r}")
    if is_directory:
        if path.exists() and not path.is_dir():
            raise ValueError(f"--output: expected a directory, got the file {str(path)!r}")
        if path.is_dir() and any(path.iterdir()):
            raise ValueError(f"--output: expected a new or an empty directory, got {str(path)!r}, which has files")
        return Destination(path, "parquet", is_directory=True)
    if path.exists() and source.exists() and path.samefile(source):
        raise ValueError(f"--output: expected another file than the input, got {str(path)!r}")
    return Destination(path, path.suffix.lower().removeprefix("."))


def check_file(output: str, source: Path) -> Destination:
    """The same for results that are one file in any case."""
    destination = check_output(output, source)
    if destination.is_directory:
        raise ValueError(f"--output: expected a file, got the directory {output!r}")
    return destination
