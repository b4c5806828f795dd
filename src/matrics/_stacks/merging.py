"""Classes merged into fewer classes: from fine to coarse classes of a hierarchy."""

from __future__ import annotations

from collections.abc import Sequence
from itertools import pairwise
from typing import Any, overload

import numpy as np

from matrics._arrays import Array, as_arrays
from matrics._engine.safety import add
from matrics._engine.table import Table
from matrics._quoting import quoted
from matrics._stacks.transform import invalid_stays, table_of_counts
from matrics.typing import ArrayT, HostArray, NumPyArray

Into = Sequence[int] | Sequence[Sequence[int]] | NumPyArray


@overload
def merge_classes(cm: HostArray, into: Into) -> NumPyArray: ...
@overload
def merge_classes(cm: ArrayT, into: Into) -> ArrayT: ...
def merge_classes(cm: Any, into: Any) -> Array:
    """Merge classes into fewer, as in a hierarchy: rows and columns are added up.

    An error between two classes that are merged is no error any more.

    Parameters
    ----------
    cm : array_like, shape (*B, n, n)
        Counts or soft counts; rows are true classes, columns predicted ones.
    into : sequence of n int, or sequence of m sequences of int
        The new class of each class, 0 to m - 1 (each is used); or the classes that each new class consists of,
        among which each class occurs once. The order of the new classes is that of their numbers, or of the list.

    Returns
    -------
    array, shape (*B, m, m)
        Integers stay integers, and become floats where a sum might wrap: in default JAX, which has no 64-bit integers,
        and on NumPy, where the check is cheap, beyond 2**62 samples. An invalid matrix stays invalid: all its cells are
        NaN, or -1 in integers.

    Raises
    ------
    ValueError
        The shape is not (*B, n, n), or ``into`` lacks a class or a new class, or has a class twice.
    TypeError
        The cells are not real numbers, or ``into`` is neither of the two.

    Examples
    --------
    >>> import matrics
    >>> cm = [[8, 2, 0], [3, 6, 1], [0, 1, 9]]  # cat, dog, car
    >>> matrics.transform.merge_classes(cm, [0, 0, 1])  # animal, car
    array([[19,  1],
           [ 1,  9]])
    >>> matrics.transform.merge_classes(cm, [[2], [0, 1]])  # car, animal
    array([[ 9,  1],
           [ 1, 19]])
    """
    t = table_of_counts(cm)
    runs = [_runs(members) for members in _members(into, t.n)]
    with t.backend.quiet():
        rows = t.xp.stack([_sum_of(t, t.cells, run, axis=-2) for run in runs], axis=-2)
        return invalid_stays(t, t.xp.stack([_sum_of(t, rows, run, axis=-1) for run in runs], axis=-1))


def _sum_of(t: Table, x: Array, runs: list[tuple[int, int]], *, axis: int) -> Array:
    """The sum over some entries of an axis. They are slices, as an array of positions would be copied to the device."""
    after = (slice(None),) * (-1 - axis)
    return add([t.sum(x[(..., slice(start, stop), *after)], axis=axis) for start, stop in runs])


def _runs(members: list[int]) -> list[tuple[int, int]]:
    """Ascending classes as slices: the start and stop of each run of consecutive classes."""
    members = sorted(members)
    breaks = [0, *(i for i, (a, b) in enumerate(pairwise(members), 1) if b != a + 1), len(members)]
    return [(members[start], members[stop - 1] + 1) for start, stop in pairwise(breaks)]


def _members(into: Any, n: int) -> list[list[int]]:
    """The old classes of each new class."""
    values = _listed(into)
    expected = "into: expected the new class of each class, or a list of classes for each new class"
    if not isinstance(values, Sequence) or isinstance(values, (str, bytes)):
        raise TypeError(f"{expected}, got {type(into).__name__}")
    if all(isinstance(value, (int, np.integer)) and not isinstance(value, bool) for value in values):
        return _by_number([int(value) for value in values], n)
    lists = [_listed(value) for value in values]
    for value in lists:
        if not isinstance(value, (Sequence, range)) or not all(isinstance(old, (int, np.integer)) for old in value):
            raise TypeError(f"{expected}, got {quoted(value)} among them")
    return _by_list([[int(old) for old in value] for value in lists], n)


def _listed(values: Any) -> Any:
    """An array as a list."""
    if not hasattr(values, "dtype"):
        return values
    backend, (array,) = as_arrays(into=values)
    if not backend.can_look(array):
        raise TypeError("into: expected numbers that are known beforehand, got a traced array")
    return backend.to_numpy(array).tolist()


def _by_number(numbers: list[int], n: int) -> list[list[int]]:
    if len(numbers) != n:
        raise ValueError(f"into: expected the new class of each of {n} classes, got {len(numbers)} of them")
    count = max(numbers) + 1
    unused = sorted(set(range(count)) - set(numbers))
    if unused or min(numbers) < 0:
        got = f"no class for {unused[0]}" if unused else str(min(numbers))
        raise ValueError(f"into: expected new classes 0 to {count - 1}, each of at least 1 class, got {got}")
    members: list[list[int]] = [[] for _ in range(count)]
    for old, new in enumerate(numbers):
        members[new].append(old)
    return members


def _by_list(lists: list[list[int]], n: int) -> list[list[int]]:
    listed = [old for members in lists for old in members]
    missing = sorted(set(range(n)) - set(listed))
    outside = sorted(set(listed) - set(range(n)))
    twice = sorted(old for old in set(listed) if listed.count(old) > 1) if len(listed) > n - len(missing) else []
    for numbers, what in ((outside, "outside"), (twice, "twice"), (missing, "not at all")):
        if numbers:
            raise ValueError(f"into: expected each of the classes 0 to {n - 1} once, got {numbers[0]} {what}")
    if not all(lists):
        raise ValueError(f"into: expected at least 1 class in each, got none for the new class {lists.index([])}")
    return lists
