"""Functions of scikit-learn that take scores or several labels a sample, and the calls here with the same numbers."""

from coming.run import Row, Topic

ONE_CLASS = "without positives: 0 and a warning there, NaN here"
POINTS = "here points are repeated at ties, so that shapes are fixed"
WITH_LABELS = "labels=[0, 1, 2])"
MEAN = "np.full(10, y_true.mean())"
CLIPPED = "np.clip({}, np.finfo(float).eps, 1 - np.finfo(float).eps)"

CURVES = [
    Row(
        "roc_curve(y_true, y_score, drop_intermediate=False)",
        "matrics.ranking.roc_curve(y_true, y_score)",
        '[*(c := matrics.ranking.threshold_curve(y_true, y_score, ["fpr", "recall"], unique=True)).values.values(), '
        "c.thresholds]",
        POINTS,
    ),
    Row(
        "precision_recall_curve(y_true, y_score)[:2]",
        "matrics.ranking.precision_recall_curve(y_true, y_score)[:2]",
        '[np.append(v, end) for v, end in zip(matrics.ranking.threshold_curve(y_true, y_score, ["precision", "recall"],'
        " thresholds=np.unique(y_score), zero_division=1).values.values(), [1, 0])]",
        "the other way round there, with a point more at precision 1; here the first is NaN at the threshold ∞",
    ),
    Row(
        "det_curve(y_true, y_score)[:2]",
        'matrics.ranking.threshold_curve(y_true, y_score, ["fpr", "fnr"]).values',
        "",
        "ascending thresholds there, and the outermost points left out",
    ),
    Row("auc(*roc_curve(y_true, y_score)[:2])", "matrics.ranking.roc_auc(y_true, y_score)"),
    Row(
        "np.stack(confusion_matrix_at_thresholds(y_true, y_score)[:4])",
        "matrics.ranking.confusion_matrix(y_true, y_score, np.unique(y_score)[::-1]).reshape(-1, 4).T",
    ),
    Row(
        "metric_at_thresholds(y_true, y_score, accuracy_score)[::-1]",
        'matrics.ranking.threshold_curve(y_true, y_score, "accuracy", unique=True)',
        'matrics.ranking.threshold_curve(y_true, y_score, "accuracy", thresholds=np.unique(y_score)[::-1])',
        "here the first threshold is ∞, at which nothing is positive",
    ),
    Row(
        "calibration_curve(y_true, y_score, n_bins=5)",
        "[(c := matrics.probabilities.reliability_curve(y_true, y_score, num_bins=5)).share_of_positives, "
        "c.mean_probability]",
        "",
        "bins are (a, b] there, and [a, b) here; 0.4 and 0.6 are edges",
    ),
]

AREAS = [
    Row("roc_auc_score(y_true, y_score)", "matrics.ranking.roc_auc(y_true, y_score)"),
    Row(
        "roc_auc_score(y_true, y_score, sample_weight=weight)",
        "matrics.ranking.roc_auc(y_true, y_score, sample_weight=weight)",
    ),
    Row("roc_auc_score(y_true, y_score, max_fpr=0.5)", "matrics.ranking.partial_roc_auc(y_true, y_score, max_fpr=0.5)"),
    Row(
        "average_precision_score(y_true, y_score)",
        "matrics.ranking.average_precision(y_true, y_score)",
        "matrics.ranking.average_precision(y_true, y_score, zero_division=0)",
        ONE_CLASS,
    ),
    Row(
        "average_precision_score(y_true, y_score, sample_weight=weight)",
        "matrics.ranking.average_precision(y_true, y_score, sample_weight=weight)",
        "matrics.ranking.average_precision(y_true, y_score, sample_weight=weight, zero_division=0)",
        ONE_CLASS,
    ),
    Row(
        "average_precision_score(y_true, y_score, pos_label=0)",
        "matrics.ranking.average_precision(y_true, y_score, positive=0)",
        "matrics.ranking.average_precision(y_true, y_score, positive=0, zero_division=0)",
        ONE_CLASS,
    ),
]

PROBABILITIES = [
    Row("brier_score_loss(y_true, y_score)", "matrics.probabilities.brier_score(y_true, y_score)"),
    Row(
        "brier_score_loss(y_true, y_score, scale_by_half=False)",
        "2 * matrics.probabilities.brier_score(y_true, y_score)",
    ),
    Row(
        "brier_score_loss(y_true, y_score, sample_weight=weight)",
        "matrics.probabilities.brier_score(y_true, y_score, sample_weight=weight)",
    ),
    Row(
        "d2_brier_score(y_true, y_score)",
        f"1 - matrics.probabilities.brier_score(y_true, y_score) / matrics.probabilities.brier_score(y_true, {MEAN})",
    ),
    Row(
        "log_loss(y_true, y_score)",
        "matrics.probabilities.log_loss(y_true, y_score)",
        "",
        "an error for a single class there",
    ),
    Row("log_loss(y_true, y_score, labels=[0, 1])", "matrics.probabilities.log_loss(y_true, y_score)"),
    Row(
        "log_loss(y_true, y_score, labels=[0, 1], normalize=False)",
        "10 * matrics.probabilities.log_loss(y_true, y_score)",
    ),
    Row(
        "d2_log_loss_score(y_true, y_score, labels=[0, 1])",
        f"1 - matrics.probabilities.log_loss(y_true, y_score) / matrics.probabilities.log_loss(y_true, {MEAN})",
        f"1 - matrics.probabilities.log_loss(y_true, y_score) / "
        f"matrics.probabilities.log_loss(y_true, {CLIPPED.format(MEAN)})",
        "a certain forecast is clipped there",
    ),
    Row(
        "top_k_accuracy_score(y_true, y_score, k=1, labels=[0, 1])",
        "matrics.accuracy(matrics.confusion_matrix(y_true, y_score, num_classes=2, threshold=0.5))",
        "matrics.accuracy(matrics.confusion_matrix(y_true, y_score > 0.5, num_classes=2))",
        "a score of exactly 0.5 is class 0 there, and class 1 here",
    ),
]

CLASSES = [
    *(
        Row(
            f'roc_auc_score(y_true, y_score, multi_class="{there}"{average}, {WITH_LABELS}',
            f"matrics.ranking.roc_auc(y_true, y_score{here}{average})",
            "" if there + average != "ovr" else "matrics.ranking.roc_auc(y_true, y_score, average=None).mean()",
            "" if there + average != "ovr" else "with an absent class NaN and a warning there; here it is left out",
        )
        for there, here in (("ovr", ""), ("ovo", ', multi_class="one_vs_one"'))
        for average in (
            "",
            ', average="weighted"',
            *((', average="micro"', ", average=None") if there == "ovr" else ()),
        )
    ),
    Row(
        "average_precision_score(y_true, y_score)",
        "matrics.ranking.average_precision(y_true, y_score)",
        "",
        "an error with an absent class there",
    ),
    Row(
        'average_precision_score(y_true, y_score, average="micro")',
        'matrics.ranking.average_precision(y_true, y_score, average="micro")',
        "",
        "an error with an absent class there",
    ),
    Row(
        f"log_loss(y_true, y_score, {WITH_LABELS}",
        "matrics.probabilities.log_loss(y_true, y_score)",
        f"matrics.probabilities.log_loss(y_true, {CLIPPED.format('y_score')})",
        "a true class of probability 0 costs ∞ here; there probabilities are clipped",
    ),
    Row(f"brier_score_loss(y_true, y_score, {WITH_LABELS}", "matrics.probabilities.brier_score(y_true, y_score)"),
    Row(
        f"brier_score_loss(y_true, y_score, scale_by_half=True, {WITH_LABELS}",
        "matrics.probabilities.brier_score(y_true, y_score) / 2",
    ),
    Row(
        f"top_k_accuracy_score(y_true, y_score, {WITH_LABELS}",
        "matrics.ranking.top_k_accuracy(y_true, y_score, k=2)",
    ),
    Row(
        f"top_k_accuracy_score(y_true, y_score, k=1, {WITH_LABELS}",
        "matrics.ranking.top_k_accuracy(y_true, y_score, k=1)",
        "",
        "of tied classes the one with the higher index wins there; here it is the mean over all orders",
    ),
]

#: For which average what is undefined counts as 0 there, and is left out here.
UNDEFINED = {
    "precision": {"macro", "weighted", "samples"},
    "recall": {"macro", "samples"},
    "f1": {"samples"},
    "jaccard": {"samples"},
}

SEVERAL = [
    Row("multilabel_confusion_matrix(y_true, y_pred)", "matrics.multilabel.confusion_matrix(y_true, y_pred)"),
    Row(
        "multilabel_confusion_matrix(y_true, y_pred, samplewise=True)",
        "matrics.multilabel.confusion_matrix(y_true, y_pred, samplewise=True)",
    ),
    Row("accuracy_score(y_true, y_pred)", "matrics.multilabel.subset_accuracy(y_true, y_pred)"),
    Row("zero_one_loss(y_true, y_pred)", "1 - matrics.multilabel.subset_accuracy(y_true, y_pred)"),
    Row("hamming_loss(y_true, y_pred)", 'matrics.multilabel.score(y_true, y_pred, "hamming_loss", average="micro")'),
    *(
        Row(
            f'{name}(y_true, y_pred, average="{average}")',
            f'matrics.multilabel.score(y_true, y_pred, "{measure}", average="{average}")',
            f'matrics.multilabel.score(y_true, y_pred, "{measure}", average="{average}", zero_division=0)'
            if average in UNDEFINED[measure]
            else "",
            "what is 0/0 counts as 0 there, and is left out here" if average in UNDEFINED[measure] else "",
        )
        for name, measure in {
            "precision_score": "precision",
            "recall_score": "recall",
            "f1_score": "f1",
            "jaccard_score": "jaccard",
        }.items()
        for average in ("macro", "weighted", "micro", "samples")
    ),
    Row("roc_auc_score(y_true, y_score)", "matrics.ranking.roc_auc(y_true.T, y_score.T).mean()"),
    Row(
        "average_precision_score(y_true, y_score)",
        "np.nanmean(matrics.ranking.average_precision(y_true.T, y_score.T))",
        "matrics.ranking.average_precision(y_true.T, y_score.T, zero_division=0).mean()",
        ONE_CLASS,
    ),
]

TOPICS = [
    Topic("Curves over thresholds", "scores", CURVES),
    Topic("Areas under curves", "scores", AREAS),
    Topic("Probabilities of two classes", "scores", PROBABILITIES),
    Topic("Scores of three classes", "class scores", CLASSES),
    Topic("Several labels a sample", "several labels", SEVERAL),
]
