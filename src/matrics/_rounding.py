"""How numbers are rounded wherever people read them."""

from __future__ import annotations

import math

__all__ = ["decimals", "percentage", "rounded", "significant"]

# What is nearer to 0 or to 1 than this differs from it by the rounding of sums.
NOISE = 1e-9


def rounded(value: float, digits: int = 3) -> str:
    """A number with ``digits`` decimal places; only 0 and 1, up to rounding errors of sums, are written as 0 and 1.

    Other numbers that would be rounded to 0 or 1 are written as an inequality of the same width, such as ``>.999``.
    Negative numbers near 0 are rounded to 0, because 0 is not an end of the range of their measures.

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


def decimals(value: float, error: float, at_least: int = 3) -> int:
    """How many decimal places a value with this standard error has: as many as the error justifies, and at least some.

    The last digit is the first of the error. A value above its error has at least two digits that are not leading 0s: a
    Brier score of 0.0031 with an error of 0.0002 has four places, a sensitivity of 0.656 with an error of 0.08 three.

    >>> decimals(0.0031, 0.0002), decimals(0.656, 0.08), decimals(0.0003, 0.0002), decimals(0.5, float("nan"), 2)
    (4, 3, 5, 2)
    """
    if not 0 < error < 1 or not math.isfinite(value):  # also NaN
        return at_least
    places = max(at_least, -math.floor(math.log10(error)))
    return max(places, 1 - math.floor(math.log10(abs(value)))) if abs(value) > error else places


def percentage(share: float) -> str:
    """A share in per cent with a digit after the point, without the sign; only none is 0, and only all are 100.

    >>> percentage(0.99996), percentage(0.0001), percentage(0.25), percentage(1.0)
    ('>99.9', '<0.1', '25.0', '100.0')
    """
    if NOISE < share < 0.0005:
        return "<0.1"
    return ">99.9" if 0.9995 <= share < 1 - NOISE else f"{100 * share:.1f}"


def significant(value: float, digits: int = 3) -> str:
    """A number with some digits in all, and more where these would be 1 and it is not.

    >>> significant(0.99996), significant(0.12345), significant(1.0), significant(0.996, 2)
    ('0.99996', '0.123', '1', '0.996')
    """
    text = f"{value:.{digits}g}"
    while abs(float(text)) == 1 and abs(value) < 1 - NOISE:
        digits += 1
        text = f"{value:.{digits}g}"
    return text
