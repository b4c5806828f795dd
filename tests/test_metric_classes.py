"""Which class the metrics for training loops, the states, dask and xarray are of, and on which axis the classes are."""

from __future__ import annotations

import importlib
import json
import warnings
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import roads
from conftest import BACKENDS

import matrics
from matrics._catalogue.naming import title_of

RANDOM = np.random.default_rng(28)
# 100 samples of ok, of which 8 are taken for fraud, and 10 of fraud, of which 3 are missed.
CM = [[92, 8], [3, 7]]
TRUE = np.repeat([0, 0, 1, 1], [92, 8, 3, 7])
PRED = np.repeat([0, 1, 0, 1], [92, 8, 3, 7])
RECALL = {"ok": 92 / 100, "fraud": 7 / 10}
NAMES = ["ok", "fraud"]


@pytest.fixture(params=["torch", "torchmetrics", "flax"])
def library(request: pytest.FixtureRequest) -> str:
    if request.param != "flax":
        request.getfixturevalue("torch")
    elif "jax" not in BACKENDS:
        pytest.skip("JAX is not among the backends")
    pytest.importorskip("flax.nnx" if request.param == "flax" else request.param)
    return str(request.param)


@pytest.fixture
def module(library: str) -> Any:
    return importlib.import_module(f"matrics.{library}")


def count(library: str, metric: Any, y_true: Any, y_pred: Any, **options: Any) -> None:
    """Update, in the order and with the arrays of the library."""
    if library == "flax":
        roads.nnx_update(metric, y_true, y_pred, **options)
        return
    torch = importlib.import_module("torch")
    pair = torch.as_tensor(y_true), torch.as_tensor(y_pred)
    metric.update(*(pair if library == "torch" else pair[::-1]), **options)


# Which class ----------------------------------------------------------------------------------------------------------


@pytest.mark.sampled(3)
@pytest.mark.parametrize(
    ("options", "wanted", "title"),
    [
        ({"num_classes": 2}, RECALL["fraud"], "recall of class 1"),
        ({"num_classes": 2, "class_names": NAMES}, RECALL["fraud"], "recall of fraud"),
        ({"num_classes": 2, "positive": 1}, RECALL["fraud"], "recall of class 1"),
        ({"num_classes": 2, "positive": 0}, RECALL["ok"], "recall of class 0"),
        ({"num_classes": 2, "class_names": NAMES, "positive": "ok"}, RECALL["ok"], "recall of ok"),
        ({"labels": [3, 5], "positive": 5}, RECALL["fraud"], "recall of class 5"),
        ({"labels": [3, 5], "class_names": NAMES, "positive": 3}, RECALL["ok"], "recall of ok"),
        ({"labels": [3, 5], "class_names": NAMES, "positive": "fraud"}, RECALL["fraud"], "recall of fraud"),
    ],
)
def test_the_positive_class_of_a_metric(
    library: str, module: Any, options: dict[str, Any], wanted: float, title: str
) -> None:
    labels = np.asarray(options.get("labels", [0, 1]))
    metric = module.ConfusionMetric(metrics="recall, mcc, recall:class", prefix="val/", **options)
    count(library, metric, labels[TRUE], labels[PRED])
    values = metric.log_dict()
    assert values["val/recall"] == pytest.approx(wanted, abs=1e-6)
    assert values["val/mcc"] == pytest.approx(float(matrics.mcc(CM)), abs=1e-6)  # whichever class is positive
    assert all(type(value) is float for value in values.values())
    assert [title_of(key) for key in values][:2] == [f"val/{title}", "val/mcc"]
    names = options.get("class_names") or list(map(str, labels))
    assert [values[f"val/recall/{name}"] for name in names] == pytest.approx(list(RECALL.values()), abs=1e-6)


def test_among_more_than_two_classes_it_is_that_class_against_the_rest(library: str, module: Any) -> None:
    true, pred = RANDOM.integers(0, 3, (2, 200))
    metric = module.ConfusionMetric(
        3, "precision, specificity, f1[owl], accuracy", class_names=["cat", "dog", "owl"], positive="dog"
    )
    count(library, metric, true, pred)
    found = metric.log_dict()
    precision = np.mean(true[pred == 1] == 1)
    owl = 2 * np.sum((true == 2) & (pred == 2)) / (np.sum(true == 2) + np.sum(pred == 2))
    wanted = [precision, np.mean(pred[true != 1] != 1), owl, np.mean(true == pred)]
    assert list(found.values()) == pytest.approx(wanted, abs=1e-6)


def test_words_of_tests_and_thresholds_are_of_class_1(library: str, module: Any) -> None:
    """On two classes; and what is scored against a threshold has a positive class by construction."""
    metric = module.ConfusionMetric(2, "sensitivity, specificity, tpr, tpr:macro")
    count(library, metric, TRUE, PRED)
    found = list(metric.log_dict().values())
    mean = np.mean(list(RECALL.values()))
    assert found == pytest.approx([RECALL["fraud"], RECALL["ok"], RECALL["fraud"], mean], abs=1e-6)
    thresholded = module.ConfusionMetric(2, "recall", threshold=0.5)
    count(library, thresholded, TRUE, PRED.astype(np.float32))
    assert thresholded.log_dict() == pytest.approx({"recall": RECALL["fraud"]}, abs=1e-6)


def test_two_names_of_one_measure(library: str, module: Any) -> None:
    """With a positive class both are of it."""
    metric = module.ConfusionMetric(2, "recall, sensitivity, recall[1], hit_rate, dice, f1", positive=1)
    count(library, metric, TRUE, PRED)
    found = metric.log_dict()
    assert list(found) == ["recall", "sensitivity", "recall[1]", "hit_rate", "dice", "f1"]
    assert list(found.values())[:4] == pytest.approx([RECALL["fraud"]] * 4, abs=1e-6)
    assert found["dice"] == found["f1"]


def test_what_is_no_class_is_refused(module: Any) -> None:
    for options in ({"positive": 2}, {"positive": "fraud"}, {"class_names": NAMES, "positive": "scam"}):
        with pytest.raises(ValueError, match="positive: expected"):
            module.ConfusionMetric(2, "recall", **options)
    with pytest.raises(ValueError, match=r"recall\[scam\]: expected one of the classes 'ok', 'fraud'"):
        module.ConfusionMetric(2, "recall[scam]", class_names=NAMES)


@pytest.mark.exhaustive
def test_positive_in_compiled_code(torch: Any) -> None:
    metric = importlib.import_module("matrics.torch").ConfusionMetric(
        2, "recall, f1[ok], sensitivity", class_names=NAMES, positive="fraud"
    )
    metric.update(torch.from_numpy(TRUE), torch.from_numpy(PRED))
    torch._dynamo.reset()
    found = torch.compile(metric.compute, fullgraph=True, backend="aot_eager")()
    assert list(found) == ["recall", "f1[ok]", "sensitivity"]
    for key, value in metric.compute().items():
        assert torch.equal(found[key], value)


def test_positive_under_jit(jax_backend: Any) -> None:
    del jax_backend
    nnx = pytest.importorskip("flax.nnx")
    metric = importlib.import_module("matrics.flax").ConfusionMetric(
        2, "recall, f1[ok]", class_names=NAMES, positive="fraud"
    )
    metric.update(TRUE, PRED)
    found = nnx.jit(lambda metric: metric.compute())(metric)
    assert float(found["recall"]) == pytest.approx(RECALL["fraud"], abs=1e-6)
    assert {key: float(value) for key, value in found.items()} == pytest.approx(metric.log_dict())


@pytest.mark.exhaustive
def test_scores_of_a_label(library: str, module: Any) -> None:
    """Scores may be of any label, with a mask or without; those of several classes, of one of these."""
    sk = pytest.importorskip("sklearn.metrics")
    true, scores = RANDOM.choice([2, 5], 200), RANDOM.random(200, np.float32)
    mask = RANDOM.random(200) < 0.7
    given = mask if library == "flax" else importlib.import_module("torch").from_numpy(mask)
    for positive in (2, 5):
        metric = module.ScoreMetric(metrics="roc_auc, recall@0.5", positive=positive, bounds=True, ignore_index=9)
        count(library, metric, true, scores)
        values = metric.log_dict()
        assert values["roc_auc_low"] <= sk.roc_auc_score(true == positive, scores) <= values["roc_auc_high"]
        assert values["recall@0.5"] == pytest.approx(np.mean(scores[true == positive] >= 0.5), abs=1e-6)
        titles = [title_of(key) for key in values][::3]
        assert titles == [f"roc_auc of class {positive}", f"recall of class {positive} at 0.5"]
        masked = module.ScoreMetric(metrics="recall@0.5", positive=positive)
        count(library, masked, true, scores, mask=given)
        wanted = np.mean(scores[mask & (true == positive)] >= 0.5)
        assert masked.log_dict() == pytest.approx({"recall@0.5": wanted}, abs=1e-6)
    with pytest.raises(TypeError, match="positive: expected an integer"):
        module.ScoreMetric(positive="fraud")
    true, scores = RANDOM.integers(0, 3, 200), RANDOM.dirichlet([1, 1, 1], 200).astype(np.float32)
    specs = "roc_auc, roc_auc:macro, roc_auc:class, recall@0.5"
    metric = module.ScoreMetric(3, specs, class_names=["cat", "dog", "owl"], positive="dog")
    count(library, metric, true, scores)
    values = metric.log_dict()
    assert values["roc_auc"] == values["roc_auc/dog"] != values["roc_auc:macro"]
    assert values["recall@0.5"] == pytest.approx(np.mean(scores[true == 1, 1] >= 0.5), abs=1e-6)
    with pytest.raises(ValueError, match="positive: expected one of the classes"):
        module.ScoreMetric(3, class_names=["cat", "dog", "owl"], positive="emu")


@pytest.mark.sampled(1)
def test_titles_of_values_at_thresholds(library: str, module: Any) -> None:
    """No two numbers under one: of which class, and of which average; a class in brackets is that class or an error."""
    true, scores = RANDOM.integers(0, 2, 200), RANDOM.random(200, np.float32)
    recalls = [np.mean(scores[true == k] >= 0.5) for k in (0, 1)]
    metric = module.ScoreMetric(metrics="recall@0.5, recall[0]@0.5, recall:macro@0.5, mcc@0.5", positive=0)
    count(library, metric, true, scores)
    values = {title_of(key): value for key, value in metric.log_dict().items()}
    assert list(values) == ["recall of class 0 at 0.5", "recall, macro at 0.5", "mcc at 0.5"]
    assert values["recall of class 0 at 0.5"] == pytest.approx(recalls[0], abs=1e-6)
    assert values["recall, macro at 0.5"] == pytest.approx((recalls[0] + 1 - recalls[1]) / 2, abs=1e-6)
    for options in ({"positive": 0}, {"num_classes": 3}):  # of the others, nothing says that they are class 1
        with pytest.raises(ValueError, match=r"expected (one of the classes 'rest', 0|no class in square brackets)"):
            module.ScoreMetric(metrics="recall[1]@0.5", **options)
    metric = module.ScoreMetric(3, "roc_auc, roc_auc:class, recall@0.5, mcc@0.5")
    count(library, metric, RANDOM.integers(0, 3, 50), RANDOM.dirichlet([1, 1, 1], 50).astype(np.float32))
    assert list(map(title_of, metric.log_dict())) == [
        "roc_auc, macro",
        *(f"roc_auc of class {k}" for k in range(3)),
        *(f"recall of class {k} at 0.5" for k in range(3)),
        *(f"mcc of class {k} against the rest at 0.5" for k in range(3)),
    ]


@pytest.mark.exhaustive
def test_scores_of_a_label_in_compiled_code(torch: Any) -> None:
    metrics = [importlib.import_module("matrics.torch").ScoreMetric(metrics="roc_auc", positive=5) for _ in range(2)]
    batch = torch.from_numpy(RANDOM.choice([2, 5], 40)), torch.rand(40)
    torch._dynamo.reset()
    torch.compile(metrics[0], fullgraph=True, backend="aot_eager")(*batch)
    metrics[1].update(*batch)
    assert torch.equal(metrics[0].counts, metrics[1].counts)
    torch._dynamo.reset()
    found = torch.compile(metrics[0].compute, fullgraph=True, backend="aot_eager")()
    torch.testing.assert_close(found["roc_auc"], metrics[1].compute()["roc_auc"], rtol=1e-12, atol=0)


def test_states(backend: Any) -> None:
    true, pred = backend.asarray(TRUE), backend.asarray(PRED)
    for state in (matrics.ConfusionState, matrics.MarginState):
        one = state.zeros(2, like=true).update(true, pred)
        for name, value in RECALL.items():
            found = one.score("recall, accuracy", class_names=NAMES, positive=name)
            assert float(found["recall"]) == pytest.approx(value, abs=1e-6)
            assert float(found["accuracy"]) == pytest.approx(99 / 110, abs=1e-6)
            assert float(one.score(f"recall[{name}]", class_names=NAMES)[f"recall[{name}]"]) == float(found["recall"])
        assert float(one.score("recall", positive=0)["recall"]) == pytest.approx(RECALL["ok"], abs=1e-6)
        assert float(one.score("sensitivity")["sensitivity"]) == pytest.approx(RECALL["fraud"], abs=1e-6)
        with pytest.raises(ValueError, match="positive: expected one of the classes"):
            one.score("recall", class_names=NAMES, positive="scam")


def test_margins_have_labels_and_a_threshold_as_cells_have() -> None:
    options: dict[str, Any] = {"labels": ["ok", "fraud"]}
    margins, cells = matrics.MarginState.zeros(**options), matrics.ConfusionState.zeros(**options)
    words = ["ok", "fraud", "fraud", "scam"], ["ok", "ok", "fraud", "ok"]
    both = [state.update(*words, **options) for state in (margins, cells)]
    assert both[0].true_positives.tolist() == [1, 1] == both[1].matrix.diagonal().tolist()
    assert int(both[0].dropped) == 1 == int(both[1].dropped)
    scored = [state.update([0, 1, 1], [0.2, 0.5, 0.4], threshold=0.5) for state in (margins, cells)]
    assert scored[0].true_positives.tolist() == [1, 1] == scored[1].matrix.diagonal().tolist()
    with pytest.raises(ValueError, match="labels: expected 2, a label for each class of the state, got 3"):
        margins.update(*words, labels=["ok", "fraud", "scam"])


# On which axis --------------------------------------------------------------------------------------------------------


@pytest.mark.exhaustive
@pytest.mark.exhaustive(library=["flax"], shape=[(2, 4, 4, 4)])
@pytest.mark.parametrize("shape", [(8, 5, 5), (2, 4, 4, 4)])
@pytest.mark.parametrize("kind", ["ConfusionMetric", "ScoreMetric"])
def test_an_axis_that_nobody_has_named(library: str, module: Any, shape: tuple[int, ...], kind: str) -> None:
    """Where both readings fit, there is one warning with both; where it is named, none, and each is counted as such."""
    n, scores = shape[-1], RANDOM.random(shape).astype(np.float32)
    true = RANDOM.integers(0, n, shape[:-1])
    make, spec = getattr(module, kind), "recall:class" if kind == "ConfusionMetric" else "roc_auc"
    guess = -1 if library == "flax" else 1
    unnamed = make(n, spec)
    with pytest.warns(UserWarning, match=r"both have .*class_axis=.*pass class_axis="):
        count(library, unnamed, true, scores)
    for axis in (1, -1):
        named = make(n, spec, class_axis=axis)
        count(library, named, true, scores)
        last = make(n, spec, class_axis=-1)
        count(library, last, true, np.ascontiguousarray(np.moveaxis(scores, axis, -1)))
        assert named.log_dict() == last.log_dict()
        assert (named.log_dict() == unnamed.log_dict()) == (axis == guess)


@pytest.mark.sampled(1)
def test_an_axis_that_only_one_reading_fits(library: str, module: Any) -> None:
    """As many samples or pixels as classes alone are not ambiguous: the labels say which it is."""
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        true, scores = RANDOM.integers(0, 4, (2, 3, 4)), RANDOM.random((2, 3, 4, 4), np.float32)
        scores = scores if library == "flax" else scores.transpose(0, 2, 1, 3)
        metric = module.ConfusionMetric(4)
        count(library, metric, true, scores)
        count(library, metric, true[0, 0], np.eye(4, dtype=np.float32))
    assert int(np.asarray(metric.matrix).sum()) == 24 + 4


@pytest.mark.exhaustive  # by default test_class_axis.py compiles without a warning
def test_compiled_code_counts_without_a_word(torch: Any) -> None:
    metric = importlib.import_module("matrics.torch").ConfusionMetric(5, "accuracy")
    true, scores = torch.from_numpy(RANDOM.integers(0, 5, (8, 5))), torch.rand(8, 5, 5)
    torch._dynamo.reset()
    torch.compile(metric, fullgraph=True, backend="aot_eager")(true, scores)
    assert torch.equal(metric.matrix.diagonal(), torch.bincount(true[scores.argmax(1) == true], minlength=5))


# What is said ---------------------------------------------------------------------------------------------------------


@pytest.mark.sampled(3)
@pytest.mark.parametrize(
    ("true", "pred", "axis", "says"),
    [
        ((4, 80), (4, 80), None, "several labels a sample.*MultilabelState"),
        ((4, 80), (4, 80), None, "one-hot targets pass y_true.argmax"),
        ((2, 7), (2, 7, 80), 1, "got 7 in shape .*axis -1 has this length"),
        ((2, 7), (2, 80, 7), -1, "got 7 in shape .*axis 1 has this length"),
    ],
)
def test_messages_name_what_it_probably_is(  # noqa: PLR0917 (parameters)
    library: str, module: Any, true: Any, pred: Any, axis: Any, says: str
) -> None:
    metric = module.ConfusionMetric(80, class_axis=axis)
    with pytest.raises(ValueError, match=says):
        count(library, metric, np.zeros(true, int), np.zeros(pred, np.float32))


def test_areas_belong_to_the_metric_of_scores(module: Any) -> None:
    for spec in ("roc_auc", "accuracy, average_precision:class", "recall@0.5"):
        with pytest.raises(ValueError, match=r"which need scores: use the ScoreMetric"):
            module.ConfusionMetric(3, [spec])


def test_floating_targets_are_told_of_several_labels(torch: Any) -> None:
    metric = importlib.import_module("matrics.torch").ConfusionMetric(80)
    with pytest.raises(ValueError, match=r"one-hot targets pass y_true\.argmax.*MultilabelState"):
        metric.update(torch.zeros(4, 80), torch.zeros(4, 80))


# Where the values go --------------------------------------------------------------------------------------------------


@pytest.mark.sampled(1)
def test_files_say_of_which_class_a_measure_is(library: str, module: Any, tmp_path: Path) -> None:
    """So that a run with another positive class never has its numbers in the same column; dashboards get the keys."""
    from matrics._integrations.loggers.values import named_numbers
    from matrics.loggers import log_to

    lines = {}
    for positive in ("ok", "fraud"):
        metric = module.ConfusionMetric(
            2, "recall, recall:weighted, recall:class, mcc", class_names=NAMES, positive=positive, prefix="val/"
        )
        count(library, metric, TRUE, PRED)
        path = tmp_path / f"{positive}.jsonl"
        log_to(path, metric.log_dict(), 1)
        lines[positive] = list(json.loads(path.read_text("utf-8")))
        assert next(iter(named_numbers(metric.compute()))) == "val/recall"
    rest = ["val/recall:weighted", "val/recall/ok", "val/recall/fraud", "val/mcc"]
    assert lines["ok"] == ["step", "val/recall of ok", *rest]
    assert lines["fraud"] == ["step", "val/recall of fraud", *rest]
    scores = matrics.score(CM, "recall", class_names=NAMES, positive="ok")
    log_to(tmp_path / "run.csv", scores, 1)
    assert (tmp_path / "run.csv").read_text("utf-8") == "step,recall of ok\n1,0.92\n"
    with pytest.raises(ValueError, match=r"'recall of class 1' more and 'recall of ok' less"):
        log_to(tmp_path / "run.csv", matrics.score(CM, "recall"), 2)
    plot = pytest.importorskip("matplotlib") and matrics.plot
    assert plot.training(tmp_path / "run.csv").directions == {"recall of ok": True}


def test_values_are_saved_and_loaded(torch: Any, tmp_path: Path) -> None:
    """By PyTorch, which loads nothing but plain values and what it knows to be safe."""
    metric = importlib.import_module("matrics.torch").ConfusionMetric(2, "recall", positive=1)
    metric.update(torch.from_numpy(TRUE), torch.from_numpy(PRED))
    for values in (metric.compute(), metric.log_dict()):
        torch.save(values, tmp_path / "values.pt")
        assert torch.load(tmp_path / "values.pt", weights_only=True) == values


def test_dask() -> None:
    da = pytest.importorskip("dask.array")
    on_dask = importlib.import_module("matrics.dask")
    stack = da.from_array(np.asarray([CM, np.transpose(CM)]), chunks=(1, 2, 2))
    for options in ({"class_names": NAMES, "positive": "fraud"}, {"positive": 0}, {"class_names": NAMES}):
        wanted = matrics.score(stack.compute(), "recall, recall:class, sensitivity", **options)
        found = on_dask.score(stack, "recall, recall:class, sensitivity", **options)
        assert list(found) == list(wanted)
        assert list(map(title_of, found)) == list(map(title_of, wanted))
        for key, values in wanted.items():
            np.testing.assert_array_equal(found[key].compute(), values)
        limits = matrics.interval(stack.compute(), "recall, recall:class", **options)
        lazy = on_dask.interval(stack, "recall, recall:class", **options)
        assert list(lazy) == list(limits)
        for key, interval in limits.items():
            np.testing.assert_allclose(lazy[key].low.compute(), interval.low)
    bad = da.from_array(np.asarray([CM, [[1, -1], [0, 1]]]), chunks=(1, 2, 2))
    with pytest.raises(matrics.InvalidConfusionMatrix):
        on_dask.interval(bad, "accuracy", invalid="raise")["accuracy"].low.compute()


def test_xarray() -> None:
    xr = pytest.importorskip("xarray")
    named = importlib.import_module("matrics.xarray")
    plain = xr.DataArray([CM, np.transpose(CM)], dims=("model", "true", "pred"))
    labelled = plain.assign_coords(true=NAMES)
    for da, positive, title in ((plain, 1, "recall of class 1"), (labelled, "fraud", "recall of fraud")):
        found = named.score(da, "recall, dice, f1", positive=positive)
        assert float(found["recall"][0]) == pytest.approx(RECALL["fraud"])
        assert found["recall"].attrs["long_name"] == title
        assert found["dice"].equals(found["f1"])
        limits = da.matrics.interval("recall", positive=positive)
        wanted = matrics.interval(np.asarray(da), "recall", positive=1)["recall"]
        np.testing.assert_allclose(limits["recall_limits"], np.stack([wanted.low, wanted.high], -1))
        assert limits["recall_limits"].attrs["long_name"] == f"95 % limits of the {title}"
    titles = {"recall": "recall of class 1", "recall:macro": "recall, macro"}
    assert {spec: one.attrs["long_name"] for spec, one in named.score(plain, list(titles)).items()} == titles
    both = named.score(plain, "recall, sensitivity, recall[1]", positive=1)  # two names of one measure
    assert [float(both[name][0]) for name in both] == pytest.approx([RECALL["fraud"]] * 3)
    limits = named.interval(plain, "recall, sensitivity", positive=1)
    np.testing.assert_array_equal(limits["recall_limits"], limits["sensitivity_limits"])
    assert float(named.score(labelled, "recall[ok]")["recall[ok]"][0]) == pytest.approx(RECALL["ok"])
    with pytest.raises(ValueError, match="positive: expected one of the classes 'ok', 'fraud'"):
        labelled.matrics.score("recall", positive=1)


def test_several_labels_have_their_positive_class_by_construction() -> None:
    y_true, y_pred = RANDOM.integers(0, 2, (2, 50, 3))
    state = matrics.MultilabelState.zeros(3).update(y_true, y_pred)
    wanted = [np.mean(y_pred[y_true[:, k] == 1, k]) for k in range(3)]
    np.testing.assert_allclose(state.score("recall", average="label")["recall"], wanted)
    assert float(state.score("recall")["recall"]) == pytest.approx(np.mean(wanted))
    for average in (None, "label"):  # None is no average, as in scikit-learn
        found = matrics.multilabel.score(y_true, y_pred, "recall", average=average)["recall"]
        np.testing.assert_allclose(found, wanted)
    assert float(matrics.multilabel.score(y_true, y_pred, "recall")["recall"]) == pytest.approx(np.mean(wanted))
