"""Drift of scores between groups: beside SciPy, and sums written out."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

from matrics.ranking import score_drift

RANDOM = np.random.default_rng(5)
MONTH = np.repeat(["2026-01", "2026-02", "2026-03"], [400, 250, 300])
SCORE = np.concatenate([RANDOM.normal(size=400), RANDOM.normal(0.4, 1, 250), RANDOM.normal(0, 1.5, 300)]).round(1)


def test_the_distance_is_scipys() -> None:
    stats = pytest.importorskip("scipy.stats")
    drift = score_drift(SCORE, groups=MONTH)
    assert drift.groups.tolist() == ["2026-01", "2026-02", "2026-03"]
    assert drift.number.tolist() == [400, 250, 300]
    for k, month in enumerate(drift.groups):
        expected = stats.ks_2samp(SCORE[MONTH == "2026-01"], SCORE[month == MONTH]).statistic
        assert drift.ks_distance[k] == pytest.approx(expected, abs=1e-12)


def test_the_index_is_the_sum_over_bins() -> None:
    """The bins are those of pandas, by the deciles of the reference."""
    pd = pytest.importorskip("pandas")
    scores = RANDOM.normal(size=800)  # without ties
    scores[400:] += 0.3
    group = np.repeat([0, 1], 400)
    drift = score_drift(scores, groups=group)
    _, edges = pd.qcut(scores[:400], 10, retbins=True)
    edges[0], edges[-1] = -np.inf, np.inf
    p, q = (np.histogram(part, edges)[0] / 400 for part in (scores[:400], scores[400:]))
    assert drift.psi[1] == pytest.approx(((p - q) * np.log(p / q)).sum(), rel=1e-12)
    assert drift.psi[0] == drift.psi_by_chance[0] == 0
    assert drift.psi_by_chance[1] == pytest.approx(9 * 2 / 400)


def test_the_index_by_chance_is_its_mean() -> None:
    """Of groups with the same distribution."""
    scores = RANDOM.normal(size=201 * 500)
    drift = score_drift(scores, groups=np.repeat(np.arange(201), 500))
    many = [score_drift(RANDOM.normal(size=1000), groups=np.repeat([0, 1], 500)).psi[1] for _ in range(300)]
    assert np.mean(many) == pytest.approx(drift.psi_by_chance[1], rel=0.1)


def test_bins_without_samples_count_as_half_a_sample() -> None:
    drift = score_drift([1.0, 2.0, 3.0, 4.0, 3.5, 4.0], groups=[0, 0, 0, 0, 1, 1], num_bins=2)
    p, q = np.asarray([0.5, 0.5]), np.asarray([0.25, 1.0])
    assert drift.psi[1] == pytest.approx(((p - q) * np.log(p / q)).sum(), rel=1e-12)


def test_another_reference_and_tables() -> None:
    drift = score_drift(SCORE, groups=MONTH, reference="2026-02")
    assert drift.reference == "2026-02"
    assert drift.ks_distance[1] == drift.psi[1] == 0
    assert drift.ks_distance[0] == score_drift(SCORE, groups=MONTH).ks_distance[1]
    assert drift.to_frame()["group"].tolist() == drift.groups.tolist()
    assert drift.to_dict()["reference"] == "2026-02"
    flat = score_drift(np.zeros(6), groups=[0, 0, 0, 1, 1, 1])
    assert flat.ks_distance.tolist() == flat.psi.tolist() == [0, 0]


@pytest.mark.parametrize(
    ("scores", "options", "message"),
    [
        ([0.1, 0.2], {}, "groups: expected the group of each sample"),
        ([0.1, 0.2], {"groups": ["a"]}, r"got shapes \(2,\) and \(1,\)"),
        ([0.1, np.nan], {"groups": ["a", "b"]}, "got NaN at 1"),
        ([0.1, 0.2], {"groups": ["a", None]}, "groups: expected a value for each sample"),
        ([0.1, 0.2], {"groups": ["a", "b"], "reference": "c"}, r"reference: expected a group \('a', 'b'\), got 'c'"),
        ([0.1, 0.2], {"groups": ["a", "b"], "num_bins": 0}, "num_bins"),
        ([], {"groups": []}, "at least one sample"),
    ],
)
def test_bad_input_raises(scores: Any, options: dict[str, Any], message: str) -> None:
    with pytest.raises(ValueError, match=message):
        score_drift(scores, **options)
