"""The process: whether it is the command line, how its threads are named, and its limits of memory."""

import os
import sys
from typing import NamedTuple

#: Of ``matrics`` and of ``python -m matrics``, but not of a program that calls ``matrics._cli.main``. While Python
#: looks for a module to run, its own options and the module's name stand before what is left in ``sys.argv``.
IS_COMMAND = sys.orig_argv[-len(sys.argv) - 1 :][:2] == ["-m", "matrics"] or bool(
    sys.argv and sys.argv[0].endswith(("/matrics", "\\matrics"))
)

READER = "matrics reader"  #: threads of this name may wait for a file or a pipe without limit

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
