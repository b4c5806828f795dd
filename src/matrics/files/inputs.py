"""Decide what a path contains: rows of labels (text, Parquet files, data sets, files of counts), or matrices."""

from __future__ import annotations

import itertools
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, TypeVar

from matrics.files.counts import Counts
from matrics.files.counts_file import CountsFile, CountsRows, opened
from matrics.files.fragments import Fragment, find, is_pattern, texts
from matrics.files.names import Names
from matrics.files.parquet import ParquetRows
from matrics.files.rows import RowReader, TextRows, name_of, named
from matrics.files.text import STDIN, TEXTS, suffix_of

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence
    from pathlib import Path

    from matrics.files.text import TextFile

AnyNames = TypeVar("AnyNames", bound=Names)
Made = TypeVar("Made")

ARRAYS = (".npy", ".npz")


@dataclass(frozen=True)
class LabelRows:
    """Rows of labels, the columns to count, and the classes and groups that files of counts declare."""

    file: str  # for messages
    rows: RowReader
    names: Names
    texts: frozenset[str] = frozenset()  # columns of text that may be numbers or times
    classes: tuple[Any, ...] = ()  # that are there whether a row has them or not

    @property
    def are_counts(self) -> bool:
        """Whether the rows are those of files of counts."""
        return isinstance(self.rows, CountsRows)

    def counts(self) -> Counts:
        """Empty counts for these rows."""
        counts = Counts(self.names, self.texts)
        for classes in self.classes:
            with named(self.file):
                counts.learn_classes(classes)
        return counts


def files_of(paths: Sequence[Path]) -> list[Path]:
    """The files of these paths, in the order in which they are read."""
    return [one.path for one in _all_fragments(paths)]


def has_matrices(path: Path) -> bool:
    """Whether a file has matrices, or counts, which are named as matrices are."""
    if path == STDIN or path.is_dir() or is_pattern(path):
        return False
    suffix = suffix_of(path)
    return suffix in ARRAYS or (suffix == ".parquet" and opened(path) is not None)


def open_labels(paths: Sequence[Path], names: Names, text: TextFile | None = None) -> LabelRows:
    """The rows of labels of these files, or counts where no option names their columns; ``text`` is open already."""
    file = ", ".join(map(name_of, paths))
    if all(path == STDIN or suffix_of(path) in TEXTS for path in paths):
        paths = [one for path in paths for one in (texts(path) if is_pattern(path) else [path])]
        _refuse_twice([path for path in paths if path != STDIN])
        if list(paths).count(STDIN) > 1:
            raise ValueError("-: expected standard input once, got it several times")
        suffixes = tuple(".csv" if path == STDIN else suffix_of(path) for path in paths)
        untyped = frozenset({*names.labels, *names.cells})
        return LabelRows(file, TextRows(tuple(paths), suffixes, names, text), names, untyped)
    fragments = _all_fragments(paths)
    counts = _counts(fragments) if names.counts is None else None
    if counts is not None:
        for option, given in (("clusters", names.clusters), ("weight", names.weight)):
            if given is not None:
                raise ValueError(f"--{option}: expected a file of labels, got {file}, which has counts")
        return _of_counts(file, counts, names)
    rows = _parquet_rows(fragments, names)
    return LabelRows(file, rows, names, rows.folders)


def open_counts(paths: Sequence[Path], names: Names) -> LabelRows:
    """The rows of these files of counts."""
    for path in paths:
        if suffix_of(path) != ".parquet" and not (path.is_dir() or is_pattern(path)):
            raise ValueError(f"{path}: expected a file of counts, .parquet, as by matrics count")
    files = [(one.path, opened(one.path)) for one in _all_fragments(paths)]
    wrong = next((path for path, counts in files if counts is None), None)
    if wrong is not None:
        raise ValueError(f"{wrong}: expected a file of counts, as by matrics count, got another")
    return _of_counts(", ".join(map(str, paths)), [counts for _, counts in files if counts is not None], names)


def read_rows(path: Path, names: AnyNames, made: Callable[[Any, AnyNames], Made]) -> tuple[str, Made]:
    """Return the name of a file of rows and the result of ``make``; errors have the name of the file."""
    file = name_of(path)
    suffix = ".csv" if path == STDIN else suffix_of(path)
    if is_pattern(path) and suffix in TEXTS:
        raise ValueError(f"{file}: expected one file of text, got a pattern, which is for Parquet files here")
    if path.is_dir() or is_pattern(path):
        suffix = ".parquet"
    elif path != STDIN:
        path.stat()  # raises with the name of a missing file
    if suffix not in (".parquet", *TEXTS):
        raise ValueError(
            f"{file}: expected a file of labels: .parquet, {', '.join(TEXTS)}, got {suffix or 'no suffix'}"
        )
    with named(file):
        if suffix == ".parquet":
            return file, made(parquet_rows([path], names).table(), names)
        return file, made(TextRows((path,), (suffix,), names).table(), names)


def _of_counts(file: str, files: list[CountsFile], names: Names) -> LabelRows:
    rows = CountsRows(files)
    for one in files:
        with named(str(one.path)):
            one.about  # noqa: B018 (raises if it cannot be read)
    rows.check()
    if names.labels not in (Names().labels, rows.names.labels):
        there = " and ".join(rows.names.labels)
        raise ValueError(f"{file}: expected --true and --pred to name {there}, got {' and '.join(names.labels)}")
    with named(str(files[0].path)):
        chosen = rows.chosen(names.by)
    return LabelRows(file, rows, chosen, classes=tuple(one.about.classes for one in files))


def _all_fragments(paths: Sequence[Path]) -> list[Fragment]:
    fragments = [fragment for path in paths for fragment in _fragments(path)]
    _refuse_twice([fragment.path for fragment in fragments])
    return fragments


def _refuse_twice(files: Sequence[Path]) -> None:
    """Raise if a file would be counted twice, for example by its name and by a pattern."""
    before: set[Path] = set()
    for file in files:
        place = file.resolve()
        if place in before:
            raise ValueError(f"{file}: expected each file once, got it twice")
        before.add(place)


def _fragments(path: Path) -> list[Fragment]:
    if not is_pattern(path):
        path.stat()  # raises with the name of a missing file
    return find(path)


def _counts(fragments: list[Fragment]) -> list[CountsFile] | None:
    """The files of counts; None if not all files are such."""
    files = [opened(fragment.path) for fragment in fragments]
    found: list[CountsFile] = [file for file in files if file is not None]
    if found and len(found) < len(files):
        other = next(one.path for one, file in zip(fragments, files, strict=True) if file is None)
        raise ValueError(f"{other}: expected a file of counts, as {found[0].path} is one, got another")
    return found or None


def parquet_rows(paths: Sequence[Path], names: Names) -> ParquetRows:
    """The rows of Parquet files and data sets."""
    return _parquet_rows(_all_fragments(paths), names)


def _parquet_rows(fragments: list[Fragment], names: Names) -> ParquetRows:
    wrong = next((one.path for one in fragments if suffix_of(one.path) != ".parquet"), None)
    if wrong is not None:
        suffix = suffix_of(wrong)
        got = "both kinds" if suffix in TEXTS else suffix or "a name without a suffix"
        raise ValueError(f"{wrong}: expected only text files or only Parquet files, got {got}")
    first = [name for name, _ in fragments[0].folders]
    for one, other in itertools.pairwise(fragments):
        names_of_folders = [name for name, _ in other.folders]
        if names_of_folders != first:
            raise ValueError(
                f"{other.path}: expected folders with the same names as in {one.path}, {first}, got {names_of_folders}"
            )
    return ParquetRows(fragments, names)
