"""The origin of the data of a report: their name, their checksum, and their modification time."""

from __future__ import annotations

import hashlib
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import numpy as np

from matrics._tables.columns import Coded
from matrics.typing import NumPyArray

__all__ = ["Origin", "origin_of_columns", "origin_of_files", "origin_of_matrices"]


@dataclass(frozen=True)
class Origin:
    """The origin of data.

    Parameters
    ----------
    name : str
        The name of the data.
    checksum : str
        SHA-256 of the bytes of the file, or of the columns or matrices.
    of : str
        The object of the checksum, such as "the file" or "the columns that were read".
    date : str
        The modification time of the newest file, in UTC; empty for data in memory.
    command : str
        The command that reproduces the report; empty for data in memory.
    path : str
        The path as the caller wrote it; empty for data in memory.
    left_out : int
        The number of rows that were left out because a value is missing.
    answered : tuple of dict
        The runs of an evaluation log in which answers have no score: the numbers of answers and of those with a score,
        and the share of these with its limits.
    """

    name: str
    checksum: str
    of: str
    date: str = ""
    command: str = ""
    path: str = ""
    left_out: int = 0
    answered: tuple[dict[str, Any], ...] = ()


def origin_of_files(name: str, files: Sequence[Path], command: str = "", *, path: str = "") -> Origin:
    """The origin of data in files. Each file is read once more for its checksum."""
    digest = hashlib.sha256()
    for file in files:
        with file.open("rb") as stream:
            own = hashlib.file_digest(stream, "sha256")
        digest = own if len(files) == 1 else digest
        if len(files) > 1:
            digest.update(own.digest())
    newest = max(file.stat().st_mtime for file in files)
    date = datetime.fromtimestamp(int(newest), UTC).strftime("%Y-%m-%d %H:%M:%S UTC")
    what = "the file" if len(files) == 1 else f"the SHA-256 of {len(files):,} files, in the order of their names"
    return Origin(name, digest.hexdigest(), what, date, command, path)


def origin_of_columns(columns: Mapping[str, Coded | NumPyArray]) -> Origin:
    """The origin of a table in memory."""
    digest = hashlib.sha256()
    for name, column in columns.items():
        digest.update(f"{name}\n".encode())
        if isinstance(column, Coded):
            digest.update(repr([str(value) for value in column.listed()]).encode())
        numbers = column.codes if isinstance(column, Coded) else column
        digest.update(np.ascontiguousarray(numbers).tobytes())
    return Origin("a table in memory", digest.hexdigest(), "the columns that were read")


def origin_of_matrices(names: Sequence[str], matrices: NumPyArray) -> Origin:
    """The origin of matrices in memory."""
    digest = hashlib.sha256(repr(list(names)).encode())
    digest.update(np.ascontiguousarray(matrices, np.float64).tobytes())
    return Origin("confusion matrices in memory", digest.hexdigest(), "the names and the matrices")
