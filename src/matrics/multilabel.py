"""Samples with several labels: the matrix of each label, and measures of labels and of samples.

:class:`matrics.MultilabelState` counts batches.

>>> import matrics
>>> matrics.multilabel.subset_accuracy([[1, 0], [1, 1]], [[1, 0], [0, 1]])
np.float64(0.5)
"""

from matrics._multilabel.scores import confusion_matrix, score, subset_accuracy

__all__ = [
    "confusion_matrix",
    "score",
    "subset_accuracy",
]
