"""Buckets of scores: in the order of the numbers, the same on every backend, exact for half precision."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from hypothesis.extra import numpy as arrays

from matrics import ScoreState
from matrics._arrays import NUMPY, as_arrays
from matrics._ranking import buckets
from matrics._ranking.buckets import BUDGET, BYTES_OF_BUCKET, GRIDS, bits_of, default_bits

RESOLUTIONS = (4, 5, 9, 10, 12, 13, 15, 20)
RANDOM = np.random.default_rng(46)
EDGE_CASES = [
    *(0.0, -0.0, 0.5, 1.0, np.inf, -np.inf, 2.0**-16, 2.0**16, -(2.0**-16), -(2.0**16), 2.0**-4, 2.0**7),
    *(1 - 2.0**-24, 1 - 2.0**-53, 1 + 2.0**-23, 1 + 2.0**-52, 0.5 - 2.0**-54, 1e-45, -1e-45, 1e-300, -1e-300),
    *(3e38, 1e300, -1e300, 2.0**-126, 2.0**-127, 65504.0, 1e-8),
]


def bucket(x: Any, grid: Any, backend: Any) -> Any:
    """As a state calls it: numbers of float64 may overflow in float32."""
    with backend.quiet():
        return buckets.bucket(x, grid, backend)


def scores(dtype: Any) -> np.ndarray:
    """Numbers of all sizes, ascending."""
    wide = np.concatenate(
        [
            EDGE_CASES,
            RANDOM.normal(size=2000),
            RANDOM.random(2000),
            1 - RANDOM.random(1000) * 2.0 ** RANDOM.integers(-50, 0, 1000),
            RANDOM.normal(size=3000) * 2.0 ** RANDOM.integers(-130, 120, 3000),
        ]
    )
    with np.errstate(over="ignore", under="ignore"):
        return np.sort(wide.astype(dtype))


@pytest.mark.sampled(2)
@pytest.mark.parametrize("dtype", [np.float32, np.float64])
@pytest.mark.parametrize("bits", RESOLUTIONS)
def test_buckets_are_in_the_order_of_the_scores(bits: int, dtype: Any) -> None:
    grid, x = GRIDS[bits], scores(dtype)
    found, _ = bucket(x, grid, NUMPY)
    assert (np.diff(found) >= 0).all()
    assert found[0] == 0
    assert found[-1] == grid.length - 1
    for point, number in zip(grid.points, (-np.inf, 0, 1, np.inf), strict=True):
        assert set(x[found == point].tolist()) == {number}  # nothing else, not even 1e-300 or 1 - 2**-53
    assert bits_of(grid.length) == bits


@given(x=arrays.arrays(np.float64, 30, elements=st.floats(allow_nan=False)))
def test_any_numbers_are_in_order(x: np.ndarray) -> None:
    x = np.sort(x)
    for bits in (4, 10, 15):
        found, rest = bucket(x, GRIDS[bits], NUMPY)
        assert (np.diff(found) >= 0).all()
        for number in np.unique(found[rest == 0]):  # what is said to be alone is alone
            assert len(set(x[(found == number) & (rest == 0)].tolist())) == 1


@pytest.mark.sampled(5)
@pytest.mark.parametrize("bits", [bits for bits in RESOLUTIONS if bits >= 10])
def test_half_precision_is_exact(bits: int) -> None:
    """All numbers of float16, and those of bfloat16 below 2**32, have a bucket each, and are its first number."""
    half = np.arange(2**16, dtype=np.uint16).view(np.float16).astype(np.float32)
    brain = (np.arange(2**16, dtype=np.uint32) << 16).view(np.float32)
    for numbers in (half[np.isfinite(half)], brain[np.abs(brain) < 2.0**32]):
        different = np.unique(numbers)
        found, rest = bucket(different, GRIDS[bits], NUMPY)
        assert len(np.unique(found)) == len(different) > 40_000
        assert not rest.any()


@pytest.mark.sampled(2)
@pytest.mark.parametrize("bits", [4, 10, 15])
def test_every_backend_has_the_same_buckets(backend: Any, bits: int) -> None:
    """Compiled where it can be: the buckets are found from bits, and no rounding is involved."""
    for dtype in (np.float32, *([np.float64] if backend.float64 else [])):
        x = scores(dtype)
        if backend.name.startswith("jax") and dtype == np.float64:  # XLA on the CPU rounds them to a float32 of 0
            x = x[(np.abs(x) >= np.finfo(np.float32).tiny) | (x == 0)]
        wanted, rest = bucket(x, GRIDS[bits], NUMPY)

        def both(x: Any) -> Any:
            own, (x,) = as_arrays(x=x)
            return bucket(x, GRIDS[bits], own)

        found = [backend.numpy(part) for part in backend.jit(both)(backend.asarray(x))]
        np.testing.assert_array_equal(found[0], wanted)
        np.testing.assert_array_equal(found[1] != 0, rest != 0)


@pytest.mark.exhaustive
@pytest.mark.filterwarnings("ignore::DeprecationWarning", "ignore:`torch:FutureWarning")  # of PyTorch to itself
@pytest.mark.parametrize("dtype", ["float16", "bfloat16", "float32", "float64"])
def test_compiled_code_has_the_same_buckets(torch: Any, dtype: str) -> None:
    """In machine code of PyTorch's compiler, subnormal numbers included."""
    tensor = torch.from_numpy(scores(np.float64)).to(getattr(torch, dtype))
    tensor = tensor[torch.isfinite(tensor) | torch.isinf(tensor.double())]
    wanted, rest = bucket(tensor.double().numpy(), GRIDS[12], NUMPY)

    def both(x: Any) -> Any:
        own, (x,) = as_arrays(x=x)
        return bucket(x, GRIDS[12], own)

    torch._dynamo.reset()
    found = torch.compile(both, fullgraph=True)(tensor)
    np.testing.assert_array_equal(found[0], wanted)
    np.testing.assert_array_equal(found[1] != 0, rest != 0)


def test_scores_that_float32_does_not_have(backend: Any) -> None:
    """They are no 0, 1 or inf, and their order stays, though not all are told apart."""
    if not backend.float64:
        pytest.skip("no such dtype")
    # To XLA on the CPU the subnormal numbers of float64 are 0.
    tiny, near = 1e-300 if backend.name.startswith("jax") else 1e-320, 2.0**-53
    x = np.asarray(
        [-np.inf, -1e300, -1e39, -3e38, -1e-50, -tiny, 0, tiny, 1e-50, 1 - near, 1, 1 + 2 * near, 1e39, np.inf]
    )
    own, (array,) = as_arrays(x=backend.asarray(x))
    for bits in (4, 10, 15):
        found, rest = map(backend.numpy, bucket(array, GRIDS[bits], own))
        assert (np.diff(found) >= 0).all()
        points = np.isin(x, (-np.inf, 0, 1, np.inf))
        assert set(found[points].tolist()) == set(GRIDS[bits].points)
        assert not set(found[~points].tolist()) & set(GRIDS[bits].points)
        assert rest[~points & (x != 1 - near)].all()  # 2**-53 is a float32


def test_width_is_proportional_to_the_score() -> None:
    """Neighbours in one bucket differ by less than 2**-bits of their size, or of their distance from 1."""
    for bits in (9, 10, 12):
        x = np.sort(np.exp(RANDOM.uniform(np.log(2.0**-16), np.log(2.0**16), 20_000)).astype(np.float32))
        found, _ = bucket(x, GRIDS[bits], NUMPY)
        same = np.diff(found) == 0
        low, high = x[:-1][same].astype(float), x[1:][same].astype(float)
        size = np.where((low >= 0.5) & (high <= 1), 1 - high, low)
        assert same.any()
        assert ((high - low) <= size * 2.0**-bits * (1 + 1e-6)).all()


def test_resolution_by_default() -> None:
    """17 MiB for two classes, at most 64 MiB for a thousand; never fewer than 4 bits."""
    assert GRIDS[15].length * BYTES_OF_BUCKET < 17 * 2**20
    sizes = [rows * GRIDS[default_bits(rows)].length * BYTES_OF_BUCKET for rows in range(1, 1001)]
    assert max(sizes) <= BUDGET == 2**26
    assert sizes[9] < 19 * 2**20
    chosen = [default_bits(rows) for rows in range(2, 3000)]
    assert chosen == sorted(chosen, reverse=True)
    assert (chosen[0], chosen[-1]) == (10, 4)
    assert ScoreState.zeros(batch_shape=(2,)).counts.shape == (2, GRIDS[10].length, 2)
    assert ScoreState.zeros(batch_shape=(0,)).counts.shape[0] == 0
