"""Columns of plain values, as files of other tools have them."""

from __future__ import annotations

from typing import Any


def of_one_type(values: list[Any]) -> list[Any]:
    """Plain values of one type, or all as text; None stays None."""
    kinds = {type(value) for value in values if value is not None}
    if len(kinds) < 2:
        return values
    if kinds <= {int, float}:
        return [None if value is None else float(value) for value in values]
    return [None if value is None else str(value) for value in values]
