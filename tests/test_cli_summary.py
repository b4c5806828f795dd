"""The summary of many matrices: quantiles in bounded memory."""

import re
import warnings

import numpy as np
import pytest

import matrics
from matrics._wording import number

pytest.importorskip("typer")
pytest.importorskip("rich")
pytest.importorskip("pyarrow")

from matrics._cli.matrix_results import Sample

SHARES = (0, 0.05, 0.31, 0.5, 0.95, 1)


def sampled(scores, size=10**9):
    sample = Sample(scores.shape[1])
    for start in range(0, len(scores), size):
        sample.add(scores[start : start + size])
    return sample


@pytest.mark.parametrize("count", [1, 2, 7, 200])
def test_quantiles_are_those_of_numpy(count):
    scores = np.random.default_rng(5).normal(size=(count, 4))
    scores[::3, 1] = np.nan
    scores[:, 2] = np.nan
    with warnings.catch_warnings(action="ignore"):  # a column without any number
        expected = np.nanquantile(scores, SHARES, axis=0)
    for size in (1, 13, 1000):
        np.testing.assert_allclose(list(sampled(scores, size).quantiles(SHARES)), expected, rtol=1e-12)


def test_quantiles_of_infinite_scores():
    scores = np.array([[1.0, -np.inf, -np.inf, 2], [np.inf, np.inf, 0, 2], [2, np.inf, np.inf, 2], [np.inf] * 3 + [2]])
    low, median, quarter, high = sampled(scores).quantiles((0, 0.5, 0.25, 1))
    np.testing.assert_array_equal(low, [1, -np.inf, -np.inf, 2])
    np.testing.assert_array_equal(median, [np.inf, np.inf, np.inf, 2])
    np.testing.assert_array_equal(quarter, [1.75, np.nan, -np.inf, 2])  # NaN is between -∞ and ∞
    np.testing.assert_array_equal(high, [np.inf, np.inf, np.inf, 2])


def test_more_scores_than_are_kept(monkeypatch):
    monkeypatch.setattr("matrics._cli.matrix_results.MOST_KEPT", 2 * 5000)
    scores = np.sort(np.random.default_rng(6).random((50_000, 2)), axis=0)  # sorted: the first rows are no sample
    found = []
    for size in (7, 1000, 50_000):
        sample = sampled(scores, size)
        found.append(list(sample.quantiles(SHARES)))
        assert sample.kept == 5000
        assert sum(map(len, sample.blocks)) == 5000
    np.testing.assert_array_equal(found[0], found[1])
    np.testing.assert_array_equal(found[0], found[2])
    np.testing.assert_allclose(found[0], np.quantile(scores, SHARES, axis=0), atol=0.03)
    exact = sampled(scores[:5000])
    np.testing.assert_allclose(list(exact.quantiles(SHARES)), np.quantile(scores[:5000], SHARES, axis=0), rtol=1e-12)


def test_quantiles_on_screen(command, monkeypatch, tmp_path):
    stack = np.random.default_rng(7).integers(0, 9, (100, 2, 2))
    np.save(tmp_path / "s.npy", stack)
    _, out, _ = command("score", "s.npy", "--metrics", "accuracy,mcc")
    assert re.search(r"^measure +mean +std +5 % +median +95 % +min +at +max +at", out, re.MULTILINE)
    for name in ("accuracy", "mcc"):
        shown = re.search(rf"^{name} +\S+ +\S+ +(\S+) +(\S+) +(\S+) ", out, re.MULTILINE).groups()
        expected = np.nanquantile(matrics.score(stack, name)[name], [0.05, 0.5, 0.95])
        assert list(shown) == [number(value) for value in expected]
    assert "sample" not in out.partition("\n")[2]
    monkeypatch.setattr("matrics._cli.matrix_results.MOST_KEPT", 2 * 60)
    _, out, _ = command("score", "s.npy", "--metrics", "accuracy,mcc")
    assert "quantiles of a random sample of 60 matrices" in out
