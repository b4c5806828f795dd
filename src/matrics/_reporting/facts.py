"""What a page says at its top: the file, its date, the models, samples and classes, and the positive class."""

from __future__ import annotations

from matrics._reporting.data import Data
from matrics._wording import amount, short

__all__ = ["facts"]


def facts(data: Data) -> dict[str, str]:
    """The facts by their names, in the order of the page."""
    sizes = data.predictions
    if data.paired is not None:
        samples = amount(data.paired.number) + (", the same for all models" * (len(data.models) > 1))
    else:
        ends = [amount(float(end)) for end in (sizes.min(), sizes.max())]
        several = " of each model" if len(data.models) > 1 else ""
        samples = ends[0] + several if ends[0] == ends[1] else f"{ends[0]} to {ends[1]}{several}"
    found = {
        "Data": short(data.origin.name),
        "Date": data.origin.date.partition(" ")[0],
        "Models": amount(len(data.models)),
        "Samples": samples,
        "Classes": amount(len(data.classes)),
        "Positive class": _positive(data),
        "Threshold": "" if data.threshold is None else f"{data.threshold:g}, as no predicted labels were given",
    }
    return {name: value for name, value in found.items() if value}


def _positive(data: Data) -> str:
    """Its name; of two classes also that there is none, as measures of a class are then averaged over both."""
    if data.known.positive is not None:
        return short(data.classes[data.known.positive])
    return "none: averages are over both classes" if len(data.classes) == 2 else ""
