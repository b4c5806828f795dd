"""The option ``--prevalence``: the shares of the classes where results are meant for, and how titles say them."""

from __future__ import annotations

from typing import TYPE_CHECKING, Annotated, NamedTuple

import typer

from matrics._errors import ArgumentError
from matrics._quoting import quoted

if TYPE_CHECKING:
    from matrics._catalogue.classes import Classes

Prevalence = Annotated[
    str | None,
    typer.Option(
        metavar="NUMBER[,NUMBER]",
        help="The share of the positive class where results are meant for, such as 0.02; or those of all classes, in "
        "their order.",
        show_default="that of the samples",
    ),
]


class Target(NamedTuple):
    """The share of each class, and the classes in words."""

    shares: list[float]
    words: str

    @classmethod
    def read(cls, text: str | None, classes: Classes) -> Target | None:
        """Read the option."""
        if text is None:
            return None
        import numpy as np

        from matrics._arrays import NUMPY
        from matrics._stacks.prevalence import read_prevalence
        from matrics._uncertainty.arguments import second_class

        try:
            numbers = [float(part) for part in text.split(",")]
        except ValueError as error:
            raise ArgumentError(
                "prevalence", f"expected a number, or several with commas, got {quoted(text)}"
            ) from error
        given = numbers[0] if len(numbers) == 1 else numbers
        shares = read_prevalence(given, np.zeros((classes.number,) * 2), NUMPY, second_class(classes))
        names = [classes.name(k) for k in range(classes.number)]
        if len(numbers) == 1:
            of_one = second_class(classes) or 0
            return cls(shares.tolist(), f"{numbers[0]:.10g} of {names[of_one]}")
        return cls(shares.tolist(), ", ".join(f"{x:.10g} of {name}" for x, name in zip(numbers, names, strict=True)))

    @property
    def title(self) -> str:
        """What a title says."""
        return f"at the prevalence {self.words}"


def refuse(text: str | None, beside: str) -> None:
    """Raise if the option is given where it has no meaning."""
    if text is not None:
        raise ArgumentError("prevalence", f"expected no such option {beside}, got {quoted(text)}")
