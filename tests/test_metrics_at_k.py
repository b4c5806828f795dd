"""Running metrics of the k highest scores, of every library: values, bounds, windows, merges, compilers and names."""

from __future__ import annotations

import importlib
from typing import Any

import numpy as np
import pytest
from several import LIBRARIES, Metric

from matrics import ScoreState, ranking

RANDOM = np.random.default_rng(55)
NAMES = ("precision_at_k", "recall_at_k", "lift_at_k")
SPECS = "precision_at_k(k=20), recall_at_k(k=[5, 20]), lift_at_k(k=20)"
KEYS = ("precision_at_k(k=20)", "recall_at_k(k=5)", "recall_at_k(k=20)", "lift_at_k(k=20)")

every_library = pytest.mark.parametrize("library", LIBRARIES)


def draw(*shape: int) -> tuple[np.ndarray, np.ndarray]:
    """Labels of two classes and scores, rounded so that there are ties, which have buckets of their own."""
    return RANDOM.integers(0, 2, shape), RANDOM.integers(0, 64, shape).astype(np.float32) / 64


def made(library: str, kind: str, *args: Any, **options: Any) -> Any:
    """A metric of a library, which may not be installed."""
    pytest.importorskip({"torch": "torch", "torchmetrics": "torchmetrics", "flax": "flax"}[library])
    return getattr(importlib.import_module(f"matrics.{library}"), kind)(*args, **options)


def update(library: str, metric: Any, y_true: np.ndarray, scores: np.ndarray) -> None:
    """Count a batch, in the order of arguments of the library."""
    if library == "flax":
        metric.update(y_true, scores)
        return
    torch = importlib.import_module("torch")
    arrays = torch.from_numpy(y_true), torch.from_numpy(scores)
    metric.update(*(arrays if library == "torch" else arrays[::-1]))


def exact(key: str, y_true: np.ndarray, scores: np.ndarray, **options: Any) -> Any:
    """The function with the name of a key."""
    name, _, k = key.rstrip(")").partition("(k=")
    return getattr(ranking, name)(y_true, scores, int(k), **options)


@pytest.mark.sampled(2)
@every_library
def test_two_classes(library: str) -> None:
    y_true, scores = draw(90)
    for kind, names in (("ScoreMetric", SPECS), ("Metrics", f"f1, {SPECS}")):
        metric = made(library, kind, metrics=names, bounds=True, prefix="val/")
        for part in np.array_split(np.arange(90), 4):
            update(library, metric, y_true[part], scores[part])
        values = metric.log_dict()
        for key in KEYS:
            bounds = [values[f"val/{key}{ending}"] for ending in ("", "_low", "_high")]
            assert bounds == pytest.approx([exact(key, y_true, scores)] * 3, rel=1e-6), key
        assert len(values) == 12 + (kind == "Metrics")


@pytest.mark.sampled(2)
@every_library
def test_classes_and_ignored_classes(library: str) -> None:
    y_true, scores = RANDOM.integers(0, 3, 80), draw(80, 3)[1]
    names = "precision_at_k(k=20), precision_at_k(k=20):class, lift_at_k(k=9):weighted, recall_at_k(k=30):micro"
    metric = made(library, "ScoreMetric", 3, names, class_names=["cat", "dog", "owl"])
    update(library, metric, y_true, scores)
    values = metric.log_dict()
    each = exact("precision_at_k(k=20)", y_true, scores, average=None)
    expected = {f"precision_at_k(k=20)/{name}": x for name, x in zip(("cat", "dog", "owl"), each, strict=True)}
    expected["precision_at_k(k=20)"] = np.mean(each)
    expected["lift_at_k(k=9):weighted"] = exact("lift_at_k(k=9)", y_true, scores, average="weighted")
    expected["recall_at_k(k=30):micro"] = exact("recall_at_k(k=30)", y_true, scores, average="micro")
    assert values == pytest.approx(expected, rel=1e-6)
    ignoring = made(library, "ScoreMetric", 3, "precision_at_k(k=20)", ignore_index=0)
    update(library, ignoring, y_true, scores)
    value = exact("precision_at_k(k=20)", y_true, scores, ignore_index=0)
    assert ignoring.log_dict() == pytest.approx({"precision_at_k(k=20)": value}, rel=1e-6)


@pytest.mark.sampled(2)
@every_library
def test_several_labels(library: str) -> None:
    y_true, scores = draw(70, 4)
    metric = Metric(library, 4, "f1, precision_at_k(k=20):label, recall_at_k(k=[5, 20]), lift_at_k(k=20):micro")
    for part in np.array_split(np.arange(70), 3):
        metric.update(y_true[part], scores[part])
    values = metric.values()
    del values["f1"]
    expected = {}
    for key in KEYS:
        each = [exact(key, y_true[:, k], scores[:, k]) for k in range(4)]
        expected |= {key: np.mean(each)} | {f"{key}/{k}": x for k, x in enumerate(each)}
    expected["lift_at_k(k=20):micro"] = exact("lift_at_k(k=20)", y_true.ravel(), scores.ravel())
    assert values == pytest.approx({key: expected[key] for key in values}, rel=1e-6)
    assert len(values) == 7


@pytest.mark.sampled(2)
@every_library
def test_windows_and_merges(library: str) -> None:
    """A window has the last two batches; a metric that absorbs another has the batches of both."""
    y_true, scores = draw(3, 40)
    window, first, second = (made(library, "ScoreMetric", metrics=SPECS, window=w) for w in (2, None, None))
    for metric, batches in ((window, (0, 1, 2)), (first, (1,)), (second, (2,))):
        for batch in batches:
            update(library, metric, y_true[batch], scores[batch])
    first.merge_state(second)
    expected = {key: exact(key, y_true[1:].ravel(), scores[1:].ravel()) for key in KEYS}
    for metric in (window, first):
        assert metric.log_dict() == pytest.approx(expected, rel=1e-6)


@every_library
def test_refused(library: str) -> None:
    """Counts of weighted samples have no k-th sample; names without a number, or with another average."""
    for options, got in (({"decay": 0.9}, "decay=0.9"), ({"dtype": widest(library)}, "dtype=")):
        for kind, args in (("ScoreMetric", ()), ("Metrics", ()), ("MultilabelMetric", (3,))):
            with pytest.raises(TypeError, match=rf"integer counts for 'recall_at_k\(k=5\)'.* got {got}"):
                made(library, kind, *args, metrics="roc_auc, recall_at_k(k=[5, 20])", **options)
    with pytest.raises(ValueError, match=r"k= alone in brackets, such as 'lift_at_k\(k=100\)', got 'lift_at_k'"):
        made(library, "ScoreMetric", metrics="lift_at_k")
    with pytest.raises(ValueError, match="did you mean precision_at_k"):
        made(library, "ScoreMetric", metrics="precison_at_k(k=5)")
    with pytest.raises(ValueError, match=r"\(:macro, :micro, :weighted, :label\) after a measure of scores"):
        made(library, "MultilabelMetric", 3, "lift_at_k(k=3):class")


def widest(library: str) -> Any:
    """A floating dtype of the library."""
    return pytest.importorskip("jax.numpy" if library == "flax" else "torch").float32


def test_a_warning_of_wide_bounds() -> None:
    """The k-th score shares its bucket; a lift of ten is compared with bounds ten times as wide."""
    y_true = (np.arange(400) % 20 == 0).astype(np.int64)
    scores = np.linspace(0.9, 0.1, 400).astype(np.float32)
    metric = made("torch", "ScoreMetric", metrics="precision_at_k(k=3), roc_auc", edges=[0, 0.5, 1])
    update("torch", metric, y_true, scores)
    with pytest.warns(
        RuntimeWarning, match=r"precision_at_k\(k=3\) treats scores in the same bucket as equal, and the "
    ):
        metric.compute()


def test_before_there_are_k_samples() -> None:
    """0 as of all undefined values, or the value of a constructor."""
    metrics = [made("torch", "ScoreMetric", metrics=SPECS, **o) for o in ({}, {"fill_undefined": None})]
    for metric, undefined in zip(metrics, (0.0, np.nan), strict=True):
        update("torch", metric, *draw(8))
        values = metric.log_dict()
        assert np.isfinite(values["recall_at_k(k=5)"])
        np.testing.assert_array_equal(values["precision_at_k(k=20)"], undefined)


@pytest.mark.exhaustive
def test_compiled_by_pytorch(torch: Any) -> None:
    y_true, scores = draw(200)
    for n, columns in ((None, scores), (2, np.stack([1 - scores, scores], axis=1))):
        metric = made("torch", "ScoreMetric", n, SPECS, bits=6)
        update("torch", metric, y_true, columns)
        torch._dynamo.reset()
        values = torch.compile(metric.compute, fullgraph=True, backend="aot_eager")()
        for key, value in metric.compute().items():
            torch.testing.assert_close(values[key], value, rtol=1e-12, atol=1e-12)
            assert float(value) == pytest.approx(exact(key, y_true, scores), rel=1e-6)


@pytest.mark.exhaustive
def test_compiled_by_jax(jax_backend: Any) -> None:
    """A loop over batches in one program; and one state for each of several models."""
    import jax

    y_true, scores = draw(5, 4, 30)  # batches, models, samples
    empty = ScoreState.zeros(bits=6, like=jax_backend.asarray(0))
    arrays = [jax_backend.asarray(x) for x in (y_true, scores)]

    def values(y_true: Any, scores: Any) -> Any:
        def step(state: ScoreState, batch: Any) -> Any:
            return state.update(*batch), None

        state, _ = jax.lax.scan(step, empty, (y_true, scores))
        return [tuple(getattr(state, name)(20)) for name in NAMES]

    found = jax.jit(jax.vmap(values, in_axes=1))(*arrays)
    for name, parts in zip(NAMES, found, strict=True):
        models = [(x.ravel(), s.ravel()) for x, s in zip(y_true.swapaxes(0, 1), scores.swapaxes(0, 1), strict=True)]
        expected = [getattr(ranking, name)(y, s, 20) for y, s in models]
        value, low, high = (np.asarray(part) for part in parts)
        np.testing.assert_allclose(value, expected, rtol=1e-6)
        assert (low <= expected).all()
        assert (high >= expected).all()
