"""How the numbers of a report were computed: a paragraph to paste into a paper, with its references."""

from __future__ import annotations

from matrics.reporting.data import Data
from matrics.reporting.leaderboard import IntervalSettings, Leaderboard, is_proportion, repeats
from matrics.reporting.wording import capital, count, listed

__all__ = ["methods"]

REFERENCES = {
    "wilson": "Wilson, E. B. (1927). Probable inference, the law of succession, and statistical inference. Journal of "
    "the American Statistical Association 22, 209–212.",
    "delta": "Agresti, A. (2013). Categorical Data Analysis, 3rd ed., section 16.1 (the delta method). Wiley.",
    "rows": "Martín Andrés, A., Álvarez Hernández, M. and Herranz Tejedor, I. (2011). Inferences about a linear "
    "combination of proportions. Statistical Methods in Medical Research 20, 369–387.",
    "bootstrap": "Efron, B. and Tibshirani, R. J. (1993). An Introduction to the Bootstrap. Chapman & Hall.",
    "max": "Westfall, P. H. and Young, S. S. (1993). Resampling-Based Multiple Testing. Wiley.",
    "delong": "DeLong, E. R., DeLong, D. M. and Clarke-Pearson, D. L. (1988). Comparing the areas under two or more "
    "correlated receiver operating characteristic curves. Biometrics 44, 837–845.",
    "calibration": "Guo, C., Pleiss, G., Sun, Y. and Weinberger, K. Q. (2017). On calibration of modern neural "
    "networks. ICML, 1321–1330.",
    "calibration of two": "Naeini, M. P., Cooper, G. F. and Hauskrecht, M. (2015). Obtaining well calibrated "
    "probabilities using Bayesian binning. AAAI, 2901–2907.",
    "groups": "Weerts, H. et al. (2023). Fairlearn: Assessing and improving fairness of AI systems. Journal of Machine "
    "Learning Research 24 (257), 1–8.",
}
SHORT = {
    "wilson": "Wilson 1927", "delta": "Agresti 2013", "bootstrap": "Efron and Tibshirani 1993",
    "rows": "Martín Andrés et al. 2011",
    "max": "Westfall and Young 1993", "delong": "DeLong et al. 1988", "calibration": "Guo et al. 2017",
    "calibration of two": "Naeini et al. 2015", "groups": "Weerts et al. 2023",
}  # fmt: skip


def methods(data: Data, found: Leaderboard, manner: IntervalSettings, version: str) -> tuple[str, list[str]]:
    """The paragraph, and the references that it cites."""
    level = f"{100 * manner.level:.10g} %"
    limits, used = _limits(data, found, level)
    sizes = f"{count(len(data.models), 'model')} over {count(len(data.classes), 'class')}"
    measures = listed(found.titles(found.verdicts), 20)
    told = [
        (
            f"Confusion matrices of {sizes} were scored by {measures} with matrics {version}; "
            "undefined values (0/0) were left undefined, and averages over classes leave undefined classes out."
        ),
        limits,
    ]
    if data.weighted is not None:
        told.append(
            f"Samples were weighted ({data.weighted.column}), and variances are those of weighted samples, from the "
            "sums of squared weights."
        )
    if data.paired is not None and len(data.models) > 1:
        used += ["bootstrap", "max"]
        units = "samples, with all their predictions," if repeats(data) > 1 else "samples"
        told.append(
            f"Models were compared on the same samples by a paired bootstrap ({SHORT['bootstrap']}) of {units} with "
            f"{found.num:,} replicates (seed {manner.seed}). A model counts as significantly worse than the best if "
            "their difference is farther from 0, in standard errors, than the largest of all pairwise differences is "
            f"from its estimate in {level} of the replicates ({SHORT['max']}), so that, with about that "
            "probability, the truly best model is among those that are not significantly worse."
        )
    elif len(data.models) > 1:
        told.append(
            f"Models were compared with the best one as independent samples, by {level} intervals of differences whose "
            "level is shared by all pairs (Bonferroni); models whose interval contains 0 count as not significantly "
            "different."
        )
    if len(found.compared) < len(data.models):
        told.append(
            f"Only the {len(found.compared)} models with the best {found.title} were compared, so that this holds "
            "of the best model among these."
        )
    if data.scores is not None:
        if len(data.scores.positives) == 1:
            used.append("delong")
            told.append(f"Areas under ROC curves have {level} DeLong intervals ({SHORT['delong']}) on the logit scale.")
        else:
            told.append("Areas under curves are means over classes, each against the rest.")
        if data.scores.are_probabilities:
            key = "calibration of two" if len(data.scores.positives) == 1 else "calibration"
            used.append(key)
            told.append(f"The calibration error has 15 bins with equal numbers of samples ({SHORT[key]}).")
    if data.groups is not None:
        used.append("groups")
        told.append(
            f"Groups of {data.groups.column} are compared by the largest difference of a measure between two of them "
            f"({SHORT['groups']})."
        )
    return " ".join(told), [REFERENCES[key] for key in used]


def _limits(data: Data, found: Leaderboard, level: str) -> tuple[str, list[str]]:
    """Where intervals come from, and the references to cite."""
    others = [name for name in found.judged if not is_proportion(found.metrics[name])]
    proportions = [name for name in found.judged if name not in others]
    told, used = [], []
    if proportions:
        used.append("wilson")
        have = "has a" if len(proportions) == 1 else "have"
        plural = "" if len(proportions) == 1 else "s"
        told.append(
            f"{capital(listed(found.titles(proportions)))} {have} {level} Wilson score interval{plural} "
            f"({SHORT['wilson']})."
        )
    if others:
        used.append("delta")
        have = "has a" if len(others) == 1 else "have"
        plural = "" if len(others) == 1 else "s"
        names = capital(listed(found.titles(others)))
        told.append(
            f"{names} {have} {level} interval{plural} by the delta method ({SHORT['delta']}), of the matrix with a "
            "single sample spread over its cells, on a scale on which limits cannot leave the range of the measure, or "
            "score limits of the sum over the true classes that it is to first order, where these are further away "
            f"({SHORT['rows']})."
        )
        used.append("rows")
    if "wilson" not in used:
        used.insert(0, "wilson")
        told.append(f"The recall and the precision of a class have Wilson score intervals ({SHORT['wilson']}).")
    if repeats(data) > 1:
        told.append("All predictions of one sample form one cluster.")
    return " ".join(told), used
