"""A Lightning run on the digits: two metrics, one line each in a step, and all their values in a CSV logger.

    python examples/lightning_run.py
    python examples/lightning_run.py --folder run --kill-at 90    # is killed in the middle of an epoch
    python examples/lightning_run.py --folder run                 # resumes from the last whole epoch

It needs lightning, torchmetrics and scikit-learn, takes seconds on one core, and keeps nothing without --folder. The
last values of a resumed run are those of one that nobody killed.
"""

from __future__ import annotations

import argparse
import logging
import os
import signal
import tempfile
import warnings
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import lightning
import torch
from lightning.pytorch.callbacks import ModelCheckpoint
from lightning.pytorch.loggers import CSVLogger
from sklearn.datasets import load_digits
from torch.utils.data import DataLoader, Sampler, TensorDataset

from matrics.torchmetrics import ConfusionMetric, ScoreMetric

NAMES = ["zero", "one", "two", "three", "four", "five", "six", "seven", "eight", "nine"]
EPOCHS, TRAINED = 6, 1297


class Digits(lightning.LightningModule):
    """A small network with a metric of the training batches, and two of the validation set."""

    def __init__(self) -> None:
        super().__init__()
        self.network = torch.nn.Sequential(torch.nn.Linear(64, 32), torch.nn.ReLU(), torch.nn.Linear(32, 10))
        self.seen = ConfusionMetric(10, "accuracy, mcc", prefix="train/")
        self.labels = ConfusionMetric(10, "accuracy, mcc, recall:class", prefix="val/", class_names=NAMES)
        # Areas and calibration from counts: no scores are kept until the end of the epoch.
        self.scores = ScoreMetric(10, "roc_auc, ece", from_logits=True, prefix="val/")

    def training_step(self, batch: list[torch.Tensor]) -> torch.Tensor:
        images, labels = batch
        logits = self.network(images)
        self.seen.update(logits.detach(), labels)
        self.log_dict(self.seen, on_step=False, on_epoch=True)
        return torch.nn.functional.cross_entropy(logits, labels)

    def validation_step(self, batch: list[torch.Tensor]) -> None:
        images, labels = batch
        logits = self.network(images)
        for metric in (self.labels, self.scores):
            metric.update(logits, labels)
            self.log_dict(metric)  # at the end of the epoch, from all batches and processes; then it is reset

    def configure_optimizers(self) -> torch.optim.Optimizer:
        return torch.optim.Adam(self.parameters(), lr=0.01)


class Order(Sampler[int]):
    """An order that depends on the epoch alone, of which Lightning tells: a resumed run has the same batches."""

    epoch = 0

    def set_epoch(self, epoch: int) -> None:
        self.epoch = epoch

    def __iter__(self) -> Iterator[int]:
        yield from torch.randperm(TRAINED, generator=torch.Generator().manual_seed(self.epoch)).tolist()

    def __len__(self) -> int:
        return TRAINED


class Table(lightning.Callback):
    """One line per epoch, with the values that the logger gets."""

    def on_train_start(self, trainer: lightning.Trainer, _: lightning.LightningModule) -> None:
        if trainer.current_epoch:
            print(f"goes on after epoch {trainer.current_epoch}")
        print("epoch  train/mcc  val/mcc  val/accuracy  val/roc_auc  val/ece  hardest digit")

    def on_train_epoch_end(self, trainer: lightning.Trainer, _: lightning.LightningModule) -> None:
        values = {name: float(value) for name, value in trainer.callback_metrics.items()}
        hardest = min(NAMES, key=lambda name: values[f"val/recall/{name}"])
        shown = [values[name] for name in ("train/mcc", "val/mcc", "val/accuracy", "val/roc_auc", "val/ece")]
        row = "{:10.3f} {:8.3f} {:13.3f} {:12.4f} {:8.4f}".format(*shown)
        print(f"{trainer.current_epoch + 1:5d} {row}  {hardest} (recall {values[f'val/recall/{hardest}']:.2f})")


class Killed(lightning.Callback):
    """The end of the process after a step, as in a crash."""

    def __init__(self, step: int | None) -> None:
        self.step = step

    def on_train_batch_end(self, trainer: lightning.Trainer, *_: Any) -> None:
        if trainer.global_step == self.step:
            os.kill(os.getpid(), signal.SIGKILL)


def run(folder: Path, kill_at: int | None = None) -> None:
    """Train, from the folder's checkpoint if there is one; each process logs in a folder of its own."""
    lightning.seed_everything(0, verbose=False)
    images, labels = (torch.as_tensor(array) for array in load_digits(return_X_y=True))
    order = torch.randperm(len(labels), generator=torch.Generator().manual_seed(0))
    seen, held_out = (TensorDataset(images[part].float() / 16, labels[part]) for part in order.tensor_split([TRAINED]))
    trainer = lightning.Trainer(
        max_epochs=EPOCHS,
        accelerator="cpu",
        callbacks=[Table(), Killed(kill_at), ModelCheckpoint(folder, save_last=True, save_on_train_epoch_end=True)],
        logger=CSVLogger(folder, name="log"),
        enable_progress_bar=False,
        enable_model_summary=False,
        num_sanity_val_steps=0,
    )
    last = folder / "last.ckpt"
    trainer.fit(
        Digits(),
        DataLoader(seen, 64, sampler=Order()),
        DataLoader(held_out, 200),
        ckpt_path=last if last.exists() else None,
    )


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0])
    parser.add_argument("--folder", type=Path, help="log and save there, and resume from there")
    parser.add_argument("--kill-at", type=int, help="kill the process at this step, as in a crash")
    options = parser.parse_args()
    logging.getLogger("lightning.pytorch").setLevel(logging.WARNING)  # hide messages about hardware, and tips
    # From other libraries: their own deprecations, and that few steps an epoch are logged, or the folder is not empty.
    warnings.filterwarnings("ignore", message=".*(does not have many workers|LeafSpec|logging interval|not empty).*")
    if options.folder:
        run(options.folder, options.kill_at)
    else:
        with tempfile.TemporaryDirectory() as folder:
            run(Path(folder), options.kill_at)


if __name__ == "__main__":
    main()
