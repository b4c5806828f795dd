"""dask.distributed: real processes with little memory, one of them killed, against matrics in memory."""

from __future__ import annotations

import logging
import os
import signal
import time
from collections.abc import Iterator
from typing import Any

import numpy as np
import pytest
from in_dask import of_unknown_sizes

import matrics

da = pytest.importorskip("dask.array")
distributed = pytest.importorskip("distributed")
on_dask = pytest.importorskip("matrics.dask")

METRICS = ["accuracy", "mcc", "recall:class"]
BLOCKS, SIZE = 96, 2**17  # 9 MiB a block of 3×3 matrices of float64

pytestmark = [pytest.mark.exhaustive, pytest.mark.xdist_group("dask cluster")]


@pytest.fixture
def client() -> Iterator[Any]:
    """Two processes of 500 MB each."""
    with (
        distributed.LocalCluster(
            n_workers=2,
            threads_per_worker=1,
            processes=True,
            memory_limit="500MB",
            dashboard_address=":0",
            silence_logs=logging.CRITICAL,  # of the process that is killed
        ) as cluster,
        distributed.Client(cluster) as made,
    ):
        yield made


def block_of(number: int) -> np.ndarray:
    """The matrices of a block, which are the same wherever and however often they are made."""
    return np.random.default_rng(number).integers(0, 50, (SIZE, 3, 3)).astype(np.float64)


def stack_of(blocks: int, *, seconds: float = 0) -> Any:
    """A stack whose blocks are made by the workers, which take so long for each."""

    def make(block_id: tuple[int, ...]) -> np.ndarray:
        time.sleep(seconds)
        return block_of(block_id[0])

    return da.map_blocks(make, chunks=((SIZE,) * blocks, (3,), (3,)), dtype=np.float64, meta=np.empty((0, 0, 0)))


def wait_for(condition: Any, what: str) -> None:
    for _ in range(600):
        if condition():
            return
        time.sleep(0.05)
    raise AssertionError(f"waited for {what} in vain")


def finished(client: Any) -> int:
    """How many blocks are scored."""
    return client.run_on_scheduler(
        lambda dask_scheduler: sum(
            task.state == "memory" for key, task in dask_scheduler.tasks.items() if "matrics-score" in str(key)
        )
    )


def test_a_worker_that_is_killed_loses_nothing(client: Any) -> None:
    blocks = 24
    before = client.run(os.getpid)
    results = client.compute(on_dask.score(stack_of(blocks, seconds=0.1), METRICS))
    wait_for(lambda: finished(client) > 3, "the first scores")
    assert results.status == "pending"
    os.kill(next(iter(before.values())), signal.SIGKILL)
    found = results.result(timeout=120)
    wanted = matrics.score(np.concatenate([block_of(number) for number in range(blocks)]), METRICS)
    for name, values in wanted.items():
        np.testing.assert_array_equal(found[name], values)
    wait_for(lambda: len(client.scheduler_info()["workers"]) == 2, "the worker that is started in its place")
    assert set(client.run(os.getpid).values()) != set(before.values())


def test_a_stack_larger_than_the_memory_of_its_workers_is_scored_from_the_disk(client: Any) -> None:
    """900 MB in workers that keep at most 300 MB each."""
    stack = stack_of(BLOCKS).persist()
    distributed.wait(stack)
    on_disk = client.run(lambda dask_worker: len(dask_worker.data.slow))
    assert sum(on_disk.values()) > 0
    scores = client.compute({name: values.mean(axis=0) for name, values in on_dask.score(stack, METRICS).items()})
    found = scores.result(timeout=300)
    parts = [matrics.score(block_of(number), METRICS) for number in range(BLOCKS)]
    for name, mean in found.items():
        np.testing.assert_allclose(mean, np.mean([part[name].mean(axis=0) for part in parts], axis=0), rtol=1e-10)


def test_counts_frames_intervals_and_errors_come_back(client: Any) -> None:
    pd, dd = pytest.importorskip("pandas"), pytest.importorskip("dask.dataframe")
    true, pred, site = np.random.default_rng(4).integers(0, 3, (3, 1000))
    cut = [of_unknown_sizes(da.from_array(labels, chunks=300)) for labels in (true, pred)]
    wanted = matrics.confusion_matrix(true, pred, num_classes=3)
    np.testing.assert_array_equal(on_dask.confusion_matrix(*cut, num_classes=3).compute(), wanted)
    with pytest.raises(ValueError, match=r"block \([0-3],\): y_true: expected labels in \[0, 2\), got 2 at"):
        on_dask.confusion_matrix(*cut, num_classes=2).compute()
    table = pd.DataFrame({"y_true": true, "y_pred": pred, "site": site})
    counted = on_dask.count_frame(dd.from_pandas(table, npartitions=5), by="site").compute()
    by_site = matrics.confusion_matrix(true, pred, num_classes=3, groups=site, num_groups=3)
    np.testing.assert_array_equal(counted.matrix, by_site)
    stack = da.from_array(by_site, chunks=(1, 3, 3))
    drawn = on_dask.interval(stack, "mcc", method="bootstrap", num=100, rng=5)["mcc"]
    here = drawn.low.compute(scheduler="synchronous")
    np.testing.assert_array_equal(drawn.low.compute(), here)
    with pytest.raises(matrics.InvalidConfusionMatrix, match=r"block \([0-2],\): 1 of 1 confusion matrices is invalid"):
        on_dask.score(stack - 10**6, "mcc", invalid="raise")["mcc"].compute()
    assert client.status == "running"
