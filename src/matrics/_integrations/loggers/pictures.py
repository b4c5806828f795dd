"""Pictures as arrays of bytes, without pyplot, because its figures are global."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from matrics._arrays import Array
from matrics._plot.confusion import confusion_matrix


def pixels_of_matrix(cm: Any, class_names: Sequence[str] | None) -> Array:
    """The picture of a confusion matrix: bytes (height, width, 3)."""
    return pixels(confusion_matrix(cm, class_names=class_names).figure_)


def pixels(figure: Any) -> Array:
    """The pixels of a figure of matplotlib: bytes (height, width, 3)."""
    from matplotlib.backends.backend_agg import FigureCanvasAgg

    canvas: Any = FigureCanvasAgg(figure)
    canvas.draw()
    return np.ascontiguousarray(np.asarray(canvas.buffer_rgba())[..., :3])
