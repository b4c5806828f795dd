"""The first lines of three newcomers, with nothing but the read-me: they run, and give what scikit-learn gives."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import pytest

import matrics
from matrics._catalogue.naming import title_of

sk = pytest.importorskip("sklearn.metrics")

RANDOM = np.random.default_rng(12)
TRUE, PRED = RANDOM.integers(0, 3, (2, 200))


@pytest.mark.filterwarnings("ignore")  # of Lightning
def test_a_lightning_practitioner(torch: Any, tmp_path: Path) -> None:
    """An imbalanced task, whose model says one class at first: early stopping on MCC goes on."""
    lightning = pytest.importorskip("lightning")
    from lightning.pytorch.callbacks import EarlyStopping

    from matrics.torchmetrics import ConfusionMetric

    class Classifier(lightning.LightningModule):
        def __init__(self) -> None:
            super().__init__()
            self.layer = torch.nn.Linear(1, 2)
            torch.nn.init.zeros_(self.layer.weight)
            with torch.no_grad():
                self.layer.bias[:] = torch.tensor([5.0, -5.0])  # says class 0 of everything
            self.val = ConfusionMetric(2, "mcc, recall(average=class)", prefix="val/", class_names=["no", "yes"])

        def training_step(self, batch: Any) -> Any:
            x, y = batch
            return torch.nn.functional.cross_entropy(self.layer(x), y)

        def validation_step(self, batch: Any) -> None:
            x, y = batch
            self.val.update(self.layer(x), y)
            self.log_dict(self.val)

        def configure_optimizers(self) -> Any:
            return torch.optim.SGD(self.parameters(), 1e-3)

    labels = torch.tensor([0] * 18 + [1] * 2)
    data = torch.utils.data.DataLoader(torch.utils.data.TensorDataset(torch.randn(20, 1), labels), batch_size=10)
    stop = EarlyStopping("val/mcc", patience=3, mode="max")
    quiet = {
        "logger": False,
        "enable_checkpointing": False,
        "enable_progress_bar": False,
        "enable_model_summary": False,
    }
    trainer = lightning.Trainer(max_epochs=2, callbacks=[stop], default_root_dir=tmp_path, accelerator="cpu", **quiet)
    trainer.fit(Classifier(), data, data)
    assert stop.stopped_epoch == 0
    assert trainer.current_epoch == 2
    logged = {name: float(value) for name, value in trainer.callback_metrics.items()}
    assert logged == {"val/mcc": 0, "val/recall/no": 1, "val/recall/yes": 0}


def test_a_jax_person() -> None:
    """NumPy labels from the loader with logits of JAX; a step under jit; 1-based labels do not pass."""
    jax = pytest.importorskip("jax")
    logits = jax.nn.one_hot(PRED, 3)
    scores = matrics.score(matrics.confusion_matrix(TRUE, logits, num_classes=3), ["accuracy", "f1_weighted"])
    assert float(scores["accuracy"]) == pytest.approx(sk.accuracy_score(TRUE, PRED), rel=1e-6)
    assert float(scores["f1_weighted"]) == pytest.approx(sk.f1_score(TRUE, PRED, average="weighted"), rel=1e-6)

    @jax.jit
    def step(state: matrics.ConfusionState, labels: Any, logits: Any) -> matrics.ConfusionState:
        return state.update(labels, logits)

    state = matrics.ConfusionState.zeros(3, like=logits)
    for part in np.array_split(np.arange(200), 4):
        state = step(state, TRUE[part[:50]], logits[part[:50]])
    assert float(state.score("mcc")["mcc"]) == pytest.approx(sk.matthews_corrcoef(TRUE, PRED), rel=1e-5)
    ones = jax.numpy.asarray([1, 2, 3, 3])
    with pytest.raises(ValueError, match=r"y_true: expected labels in \[0, 3\), got 3"):
        matrics.confusion_matrix(ones, jax.numpy.asarray([1, 2, 3, 1]), num_classes=3)
    compiled = jax.jit(lambda *a: matrics.confusion_matrix(*a, num_classes=3))(ones, ones)
    assert int(compiled.sum()) == 2
    assert int(step(matrics.ConfusionState.zeros(3, like=logits), ones, ones).dropped) == 2


def test_a_statistician() -> None:
    """A table of text labels, a crosstab, and scores of many matrices as a data frame."""
    pandas = pytest.importorskip("pandas")
    names = np.asarray(["owl", "cat", "dog"])
    frame = pandas.DataFrame({"truth": names[TRUE], "said": names[PRED], "site": np.arange(200) % 2})
    cm = matrics.confusion_matrix(frame["truth"], frame["said"], labels=sorted(names))
    table = pandas.crosstab(frame["truth"], frame["said"])
    np.testing.assert_array_equal(cm, sk.confusion_matrix(frame["truth"], frame["said"]))
    assert matrics.cohen_kappa(cm) == matrics.cohen_kappa(table[["owl", "cat", "dog"]])
    assert matrics.cohen_kappa(cm) == pytest.approx(sk.cohen_kappa_score(TRUE, PRED))
    assert matrics.get_metric("zero_one_loss")(cm) == pytest.approx(sk.zero_one_loss(TRUE, PRED))
    stack = [
        matrics.confusion_matrix(part["truth"], part["said"], labels=sorted(names)) for _, part in frame.groupby("site")
    ]
    scores = matrics.to_frame(matrics.score(stack, "mcc, recall:class"), axes=["site"], class_names=sorted(names))
    assert list(scores.columns) == ["site", "mcc", "recall of cat", "recall of dog", "recall of owl"]
    assert len(scores) == 2


def test_a_clinician() -> None:
    """A test for a disease in a 2×2 table: sensitivity to NPV with limits, which SciPy gives as well."""
    stats = pytest.importorskip("scipy.stats")
    table = [[210, 80], [1, 9]]  # true classes in rows: healthy, ill; columns: test negative, test positive
    found = matrics.interval(table, "sensitivity, specificity, ppv, npv")
    shares = {"sensitivity": (9, 10), "specificity": (210, 290), "ppv": (9, 89), "npv": (210, 211)}
    for name, (hits, samples) in shares.items():
        limits = stats.binomtest(hits, samples).proportion_ci(0.95, "wilson")
        np.testing.assert_allclose(found[name][:3], [hits / samples, limits.low, limits.high], rtol=1e-9)
    assert [title_of(name) for name in found] == [f"{name} of class 1" for name in shares]
    ratios = matrics.score(table, "plr, nlr, diagnostic_odds_ratio")
    np.testing.assert_allclose(list(ratios.values()), [0.9 / (80 / 290), 0.1 / (210 / 290), 9 * 210 / 80], rtol=1e-12)


def test_a_fraud_analyst() -> None:
    """Text labels, of which "fraud" is meant though "ok" sorts last: areas, a threshold, a page."""
    pandas = pytest.importorskip("pandas")
    pytest.importorskip("jinja2")
    fraud = RANDOM.random(400) < 0.15
    frame = pandas.DataFrame({"y_true": np.where(fraud, "fraud", "ok"), "p": RANDOM.random(400) / 2 + fraud / 3})
    frame["y_pred"] = np.where(frame.p >= 0.5, "fraud", "ok")
    with pytest.raises(ValueError, match=r"'fraud', 'ok'.*positive="):
        matrics.ranking.roc_auc(frame.y_true, frame.p)
    area = matrics.ranking.roc_auc(frame.y_true, frame.p, positive="fraud")
    np.testing.assert_allclose(area, sk.roc_auc_score(fraud, frame.p), rtol=1e-12)
    best = matrics.ranking.best_threshold(
        frame.y_true, frame.p, "precision", subject_to="recall>=0.9", positive="fraud"
    )
    alarm = frame.p >= float(best.threshold)
    np.testing.assert_allclose(best.value, sk.precision_score(fraud, alarm), rtol=1e-12)
    assert sk.recall_score(fraud, alarm) >= 0.9
    counts = matrics.frames.count(frame)
    mean = sk.recall_score(frame.y_true, frame.y_pred, average="macro")
    assert list(map(title_of, counts.score("sensitivity"))) == ["sensitivity, macro"]
    np.testing.assert_allclose(counts.score("sensitivity")["sensitivity"], mean, rtol=1e-12)
    expected = sk.recall_score(frame.y_true, frame.y_pred, pos_label="fraud")
    np.testing.assert_allclose(counts.score("recall", positive="fraud")["recall"], expected, rtol=1e-12)
    page = matrics.report(frame, metrics="sensitivity,mcc", positive="fraud").html()
    assert f"sensitivity of fraud {expected:.3f}" in page
