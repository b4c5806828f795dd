"""ScoreMetric for torchmetrics and Lightning: the same as that for PyTorch, in collections, epochs and checkpoints."""

from __future__ import annotations

import importlib
import pickle
from typing import Any

import numpy as np
import pytest

from matrics import ScoreState

RANDOM = np.random.default_rng(22)
SPECS = "roc_auc, ece, recall@0.5, roc_auc:class"


@pytest.fixture
def torchmetrics(torch: Any) -> Any:  # noqa: ARG001 (skips without PyTorch)
    return pytest.importorskip("torchmetrics")


@pytest.fixture
def make(torchmetrics: Any) -> Any:  # noqa: ARG001 (skips without torchmetrics)
    return importlib.import_module("matrics.torchmetrics").ScoreMetric


def draw(torch: Any, size: int = 50) -> tuple[Any, Any]:
    """Logits and labels of three classes."""
    labels = RANDOM.integers(0, 3, size)
    return torch.from_numpy(RANDOM.normal(size=(size, 3)) + np.eye(3)[labels]), torch.from_numpy(labels)


def values_of(batches: list[tuple[Any, Any]], specs: str = SPECS) -> Any:
    """The values of all batches, by the module for plain PyTorch."""
    metric = importlib.import_module("matrics.torch").ScoreMetric(3, specs, from_logits=True)
    for logits, labels in batches:
        metric.update(labels, logits)
    return pytest.approx(metric.log_dict(), abs=1e-9)


def plain(values: dict[str, Any]) -> dict[str, float]:
    assert all(value.ndim == 0 for value in values.values())
    return {name: value.item() for name, value in values.items()}


def test_update_forward_and_reset(torch: Any, make: Any) -> None:
    metric = make(3, SPECS, from_logits=True)
    batches = [draw(torch, size) for size in (50, 50, 7)]
    for batch in batches:
        assert plain(metric(*batch)) == values_of([batch])
    assert plain(metric.compute()) == metric.log_dict() == values_of(batches)
    metric.update(*batches[0])
    assert metric.log_dict() == values_of([*batches, batches[0]])
    thresholds = make(3, SPECS).state.thresholds
    assert torch.equal(metric.state.thresholds, thresholds)  # whose edges forward has added up
    assert {name for name, _ in metric.items()} == set(metric.log_dict())
    metric.reset()
    metric.update(batches[0][0], torch.full((50,), 7))
    assert metric.dropped == 50
    with pytest.warns(RuntimeWarning, match="50 samples are not counted"):
        assert metric.compute()["dropped"] == 50
    with pytest.raises(NotImplementedError, match=r"metric.state"):
        metric.plot()


def test_state_is_safe(torch: Any, make: Any) -> None:
    """Clones, pickles, checkpoints, dtypes and inference mode: nothing is shared, cast or frozen by mistake."""
    metric = make(3, SPECS, prefix="val/", from_logits=True)
    batch = draw(torch)
    metric(*batch)
    saved = metric.state_dict()
    counts = {name: value.clone() for name, value in saved.items()}
    resumed = make(3, SPECS, prefix="val/", from_logits=True)
    resumed.load_state_dict(saved)
    for twin in (metric.clone(), pickle.loads(pickle.dumps(metric)), resumed):
        twin.update(*batch)
        assert torch.equal(twin.state.counts, 2 * metric.state.counts)
        assert {name: value.compute().item() for name, value in twin.items()} == plain(twin.compute())
    assert all(torch.equal(saved[name], value) for name, value in counts.items())
    assert next(iter(metric.clone(prefix="test/").compute())) == "test/roc_auc"
    for cast in (metric.half(), metric.to(torch.float16), metric.set_dtype(torch.float16), metric.type(torch.float16)):
        assert all(torch.equal(counts[name], getattr(cast, name)) for name in counts)
    with torch.inference_mode():
        metric.reset()
        metric.update(*batch)
    metric.update(*batch)
    assert torch.equal(metric.state.counts, resumed.state.counts)
    for options, message in (
        ({"bits": 6}, "expected counts of bits=6 in .*, as this metric has, got some of bits=10"),
        ({"metrics": "roc_auc, ece:class_wise, recall@0.4"}, "edges.*: expected counts at the edges and thresholds"),
        ({"num_classes": 4}, "of the shape"),
    ):
        smaller = make(**{"num_classes": 3, "metrics": SPECS, "from_logits": True, **options})
        with pytest.raises(ValueError, match=message):
            smaller.load_state_dict(saved)
    assert repr(metric).startswith("ScoreMetric(3, ['roc_auc', 'ece', 'recall@0.5', 'roc_auc:class'], prefix='val/'")


def test_masks_and_weights(torch: Any, make: Any) -> None:
    logits, labels = draw(torch)
    masked, weighted, fewer = (make(3, "roc_auc", from_logits=True, **o) for o in ({}, {"dtype": torch.float64}, {}))
    mask = labels != 1
    masked.update(logits, labels, mask=mask)
    weighted.update(logits, labels, sample_weight=mask.double())
    fewer.update(logits[mask], labels[mask])
    assert torch.equal(masked.state.counts, fewer.state.counts)
    assert torch.equal(weighted.state.counts, fewer.state.counts.double())


@pytest.mark.exhaustive
@pytest.mark.parametrize("groups", [True, False])
def test_collection(torch: Any, torchmetrics: Any, make: Any, groups: Any) -> None:
    """Beside labels' measures, theirs, and one of its kind, with which it shares its counts."""
    scores = importlib.import_module("matrics.torchmetrics").ConfusionMetric
    collection = torchmetrics.MetricCollection(
        {
            "theirs": torchmetrics.classification.MulticlassAUROC(3),
            "labels": scores(3, "accuracy"),
            "a": make(3, "roc_auc, ece", from_logits=True, bounds=True),
            "b": make(3, "average_precision, ece", from_logits=True, prefix="b/"),
            "wide": make(3, "roc_auc", from_logits=True, bits=6, prefix="wide/"),
            "probabilities": make(3, "roc_auc", prefix="raw/"),
        },
        prefix="val/",
        compute_groups=groups,
    )
    batches = [draw(torch, size) for size in (50, 50, 7)]
    for _ in range(2):
        for batch in batches:
            collection.update(*batch)
        values, expected = plain(collection.compute()), values_of(batches, "roc_auc, ece, average_precision").expected
        for name, value in expected.items():
            prefix = "val/b/" if name == "average_precision" else "val/"
            assert values[f"{prefix}{name}"] == pytest.approx(value, abs=1e-9)
        assert values["val/roc_auc_low"] - 1e-6 <= values["val/theirs"] <= values["val/roc_auc_high"] + 1e-6
        assert {"val/accuracy", "val/wide/roc_auc", "val/raw/roc_auc"} < set(values)
        if groups:
            shared = sorted(map(sorted, collection.compute_groups.values()))
            assert shared == [["a", "b"], ["labels"], ["probabilities"], ["theirs"], ["wide"]]
        collection.reset()


@pytest.mark.exhaustive
def test_collections_do_not_share_what_is_counted_differently(torch: Any, torchmetrics: Any, make: Any) -> None:
    """Torchmetrics groups what is equal after the first batch, in which all scores are 0.659, their own logistic."""
    metrics = {
        "all": make(),
        "some": make(ignore_index=0),
        "logits": make(from_logits=True),
        "bits": make(bits=6),
        "bins": make(num_bins=5),
        "weighted": make(dtype=torch.float64),
    }
    collection = torchmetrics.MetricCollection(metrics)
    for labels, scores in (([1, 1], [0.659046068407, 0.659046068407]), ([0, 1], [0.2, 0.4])):
        collection.update(torch.tensor(scores, dtype=torch.float64), torch.tensor(labels))
    for metric, given in zip(metrics.values(), ([0.2, 0.4, 0.659046068407],) * 6, strict=True):
        score = {"logits" if metric is metrics["logits"] else "y_score": given}
        bits = 6 if metric is metrics["bits"] else 15
        wanted = ScoreState.zeros(bits=bits, num_bins=0).update([0, 1, 1], **score).counts.nonzero()[0].tolist()
        found = metric.state.counts.nonzero()[:, 0].tolist()
        assert found == (wanted[1:] if metric is metrics["some"] else wanted)
    assert all(int(metric.state.counts.sum()) == 4 - (name == "some") for name, metric in collection.items())


@pytest.mark.exhaustive  # test_torch_scores.py compiles the same counting
def test_one_graph(torch: Any, make: Any) -> None:
    metric = make(3, from_logits=True)

    @torch.compile(fullgraph=True, backend="aot_eager")
    def step(logits: Any, labels: Any) -> None:
        metric.update(logits, labels)

    batch = draw(torch)
    step(*batch)
    assert metric.log_dict() == values_of([batch], "roc_auc, average_precision, expected_calibration_error")


@pytest.mark.filterwarnings("ignore:`isinstance.treespec, LeafSpec.` is deprecated")
@pytest.mark.filterwarnings("ignore:.*does not have many workers")
def test_lightning(torch: Any, make: Any, monkeypatch: pytest.MonkeyPatch, tmp_path: Any) -> None:
    """Two epochs, each with its own counts; values are of all batches, not means over batches."""
    lightning = pytest.importorskip("lightning")
    monkeypatch.chdir(tmp_path)
    batches = [draw(torch, size) for size in (30, 30, 7)]

    class Model(lightning.LightningModule):
        def __init__(self) -> None:
            super().__init__()
            self.layer = torch.nn.Linear(3, 3, dtype=torch.float64)
            self.seen = make(3, "roc_auc", from_logits=True, prefix="train/")
            self.held_out = make(3, SPECS, from_logits=True, prefix="val/", class_names=["cat", "dog", "owl"])

        def training_step(self, batch: Any) -> Any:
            logits = self.layer(batch[0])
            self.seen(logits, batch[1])
            self.log_dict(self.seen, on_step=True, on_epoch=True)
            return torch.nn.functional.cross_entropy(logits, batch[1])

        def validation_step(self, batch: Any) -> None:
            self.held_out.update(*batch)
            self.log_dict(self.held_out)

        def configure_optimizers(self) -> Any:
            return torch.optim.SGD(self.parameters(), lr=0.5)

    found = []

    class Compare(lightning.Callback):
        def on_train_epoch_end(self, trainer: Any, _: Any) -> None:
            found.append({name: value.item() for name, value in trainer.callback_metrics.items()})

    trainer = lightning.Trainer(
        max_epochs=2,
        accelerator="cpu",
        callbacks=[Compare()],
        logger=False,
        enable_checkpointing=False,
        enable_progress_bar=False,
        enable_model_summary=False,
        num_sanity_val_steps=0,
        log_every_n_steps=1,
    )
    loader = torch.utils.data.DataLoader(batches, batch_size=None)
    trainer.fit(Model(), loader, loader)
    expected = values_of(batches).expected
    wanted = {f"val/{name}": expected[name] for name in ("roc_auc", "ece")}
    wanted |= {f"val/roc_auc/{name}": expected[f"roc_auc/{k}"] for k, name in enumerate(["cat", "dog", "owl"])}
    wanted |= {f"val/recall@0.5/{name}": expected[f"recall@0.5/{k}"] for k, name in enumerate(["cat", "dog", "owl"])}
    assert len(found) == 2
    for values in found:
        assert {name: values[name] for name in wanted} == pytest.approx(wanted, abs=1e-6)
        assert {"train/roc_auc_step", "train/roc_auc_epoch"} < set(values)
    assert not list(tmp_path.iterdir())
