"""Jitted programs with several eigenvalue calls each, which test_eigenvalues.py runs with a time limit.

    python tests/eigenvalue_programs.py CORES PROGRAMS

Batches that jaxlib divides among threads can wait for each other for ever: that shows only in a process whose threads
are few, and so has one of its own. Values are compared with the host's.
"""

from __future__ import annotations

import itertools
import os
import sys
from collections.abc import Callable
from typing import Any

import numpy as np

RUNS = 20


def calls() -> dict[str, Callable[[Any], Any]]:
    import jax

    import matrics

    return {
        "eve": matrics.eve,
        "eigenvalues": matrics.study.eigenvalues,
        "vmap": jax.vmap(matrics.eve),
        "gradients": jax.vmap(jax.grad(lambda cm: matrics.eve(cm, zero_division=0))),
        "one against the rest": lambda cm: matrics.eve(matrics.transform.one_vs_rest(cm)).mean(-1),
        "scaled": lambda cm: matrics.study.eigenvalues(cm, matrix="A"),
    }


def main(programs: int) -> None:
    import jax

    import matrics

    functions, random = calls(), np.random.default_rng(47)
    on_host = {"eve": matrics.eve, "eigenvalues": matrics.study.eigenvalues, "vmap": matrics.eve}
    settings = itertools.product((3, 11, 20, 31, 64), (1, 8, 16, 200), (False, True))
    for place, (n, batch, double) in enumerate(itertools.islice(itertools.cycle(settings), programs)):
        names = [str(name) for name in random.permutation(list(functions))[: 2 + place % 5]]
        stacks = {name: random.integers(1, 50, (batch, n, n)).astype(float) for name in names}
        with jax.enable_x64(double):
            program = jax.jit(lambda stacks: {name: functions[name](cm) for name, cm in stacks.items()})
            for _ in range(RUNS):
                found = jax.block_until_ready(program(stacks))
        digits = {"rtol": 1e-9, "atol": 1e-12} if double else {"rtol": 2e-3, "atol": 2e-4}
        for name, cm in stacks.items():
            assert np.isfinite(found[name]).all(), name
            if name in on_host:
                np.testing.assert_allclose(found[name], on_host[name](cm), **digits)
    print(f"{programs} programs")


if __name__ == "__main__":
    if hasattr(os, "sched_setaffinity"):  # before XLA counts the cores
        os.sched_setaffinity(0, sorted(os.sched_getaffinity(0))[: int(sys.argv[1])])
    main(int(sys.argv[2]))
