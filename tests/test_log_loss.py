"""The logarithmic loss: scikit-learn, SciPy and PyTorch as referees, of values and of gradients."""

from __future__ import annotations

import functools
import math
from typing import Any

import numpy as np
import pytest

import matrics

sklearn = pytest.importorskip("sklearn")
pytest.importorskip("sklearn.metrics")
scipy = pytest.importorskip("scipy")
pytest.importorskip("scipy.special")

RANDOM = np.random.default_rng(0)
EXTREME = np.asarray([-1000.0, -800, -88, -17, -1e-9, 0, 0, 1e-300, 0.3, 5, 40, 745, 999.5, 1000])


@pytest.fixture
def many(request: pytest.FixtureRequest) -> int:
    """Of 1,000 cases in the exhaustive run, the default one takes some: scikit-learn takes a millisecond for each."""
    return 1000 if request.config.option.exhaustive else 200


@pytest.mark.exhaustive
def test_of_class_1_as_scikit_learn(many: int) -> None:
    """With weights, zeros among them."""
    y_prob, y_true = RANDOM.uniform(0.001, 0.999, (many, 30)), RANDOM.integers(0, 2, (many, 30))
    weights = RANDOM.integers(0, 4, (many, 30)) / 2
    wanted = [
        sklearn.metrics.log_loss(y, p, sample_weight=w, labels=[0, 1])
        for y, p, w in zip(y_true, y_prob, weights, strict=True)
    ]
    np.testing.assert_allclose(
        matrics.probabilities.log_loss(y_true, y_prob, sample_weight=weights), wanted, rtol=1e-12
    )
    same = matrics.probabilities.log_loss(y_true, logits=scipy.special.logit(y_prob), sample_weight=weights)
    np.testing.assert_allclose(same, wanted, rtol=1e-12)


@pytest.mark.sampled(2)
@pytest.mark.parametrize("n", [2, 3, 4, 5, 6])
def test_of_classes_as_scikit_learn(n: int, many: int) -> None:
    """A fifth of all cases with each number of classes."""
    shape = (many // 5, 25)
    logits, y_true = RANDOM.normal(size=(*shape, n)) * 2, RANDOM.integers(0, n, shape)
    y_prob, weights = scipy.special.softmax(logits, axis=-1), RANDOM.random(shape)
    wanted = [
        sklearn.metrics.log_loss(y, p, sample_weight=w, labels=range(n))
        for y, p, w in zip(y_true, y_prob, weights, strict=True)
    ]
    np.testing.assert_allclose(
        matrics.probabilities.log_loss(y_true, y_prob, sample_weight=weights), wanted, rtol=1e-12
    )
    found = matrics.probabilities.log_loss(y_true, logits=logits, sample_weight=weights)
    np.testing.assert_allclose(found, wanted, rtol=1e-12)
    soft = np.eye(n)[y_true]
    for scores in ({"y_prob": y_prob}, {"logits": logits}):
        found = matrics.probabilities.log_loss(soft, class_axis=-1, sample_weight=weights, **scores)
        np.testing.assert_allclose(found, wanted, rtol=1e-12)


def slope(y: np.ndarray, z: np.ndarray) -> np.ndarray:
    """The sigmoid less the label, without cancellation."""
    return ((1 - y) * scipy.special.expit(z) - y * scipy.special.expit(-z)) / z.size


@pytest.mark.parametrize("kind", ["integers", "soft"])
def test_extreme_logits_of_class_1_in_torch(torch: Any, kind: str) -> None:
    """To a logit of ±1000 as PyTorch's own, in value and in gradient, also at 0, where parts of it have kinks."""
    z = np.concatenate([EXTREME, EXTREME])
    y = np.repeat([0.0, 1.0], len(EXTREME)) if kind == "integers" else RANDOM.random(len(z))
    ours, theirs = (torch.tensor(z, requires_grad=True) for _ in range(2))
    labels = torch.tensor(y)
    loss = matrics.probabilities.log_loss(labels.long() if kind == "integers" else labels, logits=ours)
    wanted = torch.nn.functional.binary_cross_entropy_with_logits(theirs, labels)
    loss.backward()
    wanted.backward()
    np.testing.assert_allclose(loss.item(), wanted.item(), rtol=1e-14)
    np.testing.assert_allclose(ours.grad, theirs.grad, rtol=1e-12, atol=1e-17)
    np.testing.assert_allclose(ours.grad, slope(y, z), rtol=1e-12, atol=1e-300 if kind == "integers" else 1e-17)


def test_extreme_logits_of_class_1_in_jax(jax_backend: Any) -> None:
    import jax

    z, y = np.concatenate([EXTREME, EXTREME]), np.repeat([0, 1], len(EXTREME))
    labels, logits = jax_backend.asarray(y), jax_backend.asarray(z)
    loss = jax.jit(jax.value_and_grad(lambda z: matrics.probabilities.log_loss(labels, logits=z)))
    value, gradient = loss(logits)
    np.testing.assert_allclose(value, np.mean(np.logaddexp(0, np.where(y, -z, z))), **jax_backend.tolerance)
    np.testing.assert_allclose(gradient, slope(y, z), **jax_backend.tolerance)


def extreme_classes() -> tuple[np.ndarray, np.ndarray]:
    logits = RANDOM.choice(EXTREME, (40, 5))
    logits[:3] = [[1000, -1000, 0, 0, 0], [1000, 1000, 1000, 1000, 1000], [-1000, -1000, -1000, -1000, -1000]]
    return logits, RANDOM.integers(0, 5, 40)


@pytest.mark.parametrize("kind", ["integers", "soft"])
def test_extreme_logits_of_classes_in_torch(torch: Any, kind: str) -> None:
    logits, y = extreme_classes()
    ours, theirs = (torch.tensor(logits, requires_grad=True) for _ in range(2))
    labels = torch.tensor(y if kind == "integers" else RANDOM.dirichlet(np.ones(5), 40))
    loss = matrics.probabilities.log_loss(labels, logits=ours, class_axis=-1)
    wanted = torch.nn.functional.cross_entropy(theirs, labels)
    loss.backward()
    wanted.backward()
    np.testing.assert_allclose(loss.item(), wanted.item(), rtol=1e-14)
    np.testing.assert_allclose(ours.grad, theirs.grad, rtol=1e-12, atol=1e-16)


def test_extreme_logits_of_classes_in_jax(jax_backend: Any) -> None:
    import jax

    logits, y = extreme_classes()
    labels = jax_backend.asarray(y)
    loss = jax.jit(jax.value_and_grad(lambda z: matrics.probabilities.log_loss(labels, logits=z)))
    value, gradient = loss(jax_backend.asarray(logits))
    wanted = np.mean(scipy.special.logsumexp(logits, axis=-1) - logits[np.arange(40), y])
    np.testing.assert_allclose(value, wanted, **jax_backend.tolerance)
    wanted = (scipy.special.softmax(logits, axis=-1) - np.eye(5)[y]) / 40
    np.testing.assert_allclose(gradient, wanted, **jax_backend.tolerance)


def test_small_losses_keep_their_digits() -> None:
    """A loss of exp(-100) is no difference of two numbers near 1."""
    for found in (
        matrics.probabilities.log_loss([1], logits=[100.0]),
        matrics.probabilities.log_loss([0], [math.exp(-100)]),
        matrics.probabilities.log_loss([1.0], logits=[100.0]),
    ):
        assert found == pytest.approx(math.exp(-100), rel=1e-14)


def test_gradients_of_probabilities(torch: Any) -> None:
    """-1 / p of a true class; where p is 0 and the loss is infinite or unaffected, 0 and not NaN."""
    y_prob = torch.tensor([[0.25, 0.75], [0.0, 1.0], [0.0, 1.0]], requires_grad=True)
    losses = matrics.probabilities.log_loss(torch.tensor([[0], [1], [0]]), y_prob[:, None])
    assert losses.tolist() == [pytest.approx(math.log(4)), 0, math.inf]
    losses[:2].sum().backward()
    assert y_prob.grad.tolist() == [[-4, 0], [0, -1], [0, 0]]
    of_1 = torch.tensor([0.25, 0.0, 1.0], requires_grad=True)
    (loss := matrics.probabilities.log_loss(torch.tensor([1, 0, 1]), of_1)).backward()
    assert loss.item() == pytest.approx(math.log(4) / 3)
    np.testing.assert_allclose(of_1.grad, np.asarray([-4, 1, -1]) / 3, rtol=1e-6)


@pytest.mark.sampled(1)
def test_probability_0_of_what_happens(backend: Any) -> None:
    """Infinite, in its own batch element; 0 ln 0 is 0, and so is 0 · ∞ of a soft label and of a weight."""
    y_prob = backend.asarray([[0.0, 0.5], [0.0, 1.0], [1.0, 0.5]])
    loss = backend.numpy(
        backend.call(matrics.probabilities.log_loss, backend.asarray([[0, 1], [0, 1], [0, 1]]), y_prob)
    )
    np.testing.assert_allclose(loss, [math.log(2) / 2, 0, math.inf], rtol=1e-6)
    soft = backend.asarray([[[0.0], [0.5]], [[0.0], [1.0]], [[1.0], [0.5]]])
    loss = backend.call(matrics.probabilities.log_loss, soft, y_prob[..., None])
    np.testing.assert_allclose(backend.numpy(loss).mean(-1), [math.log(2) / 2, 0, math.log(2) / 2], rtol=1e-6)
    weighted = functools.partial(matrics.probabilities.log_loss, sample_weight=backend.asarray([1.0, 0.0]))
    loss = backend.numpy(backend.call(weighted, backend.asarray([1, 0]), backend.asarray([0.5, 1.0])))
    np.testing.assert_allclose(loss, math.log(2), rtol=1e-6)


def test_infinite_logits(backend: Any) -> None:
    """Of class 1 they are the probabilities 0 and 1; of classes that cannot be, -∞ is 0."""
    logits = backend.asarray([[math.inf, -math.inf], [math.inf, -math.inf]])
    loss = backend.numpy(matrics.probabilities.log_loss(backend.asarray([[1, 0], [1, 1]]), logits=logits))
    assert loss.tolist() == [0, math.inf]
    loss = matrics.probabilities.log_loss(backend.asarray([0]), logits=backend.asarray([[1.0, 1.0, -math.inf]]))
    np.testing.assert_allclose(backend.numpy(loss), math.log(2), rtol=1e-6)
    soft = backend.asarray([[0.5, 0.5, 0.0]])
    loss = matrics.probabilities.log_loss(soft, logits=backend.asarray([[1.0, 1.0, -math.inf]]), class_axis=-1)
    np.testing.assert_allclose(backend.numpy(loss), math.log(2), rtol=1e-6)


def test_soft_labels_are_a_mean_of_hard_ones() -> None:
    y_prob, share = RANDOM.random((50, 20)), RANDOM.random((50, 20))
    each = [matrics.probabilities.log_loss(np.full((50, 20, 1), k), y_prob[..., None]) for k in (0, 1)]
    wanted = np.mean(share * each[1] + (1 - share) * each[0], axis=-1)
    np.testing.assert_allclose(
        matrics.probabilities.log_loss(share[..., None], y_prob[..., None]).mean(-1), wanted, rtol=1e-12
    )
    np.testing.assert_allclose(matrics.probabilities.log_loss(share[0], y_prob[0]), wanted[0], rtol=1e-12)
    both, soft = (np.stack([1 - x, x], axis=1) for x in (y_prob, share))
    np.testing.assert_allclose(matrics.probabilities.log_loss(soft, both, class_axis=1), wanted, rtol=1e-9)


def test_soft_labels_have_gradients(torch: Any) -> None:
    labels = torch.tensor([0.0, 0.5, 1.0], requires_grad=True, dtype=torch.float64)
    logits = torch.tensor([2.0, -1.0, 3.0], dtype=torch.float64)
    matrics.probabilities.log_loss(labels, logits=logits).backward()
    np.testing.assert_allclose(labels.grad, -logits / 3, rtol=1e-12)


def test_batches_broadcast() -> None:
    """One truth for many models, as many as there are samples."""
    y_true, y_prob = RANDOM.integers(0, 2, 6), RANDOM.random((6, 6))
    wanted = [matrics.probabilities.log_loss(y_true, p) for p in y_prob]
    np.testing.assert_allclose(matrics.probabilities.log_loss(np.broadcast_to(y_true, y_prob.shape), y_prob), wanted)
    y_true, y_prob = RANDOM.integers(0, 3, 5), RANDOM.dirichlet(np.ones(3), (4, 5))
    np.testing.assert_allclose(
        matrics.probabilities.log_loss(y_true, y_prob), [matrics.probabilities.log_loss(y_true, p) for p in y_prob]
    )


def test_undefined() -> None:
    assert np.isnan(matrics.probabilities.log_loss([], np.zeros(0)))
    assert matrics.probabilities.log_loss([], np.zeros((0, 3)), zero_division=0) == 0
    found = matrics.probabilities.log_loss(
        [[1, 0], [1, 0]], [[0.5, 0.5]] * 2, sample_weight=[[0, 0], [0, 1]], zero_division=7
    )
    np.testing.assert_allclose(found, [7, math.log(2)])


@pytest.mark.parametrize(
    ("arguments", "options", "error", "message"),
    [
        (([0], [1.5]), {}, ValueError, r"y_prob: expected numbers in \[0, 1\], got 1.5 at \(0,\) .*passed as logits="),
        (([[0, 2]], [[0.5, 0.5]]), {}, ValueError, r"y_true: expected labels in \[0, 2\), got 2 at \(0, 1\)"),
        (([0.5, 1.5], [0.5, 0.5]), {}, ValueError, r"y_true: expected numbers in \[0, 1\], got 1.5 at \(1,\)"),
        (([0], [0.5]), {"logits": [0.5]}, TypeError, "expected either y_prob or logits, got both"),
        (([0],), {}, TypeError, "expected either y_prob or logits, got neither"),
        (([0], [1]), {}, TypeError, "y_prob: expected floating probabilities"),
        (([0.5], [1]), {}, TypeError, "y_prob: expected floating probabilities"),
        (([[0.5, 0.5]], [[0.5, 0.5]]), {}, ValueError, "pass class_axis=-1 for the former; for the latter give both"),
        (([[0.5, 0.5]], [[0.5]]), {}, ValueError, "pass class_axis=-1 for the former"),
        (([0.5], [[0.5, 0.5]]), {"class_axis": -1}, ValueError, "y_true: expected labels, which are whole numbers"),
        (
            ([[0.5]], [[0.5, 0.5]]),
            {"class_axis": -1},
            ValueError,
            "expected equal numbers of classes in y_true and y_prob",
        ),
        (([[0.5, 0.5]], [0.5]), {"class_axis": 2}, ValueError, "expected an axis of classes at class_axis=2"),
        (([0], [0.5]), {"zero_division": "warn"}, TypeError, "zero_division: expected a number"),
        (([0], [0.5]), {"sample_weight": [-1]}, ValueError, "sample_weight: expected finite weights"),
        (([0.5], [0.5]), {"sample_weight": [np.nan]}, ValueError, "sample_weight: expected finite weights"),
    ],
)
def test_what_is_refused(arguments: Any, options: Any, error: type, message: str) -> None:
    with pytest.raises(error, match=message):
        matrics.probabilities.log_loss(*arguments, **options)


def test_bad_weights_in_compiled_code(jax_backend: Any) -> None:
    """They spoil their own batch element, with soft labels as well."""
    weights = jax_backend.asarray([[1.0, -1.0], [1.0, 1.0], [np.nan, 1.0]])
    labels, y_prob = jax_backend.asarray([0.0, 1.0]), jax_backend.asarray([0.5, 0.5])
    loss = functools.partial(matrics.probabilities.log_loss, labels, y_prob)
    found = np.asarray(jax_backend.jit(lambda weights: loss(sample_weight=weights))(weights))
    np.testing.assert_allclose(found, [np.nan, math.log(2), np.nan], rtol=1e-6)
