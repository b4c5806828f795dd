"""A plugin of pytest that records which tests reach certain lines of the sources: ``-p reached``.

``MATRICS_LINES`` names a file of JSON with the lines of each source file, and ``MATRICS_REACHED`` a folder, in which
each process of pytest writes a file with the names of the tests by line. Tests that start other processes are recorded
only as far as they run in their own. A result that is kept, such as that of a cache, is recorded for the first test.
"""

from __future__ import annotations

import ast
import importlib.abc
import importlib.machinery
import importlib.util
import json
import os
import sys
from collections.abc import Callable
from pathlib import Path
from types import ModuleType

import pytest

SOURCES = Path(__file__).parents[1] / "src"
LINES: dict[str, list[int]] = json.loads(Path(os.environ["MATRICS_LINES"]).read_text("utf-8"))
REACHED: dict[str, set[str]] = {}
RUNNING = [""]  # the name of the test


def module_name(path: Path) -> str:
    """The name of a source file for ``import``."""
    parts = path.relative_to(SOURCES).with_suffix("").parts
    return ".".join(parts[:-1] if parts[-1] == "__init__" else parts)


def recorder(line: str) -> Callable[[], None]:
    """A function for a line, which torch.compile can trace."""
    tests = REACHED.setdefault(line, set())

    def record() -> None:
        torch = sys.modules.get("torch")
        if torch is None or not torch.compiler.is_compiling():
            tests.add(RUNNING[0])

    return record


class Marked(ast.NodeTransformer):
    """Calls the recorder of a line before the innermost statement that has the line."""

    def __init__(self, path: str) -> None:
        self.path, self.functions = path, dict[str, Callable[[], None]]()

    def visit(self, node: ast.AST) -> ast.AST:
        """A node whose statements are lists."""
        self.generic_visit(node)
        if isinstance(node, ast.ClassDef | ast.Module):  # these run when they are imported
            return node
        for field in ("body", "orelse", "finalbody"):
            statements = getattr(node, field, None)
            if isinstance(statements, list):
                setattr(node, field, [new for statement in statements for new in (*self.calls(statement), statement)])
        return node

    def calls(self, statement: ast.stmt) -> list[ast.stmt]:
        """The calls before a statement."""
        inner = {line for child in ast.walk(statement) if isinstance(child, ast.stmt) and child is not statement
                 for line in range(child.lineno, (child.end_lineno or child.lineno) + 1)}  # fmt: skip
        made: list[ast.stmt] = []
        for line in LINES[self.path]:
            if statement.lineno <= line <= (statement.end_lineno or 0) and line not in inner:
                name = f"_reached_{line}"
                self.functions[name] = recorder(f"{self.path}:{line}")
                call = ast.Expr(ast.Call(ast.Name(name, ast.Load()), [], []))
                made.append(ast.fix_missing_locations(ast.copy_location(call, statement)))
        return made


class Loader(importlib.machinery.SourceFileLoader):
    """Executes a module with the calls of recorders."""

    def exec_module(self, module: ModuleType) -> None:
        """Without the cached bytecode, which is that of the file."""
        marked = Marked(Path(self.path).relative_to(SOURCES).as_posix())
        tree = ast.parse(Path(self.path).read_text("utf-8"))
        marked.visit(tree)
        module.__dict__.update(marked.functions)
        exec(compile(tree, self.path, "exec"), module.__dict__)  # noqa: S102


class Finder(importlib.abc.MetaPathFinder):
    """Finds the modules that have lines to record."""

    def __init__(self) -> None:
        self.paths = {module_name(SOURCES / path): SOURCES / path for path in LINES}

    def find_spec(self, name: str, path: object = None, target: object = None) -> importlib.machinery.ModuleSpec | None:  # noqa: ARG002
        """A module with recorders."""
        place = self.paths.get(name)
        return (
            None
            if place is None
            else importlib.util.spec_from_file_location(name, place, loader=Loader(name, str(place)))
        )


sys.meta_path.insert(0, Finder())


def pytest_sessionstart() -> None:
    """Before pytest's own finder, too, which takes the modules that are named on its command line."""
    sys.meta_path.insert(0, Finder())


@pytest.hookimpl(tryfirst=True)
def pytest_runtest_protocol(item: pytest.Item) -> None:
    """The name of the test, without the group that pytest-xdist adds."""
    group = item.get_closest_marker("xdist_group")
    name = "" if group is None else str(group.args[0] if group.args else group.kwargs["name"])
    RUNNING[0] = item.nodeid.removesuffix(f"@{name}")


def pytest_sessionfinish() -> None:
    """Write what this process has recorded."""
    reached = {line: sorted(tests) for line, tests in REACHED.items() if tests}
    Path(os.environ["MATRICS_REACHED"], f"{os.getpid()}.json").write_text(json.dumps(reached), "utf-8")
