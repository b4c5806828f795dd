"""Train a small network on the digits with JAX and Flax, with live metrics: an epoch is one compiled program.

Within the epoch, a ConfusionState is part of the carry of ``lax.scan``, so that the training scores need no extra step.
The test digits go in batches through a ConfusionMetric in an ``nnx.MultiMetric``; the last batch is smaller, and is
padded with the label -1, so that nothing is traced twice.

Run: python examples/jax_loop.py (needs jax, flax, optax and scikit-learn; a few seconds)
"""

from __future__ import annotations

from typing import Any

import jax
import jax.numpy as jnp
import numpy as np
import optax
from flax import nnx
from sklearn.datasets import load_digits

from matrics import ConfusionState
from matrics.flax import ConfusionMetric

EPOCHS, SIZE, PADDING = 8, 64, -1
TRACES = {"train": 0, "test": 0}


class Network(nnx.Module):
    def __init__(self, rngs: nnx.Rngs) -> None:
        self.hidden = nnx.Linear(64, 48, rngs=rngs)
        self.output = nnx.Linear(48, 10, rngs=rngs)

    def __call__(self, images: Any) -> Any:
        return self.output(nnx.relu(self.hidden(images)))


@nnx.jit
def train(model: Network, optimizer: nnx.Optimizer, images: Any, labels: Any) -> Any:
    """One epoch over batches (steps, SIZE, 64): the mean loss, and the scores of all its predictions."""
    TRACES["train"] += 1
    graph, variables = nnx.split((model, optimizer))

    def loss_of(model: Network, images: Any, labels: Any) -> Any:
        logits = model(images)
        return optax.softmax_cross_entropy_with_integer_labels(logits, labels).mean(), logits

    def step(carry: Any, batch: Any) -> Any:
        variables, state = carry
        model, optimizer = nnx.merge(graph, variables)
        (loss, logits), gradients = nnx.value_and_grad(loss_of, has_aux=True)(model, *batch)
        optimizer.update(model, gradients)
        return (nnx.state((model, optimizer)), state.update(batch[1], logits)), loss

    start = variables, ConfusionState.zeros(10, like=images)
    (variables, state), losses = jax.lax.scan(step, start, (images, labels))
    nnx.update((model, optimizer), variables)
    return losses.mean(), state.score(["accuracy", "mcc"])


@nnx.jit
def test(model: Network, metrics: nnx.MultiMetric, images: Any, labels: Any) -> None:
    """Count one batch in place."""
    TRACES["test"] += 1
    logits = model(images)
    losses = optax.softmax_cross_entropy_with_integer_labels(logits, jnp.maximum(labels, 0))
    metrics.update(logits=logits, labels=labels, values=losses, mask=labels != PADDING)


def batches(images: np.ndarray, labels: np.ndarray) -> Any:
    """Batches of one shape: the last one is padded with the label PADDING."""
    missing = -len(labels) % SIZE
    images = np.concatenate([images, np.zeros((missing, 64), images.dtype)])
    labels = np.concatenate([labels, np.full(missing, PADDING)])
    return images.reshape(-1, SIZE, 64), labels.reshape(-1, SIZE)


def main() -> dict[str, float]:
    digits = load_digits()
    order = np.random.default_rng(0).permutation(len(digits.target))
    images, labels = (digits.data[order] / 16).astype(np.float32), digits.target[order]
    steps = 1280 // SIZE
    held_out = batches(images[1280:], labels[1280:])

    model = Network(nnx.Rngs(0))
    optimizer = nnx.Optimizer(model, optax.adam(3e-3), wrt=nnx.Param)
    confusion = ConfusionMetric(10, ["accuracy", "mcc", "eve", "recall:class"], prefix="test/")
    metrics = nnx.MultiMetric(loss=nnx.metrics.Average(), confusion=confusion)

    print("         train                       test")
    print("epoch     loss  accuracy    mcc      loss  accuracy    mcc    eve  weakest digit")
    for epoch in range(1, EPOCHS + 1):
        shuffled = np.random.default_rng(epoch).permutation(1280).reshape(steps, SIZE)
        loss, trained = train(model, optimizer, images[shuffled], labels[shuffled])
        metrics.reset()
        for batch in zip(*held_out, strict=True):
            test(model, metrics, *batch)
        found = metrics.compute()
        scores = {name: float(value) for name, value in found["confusion"].items()}
        recalls = {name: value for name, value in scores.items() if name.startswith("test/recall/")}
        weakest = min(recalls, key=lambda name: recalls[name])
        print(
            f"{epoch:5d} {loss:8.3f} {trained['accuracy']:9.3f} {trained['mcc']:6.3f}"
            f" {found['loss']:9.3f} {scores['test/accuracy']:9.3f} {scores['test/mcc']:6.3f} {scores['test/eve']:6.3f}"
            f"  {weakest} = {recalls[weakest]:.3f}"
        )
    print(f"\nThe {int(confusion.state.matrix.sum())} test digits (rows true, columns predicted):")
    print(confusion.state.matrix)
    print(f"times traced in {EPOCHS} epochs: train {TRACES['train']}, test {TRACES['test']}")
    return scores


if __name__ == "__main__":
    main()
