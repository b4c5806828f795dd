"""What scores are called in a logger, how they get there from a device, and which loggers are known."""

from __future__ import annotations

import io
import json
import subprocess
import sys
from typing import Any

import numpy as np
import pytest

import matrics
from matrics._integrations.loggers.trackers import REFUSED, _without_folder_conflicts, allowed_names
from matrics.loggers import log_confusion_matrix, log_to

CM = [[8, 2, 0], [1, 6, 3], [0, 5, 15]]
CLASSES = ["cat", "dog", "owl"]
# By hand, from the rows and columns of CM.
RECALL = {"cat": 8 / 10, "dog": 6 / 10, "owl": 15 / 20}
PRECISION = {"cat": 8 / 9, "dog": 6 / 13, "owl": 15 / 18}


def logged(scores: Any, **options: Any) -> dict[str, Any]:
    """The line that is written for these scores."""
    stream = io.StringIO()
    log_to(stream, scores, 3, **options)
    assert stream.getvalue().endswith("}\n")
    return dict(json.loads(stream.getvalue()))


def test_each_class_has_a_name(backend: Any) -> None:
    scores = matrics.score(backend.asarray(CM), ["accuracy", "recall:class", "precision(average=class)"])
    found = logged(scores, prefix="val/", class_names=CLASSES)
    expected = {"step": 3, "val/accuracy": 29 / 40}
    expected |= {f"val/recall/{name}": value for name, value in RECALL.items()}
    expected |= {f"val/precision/{name}": value for name, value in PRECISION.items()}
    assert list(found) == list(expected)
    assert found == pytest.approx(expected, rel=1e-6)


def test_numbers_where_classes_have_no_names() -> None:
    scores = {"recall:class": np.array([0.5, 1.0]), "roc_auc:class": [0.25, 0.75]}
    expected = {"recall/0": 0.5, "recall/1": 1.0, "roc_auc/0": 0.25, "roc_auc/1": 0.75}
    assert logged(scores) == {"step": 3, **expected}


def test_intervals_have_limits(backend: Any) -> None:
    intervals = matrics.interval(backend.asarray(CM), ["accuracy", "recall:class"], method="wilson")
    found = logged(intervals, class_names=CLASSES)
    fields = ("", "/low", "/high")
    assert list(found)[1:4] == [f"accuracy{field}" for field in fields]
    assert list(found)[4:] == [f"recall/{name}{field}" for field in fields for name in CLASSES]
    # Wilson's limits of 29 of 40, from his formula.
    z, n, share = 1.959963984540054, 40, 29 / 40
    centre, reach = share + z**2 / (2 * n), z * (share * (1 - share) / n + z**2 / (4 * n**2)) ** 0.5
    limits = [(centre + side * reach) / (1 + z**2 / n) for side in (-1, 1)]
    assert [found["accuracy/low"], found["accuracy/high"]] == pytest.approx(limits, rel=1e-5)


def test_plain_numbers_and_other_scores_pass() -> None:
    scores = {"loss": 0.5, "val/recall/cat": np.float32(0.25), "samples": np.int64(7)}
    assert logged(scores) == {"step": 3, "loss": 0.5, "val/recall/cat": 0.25, "samples": 7.0}


@pytest.mark.parametrize(
    ("scores", "error", "says"),
    [
        (matrics.score([CM, CM], "mcc"), ValueError, r"'mcc' of shape \(2,\).*separate calls"),
        (matrics.score([CM, CM], "recall:class"), ValueError, r"'recall:class' of shape \(2, 3\)"),
        (matrics.score(CM, ["recall:class", "recall(average=class)"]), ValueError, "'recall/cat' of 'recall:class'"),
        ({"loss": [0.5, 0.6]}, ValueError, r"'loss' of shape \(2,\)"),
        ({"loss": "low"}, TypeError, r"scores\['loss'\]: expected"),
        ({"loss": 1j}, TypeError, r"scores\['loss'\]: expected a real number"),
        ({1: 0.5}, TypeError, "expected names as keys, got 1"),
        ([0.5], TypeError, "expected a dict .* got list"),
        ({"step": 1.0}, ValueError, "'step'.*prefix="),
    ],
)
def test_what_is_not_the_scores_of_one_matrix(scores: Any, error: type[Exception], says: str) -> None:
    stream = io.StringIO()
    with pytest.raises(error, match=says):
        log_to(stream, scores, 3, class_names=CLASSES)
    assert not stream.getvalue()


def test_class_names_fit() -> None:
    with pytest.raises(ValueError, match="class_names: expected 3 different names"):
        logged(matrics.score(CM, "recall:class"), class_names=["cat", "dog"])


@pytest.mark.parametrize("step", [True, 1.5, "1", None])
def test_steps_are_integers(step: Any) -> None:
    with pytest.raises(TypeError, match="step: expected an integer"):
        log_to(io.StringIO(), {"loss": 1.0}, step)


def test_from_a_device_in_one_copy(monkeypatch: pytest.MonkeyPatch) -> None:
    torch = pytest.importorskip("torch")
    cm = torch.tensor(CM, dtype=torch.float64, requires_grad=True)
    scores = matrics.score(cm, ["mcc", "recall:class"])
    copies, copy = [], torch.Tensor.cpu
    monkeypatch.setattr(torch.Tensor, "cpu", lambda self: copies.append(self.shape) or copy(self))
    for name in ("item", "__float__", "tolist"):
        monkeypatch.setattr(torch.Tensor, name, lambda _: pytest.fail("a value was taken by itself"))
    found = logged({**scores, "loss": 0.5, "dropped": torch.tensor(2)})
    assert copies == [(5,)]
    assert list(found) == ["step", "mcc", "recall/0", "recall/1", "recall/2", "loss", "dropped"]
    assert list(found.values())[2:] == pytest.approx([*RECALL.values(), 0.5, 2.0])


def test_from_jax_in_one_call_and_not_while_it_traces(monkeypatch: pytest.MonkeyPatch) -> None:
    jax = pytest.importorskip("jax")
    calls, get = [], jax.device_get
    monkeypatch.setattr(jax, "device_get", lambda arrays: calls.append(len(arrays)) or get(arrays))
    half = jax.numpy.asarray(0.5, dtype=jax.numpy.bfloat16)
    assert logged({"loss": half, "recall:class": jax.numpy.asarray([0.25, 1.0]), "mcc": 0.75}) == {
        "step": 3, "loss": 0.5, "recall/0": 0.25, "recall/1": 1.0, "mcc": 0.75,
    }  # fmt: skip
    assert calls == [2]
    with pytest.raises(TypeError, match=r"scores\['loss'\].*traced value: log the result"):
        jax.jit(lambda x: logged({"loss": x}))(half)


def test_no_library_is_imported() -> None:
    code = (
        "import sys; from matrics.loggers import log_to; log_to(sys.stdout, {'loss': 0.5}, 1); "
        "print([name for name in ('torch', 'jax', 'matplotlib', 'PIL', 'tensorboard', 'wandb', 'mlflow') "
        "if name in sys.modules])"
    )
    run = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert run.stdout == '{"step": 1, "loss": 0.5}\n[]\n'


@pytest.mark.parametrize(
    ("writer", "error", "says"),
    [
        (object(), TypeError, "writer: expected a SummaryWriter, .* got object"),
        (type("Logger", (), {"experiment": None})(), TypeError, "got Logger: pass its .experiment"),
        ("run.txt", ValueError, r"ends in .csv or .jsonl, got 'run.txt'"),
        (io.BytesIO(), TypeError, "expected a text file, got a binary file"),
    ],
)
def test_unknown_writers(writer: Any, error: type[Exception], says: str) -> None:
    with pytest.raises(error, match=says):
        log_to(writer, {"loss": 0.5}, 1)


def test_runs_by_name_are_for_mlflow() -> None:
    with pytest.raises(TypeError, match="run_id: expected None"):
        log_to(io.StringIO(), {"loss": 0.5}, 1, run_id="a")


def test_files_take_no_pictures() -> None:
    with pytest.raises(TypeError, match=r"accepts pictures, got a file: save .*savefig"):
        log_confusion_matrix("run.csv", CM, 1)


def test_a_metric_says_what_to_pass() -> None:
    pytest.importorskip("torch")
    from matrics.torch import ConfusionMetric

    with pytest.raises(TypeError, match=r"got ConfusionMetric: pass its .log_dict\(\)"):
        logged(ConfusionMetric(3))


def test_names_with_other_characters_stay_apart() -> None:
    specs = ["fbeta(beta=2):macro", "f1:weighted", "recall@0.9", "cohen_kappa(costs=[[0,1],[2,0]])", "recall/Käse"]
    assert list(allowed_names(specs, REFUSED, "MLflow").values()) == [
        "fbeta_beta_2_macro", "f1_weighted", "recall_0.9", "cohen_kappa_costs_0_1_2_0", "recall/Käse",
    ]  # fmt: skip
    with pytest.raises(ValueError, match=r"'recall/C\+\+' and 'recall/C#', which are both 'recall/C_' in MLflow"):
        allowed_names(["recall/C", "recall/C++", "recall/C#"], REFUSED, "MLflow")
    names = ["val/recall", "val/recall/cat", "val/mcc/low", "val/mcc", "mcc"]
    assert _without_folder_conflicts(dict.fromkeys(names, 0.5)) == [
        "val/recall", "val/recall.cat", "val/mcc.low", "val/mcc", "mcc",
    ]  # fmt: skip
