"""The error for an argument that a function does not accept."""

from __future__ import annotations

__all__ = ["ArgumentError"]


class ArgumentError(ValueError):
    """An argument has a value that a function does not accept.

    Callers with other names for the arguments, such as the command line, build their message from the parts.

    Parameters
    ----------
    argument : str
        The name of the parameter.
    text : str
        What was expected, what was given, and what to do; other parameters are followed by ``=``.
    file : str
        The file with the value, if any.

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
        """The file with the value, or an empty text."""
        return str(self.args[2]) if len(self.args) > 2 else ""

    def __str__(self) -> str:
        return ": ".join(filter(None, (self.file, self.argument, self.text)))
