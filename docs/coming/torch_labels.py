"""Functions of torchmetrics that take labels, with the calls here that give the same numbers."""

from coming.run import Row, Topic
from matrics import get_metric

ZERO = "0/0 is 0 there, NaN here"
LEFT_OUT = "a class that is 0/0 counts as 0 there, and is left out here"
UNSEEN = "a class that is neither true nor predicted is left out there; here its value is 1, and counts"
POOLED = "the average is micro there by default, macro here"
GROUPED = "matrics.confusion_matrix(target, preds, num_classes=2, groups=groups, num_groups=2)"
COUNTS = ("true_positives", "false_positives", "true_negatives", "false_negatives", "positives")
COMPLETE = "matrics.confusion_matrix(target, preds, num_classes=3, ignore_index={})"


def _counts(average):
    return "matrics.score(cm, [" + ", ".join(f'"{name}:{average}"' for name in COUNTS) + "])"


# Theirs, the measure here, an option of both, and why averages differ.
FAMILY = [
    ("precision", "precision", "", {"macro": LEFT_OUT, "weighted": LEFT_OUT, None: ZERO, "binary": ZERO}),
    ("recall", "recall", "", {"macro": LEFT_OUT, None: ZERO, "binary": ZERO}),
    ("specificity", "specificity", "", {"macro": UNSEEN}),
    ("negative_predictive_value", "npv", "", {"macro": UNSEEN}),
    ("f1_score", "f1", "", {None: ZERO, "binary": ZERO}),
    ("fbeta_score", "fbeta", ", beta=2.0", {None: ZERO, "binary": ZERO}),
    ("jaccard_index", "jaccard", "", {None: ZERO, "binary": ZERO}),
]


def _given(average):
    given = {"macro": "", "binary": "", None: ", average=None"}  # the first two are the default of such data
    return given.get(average, f', average="{average}"')


def _here(measure, option, average):
    return f"{get_metric(measure).place}(cm{option}{_given(average)})"


def _theirs(here, average):
    matrix = "cm_seen" if average in {"macro", "weighted"} else "cm"
    return here.replace("cm", matrix, 1).removesuffix(")") + ", zero_division=0)"


def _row(there, here, average, reasons):
    why = reasons.get(average, "")
    return Row(there, here, _theirs(here, average) if why else "", why)


BINARY = [
    Row("binary_confusion_matrix(preds, target)", "matrics.confusion_matrix(target, preds, num_classes=2)"),
    Row("binary_stat_scores(preds, target)", _counts("binary")),
    Row("binary_accuracy(preds, target)", "matrics.accuracy(cm)"),
    Row("binary_hamming_distance(preds, target)", "matrics.metrics.hamming_loss(cm)"),
    *(
        _row(f"binary_{name}(preds, target{option})", _here(measure, option, "binary"), "binary", reasons)
        for name, measure, option, reasons in FAMILY
    ),
    Row(
        "binary_f1_score(preds, target, zero_division=1)",
        "matrics.f1(cm, zero_division=1)",
    ),
    Row(
        "critical_success_index(preds, target, 0.5)",
        "matrics.metrics.jaccard(cm)",
        "matrics.metrics.jaccard(cm, zero_division=0)",
        ZERO,
    ),
    Row(
        "binary_matthews_corrcoef(preds, target)",
        "matrics.mcc(cm)",
        "",
        "wrong there: a tiny number takes the place of 0 if a row or column is empty; the coefficient is 0/0",
    ),
    Row("binary_cohen_kappa(preds, target)", "matrics.cohen_kappa(cm)"),
    Row(
        "binary_groups_stat_rates(preds, target, groups, num_groups=2)",
        f'matrics.transform.normalize({GROUPED}, over="all").reshape(2, 4)[:, [3, 1, 0, 2]]',
    ),
    *(
        Row(
            call,
            f"matrics.fairness.{name}({GROUPED}).ratio",
            f"matrics.fairness.{name}({GROUPED}).ratio.nan_to_num()",
            "0 there if there is nothing to compare, NaN here",
        )
        for name, call in {
            "demographic_parity": "demographic_parity(preds, groups)",
            "equal_opportunity": "equal_opportunity(preds, target, groups)",
        }.items()
    ),
    Row(
        "binary_fairness(preds, target, groups)",
        f"[matrics.fairness.demographic_parity({GROUPED}).ratio, matrics.fairness.equal_opportunity({GROUPED}).ratio]",
        f"[matrics.fairness.demographic_parity({GROUPED}).ratio.nan_to_num(), "
        f"matrics.fairness.equal_opportunity({GROUPED}).ratio.nan_to_num()]",
        "0 there if there is nothing to compare, NaN here",
    ),
]

CLASSES = [
    Row(
        "multiclass_confusion_matrix(preds, target, num_classes=3)",
        "matrics.confusion_matrix(target, preds, num_classes=3)",
    ),
    *(
        Row(
            f'multiclass_confusion_matrix(preds, target, num_classes=3, normalize="{over}")',
            f'matrics.confusion_matrix(target, preds, num_classes=3, normalize="{over}")',
        )
        for over in ("true", "pred", "all")
    ),
    Row("multiclass_stat_scores(preds, target, num_classes=3, average=None).T", _counts("class")),
    Row(
        "multiclass_accuracy(preds, target, num_classes=3)",
        "matrics.accuracy(cm)",
        "matrics.balanced_accuracy(cm_seen, zero_division=0)",
        "the mean recall of the classes there, all samples here",
    ),
    Row('multiclass_accuracy(preds, target, num_classes=3, average="micro")', "matrics.accuracy(cm)"),
    Row('multiclass_accuracy(preds, target, num_classes=3, average="weighted")', "matrics.accuracy(cm)"),
    Row(
        "multiclass_accuracy(preds, target, num_classes=3, average=None)",
        "matrics.recall(cm, average=None)",
        "matrics.recall(cm, average=None, zero_division=0)",
        ZERO,
    ),
    Row(
        "multiclass_hamming_distance(preds, target, num_classes=3)",
        "matrics.metrics.hamming_loss(cm)",
        "matrics.metrics.fnr(cm_seen, zero_division=1)",
        "the mean of the classes' false negative rates there, the share of wrong samples here",
    ),
    *(
        _row(
            f"multiclass_{name}(preds, target, num_classes=3{option}{_given(average)})",
            _here(measure, option, average),
            average,
            reasons,
        )
        for name, measure, option, reasons in FAMILY
        for average in ("macro", "weighted", "micro", None)
    ),
    Row("multiclass_matthews_corrcoef(preds, target, num_classes=3)", "matrics.mcc(cm)"),
    *(
        Row(f"multiclass_cohen_kappa(preds, target, num_classes=3{option})", f"matrics.cohen_kappa(cm{option})")
        for option in ("", ', weights="linear"', ', weights="quadratic"')
    ),
    Row(
        "multiclass_exact_match(preds.reshape(2, 5), target.reshape(2, 5), num_classes=3)",
        "(target.reshape(2, 5) == preds.reshape(2, 5)).all(-1).float().mean()",
    ),
    Row(
        'multiclass_f1_score(preds.reshape(2, 5), target.reshape(2, 5), num_classes=3, multidim_average="samplewise")',
        "matrics.f1(matrics.confusion_matrix(target.reshape(2, 5), preds.reshape(2, 5), num_classes=3))",
    ),
]

TASK = 'preds, target, task="multiclass", num_classes=3'
WRAPPERS = [
    Row(f"accuracy({TASK})", "matrics.accuracy(cm)"),
    Row(f"hamming_distance({TASK})", "matrics.metrics.hamming_loss(cm)"),
    *(
        Row(
            f"{name}({TASK}{option})",
            _here(measure, option, "macro"),
            *(() if name == "jaccard_index" else (_here(measure, option, "micro"), POOLED)),
        )
        for name, measure, option, _ in FAMILY
    ),
    Row(f"stat_scores({TASK})", _counts("micro")),
    Row(f"confusion_matrix({TASK})", "matrics.confusion_matrix(target, preds, num_classes=3)"),
    Row(f"matthews_corrcoef({TASK})", "matrics.mcc(cm)"),
    Row(f"cohen_kappa({TASK})", "matrics.cohen_kappa(cm)"),
    Row(
        'exact_match(preds.reshape(2, 5), target.reshape(2, 5), task="multiclass", num_classes=3)',
        "(target.reshape(2, 5) == preds.reshape(2, 5)).all(-1).float().mean()",
    ),
]

NOMINAL = [
    Row(
        "cramers_v(preds, target)",
        "matrics.metrics.cramers_v(cm, effective=True)",
        "",
        "corrected for bias there, unless bias_correction=False",
    ),
    Row("cramers_v(preds, target, bias_correction=False)", "matrics.metrics.cramers_v(cm, effective=True)"),
    Row("tschuprows_t(preds, target, bias_correction=False)", "matrics.metrics.tschuprows_t(cm, effective=True)"),
    Row("pearsons_contingency_coefficient(preds, target)", "matrics.metrics.pearson_c(cm)"),
    Row("theils_u(preds, target)", 'matrics.metrics.theil_u(cm, direction="pred_given_true")'),
]

IGNORED = [
    Row(
        "multiclass_confusion_matrix(preds, target, num_classes=3, ignore_index=-1)",
        COMPLETE.format(-1),
    ),
    Row(
        "multiclass_f1_score(preds, target, num_classes=3, ignore_index=-1)",
        f"matrics.f1({COMPLETE.format(-1)})",
    ),
    Row(
        "multiclass_recall(preds, target, num_classes=3, ignore_index=-1)",
        f"matrics.recall({COMPLETE.format(-1)})",
        f"matrics.recall({COMPLETE.format(-1)}, zero_division=0)",
        LEFT_OUT,
    ),
    Row(
        "multiclass_recall(preds, target, num_classes=3, ignore_index=0)",
        f"matrics.recall({COMPLETE.format(0)})",
        f"matrics.recall(m := {COMPLETE.format(0)}, average=None, zero_division=0)[m.sum(0) + m.sum(1) > 0].mean()",
        "the ignored class is 0/0: it counts as 0 there, and is left out here",
        kind="classes",
    ),
    Row(
        "multiclass_jaccard_index(preds, target, num_classes=3, ignore_index=0)",
        f"matrics.metrics.jaccard({COMPLETE.format(0)})",
        f"matrics.metrics.jaccard({COMPLETE.format(0)}, average=None)[1:].nanmean()",
        "there the ignored class is left out of the mean; here it counts if it is predicted",
        kind="classes",
    ),
    Row(
        "multiclass_matthews_corrcoef(preds, target, num_classes=3, ignore_index=0)",
        f"matrics.mcc({COMPLETE.format(0)})",
        f"matrics.mcc({COMPLETE.format(0)}, zero_division=0)",
        ZERO,
        kind="classes",
    ),
]

TOPICS = [
    Topic("Labels of two classes", "two classes", BINARY),
    Topic("Labels of several classes", "classes", CLASSES),
    Topic("Functions with task=", "classes", WRAPPERS),
    Topic("Samples that are ignored", "some ignored", IGNORED),
    Topic("Association", "classes", NOMINAL),
]
