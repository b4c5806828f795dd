"""Intervals: with closed forms and other packages, on every road, and honest where nothing is known."""

from __future__ import annotations

import math
import warnings
from typing import Any

import mpmath
import numpy as np
import pytest
from roads import jax_bits

import matrics
from matrics import IntervalStatus
from matrics._arrays import NUMPY
from matrics._engine.evaluation import evaluate
from matrics._uncertainty.limits import student_quantile
from matrics._uncertainty.options import OF_PROPORTIONS, OF_RATIOS, SCHEMES
from matrics._uncertainty.slopes import slopes

stats = pytest.importorskip("scipy.stats")

CM = np.asarray([[45, 5, 1], [10, 30, 3], [1, 2, 14]])
SPECS = ["accuracy", "recall:class", "f1", "mcc", "cohen_kappa", "g_mean", "eve", "cen"]
RANDOM = np.random.default_rng(5)
METHODS = list(SCHEMES)
DRAWING = ("bootstrap", "bca", "posterior")


def options_of(method: str, seed: int = 0, num: int = 4000) -> dict[str, Any]:
    return {"method": method, **({"rng": seed, "num": num} if method in DRAWING else {})}


# Referees -------------------------------------------------------------------------------------------------------------


def test_standard_errors_in_closed_form() -> None:
    """Binomial for shares; Fleiss, Cohen and Everitt for κ; Takahashi et al. 2022 for the F1 averages."""
    found = matrics.interval(CM, ["accuracy", "recall:class", "cohen_kappa", "f1", "f1:micro"], method="delta")
    total, sizes = CM.sum(), CM.sum(1)
    p, recall = np.trace(CM) / total, np.diag(CM) / sizes
    np.testing.assert_allclose(found["accuracy"].standard_error, math.sqrt(p * (1 - p) / total), rtol=1e-7)
    np.testing.assert_allclose(found["recall:class"].standard_error, np.sqrt(recall * (1 - recall) / sizes), rtol=1e-7)
    np.testing.assert_allclose(found["f1:micro"].standard_error, math.sqrt(p * (1 - p) / total), rtol=1e-7)
    rater = pytest.importorskip("statsmodels.stats.inter_rater")
    np.testing.assert_allclose(found["cohen_kappa"].standard_error, rater.cohens_kappa(CM).std_kappa, rtol=1e-7)
    shares = CM / total
    both = shares.sum(0) + shares.sum(1)
    f1 = 2 * np.diag(shares) / both
    missed = (both - 2 * np.diag(shares)) / both
    own = (f1 * missed / both * (missed + f1 / 2)).sum()
    mixed = shares * np.outer(f1 / both, f1 / both)
    variance = 2 / 9 * (own + mixed.sum() - np.trace(mixed)) / total
    np.testing.assert_allclose(found["f1"].standard_error, math.sqrt(variance), rtol=1e-7)


def mcc_of(*cells: Any) -> Any:
    n = math.isqrt(len(cells))
    rows = [mpmath.fsum(cells[i * n : i * n + n]) for i in range(n)]
    columns = [mpmath.fsum(cells[j::n]) for j in range(n)]
    total, hits = mpmath.fsum(cells), mpmath.fsum(cells[i * n + i] for i in range(n))
    covariance = hits * total - mpmath.fsum(r * c for r, c in zip(rows, columns, strict=True))
    spread = [total**2 - mpmath.fsum(x * x for x in sums) for sums in (rows, columns)]
    return covariance / mpmath.sqrt(spread[0] * spread[1])


def test_the_delta_method_of_mcc() -> None:
    """Itaya et al. 2024: Fisher's z, with derivatives in 40 digits; an empty cell adds nothing."""
    for cm in (CM, np.asarray([[20, 0, 3], [1, 9, 0], [0, 4, 900]])):
        cells = [mpmath.mpf(int(cell)) for cell in cm.ravel()]
        with mpmath.workdps(40):
            variance = mpmath.mpf(0)
            for k in np.flatnonzero(cm):
                order = tuple(int(j == k) for j in range(9))
                variance += cells[k] * mpmath.diff(mcc_of, cells, order) ** 2
            value, error = mcc_of(*cells), mpmath.sqrt(variance)
            z = mpmath.mpf(stats.norm.ppf(0.95))
            limits = [mpmath.tanh(mpmath.atanh(value) + side * z * error / (1 - value**2)) for side in (-1, 1)]
        found = matrics.interval(cm, "mcc", method="delta", level=0.9)["mcc"]
        np.testing.assert_allclose(found[:4], [float(x) for x in (value, *limits, error)], rtol=1e-7)


def test_wilson_beside_statsmodels() -> None:
    confint = pytest.importorskip("statsmodels.stats.proportion").proportion_confint
    specs = {
        "accuracy": (89, 111),
        "recall:class": (np.diag(CM), CM.sum(1)),
        "precision:class": (np.diag(CM), CM.sum(0)),
    }
    for method in ("wilson", "auto"):
        found = matrics.interval(CM, list(specs), method=method, level=0.9)
        for name, (hits, trials) in specs.items():
            np.testing.assert_allclose(
                np.asarray(found[name][1:3]), confint(hits, trials, alpha=0.1, method="wilson"), rtol=1e-12
            )
    found = matrics.interval([[[7, 3], [2, 0]]] * 2, "recall:binary", method="wilson")["recall:binary"]
    np.testing.assert_allclose(found.high, [confint(0, 2, method="wilson")[1]] * 2, rtol=1e-12)
    assert (found.low == 0).all()


def margins(metric: Any) -> tuple[Any, Any]:
    """A proportion times its number of trials, which is a number of samples."""
    bound = metric.using(average="class") if metric.kind == "per_class" else metric
    from matrics._uncertainty.measure import Measure

    return bound, Measure.of(bound).trials


@pytest.mark.parametrize("name", [n for n in matrics.list_metrics() if matrics.get_metric(n).proportion_of])
def test_proportions_are_numbers_of_samples(name: str) -> None:
    """The fact in the record: so many of so many samples, with the variance of a binomial."""
    stack = RANDOM.integers(1, 40, (20, 3, 3))
    metric, trials = margins(matrics.get_metric(name))
    share, (number,) = metric(stack), evaluate(stack, [trials])
    hits = share * number
    np.testing.assert_allclose(hits, np.rint(hits), atol=1e-9)
    assert (number >= hits - 1e-9).all()
    error = matrics.interval(stack, [metric], method="delta")[str(metric)].standard_error
    np.testing.assert_allclose(error, np.sqrt(share * (1 - share) / number), rtol=1e-6)


def resampled(scores: Any, method: str) -> Any:
    """SciPy's bootstrap on the samples themselves."""
    true, pred = np.divmod(np.repeat(np.arange(9), CM.ravel()), 3)

    def statistic(y_true: Any, y_pred: Any, axis: int = -1) -> Any:
        del axis
        keys = y_true * 3 + y_pred
        counts = (keys[..., None] == np.arange(9)).sum(-2).reshape(*keys.shape[:-1], 3, 3)
        return scores(counts)

    return stats.bootstrap(
        (true, pred), statistic, paired=True, n_resamples=4000, method=method, rng=np.random.default_rng(1), batch=500
    )


@pytest.mark.sampled(2)
@pytest.mark.parametrize(("method", "theirs"), [("bootstrap", "percentile"), ("bca", "BCa")])
@pytest.mark.parametrize("name", ["mcc", "f1"])
def test_beside_scipys_bootstrap(method: str, theirs: str, name: str) -> None:
    found = matrics.interval(CM, name, method=method, num=40_000, rng=0)[name]
    peer = resampled(matrics.get_metric(name), theirs)
    np.testing.assert_allclose(found[1:3], peer.confidence_interval, atol=0.012)
    np.testing.assert_allclose(found.standard_error, peer.standard_error, rtol=0.06)


def test_beside_the_posterior_of_prob_conf_mat() -> None:
    """Its priors on class sizes and on rows are together one on all cells."""
    package = pytest.importorskip("prob_conf_mat")
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        study = package.Study(seed=0, num_samples=40_000, ci_probability=0.95)
        study.add_experiment("a/b", CM.tolist(), prevalence_prior=1.5, confusion_prior=0.5)
        study.add_metric("mcc")
        values = study.get_metric_samples(metric="mcc", experiment_name="a/b", sampling_method="posterior").values
    found = matrics.interval(CM, "mcc", method="posterior", prior=0.5, num=40_000, rng=0)["mcc"]
    np.testing.assert_allclose(found[1:3], np.quantile(values, [0.025, 0.975]), atol=0.006)
    np.testing.assert_allclose(found.standard_error, values.std(), rtol=0.03)


@pytest.mark.exhaustive
@pytest.mark.parametrize("sets", [1, pytest.param(5, marks=pytest.mark.exhaustive)])
def test_beside_resampled_labels_with_scikit_learn(sets: int) -> None:
    sk = pytest.importorskip("sklearn.metrics")
    for seed in range(sets):
        random = np.random.default_rng(seed)
        true = random.integers(0, 3, 150)
        pred = np.where(random.random(150) < 0.7, true, random.integers(0, 3, 150))
        replicates = []
        for _ in range(600):
            some = random.integers(0, 150, 150)
            replicates.append(sk.matthews_corrcoef(true[some], pred[some]))
        cm = matrics.confusion_matrix(true, pred, num_classes=3)
        found = matrics.interval(cm, "mcc", method="bootstrap", num=20_000, rng=seed)["mcc"]
        np.testing.assert_allclose(found[1:3], np.quantile(replicates, [0.025, 0.975]), atol=0.03)
        np.testing.assert_allclose(found.standard_error, np.std(replicates), rtol=0.12)


def test_students_quantile() -> None:
    for degrees in (1, 2, 3, 4, 7, 30, 1000):
        for level in (0.5, 0.9, 0.95, 0.999):
            np.testing.assert_allclose(
                student_quantile(level, degrees), stats.t.ppf((1 + level) / 2, degrees), rtol=1e-5
            )


# Derivatives ----------------------------------------------------------------------------------------------------------


def made_of_maxima(name: str) -> bool:
    """Measures with a kink, at which derivatives differ from side to side, or that are infinite or constant."""
    return matrics.get_metric(name).name in {
        "automatic_manual_difference", "prevalence", "predicted_prevalence", "overlap_coefficient", "braun_blanquet",
        "anderberg", "fager_mcgowan", "benini_ii", "forbes_ii", "kuhns_ii", "kuhns_iv", "kuhns_v", "kuhns_vi",
        "baulieu_x", "baulieu_xv", "bray_curtis_dissimilarity", "positive_likelihood_ratio", "diagnostic_odds_ratio",
        "discriminant_power", "sensitivity_index", "yule_q", "gt_index", "koppen_i", "digby", "auroc_ova_lower_bound",
        "goodman_kruskal_lambda", "goodman_kruskal_lambda_r",
        "consonni_todeschini_i",
    }  # fmt: skip


@pytest.mark.parametrize("library", ["torch", pytest.param("jax-x64", marks=pytest.mark.exhaustive)])
def test_differences_beside_automatic_derivatives(library: str) -> None:
    """With and without empty cells, to 1e-6 of the standard error; JAX for the core, as it compiles each measure."""
    if library == "torch":
        pytest.importorskip("torch")
        from matrics._arrays.torch import TORCH as THERE

        array = THERE.xp.asarray
        names = [n for n in matrics.list_metrics() if not made_of_maxima(n)]
    else:
        jax = pytest.importorskip("jax")
        from matrics._arrays.jax import JAX as THERE

        array = jax.numpy.asarray
        names = matrics.list_metrics("core")
    with jax_bits(float64=True) if library != "torch" else warnings.catch_warnings():
        for stack in (
            np.random.default_rng(0).integers(1, 60, (3, 3, 3)),
            [[[5000, 3, 0], [1, 800, 7], [0, 2, 40]]],
            [[[9, 2], [0, 7]]],
        ):
            cells = np.asarray(stack, np.float64)
            functions = [matrics.get_metric(name).bind() for name in names]
            options: dict[str, Any] = {"second": False, "workers": 1}

            def score(cm: Any, workers: int, functions: Any = functions) -> Any:
                return evaluate(cm, functions, invalid="nan", workers=workers)

            ours = slopes(cells, score, NUMPY, **options)
            theirs = slopes(array(cells), score, THERE, **options)
            for name, value, first, other in zip(names, ours.values, ours.first, theirs.first, strict=True):
                counts = cells.reshape(len(cells), *(1,) * (first.ndim - 2), -1)
                there = np.where(counts > 0, np.asarray(other), 0)
                error = np.sqrt((counts * first**2).sum(-1))
                apart = np.sqrt((counts * (first - there) ** 2).sum(-1))
                assert (apart <= 1e-6 * error + 1e-8 * np.abs(value)).all(), name


# Roads ----------------------------------------------------------------------------------------------------------------


def compare(found: Any, wanted: Any, tolerance: float) -> None:
    for name, one in wanted.items():
        for field in ("estimate", "low", "high", "standard_error", "status"):
            mine = np.asarray(getattr(found[name], field))
            np.testing.assert_allclose(mine, getattr(one, field), atol=tolerance, err_msg=f"{name} {field}")


@pytest.mark.sampled(1)
@pytest.mark.parametrize("method", ["auto", "delta", *DRAWING])
def test_torch(torch: Any, method: str) -> None:
    """Plain tensors as NumPy; with a generator of PyTorch, or on a road of its own, to rounding or to Monte Carlo."""
    wanted = matrics.interval(CM, SPECS, **options_of(method, num=20_000))
    found = matrics.interval(torch.as_tensor(CM), SPECS, **options_of(method, num=20_000))
    compare(found, wanted, 0)
    assert isinstance(found["mcc"].low, torch.Tensor)
    if method in DRAWING:
        options = {"method": method, "num": 20_000, "rng": torch.Generator().manual_seed(0)}
        compare(matrics.interval(torch.as_tensor(CM), SPECS, **options), wanted, 0.03)
        return
    mapped = torch.as_tensor(np.stack([CM, CM + 3]), dtype=torch.float64)
    from matrics._arrays.torch import TORCH
    from matrics._uncertainty.interval import _intervals
    from matrics._uncertainty.measure import Measure, Task, score_of
    from matrics._uncertainty.options import read_options

    options = read_options(0.95, method, None, prior=None, num=None, rng=None, cluster_axis=None)
    measures = [Measure.of(matrics.get_metric(name)) for name in SPECS]
    task = Task(mapped, mapped, [], measures, score_of(measures, math.nan), options, math.nan, 1, TORCH)
    by_autograd = dict(zip(SPECS, _intervals(mapped, task, None, None, "warn"), strict=True))
    compare(by_autograd, matrics.interval(np.stack([CM, CM + 3]), SPECS, **options_of(method)), 1e-5)


@pytest.mark.parametrize(
    "method",
    ["auto", *(pytest.param(m, marks=pytest.mark.exhaustive) for m in ("bootstrap", "delta", "bca", "posterior"))],
)
def test_jax_under_jit(jax_backend: Any, method: str) -> None:
    """One call, without values to look at; the limits of the host to rounding or to Monte Carlo."""
    jax = pytest.importorskip("jax")
    specs = ["recall:class", "mcc", "cen" if method == "auto" else "eve"]
    stack = np.stack([CM, CM + 40])
    draws = {"num": 10_000} if method in DRAWING else {}

    def intervals(cm: Any, key: Any) -> Any:
        return matrics.interval(cm, specs, method=method, **({**draws, "rng": key} if draws else {}))

    found = jax.jit(intervals)(jax_backend.asarray(stack), jax.random.key(3))
    wanted = matrics.interval(stack, specs, **options_of(method, num=10_000))
    compare(found, wanted, 0.03 if draws else 2e-3 if not jax_backend.float64 else 1e-6)


@pytest.mark.sampled(2)
def test_other_libraries_are_worked_on_by_numpy(backend: Any) -> None:
    found = matrics.interval(backend.asarray(CM), SPECS)
    compare({k: matrics.Interval(*map(backend.numpy, v)) for k, v in found.items()}, matrics.interval(CM, SPECS), 2e-6)
    assert type(found["mcc"].low) is type(matrics.mcc(backend.asarray(CM)))


@pytest.mark.exhaustive
@pytest.mark.exhaustive(method=["bootstrap"])
@pytest.mark.parametrize("method", DRAWING)
@pytest.mark.parametrize("scheme", ["multinomial", "clusters"])
def test_limits_depend_on_the_seed_alone(method: str, scheme: str) -> None:
    if scheme not in SCHEMES[method]:
        return
    stack = RANDOM.integers(1, 60, (5, 4, 3, 3))
    options: dict[str, Any] = {"method": method, "num": 9000}
    if scheme == "clusters":
        options["cluster_axis"] = 0
    first, same, threads, other = (
        matrics.interval(stack, SPECS, **options, rng=seed, workers=workers)
        for seed, workers in ((1, 1), (np.random.default_rng(1), 1), (1, 3), (2, 1))
    )
    compare(same, first, 0)
    compare(threads, first, 0)
    assert (other["mcc"].standard_error != first["mcc"].standard_error).any()
    compare(other, first, 0.15)


# Where little is known ------------------------------------------------------------------------------------------------


def test_no_errors_at_all() -> None:
    """Replicates and derivatives know nothing; the default gives a wide interval that contains the estimate."""
    perfect = np.diag([40, 60])
    for method in ("delta", "bootstrap", "bca"):
        for one in matrics.interval(perfect, ["accuracy", "mcc", "recall:class"], **options_of(method)).values():
            assert np.isnan(one.low).all()
            assert np.isnan(one.high).all()
            assert (one.status == IntervalStatus.NO_VARIATION).all()
    for name, one in matrics.interval(perfect, SPECS).items():
        assert (one.high - one.low > 1e-4).all(), name
        assert (one.status == IntervalStatus.FEW_SAMPLES).all()  # of errors
    assert matrics.interval(perfect, "accuracy")["accuracy"].high == 1


def test_one_sample_empty_classes_and_empty_matrices() -> None:
    for method in METHODS:
        if method in OF_RATIOS:  # which have a test of their own
            continue
        specs = ["accuracy", "recall:class"] if method in OF_PROPORTIONS else ["accuracy", "recall:class", "mcc", "eve"]
        found = matrics.interval([[[1, 0], [0, 0]], [[0, 0], [0, 0]], [[30, 10], [0, 0]]], specs, **options_of(method))
        for name, one in found.items():
            known = ~np.isnan(one.low)
            assert (np.asarray(one.low)[known] < np.asarray(one.high)[known]).all(), (method, name)
            assert (one.status[1] == IntervalStatus.UNDEFINED).all()
            assert (one.status[0] != IntervalStatus.OK).all()
    empty = matrics.interval([[30, 10], [0, 0]], "accuracy, f1:macro")
    assert empty["accuracy"].status == IntervalStatus.OK  # which does not depend on the classes
    assert empty["f1:macro"].status == IntervalStatus.EMPTY_CLASS


def test_status_of_few_samples() -> None:
    """20 of each true class, 20 n² in all, and 5 errors and correct predictions; of clusters, 20 with each class."""
    clusters = np.zeros((25, 2, 2), int)
    clusters[:, 0, 0], clusters[:, 0, 1], clusters[:19, 1, 1] = 9, 1, 5
    assert matrics.interval(clusters, "mcc", cluster_axis=0)["mcc"].status == 1
    clusters[19, 1, 0] = 1
    assert matrics.interval(clusters, "mcc", cluster_axis=0)["mcc"].status == 0
    cases = {((60, 10), (5, 20)): 0, ((60, 10), (5, 14)): 1, ((30, 10), (9, 20)): 1, ((40, 11), (9, 20)): 0}
    cases |= {((60, 2), (2, 40)): 1, ((60, 2), (3, 40)): 0, ((2, 60), (40, 2)): 1, ((3, 60), (40, 2)): 0}
    for cm, wanted in cases.items():
        assert matrics.interval(cm, "mcc")["mcc"].status == wanted, cm
    for status in IntervalStatus:
        assert len(status.sentence) > 20


def test_one_bad_matrix_spoils_no_other() -> None:
    stack = np.stack([CM, CM, CM]).astype(float)
    stack[1, 0, 0] = -3
    for method in ("auto", "delta", *DRAWING):
        with pytest.warns(RuntimeWarning, match=r"1 of 3 confusion matrices is invalid: \[1\] has the cell -3"):
            found = matrics.interval(stack, ["mcc", "recall:class"], **options_of(method))
        for one in found.values():
            assert (one.status[1] == IntervalStatus.INVALID).all()
            assert np.isnan(one.low[1]).all()
            assert np.isnan(one.standard_error[1]).all()
        if method not in DRAWING:
            np.testing.assert_array_equal(found["mcc"].low[0], matrics.interval(CM, "mcc", method=method)["mcc"].low)
        assert np.isfinite(np.asarray(found["mcc"][:4])[:, [0, 2]]).all()


def test_undefined_replicates_are_counted() -> None:
    """The rare class of two of 100 samples is absent with probability 0.98**100."""
    cm = [[90, 8], [1, 1]]
    one = matrics.interval(cm, "recall:class", method="bootstrap", num=20_000, rng=0)["recall:class"]
    wanted = 20_000 * 0.98**100
    assert one.undefined[0] == 0
    assert abs(one.undefined[1] - wanted) < 4 * math.sqrt(wanted)
    assert one.status[1] == IntervalStatus.UNDEFINED_REPLICATES
    filled = matrics.interval(cm, "recall:class", method="bootstrap", num=20_000, rng=0, zero_division=0)[
        "recall:class"
    ]
    assert filled.undefined[1] == 0


@pytest.mark.sampled(1)
@pytest.mark.parametrize("method", ["auto", "delta", "bootstrap", "bca", "posterior"])
def test_no_limit_leaves_the_range(method: str) -> None:
    """Of all measures, for matrices near the ends of their ranges; low is below high, and no point is an interval."""
    stack = np.asarray(
        [[[40, 1], [0, 3]], [[0, 30], [25, 1]], [[10, 10], [10, 10]], [[99, 0], [1, 0]], [[7, 0], [0, 5]]]
    )
    specs = [name for name in matrics.list_metrics() if name != "no_information_p_value"]
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        found = matrics.interval(stack, specs, **options_of(method, num=500))
    for name, one in found.items():
        low, high = matrics.get_metric(name).range
        known = ~np.isnan(one.low)
        room = 1e-12
        assert (one.low[known] >= low - room).all(), name
        assert (one.high[known] <= high + room).all(), name
        assert (one.low[known] < one.high[known]).all(), name
        assert (known == (one.status < IntervalStatus.NO_VARIATION)).all(), name


def test_what_zero_division_says_is_no_limit() -> None:
    one = matrics.interval([[5, 0], [0, 0]], "mcc", zero_division=-7)["mcc"]
    assert one.estimate == -7
    assert -1 <= one.low < one.high <= 1


def test_shapes_and_empty_stacks() -> None:
    for shape in ((0,), (2, 0), (), (2, 3)):
        stack = RANDOM.integers(1, 50, (*shape, 3, 3))
        for method in ("auto", "delta", *DRAWING):
            found = matrics.interval(stack, ["mcc", "recall:class", "accuracy"], **options_of(method, num=50))
            for name, extra in (("mcc", ()), ("recall:class", (3,)), ("accuracy", ())):
                assert {np.shape(part) for part in found[name]} == {shape + extra}
    with pytest.raises(ValueError, match="expected a confusion matrix"):
        matrics.interval(np.ones((2, 3)))


def test_huge_counts_and_one_class() -> None:
    huge = matrics.interval(np.asarray([[10**12, 10**9], [10**8, 10**11]]), ["mcc", "accuracy", "f1"], method="delta")
    for one in huge.values():
        assert one.low < one.estimate < one.high
        assert one.high - one.low < 1e-4
    only = matrics.interval([[9]], ["accuracy", "mcc"])
    assert only["accuracy"].low < 1 == only["accuracy"].high
    assert only["mcc"].status == IntervalStatus.UNDEFINED


# Clusters and rows ----------------------------------------------------------------------------------------------------


def test_clusters() -> None:
    """The variance of the clusters' contributions, by hand for the accuracy; the bootstrap of clusters agrees."""
    clusters = RANDOM.multinomial(30, [0.3, 0.1, 0.2, 0.4], size=(40, 2)).reshape(40, 2, 2, 2)
    clusters[::2, :, 0, 0] += 15
    hits, size = clusters[..., 0, 0] + clusters[..., 1, 1], clusters.sum((-1, -2))
    p = hits.sum(0) / size.sum(0)
    away = (hits - p * size) / size.sum(0)
    error = np.sqrt((away**2).sum(0) * 40 / 39)
    delta = matrics.interval(clusters, "accuracy", method="delta", cluster_axis=0)["accuracy"]
    np.testing.assert_allclose(delta.standard_error, error, rtol=1e-7)
    reach = stats.t.ppf(0.975, 39) * error / (p * (1 - p))
    np.testing.assert_allclose(delta.high, stats.logistic.cdf(stats.logistic.ppf(p) + reach), rtol=1e-6)
    drawn = matrics.interval(clusters, ["accuracy", "mcc"], method="bootstrap", cluster_axis=0, num=20_000, rng=0)
    np.testing.assert_allclose(drawn["accuracy"].standard_error, error * math.sqrt(39 / 40), rtol=0.03)
    default = matrics.interval(np.moveaxis(clusters, 0, 1), ["accuracy", "mcc"], cluster_axis=1)
    assert (default["accuracy"].high - default["accuracy"].low >= (delta.high - delta.low) * 0.9).all()
    np.testing.assert_allclose(default["mcc"].standard_error, drawn["mcc"].standard_error, rtol=0.1)
    corrected = matrics.interval(clusters, "mcc", method="bca", cluster_axis=0, num=20_000, rng=0)["mcc"]
    np.testing.assert_allclose(corrected[1:3], drawn["mcc"][1:3], atol=0.03)


@pytest.mark.parametrize(("number", "size"), [(178, 5), (400, 2), (60, 5)])
def test_an_error_more_makes_no_surer(number: int, size: int) -> None:
    """Clusters without errors are one trial each; with an error in one of 178 they were 890, and limits were higher."""
    clusters = np.zeros((25, number, 2, 2))
    clusters[..., 0, 0] = size
    for errors in range(25):
        clusters[errors, :errors, 0] = size - 1, 1
    found = matrics.interval(np.moveaxis(clusters, 0, 1), ["accuracy", "recall[0]"], cluster_axis=0)
    for one in found.values():
        assert (np.diff(one.low) < 0).all()
        assert (one.high >= one.estimate).all()
    z = stats.t.ppf(0.975, number - 1)
    np.testing.assert_allclose(found["accuracy"].low[0], number / (number + z**2), rtol=1e-5)


def test_clusters_without_samples_tell_nothing() -> None:
    """They change no limit; a class without errors has as many trials as clusters with samples of it."""
    clusters = RANDOM.multinomial(8, [0.4, 0.1, 0.2, 0.3], size=(15, 2)).reshape(15, 2, 2, 2)
    padded = np.concatenate([clusters, np.zeros((100, 2, 2, 2), int)])
    specs = ["accuracy", "recall:class", "mcc", "eve"]
    for method in ("auto", "delta"):
        few, many = (matrics.interval(x, specs, cluster_axis=0, method=method) for x in (clusters, padded))
        for name in specs:
            np.testing.assert_allclose(np.asarray(few[name]), np.asarray(many[name]), rtol=1e-9)
    alone = np.zeros((40, 2, 2), int)
    alone[:20, 0, 0] = alone[20:, 1, 0] = 3
    found = matrics.interval(alone, "recall:class", cluster_axis=0)["recall:class"]
    z = stats.t.ppf(0.975, 39)
    np.testing.assert_allclose(found.low[0], 20 / (20 + z**2), rtol=1e-5)
    assert found.high[0] == 1
    assert found.low[1] == 0


def test_fixed_class_sizes() -> None:
    """With fixed rows the accuracy varies less, the recalls as much; of each method that takes them."""
    found = {
        m: matrics.interval(CM, ["accuracy", "recall:class"], **options_of(m), scheme="rows")
        for m in SCHEMES
        if m not in (*OF_PROPORTIONS, *OF_RATIOS)
    }
    recall = np.diag(CM) / CM.sum(1)
    variance = (CM.sum(1) / CM.sum() ** 2 * recall * (1 - recall)).sum()
    for method, one in found.items():
        rtol = {"delta": 1e-7, "auto": 0.01}.get(method, 0.05)
        np.testing.assert_allclose(one["accuracy"].standard_error, math.sqrt(variance), rtol=rtol)
        np.testing.assert_allclose(
            one["recall:class"].standard_error,
            np.sqrt(recall * (1 - recall) / CM.sum(1)),
            rtol=max(rtol, 0.06 * (rtol > 0.02)),
        )


# Coverage -------------------------------------------------------------------------------------------------------------


def truth(n: int, kind: str) -> np.ndarray:
    sizes = np.asarray([20.0] * (n - 1) + [1.0]) if kind == "one to twenty" else np.ones(n)
    recall = {"balanced": 0.7, "one to twenty": 0.8, "near perfect": 0.99}[kind]
    cm = np.empty((n, n))
    for i in range(n):
        weights = np.where(np.arange(n) == i, 0, np.linspace(1, 2, n))
        cm[i] = weights / weights.sum() * (1 - recall)
        cm[i, i] = recall
    return cm * (sizes / sizes.sum())[:, None]


SETTINGS = [
    pytest.param(n, kind, N, marks=() if (n, N) == (3, 200) else pytest.mark.exhaustive)
    for n in (2, 3, 5)
    for kind in ("balanced", "one to twenty", "near perfect")
    for N in (200, 1000)
    if 20 * n * n <= N and truth(n, kind).sum(1).min() * N >= 20
]


@pytest.mark.sampled(1)
@pytest.mark.parametrize(("n", "kind", "samples"), SETTINGS)
def test_the_default_covers(n: int, kind: str, samples: int) -> None:
    """95 % intervals contain the truth at least 93 times of 100 (less three standard errors of 2,000 data sets)."""
    shares = truth(n, kind)
    stack = np.random.default_rng(n + samples).multinomial(samples, shares.ravel(), size=2000).reshape(-1, n, n)
    specs = ["accuracy", "recall:class", "precision", "f1", "mcc", "cohen_kappa", "g_mean", "eve", "cen"]
    exact = matrics.score(shares, specs)
    for name, one in matrics.interval(stack, specs).items():
        known = ~np.isnan(one.estimate)
        held = (one.low <= exact[name]) & (exact[name] <= one.high)
        coverage = held.sum(0) / known.sum(0)
        assert (coverage >= 0.93 - 3 * math.sqrt(0.93 * 0.07 / 2000)).all(), (name, coverage)


# Options --------------------------------------------------------------------------------------------------------------


@pytest.mark.sampled(2)
@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"level": 0}, "level: expected a number between 0 and 1"),
        ({"level": 1.0}, "level: expected a number between 0 and 1"),
        ({"level": 1 - 1e-16}, "level: expected a number between 0 and 1"),
        ({"level": 95}, "level: expected a number between 0 and 1, such as 0.95, got 95"),
        ({"method": "wald"}, "method: expected one of 'auto', 'bootstrap', 'bca', 'posterior', 'delta', 'wilson'"),
        ({"method": "wilson"}, "method: expected another method than 'wilson' for mcc"),
        ({"method": "delta", "num": 100}, "num: expected None, because method='delta' does not resample"),
        ({"method": "delta", "rng": 0}, "rng: expected None, because method='delta' does not resample"),
        ({"method": "wilson", "scheme": "rows"}, "scheme: expected for method='wilson' None: it is about samples"),
        ({"method": "delta", "scheme": "poisson"}, "one of 'multinomial', 'rows', 'clusters'; got 'poisson'"),
        ({"method": "posterior", "scheme": "clusters"}, "one of 'multinomial', 'rows'; got 'clusters'"),
        ({"scheme": "dirichlet"}, "scheme: expected for method='auto'"),
        ({"scheme": "clusters"}, "cluster_axis: expected the axis of the clusters"),
        ({"scheme": "rows", "cluster_axis": 0}, "cluster_axis: expected the axis of the clusters"),
        ({"cluster_axis": 0}, "cluster_axis: expected an axis before the axes of the classes, got 0"),
        ({"method": "bootstrap", "prior": 1}, "prior: expected None, as method='bootstrap' has no prior"),
        ({"method": "posterior", "prior": -1}, "prior: expected positive numbers, got -1"),
        ({"method": "bootstrap", "num": 0}, "num: expected an integer of at least 1, got 0"),
        ({"method": "bootstrap", "num": -5}, "num: expected an integer of at least 1, got -5"),
        ({"workers": 0}, "workers: expected"),
    ],
)
def test_options(options: dict[str, Any], message: str) -> None:
    with pytest.raises(ValueError, match=message):
        matrics.interval(CM, "mcc", **options)


def test_what_cannot_be_drawn() -> None:
    for method in ("bootstrap", "bca"):
        with pytest.raises(ValueError, match="expected counts, as scheme='multinomial' draws samples"):
            matrics.interval(CM + 0.5, "mcc", method=method)
    assert matrics.interval(CM + 0.5, "mcc", method="posterior", rng=0)["mcc"].low > 0
    assert matrics.interval(CM + 0.5, "mcc")["mcc"].low > 0
    with pytest.raises(ValueError, match="at least two clusters, got 1"):
        matrics.interval(CM[None], "mcc", cluster_axis=0)
    torch = pytest.importorskip("torch")
    with pytest.raises(TypeError, match="rng: expected a generator of the library of the matrix"):
        matrics.interval(CM, "mcc", method="bootstrap", rng=torch.Generator())
    jax = pytest.importorskip("jax")
    with pytest.raises(TypeError, match="which decides the device, got none"):
        jax.jit(lambda cm: matrics.interval(cm, "mcc", method="bootstrap"))(jax.numpy.asarray(CM))
