"""Time and memory of MarginState with 100,000 classes, beside bincounts, and of ConfusionState with 1,000.

    python benchmarks/many_classes.py [--json FILE]

A step is an update with a batch of 4,096 labels; a score is that of five measures. The floor is what counting takes at
least: three counts of so many bins by the library's own function, added to three arrays. All run in turn, on the CPU,
in one thread; every figure is the best of several runs. Counts are compared first. Of the times nothing is asserted.
"""

from __future__ import annotations

import argparse
import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import jax
import jax.numpy as jnp
import numpy as np
import torch
from run import as_slow, machine, print_machine, spell  # (beside this file, as is timing; fixes the threads)
from timing import best

from matrics import ConfusionState, MarginState

CLASSES, FEW, SAMPLES = 100_000, 1_000, 4_096
MEASURES = ["accuracy", "mcc", "cohen_kappa", "f1", "recall:weighted"]


def labels(n: int) -> tuple[np.ndarray, np.ndarray]:
    """A batch in which four of ten predictions are right."""
    random = np.random.default_rng(n)
    y_true, y_pred = random.integers(0, n, (2, SAMPLES))
    return y_true, np.where(random.random(SAMPLES) < 0.4, y_true, y_pred)


def floors(n: int) -> dict[str, tuple[Callable[..., Any], Any]]:
    """For each library a step that counts three times without a look at what it counts, and what it begins with."""

    def with_numpy(sums: Any, y_true: Any, y_pred: Any) -> Any:
        right = y_true[y_true == y_pred]
        return tuple(s + np.bincount(x, minlength=n) for s, x in zip(sums, (right, y_true, y_pred), strict=True))

    def with_torch(sums: Any, y_true: Any, y_pred: Any) -> Any:
        right = y_true[y_true == y_pred]
        counts = (torch.bincount(x, minlength=n) for x in (right, y_true, y_pred))
        return tuple(s + c for s, c in zip(sums, counts, strict=True))

    @jax.jit
    def with_jax(sums: Any, y_true: Any, y_pred: Any) -> Any:
        right = jnp.where(y_true == y_pred, y_true, n)  # out of range: left out
        return tuple(s.at[x].add(1, mode="drop") for s, x in zip(sums, (right, y_true, y_pred), strict=True))

    return {
        "NumPy": (with_numpy, (np.zeros(n, np.int64),) * 3),
        "PyTorch": (with_torch, (torch.zeros(n, dtype=torch.int64),) * 3),
        "JAX, jit": (with_jax, (jnp.zeros(n, jnp.int32),) * 3),
    }


def measure(name: str) -> dict[str, Any]:
    """The figures of one library: seconds and bytes."""
    convert = {"NumPy": np.asarray, "PyTorch": torch.from_numpy, "JAX, jit": jnp.asarray}[name]
    compiled = jax.jit if name == "JAX, jit" else lambda function: function
    floor, sums = floors(CLASSES)[name]
    many, few = (tuple(map(convert, labels(n))) for n in (CLASSES, FEW))
    margins = MarginState.zeros(CLASSES, like=many[0])
    cells = ConfusionState.zeros(FEW, like=few[0])
    add, count, score = compiled(MarginState.update), compiled(ConfusionState.update), _scorer(compiled)
    counted, plain = add(margins, *many), floor(sums, *many)
    for ours, theirs in zip((counted.true_positives, counted.true, counted.pred), plain, strict=True):
        np.testing.assert_array_equal(np.asarray(ours), np.asarray(theirs))
    calls = {
        "floor": lambda: floor(sums, *many),
        "step": lambda: add(margins, *many),
        "score": lambda: score(counted),
        f"matrix of {FEW:,}": lambda: count(cells, *few),
    }
    times = best(*(_finished(call) for call in calls.values()), runs=30)
    held = {"bytes": _bytes(margins), "bytes of the floor": _bytes(sums), "bytes of the matrix": _bytes(cells)}
    return {"library": name, **dict(zip(calls, times, strict=True)), **held}


def _scorer(compiled: Callable[..., Any]) -> Callable[..., Any]:
    return compiled(lambda state: state.score(MEASURES))


def _finished(call: Callable[[], Any]) -> Callable[[], Any]:
    """JAX answers before it has computed."""
    return lambda: jax.block_until_ready(call())


def _bytes(arrays: Any) -> int:
    return sum(array.nbytes for array in arrays)


def print_rows(rows: list[dict[str, Any]]) -> None:
    print(f"MarginState of {CLASSES:,} classes: an update with {SAMPLES:,} labels, and {len(MEASURES)} measures, with")
    print(f"how many times the floor, three counts, that is; ConfusionState of {FEW:,} classes for comparison\n")
    columns = ("floor", "step", "score", f"matrix of {FEW:,}")
    print(f"{'':<10}", *(f"{column:>18}" for column in columns))
    for row in rows:
        cells = [f"{spell(row[column] * 1e9)} ({as_slow(row[column] / row['floor'])})" for column in columns]
        print(f"{row['library']:<10}", *(f"{cell:>18}" for cell in cells))
    print(f"\nmemory, in MB; a matrix of {CLASSES:,} classes would have {CLASSES**2 * 8 / 1e6:,.0f}")
    for row in rows:
        held = [row[name] / 1e6 for name in ("bytes of the floor", "bytes", "bytes of the matrix")]
        print(f"{row['library']:<10}", *(f"{size:>18.1f}" for size in (*held[:2],)), f"{'':>18} {held[2]:>18.1f}")


def main() -> None:
    """Print the table; save the figures if asked."""
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0])
    parser.add_argument("--json", type=Path, help="save the figures there")
    options = parser.parse_args()
    torch.set_num_threads(1)
    found = machine()
    print_machine(found)
    rows = [measure(name) for name in ("NumPy", "PyTorch", "JAX, jit")]
    print_rows(rows)
    if options.json:
        options.json.parent.mkdir(parents=True, exist_ok=True)
        options.json.write_text(json.dumps({"machine": found, "rows": rows}, indent=1))


if __name__ == "__main__":
    main()
