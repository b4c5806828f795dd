"""Records of a run, line by line. A line that was cut off, or that anything has changed, ends what is believed."""

from __future__ import annotations

import json
import zlib
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from pathlib import Path


class Journal:
    """A file of records (JSON), each in a line that begins with its checksum."""

    def __init__(self, path: Path) -> None:
        self.path = path
        self.file = path.open("ab", buffering=0)

    def append(self, record: dict[str, Any]) -> None:
        """Write a record."""
        text = json.dumps(record, separators=(",", ":")).encode()
        line = f"{zlib.crc32(text):08x} ".encode() + text + b"\n"
        while line:
            line = line[self.file.write(line) :]

    def close(self) -> None:
        """Close the file."""
        self.file.close()


def read_journal(path: Path) -> list[tuple[dict[str, Any], int]]:
    """All records up to the first line that is not as it was written, each with where its line ends."""
    records = []
    end = 0
    with path.open("rb") as file:
        for line in file:
            checksum, _, text = line.partition(b" ")
            if not line.endswith(b"\n") or checksum != f"{zlib.crc32(text[:-1]):08x}".encode():
                break
            end += len(line)
            records.append((json.loads(text), end))
    return records
