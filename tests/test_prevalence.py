"""Matrices at another prevalence."""

from __future__ import annotations

from fractions import Fraction
from typing import Any

import numpy as np
import pytest
import roads

import matrics

RANDOM = np.random.default_rng(34)
CASE_CONTROL = [[95, 5], [10, 90]]


def by_hand(cm: Any, shares: Any) -> np.ndarray:
    """The rows one by one, in exact fractions."""
    total = sum(sum(row) for row in cm)
    rows = []
    for row, share in zip(cm, shares, strict=True):
        size = sum(row)
        rows.append([float(Fraction(share) * total * Fraction(cell) / size) if size else 0.0 for cell in row])
    return np.asarray(rows)


@pytest.mark.sampled(1)
@pytest.mark.parametrize("n", [2, 3, 7])
def test_rows_have_their_shares(backend: Any, n: int) -> None:
    stack = RANDOM.integers(0, 50, (3, 2, n, n))
    shares = RANDOM.dirichlet(np.ones(n))
    found = backend.numpy(
        backend.call(lambda cm: matrics.transform.at_prevalence(cm, shares.tolist()), backend.asarray(stack))
    )
    wanted = [[by_hand(cm.tolist(), shares.tolist()) for cm in row] for row in stack]
    np.testing.assert_allclose(found, wanted, **backend.tolerance)
    np.testing.assert_allclose(found.sum((-2, -1)), stack.sum((-2, -1)), rtol=1e-5)


@pytest.mark.sampled(1)
def test_predictive_values_are_those_of_bayes(backend: Any) -> None:
    """PPV = se π / (se π + (1 - sp)(1 - π)), and NPV likewise, in fractions."""
    sensitivity, specificity, share = Fraction(90, 100), Fraction(95, 100), Fraction(1, 50)
    ppv = sensitivity * share / (sensitivity * share + (1 - specificity) * (1 - share))
    npv = specificity * (1 - share) / (specificity * (1 - share) + (1 - sensitivity) * share)

    def both(cm: Any) -> dict[str, Any]:
        return matrics.score(matrics.transform.at_prevalence(cm, 0.02), "ppv,npv,sensitivity,specificity")

    found = backend.call(both, backend.asarray(CASE_CONTROL))
    values = [float(backend.numpy(found[name])) for name in ("ppv", "npv", "sensitivity", "specificity")]
    np.testing.assert_allclose(values, [float(x) for x in (ppv, npv, sensitivity, specificity)], rtol=1e-6)


def test_a_number_is_the_share_of_the_positive_class() -> None:
    wanted = by_hand(CASE_CONTROL, [Fraction(4, 5), Fraction(1, 5)])
    for same in (0.2, [0.2], [0.8, 0.2], np.float64(0.2), np.asarray(0.2), np.asarray([0.2]), (0.8, 0.2)):
        np.testing.assert_allclose(matrics.transform.at_prevalence(CASE_CONTROL, same), wanted)
    np.testing.assert_allclose(matrics.transform.at_prevalence(CASE_CONTROL, 0.8, positive=0), wanted)
    np.testing.assert_allclose(
        matrics.transform.at_prevalence(CASE_CONTROL, matrics.results.PrevalenceEstimate(0.2, 0.001)), wanted
    )


def test_a_number_beside_a_data_frame() -> None:
    pandas = pytest.importorskip("pandas")
    frame = pandas.DataFrame(CASE_CONTROL, index=["healthy", "ill"], columns=["healthy", "ill"])
    wanted = by_hand(CASE_CONTROL, [Fraction(4, 5), Fraction(1, 5)])
    np.testing.assert_allclose(matrics.transform.at_prevalence(frame, 0.2, positive="ill"), wanted)
    np.testing.assert_allclose(matrics.transform.at_prevalence(frame, [0.8, 0.2]), wanted)
    with pytest.raises(ValueError, match="positive: expected the class that the prevalence is of"):
        matrics.transform.at_prevalence(frame, 0.2)
    with pytest.raises(ValueError, match="positive: expected one of 'healthy', 'ill', got 'cat'"):
        matrics.transform.at_prevalence(frame, 0.2, positive="cat")


@pytest.mark.exhaustive(backend=["jax", "jax-x64"])
def test_batches_of_both(backend: Any) -> None:
    stack = RANDOM.integers(1, 50, (4, 1, 2, 2))
    shares = np.asarray([0.01, 0.2, 0.5])
    found = backend.numpy(matrics.transform.at_prevalence(backend.asarray(stack), backend.asarray(shares[:, None])))
    assert found.shape == (4, 3, 2, 2)
    for i in range(4):
        for j, share in enumerate(shares):
            np.testing.assert_allclose(
                found[i, j], by_hand(stack[i, 0].tolist(), [1 - share, share]), **backend.tolerance
            )
    alone = backend.numpy(
        matrics.transform.at_prevalence(backend.asarray(stack[0, 0]), backend.asarray(shares[:, None]))
    )
    np.testing.assert_allclose(alone, found[0])


OF_PYTORCH = pytest.mark.filterwarnings("ignore::DeprecationWarning", "ignore:`torch:FutureWarning")  # to itself
ROADS = [
    pytest.param(
        name,
        marks=[OF_PYTORCH, pytest.mark.exhaustive]
        if name == "torch-inductor"
        else [pytest.mark.exhaustive]
        if "x64" in name
        else [],
    )
    for name in roads.installed()
]


@pytest.mark.sampled(1)
@pytest.mark.parametrize("road", ROADS)
def test_every_road(road: str) -> None:
    stack = RANDOM.integers(1, 50, (5, 3, 3)).astype(float)
    found = roads.make(road).apply(lambda cm: matrics.transform.at_prevalence(cm, [0.7, 0.2, 0.1]), stack)
    np.testing.assert_allclose(found, [by_hand(cm.astype(int).tolist(), [0.7, 0.2, 0.1]) for cm in stack], rtol=1e-5)


@pytest.mark.sampled(2)
def test_empty_rows(backend: Any) -> None:
    """A class without samples is unknown, unless nothing of it is wanted; it spoils no other matrix."""
    stack = np.asarray([[[5, 5], [0, 0]], [[95, 5], [10, 90]], [[0, 0], [0, 0]]])
    found = backend.numpy(backend.call(lambda cm: matrics.transform.at_prevalence(cm, 0.2), backend.asarray(stack)))
    assert np.isnan(found[0]).all()
    np.testing.assert_allclose(found[1], by_hand(CASE_CONTROL, [0.8, 0.2]), rtol=1e-6)
    np.testing.assert_array_equal(found[2], 0)  # of no samples
    without = backend.numpy(
        backend.call(lambda cm: matrics.transform.at_prevalence(cm, [1, 0]), backend.asarray(stack))
    )
    np.testing.assert_allclose(without[0], [[5, 5], [0, 0]], rtol=1e-6)
    np.testing.assert_allclose(without[1], [[190, 10], [0, 0]], rtol=1e-6)


def test_an_invalid_matrix_spoils_no_other(backend: Any) -> None:
    stack = np.asarray([[[5.0, np.nan], [3, 4]], CASE_CONTROL, [[-1, 2], [3, 4]]])
    found = backend.numpy(backend.call(lambda cm: matrics.transform.at_prevalence(cm, 0.2), backend.asarray(stack)))
    assert np.isnan(found[[0, 2]]).all()
    np.testing.assert_allclose(found[1], by_hand(CASE_CONTROL, [0.8, 0.2]), rtol=1e-6)


@pytest.mark.sampled(6)
@pytest.mark.parametrize(
    ("prevalence", "message"),
    [
        (-0.1, "expected a share from 0 to 1, got -0.1"),
        (2, "expected a share from 0 to 1, got 2"),
        (float("nan"), "expected a share from 0 to 1, got nan"),
        ([1.1, -0.1], "that add up to 1, got -0.1"),
        ([0.2, 0.9], "that add up to 1, got a sum of 1.1"),
        ([0.2, float("nan")], "that add up to 1, got nan"),
        ([0.2, 0.3, 0.5], r"expected the share of each of 2 classes, .* got 3 of them"),
        (np.full(5, 0.2), r"expected the share of each of 2 classes, .* got shape \(5,\)"),
        (np.asarray([[0.2, 0.8], [0.2, 0.9]]), r"got a sum of 1.1 at \[1\]"),
        (np.asarray([[0.2], [-3]]), r"got 4 at \[1\]|got -3 at \[1\]"),
        (np.full((3, 1), 0.2), r"expected a batch that broadcasts with that of cm, \(2,\), got \(3,\)"),
    ],
)
def test_what_are_no_shares(backend: Any, prevalence: Any, message: str) -> None:
    cm = backend.asarray(np.asarray([CASE_CONTROL, CASE_CONTROL]))
    with pytest.raises(ValueError, match=f"^prevalence: .*{message}"):
        matrics.transform.at_prevalence(cm, prevalence)


def test_other_errors() -> None:
    with pytest.raises(ValueError, match=r"expected the share of each of 3 classes, .*; got a single number"):
        matrics.transform.at_prevalence(np.ones((3, 3)), 0.2)
    with pytest.raises(ValueError, match="positive: expected None for 3 classes"):
        matrics.transform.at_prevalence(np.ones((3, 3)), [0.2, 0.3, 0.5], positive=1)
    for odd in ("2 %", None, [True, False], np.asarray([True, False])):
        with pytest.raises(TypeError, match=r"^prevalence: expected"):
            matrics.transform.at_prevalence(CASE_CONTROL, odd)
    torch = pytest.importorskip("torch")
    with pytest.raises(TypeError, match="expected an array of the library of the matrices"):
        matrics.transform.at_prevalence(CASE_CONTROL, torch.tensor(0.2))


def test_gradients_of_both() -> None:
    """Of PPV by the prevalence: se (1 - sp) / (se π + (1 - sp)(1 - π))²; by the cells, against differences."""
    torch = pytest.importorskip("torch")
    share = torch.tensor(0.02, dtype=torch.float64, requires_grad=True)
    cm = torch.tensor(CASE_CONTROL, dtype=torch.float64, requires_grad=True)
    matrics.score(matrics.transform.at_prevalence(cm, share), "ppv")["ppv"].backward()
    np.testing.assert_allclose(share.grad.item(), 0.9 * 0.05 / (0.9 * 0.02 + 0.05 * 0.98) ** 2)
    step = 1e-4
    for cell in np.ndindex(2, 2):
        ends = []
        for sign in (step, -step):
            moved = np.asarray(CASE_CONTROL, float)
            moved[cell] += sign
            ends.append(matrics.score(matrics.transform.at_prevalence(moved, 0.02), "ppv")["ppv"])
        np.testing.assert_allclose(cm.grad[cell].item(), (ends[0] - ends[1]) / (2 * step), rtol=1e-6)


def test_gradients_are_finite_beside_empty_rows() -> None:
    torch = pytest.importorskip("torch")
    cm = torch.tensor([[[5.0, 5], [0, 0]], CASE_CONTROL], requires_grad=True)
    shares = torch.tensor([[1.0, 0], [0.8, 0.2]], requires_grad=True)
    matrics.score(matrics.transform.at_prevalence(cm, shares), "accuracy")["accuracy"].sum().backward()
    assert torch.isfinite(cm.grad).all()
    assert torch.isfinite(shares.grad).all()


@pytest.mark.exhaustive
def test_traced_shares_that_are_none_become_nan() -> None:
    jax = pytest.importorskip("jax")
    shares = jax.numpy.asarray([[0.8, 0.2], [0.9, 0.2], [1.2, -0.2], [0.5, float("nan")]])
    with jax.numpy_rank_promotion("raise"), jax.numpy_dtype_promotion("strict"):
        found = np.asarray(jax.jit(matrics.transform.at_prevalence)(jax.numpy.asarray(CASE_CONTROL), shares))
        mapped = jax.vmap(matrics.transform.at_prevalence, (None, 0))(jax.numpy.asarray(CASE_CONTROL), shares)
    np.testing.assert_allclose(found[0], by_hand(CASE_CONTROL, [0.8, 0.2]), rtol=1e-5)
    assert np.isnan(found[1:]).all()
    np.testing.assert_allclose(mapped, found)


def test_extreme_sizes_keep_their_shares() -> None:
    cm = np.asarray([[1e150, 3e150], [2e-150, 2e-150]])
    np.testing.assert_allclose(matrics.transform.at_prevalence(cm, 0.5), [[5e149, 1.5e150], [1e150, 1e150]])
