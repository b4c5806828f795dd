"""The page on coverage: its tables and sentences are those of coverage.json, and the default keeps what it promises."""

from __future__ import annotations

import importlib
import importlib.util
import math
import re
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from test_interval import truth

from matrics._uncertainty.status import SAMPLES_OF_A_CELL, SAMPLES_OF_A_CLASS

ROOT = Path(__file__).parents[1]
PAGE = (ROOT / "docs" / "uncertainty_coverage.md").read_text(encoding="utf-8")

# The law of clusters of which too few are bad for any method to see them; the page says so.
UNSEEN = "one in fifty bad"


@pytest.fixture(scope="module")
def tables() -> Any:
    with pytest.MonkeyPatch.context() as patch:
        patch.syspath_prepend(ROOT / "docs")
        return importlib.import_module("coverage_tables")


@pytest.fixture(scope="module")
def study() -> Any:
    """The script, under another name than that of the package that measures the coverage of tests."""
    spec = importlib.util.spec_from_file_location("coverage_study", ROOT / "benchmarks" / "coverage.py")
    assert spec is not None
    assert spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


def below(entry: dict[str, Any], share: float, promised: float) -> bool:
    """Whether a coverage is below what is promised by more than two standard errors."""
    return share < promised - 2 * math.sqrt(promised * (1 - promised) / entry["sets"])


def test_the_study_is_complete(tables: Any, study: Any) -> None:
    wanted = {(entry.section, entry.key) for entry in study.entries(2000)}
    found = {(part, key) for part in study.SECTIONS for key in tables.STUDY[part]}
    assert found == wanted
    for section in ("cells", "limits", "clusters", "unlike", "paired"):
        for key, entry in tables.STUDY[section].items():
            half = key.startswith("10|") and key.endswith(study.DRAWING)
            assert entry["sets"] == (1000 if half else 2000), key
    assert tuple(tables.STUDY["about"]["columns"]) == study.COLUMNS
    assert (ROOT / "docs" / "coverage.json").stat().st_size < 2**20


def test_the_script_is_about_what_the_tests_are(tables: Any, study: Any) -> None:
    for n in study.CLASSES:
        for kind in study.TRUTHS:
            np.testing.assert_array_equal(study.truth(n, kind), truth(n, kind))
    assert (tables.SAMPLES_OF_A_CLASS, tables.SAMPLES_OF_A_CELL) == (SAMPLES_OF_A_CLASS, SAMPLES_OF_A_CELL)
    again = study.simulate(3, "one to twenty", 200, "auto", 2000)
    stored = tables.STUDY["cells"]["3|one to twenty|200|auto"]
    for measure in study.SPECS:  # limits may differ in their last digits between machines
        np.testing.assert_allclose(*(np.asarray(one[measure], float) for one in (again, stored)), atol=0.002)


def test_the_default_keeps_its_promise(tables: Any) -> None:
    """At least 93 % (less two standard errors) wherever there are enough samples."""
    settings = {some: entries["auto"] for some, entries in tables.settings("cells").items() if tables.reliable(some)}
    assert len(settings) == 18
    short = {
        ("|".join((*setting, "auto")), measure)
        for setting, entry in settings.items()
        for measure in tables.MEASURES
        if below(entry, tables.value(entry, measure), tables.PROMISED)
    }
    assert not short


def test_status_0_of_clusters_keeps_its_promise(tables: Any, study: Any) -> None:
    """At least 93 % are covered or have another status; the stored numbers are those of today's limits."""
    settings = {some: entries["auto"] for some, entries in tables.settings("unlike").items()}
    short = {
        law
        for (law, *_), entry in settings.items()
        for measure in tables.UNLIKE_MEASURES
        if below(entry, tables.kept(entry, measure), tables.PROMISED)
    }
    assert short == {UNSEEN}
    again = study.simulate_unlike("one in twenty bad", 40, 0.0, 2000)
    stored = settings["one in twenty bad", "40", "0.0"]
    for measure in tables.UNLIKE_MEASURES:
        np.testing.assert_allclose(*(np.asarray(one[measure], float) for one in (again, stored)), atol=0.002)
    text = " ".join(PAGE.split())
    missed = 1 - tables.value(settings[UNSEEN, "100", "0.0"], "mcc")
    assert f"the limits miss the true value in {round(100 * missed)} % of the data sets" in text


def test_few_errors_fall_short(tables: Any) -> None:
    """From the fewest samples of status 0 on, it is near-perfect classifiers that fall short, and rarely others."""
    for (n, kind, samples), entries in tables.settings("limits").items():
        for measure in tables.MEASURES:
            if kind != "near perfect":
                share = tables.value(entries["auto"], measure)
                assert not below(entries["auto"], share, 0.92), (n, kind, samples, measure)


def test_the_page_has_every_table(tables: Any) -> None:
    marks = re.findall(r"<!-- table: (\w+) .*?-->", PAGE)
    found = tables.tables()
    assert sorted(marks) == sorted(found)
    for name, text in found.items():
        head, _, *rows = text.splitlines()
        assert rows, name
        assert {row.count("|") for row in rows} == {head.count("|")}, name


def test_the_sentences_of_the_page(tables: Any) -> None:
    """The numbers in its text."""
    text = " ".join(PAGE.split())
    percent = tables.percent
    assert f"mean coverage of MCC is then {percent(tables.average('auto', 'mcc', of_reliable=False))} %." in text
    lowest = {one: tables.lowest("cells", "auto", one, of_reliable=False)[0] for one in tables.MEASURES}
    assert min(lowest, key=lowest.get) == "eve"
    assert f"EVE of ten classes and 20 samples has {percent(lowest['eve'])} %." in text
    for entries in tables.settings("paired").values():
        for measure in tables.CLUSTER_MEASURES:
            assert tables.value(entries["apart"], measure) > 0.985
            wide, right = (tables.value(entries[method], measure, "width") for method in ("apart", "auto"))
            assert 1 < wide / right < 1.9
    least = min(
        tables.value(entries["auto"], measure)
        for (_, kind, _), entries in tables.settings("limits").items()
        if kind == "near perfect"
        for measure in ("f1:macro", "mcc", "cohen_kappa")
    )
    assert f"for F1, MCC and κ it is at least {percent(least)} %" in text
    rare = [entry["auto"] for (_, size, last, _), entry in tables.settings("rare").items() if size != last]
    least = min(tables.value(entry, measure) for entry in rare for measure in tables.RARE_MEASURES)
    exact = tables.STUDY["exact"].items()
    auto, delta = (
        [entry[measure][0] for key, entry in exact if key.endswith(method) for measure in tables.RARE_MEASURES[:3]]
        for method in ("auto", "delta")
    )
    assert min(least, *auto) == least
    assert f"Its coverage is at least {percent(least)} % in every such setting" in text
    assert f"the delta method alone is {percent(min(delta))} to {percent(max(delta))} %." in text
    worst = {
        method: min(tables.lowest("cells", method, measure)[0] for measure in tables.MEASURES)
        for method in ("auto", "delta", "posterior", "bootstrap", "bca")
    }
    assert {method for method in worst if worst[method] >= tables.PROMISED} == {"auto"}
