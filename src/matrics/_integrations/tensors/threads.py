"""The lock for threads that count into the same metric, as PyTorch adds tensors without Python's lock."""

from __future__ import annotations

import contextlib
import threading

import torch


class CountingLock:
    """A lock with which threads count one after another; copies and unpickled metrics have separate locks."""

    def __init__(self) -> None:
        # Reentrant, as ``forward`` counts a batch and computes its values.
        self.lock = threading.RLock()

    def __reduce__(self) -> tuple[type, tuple[()]]:
        return CountingLock, ()

    def held(self) -> contextlib.AbstractContextManager[object]:
        """A context manager that holds the lock; compiled code has no lock, and must not be shared by threads."""
        return contextlib.nullcontext() if torch.compiler.is_compiling() else self.lock
