"""Train on a measure of the soft confusion matrix, compared with cross-entropy, on digits of which five are rare.

Counts are constant in the weights of a network except for jumps, and so the Matthews correlation coefficient has been
considered unsuitable as a training target. The soft matrix adds up probabilities instead of counts, and has a gradient.
Five recipes get the same networks, images, optimiser, number of steps and grid of learning rates. Each uses the rate,
and with it the network, that has the best coefficient on the validation split of its seed; the printed results are
those on the test split.

All seeds train at once, as a stack: their logits are (seeds, samples, 10), their soft matrices (seeds, 10, 10), and the
total loss is the sum of the losses. Run it with ``pip install "matrics[torch]" scikit-learn`` (some 20 seconds)::

    python examples/soft_mcc.py
"""

import argparse
from collections.abc import Callable

import numpy as np
import torch
from sklearn.datasets import load_digits
from sklearn.model_selection import train_test_split

import matrics

RARE, KEPT = (1, 3, 5, 7, 9), 24  # KEPT images of each of the RARE digits, and some 178 of each other digit
RATES = (0.003, 0.01, 0.03, 0.1)
HIDDEN = 32
MEASURES = ("accuracy", "balanced_accuracy", "mcc")

Split = tuple[torch.Tensor, torch.Tensor]
Loss = Callable[[torch.Tensor, torch.Tensor], torch.Tensor]  # (seeds, N, 10) logits and (seeds, N) labels to (seeds,)


def soft_mcc(logits: torch.Tensor, labels: torch.Tensor) -> torch.Tensor:
    return 1 - matrics.mcc(matrics.soft_confusion_matrix(labels, logits.softmax(-1)), zero_division=0)


def soft_g_mean(logits: torch.Tensor, labels: torch.Tensor) -> torch.Tensor:
    """A loss that ignores no class: the geometric mean of the recalls is 0 if one of them is."""
    return 1 - matrics.metrics.g_mean(matrics.soft_confusion_matrix(labels, logits.softmax(-1)), zero_division=0)


def cross_entropy(logits: torch.Tensor, labels: torch.Tensor) -> torch.Tensor:
    return torch.nn.functional.cross_entropy(logits.movedim(-1, 1), labels, reduction="none").mean(-1)


def weighted_cross_entropy(logits: torch.Tensor, labels: torch.Tensor) -> torch.Tensor:
    """The usual remedy for rare classes: every class has the same weight, whatever its size."""
    sizes = torch.nn.functional.one_hot(labels, 10).sum(1)
    weights = 1 / sizes.gather(1, labels) / 10
    return (torch.nn.functional.cross_entropy(logits.movedim(-1, 1), labels, reduction="none") * weights).sum(-1)


RECIPES: dict[str, tuple[Loss, Loss]] = {  # the losses of the first and the second half of the steps
    "cross-entropy": (cross_entropy, cross_entropy),
    "weighted cross-entropy": (weighted_cross_entropy, weighted_cross_entropy),
    "soft MCC": (soft_mcc, soft_mcc),
    "cross-entropy, soft MCC": (cross_entropy, soft_mcc),
    "soft G-mean": (soft_g_mean, soft_g_mean),
}


def draw(seeds: int) -> list[Split]:
    """Rare images and a split per seed: half of the images to train, a fifth to validate, the rest to test."""
    images, labels = load_digits(return_X_y=True)
    splits = []
    for seed in range(seeds):
        random = np.random.default_rng(seed)
        rows = [np.flatnonzero(labels == digit) for digit in range(10)]
        rows = [random.choice(r, KEPT, replace=False) if digit in RARE else r for digit, r in enumerate(rows)]
        kept = np.concatenate(rows)
        train, rest = train_test_split(kept, train_size=0.5, stratify=labels[kept], random_state=seed)
        validate, test = train_test_split(rest, train_size=0.4, stratify=labels[rest], random_state=seed)
        splits.append((train, validate, test))
    parts = [np.stack(part) for part in zip(*splits, strict=True)]
    scaled = (images / 16).astype(np.float32)
    return [(torch.from_numpy(scaled[part]), torch.from_numpy(labels[part])) for part in parts]


def train(recipe: tuple[Loss, Loss], rate: float, steps: int, data: Split) -> list[torch.Tensor]:
    """Train one hidden layer per seed, from the same weights for every recipe: full batches, Adam."""
    images, labels = data
    random = torch.Generator().manual_seed(0)
    weights = [
        torch.randn((len(images), 64, HIDDEN), generator=random) / 64**0.5,
        torch.zeros((len(images), 1, HIDDEN)),
        torch.randn((len(images), HIDDEN, 10), generator=random) / HIDDEN**0.5,
        torch.zeros((len(images), 1, 10)),
    ]
    for weight in weights:
        weight.requires_grad_()
    optimizer = torch.optim.Adam(weights, lr=rate)
    for step in range(steps):
        optimizer.zero_grad()
        loss = recipe[2 * step // steps]
        loss(forward(weights, images), labels).sum().backward()
        optimizer.step()
    return weights


def forward(weights: list[torch.Tensor], images: torch.Tensor) -> torch.Tensor:
    first, bias, second, other_bias = weights
    return torch.relu(images @ first + bias) @ second + other_bias


def scores(weights: list[torch.Tensor], data: Split) -> dict[str, np.ndarray]:
    """Hard measures, computed from counts, (seeds,) each."""
    with torch.no_grad():
        cm = matrics.confusion_matrix(data[1], forward(weights, data[0]), num_classes=10)
    return {name: values.numpy() for name, values in matrics.score(cm, MEASURES, zero_division=0).items()}


def compete(seeds: int, steps: int) -> tuple[dict[str, dict[str, np.ndarray]], dict[str, list[int]]]:
    """The test scores of every recipe at its best rate in validation, and how often each rate was the best."""
    training, validation, test = draw(seeds)
    results, taken = {}, {}
    for name, recipe in RECIPES.items():
        networks = [train(recipe, rate, steps, training) for rate in RATES]
        best = np.argmax([scores(network, validation)["mcc"] for network in networks], axis=0)
        tested = [scores(network, test) for network in networks]
        results[name] = {m: np.stack([t[m] for t in tested])[best, np.arange(seeds)] for m in MEASURES}
        taken[name] = np.bincount(best, minlength=len(RATES)).tolist()
    return results, taken


def report(results: dict[str, dict[str, np.ndarray]], taken: dict[str, list[int]], steps: int) -> None:
    seeds = len(results["soft MCC"]["mcc"])
    print(f"Test split, {steps} steps: mean ± standard deviation over {seeds} seeds; how often each rate was taken.\n")
    print(f"{'':24}{'accuracy':>16}{'balanced':>16}{'mcc':>16}   " + "".join(f"{rate:>7}" for rate in RATES))
    for name, found in results.items():
        cells = (f"{values.mean():.3f} ± {values.std(ddof=1):.3f}" for values in found.values())
        print(f"{name:24}" + "".join(f"{cell:>16}" for cell in cells) + "   " + "".join(f"{t:>7}" for t in taken[name]))
    for rival in ("cross-entropy", "weighted cross-entropy"):
        print(f"\nLess {rival}, seed by seed: mean ± standard error; in how many seeds better, equal, worse (mcc).\n")
        for name in RECIPES:
            if "soft" in name:
                gaps = {measure: results[name][measure] - results[rival][measure] for measure in MEASURES}
                cells = (f"{gap.mean():+.3f} ± {gap.std(ddof=1) / seeds**0.5:.3f}" for gap in gaps.values())
                signs = "".join(f"{(np.sign(gaps['mcc']) == sign).sum():>7}" for sign in (1, 0, -1))
                print(f"{name:24}" + "".join(f"{cell:>16}" for cell in cells) + "   " + signs)


def main(arguments: list[str] | None = None) -> dict[str, dict[str, np.ndarray]]:
    parser = argparse.ArgumentParser(description="Soft MCC beside cross-entropy, on imbalanced digits.")
    parser.add_argument("--seeds", type=int, default=20)
    parser.add_argument("--steps", type=int, default=200)
    given = parser.parse_args(arguments)
    results, taken = compete(given.seeds, given.steps)
    report(results, taken, given.steps)
    return results


if __name__ == "__main__":
    main()
