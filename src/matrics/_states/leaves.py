"""The arrays of a running state: exact counts, and their sums, which all states have in common."""

from __future__ import annotations

import math
from abc import abstractmethod
from collections.abc import Callable, Iterable, Mapping, Sequence
from typing import Any, NamedTuple, NoReturn, Self

import numpy as np

from matrics._arrays import Array, Standard, as_arrays
from matrics._arrays.sizes import check_state_size
from matrics._counting.codes import check_classes_of_state
from matrics._counting.count import count_labels
from matrics._counting.labels import label_dtype
from matrics._engine.evaluation import Invalid
from matrics._engine.results import short_repr
from matrics._quoting import quoted
from matrics._states import stored, windows
from matrics._states.two_words import MOST_DROPPED, WORD, TwoWords, two_sum
from matrics.typing import ArrayLike


class Additive(tuple[Any, ...]):
    """Named tuples of arrays that can be added.

    A state is a subclass of this and of its named tuple, so that JAX and PyTorch treat it as a tuple.
    """

    __slots__ = ()

    def __repr__(self) -> str:
        return short_repr(self)

    def __add__(self, other: Any) -> Self:
        """The sum of both states: the counts of all data of either state."""
        if not isinstance(other, type(self)):
            raise TypeError(f"expected a {type(self).__name__} to add, got {type(other).__name__}")
        return self._plus(other)

    def __radd__(self, other: Any) -> Self:
        """Accept 0, with which ``sum`` begins."""
        return self if isinstance(other, int) and other == 0 else self + other

    def __mul__(self, other: Any) -> NoReturn:
        """Raise an error: multiplying a tuple would repeat it."""
        raise TypeError(f"a {type(self).__name__} cannot be multiplied: states only add up")

    __rmul__ = __mul__

    @abstractmethod
    def _plus(self, other: Self) -> Self:
        """The sum with a state of the same class."""


class RunningState(Additive):
    """The common part of all running states: they count batches, also into windows, and may decay."""

    __slots__ = ()

    @abstractmethod
    def update(self, *batch: Any, **options: Any) -> Self:
        """The state with the counts of a batch."""

    @property
    @abstractmethod
    def _number_of_names(self) -> int:
        """The number of names in ``class_names``: of classes, or of labels."""

    @property
    def _batch(self) -> tuple[int, ...]:
        """The lengths of the axes of the batch."""
        state: Any = self
        return tuple(state.dropped.shape)

    def _over_devices(self, axis_name: Any, *batch: Any, **options: Any) -> Self:
        """The state with the counts of a batch on all devices of an axis."""
        new = windows.emptied(self).update(*batch, **options)
        backend, _ = as_arrays(counts=new[0])
        total: Self = backend.sum_over_devices(new, axis_name)
        return self + total

    def push(self, *batch: Any, **options: Any) -> Self:
        """Count a batch into a window of the last k batches, and drop the oldest batch.

        The window is a state made with ``batch_shape=(k,)``, or ``(k, *B)`` for several matrices: its first axis is the
        time, with the newest batch at the end. Like ``update``, this returns a new state of the same shape, for
        ``jax.jit``, ``lax.scan`` and ``torch.compile``. It copies the k matrices.

        Parameters
        ----------
        *batch : array_like
            The arrays that ``update`` takes, such as ``y_true`` and ``y_pred``, for a state without that first axis.
        **options : dict
            The options that ``update`` takes, such as ``sample_weight``.

        Raises
        ------
        ValueError
            The state has no first axis of at least 1.

        Examples
        --------
        >>> import matrics
        >>> window = matrics.ConfusionState.zeros(2, batch_shape=(2,))
        >>> for y_true, y_pred in [([0, 1], [1, 0]), ([0, 1], [0, 0]), ([1, 1], [1, 1])]:
        ...     window = window.push(y_true, y_pred)
        >>> window.total().score("accuracy")["accuracy"]  # the last two batches
        np.float64(0.75)
        """
        newest = self._blank("push").update(*batch, **options)
        return windows.shifted(self, newest)

    def total(self) -> Self:
        """The sum over the first axis of the batch: of a window, the counts of its k batches together.

        Raises
        ------
        ValueError
            The state has no first axis of at least 1.

        Examples
        --------
        >>> import matrics
        >>> folds = matrics.ConfusionState.zeros(2, batch_shape=(3,))
        >>> folds = folds.update([[0, 1], [1, 1], [0, 0]], [[0, 1], [1, 0], [0, 1]])
        >>> folds.total().matrix
        array([[2, 1],
               [1, 2]])
        """
        blank = self._blank("total")
        for part in windows.sums(self, self._batch[0]):
            blank += part
        return blank

    def decayed(self, decay: float) -> Self:
        """The state with its counts times a number: before each update, it makes an exponential moving sum.

        A batch that was counted t updates ago then has the weight ``decay**t``, as if about the last 1 / (1 - decay)
        batches were kept. Measures do not depend on the scale. Dropped samples are counted as before, each as 1.

        Parameters
        ----------
        decay : float
            Above 0 and at most 1.

        Raises
        ------
        TypeError
            The state has integer counts.
        ValueError
            ``decay`` is not in its range.

        Examples
        --------
        >>> import numpy as np, matrics
        >>> state = matrics.ConfusionState.zeros(2, dtype=np.float64)
        >>> for y_true, y_pred in [([0, 1], [1, 0]), ([0, 1], [0, 1])]:
        ...     state = state.decayed(0.5).update(y_true, y_pred)
        >>> state.matrix
        array([[1. , 0.5],
               [0.5, 1. ]])
        """
        return windows.decayed(self, windows.checked_decay(decay))

    def to_bytes(self, *, class_names: Sequence[str] | None = None) -> bytes:
        """The state as bytes, for a file, a cache or a message to another process.

        They are an archive of NumPy's arrays (``.npz``), without pickle. :meth:`from_bytes` reads them with any array
        library, whatever the library of this state.

        Parameters
        ----------
        class_names : sequence of str, optional
            Names of the classes, in their order, or of the labels of a ``MultilabelState``. They are stored, and
            :meth:`from_bytes` compares them with those of the reader.

        Returns
        -------
        bytes
            The arrays, the kind of the state, the version of the layout and the class names.

        Raises
        ------
        TypeError
            The state is traced, as inside ``jax.jit``, or a name is no string.
        ValueError
            The names are not different, or not as many as the classes.

        Examples
        --------
        >>> import matrics
        >>> state = matrics.ConfusionState.zeros(2).update([0, 1, 1], [0, 1, 0])
        >>> data = state.to_bytes(class_names=["ok", "fraud"])
        >>> matrics.ConfusionState.from_bytes(data, class_names=["ok", "fraud"]).matrix
        array([[1, 0],
               [1, 1]])
        """
        return stored.to_bytes(self, class_names, self._number_of_names)

    @classmethod
    def from_bytes(
        cls, buffer: bytes, *, class_names: Sequence[str] | None = None, like: ArrayLike | None = None
    ) -> Self:
        """The state that :meth:`to_bytes` has written.

        Parameters
        ----------
        buffer : bytes
            The result of :meth:`to_bytes` of a state of the same class.
        class_names : sequence of str, optional
            Names of the classes, in their order. They are required for a state with names, and must be left out for a
            state without names. Other names or another order raise an error, so that only states of the same classes
            are added up. :meth:`class_names_in` returns the names of a state.
        like : array, optional
            An array of the library and on the device of the state; NumPy if left out.

        Returns
        -------
        ConfusionState, MarginState, ScoreState or MultilabelState
            A state of the class whose method this is.

        Raises
        ------
        TypeError
            ``buffer`` has no bytes, an array has a dtype that a state does not have, or counts are in float64 and the
            library has no 64-bit numbers.
        ValueError
            The bytes are damaged, or of a state of another class, of another version of the layout or of other class
            names, or the state is larger than the limit of memory.

        Examples
        --------
        Add up the states of two workers:

        >>> import matrics
        >>> empty = matrics.ConfusionState.zeros(2)
        >>> messages = [empty.update([0, 1], [0, 1]).to_bytes(), empty.update([1], [0]).to_bytes()]
        >>> sum(map(matrics.ConfusionState.from_bytes, messages)).matrix
        array([[1, 0],
               [1, 1]])

        A state whose classes have another order is refused:

        >>> data = empty.to_bytes(class_names=["ok", "fraud"])
        >>> matrics.ConfusionState.from_bytes(data, class_names=["fraud", "ok"])
        Traceback (most recent call last):
            ...
        ValueError: class_names: expected the classes of the state in their order, 'ok', 'fraud', got 'fraud', 'ok'
        """
        state: Self = stored.from_bytes(cls, buffer, class_names, like)
        return state

    @classmethod
    def class_names_in(cls, buffer: bytes) -> tuple[str, ...] | None:
        """The class names that are stored in the bytes of a state.

        Parameters
        ----------
        buffer : bytes
            The result of :meth:`to_bytes` of a state of the same class.

        Returns
        -------
        tuple of str, or None
            The names in their order; None if the state was stored without names.

        Raises
        ------
        TypeError, ValueError
            As in :meth:`from_bytes`, for bytes that are not those of such a state.

        Examples
        --------
        >>> import matrics
        >>> data = matrics.ConfusionState.zeros(2).to_bytes(class_names=["ok", "fraud"])
        >>> matrics.ConfusionState.class_names_in(data)
        ('ok', 'fraud')
        """
        return stored.class_names_in(cls, buffer)

    def _blank(self, method: str) -> Self:
        """An entry of the first axis of the batch, without counts; without such an axis an error is raised."""
        if not self._batch or not self._batch[0]:
            raise ValueError(
                f"{method}: expected a window, a {type(self).__name__}.zeros(..., batch_shape=(k,)) with k of at least "
                f"1, got a state of batch_shape {self._batch}"
            )
        return windows.blank(self)


class CountLeaves(NamedTuple):
    """The arrays of a state: counts (*B, ...), dropped (*B,), and the digits that a single word per count cannot hold.

    That is the high words of integers, what rounding has lost of sums in float32, or an empty array.
    """

    counts: Array
    dropped: Array
    carried: Array


def zeros(
    batch: tuple[int, ...],
    shape: tuple[int, ...],
    like: ArrayLike | None,
    dtype: Any,
    *,
    sizes: Mapping[str, Any],
    allow_large: bool,
    advice: str = "",
    compensated: bool = False,
) -> CountLeaves:
    """Counts of this shape for each entry of a batch, all 0; integers unless a floating dtype is given.

    ``sizes`` are the arguments that make them large, for messages. ``compensated`` sums in float32 keep what rounding
    loses.
    """
    backend, (like,) = as_arrays(like=np.zeros(()) if like is None else like)
    xp = backend.xp
    if dtype is not None and dtype not in (xp.float32, xp.float64):
        raise TypeError(
            f"dtype: expected None for integer counts, float32 or float64 for weighted counts, got {dtype!r}"
        )
    integer = label_dtype(like, backend)
    is_compensated = compensated and dtype == xp.float32
    is_double = is_compensated or (dtype is None and backend.widest_int(like) is None)
    place = backend.device_option(like)
    size = (4 if dtype == xp.float32 and not is_compensated else 8) * math.prod(batch) * math.prod(shape)
    check_state_size(size, {**sizes, "batch_shape": batch or None}, allow_large=allow_large, advice=advice)
    leaves = (
        xp.zeros((*batch, *shape), dtype=integer if dtype is None else dtype, **place),
        xp.zeros(batch, dtype=integer, **place),
        xp.zeros(
            (*batch, *shape) if is_double else (*batch, *shape[:-2], 0, 0),
            dtype=dtype if is_compensated else integer,
            **place,
        ),
    )
    return CountLeaves(*[backend.varying_as(leaf, like) for leaf in leaves])


def check_batch(batch_shape: Iterable[int]) -> tuple[int, ...]:
    """The lengths of the axes of a batch, or ValueError."""
    batch = (batch_shape,) if isinstance(batch_shape, int) else tuple(batch_shape)
    if any(isinstance(size, bool) or not isinstance(size, (int, np.integer)) or size < 0 for size in batch):
        raise ValueError(f"batch_shape: expected lengths of axes, got {quoted(batch_shape)}")
    return tuple(int(size) for size in batch)


def has_words(state: Any) -> bool:
    """Whether the counts are integers in two words."""
    return bool(state.carried.shape[-1] > 0) and not has_remainders(state)


def has_remainders(state: Any) -> bool:
    """Whether the counts are sums in float32 with their rounding errors."""
    if not state.carried.shape[-1]:  # the case of most states, whose updates stay fast
        return False
    backend, (carried,) = as_arrays(carried=state.carried)
    return backend.is_float(carried)


def refuse_unexpected_weights(state: Any, counts: Array, sample_weight: Any) -> None:
    """Raise an error for weights if the counts of a state are integers."""
    if sample_weight is None:
        return
    backend, (counts,) = as_arrays(counts=counts)
    if not backend.is_float(counts):
        raise TypeError(
            "sample_weight: expected None, as this state has integer counts; make it with "
            f"{type(state).__name__}.zeros(..., dtype=), float32 or float64, for weighted counts"
        )


def counted(state: Any, y_true: Any, y_pred: Any, *, labels: Any, sample_weight: Any, **options: Any) -> CountLeaves:
    """The arrays of the state with the counts of a batch of labels added; other options are of ``count_labels``."""
    refuse_unexpected_weights(state, state.counts, sample_weight)
    n = state.counts.shape[-1]
    classes = check_classes_of_state(n, labels)
    number = n if labels is None else None
    options |= {"num_classes": number, "labels": classes.labels, "sample_weight": sample_weight, "state": state.counts}
    batch_counts = count_labels(y_true, y_pred, **options)
    return add(state, batch_counts.matrix, batch_counts.dropped, None, batch_counts.backend)


def add(state: Any, counts: Array, dropped: Array | int, carried: Array | None, backend: Standard) -> CountLeaves:
    """The arrays of the state with these counts added."""
    xp = backend.xp
    if counts.dtype != state.counts.dtype:
        counts = xp.astype(counts, state.counts.dtype)
    dropped = state.dropped if isinstance(dropped, int) else add_dropped(state.dropped, dropped, backend)
    if has_remainders(state):
        total, lost = two_sum(state.counts, counts, backend)
        return CountLeaves(total, dropped, state.carried + (lost if carried is None else lost + carried))
    counts = state.counts + counts
    refuse_narrow(state, counts, backend)
    if not has_words(state):
        return CountLeaves(counts, dropped, state.carried)
    whole = TwoWords(counts, state.carried if carried is None else state.carried + carried)
    return CountLeaves(whole.low, dropped, whole.high)


def refuse_narrow(state: Any, counts: Array, backend: Standard) -> None:
    """Raise an error for integer counts in a single word where there are no 64-bit integers."""
    is_narrow = backend.widest_int(counts) is None and backend.is_integer(counts) and 0 not in counts.shape
    if is_narrow and not has_words(state):
        raise TypeError(
            "this state was made for 64-bit integers, which JAX does not have without jax_enable_x64: make it with "
            f"{type(state).__name__}.zeros(..., like=) of a JAX array"
        )


def add_dropped(dropped: Array, more: Array, backend: Standard) -> Array:
    """The sum of two numbers of samples in a single word; in 32 bits it saturates before it would wrap."""
    if backend.widest_int(dropped) is not None:
        return dropped + more
    xp, most = backend.xp, MOST_DROPPED
    return xp.clip(xp.clip(dropped, None, most) + xp.clip(more, None, most), None, most)


def merge(state: Any, other: Any) -> CountLeaves:
    """The arrays of the sum of two states of the same class."""
    backend, (state_counts, other_counts) = as_arrays(state=state.counts, other=other.counts)
    if tuple(state_counts.shape) != tuple(other_counts.shape):
        raise ValueError(
            f"expected states of the same classes and batch, got counts {tuple(state_counts.shape)} and "
            f"{tuple(other_counts.shape)}"
        )
    if backend.is_float(state_counts) != backend.is_float(other_counts) or has_words(state) != has_words(other):
        raise TypeError(
            f"expected states of the same kind of counts, got {state_counts.dtype} and {other_counts.dtype}"
        )
    if has_remainders(other) and not has_remainders(state):
        xp, wide = backend.xp, state_counts.dtype
        return add(state, xp.astype(other_counts, wide) + xp.astype(other.carried, wide), other.dropped, None, backend)
    carried = other.carried if has_words(other) or has_remainders(other) else None
    return add(state, other_counts, other.dropped, carried, backend)


def exact(state: Any) -> Array:
    """The counts in a single array; of two words 64-bit integers of NumPy, or float32 under ``jit``.

    It is a copy where arrays can be written to: a state never changes.
    """
    backend, (counts, carried) = as_arrays(counts=state.counts, carried=state.carried)
    if has_remainders(state):
        return counts + carried
    if not has_words(state):
        return backend.copied(counts)
    if backend.can_look(counts):
        return (backend.to_numpy(carried).astype(np.int64) << WORD) + backend.to_numpy(counts)
    return TwoWords(counts, carried).to_float(backend)


def to_score(state: Any) -> tuple[Standard, Array]:
    """The library of the state, and its counts in a single array: of two words as ``exact`` returns them."""
    own, (counts, carried) = as_arrays(counts=state.counts, carried=state.carried)
    if not has_words(state):
        return own, counts + carried if has_remainders(state) else state.counts
    return own, exact(state) if own.host_view(counts) is not None else TwoWords(counts, carried).to_float(own)


def scored(
    state: Any, own: Standard, matrix: Array, function: Callable[..., dict[str, Array]], *, invalid: Invalid
) -> dict[str, Array]:
    """The results of a function of the matrices of a state, in the library of the state."""
    if has_words(state) and invalid == "warn":  # as everywhere on JAX
        invalid = "nan"
    scores = function(matrix, invalid=invalid)
    return {name: own.from_host(value) for name, value in scores.items()} if isinstance(matrix, np.ndarray) else scores
