"""A file that grows block by block, and is whole when its tail is written."""

from __future__ import annotations

import os
import sys
from contextlib import suppress
from typing import TYPE_CHECKING

from matrics.files.outputs.formats import Bytes, Format, Placed

if TYPE_CHECKING:
    from pathlib import Path


class Volume:
    """A file of blocks; with ``blocks``, one that has these, and of which all behind them is cut off."""

    def __init__(self, path: Path, form: Format, blocks: list[Placed] | None = None) -> None:
        self.path = path
        self.form = form
        self.blocks = blocks or []
        # Without a buffer: an error comes where it happens, and what was written is known.
        self.file = path.open("r+b" if path.exists() else "xb", buffering=0)
        last = self.blocks[-1] if self.blocks else None
        self.end = len(form.head) if last is None else last.offset + last.length
        if last is None:
            self.file.truncate(0)
            self._write(form.head)
        else:
            self.file.truncate(self.end)
            self.file.seek(self.end)

    def append(self, content: Bytes, note: str, rows: int) -> Placed:
        """Write a block behind the others."""
        placed = Placed(self.end, len(content), rows, note)
        self._write(content)
        self.end += len(content)
        self.blocks.append(placed)
        return placed

    def finish(self) -> None:
        """Write the tail, wait until all of it is on the disk, and check it."""
        self._write(self.form.tail(self.blocks))
        os.fsync(self.file.fileno())
        self.close()
        self.form.check(self.path, self.blocks)

    def close(self) -> None:
        """Close the file as it is."""
        self.file.close()

    def _write(self, content: Bytes) -> None:
        rest = memoryview(content)
        while rest:
            rest = rest[self.file.write(rest) :]


def settle(directory: Path) -> None:
    """Wait until the names in a directory are on the disk."""
    if sys.platform == "win32":  # has no such call
        return
    descriptor = os.open(directory, os.O_RDONLY)
    try:
        with suppress(OSError):  # not every file system knows this
            os.fsync(descriptor)
    finally:
        os.close(descriptor)
