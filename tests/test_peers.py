"""scikit-learn, SciPy and torchmetrics as referees, and definitions in exact arithmetic where these have nothing."""

from __future__ import annotations

import itertools
from collections.abc import Callable, Iterator
from fractions import Fraction
from typing import Any

import mpmath
import numpy as np
import pytest

import matrics

SIZES = [2, 3, 4, 5, 6]
EXACT = {"rtol": 1e-9, "atol": 1e-12}


def draw(n: int, *, full: bool = False) -> np.ndarray:
    """Ten stacks of two n×n matrices; unless full, with an empty row or column, or without hits, now and then.

    No matrix has all its items in one true class, or in one predicted class.
    """
    random = np.random.default_rng(n)
    stack = random.integers(1 if full else 0, random.choice([3, 9, 30], (10, 2, 1, 1)), (10, 2, n, n))
    if not full and n > 2:
        stack[1, :, 1] = 0
        stack[2, :, :, 1] = 0
        stack[3] *= 1 - np.eye(n, dtype=int)
    stack[..., 0, -1] += 1
    stack[..., -1, 0] += 1
    return stack


def labels(cm: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    n = len(cm)
    return np.repeat(np.repeat(np.arange(n), n), cm.ravel()), np.repeat(np.tile(np.arange(n), n), cm.ravel())


def compare(stack: np.ndarray, spec: str, reference: Callable[[np.ndarray], Any], **options: Any) -> None:
    """Our values of a stack with the reference of each matrix of it."""
    ours = matrics.score(stack, spec, **options)[spec]
    theirs = [[reference(cm) for cm in row] for row in stack]
    np.testing.assert_allclose(ours, theirs, **EXACT, err_msg=spec)


def by_labels(function: Callable[..., Any], **keywords: Any) -> Callable[[np.ndarray], Any]:
    return lambda cm: function(*labels(cm), **keywords)


# scikit-learn --------------------------------------------------------------------------------------------------------


@pytest.mark.exhaustive
@pytest.mark.filterwarnings("ignore:y_pred contains classes not in y_true:UserWarning")
@pytest.mark.exhaustive(n=[3, 5])
@pytest.mark.parametrize("n", SIZES)
def test_scikit_learn(n: int) -> None:
    sk = pytest.importorskip("sklearn.metrics", reason="scikit-learn is not installed")
    stack = draw(n)
    every = {"labels": list(range(n)), "zero_division": 0}
    for weights, theirs in {"none": None, "linear": "linear", "quadratic": "quadratic"}.items():
        reference = by_labels(sk.cohen_kappa_score, weights=theirs, labels=every["labels"])
        compare(stack, f"cohen_kappa(weights={weights})", reference)
    for spec, function in {
        "accuracy": sk.accuracy_score,
        "adjusted_rand_index": sk.adjusted_rand_score,
        "mcc": sk.matthews_corrcoef,
        "balanced_accuracy": sk.balanced_accuracy_score,
        "hamming_loss": sk.hamming_loss,
        "zero_one_loss": sk.zero_one_loss,
        "zero_one_loss_count": lambda true, pred: sk.zero_one_loss(true, pred, normalize=False),
        "mutual_information": sk.mutual_info_score,
        "nmi": sk.v_measure_score,
        "theil_u": sk.homogeneity_score,
        "theil_u(direction=pred_given_true)": sk.completeness_score,
    }.items():
        compare(stack, spec, by_labels(function))
    for mean in ("arithmetic", "geometric", "min", "max"):
        reference = by_labels(sk.normalized_mutual_info_score, average_method=mean)
        compare(stack, f"nmi(normalizer={mean})", reference)
    for average, theirs in {"macro": "macro", "micro": "micro", "weighted": "weighted", "class": None}.items():
        for spec, function, keywords in (
            ("jaccard", sk.jaccard_score, {}),
            ("f1", sk.f1_score, {}),
            ("fbeta(beta=2)", sk.fbeta_score, {"beta": 2}),
            ("fbeta(beta=0.3)", sk.fbeta_score, {"beta": 0.3}),
        ):
            reference = by_labels(function, average=theirs, **keywords, **every)
            compare(stack, f"{spec}:{average}", reference, zero_division=0)
    pairs = matrics.transform.pair_counts(stack)
    ours = {"fowlkes_mallows:binary": sk.fowlkes_mallows_score, "accuracy": sk.rand_score}
    for spec, function in ours.items():
        theirs = [[by_labels(function)(cm) for cm in row] for row in stack]
        np.testing.assert_allclose(matrics.score(pairs, spec, zero_division=0)[spec], theirs, **EXACT)


def test_likelihood_ratios() -> None:
    sk = pytest.importorskip("sklearn.metrics", reason="scikit-learn is not installed")
    for k, spec in enumerate(("positive_likelihood_ratio:binary", "negative_likelihood_ratio:binary")):
        compare(draw(2, full=True), spec, lambda cm, k=k: sk.class_likelihood_ratios(*labels(cm))[k])


# SciPy ---------------------------------------------------------------------------------------------------------------


def in_use(cm: np.ndarray) -> np.ndarray:
    """Without empty rows and columns, for which SciPy has an expected count of 0."""
    return cm[cm.any(axis=1)][:, cm.any(axis=0)]


@pytest.mark.sampled(1)
@pytest.mark.parametrize("n", SIZES)
def test_association(n: int) -> None:
    contingency = pytest.importorskip("scipy.stats.contingency", reason="SciPy is not installed")
    full, stack = draw(n, full=True), draw(n)
    for spec, method in (("cramers_v", "cramer"), ("tschuprows_t", "tschuprow"), ("pearson_c", "pearson")):
        compare(full, spec, lambda cm, method=method: contingency.association(cm, method=method))
        spec += "(effective=True)" if spec != "pearson_c" else ""  # noqa: PLW2901
        compare(stack, spec, lambda cm, method=method: contingency.association(in_use(cm), method=method))
    compare(full, "chi_squared", lambda cm: contingency.chi2_contingency(cm, correction=False).statistic)
    compare(stack, "chi_squared", lambda cm: contingency.chi2_contingency(in_use(cm), correction=False).statistic)
    compare(full, "chi_squared_degrees_of_freedom", lambda cm: contingency.chi2_contingency(cm, correction=False).dof)


@pytest.mark.parametrize("n", SIZES)
def test_rank_correlation(n: int) -> None:
    kendalltau = pytest.importorskip("scipy.stats", reason="SciPy is not installed").kendalltau
    compare(draw(n), "kendall_tau", lambda cm: kendalltau(*labels(cm)).statistic)


@pytest.mark.sampled(2)
@pytest.mark.parametrize("n", SIZES)
def test_entropies(n: int) -> None:
    entropy = pytest.importorskip("scipy.stats", reason="SciPy is not installed").entropy
    full, stack = draw(n, full=True), draw(n)
    compare(full, "kl_divergence", lambda cm: entropy(cm.sum(1), cm.sum(0)))
    compare(full, "kl_divergence(base=2)", lambda cm: entropy(cm.sum(1), cm.sum(0), base=2))
    compare(full, "margin_cross_entropy", lambda cm: entropy(cm.sum(1)) + entropy(cm.sum(1), cm.sum(0)))
    compare(stack, "joint_entropy(base=10)", lambda cm: entropy(cm.ravel(), base=10))
    compare(stack, "true_entropy", lambda cm: entropy(cm.sum(1)))
    compare(stack, "pred_entropy", lambda cm: entropy(cm.sum(0)))


@pytest.mark.sampled(1)
@pytest.mark.parametrize("n", SIZES)
def test_binomial(n: int) -> None:
    binomtest = pytest.importorskip("scipy.stats", reason="SciPy is not installed").binomtest

    def chance(cm: np.ndarray) -> float:
        rate = cm.sum(1).max() / cm.sum()
        return binomtest(int(np.trace(cm)), int(cm.sum()), rate, "greater").pvalue

    def limit(cm: np.ndarray, side: int, share: float) -> float:
        return binomtest(int(np.trace(cm)), int(cm.sum())).proportion_ci(share, "wilson")[side]

    compare(draw(n), "no_information_p_value", chance)
    for side, bound in enumerate(("lower", "upper")):
        for share in (0.95, 0.5, 0.999999):
            spec = f"accuracy_confidence_limit(bound={bound},confidence={share})"
            compare(draw(n), spec, lambda cm, side=side, share=share: limit(cm, side, share))


def test_sensitivity_index() -> None:
    """Φ⁻¹ in the middle and in both tails, as far as numbers go."""
    norm = pytest.importorskip("scipy.stats", reason="SciPy is not installed").norm
    shares = [0.5, 0.4, 0.0751, 0.0749, 1e-3, 1e-9, 1.3e-11, 1.5e-11, 1e-15, 1e-30, 1e-100, 1e-300]
    cells = [
        (10**15, 1),
        (1, 10**15),
        (1, 1),
        (10**15, 10**15 - 1),
        *((1, s) for s in shares),
        *((s, 1) for s in shares),
    ]

    def quantile(cell: float, other: float) -> float:
        """By the smaller side: 1 less 1e-300 is 1."""
        small = min(cell, other) / (cell + other)
        return float(norm.isf(small) if cell > other else norm.ppf(small))

    rows = list(itertools.product(cells, repeat=2))
    ours = matrics.metrics.sensitivity_index(np.asarray(rows, float), average="binary", positive=0)
    wanted = [quantile(*first) - quantile(*second) for first, second in rows]
    np.testing.assert_allclose(ours, wanted, rtol=1e-12, atol=1e-12)
    assert np.abs(ours).max() > 70


def test_odds_ratio() -> None:
    contingency = pytest.importorskip("scipy.stats.contingency", reason="SciPy is not installed")
    stack = draw(2, full=True)
    compare(stack, "diagnostic_odds_ratio:binary", lambda cm: contingency.odds_ratio(cm, kind="sample").statistic)


# torchmetrics --------------------------------------------------------------------------------------------------------


@pytest.mark.sampled(2)
@pytest.mark.parametrize("n", SIZES)
def test_torchmetrics(n: int) -> None:
    nominal = pytest.importorskip("torchmetrics.functional.nominal", reason="torchmetrics is not installed")
    import torch
    from torchmetrics.functional.classification import multiclass_cohen_kappa

    def tensors(cm: np.ndarray, *, close_gaps: bool = False) -> tuple[Any, Any]:
        """The predicted labels come first. The nominal measures cannot do without a class of no items at all."""
        there = cm.any(axis=0) | cm.any(axis=1)
        true, pred = map(torch.from_numpy, labels(cm[there][:, there] if close_gaps else cm))
        return pred, true

    stack = draw(n)
    for spec, function, keywords in (
        ("cramers_v(effective=True)", nominal.cramers_v, {"bias_correction": False}),
        ("tschuprows_t(effective=True)", nominal.tschuprows_t, {"bias_correction": False}),
        ("pearson_c", nominal.pearsons_contingency_coefficient, {}),
        ("theil_u(direction=pred_given_true)", nominal.theils_u, {}),
        *((f"cohen_kappa(weights={weights})", multiclass_cohen_kappa, {"num_classes": n, "weights": weights})
          for weights in ("none", "linear", "quadratic")),
    ):  # fmt: skip
        ours = matrics.score(stack, spec)[spec]
        theirs = [
            [float(function(*tensors(cm, close_gaps="weights" not in keywords), **keywords)) for cm in row]
            for row in stack
        ]
        np.testing.assert_allclose(ours, theirs, rtol=1e-5, atol=1e-5, err_msg=spec)  # theirs are float32


# The standard error of kappa ------------------------------------------------------------------------------------------


def test_kappa_standard_error_as_printed() -> None:
    """SAS's ASE and 95 % limits of a table that statsmodels is tested with, and Fleiss's of his textbook's (se = .088).

    They are Fleiss, Cohen and Everitt's of 1969.
    """
    sas = [[0, 4, 1], [0, 8, 0], [0, 1, 5]]
    assert matrics.metrics.kappa_standard_error(sas) == pytest.approx(0.1380, abs=5e-5)
    limits = [matrics.metrics.kappa_confidence_limit(sas, bound=bound) for bound in ("lower", "upper")]
    np.testing.assert_allclose(limits, [0.2137, 0.7547], atol=5e-5)
    assert matrics.metrics.kappa_standard_error([[75, 1, 4], [5, 4, 1], [0, 0, 10]]) == pytest.approx(0.088, abs=5e-4)


def kappa_in_shares(cells: list[list[Any]]) -> Any:
    true, pred = [sum(row) for row in cells], [sum(column) for column in zip(*cells, strict=True)]
    total = sum(true)
    chance = sum(t * p for t, p in zip(true, pred, strict=True)) / total**2
    return (sum(cells[k][k] for k in range(len(cells))) / total - chance) / (1 - chance)


def delta_method(cm: np.ndarray) -> float:
    """Of κ and a multinomial sample, with derivatives by central differences in 60 digits."""
    with mpmath.workdps(60):
        total, step = mpmath.mpf(int(cm.sum())), mpmath.mpf(10) ** -20
        shares = [[mpmath.mpf(int(x)) / total for x in row] for row in cm]

        def moved(i: int, j: int, by: Any) -> Any:
            return kappa_in_shares([[x + by * ((a, b) == (i, j)) for b, x in enumerate(row)]
                                    for a, row in enumerate(shares)])  # fmt: skip

        pairs = list(np.ndindex(cm.shape))
        slopes = [(moved(i, j, step) - moved(i, j, -step)) / (2 * step) for i, j in pairs]
        means = [sum(shares[i][j] * d**k for (i, j), d in zip(pairs, slopes, strict=True)) for k in (1, 2)]
        return float(mpmath.sqrt((means[1] - means[0] ** 2) / total))


@pytest.mark.parametrize("n", SIZES)
def test_kappa_standard_error_is_that_of_the_delta_method(n: int) -> None:
    compare(draw(n)[::2], "kappa_standard_error", delta_method)


def test_kappa_standard_error_of_simulated_samples() -> None:
    """The spread of κ over samples of a multinomial distribution, which Cohen's formula misses by a fifth."""
    shares = np.asarray([[0.5, 0.3], [0.02, 0.18]])
    samples = np.random.default_rng(0).multinomial(2000, shares.ravel(), 40_000).reshape(-1, 2, 2)
    spread = matrics.cohen_kappa(samples).std()
    assert matrics.metrics.kappa_standard_error(2000 * shares) == pytest.approx(spread, rel=0.02)
    assert matrics.metrics.kappa_standard_error(2000 * shares, method="cohen") > 1.2 * spread


@pytest.mark.parametrize("size", [1, 1e30])
def test_kappa_standard_error_without_errors(size: float) -> None:
    perfect = np.diag([3, 4, 5]).astype(np.float32) * np.float32(size)
    assert matrics.metrics.kappa_standard_error(perfect) == 0
    assert matrics.metrics.kappa_confidence_limit(perfect) == 1


# Definitions, in fractions -------------------------------------------------------------------------------------------


class Exact:
    """A matrix in fractions, with its margins."""

    def __init__(self, cm: np.ndarray) -> None:
        self.c = [[Fraction(x) for x in row] for row in cm.tolist()]
        self.k = range(len(self.c))
        self.t = [sum(row) for row in self.c]
        self.p = [sum(row[j] for row in self.c) for j in self.k]
        self.m = sum(self.t)

    @property
    def flipped(self) -> Exact:
        return Exact(np.asarray(self.c).T)

    def recall(self, i: int, j: int) -> Fraction:
        return self.c[i][j] / self.t[i]

    def fpr(self, k: int) -> Fraction:
        return (self.p[k] - self.c[k][k]) / (self.m - self.t[k])


def krippendorff_alpha(x: Exact, weight: Callable[[int, int], int]) -> Fraction:
    """By the coincidence matrix: each item adds both of its ordered pairs of values."""
    sums = [t + p for t, p in zip(x.t, x.p, strict=True)]
    observed = sum(weight(i, j) * (x.c[i][j] + x.c[j][i]) for i in x.k for j in x.k)
    expected = sum(weight(i, j) * sums[i] * sums[j] for i in x.k for j in x.k)
    return 1 - (sum(sums) - 1) * observed / expected


def gwet_ac1(x: Exact) -> Fraction:
    shares = [(t + p) / (2 * x.m) for t, p in zip(x.t, x.p, strict=True)]
    chance = sum(q * (1 - q) for q in shares) / (len(x.k) - 1)
    return (sum(x.c[k][k] for k in x.k) / x.m - chance) / (1 - chance)


def true_pi(x: Exact) -> Fraction:
    chance = sum((t / x.m) ** 2 for t in x.t)
    return (sum(x.c[k][k] for k in x.k) / x.m - chance) / (1 - chance)


def errors_of_mode(x: Exact) -> tuple[Fraction, Fraction]:
    """Of the true class: without, and with, the predicted class known."""
    return x.m - max(x.t), sum(x.p[j] - max(x.c[i][j] for i in x.k) for j in x.k)


def errors_of_share(x: Exact) -> tuple[Fraction, Fraction]:
    before = x.m - sum(t * t for t in x.t) / x.m
    return before, x.m - sum(x.c[i][j] ** 2 / x.p[j] for i in x.k for j in x.k if x.p[j])


def entropies(x: Exact) -> tuple[Any, Any]:
    """Of the true class: without, and with, the predicted class known; in nats."""

    def spread(counts: list[Fraction]) -> Any:
        total = sum(counts)
        return -sum(mpf(c / x.m) * mpmath.log(mpf(c / total)) for c in counts if c)

    return spread(x.t), sum(spread([x.c[i][j] for i in x.k]) for j in x.k)


def mpf(x: Fraction) -> Any:
    return mpmath.mpf(x.numerator) / x.denominator


def reduction(errors: Callable[[Exact], tuple[Any, Any]], direction: str) -> Callable[[Exact], Any]:
    def found(x: Exact) -> Any:
        one, other = errors(x), errors(x.flipped)
        before, after = {"true_given_pred": one, "pred_given_true": other}.get(
            direction, (one[0] + other[0], one[1] + other[1])
        )
        return (before - after) / before

    return found


def modified_precision(x: Exact, k: int) -> Any:
    if x.t[k] == 0 or x.p[k] == 0:
        return mpmath.nan
    return x.recall(k, k) / (x.recall(k, k) + x.fpr(k))


def least(x: Exact) -> Fraction:
    return Fraction(len(x.k) - 2, 2 * len(x.k))


ANY: dict[str, Callable[[Exact], Any]] = {
    "mprecision:class": lambda x: [modified_precision(x, k) for k in x.k],
    "maurpc:class": lambda x: [(modified_precision(x, k) + x.recall(k, k)) / 2 if x.t[k] else mpmath.nan for k in x.k],
    "krippendorff_alpha": lambda x: krippendorff_alpha(x, lambda i, j: int(i != j)),
    "krippendorff_alpha(weights=linear)": lambda x: krippendorff_alpha(x, lambda i, j: abs(i - j)),
    "krippendorff_alpha(weights=quadratic)": lambda x: krippendorff_alpha(x, lambda i, j: (i - j) ** 2),
    "gwet_ac1": gwet_ac1,
    "scott_pi(proportions=true)": true_pi,
    "random_accuracy(proportions=true)": lambda x: sum((t / x.m) ** 2 for t in x.t),
    "conditional_entropy": lambda x: entropies(x.flipped)[1],
    "conditional_entropy(direction=true_given_pred)": lambda x: entropies(x)[1],
    **{
        f"{name}(direction={direction})": reduction(errors, direction)
        for direction in ("true_given_pred", "pred_given_true", "symmetric")
        for name, errors in (
            ("goodman_kruskal_lambda", errors_of_mode),
            ("goodman_kruskal_tau", errors_of_share),
            ("theil_u", entropies),
        )
    },
}

FULL: dict[str, Callable[[Exact], Any]] = {
    "auroc_ovo": lambda x: mean((1 + x.recall(i, i) - x.recall(j, i)) / 2 for i in x.k for j in x.k if i != j),
    "auroc_ova": lambda x: mean((1 + x.recall(k, k) - x.fpr(k)) / 2 for k in x.k),
    "nauroc_ova": lambda x: (FULL["auroc_ova"](x) - least(x)) / (1 - least(x)),
    "aurpc_ova": lambda x: mean((x.recall(k, k) + x.c[k][k] / x.p[k]) / 2 for k in x.k),
    "maurpc_ova": lambda x: mean(
        (x.recall(k, k) / sum(x.recall(j, k) for j in x.k) + x.recall(k, k)) / 2 for k in x.k
    ),
    "csi": lambda x: mean(x.recall(k, k) + x.c[k][k] / x.p[k] - 1 for k in x.k),
    "imbalance_ratio": lambda x: max(x.t) / min(x.t),
    "kulczynski:class": lambda x: [(x.c[k][k] / x.t[k] + x.c[k][k] / x.p[k]) / 2 for k in x.k],
}  # fmt: skip


def mean(values: Iterator[Fraction]) -> Fraction:
    every = list(values)
    return sum(every) / len(every)


@pytest.mark.sampled(16)
@pytest.mark.parametrize("n", SIZES)
@pytest.mark.parametrize("spec", [*ANY, *FULL])
def test_definition(n: int, spec: str) -> None:
    def reference(cm: np.ndarray) -> Any:
        with mpmath.workdps(40):
            found = {**ANY, **FULL}[spec](Exact(cm))
            return np.asarray(found, dtype=float)

    compare(draw(n, full=spec in FULL), spec, reference)


@pytest.mark.parametrize(
    "sizes", [(2, 1), (3, 3), (2, 1, 1), (1, 1, 1), (3, 2, 1), (2, 2, 1), (2, 1, 1, 1), (3, 1, 1, 2)]
)
def test_least_auroc_ova(sizes: tuple[int, ...]) -> None:
    """Of all classifiers of such classes."""

    def rows(size: int) -> list[tuple[int, ...]]:
        return [row for row in itertools.product(range(size + 1), repeat=len(sizes)) if sum(row) == size]

    every = np.asarray(list(itertools.product(*map(rows, sizes))))
    np.testing.assert_allclose(
        matrics.metrics.auroc_ova_lower_bound(every), matrics.metrics.auroc_ova(every).min(), rtol=1e-12, atol=1e-12
    )


def test_roots_of_yule() -> None:
    """Y is Q of the roots, and φ the root of φ²."""
    for n in SIZES:
        stack = draw(n, full=True)
        ratio = matrics.metrics.diagnostic_odds_ratio(stack, average="class")
        np.testing.assert_allclose(matrics.metrics.yule_q(stack, average="class"), (ratio - 1) / (ratio + 1), **EXACT)
        roots = np.sqrt(ratio)
        np.testing.assert_allclose(matrics.metrics.yule_y(stack, average="class"), (roots - 1) / (roots + 1), **EXACT)
        np.testing.assert_allclose(matrics.metrics.phi(stack) ** 2, matrics.metrics.phi_squared(stack), **EXACT)
