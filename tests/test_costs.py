"""cost: with exact fractions and the variance of a mean, on every road and at every door."""

from __future__ import annotations

import pickle
from fractions import Fraction
from typing import Any

import numpy as np
import pytest

import matrics

RANDOM = np.random.default_rng(17)


def mean_cost(cm: Any, costs: Any, **options: Any) -> Any:
    return matrics.metrics.cost(costs)(cm, **options)


def by_fractions(cm: np.ndarray, costs: np.ndarray) -> float:
    total = Fraction(int(cm.sum()))
    return float(
        sum(Fraction(int(c)) * Fraction(float(cost)) for c, cost in zip(cm.flat, costs.flat, strict=True)) / total
    )


@pytest.mark.sampled(2)
@pytest.mark.parametrize("n", [1, 2, 5, 60])
def test_beside_fractions(backend: Any, n: int) -> None:
    stack = RANDOM.integers(0, 50, (7, n, n)) + 1
    costs = RANDOM.normal(size=(n, n)).astype(np.float32) + 2  # some are gains
    wanted = [by_fractions(cm, costs) for cm in stack]
    for form in (costs, costs.tolist()):
        found = mean_cost(backend.asarray(stack), form)
        np.testing.assert_allclose(backend.numpy(found), wanted, **backend.tolerance)
    found = mean_cost(backend.asarray(stack, np.float32), backend.asarray(costs))
    np.testing.assert_allclose(backend.numpy(found), wanted, rtol=3e-5)
    for k, cm in enumerate(stack[:2]):
        assert float(mean_cost(cm, costs)) == pytest.approx(wanted[k], rel=1e-12)


def test_errors_that_all_cost_one(backend: Any) -> None:
    cm = backend.asarray(RANDOM.integers(0, 9, (4, 3, 3)), np.float32)
    wanted = 1 - backend.numpy(matrics.accuracy(cm))
    np.testing.assert_allclose(backend.numpy(mean_cost(cm, 1 - np.eye(3))), wanted, rtol=1e-6)


def test_empty_and_invalid_matrices(backend: Any) -> None:
    stack = np.asarray([[[0, 0], [0, 0]], [[1, 2], [3, 4]], [[-1, 2], [0, 0]], [[np.nan, 1], [1, 1]]])
    costs = [[0, 1], [5, -1]]
    found = backend.numpy(mean_cost(backend.asarray(stack), costs, invalid="nan"))
    np.testing.assert_allclose(found, [np.nan, 1.3, np.nan, np.nan], rtol=1e-6)
    found = backend.numpy(mean_cost(backend.asarray(stack), costs, zero_division=7, invalid="nan"))
    np.testing.assert_allclose(found, [7, 1.3, np.nan, np.nan], rtol=1e-6)
    with pytest.raises(matrics.InvalidConfusionMatrix, match="2 of 4 confusion matrices are invalid"):
        mean_cost(backend.asarray(stack), costs, invalid="raise")


@pytest.mark.parametrize(
    ("costs", "error", "message"),
    [
        ([[0, 1]], ValueError, "as many columns as rows, got 1 rows of 2"),
        (np.ones((3, 2, 2)), ValueError, "an .* matrix of costs such as"),
        (np.ones((3, 3)), ValueError, r"costs: expected a matrix \(2, 2\) for 2 classes, got \(3, 3\)"),
        ([[0, np.inf], [1, 0]], ValueError, r"matrix of costs, finite, got inf at \[0, 1\]"),
        ([["a", "b"], ["c", "d"]], ValueError, "matrix of costs such as"),
        (None, TypeError, "costs: expected an array of numbers, got None"),
    ],
)
def test_errors_say_what_was_expected(costs: Any, error: type, message: str) -> None:
    with pytest.raises(error, match=message):
        mean_cost([[1, 2], [3, 4]], costs)


def test_without_costs_the_message_says_how_to_give_them() -> None:
    for name in ("expected_cost", "mean_cost"):
        with pytest.raises(
            ValueError, match=r"expected costs, .*: use matrics.metrics.cost\(\[\[0, 1\], \[50, 0\]\]\)"
        ):
            matrics.score([[1, 2], [3, 4]], name)
    with pytest.raises(TypeError, match=r"got the function cost: as a measure it is matrics.metrics.cost\(costs\)"):
        matrics.score([[1, 2], [3, 4]], [matrics.metrics.cost])
    with pytest.raises(AttributeError, match=r"the measure is matrics.metrics.cost\(costs\)"):
        _ = matrics.expected_cost
    with pytest.raises(TypeError, match=r"got the function mean: .* called directly: mean\(\.\.\.\)"):
        matrics.score([[1, 2], [3, 4]], np.mean)


def test_in_threads() -> None:
    stack, costs = RANDOM.random((5000, 3, 3)), RANDOM.random((3, 3))
    metric = matrics.metrics.cost(costs)
    (found,) = matrics.score(stack, metric, workers=2).values()
    np.testing.assert_array_equal(found, metric(stack))


@pytest.mark.exhaustive
def test_under_jit_and_vmap(jax_backend: Any) -> None:
    import jax

    stack, costs = RANDOM.random((4, 5, 5)) + 0.1, RANDOM.random((5, 5))
    cells, prices = (jax_backend.asarray(x, np.float32) for x in (stack, costs))
    wanted = (stack * costs).sum((1, 2)) / stack.sum((1, 2))
    np.testing.assert_allclose(jax.jit(mean_cost)(cells, prices), wanted, rtol=1e-5)
    mapped = jax.jit(jax.vmap(mean_cost, (0, None)))
    np.testing.assert_allclose(mapped(cells, prices), wanted, rtol=1e-5)
    slopes = jax.jit(jax.grad(lambda cm: mean_cost(cm, costs).sum()))(cells)
    slope = (costs - wanted[:, None, None]) / stack.sum((1, 2))[:, None, None]
    np.testing.assert_allclose(slopes, slope, rtol=1e-4, atol=1e-6)
    np.testing.assert_allclose(mean_cost(stack, prices), wanted, rtol=1e-5)  # numbers that are known


@pytest.mark.exhaustive
def test_costs_that_jax_traces(jax_backend: Any) -> None:
    """Also where the matrices are not traced; the slope in a cost is the share of its cell."""
    import jax

    stack, costs = RANDOM.random((4, 5, 5)) + 0.1, RANDOM.random((5, 5))
    cells, prices = (jax_backend.asarray(x, np.float32) for x in (stack, costs))
    shares = stack / stack.sum((1, 2), keepdims=True)
    for wrapped in (jax.grad, lambda function: jax.jit(jax.grad(function))):
        slopes = wrapped(lambda prices: mean_cost(cells, prices).sum())(prices)
        np.testing.assert_allclose(slopes, shares.sum(0), rtol=1e-4)
    found = jax.vmap(lambda prices: mean_cost(cells, prices))(prices[None])
    np.testing.assert_allclose(found[0], (shares * costs).sum((1, 2)), rtol=1e-5)
    order, names = [2, 0, 1, 4, 3], list("abcde")

    def score(prices: Any) -> Any:
        price = matrics.metrics.cost(prices, class_names=[names[k] for k in order])
        found = matrics.score(cells, [price, "accuracy"], class_names=names)
        assert list(found) == ["expected_cost(costs=<array (5, 5)>)", "accuracy"]
        assert [key.metric_ for key in found] == [None, matrics.get_metric("accuracy")]  # JAX keeps the keys
        return found["expected_cost(costs=<array (5, 5)>)"]

    back = np.argsort(order)
    np.testing.assert_allclose(jax.jit(score)(prices), (shares * costs[np.ix_(back, back)]).sum((1, 2)), rtol=1e-5)
    for call, message in (
        (lambda prices: mean_cost(stack, prices), "a matrix cm of the same library as the costs"),
        (
            lambda prices: matrics.interval(stack, matrics.metrics.cost(prices)),
            "a matrix cm of the same library as the costs",
        ),
        (
            lambda prices: matrics.score(cells, [matrics.metrics.cost(prices), matrics.metrics.cost(2 * prices)]),
            "measure of each name",
        ),
    ):
        with pytest.raises((TypeError, ValueError), match=message):
            jax.jit(call)(prices)
    with pytest.raises(ValueError, match=r"as many columns as rows, got shape \(5,\)"):
        jax.jit(lambda row: mean_cost(cells, row))(prices[0])


@pytest.mark.exhaustive
def test_in_pytorch(torch: Any) -> None:
    from torch._subclasses import FakeTensorMode

    stack, costs = RANDOM.random((4, 7, 7)) + 0.1, RANDOM.random((7, 7))
    wanted = (stack * costs).sum((1, 2)) / stack.sum((1, 2))
    cells, prices = map(torch.from_numpy, (stack, costs))
    compiled = torch.compile(mean_cost, fullgraph=True, backend="aot_eager")
    rows = costs.tolist()
    with torch.autocast("cpu", dtype=torch.bfloat16):
        listed = torch.compile(lambda cm: mean_cost(cm, rows), fullgraph=True, backend="aot_eager")
        torch.testing.assert_close(listed(cells), torch.from_numpy(wanted))
        for found in (compiled(cells, prices), torch.func.vmap(lambda cm: mean_cost(cm, prices))(cells)):
            torch.testing.assert_close(found, torch.from_numpy(wanted))
    assert torch.autograd.gradcheck(mean_cost, (cells, prices.clone().requires_grad_()))
    assert torch.autograd.gradcheck(lambda cm: mean_cost(cm, costs), (cells.requires_grad_(),))
    with torch.no_grad():  # numbers that are known
        assert matrics.metrics.cost(prices.clone().requires_grad_()) == matrics.metrics.cost(costs)
    with FakeTensorMode():
        assert mean_cost(torch.ones(2, 3, 3), torch.ones(3, 3)).shape == (2,)


# As a measure -------------------------------------------------------------------------------------------------------

COSTS = [[0, 1, 4], [2, 0, 1], [50, 7.5, -3]]
NAMED = matrics.metrics.cost(COSTS, class_names=["a", "b", "c"])
STACK = RANDOM.integers(1, 60, (4, 3, 3))


def test_the_measure_beside_fractions(backend: Any) -> None:
    wanted = [by_fractions(cm, np.asarray(COSTS)) for cm in STACK]
    for metric in (matrics.metrics.cost(COSTS), NAMED, "expected_cost(costs=[[0,1,4],[2,0,1],[50,7.5,-3]])"):
        (found,) = matrics.score(backend.asarray(STACK), [metric]).values()
        np.testing.assert_allclose(backend.numpy(found), wanted, **backend.tolerance)


def test_costs_are_of_the_classes_that_they_name() -> None:
    pd = pytest.importorskip("pandas")
    wanted, order, names = float(NAMED(STACK[0])), [2, 0, 1], ["c", "a", "b"]
    turned = STACK[0][np.ix_(order, order)]
    frame = pd.DataFrame(turned, index=names, columns=names)
    for scores in (matrics.score(turned, NAMED, class_names=names), matrics.score(frame, NAMED)):
        assert scores == {str(NAMED): pytest.approx(wanted)}
    assert NAMED(frame) == pytest.approx(wanted)
    assert matrics.metrics.cost(pd.DataFrame(COSTS, index=list("abc"), columns=list("abc"))) == NAMED
    assert matrics.metrics.cost(COSTS)(frame) == pytest.approx(by_fractions(turned, np.asarray(COSTS)))  # by index


@pytest.mark.parametrize(
    ("names", "message"),
    [
        (["a", "x", "y"], "missing: 'x', 'y'; unknown: 'b', 'c'"),
        (["a", "b", "c", "d"], "missing: 'd'"),
        (["a", "b"], "unknown: 'c'"),
        (None, r"costs: expected a matrix \(2, 2\) for 2 classes, got \(3, 3\)"),
    ],
)
def test_costs_of_other_classes_are_refused(names: list[str] | None, message: str) -> None:
    with pytest.raises(ValueError, match=message):
        matrics.score(np.ones((len(names or "ab"),) * 2), NAMED, class_names=names)


@pytest.mark.parametrize(
    ("costs", "names", "error", "message"),
    [
        ([[0, 1]], None, ValueError, "as many columns as rows, got 1 rows of 2"),
        ([[0, np.nan], [1, 0]], None, ValueError, r"matrix of costs, finite, got nan at \[0, 1\]"),
        ("free", None, ValueError, r"matrix of costs such as \[\[0, 1\], \[50, 0\]\], got 'free'"),
        ({"a": {"a": 1}}, None, ValueError, "matrix of costs such as"),
        ([[0, 1], [1, 0]], ["a"], ValueError, "class_names: expected 2 different names"),
        ({"a": [0, 1], "b": [1, 0]}, ["a", "b"], TypeError, "with costs that name their classes"),
    ],
)
def test_what_are_no_costs_is_refused(costs: Any, names: Any, error: type, message: str) -> None:
    with pytest.raises(error, match=message):
        matrics.metrics.cost(costs, class_names=names)


def test_a_cost_is_a_value() -> None:
    """Equal by its numbers and names, whatever they came as; hashed, pickled and read back from its text."""
    odd = matrics.metrics.cost([[0, 1], [2, 0]], class_names=["it's, [x)", "b=c"])
    for metric in (NAMED, matrics.metrics.cost(np.asarray(COSTS)), odd):
        for other in (pickle.loads(pickle.dumps(metric)), matrics.get_metric(str(metric))):
            assert (other, hash(other), other.range) == (metric, hash(metric), metric.range)
    assert NAMED.range == (-3, 50)
    assert matrics.metrics.cost(COSTS) == matrics.metrics.cost(np.asarray(COSTS)) != NAMED
    assert str(odd) == """expected_cost(costs=["it's, [x)"=[0,1],'b=c'=[2,0]])"""
    assert "expected_cost" not in matrics.list_metrics()


def test_limits_by_the_variance_of_the_mean() -> None:
    """Σ p c² less the square of the mean, over the number of samples; paired, that of the differences."""
    p, costs = STACK / STACK.sum((1, 2), keepdims=True), np.asarray(COSTS)
    mean = (p * costs).sum((1, 2))
    error = np.sqrt(((p * costs**2).sum((1, 2)) - mean**2) / STACK.sum((1, 2)))
    found = matrics.interval(STACK, NAMED, method="delta")[str(NAMED)]
    np.testing.assert_allclose(found.estimate, mean)
    np.testing.assert_allclose(found.standard_error, error, rtol=1e-6)
    joint = RANDOM.integers(1, 30, (3, 3, 3))  # true, a, b
    gap = costs[:, :, None] - costs[:, None, :]
    p = joint / joint.sum()
    wanted = np.sqrt(((p * gap**2).sum() - (p * gap).sum() ** 2) / joint.sum())
    paired = matrics.compare_paired(joint, NAMED, method="delta")[str(NAMED)]
    assert paired.difference == pytest.approx((p * gap).sum())
    assert paired.standard_error == pytest.approx(wanted, rel=1e-6)


def test_the_limits_of_errors_that_cost_one_are_those_of_accuracy() -> None:
    cost, accuracy = matrics.interval(STACK, [matrics.metrics.cost(1 - np.eye(3)), "accuracy"], method="delta").values()
    np.testing.assert_allclose([cost.low, cost.high], [1 - accuracy.high, 1 - accuracy.low], rtol=1e-9)


def test_what_costs_the_same_everywhere_does_not_vary() -> None:
    """To the last digit, though shares add up to 1 only nearly."""
    found = matrics.interval(STACK, matrics.metrics.cost(np.full((3, 3), 3.3)))
    for name, interval in found.items():
        assert name.startswith("expected_cost(costs=[[3.3")
        np.testing.assert_array_equal(interval.estimate, 3.3)
        np.testing.assert_array_equal(interval.standard_error, 0)
        np.testing.assert_array_equal(interval.low, np.nan)


def test_the_threshold_of_the_lowest_cost() -> None:
    y_true, y_score = RANDOM.integers(0, 2, 80), RANDOM.random(80).round(2)
    costs = np.asarray([[0, 1], [4, -0.5]])
    each = {t: costs[y_true, (y_score >= t).astype(int)].mean() for t in [*np.unique(y_score), np.inf]}
    found = matrics.ranking.best_threshold(y_true, y_score, matrics.metrics.cost(costs))
    assert (found.value, each[float(found.threshold)]) == (pytest.approx(min(each.values())),) * 2
    labels = np.where(y_true == 1, "ill", "well")
    named = matrics.metrics.cost(costs[::-1, ::-1], class_names=["ill", "well"])
    assert matrics.ranking.best_threshold(labels, y_score, named, positive="ill") == found


def test_other_doors() -> None:
    a, b = STACK[:2]
    metric = matrics.metrics.cost(COSTS)
    found = matrics.compare(a, b, metric)[str(metric)]
    assert found.difference == pytest.approx(float(metric(a) - metric(b)))
    assert matrics.stats.samples_needed(a, metric, half_width=0.5) > 1
    truth = RANDOM.integers(0, 3, 200)
    models = [np.where(RANDOM.random(200) < rate, truth, 2) for rate in (0.9, 0.5)]
    compared = matrics.compare_models(truth, models, NAMED, num_classes=3, class_names=["a", "b", "c"], rng=0)
    assert compared[str(NAMED)].tied.tolist() == [True, False]
    with pytest.raises(ValueError, match=r"any number of classes, .* got 'expected_cost' with numbers for each class"):
        matrics.study.certificate(metric)
    margins = matrics.MarginState.zeros(200).update([0], [0])
    with pytest.raises(ValueError, match="needs all cells of the matrix"):
        margins.score(matrics.cohen_kappa.using(costs=1 - np.eye(200)))


def test_jit_with_the_measure_as_a_static_argument(jax_backend: Any) -> None:
    import jax

    cells = jax_backend.asarray(STACK, np.float32)
    wanted = [by_fractions(cm, np.asarray(COSTS)) for cm in STACK]

    # A function of its own: jit shares what it has compiled for the same one, also in 32 bits.
    def own(cells: Any, metrics: Any) -> Any:
        return matrics.score(cells, metrics)

    score = jax.jit(own, static_argnames="metrics")
    np.testing.assert_allclose(
        score(cells, metrics=matrics.metrics.cost(COSTS))[str(matrics.metrics.cost(COSTS))], wanted, rtol=1e-5
    )
    score(cells, metrics=matrics.metrics.cost(np.asarray(COSTS)))
    assert score._cache_size() == 1
    np.testing.assert_allclose(jax.jit(jax.vmap(NAMED))(cells), wanted, rtol=1e-5)
    slopes = jax.jit(jax.grad(NAMED))(cells[0])
    np.testing.assert_allclose(slopes, (np.asarray(COSTS) - wanted[0]) / STACK[0].sum(), rtol=1e-4, atol=1e-5)


@pytest.mark.exhaustive
def test_in_a_training_loop(torch: Any) -> None:
    from matrics.torch import ConfusionMetric

    metric = ConfusionMetric(3, [NAMED, "recall(class_weights=[b=1,a=1,c=2])"], class_names=["b", "c", "a"])
    true, pred = torch.tensor([0, 0, 1, 2]), torch.tensor([0, 1, 2, 2])
    metric.update(true, pred)
    values = metric.compute()
    assert float(values[str(NAMED)]) == pytest.approx((0 + 1 + 50 + 0) / 4)  # b as c: 1; c as a: 50
    assert float(values["recall(class_weights=[b=1,a=1,c=2])"]) == pytest.approx((0.5 + 1) / 4)
    with pytest.raises(ValueError, match="missing: 'd'"):
        ConfusionMetric(4, [NAMED], class_names=["a", "b", "c", "d"])
    cells = torch.tensor(STACK, dtype=torch.float64)
    compiled = torch.compile(lambda cm: matrics.score(cm, [NAMED]), fullgraph=True, backend="aot_eager")
    torch.testing.assert_close(compiled(cells)[str(NAMED)], NAMED(cells))
