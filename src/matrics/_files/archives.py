"""ZIP archives, with a limit on the sizes of the members that are read."""

from __future__ import annotations

import contextlib
import errno
import zipfile
from typing import TYPE_CHECKING

from matrics._memory_limits import MEMBER
from matrics._quoting import first_twice, quoted

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path


@contextlib.contextmanager
def opened_archive(path: Path) -> Iterator[zipfile.ZipFile]:
    """An open archive; raise if two members have the same name, as libraries differ in which of them they read."""
    with reading(path), zipfile.ZipFile(path) as archive:
        twice = first_twice(archive.namelist())
        if twice is not None:
            raise ValueError(f"expected members of different names, got two of the name {quoted(twice)}")
        yield archive


@contextlib.contextmanager
def reading(path: Path) -> Iterator[None]:
    """Add the name of the file to errors of the system; an invalid position in the file is an error in the archive."""
    try:
        yield
    except OSError as error:
        if error.filename is not None or not error.errno:
            raise
        if error.errno == errno.EINVAL:
            raise zipfile.BadZipFile("it refers to a position beyond the end of the file") from error
        raise OSError(error.errno, error.strerror, str(path)) from error


def refuse_large(member: zipfile.ZipInfo, share: int = 1) -> None:
    """Raise if a member that is read at once has more bytes than 1/``share`` of the limit.

    The size in the archive is sufficient: zipfile reads no more bytes of a member.
    """
    most = MEMBER.size // share
    if member.file_size > most:
        raise ValueError(
            f"expected members of at most {share_in_words(share)}, got {member.file_size:,} bytes in "
            f"{quoted(member.filename)}"
        )


def share_in_words(share: int) -> str:
    """The limit of a member, or 1/``share`` of this limit, with the way to change it."""
    return MEMBER.in_words if share == 1 else f"{MEMBER.size // share:,} bytes, 1/{share} of {MEMBER.in_words}"
