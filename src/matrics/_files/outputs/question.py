"""The description of a run: its options, the versions of the libraries, and its input.

An unfinished run continues only with the same description, or its output would mix two computations.
"""

from __future__ import annotations

import hashlib
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any

from matrics._files.fragments import find, is_pattern

PIECE = 2**16  # bytes of an input that each digest reads
PIECES = 64  # for all inputs together, in addition to the head and the tail of each


@dataclass(frozen=True)
class InputFile:
    """A file that is read, and how it is recognised: not all of it is read for that."""

    name: str
    place: str  # relative to the directory or pattern, because names of folders are data, too
    size: int
    changed: int  # nanoseconds
    digest: str

    def still(self) -> bool:
        """Whether the file has the size and the time that it had."""
        try:
            status = Path(self.name).stat()
        except OSError:
            return False
        return (status.st_size, status.st_mtime_ns) == (self.size, self.changed)


@dataclass(frozen=True)
class Question:
    """The options, versions and inputs of a run."""

    versions: dict[str, str]
    options: dict[str, Any]  # of the command line, as they were written; those left out that change no result
    inputs: tuple[InputFile, ...]

    def record(self) -> dict[str, Any]:
        """All of it, for JSON."""
        return {"versions": self.versions, "options": self.options, "inputs": [asdict(one) for one in self.inputs]}

    @classmethod
    def of_record(cls, record: dict[str, Any]) -> Question:
        """The question of a record."""
        return cls(record["versions"], record["options"], tuple(InputFile(**one) for one in record["inputs"]))

    def difference(self, before: Question) -> str | None:
        """Describe the first difference from an earlier run."""
        for name, version in self.versions.items():
            if before.versions.get(name) != version:
                return f"this is {name} {version}, and it was {before.versions.get(name)}"
        for name in sorted({*self.options, *before.options}):
            new, old = (_spell(options.get(name)) for options in (self.options, before.options))
            if new != old:
                return f"{name} is {new}, and it was {old}"
        if len(self.inputs) != len(before.inputs):
            return f"there are {len(self.inputs)} files to read, and there were {len(before.inputs)}"
        for now, then in zip(self.inputs, before.inputs, strict=True):
            # The path of a single file may change, because its directory may have been moved with the unfinished run.
            if now.place != then.place:
                return f"the files to read are others: {now.place}, and it was {then.place}"
            for what in ("size", "changed", "digest"):
                if getattr(now, what) != getattr(then, what):
                    return f"{now.name} has changed since ({_WORDS[what]})"
        return None

    def changed_input(self) -> str | None:
        """The name of a file that has changed since the run began."""
        return next((one.name for one in self.inputs if not one.still()), None)


_WORDS = {"size": "its size", "changed": "the time of its last change", "digest": "its content"}


def _spell(value: Any) -> str:
    if value is None or value is False:
        return "not given"
    if value is True:
        return "given"
    return " ".join(map(str, value)) if isinstance(value, (list, tuple)) else str(value)


def inputs_of(path: Path) -> tuple[InputFile, ...]:
    """How all files of a path are recognised: one file, those in a directory, or those that a pattern finds."""
    files = [one.path for one in find(path)]
    pieces = max(2, PIECES // len(files))
    return tuple(_recognise(file, _place(file, path), pieces) for file in files)


def _place(file: Path, path: Path) -> str:
    if is_pattern(path):
        return str(file)
    return str(file.relative_to(path)) if file != path else ""


def _recognise(file: Path, place: str, pieces: int) -> InputFile:
    status = file.stat()
    digest = hashlib.blake2b(digest_size=16)
    last = max(0, status.st_size - PIECE)
    with file.open("rb") as content:
        for start in sorted({last * piece // (pieces + 1) for piece in range(pieces + 2)}):
            content.seek(start)
            digest.update(content.read(PIECE))
    return InputFile(str(file), place, status.st_size, status.st_mtime_ns, digest.hexdigest())
