"""Every public signature, and which door takes which argument: the tables of ``signatures.md`` and ``doors.md``.

``conf.py`` puts them into the pages; ``tests/test_signatures.py`` walks the same by the words of CONTRIBUTING.
"""

import importlib
import inspect
import math
import textwrap
import types

import matrics
from matrics._catalogue.record import METRICS, Metric

#: Where public names are; what is in ``__all__`` there.
MODULES = {
    "matrics": "Functions and states",
    "matrics.metrics": "Costs",
    "matrics.ranking": "Scores",
    "matrics.probabilities": "Probabilities",
    "matrics.multilabel": "Several labels",
    "matrics.simulate": "Random matrices",
    "matrics.transform": "Other matrices",
    "matrics.stats": "Tests and tables",
    "matrics.judged": "Judges",
    "matrics.fairness": "Groups",
    "matrics.frames": "Data frames",
    "matrics.results": "Results",
    "matrics.plot": "Pictures",
    "matrics.raters": "Several raters",
    "matrics.study": "Measures of measures",
    "matrics.testing": "Tests of models",
    "matrics.torch": "PyTorch",
    "matrics.torchmetrics": "torchmetrics and Lightning",
    "matrics.flax": "Flax",
    "matrics.transformers": "Hugging Face",
    "matrics.dask": "Dask",
    "matrics.sklearn": "scikit-learn",
    "matrics.xarray": "xarray",
    "matrics.loggers": "Loggers",
    "matrics.evals": "Evaluation logs",
}

WIDTH = 96  # of a line of code on a page


def signatures(module):
    """The public functions of a module, the constructors and the public methods of its classes, by name.

    Results and errors, which nobody but the library makes, have methods alone.
    """
    for name in sorted(module.__all__, key=lambda name: (inspect.isclass(getattr(module, name)), name)):
        found = getattr(module, name)
        if isinstance(found, (types.ModuleType, Metric)):
            continue
        if inspect.isroutine(found):
            yield name, inspect.signature(found)
        elif inspect.isclass(found):
            if found.__module__.startswith("matrics._integrations") and not issubclass(found, (tuple, Exception)):
                yield name, without_first(found.__init__)
            for method, member in members(found).items():
                inside = member.__func__ if isinstance(member, classmethod) else member
                if not method.startswith("_") and inspect.isfunction(inside):
                    yield f"{name}.{method}", without_first(inside)


def members(found):
    """The members of a class, and of the base that all states, or the metrics of a library, share: its own first."""
    known = {}
    for base in found.__mro__:
        if base is found or base.__module__.startswith(("matrics._integrations", "matrics._states")):
            known = {**known, **{name: member for name, member in vars(base).items() if name not in known}}
    return known


def without_first(method):
    """The signature of a method without self or cls."""
    signature = inspect.signature(method)
    return signature.replace(parameters=list(signature.parameters.values())[1:])


def spelt(signature):
    """A signature as one writes the call: names and defaults, without types."""
    parts, is_keyword = [], False
    for parameter in signature.parameters.values():
        if parameter.kind is parameter.KEYWORD_ONLY and not is_keyword:
            is_keyword = True
            parts.append("*")
        star = {parameter.VAR_KEYWORD: "**", parameter.VAR_POSITIONAL: "*"}.get(parameter.kind, "")
        is_keyword = is_keyword or parameter.kind is parameter.VAR_POSITIONAL
        default = "" if parameter.default is parameter.empty else f"={of_default(parameter.default)}"
        parts.append(star + parameter.name + default)
    return f"({', '.join(parts)})"


def wrapped(call):
    """A call over as many lines as the page needs."""
    return "\n".join(textwrap.wrap(call, WIDTH, subsequent_indent="    ", break_long_words=False))


def of_default(value):
    """The text of a default; long ones are left out."""
    if isinstance(value, float) and math.isnan(value):
        return "nan"
    text = repr(value)
    return text if len(text) <= 40 else "..."


def listing():
    """Every public signature, module by module, as MyST."""
    parts = []
    for path, title in MODULES.items():
        lines = [
            wrapped(f"{path}.{name}{spelt(signature)}") for name, signature in signatures(importlib.import_module(path))
        ]
        parts.append(f"## {title}\n\n```text\n" + "\n".join(lines) + "\n```")
    measures = [
        wrapped(f"{METRICS[name].place}{spelt(inspect.signature(METRICS[name]))}")
        for name in sorted(set(matrics.metrics.__all__) & METRICS.keys())
    ]
    parts.append("## Measures\n\n```text\n" + "\n".join(measures) + "\n```")
    return "\n\n".join(parts)


def tables():
    """The tables of both pages."""
    return {"signatures": listing()}


if __name__ == "__main__":
    print(listing())
