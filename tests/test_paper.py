"""Tables and pictures for papers: LaTeX, widths in inches, and fonts that publishers accept."""

from __future__ import annotations

import re
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import matrics

RANDOM = np.random.default_rng(19)
STACK = np.asarray([[[45, 5], [5, 45]], [[50, 0], [10, 40]], [[30, 20], [20, 30]]])
NAMES = ["tree & net", "a_b^c~", "50 % {#1} \\x $"]
# How LaTeX writes these letters, by its own manual.
WRITTEN = {
    r"\textbackslash{}": "\\", r"\textasciitilde{}": "~", r"\textasciicircum{}": "^", r"\&": "&", r"\%": "%",
    r"\$": "$", r"\#": "#", r"\_": "_", r"\{": "{", r"\}": "}", "$-$": "-", "$<$": "<", "$>$": ">", "--": "–",
    r"$\infty$": "∞",
}  # fmt: skip


def unescaped(cell: str) -> str:
    """What LaTeX prints for a cell; raises for a letter with a meaning that is left over."""
    parts = re.split("|".join(re.escape(key) for key in sorted(WRITTEN, key=len, reverse=True)), cell)
    assert not re.search(r"[\\&%$#_{}^~<>]", "".join(parts)), cell
    return re.sub(
        "|".join(re.escape(key) for key in sorted(WRITTEN, key=len, reverse=True)), lambda hit: WRITTEN[hit[0]], cell
    )


def cells_of(text: str) -> list[list[str]]:
    """The cells of a table with the rules of booktabs, as they are printed."""
    lines = [line for line in text.splitlines() if not line.startswith("%")]
    columns = re.fullmatch(r"\\begin\{tabular\}\{([lr]+)\}", lines[0])
    assert columns is not None
    assert lines[1] == r"\toprule"
    assert lines[3] == r"\midrule"
    assert lines[-2:] == [r"\bottomrule", r"\end{tabular}"]
    rows = [line for line in lines[2:-2] if line != r"\midrule"]
    assert all(row.endswith(r" \\") for row in rows)
    found = [[unescaped(cell.strip()) for cell in re.split(r"(?<!\\)&", row[:-3])] for row in rows]
    assert {len(row) for row in found} == {len(columns[1])}
    return found


def test_a_stack_has_a_row_for_each_matrix() -> None:
    found = matrics.interval(STACK, "mcc, recall:class")
    text = matrics.to_latex(found, axes={"model": NAMES}, class_names=["cat", "dog"])
    head, *rows = cells_of(text)
    assert head == ["model", "mcc", "recall of cat", "recall of dog"]
    assert [row[0] for row in rows] == NAMES
    for k, row in enumerate(rows):
        mcc = found["mcc"]
        assert row[1] == f"{mcc.estimate[k]:.3f} [{mcc.low[k]:.3f}, {mcc.high[k]:.3f}]"
    assert rows[1][2].startswith("1.000 [0.")


def test_a_matrix_has_a_row_for_each_measure() -> None:
    text = matrics.to_latex(matrics.score([[3, 0], [0, 0]], "accuracy, mcc, recall:class, informedness"))
    assert cells_of(text) == [
        ["measure", "value"], ["accuracy", "1.000"], ["mcc", "–"], ["recall of class 0", "1.000"],
        ["recall of class 1", "–"], ["informedness of class 1", "–"],
    ]  # fmt: skip


def test_negative_infinite_and_nearly_whole_numbers() -> None:
    scores = {"mcc": np.asarray([-0.25, -np.inf, 0.9999, 0.0001])}
    assert [row[1] for row in cells_of(matrics.to_latex(scores))[1:]] == ["-0.250", "-∞", ">.999", "0.000100"]


def test_models_have_their_names() -> None:
    true = RANDOM.integers(0, 2, 60)
    predicted = {"net_1": true, "R&D": np.where(RANDOM.random(60) < 0.7, true, 1 - true)}
    found = matrics.compare_models(true, predicted, "accuracy", num_classes=2, num=100, rng=0)
    assert [row[0] for row in cells_of(matrics.to_latex(found))] == ["model", "net_1", "R&D"]
    ranked = matrics.ranking.compare(
        true, {name: one + RANDOM.random(60) for name, one in predicted.items()}, "roc_auc"
    )
    assert cells_of(matrics.to_latex(ranked))[0] == ["model", "roc_auc"]


def test_axes_of_any_library() -> None:
    pa = pytest.importorskip("pyarrow")
    scores = matrics.score(STACK, "mcc")
    for labels in (NAMES, np.asarray(NAMES), pa.array(NAMES), iter(NAMES)):
        assert [row[0] for row in cells_of(matrics.to_latex(scores, axes={"model": labels}))[1:]] == NAMES
    with pytest.raises(ValueError, match="axes: expected 3 labels"):
        matrics.to_latex(scores, axes={"model": NAMES[:2]})
    with pytest.raises(TypeError, match=r"scores: expected the dict that matrics.score or matrics.interval returns"):
        matrics.to_latex(STACK)  # type: ignore[call-overload, arg-type, unused-ignore]


def test_a_row_that_begins_with_a_bracket_is_no_option_of_the_line_before() -> None:
    text = matrics.to_latex(matrics.score(STACK, "mcc"), axes={"model": ["[a]", "*b", "c\nd"]})
    assert "\n{}[a] & " in text
    assert "\n{}*b & " in text
    assert "\nc d & " in text


def test_tables_of_results() -> None:
    table = matrics.stats.diagnostic_table([[90, 10], [3, 20]], class_names=["neg", "p_1"], positive="p_1")
    head, *rows = cells_of(table.to_latex())
    assert head == ["measure", "n/N", "value [95 % limits]", "method"]
    assert [row[0] for row in rows] == list(table.names)
    assert rows[0][1] == "20/23"
    assert rows[0][2] == f"{table.estimate[0]:.3f} [{table.low[0]:.3f}, {table.high[0]:.3f}]"
    report = matrics.classification_report(["a", "b", "b&c", "a"], ["a", "b", "b&c", "b"])
    head, *rows = cells_of(report.to_latex())
    assert head == ["class", "precision", "recall", "f1", "support"]
    assert [row[0] for row in rows] == ["a", "b", "b&c", "accuracy", "macro avg", "weighted avg"]
    assert rows[3][1:3] == ["", ""]
    assert report.to_latex().count(r"\midrule") == 2


# Pictures -------------------------------------------------------------------------------------------------------------


def pictures() -> dict[str, Any]:
    pytest.importorskip("matplotlib")
    from matrics import plot

    true, score = RANDOM.integers(0, 2, 80), RANDOM.random(80)
    stack = RANDOM.integers(1, 30, (40, 3, 3))
    values = matrics.score(stack, "mcc, accuracy, cohen_kappa, balanced_accuracy, f1")
    folds = matrics.stats.compare_datasets(RANDOM.random((8, 3)), names=["a", "b", "c"])
    models = matrics.compare_models(true, [true, 1 - true], "mcc", num_classes=2, num=100, rng=0)
    run = {f"val/recall/{k}": [0.1, 0.5, 0.4] for k in ("cat", "dog")}
    return {
        "confusion_matrix": lambda **o: plot.confusion_matrix(stack[0], **o),
        "difference": lambda **o: plot.difference(stack[0], stack[1], **o),
        "curve": lambda **o: plot.curve(true, score, **o),
        "calibration": lambda **o: plot.calibration(true, score, **o),
        "decision_curve": lambda **o: plot.decision_curve(true, score, num=50, rng=0, **o),
        "models": lambda **o: plot.models(models, **o),
        "distribution": lambda **o: plot.distribution(values["mcc"], **o),
        "agreement": lambda **o: plot.agreement(matrics.study.agreement(stack, "mcc, accuracy, f1, cen"), **o),
        "spectrum": lambda **o: plot.spectrum(stack[0], **o),
        "discrimination_lines": lambda **o: plot.discrimination_lines("mcc, accuracy", 2, **o),
        "critical_difference": lambda **o: plot.critical_difference(folds, **o),
        "raters": lambda **o: plot.raters(RANDOM.integers(0, 3, (30, 3)), num_classes=3, **o),
        "training": lambda **o: plot.training({"val/mcc": [0.1, 0.5, 0.6]}, **o),
        "training_classes": lambda **o: plot.training_classes(run, **o),
    }


@pytest.mark.sampled(2)
@pytest.mark.parametrize("name", list(pictures()) if __import__("importlib").util.find_spec("matplotlib") else [])
def test_a_picture_is_as_wide_as_asked(name: str, tmp_path: Path) -> None:
    draw = pictures()[name]
    assert draw(width=3.25).figure_.get_figwidth() == pytest.approx(3.25)
    own = draw()
    again = own.plot(width=5)
    assert again.figure_.get_figwidth() == pytest.approx(5)
    with pytest.raises(TypeError, match="width: expected None with ax="):
        draw(width=3, ax=again.ax_)
    from PIL import Image

    with Image.open(draw(width=3.25).save(tmp_path / "a.png", dpi=100)) as image:
        assert image.width == 325


def test_a_width_that_is_none_is_refused() -> None:
    plot = pytest.importorskip("matrics.plot")
    pytest.importorskip("matplotlib")
    for width in (0, -1, "3", True, np.nan, 1000):
        with pytest.raises(ValueError, match=r"width: expected inches, from 0.5 to 100"):
            plot.confusion_matrix(STACK[0], width=width)


@pytest.mark.exhaustive
def test_fonts_are_embedded_as_true_type(tmp_path: Path) -> None:
    matplotlib = pytest.importorskip("matplotlib")
    from matrics import plot

    before = dict(matplotlib.rcParams)
    display = plot.confusion_matrix(STACK[0], class_names=["cat", "dog"], text="none", top=0)
    pdf, eps = (display.save(tmp_path / f"a.{kind}").read_bytes() for kind in ("pdf", "eps"))
    assert b"/Type3" not in pdf
    assert b"/FontFile2" in pdf  # the name of embedded TrueType fonts in PDF
    assert b"%%BeginFont" in eps or b"FontType 42" in eps
    assert b"FontType 3 " not in eps
    assert dict(matplotlib.rcParams) == before


def test_lines_below_a_narrow_picture_are_wrapped() -> None:
    plot = pytest.importorskip("matrics.plot")
    pytest.importorskip("matplotlib")
    cm = RANDOM.integers(1, 30, (4, 4))
    figure = plot.confusion_matrix(cm, class_names=[f"a long name {k}" for k in range(4)], width=2.5).figure_
    figure.draw_without_rendering()
    notes = [text for text in figure.axes[0].texts if "Most frequent" in text.get_text()]
    assert len(notes) == 1
    assert notes[0].get_window_extent().x1 < figure.bbox.x1
