"""The metrics of several labels for PyTorch, torchmetrics and Flax: values against others, and by hand."""

from __future__ import annotations

import math
import warnings
from typing import Any

import numpy as np
import pytest
from several import LIBRARIES, Metric, by_hand

import matrics

RANDOM = np.random.default_rng(32)
OF_SAMPLES = "subset_accuracy, ranking_loss"
AVERAGES = ("macro", "micro", "weighted", "label")
MANY = [f"{name}:{how}" for name in ("f1", "recall", "mcc") for how in AVERAGES]
AREAS = [f"{name}:{how}" for name in ("roc_auc", "average_precision") for how in AVERAGES]

every_library = pytest.mark.parametrize("library", LIBRARIES)


def draw(n: int = 90, number: int = 5, *, steps: int = 64) -> tuple[np.ndarray, np.ndarray]:
    """Labels, some rare, and scores on a grid, so that there are ties, and bins that lose nothing."""
    y_true = (RANDOM.random((n, number)) < np.linspace(0.1, 0.8, number)).astype(np.int64)
    scores = np.clip(RANDOM.normal(0.4 + 0.2 * y_true, 0.25), 0, 1)
    return y_true, (np.floor(scores * (steps - 1)) / steps).astype(np.float32)


@pytest.mark.exhaustive
@every_library
def test_scikit_learn(library: str) -> None:
    """All averages, of three batches of different sizes."""
    peer = pytest.importorskip("sklearn.metrics")
    y_true, scores = draw()
    metric = Metric(library, 5, [*MANY, *AREAS, OF_SAMPLES], prefix="val/")
    for part in (slice(0, 40), slice(40, 41), slice(41, 90)):
        metric.update(y_true[part], scores[part])
    found, predicted = metric.values(), scores >= 0.5
    expected = {}
    for name, function in {"f1": peer.f1_score, "recall": peer.recall_score}.items():
        for how in ("macro", "micro", "weighted"):
            expected[f"{name}:{how}"] = function(y_true, predicted, average=how, zero_division=np.nan)
        expected |= {f"{name}/{k}": v for k, v in enumerate(function(y_true, predicted, average=None))}
    each = [peer.matthews_corrcoef(y_true[:, k], predicted[:, k]) for k in range(5)]
    expected |= {f"mcc/{k}": value for k, value in enumerate(each)}
    expected["mcc:macro"], expected["mcc:weighted"] = np.mean(each), np.average(each, weights=y_true.sum(0))
    expected["mcc:micro"] = peer.matthews_corrcoef(y_true.ravel(), predicted.ravel())
    for name, function in {"roc_auc": peer.roc_auc_score, "average_precision": peer.average_precision_score}.items():
        expected |= {f"{name}:{how}": function(y_true, scores, average=how) for how in ("macro", "micro", "weighted")}
        expected |= {f"{name}/{k}": v for k, v in enumerate(function(y_true, scores, average=None))}
    expected["subset_accuracy"] = peer.accuracy_score(y_true, predicted)
    expected["ranking_loss"] = peer.label_ranking_loss(y_true, scores)
    assert found == pytest.approx({f"val/{name}": value for name, value in expected.items()}, abs=2e-6)


@pytest.mark.sampled(1)
@pytest.mark.filterwarnings("ignore:.* treats scores in the same bucket")
@every_library
def test_areas_have_bounds(library: str) -> None:
    """Those of the scores, of which a bin has many, are between them."""
    peer = pytest.importorskip("sklearn.metrics")
    y_true, scores = draw(200)
    scores *= np.float32(0.97)  # those on a grid of 64ths are exact
    found = Metric(library, 5, AREAS, bits=4, bounds=True).update(y_true, scores).values()
    for how in ("macro", "micro", "weighted"):
        for name, function in {"roc_auc": "roc_auc_score", "average_precision": "average_precision_score"}.items():
            exact = getattr(peer, function)(y_true, scores, average=how)
            low, high = (found[f"{name}:{how}{end}"] for end in ("_low", "_high"))
            assert low <= exact <= high
            assert low <= found[f"{name}:{how}"] < high or name == "average_precision"
    assert found["roc_auc_low/3"] <= peer.roc_auc_score(y_true[:, 3], scores[:, 3]) <= found["roc_auc_high/3"]


def nasty() -> dict[str, tuple[np.ndarray, np.ndarray]]:
    y_true, scores = draw(40)
    absent, lost, ignored, missing = y_true.copy(), scores.copy(), y_true.copy(), y_true.copy()
    absent[:, 1], absent[:, 2] = 0, 1
    lost[RANDOM.random(lost.shape) < 0.05] = np.nan
    ignored[RANDOM.random(ignored.shape) < 0.3] = -1
    ignored[:3] = -1
    missing[RANDOM.random(missing.shape) < 0.05] = 2
    return {
        "absent": (absent, scores),
        "NaN": (ignored, lost),
        "labels out of range": (missing, scores),
        "all ignored": (np.full_like(y_true, -1), scores),
        "empty": (y_true[:0], scores[:0]),
        "infinite": (y_true, np.where(scores > 0.7, np.inf, scores).astype(np.float32)),
        "thresholds": (y_true, scores),
        "one sample": (y_true[:1], scores[:1]),
    }


@pytest.mark.sampled(9)
@every_library
@pytest.mark.exhaustive(library=["flax"], weighted=[True])
@pytest.mark.exhaustive(
    library=["flax"],
    case=["absent", "labels out of range", "all ignored", "infinite", "thresholds", "one sample", "empty"],
)
@pytest.mark.parametrize("weighted", [False, True])
@pytest.mark.parametrize("case", nasty())
@pytest.mark.filterwarnings("ignore:compute:RuntimeWarning", "ignore:.*not counted", "ignore:The ``compute``")
@pytest.mark.filterwarnings("ignore:some scores are not in .0, 1.")  # infinite ones
def test_nasty_batches(library: str, case: str, *, weighted: bool) -> None:
    """A batch next to a good one; counts, dropped entries and measures of samples by hand."""
    thresholds = [0.2, 0.5, 0.75, 0.5, 0.9] if case == "thresholds" else 0.5
    batches = [nasty()[case], draw(30)]
    weights = [RANDOM.integers(1, 5, len(y_true)).astype(np.float32) for y_true, _ in batches]
    options: Any = {}
    if weighted:
        options["dtype"] = float32_of(library)
    metric = Metric(library, 5, ["f1", OF_SAMPLES], threshold=thresholds, ignore_index=-1, **options)
    seen: list[Any] = []
    for (y_true, scores), weight in zip(batches, weights, strict=True):
        metric.update(y_true, scores, **({"sample_weight": weight} if weighted else {}))
        seen.append((y_true, scores, weight))
        y, s, w = (np.concatenate(parts) for parts in zip(*seen, strict=True))
        hand = by_hand(y, s, thresholds, ignored=-1, weights=w if weighted else None)
        np.testing.assert_array_equal(np.asarray(metric.own.matrix), hand["matrix"])
        assert int(metric.own.state.dropped) == hand["dropped"]
        found, (wrong, right) = metric.values(), hand["whole"]
        if not hand["losses"]:
            assert math.isnan(found["subset_accuracy"])
            assert math.isnan(found["ranking_loss"])
            continue
        assert found["subset_accuracy"] == pytest.approx(right / (wrong + right), abs=1e-6)
        losses, by = zip(*hand["losses"], strict=True)
        assert found["ranking_loss"] == pytest.approx(np.average(losses, weights=by), abs=1e-6)
        assert found.get("dropped", 0) == hand["dropped"]
        expected = matrics.score(hand["matrix"], "f1:binary")["f1:binary"]
        assert found["f1"] == pytest.approx(np.nanmean(expected), abs=1e-6)


def float32_of(library: str) -> Any:
    if library == "flax":
        return pytest.importorskip("jax").numpy.float32
    return pytest.importorskip("torch").float32


@every_library
@pytest.mark.exhaustive(library=["flax"])
def test_areas_leave_the_same_entries_out(library: str) -> None:
    peer = pytest.importorskip("sklearn.metrics")
    y_true, scores = draw(80)
    y_true[RANDOM.random(y_true.shape) < 0.3] = -1
    scores[RANDOM.random(scores.shape) < 0.1] = np.nan
    metric = Metric(library, 5, "roc_auc:label, roc_auc:micro", ignore_index=-1)
    with warnings.catch_warnings(action="ignore"):
        found = metric.update(y_true, scores).values()
    kept = (y_true >= 0) & ~np.isnan(scores)
    for k in range(5):
        expected = peer.roc_auc_score(y_true[kept[:, k], k], scores[kept[:, k], k])
        assert found[f"roc_auc/{k}"] == pytest.approx(expected, abs=1e-6)
    assert found["roc_auc:micro"] == pytest.approx(peer.roc_auc_score(y_true[kept], scores[kept]), abs=1e-6)
    assert found["dropped"] == (np.isnan(scores) & (y_true >= 0)).sum() > 0


@pytest.mark.parametrize("dtype", ["float32", "bfloat16", "float16", "float64"])
@pytest.mark.parametrize("has_axis", [False, True])
def test_torchmetrics(dtype: str, *, has_axis: bool) -> None:
    """Its metrics, of scores in their dtype, with entries left out; pixels are samples."""
    torch = pytest.importorskip("torch")
    peer = pytest.importorskip("torchmetrics.classification")
    shape = (30, 4, 3) if has_axis else (60, 4)
    random = torch.Generator().manual_seed(7)
    target = torch.randint(-1, 2, shape, generator=random)
    preds = torch.rand(shape, generator=random).to(getattr(torch, dtype))
    preds = preds.clamp(0.01, 0.98) + 0.001 * (preds == 0.5)  # at the threshold it does not predict the label
    options: Any = {"num_labels": 4, "ignore_index": -1}
    exact = (
        peer.MultilabelAUROC(thresholds=None, **options),
        peer.MultilabelAveragePrecision(thresholds=None, **options),
    )
    peers = {
        "f1": peer.MultilabelF1Score(**options),
        "f1:micro": peer.MultilabelF1Score(average="micro", **options),
        "recall:weighted": peer.MultilabelRecall(average="weighted", **options),
        "roc_auc": exact[0],
        "average_precision": exact[1],
    }
    edges = [0.0, *np.unique(preds.double().numpy()), 1.0]
    metric = Metric("torchmetrics", metrics=list(peers), edges=edges, **options)
    for part in (slice(0, 11), slice(11, None)):
        metric.own.update(preds[part], target[part])
        for other in peers.values():
            other.update(preds[part].double(), target[part])
    expected = {name: float(other.compute()) for name, other in peers.items()}
    assert metric.values() == pytest.approx(expected, abs=1e-5)


@pytest.mark.exhaustive(library=["flax"])
@every_library
@pytest.mark.filterwarnings("ignore:.* treats scores in the same bucket")  # those on a grid are equal
def test_logits(library: str) -> None:
    """As their probabilities, but far logits, whose probabilities are all 1, keep their order in the ranking loss."""
    y_true, scores = draw(60)
    logits = np.log((scores + 0.01) / (1.01 - scores)).astype(np.float32)
    options: Any = {"threshold": 0.25}
    names = ["f1", "roc_auc", OF_SAMPLES]
    found = Metric(library, 5, names, from_logits=True, **options).update(y_true, logits).values()
    expected = Metric(library, 5, names, **options).update(y_true, 1 / (1 + np.exp(-logits))).values()
    assert found == pytest.approx(expected, abs=0.02)
    assert found["ranking_loss"] == pytest.approx(expected["ranking_loss"], abs=1e-6)
    far = Metric(library, 2, "ranking_loss, roc_auc", from_logits=True)
    values = far.update([[1, 0], [0, 1]], np.float32([[90, 80], [70, 60]])).values()
    assert values == {"ranking_loss": 0.5, "roc_auc": 0.5}


@pytest.mark.exhaustive(library=["flax"])
@every_library
def test_masks_names_and_predicted_labels(library: str) -> None:
    y_true, scores = draw(20, 3)
    mask = RANDOM.random(20) < 0.6
    names = ["cat", "dog", "2"]
    metric = Metric(library, 3, "f1:label, mcc", class_names=names)
    found = metric.update(y_true, scores, mask=mask).values()
    expected = Metric(library, 3, "f1:label, mcc", class_names=names).update(y_true[mask], (scores >= 0.5)[mask])
    assert found == expected.values()
    assert list(found) == ["f1/cat", "f1/dog", "f1/2", "mcc"]
    titles = [getattr(key, "title_", None) for key in metric.own.compute()]
    assert titles == ["f1 of cat", "f1 of dog", "f1 of label 2", "mcc, macro over labels"]


@pytest.mark.exhaustive(library=["flax"])
@every_library
def test_undefined_values(library: str) -> None:
    y_true, scores = np.zeros((4, 2), np.int64), np.full((4, 2), 0.1, np.float32)
    names = "recall, recall:label, roc_auc, true_positives:micro, ranking_loss"
    for options, expected in (({}, 0.0), ({"fill_undefined": None}, math.nan), ({"zero_division": 1.0}, 1.0)):
        found = Metric(library, 2, names, **options).update(y_true, scores).values()
        assert [found[k] for k in ("recall", "recall/1", "roc_auc")] == pytest.approx([expected] * 3, nan_ok=True)
        assert (found["true_positives:micro"], found["ranking_loss"]) == (0, 0)
    with warnings.catch_warnings(action="ignore"):
        found = Metric(library, 2, names).values()
    assert found.pop("true_positives:micro") == 0
    assert all(map(math.isnan, found.values()))


@pytest.mark.sampled(7)
@every_library
@pytest.mark.parametrize(
    ("options", "error", "message"),
    [
        ({"metrics": "f1:samples"}, ValueError, "a mean over samples needs the matrix of each"),
        ({"metrics": "f1:class"}, ValueError, "a single value for each label, got 'f1:class'.* use 'f1:label'"),
        ({"metrics": "ranking_loss:macro"}, ValueError, "expected 'ranking_loss' alone"),
        ({"metrics": "roc_auc:class"}, ValueError, "expected an average \\(:macro, :micro, .* got 'roc_auc:class'"),
        ({"metrics": "f_one"}, ValueError, "f_one"),
        ({"metrics": []}, ValueError, "at least one name, got none"),
        ({"metrics": 5}, TypeError, "got int"),
        ({"threshold": [0.5]}, ValueError, r"a number for each of 3 labels, got \[0.5\]"),
        ({"threshold": math.nan}, ValueError, "expected a number, or a number for each of 3 labels"),
        ({"threshold": "0.5"}, ValueError, "expected a number, or a number"),
        ({"metrics": "roc_auc", "threshold": 0.5}, ValueError, "no measure needs predicted labels"),
        ({"metrics": "ranking_loss", "dtype": int}, TypeError, "dtype: expected None for integer counts"),
        ({"metrics": "roc_auc", "bits": 3}, ValueError, "bits: expected an integer from 4 to 20"),
        ({"metrics": "roc_auc", "bits": 0}, ValueError, "bits: expected an integer from 4 to 20 for areas, got 0"),
        ({"metrics": "roc_auc", "bits": 8, "edges": [0, 1]}, ValueError, "bits: expected None with edges="),
        ({"num_labels": 0}, ValueError, "num_labels: expected an integer of at least 1, got 0"),
        ({"num_labels": 2**29}, ValueError, "allow_large"),
        ({"class_names": ["a"]}, ValueError, "expected 3 different names"),
        ({"fill_undefined": "0"}, TypeError, "fill_undefined"),
    ],
)
def test_refused_options(library: str, options: dict[str, Any], error: type, message: str) -> None:
    with pytest.raises(error, match=message):
        Metric(library, **{"num_labels": 3, "metrics": "f1"} | options)


@pytest.mark.sampled(2)
@every_library
@pytest.mark.parametrize(
    ("y_true", "y_score", "error", "message"),
    [
        (np.zeros((4, 3), int), np.zeros((4, 2), np.float32), ValueError, "of the same shape"),
        (np.zeros(4, int), np.zeros(4, np.float32), ValueError, "axes of samples and labels"),
        (np.zeros((4, 2), int), np.zeros((4, 2), np.float32), ValueError, "expected 3 labels along class_axis"),
        (np.zeros((4, 3), int), np.zeros((4, 3), int), TypeError, "floating scores for areas and the ranking loss"),
    ],
)
def test_refused_batches(library: str, y_true: Any, y_score: Any, error: type, message: str) -> None:
    with pytest.raises(error, match=message):
        Metric(library, 3, "f1, ranking_loss").update(y_true, y_score)
    with pytest.raises(TypeError, match="integer counts; make it with dtype="):
        Metric(library, 3, "f1").update(np.zeros((4, 3), int), np.zeros((4, 3), int), sample_weight=np.ones(4))


@pytest.mark.exhaustive(library=["flax"])
@every_library
def test_the_axis_of_the_labels(library: str) -> None:
    y_true, scores = (x.reshape(6, 4, 3) for x in draw(24, 3))
    last = Metric(library, 3, ["f1:label", OF_SAMPLES], class_axis=-1).update(y_true, scores)
    first = Metric(library, 3, ["f1:label", OF_SAMPLES], class_axis=1)
    first.update(np.swapaxes(y_true, 1, 2), np.swapaxes(scores, 1, 2))
    flat = Metric(library, 3, ["f1:label", OF_SAMPLES]).update(y_true.reshape(24, 3), scores.reshape(24, 3))
    assert last.values() == pytest.approx(flat.values(), abs=1e-6) == first.values()
    given = (y_true, scores) if library != "flax" else (np.swapaxes(y_true, 1, 2), np.swapaxes(scores, 1, 2))
    with pytest.raises(ValueError, match="has as many: pass class_axis="):
        Metric(library, 3, "f1").update(*given)
    square = np.zeros((2, 3, 3), np.int64)
    with pytest.warns(UserWarning, match="both have 3 entries"):
        Metric(library, 3, "f1").update(square, square)
