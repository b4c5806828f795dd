"""Types for annotations: what is accepted as an array, and the library of the results.

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

__all__ = ["Array", "ArrayLike", "ArrayT", "HostArray", "MatrixLike", "Nested", "NumPyArray", "Table", "ToNumPy"]


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


#: A library's own arrays; the results are of the same library.
ArrayT = TypeVar("ArrayT", bound=Array)

#: An array of NumPy, of any shape and dtype.
NumPyArray: TypeAlias = np.ndarray[Any, Any]

#: What NumPy computes with: its arrays, and what becomes one.
HostArray: TypeAlias = NumPyArray | Nested | ToNumPy

#: Everything that is accepted as an array.
ArrayLike: TypeAlias = HostArray | Array

#: A matrix of weights.
MatrixLike: TypeAlias = Nested | Array


class Table(Protocol):
    """The argument of a measure's function: a stack of confusion matrices, as counts by class.

    Classes come first and the batch ``[*batch]`` of the stack last, so that a formula reads as on paper and is the same
    for one matrix and for many. Arrays are of the user's library. These names stay; a table has more, which may change.
    """

    xp: Any
    """The array library, with what the array API standard has: ``t.xp.max``, ``t.xp.where``, ``t.xp.exp``, …"""

    n: int
    """The number of classes."""

    true_axis: int
    """The axis of the true classes in :attr:`cells`."""

    pred_axis: int
    """The axis of the predicted classes in :attr:`cells`."""

    @property
    def tp(self) -> Any:
        """True positives of each class, ``[class, *batch]``: samples of the class that are predicted as such."""

    @property
    def fp(self) -> Any:
        """False positives, ``[class, *batch]``: samples of other classes that are predicted as this one."""

    @property
    def fn(self) -> Any:
        """False negatives, ``[class, *batch]``: samples of the class that are predicted as another one."""

    @property
    def tn(self) -> Any:
        """True negatives, ``[class, *batch]``: all others."""

    @property
    def true(self) -> Any:
        """Samples of each true class, ``[class, *batch]``."""

    @property
    def pred(self) -> Any:
        """Samples predicted as each class, ``[class, *batch]``."""

    @property
    def not_true(self) -> Any:
        """Samples of all other true classes, ``[class, *batch]``."""

    @property
    def not_pred(self) -> Any:
        """Samples predicted as any other class, ``[class, *batch]``."""

    @property
    def total(self) -> Any:
        """All samples, ``[*batch]``."""

    @property
    def hits(self) -> Any:
        """Samples that are predicted right, ``[*batch]``."""

    @property
    def errors(self) -> Any:
        """Samples that are predicted wrong, ``[*batch]``."""

    @property
    def cells(self) -> Any:
        """The matrices themselves, with the classes along :attr:`true_axis` and :attr:`pred_axis`, wherever these are.

        A :class:`matrics.MarginState` has none, and says so.
        """

    def rowwise(self, x: Any) -> Any:
        """``[class, *batch]``, a value for each true class, so that it broadcasts against :attr:`cells`."""

    def columnwise(self, x: Any) -> Any:
        """``[class, *batch]``, a value for each predicted class, likewise."""

    def divide(self, a: Any, b: Any) -> Any:
        """``a / b``; undefined, which is what ``zero_division`` says, where b is 0."""

    def ratio(self, a: Any, b: Any) -> Any:
        """``a / b``; 0 where b is 0: for a part of a formula; :meth:`define` then says where it is defined."""

    def define(self, value: Any, condition: Any) -> Any:
        """``value`` where the condition holds, and undefined elsewhere."""

    def undefined(self) -> Any:
        """An undefined value for every matrix, ``[*batch]``: for a number of classes that makes no sense."""

    def share(self, x: Any) -> Any:
        """``x / total``, of ``[*batch]`` or ``[class, *batch]``; 0 in an empty matrix."""

    def sum(self, x: Any, axis: int | tuple[int, ...]) -> Any:
        """The sum along some axes: ``axis=0`` adds up the classes of ``[class, *batch]``."""

    def sqrt(self, x: Any) -> Any:
        """Square root, with gradient 0 at 0 instead of an infinite one."""

    def log(self, x: Any) -> Any:
        """Natural logarithm; 0 where x is 0, with gradient 0."""
