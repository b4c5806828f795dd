"""A file that appears under its name only when it is whole and on the disk."""

from __future__ import annotations

import contextlib
import os
import secrets
from typing import IO, TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path


@contextlib.contextmanager
def whole_file(output: Path) -> Iterator[IO[bytes]]:
    """Yield a file to write, which gets the name ``output`` at the end; after an error nothing is left of it."""
    # A short name, as the output's name may already have the maximum length.
    temporary = output.with_name(f".{secrets.token_hex(8)}.tmp")
    try:
        with temporary.open("xb") as file:
            yield file
            file.flush()
            os.fsync(file.fileno())
        temporary.replace(output)
        if hasattr(os, "O_DIRECTORY"):  # not on Windows: the new name, too, is to survive a power cut
            folder = os.open(output.parent, os.O_RDONLY | os.O_DIRECTORY)
            try:
                os.fsync(folder)
            finally:
                os.close(folder)
    except OSError as error:  # name the requested file, not the temporary one
        raise OSError(error.errno, error.strerror, str(output)) if error.errno else error from None
    finally:
        with contextlib.suppress(OSError):
            temporary.unlink(missing_ok=True)
