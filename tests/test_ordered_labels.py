"""Measures that use the order of the classes need one: that of the alphabet is none."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

import matrics
from matrics import raters

pandas = pytest.importorskip("pandas")
polars = pytest.importorskip("polars")

ORDER = ["low", "mid", "high"]
random = np.random.default_rng(3)
TRUE = random.integers(0, 3, 90)
PRED = np.clip(TRUE + random.integers(-1, 2, 90) * (random.random(90) < 0.6), 0, 2)
TEXTS = [np.asarray(ORDER)[labels].tolist() for labels in (TRUE, PRED)]
LINEAR = "cohen_kappa(weights=linear)"


@pytest.fixture
def kappa() -> float:
    """The value in the order low, mid, high."""
    metrics = pytest.importorskip("sklearn.metrics")
    found = metrics.cohen_kappa_score(TRUE, PRED, weights="linear")
    alphabetical = metrics.cohen_kappa_score(*TEXTS, weights="linear")
    assert abs(found - alphabetical) > 0.05  # or nothing would be tested
    return float(found)


@pytest.mark.parametrize("spec", [LINEAR, "krippendorff_alpha(weights=quadratic)", "kendall_tau"])
def test_alphabetical_order_is_refused(spec: str) -> None:
    match = "uses the order of the classes, and that of 'high', 'low', 'mid' is only alphabetical: pass them"
    crosstab = pandas.crosstab(*map(pandas.Series, TEXTS))
    with pytest.raises(ValueError, match=match):
        matrics.score_labels(*TEXTS, spec)
    with pytest.raises(ValueError, match=match):
        matrics.score(crosstab, spec)
    with pytest.raises(ValueError, match=match):
        matrics.interval(crosstab, spec)
    with pytest.raises(ValueError, match=match):
        matrics.gate(TEXTS[0], f"{spec} >= 0.1", y_pred=TEXTS[1])
    with pytest.raises(ValueError, match=match):
        matrics.frames.count({"y_true": TEXTS[0], "y_pred": TEXTS[1]}).score(spec)
    with pytest.raises(ValueError, match=match):
        matrics.score_labels(*(pandas.Series(text, dtype="category") for text in TEXTS), spec)


def test_an_order_is_kept(kappa: float) -> None:
    ordered = pandas.CategoricalDtype(ORDER, ordered=True)
    series = [pandas.Series(text, dtype=ordered) for text in TEXTS]
    enums = [polars.Series(text, dtype=polars.Enum(ORDER)) for text in TEXTS]
    for labels in (series, enums):
        assert matrics.score_labels(*labels, LINEAR)[LINEAR] == pytest.approx(kappa, rel=1e-12)
        frame = {"y_true": labels[0], "y_pred": labels[1]}
        assert matrics.frames.count(frame).score(LINEAR)[LINEAR] == pytest.approx(kappa, rel=1e-12)
        gate = matrics.gate(labels[0], f"{LINEAR} >= 0", y_pred=labels[1])
        assert gate.requirements[0].estimate == pytest.approx(kappa)
    crosstab = pandas.crosstab(*series)
    assert matrics.score(crosstab, LINEAR)[LINEAR] == pytest.approx(kappa, rel=1e-12)
    assert matrics.score_labels(*TEXTS, LINEAR, labels=ORDER)[LINEAR] == pytest.approx(kappa, rel=1e-12)
    assert matrics.score_labels(TRUE, PRED, LINEAR)[LINEAR] == pytest.approx(kappa, rel=1e-12)


def test_the_order_of_one_side_is_that_of_both(kappa: float) -> None:
    """Predictions are often plain text; and a frame of one column is that column."""
    pa = pytest.importorskip("pyarrow")
    order = pandas.CategoricalDtype(ORDER, ordered=True)
    true, pred = (pandas.Series(text, dtype=order) for text in TEXTS)
    for y_true, y_pred in (
        (true, TEXTS[1]),
        (TEXTS[0], pred),
        (true.to_frame("a"), pred.to_frame("b")),
        (pa.Array.from_pandas(true), pa.Array.from_pandas(pred)),
        (polars.DataFrame({"a": polars.Series(TEXTS[0], dtype=polars.Enum(ORDER))}), TEXTS[1]),
    ):
        assert matrics.score_labels(y_true, y_pred, LINEAR)[LINEAR] == pytest.approx(kappa, rel=1e-12)
    assert matrics.frames.count({"y_true": true, "y_pred": TEXTS[1]}).labels == tuple(ORDER)


def test_two_classes_need_no_order() -> None:
    """Weights of two classes, and ranks of these, are the same in both orders."""
    labels = [[["sick", "well"][k % 2] for k in side] for side in (TRUE, PRED)]
    scores = matrics.score_labels(*labels, f"{LINEAR}, cohen_kappa, kendall_tau, mcc")
    assert scores[LINEAR] == pytest.approx(scores["cohen_kappa"])
    assert scores["kendall_tau"] == pytest.approx(scores["mcc"])


def test_groups_are_of_what_the_classes_have() -> None:
    assert "kendall_tau" not in matrics.score_labels(*TEXTS, "overall")
    assert "kendall_tau" in matrics.score_labels(*TEXTS, "overall", labels=ORDER)


def test_numbers_of_classes_without_an_order_need_their_names() -> None:
    """Costs by the places of classes, which are those of the alphabet, are those of other classes."""
    true, pred = ["ok"] * 8 + ["fraud"] * 2, ["ok"] * 9 + ["fraud"]
    for spec in ("expected_cost(costs=[[0,1],[50,0]])", "recall(class_weights=[1,50])"):
        with pytest.raises(ValueError, match="expected the class of each number or row, as the order of 'fraud', 'ok'"):
            matrics.score_labels(true, pred, spec)
    named = "expected_cost(costs=[ok=[0,1],fraud=[50,0]])"
    assert matrics.score_labels(true, pred, named)[named] == pytest.approx(50 / 10)
    plain = "expected_cost(costs=[[0,1],[50,0]])"
    assert matrics.score_labels(true, pred, plain, labels=["ok", "fraud"])[plain] == pytest.approx(50 / 10)


def test_matrices_of_agreement_and_of_disagreement() -> None:
    """Weights mean agreement everywhere and costs disagreement; the diagonal shows which it is."""
    costs = np.asarray([[0, 1, 4], [1, 0, 2], [4, 2, 0]])
    weights = 1 - costs / 4
    cm = matrics.confusion_matrix(TRUE, PRED, num_classes=3)
    shares, chance = cm / cm.sum(), np.outer(cm.sum(1), cm.sum(0)) / cm.sum() ** 2
    kappa = 1 - (costs * shares).sum() / (costs * chance).sum()
    assert matrics.cohen_kappa(cm, weights=weights) == pytest.approx(kappa, rel=1e-12)
    assert matrics.cohen_kappa(cm, costs=costs) == pytest.approx(kappa, rel=1e-12)
    ratings = np.stack([TRUE, PRED], axis=1)
    assert raters.conger_kappa(ratings, num_classes=3, weights=weights) == pytest.approx(kappa, rel=1e-12)
    alpha = raters.krippendorff_alpha(ratings, num_classes=3, weights=weights)
    assert matrics.metrics.krippendorff_alpha(cm, weights=weights) == pytest.approx(float(alpha), rel=1e-12)
    assert matrics.metrics.krippendorff_alpha(cm, costs=costs) == pytest.approx(float(alpha), rel=1e-12)
    wrong: list[Any] = [
        (lambda: matrics.cohen_kappa(cm, weights=costs), "with 1 on the diagonal, .*, got 0 at .*costs="),
        (lambda: matrics.cohen_kappa(cm, costs=weights), "with 0 on the diagonal, .*, got 1 at .*weights="),
        (lambda: matrics.metrics.krippendorff_alpha(cm, weights=costs), "with 1 on the diagonal"),
        (lambda: raters.conger_kappa(ratings, num_classes=3, weights=costs), r"with 1 on the diagonal .*, got \[0"),
        (lambda: raters.krippendorff_alpha(ratings, num_classes=3, weights=costs), "with 1 on the diagonal"),
        (
            lambda: matrics.cohen_kappa(cm, weights="linear", costs=costs),
            "weights= of agreement or costs= .* both",
        ),
    ]
    for call, match in wrong:
        with pytest.raises(ValueError, match=match):
            call()
