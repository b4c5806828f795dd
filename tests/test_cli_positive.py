"""The command line says of which class every number is, and takes the positive class as the library does."""

import re
from pathlib import Path

import numpy as np
import pytest
from commands import done, refused

import matrics

pytest.importorskip("typer")
pytest.importorskip("rich")
pa = pytest.importorskip("pyarrow")
pq = pytest.importorskip("pyarrow.parquet")

# 40 of 200 are ill. 30 of these and 20 others are found; 36 and 50 have a score from 0.3 on.
ILL, WELL = {"tp": 30, "fn": 10}, {"fp": 20, "tn": 140}
COUNTS = np.array([[140, 20], [10, 30]])
WORDS = "sensitivity,specificity,ppv,npv,plr,nlr,diagnostic_odds_ratio"


def lab(names):
    """The rows of the samples, with these names of the classes of the others and of the ill."""
    rows = [(1, k < ILL["tp"], 0.9 if k < 30 else 0.4 if k < 36 else 0.1) for k in range(40)]
    rows += [(0, k < WELL["fp"], 0.8 if k < 20 else 0.4 if k < 50 else 0.1) for k in range(160)]
    return [(names[true], names[pred], score) for true, pred, score in rows]


@pytest.fixture(autouse=True)
def _files(tmp_path):
    names = {"lab": "01", "text": ("healthy", "disease"), "truth": ("false", "true"), "python": ("False", "True")}
    names |= {"sizes": (3, 12), "comma": ("no", "yes, surely")}
    for file, labels in names.items():
        lines = [f'"{true}","{pred}",{score}' for true, pred, score in lab(labels)]
        (tmp_path / f"{file}.csv").write_text("\n".join(["y_true,y_pred,score", *lines]) + "\n")
    true, pred, score = zip(*lab((False, True)), strict=True)
    pq.write_table(pa.table({"y_true": true, "y_pred": pred, "score": score}), tmp_path / "bool.parquet")
    np.savetxt(tmp_path / "m.csv", COUNTS, "%d", ",")


def values(out):
    """The measures of a screen of one matrix."""
    return {name: float(value) for name, value in re.findall(r"^(\S.*?) {2,}(-?\d+\.\d{3})\D", out, re.MULTILINE)}


# No two numbers under one name ----------------------------------------------------------------------------------------


def test_predictions_and_scores_have_names_of_their_own(command):
    of_one = values(done(command, "score", "lab.csv", "--metrics", "recall"))
    assert of_one == {"recall of class 1": 30 / 40}
    mean = values(done(command, "score", "text.csv", "--metrics", "recall"))
    assert mean == {"recall, macro": pytest.approx((30 / 40 + 140 / 160) / 2, abs=6e-4)}
    one = values(done(command, "score", "lab.csv", "--metrics", "recall", "--scores", "score", "--threshold", ".3"))
    assert one == {"recall of class 1": 0.9}


@pytest.mark.sampled(2)
@pytest.mark.parametrize("command_and_file", [("score", "text.csv"), ("interval", "text.csv"), ("score", "m.csv")])
def test_the_words_of_two_classes_are_of_the_positive_one(command, command_and_file):
    positive = "1" if command_and_file[1] == "m.csv" else "disease"
    out = done(command, *command_and_file, "--metrics", WORDS, "--positive", positive)
    found = [float(value) for value in re.findall(r" of (?:class )?(?:1|disease) +(\d+\.\d+)", out)]
    recall, specificity, ppv, npv = 30 / 40, 140 / 160, 30 / 50, 140 / 150
    ratios = [recall / (1 - specificity), (1 - recall) / specificity, 30 * 140 / (20 * 10)]
    assert found == pytest.approx([recall, specificity, ppv, npv, *ratios], abs=6e-4)


@pytest.mark.sampled(1)
@pytest.mark.parametrize("file", ["lab.csv", "truth.csv", "python.csv", "sizes.csv", "bool.parquet"])
def test_of_numbers_and_booleans_the_higher_one_is_positive(command, file):
    found = values(done(command, "score", file, "--metrics", "sensitivity"))
    name = {"l": "class 1", "s": "class 12"}.get(file[0], "True")  # as Python spells it
    assert found == {f"sensitivity of {name}": 0.75}
    assert values(done(command, "score", file, "--metrics", "recall")) == {f"recall of {name}": 0.75}
    options = ("--metrics", "recall", "--scores", "score", "--threshold", "0.3")
    assert list(values(done(command, "score", file, *options)).values()) == [0.9]
    assert "positive: " + {"s": "12", "l": "1"}.get(file[0], "") in done(command, "curve", file, "--scores", "score")


@pytest.mark.sampled(1)
@pytest.mark.parametrize("metrics", ["recall:binary", "sensitivity:binary", "npv:binary", "f1,f1:binary"])
def test_of_texts_someone_has_to_say_it(command, metrics):
    for arguments in (("score", "text.csv"), ("interval", "text.csv")):
        said = refused(command, *arguments, "--metrics", metrics)
        assert "needs a positive class, and neither of 'disease', 'healthy' is the default" in said
        assert said.endswith("pass --positive")
    said = refused(command, "score", "text.csv", "--scores", "score", "--threshold", "0.3", "--metrics", metrics)
    assert said.startswith("text.csv: --positive: expected the label of the class of the scores, one of 'disease', ")


def test_a_positive_class_among_more_is_that_class_against_the_rest(command, tmp_path):
    stack = np.array([[8, 2, 0], [1, 9, 0], [3, 0, 5]])
    np.save(tmp_path / "s.npy", stack)
    lines = [f"{'abc'[i]},{'abc'[j]}" for i, j in np.ndindex(3, 3) for _ in range(stack[i, j])]
    (tmp_path / "l.csv").write_text("\n".join(["y_true,y_pred", *lines]))
    metrics = ("--metrics", "accuracy,mcc,recall,precision,recall:macro")
    for file, positive, name in (("s.npy", "2", "class 2"), ("l.csv", "c", "c")):
        found = values(done(command, "score", file, *metrics, "--positive", positive))
        expected = matrics.score(stack, metrics[1], positive=2)
        names = ["accuracy", "mcc", f"recall of {name}", f"precision of {name}", "recall, macro"]
        assert found == pytest.approx(dict(zip(names, expected.values(), strict=True)), abs=6e-4)
    rest = values(done(command, "score", "l.csv", "--metrics", "mcc[c],recall:class"))
    assert list(rest) == ["mcc of c against the rest", "recall of a", "recall of b", "recall of c"]


@pytest.mark.sampled(2)
@pytest.mark.parametrize(
    ("file", "positive", "expected"),
    [
        ("text.csv", "ill", "--positive: expected one of the classes 'disease', 'healthy', got 'ill'"),
        ("m.csv", "ill", "--positive: expected the index of a class, from 0 to 1, as these classes have no names"),
        ("m.csv", "2", "--positive: expected the index of a class, from 0 to 1, got '2'"),
    ],
)
@pytest.mark.parametrize("name", ["score", "interval"])
def test_a_positive_class_that_is_not_there(command, name, file, positive, expected):
    said = refused(command, name, file, "--positive", positive)
    assert said.startswith(expected)
    assert "class_names" not in said


def test_compared_models_are_compared_by_that_class(command, tmp_path):
    text = (tmp_path / "text.csv").read_text().splitlines()
    rows = [f"{model},{k},{row}" for model in "ab" for k, row in enumerate(text[1:])]
    (tmp_path / "two.csv").write_text("\n".join([f"model,id,{text[0]}", *rows]))
    options = ("two.csv", "--by", "model", "--metrics", "recall,f1:macro", "--paired-on", "id", "--num", "20")
    out = done(command, "compare", *options, "--positive", "disease")
    assert re.search(r"^model +recall of disease ", out, re.MULTILINE)
    assert re.search(r"^a +(best +|tied +)?0\.750 ", out, re.MULTILINE)
    assert re.search(r"^model +f1, macro ", out, re.MULTILINE)
    assert "20 replicates, seed 0" in out
    assert re.search(r"^model +recall, macro ", done(command, "compare", *options), re.MULTILINE)


def test_the_highest_of_several_scores_has_a_positive_class(command, tmp_path):
    (tmp_path / "p.csv").write_text("y_true,no,yes\nno,.9,.1\nno,.2,.8\nyes,.3,.7\nyes,.4,.6\n")
    columns = ("p.csv", "--scores", "no,yes", "--metrics")
    of_yes = done(command, "score", *columns, "specificity", "--positive", "yes")
    assert values(of_yes) == {"specificity of yes": 0.5}
    assert values(done(command, "score", *columns, "specificity")) == {"specificity, macro": 0.75}
    assert "needs a positive class, and neither of 'no', 'yes' is the default: pass --positive" in refused(
        command, "score", *columns, "specificity:binary"
    )


# Classes in specs, and one measure by two names ---------------------------------------------------------------------


def test_classes_in_specs(command):
    found = values(done(command, "score", "text.csv", "--metrics", "recall[disease],f1:macro[healthy,disease]"))
    assert list(found) == ["recall of disease", "f1, macro of healthy and disease"]
    assert found["recall of disease"] == 0.75
    found = values(done(command, "score", "comma.csv", "--metrics", "recall['yes, surely'],recall[no]"))
    assert found == {"recall of yes, surely": 0.75, "recall of no": 0.875}
    said = refused(command, "score", "text.csv", "--metrics", "recall[ill]")
    assert said.startswith("recall[ill]: expected one of the classes 'disease', 'healthy', got 'ill'")


@pytest.mark.parametrize("name", ["score", "interval"])
def test_two_names_of_one_measure_are_one_column(command, name):
    out = done(command, name, "lab.csv", "--metrics", "recall,sensitivity,tpr,recall,recall:macro")
    assert list(values(out.replace(" [", "  ["))) == [
        "recall of class 1",
        "sensitivity of class 1",
        "recall, macro",
    ]
    table = done(command, name, "lab.csv", "--by", "score", "--metrics", "recall,sensitivity,tpr")
    header = table[: table.index("───")]
    assert (header.count("recall"), header.count("sensitivity"), header.count("macro")) == (1, 1, 0)
    table = done(command, name, "text.csv", "--by", "score", "--metrics", "recall,sensitivity,tpr")
    header = table[: table.index("───")]
    assert (header.count("recall"), header.count("sensitivity"), header.count("macro")) == (1, 1, 2)


def test_a_class_by_itself_and_every_class_are_one_column_each(command, tmp_path):
    asked = ("--positive", "disease", "--metrics", "recall,recall:class,mcc:one_vs_rest,mcc[disease]")
    titles = ["recall of disease", "recall of healthy"]
    titles += [f"mcc of {label} against the rest" for label in ("disease", "healthy")]
    for name in ("score", "interval"):
        out = done(command, name, "text.csv", *asked)
        assert list(values(out.replace(" [", "  ["))) == titles
    done(command, "score", "text.csv", *asked, "--output", "o.parquet")
    table = pq.read_table(tmp_path / "o.parquet").to_pydict()
    assert list(table) == titles
    assert [table[title] for title in titles[:2]] == [[30 / 40], [140 / 160]]
    done(command, "curve", "text.csv", "--scores", "score", *asked[:3], "recall,recall:class", "--output", "o.parquet")
    assert pq.read_table(tmp_path / "o.parquet").column_names == ["threshold", *titles[:2]]


def test_two_names_of_one_measure_at_thresholds(command):
    scores = ("text.csv", "--scores", "score", "--positive", "disease")
    out = done(command, "threshold", *scores, "--metric", "f1", "--metrics", "recall,recall:binary,tpr", "--num", "0")
    assert re.findall(r"^(\S.*?)  +\d\S*  +\[", out, re.MULTILINE) == ["recall of disease"]
    out = done(command, "curve", *scores, "--metrics", "recall,recall:binary,mcc")
    assert out.count("of disease") == 1


def test_a_best_threshold_under_constraints_by_label(command):
    scores = ("threshold", "text.csv", "--scores", "score", "--positive", "disease", "--num", "0")
    goal = ("--metric", "recall[healthy]", "--subject-to", "recall[disease]>=0.9")
    out = done(command, *scores, *goal)
    assert "\nhighest recall of healthy with recall of disease >= 0.9\n" in out
    lines = {"threshold": "0.4", "recall of healthy on these": "0.688", "tn": "110", "fp": "50", "fn": "4", "tp": "36"}
    for name, text in lines.items():
        assert re.search(rf"^{name} +{re.escape(text)}$", out, re.MULTILINE), name
    said = refused(command, *scores, *goal[:-1], "recall[disease]>1")
    assert said.endswith("no threshold has recall of disease > 1; the best attainable recall of disease is 1")
    assert "expected one of the classes 'healthy', 'disease'" in refused(
        command, *scores, *goal[:-1], "recall[ill]>=0.9"
    )


def test_columns_of_files_are_named_as_on_the_screen(command, tmp_path):
    arguments = ("text.csv", "--metrics", "recall,precision,mcc", "--positive", "disease")
    done(command, "score", *arguments, "--output", "o.parquet")
    assert pq.read_table(tmp_path / "o.parquet").column_names == ["recall of disease", "precision of disease", "mcc"]
    done(command, "score", *arguments[:-2], "--output", "o.csv")
    assert (tmp_path / "o.csv").read_text().startswith('"recall, macro","precision, macro",mcc\n')


def test_the_long_names_of_columns(command):
    short = ("--true", "y_true", "--pred", "y_pred")
    long = ("--y-true", "y_true", "--y-pred", "y_pred")
    assert done(command, "score", "lab.csv", *short) == done(command, "score", "lab.csv", *long)
    of_scores = done(command, "curve", "lab.csv", "--y-score", "score")
    assert of_scores == done(command, "curve", "lab.csv", "--scores", "score")


# What is odd about labels -------------------------------------------------------------------------------------------


@pytest.mark.exhaustive
@pytest.mark.parametrize(
    ("rows", "warning"),
    [
        (["a,b", "b,b"], "only among the true labels: 'a'"),
        (["b,a", "b,b"], "only among the predicted labels: 'a'"),
        (["True,true", "False,False"], "the labels 'True' and 'true' are different classes"),
        (["cat,cat", "cat,cat ", "dog,dog"], "the labels 'cat' and 'cat ' are different classes"),
        (["1,01", "x,x"], "the labels '1' and '01' are different classes"),
        (["1,1", "one,one", "2,2"], "some labels are numbers ('1', '2') and some are not ('one')"),
        (["NA,NA", "x,x"], "'NA' is a class and not a missing value, unless the option na names it"),
    ],
)
def test_one_line_warns_of_odd_labels(command, tmp_path, rows, warning):
    (tmp_path / "x.csv").write_text("\n".join(["m,y_true,y_pred", *(f"{m},{row}" for m in "pq" for row in rows)]))
    table = pa.table({name: [row.split(",")[k] for row in rows] for k, name in enumerate(("y_true", "y_pred"))})
    pq.write_table(table, tmp_path / "x.parquet")
    for arguments in (
        ("score", "x.csv", "--metrics", "accuracy"),
        ("score", "x.parquet", "--metrics", "accuracy"),
        ("interval", "x.csv", "--metrics", "accuracy"),
        ("compare", "x.csv", "--by", "m"),
        ("score", "x.csv", "--separator", ";", "--metrics", "accuracy"),
    ):
        code, _, err = command(*arguments)
        assert code == 0
        assert err == f"matrics: warning: {arguments[1]}: {warning}\n"


def test_no_warning_of_usual_labels(command):
    assert command("score", "text.csv", "--metrics", "accuracy")[2] == ""
    assert command("curve", "text.csv", "--scores", "score", "--positive", "disease")[2] == ""


# Messages -----------------------------------------------------------------------------------------------------------


def test_a_pattern_that_the_shell_has_left_alone(command, tmp_path):
    (tmp_path / "many").mkdir()
    for name in "ab":
        (tmp_path / "many" / f"{name}.csv").write_text((tmp_path / "lab.csv").read_text())
    out = done(command, "score", "many/*.csv", "--metrics", "recall")
    assert "many/*.csv: 1 matrix of 2 classes, 400 samples" in out
    assert done(command, "score", "many/*.csv", "--metrics", "recall", "--output", "o.csv")
    assert refused(command, "score", "none/*.csv") == "none/*.csv: expected a pattern that matches a file, got no match"
    for name in "ab":
        (tmp_path / "many" / f"{name}.csv").write_text((tmp_path / "text.csv").read_text())
    assert "many/*.csv: 1 curve, " in done(command, "curve", "many/*.csv", "--scores", "score", "--positive", "disease")


def test_help_of_compare_promises_what_is_read(command):
    assert ".npy" not in command("compare", "--help")[1]
    assert ".npy" in command("score", "--help")[1]


def test_help_has_the_brackets_of_a_class(command):
    assert "recall[fraud]" in "".join(command("score", "--help")[1].replace("│", "").split())


def test_an_array_that_cannot_be_mapped_is_named(command, monkeypatch, tmp_path):
    np.save(tmp_path / "s.npy", COUNTS)

    def full(*_, **__):
        raise OSError(12, "Cannot allocate memory")

    monkeypatch.setattr("numpy.lib.format.open_memmap", full)
    assert refused(command, "score", "s.npy") == "s.npy: Cannot allocate memory, to map the array"


def test_costs_and_class_weights(command, tmp_path):
    said = refused(command, "score", "m.csv", "--metrics", "expected_cost")
    assert said.endswith(
        "use matrics.metrics.cost([[0, 1], [50, 0]]) in Python, and expected_cost(costs=[[0,1],[50,0]]) in a text"
    )
    (tmp_path / "two.csv").write_text("y_true,y_pred\nok,ok\nok,fraud\nfraud,fraud\nfraud,ok\nfraud,fraud\n")
    specs = "expected_cost(costs=[ok=[0,1],fraud=[50,0]]),recall(class_weights=[ok=1,fraud=3])"
    assert values(done(command, "score", "two.csv", "--metrics", specs)) == {
        "expected_cost(costs=[fraud=[0,50],ok=[1,0]])": (1 + 50) / 5,
        "recall, weighted by class_weights=[fraud=3,ok=1]": (3 * 2 / 3 + 1 / 2) / 4,
    }


def test_the_screens_of_the_page(command, tmp_path):
    page = (Path(__file__).parents[1] / "docs" / "cli.md").read_text("utf-8")
    (tmp_path / "text.csv").rename(tmp_path / "lab.csv")
    (tmp_path / "answers.csv").write_text("y_true,y_pred\nTrue,true\nFalse,False\n")
    found = r"(?ms)^\$ matrics (score (?:lab|answers)\.csv [^\n]*)\n(.*?)(?=^\$ |^```)"
    screens = re.findall(found, page)
    assert len(screens) == 3
    for line, screen in screens:
        _, out, err = command(*line.split())
        assert (err + out).strip().startswith(screen.strip())
