"""Every measure beside its documented formula in mpmath, on every road, over the whole range of the dtypes."""

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

# What a road costs: those that compile the whole catalogue take half a minute for each number of classes.
CHEAP = ("numpy", "strict", "torch-grad", "torch-vmap")
BY_DEFAULT = {*((road, n) for road in CHEAP for n in (2, 3)), ("jax-jit", 3), ("jax-x64-jit", 2)}


def walks() -> list[Any]:
    """Roads with numbers of classes; what compiles much is left to the exhaustive run."""
    params = []
    for road in roads.installed():
        if road == "torch-inductor":
            continue
        for n in (2, 3, 4, 10):
            marks = [] if (road, n) in BY_DEFAULT else [pytest.mark.exhaustive]
            params.append(pytest.param(road, n, id=f"{road}-{n}", marks=marks))
    return params


def limited() -> set[str]:
    """The measures that the table in docs/numerics.md lists as off where shares leave the range of the dtype."""
    section = NUMERICS.read_text().partition("## Where shares leave the range")[2].partition("\n## ")[0]
    return set(re.findall(r"^\| `(\w+)` \|", section, re.MULTILINE))


def report(found: dict[str, list[Any]]) -> str:
    return "\n".join(
        f"{name}: {len(cases)} misses, such as {ours} for {true} of {cells}"
        for name, cases in found.items()
        for cells, ours, true in cases[:1]
    )


def test_every_measure_has_a_reference() -> None:
    import reference

    assert set(reference.FORMULAS) == {*matrics.list_metrics("all"), *matrics.list_metrics("on_host")}


def test_the_reference_shares_nothing_with_the_library() -> None:
    folder = Path(__file__).parent / "reference"
    assert not [path.name for path in folder.glob("*.py") if "matrics" in path.read_text()]


@pytest.mark.parametrize(("name", "n"), walks())
def test_values_are_those_of_the_documented_formula(name: str, n: int) -> None:
    """Wherever shares of the total fit the dtype, whatever their products: no measure is left out."""
    road = roads.make(name)
    for dtype in road.dtypes():
        compared, found = walk.misses(road, walk.within(n, dtype), dtype, SPECS)
        assert not found, f"{dtype.__name__}\n{report(found)}"
        assert compared > 8_000
    road.let_go()


@pytest.mark.parametrize(("name", "n"), walks())
def test_only_the_listed_measures_are_off_where_shares_leave_the_range(name: str, n: int) -> None:
    road, listed = roads.make(name), limited()
    assert listed
    for dtype in road.dtypes():
        _, found = walk.misses(road, walk.beyond(n, dtype), dtype, SPECS)
        found = {measure: cases for measure, cases in found.items() if measure not in listed}
        assert not found, f"{dtype.__name__}\n{report(found)}"
    road.let_go()


def test_each_listed_measure_is_off_somewhere() -> None:
    """The list holds what cannot be kept, and nothing else."""
    road, off = roads.make("numpy"), set()
    specs = [spec for spec in SPECS if matrics.get_metric(spec).name in limited()]
    for n in (2, 3):
        for dtype in FLOATS:
            off |= walk.misses(road, walk.beyond(n, dtype, 12), dtype, specs)[1].keys()
    assert off == limited()


@pytest.mark.parametrize("name", [name for name in CHEAP if name in roads.installed()])
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


@pytest.mark.parametrize("dtype", FLOATS, ids=["float32", "float64"])
@hypothesis.settings(deadline=None, derandomize=True, max_examples=30)
@hypothesis.given(data=st.data())
def test_a_walk(dtype: type, data: Any) -> None:
    """What is found here is made smaller by hypothesis until a stranger can read it."""
    matrix = data.draw(matrices(dtype))
    _, found = walk.misses(roads.make("numpy"), matrix[None], dtype, SPECS)
    assert not found, report(found)
