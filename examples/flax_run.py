"""A Flax run on scikit-learn's breast cancer data: labels and scores measured in one MultiMetric, logged to a CSV file.

    python examples/flax_run.py
    python examples/flax_run.py --folder run --kill-at 41    # is killed in the middle of an epoch
    python examples/flax_run.py --folder run                 # resumes; the file ends as if nothing had happened

It needs jax, flax, optax and scikit-learn, takes seconds, and keeps nothing without --folder. The metrics are saved
with the model: a resumed epoch goes on counting where it was.
"""

from __future__ import annotations

import argparse
import csv
import os
import signal
import tempfile
from pathlib import Path
from typing import Any

import jax
import numpy as np
import optax
from flax import nnx
from sklearn.datasets import load_breast_cancer

from matrics.flax import ConfusionMetric, ScoreMetric

EPOCHS, SIZE, TRAINED, SAVE_EVERY = 6, 32, 384, 5
STEPS = TRAINED // SIZE


class Network(nnx.Module):
    def __init__(self, rngs: nnx.Rngs) -> None:
        self.hidden = nnx.Linear(30, 16, rngs=rngs)
        self.output = nnx.Linear(16, 1, rngs=rngs)

    def __call__(self, features: Any) -> Any:
        return self.output(nnx.relu(self.hidden(features)))[..., 0]


def measures(prefix: str) -> nnx.MultiMetric:
    """Both take ``labels=`` and ``logits=``: one decides at the logit 0, the other counts scores."""
    names = ["malignant", "benign"]
    return nnx.MultiMetric(
        labels=ConfusionMetric(2, "accuracy, mcc, recall:class", threshold=0.0, class_names=names, prefix=prefix),
        scores=ScoreMetric(metrics="roc_auc, ece", bounds=True, prefix=prefix),
    )


def values(metrics: nnx.MultiMetric) -> dict[str, float]:
    """The values of both as plain numbers."""
    return {**metrics.labels.log_dict(), **metrics.scores.log_dict()}


@nnx.jit
def train(model: Network, optimizer: nnx.Optimizer, metrics: nnx.MultiMetric, features: Any, labels: Any) -> None:
    """One step, whose logits are counted as well."""

    def loss_of(model: Network) -> Any:
        logits = model(features)
        return optax.sigmoid_binary_cross_entropy(logits, labels).mean(), logits

    (_, logits), gradients = nnx.value_and_grad(loss_of, has_aux=True)(model)
    optimizer.update(model, gradients)
    metrics.update(labels=labels, logits=logits)


@nnx.jit
def test(model: Network, metrics: nnx.MultiMetric, features: Any, labels: Any) -> None:
    metrics.update(labels=labels, logits=model(features))


class Checkpoint:
    """The step and everything that changes: weights, the optimizer's moments, and what the metrics have counted."""

    def __init__(self, path: Path, *parts: nnx.Module) -> None:
        self.path, self.parts = path, parts

    def save(self, step: int) -> None:
        new = self.path.with_suffix(".new.npz")
        np.savez(new, *jax.tree.leaves(nnx.state(self.parts)), step=step)
        new.replace(self.path)  # a run that is killed while saving still has the previous one

    def load(self) -> int:
        """The step at which the run goes on."""
        if not self.path.exists():
            return 0
        with np.load(self.path) as saved:
            leaves, tree = jax.tree.flatten(nnx.state(self.parts))
            nnx.update(self.parts, jax.tree.unflatten(tree, [saved[f"arr_{k}"] for k in range(len(leaves))]))
            return int(saved["step"])


class Log:
    """A CSV file of a row per epoch; a resumed run removes the rows of what it does again."""

    def __init__(self, path: Path, step: int) -> None:
        self.path = path
        lines = path.read_text().splitlines() if path.exists() else []
        self.rows = [row for row in csv.DictReader(lines) if int(row["step"]) <= step]

    def write(self, step: int, found: dict[str, float]) -> None:
        self.rows.append({"step": str(step), **{name: repr(value) for name, value in found.items()}})
        with self.path.open("w", newline="") as file:
            writer = csv.DictWriter(file, list(self.rows[0]))
            writer.writeheader()
            writer.writerows(self.rows)


def run(folder: Path, kill_at: int | None = None) -> dict[str, float]:
    """Train, log a row per epoch, and return the values of the last one."""
    features, labels = load_breast_cancer(return_X_y=True)
    order = np.random.default_rng(0).permutation(len(labels))
    features, labels = features[order].astype(np.float32), labels[order].astype(np.int32)
    features = (features - features[:TRAINED].mean(0)) / features[:TRAINED].std(0)

    model = Network(nnx.Rngs(0))
    optimizer = nnx.Optimizer(model, optax.adam(1e-2), wrt=nnx.Param)
    seen, held_out = measures("train/"), measures("val/")
    checkpoint = Checkpoint(folder / "checkpoint.npz", model, optimizer, seen)
    first = checkpoint.load()
    log = Log(folder / "metrics.csv", first)
    if first:
        print(f"goes on at step {first}, with {int(seen.labels.matrix.sum())} samples counted in this epoch")
    print("epoch  train/mcc  val/mcc  val/accuracy  val/roc_auc  val/ece  recall malignant  benign")
    for step in range(first, EPOCHS * STEPS):
        epoch, position = divmod(step, STEPS)
        if position == 0:
            seen.reset()
        chosen = np.random.default_rng(epoch).permutation(TRAINED)[position * SIZE : (position + 1) * SIZE]
        train(model, optimizer, seen, features[chosen], labels[chosen])
        if step + 1 == kill_at:
            os.kill(os.getpid(), signal.SIGKILL)
        if position == STEPS - 1:
            held_out.reset()
            test(model, held_out, features[TRAINED:], labels[TRAINED:])
            found = {**values(seen), **values(held_out)}
            log.write(step + 1, found)
            names = ["train/mcc", "val/mcc", "val/accuracy", "val/roc_auc", "val/ece"]
            shown = [found[name] for name in (*names, "val/recall/malignant", "val/recall/benign")]
            print("{:5d} {:10.3f} {:8.3f} {:13.3f} {:12.4f} {:8.4f} {:17.3f} {:7.3f}".format(epoch + 1, *shown))
        if (step + 1) % SAVE_EVERY == 0:
            checkpoint.save(step + 1)
    low, high = (found[f"val/roc_auc_{end}"] for end in ("low", "high"))
    print(f"\nthe exact area of the last epoch is between {low:.5f} and {high:.5f}")
    return found


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0])
    parser.add_argument("--folder", type=Path, help="log and save there, and resume from there")
    parser.add_argument("--kill-at", type=int, help="kill the process at this step, as in a crash")
    options = parser.parse_args()
    if options.folder:
        options.folder.mkdir(parents=True, exist_ok=True)
        run(options.folder, options.kill_at)
    else:
        with tempfile.TemporaryDirectory() as folder:
            run(Path(folder), options.kill_at)


if __name__ == "__main__":
    main()
