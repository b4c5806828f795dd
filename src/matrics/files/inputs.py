"""Which rows are to be counted: of text files, of Parquet files and data sets, or of files of counts."""

from __future__ import annotations

import itertools
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from matrics.files.rows import Rows, TextRows, named
from matrics.files.counts import Counter
from matrics.files.counts_rows import CountsFile, CountsRows, opened
from matrics.files.fragments import Fragment, find, is_pattern, texts
from matrics.files.parquet import ParquetRows
from matrics.files.labels import Names
from matrics.files.text import STDIN, TEXTS, suffix_of

if TYPE_CHECKING:
    from collections.abc import Sequence
    from pathlib import Path

COUNTS = (".npz", ".parquet")


@dataclass(frozen=True)
class Input:
    """Rows, the columns that are counted, and what is known of them before."""

    file: str  # for messages
    rows: Rows
    names: Names
    texts: frozenset[str] = frozenset()  # columns of text that may be numbers or times
    classes: tuple[Any, ...] = ()  # that are there whether a row has them or not

    def counter(self) -> Counter:
        """Nothing counted yet."""
        counter = Counter(self.names, self.texts)
        for classes in self.classes:
            with named(self.file):
                counter.learn_classes(classes)
        return counter


def open_input(paths: Sequence[Path], names: Names) -> Input:
    """What these files have to count: labels, or counts where nothing says which columns have them."""
    file = ", ".join("standard input" if path == STDIN else str(path) for path in paths)
    if all(path == STDIN or suffix_of(path) in TEXTS for path in paths):
        paths = [one for path in paths for one in (texts(path) if is_pattern(path) else [path])]
        _refuse_twice([path for path in paths if path != STDIN])
        if list(paths).count(STDIN) > 1:
            raise ValueError("-: expected standard input once, got it several times")
        suffixes = tuple(".csv" if path == STDIN else suffix_of(path) for path in paths)
        untyped = frozenset({*names.labels, *names.by})
        return Input(file, TextRows(tuple(paths), suffixes, names), names, untyped)
    fragments = _all_fragments(paths)
    counts = _counts(fragments) if names.counts is None else None
    if counts is not None:
        return _of_counts(file, counts, names)
    rows = _parquet_rows(fragments, names)
    return Input(file, rows, names, rows.folders)


def open_counts(paths: Sequence[Path], names: Names) -> Input:
    """What these files of counts have to count."""
    for path in paths:
        if suffix_of(path) not in COUNTS and not (path.is_dir() or is_pattern(path)):
            raise ValueError(f"{path}: expected a file of counts, {' or '.join(COUNTS)}, as by matrics count")
    fragments = _all_fragments(paths)
    files = [(one.path, opened(one.path)) for one in fragments]
    wrong = next((path for path, counts in files if counts is None), None)
    if wrong is not None:
        raise ValueError(f"{wrong}: expected a file of counts, as by matrics count, got another")
    return _of_counts(", ".join(map(str, paths)), [counts for _, counts in files if counts is not None], names)


def _of_counts(file: str, files: list[CountsFile], names: Names) -> Input:
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
    return Input(file, rows, chosen, classes=tuple(one.about.classes for one in files))


def _all_fragments(paths: Sequence[Path]) -> list[Fragment]:
    fragments = [fragment for path in paths for fragment in _fragments(path)]
    _refuse_twice([fragment.path for fragment in fragments])
    return fragments


def _refuse_twice(files: Sequence[Path]) -> None:
    """Raise if a file would be counted twice, as where a pattern has found it, too."""
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
    """The files as those of counts, if they all are."""
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
        raise ValueError(f"{wrong}: expected text files alone or Parquet files alone, got {got}")
    first = [name for name, _ in fragments[0].folders]
    for one, other in itertools.pairwise(fragments):
        names_of_folders = [name for name, _ in other.folders]
        if names_of_folders != first:
            raise ValueError(
                f"{other.path}: expected folders named as those of {one.path}, got {names_of_folders} after {first}"
            )
    return ParquetRows(fragments, names)
