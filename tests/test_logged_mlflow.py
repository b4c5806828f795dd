"""What MLflow's client reads from a file store in which scores were logged."""

from __future__ import annotations

import importlib.util
import json
import os
import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest

pytestmark = [
    pytest.mark.exhaustive,
    pytest.mark.skipif(importlib.util.find_spec("mlflow") is None, reason="mlflow is not installed"),
]

# In a process of its own, in which it may set its store and start its threads.
RUN = """
import json
from pathlib import Path
import mlflow
import matrics
from matrics.loggers import log_confusion_matrix, log_to

CM, NAMES = [[8, 2, 0], [1, 6, 3], [0, 5, 15]], ["cat", "dog", "owl"]
mlflow.set_tracking_uri((Path.cwd() / "a").as_uri())
run = mlflow.start_run()
for step, cm in enumerate([CM, [[0] * 3] * 3]):
    scores = matrics.score(cm, ["accuracy", "recall", "recall:class", "fbeta(beta=2):macro"])
    log_to(mlflow, scores, step, prefix="val/", class_names=NAMES)
    log_to(run, {"train/loss": 0.5}, step)
log_confusion_matrix(run, CM, 1, prefix="val/", class_names=NAMES)
try:
    log_to(mlflow, {"recall/C++": 0.5, "recall/C#": 0.5, "mcc": 0.5}, 0)
except ValueError as error:
    print(error)
mlflow.end_run()
elsewhere = mlflow.MlflowClient(tracking_uri=(Path.cwd() / "b").as_uri())
other = elsewhere.create_run("0").info.run_id
log_to(elsewhere, {f"recall/{k}": k for k in range(1500)}, 3, run_id=other)
for writer, options in ((elsewhere, {}), (run, {"run_id": other})):
    try:
        log_to(writer, {"loss": 0.5}, 0, **options)
    except TypeError as error:
        print(error)

client, run_id = mlflow.MlflowClient(), run.info.run_id
metrics = client.get_run(run_id).data.metrics
histories = {name: [(x.step, x.value) for x in client.get_metric_history(run_id, name)] for name in metrics}
print(json.dumps(histories))
print(json.dumps([artifact.path for artifact in client.list_artifacts(run_id, "images")]))
print(sum(elsewhere.get_run(other).data.metrics.values()))
"""


def test_a_file_store(tmp_path: Path) -> None:
    pytest.importorskip("matplotlib")
    image = pytest.importorskip("PIL.Image")
    environment = {**os.environ, "MLFLOW_ALLOW_FILE_STORE": "true", "MLFLOW_DISABLE_TELEMETRY": "true"}
    command = [sys.executable, "-c", RUN]
    run = subprocess.run(command, cwd=tmp_path, env=environment, capture_output=True, text=True, check=False)
    assert run.returncode == 0, run.stderr
    alike, lacking, unneeded, histories, images, total = run.stdout.splitlines()
    assert "'recall/C++' and 'recall/C#', which are both 'recall/C_' in MLflow" in alike
    assert lacking.startswith("run_id: expected the run of the client, got None")
    assert unneeded.startswith("run_id: expected None, as the writer is not a client")
    assert float(total) == 1499 * 1500 / 2
    found = json.loads(histories)
    values = {"accuracy": 29 / 40, "recall": 2.15 / 3, "recall.cat": 0.8, "recall.dog": 0.6, "recall.owl": 0.75}
    assert set(found) == {f"val/{name}" for name in values} | {"val/fbeta_beta_2_macro", "train/loss"}
    for name, value in values.items():
        (first, known), (second, undefined) = found[f"val/{name}"]
        assert (first, second) == (0, 1)
        assert known == pytest.approx(value, rel=1e-15)
        assert np.isnan(undefined)
    assert found["train/loss"] == [[0, 0.5], [1, 0.5]]
    (picture,) = (path for path in json.loads(images) if path.endswith(".png"))
    assert picture.startswith("images/val~confusion_matrix+step+1+")
    (file,) = tmp_path.glob(f"a/**/{picture}")
    assert np.asarray(image.open(file)).shape[2] == 3
