"""The error of a function that is given an argument which it does not take."""

from __future__ import annotations

__all__ = ["ArgumentError"]


class ArgumentError(ValueError):
    """An argument is not what a function expects.

    Callers with other names for the arguments, as the command line has, build their message from the parts.

    Parameters
    ----------
    argument : str
        The name of the parameter.
    text : str
        What was expected, what was given, and what to do; other parameters are followed by ``=``.
    file : str
        The file with the value, if it comes from one.

    Examples
    --------
    >>> print(ArgumentError("level", "expected a number between 0 and 1, got 2"))
    level: expected a number between 0 and 1, got 2
    >>> print(ArgumentError("labels", "expected all labels, got none for 'eel'", "pets.csv"))
    pets.csv: labels: expected all labels, got none for 'eel'
    """

    # There is no __init__, which compilers of PyTorch cannot trace.
    @property
    def argument(self) -> str:
        """The name of the parameter."""
        return str(self.args[0])

    @property
    def text(self) -> str:
        """What was expected, what was given, and what to do."""
        return str(self.args[1])

    @property
    def file(self) -> str:
        """The file with the value; empty if it comes from none."""
        return str(self.args[2]) if len(self.args) > 2 else ""

    def __str__(self) -> str:
        return ": ".join(filter(None, (self.file, self.argument, self.text)))
