"""Compressed files, by the ends of their names."""

from __future__ import annotations

import gzip
import io
from typing import TYPE_CHECKING, Any, BinaryIO

if TYPE_CHECKING:
    from pathlib import Path

COMPRESSIONS = (".gz", ".zst")


def suffix_of(path: Path) -> str:
    """Return the end of a file's name, with the one before ``.gz`` or ``.zst``."""
    return "".join(path.suffixes[-2 if path.suffix.lower() in COMPRESSIONS else -1 :]).lower()


def without_compression(suffix: str) -> str:
    """The end of a name before ``.gz`` or ``.zst``."""
    return next((suffix.removesuffix(end) for end in COMPRESSIONS if suffix.endswith(end)), suffix)


def decompressed(raw: BinaryIO, suffix: str) -> Any:
    """The bytes in a file of such a name."""
    if suffix.endswith(".gz"):
        return gzip.GzipFile(fileobj=raw)
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
