"""What other libraries have and this one does not, and what to use instead."""

REGRESSION = "regression is not classification: keep scikit-learn's"

ABSENT = {
    "sklearn": {
        "ConfusionMatrixDisplay": "`matrics.plot.confusion_matrix(cm)`, or of labels `(y_true=..., y_pred=...)`",
        "RocCurveDisplay": '`matrics.plot.curve(y_true, y_score, kind="roc")`',
        "PrecisionRecallDisplay": '`matrics.plot.curve(y_true, y_score, kind="precision_recall")`',
        "DetCurveDisplay": '`matrics.plot.curve` of `["fpr", "fnr"]`',
        "sklearn.calibration.CalibrationDisplay": "`matrics.plot.calibration(y_true, y_score)`",
        "dcg_score ndcg_score": "measures of ranked lists are not here: keep scikit-learn's",
        "coverage_error label_ranking_average_precision_score label_ranking_loss": (
            "rankings of the labels of a sample are not here; {func}`matrics.multilabel.score` with thresholds, or "
            "{func}`matrics.ranking.average_precision` of each label, as above"
        ),
        "hinge_loss": "{func}`matrics.probabilities.log_loss` of logits, or any soft measure ({doc}`losses`)",
        "adjusted_mutual_info_score": "{func}`matrics.metrics.adjusted_rand_index`, also corrected for chance",
        "consensus_score silhouette_score silhouette_samples calinski_harabasz_score davies_bouldin_score cluster": (
            "clusterings without known classes: keep scikit-learn's"
        ),
        "make_scorer get_scorer get_scorer_names check_scoring": (
            '`matrics.sklearn.scorer("mcc")`, with the sign of the measure, and no model chosen for a NaN '
            "({doc}`sklearn`)"
        ),
        "DistanceMetric euclidean_distances nan_euclidean_distances pairwise_distances pairwise_distances_argmin "
        "pairwise_distances_argmin_min pairwise_distances_chunked pairwise_kernels": "distances: keep scikit-learn's",
        "PredictionErrorDisplay d2_absolute_error_score d2_pinball_score d2_tweedie_score explained_variance_score "
        "max_error mean_absolute_error mean_absolute_percentage_error mean_gamma_deviance mean_pinball_loss "
        "mean_poisson_deviance mean_squared_error mean_squared_log_error mean_tweedie_deviance "
        "median_absolute_error r2_score root_mean_squared_error root_mean_squared_log_error": REGRESSION,
    },
    "torchmetrics": {
        "binary_hinge_loss multiclass_hinge_loss hinge_loss": (
            "{func}`matrics.probabilities.log_loss` of logits, or any soft measure ({doc}`losses`)"
        ),
        "binary_logauc multiclass_logauc multilabel_logauc logauc": (
            "{func}`matrics.ranking.partial_roc_auc` (McClish), whose axis is not logarithmic"
        ),
        "multiclass_eer multilabel_eer eer": "as `binary_eer` above, for each class",
        "multilabel_coverage_error multilabel_ranking_average_precision multilabel_ranking_loss": (
            "rankings of a sample's labels are not here; {func}`matrics.ranking.average_precision` of each label"
        ),
        "cramers_v_matrix pearsons_contingency_coefficient_matrix theils_u_matrix tschuprows_t_matrix": (
            "a stack of matrices, one for each pair of columns: {func}`matrics.score` takes it in one call"
        ),
        "fleiss_kappa": "{func}`matrics.raters.fleiss_kappa`",
    },
}
