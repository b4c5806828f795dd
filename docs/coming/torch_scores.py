"""Functions of torchmetrics that take scores, with the calls here that give the same numbers."""

from coming.run import Row, Topic

ONE_CLASS = "0 and a warning there if a class is absent, NaN here"
ABSENT = "an absent class counts as 0 there, and is left out here"
ABOVE = "a score of exactly the threshold is class 0 there, and class 1 here"
EDGES = "wrong there: edges of bins are rounded to float32, so that 0.2 and 0.4 get into the bins below"
POINTS = "here points are repeated at ties, and the first threshold is ∞, not 1"
LISTS = "a list of curves of different lengths there, arrays of one shape here"
REVERSED = "the other way round there, with a point more at precision 1"
UNREACHED = "0 or 1 and a warning there if a class is absent; NaN here, or an error if no threshold reaches the goal"

THRESHOLDS = [
    Row(
        "binary_confusion_matrix(preds, target)",
        "matrics.confusion_matrix(target, preds, num_classes=2, threshold=0.5)",
        "matrics.confusion_matrix(target, preds > 0.5, num_classes=2)",
        ABOVE,
    ),
    Row(
        "binary_accuracy(preds, target, threshold=0.375)",
        "matrics.accuracy(matrics.confusion_matrix(target, preds, num_classes=2, threshold=0.375))",
        "matrics.accuracy(matrics.confusion_matrix(target, preds > 0.375, num_classes=2))",
        ABOVE,
    ),
    Row(
        "binary_confusion_matrix(preds, target)",
        "matrics.confusion_matrix(target, preds, num_classes=2, threshold=0.0)",
        "matrics.confusion_matrix(target, np.where(((preds < 0) | (preds > 1)).any(), preds.sigmoid(), preds) > 0.5, "
        "num_classes=2)",
        "there scores pass through a sigmoid, unless all of the batch happen to lie in [0, 1]",
        kind="logits",
    ),
    Row(
        "binary_auroc(preds, target)",
        "matrics.ranking.roc_auc(target, preds)",
        "matrics.ranking.roc_auc(target, preds.sigmoid())",
        "wrong there: the sigmoid of logits above 17 is 1 in float32, so that they are tied",
        kind="large logits",
    ),
    Row(
        "binary_auroc(preds, target, thresholds=5)",
        "matrics.ScoreState.zeros(like=preds).update(target, preds).roc_auc().value",
        "",
        "binned there, with no word of the error; a ScoreState fits scores of any size and has bounds: low, high",
    ),
]

BINARY = [
    Row(
        "binary_auroc(preds, target)",
        "matrics.ranking.roc_auc(target, preds)",
        "matrics.ranking.roc_auc(target, preds, zero_division=0)",
        ONE_CLASS,
    ),
    Row(
        "binary_auroc(preds, target, max_fpr=0.5)",
        "matrics.ranking.partial_roc_auc(target, preds, max_fpr=0.5)",
        "matrics.ranking.partial_roc_auc(target, preds, max_fpr=0.5, zero_division=0)",
        ONE_CLASS,
    ),
    Row(
        "binary_average_precision(preds, target)",
        "matrics.ranking.average_precision(target, preds)",
        "matrics.ranking.average_precision(target, preds, zero_division=0)",
        ONE_CLASS,
    ),
    Row(
        "binary_roc(preds, target)[:2]",
        "matrics.ranking.roc_curve(target, preds)[:2]",
        'matrics.ranking.threshold_curve(target, preds, ["fpr", "recall"], unique=True, zero_division=0).values',
        POINTS,
    ),
    Row(
        "binary_precision_recall_curve(preds, target)[:2]",
        "matrics.ranking.precision_recall_curve(target, preds)[:2]",
        '[np.append(v, end) for v, end in zip(matrics.ranking.threshold_curve(target, preds, ["precision", "recall"], '
        "thresholds=preds.unique(), zero_division=1).values.values(), [1, 0])]",
        REVERSED,
    ),
    Row(
        "binary_recall_at_fixed_precision(preds, target, min_precision=0.6)",
        '[*matrics.ranking.best_threshold(target, preds, "recall", subject_to="precision >= 0.6")][::-1]',
        "",
        "without positives: 0 and a warning there, an error here",
    ),
    Row(
        "binary_recall_at_fixed_precision(preds, target, min_precision=0.6)[0]",
        "matrics.ranking.recall_at_precision(target, preds, 0.6)",
        "matrics.ranking.recall_at_precision(target, preds, 0.6, zero_division=0)",
        ONE_CLASS,
    ),
    Row(
        "binary_precision_at_fixed_recall(preds, target, min_recall=0.6)[0]",
        "matrics.ranking.precision_at_recall(target, preds, 0.6)",
        "matrics.ranking.precision_at_recall(target, preds, 0.6, zero_division=0)",
        ONE_CLASS,
    ),
    Row(
        "binary_sensitivity_at_specificity(preds, target, min_specificity=0.6)[0]",
        'matrics.ranking.best_threshold(target, preds, "recall", subject_to="specificity >= 0.6").value',
        "",
        UNREACHED,
    ),
    Row(
        "binary_specificity_at_sensitivity(preds, target, min_sensitivity=0.6)[0]",
        'matrics.ranking.best_threshold(target, preds, "specificity", subject_to="recall >= 0.6").value',
        "",
        UNREACHED,
    ),
    Row(
        "binary_eer(preds, target)",
        '[(c := matrics.ranking.threshold_curve(target, preds, ["fpr", "fnr"]).values), '
        '(i := (c["fpr"] - c["fnr"]).abs().argmin()), (c["fpr"][i] + c["fnr"][i]) / 2][-1]',
        "",
        "of two thresholds that are equally near, rounding decides; 1 or 0 and a warning there if a class is absent",
    ),
    *(
        Row(
            f"binary_calibration_error(preds, target{there})",
            f"matrics.probabilities.expected_calibration_error(target, preds{here})",
            "",
            "" if "5" in there else EDGES,
        )
        for there, here in (
            ("", ""),
            (", n_bins=5", ", num_bins=5"),
            (', norm="l2"', ', norm="l2"'),
            (', norm="max"', ', norm="max"'),
        )
    ),
]

CLASSES = [
    Row(
        "multiclass_confusion_matrix(preds, target, num_classes=3)",
        "matrics.confusion_matrix(target, preds, num_classes=3)",
    ),
    *(
        Row(
            f"multiclass_auroc(preds, target, num_classes=3{there})",
            f"matrics.ranking.roc_auc(target, preds{here})",
            f"matrics.ranking.roc_auc(target, preds{here}, zero_division=0)" if "weighted" not in there else "",
            ABSENT if "weighted" not in there else "",
        )
        for there, here in (
            ("", ""),
            (', average="weighted"', ', average="weighted"'),
            (", average=None", ", average=None"),
        )
    ),
    *(
        Row(
            f"multiclass_average_precision(preds, target, num_classes=3{there})",
            f"matrics.ranking.average_precision(target, preds{here})",
        )
        for there, here in (
            ("", ""),
            (', average="weighted"', ', average="weighted"'),
            (", average=None", ", average=None"),
        )
    ),
    Row(
        'multiclass_accuracy(preds, target, num_classes=3, top_k=2, average="micro")',
        "matrics.ranking.top_k_accuracy(target, preds, k=2)",
    ),
    Row(
        "multiclass_accuracy(preds, target, num_classes=3, top_k=2)",
        "matrics.ranking.top_k_recall(target, preds, k=2)",
    ),
    Row("multiclass_recall(preds, target, num_classes=3, top_k=2)", "matrics.ranking.top_k_recall(target, preds, k=2)"),
    *(
        Row(
            f"multiclass_calibration_error(preds, target, num_classes=3{there})",
            f"matrics.probabilities.expected_calibration_error(target, preds{here})",
        )
        for there, here in (("", ""), (', n_bins=5, norm="l2"', ', num_bins=5, norm="l2"'))
    ),
    Row("multiclass_roc(preds, target, num_classes=3)", "matrics.ranking.roc_curve(target, preds)", "", LISTS),
    Row(
        "multiclass_precision_recall_curve(preds, target, num_classes=3)",
        "matrics.ranking.precision_recall_curve(target, preds)",
        "",
        LISTS,
    ),
    *(
        Row(
            f"multiclass_{there}(preds, target, num_classes=3, {limit}=0.6)[0]",
            f"matrics.ranking.{here}(target, preds, 0.6, average=None)",
            f"matrics.ranking.{here}(target, preds, 0.6, average=None, zero_division=0)",
            ABSENT,
        )
        for there, limit, here in (
            ("recall_at_fixed_precision", "min_precision", "recall_at_precision"),
            ("precision_at_fixed_recall", "min_recall", "precision_at_recall"),
        )
    ),
    *(
        Row(
            f"multiclass_{there}(preds, target, num_classes=3, {limit}=0.6)[0]",
            f'matrics.ranking.best_threshold(target, preds, "{best}", subject_to="{other} >= 0.6").value',
            f'matrics.ranking.best_threshold(target, preds, "{best}", subject_to="{other} >= 0.6").value.nan_to_num()',
            UNREACHED,
        )
        for there, limit, best, other in (
            ("sensitivity_at_specificity", "min_specificity", "recall", "specificity"),
            ("specificity_at_sensitivity", "min_sensitivity", "specificity", "recall"),
        )
    ),
]

TASK = 'task="multiclass", num_classes=3'
BINARY_TASK = 'task="binary"'
WRAPPERS = [
    Row(
        f"auroc(preds, target, {TASK})",
        "matrics.ranking.roc_auc(target, preds)",
        "matrics.ranking.roc_auc(target, preds, zero_division=0)",
        ABSENT,
    ),
    Row(f"average_precision(preds, target, {TASK})", "matrics.ranking.average_precision(target, preds)"),
    Row(f"calibration_error(preds, target, {TASK})", "matrics.probabilities.expected_calibration_error(target, preds)"),
    Row(f"roc(preds, target, {TASK})", "matrics.ranking.roc_curve(target, preds)", "", LISTS),
    Row(
        f"precision_recall_curve(preds, target, {TASK})",
        "matrics.ranking.precision_recall_curve(target, preds)",
        "",
        LISTS,
    ),
    *(
        Row(
            f"{there}(preds, target, {BINARY_TASK}, {limit}=0.6)[0]",
            f"matrics.ranking.{here}(target, preds, 0.6)",
            f"matrics.ranking.{here}(target, preds, 0.6, zero_division=0)",
            ONE_CLASS,
            kind="scores",
        )
        for there, limit, here in (
            ("recall_at_fixed_precision", "min_precision", "recall_at_precision"),
            ("precision_at_fixed_recall", "min_recall", "precision_at_recall"),
        )
    ),
    *(
        Row(
            f"{there}(preds, target, {BINARY_TASK}, {limit}=0.6)[0]",
            f'matrics.ranking.best_threshold(target, preds, "{best}", subject_to="{other} >= 0.6").value',
            "",
            UNREACHED,
            kind="scores",
        )
        for there, limit, best, other in (
            ("sensitivity_at_specificity", "min_specificity", "recall", "specificity"),
            ("specificity_at_sensitivity", "min_sensitivity", "specificity", "recall"),
        )
    ),
]

TOPICS = [
    Topic("Scores of two classes: thresholds and logits", "scores", THRESHOLDS),
    Topic("Scores of two classes: curves, areas, calibration", "scores", BINARY),
    Topic("Scores of several classes", "class scores", CLASSES),
    Topic("Functions with task= that take scores", "class scores", WRAPPERS),
]
