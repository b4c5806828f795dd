"""Write src/matrics/metrics.pyi, which tells type checkers and editors what each measure takes.

A measure is a record, whose ``__call__`` type checkers cannot see through: ``python tools/stubs.py`` writes down what
the records say. ``tests/test_typing.py`` fails when the file is not up to date.
"""

from __future__ import annotations

import inspect
import math
from pathlib import Path

import matrics
from matrics._catalogue.averages import AVERAGES
from matrics._catalogue.options import Option
from matrics._catalogue.record import METRICS, Metric

STUB = Path(__file__).parents[1] / "src/matrics/metrics.pyi"

HEADER = '''\
"""The measures, as type checkers and editors see them: each is a Metric that is called with its own options.

Written by ``python tools/stubs.py`` from the records; change those, and run it again. A list, a NumPy array or a data
frame gives a number of NumPy for one matrix and an array for a stack, which only the shape tells apart: as in NumPy's
own annotations, the type is Any. Other arrays give arrays of their own kind.
"""

from collections.abc import Hashable, Mapping, Sequence
from typing import Any, Literal, Self, TypeAlias, overload, type_check_only

from matrics._catalogue.record import Metric
from matrics._engine.evaluation import Invalid
from matrics.typing import ArrayLike, ArrayT, HostArray, MatrixLike

__all__ = [
{names}
]
'''

CLASS = """
@type_check_only
class {name}(Metric):
    @overload  # type: ignore[override]
    def __call__(
        self,
        cm: HostArray,
        *,
{call}
    ) -> Any: ...
    @overload
    def __call__(
        self,
        cm: ArrayT,
        *,
{call}
    ) -> ArrayT: ...
    def using(  # type: ignore[override]
        self,
        *,
{using}
    ) -> Self: ...
"""


def stub() -> str:
    """The text of the file."""
    classes: dict[tuple[str, ...], str] = {}  # by what using() takes; measures that take the same share one
    instances = []
    for name in matrics.metrics.__all__:
        record = METRICS.get(name)
        if record is None:
            continue
        takes = (_average(record), *map(_keyword, record.options))
        plain = "_Overall" if record.kind == "overall" else "_PerClass"
        own = "_" + name.title().replace("_", "")
        class_name = classes.setdefault(takes, own if record.options else plain)
        instances.append(f'{name}: {class_name}\n"""{record.summary}"""\n')
    every = sorted(matrics.metrics.__all__)
    return "".join(
        [
            HEADER.format(names="\n".join(f'    "{name}",' for name in every)),
            f"\n_OneVsRest: TypeAlias = {_words(('auto', *AVERAGES['overall'], 'one-vs-rest'))} | None\n",
            f"_Average: TypeAlias = {_words(('auto', *AVERAGES['per_class']))} | None\n",
            *(_class(name, takes) for takes, name in classes.items()),
            *_makers(),
            "\n",
            *instances,
        ]
    )


def _makers() -> list[str]:
    """Functions that make an overall measure. Their own annotation is Metric, which does not tell what a call gives."""
    makers = [getattr(matrics.metrics, name) for name in sorted(set(matrics.metrics.__all__) - set(METRICS))]
    signatures = [inspect.signature(maker, eval_str=False) for maker in makers]
    if any(signature.return_annotation != "Metric" for signature in signatures):
        raise TypeError(f"expected measures and functions that make a Metric, got also one of {makers}")
    return [
        f"\ndef {maker.__name__}{str(signature).rpartition(' -> ')[0]} -> _Overall: ...\n".replace("'", "")
        for maker, signature in zip(makers, signatures, strict=True)
    ]


def _class(name: str, takes: tuple[str, ...]) -> str:
    average, *options = takes
    weights = "class_weights: ArrayLike | Mapping[Any, float] | None = None"
    label = [] if "_OneVsRest" in average else ["positive: int | None = None", weights]
    call = [average, *label, *options, "zero_division: float = ...", 'invalid: Invalid = "warn"']
    label = [each.replace("int | None", "Hashable") for each in label]  # score() knows what classes are called
    using = [each.partition(" = ")[0] + " = ..." for each in (average, *label, *options)]
    return CLASS.format(name=name, call=_lines(call), using=_lines(using))


def _lines(keywords: list[str]) -> str:
    return "\n".join(f"        {each}," for each in keywords)


def _average(record: Metric) -> str:
    """An overall measure has no default: without average it gives one value per matrix."""
    return "average: _OneVsRest = ..." if record.kind == "overall" else 'average: _Average = "auto"'


def _keyword(option: Option) -> str:
    if option.choices == (False, True):
        accepts = "bool"
    elif option.choices:
        accepts = _words(option.choices)
        accepts += " | MatrixLike" if option.matrix else ""
        accepts += " | None" if "none" in option.choices else ""
    else:
        accepts = 'float | Literal["e"]' if option.default == math.e else "float"
    if option.required:
        return f"{option.name}: {accepts}"
    default = "..." if option.default == math.e else repr(option.default).replace("'", '"')
    return f"{option.name}: {accepts} = {default}"


def _words(words: tuple[str, ...]) -> str:
    return "Literal[" + ", ".join(f'"{word}"' for word in words) + "]"


if __name__ == "__main__":
    STUB.write_text(stub(), "utf-8")
