"""Running metrics for torchmetrics and Lightning; predictions come first, as in all of torchmetrics."""

from __future__ import annotations

from collections.abc import Iterable
from typing import TYPE_CHECKING, Any

from matrics._catalogue.record import Metric
from matrics._integrations.running.combined import CombinedRecipe
from matrics._integrations.running.labels import LabelRecipe, MarginRecipe
from matrics._integrations.running.multilabel import MultilabelRecipe
from matrics._integrations.running.parameters import documented
from matrics._integrations.running.scores import ScoreRecipe
from matrics._integrations.torchmetrics.adapter import RunningMetric

if TYPE_CHECKING:
    from torch import Tensor


@documented("torchmetrics")
class ConfusionMetric(RunningMetric):
    """Count labels once, and score their confusion matrix by any measures.

    The state is an integer tensor of fixed size, which torchmetrics adds up over processes. As in all of torchmetrics,
    and unlike elsewhere in matrics, predictions come first: ``update(preds, target)``.

    In Lightning, ``self.log_dict(metric)`` in a step is all that is needed: values are computed at the end of the
    epoch, from the counts of all batches and processes, and the metric is reset.

    See Also
    --------
    matrics.torch.ConfusionMetric : the same as a plain module, for loops of your own.

    Examples
    --------
    >>> import torch
    >>> from matrics.torchmetrics import ConfusionMetric
    >>> metric = ConfusionMetric(3, ["mcc", "recall:class"], prefix="val/", class_names=["cat", "dog", "owl"])
    >>> logits = torch.tensor([[2.0, 0.1, 0.3], [0.2, 1.5, 0.1], [0.3, 0.9, 0.2], [0.1, 0.2, 3.0]])
    >>> batch = metric(logits, torch.tensor([0, 1, 2, 2]))  # the values of this batch
    >>> for name, value in metric.compute().items():  # and of all so far
    ...     print(f"{name:<15}{value:.3f}")
    val/mcc        0.700
    val/recall/cat 1.000
    val/recall/dog 1.000
    val/recall/owl 0.500
    """

    _kind = LabelRecipe
    _drawn = "metric.matrix, for example with sklearn.metrics.ConfusionMatrixDisplay(metric.matrix.numpy()).plot()"

    def __init__(
        self,
        num_classes: int | None = None,
        metrics: str | Metric | Iterable[str | Metric] = "core",
        **keywords: Any,
    ) -> None:
        super().__init__(num_classes, metrics, **keywords)

    @property
    def matrix(self) -> Tensor:
        """The confusion matrix (n, n) of this process: integers, rows are true classes.

        Within ``with metric.sync_context():`` it is the state of all processes. A metric of margins raises an error.
        """
        matrix: Tensor = self._recipe.matrix(self.state)
        return matrix


@documented("torchmetrics")
class MarginMetric(ConfusionMetric):
    """Count labels of many classes, without a count for each pair of classes: true positives, row sums, column sums.

    It is :class:`matrics.torch.MarginMetric` for Lightning and torchmetrics: a :class:`ConfusionMetric`
    for the measures of :meth:`matrics.MarginState.list_metrics`, without ``matrix``, and with a
    :class:`matrics.MarginState` as ``state``.

    Raises
    ------
    ValueError
        A measure needs all cells; the message says how much memory they would take.

    Examples
    --------
    >>> import torch
    >>> from matrics.torchmetrics import MarginMetric
    >>> metric = MarginMetric(50_257, "accuracy, f1, mcc", prefix="val/")
    >>> metric.update(torch.tensor([7, 9, 40_000, 3]), torch.tensor([7, 7, 40_000, 3]))
    >>> for name, value in metric.compute().items():
    ...     print(f"{name:<13}{value:.3f}")
    val/accuracy 0.750
    val/f1       0.667
    val/mcc      0.730
    """

    _kind = MarginRecipe


@documented("torchmetrics")
class ScoreMetric(RunningMetric):
    """Count scores: areas under curves with bounds, calibration, measures at thresholds, losses.

    It is :class:`matrics.torch.ScoreMetric` for Lightning and torchmetrics: ``self.log_dict(metric)`` in a
    step is all that is needed. Its states are the counts of a :class:`matrics.ScoreState`, of fixed size however
    many samples are counted, and are added up over processes. As in all of torchmetrics, and unlike elsewhere in
    matrics, predictions come first: ``update(preds, target)``. (torchmetrics decides by the values of each batch
    whether scores are logits.)

    See Also
    --------
    matrics.torchmetrics.ConfusionMetric : measures of predicted labels.

    Examples
    --------
    >>> import torch
    >>> from matrics.torchmetrics import ScoreMetric
    >>> metric = ScoreMetric(3, "roc_auc, roc_auc:class", prefix="val/", class_names=["cat", "dog", "owl"])
    >>> scores = torch.tensor([[0.7, 0.2, 0.1], [0.1, 0.8, 0.1], [0.2, 0.5, 0.3], [0.3, 0.3, 0.4]])
    >>> batch = metric(scores, torch.tensor([0, 1, 2, 2]))  # the values of this batch
    >>> for name, value in metric.compute().items():  # and of all so far
    ...     print(f"{name:<16}{value:.3f}")
    val/roc_auc     1.000
    val/roc_auc/cat 1.000
    val/roc_auc/dog 1.000
    val/roc_auc/owl 1.000
    """

    _kind = ScoreRecipe
    _drawn = "the curve of metric.state, whose matrix has every threshold"

    def __init__(
        self, num_classes: int | None = None, metrics: str | Iterable[str] | None = None, **keywords: Any
    ) -> None:
        super().__init__(num_classes, metrics, **keywords)


@documented("torchmetrics")
class MultilabelMetric(RunningMetric):
    """Count samples with several labels, and score each label, all labels, or whole samples.

    It is :class:`matrics.torch.MultilabelMetric` for Lightning and torchmetrics: ``self.log_dict(metric)``
    in a step is all that is needed. Its states have a fixed size and are added up over processes. As in all of
    torchmetrics, and unlike elsewhere in matrics, predictions come first: ``update(preds, target)``. (torchmetrics
    predicts the labels above the threshold, not those at it.)

    See Also
    --------
    matrics.torchmetrics.ConfusionMetric : measures of samples with a single label each.

    Examples
    --------
    >>> import torch
    >>> from matrics.torchmetrics import MultilabelMetric
    >>> metric = MultilabelMetric(3, "f1, recall:label", prefix="val/", class_names=["cat", "dog", "owl"])
    >>> scores = torch.tensor([[0.9, 0.2, 0.4], [0.1, 0.8, 0.3], [0.7, 0.6, 0.65]])
    >>> batch = metric(scores, torch.tensor([[1, 0, 1], [0, 1, 0], [1, 1, 0]]))  # the values of this batch
    >>> for name, value in metric.compute().items():  # and of all so far
    ...     print(f"{name:<15}{value:.3f}")
    val/f1         0.667
    val/recall/cat 1.000
    val/recall/dog 1.000
    val/recall/owl 0.000
    """

    _kind = MultilabelRecipe
    _drawn = "metric.matrix, for example with matrics.plot.confusion_matrix(metric.matrix[0])"

    def __init__(self, num_labels: int, metrics: str | Metric | Iterable[str | Metric], **keywords: Any) -> None:
        super().__init__(num_labels, metrics, **keywords)
        self.num_labels = num_labels

    @property
    def matrix(self) -> Tensor:
        """The matrix of each label, (L, 2, 2), of this process: rows are the true values 0 and 1."""
        matrix: Tensor = self._recipe.matrix(self.state)
        return matrix


@documented("torchmetrics")
class Metrics(RunningMetric):
    """Any measures of all batches so far: of predicted labels, of scores, and losses, updated together.

    It keeps what the measures need and nothing else: the confusion matrix, or of many classes its margins; counts of
    scores for areas and calibration; sums of losses and of hits among the highest scores; or the counts of several
    labels for each sample. Values are equal to those of :class:`ConfusionMetric`, :class:`ScoreMetric` and
    :class:`MultilabelMetric`, which count a part of this each.

    ``self.log_dict(metrics)`` in a step is all that Lightning needs. As in all of torchmetrics, and unlike elsewhere in
    matrics, predictions come first: ``update(preds, target)``.

    Raises
    ------
    TypeError
        ``dtype`` is not supported; or, in ``update``, predicted labels are given where measures need scores.
    ValueError
        A name is unknown, or an option has no meaning for these measures.

    See Also
    --------
    matrics.torchmetrics.ConfusionMetric : measures of predicted labels alone.
    matrics.torchmetrics.ScoreMetric : measures of scores alone.

    Examples
    --------
    >>> import torch
    >>> from matrics.torchmetrics import Metrics
    >>> metrics = Metrics(3, "f1, mcc, ece, roc_auc, top_k_accuracy(k=2)", from_logits=True, prefix="val/")
    >>> logits = torch.tensor([[2.0, 0.1, 0.3], [0.2, 1.5, 0.1], [0.3, 0.9, 0.2], [0.1, 0.2, 3.0]])
    >>> metrics.update(logits, torch.tensor([0, 1, 2, 2]))
    >>> for name, value in metrics.compute().items():
    ...     print(f"{name:<24}{value:.3f}")
    val/f1                  0.778
    val/mcc                 0.700
    val/ece                 0.296
    val/roc_auc             1.000
    val/top_k_accuracy(k=2) 0.750
    """

    _kind = CombinedRecipe
    _drawn = "metrics.matrix, or the curves of metrics.state.scores"

    def __init__(
        self,
        num_classes: int | None = None,
        metrics: str | Metric | Iterable[str | Metric] = "core",
        **keywords: Any,
    ) -> None:
        super().__init__(num_classes, metrics, **keywords)

    @property
    def matrix(self) -> Tensor:
        """The confusion matrix (n, n), or the matrices of several labels (L, 2, 2): rows are true classes."""
        matrix: Tensor = self._recipe.matrix(self.state)
        return matrix
