"""The table of a diagnostic test: beside epiR, statsmodels and formulas written out."""

from __future__ import annotations

import json
import math
import re
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import matrics
from matrics import IntervalStatus

NAMES = (
    "sensitivity",
    "specificity",
    "positive predictive value",
    "negative predictive value",
    "positive likelihood ratio",
    "negative likelihood ratio",
    "odds ratio",
    "Youden's index",
    "accuracy",
    "prevalence",
)
CM = [[640, 202], [74, 670]]
# epi.tests of epiR 2.0.57 (R 4.2.2) of its own example: estimate, lower and upper limit, exact and by Wilson.
EXACT = {
    "sensitivity": (0.9005376344086021, 0.8767461767957109, 0.921092299583694),
    "specificity": (0.7600950118764845, 0.7297764632035549, 0.788580324575101),
    "positive predictive value": (0.7683486238532110, 0.7388926273797569, 0.795978429165360),
    "negative predictive value": (0.8963585434173670, 0.8716392862901462, 0.917740174663071),
    "positive likelihood ratio": (3.7537261790695196, 3.3206884355074808, 4.243234648805133),
    "negative likelihood ratio": (0.1308551747311828, 0.1050643235119225, 0.162977080911631),
    "odds ratio": (28.6861118544286846, 21.5181916566351568, 38.241736408693704),
    "accuracy": (0.8259773013871374, 0.8064048880264241, 0.844334642377048),
    "prevalence": (0.4691046658259773, 0.4443055382823994, 0.494018358894298),
}
WILSON = {
    "sensitivity": (0.9005376344086021, 0.8769319125038284, 0.920028449843373),
    "specificity": (0.7600950118764845, 0.7301117625298535, 0.787715775281638),
    "positive predictive value": (0.7683486238532110, 0.7392065056444834, 0.795136776791763),
    "negative predictive value": (0.8963585434173670, 0.8718400637172506, 0.916634874648462),
    "accuracy": (0.8259773013871374, 0.8065367853223626, 0.843842530340343),
    "prevalence": (0.4691046658259773, 0.4446484709075459, 0.493710162617652),
}


@pytest.mark.parametrize(("method", "expected"), [("clopper_pearson", EXACT), ("wilson", WILSON)])
def test_beside_epir(method: Any, expected: dict[str, tuple[float, ...]]) -> None:
    found = matrics.stats.diagnostic_table(CM, method=method)
    assert found.names == NAMES
    for name, values in expected.items():
        row = found.names.index(name)
        got = [found.estimate[row], found.low[row], found.high[row]]
        np.testing.assert_allclose(got, values, rtol=1e-6, err_msg=name)
    # Youden's value is epiR's; its limits are the sums of both limits less 1, and are wider.
    row = found.names.index("Youden's index")
    assert found.estimate[row] == pytest.approx(0.6606326462850867, rel=1e-12)
    assert 0.6065 < found.low[row] < found.high[row] < 0.7097


SPECS = (
    *("recall[1]", "specificity[1]", "precision[1]", "npv[1]", "positive_likelihood_ratio[1]"),
    *("negative_likelihood_ratio[1]", "diagnostic_odds_ratio[1]", "informedness[1]", "accuracy", "prevalence[1]"),
)


@pytest.mark.parametrize("cm", [CM, [[347, 21], [11, 21]], [[40, 0], [3, 20]], [[50, 4], [0, 0]]])
def test_limits_are_those_of_interval(cm: Any) -> None:
    """One formula for each limit."""
    found = matrics.stats.diagnostic_table(cm)
    for k, one in enumerate(matrics.interval(cm, list(SPECS)).values()):
        parts = (one.estimate, one.low, one.high, one.standard_error, one.status)
        np.testing.assert_array_equal(
            parts, [found.estimate[k], found.low[k], found.high[k], found.standard_error[k], found.status[k]]
        )


def test_ratios_beside_statsmodels() -> None:
    """The log method: a ratio of two risks, and an odds ratio."""
    tables = pytest.importorskip("statsmodels.stats.contingency_tables")
    # The patients of the issue: 21 of 32 ill ones and 21 of 368 healthy ones have a positive test.
    found = matrics.interval([[347, 21], [11, 21]], ["lr_plus[1]", "lr_minus[1]", "dor[1]"])
    positive = tables.Table2x2([[21, 11], [21, 347]])
    missed = tables.Table2x2([[11, 21], [347, 21]])
    for name, expected in (
        ("lr_plus[1]", positive.riskratio_confint(0.05)),
        ("lr_minus[1]", missed.riskratio_confint(0.05)),
        ("dor[1]", positive.oddsratio_confint(0.05, "normal")),
    ):
        np.testing.assert_allclose([found[name].low, found[name].high], expected, rtol=1e-6, err_msg=name)


def test_ratios_beside_dtcompair() -> None:
    """The data Paired1 of R's DTComPair (its README): exact limits of proportions, and the log method of ratios."""
    found = matrics.stats.diagnostic_table([[177, 84], [54, 397]], method="clopper_pearson")
    expected = [
        (0.8802661, 0.8466745, 0.9087592),
        (0.6781609, 0.6177792, 0.7344406),
        (0.8253638, 0.7884240, 0.8582440),
        (0.7662338, 0.7062587, 0.8192389),
        (2.7351124, 2.2860079, 3.2724472),
        (0.1765568, 0.1356142, 0.2298601),
    ]
    np.testing.assert_allclose(np.stack([found.estimate, found.low, found.high], -1)[:6], expected, rtol=1e-6)


def test_where_a_cell_is_empty_the_score_has_limits_in_a_stack_too() -> None:
    """Only the matrices without limits on the scale of the logarithm take those of the score."""
    stack = np.asarray([[[40, 0], [3, 20]], [[40, 2], [3, 20]], [[40, 2], [0, 20]], [[0, 0], [3, 20]]])
    found = {how: matrics.interval(stack, "dor[1]", method=how)["dor[1]"] for how in ("auto", "log", "score")}  # type: ignore[arg-type]
    np.testing.assert_array_equal(found["auto"].low[[0, 2]], found["score"].low[[0, 2]])
    np.testing.assert_array_equal(found["auto"].high[1], found["log"].high[1])
    assert np.isnan(found["auto"].low[3])


def test_proportions_have_their_samples() -> None:
    found = matrics.stats.diagnostic_table([[347, 21], [11, 21]])
    rows = dict(zip(found.names, zip(found.numerator, found.denominator, strict=True), strict=True))
    assert rows["sensitivity"] == (21, 32)
    assert rows["specificity"] == (347, 368)
    assert rows["positive predictive value"] == (21, 42)
    assert rows["negative predictive value"] == (347, 358)
    assert rows["accuracy"] == (368, 400)
    assert rows["prevalence"] == (32, 400)
    assert np.isnan(rows["odds ratio"]).all()
    share = found.numerator / found.denominator
    np.testing.assert_allclose(share[~np.isnan(share)], found.estimate[~np.isnan(share)], rtol=1e-12)
    assert re.search(r" 21/32 +0\.656 ", str(found))
    there = matrics.stats.diagnostic_table([[347, 21], [11, 21]], prevalence=0.3)
    assert np.isnan(there.numerator[2:4]).all()  # not of these samples


def test_labels_are_taken_as_by_score_labels() -> None:
    y_true = ["ill"] * 36 + ["healthy"] * 59
    y_pred = ["ill"] * 30 + ["healthy"] * 6 + ["healthy"] * 50 + ["ill"] * 9
    of_labels = matrics.stats.diagnostic_table(y_true, y_pred, positive="ill")
    of_matrix = matrics.stats.diagnostic_table([[50, 9], [6, 30]], class_names=["healthy", "ill"], positive="ill")
    assert str(of_labels) == str(of_matrix)
    named = matrics.stats.diagnostic_table(y_true, np.where(np.asarray(y_pred) == "ill", "+", "-"), positive="ill=+")
    np.testing.assert_array_equal(named.counts, of_labels.counts)
    numbers = matrics.stats.diagnostic_table(np.asarray(y_true) == "ill", np.asarray(y_pred) == "ill")
    np.testing.assert_array_equal(numbers.counts, of_labels.counts)
    left = matrics.stats.diagnostic_table([*y_true, "?"], [*y_pred, "ill"], positive="ill", ignore_index="?")
    np.testing.assert_array_equal(left.counts, of_labels.counts)
    for options, message in (
        ({}, "positive: expected the class that the test is for"),
        ({"positive": "ill", "class_names": ["a", "b"]}, "class_names: expected None for labels"),
    ):
        with pytest.raises(ValueError, match=message):
            matrics.stats.diagnostic_table(y_true, y_pred, **options)
    with pytest.raises(ValueError, match="labels: expected None for a confusion matrix"):
        matrics.stats.diagnostic_table(CM, labels=[0, 1])


def test_several_prevalences_are_further_rows() -> None:
    found = matrics.stats.diagnostic_table(CM, prevalence=[0.01, 0.08])
    assert found.names == (
        *NAMES,
        *(f"{sign} predictive value at {share}" for share in (0.01, 0.08) for sign in ("positive", "negative")),
    )
    for k, share in enumerate((0.01, 0.08)):
        alone = matrics.stats.diagnostic_table(CM, prevalence=share)
        for part in ("estimate", "low", "high"):
            got = getattr(found, part)[10 + 2 * k : 12 + 2 * k]
            np.testing.assert_array_equal(got, getattr(alone, part)[2:4])


def test_predictive_values_are_those_of_a_prevalence() -> None:
    found = matrics.stats.diagnostic_table(CM, prevalence=0.05)
    sensitivity, specificity = 670 / 744, 640 / 842
    ppv = 0.05 * sensitivity / (0.05 * sensitivity + 0.95 * (1 - specificity))
    row = found.names.index("positive predictive value")
    assert found.estimate[row] == pytest.approx(ppv, rel=1e-12)
    # Mercaldo, Lau and Zhou: the variance of the logit, by the variances of both rates.
    error = math.sqrt((1 - sensitivity) / (744 * sensitivity) + specificity / (842 * (1 - specificity)))
    logit = math.log(ppv / (1 - ppv))
    limits = [1 / (1 + math.exp(-(logit + side * 1.959964 * error))) for side in (-1, 1)]
    np.testing.assert_allclose([found.low[row], found.high[row]], limits, rtol=5e-3)
    row = found.names.index("prevalence")
    assert (found.estimate[row], found.method[row]) == (0.05, "given")
    assert np.isnan(found.low[row])
    estimate = matrics.results.PrevalenceEstimate(0.05, 0.05 * 0.95 / 400)
    wider = matrics.stats.diagnostic_table(CM, prevalence=estimate)
    assert (wider.high - wider.low)[2] > 1.5 * (found.high - found.low)[2]
    assert wider.low[row] < 0.05 < wider.high[row]


def test_a_class_of_several_is_against_the_rest() -> None:
    cm = np.asarray([[40, 3, 2], [1, 20, 2], [3, 4, 9]])
    found = matrics.stats.diagnostic_table(cm, positive="c", class_names=["a", "b", "c"])
    two = matrics.stats.diagnostic_table([[64, 4], [7, 9]])
    assert found.positive == "c"
    np.testing.assert_array_equal(found.counts, [[9, 7], [4, 64]])
    np.testing.assert_array_equal(found.counts, two.counts)
    for part in ("estimate", "low", "high"):
        np.testing.assert_array_equal(getattr(found, part), getattr(two, part))
    np.testing.assert_array_equal(matrics.stats.diagnostic_table(CM, positive=0).counts, [[640, 202], [74, 670]])


def test_empty_cells_and_classes_are_said() -> None:
    found = matrics.stats.diagnostic_table([[40, 0], [3, 20]])
    odds = found.names.index("odds ratio")
    assert (found.estimate[odds], found.high[odds], found.method[odds]) == (math.inf, math.inf, "score")
    assert 1 < found.low[odds] < math.inf
    nobody_healthy = matrics.stats.diagnostic_table([[0, 0], [3, 20]])
    assert "0/0, as there are no such samples" in " ".join(str(nobody_healthy).split())
    assert nobody_healthy.status[1] == IntervalStatus.UNDEFINED
    nothing = matrics.stats.diagnostic_table(np.zeros((2, 2)))
    assert np.isnan(nothing.estimate).all()
    assert "All rows" in str(nothing)
    huge = matrics.stats.diagnostic_table([[10**15, 10**9], [10**8, 10**14]])
    assert (huge.low <= huge.estimate).all()
    assert (huge.status == 0).all()


def test_cells_that_are_no_counts_are_said() -> None:
    found = matrics.stats.diagnostic_table([[5.5, 1.25], [3, 2]])
    assert set(found.status) == {IntervalStatus.NOT_COUNTS}
    assert found.remarks() == [
        "All rows: cells are not whole numbers, and limits treat them as counts: those of weighted samples are others."
    ]


def test_cells_that_are_traced_are_refused() -> None:
    jax = pytest.importorskip("jax")
    with pytest.raises(TypeError, match="cm: expected known values, outside jit, compile and vmap"):
        jax.jit(matrics.stats.diagnostic_table)(np.ones((2, 2)))


def test_what_it_hands_on(backend: Any) -> None:
    found = matrics.stats.diagnostic_table(backend.asarray(CM))
    frame = found.to_frame()
    assert frame["measure"].tolist() == list(NAMES)
    assert frame["low"].to_numpy()[0] == pytest.approx(WILSON["sensitivity"][1], rel=1e-6)
    assert "| sensitivity | 670/744 | 0.901 | 0.877 to 0.920 | Wilson |" in found.to_markdown()
    assert json.loads(json.dumps(found.to_dict()))["positive"] == "class 1"


@pytest.mark.parametrize(
    ("cm", "options", "message"),
    [
        (np.ones((3, 3)), {}, "positive: expected the class that the test is for"),
        (
            np.ones((4, 2, 2)),
            {},
            r"a single matrix \(n, n\), got shape \(4, 2, 2\); matrics.stats.diagnostic_groups",
        ),
        ([[1, -2], [3, 4]], {}, "-2"),
        ([[1, math.nan], [3, 4]], {}, "nan"),
        (CM, {"method": "wald"}, "'wilson', 'agresti_coull', 'clopper_pearson', 'jeffreys'"),
        (CM, {"prevalence": 5}, "between 0 and 1"),
        (CM, {"prevalence": [0.2, 1.8]}, "between 0 and 1"),
        (CM, {"positive": 2}, "positive"),
    ],
)
def test_bad_input_raises(cm: Any, options: dict[str, Any], message: str) -> None:
    with pytest.raises(ValueError, match=message):
        matrics.stats.diagnostic_table(cm, **options)


class TestCommand:
    """``matrics diagnostic``."""

    @pytest.fixture
    def labels(self, tmp_path: Path) -> str:
        """A file of labels."""
        rows = ["ill,ill"] * 30 + ["ill,healthy"] * 6 + ["healthy,healthy"] * 50 + ["healthy,ill"] * 9
        path = tmp_path / "test.csv"
        path.write_text("y_true,y_pred\n" + "\n".join(rows) + "\n")
        return str(path)

    def test_labels_and_matrices(self, command: Any, labels: str, tmp_path: Path) -> None:
        code, shown, _ = command("diagnostic", labels, "--positive", "ill")
        table = matrics.stats.diagnostic_table([[50, 9], [6, 30]], class_names=["healthy", "ill"], positive="ill")
        assert code == 0
        lines = shown.splitlines()
        assert lines[0] == f"{labels}: {table.title()}"
        assert " ".join(lines[4].split()) == "sensitivity 30/36 Wilson 0.833 [0.681, 0.921]"
        assert [re.split(" {2,}", line)[0] for line in lines[4:14]] == list(table.names)
        matrix = tmp_path / "matrix.csv"
        matrix.write_text("50,9\n6,30\n")
        assert command("diagnostic", str(matrix))[1].splitlines()[2:] == shown.splitlines()[2:]
        turned = tmp_path / "turned.csv"
        turned.write_text("50,6\n9,30\n")
        assert command("diagnostic", str(turned), "--rows", "pred")[1].splitlines()[2:] == shown.splitlines()[2:]

    def test_formats(self, command: Any, labels: str) -> None:
        options = ("--positive", "ill", "--prevalence", "0.1", "--method", "clopper_pearson", "--level", "0.9")
        made = json.loads(command("diagnostic", labels, *options, "--format", "json")[1])
        table = matrics.stats.diagnostic_table([[50, 9], [6, 30]], prevalence=0.1, method="clopper_pearson", level=0.9)
        assert made["counts"]["true_positives"] == 30
        for row, name, low in zip(made["rows"], table.names, table.low, strict=True):
            assert row["measure"] == name
            assert row["low"] == (None if np.isnan(low) else pytest.approx(low, rel=1e-12))
        assert {one["status"] for one in made["nulls"]} == {
            "the prevalence is given",
            "the measure is no share of samples",
        }
        assert command("diagnostic", labels, *options, "--format", "csv")[1].count("\n") == 11

    @pytest.mark.parametrize(
        ("options", "message"),
        [
            ((), "--positive: expected the class that the test is for, one of 'healthy', 'ill', got none"),
            (("--positive", "ill", "--method", "exact"), "--method: expected one of 'wilson'"),
            (("--positive", "ill", "--prevalence", "2"), "--prevalence: expected a number between 0 and 1"),
            (("--positive", "ill", "--level", "95"), "--level: expected a number between 0 and 1"),
            (("--positive", "well"), "positive"),
        ],
    )
    def test_errors(self, command: Any, labels: str, options: tuple[str, ...], message: str) -> None:
        code, _, error = command("diagnostic", labels, *options)
        assert code != 0
        assert message in error

    def test_several_matrices(self, command: Any, tmp_path: Path) -> None:
        np.save(tmp_path / "stack.npy", np.ones((3, 2, 2)))
        assert (
            "expected one matrix, or the labels of one test, got 3"
            in command("diagnostic", str(tmp_path / "stack.npy"))[2]
        )
