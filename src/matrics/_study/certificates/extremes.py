"""Properties tested by the lowest and highest values, by expectations, or by counting."""

from __future__ import annotations

import math
from fractions import Fraction

import numpy as np

from matrics._arrays import Array
from matrics._study.certificates.cases import counts_with, large, neighbours, samples, small
from matrics._study.certificates.catalogue import STATEMENTS
from matrics._study.certificates.exact import Number
from matrics._study.certificates.properties import MANY
from matrics._study.certificates.results import Verdict, Witness
from matrics._study.certificates.search import EXACT, MOST_SAMPLES, Judge

Range = tuple[float, float]

# Bounds that are approached and not reached are met to within this share of the range.
NEAR = 2e-3
CLIMBERS = 24
STEPS = 40
SAMPLES = 20  # of the matrices whose sensitivity and undefined values are counted
HUGE = 10**9


def extreme_matrices(n: int) -> Array:
    """Matrices at which measures have their least or greatest values: perfect, all wrong, and very unequal classes."""
    one = np.eye(n, dtype=np.int64)
    swapped = np.zeros((n, n), np.int64)  # two large classes taken for each other, the others taken for the first
    swapped[2:, 0] = 1
    swapped[0, 1] = swapped[1, 0] = HUGE
    taken = np.zeros((n, n), np.int64)
    taken[:, 0], taken[0, 0], taken[0, 1] = 1, 0, HUGE
    found = [one, 1 - one, np.roll(one, 1, axis=1), swapped, taken, swapped.T.copy(), HUGE * one + 1]
    found += [np.where(one, 1, HUGE), np.where(one, HUGE, 1) * (10 ** np.arange(n))[:, None]]
    return np.stack(found)


def equal_rows(c: Array) -> Array:
    """The matrix at the same rates with classes of one size, in integers."""
    sizes = c.sum(-1)
    common = np.lcm.reduce(sizes, axis=-1)
    return c * (common[:, None] // sizes)[:, :, None]


def find_range(judge: Judge, n: int, *, equal: bool) -> tuple[Range, Array, int]:
    """The lowest and the highest value found, their matrices (2, n, n), and how many were tried.

    Every true class has samples; with ``equal`` as many as any other.
    """
    cases = np.concatenate([small((n, n)), large((n, n), judge.cases, judge.random(n, equal)), extreme_matrices(n)])
    cases = cases[(cases.sum(-1) > 0).all(-1)]
    if equal:
        cases = cases[cases.max((-2, -1)) <= 60 // n]  # whose common multiples are small
    bounds, matrices, tried = [], [], 0
    for sign in (-1, 1):
        best, value, more = _climbed(judge, cases, sign, equal=equal)
        bounds.append(value)
        matrices.append(best)
        tried += more
    return (bounds[0], bounds[1]), np.stack(matrices), tried


def _climbed(judge: Judge, cases: Array, sign: int, *, equal: bool) -> tuple[Array, float, int]:
    """The matrix with the highest or the lowest value: the best of the cases, and from there uphill."""

    def height(c: Array) -> Array:
        values = sign * judge.values(equal_rows(c) if equal else c)
        return np.where(np.isnan(values), -np.inf, values)

    heights = height(cases)
    best = np.lexsort((samples(cases), -heights))[:CLIMBERS]
    here, top, tried = cases[best], heights[best], len(cases)
    most = 60 if equal else MOST_SAMPLES
    for _ in range(STEPS):
        around = neighbours(here)
        fine = (around.max((-2, -1)) <= most) & (around.sum(-1) > 0).all(-1)
        around = np.where(fine[..., None, None], around, here[:, None])
        flat = height(around.reshape(-1, *here.shape[1:])).reshape(fine.shape)
        tried += flat.size
        step = flat.argmax(1)
        rows = np.arange(len(here))
        better = flat[rows, step] > top + 1e-12
        if not better.any():
            break
        here = np.where(better[:, None, None], around[rows, step], here)
        top = np.maximum(top, flat[rows, step])
    place = np.lexsort((samples(here), -np.round(top, 9)))[0]
    matrix = equal_rows(here[place : place + 1])[0] if equal else here[place]
    return matrix, float(sign * top[place]) if np.isfinite(top[place]) or top[place] > 0 else math.nan, tried


def same_range(judge: Judge, *, equal: bool) -> tuple[Verdict, dict[int, Range]]:
    """Whether the lowest and the highest value are the same for every number of classes."""
    name = "range_of_equal_classes" if equal else "range"
    ranges, matrices, tried = {}, {}, 0
    for n in judge.sizes:
        found, at, more = find_range(judge, n, equal=equal)
        tried += more
        if not math.isnan(found[0]):
            ranges[n], matrices[n] = found, at
    if len(ranges) < 2 or not judge.metric.scale_free:
        return Verdict(name, STATEMENTS[name], holds=None, cases=tried), ranges
    first = min(ranges)
    bounded = [side for side in (0, 1) if math.isfinite(judge.metric.range[side])]
    for n in ranges:
        for side in bounded:
            a, b = ranges[first][side], ranges[n][side]
            span = ranges[first][1] - ranges[first][0]
            if a != b and not abs(a - b) <= NEAR * (span if 0 < span < math.inf else 1):
                extreme = ("lowest", "highest")[side]
                # Matrices of two sizes: each is scored by itself.
                witness = Witness.of(
                    [matrices[first][side], matrices[n][side]],
                    (f"the {extreme} of {first} classes", f"the {extreme} of {n}"),
                    [_one_value(judge, matrices[k][side]) for k in (first, n)],
                    confirmed=not judge.metric.on_host,
                )
                return Verdict(name, STATEMENTS[name], False, tried, tuple(k for k in ranges if k < n), witness), ranges
    return Verdict(name, STATEMENTS[name], True, tried, tuple(ranges)), ranges


def _one_value(judge: Judge, matrix: Array) -> float:
    return float(judge.values(matrix[None])[0] if judge.metric.on_host else judge.exact(matrix[None])[0])


def one_class_missed(judge: Judge) -> Verdict:
    """Condition 3: predictions that miss one class and are right otherwise are above the lowest value.

    If the value is undefined without a correct prediction of the class, one in a million is correct.
    """
    name = "one_class_missed"
    if judge.metric.higher_is_better is None or 3 not in judge.sizes:
        return Verdict(name, STATEMENTS[name], None, 0)
    cases = small((3, 3))
    one = np.eye(3, dtype=np.int64)
    filled = (cases.sum(-1) > 0).all(-1)
    hits = (cases * one).sum(-1)
    right, never = (hits == cases.sum(-1)), (hits == 0)
    of_one = filled & (right.sum(-1) == 2) & (never.sum(-1) == 1)
    missed, worst = cases[of_one], cases[filled]
    nearly = MANY * missed + one * never[of_one][:, :, None]
    missed = np.where(np.isnan(judge.values(missed))[:, None, None], nearly, missed)
    missed_values, values = judge.sign * judge.values(missed), judge.sign * judge.values(worst)
    tried = int(np.sum(~np.isnan(missed_values)))
    if not tried or np.isnan(values).all():
        return Verdict(name, STATEMENTS[name], None, 0)
    low, lowest = int(np.nanargmin(missed_values)), int(np.nanargmin(values))
    if missed_values[low] > values[lowest] + 1e-9:
        return Verdict(name, STATEMENTS[name], True, tried, (3,))
    pair = np.stack([missed[low], worst[lowest]])
    found = judge.values(pair) if judge.metric.on_host else judge.exact(pair)
    witness = Witness.of(pair, ("one class missed", "the worst"), found, confirmed=not judge.metric.on_host)
    return Verdict(name, STATEMENTS[name], False, tried, (), witness)


def constant_baseline(judge: Judge) -> Verdict:
    """Whether the expectation over all ways to guess, with the sizes of both kinds of classes fixed, is one number."""
    name = "expected_chance"
    reference: tuple[float, Array] | None = None
    tried = 0
    for total in range(2, 9):
        for true in range(1, total):
            for pred in range(1, total):
                tables, weights = _hypergeometric(total, true, pred)
                with np.errstate(invalid="ignore"):  # of infinite values of both signs
                    expected = float(np.sum(judge.values(tables) * weights))
                if math.isnan(expected):
                    continue
                tried += 1
                if reference is None:
                    reference = (expected, _guess(total, true, pred))
                elif not abs(expected - reference[0]) <= 1e-9 * (1 + abs(expected)):
                    here = _guess(total, true, pred)
                    if judge.metric.on_host or abs(_exact(judge, here) - _exact(judge, reference[1])) > EXACT:
                        roles = ("class sizes of the guesses", "other class sizes")
                        witness = Witness.of(
                            [reference[1], here], roles, [reference[0], expected], confirmed=not judge.metric.on_host
                        )
                        return Verdict(name, STATEMENTS[name], False, tried, (), witness)
    value = reference[0] if reference else None
    return Verdict(name, STATEMENTS[name], True if tried > 1 else None, tried, (2,) if tried > 1 else (), value=value)


def _guess(total: int, true: int, pred: int) -> Array:
    """The first table with these margins: row sums total - true and true, column sums total - pred and pred."""
    return _hypergeometric(total, true, pred)[0][0]


def _hypergeometric(total: int, true: int, pred: int) -> tuple[Array, Array]:
    """All tables with these margins, and how likely each is for predictions at random."""
    both = np.arange(max(0, true + pred - total), min(true, pred) + 1)
    tables = np.stack([total - true - pred + both, pred - both, true - both, both], -1).reshape(-1, 2, 2)
    ways = [math.comb(true, int(k)) * math.comb(total - true, pred - int(k)) for k in both]
    return tables, np.asarray(ways) / math.comb(total, pred)


def _exact(judge: Judge, table: Array) -> Number:
    """The expectation over all tables with the margins of this one, exactly."""
    total, true, pred = int(table.sum()), int(table[1].sum()), int(table[:, 1].sum())
    tables, _ = _hypergeometric(total, true, pred)
    expected = Number.of(0)
    for value, cells in zip(judge.exact(tables), tables, strict=True):
        ways = math.comb(true, int(cells[1, 1])) * math.comb(total - true, int(cells[0, 1]))
        expected = expected + value * Number(Fraction(ways, math.comb(total, pred)))
    return expected


def sensitivity(judge: Judge) -> Verdict:
    """The largest change of the value when one prediction changes, over all matrices with this number of samples."""
    name = "sensitivity"
    cases = counts_with(4, SAMPLES).reshape(-1, 2, 2)
    cases = cases[(cases.sum(-1) > 0).all(-1)]
    tuples = []
    for i in range(2):
        able = cases[cases[:, i, i] > 0]
        changed = able.copy()
        changed[:, i, i] -= 1
        changed[:, i, 1 - i] += 1
        tuples.append(np.stack([able, changed], axis=1))
    pairs = np.concatenate(tuples)
    values = judge.values(pairs)
    with np.errstate(invalid="ignore"):
        change = np.abs(values[:, 0] - values[:, 1])
    if np.isnan(change).all():
        return Verdict(name, STATEMENTS[name], None, 0)
    most = int(np.nanargmax(change))
    witness = Witness.of(pairs[most], ("the matrix", "with one prediction changed"), values[most], confirmed=False)
    tried = int(np.sum(~np.isnan(change)))
    return Verdict(name, STATEMENTS[name], None, tried, (2,), witness, float(change[most]))


def undefined_share(judge: Judge) -> Verdict:
    """The share of all matrices with this number of samples for which the measure is undefined."""
    cases = counts_with(4, SAMPLES).reshape(-1, 2, 2)
    share = float(np.mean(np.isnan(judge.values(cases))))
    return Verdict("undefined", STATEMENTS["undefined"], None, len(cases), (2,), value=share)
