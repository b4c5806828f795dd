"""Counts near the smallest floating numbers, of which half is no number: exact values, whatever else is in a stack."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
import reference

import matrics

SAMPLES = ([[10, 1], [1, 10]], [[5, 1, 2], [0, 4, 1], [2, 2, 9]], [[1, 1, 0], [0, 1, 0], [3, 0, 0]])
RECORDS = [matrics.get_metric(name) for name in matrics.list_metrics()]


def spec_of(record: Any) -> str:
    return record.name if record.kind == "overall" else f"{record.name}:class"


@pytest.mark.sampled(1)
@pytest.mark.parametrize("dtype", [np.float32, np.float64])
@pytest.mark.parametrize("steps", [1, 5])
def test_shares_are_those_of_samples(dtype: Any, steps: int) -> None:
    """No measure of shares depends on the unit; the reference is the same matrix of samples."""
    unit = np.finfo(dtype).smallest_subnormal * dtype(steps)
    specs = {spec_of(record): record.name for record in RECORDS if record.scale_free}
    for cm in SAMPLES:
        found = matrics.score(np.asarray(cm, dtype) * unit, list(specs))
        for spec, name in specs.items():
            expected = np.asarray(reference.evaluate(name, cm), float)  # of None NaN
            digits: Any = {"rtol": 2e-6, "atol": 1e-6} if dtype == np.float32 else {"rtol": 1e-12, "atol": 1e-15}
            np.testing.assert_allclose(found[spec], expected, **digits, err_msg=f"{spec} of {cm}")


def test_measures_of_numbers_of_samples() -> None:
    """Other measures depend on it: the reference is the tiny matrix itself."""
    cm = np.asarray(SAMPLES[0]) * 5e-324
    specs = {spec_of(record): record.name for record in RECORDS if not record.scale_free}
    found = matrics.score(cm, list(specs))
    for spec, name in specs.items():
        expected = np.asarray(reference.evaluate(name, cm.tolist()), float)
        np.testing.assert_allclose(found[spec], expected, rtol=1e-12, atol=1e-16, err_msg=spec)
    odd = np.asarray([[1, 1], [0, 1]]) * 5e-324  # of one error half is no number
    np.testing.assert_array_equal(matrics.metrics.koppen_i(odd, average="class"), [-np.inf, -np.inf])


@pytest.mark.parametrize("average", ["class", "macro", "micro", "weighted"])
def test_tiny_matrices_in_a_stack(average: str) -> None:
    """They have the values that they have alone, and change no other matrix, valid or not."""
    ordinary = np.asarray([[[4.5, 1, 2], [0, 4, 1], [2, 2, 9]], [[0, 0, 0], [0, 2.5, 0], [0, 1, 0]]])
    tiny = np.asarray(SAMPLES[1]) * 5e-324
    stack = np.stack([ordinary[0], tiny, np.zeros((3, 3)), ordinary[1], -ordinary[0]])
    values = matrics.score(stack, f"f1:{average}", invalid="nan")[f"f1:{average}"]
    np.testing.assert_array_equal(values[[0, 3]], matrics.score(ordinary, f"f1:{average}")[f"f1:{average}"])
    expected = np.asarray(reference.evaluate("f1", SAMPLES[1], average=average), float)
    np.testing.assert_allclose(values[1], expected, rtol=1e-12)
    assert np.isnan(values[[2, 4]]).all()


def test_a_tiny_class() -> None:
    """A class of subnormal counts next to one of samples has its digits too."""
    cm = np.asarray([[1, 0, 0], [0, 10 * 5e-324, 5e-324], [0, 5e-324, 10 * 5e-324]])
    np.testing.assert_allclose(matrics.f1(cm, average="class"), [1, 10 / 11, 10 / 11], rtol=1e-15)


def test_repair_adds_a_sample() -> None:
    """1/n is added to the counts as they are, so that nothing is left of them."""
    cm = np.asarray([[10, 1], [0, 0]]) * 5e-324
    assert matrics.eve(cm, empty="repair") == matrics.eve(np.full((2, 2), 0.5))
