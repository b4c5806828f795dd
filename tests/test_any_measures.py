"""Metrics of any measures: the values of the kinds that count a part of them, and those of other libraries."""

from __future__ import annotations

import importlib
import inspect
import pickle
import warnings
from typing import Any

import numpy as np
import pytest
from test_decay import Door

RANDOM = np.random.default_rng(52)
N = 4
SIZES = (40, 0, 7, 40)
OF_LABELS, OF_SCORES = "f1, mcc, recall:class", "roc_auc, ece, log_loss, top_k_accuracy(k=2), f1@0.4"
OF_CLASS = "roc_auc, ece, log_loss, recall@0.4"
OF_SETS = "f1, f1:label, roc_auc, subset_accuracy, ranking_loss"
LIBRARIES = ("torch", "torchmetrics", "flax")
pytestmark = pytest.mark.filterwarnings("ignore:.* not counted", "ignore:.* treats scores in the same bucket")

# Options of the metric; those that its parts have in addition or otherwise; and those of an update.
CASES: dict[str, tuple[dict[str, Any], dict[str, Any], dict[str, Any]]] = {
    "logits": ({"num_classes": N, "from_logits": True}, {}, {}),
    "probabilities": ({"num_classes": N, "class_names": list("abcd"), "prefix": "val/"}, {}, {}),
    "an ignored class": ({"num_classes": N, "from_logits": True, "ignore_index": 1}, {}, {"mask": True}),
    "ignored labels": ({"num_classes": N, "ignore_index": [-1, 255], "bounds": True}, {}, {}),
    "weights": ({"num_classes": N, "dtype": "float32"}, {}, {"sample_weight": True}),
    "decay": ({"num_classes": N, "from_logits": True, "decay": 0.5}, {}, {}),
    "window": ({"num_classes": N, "from_logits": True, "window": 2}, {}, {"mask": True}),
    "positive": ({"num_classes": N, "positive": 2}, {}, {}),
    "edges": ({"num_classes": N, "edges": [0.1, 0.3, 0.5, 0.9]}, {}, {}),
    "class 1": ({"from_logits": True}, {"labels": {"num_classes": 2, "threshold": 0.5}}, {}),
    "threshold": ({"num_classes": 2, "threshold": 0.3}, {"scores": {"num_classes": None, "threshold": None}}, {}),
    "several labels": ({"num_labels": N, "from_logits": True, "threshold": 0.4}, {}, {"mask": True}),
}


@pytest.fixture(params=LIBRARIES)
def door(request: pytest.FixtureRequest, torch: Any) -> Any:  # noqa: ARG001 (skips without PyTorch)
    if request.param != "torch":
        pytest.importorskip(request.param)
    return Door(request.param)


def draw(case: str, sizes: tuple[int, ...] = SIZES) -> list[tuple[np.ndarray, np.ndarray]]:
    """Labels, some of them out of range, and scores, one of them NaN."""
    options, found = CASES[case][0], []
    for size in sizes:
        logits = RANDOM.normal(0, 2, (size, N)).astype(np.float32)
        labels = RANDOM.integers(-1, N + 1, size).astype(np.int32)
        labels = np.where(labels == N, 255, labels)
        if "num_labels" in options:
            labels = RANDOM.integers(0, 2, (size, N)).astype(np.int32)
        elif options.get("num_classes") != N:
            labels, logits = np.where(labels > 1, labels - 2, labels), logits[:, 0]
        if size > 20:
            logits[1] = np.nan
        scores = logits if options.get("from_logits") else softmax(logits) if logits.ndim > 1 else logistic(logits)
        found.append((labels, scores))
    return found


def softmax(logits: np.ndarray) -> np.ndarray:
    shares = np.exp(logits)
    return (shares / shares.sum(axis=1, keepdims=True)).astype(np.float32)


def logistic(logits: np.ndarray) -> np.ndarray:
    return (1 / (1 + np.exp(-logits))).astype(np.float32)


def real(door: Door, options: dict[str, Any]) -> dict[str, Any]:
    """The options with the dtype of the library."""
    if "dtype" not in options:
        return options
    module = importlib.import_module("jax.numpy" if door.name == "flax" else "torch")
    return options | {"dtype": getattr(module, options["dtype"])}


def kinds(door: Door, case: str) -> tuple[Any, list[Any]]:
    """A metric of any measures, and the metrics that count a part of them."""
    options, others, _ = CASES[case]
    module, options = door.module, real(door, options)
    if "num_labels" in options:
        return module.Metrics(metrics=OF_SETS, **options), [module.MultilabelMetric(metrics=OF_SETS, **options)]
    of_scores = OF_SCORES if options.get("num_classes") == N else OF_CLASS
    own = {"labels": OF_LABELS, "scores": of_scores}
    makers = {"labels": module.ConfusionMetric, "scores": module.ScoreMetric}
    parts = []
    for part, maker in makers.items():
        known = inspect.signature(maker).parameters
        given = options | others.get(part, {})
        given = {name: value for name, value in given.items() if name in known and value is not None}
        parts.append(maker(metrics=own[part], **given))
    return module.Metrics(metrics=f"{OF_LABELS}, {of_scores}", **options), parts


def options_of_update(door: Door, case: str, labels: np.ndarray) -> dict[str, Any]:
    kind = importlib.import_module("jax.numpy").asarray if door.name == "flax" else None
    asarray = kind or importlib.import_module("torch").from_numpy
    samples = labels[:, 0] if labels.ndim > 1 else labels
    made = {"mask": np.arange(len(samples)) % 3 > 0, "sample_weight": (samples % 3 / 4 + 0.5).astype(np.float32)}
    return {name: asarray(made[name]) for name in CASES[case][2]}


@pytest.mark.parametrize("case", CASES)
@pytest.mark.sampled(2)
@pytest.mark.exhaustive(door=["flax"], case=[name for name in CASES if name != "several labels"])
def test_values_are_those_of_the_kinds(door: Door, case: str) -> None:
    """Bit for bit, names included, after each batch; so are the dropped samples."""
    metric, parts = kinds(door, case)
    for batch in draw(case):
        options = options_of_update(door, case, batch[0])
        for each in (metric, *parts):
            door.update(each, batch, **options)
        wanted: dict[str, float] = {}
        for part in parts:
            wanted |= part.log_dict()
        found = metric.log_dict()
        assert found == pytest.approx(wanted, abs=0 if door.name != "flax" else 1e-6, nan_ok=True)
    assert [*found][-1].endswith("dropped")
    assert found[[*found][-1]] == float(parts[0].state.dropped) > 0
    assert len(found) > 4


@pytest.mark.sampled(1)
def test_values_are_those_of_other_libraries(door: Door) -> None:
    """scikit-learn's, and torchmetrics' calibration error; scores on a grid, of which each has a bucket of its own."""
    measures = pytest.importorskip("sklearn.metrics")
    labels = RANDOM.integers(0, N, 300).astype(np.int32)
    cuts = np.sort(np.array([RANDOM.choice(np.arange(1, 64), N - 1, replace=False) for _ in labels]), axis=1)
    scores = (np.diff(cuts, axis=1, prepend=0, append=64) / 64).astype(np.float32)
    metric = door.module.Metrics(N, "roc_auc, f1, mcc, log_loss, top_k_accuracy(k=2), ece")
    for part in np.array_split(np.arange(len(labels)), 3):
        door.update(metric, (labels[part], scores[part]))
    found, predicted = metric.log_dict(), scores.argmax(axis=1)
    rows = np.take_along_axis(scores, labels[:, None], 1)
    higher, tied = (scores > rows).sum(1), (scores == rows).sum(1)
    assert found["f1"] == pytest.approx(measures.f1_score(labels, predicted, average="macro"), abs=1e-6)
    assert found["mcc"] == pytest.approx(measures.matthews_corrcoef(labels, predicted), abs=1e-6)
    areas = [measures.roc_auc_score(labels == k, scores[:, k]) for k in range(N)]
    assert found["roc_auc"] == pytest.approx(np.mean(areas), abs=1e-6)
    assert found["log_loss"] == pytest.approx(measures.log_loss(labels, scores.astype(float)), abs=1e-6)
    assert found["top_k_accuracy(k=2)"] == pytest.approx(np.clip((2 - higher) / tied, 0, 1).mean(), abs=1e-6)
    torch = importlib.import_module("torch")
    errors = pytest.importorskip("torchmetrics.functional.classification").multiclass_calibration_error
    error = errors(torch.from_numpy(scores), torch.from_numpy(labels).long(), N, n_bins=15)
    assert found["ece"] == pytest.approx(float(error), abs=1e-6)


@pytest.mark.parametrize("case", ["labels", "labels and a mask", "labels of two"])
@pytest.mark.sampled(1)
def test_labels_of_any_numbers(door: Door, case: str) -> None:
    """As with the labels 0 to n - 1; labels to ignore are among them or not."""
    known = [7, 3, 9, 12]
    batches = draw("logits", (60, 30))
    two = case == "labels of two"
    if two:
        known = [7, 3]
        batches = [(np.where(labels > 1, -1, labels), scores[:, 0]) for labels, scores in batches]
    given = {"ignore_index": [3, 99]} if case == "labels and a mask" else {}
    plain = {"ignore_index": [1, 99]} if given else {}
    names = [str(label) for label in known]
    own = {"labels": known, "positive": 3} | given | ({"threshold": 0.4} if two else {})
    other = {"num_classes": len(known), "positive": 1} | plain | ({"threshold": 0.4} if two else {"class_names": names})
    if not two:
        own, other = own | {"positive": None}, other | {"positive": None}
    measures = "f1, mcc, roc_auc, ece" if two else "f1, recall:class, roc_auc:class, roc_auc, log_loss"
    metric, wanted = (door.module.Metrics(metrics=measures, from_logits=True, **x) for x in (own, other))
    numbers = np.array([*known, *[99] * (255 - len(known)), 99, 55], np.int32)
    for labels, scores in batches:
        plain_labels = np.where(labels == 255, 99, labels).astype(np.int32)
        door.update(wanted, (plain_labels, scores))
        door.update(metric, (numbers[plain_labels], scores))
    assert metric.log_dict() == pytest.approx(wanted.log_dict(), abs=1e-6)
    assert metric.log_dict()["dropped"] > 0


@pytest.mark.sampled(1)
def test_only_what_is_needed_is_kept(door: Door) -> None:
    module = door.module
    made = {
        "labels": module.Metrics(N, "f1"),
        "scores": module.Metrics(N, "roc_auc"),
        "both": module.Metrics(N, "roc_auc, f1"),
        "sets": module.Metrics(num_labels=N, metrics="f1"),
    }
    states = {
        name: {part: x is not None for part, x in metric.state._asdict().items()} for name, metric in made.items()
    }
    assert states == {
        "labels": {"labels": True, "scores": False, "sets": False},
        "scores": {"labels": False, "scores": True, "sets": False},
        "both": {"labels": True, "scores": True, "sets": False},
        "sets": {"labels": False, "scores": False, "sets": True},
    }
    # Cells of 100,000 classes would take 80 GB, and no measure needs them.
    many = module.Metrics(100_000, "f1, log_loss").state.labels
    assert type(many).__name__ == "MarginState"
    assert made["both"].matrix.shape == (N, N)
    assert made["sets"].matrix.shape == (N, 2, 2)
    with pytest.raises(ValueError, match=r"matrix: expected a metric with a measure of predicted labels, such as 'f1'"):
        _ = made["scores"].matrix


@pytest.mark.sampled(1)
def test_predicted_labels_alone(door: Door) -> None:
    """They are enough for measures of labels; the error names the measures that need scores."""
    labels = np.array([0, 1, 2, 3], np.int32)
    metric = door.module.Metrics(N, "f1, accuracy")
    door.update(metric, (labels, labels[::-1].copy()))
    assert metric.log_dict() == {"f1": 0, "accuracy": 0}
    metric = door.module.Metrics(N, "f1, ece, roc_auc:class")
    with pytest.raises(TypeError, match=r"expected floating scores for ece, roc_auc:class, got predicted lab"):
        door.update(metric, (labels, labels))
    with pytest.raises(TypeError, match=r"expected floating scores of class 1, .* pass num_classes=2 for labels"):
        door.update(door.module.Metrics(metrics="f1"), (labels % 2, labels % 2))


@pytest.mark.sampled(1)
def test_a_refused_batch_counts_nowhere(door: Door) -> None:
    (labels, scores), *_ = draw("logits", (30,))
    metric = door.module.Metrics(N, f"{OF_LABELS}, {OF_SCORES}", from_logits=True)
    door.update(metric, (labels, scores))
    before = metric.log_dict()
    bad: list[tuple[Any, ...]] = [
        (labels[:-1], scores),
        (labels, scores[:, :-1]),
        (labels, scores[:, 0]),
        (labels, labels),
        (scores, scores),
        (labels[:, None], scores),
    ]
    for batch in bad:
        with pytest.raises((TypeError, ValueError)):
            door.update(metric, batch)
        assert metric.log_dict() == before
    for options in ({"sample_weight": scores[:, 0]}, {"mask": labels[:-1] > 0}):
        asarray = importlib.import_module("jax.numpy" if door.name == "flax" else "torch").asarray
        with pytest.raises((TypeError, ValueError)):
            door.update(metric, (labels, scores), **{name: asarray(x) for name, x in options.items()})
        assert metric.log_dict() == before


def test_refused_options(door: Door) -> None:
    make = door.module.Metrics
    for options, message in (
        ({"metrics": "f1, roc_acu"}, r"did you mean roc_auc, .* got 'roc_acu'"),
        ({"metrics": "top_k_acuracy(k=3)"}, "did you mean top_k_accuracy"),
        ({"metrics": "mmc, roc_auc"}, "unknown metric 'mmc'; did you mean mcc"),
        ({"metrics": "roc_curve, f1"}, "metrics: expected roc_auc, average_precision, .* got 'roc_curve'"),
        ({"metrics": "f1", "bits": 6}, "bits: expected None without a measure of scores"),
        ({"metrics": "f1", "bounds": True}, "bounds: expected None without a measure of scores"),
        ({"metrics": "roc_auc", "threshold": 0.5}, "threshold: expected None without a measure of predicted labels"),
        ({"metrics": "f1", "threshold": 0.5}, "threshold: expected num_classes=2, got 4"),
        ({"num_labels": 3}, r"num_classes: expected None with num_labels=, .* got 4"),
        (
            {"num_classes": None, "num_labels": 3, "positive": 1, "metrics": "f1"},
            "positive: expected None with num_lab",
        ),
        ({"num_classes": None, "metrics": "f1, roc_auc", "positive": 0}, "positive: expected class 1, .* got 0"),
        ({"num_classes": None, "metrics": "top5"}, "expected num_classes= for 'top5'"),
        ({"metrics": []}, "metrics: expected at least one metric, got none"),
    ):
        with pytest.raises(ValueError, match=message):
            make(**{"num_classes": N} | options)
    with pytest.raises(
        TypeError, match=r"num_classes: expected a number of classes, .* pass measures as the second argument"
    ):
        make("f1, roc_auc")
    with pytest.raises((TypeError, ValueError), match="windwo"):
        make(N, windwo=3)


@pytest.mark.sampled(1)
def test_one_warning_of_scores_that_are_logits(door: Door) -> None:
    """Although measures of labels and of scores both compare them with thresholds."""
    (labels, scores), *_ = draw("class 1", (60,))
    for measures in ("f1, recall@0.4", "f1, log_loss"):
        metric = door.module.Metrics(metrics=measures)
        with warnings.catch_warnings(record=True) as found:
            warnings.simplefilter("always")
            metric.update(*door.arrays((labels, np.nan_to_num(scores))))
            metric.compute()
        odd = [str(each.message) for each in found if "not in [0, 1]" in str(each.message)]
        assert len(odd) == 1, odd


def test_logits_by_name() -> None:
    """Flax's keyword alone says that scores are logits, for measures of labels as well."""
    pytest.importorskip("flax.nnx")
    door = Door("flax")
    (labels, scores), *_ = draw("class 1", (60,))
    named, made = (
        door.module.Metrics(metrics="f1, roc_auc"),
        door.module.Metrics(metrics="f1, roc_auc", from_logits=True),
    )
    y_true, logits = door.arrays((labels, scores))
    named.update(labels=y_true, logits=logits)
    made.update(y_true, logits)
    assert named.log_dict() == pytest.approx(made.log_dict(), abs=1e-6)


@pytest.mark.sampled(1)
def test_merged_reset_cloned_and_saved(door: Door) -> None:
    case = "logits"
    first, second = kinds(door, case)[0], kinds(door, case)[0]
    whole, batches = kinds(door, case)[0], draw(case)
    for metric, given in ((first, batches[:2]), (second, batches[2:]), (whole, batches)):
        for batch in given:
            door.update(metric, batch)
    copied = first.clone(prefix="train/")
    first.merge_state(second)
    assert first.log_dict() == pytest.approx(whole.log_dict(), abs=1e-6)
    assert [*copied.log_dict()] == [f"train/{name}" for name in whole.log_dict()]
    door.update(copied, batches[2])
    door.update(copied, batches[3])
    assert [*copied.log_dict().values()] == pytest.approx([*whole.log_dict().values()], abs=1e-6)
    if door.name != "flax":
        again, expected = pickle.loads(pickle.dumps(whole)), whole.log_dict()
        door.update(again, batches[0])
        assert whole.log_dict() == expected != again.log_dict()
        empty = kinds(door, case)[0]
        if door.name == "torchmetrics":
            whole.persistent(mode=True)
            empty.persistent(mode=True)
        empty.load_state_dict(whole.state_dict())
        assert empty.log_dict() == expected
        bad = dict(whole.state_dict())
        key = next(name for name in bad if name.startswith("labels_counts"))
        with pytest.raises(ValueError, match=rf"expected whole counts of at least 0, got -1 .* of '{key}'"):
            empty.load_state_dict(bad | {key: bad[key] * 0 - 1})
    first.reset()
    door.update(first, batches[0])
    second.reset()
    door.update(second, batches[0])
    assert first.log_dict() == second.log_dict()
    with pytest.raises(
        ValueError, match=r"expected a metric that counts labels and scores, got a metric that counts labels"
    ):
        first.merge_state(door.module.Metrics(N, "f1", from_logits=True))


@pytest.mark.sampled(1)
def test_states_are_added(door: Door) -> None:
    one, two = kinds(door, "logits")[0], kinds(door, "logits")[0]
    batches = draw("logits", (20, 30))
    for metric, batch in zip((one, two), batches, strict=True):
        door.update(metric, batch)
    state = one.state + two.state
    if door.name == "flax":  # as a psum adds them up
        jax = importlib.import_module("jax")
        merged = kinds(door, "logits")[0]
        merged.merge_state(jax.tree.map(lambda x, y: x + y, one.state, two.state))
        door.update(one, batches[1])
        assert merged.log_dict() == pytest.approx(one.log_dict(), abs=1e-6)
    else:
        door.update(one, batches[1])
    assert int(state.dropped) == int(one.state.dropped)
    np.testing.assert_array_equal(state.labels.matrix, one.state.labels.matrix)
    np.testing.assert_array_equal(state.scores.counts, one.state.scores.counts)
    with pytest.raises(ValueError, match="expected states of the same kinds of measures, got states of other kinds"):
        _ = state + door.module.Metrics(N, "f1").state


def test_the_doors_of_torchmetrics(torch: Any) -> None:
    """One measure alone, each value for Lightning, and a collection whose metrics share their counts."""
    torchmetrics = pytest.importorskip("torchmetrics")
    door = Door("torchmetrics")
    batch = door.arrays(draw("logits", (40,))[0])
    metric = kinds(door, "logits")[0]
    values = metric(*batch)
    assert {name: each.compute() for name, each in metric.items()} == {x: values[x] for x in values if x != "dropped"}
    assert metric["roc_auc"].compute() == values["roc_auc"]
    assert torch.equal(metric["recall:class"].compute(), torch.stack([values[f"recall/{k}"] for k in range(N)]))
    with pytest.raises(KeyError, match="expected one of 'f1', 'mcc', 'recall:class', 'roc_auc'"):
        metric["kappa"]
    collection = torchmetrics.MetricCollection({name: metric[name] for name in ("mcc", "roc_auc")})
    collection.update(*batch)
    assert len(collection.compute_groups) == 1
    assert collection.compute()["mcc"] == metric["mcc"].compute()


@pytest.mark.filterwarnings("ignore:`isinstance.treespec, LeafSpec.` is deprecated")
@pytest.mark.filterwarnings("ignore:.*does not have many workers")
def test_lightning(torch: Any, monkeypatch: pytest.MonkeyPatch, tmp_path: Any) -> None:
    """Values of an epoch are of all batches, and those of kinds."""
    lightning = pytest.importorskip("lightning")
    pytest.importorskip("torchmetrics")
    monkeypatch.chdir(tmp_path)
    door = Door("torchmetrics")
    batches = [door.arrays(batch) for batch in draw("logits", (10, 20, 7))]
    metric, parts = kinds(door, "logits")

    class Model(lightning.LightningModule):
        def __init__(self) -> None:
            super().__init__()
            self.metrics = metric

        def validation_step(self, batch: Any) -> None:
            self.metrics.update(*batch)
            self.log_dict(self.metrics)

    quiet = {"logger": False, "enable_progress_bar": False, "enable_model_summary": False, "accelerator": "cpu"}
    trainer = lightning.Trainer(**quiet)
    loader = torch.utils.data.DataLoader(batches, batch_size=None)
    (found,) = trainer.validate(Model(), loader, verbose=False)
    wanted = {}
    for part in parts:
        for batch in batches:
            part.update(*batch)
        wanted |= part.log_dict()
    assert found == pytest.approx({name: value for name, value in wanted.items() if name != "dropped"}, abs=1e-6)
    assert int(metric.matrix.sum()) == 0  # it was reset


@pytest.mark.exhaustive
@pytest.mark.parametrize("case", [*CASES])
def test_one_graph(torch: Any, case: str) -> None:
    """Update and compute without a graph break, with the values of eager code."""
    door = Door("torch")
    eager, compiled = kinds(door, case)[0], kinds(door, case)[0]
    torch._dynamo.reset()
    step = torch.compile(compiled.update, fullgraph=True, backend="aot_eager")
    for batch in draw(case, (40, 40, 7)):  # another size compiles again
        options = options_of_update(door, case, batch[0])
        arrays = door.arrays(batch)
        eager.update(*arrays, **options)
        step(*arrays, **options)
    found = torch.compile(compiled.compute, fullgraph=True, backend="aot_eager")()
    wanted = eager.compute()
    assert len(found) > 4
    assert {x: y.item() for x, y in found.items()} == pytest.approx({x: wanted[x].item() for x in found}, abs=1e-6)


def test_options_are_those_of_the_kinds(door: Door) -> None:
    """With the same defaults; a new option of a kind needs a place here."""
    own = dict(inspect.signature(door.module.Metrics).parameters)
    for kind in ("ConfusionMetric", "ScoreMetric", "MultilabelMetric"):
        parameters = inspect.signature(getattr(door.module, kind)).parameters
        assert set(parameters) <= set(own)
        for name, parameter in parameters.items():
            if name not in ("num_labels", "metrics"):
                assert repr(parameter.default) == repr(own[name].default), name
                assert parameter.kind == own[name].kind, name
