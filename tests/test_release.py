"""What a release consists of agrees with itself: versions, bounds, workflows, and what the archive of sources has."""

from __future__ import annotations

import ast
import re
import tomllib
from datetime import date
from pathlib import Path
from typing import Any

import pytest

import matrics

ROOT = Path(__file__).parents[1]
PROJECT = tomllib.loads((ROOT / "pyproject.toml").read_text("utf-8"))
FOR_DEVELOPERS = ("test", "test-all", "evals", "trainers", "docs", "lint")
CHANGELOG = (ROOT / "CHANGELOG.md").read_text("utf-8")
WORKFLOWS = sorted((ROOT / ".github" / "workflows").glob("*.yml"))


def loaded(name: str) -> Any:
    """A file in YAML."""
    yaml = pytest.importorskip("yaml")
    return yaml.safe_load((ROOT / name).read_text("utf-8"))


def sessions() -> dict[str, list[str]]:
    """Those of noxfile.py, each with its versions of Python; nox itself need not be installed."""
    tree = ast.parse((ROOT / "noxfile.py").read_text("utf-8"))
    assigned = [node for node in tree.body if isinstance(node, ast.Assign)]
    constants = {ast.unparse(node.targets[0]): node.value for node in assigned}
    found = {}
    for node in tree.body:
        for decorator in node.decorator_list if isinstance(node, ast.FunctionDef) else ():
            if ast.unparse(decorator).startswith("nox.session"):
                options = {word.arg: word.value for word in getattr(decorator, "keywords", ())}
                pythons = options.get("python")  # one alone, as that of lowest, is no part of the name
                found[node.name] = ast.literal_eval(constants[pythons.id]) if isinstance(pythons, ast.Name) else []
    return found


def test_sessions_are_found() -> None:
    assert {"numpy", "lowest", "sdist", "bare"} <= set(sessions())
    assert sessions()["numpy"] == ["3.11", "3.12", "3.13"]
    assert sessions()["lint"] == []


def test_the_workflows_run_every_session() -> None:
    """By the name that nox gives it, on each version of Python; and no other."""
    named = set()
    for path in WORKFLOWS:
        for job in loaded(str(path.relative_to(ROOT)))["jobs"].values():
            matrix = job.get("strategy", {}).get("matrix", {})
            choices = [{"session": name} for name in matrix.get("session", [])] + matrix.get("include", [])
            choices += [{"python": version} for version in matrix.get("python", [])]
            for step in job.get("steps", []):
                for asked in re.findall(r'nox -s "(.+?)"', step.get("run", "")):
                    key = re.search(r"\$\{\{ matrix\.(\w+) \}\}", asked)
                    assert key is not None, asked
                    named |= {asked.replace(key[0], choice[key[1]]) for choice in choices if key[1] in choice}
    wanted = {
        f"{name}-{python}" if python else name for name, all_of in sessions().items() for python in all_of or [""]
    }
    assert named == wanted


def test_the_guide_has_every_session() -> None:
    guide = (ROOT / "CONTRIBUTING.md").read_text("utf-8")
    rows = [line for line in guide.splitlines() if line.startswith("| `nox")]
    listed = {name for row in rows for name in re.findall(r"nox -s (\w+)", row)}
    assert listed == set(sessions())


def test_versions_agree() -> None:
    """A version that is released has a dated section in the changelog, below that of what comes next."""
    version = matrics.__version__
    assert re.fullmatch(r"\d+\.\d+\.\d+", version)
    headings = re.findall(r"^## \[(.+?)\](?: - (.+))?$", CHANGELOG, re.MULTILINE)
    assert headings[0] == ("Unreleased", "")
    assert headings[1][0] == version
    citation = loaded("CITATION.cff")
    assert str(citation["version"]) == version
    assert date.fromisoformat(headings[1][1]) == date.fromisoformat(str(citation["date-released"]))
    assert loaded("packaging/conda/recipe.yaml")["context"]["version"] == version


def test_the_recipe_asks_for_what_the_package_asks_for() -> None:
    """The package with its command line, by the names that conda-forge has for them."""
    recipe, project = loaded("packaging/conda/recipe.yaml"), PROJECT["project"]
    wanted = {*project["dependencies"], *project["optional-dependencies"]["cli"]}
    run = {line.replace(" ", "") for line in recipe["requirements"]["run"]}
    assert run == {*wanted, "python>=${{python_min}}"}
    assert project["requires-python"] == f">={recipe['context']['python_min']}"
    extras = {line for group in project["optional-dependencies"].values() for line in group}
    beside = {line.replace(" ", "").replace("pytorch", "torch") for line in recipe["requirements"]["run_constraints"]}
    assert beside <= extras
    assert [f"{name} = {where}" for name, where in project["scripts"].items()] == recipe["build"]["python"][
        "entry_points"
    ]
    assert recipe["about"]["license"] == project["license"] == loaded("CITATION.cff")["license"]


def test_versions_of_python_agree() -> None:
    classifiers = re.findall(r"Python :: (3\.\d+)", "\n".join(PROJECT["project"]["classifiers"]))
    assert sessions()["numpy"] == classifiers
    assert PROJECT["project"]["requires-python"] == f">={classifiers[0]}"


def test_every_requirement_of_users_has_one_lower_bound() -> None:
    """Which ``nox -s lowest`` installs."""
    project = PROJECT["project"]
    extras = project["optional-dependencies"]
    groups = [
        project["dependencies"],
        *(extras[name] for name in extras if name not in FOR_DEVELOPERS),
    ]
    found: dict[str, set[str]] = {}
    for line in (line for group in groups for line in group if not line.startswith("matrics[")):
        match = re.fullmatch(r"([\w-]+)(?:\[[\w,]+\])?>=([\d.]+)", line)
        assert match is not None, line
        found.setdefault(match[1], set()).add(match[2])
    assert {name: bounds for name, bounds in found.items() if len(bounds) != 1} == {}


def test_all_is_every_extra_of_users() -> None:
    extras = PROJECT["project"]["optional-dependencies"]
    (everything,) = extras["all"]
    named = set(everything.removeprefix("matrics[").removesuffix("]").split(","))
    assert named == set(extras) - {"all", *FOR_DEVELOPERS}


def test_the_archive_has_what_its_tests_read() -> None:
    """What the tests read from the repository's root is included, or added by hatchling; what is included is there."""
    included = PROJECT["tool"]["hatch"]["build"]["targets"]["sdist"]["include"]
    assert [path for path in included if not (ROOT / path.lstrip("/")).exists()] == []
    added = {"/pyproject.toml", "/README.md", "/LICENSE"}
    read = {f"/{name}" for path in (ROOT / "tests").glob("*.py") for name in read_from_root(path)}
    assert {"/docs", "/examples", "/CONTRIBUTING.md", "/CHANGELOG.md"} <= read
    assert read <= {*included, *added}
    assert {"/conftest.py", "/src", "/tests", "/tools"} <= set(included)


def read_from_root(path: Path) -> set[str]:
    """What stands after ``ROOT /`` or ``parents[1] /`` in a test, and is there."""
    named = re.findall(r'(?:ROOT|parents\[1\]\)?)(?: / |\.joinpath\()\(?"([\w.-]+)', path.read_text("utf-8"))
    return {name for name in named if (ROOT / name).exists()}
