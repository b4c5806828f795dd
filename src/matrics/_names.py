"""How names and specs are read."""

from __future__ import annotations

OPEN, CLOSE, QUOTES = "([", ")]", "'\""


def fold(name: str) -> str:
    """Names are found whatever their case, and with blanks or hyphens for underscores."""
    return name.strip().casefold().replace(" ", "_").replace("-", "_")


def split_outside(text: str, separator: str = ",", *, quoted: bool = False) -> list[str]:
    """The parts of a text between separators that are outside brackets, round or square, and outside quotes there.

    With ``quoted`` the text is one from within brackets, where quotes count from the beginning. A quote within quotes
    is written twice.

    >>> split_outside("mcc, f1:macro[cat,dog], recall['a, ]b']")
    ['mcc', ' f1:macro[cat,dog]', " recall['a, ]b']"]
    """
    parts, depth, quote, closed, before = [""], 0, "", "", "," if quoted else ""
    for character in text:
        if quote:
            closed = quote if character == quote else ""
            quote = "" if closed else quote
        elif character in QUOTES and (depth or quoted) and (character == closed or before in ("[", ",", "=")):
            quote = character
        else:
            depth += (character in OPEN) - (character in CLOSE)
            closed = ""
        if character == separator and depth == 0 and not quote:
            parts.append("")
        else:
            parts[-1] += character
        before = before if character.isspace() else character
    return parts


def unquote(text: str) -> str:
    """The text without blanks around it, and without the quotes around that."""
    text = text.strip()
    quoted = len(text) > 1 and text[0] in QUOTES and text[-1] == text[0]
    return text[1:-1].replace(text[0] * 2, text[0]) if quoted else text


def is_whole(text: str) -> bool:
    """Whether a text from within brackets is one name: in quotes that are closed, or without brackets of its own.

    >>> [is_whole(text) for text in ("'a ]'", "a (b)", "'it''s'", "'a", "a]", "'a'b'")]
    [True, True, True, False, False, False]
    """
    text = text.strip()
    if text[:1] in QUOTES:
        return len(text) > 1 and text[-1] == text[0] and text[0] not in text[1:-1].replace(text[0] * 2, "")
    return not ("[" in text or "]" in text) and text.count("(") == text.count(")")
