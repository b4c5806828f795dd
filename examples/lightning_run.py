"""A Lightning run on the digits: one metric object, one line in a step, all measures in the logger.

    python examples/lightning_run.py

It needs lightning, torchmetrics and scikit-learn, takes a few seconds on one core, and writes nothing.
"""

from __future__ import annotations

import logging
import warnings

import lightning
import torch
from sklearn.datasets import load_digits
from torch.utils.data import DataLoader, TensorDataset

from matrics.integrations.torchmetrics import ConfusionScores

NAMES = ["zero", "one", "two", "three", "four", "five", "six", "seven", "eight", "nine"]


class Digits(lightning.LightningModule):
    """A small network with two metrics: one of the training batches, one of the validation set."""

    def __init__(self) -> None:
        super().__init__()
        self.network = torch.nn.Sequential(torch.nn.Linear(64, 32), torch.nn.ReLU(), torch.nn.Linear(32, 10))
        self.seen = ConfusionScores(10, "accuracy, mcc", prefix="train/")
        self.held_out = ConfusionScores(
            10, "accuracy, mcc, cohen_kappa, recall:class", prefix="val/", class_names=NAMES
        )

    def training_step(self, batch: list[torch.Tensor]) -> torch.Tensor:
        images, labels = batch
        logits = self.network(images)
        self.seen.update(logits.detach(), labels)
        self.log_dict(self.seen, on_step=False, on_epoch=True)
        return torch.nn.functional.cross_entropy(logits, labels)

    def validation_step(self, batch: list[torch.Tensor]) -> None:
        images, labels = batch
        self.held_out.update(self.network(images), labels)
        self.log_dict(self.held_out)  # at the end of the epoch, from all batches and processes; then it is reset

    def configure_optimizers(self) -> torch.optim.Optimizer:
        return torch.optim.Adam(self.parameters(), lr=0.01)


class Table(lightning.Callback):
    """One line per epoch, with the values that a logger would get."""

    def __init__(self) -> None:
        self.history: list[dict[str, float]] = []

    def on_train_epoch_end(self, trainer: lightning.Trainer, _: lightning.LightningModule) -> None:
        values = {name: float(value) for name, value in trainer.callback_metrics.items()}
        hardest = min(NAMES, key=lambda name: values[f"val/recall/{name}"])
        shown = [values[name] for name in ("train/mcc", "val/mcc", "val/accuracy", "val/cohen_kappa")]
        if not self.history:
            print("epoch  train/mcc  val/mcc  val/accuracy  val/cohen_kappa  hardest digit")
        row = "{:10.3f} {:8.3f} {:13.3f} {:16.3f}".format(*shown)
        print(f"{trainer.current_epoch + 1:5d} {row}  {hardest} (recall {values[f'val/recall/{hardest}']:.2f})")
        self.history.append(values)


def run(epochs: int = 6) -> tuple[Digits, list[dict[str, float]]]:
    """Train, and return the model and the values of each epoch."""
    lightning.seed_everything(0, verbose=False)
    images, labels = (torch.as_tensor(array) for array in load_digits(return_X_y=True))
    data = TensorDataset(images.float() / 16, labels)
    seen, held_out = torch.utils.data.random_split(data, [1297, 500], torch.Generator().manual_seed(0))
    table = Table()
    trainer = lightning.Trainer(
        max_epochs=epochs,
        accelerator="cpu",
        callbacks=[table],
        logger=False,
        enable_checkpointing=False,
        enable_progress_bar=False,
        enable_model_summary=False,
        num_sanity_val_steps=0,
    )
    model = Digits()
    trainer.fit(model, DataLoader(seen, 64, shuffle=True), DataLoader(held_out, 200))
    return model, table.history


if __name__ == "__main__":
    logging.getLogger("lightning.pytorch").setLevel(logging.WARNING)  # hide messages about hardware, and tips
    warnings.filterwarnings("ignore", message=".*(does not have many workers|LeafSpec).*")  # from other libraries
    run()
