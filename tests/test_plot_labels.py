"""Names of classes below a matrix: turned only if they do not fit."""

from __future__ import annotations

import numpy as np
import pytest

pytest.importorskip("matplotlib")

from matrics import plot


@pytest.mark.sampled(4)
@pytest.mark.parametrize("width", [2.0, 3.0, 5.0])
@pytest.mark.parametrize(
    "names", [["healthy", "ill"], ["cat", "dog", "eel"], ["a long name", "another long name", "c"]]
)
def test_names_are_turned_only_if_they_do_not_fit(names: list[str], width: float) -> None:
    """By the room that the drawn texts take."""
    display = plot.confusion_matrix(np.full((len(names), len(names)), 5), class_names=names, width=width)
    display.figure_.draw_without_rendering()
    labels = display.ax_.get_xticklabels()
    turned = {label.get_rotation() for label in labels}
    cell = display.ax_.get_window_extent().width / len(names)
    for label in labels:
        label.set_rotation(0)
    wide = max(label.get_window_extent().width for label in labels)
    assert turned == {0.0} or wide > 0.5 * cell
    assert turned == {45.0} or wide < cell
