"""Numbers and lists in words."""

from __future__ import annotations

import math
from collections.abc import Iterable, Sequence

from matrics._rounding import percentage, rounded

__all__ = ["amount", "between", "capital", "count", "distinct", "joined", "listed", "number", "percent", "short"]

LONGEST_NAME = 60


def number(value: float, digits: int = 3) -> str:
    """Format a score with three digits, or as "undefined"."""
    if math.isnan(value):
        return "undefined"
    if math.isinf(value):
        return "∞" if value > 0 else "−∞"
    return (rounded(value, digits) if abs(value) < 1000 else f"{value:,.4g}").replace("-", "−")


def between(low: float, high: float) -> str:
    """The limits of an interval."""
    if math.isnan(low) or math.isnan(high):
        return "no limits"
    return f"{number(low)} to {number(high)}"


def percent(share: float) -> str:
    """Format a share as a percentage; shares above 0 and below 1 are not rounded to 0 % or 100 %."""
    if math.isnan(share):
        return "undefined"
    return f"{percentage(share)}\u00a0%".replace(".0\u00a0%", "\u00a0%")


def amount(size: float) -> str:
    """A number of samples, or a sum of weights."""
    return f"{size:,.0f}" if float(size).is_integer() else f"{size:,.6g}"


def count(size: float, what: str) -> str:
    """A number of things: ``1 class``, ``2 classes``."""
    if size == 1:
        return f"1 {what}"
    several = f"{what}es" if what.endswith("ss") else f"{what[:-1]}ies" if what.endswith("y") else f"{what}s"
    return f"{amount(size)} {several}"


def listed(names: Iterable[str], most: int = 8) -> str:
    """Join names with commas and "and", or with semicolons if they contain commas; shorten long lists."""
    found: Sequence[str] = [short(name) for name in names]
    if len(found) < 2:
        return "".join(found)
    shown, last = (found[:most], f"{len(found) - most:,} more") if len(found) > most + 1 else (found[:-1], found[-1])
    if any(", " in name for name in found):
        return f"{'; '.join(shown)}; and {last}"
    return f"{', '.join(shown)} and {last}"


def joined(parts: Sequence[str]) -> str:
    """Join clauses with commas and "and"."""
    return parts[0] if len(parts) == 1 else f"{', '.join(parts[:-1])} and {parts[-1]}"


def capital(text: str) -> str:
    """A text with a capital letter at its start, as a sentence has it."""
    return text[:1].upper() + text[1:]


def short(name: str, longest: int = LONGEST_NAME) -> str:
    """A name that is not too long, in one line."""
    name = " ".join(name.split()) or repr(name)
    # Some would turn the direction of the text around, or end it.
    name = "".join(letter if letter.isprintable() else "\ufffd" for letter in name)
    return name if len(name) <= longest else f"{name[: longest - 20]}…{name[-19:]}"


def distinct(names: Iterable[str]) -> list[str]:
    """Short names that are still different, with a number where two would be the same."""
    found: dict[str, None] = {}
    for name in names:
        one, number = short(name), 2
        while one in found:
            one, number = f"{short(name)} ({number})", number + 1
        found[one] = None
    return list(found)
