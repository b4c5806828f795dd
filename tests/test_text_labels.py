"""Labels and groups of any kind: labels= gives the order of the columns of class scores."""

from __future__ import annotations

import operator
from typing import Any

import numpy as np
import pytest

import matrics

RANDOM = np.random.default_rng(20)
LABELS = ("wren", "crow", "jay")  # in another order than the alphabet's
CODES = RANDOM.integers(0, 3, 40)
TEXTS = [LABELS[code] for code in CODES]
PROBABILITIES = RANDOM.dirichlet(np.ones(3), 40)

CALLS = {
    "ranking.top_k_accuracy": {"k": 2},
    "ranking.top_k_recall": {"k": 2, "average": "class"},
    "probabilities.log_loss": {},
    "probabilities.brier_score": {},
    "probabilities.brier_decomposition": {},
    "probabilities.expected_calibration_error": {},
    "probabilities.reliability_curve": {"of": "class_wise"},
    "ranking.roc_auc": {"average": "class"},
    "ranking.partial_roc_auc": {"max_fpr": 0.5, "average": "class"},
    "ranking.average_precision": {"average": "class"},
    "ranking.precision_at_recall": {"recall": 0.5, "average": "class"},
    "ranking.recall_at_precision": {"precision": 0.5, "average": "class"},
    "ranking.recall_at_specificity": {"specificity": 0.5, "average": "class"},
    "ranking.roc_auc_variance": {},
    "ranking.confusion_matrix": {"thresholds": [0.3, 0.6]},
    "soft_confusion_matrix": {},
    "ranking.interval": {"metrics": "roc_auc, log_loss", "average": "class"},
}
OF_ONE = {
    "probabilities.log_loss": {},
    "probabilities.brier_score": {},
    "probabilities.expected_calibration_error": {},
    "ranking.roc_auc": {},
    "ranking.roc_curve": {},
    "ranking.precision_recall_curve": {},
    "ranking.threshold_curve": {"metrics": "recall, mcc"},
    "ranking.best_threshold": {"metric": "f1", "level": 0.95, "num": 20, "rng": 0},
    "probabilities.interval": {"num": 20, "rng": 0},
    "ranking.decision_curve": {"thresholds": [0.2, 0.4], "num": 20, "rng": 0},
}


def arrays(found: Any) -> list[Any]:
    """The numbers of a result."""
    if isinstance(found, dict):
        return [x for value in found.values() for x in arrays(value)]
    return [x for value in found for x in arrays(value)] if isinstance(found, tuple) else [np.asarray(found)]


def assert_same(found: Any, expected: Any) -> None:
    for x, y in zip(arrays(found), arrays(expected), strict=True):
        np.testing.assert_array_equal(x, y)


@pytest.mark.sampled(2)
@pytest.mark.parametrize("name", CALLS)
def test_labels_in_the_order_of_the_columns_are_their_numbers(name: str) -> None:
    function, options = operator.attrgetter(name)(matrics), CALLS[name]
    assert_same(function(TEXTS, PROBABILITIES, labels=LABELS, **options), function(CODES, PROBABILITIES, **options))
    numbers = np.asarray([7, 3, 5])  # labels that are integers but no numbers of columns
    assert_same(
        function(numbers[CODES], PROBABILITIES, labels=numbers, **options), function(CODES, PROBABILITIES, **options)
    )


@pytest.mark.sampled(2)
@pytest.mark.parametrize("name", OF_ONE)
def test_the_positive_label_picks_its_column(name: str) -> None:
    function, options = operator.attrgetter(name)(matrics), OF_ONE[name]
    found = function(TEXTS, PROBABILITIES, labels=LABELS, positive="crow", **options)
    assert_same(found, function((CODES == 1).astype(int), PROBABILITIES[:, 1], **options))
    two = function(["b" if code else "a" for code in CODES], PROBABILITIES[:, 0], labels=["a", "b"], **options)
    assert_same(two, function((CODES > 0).astype(int), PROBABILITIES[:, 0], **options))


def test_labels_to_leave_out_are_labels() -> None:
    kept = CODES != 1
    for left_out in ("crow", ["crow", "unknown"]):
        given = [*TEXTS, "unknown"] if len(left_out) == 2 else TEXTS
        scores = PROBABILITIES[[*range(40), 0]] if len(left_out) == 2 else PROBABILITIES
        found = matrics.probabilities.log_loss(given, scores, labels=LABELS, ignore_index=left_out)
        assert found == pytest.approx(matrics.probabilities.log_loss(CODES[kept], PROBABILITIES[kept]), rel=1e-12)
    expected = matrics.ranking.roc_auc(CODES, PROBABILITIES, ignore_index=1)
    assert matrics.ranking.roc_auc(TEXTS, PROBABILITIES, labels=LABELS, ignore_index="crow") == expected


def test_scikit_learn_agrees_when_the_columns_are_sorted() -> None:
    metrics = pytest.importorskip("sklearn.metrics")
    order = np.argsort(LABELS)
    sorted_scores = PROBABILITIES[:, order]
    assert matrics.probabilities.log_loss(TEXTS, PROBABILITIES, labels=LABELS) == pytest.approx(
        metrics.log_loss(TEXTS, sorted_scores)
    )
    found = matrics.ranking.top_k_accuracy(TEXTS, PROBABILITIES, 2, labels=LABELS)
    assert found == pytest.approx(metrics.top_k_accuracy_score(TEXTS, sorted_scores, k=2))
    found = matrics.ranking.roc_auc(TEXTS, PROBABILITIES, labels=LABELS)
    assert found == pytest.approx(metrics.roc_auc_score(TEXTS, sorted_scores, multi_class="ovr"))


def test_the_columns_of_a_data_frame_are_put_in_order() -> None:
    pandas = pytest.importorskip("pandas")
    frame = pandas.DataFrame(PROBABILITIES, columns=LABELS)[sorted(LABELS)]
    for name in (
        "probabilities.log_loss",
        "ranking.roc_auc",
        "soft_confusion_matrix",
        "ranking.interval",
        "ranking.top_k_accuracy",
    ):
        function = operator.attrgetter(name)(matrics)
        options = {"k": 1} if "top" in name else {}
        found = function(pandas.Series(TEXTS), frame, labels=LABELS, **options)
        assert_same(found, function(CODES, PROBABILITIES, **options))
    with pytest.raises(ValueError, match=r"y_prob: expected a column of scores for each of the labels"):
        matrics.probabilities.log_loss(TEXTS, frame.rename(columns={"jay": "owl"}), labels=LABELS)


def test_a_state_of_scores_takes_labels_with_each_batch() -> None:
    zeros = matrics.ScoreState.zeros(num_classes=3, losses=True)
    found = zeros.update(TEXTS, PROBABILITIES, labels=LABELS)
    assert_same(tuple(found), tuple(zeros.update(CODES, PROBABILITIES)))
    assert zeros.update(["owl", "jay"], PROBABILITIES[:2], labels=LABELS).dropped == 1
    with pytest.raises(ValueError, match="labels: expected 3, a label for each class of the state, got 2"):
        zeros.update(TEXTS, PROBABILITIES, labels=LABELS[:2])


def test_compared_models_take_labels() -> None:
    models = np.stack([PROBABILITIES, PROBABILITIES[::-1]])
    found = matrics.ranking.compare(TEXTS, models, "roc_auc", labels=LABELS)
    assert_same(found, matrics.ranking.compare(CODES, models, "roc_auc"))


def test_text_labels_go_with_tensors() -> None:
    torch = pytest.importorskip("torch")
    scores = torch.from_numpy(PROBABILITIES).requires_grad_()
    loss = matrics.probabilities.log_loss(TEXTS, scores, labels=LABELS)
    loss.backward()
    assert loss.item() == pytest.approx(matrics.probabilities.log_loss(CODES, PROBABILITIES))
    assert scores.grad is not None
    numbers = torch.tensor([7, 3, 5])
    assert_same(
        matrics.ranking.roc_auc(numbers[CODES], scores.detach(), labels=[7, 3, 5]),
        matrics.ranking.roc_auc(CODES, PROBABILITIES),
    )


@pytest.mark.parametrize(
    ("call", "message"),
    [
        (
            lambda: matrics.probabilities.log_loss(TEXTS, PROBABILITIES),
            r"got the labels 'crow', 'jay', 'wren': pass labels=",
        ),
        (
            lambda: matrics.probabilities.log_loss(TEXTS, PROBABILITIES, labels=LABELS[:2]),
            "expected one of the labels 'wren', 'crow'",
        ),
        (
            lambda: matrics.probabilities.log_loss(CODES, PROBABILITIES, labels=range(4)),
            "labels: expected 3, a label for each column of y_prob, got 4",
        ),
        (
            lambda: matrics.probabilities.log_loss(CODES, PROBABILITIES[:, 0], labels=range(3)),
            "labels: expected 2, or positive=, with the scores of a single class, got 3",
        ),
        (
            lambda: matrics.ranking.roc_auc(TEXTS, PROBABILITIES, labels=LABELS, positive="owl"),
            "positive: expected a label of labels=, 'wren', 'crow', 'jay', got 'owl'",
        ),
        (
            lambda: matrics.ranking.roc_auc(TEXTS, PROBABILITIES, positive="jay"),
            "pass labels=, the labels in the order of",
        ),
        (lambda: matrics.ranking.roc_auc(TEXTS, PROBABILITIES, labels=["jay", "jay"]), "'jay' twice"),
    ],
)
def test_messages(call: Any, message: str) -> None:
    with pytest.raises(ValueError, match=message):
        call()


# Groups ---------------------------------------------------------------------------------------------------------------

GROUPS = [["north", "east", "west"][k] for k in RANDOM.integers(0, 3, 40)]


@pytest.mark.parametrize("make", [list, np.asarray, lambda x: np.asarray(x, object)])
def test_groups_may_be_texts(make: Any) -> None:
    names, numbers = np.unique(GROUPS, return_inverse=True)
    pred = RANDOM.integers(0, 3, 40)
    expected = matrics.confusion_matrix(CODES, pred, num_classes=3, groups=numbers, num_groups=3)
    assert_same(matrics.confusion_matrix(CODES, pred, num_classes=3, groups=make(GROUPS)), expected)
    assert_same(matrics.confusion_matrix(CODES, pred, num_classes=3, groups=make(GROUPS), num_groups=3), expected)
    one = [name for k, name in enumerate(GROUPS) if numbers[k] == 1]
    assert len(one) == expected[1].sum()
    soft = matrics.soft_confusion_matrix(CODES, PROBABILITIES, groups=make(GROUPS))
    assert_same(soft, matrics.soft_confusion_matrix(CODES, PROBABILITIES, groups=numbers, num_groups=len(names)))
    joint = matrics.stats.joint_confusion_matrix(CODES, pred, pred[::-1], num_classes=3, groups=make(GROUPS))
    options = {"num_classes": 3, "groups": numbers, "num_groups": 3}
    assert_same(joint, matrics.stats.joint_confusion_matrix(CODES, pred, pred[::-1], **options))


def test_groups_of_a_series_and_with_tensors() -> None:
    pandas, torch = pytest.importorskip("pandas"), pytest.importorskip("torch")
    expected = matrics.confusion_matrix(CODES, CODES, num_classes=3, groups=GROUPS)
    for groups in (
        pandas.Series(GROUPS),
        pandas.Series(GROUPS, dtype="category"),
        pandas.Series(GROUPS, dtype="string"),
    ):
        assert_same(matrics.confusion_matrix(CODES, CODES, num_classes=3, groups=groups), expected)
    codes = torch.from_numpy(CODES)
    assert_same(matrics.confusion_matrix(codes, codes, num_classes=3, groups=GROUPS), expected)


def test_groups_that_cannot_be_numbered_are_refused() -> None:
    count = matrics.confusion_matrix
    with pytest.raises(ValueError, match=r"groups: expected a value for each sample, got None at 1"):
        count([0, 1], [0, 1], num_classes=2, groups=["a", None])
    with pytest.raises(ValueError, match=r"num_groups: expected 2, the number of the groups 'a', 'b', or None, got 3"):
        count([0, 1], [0, 1], num_classes=2, groups=["a", "b"], num_groups=3)
    with pytest.raises(TypeError, match="groups: expected values of a single kind"):
        count([0, 1], [0, 1], num_classes=2, groups=["a", 1])
    with pytest.raises(TypeError, match=r"expected both groups=.*got groups alone"):
        count([0, 1], [0, 1], num_classes=2, groups=[0, 1])
    state = matrics.ConfusionState.zeros(2, num_groups=2)
    with pytest.raises(TypeError, match="groups"):
        state.update([0, 1], [0, 1], groups=["a", "b"])
