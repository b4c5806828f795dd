"""Metrics of scores of three libraries: exact where they say so, one warning, one resolution, and counts that stay."""

from __future__ import annotations

import importlib
import warnings
from typing import Any

import numpy as np
import pytest
import roads
from several import leaves

sk = pytest.importorskip("sklearn.metrics")

RANDOM = np.random.default_rng(46)
LIBRARIES = ["torch", "torchmetrics", "flax"]
ENDINGS = ("", "_low", "_high")
every_library = pytest.mark.parametrize("library", LIBRARIES)


class Door:
    """A metric of a library, which takes NumPy's arrays."""

    def __init__(self, library: str, kind: str, *args: Any, **options: Any) -> None:
        pytest.importorskip({"flax": "flax.nnx"}.get(library, library))
        self.library = library
        self.own = getattr(importlib.import_module(f"matrics.{library}"), kind)(*args, **options)

    def array(self, x: Any, dtype: str | None = None) -> Any:
        module = importlib.import_module("jax.numpy" if self.library == "flax" else "torch")
        found = module.asarray(np.asarray(x))
        if dtype is None:
            return found
        return found.astype(getattr(module, dtype)) if self.library == "flax" else found.to(getattr(module, dtype))

    def update(self, y_true: Any, y_score: Any, dtype: str | None = None) -> Door:
        batch = self.array(y_true), self.array(y_score, dtype)
        if self.library == "flax":
            roads.nnx_update(self.own, *batch)
        else:
            self.own.update(*(batch[::-1] if self.library == "torchmetrics" else batch))
        return self

    def saved(self) -> Any:
        """What a checkpoint has."""
        if self.library == "torchmetrics":
            self.own.persistent(mode=True)
        return {name: value.clone() for name, value in self.own.state_dict().items()}


def draw(scale: float = 1, shift: float = 0, shape: Any = 2000) -> tuple[np.ndarray, np.ndarray]:
    y_true = RANDOM.integers(0, 2, shape)
    return y_true, ((RANDOM.normal(size=shape) + 2 * y_true) * scale + shift).astype(np.float32)


# Areas ----------------------------------------------------------------------------------------------------------------


@pytest.mark.sampled(1)
@every_library
@pytest.mark.parametrize(("scale", "shift"), [(1e-3, 0), (0.5, 98), (1, -12), (30, 0)])
def test_confident_logits_of_several_labels(library: str, scale: float, shift: float) -> None:
    y_true, logits = draw(scale, shift, (2000, 3))
    found = Door(library, "MultilabelMetric", 3, "roc_auc:label", from_logits=True, bits=15).update(y_true, logits)
    exact = [sk.roc_auc_score(y_true[:, k], logits[:, k]) for k in range(3)]
    assert list(found.own.log_dict().values()) == pytest.approx(exact, abs=1e-4)


def in_half(dtype: str, *shape: int) -> tuple[np.ndarray, np.ndarray]:
    """Labels, and logits that are numbers of the dtype, with many ties."""
    torch = pytest.importorskip("torch")
    y_true, logits = draw(3, 1, shape)
    return y_true, torch.from_numpy(logits).to(getattr(torch, dtype)).float().numpy()


@pytest.mark.sampled(2)
@every_library
@pytest.mark.parametrize("dtype", ["float16", "bfloat16"])
def test_half_precision_is_exact(library: str, dtype: str) -> None:
    """Up to the rounding of sums, in default JAX in float32; values and both bounds, of two classes and of labels."""
    near = 2e-7 if library == "flax" else 1e-12
    names = "roc_auc, average_precision"
    y_true, logits = in_half(dtype, 2000)
    assert len(np.unique(logits)) < 2000
    metric = Door(library, "ScoreMetric", metrics=names, from_logits=True, bounds=True).update(y_true, logits, dtype)
    found = metric.own.log_dict()
    for name in names.split(", "):
        exact = getattr(sk, f"{name}_score")(y_true, logits)
        assert [found[f"{name}{ending}"] for ending in ENDINGS] == pytest.approx([exact] * 3, abs=near)
    y_true, logits = in_half(dtype, 1000, 3)
    labels = Door(library, "MultilabelMetric", 3, "roc_auc:label", from_logits=True, bounds=True)
    found = labels.update(y_true, logits, dtype).own.log_dict()
    for k in range(3):
        exact = sk.roc_auc_score(y_true[:, k], logits[:, k])
        assert [found[f"roc_auc{ending}/{k}"] for ending in ENDINGS] == pytest.approx([exact] * 3, abs=near)


@pytest.mark.sampled(2)
@every_library
@pytest.mark.parametrize(("kind", "shape"), [("ScoreMetric", (2000,)), ("MultilabelMetric", (2000, 2))])
def test_wide_bounds_are_told_once(library: str, kind: str, shape: tuple[int, ...]) -> None:
    """The exact area is between the numbers of the warning; exact ties of half precision are no reason for one."""
    options: Any = {"from_logits": True, "metrics": "roc_auc"} | ({"num_labels": 2} if len(shape) > 1 else {})
    y_true, logits = draw(1, 100, shape)
    metric = Door(library, kind, bits=4, **options).update(y_true, logits)
    with pytest.warns(RuntimeWarning, match=r"^roc_auc treats scores in the same bucket as equal") as told:
        value = metric.own.log_dict()["roc_auc"]
    assert len(told) == 1
    words = str(told[0].message).partition("scores is between ")[2].split()
    low, high = float(words[0]), float(words[2].rstrip("."))
    assert low - 5e-4 <= sk.roc_auc_score(y_true, logits) <= high + 5e-4
    assert low + 0.01 < value < high - 0.01
    ties = Door(library, kind, bits=10, **options).update(y_true, logits, "bfloat16")  # a handful of numbers
    with warnings.catch_warnings(action="error"):
        metric.own.compute()
        ties.own.compute()


# Thresholds -----------------------------------------------------------------------------------------------------------


@pytest.mark.sampled(2)
@every_library
@pytest.mark.parametrize("from_logits", [False, True])
def test_any_threshold_is_exact(library: str, from_logits: bool) -> None:  # noqa: FBT001
    """In batches, next to areas or alone, also of a score that is the threshold."""
    near = 1e-6 if library == "flax" else 1e-12
    y_true, logits = draw(2, -2)
    probabilities = 1 / (1 + np.exp(-logits.astype(np.float64)))
    scores = logits if from_logits else probabilities.astype(np.float32)
    if not from_logits:
        scores[:50], probabilities[:50] = np.float32(0.37), 0.37
    options: Any = {"from_logits": from_logits, "bits": 6}
    for names in ("recall@0.37, f1@0.1234", "roc_auc, recall@0.37, f1@0.1234"):
        metric = Door(library, "ScoreMetric", metrics=names, **options)
        for part in np.array_split(np.arange(2000), 3):
            metric.update(y_true[part], scores[part])
        with warnings.catch_warnings(action="ignore"):  # of the few bits
            found = metric.own.log_dict()
        assert found["recall@0.37"] == pytest.approx(sk.recall_score(y_true, probabilities >= 0.37), abs=near)
        assert found["f1@0.1234"] == pytest.approx(sk.f1_score(y_true, probabilities >= 0.1234), abs=near)


@pytest.mark.sampled(2)
@every_library
def test_any_threshold_of_classes_and_of_other_scores(library: str) -> None:
    near = 1e-6 if library == "flax" else 1e-12
    y_true, scores = RANDOM.integers(0, 3, 500), RANDOM.dirichlet(np.ones(3), 500).astype(np.float32)
    found = Door(library, "ScoreMetric", 3, "recall@0.37").update(y_true, scores).own.log_dict()
    exact = [sk.recall_score(y_true == k, scores[:, k] >= 0.37) for k in range(3)]
    assert [found[f"recall@0.37/{k}"] for k in range(3)] == pytest.approx(exact, abs=near)
    y_true, distances = draw(100, -500)
    metric = Door(library, "ScoreMetric", metrics="precision@-432.1").update(y_true, distances)
    exact = sk.precision_score(y_true, distances >= -432.1)
    assert metric.own.log_dict()["precision@-432.1"] == pytest.approx(exact, abs=near)


# What is added up, and what is not ------------------------------------------------------------------------------------


@pytest.mark.sampled(2)
@every_library
@pytest.mark.parametrize(("kind", "args"), [("ScoreMetric", ()), ("MultilabelMetric", (1, "roc_auc"))])
def test_other_resolutions_are_not_merged(library: str, kind: str, args: Any) -> None:
    """The message has both, and the counts stay."""
    y_true, logits = draw(shape=(100, 1)[: 1 + len(args[:1])])
    one, other = (Door(library, kind, *args, bits=bits).update(y_true, logits) for bits in (6, 8))
    counts = [leaf.copy() for leaf in leaves(one.own.state)]
    with pytest.raises(ValueError, match=r"bits=6.*bits=8"):
        one.own.merge_state(other.own)
    for leaf, before in zip(leaves(one.own.state), counts, strict=True):
        np.testing.assert_array_equal(leaf, before)


@pytest.mark.sampled(1)
@every_library
def test_other_thresholds_are_not_merged(library: str) -> None:
    """They are arrays of the same shapes, whose sum would be of no threshold."""
    y_true, scores = np.asarray([0, 1, 1]), np.float32([0.1, 0.55, 0.9])
    one, other = (Door(library, "ScoreMetric", metrics=f"recall@{at}").update(y_true, scores) for at in ("0.5", "0.6"))
    with pytest.raises(ValueError, match="edges or thresholds"):
        one.own.merge_state(other.own)
    assert one.own.log_dict() == {"recall@0.5": 1.0}


@pytest.mark.parametrize("library", ["torch", "torchmetrics"])
@pytest.mark.parametrize(("kind", "args"), [("ScoreMetric", ()), ("MultilabelMetric", (1, "roc_auc"))])
def test_checkpoints_of_other_resolutions_are_refused(library: str, kind: str, args: Any) -> None:
    y_true, logits = draw(shape=(100, 1)[: 1 + len(args[:1])])
    one, other = (Door(library, kind, *args, bits=bits).update(y_true, logits) for bits in (6, 8))
    saved, counts = other.saved(), one.saved()
    with pytest.raises(ValueError, match=r"expected counts of bits=6 in '.*', .* got some of bits=8"):
        one.own.load_state_dict(saved)
    for name, before in counts.items():
        np.testing.assert_array_equal(one.saved()[name], before)


def synced(metric: Any, path: Any) -> Any:
    """The metric after a sync of one process."""
    distributed = pytest.importorskip("torch.distributed")
    distributed.init_process_group("gloo", init_method=f"file://{path}/store", rank=0, world_size=1)
    try:
        return metric.sync()
    finally:
        distributed.destroy_process_group()


def test_several_labels_before_and_after_a_sync(tmp_path: Any) -> None:
    """The part of all processes is made at the first sync; checkpoints of before and after load into each other."""
    torch = pytest.importorskip("torch")
    before, after = (Door("torch", "MultilabelMetric", 2, "f1, roc_auc", from_logits=True, bits=6) for _ in range(2))
    batch = draw(shape=(300, 2))
    synced(after.update(*batch).own, tmp_path)
    before.update(*batch)
    assert before.own.scores_counts_of_all is None
    assert after.own.scores_counts_of_all is not None
    with warnings.catch_warnings(action="ignore"):  # of the few bits
        wanted = before.own.log_dict()
        assert after.own.log_dict() == pytest.approx(wanted, abs=1e-12)
        for source in (before, after):
            for other in (before, after):
                target = other.own.clone()
                target.load_state_dict(source.own.state_dict())
                assert (target.scores_counts_of_all is None) == (source is before)
                assert target.log_dict() == pytest.approx(wanted, abs=1e-12)
    later = Door("torch", "MultilabelMetric", 2, "f1, roc_auc", from_logits=True, bits=6)
    later.own.merge_state(before.own, after.own)
    assert torch.equal(later.own.state.scores.counts, 2 * before.own.state.scores.counts)
    after.update(*batch)
    assert torch.equal(after.own.state.scores.counts, 2 * before.own.state.scores.counts)


@pytest.mark.parametrize(
    ("kind", "args", "large"), [("ScoreMetric", (), "counts"), ("MultilabelMetric", (1, "roc_auc"), "scores_counts")]
)
def test_a_refused_checkpoint_leaves_what_was_synced(kind: str, args: Any, large: str, tmp_path: Any) -> None:
    """One of before a sync, with a count that cannot be: the metric still has the counts of all processes."""
    pytest.importorskip("torch")
    batch = draw(shape=(300, 1)[: 1 + len(args[:1])])
    metric, other = (Door("torch", kind, *args, bits=6).update(*batch) for _ in range(2))
    wrong = other.saved()
    wrong[large].view(-1)[0] = -1
    synced(metric.own, tmp_path)
    counts = [leaf.copy() for leaf in leaves(metric.own.state)]
    with pytest.raises(ValueError, match="expected whole counts of at least 0, got -1"):
        metric.own.load_state_dict(wrong)
    for leaf, before in zip(leaves(metric.own.state), counts, strict=True):
        np.testing.assert_array_equal(leaf, before)


# Counts in place ------------------------------------------------------------------------------------------------------


@pytest.mark.exhaustive
@every_library
@pytest.mark.parametrize("decay", [None, 0.5])
def test_a_batch_that_is_refused_changes_nothing(library: str, decay: float | None) -> None:
    """Whether counts decay or not; the next batch is counted as if the wrong ones had not been there."""
    options: Any = {"metrics": "roc_auc, ece, log_loss, recall@0.5", "from_logits": True, "decay": decay, "bits": 6}
    metric, plain = (Door(library, "ScoreMetric", **options) for _ in range(2))
    y_true, logits = draw(shape=200)
    for one in (metric, plain):
        one.update(y_true, logits)
    before = [np.asarray(leaf).copy() for leaf in metric.own.state]
    for batch in ((y_true, logits[:9]), (y_true, y_true), (y_true, logits[:, None])):
        with pytest.raises((TypeError, ValueError)):
            metric.update(*batch)
        if library == "torch":  # torchmetrics' own forward has reset the metric by then, as it does any
            with pytest.raises((TypeError, ValueError)):
                metric.own(*map(metric.array, batch))
    for leaf, was in zip(metric.own.state, before, strict=True):
        np.testing.assert_array_equal(leaf, was)
    for one in (metric, plain):
        one.update(y_true[::-1].copy(), logits)
    for leaf, wanted in zip(metric.own.state, plain.own.state, strict=True):
        np.testing.assert_array_equal(leaf, wanted)
    assert float(metric.own.state.counts.sum()) == (300 if decay else 400)


def test_one_measure_of_torchmetrics_counts_for_itself() -> None:
    """Its counts begin with those of the metric, and an update in place of one leaves the other."""
    metric = Door("torchmetrics", "ScoreMetric", metrics="roc_auc, ece", bits=15)
    first, second = draw(0.1, 0.5), draw(0.2, 0.3)
    first, second = ((y, np.clip(s, 0.01, 0.99)) for y, s in (first, second))
    metric.update(*first)
    one = metric.own["roc_auc"]
    of_metric = sk.roc_auc_score(*first)
    one.update(*(metric.array(x) for x in second[::-1]))
    assert metric.own.log_dict()["roc_auc"] == pytest.approx(of_metric, abs=1e-4)
    both = [np.concatenate(parts) for parts in zip(first, second, strict=True)]
    assert one.compute().item() == pytest.approx(sk.roc_auc_score(*both), abs=1e-4)
    metric.own.reset()
    assert one.compute().item() == pytest.approx(sk.roc_auc_score(*both), abs=1e-4)


@pytest.mark.sampled(1)
@every_library
def test_memory_of_the_counts(library: str) -> None:
    """Of torchmetrics and Flax without a part for other processes; nothing is kept for what is not asked for."""
    for n, most in ((None, 17), (10, 24), (1000, 64)):
        own = Door(library, "ScoreMetric", n, "roc_auc", from_logits=True).own
        assert sum(leaf.nbytes for leaf in own.state) <= most * 2**20
    own = Door(library, "ScoreMetric", 1000, "log_loss, recall@0.5", from_logits=True).own
    assert sum(leaf.nbytes for leaf in own.state) <= 2**17
