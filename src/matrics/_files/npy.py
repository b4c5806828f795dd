"""The array of an ``.npy`` file as a stack. Only the requested blocks are read."""

from __future__ import annotations

import os
import threading
import tokenize
import weakref
from typing import TYPE_CHECKING, Any

import numpy as np

from matrics._engine.evaluation import as_stack
from matrics._files.fragments import refuse_stream
from matrics._files.npz import BAD_HEADER

if TYPE_CHECKING:
    from pathlib import Path

Array = Any


class NpyStack:
    """A stack ``(*B, n, n)`` in a file; any thread may read any block.

    Blocks are read and not mapped: if another process truncates a mapped file, the system kills this process (SIGBUS).
    """

    is_read_in_any_order = True

    def __init__(self, path: Path) -> None:
        refuse_stream(path)
        mapped = _mapped(path)
        as_stack(mapped, name=str(path))
        self.path, self.shape, self.dtype = path, mapped.shape, mapped.dtype
        self._start = mapped.offset
        # The cells of a matrix in Fortran order are far apart in the file, so that blocks cannot be read.
        self._mapped = None if mapped.flags.c_contiguous else mapped
        self._file = path.open("rb", buffering=0)
        self._lock = threading.Lock()
        weakref.finalize(self, self._file.close)

    def read(self, start: int, stop: int) -> Array:
        """The matrices from ``start`` to ``stop``: ``(stop - start, n, n)``."""
        batch = self.shape[:-2]
        if self._mapped is not None:
            # A truncation between this check and the access still kills the process.
            if os.fstat(self._file.fileno()).st_size < self._start + self._mapped.nbytes:
                raise self._ends_early()
            return self._mapped[np.unravel_index(np.arange(start, stop), batch)] if batch else self._mapped[None]
        block = np.empty((stop - start, *self.shape[-2:]), self.dtype)
        self._fill(block.reshape(-1).view(np.uint8).data, self._start + start * block[:1].nbytes)
        return block

    def _fill(self, buffer: memoryview, place: int) -> None:
        """Fill a buffer with the bytes of the file from a position on."""
        with self._lock:
            self._file.seek(place)
            while buffer:
                size = self._file.readinto(buffer)
                if not size:
                    raise self._ends_early()
                buffer = buffer[size:]

    def _ends_early(self) -> ValueError:
        return ValueError(
            f"{self.path}: expected an array of shape {self.shape}, got a file that was truncated while it was read"
        )


def _mapped(path: Path) -> Array:
    """The whole array, mapped and not yet read."""
    try:
        return np.lib.format.open_memmap(path, mode="r")
    except OSError as error:
        if error.filename is not None:
            raise
        raise OSError(error.errno, f"{os.strerror(error.errno or 0)}, to map the array", str(path)) from error
    except (SyntaxError, tokenize.TokenError) as error:
        raise ValueError(f"{path}: {BAD_HEADER.format('numpy.save')}") from error
    except (ValueError, TypeError, ArithmeticError) as error:  # ArithmeticError: sizes that are not integers
        raise ValueError(f"{path}: expected an array of numbers written by numpy.save: {error}") from error
