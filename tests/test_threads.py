"""Threads that count into one metric lose nothing: the sum of all samples is known."""

from __future__ import annotations

import copy
import importlib
import pickle
import sys
import threading
from collections.abc import Callable, Iterator
from typing import Any

import pytest
from lazily import lazily

torch = lazily("torch")
LIBRARIES = ["torch", "torchmetrics"]
THREADS, CLASSES = 4, 3


@pytest.fixture(autouse=True)
def _often_another_thread() -> Iterator[None]:
    before, threads = sys.getswitchinterval(), torch.get_num_threads()
    sys.setswitchinterval(1e-6)
    torch.set_num_threads(1)
    yield
    sys.setswitchinterval(before)
    torch.set_num_threads(threads)


def in_threads(work: Callable[[int], None]) -> None:
    """Run it in each thread at once, and raise what one of them raises."""
    errors: list[BaseException] = []

    def tried(number: int) -> None:
        try:
            work(number)
        except BaseException as error:  # noqa: BLE001 (raised below)
            errors.append(error)

    threads = [threading.Thread(target=tried, args=(number,)) for number in range(THREADS)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    for error in errors:
        raise error


def made(library: str, kind: str) -> tuple[Any, Callable[[int], tuple[Any, Any]]]:
    """A metric, and batches for it."""
    pytest.importorskip(library)
    metric = getattr(importlib.import_module(f"matrics.{library}"), kind)
    measures = {"ScoreMetric": "ece", "Metrics": "accuracy, ece", "MultilabelMetric": "f1"}.get(kind, "accuracy")

    def batch(size: int) -> tuple[Any, Any]:
        labels = torch.randint(0, 2, (size, CLASSES) if kind == "MultilabelMetric" else (size,))
        values = torch.rand(size, CLASSES)
        return (values, labels) if library == "torchmetrics" else (labels, values)

    return metric(CLASSES, measures), batch


def samples(metric: Any, kind: str) -> int:
    state = metric.state
    if kind == "ScoreMetric":
        return int(state.calibration[..., 0].sum())
    if kind == "MarginMetric":
        return int(state.true.sum())
    return int(metric.matrix.sum()) // (CLASSES if kind == "MultilabelMetric" else 1)


@pytest.mark.sampled(2)
@pytest.mark.parametrize("library", LIBRARIES)
@pytest.mark.parametrize("kind", ["ConfusionMetric", "MarginMetric", "ScoreMetric", "MultilabelMetric", "Metrics"])
def test_values_of_batches(library: str, kind: str) -> None:
    """Each call counts its batch, and its value is of that batch alone, whatever others count meanwhile."""
    metric, batch = made(library, kind)
    steps, size = 20, 8
    own = copy.copy(metric)
    batches = [[batch(size) for _ in range(steps)] for _ in range(THREADS)]
    expected = [[float(next(iter(own(*one).values()))) for one in part] for part in batches]
    found: list[list[float]] = [[] for _ in range(THREADS)]

    def work(number: int) -> None:
        for one in batches[number]:
            found[number].append(float(next(iter(metric(*one).values()))))
            metric.update(*one)

    in_threads(work)
    assert samples(metric, kind) == 2 * THREADS * steps * size
    assert found == expected


@pytest.mark.parametrize("library", LIBRARIES)
def test_large_batches(library: str) -> None:
    """PyTorch adds a large batch without Python's lock, and two at once would lose counts of each other."""
    metric, batch = made(library, "ConfusionMetric")
    large, small = batch(100_000), batch(100)

    def work(_: int) -> None:
        for _ in range(10):
            metric.update(*large)
            metric.update(*small)

    in_threads(work)
    assert samples(metric, "ConfusionMetric") == THREADS * 10 * 100_100


@pytest.mark.parametrize("library", LIBRARIES)
def test_copies_wait_for_nobody(library: str) -> None:
    """A copy and an unpickled metric have a lock of their own."""
    metric, batch = made(library, "ConfusionMetric")
    metric.update(*batch(8))
    others = [copy.copy(metric), copy.deepcopy(metric), metric.clone(), pickle.loads(pickle.dumps(metric))]
    done = []

    def work(number: int) -> None:
        others[number].update(*batch(8))
        done.append(number)

    with metric._lock.held():
        in_threads(work)
    assert len(done) == THREADS
    assert [samples(other, "ConfusionMetric") for other in others] == [16] * THREADS
