"""Net benefit needs the odds of a threshold, and has them wherever a threshold of probability is known."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import pytest
from test_decision_curve import cancer

import matrics

CM = np.asarray([[30, 6], [4, 20]])
LIMITS = [0.0, 0.2, 0.5, 0.9]


@pytest.mark.parametrize(
    "call",
    [
        lambda: matrics.metrics.net_benefit(CM),
        lambda: matrics.score(CM, "net_benefit"),
        lambda: matrics.score(CM, ["accuracy", "net_benefit:binary"]),
        lambda: matrics.interval(CM, "net_benefit"),
        lambda: matrics.compare(CM, CM.T, "net_benefit"),
        lambda: matrics.ranking.best_threshold(*cancer(), "net_benefit"),
        lambda: matrics.ranking.best_threshold(*cancer(), "recall", subject_to="net_benefit>=0.1"),
    ],
)
def test_a_matrix_does_not_know_its_threshold(call: Any) -> None:
    with pytest.raises(ValueError, match=r"expected weight, the odds of the threshold, got none: .*weight=0\.25"):
        call()


def test_it_is_in_no_group_and_can_be_described() -> None:
    assert "net_benefit" not in matrics.list_metrics()
    assert "net_benefit" not in matrics.list_metrics("rates")
    assert "net_benefit" not in matrics.score(CM, "all")
    assert "required: a number from 0" in str(matrics.describe("net_benefit"))
    assert matrics.score(CM, "net_benefit(weight=0.25):binary").popitem()[1] == pytest.approx((20 - 6 / 4) / 60)
    for weight in (-1, "x", float("nan")):
        with pytest.raises(ValueError, match="weight to be a number from 0"):
            matrics.metrics.net_benefit(CM, weight=weight)


def test_curves_have_the_odds_of_each_threshold(backend: Any) -> None:
    y_true, y_prob = cancer()
    curve = matrics.ranking.decision_curve(y_true, y_prob, LIMITS, num=9, rng=0)
    labels, scores = backend.asarray(y_true), backend.asarray(y_prob)
    found = matrics.ranking.threshold_curve(labels, scores, ["recall", "net_benefit"], thresholds=LIMITS)
    np.testing.assert_allclose(backend.numpy(found["net_benefit"]), curve.net_benefit.estimate, **backend.tolerance)
    every = matrics.ranking.threshold_curve(labels, scores, "net_benefit")
    limits, values = backend.numpy(every.thresholds), backend.numpy(every["net_benefit"])
    assert (limits[0], values[0]) == (np.inf, 0)
    for k in (1, 100, 700):
        treated = y_prob >= limits[k] if backend.float64 else y_prob.astype(np.float32) >= np.float32(limits[k])
        odds = limits[k] / (1 - limits[k])
        expected = np.mean(treated & (y_true == 1)) - odds * np.mean(treated & (y_true == 0))
        assert values[k] == pytest.approx(expected, rel=1e-4, abs=1e-6)


def test_under_jit_and_vmap() -> None:
    jax = pytest.importorskip("jax")
    y_true, y_prob = cancer()
    labels, scores = np.stack([y_true, y_true[::-1]]), np.stack([y_prob, y_prob[::-1]]).astype(np.float32)

    def benefit(y: Any, p: Any) -> Any:
        return matrics.ranking.threshold_curve(y, p, "net_benefit", thresholds=jax.numpy.asarray([0.2, 0.5]))[
            "net_benefit"
        ]

    expected = matrics.ranking.decision_curve(y_true, y_prob, [0.2, 0.5], num=9, rng=0).net_benefit.estimate
    found = jax.jit(jax.vmap(benefit))(labels, scores)
    np.testing.assert_allclose(found, [expected, expected], rtol=1e-4)
    outside = jax.jit(lambda y, p: matrics.ranking.threshold_curve(y, p, "net_benefit")["net_benefit"])(
        labels[0], scores[0] * 9
    )
    assert np.isnan(outside).any()  # thresholds that are no probabilities have no odds


def test_scores_that_are_no_probabilities_are_refused() -> None:
    y_true, y_prob = cancer()
    with pytest.raises(ValueError, match="expected probabilities, from 0 to 1, for net_benefit"):
        matrics.ranking.threshold_curve(y_true, 9 * y_prob, "net_benefit")
    fixed = matrics.ranking.threshold_curve(y_true, 9 * y_prob, "net_benefit(weight=0.25)", thresholds=[1.8])
    same = matrics.ranking.threshold_curve(y_true, y_prob, "net_benefit", thresholds=[0.2])
    assert fixed["net_benefit(weight=0.25)"] == pytest.approx(same["net_benefit"])
    at_the_end = matrics.ranking.threshold_curve([0, 1, 1], [1.0, 1.0, 0.5], "net_benefit", thresholds=[1.0])
    assert at_the_end["net_benefit"][0] == -np.inf  # at 1 a false positive costs infinitely much


def test_metrics_of_a_threshold_have_its_odds() -> None:
    torch = pytest.importorskip("torch")
    from matrics.torch import ScoreMetric

    y_true, y_prob = cancer()
    metric = ScoreMetric(metrics=["net_benefit@0.2", "recall@0.5"])
    metric.update(torch.as_tensor(y_true), torch.as_tensor(y_prob))
    expected = matrics.ranking.decision_curve(y_true, y_prob, [0.2], num=9, rng=0).net_benefit.estimate[0]
    assert float(metric.compute()["net_benefit@0.2"]) == pytest.approx(expected, abs=1e-3)


def test_the_command_line(command: Any, tmp_path: Path) -> None:
    y_true, y_prob = cancer()
    rows = "\n".join(f"{y},{p}" for y, p in zip(y_true, y_prob, strict=True))
    (tmp_path / "risk.csv").write_text(f"y_true,risk\n{rows}\n")
    (tmp_path / "logit.csv").write_text("y_true,risk\n0,-3.5\n1,2.5\n0,0.1\n1,0.4\n")
    expected = matrics.ranking.decision_curve(y_true, y_prob, [0.2], num=9, rng=0).net_benefit.estimate[0]
    asked = ("--scores", "risk", "--metrics", "net_benefit,recall")
    for arguments in (("curve", *asked, "--thresholds", "0.2"), ("score", *asked, "--threshold", "0.2")):
        code, shown, error = command(arguments[0], str(tmp_path / "risk.csv"), *arguments[1:])
        assert (code, error) == (0, "")
        assert f"{expected:.3f}" in shown
    for arguments in (("curve", *asked), ("score", *asked, "--threshold", "0.2")):
        code, _, error = command(arguments[0], str(tmp_path / "logit.csv"), *arguments[1:])
        assert code != 0
        assert "net_benefit" in error


def test_beside_the_documented_formula() -> None:
    """The reference of ``tests/reference``, with its weight."""
    reference = pytest.importorskip("reference")
    from reference.counts import Counts

    for weight in (0.0, 0.25, 3.0):
        for k in (0, 1):
            expected = float(reference.FORMULAS["net_benefit"](Counts(CM.tolist()), k, weight))
            assert matrics.metrics.net_benefit(CM, weight=weight, average="class")[k] == pytest.approx(
                expected, rel=1e-12
            )
