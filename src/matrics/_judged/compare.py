"""compare(): two models on the same samples, which a judge and, in part, people have labelled."""

from __future__ import annotations

import math
from collections.abc import Hashable, Iterable, Sequence
from typing import Any

import numpy as np

from matrics._arrays import NUMPY, Array, Standard, as_arrays
from matrics._arrays.sizes import check_size
from matrics._catalogue.record import Metric
from matrics._counting.codes import CodedClasses, check_classes
from matrics._counting.jointly import count_jointly
from matrics._counting.labels import squared_weights
from matrics._engine.evaluation import check_options, evaluate
from matrics._judged.correction import Correction, Design, check_answered
from matrics._judged.counts import JudgedCounts, judge_labels, judged_codes
from matrics._judged.estimates import Estimate, Judged, estimates_of
from matrics._judged.interval import LimitsBy, few_labels, limits_of, read_options
from matrics._judged.pairs import Pairs, of_samples
from matrics._quoting import quoted
from matrics._uncertainty.arguments import by_class_names, metrics_of
from matrics._uncertainty.compare import compare_paired
from matrics._uncertainty.differences import recovered
from matrics._uncertainty.draws import limits_by_draws
from matrics._uncertainty.interval import on_host, source_for
from matrics._uncertainty.measure import Measure, Score, Task
from matrics._uncertainty.options import Options
from matrics._uncertainty.results import Comparison, IntervalStatus
from matrics._uncertainty.status import UNDEFINED_SHARE, at_best, graver
from matrics.typing import ArrayLike


def compare(
    a: ArrayLike | None,
    b: ArrayLike | None,
    metrics: str | Metric | Iterable[str | Metric] = "core",
    *,
    y_true: ArrayLike | tuple[ArrayLike, ArrayLike],
    y_judge: ArrayLike | tuple[ArrayLike, ArrayLike],
    labelled: ArrayLike | tuple[ArrayLike, ArrayLike] | None = None,
    num_classes: int | None = None,
    labels: Iterable[Hashable] | None = None,
    sample_weight: ArrayLike | None = None,
    unanswered: bool | None = None,
    level: float = 0.95,
    method: Correction = "auto",
    design: Design = "random",
    limits: LimitsBy = "auto",
    num: int | None = None,
    rng: Any = None,
    zero_division: float = math.nan,
    class_names: Sequence[str] | None = None,
    positive: Hashable = None,
    workers: int = 1,
) -> dict[str, Comparison]:
    """The difference of measures of two models on the same samples, which a judge and, in part, people have labelled.

    Parameters
    ----------
    a, b : array_like, shape (*B, N), or None
        The labels that either model predicts. Counts are not sufficient, as they do not contain the samples on which
        models differ. None for answers that are graded as fail (class 0) or pass (class 1): then the prediction of all
        samples is class 1, and the accuracy is the pass rate.
    metrics : str, Metric, or several of them, default "core"
        Names, aliases, groups (``core``, ``overall``, ``all``, ``on_host``, or a family of
        :func:`matrics.list_metrics`), specs (``"recall:class"``, ``"recall[1]"``, ``"fbeta(beta=2):weighted"``; see
        :func:`matrics.get_metric`), or metrics. A string may contain several of these, separated by commas.
    y_true : array_like, shape (*B, N)
        True labels. A sample without a true label has any value if ``labelled`` is given. Otherwise it has None, NaN or
        -1 (unless ``labels`` contain it). A tuple of the labels for a and the labels for b if the answers of each
        model are graded separately, on the same samples.
    y_judge : array_like, shape (*B, N)
        The judge's labels. A sample that the judge has not labelled has None, NaN or -1 (unless ``labels`` contain it).
        A tuple as ``y_true``.
    labelled : array_like of bool, shape (*B, N), optional
        Which samples have a true label; ``y_true`` is ignored elsewhere. A tuple as ``y_true``.
    num_classes : int, optional
        Number of classes, n; labels are 0 to n - 1. Required without ``labels``.
    labels : sequence of text, integers or other hashables, optional
        The label of each class, in order; required without ``num_classes``.
    sample_weight : array_like, shape (*B, N), optional
        A weight for each sample. The counts then have the sums of squared weights as well.
    unanswered : bool, optional
        Whether samples without a judge's label are counted, with the label n of the judge. By default they are if there
        are any. On devices and in compiled code, where values are not inspected, the default is no, and such samples
        are left out.
    level : float, default 0.95
        The probability with which an interval is to contain the true difference.
    zero_division : float, default NaN
        The value of undefined measures (0/0).
    class_names : sequence of str, optional
        Names of the classes, in their order. With them the comparison of each class has its own key: ``recall/cat``.
    positive : str or int, optional
        The positive class: a label where ``labels`` are given, a class name where there are ``class_names``, and an
        index otherwise. Per-class measures without an average are values of this class. Without it they are values of
        class 1 of two classes, and means over more (``macro``).
    workers : int, default 1
        Number of threads on the host; -1 for as many as there are cores. It does not change results.
    method : {"auto", "post_stratified", "tuned", "rogan_gladen", "labelled", "judge"}
        How the judge's errors are corrected; see the notes. ``"tuned"`` takes the λ with the smallest variance for each
        measure.
    design : {"random", "strata"}
        How the samples with true labels were chosen: at random from all samples; or at random from those with the same
        judge's label and prediction, with any share of each. The second is for ``"auto"`` and ``"post_stratified"``.
    limits : {"auto", "delta", "bootstrap"}
        How limits are formed; see the notes. ``"auto"`` is ``"delta"``. The bootstrap is for labels that were drawn at
        random.
    num : int, optional
        Number of replicates of the bootstrap; 10,000 if left out.
    rng : Generator, key or int, optional
        Where random numbers of the bootstrap come from: ``numpy.random.default_rng(seed)``, a ``torch.Generator`` or
        a key of ``jax.random.key(seed)``, which decides the library and the device of the draws. An integer is a seed
        for NumPy. New draws every time if left out.

    Returns
    -------
    dict of str to Comparison
        The difference a - b, its limits and standard error, the probability that a is better, and the number of true
        labels that would have this standard error without a judge.

    Raises
    ------
    ValueError
        A label is out of range, the shapes do not fit, or an option does not exist.
    TypeError
        ``a`` or ``b`` are counts.

    Notes
    -----
    Each sample has an influence on either estimate. The variance of the difference is the variance of the differences
    of these influences. The limits combine the limits of both models with their correlation (Zou and Donner 2008).

    Examples
    --------
    >>> import matrics
    >>> import numpy as np
    >>> random = np.random.default_rng(0)
    >>> y_true = random.integers(0, 2, 4000)
    >>> y_judge, a, b = (np.where(random.random(4000) < p, y_true, 1 - y_true) for p in (0.9, 0.85, 0.8))
    >>> comparison = matrics.judged.compare(
    ...     a, b, "accuracy", y_true=y_true, y_judge=y_judge, labelled=np.arange(4000) < 300, num_classes=2
    ... )["accuracy"]
    >>> print(f"{comparison.difference:.3f}, between {comparison.low:.3f} and {comparison.high:.3f}")
    0.029, between -0.007 and 0.064

    Two models whose answers were graded, 0 or 1, by a judge and, the first hundred, by people:

    >>> hard = random.random(1000) < 0.3
    >>> people = [(random.random(1000) < np.where(hard, p - 0.4, p)).astype(int) for p in (0.9, 0.8)]
    >>> judge = [np.where(random.random(1000) < 0.9, grades, 1 - grades) for grades in people]
    >>> comparison = matrics.judged.compare(
    ...     None, None, "accuracy", y_true=(people[0], people[1]), y_judge=(judge[0], judge[1]),
    ...     labelled=np.arange(1000) < 100, num_classes=2,
    ... )["accuracy"]
    >>> print(f"{comparison.difference:.3f}, between {comparison.low:.3f} and {comparison.high:.3f}")
    0.099, between 0.026 and 0.168
    """
    for name, value in (("a", a), ("b", b)):
        if isinstance(value, JudgedCounts):
            raise TypeError(
                f"{name}: expected the labels that the model predicts, got JudgedCounts, which do not contain the "
                "samples on which the models differ: pass the labels"
            )
    options = read_options(level, method, design, limits, num=num, rng=rng)
    if options.method == "bootstrap" and (design == "strata" or sample_weight is not None):
        raise ValueError(
            "limits: expected 'delta' for labels that were drawn by strata and for weighted samples, got 'bootstrap'"
        )
    check_options(zero_division, "nan", workers)
    classes = check_classes(num_classes, labels)
    n = classes.number
    metrics_by_name = metrics_of(metrics, n, class_names or classes.labels, positive)  # type: ignore[arg-type]
    codes, numbers = _codes(a, b, y_true, y_judge, labelled, classes, unanswered=unanswered)
    check_size(math.prod(numbers.values()), num_classes=n)
    tables = [count_jointly(codes, numbers, sample_weight=sample_weight)]
    if sample_weight is not None:
        tables.append(count_jointly(codes, numbers, sample_weight=squared_weights(sample_weight)))
    home, tables = as_arrays(**{f"table{k}": table for k, table in enumerate(tables)})
    if method in ("labelled", "judge"):
        if len(tables) > 1 or len(numbers) > 4:
            raise ValueError(
                "method: expected a correction for weighted samples and for models that are graded separately, got "
                f"{quoted(method)}"
            )
        judge = home.xp.sum(tables[0], axis=-4)
        joint = home.xp.sum(tables[0][..., :n, :, :, :], axis=-3) if method == "labelled" else judge[..., :n, :, :]
        comparisons = compare_paired(
            joint, list(metrics_by_name.values()), level=level, zero_division=zero_division, workers=workers
        )
        number = home.xp.sum(home.to_float(joint), axis=(-3, -2, -1))
        results = [
            _uncorrected(comparison, number if method == "labelled" else number * math.nan, home)
            for comparison in comparisons.values()
        ]
        return by_class_names(dict(zip(metrics_by_name, results, strict=True)), metrics_by_name, class_names)
    tables = [home.to_float(table) for table in tables]
    tables = _all_answered(tables, apart=len(numbers) > 4, backend=home) if method == "rogan_gladen" else tables
    host_tables = [view for view in (on_host(table, home, rng, options) for table in tables) if view is not None]
    is_on_host = len(host_tables) == len(tables)
    backend = NUMPY if is_on_host else home
    tables = [np.asarray(view, np.float64) for view in host_tables] if is_on_host else tables
    axes = len(numbers)
    batch, sizes = tuple(tables[0].shape[:-axes]), tuple(tables[0].shape[-axes:])
    pairs = Pairs([backend.xp.reshape(table, (math.prod(batch), *sizes)) for table in tables], backend, axes > 4)
    measures = [Measure.of(metric) for metric in metrics_by_name.values()]
    with backend.quiet():
        differences = _differences(pairs, measures, method, design, options, float(zero_division), workers)
        if options.method == "bootstrap" and math.prod(batch):
            differences = _redrawn(pairs, measures, differences, method, options, rng, float(zero_division), workers)
    results = []
    for fields in differences:
        parts = [backend.xp.reshape(part, (*batch, *part.shape[1:])) for part in fields]
        if is_on_host:
            parts = [home.from_host(np.asarray(part)[()]) for part in parts]
        results.append(Comparison(*parts[:6])._replace(effective_labels=parts[6]))
    return by_class_names(dict(zip(metrics_by_name, results, strict=True)), metrics_by_name, class_names)


def _all_answered(tables: Sequence[Array], *, apart: bool, backend: Standard) -> list[Array]:
    """The tables without the counts of samples that the judge has not labelled; raise if these are not 0."""
    n = tables[0].shape[-1]
    kept = list(tables)
    for axes_behind in (4, 1) if apart else (2,):
        index = (..., slice(n), *(slice(None),) * axes_behind)
        kept = [table[index] for table in kept]
    check_answered(tables, kept, backend)
    return kept


def _codes(  # noqa: PLR0917 (the arguments of compare)
    a: Any, b: Any, y_true: Any, y_judge: Any, labelled: Any, classes: CodedClasses, *, unanswered: bool | None
) -> tuple[dict[str, Any], dict[str, int]]:
    """The labels as numbers of classes, and for each kind of labels the number of classes.

    If models are graded separately, each has its own true labels and judge's labels.
    """
    n = classes.number
    if not (isinstance(y_true, tuple) and isinstance(y_judge, tuple)):
        codes = judged_codes({"y_true": y_true, "y_judge": y_judge, "a": a, "b": b}, labelled, classes)
        return codes, {
            "y_true": n + 1,
            "y_judge": judge_labels(codes["y_judge"], n, unanswered=unanswered),
            "a": n,
            "b": n,
        }
    for name, pair in (("y_true", y_true), ("y_judge", y_judge)):
        if len(pair) != 2:
            raise ValueError(f"{name}: expected a pair, the labels of the answers of a and of b, got {len(pair)}")
    masks = labelled if isinstance(labelled, tuple) else (labelled, labelled)
    codes = {}
    for name, pred, true, judge, mask in zip("ab", (a, b), y_true, y_judge, masks, strict=True):
        known = judged_codes({"y_true": true, "y_judge": judge, name: pred}, mask, classes)
        suffix = "" if name == "a" else " of b"
        codes |= {
            f"y_true{suffix}": known["y_true"],
            f"y_judge{suffix}": known["y_judge"],
            name: known[name],
        }
    number = max(judge_labels(codes[name], n, unanswered=unanswered) for name in ("y_judge", "y_judge of b"))
    numbers = {"y_true": n + 1, "y_judge": number}
    return codes, {name: numbers.get(name.removesuffix(" of b"), n) for name in codes}


def _uncorrected(comparison: Comparison, number: Array, backend: Standard) -> Comparison:
    """A comparison without correction, of ``number`` samples."""
    effective_labels = number[..., None] if comparison.difference.ndim > number.ndim else number
    effective_labels = backend.xp.where(backend.xp.isnan(comparison.difference), math.nan, effective_labels)
    return comparison._replace(unpaired_width=None, p_value=None, effective_labels=effective_labels)


def _differences(  # noqa: PLR0917 (one call of compare)
    pairs: Pairs,
    measures: Sequence[Measure],
    method: Correction,
    design: Design,
    options: Options,
    zero_division: float,
    workers: int,
) -> list[tuple[Array, ...]]:
    """The fields of the comparisons."""
    backend, xp = pairs.backend, pairs.backend.xp
    both = [pairs.of_model(which, method, design) for which in (0, 1)]
    estimates = [estimates_of(judged, measures, zero_division, workers) for judged in both]
    few = few_labels(both[0]) | few_labels(both[1])
    results = []
    for measure, a, b in zip(measures, *estimates, strict=True):
        has_classes = a.value.ndim > 1
        squares = pairs.squares[:, None, ...] if has_classes else pairs.squares
        moves = [of_samples(estimate.influences, xp) for estimate in (a, b)]
        variance = pairs.total(squares * pairs.less(*moves) ** 2)
        variances = [
            _variance(estimate, judged.with_classes() if has_classes else judged, xp)
            for estimate, judged in zip((a, b), both, strict=True)
        ]
        ours, theirs = a.spread.variance, b.spread.variance
        # The additions to the variances of the models for few labels increase the variance of the difference alike.
        growth = (ours + theirs) / xp.where(variances[0] + variances[1] > 0, variances[0] + variances[1], 1)
        variance = variance * growth
        product = ours * theirs
        r = xp.where(product > 0, (ours + theirs - variance) / (2 * xp.sqrt(xp.where(product > 0, product, 1))), 0)
        ends = [(estimate.value, *limits_of(estimate, measure, options.level, backend)) for estimate in (a, b)]
        low, high = recovered(ends[0], ends[1], xp.clip(r, -1, 1), xp)
        gap, error = a.value - b.value, xp.sqrt(variance)
        known = ~xp.isnan(gap)
        has_limits = known & ~xp.isnan(low) & ~xp.isnan(high) & (error > 0)
        has_few_labels = few[:, None] if has_classes else few
        if options.method == "bootstrap":  # replicates lack the errors of the judge that no label shows
            has_few_labels = has_few_labels | a.few_errors | b.few_errors
        conditions = {
            IntervalStatus.FEW_LABELS: has_few_labels,
            IntervalStatus.NO_VARIATION: ~has_limits,
            IntervalStatus.UNDEFINED: ~known,
        }
        none = xp.astype(xp.zeros_like(gap), backend.widest_int(gap) or xp.int32)
        status = graver(none + at_best(measure, pairs.tables[0].shape[-1]), conditions, xp)
        probability = _probability(gap, error, has_limits, measure, backend)
        limits = [xp.where(has_limits, limit, math.nan) for limit in (low, high)]
        effective_labels = _effective_labels(a, b, squares, variance, both[0].sizes, pairs)
        parts = (
            gap,
            *limits,
            xp.where(known, error, math.nan),
            probability,
            status,
            xp.where(has_limits, effective_labels, math.nan),
        )
        results.append(parts)
    return results


def _redrawn(  # noqa: PLR0917 (one call of compare)
    pairs: Pairs,
    measures: Sequence[Measure],
    comparisons: Sequence[tuple[Array, ...]],
    method: Correction,
    options: Options,
    rng: Any,
    zero_division: float,
    workers: int,
) -> list[tuple[Array, ...]]:
    """The comparisons with percentile limits of replicates, which draw all samples anew, for both models at once."""
    backend, xp = pairs.backend, pairs.backend.xp
    sizes = tuple(pairs.tables[0].shape[1:])
    functions = [measure.function for measure in measures]

    def score(drawn: Array, threads: int) -> list[Array]:
        table = Pairs([xp.reshape(drawn, (*drawn.shape[:-2], *sizes))], backend, pairs.apart)
        both = []
        for which in (0, 1):
            matrix = table.of_model(which, method, "random").matrix()
            both.append(evaluate(matrix, functions, zero_division=zero_division, invalid="nan", workers=threads))
        return [first - second for first, second in zip(*both, strict=True)]

    rows = xp.reshape(pairs.tables[0], (pairs.tables[0].shape[0], 1, math.prod(sizes)))
    made: Score = score
    gaps = [fields[0] for fields in comparisons]
    task = Task(rows, rows, gaps, measures, made, options, zero_division, workers, backend)
    results = []
    for measure, fields, (low, high, error, undefined) in zip(
        measures,
        comparisons,
        limits_by_draws(task, source_for([rows], backend, rng, options, "a, b"), None),
        strict=True,
    ):
        gap, *_, status, effective_labels = fields
        known = ~xp.isnan(gap)
        has_limits = known & (error > 0)
        is_often_undefined = undefined > int(UNDEFINED_SHARE * options.num)
        reasons = {
            IntervalStatus.UNDEFINED_REPLICATES: is_often_undefined & has_limits,
            IntervalStatus.NO_VARIATION: ~has_limits & known,
        }
        status = graver(status, reasons, xp)
        ends = [xp.where(has_limits, limit, math.nan) for limit in (low, high)]
        # The number of labels is inversely proportional to the variance.
        effective_labels = effective_labels * (fields[3] / xp.where(error > 0, error, math.nan)) ** 2
        probability = _probability(gap, error, has_limits, measure, backend)
        results.append((gap, *ends, xp.where(known, error, math.nan), probability, status, effective_labels))
    return results


def _probability(gap: Array, error: Array, known: Array, measure: Measure, backend: Standard) -> Array:
    """The probability of a normal distribution that a is better; NaN without a better direction."""
    xp = backend.xp
    if measure.higher_is_better is None:
        return gap * math.nan
    above = backend.normal_cdf(xp.where(error > 0, gap / xp.where(error > 0, error, 1), 0))
    return xp.where(known, above if measure.higher_is_better else 1 - above, math.nan)


def _variance(estimate: Estimate, judged: Judged, xp: Any) -> Array:
    """The variance of the estimate of a model, from the influences of its samples."""
    labelled = xp.sum(judged.squares[0] * estimate.influences.labelled**2, axis=(-3, -2, -1))
    return labelled + xp.sum(judged.squares[1] * estimate.influences.others**2, axis=(-2, -1))


def _effective_labels(  # noqa: PLR0917 (two estimates and their samples)
    a: Estimate, b: Estimate, squares: Array, variance: Array, sizes: Array, pairs: Pairs
) -> Array:
    """The number of randomly drawn labels with this variance of the difference, from the samples with labels."""
    xp = pairs.backend.xp
    has_label, slopes = [], []
    for estimate in (a, b):
        derivatives = estimate.slopes[..., :, None, :] + 0 * estimate.influences.labelled
        slopes.append(xp.concat([derivatives, 0 * derivatives[..., :1, :, :]], axis=-3))
        has_label.append(xp.concat([xp.ones_like(derivatives), xp.zeros_like(derivatives[..., :1, :, :])], axis=-3))
    known = squares * (
        pairs.less(has_label[0], 1 - has_label[1]) > 0 if pairs.apart else pairs.less(has_label[0], 0 * has_label[1])
    )
    gap = pairs.less(*slopes)
    number = pairs.total(known)
    divisor = xp.where(number > 0, number, 1)
    mean = pairs.total(known * gap) / divisor
    sample_variance = pairs.total(known * gap**2) / divisor - mean**2
    total = xp.sum(sizes, axis=(-2, -1))
    total = total[:, None] if mean.ndim > 1 else total
    return xp.where(variance > 0, total**2 * sample_variance / xp.where(variance > 0, variance, 1), math.nan)
