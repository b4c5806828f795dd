"""Types for annotations: what is accepted as an array, and of which library results are.

Type checkers see that a tensor of PyTorch gives tensors and an array of JAX arrays of JAX, although neither library is
imported here. When the code runs, no annotation is looked at: values are checked where they enter.

>>> import numpy as np
>>> from matrics.typing import Array
>>> isinstance(np.eye(2), Array)
True
"""

from __future__ import annotations

from typing import Any, Protocol, TypeAlias, TypeVar, runtime_checkable

import numpy as np

__all__ = ["Array", "ArrayLike", "ArrayT", "HostArray", "MatrixLike", "Nested", "NumPyArray", "ToNumPy"]


@runtime_checkable
class Array(Protocol):
    """An array of any library: what arrays of NumPy, PyTorch, JAX and the array API standard have in common."""

    @property
    def shape(self) -> tuple[int, ...]:
        """The length of every axis."""

    @property
    def ndim(self) -> int:
        """The number of axes."""

    @property
    def dtype(self) -> Any:
        """The type of the elements, an object of the library."""

    def __dlpack__(self, *args: Any, **kwargs: Any) -> Any:
        """Hand the elements to another library; series and data frames, which become NumPy arrays, have no such way."""


class Nested(Protocol):
    """A list or a tuple, of numbers or of more of them; a text, whose ``in`` takes nothing but texts, is neither.

    What is in it is left open, as mypy takes ``[[0.5, 1], [2, 3]]`` for a list of objects.
    """

    def __len__(self) -> int:
        """The number of elements."""

    def __getitem__(self, index: int, /) -> Any:
        """One element."""

    def __contains__(self, value: object, /) -> bool:
        """Whether this is an element."""

    def index(self, value: Any, /) -> int:
        """Where this element is; a dict has no such method."""


class ToNumPy(Protocol):
    """A data frame or a series of pandas or Polars."""

    def to_numpy(self, *args: Any, **kwargs: Any) -> Any:
        """Make a NumPy array of it."""


#: A library's own arrays, of which the results are as well.
ArrayT = TypeVar("ArrayT", bound=Array)

#: An array of NumPy, of any shape and dtype.
NumPyArray: TypeAlias = np.ndarray[Any, Any]

#: What NumPy computes with: its arrays, and what becomes one.
HostArray: TypeAlias = NumPyArray | Nested | ToNumPy

#: Everything that is accepted as an array.
ArrayLike: TypeAlias = HostArray | Array

#: A matrix of weights.
MatrixLike: TypeAlias = Nested | Array
