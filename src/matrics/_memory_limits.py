"""Limits of memory, which environment variables raise."""

import os
from typing import NamedTuple

MIB = 2**20


class Limit(NamedTuple):
    """A limit that an environment variable changes, in MiB."""

    variable: str
    default: int

    @property
    def size(self) -> int:
        """In bytes, as the environment has it now."""
        text = os.environ.get(self.variable, "")
        if not text:
            return self.default * MIB
        if not (text.isascii() and text.isdigit() and 0 < len(text) < 13):
            raise ValueError(f"{self.variable}: expected a whole number of MiB, got {text[:40]!r}")
        return int(text) * MIB

    @property
    def in_words(self) -> str:
        """The limit, and how to change it."""
        return f"{self.size // MIB:,} MiB, the limit of the environment variable {self.variable}"


#: Of one array or running state.
ARRAY = Limit("MATRICS_MAX_ARRAY_MIB", 1024)
#: Of what is read from a file at once: a line, a cell, or a member of an archive.
MEMBER = Limit("MATRICS_MAX_MEMBER_MIB", 256)
