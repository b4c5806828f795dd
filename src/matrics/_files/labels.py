"""Labels of any file as classes: whole numbers, booleans or text, by the same rules in every format."""

from __future__ import annotations

import re
from collections.abc import Iterable, Sequence
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from matrics._errors import ArgumentError
from matrics._files.columns import all_match, as_int64, decoded, is_text, refuse_missing, sorted_values
from matrics._quoting import first_twice, quoted

if TYPE_CHECKING:
    from matrics._files.names import Names

Array = Any
Column = Any
Order = tuple[str, ...]

MISSING_CLASS = "(missing)"  # what the class of labels without a value is called
SPELLINGS = (("false", "true"), ("False", "True"), ("FALSE", "TRUE"))  # of booleans: in JSON, of Python, of R
FALSE, TRUE = "False", "True"  # what the classes of booleans are called, whatever the file calls them
# Labels of two classes of which the last one is true.
TRUTHS = (("0", "1"), *SPELLINGS)
WHOLE = r"(0|-?[1-9][0-9]*)(\.0*)?"  # 01 and 0x10 are names
DECIMAL = r"-?([0-9]+\.?[0-9]*|\.[0-9]+)([eE][+-]?[0-9]+)?"
AS_THEY_STAND = "text_labels= reads labels as they stand"


class FoundLabels(NamedTuple):
    """The classes of columns of labels."""

    classes: Column  # all of them, in order
    ordered: bool  # whether their order has a meaning
    codes: list[Array]  # of each column: the class of each of its different labels


def as_labels(name: str, column: Column) -> Column:
    """Labels as 64-bit integers, booleans or text; NaN is a missing value."""
    column = decoded(column)
    kind = column.type
    if pa.types.is_integer(kind):
        return as_int64(name, column)
    if is_text(kind):
        return pc.cast(column, pa.large_string())
    if pa.types.is_floating(kind):
        column = pc.cast(column, pa.float64())
        return _whole(name, pc.if_else(pc.is_nan(column), pa.scalar(None, pa.float64()), column))
    if pa.types.is_decimal(kind):
        return _whole(name, column)
    if pa.types.is_boolean(kind):
        return column
    raise ValueError(f"column {quoted(name)}: expected labels, whole numbers or text, got {kind}")


def _whole(name: str, numbers: Column) -> Column:
    try:
        return pc.cast(numbers, pa.int64())
    except pa.ArrowInvalid as error:
        odd = next((one for one in numbers.to_pylist() if one is not None and one % 1 != 0), None)
        got = "one of at least 2**63" if odd is None else f"{odd}, which is not whole"
        raise ValueError(f"column {quoted(name)}: expected labels, whole numbers or text, got {got}") from error


# An order that a file has -------------------------------------------------------------------------------------------


def order_of(column: Column) -> Order | None:
    """The categories of an ordered categorical column, in their order."""
    kind = column.type
    if not (pa.types.is_dictionary(kind) and kind.ordered and is_text(kind.value_type)):
        return None
    found: Order | None = None
    for part in getattr(column, "chunks", [column]):
        found = joined_order(found, tuple(part.dictionary.to_pylist()))
    return found


def joined_order(one: Order | None, other: Order | None) -> Order | None:
    """The order of both; an empty one if they differ."""
    if one is None or other is None:
        return one if other is None else other
    longer, shorter = (one, other) if len(one) >= len(other) else (other, one)
    return longer if tuple(label for label in longer if label in shorter) == shorter else ()


def in_order(column: Column, order: Order | None) -> Column:
    """A column of text as an ordered categorical one, if its order is known."""
    if not order:
        return column
    categories = pa.array(order, column.type)
    places = pc.index_in(column, value_set=categories)
    if places.null_count > column.null_count:
        return column
    chunks = [pa.DictionaryArray.from_arrays(part, categories, ordered=True) for part in places.chunks]
    return pa.chunked_array(chunks, pa.dictionary(places.type, categories.type, ordered=True))


# The classes of columns ---------------------------------------------------------------------------------------------


def found_labels(columns: Sequence[tuple[str, Column]], names: Names, order: Order | None) -> FoundLabels:
    """The classes of columns with their different labels, of which none is missing.

    Text is read as whole numbers or booleans if all labels of the column are written so, and those of the other
    columns are numbers or booleans as well. ``order`` is that of the file.
    """
    if not names.keeps_unlabelled:
        labels = _of_one_kind(columns, names)
        return _classes(labels, names, order, has_missing=False)
    there = [pc.not_equal(labels, MISSING_CLASS) for _, labels in columns]
    plain = [(name, labels.filter(kept)) for (name, labels), kept in zip(columns, there, strict=True)]
    found = _classes(_of_one_kind(plain, names), names, order, has_missing=not all(map(_all, there)))
    codes = []
    for (_, labels), kept, of_plain in zip(columns, there, found.codes, strict=True):
        code = np.full(len(labels), len(found.classes) - 1, np.int64)
        code[kept.to_numpy(zero_copy_only=False)] = of_plain
        codes.append(code)
    return found._replace(codes=codes)


def _all(flags: Column) -> bool:
    return bool(pc.all(flags, min_count=0).as_py())


def _of_one_kind(columns: Sequence[tuple[str, Column]], names: Names) -> list[Column]:
    """The labels of all columns as integers, as booleans or as text."""
    wrong: list[str] = []
    read = [labels if names.text_labels else _read(name, labels, wrong) for name, labels in columns]
    used = [labels for labels in read if labels is None or len(labels)]
    if all(labels is not None and not is_text(labels.type) for labels in used):
        if wrong:
            raise ValueError(wrong[0])
        whole = [labels for labels in used if pa.types.is_int64(labels.type)]
        if len(whole) in (0, len(used)):
            kind = pa.int64() if whole else pa.bool_()
            return [labels if len(labels) else pa.array([], kind) for labels in read]
        if all(all(one in (0, 1) for one in labels.to_pylist()) for labels in whole):  # beside booleans
            return [labels.cast(pa.int64()) for labels in read]
    if all(is_text(labels.type) for _, labels in columns if len(labels)):
        return [labels.cast(pa.large_string()) for _, labels in columns]
    listed = " and ".join(name for name, _ in columns)
    kinds = " and ".join(f"{_called(labels.type)} ({_first(labels)})" for _, labels in columns if len(labels))
    raise ValueError(f"expected {listed} to have labels of one type, got {kinds}")


def _read(name: str, labels: Column, wrong: list[str]) -> Column:
    """Text as numbers or booleans if all of it is such, or None; numbers that are no labels are noted as ``wrong``."""
    if not is_text(labels.type) or not len(labels):
        return labels
    texts = set(labels.to_pylist())
    if any(texts <= set(pair) for pair in SPELLINGS):
        return pc.equal(pc.utf8_lower(labels), "true")
    points = [text for text in labels.to_pylist() if "." in text]
    if all_match(labels, WHOLE):
        try:
            whole = pc.cast(pc.replace_substring_regex(labels, r"\.0*$", ""), pa.int64())
        except pa.ArrowInvalid:  # longer than 64 bits: names
            return None
        twice = first_twice(whole.to_pylist())
        if twice is not None:
            same = [text for text, number in zip(labels.to_pylist(), whole.to_pylist(), strict=True) if number == twice]
            wrong.append(
                f"column {quoted(name)}: expected each number in one form, got {' and '.join(map(quoted, same[:2]))}: "
                f"{AS_THEY_STAND}"
            )
        return whole
    if points and all_match(labels, DECIMAL):
        odd = next((text for text in labels.to_pylist() if not _is_whole(text)), points[0])
        wrong.append(
            f"column {quoted(name)}: expected labels, whole numbers or text, got decimal numbers such as "
            f"{quoted(odd)}: {AS_THEY_STAND}"
        )
        return pa.nulls(len(labels), pa.int64())
    return None


def _is_whole(text: str) -> bool:
    return float(text) % 1 == 0


def _called(kind: Any) -> str:
    return "text" if is_text(kind) else "integers" if pa.types.is_integer(kind) else "booleans"


def _first(labels: Column) -> str:
    """The first label, of text the first that is no number."""
    listed = labels.to_pylist()
    return quoted(next((one for one in listed if isinstance(one, str) and not re.fullmatch(WHOLE, one)), listed[0]))


def _classes(columns: list[Column], names: Names, order: Order | None, *, has_missing: bool) -> FoundLabels:
    """The classes of labels of one kind."""
    if all(pa.types.is_boolean(labels.type) for labels in columns):
        columns = [pc.if_else(labels, TRUE, FALSE).cast(pa.large_string()) for labels in columns]
    classes = sorted_values(pa.chunked_array(columns))
    ordered = is_ordered(classes)
    listed = list(map(str, classes.to_pylist()))
    if names.order is not None:
        classes, ordered = _typed(given_order(listed, names.order), classes.type), True
    elif order and set(listed) <= set(order):
        classes, ordered = _typed(order, classes.type), True
    codes = [
        pc.index_in(labels.cast(classes.type), value_set=classes).to_numpy().astype(np.int64) for labels in columns
    ]
    if has_missing:
        known = [text for text in map(str, classes.to_pylist()) if text != MISSING_CLASS]
        classes, ordered = pa.array([*known, MISSING_CLASS], pa.large_string()), False
    return FoundLabels(classes, ordered, codes)


def given_order(there: Sequence[str], given: Order) -> Order:
    """The labels of the option, as the file calls the classes; raise if one of the file is not among them."""
    named = tuple(spelled(label, there) for label in given)
    unknown = next((label for label in there if label not in named), None)
    if unknown is not None:
        raise ArgumentError("labels", f"expected all labels of the file in their order, got none for {quoted(unknown)}")
    return named


def spelled(label: str, classes: Iterable[str]) -> str:
    """A label as the class of booleans, or of whole numbers, is called."""
    known, whole = set(classes), re.sub(r"\.0*$", "", label)
    if label not in known and whole in known and re.fullmatch(WHOLE, label):
        return whole
    return label.title() if known <= {FALSE, TRUE} and label.title() in {FALSE, TRUE} else label


def _typed(labels: Order, kind: Any) -> Column:
    """Labels in order, as numbers if those of the file are."""
    texts = pa.array(labels, pa.large_string())
    return pc.cast(texts, kind) if pa.types.is_integer(kind) and all_match(texts, "0|-?[1-9][0-9]*") else texts


def is_ordered(classes: Column) -> bool:
    """Whether the order of sorted labels has a meaning: numbers and booleans. Texts are in alphabetical order."""
    return not is_text(classes.type) or any(set(classes.to_pylist()) <= set(pair) for pair in TRUTHS)


# Whole tables -------------------------------------------------------------------------------------------------------


def labelled(table: Any, names: Names, order: Order | None) -> Any:
    """A table whose labels are dictionaries of the same classes: ordered ones if the order has a meaning."""
    if not names.labels or not table.num_rows:
        return table
    columns = []
    for name in names.labels:
        columns.append(as_labels(name, table[name]))
        refuse_missing(name, columns[-1])
    different = [pc.unique(column) for column in columns]
    found = found_labels(list(zip(names.labels, different, strict=True)), names, order)
    for name, column, labels, codes in zip(names.labels, columns, different, found.codes, strict=True):
        places = pa.array(codes, pa.int32()).take(pc.index_in(column, value_set=labels).combine_chunks())
        made = pa.DictionaryArray.from_arrays(places, found.classes, ordered=found.ordered)
        table = table.set_column(table.column_names.index(name), name, made)
    return table


def sides(table: Any, names: Names) -> tuple[list[str], list[str]]:
    """The true and the other labels that occur in such a table, apart from the class of missing ones."""
    found = []
    for name in names.labels:
        codes, classes, _ = coded(table, name)
        listed = [str(one) for one in classes.take(pa.array(np.unique(codes))).to_pylist()]
        found.append([label for label in listed if label != MISSING_CLASS or not names.keeps_unlabelled])
    return found[0], list(dict.fromkeys(label for labels in found[1:] or found for label in labels))


def coded(table: Any, name: str) -> tuple[Array, Column, bool]:
    """Of a column of such a table the class of each row, all classes, and whether their order has a meaning."""
    column = table[name].combine_chunks()
    column = column.chunk(0) if isinstance(column, pa.ChunkedArray) else column
    return column.indices.to_numpy().astype(np.int64), column.dictionary, bool(column.type.ordered)
