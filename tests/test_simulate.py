"""Draws: their distributions on all libraries, what they need, and the matrices of the sources."""

from __future__ import annotations

import itertools
import math
import tracemalloc
from typing import Any

import numpy as np
import pytest

import matrics
from matrics._stacks.simulate import Plan

stats = pytest.importorskip("scipy.stats")

CM = np.asarray([[3, 1, 0], [1, 2, 1], [0, 0, 0]])


def generators(kind: str, seed: int) -> Any:
    if kind == "numpy":
        return np.random.default_rng(seed)
    if kind == "torch":
        return pytest.importorskip("torch").Generator().manual_seed(seed)
    return pytest.importorskip("jax").random.key(seed)


def drawn(kind: str, cm: Any, num: int, **options: Any) -> np.ndarray:
    return np.asarray(matrics.simulate.resample(np.asarray(cm).tolist(), num, rng=generators(kind, 3), **options))


KINDS = pytest.mark.parametrize("kind", ["numpy", "torch", "jax"])


@pytest.mark.exhaustive
@KINDS
def test_multinomial_cells(kind: str) -> None:
    """Every outcome of three samples in four cells, with its probability."""
    cm = np.asarray([[1, 1], [0, 1]])
    draws = drawn(kind, cm, 20_000).reshape(-1, 4)
    outcomes = [cells for cells in itertools.product(range(4), repeat=4) if sum(cells) == 3 and cells[2] == 0]
    wanted = [math.factorial(3) / math.prod(map(math.factorial, cells)) / 27 for cells in outcomes]
    seen = [int((draws == cells).all(1).sum()) for cells in outcomes]
    assert sum(seen) == len(draws)
    assert stats.chisquare(seen, np.asarray(wanted) * len(draws)).pvalue > 1e-3


@pytest.mark.exhaustive(kind=["jax"])
@KINDS
def test_rows_keep_their_sums(kind: str) -> None:
    draws = drawn(kind, CM, 20_000, scheme="rows")
    assert (draws.sum(-1) == CM.sum(-1)).all()
    seen = np.bincount(draws[:, 0, 0], minlength=5)
    assert stats.chisquare(seen, stats.binom(4, 0.75).pmf(range(5)) * len(draws)).pvalue > 1e-3
    together = np.corrcoef(draws[:, 0, 0], draws[:, 1, 1])[0, 1]
    assert abs(together) < 4 / math.sqrt(len(draws))


@pytest.mark.exhaustive(kind=["jax"])
@KINDS
def test_poisson_and_posterior(kind: str) -> None:
    draws = drawn(kind, CM, 20_000, scheme="poisson")
    seen = np.bincount(np.minimum(draws[:, 0, 0], 8), minlength=9)
    wanted = [*stats.poisson(3).pmf(range(8)), stats.poisson(3).sf(7)]
    assert stats.chisquare(seen, np.asarray(wanted) * len(draws)).pvalue > 1e-3
    shares = drawn(kind, CM, 5_000, scheme="dirichlet", prior=0.5)
    np.testing.assert_allclose(shares.sum((1, 2)), 8, rtol=1e-5)
    for cell in ((0, 0), (2, 2)):
        law = stats.beta(CM[cell] + 0.5, 8 + 4.5 - CM[cell] - 0.5)
        assert stats.kstest(shares[:, cell[0], cell[1]] / 8, law.cdf).pvalue > 1e-3


@pytest.mark.sampled(2)
@KINDS
def test_whole_clusters(kind: str) -> None:
    """Each cluster is drawn as often as a multinomial says; all matrices of a batch get the same clusters."""
    clusters = np.zeros((3, 2, 2, 2), int)
    clusters[[0, 1, 2], :, 0, 0] = [[1, 10], [4, 40], [16, 160]]  # whose sums tell the clusters
    draws = drawn(kind, clusters, 20_000, scheme="clusters")
    assert (draws[:, 1] == 10 * draws[:, 0]).all()
    outcomes = [w for w in itertools.product(range(4), repeat=3) if sum(w) == 3]
    wanted = np.asarray([math.factorial(3) / math.prod(map(math.factorial, w)) / 27 for w in outcomes])
    seen = [int((draws[:, 0, 0, 0] == w[0] + 4 * w[1] + 16 * w[2]).sum()) for w in outcomes]
    assert stats.chisquare(seen, wanted * len(draws)).pvalue > 1e-3


def test_draws_under_jit() -> None:
    """Of a matrix that is a constant of the program, too: XLA would fold it for minutes."""
    jax = pytest.importorskip("jax")
    constant = jax.numpy.asarray([[30, 5, 1], [2, 40, 3], [0, 1, 18]])
    compiled = jax.jit(lambda key: matrics.simulate.resample(constant, 20_000, rng=key))
    draws = np.asarray(compiled(jax.random.key(1)))
    assert (draws.sum((1, 2)) == 100).all()
    np.testing.assert_allclose(draws.mean(0), constant, atol=0.2)
    invalid = jax.jit(lambda cm, key: matrics.simulate.resample(cm, 3, rng=key))
    found = invalid(jax.numpy.asarray([[[1.0, -2], [3, 4]], [[1, 2], [3, 4]]]), jax.random.key(1))
    assert (np.asarray(found[:, 0]) == -1).all()
    assert (np.asarray(found[:, 1]).sum((1, 2)) == 10).all()


@pytest.mark.exhaustive(kind=["jax"])
@KINDS
def test_seeds(kind: str) -> None:
    """The same seed gives the same draws, another one others, and so do empty matrices and batches."""
    one, same, other = (matrics.simulate.resample(CM.tolist(), 50, rng=generators(kind, seed)) for seed in (7, 7, 8))
    assert np.array_equal(one, same)
    assert not np.array_equal(one, other)
    zeros = np.asarray(matrics.simulate.resample([[0, 0], [0, 0]], 4, rng=generators(kind, 0)))
    assert zeros.shape == (4, 2, 2)
    assert not zeros.any()
    stack = np.zeros((2, 3, 2, 2)).tolist()
    assert tuple(matrics.simulate.resample(stack, 4, rng=generators(kind, 0)).shape) == (4, 2, 3, 2, 2)


def test_draws_of_many_blocks_are_those_of_one_generator_each() -> None:
    """The plan covers each replicate of each matrix once, and its pieces depend on nothing but the sizes."""
    for matrices, num, n in ((1, 5, 2), (7, 100_000, 3), (50_000, 3, 2), (3, 1, 300), (0, 5, 2)):
        plan = Plan.of(matrices, num, n * n, "multinomial")
        seen = np.zeros((matrices, num), int)
        tasks = list(plan.tasks())
        assert len(tasks) == plan.number
        for which, when in tasks:
            seen[which, when] += 1
        assert (seen == 1).all()
    big = matrics.simulate.resample(np.stack([CM] * 3), 30_000, rng=0)
    np.testing.assert_allclose(big.mean(0), np.stack([CM] * 3), atol=0.05)


@pytest.mark.exhaustive
def test_a_seed_an_old_key_and_no_generator() -> None:
    assert np.array_equal(
        matrics.simulate.resample(CM, 9, rng=5), matrics.simulate.resample(CM, 9, rng=np.random.default_rng(5))
    )
    assert matrics.simulate.resample(CM, 9).shape == (9, 3, 3)
    jax = pytest.importorskip("jax")
    old, new = (matrics.simulate.resample(CM.tolist(), 9, rng=make(0)) for make in (jax.random.PRNGKey, jax.random.key))
    assert np.array_equal(old, new)


@pytest.mark.sampled(3)
@pytest.mark.parametrize(
    ("call", "error", "message"),
    [
        (lambda: matrics.simulate.resample(CM, 0), ValueError, "num: expected an integer of at least 1, got 0"),
        (lambda: matrics.simulate.resample(CM, -1), ValueError, "num: expected an integer of at least 1, got -1"),
        (
            lambda: matrics.simulate.resample(CM, 5, scheme="jackknife"),
            ValueError,
            "scheme: expected one of 'multinomial'",
        ),
        (
            lambda: matrics.simulate.resample(CM, 5, prior=1),
            ValueError,
            "prior: expected None, as scheme='multinomial'",
        ),
        (lambda: matrics.simulate.resample(CM, 5, scheme="dirichlet", prior=0), ValueError, "prior: expected positive"),
        (
            lambda: matrics.simulate.resample(CM, 5, scheme="dirichlet", prior=[1, 2]),
            ValueError,
            r"or an array \(3, 3\)",
        ),
        (
            lambda: matrics.simulate.resample(CM + 0.5, 5),
            ValueError,
            r"expected counts, as scheme='multinomial' draws samples",
        ),
        (lambda: matrics.simulate.resample(CM + 0.5, 5, scheme="rows"), ValueError, r"got the cell 3.5 at \(0, 0\)"),
        (lambda: matrics.simulate.resample(CM - 1, 5), matrics.InvalidConfusionMatrix, "has the cell -1"),
        (lambda: matrics.simulate.resample(CM * math.nan, 5), matrics.InvalidConfusionMatrix, "has the cell nan"),
        (lambda: matrics.simulate.resample(CM, 5, scheme="clusters"), ValueError, "a leading axis of clusters"),
        (lambda: matrics.simulate.resample(CM, 5, rng="me"), TypeError, "rng: expected a seed"),
        (lambda: matrics.simulate.resample(CM, 5, rng=-1), TypeError, "rng: expected a seed.*got -1"),
        (lambda: matrics.simulate.resample(CM, 5, rng=np.random.RandomState(0)), TypeError, "RandomState"),
        (lambda: matrics.simulate.random_matrices(3, 3, errors=(0, 2)), ValueError, "errors: expected two ratios"),
        (lambda: matrics.simulate.class_proportions(3, 2), ValueError, r"imbalance: expected numbers in \[0, 1\]"),
        (
            lambda: matrics.simulate.controlled_errors([0.5, 0.5], 1.5),
            ValueError,
            r"hits: expected recalls in \[0, 1\]",
        ),
        (lambda: matrics.simulate.controlled_errors([-1, 0.5], 1), ValueError, "proportions: expected numbers from 0"),
        (lambda: matrics.simulate.controlled_errors(0.5, 1), ValueError, "an axis of classes"),
        (lambda: matrics.simulate.controlled_errors([1.0], 0.5), ValueError, "at least two classes"),
        (
            lambda: matrics.simulate.controlled_errors([0.5, math.inf], 0.5),
            ValueError,
            "expected numbers from 0, got inf",
        ),
        (lambda: matrics.simulate.random_matrices(3, 3, errors=("a", 1)), ValueError, "errors: expected two ratios"),
        (lambda: matrics.simulate.resample(CM, 5, scheme="dirichlet", prior="x"), ValueError, "got 'x'"),
        (
            lambda: matrics.simulate.resample(CM * 10**18, 5),
            ValueError,
            r"cm: expected fewer than 2\*\*62 samples, got 8e\+18",
        ),
        (
            lambda: matrics.simulate.resample(np.zeros((0, 2, 2)), 5, scheme="clusters"),
            ValueError,
            "leading axis of clusters",
        ),
        (
            lambda: matrics.simulate.controlled_errors([0.5, 0.5], [1, 1, 1]),
            ValueError,
            "2 recalls along the last axis",
        ),
    ],
)
def test_bad_input(call: Any, error: type[Exception], message: str) -> None:
    with pytest.raises(error, match=message):
        call()


def test_generators_and_matrices_of_two_libraries() -> None:
    torch, jax = pytest.importorskip("torch"), pytest.importorskip("jax")
    for cm, rng in ((CM, torch.Generator()), (torch.as_tensor(CM), np.random.default_rng(0)), (CM, jax.random.key(0))):
        with pytest.raises(TypeError, match="rng: expected a generator of the library of the matrix"):
            matrics.simulate.resample(cm, 5, rng=rng)
    with pytest.raises(ValueError, match="expected a key of JAX"):
        matrics.simulate.resample(CM.tolist(), 5, rng=jax.random.split(jax.random.key(0), 3))
    with pytest.raises(TypeError, match="expected a key of"):
        matrics.simulate.resample(CM.tolist(), 5, rng=jax.numpy.zeros(3))


# What the sources make ------------------------------------------------------------------------------------------------


@pytest.mark.sampled(1)
@KINDS
def test_random_matrices(kind: str) -> None:
    """As in section 2 of Jurman and Furlanello: the diagonal to 1000, errors to 1000 times a ratio of the matrix."""
    cells = np.asarray(matrics.simulate.random_matrices(4000, 3, rng=generators(kind, 0)))
    assert cells.dtype.kind == "i"
    assert cells.min() == 1
    diagonal = cells[:, range(3), range(3)]
    assert diagonal.max() <= 1000
    assert stats.kstest(diagonal.ravel() / 1000, "uniform").pvalue > 1e-3
    off = cells[:, ~np.eye(3, dtype=bool)]
    # The largest of six uniform errors over their ratio: of a ratio uniform in [0.01, 1] the mean is 0.505.
    assert abs(off.mean() - 0.505 * 1000 / 2 - 0.5) < 5 * off.std() / math.sqrt(len(off))
    of_one = off.max(1) / 1000
    assert stats.spearmanr(of_one, off.mean(1)).statistic > 0.9  # one ratio for all cells of a matrix


@pytest.mark.parametrize(("num", "n"), [(70_000, 2), (20_011, 3), (3, 300), (2, 700)])
def test_random_matrices_of_many_blocks_are_those_of_one_draw(num: int, n: int) -> None:
    """Of whole matrices, and of rows of large ones; what is drawn next is the same as well."""
    ours, plain = np.random.default_rng(5), np.random.default_rng(5)
    cells = matrics.simulate.random_matrices(num, n, rng=ours, largest=50)
    ratio, share = plain.uniform(0.01, 1, num), plain.uniform(0, 1, (num, n, n))
    top = np.broadcast_to(np.maximum(np.floor(50 * ratio), 1)[:, None, None], share.shape).copy()
    top[:, range(n), range(n)] = 50
    np.testing.assert_array_equal(cells, np.floor(share * top).astype(int) + 1)
    assert ours.random() == plain.random()


@pytest.mark.parametrize(("num", "n", "most"), [(1_000_000, 2, 1.35), (400_000, 3, 1.2), (1, 2000, 1.25)])
def test_random_matrices_take_little_more_than_their_own_memory(num: int, n: int, most: float) -> None:
    """A ratio for each matrix, and a block of cells."""
    tracemalloc.start()
    try:
        size = matrics.simulate.random_matrices(num, n, rng=0).nbytes
        _, peak = tracemalloc.get_traced_memory()
    finally:
        tracemalloc.stop()
    assert peak < most * size


def test_class_proportions() -> None:
    """Eq. 10 of Labatut and Cherifi, whose text has the five proportions of p = 1."""
    np.testing.assert_allclose(matrics.simulate.class_proportions(5, 1.0).round(2), [0.52, 0.26, 0.13, 0.06, 0.03])
    for k, p in itertools.product((1, 2, 7), (0.0, 0.3, 1.0)):
        wanted = [(1 - p) / k + p * 2 ** (k - i) / (2**k - 1) for i in range(1, k + 1)]
        np.testing.assert_allclose(matrics.simulate.class_proportions(k, p), wanted, rtol=1e-14)
    assert matrics.simulate.class_proportions(3, [[0, 1]]).shape == (1, 2, 3)
    assert abs(matrics.simulate.class_proportions(5000, 1.0).sum() - 1) < 1e-12  # 2**5000 is beyond any float


@pytest.mark.sampled(2)
def test_controlled_errors(backend: Any) -> None:
    """Table 9 of Labatut and Cherifi."""
    sizes, recalls = np.asarray([0.5, 0.3, 0.2]), np.asarray([0.9, 0.5, 1.0])
    cm = backend.numpy(matrics.simulate.controlled_errors(backend.asarray(sizes), backend.asarray(recalls)))
    wanted = [[0.45, 0.025, 0.025], [0.075, 0.15, 0.075], [0, 0, 0.2]]
    np.testing.assert_allclose(cm, wanted, rtol=1e-6)
    np.testing.assert_allclose(cm.sum(-1), sizes, rtol=1e-6)
    alike = backend.numpy(matrics.simulate.controlled_errors(backend.asarray(sizes), 0.5))
    np.testing.assert_allclose(np.diag(alike), sizes / 2, rtol=1e-6)
    series = matrics.simulate.controlled_errors(sizes, np.linspace(0, 1, 5)[:, None])
    assert series.shape == (5, 3, 3)
    np.testing.assert_allclose(matrics.accuracy(series), np.linspace(0, 1, 5), atol=1e-12)
    batch = matrics.simulate.controlled_errors(np.stack([sizes, sizes]), [[0.2], [0.4]])
    np.testing.assert_allclose(matrics.accuracy(batch), [0.2, 0.4])
