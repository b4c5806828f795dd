"""Jitted programs with several eigenvalue calls each, which test_eigenvalues.py runs with a time limit.

    python tests/eigenvalue_programs.py CORES PROGRAMS

Batches that jaxlib divides among threads can wait for each other for ever: that shows only in a process whose threads
are few, and so has one of its own. Values are compared with the host's.
"""

from __future__ import annotations

import itertools
import os
import sys
from typing import Any

CORES, PROGRAMS = map(int, sys.argv[1:])
if hasattr(os, "sched_setaffinity"):
    os.sched_setaffinity(0, sorted(os.sched_getaffinity(0))[:CORES])  # before XLA counts them

import jax  # noqa: E402
import numpy as np  # noqa: E402

import matrics  # noqa: E402

RUNS = 20


def one_vs_rest(cm: Any) -> Any:
    return matrics.eve(matrics.one_vs_rest(cm)).mean(-1)


CALLS = (
    matrics.eve,
    matrics.eigenvalues,
    jax.vmap(matrics.eve),
    jax.vmap(jax.grad(lambda cm: matrics.eve(cm, zero_division=0))),
    one_vs_rest,
    lambda cm: matrics.eigenvalues(cm, matrix="A"),
)


def main() -> None:
    random = np.random.default_rng(47)
    settings = itertools.product((3, 11, 20, 31, 64), (1, 8, 16, 200), (False, True))
    for place, (n, batch, double) in enumerate(itertools.islice(itertools.cycle(settings), PROGRAMS)):
        chosen = [CALLS[k] for k in random.permutation(len(CALLS))[: 2 + place % 5]]
        stacks = [random.integers(1, 50, (batch, n, n)).astype(float) for _ in chosen]
        with jax.enable_x64(double):
            program = jax.jit(lambda stacks, chosen=chosen: [f(cm) for f, cm in zip(chosen, stacks, strict=True)])
            for _ in range(RUNS):
                found = jax.block_until_ready(program(stacks))
        digits = {"rtol": 1e-9, "atol": 1e-12} if double else {"rtol": 2e-3, "atol": 2e-4}
        for function, cm, values in zip(chosen, stacks, found, strict=True):
            if function in CALLS[:2]:
                np.testing.assert_allclose(values, function(cm), **digits)
            elif function is CALLS[2]:
                np.testing.assert_allclose(values, matrics.eve(cm), **digits)
            assert np.isfinite(values).all()
    print(f"{PROGRAMS} programs")


if __name__ == "__main__":
    main()
