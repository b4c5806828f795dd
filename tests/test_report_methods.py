"""The methods paragraph of a report, sentence by sentence, and the positive class that a report names."""

from __future__ import annotations

import math
import re
from typing import Any

import numpy as np
import pytest
import sklearn.metrics as sk
from numpy.testing import assert_allclose

import matrics

pytest.importorskip("jinja2")
pytest.importorskip("matplotlib")
pytest.importorskip("scipy")

Z = 1.959963984540054
TRUE = np.repeat([0, 1], [900, 100])
PRED = np.concatenate([np.repeat([0, 1], [820, 80]), np.repeat([0, 1], [44, 56])])  # precision 56 / 136
LABELS: dict[str, tuple[Any, Any]] = {
    "integers": (0, 1),
    "other integers": (-1, 1),
    "booleans": (False, True),
    "texts of booleans": ("false", "true"),
    "texts of numbers": ("0", "1"),
}


@pytest.mark.sampled(1)
@pytest.mark.parametrize("labels", LABELS.values(), ids=LABELS)
def test_labels_that_are_numbers_have_class_1_as_the_positive_one(labels: tuple[Any, Any]) -> None:
    """In the leaderboard as in the facts, and not in the facts alone."""
    data = {"y_true": [labels[k] for k in TRUE], "y_pred": [labels[k] for k in PRED]}
    made = matrics.report(data, metrics="precision,recall,f1")
    expected = sk.precision_recall_fscore_support(TRUE, PRED, average="binary")[:3]
    found = [float(one.estimate[0]) for one in made.findings.leaderboard.verdicts.values()]
    assert_allclose(found, expected)
    assert expected[0] == pytest.approx(0.411, abs=0.001)
    assert made.findings.detection is not None
    assert made.findings.detection.rows[0][2].value == pytest.approx(expected[0])
    assert f"<dt>Positive class</dt><dd>{labels[1]}</dd>" in made.html()


def test_texts_have_no_positive_class() -> None:
    """Their measures are averages, and nothing on the page says otherwise; class names of a matrix change no value."""
    names = np.array(["fine", "ill"])
    made = matrics.report({"y_true": names[TRUE], "y_pred": names[PRED]}, metrics="precision")
    matrix = [[820, 80], [44, 56]]
    assert made.findings.leaderboard.verdict.label == "precision, macro"
    assert float(made.findings.leaderboard.verdict.estimate[0]) == pytest.approx(
        sk.precision_score(TRUE, PRED, average="macro")
    )
    assert made.findings.detection is None
    assert "<dt>Positive class</dt><dd>none (averages are over both classes)</dd>" in made.html()
    for options, title in (({"class_names": ["fine", "ill"]}, "ill"), ({}, "class 1")):
        plain = matrics.report({"model": matrix}, metrics="precision", **options)
        assert plain.findings.leaderboard.verdict.label == f"precision of {title}"
        assert float(plain.findings.leaderboard.verdict.estimate[0]) == pytest.approx(56 / 136)
        assert plain.findings.detection is not None
    named = matrics.report({"model": matrix}, class_names=["fine", "ill"], positive="fine", metrics="precision")
    assert float(named.findings.leaderboard.verdict.estimate[0]) == pytest.approx(820 / 864)


@pytest.mark.filterwarnings("ignore:only among the true labels")
def test_three_classes_have_no_positive_one() -> None:
    made = matrics.report({"y_true": [0, 1, 2] * 9, "y_pred": [0, 1, 1] * 9}, metrics="recall")
    assert made.findings.leaderboard.verdict.label == "recall, macro"
    assert "Positive class" not in made.html()


def sentence(made: Any, words: str) -> str:
    """The sentence of the methods that has these words."""
    (found,) = (one for one in re.split(r"(?<! al)\. ", made.findings.methods) if words in one)
    return str(found)


def wilson(share: float, number: float, z: float = Z) -> tuple[float, float]:
    middle, reach = share + z * z / (2 * number), z * math.sqrt(share * (1 - share) / number + (z / (2 * number)) ** 2)
    return (middle - reach) / (1 + z * z / number), (middle + reach) / (1 + z * z / number)


def limits(made: Any, name: str, model: int = 0) -> tuple[float, float]:
    one = made.findings.leaderboard.verdicts[name]
    return float(one.low[model]), float(one.high[model])


def by_delta(matrix: Any, measure: Any, scale: Any, back: Any) -> tuple[float, float]:
    """Limits by the delta method, of the matrix with one sample spread over its cells, with numeric derivatives."""
    cells = np.asarray(matrix, float).ravel() + 1 / np.size(matrix)
    shape, step = np.shape(matrix), 1e-4

    def at(x: Any) -> float:
        return float(scale(measure(x.reshape(shape))))

    slopes = np.array([(at(cells + step * e) - at(cells - step * e)) / (2 * step) for e in np.eye(cells.size)])
    mean = cells @ slopes / cells.sum()
    error = math.sqrt(cells @ (slopes - mean) ** 2)
    return back(at(cells) - Z * error), back(at(cells) + Z * error)


def test_limits_of_measures_of_a_matrix() -> None:
    """Each measure is in the sentence of its method, and its limits are those that the sentence says."""
    matrix = np.array([[400, 60], [50, 390]])
    metrics = "mcc,accuracy,precision,diagnostic_odds_ratio,recall:min,eve"
    made = matrics.report({"model": matrix}, metrics=metrics)
    methods = {name: one.method for name, one in made.findings.leaderboard.verdicts.items()}
    assert list(methods.values()) == ["bounded", "proportion", "proportion", "ratio", "extreme", "corrected"]
    assert "Accuracy and precision of class 1 have 95 % Wilson score intervals" in made.findings.methods
    names = list(methods)
    assert_allclose(limits(made, names[1]), wilson(790 / 900, 900))
    assert_allclose(limits(made, names[2]), wilson(390 / 450, 450))

    def mcc(x: Any) -> float:
        return float((x[0, 0] * x[1, 1] - x[0, 1] * x[1, 0]) / np.sqrt(np.prod(x.sum(0)) * np.prod(x.sum(1))))

    found = by_delta(matrix, mcc, np.arctanh, np.tanh)
    assert_allclose(limits(made, names[0]), found, atol=1e-3)  # or those of the rows, if these are further away
    assert limits(made, names[0])[0] <= found[0] + 1e-6
    assert limits(made, names[0])[1] >= found[1] - 1e-6
    assert "MCC has a 95 % interval by the delta method" in sentence(made, "MCC has")
    assert "on the logit scale" in sentence(made, "MCC has")
    ratio, error = 400 * 390 / (60 * 50), math.sqrt(1 / 400 + 1 / 390 + 1 / 60 + 1 / 50)  # Woolf
    assert_allclose(limits(made, names[3]), (ratio * math.exp(-Z * error), ratio * math.exp(Z * error)), rtol=1e-6)
    assert "iagnostic odds ratio of class 1 has a 95 % interval on the logarithmic scale" in sentence(
        made, "Simel et al. 1991"
    )
    each = [wilson(400 / 460, 460), wilson(390 / 440, 440)]
    strict = [wilson(400 / 460, 460, 2.241402727604947), wilson(390 / 440, 440, 2.241402727604947)]  # 97.5 %
    assert_allclose(limits(made, names[4]), (min(x[0] for x in each), min(x[1] for x in strict)))
    assert "from the limits of the classes" in sentence(made, "Bonferroni")
    assert "corrected for bias" in sentence(made, "EVE has")


def test_limits_of_weighted_models_are_those_of_squared_weights() -> None:
    """With pairs and without; a measure of the number of samples has those of replicates."""
    random = np.random.default_rng(2)
    true, weights = random.integers(0, 2, 300), random.choice([1.0, 3.0], 300)
    preds = [np.where(random.random(300) < share, true, 1 - true) for share in (0.8, 0.7)]
    data = {
        "m": ["a"] * 300 + ["b"] * 300,
        "id": [*range(300)] * 2,
        "y_true": [*true] * 2,
        "y_pred": np.concatenate(preds),
        "w": [*weights] * 2,
    }
    paired = matrics.report(data, by="m", paired_on="id", sample_weight="w", metrics="accuracy", num=500)
    alone = matrics.report(data, by="m", sample_weight="w", metrics="accuracy")
    hit = preds[0] == true
    share = np.average(hit, weights=weights)
    variance = (weights**2 @ (hit - share) ** 2) / weights.sum() ** 2
    for made in (alone, paired):
        assert_allclose(limits(made, "accuracy"), wilson(share, share * (1 - share) / variance))
        assert "with the effective number of samples" in sentence(made, "Accuracy has a")


def test_limits_of_scores() -> None:
    """DeLong's variance and two more samples of each class, at the limit itself; and those of the losses."""
    stats, optimize = pytest.importorskip("scipy.stats"), pytest.importorskip("scipy.optimize")
    random = np.random.default_rng(4)
    true = np.repeat([0, 1], [60, 40])
    scores = 1 / (1 + np.exp(-(1.6 * true - 0.8 + random.normal(size=100))))
    made = matrics.report({"y_true": true, "s": scores}, y_score="s", metrics="accuracy")
    (one,) = made.findings.scores
    above = scores[true == 1][:, None] - scores[true == 0][None]
    wins = (above > 0) + (above == 0) / 2
    area = wins.mean()
    parts = [(wins.mean(axis=1), 40), (wins.mean(axis=0), 60)]
    delong = math.sqrt(sum(placements.var(ddof=1) / number for placements, number in parts))
    logit = math.log(area / (1 - area)), Z * delong / (area * (1 - area))
    on_logit = [1 / (1 + math.exp(-(logit[0] + side * logit[1]))) for side in (-1, 1)]
    assert "logit" not in sentence(made, "DeLong et al. 1988")
    assert abs(one.low - on_logit[0]) > 1e-4  # which it said, and was not
    assert f"{area - Z * delong:.3f}" != f"{one.low:.3f}"
    assert_allclose([one.low, one.high], by_score(area, parts, stats, optimize), atol=1e-9)
    assert sentence(made, "score intervals").startswith("Areas under ROC curves have 95 % score intervals")
    assert "DeLong's variance" in sentence(made, "DeLong et al. 1988")
    losses = (scores - true) ** 2
    t, error, skew = stats.t.ppf(0.975, 99), losses.std(ddof=1) / 10, stats.skew(losses) / 10

    def back(x: float) -> float:
        return 3 / skew * (np.cbrt(1 + skew * (x - skew / 6)) - 1)

    hall = (losses.mean() - back(t) * error, losses.mean() - back(-t) * error)
    assert_allclose(one.limits["brier_score"], hall, rtol=2e-3)
    assert "with a transformation for skewed losses (Hall 1992)" in made.findings.methods
    bins = np.array_split(np.argsort(scores), 15)
    error = sum(len(b) / 100 * abs(scores[b].mean() - true[b].mean()) for b in bins)
    assert one.calibration_error == pytest.approx(error, abs=0.02)
    assert "15 bins with equal numbers of samples" in made.findings.methods


def by_score(area: float, parts: Any, stats: Any, optimize: Any) -> list[float]:
    """Both values from which the area is the quantile of Student's distribution away, with the variance there."""
    mid = 1 - area

    def variances(t: float) -> list[float]:
        spread = max(t * (1 - t) ** 2 / (2 - t), t**2 * (1 - t) / (1 + t))
        found = []
        for placements, number in parts:
            away = 1 - placements
            effective = away.sum() ** 2 / (away**2).sum()
            own = placements.var(ddof=1) / number * t * (1 - t) / (area * mid)
            found.append((effective * own + 2 * spread / number) / (effective + 2))
        return found

    pairs = 1 / (parts[0][1] * parts[1][1])

    def solved(end: float, factor: float) -> float:
        def gap(t: float) -> float:
            return abs(t - area) - factor * math.sqrt(sum(variances(t)) + t * (1 - t) * pairs)

        return float(optimize.brentq(gap, area, end, xtol=1e-14))

    limits = []
    for end in (1e-9, 1 - 1e-9):
        found = variances(solved(end, Z))
        degrees = sum(found) ** 2 / sum(v**2 / (n - 1 + 2) for v, (_, n) in zip(found, parts, strict=True))
        limits.append(solved(end, float(stats.t.ppf(0.975, degrees))))
    return limits


def test_clusters_and_pairs_are_said() -> None:
    """Samples that are repeated are clusters for areas, and two models are not corrected for several."""
    random = np.random.default_rng(6)
    true = np.repeat(random.integers(0, 2, 60), 2)
    data: dict[str, Any] = {"m": [], "id": [], "y_true": [], "s": []}
    for name, noise in (("a", 0.8), ("b", 1.6)):
        data["m"] += [name] * 120
        data["id"] += [*np.repeat(np.arange(60), 2)]
        data["y_true"] += [*true]
        data["s"] += [*1 / (1 + np.exp(-(true - 0.5 + noise * random.normal(size=120))))]
    made = matrics.report(data, by="m", paired_on="id", y_score="s", metrics="accuracy", num=100)
    assert "Obuchowski's variance of clusters (Obuchowski 1997)" in made.findings.methods
    assert "(Obuchowski's test, with samples as clusters)." in made.findings.best_area
    assert "DeLong" not in made.findings.methods
    assert "DeLong" not in " ".join(made.findings.references)
    direct = matrics.ranking.interval(true, np.asarray(data["s"][:120]), "roc_auc", clusters=data["id"][:120])
    assert made.findings.scores[0].low == float(direct["roc_auc"].low)
    for reference in made.findings.references:  # each is cited, and none is missing
        assert reference.split(",")[0] in made.findings.methods
