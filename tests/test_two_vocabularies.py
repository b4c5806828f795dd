"""True and predicted labels in different words are an error at every door, and ``positive=`` takes both names."""

from __future__ import annotations

import json
import sqlite3
from pathlib import Path

import numpy as np
import pytest
from commands import done, refused

import matrics
from matrics._tables.vocabularies import refuse_disjoint, two_names

pd = pytest.importorskip("pandas")
pa = pytest.importorskip("pyarrow")
pq = pytest.importorskip("pyarrow.parquet")
pytest.importorskip("typer")

# Of 12 ill 10 are found, of 101 healthy 8 are called ill.
TRUE = ["yes"] * 12 + ["no"] * 101
PRED = ["pos"] * 10 + ["neg"] * 2 + ["pos"] * 8 + ["neg"] * 93
SAME = ["yes" if label == "pos" else "no" for label in PRED]
SENSITIVITY, SPECIFICITY = 10 / 12, 93 / 101
MESSAGE = "expected true and predicted labels in the same words"


@pytest.fixture
def files(tmp_path):
    frame = pd.DataFrame({"y_true": TRUE, "y_pred": PRED, "id": range(113), "model": "a"})
    frame.to_csv(tmp_path / "two.csv", index=False)
    frame.assign(y_pred=SAME).to_csv(tmp_path / "same.csv", index=False)
    frame.assign(y_judge=TRUE).to_csv(tmp_path / "judged.csv", index=False)
    pd.concat([frame, frame.assign(y_pred=SAME, model="b")]).to_csv(tmp_path / "models.csv", index=False)
    pq.write_table(pa.table({"y_true": TRUE, "y_pred": PRED}), tmp_path / "two.parquet")
    lines = [json.dumps({"y_true": true, "y_pred": pred}) for true, pred in zip(TRUE, PRED, strict=True)]
    (tmp_path / "two.jsonl").write_text("\n".join(lines))
    return tmp_path


COMMANDS = {
    "score": ("score", "two.csv", "--metrics", "accuracy"),
    "parquet": ("score", "two.parquet", "--metrics", "accuracy"),
    "json lines": ("score", "two.jsonl", "--metrics", "accuracy"),
    "interval": ("interval", "two.csv", "--metrics", "mcc"),
    "diagnostic": ("diagnostic", "two.csv", "--positive", "yes"),
    "gate": ("gate", "two.csv", "--require", "accuracy >= 0.5"),
    "gate of pairs": ("gate", "same.csv", "--baseline", "two.csv", "--paired-on", "id", "--metrics", "mcc"),
    "gate of a judge": (
        "gate",
        "judged.csv",
        "--human",
        "y_true",
        "--judge",
        "y_judge",
        "--require",
        "accuracy >= 0.5",
    ),
    "compare": ("compare", "same.csv", "two.csv", "--metrics", "mcc"),
    "models": ("compare", "models.csv", "--by", "model", "--metrics", "mcc"),
    "count": ("count", "two.csv"),
    "sets": ("score", "two.csv", "--separator", ";"),
    "report": ("report", "two.csv"),
    "report of models": ("report", "models.csv", "--by", "model"),
}


@pytest.mark.sampled(2)
@pytest.mark.parametrize("name", COMMANDS)
@pytest.mark.usefixtures("files")
def test_commands_refuse_labels_without_a_common_one(command, name):
    if name.startswith("report"):
        pytest.importorskip("jinja2")
    error = refused(command, *COMMANDS[name])
    assert MESSAGE in error
    assert "--positive" in error


FUNCTIONS = {
    "score_labels": lambda: matrics.score_labels(TRUE, PRED, "mcc"),
    "classification_report": lambda: matrics.classification_report(TRUE, PRED),
    "count_frame": lambda: matrics.frames.count(pd.DataFrame({"y_true": TRUE, "y_pred": PRED})),
    "arrow": lambda: matrics.frames.count(pa.table({"y_true": TRUE, "y_pred": PRED})),
    "gate": lambda: matrics.gate(TRUE, "mcc >= 0.5", y_pred=PRED),
    "baseline": lambda: matrics.gate(TRUE, "mcc >= 0.5", y_pred=SAME, baseline=PRED),
}


@pytest.mark.parametrize("name", FUNCTIONS)
def test_functions_refuse_labels_without_a_common_one(name):
    with pytest.raises(ValueError, match=MESSAGE):
        FUNCTIONS[name]()


def test_counts_of_a_database():
    at = sqlite3.connect(":memory:")
    at.execute("CREATE TABLE predictions (y_true TEXT, y_pred TEXT)")
    at.executemany("INSERT INTO predictions VALUES (?, ?)", zip(TRUE, PRED, strict=True))
    table = pd.read_sql(matrics.frames.count_sql("predictions"), at)
    with pytest.raises(ValueError, match=MESSAGE):
        matrics.frames.count(table, counts="count")


def test_scorer_of_an_estimator_with_other_labels():
    linear = pytest.importorskip("sklearn.linear_model")
    from matrics.sklearn import scorer

    features = np.arange(8.0)[:, None]
    fitted = linear.LogisticRegression().fit(features, ["yes", "no"] * 4)
    with pytest.raises(ValueError, match=MESSAGE):
        scorer("accuracy")(fitted, features, ["pos", "neg"] * 4)
    assert scorer("accuracy")(fitted, features[:1], ["rare"]) == 0  # the only sample of a class, as by leaving one out


def test_declared_classes_need_nothing_in_common():
    assert matrics.score_labels(["a", "a"], ["b", "c"], "accuracy", labels=["a", "b", "c"])["accuracy"] == 0
    assert matrics.frames.count({"y_true": [2], "y_pred": [1]}, num_classes=3).matrix[2, 1] == 1
    kind = pd.CategoricalDtype(["a", "b"])
    frame = pd.DataFrame({"y_true": ["a"], "y_pred": ["b"]}).astype(kind)
    with pytest.warns(UserWarning, match="only among"):
        assert matrics.frames.count(frame).matrix.tolist() == [[0, 1], [0, 0]]
    assert matrics.gate([0, 0], "accuracy >= 0.5", y_pred=[1, 1], num_classes=2).verdict != "pass"


@pytest.mark.parametrize("pair", [(0, 1), ("0", "1"), (False, True), ("False", "True"), ("pass", "fail")])
def test_known_vocabularies_may_be_split(pair):
    refuse_disjoint([pair[0]], [pair[1]])
    with pytest.warns(UserWarning, match="only among") if isinstance(pair[0], str) else pytest.warns():
        assert matrics.score_labels([pair[0]] * 3, [pair[1]] * 3, "accuracy")["accuracy"] == 0


def test_both_names_in_functions():
    same = matrics.score_labels(TRUE, SAME, "sensitivity, specificity, mcc", positive="yes")
    found = matrics.score_labels(TRUE, PRED, "sensitivity, specificity, mcc", positive="yes=pos")
    assert dict(found) == dict(same)
    assert (found["sensitivity"], found["specificity"]) == pytest.approx((SENSITIVITY, SPECIFICITY))
    assert found.labels == ("no", "yes=pos")
    assert found.matrix.tolist() == [[93, 8], [2, 10]]
    numbers = [int(label == "yes") for label in TRUE]
    mixed = matrics.score_labels(numbers, PRED, "specificity", positive="1=pos", sample_weight=[2.0] * 113)
    assert mixed["specificity"] == pytest.approx(SPECIFICITY)
    ignored = matrics.score_labels([*TRUE, "?"], [*PRED, "x"], "recall", positive="yes=pos", ignore_index="?")
    assert ignored["recall"] == pytest.approx(SENSITIVITY)
    gate = matrics.gate(TRUE, ["specificity >= 0.8", "mcc"], y_pred=PRED, baseline=SAME, positive="yes=pos")
    assert gate.requirements[0].estimate == pytest.approx(SPECIFICITY)


@pytest.mark.usefixtures("files")
def test_both_names_on_the_command_line(command):
    both = ("--positive", "yes=pos", "--format", "json")
    words = ("--metrics", "sensitivity,specificity")
    for name in ("two.csv", "two.parquet", "two.jsonl"):
        (row,) = json.loads(done(command, "score", name, *words, *both))["rows"]
        assert list(row.values())[-2:] == pytest.approx([SENSITIVITY, SPECIFICITY])
    found = json.loads(done(command, "diagnostic", "two.csv", *both))
    assert found["positive"] == "yes=pos"
    assert found["counts"] == {
        "true_positives": 10, "false_negatives": 2, "false_positives": 8, "true_negatives": 93
    }  # fmt: skip
    judged = (
        "gate",
        "judged.csv",
        "--human",
        "y_true",
        "--judge",
        "y_judge",
        "--require",
        "accuracy >= 0.5",
        *both[:2],
    )
    assert command(*judged)[0] in (0, 1, 3)
    for asked in (("same.csv", "two.csv"), ("models.csv", "--by", "model")):
        compared = json.loads(done(command, "compare", *asked, *words, *both))
        assert "sensitivity of yes=pos" in json.dumps(compared)


def test_what_both_names_cannot_be():
    assert two_names(["a=b", "c"], ["a=b", "c"], "a=b") is None  # a label
    assert two_names(["x=y", "n"], ["p", "q"], "x=y=p").of_true == {"x=y": 1, "n": 0}
    with pytest.raises(ValueError, match="expected a single true and a single predicted label other than the names"):
        two_names(["yes", "no", "maybe"], ["pos", "neg"], "yes=pos")
    with pytest.raises(ValueError, match="expected a single true and a single predicted label other than the names"):
        two_names(["yes", "no"], ["yes", "no"], "yes=no")  # which would invert one side
    with pytest.raises(ValueError, match="labels of two classes"):
        two_names(["yes"], ["pos"], "yes=pos")
    with pytest.raises(ValueError, match="expected a single true and a single predicted"):
        matrics.score_labels(TRUE, PRED, "recall", positive="yes=positive")


def test_one_of_several_models_in_words_of_its_own(command):
    """Its predictions have no label in common with the true labels of the file."""
    true = ["yes", "no"] * 5
    rows = [f"A,{label},{label}" for label in true] + [f"B,{x},{'pos' if x == 'yes' else 'neg'}" for x in true]
    Path("two.csv").write_text("\n".join(["model,y_true,y_pred", *rows]) + "\n", "utf-8")
    for line in (["score", "two.csv"], ["interval", "two.csv"], ["count", "two.csv"]):
        assert "got 'no', 'yes' in 'y_true' and 'neg', 'pos' in 'y_pred'" in refused(command, *line, "--by", "model")
    models = np.asarray([true, ["pos", "neg"] * 5])
    with pytest.raises(ValueError, match="in the same words, got 'yes', 'no' in 'y_true' and 'pos', 'neg'"):
        matrics.score_labels(true, models, "accuracy")
    frame = {"y_true": true * 2, "y_pred": models.ravel().tolist(), "model": ["A"] * 10 + ["B"] * 10}
    with pytest.raises(ValueError, match="in the same words, got 'no', 'yes' in 'y_true' and 'neg', 'pos' in 'y_pred'"):
        matrics.frames.count(frame, by="model")


def test_names_that_no_label_has():
    with pytest.raises(ValueError, match="in the same words, got 'yes' in 'y_true' and 'neg' in 'y_pred'"):
        matrics.score_labels(["yes", "yes"], ["neg", "neg"], "recall", positive="ys=ps")
