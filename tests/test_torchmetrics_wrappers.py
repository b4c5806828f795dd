"""torchmetrics' wrappers and arithmetic around metrics of matrics: what they give around torchmetrics' own metrics."""

from __future__ import annotations

import copy
import importlib
import pickle
from typing import Any

import numpy as np
import pytest

import matrics

RANDOM = np.random.default_rng(5)
pytestmark = pytest.mark.filterwarnings("ignore:The .*compute.* method of metric:UserWarning")


@pytest.fixture
def torchmetrics(torch: Any) -> Any:  # noqa: ARG001 (skips without PyTorch)
    return pytest.importorskip("torchmetrics")


@pytest.fixture
def ours(torchmetrics: Any) -> Any:  # noqa: ARG001 (skips without torchmetrics)
    return importlib.import_module("matrics.torchmetrics")


def draw(torch: Any, *shape: int) -> tuple[Any, Any]:
    """Predicted and true labels, which agree more often than not."""
    target = RANDOM.integers(0, 3, shape)
    preds = np.where(RANDOM.random(shape) < 0.6, target, RANDOM.integers(0, 3, shape))
    return torch.from_numpy(preds), torch.from_numpy(target)


def pair(torchmetrics: Any, ours: Any) -> dict[str, tuple[Any, Any]]:
    """A measure as a metric of ours and of theirs."""
    metric, theirs = ours.ConfusionMetric(3, "mcc, recall:class", prefix="val/"), torchmetrics.classification
    return {
        "mcc": (metric["mcc"], theirs.MulticlassMatthewsCorrCoef(3)),
        "recall:class": (metric["recall:class"], theirs.MulticlassRecall(3, average=None)),
        "margins": (ours.MarginMetric(3, "mcc")["mcc"], theirs.MulticlassMatthewsCorrCoef(3)),
    }


def assert_same(torch: Any, found: Any, expected: Any) -> None:
    """To the float32 of torchmetrics."""
    if isinstance(expected, dict):
        assert list(found) == list(expected)
        found, expected = list(found.values()), list(expected.values())
    if isinstance(expected, list):
        assert len(found) == len(expected)
        for mine, other in zip(found, expected, strict=True):
            assert_same(torch, mine, other)
    elif expected is not None:
        np.testing.assert_allclose(torch.as_tensor(found), torch.as_tensor(expected), rtol=1e-5, atol=1e-6)


WRAPPERS: dict[str, Any] = {
    "ClasswiseWrapper": lambda wrappers, metric: wrappers.ClasswiseWrapper(
        metric, labels=list("abc"), prefix="recall-"
    ),
    "MinMaxMetric": lambda wrappers, metric: wrappers.MinMaxMetric(metric),
    "Running": lambda wrappers, metric: wrappers.Running(metric, window=2),
    "BootStrapper": lambda wrappers, metric: wrappers.BootStrapper(metric, num_bootstraps=5, raw=True),
    "MultioutputWrapper": lambda wrappers, metric: wrappers.MultioutputWrapper(metric, num_outputs=2),
    "LambdaInputTransformer": lambda wrappers, metric: wrappers.LambdaInputTransformer(
        metric, lambda labels: 2 - labels
    ),
}
CASES = [(wrapper, "recall:class" if wrapper == "ClasswiseWrapper" else "mcc") for wrapper in WRAPPERS]
CASES += [("Running", "recall:class"), ("Running", "margins"), ("BootStrapper", "margins")]


@pytest.mark.sampled(1)
@pytest.mark.parametrize(("wrapper", "measure"), CASES)
def test_a_wrapper_gives_what_it_gives_around_torchmetrics_own(
    torch: Any, torchmetrics: Any, ours: Any, wrapper: str, measure: str
) -> None:
    """After updates, calls, resets, clones and pickles, and with the same samples of a bootstrap."""
    mine, theirs = (WRAPPERS[wrapper](torchmetrics.wrappers, one) for one in pair(torchmetrics, ours)[measure])
    shape = (2,) if wrapper == "MultioutputWrapper" else ()
    steps = ["update", "compute", "update", "compute", "call", "compute", "update", "update", "compute", "reset"]
    for step in [*steps, "update", "compute", "clone", "update", "compute"]:
        batch = draw(torch, 40, *shape)
        results = []
        for one in (mine, theirs):
            torch.manual_seed(0)
            if step == "call":
                results.append(one(*batch))
            elif step == "clone":
                results.append(None)
            else:
                results.append(getattr(one, step)(*(batch if step == "update" else ())))
        assert_same(torch, *results)
        if step == "clone":
            mine, theirs = mine.clone(), theirs.clone()
    if wrapper != "LambdaInputTransformer":
        assert_same(torch, pickle.loads(pickle.dumps(mine)).compute(), theirs.compute())


@pytest.mark.parametrize("measure", ["mcc", "margins"])
def test_tracker(torch: Any, torchmetrics: Any, ours: Any, measure: str) -> None:
    """It asks whether higher values are better."""
    trackers = [torchmetrics.MetricTracker(one, maximize=None) for one in pair(torchmetrics, ours)[measure]]
    for _ in range(4):
        batch = draw(torch, 30)
        for tracker in trackers:
            tracker.increment()
            tracker.update(*batch)
    assert_same(torch, *[tracker.compute_all() for tracker in trackers])
    (mine, step), (theirs, of_theirs) = [tracker.best_metric(return_step=True) for tracker in trackers]
    assert (mine, step) == (pytest.approx(theirs, abs=1e-6), of_theirs)


@pytest.mark.exhaustive
def test_a_tracker_of_losses_takes_the_lowest(torch: Any, torchmetrics: Any, ours: Any) -> None:
    scores = ours.ScoreMetric(metrics="roc_auc, log_loss, recall@0.5, ece", bounds=True)
    better = {name: scores[name].higher_is_better for name in ("roc_auc", "log_loss", "recall@0.5", "ece")}
    assert better == {"roc_auc": True, "log_loss": False, "recall@0.5": True, "ece": False}
    assert scores.higher_is_better is None
    tracker = torchmetrics.MetricTracker(scores["log_loss"], maximize=None)
    for prob in (0.6, 0.9, 0.7):
        tracker.increment()
        tracker.update(torch.tensor([prob, 1 - prob]), torch.tensor([1, 0]))
    assert tracker.best_metric(return_step=True) == (pytest.approx(-np.log(0.9)), 1)


@pytest.mark.exhaustive
@pytest.mark.parametrize("kind", ["ConfusionMetric", "ScoreMetric"])
def test_running_takes_many_values(torch: Any, torchmetrics: Any, ours: Any, kind: str) -> None:
    """The values of the last three batches, as from a metric that has counted these alone."""
    options = {"ConfusionMetric": "mcc, recall:class", "ScoreMetric": "roc_auc, log_loss"}
    running = torchmetrics.wrappers.Running(getattr(ours, kind)(3, options[kind]), window=3)
    batches = []
    for number in range(6):
        target = torch.from_numpy(RANDOM.integers(0, 3, 30))
        batches.append((torch.from_numpy(RANDOM.dirichlet(np.ones(3), 30)), target))
        if number % 2:
            running.update(*batches[-1])
        else:
            running(*batches[-1])
        alone = getattr(ours, kind)(3, options[kind])
        for batch in batches[-3:]:
            alone.update(*batch)
        assert {k: v.item() for k, v in running.compute().items()} == pytest.approx(alone.log_dict(), rel=1e-9)


# One measure ----------------------------------------------------------------------------------------------------------


def test_one_measure_has_counts_of_its_own(torch: Any, ours: Any) -> None:
    """They begin with those of the metric."""
    metric = ours.ConfusionMetric(3, "mcc, recall:class, f1", prefix="val/", class_names=["cat", "dog", "owl"])
    first, second = draw(torch, 30), draw(torch, 20)
    metric.update(*first)
    mcc, recall = metric["mcc"], metric["val/recall:class"]
    cm = matrics.confusion_matrix(first[1], first[0], num_classes=3)
    assert mcc.compute().item() == matrics.mcc(cm).item()
    assert recall.compute().tolist() == matrics.recall(cm, average="class").tolist()
    assert recall.log_dict() == {name: metric.log_dict()[f"val/recall/{name[11:]}"] for name in recall.log_dict()}
    assert mcc.log_dict() == {"val/mcc": mcc.compute().item()}
    both = matrics.confusion_matrix(*map(torch.cat, zip(first[::-1], second[::-1], strict=True)), num_classes=3)
    value = mcc(*second)  # of the batch
    assert value.item() == matrics.mcc(matrics.confusion_matrix(second[1], second[0], num_classes=3)).item()
    assert mcc.compute().item() == matrics.mcc(both).item()
    assert metric.matrix.tolist() == cm.tolist()
    for twin in (mcc.clone(), copy.deepcopy(mcc), pickle.loads(pickle.dumps(mcc)), mcc.clone(prefix="test/")):
        assert twin.compute().item() == matrics.mcc(both).item()
        twin.reset()
        assert twin.matrix.sum() == 0
    assert mcc.matrix.sum() == 50
    assert recall[1].compute().item() == recall.compute()[1].item()  # torchmetrics' own index


def test_dropped_samples_are_no_value(torch: Any, ours: Any) -> None:
    metric = ours.ConfusionMetric(2, "accuracy")
    with pytest.warns(RuntimeWarning, match="1 of 3 samples|not counted"):
        value = metric["accuracy"](torch.tensor([0, 1, 5]), torch.tensor([0, 1, 1]))
    assert value.item() == 1


def test_limits_of_areas_are_left_out(torch: Any, ours: Any) -> None:
    metric = ours.ScoreMetric(3, "roc_auc, roc_auc:class", bounds=True)
    batch = torch.from_numpy(RANDOM.dirichlet(np.ones(3), 30)), torch.from_numpy(RANDOM.integers(0, 3, 30))
    values = metric(*batch)
    assert metric["roc_auc"](*batch).item() == values["roc_auc"].item()
    assert metric["roc_auc:class"](*batch).tolist() == [values[f"roc_auc/{k}"].item() for k in range(3)]


@pytest.mark.parametrize("name", ["kappa", "", 0, None, "test/mcc"])
def test_names_that_are_none(ours: Any, name: Any) -> None:
    with pytest.raises(KeyError, match=r"expected one of 'mcc', 'recall:class', got "):
        ours.ConfusionMetric(3, "mcc, recall:class", prefix="val/")[name]


def test_arithmetic_of_one_measure(torch: Any, torchmetrics: Any, ours: Any) -> None:
    a, b = (pair(torchmetrics, ours)["mcc"] for _ in range(2))
    for mine, theirs in zip(
        *[(one + two, 1 - one, abs(one) * two, one / two, one > 0.1) for one, two in zip(a, b, strict=True)],
        strict=True,
    ):
        for _ in range(2):
            batch = draw(torch, 40)
            assert_same(torch, mine(*batch), theirs(*batch))
        assert_same(torch, mine.compute(), theirs.compute())


def test_a_collection_of_measures_counts_once(torch: Any, torchmetrics: Any, ours: Any) -> None:
    metric = ours.ConfusionMetric(3, "mcc, f1, recall:class")
    collection = torchmetrics.MetricCollection({name: metric[name] for name in ("mcc", "f1", "recall:class")})
    batches = [draw(torch, 30) for _ in range(4)]
    for number, batch in enumerate(batches):
        if number == 2:
            collection(*batch)
        else:
            collection.update(*batch)
    assert list(map(len, collection.compute_groups.values())) == [3]
    preds, target = (torch.cat(parts) for parts in zip(*batches, strict=True))
    expected = matrics.score(matrics.confusion_matrix(target, preds, num_classes=3), "mcc, f1, recall:class")
    for name, value in collection.compute().items():
        assert torch.equal(value, expected[name])


# What is refused ------------------------------------------------------------------------------------------------------


@pytest.mark.sampled(2)
@pytest.mark.parametrize("wrapper", ["ClasswiseWrapper", "MinMaxMetric", "BootStrapper", "MultioutputWrapper"])
@pytest.mark.parametrize("kind", ["ConfusionMetric", "ScoreMetric"])
def test_wrappers_of_one_value_refuse_many(torchmetrics: Any, ours: Any, wrapper: str, kind: str) -> None:
    """When they are made, and not at the end of an epoch; a subclass as well."""
    make = getattr(ours, kind)(3)
    first = make._values.requested[0]
    original = getattr(torchmetrics.wrappers, wrapper)
    for kind_of in (original, type("Mine", (original,), {})):
        with pytest.raises(
            TypeError, match=rf"^{wrapper}: expected a metric of a single value, .*; pass metric\['{first}'\]"
        ):
            kind_of(make, *([2] if wrapper == "MultioutputWrapper" else []))


@pytest.mark.parametrize(
    "call", ["metric + 1", "1 + metric", "metric + metric", "-metric", "abs(metric)", "metric < 3", "metric / 2"]
)
def test_arithmetic_of_many_values(ours: Any, call: str) -> None:
    with pytest.raises(
        TypeError, match=r"expected a metric of a single value, got a ConfusionMetric, .*metric\['mcc'\]"
    ):
        eval(call, {"metric": ours.ConfusionMetric(3, "mcc, f1")})  # noqa: S307 (the text is above)


def test_other_modules_are_left_alone(torch: Any, ours: Any) -> None:
    model = torch.nn.Module()
    model.metric = ours.ConfusionMetric(3)
    model.several = torch.nn.ModuleList([ours.ConfusionMetric(3), torch.nn.ModuleList()])
    assert len(list(model.several)) == 2


def test_items_of_one_measure(ours: Any) -> None:
    with pytest.raises(TypeError, match=r"expected a metric of many values, got a metric of 'mcc': use self\.log"):
        ours.ConfusionMetric(3, "mcc")["mcc"].items()
