"""The memory of an evaluation by the Trainer of Hugging Face, with and without ``batch_eval_metrics``. Linux only.

    python benchmarks/trainer_memory.py [--quick] [--samples N] [--classes C] [--batch B]

Each way runs in a process of its own. Its memory is the peak of resident memory during ``Trainer.evaluate``, less what
was resident before it, after an evaluation of one batch had loaded what is loaded once. That has made the counts as
well, which stay: they are in a column of their own. The floor is the same without ``compute_metrics``: the Trainer then
keeps losses alone.
"""

from __future__ import annotations

import argparse
import json
import os
import subprocess
import sys
import tempfile
import time
from pathlib import Path
from typing import Any

STATUS, FORGET = Path("/proc/self/status"), Path("/proc/self/clear_refs")
MIB = 2**20
METRICS = "accuracy, mcc, f1, log_loss, top_k_accuracy(k=5)"
FEATURES = 16
# What the Trainer is told, and whether it computes anything.
WAYS: dict[str, tuple[dict[str, Any], bool]] = {
    "no compute_metrics (floor)": ({}, False),
    "batch_eval_metrics=True": ({"batch_eval_metrics": True}, True),
    "without": ({}, True),
    "without, eval_accumulation_steps=8": ({"eval_accumulation_steps": 8}, True),
}


def resident(field: str) -> int:
    """VmRSS or VmHWM of this process, in bytes."""
    (line,) = (line for line in STATUS.read_text().splitlines() if line.startswith(field))
    return int(line.split()[1]) * 1024


def measure(way: str, samples: int, classes: int, batch: int) -> dict[str, Any]:
    """Evaluate a linear model of random weights; the logits are made batch by batch."""
    import torch
    import transformers

    from matrics.transformers import compute_metrics

    class Linear(torch.nn.Module):
        def __init__(self) -> None:
            super().__init__()
            self.layer = torch.nn.Linear(FEATURES, classes)

        def forward(self, x: Any, labels: Any) -> dict[str, Any]:
            logits = self.layer(x)
            return {"loss": torch.nn.functional.cross_entropy(logits, labels), "logits": logits}

    class Samples(torch.utils.data.Dataset):
        def __init__(self, size: int) -> None:
            self.size = size

        def __len__(self) -> int:
            return self.size

        def __getitem__(self, place: int) -> dict[str, Any]:
            x = torch.randn(FEATURES, generator=torch.Generator().manual_seed(place))
            return {"x": x, "labels": torch.tensor(place % classes)}

    torch.manual_seed(0)
    torch.set_num_threads(1)
    options, computes = WAYS[way]
    with tempfile.TemporaryDirectory() as folder:
        arguments = transformers.TrainingArguments(
            folder, per_device_eval_batch_size=batch, use_cpu=True, report_to="none", disable_tqdm=True, **options
        )
        compute = compute_metrics(METRICS, num_classes=classes) if computes else None
        trainer = transformers.Trainer(Linear(), arguments, compute_metrics=compute)
        trainer.evaluate(Samples(batch))
        FORGET.write_text("5")  # the peak so far
        before, begin = resident("VmRSS"), time.perf_counter()
        values = trainer.evaluate(Samples(samples))
        seconds = time.perf_counter() - begin
    metrics = [] if compute is None else [compute.confusion, compute.scores]
    return {
        "peak": resident("VmHWM") - before,
        "counts": sum(buffer.nbytes for metric in metrics for buffer in metric.buffers()),
        "seconds": seconds,
        "values": {name: values[f"eval_{name}"] for name in ("log_loss", "top_k_accuracy(k=5)") if computes},
    }


def main() -> None:
    """One process for each way, and a table."""
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0])
    parser.add_argument("--quick", action="store_true", help="a tenth of the samples")
    parser.add_argument("--samples", type=int, default=50_000)
    parser.add_argument("--classes", type=int, default=1000)
    parser.add_argument("--batch", type=int, default=128)
    parser.add_argument("--way", choices=WAYS, help=argparse.SUPPRESS)
    options = parser.parse_args()
    if not STATUS.exists():
        sys.exit("no /proc/self/status here: VmHWM is Linux's")
    samples = options.samples // 10 if options.quick else options.samples
    if options.way is not None:
        print(json.dumps(measure(options.way, samples, options.classes, options.batch)))
        return
    sizes = [f"--samples={samples}", f"--classes={options.classes}", f"--batch={options.batch}"]
    logits = samples * options.classes * 4 / MIB
    print(f"{samples:,} samples, {options.classes:,} classes, batches of {options.batch}: {logits:.0f} MiB of logits")
    print("| Trainer | memory (MiB) | of the logits | counts (MiB) | seconds |\n|---|---|---|---|---|")
    found = {}
    for way in WAYS:
        command = [sys.executable, __file__, f"--way={way}", *sizes]
        environment = {**os.environ, "TRANSFORMERS_VERBOSITY": "error"}
        run = subprocess.run(command, check=True, stdout=subprocess.PIPE, text=True, env=environment)  # noqa: S603
        found[way] = json.loads(run.stdout.splitlines()[-1])
        peak, counts = found[way]["peak"] / MIB, found[way]["counts"] / MIB
        row = f"| {way} | {peak:.0f} | {peak / logits:.2f} | {counts:.0f} | {found[way]['seconds']:.0f} |"
        print(row, flush=True)
    values = [one["values"] for one in found.values() if one["values"]]
    same = all(abs(other[name] - values[0][name]) < 1e-12 for other in values for name in other)
    print(f"{'the same' if same else 'OTHER'} values: {values[0]}")


if __name__ == "__main__":
    main()
