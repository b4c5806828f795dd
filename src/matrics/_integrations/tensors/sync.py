"""Adding up over processes of PyTorch: which of them came, where one did not.

Before it adds up its counts, each process writes into the store of the process group that it has come. A failure of the
backend, such as a timeout, says at best which neighbour was lost; the store says who is missing.
"""

from __future__ import annotations

import time
import weakref
from collections.abc import Iterator, Sequence
from contextlib import contextmanager, suppress
from typing import Any

from torch import distributed

# How many syncs of a group have succeeded. A group that is made anew has a store of its own, and begins at 0.
_DONE: weakref.WeakKeyDictionary[Any, int] = weakref.WeakKeyDictionary()
# Seconds in which others may still come after a failure: a lost connection is seen by those who came first.
GRACE = 1.0


class SyncError(RuntimeError):
    """The processes could not add up their counts: one has died, hangs, or has not called ``sync``.

    The counts of this process are as before. The error of PyTorch's backend is its ``__cause__``.

    Attributes
    ----------
    answered, missing : tuple of int, or None
        The ranks that came to this sync, and those that had not a second after it failed; None where that is not known,
        as the process that holds the store of the process group is gone.
    """

    answered: tuple[int, ...] | None = None
    missing: tuple[int, ...] | None = None


@contextmanager
def noted(group: Any) -> Iterator[None]:
    """Around an operation of all processes of the group: its failure is a SyncError that names those who came."""
    group = distributed.group.WORLD if group is None else group
    if group is None:  # there are no processes, or a test plays them
        yield
        return
    number = _DONE.get(group, 0) + 1
    store = None
    with suppress(RuntimeError):  # without a store, or with one that is gone, the processes add up nevertheless
        store = group.get_group_store()
        store.set(_key(distributed.get_rank()), str(number))
    try:
        yield
    except RuntimeError as error:
        raise _told(error, store, distributed.get_process_group_ranks(group), number) from error
    _DONE[group] = number


def _key(rank: int) -> str:
    return f"matrics/sync/{rank}"


def _told(error: RuntimeError, store: Any, ranks: Sequence[int], number: int) -> SyncError:
    try:
        answered = _who_came(store, ranks, number)
    except (RuntimeError, AttributeError):
        return SyncError(
            "sync: expected all processes to add up their counts, and it is not known which came, as the store of the "
            f"process group does not answer; the counts are unchanged. PyTorch says: {error}"
        )
    missing = tuple(rank for rank in ranks if rank not in answered)
    if missing:
        came = f"{_named(answered)} came, and {_named(missing)} had not {GRACE:g} second after it failed"
    else:
        came = f"{_named(answered)} came, and the sum failed"
    made = SyncError(
        f"sync: expected all of {len(ranks)} processes to add up their counts: {came}; the counts are unchanged. "
        f"PyTorch says: {error}"
    )
    made.answered, made.missing = answered, missing
    return made


def _who_came(store: Any, ranks: Sequence[int], number: int) -> tuple[int, ...]:
    """The ranks that came to the sync of this number."""
    until = time.monotonic() + GRACE
    came: set[int] = set()
    while True:
        for rank in set(ranks) - came:
            if store.check([_key(rank)]) and int(store.get(_key(rank))) >= number:
                came.add(rank)
        if len(came) == len(ranks) or time.monotonic() >= until:
            return tuple(sorted(came))
        time.sleep(GRACE / 20)


def _named(ranks: Sequence[int]) -> str:
    return f"rank{'s' * (len(ranks) != 1)} {', '.join(map(str, ranks))}" if len(ranks) <= 32 else f"{len(ranks)} ranks"
