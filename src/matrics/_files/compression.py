"""Compressed files, by the ends of their names."""

from __future__ import annotations

import bz2
import gzip
import io
from typing import TYPE_CHECKING, Any, BinaryIO

from matrics._memory_limits import MEMBER

if TYPE_CHECKING:
    from pathlib import Path

COMPRESSIONS = (".gz", ".bz2", ".zst")
# What the bytes of a compressed file begin with.
BEGINNINGS = {b"\x1f\x8b": ".gz", b"BZh": ".bz2", b"\x28\xb5\x2f\xfd": ".zst"}
# What is kept of a file as objects takes several times the memory of its text, and it may be compressed.
OF_OBJECTS, OF_DISK = 4, 3
LIST_BYTES = 16  # of text, for a list or an object of JSON, which takes as much memory as so many


def suffix_of(path: Path) -> str:
    """Return the end of a file's name, with the one before ``.gz``, ``.bz2`` or ``.zst``."""
    return "".join(path.suffixes[-2 if path.suffix.lower() in COMPRESSIONS else -1 :]).lower()


def without_compression(suffix: str) -> str:
    """The end of a name before ``.gz``, ``.bz2`` or ``.zst``."""
    return next((suffix.removesuffix(end) for end in COMPRESSIONS if suffix.endswith(end)), suffix)


def most_letters() -> int:
    """The longest cell or line: an unclosed quote in a big file must not fill the memory."""
    return MEMBER.size // OF_OBJECTS


def most_kept(size: int) -> int:
    """How much text is kept as objects, for this size of a file."""
    return max(MEMBER.size // OF_OBJECTS, OF_DISK * size)


def refuse_much(kept: int, size: int) -> None:
    """Raise if the text that is kept as objects is too long, for this size of a file."""
    most = most_kept(size)
    if kept > most:
        raise ValueError(
            f"expected at most {most:,} bytes of decompressed text to be kept, {OF_DISK} times the size of the file or "
            f"1/{OF_OBJECTS} of {MEMBER.in_words}, got more"
        )


def length_of_json(content: bytes) -> int:
    """The length of a text of JSON, in which lists and objects count as longer."""
    return len(content) + LIST_BYTES * (content.count(b"[") + content.count(b"{"))


def compression_of(raw: Any) -> str:
    """The end of a name that the first bytes of a stream suggest, without reading them; empty if there is none."""
    first = raw.peek(4)
    return next((end for beginning, end in BEGINNINGS.items() if first.startswith(beginning)), "")


def decompressed(raw: BinaryIO, suffix: str) -> Any:
    """The bytes in a file of such a name."""
    if suffix.endswith(".gz"):
        return gzip.GzipFile(fileobj=raw)
    if suffix.endswith(".bz2"):
        return bz2.BZ2File(raw)
    return io.BufferedReader(_Zstd(raw)) if suffix.endswith(".zst") else raw


class _Zstd(io.RawIOBase):
    """The content of a file that Zstandard has compressed."""

    def __init__(self, raw: BinaryIO) -> None:
        import pyarrow as pa  # here, as most files are not compressed so

        super().__init__()
        self._content = pa.CompressedInputStream(pa.PythonFile(raw, mode="r"), "zstd")

    def readable(self) -> bool:
        return True

    def readinto(self, buffer: Any) -> int:
        try:
            found = self._content.read(len(buffer))
        except OSError as error:
            if error.errno:
                raise
            raise ValueError(f"expected a file compressed by zstd: {error}") from error
        buffer[: len(found)] = found
        return len(found)
