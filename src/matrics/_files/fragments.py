"""The Parquet files of a folder or a pattern, where names of folders may have values: ``year=2024``."""

from __future__ import annotations

import glob
import os
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING
from urllib.parse import unquote

from matrics._files.compression import suffix_of
from matrics._files.foreign import FOREIGN, in_python
from matrics._files.text import STDIN, TEXTS

if TYPE_CHECKING:
    from collections.abc import Iterable

NO_VALUE = "__HIVE_DEFAULT_PARTITION__"
SUFFIX = ".parquet"
NO_FILE = "{}: expected a pattern that matches a file, got no match"


@dataclass(frozen=True)
class Fragment:
    """A file of a data set, and the columns in the names of its folders."""

    path: Path
    folders: tuple[tuple[str, str], ...] = ()

    def value(self, name: str) -> str:
        """The value of a column in the name of a folder."""
        value = dict(self.folders).get(name, NO_VALUE)
        if value in ("", NO_VALUE):
            raise ValueError(f"{self.path}: expected a folder {name}=VALUE above the file, got no such folder")
        return value


def is_pattern(path: Path) -> bool:
    """Whether a path is a pattern with ``*``, ``?`` or ``[``; an existing file of this name is no pattern."""
    return glob.has_magic(str(path)) and not path.exists()


def texts(path: Path) -> list[Path]:
    """The text files that match a pattern, sorted by name."""
    files = sorted(Path(name) for name in glob.glob(str(path), recursive=True))  # noqa: PTH207 (also absolute paths)
    if not files:
        raise ValueError(NO_FILE.format(path))
    return files


def is_stream(path: Path) -> bool:
    """Whether the path can be read only from its beginning to its end: standard input, a pipe or a device."""
    return path == STDIN or (path.exists() and not path.is_file() and not path.is_dir())


def refuse_stream(path: Path) -> None:
    """Raise if the path can be read only from its beginning to its end."""
    if is_stream(path):
        raise ValueError(f"{path}: expected a file that can be read in any order, got a pipe or a device")


def find(path: Path) -> list[Fragment]:
    """The Parquet files of a path, sorted by name, so that their order is the same everywhere."""
    if in_python(path) and not is_pattern(path):  # such as a folder of Zarr, whose files are no tables
        raise ValueError(f"{path}: expected a file of labels or counts, got arrays{in_python(path)}")
    if is_pattern(path) and suffix_of(path) in (*TEXTS, *FOREIGN):
        return [Fragment(file) for file in texts(path)]
    if is_pattern(path):
        matches = [Path(name) for name in glob.glob(str(path), recursive=True)]  # noqa: PTH207 (also absolute paths)
        files = [file for match in matches for file in (_within(match) if match.is_dir() else [match])]
        fixed = Path(*path.parts[: next(k for k, part in enumerate(path.parts) if glob.has_magic(part))])
    elif path.is_dir():
        files, fixed = list(_within(path)), path
    else:
        refuse_stream(path)
        return [Fragment(path)]
    if not files and is_pattern(path):
        raise ValueError(NO_FILE.format(path))
    if not files:
        raise ValueError(f"{path}: expected a file, got a directory without files that end in {SUFFIX}")
    ordered = sorted(set(files), key=lambda file: file.parts)
    if all(suffix_of(file) in TEXTS for file in ordered):
        return list(map(Fragment, ordered))
    fragments = []
    for file in ordered:
        if file.suffix.lower() != SUFFIX:
            raise ValueError(
                f'{file}: expected only Parquet files, got another; name the files to read: "**/*{SUFFIX}"'
            )
        fragments.append(Fragment(file, tuple(_folders(file.relative_to(fixed).parts[:-1]))))
    return fragments


def _within(folder: Path) -> Iterable[Path]:
    """All files of a folder, without names that begin with a dot or an underscore, which are no data by convention."""
    for where, folders, files in os.walk(folder, onerror=_raise):
        folders[:] = [name for name in folders if not name.startswith((".", "_"))]
        yield from (Path(where, name) for name in files if not name.startswith((".", "_")))


def _raise(error: OSError) -> None:
    raise error


def _folders(parts: Iterable[str]) -> Iterable[tuple[str, str]]:
    for part in parts:
        name, equals, value = part.partition("=")
        if equals and name:
            yield unquote(name), unquote(value)
