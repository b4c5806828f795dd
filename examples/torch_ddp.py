"""Two processes train one network on the digits, and count together: exact measures for one all_reduce.

    python examples/torch_ddp.py

It needs torch and scikit-learn, starts its processes itself (gloo, on the CPU), and takes seconds.
"""

from __future__ import annotations

import tempfile
from datetime import timedelta

import digits
import torch
from torch import distributed
from torch.nn.parallel import DistributedDataParallel

import matrics
from matrics.torch import ConfusionMetric

PROCESSES, BATCH, EPOCHS = 2, 64, 4


def work(rank: int, folder: str) -> None:
    """What each process does."""
    torch.set_num_threads(1)
    distributed.init_process_group(
        "gloo",
        init_method=f"file://{folder}/store",
        rank=rank,
        world_size=PROCESSES,
        timeout=timedelta(seconds=60),  # how long the others wait for a process that has died
    )
    (images, labels), (held_out_images, held_out_labels) = digits.load()
    model = DistributedDataParallel(digits.network())
    optimizer = torch.optim.Adam(model.parameters(), lr=0.01)
    metric = ConfusionMetric(10, "accuracy, mcc, cohen_kappa", prefix="val/")
    for epoch in range(EPOCHS):
        order = torch.randperm(len(labels), generator=torch.Generator().manual_seed(epoch))
        for chosen in order[: len(order) // (PROCESSES * BATCH) * PROCESSES * BATCH].view(-1, PROCESSES, BATCH):
            mine = chosen[rank]
            loss = torch.nn.functional.cross_entropy(model(images[mine]), labels[mine])
            optimizer.zero_grad()
            loss.backward()
            optimizer.step()
        # Each evaluates its part of the held-out set. Parts may differ in size, without padding: 180 of 500, and 320.
        metric.reset()
        part = slice(0, 180) if rank == 0 else slice(180, None)
        with torch.inference_mode():
            mine = held_out_labels[part], model.module(held_out_images[part])
            metric.update(*mine)
            own = {name: value.item() for name, value in metric.compute().items()}
            values = {name: value.item() for name, value in metric.sync().compute().items()}
        mean = torch.tensor(own["val/mcc"], dtype=torch.float64)
        distributed.all_reduce(mean)
        if rank == 0:
            if epoch == 0:
                print("epoch  val/accuracy  val/cohen_kappa  val/mcc    mean of the processes' own mcc")
            shown = [values[f"val/{name}"] for name in ("accuracy", "cohen_kappa", "mcc")]
            row = "{:18.4f} {:16.4f} {:8.4f}".format(*shown)
            print(f"{epoch + 1:5d}{row}    {mean.item() / PROCESSES:.4f}, which is not the mcc of anything")
    if rank == 0:
        with torch.inference_mode():
            alone = matrics.confusion_matrix(held_out_labels, model.module(held_out_images), num_classes=10)
        same = torch.equal(alone, metric.matrix)
        print(f"\n{metric.matrix.sum()} labels, each once; one process alone counts {'the same' if same else 'others'}")
    del model, optimizer, loss  # they hold the process group
    distributed.barrier()  # no process leaves while another is still working
    distributed.destroy_process_group()


if __name__ == "__main__":
    with tempfile.TemporaryDirectory() as folder:
        torch.multiprocessing.spawn(work, (folder,), nprocs=PROCESSES)
