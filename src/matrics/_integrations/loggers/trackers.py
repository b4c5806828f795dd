"""Loggers for TensorBoard, Weights & Biases and MLflow, with names that each of them allows."""

from __future__ import annotations

import re
import time
from collections.abc import Iterable
from dataclasses import dataclass
from typing import Any

from matrics._arrays import Array
from matrics._quoting import quoted


def allowed_names(names: Iterable[str], refused: str, logger: str) -> dict[str, str]:
    r"""The names with _ in place of refused characters, by name; raises if two names become equal.

    >>> allowed_names(["fbeta(beta=2):macro", "recall/dog"], r"[^\w./-]", "MLflow")
    {'fbeta(beta=2):macro': 'fbeta_beta_2_macro', 'recall/dog': 'recall/dog'}
    """
    results: dict[str, str] = {}
    origins: dict[str, str] = {}
    for name in names:
        short = re.sub(rf"(?:{refused})+", "_", re.sub(r"[)\]]", "", name))
        if short in origins:
            raise ValueError(
                f"scores: expected names that differ in letters, digits, _, - or ., got {quoted(origins[short])} and "
                f"{quoted(name)}, which are both {quoted(short)} in {logger}, which does not allow other "
                "characters: give the classes or the scores other names"
            )
        results[name], origins[short] = short, name
    return results


@dataclass(frozen=True)
class TensorBoard:
    """A logger for a SummaryWriter."""

    writer: Any

    def write(self, numbers: dict[str, float], step: int) -> None:
        """Add a scalar for each number."""
        # tensorboardX replaces characters of tags, and would write two names that become equal into the same curve.
        is_x = type(self.writer).__module__.partition(".")[0] == "tensorboardX"
        tags = allowed_names(numbers, r"[^\w./-]", "tensorboardX") if is_x else {name: name for name in numbers}
        for name, number in numbers.items():
            self.writer.add_scalar(tags[name], number, step)

    def check_pictures(self) -> None:
        """Do nothing: pictures are accepted."""

    def show(self, name: str, pixels: Array, step: int) -> None:
        """Add an image. For a figure, the writer would import pyplot."""
        self.writer.add_image(name, pixels, step, dataformats="HWC")


class WeightsAndBiases:
    """A logger for a run of Weights & Biases."""

    def __init__(self, wandb: Any, writer: Any) -> None:
        self.wandb = wandb
        self.run = wandb.run if writer is wandb else writer
        if self.run is None:
            raise ValueError("writer: expected the module wandb with a current run, got none: call wandb.init() first")

    def write(self, numbers: dict[str, float], step: int) -> None:
        """Add all numbers to the row of the step."""
        self.run.log(dict(numbers), step=step)

    def check_pictures(self) -> None:
        """Do nothing: pictures are accepted."""

    def show(self, name: str, pixels: Array, step: int) -> None:
        """Add an image to the row of the step."""
        from PIL import Image

        self.run.log({name: self.wandb.Image(Image.fromarray(pixels))}, step=step)


# MLflow allows a colon as well, but not on Windows and not in older versions.
REFUSED = r"[^\w./ -]"


class Mlflow:
    """A logger for a run of MLflow, and the client that writes to the run."""

    def __init__(self, mlflow: Any, writer: Any, run_id: str | None) -> None:
        self.mlflow = mlflow
        if isinstance(writer, mlflow.MlflowClient):
            if run_id is None:
                raise TypeError("run_id: expected the run of the client, got None: pass run_id=run.info.run_id")
            self.client, self.run_id = writer, run_id
            return
        if run_id is not None:
            raise TypeError(f"run_id: expected None, as the writer is not a client of MLflow, got {quoted(run_id)}")
        run = (mlflow.active_run() or mlflow.start_run()) if writer is mlflow else writer
        self.client, self.run_id = mlflow.MlflowClient(), run.info.run_id

    def write(self, numbers: dict[str, float], step: int) -> None:
        """Add all numbers in one request."""
        now = int(time.time() * 1000)
        keys = allowed_names(_without_folder_conflicts(numbers), REFUSED, "MLflow")
        names = zip(keys.values(), numbers.values(), strict=True)
        self.client.log_batch(self.run_id, [self.mlflow.entities.Metric(key, x, now, step) for key, x in names])

    def check_pictures(self) -> None:
        """Do nothing: pictures are accepted."""

    def show(self, name: str, pixels: Array, step: int) -> None:
        """Add an image that MLflow shows step by step."""
        (key,) = allowed_names([name], r"[^A-Za-z0-9_./ -]", "MLflow").values()
        self.client.log_image(self.run_id, pixels, key=key, step=step)


def _without_folder_conflicts(numbers: dict[str, float]) -> list[str]:
    """The names, changed so that no name is the folder of another: ``recall`` and ``recall.cat``.

    MLflow's file store keeps ``recall`` in a file of this name, and ``recall/cat`` in a folder of this name; only one
    of the two can exist.

    >>> _without_folder_conflicts({"val/recall": 0.9, "val/recall/cat": 0.8, "val/mcc": 0.7})
    ['val/recall', 'val/recall.cat', 'val/mcc']
    """
    names = []
    for name in numbers:
        parts = name.split("/")
        text = parts[0]
        for place in range(1, len(parts)):
            text += ("." if "/".join(parts[:place]) in numbers else "/") + parts[place]
        names.append(text)
    return names
