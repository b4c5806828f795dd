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
# The methods of limits in the order of the text, and what it says of each.
METHODS = {
    "proportion": "{have} ({wilson}){effective}.",
    "bounded": "{have} by the delta method ({delta}), of the matrix with a single sample spread over its cells, on the "
    "scale of the logit{student}{further}.",
    "unbounded": "{have} by the delta method ({delta}), of the matrix with a single sample spread over its cells, on "
    "the scale of a logarithm where there is one bound{student}.",
    "ratio": "{have} on the scale of the logarithm ({log}), or, where a cell is 0, by the score ({score}).",
    "count": "{have} by the score limits of a sum over the true classes ({rows}).",
    "corrected": "{have} by the delta method ({delta}), after a single sample, spread over all cells, was added to the "
    "matrix, and corrected for bias by second derivatives; each limit is the wider of those on the scale of the "
    "measure and on the scale of the logit{student}.",
    "extreme": "{have} from the limits of the classes: the outer limit is the most extreme limit of any class, and the "
    "inner limit is the most extreme of the limits that hold for all classes simultaneously (Bonferroni).",
    "replicates": "{have}: the estimate plus or minus the distance within which {level} of the replicates below are "
    "from the estimate, increased by Student's quantile if there are few samples.",
}


def methods(
    data: Data,
    found: Leaderboard,
    manner: IntervalSettings,
    version: str,
    scores: Sequence[ModelScores],
    *,
    compares_areas: bool,
) -> tuple[str, list[str]]:
    """The paragraph, and the references that it cites."""
    text = _Text(in_percent(manner.level))
    models = counted(len(data.models), "model")
    sizes = f"Confusion matrices of {models} over {counted(len(data.classes), 'class')}"
    if data.are_passes:
        sizes = f"Answers of {models} that pass or fail"
    text.tell(
        f"{sizes} were scored by {listed(found.titles(found.verdicts), 20)} with matrics "
        f"{version}; undefined values (0/0) were left undefined, and averages over classes leave undefined classes out."
    )
    if data.judged is not None:
        _judged(text, data.judged, len(data.models))
    else:
        _limits(text, data, found)
        _comparisons(text, data, found, manner)
    if data.scores is not None:
        _scores(text, data, scores[0], compares_areas=compares_areas)
    if data.groups is not None:
        text.tell(
            f"Groups of {data.groups.column} are compared by the largest difference of a measure between two of them "
            f"({text.cited('groups')}), which is significant if its interval, from the limits of both groups as "
            f"independent samples ({text.cited('difference')}) at a level shared by all pairs (Bonferroni), excludes 0."
        )
    return " ".join(text.sentences), [REFERENCES[key] for key in text.used]


@dataclass
class _Text:
    """The sentences so far, and the references that they cite."""

    level: str
    sentences: list[str] = field(default_factory=list)
    used: list[str] = field(default_factory=list)

    def tell(self, sentence: str) -> None:
        self.sentences.append(sentence)

    def cited(self, *keys: str) -> str:
        """The references in brackets of the text."""
        self.used += [key for key in keys if key not in self.used]
        return "; ".join(SHORT[key] for key in keys)

    def intervals_of(self, names: Sequence[str], kind: str = "") -> str:
        """The subject and the verb of a sentence."""
        what = f"{self.level} {kind}interval"
        return f"{capital(listed(names))} {f'has a {what}' if len(names) == 1 else f'have {what}s'}"


def _judged(text: _Text, judged: Judged, models: int) -> None:
    """How pass rates were corrected and compared."""
    text.tell(
        f"Grades of {judged.judge} were corrected for its errors by those of {judged.human}, separately for each grade "
        f"of {judged.judge} (post-stratification). Pass rates have {text.level} intervals from the influence of each "
        "answer on the estimate."
    )
    if models > 1:
        text.tell(
            "Models were compared with the best one on the samples of both, by intervals of differences from the "
            f"limits of both and the correlation of their influences ({text.cited('difference')}), at {text.level} "
            "shared by all pairs (Bonferroni); models whose interval contains 0 count as not significantly different."
        )


def _limits(text: _Text, data: Data, found: Leaderboard) -> None:
    """How the limits of measures of matrices were formed, by the method of each."""
    clustered = repeats(data) > 1
    by_method: dict[str, list[str]] = {}
    for name in found.judged:
        by_method.setdefault(found.verdicts[name].method, []).append(found.verdicts[name].title)
    effective = ""
    if clustered:
        effective = ", for the number of independent samples that has the variance between clusters"
    elif data.weighted is not None:
        effective = ", for the number of samples that has the variance of the weighted ones"
    student = (
        ", with Student's quantile and a variance between clusters of at least that of independent predictions"
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
        text.tell(METHODS[method].format(level=text.level, **words, **SHORT))
    if "wilson" not in text.used:
        text.tell(
            f"The recall and the precision of a class have Wilson score intervals ({text.cited('wilson')}){effective}."
        )
    if clustered:
        text.tell("All predictions of one sample form one cluster.")
    if data.weighted is not None:
        sums = "sums of the weights of each cluster" if clustered else "sums of squared weights"
        drawn = ", and replicates draw samples with their weights" if "replicates" in by_method else ""
        text.tell(
            f"Samples were weighted ({data.weighted.column}), and variances are those of weighted samples, from the "
            f"{sums}{drawn}."
        )


def _comparisons(text: _Text, data: Data, found: Leaderboard, manner: IntervalSettings) -> None:
    """How models were compared."""
    if data.paired is not None and len(data.models) > 1:
        units = "samples, with all their predictions," if repeats(data) > 1 else "samples"
        text.tell(
            f"Models were compared on the same samples by a paired bootstrap ({text.cited('bootstrap')}) of "
            f"{units} with {found.num:,} replicates (seed {manner.seed}). A model counts as significantly "
            "worse than the best if their difference is farther from 0, in standard errors, than the largest of all "
            f"pairwise differences is from its estimate in {text.level} of the replicates ({text.cited('max')}), times "
            "a factor by Student's quantile for few samples, so that, with about that probability, the truly best "
            "model is among those that are not significantly worse."
        )
    elif len(data.models) > 1:
        text.tell(
            "Models were compared with the best one as independent samples, by intervals of differences from the "
            f"limits of both ({text.cited('difference')}), at {text.level} shared by all pairs (Bonferroni); models "
            "whose interval contains 0 count as not significantly different."
        )
    if len(found.compared) < len(data.models):
        text.tell(
            f"Only the {len(found.compared)} models with the best {found.title} were compared, so that this holds "
            "of the best model among these."
        )
        if any(found.verdicts[name].method == "replicates" for name in found.judged):
            text.tell("The limits of the others are Wilson's for proportions, and else by the delta method.")


def _scores(text: _Text, data: Data, one: ModelScores, *, compares_areas: bool) -> None:
    """How measures of scores were computed."""
    assert data.scores is not None  # noqa: S101 (the caller has looked)
    is_one, clustered = len(data.scores.positives) == 1, repeats(data) > 1
    units = "samples (clusters)" if clustered else "samples of each class"
    if not is_one:
        text.tell("Areas under curves are means over classes, each against the rest.")
    if one.methods["roc_auc"] == "score":
        if is_one:
            variance = "Obuchowski's variance of clusters" if clustered else "DeLong's variance"
            cited = text.cited("obuchowski" if clustered else "delong")
        else:
            variance, cited = "the variance of the influences of samples", text.cited("delong")
        text.tell(
            f"Areas under ROC curves have {text.level} score intervals: the areas t whose distance from the estimate, "
            f"in standard errors, is at most Student's quantile. The variance is {variance} ({cited}), scaled in "
            f"proportion to t (1 - t) and combined with that of two additional {units} of the largest possible "
            f"variance ({text.cited('newcombe')}). Average precision has intervals of the same kind, with the variance "
            "of the influences of samples."
        )
    if compares_areas:
        several = ", corrected for all pairs of models" if len(data.models) > 2 else ""
        text.tell(f"Areas under ROC curves of the models were compared by {area_test(data)}{several}.")
    if one.methods.get("log_loss") == "hall":
        text.tell(
            f"Log loss and Brier score have {text.level} intervals of a mean by Student's quantile, transformed for "
            f"skewed losses ({text.cited('hall')})."
        )
    if data.scores.are_probabilities:
        key = "calibration of two" if is_one else "calibration"
        text.tell(f"The calibration error has {BINS} bins with equal numbers of samples ({text.cited(key)}).")
