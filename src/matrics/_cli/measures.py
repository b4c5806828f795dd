"""The measures that a command computes, the class of each, the target prevalence, and users' own measures."""

from __future__ import annotations

import importlib
import re
import sys
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, Any, NamedTuple

import matrics
from matrics._catalogue.description import range_of
from matrics._catalogue.naming import MeasureName, title_of
from matrics._catalogue.naming import columns as named_columns
from matrics._catalogue.own import measures_of
from matrics._errors import ArgumentError
from matrics._quoting import quoted, split_outside
from matrics._scoring.score import resolve

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Mapping, Sequence

    from matrics._catalogue.classes import Classes
    from matrics._catalogue.record import Metric


BETTER = {True: "higher", False: "lower", None: None}  # by ``higher_is_better`` of a measure
CONSTRAINT = re.compile(r"(.*[^<>=])(>=|<=|>|<)([^<>=]*)", re.DOTALL)


def measures(request: str | Iterable[str], known: Callable[[], Classes]) -> dict[str, Metric]:
    """The measures by their keys. Titles name the class; measures with the same title are the same measure.

    ``known`` makes the classes.
    """
    classes = known()
    resolved = resolve(request, classes)
    titles = {title_of(key) for key, metric in resolved.items() if not metric.is_classwise}
    every = {
        name: single
        for key, metric in resolved.items()
        for name, single in _apart(key, metric, classes, titles).items()
    }
    keys: dict[str, str] = {}
    for name in every:
        keys.setdefault(title_of(name), name)
    return {name: every[name] for name in keys.values()}


def _apart(key: str, metric: Metric, classes: Classes, titles: set[str]) -> dict[str, Metric]:
    """Split a measure of every class into a measure for each class, if a single class was requested as well."""
    if not metric.is_classwise:
        return {key: metric}
    of_classes = [replace(metric, average=None).of_classes((k,)) for k in range(classes.number)]
    named: dict[str, Metric] = {MeasureName(single.spec, single.title(classes)): single for single in of_classes}
    return named if titles & set(map(title_of, named)) else {key: metric}


def constraints(texts: Iterable[str], known: Callable[[], Classes]) -> tuple[list[str], dict[str, str]]:
    """Constraints with classes by their indices, for the library, and the titles of their measures."""
    specs, titles = [], {}
    for text in (part.strip() for given in texts for part in split_outside(given)):
        match = CONSTRAINT.fullmatch(text)
        if match is None:  # the library raises the error
            specs.append(text)
            continue
        name, sign, limit = (part.strip() for part in match.groups())
        for key, metric in measures(name, known).items():
            specs.append(f"{metric} {sign} {limit}")
            titles[str(metric)] = title_of(key)
    return specs, titles


def with_titles(text: str, titles: dict[str, str]) -> str:
    """A text with the titles of measures in place of their specs."""
    for spec, title in titles.items():
        text = text.replace(spec, title)
    return text


def about_measure(title: str, metric: Metric, columns: Sequence[str] | None = None) -> dict[str, Any]:
    """A measure as it was resolved for the classes of a file, and its columns."""
    return {
        "measure": title,
        "name": metric.name,
        "spec": metric.spec,
        **({} if columns is None else {"columns": list(columns)}),
        "range": range_of(metric),
        "better": BETTER[metric.higher_is_better],
        "undefined": metric.undefined,
    }


def about_classes(classes: Classes) -> dict[str, Any]:
    """The labels of the classes, and which is positive."""
    labels = list(classes.labels) if classes.labels is not None else list(range(classes.number))
    positive = 1 if classes.positive is None and classes.by_construction else classes.positive
    return {"classes": labels, "positive": None if positive is None else labels[positive]}


def about_measures(metrics: Mapping[str, Metric], classes: Sequence[str]) -> list[dict[str, Any]]:
    """The measures as results have them, with the names of their columns."""
    return [
        about_measure(title_of(key), metric, [title_of(name) for name in named_columns(key, metric, classes)])
        for key, metric in metrics.items()
    ]


def reasons_of(measures: Iterable[Mapping[str, Any]]) -> dict[str, str]:
    """Why a value of each column may be undefined."""
    return {name: f"undefined: {measure['undefined']}" for measure in measures for name in measure["columns"]}


def plug_in(modules: Iterable[str] | None) -> None:
    """Import modules, of this folder or installed, and make their measures known by name."""
    for name in modules or ():
        for measure in measures_of(_imported(name), f"--plugin {name}"):
            matrics.register(measure)


def _imported(name: str) -> object:
    here = str(Path.cwd())
    if here not in sys.path:
        sys.path.append(here)  # last, so that no file in this folder hides an installed module
    try:
        return importlib.import_module(name)
    except ModuleNotFoundError as error:
        if error.name is None or not f"{name}.".startswith(f"{error.name}."):
            raise ArgumentError("plugin", f"{name} needs {error.name}, which is not installed") from error
        hint = f": {name.removesuffix('.py')}?" if name.endswith(".py") else ""
        raise ArgumentError(
            "plugin", f"expected the name of a module that is in this folder or installed, got {quoted(name)}{hint}"
        ) from error
    except Exception as error:
        raise ArgumentError("plugin", f"{name}: {type(error).__name__}: {error}") from error


class Target(NamedTuple):
    """The share of each class, and the classes in words."""

    shares: list[float]
    words: str

    @classmethod
    def read(cls, text: str | None, classes: Classes) -> Target | None:
        """Read the option."""
        if text is None:
            return None
        import numpy as np

        from matrics._arrays import NUMPY
        from matrics._stacks.prevalence import read_prevalence
        from matrics._uncertainty.arguments import second_class

        try:
            numbers = [float(part) for part in text.split(",")]
        except ValueError as error:
            raise ArgumentError(
                "prevalence", f"expected a number, or several with commas, got {quoted(text)}"
            ) from error
        given = numbers[0] if len(numbers) == 1 else numbers
        shares = read_prevalence(given, np.zeros((classes.number,) * 2), NUMPY, second_class(classes))
        names = [classes.name(k) for k in range(classes.number)]
        if len(numbers) == 1:
            of_one = second_class(classes) or 0
            return cls(shares.tolist(), f"{numbers[0]:.10g} of {names[of_one]}")
        return cls(shares.tolist(), ", ".join(f"{x:.10g} of {name}" for x, name in zip(numbers, names, strict=True)))

    @property
    def title(self) -> str:
        """What a title says."""
        return f"at the prevalence {self.words}"
