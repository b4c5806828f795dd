"""Entropies of a million matrices beside the logarithms that they need, of every cell and of three sums.

    python benchmarks/entropies.py [--matrices 1000000] [--classes 3] [--runs 9]

Both run in turn, and the figures are the best processor times of one thread in milliseconds. The logarithms are taken
in blocks that stay in the cache, of the same numbers.
"""

from __future__ import annotations

import argparse
import time

import numpy as np
from machine import machine, print_machine  # (beside this file)
from timing import best

import matrics

NAMES = ("cen", "mcen", "class_cen:class", "joint_entropy", "true_entropy", "conditional_entropy", "mutual_information")
BLOCK = 2**15


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--matrices", type=int, default=1_000_000)
    parser.add_argument("--classes", type=int, default=3)
    parser.add_argument("--runs", type=int, default=9)
    options = parser.parse_args()
    n = options.classes
    stack = np.random.default_rng(0).integers(0, 100, (options.matrices, n, n))
    numbers = (np.concatenate([stack.reshape(len(stack), -1), stack.sum(1)], axis=1).ravel() + 0.5) / 1000
    out = np.empty(BLOCK)

    def logarithms() -> None:
        for start in range(0, numbers.size, BLOCK):
            part = numbers[start : start + BLOCK]
            np.log(part, out=out[: part.size])

    calls = [lambda name=name: matrics.score(stack, name) for name in NAMES]
    floor, *taken = best(logarithms, *calls, runs=options.runs, clock=time.process_time)
    print_machine(machine())
    print(f"| {'measure':20} |     ms | logarithms |\n|{'-' * 22}|{'-' * 7}:|{'-' * 11}:|")
    for name, value in zip(("logarithms", *NAMES), (floor, *taken), strict=True):
        print(f"| {name:20} | {1e3 * value:6.1f} | {value / floor:9.2f}× |")


if __name__ == "__main__":
    main()
