"""ScoreMetric for PyTorch: its values against scikit-learn, its buffers, and that nothing waits or breaks a graph."""

from __future__ import annotations

import copy
import importlib
import math
import pickle
from typing import Any

import numpy as np
import pytest

import matrics
from matrics import ScoreState
from matrics._catalogue.naming import title_of

RANDOM = np.random.default_rng(21)
NAMES = ["cat", "dog", "owl"]
BUFFERS = ["counts", "rounded", "dropped_counts", "calibration"]


@pytest.fixture
def make(torch: Any) -> Any:  # noqa: ARG001 (skips without PyTorch)
    return importlib.import_module("matrics.torch").ScoreMetric


def draw(torch: Any, n: int | None = None, size: int = 200) -> tuple[Any, Any]:
    """Labels and logits that know something of them."""
    labels = RANDOM.integers(0, n or 2, size)
    if n is None:
        logits = 2 * labels - 1 + RANDOM.normal(size=size) * 2
    else:
        logits = RANDOM.normal(size=(size, n)) + 2 * np.eye(n)[labels]
    return torch.from_numpy(labels), torch.from_numpy(logits.astype(np.float32))


def calibration_error(right: np.ndarray, scores: np.ndarray, bins: int = 10) -> float:
    """The definition, bin by bin."""
    place = np.minimum((scores * bins).astype(int), bins - 1)
    return sum(abs(scores[place == k].sum() - right[place == k].sum()) for k in range(bins)) / len(scores)


# What is computed -----------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("given", ["probabilities", "logits"])
def test_two_classes(torch: Any, make: Any, given: str) -> None:
    """The exact areas of scikit-learn are within the bounds, and near the values."""
    sk = pytest.importorskip("sklearn.metrics")
    labels, logits = draw(torch)
    probabilities, from_logits = logits.double().sigmoid(), given == "logits"
    metrics = "roc_auc, average_precision, ece, recall@0.5, mcc@0.25"
    metric = make(metrics=metrics, bounds=True, from_logits=from_logits, prefix="val/", num_bins=10)
    for part in torch.arange(200).split(64):
        metric.update(labels[part], logits[part] if from_logits else probabilities[part])
    values = metric.log_dict()
    areas = ("roc_auc", "average_precision")
    assert list(values) == [
        *(f"val/{area}{ending}" for area in areas for ending in ("", "_low", "_high")),
        "val/ece",
        "val/recall@0.5",
        "val/mcc@0.25",
    ]
    y, p = labels.numpy(), probabilities.numpy()
    for name, exact in zip(areas, (sk.roc_auc_score(y, p), sk.average_precision_score(y, p)), strict=True):
        low, value, high = (values[f"val/{name}{ending}"] for ending in ("_low", "", "_high"))
        assert low <= exact <= high
        assert low <= value <= high
        assert 0 < high - low < 1e-3
    assert values["val/ece"] == pytest.approx(calibration_error(y, p), abs=1e-6)
    assert values["val/recall@0.5"] == pytest.approx(sk.recall_score(y, p >= 0.5), abs=1e-12)
    assert values["val/mcc@0.25"] == pytest.approx(sk.matthews_corrcoef(y, p >= 0.25), abs=1e-12)
    assert all(type(value) is float for value in values.values())
    assert {value.ndim for value in metric.compute().values()} == {0}


@pytest.mark.parametrize("axis", [1, -1])
def test_classes(torch: Any, make: Any, axis: int) -> None:
    sk = pytest.importorskip("sklearn.metrics")
    labels, logits = draw(torch, 3, 240)
    specs = ["roc_auc", "roc_auc:weighted", "roc_auc:class", "average_precision:class", "ece", "recall@0.5"]
    metric = make(3, specs, from_logits=True, bounds=True, class_names=NAMES, class_axis=axis, num_bins=10)
    metric.update(labels.reshape(4, 60), logits.reshape(4, 60, 3).movedim(-1, axis))
    values = metric.log_dict()
    y, p = labels.numpy(), logits.double().softmax(1).numpy()
    areas = [sk.roc_auc_score(y == k, p[:, k]) for k in range(3)]
    precisions = [sk.average_precision_score(y == k, p[:, k]) for k in range(3)]
    exact = {"roc_auc": np.mean(areas), "roc_auc:weighted": np.average(areas, weights=np.bincount(y))}
    for name, value in exact.items():
        assert values[f"{name}_low"] <= value <= values[f"{name}_high"] <= values[f"{name}_low"] + 1e-3
    for k, name in enumerate(NAMES):
        assert values[f"roc_auc_low/{name}"] <= areas[k] <= values[f"roc_auc_high/{name}"]
        assert values[f"average_precision_low/{name}"] <= precisions[k] <= values[f"average_precision_high/{name}"]
        assert values[f"recall@0.5/{name}"] == pytest.approx(np.mean(p[y == k, k] >= 0.5))
    assert values["ece"] == pytest.approx(calibration_error(p.argmax(1) == y, p.max(1)), abs=1e-6)


def test_the_area_of_two_columns_is_that_of_class_1(torch: Any, make: Any) -> None:
    """As of functions of scores; other classes are selected by ``positive=``, means by ``:macro``."""
    sk = pytest.importorskip("sklearn.metrics")
    labels = torch.from_numpy(np.random.default_rng(1).integers(0, 2, 240))
    logits = torch.from_numpy(np.random.default_rng(2).normal(size=(240, 2)).astype(np.float32))
    logits[:, 1] += labels
    some = (labels == 0) | (torch.arange(240) < 60)  # few of class 1
    labels, logits = labels[some], logits[some] / 2 + torch.from_numpy(RANDOM.normal(size=(240, 2))).float()[some]
    y, p = labels.numpy(), logits.double().softmax(1).numpy()
    areas, precisions = ([f(y == k, p[:, k]) for k in range(2)] for f in (sk.roc_auc_score, sk.average_precision_score))
    metric = make(2, "roc_auc, average_precision, average_precision:macro", from_logits=True, class_names=["ok", "bad"])
    metric.update(labels, logits)
    found = metric.log_dict()
    assert list(found.values()) == pytest.approx([areas[1], precisions[1], np.mean(precisions)], abs=1e-3)
    assert abs(precisions[0] - precisions[1]) > 0.01
    titles = [title_of(name) for name in metric.compute()]
    assert titles == ["roc_auc of bad", "average_precision of bad", "average_precision, macro"]
    other = make(2, "average_precision", from_logits=True, class_names=["ok", "bad"], positive="ok")
    other.update(labels, logits)
    assert other.log_dict()["average_precision"] == pytest.approx(precisions[0], abs=1e-3)
    alone = make(2, "roc_auc", from_logits=True, ignore_index=0, fill_undefined=None)
    alone.update(labels, logits)
    assert math.isnan(alone.log_dict()["roc_auc"])  # there are no other samples


def test_two_classes_that_are_left_are_averaged(torch: Any, make: Any) -> None:
    """Of three classes without an ignored one none is positive: there are still three."""
    labels, logits = draw(torch, 3)
    metric = make(3, "roc_auc, roc_auc:class", from_logits=True, ignore_index=0)
    metric.update(labels, logits)
    values = metric.log_dict()
    assert values["roc_auc"] == pytest.approx((values["roc_auc/1"] + values["roc_auc/2"]) / 2)
    assert values["roc_auc/1"] != values["roc_auc/2"]
    assert title_of(next(iter(metric.compute()))) == "roc_auc, macro"


def test_torchmetrics_is_within_the_bounds(torch: Any, make: Any) -> None:
    """Its AUROC keeps all scores."""
    theirs = pytest.importorskip("torchmetrics.functional.classification")
    labels, logits = draw(torch, 3)
    metric = make(3, "roc_auc", from_logits=True, bounds=True)
    metric.update(labels, logits)
    values = metric.log_dict()
    exact = theirs.multiclass_auroc(logits.double().softmax(1), labels, 3, validate_args=False).item()
    assert values["roc_auc_low"] - 1e-6 <= exact <= values["roc_auc_high"] + 1e-6


@pytest.mark.parametrize("dtype", ["float16", "bfloat16", "float32", "float64"])
def test_logits_of_any_dtype(torch: Any, make: Any, dtype: str) -> None:
    """Areas are of the logits: their probabilities would be 1 from 17, from 37 or, in half precision, from 6 on."""
    logits = torch.tensor([20.0, 300.0, 19.5, -300.0], dtype=getattr(torch, dtype), requires_grad=True)
    metric = make(metrics="roc_auc, ece", from_logits=True)
    metric.update(torch.tensor([1, 1, 0, 0]), logits)
    assert metric.log_dict() == {"roc_auc": 1.0, "ece": pytest.approx(0.25)}
    assert metric.state.calibration.dtype == torch.float64
    assert not metric.counts.requires_grad


def test_other_scores(torch: Any, make: Any) -> None:
    """Distances, say: areas and measures at any threshold, without a range, or with bins of one's own."""
    labels, scores = torch.tensor([0, 1, 0, 1]), torch.tensor([-7.0, 1.5, 2.5, 9.0])
    metric = make(metrics="roc_auc, recall@1.7")
    metric.update(labels, scores)
    assert metric.log_dict() == {"roc_auc": 0.75, "recall@1.7": 0.5}
    edges = make(metrics="roc_auc, recall@2", edges=torch.tensor([0.0, 2.0, 3.0]))
    edges.update(labels, scores)
    assert edges.log_dict() == {"roc_auc": 0.75, "recall@2": 0.5}


def test_the_state(torch: Any, make: Any) -> None:
    labels, logits = draw(torch, 3)
    labels[0], logits[1, 1] = 7, torch.nan
    metric = make(3, "roc_auc, ece:class_wise, f1@0.5", from_logits=True)
    metric.update(labels, logits)
    empty = ScoreState.zeros(num_classes=3, class_wise=True, thresholds=[0.5], like=labels)
    expected = empty.update(labels, logits=logits)
    for ours, theirs in zip(metric.state, expected, strict=True):
        assert torch.equal(ours, theirs)
        assert ours.dtype == theirs.dtype
    assert metric.dropped == 2
    assert torch.equal((metric.state + expected).matrix, 2 * expected.matrix)


def test_masks_ignored_labels_and_weights(torch: Any, make: Any) -> None:
    """They are samples left out, or samples repeated."""
    labels, logits = torch.tensor([[0, 1, 2], [1, 0, 1]]), torch.tensor([[0.1, 0.9, 0.5], [0.3, 0.2, 0.7]])
    labels[0, 2] = 9
    logits[0, 2] = torch.nan
    kept = torch.tensor([True, False, True])
    for given, ignore in ((labels, 9), (labels.to(torch.uint8), 9), (torch.where(labels == 9, -1, labels), -1)):
        metric = make(bits=6, ignore_index=ignore)
        metric.update(given, logits, mask=kept)
        metric.update(given, logits)
        expected = make(bits=6)
        expected.update(torch.tensor([0, 1, 1]), torch.tensor([0.1, 0.3, 0.7]))
        expected.update(torch.tensor([0, 1, 1, 0, 1]), torch.tensor([0.1, 0.9, 0.3, 0.2, 0.7]))
        assert torch.equal(metric.counts, expected.counts)
        assert metric.dropped == 0
    several = make(metrics="recall@0.5", ignore_index=[9, 0])
    several.update(labels, logits, mask=kept)
    several.update(labels, logits)
    assert several.state.matrix[-1].tolist() == [[0, 0], [0, 5]]
    unsigned = make(ignore_index=-1)
    unsigned.update(torch.tensor([255], dtype=torch.uint8), torch.zeros(1), mask=torch.tensor([True]))
    assert unsigned.dropped == 1
    weighted = make(bits=6, dtype=torch.float32, fill_undefined=None)
    weighted.update(torch.tensor([0, 1, 1]), torch.tensor([0.1, 0.3, 0.7]), sample_weight=torch.tensor([2, 1, 0.5]))
    assert weighted.counts.sum() == 3.5
    assert weighted.log_dict()["roc_auc"] == 1
    weighted.update(torch.tensor([1]), torch.tensor([0.5]), sample_weight=torch.tensor(math.nan))
    assert math.isnan(weighted.log_dict()["roc_auc"])
    quiet = make(bits=6, dtype=torch.float64)
    quiet.update(torch.tensor([0, 1]), torch.tensor([0.1, 0.3]), sample_weight=torch.tensor([math.nan, 1.0]))
    assert math.isnan(quiet.log_dict()["roc_auc"])  # invalid is not undefined
    with pytest.raises(TypeError, match=r"sample_weight: expected None, .*dtype=torch.float32"):
        metric.update(labels, logits, sample_weight=torch.ones(3))
    with pytest.raises(ValueError, match=r"mask: .*got \(2,\) for labels \(2, 3\)"):
        metric.update(labels, logits, mask=torch.tensor([True] * 2))


def test_undefined_values(torch: Any, make: Any) -> None:
    """As a whole they are 0, so that early stopping survives; classes without samples are left out of means."""
    alone = make(3, "roc_auc, roc_auc:class, ece")
    alone.update(torch.tensor([0]), torch.tensor([[1.0, 0.0, 0.0]]))
    assert alone.log_dict() == {"roc_auc": 0, "roc_auc/0": 0, "roc_auc/1": 0, "roc_auc/2": 0, "ece": 0}
    labels, scores = torch.tensor([0, 1]), torch.tensor([[0.9, 0.1, 0.0], [0.2, 0.8, 0.0]])
    for zero_division, fill, mean, of_none in (
        (math.nan, 0.0, 1, 0),
        (math.nan, None, 1, math.nan),
        (0, 0.5, 2 / 3, 0),
    ):
        metric = make(3, "roc_auc, roc_auc:class", zero_division=zero_division, fill_undefined=fill)
        metric.update(labels, scores)
        values = metric.log_dict()
        assert values["roc_auc"] == pytest.approx(mean)
        assert values["roc_auc/2"] == pytest.approx(of_none, nan_ok=True)


@pytest.mark.parametrize(
    ("labels", "scores", "message"),
    [([0, 1, 5], [0.2, 0.7, 0.5], "1 samples are not counted"), ([0, 1], [-3.0, 2.0], "from_logits=True")],
)
def test_what_is_told(torch: Any, make: Any, labels: list[int], scores: list[float], message: str) -> None:
    """Once, where values are at hand: samples that are dropped, and logits taken for probabilities."""
    metric = make(prefix="val/")
    metric.update(torch.tensor(labels), torch.tensor(scores))
    with pytest.warns(RuntimeWarning, match=message) as caught:
        values = metric.compute()
    assert caught[0].filename == __file__
    assert ("val/dropped" in values) == (5 in labels)
    metric.compute()
    for options in ({"from_logits": True}, {"metrics": "roc_auc, average_precision, recall@3"}):
        fine = make(**options)
        fine.update(torch.tensor([0, 1]), torch.tensor([0.0, 1.0]))
        fine.compute()


# What is refused ------------------------------------------------------------------------------------------------------


@pytest.mark.sampled(2)
@pytest.mark.parametrize(
    ("options", "error", "message"),
    [
        ({"metrics": "auc_roc"}, ValueError, "expected roc_auc, average_precision, .* got 'auc_roc'"),
        ({"metrics": []}, ValueError, "at least one name"),
        ({"metrics": 3}, TypeError, "expected names"),
        ({"metrics": ["roc_auc", 3]}, TypeError, "expected names"),
        ({"metrics": "roc_auc:binary"}, ValueError, ":macro, :weighted, :micro, :class"),
        ({"metrics": "recall@inf"}, ValueError, "a number after @"),
        ({"metrics": "recall@half"}, ValueError, "a number after @"),
        ({"metrics": "core@0.5"}, ValueError, "a single measure with a single value"),
        ({"metrics": "recall:class@0.5"}, ValueError, "a single measure with a single value"),
        ({"metrics": "recal@0.5"}, ValueError, "recall"),
        ({"num_classes": None, "metrics": "roc_auc:class"}, ValueError, "without num_classes="),
        ({"num_classes": None, "class_names": NAMES}, ValueError, "class_names: expected None"),
        ({"num_classes": 1}, ValueError, "num_classes"),
        ({"class_names": ["a", "b"]}, ValueError, "3 different names"),
        ({"num_bins": -1}, ValueError, "num_bins: expected an integer of at least 1, got -1"),
        ({"bits": 2}, ValueError, "bits: expected an integer from 4 to 20, .* got 2"),
        ({"bits": 8, "edges": [0, 1]}, ValueError, "bits: expected None with edges="),
        ({"dtype": "float16"}, TypeError, "dtype"),
        ({"prefix": None}, TypeError, "prefix"),
        ({"zero_division": "x"}, TypeError, "zero_division"),
        ({"ignore_index": 0.5}, ValueError, "ignore_index"),
        ({"class_axis": 0.5}, TypeError, "class_axis"),
    ],
)
def test_refused_options(make: Any, options: dict[str, Any], error: type, message: str) -> None:
    with pytest.raises(error, match=message):
        make(**{"num_classes": 3, **options})


def test_refused_batches(torch: Any, make: Any) -> None:
    labels, scores = torch.zeros(4, dtype=torch.int64), torch.zeros((4, 3))
    for n, arguments, error, message in [
        (None, (labels, scores), ValueError, r"num_classes= .*\(4,\).*\(4, 3\)"),
        (None, (labels, scores[:, :1]), ValueError, r"\(4,\).*\(4, 1\)"),
        (None, (labels, labels), TypeError, "floating scores"),
        (None, (labels + 0.5, scores[:, 0]), ValueError, "y_true"),
        (None, (labels.tolist(), scores[:, 0]), TypeError, "y_true list"),
        (3, (labels, scores.T), ValueError, r"3 classes along class_axis=1, .*\(3, 4\)"),
        (3, (labels, scores[:, 0]), ValueError, "3 classes along class_axis=1"),
        (3, (labels[:3], scores), ValueError, r"\(3,\).*\(4, 3\)"),
    ]:
        metric = make(n)
        with pytest.raises(error, match=message):
            metric.update(*arguments)
        assert metric.counts.sum() == metric.dropped == 0


# The module -----------------------------------------------------------------------------------------------------------


def test_buffers(torch: Any, make: Any) -> None:
    """They move, are saved and resumed, and stay what they are when a model becomes half."""
    model = torch.nn.ModuleDict({"layer": torch.nn.Linear(3, 3), "metric": make(bits=6, from_logits=True)})
    metric = model["metric"]
    assert [name for name, _ in metric.named_buffers()] == BUFFERS
    batch = draw(torch)
    metric.update(*batch)
    values = metric.log_dict()
    saved = pickle.loads(pickle.dumps(model.state_dict()))
    other = torch.nn.ModuleDict({"layer": torch.nn.Linear(3, 3), "metric": make(bits=6, from_logits=True)})
    other.load_state_dict(saved)
    for twin in (copy.deepcopy(metric), pickle.loads(pickle.dumps(metric)), other["metric"]):
        assert twin.log_dict() == values
        twin.update(*batch)
        assert torch.equal(twin.counts, 2 * metric.counts)
    metric.counts += 2**40
    before = {name: buffer.clone() for name, buffer in metric.named_buffers()}
    model.half()
    metric.double().to(torch.bfloat16).type(torch.float16)
    for name, buffer in metric.named_buffers():
        assert torch.equal(buffer, before[name])
        assert buffer.dtype == before[name].dtype
    assert metric.to("meta").compute()["roc_auc"].device.type == "meta"
    with pytest.raises(ValueError, match=r"expected counts of the shape \(3, 6929, 2\) in 'counts'"):
        make(3, bits=6).load_state_dict(before)
    with pytest.raises(ValueError, match=r"expected counts of bits=8 in 'counts', .* got some of bits=6"):
        make(bits=8).load_state_dict(before)
    thresholds = make(metrics="roc_auc, f1@0.5", bits=6).state_dict()
    with pytest.raises(ValueError, match="edges: expected counts at the edges and thresholds of this metric"):
        make(metrics="roc_auc, f1@0.6", bits=6).load_state_dict(thresholds)


def test_clones_merges_and_resets(torch: Any, make: Any) -> None:
    one, other = make(prefix="train/", from_logits=True), make(from_logits=True)
    batches = [draw(torch), draw(torch)]
    one.update(*batches[0])
    other.update(*batches[1])
    clone = one.clone(prefix="val/")
    clone.merge_state(other)
    both = make(prefix="val/", from_logits=True)
    for batch in batches:
        both.update(*batch)
    assert clone.log_dict() == pytest.approx(both.log_dict(), abs=1e-12)
    assert list(one.log_dict()) == [f"train/{name}" for name in other.log_dict()]
    assert clone.sync() is clone  # without torch.distributed nothing is there to be added
    clone.reset()
    assert clone.counts.sum() == 0
    clone.update(*batches[0])
    assert clone.log_dict() == pytest.approx(dict(zip(both.log_dict(), one.log_dict().values(), strict=True)))
    with pytest.raises(TypeError, match="expected metrics to merge, got list"):
        one.merge_state([other])
    with pytest.raises(ValueError, match="got bits=15 and bits=8"):
        one.merge_state(make(bits=8))
    counted = one.counts.clone()
    with pytest.raises(TypeError, match=r"integer counts to merge, got a metric of torch.float64"):
        one.merge_state(other, make(dtype=torch.float64))
    assert torch.equal(one.counts, counted)
    assert repr(make(3, "ece", prefix="val/")) == "ScoreMetric(3, ['ece'], prefix='val/')"


def test_a_copy_of_data_parallel_does_not_count(torch: Any, make: Any) -> None:
    """Its counts would be thrown away after each forward pass."""
    metric = make(3)
    with pytest.raises(RuntimeError, match="outside of the forward pass of DataParallel"):
        metric._replicate_for_data_parallel()(torch.tensor([0]), torch.rand(1, 3))
    metric.update(torch.tensor([0]), torch.rand(1, 3))


def test_counts_are_exact(torch: Any, make: Any) -> None:
    """Beyond 2**24, where float32 stops, and 2**31, where int32 does."""
    metric = make(metrics="roc_auc, recall@0.5")
    label, score = torch.ones(1, dtype=torch.int64), torch.tensor([0.25])
    for size in (2**24, 2**31, 2**53):
        metric.reset()
        metric.update(label, score)
        metric.counts *= size
        metric.bins *= size
        metric.update(label, score)
        assert metric.state.matrix[-1, 1, 1] == size + 1
        assert metric.state.counts.sum() == size + 1


@pytest.mark.filterwarnings("ignore:.* treats scores in the same bucket")  # the same features three times
def test_contexts(torch: Any, make: Any) -> None:
    """Neither autocast nor inference mode changes anything, and counting goes on after them."""
    labels, features = torch.randint(0, 2, (50,)), torch.randn(50, 4)
    layer = torch.nn.Linear(4, 1)
    with torch.inference_mode():
        metric = make(from_logits=True, bits=6)
    plain = ScoreState.zeros(bits=6, like=labels)
    for context in (torch.autocast("cpu", dtype=torch.bfloat16), torch.inference_mode(), torch.enable_grad()):
        with context:
            logits = layer(features)[:, 0]
            metric.update(labels, logits)
            values = metric.compute()
        plain = plain.update(labels, logits=logits.detach().clone())
        assert torch.equal(metric.state.counts, plain.counts)
        assert torch.equal(values["roc_auc"], plain.roc_auc().value)


# Compiled -------------------------------------------------------------------------------------------------------------


@pytest.mark.exhaustive
@pytest.mark.parametrize(
    ("backend", "n"),
    [("aot_eager", 3), pytest.param("inductor", None, marks=pytest.mark.exhaustive)],
)
@pytest.mark.filterwarnings("ignore::DeprecationWarning", "ignore:`torch:FutureWarning")
def test_one_graph_for_a_training_step(torch: Any, make: Any, backend: str, n: int | None) -> None:
    """The loss and the counting of a step are one graph, which is compiled once."""
    torch.manual_seed(0)
    model = torch.nn.Linear(6, n or 1)
    metric, plain = (make(n, from_logits=True, bits=6, ignore_index=-1) for _ in range(2))
    functional = torch.nn.functional

    def loss(features: Any, labels: Any, mask: Any) -> Any:
        logits = model(features) if n else model(features)[:, 0]
        metric.update(labels, logits)
        metric.update(labels, logits, mask=mask)
        if n:
            return functional.cross_entropy(logits, labels, ignore_index=-1)
        return functional.binary_cross_entropy_with_logits(logits, labels.clamp(0).float())

    torch._dynamo.reset()
    compiled = torch.compile(loss, fullgraph=True, backend=backend)
    for step in range(4):
        features, labels, mask = torch.randn(16, 6), torch.randint(-1, n or 2, (16,)), torch.rand(16) < 0.5
        with torch.no_grad():
            logits = model(features) if n else model(features)[:, 0]
            plain.update(labels, logits)
            plain.update(labels, logits, mask=mask)
        with torch._dynamo.config.patch(error_on_recompile=step > 0):
            compiled(features, labels, mask).backward()
        assert torch.equal(metric.counts, plain.counts)
        torch.testing.assert_close(metric.calibration, plain.calibration, rtol=1e-9, atol=1e-9)
    assert metric.counts.sum() > 0
    assert metric.dropped == 0


@pytest.mark.exhaustive
def test_compute_compiles(torch: Any, make: Any) -> None:
    metric = make(3, "roc_auc:class, ece", from_logits=True, bits=6, prefix="val/")
    metric.update(*draw(torch, 3))
    torch._dynamo.reset()
    values = torch.compile(metric.compute, fullgraph=True, backend="aot_eager")()
    for name, value in metric.compute().items():
        torch.testing.assert_close(values[name], value, rtol=1e-12, atol=1e-12)


@pytest.mark.exhaustive
def test_no_value_is_inspected(torch: Any, make: Any) -> None:
    """Not on the device "meta" and not under FakeTensorMode, where there are none."""
    from torch._subclasses import FakeTensorMode

    def work(metric: Any, labels: Any, scores: Any, mask: Any) -> Any:
        metric.update(labels, scores)
        metric.update(labels, scores, mask=mask)
        assert metric.dropped.ndim == 0
        return metric.compute()

    specs = "roc_auc, average_precision:class, ece, ece:class_wise, mcc@0.5"
    options: dict[str, Any] = {"from_logits": True, "bounds": True, "ignore_index": -1, "bits": 6}
    batch = torch.zeros(8, dtype=torch.int64), torch.zeros((8, 3)), torch.ones(8, dtype=torch.bool)
    values = work(make(3, specs, **options).to("meta"), *(x.to("meta") for x in batch))
    assert {(value.device.type, value.ndim) for value in values.values()} == {("meta", 0)}
    metric = make(3, specs, **options)
    with FakeTensorMode() as mode:
        for name, _ in list(metric.named_buffers()):
            setattr(metric, name, mode.from_tensor(getattr(metric, name)))
        values = work(metric, *map(mode.from_tensor, batch))
        assert {value.ndim for value in values.values()} == {0}


# On a GPU -------------------------------------------------------------------------------------------------------------


def test_nothing_waits_for_a_gpu(torch: Any, make: Any) -> None:
    if not torch.cuda.is_available():
        pytest.skip("there is no GPU")
    metrics = "roc_auc, average_precision, ece, recall@0.5"
    metric = make(4, metrics, from_logits=True, bounds=True, ignore_index=-1).to("cuda")
    plain = make(4, metrics, from_logits=True, bounds=True, ignore_index=-1)
    labels, scores = torch.randint(-2, 6, (1000,), device="cuda"), torch.randn((1000, 4), device="cuda")
    mask = labels != 2
    torch.cuda.synchronize()
    torch.cuda.set_sync_debug_mode("error")
    try:
        metric.update(labels, scores)
        metric.update(labels, scores, mask=mask)
        values = metric.compute()
    finally:
        torch.cuda.set_sync_debug_mode("default")
    plain.update(labels.cpu(), scores.cpu())
    plain.update(labels.cpu(), scores.cpu(), mask=mask.cpu())
    assert metric.dropped == plain.dropped
    for name, value in plain.state.score("recall").items():
        torch.testing.assert_close(metric.state.score("recall")[name].cpu(), value, rtol=1e-3, atol=1e-3)
    assert all(value.is_cuda for value in values.values())


def test_the_calibration_error_has_the_bins_of_the_function(torch: Any, make: Any) -> None:
    """15 by default; the definition bin by bin says the same."""
    labels, logits = draw(torch, size=3000)
    p = torch.sigmoid(logits)
    metric = make(metrics="expected_calibration_error")
    metric.update(labels, p)
    (found,) = metric.compute().values()
    assert float(found) == pytest.approx(calibration_error(labels.numpy(), p.numpy(), bins=15), abs=1e-6)
    assert float(found) == pytest.approx(float(matrics.probabilities.expected_calibration_error(labels, p)), abs=1e-6)
