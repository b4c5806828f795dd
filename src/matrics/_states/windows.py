"""Windows of the last batches, and counts that decay."""

from __future__ import annotations

import numbers
from collections.abc import Callable, Iterator
from typing import Any, TypeVar

from matrics._arrays import Array, as_arrays
from matrics._quoting import quoted
from matrics._states.two_words import MOST_DROPPED

# The arrays of a state with its settings; those with numbers of samples in a single word; and sums of weights.
SETTINGS = ("edges", "states", "top_k")
SINGLE_WORD = ("dropped", "rounded")
WEIGHED = ("counts", "bins", "calibration", "calibration_remainders", "sums", "remainders")

# Low words of default JAX are below 2**16, so that this many states can be summed before a word would wrap.
STATES_AT_ONCE = 2**14

_State = TypeVar("_State", bound=tuple[Any, ...])


def checked_decay(decay: Any) -> float:
    """The factor as a float, checked to be above 0 and at most 1.

    >>> checked_decay(1)
    1.0
    """
    if isinstance(decay, bool) or not isinstance(decay, numbers.Real):
        raise TypeError(f"decay: expected a number above 0 and at most 1, got {quoted(decay)}")
    factor = float(decay)
    if not 0 < factor <= 1:
        raise ValueError(f"decay: expected a number above 0 and at most 1, got {quoted(decay)}")
    return factor


def blank(state: _State) -> _State:
    """The first entry of the batch of a state, without counts."""
    return emptied(_each(lambda _, leaf: leaf[0, ...], state))


def emptied(state: _State) -> _State:
    """A state with the same settings, and without counts."""

    def without(name: str, leaf: Array) -> Array:
        return leaf if name in SETTINGS else as_arrays(leaf=leaf)[0].xp.zeros_like(leaf)

    return _each(without, state)


def shifted(state: _State, newest: _State) -> _State:
    """The entries of the batch of a state without the first, and a new entry at the end."""

    def moved(_: str, leaf: Array, last: Array) -> Array:
        backend, (leaf, last) = as_arrays(state=leaf, newest=last)
        return backend.xp.concat([leaf[1:, ...], backend.xp.expand_dims(last, axis=0)], axis=0)

    return _each(moved, state, newest)


def sums(state: _State, length: int) -> Iterator[_State]:
    """The sums, array by array, of parts of the first axis of the batch of a state, which has this length."""
    for start in range(0, length, STATES_AT_ONCE):
        stop = min(start + STATES_AT_ONCE, length)

        def summed(name: str, leaf: Array, start: int = start, stop: int = stop) -> Array:
            xp, part = as_arrays(leaf=leaf)[0].xp, leaf[start:stop, ...]
            return sum_of_dropped(part) if name in SINGLE_WORD else xp.sum(part, axis=0, dtype=leaf.dtype)

        yield _each(summed, state)


def sum_of_dropped(numbers: Array) -> Array:
    """The sum of numbers of samples over the first axis; a single word saturates before it would wrap."""
    backend, (numbers,) = as_arrays(dropped=numbers)
    xp = backend.xp
    total = xp.sum(numbers, axis=0, dtype=numbers.dtype)
    if backend.widest_int(numbers) is not None:
        return total
    is_full = xp.sum(xp.astype(numbers, xp.float32), axis=0) >= float(MOST_DROPPED)
    return xp.where(is_full, xp.full_like(total, MOST_DROPPED), total)


def decayed(state: _State, decay: float) -> _State:
    """The state with its weights times a factor; integer counts raise an error."""

    def multiplied(name: str, leaf: Array) -> Array:
        is_float = as_arrays(leaf=leaf)[0].is_float(leaf)
        if name == "counts" and not is_float:
            raise TypeError(
                "decayed: expected a state of floating counts, got integer counts; make it with "
                f"{type(state).__name__}.zeros(..., dtype=), float32 or float64"
            )
        return leaf * decay if name in WEIGHED or (name == "carried" and is_float) else leaf

    return _each(multiplied, state)


def _each(function: Callable[..., Array], first: _State, *others: _State) -> _State:
    """The results of a function of the name and the arrays of states, as a state."""
    shape: Any = first
    arrays = [function(name, *leaves) for name, *leaves in zip(shape._fields, first, *others, strict=True)]
    made: _State = type(shape)(*arrays)
    return made
