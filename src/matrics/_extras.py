"""Errors for missing libraries that name the extra of the package to install."""

from collections.abc import Iterator
from contextlib import contextmanager


@contextmanager
def requires(library: str, extra: str) -> Iterator[None]:
    """A context manager that adds the name of the extra to the error of a missing library.

    Parameters
    ----------
    library : str
        The module that is imported in the block.
    extra : str
        The extra of the package that installs it.

    Raises
    ------
    ModuleNotFoundError
        The library is not installed. An error of any other module passes unchanged.
    """
    try:
        yield
    except ModuleNotFoundError as error:
        if error.name is None or error.name.partition(".")[0] != library:
            raise
        raise ModuleNotFoundError(
            f'{library} is not installed: python -m pip install "matrics[{extra}]"', name=library
        ) from error
