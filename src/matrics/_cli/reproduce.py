"""The sources' numbers and figures, computed again."""

from __future__ import annotations

import importlib
import pkgutil
from collections.abc import Callable
from importlib.util import find_spec
from pathlib import Path
from typing import TYPE_CHECKING

from matrics._errors import ArgumentError
from matrics._study import figures
from matrics._study.sources.reproduction import SOURCES

if TYPE_CHECKING:
    from matplotlib.figure import Figure


def check_folder(folder: Path) -> None:
    """Make the folder of the figures, before anything is computed that takes time."""
    if find_spec("matplotlib") is None:
        raise ImportError('--figures: needs matplotlib: python -m pip install "matrics[plot]"')
    if folder.exists() and not folder.is_dir():
        raise ArgumentError("figures", f"expected a folder, got the file {folder}")
    folder.mkdir(parents=True, exist_ok=True)


def draw(folder: Path, source: str | None) -> list[Path]:
    """Draw the figures of a source, or of all, into PNG files."""
    written = []
    for one in SOURCES.values():
        if source in (None, one.number):
            for name, figure in _figures(one.figures).items():
                path = folder / f"{name}.png"
                figure().savefig(path, dpi=150)
                written.append(path)
    return written


def _figures(module: str) -> dict[str, Callable[[], Figure]]:
    if module not in {found.name for found in pkgutil.iter_modules(figures.__path__)}:
        return {}  # its source has none
    return dict(importlib.import_module(f"matrics._study.figures.{module}").FIGURES)
