"""The catalogue as a table in Markdown."""

import re

import pytest

import matrics

pytest.importorskip("typer")
pytest.importorskip("rich")
pytest.importorskip("pyarrow")


@pytest.mark.parametrize("group", [None, "core", "similarity", "on_host"])
def test_every_measure_is_a_row(command, group):
    code, out, err = command("metrics", *([group] if group else []), "--format", "markdown")
    assert (code, err) == (0, "")
    head, rule, *rows = [re.split(r"(?<!\\)\|", line) for line in out.splitlines()]
    assert [cell.strip() for cell in head] == [
        *("", "name", "aliases", "kind", "range", "formula", "summary", "source", "")
    ]
    assert {cell.strip() for cell in rule} == {"", "---"}
    assert [row[1] for row in rows] == [f" `{name}` " for name in matrics.list_metrics(group)]
    for row in rows:
        assert len(row) == len(head)
        metric = matrics.get_metric(row[1].strip(" `"))
        assert re.findall("`(.*?)`", row[2]) == list(metric.aliases)
        assert re.fullmatch(r" \$[^$]+\$ ", row[5])
        assert row[5].replace(r"\vert ", "|").strip(" $") == metric.formula
        assert re.sub(r"\\(.)", r"\1", row[7]).strip() == metric.source
