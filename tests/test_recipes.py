"""The page "In Hugging Face, Keras and other trainers": its blocks, run as they are, each in a process of its own."""

from __future__ import annotations

import importlib.util
import json
import os
import re
import subprocess
import sys
import tomllib
from pathlib import Path
from typing import Any

import numpy as np
import pytest

ROOT = Path(__file__).parents[1]
PAGE = (ROOT / "docs" / "trainers.md").read_text("utf-8")
# The code under each heading. That above the first one makes the samples for all of them.
SECTIONS = {
    part.partition("\n")[0]: re.findall(r"^```python\n(.*?)^```$", part, re.DOTALL | re.MULTILINE)
    for part in re.split(r"^#+ ", PAGE, flags=re.MULTILINE)
}
FIRST = "In Hugging Face, Keras and other trainers"
(SAMPLES,) = SECTIONS[FIRST]
RECIPES = {"Hugging Face", "Tokens", "Keras", "skorch", "Ignite", "Accelerate", "Optuna"}


def run(heading: str, wanted: str, folder: Path, *, processes: int = 1, **environment: str) -> list[Any]:
    """What an expression is after the block, in each process; the tests' own warnings and settings are not there."""
    (block,) = SECTIONS[heading]
    write = f"import json, os\nwith open(os.environ.get('RANK', '0') + '.json', 'w') as f: json.dump({wanted}, f)\n"
    script = folder / "recipe.py"
    script.write_text(f"{SAMPLES}\n{block}\n{write}")
    starter = ["-m", "torch.distributed.run", "--standalone", f"--nproc-per-node={processes}"] if processes > 1 else []
    path = os.pathsep.join(filter(None, sys.path))
    options = {**os.environ, "PYTHONPATH": path, "HF_HUB_OFFLINE": "1", "OMP_NUM_THREADS": "1", **environment}
    found = subprocess.run(
        [sys.executable, *starter, str(script)], cwd=folder, env=options, capture_output=True, text=True, check=False
    )
    assert found.returncode == 0, found.stderr[-3000:]
    return [json.loads((folder / f"{rank}.json").read_text()) for rank in range(processes)]


def samples() -> tuple[Any, Any]:
    """Those of the page."""
    namespace: dict[str, Any] = {}
    exec(SAMPLES, namespace)  # noqa: S102
    return namespace["x"], namespace["y"]


def is_there(library: str) -> None:
    """Skip without it, and do not import it: that is left to the processes."""
    if importlib.util.find_spec(library) is None:
        pytest.skip(f"{library} is not installed")


def scored(true: Any, pred: Any) -> Any:
    """The MCC of scikit-learn."""
    return pytest.importorskip("sklearn.metrics").matthews_corrcoef(true, pred)


def test_every_block_is_run_below() -> None:
    assert {heading for heading, blocks in SECTIONS.items() if blocks} == RECIPES | {FIRST}
    assert PAGE.count("```python") == len(RECIPES) + 1


def test_the_page_names_the_versions_of_the_session() -> None:
    """Of these libraries no other versions have been tried."""
    project = tomllib.loads((ROOT / "pyproject.toml").read_text("utf-8"))["project"]
    listed = dict(line.split("==") for line in project["optional-dependencies"]["trainers"] if "==" in line)
    assert set(listed) == {"accelerate", "keras", "optuna", "pytorch-ignite", "skorch", "transformers"}
    page = " ".join(PAGE.split()).lower()
    for name, version in listed.items():
        assert f"{name.removeprefix('pytorch-')} {version}" in page


@pytest.mark.exhaustive
def test_hugging_face(torch: Any, tmp_path: Path) -> None:  # noqa: ARG001 (skips)
    """The values are those of the predictions of the model, which has learned what it sees."""
    is_there("transformers")
    wanted = "[trainer.evaluate(), trainer.predict(data[:100]).predictions.tolist(), compute.confusion.matrix.tolist()]"
    ((values, logits, matrix),) = run("Hugging Face", wanted, tmp_path)
    true, pred = samples()[1][:100].numpy(), np.argmax(logits, -1)
    assert values["eval_mcc"] > 0.5
    assert values["eval_mcc"] == pytest.approx(scored(true, pred))
    f1 = pytest.importorskip("sklearn.metrics").f1_score(true, pred, average=None)
    assert [values[f"eval_f1/{name}"] for name in ("cat", "dog", "owl")] == pytest.approx(list(f1))
    assert values["eval_log_loss"] == pytest.approx(values["eval_loss"], rel=1e-3)
    assert np.sum(matrix) == 100


@pytest.mark.exhaustive
def test_language_model(torch: Any, tmp_path: Path) -> None:
    is_there("transformers")
    wanted = "[trainer.evaluate(), trainer.predict(data).predictions.tolist(), texts.tolist()]"
    ((values, logits, texts),) = run("Tokens", wanted, tmp_path)
    before, after = np.asarray(logits)[:, :-1].reshape(-1, 5000), np.asarray(texts)[:, 1:].reshape(-1)
    loss = torch.nn.functional.cross_entropy(torch.from_numpy(before), torch.from_numpy(after))
    assert values["eval_log_loss"] == pytest.approx(float(loss), rel=1e-5)
    hits = (np.argsort(-before, -1)[:, :50] == after[:, None]).any(-1).mean()
    assert hits > 0
    assert values["eval_top_k_accuracy(k=50)"] == pytest.approx(hits)


@pytest.mark.exhaustive
@pytest.mark.parametrize("backend", ["torch", "jax"])
def test_keras(torch: Any, tmp_path: Path, backend: str) -> None:  # noqa: ARG001 (the samples are tensors)
    """The last validation is of the model as it is at the end, of batches of 32 and one of 12."""
    is_there("keras")
    is_there(backend)
    wanted = "[history.history, model.predict(features, verbose=0).tolist(), keras.backend.backend()]"
    ((history, logits, used),) = run("Keras", wanted, tmp_path, KERAS_BACKEND=backend)
    assert used == backend
    true, pred = samples()[1].numpy(), np.argmax(logits, -1)
    sk = pytest.importorskip("sklearn.metrics")
    found = {name: history[f"val_{name}"][-1] for name in ("mcc", "f1", "recall")}
    expected = {
        "mcc": scored(true, pred),
        "f1": sk.f1_score(true, pred, average="macro"),
        "recall": sk.recall_score(true, pred, average="macro"),
    }
    assert found == pytest.approx(expected, rel=1e-5)
    assert [len(history[name]) for name in ("mcc", "val_mcc")] == [3, 3]


@pytest.mark.exhaustive
def test_skorch(torch: Any, tmp_path: Path) -> None:  # noqa: ARG001
    is_there("skorch")
    valid = "net.get_split_datasets(x, y)[1]"
    parts = ["net.history[:, 'valid_mcc']", "sorted(net.history[-1])", f"net.predict({valid}).tolist()"]
    wanted = f"[{', '.join(parts)}, [int(label) for _, label in {valid}]]"
    ((found, columns, pred, true),) = run("skorch", wanted, tmp_path)
    assert len(found) == 3
    assert found[-1] == pytest.approx(scored(true, pred))
    assert {"valid_recall/cat", "valid_recall/dog", "valid_recall/owl"} <= set(columns)


@pytest.mark.exhaustive
def test_ignite(torch: Any, tmp_path: Path) -> None:  # noqa: ARG001
    is_there("ignite")
    wanted = "[[state.metrics[name] for name in ('mcc', 'recall/owl')], model(x).argmax(-1).tolist()]"
    ((found, pred),) = run("Ignite", wanted, tmp_path)
    true, pred = samples()[1].numpy(), np.asarray(pred)
    assert found == pytest.approx([scored(true, pred), (pred[true == 2] == 2).mean()])


@pytest.mark.exhaustive
@pytest.mark.parametrize("processes", [1, 2])
def test_accelerate(torch: Any, tmp_path: Path, processes: int) -> None:  # noqa: ARG001
    """300 samples in batches of 64: two processes fill up the last one, and no sample counts twice."""
    is_there("accelerate")
    wanted = "[values, model(x).argmax(-1).tolist(), metric.matrix.tolist(), accelerator.num_processes]"
    for values, pred, matrix, number in run("Accelerate", wanted, tmp_path, processes=processes):
        true = samples()[1].numpy()
        assert number == processes
        assert np.sum(matrix) == 300
        assert values["mcc"] == pytest.approx(scored(true, pred))


@pytest.mark.exhaustive
def test_optuna(torch: Any, tmp_path: Path) -> None:  # noqa: ARG001
    is_there("optuna")
    wanted = "[[(t.state.name, t.value) for t in study.trials], study.best_value, study.direction.name]"
    ((trials, best, direction),) = run("Optuna", wanted, tmp_path)
    assert direction == "MAXIMIZE"
    assert len(trials) == 10
    assert {state for state, _ in trials} <= {"COMPLETE", "PRUNED"}
    assert best == max(value for state, value in trials if state == "COMPLETE") > 0
