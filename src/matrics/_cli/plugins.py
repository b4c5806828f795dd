"""Measures of the user's own modules: ``--plugin``."""

from __future__ import annotations

import importlib
import sys
from pathlib import Path
from typing import TYPE_CHECKING

import matrics
from matrics._catalogue.own import measures_of
from matrics._errors import ArgumentError
from matrics._quoting import quoted

if TYPE_CHECKING:
    from collections.abc import Iterable


def plug_in(modules: Iterable[str] | None) -> None:
    """Import modules, of this folder or installed, and make their measures known by name."""
    for name in modules or ():
        for measure in measures_of(_imported(name), f"--plugin {name}"):
            matrics.register(measure)


def _imported(name: str) -> object:
    here = str(Path.cwd())
    if here not in sys.path:
        sys.path.append(here)  # last, so that no file in this folder hides an installed module
    try:
        return importlib.import_module(name)
    except ModuleNotFoundError as error:
        if error.name is None or not f"{name}.".startswith(f"{error.name}."):
            raise ArgumentError("plugin", f"{name} needs {error.name}, which is not installed") from error
        hint = f": {name.removesuffix('.py')}?" if name.endswith(".py") else ""
        raise ArgumentError(
            "plugin", f"expected the name of a module that is in this folder or installed, got {quoted(name)}{hint}"
        ) from error
    except Exception as error:
        raise ArgumentError("plugin", f"{name}: {type(error).__name__}: {error}") from error
