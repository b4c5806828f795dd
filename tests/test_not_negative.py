"""Missing labels and results that are neither are no negatives, and a status is about the samples of its measure."""

from __future__ import annotations

import json

import numpy as np
import pytest
from commands import done, refused

import matrics
from matrics import IntervalStatus

pd = pytest.importorskip("pandas")
pytest.importorskip("pyarrow")
pytest.importorskip("typer")

# Of 40 ill and 60 healthy persons: 30 and 12 are positive, 5 and 6 indeterminate, and six have no true label.
ROWS = [("ill", "ill")] * 30 + [("ill", "well")] * 5 + [("ill", "maybe")] * 5
ROWS += [("well", "ill")] * 12 + [("well", "well")] * 42 + [("well", "maybe")] * 6
KNOWN = [row for row in ROWS if row[1] != "maybe"]
POSITIVE = ("--positive", "ill")
WORDS = ("--metrics", "sensitivity,specificity")


@pytest.fixture
def files(tmp_path):
    frame = pd.DataFrame(ROWS, columns=["y_true", "y_pred"])
    frame.insert(0, "id", range(len(frame)))
    frame["score"] = np.linspace(0, 1, len(frame))
    frame.assign(y_judge=frame.y_true).to_csv(tmp_path / "results.csv", index=False)
    known = frame[frame.y_pred != "maybe"]
    known.to_csv(tmp_path / "known.csv", index=False)
    gaps = known.copy()
    gaps.loc[gaps.index[[0, 40, 50, 60, 70, 80]], "y_true"] = None  # one of them is predicted as ill
    gaps.to_csv(tmp_path / "gaps.csv", index=False)
    known.assign(y_true=known.y_true.where(known.index % 20 > 0, "other")).to_csv(tmp_path / "three.csv", index=False)
    return tmp_path


COMMANDS = {
    "diagnostic": ("diagnostic",),
    "score": ("score", *WORDS),
    "score of a class": ("score", "--metrics", "precision[ill]"),
    "interval": ("interval", *WORDS),
    "gate": ("gate", "--require", "specificity >= 0.5"),
    "compare": ("compare", "known.csv", *WORDS),
    "gate of a judge": ("gate", "--human", "y_true", "--judge", "y_judge", "--require", "specificity >= 0.5"),
    "pairs": ("compare", "known.csv", "--paired-on", "id", *WORDS),
}


@pytest.mark.sampled(2)
@pytest.mark.parametrize("name", COMMANDS)
@pytest.mark.usefixtures("files")
def test_rows_that_are_not_negative_are_refused(command, name):
    first, *rest = COMMANDS[name]
    asked = rest if name == "score of a class" else [*rest, *POSITIVE]
    found = {"11 predictions of 'maybe'": command(first, "results.csv", *asked)}
    if "--judge" not in asked:  # with which rows need no true label
        found["6 missing labels"] = command(first, "gaps.csv", *asked, "--missing", "class")
    for reason, (code, out, error) in found.items():
        assert (code, out) == (2, "")
        assert f"got also {reason}" in error
        assert "would count as negative" in error


@pytest.mark.usefixtures("files")
def test_reports_refuse_results_that_are_neither(command):
    pytest.importorskip("jinja2")
    assert "got also 11 predictions of 'maybe'" in refused(command, "report", "results.csv", *POSITIVE)


@pytest.mark.usefixtures("files")
def test_scores_refuse_missing_labels_as_a_class(command):
    for asked in (("curve",), ("threshold", "--metric", "f1"), ("score", "--threshold", "0.5")):
        first, *rest = asked
        options = ("--scores", "score", *rest, *POSITIVE, "--missing", "class")
        assert "--missing: expected error or drop with --scores" in refused(command, first, "gaps.csv", *options)


@pytest.mark.usefixtures("files")
def test_what_remains_allowed(command):
    dropped = command("diagnostic", "gaps.csv", *POSITIVE, "--missing", "drop", "--format", "json")
    assert "left out 6 rows" in dropped[2]
    kept = pd.read_csv("gaps.csv").dropna()
    by_hand = pd.crosstab(kept.y_true == "ill", kept.y_pred == "ill").to_numpy()
    counts = json.loads(dropped[1])["counts"]
    names = ("true_negatives", "false_positives", "false_negatives", "true_positives")
    assert [counts[name] for name in names] == by_hand.ravel().tolist()
    every = command("score", "gaps.csv", "--missing", "class", "--metrics", "recall:class", "--format", "json")
    assert every[0] == 0  # of each class, with missing labels as one


@pytest.mark.usefixtures("files")
def test_the_rest_is_named_with_its_samples(command):
    kept = pd.read_csv("three.csv")
    rest = kept.y_true[kept.y_true != "ill"].value_counts().to_dict()
    assert set(rest) == {"well", "other"}
    found = json.loads(command("diagnostic", "three.csv", *POSITIVE, "--format", "json")[1])
    assert found["rest"] == rest
    words = f"positive: ill, against other ({rest['other']}), well ({rest['well']})"
    assert words in " ".join(command("diagnostic", "three.csv", *POSITIVE)[1].split())
    scores = ("curve", "three.csv", "--scores", "score", *POSITIVE)
    assert words in command(*scores)[1]
    assert json.loads(done(command, *scores, "--format", "json"))["rest"] == rest


def test_functions_refuse_results_that_are_neither():
    true, pred = zip(*ROWS, strict=True)
    with pytest.warns(UserWarning, match="only among"), pytest.raises(ValueError, match=r"11 predictions of 'maybe'"):
        matrics.score_labels(true, pred, "specificity", positive="ill")
    with pytest.warns(UserWarning, match="only among"):
        counts = matrics.frames.count({"y_true": list(true), "y_pred": list(pred)})
    for call in (
        lambda: counts.score("specificity", positive="ill"),
        lambda: counts.interval("specificity", positive="ill"),
        lambda: matrics.gate(true, "specificity >= 0.5", y_pred=pred, positive="ill"),
    ):
        with pytest.raises(ValueError, match=r"11 predictions of 'maybe'"):
            call()
    declared = matrics.gate(true, "specificity >= 0.5", y_pred=pred, labels=["maybe", "well", "ill"], positive="ill")
    assert declared.requirements[0].estimate == pytest.approx(48 / 60)  # as three classes were asked for
    table = pd.crosstab(pd.Series(true), pd.Series(pred)).reindex(["ill", "maybe", "well"], fill_value=0)
    with pytest.raises(ValueError, match=r"11 predictions of 'maybe'"):
        matrics.stats.diagnostic_table(table, positive="ill")
    with pytest.raises(ValueError, match=r"2 predictions of 'class 2'"):
        matrics.stats.diagnostic_table([[5, 1, 1], [1, 5, 1], [0, 0, 0]], positive=0)
    true, pred = zip(*KNOWN, strict=True)
    assert matrics.score_labels(true, pred, "specificity", positive="ill")["specificity"] == 42 / 54


# Of 12 ill persons 10 are found; of 101 healthy ones 8 are called ill.
FEW = [[93, 8], [2, 10]]


def status_of(found):
    return int(np.asarray(found.status))


def test_the_status_of_a_proportion_is_that_of_its_samples():
    found = matrics.interval(FEW, "sensitivity, specificity, precision, npv, accuracy, mcc")
    few, ok = int(IntervalStatus.FEW_SAMPLES), int(IntervalStatus.OK)
    statuses = {name: status_of(one) for name, one in found.items()}
    # Denominators: 12 ill, 101 healthy, 18 positive and 95 negative results, of which 2 are wrong, 113 persons.
    assert statuses == {"sensitivity": few, "specificity": ok, "precision": few, "npv": few, "accuracy": ok, "mcc": few}
    each = matrics.interval(FEW, "recall:class")["recall:class"]
    assert each.status.tolist() == [ok, few]
    assert matrics.interval([FEW, FEW], "recall:class")["recall:class"].status.tolist() == [[ok, few]] * 2
    gap = matrics.compare(FEW, [[90, 11], [3, 9]], "sensitivity, specificity")
    assert [int(one.status) for one in gap.values()] == [few, ok]
    table = matrics.stats.diagnostic_table(FEW)
    rows = dict(zip(table.names, table.status.tolist(), strict=True))
    assert [rows[name] for name in ("sensitivity", "specificity", "accuracy", "prevalence")] == [few, ok, ok, ok]


def test_what_a_gate_needs_is_about_its_own_samples():
    words = ["sensitivity >= 0.5", "specificity >= 0.5"]
    few, sure = matrics.gate(FEW, words).requirements
    assert (few.verdict, sure.verdict) == ("undecided", "pass")
    assert few.needed == 189  # 20 ill of 12 in 113, rounded up


def test_few_errors_and_few_samples_remain_a_reason():
    few = int(IntervalStatus.FEW_SAMPLES)
    assert status_of(matrics.interval([[97, 1], [1, 40]], "specificity")["specificity"]) == few  # two errors
    assert status_of(matrics.interval([[20, 6], [6, 20]], "specificity")["specificity"]) == 0  # 26 samples
    assert status_of(matrics.interval([[13, 6], [60, 20]], "specificity")["specificity"]) == few  # 19 samples
    weights = matrics.interval(FEW, "specificity", squared_weights=FEW)["specificity"]
    assert status_of(weights) == few  # 113 weighted samples


def test_wilsons_limits_of_a_class_do_not_depend_on_the_other_one():
    """Coverage for 101 healthy persons, however few are ill: the sum of the binomial probabilities by SciPy."""
    stats = pytest.importorskip("scipy.stats")
    hits = np.arange(102)
    stack = np.stack([np.stack([hits, 101 - hits], -1), np.broadcast_to([2, 10], (102, 2))], -2)
    found = matrics.interval(stack, "specificity")["specificity"]
    for share in (0.8, 0.9, 0.95):
        held = (found.low <= share) & (share <= found.high)
        assert stats.binom.pmf(hits, 101, share)[held].sum() > 0.93


@pytest.mark.usefixtures("files")
def test_a_budget_says_which_rows_it_is_about(command):
    asked = ("threshold", "gaps.csv", "--scores", "score", *POSITIVE, "--metric", "recall", "--num", "0")
    asked += ("--missing", "drop", "--subject-to")
    line = "predicted_positives of ill <= 50: of the 83 samples with a label and a score; 6 rows are left out"
    assert line in command(*asked, "predicted_positives<=50")[1]
    found = json.loads(command(*asked, "predicted_positives<=50", "--format", "json")[1])
    assert line in json.dumps(found)
    assert (found["left_out"], found["samples"]) == (6, 83)
    assert "left out of it" not in command(*asked, "specificity>=0.1")[1]


@pytest.mark.usefixtures("files")
def test_curves_of_paired_models_refuse_what_they_do_not_use(command):
    frame = pd.read_csv("known.csv")
    pd.concat([frame.assign(model="a"), frame.assign(model="b", score=1 - frame.score)]).to_csv("two.csv", index=False)
    asked = ("curve", "two.csv", "--scores", "score", *POSITIVE, "--by", "model", "--paired-on", "id")
    assert command(*asked)[0] == 0
    for option in (("--metrics", "mcc"), ("--zero-division", "0")):
        assert f"{option[0]}: expected --thresholds NUMBERS with it and --paired-on" in refused(
            command, *asked, *option
        )


@pytest.mark.usefixtures("files")
def test_columns_of_a_curve_have_different_names(command):
    asked = ("curve", "known.csv", "--scores", "score", *POSITIVE)
    lines = [line.split()[:2] for line in done(command, *asked).splitlines()]
    assert [line for line in lines if line[:1] in (["samples"], ["positives"])] == [
        ["samples", "89"],
        ["positives", "35"],
    ]
    (curve,) = json.loads(done(command, *asked, "--format", "json"))["curves"]
    assert (curve["samples"], curve["positives"]) == (89, 35)
    frame = pd.read_csv("known.csv").assign(samples=1)
    frame.to_csv("taken.csv", index=False)
    named = ("curve", "taken.csv", "--scores", "score", *POSITIVE, "--by", "samples", "--format", "json")
    assert "expected different names, got two columns of the name 'samples'" in refused(command, *named)
