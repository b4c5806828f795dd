"""Several processes count as one: gloo on the CPU, ragged last batches, a process without data, one that dies."""

from __future__ import annotations

import importlib
import pickle
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import matrics

pytestmark = [
    pytest.mark.filterwarnings("ignore:This process .* is multi-threaded:DeprecationWarning"),
    pytest.mark.xdist_group("torch processes"),  # they come from one server, which has imported PyTorch once
]


def matrix_of(ranks: Any, members: range = range(4), first: int | None = None) -> np.ndarray:
    """What one process counts that has all the data, sample by sample."""
    cm = np.zeros((ranks.CLASSES, ranks.CLASSES), np.int64)
    for rank in members:
        for labels, scores in ranks.batches(rank)[:first]:
            for label, row in zip(labels.tolist(), scores.numpy(), strict=True):
                if label >= 0:
                    cm[label, row.argmax()] += 1
    return cm


@pytest.mark.exhaustive
def test_processes_count_as_one(ranks: Any, tmp_path: Path) -> None:
    results = ranks.run("count", 4, tmp_path)
    expected = matrix_of(ranks)
    scores = matrics.score(expected, "mcc, recall:class")
    samples = sum(map(sum, ranks.SIZES))
    for rank, result in enumerate(results):
        np.testing.assert_array_equal(result["own"], matrix_of(ranks, range(rank, rank + 1)))
        np.testing.assert_array_equal(result["first"], expected)
        np.testing.assert_array_equal(result["again"], expected)  # nothing is counted twice
        np.testing.assert_array_equal(result["later"], 2 * expected)
        assert result["dropped"] == samples - expected.sum() > 0
        assert result["values"]["val/mcc"] == scores["mcc"]
        assert [result["values"][f"val/recall/{k}"] for k in range(5)] == scores["recall:class"].tolist()


@pytest.mark.exhaustive
@pytest.mark.filterwarnings("ignore:.* samples are not counted")
def test_processes_bin_scores_as_one(ranks: Any, tmp_path: Path) -> None:
    """The histograms of all, after one all_reduce, nothing counted twice; with torchmetrics the same values."""
    pytest.importorskip("torchmetrics")
    whole = ranks.ScoreMetric(ranks.CLASSES, from_logits=True, bits=6)
    for rank in range(2):
        for labels, scores in ranks.batches(rank):
            whole.update(labels, scores)
    for result in ranks.run("binned", 2, tmp_path):
        for name, times in (("first", 1), ("again", 1), ("later", 2)):
            state = matrics.ScoreState(*result[name])
            np.testing.assert_array_equal(state.counts, times * whole.state.counts)
            np.testing.assert_allclose(state.calibration, times * whole.state.calibration, rtol=1e-12, atol=1e-12)
        assert result["dropped"] == whole.dropped > 0
        assert result["together"] == pytest.approx(whole.log_dict(), abs=1e-9)
        expected = whole.log_dict() | {"dropped": 2 * float(whole.dropped)}
        assert result["values"] == pytest.approx(expected, abs=1e-9)


@pytest.mark.filterwarnings("ignore:.* samples are not counted")
@pytest.mark.exhaustive(world=[4])
@pytest.mark.parametrize("world", [2, 4])
def test_every_metric_has_the_values_of_one_process(ranks: Any, tmp_path: Path, world: int) -> None:
    """Batches are uneven; of four processes one has none."""
    pytest.importorskip("torchmetrics")
    module, cases = importlib.import_module("matrics.torch"), ranks.training_cases
    results = ranks.run("every", world, tmp_path)
    for name, case in cases.METRICS.items():
        if name == "decay":
            continue  # the weights of batches depend on the process that counts them
        metric = case.make(module)
        for times in range(2):
            for rank in range(world):
                for batch in ranks.shares(name, rank):
                    cases.count(metric, case, *batch)
            wanted = pytest.approx(metric.log_dict(), rel=1e-12)
            assert [result[name][times] for result in results] == [wanted] * world, name
        assert [result[name][2] for result in results] == [wanted] * world, name


def test_windows_of_different_numbers_of_batches(torch: Any, ranks: Any, tmp_path: Path) -> None:
    """After a sync each process has the last batches of all, by age."""
    found = ranks.run("windows", 2, tmp_path)
    matrix = torch.zeros(3, 3, dtype=torch.int64)
    for rank, number in enumerate(ranks.NUMBERS):
        for step in range(max(0, number - ranks.WINDOW), number):
            labels, predicted = ranks.batch_of_window(rank, step)
            matrix.index_put_((labels, predicted), torch.tensor(1), accumulate=True)
    for result in found:
        assert torch.equal(result["synced"], matrix)
    # The next batch of both replaces the oldest of both, for which all processes know the place.
    for result in found:
        assert torch.equal(result["later"], found[0]["later"])
        assert int(result["later"].sum()) == int(found[0]["wanted"])


@pytest.mark.exhaustive
def test_one_checkpoint_for_all(ranks: Any, tmp_path: Path) -> None:
    for result in ranks.run("resume", 4, tmp_path):
        np.testing.assert_array_equal(result, 2 * matrix_of(ranks))


@pytest.mark.exhaustive
def test_groups(ranks: Any, tmp_path: Path) -> None:
    results = ranks.run("groups", 4, tmp_path)
    for rank, result in enumerate(results):
        np.testing.assert_array_equal(result, matrix_of(ranks, range(2) if rank < 2 else range(2, 4)))


@pytest.mark.filterwarnings("ignore:.* samples are not counted")
def test_metrics_inside_a_parallel_model(ranks: Any, tmp_path: Path) -> None:
    """DistributedDataParallel would overwrite all counts with those of process 0, and FSDP round those of weights."""
    pytest.importorskip("torchmetrics")
    module, cases = importlib.import_module("matrics.torch"), ranks.training_cases
    results = [result for each in ranks.run("inside", 2, tmp_path) for result in each.values()]
    expected = matrix_of(ranks, range(2))
    for result in results:
        np.testing.assert_array_equal(result["own"], expected)
    for name, case in cases.METRICS.items():
        if name == "decay":
            continue  # the weights of batches depend on the process that counts them
        metric = case.make(module)
        for rank in range(2):
            for batch in ranks.shares(name, rank):
                cases.count(metric, case, *batch)
        wanted = pytest.approx(metric.log_dict(), rel=1e-12)
        assert [result[name] for result in results] == [wanted] * len(results), name


@pytest.mark.exhaustive
def test_torchmetrics(ranks: Any, tmp_path: Path) -> None:
    pytest.importorskip("torchmetrics")
    expected = matrix_of(ranks)
    scores = matrics.score(expected, "mcc, recall:class")
    for rank, result in enumerate(ranks.run("torchmetrics", 4, tmp_path)):
        np.testing.assert_array_equal(result["own"], matrix_of(ranks, range(rank, rank + 1)))
        np.testing.assert_array_equal(result["together"], expected)
        np.testing.assert_array_equal(result["after"], result["own"])
        assert result["values"]["val/mcc"] == scores["mcc"]
        assert [result["values"][f"val/recall/{k}"] for k in range(5)] == scores["recall:class"].tolist()


@pytest.mark.exhaustive
def test_metrics_made_by_the_parent(ranks: Any, tmp_path: Path) -> None:
    """Their tensors come in shared memory, as under torch.multiprocessing.spawn; each process counts for itself."""
    pytest.importorskip("torchmetrics")
    torchmetrics = importlib.import_module("matrics.torchmetrics")
    metrics = [ranks.ConfusionMetric(ranks.CLASSES), torchmetrics.ConfusionMetric(ranks.CLASSES)]
    for result in ranks.run("handed", 4, tmp_path, metrics):
        for matrix in result:
            np.testing.assert_array_equal(matrix, matrix_of(ranks))


@pytest.mark.parametrize(
    ("how", "world"),
    [
        ("dies", 2),
        pytest.param("dies", 4, marks=pytest.mark.exhaustive),
        pytest.param("never_comes", 3, marks=pytest.mark.exhaustive),
        pytest.param("torchmetrics_dies", 3, marks=pytest.mark.exhaustive),
    ],
)
def test_a_lost_process_is_named(ranks: Any, tmp_path: Path, how: str, world: int) -> None:
    """Within the group's timeout: run() finds those that hang."""
    *others, lost = ranks.run(how, world, tmp_path)
    assert lost is None
    first = "rank 0" if world == 2 else "ranks " + ", ".join(map(str, range(world - 1)))
    for message, answered, missing, is_caused, is_unchanged in others:
        assert message.startswith(
            f"sync: expected all of {world} processes to add up their counts: {first} reached the sync, and "
        )
        assert (
            f"and rank {world - 1} did not within 1 second of the failure; the counts are unchanged. PyTorch says: "
            in message
        )
        assert (answered, missing) == (tuple(range(world - 1)), (world - 1,))
        assert is_caused
        assert is_unchanged


@pytest.mark.exhaustive
def test_without_a_store_nobody_is_named(ranks: Any, tmp_path: Path) -> None:
    """It was in the memory of the process that is lost."""
    lost, *others = ranks.run("host_dies", 3, tmp_path)
    assert lost is None
    for message, answered, missing, is_caused, is_unchanged in others:
        assert "with unknown ranks, as the store of the process group does not answer" in message
        assert answered is missing is None
        assert is_caused
        assert is_unchanged


def test_a_sync_error_is_a_runtime_error(torch: Any) -> None:  # noqa: ARG001 (skips without PyTorch)
    """Existing handlers work, and it can be sent to another process."""
    kind = importlib.import_module("matrics.torch").SyncError
    error = kind("sync: ...")
    error.answered, error.missing = (0, 1), (2,)
    again = pickle.loads(pickle.dumps(error))
    assert isinstance(again, RuntimeError)
    assert (str(again), again.answered, again.missing) == ("sync: ...", (0, 1), (2,))
