"""
A service with two workers, and a gate
======================================

Two workers of a service predict which payments are fraud, and learn later which of them were. What is the recall of
the service, over all workers? A monitoring system collects it, and a pipeline releases the next model only if it is
good enough.
"""

# %%
# A worker
# --------
#
# Each worker counts its own predictions. A state has one number for each cell, however many predictions it has
# counted, and ``to_bytes`` writes it for any key-value store. Here the store is a table of SQLite, which comes with
# Python; with Redis or Valkey a client has ``set`` and ``get`` in its place.
#
# A worker has a key of its own, so no lock is needed. When it starts again, it goes on from the state that it has
# stored. ``from_bytes`` refuses a state of other classes, and of the same classes in another order.

import json
import subprocess
import sys
import tempfile
import threading
import urllib.request
from http.server import BaseHTTPRequestHandler, HTTPServer
from pathlib import Path

SERVICE = '''
import json
import sqlite3
import sys

import matrics

NAMES = ["ok", "fraud"]


class Store:
    """A key-value store that several processes share."""

    def __init__(self, path):
        self.database = sqlite3.connect(path, timeout=60)
        with self.database:
            self.database.execute(
                "CREATE TABLE IF NOT EXISTS states (key TEXT PRIMARY KEY, value BLOB)"
            )

    def set(self, key, value):
        with self.database:
            self.database.execute("REPLACE INTO states VALUES (?, ?)", (key, value))

    def items(self):
        return dict(self.database.execute("SELECT key, value FROM states"))


def read(data):
    return matrics.ConfusionState.from_bytes(data, class_names=NAMES)


def total(store):
    states = map(read, store.items().values())
    return sum(states, start=matrics.ConfusionState.zeros(2))


def work(store, worker, batches):
    data = store.items().get(worker)
    state = matrics.ConfusionState.zeros(2) if data is None else read(data)
    for y_true, y_pred in batches:
        state = state.update(y_true, y_pred)
        store.set(worker, state.to_bytes(class_names=NAMES))


if __name__ == "__main__":
    work(Store(sys.argv[1]), sys.argv[2], map(json.loads, sys.stdin))
'''
folder = Path(tempfile.mkdtemp())
(folder / "service.py").write_text(SERVICE)
sys.path.insert(0, str(folder))

import numpy as np
import service

import matrics
import matrics.plot

# %%
# Two of them
# -----------
#
# Both run at the same time, as processes. Each reads batches of 1,000 payments from its standard input: of 3 % that are
# fraud, the model finds four fifths, and it takes 1 % of the others for fraud.

random = np.random.default_rng(0)


def batches(number):
    for _ in range(number):
        y_true = random.random(1000) < 0.03
        y_pred = random.random(1000) < np.where(y_true, 0.8, 0.01)
        yield [y_true.astype(int).tolist(), y_pred.astype(int).tolist()]


def start(worker):
    command = [sys.executable, "service.py", "states.db", worker]
    return subprocess.Popen(command, cwd=folder, stdin=subprocess.PIPE, text=True)


store = service.Store(folder / "states.db")
workers = [start(name) for name in ("a", "b")]
for worker, number in zip(workers, (6, 4), strict=True):
    worker.stdin.write("\n".join(map(json.dumps, batches(number))))
    worker.stdin.close()
print([worker.wait() for worker in workers])

# %%
# One sum over all keys is the state of the service. Sums of states are exact, in any order.

state = service.total(store)
print(state.matrix)
found = state.score("recall[1],precision[1]")
print({name: round(float(value), 3) for name, value in found.items()})

# %%
# After a restart
# ---------------
#
# A new process with the name of the first worker adds to what that has counted.

again = start("a")
again.communicate("\n".join(map(json.dumps, batches(2))))
print(int(state.matrix.sum()), "and then", int(service.total(store).matrix.sum()))

# %%
# A state of other classes is refused, before it spoils the sum:

try:
    matrics.ConfusionState.from_bytes(store.items()["a"], class_names=["fraud", "ok"])
except ValueError as error:
    print(error)

# %%
# A counter for the monitoring system
# -----------------------------------
#
# Systems such as Prometheus collect counters that only grow, and compute rates of any period from them. The cells of
# the matrix are such counters, here in Prometheus's text format:


def counters(state):
    yield "# TYPE predictions_total counter"
    for true, row in zip(service.NAMES, state.matrix, strict=True):
        for pred, count in zip(service.NAMES, row, strict=True):
            yield f'predictions_total{{true="{true}",pred="{pred}"}} {count}'


class Metrics(BaseHTTPRequestHandler):
    def do_GET(self):
        state = service.total(service.Store(folder / "states.db"))
        self.send_response(200)
        self.send_header("Content-Type", "text/plain; version=0.0.4")
        self.end_headers()
        self.wfile.write("\n".join([*counters(state), ""]).encode())

    def log_message(self, *_):
        pass


server = HTTPServer(("127.0.0.1", 0), Metrics)
threading.Thread(target=server.serve_forever, daemon=True).start()
with urllib.request.urlopen(f"http://127.0.0.1:{server.server_port}/metrics") as page:
    print(page.read().decode())
server.shutdown()

# %%
# The recall of the last hour is then a query of the monitoring system:
#
# .. code-block:: text
#
#    sum(increase(predictions_total{true="fraud",pred="fraud"}[1h]))
#      / sum(increase(predictions_total{true="fraud"}[1h]))
#
# It has no limits. With few frauds in an hour, that is a number without meaning; the library has them:

state = service.total(store)
recall = matrics.interval(state.matrix, "recall[1]")["recall[1]"]
print(f"recall {recall.estimate:.3f}, between {recall.low:.3f} and {recall.high:.3f}")
matrics.plot.confusion_matrix(state.matrix, class_names=service.NAMES)

# %%
# A gate in the pipeline
# ----------------------
#
# The next model is released if its recall is at least 0.7. The command reads a table of the counts, and answers by its
# exit code: 0 pass, 1 fail, and 3 undecided, if the limits contain the bound. A pipeline stops at any code but 0.

rows = zip(service.NAMES, state.matrix, strict=True)
table = [",ok,fraud", *(f"{name},{ok},{fraud}" for name, (ok, fraud) in rows)]
(folder / "counts.csv").write_text("\n".join(table) + "\n")
for bound in ("0.7", "0.85", "0.75"):
    command = [sys.executable, "-m", "matrics", "gate", "counts.csv"]
    command += ["--require", f"recall[fraud] >= {bound}"]
    run = subprocess.run(
        command, cwd=folder, capture_output=True, text=True, check=False
    )
    print(run.stdout.splitlines()[-1], "- exit code", run.returncode)

# %%
# In a workflow of GitHub Actions that is one step:
#
# .. code-block:: yaml
#
#    - run: matrics gate counts.csv --require "recall[fraud] >= 0.7" --github
#
# :doc:`/gate` has requirements against the model in use, and JUnit files; :doc:`/state` has states of scores, with
# which a service follows its ranking and its calibration.
