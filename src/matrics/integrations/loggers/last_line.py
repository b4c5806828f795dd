"""The end of a file that a killed process may have left in the middle of a line."""

from __future__ import annotations

import os
import warnings
from pathlib import Path

from matrics.engine.evaluation import frames_to_the_user
from matrics.quoting import quoted

BLOCK = 2**16


def half_line(path: Path) -> bytes:
    """What follows the last end of a line: nothing in a file that is whole, and of one that does not exist."""
    try:
        with path.open("rb") as file:
            start = file.seek(0, os.SEEK_END)
            found = b""
            while start:
                size = min(BLOCK, start)
                start = file.seek(start - size)
                block = file.read(size)
                _, end, after = block.rpartition(b"\n")
                found = after + found
                if end:
                    break
            return found
    except FileNotFoundError:
        return b""


def cut_half_line(path: Path, line: bytes) -> None:
    """Remove such a line, and warn of it."""
    os.truncate(path, path.stat().st_size - len(line))
    warnings.warn(
        f"{path}: the last line was not whole, as after a process was killed, and has been removed: "
        f"{quoted(line.decode(errors='replace'))}",
        RuntimeWarning,
        stacklevel=frames_to_the_user(),
    )
