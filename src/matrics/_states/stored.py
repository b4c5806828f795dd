"""States as bytes: an archive of NumPy's arrays (``.npz``), the same for every library, with the names of the classes.

The arrays are those of the state in NumPy. Default JAX has no numbers of 64 bits: its two words become a single number,
and are split again when a state is read for JAX.
"""

from __future__ import annotations

import io
import math
import struct
import sys
import tokenize
import zipfile
import zlib
from collections.abc import Sequence
from typing import Any

import numpy as np

from matrics._arrays import Array, Standard, as_arrays
from matrics._catalogue.naming import check_names
from matrics._memory_limits import ARRAY
from matrics._quoting import quoted, quoted_list
from matrics._states.two_words import MOST_DROPPED, WORD

#: The version of the layout. It rises with each change after which older versions would read other numbers.
LAYOUT = 1

# Two arrays for the same numbers: high words of integers, and the rounding errors of sums in float32.
WORDS = {"counts": "carried", "bins": "bins_carried"}
SUMS = {"calibration": "calibration_remainders", "sums": "remainders"}
SINGLE_WORD = ("dropped", "rounded")
HEADERS = {(1, 0): np.lib.format.read_array_header_1_0, (2, 0): np.lib.format.read_array_header_2_0}
FAULTS = (ValueError, TypeError, KeyError, EOFError, SyntaxError, tokenize.TokenError, struct.error, RuntimeError)


def to_bytes(state: Any, class_names: Sequence[str] | None, number: int) -> bytes:
    """The archive of a state with this number of classes."""
    names = check_names(class_names, number)
    contents: dict[str, Any] = {"kind": np.asarray(type(state).__name__), "layout": np.asarray(LAYOUT)}
    if names is not None:
        contents["class_names"] = np.asarray(list(names), dtype=np.str_)
    file = io.BytesIO()
    np.savez_compressed(file, **contents, **_flat(state))
    return file.getvalue()


def from_bytes(template: type, buffer: Any, class_names: Sequence[str] | None, like: Any) -> Any:
    """The state of an archive, in the library of ``like``."""
    if not isinstance(buffer, (bytes, bytearray, memoryview)):
        raise TypeError(f"buffer: expected the bytes of {template.__name__}.to_bytes(), got {quoted(buffer)}")
    arrays = _read(template, bytes(buffer))
    kind, layout = str(arrays.pop("kind", "")), arrays.pop("layout", None)
    if kind != template.__name__:
        raise ValueError(f"buffer: expected the bytes of a {template.__name__}, got those of a {quoted(kind)}")
    if layout is None or layout.shape or layout.dtype.kind != "i" or int(layout) != LAYOUT:
        version = None if layout is None else layout.tolist()
        raise ValueError(f"buffer: expected a state of the layout {LAYOUT}, which this version reads, got {version}")
    names = arrays.pop("class_names", None)
    backend, (like,) = as_arrays(like=np.zeros(()) if like is None else like)
    state = _built(template, arrays, backend, like)
    _compare(None if names is None else _checked(names, state), class_names)
    return state


def class_names_in(template: type, buffer: Any) -> tuple[str, ...] | None:
    """The class names in an archive; None if it has none."""
    state = from_bytes(template, buffer, ANY, None)
    names = _read(template, bytes(buffer)).get("class_names")
    return None if names is None else _checked(names, state)


#: A value in place of class names: the names of the state are not compared.
ANY: Any = object()


def _checked(names: Array, state: Any) -> tuple[str, ...]:
    """The class names in an archive, after a check of their types and their number."""
    kind = type(state).__name__
    if names.dtype.kind != "U" or names.ndim != 1:
        raise ValueError(f"buffer: expected the bytes of {kind}.to_bytes(), got class names that are not strings")
    if len(names) != state._number_of_names:  # before a list of them takes memory
        raise ValueError(
            f"buffer: expected the bytes of {kind}.to_bytes(), got {len(names):,} class names of "
            f"{state._number_of_names:,} classes"
        )
    try:
        return check_names(names.tolist(), state._number_of_names) or ()
    except ValueError as error:
        raise ValueError(f"buffer: expected the bytes of {kind}.to_bytes(), got invalid class names: {error}") from None


def _compare(names: tuple[str, ...] | None, class_names: Sequence[str] | None) -> None:
    """Raise unless the class names of the reader and of the state are equal, or both are None."""
    if class_names is ANY or (names is None and class_names is None):
        return
    if names is None:
        raise ValueError("class_names: expected None, as the state was stored without names, or store it with them")
    if class_names is None:
        raise ValueError(
            f"class_names: expected the classes of the state in their order, {quoted_list(names)}, got none; only "
            "states of the same classes can be added up"
        )
    given = tuple(class_names)
    if given != names:
        raise ValueError(
            f"class_names: expected the classes of the state in their order, {quoted_list(names)}, got "
            f"{quoted_list(given)}"
        )


def _flat(state: Any) -> dict[str, Array]:
    """The arrays of a state in the form of NumPy's states."""
    flat: dict[str, Array] = {}
    for name, leaf in state._asdict().items():
        backend, (array,) = as_arrays(state=leaf)
        flat[name] = backend.known("state", array)
    batch = flat["dropped"].ndim
    for name, more in WORDS.items():
        if name not in flat or flat[name].dtype.kind == "f":
            continue  # sums in float32 and their rounding errors are the same in all libraries
        low, high = flat[name], flat[more]
        whole = low.astype(np.int64)
        flat[name] = whole + (high.astype(np.int64) << WORD) if high.size else whole
        flat[more] = np.zeros((*low.shape[:-2], 0, 0), np.int64)
    for name, more in SUMS.items():
        if name in flat:
            value, lost = (flat[each].astype(np.float64) for each in (name, more))
            flat[name] = value + lost if lost.size else value
            flat[more] = np.zeros((*value.shape[:batch], *(0,) * (value.ndim - batch)))
    return {name: x.astype(np.int64, copy=False) if x.dtype.kind == "i" else x for name, x in flat.items()}


def _built(template: Any, arrays: dict[str, Array], backend: Standard, like: Array) -> Any:
    """A state with the type of the template, of these arrays in the library of ``like``."""
    missing = [name for name in template._fields if name not in arrays]
    if missing:
        raise ValueError(f"buffer: expected the arrays of a {template.__name__}, got none of the name {missing[0]}")
    leaves = {name: arrays[name] for name in template._fields}
    check_leaves(template, leaves)
    if backend.widest_int(like) is None:
        leaves = _in_32_bits(leaves)
    place = backend.device_option(like)
    return template(*[backend.xp.asarray(leaf, **place) for leaf in leaves.values()])


def _in_32_bits(leaves: dict[str, Array]) -> dict[str, Array]:
    """The arrays for a library without numbers of 64 bits."""
    narrow = dict(leaves)
    for name, more in WORDS.items():
        if name in leaves and leaves[name].dtype.kind == "i":
            if leaves[name].size and np.abs(leaves[name]).max() >= 2 ** (WORD + 31):
                raise ValueError(f"buffer: expected counts below 2**{WORD + 31} in a library without 64-bit integers")
            narrow[name], narrow[more] = leaves[name] & (2**WORD - 1), leaves[name] >> WORD
        elif name in leaves and leaves[name].dtype == np.float64:
            raise TypeError(
                "buffer: expected counts that are integers or float32 in a library without 64-bit numbers, got float64"
            )
    for name, more in SUMS.items():
        if name in leaves:
            narrow[name] = leaves[name].astype(np.float32)
            narrow[more] = (leaves[name] - narrow[name]).astype(np.float32)
            if not narrow[name].size:
                narrow[more] = leaves[more].astype(np.float32)
    for name in SINGLE_WORD:
        if name in leaves:
            narrow[name] = np.minimum(leaves[name], MOST_DROPPED)
    return {name: x.astype(np.int32) if x.dtype.kind == "i" else x for name, x in narrow.items()}


def check_leaves(template: Any, leaves: dict[str, Array]) -> None:
    """Raise an error unless the arrays of an archive have dtypes and shapes of a state: others would lose counts."""
    batch = leaves["dropped"].shape
    for name, leaf in leaves.items():
        allowed: tuple[Any, ...] = (np.int64,)
        if name in {*WORDS, *WORDS.values()}:
            allowed = (np.int64, np.float32, np.float64)
        elif name in {*SUMS, *SUMS.values()}:
            allowed = (np.float64,)
        if leaf.dtype not in allowed:
            written = " or ".join(np.dtype(dtype).name for dtype in allowed)
            raise TypeError(f"buffer: expected {name} of {written}, got {leaf.dtype}")
    shapes = {name: leaf.shape for name, leaf in leaves.items()}
    axes = {name: shape[: len(batch)] == batch and shape[len(batch) :] for name, shape in shapes.items()}
    pairs = [(shapes[name], shapes[more]) for name, more in WORDS.items() if name in shapes]
    if (
        False in axes.values()
        or not template._has_shapes(axes | {"dropped": batch})
        or any(more not in (whole, (*whole[:-2], 0, 0)) for whole, more in pairs)
    ):
        raise ValueError(f"buffer: expected the arrays of a {template.__name__}, got arrays of the shapes {shapes}")


def _read(template: type, data: bytes) -> dict[str, Array]:
    """The arrays of an archive; a damaged archive, or too large arrays, raise an error."""
    try:
        with zipfile.ZipFile(io.BytesIO(data)) as archive:
            members = archive.infolist()
            size = sum(member.file_size for member in members)
            if size <= ARRAY.size:
                return {member.filename.removesuffix(".npy"): _array(archive, member) for member in members}
    except (*FAULTS, zipfile.BadZipFile, zlib.error, OSError) as error:
        raise ValueError(
            f"buffer: expected the bytes of {template.__name__}.to_bytes(), got other or damaged bytes: {error}"
        ) from error
    raise ValueError(f"buffer: expected a state of at most {ARRAY.in_words}, got {size:,} bytes")


def _array(archive: zipfile.ZipFile, member: zipfile.ZipInfo) -> Array:
    """An array, whose header is compared with its size first: NumPy takes the memory that the header names."""
    with archive.open(member) as file:
        shape, _, dtype = HEADERS[np.lib.format.read_magic(file)](file)
        size = math.prod(shape) * dtype.itemsize
        if dtype.hasobject or dtype.itemsize == 0 or size != member.file_size - file.tell():
            raise ValueError(f"{member.filename} does not have the size of its header")
    with archive.open(member) as file:
        array = np.lib.format.read_array(file, allow_pickle=False)
    if dtype.kind == "U" and size:
        letters = np.ascontiguousarray(array).reshape(-1).view(np.dtype(np.uint32).newbyteorder(dtype.byteorder))
        if letters.max() > sys.maxunicode:  # Python would raise a SystemError
            raise ValueError(f"{member.filename} has characters that do not exist")
    return array
