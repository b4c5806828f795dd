"""Random mutants of the sources, and whether the default tests, only the exhaustive ones, or none of them fail.

``python tools/mutants.py 100`` makes a hundred: an operator, a number or a condition of a random line is replaced by
another. The default tests run once, and ``reached.py`` records which of them reach these lines; each mutant then meets
the tests that reach its line, those of the files with the most specific names first. With ``--exhaustive`` the same is
done with the exhaustive tests for the mutants that are left; that run takes half an hour more. No file is changed: the
mutant is in the memory of one process. So tests that start processes of their own do not see it.
"""

from __future__ import annotations

import argparse
import ast
import collections
import contextlib
import functools
import importlib.abc
import importlib.machinery
import importlib.util
import itertools
import json
import math
import os
import random
import re
import signal
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from types import ModuleType

import pytest

ROOT = Path(__file__).parents[1]
FILES = 8  # of tests in a process
# Modules of other libraries that are imported once, and not for each mutant.
SHARED = ("numpy", "scipy.stats", "sklearn.metrics", "pandas", "polars", "pyarrow", "torch")
SWAPS: dict[type[ast.AST], type[ast.AST]] = {
    ast.Lt: ast.LtE,
    ast.LtE: ast.Lt,
    ast.Gt: ast.GtE,
    ast.GtE: ast.Gt,
    ast.Eq: ast.NotEq,
    ast.NotEq: ast.Eq,
    ast.Is: ast.IsNot,
    ast.IsNot: ast.Is,
    ast.In: ast.NotIn,
    ast.NotIn: ast.In,
    ast.Add: ast.Sub,
    ast.Sub: ast.Add,
    ast.Mult: ast.Div,
    ast.Div: ast.Mult,
    ast.FloorDiv: ast.Mult,
    ast.And: ast.Or,
    ast.Or: ast.And,
}


@dataclass(frozen=True)
class Mutant:
    """A module with a change in a line."""

    path: Path
    line: int
    before: str
    after: str
    text: str  # of the whole module
    names: tuple[str, ...]  # of the function and of the module

    @property
    def is_code(self) -> bool:
        """Not so inside an f-string."""
        try:
            compile(self.text, str(self.path), "exec")
        except SyntaxError:
            return False
        return True

    @property
    def place(self) -> str:
        """The file, in the package, and the line."""
        return f"{self.path.relative_to(ROOT / 'src' / 'matrics').as_posix()}:{self.line}"

    @property
    def module(self) -> str:
        """Its name for ``import``."""
        parts = self.path.relative_to(ROOT / "src").with_suffix("").parts
        return ".".join(parts[:-1] if parts[-1] == "__init__" else parts)


def changed(node: ast.AST) -> ast.expr | None:
    """The expression in place of this one."""
    match node:
        case ast.Compare(left=left, ops=[operator], comparators=others) if type(operator) in SWAPS:
            return ast.Compare(left, [SWAPS[type(operator)]()], others)  # type: ignore[list-item]
        case ast.BinOp(left=left, op=operator, right=right) if type(operator) in SWAPS:
            return ast.BinOp(left, SWAPS[type(operator)](), right)  # type: ignore[arg-type]
        case ast.BoolOp(op=operator, values=values):
            return ast.BoolOp(SWAPS[type(operator)](), values)  # type: ignore[arg-type]
        case ast.UnaryOp(op=ast.Not(), operand=operand):
            return operand
        case ast.Constant(value=bool(value)):
            return ast.Constant(not value)
        case ast.Constant(value=int(value)):
            return ast.Constant(value + 1)
        case _:
            return None


def mutants_of(path: Path) -> Iterator[Mutant]:
    """All of a module, without its annotations."""
    source = path.read_text("utf-8")
    lines = source.splitlines(keepends=True)
    functions: list[tuple[ast.AST, tuple[str, ...]]] = [(ast.parse(source), ())]
    while functions:
        node, names = functions.pop()
        if isinstance(node, ast.FunctionDef | ast.ClassDef):
            names = (*names, node.name)
        for field, value in ast.iter_fields(node):
            if field in {"annotation", "returns", "type_params"}:
                continue
            functions += [
                (child, names)
                for child in (value if isinstance(value, list) else [value])
                if isinstance(child, ast.AST)
            ]
        new = changed(node) if names else None
        if new is None or not isinstance(node, ast.expr) or node.lineno != node.end_lineno:
            continue
        raw = lines[node.lineno - 1].encode()
        before, after = raw[node.col_offset : node.end_col_offset].decode(), f"({ast.unparse(new)})"
        line = raw[: node.col_offset].decode() + after + raw[node.end_col_offset :].decode()
        text = "".join([*lines[: node.lineno - 1], line, *lines[node.lineno :]])
        yield Mutant(path, node.lineno, before, after, text, (path.stem, *names))


@functools.cache
def words() -> dict[Path, set[str]]:
    """Those of each file of tests."""
    return {path: set(re.findall(r"\w+", path.read_text("utf-8"))) for path in ROOT.glob("tests/test_*.py")}


def by_names(mutant: Mutant, files: set[str]) -> list[str]:
    """Files, first those that share the rarest names with the mutant; names that most files have say nothing."""
    names = {part for name in mutant.names for part in (name, name.strip("_"))}
    names |= {*mutant.module.split(".")[1:], f"test_{mutant.path.stem}"}
    weights = {
        name: math.log(len(words()) / number)
        for name in names
        if (number := sum(name in each or name in path.stem for path, each in words().items()))
    }

    def weight(file: str) -> float:
        path = ROOT / file
        return sum(one for name, one in weights.items() if name in words().get(path, ()) or name in path.stem)

    return sorted(files, key=lambda file: (-weight(file), file))


def tests_by_line(mutants: list[Mutant], *options: str) -> dict[str, list[str]]:
    """The tests that reach each line, from a run of all."""
    lines: dict[str, set[int]] = collections.defaultdict(set)
    for mutant in mutants:
        lines[mutant.path.relative_to(ROOT / "src").as_posix()].add(mutant.line)
    with tempfile.TemporaryDirectory() as folder:
        file = Path(folder, "lines")
        file.write_text(json.dumps({path: sorted(numbers) for path, numbers in lines.items()}), "utf-8")
        environment = os.environ | {"MATRICS_LINES": str(file), "MATRICS_REACHED": folder}
        environment["PYTHONPATH"] = os.pathsep.join([str(ROOT / "tools"), str(ROOT / "src")])
        command = [sys.executable, "-m", "pytest", "-q", "-p", "reached", "-p", "no:cacheprovider", *options]
        subprocess.run(command, cwd=ROOT, env=environment, check=False)  # noqa: S603
        reached: dict[str, list[str]] = collections.defaultdict(list)
        for path in Path(folder).glob("*.json"):
            for line, tests in json.loads(path.read_text("utf-8")).items():
                reached[line] += tests
    return reached


class Finder(importlib.abc.MetaPathFinder):
    """Imports the mutant in place of its module."""

    def __init__(self, mutant: Mutant) -> None:
        self.mutant = mutant

    def find_spec(self, name: str, path: object = None, target: object = None) -> importlib.machinery.ModuleSpec | None:  # noqa: ARG002
        """Only of its module."""
        if name != self.mutant.module:
            return None
        loader = Loader(name, str(self.mutant.path))
        loader.text = self.mutant.text
        return importlib.util.spec_from_file_location(name, self.mutant.path, loader=loader)


class Loader(importlib.machinery.SourceFileLoader):
    """Executes another text than that of the file."""

    text = ""

    def exec_module(self, module: ModuleType) -> None:
        """Without the cached bytecode, which is that of the file."""
        exec(compile(self.text, self.path, "exec"), module.__dict__)  # noqa: S102


class Report:
    """A plugin of pytest that runs certain tests, and writes the names of failed ones to a pipe."""

    def __init__(self, mutant: Mutant, tests: set[str], pipe: int) -> None:
        self.mutant, self.tests, self.pipe = mutant, tests, pipe

    @pytest.hookimpl(tryfirst=True)
    def pytest_collection_modifyitems(self, items: list[pytest.Item]) -> None:
        """The tests alone, if there are any."""
        items[:] = [item for item in items if item.nodeid in self.tests or not self.tests]

    def pytest_sessionstart(self) -> None:
        """Before pytest's own finder, too, which takes the modules that are named on its command line."""
        sys.meta_path.insert(0, Finder(self.mutant))

    def pytest_runtest_logreport(self, report: pytest.TestReport) -> None:
        """A test."""
        if report.failed:
            os.write(self.pipe, report.nodeid.encode())

    def pytest_collectreport(self, report: pytest.CollectReport) -> None:
        """A file that cannot be imported."""
        if report.failed:
            os.write(self.pipe, f"import of {report.nodeid}".encode())


def failure(mutant: Mutant, tests: set[str], *options: str, seconds: int) -> str:
    """The first of the tests that fails with the mutant, "" if none does.

    What runs when a module is imported is reached by no test: then the tests of a few files take part.
    """
    end = time.monotonic() + seconds
    everywhere = {path.relative_to(ROOT).as_posix() for path in words()}
    chosen = by_names(mutant, {test.partition("::")[0] for test in tests} or everywhere)
    files = iter(chosen if tests else chosen[:FILES])
    while some := list(itertools.islice(files, FILES)):
        test = _failure_in(some, mutant, tests, *options, end=end)
        if test:
            return test
    return ""


def _failure_in(files: list[str], mutant: Mutant, tests: set[str], *options: str, end: float) -> str:
    read, write = os.pipe()
    child = os.fork()
    if child == 0:
        sys.meta_path.insert(0, Finder(mutant))
        with Path(os.devnull).open("w") as quiet:
            os.dup2(quiet.fileno(), 1)
            os.dup2(quiet.fileno(), 2)
        arguments = ["-x", "-q", "-n0", "-p", "no:cacheprovider", *options, *files]
        status = int(pytest.main(arguments, plugins=[Report(mutant, tests, write)]))
        os._exit(status if status != pytest.ExitCode.NO_TESTS_COLLECTED else 0)
    os.close(write)
    done = 0
    while not done:
        if time.monotonic() > end:
            os.kill(child, signal.SIGKILL)
        done, status = os.waitpid(child, os.WNOHANG)
        time.sleep(0.05)
    with os.fdopen(read, "rb") as pipe:
        test = pipe.read().decode()
    code = os.waitstatus_to_exitcode(status)
    if code < 0:
        raise TimeoutError
    if code and not test:
        raise SystemExit(f"pytest ended with {code} before any test of {files}")
    return test


def main() -> None:
    """Print a line for each mutant, and their numbers."""
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0] if __doc__ else "")
    parser.add_argument("number", type=int)
    parser.add_argument("--seed", type=int, default=0)
    parser.add_argument("--seconds", type=int, default=300, help="of the tests of a mutant")
    parser.add_argument("--only", nargs="+", help="the mutants at these places, such as _plot/lines.py:119")
    parser.add_argument("--exhaustive", action="store_true", help="the exhaustive tests, too")
    options = parser.parse_args()
    os.chdir(ROOT)
    sys.path[:0] = [str(ROOT / "src"), str(ROOT / "tests")]
    os.environ |= dict.fromkeys(("OMP_NUM_THREADS", "OPENBLAS_NUM_THREADS", "MKL_NUM_THREADS"), "1")
    everything = [
        mutant
        for path in sorted((ROOT / "src" / "matrics").rglob("*.py"))
        if "triton" not in path.name
        for mutant in mutants_of(path)
    ]
    random.Random(options.seed).shuffle(everything)  # noqa: S311
    left = list(itertools.islice((mutant for mutant in everything if mutant.is_code), options.number))
    if options.only:
        left = [mutant for mutant in left if mutant.place in options.only]
    print(f"{len(left)} of {len(everything)} mutants", flush=True)
    for name in SHARED:
        with contextlib.suppress(ImportError):
            importlib.import_module(name)
    for kind, chosen in (("by default", ()), ("exhaustive", ("--exhaustive-only",)))[: 1 + options.exhaustive]:
        reached = tests_by_line(left, *chosen)
        outcomes = {mutant: outcome(mutant, reached, *chosen, seconds=options.seconds) for mutant in left}
        left = [mutant for mutant, is_detected in outcomes.items() if not is_detected]
        print(f"{len(outcomes) - len(left)} of {len(outcomes)} detected {kind}", flush=True)


def outcome(mutant: Mutant, reached: dict[str, list[str]], *options: str, seconds: int) -> bool:
    """Whether a test fails with the mutant; prints a line about it."""
    begin = time.monotonic()
    tests = set(reached.get(f"{mutant.path.relative_to(ROOT / 'src').as_posix()}:{mutant.line}", ()))
    try:
        test = failure(mutant, tests, *options, seconds=seconds)
        kind = "detected" if test else "not detected"
    except TimeoutError:
        test, kind = "", "out of time"
    change = f"{mutant.before} → {mutant.after}"
    print(
        f"{kind:13}{time.monotonic() - begin:4.0f} s, {len(tests):5} tests  {mutant.place}  {change}  {test}",
        flush=True,
    )
    return bool(test)


if __name__ == "__main__":
    main()
