"""Pictures of measures over the steps of training."""

from __future__ import annotations

import pickle
from pathlib import Path

import numpy as np
import pytest

import matrics
from matrics import plot

pytest.importorskip("matplotlib")

from pictures import compare

from matrics._plot.training import mean_of, smooth

NAN = float("nan")
RUN = {"step": [0, 10, 20, 30], "loss": [2.0, 1.0, NAN, 1.5], "val/mcc": [0.1, NAN, 0.6, 0.5]}


def wave(seed: int, number: int = 60) -> dict[str, np.ndarray]:
    random, step = np.random.default_rng(seed), np.arange(number)
    values = (0.9 - 0.02 * (seed % 7)) * (1 - np.exp(-step / 12)) + 0.04 * random.normal(size=number)
    values[20:24] = np.nan
    return {"step": step * 100, "loss": 2 * np.exp(-step / 15) + 0.05 * random.normal(size=number), "val/mcc": values}


@pytest.mark.parametrize(
    ("name", "draw"),
    [
        ("training", lambda: plot.training({"adam": wave(0), "sgd": wave(1)}, smoothing=0.8)),
        pytest.param("training_one", lambda: plot.training(RUN, "val/mcc"), marks=pytest.mark.exhaustive),
        pytest.param(
            "training_crowd", lambda: plot.training([wave(k) for k in range(30)]), marks=pytest.mark.exhaustive
        ),
    ],
)
def test_it_looks_as_it_did(name: str, draw: object, tmp_path: Path) -> None:
    compare(draw(), name, tmp_path)


def test_the_best_step_is_marked() -> None:
    display = plot.training(RUN)
    assert display.metrics == ["loss", "val/mcc"]
    assert display.best == {"loss": (0, 1), "val/mcc": (0, 2)}
    told = display.describe()
    assert "loss: best 1 at step 10." in told
    assert "val/mcc: best 0.6 at step 20." in told
    assert "val/mcc is undefined at 1 step, left as a gap." in told
    unknown = {"speed": [1.0, 3.0, 2.0]}
    assert plot.training(unknown).best == {}
    assert plot.training(unknown, higher_is_better={"speed": False}).best == {"speed": (0, 0)}
    several = plot.training([RUN, {**RUN, "val/mcc": [0.9, NAN, NAN, NAN]}], "val/mcc")
    assert several.best == {"val/mcc": (1, 0)}
    assert "best 0.9 at step 0 of run 1." in several.describe()
    assert plot.training({"mcc": [NAN, NAN]}).describe().count("mcc has no values.") == 1
    crowd = plot.training([*([RUN] * 9), {"speed": [1.0, 2.0]}])
    assert crowd.best == {"loss": (0, 1), "val/mcc": (0, 2)}
    assert plot.training([RUN, {"speed": [1.0]}], "speed").describe() == "speed over the steps of 2 runs."


@pytest.mark.sampled(4)
@pytest.mark.parametrize(
    ("name", "higher"),
    [("mcc", True), ("train/cen", False), ("val/recall/cat", True), ("log_loss", False), ("lr", None),
     ("test/fbeta(beta=2):macro", True), ("roc_auc", True),
     ("val/precision_at_k(k=9)/cat", True), ("confusions", None)],
)  # fmt: skip
def test_directions_are_those_of_the_catalogue(name: str, higher: object) -> None:
    assert plot.training({name: [1.0, 2.0]}).directions == {name: higher}


def test_files_of_loggers(tmp_path: Path) -> None:
    csv, lines = tmp_path / "one.csv", tmp_path / "two.jsonl"
    csv.write_text("step,mcc,note\n0,0.1,x\n10,NaN,y\n20,0.5,z\n20,0.6,z\n30,0.")  # a step again, and a killed process
    lines.write_text('{"step":0,"mcc":0.2}\n{"step":10,"mcc":null}\n\n{"step":20,"f1":0.7}\n{"st')
    display = plot.training([str(csv), lines])
    assert [run.name for run in display.runs] == ["one", "two"]
    np.testing.assert_array_equal(display.runs[0].values["mcc"], [[0, 10, 20], [0.1, NAN, 0.6]])
    np.testing.assert_array_equal(display.runs[1].values["mcc"], [[0, 10, 20], [0.2, NAN, NAN]])
    np.testing.assert_array_equal(display.runs[1].values["f1"][1], [NAN, NAN, 0.7])
    assert plot.training({"a": csv, "b": lines}).runs[1].name == "b"
    assert plot.training([csv, lines], names=["a", "b"]).runs[0].name == "a"
    assert plot.training(csv).runs[0].name == ""
    (tmp_path / "other").mkdir()
    same_name = csv.rename(tmp_path / "other" / "two.csv")
    assert plot.training([lines, same_name]).runs[1].name == str(same_name)
    csv.write_text("step,mcc\n0,0.5\n1,0.25e")
    np.testing.assert_array_equal(plot.training(csv).runs[0].values["mcc"], [[0], [0.5]])
    csv.write_text("step,mcc\n0,0.25")  # whole, but for the end of the line
    np.testing.assert_array_equal(plot.training(csv).runs[0].values["mcc"], [[0], [0.25]])


def test_two_rows_of_a_step(tmp_path: Path) -> None:
    """As Lightning writes training and validation; a step without any number stays a gap."""
    path = tmp_path / "metrics.csv"
    path.write_text("step,train/mcc,val/mcc\n20,,0.5\n20,0.25,\n40,,0.75\n40,,\n60,0.5,\n")
    values = plot.training(path).runs[0].values
    np.testing.assert_array_equal(values["train/mcc"], [[20, 40, 60], [0.25, NAN, 0.5]])
    np.testing.assert_array_equal(values["val/mcc"], [[20, 40, 60], [0.5, 0.75, NAN]])


@pytest.mark.parametrize(
    ("name", "text", "message"),
    [
        ("a.csv", "step,mcc\n0,1,2\n3,4\n", "line 2: expected 2 cells, as in the first line, got 3"),
        ("a.csv", "", "expected measures, got none"),
        ("a.csv", "step,mcc\nx,1\n", "step: expected a number for each step"),
        ("a.jsonl", '{"mcc": 1}\n[2]\n', "line 2: expected a JSON object"),
        ("a.txt", "", r"ends in .csv or .jsonl"),
    ],
)
def test_files_that_cannot_be_read(name: str, text: str, message: str, tmp_path: Path) -> None:
    (tmp_path / name).write_text(text)
    with pytest.raises(ValueError, match=message):
        plot.training(tmp_path / name)


@pytest.mark.sampled(1)
def test_the_scores_of_each_step(backend: object) -> None:
    stack = np.stack([[[5, 5], [4, 6]], [[8, 2], [1, 9]]])
    history = [matrics.score(backend.asarray(cm), ["mcc", "f1"]) for cm in stack]
    values = plot.training(history).runs[0].values["mcc"][1]
    np.testing.assert_allclose(values, matrics.mcc(stack), rtol=1e-6)
    whole = plot.training({"mcc": matrics.mcc(backend.asarray(stack))}, steps=[5, 3])
    np.testing.assert_array_equal(whole.runs[0].values["mcc"][0], [3, 5])


def test_data_frames() -> None:
    pandas = pytest.importorskip("pandas")
    pyarrow = pytest.importorskip("pyarrow")
    columns = {"step": [10, 20, 30], "mcc": [0.1, 0.4, 0.3]}
    wanted = plot.training(columns)
    table = pyarrow.table(columns)
    for frame in (pandas.DataFrame(columns), {"a": pandas.DataFrame(columns)}, [pandas.DataFrame(columns)], table):
        for found, expected in zip(
            plot.training(frame).runs[0].values["mcc"], wanted.runs[0].values["mcc"], strict=True
        ):
            np.testing.assert_array_equal(found, expected)


def test_smoothed_values() -> None:
    values = np.array([1.0, NAN, 3.0, 5.0])
    weights = np.array([[1, 0, 0], [0.5, 1, 0], [0.25, 0.5, 1]])  # of the values so far, each half of the next one's
    expected = weights @ [1, 3, 5] / weights.sum(axis=1)
    np.testing.assert_allclose(smooth(values, 0.5), [expected[0], NAN, *expected[1:]])
    display = plot.training({"mcc": values}, smoothing=0.5)
    np.testing.assert_allclose(display.smoothed[0]["mcc"], smooth(values, 0.5))
    raw, smoothed, *_ = (line.get_ydata() for line in display.ax_.lines)
    np.testing.assert_array_equal(raw, values)  # stay visible
    np.testing.assert_array_equal(smoothed, display.smoothed[0]["mcc"])
    assert "Lines are smoothed" in display.describe()
    assert plot.training({"mcc": values}).smoothed == []


def test_the_mean_of_many_runs() -> None:
    steps, means = mean_of([(np.array([0, 1, 2]), np.array([1, NAN, 3])), (np.array([0, 2, 4]), np.array([3, 5, NAN]))])
    np.testing.assert_array_equal(steps, [0, 1, 2, 4])
    np.testing.assert_array_equal(means, [2, NAN, 4, NAN])
    display = plot.training([wave(k) for k in range(30)])
    assert display.is_crowd
    assert "mean of 30 runs (grey)" in display.figure_.legends[0].get_texts()[0].get_text()


@pytest.mark.exhaustive
def test_files_are_small() -> None:
    assert len(plot.training([wave(k, 500) for k in range(60)], "val/mcc").svg()) < 150_000
    assert len(plot.training({"loss": np.sin(np.arange(100_000) ** 2)}, smoothing=0.9).svg()) < 150_000


@pytest.mark.parametrize(
    ("runs", "options", "message"),
    [
        ({}, {}, "at least one measure or run"),
        (3, {}, "got int"),
        ({"a": RUN, "mcc": [1.0]}, {}, "a mixture"),
        ({"mcc": [[1.0, 2.0]]}, {}, "mcc: expected a number for each step"),
        ({"mcc": np.ones((2, 2))}, {}, "mcc: expected a number for each step"),
        ({"step": [1, 2], "mcc": [1.0]}, {}, "mcc: expected 2 values, a value for each step, got 1"),
        (RUN, {"metrics": "f1"}, "metrics: expected some of loss, val/mcc, got 'f1'"),
        (RUN, {"metrics": []}, "1 to 12 measures"),
        ({f"m{k}": [1.0] for k in range(13)}, {}, "1 to 12 measures, each in a panel, got 13"),
        (RUN, {"smoothing": 1}, "smoothing: expected"),
        (RUN, {"names": ["a", "b"]}, "names: expected 1"),
        ([RUN, [1.0]], {}, "of the run run 1 a mapping"),
    ],
)
def test_errors_say_what_was_expected(runs: object, options: dict, message: str) -> None:
    with pytest.raises((ValueError, TypeError), match=message):
        plot.training(runs, **options)


def test_the_values_of_one_step_are_not_those_of_many_steps() -> None:
    cm = [[3, 1], [0, 4]]
    for scores in (matrics.interval(cm, "accuracy"), matrics.score(cm, ["recall:class"])):
        with pytest.raises(ValueError, match="expected a number for each step, got an interval or the values of"):
            plot.training([scores] * 3)


def test_a_display_can_be_pickled() -> None:
    display = pickle.loads(pickle.dumps(plot.training({"loss": [2.0, 1.0]})))
    assert "best 1 at step 1" in display.describe()
    assert display.svg().startswith("<svg")


def test_names_with_ends_of_lines_are_read_from_the_files_of_loggers(tmp_path: Path) -> None:
    from matrics.loggers import log_to

    name = "a\nb\u2028c"
    for ending in ("csv", "jsonl"):
        for step in (1, 2):
            log_to(tmp_path / f"run.{ending}", {name: step / 2}, step)
        assert plot.training(tmp_path / f"run.{ending}").metrics == [name]
