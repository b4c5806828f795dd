"""A run that counts batches into every metric for training loops and saves after each; it may be killed, and goes on.

python tests/killed_run.py LIBRARY FOLDER [KILL_AT]
"""

from __future__ import annotations

import importlib
import os
import pickle
import signal
import sys
from pathlib import Path

import numpy as np
from training_cases import METRICS, count, draw

SIZES = [24, 24, 13, 40, 0, 8]


def batches(name: str) -> list[list[np.ndarray]]:
    """The batches of a metric, the same in every process."""
    random = np.random.default_rng(list(name.encode()))
    return [draw(METRICS[name], size, random) for size in SIZES]


class Run:
    """The metrics of one library, and their checkpoint."""

    def __init__(self, library: str) -> None:
        module = importlib.import_module(f"matrics.{library}")
        self.library = library
        self.metrics = {name: case.make(module) for name, case in METRICS.items()}
        if library == "torchmetrics":
            for metric in self.metrics.values():
                metric.persistent(mode=True)

    def count(self, step: int) -> None:
        for name, metric in self.metrics.items():
            labels, made = batches(name)[step]
            if self.library == "flax":
                count(metric, METRICS[name], labels.astype(np.int32), made)
            else:
                torch = importlib.import_module("torch")
                count(metric, METRICS[name], torch.from_numpy(labels), torch.from_numpy(made))

    def values(self) -> dict[str, dict[str, float]]:
        return {name: metric.log_dict() for name, metric in self.metrics.items()}

    def save(self, path: Path) -> None:
        """With PyTorch's own format, or Orbax's."""
        if self.library == "flax":
            orbax, nnx = importlib.import_module("orbax.checkpoint"), importlib.import_module("flax.nnx")
            with orbax.StandardCheckpointer() as checkpointer:
                checkpointer.save(path, {name: nnx.state(metric) for name, metric in self.metrics.items()})
        else:
            states = {name: metric.state_dict() for name, metric in self.metrics.items()}
            importlib.import_module("torch").save(states, path)

    def load(self, path: Path) -> None:
        if self.library == "flax":
            orbax, nnx = importlib.import_module("orbax.checkpoint"), importlib.import_module("flax.nnx")
            own = {name: nnx.state(metric) for name, metric in self.metrics.items()}
            with orbax.StandardCheckpointer() as checkpointer:
                saved = checkpointer.restore(path, own)
            for name, metric in self.metrics.items():
                nnx.update(metric, saved[name])
        else:
            for name, state in importlib.import_module("torch").load(path).items():
                self.metrics[name].load_state_dict(state)


def main(library: str, folder: Path, kill_at: int | None = None) -> None:
    run = Run(library)
    done = len(list(folder.glob("step-*")))
    if done:
        run.load(folder / f"step-{done}")
    for step in range(done, len(SIZES)):
        run.count(step)
        if step + 1 == kill_at:  # counted, and not saved
            os.kill(os.getpid(), signal.SIGKILL)
        run.save(folder / f"step-{step + 1}")
    (folder / "values").write_bytes(pickle.dumps((done, run.values())))


if __name__ == "__main__":
    main(sys.argv[1], Path(sys.argv[2]), *map(int, sys.argv[3:]))
