"""Sums over processes of PyTorch, with an error that names the missing processes.

Before it adds up its counts, each process writes its rank into the store of the process group. Errors of the backend,
such as timeouts, name at most a lost neighbour; the store has the ranks that have reached the sync.
"""

from __future__ import annotations

import time
import weakref
from collections.abc import Iterator, Sequence
from contextlib import contextmanager, suppress
from typing import Any

from torch import distributed

# The number of successful syncs of each group. A new group has a new store, and begins at 0.
_DONE: weakref.WeakKeyDictionary[Any, int] = weakref.WeakKeyDictionary()
# Seconds in which other processes may still reach the sync after a failure, as the first processes detect it first.
GRACE = 1.0


class SyncError(RuntimeError):
    """The processes could not add up their counts: one has died, hangs, or has not called ``sync``.

    The counts of this process are as before. The error of PyTorch's backend is its ``__cause__``.

    Attributes
    ----------
    answered, missing : tuple of int, or None
        The ranks that reached this sync, and the ranks that had not a second after the failure; None if they are
        unknown, as the process with the store of the process group is lost.
    """

    answered: tuple[int, ...] | None = None
    missing: tuple[int, ...] | None = None


@contextmanager
def reporting_failures(group: Any) -> Iterator[None]:
    """A context manager for an operation of all processes of a group, which raises a SyncError if it fails."""
    group = distributed.group.WORLD if group is None else group
    if group is None:  # there is a single process, or a test simulates several
        yield
        return
    number = _DONE.get(group, 0) + 1
    store = None
    with suppress(RuntimeError):  # without a store the processes add up nevertheless
        store = group.get_group_store()
        store.set(_key(distributed.get_rank()), str(number))
    try:
        yield
    except RuntimeError as error:
        raise _sync_error(error, store, distributed.get_process_group_ranks(group), number) from error
    _DONE[group] = number


def _key(rank: int) -> str:
    return f"matrics/sync/{rank}"


def _sync_error(error: RuntimeError, store: Any, ranks: Sequence[int], number: int) -> SyncError:
    try:
        answered = _ranks_at_sync(store, ranks, number)
    except (RuntimeError, AttributeError):
        return SyncError(
            "sync: expected all processes to add up their counts, got an error, with unknown ranks, as the store of "
            "the "
            f"process group does not answer; the counts are unchanged. PyTorch says: {error}"
        )
    missing = tuple(rank for rank in ranks if rank not in answered)
    if missing:
        arrivals = (
            f"{_named(answered)} reached the sync, and {_named(missing)} did not within {GRACE:g} second of the failure"
        )
    else:
        arrivals = f"{_named(answered)} reached the sync, and the sum failed"
    made = SyncError(
        f"sync: expected all of {len(ranks)} processes to add up their counts: {arrivals}; the counts are unchanged. "
        f"PyTorch says: {error}"
    )
    made.answered, made.missing = answered, missing
    return made


def _ranks_at_sync(store: Any, ranks: Sequence[int], number: int) -> tuple[int, ...]:
    """The ranks that reached the sync of this number."""
    until = time.monotonic() + GRACE
    arrived: set[int] = set()
    while True:
        for rank in set(ranks) - arrived:
            if store.check([_key(rank)]) and int(store.get(_key(rank))) >= number:
                arrived.add(rank)
        if len(arrived) == len(ranks) or time.monotonic() >= until:
            return tuple(sorted(arrived))
        time.sleep(GRACE / 20)


def _named(ranks: Sequence[int]) -> str:
    return f"rank{'s' * (len(ranks) != 1)} {', '.join(map(str, ranks))}" if len(ranks) <= 32 else f"{len(ranks)} ranks"
