"""Decide what a path contains: rows of labels (text, Parquet files, data sets, files of counts), or matrices."""

from __future__ import annotations

import functools
import itertools
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any, Literal, TypeVar

from matrics._errors import ArgumentError
from matrics._files.columns import typed
from matrics._files.compression import suffix_of
from matrics._files.counts import Counts
from matrics._files.counts_file import CountsFile, CountsRows, opened
from matrics._files.foreign import FOREIGN, Answers, ForeignTable, check_answers, in_python, read_foreign
from matrics._files.fragments import Fragment, find, is_pattern, texts
from matrics._files.labels import joined_order, labelled, order_of, sides
from matrics._files.missing import said, settled
from matrics._files.names import Names, wanted_columns
from matrics._files.notices import refuse_disjoint, say, two_names, warn_of_odd_labels
from matrics._files.parquet import ParquetRows, open_parquet
from matrics._files.rows import RowReader, TextRows, name_of, named
from matrics._files.sheets import Sheet
from matrics._files.table_rows import TableRows
from matrics._files.text import STDIN, TEXTS, open_text
from matrics._quoting import quoted

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence
    from pathlib import Path

    from matrics._files.text import TextFile

AnyNames = TypeVar("AnyNames", bound=Names)
Made = TypeVar("Made")

ARRAYS = (".npy", ".npz")


@dataclass(frozen=True)
class LabelRows:
    """Rows of labels, the columns to count, and the classes and groups that files of counts declare."""

    file: str  # for messages
    rows: RowReader
    names: Names
    texts: frozenset[str] = frozenset()  # columns of groups that are text, and may be numbers or times
    classes: tuple[Any, ...] = ()  # that are there whether a row has them or not
    order: tuple[str, ...] | None = None  # of these classes, if it has a meaning

    @property
    def are_counts(self) -> bool:
        """Whether the rows are those of files of counts."""
        return isinstance(self.rows, CountsRows)

    @property
    def is_log(self) -> bool:
        """Whether the labels are grades that a program has written: pass and fail, not all of them on both sides."""
        return isinstance(self.rows, TableRows) and self.rows.is_log

    def counts(self) -> Counts:
        """Empty counts for these rows."""
        counts = Counts(self.names, self.texts)
        counts.order = self.order
        for classes in self.classes:
            with named(self.file):
                counts.learn_classes(classes)
        return counts


@dataclass(frozen=True)
class Input:
    """The files of a path, and what they contain."""

    path: Path
    kind: Literal["arrays", "text", "rows", "counts", "table"]  # rows and counts are Parquet
    files: tuple[Fragment, ...] = ()  # none for standard input
    counts: tuple[CountsFile, ...] = ()
    table: ForeignTable | None = None

    @property
    def paths(self) -> list[Path]:
        """The files, in the order in which they are read."""
        return [file.path for file in self.files]

    def rows_of_table(self, names: Names) -> TableRows:
        """The rows of a table that is read already."""
        assert self.table is not None  # noqa: S101 (for mypy: of this kind)
        if not isinstance(self.table, Sheet):
            return TableRows(name_of(self.path), self.table, names)
        title = f", sheet {quoted(self.table.name)}" if self.table.name else ""
        return TableRows(name_of(self.path) + title, replace(self.table, expected=wanted_columns(names)), names)


def open_input(path: Path, *, counts_as_rows: bool = False, answers: Answers | None = None) -> Input:
    """Decide what a path contains; with ``counts_as_rows`` a file of counts is a table like any other.

    ``answers`` says which answers of an evaluation log are read.
    """
    many = path.is_dir() or is_pattern(path)
    if path != STDIN and suffix_of(path) in FOREIGN and not path.is_dir():
        return _read_foreign(path, texts(path) if many else [path], answers)
    if answers is not None:
        check_answers(answers, path)
    if path == STDIN:
        return Input(path, "text")
    if not many:
        path.stat()  # raises with the name of a missing file
        suffix = suffix_of(path)
        if suffix in ARRAYS:
            return Input(path, "arrays", (Fragment(path),))
        if suffix not in (".parquet", *TEXTS):
            known = ", ".join((*ARRAYS, ".parquet", *TEXTS, *FOREIGN))
            raise ValueError(
                f"{path}: expected a name that ends in {known}, got {suffix or 'no suffix'}{in_python(path)}"
            )
        if suffix in TEXTS:
            return Input(path, "text", (Fragment(path),))  # it may be a pipe
    files = tuple(find(path))
    if files and all(suffix_of(file.path) in TEXTS for file in files):
        return Input(path, "text", files)
    counts = None if counts_as_rows else _counts(files)
    return Input(path, "rows", files) if counts is None else Input(path, "counts", files, counts)


def _read_foreign(path: Path, files: Sequence[Path], answers: Answers | None) -> Input:
    """A file of another tool, or several as one table."""
    if answers is not None:
        check_answers(answers, path, suffix_of(path))
    with named(name_of(path)):
        found = read_foreign(suffix_of(path), files, answers)
    if found.notice:
        say(f"{name_of(path)}: {found.notice}")
    return Input(path, "table", tuple(map(Fragment, files)), table=found)


def header_of(source: Input, encoding: str = "utf-8") -> list[str]:
    """The names of the columns of the first file; none of standard input, which can be read only once, or of arrays."""
    if source.table is not None:
        return list(source.table.columns)
    if source.kind not in ("text", "rows") or not source.files:
        return []
    first = source.paths[0]
    with named(name_of(source.path)):
        if source.kind == "text":
            with open_text(first, suffix_of(first), encoding) as text:
                return text.header
        with open_parquet(first) as file:
            return list(file.schema_arrow.names)


def open_labels(inputs: Sequence[Input], names: Names, text: TextFile | None = None) -> LabelRows:
    """The rows of labels of these inputs, or their counts; ``text`` is open already."""
    file = ", ".join(name_of(one.path) for one in inputs)
    for one in inputs:
        refuse_options_of_text(one, names)
    fragments = [fragment for one in inputs for fragment in one.files]
    kinds = {one.kind for one in inputs}
    if "table" in kinds:
        if len(inputs) > 1:
            raise ValueError(f"{file}: expected one file of this kind, or a pattern of them, got several inputs")
        with named(file):
            return LabelRows(file, inputs[0].rows_of_table(names), names)
    if "arrays" in kinds or ("text" in kinds and len(kinds) > 1):
        kind = "arrays" if "arrays" in kinds else "text"
        wrong = next(one for one in inputs if one.kind == kind)
        got = suffix_of(wrong.path) if kind == "arrays" else "both kinds"
        raise ValueError(f"{wrong.path}: expected only text files or only Parquet files, got {got}")
    _refuse_twice([fragment.path for fragment in fragments])
    if kinds == {"text"}:
        paths = tuple(path for one in inputs for path in (one.paths or [STDIN]))
        if paths.count(STDIN) > 1:
            raise ValueError("-: expected standard input once, got it several times")
        suffixes = tuple(".csv" if path == STDIN else suffix_of(path) for path in paths)
        return LabelRows(file, TextRows(paths, suffixes, names, text), names, frozenset(names.cells))
    if kinds == {"rows"}:
        rows = _parquet_rows(fragments, names)
        return LabelRows(file, rows, names, rows.folders)
    _refuse_mixed(inputs)
    for option, given in (("clusters", names.clusters), ("weight", names.weight)):
        if given is not None:
            raise ArgumentError(option, f"expected a file of labels, got {file}, which has counts")
    return _of_counts(file, [counts for one in inputs for counts in one.counts], names)


def open_counts(paths: Sequence[Path], names: Names) -> LabelRows:
    """The rows of these files of counts."""
    inputs = []
    for path in paths:
        if suffix_of(path) != ".parquet" and not (path.is_dir() or is_pattern(path)):
            raise ValueError(f"{path}: expected a file of counts, .parquet, as by matrics count")
        inputs.append(open_input(path, answers=names.answers))
    wrong = next((one.paths[0] for one in inputs if one.kind != "counts"), None)
    if wrong is not None:
        raise ValueError(f"{wrong}: expected a file of counts, as by matrics count, got another")
    return open_labels(inputs, names)


def read_rows(
    found: Path | Input, names: AnyNames, made: Callable[[Any, AnyNames], Made], *, warns: bool = True
) -> tuple[str, Made, int]:
    """Return the name of a file of rows, the result of ``made``, and how many rows are left out.

    Errors have the name of the file. ``made`` takes a table whose labels are codes of classes, see
    :func:`matrics._files.labels.labelled`. With ``warns``, labels that are probably mistakes are named on stderr.
    """
    found = found if isinstance(found, Input) else open_input(found, answers=names.answers)
    file = name_of(found.path)
    if found.kind == "counts":
        raise ValueError(f"{file}: expected a file of labels with one row per sample, got counts")
    if found.kind == "arrays":
        raise ValueError(
            f"{file}: expected a file of labels: .parquet, {', '.join(TEXTS)}, got {suffix_of(found.path)}"
        )
    refuse_options_of_text(found, names)
    with named(file):
        whole = read_table(found, names)
        order = functools.reduce(joined_order, [order_of(whole[name]) for name in names.labels], None)
        table, left_out = settled(whole, names)
        if left_out:
            say(f"{file}: {said(left_out, names)}")
        for name in names.cells if found.kind == "text" else ():
            if name not in names.labels:
                table = table.set_column(table.column_names.index(name), name, typed(table[name]))
        table = labelled(table, names, order)
        result = made(table, names)
    warns = warns and bool(names.labels) and names.order is None  # with labels in an order, these are meant
    if warns and not (found.table is not None and found.table.scorers):
        _check_sides(file, table, names)
    return file, result, left_out


def read_table(found: Input, names: Names) -> Any:
    """All rows of a file of rows at once."""
    if found.kind == "table":
        return found.rows_of_table(names).table()
    if found.kind == "rows":
        return _parquet_rows(found.files, names).table()
    paths = tuple(found.paths) or (STDIN,)
    return TextRows(paths, tuple(".csv" if path == STDIN else suffix_of(path) for path in paths), names).table()


def _check_sides(file: str, table: Any, names: AnyNames) -> None:
    """Raise where true and predicted labels have nothing in common, and warn of those that are probably mistakes."""
    of_true, of_pred = sides(table, names)
    if two_names(of_true, of_pred, names.positive) is not None:
        return
    if len(names.labels) == 2:
        refuse_disjoint(file, of_true, of_pred, names.labels)
    warn_of_odd_labels(file, of_true, of_pred)


def refuse_options_of_text(source: Input, names: Names) -> None:
    """Raise if options of text files are given for another kind of file."""
    for option in ("encoding", "decimal"):
        if getattr(names, option) != getattr(Names, option) and source.kind != "text":
            raise ArgumentError(option, f"expected a text file with it, got {name_of(source.path)}")


def _of_counts(file: str, files: list[CountsFile], names: Names) -> LabelRows:
    rows = CountsRows(files)
    for one in files:
        with named(str(one.path)):
            one.about  # noqa: B018 (raises if it cannot be read)
    rows.check()
    if names.labels not in (Names().labels, rows.names.labels):
        there = " and ".join(rows.names.labels)
        raise ValueError(f"{file}: expected true= and pred= to name {there}, got {' and '.join(names.labels)}")
    with named(str(files[0].path)):
        chosen = rows.chosen(names.by)
    chosen = replace(chosen, text_labels=True, order=names.order)  # labels that have been read before
    abouts = [one.about for one in files]
    order = functools.reduce(joined_order, [about.order for about in abouts], None)
    return LabelRows(file, rows, chosen, classes=tuple(about.classes for about in abouts), order=order)


def _refuse_twice(files: Sequence[Path]) -> None:
    """Raise if a file would be counted twice, for example by its name and by a pattern."""
    before: set[Path] = set()
    for file in files:
        place = file.resolve()
        if place in before:
            raise ValueError(f"{file}: expected each file once, got it twice")
        before.add(place)


def _counts(fragments: Sequence[Fragment]) -> tuple[CountsFile, ...] | None:
    """The files of counts; None if there are none."""
    files = [opened(fragment.path) for fragment in fragments if suffix_of(fragment.path) == ".parquet"]
    found = tuple(file for file in files if file is not None)
    if found and len(found) < len(fragments):
        other = next(one.path for one in fragments if one.path not in {file.path for file in found})
        raise ValueError(f"{other}: expected a file of counts, as {found[0].path} is one, got another")
    return found or None


def _refuse_mixed(inputs: Sequence[Input]) -> None:
    """Raise if some inputs are counts and others are not."""
    counts = next(one for one in inputs if one.kind == "counts")
    other = next((one for one in inputs if one.kind != "counts"), None)
    if other is not None:
        raise ValueError(f"{other.paths[0]}: expected a file of counts, as {counts.paths[0]} is one, got another")


def parquet_rows(path: Path, names: Names) -> ParquetRows:
    """The rows of Parquet files and data sets."""
    if not (path.is_dir() or is_pattern(path)):
        path.stat()  # raises with the name of a missing file
    return _parquet_rows(find(path), names)


def _parquet_rows(fragments: Sequence[Fragment], names: Names) -> ParquetRows:
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
    return ParquetRows(list(fragments), names)
