"""Quotes of values in messages, and parts of names and specs."""

from __future__ import annotations

import itertools
from collections import Counter
from collections.abc import Callable, Collection, Hashable, Iterable
from typing import Any

OPEN, CLOSE, QUOTES = "([", ")]", "'\""

# The longest spec of a measure, and the longest constraint: a matrix of weights of 200 classes fits. The time for
# reading is proportional to the length.
LONGEST = 1_000_000
# The longest quote of a text or value from outside, which may be as long as a file.
QUOTED = 200


def quoted(value: Any) -> str:
    """A value for messages: its representation in Python, or the beginning of a long representation.

    >>> quoted("f1"), quoted(0.5), quoted("a" * 500)[195:], quoted(10**5000)
    ("'f1'", '0.5', 'aaaaa... (500 characters)', 'a value of type int')
    """
    letters = len(value) if isinstance(value, str) else 0
    try:
        text = repr(value[:QUOTED] if letters > QUOTED else value)
    except (ValueError, RecursionError):  # an integer with more digits than Python prints, or nested lists
        return f"a value of type {type(value).__name__}"
    if letters <= QUOTED and len(text) <= QUOTED:
        return text
    return f"{text[:QUOTED]}... ({letters or len(text):,} characters)"


def quoted_list(values: Iterable[Any], most: int = 8) -> str:
    """The first of several values for messages.

    >>> quoted_list("abc"), quoted_list(range(100), 3), len(quoted_list(["(" * 100_000] * 20))
    ("'a', 'b', 'c'", '0, 1, 2, …', 404)
    """
    first = list(itertools.islice(values, most + 1))
    text = cut(", ".join(map(quoted, first[:most])))
    return text + (", …" if len(first) > most else "")


def first_twice(values: Iterable[Hashable]) -> Any:
    """The first value that occurs more than once, or None.

    >>> first_twice(["cat", "dog", "dog", "cat"])
    'cat'
    """
    return next((value for value, times in Counter(values).items() if times > 1), None)


def cut(text: object) -> str:
    """A text of limited length, for texts of unknown origin, such as messages of other errors."""
    words = str(text)
    return words if len(words) <= 2 * QUOTED else f"{words[: 2 * QUOTED]}…"


def fold(name: str) -> str:
    """The name in lower case, with underscores in place of blanks and hyphens, for lookups."""
    return name.strip().casefold().replace(" ", "_").replace("-", "_")


def did_you_mean(name: str, known: Collection[str], said: Callable[[str], str] = str) -> str:
    """A question with the known names that are nearest to a misspelt name, or an empty text.

    >>> did_you_mean("log_los", ["log_loss", "roc_auc"]), did_you_mean("x" * 500, ["log_loss"])
    ('did you mean log_loss? ', '')
    """
    if len(name) > QUOTED:  # far longer than all known names
        return ""
    import difflib

    near = dict.fromkeys(map(said, difflib.get_close_matches(name, known, n=3, cutoff=0.5)))
    return f"did you mean {', '.join(near)}? " if near else ""


def split_outside(text: str, separator: str = ",", *, quoted: bool = False) -> list[str]:
    """The parts of a text between separators outside of round or square brackets, and outside of quotes in them.

    With ``quoted`` the text itself comes from brackets, where quotes count from the beginning. A quote within quotes is
    written twice.

    >>> split_outside("mcc, f1:macro[cat,dog], recall['a, ]b']")
    ['mcc', ' f1:macro[cat,dog]', " recall['a, ]b']"]
    """
    parts: list[str] = []
    start, depth, quote, closed, before = 0, 0, "", "", "," if quoted else ""
    for position, character in enumerate(text):
        if quote:
            closed = quote if character == quote else ""
            quote = "" if closed else quote
        elif character in QUOTES and (depth or quoted) and (character == closed or before in ("[", ",", "=")):
            quote = character
        else:
            depth += (character in OPEN) - (character in CLOSE)
            closed = ""
        if character == separator and depth == 0 and not quote:
            parts.append(text[start:position])
            start = position + 1
        before = before if character.isspace() else character
    return [*parts, text[start:]]


def unquote(text: str) -> str:
    """The text without surrounding blanks and quotes."""
    text = text.strip()
    quoted = len(text) > 1 and text[0] in QUOTES and text[-1] == text[0]
    return text[1:-1].replace(text[0] * 2, text[0]) if quoted else text


def is_whole(text: str) -> bool:
    """Whether a text from within brackets is a single name: in closed quotes, or without brackets.

    >>> [is_whole(text) for text in ("'a ]'", "a (b)", "'it''s'", "'a", "a]", "'a'b'")]
    [True, True, True, False, False, False]
    """
    text = text.strip()
    if text[:1] in QUOTES:
        return len(text) > 1 and text[-1] == text[0] and text[0] not in text[1:-1].replace(text[0] * 2, "")
    return not ("[" in text or "]" in text) and text.count("(") == text.count(")")
