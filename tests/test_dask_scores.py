"""Scores of dask arrays, against matrics on the same arrays in memory."""

from __future__ import annotations

import math
import os
import pickle
import subprocess
import sys
from typing import Any

import numpy as np
import pytest
from in_dask import in_chunks, of_unknown_sizes, refuse_to_compute

import matrics

dask = pytest.importorskip("dask")
da = pytest.importorskip("dask.array")
on_dask = pytest.importorskip("matrics.dask")

from dask.array.utils import assert_eq  # noqa: E402 (once it is known to be there)

RANDOM = np.random.default_rng(18)
METRICS = ["accuracy", "mcc", "recall:class", "cen", "kappa:one_vs_rest"]
# How the batch (4, 6) may be cut; both axes of classes are always whole.
CHUNKS = [(4, 6), (1, 1), (2, 6), (4, 4), ((1, 3), (2, 3, 1)), ((0, 4), (6, 0))]


@pytest.fixture(autouse=True)
def _one_thread() -> Any:
    """Tests are as quick without threads; those that are about threads ask for them."""
    with dask.config.set(scheduler="synchronous"):
        yield


def drawn(*batch: int, n: int = 3, dtype: Any = np.int64) -> np.ndarray:
    return RANDOM.integers(0, 20, (*batch, n, n)).astype(dtype)


@pytest.mark.sampled(1)
@pytest.mark.parametrize("chunks", CHUNKS)
def test_scores_of_any_chunks_are_those_in_memory(chunks: Any) -> None:
    stack = drawn(4, 6)
    found, wanted = on_dask.score(in_chunks(stack, chunks), METRICS), matrics.score(stack, METRICS)
    assert list(found) == list(wanted)
    for name, values in found.items():
        assert_eq(values, wanted[name])  # also dtype, shape, chunks and meta
        assert values.chunks[:2] == in_chunks(stack, chunks).chunks[:2]


@pytest.mark.parametrize("dtype", ["bool", "uint8", "int32", "int64", "float16", "float32", "float64"])
def test_dtypes_are_known_before_anything_is_computed(dtype: str) -> None:
    stack = drawn(5, dtype=dtype)
    (values,) = on_dask.score(in_chunks(stack, (2,)), "mcc").values()
    wanted = matrics.mcc(stack)
    assert values.dtype == wanted.dtype == ("float32" if dtype in {"float16", "float32"} else "float64")
    assert_eq(values, wanted)


@pytest.mark.parametrize("batch", [(), (0,), (2, 0), (3, 2, 2)])
def test_scores_of_any_number_of_batch_axes(batch: tuple[int, ...]) -> None:
    stack = drawn(*batch)
    for name, values in on_dask.score(da.from_array(stack), METRICS).items():
        assert_eq(values, matrics.score(stack, METRICS)[name])


def test_chunks_of_unknown_sizes_are_scored_and_classes_of_unknown_number_refused() -> None:
    stack = drawn(7, 2)
    unknown = of_unknown_sizes(in_chunks(stack, (3, 1)))
    found = on_dask.score(unknown, METRICS)["recall:class"]
    assert math.isnan(found.shape[0])
    assert found.shape[1:] == (2, 3)
    assert_eq(found, matrics.score(stack, METRICS)["recall:class"])
    with pytest.raises(ValueError, match=r"cm: expected class axes with known lengths.*compute_chunk_sizes"):
        on_dask.score(of_unknown_sizes(da.from_array(stack[0, 0])))


def test_what_cannot_be_scored_is_refused_while_the_graph_is_built() -> None:
    stack = da.from_array(drawn(4))
    with pytest.raises(ValueError, match=r"axes of classes whole in a single chunk.*cm\.rechunk\({-2: -1, -1: -1}\)"):
        on_dask.score(stack.rechunk((4, 3, 2)))
    with pytest.raises(TypeError, match=r"cm: expected a dask array, got numpy\.ndarray"):
        on_dask.score(drawn(4))
    with pytest.raises(ValueError, match=r"cm: expected a confusion matrix .* got shape \(4, 3, 2\)"):
        on_dask.score(stack[..., :2])
    with pytest.raises(TypeError, match=r"cm: expected counts .* got dtype complex128"):
        on_dask.score(stack.astype(complex))
    with pytest.raises(ValueError, match="zero_division"):
        on_dask.score(stack, zero_division=math.inf)
    with pytest.raises(ValueError, match=r"mmc.*mcc"):
        on_dask.score(stack, "mmc")
    assert_eq(
        on_dask.score(stack.rechunk((4, 3, 2)).rechunk({-2: -1, -1: -1}), "mcc")["mcc"], matrics.mcc(stack.compute())
    )


def test_building_the_graph_computes_nothing() -> None:
    with dask.config.set(scheduler=refuse_to_compute):
        stack = da.from_delayed(dask.delayed(refuse_to_compute)(), (100, 3, 3), np.float32)
        labels = da.from_delayed(dask.delayed(refuse_to_compute)(), (100,), np.int64)
        scores = on_dask.score(stack, "all")
        assert scores["mcc"].dtype == np.float32
        on_dask.interval(stack, "mcc", method="bootstrap", rng=1)
        on_dask.confusion_matrix(labels, labels, num_classes=3)
        with pytest.raises(AssertionError, match="something was computed"):
            scores["mcc"].compute()


def test_zero_division_and_names_of_classes() -> None:
    stack = drawn(5)
    stack[2] = 0
    options: dict[str, Any] = {"zero_division": 0, "class_names": ["a", "b", "c"]}
    found, wanted = on_dask.score(in_chunks(stack, (2,)), METRICS, **options), matrics.score(stack, METRICS, **options)
    assert list(found) == list(wanted)
    for name, values in found.items():
        assert_eq(values, wanted[name])
    with pytest.raises(ValueError, match="class_names: expected 3 different names"):
        on_dask.score(in_chunks(stack, (2,)), METRICS, class_names=["a", "b"])


def test_two_names_of_one_measure() -> None:
    stack = drawn(5)
    found = on_dask.score(in_chunks(stack, (2,)), ["f1", "dice", matrics.f1])
    assert list(found) == ["f1", "dice"]
    assert_eq(found["dice"], matrics.f1(stack))
    both = on_dask.interval(in_chunks(stack, (2,)), ["f1", "dice"])
    assert_eq(both["dice"].low, matrics.interval(stack, "f1")["f1"].low)


def test_invalid_matrices_are_named_with_their_block() -> None:
    stack = drawn(3, 6)
    stack[2, 5, 0, 1], stack[1, 1] = -1, 0  # the second is undefined, not invalid
    cut = in_chunks(stack, (2, 3))
    message = r"block \(1, 1\): 1 of 3 confusion matrices is invalid: \[0\]\[2\] has the cell -1 at \[0, 1\]"
    with pytest.warns(RuntimeWarning, match=message):
        found = on_dask.score(cut, ["recall:class", "mcc"])["recall:class"].compute()
    np.testing.assert_array_equal(np.isnan(found).all(-1).nonzero(), [[1, 2], [1, 5]])
    with pytest.raises(matrics.InvalidConfusionMatrix, match=message):
        on_dask.score(cut, "mcc", invalid="raise")["mcc"].compute()
    silent = on_dask.score(cut, "mcc", invalid="nan")["mcc"]
    assert_eq(silent, matrics.score(stack, "mcc", invalid="nan")["mcc"])
    with pytest.raises(ValueError, match="invalid: expected 'warn', 'raise' or 'nan'"):
        on_dask.score(cut, "mcc", invalid="ignore")


def test_one_task_scores_all_measures_of_a_block(monkeypatch: Any) -> None:
    """And a single measure is taken in that task; a part of a block is no copy of it."""
    from matrics._integrations.dask import scoring

    calls = []
    real = scoring.evaluate
    monkeypatch.setattr(scoring, "evaluate", lambda cm, *a, **k: calls.append(cm.shape) or real(cm, *a, **k))
    cut = in_chunks(drawn(40), (10,))
    scores = on_dask.score(cut, "core")
    calls.clear()
    dask.compute(scores)
    assert calls == [(10, 3, 3)] * 4
    tasks = dict(dask.optimize(scores["mcc"])[0].__dask_graph__())
    sources = len(dict(dask.optimize(cut)[0].__dask_graph__()))
    assert len(tasks) - sources <= 2 * 4  # a task a block, and its name


def test_names_are_those_of_the_question() -> None:
    """Equal questions have equal keys, so a cluster answers them once; others have others."""
    cut = in_chunks(drawn(4), (2,))
    names = [on_dask.score(cut, "mcc")["mcc"].name for _ in range(2)]
    assert names[0] == names[1]
    others = [
        on_dask.score(cut, "mcc", zero_division=0),
        on_dask.score(cut, ["mcc", "f1"]),
        on_dask.score(cut + 1, "mcc"),
    ]
    assert len({names[0], *(other["mcc"].name for other in others)}) == 4


def test_scores_reduce_and_store_like_any_dask_array() -> None:
    stack = drawn(6, 4)
    values = on_dask.score(in_chunks(stack, (4, 3)), METRICS)["recall:class"]
    assert_eq(values.mean(axis=0)[..., 1], matrics.score(stack, METRICS)["recall:class"].mean(axis=0)[..., 1])
    kept = np.empty(values.shape)
    da.store(values, kept)
    np.testing.assert_array_equal(kept, values.compute())


@pytest.mark.exhaustive
def test_threads_of_dask_are_the_only_ones() -> None:
    """In a process of its own, for whose linear algebra no number of threads is set: scoring starts none."""
    program = """
import threading, psutil, numpy as np, dask, dask.array as da
from matrics.dask import score
me = psutil.Process()
stack = da.from_array(np.random.default_rng(1).integers(0, 50, (400, 60, 60)), chunks=(50, -1, -1))
most = []
def watched(block):
    most.append((me.num_threads(), threading.active_count()))
    return block
def peak(function):
    most.clear()
    with dask.config.set(scheduler="threads", num_workers=2):
        dask.compute(function())
    return tuple(map(max, zip(*most)))
numpy_alone = peak(lambda: (da.map_blocks(watched, stack, dtype=stack.dtype) * 2).sum())
def scored():
    return {k: da.map_blocks(watched, v, dtype=v.dtype) for k, v in score(stack, ["mcc", "cen", "eve"]).items()}
scoring = peak(scored)
assert scoring <= numpy_alone, (scoring, numpy_alone)
print("ok")
"""
    pytest.importorskip("psutil")
    free = {name: value for name, value in os.environ.items() if not name.endswith("_NUM_THREADS")}
    run = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True, check=False, env=free)
    assert run.stdout == "ok\n", run.stderr


def test_errors_and_results_travel_between_processes() -> None:
    """What a worker raises is pickled, and so is the graph that it is sent."""
    stack = drawn(4)
    scores = pickle.loads(
        pickle.dumps(on_dask.score(in_chunks(stack, (2,)), ["mcc", matrics.metrics.fbeta.using(beta=2)]))
    )
    assert_eq(scores["fbeta(beta=2)"], matrics.metrics.fbeta(stack, beta=2))
    error = matrics.InvalidConfusionMatrix("block (3,): 1 of 2 confusion matrices is invalid")
    assert pickle.loads(pickle.dumps(error)).args == error.args


def test_blocks_of_other_libraries_are_checked_there() -> None:
    """As those of CuPy on a GPU, of which nothing is looked at unless it is asked for."""
    strict = pytest.importorskip("array_api_strict")
    from matrics._integrations.dask.scoring import _score_block

    block = drawn(4)
    block[1, 0, 0] = -1
    options: dict[str, Any] = {"metrics": [matrics.mcc], "zero_division": math.nan, "workers": 1}
    (values,) = _score_block([[strict.asarray(block)]], (0,), invalid="warn", **options)
    np.testing.assert_array_equal(np.isnan(np.asarray(values)), [False, True, False, False])
    with pytest.raises(matrics.InvalidConfusionMatrix, match=r"\[1\] has the cell -1"):
        _score_block([[strict.asarray(block)]], (0,), invalid="raise", **options)
