"""Matrices at the ends of a measure: what is 1 is exactly 1, and 0 has no sign, on every backend."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

import matrics

RANDOM = np.random.default_rng(9)
NUMBERS_OF_CLASSES = [*range(2, 21)]

# One without errors, whatever the sizes of the classes.
PERFECT = (
    *("accuracy", "balanced_accuracy", "f1:macro", "precision:macro", "recall:macro", "jaccard:macro", "mcc"),
    *("cohen_kappa", "scotts_pi", "gwet_ac1", "nmi", "rci", "theil_u", "theil_u(direction=symmetric)", "eve"),
    *("nmi(normalizer=joint)", "nmi(normalizer=min)", "nmi(normalizer=max)", "theil_u(direction=pred_given_true)"),
    *("goodman_kruskal_lambda", "goodman_kruskal_tau", "goodman_kruskal_tau(direction=symmetric)", "tpr:micro"),
    *("cramers_v", "cramers_v(effective=true)", "tschuprows_t"),
)
# Those of information cannot see that the classes are exchanged.
EXCHANGED = ("nmi", "rci", "theil_u", "theil_u(direction=symmetric)", "nmi(normalizer=joint)")
# Zero without errors.
FREE = ("cen", "mcen", "class_cen:class", "class_mcen:class", "conditional_entropy", "bray_curtis_dissimilarity:class")


def perfect(n: int) -> np.ndarray:
    """Of equal and of unequal classes."""
    return np.stack([7 * np.eye(n, dtype=int), np.diag(RANDOM.integers(1, 50, n)), np.diag(RANDOM.permutation(n) + 1)])


def has_sign(x: np.ndarray) -> bool:
    return bool(((x == 0) & np.signbit(x)).any())


def values(backend: Any, cm: np.ndarray, names: tuple[str, ...]) -> dict[str, np.ndarray]:
    found = backend.call(lambda cm: list(matrics.score(cm, names).values()), backend.asarray(cm))
    return dict(zip(names, map(backend.numpy, found), strict=True))


@pytest.mark.sampled(3)
@pytest.mark.exhaustive(backend=["jax", "jax-x64"])
@pytest.mark.parametrize("n", [2, 3, 4, 7, 10])
def test_perfect_and_exchanged_matrices(backend: Any, n: int) -> None:
    cm = perfect(n)
    found = values(backend, cm, PERFECT + FREE)
    if backend.name == "torch-cuda":  # whose eigenvalues are those of a kernel
        np.testing.assert_allclose(found["eve"], 1, rtol=1e-15)
        found["eve"][...] = 1
    assert {name: np.unique(found[name]).tolist() for name in PERFECT} == {name: [1.0] for name in PERFECT}
    assert {name: np.unique(found[name]).tolist() for name in FREE} == {name: [0.0] for name in FREE}
    assert [name for name, x in found.items() if has_sign(x)] == []
    found = values(backend, np.roll(cm, 1, axis=-1), (*EXCHANGED, *FREE, "accuracy", "f1:macro"))
    assert {name: np.unique(found[name]).tolist() for name in EXCHANGED} == {name: [1.0] for name in EXCHANGED}
    assert [name for name, x in found.items() if has_sign(x)] == []


def test_all_numbers_of_classes() -> None:
    for n in NUMBERS_OF_CLASSES:
        cm = perfect(n)
        for name, x in matrics.score(cm, PERFECT).items():
            np.testing.assert_array_equal(x, 1, err_msg=f"{name}, {n} classes")
        for name, x in matrics.score(cm, FREE).items():
            np.testing.assert_array_equal(x, 0, err_msg=f"{name}, {n} classes")


@pytest.mark.filterwarnings("ignore")
@pytest.mark.parametrize("n", [1, 2, 3, 5])
def test_no_zero_of_the_catalogue_has_a_sign(n: int) -> None:
    """Of any measure: without errors or hits, without samples, with one class, and by chance."""
    column, row = (np.zeros((n, n), int) for _ in range(2))
    column[:, 0] = row[0] = RANDOM.integers(1, 9, n)
    sparse = np.diag(RANDOM.integers(0, 2, n) * 7)
    product = np.outer(RANDOM.integers(1, 9, n), RANDOM.integers(1, 9, n))
    stack = [*perfect(n), *np.roll(perfect(n), 1, axis=-1), column, row, sparse, product, 0 * row, 0 * row + 7]
    found = matrics.score(np.stack(stack), "all")
    assert [name for name, x in found.items() if has_sign(np.asarray(x))] == []


def test_what_is_near_an_end_is_not_at_it() -> None:
    """One error in a million samples is seen, as NumPy says by the definitions, and by as much."""
    cm = np.asarray([[500_000, 1], [0, 500_000]])
    p = cm / cm.sum()
    true, pred = p.sum(1), p.sum(0)
    entropy = [-sum(x * np.log(x) for x in part.ravel() if x) for part in (true, pred, p)]
    shared = entropy[0] + entropy[1] - entropy[2]
    assert matrics.metrics.nmi(cm) == pytest.approx(2 * shared / (entropy[0] + entropy[1]), abs=1e-12)
    assert matrics.metrics.rci(cm) == pytest.approx(shared / entropy[0], abs=1e-12)
    assert matrics.metrics.conditional_entropy(cm) == pytest.approx(entropy[2] - entropy[0], abs=1e-12)
    rates = cm / cm.sum(1, keepdims=True)
    shares = np.linalg.eigvalsh((rates + rates.T) / 2)
    shares = shares / shares.sum()
    assert matrics.eve(cm) == pytest.approx(-(shares * np.log2(shares)).sum(), abs=1e-14)
    assert 0 < 1 - matrics.metrics.nmi(cm) < 1e-4
    assert 0 < matrics.cen(cm) < 1e-4
