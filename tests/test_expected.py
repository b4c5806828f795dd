"""Expected matrices of calibrated probabilities: labels drawn from these, every library, and wrong probabilities."""

from __future__ import annotations

import math
import warnings
from fractions import Fraction
from typing import Any

import numpy as np
import pytest
from scipy import stats

import matrics
from matrics import IntervalStatus

RANDOM = np.random.default_rng(0)
SPECS = ["accuracy", "f1:macro", "mcc", "recall:class"]


def probabilities(n: int, number: int, batch: tuple[int, ...] = ()) -> Any:
    logits = RANDOM.normal(0, 1.5, (*batch, number, n))
    return np.exp(logits) / np.exp(logits).sum(-1, keepdims=True)


def drawn(given: Any, times: int) -> Any:
    """Labels with these probabilities."""
    return (RANDOM.random((times, given.shape[0], 1)) > given.cumsum(-1)[None, :, :-1]).sum(-1)


def test_by_hand() -> None:
    given = [["3/4", "1/4"], ["1/2", "1/2"], ["1/8", "7/8"]]
    exact = [[Fraction(x) for x in row] for row in given]
    pred = [1, 0, 1]
    expected = [
        [float(sum(row[t] for row, p in zip(exact, pred, strict=True) if p == k)) for k in (0, 1)] for t in (0, 1)
    ]
    found = matrics.probabilities.expected_confusion_matrix([[float(x) for x in row] for row in exact], pred)
    assert found.tolist() == expected
    binary = matrics.probabilities.expected_confusion_matrix(np.asarray([0.25, 0.5, 0.875]), pred)
    assert binary.tolist() == expected


def test_it_is_a_soft_matrix_with_the_other_side_soft() -> None:
    given = probabilities(3, 50)
    pred = given.argmax(-1)
    soft = matrics.soft_confusion_matrix(given, np.eye(3)[pred])
    np.testing.assert_allclose(matrics.probabilities.expected_confusion_matrix(given), soft, rtol=1e-12)


@pytest.mark.parametrize(("n", "number"), [(2, 300), (4, 800)])
def test_limits_contain_the_measures_of_labels_that_are_drawn(n: int, number: int) -> None:
    given = probabilities(n, number)
    found = matrics.probabilities.expected_interval(given, SPECS)
    scores = matrics.score(matrics.confusion_matrix(drawn(given, 2000), given.argmax(-1), num_classes=n), SPECS)
    for name, one in found.items():
        inside = np.mean((one.low <= scores[name]) & (scores[name] <= one.high), axis=0)
        assert (np.abs(inside - 0.95) < 0.02).all(), name
        np.testing.assert_allclose(one.standard_error, np.std(scores[name], axis=0), rtol=0.06)


@pytest.mark.sampled(2)
def test_every_library(backend: Any) -> None:
    given = probabilities(3, 200, (2,))
    expected = matrics.probabilities.expected_interval(given, ["mcc", "recall:class"])
    dtype = np.float64 if backend.float64 else np.float32

    def both(x: Any) -> Any:
        return matrics.probabilities.expected_confusion_matrix(x), {
            name: tuple(one)
            for name, one in matrics.probabilities.expected_interval(x, ["mcc", "recall:class"]).items()
        }

    matrix, found = backend.call(both, backend.asarray(given, dtype))
    np.testing.assert_allclose(
        backend.numpy(matrix),
        matrics.probabilities.expected_confusion_matrix(given),
        rtol=1e-3 if not backend.float64 else 1e-9,
    )
    for name, one in expected.items():
        for ours, theirs in zip(found[name], one, strict=True):
            np.testing.assert_allclose(backend.numpy(ours), theirs, rtol=5e-3 if not backend.float64 else 1e-5)


def test_compiled_mapped_and_gradients(torch: Any) -> None:
    given = probabilities(3, 40, (2,))
    expected = matrics.probabilities.expected_confusion_matrix(given)
    tensor = torch.asarray(given)
    compiled = torch.compile(matrics.probabilities.expected_confusion_matrix, fullgraph=True, backend="aot_eager")
    np.testing.assert_allclose(compiled(tensor), expected, rtol=1e-6)
    np.testing.assert_allclose(
        torch.func.vmap(matrics.probabilities.expected_confusion_matrix)(tensor), expected, rtol=1e-6
    )
    leaf = tensor[0].requires_grad_()
    (slope,) = torch.autograd.grad(matrics.probabilities.expected_confusion_matrix(leaf)[0, 1], leaf)
    assert slope[:, 0].tolist() == (given[0].argmax(-1) == 1).astype(float).tolist()
    jax = pytest.importorskip("jax")
    mapped = jax.jit(jax.vmap(matrics.probabilities.expected_confusion_matrix))(jax.numpy.asarray(given))
    np.testing.assert_allclose(mapped, expected, rtol=1e-4)


def test_calibrated_labels_seldom_warn_and_others_do() -> None:
    given = probabilities(3, 300)
    told = 0
    for labels in drawn(given, 300):
        with warnings.catch_warnings(record=True) as found:
            warnings.simplefilter("always")
            matrics.probabilities.expected_confusion_matrix(given, y_true=labels)
        told += len(found)
    assert told <= 10  # of 300, at 1 %
    sharper = given**2.5 / (given**2.5).sum(-1, keepdims=True)
    some = np.where(np.arange(300) < 150, drawn(given, 1)[0], -1)
    with pytest.warns(RuntimeWarning, match="not calibrated on the 150 samples with labels: the expected accuracy is"):
        matrics.probabilities.expected_interval(sharper, "accuracy", y_true=some)


LIKELY = "accuracy,recall:class,precision:class,f1:class,mcc,cohen_kappa,balanced_accuracy"


@pytest.mark.parametrize(
    ("numbers", "shares"),
    [
        ((470, 30), (0.02, 0.7)),
        ((900, 30), (0.01, 0.75)),
        ((200, 200), (0.05, 0.9)),
        ((60, 60), (0.1, 0.8)),
        ((900, 20), (0.005, 0.7)),
        ((400, 24), (0.02, 0.75)),
    ],
)
def test_limits_hold_by_enumeration(numbers: tuple[int, int], shares: tuple[float, float]) -> None:
    # Two kinds of samples: those of the second kind are predicted as class 1. Their labels are two binomial numbers.
    given = np.repeat(shares, numbers)
    found = matrics.probabilities.expected_interval(given, LIKELY)
    of_first, of_second = (stats.binom(size, share) for size, share in zip(numbers, shares, strict=True))
    missed, hit = (x.ravel() for x in np.meshgrid(*(np.arange(size + 1) for size in numbers), indexing="ij"))
    probability = of_first.pmf(missed) * of_second.pmf(hit)
    likely = probability > 1e-9
    missed, hit, probability = missed[likely], hit[likely], probability[likely]
    cells = np.asarray([[numbers[0] - missed, numbers[1] - hit], [missed, hit]])
    for name, values in matrics.score(np.moveaxis(cells, -1, 0), LIKELY).items():
        one = found[name]
        inside = (one.low <= values) & (values <= one.high)
        covered = probability @ inside.reshape(len(inside), -1)
        # 0.9298 for the precision of 30 predictions, which have steps of 1/30.
        assert (covered[np.atleast_1d(one.status) == 0] >= 0.929).all(), name


def test_the_status_is_about_what_a_measure_depends_on() -> None:
    # Of 920 samples, 20 are predicted as class 1, and 18.5 are expected to be of it.
    one = matrics.probabilities.expected_interval(np.repeat([0.005, 0.7], [900, 20]), "accuracy,recall:class")
    assert one["accuracy"].status == 0
    assert one["recall:class"].status.tolist() == [0, IntervalStatus.FEW_SAMPLES]


def test_statuses() -> None:
    sure = np.repeat([[1.0, 0.0], [0.0, 1.0]], 20, axis=0)
    found = matrics.probabilities.expected_interval(
        np.stack([sure, np.full((40, 2), 0.5), np.full((40, 2), np.nan)]), "accuracy"
    )
    one = found["accuracy"]
    assert one.status.tolist() == [IntervalStatus.NO_VARIATION, IntervalStatus.OK, IntervalStatus.UNDEFINED]
    assert one.estimate[:2].tolist() == [1.0, 0.5]
    assert np.isnan(one.low[[0, 2]]).all()
    few = matrics.probabilities.expected_interval(probabilities(2, 8), "accuracy")["accuracy"]
    assert few.status == IntervalStatus.FEW_SAMPLES


@pytest.mark.parametrize(
    ("options", "error", "words"),
    [
        ({"probabilities": [[0.5, 0.6]]}, ValueError, r"add up to 1, got \[0.5, 0.6\] at \(0,\)"),
        ({"probabilities": [[1.5, -0.5]]}, ValueError, "expected numbers from 0 on"),
        ({"probabilities": [[1, 0]]}, TypeError, "expected floating numbers"),
        ({"y_pred": [0, 1, 1]}, ValueError, "y_pred: expected as many samples as probabilities, 2"),
        ({"y_pred": [0, 2]}, ValueError, r"y_pred: expected labels in \[0, 2\)"),
        ({"y_pred": [0.5, 0.5]}, ValueError, "y_pred: expected labels, which are whole"),
        ({"y_true": [0, 2]}, ValueError, r"y_true: expected labels in \[0, 2\), or -1 for none"),
        ({"y_true": [0]}, ValueError, "y_true: expected labels of 2 samples"),
    ],
)
def test_wrong_input(options: dict[str, Any], error: type[Exception], words: str) -> None:
    given = {"probabilities": [[0.5, 0.5], [0.25, 0.75]]} | options
    with pytest.raises(error, match=words):
        matrics.probabilities.expected_confusion_matrix(**given)
    assert math.isclose(matrics.probabilities.expected_confusion_matrix([[0.5, 0.5]]).sum(), 1)
