"""Names that people type: those of other libraries and of papers, in any case, and misspelt ones."""

from __future__ import annotations

import numpy as np
import pytest

import matrics
from matrics.sklearn import scorer

RANDOM = np.random.default_rng(18)
TRUE = RANDOM.integers(0, 3, 60)
PROBABILITIES = RANDOM.dirichlet(np.ones(3), 60)
TWO = [[6, 2], [3, 9]]

# The mean of 6 / (6 + 2 + 3) and 9 / (9 + 3 + 2); with weights 8 and 12 of the true classes.
MEAN_IOU, WEIGHTED_IOU = (6 / 11 + 9 / 14) / 2, (8 * 6 / 11 + 12 * 9 / 14) / 20


@pytest.mark.parametrize(
    ("names", "value"),
    [
        (("miou", "mIoU", "mean_iou", "Mean IoU", "mean-iou"), MEAN_IOU),
        (("fwiou", "FWIoU", "frequency_weighted_iou"), WEIGHTED_IOU),
        (("mdice", "mean_dice"), (12 / 17 + 18 / 23) / 2),
        (("pixel_accuracy", "Pixel Accuracy", "PIXEL-ACCURACY"), 15 / 20),
    ],
)
def test_names_of_segmentation(names: tuple[str, ...], value: float) -> None:
    """Means are of both classes of two, and not of class 1 alone, whichever class is positive."""
    for name in names:
        assert matrics.score(TWO, name)[name] == pytest.approx(value, rel=1e-12)
        assert matrics.score(TWO, name, class_names=["a", "b"], positive="b")[name] == pytest.approx(value, rel=1e-12)


def test_the_attribute_of_such_a_name_says_which_measure_it_is() -> None:
    expected = r"matrics\.metrics\.jaccard; in matrics\.score 'miou' means 'jaccard:macro'"
    with pytest.raises(AttributeError, match=expected):
        getattr(matrics, "miou")  # noqa: B009
    with pytest.raises(ValueError, match="belongs to jaccard"):
        matrics.register(
            matrics.metric(kind="overall", range=(0, 1), higher_is_better=True, name="MIOU")(lambda t: t.total)
        )


SCORES = {
    "AUROC": matrics.ranking.roc_auc(TRUE, PROBABILITIES),
    "auprc": matrics.ranking.average_precision(TRUE, PROBABILITIES),
    "LogLoss": matrics.probabilities.log_loss(TRUE, PROBABILITIES),
    "Brier": matrics.probabilities.brier_score(TRUE, PROBABILITIES),
    "ECE": matrics.probabilities.expected_calibration_error(TRUE, PROBABILITIES),
    "ece:class_wise": matrics.probabilities.expected_calibration_error(TRUE, PROBABILITIES, of="class_wise"),
    "Top2": matrics.ranking.top_k_accuracy(TRUE, PROBABILITIES, 2),
    "top_2_accuracy": matrics.ranking.top_k_accuracy(TRUE, PROBABILITIES, 2),
    "top-2 recall": matrics.ranking.top_k_recall(TRUE, PROBABILITIES, 2),
}


@pytest.mark.parametrize("name", SCORES)
def test_a_state_of_scores_has_the_values_of_its_methods(name: str) -> None:
    options = {"losses": True, "top_k": [1, 2], "class_wise": True, "bits": 12}
    state = matrics.ScoreState.zeros(num_classes=3, **options).update(TRUE, PROBABILITIES)
    assert state.score(name)[name] == pytest.approx(SCORES[name], rel=5e-3)


def test_a_state_has_values_of_scores_and_of_thresholds_together() -> None:
    state = matrics.ScoreState.zeros(num_classes=3, thresholds=[0.5], top_k=[1, 2]).update(TRUE, PROBABILITIES)
    found = state.score("recall, auroc, top_k_accuracy, top_k_recall(k=[2,1]):class")
    assert list(found) == ["recall", "auroc", "top_k_accuracy", "top_k_recall(k=[2,1]):class"]
    assert [np.shape(value) for value in found.values()] == [(3, 3), (), (2,), (2, 3)]
    assert np.array_equal(found["top_k_recall(k=[2,1]):class"], state.top_k_recall(average="class")[::-1])
    with pytest.raises(ValueError, match=r"made with top_k=5 for 'top5', got top_k=\[1, 2\]"):
        state.score("top5")


@pytest.mark.parametrize("name", ["AUROC", "auprc", "LogLoss", "Brier", "ECE"])
def test_limits_and_scorers_take_the_names_as_well(name: str) -> None:
    found = matrics.ranking.interval(TRUE, PROBABILITIES, name, average="macro")[name]
    assert found.estimate == pytest.approx(SCORES[name], rel=1e-12)
    scorer(name)


def test_a_scorer_of_the_highest_scores_is_that_of_scikit_learn() -> None:
    linear_model, metrics = pytest.importorskip("sklearn.linear_model"), pytest.importorskip("sklearn.metrics")
    for number in (3, 2):
        true = TRUE % number
        model = linear_model.LogisticRegression().fit(PROBABILITIES, true)
        k = number - 1
        expected = metrics.top_k_accuracy_score(true, model.decision_function(PROBABILITIES), k=k)
        assert scorer(f"top{k}")(model, PROBABILITIES, true) == pytest.approx(expected)


def test_running_metrics_take_the_names_as_well() -> None:
    torch = pytest.importorskip("torch")
    from matrics.torch import ConfusionMetric, ScoreMetric

    metric = ScoreMetric(3, list(SCORES), bits=12)
    metric.update(torch.from_numpy(TRUE), torch.from_numpy(PROBABILITIES))
    found = metric.compute()
    assert list(found) == list(SCORES)
    assert [float(value) for value in found.values()] == pytest.approx(list(SCORES.values()), rel=5e-3)
    with pytest.raises(ValueError, match="got AUROC, which need scores"):
        ConfusionMetric(3, "mcc, AUROC")


@pytest.mark.parametrize(
    ("misspelt", "meant"),
    [
        ("acuracy", "accuracy"),
        ("Mean_IU", r"mean_iou \(= jaccard:macro\)"),
        ("log_los", r"matrics\.probabilities\.log_loss\(y_true, y_prob\)"),
        ("avrage_precision", r"matrics\.ranking\.average_precision\(y_true, y_score\)"),
        ("pixel_acuracy", r"pixel_accuracy \(= accuracy\)"),
    ],
)
def test_a_misspelt_name_gets_suggestions(misspelt: str, meant: str) -> None:
    with pytest.raises(ValueError, match=f"unknown metric '{misspelt}'; did you mean .*{meant}"):
        matrics.score(TWO, misspelt)


def test_a_misspelt_name_of_scores_gets_those_of_its_door() -> None:
    with pytest.raises(ValueError, match=r"did you mean average_precision, recall_at_precision\? expected roc_auc"):
        matrics.ranking.interval(TRUE, PROBABILITIES, "avrage_precision")
    with pytest.raises(ValueError, match=r"needs the scores of each sample.*top_k_accuracy.*k=5"):
        matrics.score(TWO, "top5")
