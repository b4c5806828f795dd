"""matrics.gate: verdicts on requirements, against intervals of statsmodels and by hand."""

from __future__ import annotations

import json
import math
import subprocess
import sys
from typing import Any

import numpy as np
import pytest

import matrics
from matrics import IntervalStatus
from matrics._gates.results import Limits, verdict_of

RANDOM = np.random.default_rng(5)
BINARY = np.asarray([[880, 20], [15, 85]])
NAMES = ["ok", "fraud"]
Z = 1.959963984540054


def wilson(hits: float, number: float) -> tuple[float, float]:
    """The score interval of a proportion, by hand."""
    p = hits / number
    middle, reach = p + Z**2 / (2 * number), Z * math.sqrt(p * (1 - p) / number + Z**2 / (4 * number**2))
    return (middle - reach) / (1 + Z**2 / number), (middle + reach) / (1 + Z**2 / number)


# Verdicts -------------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("sign", "verdicts"),
    [
        (">=", ["pass", "pass", "undecided", "undecided", "fail"]),
        (">", ["pass", "undecided", "undecided", "fail", "fail"]),
        ("<=", ["fail", "undecided", "undecided", "pass", "pass"]),
        ("<", ["fail", "fail", "undecided", "undecided", "pass"]),
    ],
)
def test_where_the_bound_lies(sign: str, verdicts: list[str]) -> None:
    """Below the interval, at its lower end, inside it, at its upper end, and above it."""
    limits = Limits(0.5, 0.25, 0.75)
    assert [verdict_of(sign, bound, limits) for bound in (0.125, 0.25, 0.5, 0.75, 0.875)] == verdicts


@pytest.mark.parametrize("sign", [">=", ">", "<=", "<"])
def test_a_status_lets_nothing_pass_and_no_limits_decide_nothing(sign: str) -> None:
    for status in IntervalStatus:
        limits = Limits(0.5, 0.25, 0.75, status)
        passes, fails = (0.125, 0.875) if sign.startswith(">") else (0.875, 0.125)
        assert verdict_of(sign, passes, limits) == ("pass" if status == 0 else "undecided")
        assert verdict_of(sign, fails, limits) == "fail"
    assert verdict_of(sign, 0.5, Limits(math.nan, math.nan, math.nan)) == "undecided"
    assert verdict_of(sign, 0.5, Limits(0.5, math.nan, math.nan)) == "undecided"


@pytest.mark.exhaustive
@pytest.mark.parametrize("level", [0.8, 0.95, 0.99])
def test_accuracy_and_recall_as_by_statsmodels(level: float) -> None:
    confint = pytest.importorskip("statsmodels.stats.proportion").proportion_confint
    seen = set()
    for _ in range(30):
        cm = RANDOM.integers([[60, 10], [10, 60]], [[300, 40], [40, 300]])
        bound = round(float(RANDOM.uniform(0.7, 0.95)), 3)
        found = matrics.gate(cm, f"accuracy >= {bound}, recall[1] < {bound}", level=level)
        for one, hits, number, sign in zip(
            found.requirements, (np.trace(cm), cm[1, 1]), (cm.sum(), cm[1].sum()), (1, -1), strict=True
        ):
            low, high = confint(hits, number, alpha=1 - level, method="wilson")
            np.testing.assert_allclose([one.estimate, one.low, one.high], [hits / number, low, high], rtol=1e-9)
            ends = [sign * end > sign * bound for end in (low, high)]
            expected = "pass" if all(ends) else "undecided" if any(ends) else "fail"
            assert (one.verdict, one.status, one.level) == (expected, 0, level)
            seen.add(expected)
    assert seen == {"pass", "undecided", "fail"}


def test_the_gravest_verdict_counts() -> None:
    """Fail before undecided before pass."""
    texts = {"pass": "accuracy >= 0.9", "undecided": "recall[1] >= 0.85", "fail": "mcc >= 0.95"}
    for wanted in (["pass"], ["pass", "undecided"], ["undecided", "fail"], ["fail", "pass", "undecided"]):
        found = matrics.gate(BINARY, [texts[one] for one in wanted])
        assert [one.verdict for one in found.requirements] == wanted
        assert found.verdict == ("fail" if "fail" in wanted else "undecided" if "undecided" in wanted else "pass")
        assert bool(found) is (wanted == ["pass"])


@pytest.mark.parametrize("as_which", ["pass", "fail"])
def test_undecided_counts_as(as_which: Any) -> None:
    undecided = matrics.gate(BINARY, "accuracy >= 0.9, recall[1] >= 0.85", on_undecided=as_which)
    assert (undecided.verdict_by_limits, undecided.verdict, bool(undecided)) == (
        "undecided",
        as_which,
        as_which == "pass",
    )
    assert f"undecided counts as {as_which}" in str(undecided)
    failed = matrics.gate(BINARY, "mcc >= 0.95, recall[1] >= 0.85", on_undecided=as_which)
    assert failed.verdict == "fail"


def test_few_samples_never_pass() -> None:
    """Of 15 samples of a class all are right: the limits are above the bound, and not to be relied on."""
    cm = [[30, 15], [0, 15]]
    (one,) = matrics.gate(cm, "recall[1] >= 0.7").requirements
    assert one.low == pytest.approx(wilson(15, 15)[0])
    assert one.low > 0.7
    assert (one.verdict, one.status) == ("undecided", IntervalStatus.FEW_SAMPLES)
    assert one.needed == 20 * 60 / 15
    assert IntervalStatus.FEW_SAMPLES.sentence in str(one)
    assert matrics.gate(cm, "recall[1] < 0.7").verdict == "fail"


def test_of_few_errors_one_limit_holds() -> None:
    """The lower limit of an accuracy holds with one error, the upper one does not: a bound from above is undecided."""
    cm = [[30, 0], [1, 29]]
    (one,) = matrics.gate(cm, "accuracy >= 0.8").requirements
    assert one.low == pytest.approx(wilson(59, 60)[0])
    assert (one.verdict, one.status) == ("pass", IntervalStatus.OK)
    (above,) = matrics.gate(cm, "accuracy < 0.9999").requirements
    assert above.high == pytest.approx(wilson(59, 60)[1])
    assert (above.verdict, above.status) == ("undecided", IntervalStatus.FEW_SAMPLES)
    assert above.needed == 5 * 60  # five errors in place of one
    (loss,) = matrics.gate(cm, "hamming_loss <= 0.2").requirements
    assert (loss.verdict, loss.status) == ("pass", IntervalStatus.OK)


def test_undefined_is_undecided() -> None:
    cm = [[90, 10], [0, 0]]
    (one,) = matrics.gate(cm, "recall[1] >= 0.1").requirements
    assert (one.verdict, one.status, one.needed) == ("undecided", IntervalStatus.UNDEFINED, None)
    assert math.isnan(one.estimate)
    assert "no number of samples" in str(one)
    assert matrics.gate(cm, "mcc < 0.5", on_undecided="fail").verdict == "fail"


def test_infinite_limits() -> None:
    """The likelihood ratio without false positives is infinite, as is the upper end of its interval."""
    (one,) = matrics.gate([[100, 0], [10, 90]], "positive_likelihood_ratio >= 2").requirements
    assert one.estimate == one.high == math.inf
    assert one.verdict == "pass"
    cm = [[100, 0], [10, 90]]
    assert matrics.gate(cm, "positive_likelihood_ratio <= 2").verdict == "fail"
    (one,) = matrics.gate(cm, "positive_likelihood_ratio >= 1000").requirements
    assert (one.verdict, one.needed) == ("undecided", None)


# Requirements ---------------------------------------------------------------------------------------------------------


def test_classes_by_name() -> None:
    by_name = matrics.gate(BINARY, ["recall[fraud] >= 0.8", "f1:macro[ok,fraud]>.5"], class_names=NAMES)
    assert [one.title for one in by_name.requirements] == ["recall of fraud >= 0.8", "f1, macro of ok and fraud > 0.5"]
    assert [one.requirement for one in by_name.requirements] == ["recall[fraud] >= 0.8", "f1:macro[ok,fraud] > 0.5"]
    assert by_name.requirements[0].estimate == 0.85
    positive = matrics.gate(BINARY, "recall >= 0.8", class_names=NAMES, positive="ok").requirements[0]
    assert (positive.title, positive.estimate) == ("recall of ok >= 0.8", pytest.approx(880 / 900))
    of_one = matrics.gate(BINARY, "recall >= 0.8, recall:macro >= 0.8").requirements
    assert [one.title for one in of_one] == ["recall of class 1 >= 0.8", "recall, macro >= 0.8"]
    assert [one.estimate for one in of_one] == pytest.approx([0.85, (0.85 + 880 / 900) / 2])


def test_every_class_is_a_requirement() -> None:
    found = matrics.gate(BINARY, "recall:class >= 0.9", class_names=NAMES)
    assert {one.title: one.verdict for one in found.requirements} == {
        "recall of ok >= 0.9": "pass",
        "recall of fraud >= 0.9": "undecided",
    }
    assert [one.estimate for one in found.requirements] == [pytest.approx(880 / 900), 0.85]


def test_options_and_measures_of_ones_own() -> None:
    found = matrics.gate(BINARY, "fbeta(beta=2):macro >= 0.5, cohen_kappa(weights=linear)>0.5, error_rate<=0.1")
    assert [one.verdict for one in found.requirements] == ["pass"] * 3
    assert found.requirements[2].estimate == pytest.approx(0.035)
    own = matrics.Metric.of(
        lambda t: t.divide(t.xp.sum(t.tp, axis=0), t.total),
        name="hits_share",
        kind="overall",
        range=(0, 1),
        higher_is_better=True,
    )
    matrics.register(own)
    assert matrics.gate(BINARY, "hits_share >= 0.9").verdict == "pass"
    assert matrics.gate(BINARY, [own], baseline=BINARY // 2).requirements[0].title == "hits_share - baseline >= 0"


# How many samples -----------------------------------------------------------------------------------------------------


@pytest.mark.sampled(2)
@pytest.mark.parametrize("bound", [0.86, 0.88, 0.92, 0.93])
def test_needed_is_the_number_of_wilsons_formula(bound: float) -> None:
    """A score interval of a proportion p ends at the bound b for z² b (1 - b) / (p - b)² samples."""
    cm = np.asarray([[90, 10], [10, 90]])
    (one,) = matrics.gate(cm, f"accuracy >= {bound}").requirements
    assert one.verdict == "undecided"
    expected = Z**2 * bound * (1 - bound) / (0.9 - bound) ** 2
    assert one.needed == pytest.approx(expected, rel=0.02)
    for share, decided in ((1.02, True), (0.98, False)):
        low, high = wilson(0.9 * share * expected, share * expected)
        assert (low > bound or high < bound) is decided


def test_needed_for_measures_without_a_formula() -> None:
    (one,) = matrics.gate(BINARY, "mcc >= 0.78").requirements
    assert one.verdict == "undecided"
    assert one.needed is not None
    more, fewer = (matrics.gate(np.rint(BINARY * one.needed / 1000 * k), "mcc >= 0.78") for k in (1.05, 0.95))
    assert (more.verdict, fewer.verdict) == ("pass", "undecided")


def test_no_number_decides_at_the_bound() -> None:
    (one,) = matrics.gate([[90, 10], [10, 90]], "accuracy >= 0.9").requirements
    assert (one.verdict, one.needed) == ("undecided", None)
    (one,) = matrics.gate([[90, 10], [0, 0]], "f1:macro >= 0.1").requirements  # an empty class stays empty
    assert (one.verdict, one.status, one.needed) == ("undecided", IntervalStatus.EMPTY_CLASS, None)


# Baselines ------------------------------------------------------------------------------------------------------------


def test_baseline_on_other_samples_as_by_statsmodels() -> None:
    newcombe = pytest.importorskip("statsmodels.stats.proportion").confint_proportions_2indep
    old = np.asarray([[850, 50], [40, 60]])
    low, high = newcombe(965, 1000, 910, 1000, method="newcomb")
    (one,) = matrics.gate(BINARY, "accuracy", baseline=old).requirements
    np.testing.assert_allclose([one.estimate, one.low, one.high], [0.055, low, high], rtol=1e-6)
    assert (one.requirement, one.title) == ("accuracy", "accuracy - baseline >= 0")
    assert one.verdict == "pass"
    assert matrics.gate(old, "accuracy", baseline=BINARY, margin=0.03).verdict == "fail"
    assert matrics.gate(old, "accuracy", baseline=BINARY, margin=0.06).verdict == "undecided"
    assert matrics.gate(old, "accuracy", baseline=BINARY, margin=0.08).verdict == "pass"


def test_lower_is_better_turns_the_comparison_around() -> None:
    old = np.asarray([[850, 50], [40, 60]])
    found = matrics.gate(BINARY, ["error_rate", "cen"], baseline=old, margin=0.01)
    assert [one.title for one in found.requirements] == [
        "hamming_loss - baseline <= 0.01",
        "cen - baseline <= 0.01",
    ]
    assert found.verdict == "pass"
    assert matrics.gate(old, "error_rate", baseline=BINARY, margin=0.01).verdict == "fail"


def paired(only_new: int, only_old: int, number: int = 1000) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """True labels, and predictions of two models of which each alone is right so many times, and 50 times neither."""
    true = np.arange(number) % 2
    new, old = true.copy(), true.copy()
    old[:only_new] = 1 - old[:only_new]
    new[only_new : only_new + only_old] = 1 - new[only_new : only_new + only_old]
    both = slice(only_new + only_old, only_new + only_old + 50)
    new[both] = old[both] = 1 - true[both]
    return true, new, old


@pytest.mark.parametrize(
    ("only_new", "only_old", "verdict"), [(40, 10, "pass"), (20, 20, "undecided"), (10, 45, "fail")]
)
def test_baseline_on_the_same_samples(only_new: int, only_old: int, verdict: str) -> None:
    """The difference of accuracies and its variance by hand: (b + c - (b - c)² / N) / N², where each is alone right."""
    true, new, old = paired(only_new, only_old)
    found = matrics.gate(true, "accuracy", y_pred=new, baseline=old, margin=0.01)
    (one,) = found.requirements
    gap = (only_new - only_old) / 1000
    reach = Z * math.sqrt(only_new + only_old - (only_new - only_old) ** 2 / 1000) / 1000
    np.testing.assert_allclose([one.estimate, one.low, one.high], [gap, gap - reach, gap + reach], atol=2.5e-3)
    assert (one.verdict, one.samples) == (verdict, 1000)
    cms = [matrics.confusion_matrix(true, side, num_classes=2) for side in (new, old)]
    apart = matrics.gate(cms[0], "accuracy", baseline=cms[1], margin=0.01).requirements[0]
    assert apart.high - apart.low > 1.3 * (one.high - one.low)  # pairing tells more


def test_needed_on_the_same_samples() -> None:
    true, new, old = paired(20, 20)
    (one,) = matrics.gate(true, "accuracy", y_pred=new, baseline=old, margin=0.01).requirements
    assert one.needed == pytest.approx(Z**2 * 0.04 / 0.01**2, rel=0.06)


def test_bounds_and_comparisons_together() -> None:
    true, new, old = paired(40, 10)
    found = matrics.gate(true, ["accuracy >= 0.9", "mcc"], y_pred=new, baseline=old, margin=0.01)
    assert [one.verdict for one in found.requirements] == ["pass", "pass"]
    assert found.requirements[0].estimate == 0.94


def test_the_same_predictions_are_not_worse_by_a_margin() -> None:
    true, new, _ = paired(20, 20)
    found = matrics.gate(true, "accuracy, mcc", y_pred=new, baseline=new, margin=0.02)
    assert found.verdict == "pass"
    assert [one.estimate for one in found.requirements] == [0, 0]


# Labels, weights, libraries -------------------------------------------------------------------------------------------


def test_classes_are_found_among_labels() -> None:
    """In lists, arrays and columns of pandas and Polars; text in alphabetical order has no positive class."""
    true = ["ok"] * 80 + ["fraud"] * 80
    pred = ["ok"] * 70 + ["fraud"] * 85 + ["ok"] * 5
    wanted = matrics.gate([[75, 5], [10, 70]], "recall[fraud] >= 0.8, mcc >= 0.5", class_names=["fraud", "ok"])
    series = [pytest.importorskip(name).Series for name in ("pandas", "polars")]
    for made in (list, np.asarray, *series):
        found = matrics.gate(made(true), "recall[fraud] >= 0.8, mcc >= 0.5", y_pred=made(pred))
        assert str(found) == str(wanted)
    numbers = matrics.gate([1, 5] * 50, "recall[5] >= 0.9", y_pred=[1, 5] * 40 + [5, 1] * 10)
    assert numbers.requirements[0].estimate == 0.8
    with pytest.raises(ValueError, match="needs a positive class, and neither of 'fraud', 'ok' is the default"):
        matrics.gate(true, "sensitivity:binary >= 0.5", y_pred=pred)
    (mean,) = matrics.gate(true, "sensitivity >= 0.5", y_pred=pred).requirements
    assert mean.title == "sensitivity, macro >= 0.5"
    assert matrics.gate(true, "sensitivity >= 0.5", y_pred=pred, positive="fraud").requirements[0].estimate == 75 / 80


def test_frames_have_names() -> None:
    pd = pytest.importorskip("pandas")
    frame = pd.DataFrame(BINARY, index=NAMES, columns=NAMES)
    assert matrics.gate(frame, "recall[fraud] >= 0.5").requirements[0].title == "recall of fraud >= 0.5"
    assert "fraud predicted as ok: 15" in str(matrics.gate(frame, "mcc >= 0.99"))
    with pytest.raises(ValueError, match="baseline: expected the classes 'ok', 'fraud' in this order"):
        matrics.gate(frame, "mcc", baseline=frame.iloc[::-1, ::-1])


def test_any_library(backend: Any) -> None:
    wanted = matrics.gate(BINARY, "mcc >= 0.7, accuracy >= 0.99")
    found = matrics.gate(backend.asarray(BINARY), "mcc >= 0.7, accuracy >= 0.99")
    for one, other in zip(found.requirements, wanted.requirements, strict=True):
        assert one.verdict == other.verdict
        np.testing.assert_allclose([one.low, one.high], [other.low, other.high], **backend.tolerance)
    true, new, old = (backend.asarray(labels) for labels in paired(40, 10))
    given = matrics.gate(true, "accuracy", y_pred=new, baseline=old, num_classes=2, margin=0.01)
    assert given.verdict == "pass"
    scores = backend.asarray(np.eye(2)[paired(40, 10)[1]])
    assert matrics.gate(true, "accuracy >= 0.9", y_pred=scores, num_classes=2).requirements[0].estimate == 0.94


def test_weights_of_one_size_change_nothing() -> None:
    true, new, old = paired(40, 10)
    weight = np.full(1000, 0.25)
    for options in ({}, {"baseline": old, "margin": 0.01}):
        asked = "accuracy" if options else "accuracy >= 0.9"
        plain = matrics.gate(true, asked, y_pred=new, **options)
        weighted = matrics.gate(true, asked, y_pred=new, sample_weight=weight, **options)
        ends = [[one.low, one.high, one.samples] for made in (plain, weighted) for one in made.requirements]
        np.testing.assert_allclose(ends[1], ends[0], rtol=1e-9)
        assert weighted.verdict == plain.verdict == "pass"


def test_unequal_weights_count_as_fewer_samples() -> None:
    true, new, _ = paired(20, 20)
    weight = RANDOM.exponential(1, 1000)
    found = matrics.gate(true, "accuracy >= 0.92", y_pred=new, sample_weight=weight).requirements[0]
    assert found.samples == pytest.approx(weight.sum() ** 2 / (weight**2).sum())
    assert found.estimate == pytest.approx(weight[true == new].sum() / weight.sum())
    assert "effective samples would decide" in str(found)
    cm, squares = (matrics.confusion_matrix(true, new, num_classes=2, sample_weight=w) for w in (weight, weight**2))
    assert str(matrics.gate(cm, "accuracy >= 0.92", squared_weights=squares).requirements[0]) == str(found)
    both = matrics.gate(cm, "accuracy", baseline=cm, squared_weights=(squares, squares), margin=0.1)
    assert both.verdict == "pass"
    alone = matrics.gate(cm, "accuracy >= 0.8").requirements[0]
    assert (alone.verdict, alone.status) == ("undecided", IntervalStatus.NOT_COUNTS)


# What it gives --------------------------------------------------------------------------------------------------------


def test_plain_values() -> None:
    found = matrics.gate(BINARY, "mcc >= 0.7, recall[fraud] >= 0.85", class_names=NAMES)
    plain = json.loads(json.dumps(found.to_dict()))
    assert plain["verdict"] == "undecided"
    assert [one["verdict"] for one in plain["requirements"]] == ["pass", "undecided"]
    assert plain["requirements"][0]["status_text"] == "the limits can be relied on"
    assert plain["errors"][0] == {"true": "ok", "predicted": "fraud", "samples": 20, "share": 20 / 900}
    assert repr(found).startswith("GateResult('undecided', ['mcc >= 0.7: pass; 0.81")


def test_import_matrics_stays_light() -> None:
    code = "import sys, matrics; print(any('matrics._gates' in name for name in sys.modules)); matrics.gate"
    code += "; print('matplotlib' in sys.modules)"
    found = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert found.stdout.split() == ["False", "False"]


# Errors ---------------------------------------------------------------------------------------------------------------


@pytest.mark.sampled(4)
@pytest.mark.parametrize(
    ("arguments", "options", "error", "message"),
    [
        (([BINARY, BINARY], "mcc >= 0.8"), {}, ValueError, r"y_true_or_cm: .* got a stack \(2, 2, 2\)"),
        (([0, 1, 1], "mcc >= 0.8"), {}, TypeError, "labels together with y_pred=, got labels alone"),
        (([[0, 1]] * 2, "mcc >= 0.8"), {"y_pred": [[0, 1]] * 2, "num_classes": 2}, ValueError, "got a stack"),
        ((BINARY, "mcc >= 1.5"), {}, ValueError, "from -1 to 1, the range of mcc, after >=, got 1.5 in 'mcc >= 1.5'"),
        ((BINARY, "accuracy >= 80"), {}, ValueError, "expected a number from 0 to 1, the range of accuracy"),
        ((BINARY, "mmc >= 0.8"), {}, ValueError, "unknown metric 'mmc'; did you mean mcc"),
        ((BINARY, "mcc = 0.8"), {}, ValueError, "requirements: expected a measure, >=, <=, > or <, and a number"),
        ((BINARY, "mcc >= high"), {}, ValueError, "requirements: expected a number after >= in 'mcc >= high'"),
        ((BINARY, ">= 0.8"), {}, ValueError, "such as 'recall>=0.9', got '>= 0.8'"),
        ((BINARY, "core >= 0.8"), {}, ValueError, "requirements: expected a single measure before >="),
        ((BINARY, "mcc"), {}, ValueError, "bounds such as 'mcc >= 0.8', or a baseline to compare with, got 'mcc'"),
        ((BINARY, ""), {}, ValueError, "got an empty requirement in"),
        ((BINARY, []), {}, TypeError, "bounds such as 'mcc >= 0.8', as text or a list of such"),
        ((BINARY, 0.8), {}, TypeError, "as text or a list of such, got 0.8"),
        ((BINARY, {"mcc": 0.8}), {}, TypeError, "as text or a list of such, got {'mcc': 0.8}"),
        ((BINARY, "recall[2] >= 0.8"), {}, ValueError, "expected the index of a class, from 0 to 1, got '2'"),
        ((BINARY, "mcc >= 0.8"), {"baseline": BINARY}, ValueError, "baseline: expected a measure to compare"),
        ((BINARY, "mcc"), {"baseline": np.eye(3)}, ValueError, "baseline: expected a matrix of the same 2 classes"),
        ((BINARY, "mcc"), {"baseline": [0, 1]}, TypeError, "baseline: expected a confusion matrix"),
        ((BINARY, "prevalence"), {"baseline": BINARY}, ValueError, "better direction to compare"),
        (
            (BINARY, "mcc >= 0.8"),
            {"margin": 0.1},
            ValueError,
            "margin: expected a baseline with it, or a reference",
        ),
        ((BINARY, "mcc"), {"baseline": BINARY, "margin": -0.1}, ValueError, "margin: expected a number of at least 0"),
        ((BINARY, "mcc"), {"baseline": BINARY, "margin": True}, ValueError, "margin: expected a number"),
        ((BINARY, "mcc >= 0.8"), {"level": 95}, ValueError, "level: expected a number between 0 and 1"),
        ((BINARY, "mcc >= 0.8"), {"on_undecided": "skip"}, ValueError, "on_undecided: expected 'pass', 'fail' or None"),
        ((BINARY, "mcc >= 0.8"), {"sample_weight": [1]}, TypeError, "sample_weight: expected y_pred= with it"),
        ((BINARY, "mcc >= 0.8"), {"labels": NAMES}, TypeError, "labels: expected y_pred= with it"),
        (([0, 1], "mcc >= 0.8"), {"y_pred": [0.5, 0.2]}, ValueError, "got 0.5, .* not whole; of class scores"),
        (([0, 1], "mcc >= 0.8"), {"y_pred": ["a", "b"]}, TypeError, "labels that have an order"),
        (([], "mcc >= 0.8"), {"y_pred": []}, ValueError, "expected at least one sample"),
        (([[0, 1]], "mcc >= 0.8"), {"y_pred": [[0, 1]]}, ValueError, "pass each matrix alone"),
        (([0, 1], "mcc >= 0.8"), {"y_pred": [0, 1], "squared_weights": BINARY}, TypeError, "sample_weight="),
        ((BINARY, "mcc"), {"baseline": BINARY, "squared_weights": BINARY}, ValueError, "a pair of matrices"),
        (([[1, -1], [0, 1]], "mcc >= 0.8"), {}, matrics.InvalidConfusionMatrix, "it has the cell -1"),
    ],
)
def test_errors(arguments: Any, options: Any, error: Any, message: str) -> None:
    with pytest.raises(error, match=message):
        matrics.gate(*arguments, **options)


@pytest.mark.exhaustive
def test_needed_of_every_measure() -> None:
    """Two percent more samples than said in the same proportions decide, and three percent fewer do not."""
    cm = RANDOM.integers(5, 15, (3, 3)) + 60 * np.eye(3, dtype=int)
    for name in matrics.list_metrics():
        spec = name if matrics.get_metric(name).kind == "overall" else f"{name}[1]"
        found = matrics.interval(cm, spec)[spec]
        bound = float(found.estimate + (found.high - found.estimate) / 3)
        if not math.isfinite(bound):
            continue
        (one,) = matrics.gate(cm, f"{spec} >= {bound!r}").requirements
        if one.verdict != "undecided" or one.needed is None or not matrics.get_metric(spec).scale_free:
            continue
        for share, decided in ((1.02, True), (0.97, False)):
            limits = matrics.interval(cm * one.needed / cm.sum() * share, spec)[spec]
            assert (not limits.low <= bound <= limits.high) is decided, spec


@pytest.mark.exhaustive
@pytest.mark.exhaustive(number=[1000])
@pytest.mark.parametrize("number", [200, 1000])
def test_a_model_at_the_bound_seldom_passes(number: int) -> None:
    """Of many data sets from proportions whose measure equals the bound, about 2.5 % pass and 2.5 % fail.

    The gate decides by the limits of the intervals, which are computed at once; on some data sets it is called.
    """
    shares = np.asarray([[0.5, 0.05], [0.05, 0.4]])
    mcc = (0.5 * 0.4 - 0.05**2) / (0.55 * 0.45)
    drawn = RANDOM.multinomial(number, shares.ravel(), 2000).reshape(-1, 2, 2)
    for name, bound in (("accuracy", 0.9), ("mcc", mcc)):
        limits = matrics.interval(drawn, name)[name]
        verdicts = np.where(limits.low >= bound, "pass", np.where(limits.high < bound, "fail", "undecided"))
        assert all(np.mean(verdicts == one) < 0.04 for one in ("pass", "fail"))
        some = [*np.flatnonzero(verdicts == "pass")[:10], *np.flatnonzero(verdicts == "fail")[:10], *range(20)]
        assert [matrics.gate(drawn[k], f"{name} >= {bound!r}").verdict for k in some] == list(verdicts[some])
