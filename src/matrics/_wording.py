"""Numbers, counts and names as text, for all output that people read."""

from __future__ import annotations

import math
from collections.abc import Iterable, Sequence

__all__ = [
    "REVERSED",
    "amount",
    "between",
    "capital",
    "counted",
    "decimals",
    "distinct",
    "error_text",
    "exact",
    "in_percent",
    "joined",
    "limits",
    "listed",
    "number",
    "percent",
    "percentage",
    "plain",
    "rounded",
    "short",
    "shown_p_value",
    "significant",
    "with_limits",
]

# Numbers nearer to 0 or 1 than this differ only by the rounding of sums.
NOISE = 1e-9
LONGEST_NAME = 60
PLACES = 3  # the decimal places of most numbers
MOST_PLACES = 6  # the most places of small numbers, unless their error justifies more
SMALL = 0.01  # below this, three places are fewer than two significant digits
# The warning for an area under a ROC curve whose upper limit is below 0.5.
REVERSED = "area below 0.5, so the score is probably lower in the positive class: use its negative"
UNDEFINED = "–"  # in a cell of a table; sentences say "undefined"


def rounded(value: float, digits: int = 3) -> str:
    """A number with ``digits`` decimal places; only 0 and 1, up to rounding errors of sums, become 0 and 1.

    Other numbers that would be rounded to 0 or 1 become an inequality of the same width, such as ``>.999``. Negative
    numbers near 0 are rounded to 0, because 0 is not an end of the range of their measures.

    >>> rounded(0.9996), rounded(1.0), rounded(0.0004), rounded(0.5), rounded(-0.0004), rounded(0.996, 2)
    ('>.999', '1.000', '<.001', '0.500', '0.000', '>.99')
    """
    size, unit = abs(value), 10.0**-digits
    text = f"{size:.{digits}f}"
    sign = "-" if value < 0 else ""
    more = ">" if value > 0 else "<"
    if NOISE < value < 1 and float(text) == 0:
        return f"<{f'{unit:.{digits}f}'[1:]}"
    if size < 1 - NOISE and float(text) == 1:
        return f"{more}{sign}{f'{1 - unit:.{digits}f}'[1:]}"
    return text if float(text) == 0 else sign + text


def shown_p_value(value: float) -> float:
    """A p-value to be rounded: none is 0, which ``rounded`` takes numbers near 0 for.

    >>> rounded(1e-30), rounded(shown_p_value(1e-30)), rounded(shown_p_value(0.25))
    ('0.000', '<.001', '0.250')
    """
    return max(value, 2 * NOISE)


def decimals(value: float, low: float = math.nan, high: float = math.nan, error: float = math.nan) -> int:
    """The number of decimal places of a value and its limits that the standard error justifies.

    The last digit is the first digit of the error, by default a quarter of the distance of the limits. A value above
    its error has at least two significant digits. Errors below 1 justify at least three places, and larger errors
    fewer. Values without error have three places, and from 0 to 0.01 three significant digits.

    >>> decimals(0.0031, error=0.0002), decimals(0.656, 0.483, 0.797), decimals(0.0003, 0.0001, 0.0006)
    (4, 3, 5)
    >>> decimals(67.31, 12.1, 160.2), decimals(0.5), decimals(0.00312)
    (1, 3, 5)
    """
    size, error = abs(value), (high - low) / 4 if math.isnan(error) else error
    if 0 < error < math.inf:
        first = math.floor(math.log10(error))  # the place of the first digit of the error, such as -3 for 0.002
        places = max(PLACES, -first) if first < 0 else max(0, PLACES - 1 - first)
        digits = 2 if size > error else 0
    else:
        # Negative values near 0 need no more digits, as 0 is not an end of the range of their measures.
        places, digits = PLACES, 3 if 0 < value < SMALL else 0
    if digits and NOISE < size < math.inf:
        places = max(places, min(MOST_PLACES, digits - 1 - math.floor(math.log10(size))))
    return places


def percentage(share: float) -> str:
    """A share in per cent with a digit after the point, without the sign; only exact shares are 0 and 100.

    >>> percentage(0.99996), percentage(0.0001), percentage(0.25), percentage(1.0)
    ('>99.9', '<0.1', '25.0', '100.0')
    """
    if NOISE < share < 0.0005:
        return "<0.1"
    return ">99.9" if 0.9995 <= share < 1 - NOISE else f"{100 * share:.1f}"


def significant(value: float, digits: int = 3) -> str:
    """A number with some significant digits, and more if it would otherwise be rounded to 1.

    >>> significant(0.99996), significant(0.12345), significant(1.0), significant(0.996, 2)
    ('0.99996', '0.123', '1', '0.996')
    """
    text = f"{value:.{digits}g}"
    while abs(float(text)) == 1 and abs(value) < 1 - NOISE:
        digits += 1
        text = f"{value:.{digits}g}"
    return text


def number(value: float, digits: int | None = None, *, undefined: str = UNDEFINED) -> str:
    """A value of a measure: small numbers with three significant digits, large numbers without decimal places.

    Other numbers have three decimal places, or ``digits`` decimal places.

    >>> number(0.25), number(-1234.5), number(float("inf")), number(float("nan")), number(2.5e15)
    ('0.250', '-1,234', '∞', '–', '2.5e+15')
    >>> number(0.003124), number(-0.0034), number(3.124e-5), number(3e-7), number(0.003124, 2), number(1e-17)
    ('0.00312', '-0.003', '0.000031', '<.000001', '<.01', '0.000')
    """
    if math.isnan(value):
        return undefined
    if math.isinf(value):
        return "∞" if value > 0 else "-∞"
    size = abs(value)
    places = decimals(value) if digits is None else digits
    return rounded(value, places) if size < 1000 else f"{value:,.0f}" if size < 1e15 else f"{value:.4g}"


def error_text(error: float) -> str:
    """A standard error, with the decimal places that it justifies if it is above 1.

    >>> error_text(0.0123), error_text(12.3456), error_text(434.778)
    ('0.012', '12.3', '435')
    """
    return number(error, decimals(error, error=error) if error > 1 else None)


def with_limits(value: float, low: float, high: float, error: float = math.nan) -> tuple[str, str, str]:
    """A value and its limits, each with the decimal places of :func:`decimals`.

    >>> with_limits(0.0003, 0.0001, 0.0006), with_limits(0.5, 0.4, 0.6), with_limits(0.00312, float("nan"), 1)
    (('0.00030', '0.00010', '0.00060'), ('0.500', '0.400', '0.600'), ('0.00312', '–', '1.000'))
    """
    has_error = not math.isnan(low + high + value) or not math.isnan(error)
    places = decimals(value, low, high, error) if has_error else None
    return number(value, places), number(low, places), number(high, places)


def exact(value: float, *, undefined: str = "undefined") -> str:
    """A value with six significant digits, as for the matrices of a witness.

    >>> exact(0.25), exact(1 / 3), exact(float("nan"))
    ('0.25', '0.333333', 'undefined')
    """
    return f"{value:.6g}" if math.isfinite(value) else number(value, undefined=undefined)


def limits(value: float, low: float, high: float) -> str:
    """A value with its limits in brackets, or the value alone if it has no limits.

    >>> limits(0.5, 0.4, 0.6), limits(0.5, float("nan"), 0.6), limits(0.0003, 0.0001, 0.0006)
    ('0.500 [0.400, 0.600]', '0.500', '0.00030 [0.00010, 0.00060]')
    """
    value_text, *ends = with_limits(value, low, high)
    return value_text + ("" if math.isnan(low) or math.isnan(high) else f" [{', '.join(ends)}]")


def between(low: float, high: float, value: float = math.nan) -> str:
    """The limits of an interval in a sentence, with the decimal places of the value.

    >>> between(0.4, 0.6), between(0.4, float("nan")), between(0.0001, 0.0006, 0.0003)
    ('0.400 to 0.600', 'no limits', '0.00010 to 0.00060')
    """
    if math.isnan(low) or math.isnan(high):
        return "no limits"
    middle = (low + high) / 2 if math.isnan(value) else value
    return " to ".join(with_limits(middle, low, high)[1:])


def percent(share: float) -> str:
    """A share as a percentage; shares above 0 and below 1 are not rounded to 0 % or 100 %."""
    if math.isnan(share):
        return "undefined"
    return f"{percentage(share)}\u00a0%".replace(".0\u00a0%", "\u00a0%")


def in_percent(level: float) -> str:
    """A confidence level in per cent, without rounding.

    >>> in_percent(0.95), in_percent(0.999)
    ('95 %', '99.9 %')
    """
    return f"{100 * level:.10g} %"


def amount(size: float) -> str:
    """A number of samples, or a sum of weights with six significant digits.

    >>> amount(1234), amount(333.3333333), amount(1234567.5)
    ('1,234', '333.333', '1,234,568')
    """
    if float(size).is_integer():
        return f"{size:,.0f}"
    decimals = max(0, 6 - len(str(int(abs(size)))))
    return f"{size:,.{decimals}f}".rstrip("0").rstrip(".") if decimals else f"{size:,.0f}"


def counted(size: float, what: str) -> str:
    """A number of things, with the plural of an English noun.

    >>> counted(1, "class"), counted(2, "class"), counted(0, "sample"), counted(1200, "matrix"), counted(2, "property")
    ('1 class', '2 classes', '0 samples', '1,200 matrices', '2 properties')
    """
    if size == 1:
        return f"1 {what}"
    for singular, plural in (("ss", "sses"), ("ix", "ices"), ("y", "ies"), ("", "s")):
        if what.endswith(singular):
            return f"{amount(size)} {what.removesuffix(singular)}{plural}"
    raise AssertionError(what)  # unreachable, as every text ends with an empty text


def listed(names: Iterable[str], most: int = 8) -> str:
    """Join names with commas and "and", or with semicolons if they contain commas; shorten long lists.

    >>> listed("abc"), listed("abcdef", 3), listed(["a, b", "c"])
    ('a, b and c', 'a, b, c and 3 more', 'a, b; and c')
    """
    short_names: Sequence[str] = [short(name) for name in names]
    if len(short_names) < 2:
        return "".join(short_names)
    shown, last = (
        (short_names[:most], f"{len(short_names) - most:,} more")
        if len(short_names) > most + 1
        else (short_names[:-1], short_names[-1])
    )
    if any(", " in name for name in short_names):
        return f"{'; '.join(shown)}; and {last}"
    return f"{', '.join(shown)} and {last}"


def joined(parts: Sequence[str]) -> str:
    """Join clauses with commas and "and"."""
    return parts[0] if len(parts) == 1 else f"{', '.join(parts[:-1])} and {parts[-1]}"


def capital(text: str) -> str:
    """A text with a capital letter at its start, for sentences."""
    return text[:1].upper() + text[1:]


def plain(text: str, keep: str = "") -> str:
    r"""Text from a file without unprintable characters, which could control the terminal.

    >>> plain("cat\x1b[2J")
    'cat?[2J'
    """
    return "".join(letter if letter.isprintable() or letter in keep else "?" for letter in text)


def short(name: str, longest: int = LONGEST_NAME) -> str:
    """A name of limited length, in a single line."""
    name = " ".join(name.split()) or repr(name)
    # Some characters would change the direction of the text, or end it.
    name = "".join(letter if letter.isprintable() else "\ufffd" for letter in name)
    return name if len(name) <= longest else f"{name[: longest - 20]}…{name[-19:]}"


def distinct(names: Iterable[str]) -> list[str]:
    """Short names that are different, with a number where two would be equal."""
    results: dict[str, None] = {}
    for name in names:
        name_text, number = short(name), 2
        while name_text in results:
            name_text, number = f"{short(name)} ({number})", number + 1
        results[name_text] = None
    return list(results)
