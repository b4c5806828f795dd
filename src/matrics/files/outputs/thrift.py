"""Structs in Apache Thrift's compact protocol: read, changed and written again without knowing what their fields mean.

The footer of a Parquet file is such a struct. A struct is a dict from the number of a field to its type and its value.
The value of a list is the type of its elements and the elements. The protocol:
https://github.com/apache/thrift/blob/master/doc/specs/thrift-compact-protocol.md
"""

from __future__ import annotations

from typing import Any

TRUE, FALSE, BYTE, I16, I32, I64, DOUBLE, BINARY, LIST, SET, MAP, STRUCT = range(1, 13)
INTEGERS = (I16, I32, I64)

Struct = dict[int, tuple[int, Any]]


def read_struct(content: bytes) -> Struct:
    """Read the struct at the start of some bytes."""
    return _Reader(content).struct()


def write_struct(struct: Struct) -> bytes:
    """Write a struct; where it has a struct as a field or in a list, that may be bytes that were written before."""
    out = bytearray()
    last = 0
    for number, (kind, value) in sorted(struct.items()):
        # The difference from the number before and the type share a byte if the difference has at most four bits.
        if number - last < 16:
            out.append((number - last) << 4 | kind)
        else:
            out.append(kind)
            out += _varint(_zigzag(number))
        out += _written(kind, value)
        last = number
    out.append(0)
    return bytes(out)


class _Reader:
    """A position in bytes that moves on with all that is read."""

    def __init__(self, content: bytes) -> None:
        self.content = content
        self.position = 0

    def take(self, length: int) -> bytes:
        taken = self.content[self.position : self.position + length]
        if len(taken) < length:
            raise ValueError("expected a whole Thrift struct, got one that is cut off")
        self.position += length
        return taken

    def varint(self) -> int:
        """Seven bits in each byte, the lowest first; the eighth bit says that more follow."""
        value = shift = 0
        while True:
            byte = self.take(1)[0]
            value |= (byte & 0x7F) << shift
            if byte < 0x80:
                return value
            shift += 7

    def integer(self) -> int:
        """A signed number: 0, -1, 1, -2, 2 are written as 0, 1, 2, 3, 4."""
        value = self.varint()
        return value >> 1 ^ -(value & 1)

    def struct(self) -> Struct:
        found: Struct = {}
        number = 0
        while head := self.take(1)[0]:
            number = number + (head >> 4) if head >> 4 else self.integer()
            kind = head & 0x0F
            # A boolean field is its type, and has no value.
            found[number] = kind, None if kind in (TRUE, FALSE) else self.value(kind)
        return found

    def value(self, kind: int) -> Any:
        if kind in INTEGERS:
            return self.integer()
        if kind == BINARY:
            return self.take(self.varint())
        if kind in (LIST, SET):
            head = self.take(1)[0]
            length = head >> 4 if head >> 4 < 15 else self.varint()
            return head & 0x0F, [self.value(head & 0x0F) for _ in range(length)]
        if kind == STRUCT:
            return self.struct()
        if kind in (TRUE, FALSE, BYTE, DOUBLE):  # kept as they are
            return self.take(8 if kind == DOUBLE else 1)
        raise ValueError(f"expected a type that occurs in the footer of a Parquet file, got the Thrift type {kind}")


def _written(kind: int, value: Any) -> bytes:
    if kind in INTEGERS:
        return _varint(_zigzag(value))
    if kind == BINARY:
        return _varint(len(value)) + bytes(value)
    if kind in (LIST, SET):
        of, elements = value
        length = len(elements)
        head = bytes([length << 4 | of]) if length < 15 else bytes([0xF0 | of]) + _varint(length)
        return head + b"".join(_written(of, element) for element in elements)
    if kind == STRUCT and not isinstance(value, bytes):
        return write_struct(value)
    return b"" if value is None else bytes(value)  # a boolean field has no value


def _varint(value: int) -> bytes:
    out = bytearray()
    while value > 0x7F:
        out.append(value & 0x7F | 0x80)
        value >>= 7
    out.append(value)
    return bytes(out)


def _zigzag(value: int) -> int:
    return value << 1 if value >= 0 else -value * 2 - 1
