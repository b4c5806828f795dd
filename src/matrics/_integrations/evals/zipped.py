"""Members of a ZIP archive, also with the compression Zstandard, which Python supports from version 3.14 on."""

from __future__ import annotations

import struct
import zipfile
import zlib
from typing import Any

from matrics._files.archives import refuse_large

ZSTANDARD = 93  # the number of the method in the headers of members
LOCAL_HEADER = 30  # bytes; the last four are the lengths of the two fields that follow


def read_member(archive: zipfile.ZipFile, name: str) -> bytes:
    """The bytes of a member.

    Raises
    ------
    ValueError
        The compression is not supported, or the bytes are damaged.
    ImportError
        pyarrow is missing, and Zstandard compresses the member.
    """
    info = archive.getinfo(name)
    refuse_large(info)
    if info.compress_type != ZSTANDARD:
        try:
            return archive.read(name)
        except (NotImplementedError, zipfile.BadZipFile, zlib.error) as error:
            raise ValueError(f"expected a member {name} that zipfile can read, got: {error}") from error
    try:
        import pyarrow as pa
    except ImportError as error:
        raise ImportError(
            f"a log that Zstandard compresses needs pyarrow: python -m pip install pyarrow ({name})"
        ) from error
    try:
        with pa.CompressedInputStream(pa.BufferReader(_raw(archive, info)), "zstd") as stream:
            content = bytes(stream.read(info.file_size + 1))
    except (OSError, struct.error) as error:
        raise ValueError(f"expected a member {name} compressed by Zstandard, got: {error}") from error
    if len(content) != info.file_size or zlib.crc32(content) != info.CRC:
        raise ValueError(
            f"expected {info.file_size:,} bytes in {name} with their checksum, got others: the file is damaged"
        )
    return content


def _raw(archive: zipfile.ZipFile, info: zipfile.ZipInfo) -> bytes:
    """The compressed bytes, which follow the local header and two fields of variable length."""
    file: Any = archive.fp
    file.seek(info.header_offset)
    name, extra = struct.unpack("<HH", file.read(LOCAL_HEADER)[-4:])
    file.seek(info.header_offset + LOCAL_HEADER + name + extra)
    return bytes(file.read(info.compress_size))
