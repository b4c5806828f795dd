"""The version of this library, and errors for missing libraries that contain the command for their installation."""

from collections.abc import Iterator
from contextlib import contextmanager

__version__ = "0.1.0"  # a constant, as sources on PYTHONPATH have no package metadata


@contextmanager
def requires(purpose: str, *libraries: str, extra: str) -> Iterator[None]:
    """A context manager that adds the command for installation to the error of a missing library.

    Parameters
    ----------
    purpose : str
        What needs the libraries, with the verb: ``"matrics.torch needs"``.
    *libraries : str
        The modules that are imported in the block.
    extra : str
        The extra of the package that installs them.

    Raises
    ------
    ModuleNotFoundError
        A library is not installed. An error of any other module passes unchanged.
    """
    try:
        yield
    except ModuleNotFoundError as error:
        name = (error.name or "").partition(".")[0]
        if name not in libraries:
            raise
        raise ModuleNotFoundError(f'{purpose} {name}: python -m pip install "matrics[{extra}]"', name=name) from error
