"""Running metrics for Flax (``nnx.Metric``), with any measures."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any, Unpack

from matrics._arrays import Array
from matrics._catalogue.record import Metric
from matrics._integrations.flax.adapter import RunningMetric
from matrics._integrations.running.combined import CombinedOptions, CombinedRecipe
from matrics._integrations.running.labels import LabelOptions, LabelRecipe, MarginRecipe
from matrics._integrations.running.multilabel import MultilabelOptions, MultilabelRecipe
from matrics._integrations.running.parameters import documented
from matrics._integrations.running.scores import ScoreOptions, ScoreRecipe


@documented("flax")
class ConfusionMetric(RunningMetric):
    """Any measures of all batches so far, from a single confusion matrix counted on the device.

    It follows ``nnx.metrics``: ``update`` takes ``logits=`` and ``labels=``, and ignores keywords for the other
    metrics of an ``nnx.MultiMetric``; ``compute`` scores the sum of the batches, never a mean of their scores.

    Examples
    --------
    >>> import jax.numpy as jnp
    >>> from matrics.flax import ConfusionMetric
    >>> metric = ConfusionMetric(2, ["mcc", "recall:class"], prefix="val/", class_names=["cat", "dog"])
    >>> logits = jnp.array([[2.0, 1.0], [0.5, 0.1], [0.3, 0.9], [0.8, 0.2]])
    >>> metric.update(logits=logits, labels=jnp.array([0, 0, 1, 1]))
    >>> {name: round(float(value), 3) for name, value in metric.compute().items()}
    {'val/mcc': 0.577, 'val/recall/cat': 1.0, 'val/recall/dog': 0.5}
    """

    _kind = LabelRecipe

    def __init__(
        self,
        num_classes: int | None = None,
        metrics: str | Metric | Iterable[str | Metric] = "core",
        **options: Unpack[LabelOptions],
    ) -> None:
        super().__init__(num_classes, metrics, **options)

    @property
    def matrix(self) -> Array:
        """The confusion matrix (n, n): rows are true classes. A metric of margins raises an error."""
        return self._recipe.matrix(self.state)


@documented("flax")
class MarginMetric(ConfusionMetric):
    """Count labels of many classes, without a count for each pair of classes: true positives, row sums, column sums.

    It is :class:`matrics.torch.MarginMetric` for Flax: a :class:`ConfusionMetric` for the measures of
    :meth:`matrics.MarginState.list_metrics`, without ``matrix``, and with a :class:`matrics.MarginState` as ``state``.

    Raises
    ------
    ValueError
        A measure needs all cells; the message says how much memory they would take.

    See Also
    --------
    matrics.MarginState : the same as a state alone.

    Examples
    --------
    >>> import jax.numpy as jnp
    >>> from matrics.flax import MarginMetric
    >>> metric = MarginMetric(50_257, "accuracy, f1, mcc", prefix="val/")
    >>> metric.update(jnp.array([7, 7, 40_000, 3]), jnp.array([7, 9, 40_000, 3]))
    >>> for name, value in metric.compute().items():
    ...     print(f"{name:<13}{value:.3f}")
    val/accuracy 0.750
    val/f1       0.667
    val/mcc      0.730
    """

    _kind = MarginRecipe


class ScoredMetric(RunningMetric):
    """A metric whose batches are labels and scores."""

    def update(  # type: ignore[override]
        self,
        y_true: Any = None,
        y_score: Any = None,
        *,
        labels: Any = None,
        logits: Any = None,
        mask: Any = None,
        sample_weight: Any = None,
        **_: Any,
    ) -> None:
        """Count a batch, over all axes of samples."""
        options: Any = {"labels": labels, "logits": logits, "mask": mask, "sample_weight": sample_weight}
        super().update(y_true, y_score, **options)


@documented("flax")
class ScoreMetric(ScoredMetric):
    """Areas under curves with bounds, calibration, measures at thresholds and losses, from counts on the device.

    It follows ``nnx.metrics``: ``update`` takes ``logits=`` and ``labels=``, and ignores keywords for the other
    metrics of an ``nnx.MultiMetric``. Its variables are the arrays of a :class:`matrics.ScoreState`, of fixed size
    for any number of samples.

    Examples
    --------
    >>> import jax.numpy as jnp
    >>> from matrics.flax import ScoreMetric
    >>> metric = ScoreMetric(metrics="roc_auc, ece, recall@0.5", prefix="val/")
    >>> metric.update(labels=jnp.array([0, 0, 1, 1]), logits=jnp.array([-2.0, 0.4, -0.1, 3.0]))
    >>> {name: round(value, 3) for name, value in metric.log_dict().items()}
    {'val/roc_auc': 0.75, 'val/ece': 0.323, 'val/recall@0.5': 0.5}
    """

    _kind = ScoreRecipe

    def __init__(
        self,
        num_classes: int | None = None,
        metrics: str | Iterable[str] | None = None,
        **options: Unpack[ScoreOptions],
    ) -> None:
        super().__init__(num_classes, metrics, **options)


@documented("flax")
class MultilabelMetric(ScoredMetric):
    """Count samples with several labels on the device, and score each label, all labels, or whole samples.

    It follows ``nnx.metrics``: ``update`` takes ``logits=`` and ``labels=``, and ignores keywords for the other
    metrics of an ``nnx.MultiMetric``. Its variables have a fixed size for any number of samples, and contain only what
    the measures need.

    Examples
    --------
    >>> import jax.numpy as jnp
    >>> from matrics.flax import MultilabelMetric
    >>> metric = MultilabelMetric(3, "f1, f1:label, ranking_loss", class_names=["cat", "dog", "owl"])
    >>> logits = jnp.array([[2.2, -1.4, -0.4], [-2.2, 1.4, -0.8], [0.8, 0.4, 0.6]])
    >>> metric.update(labels=jnp.array([[1, 0, 1], [0, 1, 0], [1, 1, 0]]), logits=logits)
    >>> {name: round(value, 3) for name, value in metric.log_dict().items()}
    {'f1': 0.667, 'f1/cat': 1.0, 'f1/dog': 1.0, 'f1/owl': 0.0, 'ranking_loss': 0.167}
    """

    _kind = MultilabelRecipe

    def __init__(
        self, num_labels: int, metrics: str | Metric | Iterable[str | Metric], **options: Unpack[MultilabelOptions]
    ) -> None:
        super().__init__(num_labels, metrics, **options)
        self.num_labels = num_labels

    @property
    def matrix(self) -> Array:
        """The matrix of each label so far, (L, 2, 2): rows are the true values 0 and 1."""
        return self._recipe.matrix(self.state)


@documented("flax")
class Metrics(RunningMetric):
    """Any measures of all batches so far: of predicted labels, of scores, and losses, updated together.

    It keeps what the measures need and nothing else: the confusion matrix, or of many classes its margins; counts of
    scores for areas and calibration; sums of losses and of hits among the highest scores; or the counts of several
    labels for each sample. Values are equal to those of :class:`ConfusionMetric`, :class:`ScoreMetric` and
    :class:`MultilabelMetric`, which count a part of this each.

    ``update`` takes ``logits=`` and ``labels=``, and ignores keywords for the other metrics of an ``nnx.MultiMetric``.

    Raises
    ------
    TypeError
        ``dtype`` is not supported; or, in ``update``, predicted labels are given where measures need scores.
    ValueError
        A name is unknown, or an option has no meaning for these measures.

    See Also
    --------
    matrics.flax.ConfusionMetric : measures of predicted labels alone.
    matrics.flax.ScoreMetric : measures of scores alone.

    Examples
    --------
    >>> import jax.numpy as jnp
    >>> from matrics.flax import Metrics
    >>> metrics = Metrics(3, "f1, mcc, ece, roc_auc, top_k_accuracy(k=2)", prefix="val/", from_logits=True)
    >>> logits = jnp.array([[2.0, 0.1, 0.3], [0.2, 1.5, 0.1], [0.3, 0.9, 0.2], [0.1, 0.2, 3.0]])
    >>> metrics.update(logits=logits, labels=jnp.array([0, 1, 2, 2]))
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
        **options: Unpack[CombinedOptions],
    ) -> None:
        super().__init__(num_classes, metrics, **options)

    @property
    def matrix(self) -> Array:
        """The confusion matrix (n, n), or the matrices of several labels (L, 2, 2): rows are true classes."""
        matrix: Array = self._recipe.matrix(self.state)
        return matrix
