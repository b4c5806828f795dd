"""What the gradient of each measure is worth in training, measured on soft matrices by finite differences.

``conf.py`` writes the table of ``losses.md`` from this at every build; ``python docs/gradients.py`` prints it.
"""

import math
from typing import NamedTuple

import numpy as np

import matrics

MATRICES, SAMPLES = 100, 300  # simulated matrices of each number of classes, and samples in each of them
STARTS, ROUNDS, STRIDE = 32, 60, 0.6  # of the climbs
CLASSES = 3  # of the matrices that are climbed
RECOGNISED = 0.8  # the recall from which on a class is
NEARLY_ALL, MOST = 0.95, 0.9


class Signal(NamedTuple):
    """What was measured of one measure; shares are in [0, 1], and NaN where there is no better end."""

    verdict: str
    helps: float
    """The share of small steps from a wrong class to the right one that move the measure to its better end."""
    idle: float
    """The share of such steps that do not move it at all."""
    slope: float
    """By how much one of them changes the value, with all samples in place of one: the median."""
    rare: float
    """What a sample of the rarest class gains it, over what one of the most common class does: the median."""
    untrained: float
    """The share of guesses from which its gradient leads to every class being recognised."""
    half_trained: float
    """The same share for matrices in which most classes are recognised already."""
    stops: bool
    """Whether there is no gradient left in a batch that lacks a class."""


def soft_matrices(n, random):
    """Soft matrices (MATRICES, n, n) of networks from poor to good, with a taste of their own and unequal classes."""
    shares = random.dirichlet(np.full(n, 2.0), MATRICES)
    # One sample of each class, and the rest by chance.
    labels = np.stack([[*range(n), *random.choice(n, SAMPLES - n, p=share)] for share in shares])
    noise = random.normal(size=(MATRICES, SAMPLES, n)) * random.uniform(0.5, 2, (MATRICES, 1, 1))
    taste = random.normal(size=(MATRICES, 1, n))
    skill = random.uniform(0, 4, (MATRICES, 1, 1)) * np.eye(n)[labels]
    return matrics.soft_confusion_matrix(labels, softmax(noise + taste + skill))


def softmax(logits):
    powers = np.exp(logits - logits.max(axis=-1, keepdims=True))
    return powers / powers.sum(axis=-1, keepdims=True)


# Single steps ---------------------------------------------------------------------------------------------------------


def slopes(names, stack):
    """What every measure gains if probability moves from a wrong class to the right one: (K, n (n - 1)) of each.

    By central differences, and with all samples in place of a few.
    """
    n = stack.shape[-1]
    true, pred = np.nonzero(~np.eye(n, dtype=bool))
    size = 1e-4 * np.minimum(stack[:, true, pred], stack[:, true, true])
    step = size[..., None, None] * (np.eye(n * n)[true * n + true] - np.eye(n * n)[true * n + pred]).reshape(-1, n, n)
    above, below = (matrics.score(stack[:, None] + sign * step, names) for sign in (1, -1))
    # A class without samples has no steps: they are 0.
    scale = np.where(size > 0, stack.sum(axis=(1, 2))[:, None] / np.where(size > 0, 2 * size, 1), 0)
    return {name: difference(above[name], below[name]) * scale for name in names}


def difference(above, below):
    """Their difference; 0 where it is that of two roundings."""
    return np.where(np.isclose(above, below, rtol=1e-13, atol=1e-15), 0, above - below)


# Climbs ---------------------------------------------------------------------------------------------------------------


def climb(metric, skill):
    """From how many of STARTS matrices the gradient leads to one in which every class is recognised.

    The logits of each class's samples move as one, by the normalised gradient, and so the scale of the measure does not
    matter; strides get shorter, or they would wander about where there is nowhere to go.
    """
    random = np.random.default_rng(1)
    sizes = 300 * random.dirichlet(np.full(CLASSES, 2.0), STARTS)[..., None] + 6
    logits = skill * np.eye(CLASSES) + random.normal(size=(STARTS, 1, CLASSES))
    logits = logits + 0.5 * random.normal(size=(STARTS, CLASSES, CLASSES))
    nudges = 1e-4 * np.eye(CLASSES**2).reshape(1, -1, CLASSES, CLASSES)
    side = 1 if metric.higher_is_better else -1
    for left in range(ROUNDS, 0, -1):
        above, below = (metric(sizes[:, None] * softmax(logits[:, None] + sign * nudges)) for sign in (1, -1))
        gradient = side * np.nan_to_num(difference(above, below)).reshape(logits.shape)
        length = np.sqrt((gradient**2).sum(axis=(1, 2), keepdims=True))
        logits = logits + left / ROUNDS * STRIDE * gradient / np.where(length > 0, length, 1)
    return np.mean(np.diagonal(softmax(logits), axis1=1, axis2=2).min(axis=1) > RECOGNISED)


# Verdicts -------------------------------------------------------------------------------------------------------------


def signals(names=None):
    """The signal of every measure (of some), by name."""
    names = matrics.list_metrics() if names is None else names
    random = np.random.default_rng(0)
    stacks = [soft_matrices(n, random) for n in (2, 3, 5)]
    parts = [slopes(names, stack) for stack in stacks]
    lacking = soft_matrices(CLASSES, random)
    lacking[:, 0] = 0
    lacking = slopes(names, lacking)
    return {
        name: judge(matrics.get_metric(name), stacks, [part[name] for part in parts], lacking[name]) for name in names
    }


def rare_over_common(stack, gains):
    """What a sample of the rarest class gains over what one of the most common class does, of every matrix."""
    sizes = stack.sum(axis=-1)
    of_classes = np.abs(gains).reshape(*sizes.shape, -1).mean(axis=-1)
    rare, common = (
        np.take_along_axis(of_classes, which(sizes, axis=-1)[:, None], axis=-1) for which in (np.argmin, np.argmax)
    )
    return np.where(common > 0, rare / np.where(common > 0, common, 1), np.nan)[:, 0]


def judge(metric, stacks, parts, lacking):
    rare = np.concatenate([rare_over_common(stack, part) for stack, part in zip(stacks, parts, strict=True)])
    gains = np.concatenate([part.ravel() for part in parts])
    gains = gains[~np.isnan(gains)]
    idle, slope = np.mean(gains == 0), np.median(np.abs(gains))
    stops = not np.nan_to_num(lacking).any()
    if metric.higher_is_better is None or idle == 1:
        return Signal("no target", math.nan, idle, slope, math.nan, math.nan, math.nan, stops)
    helps = np.mean(gains > 0 if metric.higher_is_better else gains < 0)
    untrained, half_trained = climb(metric, 0), climb(metric, 1.5)
    if untrained >= NEARLY_ALL:
        verdict = "useful"
    elif half_trained >= NEARLY_ALL:
        verdict = "to refine"
    elif idle > 1 - NEARLY_ALL:
        verdict = "flat in places"
    else:
        verdict = "misleads" if helps < MOST else "unreliable"
    return Signal(verdict, helps, idle, slope, np.nanmedian(rare), untrained, half_trained, stops)


if __name__ == "__main__":
    for name, found in signals().items():
        print(f"{name:32}{found.verdict:16}", *(f"{number:8.3g}" for number in found[1:-1]), "stops" * found.stops)
