"""A new kind of metric is one file with a recipe: the adapters make a metric of it for each library."""

from __future__ import annotations

import importlib
import inspect
from pathlib import Path
from typing import Any

import disagreements
import numpy as np
import pytest
from test_decay import Door

RANDOM = np.random.default_rng(5)


@pytest.fixture(params=["torch", "torchmetrics", "flax"])
def door(request: pytest.FixtureRequest, torch: Any) -> Door:  # noqa: ARG001 (skips without PyTorch)
    pytest.importorskip({"flax": "flax.nnx"}.get(request.param, request.param))
    return Door(request.param)


def make(door: Door, **options: Any) -> Any:
    """What ``metrics.py`` of each library has for a kind."""
    base = importlib.import_module(f"matrics._integrations.{door.name}.adapter").RunningMetric
    kind = type("DisagreementMetric", (base,), {"_kind": disagreements.DisagreementRecipe})
    return kind(**options)


def share(batches: list[Any], decay: float = 1.0) -> float:
    weights = [decay**age for age in range(len(batches))][::-1]
    parts = [(np.sum(a != b) * w, len(a) * w) for (a, b), w in zip(batches, weights, strict=True)]
    return sum(x for x, _ in parts) / sum(n for _, n in parts)


@pytest.mark.sampled(4)
@pytest.mark.parametrize("options", [{}, {"decay": 0.5}, {"window": 2}])
def test_it_has_all_that_metrics_have(door: Door, options: dict[str, Any]) -> None:
    batches = [tuple(RANDOM.integers(0, 3, (2, size))) for size in (20, 30, 9, 30)]
    metric = make(door, prefix="val/", **options)
    for batch in batches:
        door.update(metric, batch)
    last = batches[-2:] if "window" in options else batches
    wanted = share(last, options.get("decay", 1.0))
    assert metric.log_dict() == pytest.approx({"val/disagreement": wanted}, abs=1e-6)
    assert metric.clone(prefix="b/").log_dict() == pytest.approx({"b/disagreement": wanted}, abs=1e-6)
    other = make(door, **options)
    other.merge_state(metric)
    assert other.log_dict() == pytest.approx({"disagreement": wanted}, abs=1e-6)
    if door.name != "flax":
        other = make(door, **options)
        other.load_state_dict(metric.state_dict())
        assert other.log_dict() == pytest.approx({"disagreement": wanted}, abs=1e-6)
        values = metric(*door.arrays(batches[0]))
        assert {name: value.item() for name, value in values.items()} == pytest.approx(
            {"val/disagreement": share(batches[:1])}, abs=1e-6
        )
    metric.reset()
    door.update(metric, batches[1])
    assert metric.log_dict() == pytest.approx({"val/disagreement": share(batches[1:2])}, abs=1e-6)


def test_masks_weights_and_one_graph(torch: Any) -> None:
    door = Door("torch")
    metric, plain = make(door, dtype=torch.float64), make(door, ignore_index=2)
    first, second = (torch.from_numpy(x) for x in RANDOM.integers(0, 3, (2, 50)))
    weights, mask = torch.rand(50).double(), torch.arange(50) > 9
    metric.update(first, second, mask=mask, sample_weight=weights)
    wanted = weights[mask & (first != second)].sum() / weights[mask].sum()
    assert metric.log_dict()["disagreement"] == pytest.approx(wanted.item())
    step = torch.compile(plain.update, fullgraph=True, backend="aot_eager")
    step(first, second)
    kept = first != 2
    assert plain.log_dict()["disagreement"] == pytest.approx((first != second)[kept].double().mean().item())


def test_the_guide_shows_this_file() -> None:
    guide = (Path(__file__).parents[1] / "CONTRIBUTING.md").read_text("utf-8")
    block = guide.partition("## How to add a kind of running metric")[2].partition("```python\n")[2].partition("```")[0]
    recipe = inspect.getsource(disagreements.DisagreementRecipe)
    assert block.strip() == recipe.strip()
