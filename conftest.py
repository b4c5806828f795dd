"""For all of pytest's roads into the project: the tests, the docstrings, the README and the pages."""

from __future__ import annotations

import contextlib
import ctypes
import doctest
import gc
import importlib.metadata
import importlib.util
import linecache
import os
import re
import sys
import tempfile
import threading
import zlib
from collections.abc import Iterator
from pathlib import Path
from typing import Any

# Two processes share the work; each of their libraries would start a thread for every core beside it. These are read
# when a library is loaded, and none is yet.
for variable in ("OMP_NUM_THREADS", "OPENBLAS_NUM_THREADS", "MKL_NUM_THREADS", "NPROC"):  # the last is XLA's
    os.environ.setdefault(variable, "1")
# Every process that a test starts would otherwise compile all sources anew, and each worker all tests.
sys.dont_write_bytecode = False
os.environ.pop("PYTHONDONTWRITEBYTECODE", None)
os.environ.setdefault("MALLOC_ARENA_MAX", "2")  # or each thread of a process keeps what it has freed for itself
# Most of what JAX compiles here runs once, and three quarters of the time goes into making it fast. Where digits are
# tried, tests/roads.py asks for what users get, which is XLA's default.
FLAGS = [
    "--xla_backend_optimization_level=0",
    "--xla_llvm_disable_expensive_passes=true",
    "--xla_cpu_parallel_codegen_split_count=1",
]
with contextlib.suppress(importlib.metadata.PackageNotFoundError):
    if int(importlib.metadata.version("jaxlib").split(".")[1]) < 11:  # which ends the process for a flag it has not
        FLAGS.append("--xla_cpu_use_fusion_emitters=false")
os.environ.setdefault("XLA_FLAGS", " ".join(FLAGS))

import pytest  # noqa: E402

# Without its extra a module cannot be imported, not even to look for examples in it.
NEEDS = {
    "src/matrics/_integrations/dask": ["dask", "pandas"],
    "src/matrics/_integrations/sklearn.py": ["sklearn"],
    "src/matrics/_integrations/sklearn_folds.py": ["sklearn"],
    "src/matrics/_integrations/xarray.py": ["xarray"],
    "src/matrics/_integrations/xarray_counts.py": ["xarray"],
    "src/matrics/_plot": ["matplotlib"],
    "src/matrics/_reporting": ["jinja2", "matplotlib", "scipy"],
}
FOLDER = Path(__file__).parent
IGNORED = {FOLDER / path for path, names in NEEDS.items() if not all(map(importlib.util.find_spec, names))}
# Modules that tests import have no examples, and importing them for nothing takes seconds.
IGNORED |= {path for path in FOLDER.glob("tests/*.py") if not path.name.startswith("test_")}

# A module without examples need not be imported. tests/test_adapter_examples.py runs the examples of the package, all
# names of which pytest would read, and those of PyTorch and JAX, as only the process that runs them should import both.
APART = ("flax/metrics.py", "torch/metrics.py", "torchmetrics/metrics.py", "transformers.py")
PACKAGE = FOLDER / "src/matrics"
IGNORED |= {PACKAGE / "__init__.py", *(PACKAGE / "_integrations" / name for name in APART)}
IGNORED |= {path for path in PACKAGE.glob("**/*.py") if ">>>" not in path.read_text("utf-8")}

# They run where the pages are built, and have no examples.
IGNORED |= {*FOLDER.glob("docs/**/*.py")}


def pytest_ignore_collect(collection_path: Path) -> bool | None:
    """Ignore these files without pytest's ``collect_ignore``, which makes a path of each entry for every file."""
    return True if collection_path in IGNORED else None


PROCESSES = 2


def pytest_addoption(parser: pytest.Parser) -> None:
    """Without it, what is marked exhaustive is left out."""
    parser.addoption("--exhaustive", action="store_true", help="run the tests marked exhaustive, too")
    parser.addoption(
        "--exhaustive-only", action="store_true", help="run only the tests that the default run leaves out"
    )


@pytest.hookimpl(tryfirst=True)
def pytest_configure(config: pytest.Config) -> None:
    """A folder in which JAX's compiler keeps what it has made, for all processes of this run and for none after it."""
    gc.set_threshold(100_000, 50, 100)  # what is collected stays, so there is little garbage to look for
    config.option.exhaustive |= config.option.exhaustive_only
    if "JAX_COMPILATION_CACHE_DIR" not in os.environ:
        folder = tempfile.TemporaryDirectory()
        config.add_cleanup(folder.cleanup)
        os.environ["JAX_COMPILATION_CACHE_DIR"] = folder.name
        os.environ["JAX_PERSISTENT_CACHE_MIN_COMPILE_TIME_SECS"] = "0"


@pytest.hookimpl(tryfirst=True)
def pytest_cmdline_main(config: pytest.Config) -> None:
    """Folders are run by two processes, unless -n says otherwise; single files and tests by one, which starts sooner.

    Not by addopts, as pytest without xdist (``-p no:xdist``) knows no ``-n``. What shares a compiled graph is a group,
    which one process runs; so is each file (``pytest_xdist_make_scheduler``).
    """
    option = config.option
    if "PYTEST_XDIST_WORKER" in os.environ:  # a process that is one of the two, and would start two more
        option.loadgroup = True  # which a process hears of from the command line alone
        return
    if not config.pluginmanager.hasplugin("xdist") or option.numprocesses is not None or option.dist != "no":
        return
    folders = all(Path(path.partition("::")[0]).is_dir() or path.endswith("README.md") for path in config.args)
    if folders and not (option.usepdb or option.trace) and not option.collectonly:
        option.numprocesses, option.dist = PROCESSES, "loadgroup"
        option.loadscopereorder = False  # groups first, as below


@pytest.hookimpl(optionalhook=True)
def pytest_xdist_make_scheduler(config: pytest.Config, log: Any) -> Any:
    """A file is a group of its own, or several where it has tests of the libraries of ``LIBRARIES``.

    The tests of a group share what JAX has traced. Every other process takes the tests of PyTorch and of both libraries
    first, the rest those of JAX, and then tests of neither: what a library imports and compiles takes some hundred
    megabytes of a process. So in the default run no process takes tests of the other library while there is a process
    for these.
    """
    if config.option.dist != "loadgroup":
        return None
    from xdist.scheduler import LoadGroupScheduling

    class FilesAndGroups(LoadGroupScheduling):
        def _split_scope(self, nodeid: str) -> str:
            return super()._split_scope(nodeid).partition("::")[0]

        def _reschedule(self, node: Any) -> None:
            _, other = self._libraries(node)
            is_left_to_others = len(self.nodes) > 1 and not config.option.exhaustive  # which would take longer
            if not (is_left_to_others and self.workqueue and all(scope.startswith(other) for scope in self.workqueue)):
                super()._reschedule(node)

        def _libraries(self, node: Any) -> tuple[tuple[str, ...], tuple[str, ...]]:
            """The names of the libraries of a process, and of the other processes."""
            return (("torch", "both"), ("jax",)) if self.nodes.index(node) % 2 else (("jax",), ("torch", "both"))

        def _assign_work_unit(self, node: Any) -> None:
            own, other = self._libraries(node)
            order = {scope: 1 - scope.startswith(own) + scope.startswith(other) for scope in self.workqueue}
            scope = min(order, key=order.__getitem__)  # the first of them, as the groups that take longest are
            self.workqueue.move_to_end(scope, last=False)
            super()._assign_work_unit(node)

    return FilesAndGroups(config, log)


LIBRARIES = ("torch", "jax")


def library_of(item: pytest.Item) -> str:
    """Which of the two large libraries a test needs, by its parameters and names: "torch", "jax", "both" or ""."""
    names = set(getattr(item, "fixturenames", ()))
    if hasattr(item, "callspec"):
        names |= {str(value) for value in item.callspec.params.values()}.union(item.callspec.id.split("-"))
    if isinstance(item, pytest.DoctestItem):
        names |= {*re.split(r"\W", item.nodeid)}.union(*(re.split(r"\W", run.source) for run in item.dtest.examples))
    elif isinstance(item, pytest.Function):
        code = item.function.__code__
        constants = [part for one in code.co_consts for part in (one if isinstance(one, tuple) else (one,))]
        names |= {*code.co_names, *(text for text in constants if isinstance(text, str) and " " not in text)}
    names |= {name for name in LIBRARIES if name in vars(getattr(item, "module", None) or object)}
    needs = [any(re.match(pattern, name) for name in names) for pattern in ("torch|lightning", "jax|flax|nnx")]
    return "both" if all(needs) else LIBRARIES[needs.index(True)] if any(needs) else ""


def pytest_itemcollected(item: pytest.Item) -> None:
    """Skip single examples of a page: the block of code after ``<!-- needs: h5py -->``, where h5py is not installed."""
    if not isinstance(item, pytest.DoctestItem) or item.path.suffix != ".md":
        return
    text = item.dtest.docstring or ""
    for block in re.finditer(r"<!-- needs: ([^>]+) -->\n\n```python\n.*?^```$", text, re.DOTALL | re.MULTILINE):
        if not all(map(importlib.util.find_spec, block[1].split(", "))):
            first, last = (text.count("\n", 0, end) for end in block.span())
            for example in item.dtest.examples:
                if first < example.lineno < last:
                    example.options[doctest.SKIP] = True


@pytest.hookimpl(tryfirst=True)  # before xdist reads the groups
def pytest_collection_modifyitems(config: pytest.Config, items: list[pytest.Item]) -> None:
    """Groups first, which take longest; then the tests of the default run, all tests, or only the others."""
    items.sort(key=lambda item: item.get_closest_marker("xdist_group") is None)
    if "PYTEST_XDIST_WORKER" in os.environ:
        for item in items:
            library = library_of(item)
            if library and item.get_closest_marker("xdist_group") is None:
                item.add_marker(pytest.mark.xdist_group(f"{library} {item.path.name}"))
    only = config.option.exhaustive_only
    if config.option.exhaustive and not only:
        return
    default = sampled([item for item in items if not is_exhaustive(item)])
    if "PYTEST_XDIST_WORKER" not in os.environ:  # where nobody reads their number, and they would stay in memory
        config.hook.pytest_deselected(items=[item for item in items if (item in default) == only])
    items[:] = [item for item in items if (item in default) != only]


def pytest_collection_finish() -> None:
    """Thousands of tests and their modules stay: Python need not look at them again whenever it looks for garbage."""
    global HELD  # noqa: PLW0603
    linecache.clearcache()  # the sources that docstrings were read from
    gc.collect()
    _give_back()  # what rewriting the tests took
    gc.freeze()
    HELD = _resident()


def is_exhaustive(item: pytest.Item) -> bool:
    """``exhaustive(backend=["jax"], n=[60])`` marks the test with both parameters, and none marks all."""
    given = item.callspec.params if hasattr(item, "callspec") else {}
    return any(
        all(given[name] in values for name, values in mark.kwargs.items()) for mark in item.iter_markers("exhaustive")
    )


def sampled(items: list[pytest.Item]) -> set[pytest.Item]:
    """The cases of the default run: ``sampled(2)`` marks a test of which it takes two, spread over all cases.

    Where they begin depends on the name, so that tests of several backends take different ones.
    """
    cases: dict[str, list[pytest.Item]] = {}
    for item in items:
        cases.setdefault(item.nodeid.partition("[")[0], []).append(item)
    kept = set()
    for name, same in cases.items():
        mark = same[0].get_closest_marker("sampled")
        number = len(same) if mark is None else min(mark.args[0], len(same))
        begin = zlib.crc32(name.encode())
        kept |= {same[(begin + k * len(same) // number) % len(same)] for k in range(number)}
    return kept


# Memory ---------------------------------------------------------------------------------------------------------------


PSUTIL = importlib.import_module("psutil") if importlib.util.find_spec("psutil") else None
HELD = 0  # bytes, after the tests were collected, and when what was compiled was last let go
ROOM = 2**26  # bytes of what was compiled since then that are kept


def _resident() -> int:
    return PSUTIL.Process().memory_info().rss if PSUTIL else 0


def _give_back() -> None:
    """What is free goes back to the system."""
    if sys.platform == "linux":
        with contextlib.suppress(AttributeError):  # another C library
            ctypes.CDLL(None).malloc_trim(0)


@pytest.hookimpl(wrapper=True)
def pytest_runtest_teardown(item: pytest.Item, nextitem: pytest.Item | None) -> Iterator[None]:
    """Forget what was compiled when it takes too much: nothing is let go by itself, and JAX has it on disk.

    Not earlier, as the single operations that most tests share would be compiled again, and not for freed memory that
    the C library keeps; nor between two tests of a graph.
    """
    global HELD  # noqa: PLW0603
    yield
    if _resident() < HELD + ROOM or ((graph := _graph_of(item)) is not None and graph == _graph_of(nextitem)):
        return
    _give_back()
    if _resident() < HELD + ROOM:
        return
    if "jax" in sys.modules:
        sys.modules["jax"].clear_caches()
    if "torch._dynamo" in sys.modules:
        sys.modules["torch._dynamo"].reset()
    gc.collect()
    gc.freeze()
    _give_back()
    HELD = _resident()


def _graph_of(item: pytest.Item | None) -> Any:
    return item.callspec.params.get("graph") if hasattr(item, "callspec") else None


class Memory(threading.Thread):
    """Adds up, every second, what this process and all that it started hold; on Linux what they share counts once."""

    def __init__(self) -> None:
        super().__init__(daemon=True)
        self.peak, self.done = 0, threading.Event()

    def run(self) -> None:
        """Until it is done."""
        import psutil

        this = psutil.Process()
        while not self.done.wait(1):
            now = 0
            with contextlib.suppress(psutil.Error):  # which processes there are may change meanwhile
                for process in (this, *this.children(recursive=True)):
                    with contextlib.suppress(psutil.Error):  # it has just ended
                        held = process.memory_full_info()
                        now += getattr(held, "pss", held.rss)
            self.peak = max(self.peak, now)


MEMORY = pytest.StashKey[Memory]()


@pytest.hookimpl(wrapper=True)
def pytest_sessionstart(session: pytest.Session) -> Iterator[None]:
    """Look from the first import on."""
    if "PYTEST_XDIST_WORKER" not in os.environ and importlib.util.find_spec("psutil"):
        session.config.stash[MEMORY] = Memory()
        session.config.stash[MEMORY].start()
    return (yield)


def pytest_terminal_summary(terminalreporter: pytest.TerminalReporter, config: pytest.Config) -> None:
    """Say it above pytest's own last lines."""
    memory = config.stash.get(MEMORY, None)
    if memory is not None:
        memory.done.set()
        memory.join()
        terminalreporter.write_sep("-", f"peak memory of all processes together: {memory.peak / 2**30:.2f} GiB")


# Measures of one's own ------------------------------------------------------------------------------------------------


@pytest.fixture(autouse=True)
def _registered_for_this_test_alone() -> Iterator[None]:
    """What a test or an example registers is unknown to the next one."""
    yield
    registry = sys.modules.get("matrics._catalogue.registry")
    if registry is not None and registry._OWN:
        registry._OWN.clear()
        registry._OWN_NAMES.clear()
        registry._forget()
