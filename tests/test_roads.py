"""Every comparison with references on the roads that compile: all that is asked of one graph stands here.

To compile a graph of so many measures takes seconds to a minute, so that one serves all comparisons of its road, number
of classes and dtype. All of them are exhaustive: in the default run, test_catalogue.py and test_compiled.py have the
measures on each library. Of two classes undefined measures are worth a number, so that no part of a formula may be
filled with it.
"""

from __future__ import annotations

import math
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

import hypothesis
import numpy as np
import pytest
import roads
import test_numbers
import test_sources
import test_tables
import test_vectors
import walk
from roads import FILL, Comparison, Graph
from test_catalogue import SPECS
from test_compiled import hard

import matrics

NAMES = [name for name in roads.installed() if name in roads.TRACED and name != "torch-inductor"]
# Where every formula is tried in the exhaustive run, and not only those with references.
WITH_FORMULAS = {
    ("torch-compile", 3),
    ("jax-x64-vmap", 3),
}
# Where float32 is tried with float64.
NARROW = {("torch-compile", 3)}
# What is traced is the same in 32 bits and in 64: each number of classes takes one of them.
SIZES_OF_JAX = {
    "jax-jit": (2, 5, 20),
    "jax-x64-jit": (3, 4, 7),
    "jax-vmap": (4,),
    "jax-x64-vmap": (2, 3, 20),
}
FEW = ("accuracy", "mcc", "cen", "f1", "recall:class", "npv:class")
OF_PYTORCH = pytest.mark.filterwarnings("ignore::DeprecationWarning", "ignore:`torch:FutureWarning")  # to itself


@dataclass(frozen=True)
class Case:
    road: str
    n: int
    dtype: type


def _cases() -> Iterator[Any]:
    for name in NAMES:
        for n in test_vectors.SIZES:
            if name in SIZES_OF_JAX and n not in SIZES_OF_JAX[name]:
                continue
            if name == "torch-compile" and n in (4, 5, 10):
                continue  # sums are written out up to six classes, as of three, and not of more, as of seven
            for dtype in roads.make(name).dtypes():
                if dtype is np.float32 and roads.make(name).float64 and (name, n) not in NARROW:
                    continue  # JAX's 32 bits have them all
                case = Case(name, n, dtype)
                name_of_it = f"{name}-{n}-{dtype.__name__}"
                yield pytest.param(
                    case, id=name_of_it, marks=(pytest.mark.exhaustive, pytest.mark.xdist_group(name_of_it))
                )


@pytest.fixture(scope="module", params=list(_cases()))
def graph(request: pytest.FixtureRequest) -> Iterator[Graph]:
    case = request.param
    more = request.config.option.exhaustive and (case.road, case.n) in WITH_FORMULAS
    specs = roads.formulas() if more else roads.referenced()
    road = roads.make(case.road)
    roads.of_first()
    with pytest.MonkeyPatch.context() as patch:
        if case.road == "torch-compile":  # which is to read specs that nobody has asked for before
            patch.setattr("matrics._catalogue.registry._SPECS", {})
        yield Graph(road, case.n, case.dtype, specs, FILL if case.n == 2 else math.nan)
    road.let_go()


def stack_of(n: int, count: int) -> np.ndarray:
    """Counts, some of them of empty classes, of no predictions or of a single cell; the last third is soft."""
    random = np.random.default_rng(n)
    stack = random.integers(0, 60, (count, n, n)).astype(float)
    stack[0, -1], stack[1, :, 0], stack[2], stack[3] = 0, 0, np.diag([5.0, *[0] * (n - 1)]), 0
    stack[-(count // 3) :] += random.random((count // 3, n, n))
    stack[-1, 0] = 0
    return stack


# References -----------------------------------------------------------------------------------------------------------


def test_vectors_of_the_oracle(graph: Graph, record_property: Any) -> None:
    comparison = Comparison(graph.road.name)
    least = test_vectors.hold_vectors(graph, comparison)
    comparison.settle(least, record_property)


@pytest.mark.parametrize("source", [test_sources, test_tables], ids=["000", "001 to 004"])
def test_printed_numbers(graph: Graph, source: Any, record_property: Any) -> None:
    comparison = Comparison(graph.road.name)
    hold = source.hold_sources if source is test_sources else source.hold_tables
    hold(lambda n: graph if n == graph.n else None, comparison)
    least = source.LEAST.get(graph.n, 0)
    comparison.settle(least if graph.dtype is np.float64 else least // 2, record_property)


def test_exact_fractions(graph: Graph, record_property: Any, pytestconfig: pytest.Config) -> None:
    """Of what others get wrong, and of counts of any size, in stacks of one shape."""
    if graph.n > 5:
        pytest.skip("fractions of so many cells take long; up to five classes they have been tried")
    comparison = Comparison(graph.road.name)
    test_numbers.hold_numbers_of_others(graph, comparison)

    @hypothesis.settings(deadline=None, max_examples=20 if pytestconfig.option.exhaustive else 5, derandomize=True)
    @hypothesis.given(stack=test_numbers.stacks(graph.n, graph.dtype, 16))
    def draw(stack: np.ndarray) -> None:
        drawn = Comparison(graph.road.name)
        test_numbers.hold_exact(graph, drawn, stack, digits=test_numbers.digits_of(graph.dtype))
        comparison.compared += drawn.compared
        drawn.settle(1, lambda *_: None)

    try:
        draw()
    except AssertionError as error:
        comparison.misses.append((1, str(error)))
    comparison.settle(2 * 64 * 18, record_property)


def test_true_negatives_keep_their_digits(graph: Graph, record_property: Any) -> None:
    comparison = Comparison(graph.road.name)
    test_numbers.hold_true_negatives(graph, comparison)
    comparison.settle(24 * graph.n * 2, record_property)


# The host as the referee ----------------------------------------------------------------------------------------------


def hold_host(graph: Graph, comparison: Comparison, stack: np.ndarray) -> None:
    """Compare with what NumPy makes of the same cells in float64, undefined values among them."""
    stack = stack.astype(graph.dtype)
    filled = graph.filled(stack)
    options = {"zero_division": graph.zero_division, "invalid": "nan"}
    expected = matrics.score(stack.astype(np.float64), graph.specs, **options)
    for spec in graph.specs:
        for place, (ours, wanted) in enumerate(zip(filled[spec], expected[spec], strict=True)):
            if graph.road.name == "torch-cuda" and spec.startswith("automatic_") and stack[place].max() > 2**53:
                continue  # a difference of sums of rows and columns, whose orders differ there
            if walk.beyond_condition(spec, stack[place], graph.dtype, graph.tolerance["rtol"]):
                continue
            of = f"{stack[place].tolist()} ({graph.dtype.__name__})"
            comparison.hold(spec, of, ours, wanted, **graph.tolerance)
            comparison.hold(f"{spec} undefined", of, np.isnan(ours), np.isnan(wanted), rtol=0, atol=0)


def test_the_host_agrees(graph: Graph, record_property: Any) -> None:
    comparison = Comparison(graph.road.name)
    hold_host(graph, comparison, stack_of(graph.n, 30))
    comparison.settle(30 * len(graph.specs), record_property)


def test_the_host_agrees_on_hard_matrices(graph: Graph, record_property: Any) -> None:
    """Empty, dominated by a cell or a class, of all sizes, and invalid."""
    comparison = Comparison(graph.road.name)
    hold_host(graph, comparison, np.stack(list(hard(graph.n).values())))
    comparison.settle(10 * len(graph.specs), record_property)


def test_zero_division_is_the_value_of_an_undefined_measure(graph: Graph) -> None:
    """Of two classes; with more, that it is NaN as it comes."""
    check_zero_division(graph)


def check_zero_division(graph: Graph) -> None:
    """Not of its parts: an undefined AUC is worth the number then, not the mean of it and a rate."""
    stack = stack_of(graph.n, 30)
    filled = graph.filled(stack)
    plain = matrics.score(stack, graph.specs)
    gaps = 0
    for spec in graph.specs:
        undefined = np.isnan(plain[spec])
        gaps += int(undefined.sum())
        assert np.array_equal(np.isnan(filled[spec]), undefined & math.isnan(graph.zero_division)), spec
        if not math.isnan(graph.zero_division):
            assert (filled[spec][undefined] == graph.dtype(FILL)).all(), spec
    assert gaps >= len(graph.specs)


# Stacks ---------------------------------------------------------------------------------------------------------------


def test_bad_matrix_spoils_no_other(graph: Graph, record_property: Any) -> None:
    comparison = Comparison(graph.road.name)
    hold_isolation(graph, comparison)
    comparison.settle(12 * len(graph.specs), record_property)


def hold_isolation(graph: Graph, comparison: Comparison) -> None:
    """Four kinds of bad cells, and between them the values that the others have without them."""
    clean = stack_of(graph.n, 24)[:16]  # whole
    clean = np.concatenate([clean, clean])
    stack = clean.copy()
    stack[1::2, 0, -1] = np.resize([np.nan, np.inf, -np.inf, -1.0], 16)
    expected, scores = (graph.filled(x, mixed=True) for x in (clean, stack))
    digits = {"rtol": 1e-9, "atol": 1e-12} if graph.dtype is np.float64 else {"rtol": 1e-4, "atol": 1e-5}
    for spec in graph.specs:
        assert np.isnan(scores[spec][1::2]).all(), spec
        comparison.hold(spec, "good matrices with bad ones", scores[spec][::2], expected[spec][::2], **digits)


def test_stack_is_its_matrices(graph: Graph, record_property: Any) -> None:
    comparison = Comparison(graph.road.name)
    hold_company(graph, comparison)
    comparison.settle(6 * len(graph.specs), record_property)


def hold_company(graph: Graph, comparison: Comparison) -> None:
    """The same numbers in other company: of nothing but itself, and at another place."""
    stack = stack_of(graph.n, 30)
    together, turned = (graph.filled(x, mixed=True) for x in (stack, stack[::-1]))
    digits = {"rtol": 1e-11, "atol": 1e-13} if graph.dtype is np.float64 else {"rtol": 1e-4, "atol": 1e-5}
    for place in (0, 1, 2, 7, 28, 29):
        alone = graph.filled(stack[place : place + 1])
        for spec in graph.specs:
            of = f"{stack[place].tolist()} and others"
            comparison.hold(spec, of, together[spec][place], alone[spec][0], **digits)
            comparison.hold(spec, of, turned[spec][29 - place], alone[spec][0], **digits)


@pytest.mark.exhaustive(n=[1])
@pytest.mark.exhaustive(eager=["strict", "torch-vmap"])
@pytest.mark.parametrize(
    ("n", "zero_division"),
    [
        (1, math.nan),
        (2, FILL),
        pytest.param(3, math.nan, marks=pytest.mark.exhaustive),
        pytest.param(20, math.nan, marks=pytest.mark.exhaustive),
    ],
)
def test_every_formula_without_a_compiler(
    eager: roads.Road, n: int, zero_division: float, record_property: Any
) -> None:
    """On the other roads: of every formula what is tried above."""
    graph, comparison = Graph(eager, n, np.float64, roads.formulas(), zero_division), Comparison(eager.name)
    check_zero_division(graph)
    hold_host(graph, comparison, stack_of(n, 30))
    if n > 1:
        hold_host(graph, comparison, np.stack(list(hard(n).values())))
    hold_isolation(graph, comparison)
    hold_company(graph, comparison)
    comparison.settle((60 if n > 1 else 40) * len(graph.specs), record_property)


def test_spectrum_of_a_single_class(eager: roads.Road) -> None:
    for matrix in ("B", "A"):
        values = eager.apply(lambda cm: matrics.study.eigenvalues(cm, matrix=matrix), [[[5.0]], [[1.0]]])  # noqa: B023 (called here)
        np.testing.assert_allclose(values, [[1.0], [1.0]], rtol=1e-12)


@pytest.mark.exhaustive
@pytest.mark.parametrize("name", [name for name in NAMES if name in ("torch-compile", "jax-jit", "jax-x64-vmap")])
def test_a_single_class(name: str, record_property: Any) -> None:
    road, comparison = roads.make(name), Comparison(name)
    specs = roads.referenced() if name == "torch-compile" else roads.formulas()
    graph = Graph(road, 1, road.dtypes()[-1], specs)
    check_zero_division(graph)
    hold_host(graph, comparison, stack_of(1, 30))
    hold_isolation(graph, comparison)
    road.let_go()
    comparison.settle(30 * len(graph.specs), record_property)


@pytest.mark.exhaustive
@pytest.mark.parametrize("name", [name for name in NAMES if name in ("torch-compile", "jax-x64-vmap")])
def test_every_average(name: str, record_property: Any) -> None:
    """Each measure by each of its averages, and one class against the rest: every 24th, and every tenth."""
    road, comparison = roads.make(name), Comparison(name)
    specs = tuple(SPECS)[:: 24 if name == "torch-compile" else 10]
    hold_host(Graph(road, 4, np.float64, specs), comparison, stack_of(4, 30))
    road.let_go()
    comparison.settle(30 * len(specs), record_property)


# Of one road, without a graph for everything --------------------------------------------------------------------------


@pytest.fixture(params=NAMES)
def road(request: pytest.FixtureRequest) -> Iterator[roads.Road]:
    made = roads.make(request.param)
    yield made
    made.let_go()


@pytest.mark.exhaustive
@pytest.mark.exhaustive(road=["jax-jit", "jax-vmap", "jax-x64-jit"])
@pytest.mark.parametrize(
    "batch",
    [pytest.param((), id="one matrix"), pytest.param((2, 3), id="stack of stacks", marks=pytest.mark.exhaustive)],
)
def test_other_shapes(road: roads.Road, batch: tuple[int, ...]) -> None:
    """What vmap maps over is a stack of these."""
    stack = stack_of(4, 18).reshape(3, 2, 3, 4, 4)
    stack = stack if batch else stack[:, 0, 0]
    expected = matrics.score(stack, FEW)
    if road.name.endswith("vmap"):
        scores = road.score(stack, FEW, road.dtypes()[-1])
    else:
        parts = [road.score(part, FEW, road.dtypes()[-1]) for part in stack]
        scores = {spec: np.stack([part[spec] for part in parts]) for spec in FEW}
    for spec in FEW:
        np.testing.assert_allclose(scores[spec], expected[spec], **road.tolerance, err_msg=spec)


@pytest.mark.exhaustive
@pytest.mark.exhaustive(name=["jax-x64-jit"])
@pytest.mark.parametrize("name", [n for n in roads.installed() if n in ("torch-vmap", "jax-jit", "jax-x64-jit")])
def test_vmap_of_vmap(name: str) -> None:
    road, stack = roads.make(name), stack_of(3, 6).reshape(2, 3, 3, 3)
    specs = FEW
    if name == "torch-vmap":
        from torch.func import vmap as mapped

        specs = SPECS
        scores = road.apply(mapped(lambda cm: matrics.score(cm, specs)), stack)
    else:
        from jax import vmap as mapped

        scores = road.apply(mapped(mapped(lambda cm: matrics.score(cm, specs))), stack, road.dtypes()[-1])
    road.let_go()
    for spec, expected in matrics.score(stack, specs).items():
        np.testing.assert_allclose(scores[spec], expected, **road.tolerance, err_msg=spec)


@pytest.mark.exhaustive(dtype=[np.int64])
@pytest.mark.exhaustive(road=["torch-compile", "jax-x64-vmap", "jax-vmap"])
@pytest.mark.parametrize("dtype", [np.uint8, np.int64])
def test_whole_numbers(road: roads.Road, dtype: type) -> None:
    """Sums of bytes do not wrap, and results are in the widest floats that there are."""
    stack = np.asarray([[[200, 50], [30, 220]], [[0, 255], [255, 255]], [[255, 0], [0, 0]]], dtype)
    for spec, values in road.score(stack, FEW).items():
        assert values.dtype == road.dtypes()[-1]
        np.testing.assert_allclose(values, matrics.score(stack, spec)[spec], **road.tolerance, err_msg=spec)


@OF_PYTORCH
@pytest.mark.parametrize(
    ("group", "n", "dtype", "least"),
    [
        pytest.param("core", 2, np.float32, 400, id="core-2-float32", marks=pytest.mark.exhaustive),
        pytest.param("information", 3, np.float64, 300, id="information-3-float64", marks=pytest.mark.exhaustive),
    ],
)
@pytest.mark.usefixtures("torch")
def test_torch_inductor(group: str, n: int, dtype: type, least: int, record_property: Any) -> None:
    """Machine code of PyTorch's own compiler."""
    road, comparison = roads.make("torch-inductor"), Comparison("torch-inductor")
    members = matrics.list_metrics(group)
    specs = [*members, *(f"{name}:class" for name in members if matrics.get_metric(name).kind == "per_class")]
    vectors = [v for v in test_vectors.VECTORS if v["n"] == n and v["kind"] not in test_vectors.HARD]
    stack = np.asarray([v["matrix"] for v in vectors])
    scores, host = road.score(stack, specs, dtype), matrics.score(stack.astype(dtype).astype(float), specs)
    tolerance = Graph(road, n, dtype, ()).tolerance
    for part, names in (("measures", test_vectors.MEASURES), ("per_class", test_vectors.PER_CLASS)):
        for key, spec in names.items():
            for place, vector in enumerate(vectors if spec in scores else ()):
                wanted = vector[part].get(key)
                wanted = [None] * n if wanted is None and part == "per_class" else wanted
                comparison.hold(spec, f"vector {vector['id']}", scores[spec][place], wanted, **tolerance)
    for spec, values in scores.items():
        comparison.hold(spec, "NumPy's", values, host[spec], **tolerance)
    road.let_go()
    comparison.settle(least, record_property)


# That a road is what it says ------------------------------------------------------------------------------------------


@pytest.mark.sampled(3)
@pytest.mark.exhaustive(name=["torch-inductor"])
@pytest.mark.parametrize("name", roads.installed())
@OF_PYTORCH
def test_who_scores(name: str) -> None:
    """NumPy's road is the host's, and no other road asks the host: ``apply`` takes it away."""
    road, stack = roads.make(name), stack_of(3, 4)
    if name == "numpy":
        with roads.without_host(), pytest.raises(AssertionError, match="scored by the host"):
            road.score(stack, "accuracy")
    else:
        scores = road.score(stack, "accuracy", road.dtypes()[-1])
        np.testing.assert_allclose(scores["accuracy"], matrics.accuracy(stack), **road.tolerance)
        road.let_go()


@pytest.mark.sampled(2)
@pytest.mark.parametrize("name", [name for name in NAMES if name.startswith("jax")])
def test_xla_compiles_as_it_does_for_users(name: str) -> None:
    """A product and the difference after it become one operation, which rounds once; with our XLA_FLAGS they do not."""
    if "cuda" in name:
        pytest.skip("of the CPU")
    road = roads.make(name)
    dtype = road.dtypes()[-1]
    little = 2.0 ** -(np.finfo(dtype).nmant // 2 + 1)
    square = np.full(64, 1 + little, dtype)
    found = road.apply(lambda x: x * x - (1 + 2 * little), square)
    np.testing.assert_array_equal(found, dtype(little**2))


@pytest.mark.parametrize("library", ["torch", "jax"])
def test_plain_arrays_are_scored_by_the_host(library: str) -> None:
    """Why there are roads: a tensor or a concrete JAX array in the CPU's memory proves NumPy, and nothing else."""
    module = pytest.importorskip(library)
    ones = module.ones((2, 2)) if library == "torch" else module.numpy.ones((2, 2))
    with roads.without_host(), pytest.raises(AssertionError, match="scored by the host"):
        matrics.accuracy(ones)
