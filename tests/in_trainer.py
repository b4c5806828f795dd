"""What each process of test_transformers.py does, which PyTorch starts: the values of an evaluation, as JSON."""

from __future__ import annotations

import json
import sys
from pathlib import Path

import torch
import transformers

from matrics.transformers import compute_metrics

SAMPLES = 23


class Known(torch.nn.Module):
    """A model whose logits are in its input."""

    def forward(self, x: torch.Tensor, labels: torch.Tensor) -> dict[str, torch.Tensor]:
        return {"loss": torch.nn.functional.cross_entropy(x, labels), "logits": x}


def samples() -> list[dict[str, torch.Tensor]]:
    """Logits of three classes, and labels."""
    logits = torch.randn(SAMPLES, 3, generator=torch.Generator().manual_seed(33))
    return [{"x": row, "labels": torch.tensor(place % 3)} for place, row in enumerate(logits)]


def main(folder: Path) -> None:
    torch.set_num_threads(1)
    found = []
    for by_batches in (False, True):
        args = transformers.TrainingArguments(
            str(folder / "run"),
            per_device_eval_batch_size=4,
            report_to="none",
            use_cpu=True,
            disable_tqdm=True,
            batch_eval_metrics=by_batches,
        )
        compute = compute_metrics("mcc, log_loss, true_positives:class")
        trainer = transformers.Trainer(Known(), args, eval_dataset=samples(), compute_metrics=compute)
        found.append(trainer.evaluate())
    (folder / f"{args.process_index}.json").write_text(json.dumps({"world": args.world_size, "found": found}))


if __name__ == "__main__":
    main(Path(sys.argv[1]))
