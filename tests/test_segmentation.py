"""What the page on segmentation says of other libraries: theirs, or their formula written out, with ours."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

import matrics
from matrics import ConfusionState, MarginState

RANDOM = np.random.default_rng(31)


def images(count: int = 6, n: int = 5) -> tuple[np.ndarray, np.ndarray]:
    """Labels of images with fewer classes than there are, the last class in none."""
    truth = RANDOM.integers(0, RANDOM.integers(2, n, (count, 1, 1)), (count, 12, 9))
    found = np.where(RANDOM.random(truth.shape) < 0.7, truth, RANDOM.integers(0, n - 1, truth.shape))
    return truth, found


def iou(truth: np.ndarray, found: np.ndarray, n: int) -> np.ndarray:
    """Intersection over union of each class; NaN where it is nowhere."""
    both = [((truth == k) & (found == k)).sum() for k in range(n)]
    either = [((truth == k) | (found == k)).sum() for k in range(n)]
    with np.errstate(invalid="ignore"):
        return np.asarray(both) / np.asarray(either)


def test_per_image_and_per_data_set() -> None:
    truth, found = images()
    truth[:, :2, :3] = 255
    kept = truth != 255
    of_images = [iou(t[k], f[k], 5) for t, f, k in zip(truth, found, kept, strict=True)]
    cm = matrics.confusion_matrix(truth, found, num_classes=5, sample_ndim=2, ignore_index=255)
    margins = MarginState.zeros(5, batch_shape=(6,)).update(truth, found, ignore_index=255)
    np.testing.assert_allclose(matrics.metrics.jaccard(cm, average="class"), of_images)
    for mean in (matrics.metrics.jaccard(cm), margins.score("jaccard")["jaccard"]):
        np.testing.assert_allclose(mean, np.nanmean(of_images, axis=1))
    state = ConfusionState.zeros(5)
    for t, f in zip(truth, found, strict=True):
        state = state.update(t, f, ignore_index=255)
    whole = iou(truth[kept], found[kept], 5)
    np.testing.assert_allclose(state.score("jaccard:class")["jaccard:class"], whole)
    assert state.score("jaccard")["jaccard"] == pytest.approx(np.nanmean(whole))
    sizes = np.bincount(truth[kept], minlength=5)
    assert state.score("jaccard:weighted")["jaccard:weighted"] == pytest.approx(np.nansum(whole * sizes) / sizes.sum())


def test_the_f_score_of_mmsegmentation_leaves_out_what_is_never_predicted() -> None:
    cm = np.asarray([[5, 0, 0], [2, 0, 1], [1, 0, 6]])
    with np.errstate(invalid="ignore"):
        precision, recall = np.diagonal(cm) / cm.sum(0), np.diagonal(cm) / cm.sum(1)
        theirs = 2 * precision * recall / (precision + recall)
    assert np.isnan(theirs[1])
    ours = matrics.f1(cm, average="class")
    np.testing.assert_allclose(ours, np.nan_to_num(theirs))
    assert matrics.f1(cm) == pytest.approx(np.nanmean(theirs) * 2 / 3)


def test_torchmetrics(torch: Any) -> None:
    peer = pytest.importorskip("torchmetrics.segmentation")
    from torchmetrics.functional.segmentation import mean_iou

    truth, found = (torch.from_numpy(x) for x in images())
    cm = matrics.confusion_matrix(truth, found, num_classes=5, sample_ndim=2)
    per_image = mean_iou(found, truth, num_classes=5, input_format="index")
    torch.testing.assert_close(matrics.metrics.jaccard(cm).float(), per_image)
    of_pairs, of_classes = (
        peer.MeanIoU(num_classes=5, input_format="index", per_class=per_class) for per_class in (False, True)
    )
    for start in (0, 3):
        of_pairs.update(found[start : start + 3], truth[start : start + 3])
        of_classes.update(found[start : start + 3], truth[start : start + 3])
    each = matrics.metrics.jaccard(cm, average="class").float()
    torch.testing.assert_close(of_pairs.compute(), each.nanmean())
    torch.testing.assert_close(of_classes.compute(), each.nanmean(0).nan_to_num(-1))
    assert of_classes.compute()[4] == -1


@pytest.mark.parametrize("kind", ["int64", "uint8", "int32"])
@pytest.mark.parametrize("odd", [None, 21, 255])
def test_large_masks_are_counted_as_small_parts_of_them(torch: Any, kind: str, odd: int | None) -> None:
    """With an ignored label, and labels out of range, which are dropped; decided from scores as well."""
    from matrics.torch import ConfusionMetric

    true, pred = torch.randint(0, 21, (2, 3, 64, 64)).to(getattr(torch, kind))
    if odd is not None:
        true[0, :, 3], pred[1, 5] = odd, odd
    metrics = [ConfusionMetric(21, "iou", ignore_index=21) for _ in range(4)]
    metrics[0].update(true, pred)
    metrics[3].update(true.transpose(1, 2), pred.transpose(1, 2))  # in another order of memory
    for part in range(64):
        metrics[1].update(true[:, part], pred[:, part])
        metrics[2].update(true[:, part, :1], pred[:, part, :1])
        metrics[2].update(true[:, part, 1:], pred[:, part, 1:])
    for other in metrics[1:]:
        assert torch.equal(metrics[0].counts, other.counts)
    inside = (true < 21) & (pred < 21)
    assert int(metrics[0].matrix.sum()) == int(inside.sum())
    assert int(metrics[0].dropped) == int((~inside & (true != 21)).sum())
