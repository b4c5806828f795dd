"""TensorBoard's own reader finds what was logged in the files that SummaryWriters have written."""

from __future__ import annotations

import io
import math
import sys
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import matrics
from matrics.loggers import log_confusion_matrix, log_to

pytest.importorskip("tensorboard")
pytest.importorskip("torch")

from tensorboard.backend.event_processing.event_accumulator import EventAccumulator
from torch.utils.tensorboard import SummaryWriter

CM = [[8, 2, 0], [1, 6, 3], [0, 5, 15]]
CLASSES = ["cat", "dog", "owl"]


def read(folder: Path) -> EventAccumulator:
    accumulator = EventAccumulator(str(folder))
    accumulator.Reload()
    return accumulator


def curve(accumulator: Any, tag: str) -> list[tuple[int, float]]:
    return [(event.step, event.value) for event in accumulator.Scalars(tag)]


def test_scalars(tmp_path: Path) -> None:
    specs = ["accuracy", "recall:class", "fbeta(beta=2):macro"]
    with SummaryWriter(tmp_path) as writer:
        for step, cm in enumerate([CM, np.eye(3, dtype=int), np.zeros((3, 3), dtype=int)]):
            log_to(writer, matrics.score(cm, specs), step, prefix="val/", class_names=CLASSES)
    found = read(tmp_path)
    names = ["accuracy", "recall/cat", "recall/dog", "recall/owl", "fbeta(beta=2):macro"]
    assert found.Tags()["scalars"] == [f"val/{name}" for name in names]
    for name, value in {"accuracy": 29 / 40, "recall/cat": 0.8, "recall/dog": 0.6, "recall/owl": 0.75}.items():
        steps, values = zip(*curve(found, f"val/{name}"), strict=True)
        assert steps == (0, 1, 2)
        assert values[:2] == pytest.approx([value, 1.0], rel=1e-7)  # TensorBoard keeps float32
        assert math.isnan(values[2])


def test_a_run_that_goes_on(tmp_path: Path) -> None:
    for step in range(2):
        with SummaryWriter(tmp_path) as writer:
            log_to(writer, {"mcc": step / 2}, step)
    assert curve(read(tmp_path), "mcc") == [(0, 0.0), (1, 0.5)]


@pytest.mark.exhaustive
def test_tensorboard_x_has_names_of_its_own(tmp_path: Path) -> None:
    """It replaces characters: two names that it would make one are refused."""
    tensorboard_x = pytest.importorskip("tensorboardX")
    with tensorboard_x.SummaryWriter(str(tmp_path)) as writer:
        log_to(writer, {"fbeta(beta=2):macro": 0.5, "recall/cat": 0.25, "mcc": math.nan}, 4)
        with pytest.raises(ValueError, match=r"both 'recall/C_' in tensorboardX"):
            log_to(writer, {"recall/C++": 0.5, "recall/C#": 0.5}, 5)
        log_confusion_matrix(writer, CM, 4)
    found = read(tmp_path)
    assert found.Tags()["scalars"] == ["fbeta_beta_2_macro", "recall/cat", "mcc"]
    assert curve(found, "fbeta_beta_2_macro") == [(4, 0.5)]
    assert found.Tags()["images"] == ["confusion_matrix"]


def test_pictures(tmp_path: Path) -> None:
    pytest.importorskip("matplotlib")
    image = pytest.importorskip("PIL.Image")
    with SummaryWriter(tmp_path) as writer:
        log_confusion_matrix(writer, CM, 7, prefix="val/", class_names=CLASSES)
    assert "matplotlib.pyplot" not in sys.modules or not sys.modules["matplotlib.pyplot"].get_fignums()
    (event,) = read(tmp_path).Images("val/confusion_matrix")
    shown = np.asarray(image.open(io.BytesIO(event.encoded_image_string)))
    from matrics import plot

    display = plot.confusion_matrix(CM, class_names=CLASSES)
    file = io.BytesIO()
    display.figure_.savefig(file, format="png", dpi=display.figure_.dpi)
    drawn = np.asarray(image.open(file))[..., :3]
    assert event.step == 7
    np.testing.assert_array_equal(shown, drawn)


def test_every_fifth_step(tmp_path: Path) -> None:
    pytest.importorskip("matplotlib")
    with SummaryWriter(tmp_path) as writer:
        for step in range(11):
            log_confusion_matrix(writer, CM, step, every=5)
        with pytest.raises(ValueError, match="every: expected a number of steps, 1 or more, got 0"):
            log_confusion_matrix(writer, CM, 1, every=0)
    assert [event.step for event in read(tmp_path).Images("confusion_matrix")] == [0, 5, 10]


@pytest.mark.exhaustive
@pytest.mark.filterwarnings("ignore")  # of Lightning, about workers and logging intervals
def test_lightning(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """The hook of docs/logging.md: the metric still has the counts of the whole epoch; every second one is drawn."""
    pytest.importorskip("matplotlib")
    lightning = pytest.importorskip("lightning")
    torch = pytest.importorskip("torch")
    from lightning.pytorch.loggers import TensorBoardLogger

    from matrics.torchmetrics import ConfusionMetric

    drawn = []
    draw = "matrics._integrations.loggers.pictures.pixels_of_matrix"
    monkeypatch.setattr(draw, lambda cm, _: drawn.append(cm.sum().item()) or np.zeros((4, 4, 3), np.uint8))
    monkeypatch.setenv("CUDA_VISIBLE_DEVICES", "")

    class Model(lightning.LightningModule):
        def __init__(self) -> None:
            super().__init__()
            self.layer = torch.nn.Linear(2, 3)
            self.val = ConfusionMetric(3, "mcc")

        def training_step(self, batch: Any) -> Any:
            return torch.nn.functional.cross_entropy(self.layer(batch[0]), batch[1])

        def validation_step(self, batch: Any) -> None:
            self.val.update(self.layer(batch[0]), batch[1])
            self.log_dict(self.val)

        def on_validation_epoch_end(self) -> None:
            with self.val.sync_context(should_sync=self.trainer.world_size > 1):
                if not self.trainer.sanity_checking and self.trainer.is_global_zero:
                    log_confusion_matrix(self.logger.experiment, self.val.matrix, self.current_epoch, every=2)

        def configure_optimizers(self) -> Any:
            return torch.optim.SGD(self.parameters(), lr=0.1)

    random = torch.Generator().manual_seed(0)
    data = torch.randn(50, 2, generator=random), torch.randint(0, 3, (50,), generator=random)
    loader = torch.utils.data.DataLoader(torch.utils.data.TensorDataset(*data), 20)
    options = {"enable_progress_bar": False, "enable_model_summary": False, "enable_checkpointing": False}
    logger = TensorBoardLogger(tmp_path, name="", version="")
    trainer = lightning.Trainer(max_epochs=5, accelerator="cpu", logger=logger, **options)
    trainer.fit(Model(), loader, loader)
    logger.experiment.close()
    assert drawn == [50, 50, 50]
    assert [event.step for event in read(tmp_path).Images("confusion_matrix")] == [0, 2, 4]
