"""Modules that are imported when a test uses them, so that a process holds only the libraries of its own tests."""

from __future__ import annotations

import importlib
import importlib.util
from typing import Any

import pytest


class LazyModule:
    """A module that is imported when a public attribute is read; pytest reads private ones of all names in a file."""

    def __init__(self, name: str) -> None:
        self._name = name

    def __getattr__(self, attribute: str) -> Any:
        if attribute.startswith("_"):
            raise AttributeError(attribute)
        return getattr(importlib.import_module(self._name), attribute)


def lazily(name: str) -> Any:
    """A library whose import takes a hundred megabytes; without it, the tests of the calling module are skipped."""
    if importlib.util.find_spec(name) is None:
        pytest.skip(f"could not import {name!r}", allow_module_level=True)
    return LazyModule(name)
