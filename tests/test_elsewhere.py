"""Names that other libraries have as well: they mean the same here, or ``catalogue.elsewhere`` says what they mean."""

from __future__ import annotations

import importlib
import inspect
import math
import warnings
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import matrics
from matrics._catalogue.elsewhere import ELSEWHERE

MODULES = [
    "sklearn.metrics",
    "scipy.stats",
    "scipy.stats.contingency",
    "scipy.spatial.distance",
    "torchmetrics.functional",
    "torchmetrics.functional.classification",
    "torchmetrics.functional.clustering",
    "torchmetrics.functional.nominal",
]
#: Numbers to compare, so that none is left out because a call fails.
LEAST = {
    "sklearn.metrics": 28,
    "scipy.stats": 2,
    "scipy.stats.contingency": 0,
    "scipy.spatial.distance": 4,
    "torchmetrics.functional": 30,
    "torchmetrics.functional.classification": 55,
    "torchmetrics.functional.clustering": 6,
    "torchmetrics.functional.nominal": 3,
}
#: What they need and have no default of, and what ours has by default.
KEYWORDS = {"beta": 1.0, "threshold": 0.5}


def public(module: str) -> dict[str, Callable[..., Any]]:
    found = pytest.importorskip(module, reason=f"{module.partition('.')[0]} is not installed")
    names = getattr(found, "__all__", None) or dir(found)
    functions = {name: getattr(found, name) for name in names if not name.startswith("_")}
    return {name: f for name, f in functions.items() if callable(f) and not inspect.isclass(f)}


def ours(name: str) -> set[matrics.Metric]:
    """What is found here by the name, with or without what others put before and behind it."""
    bare = name.removeprefix("binary_").removeprefix("multiclass_")
    found = set()
    for spelling in {bare, bare.removesuffix("_score"), f"{bare}_score"}:
        try:
            found.add(matrics.get_metric(spelling))
        except ValueError:
            continue
    return found


def draw(n: int) -> tuple[np.ndarray, np.ndarray]:
    """Labels of n classes of different sizes, the second half as good as right."""
    random = np.random.default_rng(n)
    true = random.choice(n, 300, p=np.arange(1, n + 1) / (n * (n + 1) / 2))
    return true, np.where(random.random(300) < 0.6, true, random.integers(0, n, 300))


def value(module: str, name: str, function: Callable[..., Any], n: int) -> float | None:
    """Theirs of labels by default, or macro where there is no default for so many classes; None if it takes none."""
    of_torch = module.startswith("torchmetrics")
    if of_torch and name.startswith("binary_") and n > 2:
        return None
    try:
        takes = inspect.signature(function).parameters
    except ValueError:
        return None
    keywords: dict[str, Any] = {key: given for key, given in KEYWORDS.items() if key in takes}
    labels: tuple[Any, ...] = draw(n)
    if of_torch:
        torch = importlib.import_module("torch")
        labels = tuple(torch.from_numpy(x) for x in labels[::-1])
        available = {"task": "binary" if n == 2 else "multiclass", "num_classes": n}
        keywords |= {key: given for key, given in available.items() if key in takes}
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        for more in ({}, {"average": "macro"}):
            try:
                found = function(*labels, **keywords, **more)
                return number(getattr(found, "statistic", found))
            except Exception:  # noqa: BLE001, S112 (they take no labels; what they raise is their affair)
                continue
    return None


def number(x: Any) -> float | None:
    """A float, if it is one number."""
    found = np.asarray(x, dtype=float)
    return float(found) if found.ndim == 0 and math.isfinite(float(found)) else None


def of_labels(metric: matrics.Metric, n: int) -> float:
    return float(metric(matrics.confusion_matrix(*draw(n), num_classes=n)))


def comparisons(module: str) -> Iterator[tuple[str, matrics.Metric, int, float]]:
    for name, function in public(module).items():
        for metric in ours(name):
            for n in (2, 4):
                theirs = value(module, name, function, n)
                if theirs is not None:
                    yield f"{module}.{name}", metric, n, theirs


def close(a: float, b: float) -> bool:
    return math.isclose(a, b, rel_tol=1e-5, abs_tol=1e-6)  # torchmetrics has float32


def short(label: str) -> tuple[str, str]:
    """The library and the name: some modules have the functions of others."""
    return label.partition(".")[0], label.rpartition(".")[2]


NOTES = {(name, *short(note.there)): note for name, notes in ELSEWHERE.items() for note in notes}


@pytest.mark.exhaustive
@pytest.mark.parametrize("module", MODULES)
def test_a_name_means_the_same_or_the_table_says_what(module: str) -> None:
    compared, clashes = 0, []
    for label, metric, n, theirs in comparisons(module):
        compared += 1
        note = NOTES.get((metric.name, *short(label)))
        spec = metric.spec if note is None else note.two if n == 2 else note.more
        if spec is not None and not close(of_labels(matrics.get_metric(spec), n), theirs):
            clashes.append(f"{label} of {n} classes: {theirs}; {spec} is {of_labels(matrics.get_metric(spec), n)}")
    assert not clashes, "\n".join(clashes)
    assert compared >= LEAST[module], compared


@pytest.mark.sampled(3)
@pytest.mark.parametrize("key", NOTES, ids=lambda key: NOTES[key].there)
def test_every_note_is_of_a_difference(key: tuple[str, str, str]) -> None:
    """Theirs by the name differs somewhere, or takes no labels; and the name is one of the measure's."""
    note, metric = NOTES[key], matrics.get_metric(key[0])
    module, _, name = note.there.rpartition(".")
    function = public(module)[name]
    assert metric in ours(name)
    values = {n: value(module, name, function, n) for n in (2, 4)}
    different = [n for n, theirs in values.items() if theirs is not None and not close(theirs, of_labels(metric, n))]
    assert different or set(values.values()) == {None}
    # A spec that gives theirs is named wherever there is one to compare.
    specs = {2: note.two, 4: note.more}
    assert all(values[n] is not None for n, spec in specs.items() if spec is not None)
    assert f"{note.there} is {note.what}" in matrics.describe(metric)


@pytest.mark.exhaustive
def test_a_new_clash_fails(monkeypatch: pytest.MonkeyPatch) -> None:
    """The count that ``zero_one_loss`` was is found by its name."""
    pytest.importorskip("sklearn")
    found = matrics.get_metric
    other = {"zero_one_loss": "zero_one_loss_count"}
    monkeypatch.setattr(matrics, "get_metric", lambda name: found(other.get(name, name)))
    with pytest.raises(AssertionError, match=r"sklearn\.metrics\.zero_one_loss of 2 classes"):
        test_a_name_means_the_same_or_the_table_says_what("sklearn.metrics")


def test_the_page_lists_the_table() -> None:
    """By its mark, which docs/conf.py writes."""
    page = Path(__file__).parents[1] / "docs" / "conventions.md"
    assert "<!-- table: elsewhere " in page.read_text()
