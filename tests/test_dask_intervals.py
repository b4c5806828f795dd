"""Intervals of dask arrays, against matrics on the same arrays in memory."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from in_dask import in_chunks, of_unknown_sizes

import matrics

dask = pytest.importorskip("dask")
da = pytest.importorskip("dask.array")
on_dask = pytest.importorskip("matrics.dask")

from dask.array.utils import assert_eq  # noqa: E402 (once it is known to be there)

RANDOM = np.random.default_rng(18)
METRICS = ["accuracy", "mcc", "recall:class", "cen", "kappa:one_vs_rest"]


@pytest.fixture(autouse=True)
def _one_thread() -> Any:
    """Tests are as quick without threads; those that are about threads ask for them."""
    with dask.config.set(scheduler="synchronous"):
        yield


def drawn(*batch: int, n: int = 3, dtype: Any = np.int64) -> np.ndarray:
    return RANDOM.integers(0, 20, (*batch, n, n)).astype(dtype)


@pytest.mark.sampled(1)
@pytest.mark.parametrize("method", ["auto", "delta"])
@pytest.mark.parametrize("chunks", [(4, 3), (2, 2)])
def test_intervals_without_draws_are_those_in_memory(method: Any, chunks: Any) -> None:
    stack = drawn(4, 3)
    found = on_dask.interval(in_chunks(stack, chunks), ["mcc", "recall:class"], method=method, level=0.9)
    wanted = matrics.interval(stack, ["mcc", "recall:class"], method=method, level=0.9)
    assert list(found) == list(wanted)
    for name, one in found.items():
        assert isinstance(one, matrics.Interval)
        for values, other in zip(one, wanted[name], strict=True):
            assert_eq(values, other)
    (computed,) = dask.compute(found)  # which looks into named tuples
    for name, one in computed.items():
        assert type(one) is matrics.Interval
        np.testing.assert_array_equal(one.low, wanted[name].low)


@pytest.mark.sampled(1)
@pytest.mark.parametrize("axis", [0, 1, -3])
def test_clusters(axis: int) -> None:
    stack = drawn(5, 4)
    cut = in_chunks(stack, (5, 2) if axis == 0 else (2, 4))
    found, wanted = on_dask.interval(cut, "mcc", cluster_axis=axis), matrics.interval(stack, "mcc", cluster_axis=axis)
    for values, other in zip(found["mcc"], wanted["mcc"], strict=True):
        assert_eq(values, other)
    with pytest.raises(ValueError, match=rf"axes of clusters whole in a single chunk.*rechunk\({{{axis % 4}: -1}}\)"):
        on_dask.interval(in_chunks(stack, (2, 2)), "mcc", cluster_axis=axis)


def test_intervals_of_one_matrix_and_of_none() -> None:
    for stack in (drawn(), drawn(0)):
        found, wanted = on_dask.interval(da.from_array(stack), METRICS), matrics.interval(stack, METRICS)
        for name, one in found.items():
            for values, other in zip(one, wanted[name], strict=True):
                assert_eq(values, other)


@pytest.mark.sampled(1)
@pytest.mark.parametrize("method", ["bootstrap", "bca", "posterior"])
def test_draws_depend_on_the_seed_and_the_chunks_alone(method: Any) -> None:
    """Each block has its child of the seed: its intervals are those that this stream gives in memory."""
    pytest.importorskip("scipy" if method == "bca" else "numpy")
    stack = np.repeat(drawn(1, 2, n=2), 4, axis=0) + 5
    cut = in_chunks(stack, (2, 1))
    found = on_dask.interval(cut, "mcc", method=method, num=50, rng=7)["mcc"]
    with dask.config.set(scheduler="threads"):
        again = on_dask.interval(cut, "mcc", method=method, num=50, rng=7)["mcc"].low.compute()
    low = found.low.compute()
    np.testing.assert_array_equal(low, again)
    streams = np.random.SeedSequence(7).spawn(4)
    for number, (i, j) in enumerate(np.ndindex(2, 2)):
        block = stack[2 * i : 2 * i + 2, j : j + 1]
        wanted = matrics.interval(block, "mcc", method=method, num=50, rng=np.random.default_rng(streams[number]))
        np.testing.assert_array_equal(low[2 * i : 2 * i + 2, j : j + 1], wanted["mcc"].low)
    assert (low[:2, 0] != low[2:, 0]).any()  # equal matrices in other blocks have other draws
    other = on_dask.interval(cut, "mcc", method=method, num=50, rng=8)["mcc"].low.compute()
    assert (other != low).any()


def test_draws_without_a_seed_are_the_same_when_a_task_runs_again() -> None:
    cut = in_chunks(drawn(4), (2,))
    found = on_dask.interval(cut, "mcc", method="bootstrap", num=20)["mcc"]
    np.testing.assert_array_equal(found.low.compute(), found.low.compute())
    other = on_dask.interval(cut, "mcc", method="bootstrap", num=20)["mcc"]
    assert (found.low.compute() != other.low.compute()).any()


class Fixed(np.random.bit_generator.ISeedSequence):
    """A state that has no children."""

    def generate_state(self, n_words: int, dtype: Any = np.uint32) -> np.ndarray:
        return np.ones(n_words, dtype)


def test_a_generator_gives_other_draws_each_time() -> None:
    cut, rng = in_chunks(drawn(4), (2,)), np.random.default_rng(3)
    one, other = (on_dask.interval(cut, "mcc", method="bootstrap", num=20, rng=rng)["mcc"] for _ in range(2))
    assert (one.low.compute() != other.low.compute()).any()
    with pytest.raises(TypeError, match="rng: expected a seed"):
        on_dask.interval(cut, "mcc", method="bootstrap", rng="seven")
    without_seed = np.random.Generator(np.random.PCG64(Fixed()))
    with pytest.raises(TypeError, match="rng: expected a generator that can spawn generators"):
        on_dask.interval(cut, "mcc", method="bootstrap", rng=without_seed)


def test_options_of_intervals_are_checked_while_the_graph_is_built() -> None:
    cut = in_chunks(drawn(4), (2,))
    with pytest.raises(ValueError, match="method: expected one of"):
        on_dask.interval(cut, "mcc", method="exact")
    with pytest.raises(ValueError, match="method: expected another method than 'wilson' for mcc"):
        on_dask.interval(cut, "mcc", method="wilson")
    with pytest.raises(ValueError, match="an axis of clusters with a known length"):
        on_dask.interval(of_unknown_sizes(da.from_array(drawn(4, 2))), "mcc", cluster_axis=0)
