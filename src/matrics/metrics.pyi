"""The measures, as type checkers and editors see them: each is a Metric that is called with its own options.

Written by ``python tools/stubs.py`` from the records; change those, and run it again. A list, a NumPy array or a data
frame gives a number of NumPy for one matrix and an array for a stack, which only the shape tells apart: as in NumPy's
own annotations, the type is Any. Other arrays give arrays of their own kind.
"""

from collections.abc import Hashable, Mapping, Sequence
from typing import Any, Literal, Self, TypeAlias, overload, type_check_only

from matrics._catalogue.record import Metric
from matrics._engine.evaluation import Invalid
from matrics.typing import ArrayLike, ArrayT, HostArray, MatrixLike

__all__ = [
    "abydos_kendall_tau",
    "accuracy",
    "accuracy_confidence_limit",
    "accuracy_standard_error",
    "adjusted_f_score",
    "adjusted_geometric_mean",
    "adjusted_rand_index",
    "ample",
    "anderberg",
    "andres_marzo_delta",
    "auc_of_labels",
    "auroc_ova",
    "auroc_ova_lower_bound",
    "auroc_ovo",
    "aurpc",
    "aurpc_ova",
    "automatic_manual_difference",
    "balanced_accuracy",
    "bangdiwala_b",
    "baroni_urbani_buser_i",
    "baroni_urbani_buser_ii",
    "batagelj_bren",
    "baulieu_i",
    "baulieu_ii",
    "baulieu_iii",
    "baulieu_iv",
    "baulieu_ix",
    "baulieu_v",
    "baulieu_vi",
    "baulieu_vii",
    "baulieu_viii",
    "baulieu_x",
    "baulieu_xi",
    "baulieu_xii",
    "baulieu_xiii",
    "baulieu_xiv",
    "baulieu_xv",
    "benini_i",
    "benini_ii",
    "bennett_s",
    "braun_blanquet",
    "bray_curtis_dissimilarity",
    "canberra",
    "cen",
    "chi_squared",
    "chi_squared_degrees_of_freedom",
    "class_accuracy",
    "class_cen",
    "class_error",
    "class_error_count",
    "class_mcen",
    "class_random_accuracy",
    "clement",
    "cohen_kappa",
    "conditional_entropy",
    "consonni_todeschini_i",
    "consonni_todeschini_ii",
    "consonni_todeschini_iii",
    "consonni_todeschini_iv",
    "consonni_todeschini_v",
    "cost",
    "cramers_v",
    "csi",
    "dennis",
    "diagnostic_odds_ratio",
    "digby",
    "discriminant_power",
    "dispersion",
    "distance_index",
    "doolittle",
    "eve",
    "eyraud",
    "f1",
    "fager_mcgowan",
    "faith",
    "false_negatives",
    "false_omission_rate",
    "false_positives",
    "fbeta",
    "fdr",
    "fleiss_levin_paik",
    "fnr",
    "forbes_ii",
    "fossum",
    "fowlkes_mallows",
    "fpr",
    "g_mean",
    "gilbert_wells",
    "gini",
    "global_performance_index",
    "goodall",
    "goodman_kruskal_lambda",
    "goodman_kruskal_lambda_r",
    "goodman_kruskal_tau",
    "gt_index",
    "gwet_ac1",
    "hamming_loss",
    "harris_lahey",
    "hawkins_dotson",
    "iba",
    "icsi",
    "imbalance_ratio",
    "information_score",
    "informedness",
    "jaccard",
    "joint_entropy",
    "kappa_confidence_limit",
    "kappa_no_prevalence",
    "kappa_standard_error",
    "kendall_tau",
    "kent_foster_i",
    "kent_foster_ii",
    "kl_divergence",
    "koppen_i",
    "koppen_ii",
    "krippendorff_alpha",
    "kuder_richardson",
    "kuhns_i",
    "kuhns_ii",
    "kuhns_iii",
    "kuhns_iv",
    "kuhns_v",
    "kuhns_vi",
    "kuhns_vii",
    "kulczynski",
    "lift",
    "margin_cross_entropy",
    "markedness",
    "maurpc",
    "maurpc_ova",
    "mcc",
    "mcen",
    "mprecision",
    "mutual_information",
    "nauroc_ova",
    "negative_likelihood_ratio",
    "negatives",
    "net_benefit",
    "nmi",
    "no_information_p_value",
    "no_information_rate",
    "npv",
    "optimization_precision",
    "overlap_coefficient",
    "pearson_c",
    "phi",
    "phi_squared",
    "population",
    "positive_likelihood_ratio",
    "positives",
    "precision",
    "pred_entropy",
    "predicted_negatives",
    "predicted_positives",
    "predicted_prevalence",
    "prevalence",
    "random_accuracy",
    "rci",
    "recall",
    "scott_pi",
    "sensitivity_index",
    "similarity_index",
    "specificity",
    "theil_u",
    "tmcc",
    "true_entropy",
    "true_negatives",
    "true_positives",
    "tschuprows_t",
    "tversky_index",
    "yule_q",
    "yule_y",
    "zero_one_loss_count",
]

_OneVsRest: TypeAlias = Literal["auto", "one_vs_rest", "one-vs-rest"] | None
_Average: TypeAlias = Literal["auto", "macro", "micro", "weighted", "min", "max", "geometric", "binary", "class"] | None

@type_check_only
class _PerClass(Metric):
    @overload  # type: ignore[override]
    def __call__(
        self,
        cm: HostArray,
        *,
        average: _Average = "auto",
        positive: int | None = None,
        class_weights: ArrayLike | Mapping[Any, float] | None = None,
        zero_division: float = ...,
        invalid: Invalid = "warn",
    ) -> Any: ...
    @overload
    def __call__(
        self,
        cm: ArrayT,
        *,
        average: _Average = "auto",
        positive: int | None = None,
        class_weights: ArrayLike | Mapping[Any, float] | None = None,
        zero_division: float = ...,
        invalid: Invalid = "warn",
    ) -> ArrayT: ...
    def using(  # type: ignore[override]
        self,
        *,
        average: _Average = ...,
        positive: Hashable = ...,
        class_weights: ArrayLike | Mapping[Any, float] | None = ...,
    ) -> Self: ...

@type_check_only
class _Fbeta(Metric):
    @overload  # type: ignore[override]
    def __call__(
        self,
        cm: HostArray,
        *,
        average: _Average = "auto",
        positive: int | None = None,
        class_weights: ArrayLike | Mapping[Any, float] | None = None,
        beta: float = 1.0,
        zero_division: float = ...,
        invalid: Invalid = "warn",
    ) -> Any: ...
    @overload
    def __call__(
        self,
        cm: ArrayT,
        *,
        average: _Average = "auto",
        positive: int | None = None,
        class_weights: ArrayLike | Mapping[Any, float] | None = None,
        beta: float = 1.0,
        zero_division: float = ...,
        invalid: Invalid = "warn",
    ) -> ArrayT: ...
    def using(  # type: ignore[override]
        self,
        *,
        average: _Average = ...,
        positive: Hashable = ...,
        class_weights: ArrayLike | Mapping[Any, float] | None = ...,
        beta: float = ...,
    ) -> Self: ...

@type_check_only
class _NetBenefit(Metric):
    @overload  # type: ignore[override]
    def __call__(
        self,
        cm: HostArray,
        *,
        average: _Average = "auto",
        positive: int | None = None,
        class_weights: ArrayLike | Mapping[Any, float] | None = None,
        weight: float,
        zero_division: float = ...,
        invalid: Invalid = "warn",
    ) -> Any: ...
    @overload
    def __call__(
        self,
        cm: ArrayT,
        *,
        average: _Average = "auto",
        positive: int | None = None,
        class_weights: ArrayLike | Mapping[Any, float] | None = None,
        weight: float,
        zero_division: float = ...,
        invalid: Invalid = "warn",
    ) -> ArrayT: ...
    def using(  # type: ignore[override]
        self,
        *,
        average: _Average = ...,
        positive: Hashable = ...,
        class_weights: ArrayLike | Mapping[Any, float] | None = ...,
        weight: float = ...,
    ) -> Self: ...

@type_check_only
class _DiscriminantPower(Metric):
    @overload  # type: ignore[override]
    def __call__(
        self,
        cm: HostArray,
        *,
        average: _Average = "auto",
        positive: int | None = None,
        class_weights: ArrayLike | Mapping[Any, float] | None = None,
        base: float | Literal["e"] = ...,
        zero_division: float = ...,
        invalid: Invalid = "warn",
    ) -> Any: ...
    @overload
    def __call__(
        self,
        cm: ArrayT,
        *,
        average: _Average = "auto",
        positive: int | None = None,
        class_weights: ArrayLike | Mapping[Any, float] | None = None,
        base: float | Literal["e"] = ...,
        zero_division: float = ...,
        invalid: Invalid = "warn",
    ) -> ArrayT: ...
    def using(  # type: ignore[override]
        self,
        *,
        average: _Average = ...,
        positive: Hashable = ...,
        class_weights: ArrayLike | Mapping[Any, float] | None = ...,
        base: float | Literal["e"] = ...,
    ) -> Self: ...

@type_check_only
class _Overall(Metric):
    @overload  # type: ignore[override]
    def __call__(
        self,
        cm: HostArray,
        *,
        average: _OneVsRest = ...,
        zero_division: float = ...,
        invalid: Invalid = "warn",
    ) -> Any: ...
    @overload
    def __call__(
        self,
        cm: ArrayT,
        *,
        average: _OneVsRest = ...,
        zero_division: float = ...,
        invalid: Invalid = "warn",
    ) -> ArrayT: ...
    def using(  # type: ignore[override]
        self,
        *,
        average: _OneVsRest = ...,
    ) -> Self: ...

@type_check_only
class _Iba(Metric):
    @overload  # type: ignore[override]
    def __call__(
        self,
        cm: HostArray,
        *,
        average: _Average = "auto",
        positive: int | None = None,
        class_weights: ArrayLike | Mapping[Any, float] | None = None,
        alpha: float = 1.0,
        zero_division: float = ...,
        invalid: Invalid = "warn",
    ) -> Any: ...
    @overload
    def __call__(
        self,
        cm: ArrayT,
        *,
        average: _Average = "auto",
        positive: int | None = None,
        class_weights: ArrayLike | Mapping[Any, float] | None = None,
        alpha: float = 1.0,
        zero_division: float = ...,
        invalid: Invalid = "warn",
    ) -> ArrayT: ...
    def using(  # type: ignore[override]
        self,
        *,
        average: _Average = ...,
        positive: Hashable = ...,
        class_weights: ArrayLike | Mapping[Any, float] | None = ...,
        alpha: float = ...,
    ) -> Self: ...

@type_check_only
class _ClassRandomAccuracy(Metric):
    @overload  # type: ignore[override]
    def __call__(
        self,
        cm: HostArray,
        *,
        average: _Average = "auto",
        positive: int | None = None,
        class_weights: ArrayLike | Mapping[Any, float] | None = None,
        proportions: Literal["separate", "pooled", "true"] = "separate",
        zero_division: float = ...,
        invalid: Invalid = "warn",
    ) -> Any: ...
    @overload
    def __call__(
        self,
        cm: ArrayT,
        *,
        average: _Average = "auto",
        positive: int | None = None,
        class_weights: ArrayLike | Mapping[Any, float] | None = None,
        proportions: Literal["separate", "pooled", "true"] = "separate",
        zero_division: float = ...,
        invalid: Invalid = "warn",
    ) -> ArrayT: ...
    def using(  # type: ignore[override]
        self,
        *,
        average: _Average = ...,
        positive: Hashable = ...,
        class_weights: ArrayLike | Mapping[Any, float] | None = ...,
        proportions: Literal["separate", "pooled", "true"] = ...,
    ) -> Self: ...

@type_check_only
class _CohenKappa(Metric):
    @overload  # type: ignore[override]
    def __call__(
        self,
        cm: HostArray,
        *,
        average: _OneVsRest = ...,
        weights: Literal["none", "linear", "quadratic"] | MatrixLike | None = "none",
        costs: Literal["none"] | MatrixLike | None = "none",
        zero_division: float = ...,
        invalid: Invalid = "warn",
    ) -> Any: ...
    @overload
    def __call__(
        self,
        cm: ArrayT,
        *,
        average: _OneVsRest = ...,
        weights: Literal["none", "linear", "quadratic"] | MatrixLike | None = "none",
        costs: Literal["none"] | MatrixLike | None = "none",
        zero_division: float = ...,
        invalid: Invalid = "warn",
    ) -> ArrayT: ...
    def using(  # type: ignore[override]
        self,
        *,
        average: _OneVsRest = ...,
        weights: Literal["none", "linear", "quadratic"] | MatrixLike | None = ...,
        costs: Literal["none"] | MatrixLike | None = ...,
    ) -> Self: ...

@type_check_only
class _RandomAccuracy(Metric):
    @overload  # type: ignore[override]
    def __call__(
        self,
        cm: HostArray,
        *,
        average: _OneVsRest = ...,
        proportions: Literal["separate", "pooled", "true"] = "separate",
        zero_division: float = ...,
        invalid: Invalid = "warn",
    ) -> Any: ...
    @overload
    def __call__(
        self,
        cm: ArrayT,
        *,
        average: _OneVsRest = ...,
        proportions: Literal["separate", "pooled", "true"] = "separate",
        zero_division: float = ...,
        invalid: Invalid = "warn",
    ) -> ArrayT: ...
    def using(  # type: ignore[override]
        self,
        *,
        average: _OneVsRest = ...,
        proportions: Literal["separate", "pooled", "true"] = ...,
    ) -> Self: ...

@type_check_only
class _ScottPi(Metric):
    @overload  # type: ignore[override]
    def __call__(
        self,
        cm: HostArray,
        *,
        average: _OneVsRest = ...,
        proportions: Literal["pooled", "true"] = "pooled",
        zero_division: float = ...,
        invalid: Invalid = "warn",
    ) -> Any: ...
    @overload
    def __call__(
        self,
        cm: ArrayT,
        *,
        average: _OneVsRest = ...,
        proportions: Literal["pooled", "true"] = "pooled",
        zero_division: float = ...,
        invalid: Invalid = "warn",
    ) -> ArrayT: ...
    def using(  # type: ignore[override]
        self,
        *,
        average: _OneVsRest = ...,
        proportions: Literal["pooled", "true"] = ...,
    ) -> Self: ...

@type_check_only
class _CramersV(Metric):
    @overload  # type: ignore[override]
    def __call__(
        self,
        cm: HostArray,
        *,
        average: _OneVsRest = ...,
        effective: bool = False,
        zero_division: float = ...,
        invalid: Invalid = "warn",
    ) -> Any: ...
    @overload
    def __call__(
        self,
        cm: ArrayT,
        *,
        average: _OneVsRest = ...,
        effective: bool = False,
        zero_division: float = ...,
        invalid: Invalid = "warn",
    ) -> ArrayT: ...
    def using(  # type: ignore[override]
        self,
        *,
        average: _OneVsRest = ...,
        effective: bool = ...,
    ) -> Self: ...

@type_check_only
class _GoodmanKruskalLambda(Metric):
    @overload  # type: ignore[override]
    def __call__(
        self,
        cm: HostArray,
        *,
        average: _OneVsRest = ...,
        direction: Literal["true_given_pred", "pred_given_true", "symmetric"] = "true_given_pred",
        zero_division: float = ...,
        invalid: Invalid = "warn",
    ) -> Any: ...
    @overload
    def __call__(
        self,
        cm: ArrayT,
        *,
        average: _OneVsRest = ...,
        direction: Literal["true_given_pred", "pred_given_true", "symmetric"] = "true_given_pred",
        zero_division: float = ...,
        invalid: Invalid = "warn",
    ) -> ArrayT: ...
    def using(  # type: ignore[override]
        self,
        *,
        average: _OneVsRest = ...,
        direction: Literal["true_given_pred", "pred_given_true", "symmetric"] = ...,
    ) -> Self: ...

@type_check_only
class _ConditionalEntropy(Metric):
    @overload  # type: ignore[override]
    def __call__(
        self,
        cm: HostArray,
        *,
        average: _OneVsRest = ...,
        direction: Literal["pred_given_true", "true_given_pred"] = "pred_given_true",
        base: float | Literal["e"] = ...,
        zero_division: float = ...,
        invalid: Invalid = "warn",
    ) -> Any: ...
    @overload
    def __call__(
        self,
        cm: ArrayT,
        *,
        average: _OneVsRest = ...,
        direction: Literal["pred_given_true", "true_given_pred"] = "pred_given_true",
        base: float | Literal["e"] = ...,
        zero_division: float = ...,
        invalid: Invalid = "warn",
    ) -> ArrayT: ...
    def using(  # type: ignore[override]
        self,
        *,
        average: _OneVsRest = ...,
        direction: Literal["pred_given_true", "true_given_pred"] = ...,
        base: float | Literal["e"] = ...,
    ) -> Self: ...

@type_check_only
class _JointEntropy(Metric):
    @overload  # type: ignore[override]
    def __call__(
        self,
        cm: HostArray,
        *,
        average: _OneVsRest = ...,
        base: float | Literal["e"] = ...,
        zero_division: float = ...,
        invalid: Invalid = "warn",
    ) -> Any: ...
    @overload
    def __call__(
        self,
        cm: ArrayT,
        *,
        average: _OneVsRest = ...,
        base: float | Literal["e"] = ...,
        zero_division: float = ...,
        invalid: Invalid = "warn",
    ) -> ArrayT: ...
    def using(  # type: ignore[override]
        self,
        *,
        average: _OneVsRest = ...,
        base: float | Literal["e"] = ...,
    ) -> Self: ...

@type_check_only
class _Nmi(Metric):
    @overload  # type: ignore[override]
    def __call__(
        self,
        cm: HostArray,
        *,
        average: _OneVsRest = ...,
        normalizer: Literal["arithmetic", "joint", "geometric", "min", "max"] = "arithmetic",
        zero_division: float = ...,
        invalid: Invalid = "warn",
    ) -> Any: ...
    @overload
    def __call__(
        self,
        cm: ArrayT,
        *,
        average: _OneVsRest = ...,
        normalizer: Literal["arithmetic", "joint", "geometric", "min", "max"] = "arithmetic",
        zero_division: float = ...,
        invalid: Invalid = "warn",
    ) -> ArrayT: ...
    def using(  # type: ignore[override]
        self,
        *,
        average: _OneVsRest = ...,
        normalizer: Literal["arithmetic", "joint", "geometric", "min", "max"] = ...,
    ) -> Self: ...

@type_check_only
class _Eve(Metric):
    @overload  # type: ignore[override]
    def __call__(
        self,
        cm: HostArray,
        *,
        average: _OneVsRest = ...,
        empty: Literal["nan", "repair", "zero"] = "nan",
        zero_division: float = ...,
        invalid: Invalid = "warn",
    ) -> Any: ...
    @overload
    def __call__(
        self,
        cm: ArrayT,
        *,
        average: _OneVsRest = ...,
        empty: Literal["nan", "repair", "zero"] = "nan",
        zero_division: float = ...,
        invalid: Invalid = "warn",
    ) -> ArrayT: ...
    def using(  # type: ignore[override]
        self,
        *,
        average: _OneVsRest = ...,
        empty: Literal["nan", "repair", "zero"] = ...,
    ) -> Self: ...

@type_check_only
class _AccuracyConfidenceLimit(Metric):
    @overload  # type: ignore[override]
    def __call__(
        self,
        cm: HostArray,
        *,
        average: _OneVsRest = ...,
        bound: Literal["lower", "upper"] = "lower",
        method: Literal["wilson", "wald", "agresti_coull"] = "wilson",
        confidence: float = 0.95,
        zero_division: float = ...,
        invalid: Invalid = "warn",
    ) -> Any: ...
    @overload
    def __call__(
        self,
        cm: ArrayT,
        *,
        average: _OneVsRest = ...,
        bound: Literal["lower", "upper"] = "lower",
        method: Literal["wilson", "wald", "agresti_coull"] = "wilson",
        confidence: float = 0.95,
        zero_division: float = ...,
        invalid: Invalid = "warn",
    ) -> ArrayT: ...
    def using(  # type: ignore[override]
        self,
        *,
        average: _OneVsRest = ...,
        bound: Literal["lower", "upper"] = ...,
        method: Literal["wilson", "wald", "agresti_coull"] = ...,
        confidence: float = ...,
    ) -> Self: ...

@type_check_only
class _KappaConfidenceLimit(Metric):
    @overload  # type: ignore[override]
    def __call__(
        self,
        cm: HostArray,
        *,
        average: _OneVsRest = ...,
        bound: Literal["lower", "upper"] = "lower",
        method: Literal["fleiss", "cohen"] = "fleiss",
        confidence: float = 0.95,
        zero_division: float = ...,
        invalid: Invalid = "warn",
    ) -> Any: ...
    @overload
    def __call__(
        self,
        cm: ArrayT,
        *,
        average: _OneVsRest = ...,
        bound: Literal["lower", "upper"] = "lower",
        method: Literal["fleiss", "cohen"] = "fleiss",
        confidence: float = 0.95,
        zero_division: float = ...,
        invalid: Invalid = "warn",
    ) -> ArrayT: ...
    def using(  # type: ignore[override]
        self,
        *,
        average: _OneVsRest = ...,
        bound: Literal["lower", "upper"] = ...,
        method: Literal["fleiss", "cohen"] = ...,
        confidence: float = ...,
    ) -> Self: ...

@type_check_only
class _KappaStandardError(Metric):
    @overload  # type: ignore[override]
    def __call__(
        self,
        cm: HostArray,
        *,
        average: _OneVsRest = ...,
        method: Literal["fleiss", "cohen"] = "fleiss",
        zero_division: float = ...,
        invalid: Invalid = "warn",
    ) -> Any: ...
    @overload
    def __call__(
        self,
        cm: ArrayT,
        *,
        average: _OneVsRest = ...,
        method: Literal["fleiss", "cohen"] = "fleiss",
        zero_division: float = ...,
        invalid: Invalid = "warn",
    ) -> ArrayT: ...
    def using(  # type: ignore[override]
        self,
        *,
        average: _OneVsRest = ...,
        method: Literal["fleiss", "cohen"] = ...,
    ) -> Self: ...

@type_check_only
class _TverskyIndex(Metric):
    @overload  # type: ignore[override]
    def __call__(
        self,
        cm: HostArray,
        *,
        average: _Average = "auto",
        positive: int | None = None,
        class_weights: ArrayLike | Mapping[Any, float] | None = None,
        alpha: float = 0.5,
        beta: float = 0.5,
        zero_division: float = ...,
        invalid: Invalid = "warn",
    ) -> Any: ...
    @overload
    def __call__(
        self,
        cm: ArrayT,
        *,
        average: _Average = "auto",
        positive: int | None = None,
        class_weights: ArrayLike | Mapping[Any, float] | None = None,
        alpha: float = 0.5,
        beta: float = 0.5,
        zero_division: float = ...,
        invalid: Invalid = "warn",
    ) -> ArrayT: ...
    def using(  # type: ignore[override]
        self,
        *,
        average: _Average = ...,
        positive: Hashable = ...,
        class_weights: ArrayLike | Mapping[Any, float] | None = ...,
        alpha: float = ...,
        beta: float = ...,
    ) -> Self: ...

def cost(costs: Any, *, class_names: Sequence[str] | None = None) -> _Overall: ...

auc_of_labels: _PerClass
"""Area under the ROC curve of a single operating point: the mean of recall and specificity."""
distance_index: _PerClass
"""Distance of the operating point from the perfect corner of the ROC plane."""
f1: _PerClass
"""Harmonic mean of precision and recall, computed from the counts."""
false_omission_rate: _PerClass
"""Fraction of the samples not predicted as the class that belong to it."""
fbeta: _Fbeta
"""Weighted harmonic mean of precision and recall; recall counts beta times as much."""
fdr: _PerClass
"""Fraction of a class's predictions that are wrong: false discovery rate."""
fnr: _PerClass
"""Fraction of a class's samples that are predicted as another: false negative rate."""
fpr: _PerClass
"""Fraction of the other classes' samples that are predicted as this class: false positive rate."""
gini: _PerClass
"""Gini index of a single operating point: twice the area under its ROC curve minus 1."""
informedness: _PerClass
"""Recall plus specificity minus 1: how much the prediction depends on the true class."""
markedness: _PerClass
"""Precision plus negative predictive value minus 1: how much the true class depends on the prediction."""
net_benefit: _NetBenefit
"""True positives minus weighted false positives, over all samples; the weight is the odds of the threshold."""
npv: _PerClass
"""Fraction of the samples not predicted as the class that are of other classes: negative predictive value."""
precision: _PerClass
"""Fraction of a class's predictions that are correct."""
recall: _PerClass
"""Fraction of a class's samples that are predicted as it."""
similarity_index: _PerClass
"""1 minus the distance of the operating point from the perfect corner of the ROC plane, scaled to [0, 1]."""
specificity: _PerClass
"""Fraction of the other classes' samples that are not predicted as this class."""
automatic_manual_difference: _PerClass
"""Samples predicted as a class minus samples of the class."""
class_accuracy: _PerClass
"""Fraction of the samples that are true positives or true negatives of a class."""
class_error: _PerClass
"""Fraction of the samples that are false negatives or false positives of a class."""
class_error_count: _PerClass
"""Errors that involve a class: false negatives plus false positives."""
false_negatives: _PerClass
"""Samples of a class that are predicted as another."""
false_positives: _PerClass
"""Samples of other classes that are predicted as this class."""
negatives: _PerClass
"""Samples of the other classes."""
population: _PerClass
"""Number of all samples, the same for every class."""
positives: _PerClass
"""Samples of a class: its row sum."""
predicted_negatives: _PerClass
"""Samples predicted as another class."""
predicted_positives: _PerClass
"""Samples predicted as a class: its column sum."""
predicted_prevalence: _PerClass
"""Fraction of the samples that are predicted as a class."""
prevalence: _PerClass
"""Fraction of the samples that are of a class."""
true_negatives: _PerClass
"""Samples of other classes that are not predicted as this class."""
true_positives: _PerClass
"""Samples of a class that are predicted as it."""
diagnostic_odds_ratio: _PerClass
"""Odds of being predicted as a class among its samples, over those among the other samples."""
discriminant_power: _DiscriminantPower
"""Logarithm of the diagnostic odds ratio, in standard deviations of the logistic distribution."""
information_score: _DiscriminantPower
"""Logarithm of the lift, in nats or to another base: information that a prediction gives about its class."""
lift: _PerClass
"""Precision over prevalence: how much more frequent a class is among its predictions; 1 for random guessing."""
negative_likelihood_ratio: _PerClass
"""False negative rate over specificity: negative likelihood ratio."""
positive_likelihood_ratio: _PerClass
"""Recall over false positive rate: positive likelihood ratio."""
sensitivity_index: _PerClass
"""d': distance of the mean score of a class from that of the others, in standard deviations (normal scores)."""
yule_q: _PerClass
"""Yule's Q: the odds ratio mapped to [-1, 1]."""
yule_y: _PerClass
"""Yule's Y, the coefficient of colligation: Yule's Q of the square roots of the counts."""
auroc_ova: _Overall
"""Area under the ROC curve of a single operating point, averaged over the classes, each against the rest."""
auroc_ova_lower_bound: _Overall
"""The smallest AUROC-OVA for these class sizes: each sample is predicted as the largest of the other classes."""
auroc_ovo: _Overall
"""Area under the ROC curve of a single operating point, averaged over pairs of classes."""
aurpc_ova: _Overall
"""Area under the recall-precision curve of a single operating point, averaged over the classes."""
g_mean: _Overall
"""Geometric mean of the recalls of all classes; 0 if a class has no true positive."""
imbalance_ratio: _Overall
"""Size of the largest true class over that of the smallest."""
maurpc_ova: _Overall
"""AURPC-OVA as it would be if all classes had the same size."""
nauroc_ova: _Overall
"""AUROC-OVA, scaled to [0, 1] for any number of classes."""
adjusted_f_score: _PerClass
"""Geometric mean of the class's F2 and the F½ of the rest, so that true negatives count as well."""
adjusted_geometric_mean: _PerClass
"""Mean of √(recall × specificity) and specificity, weighted by 1 and by the fraction of the rest; 0 if tp = 0."""
aurpc: _PerClass
"""Area under the recall-precision curve of a single operating point."""
iba: _Iba
"""Index of balanced accuracy: recall times specificity, weighted by 1 + alpha (recall - specificity)."""
maurpc: _PerClass
"""Mean of recall and modified precision; it does not depend on the prevalence of the class."""
mprecision: _PerClass
"""Precision that would result if the class had as many samples as all others together."""
optimization_precision: _PerClass
"""Accuracy of a class minus the relative difference of its recall and specificity."""
accuracy: _Overall
"""Fraction of samples that are predicted as their true class."""
adjusted_rand_index: _Overall
"""Agreement of two clusterings beyond chance: κ of the pairs of samples (:func:`pair_counts`)."""
balanced_accuracy: _Overall
"""Mean recall of the classes that have samples."""
bangdiwala_b: _Overall
"""Area of agreement in Bangdiwala's agreement chart: sum of tp² over sum of row sum times column sum."""
global_performance_index: _Overall
"""Mean number of samples per class: all samples over the number of classes."""
hamming_loss: _Overall
"""Fraction of samples that are predicted as another class."""
zero_one_loss_count: _Overall
"""Number of samples that are predicted as another class: PyCM's "Zero-one Loss"."""
bennett_s: _Overall
"""Agreement beyond that of guessing all classes equally often: Bennett's S, Maxwell's random error."""
class_random_accuracy: _ClassRandomAccuracy
"""Contribution of each class to the accuracy expected by chance (:func:`random_accuracy`)."""
cohen_kappa: _CohenKappa
"""Agreement beyond that expected by chance from the class sizes."""
gwet_ac1: _Overall
"""Agreement beyond chance, where only samples that are hard to classify count as guessed: Gwet's AC1."""
kappa_no_prevalence: _Overall
"""Twice the accuracy minus 1: the κ of two classes if both were equally frequent."""
krippendorff_alpha: _CohenKappa
"""Scott's π with a small-sample correction: Krippendorff's α for two observers and nominal classes."""
random_accuracy: _RandomAccuracy
"""Accuracy expected by chance from the class sizes: what κ (separate) and π (pooled) correct for."""
scott_pi: _ScottPi
"""Agreement beyond chance, where chance assumes equal class distributions of truth and prediction."""
gt_index: _PerClass
"""Ground-truth index: fraction of a class's samples that are known, if its other samples are guessed."""
mcc: _Overall
"""Matthews correlation coefficient for any number of classes."""
tmcc: _Overall
"""MCC transformed to resemble confusion entropy; 0 without errors."""
chi_squared: _Overall
"""Pearson's χ² statistic of independence; empty classes contribute 0."""
chi_squared_degrees_of_freedom: _Overall
"""Degrees of freedom of χ²; empty classes count as well."""
cramers_v: _CramersV
"""Cramér's V: square root of χ² over its largest possible value."""
goodman_kruskal_lambda: _GoodmanKruskalLambda
"""Goodman and Kruskal's λ: relative reduction of errors in guessing the mode if the other class is known."""
goodman_kruskal_tau: _GoodmanKruskalLambda
"""Goodman and Kruskal's τ: as λ, but classes are guessed in proportion to their sizes instead of by the mode."""
pearson_c: _Overall
"""Pearson's contingency coefficient; between 0 and √((n - 1) / n)."""
phi: _Overall
"""Square root of the mean square contingency, between 0 and √(n - 1); absolute value of MCC for two classes."""
phi_squared: _Overall
"""Mean square contingency; between 0 and n - 1."""
theil_u: _GoodmanKruskalLambda
"""Theil's U: fraction of the entropy of the true class that the predicted class explains (or the reverse)."""
tschuprows_t: _CramersV
"""Tschuprow's T: equal to Cramér's V if there are as many true as predicted classes."""
kendall_tau: _Overall
"""Kendall's rank correlation τ_b of ordered classes, in the order of their numbers."""
cen: _Overall
"""Confusion entropy: how evenly the errors are spread over the cells; 0 without errors."""
class_cen: _PerClass
"""Confusion entropy of a class: how evenly the errors of its row and column are spread; 0 without errors."""
class_mcen: _PerClass
"""Modified confusion entropy of a class, in which its true positives count once, not twice."""
conditional_entropy: _ConditionalEntropy
"""Entropy of the predicted class given the true class (or the reverse), in nats or to another base."""
joint_entropy: _JointEntropy
"""Joint entropy of true and predicted classes (the cells), in nats or to another base."""
kl_divergence: _JointEntropy
"""Kullback-Leibler divergence D(true ‖ pred) of the class distributions, in nats or to another base."""
margin_cross_entropy: _JointEntropy
"""Cross entropy of the predicted relative to the true class distribution, in nats or to another base."""
mcen: _Overall
"""Modified confusion entropy, which stays within [0, 1]."""
mutual_information: _JointEntropy
"""Information that the predicted class gives about the true class, in nats or to another base."""
nmi: _Nmi
"""Mutual information over a mean of the two entropies, over the joint entropy, or over either entropy."""
pred_entropy: _JointEntropy
"""Entropy of the predicted class distribution (column sums), in nats or to another base."""
rci: _Overall
"""Relative classifier information: fraction of the entropy of the true class that the predictions explain."""
true_entropy: _JointEntropy
"""Entropy of the true class distribution (row sums), in nats or to another base."""
eve: _Eve
"""Eigenvalues entropy: normalized entropy of the positive eigenvalues; 1 without errors."""
accuracy_confidence_limit: _AccuracyConfidenceLimit
"""Lower or upper limit of a confidence interval of the accuracy."""
accuracy_standard_error: _Overall
"""Standard error of the accuracy, from the binomial distribution."""
kappa_confidence_limit: _KappaConfidenceLimit
"""Lower or upper limit of a confidence interval of Cohen's κ, clipped to [-1, 1]."""
kappa_standard_error: _KappaStandardError
"""Standard error of Cohen's κ in large samples."""
no_information_p_value: _Overall
"""P-value of the test that the accuracy is above that of always predicting the largest true class."""
no_information_rate: _Overall
"""Accuracy of always predicting the largest true class."""
braun_blanquet: _PerClass
"""The smaller of precision and recall. Its mean over the classes is the class balance accuracy."""
csi: _Overall
"""Mean of the individual classification success indices of the classes (:func:`icsi`)."""
fowlkes_mallows: _PerClass
"""Geometric mean of precision and recall."""
icsi: _PerClass
"""Precision plus recall minus 1: individual classification success index."""
jaccard: _PerClass
"""Intersection over union of the samples of a class and the samples predicted as it."""
kulczynski: _PerClass
"""Arithmetic mean of precision and recall."""
overlap_coefficient: _PerClass
"""The larger of precision and recall."""
tversky_index: _TverskyIndex
"""True positives over these plus weighted errors: Dice for ½ and ½, Jaccard for 1 and 1, recall for 1 and 0."""
ample: _PerClass
"""Absolute difference of precision and false omission rate: the absolute value of the markedness."""
anderberg: _PerClass
"""Errors avoided in guessing truth and prediction by the mode if the other is known, over twice all samples."""
andres_marzo_delta: _PerClass
"""The sum tp + tn minus twice the geometric mean of fp and fn, over all samples."""
baroni_urbani_buser_i: _PerClass
"""True positives plus the geometric mean of tp and tn, over the same sum plus all errors."""
baroni_urbani_buser_ii: _PerClass
"""The first coefficient of Baroni-Urbani and Buser, mapped to [-1, 1]."""
clement: _PerClass
"""Mean of precision and negative predictive value, each weighted by the fraction of predictions of the other kind."""
fager_mcgowan: _PerClass
"""Geometric mean of precision and recall minus a small-sample correction."""
faith: _PerClass
"""Fraction of the samples that are true positives or true negatives, where true negatives count half."""
fleiss_levin_paik: _PerClass
"""F1 of the other classes taken together."""
fossum: _PerClass
"""The square (tp - ½)² over the number of true positives expected by chance."""
goodall: _PerClass
"""Arc sine of the square root of the class accuracy, scaled to [0, 1]; its variance is nearly constant."""
harris_lahey: _PerClass
"""Jaccard indices of the class and of the rest, each weighted by the size of the other."""
hawkins_dotson: _PerClass
"""Mean of the Jaccard indices of the class and of the rest."""
koppen_i: _PerClass
"""1 minus half the errors over the product of the mean sizes of the class and of the rest."""
koppen_ii: _PerClass
"""Mean of a class's row sum and column sum."""
consonni_todeschini_i: _PerClass
"""Logarithm of tp + tn over that of all samples, 1 added to both counts."""
consonni_todeschini_ii: _PerClass
"""1 minus the logarithm of the errors over that of all samples, 1 added to both counts."""
consonni_todeschini_iii: _PerClass
"""Logarithm of the true positives over that of all samples, 1 added to both counts."""
consonni_todeschini_iv: _PerClass
"""Logarithm of the true positives over that of true positives plus errors, 1 added to both counts."""
consonni_todeschini_v: _PerClass
"""Logarithm of tp tn minus that of fp fn, 1 added to both products, over its largest possible value."""
abydos_kendall_tau: _PerClass
"""Kendall's τ in PyCM and abydos: tp + tn minus errors, over the pairs of samples."""
benini_i: _PerClass
"""Benini's attraction: covariance over its value without false negatives, for the same row and column sums."""
benini_ii: _PerClass
"""Covariance over its largest possible value for the class's row and column sums."""
digby: _PerClass
"""The odds ratio to the power ¾, mapped to [-1, 1]: between Yule's Q and Y."""
dispersion: _PerClass
"""Covariance of being of the class and being predicted as it."""
doolittle: _PerClass
"""Product of informedness and markedness: the squared MCC of the class against the rest."""
forbes_ii: _PerClass
"""Covariance over its largest possible value for the class's row and column sums."""
goodman_kruskal_lambda_r: _PerClass
"""Reliability λ: relative reduction of errors against guessing the mode, averaged over truth and prediction."""
kent_foster_i: _PerClass
"""Occurrence agreement beyond chance, among samples that are of the class or predicted as it."""
kent_foster_ii: _PerClass
"""Non-occurrence agreement beyond chance, among samples that are not of the class or not predicted as it."""
kuder_richardson: _PerClass
"""Kuder-Richardson reliability of a test of two questions: the true and the predicted class."""
dennis: _PerClass
"""True positives beyond chance, over the square root of the number expected by chance."""
eyraud: _PerClass
"""Eyraud's coefficient, in the form used by PyCM and abydos."""
gilbert_wells: _PerClass
"""Logarithmic measure of how improbable a class's counts are by chance."""
kuhns_i: _PerClass
"""True positives beyond chance, over half the number of samples."""
kuhns_ii: _PerClass
"""True positives beyond chance, over the larger of the class's row and column sums."""
kuhns_iii: _PerClass
"""True positives beyond chance × (row + column sum), over the product of observed and expected tp + fp + fn."""
kuhns_iv: _PerClass
"""True positives beyond chance, over the smaller of the class's row and column sums."""
kuhns_v: _PerClass
"""Covariance of truth and prediction over the larger of their variances."""
kuhns_vi: _PerClass
"""Covariance of truth and prediction over the smaller of their variances."""
kuhns_vii: _PerClass
"""True positives beyond chance, over the geometric mean of the class's row and column sums."""
batagelj_bren: _PerClass
"""Reciprocal of the odds ratio of a class."""
baulieu_i: _PerClass
"""1 minus the product of precision and recall."""
baulieu_ii: _PerClass
"""Product of precision, recall, specificity and negative predictive value: a similarity."""
baulieu_iii: _PerClass
"""1/2 minus twice the covariance."""
baulieu_iv: _PerClass
"""Errors minus a product of tp and tn terms, over all samples; unbounded below."""
baulieu_ix: _PerClass
"""Errors over all samples, where false negatives count twice."""
baulieu_v: _PerClass
"""Errors over errors plus true positives, with another error in both."""
baulieu_vi: _PerClass
"""Errors over errors plus true positives plus 1."""
baulieu_vii: _PerClass
"""Errors over all samples plus a cubic term in the true positives."""
baulieu_viii: _PerClass
"""Squared difference of the class's prevalence and predicted prevalence."""
baulieu_x: _PerClass
"""Errors over all samples, where the more frequent kind of error counts twice."""
baulieu_xi: _PerClass
"""Errors over errors plus true negatives."""
baulieu_xii: _PerClass
"""Errors over errors plus true positives minus 1."""
baulieu_xiii: _PerClass
"""Errors over errors plus true positives plus a cubic term in the true positives."""
baulieu_xiv: _PerClass
"""Errors over errors plus true positives, where false negatives count twice."""
baulieu_xv: _PerClass
"""Errors over errors plus true positives, where the more frequent kind of error counts twice."""
bray_curtis_dissimilarity: _PerClass
"""Absolute difference of a class's row sum and column sum, over twice the number of samples."""
canberra: _PerClass
"""Errors over row sum plus column sum of the class: 1 minus F1."""
