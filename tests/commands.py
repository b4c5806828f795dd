"""What tests of the command line do with the fixture ``command``."""

import re
import shutil
from pathlib import Path


def done(command, *arguments):
    """What a command prints that succeeds, with nothing on stderr but a warning of labels, which few rows deserve."""
    code, out, err = command(*arguments)
    assert (code, without_warning(err)) == (0, "")
    return out


def without_warning(err):
    """Standard error without a line that warns."""
    return re.sub(r"^matrics: warning: .*\n", "", err, count=1)


def refused(command, *arguments):
    """The one line of a command that fails."""
    code, out, err = command(*arguments)
    assert (code, out, len(err.splitlines())) == (2, "", 1)
    return err.removeprefix("matrics: ").rstrip("\n")


def content(name):
    """The bytes of a file, or of all files of a directory."""
    path = Path(name)
    files = sorted(path.iterdir()) if path.is_dir() else [path]
    return {file.name: file.read_bytes() for file in files}


def whole(command, *arguments):
    """What an uninterrupted run writes to its last argument, which is removed, and what it shows."""
    out = done(command, *arguments)
    made = content(arguments[-1])
    shutil.rmtree(arguments[-1]) if Path(arguments[-1]).is_dir() else Path(arguments[-1]).unlink()
    return made, out
