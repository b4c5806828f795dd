"""The participants of a diagnostic study, with and without results: beside pandas' table of both."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

import matrics

RANDOM = np.random.default_rng(2)
REFERENCE = RANDOM.choice(np.asarray(["ill", "healthy", None], object), 300, p=[0.1, 0.8, 0.1])
TEST = RANDOM.choice(np.asarray(["+", "-", "?", None], object), 300, p=[0.2, 0.6, 0.1, 0.1])


def test_beside_pandas() -> None:
    pd = pytest.importorskip("pandas")
    flow = matrics.stats.participant_flow(REFERENCE.tolist(), TEST.tolist())
    table = pd.crosstab(pd.Series(TEST).fillna(""), pd.Series(REFERENCE).fillna(""))
    assert flow.participants == 300
    assert list(flow.by_result) == ["+", "-", "?"]
    for result, of in {"": flow.without_test, **flow.by_result}.items():
        assert of == {label: number for label, number in table.loc[result].items() if number}
    known = (REFERENCE != None) & (TEST != None)  # noqa: E711 (of each element)
    assert flow.counted == known.sum()
    assert flow.without_reference == (REFERENCE == None).sum()  # noqa: E711


def test_it_counts_what_the_table_counts() -> None:
    known = np.asarray([a is not None and b in {"+", "-"} for a, b in zip(REFERENCE, TEST, strict=True)])
    table = matrics.stats.diagnostic_table(REFERENCE[known].tolist(), TEST[known].tolist(), positive="ill=+")
    flow = matrics.stats.participant_flow(REFERENCE.tolist(), TEST.tolist())
    (tp, fn), (fp, tn) = table.counts
    assert flow.by_result["+"]["ill"] == tp
    assert flow.by_result["-"]["ill"] == fn
    assert flow.by_result["+"]["healthy"] == fp
    assert flow.by_result["-"]["healthy"] == tn


@pytest.mark.parametrize("missing", [None, float("nan"), ""])
def test_what_counts_as_missing(missing: Any) -> None:
    flow = matrics.stats.participant_flow(["a", missing, "b"], ["a", "b", missing])
    assert flow.without_test == {"b": 1}
    assert flow.by_result == {"a": {"a": 1}, "b": {"": 1}}
    assert flow.to_dict()["participants"] == 3


def test_columns_of_pandas_have_gaps_of_their_own() -> None:
    pd = pytest.importorskip("pandas")
    frame = pd.DataFrame({"true": [1, 0, None, 1], "test": pd.array([1, 0, 1, None], "Int64")})
    flow = matrics.stats.participant_flow(frame["true"], frame["test"])
    assert flow.by_result == {"0": {"0": 1}, "1": {"": 1, "1": 1}}
    assert flow.without_test == {"1": 1}
    assert "counted, with both: 2" in str(flow)


@pytest.mark.parametrize(
    ("y_true", "y_pred", "message"),
    [
        (["a"], ["a", "b"], "the same number of labels, got 1 and 2"),
        ([["a"]], [["a"]], r"y_true: expected a label, or None, for each participant"),
    ],
)
def test_bad_input_raises(y_true: Any, y_pred: Any, message: str) -> None:
    with pytest.raises(ValueError, match=message):
        matrics.stats.participant_flow(y_true, y_pred)
