"""Functions of scikit-learn that take labels, with the calls here that give the same numbers."""

from coming.run import Row, Topic
from matrics import get_metric

ZERO = "0/0 is 0 there, NaN here"
ONLY_SEEN = "there classes are those that occur"
LEFT_OUT = "an undefined class counts as 0 there, and is left out here"

MATRICES = [
    Row(
        "confusion_matrix(y_true, y_pred)",
        "matrics.confusion_matrix(y_true, y_pred, num_classes=3)",
        "matrics.confusion_matrix(y_true, y_pred, labels=np.union1d(y_true, y_pred))",
        ONLY_SEEN,
    ),
    Row(
        "confusion_matrix(y_true, y_pred, labels=[2, 1, 0])",
        "matrics.confusion_matrix(y_true, y_pred, labels=[2, 1, 0])",
    ),
    Row(
        "confusion_matrix(y_true, y_pred, labels=[0, 1])",
        "matrics.confusion_matrix(y_true, y_pred, labels=[0, 1])",
        "matrics.confusion_matrix(y_true, y_pred, num_classes=3)[:2, :2]",
        "samples of other labels are left out there; an unknown label is an error here",
    ),
    Row(
        "confusion_matrix(y_true, y_pred, labels=[0, 1, 2], sample_weight=weight)",
        "matrics.confusion_matrix(y_true, y_pred, num_classes=3, sample_weight=weight)",
    ),
    *(
        Row(
            f'confusion_matrix(y_true, y_pred, labels=[0, 1, 2], normalize="{over}")',
            f'matrics.confusion_matrix(y_true, y_pred, num_classes=3, normalize="{over}")',
        )
        for over in ("true", "pred", "all")
    ),
    Row("multilabel_confusion_matrix(y_true, y_pred, labels=[0, 1, 2])", "matrics.transform.one_vs_rest(cm)"),
    Row(
        "pair_confusion_matrix(y_true, y_pred)",
        "matrics.transform.pair_counts(cm)",
        "2 * matrics.transform.pair_counts(cm)",
        "each pair counts twice there, in both orders",
    ),
]

WHOLE = [
    Row("accuracy_score(y_true, y_pred)", "matrics.accuracy(cm)"),
    Row("accuracy_score(y_true, y_pred, normalize=False)", "matrics.accuracy(cm) * cm.sum()"),
    Row(
        "accuracy_score(y_true, y_pred, sample_weight=weight)",
        "matrics.accuracy(matrics.confusion_matrix(y_true, y_pred, num_classes=3, sample_weight=weight))",
    ),
    Row("zero_one_loss(y_true, y_pred)", "matrics.metrics.hamming_loss(cm)"),
    Row("zero_one_loss(y_true, y_pred, normalize=False)", "matrics.metrics.zero_one_loss_count(cm)"),
    Row("hamming_loss(y_true, y_pred)", "matrics.metrics.hamming_loss(cm)"),
    Row("balanced_accuracy_score(y_true, y_pred)", "matrics.balanced_accuracy(cm)"),
    Row(
        "balanced_accuracy_score(y_true, y_pred, adjusted=True)",
        "(3 * matrics.balanced_accuracy(cm) - 1) / (3 - 1)",
        "(cm.any(1).sum() * matrics.balanced_accuracy(cm) - 1) / (cm.any(1).sum() - 1)",
        "there the number of classes is that of true ones",
    ),
    Row(
        "balanced_accuracy_score(y_true, y_pred, adjusted=True)",
        "matrics.metrics.informedness(cm)",
        "",
        "wrong there: of a single true class it is 0/0",
        kind="two classes",
    ),
    Row("cohen_kappa_score(y_true, y_pred)", "matrics.cohen_kappa(cm)"),
    Row("cohen_kappa_score(y_true, y_pred)", "matrics.cohen_kappa(cm)", kind="two classes"),
    *(
        Row(
            f'cohen_kappa_score(y_true, y_pred, weights="{weights}")',
            f'matrics.cohen_kappa(cm, weights="{weights}")',
        )
        for weights in ("linear", "quadratic")
    ),
    Row("matthews_corrcoef(y_true, y_pred)", "matrics.mcc(cm)"),
    Row(
        "matthews_corrcoef(y_true, y_pred)",
        "matrics.mcc(cm)",
        "matrics.mcc(cm, zero_division=0)",
        ZERO,
        kind="two classes",
    ),
]


def _averages(name, measure, option="", *, undefined=()):
    """The rows that precision, recall, F and Jaccard have in common; for which averages a class may be undefined."""
    call, here = f"{name}(y_true, y_pred{option}", f"{get_metric(measure).place}(cm{option}"
    seen = f"{get_metric(measure).place}(cm_seen{option}"
    return [
        Row(
            f"{call})",
            f"{here})",
            f"{here}, zero_division=0)",
            ZERO,
            kind="two classes",
        ),
        Row(f"{call})", f"{here})", "", "no default for more than two classes there"),
        *(
            Row(
                f'{call}, average="{average}")',
                f'{here}, average="{average}")' if average != "macro" else f"{here})",
                f'{seen}, average="{average}", zero_division=0)' if average in undefined else "",
                LEFT_OUT if average in undefined else "",
            )
            for average in ("macro", "weighted", "micro")
        ),
    ]


AVERAGES = [
    *_averages("precision_score", "precision", undefined=("macro", "weighted")),
    *_averages("recall_score", "recall", undefined=("macro",)),
    *_averages("f1_score", "f1"),
    *_averages("fbeta_score", "fbeta", ", beta=2"),
    *_averages("jaccard_score", "jaccard"),
]

OPTIONS = [
    *(
        Row(f'{name}(y_true, y_pred, average="macro", zero_division=np.nan)', f"{get_metric(measure).place}(cm)")
        for name, measure in (("precision_score", "precision"), ("recall_score", "recall"), ("f1_score", "f1"))
    ),
    Row(
        "recall_score(y_true, y_pred, average=None, labels=[0, 1, 2])",
        "matrics.recall(cm, average=None)",
        "matrics.recall(cm, average=None, zero_division=0)",
        ZERO,
    ),
    Row(
        "recall_score(y_true, y_pred, average=None, labels=[0, 1, 2], zero_division=1)",
        "matrics.recall(cm, average=None, zero_division=1)",
    ),
    Row(
        'recall_score(y_true, y_pred, labels=[0, 1], average="macro")',
        'matrics.score(cm, "recall:macro[0,1]")["recall:macro[0,1]"]',
    ),
    Row(
        'recall_score(y_true, y_pred, labels=[0, 1], average="micro")',
        'matrics.score(cm, "recall:micro[0,1]")["recall:micro[0,1]"]',
    ),
    Row(
        "recall_score(y_true, y_pred, pos_label=0)",
        "matrics.recall(cm, positive=0)",
        kind="two classes",
    ),
    Row(
        "recall_score(y_true, y_pred, sample_weight=weight)",
        "matrics.recall(matrics.confusion_matrix(y_true, y_pred, num_classes=2, sample_weight=weight))",
        "matrics.recall(matrics.confusion_matrix(y_true, y_pred, num_classes=2, sample_weight=weight), "
        "zero_division=0)",
        ZERO,
        kind="two classes",
    ),
    Row(
        'precision_recall_fscore_support(y_true, y_pred, average="macro")[:3]',
        'matrics.score(cm, ["precision", "recall", "f1"])',
        'matrics.score(cm_seen, ["precision", "recall", "f1"], zero_division=0)',
        LEFT_OUT,
    ),
    Row(
        "precision_recall_fscore_support(y_true, y_pred, labels=[0, 1, 2])",
        'matrics.score(cm, ["precision:class", "recall:class", "f1:class", "positives:class"])',
        'matrics.score(cm, ["precision:class", "recall:class", "f1:class", "positives:class"], zero_division=0)',
        ZERO,
    ),
    Row(
        'list(classification_report(y_true, y_pred, output_dict=True)["macro avg"].values())[:3]',
        'list(matrics.score(cm, ["precision", "recall", "f1"]).values())',
        'list(matrics.score(cm_seen, ["precision", "recall", "f1"], zero_division=0).values())',
        LEFT_OUT,
    ),
    Row(
        "class_likelihood_ratios(y_true, y_pred)",
        'matrics.score(cm, ["positive_likelihood_ratio", "negative_likelihood_ratio"])',
        "",
        "an error there if 0/0 on both sides",
        kind="two classes",
    ),
]

CLUSTERINGS = [
    Row("adjusted_rand_score(y_true, y_pred)", "matrics.metrics.adjusted_rand_index(cm)"),
    Row("rand_score(y_true, y_pred)", "matrics.accuracy(matrics.transform.pair_counts(cm))"),
    Row(
        "fowlkes_mallows_score(y_true, y_pred)",
        "matrics.metrics.fowlkes_mallows(matrics.transform.pair_counts(cm))",
    ),
    Row("mutual_info_score(y_true, y_pred)", "matrics.metrics.mutual_information(cm)"),
    Row("normalized_mutual_info_score(y_true, y_pred)", "matrics.metrics.nmi(cm)"),
    Row(
        'normalized_mutual_info_score(y_true, y_pred, average_method="min")',
        'matrics.metrics.nmi(cm, normalizer="min")',
    ),
    Row("v_measure_score(y_true, y_pred)", "matrics.metrics.nmi(cm)"),
    Row("homogeneity_score(y_true, y_pred)", "matrics.metrics.theil_u(cm)"),
    Row("completeness_score(y_true, y_pred)", 'matrics.metrics.theil_u(cm, direction="pred_given_true")'),
    Row(
        "homogeneity_completeness_v_measure(y_true, y_pred)",
        'matrics.score(cm, ["theil_u", "theil_u(direction=pred_given_true)", "nmi"])',
    ),
]

TOPICS = [
    Topic("Confusion matrices", "classes", MATRICES),
    Topic("Measures of the whole matrix", "classes", WHOLE),
    Topic("Precision, recall, F and Jaccard", "classes", AVERAGES),
    Topic("Options of these", "classes", OPTIONS),
    Topic("Clusterings with known classes", "classes", CLUSTERINGS),
]
