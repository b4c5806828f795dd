"""Running metrics for PyTorch: modules that count on the device of the model."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Unpack

import torch
from torch import Tensor
from torch.nn.modules.module import register_module_module_registration_hook

from matrics._catalogue.naming import MeasureName
from matrics._catalogue.record import Metric
from matrics._integrations.running.combined import CombinedOptions, CombinedRecipe
from matrics._integrations.running.labels import LabelOptions, LabelRecipe, MarginRecipe
from matrics._integrations.running.multilabel import MultilabelOptions, MultilabelRecipe
from matrics._integrations.running.parameters import documented
from matrics._integrations.running.scores import ScoreOptions, ScoreRecipe
from matrics._integrations.tensors.parallel import leave_counts_alone
from matrics._integrations.torch.adapter import RunningMetric

# For torch.load, as the keys of compute() are texts with a title.
torch.serialization.add_safe_globals([MeasureName])
register_module_module_registration_hook(leave_counts_alone)


@documented("torch")
class ConfusionMetric(RunningMetric):
    """Count labels on the device, and score their confusion matrix by any measures.

    The state is an integer buffer of fixed size, for any number of samples: it moves with ``.to``, is part of
    ``state_dict``, and needs a single ``all_reduce``. Counts are exact. The host does not wait for a device: neither
    ``update`` nor ``compute`` inspects values there. Both compile without a graph break, together with the training
    step. ``metric(y_true, y_pred)`` counts a batch as ``update`` does and returns the values of that batch alone, which
    takes the time of a ``compute``.

    See Also
    --------
    matrics.torchmetrics.ConfusionMetric : the same for Lightning and torchmetrics.

    Examples
    --------
    >>> import torch
    >>> from matrics.torch import ConfusionMetric
    >>> metric = ConfusionMetric(3, ["mcc", "recall:class"], prefix="val/", class_names=["cat", "dog", "owl"])
    >>> logits = torch.tensor([[2.0, 0.1, 0.3], [0.2, 1.5, 0.1], [0.3, 0.9, 0.2], [0.1, 0.2, 3.0]])
    >>> metric.update(torch.tensor([0, 1, 2, 2]), logits)
    >>> for name, value in metric.compute().items():
    ...     print(f"{name:<15}{value:.3f}")
    val/mcc        0.700
    val/recall/cat 1.000
    val/recall/dog 1.000
    val/recall/owl 0.500
    """

    _kind = LabelRecipe

    def __init__(
        self,
        num_classes: int | None = None,
        metrics: str | Metric | Iterable[str | Metric] = "core",
        *,
        cuda_graph: bool = False,
        **options: Unpack[LabelOptions],
    ) -> None:
        super().__init__(num_classes, metrics, cuda_graph=cuda_graph, **options)

    @property
    def matrix(self) -> Tensor:
        """The confusion matrix (n, n): integers, rows are true classes. A metric of margins raises an error."""
        matrix: Tensor = self._recipe.matrix(self.state)
        return matrix


@documented("torch")
class MarginMetric(ConfusionMetric):
    """Count labels of many classes, without a count for each pair of classes: true positives, row sums, column sums.

    They are sufficient for accuracy, F1, MCC, Cohen's kappa and all other measures of
    :meth:`matrics.MarginState.list_metrics`, with the same values as from a :class:`ConfusionMetric`. For 50,257
    classes the counts take 2.4 MB in place of 40 GB, and from some hundred classes on ``compute`` takes less time.
    There is no ``matrix``, ``state`` is a :class:`matrics.MarginState`, and ``metrics`` is required, as two measures of
    ``core`` need all cells.

    A ``ConfusionMetric`` also counts margins if all cells would take more than 1 GiB and no measure needs them.

    Raises
    ------
    ValueError
        A measure needs all cells; the message says how much memory they would take.

    See Also
    --------
    matrics.MarginState : the same as a state without a module.

    Examples
    --------
    >>> import torch
    >>> from matrics.torch import MarginMetric
    >>> metric = MarginMetric(50_257, "accuracy, f1, mcc", prefix="val/")
    >>> metric.update(torch.tensor([7, 7, 40_000, 3]), torch.tensor([7, 9, 40_000, 3]))
    >>> for name, value in metric.compute().items():
    ...     print(f"{name:<13}{value:.3f}")
    val/accuracy 0.750
    val/f1       0.667
    val/mcc      0.730
    """

    _kind = MarginRecipe


class ScoredMetric(RunningMetric):
    """A metric whose batches are labels and scores."""

    def update(
        self, y_true: Tensor, y_score: Tensor, *, mask: Tensor | None = None, sample_weight: Tensor | None = None
    ) -> None:
        """Count a batch, over all axes of samples."""
        super().update(y_true, y_score, mask=mask, sample_weight=sample_weight)


@documented("torch")
class ScoreMetric(ScoredMetric):
    """Count scores on the device: areas under curves with bounds, calibration, measures at thresholds, losses.

    Its buffers are the counts of a :class:`matrics.ScoreState`, of fixed size for any number of samples: they move with
    ``.to``, are part of ``state_dict``, and need a single ``all_reduce``. Areas are accurate at any scale of the
    scores, and have limits that contain the exact area; all other values are exact. The host does not wait for the
    device: neither ``update`` nor ``compute`` inspects a value, and both compile without a graph break.
    ``metric(y_true, y_score)`` counts a batch as ``update`` does and returns the values of that batch alone, which
    takes the time of a ``compute``.

    See Also
    --------
    matrics.torch.ConfusionMetric : measures of predicted labels.
    matrics.torchmetrics.ScoreMetric : the same for Lightning and torchmetrics.

    Examples
    --------
    >>> import torch
    >>> from matrics.torch import ScoreMetric
    >>> metric = ScoreMetric(metrics="roc_auc, ece, recall@0.5", from_logits=True, prefix="val/", bounds=True)
    >>> metric.update(torch.tensor([0, 0, 1, 1]), torch.tensor([-2.0, 0.4, -0.1, 3.0]))
    >>> for name, value in metric.compute().items():
    ...     print(f"{name:<17}{value:.3f}")
    val/roc_auc      0.750
    val/roc_auc_low  0.750
    val/roc_auc_high 0.750
    val/ece          0.323
    val/recall@0.5   0.500
    """

    _kind = ScoreRecipe

    def __init__(
        self,
        num_classes: int | None = None,
        metrics: str | Iterable[str] | None = None,
        *,
        cuda_graph: bool = False,
        **options: Unpack[ScoreOptions],
    ) -> None:
        super().__init__(num_classes, metrics, cuda_graph=cuda_graph, **options)


@documented("torch")
class MultilabelMetric(ScoredMetric):
    """Count samples with several labels on the device, and score each label, all labels, or whole samples.

    Its buffers have a fixed size for any number of samples, and contain only what the measures need: the 2×2 matrix of
    each label, counts of each label's scores for areas, sums over whole samples. They move with ``.to``, are part of
    ``state_dict``, and need a single ``all_reduce``. Counts are exact, and the host does not wait for the device:
    neither ``update`` nor ``compute`` inspects a value, and both compile without a graph break.

    Raises
    ------
    TypeError
        ``dtype`` is not supported.
    ValueError
        A name is unknown, or has an unsupported average; or a threshold, or a number of bins, is invalid.

    See Also
    --------
    matrics.torchmetrics.MultilabelMetric : the same for Lightning and torchmetrics.
    matrics.MultilabelState : the counts as a state without a module.

    Examples
    --------
    >>> import torch
    >>> from matrics.torch import MultilabelMetric
    >>> metric = MultilabelMetric(3, "f1, f1:label, roc_auc, ranking_loss", class_names=["cat", "dog", "owl"])
    >>> y_true = torch.tensor([[1, 0, 1], [0, 1, 0], [1, 1, 0]])
    >>> metric.update(y_true, torch.tensor([[0.9, 0.2, 0.4], [0.1, 0.8, 0.3], [0.7, 0.6, 0.65]]))
    >>> for name, value in metric.compute().items():
    ...     print(f"{name:<13}{value:.3f}")
    f1           0.667
    f1/cat       1.000
    f1/dog       1.000
    f1/owl       0.000
    roc_auc      0.833
    ranking_loss 0.167
    """

    _kind = MultilabelRecipe

    def __init__(
        self,
        num_labels: int,
        metrics: str | Metric | Iterable[str | Metric],
        *,
        cuda_graph: bool = False,
        **options: Unpack[MultilabelOptions],
    ) -> None:
        super().__init__(num_labels, metrics, cuda_graph=cuda_graph, **options)
        self.num_labels = num_labels

    @property
    def matrix(self) -> Tensor:
        """The matrix of each label so far, (L, 2, 2): rows are the true values 0 and 1."""
        matrix: Tensor = self._recipe.matrix(self.state)
        return matrix


@documented("torch")
class Metrics(RunningMetric):
    """Any measures of all batches so far: of predicted labels, of scores, and losses, updated together.

    It keeps what the measures need and nothing else: the confusion matrix, or of many classes its margins; counts of
    scores for areas and calibration; sums of losses and of hits among the highest scores; or the counts of several
    labels for each sample. Values are equal to those of :class:`ConfusionMetric`, :class:`ScoreMetric` and
    :class:`MultilabelMetric`, which count a part of this each.

    Its buffers have a fixed size for any number of samples: they move with ``.to``, are part of ``state_dict``, and
    need a single ``all_reduce``. The host does not wait for a device: neither ``update`` nor ``compute`` inspects a
    value there, and both compile without a graph break.

    Raises
    ------
    TypeError
        ``dtype`` is not supported; or, in ``update``, predicted labels are given where measures need scores.
    ValueError
        A name is unknown, or an option has no meaning for these measures.

    See Also
    --------
    matrics.torch.ConfusionMetric : measures of predicted labels alone.
    matrics.torch.ScoreMetric : measures of scores alone.

    Examples
    --------
    >>> import torch
    >>> from matrics.torch import Metrics
    >>> metrics = Metrics(3, "f1, mcc, ece, roc_auc, top_k_accuracy(k=2)", from_logits=True, prefix="val/")
    >>> logits = torch.tensor([[2.0, 0.1, 0.3], [0.2, 1.5, 0.1], [0.3, 0.9, 0.2], [0.1, 0.2, 3.0]])
    >>> metrics.update(torch.tensor([0, 1, 2, 2]), logits)
    >>> for name, value in metrics.compute().items():
    ...     print(f"{name:<24}{value:.3f}")
    val/f1                  0.778
    val/mcc                 0.700
    val/ece                 0.296
    val/roc_auc             1.000
    val/top_k_accuracy(k=2) 0.750
    """

    _kind = CombinedRecipe

    def __init__(
        self,
        num_classes: int | None = None,
        metrics: str | Metric | Iterable[str | Metric] = "core",
        *,
        cuda_graph: bool = False,
        **options: Unpack[CombinedOptions],
    ) -> None:
        super().__init__(num_classes, metrics, cuda_graph=cuda_graph, **options)

    @property
    def matrix(self) -> Tensor:
        """The confusion matrix (n, n), or the matrices of several labels (L, 2, 2): rows are true classes."""
        matrix: Tensor = self._recipe.matrix(self.state)
        return matrix
