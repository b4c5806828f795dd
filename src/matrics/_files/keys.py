"""The names of the matrices and curves of a file: groups and indices."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

Array = Any


#: Texts of dates, months, quarters and weeks whose alphabetical order is that of time: 2026-01, 2026-Q1, 2026-W05.
PERIOD = r"^\d{4}(-\d{2}(-\d{2})?|-?Q[1-4]|-?W\d{2})$"

#: The number of names that are compared with this pattern, as names of many matrices are read on demand.
NAMES_CHECKED = 1000


@dataclass(frozen=True)
class Key:
    """A column that identifies a row's matrix: the index along an axis of the stack, or a value for each index."""

    name: str
    axis: int
    values: Array | None = None  # a pyarrow array


class Keyed:
    """Matrices or curves that are named by the values of columns, or by indices."""

    file: str  # its name, for messages
    keys: tuple[Key, ...]

    @property
    def batch(self) -> tuple[int, ...]:
        """The axes of the matrices or curves."""
        raise NotImplementedError

    @property
    def count(self) -> int:
        """Number of matrices."""
        return int(np.prod(self.batch, dtype=np.int64))

    def _indices(self, start: int, stop: int) -> tuple[Array, ...]:
        batch = self.batch
        places = np.arange(start, stop)
        return (places,) if len(batch) == 1 else np.unravel_index(places, batch) if batch else ()

    def columns(self, start: int, stop: int) -> dict[str, Array]:
        """Return the columns that name these matrices in an output file."""
        indices = self._indices(start, stop)
        return {
            key.name: pa.array(indices[key.axis])
            if key.values is None
            else key.values.take(pa.array(indices[key.axis]))
            for key in self.keys
        }

    def name(self, position: int) -> str:
        """Return the displayed name of a matrix: its group, or its index like ``[1, 2]``."""
        columns = self.columns(position, position + 1)
        named = [text_of(columns[key.name][0]) for key in self.keys if key.values is not None]
        index = [str(columns[key.name][0]) for key in self.keys if key.values is None]
        return ", ".join([*named, *([f"[{', '.join(index)}]"] if index else [])])

    @property
    def in_order(self) -> bool:
        """Whether the order of the matrices may matter: numbers may be epochs and texts months, names have no order."""
        values = self.keys[0].values if self.keys else None
        if values is None or not (pa.types.is_string(values.type) or pa.types.is_large_string(values.type)):
            return True
        first = self.columns(0, min(self.count, NAMES_CHECKED))[self.keys[0].name]
        return len(first) > 0 and bool(pc.all(pc.match_substring_regex(first, PERIOD), min_count=0).as_py())

    @property
    def heading(self) -> str:
        """The heading of the column of names."""
        return ", ".join(key.name for key in self.keys if key.values is not None) or "matrix"


def text_of(value: Any) -> str:
    """A value of a file as text, which is the same with and without pandas."""
    kind = value.type
    if pa.types.is_time64(kind):  # pyarrow drops the nanoseconds if pandas is installed, as times of Python have none
        return str(pc.cast(value, pa.string())).rstrip("0").rstrip(".")
    if (pa.types.is_timestamp(kind) or pa.types.is_duration(kind)) and kind.unit == "ns" and value.is_valid:
        seconds, rest = divmod(value.value, 10**9)
        fraction = f".{rest:09}" if rest % 1000 else f".{rest // 1000:06}" if rest else ""
        if pa.types.is_duration(kind):
            return _duration(seconds) + fraction
        time = str(pa.scalar(seconds, pa.timestamp("s", kind.tz)))
        return time[: len("2000-01-01 00:00:00")] + fraction + time[len("2000-01-01 00:00:00") :]
    try:
        return str(value)
    except (ValueError, OverflowError):  # a time without a Python type, such as one after the year 9999
        return str(pc.cast(value, pa.string()))


def _duration(seconds: int) -> str:
    """A duration in the format of pandas, which also has nanoseconds."""
    days, seconds = divmod(seconds, 24 * 60 * 60)
    sign = "+" if days < 0 else ""
    return f"{days} days {sign}{seconds // 3600:02}:{seconds // 60 % 60:02}:{seconds % 60:02}"
