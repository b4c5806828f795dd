"""Disparities over groups: their definitions written out, and Fairlearn."""

from __future__ import annotations

import math
import os
from collections.abc import Callable
from fractions import Fraction
from typing import Any

import numpy as np
import pytest

import matrics
from matrics.results import Disparity, EqualizedOdds

RANDOM = np.random.default_rng(19)
NAN, INF = math.nan, math.inf
FUNCTIONS = [matrics.fairness.demographic_parity, matrics.fairness.equal_opportunity, matrics.fairness.equalized_odds]


def flat(found: Any) -> list[Any]:
    """All arrays of a result."""
    return [leaf for field in found for leaf in (flat(field) if isinstance(field, tuple) else [field])]


def rates(cm: np.ndarray, pos: int) -> dict[str, list[Fraction | None]]:
    """Of each group (G, 2, 2), exactly; None where there is nothing to divide by."""
    other = 1 - pos
    found: dict[str, list[Fraction | None]] = {"selection": [], "tpr": [], "fpr": []}
    for matrix in cm.tolist():
        counts = {
            "selection": (matrix[0][pos] + matrix[1][pos], sum(map(sum, matrix))),
            "tpr": (matrix[pos][pos], sum(matrix[pos])),
            "fpr": (matrix[other][pos], sum(matrix[other])),
        }
        for name, (some, of) in counts.items():
            found[name].append(Fraction(some, of) if of else None)
    return found


def apart(values: list[Fraction | None]) -> list[float]:
    """Minimum, maximum, difference and ratio, by their definitions, and how many have no value."""
    known = [value for value in values if value is not None]
    left_out = len(values) - len(known)
    if not known:
        return [NAN] * 4 + [left_out]
    low, high = min(known), max(known)
    if len(known) == 1:
        return [float(low), float(high), NAN, NAN, left_out]
    return [*map(float, (low, high, high - low)), float(low / high) if high else NAN, left_out]


def wanted(cm: np.ndarray, function: Callable[..., Any], pos: int = 1) -> list[float]:
    """What a function should return, its fields in one row."""
    of = rates(cm, pos)
    if function is matrics.fairness.equalized_odds:
        tpr, fpr = apart(of["tpr"]), apart(of["fpr"])
        return [float(np.maximum(tpr[2], fpr[2])), float(np.minimum(tpr[3], fpr[3])), *tpr, *fpr]
    return apart(of["selection" if function is matrics.fairness.demographic_parity else "tpr"])


# disparity ------------------------------------------------------------------------------------------------------------


@pytest.mark.sampled(6)
@pytest.mark.parametrize(
    ("values", "expected"),
    [
        ([0.5, 0.75, 0.25], [0.25, 0.75, 0.5, 1 / 3]),
        ([0.5], [0.5, 0.5, NAN, NAN]),  # nothing is compared
        ([NAN, 0.5, 0.25, NAN], [0.25, 0.5, 0.25, 0.5]),
        ([NAN, NAN], [NAN, NAN, NAN, NAN]),
        ([0.0, 0.0], [0, 0, 0, NAN]),
        ([0.0, 0.5], [0, 0.5, 0.5, 0]),
        ([-0.5, 0.5], [-0.5, 0.5, 1, NAN]),
        ([-0.5, -0.25], [-0.5, -0.25, 0.25, NAN]),
        ([1.0, INF], [1, INF, INF, 0]),
        ([INF, INF], [INF, INF, NAN, NAN]),
    ],
)
def test_values_of_groups(backend: Any, values: list[float], expected: list[float]) -> None:
    """Beside others in a batch, which change nothing."""
    batch = np.asarray([[*values, *[NAN] * (4 - len(values))], [0.5, 1.0, 2.0, 1.0], [NAN] * 4])
    found = backend.call(matrics.fairness.disparity, backend.asarray(batch))
    assert isinstance(found, Disparity)
    row = [backend.numpy(field) for field in found]
    np.testing.assert_allclose([field[0] for field in row], [*expected, np.isnan(batch[0]).sum()], rtol=1e-6)
    np.testing.assert_allclose([field[1] for field in row], [0.5, 2, 1.5, 0.25, 0])
    np.testing.assert_array_equal([field[2] for field in row], [NAN, NAN, NAN, NAN, 4])


@pytest.mark.sampled(2)
def test_the_axis_of_groups(backend: Any) -> None:
    values = RANDOM.random((2, 3, 4))
    for axis in (-3, -2, -1, 0, 1, 2):
        found = backend.call(lambda x, axis=axis: matrics.fairness.disparity(x, axis=axis), backend.asarray(values))
        least, most = values.min(axis), values.max(axis)
        for field, expected in zip(found, (least, most, most - least, least / most, np.zeros_like(least)), strict=True):
            np.testing.assert_allclose(backend.numpy(field), expected, **backend.tolerance)


def test_counts_and_half_precision() -> None:
    assert [float(field) for field in matrics.fairness.disparity(np.asarray([2, 8, 4], np.uint8))] == [2, 8, 6, 0.25, 0]
    assert matrics.fairness.disparity(np.asarray([0.5, 0.25], np.float16)).ratio.dtype == np.float32
    assert isinstance(matrics.fairness.disparity([0.5, 0.25]).ratio, np.float64)


@pytest.mark.parametrize(
    ("values", "axis", "error", "message"),
    [
        ([0.5, 0.25], 1, ValueError, r"axis: expected one of the axes of the values, .* \(2,\), got 1"),
        ([0.5, 0.25], True, ValueError, "axis: expected one of the axes"),
        (0.5, -1, ValueError, r"which have the shape \(\), got -1"),
        (np.zeros((2, 0)), -1, ValueError, r"at least one group along axis=-1, got shape \(2, 0\)"),
        ([0.5j], -1, TypeError, "values: expected real numbers"),
        ({"a": 0.5}, -1, TypeError, "values: expected an array of numbers, got a dict"),
    ],
)
def test_errors_say_what_was_expected(values: Any, axis: Any, error: type, message: str) -> None:
    with pytest.raises(error, match=message):
        matrics.fairness.disparity(values, axis=axis)


# The three by name ----------------------------------------------------------------------------------------------------


@pytest.mark.sampled(3)
@pytest.mark.parametrize("function", FUNCTIONS)
@pytest.mark.parametrize("positive", [1, 0])
def test_by_their_definitions(backend: Any, function: Any, positive: int) -> None:
    """Of random counts, with empty rows, columns and groups, and where a rate is 0 everywhere."""
    cm = RANDOM.integers(0, 6, (200, 3, 2, 2)) * RANDOM.integers(0, 2, (200, 3, 2, 2))
    cm[:20, :, 0] = 0
    cm[20:40, :, :, 1] = 0
    cm[40] = 0
    found = backend.call(lambda cm: function(cm, positive=positive), backend.asarray(cm))
    assert isinstance(found, EqualizedOdds if function is matrics.fairness.equalized_odds else Disparity)
    expected = [wanted(one, function, positive) for one in cm]
    assert (np.isnan(expected).any(axis=0) | (np.max(expected, axis=0) > 1)).all()  # a number of groups is never NaN
    made = np.stack([backend.numpy(field) for field in flat(found)], axis=-1)
    np.testing.assert_allclose(made, expected, **backend.tolerance)


@pytest.mark.sampled(2)
@pytest.mark.parametrize("function", FUNCTIONS)
def test_an_invalid_group_makes_its_disparity_nan(backend: Any, function: Any) -> None:
    """It is not left out like an undefined one, and no other matrix is touched."""
    cm = RANDOM.integers(1, 9, (5, 3, 2, 2)).astype(float)
    cm[1, 2, 0, 0], cm[2, 0, 1, 1], cm[3, 1, 0, 1] = -1, NAN, INF
    found = backend.call(lambda cm: function(cm, invalid="nan"), backend.asarray(cm))
    made = np.stack([backend.numpy(field) for field in flat(found)], axis=-1)
    is_count = np.asarray([backend.numpy(field).dtype.kind == "i" for field in flat(found)])
    assert np.isnan(made[1:4, ~is_count]).all()
    assert (made[1:4, is_count] == 1).all()
    for good in (0, 4):
        np.testing.assert_allclose(made[good], wanted(cm[good].astype(int), function), **backend.tolerance)
    with pytest.warns(RuntimeWarning, match=r"3 of 15 confusion matrices are invalid: \[1\]\[2\]"):
        function(cm)
    with pytest.raises(matrics.InvalidConfusionMatrix, match="3 of 15"):
        function(cm, invalid="raise")


@pytest.mark.parametrize("function", FUNCTIONS)
def test_undefined_groups_may_count(function: Any) -> None:
    cm = [[[5, 5], [4, 6]], [[0, 0], [0, 0]]]
    alone = function(cm)  # the other group is compared with nothing, which is no parity
    assert np.isnan([alone.difference, alone.ratio]).all()
    assert flat(alone)[-1] == 1
    assert (
        0.5 <= flat(function(cm, zero_division=0))[2 if function is not matrics.fairness.equalized_odds else 0] <= 0.6
    )


@pytest.mark.parametrize("function", FUNCTIONS)
@pytest.mark.parametrize(
    ("cm", "options", "message"),
    [
        (np.ones((2, 3, 3)), {}, r"expected two classes, .* got shape \(2, 3, 3\); .*matrics\.transform\.one_vs_rest"),
        (np.ones((2, 2)), {}, r"expected a confusion matrix for each group, .* got shape \(2, 2\)"),
        (np.ones((4, 0, 2, 2)), {}, r"for each group, .* got shape \(4, 0, 2, 2\)"),
        (np.ones((2, 2, 2)), {"positive": 2}, "^positive: expected the index of a class, from 0 to 1"),
    ],
)
def test_what_is_refused(function: Any, cm: Any, options: Any, message: str) -> None:
    with pytest.raises(ValueError, match=message):
        function(cm, **options)


@pytest.mark.parametrize("function", FUNCTIONS)
def test_the_positive_class(function: Any) -> None:
    """Class 1 if nothing is said; an index, or a name where there are names."""
    cm = np.asarray([[[30, 10], [6, 54]], [[40, 40], [10, 30]]])
    assert flat(function(cm)) == flat(function(cm, positive=1))
    names = ["ok", "fraud"]
    assert flat(function(cm, positive="ok", class_names=names)) == flat(function(cm, positive=0))
    assert flat(function(cm, positive=0)) == flat(function(cm[:, ::-1, ::-1]))
    assert flat(function(cm, positive=0)) != flat(function(cm))
    with pytest.raises(ValueError, match=r"^positive: expected one of the classes 'ok', 'fraud', got 'no'"):
        function(cm, positive="no", class_names=names)


def test_more_classes_one_against_the_rest() -> None:
    """As the message says it."""
    cm = RANDOM.integers(1, 9, (4, 5, 3, 3))
    found = matrics.fairness.equal_opportunity(np.moveaxis(matrics.transform.one_vs_rest(cm), -4, -3))
    recalls = np.diagonal(cm, axis1=-2, axis2=-1) / cm.sum(-1)
    np.testing.assert_allclose(found.difference, recalls.max(1) - recalls.min(1), rtol=1e-12)


@pytest.mark.exhaustive
def test_torch(torch: Any) -> None:
    """In one graph, mapped, without a look at values, and as a penalty with a finite gradient."""
    cm = torch.from_numpy(RANDOM.integers(0, 5, (6, 3, 2, 2)))
    cm[0, :, 1] = 0

    def run(cm: Any) -> list[Any]:
        scores = matrics.score(cm, "f1:binary")["f1:binary"]
        return [
            leaf
            for found in (*(function(cm) for function in FUNCTIONS), matrics.fairness.disparity(scores))
            for leaf in flat(found)
        ]

    odds = torch.compile(matrics.fairness.equalized_odds, fullgraph=True, backend="aot_eager")(cm)
    for a, b in zip(flat(odds), flat(matrics.fairness.equalized_odds(cm)), strict=True):
        torch.testing.assert_close(a, b, equal_nan=True)
    for a, b in zip(run(cm), torch.func.vmap(run)(cm), strict=True):
        torch.testing.assert_close(a, b, equal_nan=True)
    assert {tuple(leaf.shape) for leaf in run(cm.to("meta"))} == {(6,)}
    soft = (cm[:, :2].double()).requires_grad_()
    penalty = sum(leaf.nan_to_num(0.0).sum() for leaf in run(soft))
    penalty.backward()
    assert soft.grad.isfinite().all()
    assert soft.grad[1:].abs().sum() > 0
    values = torch.tensor([[0.25, 0.75, 0.5], [0.5, 0.125, 1.0]], dtype=torch.float64, requires_grad=True)
    assert torch.autograd.gradcheck(matrics.fairness.disparity, (values,))


def test_jax(jax_backend: Any) -> None:
    """A mapped result is a tuple of the same kind, and gradients are finite where groups are undefined."""
    import jax

    cm = jax_backend.asarray(RANDOM.integers(1, 5, (6, 3, 2, 2)), np.float32).at[0, 1, 1].set(0)
    mapped = jax.jit(jax.vmap(matrics.fairness.equalized_odds))(cm)
    assert isinstance(mapped, EqualizedOdds)
    for a, b in zip(flat(mapped), flat(jax_backend.call(matrics.fairness.equalized_odds, cm)), strict=True):
        np.testing.assert_allclose(a, b, rtol=1e-5)
    gradient = jax.jit(jax.grad(lambda cm: sum(matrics.fairness.equalized_odds(cm)[:2]).sum()))(cm)
    assert np.isfinite(gradient).all()
    assert not np.asarray(gradient)[0, 1, 1].any()


# Fairlearn ------------------------------------------------------------------------------------------------------------


def recall_or_nan(y_true: Any, y_pred: Any, sample_weight: Any) -> float:
    """Without a value for a group that has no positive samples."""
    positive = y_true == 1
    return np.average(y_pred[positive], weights=sample_weight[positive]) if positive.any() else NAN


@pytest.mark.exhaustive
@pytest.mark.skipif(
    os.environ.get("MATRICS_BACKEND", "all") != "all",
    reason="brings pandas and SciPy, which one backend alone is without",
)
@pytest.mark.parametrize("cases", [40, pytest.param(1000, marks=pytest.mark.exhaustive)])
def test_fairlearn(cases: int) -> None:
    """Its MetricFrame of many random cases, each a level of a control feature; it counts undefined rates as 0."""
    from fairlearn import metrics as peer

    num_groups, size = 3, 20
    y_true, y_pred = (RANDOM.random((2, cases, size)) < RANDOM.random((2, cases, 1))).astype(int)
    groups = RANDOM.integers(0, num_groups, (cases, size))
    groups[:, :num_groups] = range(num_groups)  # it has no value for a group without samples
    weight = RANDOM.integers(1, 5, (cases, size)) / 2
    functions = {
        "selection": peer.selection_rate,
        "tpr": peer.true_positive_rate,
        "fpr": peer.false_positive_rate,
        "recall": recall_or_nan,
    }
    frame = peer.MetricFrame(
        metrics=functions,
        y_true=y_true.ravel(),
        y_pred=y_pred.ravel(),
        sensitive_features=groups.ravel(),
        control_features=np.repeat(np.arange(cases), size),
        sample_params={name: {"sample_weight": weight.ravel()} for name in functions},
    )
    options = {"num_classes": 2, "num_groups": num_groups}
    cm = matrics.confusion_matrix(y_true, y_pred, groups=groups, sample_weight=weight, **options)
    odds = matrics.fairness.equalized_odds(cm, zero_division=0)
    found = {
        "selection": matrics.fairness.demographic_parity(cm),
        "tpr": matrics.fairness.equal_opportunity(cm, zero_division=0),
        "fpr": odds.false_positive_rate,
        "recall": matrics.fairness.equal_opportunity(cm),
    }
    assert np.isnan(matrics.recall(cm, average="binary")).any()
    theirs = [frame.group_min(), frame.group_max(), frame.difference(), frame.ratio()]
    for name, ours in found.items():
        is_alone = np.asarray(ours.undefined) == num_groups - 1  # where Fairlearn has a difference of 0
        assert name != "recall" or is_alone.any()
        for k, (field, one) in enumerate(zip(ours[:4], theirs, strict=True)):
            expected = np.where(is_alone & (k > 1), NAN, one[name].to_numpy(float))
            np.testing.assert_allclose(field, expected, rtol=1e-12, atol=1e-15)
    np.testing.assert_array_equal(found["tpr"].ratio, odds.true_positive_rate.ratio)
    for case in range(5):
        given = {"sensitive_features": groups[case], "sample_weight": weight[case]}
        difference = peer.equalized_odds_difference(y_true[case], y_pred[case], **given)
        np.testing.assert_allclose(odds.difference[case], difference, rtol=1e-12)
        ratio = peer.equalized_odds_ratio(y_true[case], y_pred[case], **given)
        if not np.isnan(odds.ratio[case]):  # its minimum with a NaN depends on the order of the two
            np.testing.assert_allclose(odds.ratio[case], ratio, rtol=1e-12)


def test_an_axis_of_numpy() -> None:
    assert matrics.fairness.disparity([[0.5, 1.0], [1.0, 1.0]], axis=np.int64(1)).ratio.tolist() == [0.5, 1.0]  # type: ignore[arg-type]
