"""Certificates: what is planted is found, witnesses are right, and what the sources claim is so, or has a witness."""

from __future__ import annotations

import dataclasses
import importlib
import json
from collections.abc import Callable
from fractions import Fraction
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import reference
from mpmath import mp, mpf

import matrics
from matrics._catalogue.description import certified
from matrics._catalogue.record import METRICS
from matrics._engine.table import Table
from matrics._study.certificates.catalogue import RELATIONS, SOURCES, STATEMENTS
from matrics._study.certificates.exact import Number, exact_values
from matrics._study.certificates.results import averaged
from matrics._study.certificates.search import SearchedMeasure
from matrics._study.certificates.stored import as_record, certified_specs, from_record, marks_of

with pytest.MonkeyPatch.context() as patch:
    patch.syspath_prepend(Path(__file__).parents[1] / "docs")
    tables = importlib.import_module("certificate_tables")
stored_certificate, CERTIFICATES = tables.stored_certificate, tables.CERTIFICATES
SHAPE = {"triangle", "convex", "concave", "quasi_convex", "quasi_concave"}
ON_HOST = matrics.list_metrics("on_host")


# Exact arithmetic -----------------------------------------------------------------------------------------------------


def small_matrices(n: int) -> np.ndarray:
    random = np.random.default_rng(n)
    stack = random.integers(0, 6, (6, n, n))
    stack[0], stack[1], stack[2, 0], stack[3] = np.eye(n), 1 - np.eye(n), 0, 0
    return stack


@pytest.mark.exhaustive
@pytest.mark.parametrize("n", [2, 3, 4])
def test_exact_values_are_those_of_the_documented_formulas(n: int) -> None:
    """Beside mpmath's evaluation of the formulas, written apart from the library: to 1e-14, as ln n is a float."""
    for name in matrics.list_metrics("all"):
        metric = matrics.get_metric(name)
        found = exact_values(averaged(metric), small_matrices(n))
        for cells, value in zip(small_matrices(n), found, strict=True):
            values = reference.evaluate(name, cells.tolist(), average="macro" if metric.kind == "per_class" else None)
            if isinstance(values, list):
                known = [x for x in values if x is not None]
                wanted = sum(known) / len(known) if known else None
            else:
                wanted = values
            if wanted is None:
                assert value != value, name
            elif name == "gt_index":  # an iteration of a fixed number of steps, enough for float64
                assert float(value) == pytest.approx(float(wanted), rel=1e-9), cells
            else:
                close = value == wanted if mp.isinf(wanted) else mp.almosteq(mpf(value.real()), wanted, 1e-14, 1e-14)
                assert close, (name, cells)


def test_numbers_stay_fractions() -> None:
    third = Number.of(1) / 3
    assert third.value == Fraction(1, 3)
    assert (third * 3 - 1).value == 0
    assert (Number(Fraction(4, 9)).sqrt()).value == Fraction(2, 3)
    assert Number.of(1 / 3).value == Fraction(1, 3)
    assert not Number.of(2).sqrt().is_fraction
    assert abs(Number.of(2).sqrt() * Number.of(2).sqrt() - 2) < 1e-58
    assert Number.of(0) / 0 != Number.of(0) / 0
    assert Number.of(-1) / 0 == -np.inf
    assert 1 - third == Fraction(2, 3).numerator * third
    assert Number.of(-1).log() != Number.of(-1).log()


# Planted measures -----------------------------------------------------------------------------------------------------


def errors(t: Table) -> Any:
    return t.divide(t.errors, t.total)


def squares(t: Table, x: Any) -> Any:
    """Of the shares of classes: 1 for a single class."""
    return t.sum(x * x, axis=0) / (t.total * t.total)


def bent(what: Callable[[Table], Any], strength: float) -> Callable[[Table], Any]:
    """The accuracy where nothing or everything is wrong; in between, it depends on something else as well."""
    return lambda t: 1 - errors(t) - strength * errors(t) * (1 - errors(t)) * what(t)


def jaccard_and_true_negatives(t: Table) -> Any:
    jaccard = t.ratio(t.tp, t.tp + t.fp + t.fn)
    return jaccard * (1 - (1 - jaccard) * t.share(t.tn) / 10)


def mean_recall_unless_one_is_zero(t: Table) -> Any:
    mean = t.sum(t.tpr, axis=0) / t.n
    return t.define(t.xp.where(t.xp.min(t.tpr, axis=0) > 0, mean, 0), t.has_every_class)


def mean_recall_and_sizes(t: Table) -> Any:
    mean = t.sum(t.tpr, axis=0) / t.n
    return t.define(mean * (1 - (1 - mean) * squares(t, t.true) / 10), t.has_every_class)


STRICT = {"strict_correction", "strict_correct_sample", "strict_error"}
MONOTONE = STRICT | {"correction", "correct_sample", "error"}
# What each breaks of what the measure that it is made of has, with the shape of its graph.
PLANTED = {
    "counts, not shares": ("accuracy", bent(lambda t: 1 / (1 + t.total), 0.3), {"scaling"}),
    "the first class counts more": (
        "accuracy",
        bent(lambda t: (t.true[0] + t.pred[0]) / (2 * t.total), 0.2),
        {"relabelling"},
    ),
    "rows and columns differ": (
        "accuracy",
        bent(lambda t: squares(t, t.true) - squares(t, t.pred), 0.1),
        {"transposition"},
    ),
    "a range that depends on n": (
        "accuracy",
        lambda t: (1 - errors(t)) * (1 + 1 / t.n) / 1.5,
        {"range", "range_of_equal_classes"},
    ),
    "classes that exist count": (
        "accuracy",
        bent(lambda t: t.sum(t.xp.astype(t.true + t.pred > 0, t.total.dtype), axis=0) / t.n, 0.3),
        {"continuity"},
    ),
    "the square of a distance": ("accuracy", lambda t: 1 - errors(t) * errors(t), {"triangle"}),
    "a step": (
        "accuracy",
        lambda t: t.xp.where((errors(t) > 0.4) & (errors(t) < 0.6), 0.5, 1 - errors(t)),
        STRICT | {"continuity"},
    ),
    "a dent": ("accuracy", lambda t: 1 - errors(t) + 2 * t.x_log_x(errors(t)) * (1 - errors(t)), MONOTONE),
    "few errors are none": (
        "accuracy",
        lambda t: t.clip(1.02 * (1 - errors(t)), 0, 1),
        STRICT | {"only_perfect"},
    ),
    "few hits are none": (
        "accuracy",
        lambda t: t.clip(1 - 1.02 * errors(t), 0, 1),
        STRICT | {"only_wrong"},
    ),
    # What follows a missed class cannot rise, and a guess that misses one is worth less than others.
    "a missed class is all": (
        "balanced_accuracy",
        mean_recall_unless_one_is_zero,
        {"one_class_missed", "only_wrong", "strict_correction", "chance", "expected_chance"},
    ),
    "class sizes count": (
        "balanced_accuracy",
        mean_recall_and_sizes,
        {"class_sizes", "chance", "expected_chance", "correct_sample", "error"},
    ),
    "true negatives count": ("jaccard:binary", jaccard_and_true_negatives, {"true_negatives", "correct_sample"}),
}


LONG = {what for what, (like, *_) in PLANTED.items() if like == "accuracy"} - {"a dent"}


@pytest.mark.exhaustive
@pytest.mark.parametrize(
    "what", [pytest.param(what, marks=pytest.mark.exhaustive) if what in LONG else what for what in PLANTED]
)
def test_planted_measures_are_told_right(what: str) -> None:
    like, function, broken = PLANTED[what]
    base = matrics.get_metric(like)
    planted = dataclasses.replace(base, name="planted", function=function, aliases=())
    before = stored_certificate(like)
    after = matrics.study.certificate(planted, cases=500)
    assert (set(after.lacks) - set(before.lacks)) - (SHAPE - broken) == broken
    assert not (set(before.lacks) - set(after.lacks)) - SHAPE
    for name in broken:
        assert after[name].witness is not None
        assert after[name].witness.confirmed


# The sources ----------------------------------------------------------------------------------------------------------


def holds(spec: str, name: str, classes: int | None = None) -> bool:
    """Whether a property holds, for so many classes or for all that were tried."""
    verdict = stored_certificate(spec)[name]
    return bool(verdict.holds) or classes in verdict.classes


# Labatut & Cherifi, Table 3: whether a measure is symmetrical, and its range.
TABLE_3 = {
    "accuracy": (True, (0, 1)),
    "recall:binary": (False, (0, 1)),
    "specificity:binary": (False, (0, 1)),
    "precision:binary": (False, (0, 1)),
    "npv:binary": (False, (0, 1)),
    "f1:binary": (False, (0, 1)),
    "jaccard:binary": (False, (0, 1)),
    "icsi:binary": (False, (-1, 1)),
    "csi": (False, (-1, 1)),
    "cohen_kappa": (True, (-np.inf, 1)),
    "bennett_s": (True, (-1, 1)),
}


def test_table_3_of_labatut_and_cherifi() -> None:
    """The table says no to four symmetric measures, three of which the text calls symmetric; κ is at least -1."""
    not_so = {spec for spec, (symmetric, _) in TABLE_3.items() if holds(spec, "transposition") != symmetric}
    assert not_so == {"f1:binary", "jaccard:binary", "icsi:binary", "csi"}
    for spec, (_, bounds) in TABLE_3.items():
        found = stored_certificate(spec).ranges[2]
        assert found == pytest.approx((-1, 1) if spec == "cohen_kappa" else bounds, abs=1e-6), spec
    least = {n: low for n, (low, _) in stored_certificate("bennett_s").ranges.items()}
    assert least == pytest.approx({n: -1 / (n - 1) for n in (2, 3, 4)})
    # CSI is 2/n - 1 for all guesses, which the table does not say; MRE is 0 for guesses of equal sizes alone.
    assert [spec for spec in TABLE_3 if holds(spec, "chance")] == ["csi", "cohen_kappa"]


@pytest.mark.exhaustive
def test_table_3_prints_a_measure_as_symmetrical_that_is_not() -> None:
    pi = matrics.study.certificate("scott_pi(proportions=true)", cases=50)
    assert pi["transposition"].holds is False
    assert pi.ranges[2][0] < -100


# Mullick et al.: what holds of each condition (Theorems 1 to 5, in their Tables 1 and 2).
CONDITIONS = {
    "class_sizes": {
        "g_mean": True,
        "auc_of_labels:binary": True,
        "precision:binary": False,
        "aurpc:binary": False,
        "mprecision:binary": True,
        "maurpc:binary": True,
        "balanced_accuracy": True,
        "auroc_ovo": True,
        "auroc_ova": False,
        "nauroc_ova": False,
        "aurpc_ova": False,
        "maurpc_ova": True,
    },
    "range": {
        "g_mean": True,
        "balanced_accuracy": True,
        "auroc_ovo": False,
        "auroc_ova": False,
        "nauroc_ova": True,
        "aurpc_ova": True,
        "maurpc_ova": True,
    },
    "one_class_missed": {"g_mean": False, "balanced_accuracy": True, "maurpc_ova": True},
}


@pytest.mark.parametrize("name", CONDITIONS)
def test_conditions_of_mullick(name: str) -> None:
    assert {spec: holds(spec, name) for spec in CONDITIONS[name]} == CONDITIONS[name]


def test_the_normalised_auroc_has_no_fixed_range_for_balanced_classes() -> None:
    """Its lower bound 0 is an infimum, over ever less balanced classes; for three balanced ones it is 0.1."""
    verdict = stored_certificate("nauroc_ova")["range_of_equal_classes"]
    assert verdict.holds is False
    assert verdict.witness.values == pytest.approx((0, 0.1))


# Gösgens et al., for two classes, from their definitions. (CSI + 1) / 2 is their symmetric balanced accuracy.
COLUMNS = {
    "maximal agreement": ("perfect", "only_perfect"),
    "minimal agreement": ("wrong", "only_wrong"),
    "class-symmetry": ("relabelling",),
    "symmetry": ("transposition",),
    "distance": ("transposition", "triangle"),
    "monotonicity": ("strict_correction",),
    "strong monotonicity": ("strict_correct_sample", "strict_error"),
    "constant baseline": ("expected_chance",),
    "approximate constant baseline": ("chance",),
}
GOSGENS = {
    "accuracy": "yes yes yes yes yes yes yes no no",
    "balanced_accuracy": "yes yes yes no no yes no yes yes",
    "f1:binary": "yes no no yes no no no no no",
    "jaccard:binary": "yes no no yes yes no no no no",
    "cohen_kappa": "yes no yes yes no yes no yes yes",
    "mcc": "yes yes yes yes no yes yes yes yes",
    "csi": "yes yes yes yes no yes yes yes yes",
    "cen": "yes no yes yes no no no no no",
}


@pytest.mark.parametrize("spec", GOSGENS)
def test_properties_of_gosgens(spec: str) -> None:
    found = ["yes" if all(holds(spec, name, 2) for name in names) else "no" for names in COLUMNS.values()]
    assert dict(zip(COLUMNS, found, strict=True)) == dict(zip(COLUMNS, GOSGENS[spec].split(), strict=True))


def test_symmetric_balanced_accuracy() -> None:
    stack = np.random.default_rng(0).integers(1, 50, (40, 3, 3))
    both = (matrics.balanced_accuracy(stack) + matrics.balanced_accuracy(matrics.transform.transpose(stack))) / 2
    np.testing.assert_allclose((matrics.metrics.csi(stack) + 1) / 2, both, rtol=1e-12)


@pytest.mark.exhaustive
def test_what_the_search_finds_by_itself() -> None:
    eve = matrics.study.certificate("eve", cases=50)
    before, after = eve["correction"].witness.matrices
    assert matrics.accuracy(after) > matrics.accuracy(before)
    assert matrics.eve(after) < matrics.eve(before)
    assert matrics.study.certificate("cen", cases=50).ranges[2][1] > 1.06
    assert not matrics.study.certificate("g_mean", cases=50)["one_class_missed"].holds
    least = matrics.study.certificate("cohen_kappa", cases=50)["range_of_equal_classes"]
    assert least.witness.values == pytest.approx((-1, -0.5))


# The certificates of the catalogue ------------------------------------------------------------------------------------


def test_every_measure_has_one() -> None:
    assert list(certified()) == list(CERTIFICATES) == certified_specs()
    for spec in certified_specs():
        assert certified()[spec] == dict(zip(STATEMENTS, marks_of(stored_certificate(spec)), strict=True)), spec
        assert list(stored_certificate(spec).verdicts) == list(STATEMENTS) == list(SOURCES)


def test_they_agree_with_the_records() -> None:
    for name in matrics.list_metrics("all") + matrics.list_metrics("on_host"):
        record, found = METRICS[name], stored_certificate(name)
        # What an average does not show, a single class does; records know of other options as well.
        single = stored_certificate(f"{name}:binary") if record.kind == "per_class" else found
        if record.symmetric:
            assert found["transposition"].holds, name
        elif not record.options:
            assert False in (found["transposition"].holds, single["transposition"].holds), name
        assert record.scale_free == (found["scaling"].holds and single["scaling"].holds is not False), name
        if record.ignores_class_sizes == "always":
            assert found["class_sizes"].holds, name
        elif record.ignores_class_sizes == "two classes":
            assert found["class_sizes"].holds is False, name
            assert 2 in found["class_sizes"].classes or 2 not in found.ranges, name
        else:
            assert False in (found["class_sizes"].holds, single["class_sizes"].holds), name
        low, high = record.range
        for n, (least, greatest) in found.ranges.items():
            bound = low if record.lowest is None else record.lowest(n)
            assert bound - 1e-9 <= least <= greatest <= high + 1e-9, name
        if record.chance == "any sizes" and record.scale_free:
            assert found["chance"].holds, name
            assert found["chance"].value == pytest.approx(record.chance_value, abs=1e-9), name


@pytest.mark.exhaustive
def test_witnesses_have_their_values() -> None:
    """Scored again as any matrix is."""
    checked = 0
    for spec in certified_specs():
        for verdict in stored_certificate(spec).verdicts.values():
            if verdict.witness is None or verdict.name == "expected_chance":
                continue
            assert verdict.witness.confirmed or verdict.name == "sensitivity" or spec.partition(":")[0] in ON_HOST
            for matrix, value in zip(verdict.witness.matrices, verdict.witness.values, strict=True):
                found = averaged(matrics.get_metric(spec))(np.asarray(matrix, np.float64))
                np.testing.assert_allclose(found, value, rtol=1e-7, atol=1e-9, err_msg=f"{spec} {verdict.name}")
                checked += 1
    assert checked > 5000


def test_witnesses_show_what_they_are_for() -> None:
    """The matrices are related as the property says, and contradict it: judged anew, without the search."""
    by_name = {prop.name: prop for prop in RELATIONS}
    for spec in certified_specs():
        record = matrics.get_metric(spec)
        sign = -1 if record.higher_is_better is False else 1
        for name in stored_certificate(spec).lacks:
            verdict = stored_certificate(spec)[name]
            if name in by_name:
                prop = by_name[name]
                values = np.asarray(verdict.witness.values) * (sign if prop.directed else 1)
                gap = prop.broken(values)
                slack = 1e-11 * (1 + np.abs(values[np.isfinite(values)]).max(initial=0))
                assert gap >= -slack if prop.strict else gap > 0, (spec, name)
                a, b = (np.asarray(matrix) for matrix in verdict.witness.matrices[:2])
                check = RELATED.get(name)
                assert check is None or check(a, b), (spec, name)


RELATED: dict[str, Callable[[np.ndarray, np.ndarray], bool]] = {
    "transposition": lambda a, b: bool((a == b.T).all()),
    "relabelling": lambda a, b: sorted(np.diag(a)) == sorted(np.diag(b)) and sorted(a.ravel()) == sorted(b.ravel()),
    "scaling": lambda a, b: bool((b == a * (b.sum() // a.sum())).all()),
    "class_sizes": lambda a, b: bool(np.allclose(a / a.sum(1)[:, None], b / b.sum(1)[:, None])),
    "true_negatives": lambda a, b: (b - a).tolist() == [[1, 0], [0, 0]],
    "correction": lambda a, b: np.trace(b) == np.trace(a) + 1 and bool((a.sum(1) == b.sum(1)).all()),
    "correct_sample": lambda a, b: np.trace(b) == np.trace(a) + 1 and b.sum() == a.sum() + 1,
    "error": lambda a, b: np.trace(b) == np.trace(a) and b.sum() == a.sum() + 1,
    "perfect": lambda a, b: np.trace(a) == a.sum() and np.trace(b) == b.sum(),
    "wrong": lambda a, b: np.trace(a) == 0 == np.trace(b),
    "chance": lambda a, b: np.linalg.matrix_rank(a) == 1 == np.linalg.matrix_rank(b),
}


@pytest.mark.parametrize("spec", [pytest.param("mcc", marks=pytest.mark.exhaustive), "f1:binary"])
def test_the_search_repeats(spec: str) -> None:
    found = json.loads(json.dumps(as_record(matrics.study.certificate(spec))))
    assert found == CERTIFICATES[spec]
    again = from_record(matrics.get_metric(spec).spec, found)
    assert as_record(again) == as_record(stored_certificate(spec))


MORE = ["eve", "gt_index", "nmi", "csi", "f1", "cen", "auroc_ova", "recall", "diagnostic_odds_ratio:binary"]


@pytest.mark.exhaustive
@pytest.mark.parametrize("spec", MORE)
def test_more_searches_repeat(spec: str) -> None:
    """All but the number of cases is the same on every processor.

    Where a property holds, the gaps from which the search climbs are rounding errors, and the logarithm's last digit
    depends on the processor: so the climb takes more steps on one and fewer on another (nmi 21,773 and 23,807 cases).
    """
    found, kept = json.loads(json.dumps(as_record(matrics.study.certificate(spec)))), CERTIFICATES[spec]
    for name, verdict in found["verdicts"].items():
        stored = kept["verdicts"][name]
        assert verdict.pop("cases") == pytest.approx(stored["cases"], rel=0.2), name
        assert verdict == {key: value for key, value in stored.items() if key != "cases"}, name
    assert found["ranges"] == kept["ranges"]


# The function ---------------------------------------------------------------------------------------------------------


@pytest.mark.exhaustive
def test_a_certificate() -> None:
    found = matrics.study.certificate("cohen_kappa", cases=200, rng=3)
    assert found.metric == "cohen_kappa"
    assert found["class_sizes"].mark == "fails"
    assert "cohen_kappa (seed 3)" in str(found)
    assert "transposition: holds on" in str(found)
    assert set(found.has) | set(found.lacks) | {"sensitivity", "undefined"} == set(found.verdicts)
    assert found["sensitivity"].value == pytest.approx(1)  # both predictions right, and both one class
    assert 0 < found["undefined"].value < 0.01
    accuracy = stored_certificate("accuracy")
    assert (accuracy["sensitivity"].value, accuracy["undefined"].value) == pytest.approx((1 / 20, 0))
    with pytest.raises(KeyError, match=r"expected a property, got .symmetry.; choose transposition"):
        found["symmetry"]


@pytest.mark.exhaustive
def test_the_same_search_gives_equal_certificates() -> None:
    """Although a witness may have an undefined value, which differs from itself."""
    one, again = (matrics.study.certificate("recall:binary", cases=50, rng=np.int64(1)) for _ in range(2))
    assert any(np.isnan(one["continuity"].witness.values))
    assert one == again
    assert hash(one) == hash(again)
    assert one != matrics.study.certificate("recall:binary", cases=50, rng=2)


@pytest.mark.exhaustive
def test_measures_of_others_functions() -> None:
    """Formulas of users call what they like of the array API."""

    def formula(t: Table) -> Any:
        share = t.divide(t.hits, t.total)
        xp = t.xp
        return xp.where(xp.isnan(share), 0, xp.tanh(share) + xp.log2(1 + share) + xp.atan2(share, share + 1))

    mine = dataclasses.replace(matrics.accuracy, name="mine", function=formula)
    cells = [[3, 1], [2, 4]]
    (value,) = exact_values(mine, np.asarray([cells]))
    assert float(value) == pytest.approx(float(mine(cells)), rel=1e-15)
    assert matrics.study.certificate(mine, cases=50)["transposition"].holds


def test_distances_of_counts() -> None:
    """χ² is not what a distance falls short of: three labelings of nine samples, by hand."""
    joint = np.asarray([[1, 6], [2, 0]]), np.asarray([[1, 2], [6, 0]]), np.asarray([[6, 1], [1, 1]])
    near, also_near, far = (9 - float(matrics.metrics.chi_squared(cells)) for cells in joint)
    assert far > near + also_near
    assert stored_certificate("chi_squared")["triangle"].holds is False


def test_measures_without_a_direction() -> None:
    found = matrics.study.certificate("true_entropy", cases=200)
    assert found["correction"].holds is None
    assert found["transposition"].holds is False


@pytest.mark.parametrize(
    ("arguments", "error"),
    [
        ({"metric": "recall:class"}, "a single value for each matrix, got 'recall:class'.*'recall:binary'"),
        ({"metric": "mcc:one_vs_rest"}, "choose 'mcc'$"),
        ({"metric": "nonsense"}, "unknown metric"),
        ({"metric": "mcc", "cases": 0}, "cases: expected"),
        ({"metric": "mcc", "rng": -1}, r"rng: expected a seed \(an integer from 0\) or .*, got -1"),
        ({"metric": "mcc", "rng": 0.5}, "rng: expected a seed"),
    ],
)
def test_errors(arguments: dict[str, Any], error: str) -> None:
    with pytest.raises(TypeError if "rng" in arguments else ValueError, match=error):
        matrics.study.certificate(**arguments)


@pytest.mark.exhaustive
@pytest.mark.parametrize(
    ("asked", "kept"), [("specificity", "specificity"), ("sensitivity", "recall"), ("npv:macro", "npv")]
)
def test_of_a_class_measure_it_is_about_the_mean(asked: str, kept: str) -> None:
    """Also of those whose name alone is of class 1 on 2x2 matrices: the certificates on file stay."""
    found = matrics.study.certificate(asked, cases=50)
    macro = matrics.get_metric(f"{kept}:macro")
    for verdict in found.verdicts.values():
        if verdict.witness is None:
            continue
        for cells, value in zip(verdict.witness.matrices, verdict.witness.values, strict=True):
            assert float(macro(np.asarray(cells))) == pytest.approx(value, nan_ok=True)
    assert found.metric == kept
    assert found == matrics.study.certificate(kept, cases=50)
    assert str(found).startswith(f"{asked.removesuffix(':macro')}, macro (seed 0)\n")
    assert stored_certificate(asked).verdicts == stored_certificate(kept).verdicts
    assert stored_certificate(asked)["transposition"].holds == found["transposition"].holds


@pytest.mark.exhaustive
def test_its_random_cases() -> None:
    made = [matrics.study.certificate("accuracy", cases=20, rng=rng) for rng in (None, np.random.default_rng(7))]
    assert made[0].rng != made[1].rng
    again = matrics.study.certificate("accuracy", cases=20, rng=np.random.default_rng(7))
    assert again == made[1] == matrics.study.certificate("accuracy", cases=20, rng=made[1].rng)


@pytest.mark.exhaustive
def test_a_difference_that_is_rounding_is_no_witness() -> None:
    """In floats the two differ by more than exact arithmetic knows of."""
    noisy = dataclasses.replace(
        matrics.accuracy, name="noisy", function=lambda t: (t.hits + t.total * 1e16 - t.total * 1e16) / t.total
    )
    judge = SearchedMeasure(noisy, (2,), 100, 0)
    assert np.abs(judge.values(np.asarray([[[1, 2], [3, 4]]])) - 0.5).max() > 1e-3
    assert matrics.study.certificate(noisy, cases=200)["relabelling"].holds


# The command ----------------------------------------------------------------------------------------------------------


def test_command(capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch) -> None:
    pytest.importorskip("typer")
    from matrics._cli import main

    monkeypatch.setattr("sys.argv", ["matrics", "certificate", "f1:binary", "--cases", "100", "--seed", "5"])
    with pytest.raises(SystemExit) as stopped:
        main()
    out = capsys.readouterr().out
    assert not stopped.value.code
    assert "Fails, on these matrices" in out
    assert "Holds on all cases" in out
    assert "seed 5" in out
