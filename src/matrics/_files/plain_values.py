"""Columns of plain Python values in files of other tools."""

from __future__ import annotations

from typing import Any


def of_common_type(values: list[Any]) -> list[Any]:
    """The values with a common type: integers and floats become floats, other mixtures text; None stays None."""
    kinds = {type(value) for value in values if value is not None}
    if len(kinds) < 2:
        return values
    if kinds <= {int, float}:
        return [None if value is None else float(value) for value in values]
    return [None if value is None else str(value) for value in values]
