"""A warning of scores that are NaN, and of probabilities that do not add up to 1, where looking is free."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

import matrics

RANDOM = np.random.default_rng(15)
Y_TRUE = np.asarray([0, 1, 0, 1, 1, 0])
OF_ONE: dict[str, Callable[[Any, Any], Any]] = {
    "roc_auc": matrics.ranking.roc_auc,
    "average_precision": matrics.ranking.average_precision,
    "roc_curve": lambda y, s: np.concatenate(matrics.ranking.roc_curve(y, s)[:2]),
    "roc_auc_variance": matrics.ranking.roc_auc_variance,
    "log_loss": matrics.probabilities.log_loss,
    "brier_score": matrics.probabilities.brier_score,
    "expected_calibration_error": matrics.probabilities.expected_calibration_error,
}
OF_CLASSES: dict[str, Callable[[Any, Any], Any]] = {
    "roc_auc": lambda y, s: matrics.ranking.roc_auc(y, s, average="macro"),
    "top_k_accuracy": lambda y, s: matrics.ranking.top_k_accuracy(y, s, 2),
    "log_loss": matrics.probabilities.log_loss,
}


@pytest.mark.parametrize("name", OF_ONE)
def test_scores_of_one_class(name: str) -> None:
    scores = np.asarray([0.1, 0.9, np.nan, 0.8, 0.4, 0.3])
    with pytest.warns(RuntimeWarning, match=r"expected numbers, got NaN at \(2,\) \(1 of 6 are NaN\)") as caught:
        value = OF_ONE[name](Y_TRUE, scores)
    assert np.isnan(value).all()
    assert len(caught) == 1
    assert caught[0].filename == __file__


@pytest.mark.parametrize("name", OF_CLASSES)
def test_scores_of_classes(name: str) -> None:
    scores = RANDOM.dirichlet(np.ones(3), 6)
    scores[4, 1] = np.nan
    with pytest.warns(RuntimeWarning, match=r"got NaN at \(4, 1\) \(1 of 18 are NaN\)") as caught:
        value = OF_CLASSES[name](Y_TRUE, scores)
    assert np.isnan(value).all()
    assert len(caught) == 1


def test_scores_that_are_left_out() -> None:
    """They may have any value."""
    scores = np.asarray([[0.1, 0.9], [np.nan, 0.5], [3, 3], [0.4, 0.6]])
    labels = np.asarray([1, -1, -1, 1])
    assert matrics.ranking.top_k_accuracy(labels, scores, 1, ignore_index=-1) == 1
    assert matrics.probabilities.log_loss(labels[[0, 1, 3]], scores[[0, 1, 3]], ignore_index=-1) > 0


@pytest.mark.parametrize("function", [matrics.probabilities.log_loss, matrics.probabilities.brier_score])
def test_probabilities_that_do_not_add_up(function: Callable[..., Any]) -> None:
    """The value is that of the numbers as they are."""
    whole = RANDOM.dirichlet(np.ones(3), 6)
    value = function(Y_TRUE, whole)
    assert abs(value - function(Y_TRUE, whole.round(2))) < 0.1  # rounding is no reason
    function(Y_TRUE, whole.astype(np.float16))
    odd = whole.copy()
    odd[3] *= 0.5
    with pytest.warns(RuntimeWarning, match=r"add up to 1, got 0\.5 at \(3,\) \(1 of 6 samples\)"):
        found = function(Y_TRUE, odd)
    losses = (
        -np.log(odd[range(6), Y_TRUE])
        if function is matrics.probabilities.log_loss
        else ((odd - np.eye(3)[Y_TRUE]) ** 2).sum(-1)
    )
    assert found == pytest.approx(losses.mean())
    assert function(Y_TRUE, odd, sample_weight=[1, 1, 1, 0, 1, 1]) > 0  # of samples without weight none


def test_other_libraries_do_not_warn() -> None:
    """There it would depend on the device."""
    torch = pytest.importorskip("torch")
    scores = torch.tensor([0.1, 0.9, torch.nan, 0.8, 0.4, 0.3])
    assert torch.isnan(matrics.ranking.roc_auc(torch.tensor(Y_TRUE), scores))
    assert matrics.probabilities.log_loss(torch.tensor(Y_TRUE), torch.full((6, 3), 0.5)) > 0
