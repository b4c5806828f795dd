"""Public docstrings as data: what they say of each parameter."""

from __future__ import annotations

import importlib
import inspect
import re
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import NamedTuple

from matrics._catalogue.record import METRICS

sys.path.insert(0, str(Path(__file__).parents[1] / "docs"))
try:
    tables = importlib.import_module("signature_tables")
finally:
    sys.path.pop(0)

#: A section of a docstring begins with a line of text above a line of dashes.
SECTION = r"^{}\n-+\n(.*?)(?=^\S[^\n]*\n-{{3,}}$|\Z)"


class Entry(NamedTuple):
    """What a docstring says of a parameter."""

    type: str
    text: str


class Function(NamedTuple):
    """A public function, method or constructor."""

    name: str
    family: str
    signature: inspect.Signature
    doc: str


def entries(doc: str | None, title: str = "Parameters") -> dict[str, Entry]:
    """The entries of a section by name; names that share an entry have one each."""
    section = re.search(SECTION.format(title), inspect.cleandoc(doc or ""), re.MULTILINE | re.DOTALL)
    blocks = re.split(r"^(?=\S)", section[1], flags=re.MULTILINE) if section else []
    result = {}
    for block in filter(str.strip, blocks):
        head, _, text = block.partition("\n")
        names, _, kind = head.partition(" : ")
        entry = Entry(kind.strip(), " ".join(text.split()))
        result.update((name.strip(" *"), entry) for name in names.split(","))
    return result


def public() -> Iterator[Function]:
    """All public functions, public methods, and constructors of classes that users make; then all measures."""
    for path in tables.MODULES:
        try:
            module = importlib.import_module(path)
        except ImportError:
            continue  # the library that it is for is not installed
        for name, signature in tables.signatures(module):
            value = module
            for part in name.split("."):
                value = getattr(value, part)
            yield Function(f"{path}.{name}", family(path, name, value), signature, value.__doc__ or "")
    for record in METRICS.values():
        yield Function(record.place, "_metrics", inspect.signature(record), record.__doc__ or "")


def family(path: str, name: str, value: object) -> str:
    """The folder of a function; of an adapter its public module, as a parameter may be a tensor, a column or a name.

    The parameters of metrics of several labels are of labels and entries where others are of classes and samples.
    """
    folder: str = inspect.unwrap(value).__module__.split(".")[1]  # type: ignore[arg-type]
    if folder != "_integrations":
        return folder
    return f"{path}.multilabel" if name.startswith("Multilabel") else path


def fields() -> Iterator[tuple[type, list[str]]]:
    """The public fields of all public data classes and named tuples."""
    for path in tables.MODULES:
        try:
            module = importlib.import_module(path)
        except ImportError:
            continue
        for kind in (getattr(module, name) for name in module.__all__):
            names = getattr(kind, "__match_args__", ()) or getattr(kind, "__dataclass_fields__", ())
            if inspect.isclass(kind) and names:
                yield kind, [name for name in names if not name.startswith("_")]
