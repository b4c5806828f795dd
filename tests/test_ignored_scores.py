"""Samples that are left out of functions of scores: as if they were not there, whatever their scores and weights."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np
import pytest

import matrics

if TYPE_CHECKING:
    from conftest import Backend

RANDOM = np.random.default_rng(0)


def of_two(y: Any, x: Any, w: Any = None, **more: Any) -> list[Any]:
    """Every function of scores of class 1."""
    weight: Any = {**more, "sample_weight": w}
    calibration = matrics.probabilities.reliability_curve(y, x, num_bins=4, **weight)
    return [
        matrics.ranking.roc_auc(y, x, **weight),
        matrics.ranking.average_precision(y, x, **weight),
        matrics.ranking.partial_roc_auc(y, x, max_fpr=0.3, **weight),
        matrics.ranking.precision_at_recall(y, x, 0.55, **weight),
        matrics.ranking.recall_at_precision(y, x, 0.55, **weight),
        matrics.ranking.confusion_matrix(y, x, [0.25, 0.5, 0.75], **weight),
        *matrics.ranking.best_threshold(y, x, "f1", **weight),
        matrics.probabilities.log_loss(y, x, **weight),
        matrics.probabilities.brier_score(y, x, **weight),
        matrics.probabilities.expected_calibration_error(y, x, **weight),
        *(calibration.mean_probability, calibration.share_of_positives, calibration.count),
    ]


def of_classes(y: Any, x: Any, w: Any = None, **more: Any) -> list[Any]:
    """Those of scores of several classes."""
    weight: Any = {**more, "sample_weight": w}
    return [
        matrics.ranking.roc_auc(y, x, average="weighted", **weight),
        matrics.ranking.roc_auc(y, x, average="micro", **weight),
        matrics.ranking.roc_auc(y, x, multi_class="one_vs_one", **weight),
        matrics.ranking.average_precision(y, x, average="class", **weight),
        matrics.ranking.top_k_accuracy(y, x, 2, **weight),
        matrics.ranking.top_k_recall(y, x, 2, average="class", **weight),
        matrics.probabilities.log_loss(y, x, **weight),
        matrics.probabilities.log_loss(y, logits=x, **weight),
        matrics.probabilities.brier_score(y, x, **weight),
        matrics.probabilities.expected_calibration_error(y, x, of="class_wise", **weight),
    ]


@pytest.mark.sampled(2)
@pytest.mark.exhaustive(backend=["jax", "jax-x64"], weighted=[False])
@pytest.mark.parametrize("weighted", [False, True], ids=["unweighted", "weighted"])
@pytest.mark.parametrize("function", [of_two, of_classes])
def test_as_if_they_were_not_there(backend: Backend, function: Any, *, weighted: bool) -> None:
    n = 2 if function is of_two else 3
    y = RANDOM.permuted(np.arange(60) % n)
    x = RANDOM.random(60) if function is of_two else RANDOM.dirichlet(np.ones(3), 60)
    x, w = x.astype(np.float32), RANDOM.random(60).astype(np.float32) + 0.5
    wanted = function(y, x, w if weighted else None)
    where = np.sort(RANDOM.integers(0, 61, 20))
    labels = np.insert(y, where, RANDOM.choice([-100, 255], 20))
    scores = np.insert(x, where, np.float32(np.nan), axis=0)
    scores[np.flatnonzero(labels == 255)[:1]] = 7  # which is no probability
    weights = np.insert(w, where, 0.25)
    arrays = [labels, scores, *([weights] if weighted else [])]
    found = backend.call(lambda *a: function(*a, ignore_index=[-100, 255]), *map(backend.asarray, arrays))
    for mine, want in zip(found, wanted, strict=True):
        got = backend.numpy(mine)
        assert got.dtype.kind == np.asarray(want).dtype.kind  # counts stay integers
        np.testing.assert_allclose(got, want, rtol=1e-5 if backend.float64 else 2e-3, atol=1e-6)


def test_curves_keep_their_shape() -> None:
    """A sample that is left out has a point at which nothing changes."""
    y, x = [0, 1, 9, 1], [0.1, 0.4, 0.3, 0.8]
    curve = matrics.ranking.threshold_curve(y, x, "recall", ignore_index=9)
    assert curve["recall"].tolist() == [0, 0.5, 1, 1, 1]
    assert matrics.ranking.roc_curve(y, x, ignore_index=9).fpr.tolist() == [0, 0, 0, 1, 1]


def test_the_variance_does_not_see_them() -> None:
    y, x = RANDOM.integers(0, 2, 40), RANDOM.random(40)
    got = matrics.ranking.roc_auc_variance([*y, 7, 7], [*x, 0.5, np.nan], ignore_index=7)
    assert got == pytest.approx(matrics.ranking.roc_auc_variance(y, x), rel=1e-13)


def test_gradients_are_zero_there() -> None:
    torch = pytest.importorskip("torch")
    logits = torch.tensor([[1.0, 2.0, 0.5], [float("nan")] * 3, [0.1, 0.2, 0.3]], requires_grad=True)
    loss = matrics.probabilities.log_loss(torch.tensor([1, -100, 2]), logits=logits, ignore_index=-100)
    wanted = torch.nn.functional.cross_entropy(logits.detach()[[0, 2]], torch.tensor([1, 2]))
    torch.testing.assert_close(loss, wanted)
    loss.backward()
    assert torch.isfinite(logits.grad).all()
    assert (logits.grad[1] == 0).all()
    assert (logits.grad[[0, 2]] != 0).all()


def test_errors() -> None:
    with pytest.raises(ValueError, match="ignore_index= leaves samples out"):
        matrics.ranking.roc_auc([0, 1, 9], [0.1, 0.2, 0.3])
    with pytest.raises(ValueError, match=r"y_true: expected labels in \[0, 2\), got 9"):
        matrics.ranking.roc_auc([0, 1, 9], [0.1, 0.2, 0.3], ignore_index=8)
    with pytest.raises(ValueError, match=r"y_true: expected labels, which are whole numbers, got 0\.5"):
        matrics.probabilities.log_loss([0.5, 1.0], [0.5, 0.5], ignore_index=1)
    with pytest.raises(ValueError, match="ignore_index: expected a 32-bit integer"):
        matrics.probabilities.log_loss([0, 1], [0.5, 0.5], ignore_index="pad")
