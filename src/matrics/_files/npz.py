"""The arrays of an ``.npz`` file as a single stack. Only the requested blocks are read, in order."""

from __future__ import annotations

import contextlib
import lzma
import math
import struct
import tokenize
import weakref
import zipfile
import zlib
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np

from matrics._files.archives import opened_archive, reading
from matrics._memory_limits import MEMBER
from matrics._quoting import quoted

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path

Array = Any

# Replaces messages of the Python parser, which NumPy calls and which would not help a user.
BAD_HEADER = "expected arrays of numbers written by {}, got a header that cannot be read"
READERS = {(1, 0): np.lib.format.read_array_header_1_0, (2, 0): np.lib.format.read_array_header_2_0}
PIECE = 2**20  # bytes to skip at a time


@dataclass(frozen=True)
class Member:
    """The header of an array."""

    file: str  # its name in the archive
    shape: tuple[int, ...]
    dtype: np.dtype[Any]
    is_fortran: bool

    @property
    def at_once(self) -> int:
        """The bytes that are read at once: a matrix, or a whole stack in Fortran order."""
        shape = self.shape if self.is_fortran and len(self.shape) > 2 else self.shape[-2:]
        return math.prod(shape) * self.dtype.itemsize

    @property
    def name(self) -> str:
        """The array's name."""
        return self.file.removesuffix(".npy")

    @property
    def like(self) -> Array:
        """An array of this shape and type that takes no memory."""
        return np.broadcast_to(np.zeros((), self.dtype), self.shape)


def members(path: Path) -> list[Member]:
    """The headers of the arrays of an archive."""
    if not zipfile.is_zipfile(path):
        raise ValueError(f"{path}: expected arrays written by numpy.savez, got a file that is not a zip archive")
    with _errors_of_numpy(path), opened_archive(path) as archive:
        result = []
        for info in archive.infolist():
            with archive.open(info) as file:
                member = _header(info.filename, file)
                size = info.file_size - file.tell()
            if size < math.prod(member.shape) * member.dtype.itemsize:
                raise ValueError(f"{quoted(member.name)} has fewer numbers than its shape {member.shape}")
            if member.at_once > max(MEMBER.size, info.compress_size):
                raise ValueError(
                    f"expected at most {MEMBER.in_words}, at once, got {member.at_once / 1e6:,.0f} MB in "
                    f"{quoted(member.name)} of shape {member.shape}, and {info.compress_size / 1e6:,.1f} MB in the "
                    "file: save it by numpy.save, which is read in place"
                )
            result.append(member)
        return result


def load(path: Path, member: Member) -> Array:
    """A whole array."""
    with _errors_of_numpy(path), opened_archive(path) as archive, archive.open(member.file) as file:
        array = np.lib.format.read_array(file, allow_pickle=False)
        _skip(file)
        return array


class NpzStack:
    """Arrays ``(*B, n, n)`` of equal shape as a stack with an additional axis; a single array is the stack itself."""

    def __init__(self, path: Path, arrays: list[Member]) -> None:
        self.path, self.arrays = path, arrays
        first = arrays[0]
        self.shape = (len(arrays), *first.shape) if len(arrays) > 1 else first.shape
        self.n = first.shape[-1]
        self.each = math.prod(first.shape[:-2])  # the number of matrices of an array
        self._open: tuple[int, int, Any] | None = None  # an array's index, its next matrix, and its file
        self._whole: tuple[int, Array] | None = (
            None  # the index of an array in Fortran order, and the array: no block reads
        )
        self._files = contextlib.ExitStack()  # the archive, and the open file in it
        self._archive: Any = None
        weakref.finalize(self, self._files.close)  # Python 3.13 warns of files that are open when reading ends

    def read(self, start: int, stop: int) -> Array:
        """The matrices from ``start`` to ``stop``: ``(stop - start, n, n)``; fast if they follow the last block."""
        blocks = []
        with _errors_of_numpy(self.path):
            while start < stop:
                which, first = divmod(start, self.each)
                last = min(self.each, first + stop - start)
                blocks.append(self._read(which, first, last))
                start += last - first
        return blocks[0] if len(blocks) == 1 else np.concatenate(blocks)

    def _read(self, which: int, first: int, last: int) -> Array:
        member = self.arrays[which]
        if member.is_fortran and len(member.shape) > 2:
            if self._whole is None or self._whole[0] != which:
                self._whole = which, load(self.path, member)
            array = self._whole[1]
            return array[np.unravel_index(np.arange(first, last), array.shape[:-2])]
        size = self.n**2 * member.dtype.itemsize
        if self._open is None or self._open[0] != which or self._open[1] > first:
            self._close()
            if self._archive is None:  # opened once, as an archive may have thousands of arrays
                self._archive = self._files.enter_context(opened_archive(self.path))
            file = self._archive.open(member.file)
            _header(member.file, file)
            self._open = which, 0, file
        _, place, file = self._open
        _skip(file, (first - place) * size)
        data = file.read((last - first) * size)
        if len(data) < (last - first) * size:
            raise EOFError(f"{quoted(member.name)} ends too early")
        self._open = which, last, file
        if last == self.each:
            _skip(file)  # zipfile compares the checksum at the end of the file
            self._close()
        order = "F" if member.is_fortran else "C"
        return (
            np.frombuffer(data, member.dtype)
            .reshape(last - first, self.n, self.n, order="C")
            .transpose((0, 2, 1) if order == "F" else (0, 1, 2))
        )

    def _close(self) -> None:
        if self._open is not None:
            self._open[2].close()
            self._open = None


def _header(name: str, file: Any) -> Member:
    try:
        version = np.lib.format.read_magic(file)
    except ValueError as error:
        raise ValueError(f"{quoted(name)} is not an array of NumPy") from error
    if version not in READERS:
        raise ValueError(f"{quoted(name)} is not an array of numbers")
    shape, is_fortran, dtype = READERS[version](file)
    if bool in map(type, shape):
        raise ValueError(f"{quoted(name)} has the shape {shape}, whose sizes are not numbers")
    if dtype.hasobject:
        raise ValueError(f"{quoted(name)} has Python objects")
    return Member(name, shape, dtype, is_fortran)


def _skip(file: Any, size: int | None = None) -> None:
    """Skip this number of bytes, or all remaining bytes."""
    while size is None or size > 0:
        data = file.read(PIECE if size is None else min(PIECE, size))
        if not data:
            return
        size = None if size is None else size - len(data)


@contextlib.contextmanager
def _errors_of_numpy(path: Path) -> Iterator[None]:
    """Convert errors of the archive and of NumPy to errors that say what was expected."""
    try:
        with reading(path):
            yield
    except (SyntaxError, tokenize.TokenError) as error:
        raise ValueError(f"{path}: {BAD_HEADER.format('numpy.savez')}") from error
    except (
        ValueError,
        TypeError,
        ArithmeticError,
        EOFError,
        RuntimeError,
        zipfile.BadZipFile,
        zlib.error,
        lzma.LZMAError,
        struct.error,
    ) as error:
        raise ValueError(f"{path}: expected arrays of numbers written by numpy.savez: {error}") from error
