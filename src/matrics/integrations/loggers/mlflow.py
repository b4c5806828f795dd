"""MLflow: the active run, a run, or a run of a client."""

from __future__ import annotations

import time
from typing import Any

from matrics.arrays import Array
from matrics.integrations.loggers.allowed import allowed_names
from matrics.quoting import quoted

# MLflow allows a colon as well, but not on Windows, and older versions nowhere.
REFUSED = r"[^\w./ -]"


class Mlflow:
    """A run and the client that writes to it."""

    def __init__(self, mlflow: Any, writer: Any, run_id: str | None) -> None:
        self.mlflow = mlflow
        if isinstance(writer, mlflow.MlflowClient):
            if run_id is None:
                raise TypeError("run_id: expected the run of the client, got None: pass run_id=run.info.run_id")
            self.client, self.run_id = writer, run_id
            return
        if run_id is not None:
            raise TypeError(f"run_id: expected None, as the writer is not a client of MLflow, got {quoted(run_id)}")
        run = (mlflow.active_run() or mlflow.start_run()) if writer is mlflow else writer
        self.client, self.run_id = mlflow.MlflowClient(), run.info.run_id

    def write(self, numbers: dict[str, float], step: int) -> None:
        """Add all numbers in one request."""
        now = int(time.time() * 1000)
        keys = allowed_names(_beside_each_other(numbers), REFUSED, "MLflow")
        names = zip(keys.values(), numbers.values(), strict=True)
        self.client.log_batch(self.run_id, [self.mlflow.entities.Metric(key, x, now, step) for key, x in names])

    def check_pictures(self) -> None:
        """It takes them."""

    def show(self, name: str, pixels: Array, step: int) -> None:
        """Add an image that MLflow shows step by step."""
        (key,) = allowed_names([name], r"[^A-Za-z0-9_./ -]", "MLflow").values()
        self.client.log_image(self.run_id, pixels, key=key, step=step)


def _beside_each_other(numbers: dict[str, float]) -> list[str]:
    """The names, where none is the folder of another: ``recall`` stands beside ``recall.cat``.

    MLflow's file store keeps ``recall`` in a file of this name, and ``recall/cat`` in a folder of this name; only one
    of the two can exist.

    >>> _beside_each_other({"val/recall": 0.9, "val/recall/cat": 0.8, "val/mcc": 0.7})
    ['val/recall', 'val/recall.cat', 'val/mcc']
    """
    found = []
    for name in numbers:
        parts = name.split("/")
        text = parts[0]
        for place in range(1, len(parts)):
            text += ("." if "/".join(parts[:place]) in numbers else "/") + parts[place]
        found.append(text)
    return found
