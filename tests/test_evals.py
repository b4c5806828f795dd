"""Evaluation logs of language models: files that Inspect and lm-evaluation-harness wrote themselves, and others."""

from __future__ import annotations

import json
import os
import struct
import subprocess
import sys
import zipfile
import zlib
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import matrics

pd = pytest.importorskip("pandas")
pa = pytest.importorskip("pyarrow")  # which reads what Zstandard compresses

from matrics import evals  # noqa: E402
from matrics._integrations.evals.zipped import read_member  # noqa: E402

OURS = Path(__file__).parent / "data" / "evals"
LOGS = Path(os.environ.get("MATRICS_EVAL_LOGS", OURS))  # nox -s evals lets the tools write them anew
PRINTED = json.loads((LOGS / "printed.json").read_text())
PARITY, ECHO = (next(LOGS.glob(f"samples_{task}_*.jsonl")) for task in ("parity", "echo"))
FIRST = ["sample", "epoch", "task", "model", "scorer", "target", "prediction", "score", "y_true", "y_pred"]


def lines(path: Path, rows: list[dict[str, Any]]) -> Path:
    path.write_text("".join(json.dumps(row) + "\n" for row in rows))
    return path


def ordered(frame: Any) -> Any:
    return frame.sort_values(["sample", "epoch"], ignore_index=True)


def by_sample(frame: Any, scorer: str, by: str = "sample") -> Any:
    """The mean score of each sample or cluster, by pandas alone."""
    return frame[frame["scorer"] == scorer].groupby(by)["score"].mean()


@pytest.mark.parametrize("name", ["a.eval", "b.eval", "words.eval"])
def test_inspect_prints_the_same(name: str) -> None:
    """Its accuracy and its standard error are those of the means of samples over their epochs."""
    frame = evals.read(LOGS / name)
    assert list(frame.columns)[:10] == FIRST
    for scorer, printed in PRINTED[name].items():
        means = by_sample(frame, scorer)
        assert means.mean() == pytest.approx(printed["accuracy"], abs=1e-12)
        assert means.sem() == pytest.approx(printed["stderr"], abs=1e-12)


def clusters_of(frame: Any, by: str) -> np.ndarray:
    """One matrix of the classes for each cluster."""
    labels = sorted(set(frame["y_true"]) | set(frame["y_pred"]))
    found = [
        matrics.confusion_matrix(part["y_true"].to_list(), part["y_pred"].to_list(), labels=labels)
        for _, part in frame.groupby(by)
    ]
    return np.stack(found)


@pytest.mark.parametrize(("by", "where"), [("sample", "a.eval"), ("metadata_passage", "a.eval by passage")])
def test_the_clustered_standard_error_is_that_of_inspect(by: str, where: str) -> None:
    """Of whole samples by stderr(), and of ten passages by stderr(cluster="passage")."""
    stack = clusters_of(evals.read(LOGS / "a.eval"), by)
    found = matrics.interval(stack, "accuracy", cluster_axis=0, method="delta")["accuracy"]
    assert found.estimate == pytest.approx(PRINTED["a.eval"]["choice"]["accuracy"], abs=1e-12)
    assert found.standard_error == pytest.approx(PRINTED[where]["choice"]["stderr"], rel=1e-8)  # slopes are numeric


def test_both_forms_of_a_log_of_inspect_are_one() -> None:
    a, b = (ordered(evals.read(LOGS / name)) for name in ("a.eval", "a.json"))
    pd.testing.assert_frame_equal(a, b)
    assert len(a) == 90
    assert set(a["epoch"]) == {1, 2, 3}
    assert (a["y_true"] == a["target"]).all()
    assert (a["y_pred"] == a["prediction"]).all()


def test_summaries_and_samples_say_the_same(tmp_path: Path) -> None:
    """Without summaries.json, as in a log of a run that was stopped, each sample is read."""
    path = tmp_path / "b.eval"
    with zipfile.ZipFile(LOGS / "b.eval") as archive, zipfile.ZipFile(path, "w") as made:
        for about in archive.infolist():
            if about.filename in ("summaries.json", "header.json"):  # which a run writes at its end
                continue
            made.writestr(about.filename, read_member(archive, about.filename), zipfile.ZIP_DEFLATED)
    frames = [ordered(evals.read(one)) for one in (path, LOGS / "b.eval")]
    pd.testing.assert_frame_equal(*frames)
    assert len(frames[0]) == 83  # one answer of 84 was an error


@pytest.mark.parametrize(("scorer", "path"), [("acc", PARITY), ("acc_norm", PARITY), ("exact_match", ECHO)])
def test_the_harness_prints_the_same(scorer: str, path: Path) -> None:
    frame, printed = evals.read(path), PRINTED[path.name]
    scores = frame.loc[frame["scorer"] == scorer, "score"]
    assert scores.mean() == pytest.approx(printed[f"{scorer},none"], abs=1e-12)
    assert scores.sem() == pytest.approx(printed[f"{scorer}_stderr,none"], abs=1e-12)
    assert set(frame["task"]) == {printed["alias"]}


def test_the_prediction_of_the_harness_is_the_most_likely_choice() -> None:
    frame = evals.read(PARITY)
    chosen = frame[frame["scorer"] == "acc"]
    raw = [json.loads(line) for line in PARITY.read_text().splitlines()]
    best = [str(int(np.argmax([float(one[0]) for one in row["filtered_resps"]]))) for row in raw]
    assert chosen["prediction"].to_list() == best
    assert chosen["target"].to_list() == [str(1 - k % 2) for k in range(40)]
    # Which choice acc_norm prefers depends on lengths that the file does not have.
    assert frame.loc[frame["scorer"] == "acc_norm", "prediction"].isna().all()
    assert set(frame["y_true"]) == {"pass"}  # two scorers side by side, and one of them has no classes


def test_promptfoo() -> None:
    """Written by hand to the documented format, as the tool needs Node."""
    frame = evals.read(OURS / "promptfoo.json")
    passed = frame.groupby("model")["score"].sum()
    assert passed.to_dict() == {"openai:gpt-large": 5.0, "openai:gpt-small": 3.0}
    summary = json.loads((OURS / "promptfoo.json").read_text())["results"]
    assert passed.sum() == summary["stats"]["successes"]
    assert len(frame) == 11  # one of twelve is an error of the provider, and no failure
    assert set(frame["y_true"]) == {"yes", "no"}
    assert frame["sample"].iloc[0] == "Is 4 even?"


def test_promptfoo_itself() -> None:
    """The output of promptfoo 0.121.20 with two providers in JavaScript, which refuse some answers.

    ``promptfoo eval --no-cache -o out.json`` has written it; only blanks between the values are removed.
    """
    path = OURS / "promptfoo_tool.json"
    content = json.loads(path.read_text())
    frame = evals.read(path)
    for prompt in content["results"]["prompts"]:
        scores = frame["score"][frame["model"] == prompt["provider"]]
        printed = prompt["metrics"]
        assert (scores == 1).sum() == printed["testPassCount"]
        assert (scores == 0).sum() == printed["testFailCount"]
        assert len(scores) == 20 - printed["testErrorCount"] < 20
    (found,) = evals.compare(path)
    answered = [prompt["metrics"] for prompt in content["results"]["prompts"]]
    assert [share.value for share in found.answered] == [1 - one["testErrorCount"] / 20 for one in answered]


def test_repeats_of_promptfoo_are_epochs(tmp_path: Path) -> None:
    content = json.loads((OURS / "promptfoo.json").read_text())
    results = content["results"]["results"]
    content["results"]["results"] = [{**one, "testIdx": 2 * one["testIdx"] + k} for one in results for k in (0, 1)]
    (tmp_path / "twice.json").write_text(json.dumps(content))
    frame = evals.read(tmp_path / "twice.json")
    assert set(frame["epoch"]) == {1, 2}
    assert set(frame["sample"]) == set(evals.read(OURS / "promptfoo.json")["sample"])


def test_json_lines(tmp_path: Path) -> None:
    rows = [{"sample": k // 2, "score": k % 2, "topic": "art", "tags": []} for k in range(6)]
    frame = evals.read(lines(tmp_path / "mine.jsonl", rows))
    assert frame["epoch"].to_list() == [1, 2, 1, 2, 1, 2]
    assert frame["y_pred"].to_list() == ["fail", "pass"] * 3
    assert set(frame["model"]) == {"mine"}
    assert frame["topic"].to_list() == ["art"] * 6
    graded = [{"sample": k, "target": "ab"[k % 2], "prediction": "a"} for k in range(6)]
    frame = evals.read(lines(tmp_path / "graded.jsonl", graded))
    assert frame["score"].to_list() == [1, 0] * 3
    assert frame["y_true"].to_list() == ["a", "b"] * 3


def test_polars() -> None:
    pytest.importorskip("polars")
    frame = evals.read(LOGS / "a.eval", library="polars")
    assert frame.columns[:10] == FIRST
    assert frame["score"].mean() == pytest.approx(PRINTED["a.eval"]["choice"]["accuracy"])


@pytest.mark.sampled(2)
@pytest.mark.parametrize(
    ("name", "content", "message"),
    [
        ("x.csv", "a", r"x.csv: expected a name that ends in .eval, .json, .jsonl, got .csv"),
        ("x.eval", "a", r"x.eval: expected a log of Inspect, a ZIP archive, got another file"),
        ("x.json", "{", r"x.json: expected JSON, got: "),
        ("x.json", '{"a": 1}', r"expected a log of Inspect \(with eval\) or of promptfoo .*, got \['a'\]"),
        ("x.json", '{"version": 1, "eval": {"task": "t"}}', "expected version 2 of Inspect's logs, got 1"),
        ("x.json", '{"version": 2, "eval": {"task": "t"}}', "expected 'eval.model', got none"),
        (
            "x.json",
            '{"version": 2, "eval": {"task": "t", "model": "m"}}',
            "expected answers with scores, got a log of Inspect without scores",
        ),
        ("x.json", '{"results": {"version": 2}}', "expected version 3 of promptfoo's results, got 2"),
        (
            "x.json",
            '{"results": {"version": 3, "results": [3]}}',
            "expected the structure of a log, got JSON of another ",
        ),
        ("x.json", "[" * 100_000, "expected (JSON|the structure of a log), got "),
        (
            "x.json",
            '{"version": 2, "eval": {"task": "t", "model": "m"}, "samples": [{"id": 1, "scores": 3}]}',
            "expected the structure of a log, got JSON of another ",
        ),
        ("x.jsonl", '{"sample": 1, "score": Infinity}', "row 1: expected a number, pass or fail as score, got inf"),
        ("x.jsonl", "[" * 100_000, "line 1: expected an object of JSON, got: "),
        ("x.jsonl", "", "expected at least one line of JSON, got none"),
        ("x.jsonl", '{"a": 1}', r"expected lines with the fields sample, and score .*, got the fields 'a'"),
        ("x.jsonl", '{"a": 1}\nyes', "line 2: expected an object of JSON, got: "),
        ("x.jsonl", "[1]", r"line 1: expected an object, got \[1\]"),
        ("x.jsonl", '{"sample": 1, "score": "good"}', "row 1: expected a number, pass or fail as score, got 'good'"),
        ("x.jsonl", '{"sample": 1, "score": 1, "epoch": "a"}', "row 1: expected an integer as epoch, got 'a'"),
        ("x.jsonl", '{"sample": 1, "score": 1, "epoch": 1e999}', "row 1: expected an integer as epoch, got inf"),
        ("x.jsonl", f'{{"sample": 1, "score": 1{"0" * 309}}}', "expected a grade within the range of float64, got 100"),
        (
            "x.json",
            '{"version": 2, "eval": {"task": "t", "model": "m"}, "samples": [{"id": 1, "epoch": 1e999, "scores": {}}]}',
            "expected an integer as epoch, got inf",
        ),
        (
            "x.jsonl",
            '{"sample": 1, "score": 1, "epoch": 1}\n{"sample": 1, "score": 0, "epoch": 1}',
            r"expected one answer of x for sample 1 in epoch 1, got several",
        ),
    ],
)
def test_other_files_are_refused(tmp_path: Path, name: str, content: str, message: str) -> None:
    (tmp_path / name).write_text(content)
    with pytest.raises(ValueError, match=message) as error:
        evals.read(tmp_path / name)
    assert len(str(error.value).splitlines()) == 1


def test_a_damaged_archive_is_refused(tmp_path: Path) -> None:
    whole = bytearray((LOGS / "a.eval").read_bytes())
    with zipfile.ZipFile(LOGS / "a.eval") as archive:
        about = archive.getinfo("summaries.json")
    middle = about.header_offset + 200
    whole[middle : middle + 40] = bytes(40)
    (tmp_path / "a.eval").write_bytes(whole)
    with pytest.raises(ValueError, match=r"a\.eval: expected .*summaries\.json"):
        evals.read(tmp_path / "a.eval")


def test_a_member_of_several_frames_is_read(tmp_path: Path) -> None:
    """Inspect writes large members in frames of 200 MiB each."""
    halves = [b'{"a": 1,' * 50, b' "b": 2}']
    frames = b"".join(bytes(pa.compress(half, "zstd", asbytes=True)) for half in halves)
    content, name = b"".join(halves), b"x.json"
    local = struct.pack("<4s5H3L2H", b"PK\3\4", 20, 0, 93, 0, 33, zlib.crc32(content), len(frames), len(content), 6, 0)
    central = struct.pack(
        *("<4s6H3L5H2L", b"PK\1\2", 20, 20, 0, 93, 0, 33, zlib.crc32(content), len(frames), len(content)),
        *(6, 0, 0, 0, 0, 0, 0),
    )
    start = len(local) + len(name) + len(frames)
    end = struct.pack("<4s4H2LH", b"PK\5\6", 0, 0, 1, 1, len(central) + len(name), start, 0)
    (tmp_path / "x.zip").write_bytes(local + name + frames + central + name + end)
    with zipfile.ZipFile(tmp_path / "x.zip") as archive:
        assert read_member(archive, "x.json") == content


def test_pyarrow_is_asked_for(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "pyarrow", None)
    with pytest.raises(
        ImportError, match="a log that Zstandard compresses needs pyarrow: python -m pip install pyarrow"
    ):
        evals.compare(LOGS / "a.eval", LOGS / "b.eval")
    monkeypatch.setitem(sys.modules, "pandas", None)
    with pytest.raises(ImportError, match=r"evals\.read needs pandas: python -m pip install pandas"):
        evals.read(LOGS / "a.eval")


def test_another_archive_is_refused(tmp_path: Path) -> None:
    with zipfile.ZipFile(tmp_path / "a.eval", "w") as made:
        made.writestr("notes.txt", "nothing")
    with pytest.raises(ValueError, match=r"expected a log of Inspect, with header\.json in it, got another archive"):
        evals.read(tmp_path / "a.eval")


@pytest.mark.exhaustive
def test_a_report_of_a_log() -> None:
    """Functions that take files read logs, whether this module is imported before or not."""
    path = str(Path(__file__).parent / "data" / "evals" / "a.eval")
    code = f"""
import sys
import matrics
assert "matrics.evals" not in sys.modules
print(matrics.report({path!r}))
"""
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr
    assert "90 predictions of 1 model over 4 classes were scored, on 30 samples." in done.stdout
