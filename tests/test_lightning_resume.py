"""Runs of Lightning that continue from a checkpoint: torchmetrics' form has each sample of an epoch once."""

from __future__ import annotations

import importlib
from pathlib import Path
from typing import Any

import pytest

pytestmark = [
    pytest.mark.filterwarnings("ignore"),  # Lightning's
    pytest.mark.xdist_group("torch lightning"),
]

SAMPLES, BATCH = 200, 10


def trained(folder: Path, checkpoint: Path | None = None, **saving: Any) -> tuple[list[int], list[int]]:
    """How many samples the metrics of training and of validation have counted at the end of each of two epochs."""
    pytest.importorskip("torchmetrics")
    torch, lightning = pytest.importorskip("torch"), pytest.importorskip("lightning")
    metrics = importlib.import_module("matrics.torchmetrics")

    class Classifier(lightning.LightningModule):
        def __init__(self) -> None:
            super().__init__()
            self.layer = torch.nn.Linear(2, 2)
            self.of_training = metrics.ConfusionMetric(2, "accuracy", prefix="train/")
            self.of_validation = metrics.ScoreMetric(2, "roc_auc", prefix="val/", from_logits=True, bits=6)
            self.found: tuple[list[int], list[int]] = ([], [])

        def training_step(self, batch: Any) -> Any:
            scores = self.layer(batch[0])
            self.of_training.update(scores, batch[1])
            self.log_dict(self.of_training, on_step=False, on_epoch=True)
            return scores.square().mean()

        def validation_step(self, batch: Any) -> None:
            self.of_validation.update(self.layer(batch[0]), batch[1])
            self.log_dict(self.of_validation)

        def on_train_epoch_start(self) -> None:
            self.of_training.reset()

        def on_train_epoch_end(self) -> None:
            self.found[0].append(int(self.of_training.matrix.sum()))

        def on_validation_epoch_end(self) -> None:
            self.found[1].append(int(self.of_validation.state.counts.sum()) // 2)

        def configure_optimizers(self) -> Any:
            return torch.optim.SGD(self.parameters(), 0.01)

    data = torch.utils.data.TensorDataset(torch.randn(SAMPLES, 2), torch.arange(SAMPLES) % 2)
    loader = torch.utils.data.DataLoader(data, batch_size=BATCH)
    saver = lightning.pytorch.callbacks.ModelCheckpoint(folder, save_top_k=-1, filename="{step}", **saving)
    quiet: dict[str, Any] = {"logger": False, "enable_progress_bar": False, "enable_model_summary": False}
    quiet |= {"accelerator": "cpu", "num_sanity_val_steps": 0, "callbacks": [saver]}
    model = Classifier()
    lightning.Trainer(max_epochs=2, **quiet).fit(model, loader, loader, ckpt_path=checkpoint, weights_only=False)
    return model.found


@pytest.mark.sampled(2)
@pytest.mark.parametrize(
    ("saving", "step"),
    [({"every_n_train_steps": 7}, 7), ({}, 20), ({"save_on_train_epoch_end": False}, 20)],
    ids=["middle", "end", "validation"],
)
def test_a_run_continues_from_its_checkpoint(saving: dict[str, Any], step: int, tmp_path: Path) -> None:
    """Each epoch has every sample once, also the one that was stopped after 70 of 200."""
    assert trained(tmp_path / "whole", **saving) == ([SAMPLES] * 2, [SAMPLES] * 2)
    of_training, of_validation = trained(tmp_path / "resumed", tmp_path / "whole" / f"step={step}.ckpt", **saving)
    assert set(of_training) == set(of_validation) == {SAMPLES}
