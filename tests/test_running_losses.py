"""Running log loss, Brier score and top-k measures: those of all samples at once, in states and metrics."""

from __future__ import annotations

import importlib
import math
import operator
import warnings
from functools import reduce
from typing import Any

import numpy as np
import pytest
import roads
from sklearn import metrics as peer

import matrics
from matrics import ScoreState

CLASSES = 6
NAMES = "top_k_accuracy(k=[1,3]), top_k_recall(k=3), top_k_recall(k=3):class, log_loss, brier_score"
LIBRARIES = ["numpy", "torch", "jax"]
METRICS = ["torch", "torchmetrics", "flax"]


def softmax(x: np.ndarray) -> np.ndarray:
    odds = np.exp(x - x.max(-1, keepdims=True))
    return odds / odds.sum(-1, keepdims=True)


def batches(*, ties: bool = True) -> list[tuple[np.ndarray, np.ndarray]]:
    """Labels and logits of batches of different sizes, some of them tied."""
    random = np.random.default_rng(5)
    found = []
    for size in (40, 40, 7, 1):
        logits = random.normal(size=(size, CLASSES)) * 2
        found.append((random.integers(0, CLASSES - 1, size), np.round(logits, 0 if ties else 6)))
    return found


def together(pairs: list[tuple[np.ndarray, np.ndarray]]) -> tuple[np.ndarray, np.ndarray]:
    labels, scores = zip(*pairs, strict=True)
    return np.concatenate(labels), np.concatenate(scores)


def as_library(library: str, x: Any) -> Any:
    if library == "numpy":
        return np.asarray(x)
    module = importlib.import_module("jax.numpy" if library in ("jax", "flax") else "torch")
    return module.asarray(x)


# States -------------------------------------------------------------------------------------------------------------


@pytest.mark.sampled(2)
@pytest.mark.parametrize("library", LIBRARIES)
def test_a_state_has_the_means_of_all_samples(library: str) -> None:
    state = ScoreState.zeros(num_classes=CLASSES, losses=True, top_k=[1, 3], bits=6, like=as_library(library, 0.0))
    update = ScoreState.update
    if library == "jax" and roads.ONE_PROGRAM:
        update = pytest.importorskip("jax").jit(update)
    for y_true, logits in batches():
        state = update(state, as_library(library, y_true), as_library(library, softmax(logits)))
    y_true, logits = together(batches())
    y_prob = softmax(logits)
    close = {"rtol": 2e-6 if library == "jax" else 1e-13}
    np.testing.assert_allclose(state.log_loss(), peer.log_loss(y_true, y_prob, labels=range(CLASSES)), **close)
    one_hot = np.eye(CLASSES)[y_true]
    np.testing.assert_allclose(state.brier_score(), ((y_prob - one_hot) ** 2).sum(-1).mean(), **close)
    np.testing.assert_allclose(state.top_k_accuracy(), matrics.ranking.top_k_accuracy(y_true, y_prob, [1, 3]), **close)
    for average in ("macro", "weighted", "class"):
        wanted = matrics.ranking.top_k_recall(y_true, y_prob, [1, 3], average=average)
        np.testing.assert_allclose(state.top_k_recall(average=average), wanted, **close)
    untied = ScoreState.zeros(num_classes=CLASSES, top_k=2, bits=0, num_bins=0)
    y_true, logits = together(batches(ties=False))
    wanted = peer.top_k_accuracy_score(y_true, logits, k=2, labels=range(CLASSES))
    np.testing.assert_allclose(untied.update(y_true, logits).top_k_accuracy(), [wanted])


@pytest.mark.exhaustive
@pytest.mark.parametrize("library", LIBRARIES)
def test_scores_of_class_1_weights_and_dropped_samples(library: str) -> None:
    y_true, y_prob = np.array([0, 1, 1, 0, 2, 1, -7, 1]), np.array([0.2, 0.9, 0.4, 0.7, 0.5, math.nan, 0.3, 0.0])
    weight = np.array([1.0, 2.0, 0.5, 3.0, 1.0, 1.0, 1.0, 0.0])  # the infinite loss at the end has no weight
    module = importlib.import_module({"jax": "jax.numpy"}.get(library, library))
    dtype = module.float64 if library == "numpy" else module.float32
    state = ScoreState.zeros(losses=True, bits=0, num_bins=0, like=as_library(library, 0.0), dtype=dtype)
    arrays = [as_library(library, x) for x in (y_true, y_prob, weight)]
    state = state.update(*arrays[:2], sample_weight=arrays[2], ignore_index=-7)
    assert int(state.dropped) == 2
    y, p, w = y_true[:4], y_prob[:4], weight[:4]
    np.testing.assert_allclose(state.log_loss(), peer.log_loss(y, p, sample_weight=w), rtol=1e-6)
    np.testing.assert_allclose(state.brier_score(), peer.brier_score_loss(y, p, sample_weight=w), rtol=1e-6)
    worse = state.update(*(as_library(library, np.array(x)) for x in ([1], [0.0])), sample_weight=arrays[2][:1])
    assert float(worse.log_loss()) == math.inf
    assert 0 < float(worse.brier_score()) < 1
    odd = state.update(*(as_library(library, np.array(x)) for x in ([1], [1.5])), sample_weight=arrays[2][:1])
    assert math.isnan(float(odd.log_loss()))
    assert math.isnan(float(odd.brier_score()))
    assert math.isnan(float(ScoreState.zeros(losses=True).log_loss()))
    assert float(ScoreState.zeros(losses=True).brier_score(zero_division=0.5)) == 0.5


def test_a_batch_of_models_and_sums_of_states() -> None:
    y_true, logits = together(batches())
    models = np.stack([logits, logits[:, ::-1], np.zeros_like(logits)])
    empty = ScoreState.zeros(num_classes=CLASSES, losses=True, top_k=(1, 2), batch_shape=(3,), bits=0, num_bins=0)
    halves = [empty.update(y_true[k::2], softmax(models[:, k::2])) for k in range(2)]
    whole = halves[0] + halves[1]
    by_leaf = ScoreState(*map(operator.add, *halves))  # as a psum adds them up
    for state in (whole, by_leaf, by_leaf + empty):
        np.testing.assert_allclose(
            state.log_loss(), matrics.probabilities.log_loss(y_true, softmax(models)), rtol=1e-13
        )
        wanted = matrics.ranking.top_k_accuracy(y_true, softmax(models), (1, 2))
        np.testing.assert_allclose(state.top_k_accuracy(), wanted, rtol=1e-13)
        assert state.top_k_recall(average="class").shape == (3, 2, CLASSES)
    others = ScoreState.zeros(num_classes=CLASSES, losses=True, top_k=(1, 5), batch_shape=(3,), bits=0, num_bins=0)
    with pytest.raises(ValueError, match=r"expected states that keep the same losses= and top_k="):
        whole + others
    assert not np.array_equal(whole.sums, halves[0].sums)


@pytest.mark.exhaustive
def test_float32_loses_nothing() -> None:
    """In default JAX, sums in float32 would stop growing at 2**24 samples, and lose digits long before."""
    jnp = pytest.importorskip("jax.numpy")
    state = ScoreState.zeros(losses=True, top_k=None, bits=0, num_bins=0, like=jnp.zeros(()))
    if state.sums.dtype != jnp.float32:
        pytest.skip("has float64")
    state = state._replace(sums=state.sums + 2.0**24)
    for _ in range(50):
        state = state.update(jnp.asarray([1]), jnp.asarray([0.5]))
    total = np.asarray(state.sums, float) + np.asarray(state.remainders, float)
    np.testing.assert_array_equal(total[0], [2.0**24] * 3)
    np.testing.assert_allclose(total[1] - 2.0**24, [50, 50 * math.log(2), 12.5], rtol=1e-6)


@pytest.mark.exhaustive
@pytest.mark.parametrize("road", ["jit", "vmap", "scan"])
def test_transformed_by_jax(road: str) -> None:
    jax = pytest.importorskip("jax")
    y_true, logits = together(batches())
    y_true, y_prob = jax.numpy.asarray(y_true)[:80], jax.numpy.asarray(softmax(logits), dtype="float32")[:80]
    options: Any = {"num_classes": CLASSES, "losses": True, "top_k": (1, 3), "bits": 0, "num_bins": 0}
    empty = ScoreState.zeros(**options, like=y_prob)
    parts = y_true.reshape(4, 20), y_prob.reshape(4, 20, CLASSES)
    if road == "jit":
        state = reduce(jax.jit(lambda state, part: state.update(*part)), zip(*parts, strict=True), empty)
    elif road == "scan":
        state = jax.lax.scan(lambda state, part: (state.update(*part), None), empty, parts)[0]
    else:
        states = jax.jit(jax.vmap(empty.update))(*parts)
        state = ScoreState(*(leaf.sum(0) for leaf in states))
    found = jax.jit(lambda state: (state.log_loss(), state.top_k_recall()))(state)
    np.testing.assert_allclose(
        found[0], matrics.probabilities.log_loss(np.asarray(y_true), np.asarray(y_prob)), rtol=1e-5
    )
    np.testing.assert_allclose(
        found[1], matrics.ranking.top_k_recall(np.asarray(y_true), np.asarray(y_prob), [1, 3]), rtol=1e-5
    )


def test_errors_say_what_to_do() -> None:
    with pytest.raises(ValueError, match=r"make the state with losses=True"):
        ScoreState.zeros().log_loss()
    with pytest.raises(ValueError, match=r"pass top_k="):
        ScoreState.zeros(num_classes=3).top_k_accuracy()
    with pytest.raises(ValueError, match="a state that keeps areas, got bits=0"):
        ScoreState.zeros(losses=True, bits=0, num_bins=0).roc_auc()
    with pytest.raises(ValueError, match="expected a state that keeps counts at thresholds"):
        _ = ScoreState.zeros(losses=True, bits=0, num_bins=0).thresholds
    with pytest.raises(ValueError, match=r"top_k: expected None without num_classes="):
        ScoreState.zeros(top_k=5)
    with pytest.raises(TypeError, match=r"losses: expected True or False, got 'log_loss'"):
        ScoreState.zeros(losses="log_loss")  # type: ignore[arg-type]
    with pytest.raises(ValueError, match=r"top_k: expected an integer of at least 1, got 0"):
        ScoreState.zeros(num_classes=3, top_k=[0])


# Metrics ------------------------------------------------------------------------------------------------------------


def made(library: str, *arguments: Any, **options: Any) -> Any:
    pytest.importorskip({"flax": "flax.nnx"}.get(library, library))
    return importlib.import_module(f"matrics.{library}").ScoreMetric(*arguments, **options)


def update(library: str, metric: Any, y_true: Any, y_score: Any) -> None:
    arrays = [as_library(library, x) for x in (y_true, y_score)]
    if library == "flax":
        roads.nnx_update(metric, *arrays)
    else:
        metric.update(*(arrays[::-1] if library == "torchmetrics" else arrays))


def values(metric: Any) -> dict[str, float]:
    return {str(name): float(value) for name, value in metric.compute().items()}


@pytest.mark.sampled(2)
@pytest.mark.exhaustive(library=["flax"], from_logits=[False])
@pytest.mark.exhaustive(library=["flax"], more=[""])
@pytest.mark.parametrize("more", ["", ", roc_auc, ece"])
@pytest.mark.parametrize("from_logits", [False, True])
@pytest.mark.parametrize("library", METRICS)
def test_metrics(library: str, from_logits: bool, more: str) -> None:  # noqa: FBT001
    metric = made(library, CLASSES, NAMES + more, from_logits=from_logits, prefix="val/", fill_undefined=None)
    for y_true, logits in batches():
        given = logits if from_logits else softmax(logits)
        update(library, metric, y_true, given.astype(np.float32))
    y_true, logits = together(batches())
    y_prob = softmax(logits)
    wanted = {f"val/top_k_accuracy(k={k})": matrics.ranking.top_k_accuracy(y_true, y_prob, k) for k in (1, 3)}
    wanted["val/top_k_recall(k=3)"] = matrics.ranking.top_k_recall(y_true, y_prob, 3)
    recalls = matrics.ranking.top_k_recall(y_true, y_prob, 3, average="class")
    wanted |= {f"val/top_k_recall(k=3)/{k}": recall for k, recall in enumerate(recalls)}
    wanted |= {
        "val/log_loss": matrics.probabilities.log_loss(y_true, y_prob),
        "val/brier_score": matrics.probabilities.brier_score(y_true, y_prob),
    }
    found = values(metric)
    assert list(found)[: len(wanted)] == list(wanted)
    np.testing.assert_allclose([found[name] for name in wanted], list(wanted.values()), rtol=3e-6)
    if more:
        alone = made(library, CLASSES, "roc_auc, ece", from_logits=from_logits, prefix="val/")
        for labels, logits in batches():
            update(library, alone, labels, (logits if from_logits else softmax(logits)).astype(np.float32))
        assert {name: found[name] for name in ("val/roc_auc", "val/ece")} == values(alone)
    metric.reset()
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        assert all(math.isnan(value) for value in values(metric).values())


@pytest.mark.sampled(2)
@pytest.mark.parametrize("library", METRICS)
def test_logits_far_apart_have_a_finite_loss_and_an_order(library: str) -> None:
    """Their probabilities are 0 in float32, or in float64."""
    logits = np.array([[0.0, -200.0, -300.0, -2000.0]], np.float32)
    for label, k in ((1, 2), (3, 4)):
        metric = made(
            library, 4, f"log_loss, top_k_accuracy(k={k}), top_k_accuracy(k={k - 1}), roc_auc", from_logits=True
        )
        update(library, metric, [label], logits)
        found = values(metric)
        assert found["log_loss"] == pytest.approx(-logits[0, label])
        assert (found[f"top_k_accuracy(k={k})"], found[f"top_k_accuracy(k={k - 1})"]) == (1, 0)


@pytest.mark.sampled(2)
@pytest.mark.parametrize("library", METRICS)
def test_a_positive_class_and_two_classes(library: str) -> None:
    y_true, logits = together(batches())
    metric = made(library, CLASSES, "top_k_recall(k=2)", from_logits=True, positive=2)
    update(library, metric, y_true, logits.astype(np.float32))
    wanted = matrics.ranking.top_k_recall(y_true, logits, 2, average="class")[2]
    assert values(metric)["top_k_recall(k=2)"] == pytest.approx(wanted, rel=1e-6)
    binary = made(library, None, "brier_score, log_loss", from_logits=True)
    update(library, binary, y_true > 2, logits[:, 0].astype(np.float32))
    y_prob = 1 / (1 + np.exp(-logits[:, 0]))
    wanted = [peer.brier_score_loss(y_true > 2, y_prob), peer.log_loss(y_true > 2, y_prob)]
    np.testing.assert_allclose(list(values(binary).values()), wanted, rtol=1e-6)


@pytest.mark.sampled(1)
@pytest.mark.parametrize("library", METRICS)
def test_what_is_no_probability_is_not_filled_with_0(library: str) -> None:
    metric = made(library, CLASSES, "log_loss, brier_score")
    update(library, metric, *batches()[0])  # logits
    with pytest.warns(RuntimeWarning, match=r"some scores are not in \[0, 1\], .*: if they are logits"):
        found = values(metric)
    assert all(math.isnan(value) for value in found.values())


@pytest.mark.parametrize("library", METRICS)
def test_names_that_are_wrong(library: str) -> None:
    for name, message in (
        ("top_k_accuracy(k=five)", r"expected an integer k, or several as k=\[1,5\], got 'top_k_accuracy\(k=five\)'"),
        ("top_k_accuracy(n=5)", r"expected k= alone in brackets, such as 'top_k_accuracy\(k=5\)'"),
        ("log_loss(k=5)", r"expected 'log_loss', without options"),
        ("top_k_accuracy(k=5):macro", r"expected 'top_k_accuracy\(k=5\)' alone"),
        ("top_k_recall:micro", r"possibly followed by :macro, :weighted, :class"),
        ("top_k_accuracy(k=0)", r"expected an integer of at least 1, got 0"),
    ):
        with pytest.raises(ValueError, match=message):
            made(library, 3, name)
    with pytest.raises(ValueError, match=r"expected num_classes= for 'top_k_accuracy\(k=5\)'"):
        made(library, None, "top_k_accuracy(k=5)")


def test_many_classes_of_a_language_model() -> None:
    """No histogram is kept that nothing needs: 50,000 classes in bfloat16, of which one label is left out."""
    torch = pytest.importorskip("torch")
    generator = torch.Generator().manual_seed(0)
    logits = torch.randn(8, 50_000, generator=generator).to(torch.bfloat16)
    y_true = torch.tensor([*logits.argmax(-1)[:4].tolist(), 5, 6, 7, -100])
    metric = made("torch", 50_000, "top_k_accuracy(k=[1,5])", from_logits=True, ignore_index=-100)
    metric.update(y_true, logits)
    assert {name for name, _ in metric.named_buffers()} == {"dropped_counts", "sums", "top_k"}
    assert sum(buffer.nbytes for buffer in metric.buffers()) < 3e6
    found = values(metric)
    wanted = matrics.ranking.top_k_accuracy(y_true[:7], logits[:7].float(), [1, 5])
    np.testing.assert_allclose(list(found.values()), wanted.tolist(), rtol=1e-6)
    resumed = made("torch", 50_000, "top_k_accuracy(k=[1,5])", from_logits=True, ignore_index=-100)
    resumed.load_state_dict(metric.state_dict())
    assert values(resumed) == found
    other = made("torch", 50_000, "top_k_accuracy(k=[1,10])", from_logits=True)
    with pytest.raises(ValueError, match=r"checkpoint: expected the losses, and each k of top-k measures"):
        other.load_state_dict(metric.state_dict())
    with pytest.raises(ValueError, match=r"expected states that keep the same losses= and top_k="):
        other.merge_state(metric)
    assert values(metric.merge_state(resumed)) == found


@pytest.mark.exhaustive
def test_compiled_by_torch() -> None:
    torch = pytest.importorskip("torch")
    metrics = [made("torch", CLASSES, NAMES, from_logits=True) for _ in range(2)]
    compiled = torch.compile(metrics[1].update, fullgraph=True, backend="aot_eager")
    for y_true, logits in batches()[:2]:  # of one size; test_batch_sizes.py has several
        arrays = torch.as_tensor(y_true), torch.as_tensor(logits.astype(np.float32))
        metrics[0].update(*arrays)
        compiled(*arrays)
    np.testing.assert_allclose(metrics[1].sums, metrics[0].sums, rtol=1e-12)
    found = torch.compile(metrics[1].compute, fullgraph=True, backend="aot_eager")()
    np.testing.assert_allclose([float(x) for x in found.values()], list(values(metrics[0]).values()), rtol=1e-12)


def test_under_nnx_jit() -> None:
    nnx = pytest.importorskip("flax.nnx")
    metric = made("flax", CLASSES, NAMES, from_logits=True)
    step = nnx.jit(lambda metric, labels, logits: metric.update(labels=labels, logits=logits))
    for y_true, logits in batches()[:2]:
        step(metric, as_library("jax", y_true), as_library("jax", logits))
    y_true, logits = together(batches()[:2])
    found = nnx.jit(lambda metric: metric.compute())(metric)
    np.testing.assert_allclose(found["log_loss"], matrics.probabilities.log_loss(y_true, logits=logits), rtol=1e-5)
