"""Tables of diagnostic tests as documents of Word, read back by python-docx."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest

import matrics

docx = pytest.importorskip("docx", reason="python-docx is not installed")

CM = [[640, 202], [74, 670]]
RANDOM = np.random.default_rng(5)
Y = RANDOM.integers(0, 2, 120)
A, B = (np.where(RANDOM.random(120) < 0.8, Y, 1 - Y) for _ in range(2))


def cells_of(path: Path) -> list[list[str]]:
    (table,) = docx.Document(str(path)).tables
    return [[cell.text for cell in row.cells] for row in table.rows]


def test_the_table_of_a_test(tmp_path: Path) -> None:
    """Estimate, limits and n/N as in print; Wilson's limits as statsmodels has them."""
    found = matrics.stats.diagnostic_table(CM, class_names=["healthy", "ill"])
    path = found.to_docx(tmp_path / "t.docx")
    head, *rows = cells_of(path)
    assert head == ["measure", "n/N", "value (95 % limits)", "method"]
    assert rows[0] == ["sensitivity", "670/744", "0.901 (0.877 to 0.920)", "Wilson"]
    assert [row[0] for row in rows] == list(found.names)
    paragraphs = [paragraph.text for paragraph in docx.Document(str(path)).paragraphs]
    assert paragraphs == [found.title()]
    proportion = pytest.importorskip("statsmodels.stats.proportion")
    low, high = proportion.proportion_confint(670, 744, method="wilson")
    assert f"({low:.3f} to {high:.3f})" in rows[0][2]


def test_rules_are_above_and_below_as_in_a_journal(tmp_path: Path) -> None:
    path = matrics.stats.diagnostic_table(CM).to_docx(tmp_path / "t.docx")
    (table,) = docx.Document(str(path)).tables
    edges = [row.cells[0]._tc.xpath(".//w:tcBorders/*") for row in table.rows]
    names = [[edge.tag.rpartition("}")[2] for edge in of_row] for of_row in edges]
    assert names == [["top"], ["top"], *[[]] * 8, ["bottom"]]


def test_a_status_is_a_remark(tmp_path: Path) -> None:
    path = matrics.stats.diagnostic_table([[5, 0], [0, 0]]).to_docx(str(tmp_path / "t.DOCX"))
    assert any("0/0" in paragraph.text for paragraph in docx.Document(str(path)).paragraphs)


def test_groups_and_pairs(tmp_path: Path) -> None:
    groups = matrics.stats.diagnostic_groups(Y, A, groups=np.arange(120) % 2, positive=1)
    head, *rows = cells_of(groups.to_docx(tmp_path / "g.docx"))
    assert head == ["measure", "group", "n/N", "value (95 % limits)", "p"]
    assert [row[1] for row in rows[:3]] == ["0", "1", "overall"]
    assert len(rows) == 3 * len(groups.overall.names)
    pair = matrics.stats.diagnostic_comparison(Y, A, B, positive=1)
    head, *rows = cells_of(pair.to_docx(tmp_path / "p.docx"))
    assert head[-2:] == ["difference (95 % limits)", "p"]
    hits = ((Y == 1) & (A == 1)).sum()
    assert rows[0][:2] == ["sensitivity", f"{hits}/{Y.sum()}"]
    assert f"{pair.difference[0]:.3f} ({pair.low[0]:.3f} to {pair.high[0]:.3f})" == rows[0][-2]


def test_a_file_that_is_none() -> None:
    with pytest.raises(ValueError, match=r"path: expected the name of a file that ends with \.docx, got 't\.doc'"):
        matrics.stats.diagnostic_table(CM).to_docx("t.doc")


def test_the_command_writes_one(command, tmp_path: Path) -> None:
    (tmp_path / "t.csv").write_text("y_true,y_pred\n" + "\n".join(f"{a},{b}" for a, b in zip(Y, A, strict=True)))
    assert command("diagnostic", "t.csv", "--output", "t.docx")[0] == 0
    assert cells_of(tmp_path / "t.docx")[1:] == cells_of(matrics.stats.diagnostic_table(Y, A).to_docx("u.docx"))[1:]
    code, _, err = command("diagnostic", "t.csv", "--output", "t.docx", "--format", "json")
    assert code == 2
    assert "--format: expected none with --output 't.docx', got 'json'" in err
    assert command("diagnostic", "t.csv", "--output", "t.tex")[0] == 0
    assert r"\toprule" in (tmp_path / "t.tex").read_text()
