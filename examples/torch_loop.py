"""A plain PyTorch loop on the digits: live measures, and a checkpoint from which a killed run resumes.

    python examples/torch_loop.py
    python examples/torch_loop.py --checkpoint run.pt --kill-at 70    # is killed at step 70
    python examples/torch_loop.py --checkpoint run.pt                 # resumes; ends with exactly the same matrix

It needs torch and scikit-learn, and takes seconds. --compile compiles the loss, counting included, as one graph.
"""

from __future__ import annotations

import argparse
import os
import signal
from pathlib import Path

import digits
import torch
from torch import Tensor

from matrics.torch import ConfusionMetric

BATCH, EPOCHS, SAVE_EVERY = 64, 4, 5
LIVE = "accuracy, mcc"


class Run:
    """Everything that a checkpoint has to contain. The metrics are state like any other."""

    def __init__(self) -> None:
        self.step = 0
        self.network = digits.network()
        self.optimizer = torch.optim.Adam(self.network.parameters(), lr=0.01)
        self.seen = ConfusionMetric(10, LIVE, prefix="train/")  # of this epoch's batches, while training
        self.held_out = ConfusionMetric(10, "accuracy, mcc, cohen_kappa, eve, recall:class", prefix="val/")

    def loss(self, images: Tensor, labels: Tensor) -> Tensor:
        """The loss of a batch; the metric counts the logits, which are computed anyway."""
        logits = self.network(images)
        self.seen.update(labels, logits)
        return torch.nn.functional.cross_entropy(logits, labels)

    def validate(self, images: Tensor, labels: Tensor) -> dict[str, Tensor]:
        self.held_out.reset()
        with torch.inference_mode():
            for start in range(0, len(labels), 200):  # the last batch is smaller
                self.held_out.update(labels[start : start + 200], self.network(images[start : start + 200]))
            return self.held_out.compute()

    def save(self, path: Path) -> None:
        parts = {name: getattr(self, name).state_dict() for name in ("network", "optimizer", "seen")}
        torch.save({"step": self.step, **parts}, path.with_suffix(".new"))
        path.with_suffix(".new").replace(path)  # a run that is killed while saving still has the previous one

    def load(self, path: Path) -> None:
        saved = torch.load(path)
        self.step = saved.pop("step")
        for name, state in saved.items():
            getattr(self, name).load_state_dict(state)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0])
    parser.add_argument("--checkpoint", type=Path, help="save there every few steps, and resume from there")
    parser.add_argument("--kill-at", type=int, help="kill the process at this step, as in a crash")
    parser.add_argument(
        "--compile", action="store_true", help="compile the loss and the counting (needs a C++ compiler)"
    )
    options = parser.parse_args()

    (images, labels), held_out = digits.load()
    run = Run()
    if options.checkpoint and options.checkpoint.exists():
        run.load(options.checkpoint)
        print(f"goes on at step {run.step}, with {run.seen.matrix.sum()} labels counted in this epoch")
    compute_loss = torch.compile(run.loss, fullgraph=True) if options.compile else run.loss
    steps = -(-len(labels) // BATCH)
    print("epoch   loss  train/mcc  val/mcc  val/kappa  val/eve  lowest recall")
    while run.step < EPOCHS * steps:
        epoch, position = divmod(run.step, steps)
        order = torch.randperm(len(labels), generator=torch.Generator().manual_seed(epoch))
        chosen = order[position * BATCH : (position + 1) * BATCH]
        if position == 0:
            run.seen.reset()
        loss = compute_loss(images[chosen], labels[chosen])
        run.optimizer.zero_grad()
        loss.backward()
        run.optimizer.step()
        run.step += 1
        if run.step == options.kill_at:
            os.kill(os.getpid(), signal.SIGKILL)
        if options.checkpoint and run.step % SAVE_EVERY == 0:
            run.save(options.checkpoint)
        if position == steps - 1:
            values = {**run.seen.compute(), **run.validate(*held_out)}
            lowest, digit = min((values[f"val/recall/{k}"].item(), k) for k in range(10))
            shown = [values[name].item() for name in ("train/mcc", "val/mcc", "val/cohen_kappa", "val/eve")]
            row = "{:10.3f} {:8.3f} {:10.3f} {:8.3f}".format(*shown)
            print(f"{epoch + 1:5d} {loss:6.3f} {row}  {lowest:.2f} (digit {digit})")
    print(f"\nThe last epoch as it was learned, counted in training ({run.seen.dropped} dropped):\n")
    print("\n".join(" ".join(f"{count:4d}" for count in row) for row in run.seen.matrix.tolist()))


if __name__ == "__main__":
    main()
