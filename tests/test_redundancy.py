"""The few measures that tell what many tell, with a forward choice by hand with SciPy, and exact information."""

from __future__ import annotations

import math
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import matrics
from matrics._study.ranks import Ranking
from matrics._study.redundancy import _information
from matrics.study import Redundancy, redundancy

RANDOM = np.random.default_rng(6)
NAMES = [
    "f1",
    "error_rate",
    "accuracy",
    "mcc",
    "cen",
    "true_entropy",
    "pred_entropy",
    "lift",
    "kendall_tau",
    "population",
]
EXAMPLES = Path(__file__).parents[1] / "examples"


@pytest.fixture(scope="module")
def stack() -> np.ndarray:
    return RANDOM.poisson(2.0, (300, 3, 3)) + 2 * np.eye(3, dtype=int)


@pytest.fixture(scope="module")
def found(stack: np.ndarray) -> Redundancy:
    return redundancy(stack, NAMES, num_metrics=4)


def test_forward_choice_by_hand(stack: np.ndarray, found: Redundancy) -> None:
    """Of all measures the one with the largest mean, then the one that raises it most; core measures win ties."""
    stats = pytest.importorskip("scipy.stats")
    values = [np.round(x, 10) for x in matrics.score(stack, NAMES).values()]
    rho = np.asarray([[stats.spearmanr(f, g, nan_policy="omit").statistic for g in values] for f in values])
    signs = np.asarray([-1 if matrics.get_metric(name).higher_is_better is False else 1 for name in NAMES])
    rho *= np.outer(signs, signs)
    chosen: list[int] = []
    for k in range(4):
        means = [np.mean(np.max(rho[:, [*chosen, j]] ** 2, axis=1)) for j in range(len(NAMES))]
        best = [j for j in range(len(NAMES)) if means[j] > max(means) - 1e-9]
        chosen.append(min(best, key=lambda j: (NAMES[j] == "error_rate", j)))
        np.testing.assert_allclose(found.explained[k], max(means), rtol=1e-9)
    assert found.chosen == tuple(NAMES[j] for j in chosen)
    assert set(found.represented_by) == set(NAMES)
    assert not found.left_out
    for i, name in enumerate(NAMES):
        one = found.represented_by[name]
        np.testing.assert_allclose(abs(one.correlation), np.abs(rho[i, chosen]).max(), rtol=1e-9)
        np.testing.assert_allclose(one.correlation, rho[i, NAMES.index(one.measure)], rtol=1e-9)
    np.testing.assert_allclose(
        found.explained[-1], np.mean([one.correlation**2 for one in found.represented_by.values()]), rtol=1e-12
    )


def test_ties_go_to_the_core(stack: np.ndarray) -> None:
    """The error rate says what accuracy says; of two others the first is chosen."""
    assert redundancy(stack, ["error_rate", "accuracy"]).chosen == ("accuracy",)
    twins = ["error_rate", "zero_one_loss"]
    for names in (twins, twins[::-1]):
        found = redundancy(stack, names, num_metrics=2)
        assert found.chosen == (names[0],)  # the other adds nothing
        assert found.explained == (1.0,)
        assert found.represented_by[names[1]].correlation == 1
        assert found.represented_by[names[1]].information_share == pytest.approx(1, abs=1e-12)


def test_again_the_same(stack: np.ndarray, found: Redundancy) -> None:
    again = redundancy(stack.reshape(30, 10, 3, 3), NAMES, num_metrics=4, workers=2)
    assert (again.chosen, again.explained, again.represented_by) == (
        found.chosen,
        found.explained,
        found.represented_by,
    )


def test_more_explain_more(stack: np.ndarray) -> None:
    names = list(matrics.score(stack[:1], "overall"))
    few, many = (redundancy(stack, names, num_metrics=num) for num in (3, 12))
    assert many.chosen[:3] == few.chosen
    assert (np.diff(many.explained) > 0).all()
    assert all(0 < share <= 1 for share in many.explained)
    assert all(one.measure in many.chosen for one in many.represented_by.values())
    assert all(many.represented_by[name].correlation == 1 for name in many.chosen)


@pytest.mark.parametrize("bins", [1, 4, 10])
def test_information(bins: int) -> None:
    """Beside entropies by hand of ranks in quantile bins."""
    f = RANDOM.permutation(40)
    g = np.where(f < 20, f, RANDOM.permutation(40))
    stats = pytest.importorskip("scipy.stats")
    cut = [np.floor((stats.rankdata(x) - 0.5) / 40 * bins) for x in (f, g)]

    def entropy(*parts: Any) -> float:
        _, counts = np.unique(np.stack(parts), axis=1, return_counts=True)
        return stats.entropy(counts, base=2)

    wanted = entropy(cut[0]) + entropy(cut[1]) - entropy(*cut)
    bits, share = _information(Ranking.of(f.astype(float)), Ranking.of(g.astype(float)), bins)
    assert bits == pytest.approx(wanted, abs=1e-12)
    if bins > 1:
        assert share == pytest.approx(wanted / entropy(cut[0]), abs=1e-12)
    else:
        assert math.isnan(share)


def test_information_of_a_fold() -> None:
    """A relation that is not monotone: no correlation, and all of the information on the folded values."""
    values = np.arange(-500.0, 500) + 0.5
    straight, folded = Ranking.of(values), Ranking.of(np.abs(values))
    bits, share = _information(folded, straight, 10)
    assert bits == pytest.approx(math.log2(5), abs=1e-12)  # each of the 10 bins of one is in 2 of the other
    assert share == pytest.approx(math.log2(5) / math.log2(10), abs=1e-12)


def test_constant_and_undefined_measures() -> None:
    cm = RANDOM.poisson(3.0, (50, 3, 3))
    cm[:, 2] = 0
    cm = np.concatenate([cm, np.full((2, 3, 3), -1)])
    found = redundancy(cm, ["accuracy", "chi_squared_degrees_of_freedom", "g_mean", "mcc"], num_metrics=9)
    assert found.left_out == ("chi_squared_degrees_of_freedom", "g_mean")
    assert set(found.represented_by) == {"accuracy", "mcc"}
    assert found.explained[-1] == 1
    for empty in (cm[:0], cm[:1], cm[-2:]):
        nothing = redundancy(empty, ["accuracy", "mcc"])
        assert (nothing.chosen, nothing.explained, nothing.represented_by) == ((), (), {})
        assert nothing.left_out == ("accuracy", "mcc")


def test_measures_without_common_matrices() -> None:
    """Where a correlation is undefined it counts as 0."""
    cm = np.zeros((40, 2, 2), int)
    cm[:20, 0] = RANDOM.integers(1, 50, (20, 2))  # without samples of class 1
    cm[20:, 1] = RANDOM.integers(1, 50, (20, 2))
    found = redundancy(cm, ["specificity:binary", "recall:binary"])
    assert found.chosen == ("specificity:binary", "recall:binary")
    assert found.explained == (0.5, 1.0)


def test_bad_input(stack: np.ndarray) -> None:
    for name in ("num_metrics", "num_quantiles"):
        with pytest.raises(ValueError, match=f"{name}: expected an integer of at least 1, got 0"):
            redundancy(stack, "core", **{name: 0})
    with pytest.raises(ValueError, match="got measures with a value for each class: recall:class"):
        redundancy(stack, "recall:class, mcc")


def test_a_real_sweep() -> None:
    """Eight classifiers of digits in 25 folds: two measures tell nine tenths of what the core tells."""
    parquet = pytest.importorskip("pyarrow.parquet")
    table = parquet.read_table(EXAMPLES / "digits_sweep.parquet")
    columns = {name: table[name].to_numpy() for name in ("repeat", "fold", "y_true", "y_pred")}
    _, model = np.unique(table["model"].to_numpy(), return_inverse=True)
    place = (model * 5 + columns["repeat"]) * 5 + columns["fold"]
    cm = np.zeros((8 * 25, 10, 10), int)
    np.add.at(cm, (place, columns["y_true"], columns["y_pred"]), 1)
    assert cm.sum() == 71_880
    found = redundancy(cm, "core", num_metrics=2)
    assert found.explained[0] > 0.9
    assert found.chosen[0] in {"accuracy", "balanced_accuracy", "precision", "recall", "f1", "mcc", "cohen_kappa"}
