"""Class weights of averages: with scikit-learn, averages of the classes, and limits by the closed form."""

from __future__ import annotations

import pickle
from typing import Any

import numpy as np
import pytest

import matrics

RANDOM = np.random.default_rng(53)
STACK = RANDOM.integers(1, 40, (5, 3, 3))
WEIGHTS = [2, 0, 3.5]
PER_CLASS = [name for name in matrics.list_metrics() if matrics.get_metric(name).kind == "per_class"]


def test_beside_averages_of_the_classes(backend: Any) -> None:
    stack = backend.asarray(STACK, np.float64)
    for name in ("recall", "precision", "f1", "fbeta(beta=2)"):
        values = matrics.get_metric(name).using(average="class")(STACK)
        metric = matrics.get_metric(name).using(class_weights=WEIGHTS)
        found = backend.numpy(metric(stack))
        np.testing.assert_allclose(found, np.average(values, axis=-1, weights=WEIGHTS), **backend.tolerance)


def test_beside_scikit_learn() -> None:
    metrics = pytest.importorskip("sklearn.metrics")
    truth, pred = RANDOM.integers(0, 3, (2, 300))
    cm = matrics.confusion_matrix(truth, pred, num_classes=3)
    for name in ("recall", "precision", "f1"):
        each = getattr(metrics, f"{name}_score")(truth, pred, average=None)
        found = getattr(matrics.metrics, name)(cm, average="weighted", class_weights=np.asarray(WEIGHTS))
        assert found == pytest.approx(np.average(each, weights=WEIGHTS))


@pytest.mark.sampled(14)
@pytest.mark.parametrize("name", PER_CLASS)
def test_equal_weights_are_macro_and_sizes_are_weighted(name: str) -> None:
    metric, sizes = matrics.get_metric(name), STACK[0].sum(axis=1)
    for weights, average in (([7, 7, 7], "macro"), (sizes, "weighted")):
        found = metric.using(class_weights=weights)(STACK[0])
        np.testing.assert_allclose(found, metric.using(average=average)(STACK[0]), rtol=1e-12)
    assert "class_weights : array_like" in metric.__doc__


def test_undefined_classes_are_left_out_unless_they_count() -> None:
    cm = [[3, 1, 0], [0, 0, 0], [2, 0, 2]]  # recalls 3/4, undefined and 1/2
    assert matrics.recall(cm, class_weights=[1, 5, 3]) == (1 * 0.75 + 3 * 0.5) / 4
    assert matrics.recall(cm, class_weights=[1, 4, 3], zero_division=1) == (1 * 0.75 + 4 + 3 * 0.5) / 8
    assert np.isnan(matrics.recall(cm, class_weights=[0, 1, 0]))
    assert np.isnan(matrics.recall(np.zeros((3, 3)), class_weights=[1, 5, 3]))
    odds = matrics.score([[3, 0], [1, 2]], "diagnostic_odds_ratio(class_weights=[1,1])")
    assert list(odds.values()) == [np.inf]


def test_only_ratios_of_weights_matter() -> None:
    wanted = matrics.recall(STACK, class_weights=[0.2, 0.3, 0.5])
    for factor in (10, 1e308, 1e-300):
        weights = (np.asarray([0.2, 0.3, 0.5]) * factor).tolist()
        np.testing.assert_allclose(matrics.recall(STACK, class_weights=weights), wanted, rtol=1e-12)


def test_by_class_name() -> None:
    names = ["cat", "dog", "owl"]
    metric = matrics.recall.using(class_weights={"owl": 3.5, "cat": 2, "dog": 0})
    (found,) = matrics.score(STACK, metric, class_names=names).values()
    np.testing.assert_allclose(found, matrics.recall(STACK, class_weights=WEIGHTS))
    (found,) = matrics.score(STACK, "recall(class_weights=[owl=3.5,cat=2,dog=0])", class_names=names).values()
    np.testing.assert_allclose(found, matrics.recall(STACK, class_weights=WEIGHTS))
    np.testing.assert_allclose(
        matrics.recall(STACK, class_weights={2: 3.5, 0: 2, 1: 0}), matrics.recall(STACK, class_weights=WEIGHTS)
    )
    pd = pytest.importorskip("pandas")
    frame = pd.DataFrame(STACK[0], index=names, columns=names)
    assert metric(frame) == matrics.recall(STACK[0], class_weights=WEIGHTS)


def test_of_some_classes() -> None:
    each = matrics.recall(STACK[0], average="class")
    (found,) = matrics.score(STACK[0], "recall(class_weights=[1,2,3]):weighted[0,2]").values()
    assert found == pytest.approx((each[0] + 3 * each[2]) / 4)


def test_as_text_and_title() -> None:
    metric = matrics.metrics.fbeta.using(beta=2, class_weights=[0.2, 0.3, 0.5])
    assert str(metric) == "fbeta(beta=2,class_weights=[0.2,0.3,0.5]):weighted"
    assert matrics.get_metric("fbeta(class_weights=[.2,.3,.5],beta=2)") == metric
    assert pickle.loads(pickle.dumps(metric)) == metric != metric.using(class_weights=[1, 1, 1])
    assert metric.title() == "fbeta(beta=2), weighted by class_weights=[0.2,0.3,0.5]"
    assert metric.using(average="macro") == matrics.metrics.fbeta.using(beta=2, average="macro")
    assert metric.using(average="weighted") == metric
    odd = matrics.recall.using(class_weights={"a)b": 2, "c, d": 1})
    assert matrics.get_metric(str(odd)) == odd


@pytest.mark.parametrize(
    ("options", "error", "message"),
    [
        ({"class_weights": [1, -1, 2]}, ValueError, r"from 0 on and not all 0, got \[1, -1, 2\]"),
        ({"class_weights": [1, np.nan, 2]}, ValueError, r"from 0 on and not all 0, got \[1, nan, 2\]"),
        ({"class_weights": [1, np.inf, 2]}, ValueError, "from 0 on and not all 0"),
        ({"class_weights": [0, 0, 0]}, ValueError, "from 0 on and not all 0"),
        ({"class_weights": "heavy"}, ValueError, r"such as \[1, 3\] or \{'cat': 1, 'dog': 3\}, got 'heavy'"),
        ({"class_weights": 3.0}, ValueError, "such as"),
        ({"class_weights": np.eye(3)}, ValueError, "such as"),
        ({"class_weights": [1, 2]}, ValueError, "class_weights: expected 3 numbers, as many as classes, got 2"),
        ({"class_weights": {"cat": 1, "dog": 2}}, ValueError, "these classes have no names, got 'cat'"),
        ({"class_weights": {0: 1, 1: 2}}, ValueError, "missing: 2"),
        ({"class_weights": [1, 2, 3], "average": "macro"}, ValueError, "for average='weighted', .* got .* 'macro'"),
        ({"class_weights": [1, 2, 3], "positive": 1}, ValueError, "positive=1 is for average='binary'"),
    ],
)
def test_errors_say_what_was_expected(options: dict[str, Any], error: type, message: str) -> None:
    with pytest.raises(error, match=message):
        matrics.recall(STACK, **options)


def test_overall_measures_have_no_class_weights() -> None:
    with pytest.raises(TypeError, match="mcc is an overall measure and not a mean over classes"):
        matrics.mcc(STACK, class_weights=[1, 2, 3])
    with pytest.raises(
        TypeError, match="fbeta has no option 'weight'; its options: beta, average, positive, class_weights"
    ):
        matrics.metrics.fbeta.using(weight=[1, 2])


def test_limits_by_the_closed_form() -> None:
    """The classes' recalls are independent: Σ w² r (1 - r) / t."""
    sizes = STACK.sum(axis=2)
    share = np.asarray(WEIGHTS) / np.sum(WEIGHTS)
    rates = np.diagonal(STACK, axis1=1, axis2=2) / sizes
    error = np.sqrt((share**2 * rates * (1 - rates) / sizes).sum(axis=1))
    metric = matrics.recall.using(class_weights=WEIGHTS)
    for scheme in ("multinomial", "rows"):
        found = matrics.interval(STACK, metric, method="delta", scheme=scheme)[str(metric)]
        np.testing.assert_allclose(found.standard_error, error, rtol=1e-6)


def test_of_margins_alone() -> None:
    state = matrics.MarginState.zeros(200).update(np.arange(200), np.arange(200) // 2)
    weights = np.arange(200)
    (found,) = state.score(matrics.recall.using(class_weights=weights)).values()
    assert found == 0  # class 0 alone is found, and has no weight


@pytest.mark.exhaustive
def test_compiled(torch: Any) -> None:
    cells = torch.tensor(STACK, dtype=torch.float64)
    wanted = matrics.recall(cells, class_weights=WEIGHTS)
    compiled = torch.compile(
        lambda cm: matrics.recall(cm, average="weighted", class_weights=WEIGHTS), fullgraph=True, backend="aot_eager"
    )
    torch.testing.assert_close(compiled(cells), wanted)
    assert torch.autograd.gradcheck(matrics.recall.using(class_weights=WEIGHTS), (cells.requires_grad_(),))


@pytest.mark.exhaustive
def test_under_jit_and_vmap(jax_backend: Any) -> None:
    import jax

    cells, metric = jax_backend.asarray(STACK, np.float32), matrics.recall.using(class_weights=WEIGHTS)
    wanted = metric(STACK)
    for function in (jax.jit(metric), jax.vmap(metric), jax.jit(jax.vmap(metric))):
        np.testing.assert_allclose(function(cells), wanted, rtol=1e-5)
