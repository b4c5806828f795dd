"""What each process of test_distributed.py does. Processes import this file, and so it imports no test."""

from __future__ import annotations

import os
import time
import warnings
from datetime import timedelta
from multiprocessing import forkserver, get_context
from pathlib import Path
from typing import Any

import numpy as np
import torch
import training_cases
from torch import distributed
from torch.distributed import fsdp
from torch.nn.parallel import DistributedDataParallel

from matrics import ScoreState
from matrics import torch as plain
from matrics.torch import ConfusionMetric, MultilabelMetric, ScoreMetric, SyncError

CLASSES = 5
SIZES = [[64, 64, 7], [64, 64, 33], [64, 1], []]  # of the batches of each process: ragged, and one without any
TIMEOUT = 2  # seconds that a group waits for a process that is gone
LOSING = ("dies", "never_comes", "host_dies", "torchmetrics_dies")  # a process is lost


def run(name: str, world: int, folder: Path, *given: Any) -> list[Any]:
    """What the function of this name gives in each process; None for one that died. A process that hangs is killed."""
    context = get_context("forkserver")  # imports what takes seconds once, and forks before there are threads
    context.set_forkserver_preload(["ranks", "torch._dynamo", "matrics.torchmetrics"])
    processes = [context.Process(target=_start, args=(name, rank, world, str(folder), *given)) for rank in range(world)]
    for process in processes:
        process.start()
    until = time.monotonic() + 100
    for process in processes:
        process.join(max(0, until - time.monotonic()))
    hung = [process for process in processes if process.is_alive()]
    for process in hung:
        process.kill()
    assert not hung, f"{len(hung)} of {world} processes hang"
    files = [folder / f"{rank}.pt" for rank in range(world)]
    return [torch.load(file) if file.exists() else None for file in files]


def stop() -> None:
    """End the server, which would stay until the end of the run with all that it has imported."""
    forkserver._forkserver._stop()


def _start(name: str, rank: int, world: int, folder: str, *given: Any) -> None:
    torch.set_num_threads(1)
    distributed.init_process_group(
        "gloo",
        **(
            {"store": _served(rank, world, folder)}
            if name == "host_dies"
            else {"init_method": f"file://{folder}/store"}
        ),
        rank=rank,
        world_size=world,
        timeout=timedelta(seconds=TIMEOUT if name in LOSING else 60),
    )
    Path(folder, f"{rank}.connected").touch()
    while sum(1 for _ in Path(folder).glob("*.connected")) < world:  # who left now would be missed while others connect
        time.sleep(0.01)
    result = globals()[name](rank, *given)
    torch.save(result, Path(folder, f"{rank}.pt"))
    if name not in LOSING:
        distributed.barrier()
        distributed.destroy_process_group()


def _served(rank: int, world: int, folder: str) -> distributed.TCPStore:
    """A store that process 0 has in its memory."""
    file = Path(folder, "port")
    if rank == 0:
        store = distributed.TCPStore("127.0.0.1", 0, world, is_master=True, wait_for_workers=False)
        file.with_suffix(".new").write_text(str(store.port))
        file.with_suffix(".new").rename(file)
        return store
    while not file.exists():
        time.sleep(0.01)
    return distributed.TCPStore("127.0.0.1", int(file.read_text()), world, is_master=False)


def batches(rank: int) -> list[tuple[torch.Tensor, torch.Tensor]]:
    """Labels and scores of a process; a few labels are out of range."""
    random = torch.Generator().manual_seed(rank)
    return [
        (torch.randint(-1, CLASSES, (size,), generator=random), torch.randn((size, CLASSES), generator=random))
        for size in SIZES[rank]
    ]


def count(rank: int) -> dict[str, Any]:
    """Counts, syncs twice, counts on, syncs again."""
    metric = ConfusionMetric(CLASSES, "mcc, recall:class", prefix="val/")
    for labels, scores in batches(rank):
        metric.update(labels, scores)
    own = metric.matrix
    first = metric.sync().matrix
    values, dropped = metric.compute(), metric.dropped
    again = metric.sync().sync().matrix
    for labels, scores in batches(rank):
        metric.update(labels, scores)
    return {
        "own": own,
        "first": first,
        "values": values,
        "dropped": dropped,
        "again": again,
        "later": metric.sync().matrix,
    }


def resume(rank: int) -> torch.Tensor:
    """Process 0 saves after a sync, all load that and go on."""
    metric = ConfusionMetric(CLASSES)
    for labels, scores in batches(rank):
        metric.update(labels, scores)
    saved = [metric.sync().state_dict()]
    distributed.broadcast_object_list(saved, src=0)
    resumed = ConfusionMetric(CLASSES)
    resumed.load_state_dict(saved[0])
    for labels, scores in batches(rank):
        resumed.update(labels, scores)
    return resumed.sync().matrix


def scored(rank: int) -> ScoreState:
    """The state of the scores of a process."""
    state = ScoreState.zeros(bits=6, thresholds=[0.25, 0.5], like=torch.zeros(()))
    for labels, scores in batches(rank):
        state = state.update(labels % 2, scores[:, 0])
    return state


def add_scores(rank: int) -> dict[str, torch.Tensor]:
    """Its arrays, each added up over processes."""
    leaves = scored(rank)._asdict()
    for leaf in leaves.values():
        distributed.all_reduce(leaf)
    return leaves


def binned(rank: int) -> dict[str, Any]:
    """Counts scores, syncs twice, counts on, syncs again; and torchmetrics' way of the same."""
    from matrics.torchmetrics import ScoreMetric as Torchmetric

    options: dict[str, Any] = {"from_logits": True, "bits": 6}
    metric, other = ScoreMetric(CLASSES, **options), Torchmetric(CLASSES, **options)
    for labels, scores in batches(rank):
        metric.update(labels, scores)
        other.update(scores, labels)
    first, dropped = metric.sync().state, metric.dropped
    again = metric.sync().sync().state
    together = other.log_dict()
    for labels, scores in batches(rank):
        metric.update(labels, scores)
    states = {"first": first, "again": again, "later": metric.sync().state}
    return {
        **{name: tuple(state) for name, state in states.items()},
        "dropped": dropped,
        "values": metric.log_dict(),
        "together": together,
    }


def count_on(rank: int, device: str) -> dict[str, torch.Tensor]:
    """The counts and values of several metrics, synced twice on a device."""
    metrics = (ConfusionMetric(CLASSES, "core"), ScoreMetric(CLASSES, "roc_auc, ece", from_logits=True))
    found = {}
    for metric in metrics:
        metric.to(device)
        for _ in range(2):
            for labels, scores in batches(rank):
                metric.update(labels.to(device), scores.to(device))
            metric.sync()
        found |= {str(name): value.cpu() for name, value in metric.compute().items()}
    return found


def shares(name: str, rank: int) -> list[list[torch.Tensor]]:
    """The batches of a process for a metric of training_cases.py."""
    random = np.random.default_rng([rank, *name.encode()])
    case = training_cases.METRICS[name]
    return [[torch.from_numpy(array) for array in training_cases.draw(case, size, random)] for size in SIZES[rank]]


def every(rank: int) -> dict[str, list[dict[str, float]]]:
    """The values of every metric, synced, then counted on and synced again; and as torchmetrics syncs the whole."""
    from matrics import torchmetrics

    found = {}
    for name, case in training_cases.METRICS.items():
        metric, other, values = case.make(plain), case.make(torchmetrics), []
        for _ in range(2):
            for batch in shares(name, rank):
                training_cases.count(metric, case, *batch)
                training_cases.count(other, case, *batch)
            values.append(metric.sync().log_dict())
        # Once: torchmetrics keeps values until the next batch, and a process that has none would not sync again.
        found[name] = [*values, other.log_dict()]
    return found


def several_labels(rank: int) -> list[tuple[torch.Tensor, torch.Tensor]]:
    """Labels and scores of a process; only process 0 has any."""
    random = torch.Generator().manual_seed(rank)
    shapes = [(64, 3), (7, 3)] if rank == 0 else []
    return [(torch.randint(0, 2, shape, generator=random), torch.rand(shape, generator=random)) for shape in shapes]


def labelled(rank: int) -> dict[str, Any]:
    """Counts several labels, syncs twice, counts on, syncs again; and torchmetrics' way of the same."""
    from matrics.torchmetrics import MultilabelMetric as Torchmetric

    names = ["f1", "mcc:label", "roc_auc", "average_precision:micro", "subset_accuracy", "ranking_loss"]
    metric, other = MultilabelMetric(3, names), Torchmetric(3, names)
    for labels, scores in several_labels(rank):
        metric.update(labels, scores)
        other.update(scores, labels)
    first, again = metric.sync().log_dict(), metric.sync().sync().log_dict()
    with warnings.catch_warnings(action="ignore"):
        together = other.log_dict()
    for labels, scores in several_labels(rank):
        metric.update(labels, scores)
    later = metric.sync().log_dict()
    counts = int(metric.state.labels.counts.sum())
    return {"first": first, "again": again, "together": together, "later": later, "counts": counts}


def groups(rank: int) -> torch.Tensor:
    """Two groups of two, of which process 0 and 1, then 2 and 3, sync."""
    pairs = [distributed.new_group([0, 1]), distributed.new_group([2, 3])]
    metric = ConfusionMetric(CLASSES)
    for labels, scores in batches(rank):
        metric.update(labels, scores)
    for pair in pairs:
        metric.sync(process_group=pair)
    return metric.matrix


class Model(torch.nn.Module):
    """A model that contains a metric of every kind, and counts for itself in one of them."""

    def __init__(self) -> None:
        super().__init__()
        self.layer = torch.nn.Linear(CLASSES, CLASSES)
        each = {name: case.make(plain) for name, case in training_cases.METRICS.items()}
        self.metrics = torch.nn.ModuleDict({"own": ConfusionMetric(CLASSES), **each})

    def forward(self, labels: torch.Tensor, scores: torch.Tensor) -> torch.Tensor:
        """The loss."""
        self.metrics["own"].update(labels, scores)
        return torch.nn.functional.cross_entropy(self.layer(scores), labels.clamp(0))


def inside(rank: int) -> dict[str, dict[str, Any]]:
    """Metrics inside a model that is trained in parallel, in each way."""
    return {how: _inside(rank, how) for how in ("replicated", "added later", "rounded", "sharded")}


def _inside(rank: int, how: str) -> dict[str, Any]:
    model = Model()
    metrics = model.metrics
    parallel: torch.nn.Module = model
    if how == "added later":
        del model.metrics
        parallel = DistributedDataParallel(model)
        model.metrics = metrics
    elif how == "rounded":
        mixed = fsdp.MixedPrecision(buffer_dtype=torch.bfloat16)
        parallel = fsdp.FullyShardedDataParallel(model, device_id=torch.device("cpu"), mixed_precision=mixed)
    elif how == "sharded":
        fsdp.fully_shard(model)
    else:
        parallel = DistributedDataParallel(model)
    each = {name: shares(name, rank) for name in training_cases.METRICS}
    for place, batch in enumerate(batches(rank)):
        parallel(*batch).backward()
        for name, case in training_cases.METRICS.items():
            training_cases.count(metrics[name], case, *each[name][place])
    values = {name: metric.sync().log_dict() for name, metric in metrics.items() if name != "own"}
    return values | {"own": metrics["own"].sync().matrix}


def handed(rank: int, metrics: list[Any]) -> list[torch.Tensor]:
    """Metrics made by the parent, whose tensors PyTorch hands to processes in memory that they share."""
    plain, torchmetric = metrics
    for labels, scores in batches(rank):
        plain.update(labels, scores)
        torchmetric.update(scores, labels)
    distributed.barrier()
    with torchmetric.sync_context():
        return [plain.sync().matrix, torchmetric.matrix.clone()]


def torchmetrics(rank: int) -> dict[str, Any]:
    """The other metric, which torchmetrics syncs."""
    from matrics.torchmetrics import ConfusionMetric as Torchmetric

    metric = Torchmetric(CLASSES, "mcc, recall:class", prefix="val/")
    for labels, scores in batches(rank):
        metric.update(scores, labels)
    own, values = metric.matrix, metric.compute()
    with metric.sync_context():
        together = metric.matrix
    return {"own": own, "values": values, "together": together, "after": metric.matrix}


def dies(rank: int) -> Any:
    """The last process is gone before the second sync."""
    return _try_to_sync(rank, lost=distributed.get_world_size() - 1)


def host_dies(rank: int) -> Any:
    """The first one, which has the store."""
    return _try_to_sync(rank, lost=0)


def never_comes(rank: int) -> Any:
    """The last process lives, but does not sync while the others wait."""
    return _try_to_sync(rank, lost=distributed.get_world_size() - 1, is_alive=True)


def torchmetrics_dies(rank: int) -> Any:
    """The last process is gone before torchmetrics adds up for a second time."""
    from matrics.torchmetrics import ConfusionMetric as Torchmetric

    metric = Torchmetric(CLASSES)
    for labels, scores in batches(rank):
        metric.update(scores, labels)
    metric.compute()
    metric._computed = None
    if rank == distributed.get_world_size() - 1:
        os._exit(7)
    before = metric.matrix
    return _failing(metric.compute, lambda: torch.equal(before, metric.matrix))


def _try_to_sync(rank: int, *, lost: int, is_alive: bool = False) -> Any:
    """What is told in the second sync; the first one has all processes, none of which may be taken for the second."""
    metric = ConfusionMetric(CLASSES)
    for labels, scores in batches(rank):
        metric.update(labels, scores)
    metric.sync()
    if rank == lost and not is_alive:
        os._exit(7)
    if rank == lost:
        time.sleep(2 * TIMEOUT + 1)
        return None
    before = metric.state_dict()["counts"].clone()
    return _failing(metric.sync, lambda: torch.equal(before, metric.counts))


def _failing(act: Any, is_unchanged: Any) -> Any:
    try:
        act()
    except SyncError as error:
        return str(error), error.answered, error.missing, isinstance(error.__cause__, RuntimeError), is_unchanged()
    return "", None, None, False, False


WINDOW = 3
NUMBERS = (5, 2)  # of the batches of two processes, before they sync


def batch_of_window(rank: int, step: int) -> tuple[torch.Tensor, torch.Tensor]:
    """Labels and predictions of a step of a process."""
    generator = torch.Generator().manual_seed(100 * rank + step)
    return tuple(torch.randint(0, 3, (20,), generator=generator) for _ in range(2))  # type: ignore[return-value]


def windows(rank: int) -> dict[str, Any]:
    """A metric with a window, of which processes have counted different numbers of batches."""
    metric = ConfusionMetric(3, "mcc", window=WINDOW)
    for step in range(NUMBERS[rank]):
        metric.update(*batch_of_window(rank, step))
    synced = metric.sync().matrix.clone()
    metric.update(*batch_of_window(rank, NUMBERS[rank]))
    return {"synced": synced, "later": metric.sync().matrix.clone(), "wanted": 20 * 2 * WINDOW}
