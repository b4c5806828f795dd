"""States as arrays by name, as frameworks store them, and states that consist of several states."""

from __future__ import annotations

import importlib
from collections.abc import Callable, Sequence
from typing import Any, Self

import numpy as np

from matrics._arrays import NUMPY, Array, Standard, as_arrays, is_compiling
from matrics._states.leaves import Additive
from matrics._states.windows import SETTINGS

Arrays = dict[str, Array]


class States(Additive):
    """Several states that were counted from the same batches; None where no measure needs a state."""

    __slots__ = ()

    def _plus(self, other: Self) -> Self:
        if [x is None for x in self] != [x is None for x in other]:
            raise ValueError("expected states of the same kinds of measures, got states of other kinds")
        make: Callable[..., Self] = type(self)
        return make(*(None if x is None else x + y for x, y in zip(self, other, strict=True)))


class StoredState:
    """The arrays of a state under names with a prefix; arrays without elements are not stored."""

    def __init__(self, state: Any, library: str, *, prefix: str = "", unneeded: Sequence[str] = ()) -> None:
        self._type, self._library, backend = type(state), library, backend_of(library)
        leaves = {name: x for name, x in state._asdict().items() if name != "states"}
        absent = {name: x for name, x in leaves.items() if 0 in x.shape or name in unneeded}
        self._names = {name: prefix + name for name in leaves if name not in absent}
        self._first = next(iter(self._names.values()))
        self._absent = {name: (tuple(x.shape), x.dtype) for name, x in absent.items()}
        # Tensors on the host are made only once, as an update takes microseconds.
        self._absent_tensors = {n: x for n, x in absent.items() if not x.numel()} if library == "torch" else {}
        self._absent_on_host = {name: np.zeros(x.shape, backend.to_numpy(x).dtype) for name, x in absent.items()}

    def parts(self, state: Any) -> tuple[Arrays, Arrays]:
        """The arrays of a state that add up, and the settings."""
        sums, settings = ({}, {})  # type: tuple[Arrays, Arrays]
        for name, stored in self._names.items():
            (settings if name in SETTINGS else sums)[stored] = getattr(state, name)
        return sums, settings

    def state(self, arrays: Arrays) -> Any:
        """The state in the memory of the arrays, which may be NumPy arrays."""
        first = arrays[self._first]
        backend = library_of(first, backend_of(self._library))
        xp = backend.xp
        if backend is NUMPY:
            absent: Arrays = self._absent_on_host
        else:
            place = backend.device_option(first)
            known = self._absent_tensors if self._is_plain_tensor(first) else {}
            absent = {
                name: known[name] if name in known else xp.zeros(shape, dtype=dtype, **place)
                for name, (shape, dtype) in self._absent.items()
            }
        names, fields = self._names, self._type._fields
        leaves = {name: arrays[names[name]] if name in names else absent[name] for name in fields if name != "states"}
        return self._type(**leaves | ({"states": xp.ones_like(leaves["dropped"])} if "states" in fields else {}))

    def _is_plain_tensor(self, x: Any) -> bool:
        """Whether cached tensors can be used with this tensor: it is on the CPU, and neither traced nor fake."""
        example = next(iter(self._absent_tensors.values()), None)
        return example is not None and type(x) is type(example) and x.device.type == "cpu" and not is_compiling()


class StoredStates:
    """The arrays of several states; the name of an array begins with the name of the state."""

    def __init__(self, states: Any, library: str) -> None:
        self._type = type(states)
        self._stored = {
            name: None if state is None else StoredState(state, library, prefix=f"{name}_")
            for name, state in states._asdict().items()
        }

    def parts(self, states: Any) -> tuple[Arrays, Arrays]:
        """The arrays of the states that add up, and their settings."""
        sums, settings = ({}, {})  # type: tuple[Arrays, Arrays]
        for stored, state in zip(self._stored.values(), states, strict=True):
            if stored is not None:
                more = stored.parts(state)
                sums |= more[0]
                settings |= more[1]
        return sums, settings

    def state(self, arrays: Arrays) -> Any:
        """The states in the memory of the arrays."""
        return self._type(*(None if stored is None else stored.state(arrays) for stored in self._stored.values()))


def library_of(array: Array, backend: Standard) -> Standard:
    """NumPy for NumPy arrays and numbers, otherwise ``backend``."""
    return NUMPY if isinstance(array, (np.ndarray, np.generic)) else backend


_BACKENDS: dict[str, Standard] = {}


def backend_of(library: str) -> Standard:
    """The library with this name, from a cache that compiled code can read."""
    if library not in _BACKENDS:
        module = importlib.import_module({"torch": "torch", "jax": "jax.numpy"}[library])
        _BACKENDS[library] = as_arrays(like=module.zeros(()))[0]
    return _BACKENDS[library]
