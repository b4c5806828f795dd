"""What type checkers know: the stub is what the records say, and misspelt calls are refused."""

from __future__ import annotations

import ast
import importlib.util
import inspect
import json
import os
import runpy
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path

import pytest

import matrics
from matrics._catalogue.averages import AVERAGES
from matrics._catalogue.record import METRICS

SOURCE = Path(matrics.__file__).parents[1]
TOOL = SOURCE.parent / "tools/stubs.py"
STUB = SOURCE / "matrics/metrics.pyi"


def test_the_stub_is_what_the_records_say() -> None:
    assert runpy.run_path(str(TOOL))["stub"]() == STUB.read_text("utf-8"), "run: python tools/stubs.py"


def test_the_stub_has_the_keywords_of_every_call() -> None:
    """Those that help() shows and using() knows; an overall measure takes an average, too, but has none by itself."""
    body = ast.parse(STUB.read_text("utf-8")).body
    classes = {node.name: node for node in body if isinstance(node, ast.ClassDef)}
    declared = {
        node.target.id: node.annotation.id for node in body if isinstance(node, ast.AnnAssign) and not node.value
    }
    assert set(declared) == set(METRICS) & set(matrics.metrics.__all__)
    for name, class_name in declared.items():
        for method in classes[class_name].body:
            taken = [argument.arg for argument in method.args.kwonlyargs]
            known = list(inspect.signature(METRICS[name]).parameters)[1:]
            if method.name == "using":
                known = [word for word in known if word not in ("zero_division", "invalid")]
            assert [word for word in taken if word != "average"] == [word for word in known if word != "average"], name
            assert "average" in taken, name


@pytest.mark.parametrize(("alias", "metric"), [("_OneVsRest", matrics.mcc), ("_Average", matrics.f1)])
def test_the_averages_of_the_stub_are_taken(alias: str, metric: matrics.Metric) -> None:
    body = ast.parse(STUB.read_text("utf-8")).body
    (node,) = [node.value for node in body if isinstance(node, ast.AnnAssign) and node.target.id == alias]
    averages = [part.value for part in ast.walk(node) if isinstance(part, ast.Constant)]
    known = {metric.using(average=average).average for average in averages}
    assert known == {*AVERAGES[metric.kind], None}  # None is "auto"
    assert {"auto", None} <= set(averages)


# Written by a user. A comment marks each line that has to be refused; mypy and pyright accept all others, strictly.
LIBRARIES = {
    "numpy": ("import numpy as np", "np.ones((3, 3))", "Any", "np.ndarray[Any, Any]"),
    "torch": ("import torch", "torch.ones(3, 3)", "torch.Tensor", "torch.Tensor"),
    "jax": ("import jax", "jax.numpy.ones((3, 3))", "jax.Array", "jax.Array"),
}
USER = """\
from typing import Any, Literal, assert_type
import matrics as m
from matrics._engine.table import Table as Whole
from matrics.typing import Table
{imports}

cm = {array}
m.mcc(cm, averge=None)  # refused
m.f1(cm, average="macroo")  # refused

m.mcc(cm)
m.mcc(cm, average="one_vs_rest")
m.mcc.using(average="one_vs_rest")(cm)
m.f1(cm, average="class")
m.f1(cm, average="geometric")
m.f1.using(positive="fraud")
m.f1(cm, average="binary", positive=0, zero_division=0, invalid="raise")
m.metrics.fbeta(cm, beta=2)
m.metrics.fbeta.using(beta=2, average="class")(cm)
m.metrics.nmi(cm, normalizer="joint")
m.metrics.joint_entropy(cm, base="e")
m.cohen_kappa(cm, weights=None)
m.cohen_kappa(cm, costs=[[0, 1], [1, 0]])
m.cohen_kappa(cm, weights=cm)
m.recall(cm, average="weighted", class_weights=[0.2, 0.3, 0.5])
m.recall.using(class_weights={{"cat": 2, "dog": 1}})(cm, class_weights=cm)
m.recall(cm, class_weights="heavy")  # refused
m.mcc(cm, class_weights=[1, 2])  # refused
m.score(cm, m.metrics.cost([[0, 1], [50, 0]], class_names=["ok", "fraud"]))
m.score(cm, [m.mcc, "f1"], workers=2)
m.score(cm, "recall:class", class_names=["cat", "dog", "owl"])
m.score_blocks(cm, [m.mcc, "f1"], device=None, block_bytes=1000)
m.ConfusionState.zeros(3, like=cm).score(m.mcc, invalid="nan")
m.MarginState.zeros(3, like=cm).update([0, 1], [0, 1]).score([m.mcc, "f1:class"], zero_division=0)
m.study.interpret(m.mcc(cm), "SOA6")
m.confusion_matrix(["a", "b"], ["a", "c"], labels=["a", "b"])
m.confusion_matrix(cm, [0, 1], num_classes=3)

assert_type(m.mcc(cm), {result})
assert_type(m.score(cm, "f1")["f1"], {result})
assert_type(m.transform.normalize(m.check(cm), over="pred"), {stack})
assert_type(m.transform.merge_classes(cm, [0, 0, 1]), {stack})
assert_type(m.transform.merge_classes(cm, [[0, 1], [2]]), {stack})
assert_type(m.metrics.cost([[0, 1], [1, 0]])(cm), {result})
assert_type(m.soft_confusion_matrix(cm, cm), {stack})
assert_type(m.confusion_matrix(cm, cm, num_classes=3, normalize="all"), {stack})
assert_type(m.confusion_matrix([0, 1], cm, labels=["a", "b"]), {stack})
assert_type(m.multilabel.confusion_matrix(cm, cm), {stack})
assert_type(m.multilabel.score(cm, cm, "f1", average="samples")["f1"], {result})
assert_type(m.multilabel.subset_accuracy([[0, 1]], cm), {result})
assert_type(m.probabilities.log_loss([0, 1, 2], cm), {result})
assert_type(m.probabilities.log_loss([0, 1, 2], logits=cm), {result})
assert_type(m.ranking.top_k_accuracy([0, 1, 2], cm, [1, 2]), {result})
assert_type(m.probabilities.expected_calibration_error([0, 1, 2], cm, of="class_wise", norm="max"), {result})
assert_type(m.mcc([[3, 1], [0, 2]]), Any)
kappa: float = m.cohen_kappa(((3, 0.5), (0, 2)))
rows = [[0.5, 1], [2, 3]]
m.f1(rows)


def name(metric: m.Metric) -> str:
    return metric.name + metric.spec + name(metric.using(average="class"))


name(m.mcc)
name(m.get_metric("f1"))
metrics: list[m.Metric] = [m.mcc, m.f1, m.metrics.fbeta, m.get_metric("mcc")]
values = [metric(cm, average="class") for metric in metrics]



@m.register
@m.metric(kind="per_class", range=(0, 1), higher_is_better=True)
def lenient(t: Table, *, beta: float = 2.0, how: Literal["plain", "root"] = "plain") -> Any:
    value = t.divide(beta * t.tp, beta * t.tp + t.fn)
    return t.sqrt(value) if how == "root" else value


def hits(t: Table) -> Any:
    return t.share(t.hits)


def as_promised(t: Whole) -> Table:
    return t


own = m.Metric.of(hits, kind="overall", range=(0, 1), higher_is_better=None, proportion_of="total")
m.register(own)
lenient(cm, beta=1, average="class")
m.Metric.of(lambda t: t.total, name="n", kind="overall", range=(0, 9), higher_is_better=True)
m.score(cm, [lenient, own, "lenient(beta=3)"])
assert_type(own, m.Metric)
m.Metric.of(hits, kind="class", range=(0, 1), higher_is_better=True)  # refused
m.Metric.of(hits, kind="overall", range=0, higher_is_better=True)  # refused
m.metric(kind="overall", range=(0, 1))  # refused
m.metric(kind="overall", range=(0, 1), higher_is_better=True)(3)  # refused
m.register(hits)  # refused

m.mcc(cm, average="class")  # refused
m.mcc(cm, positive=0)  # refused
m.mcc("abc")  # refused
m.mcc(None)  # refused
m.f1(cm, positive="fraud")  # refused
m.f1(cm, zero_division="warn")  # refused
m.f1(cm, invalid="ignore")  # refused
m.metrics.fbeta(cm, beta="2")  # refused
m.metrics.fbeta.using(bta=2)  # refused
m.metrics.nmi(cm, normalizer="sum")  # refused
m.cohen_kappa(cm, weights="lineer")  # refused
m.score(cm, "mcc", invalid="ignore")  # refused
m.score(cm, [1])  # refused
m.multilabel.score(cm, cm, "f1", average="binary")  # refused
m.transform.normalize(cm, over="rows")  # refused
m.confusion_matrix(cm, cm, num_classes=3, normalize="rows")  # refused
m.ConfusionState.zeros(3).score("mcc", invald="nan")  # refused
m.probabilities.expected_calibration_error([0, 1, 2], cm, bins="rank")  # refused
m.ranking.top_k_recall([0, 1, 2], cm, average="micro")  # refused
"""


def mypy(file: Path, library: str) -> set[int]:
    """The lines with errors. Of the other libraries, which take it half a minute to read, it knows nothing."""
    others = ",".join(f"{other}.*" for other in ("torch", "jax") if other != library)
    settings = f"[mypy]\nstrict = true\nfollow_imports = silent\n[mypy-{others}]\nfollow_imports = skip\n"
    file.with_name("mypy.ini").write_text(settings)
    done = subprocess.run(
        [sys.executable, "-m", "mypy", "--no-error-summary", file.name],
        cwd=file.parent,
        env=os.environ | {"MYPYPATH": str(SOURCE)},
        capture_output=True,
        text=True,
        check=False,
    )
    assert done.returncode < 2, done.stdout + done.stderr
    errors = [line.split(":") for line in done.stdout.splitlines() if ": error: " in line]
    assert {path for path, *_ in errors} <= {file.name}, done.stdout
    return {int(line) for _, line, *_ in errors}


def basedpyright(file: Path, library: str) -> set[int]:  # noqa: ARG001 (mypy asks for it)
    """The lines with errors: of pyright, in the form that brings its Node.js along."""
    settings = {"include": [file.name], "extraPaths": [str(SOURCE)], "typeCheckingMode": "standard"}
    file.with_name("pyrightconfig.json").write_text(json.dumps(settings))
    done = subprocess.run(
        [sys.executable, "-m", "basedpyright", "--outputjson", "--pythonpath", sys.executable],
        cwd=file.parent,
        capture_output=True,
        text=True,
        check=False,
    )
    assert done.returncode < 2, done.stdout + done.stderr
    found = json.loads(done.stdout)["generalDiagnostics"]
    return {each["range"]["start"]["line"] + 1 for each in found if each["severity"] == "error"}


@pytest.mark.exhaustive
@pytest.mark.parametrize("checker", [mypy, basedpyright], ids=lambda checker: checker.__name__)
@pytest.mark.parametrize("library", LIBRARIES)
def test_misspelt_calls_are_refused(library: str, checker: Callable[[Path, str], set[int]], tmp_path: Path) -> None:
    pytest.importorskip(checker.__name__)
    if importlib.util.find_spec(library) is None:
        pytest.skip(f"{library} is not installed")
    imports, array, result, stack = LIBRARIES[library]
    file = tmp_path / "user.py"
    file.write_text(USER.format(imports=imports, array=array, result=result, stack=stack))
    marked = {number for number, line in enumerate(file.read_text().splitlines(), 1) if line.endswith("# refused")}
    assert checker(file, library) == marked
