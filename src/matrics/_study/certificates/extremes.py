"""The properties that are tested by the lowest and highest values, by expectations, or by counting."""

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
from matrics._study.certificates.search import EXACT, MOST_SAMPLES, SearchedMeasure

Range = tuple[float, float]

# The tolerance for bounds that values approach without reaching them, as a share of the range.
NEAR = 2e-3
CLIMBERS = 24
STEPS = 40
SAMPLES = 20  # the number of samples of the matrices for sensitivity and undefined values
HUGE = 10**9


def extreme_matrices(n: int) -> Array:
    """Matrices at which measures have extreme values: perfect, all wrong, and with very unequal classes."""
    identity = np.eye(n, dtype=np.int64)
    swapped = np.zeros(
        (n, n), np.int64
    )  # two large classes are confused with each other, and the others with the first
    swapped[2:, 0] = 1
    swapped[0, 1] = swapped[1, 0] = HUGE
    first_column = np.zeros((n, n), np.int64)
    first_column[:, 0], first_column[0, 0], first_column[0, 1] = 1, 0, HUGE
    results = [
        identity,
        1 - identity,
        np.roll(identity, 1, axis=1),
        swapped,
        first_column,
        swapped.T.copy(),
        HUGE * identity + 1,
    ]
    results += [np.where(identity, 1, HUGE), np.where(identity, HUGE, 1) * (10 ** np.arange(n))[:, None]]
    return np.stack(results)


def equal_rows(c: Array) -> Array:
    """The integer matrices with the same rates and classes of equal size."""
    sizes = c.sum(-1)
    common = np.lcm.reduce(sizes, axis=-1)
    return c * (common[:, None] // sizes)[:, :, None]


def find_range(measure: SearchedMeasure, n: int, *, equal: bool) -> tuple[Range, Array, int]:
    """The lowest and the highest value, their matrices (2, n, n), and the number of tried matrices.

    Every true class has samples; with ``equal`` all classes have the same size.
    """
    cases = np.concatenate([small((n, n)), large((n, n), measure.cases, measure.random(n, equal)), extreme_matrices(n)])
    cases = cases[(cases.sum(-1) > 0).all(-1)]
    if equal:
        cases = cases[cases.max((-2, -1)) <= 60 // n]  # so that common multiples are small
    bounds, matrices, tried = [], [], 0
    for sign in (-1, 1):
        best, value, more = _climbed(measure, cases, sign, equal=equal)
        bounds.append(value)
        matrices.append(best)
        tried += more
    return (bounds[0], bounds[1]), np.stack(matrices), tried


def _climbed(measure: SearchedMeasure, cases: Array, sign: int, *, equal: bool) -> tuple[Array, float, int]:
    """The matrix with the highest or the lowest value, by hill climbing from the best cases."""

    def height(c: Array) -> Array:
        values = sign * measure.values(equal_rows(c) if equal else c)
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


def same_range(measure: SearchedMeasure, *, equal: bool) -> tuple[Verdict, dict[int, Range]]:
    """The verdict on whether the range is the same for every number of classes, and the ranges."""
    name = "range_of_equal_classes" if equal else "range"
    ranges, matrices, tried = {}, {}, 0
    for n in measure.sizes:
        bounds, places, more = find_range(measure, n, equal=equal)
        tried += more
        if not math.isnan(bounds[0]):
            ranges[n], matrices[n] = bounds, places
    if len(ranges) < 2 or not measure.metric.scale_free:
        return Verdict(name, STATEMENTS[name], holds=None, cases=tried), ranges
    first = min(ranges)
    bounded = [side for side in (0, 1) if math.isfinite(measure.metric.range[side])]
    for n in ranges:
        for side in bounded:
            a, b = ranges[first][side], ranges[n][side]
            span = ranges[first][1] - ranges[first][0]
            if a != b and not abs(a - b) <= NEAR * (span if 0 < span < math.inf else 1):
                extreme = ("lowest", "highest")[side]
                # The matrices have different sizes, so each is scored separately.
                witness = Witness.of(
                    [matrices[first][side], matrices[n][side]],
                    (f"the {extreme} of {first} classes", f"the {extreme} of {n}"),
                    [_value(measure, matrices[k][side]) for k in (first, n)],
                    confirmed=not measure.metric.on_host,
                )
                return Verdict(name, STATEMENTS[name], False, tried, tuple(k for k in ranges if k < n), witness), ranges
    return Verdict(name, STATEMENTS[name], True, tried, tuple(ranges)), ranges


def _value(measure: SearchedMeasure, matrix: Array) -> float:
    return float(measure.values(matrix[None])[0] if measure.metric.on_host else measure.exact(matrix[None])[0])


def one_class_missed(measure: SearchedMeasure) -> Verdict:
    """The verdict on Condition 3: missing a single class entirely has a value above the lowest value.

    If the value is undefined without a correct prediction of the class, a single prediction in a million is correct.
    """
    name = "one_class_missed"
    if measure.metric.higher_is_better is None or 3 not in measure.sizes:
        return Verdict(name, STATEMENTS[name], None, 0)
    cases = small((3, 3))
    identity = np.eye(3, dtype=np.int64)
    filled = (cases.sum(-1) > 0).all(-1)
    hits = (cases * identity).sum(-1)
    right, never = (hits == cases.sum(-1)), (hits == 0)
    is_missing_class = filled & (right.sum(-1) == 2) & (never.sum(-1) == 1)
    missed, worst = cases[is_missing_class], cases[filled]
    nearly = MANY * missed + identity * never[is_missing_class][:, :, None]
    missed = np.where(np.isnan(measure.values(missed))[:, None, None], nearly, missed)
    missed_values, values = measure.sign * measure.values(missed), measure.sign * measure.values(worst)
    tried = int(np.sum(~np.isnan(missed_values)))
    if not tried or np.isnan(values).all():
        return Verdict(name, STATEMENTS[name], None, 0)
    low, lowest = int(np.nanargmin(missed_values)), int(np.nanargmin(values))
    if missed_values[low] > values[lowest] + 1e-9:
        return Verdict(name, STATEMENTS[name], True, tried, (3,))
    pair = np.stack([missed[low], worst[lowest]])
    values_of_pair = measure.values(pair) if measure.metric.on_host else measure.exact(pair)
    witness = Witness.of(pair, ("one class missed", "the worst"), values_of_pair, confirmed=not measure.metric.on_host)
    return Verdict(name, STATEMENTS[name], False, tried, (), witness)


def constant_baseline(measure: SearchedMeasure) -> Verdict:
    """The verdict on whether random predictions have the same expected value for all margins."""
    name = "expected_chance"
    reference: tuple[float, Array] | None = None
    tried = 0
    for total in range(2, 9):
        for true in range(1, total):
            for pred in range(1, total):
                tables, weights = _hypergeometric(total, true, pred)
                with np.errstate(invalid="ignore"):  # infinite values of both signs
                    expected = float(np.sum(measure.values(tables) * weights))
                if math.isnan(expected):
                    continue
                tried += 1
                if reference is None:
                    reference = (expected, _guess(total, true, pred))
                elif not abs(expected - reference[0]) <= 1e-9 * (1 + abs(expected)):
                    here = _guess(total, true, pred)
                    if measure.metric.on_host or abs(_exact(measure, here) - _exact(measure, reference[1])) > EXACT:
                        roles = ("class sizes of the guesses", "other class sizes")
                        witness = Witness.of(
                            [reference[1], here], roles, [reference[0], expected], confirmed=not measure.metric.on_host
                        )
                        return Verdict(name, STATEMENTS[name], False, tried, (), witness)
    value = reference[0] if reference else None
    return Verdict(name, STATEMENTS[name], True if tried > 1 else None, tried, (2,) if tried > 1 else (), value=value)


def _guess(total: int, true: int, pred: int) -> Array:
    """The first table with row sums total - true and true, and column sums total - pred and pred."""
    return _hypergeometric(total, true, pred)[0][0]


def _hypergeometric(total: int, true: int, pred: int) -> tuple[Array, Array]:
    """All tables with these margins, and their probabilities for random predictions."""
    both = np.arange(max(0, true + pred - total), min(true, pred) + 1)
    tables = np.stack([total - true - pred + both, pred - both, true - both, both], -1).reshape(-1, 2, 2)
    ways = [math.comb(true, int(k)) * math.comb(total - true, pred - int(k)) for k in both]
    return tables, np.asarray(ways) / math.comb(total, pred)


def _exact(measure: SearchedMeasure, table: Array) -> Number:
    """The exact expectation over all tables with the same margins."""
    total, true, pred = int(table.sum()), int(table[1].sum()), int(table[:, 1].sum())
    tables, _ = _hypergeometric(total, true, pred)
    expected = Number.of(0)
    for value, cells in zip(measure.exact(tables), tables, strict=True):
        ways = math.comb(true, int(cells[1, 1])) * math.comb(total - true, int(cells[0, 1]))
        expected = expected + value * Number(Fraction(ways, math.comb(total, pred)))
    return expected


def sensitivity(measure: SearchedMeasure) -> Verdict:
    """The verdict with the largest change of the value by a single changed prediction, over matrices of 20 samples."""
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
    values = measure.values(pairs)
    with np.errstate(invalid="ignore"):
        change = np.abs(values[:, 0] - values[:, 1])
    if np.isnan(change).all():
        return Verdict(name, STATEMENTS[name], None, 0)
    most = int(np.nanargmax(change))
    witness = Witness.of(pairs[most], ("the matrix", "with one prediction changed"), values[most], confirmed=False)
    tried = int(np.sum(~np.isnan(change)))
    return Verdict(name, STATEMENTS[name], None, tried, (2,), witness, float(change[most]))


def undefined_share(measure: SearchedMeasure) -> Verdict:
    """The verdict with the share of matrices of 20 samples for which the measure is undefined."""
    cases = counts_with(4, SAMPLES).reshape(-1, 2, 2)
    share = float(np.mean(np.isnan(measure.values(cases))))
    return Verdict("undefined", STATEMENTS["undefined"], None, len(cases), (2,), value=share)
