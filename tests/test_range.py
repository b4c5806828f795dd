"""Every measure with its documented formula in mpmath, on every road, over the whole range of the dtypes."""

from __future__ import annotations

import re
from pathlib import Path
from typing import Any

import hypothesis
import numpy as np
import pytest
import roads
import walk
from hypothesis import strategies as st

import matrics

NUMERICS = Path(__file__).parents[1] / "docs" / "numerics.md"
SPECS = walk.formulas()
FLOATS = [np.float32, np.float64]
EAGER = [name for name in roads.installed() if name in roads.EAGER]
# What a road costs: those that compile the whole catalogue take half a minute for each number of classes and dtype.
BY_DEFAULT = {
    *(("numpy", 3, dtype) for dtype in FLOATS),
    *(("torch-grad", 2, dtype) for dtype in FLOATS),
    ("strict", 2, np.float64),
    ("torch-vmap", 3, np.float64),
}


# The others, in the exhaustive run.
COMPILED = {
    ("torch-compile", 3, np.float32),
    ("jax-jit", 3, np.float32),
    ("jax-vmap", 4, np.float32),
    ("jax-x64-jit", 10, np.float64),
    ("jax-x64-vmap", 2, np.float64),
}


def walks() -> list[Any]:
    """Roads with numbers of classes and dtypes; what compiles much is left to the exhaustive run."""
    params = []
    for road in roads.installed():
        for n in (2, 3, 4, 10):
            for dtype in roads.make(road).dtypes():
                if road not in EAGER and (road, n, dtype) not in COMPILED:
                    continue
                # One process for all of them, which share the true values.
                marks = [pytest.mark.xdist_group(f"a walk of {n} classes in {dtype.__name__}")]
                if (road, n, dtype) not in BY_DEFAULT:
                    marks.append(pytest.mark.exhaustive)
                params.append(pytest.param(road, n, dtype, id=f"{road}-{n}-{dtype.__name__}", marks=marks))
    return params


def limited() -> set[str]:
    """The measures that the table in docs/numerics.md lists as off if shares underflow."""
    section = NUMERICS.read_text().partition("## Shares that underflow")[2].partition("\n## ")[0]
    return set(re.findall(r"^\| `(\w+)` \|", section, re.MULTILINE))


def report(found: list[walk.Miss]) -> str:
    first = {miss.measure: miss for miss in reversed(found)}
    return "\n".join(
        f"{name}, such as {miss.ours} for {miss.true} of {miss.cells}" for name, miss in sorted(first.items())
    )


def test_every_measure_has_a_reference() -> None:
    import reference

    every = {*matrics.list_metrics("all"), *matrics.list_metrics("on_host")}
    assert set(reference.FORMULAS) == {*every, "net_benefit"}  # which needs a weight, and has tests of its own


def test_the_reference_shares_nothing_with_the_library() -> None:
    folder = Path(__file__).parent / "reference"
    assert not [path.name for path in folder.glob("*.py") if "matrics" in path.read_text()]


@pytest.mark.sampled(1)
@pytest.mark.parametrize(("name", "n", "dtype"), walks())
def test_values_are_those_of_the_documented_formula(
    name: str, n: int, dtype: type, record_property: Any, pytestconfig: pytest.Config
) -> None:
    """Wherever shares of the total fit the dtype, whatever their products; and where not, but for what is listed."""
    road, listed = roads.make(name), limited()
    assert listed
    within, beyond = walk.within(n, dtype), walk.beyond(n, dtype)
    if not pytestconfig.option.exhaustive:
        within, beyond = within[::6], beyond[::4]
    elif n == 10:  # whose true values take a minute
        within, beyond = within[::4], beyond[::4]
    compared, found = walk.misses(road, np.concatenate([within, beyond]), dtype, SPECS)
    road.let_go()
    found = [miss for miss in found if miss.place < len(within) or miss.measure not in listed]
    record_property("numbers", [name, compared, len(found)])
    assert not found, report(found)
    assert compared > 100 * (len(within) + len(beyond))


@pytest.mark.exhaustive
def test_each_listed_measure_is_off_somewhere() -> None:
    """The list holds what cannot be kept, and nothing else."""
    road, off = roads.make("numpy"), set()
    specs = [spec for spec in SPECS if matrics.get_metric(spec).name in limited()]
    for n in (2, 3):
        for dtype in FLOATS:
            off |= {miss.measure for miss in walk.misses(road, walk.beyond(n, dtype, 12), dtype, specs)[1]}
    assert off == limited()


@pytest.mark.exhaustive
@pytest.mark.xdist_group("averages")
@pytest.mark.parametrize("name", EAGER)
def test_averages_are_those_of_the_documented_formula(name: str) -> None:
    road = roads.make(name)
    specs = [
        str(matrics.get_metric(measure).using(average=average))
        for measure in matrics.list_metrics("all")
        for average in (
            ("macro", "micro", "weighted") if matrics.get_metric(measure).kind == "per_class" else ("one_vs_rest",)
        )
    ]
    stack = np.concatenate([walk.ordinary(3), walk.dominated(3, 1e3)])
    compared, found = walk.misses(road, stack, np.float64, specs)
    assert not found, report(found)
    assert compared > 8_000


@st.composite
def matrices(draw: Any, dtype: type) -> np.ndarray:
    """Cells anywhere in the dtype's range, but of shares that fit it: zeros, ones, neighbours, far apart, alike."""
    n = draw(st.integers(1, 4))
    far = 15 if dtype is np.float32 else 140
    middle = draw(st.integers(-far, far))
    size = st.one_of(
        st.just(0.0), st.just(1.0), st.integers(1, 50).map(float), st.floats(-far / 2, far / 2).map(_power)
    )
    cells = [[draw(size) for _ in range(n)] for _ in range(n)]
    return (np.array(cells) * 10.0**middle).astype(dtype)


def _power(exponent: float) -> float:
    return float(10.0**exponent)


@pytest.mark.exhaustive
@pytest.mark.exhaustive(dtype=[np.float32])
@pytest.mark.parametrize("dtype", FLOATS, ids=["float32", "float64"])
@hypothesis.settings(deadline=None, derandomize=True, max_examples=15)
@hypothesis.given(data=st.data())
def test_a_walk(dtype: type, data: Any) -> None:
    """What is found here is made smaller by hypothesis until a stranger can read it."""
    matrix = data.draw(matrices(dtype))
    _, found = walk.misses(roads.make("numpy"), matrix[None], dtype, SPECS)
    assert not found, report(found)
