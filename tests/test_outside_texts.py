"""Texts and numbers that come from outside, perhaps from a form of a web page: how long they take, and what they say.

Each door is tried with texts of many shapes. What is refused is refused at once, with a message that a log can hold.
"""

from __future__ import annotations

import subprocess
import sys
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from commands import refused

import matrics
from matrics._catalogue import registry
from matrics._quoting import LONGEST, quoted, split_outside
from matrics._scoring import score as scoring

CM = [[30, 10], [5, 40]]
Y, SCORES = [0, 1, 1, 0], [0.1, 0.9, 0.4, 0.3]
LONG = 50_000
SHAPES = [
    "(",
    "()",
    "[",
    "]",
    "1],[",
    ",",
    ":",
    "'",
    "=",
    ">",
    "<",
    " ",
    "a",
    "9",
    "é",
    "𝟙",
    "mcc,",
    "fbeta(",
    "_macro",
]
LONGEST_MESSAGE = 1000
SECONDS = 2.0  # a text of this length takes a tenth of a second or less; where pairs of letters count, minutes

DOORS: dict[str, Callable[[str], Any]] = {
    "name": matrics.get_metric,
    "names": lambda text: matrics.score(CM, text),
    "names with others": lambda text: matrics.score(CM, [text, "mcc"]),
    "number": lambda text: matrics.get_metric(f"fbeta(beta={text})"),
    "word": lambda text: matrics.get_metric(f"cohen_kappa(weights={text})"),
    "matrix": lambda text: matrics.get_metric(f"cohen_kappa(costs=[[{text}]])"),
    "average": lambda text: matrics.get_metric(f"f1:{text}"),
    "class": lambda text: matrics.score(CM, f"recall[{text}]"),
    "class in quotes": lambda text: matrics.score(CM, f"recall['{text}']", class_names=["a", "b"]),
    "positive": lambda text: matrics.score(CM, "recall", positive=text),
    "positive class": lambda text: matrics.score(CM, "recall", positive=text, class_names=["a", "b"]),
    "class names": lambda text: matrics.score(CM, "recall", class_names=[text, text]),
    "known classes": lambda text: matrics.score(CM, "recall", class_names=[text, f"{text}!"], positive="a"),
    "text of class names": lambda text: matrics.score(CM, "recall", class_names=text),
    "constraint": lambda text: matrics.ranking.best_threshold(Y, SCORES, "f1", subject_to=text),
    "measure of a constraint": lambda text: matrics.ranking.best_threshold(Y, SCORES, "f1", subject_to=f"{text}>=0.5"),
    "option of a constraint": lambda text: matrics.ranking.best_threshold(
        Y, SCORES, "f1", subject_to=f"f1({text})>=0.5"
    ),
    "limit": lambda text: matrics.ranking.best_threshold(Y, SCORES, "f1", subject_to=f"recall>={text}"),
    "benchmark": lambda text: matrics.study.interpret(0.5, text),
    "family": matrics.list_metrics,
    "attribute": lambda text: getattr(matrics, text),
    "method": lambda text: matrics.interval(CM, "mcc", method=text),
    "level": lambda text: matrics.interval(CM, "mcc", level=text),
    "label": lambda text: matrics.confusion_matrix([text, "b"], ["a", "b"], labels=["a", "b"]),
    "labels": lambda text: matrics.confusion_matrix(["b"], ["b"], labels=[text, "a"]),
    "matrices": matrics.score,
}


def seconds_of(door: Callable[[str], Any], text: Any) -> tuple[float, str]:
    """How long a door takes, and what it says; nothing if it takes the text."""
    started, said = time.process_time(), ""
    try:
        door(text)
    except (ValueError, TypeError, AttributeError) as error:
        said = str(error)
    return time.process_time() - started, said


@pytest.mark.sampled(2)
@pytest.mark.parametrize("door", DOORS)
def test_long_texts_are_read_at_once_and_quoted_in_part(door: str) -> None:
    refused_ones = 0
    for shape in SHAPES[::2]:  # and all of them below
        seconds, said = seconds_of(DOORS[door], shape * (LONG // len(shape)))
        assert seconds < SECONDS, shape
        assert len(said) < LONGEST_MESSAGE, shape
        refused_ones += bool(said)
    assert refused_ones


@pytest.mark.exhaustive
@pytest.mark.parametrize("door", DOORS)
def test_time_grows_with_the_length_alone(door: str) -> None:
    """Twenty times the length takes twenty times as long, and not four hundred times."""
    for shape in SHAPES[::3]:
        seconds, said = seconds_of(DOORS[door], shape * (20 * LONG // len(shape)))
        assert seconds < 2 * SECONDS, shape
        assert len(said) < LONGEST_MESSAGE, shape


@pytest.mark.sampled(2)
@pytest.mark.parametrize(
    "door",
    [
        lambda many: matrics.score(CM, "mcc", class_names=many),
        lambda many: matrics.score(CM, many),
        lambda many: matrics.score(CM, [many]),
        lambda many: matrics.interval(CM, "mcc", method=many),
        lambda many: matrics.confusion_matrix(["x"], ["x"], labels=many),
        lambda many: matrics.confusion_matrix(["x"], ["x"], labels=[*many, many[-1]]),
        lambda many: matrics.ranking.best_threshold(Y, SCORES, "f1", subject_to=many),
        lambda many: matrics.ranking.best_threshold(Y, SCORES, "f1", subject_to=[1, *many]),
        matrics.get_metric,
        lambda many: matrics.study.interpret(0.5, many),
    ],
)
def test_long_lists_are_read_at_once_and_quoted_in_part(door: Callable[[Any], Any]) -> None:
    seconds, said = seconds_of(door, [f"name {k}" for k in range(LONG)])
    assert seconds < SECONDS
    assert 0 < len(said) < LONGEST_MESSAGE


def test_many_names_are_as_many_measures() -> None:
    """Those of one name are one; they are not compared pair by pair."""
    seconds, said = seconds_of(lambda names: matrics.score(CM, names), ["mcc", "tpr"] * LONG)
    assert seconds < SECONDS
    assert not said


def test_a_text_beyond_the_limit_is_refused_by_its_length() -> None:
    with pytest.raises(ValueError, match=r"a spec of at most 1,000,000 characters, got 1,000,001: 'aaa"):
        matrics.get_metric("a" * (LONGEST + 1))
    with pytest.raises(ValueError, match=r"a constraint of at most 1,000,000 characters, got 1,000,009: 'aaa"):
        matrics.ranking.best_threshold(Y, SCORES, "f1", subject_to="a" * (LONGEST + 1) + ">=0.5 or so"[:8])


def test_weights_of_a_hundred_classes_are_no_long_text() -> None:
    weights = np.random.default_rng(0).random((100, 100))
    weights = (weights + weights.T) * (1 - np.eye(100))
    spec = matrics.cohen_kappa.using(costs=weights).spec
    assert 150_000 < len(spec) < LONGEST
    assert matrics.get_metric(spec) == matrics.cohen_kappa.using(costs=weights)


@pytest.mark.parametrize(
    ("text", "name", "sign", "limit"),
    [
        ("recall>=0.9", "recall", ">=", 0.9),
        (" fbeta( beta = 2 ) < 1e-3 ", "fbeta( beta = 2 )", "<", 1e-3),
        ("recall['a>=b']>.5", "recall['a>=b']", ">", 0.5),
        ("recall[a<b]<=1", "recall[a<b]", "<=", 1.0),
        ("cohen_kappa(costs=[[0,1],[1,0]])>=0.5", "cohen_kappa(costs=[[0,1],[1,0]])", ">=", 0.5),
    ],
)
def test_a_constraint_is_split_at_its_sign(text: str, name: str, sign: str, limit: float) -> None:
    from matrics._catalogue.classes import Classes
    from matrics._ranking.constraints import read_constraints

    (found,) = read_constraints([text], Classes(2, ("a>=b", "a<b"), by_construction=True))
    assert (found.name, found.sign, found.limit) == (name, sign, limit)


@pytest.mark.parametrize(
    "text", ["recall", "recall=0.9", "recall==0.9", "recall>==0.9", "0.1<recall<0.9", ">=0.9", "=", "", "0.9<=recall"]
)
def test_what_is_no_constraint(text: str) -> None:
    with pytest.raises(ValueError, match="subject_to: expected"):
        matrics.ranking.best_threshold(Y, SCORES, "f1", subject_to=text)


def test_parts_of_a_text_together_are_the_text() -> None:
    signs = np.random.default_rng(0).choice(list("ab,:()[]'\"= "), (2000, 12))
    for text in map("".join, signs):
        parts = split_outside(text)
        assert ",".join(parts) == text
        assert split_outside(text.replace(",", "")) == [text.replace(",", "")]


def test_specs_are_not_kept_for_ever() -> None:
    for k in range(3 * registry.MAX_SPECS):
        assert matrics.get_metric(f"fbeta(beta={k + 2})").fixed == (("beta", k + 2.0),)
    assert len(registry._SPECS) <= registry.MAX_SPECS
    matrics.score(CM, f"fbeta(beta=2){' ' * 2000}")
    assert all(len(spec) <= registry.MAX_KEPT for spec in registry._SPECS)


@pytest.mark.sampled(1)
@pytest.mark.parametrize("entries", [0, scoring.MAX_KNOWN])
def test_long_lists_of_measures_are_not_kept(entries: int, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(scoring, "_KNOWN", dict.fromkeys(range(entries)))
    known = len(scoring._KNOWN)
    matrics.score(CM, ["mcc"] * scoring.MAX_LETTERS)
    matrics.score(CM, "mcc", class_names=["a" * scoring.MAX_LETTERS, "b"])
    assert len(scoring._KNOWN) == known
    for k in range(2 * scoring.MAX_KNOWN):
        matrics.score(CM, "mcc", class_names=["a", f"b{k}"])
    assert len(scoring._KNOWN) <= scoring.MAX_KNOWN


def test_a_value_is_quoted_as_python_writes_it_or_in_part() -> None:
    assert quoted("it's") == '"it\'s"'
    assert quoted([1, None]) == "[1, None]"
    assert quoted("x" * 201) == "'" + "x" * 199 + "... (201 characters)"
    assert len(quoted("\U0010ffff" * 200)) < 230
    assert len(quoted(list(range(LONG)))) < 230
    deep: list[Any] = []
    for _ in range(LONG):
        deep = [deep]
    assert quoted(deep) == "a value of type list"
    while deep:  # or to free it would take as deep a stack
        deep = deep[0]


@pytest.mark.parametrize(
    ("call", "expected"),
    [
        (lambda: matrics.score(CM, "mcc", workers=10**9), "workers: expected a number of threads from 1 to 1024"),
        (lambda: matrics.score(CM, "mcc", workers=10**5000), "got a value of type int"),
        (lambda: matrics.score(CM, "recall[" + "9" * 5000 + "]"), "the index of a class, from 0 to 1, got '999"),
        (lambda: matrics.score(CM, "recall", positive=10**5000), "from 0 to 1, got a value of type int"),
        (lambda: matrics.score(CM, "recall", positive=10**5000, class_names=["a", "b"]), "no class has this label"),
        (lambda: matrics.score([[10**5000, 1], [1, 1]]), "which does not fit in 64 bits"),
        (
            lambda: matrics.stats.samples_needed(CM, "mcc", half_width=10**5000),
            "half_width: expected a positive number",
        ),
        (lambda: matrics.interval(CM, "mcc", method="bootstrap", num=10**5000), "num=a value of type int: expected"),
        (lambda: matrics.interval(CM, "mcc", method="bootstrap", rng=-(10**5000)), "got a value of type int"),
        (lambda: matrics.ranking.top_k_accuracy([0], [[0.1, 0.9]], 10**5000), "k: expected"),
        (lambda: matrics.confusion_matrix([0], [0], num_classes=10**5000), "num_classes: expected"),
    ],
)
def test_numbers_beyond_all_use_are_refused_with_a_sentence(call: Callable[[], Any], expected: str) -> None:
    with pytest.raises((ValueError, TypeError)) as caught:
        call()
    assert expected in str(caught.value)


@pytest.mark.sampled(2)
@pytest.mark.parametrize(
    "options",
    [
        ["--workers", "1000000000"],
        ["--workers", "9" * LONG],
        ["--by", "a" * LONG],
        ["--cells", "a," * (LONG // 2)],
        ["--positive", "9" * LONG],
        ["--metrics", "fbeta(" * (LONG // 6)],
        ["--zero-division", "(" * LONG],
        ["--output", "a" * LONG],
        ["--scores", "a=b," * (LONG // 4)],
        ["--plugin", "a." * (LONG // 2)],
    ],
    ids=lambda options: options[0],
)
def test_long_options_of_the_command_line_are_refused_in_one_line(options: list[str], command: Any) -> None:
    Path("labels.csv").write_text("y_true,y_pred\na,b\nb,a\n")
    started = time.process_time()
    said = refused(command, "score", "labels.csv", *options)
    assert time.process_time() - started < SECONDS
    assert 0 < len(said) < 2100


AT_THE_END = """
import atexit
import numpy as np
import matrics

stack = np.random.default_rng(0).integers(0, 9, (20_000, 3, 3))
stack[7, 0, 0] = -1
expected = matrics.score(stack, "mcc", invalid="nan")["mcc"]

@atexit.register
def report():
    found = matrics.score(stack, "mcc", invalid="nan", workers=4)["mcc"]
    low = matrics.interval(stack[0], "mcc", method="bootstrap", num=500, rng=0, workers=4)["mcc"].low
    print(np.array_equal(found, expected, equal_nan=True), bool(np.isfinite(low)))
"""


def test_threads_are_not_needed_while_the_interpreter_shuts_down() -> None:
    """A handler of atexit may score with workers, as where it writes the last report; no thread starts there."""
    done = subprocess.run([sys.executable, "-c", AT_THE_END], capture_output=True, text=True, check=False)
    assert (done.stdout, done.stderr) == ("True True\n", "")
