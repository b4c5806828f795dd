"""Functions and classes of torchmetrics for several labels a sample, and the calls here with the same numbers."""

from coming.run import Row, Topic

ZERO = "0/0 is 0 there, NaN here"
LEFT_OUT = "a label that is 0/0 counts as 0 there, and is left out here"
COUNTS = '["true_positives", "false_positives", "true_negatives", "false_negatives", "positives"]'

# Theirs, the measure here, an option there, and why averages differ.
FAMILY = [
    ("precision", "precision", "", {"macro": LEFT_OUT, "weighted": LEFT_OUT, None: ZERO}),
    ("recall", "recall", "", {"macro": LEFT_OUT, None: ZERO}),
    ("specificity", "specificity", "", {}),
    ("negative_predictive_value", "npv", "", {}),
    ("f1_score", "f1", "", {}),
    ("fbeta_score", "fbeta(beta=2)", ", beta=2.0", {}),
    ("jaccard_index", "jaccard", "", {}),
]


def _measure(name, option, measure, average, reasons):
    given = {"macro": "", None: ", average=None"}.get(average, f', average="{average}"')
    call = f'matrics.multilabel.score(target, preds, "{measure}"{given}'
    why = reasons.get(average, "")
    return Row(
        f"multilabel_{name}(preds, target, num_labels=3{option}{given})",
        f"{call})",
        f"{call}, zero_division=0)" if why else "",
        why,
    )


def _area(name, function, average):
    """Areas of each label are those of a batch: the labels' scores with their axes swapped."""
    there = f"multilabel_{name}(scores, target, num_labels=3"
    if average == "micro":
        return Row(f'{there}, average="micro")', f"matrics.ranking.{function}(target.flatten(), scores.flatten())")
    here = f"matrics.ranking.{function}(target.T, scores.T"
    mean = "" if average is None else ".nanmean()"
    zero = f"{here}, zero_division=0)" + ("" if average is None else ".mean()")
    given = "" if average == "macro" else ", average=None"
    return Row(f"{there}{given})", f"{here}){mean}", zero, ZERO if average is None else LEFT_OUT)


SEVERAL = [
    Row(
        "multilabel_confusion_matrix(preds, target, num_labels=3)",
        "matrics.multilabel.confusion_matrix(target, preds)",
    ),
    Row(
        "multilabel_stat_scores(preds, target, num_labels=3, average=None).T",
        f"matrics.multilabel.score(target, preds, {COUNTS}, average=None)",
    ),
    Row("multilabel_exact_match(preds, target, num_labels=3)", "matrics.multilabel.subset_accuracy(target, preds)"),
    Row("multilabel_accuracy(preds, target, num_labels=3)", 'matrics.multilabel.score(target, preds, "accuracy")'),
    Row(
        "multilabel_accuracy(scores, target, num_labels=3)",
        'matrics.multilabel.score(target, scores >= 0.5, "accuracy")',
        'matrics.multilabel.score(target, scores > 0.5, "accuracy")',
        "a score of exactly 0.5 is 0 there; here you say",
    ),
    Row(
        "multilabel_hamming_distance(preds, target, num_labels=3)",
        'matrics.multilabel.score(target, preds, "hamming_loss")',
    ),
    *(
        _measure(name, option, measure, average, reasons)
        for name, measure, option, reasons in FAMILY
        for average in ("macro", "weighted", "micro", None)
    ),
    Row(
        "multilabel_matthews_corrcoef(preds, target, num_labels=3)",
        'matrics.multilabel.score(target, preds, "mcc")',
        'matrics.multilabel.score(target, preds, "mcc", average="micro")',
        "pooled over the labels there, the mean of the labels here",
    ),
    *(
        _area(name, function, average)
        for name, function in (("auroc", "roc_auc"), ("average_precision", "average_precision"))
        for average in ("macro", "micro", None)
    ),
    Row(
        "multilabel_roc(scores, target, num_labels=3)",
        "matrics.ranking.roc_curve(target.T, scores.T)",
        "",
        "a list of curves of different lengths there, arrays of one shape here",
    ),
    Row(
        "multilabel_precision_recall_curve(scores, target, num_labels=3)",
        "matrics.ranking.precision_recall_curve(target.T, scores.T)",
        "",
        "a list of curves of different lengths there, arrays of one shape here",
    ),
    *(
        Row(
            f"multilabel_{there}(scores, target, num_labels=3, {limit}=0.6)[0]",
            f"matrics.ranking.{here}(target.T, scores.T, 0.6)",
            f"matrics.ranking.{here}(target.T, scores.T, 0.6, zero_division=0)",
            ZERO,
        )
        for there, limit, here in (
            ("recall_at_fixed_precision", "min_precision", "recall_at_precision"),
            ("precision_at_fixed_recall", "min_recall", "precision_at_recall"),
        )
    ),
    *(
        Row(
            f"multilabel_{there}(scores, target, num_labels=3, {limit}=0.6)[0]",
            f'matrics.ranking.best_threshold(target.T, scores.T, "{best}", subject_to="{other} >= 0.6").value',
            f'matrics.ranking.best_threshold(target.T, scores.T, "{best}", subject_to="{other} >= 0.6")'
            ".value.nan_to_num()",
            "a goal that no threshold reaches: 0 there, NaN here",
        )
        for there, limit, best, other in (
            ("sensitivity_at_specificity", "min_specificity", "recall", "specificity"),
            ("specificity_at_sensitivity", "min_sensitivity", "specificity", "recall"),
        )
    ),
]

MODULES = [
    Row("MulticlassF1Score(num_classes=3)(preds, target)", 'ConfusionMetric(3, ["f1"])(preds, target)'),
    Row(
        'MulticlassAccuracy(num_classes=3, average="micro")(preds, target)',
        'ConfusionMetric(3, ["accuracy"])(preds, target)',
    ),
    Row(
        "MulticlassRecall(num_classes=3, average=None)(preds, target)",
        'ConfusionMetric(3, ["recall:class"])(preds, target)',
    ),
    Row(
        "MetricCollection([MulticlassJaccardIndex(num_classes=3), MulticlassMatthewsCorrCoef(num_classes=3)])"
        "(preds, target)",
        'ConfusionMetric(3, ["jaccard", "mcc"])(preds, target)',
    ),
    Row(
        "BinaryAUROC(thresholds=1001)(preds, target)",
        'ScoreMetric(metrics=["roc_auc"])(preds, target)',
        kind="scores",
    ),
]

TOPICS = [
    Topic("Several labels a sample", "several labels", SEVERAL),
    Topic("Classes", "classes", MODULES),
]
