"""The logger of a writer; no logging library is imported that the user has not imported already."""

from __future__ import annotations

import os
import sys
from pathlib import Path
from typing import Any, Protocol

from matrics._arrays import Array
from matrics._integrations.loggers.files import destination_of_file
from matrics._integrations.loggers.trackers import Mlflow, TensorBoard, WeightsAndBiases
from matrics._quoting import quoted


class LogDestination(Protocol):
    """The destination of numbers and pictures of a run."""

    def write(self, numbers: dict[str, float], step: int) -> None:
        """Record all numbers of a step."""

    def check_pictures(self) -> None:
        """Raise an error if the destination does not accept pictures."""

    def show(self, name: str, pixels: Array, step: int) -> None:
        """Record a picture (height, width, 3) of bytes."""


def destination_of(writer: Any, run_id: str | None = None) -> LogDestination:
    """The logger of a writer; ``run_id`` is only for MLflow."""
    mlflow = sys.modules.get("mlflow")
    if mlflow is not None and (writer is mlflow or isinstance(writer, (mlflow.MlflowClient, mlflow.entities.Run))):
        return Mlflow(mlflow, writer, run_id)
    if run_id is not None:
        raise TypeError(f"run_id: expected None, as the writer is not a client of MLflow, got {quoted(run_id)}")
    if isinstance(writer, (str, os.PathLike)):
        return destination_of_file(Path(writer))
    wandb = sys.modules.get("wandb")
    if wandb is not None and (writer is wandb or isinstance(writer, wandb.Run)):
        return WeightsAndBiases(wandb, writer)
    # Methods are checked and not the class: torch.utils.tensorboard and tensorboardX have different classes, and
    # Lightning has a substitute for processes that do not log.
    if hasattr(writer, "add_scalar") and hasattr(writer, "add_image"):
        return TensorBoard(writer)
    if hasattr(writer, "write") and hasattr(writer, "flush"):
        return destination_of_file(writer)
    hint = ": pass its .experiment" if hasattr(writer, "experiment") else ""
    raise TypeError(
        "writer: expected a SummaryWriter, a run of Weights & Biases, the module mlflow or a run of MLflow, a path "
        "that "
        f"ends in .csv or .jsonl, or an open text file, got {type(writer).__name__}{hint}"
    )
