"""Measures for the Trainer of Hugging Face: ``Trainer(..., compute_metrics=compute_metrics("mcc, f1"))``.

Only PyTorch is imported: the argument of the Trainer is read by the names of its two fields.
"""

from __future__ import annotations

from collections.abc import Hashable, Iterable, Sequence

from matrics._catalogue.record import Metric
from matrics._integrations.transformers_metric import TrainerMetrics

__all__ = ["compute_metrics"]


def compute_metrics(
    metrics: str | Metric | Iterable[str | Metric],
    *,
    num_classes: int | None = None,
    labels: Iterable[int] | None = None,
    class_names: Sequence[str] | None = None,
    positive: Hashable = None,
    ignore_index: int | Sequence[int] | None = -100,
    prefix: str = "",
    shift: bool | None = None,
    bits: int | None = None,
) -> TrainerMetrics:
    """A function for ``Trainer(compute_metrics=...)`` that returns measures of labels and of logits.

    With ``TrainingArguments(batch_eval_metrics=True)`` the Trainer passes each batch and stores none: an evaluation
    needs the memory of the counts, for any number of samples. Without it, the Trainer stores all logits and passes them
    once. The values are the same.

    Parameters
    ----------
    metrics : str, Metric, or several of them
        Measures of a confusion matrix, as in :func:`matrics.score` (``"mcc, f1, recall:class"``), which a
        :class:`matrics.torch.ConfusionMetric` counts, and names of values of scores (``"roc_auc"``,
        ``"log_loss"``, ``"top_k_accuracy(k=5)"``, ``"recall@0.5"``), for a
        :class:`matrics.torch.ScoreMetric`.
    num_classes : int, optional
        Number of classes. If left out, the length of the last axis of the first logits. It is needed where
        ``preprocess_logits_for_metrics`` returns predicted labels.
    labels : sequence of int, optional
        Instead of ``num_classes``: the label of each class, in the order of the logits.
    class_names : sequence of str, optional
        Names of the classes, for the keys of values per class: ``model.config.id2label.values()``.
    positive : label, name or int, optional
        The class of measures without an average, as in ``ConfusionMetric``. If left out, they are values of class 1 of
        two classes, and means over more classes.
    ignore_index : int or sequence of int, default -100
        Samples with any of these true labels are left out: padding, and parts of words. The Trainer pads by -100, so a
        list of labels needs it as well: ``[-100, 0]``.
    prefix : str, default ""
        Prefix of the keys, after the ``eval_`` of the Trainer.
    shift : bool, optional
        Whether the logits at position t of a sequence are of the label at t + 1. In a **causal language model** they
        are, and its loss shifts them, but the Trainer passes both as they were: pass ``shift=True``. For tags of
        tokens, masked language models, and encoders with decoders, it is ``shift=False``. If left out, nothing is
        shifted, and sequences with 1,000 classes or more raise an error, because these are vocabularies.
    bits : int, optional
        The resolution of the buckets from which areas under curves are computed, as in ``ScoreMetric``. Where that
        leaves an area open by more than 0.01, a warning says between which limits it is.

    Returns
    -------
    TrainerMetrics
        A function of an ``EvalPrediction``, with ``compute_result=`` for batches, that returns Python's numbers by
        name. After an evaluation its ``confusion`` and ``scores`` are the two metrics, with the counts, for example
        ``confusion.matrix``; None if no measure needs it. ``reset()`` sets the counts to 0. The next evaluation does so
        itself, unless an evaluation was interrupted between two batches.

    Raises
    ------
    TypeError, ValueError
        A name is unknown; or, at the first batch, the shapes of predictions and labels do not fit. After an error the
        counts are zero.

    See Also
    --------
    matrics.torch.ConfusionMetric : undefined values (0 here, so that a run goes on) and dropped samples.

    Notes
    -----
    Predictions are logits, with the classes along the last axis, and labels have their other axes: (N, C)
    with (N,), (B, T, C) with (B, T). If a model returns more than logits, such as hidden states, the first output
    counts. Integers are predicted labels, for which measures of scores raise an error. With several processes the
    Trainer gathers the samples of all processes before each call, without the samples that fill up the last batch.

    Examples
    --------
    >>> from types import SimpleNamespace
    >>> import numpy as np
    >>> from matrics.transformers import compute_metrics
    >>> compute = compute_metrics("accuracy, mcc, top_k_accuracy(k=2)")
    >>> logits = np.asarray([[2.0, 0.1, 0.3], [0.2, 1.5, 0.1], [0.3, 0.9, 0.2], [0.1, 0.2, 3.0]])
    >>> for name, value in compute(SimpleNamespace(predictions=logits, label_ids=np.asarray([0, 1, 2, 2]))).items():
    ...     print(f"{name:<20}{value:.3f}")
    accuracy            0.750
    mcc                 0.700
    top_k_accuracy(k=2) 0.750
    """
    return TrainerMetrics(
        metrics,
        num_classes=num_classes,
        labels=labels,
        class_names=class_names,
        positive=positive,
        ignore_index=ignore_index,
        prefix=prefix,
        shift=shift,
        bits=bits,
    )
