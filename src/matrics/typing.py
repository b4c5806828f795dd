"""Types for annotations: accepted arrays, and the library of the results.

For type checkers a function of a PyTorch tensor returns tensors and a function of a JAX array returns JAX arrays,
although neither library is imported here. Annotations are not evaluated at run time: functions check their arguments.

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
    """An array of any library: the common interface of NumPy, PyTorch, JAX and the array API standard."""

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
        """Export the elements to another library; series and data frames do not have this method."""


class Nested(Protocol):
    """A list or a tuple of numbers, or of lists or tuples; texts do not match, as their ``in`` accepts only texts.

    The type of the elements is Any, as mypy infers a list of objects for ``[[0.5, 1], [2, 3]]``.
    """

    def __len__(self) -> int:
        """The number of elements."""

    def __getitem__(self, index: int, /) -> Any:
        """The element at an index."""

    def __contains__(self, value: object, /) -> bool:
        """Whether a value is an element."""

    def index(self, value: Any, /) -> int:
        """The index of an element; a dict does not have this method."""


class ToNumPy(Protocol):
    """A data frame or a series of pandas or Polars."""

    def to_numpy(self, *args: Any, **kwargs: Any) -> Any:
        """The values as a NumPy array."""


#: An array of a library; results are arrays of the same library.
ArrayT = TypeVar("ArrayT", bound=Array)

#: An array of NumPy, of any shape and dtype.
NumPyArray: TypeAlias = np.ndarray[Any, Any]

#: Arrays of NumPy, and values that NumPy converts to arrays.
HostArray: TypeAlias = NumPyArray | Nested | ToNumPy

#: All values that functions accept as arrays.
ArrayLike: TypeAlias = HostArray | Array

#: A matrix of weights.
MatrixLike: TypeAlias = Nested | Array


class Table(Protocol):
    """The argument of a measure's function: a stack of confusion matrices, as counts by class.

    Classes are the first axis and the batch ``[*batch]`` of the stack is last, so that a formula reads as on paper and
    is the same for a single matrix and for a stack. Arrays belong to the library of the user. These names are stable; a
    table has other attributes, which may change.
    """

    xp: Any
    """The array library, with the functions of the array API standard: ``t.xp.max``, ``t.xp.where``, ``t.xp.exp``, …"""

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
        """False positives, ``[class, *batch]``: samples of other classes that are predicted as the class."""

    @property
    def fn(self) -> Any:
        """False negatives, ``[class, *batch]``: samples of the class that are predicted as another class."""

    @property
    def tn(self) -> Any:
        """True negatives, ``[class, *batch]``: all other samples."""

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
        """Samples that are predicted correctly, ``[*batch]``."""

    @property
    def errors(self) -> Any:
        """Samples that are predicted wrongly, ``[*batch]``."""

    @property
    def cells(self) -> Any:
        """The matrices themselves, with the classes along :attr:`true_axis` and :attr:`pred_axis`.

        A :class:`matrics.MarginState` has no cells, and raises an error.
        """

    def rowwise(self, x: Any) -> Any:
        """A view of ``[class, *batch]``, values of the true classes, that broadcasts against :attr:`cells`."""

    def columnwise(self, x: Any) -> Any:
        """A view of ``[class, *batch]``, values of the predicted classes, that broadcasts against :attr:`cells`."""

    def divide(self, a: Any, b: Any) -> Any:
        """The quotient ``a / b``; undefined (``zero_division``) where b is 0."""

    def ratio(self, a: Any, b: Any) -> Any:
        """The quotient ``a / b``; 0 where b is 0, for parts of a formula that :meth:`define` completes."""

    def define(self, value: Any, condition: Any) -> Any:
        """The value where the condition holds, and undefined elsewhere."""

    def undefined(self) -> Any:
        """An undefined value for every matrix, ``[*batch]``, for numbers of classes without a meaningful value."""

    def share(self, x: Any) -> Any:
        """The share ``x / total``, for x ``[*batch]`` or ``[class, *batch]``; 0 in an empty matrix."""

    def sum(self, x: Any, axis: int | tuple[int, ...]) -> Any:
        """The sum along some axes: ``axis=0`` adds up the classes of ``[class, *batch]``."""

    def sqrt(self, x: Any) -> Any:
        """The square root, with gradient 0 at 0 instead of infinity."""

    def log(self, x: Any) -> Any:
        """The natural logarithm; 0 where x is 0, with gradient 0."""
