"""``matrics threshold --metric cost``: costs as numbers and as columns, against trying all thresholds."""

from __future__ import annotations

import json
import math
from typing import Any

import numpy as np
import pytest

pd = pytest.importorskip("pandas")
pytest.importorskip("typer")
pytest.importorskip("pyarrow")

COSTS = ("--metric", "cost", "--cost-false-negative", "amount", "--cost-false-positive", "5")


@pytest.fixture
def payments(tmp_path: Any) -> Any:
    """A table of payments, and its file."""
    random = np.random.default_rng(1)
    frauds = random.random(600) < 0.1
    table = pd.DataFrame(
        {
            "y_true": np.where(frauds, "fraud", "ok"),
            "score": (1.2 * frauds + random.normal(size=600)).round(2),
            "amount": random.lognormal(3, 1, 600).round(2),
            "month": np.where(np.arange(600) % 2, "2026-01", "2026-02"),
            "review": np.where(np.arange(600) % 3, 4.0, 7.5),
        }
    )
    table.to_csv(tmp_path / "payments.csv", index=False)
    return table


def lowest(table: Any, alarm: Any) -> tuple[float, float]:
    """The lowest cost of all thresholds, and the highest threshold that has it."""
    frauds = (table.y_true == "fraud").to_numpy()
    costs = []
    for threshold in [*np.unique(table.score), math.inf]:
        flagged = (table.score >= threshold).to_numpy()
        missed = table.amount[frauds & ~flagged].sum()
        costs.append((missed + np.broadcast_to(alarm, len(table))[~frauds & flagged].sum(), -threshold))
    cost, threshold = min(costs)
    return cost, -threshold


def rows(command: Any, *arguments: str) -> tuple[dict[str, Any], list[dict[str, Any]]]:
    code, out, err = command(
        "threshold", "payments.csv", "--scores", "score", "--positive", "fraud", *arguments, "--format", "json"
    )
    assert (code, err) == (0, "")
    document = json.loads(out)
    return document, document["rows"]


def test_costs_of_a_file_and_of_its_months(command: Any, payments: Any) -> None:
    document, (row,) = rows(command, *COSTS, "--num", "20")
    assert (row["value"], row["threshold"]) == pytest.approx(lowest(payments, 5))
    assert row["expected/low"] < row["value"] < row["expected/high"]
    assert (document["metric"], document["direction"]) == ("cost", "lowest")
    assert (document["cost_false_negative"], document["cost_false_positive"]) == ("amount", 5)
    _, of_months = rows(command, *COSTS[:-1], "review", "--by", "month", "--num", "0")
    assert [row["month"] for row in of_months] == ["2026-01", "2026-02"]
    for row in of_months:
        part = payments[payments.month == row["month"]]
        assert (row["value"], row["threshold"]) == pytest.approx(lowest(part, part.review))


def test_models_as_columns_have_the_same_costs(command: Any, payments: Any) -> None:
    payments.assign(other=-payments.score).to_csv("payments.csv", index=False)
    values = {row["model"]: row["value"] for row in rows(command, *COSTS, "--scores", "other", "--num", "0")[1]}
    reversed_scores = payments.assign(score=-payments.score)
    assert values == pytest.approx({"score": lowest(payments, 5)[0], "other": lowest(reversed_scores, 5)[0]})


def test_rows_without_an_amount(command: Any, payments: Any) -> None:
    payments.loc[3, "amount"] = math.nan
    payments.to_csv("payments.csv", index=False)
    asked = ("threshold", "payments.csv", "--scores", "score", "--positive", "fraud", *COSTS, "--num", "0")
    code, _, err = command(*asked)
    assert (code, "column 'amount'" in err, "--missing drop" in err) == (2, True, True)
    code, out, _ = command(*asked, "--missing", "drop", "--format", "json")
    assert (code, json.loads(out)["samples"]) == (0, 599)


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (COSTS[:4], "--cost-false-positive: expected a number, or a column of numbers, with --metric cost, got none"),
        (("--metric", "f1", *COSTS[2:]), "--cost-false-negative: expected --metric cost with it, got 'amount'"),
        (("--metric", "cost"), "--cost-false-negative: expected a number, or a column of numbers"),
        ((*COSTS[:-1], " -5"), "--cost-false-positive: expected finite numbers that are not negative, got -5"),
        ((*COSTS[:-1], "nothing"), "got no 'nothing'; the columns are"),
        ((*COSTS, "--prevalence", "0.1"), "--prevalence: expected no such option with --metric cost"),
    ],
)
@pytest.mark.usefixtures("payments")
def test_what_costs_need(command: Any, arguments: tuple[str, ...], message: str) -> None:
    code, _, err = command("threshold", "payments.csv", "--scores", "score", "--positive", "fraud", *arguments)
    assert code == 2
    assert message in err
