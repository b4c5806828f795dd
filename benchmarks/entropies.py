"""Entropies of a million matrices, the logarithms that they need, and a minimal script for each.

    python benchmarks/entropies.py [--matrices 1000000] [--runs 9]

All run in turn, and the figures are the best processor times of one thread in milliseconds. The logarithms are those of
nine cells and three sums, in blocks that stay in the cache. A minimal script has the operations that no implementation
with NumPy can leave out: blocks in memory that is reused, with the checks for invalid cells, but without replacements
of 0/0, of the logarithms of shares near 1, and of counts beyond the range of products.
"""

from __future__ import annotations

import argparse
import time
from collections.abc import Callable, Iterator

import numpy as np
from machine import machine, print_machine  # (beside this file)
from timing import best

import matrics

NAMES = ("cen", "mcen", "class_cen:class", "joint_entropy", "true_entropy", "conditional_entropy", "mutual_information")
BLOCK = 2**15
MATRICES = 4096  # in a block of the minimal scripts
TINY = np.finfo(np.float64).tiny
Arrays = tuple[np.ndarray, ...]


def blocks_of(stack: np.ndarray, results: np.ndarray) -> Iterator[Arrays]:
    """The results, the cells, the row sums and the totals of each block, and memory for cells."""
    n = stack.shape[-1]
    memory, spare = np.empty(n * n * MATRICES), np.empty(n * n * MATRICES)
    for start in range(0, len(stack), MATRICES):
        block = stack[start : start + MATRICES].transpose(1, 2, 0)
        cells, other = (x[: block.size].reshape(block.shape) for x in (memory, spare))
        np.copyto(cells, block, casting="unsafe")
        true = np.add.reduce(cells, axis=1)
        total = np.add.reduce(true, axis=0)
        assert np.minimum.reduce(cells, axis=None) >= 0
        assert np.maximum.reduce(total) < np.inf
        yield results[start : start + MATRICES], cells, true, total, other


def times_log(shares: np.ndarray, out: np.ndarray) -> np.ndarray:
    """The products p ln p, and the check for shares near 1."""
    np.maximum(shares, TINY, out=out)
    np.log(out, out=out)
    out *= shares
    np.count_nonzero(shares > 0.5)
    return out


def joint_entropy(stack: np.ndarray, results: np.ndarray) -> None:
    for result, cells, _, total, other in blocks_of(stack, results):
        np.multiply(cells, 1 / total, out=cells)
        np.subtract(0, np.add.reduce(times_log(cells, other), axis=(0, 1)), out=result)


def true_entropy(stack: np.ndarray, results: np.ndarray) -> None:
    for result, _, true, total, other in blocks_of(stack, results):
        np.multiply(true, 1 / total, out=true)
        np.subtract(0, np.add.reduce(times_log(true, other[0]), axis=0), out=result)


def cen(stack: np.ndarray, results: np.ndarray) -> None:
    for result, cells, true, total, other in blocks_of(stack, results):
        n, count = true.shape
        scale = 1 / total
        reach = true + np.add.reduce(cells, axis=0)
        diagonal = cells.reshape(n * n, count)[:: n + 1]
        errors = reach - diagonal
        errors -= diagonal
        reach *= scale
        errors *= scale
        shares = cells.reshape(n * n, count)[1:].reshape(n - 1, n + 1, count)[:, :n]
        shares *= scale
        logs = times_log(shares, other.reshape(-1)[: shares.size].reshape(shares.shape))
        np.log(np.maximum(reach, TINY, out=reach), out=reach)
        reach *= errors
        spread = np.add.reduce(reach, axis=0) - 2 * np.add.reduce(logs, axis=(0, 1))
        np.multiply(spread, 0.5 / np.log(2 * n - 2), out=result)


def mutual_information(stack: np.ndarray, results: np.ndarray) -> None:
    for result, cells, true, total, other in blocks_of(stack, results):
        expected = np.multiply(true[:, None], np.add.reduce(cells, axis=0)[None], out=other)
        np.multiply(cells, total, out=cells)
        beyond = cells - expected
        logs = np.divide(beyond, expected, out=expected)
        np.log1p(np.fmax(logs, 2.0**-52 - 1, out=logs), out=logs)  # also without 0/0
        logs *= cells
        logs -= beyond
        np.divide(np.add.reduce(logs, axis=(0, 1)), total * total, out=result)


MINIMAL: dict[str, Callable[[np.ndarray, np.ndarray], None]] = {
    function.__name__: function for function in (cen, joint_entropy, true_entropy, mutual_information)
}


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--matrices", type=int, default=1_000_000)
    parser.add_argument("--classes", type=int, default=3)
    parser.add_argument("--runs", type=int, default=9)
    options = parser.parse_args()
    n = options.classes
    stack = np.random.default_rng(0).integers(0, 100, (options.matrices, n, n))
    numbers = (np.concatenate([stack.reshape(len(stack), -1), stack.sum(1)], axis=1).ravel() + 0.5) / 1000
    out, results = np.empty(BLOCK), np.empty(len(stack))

    def logarithms() -> None:
        for start in range(0, numbers.size, BLOCK):
            part = numbers[start : start + BLOCK]
            np.log(part, out=out[: part.size])

    with np.errstate(all="ignore"):
        for name, function in MINIMAL.items():
            function(stack, results)
            np.testing.assert_allclose(results, matrics.score(stack, name)[name], rtol=1e-9)
        calls = [lambda name=name: matrics.score(stack, name) for name in NAMES]
        minimal = [lambda function=function: function(stack, results) for function in MINIMAL.values()]
        floor, *taken = best(logarithms, *calls, *minimal, runs=options.runs, clock=time.process_time)
    least = dict(zip(MINIMAL, taken[len(NAMES) :], strict=True))
    print_machine(machine())
    print(f"| {'measure':20} |     ms | minimal | logarithms |\n|{'-' * 22}|{'-' * 7}:|{'-' * 8}:|{'-' * 11}:|")
    for name, value in zip(("logarithms", *NAMES), (floor, *taken[: len(NAMES)]), strict=True):
        low = f"{1e3 * least[name]:.1f}" if name in least else ""
        print(f"| {name:20} | {1e3 * value:6.1f} | {low:>7} | {value / floor:9.2f}× |")


if __name__ == "__main__":
    main()
