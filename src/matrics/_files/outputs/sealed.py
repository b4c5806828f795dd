"""Files with the checksum of their bytes in their names, so that truncated or changed files are detected.

They are in the folder of an unfinished run, whose name anyone can compute. So none of these functions follows a link or
waits for a pipe, and only files with the names that are given here are ever removed.
"""

from __future__ import annotations

import contextlib
import os
import re
import stat
import zlib
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import IO, Any

WHOLE = "whole.unfinished"  # the name of an output that is being made
PIECE = 2**20  # bytes to read at a time
NEW = "new.unfinished"  # the name of a file that is being written
SEALED = re.compile(r"(?P<stem>[a-z]+(-[0-9]+)?)-(?P<sum>[0-9a-f]{8})(?P<suffix>\.[a-z]+)?")


def create(path: Path) -> IO[bytes]:
    """Open a new file for writing; an existing file or link of this name is unlinked first."""
    path.unlink(missing_ok=True)
    return path.open("xb")  # which follows no link


def seal(folder: Path, stem: str, write: Callable[[Any], Any], suffix: str = "") -> Path:
    """Write a file, and give it its name when all of it is written."""
    new = folder / NEW
    with create(new) as file:
        write(file)
    with _opened(new) as file:
        path = folder / f"{stem}-{_checksum(file):08x}{suffix}"
    new.replace(path)
    return path


def sealed(folder: Path, stem: str) -> list[Path]:
    """The files with this stem and a correct checksum."""
    return [path for path in named(folder, stem) if _is_right(path)]


def named(folder: Path, stem: str) -> list[Path]:
    """The files with this stem (a regular expression), in the order of their names."""
    with contextlib.suppress(FileNotFoundError):
        found = [(SEALED.fullmatch(path.name), path) for path in folder.iterdir()]
        return sorted(path for match, path in found if match and re.fullmatch(stem, match["stem"]))
    return []


def stem_of(path: Path) -> str:
    """The name of a sealed file without its checksum."""
    match = SEALED.fullmatch(path.name)
    return match["stem"] if match else path.stem


def read(path: Path) -> bytes:
    """The bytes of a file."""
    with _opened(path) as file:
        return file.read()


@contextlib.contextmanager
def _opened(path: Path) -> Iterator[IO[bytes]]:
    """Open a file, and neither a link nor a pipe."""
    flags = os.O_RDONLY | getattr(os, "O_NOFOLLOW", 0) | getattr(os, "O_NONBLOCK", 0) | getattr(os, "O_BINARY", 0)
    descriptor = os.open(path, flags)
    with os.fdopen(descriptor, "rb") as file:
        if not stat.S_ISREG(os.fstat(descriptor).st_mode):
            raise OSError(f"{path}: expected a file, got a pipe or a device")
        yield file


def _is_right(path: Path) -> bool:
    match = SEALED.fullmatch(path.name)
    with contextlib.suppress(OSError), _opened(path) as file:
        return match is not None and _checksum(file) == int(match["sum"], 16)
    return False


def _checksum(file: IO[bytes]) -> int:
    found = 0
    while piece := file.read(PIECE):
        found = zlib.crc32(piece, found)
    return found
