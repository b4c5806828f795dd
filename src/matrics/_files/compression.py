"""Compressed files, which are recognized by the suffixes of their names."""

from __future__ import annotations

import bz2
import gzip
import io
from typing import TYPE_CHECKING, Any, BinaryIO

from matrics._memory_limits import MEMBER

if TYPE_CHECKING:
    from pathlib import Path

COMPRESSIONS = (".gz", ".bz2", ".zst")
# The first bytes of compressed files.
BEGINNINGS = {b"\x1f\x8b": ".gz", b"BZh": ".bz2", b"\x28\xb5\x2f\xfd": ".zst"}
# Text that is kept as Python objects takes several times its memory, and a file may be compressed.
OF_OBJECTS, OF_DISK = 4, 3
LIST_BYTES = 16  # a list or an object of JSON takes as much memory as this number of bytes of text


def suffix_of(path: Path) -> str:
    """Return the suffix of a file name, such as ``.csv`` or ``.csv.gz``."""
    return "".join(path.suffixes[-2 if path.suffix.lower() in COMPRESSIONS else -1 :]).lower()


def without_compression(suffix: str) -> str:
    """The suffix without ``.gz``, ``.bz2`` or ``.zst``."""
    return next((suffix.removesuffix(end) for end in COMPRESSIONS if suffix.endswith(end)), suffix)


def most_letters() -> int:
    """The length limit of a cell or line, as an unclosed quote in a large file must not fill the memory."""
    return MEMBER.size // OF_OBJECTS


def most_kept(size: int) -> int:
    """The largest length of text that may be kept as objects, for a file of this size."""
    return max(MEMBER.size // OF_OBJECTS, OF_DISK * size)


def refuse_much(kept: int, size: int) -> None:
    """Raise if the text that is kept as objects is too long for a file of this size."""
    most = most_kept(size)
    if kept > most:
        raise ValueError(
            f"expected at most {most:,} bytes of decompressed text to be kept, {OF_DISK} times the size of the file or "
            f"1/{OF_OBJECTS} of {MEMBER.in_words}, got more"
        )


def length_of_json(content: bytes) -> int:
    """The length of a text of JSON, plus an amount for each list and object."""
    return len(content) + LIST_BYTES * (content.count(b"[") + content.count(b"{"))


def compression_of(raw: Any) -> str:
    """The suffix for the compression of a stream, from a look at its first bytes; empty without compression."""
    first = raw.peek(4)
    return next((end for beginning, end in BEGINNINGS.items() if first.startswith(beginning)), "")


def decompressed(raw: BinaryIO, suffix: str) -> Any:
    """The decompressed bytes of a file with this suffix."""
    if suffix.endswith(".gz"):
        return gzip.GzipFile(fileobj=raw)
    if suffix.endswith(".bz2"):
        return bz2.BZ2File(raw)
    return io.BufferedReader(_Zstd(raw)) if suffix.endswith(".zst") else raw


class _Zstd(io.RawIOBase):
    """The content of a file that is compressed by Zstandard."""

    def __init__(self, raw: BinaryIO) -> None:
        import pyarrow as pa  # imported here, as few files have this compression

        super().__init__()
        self._content = pa.CompressedInputStream(pa.PythonFile(raw, mode="r"), "zstd")

    def readable(self) -> bool:
        return True

    def readinto(self, buffer: Any) -> int:
        try:
            content = self._content.read(len(buffer))
        except OSError as error:
            if error.errno:
                raise
            raise ValueError(f"expected a file compressed by zstd: {error}") from error
        buffer[: len(content)] = content
        return len(content)
