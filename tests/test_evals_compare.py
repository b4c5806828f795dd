"""Two runs of an evaluation: paired by sample, clusters of epochs, and noise of data beside noise of prediction."""

from __future__ import annotations

import json
import math
import os
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import matrics

pd = pytest.importorskip("pandas")
pytest.importorskip("pyarrow")

from matrics import evals  # noqa: E402
from matrics._integrations.evals.comparing import Compared, compared_means, joint_tables  # noqa: E402
from matrics._integrations.evals.labels import passed_of  # noqa: E402
from matrics._integrations.evals.log import Graded  # noqa: E402
from matrics._integrations.evals.noise import Answers, Noise  # noqa: E402
from matrics._integrations.evals.pairing import Pair, Run  # noqa: E402

OURS = Path(__file__).parent / "data" / "evals"
LOGS = Path(os.environ.get("MATRICS_EVAL_LOGS", OURS))  # nox -s evals lets the tools write them anew
PRINTED = json.loads((LOGS / "printed.json").read_text())
RANDOM = np.random.default_rng(33)


@pytest.fixture
def found() -> evals.RunComparison:
    (one,) = evals.compare(LOGS / "a.eval", LOGS / "b.eval")
    return one


def means(name: str) -> Any:
    return evals.read(LOGS / name).groupby("sample")["score"].mean()


def write(path: Path, scores: Any, **more: Any) -> Path:
    """JSON Lines with the scores [sample, epoch]."""
    rows = [{"sample": k, "score": float(x), **more} for k, sample in enumerate(scores) for x in np.atleast_1d(sample)]
    path.write_text("".join(json.dumps(row) + "\n" for row in rows))
    return path


def test_samples_of_one_run_are_named_and_left_out(found: Any) -> None:
    assert (found.only_a, found.only_b) == (("q00", "q01"), ())
    assert (found.names, found.scorer, found.samples) == (("a.eval", "b.eval"), "choice", 28)
    assert found.epochs == (3, 83 / 28)
    assert found.unscored == ((), ("sample q07, epoch 2: RuntimeError('the model is out of order')",))
    assert found.answered[0].value == 1
    assert found.answered[1].value == pytest.approx(83 / 84)


def test_the_standard_errors_are_those_of_inspect(found: Any) -> None:
    """Of b, all of whose samples are compared; that of the difference is of the differences by sample."""
    printed = PRINTED["b.eval"]["choice"]
    assert found.b.value == pytest.approx(printed["accuracy"], abs=1e-12)
    assert found.b.standard_error == pytest.approx(printed["stderr"], abs=1e-12)
    gaps = (means("a.eval") - means("b.eval")).dropna()
    assert found.difference.value == pytest.approx(gaps.mean(), abs=1e-12)
    assert found.difference.standard_error == pytest.approx(gaps.sem(), abs=1e-12)


@pytest.mark.exhaustive
def test_statsmodels_has_the_same_clustered_error(found: Any) -> None:
    """Least squares of each answer on the run, with errors clustered by sample, up to its correction of few samples."""
    api = pytest.importorskip("statsmodels.api")
    frame = pd.concat([evals.read(LOGS / name).assign(run=k) for k, name in enumerate(("a.eval", "b.eval"))])
    # As many answers of each sample, so that the mean over answers is that over samples.
    kept = frame[~frame["sample"].isin(["q00", "q01", "q07"])]
    path = {"a": kept[kept["run"] == 0], "b": kept[kept["run"] == 1]}
    codes = pd.factorize(kept["sample"])[0]
    design = api.add_constant(kept["run"].to_numpy(float))
    fit = api.OLS(kept["score"].to_numpy(), design).fit(
        cov_type="cluster", cov_kwds={"groups": codes, "use_correction": False}
    )
    gaps = path["a"].groupby("sample")["score"].mean() - path["b"].groupby("sample")["score"].mean()
    n = len(gaps)
    assert n == 27
    assert -fit.params[1] == pytest.approx(gaps.mean(), abs=1e-12)
    assert fit.bse[1] * math.sqrt(n / (n - 1)) == pytest.approx(gaps.sem(), rel=1e-10)
    assert found.difference.standard_error == pytest.approx(gaps.sem(), rel=0.1)  # with one sample more


def test_one_epoch_is_the_paired_comparison(tmp_path: Path) -> None:
    a, b = RANDOM.random((2, 150)) < [[0.8], [0.7]]
    (found,) = evals.compare(write(tmp_path / "a.jsonl", a), write(tmp_path / "b.jsonl", b))
    joint = np.zeros((150, 2, 2, 2))
    joint[np.arange(150), 1, a.astype(int), b.astype(int)] = 1
    expected = matrics.compare_paired(joint, "accuracy", cluster_axis=0)["accuracy"]
    assert found.difference[:3] == pytest.approx((expected.difference, expected.low, expected.high))
    assert math.isnan(found.noise.data)
    assert math.isnan(found.noise.prediction)
    assert math.isnan(found.half_width(epochs=2))
    assert found.names == ("a", "b")


def test_measures_of_classes() -> None:
    """The estimates are those of the matrices of all answers, each sample counting once."""
    (found,) = evals.compare(LOGS / "a.eval", LOGS / "b.eval", metrics="mcc")
    frame = evals.read(LOGS / "a.eval")
    kept = frame[~frame["sample"].isin(["q00", "q01"])]
    cm = matrics.confusion_matrix(kept["y_true"].to_list(), kept["y_pred"].to_list(), labels=list("ABCD"))
    assert found.a.value == pytest.approx(float(matrics.mcc(cm)), abs=1e-12)
    assert found.difference.low < found.difference.value < found.difference.high
    assert found.measure == "mcc"


def test_the_first_is_less_the_second() -> None:
    (one,) = evals.compare(LOGS / "b.eval", LOGS / "a.eval")
    (other,) = evals.compare(LOGS / "a.eval", LOGS / "b.eval")
    assert one.difference.value == pytest.approx(-other.difference.value)
    assert one.difference.low == pytest.approx(-other.difference.high)


def test_scores_in_part_have_limits_by_student(tmp_path: Path) -> None:
    stats = pytest.importorskip("scipy.stats")
    a, b = RANDOM.random((2, 40)).round(3)
    (found,) = evals.compare(write(tmp_path / "a.jsonl", a), write(tmp_path / "b.jsonl", b))
    assert found.measure == "mean score"
    expected = stats.ttest_rel(a, b).confidence_interval()
    assert (found.difference.low, found.difference.high) == pytest.approx(tuple(expected), abs=1e-6)


def test_the_parts_of_the_noise_are_those_of_an_analysis_of_variance() -> None:
    """With as many epochs each: the mean squares between and within samples."""
    scores = RANDOM.normal(0, 1, (12, 1)) + RANDOM.normal(0, 0.5, (12, 4))
    answers = Answers.of(list(scores))
    between = 4 * np.var(scores.mean(axis=1), ddof=1)
    within = np.mean(np.var(scores, axis=1, ddof=1))
    noise = Noise.of(answers.means, answers.prediction)
    assert answers.within == pytest.approx(within)
    assert noise.data == pytest.approx((between - within) / 4)
    assert noise.prediction == pytest.approx(within / 4)
    assert noise.standard_error(12) == pytest.approx(math.sqrt(between / 4 / 12))


def test_the_parts_of_the_noise_are_found_again() -> None:
    """Of known variances, with other numbers of epochs."""
    chance = RANDOM.beta(2, 2, 20_000)  # its variance is 1/20, and that of an answer within a sample 1/5
    scores = [RANDOM.random(k) < p for k, p in zip(RANDOM.integers(1, 5, len(chance)), chance, strict=True)]
    answers = Answers.of(scores)
    noise = Noise.of(answers.means, answers.prediction)
    assert answers.within == pytest.approx(1 / 5, rel=0.03)
    assert noise.data == pytest.approx(1 / 20, rel=0.06)


def pair(a: Any, b: Any) -> Pair:
    """Runs with these scores [sample, epoch]."""
    sides = [
        [[Graded(k, e + 1, "", "", "s", None, None, float(x)) for e, x in enumerate(row)] for k, row in enumerate(side)]
        for side in (a, b)
    ]
    return Pair("s", list(map(str, range(len(a)))), *sides, (), ())


def run(chance: Any, epochs: int) -> Any:
    return RANDOM.random((len(chance), epochs)) < chance[:, None]


def about(answers: Pair, level: float = 0.95) -> Compared:
    runs = [
        Run(name, tuple(row for rows in side for row in rows), (), name)
        for name, side in zip("ab", (answers.a, answers.b), strict=True)
    ]
    return Compared((runs[0], runs[1]), answers, level, 1)


@pytest.mark.exhaustive
def test_more_epochs_and_more_samples_buy_what_is_said() -> None:
    """The half widths that are foretold are those that runs with as many epochs, or samples, have."""
    chance = RANDOM.beta(1, 1, 6000)
    other = np.clip(chance + 0.05, 0, 1)
    first = compared_means(about(pair(run(chance[:3000], 2), run(other[:3000], 2))))
    epochs = compared_means(about(pair(run(chance[:3000], 4), run(other[:3000], 4))))
    samples = compared_means(about(pair(run(chance, 2), run(other, 2))))
    assert first.half_width(epochs=2) == pytest.approx(epochs.half_width(), rel=0.05)
    assert first.half_width(samples=2) == pytest.approx(samples.half_width(), rel=0.05)
    assert first.half_width(epochs=math.inf) < first.half_width(epochs=2) < first.half_width()


@pytest.mark.exhaustive
@pytest.mark.parametrize(("level", "epochs"), [(0.95, 1), (0.9, 3)])
def test_limits_of_differences_cover(level: float, epochs: int) -> None:
    """In 500 pairs of runs of 200 samples, as often as the level says, up to three standard errors of that share."""
    hard = RANDOM.normal(0, 1.5, 10**6)
    truth = np.mean(expit(0.8 + hard) - expit(0.5 + hard))
    inside = 0
    for _ in range(500):
        chance = RANDOM.normal(0, 1.5, 200)
        scores = pair(run(expit(0.8 + chance), epochs), run(expit(0.5 + chance), epochs))
        _, low, high, _ = compared_means(about(scores, level)).difference
        inside += low <= truth <= high
    assert abs(inside / 500 - level) < 3 * math.sqrt(level * (1 - level) / 500)


def expit(x: Any) -> Any:
    return 1 / (1 + np.exp(-x))


@pytest.mark.exhaustive
def test_the_number_of_samples_shows_the_difference_in_four_cases_of_five() -> None:
    chance = RANDOM.beta(2, 2, 20_000)
    large = compared_means(about(pair(run(chance, 1), run(np.clip(chance + 0.08, 0, 1), 1))))
    needed = large.samples_to_show()
    shown = 0
    for _ in range(100):
        some = RANDOM.beta(2, 2, needed)
        again = compared_means(about(pair(run(some, 1), run(np.clip(some + 0.08, 0, 1), 1))))
        shown += again.is_real
    assert abs(shown / 100 - 0.8) < 3 * math.sqrt(0.8 * 0.2 / 100)


def test_epochs_of_shared_answers_are_pairs(tmp_path: Path) -> None:
    """A stricter grader of the same answers: limits are those of the answers as pairs, in clusters of samples."""
    chance = RANDOM.beta(2, 1, 300)
    a = run(chance, 5)
    passed = np.argwhere(a)
    b = a.copy()
    b[tuple(passed[RANDOM.choice(len(passed), 40, replace=False)].T)] = False
    joint = np.zeros((300, 2, 2, 2))
    for k, epoch in np.ndindex(a.shape):
        joint[k, 1, int(a[k, epoch]), int(b[k, epoch])] += 1
    wanted = matrics.compare_paired(joint, "accuracy", cluster_axis=0)["accuracy"]
    (found,) = evals.compare(write(tmp_path / "a.jsonl", a), write(tmp_path / "b.jsonl", b))
    gap, low, high, error = found.difference
    assert (gap, low, high) == pytest.approx((40 / 1500, float(wanted.low), float(wanted.high)), rel=1e-9)
    assert error == pytest.approx(np.std((a ^ b).mean(axis=1), ddof=1) / math.sqrt(300), rel=1e-9)
    assert found.is_real
    assert high - low < 5 * error
    # The lines below the table agree with the limits, and with the variance between epochs of the pairs.
    assert found.half_width() == pytest.approx((high - low) / 2)
    assert found.half_width(epochs=math.inf) < found.half_width(epochs=2) < found.half_width()
    within = np.var((a ^ b).astype(float), axis=1, ddof=1).mean() / 5
    assert found.noise.prediction == pytest.approx(min(within, 300 * error**2), rel=1e-9)


@pytest.mark.parametrize("epochs", [(3, 3), (3, 2), (2, 3)])
def test_joint_tables_have_the_means_of_both_runs(epochs: tuple[int, int]) -> None:
    """Also where an epoch is missing, whose answers are paired with what the other run has left."""
    a, b = run(RANDOM.random(50), 3), run(RANDOM.random(50), 3)
    answers = pair(a[:, : epochs[0]], b[:, 3 - epochs[1] :])
    shift = 3 - epochs[1]
    answers = answers._replace(b=[[replace(row, epoch=row.epoch + shift) for row in rows] for rows in answers.b])
    joint = joint_tables(answers, passed_of)
    np.testing.assert_allclose(joint.sum(axis=(1, 2, 3)), min(epochs))
    passes = joint[:, 1] / min(epochs)  # "fail" is before "pass"
    np.testing.assert_allclose(passes.sum(axis=2)[:, 1], a[:, : epochs[0]].mean(axis=1), atol=1e-12)
    np.testing.assert_allclose(passes.sum(axis=1)[:, 1], b[:, shift:].mean(axis=1), atol=1e-12)
    first = slice(shift, epochs[0])  # the epochs of both
    both = (a & b)[:, first].sum(axis=1) / 3
    assert (passes[:, 1, 1] >= both - 1e-12).all()
    if epochs == (3, 3):
        np.testing.assert_allclose(passes[:, 1, 1], both, atol=1e-12)


def test_the_number_of_samples_agrees_with_the_limits() -> None:
    """A difference that is not shown needs more samples than there are."""
    for _ in range(20):
        answers = pair(run(np.full(30, 0.95), 3), run(np.full(30, 0.9), 3))
        one = compared_means(about(answers))
        if one.difference.value and not one.is_real:
            assert (one.samples_to_show() or math.inf) > 30


def test_rounding_is_no_difference(tmp_path: Path) -> None:
    """0.1 + 0.2 + 0.3 in another order; and a difference that is the same for every sample."""
    parts = np.array([0.1, 0.2, 0.3])
    a = np.array([RANDOM.permutation(parts) for _ in range(40)])
    b = np.array([RANDOM.permutation(parts) for _ in range(40)])
    assert abs(a.mean(axis=1) - b.mean(axis=1)).max() > 0
    (found,) = evals.compare(write(tmp_path / "a.jsonl", a), write(tmp_path / "b.jsonl", b))
    assert found.difference.value == 0 == found.difference.standard_error
    assert (found.samples_to_show(), found.is_real) == (None, False)
    (found,) = evals.compare(write(tmp_path / "a.jsonl", a + 0.1), write(tmp_path / "b.jsonl", b))
    assert found.difference.value == pytest.approx(0.1)
    assert found.difference.standard_error == 0
    assert math.isnan(found.difference.low)
    thirds = np.zeros((300, 3))  # a measure whose values differ by rounding alone
    thirds[:200] = 1
    thirds[200:, 0] = 1
    (found,) = evals.compare(write(tmp_path / "a.jsonl", thirds), write(tmp_path / "b.jsonl", thirds[:, ::-1]))
    assert found.difference.value == 0
    assert found.samples_to_show() is None


def test_two_models_of_one_log() -> None:
    (found,) = evals.compare(OURS / "promptfoo.json")
    assert found.names == ("openai:gpt-small", "openai:gpt-large")
    assert found.only_a == ()
    assert found.unscored[1][0].startswith("sample Is 21 even?, epoch 1: ")  # of which the other has an error


def test_a_scorer_each() -> None:
    found = evals.compare(LOGS / "words.eval", LOGS / "words.eval")
    assert [one.scorer for one in found] == ["match", "includes"]
    assert [one.difference.value for one in found] == [0, 0]
    assert found[0].difference.low < 0 < found[0].difference.high  # no difference seen is no proof of none
    assert found[0].samples_to_show() is None


@pytest.mark.parametrize(
    ("others", "metrics", "message"),
    [
        ({"scorer": "mine"}, None, "expected a scorer of both runs, got score of a and mine of b"),
        (
            {"task": "other"},
            None,
            r"at least two samples that both runs have, got 0: a has 9, such as 0, and b has 9,",
        ),
        ({"target": "z"}, None, "expected one target of sample 0, got "),
        ({}, "mcc", "metrics: expected accuracy, as score only grades answers as pass or fail, got mcc"),
        ({}, "prevalence", "metrics: expected measures with a better direction, got prevalence"),
        ({}, "recall:class", "metrics: expected measures with a single value, got recall:class, of each class"),
    ],
)
def test_others_are_refused(tmp_path: Path, others: dict[str, Any], metrics: Any, message: str) -> None:
    a = write(tmp_path / "a.jsonl", RANDOM.random(9) < 0.5)
    b = write(tmp_path / "b.jsonl", RANDOM.random(9) < 0.5, **others)
    with pytest.raises(ValueError, match=message):
        evals.compare(a, b, metrics=metrics)


def test_a_single_run_is_refused() -> None:
    with pytest.raises(ValueError, match=r"a\.eval: expected two logs, or a log of two models, got a log of mockllm"):
        evals.compare(LOGS / "a.eval")
    with pytest.raises(ValueError, match="paths: expected at least one evaluation log, got none"):
        evals.compare()
