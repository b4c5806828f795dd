"""A walk through the catalogue: these hold for every measure, and a new one is walked without being told."""

from __future__ import annotations

import copy
import inspect
import math
import pickle
import sys
from typing import Any

import numpy as np
import pytest
from roads import XLA_DEFAULT

import matrics
from matrics._catalogue.averages import AVERAGES

NAMES = matrics.list_metrics("all")
ON_HOST = matrics.list_metrics("on_host")


def variants(name: str) -> list[str]:
    """The specs of a metric: each option's each choice, and each average."""
    metric = matrics.get_metric(name)
    options = [{}] + [
        {option.name: choice}
        for option in metric.options
        for choice in option.choices[1:] or (() if option.matrix else (option.above + 0.5, option.above + 0.9))
    ]
    averages = [a for a in AVERAGES[metric.kind] if a != "binary"]
    return [str(metric.using(**chosen)) for chosen in options] + [str(metric.using(average=a)) for a in averages]


SPECS = [spec for name in NAMES for spec in variants(name)]
# Each formula once, of every class or of the whole, and with every option: for what takes long and has nothing to do
# with averages, which two measures have all of.
FORMULAS = [
    spec
    for spec in SPECS
    if matrics.get_metric(spec).name in ("recall", "mcc")
    or spec.endswith(":class")
    or (matrics.get_metric(spec).kind == "overall" and not spec.endswith(":one_vs_rest"))
    or "(" in spec
]

FAMILIES = sorted({matrics.get_metric(name).family for name in NAMES})

# Their derivatives are that large: a quotient by the size x of a class, however small, has one of 1 / x².
HUGE_GRADIENTS = {"eyraud:class", "fossum:class", "imbalance_ratio", "scott_pi(proportions=true)"}
WITH_GRADIENTS = [spec for spec in FORMULAS if spec not in HUGE_GRADIENTS]

RANDOM = np.random.default_rng(20261120)
STACK = RANDOM.integers(0, 60, (2, 3, 4, 4))
STACK[0, 1, 2, :] = 0  # an empty true class
STACK[1, 0, :, 1] = 0  # a class never predicted
STACK[1, 2] = np.diag([5, 0, 0, 0])  # a single cell
EMPTY_CLASS = np.asarray([[30.0, 4.0, 1.0], [0.0, 0.0, 0.0], [2.0, 0.0, 20.0]])
FULL = np.asarray([[30.0, 4.0, 1.0], [3.0, 11.0, 5.0], [2.0, 6.0, 20.0]])


def formulas_of(family: str) -> list[str]:
    return [spec for spec in WITH_GRADIENTS if matrics.get_metric(spec).family == family]


# What is compiled at once, where that takes long.
TOGETHER = [
    pytest.param([formulas_of(family)[-1] for family in FAMILIES if formulas_of(family)], id="one of each family")
]
TOGETHER += [pytest.param(formulas_of(family), id=family, marks=pytest.mark.exhaustive) for family in FAMILIES]


def shape_of(spec: str, batch: tuple[int, ...], n: int) -> tuple[int, ...]:
    return (*batch, n) if spec.endswith((":class", ":one_vs_rest")) else batch


# What a record says -------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("name", [*NAMES, *ON_HOST])
def test_record(name: str) -> None:
    metric = matrics.get_metric(name)
    assert getattr(matrics.metrics, name) is metric
    assert name in matrics.metrics.__all__
    assert metric.range[0] < metric.range[1]
    assert metric.source
    assert metric.undefined
    assert metric.formula
    for alias in (*metric.aliases, name.upper(), name.replace("_", " ")):
        found = matrics.get_metric(alias)
        assert (found.name, found.fixed, found.average) == (name, (), None)
    assert metric.summary in matrics.describe(name)
    # What makes it look like a function: to help(), to doctest, to Sphinx.
    assert inspect.unwrap(metric) is metric.function
    assert metric.__name__ == name
    assert metric.__module__.startswith(f"matrics._metrics.{metric.family}")
    assert next(iter(inspect.signature(metric).parameters)) == "cm"
    for section in ("Parameters", "Returns", "Raises", "Notes", "Examples"):
        assert f"\n{section}\n{'-' * len(section)}\n" in metric.__doc__
    assert f"{metric.place}(" in metric.__doc__.partition("Examples")[2]


@pytest.mark.sampled(21)
@pytest.mark.parametrize("name", NAMES)
def test_metrics_are_values(name: str) -> None:
    """A spec reads as it prints; equal metrics hash alike; they survive pickle and copy: static arguments under jit."""
    for spec in variants(name):
        metric = matrics.get_metric(spec)
        again = matrics.get_metric(str(metric))
        assert metric == again
        assert hash(metric) == hash(again)
        assert pickle.loads(pickle.dumps(metric)) == metric
        assert copy.deepcopy(metric) == metric
        assert metric != matrics.get_metric("mcc:one_vs_rest" if metric.name != "mcc" else "cen")


@pytest.mark.parametrize("name", NAMES)
def test_range(name: str) -> None:
    random = np.random.default_rng(1)
    counts = random.integers(0, 9, (500, 3, 3)) * random.integers(0, 2, (500, 3, 3))
    for cm in (counts, random.dirichlet(np.full(4, 0.2), 500).reshape(500, 2, 2)):
        for spec, values in matrics.score(cm, variants(name)).items():
            low, high = matrics.get_metric(spec).range
            slack = 1e-12
            assert np.all((values >= low - slack) & (values <= high + slack) | np.isnan(values)), spec


@pytest.mark.sampled(29)
@pytest.mark.parametrize("spec", FORMULAS)
def test_direction(spec: str) -> None:
    """No matrix is better than the one without errors that has the same true classes."""
    metric = matrics.get_metric(spec)
    if metric.higher_is_better is None:
        return
    side = 1 if metric.higher_is_better else -1
    for n in (2, 3, 4):
        cm = np.random.default_rng(n).integers(0, 9, (200, n, n)) + np.eye(n, dtype=int)
        best = np.asarray(metric(cm.sum(-1)[:, :, None] * np.eye(n)))
        assert not np.any(side * np.asarray(metric(cm)) > side * best + 1e-9)


# On every backend ---------------------------------------------------------------------------------------------------


@pytest.mark.exhaustive(backend=["strict"], dtype=[np.float32, np.uint8])
@pytest.mark.exhaustive(backend=["torch", "torch-grad"], dtype=[np.uint8])
@pytest.mark.parametrize("dtype", [np.int64, np.float64, np.float32, np.uint8])
def test_backends_agree(backend: Any, dtype: type) -> None:
    ours = matrics.score(backend.asarray(STACK, dtype), SPECS)
    theirs = matrics.score(STACK, SPECS)
    allowed = {"rtol": 3e-4, "atol": 3e-5} if dtype is np.float32 else backend.tolerance
    for spec in SPECS:
        values = backend.numpy(ours[spec])
        assert values.shape == shape_of(spec, (2, 3), 4)
        assert values.dtype == (np.float32 if dtype is np.float32 or not backend.float64 else np.float64)
        np.testing.assert_allclose(values, theirs[spec], **allowed, err_msg=spec)


@pytest.mark.sampled(2)
@pytest.mark.exhaustive(backend=["jax", "jax-x64"])
@pytest.mark.exhaustive(backend=["strict", "torch", "torch-grad"], shape=[(0, 1, 1)])
@pytest.mark.parametrize("shape", [pytest.param((0, 3, 3), marks=pytest.mark.exhaustive), (2, 0, 4, 4), (0, 1, 1)])
def test_empty_batch(backend: Any, shape: tuple[int, ...]) -> None:
    made = backend.shapes(lambda cm: matrics.score(cm, SPECS), backend.asarray(np.zeros(shape)))
    assert made == {spec: shape_of(spec, shape[:-2], shape[-1]) for spec in SPECS}


# On the host ----------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("name", ON_HOST)
def test_on_host(backend: Any, name: str) -> None:
    """What needs SciPy takes arrays of any library and gives theirs, with every rule of the others."""
    pytest.importorskip("scipy")
    spec = f"{name}:class" if matrics.get_metric(name).kind == "per_class" else name
    stack = STACK.reshape(6, 4, 4).astype(float)
    stack[3, 1, 2] = -1
    ours = backend.asarray(stack)
    values = matrics.score(ours, spec, invalid="nan", zero_division=7)[spec]
    assert type(values) is type(ours)
    expected = matrics.score(stack, spec, invalid="nan", zero_division=7)[spec]
    allowed = backend.tolerance if backend.float64 else {"rtol": 2e-2, "atol": 1e-3}  # logarithms of factorials cancel
    np.testing.assert_allclose(backend.numpy(values), expected, **allowed)
    assert np.isnan(backend.numpy(values)[3]).all()
    assert tuple(matrics.score(backend.asarray(np.zeros((0, 3, 3))), spec)[spec].shape) == shape_of(spec, (0,), 3)
    assert name not in matrics.list_metrics()


@pytest.mark.parametrize("name", ON_HOST)
def test_on_host_says_that_it_cannot_be_traced(torch: Any, name: str) -> None:
    pytest.importorskip("scipy")
    with pytest.raises(TypeError, match="needs SciPy, which runs on the host"):
        matrics.get_metric(name)(torch.zeros((2, 3, 3), device="meta"))


@pytest.mark.parametrize("name", ON_HOST)
def test_on_host_without_scipy_says_what_to_install(monkeypatch: pytest.MonkeyPatch, name: str) -> None:
    monkeypatch.setitem(sys.modules, "scipy.special", None)
    with pytest.raises(ImportError, match=r"pip install \"matrics\[stats\]\""):
        matrics.get_metric(name)(FULL)


# Under transformations ----------------------------------------------------------------------------------------------


COMPILED = [name for name in NAMES if matrics.get_metric(name).options or name in matrics.list_metrics("core")]


@pytest.mark.exhaustive
@pytest.mark.parametrize(
    "name",
    [pytest.param(name, marks=() if name == "fbeta" else pytest.mark.exhaustive) for name in COMPILED],
)
def test_torch_compile_of_the_metric_itself(torch: Any, name: str) -> None:
    metric = matrics.get_metric(name)
    options: dict[str, Any] = {o.name: (o.choices or (o.above + 0.9,))[-1] for o in metric.options}
    if metric.kind == "per_class":
        options["average"] = None
    torch._dynamo.reset()
    for compiled in (
        torch.compile(metric, fullgraph=True, backend="aot_eager"),
        torch.compile(lambda cm, **options: metric.using(**options)(cm), fullgraph=True, backend="aot_eager"),
    ):
        np.testing.assert_allclose(
            compiled(torch.from_numpy(STACK), **options).numpy(), metric(STACK, **options), rtol=1e-9, atol=1e-12
        )


@pytest.mark.exhaustive
@pytest.mark.parametrize(
    ("where", "specs"),
    [
        pytest.param("meta", FORMULAS, id="meta, formulas", marks=pytest.mark.exhaustive),
        pytest.param("meta", SPECS, id="meta", marks=pytest.mark.exhaustive),
        pytest.param("fake", FORMULAS, id="fake, formulas"),
        pytest.param("fake", SPECS, id="fake", marks=pytest.mark.exhaustive),
    ],
)
def test_nothing_looks_at_values(torch: Any, where: str, specs: list[str]) -> None:
    """Fake tensors and the meta device have no values: whatever made a GPU wait would raise."""
    from torch._subclasses.fake_tensor import FakeTensorMode

    if where == "meta":
        scores = matrics.score(torch.zeros((2, 3, 4, 4), device="meta"), specs)
    else:
        with FakeTensorMode() as mode:
            scores = matrics.score(mode.from_tensor(torch.from_numpy(STACK)), specs)
    for spec in specs:
        assert tuple(scores[spec].shape) == shape_of(spec, (2, 3), 4)


@pytest.mark.parametrize("dtype", ["float32", "float64"])
def test_autocast_changes_nothing(torch: Any, dtype: str) -> None:
    cm = torch.from_numpy(STACK).to(getattr(torch, dtype))
    plain = matrics.score(cm, SPECS)
    with torch.autocast("cpu", dtype=torch.bfloat16):
        cast = matrics.score(cm, SPECS)
    for spec in SPECS:
        assert cast[spec].dtype == plain[spec].dtype
        assert torch.equal(torch.nan_to_num(cast[spec], 7), torch.nan_to_num(plain[spec], 7)), spec


def test_metric_is_a_static_argument(jax_backend: Any) -> None:
    """Two metrics that are equal are traced once."""
    import jax

    traced = []

    def evaluate(metric: matrics.Metric, cm: Any) -> Any:
        traced.append(metric)
        return metric(cm)

    evaluate = jax.jit(evaluate, static_argnums=0)
    for _ in range(3):
        evaluate(matrics.metrics.fbeta.using(beta=2, average="micro"), jax_backend.asarray(FULL))
    assert len(traced) == 1


# Gradients ----------------------------------------------------------------------------------------------------------


@pytest.mark.sampled(2)
@pytest.mark.parametrize("cells", [EMPTY_CLASS, FULL, np.zeros((3, 3)), np.eye(3), np.ones((3, 3))], ids=[
    "empty class", "full", "nothing", "perfect", "uniform"])  # fmt: skip
def test_torch_gradients_are_finite(torch: Any, cells: np.ndarray, pytestconfig: pytest.Config) -> None:
    for spec in SPECS if pytestconfig.option.exhaustive else FORMULAS:
        cm = torch.tensor(cells, requires_grad=True)
        value = matrics.get_metric(spec)(cm, zero_division=0)
        (gradient,) = torch.autograd.grad(value.sum(), cm)
        # A quotient of something and nothing is infinite, if the measure has no bound.
        assert torch.isfinite(value).all() or math.inf in np.abs(matrics.get_metric(spec).range), spec
        assert not torch.isnan(value).any(), spec
        assert torch.isfinite(gradient).all(), spec


# Soft cells fall off exponentially: what a confident network makes of a few samples, down to subnormal numbers.
CONFIDENT = [
    np.asarray([[5, small], [3, 2 * small]], np.float32) for small in (1e-10, 1e-20, 1e-25, 1e-30, 1e-37, 1e-40, 1e-44)
]
CONFIDENT += [cm.T.copy() for cm in CONFIDENT] + [cm[:, ::-1].copy() for cm in CONFIDENT]


@pytest.mark.sampled(2)
@pytest.mark.parametrize(
    "cells",
    [  # by default the largest and the smallest of each arrangement
        pytest.param(cm, id=str(cm.tolist()), marks=[pytest.mark.exhaustive] if 1e-35 < cm.min() < 1e-15 else [])
        for cm in CONFIDENT
    ],
)
def test_torch_gradients_of_confident_networks(torch: Any, cells: np.ndarray) -> None:
    for spec in WITH_GRADIENTS:
        cm = torch.tensor(cells, requires_grad=True)
        (gradient,) = torch.autograd.grad(matrics.get_metric(spec)(cm, zero_division=0).sum(), cm)
        assert torch.isfinite(gradient).all(), spec


@pytest.mark.exhaustive
@pytest.mark.parametrize("specs", TOGETHER)
def test_jax_gradients_of_confident_networks(jax_backend: Any, specs: list[str]) -> None:
    import jax

    if jax_backend.float64:
        pytest.skip("float32 in either")

    def total(cm: Any) -> Any:
        scores = matrics.score(cm, specs, zero_division=0)
        return sum(values.sum() / 64 for values in scores.values())  # each is finite, and so is then their sum

    stack = jax_backend.asarray(np.stack(CONFIDENT), np.float32)
    gradients = np.asarray(jax.jit(jax.vmap(jax.grad(total)), compiler_options=XLA_DEFAULT)(stack))
    assert np.isfinite(gradients).all(), gradients[~np.isfinite(gradients).all((1, 2))]


@pytest.mark.exhaustive
@pytest.mark.parametrize("spec", FORMULAS)
def test_torch_gradients_are_right(torch: Any, spec: str) -> None:
    cm = torch.tensor(np.stack([FULL, FULL.T + 1.5]), requires_grad=True)
    assert torch.autograd.gradcheck(matrics.get_metric(spec), (cm,), eps=1e-5, atol=1e-6)


@pytest.mark.exhaustive
@pytest.mark.parametrize("specs", TOGETHER)
def test_jax_gradients(jax_backend: Any, specs: list[str]) -> None:
    """Finite, and the same as PyTorch's where that is here: of a weighted sum of all measures of a family."""
    import jax

    if not jax_backend.float64:
        pytest.skip("the same program in 64 bits; test_jax_gradients_of_confident_networks is in float32")

    weights = np.random.default_rng(len(specs)).uniform(1, 2, len(specs))

    def total(cm: Any) -> Any:
        scores = matrics.score(cm, specs, zero_division=0).values()
        return sum(float(weight) * values.sum() for weight, values in zip(weights, scores, strict=True))

    gradient = jax_backend.jit(jax.grad(total))
    cases = [EMPTY_CLASS, FULL]
    ours = [np.asarray(gradient(jax_backend.asarray(cells))) for cells in cases]
    assert np.isfinite(ours).all()
    torch = pytest.importorskip("torch")
    allowed = {"rtol": 1e-8, "atol": 1e-10}
    for cells, found in zip(cases, ours, strict=True):
        cm = torch.tensor(cells, requires_grad=True)
        total(cm).backward()
        np.testing.assert_allclose(found, cm.grad.numpy(), **allowed)


def test_what_a_measure_lacks_is_said_of_what_was_asked() -> None:
    """Of one class, not of the mean over classes; what fails for two classes is not hidden by what fails for more."""
    assert "true negatives" in matrics.describe("recall")
    binary = matrics.describe("recall:binary").split("lacks")[1].split("(")[0]
    assert "true negatives" not in binary
    assert "relabelling" in binary
    eve = matrics.describe("eve").split("lacks")[1].split("; of more")[0]
    assert "strict correction" in eve
