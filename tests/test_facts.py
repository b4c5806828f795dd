"""The facts that a metric's record states, measured on random matrices instead of believed."""

from __future__ import annotations

from typing import Any, get_args

import numpy as np
import pytest

import matrics
from matrics._catalogue.record import Chance

NAMES = [*matrics.list_metrics("all"), *matrics.list_metrics("on_host")]
SIZES = (2, 3, 4, 5)
MANY = 10.0**9  # items, so that corrections for few of them vanish


def values(name: str | matrics.Metric, stack: np.ndarray) -> np.ndarray:
    """Of every matrix, or of every class."""
    metric = matrics.get_metric(name)
    if metric.on_host:
        pytest.importorskip("scipy")
    return np.asarray(metric(stack, **({"average": "class"} if metric.kind == "per_class" else {})))


def full_matrices(n: int) -> np.ndarray:
    return np.random.default_rng(n).integers(1, 40, (40, n, n)).astype(float)


def same(a: np.ndarray, b: np.ndarray) -> bool:
    return np.allclose(a, b, rtol=1e-9, atol=1e-12, equal_nan=True)


def guesses(kind: Chance, n: int) -> np.ndarray:
    """Matrices in which the predicted class has nothing to do with the true one."""
    random = np.random.default_rng(n)
    equal = np.full((40, n), 1 / n)
    true = equal.copy() if kind == "equal sizes of equal classes" else random.dirichlet(np.full(n, 3), 40)
    true[5:8] = 1 / n
    pred = {"any sizes": random.dirichlet(np.full(n, 3), 40), "true sizes": true.copy()}.get(kind, equal)
    if kind == "any sizes":  # everything the largest class, too
        pred[:5] = np.eye(n)[true[:5].argmax(1)]
    return MANY * true[:, :, None] * pred[:, None, :]


def value_of_guesses(name: str, kind: Chance) -> float | None:
    """The value that all guesses of a kind have in common, to within a millionth of what the measure spans."""
    found = np.concatenate([values(name, guesses(kind, n)).ravel() for n in SIZES])
    perfect = np.concatenate([values(name, MANY * np.eye(n) / n).ravel() for n in SIZES])
    others = np.concatenate([values(name, full_matrices(n) / 20 * MANY).ravel() for n in SIZES])
    span = np.nanstd(others)
    constant = not np.isnan(found).all() and np.ptp(found[~np.isnan(found)]) <= 1e-5 * span
    # A measure that a guess and a perfect prediction have in common says nothing of chance: it compares sizes.
    told = np.isnan(perfect).all() or np.nanmin(np.abs(perfect - np.nanmean(found))) > max(1e-5 * span, 1e-6)
    return float(np.nanmean(found)) if constant and told else None


def measure_chance(name: str) -> tuple[Chance | None, float]:
    """The widest kind of guesses that have one value."""
    for kind in get_args(Chance):
        value = value_of_guesses(name, kind)
        if value is not None:
            return kind, value
    return None, 0


def measure_class_sizes(name: str) -> str | None:
    """Whether the number of items of each true class may change at the same rates."""
    found = []
    for n in SIZES:
        stack = full_matrices(n)
        factors = np.random.default_rng(n).uniform(0.1, 10, (len(stack), n, 1))
        found.append(same(values(name, stack), values(name, stack * factors)))
    return "always" if all(found) else "two classes" if found[0] else None


def without_a_class(n: int = 4) -> np.ndarray:
    stack = full_matrices(n)
    stack[:, 0, :] = 0
    return stack


def measure_need(name: str) -> bool:
    """Whether it is undefined where the first true class is empty; of a class measure, that class's value."""
    found = values(name, without_a_class())
    return bool(np.isnan(found[:, 0] if found.ndim > 1 else found).all())


def measure_symmetry(name: str) -> bool:
    """Whether transposed matrices have the same values, whatever the options."""
    metric = matrics.get_metric(name)
    specs = [metric] + [metric.using(**{o.name: x}) for o in metric.options for x in o.choices or (o.above + 0.7,)]
    return all(
        same(values(spec, full_matrices(n)), values(spec, full_matrices(n).swapaxes(1, 2)))
        for spec in specs
        for n in SIZES
    )


@pytest.mark.sampled(21)
@pytest.mark.parametrize("name", NAMES)
def test_symmetry(name: str) -> None:
    assert measure_symmetry(name) == matrics.get_metric(name).symmetric


@pytest.mark.sampled(21)
@pytest.mark.parametrize("name", NAMES)
def test_scale(name: str) -> None:
    found = all(same(values(name, full_matrices(n)), values(name, 4 * full_matrices(n))) for n in SIZES)
    assert found == matrics.get_metric(name).scale_free


@pytest.mark.sampled(21)
@pytest.mark.parametrize("name", NAMES)
def test_chance(name: str) -> None:
    metric = matrics.get_metric(name)
    kind, value = measure_chance(name)
    assert kind == metric.chance
    assert value == pytest.approx(metric.chance_value, abs=1e-5)


@pytest.mark.sampled(21)
@pytest.mark.parametrize("name", NAMES)
def test_class_sizes(name: str) -> None:
    assert measure_class_sizes(name) == matrics.get_metric(name).ignores_class_sizes


@pytest.mark.sampled(21)
@pytest.mark.parametrize("name", NAMES)
def test_need_of_every_class(name: str) -> None:
    assert measure_need(name) == matrics.get_metric(name).needs_every_class


def extremes(n: int) -> np.ndarray:
    """Matrices at which measures have their least values: all wrong in several ways, and classes of one size."""
    swapped = np.full((n, n), 0.0)
    swapped[:, 0] = 1e-9  # small classes taken for one of two large ones, which are taken for each other
    swapped[0] = swapped[1] = 0
    swapped[0, 1] = swapped[1, 0] = 1
    return np.stack([1 - np.eye(n), np.roll(np.eye(n), 1, axis=1), swapped, np.eye(n)])


@pytest.mark.sampled(3)
@pytest.mark.parametrize("name", [name for name in NAMES if matrics.get_metric(name).lowest])
@pytest.mark.parametrize("n", [2, 3, 4, 7])
def test_lowest_value(name: str, n: int) -> None:
    """No matrix is below it, and some come near."""
    lowest: Any = matrics.get_metric(name).lowest
    random = np.random.default_rng(n)
    sparse = random.dirichlet(np.full(n * n, 0.1), 2000).reshape(-1, n, n) * (1 - 0.9 * np.eye(n))
    found = np.concatenate([values(name, stack).ravel() for stack in (extremes(n), sparse)])
    assert np.nanmin(found) >= lowest(n) - 1e-12
    assert np.nanmin(found) == pytest.approx(lowest(n), abs=1e-6)
