"""How the numbers of a report were computed: a paragraph to paste into a paper, with its references."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field

from matrics._reporting.areas import BINS, ModelScores, area_test
from matrics._reporting.data import Data, Judged
from matrics._reporting.leaderboard import IntervalSettings, Leaderboard, repeats
from matrics._wording import capital, counted, in_percent, listed

__all__ = ["methods"]

REFERENCES = {
    "wilson": "Wilson, E. B. (1927). Probable inference, the law of succession, and statistical inference. Journal of "
    "the American Statistical Association 22, 209–212.",
    "delta": "Agresti, A. (2013). Categorical Data Analysis, 3rd ed., section 16.1 (the delta method). Wiley.",
    "rows": "Martín Andrés, A., Álvarez Hernández, M. and Herranz Tejedor, I. (2011). Inferences about a linear "
    "combination of proportions. Statistical Methods in Medical Research 20, 369–387.",
    "log": "Simel, D. L., Samsa, G. P. and Matchar, D. B. (1991). Likelihood ratios with confidence: sample size "
    "estimation for diagnostic test studies. Journal of Clinical Epidemiology 44, 763–770.",
    "score": "Miettinen, O. and Nurminen, M. (1985). Comparative analysis of two rates. Statistics in Medicine 4, "
    "213–226.",
    "bootstrap": "Efron, B. and Tibshirani, R. J. (1993). An Introduction to the Bootstrap. Chapman & Hall.",
    "max": "Westfall, P. H. and Young, S. S. (1993). Resampling-Based Multiple Testing. Wiley.",
    "delong": "DeLong, E. R., DeLong, D. M. and Clarke-Pearson, D. L. (1988). Comparing the areas under two or more "
    "correlated receiver operating characteristic curves. Biometrics 44, 837–845.",
    "obuchowski": "Obuchowski, N. A. (1997). Nonparametric analysis of clustered ROC curve data. Biometrics 53, "
    "567–578.",
    "newcombe": "Newcombe, R. G. (2006). Confidence intervals for an effect size measure based on the Mann–Whitney "
    "statistic. Part 2: asymptotic methods and evaluation. Statistics in Medicine 25, 559–573 (method 5).",
    "hall": "Hall, P. (1992). On the removal of skewness by transformation. Journal of the Royal Statistical Society B "
    "54, 221–228.",
    "difference": "Zou, G. Y. and Donner, A. (2008). Construction of confidence limits about effect measures: a "
    "general approach. Statistics in Medicine 27, 1693–1702.",
    "calibration": "Guo, C., Pleiss, G., Sun, Y. and Weinberger, K. Q. (2017). On calibration of modern neural "
    "networks. ICML, 1321–1330.",
    "calibration of two": "Naeini, M. P., Cooper, G. F. and Hauskrecht, M. (2015). Obtaining well calibrated "
    "probabilities using Bayesian binning. AAAI, 2901–2907.",
    "groups": "Weerts, H. et al. (2023). Fairlearn: Assessing and improving fairness of AI systems. Journal of Machine "
    "Learning Research 24 (257), 1–8.",
}
SHORT = {
    "wilson": "Wilson 1927", "delta": "Agresti 2013", "bootstrap": "Efron and Tibshirani 1993",
    "rows": "Martín Andrés et al. 2011", "log": "Simel et al. 1991", "score": "Miettinen and Nurminen 1985",
    "max": "Westfall and Young 1993", "delong": "DeLong et al. 1988", "calibration": "Guo et al. 2017",
    "calibration of two": "Naeini et al. 2015", "groups": "Weerts et al. 2023",
    "obuchowski": "Obuchowski 1997", "newcombe": "Newcombe 2006", "hall": "Hall 1992",
    "difference": "Zou and Donner 2008",
}  # fmt: skip
# The methods of limits in the order of the text, with their sentences.
METHODS = {
    "proportion": "{have} ({wilson}){effective}.",
    "bounded": "{have} by the delta method ({delta}) on the logit scale{student}{further}. First, a single sample, "
    "spread over all cells, was added to the matrix.",
    "unbounded": "{have} by the delta method ({delta}), on the logarithmic scale if the measure has a single bound"
    "{student}. First, a single sample, spread over all cells, was added to the matrix.",
    "ratio": "{have} on the logarithmic scale ({log}), or score intervals ({score}) if a cell is 0.",
    "count": "{have} from the score limits of a sum over the true classes ({rows}).",
    "corrected": "{have} by the delta method ({delta}), corrected for bias with second derivatives{student}. First, a "
    "single sample, spread over all cells, was added to the matrix. Each limit is the wider of the limits on the scale "
    "of the measure and on the logit scale.",
    "extreme": "{have} from the limits of the classes: the outer limit is the most extreme limit of any class, and the "
    "inner limit is the most extreme of the limits that hold for all classes simultaneously (Bonferroni).",
    "replicates": "{have}: the estimate plus or minus the {level} quantile of the distances between the replicates "
    "(see below) and the estimate, increased by Student's quantile if there are few samples.",
}


def methods(
    data: Data,
    board: Leaderboard,
    settings: IntervalSettings,
    version: str,
    scores: Sequence[ModelScores],
    *,
    compares_areas: bool,
) -> tuple[str, list[str]]:
    """The paragraph on the methods, and its references."""
    text = _Text(in_percent(settings.level))
    models = counted(len(data.models), "model")
    sizes = f"Confusion matrices of {models} over {counted(len(data.classes), 'class')}"
    if data.are_passes:
        sizes = f"Answers of {models} (pass or fail)"
    text.add(
        f"{sizes} were scored by {listed(board.titles(board.verdicts), 20)} with matrics "
        f"{version}. Undefined values (0/0) were left undefined, and averages over classes exclude undefined classes."
    )
    if data.judged is not None:
        _judged(text, data.judged, len(data.models))
    else:
        _limits(text, data, board)
        _comparisons(text, data, board, settings)
    if data.scores is not None:
        _scores(text, data, scores[0], compares_areas=compares_areas)
    if data.groups is not None:
        text.add(
            f"Groups by {data.groups.column} were compared by the largest difference of a measure between two groups "
            f"({text.cited('groups')}). It is significant if its interval, from the limits of both groups as "
            f"independent samples ({text.cited('difference')}), excludes 0, with a joint level for all pairs "
            "(Bonferroni)."
        )
    return " ".join(text.sentences), [REFERENCES[key] for key in text.used]


@dataclass
class _Text:
    """The sentences of the paragraph, and the references that they cite."""

    level: str
    sentences: list[str] = field(default_factory=list)
    used: list[str] = field(default_factory=list)

    def add(self, sentence: str) -> None:
        self.sentences.append(sentence)

    def cited(self, *keys: str) -> str:
        """The short references, for the brackets in the text."""
        self.used += [key for key in keys if key not in self.used]
        return "; ".join(SHORT[key] for key in keys)

    def intervals_of(self, names: Sequence[str], kind: str = "") -> str:
        """The beginning of a sentence: which measures have intervals."""
        what = f"{self.level} {kind}interval"
        return f"{capital(listed(names))} {f'has a {what}' if len(names) == 1 else f'have {what}s'}"


def _judged(text: _Text, judged: Judged, models: int) -> None:
    """Add sentences on the correction and the comparison of pass rates."""
    text.add(
        f"The grades of {judged.judge} were corrected with the grades of {judged.human}, separately for each grade "
        f"of {judged.judge} (post-stratification). Pass rates have {text.level} intervals from the influence of each "
        "answer on the estimate."
    )
    if models > 1:
        text.add(
            "Each model was compared with the best model on their common samples, by the interval of the difference "
            f"from the limits of both and the correlation of their influences ({text.cited('difference')}), with a "
            f"joint level of {text.level} for all pairs (Bonferroni). Models whose interval contains 0 are not "
            "significantly different from the best."
        )


def _limits(text: _Text, data: Data, board: Leaderboard) -> None:
    """Add sentences on the limits of measures of matrices, in the order of their methods."""
    clustered = repeats(data) > 1
    by_method: dict[str, list[str]] = {}
    for name in board.judged:
        by_method.setdefault(board.verdicts[name].method, []).append(board.verdicts[name].title)
    effective = ""
    if clustered:
        effective = ", with the effective number of samples from the variance between clusters"
    elif data.weighted is not None:
        effective = ", with the effective number of samples from the variance of the weighted samples"
    student = (
        ", with Student's quantile and the variance between clusters, or, if larger, that of independent predictions"
        if clustered
        else ""
    )
    for method in sorted(by_method, key=list(METHODS).index):
        text.cited(*(key for key in SHORT if f"{{{key}}}" in METHODS[method]))
        have = text.intervals_of(by_method[method], "Wilson score " if method == "proportion" else "")
        further = ""
        if method == "bounded" and not clustered:
            further = (
                "; the score limits of the first-order approximation of the measure, a sum over the true classes, are "
                f"used where they are wider ({text.cited('rows')})"
            )
        words = {"have": have, "effective": effective, "student": student, "further": further}
        text.add(METHODS[method].format(level=text.level, **words, **SHORT))
    if "wilson" not in text.used:
        text.add(
            f"The recall and the precision of a class have Wilson score intervals ({text.cited('wilson')}){effective}."
        )
    if clustered:
        text.add("All predictions of the same sample form a cluster.")
    if data.weighted is not None:
        sums = "sums of the weights of each cluster" if clustered else "sums of squared weights"
        drawn = ", and replicates draw samples together with their weights" if "replicates" in by_method else ""
        text.add(
            f"Samples were weighted (column {data.weighted.column}), and variances were computed from the "
            f"{sums}{drawn}."
        )


def _comparisons(text: _Text, data: Data, board: Leaderboard, settings: IntervalSettings) -> None:
    """Add sentences on the comparison of models."""
    if data.paired is not None and len(data.models) > 1:
        units = "samples, with all their predictions," if repeats(data) > 1 else "samples"
        text.add(
            f"Models were compared on the same samples by a paired bootstrap ({text.cited('bootstrap')}) of "
            f"{units} with {board.num:,} replicates (seed {settings.seed}). A model is significantly worse than the "
            "best model if their difference, in standard errors, exceeds a critical value. This value is the "
            f"{text.level} quantile of the largest deviation of any pairwise difference from its estimate over the "
            f"replicates ({text.cited('max')}), times a factor by Student's quantile for few samples. The models that "
            "are not significantly worse then include the truly best model with about this probability."
        )
    elif len(data.models) > 1:
        text.add(
            "Each model was compared with the best model as independent samples, by the interval of the difference "
            f"from the limits of both ({text.cited('difference')}), with a joint level of {text.level} for all pairs "
            "(Bonferroni). Models whose interval contains 0 are not significantly different from the best."
        )
    if len(board.compared) < len(data.models):
        text.add(
            f"Only the {len(board.compared)} models with the best {board.title} were compared, so the conclusions "
            "hold for the best of these models."
        )
        if any(board.verdicts[name].method == "replicates" for name in board.judged):
            text.add(
                "The limits of the other models are Wilson limits for proportions, and delta-method limits otherwise."
            )


def _scores(text: _Text, data: Data, measures: ModelScores, *, compares_areas: bool) -> None:
    """Add sentences on the measures of scores."""
    assert data.scores is not None  # noqa: S101 (the caller has looked)
    is_binary, clustered = len(data.scores.positives) == 1, repeats(data) > 1
    units = "samples (clusters)" if clustered else "samples of each class"
    if not is_binary:
        text.add("Areas under curves are means over the one-vs-rest areas of the classes.")
    if measures.methods["roc_auc"] == "score":
        if is_binary:
            variance = "Obuchowski's variance of clusters" if clustered else "DeLong's variance"
            cited = text.cited("obuchowski" if clustered else "delong")
        else:
            variance, cited = "the variance of the influences of samples", text.cited("delong")
        text.add(
            f"Areas under ROC curves have {text.level} score intervals: the areas t whose distance from the estimate, "
            f"in standard errors, is at most Student's quantile. The variance is {variance} ({cited}), scaled in "
            f"proportion to t (1 - t) and combined with the variance of two additional {units}, which is the largest "
            f"possible variance ({text.cited('newcombe')}). Average precision has the same kind of intervals, with the "
            "variance of the influences of samples."
        )
    if compares_areas:
        several = ", corrected for all pairs of models" if len(data.models) > 2 else ""
        text.add(f"Areas under ROC curves of the models were compared by {area_test(data)}{several}.")
    if measures.methods.get("log_loss") == "hall":
        text.add(
            f"Log loss and Brier score have {text.level} intervals of a mean with Student's quantile, with a "
            f"transformation for skewed losses ({text.cited('hall')})."
        )
    if data.scores.are_probabilities:
        key = "calibration of two" if is_binary else "calibration"
        text.add(
            f"The calibration error was computed with {BINS} bins with equal numbers of samples ({text.cited(key)})."
        )
