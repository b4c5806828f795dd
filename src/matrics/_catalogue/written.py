"""Names of measures in the usual spelling, for reports and pages: "Cohen's kappa" instead of ``cohen_kappa``."""

from __future__ import annotations

import re

__all__ = ["written"]

# Names in capital letters.
ABBREVIATIONS = frozenset(
    ("mcc", "tmcc", "cen", "mcen", "eve", "npv", "ppv", "tpr", "tnr", "fpr", "fnr", "fdr", "nmi", "rci", "iba")
)
# Names with names of people, or with symbols. Other names have spaces in place of underscores.
NAMES = {
    "adjusted_f_score": "adjusted F score",
    "adjusted_rand_index": "adjusted Rand index",
    "auc_of_labels": "AUC of labels",
    "bangdiwala_b": "Bangdiwala's B",
    "bennett_s": "Bennett's S",
    "bray_curtis_dissimilarity": "Bray–Curtis dissimilarity",
    "class_cen": "CEN of a class",
    "cohen_kappa": "Cohen's kappa",
    "cramers_v": "Cramér's V",
    "f1": "F1",
    "fbeta": "F-beta",
    "fowlkes_mallows": "Fowlkes–Mallows index",
    "g_mean": "geometric mean",
    "gini": "Gini coefficient",
    "goodman_kruskal_lambda": "Goodman and Kruskal's lambda",
    "goodman_kruskal_tau": "Goodman and Kruskal's tau",
    "gwet_ac1": "Gwet's AC1",
    "hamming_loss": "Hamming loss",
    "jaccard": "Jaccard index",
    "kendall_tau": "Kendall's tau",
    "krippendorff_alpha": "Krippendorff's alpha",
    "pearson_c": "Pearson's C",
    "scott_pi": "Scott's pi",
    "theil_u": "Theil's U",
    "tschuprows_t": "Tschuprow's T",
    "tversky_index": "Tversky index",
    "yule_q": "Yule's Q",
    "yule_y": "Yule's Y",
}
AVERAGES = {"macro": "mean over classes", "micro": "pooled over classes", "weighted": "mean weighted by class sizes"}


def written(title: str) -> str:
    """The title of a measure in the usual spelling.

    >>> written("mcc"), written("cohen_kappa"), written("balanced_accuracy"), written("recall of my_class")
    ('MCC', "Cohen's kappa", 'balanced accuracy', 'recall of my_class')
    >>> written("f1, macro"), written("fbeta(beta=2), micro")
    ('F1, mean over classes', 'F-beta(beta=2), pooled over classes')
    """
    name = re.split(r"\W", title, maxsplit=1)[0]
    rest = title[len(name) :]
    name = NAMES.get(name) or (name.upper() if name in ABBREVIATIONS else name.replace("_", " "))
    average = re.fullmatch(r"(\([^)]*\))?, (\w+)", rest)
    if average is not None and average[2] in AVERAGES:
        rest = f"{average[1] or ''}, {AVERAGES[average[2]]}"
    return name + rest
