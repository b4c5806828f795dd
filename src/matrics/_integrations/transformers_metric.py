"""The function that the Trainer of Hugging Face calls: metrics of labels and of scores, for a batch or all samples."""

from __future__ import annotations

import math
from collections.abc import Hashable, Iterable, Iterator, Mapping, Sequence
from typing import Any

import numpy as np
import torch
from torch import Tensor

from matrics._arrays.torch import TORCH
from matrics._catalogue.record import Metric
from matrics._counting.codes import integer_codes, searched
from matrics._counting.labels import check_ignore_index, is_kept, labels_to_ignore, said
from matrics._integrations.running.score_names import is_of_scores, read_names
from matrics._integrations.running.settings import checked_prefix, classes_of
from matrics._integrations.torch import ConfusionMetric, ScoreMetric
from matrics._quoting import quoted, split_outside
from matrics._ranking.buckets import check_bits
from matrics._scoring.score import resolve

#: The number of scores that are counted at a time: the metrics need memory for a copy of them.
SCORES_AT_ONCE = 2**21
#: From this number of classes on, the labels of a sequence are probably tokens: sets of tags are smaller.
VOCABULARY = 1000


class TrainerMetrics:
    """A function of an ``EvalPrediction`` that returns measures; the Trainer calls it once, or for each batch."""

    def __init__(
        self,
        metrics: str | Metric | Iterable[str | Metric],
        *,
        num_classes: int | None,
        labels: Iterable[int] | None,
        class_names: Sequence[str] | None,
        positive: Hashable,
        ignore_index: int | Sequence[int] | None,
        prefix: str,
        shift: bool | None,
        bits: int | None,
    ) -> None:
        self._label_metrics, self._score_names = _split_metrics(metrics)
        self._labels = None if labels is None else list(labels)
        self._class_names = None if class_names is None else tuple(class_names)
        self._positive, self._prefix = positive, checked_prefix(prefix)
        self._ignored = check_ignore_index(ignore_index)
        if shift is not None and not isinstance(shift, bool):
            raise TypeError(f"shift: expected True, False or None, got {quoted(shift)}")
        self._shift, self._bits = shift, None if bits is None else check_bits(bits, 1)
        self.confusion: ConfusionMetric | None = None
        self.scores: ScoreMetric | None = None
        self._num_classes: int | None = None
        self._codes: Mapping[Hashable, int] | None = None
        self._is_finished = True
        if self._labels is not None:
            number, self._codes = integer_codes(num_classes, self._labels)
            self._make(number)
        elif num_classes is not None or self._class_names is not None:
            self._make(len(self._class_names or ()) if num_classes is None else num_classes)
        else:  # check the names now, and not after an epoch
            if self._label_metrics:
                resolve(self._label_metrics)
            if self._score_names:
                read_names(self._score_names, None, has_classes=True)

    def __call__(self, eval_prediction: Any, compute_result: bool | None = None) -> dict[str, float]:  # noqa: FBT001 (the Trainer's)
        """The values after the last batch, and an empty dict before; counts the predictions.

        Parameters
        ----------
        eval_prediction : EvalPrediction
            ``predictions`` and ``label_ids``: tensors of a batch, arrays of all samples, or lists of arrays (with
            ``eval_do_concat_batches=False``).
        compute_result : bool, optional
            Whether this is the last batch of an evaluation; None if it has all samples.
        """
        if self._is_finished or compute_result is None:
            self.reset()
        self._is_finished = compute_result is not False
        try:
            for predictions, labels in _batches(eval_prediction):
                self._update(*self._fitting(predictions, labels))
        except Exception:
            self.reset()
            raise
        if not self._is_finished:
            return {}
        values = {} if self.confusion is None else self.confusion.log_dict()
        return values if self.scores is None else values | self.scores.log_dict()

    def reset(self) -> None:
        """Set the counts to 0, after an evaluation that was interrupted."""
        self._is_finished = True
        for metric in (self.confusion, self.scores):
            if metric is not None:
                metric.reset()

    def __repr__(self) -> str:
        return f"compute_metrics({[*map(str, self._label_metrics), *self._score_names]}, prefix={quoted(self._prefix)})"

    def _make(self, num_classes: int) -> None:
        """Make the metrics for this number of classes."""
        options: dict[str, Any] = {"prefix": self._prefix, "class_axis": -1}
        if self._label_metrics:
            self.confusion = ConfusionMetric(
                num_classes if self._labels is None else None,
                self._label_metrics,
                labels=self._labels,
                class_names=self._class_names,
                positive=self._positive,
                ignore_index=self._ignored,
                **options,
            )
        if self._score_names:
            # A ScoreMetric takes class numbers; the labels are the names in its keys.
            names = self._class_names or (None if self._labels is None else tuple(map(str, self._labels)))
            place = classes_of(num_classes, self._labels, self._class_names, self._positive).positive
            codes = self._codes
            ignored = self._ignored if codes is None else [codes[label] for label in self._ignored if label in codes]
            self.scores = ScoreMetric(
                num_classes,
                self._score_names,
                from_logits=True,
                bits=self._bits,
                class_names=names,
                positive=place if place is None or names is None else names[place],
                ignore_index=ignored or None,
                **options,
            )
        self._num_classes = num_classes

    def _fitting(self, predictions: Any, labels: Any) -> tuple[Tensor, Tensor]:
        """Predictions and labels as tensors, shifted if ``shift`` is set; raises unless their shapes fit."""
        labels = _as_tensor(labels, "label_ids", "of labels (label_names= of TrainingArguments selects it)")
        predictions = predictions[0] if isinstance(predictions, tuple) and predictions else predictions
        predictions = _as_tensor(predictions, "predictions", "of logits")
        labels = labels.to(predictions.device)
        if labels.is_floating_point() or labels.is_complex():
            raise TypeError(
                f"label_ids: expected integers, the class of each sample, got {labels.dtype} in shape "
                f"{tuple(labels.shape)}: a regression, or several labels for each sample, which "
                "matrics.torch.MultilabelMetric counts"
            )
        has_logits = predictions.is_floating_point()
        if predictions.shape[: predictions.ndim - has_logits] != labels.shape:
            expected = "logits with an additional last axis of classes" if has_logits else "labels of the same shape"
            got = said({"predictions": predictions, "label_ids": labels})
            raise ValueError(
                f"expected {expected}, got {got}; preprocess_logits_for_metrics= of the Trainer can change them"
            )
        if not has_logits and self._score_names:
            raise TypeError(
                f"predictions: expected logits for {', '.join(self._score_names)}, got labels ({predictions.dtype}): "
                "preprocess_logits_for_metrics= of the Trainer has to leave the logits as they are"
            )
        self._check_classes(predictions.shape[-1] if has_logits else None)
        return self._shifted(predictions, labels)

    def _check_classes(self, number: int | None) -> None:
        """Make the metrics at the first logits; raise if a later batch has another number of classes."""
        if number == 1:
            raise ValueError(
                "predictions: expected logits of two classes or more, got 1 on the last axis: use ConfusionMetric and "
                "ScoreMetric of matrics.torch for a single logit of class 1, and another function for a regression"
            )
        if self._num_classes is None:
            if number is None:
                raise TypeError(
                    "num_classes: expected a number, as the predictions are labels and not logits, got None"
                )
            self._make(number)
        if number is not None and number != self._num_classes:
            raise ValueError(
                f"predictions: expected logits of {self._num_classes} classes, got {number} on the last axis"
            )

    def _shifted(self, predictions: Tensor, labels: Tensor) -> tuple[Tensor, Tensor]:
        """Predictions and labels that belong together: in a causal language model, a label and the previous logits."""
        is_sequence, number = labels.ndim > 1, self._num_classes or 0
        if self._shift is None and is_sequence and number >= VOCABULARY:
            raise ValueError(
                "shift: expected True for a causal language model, whose logits at position t are of the label at "
                f"t + 1, or False for any other model, got None with labels {tuple(labels.shape)} of {number:,} classes"
            )
        if not self._shift:
            return predictions, labels
        if not is_sequence:
            raise ValueError(f"shift: expected sequences, labels (B, T), got label_ids {tuple(labels.shape)}")
        return predictions[:, :-1], labels[:, 1:]

    def _update(self, predictions: Tensor, labels: Tensor) -> None:
        """Count in pieces, as the metrics would need memory for the probabilities of all samples."""
        for metric in (self.confusion, self.scores):
            if metric is not None and next(metric.buffers()).device != predictions.device:
                metric.to(predictions.device)
        step = max(SCORES_AT_ONCE // max(math.prod(predictions.shape[1:]), 1), 1)
        for pred, true in zip(predictions.split(step), labels.split(step), strict=True):
            if self.confusion is not None:
                self.confusion.update(true, pred)
            if self.scores is not None:
                self._update_scores(self.scores, true, pred)

    def _update_scores(self, scores: ScoreMetric, true: Tensor, logits: Tensor) -> None:
        if self._codes is None:
            scores.update(true, logits)
        else:
            kept = is_kept(true, labels_to_ignore(self._ignored, true, TORCH), TORCH)
            scores.update(searched(true, self._codes, "label_ids", TORCH), logits, mask=kept)


def _split_metrics(metrics: Any) -> tuple[list[str | Metric], list[str]]:
    """The measures of labels, and the names of values of scores."""
    if hasattr(metrics, "label_ids"):
        raise TypeError(
            "metrics: expected a name, a metric or a list of them, got the predictions of the Trainer: call the "
            'function first, Trainer(compute_metrics=compute_metrics("mcc, f1"))'
        )
    items = [metrics] if isinstance(metrics, (str, Metric)) or not isinstance(metrics, Iterable) else list(metrics)
    parts = [part for item in items for part in (split_outside(item) if isinstance(item, str) else [item])]
    stripped = [part.strip() if isinstance(part, str) else part for part in parts]
    score_names = [part for part in stripped if isinstance(part, str) and is_of_scores(part)]
    label_metrics = [part for part in stripped if part not in ("", *score_names)]
    if not label_metrics and not score_names:
        raise ValueError("metrics: expected at least one name, got none")
    return label_metrics, score_names


def _batches(eval_prediction: Any) -> Iterator[tuple[Any, Any]]:
    """Predictions and labels of a single batch, or of each batch of a list."""
    if not (hasattr(eval_prediction, "predictions") and hasattr(eval_prediction, "label_ids")):
        raise TypeError(
            "eval_prediction: expected an EvalPrediction of the Trainer, with predictions and label_ids, got "
            f"a {type(eval_prediction).__name__}"
        )
    predictions, labels = eval_prediction.predictions, eval_prediction.label_ids
    if isinstance(predictions, list) and isinstance(labels, list):
        yield from zip(predictions, labels, strict=True)
    else:
        yield predictions, labels


def _as_tensor(values: Any, name: str, expected: str) -> Tensor:
    if isinstance(values, np.ndarray) and values.dtype.kind in "biuf":
        return torch.from_numpy(values if values.flags.writeable else values.copy())
    if isinstance(values, Tensor):
        return values.detach()
    got = f"{len(values)} arrays" if isinstance(values, (tuple, list)) else type(values).__name__
    raise TypeError(f"{name}: expected a single array or tensor {expected}, got {got}")
