"""ConfusionMetric for PyTorch: what it counts, what it says, and that nothing waits, breaks a graph or grows."""

from __future__ import annotations

import contextlib
import copy
import importlib
import math
import pickle
from typing import Any

import numpy as np
import pytest

import matrics

RANDOM = np.random.default_rng(0)
NAMES = ["cat", "dog", "owl"]


@pytest.fixture
def integration(torch: Any) -> Any:  # noqa: ARG001 (skips without PyTorch)
    return importlib.import_module("matrics.torch")


@pytest.fixture
def make(integration: Any) -> Any:
    return integration.ConfusionMetric


def by_hand(y_true: np.ndarray, y_pred: np.ndarray, n: int, ignore: int | None = None) -> tuple[np.ndarray, int]:
    """The matrix, and how many are dropped, pair by pair."""
    cm, dropped = np.zeros((n, n), np.int64), 0
    for true, pred in zip(y_true.ravel().astype(object), y_pred.ravel().astype(object), strict=True):
        if true == ignore:
            continue
        if 0 <= true < n and 0 <= pred < n:
            cm[int(true), int(pred)] += 1
        else:
            dropped += 1
    return cm, dropped


# What is counted ------------------------------------------------------------------------------------------------------


@pytest.mark.sampled(4)
@pytest.mark.parametrize("dtype", ["uint8", "int8", "int16", "int32", "int64", "uint16", "uint32", "uint64", "bool"])
@pytest.mark.parametrize("shape", [(), (0,), (50,), (2, 5, 7)])
def test_labels(torch: Any, make: Any, dtype: str, shape: tuple[int, ...]) -> None:
    low = -2 if dtype.startswith("int") else 0
    labels = RANDOM.integers(low, 6, (2, *shape)).astype(dtype)
    metric = make(4)
    for _ in range(2):
        metric.update(*torch.from_numpy(labels))
    cm, dropped = by_hand(*labels, 4)
    np.testing.assert_array_equal(metric.matrix, 2 * cm)
    assert metric.dropped == 2 * dropped


def test_extreme_labels(torch: Any, make: Any) -> None:
    """None of them lands in a cell, or outside the buffer."""
    metric = make(3)
    limits = torch.iinfo(torch.int64)
    metric.update(torch.tensor([limits.min, limits.max, 1, 2]), torch.tensor([0, 1, limits.max, limits.min]))
    metric.update(torch.tensor([2**64 - 1, 1], dtype=torch.uint64), torch.tensor([0, 1]))
    assert metric.matrix.tolist() == [[0, 0, 0], [0, 1, 0], [0, 0, 0]]
    assert metric.dropped == 5


@pytest.mark.sampled(2)
@pytest.mark.exhaustive(road=["compile"], dtype=["float16", "float32"])
@pytest.mark.parametrize("dtype", ["float16", "bfloat16", "float32"])
@pytest.mark.parametrize("road", ["host", "many", "mode", "compile", "vmap"])
@pytest.mark.filterwarnings("ignore::DeprecationWarning")  # PyTorch's, to itself
def test_ties_and_nan_on_each_road(torch: Any, make: Any, dtype: str, road: str) -> None:
    """The first of equal scores wins, and a row with a NaN is dropped, whichever library and operation reads it."""
    from torch.utils._python_dispatch import TorchDispatchMode

    class Listening(TorchDispatchMode):
        def __torch_dispatch__(self, function: Any, types: Any, args: Any = (), kwargs: Any = None) -> Any:
            return function(*args, **(kwargs or {}))

    scores = RANDOM.integers(-1, 2, (9000 if road == "many" else 150, 5)).astype(np.float32)
    scores[3:9] = -np.inf
    scores[6:12, 1:3] = np.inf
    scores[RANDOM.random(scores.shape) < 0.02] = np.nan
    scores[9:12, [0, 4]] = np.nan
    y_true = RANDOM.integers(-2, 7, len(scores))
    best = [5 if any(map(math.isnan, row)) else row.index(max(row)) for row in scores.tolist()]
    cm, dropped = by_hand(y_true, np.array(best), 5)
    given = torch.from_numpy(y_true), torch.from_numpy(scores).to(getattr(torch, dtype))
    if road == "vmap":
        counted = torch.func.vmap(lambda true, pred: matrics.confusion_matrix(true, pred, num_classes=5))
        np.testing.assert_array_equal(counted(*(x[None] for x in given))[0], cm)
        return
    metric = make(5, "accuracy")
    update = torch.compile(metric.update, fullgraph=True) if road == "compile" else metric.update
    with Listening() if road == "mode" else contextlib.nullcontext():
        update(*given)
    np.testing.assert_array_equal(metric.matrix, cm)
    assert metric.dropped == dropped


@pytest.mark.sampled(2)
@pytest.mark.parametrize("dtype", ["float64", "float32", "float16", "bfloat16"])
@pytest.mark.parametrize(("shape", "axis"), [((40,), 1), ((40,), -1), ((3, 6, 5), 1), ((3, 6, 5), -1), ((3, 6), 0)])
def test_class_scores(torch: Any, make: Any, dtype: str, shape: tuple[int, ...], axis: int) -> None:
    scores = RANDOM.normal(size=(*shape, 4)).astype(np.float32)
    labels = RANDOM.integers(-1, 4, shape)
    spoiled = RANDOM.random(shape) < 0.1
    scores[spoiled, 2] = np.nan
    predicted = torch.from_numpy(scores).to(getattr(torch, dtype))
    expected = np.where(spoiled, -1, predicted.double().numpy().argmax(-1))
    metric = make(4, class_axis=axis)
    metric.update(torch.from_numpy(labels), predicted.movedim(-1, axis).requires_grad_())
    cm, dropped = by_hand(labels, expected, 4)
    np.testing.assert_array_equal(metric.matrix, cm)
    assert metric.dropped == dropped > 0
    assert not metric.matrix.requires_grad


def test_first_of_equal_scores(torch: Any, make: Any) -> None:
    metric = make(3)
    metric.update(torch.tensor([0, 1]), torch.tensor([[1.0, 1.0, 1.0], [-torch.inf, 2.0, 2.0]]))
    assert metric.matrix.tolist() == [[1, 0, 0], [0, 1, 0], [0, 0, 0]]


def test_threshold(torch: Any, make: Any) -> None:
    metric = make(2, threshold=0.5)
    metric.update(torch.tensor([[0, 1], [1, 1]]), torch.tensor([[0.5, 0.49], [torch.nan, 0.9]]))
    assert metric.matrix.tolist() == [[0, 1], [1, 1]]
    assert metric.dropped == 1


@pytest.mark.parametrize(("ignore", "dtype"), [(-1, "int64"), (255, "uint8"), (-1, "uint8"), (1, "int32")])
def test_ignored_samples_are_not_dropped(torch: Any, make: Any, ignore: int, dtype: str) -> None:
    y_true = RANDOM.choice([0, 1, 2, 7, 255 if dtype == "uint8" else -1], 60).astype(dtype)
    y_pred = RANDOM.integers(0, 4, 60)
    metric = make(3, ignore_index=ignore)
    metric.update(torch.from_numpy(y_true), torch.from_numpy(y_pred))
    cm, dropped = by_hand(y_true, y_pred, 3, ignore)
    np.testing.assert_array_equal(metric.matrix, cm)
    assert metric.dropped == dropped > 0


def test_counts_are_exact(torch: Any, make: Any) -> None:
    """Beyond 2**24, where float32 stops, and 2**31, where int32 does."""
    metric = make(2)
    labels = torch.zeros(3, dtype=torch.int64)
    for size in (2**24, 2**31, 2**53):
        metric.reset()
        metric.update(labels[:1], labels[:1])
        metric.counts *= size
        metric.update(labels, labels)
        assert metric.matrix[0, 0] == size + 3


def test_state(torch: Any, make: Any) -> None:
    metric = make(3)
    y_true, y_pred = torch.from_numpy(RANDOM.integers(-1, 3, (2, 50)))
    metric.update(y_true, y_pred)
    expected = matrics.ConfusionState.zeros(3, like=y_true).update(y_true, y_pred)
    for ours, theirs in zip(metric.state, expected, strict=True):
        assert torch.equal(ours, theirs)
        assert ours.dtype == theirs.dtype
    assert (metric.state + expected).matrix.sum() == 2 * metric.matrix.sum()


# What is refused ------------------------------------------------------------------------------------------------------


def test_refused_batches(torch: Any, make: Any) -> None:
    labels, scores = torch.zeros(4, dtype=torch.int64), torch.zeros((4, 3))
    for arguments, error, said in [
        ((labels, labels[:, None]), ValueError, r"\(4,\).*\(4, 1\)"),
        ((labels, labels[:3]), ValueError, r"\(4,\).*\(3,\)"),
        ((labels + 0.5, labels), ValueError, "y_true: expected labels, which are whole"),
        ((labels, labels.numpy()), TypeError, "y_pred ndarray"),
        ((labels.tolist(), labels), TypeError, "y_true list"),
        ((labels, labels.to(torch.complex64)), TypeError, "y_pred.*complex64"),
        ((labels, scores[:, :2]), ValueError, "num_classes=3"),
        ((labels, scores.T), ValueError, "num_classes=3"),
        ((labels, scores[:, 0]), ValueError, "threshold="),
        ((labels[:3], scores), ValueError, r"\(3,\).*\(4,"),
    ]:
        metric = make(3)
        with pytest.raises(error, match=said):
            metric.update(*arguments)
        assert metric.matrix.sum() == metric.dropped == 0
    with pytest.raises(TypeError, match="threshold"):
        make(2, threshold=0.5).update(labels, labels)


def test_refused_options(make: Any) -> None:
    for options, error in [
        ({"num_classes": 0}, ValueError),
        ({"metrics": "no_such"}, ValueError),
        ({"metrics": []}, ValueError),
        ({"threshold": 0.5}, ValueError),
        ({"num_classes": 2, "threshold": float("nan")}, ValueError),
        ({"num_classes": 2, "threshold": "half"}, ValueError),
        ({"ignore_index": 0.5}, ValueError),
        ({"class_axis": 0.5}, TypeError),
        ({"zero_division": "zero"}, TypeError),
        ({"zero_division": None}, TypeError),
        ({"fill_undefined": "zero"}, TypeError),
        ({"positive": 3}, ValueError),
        ({"positive": "owl"}, ValueError),
        ({"positive": "owl", "class_names": ["cat", "dog", "emu"]}, ValueError),
        ({"class_names": ["a", "b"]}, ValueError),
        ({"class_names": "abc"}, TypeError),
        ({"prefix": None}, TypeError),
    ]:
        with pytest.raises(error):
            make(**{"num_classes": 3, **options})


# What is said ---------------------------------------------------------------------------------------------------------


def test_values_for_a_logger(torch: Any, make: Any) -> None:
    specs = ["mcc", "iou:class", "f1", "fbeta(beta=2):weighted", "mcc:one_vs_rest"]
    metric = make(3, specs, prefix="val/", class_names=NAMES)
    y_true, y_pred = torch.from_numpy(RANDOM.integers(0, 3, (2, 50)))
    metric.update(y_true, y_pred)
    values = metric.compute()
    expected = matrics.score(matrics.confusion_matrix(y_true, y_pred, num_classes=3), specs)
    assert list(values) == [
        "val/mcc",
        *(f"val/iou/{name}" for name in NAMES),
        "val/f1",
        "val/fbeta(beta=2):weighted",
        *(f"val/mcc/{name}" for name in NAMES),
    ]
    for value in values.values():
        assert type(value) is torch.Tensor
        assert value.ndim == 0
    flat = torch.cat([value.reshape(-1) for value in expected.values()])
    assert torch.equal(torch.stack(list(values.values())), flat)
    unnamed = make(3, "recall:class")
    unnamed.update(y_true, y_pred)
    assert list(unnamed.compute()) == ["recall/0", "recall/1", "recall/2"]


def test_zero_division(make: Any) -> None:
    """A value that is undefined as a whole is 0, but undefined classes do not count as 0 unless that is asked for."""
    torch = pytest.importorskip("torch")
    for fill, wanted in ((0.0, 0), (None, math.nan), (-1, -1)):
        metric = make(3, "mcc", fill_undefined=fill)
        metric.update(torch.tensor([1]), torch.tensor([1]))
        assert float(metric.compute()["mcc"]) == pytest.approx(wanted, nan_ok=True)
    cases = ((math.nan, 0.0, 1, 0), (math.nan, None, 1, math.nan), (math.nan, math.nan, 1, math.nan))
    for zero_division, fill, wanted, of_none in (*cases, (0, 0.0, 2 / 3, 0), (0, None, 2 / 3, 0), (1, 0.0, 1, 1)):
        metric = make(3, ["recall", "recall:class"], zero_division=zero_division, fill_undefined=fill)
        metric.update(torch.tensor([0, 1]), torch.tensor([0, 1]))
        scores = metric.compute()
        assert float(scores["recall"]) == pytest.approx(wanted)
        assert float(scores["recall/2"]) == pytest.approx(of_none, nan_ok=True)


def test_names_of_classes_however_averages_are_written(make: Any) -> None:
    specs = ["precision(average=class)", "recall:class", "f1_class", "precision(average=macro)"]
    torch = pytest.importorskip("torch")
    metric = make(2, specs, class_names=["cat", "dog"])
    metric.update(torch.tensor([0, 1]), torch.tensor([0, 1]))
    names = metric.compute()
    kinds = ("precision", "recall", "f1")
    assert list(names) == [*(f"{kind}/{name}" for kind in kinds for name in ("cat", "dog")), "precision(average=macro)"]


def test_dropped_samples_are_told(make: Any) -> None:
    """Once by a warning, and with each result."""
    torch = pytest.importorskip("torch")
    metric = make(3, "accuracy", prefix="val/")
    metric.update(torch.tensor([1, 2, 3, 3]), torch.tensor([1, 2, 3, 1]))
    with pytest.warns(RuntimeWarning, match="2 samples are not counted") as caught:
        assert int(metric.compute()["val/dropped"]) == 2
    assert caught[0].filename == __file__
    assert int(metric.compute()["val/dropped"]) == 2
    metric.reset()
    metric.update(torch.tensor([1]), torch.tensor([1]))
    assert list(metric.compute()) == ["val/accuracy"]


@pytest.mark.exhaustive
@pytest.mark.parametrize("labels", [[30, -5, 7], pytest.param([1, 2, 3], marks=pytest.mark.exhaustive)])
def test_other_labels_than_the_first_integers(torch: Any, make: Any, labels: list[int]) -> None:
    """Looked up on the device, with one to leave out; their numbers name the classes."""
    true, pred = RANDOM.integers(0, 3, (2, 50))
    codes = torch.tensor([*labels, 99])
    y_true, y_pred = codes[true], codes[pred]
    y_true[:5], y_pred[5:8] = 1000, 99
    metric = make(metrics="recall:class", labels=labels, ignore_index=1000)
    scores = torch.eye(3)[pred]
    metric.update(y_true, y_pred)
    torch.compile(metric, fullgraph=True, backend="aot_eager")(y_true, scores)
    wanted = by_hand(true[8:], pred[8:], 3)[0] + by_hand(true[5:], pred[5:], 3)[0]
    np.testing.assert_array_equal(metric.matrix, wanted)
    assert int(metric.dropped) == 3
    with pytest.warns(RuntimeWarning, match="3 samples"):
        assert list(metric.compute()) == [*(f"recall/{label}" for label in labels), "dropped"]
    with pytest.raises(TypeError, match=r"labels: expected integers, .*class_names="):
        make(labels=["cat", "dog"])
    with pytest.raises(TypeError, match=r"either num_classes=.*got both"):
        make(2, labels=[1, 2])


@pytest.mark.exhaustive
def test_masks_and_weights(make: Any) -> None:
    torch = pytest.importorskip("torch")
    labels, pred = torch.tensor([[0, 1], [2, 1]]), torch.tensor([[0, 2], [2, 1]])
    metric = make(3, "accuracy", ignore_index=2)
    metric.update(labels, pred, mask=torch.tensor([True, False]))
    assert metric.matrix.tolist() == [[1, 0, 0], [0, 0, 0], [0, 0, 0]]
    assert int(metric.dropped) == 0
    weighted = make(3, "accuracy", dtype=torch.float32, ignore_index=2)
    weights = torch.tensor([[0.5, 2.0], [math.nan, 1.0]])
    weighted.update(labels, pred, sample_weight=weights)
    assert weighted.matrix.tolist() == [[0.5, 0, 0], [0, 1, 2], [0, 0, 0]]
    assert float(weighted.compute()["accuracy"]) == pytest.approx(1.5 / 3.5)
    weighted.update(torch.tensor([1, 3]), torch.tensor([1, 0]), sample_weight=torch.tensor(0.5))
    assert (int(weighted.dropped), int(weighted.state.dropped)) == (1, 1)  # samples, whatever their weights
    weighted.update(labels, pred, sample_weight=torch.tensor(math.nan))
    with pytest.warns(RuntimeWarning, match="1 samples are not counted"):
        assert np.isnan(float(weighted.compute()["accuracy"]))  # invalid is not undefined
    many = torch.zeros(2**20, dtype=torch.uint8)
    weighted.reset()
    for _ in range(20):  # beyond 2**24, from where on float32 has no successor by one
        weighted.update(many, many, sample_weight=torch.ones(1, requires_grad=True))
    assert weighted.matrix[0, 0] == 20 * 2**20
    assert not weighted.matrix.requires_grad
    with pytest.raises(TypeError, match=r"sample_weight: expected None, .*dtype=torch.float32"):
        metric.update(labels, pred, sample_weight=weights)
    with pytest.raises(ValueError, match=r"mask: .*got \(3,\) for labels \(2, 2\)"):
        metric.update(labels, pred, mask=torch.tensor([True] * 3))


def test_clones_have_counts_and_prefixes_of_their_own(make: Any) -> None:
    torch = pytest.importorskip("torch")
    metric = make(2, "accuracy", prefix="train/")
    other = metric.clone(prefix="val/")
    other.update(torch.tensor([0, 1]), torch.tensor([0, 0]))
    assert list(other.compute()) == ["val/accuracy"]
    assert (int(metric.matrix.sum()), int(other.matrix.sum())) == (0, 2)
    assert other.log_dict() == {"val/accuracy": 0.5}
    metric.update(torch.tensor([0]), torch.tensor([0]))
    assert metric.log_dict() == {"train/accuracy": 1}
    assert other.log_dict() == {"val/accuracy": 0.5}


def test_repr(make: Any) -> None:
    assert repr(make(3, "mcc, f1", prefix="val/")) == "ConfusionMetric(3, ['mcc', 'f1'], prefix='val/')"


# State ----------------------------------------------------------------------------------------------------------------


@pytest.mark.filterwarnings("ignore:.* samples are not counted")
def test_buffer(torch: Any, make: Any) -> None:
    """One buffer, which moves, is saved and resumed, and stays what it is when a model becomes half."""
    model = torch.nn.ModuleDict({"layer": torch.nn.Linear(3, 3), "metric": make(3)})
    metric = model["metric"]
    assert [name for name, _ in metric.named_buffers()] == ["counts"]
    y_true, y_pred = torch.from_numpy(RANDOM.integers(-1, 3, (2, 50)))
    metric.update(y_true, y_pred)
    counts = metric.counts.clone()
    saved = pickle.loads(pickle.dumps(model.state_dict()))
    other = torch.nn.ModuleDict({"layer": torch.nn.Linear(3, 3), "metric": make(3)})
    other.load_state_dict(saved)
    assert torch.equal(other["metric"].counts, counts)
    for twin in (copy.deepcopy(metric), pickle.loads(pickle.dumps(metric))):
        assert torch.equal(twin.counts, counts)
        twin.update(y_true, y_pred)
        assert torch.equal(twin.matrix, 2 * metric.matrix)
        assert list(twin.compute()) == list(metric.compute())
    model.half()
    assert metric.counts.dtype == torch.int64
    assert metric.to("meta").matrix.device.type == "meta"
    with pytest.raises(ValueError, match="counts: expected counts of 4 classes, got counts of 3"):
        make(4).load_state_dict(saved | {"counts": counts}, strict=False)


def test_merge_reset_and_sync_alone(torch: Any, make: Any) -> None:
    parts = [make(3) for _ in range(3)]
    labels = torch.from_numpy(RANDOM.integers(-1, 3, (3, 2, 50)))
    for part, pair in zip(parts, labels, strict=True):
        part.update(*pair)
    whole = make(3)
    whole.update(labels[:, 0], labels[:, 1])
    first, *others = parts
    assert first.merge_state(*others) is first
    assert torch.equal(first.counts, whole.counts)
    assert first.sync() is first  # there is nobody else
    assert torch.equal(first.counts, whole.counts)
    with pytest.raises(ValueError, match=r"3 classes.*4"):
        first.merge_state(whole, make(4))
    with pytest.raises(TypeError, match=r"integer counts to merge, got a metric of torch.float32"):
        first.merge_state(whole, make(3, dtype=torch.float32))
    assert torch.equal(first.counts, whole.counts)
    place = first.counts.data_ptr()
    first.reset()
    assert first.matrix.sum() == first.dropped == 0
    assert first.counts.data_ptr() == place


# No looking, no breaking, no growing ----------------------------------------------------------------------------------


@pytest.mark.sampled(1)
@pytest.mark.exhaustive(group=["all"])
@pytest.mark.parametrize("group", ["core", "all"])
@pytest.mark.parametrize("options", [{}, {"ignore_index": -1}, {"num_classes": 2, "threshold": 0.5}])
def test_nothing_looks_at_values(torch: Any, make: Any, options: dict[str, Any], group: str) -> None:
    """The whole update and compute, on fake tensors and on "meta"; of all measures, but for those of SciPy."""
    from torch._subclasses.fake_tensor import FakeTensorMode

    options = {"num_classes": 3, **options}
    n = options["num_classes"]
    metric = make(metrics=[group, "recall:class"], **options)
    has_threshold = "threshold" in options

    def work(labels: Any, scores: Any) -> dict[str, Any]:
        if not has_threshold:
            metric.update(labels, labels)
        metric.update(labels, scores[:, 0] if has_threshold else scores)
        assert metric.dropped.ndim == 0
        return metric.compute()

    labels, scores = torch.zeros(8, dtype=torch.int64), torch.zeros((8, n))
    metric.to("meta")
    values = work(labels.to("meta"), scores.to("meta"))
    assert {(value.device.type, value.ndim) for value in values.values()} == {("meta", 0)}
    metric = make(metrics=[group, "recall:class"], **options)
    with FakeTensorMode() as mode:
        metric.counts = mode.from_tensor(metric.counts)
        values = work(mode.from_tensor(labels), mode.from_tensor(scores))
        assert {value.ndim for value in values.values()} == {0}


@pytest.mark.exhaustive
@pytest.mark.parametrize("backend", ["aot_eager", pytest.param("inductor", marks=pytest.mark.exhaustive)])
@pytest.mark.filterwarnings("ignore::DeprecationWarning", "ignore:`torch:FutureWarning")
def test_one_graph_for_a_training_step(torch: Any, make: Any, backend: str) -> None:
    """The loss and the counting of a step are one graph, which is compiled once."""
    torch.manual_seed(0)
    model = torch.nn.Linear(6, 3)
    metric, plain = make(3, "mcc", ignore_index=-1), make(3, "mcc", ignore_index=-1)
    optimizer = torch.optim.SGD(model.parameters(), lr=0.1)

    def loss(features: Any, labels: Any, spoiled: Any) -> Any:
        logits = model(features)
        metric.update(labels, logits + spoiled)
        metric.update(labels, logits.argmax(1))
        return torch.nn.functional.cross_entropy(logits, labels, ignore_index=-1)

    torch._dynamo.reset()
    compiled = torch.compile(loss, fullgraph=True, backend=backend)
    for step in range(6):
        features, labels = torch.randn(16, 6), torch.randint(-1, 3, (16,))
        spoiled = torch.where(torch.rand(16, 3) < 0.1, torch.nan, 0.0)
        with torch.no_grad():
            logits = model(features)
            plain.update(labels, logits + spoiled)
            plain.update(labels, logits.argmax(1))
        with torch._dynamo.config.patch(error_on_recompile=step > 0):
            value = compiled(features, labels, spoiled)
        optimizer.zero_grad()
        value.backward()
        optimizer.step()
        if step == 3:
            metric.reset()
            plain.reset()
        assert torch.equal(metric.counts, plain.counts)
    assert metric.matrix.sum() > metric.dropped > 0


@pytest.mark.exhaustive
def test_compute_compiles(torch: Any, make: Any) -> None:
    metric = make(3, "core, recall:class", prefix="val/")
    metric.update(*torch.from_numpy(RANDOM.integers(0, 3, (2, 50))))
    torch._dynamo.reset()
    values = torch.compile(metric.compute, fullgraph=True, backend="aot_eager")()
    for name, value in metric.compute().items():
        torch.testing.assert_close(values[name], value, rtol=1e-12, atol=1e-12)


def test_contexts(torch: Any, make: Any) -> None:
    """Neither autocast nor inference mode changes anything, and counting goes on after them."""
    labels, features = torch.randint(0, 3, (50,)), torch.randn(50, 4)
    layer = torch.nn.Linear(4, 3)
    metric = make(3)
    contexts = [
        torch.autocast("cpu", dtype=torch.bfloat16),
        torch.inference_mode(),
        torch.no_grad(),
        torch.enable_grad(),
    ]
    for times, context in enumerate(contexts, 1):
        with context:
            logits = layer(features)
            metric.update(labels, logits)
            values = metric.compute()
        assert metric.matrix.sum() == 50 * times
        expected = matrics.score(metric.matrix, "core")
        assert all(torch.equal(values[name], value) for name, value in expected.items())
        metric.merge_state(make(3))


# On a GPU -------------------------------------------------------------------------------------------------------------


@pytest.fixture
def cuda(torch: Any) -> Any:
    if not torch.cuda.is_available():
        pytest.skip("there is no GPU")
    return torch.device("cuda")


def test_nothing_waits_for_a_gpu(torch: Any, make: Any, cuda: Any) -> None:
    specs = [spec for spec in matrics.list_metrics("all") if spec not in matrics.list_metrics("spectral")]
    metric = make(4, specs, ignore_index=-1).to(cuda)
    labels, scores = torch.randint(-2, 6, (1000,), device=cuda), torch.randn((1000, 4), device=cuda)
    torch.cuda.synchronize()
    torch.cuda.set_sync_debug_mode("error")
    try:
        metric.update(labels, scores)
        metric.update(labels, labels)
        values = metric.compute()
        metric.reset()
    finally:
        torch.cuda.set_sync_debug_mode("default")
    assert all(value.is_cuda for value in values.values())


def test_cuda_graph(torch: Any, make: Any, cuda: Any) -> None:
    metric, plain = make(4).to(cuda), make(4)
    labels, scores = torch.randint(0, 4, (1000,), device=cuda), torch.randn((1000, 4), device=cuda)
    metric.update(labels, scores)  # warms up
    metric.reset()
    torch.cuda.synchronize()
    graph = torch.cuda.CUDAGraph()
    with torch.cuda.graph(graph):
        metric.update(labels, scores)
    metric.reset()
    for _ in range(3):
        labels.copy_(torch.randint(0, 4, (1000,)))
        graph.replay()
        plain.update(labels.cpu(), scores.cpu())
    assert torch.equal(metric.counts.cpu(), plain.counts)


def test_made_or_copied_in_inference_mode(torch: Any, make: Any) -> None:
    labels = torch.tensor([0, 1, 2])
    with torch.inference_mode():
        metrics = make(3), copy.deepcopy(make(3))
    for metric in metrics:
        metric.update(labels, labels)
        assert metric.matrix.sum() == 3


def test_counts_stay_integers(torch: Any, make: Any) -> None:
    metric = make(2)
    metric.counts += 2**40 + 1
    before = metric.matrix
    torch.nn.ModuleList([metric]).type(torch.float16)
    metric.half().double().to(torch.bfloat16)
    assert torch.equal(metric.matrix, before)


def test_unsigned_labels_are_not_ignored_for_being_negative(torch: Any, make: Any) -> None:
    metric = make(2, ignore_index=-1)
    metric.update(torch.tensor([255, 0], dtype=torch.uint8), torch.tensor([0, 0]))
    metric.update(torch.from_numpy(np.asarray([2**64 - 1, 0], np.uint64)), torch.tensor([0, 0]))
    assert metric.dropped == 2


def test_merging_something_else(make: Any) -> None:
    with pytest.raises(TypeError, match="expected metrics to merge, got list"):
        make(2).merge_state([make(2)])


# The values of a batch ------------------------------------------------------------------------------------------------

METRICS = {
    "ConfusionMetric": "mcc, recall:class",
    "MarginMetric": "mcc, recall:class",
    "ScoreMetric": "roc_auc, log_loss",
}


def draw_batches(torch: Any, sizes: tuple[int, ...]) -> list[Any]:
    labels = [torch.from_numpy(RANDOM.integers(0, 3, size)) for size in sizes]
    return [(y, torch.from_numpy(RANDOM.dirichlet(np.ones(3), len(y)))) for y in labels]


@pytest.mark.sampled(2)
@pytest.mark.parametrize("kind", METRICS)
@pytest.mark.parametrize("options", [{}, {"decay": 0.7}, {"dtype": "float32"}])
def test_a_call_returns_the_values_of_the_batch(
    torch: Any, integration: Any, kind: str, options: dict[str, Any]
) -> None:
    """It counts as update does, bit for bit, what was synced before included."""
    options = options | ({"dtype": torch.float32} if "dtype" in options else {})
    called, updated = (getattr(integration, kind)(3, METRICS[kind], **options) for _ in range(2))
    for number, batch in enumerate(draw_batches(torch, (30, 7, 50))):
        more = {"mask": torch.arange(len(batch[0])) > 2} if number else {}
        alone = getattr(integration, kind)(3, METRICS[kind])
        alone.update(*batch, **more)
        values = called(*batch, **more)
        assert {name: value.item() for name, value in values.items()} == pytest.approx(alone.log_dict(), rel=1e-6)
        updated.update(*batch, **more)
        if number == 0:
            for metric in (called, updated):  # as if it came from a sync
                own, shared = metric._part(), metric._shared_part()
                for name in metric._sums:
                    shared[name] += own[name]
                    own[name].zero_()
        for name, buffer in updated.named_buffers():
            assert torch.equal(called.get_buffer(name), buffer), name


@pytest.mark.parametrize("kind", METRICS)
def test_a_refused_call_changes_nothing(torch: Any, integration: Any, kind: str) -> None:
    metric = getattr(integration, kind)(3, METRICS[kind], decay=0.5)
    (batch,) = draw_batches(torch, (30,))
    metric(*batch)
    before = {name: (buffer, buffer.clone()) for name, buffer in metric.named_buffers()}
    with pytest.raises((TypeError, ValueError)):
        metric(batch[0] + 0.5, batch[1])
    for name, (buffer, counts) in before.items():
        assert metric.get_buffer(name) is buffer
        assert torch.equal(buffer, counts)


@pytest.mark.parametrize("kind", METRICS)
@pytest.mark.exhaustive(kind=["MarginMetric", "ScoreMetric"])
def test_a_call_compiles(torch: Any, integration: Any, kind: str) -> None:
    """In one graph, once for all batches of a size, into the same buffers."""
    metric, updated = (getattr(integration, kind)(3, METRICS[kind]) for _ in range(2))
    pointers = [buffer.data_ptr() for buffer in metric.buffers()]
    torch._dynamo.reset()
    step = torch.compile(metric, fullgraph=True, backend="aot_eager")
    with torch._dynamo.config.patch(error_on_recompile=True):
        for batch in draw_batches(torch, (30, 30, 30)):
            values = step(*batch)
            updated.update(*batch)
    alone = getattr(integration, kind)(3, METRICS[kind])
    alone.update(*batch)
    assert {name: value.item() for name, value in values.items()} == pytest.approx(alone.log_dict())
    assert [buffer.data_ptr() for buffer in metric.buffers()] == pointers
    assert all(map(torch.equal, metric.buffers(), updated.buffers()))
