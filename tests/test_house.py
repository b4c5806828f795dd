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
from matrics._catalogue.record import CORE, METRICS

SOURCE = Path(matrics.__file__).parent
FILES = {
    ".".join(("matrics", *path.relative_to(SOURCE).with_suffix("").parts)).removesuffix(".__init__"): path
    for path in SOURCE.rglob("*.py")
}
# Names of the package itself, of folders whose data files or entry points are looked up by name, and of the reader of
# logs, which is looked up for a file that is one.
RESOURCES = {"matrics", "matrics._metrics", "matrics.metrics", "matrics._catalogue", "matrics._reporting"}
RESOURCES |= {"matrics._study.sources", "matrics._integrations.evals.reading"}
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
            for alias in node.names if name != "matrics" or node.module != "matrics" else ():  # its own modules
                inner = f"{node.module}.{alias.name}"
                yield inner if inner in FILES else str(node.module)


# Modules that only hand on names.
PUBLIC = {*matrics._MODULES, *matrics._ADAPTERS} - {"testing", "typing"}

# From below, as the table in CONTRIBUTING.md has them. A file imports from its own folder and from lower floors only.
LAYERS = [
    ("_errors", "_extras", "_memory_limits", "_quoting", "typing", "_wording"),
    ("_progress",),
    ("_arrays",),
    ("_engine",),
    ("_stacks", "_catalogue"),
    ("_counting", "_metrics"),
    ("_scoring",),
    ("_states", "_uncertainty"),
    ("_tables", "_judged", "_raters", "_folds", "_study", "_multilabel", "_ranking"),
    ("_plot", "_files"),
    ("_reporting",),
    ("_gates",),
    ("_integrations", "testing"),
    ("_cli",),
    ("__main__",),
]


def folder(name: str) -> str:
    return name.split(".")[1] if "." in name else name


def layer(name: str) -> float:
    """The floor of a file. The package itself lies between the library and the doors, as it has all public names."""
    if folder(name) in PUBLIC:  # above all but the command line; metrics, which the package takes its own names from
        return len(LAYERS) - (5.5 if folder(name) == "metrics" else 2.5)
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
    written = {alias.name: str(node.module) for node in block.body for alias in node.names}
    assert {name for name, module in written.items() if module == "matrics"} == set(MODULES)
    assert {name: module for name, module in written.items() if module != "matrics"} == matrics._LATER
    assert set(written) <= set(matrics.__all__)


def test_the_guide_has_the_layers() -> None:
    guide = (SOURCE.parents[1] / "CONTRIBUTING.md").read_text("utf-8")
    guide = guide.partition("## Architecture")[2].partition("\n## ")[0]
    rows = [line.split("|")[1] for line in guide.splitlines() if line.startswith("| `")]
    named = [tuple(part.strip(" `/") for part in row.split(",")) for row in rows]
    assert [row for row in named if row in LAYERS] == LAYERS


@pytest.mark.sampled(3)
@pytest.mark.parametrize("name", sorted(PLAIN | {name for name in FILES if name.startswith("matrics._metrics.")}))
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
    for found in pkgutil.walk_packages([str(SOURCE / "_metrics")], "matrics._metrics."):
        if not found.ispkg:
            names = importlib.import_module(found.name).__all__
            assert names == sorted(names), found.name
            listed |= dict.fromkeys(names, found.name)
    complete = {name: one for name, one in METRICS.items() if not one.needs or one.awaits}  # what else, functions make
    assert {name: record.function.__module__ for name, record in complete.items()}.items() <= listed.items()
    assert all(listed[name].split(".")[2] == record.family for name, record in complete.items())
    others = {"GershgorinBounds", "cost", "eigenvalues", "gershgorin_bounds"}
    assert set(listed) - set(complete) == others & set(listed)
    assert set(listed) - (others - {"cost"}) == set(matrics.metrics.__all__)


MODULES = [*matrics._MODULES, *matrics._ADAPTERS]


def test_the_package_lists_the_public_names() -> None:
    assert len(dir(matrics)) <= 70
    assert set(MODULES) <= set(dir(matrics))
    assert {path.stem for path in SOURCE.glob("[a-z]*.py")} == set(MODULES)
    assert not [folder.name for folder in SOURCE.iterdir() if folder.is_dir() and not folder.name.startswith("_")]
    assert all(hasattr(matrics, name) for name in matrics.__all__ if name not in MODULES)


def test_every_public_name_has_one_place() -> None:
    """The nine measures of the group ``core`` are in the package and, as all measures, in ``metrics``."""
    places: dict[int, list[str]] = {}
    known = {name: getattr(matrics, name) for name in matrics.__all__ if name not in MODULES}
    for module in matrics._MODULES:
        public = getattr(matrics, module)
        assert public.__doc__
        assert len(set(public.__all__)) == len(public.__all__)
        known |= {f"{module}.{name}": getattr(public, name) for name in public.__all__}
    for name, value in known.items():
        places.setdefault(id(value), []).append(name)
    twice = {tuple(names) for names in places.values() if len(names) > 1}
    assert twice == {(name, f"metrics.{name}") for name in CORE}


@pytest.mark.sampled(3)
@pytest.mark.parametrize("name", [*MODULES, "__main__"])
def test_public_modules_only_hand_on_names(name: str) -> None:
    """All but ``testing`` and ``typing``, which are files of their own."""
    if name in {"testing", "typing", "__main__"}:
        return
    tree = ast.parse(FILES[f"matrics.{name}"].read_text("utf-8"))
    assert not [node for node in ast.walk(tree) if isinstance(node, (ast.FunctionDef, ast.ClassDef))]


@pytest.mark.parametrize(
    ("name", "message"),
    [
        ("roc_auc", r"; use matrics\.ranking\.roc_auc$"),
        ("jaccard", r"; use matrics\.metrics\.jaccard$"),
        ("Reliability", r"; use matrics\.results\.Reliability$"),
        ("eigenvalues", r"; use matrics\.study\.eigenvalues$"),
        ("confusion_matix", r"; did you mean matrics\.confusion_matrix\?$"),
        ("roc_acu", r"; did you mean matrics\.ranking\.roc_auc\?$"),
    ],
)
def test_a_name_that_is_elsewhere_says_where(name: str, message: str) -> None:
    with pytest.raises(AttributeError, match=message):
        getattr(matrics, name)


def test_files_of_text_are_text() -> None:
    """A byte of zeros, as an interrupted copy leaves it, hides a page from git and from readers."""
    root = SOURCE.parents[1]
    suffixes = {".md", ".py", ".pyi", ".toml", ".css", ".js", ".html", ".csv", ".yml"}
    texts = [path for room in ("src", "tests", "docs", "examples", "benchmarks") for path in (root / room).rglob("*")]
    broken = [path for path in texts if path.suffix in suffixes and b"\0" in path.read_bytes()]
    assert not broken
