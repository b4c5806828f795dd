"""Weights & Biases."""

from __future__ import annotations

from typing import Any

from matrics.arrays import Array


class WeightsAndBiases:
    """A run."""

    def __init__(self, wandb: Any, writer: Any) -> None:
        self.wandb = wandb
        self.run = wandb.run if writer is wandb else writer
        if self.run is None:
            raise ValueError("writer: expected the module wandb with a current run, got none: call wandb.init() first")

    def write(self, numbers: dict[str, float], step: int) -> None:
        """Add all numbers to the row of the step."""
        self.run.log(dict(numbers), step=step)

    def check_pictures(self) -> None:
        """It takes them."""

    def show(self, name: str, pixels: Array, step: int) -> None:
        """Add an image to the row of the step."""
        from PIL import Image

        self.run.log({name: self.wandb.Image(Image.fromarray(pixels))}, step=step)
