"""A file that is replaced as a whole: a kill or a power cut leaves the old one, the new one, or one not believed."""

from __future__ import annotations

import contextlib
import hashlib
import io
import os
from typing import IO, TYPE_CHECKING, Any

if TYPE_CHECKING:
    from collections.abc import Callable
    from pathlib import Path

DIGEST_BYTES, NUMBER_BYTES = 16, 8  # behind the content: how much work is in it, and a checksum of all
PIECE = 2**20  # bytes that are compared at a time


class _Summed(io.RawIOBase):
    """A file that is written from its beginning to its end, and the checksum of what was written."""

    def __init__(self, file: IO[bytes]) -> None:
        self._file = file
        self.sum = hashlib.blake2b(digest_size=DIGEST_BYTES)

    def writable(self) -> bool:
        """Yes."""
        return True

    def write(self, content: Any) -> int:
        """Write some bytes."""
        self.sum.update(content)
        return self._file.write(content)


def save_snapshot(path: Path, number: int, write: Callable[[Any], None]) -> None:
    """Replace the file by what ``write`` writes; ``number`` says how much work is in it."""
    new = path.with_name(f"{path.name}.new")
    with new.open("wb") as file:
        summed = _Summed(file)
        write(summed)
        summed.write(number.to_bytes(NUMBER_BYTES, "little"))
        file.write(summed.sum.digest())
        file.flush()
        os.fsync(file.fileno())
    new.replace(path)


def snapshot_number(path: Path) -> int:
    """How much work is in the file; 0 if there is none, or if it is not as it was written."""
    with contextlib.suppress(OSError), path.open("rb") as file:
        left = path.stat().st_size - DIGEST_BYTES
        digest = hashlib.blake2b(digest_size=DIGEST_BYTES)
        piece = b""
        while left > 0:
            piece = file.read(min(PIECE, left))
            digest.update(piece)
            left -= len(piece)
        if piece and file.read() == digest.digest():
            file.seek(-DIGEST_BYTES - NUMBER_BYTES, os.SEEK_END)
            return int.from_bytes(file.read(NUMBER_BYTES), "little")
    return 0
