"""The kind of data in a path: rows of labels (text, Parquet files, data sets, files of counts), or matrices."""

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
from matrics._files.missing import drop_missing, left_out_text
from matrics._files.names import Names, required_columns
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
Result = TypeVar("Result")

ARRAYS = (".npy", ".npz")


@dataclass(frozen=True)
class LabelRows:
    """Rows of labels, the columns to count, and the classes and groups that files of counts declare."""

    file: str  # for messages
    rows: RowReader
    names: Names
    texts: frozenset[str] = frozenset()  # group columns of text, which may represent numbers or times
    classes: tuple[Any, ...] = ()  # declared classes, which need not occur in any row
    order: tuple[str, ...] | None = None  # of these classes, if it has a meaning

    @property
    def are_counts(self) -> bool:
        """Whether the rows are those of files of counts."""
        return isinstance(self.rows, CountsRows)

    @property
    def is_log(self) -> bool:
        """Whether the rows are from an evaluation log, in which a grade may occur on a single side."""
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
    """The files of a path, and the kind of their content."""

    path: Path
    kind: Literal["arrays", "text", "rows", "counts", "table"]  # rows and counts are Parquet
    files: tuple[Fragment, ...] = ()  # empty for standard input
    counts: tuple[CountsFile, ...] = ()
    table: ForeignTable | None = None

    @property
    def paths(self) -> list[Path]:
        """The files, in the order in which they are read."""
        return [file.path for file in self.files]

    def rows_of_table(self, names: Names) -> TableRows:
        """The rows of a table that is already in memory."""
        assert self.table is not None  # noqa: S101 (for mypy: true of this kind)
        if not isinstance(self.table, Sheet):
            return TableRows(name_of(self.path), self.table, names)
        title = f", sheet {quoted(self.table.name)}" if self.table.name else ""
        return TableRows(name_of(self.path) + title, replace(self.table, expected=required_columns(names)), names)


def open_input(path: Path, *, counts_as_rows: bool = False, answers: Answers | None = None) -> Input:
    """The files of a path and their kind; with ``counts_as_rows``, a file of counts has the kind ``rows``.

    ``answers`` selects the answers of an evaluation log.
    """
    has_several = path.is_dir() or is_pattern(path)
    if path != STDIN and suffix_of(path) in FOREIGN and not path.is_dir():
        return _read_foreign(path, texts(path) if has_several else [path], answers)
    if answers is not None:
        check_answers(answers, path)
    if path == STDIN:
        return Input(path, "text")
    if not has_several:
        path.stat()  # raises an error with the file name if the file is missing
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
    """The table in a file of another tool, or in several files."""
    if answers is not None:
        check_answers(answers, path, suffix_of(path))
    with named(name_of(path)):
        table = read_foreign(suffix_of(path), files, answers)
    if table.notice:
        say(f"{name_of(path)}: {table.notice}")
    return Input(path, "table", tuple(map(Fragment, files)), table=table)


def header_of(source: Input, encoding: str = "utf-8") -> list[str]:
    """The column names of the first file; empty for arrays, and for standard input, which can be read only once."""
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
    """The rows of labels of these inputs, or their counts; ``text`` is the input if it is already open."""
    file = ", ".join(name_of(source.path) for source in inputs)
    for source in inputs:
        refuse_options_of_text(source, names)
    fragments = [fragment for source in inputs for fragment in source.files]
    kinds = {source.kind for source in inputs}
    if "table" in kinds:
        if len(inputs) > 1:
            raise ValueError(
                f"{file}: expected a single file or pattern of this kind, got several inputs: pass a pattern"
            )
        with named(file):
            return LabelRows(file, inputs[0].rows_of_table(names), names)
    if "arrays" in kinds or ("text" in kinds and len(kinds) > 1):
        kind = "arrays" if "arrays" in kinds else "text"
        invalid = next(source for source in inputs if source.kind == kind)
        got = suffix_of(invalid.path) if kind == "arrays" else "both kinds"
        raise ValueError(f"{invalid.path}: expected only text files or only Parquet files, got {got}")
    _refuse_twice([fragment.path for fragment in fragments])
    if kinds == {"text"}:
        paths = tuple(path for source in inputs for path in (source.paths or [STDIN]))
        if paths.count(STDIN) > 1:
            raise ValueError("-: expected standard input once, got it several times")
        suffixes = tuple(".csv" if path == STDIN else suffix_of(path) for path in paths)
        return LabelRows(file, TextRows(paths, suffixes, names, text), names, frozenset(names.cells))
    if kinds == {"rows"}:
        rows = _parquet_rows(fragments, names)
        return LabelRows(file, rows, names, rows.folders)
    _refuse_mixed(inputs)
    for option, column in (("clusters", names.clusters), ("weight", names.weight)):
        if column is not None:
            raise ArgumentError(option, f"expected a file of labels, got {file}, which has counts")
    return _of_counts(file, [counts for source in inputs for counts in source.counts], names)


def open_counts(paths: Sequence[Path], names: Names) -> LabelRows:
    """The rows of these files of counts."""
    inputs = []
    for path in paths:
        if suffix_of(path) != ".parquet" and not (path.is_dir() or is_pattern(path)):
            raise ValueError(
                f"{path}: expected a file of counts with the suffix .parquet: matrics count writes such files"
            )
        inputs.append(open_input(path, answers=names.answers))
    invalid = next((source.paths[0] for source in inputs if source.kind != "counts"), None)
    if invalid is not None:
        raise ValueError(
            f"{invalid}: expected a file of counts, as written by matrics count, got a file of another kind"
        )
    return open_labels(inputs, names)


def read_rows(
    source: Path | Input, names: AnyNames, convert: Callable[[Any, AnyNames], Result], *, warns: bool = True
) -> tuple[str, Result, int]:
    """Return the name of a file of rows, the result of ``convert``, and the number of rows that are left out.

    Error messages begin with the name of the file. ``convert`` takes a table whose labels are codes of classes, see
    :func:`matrics._files.labels.labelled`. With ``warns``, a warning on stderr lists labels that are probably mistakes.
    """
    source = source if isinstance(source, Input) else open_input(source, answers=names.answers)
    file = name_of(source.path)
    if source.kind == "counts":
        raise ValueError(f"{file}: expected a file of labels with one row per sample, got counts")
    if source.kind == "arrays":
        raise ValueError(
            f"{file}: expected a file of labels: .parquet, {', '.join(TEXTS)}, got {suffix_of(source.path)}"
        )
    refuse_options_of_text(source, names)
    with named(file):
        all_rows = read_table(source, names)
        order = functools.reduce(joined_order, [order_of(all_rows[name]) for name in names.labels], None)
        table, left_out = drop_missing(all_rows, names)
        if left_out:
            say(f"{file}: {left_out_text(left_out, names)}")
        for name in names.cells if source.kind == "text" else ():
            if name not in names.labels:
                table = table.set_column(table.column_names.index(name), name, typed(table[name]))
        table = labelled(table, names, order)
        result = convert(table, names)
    warns = warns and bool(names.labels) and names.order is None  # a user who lists all labels means each of them
    if warns and not (source.table is not None and source.table.scorers):
        _check_sides(file, table, names)
    return file, result, left_out


def read_table(source: Input, names: Names) -> Any:
    """All rows of a file of rows at once."""
    if source.kind == "table":
        return source.rows_of_table(names).table()
    if source.kind == "rows":
        return _parquet_rows(source.files, names).table()
    paths = tuple(source.paths) or (STDIN,)
    return TextRows(paths, tuple(".csv" if path == STDIN else suffix_of(path) for path in paths), names).table()


def _check_sides(file: str, table: Any, names: AnyNames) -> None:
    """Raise if true and predicted labels have no label in common; warn of labels that are probably mistakes."""
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
            raise ArgumentError(option, f"expected a text file with this option, got {name_of(source.path)}")


def _of_counts(file: str, files: list[CountsFile], names: Names) -> LabelRows:
    rows = CountsRows(files)
    for counts_file in files:
        with named(str(counts_file.path)):
            counts_file.about  # noqa: B018 (raises if it cannot be read)
    rows.check()
    if names.labels not in (Names().labels, rows.names.labels):
        columns = " and ".join(rows.names.labels)
        raise ValueError(f"{file}: expected true= and pred= to name {columns}, got {' and '.join(names.labels)}")
    with named(str(files[0].path)):
        selected = rows.chosen(names.by)
    selected = replace(selected, text_labels=True, order=names.order)  # the labels were parsed when they were counted
    abouts = [counts_file.about for counts_file in files]
    order = functools.reduce(joined_order, [about.order for about in abouts], None)
    return LabelRows(file, rows, selected, classes=tuple(about.classes for about in abouts), order=order)


def _refuse_twice(files: Sequence[Path]) -> None:
    """Raise if an input has a file twice, for example by its name and by a pattern."""
    previous: set[Path] = set()
    for file in files:
        path = file.resolve()
        if path in previous:
            raise ValueError(f"{file}: expected each file once, got this file twice")
        previous.add(path)


def _counts(fragments: Sequence[Fragment]) -> tuple[CountsFile, ...] | None:
    """The files of counts; None if no file is of this kind."""
    files = [opened(fragment.path) for fragment in fragments if suffix_of(fragment.path) == ".parquet"]
    counts = tuple(file for file in files if file is not None)
    if counts and len(counts) < len(fragments):
        other = next(file.path for file in fragments if file.path not in {known.path for known in counts})
        raise ValueError(f"{other}: expected a file of counts, as {counts[0].path}, got a file of another kind")
    return counts or None


def _refuse_mixed(inputs: Sequence[Input]) -> None:
    """Raise if some inputs are counts and others are not."""
    counts = next(source for source in inputs if source.kind == "counts")
    other = next((source for source in inputs if source.kind != "counts"), None)
    if other is not None:
        raise ValueError(
            f"{other.paths[0]}: expected a file of counts, as {counts.paths[0]}, got a file of another kind"
        )


def parquet_rows(path: Path, names: Names) -> ParquetRows:
    """The rows of Parquet files and data sets."""
    if not (path.is_dir() or is_pattern(path)):
        path.stat()  # raises an error with the file name if the file is missing
    return _parquet_rows(find(path), names)


def _parquet_rows(fragments: Sequence[Fragment], names: Names) -> ParquetRows:
    invalid = next((fragment.path for fragment in fragments if suffix_of(fragment.path) != ".parquet"), None)
    if invalid is not None:
        suffix = suffix_of(invalid)
        got = "both kinds" if suffix in TEXTS else suffix or "a name without a suffix"
        raise ValueError(f"{invalid}: expected only text files or only Parquet files, got {got}")
    first = [name for name, _ in fragments[0].folders]
    for previous, other in itertools.pairwise(fragments):
        names_of_folders = [name for name, _ in other.folders]
        if names_of_folders != first:
            raise ValueError(
                f"{other.path}: expected folders with the same names as in {previous.path}, {first}, got "
                f"{names_of_folders}"
            )
    return ParquetRows(list(fragments), names)
