"""Messages of mistakes that are easily made: an axis of one entry, a folder of Zarr, a plain metric in Lightning."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import pytest

import matrics

RANDOM = np.random.default_rng(17)
SCORES = RANDOM.dirichlet(np.ones(3), (2, 4, 5)).transpose(0, 3, 1, 2)  # (B, C, H, W)
LAST = SCORES.transpose(0, 2, 3, 1)
MASKS = RANDOM.integers(0, 3, (2, 1, 4, 5))
REMOVE = r"y_true: expected labels of shape \(2, 4, 5\) .* got {}: remove the axis of length 1, y_true.squeeze\({}\)"
OF_LOSSES = REMOVE.format(r"\(2, 1, 4, 5\)", 1)
OF_LAST = REMOVE.format(r"\(2, 4, 5, 1\)", 3)


def test_masks_with_an_axis_of_one_entry() -> None:
    """Without this they would broadcast to the pairs of all images."""
    masks = MASKS.transpose(0, 2, 3, 1)
    for call in (
        lambda y, s, axis: matrics.confusion_matrix(y, s, num_classes=3, class_axis=axis, sample_ndim=2),
        lambda y, s, axis: matrics.soft_confusion_matrix(y, s, class_axis=axis, sample_ndim=2),
        lambda y, s, axis: matrics.ConfusionState.zeros(3).update(y, s, class_axis=axis),
        lambda y, s, axis: matrics.MarginState.zeros(3).update(y, s, class_axis=axis),
        lambda y, s, axis: matrics.probabilities.log_loss(y, s, class_axis=axis),
    ):
        with pytest.raises(ValueError, match=OF_LOSSES):
            call(MASKS, SCORES, 1)
        with pytest.raises(ValueError, match=OF_LAST):
            call(masks, LAST, -1)
    with pytest.raises(ValueError, match=OF_LAST):
        matrics.ScoreState.zeros(num_classes=3).update(masks, LAST)
    column = r"expected labels of shape \(8,\) .* got \(8, 1\): remove the axis of length 1, y_true.squeeze\(1\)"
    with pytest.raises(ValueError, match=column):
        matrics.ranking.roc_auc(MASKS.reshape(-1, 1)[:8], LAST.reshape(-1, 3)[:8])
    with pytest.raises(ValueError, match=column):
        matrics.confusion_matrix(MASKS.reshape(-1, 1)[:8], LAST.reshape(-1, 3)[:8], num_classes=3)


def test_one_model_with_one_sample_is_no_such_axis() -> None:
    assert matrics.confusion_matrix([[1]], [[0.1, 0.2, 0.7]], num_classes=3).shape == (1, 3, 3)
    assert matrics.confusion_matrix(MASKS, MASKS[:, 0], num_classes=3, sample_ndim=2).shape == (2, 2, 3, 3)


def test_metrics_for_training_loops_say_the_same() -> None:
    torch = pytest.importorskip("torch")
    from matrics.torch import ConfusionMetric, MarginMetric, ScoreMetric

    masks, scores = torch.from_numpy(MASKS), torch.from_numpy(SCORES)
    for metric in (ConfusionMetric(3, "mcc"), MarginMetric(3, "f1"), ScoreMetric(3, "roc_auc")):
        with pytest.raises(ValueError, match=OF_LOSSES):
            metric.update(masks, scores)
        metric.update(masks.squeeze(1), scores)


def test_metrics_of_flax_say_the_same() -> None:
    pytest.importorskip("flax")
    from matrics.flax import ConfusionMetric, ScoreMetric

    for metric in (ConfusionMetric(3, "mcc"), ScoreMetric(3, "roc_auc")):
        with pytest.raises(ValueError, match=OF_LAST):
            metric.update(MASKS.transpose(0, 2, 3, 1), LAST.astype(np.float32))


def test_a_plain_metric_says_what_lightning_takes() -> None:
    pytest.importorskip("torch")
    from matrics.torch import ConfusionMetric

    with pytest.raises(TypeError, match=r"log_dict: .* use the metric of matrics.torchmetrics"):
        ConfusionMetric(3, "mcc").items()  # which Lightning calls


@pytest.mark.sampled(2)
@pytest.mark.parametrize(
    ("name", "function"),
    [
        ("a.zarr", "matrics.score_blocks(zarr.open(path))"),
        ("a.ZARR.zip", "matrics.score_blocks(zarr.open(path))"),
        ("a.h5", "matrics.score_blocks(h5py.File(path)[name])"),
        ("a.nc", "matrics.xarray.score(xarray.open_dataarray(path))"),
    ],
)
@pytest.mark.parametrize("command_name", ["score", "count", "interval", "report"])
def test_files_of_arrays_name_the_function(command: Any, name: str, function: str, command_name: str) -> None:
    if name == "a.zarr":
        folder = Path(name) / "c"
        folder.mkdir(parents=True)
        (folder.parent / "zarr.json").write_text("{}")
        (folder / "0").write_text("1")
    else:
        Path(name).write_bytes(b"\x89HDF")
    code, out, err = command(command_name, name)
    assert (code, out) == (2, "")
    assert function in err
