"""Backends: every test that takes ``backend`` runs on each that MATRICS_BACKEND asks for and that is installed.

MATRICS_BACKEND is ``all`` (the default) or some of numpy, strict, torch, torch-grad, jax, jax-x64, between commas.
Plain tensors are scored in their memory, by NumPy; those of torch-grad ask for a gradient, and so stay with PyTorch.
torch-cuda, torch-cuda-grad and jax-cuda need a GPU, and are no part of ``all``; nor are torch-device and
jax-device, whose arrays are on the CPU but take the roads of those on a device.
"""

from __future__ import annotations

import contextlib
import functools
import importlib.util
import json
import os
import sys
import zlib
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from typing import Any

import hypothesis
import numpy as np
import pytest
import roads

import matrics

EXHAUSTIVE = False  # whether that is asked for

# Examples are the same in every run, whatever ran before.
hypothesis.settings.register_profile("default", derandomize=True, deadline=None, max_examples=15)
hypothesis.settings.register_profile("exhaustive", hypothesis.settings.get_profile("default"), max_examples=200)

LIBRARIES = {
    "numpy": "numpy",
    "strict": "array_api_strict",
    "torch": "torch",
    "torch-grad": "torch",
    "jax": "jax",
    "jax-x64": "jax",
}
ON_DEVICE = {"torch-cuda": "torch", "torch-cuda-grad": "torch", "jax-cuda": "jax"} | {
    "torch-device": "torch",
    "jax-device": "jax",
}


@dataclass(frozen=True)
class Backend:
    """A way of making arrays, and of taking them back."""

    name: str
    asarray: Callable[..., Any] = field(compare=False)
    float64: bool  # whether there is one

    def numpy(self, x: Any) -> np.ndarray:
        if self.name.startswith("torch"):
            return x.detach().cpu().numpy()
        return np.asarray(x)

    def score(self, cm: Any, metrics: Any, **options: Any) -> dict[str, Any]:
        """matrics.score, under jit on JAX, which compiles one program faster than a thousand single operations."""

        specs = (metrics,) if isinstance(metrics, str) else tuple(metrics)
        if self.name.startswith("jax"):
            return _jitted_score(specs, tuple(options.items()))(cm)
        return matrics.score(cm, specs, **options)

    def jit(self, function: Callable[..., Any], **options: Any) -> Callable[..., Any]:
        """On JAX one program a shape: its single operations, compiled one by one, take longer."""
        if not self.name.startswith("jax"):
            return function
        import jax

        return jax.jit(function, **options)

    def call(self, function: Callable[..., Any], *arrays: Any) -> Any:
        """On JAX as one program; in the exhaustive run operation by operation, each of which takes compiling."""
        return self.program(function)(*arrays)

    def program(self, function: Callable[..., Any]) -> Callable[..., Any]:
        """What ``call`` calls, for several calls of a shape, which JAX then traces once."""
        return function if EXHAUSTIVE else self.jit(function)

    def shapes(self, function: Callable[[Any], dict[str, Any]], x: Any) -> dict[str, tuple[int, ...]]:
        """Those of all results; JAX traces for them, and computes nothing."""
        if self.name.startswith("jax"):
            import jax

            return {name: made.shape for name, made in jax.eval_shape(function, x).items()}
        return {name: tuple(made.shape) for name, made in function(x).items()}

    @property
    def looks(self) -> bool:
        """Whether the library inspects values, which it does where that is free."""
        return self.name != "strict" and self.name not in ON_DEVICE

    @property
    def tolerance(self) -> dict[str, float]:
        """For results that should agree with float64 ones up to rounding."""
        return {"rtol": 1e-9, "atol": 1e-12} if self.float64 else {"rtol": 3e-4, "atol": 3e-5}


@functools.cache
def _jitted_score(specs: tuple[str, ...], options: tuple[tuple[str, Any], ...]) -> Callable[[Any], dict[str, Any]]:
    """One function for the same question, which JAX compiles once a shape."""
    import jax

    return jax.jit(lambda cm: matrics.score(cm, specs, **dict(options)))


def _wanted() -> list[str]:
    asked = os.environ.get("MATRICS_BACKEND", "all")
    names = list(LIBRARIES) if asked == "all" else asked.split(",")
    libraries = LIBRARIES | ON_DEVICE
    for name in names:
        if name not in libraries:
            raise pytest.UsageError(f"MATRICS_BACKEND: expected all or some of {', '.join(libraries)}, got {name!r}")
        if asked != "all" and importlib.util.find_spec(libraries[name]) is None:
            raise pytest.UsageError(f"MATRICS_BACKEND={name}: {libraries[name]} is not installed")
        if "cuda" in name and not roads.has_gpu(libraries[name]):
            raise pytest.UsageError(f"MATRICS_BACKEND={name}: {libraries[name]} finds no CUDA device")
    return [name for name in names if importlib.util.find_spec(libraries[name]) is not None]


BACKENDS = _wanted()


def pytest_configure(config: pytest.Config) -> None:
    global EXHAUSTIVE  # noqa: PLW0603
    EXHAUSTIVE = config.option.exhaustive
    roads.ONE_PROGRAM = not EXHAUSTIVE
    hypothesis.settings.load_profile("exhaustive" if config.option.exhaustive else "default")


@pytest.hookimpl(tryfirst=True)  # before the exhaustive tests are left out
def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    """Where JAX is tried in 32 bits and in 64, each test of the default run takes one of the two."""
    if {"jax", "jax-x64"} <= set(BACKENDS):
        for item in items:
            if _takes_the_other_jax(item):
                item.add_marker(pytest.mark.exhaustive)


def _takes_the_other_jax(item: pytest.Item) -> bool:
    params = item.callspec.params if hasattr(item, "callspec") else {}
    name = params.get("backend", params.get("jax_backend"))
    if name not in ("jax", "jax-x64"):
        return False
    whatever = zlib.crc32(item.nodeid.partition("[")[0].encode()) % 2  # the same in every run
    return name != ("jax", "jax-x64")[whatever]


@pytest.fixture(autouse=True)
def _seeded(request: pytest.FixtureRequest) -> None:
    """A test draws the same numbers from its module's RANDOM on every backend, whatever ran before it, and wherever."""
    seed = zlib.crc32(request.node.originalname.encode())
    if hasattr(request.module, "RANDOM"):
        request.module.RANDOM = np.random.default_rng(seed)
    if "torch" in sys.modules:
        sys.modules["torch"].manual_seed(seed)


def pytest_terminal_summary(terminalreporter: pytest.TerminalReporter, config: pytest.Config) -> None:
    """How many numbers were compared on each road, and how many were wrong."""
    if not config.option.exhaustive:
        return
    tally = {road: [0, 0] for road in roads.LIBRARY}
    for reports in terminalreporter.stats.values():
        for report in reports:
            if getattr(report, "when", "") != "call":
                continue
            for road, compared, missed in (value for name, value in report.user_properties if name == "numbers"):
                tally[road][0] += compared
                tally[road][1] += missed
    terminalreporter.write_sep("-", "numbers compared with references, and misses")
    for road, (compared, missed) in tally.items():
        if compared:
            terminalreporter.write_line(f"{road:16}{compared:12}{missed:8}")


def pytest_report_header() -> str:
    return f"matrics backends: {', '.join(BACKENDS)}"


@contextlib.contextmanager
def _make(name: str) -> Iterator[Backend]:
    if name == "numpy":

        def read_only(x: Any, dtype: Any = None) -> np.ndarray:
            array = np.array(x, dtype=dtype)
            array.flags.writeable = False  # nothing may write into what the user gave
            return array

        yield Backend(name, read_only, True)
    elif name == "strict":
        import array_api_strict

        yield Backend(name, lambda x, dtype=None: array_api_strict.asarray(np.array(x, dtype=dtype)), True)
    elif name.startswith("torch"):
        import torch

        def tensor(x: Any, dtype: Any = None) -> Any:
            made = torch.from_numpy(np.array(x, dtype=dtype)).to("cuda" if "cuda" in name else "cpu")
            return made.requires_grad_(name.endswith("grad") and made.is_floating_point())

        with roads.on_device() if name.endswith("-device") else contextlib.nullcontext():
            yield Backend(name, tensor, True)
    else:
        import jax

        with (
            roads.on_device_of_jax() if name.endswith("-device") else contextlib.nullcontext(),
            roads.jax_bits(float64=name != "jax"),
            jax.numpy_dtype_promotion("strict"),
            jax.numpy_rank_promotion("raise"),
        ):
            yield Backend(name, lambda x, dtype=None: jax.numpy.asarray(np.array(x, dtype=dtype)), name != "jax")


@pytest.fixture(params=BACKENDS)
def backend(request: pytest.FixtureRequest) -> Iterator[Backend]:
    with _make(request.param) as made:
        yield made


@pytest.fixture(
    params=[name for name in BACKENDS if name.startswith("jax")] or [pytest.param("", marks=pytest.mark.skip)]
)
def jax_backend(request: pytest.FixtureRequest) -> Iterator[Backend]:
    with _make(request.param) as made:
        yield made


@pytest.fixture(params=[name for name in roads.installed() if name in roads.EAGER])
def eager(request: pytest.FixtureRequest) -> roads.Road:
    """A road on which nothing is compiled; those that are compiled are taken by test_roads.py, which shares graphs."""
    return roads.make(request.param)


@pytest.fixture(params=[name for name in BACKENDS if name in ON_DEVICE] or [pytest.param("", marks=pytest.mark.skip)])
def on_device(request: pytest.FixtureRequest) -> Iterator[Backend]:
    """A backend on a device, or its stand-in."""
    with _make(request.param) as made:
        yield made


@pytest.fixture
def torch() -> Any:
    if not any(name.startswith("torch") for name in BACKENDS):
        pytest.skip("torch is not among the backends")
    return importlib.import_module("torch")


@pytest.fixture(scope="module")
def ranks() -> Iterator[Any]:
    """``ranks.py``, whose functions run in several processes; the server of these holds PyTorch in its memory."""
    if not any(name.startswith("torch") for name in BACKENDS):
        pytest.skip("torch is not among the backends")
    distributed = importlib.import_module("torch.distributed")
    if not distributed.is_available() or not distributed.is_gloo_available():
        pytest.skip("PyTorch without gloo")
    module = importlib.import_module("ranks")
    yield module
    module.stop()


@pytest.fixture
def command(monkeypatch, capsys, tmp_path):
    """Run the command ``matrics`` in this process, in an empty directory: exit code, stdout, stderr."""
    from matrics import _cli as cli

    monkeypatch.chdir(tmp_path)
    monkeypatch.delenv("FORCE_COLOR", raising=False)

    def run(*arguments: Any) -> tuple[int, str, str]:
        monkeypatch.setattr(sys, "argv", ["matrics", *map(str, arguments)])
        with pytest.raises(SystemExit) as stopped:
            cli.main()
        out, err = capsys.readouterr()
        check_schema(out)
        return stopped.value.code or 0, out, err

    return run


def check_schema(out: str) -> None:
    """Check the JSON of a command by its schema, where the library jsonschema is installed."""
    if not out.startswith('{\n  "schema": ') or importlib.util.find_spec("jsonschema") is None:
        return
    from jsonschema import Draft202012Validator

    from matrics._cli.schemas import schema_of

    document = json.loads(out)
    Draft202012Validator(schema_of(document["command"])).validate(document)
