"""Limits of memory, which environment variables change."""

import os
from typing import NamedTuple

MIB = 2**20


class Limit(NamedTuple):
    """A limit that an environment variable changes, in MiB."""

    variable: str
    default: int

    @property
    def size(self) -> int:
        """The limit in bytes, as set by the environment."""
        text = os.environ.get(self.variable, "")
        if not text:
            return self.default * MIB
        if not (text.isascii() and text.isdigit() and 0 < len(text) < 13):
            raise ValueError(f"{self.variable}: expected a whole number of MiB, got {text[:40]!r}")
        return int(text) * MIB

    @property
    def in_words(self) -> str:
        """The limit in words, with the environment variable that changes it."""
        return f"{self.size // MIB:,} MiB, the limit of the environment variable {self.variable}"


#: The limit of an array or a running state.
ARRAY = Limit("MATRICS_MAX_ARRAY_MIB", 1024)
#: The limit of a part of a file that is read at once: a line, a cell, or a member of an archive.
MEMBER = Limit("MATRICS_MAX_MEMBER_MIB", 256)
