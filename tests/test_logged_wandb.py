"""What an offline run of Weights & Biases has written, read from its file record by record."""

from __future__ import annotations

import importlib.util
import io
import json
import os
import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest

pytestmark = [
    pytest.mark.exhaustive,
    pytest.mark.skipif(importlib.util.find_spec("wandb") is None, reason="wandb is not installed"),
]

CM = [[8, 2, 0], [1, 6, 3], [0, 5, 15]]

# In a process of its own, which it leaves threads, processes and handlers in.
RUN = """
import json, struct, sys
from pathlib import Path
import wandb
from wandb.proto.wandb_internal_pb2 import Record
import matrics
from matrics.loggers import log_confusion_matrix, log_to

CM, NAMES = [[8, 2, 0], [1, 6, 3], [0, 5, 15]], ["cat", "dog", "owl"]
try:
    log_to(wandb, {"loss": 0.5}, 0)
except ValueError as error:
    print(error)
run = wandb.init(project="p", settings=wandb.Settings(console="off"))
for step, cm in enumerate([CM, [[0] * 3] * 3]):
    scores = matrics.score(cm, ["accuracy", "recall:class", "fbeta(beta=2):macro"])
    log_to(run, scores, step, prefix="val/", class_names=NAMES)
    log_to(wandb, {"train/loss": 0.5}, step)
log_confusion_matrix(run, CM, 1, prefix="val/", class_names=NAMES)
run.finish()


def records(data):
    # LevelDB's log: a header of 7 bytes, then blocks of 32 KiB with pieces of records, which no piece crosses.
    place, whole = 7, b""
    while place + 7 <= len(data):
        left = 2**15 - place % 2**15
        if left < 7:
            place += left
            continue
        size, kind = struct.unpack_from("<HB", data, place + 4)
        place += 7 + size
        whole += data[place - size : place]
        if kind in (1, 4):  # all of a record, or the last piece of it
            yield Record.FromString(whole)
            whole = b""


(path,) = Path("wandb").glob("offline-run-*/*.wandb")
for record in records(path.read_bytes()):
    if record.WhichOneof("record_type") == "history":
        items = record.history.item
        print(json.dumps({item.key or ".".join(item.nested_key): json.loads(item.value_json) for item in items}))
"""


def test_an_offline_run(tmp_path: Path) -> None:
    pytest.importorskip("matplotlib")
    image = pytest.importorskip("PIL.Image")
    environment = {**os.environ, "WANDB_MODE": "offline", "WANDB_DIR": str(tmp_path), "WANDB_SILENT": "true"}
    command = [sys.executable, "-c", RUN]
    run = subprocess.run(command, cwd=tmp_path, env=environment, capture_output=True, text=True, check=False)
    assert run.returncode == 0, run.stderr
    refused, *lines = run.stdout.splitlines()
    assert refused == "writer: expected the module wandb with a current run, got none: call wandb.init() first"
    first, second = map(json.loads, lines)
    names = ["accuracy", "recall/cat", "recall/dog", "recall/owl", "fbeta(beta=2):macro"]
    assert {f"val/{name}" for name in names} | {"train/loss"} <= set(first)
    for name, value in {"accuracy": 29 / 40, "recall/cat": 0.8, "recall/dog": 0.6, "recall/owl": 0.75}.items():
        assert first[f"val/{name}"] == pytest.approx(value, rel=1e-15)
        assert np.isnan(second[f"val/{name}"])
    assert [(line["_step"], line["train/loss"]) for line in (first, second)] == [(0, 0.5), (1, 0.5)]
    assert second["val/confusion_matrix._type"] == "image-file"
    (file,) = tmp_path.glob(f"wandb/offline-run-*/files/{second['val/confusion_matrix.path']}")
    from matrics import plot

    figure = plot.confusion_matrix(CM, class_names=["cat", "dog", "owl"]).figure_
    drawn = io.BytesIO()
    figure.savefig(drawn, format="png", dpi=figure.dpi)
    np.testing.assert_array_equal(np.asarray(image.open(file)), np.asarray(image.open(drawn))[..., :3])
