"""Gates of groups and of scores: limits by hand, in Python and on the command line."""

from __future__ import annotations

import json
import math
import re
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from commands import refused, without_warning

import matrics

Z = 1.959963984540054
Z_OF_THREE = 2.3939797998185104  # of 1 - 0.05 / 6: two sides, three groups
RANDOM = np.random.default_rng(54)
MONTHS = ["2026-01", "2026-02", "2026-03", "2026-04"]
HITS = {"2026-01": 450, "2026-02": 460, "2026-03": 440, "2026-04": 400}  # of 500


def wilson(hits: float, number: float, z: float = Z) -> tuple[float, float]:
    p = hits / number
    middle, reach = p + z**2 / (2 * number), z * math.sqrt(p * (1 - p) / number + z**2 / (4 * number**2))
    return (middle - reach) / (1 + z**2 / number), (middle + reach) / (1 + z**2 / number)


def newcombe(here: float, there: float, number: float, z: float) -> tuple[float, float]:
    """The limits of a difference of proportions of two groups of one size, by Wilson's limits of both."""
    p, q = here / number, there / number
    (low, high), (below, above) = wilson(here, number, z), wilson(there, number, z)
    return p - q - math.hypot(p - low, above - q), p - q + math.hypot(high - p, q - below)


@pytest.fixture
def samples() -> dict[str, np.ndarray]:
    """True and predicted labels in four months, of which the rows are in no order."""
    true = np.tile([0, 1], 1000)
    wrong = np.concatenate([np.arange(500) >= HITS[month] for month in MONTHS])
    order = RANDOM.permutation(2000)
    return {
        "y_true": true[order],
        "y_pred": np.where(wrong, 1 - true, true)[order],
        "month": np.repeat(MONTHS, 500)[order],
    }


def of(samples: dict[str, np.ndarray], requirements: Any, **options: Any) -> matrics.results.GateResult:
    return matrics.gate(samples["y_true"], requirements, y_pred=samples["y_pred"], groups=samples["month"], **options)


def test_each_group_has_wilsons_limits(samples: Any) -> None:
    result = of(samples, "accuracy >= 0.85")
    assert [row.group for row in result.requirements] == MONTHS
    for row in result.requirements:
        assert (row.low, row.high) == pytest.approx(wilson(HITS[row.group], 500), abs=1e-12)
        assert (row.level, row.adjusted_for, row.samples) == (0.95, 1, 500)
    assert [row.verdict for row in result.requirements] == ["pass", "pass", "undecided", "fail"]
    assert result.verdict == "fail"
    assert (result.samples, result.groups, result.reference) == (2000, tuple(MONTHS), None)
    assert of(samples, "accuracy >= 0.75").verdict == "pass"
    assert "they are not adjusted for the number of groups" in str(result)


def test_limits_adjusted_for_the_number_of_groups(samples: Any) -> None:
    """Each of four has the level 1 - 0.05 / 4."""
    z = 2.497705474412374
    for row in of(samples, "accuracy >= 0.85", correction="bonferroni").requirements:
        assert (row.low, row.high) == pytest.approx(wilson(HITS[row.group], 500, z), abs=1e-9)
        assert (row.level, row.adjusted_for) == (pytest.approx(0.9875), 4)


def test_each_group_against_the_reference(samples: Any) -> None:
    result = of(samples, "accuracy", reference="2026-01", margin=0.06)
    assert [row.group for row in result.requirements] == MONTHS[1:]
    for row in result.requirements:
        assert row.title == "accuracy - reference >= -0.06"
        assert row.estimate == pytest.approx((HITS[row.group] - 450) / 500)
        assert (row.low, row.high) == pytest.approx(newcombe(HITS[row.group], 450, 500, Z_OF_THREE), abs=1e-9)
        assert (row.level, row.adjusted_for) == (pytest.approx(1 - 0.05 / 3), 3)
    assert [row.verdict for row in result.requirements] == ["pass", "undecided", "undecided"]
    assert "adjusted for 3 groups: 98.3333 % each, 95 % together (Bonferroni)" in str(result)
    alone = of(samples, "accuracy", reference="2026-01", margin=0.06, correction="none").requirements[-1]
    assert (alone.low, alone.high) == pytest.approx(newcombe(400, 450, 500, Z), abs=1e-9)
    assert alone.verdict == "fail" if alone.high < -0.06 else "undecided"


def test_matrices_of_groups_are_as_their_labels(samples: Any) -> None:
    stack = matrics.confusion_matrix(samples["y_true"], samples["y_pred"], num_classes=2, groups=samples["month"])
    wanted = of(samples, ["recall[1] >= 0.8", "accuracy"], reference="2026-02")
    result = matrics.gate(stack, ["recall[1] >= 0.8", "accuracy"], groups=MONTHS, reference="2026-02")
    assert [(row.group, row.low, row.verdict) for row in result.requirements] == [
        (row.group, row.low, row.verdict) for row in wanted.requirements
    ]


def test_groups_keep_their_order(samples: Any) -> None:
    """Numbers by size, and categories as the data frame has them."""
    pandas = pytest.importorskip("pandas")
    number = np.asarray(
        [{"2026-01": 2, "2026-02": 10, "2026-03": 1, "2026-04": 9}[month] for month in samples["month"]]
    )
    numbers = of({**samples, "month": number}, "accuracy >= 0.5")
    assert numbers.groups == ("1", "2", "9", "10")
    kind = pandas.CategoricalDtype(["2026-04", "2026-02", "none", "2026-01", "2026-03"])
    named = of({**samples, "month": pandas.Series(samples["month"], dtype=kind)}, "accuracy >= 0.5")
    assert named.groups == ("2026-04", "2026-02", "2026-01", "2026-03")
    hits = [row.estimate * 500 for row in named.requirements]
    assert hits == pytest.approx([HITS[month] for month in named.groups])
    by_number = of({**samples, "month": number}, "accuracy", reference=10)
    assert by_number.reference == "10"


def test_clusters_and_weights_of_groups(samples: Any) -> None:
    """As the samples of a group alone."""
    patients, weights = np.arange(2000) // 3, RANDOM.exponential(1, 2000)
    for options in ({"clusters": patients}, {"sample_weight": weights}):
        result = of(samples, ["recall[1] >= 0.5", "accuracy"], reference="2026-03", **options)
        for row in result.requirements[:4]:
            here = samples["month"] == row.group
            own = {name: values[here] for name, values in options.items()}
            alone = matrics.gate(samples["y_true"][here], "recall[1] >= 0.5", y_pred=samples["y_pred"][here], **own)
            only = alone.requirements[0]
            assert (row.low, row.high, row.samples) == pytest.approx((only.low, only.high, only.samples))
        assert all(row.adjusted_for == 3 for row in result.requirements[4:])


def test_a_group_without_a_class_is_undecided() -> None:
    result = matrics.gate(
        [0, 1] * 30 + [0] * 60, "recall[1] >= 0.1", y_pred=[0, 1] * 30 + [0] * 60, groups=[1] * 60 + [2] * 60
    )
    assert [row.verdict for row in result.requirements] == ["pass", "undecided"]
    assert math.isnan(result.requirements[1].estimate)


# Scores ---------------------------------------------------------------------------------------------------------------


def delong(true: np.ndarray, score: np.ndarray) -> tuple[float, float]:
    """The area and its variance, from the placements of all pairs."""
    positive, negative = score[true == 1], score[true == 0]
    wins = (positive[:, None] > negative) + (positive[:, None] == negative) / 2
    above, below = wins.mean(axis=1), wins.mean(axis=0)
    return wins.mean(), above.var(ddof=1) / len(above) + below.var(ddof=1) / len(below)


@pytest.fixture
def scored() -> dict[str, np.ndarray]:
    true = RANDOM.random(6000) < 0.3
    group = np.repeat(["a", "b", "c"], 2000)
    shift = np.where(group == "c", 0.9, 1.4)
    return {"y_true": true.astype(int), "score": RANDOM.normal(size=6000) + shift * true, "group": group}


def test_areas_by_delong(scored: Any) -> None:
    """With many samples the limits are the area and 1.96 standard errors to either side, nearly."""
    result = matrics.gate(scored["y_true"], "auc >= 0.8", y_score=scored["score"], groups=scored["group"])
    for row in result.requirements:
        here = scored["group"] == row.group
        area, variance = delong(scored["y_true"][here], scored["score"][here])
        assert row.estimate == pytest.approx(area, abs=1e-12)
        reach = Z * math.sqrt(variance)
        assert (row.low, row.high) == pytest.approx((area - reach, area + reach), abs=2e-3)
        limits = matrics.ranking.interval(scored["y_true"][here], scored["score"][here], "roc_auc")["roc_auc"]
        assert (row.low, row.high) == (float(limits.low), float(limits.high))
    assert result.requirements[0].title == "roc_auc >= 0.8"
    assert [row.verdict for row in result.requirements] == ["pass", "pass", "fail"]


def test_areas_against_the_reference(scored: Any) -> None:
    """The variances of both areas add up; with two comparisons z is that of 97.5 %."""
    result = matrics.gate(
        scored["y_true"], "roc_auc", y_score=scored["score"], groups=scored["group"], reference="a", margin=0.02
    )
    areas = {
        group: delong(*(scored[name][scored["group"] == group] for name in ("y_true", "score"))) for group in "abc"
    }
    for row in result.requirements:
        difference = areas[row.group][0] - areas["a"][0]
        reach = 2.241402727604947 * math.sqrt(areas[row.group][1] + areas["a"][1])
        assert row.estimate == pytest.approx(difference, abs=1e-12)
        assert (row.low, row.high) == pytest.approx((difference - reach, difference + reach), abs=1e-3)
    assert [row.verdict for row in result.requirements] == ["undecided", "fail"]


def test_labels_and_scores_together(scored: Any) -> None:
    words = np.where(scored["y_true"] == 1, "ill", "well")
    pred = np.where(scored["score"] > 0.7, "ill", "well")
    result = matrics.gate(words, "recall >= 0.5, roc_auc >= 0.7", y_pred=pred, y_score=scored["score"], positive="ill")
    recall, area = result.requirements
    hits = int(((words == "ill") & (pred == "ill")).sum())
    assert (recall.low, recall.high) == pytest.approx(wilson(hits, int((words == "ill").sum())))
    assert area.estimate == pytest.approx(delong(scored["y_true"], scored["score"])[0])
    probability = 1 / (1 + np.exp(-scored["score"]))
    losses = matrics.gate(words, "log_loss <= 1", y_score=probability, positive="ill").requirements[0]
    assert losses.verdict == "pass"
    assert losses.estimate == pytest.approx(float(matrics.probabilities.log_loss(scored["y_true"], probability)))


def test_a_perfect_area_passes_and_few_samples_do_not() -> None:
    perfect = matrics.gate([0] * 100 + [1] * 100, "roc_auc >= 0.9", y_score=np.arange(200.0))
    assert perfect.verdict == "pass"
    few = matrics.gate([0] * 10 + [1] * 10, "roc_auc >= 0.5", y_score=np.arange(20.0))
    assert (few.verdict, few.requirements[0].status) == ("undecided", matrics.IntervalStatus.FEW_SAMPLES)
    assert matrics.gate([0] * 100 + [1] * 100, "roc_auc <= 0.9999", y_score=np.arange(200.0)).verdict == "undecided"


def test_the_number_of_samples_that_decides_on_an_area(scored: Any) -> None:
    """With as many samples again as it says, the bound is outside the limits."""
    here = scored["group"] == "a"
    true, score = scored["y_true"][here], scored["score"][here]
    bound = float(matrics.ranking.roc_auc(true, score)) - 0.012
    row = matrics.gate(true, f"roc_auc >= {bound}", y_score=score).requirements[0]
    assert row.verdict == "undecided"
    times = math.ceil(row.needed / len(true) * 1.05)
    assert matrics.gate(np.tile(true, times), f"roc_auc >= {bound}", y_score=np.tile(score, times)).verdict == "pass"


def test_no_number_of_samples_decides_on_the_k_highest_scores(scored: Any) -> None:
    """A larger set has as many samples among them."""
    value = float(matrics.ranking.precision_at_k(scored["y_true"], scored["score"], 20))
    row = matrics.gate(scored["y_true"], f"precision_at_k(k=20) >= {value - 0.01}", y_score=scored["score"])
    assert row.verdict == "undecided"
    assert row.requirements[0].needed is None
    assert "no number of samples like these would decide" in str(row)


def test_scores_of_three_classes() -> None:
    true = np.arange(300) % 3
    score = RANDOM.dirichlet([1, 1, 1], 300) + 0.5 * np.eye(3)[true]
    row = matrics.gate(true, "roc_auc >= 0.5", y_score=score).requirements[0]
    limits = matrics.ranking.interval(true, score, "roc_auc")["roc_auc"]
    assert (row.estimate, row.low) == (float(limits.estimate), float(limits.low))


@pytest.mark.sampled(4)
@pytest.mark.parametrize(
    ("options", "message"),
    [
        (
            {"requirements": "roc_auc >= 0.5", "y_pred": [0, 1]},
            "y_score: expected the scores of the samples with roc_auc",
        ),
        ({"requirements": "mcc >= 0.5", "y_score": [0.1, 0.2]}, "y_pred: expected predicted labels with mcc"),
        ({"requirements": "log_loss <= 1", "y_score": [0.1, 2.0]}, "expected scores in \\[0, 1\\] for log_loss"),
        ({"requirements": "mcc", "y_pred": [0, 1], "reference": 1}, "reference: expected groups= with it, got 1"),
        (
            {"requirements": "mcc", "y_pred": [0, 1], "groups": [1, 2], "reference": 3},
            "expected a group among '1', '2'",
        ),
        (
            {"requirements": "mcc", "y_pred": [0, 1], "groups": [1, 1], "reference": 1},
            "expected groups to compare with it",
        ),
        (
            {"requirements": "mcc >= 0", "y_pred": [0, 1], "groups": [1, 1], "reference": 1},
            "reference: expected groups to",
        ),
        (
            {"requirements": "mcc >= 0", "y_pred": [0, 1], "groups": [1]},
            "groups: expected the group of each of 2 samples",
        ),
        ({"requirements": "mcc >= 0", "y_pred": [0, 1], "groups": [1, None]}, "groups"),
        ({"requirements": "mcc >= 0", "y_pred": [0, 1], "correction": "none"}, "correction: expected groups with it"),
        (
            {"requirements": "mcc >= 0", "y_pred": [0, 1], "correction": "holm"},
            "correction: expected 'none', 'bonferroni'",
        ),
        ({"requirements": "ece", "y_score": [0.1, 0.9], "groups": [1, 2], "reference": 1}, "limits on both sides"),
        ({"requirements": "auc", "y_pred": [0, 1], "y_score": [0.1, 0.9], "baseline": [0, 1]}, "of labels to compare"),
        ({"requirements": "auc >= 0", "y_score": [0.1, 0.9], "sample_weight": [1, 2]}, "sample_weight: expected None"),
    ],
)
def test_errors(options: dict[str, Any], message: str) -> None:
    with pytest.raises((ValueError, TypeError), match=message):
        matrics.gate([0, 1], **options)


# The command ----------------------------------------------------------------------------------------------------------


@pytest.fixture
def gate(command: Any, samples: Any) -> Any:
    pytest.importorskip("typer")
    score = samples["y_true"] + RANDOM.normal(size=2000)
    names = [*samples, "score", "patient"]
    rows = zip(*samples.values(), score, np.arange(2000) // 4, strict=True)
    Path("log.csv").write_text("\n".join([",".join(names), *(",".join(map(str, row)) for row in rows)]) + "\n")

    def run(*arguments: Any, file: str = "log.csv") -> tuple[int, str]:
        code, out, err = command("gate", file, *arguments)
        assert not without_warning(err), err
        return code, out

    return run


def test_by_month(gate: Any) -> None:
    code, out = gate("--by", "month", "--require", "accuracy >= 0.85")
    assert code == 1
    assert out.splitlines()[0] == "log.csv: 2 classes, 2,000 samples in 4 groups (month)"
    low, high = wilson(450, 500)
    assert re.search(rf"^accuracy >= 0.85 +2026-01 +pass +0.900 +\[{low:.3f}, {high:.3f}\]$", out, re.MULTILINE)
    assert re.findall(r" (2026-0\d) ", out) == MONTHS
    assert "limits hold for each group alone: they are not adjusted for the number of groups" in out
    assert not re.search("model|tied|best", out)


def test_against_a_reference(gate: Any) -> None:
    options = ["--reference", "month=2026-01", "--metrics", "accuracy", "--margin", "0.06"]
    code, out = gate(*options, "--format", "json")
    printed = json.loads(out)
    assert (code, printed["by"], printed["groups"], printed["reference"]) == (3, ["month"], MONTHS, "2026-01")
    for row in printed["rows"]:
        assert (row["low"], row["high"]) == pytest.approx(newcombe(HITS[row["group"]], 450, 500, Z_OF_THREE))
        assert (row["level"], row["adjusted_for"]) == (pytest.approx(1 - 0.05 / 3), 3)
    assert (
        "limits of differences are adjusted for 3 groups: 98.3333 % each, 95 % together (Bonferroni)"
        in gate(*options)[1]
    )
    junit = gate(*options, "--format", "junit")[1]
    assert 'name="2026-02: accuracy - reference &gt;= -0.06"' in junit


def test_areas_of_a_file(gate: Any, samples: Any) -> None:
    options = ["--by", "month", "--scores", "score", "--format", "json"]
    printed = json.loads(gate("--require", "roc_auc >= 0.7", *options)[1])
    score = np.asarray([float(line.split(",")[3]) for line in Path("log.csv").read_text().splitlines()[1:]])
    result = matrics.gate(samples["y_true"], "roc_auc >= 0.7", y_score=score, groups=samples["month"])
    assert [(row["group"], row["low"]) for row in printed["rows"]] == [
        (row.group, pytest.approx(row.low)) for row in result.requirements
    ]
    both = json.loads(gate("--require", "roc_auc >= 0.7, accuracy >= 0.85", *options)[1])
    assert [row["title"] for row in both["rows"][3:5]] == ["roc_auc >= 0.7", "accuracy >= 0.85"]
    assert both["rows"][4]["estimate"] == pytest.approx(0.9)
    cut = json.loads(gate("--require", "accuracy >= 0.5", "--threshold", "0.5", *options)[1])
    here = samples["month"] == "2026-01"
    assert cut["rows"][0]["estimate"] == pytest.approx(((score >= 0.5) == samples["y_true"])[here].mean())
    clustered = json.loads(gate("--require", "roc_auc >= 0.7", *options, "--clusters", "patient")[1])
    expected = matrics.ranking.interval(
        samples["y_true"][here], score[here], "roc_auc", clusters=(np.arange(2000) // 4)[here]
    )["roc_auc"]
    assert clustered["rows"][0]["low"] == pytest.approx(float(expected.low))
    assert clustered["unit"] == "cluster"


def test_scorers_of_a_log(command: Any) -> None:
    pytest.importorskip("matrics.evals")
    lines = [
        {"sample": k, "scorer": scorer, "score": int(k % every > 0)}
        for scorer, every in (("strict", 4), ("lenient", 10))
        for k in range(200)
    ]
    Path("two.jsonl").write_text("".join(json.dumps(line) + "\n" for line in lines))
    code, out, _ = command("gate", "two.jsonl", "--by", "scorer", "--require", "accuracy >= 0.8", "--format", "json")
    printed = json.loads(out)
    assert code == 3
    assert {row["group"]: row["estimate"] for row in printed["rows"]} == {"lenient": 0.9, "strict": 0.75}
    assert "--scorer: expected one of strict, lenient" in refused(
        command, "gate", "two.jsonl", "--require", "accuracy >= 0.8"
    )


def test_models_that_a_judge_has_graded(command: Any) -> None:
    """As the answers of each model alone."""
    rows = [(m, RANDOM.random() < p, k < 80) for m, p in (("a", 0.9), ("b", 0.7)) for k in range(400)]
    lines = [
        f"{m},{int(is_good) if is_known else ''},{int(is_good != (k % 9 == 0))}"
        for k, (m, is_good, is_known) in enumerate(rows)
    ]
    Path("graded.csv").write_text("\n".join(["model,human,judge", *lines]) + "\n")
    options = ["--judge", "judge", "--require", "accuracy >= 0.75", "--format", "json"]
    printed = json.loads(command("gate", "graded.csv", "--by", "model", *options)[1])
    assert [row["group"] for row in printed["rows"]] == ["a", "b"]
    for row in printed["rows"]:
        own = [line for line in lines if line.startswith(row["group"])]
        Path("alone.csv").write_text("\n".join(["model,human,judge", *own]) + "\n")
        alone = json.loads(command("gate", "alone.csv", *options)[1])["rows"][0]
        assert (row["low"], row["high"], row["samples"]) == (alone["low"], alone["high"], 80)


@pytest.mark.sampled(3)
@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (
            ["--reference", "2026-01", "--metrics", "mcc"],
            "--reference: expected 'COLUMN=VALUE', the group to compare with",
        ),
        (["--by", "y_pred", "--reference", "month=1", "--metrics", "mcc"], "--reference: expected 'y_pred=VALUE'"),
        (["--reference", "month=2027", "--metrics", "mcc"], "--reference: expected a group among '2026-01'"),
        (["--reference", "month=2026-01", "--require", "mcc >= 0"], "--reference: expected --metrics NAME with it"),
        (["--require", "roc_auc >= 0.7"], "--scores: expected the scores of the samples with roc_auc, got none"),
        (["--require", "mcc >= 0.7", "--scores", "score"], "--scores: expected a measure of scores with it"),
        (["--require", "mcc >= 0.7", "--threshold", "1"], "--threshold: expected --scores COLUMN with it"),
        (
            ["--require", "auc >= 0.7", "--threshold", "1", "--scores", "score"],
            "--threshold: expected measures of labels",
        ),
        (
            ["--require", "auc >= 0.7", "--scores", "score", "--weight", "patient"],
            "--weight: expected no weights with --scores, as there are no limits",
        ),
        (["--require", "mcc >= 0.7", "--correction", "none"], "--correction: expected groups with it"),
    ],
)
def test_wrong_options(gate: Any, command: Any, arguments: list[str], message: str) -> None:
    del gate  # which has written log.csv
    assert message in refused(command, "gate", "log.csv", *arguments)
