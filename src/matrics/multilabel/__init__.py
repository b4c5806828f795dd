"""Several labels a sample: matrices of each label or each sample, averages over them, and their running state."""

from matrics.multilabel.scores import multilabel_confusion_matrix, multilabel_score, subset_accuracy
from matrics.multilabel.state import MultilabelState

__all__ = ["MultilabelState", "multilabel_confusion_matrix", "multilabel_score", "subset_accuracy"]
