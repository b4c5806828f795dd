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

MISSING_CLASS = "(missing)"  # the name of the class of labels without a value
SPELLINGS = (("false", "true"), ("False", "True"), ("FALSE", "TRUE"))  # of booleans: in JSON, of Python, of R
FALSE, TRUE = "False", "True"  # the class names of booleans, in whatever spelling the file has them
# Labels of two classes of which the last one is true.
TRUTHS = (("0", "1"), *SPELLINGS)
WHOLE = r"(0|-?[1-9][0-9]*)(\.0*)?"  # 01 and 0x10 are names
DECIMAL = r"-?([0-9]+\.?[0-9]*|\.[0-9]+)([eE][+-]?[0-9]+)?"
AS_TEXT = "text_labels= reads labels as text"


class LabelClasses(NamedTuple):
    """The classes of columns of labels."""

    classes: Column  # in order
    ordered: bool  # whether their order has a meaning
    codes: list[Array]  # for each column, the class of each of its distinct labels


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
        invalid = next((number for number in numbers.to_pylist() if number is not None and number % 1 != 0), None)
        got = "a number of at least 2**63" if invalid is None else f"{invalid}, which is not whole"
        raise ValueError(f"column {quoted(name)}: expected labels, whole numbers or text, got {got}") from error


# The order of categories in a file ----------------------------------------------------------------------------------


def order_of(column: Column) -> Order | None:
    """The categories of an ordered categorical column, in their order."""
    kind = column.type
    if not (pa.types.is_dictionary(kind) and kind.ordered and is_text(kind.value_type)):
        return None
    order: Order | None = None
    for part in getattr(column, "chunks", [column]):
        order = joined_order(order, tuple(part.dictionary.to_pylist()))
    return order


def joined_order(order: Order | None, other: Order | None) -> Order | None:
    """The order of the labels of both orders; empty if the orders contradict each other."""
    if order is None or other is None:
        return order if other is None else other
    longer, shorter = (order, other) if len(order) >= len(other) else (other, order)
    return longer if tuple(label for label in longer if label in shorter) == shorter else ()


def in_order(column: Column, order: Order | None) -> Column:
    """A column of text as an ordered categorical column, if its order is known."""
    if not order:
        return column
    categories = pa.array(order, column.type)
    places = pc.index_in(column, value_set=categories)
    if places.null_count > column.null_count:
        return column
    chunks = [pa.DictionaryArray.from_arrays(part, categories, ordered=True) for part in places.chunks]
    return pa.chunked_array(chunks, pa.dictionary(places.type, categories.type, ordered=True))


# The classes of columns ---------------------------------------------------------------------------------------------


def label_classes(columns: Sequence[tuple[str, Column]], names: Names, order: Order | None) -> LabelClasses:
    """The classes of columns of distinct labels, without missing values.

    Text is converted to whole numbers or booleans if all labels of the column have such a form and the labels of the
    other columns are numbers or booleans as well. ``order`` is the order of the labels in the file.
    """
    if not names.keeps_unlabelled:
        labels = _of_same_type(columns, names)
        return _classes(labels, names, order, has_missing=False)
    is_label = [pc.not_equal(labels, MISSING_CLASS) for _, labels in columns]
    labelled_columns = [
        (name, labels.filter(has_label)) for (name, labels), has_label in zip(columns, is_label, strict=True)
    ]
    result = _classes(_of_same_type(labelled_columns, names), names, order, has_missing=not all(map(_all, is_label)))
    codes = []
    for (_, labels), has_label, label_codes in zip(columns, is_label, result.codes, strict=True):
        code = np.full(len(labels), len(result.classes) - 1, np.int64)
        code[has_label.to_numpy(zero_copy_only=False)] = label_codes
        codes.append(code)
    return result._replace(codes=codes)


def _all(flags: Column) -> bool:
    return bool(pc.all(flags, min_count=0).as_py())


def _of_same_type(columns: Sequence[tuple[str, Column]], names: Names) -> list[Column]:
    """The labels of all columns as integers, as booleans or as text."""
    errors: list[str] = []
    converted = [labels if names.text_labels else _read(name, labels, errors) for name, labels in columns]
    non_empty = [labels for labels in converted if labels is None or len(labels)]
    if all(labels is not None and not is_text(labels.type) for labels in non_empty):
        if errors:
            raise ValueError(errors[0])
        whole = [labels for labels in non_empty if pa.types.is_int64(labels.type)]
        if len(whole) in (0, len(non_empty)):
            kind = pa.int64() if whole else pa.bool_()
            return [labels if len(labels) else pa.array([], kind) for labels in converted]
        if all(all(number in (0, 1) for number in labels.to_pylist()) for labels in whole):  # the rest are booleans
            return [labels.cast(pa.int64()) for labels in converted]
    if all(is_text(labels.type) for _, labels in columns if len(labels)):
        return [labels.cast(pa.large_string()) for _, labels in columns]
    listed = " and ".join(name for name, _ in columns)
    kinds = " and ".join(f"{_called(labels.type)} ({_first(labels)})" for _, labels in columns if len(labels))
    raise ValueError(f"expected {listed} to have labels of one type, got {kinds}")


def _read(name: str, labels: Column, errors: list[str]) -> Column:
    """Text as numbers or booleans, or None for other text; numbers that are no labels add a message to ``errors``."""
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
            errors.append(
                f"column {quoted(name)}: expected each number in one form, got {' and '.join(map(quoted, same[:2]))}: "
                f"{AS_TEXT}"
            )
        return whole
    if points and all_match(labels, DECIMAL):
        fraction = next((text for text in labels.to_pylist() if not _is_whole(text)), points[0])
        errors.append(
            f"column {quoted(name)}: expected labels, whole numbers or text, got decimal numbers such as "
            f"{quoted(fraction)}: {AS_TEXT}"
        )
        return pa.nulls(len(labels), pa.int64())
    return None


def _is_whole(text: str) -> bool:
    return float(text) % 1 == 0


def _called(kind: Any) -> str:
    return "text" if is_text(kind) else "integers" if pa.types.is_integer(kind) else "booleans"


def _first(labels: Column) -> str:
    """The first label; for text, the first label that is no number."""
    values = labels.to_pylist()
    return quoted(next((text for text in values if isinstance(text, str) and not re.fullmatch(WHOLE, text)), values[0]))


def _classes(columns: list[Column], names: Names, order: Order | None, *, has_missing: bool) -> LabelClasses:
    """The classes of columns whose labels have the same type."""
    if all(pa.types.is_boolean(labels.type) for labels in columns):
        columns = [pc.if_else(labels, TRUE, FALSE).cast(pa.large_string()) for labels in columns]
    classes = sorted_values(pa.chunked_array(columns))
    ordered = is_ordered(classes)
    listed = list(map(str, classes.to_pylist()))
    if names.order is not None:
        classes, ordered = _typed(complete_order(listed, names.order), classes.type), True
    elif order and set(listed) <= set(order):
        classes, ordered = _typed(order, classes.type), True
    codes = [
        pc.index_in(labels.cast(classes.type), value_set=classes).to_numpy().astype(np.int64) for labels in columns
    ]
    if has_missing:
        known = [text for text in map(str, classes.to_pylist()) if text != MISSING_CLASS]
        classes, ordered = pa.array([*known, MISSING_CLASS], pa.large_string()), False
    return LabelClasses(classes, ordered, codes)


def complete_order(classes: Sequence[str], labels: Order) -> Order:
    """The listed labels in the spelling of the classes of the file; raise if a class of the file is not listed."""
    order = tuple(spelled(label, classes) for label in labels)
    unknown = next((label for label in classes if label not in order), None)
    if unknown is not None:
        raise ArgumentError(
            "labels", f"expected all labels of the file in their order, got a list without {quoted(unknown)}"
        )
    return order


def spelled(label: str, classes: Iterable[str]) -> str:
    """The class name of a label: booleans and whole numbers have a single spelling."""
    known, whole = set(classes), re.sub(r"\.0*$", "", label)
    if label not in known and whole in known and re.fullmatch(WHOLE, label):
        return whole
    return label.title() if known <= {FALSE, TRUE} and label.title() in {FALSE, TRUE} else label


def _typed(labels: Order, kind: Any) -> Column:
    """Labels in order, as numbers if the labels of the file are numbers."""
    texts = pa.array(labels, pa.large_string())
    return pc.cast(texts, kind) if pa.types.is_integer(kind) and all_match(texts, "0|-?[1-9][0-9]*") else texts


def is_ordered(classes: Column) -> bool:
    """Whether the order of sorted labels has a meaning: numbers and booleans; other texts are sorted by letters."""
    return not is_text(classes.type) or any(set(classes.to_pylist()) <= set(pair) for pair in TRUTHS)


# Whole tables -------------------------------------------------------------------------------------------------------


def labelled(table: Any, names: Names, order: Order | None) -> Any:
    """A table whose labels are dictionary columns of the same classes, which are ordered if the order has a meaning."""
    if not names.labels or not table.num_rows:
        return table
    columns = []
    for name in names.labels:
        columns.append(as_labels(name, table[name]))
        refuse_missing(name, columns[-1])
    distinct = [pc.unique(column) for column in columns]
    result = label_classes(list(zip(names.labels, distinct, strict=True)), names, order)
    for name, column, labels, codes in zip(names.labels, columns, distinct, result.codes, strict=True):
        places = pa.array(codes, pa.int32()).take(pc.index_in(column, value_set=labels).combine_chunks())
        codes_column = pa.DictionaryArray.from_arrays(places, result.classes, ordered=result.ordered)
        table = table.set_column(table.column_names.index(name), name, codes_column)
    return table


def sides(table: Any, names: Names) -> tuple[list[str], list[str]]:
    """The true and the other labels that occur in a table of ``labelled``, without the class of missing labels."""
    label_lists = []
    for name in names.labels:
        codes, classes, _ = coded(table, name)
        listed = [str(label) for label in classes.take(pa.array(np.unique(codes))).to_pylist()]
        label_lists.append([label for label in listed if label != MISSING_CLASS or not names.keeps_unlabelled])
    return label_lists[0], list(dict.fromkeys(label for labels in label_lists[1:] or label_lists for label in labels))


def coded(table: Any, name: str) -> tuple[Array, Column, bool]:
    """The codes of a column of a table of ``labelled``, its classes, and whether their order has a meaning."""
    column = table[name].combine_chunks()
    column = column.chunk(0) if isinstance(column, pa.ChunkedArray) else column
    return column.indices.to_numpy().astype(np.int64), column.dictionary, bool(column.type.ordered)
