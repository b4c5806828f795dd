"""Time a matrix of the whole catalogue, of each family and of PyCM's own statistics, beside PyCM in the same run.

    python benchmarks/catalogue.py [--json FILE]

Every figure is the best of several runs, microseconds a matrix, float64, one thread unless the column says otherwise;
PyCM runs in turn with ours, as machines drift. Its matrices are the first of the same stack, given as the dicts that it
takes, made beforehand; building the object computes its statistics. A third to nine tenths of that time go into one of
them, P-Value, a sum over samples. We have it in "own" alone, as it needs SciPy; "own, no SciPy" stands beside PyCM's
time without it. Values are compared first. Of the times nothing is asserted.
"""

from __future__ import annotations

import argparse
import json
import os
import platform
import time
from collections.abc import Iterable
from pathlib import Path

for name in ("OMP_NUM_THREADS", "OPENBLAS_NUM_THREADS", "MKL_NUM_THREADS"):
    os.environ.setdefault(name, "1")

import numpy as np  # noqa: E402 (after the threads are fixed)
import pycm  # noqa: E402
from pycm.overall_funcs import p_value_calc  # noqa: E402
from timing import best  # noqa: E402 (beside this file)

import matrics  # noqa: E402
from matrics._catalogue.pycm import CLASS, DISTANCES, OVERALL, PYCM  # noqa: E402
from matrics._engine.evaluation import evaluate  # noqa: E402

SIZES = (2, 3, 5, 10, 20)
SHOWN = 10  # the size whose time is taken apart
CELLS = 8_000_000  # a stack of 64 MB, which no cache holds, …
MOST = 60_000  # … but no more matrices than this
PYCM_MATRICES = 100
# Gilbert and Wells take logarithms of factorials, for which PyCM multiplies large integers: seconds for a large matrix.
SLOW = "GilbertWells"
SLOW_MATRICES = {2: 100, 3: 100, 5: 50, 10: 5, 20: 1}

SCIPY = set(matrics.list_metrics("on_host"))
ALL = matrics.list_metrics()
FAMILIES = {family: matrics.list_metrics(family) for family in sorted({matrics.get_metric(m).family for m in ALL})}
GROUPS = {**FAMILIES, "on_host": matrics.list_metrics("on_host")}


def by_class(specs: Iterable[str]) -> list[str]:
    return [spec if spec.endswith(":one_vs_rest") else f"{spec}:class" for spec in specs]


def without_scipy(specs: Iterable[str]) -> list[str]:
    return [spec for spec in specs if matrics.get_metric(spec).name not in SCIPY]


# PyCM's names are often two of one measure, hence dict.fromkeys.
OWN = list(dict.fromkeys([*(spec for name in OVERALL for spec in PYCM[name]), *by_class(CLASS.values())]))
OWN_NO_SCIPY = without_scipy(OWN)
OWN_AND_DISTANCES = list(dict.fromkeys([*OWN, *by_class(DISTANCES.values())]))
OWN_AND_FAST_DISTANCES = [spec for spec in OWN_AND_DISTANCES if not spec.startswith("gilbert_wells")]

# Values first ---------------------------------------------------------------------------------------------------------

DIFFERENT = {"Overall MCEN", "Anderberg"}  # from PyCM's, as the page "Differences from PyCM" says


def make_dicts(stack: np.ndarray) -> list[dict[int, dict[int, int]]]:
    """The matrices as what PyCM takes."""
    return [{i: dict(enumerate(row)) for i, row in enumerate(cm)} for cm in stack.astype(int).tolist()]


def make_pycm(dicts: list) -> list:
    return [pycm.ConfusionMatrix(matrix=matrix) for matrix in dicts]


def distances(objects: list, *, kinds: Iterable[str]) -> None:
    for kind in map(pycm.DistanceType, kinds):
        for cm in objects:
            cm.distance(kind)


def p_values(objects: list) -> list:
    return [p_value_calc(cm.TP, next(iter(cm.POP.values())), cm.NIR) for cm in objects]


def compare(stack: np.ndarray) -> int:
    """Raise unless our values are PyCM's; how many were compared. Words and pairs of its are left out."""
    compared = 0
    ours = matrics.score(stack, OWN_AND_DISTANCES)
    for k, cm in enumerate(make_pycm(make_dicts(stack))):
        rows = [(name, ours[spec][k], cm.overall_stat[name]) for name, spec in OVERALL.items() if spec in ours]
        tables = [(name, spec, cm.class_stat[name]) for name, spec in CLASS.items()]
        tables += [(name, spec, cm.distance(pycm.DistanceType(name))) for name, spec in DISTANCES.items()]
        for name, spec, theirs in tables:
            rows += [(name, ours[by_class([spec])[0]][k, i], theirs[i]) for i in cm.classes]
        for name, value, theirs in rows:
            if name not in DIFFERENT and not isinstance(theirs, (str, tuple)):
                np.testing.assert_allclose(value, float(theirs), rtol=1e-9, atol=1e-9, err_msg=name)
                compared += 1
    return compared


# Times ----------------------------------------------------------------------------------------------------------------


def make_stack(n: int, most: int = MOST) -> np.ndarray:
    return np.random.default_rng(n).integers(1, 100, (min(most, CELLS // n**2), n, n)).astype(np.float64)


def measure(n: int, runs: int) -> dict[str, float]:
    """The whole catalogue, PyCM's statistics, and PyCM: microseconds a matrix."""
    stack = make_stack(n)
    compared = compare(stack[:3])
    dicts = make_dicts(stack[:PYCM_MATRICES])
    objects = make_pycm(dicts)
    assert p_values(objects) == [cm.overall_stat["P-Value"] for cm in objects]
    fast = [kind for kind in DISTANCES if kind != SLOW]
    calls = {
        "read": (len(stack), stack.sum),
        "PyCM": (len(dicts), lambda: make_pycm(dicts)),
        "P-Value": (len(objects), lambda: p_values(objects)),
        "fast distances": (len(objects), lambda: distances(objects, kinds=fast)),
        "slow distance": (SLOW_MATRICES[n], lambda: distances(objects[: SLOW_MATRICES[n]], kinds=[SLOW])),
        "all": (len(stack), lambda: matrics.score(stack, "all")),
        "all, 2 workers": (len(stack), lambda: matrics.score(stack, "all", workers=2)),
        "own": (len(stack), lambda: matrics.score(stack, OWN)),
        "own, 2 workers": (len(stack), lambda: matrics.score(stack, OWN, workers=2)),
        "own no SciPy": (len(stack), lambda: matrics.score(stack, OWN_NO_SCIPY)),
        "own no SciPy, 2 workers": (len(stack), lambda: matrics.score(stack, OWN_NO_SCIPY, workers=2)),
        "own and fast distances": (len(stack), lambda: matrics.score(stack, OWN_AND_FAST_DISTANCES)),
        "own and distances": (len(stack), lambda: matrics.score(stack, OWN_AND_DISTANCES)),
    }
    times = best(*(call for _, call in calls.values()), runs=runs)
    row = {name: taken / count * 1e6 for (name, (count, _)), taken in zip(calls.items(), times, strict=True)}
    row["PyCM no P-Value"] = row["PyCM"] - row["P-Value"]
    row["PyCM and fast distances"] = row["PyCM"] + row["fast distances"]
    row["PyCM and distances"] = row["PyCM and fast distances"] + row["slow distance"]
    return {"n": n, "matrices": len(stack), "compared": compared, **row}


def measure_groups(n: int, runs: int, workers: int = 1) -> dict[str, float]:
    """Each family by itself: microseconds a matrix."""
    stack = make_stack(n, MOST // 4)
    calls = [lambda group=group: matrics.score(stack, group, workers=workers) for group in GROUPS]
    return {group: t / len(stack) * 1e6 for group, t in zip(GROUPS, best(*calls, runs=runs), strict=True)}


def clocked(stack: np.ndarray, names: list[str], parts: dict[str, list[str]], runs: int) -> dict[str, float]:
    """Where the time of one pass over some measures goes: microseconds a matrix in each part, and in "rest".

    A part pays for the margins that it is the first to use. The rest is the look at a block and the copies of results.
    """
    owner = {name: part for part, members in parts.items() for name in members}
    least = dict.fromkeys([*parts, "rest"], float("inf"))
    for _ in range(runs):
        spent = dict.fromkeys(parts, 0.0)

        def clock(name: str, spent: dict[str, float] = spent) -> object:
            function = matrics.get_metric(name).bind()

            def timed(table: object) -> object:
                begin = time.perf_counter()
                value = function(table)
                spent[owner[name]] += time.perf_counter() - begin
                return value

            return timed if name in owner else function

        functions = [clock(name) for name in names]
        begin = time.perf_counter()
        evaluate(stack, functions)
        spent["rest"] = time.perf_counter() - begin - sum(spent.values())
        least = {part: min(least[part], taken / len(stack) * 1e6) for part, taken in spent.items()}
    return least


def take_apart(n: int, parts: dict[str, list[str]], runs: int) -> dict[str, float]:
    """What each part adds to a pass over all other measures, timed after them: microseconds a matrix."""
    stack = make_stack(n, 5_000)
    added = {}
    for part, members in parts.items():
        others = [name for name in ALL if name not in members]
        added[part] = clocked(stack, [*others, *members], {part: members}, runs)[part]
    return added


# Tables ---------------------------------------------------------------------------------------------------------------


def against(row: dict[str, float], name: str, theirs: str = "PyCM") -> str:
    return f"{row[name]:.1f} ({row[theirs] / row[name]:.0f}×)"


def print_catalogue(rows: list[dict[str, float]]) -> None:
    print(f"all: {len(ALL)} measures; own: PyCM's own statistics, {len(OWN)} measures. In brackets: how often that")
    print("fits into PyCM's time, and without SciPy into PyCM's time without its P-Value.\n")
    heads = ("all", "2 workers", "own", "2 workers", "own, no SciPy", "2 workers")
    print(f"{'n':>3} {'one read':>9} {'PyCM':>6} {'no P-Value':>11}", *(f"{head:>13}" for head in heads))
    pairs = (("all", "PyCM"), ("own", "PyCM"), ("own no SciPy", "PyCM no P-Value"))
    for row in rows:
        cells = [against(row, key, theirs) for name, theirs in pairs for key in (name, f"{name}, 2 workers")]
        print(f"{row['n']:>3} {row['read']:>9.3f} {row['PyCM']:>6.0f} {row['PyCM no P-Value']:>11.0f}",
              *(f"{cell:>13}" for cell in cells))  # fmt: skip
    print("Targets: all 150× and more, own 300× and more, and 13 to 20 µs for all of n = 10\n")


def print_distances(rows: list[dict[str, float]]) -> None:
    print(f"The same statistics and PyCM's {len(DISTANCES)} distances of every class ({SLOW} apart)\n")
    heads = ("PyCM", f"ours, no {SLOW}", "PyCM", f"ours, with {SLOW}")
    print(f"{'n':>3}", "{:>9} {:>22} {:>9} {:>24}".format(*heads))
    for row in rows:
        fast, slow = "and fast distances", "and distances"
        print(f"{row['n']:>3} {row[f'PyCM {fast}']:>9.0f} {against(row, f'own {fast}', f'PyCM {fast}'):>22}"
              f" {row[f'PyCM {slow}']:>9.0f} {against(row, f'own {slow}', f'PyCM {slow}'):>24}")  # fmt: skip
    print()


def print_families(alone: dict[int, dict], two: dict, inside: dict, added: dict) -> None:
    print(
        f"Families. Alone: score(cm, family). In all: of the pass of n = {SHOWN} over all, where a family pays for the"
    )
    print("margins that it is the first to use. Added: what it adds to that pass if it comes last.\n")
    heads = [f"n = {n}" for n in alone]
    print(
        f"{'':<24}{'measures':>9}", *(f"{head:>7}" for head in heads), f"{'2 workers':>10} {'in all':>7} {'added':>7}"
    )
    for group, members in GROUPS.items():
        cells = [f"{times[group]:>7.2f}" for times in alone.values()]
        parts = [f"{part[group]:>7.2f}" if group in part else f"{'':>7}" for part in (inside, added)]
        print(f"{group:<24}{len(members):>9}", *cells, f"{two[group]:>10.2f}", *parts)
    width = 24 + 9 + 8 * len(alone) + 11
    print(f"{'the look and the copies of results':<{width}} {inside['rest']:>7.2f}")
    print(f"{'all':<{width}} {sum(inside.values()):>7.2f} {sum(added.values()):>7.2f}")


def main() -> None:
    """Print the tables; save them if asked."""
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0])
    parser.add_argument("--json", type=Path, help="save the figures there")
    parser.add_argument("--sizes", type=int, nargs="+", default=SIZES, choices=SIZES)
    parser.add_argument("--runs", type=int, default=3, help="every figure is the best of as many")
    parser.add_argument("--measures", type=int, default=0, help="so many measures that add most, besides families")
    options = parser.parse_args()
    print(
        f"NumPy {np.__version__}, PyCM {pycm.__version__}, {platform.machine()}, {os.cpu_count()} cores; µs a matrix\n"
    )
    rows = [measure(n, options.runs) for n in options.sizes]
    print_catalogue(rows)
    print_distances(rows)
    alone = {n: measure_groups(n, options.runs) for n in options.sizes}
    two = measure_groups(SHOWN, options.runs, workers=2)
    inside = clocked(make_stack(SHOWN, MOST // 4), ALL, FAMILIES, options.runs)
    added = take_apart(SHOWN, GROUPS, options.runs)
    print_families(alone, two, inside, added)
    if options.measures:
        measures = take_apart(SHOWN, {name: [name] for name in ALL}, options.runs)
        print(f"\nMeasures that add most to a pass of n = {SHOWN} over all others")
        for name in sorted(measures, key=measures.get, reverse=True)[: options.measures]:
            print(f"  {name:<32}{measures[name]:>6.3f}")
    if options.json:
        options.json.parent.mkdir(parents=True, exist_ok=True)
        figures = {"sizes": rows, "families": alone, "2 workers": two, "in all": inside, "added": added}
        options.json.write_text(json.dumps(figures, indent=1))


if __name__ == "__main__":
    main()
