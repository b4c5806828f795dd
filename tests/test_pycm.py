"""PyCM as the referee: every number of it on 500 matrices, and each difference with its reason and its right value."""

from __future__ import annotations

import math
import statistics
from collections import Counter
from collections.abc import Callable, Iterator
from fractions import Fraction
from typing import Any, NamedTuple

import numpy as np
import pytest

import matrics
from matrics._catalogue import verbal
from matrics._catalogue.pycm import CLASS, DISTANCES, MOVED, OVERALL, PYCM
from matrics._catalogue.pycm import METHODS as OTHER_METHODS

pycm = pytest.importorskip("pycm", reason="PyCM is not installed")

# PyCM's 1.96 standard errors hold this share of a normal distribution. Ours by default are the 1.95996… of 0.95.
PYCM_CONFIDENCE = f"confidence={math.erf(1.96 / math.sqrt(2))!r}"

# Matrices, and both sides' numbers of them ----------------------------------------------------------------------------


def make_pycm(cm: Any) -> Any:
    return pycm.ConfusionMatrix(matrix={i: dict(enumerate(row)) for i, row in enumerate(np.asarray(cm).tolist())})


def draw(n: int, many: int, random: np.random.Generator) -> np.ndarray:
    """Counts up to 50: many or few, with an empty row, an empty column, a heavy diagonal, or empty cells anywhere."""
    stack = random.integers(0, random.choice([2, 6, 51], many)[:, None, None], (many, n, n))
    for k, cm in enumerate(stack):
        if k % 5 == 1:
            cm[random.integers(n)] = 0
        elif k % 5 == 2:
            cm[:, random.integers(n)] = 0
        elif k % 5 == 3:
            np.fill_diagonal(cm, random.integers(0, 51, n))
        elif k % 5 == 4:
            np.multiply(cm, random.integers(0, 2, (n, n)), out=cm)
        cm[0, -1] += not cm.any()
    return stack


@pytest.fixture(scope="module")
def stacks() -> list[tuple[np.ndarray, list[Any]]]:
    """500 matrices in one stack a size, and PyCM's object of each."""
    random = np.random.default_rng(46)
    drawn = [draw(n, 46 if n < 7 else 45, random) for n in range(2, 13)]
    assert sum(map(len, drawn)) == 500
    return [(stack, [make_pycm(cm) for cm in stack]) for stack in drawn]


def ours_of(spec: str, *, by_class: bool) -> str:
    if spec.startswith(("kappa_conf", "accuracy_conf")):
        return spec.replace(")", f",{PYCM_CONFIDENCE})")
    return spec + ":class" if by_class and not spec.endswith(":one_vs_rest") else spec


class Pair(NamedTuple):
    """One number of both sides; theirs is None where PyCM says 'None'."""

    name: str
    cm: Any  # PyCM's object
    index: Any  # the class, or which of a pair of overall values
    ours: float
    theirs: float | None

    def close(self, wanted: float | None, tolerance: float = 1e-9) -> bool:
        if wanted is None or math.isnan(wanted):
            return math.isnan(self.ours)
        if math.isinf(wanted):
            return self.ours == wanted
        return abs(self.ours - wanted) <= tolerance * max(1, abs(wanted))


def number(x: Any) -> float | None:
    return None if isinstance(x, str) else float(x)


def overall_pairs(stack: np.ndarray, cms: list[Any]) -> Iterator[Pair]:
    for name, specs in OVERALL.items():
        for index, spec in enumerate((specs,) if isinstance(specs, str) else specs):
            values = matrics.get_metric(ours_of(spec, by_class=False))(stack)
            for cm, ours in zip(cms, values.tolist(), strict=True):
                theirs = cm.overall_stat[name]
                if isinstance(theirs, tuple):  # "Overall J" has the sum and the mean; ours is the mean
                    theirs = theirs[1 if name == "Overall J" else index]
                yield Pair(name, cm, index, ours, number(theirs))


def class_pairs(stack: np.ndarray, cms: list[Any], specs: dict[str, str], theirs_of: Callable) -> Iterator[Pair]:
    for name, spec in specs.items():
        values = matrics.get_metric(ours_of(spec, by_class=True))(stack)
        for cm, ours in zip(cms, values.tolist(), strict=True):
            theirs = theirs_of(cm, name)
            for k in cm.classes:
                yield Pair(name, cm, k, ours[k], number(theirs[k]))


def pairs_of(kind: str, stack: np.ndarray, cms: list[Any]) -> Iterator[Pair]:
    if kind == "overall":
        return overall_pairs(stack, cms)
    if kind == "class":
        return class_pairs(stack, cms, CLASS, lambda cm, name: cm.class_stat[name])
    return class_pairs(stack, cms, DISTANCES, lambda cm, name: cm.distance(pycm.DistanceType(name)))


# The differences: a reason, and what ours must be instead -------------------------------------------------------------


def mean_of_defined(name: str, sizes_of: Callable[[Any], dict[int, int]] | None = None) -> Callable[[Pair], float]:
    """The mean of PyCM's own class values, weighted, without those that are 'None'."""

    def mean(pair: Pair) -> float:
        values = pair.cm.class_stat[name]
        there = [k for k in pair.cm.classes if not isinstance(values[k], str)]
        sizes = dict.fromkeys(there, 1) if sizes_of is None else sizes_of(pair.cm)
        return sum(sizes[k] * values[k] for k in there) / sum(sizes[k] for k in there)

    return mean


def both_sizes(cm: Any) -> dict[int, int]:
    return {k: cm.P[k] + cm.TOP[k] for k in cm.classes}


def phi_squared(cm: Any) -> float:
    counts = cm.to_array()
    expected = np.outer(counts.sum(1), counts.sum(0)) / counts.sum()
    there = expected > 0
    return float(np.sum((counts - expected)[there] ** 2 / expected[there]) / counts.sum())


def never_predicted(pair: Pair) -> bool:
    """Whether a true class is: the logarithm of its predicted share is infinite."""
    return any(pair.cm.P[k] and not pair.cm.TOP[k] for k in pair.cm.classes)


def divergence(pair: Pair) -> float:
    """0 ln 0 is 0."""
    if never_predicted(pair):
        return math.inf
    return sum(pair.cm.PRE[k] * math.log2(size / pair.cm.TOP[k]) for k, size in pair.cm.P.items() if size)


def mcen(pair: Pair) -> float:
    """With α of ½ for two classes, as in Dembélé's tables, and of 1 for more; PyCM has 0 for two."""
    cm, hits = pair.cm, sum(pair.cm.TP.values())
    weight = 2 * cm.to_array().sum() - (0.5 if len(cm.classes) == 2 else 1) * hits
    sizes = {k: size - cm.TP[k] for k, size in both_sizes(cm).items()}
    return sum(sizes[k] / weight * cm.MCEN[k] for k in cm.classes if sizes[k])


def anderberg(pair: Pair) -> float:
    tp, fp, fn, tn = (getattr(pair.cm, name)[pair.index] for name in ("TP", "FP", "FN", "TN"))
    known = max(tp, fp) + max(fn, tn) + max(tp, fn) + max(fp, tn)
    return float(Fraction(known - max(tp + fn, fp + tn) - max(tp + fp, fn + tn), 2 * (tp + fp + fn + tn)))


def binomial_tail(pair: Pair) -> float:
    total, largest, hits = int(pair.cm.to_array().sum()), max(pair.cm.P.values()), sum(pair.cm.TP.values())
    ways = [math.lgamma(total + 1) - math.lgamma(x + 1) - math.lgamma(total - x + 1) for x in range(total + 1)]
    hit, miss = math.log(largest / total), math.log1p(-largest / total)
    return math.fsum(math.exp(ways[x] + x * hit + (total - x) * miss) for x in range(hits, total + 1))


class Difference(NamedTuple):
    reason: str
    wanted: Callable[[Pair], float]  # what ours must be


A_CLASS_IS_MISSING = "PyCM has no mean if a class has no value; here such a class is left out"
AN_EMPTY_MARGIN = "PyCM divides by expected counts of 0; here empty rows and columns add nothing"
OVERFLOW = "PyCM's binomial coefficients leave the range of floats from some 1030 items on"

#: PyCM says 'None', and there is a number.
GAPS = {
    "Chi-Squared": Difference(AN_EMPTY_MARGIN, lambda pair: phi_squared(pair.cm) * pair.cm.to_array().sum()),
    "Phi-Squared": Difference(AN_EMPTY_MARGIN, lambda pair: phi_squared(pair.cm)),
    "Cramer V": Difference(AN_EMPTY_MARGIN,
                           lambda pair: math.sqrt(phi_squared(pair.cm) / (len(pair.cm.classes) - 1))),
    "Pearson C": Difference(AN_EMPTY_MARGIN, lambda pair: math.sqrt(1 - 1 / (1 + phi_squared(pair.cm)))),
    "KL Divergence": Difference("PyCM takes the logarithm of 0 for a class without items, times 0", divergence),
    "Overall J": Difference(A_CLASS_IS_MISSING, mean_of_defined("J")),
    "Overall CEN": Difference(A_CLASS_IS_MISSING, mean_of_defined("CEN", both_sizes)),
    "Overall MCEN": Difference(A_CLASS_IS_MISSING, mcen),
    "CBA": Difference(A_CLASS_IS_MISSING, mean_of_defined("BB")),
    "AUNU": Difference(A_CLASS_IS_MISSING, mean_of_defined("AUC")),
    "AUNP": Difference(A_CLASS_IS_MISSING, mean_of_defined("AUC", lambda cm: cm.P)),
    **{
        f"{name} Macro": Difference(A_CLASS_IS_MISSING, mean_of_defined(name))
        for name in ("TPR", "TNR", "FPR", "FNR", "PPV", "NPV", "F1")
    },
    **dict.fromkeys(("CEN", "MCEN"), Difference("PyCM divides by 0; a class of no items and no calls has no errors",
                                                lambda pair: math.nan if both_sizes(pair.cm)[pair.index] else 0.0)),
    "DOR": Difference("PyCM divides by NLR, which has no value without a correct rejection; tp tn is 0 there",
                      lambda pair: 0.0 if pair.cm.TN[pair.index] == 0 else math.nan),
    "Q": Difference("PyCM divides by fp fn; without errors of a kind Q is 1",
                    lambda pair: 1.0 if pair.cm.FP[pair.index] * pair.cm.FN[pair.index] == 0 else math.nan),
    "P-Value": Difference(OVERFLOW, binomial_tail),
}  # fmt: skip

#: PyCM says 'None' of what is divided by 0 and not 0 itself; here it is infinite, as in R and NumPy.
UNBOUNDED = {
    "KL Divergence",
    "PLR",
    "NLR",
    "DOR",
    "DP",
    "IS",
    "GoodmanKruskalLambdaR",
    "BatageljBren",
    "KuderRichardson",
}

#: PyCM has another number.
OTHERS = {
    "Cross Entropy": Difference("infinite; PyCM leaves classes that are never predicted out of the sum",
                                lambda pair: math.inf if never_predicted(pair) else math.nan),
    "Kappa 95% CI": Difference("PyCM's limits leave [-1, 1]", lambda pair: min(max(pair.theirs, -1), 1)),
    "95% CI": Difference("PyCM's limits leave [0, 1]", lambda pair: min(max(pair.theirs, 0), 1)),
    "Overall MCEN": Difference("PyCM takes α = 0 for two classes, Dembélé ½", mcen),
    "Anderberg": Difference("PyCM has max(tp + fp, fp + tn) for max(tp + fn, fp + tn), the true sizes", anderberg),
}  # fmt: skip

#: PyCM has a number, and there is none. The rule says where: it is a number, or NaN.
UNDEFINED = {
    "AGM": Difference("PyCM says 0 without a hit before it looks whether there is a specificity",
                      lambda pair: math.nan if pair.cm.N[pair.index] == 0 else 0),
}  # fmt: skip


# Tests ----------------------------------------------------------------------------------------------------------------

LEAST = {"overall": 25_000, "class": 175_000, "distance": 200_000}
TABLES = {"overall": OVERALL, "class": CLASS, "distance": DISTANCES}
DIFFERENCES = {"gaps": GAPS, "others": OTHERS, "undefined": UNDEFINED}


def test_names_of_pycm(stacks: Any) -> None:
    """A statistic that PyCM has is here: in a table, or as words. And PyCM has all that the tables say."""
    cm = stacks[0][1][0]
    words = set()
    for table, theirs in ((OVERALL, cm.overall_stat), (CLASS, cm.class_stat)):
        assert set(table) <= set(theirs)
        for name in set(theirs) - set(table):
            verbal.interpret(0.5, name)  # raises for a name that it does not know
            words.add(name)
    assert words == {alias for record in verbal.BENCHMARKS.values() for alias in record.aliases}
    assert set(DISTANCES) == {kind.value for kind in pycm.DistanceType}
    assert len(PYCM) == sum(map(len, TABLES.values())) + len(OTHER_METHODS)
    assert all(callable(getattr(pycm.ConfusionMatrix, name)) for name in OTHER_METHODS)


@pytest.mark.sampled(1)
@pytest.mark.parametrize("kind", list(TABLES))
def test_every_number(stacks: Any, kind: str) -> None:
    agreed, used, misses, unbounded = Counter(), Counter(), [], set()
    for stack, cms in stacks:
        for pair in pairs_of(kind, stack, cms):
            if pair.theirs is None and math.isnan(pair.ours):
                continue
            if pair.theirs is not None and pair.close(pair.theirs):
                agreed[pair.name] += 1
                continue
            if pair.theirs is None and math.isinf(pair.ours):
                unbounded.add(pair.name)
                continue
            sort = "gaps" if pair.theirs is None else "undefined" if math.isnan(pair.ours) else "others"
            difference = DIFFERENCES[sort].get(pair.name)
            if difference is not None and pair.close(difference.wanted(pair)):
                used[sort, pair.name] += 1
            else:
                where = f"class {pair.index} of {pair.cm.to_array().tolist()}"
                misses.append(f"{pair.name} ({sort}): {pair.ours}, not {pair.theirs}; {where}")
    assert unbounded == UNBOUNDED & TABLES[kind].keys()
    assert not misses, f"{len(misses)} misses\n" + "\n".join(misses[:20])
    listed = {(sort, name) for sort, names in DIFFERENCES.items() for name in names if name in TABLES[kind]}
    assert set(used) == listed  # none that no longer differs
    assert agreed.total() >= LEAST[kind], agreed.total()
    assert min(agreed[name] for name in TABLES[kind]) >= 200, agreed.most_common()[-3:]


def test_limits_are_those_of_95_percent(stacks: Any) -> None:
    """Not of 1.96 standard errors."""
    z = statistics.NormalDist().inv_cdf(0.975)
    for stack, cms in stacks:
        for side, bound in ((-1, "lower"), (1, "upper")):
            accuracy = matrics.metrics.accuracy_confidence_limit(stack, bound=bound, method="wald")
            wanted = [cm.Overall_ACC + side * z * cm.SE for cm in cms]
            np.testing.assert_allclose(accuracy, np.clip(wanted, 0, 1), rtol=1e-12, atol=1e-12)


def test_anderberg_is_never_negative_and_pycm_is() -> None:
    """Nobody who knows the other side guesses worse than by the mode."""
    cm = [[0, 1], [0, 1]]
    assert make_pycm(cm).distance(pycm.DistanceType.Anderberg)[1] == -0.25
    assert matrics.metrics.anderberg(cm, average="class")[1] == 0


def test_names_are_aliases() -> None:
    for name, specs in PYCM.items():
        for spelling in (name, name.lower(), f" {name.upper()} ".replace(" ", "_").strip("_")):
            if len(specs) > 1:
                with pytest.raises(ValueError, match="several values") as caught:
                    matrics.get_metric(spelling)
                assert all(spec in str(caught.value) for spec in specs)
            elif name == "AUC":  # the area under a curve of scores, elsewhere
                with pytest.raises(ValueError, match="needs the scores of each sample"):
                    matrics.get_metric(spelling)
            elif name in MOVED:
                found = matrics.get_metric(spelling)
                assert found.spec == MOVED[name].partition(",")[0]
                assert found.spec != specs[0]
            elif name == "ACC" and spelling != name:  # what everybody else writes so
                assert matrics.get_metric(spelling) == matrics.accuracy
            else:
                found, wanted = matrics.get_metric(spelling), matrics.get_metric(specs[0])
                assert (found.name, found.fixed, found.average) == (wanted.name, wanted.fixed, wanted.average)


METHODS: list[tuple[str, dict[str, float], str]] = [
    ("F_beta", {"beta": 3}, "fbeta(beta=3)"),
    ("F_beta", {"beta": 0.2}, "fbeta(beta=0.2)"),
    ("IBA_alpha", {"alpha": 0.5}, "iba(alpha=0.5)"),
    ("IBA_alpha", {"alpha": 2}, "iba(alpha=2)"),
    ("TI", {"alpha": 2, "beta": 3}, "tversky_index(alpha=2,beta=3)"),
    ("NB", {"w": 1}, "net_benefit(weight=1)"),
    ("NB", {"w": 0.3}, "net_benefit(weight=0.3)"),
    ("sensitivity_index", {}, "sensitivity_index"),
]


@pytest.mark.parametrize(("method", "arguments", "spec"), METHODS)
def test_methods(stacks: Any, method: str, arguments: dict[str, float], spec: str) -> None:
    compared = 0
    for stack, cms in stacks:
        for pair in class_pairs(stack, cms, {method: spec}, lambda cm, name: getattr(cm, name)(**arguments)):
            assert pair.close(pair.theirs) or (pair.theirs is None and math.isinf(pair.ours)), pair
            compared += pair.theirs is not None
    assert compared >= 2000


def graded(n: int, power: int) -> dict[int, dict[int, int]]:
    return {i: {j: abs(i - j) ** power for j in range(n)} for i in range(n)}


@pytest.mark.parametrize(("weights", "power"), [("linear", 1), ("quadratic", 2)])
def test_weighted_kappa(stacks: Any, weights: str, power: int) -> None:
    compared = 0
    for stack, cms in stacks:
        theirs = [number(cm.weighted_kappa(graded(stack.shape[-1], power))) for cm in cms]
        for ours, reference, cm in zip(matrics.cohen_kappa(stack, weights=weights), theirs, cms, strict=True):
            assert Pair("weighted kappa", cm, None, ours, reference).close(reference), (ours, reference)
            compared += reference is not None
    assert compared >= 480


def test_p_value_of_nothing() -> None:
    """The share of the largest class is 0/0; PyCM has added up nothing before it looks."""
    pytest.importorskip("scipy")
    empty = [[0, 0], [0, 0]]
    assert make_pycm(empty).overall_stat["P-Value"] == 1
    assert np.isnan(matrics.metrics.no_information_p_value(empty))
    assert matrics.metrics.no_information_p_value(empty, zero_division=1) == 1


@pytest.mark.parametrize(
    ("cm", "printed", "theirs"),
    [
        ([[15, 15], [25, 25]], "0.123", 0.2328),
        ([[45, 5], [5, 45]], "0.55", 0.6541),
        ([[125, 15], [30, 130]], "0.455", 0.5715),
        ([[9, 1], [80, 210]], "0.638", 0.7045),
        ([[434, 10], [7, 232]], "0.826", 0.8686),
    ],
)
def test_mcen_of_two_classes(cm: Any, printed: str, theirs: float) -> None:
    """Dembélé, table 2, whose digits are cut off; and what docs/pycm.md says of PyCM."""
    ours = 1 - matrics.metrics.mcen(cm)
    assert str(ours).startswith(printed)
    assert 1 - make_pycm(cm).overall_stat["Overall MCEN"] == pytest.approx(theirs, abs=5e-5)


def test_alpha_of_a_guess() -> None:
    """Independent of the truth and with its class sizes, it has α = 1/(2m), with any weights.

    PyCM's is negative: it squares the mean of two shares where it should multiply them. That ours is Krippendorff's
    elsewhere, test_peers says.
    """
    guess = np.outer([10, 20, 30], [10, 20, 30])
    for weights, power in (("linear", 1), ("quadratic", 2)):
        assert matrics.metrics.krippendorff_alpha(guess, weights=weights) == pytest.approx(1 / 7200, rel=1e-9)
        assert make_pycm(guess).weighted_alpha(graded(3, power)) < -0.03


@pytest.mark.filterwarnings("ignore:overflow encountered:RuntimeWarning")
def test_bytes() -> None:
    """PyCM adds NumPy's scalars, which wrap."""
    cm = np.asarray([[200, 50], [30, 220]], np.uint8)
    assert pycm.ConfusionMatrix(matrix=cm).Kappa == pytest.approx(14.33, abs=0.01)
    assert matrics.cohen_kappa(cm) == pytest.approx(0.68, rel=1e-12)


# PyCM's words, and the statistic that each is of
OVERALL_WORDS = {
    **dict.fromkeys(["SOA1(Landis & Koch)", "SOA2(Fleiss)", "SOA3(Altman)", "SOA4(Cicchetti)"], "Kappa"),
    "SOA5(Cramer)": "Cramer V",
    "SOA6(Matthews)": "Overall MCC",
    "SOA7(Lambda A)": "Lambda A",
    "SOA8(Lambda B)": "Lambda B",
    "SOA9(Krippendorff Alpha)": "Krippendorff Alpha",
    "SOA10(Pearson C)": "Pearson C",
}
CLASS_WORDS = {"PLRI": "PLR", "NLRI": "NLR", "DPI": "DP", "AUCI": "AUC", "MCCI": "MCC", "QI": "Q"}


# PyCM's scales begin above 0, of which it says "None".
LOWEST = {"SOA7(Lambda A)": "Very Weak", "SOA8(Lambda B)": "Very Weak", "SOA10(Pearson C)": "Not Appreciable"}


def words_of(name: str, stack: np.ndarray, cms: list[Any]) -> Iterator[tuple[str, str, float]]:
    """Our word, PyCM's word and PyCM's value, where it has one: whether there is one, test_every_number says."""
    by_class = name in CLASS_WORDS
    of = CLASS_WORDS[name] if by_class else OVERALL_WORDS[name]
    spec = ours_of((CLASS if by_class else OVERALL)[of], by_class=by_class)
    for ours, cm in zip(verbal.interpret(matrics.get_metric(spec)(stack), name).tolist(), cms, strict=True):
        table = cm.class_stat if by_class else {key: {0: cm.overall_stat[key]} for key in (name, of)}
        for word, k in zip(ours if by_class else [ours], table[of], strict=True):
            if number(table[of][k]) is not None:
                yield word, table[name][k], table[of][k]


def test_words(stacks: Any) -> None:
    compared, rounded = Counter(), 0
    for stack, cms in stacks:
        for name in (*OVERALL_WORDS, *CLASS_WORDS):
            for ours, theirs, value in words_of(name, stack, cms):
                if theirs == "None" and abs(value) < 1e-9:
                    assert ours == LOWEST[name]
                elif ours != theirs:  # only where the last digits decide
                    assert verbal.interpret(value, name) == ours != verbal.interpret(value - 3e-9, name) == theirs
                    rounded += 1
                compared[name] += 1
    assert compared.total() >= 22_000, compared.total()
    assert min(compared.values()) >= 200
    assert rounded <= 20, rounded
