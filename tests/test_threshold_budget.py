"""Budgets over samples with and without labels: the best threshold by trying each."""

from __future__ import annotations

import json
from importlib.util import find_spec

import numpy as np
import pytest

import matrics

RANDOM = np.random.default_rng(3)
Y = (RANDOM.random(300) < 0.2).astype(int)
SCORES = np.round(Y + RANDOM.normal(size=300), 1)
UNLABELLED = np.round(RANDOM.normal(0.3, 1.2, size=500), 1)


def by_trying(limit: int, weight: np.ndarray | None = None) -> tuple[float, float]:
    """The highest threshold with the best recall among those that predict so few of all samples as positive."""
    own = np.ones(300) if weight is None else weight
    found = (np.inf, 0.0)
    for threshold in np.unique(SCORES)[::-1]:
        predicted = (SCORES[own > 0] >= threshold).sum() + (threshold <= UNLABELLED).sum()
        recall = own[(Y == 1) & (threshold <= SCORES)].sum() / own[Y == 1].sum()
        if predicted <= limit and recall > found[1]:
            found = (float(threshold), float(recall))
    return found


@pytest.mark.parametrize("limit", [0, 3, 40, 250, 700, 800])
def test_all_samples_count_for_a_budget(limit: int) -> None:
    options = {"subject_to": f"predicted_positives<={limit}", "unlabelled_scores": UNLABELLED}
    found = matrics.ranking.best_threshold(Y, SCORES, "recall", **options)
    assert (found.threshold, found.value) == pytest.approx(by_trying(limit))
    assert found.rows_of_constraints == 800
    alone = matrics.ranking.best_threshold(Y, SCORES, "recall", subject_to=options["subject_to"])
    assert alone.threshold <= found.threshold
    assert not hasattr(alone, "rows_of_constraints") or alone.rows_of_constraints is None


def test_weights_do_not_change_the_number_of_rows() -> None:
    weight = RANDOM.integers(0, 4, 300).astype(float)
    found = matrics.ranking.best_threshold(
        Y, SCORES, "recall", subject_to="predicted_positives<=90", unlabelled_scores=UNLABELLED, sample_weight=weight
    )
    assert (found.threshold, found.value) == pytest.approx(by_trying(90, weight))
    assert found.rows_of_constraints == 500 + (weight > 0).sum()


def test_money_and_a_budget() -> None:
    """The cost of labelled samples, at the thresholds that the budget of all samples allows."""
    amount = RANDOM.random(300) * 100
    found = matrics.ranking.best_threshold(
        Y, SCORES, "cost", cost_false_negative=amount, cost_false_positive=5.0,
        subject_to="predicted_positives<=60", unlabelled_scores=UNLABELLED,
    )  # fmt: skip
    costs = {
        threshold: amount[(Y == 1) & (threshold > SCORES)].sum() + 5 * ((Y == 0) & (threshold <= SCORES)).sum()
        for threshold in [np.inf, *np.unique(SCORES)]
        if (threshold <= SCORES).sum() + (threshold <= UNLABELLED).sum() <= 60
    }
    best = min(costs, key=lambda threshold: (costs[threshold], -threshold))
    assert (found.threshold, found.value) == pytest.approx((best, costs[best]))


def test_limits_keep_to_the_budget() -> None:
    found = matrics.ranking.best_threshold(
        Y, SCORES, "recall", subject_to="predicted_positives<=60", unlabelled_scores=UNLABELLED,
        level=0.9, num=50, rng=0,
    )  # fmt: skip
    assert (found.threshold, found.value) == pytest.approx(by_trying(60))
    assert found.threshold_interval.low > np.sort(UNLABELLED)[-61]  # below it there are too many in every replicate
    assert found.rows_of_constraints == 800


@pytest.mark.parametrize(
    ("options", "message"),
    [
        (
            {"subject_to": "false_positives<=5"},
            "subject_to: expected a bound on predicted_.*, got 'false_pos",
        ),
        ({"subject_to": "recall>=0.5"}, "subject_to: expected a bound on predicted_positives .*, got none"),
        (
            {"unlabelled_scores": [[1.0]]},
            r"unlabelled_scores: expected numbers, shape \(M,\), got dtype",
        ),
        ({"unlabelled_scores": [1.0, np.nan]}, "unlabelled_scores: expected numbers, got NaN at position 1"),
        ({"prevalence": 0.1}, "unlabelled_scores: expected None with prevalence="),
    ],
)
def test_what_cannot_be_counted(options: dict, message: str) -> None:
    given = {"subject_to": "predicted_positives<=5", "unlabelled_scores": UNLABELLED, **options}
    with pytest.raises(ValueError, match=message):
        matrics.ranking.best_threshold(Y, SCORES, "recall", **given)


@pytest.mark.parametrize("thresholds", [None, [-1.0, 0.3, 2.5]])
def test_a_curve_counts_all_predictions(thresholds: list[float] | None) -> None:
    names = ["predicted_positives", "recall", "predicted_negatives", "precision"]
    found = matrics.ranking.threshold_curve(Y, SCORES, names, thresholds=thresholds, unlabelled_scores=UNLABELLED)
    both = np.concatenate([SCORES, UNLABELLED])
    positives = [(both >= threshold).sum() for threshold in found.thresholds]
    np.testing.assert_array_equal(found["predicted_positives"], positives)
    np.testing.assert_array_equal(found["predicted_negatives"], 800 - np.asarray(positives))
    alone = matrics.ranking.threshold_curve(Y, SCORES, names, thresholds=thresholds)
    for name in ("recall", "precision"):
        np.testing.assert_array_equal(found[name], alone[name])


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"metrics": "recall"}, "metrics: expected predicted_positives .*, got none"),
        ({"prevalence": 0.1}, "unlabelled_scores: expected None with sample_weight= and prevalence="),
        ({"sample_weight": np.arange(300.0)}, "unlabelled_scores: expected None with sample_weight="),
    ],
)
def test_curves_that_cannot_be_counted(options: dict, message: str) -> None:
    given = {"metrics": "predicted_positives", "unlabelled_scores": UNLABELLED, **options}
    with pytest.raises(ValueError, match=message):
        matrics.ranking.threshold_curve(Y, SCORES, **given)


@pytest.mark.skipif(not find_spec("typer"), reason="the command line needs typer")
def test_the_command_line_counts_rows_without_a_label(command, tmp_path) -> None:
    """As the function does with the scores of these rows; without the option, only rows with a label."""
    rows = [f"{true},{score}" for true, score in zip(Y, SCORES, strict=True)] + [f",{score}" for score in UNLABELLED]
    (tmp_path / "s.csv").write_text("y_true,score\n" + "\n".join([*rows, "1,"]) + "\n")
    arguments = ("threshold", "s.csv", "--scores", "score", "--metric", "recall", "--num", "0", "--missing", "drop")
    bound = ("--subject-to", "predicted_positives<=90")
    found = {}
    for over in ("labelled", "all"):
        code, out, err = command(*arguments, *bound, "--budget-over", over, "--format", "json")
        assert code == 0, err
        found[over] = json.loads(out)
    limits = {over: one["rows"][0]["threshold"] for over, one in found.items()}
    assert limits["all"] == by_trying(90)[0] > limits["labelled"]
    assert found["all"]["budget_over"] == "all"
    assert found["all"]["left_out"] == 501
    assert "of all 800 samples with a score; 500 have no label" in found["all"]["remarks"][-1]
    assert "of the 300 samples with a label" in found["labelled"]["remarks"][-1]
    code, _, err = command(*arguments, "--budget-over", "all")
    assert code == 2
    assert "expected a bound on predicted_positives or predicted_negatives with --budget-over" in err
    code, _, err = command(*arguments[:-2], *bound, "--budget-over", "all")
    assert (code, err) == (
        2,
        "matrics: --budget-over: expected --missing drop with all, which leaves rows without a label out\n",
    )
