"""Compare a picture with the one that was looked at, which is in ``tests/data/pictures``."""

from __future__ import annotations

import os
from pathlib import Path

import matplotlib as mpl
import pytest
from matplotlib.testing.compare import compare_images

from matrics.plot import Display

FOLDER = Path(__file__).parent / "data" / "pictures"
DOTS_PER_INCH = 60  # small files, in which a line or a text that is not where it was still shows
DRAWN_WITH = "3.11."  # Matplotlib; others set text in other places, so that nothing is where it was
TOLERANCE = 6  # root mean square of the differences in 0 ... 255; fonts are drawn a little differently elsewhere


def compare(display: Display, name: str, tmp_path: Path) -> None:
    """Fail if the display no longer looks as it did.

    ``MATRICS_REDRAW=1 python -m pytest tests/test_plot_confusion.py`` draws the pictures of a file anew. Look at them.
    """
    if not mpl.__version__.startswith(DRAWN_WITH):
        pytest.skip(f"the pictures were drawn with Matplotlib {DRAWN_WITH}x, and this is {mpl.__version__}")
    kept, drawn = FOLDER / f"{name}.png", tmp_path / f"{name}.png"
    if os.environ.get("MATRICS_REDRAW"):
        display.save(kept, dpi=DOTS_PER_INCH)
        pytest.skip("drawn anew; look at it")
    display.save(drawn, dpi=DOTS_PER_INCH)
    difference = compare_images(str(kept), str(drawn), TOLERANCE)
    assert difference is None, difference
