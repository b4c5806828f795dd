"""Train on the Dice score of soft confusion matrices, compared with cross-entropy: small shapes in noisy images.

Dice, the F1 of the pixels of an image, is what segmentation reports, at the threshold 0.5 of the probability. Here
some three pixels of a hundred are of a faint disc, and the model is one convolution, too small to be sure of any.
Recipes get the same images, initial weights, optimiser, number of steps and grid of learning rates, each of which is
chosen by the validation split of its seed. So is the threshold, in a second column: the usual remedy without another
loss.

All seeds train at once: their logits are (seeds, images, pixels), their soft matrices (seeds, images, 2, 2). Run it
with ``pip install "matrics[torch]"`` (some 20 seconds)::

    python examples/soft_dice.py
"""

import argparse
from collections.abc import Callable

import numpy as np
import torch

import matrics

SIDE, WINDOW, BRIGHTNESS = 20, 5, 1.0  # pixels, pixels, standard deviations of the noise
TRAIN, VALIDATE, TEST, BATCH = 32, 32, 64, 4  # images
RATES = (0.01, 0.03, 0.1)
THRESHOLDS = tuple(k / 20 for k in range(1, 20))

Split = tuple[torch.Tensor, torch.Tensor]  # windows (seeds, images, pixels, WINDOW²), labels (seeds, images, pixels)
Loss = Callable[[torch.Tensor, torch.Tensor], torch.Tensor]  # logits and labels (seeds, images, pixels) to (seeds,)


def soft_dice(logits: torch.Tensor, labels: torch.Tensor) -> torch.Tensor:
    inside = logits.sigmoid()
    soft = matrics.soft_confusion_matrix(labels, torch.stack([1 - inside, inside], -1))
    return 1 - matrics.f1(soft, positive=1, zero_division=0).mean(-1)


def cross_entropy(logits: torch.Tensor, labels: torch.Tensor) -> torch.Tensor:
    each = torch.nn.functional.binary_cross_entropy_with_logits(logits, labels.float(), reduction="none")
    return each.mean((-1, -2))


def weighted_cross_entropy(logits: torch.Tensor, labels: torch.Tensor) -> torch.Tensor:
    """Shape and background have the same weight."""
    true = labels.float()
    each = torch.nn.functional.binary_cross_entropy_with_logits(logits, true, reduction="none")
    share = true.mean((-1, -2), keepdim=True)
    return (each * (true / share + (1 - true) / (1 - share))).mean((-1, -2)) / 2


RECIPES: dict[str, tuple[Loss, Loss]] = {  # the losses of the first and the second half of the steps
    "cross-entropy": (cross_entropy, cross_entropy),
    "weighted cross-entropy": (weighted_cross_entropy, weighted_cross_entropy),
    "soft Dice": (soft_dice, soft_dice),
    "cross-entropy, soft Dice": (cross_entropy, soft_dice),
}


def draw(seeds: int) -> list[Split]:
    """Images with one disc each, of a radius of 1 to 3 pixels, in noise."""
    random = np.random.default_rng(0)
    shape = (seeds, TRAIN + VALIDATE + TEST)
    row, column = random.uniform(2, SIDE - 3, (2, *shape, 1, 1))
    radius = random.uniform(1, 3, (*shape, 1, 1))
    y, x = np.mgrid[:SIDE, :SIDE]
    labels = (y - row) ** 2 + (x - column) ** 2 <= radius**2
    images = random.normal(size=labels.shape) + BRIGHTNESS * labels
    edge = WINDOW // 2
    padded = np.pad(images, ((0, 0), (0, 0), (edge, edge), (edge, edge)))
    windows = np.lib.stride_tricks.sliding_window_view(padded, (WINDOW, WINDOW), (2, 3))
    windows = windows.reshape(*shape, SIDE * SIDE, WINDOW * WINDOW).astype(np.float32)
    flat = labels.reshape(*shape, SIDE * SIDE).astype(np.int64)
    parts = np.split(np.arange(shape[1]), [TRAIN, TRAIN + VALIDATE])
    return [(torch.from_numpy(windows[:, part]), torch.from_numpy(flat[:, part])) for part in parts]


def train(recipe: tuple[Loss, Loss], rate: float, steps: int, data: Split) -> list[torch.Tensor]:
    """Train one convolution per seed, from the same weights for every recipe: batches of images, Adam."""
    windows, labels = data
    random = torch.Generator().manual_seed(0)
    weights = [torch.randn((len(labels), WINDOW**2), generator=random) / WINDOW, torch.zeros((len(labels), 1, 1))]
    for weight in weights:
        weight.requires_grad_()
    optimizer = torch.optim.Adam(weights, lr=rate)
    for step in range(steps):
        batch = torch.randperm(TRAIN, generator=random)[:BATCH]
        optimizer.zero_grad()
        loss = recipe[2 * step // steps]
        loss(forward(weights, windows[:, batch]), labels[:, batch]).sum().backward()
        optimizer.step()
    return weights


def forward(weights: list[torch.Tensor], windows: torch.Tensor) -> torch.Tensor:
    kernel, bias = weights
    return torch.einsum("sipw,sw->sip", windows, kernel) + bias


def dice(weights: list[torch.Tensor], data: Split) -> np.ndarray:
    """Hard Dice of the images, from counts: its mean over them, for each seed and threshold (seeds, thresholds)."""
    with torch.no_grad():
        probabilities = forward(weights, data[0]).sigmoid()
        cm = matrics.ranking.confusion_matrix(data[1], probabilities, torch.tensor(THRESHOLDS))
    return matrics.f1(cm, positive=1, zero_division=0).mean(1).numpy()


def compete(seeds: int, steps: int) -> dict[str, dict[str, np.ndarray]]:
    """The test scores of every recipe at the rate, and with ``tuned`` at the threshold, best in validation."""
    training, validation, test = draw(seeds)
    results, half = {}, THRESHOLDS.index(0.5)
    for name, recipe in RECIPES.items():
        models = [train(recipe, rate, steps, training) for rate in RATES]
        validated, tested = (np.stack([dice(model, data) for model in models], 1) for data in (validation, test))
        seed, best = np.arange(seeds), validated[:, :, half].argmax(1)
        rate, threshold = np.divmod(validated.reshape(seeds, -1).argmax(1), len(THRESHOLDS))
        results[name] = {"at 0.5": tested[seed, best, half], "tuned": tested[seed, rate, threshold]}
        results[name]["threshold"] = np.asarray(THRESHOLDS)[threshold]
    return results


def report(results: dict[str, dict[str, np.ndarray]], steps: int) -> None:
    seeds = len(results["soft Dice"]["at 0.5"])
    print(f"Dice of test images, {steps} steps: mean ± standard deviation over {seeds} seeds.\n")
    columns = list(results["soft Dice"])
    print(f"{'':26}" + "".join(f"{column:>16}" for column in columns))
    for name, found in results.items():
        cells = (f"{values.mean():.3f} ± {values.std(ddof=1):.3f}" for values in found.values())
        print(f"{name:26}" + "".join(f"{cell:>16}" for cell in cells))
    for rival in ("cross-entropy", "weighted cross-entropy"):
        print(f"\nLess {rival}, seed by seed: mean ± standard error; in how many seeds better.\n")
        for name in RECIPES:
            if "soft" in name:
                gaps = [results[name][column] - results[rival][column] for column in columns[:2]]
                cells = (f"{gap.mean():+.3f} ± {gap.std(ddof=1) / seeds**0.5:.3f} {(gap > 0).sum():>4}" for gap in gaps)
                print(f"{name:26}" + "".join(f"{cell:>21}" for cell in cells))


def main(arguments: list[str] | None = None) -> dict[str, dict[str, np.ndarray]]:
    parser = argparse.ArgumentParser(description="Soft Dice beside cross-entropy, on small shapes in noise.")
    parser.add_argument("--seeds", type=int, default=20)
    parser.add_argument("--steps", type=int, default=200)
    given = parser.parse_args(arguments)
    results = compete(given.seeds, given.steps)
    report(results, given.steps)
    return results


if __name__ == "__main__":
    main()
