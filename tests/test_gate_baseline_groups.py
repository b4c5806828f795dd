"""Gates in which each group is compared with the same group of a baseline, and judged groups with a reference."""

from __future__ import annotations

import json
import math
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from commands import refused
from test_gate_groups import newcombe

import matrics

RANDOM = np.random.default_rng(5)
SITES = ["a", "b", "c"]
Z_OF_THREE = 2.3939797998185104  # of 1 - 0.05 / 6: two sides, three groups
LEVEL = 1 - 0.05 / 3
SITE = np.repeat(SITES, 400)
TRUE = np.tile([0, 1], 600)
NEW, OLD = (np.where(RANDOM.random(1200) < skill, TRUE, 1 - TRUE) for skill in (0.85, 0.82))
OPTIONS: dict[str, Any] = {"y_pred": NEW, "baseline": OLD, "groups": SITE}


@pytest.mark.parametrize("name", ["", "sample_weight", "clusters"])
def test_the_same_samples(name: str) -> None:
    """Each group has the limits of compare_paired() for its samples, adjusted for three groups."""
    values = {"sample_weight": RANDOM.exponential(1, 1200), "clusters": np.arange(1200) // 4}.get(name)
    options = {} if values is None else {name: values}
    result = matrics.gate(TRUE, ["mcc", "accuracy >= 0.8"], margin=0.1, **OPTIONS, **options)
    assert [row.group for row in result.requirements] == [*SITES, *SITES]
    for row in result.requirements[:3]:
        here = row.group == SITE
        labels = (TRUE[here], NEW[here], OLD[here])
        count = matrics.stats.joint_confusion_matrix
        if name == "sample_weight":
            joint, squares = (count(*labels, num_classes=2, sample_weight=w) for w in (values[here], values[here] ** 2))
            limits = matrics.compare_paired(joint, "mcc", squared_weights=squares, level=LEVEL)["mcc"]
        elif name == "clusters":
            codes = np.unique(values[here], return_inverse=True)[1]
            joint = count(*labels, num_classes=2, groups=codes, num_groups=100)
            limits = matrics.compare_paired(joint, "mcc", cluster_axis=0, level=LEVEL)["mcc"]
        else:
            limits = matrics.compare_paired(count(*labels, num_classes=2), "mcc", level=LEVEL)["mcc"]
        assert (row.low, row.high) == (pytest.approx(float(limits.low)), pytest.approx(float(limits.high)))
        assert (row.title, row.adjusted_for) == ("mcc - baseline >= -0.1", 3)
        alone = matrics.gate(TRUE[here], "accuracy >= 0.8", y_pred=NEW[here], **({name: values[here]} if name else {}))
        bound = next(other for other in result.requirements[3:] if other.group == row.group)
        assert (bound.low, bound.adjusted_for) == (pytest.approx(alone.requirements[0].low), 1)
    assert "limits of differences are adjusted for 3 groups: 98.3333 % each" in str(result)
    assert "limits hold for each group alone" in str(result)
    alone = matrics.gate(TRUE, "mcc", margin=0.1, correction="none", **OPTIONS, **options)
    assert all((row.level, row.adjusted_for) == (0.95, 1) for row in alone.requirements)


HITS, OLD_HITS = [450, 430, 400], [440, 440, 440]


def stack_of(hits: list[int], of: int = 500) -> np.ndarray:
    """Matrices of groups with these numbers of correct predictions, half of either class."""
    return np.asarray([[[k // 2, (of - k) // 2], [(of - k) - (of - k) // 2, k - k // 2]] for k in hits])


def test_other_samples() -> None:
    """Each group has Newcombe's limits of a difference of proportions."""
    stack, baseline = stack_of(HITS), stack_of(OLD_HITS)
    result = matrics.gate(stack, "accuracy", baseline=baseline, groups=SITES, margin=0.05)
    for row, here, there in zip(result.requirements, HITS, OLD_HITS, strict=True):
        assert row.estimate == pytest.approx((here - there) / 500)
        assert (row.low, row.high) == pytest.approx(newcombe(here, there, 500, Z_OF_THREE), abs=1e-9)
    assert [row.verdict for row in result.requirements] == ["pass", "undecided", "undecided"]
    needed = result.requirements[1].needed
    assert needed is not None
    times = math.ceil(needed / 500 * 1.02)
    more = matrics.gate(stack * times, "accuracy", baseline=baseline * times, groups=SITES, margin=0.05)
    assert more.requirements[1].verdict == "pass"
    weighted = matrics.gate(
        2 * stack, "accuracy", baseline=2 * baseline, groups=SITES, margin=0.05,
        squared_weights=(4 * stack, 4 * baseline),
    )  # fmt: skip
    assert [row.low for row in weighted.requirements] == pytest.approx([row.low for row in result.requirements])
    assert all(row.is_weighted for row in weighted.requirements)


def judged_group(number: int, labels: int, skill: float, of_judge: float) -> matrics.judged.JudgedCounts:
    true = RANDOM.integers(0, 2, number)
    judge, pred = (np.where(RANDOM.random(number) < p, true, 1 - true) for p in (of_judge, skill))
    return matrics.judged.count(true, judge, pred, labelled=np.arange(number) < labels, num_classes=2)


def together(*parts: Any) -> Any:
    return type(parts[0])(*(None if tables[0] is None else np.stack(tables) for tables in zip(*parts, strict=True)))


def test_judged_groups_against_a_reference() -> None:
    """The distances of the limits of both groups from their estimates add up as squares."""
    counts = together(judged_group(20_000, 300, 0.8, 0.9), judged_group(15_000, 250, 0.78, 0.85))
    result = matrics.gate(counts, ["accuracy", "accuracy >= 0.6"], groups=["old", "new"], reference="old", margin=0.04)
    first, second, row = (result.requirements[k] for k in (1, 2, 0))
    low = row.estimate - math.hypot(second.estimate - second.low, first.high - first.estimate)
    high = row.estimate + math.hypot(second.high - second.estimate, first.estimate - first.low)
    assert row.estimate == pytest.approx(second.estimate - first.estimate)
    assert (row.low, row.high) == pytest.approx((low, high))
    assert (row.group, row.title, row.unit) == ("new", "accuracy - reference >= -0.04", "label")
    assert row.verdict == "undecided"
    assert row.needed is not None

    def with_labels(number: float) -> Any:
        """The same groups with this number of labels of each, in the same proportions."""
        parts = []
        for labelled, unlabelled in zip(counts.labelled, counts.unlabelled, strict=True):
            share = labelled * (number / labelled.sum())
            parts.append(counts._replace(labelled=share, unlabelled=unlabelled + (labelled - share).sum(axis=0)))
        return together(*parts)

    verdicts = [
        matrics.gate(with_labels(number), "accuracy", groups=["old", "new"], reference="old", margin=0.04).verdict
        for number in (row.needed * 1.1, row.needed * 0.4)
    ]
    assert verdicts == ["pass", "undecided"]


@pytest.mark.exhaustive
def test_limits_of_judged_differences_hold() -> None:
    """Of 400 data sets, 95 % limits hold in 95 %: at least 92 % and at most 98 %."""
    held = 0
    for _ in range(400):
        counts = together(judged_group(4000, 300, 0.75, 0.9), judged_group(3000, 250, 0.8, 0.85))
        (row,) = matrics.gate(counts, "accuracy", groups=["a", "b"], reference="a").requirements
        held += row.low <= 0.05 <= row.high
    assert 0.92 <= held / 400 <= 0.98


@pytest.mark.parametrize(
    ("given", "options", "message"),
    [
        (TRUE, {**OPTIONS, "reference": "a"}, "baseline: expected None with reference="),
        (stack_of(HITS), {"groups": SITES, "baseline": stack_of(HITS)[:2]}, "baseline: expected a matrix for each"),
        (stack_of(HITS), {"groups": SITES, "baseline": np.ones((3, 3, 3))}, "baseline: expected matrices of the same"),
        (
            stack_of(HITS),
            {"groups": SITES, "baseline": stack_of(HITS), "squared_weights": stack_of(HITS)},
            "squared_weights: expected a pair of matrices",
        ),
        (TRUE, {**OPTIONS, "groups": SITE[1:]}, "groups: expected the group of each of 1,200 samples, got 1,199"),
        (TRUE, {**OPTIONS, "clusters": SITE}, "clusters: expected at least two clusters in the group 'a', got 1"),
    ],
)  # fmt: skip
def test_errors(given: Any, options: dict[str, Any], message: str) -> None:
    with pytest.raises(ValueError, match=message):
        matrics.gate(given, "accuracy", **options)


# The command ----------------------------------------------------------------------------------------------------------


@pytest.fixture
def files(command: Any) -> Any:
    pytest.importorskip("typer")
    write("new.csv", NEW)
    write("old.csv", OLD)

    def run(*arguments: str, new: str = "new.csv", old: str = "old.csv") -> dict[str, Any]:
        code, out, err = command("gate", new, "--baseline", old, "--by", "site", *arguments, "--format", "json")
        assert code in {0, 1, 3}, err
        return dict(json.loads(out))

    return run


def write(name: str, pred: np.ndarray, rows: Any = slice(None), site: np.ndarray = SITE) -> None:
    columns = zip(np.arange(1200)[rows], site[rows], TRUE[rows], pred[rows], np.arange(1200)[rows] % 7 + 1, strict=True)
    lines = ["id,site,y_true,y_pred,w", *(",".join(map(str, row)) for row in columns)]
    Path(name).write_text("\n".join(lines) + "\n")


@pytest.mark.parametrize("weight", [(), ("--weight", "w")])
def test_two_files(files: Any, command: Any, weight: tuple[str, ...]) -> None:
    """Pairs of rows have the limits of the labels in Python, files of other samples those of their matrices."""
    weights = {"sample_weight": np.arange(1200) % 7 + 1} if weight else {}
    given = ("--metrics", "mcc", "--margin", "0.1", "--require", "accuracy >= 0.8", *weight)
    printed = files(*given, "--paired-on", "id")
    expected = matrics.gate(TRUE, ["accuracy >= 0.8", "mcc"], margin=0.1, **OPTIONS, **weights)
    assert [(row["group"], row["title"], row["verdict"], row["samples"]) for row in printed["rows"]] == [
        (row.group, row.title, row.verdict, pytest.approx(row.samples)) for row in expected.requirements
    ]
    limits = [number for row in printed["rows"] for number in (row["low"], row["high"])]
    assert limits == pytest.approx([number for row in expected.requirements for number in (row.low, row.high)])
    assert (printed["by"], printed["groups"], printed["paired"]) == (["site"], SITES, 1200)
    stacks = [
        [matrics.confusion_matrix(TRUE, pred, num_classes=2, groups=SITE, sample_weight=w) for pred in (NEW, OLD)]
        for w in ([None] if not weight else [weights["sample_weight"], weights["sample_weight"] ** 2])
    ]
    printed = files(*given)
    squares = {"squared_weights": tuple(stacks[1])} if weight else {}
    expected = matrics.gate(
        stacks[0][0], ["accuracy >= 0.8", "mcc"], baseline=stacks[0][1], groups=SITES, margin=0.1, **squares
    )
    assert [row["low"] for row in printed["rows"]] == pytest.approx([row.low for row in expected.requirements])
    options = ("--baseline", "old.csv", "--by", "site", *given)
    out = command("gate", "new.csv", *options)[1]
    assert "new.csv: 2 classes, " in out
    assert "in 3 groups (site)" in out.splitlines()[0]
    assert "limits of differences are adjusted for 3 groups: 98.3333 % each, 95 % together (Bonferroni)" in out


def test_rows_in_another_order_and_repeated_samples(files: Any) -> None:
    order = RANDOM.permutation(1200)
    given = ("--paired-on", "id", "--metrics", "mcc", "--margin", "0.1")
    expected = files(*given)["rows"]
    write("mixed.csv", OLD, order)
    assert files(*given, old="mixed.csv")["rows"] == expected
    for name in ("new.csv", "old.csv"):  # two answers to each question, some of which are in one site alone
        lines = Path(name).read_text().splitlines()
        Path(name).write_text(
            "\n".join([lines[0], *(f"{k // 2},{line.split(',', 1)[1]}" for k, line in enumerate(lines[1:]))])
        )
    printed = files(*given)
    questions = np.arange(1200) // 2
    clustered = matrics.gate(TRUE, "mcc", margin=0.1, **OPTIONS, clusters=questions)
    assert [row["low"] for row in printed["rows"]] == pytest.approx([row.low for row in clustered.requirements])
    assert (printed["unit"], printed["number_of_clusters"]) == ("cluster", 600)


def test_wrong_files(files: Any, command: Any) -> None:
    del files  # which has written the files
    by = ("--by", "site", "--metrics", "mcc")
    pairs = (*by, "--paired-on", "id")
    write("two.csv", OLD, slice(0, 800))
    for given in (by, pairs):
        message = refused(command, "gate", "new.csv", *given, "--baseline", "two.csv")
        assert message == (
            "--by: expected the same groups in new.csv and two.csv, got 'c' only in new.csv: leave out its rows, or "
            "add them to the other file"
        )
        assert "got 'c' only in new.csv" in refused(command, "gate", "two.csv", *given, "--baseline", "new.csv")
    write("moved.csv", OLD, site=np.where(np.arange(1200) == 5, "b", SITE))
    message = refused(command, "gate", "new.csv", *pairs, "--baseline", "moved.csv")
    assert message == ("--by: expected the same group of a sample in both files, got 'a' and 'b', the first at id 5")
    write("last.csv", NEW, np.r_[0:799, 801:1200])
    write("start.csv", OLD, slice(0, 801))
    message = refused(command, "gate", "last.csv", *pairs, "--baseline", "start.csv")
    assert message == "--paired-on: expected samples that are in both files in the group 'c', got none"
    message = refused(command, "gate", "new.csv", "--reference", "site=a", "--metrics", "mcc", "--baseline", "old.csv")
    assert (
        message == "--baseline: expected no such option with --reference, as each group is compared once, got 'old.csv'"
    )


def test_judge_and_reference(command: Any) -> None:
    """Judged groups of a file, as in Python."""
    pytest.importorskip("typer")
    rows = []
    for month, skill in (("1", 0.9), ("2", 0.8)):
        true = RANDOM.random(600) < skill
        rows += [f"{month},{int(t) if k < 150 else ''},{int(t != (k % 9 == 0))}" for k, t in enumerate(true)]
    Path("graded.csv").write_text("\n".join(["month,human,judge", *rows]) + "\n")
    options = ("--judge", "judge", "--reference", "month=1", "--metrics", "accuracy", "--require", "accuracy >= 0.5")
    code, out, err = command("gate", "graded.csv", *options, "--margin", "0.05", "--format", "json")
    assert code in {1, 3}, err
    printed = json.loads(out)
    first, second, row = printed["rows"]
    assert (printed["reference"], row["group"], row["unit"]) == ("1", "2", "label")
    assert row["low"] == pytest.approx(
        row["estimate"] - math.hypot(second["estimate"] - second["low"], first["high"] - first["estimate"])
    )
    message = refused(command, "gate", "graded.csv", *options[:2], *options[4:], "--baseline", "graded.csv")
    assert (
        "--baseline: expected no such option with --judge (matrics compare FILE OLD --judge compares both)" in message
    )
