"""How names and specs are read."""

from __future__ import annotations


def fold(name: str) -> str:
    """Names are found whatever their case, and with blanks or hyphens for underscores."""
    return name.strip().casefold().replace(" ", "_").replace("-", "_")


def split_outside(text: str) -> list[str]:
    """The parts of a text between commas that are outside brackets, round or square."""
    parts, depth = [""], 0
    for character in text:
        depth += (character in "([") - (character in ")]")
        if character == "," and depth == 0:
            parts.append("")
        else:
            parts[-1] += character
    return parts
