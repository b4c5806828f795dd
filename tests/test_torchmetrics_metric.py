"""ConfusionMetric for torchmetrics and Lightning; and torchmetrics and scikit-learn as referees of what it says."""

from __future__ import annotations

import importlib
import pickle
from typing import Any

import numpy as np
import pytest

import matrics

RANDOM = np.random.default_rng(0)


@pytest.fixture
def torchmetrics(torch: Any) -> Any:  # noqa: ARG001 (skips without PyTorch)
    return pytest.importorskip("torchmetrics")


@pytest.fixture
def make(torchmetrics: Any) -> Any:  # noqa: ARG001 (skips without torchmetrics)
    return importlib.import_module("matrics.torchmetrics").ConfusionMetric


def draw(torch: Any, size: int = 50, low: int = 0) -> tuple[Any, Any]:
    """Scores and labels of three classes."""
    return torch.from_numpy(RANDOM.normal(size=(size, 3))), torch.from_numpy(RANDOM.integers(low, 3, size))


def values_of(torch: Any, batches: list[tuple[Any, Any]], specs: str = "core") -> dict[str, float]:
    """The measures of all batches, by the functions of the core."""
    scores, labels = (torch.cat(parts) for parts in zip(*batches, strict=True))
    cm = matrics.confusion_matrix(labels, scores, num_classes=3)
    return {name: value.item() for name, value in matrics.score(cm, specs).items()}


def plain(values: dict[str, Any]) -> dict[str, float]:
    assert all(value.ndim == 0 for value in values.values())
    return {name: value.item() for name, value in values.items()}


# A torchmetrics metric ------------------------------------------------------------------------------------------------


def test_update_forward_and_reset(torch: Any, torchmetrics: Any, make: Any) -> None:
    metric = make(3)
    assert isinstance(metric, torchmetrics.Metric)
    batches = [draw(torch, size) for size in (50, 50, 7)]
    for batch in batches:
        assert plain(metric(*batch)) == values_of(torch, [batch])
    assert plain(metric.compute()) == values_of(torch, batches)
    metric.update(*batches[0])
    metric.update(batches[1][0].argmax(1), batches[1][1])
    assert plain(metric.compute()) == values_of(torch, batches + batches[:2])
    assert metric.matrix.sum() == metric.state.matrix.sum() == 207
    metric.reset()
    metric.update(*draw(torch, 9, low=-1))
    assert metric.matrix.sum() + metric.dropped == 9


def test_state_is_safe(torch: Any, make: Any) -> None:
    """Clones, pickles, checkpoints, dtypes and inference mode: nothing is shared, cast or frozen by mistake."""
    metric = make(3, "mcc, recall:class", prefix="val/")
    batch = draw(torch)
    metric.update(*batch)
    saved = metric.state_dict()
    counts = {name: value.clone() for name, value in saved.items()}
    resumed = make(3, "mcc, recall:class", prefix="val/")
    resumed.load_state_dict(saved)
    for twin in (metric.clone(), pickle.loads(pickle.dumps(metric)), resumed):
        twin.update(*batch)
        assert torch.equal(twin.matrix, 2 * metric.matrix)
        assert {name: value.compute().item() for name, value in twin.items()} == plain(twin.compute())
    assert all(torch.equal(saved[name], value) for name, value in counts.items())
    for cast in (metric.half(), metric.to(torch.float16), metric.set_dtype(torch.float16), metric.type(torch.float16)):
        assert cast.matrix.dtype == torch.int64
        assert cast.matrix.sum() == 50
    with torch.inference_mode():
        metric.reset()
        metric.update(*batch)
    metric.update(*batch)
    assert metric.matrix.sum() == 100
    assert metric.to("meta").matrix.device.type == "meta"


def test_merge_state(torch: Any, make: Any) -> None:
    batches = [draw(torch, size) for size in (50, 7)]
    one, other = make(3), make(3)
    one.update(*batches[0])
    other.update(*batches[1])
    one.merge_state(other)
    assert plain(one.compute()) == values_of(torch, batches)


@pytest.mark.parametrize("groups", [True, False])
def test_collection(torch: Any, torchmetrics: Any, make: Any, groups: Any) -> None:
    """Beside others, and with one of its kind, with which it shares its counts."""
    collection = torchmetrics.MetricCollection(
        {
            "theirs": torchmetrics.classification.MulticlassAccuracy(3, average="micro"),
            "a": make(3, "accuracy, mcc"),
            "b": make(3, "eve", prefix="mine/"),
        },
        prefix="val/",
        compute_groups=groups,
    )
    batches = [draw(torch, size) for size in (50, 50, 7)]
    for epoch in range(2):
        for number, (scores, labels) in enumerate(batches):
            if number == 1:
                batch = collection(scores, labels)
                assert batch["val/mcc"].item() == values_of(torch, batches[1:2])["mcc"]
            else:
                collection.update(preds=scores, target=labels)
        shared = sorted(map(sorted, collection.compute_groups.values()))
        assert shared == ([["a", "b"], ["theirs"]] if groups else []), epoch
        values, expected = plain(collection.compute()), values_of(torch, batches)
        assert values["val/accuracy"] == expected["accuracy"] == pytest.approx(values["val/theirs"], abs=1e-7)
        assert values["val/mcc"] == expected["mcc"]
        assert values["val/mine/eve"] == expected["eve"]
        collection.reset()


def test_collections_do_not_share_what_is_counted_differently(torch: Any, torchmetrics: Any, make: Any) -> None:
    """Torchmetrics groups what is equal after the first batch, in which nothing has to be left out yet."""
    collection = torchmetrics.MetricCollection({"all": make(3), "some": make(3, ignore_index=0)})
    for labels in (torch.tensor([1, 2]), torch.tensor([0, 0])):
        collection.update(labels, labels)
    sums = {name: metric.matrix.sum().item() for name, metric in collection.items()}
    assert sums == {"all": 4, "some": 2}
    halves = torchmetrics.MetricCollection({"low": make(2, threshold=0.25), "high": make(2, threshold=0.75)})
    for score in (0.9, 0.5):
        halves.update(torch.tensor([score]), torch.tensor([1]))
    assert [metric.matrix[1].tolist() for metric in halves.values()] == [[1, 1], [0, 2]]


def test_tracker(torch: Any, torchmetrics: Any, make: Any) -> None:
    tracker = torchmetrics.MetricTracker(make(3, "mcc"), maximize=True)
    batches = [draw(torch) for _ in range(3)]
    for batch in batches:
        tracker.increment()
        tracker.update(*batch)
    assert tracker.compute_all()["mcc"].tolist() == [values_of(torch, [batch])["mcc"] for batch in batches]


def test_values_as_metrics(torch: Any, make: Any) -> None:
    """What Lightning's log_dict gets: each computes itself, all follow their metric, and none counts by itself."""
    metric = make(3, "mcc, recall:class", prefix="val/")
    assert [name for name, _ in metric.items()] == ["val/mcc", "val/recall/0", "val/recall/1", "val/recall/2"]
    mcc = dict(metric.items())["val/mcc"]
    batches = [draw(torch), draw(torch)]
    for batch in batches:
        metric(*batch)
        assert mcc._forward_cache.item() == values_of(torch, [batch])["mcc"]
    assert mcc.compute().item() == values_of(torch, batches)["mcc"]
    mcc.update(*batches[0])
    assert mcc.compute().item() == values_of(torch, batches + batches[:1])["mcc"]
    mcc.reset()
    assert metric.matrix.sum() == 0
    assert not mcc.update_called
    assert set(metric.modules()) > {mcc}  # or Lightning does not find it


# Lightning ------------------------------------------------------------------------------------------------------------


@pytest.mark.filterwarnings("ignore:`isinstance.treespec, LeafSpec.` is deprecated")
@pytest.mark.filterwarnings("ignore:.*does not have many workers")
def test_lightning(torch: Any, make: Any, monkeypatch: pytest.MonkeyPatch, tmp_path: Any) -> None:
    """A Trainer's run of two epochs, each with its own counts; values are of all batches, not means over batches."""
    lightning = pytest.importorskip("lightning")
    monkeypatch.chdir(tmp_path)
    train, held_out = [draw(torch, size) for size in (20, 20, 3)], [draw(torch, size) for size in (30, 30, 7)]

    class Model(lightning.LightningModule):
        def __init__(self) -> None:
            super().__init__()
            self.layer = torch.nn.Linear(3, 3, dtype=torch.float64)
            self.seen = make(3, "accuracy, mcc", prefix="train/")
            self.held_out = make(3, "mcc, recall:class", prefix="val/", class_names=["cat", "dog", "owl"])
            self.counted: dict[str, list[Any]] = {"train": [], "val": []}

        def training_step(self, batch: Any) -> Any:
            scores, labels = batch
            logits = self.layer(scores)
            self.counted["train"].append((logits.detach(), labels))
            self.seen(logits, labels)
            self.log_dict(self.seen, on_step=True, on_epoch=True)
            return torch.nn.functional.cross_entropy(logits, labels)

        def validation_step(self, batch: Any) -> None:
            scores, labels = batch
            logits = self.layer(scores)
            self.counted["val"].append((logits, labels))
            self.held_out.update(logits, labels)
            self.log_dict(self.held_out)

        def configure_optimizers(self) -> Any:
            return torch.optim.SGD(self.parameters(), lr=0.5)

    compared = []

    class Compare(lightning.Callback):
        def on_train_batch_end(self, trainer: Any, model: Any, *_: Any) -> None:
            last = values_of(torch, model.counted["train"][-1:], "accuracy, mcc")
            assert trainer.logged_metrics["train/mcc_step"].item() == pytest.approx(last["mcc"], nan_ok=True, abs=1e-12)

        def on_train_epoch_end(self, trainer: Any, model: Any) -> None:
            found = {name: value.item() for name, value in trainer.callback_metrics.items()}
            expected = values_of(torch, model.counted["val"], "mcc, f1")
            assert found["val/mcc"] == pytest.approx(expected["mcc"], abs=1e-12)
            assert {"val/recall/cat", "val/recall/dog", "val/recall/owl"} < set(found)
            expected = values_of(torch, model.counted["train"], "accuracy, mcc")
            assert found["train/accuracy_epoch"] == pytest.approx(expected["accuracy"], abs=1e-12)
            assert found["train/mcc_epoch"] == pytest.approx(expected["mcc"], abs=1e-12)
            compared.append(found["val/mcc"])
            model.counted = {"train": [], "val": []}

    torch.manual_seed(0)
    trainer = lightning.Trainer(
        max_epochs=2,
        accelerator="cpu",
        callbacks=[Compare()],
        logger=False,
        enable_checkpointing=False,
        enable_progress_bar=False,
        enable_model_summary=False,
        num_sanity_val_steps=1,
        log_every_n_steps=1,
    )
    model = Model()
    model.counted["val"] = []
    trainer.fit(model, torch.utils.data.DataLoader(train, batch_size=None), _fresh(torch, held_out, model))
    assert len(compared) == 2
    assert model.held_out.matrix.sum() == 0  # it was reset
    (result,) = trainer.validate(model, torch.utils.data.DataLoader(held_out, batch_size=None), verbose=False)
    model.counted["val"] = model.counted["val"][-3:]
    assert result["val/mcc"] == pytest.approx(values_of(torch, model.counted["val"], "mcc")["mcc"], abs=1e-12)
    assert not list(tmp_path.iterdir())


def _fresh(torch: Any, batches: list[Any], model: Any) -> Any:
    """A loader that forgets what the sanity check has counted, as Lightning does."""

    class Loader(torch.utils.data.IterableDataset):
        def __iter__(self) -> Any:
            model.counted["val"] = []
            return iter(batches)

    return torch.utils.data.DataLoader(Loader(), batch_size=None)


# Referees -------------------------------------------------------------------------------------------------------------


@pytest.fixture
def theirs(torchmetrics: Any) -> Any:
    return torchmetrics.functional.classification


@pytest.mark.exhaustive
@pytest.mark.parametrize("batches", [40, pytest.param(1000, marks=pytest.mark.exhaustive)])
def test_random_batches(torch: Any, theirs: Any, make: Any, batches: int) -> None:
    """Ours, torchmetrics' and scikit-learn's values of random batches in which every class is true and predicted.

    (Of empty classes the three make different things, as ``zero_division`` says of ours.)
    """
    sk = pytest.importorskip("sklearn.metrics")
    named = importlib.import_module("matrics.torch").ConfusionMetric
    specs = "accuracy, recall, f1:macro, precision:macro, jaccard:macro, mcc, cohen_kappa, specificity:macro"
    metrics = {n: (named(n, specs), make(n, specs)) for n in range(2, 7)}
    macro = {"average": "macro", "validate_args": False}
    for seed in range(batches):
        random = np.random.default_rng(seed)
        n, size = int(random.integers(2, 7)), int(random.integers(1, 200))
        scores = random.normal(size=(size + 2 * n, n)).astype(np.float32)
        true = np.concatenate([np.arange(n), random.integers(0, n, size), random.integers(0, n, n)])
        scores[np.arange(size), true[:size]] += random.exponential(2)
        scores[-n:] = 9 * np.eye(n)
        pred = scores.argmax(1)
        p, t = torch.from_numpy(scores), torch.from_numpy(true)
        ours, other = metrics[n]
        ours.reset()
        ours.update(t, p)
        found = plain(ours.compute())
        other.reset()
        other.update(p, t)
        assert plain(other.compute()) == found
        precision, _, f1, _ = sk.precision_recall_fscore_support(true, pred, average="macro")
        cm = sk.confusion_matrix(true, pred)
        np.testing.assert_array_equal(ours.matrix, cm)
        rest = cm.sum() - cm.sum(0) - cm.sum(1) + np.diag(cm)
        reference = {
            "accuracy": sk.accuracy_score(true, pred),
            "recall": sk.recall_score(true, pred, average="binary" if n == 2 else "macro"),
            "precision:macro": precision,
            "f1:macro": f1,
            "jaccard:macro": sk.jaccard_score(true, pred, average="macro"),
            "mcc": sk.matthews_corrcoef(true, pred),
            "cohen_kappa": sk.cohen_kappa_score(true, pred),
            "specificity:macro": np.mean(rest / (cm.sum() - cm.sum(1))),  # which scikit-learn has not
        }
        assert found == pytest.approx(reference, abs=1e-9), seed
        rival = {
            "accuracy": theirs.multiclass_accuracy(p, t, n, average="micro", validate_args=False),
            "recall": theirs.binary_recall(p.argmax(1), t) if n == 2 else theirs.multiclass_recall(p, t, n, **macro),
            "precision:macro": theirs.multiclass_precision(p, t, n, **macro),
            "f1:macro": theirs.multiclass_f1_score(p, t, n, **macro),
            "jaccard:macro": theirs.multiclass_jaccard_index(p, t, n, **macro),
            "mcc": theirs.multiclass_matthews_corrcoef(p, t, n, validate_args=False),
            "cohen_kappa": theirs.multiclass_cohen_kappa(p, t, n, validate_args=False),
            "specificity:macro": theirs.multiclass_specificity(p, t, n, **macro),
        }
        assert plain(rival) == pytest.approx(reference, abs=1e-6), seed


HUGE = [[9_000_000_000, 700_000_000], [800_000_000, 10_000_000_000]]
STACK = np.random.default_rng(5).integers(1, 9, (5, 3, 3))


@pytest.mark.parametrize(
    ("cm", "true", "wrong"),
    [
        ([[10**8, 3], [2, 5]], 0.668153, 1.0),  # scored in float32
        (HUGE, 0.853354, 0.0),  # the square of a product of four counts overflows
        ([[40, -1], [3, 40]], np.nan, 0.956),  # a negative cell goes unseen
        (STACK, None, None),  # a stack is pooled into one value
    ],
    ids=["imbalanced", "huge", "negative", "stack"],
)
def test_known_errors_of_torchmetrics(torch: Any, torchmetrics: Any, cm: Any, true: Any, wrong: Any) -> None:
    """MCC. Where this fails for torchmetrics' value, it was mended, and the list here and in the pages is old."""
    cm = torch.as_tensor(cm)
    ours = matrics.mcc(cm)
    if cm.ndim == 3:
        assert ours.shape == (5,)
        np.testing.assert_allclose(ours, [matrics.mcc(one) for one in cm])
    else:
        assert ours.item() == pytest.approx(true, abs=1e-6, nan_ok=True)
    metric = torchmetrics.classification.MulticlassMatthewsCorrCoef(cm.shape[-1])
    metric.confmat, metric._update_count = cm, 1
    value = metric.compute()
    assert value.ndim == 0
    if wrong is not None:
        assert value.item() == pytest.approx(wrong, abs=5e-4)
    assert torch.isfinite(value)


def test_jaccard_of_torchmetrics_leaves_out_the_ignored_class(torch: Any, theirs: Any) -> None:
    """And not its samples alone; its F1 keeps the class. Where this fails, docs/torch.md is old."""
    true, pred = torch.tensor([0, 0, 1, 1, 2, 2, 2, 0]), torch.tensor([0, 1, 1, 2, 2, 2, 0, 0])
    cm = matrics.confusion_matrix(true, pred, num_classes=3, ignore_index=0)
    assert theirs.multiclass_confusion_matrix(pred, true, 3, ignore_index=0).tolist() == cm.tolist()
    values = {
        average: (
            matrics.metrics.jaccard(cm, average=average or "class").numpy(),
            theirs.multiclass_jaccard_index(pred, true, 3, average=average, ignore_index=0).numpy(),
        )
        for average in ("macro", "micro", None)
    }
    np.testing.assert_allclose(values[None], [[0, 1 / 2, 1 / 2]] * 2, rtol=1e-6)
    np.testing.assert_allclose(values["macro"], [1 / 3, 1 / 2], rtol=1e-6)
    np.testing.assert_allclose(values["micro"], [3 / 7, 3 / 6], rtol=1e-6)
    f1 = theirs.multiclass_f1_score(pred, true, 3, average="macro", ignore_index=0)
    np.testing.assert_allclose(f1, matrics.f1(cm), rtol=1e-6)


def test_known_error_of_float32_states(torch: Any, torchmetrics: Any, make: Any) -> None:
    """A count of hits in torchmetrics' SumMetric stops at 2**24; ours goes on."""
    hits, metric = torchmetrics.SumMetric(), make(2, "true_positives:class")
    hits.update(float(2**24))
    hits.update(1.0)
    assert hits.compute().item() == 2**24
    labels = torch.ones(1, dtype=torch.int64)
    metric.update(labels, labels)
    (name,) = metric._names.values()
    setattr(metric, name, getattr(metric, name) * 2**24)
    metric.update(labels, labels)
    assert metric.compute()["true_positives/1"].item() == 2**24 + 1


def test_a_checkpoint_of_other_classes(torch: Any, make: Any) -> None:  # noqa: ARG001
    saved, metric = make(5), make(3)
    with pytest.raises(ValueError, match="expected counts of 3 classes, got counts of 5"):
        metric.load_state_dict(saved.state_dict())


def test_the_matrix_is_a_copy(torch: Any, make: Any) -> None:
    metric = make(3)
    metric.update(*draw(torch))
    metric.matrix.zero_()
    assert metric.matrix.sum() == 50


def test_one_graph(torch: Any, make: Any) -> None:
    metric = make(3)

    @torch.compile(fullgraph=True, backend="aot_eager")
    def step(scores: Any, labels: Any) -> None:
        metric.update(scores, labels)

    step(*draw(torch))
    assert metric.matrix.sum() == 50
