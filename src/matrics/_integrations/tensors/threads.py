"""Threads that count into one metric: each batch is added alone, as PyTorch adds without Python's lock."""

from __future__ import annotations

import contextlib
import threading

import torch


class Turns:
    """What lets threads count one after another; a copy of a metric has its own, and so has an unpickled one."""

    def __init__(self) -> None:
        # A batch is counted inside of the call that also returns its values.
        self.lock = threading.RLock()

    def __reduce__(self) -> tuple[type, tuple[()]]:
        return Turns, ()

    def mine(self) -> contextlib.AbstractContextManager[object]:
        """Wait for other threads; compiled code takes no lock, and must not be shared by threads."""
        return contextlib.nullcontext() if torch.compiler.is_compiling() else self.lock
