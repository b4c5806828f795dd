"""The Flax metric, and the names of its results."""

from __future__ import annotations

import importlib
from contextlib import nullcontext
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import matrics
from matrics._catalogue.naming import check_names, scalars

RANDOM = np.random.default_rng(14)
LABELS, LOGITS = RANDOM.integers(0, 3, (5, 30)), RANDOM.normal(size=(5, 30, 3)).astype(np.float32)
WANTED = matrics.confusion_matrix(LABELS.ravel(), LOGITS.reshape(-1, 3), num_classes=3)


@pytest.fixture
def nnx(jax_backend: Any) -> Any:
    del jax_backend  # its settings hold in the test
    return pytest.importorskip("flax.nnx")


def make(*args: Any, **options: Any) -> Any:
    from matrics.flax import ConfusionMetric

    return ConfusionMetric(*args, **options)


@pytest.mark.exhaustive
@pytest.mark.parametrize("labels", [[30, -5, 7], [1, 2, 3]])
def test_other_labels_than_the_first_integers(nnx: Any, labels: list[int]) -> None:
    true, pred = RANDOM.integers(0, 3, (2, 50))
    y_true, y_pred = np.asarray(labels)[true], np.asarray(labels)[pred]
    y_true[:5], y_pred[5:8] = 1000, 99
    mask = np.arange(50) < 40
    metric = make(metrics="recall:class", labels=labels, ignore_index=1000)
    step = nnx.jit(lambda metric, t, p: metric.update(t, p, mask=mask))
    step(metric, y_true, y_pred)
    step(metric, y_true, np.eye(3, dtype=np.float32)[pred])
    wanted = sum(
        matrics.confusion_matrix(true[part], pred[part], num_classes=3) for part in (slice(8, 40), slice(5, 40))
    )
    np.testing.assert_array_equal(metric.matrix, wanted)
    assert int(metric.dropped[...]) == 3
    with pytest.raises(TypeError, match="labels: expected integers"):
        make(labels=["cat", "dog"])


def test_batches_under_jit(nnx: Any) -> None:
    """One trace for all batches, in place, and names for a logger."""
    traced = []

    @nnx.jit
    def step(metric: Any, labels: Any, logits: Any) -> None:
        traced.append(1)
        metric.update(labels=labels, logits=logits)

    metric = make(3, ["mcc", "recall:class", "mcc:one_vs_rest"], prefix="val/", class_names=["cat", "dog", "cow"])
    for labels, logits in zip(LABELS, LOGITS, strict=True):
        step(metric, labels, logits)
    assert len(traced) == 1
    np.testing.assert_array_equal(metric.state.matrix, WANTED)
    scores = matrics.score(WANTED, ["mcc", "recall:class", "mcc:one_vs_rest"])
    wanted = {"val/mcc": scores["mcc"]}
    for k, name in enumerate(["cat", "dog", "cow"]):
        wanted[f"val/recall/{name}"] = scores["recall:class"][k]
        wanted[f"val/mcc/{name}"] = scores["mcc:one_vs_rest"][k]
    for compute in (metric.compute, lambda: nnx.jit(lambda metric: metric.compute())(metric)):
        made = compute()
        assert made.keys() == wanted.keys()
        for name, value in made.items():
            assert value.shape == ()
            np.testing.assert_allclose(value, wanted[name], rtol=1e-4)
    metric.reset()
    assert not np.asarray(metric.state.matrix).any()
    metric.update(labels=np.asarray([1]), logits=np.asarray([1]))
    assert metric.compute()["val/mcc"] == 0  # undefined, and no end of a run


@pytest.mark.exhaustive
def test_in_a_multi_metric(nnx: Any, jax_backend: Any) -> None:
    """Beside Flax's own metrics, with their keywords and their mask."""
    import jax

    metrics = nnx.MultiMetric(
        accuracy=nnx.metrics.Accuracy(), loss=nnx.metrics.Average("loss"), confusion=make(3, "accuracy")
    )
    labels, logits = jax_backend.asarray(LABELS, np.int32), jax_backend.asarray(LOGITS)
    mask = RANDOM.integers(0, 2, LABELS.shape) == 1
    for options in ({}, {"mask": mask}):
        metrics.reset()
        alone = nnx.metrics.Average("loss")  # whose mask older versions of Flax pass over
        for i in range(5):
            batch = {name: jax_backend.asarray(value[i]) for name, value in options.items()}
            with jax.numpy_dtype_promotion("standard"):  # Flax's own metrics need it
                metrics.update(labels=labels[i], logits=logits[i], loss=logits[i, :, 0], **batch)
                alone.update(loss=logits[i, :, 0], **batch)
                made, wanted_loss = metrics.compute(), alone.compute()
        np.testing.assert_allclose(made["confusion"]["accuracy"], made["accuracy"], rtol=1e-6)
        kept = options.get("mask", np.ones_like(mask))
        wanted = matrics.confusion_matrix(LABELS[kept], LOGITS[kept], num_classes=3)
        np.testing.assert_array_equal(metrics.confusion.state.matrix, wanted)
        np.testing.assert_allclose(made["loss"], wanted_loss, rtol=1e-6)


@pytest.mark.exhaustive
def test_labels_scores_and_what_is_left_out(nnx: Any, jax_backend: Any) -> None:
    del nnx
    labels, predicted = LABELS[0], LABELS[1]
    metric = make(3, "accuracy")
    metric.update(labels, predicted)  # NumPy's arrays will do, and labels for logits
    metric.update(y_true=labels, y_pred=predicted)
    wanted = matrics.confusion_matrix(labels, predicted, num_classes=3)
    np.testing.assert_array_equal(metric.state.matrix, 2 * wanted)

    ignoring = make(3, "accuracy", ignore_index=2)
    ignoring.update(labels, predicted)
    wanted[2] = 0
    np.testing.assert_array_equal(ignoring.state.matrix, wanted)
    mask = labels == 0
    for other, ignored in ((make(3), None), (ignoring, 2)):
        other.reset()
        other.update(labels.astype(np.uint8), predicted, mask=mask)
        only = labels[mask], predicted[mask]
        np.testing.assert_array_equal(
            other.state.matrix, matrics.confusion_matrix(*only, num_classes=3, ignore_index=ignored)
        )
        assert int(other.state.dropped) == 0

    binary = make(2, "accuracy", threshold=0.5)
    binary.update(labels=[0, 1, 1], logits=[0.1, 0.7, 0.2])
    assert binary.state.matrix.tolist() == [[1, 0], [1, 1]]
    axis = make(3, "accuracy", class_axis=1)
    axis.update(LABELS, np.moveaxis(LOGITS, -1, 1))
    np.testing.assert_array_equal(axis.state.matrix, WANTED)
    weighted = make(3, "accuracy", dtype=jax_backend.asarray(np.float32(0)).dtype.type)
    weighted.update(labels, predicted, sample_weight=np.full(30, 0.5, np.float32))
    np.testing.assert_array_equal(weighted.state.matrix, matrics.confusion_matrix(labels, predicted, num_classes=3) / 2)


def test_merge_and_checkpoint(nnx: Any) -> None:
    """Metrics and states add up; what is split from a metric and put into another is bit-equal."""
    import jax

    parts = [make(3, "accuracy"), make(3, "accuracy")]
    for part, rows in zip(parts, (slice(0, 2), slice(2, 5)), strict=True):
        part.update(LABELS[rows], LOGITS[rows])
    whole = make(3, "accuracy")
    whole.merge_state(parts[0])
    whole.merge_state(parts[1].state)
    np.testing.assert_array_equal(whole.state.matrix, WANTED)
    resumed = make(3, "accuracy")
    nnx.update(resumed, nnx.state(whole))
    for leaf, same in zip(resumed.state, whole.state, strict=True):
        np.testing.assert_array_equal(leaf, same)
    # An array without elements would be refused by Orbax.
    assert all(leaf.size for leaf in jax.tree.leaves(nnx.state(whole)))


def test_refused(nnx: Any) -> None:
    del nnx
    with pytest.raises(TypeError, match="expected one of y_true and labels, got 0"):
        make(3).update(logits=LOGITS[0])
    with pytest.raises(TypeError, match="expected one of y_pred and logits, got 2"):
        make(3).update(LABELS[0], LABELS[0], logits=LOGITS[0])
    with pytest.raises(ValueError, match="unknown"):
        make(3, "no_such_measure")


@pytest.mark.exhaustive
def test_the_example(monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]) -> None:
    """It learns, counts the last batch without its padding, and is traced once."""
    for library in ("jax", "flax", "optax", "sklearn"):
        pytest.importorskip(library)
    monkeypatch.syspath_prepend(Path(__file__).parents[1] / "examples")
    example = importlib.import_module("jax_loop")
    scores = example.main()
    assert 0.9 < scores["test/accuracy"] <= 1
    assert example.TRACES == {"train": 1, "test": 1}
    printed = capsys.readouterr().out
    assert "The 517 test digits" in printed
    assert "test/recall/" in printed


# Names --------------------------------------------------------------------------------------------------------------


def test_names() -> None:
    scores = matrics.score([[3, 1], [0, 4]], ["accuracy", "fbeta(beta=2):class", "mcc:one_vs_rest", "recall:micro"])
    names = ["accuracy", *(f"fbeta(beta=2)/{k}" for k in "01"), *(f"mcc/{k}" for k in "01"), "recall:micro"]
    metrics = {name: matrics.get_metric(name) for name in scores}
    assert list(scalars(scores, metrics)) == names
    assert list(scalars(scores, metrics, "p_", ["a", "b"]))[:3] == [
        "p_accuracy",
        "p_fbeta(beta=2)/a",
        "p_fbeta(beta=2)/b",
    ]
    assert scalars(scores, metrics)["fbeta(beta=2)/1"] == scores["fbeta(beta=2):class"][1]


@pytest.mark.parametrize(
    ("names", "error", "message"),
    [
        (["a"], ValueError, "expected 2 different names, as many as classes"),
        (["a", "a"], ValueError, "expected 2 different names"),
        ("ab", TypeError, "class_names: expected a string for each class, got 'ab'"),
        ([1, 2], TypeError, "class_names: expected a string"),
    ],
)
def test_wrong_names(names: Any, error: type, message: str) -> None:
    with pytest.raises(error, match=message):
        check_names(names, 2)


def test_labels_out_of_range_under_a_mask(nnx: Any) -> None:  # noqa: ARG001 (skips without Flax)
    """Those masked or ignored are left out; no other is mistaken for them, of whatever dtype."""
    metric = make(3, "accuracy", ignore_index=-1)
    mask = np.asarray([True, True, True, False])
    metric.update(labels=np.asarray([-1, -2, 1, 1], np.int32), logits=np.zeros(4, np.int32), mask=mask)
    metric.update(labels=np.asarray([2**31, 2**32 - 1, 0, 0], np.uint32), logits=np.zeros(4, np.int32), mask=mask)
    assert np.asarray(metric.state.matrix).tolist() == [[1, 0, 0], [1, 0, 0], [0, 0, 0]]
    assert int(metric.state.dropped) == 3


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"zero_division": "x"}, "zero_division"),
        ({"threshold": 0.5}, "threshold"),
        ({"metrics": "recall:binary"}, "binary"),
        ({"class_axis": "x"}, "class_axis"),
        ({"ignore_index": "x"}, "ignore_index"),
    ],
)
def test_options_are_refused_when_it_is_made(nnx: Any, options: dict[str, Any], message: str) -> None:  # noqa: ARG001
    with pytest.raises((TypeError, ValueError), match=message):
        make(3, **options)


def test_any_nan_is_the_same_option(nnx: Any) -> None:
    traced = []

    @nnx.jit
    def step(metric: Any) -> None:
        traced.append(1)
        metric.update(labels=LABELS[0], logits=LOGITS[0])

    for _ in range(3):
        step(make(3, "mcc", zero_division=float("nan"), fill_undefined=float("nan")))
    assert len(traced) == 1


@pytest.mark.usefixtures("nnx")
def test_clones_and_log_dict(jax_backend: Any) -> None:
    metric = make(2, "accuracy, recall:class", prefix="train/")
    other = metric.clone(prefix="val/")
    other.update(labels=np.asarray([0, 1]), logits=np.asarray([0, 0]))
    assert other.log_dict() == {"val/accuracy": 0.5, "val/recall/0": 1, "val/recall/1": 0}
    before = pytest.warns(RuntimeWarning, match=r"compute\(\) before update\(\)")
    with before if jax_backend.looks else nullcontext():
        assert list(metric.compute()) == ["train/accuracy", "train/recall/0", "train/recall/1"]
    assert (int(metric.matrix.sum()), int(other.matrix.sum())) == (0, 2)
    assert all(type(value) is float for value in other.log_dict().values())


@pytest.mark.usefixtures("nnx")
def test_dropped_samples_are_told(jax_backend: Any) -> None:
    """Once by a warning, and with each result; a device would have to be waited for."""
    metric = make(3, "accuracy", prefix="val/")
    metric.update(labels=np.asarray([1, 2, 3, 3]), logits=np.asarray([1, 2, 3, 1]))
    if not jax_backend.looks:
        assert list(metric.compute()) == ["val/accuracy"]
        assert int(metric.dropped[...]) == 2
        return
    with pytest.warns(RuntimeWarning, match="2 samples are not counted"):
        assert int(metric.compute()["val/dropped"]) == 2
    assert int(metric.compute()["val/dropped"]) == 2


@pytest.mark.usefixtures("nnx")
def test_what_cannot_be_counted() -> None:
    metric = make(2, "accuracy")
    with pytest.raises(TypeError, match=r"sample_weight: expected None, .*dtype=jax.numpy.float32"):
        metric.update(labels=np.asarray([0]), logits=np.asarray([0]), sample_weight=np.asarray([1.0]))
    wide = np.asarray([0, 2**32])
    metric.update(labels=wide, logits=wide)
    assert int(metric.dropped[...]) == 1
