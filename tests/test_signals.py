"""What the page on losses says: its table of gradients, which is measured, and its example."""

from __future__ import annotations

import importlib
import math
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import matrics

ROOT = Path(__file__).parents[1]


@pytest.fixture(scope="module")
def gradients() -> Any:
    with pytest.MonkeyPatch.context() as patch:
        patch.syspath_prepend(ROOT / "docs")
        return importlib.import_module("gradients")


VERDICTS = {
    "accuracy": "useful",
    "mcc": "useful",
    "cohen_kappa": "useful",
    "f1": "useful",
    "g_mean": "useful",
    "eve": "to refine",  # which likes classes swapped in pairs
    "mutual_information": "to refine",  # which does not know the names of classes
    "cen": "unreliable",
    "goodman_kruskal_lambda": "flat in places",
    "kl_divergence": "misleads",  # which compares the sizes of classes
    "prevalence": "no target",
    "imbalance_ratio": "no target",
    "pred_entropy": "no target",
}


@pytest.mark.exhaustive
def test_verdicts(gradients: Any) -> None:
    found = gradients.signals(list(VERDICTS))
    assert {name: signal.verdict for name, signal in found.items()} == VERDICTS
    assert {name for name, signal in found.items() if signal.verdict != "no target" and signal.stops} == {
        "g_mean",
        "eve",
    }
    assert found["accuracy"].slope == pytest.approx(1)  # all items, moved from wrong to right
    assert found["accuracy"].rare == pytest.approx(1)
    assert found["mcc"].helps == 1
    assert found["g_mean"].rare > 3 > found["mcc"].rare > 1
    assert found["prevalence"].idle == 1
    assert math.isnan(found["prevalence"].untrained)


def test_rare_is_the_quotient_of_sizes_for_recall(gradients: Any) -> None:
    random = np.random.default_rng(0)
    stack = gradients.soft_matrices(4, random)
    sizes = stack.sum(-1)
    found = gradients.rare_over_common(stack, gradients.slopes(["recall"], stack)["recall"])
    np.testing.assert_allclose(found, sizes.max(-1) / sizes.min(-1), rtol=1e-5)


def test_slopes_are_gradients(torch: Any, gradients: Any) -> None:
    """The table is measured with NumPy, by differences: PyTorch has the same, for every measure with a better end."""
    names = [name for name in matrics.list_metrics() if matrics.get_metric(name).higher_is_better is not None]
    n = 3
    stack = gradients.soft_matrices(n, np.random.default_rng(3))[:20]
    true, pred = np.nonzero(~np.eye(n, dtype=bool))
    for name, slope in gradients.slopes(names, stack).items():
        cm = torch.tensor(stack, requires_grad=True)
        (gradient,) = torch.autograd.grad(matrics.get_metric(name)(cm).sum(), cm)
        exact = (gradient[:, true, true] - gradient[:, true, pred]).numpy() * stack.sum((1, 2))[:, None]
        scale = np.abs(exact).max()
        np.testing.assert_allclose(slope / scale, exact / scale, rtol=0, atol=1e-5, err_msg=name)


@pytest.mark.sampled(2)
@pytest.mark.parametrize("n", [2, 3, 5])
def test_no_measure_jumps(n: int) -> None:
    """On the way from a random matrix to the perfect one, a step of a quarter of the length moves it less far."""
    random = np.random.default_rng(n)
    start = random.dirichlet(np.full(n, 3), (20, n)) * random.uniform(5, 100, (20, n, 1))
    end = start.sum(-1, keepdims=True) * np.eye(n)
    largest = []
    for steps in (500, 2000):
        way = np.linspace(0, 0.98, steps)[:, None, None, None]
        scores = matrics.score((1 - way) * start + way * end, matrics.list_metrics())
        largest.append({name: np.abs(np.diff(values, axis=0)).max(axis=0) for name, values in scores.items()})
    for name, far in largest[0].items():
        moves = far > 1e-9
        assert (largest[1][name][moves] < 0.75 * far[moves]).all(), name


@pytest.mark.exhaustive
@pytest.mark.filterwarnings("ignore:(Degrees of freedom|invalid value):RuntimeWarning")  # of the deviation of one seed
@pytest.mark.parametrize("seeds", [1, pytest.param(2, marks=pytest.mark.exhaustive)])
def test_the_example(
    torch: Any,  # noqa: ARG001 (which skips without it)
    seeds: int,
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
) -> None:
    """Soft MCC is a target: it leads from nothing to a network that is right."""
    pytest.importorskip("sklearn")
    monkeypatch.syspath_prepend(ROOT / "examples")
    example = importlib.import_module("soft_mcc")
    results = example.main(["--seeds", str(seeds), "--steps", str(30 * seeds)])
    assert list(results) == list(example.RECIPES)
    for found in results.values():
        assert (found["mcc"] > 0.6).all()
    screen = capsys.readouterr().out
    for name in example.RECIPES:
        assert f"\n{name} " in screen


@pytest.mark.exhaustive
@pytest.mark.parametrize("seeds", [2, 8])
def test_the_example_of_dice(
    torch: Any,  # noqa: ARG001 (which skips without it)
    seeds: int,
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
) -> None:
    """It wins at the threshold 0.5, and no longer where cross-entropy may choose one."""
    monkeypatch.syspath_prepend(ROOT / "examples")
    example = importlib.import_module("soft_dice")
    results = example.main(["--seeds", str(seeds), "--steps", "100"])
    assert list(results) == list(example.RECIPES)
    dice, rivals = results["soft Dice"], [results["cross-entropy"], results["weighted cross-entropy"]]
    for rival in rivals:
        gain = dice["at 0.5"] - rival["at 0.5"]
        assert gain.mean() > 0.05
        assert (gain > 0).sum() >= seeds - 1  # another processor trains other models: one of them may be unlucky
        assert abs(dice["tuned"].mean() - rival["tuned"].mean()) < 0.05
    assert (rivals[0]["threshold"] < 0.5).all()
    assert (rivals[1]["threshold"] > 0.5).all()
    screen = capsys.readouterr().out
    for name in example.RECIPES:
        assert f"\n{name} " in screen
