"""estimate_prevalence(): the share of each class among samples without labels."""

from __future__ import annotations

from typing import Literal, get_args

from matrics._quoting import quoted
from matrics._stacks.prevalence import PrevalenceEstimate
from matrics._uncertainty.adjusted import shares_of_counts
from matrics._uncertainty.options import check_level
from matrics._uncertainty.saerens import shares_of_probabilities
from matrics.typing import ArrayLike

MethodOfEstimate = Literal["auto", "adjusted", "em"]


def estimate_prevalence(
    cm: ArrayLike | None = None,
    predicted_counts: ArrayLike | None = None,
    *,
    method: MethodOfEstimate = "auto",
    probabilities: ArrayLike | None = None,
    training_prevalence: ArrayLike | None = None,
    level: float = 0.95,
) -> PrevalenceEstimate:
    """Estimate the share of each class among samples without labels, from their predictions.

    Counting predictions is biased: a test of specificity 0.9 gives 10 % positive where nobody is ill. The confusion
    matrix of samples with labels shows how classes are predicted, and so which shares lead to these predictions.

    Parameters
    ----------
    cm : array_like, shape (*B, n, n), optional
        Counts of samples with labels; rows are true classes. Only their rates P(predicted | true) matter, so that
        classes may have any sizes.
    predicted_counts : array_like, shape (*B, n), optional
        How many samples without labels are predicted as each class. The batches broadcast.
    method : {"auto", "adjusted", "em"}
        ``"adjusted"`` (the default with counts): the shares with exactly these predictions, by the inverse of the
        rates; if a share is negative, the nearest shares without a negative share. For two classes it is the estimate
        of Rogan and Gladen. ``"em"``: the most likely shares, which differ only where an adjusted share is negative.
    probabilities : array_like, shape (*B, N, n), or (N,) of class 1 of two, optional
        In place of ``cm`` and ``predicted_counts``: the probabilities of a calibrated model for samples without
        labels, which are corrected by the most likely shares (Saerens, Latinne and Decaestecker 2002).
    training_prevalence : float or array_like, shape (n,), optional
        With ``probabilities``: the shares of the classes in the data for which these are calibrated, as in
        :func:`matrics.transform.at_prevalence`, all above 0.
    level : float, default 0.95
        The probability with which the limits of each share are to contain the true share.

    Returns
    -------
    PrevalenceEstimate
        ``prevalence`` (*B, n), its ``covariance`` (*B, n, n), ``low`` and ``high`` (*B, n), and ``status`` (*B,), a
        code of :class:`matrics.IntervalStatus`. All but the status are NaN where there is no estimate. Functions with
        ``prevalence=`` take it as it is.

    Raises
    ------
    ValueError
        The shapes do not fit, an option has a value that does not exist, or arguments of both kinds are given, or none.
    TypeError
        Numbers are not real, or arrays are of different libraries.

    Notes
    -----
    The covariance is that of the delta method, from both sources: the predictions of samples without labels are random,
    and so are those in each row of the matrix. Limits are those of Lang and Reiczigel (2014) for two classes, in their
    form for n: 2/n is added to each cell and z²/n to each count, and limits outside of [0, 1] are cut. With
    probabilities the covariance is the inverse of the observed information, and only the samples without labels are
    random: that the model is calibrated is assumed.

    The methods assume that a class looks the same in both sets of samples, and that only the shares differ.

    The most likely shares are those to which the algorithm of expectation and maximisation (EM) converges. They are
    computed in a fixed number of Newton's steps, so that compiled code has no loop that depends on values.

    References
    ----------
    Rogan and Gladen 1978, "Estimating prevalence from the results of a screening test"; Lang and Reiczigel 2014,
    "Confidence limits for prevalence of disease adjusted for estimated sensitivity and specificity"; Saerens, Latinne
    and Decaestecker 2002, "Adjusting the outputs of a classifier to new a priori probabilities".

    Examples
    --------
    Of 1,000 people 140 are positive by a test of 90 % sensitivity and 95 % specificity, in 200 people each:

    >>> import matrics
    >>> result = matrics.stats.estimate_prevalence([[190, 10], [20, 180]], [860, 140])
    >>> print(f"{result.prevalence[1]:.3f}, between {result.low[1]:.3f} and {result.high[1]:.3f}")
    0.106, between 0.061 and 0.146

    Probabilities of a model that was trained with equal numbers of positive and negative samples:

    >>> y_prob = [0.1] * 800 + [0.9] * 200
    >>> result = matrics.stats.estimate_prevalence(probabilities=y_prob, training_prevalence=0.5)
    >>> result.prevalence.round(3)
    array([0.875, 0.125])
    """
    level = check_level(level)
    if method not in get_args(MethodOfEstimate):
        raise ValueError(
            f"method: expected one of {', '.join(map(repr, get_args(MethodOfEstimate)))}, got {quoted(method)}"
        )
    if probabilities is not None:
        if cm is not None or predicted_counts is not None or training_prevalence is None or method == "adjusted":
            raise ValueError(
                "probabilities: expected training_prevalence= with them, neither cm nor predicted_counts, and not "
                "method='adjusted'"
            )
        return shares_of_probabilities(probabilities, training_prevalence, level)
    if cm is None or predicted_counts is None or training_prevalence is not None:
        raise ValueError(
            "expected cm and predicted_counts, or probabilities= and training_prevalence=, got another combination"
        )
    return shares_of_counts(cm, predicted_counts, method, level)
