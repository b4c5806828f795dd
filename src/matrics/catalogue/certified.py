"""What the certificates of the catalogue say, as they were computed: read from a file on first use."""

from __future__ import annotations

import functools
import json
from importlib.resources import files
from typing import Any


@functools.cache
def certified() -> dict[str, Any]:
    """By spec: the verdicts and ranges that ``matrics.study.certificate`` has found."""
    text = files("matrics.catalogue").joinpath("certificates.json").read_text("utf-8")
    known: dict[str, Any] = json.loads(text)
    return known
