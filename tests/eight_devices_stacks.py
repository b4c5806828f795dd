"""Run by test_score_blocks_jax.py with eight devices: stacks that are spread over them are scored where they lie.

With the argument ``all``, more sizes and shardings are tried, and every measure of the catalogue.
"""

from __future__ import annotations

import itertools
import re
import sys
from functools import partial
from typing import Any

import jax
import numpy as np
import pytest
from jax.sharding import AxisType, NamedSharding, PartitionSpec

import matrics

RANDOM = np.random.default_rng(13)
EVERYTHING = "all" in sys.argv
SPECS = ["accuracy", "mcc", "recall:class", "mcc:one_vs_rest", "eve"]
SPECS += ["core", "cen", "f1:weighted", "fbeta(beta=2):micro", "mutual_information"] if EVERYTHING else []
CLOSE = {"rtol": 3e-4, "atol": 3e-5}
MOVES = ("all-gather", "all-to-all", "collective-permute", "collective-broadcast", "reduce-scatter", "all-reduce")


def moves(compiled: Any) -> list[tuple[str, str]]:
    """What goes from one device to another in a compiled program: shapes and names of operations."""
    found = re.findall(rf"= (.+?) ({'|'.join(MOVES)})(?:-start)?\(", compiled.as_text())
    return [(re.sub(r"\{.*?\}", "", shape), name) for shape, name in found]


def spread(mesh: Any, x: np.ndarray, spec: Any) -> Any:
    return jax.device_put(x, NamedSharding(mesh, spec))


def check_scores(mesh: Any, n: int, spec: Any, specs: list[str] = SPECS) -> None:
    """Nothing moves but, from five classes on, whether all devices have integers; results lie where matrices do."""
    stack = RANDOM.integers(0, 50, (8, 4, n, n)).astype(np.float32)
    wanted = matrics.score(stack, specs)
    place = NamedSharding(mesh, spec)
    score = jax.jit(lambda cm: matrics.score(cm, specs))
    compiled = score.lower(jax.device_put(stack, place)).compile()
    assert set(moves(compiled)) <= ({("pred[]", "all-reduce")} if n >= 5 else set()), moves(compiled)
    for name, values in compiled(jax.device_put(stack, place)).items():
        np.testing.assert_allclose(values, wanted[name], **CLOSE, err_msg=name)
        assert values.sharding.is_equivalent_to(place, values.ndim), name

    if not EVERYTHING and AxisType.Auto in mesh.axis_types:  # within shard_map all axes are manual
        return
    mapped = jax.jit(jax.shard_map(lambda cm: matrics.score(cm, specs), mesh=mesh, in_specs=spec, out_specs=spec))
    compiled = mapped.lower(jax.device_put(stack, place)).compile()
    assert not moves(compiled)
    for name, values in compiled(jax.device_put(stack, place)).items():
        np.testing.assert_allclose(values, wanted[name], **CLOSE, err_msg=name)


def check_eigenvalues(mesh: Any) -> None:
    """Of more than three classes they are LAPACK's, to which the compiler gives each device's own matrices."""
    stack = RANDOM.integers(1, 50, (16, 4, 4)).astype(np.float32)
    spread_out = spread(mesh, stack, PartitionSpec(("hosts", "devices")))
    compiled = jax.jit(matrics.study.eigenvalues).lower(spread_out).compile()
    assert not moves(compiled)
    np.testing.assert_allclose(compiled(spread_out), matrics.study.eigenvalues(stack), **CLOSE)
    # What a move looks like, so that its absence says something.
    gathered = jax.jit(lambda x: x + 1, out_shardings=NamedSharding(mesh, PartitionSpec()))
    assert [name for _, name in moves(gathered.lower(spread_out).compile())] == ["all-gather"]


def check_counts(mesh: Any) -> None:
    """Samples over all devices: one sum of matrices, by the compiler or by hand."""
    y_true, y_pred = RANDOM.integers(0, 3, (2, 64))
    wanted = matrics.confusion_matrix(y_true, y_pred, num_classes=3)
    place = PartitionSpec(("hosts", "devices"))
    labels = [spread(mesh, y.astype(np.int32), place) for y in (y_true, y_pred)]
    count = partial(matrics.confusion_matrix, num_classes=3)
    summed = jax.shard_map(
        lambda *y: jax.lax.psum(count(*y), ("hosts", "devices")),
        mesh=mesh,
        in_specs=place,
        out_specs=PartitionSpec(),
    )
    for function in (count, summed):
        compiled = jax.jit(function).lower(*labels).compile()
        names = {name for _, name in moves(compiled)}
        assert names == {"all-reduce"}, moves(compiled)
        np.testing.assert_array_equal(compiled(*labels), wanted)


def check_blocks(mesh: Any, spec: Any) -> None:
    """A stack on the host, of which each device has a share of a block; the last block is not full."""
    stack = RANDOM.integers(0, 50, (7, 13, 3, 3)).astype(np.float32)
    stack[6, 12] = -1
    with jax.transfer_guard("disallow"):
        found = matrics.score_blocks(
            stack, SPECS, device=NamedSharding(mesh, spec), block_bytes=1000, invalid="nan", zero_division=0
        )
    for name, values in matrics.score(stack, SPECS, invalid="nan", zero_division=0).items():
        np.testing.assert_allclose(found[name], values, **CLOSE, err_msg=name)


def check_what_is_refused(mesh: Any, flat: Any, both: Any) -> None:
    """Shardings that cut matrices or have axes that a stack has not, and stacks that are spread already."""
    stack = np.ones((16, 4, 4), np.float32)
    for spec in (both, PartitionSpec(None, "hosts"), PartitionSpec(None, None, None, "hosts")):
        with pytest.raises(ValueError, match="device: expected a sharding only along the matrices, such as"):
            matrics.score_blocks(stack, "mcc", device=NamedSharding(mesh, spec))
    with pytest.raises(TypeError, match=r"got an array of JAX on (cpu:0, cpu:1, cpu:2|TFRT_CPU_0, TFRT_CPU_1)"):
        matrics.score_blocks(spread(mesh, stack, flat), "mcc", device=None)


def run(kind: Any) -> None:
    mesh = jax.make_mesh((4, 2), ("hosts", "devices"), axis_types=(kind, kind))
    flat, both = PartitionSpec(("hosts", "devices")), PartitionSpec("hosts", "devices")
    with jax.set_mesh(mesh):
        sizes, specs = ((2, 3, 5), (flat, both, PartitionSpec("hosts"))) if EVERYTHING else ((3,), (both,))
        for n, spec in itertools.product(sizes, specs):
            check_scores(mesh, n, spec)
        if EVERYTHING and kind is AxisType.Explicit:  # which ask more of an operation
            check_scores(mesh, 3, both, list(map(str, matrics._scoring.score.resolve("all"))))
        check_eigenvalues(mesh)
        check_counts(mesh)
        if EVERYTHING:
            check_blocks(mesh, flat)
        check_what_is_refused(mesh, flat, both)
    check_blocks(mesh, flat)
    print(kind.name)


if __name__ == "__main__":
    assert jax.device_count() == 8
    for axis_type in (AxisType.Auto, AxisType.Explicit):
        run(axis_type)
