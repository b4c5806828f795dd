"""What the pages are made from: the table of all measures and its filters, and formulas as MathML."""

from __future__ import annotations

import importlib
import operator
import re
from collections.abc import Callable, Iterator
from html.parser import HTMLParser
from pathlib import Path
from types import ModuleType
from xml.etree import ElementTree as ET

import pytest

import matrics

pytest.importorskip("docutils")

DOCS = Path(__file__).parents[1] / "docs"
MEASURES = [matrics.get_metric(name) for name in [*matrics.list_metrics(), *matrics.list_metrics("on_host")]]


@pytest.fixture(scope="module")
def module() -> Iterator[Callable[[str], ModuleType]]:
    """Imports a module of ``docs``."""
    with pytest.MonkeyPatch.context() as patch:
        patch.syspath_prepend(DOCS)
        yield importlib.import_module


class Rows(HTMLParser):
    """The attributes of the rows of measures, and the names of all cells."""

    def __init__(self) -> None:
        super().__init__()
        self.rows: list[dict[str, str]] = []
        self.links: list[str] = []

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        found = {key: value or "" for key, value in attrs}
        if tag == "tr" and "data-search" in found:
            self.rows.append({key.removeprefix("data-"): value for key, value in found.items()})
        if tag == "a":
            self.links.append(found["href"])


@pytest.fixture(scope="module")
def table(module: Callable[[str], ModuleType]) -> tuple[ModuleType, Rows]:
    catalogue = module("catalogue_table")
    families: dict[str, list[object]] = {}
    for record in MEASURES:
        families.setdefault(record.family, []).append(record)
    rows = Rows()
    rows.feed(catalogue.page(families, {family: family for family in families}, {}))
    return catalogue, rows


def test_every_measure_has_one_row_that_links_to_its_formula(table: tuple[ModuleType, Rows]) -> None:
    links = table[1].links
    wanted = [f"catalogue/{one.family}.html#metric-{one.name.replace('_', '-')}" for one in MEASURES]
    assert sorted(links) == sorted(wanted)


def test_every_choice_of_a_filter_finds_some_measures_and_every_row_is_found(table: tuple[ModuleType, Rows]) -> None:
    catalogue, found = table
    for name, (_, choices) in catalogue.FILTERS.items():
        values = {word for row in found.rows for word in row[name].split()}
        if name == "gradient":  # signals() takes seconds, and was not asked
            assert values <= set(choices)
        elif name != "family":
            assert values == set(choices), name


@pytest.mark.parametrize(
    ("chosen", "some", "others"),
    [
        ({"symmetric": "yes"}, {"accuracy", "mcc"}, {"recall", "precision"}),
        ({"guesses": "all"}, {"mcc", "cohen_kappa", "informedness"}, {"accuracy", "recall"}),
        ({"sizes": "two"}, {"recall", "specificity"}, {"precision", "accuracy"}),
        ({"every": "needed"}, {"recall", "g_mean"}, {"accuracy", "balanced_accuracy"}),
        ({"samples": "count"}, {"chi_squared", "true_positives"}, {"mcc"}),
        ({"of": "whole", "better": "lower"}, {"hamming_loss", "cen"}, {"accuracy", "fnr"}),
    ],
)
def test_filters_tell_measures_apart(
    table: tuple[ModuleType, Rows], chosen: dict[str, str], some: set[str], others: set[str]
) -> None:
    names = {
        row["search"].split()[0]
        for row in table[1].rows
        if all(value in row[key].split() for key, value in chosen.items())
    }
    assert some <= names
    assert not others & names


@pytest.mark.parametrize(
    ("word", "name"), [("tpr", "recall"), ("bookmaker", "informedness"), ("dice", "f1"), ("overall acc", "accuracy")]
)
def test_the_search_finds_other_names(table: tuple[ModuleType, Rows], word: str, name: str) -> None:
    row = next(row for row in table[1].rows if row["search"].split()[0] == name)
    assert word in row["search"]


def test_the_script_knows_every_filter(table: tuple[ModuleType, Rows]) -> None:
    """It asks each row for the attribute that has the name of the filter."""
    for name in table[0].FILTERS:
        assert all(row[name] for row in table[1].rows), name


def text_of(mathml: str) -> str:
    return "".join(ET.fromstring(mathml).itertext()).replace("\n", "").replace(" ", "")  # noqa: S314 (ours)


def test_every_formula_becomes_mathml(module: Callable[[str], ModuleType]) -> None:
    mathml = module("mathml").mathml
    for record in MEASURES:
        text = text_of(mathml(record.formula, block=True))
        assert "\\" not in text, record.name
        # No sign gets lost: the numbers and the words in text mode of the formula are those of what is drawn.
        digits = re.sub(r"\\[a-z]+|0\.\d+em", "", record.formula)
        assert sorted(re.findall(r"\d", text)) == sorted(re.findall(r"\d", digits)), record.name


def test_names_of_functions_stand_apart_from_what_follows(module: Callable[[str], ModuleType]) -> None:
    mathml = module("mathml").mathml
    space = '<mspace width="0.1667em"></mspace>'
    assert mathml(r"p \ln p", block=False).count(space) == 2
    assert mathml(r"\ln(p)", block=False).count(space) == 0
    assert mathml(r"x \ln \left( p \right)", block=False).count(space) == 1


def test_every_public_name_has_a_place_in_the_reference() -> None:
    """A module has a page of its own; a measure has its place in the catalogue."""
    pages = "".join(page.read_text("utf-8") for folder in (DOCS, DOCS / "api") for page in folder.glob("*.md"))
    documented = re.findall(r"\.\. auto\w+:: matrics\.([\w.]+)\n", pages)
    assert len(documented) == len(set(documented))
    modules = [*matrics._MODULES, *matrics._ADAPTERS]
    names = {name for name in matrics.__all__ if name not in modules}
    names |= {f"{module}.{name}" for module in set(modules) - {"plot"} for name in getattr(matrics, module).__all__}
    names = {name for name in names if not isinstance(operator.attrgetter(name)(matrics), matrics.Metric)}
    assert len(names) > 180  # those of plot are listed by plot_reference.py
    assert not names - set(documented)
