"""Checks of sizes: numbers of draws, classes and cells, and the memory that they need."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np

from matrics._errors import ArgumentError
from matrics._memory_limits import ARRAY
from matrics._quoting import quoted

# The largest integer of 32 bits, which no number of classes or samples reaches; and 1 TiB, which no state reaches.
MOST_COUNT = 2**31 - 1
MOST_BYTES = 2**40


def most_cells() -> int:
    """The largest number of counts: with more, the labels are probably not classes but numbers of samples."""
    return ARRAY.size // 8


def is_whole(value: Any) -> bool:
    """Whether a value is an integer, and not a boolean."""
    return isinstance(value, (int, np.integer)) and not isinstance(value, bool)


def check_count(value: Any, name: str, *, most: int | None = MOST_COUNT) -> int:
    """The integer, checked to be at least 1 and at most the largest possible size."""
    if not is_whole(value) or value < 1:
        raise ArgumentError(name, f"expected an integer of at least 1, got {quoted(value)}")
    if most is not None and value > most:
        raise ArgumentError(name, f"expected an integer of at most {most:,}, got {quoted(value)}")
    return int(value)


def check_draws(num: Any, numbers: int = 1, **sizes: Any) -> int:
    """Check the number of draws; a ValueError names the arguments that make their memory too large."""
    number = check_count(num, "num", most=None)
    check_size(numbers * number, num=number, **sizes)
    return number


def check_size(numbers: int, *, advice: str = "", **sizes: Any) -> None:
    """Raise an error if an array of this many 8-byte numbers exceeds the limit; it names the arguments."""
    if numbers > most_cells():
        got = written_size(8 * numbers)
        raise ValueError(f"{_written(sizes)}: expected an array of at most {ARRAY.in_words}, got {got}{advice}")


def check_state_size(size: int, sizes: Mapping[str, Any], *, allow_large: bool, advice: str = "") -> None:
    """Raise an error if a running state of this many bytes exceeds any memory, or the limit of all arrays.

    ``allow_large=True`` lifts that limit for this state.

    A library would run out of memory, perhaps only when the state is first written to. The arguments that make it so
    large are named.
    """
    if not isinstance(allow_large, bool):
        raise TypeError(f"allow_large: expected True or False, got {quoted(allow_large)}")
    if size > (MOST_BYTES if allow_large else ARRAY.size):
        most = written_size(MOST_BYTES) if allow_large else ARRAY.in_words
        unless = "" if allow_large or size > MOST_BYTES else "; allow_large=True makes it all the same"
        got = f"got {written_size(size)}{unless}{advice}"
        raise ValueError(f"{_written(sizes)}: expected a state of at most {most}, {got}")


def _written(sizes: Mapping[str, Any]) -> str:
    return ", ".join(f"{name}={quoted(size)}" for name, size in sizes.items() if size is not None)


def written_size(size: int) -> str:
    """A size in words.

    >>> written_size(8 * 50_257**2), written_size(8 * 10**12), written_size(8 * 2**124), written_size(16 * 1000**2)
    ('20.2 GB', '8,000 GB', '2e+29 GB', '16.0 MB')
    """
    if size < 10**8:
        return f"{size} bytes" if size < 10**5 else f"{size / 10**6:.1f} MB"
    if size >= 10**300:
        return "more than 1e+291 GB"
    if size >= 10**16:
        return f"{size / 10**9:.0e} GB"
    return f"{size / 10**9:,.{0 if size >= 10**12 else 1}f} GB"


def one_or_more(value: Any) -> tuple[Any, ...]:
    """The elements of a sequence, or a single value as a tuple; empty for None. A text is a single value."""
    if isinstance(value, np.ndarray):
        value = value.tolist()
    if isinstance(value, Sequence) and not isinstance(value, (str, bytes)):
        return tuple(value)
    return () if value is None else (value,)
