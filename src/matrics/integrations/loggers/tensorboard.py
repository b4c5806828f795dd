"""TensorBoard, through a SummaryWriter of torch.utils.tensorboard or of tensorboardX."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

from matrics.arrays import Array
from matrics.integrations.loggers.allowed import allowed_names


@dataclass(frozen=True)
class TensorBoard:
    """A SummaryWriter."""

    writer: Any

    def write(self, numbers: dict[str, float], step: int) -> None:
        """Add a scalar for each number."""
        # tensorboardX itself replaces characters of tags, and would write two names that become one into one curve.
        is_x = type(self.writer).__module__.partition(".")[0] == "tensorboardX"
        tags = allowed_names(numbers, r"[^\w./-]", "tensorboardX") if is_x else {name: name for name in numbers}
        for name, number in numbers.items():
            self.writer.add_scalar(tags[name], number, step)

    def check_pictures(self) -> None:
        """It takes them."""

    def show(self, name: str, pixels: Array, step: int) -> None:
        """Add an image; not a figure, for which the writer would import pyplot."""
        self.writer.add_image(name, pixels, step, dataformats="HWC")
