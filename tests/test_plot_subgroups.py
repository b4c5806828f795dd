"""Forest plots of diagnostic groups, and the flow of participants."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest

import matrics

pytest.importorskip("matplotlib")

from pictures import compare

from matrics import plot

RANDOM = np.random.default_rng(1)
Y = (RANDOM.random(400) < 0.1).astype(int)
SITES = np.array(["north", "south hospital", "east"])[RANDOM.integers(0, 3, 400)]
PRED = np.where(RANDOM.random(400) < 0.85, Y, 1 - Y)
GROUPS = matrics.stats.diagnostic_groups(Y, PRED, groups=SITES, positive=1)
REFERENCE = ["ill"] * 4 + ["healthy"] * 5 + [None] * 2
TEST = ["+", "+", "+", "-", "-", "-", "-", "-", None, "+", None]


def texts_of(display: plot.Display) -> list[str]:
    axes = display.ax_[0] if isinstance(display.ax_, np.ndarray) else display.ax_
    return [text.get_text() for text in axes.texts]


def test_each_row_has_its_counts_and_limits() -> None:
    display = plot.subgroups(GROUPS)
    texts = texts_of(display)
    for k, site in enumerate(("east", "north", "south hospital")):
        own = (site == SITES) & (Y == 1)
        hits, total = int((PRED[own] == 1).sum()), int(own.sum())
        assert texts[2 * k + 2] == f"{hits}/{total}"
        low, high = GROUPS.tables[k].low[0], GROUPS.tables[k].high[0]
        assert texts[2 * k + 3] == f"{hits / total:.3f} [{low:.3f}, {high:.3f}]"
    assert texts[:2] == ["n/N", "value [95 % limits]"]
    assert texts[-2] == f"{int(((PRED == 1) & (Y == 1)).sum())}/{Y.sum()}"
    axes = display.ax_[0]
    assert [label.get_text() for label in axes.get_yticklabels()] == ["east", "north", "south hospital", "overall"]
    assert axes.get_xlabel() == f"sensitivity; homogeneity: p = {GROUPS.p_value[0]:.3f}"
    assert "best" not in display.describe()
    assert f"overall {GROUPS.overall.estimate[1]:.3f} [" in display.describe()


def test_a_group_without_the_class_is_undefined() -> None:
    found = matrics.stats.diagnostic_groups([[[5, 1], [0, 0]], [[70, 5], [4, 16]]], groups=["a", "b"])
    display = plot.subgroups(found, "sensitivity")
    assert texts_of(display)[2:4] == ["0/0", "undefined"]
    assert "a undefined" in display.describe()


@pytest.mark.sampled(1)
@pytest.mark.parametrize("width", [None, 3.5])
def test_all_texts_are_in_the_picture(width: float | None) -> None:
    for display in (plot.subgroups(GROUPS, width=width), plot.participant_flow(FLOW, width=width)):
        display.figure_.draw_without_rendering()
        end = display.figure_.bbox.width
        for axes in np.ravel(display.ax_):
            for text in axes.texts:
                assert text.get_window_extent().x0 >= 0
                assert text.get_window_extent().x1 <= end


FLOW = matrics.stats.participant_flow(REFERENCE, TEST)


def test_the_boxes_have_all_participants() -> None:
    display = plot.participant_flow(FLOW)
    texts = [text for text in texts_of(display) if text]
    assert texts == [
        "participants\nn = 11",
        "without test result: 2\nhealthy: 1\nneither: 1",
        "test result +\nn = 4",
        "reference standard\nno reference standard: 1\nill: 3",
        "test result -\nn = 5",
        "reference standard\nno reference standard: 0\nhealthy: 4\nill: 1",
    ]
    assert display.describe().startswith("11 participants. without test result: 2 (healthy 1")


@pytest.mark.sampled(1)
@pytest.mark.parametrize(
    ("name", "display"),
    [("subgroups", lambda: plot.subgroups(GROUPS)), ("participant_flow", lambda: plot.participant_flow(FLOW))],
)
def test_it_looks_as_it_did(name: str, display: object, tmp_path: Path) -> None:
    compare(display(), name, tmp_path)  # type: ignore[operator]


def test_what_cannot_be_drawn() -> None:
    with pytest.raises(TypeError, match=r"result: expected the result of matrics\.stats\.diagnostic_groups, got 3"):
        plot.subgroups(3)  # type: ignore[arg-type]
    with pytest.raises(ValueError, match=r"measures: expected names out of sensitivity, .*, got 'x'"):
        plot.subgroups(GROUPS, "x")
    with pytest.raises(ValueError, match="measures: expected names, got none"):
        plot.subgroups(GROUPS, [])
    with pytest.raises(TypeError, match=r"result: expected the result of matrics\.stats\.participant_flow, got 3"):
        plot.participant_flow(3)  # type: ignore[arg-type]
    with pytest.raises(ValueError, match="result: expected at most 6 results of the test, got 7"):
        plot.participant_flow(matrics.stats.participant_flow(list("aaaaaaa"), list("abcdefg")))


def test_the_gallery(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.syspath_prepend(Path(__file__).parents[1] / "docs" / "gallery")
    page = __import__("plot_diagnostic_study")
    assert page.groups.overall.counts.sum() == 400
