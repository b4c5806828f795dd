"""Members of a ZIP archive, also of one compressed by Zstandard, which Python reads from 3.14 on."""

from __future__ import annotations

import struct
import zipfile
import zlib
from typing import Any

from matrics._files.archives import refuse_large

ZSTANDARD = 93  # the number of the method in the headers of members
LOCAL_HEADER = 30  # bytes, of which the last four are the lengths of two fields behind it


def read_member(archive: zipfile.ZipFile, name: str) -> bytes:
    """The bytes of a member.

    Raises
    ------
    ValueError
        The compression is another one, or the bytes are damaged.
    ImportError
        pyarrow is missing, and Zstandard compresses the member.
    """
    about = archive.getinfo(name)
    refuse_large(about)
    if about.compress_type != ZSTANDARD:
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
        with pa.CompressedInputStream(pa.BufferReader(_raw(archive, about)), "zstd") as stream:
            found = bytes(stream.read(about.file_size + 1))
    except (OSError, struct.error) as error:
        raise ValueError(f"expected a member {name} compressed by Zstandard, got: {error}") from error
    if len(found) != about.file_size or zlib.crc32(found) != about.CRC:
        raise ValueError(f"expected {about.file_size:,} bytes in {name} with their checksum: the file is damaged")
    return found


def _raw(archive: zipfile.ZipFile, about: zipfile.ZipInfo) -> bytes:
    """The compressed bytes, which lie behind the local header and two fields of any length."""
    file: Any = archive.fp
    file.seek(about.header_offset)
    name, extra = struct.unpack("<HH", file.read(LOCAL_HEADER)[-4:])
    file.seek(about.header_offset + LOCAL_HEADER + name + extra)
    return bytes(file.read(about.compress_size))
