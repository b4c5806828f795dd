"""The project's checks, each in an environment of its own: ``nox -s numpy``, ``nox -s docs``; ``nox -l`` lists them."""

import shutil
import tarfile
from pathlib import Path

import nox
from packaging.requirements import Requirement

# PyTorch's CPU build comes through pip and its settings, so pip makes the environments.
nox.options.default_venv_backend = "venv"
nox.options.reuse_venv = "yes"
nox.options.sessions = ["lint", "types", "tests", "docs"]

# A looser requirement downloads gigabytes of CUDA.
TORCH = "torch==2.13.0"
RUNNER = ("pytest<9.2", "pytest-xdist", "psutil", "hypothesis", "mpmath", "gmpy2", "array-api-strict")
EVERYTHING = ("tests", "src", "README.md", "docs")
EVALS = ("tests/test_evals.py", "tests/test_evals_compare.py", "tests/test_cli_evals.py", "docs/evals.md")
PYTHONS = ["3.11", "3.12", "3.13"]  # those of which none is installed here are skipped


def one_backend(session: nox.Session, backend: str, *packages: str, paths: tuple[str, ...] = ("tests",)) -> None:
    """Run the tests on one backend with no other installed; MATRICS_BACKEND tells tests/conftest.py which."""
    session.install("-e", ".", *RUNNER, *packages)
    command = ("python", "-m", "pytest", *(session.posargs or paths))
    session.run(*command, env={"MATRICS_BACKEND": backend})


@nox.session(python=PYTHONS)
def numpy(session: nox.Session) -> None:
    """NumPy, with scikit-learn as a referee; the docs, too, must hold without PyTorch and JAX."""
    one_backend(session, "numpy", "scikit-learn", paths=("tests", "docs"))


@nox.session
def strict(session: nox.Session) -> None:
    """The array API standard and nothing beyond it."""
    one_backend(session, "strict")


@nox.session
def torch(session: nox.Session) -> None:
    """PyTorch."""
    one_backend(session, "torch,torch-grad", TORCH, "torchmetrics", "lightning", "scikit-learn")


@nox.session(python=PYTHONS)
def jax(session: nox.Session) -> None:
    """JAX as it comes: 32-bit."""
    one_backend(session, "jax", "jax", "flax", "scikit-learn")


@nox.session
def jax_x64(session: nox.Session) -> None:
    """JAX with 64-bit numbers."""
    one_backend(session, "jax-x64", "jax", "flax", "scikit-learn")


@nox.session
def devices(session: nox.Session) -> None:
    """What arrays on a device take, with arrays of the CPU in their place."""
    session.install("-e", ".", *RUNNER, TORCH, "jax", "flax", "torchmetrics", "scikit-learn")
    for backend in ("torch-device", "jax-device"):
        command = ("python", "-m", "pytest", "-k", "device", *(session.posargs or ("tests",)))
        session.run(*command, env={"MATRICS_BACKEND": backend})


@nox.session
def kernels(session: nox.Session) -> None:
    """The kernels for GPUs, by Triton's interpreter."""
    session.install("-e", ".", *RUNNER, TORCH, "triton==3.6.0")
    session.run("python", "-m", "pytest", "--exhaustive", "tests/test_kernels.py", env={"TRITON_INTERPRET": "1"})


@nox.session
def tests(session: nox.Session) -> None:
    """Everything on all backends, with a report of the branches that no test takes."""
    session.install("-e", ".[test-all]")
    coverage = ("--cov", "--cov-branch", "--cov-report=term-missing")
    command = ("python", "-m", "pytest", *coverage, *(session.posargs or EVERYTHING))
    session.run(*command, env={"MATRICS_BACKEND": "all"})


@nox.session
def evals(session: nox.Session) -> None:
    """Evaluation logs that Inspect and lm-evaluation-harness write here and now; each tool says what it printed."""
    tools, logs = Path(session.create_tmp()).resolve() / "tools", Path(session.create_tmp()).resolve() / "logs"
    session.run("python", "-m", "venv", str(tools))
    # Apart from what reads them: the tools ask for many other packages, and PyTorch.
    python = next(str(tools / place) for place in ("bin/python", "Scripts/python.exe") if (tools / place).exists())
    session.run(python, "-m", "pip", "install", "-q", TORCH, *extra("evals"), external=True)
    session.run(python, "examples/make_eval_logs.py", str(logs), external=True)
    session.install("-e", ".[report]", *RUNNER, "pandas", "polars", "scipy", "statsmodels")
    command = ("python", "-m", "pytest", *(session.posargs or EVALS))
    session.run(*command, env={"MATRICS_BACKEND": "numpy", "MATRICS_EVAL_LOGS": str(logs)})


@nox.session
def exhaustive(session: nox.Session) -> None:
    """What the others leave out, too, on all backends."""
    session.install("-e", ".[test-all]")
    command = ("python", "-m", "pytest", "--exhaustive", "--durations=25", *session.posargs)
    session.run(*command, env={"MATRICS_BACKEND": "all"})


@nox.session
def trainers(session: nox.Session) -> None:
    """Hugging Face, Keras, skorch, Ignite, Accelerate and Optuna: the tests that the others skip."""
    session.install("-e", ".[trainers]")
    paths = ("tests/test_transformers.py", "tests/test_recipes.py")
    session.run("python", "-m", "pytest", "--exhaustive", *(session.posargs or paths))


@nox.session
def lint(session: nox.Session) -> None:
    """Ruff: rules and format."""
    session.install("-e", ".[lint]")
    session.run("ruff", "check", *(session.posargs or ["."]))
    session.run("ruff", "format", "--check", *(session.posargs or ["."]))


@nox.session
def types(session: nox.Session) -> None:
    """Mypy, strict."""
    session.install("-e", ".[cli,lint]")
    session.run("mypy", *session.posargs)


@nox.session
def stubs(session: nox.Session) -> None:
    """Write down again what measures take, for type checkers; after a measure or its options have changed."""
    session.install("-e", ".")
    session.run("python", "tools/stubs.py")


@nox.session
def docs(session: nox.Session) -> None:
    """The pages; a warning is an error."""
    # Libraries whose classes the pages show; scikit-learn and torchmetrics are run beside this one.
    session.install("-e", ".[docs,torchmetrics,flax,dask,xarray]", TORCH, "scikit-learn>=1.9")
    session.run("sphinx-build", "-W", "--keep-going", "-b", "html", *session.posargs, "docs", "docs/_build/html")


@nox.session(venv_backend="none")
def pages(session: nox.Session) -> None:
    """Every built page in a browser: accessibility, width, network, links; needs Node, npm and Chromium."""
    tools = Path(session.create_tmp()).resolve()
    session.run("npm", "install", "--no-fund", "--no-audit", "--prefix", str(tools), "puppeteer-core@24", "axe-core@4")
    command = ("node", "docs/check_pages.js", *(session.posargs or ["docs/_build/html"]))
    session.run(*command, env={"NODE_PATH": str(tools / "node_modules")})


@nox.session
def doctests(session: nox.Session) -> None:
    """Every example of the docstrings, the read-me and the pages."""
    session.install("-e", ".[test-all]")
    session.run("python", "-m", "pytest", *(session.posargs or ["src", "README.md", "docs"]))


@nox.session
def bench(session: nox.Session) -> None:
    """The benchmarks; what follows ``--`` is handed to run.py (``--json FILE``, ``--plot FILE``)."""
    session.install("-e", ".[test-all]")
    session.run("python", "benchmarks/run.py", *session.posargs)
    session.run("python", "benchmarks/start.py")
    session.run("python", "benchmarks/catalogue.py")
    session.run("python", "benchmarks/backends.py")
    session.run("python", "benchmarks/training.py")
    session.run("python", "benchmarks/uncertainty.py")
    session.run("python", "benchmarks/study.py")
    session.run("python", "benchmarks/ranking.py")
    session.run("python", "benchmarks/multilabel.py")
    session.run("python", "benchmarks/groups.py")
    session.run("python", "benchmarks/scorers.py")
    session.run("python", "benchmarks/many_classes.py")
    session.run("python", "benchmarks/score_state.py")
    session.run("python", "benchmarks/dask_cluster.py")
    session.run("python", "benchmarks/command_line.py")
    session.run("python", "benchmarks/count_labels.py")
    session.run("python", "benchmarks/evals_coverage.py", "--num", "200")
    session.run("python", "benchmarks/prevalence_coverage.py", "--sets", "200")


INSTALLED = """
import importlib.util
import matrics
assert "site-packages" in matrics.__file__, matrics.__file__
assert matrics.score([[8, 2], [2, 8]], "accuracy")["accuracy"] == 0.8
"""

BARE = f"""{INSTALLED}
for name in ("torch", "jax", "array_api_strict", "typer"):
    assert importlib.util.find_spec(name) is None, name + " is installed"
"""

BARE_COMMAND = """
import subprocess, sys
run = subprocess.run([sys.argv[1]], capture_output=True, text=True)
print(run.stdout + run.stderr, end="")
assert run.returncode == 2, f"exit code {run.returncode}, expected 2"
said = (run.stdout + run.stderr).strip()
assert said.count("\\n") == 0 and "matrics[cli]" in said, "expected one line that names matrics[cli]"
"""


@nox.session(reuse_venv=False)
def bare(session: nox.Session) -> None:
    """The wheel alone, as ``pip install matrics`` has it."""
    wheels = Path(session.create_tmp()) / "wheels"
    shutil.rmtree(wheels, ignore_errors=True)
    session.run("python", "-m", "pip", "wheel", "-q", "--no-deps", "-w", str(wheels), ".")
    session.install(*map(str, wheels.glob("*.whl")))
    # Away from the tree, so that what is imported is what is installed.
    session.chdir(wheels)
    session.run("python", "-c", BARE)
    session.run("python", "-c", BARE_COMMAND, str(Path(session.bin) / "matrics"))


def extra(name: str) -> list[str]:
    """The requirements of an extra."""
    found: list[str] = nox.project.load_toml("pyproject.toml")["project"]["optional-dependencies"][name]
    return found


def lowest_versions() -> list[str]:
    """The lowest version of everything that pyproject.toml names for users, as constraints of pip."""
    project = nox.project.load_toml("pyproject.toml")["project"]
    extras = project["optional-dependencies"]
    for_users = [
        extras[name] for name in extras if name not in ("test", "test-all", "evals", "trainers", "docs", "lint")
    ]
    found = map(Requirement, (text for group in (project["dependencies"], *for_users) for text in group))
    bounds: dict[str, set[str]] = {}
    for one in found:
        if one.name != project["name"]:
            bounds.setdefault(one.name, set()).update(str(part) for part in one.specifier if part.operator == ">=")
    for name, versions in bounds.items():
        if len(versions) != 1:
            raise ValueError(f"pyproject.toml: expected one lower bound of {name}, got {sorted(versions)}")
    return [f"{name}{min(versions).replace('>=', '==')}" for name, versions in sorted(bounds.items())]


@nox.session(python=PYTHONS[0])
def lowest(session: nox.Session) -> None:
    """The lowest versions that pyproject.toml allows: NumPy, JAX, the command line and what else does not need PyTorch.

    They say ``DeprecationWarning`` where their own requirements, which are as new as can be, have moved on.
    """
    constraints = Path(session.create_tmp()) / "lowest.txt"
    constraints.write_text("\n".join(lowest_versions()))
    session.log(f"constraints: {', '.join(lowest_versions())}")
    session.install("-c", str(constraints), "-e", ".[all]", *RUNNER, TORCH)
    command = ("python", "-m", "pytest", "-W", "ignore::DeprecationWarning", *(session.posargs or ["tests"]))
    session.run(*command, env={"MATRICS_BACKEND": "numpy,jax"})


@nox.session(reuse_venv=False)
def sdist(session: nox.Session) -> None:
    """The release's two files: checked by twine, installed from the source alone, and tested from there."""
    made = Path(session.create_tmp()) / "made"
    shutil.rmtree(made, ignore_errors=True)
    session.install("build", "twine")
    session.run("python", "-m", "build", "-q", "--outdir", str(made), ".")
    session.run("twine", "check", "--strict", *map(str, sorted(made.iterdir())))
    (archive,) = made.glob("*.tar.gz")
    with tarfile.open(archive) as opened:
        opened.extractall(made, filter="data")
    session.install(str(archive))
    session.chdir(made)  # away from the tree, as in bare
    session.run("python", "-c", INSTALLED)
    session.chdir(made / archive.name.removesuffix(".tar.gz"))
    session.install("-e", ".[test-all]")
    session.run("python", "-m", "pytest", *(session.posargs or EVERYTHING))
