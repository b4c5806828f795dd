"""Stack to stack."""

from __future__ import annotations

import functools
from typing import Any

import numpy as np
import pytest

import matrics

RANDOM = np.random.default_rng(6)
STACK = RANDOM.integers(0, 40, (2, 3, 4, 4))
STACK[0, 1, 2, :] = 0  # an empty true class
STACK[1, 0, :, 1] = 0  # a class never predicted
STACK[1, 1] = 0
TRANSFORMS = {
    "transpose": matrics.transform.transpose,
    "normalize true": matrics.transform.normalize,
    "normalize pred": lambda cm: matrics.transform.normalize(cm, over="pred"),
    "normalize all": lambda cm: matrics.transform.normalize(cm, over="all"),
    "repair": matrics.transform.repair,
    "repair diagonal": lambda cm: matrics.transform.repair(cm, where="zero_diagonal"),
    "rebalance": matrics.transform.rebalance,
    "rebalance repair": lambda cm: matrics.transform.rebalance(cm, empty="repair"),
    "one_vs_rest": matrics.transform.one_vs_rest,
    "pair_counts": matrics.transform.pair_counts,
}


@pytest.mark.sampled(13)
@pytest.mark.exhaustive(backend=["jax", "jax-x64"], dtype=[np.int64, np.float64, np.uint8, np.bool_])
@pytest.mark.parametrize("name", TRANSFORMS)
@pytest.mark.parametrize("dtype", [np.int64, np.float64, np.float32, np.uint8, np.bool_])
def test_backends_agree(backend: Any, name: str, dtype: type) -> None:
    theirs = TRANSFORMS[name](STACK.astype(dtype))
    ours = backend.numpy(backend.call(TRANSFORMS[name], backend.asarray(STACK, dtype)))
    assert ours.shape == theirs.shape
    tolerance = {"rtol": 1e-5, "atol": 1e-5} if dtype is np.float32 else backend.tolerance
    np.testing.assert_allclose(ours, theirs, **tolerance)


@pytest.mark.sampled(5)
@pytest.mark.exhaustive(backend=["jax", "jax-x64"], name=["normalize pred", "normalize all", "repair diagonal"])
@pytest.mark.parametrize("name", sorted(set(TRANSFORMS) - {"rebalance"}))
def test_valid_stays_valid(backend: Any, name: str) -> None:
    """Whatever the matrix: empty, with empty classes, huge, tiny, soft. (rebalance says NaN, as it is told.)"""
    transform = functools.partial(backend.call, TRANSFORMS[name])
    cells = np.stack([STACK[0, 0], STACK[0, 1], STACK[1, 0], STACK[1, 1]]).astype(np.float64)
    for scale in (1.0, 0.01, 1e-12, 1e9, 1e12):
        matrics.check(transform(backend.asarray(cells * scale)))
    matrics.check(transform(backend.asarray(np.full((3, 3), 2**30), np.int32)))


@pytest.mark.sampled(15)
@pytest.mark.exhaustive(backend=["jax-x64"])
@pytest.mark.exhaustive(backend=["jax"], bad=[np.inf])
@pytest.mark.parametrize("name", sorted(TRANSFORMS))
@pytest.mark.parametrize("bad", [np.nan, np.inf, -3.0])
def test_invalid_stays_invalid(backend: Any, name: str, bad: float) -> None:
    """Wherever the bad cell is: nothing of it may come out as a count. And the other matrices are as they were."""
    stack = np.tile(np.asarray([[5.0, 1.0, 2.0], [2.0, 9.0, 1.0], [1.0, 3.0, 4.0]]), (10, 1, 1))
    stack[np.arange(9), np.arange(9) // 3, np.arange(9) % 3] = bad
    dtypes = [np.float64, np.int64] if bad == -3 else [np.float64, np.float32]
    transform = functools.partial(backend.call, TRANSFORMS[name])
    for dtype in dtypes:
        result = backend.numpy(transform(backend.asarray(stack, dtype)))
        with pytest.warns(RuntimeWarning, match="invalid"):
            accuracy = matrics.accuracy(result)
        good = backend.numpy(transform(backend.asarray(stack[9], dtype)))
        assert np.isnan(accuracy[:9]).all()
        np.testing.assert_allclose(result[9], good, rtol=1e-6)


def test_one_vs_rest_does_not_wrap() -> None:
    cm = matrics.transform.one_vs_rest(np.full((3, 3), 2**61))
    np.testing.assert_allclose(cm[0], [[4 * 2.0**61, 2 * 2.0**61], [2 * 2.0**61, 2.0**61]])


def test_transpose_is_its_own_inverse(backend: Any) -> None:
    cm = backend.asarray(STACK)
    assert np.array_equal(backend.numpy(matrics.transform.transpose(cm)), np.swapaxes(STACK, -1, -2))
    assert np.array_equal(backend.numpy(matrics.transform.transpose(matrics.transform.transpose(cm))), STACK)


@pytest.mark.sampled(2)
def test_normalize(backend: Any) -> None:
    cm = backend.asarray(STACK)
    for over, axes in (("true", -1), ("pred", -2), ("all", (-2, -1))):
        normalize = functools.partial(matrics.transform.normalize, over=over)
        sums = backend.numpy(backend.call(normalize, cm)).sum(axes)
        np.testing.assert_allclose(sums, STACK.sum(axes) > 0, rtol=1e-6)


def test_repair_only_what_needs_it(backend: Any) -> None:
    repaired = backend.numpy(backend.call(matrics.transform.repair, backend.asarray(STACK)))
    empty = (STACK.sum(-1) == 0).any(-1)
    np.testing.assert_allclose(repaired, STACK + empty[..., None, None] / 4)
    repaired = backend.numpy(backend.call(TRANSFORMS["repair diagonal"], backend.asarray(STACK)))
    zero = (np.diagonal(STACK, 0, -2, -1) == 0).any(-1)
    np.testing.assert_allclose(repaired, STACK + zero[..., None, None] / 4)


@pytest.mark.sampled(2)
def test_rebalance(backend: Any) -> None:
    sizes = STACK.sum(-1)
    with np.errstate(all="ignore"):
        wanted = STACK * np.sqrt(sizes[..., None, :] / sizes[..., :, None])
    wanted[(sizes == 0).any(-1)] = np.nan
    rebalanced = backend.call(matrics.transform.rebalance, backend.asarray(STACK))
    np.testing.assert_allclose(backend.numpy(rebalanced), wanted, rtol=1e-6)
    repaired = backend.call(TRANSFORMS["rebalance repair"], backend.asarray(STACK))
    np.testing.assert_allclose(
        backend.numpy(repaired), matrics.transform.rebalance(matrics.transform.repair(STACK)), rtol=1e-6
    )


@pytest.mark.sampled(1)
def test_one_vs_rest(backend: Any) -> None:
    result = backend.call(matrics.transform.one_vs_rest, backend.asarray(STACK))
    values = backend.numpy(result)
    assert values.shape == (2, 3, 4, 2, 2)
    assert values.dtype == (np.int64 if backend.float64 else np.float32)  # 32-bit sums could wrap
    for k in range(4):
        rest = [i for i in range(4) if i != k]
        np.testing.assert_array_equal(values[..., k, 1, 1], STACK[..., k, k])
        np.testing.assert_array_equal(values[..., k, 1, 0], STACK[..., k, rest].sum(-1))
        np.testing.assert_array_equal(values[..., k, 0, 1], STACK[..., rest, k].sum(-1))
        np.testing.assert_array_equal(values[..., k, 0, 0], STACK[..., rest, :][..., rest].sum((-2, -1)))
    for name in ("mcc", "eve", "cen"):
        each = matrics.get_metric(f"{name}:one_vs_rest")(backend.asarray(STACK))
        np.testing.assert_allclose(
            backend.numpy(matrics.get_metric(name)(result)), backend.numpy(each), rtol=1e-5, atol=1e-6
        )


def test_one_vs_rest_keeps_every_count() -> None:
    """Integers stay exact where floats would not be."""
    cm = np.asarray([[2**53 + 1, 1], [0, 3]])
    assert matrics.transform.one_vs_rest(cm)[0].tolist() == [[3, 0], [1, 2**53 + 1]]


@pytest.mark.sampled(2)
def test_pair_counts_by_counting_pairs(backend: Any) -> None:
    y_true, y_pred = RANDOM.integers(0, 3, (2, 30))
    wanted = np.zeros((2, 2))
    for i in range(30):
        for j in range(i):
            wanted[int(y_true[i] == y_true[j]), int(y_pred[i] == y_pred[j])] += 1
    cm = matrics.confusion_matrix(backend.asarray(y_true), backend.asarray(y_pred), num_classes=3)
    np.testing.assert_array_equal(backend.numpy(backend.call(matrics.transform.pair_counts, cm)), wanted)


@pytest.mark.parametrize(
    ("call", "message"),
    [
        (lambda cm: matrics.transform.normalize(cm, over="rows"), "over: expected"),
        (lambda cm: matrics.transform.repair(cm, where="nowhere"), "where: expected"),
        (lambda cm: matrics.transform.rebalance(cm, empty="zero"), "empty: expected 'nan' or 'repair', got 'zero'"),
        (lambda cm: matrics.transform.rebalance(cm, empty=np.ones(2)), r"empty: expected 'nan' or 'repair', got array"),
        (lambda cm: matrics.study.eigenvalues(cm, matrix="C"), "matrix: expected 'B' or 'A', got 'C'"),
    ],
)
def test_unknown_options(call: Any, message: str) -> None:
    with pytest.raises(ValueError, match=message):
        call([[1, 2], [3, 4]])


def test_options_are_named() -> None:
    """A second array is no option: sizes of classes, for example, go to weight_cells."""
    for function in (
        matrics.transform.rebalance,
        matrics.transform.repair,
        matrics.transform.normalize,
        matrics.study.eigenvalues,
    ):
        with pytest.raises(TypeError, match="takes 1 positional argument but 2 were given"):
            function([[1, 2], [3, 4]], np.ones(2))


@pytest.mark.sampled(2)
@pytest.mark.parametrize("function", [*TRANSFORMS.values(), matrics.study.eigenvalues, matrics.study.gershgorin_bounds])
def test_wrong_shape_or_dtype(function: Any) -> None:
    with pytest.raises(ValueError, match=r"cm: expected a confusion matrix .* got shape \(2, 3\)"):
        function(np.zeros((2, 3)))
    with pytest.raises(TypeError, match=r"cm: expected counts .* got dtype complex128"):
        function(np.zeros((2, 2), complex))


@pytest.mark.exhaustive
def test_under_transformations(torch: Any) -> None:
    torch._dynamo.reset()
    cm = torch.from_numpy(STACK)

    def everything(cm: Any) -> list[Any]:
        bounds = matrics.study.gershgorin_bounds(matrics.transform.repair(cm, where="zero_diagonal"))
        return [
            *(f(cm) for f in TRANSFORMS.values()),
            matrics.study.eigenvalues(cm),
            matrics.study.eigenvalues(cm, matrix="A"),
            *bounds,
        ]

    compiled = torch.compile(everything, fullgraph=True, backend="aot_eager")(cm)
    mapped = torch.func.vmap(everything)(cm)
    for plain, *others in zip(everything(cm), compiled, mapped, strict=True):
        for other in others:
            torch.testing.assert_close(plain, other, equal_nan=True)


@pytest.mark.exhaustive
def test_under_jax(jax_backend: Any) -> None:
    import jax

    cm = jax_backend.asarray(STACK)

    def everything(cm: Any) -> list[Any]:
        bounds = matrics.study.gershgorin_bounds(matrics.transform.repair(cm, where="zero_diagonal"))
        return [
            *(f(cm) for f in TRANSFORMS.values()),
            matrics.study.eigenvalues(cm),
            matrics.study.eigenvalues(cm, matrix="A"),
            *bounds,
        ]

    mapped = jax_backend.call(jax.vmap(everything), cm)
    for plain, *others in zip(everything(STACK), jax_backend.jit(everything)(cm), mapped, strict=True):
        for other in others:
            np.testing.assert_allclose(plain, other, rtol=1e-5, atol=1e-6)


def test_spectra_of_arrays_at_hand(backend: Any) -> None:
    """Neither traced nor mapped, of every library."""
    bounds = matrics.study.gershgorin_bounds(backend.asarray(STACK, float))
    for ours, expected in zip(bounds, matrics.study.gershgorin_bounds(STACK), strict=True):
        np.testing.assert_allclose(backend.numpy(ours), expected, **backend.tolerance)
    for matrix in ("B", "A"):
        ours = matrics.study.eigenvalues(backend.asarray(STACK, float), matrix=matrix)
        np.testing.assert_allclose(
            backend.numpy(ours), matrics.study.eigenvalues(STACK, matrix=matrix), **backend.tolerance
        )


def test_counts_of_other_classes_near_the_largest_integer(backend: Any) -> None:
    """True negatives are differences of integers, where four times as many would be no integer."""
    if not backend.float64:
        pytest.skip("no int64")
    cm = np.full((8, 8), 2**56)
    cm[0, 0], cm[3, 3], cm[5, 5], cm[7, 7] = 2**53, 2**55, 2**54, 2**52
    rows, columns, total = cm.sum(1), cm.sum(0), int(cm.sum())
    ours = backend.numpy(matrics.transform.one_vs_rest(backend.asarray(cm)))
    for k in range(8):
        assert int(ours[k, 0, 0]) == total - int(rows[k]) - int(columns[k]) + int(cm[k, k])


def test_pairs_keep_the_dtype(backend: Any) -> None:
    pairs = backend.call(matrics.transform.pair_counts, backend.asarray([[2, 1], [0, 3]], np.float32))
    assert backend.numpy(pairs).dtype == np.float32
    np.testing.assert_array_equal(backend.numpy(pairs), [[6, 3], [2, 4]])


# Weights of cells -----------------------------------------------------------------------------------------------------


@pytest.mark.sampled(2)
def test_weight_cells(backend: Any) -> None:
    stack = np.asarray([[[8, 2, 0], [1, 9, 0], [0, 2, 8]], [[1, 0, 0], [0, 0, 3], [0, 2, 0]]])
    weights = np.asarray([[1, 0.5, 1], [0.25, 1, 1], [1, 3, 1]])
    for given in (backend.asarray(weights), weights.tolist()):
        weighted = backend.numpy(matrics.transform.weight_cells(backend.asarray(stack), given))
        np.testing.assert_allclose(weighted, stack * weights, **backend.tolerance)
    by_matrix = np.stack([weights, np.ones((3, 3))])
    weighted = matrics.transform.weight_cells(backend.asarray(stack), backend.asarray(by_matrix))
    np.testing.assert_allclose(backend.numpy(weighted), stack * by_matrix, **backend.tolerance)


def test_weights_make_weighted_kappa() -> None:
    """Agreement weights on the cells are those of κ: what is observed over what is expected, both weighted."""
    cm = np.asarray([[8, 2, 1], [1, 9, 3], [0, 2, 8]])
    near = 1 - np.abs(np.arange(3)[:, None] - np.arange(3)) / 2
    expected = np.outer(cm.sum(1), cm.sum(0)) / cm.sum()
    observed, chance = (matrics.transform.weight_cells(x, near).sum() / cm.sum() for x in (cm, expected))
    assert matrics.cohen_kappa(cm, weights="linear") == pytest.approx((observed - chance) / (1 - chance), rel=1e-12)


@pytest.mark.parametrize(
    ("weights", "error", "message"),
    [
        ([[1, 2], [3, 4]], ValueError, r"weights: expected shape \(3, 3\), or a shape that .* got \(2, 2\)"),
        (np.ones((2, 3, 3)), ValueError, r"weights: expected shape \(3, 3\), or a shape that .* got \(2, 3, 3\)"),
        ([[1, 2], [3]], ValueError, "weights: expected a rectangular array"),
        ([1, 2, 3], ValueError, "weights: expected a confusion matrix"),
        (np.full((3, 3), "a"), TypeError, "weights: expected counts"),
    ],
)
def test_bad_weights(weights: Any, error: type, message: str) -> None:
    with pytest.raises(error, match=message):
        matrics.transform.weight_cells(np.eye(3), weights)


def test_negative_weights_make_a_matrix_invalid() -> None:
    """Even the weight of a cell that is 0."""
    for cm in (np.ones((2, 2)), np.eye(2)):
        weighted = matrics.transform.weight_cells(cm, [[1, -1], [1, 1]])
        with pytest.warns(RuntimeWarning, match="has the cell -1"):
            assert np.isnan(matrics.accuracy(weighted))
