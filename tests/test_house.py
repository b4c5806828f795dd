"""The house itself: which file may know of which, and what is public."""

from __future__ import annotations

import ast
import graphlib
import importlib
import pkgutil
from collections.abc import Iterator
from pathlib import Path

import pytest

import matrics
from matrics._catalogue.record import METRICS

SOURCE = Path(matrics.__file__).parent
FILES = {
    ".".join(("matrics", *path.relative_to(SOURCE).with_suffix("").parts)).removesuffix(".__init__"): path
    for path in SOURCE.rglob("*.py")
}
# Names of the package itself, and of folders whose data files or entry points are looked up by name.
RESOURCES = {"matrics", "matrics.metrics", "matrics._catalogue", "matrics._reporting", "matrics._study.sources"}
LIBRARIES = {"numpy", "torch", "jax", "array_api_compat"}
# What says in formulas what is to be computed, and not where.
PLAIN = {*(f"matrics._engine.{name}" for name in ("safety", "wide", "margins", "table")), "matrics._catalogue.averages"}
# Measures that need SciPy are computed by NumPy, wherever the matrices are.
ON_HOST = {"matrics._metrics.inference", "matrics._metrics.similarity.counts_beyond_chance"}


def imported(name: str) -> Iterator[str]:
    """All that a file imports: full names of modules, and of names taken from them.

    Imports for type checkers count, and so do texts that are names of modules, as ``import_module`` takes them.
    """
    for node in ast.walk(ast.parse(FILES[name].read_text())):
        if isinstance(node, ast.Constant) and node.value in FILES and node.value not in RESOURCES:
            yield node.value
        if isinstance(node, ast.Import):
            yield from (alias.name for alias in node.names)
        elif isinstance(node, ast.ImportFrom):
            assert node.level == 0, f"{name} imports by dots"
            for alias in node.names:
                inner = f"{node.module}.{alias.name}"
                yield inner if inner in FILES else str(node.module)


# From below, as the table in CONTRIBUTING.md has them. A file imports from its own folder and from lower floors only.
LAYERS = [
    ("process", "quoting", "rounding", "typing"),
    ("arrays",),
    ("engine",),
    ("stacks", "catalogue"),
    ("counting", "metrics"),
    ("scoring",),
    ("states", "uncertainty"),
    ("tables", "judged", "raters", "folds", "study", "multilabel", "ranking"),
    ("plot", "files"),
    ("reporting",),
    ("gates",),
    ("integrations", "testing"),
    ("cli",),
    ("__main__",),
]


def folder(name: str) -> str:
    return name.split(".")[1] if "." in name else name


def layer(name: str) -> float:
    """The floor of a file. The package itself lies between the library and the doors, as it has all public names."""
    found = [place for place, names in enumerate(LAYERS) if folder(name) in names]
    return found[0] if found else len(LAYERS) - 3.5 if name == "matrics" else -1


def test_imports_run_in_one_direction() -> None:
    """Also imports inside functions. A circle of files raises an error with their names."""
    graph = {name: {other for other in imported(name) if other in FILES} for name in FILES}
    graphlib.TopologicalSorter(graph).prepare()
    assert all(layer(name) >= 0 for name in FILES)
    pairs = [(name, other) for name, others in graph.items() for other in others if folder(name) != folder(other)]
    assert not [(name, other) for name, other in pairs if layer(other) >= layer(name)]


def test_type_checkers_read_what_is_imported_later() -> None:
    """The same names from the same modules, as text and as imports."""
    (block,) = (
        node
        for node in ast.parse(FILES["matrics"].read_text()).body
        if isinstance(node, ast.If) and ast.unparse(node.test) == "TYPE_CHECKING"
    )
    written = {node.module: tuple(alias.name for alias in node.names) for node in block.body}
    assert written.pop("matrics") == ("plot", "raters", "study")
    assert written == matrics._LATER
    assert matrics._WHERE.keys() <= set(matrics.__all__)


def test_the_guide_has_the_layers() -> None:
    guide = (SOURCE.parents[1] / "CONTRIBUTING.md").read_text("utf-8")
    guide = guide.partition("## Architecture")[2].partition("\n## ")[0]
    rows = [line.split("|")[1] for line in guide.splitlines() if line.startswith("| `")]
    named = [tuple(part.strip(" `/") for part in row.split(",")) for row in rows]
    assert [row for row in named if row in LAYERS] == LAYERS


@pytest.mark.parametrize("name", sorted(PLAIN | {name for name in FILES if name.startswith("matrics.metrics.")}))
def test_formulas_do_not_know_where_they_run(name: str) -> None:
    """No library of arrays, no road and no backend is named where a formula stands."""
    used = set(imported(name))
    first = {other.partition(".")[0] for other in used}
    assert not first & (LIBRARIES - ({"numpy"} if name in ON_HOST else set()))
    assert not [other for other in used if other.startswith("matrics._engine.execution")]
    of_backend = {
        alias.name
        for node in ast.walk(ast.parse(FILES[name].read_text()))
        if isinstance(node, ast.ImportFrom) and str(node.module).startswith("matrics._arrays")
        for alias in node.names
    }
    assert of_backend <= {"Array", "Namespace", "Standard"}


def test_a_measure_is_public_by_one_line() -> None:
    """That in the list of its file, which says nothing else but what belongs to it."""
    listed = {}
    for found in pkgutil.walk_packages([str(SOURCE / "metrics")], "matrics.metrics."):
        if not found.ispkg:
            names = importlib.import_module(found.name).__all__
            assert names == sorted(names), found.name
            listed |= dict.fromkeys(names, found.name)
    complete = {name: one for name, one in METRICS.items() if not one.needs or one.awaits}  # what else, functions make
    assert {name: record.function.__module__ for name, record in complete.items()}.items() <= listed.items()
    assert all(listed[name].split(".")[2] == record.family for name, record in complete.items())
    others = {"GershgorinBounds", "cost", "eigenvalues", "gershgorin_bounds"}
    assert set(listed) - set(complete) == others & set(listed)
    assert set(listed) <= set(matrics.__all__)
    assert len(matrics.__all__) == len(set(matrics.__all__))
    assert all(hasattr(matrics, name) for name in matrics.__all__)


def test_files_of_text_are_text() -> None:
    """A byte of zeros, as an interrupted copy leaves it, hides a page from git and from readers."""
    root = SOURCE.parents[1]
    suffixes = {".md", ".py", ".pyi", ".toml", ".css", ".js", ".html", ".csv", ".yml"}
    texts = [path for room in ("src", "tests", "docs", "examples", "benchmarks") for path in (root / room).rglob("*")]
    broken = [path for path in texts if path.suffix in suffixes and b"\0" in path.read_bytes()]
    assert not broken
