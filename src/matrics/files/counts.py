"""From batches of rows to one matrix a group: in one pass, without sorting rows, in memory for the matrices alone."""

from __future__ import annotations

import io
import json
from dataclasses import asdict, dataclass, field
from typing import TYPE_CHECKING, Any

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from matrics.files import labels
from matrics.cli.counting.cells import Cells
from matrics.cli.counting.codes import Codes, MissingValueError
from matrics.cli.counting.pairs import Pairs
from matrics.cli.counting.weights import weights
from matrics.files.labels import Names
from matrics.quoting import quoted

if TYPE_CHECKING:
    from matrics.files.rows import Batch

Array = Any
Column = Any

SLICE_ROWS = 2**16  # are counted at a time, so that what is computed of them stays in the cache of a core


@dataclass(frozen=True)
class Counted:
    """One matrix a group, ``(groups, n, n)``, with groups and classes sorted; without groups it is one matrix."""

    stack: Array
    groups: dict[str, Column]
    classes: Column

    @property
    def samples(self) -> float:
        """The sum of all counts."""
        return self.stack.sum(dtype=np.float64) if self.stack.dtype == np.float64 else int(self.stack.sum())

    @property
    def of_source(self) -> labels.GroupCounts:
        """As a source of matrices: classes are text, and a file without groups is one matrix."""
        stack = self.stack if self.groups else self.stack[0]
        text = tuple(map(str, self.classes.to_pylist()))
        return labels.GroupCounts(stack, self.groups, text, labels.is_ordered(self.classes))


@dataclass
class Counter:
    """Adds up batches; ``texts`` are columns of text that may be numbers or times, which all of it decides."""

    names: Names
    texts: frozenset[str] = frozenset()
    rows: int = 0
    cells: Cells = field(default_factory=Cells)
    missing: dict[str, tuple[int, str]] = field(default_factory=dict)  # how many, and where the first is

    def __post_init__(self) -> None:
        self.classes = Codes(labels.as_labels)
        self.of_column = {name: Codes(_as_groups) for name in self.names.by}
        self.pairs = [Pairs() for _ in self.names.by[1:]]

    def add(self, batch: Batch) -> None:
        """Count the rows of a batch."""
        self._check_types(batch.table.schema)
        if not self.missing:
            try:
                self._count(batch)
            except MissingValueError:
                self._note_missing(batch)
        else:  # there will be an error, which says how many are missing
            self._note_missing(batch)
        self.rows += len(batch.table)

    def _check_types(self, schema: Any) -> None:
        names = self.names
        kinds = [labels.as_labels(name, pa.array([], _plain(schema.field(name).type))).type for name in names.labels]
        if kinds[0] != kinds[1]:
            raise ValueError(
                f"expected {names.true} and {names.pred} to hold labels of one type, got {kinds[0]} and {kinds[1]}"
            )

    def _count(self, batch: Batch) -> None:
        counts = None if self.names.counts is None else weights(self.names.counts, batch)
        for start in range(0, len(batch.table), SLICE_ROWS):
            self._count_slice(
                batch.table.slice(start, SLICE_ROWS), None if counts is None else counts[start : start + SLICE_ROWS]
            )

    def _count_slice(self, table: Any, counts: Array | None) -> None:
        """Count some rows; raises MissingValueError where one of them has no value."""
        true, pred = (self.classes.encode(name, table[name]) for name in self.names.labels)
        codes = [of.encode(name, table[name]) for name, of in self.of_column.items()]
        groups = codes[0] if codes else None
        for pairs, right, of in zip(self.pairs, codes[1:], list(self.of_column.values())[1:], strict=True):
            groups = pairs.encode(groups, right, len(of))
        self.cells.reserve(self._number_of_groups, len(self.classes))
        self.cells.add(groups, true, pred, counts)

    @property
    def _number_of_groups(self) -> int:
        if self.pairs:
            return len(self.pairs[-1])
        return len(next(iter(self.of_column.values()), "1"))

    def _note_missing(self, batch: Batch) -> None:
        for name in labels.wanted_columns(self.names):
            missing = labels.is_missing(labels.decoded(batch.table[name]))
            if missing.any():
                number, first = self.missing.get(name, (0, f"row {batch.row + missing.argmax() + 1} of {batch.where}"))
                self.missing[name] = number + int(missing.sum()), first

    def learn_classes(self, classes: Column) -> None:
        """Classes that are there whether a row has them or not."""
        self.classes.learn(self.names.true, classes)

    def counted(self) -> Counted:
        """All that is added so far."""
        for name in labels.wanted_columns(self.names):
            if name in self.missing:
                number, first = self.missing[name]
                raise ValueError(
                    f"column {quoted(name)}: expected a value in every row, got {number} missing, the first in {first}"
                )
        if not self.rows:
            raise ValueError("expected at least one row of labels, got none")
        classes = self.classes.known
        if self.texts.issuperset(self.names.labels):
            classes = labels.as_numbers([pa.chunked_array([classes])])[0].combine_chunks()
        order = pc.sort_indices(classes)
        by_group, groups = self._sorted_groups()
        return Counted(self.cells.ordered(by_group, order.to_numpy()), groups, classes.take(order))

    def _sorted_groups(self) -> tuple[Array, dict[str, Column]]:
        """The numbers of the groups in their order, and for each column the value of every group."""
        numbers = np.arange(self._number_of_groups)
        codes: list[Array] = []
        for pairs in reversed(self.pairs):
            codes.insert(0, pairs.right[numbers])
            numbers = pairs.left[numbers]
        codes.insert(0, numbers)
        ranks, values = [], {}
        for (name, of), code in zip(self.of_column.items(), codes, strict=False):
            known = of.known
            if name in self.texts:
                known = labels.typed(pa.chunked_array([known])).combine_chunks()
            rank = np.empty(len(known), np.int64)
            rank[pc.sort_indices(known).to_numpy()] = np.arange(len(known))
            ranks.append(rank[code])
            values[name] = known.take(pa.array(code))
        order = np.lexsort(ranks[::-1]) if ranks else numbers
        return order, {name: column.take(pa.array(order)) for name, column in values.items()}

    # To be continued -------------------------------------------------------------------------------------------------

    def save(self, file: Any) -> None:
        """Write all that is added so far, and how many rows that is, as a file of NumPy, in little memory."""
        about = {"names": asdict(self.names), "texts": sorted(self.texts), "rows": self.rows, "missing": self.missing}
        arrays = {"about": np.frombuffer(json.dumps(about).encode(), np.uint8), "stack": self.cells.stack}
        for k, codes in enumerate((self.classes, *self.of_column.values())):
            arrays[f"values_{k}"] = _to_bytes(codes)
        for k, pairs in enumerate(self.pairs):
            arrays[f"pairs_{k}"] = np.stack([pairs.left, pairs.right])
        np.savez(file, allow_pickle=False, **arrays)

    @classmethod
    def load(cls, file: Any) -> Counter:
        """Continue where ``save`` was called."""
        with np.load(file, allow_pickle=False) as arrays:
            about = json.loads(arrays["about"].tobytes())
            given: dict[str, Any] = about["names"]
            names = Names(**{**given, "by": tuple(given["by"])})
            missing = {name: (number, first) for name, (number, first) in about["missing"].items()}
            counter = cls(names, frozenset(about["texts"]), about["rows"], Cells(arrays["stack"]), missing)
            # One column may be that of labels and of groups.
            every = [(names.true, counter.classes), *counter.of_column.items()]
            for k, (name, codes) in enumerate(every):
                known = _from_bytes(arrays[f"values_{k}"])
                if known is not None:
                    codes.learn(name, known)
            counter.pairs = [Pairs(*arrays[f"pairs_{k}"]) for k in range(len(counter.pairs))]
        return counter


def _as_groups(name: str, column: Column) -> Column:
    del name  # all values that can be sorted can be groups
    return labels.decoded(column)


def _plain(kind: Any) -> Any:
    return kind.value_type if pa.types.is_dictionary(kind) else kind


def _to_bytes(codes: Codes) -> Array:
    if codes.kind is None:
        return np.empty(0, np.uint8)
    file = io.BytesIO()
    table = pa.table({"values": codes.known})
    with pa.ipc.new_file(file, table.schema) as writer:
        writer.write_table(table)
    return np.frombuffer(file.getvalue(), np.uint8)


def _from_bytes(array: Array) -> Column:
    if not len(array):
        return None
    return pa.ipc.open_file(io.BytesIO(array.tobytes())).read_all()["values"].combine_chunks()
