"""The page "Which measure should I use?": every verdict that it cites is that of a certificate."""

from __future__ import annotations

import functools
import importlib
import re
from pathlib import Path

import pytest

import matrics
from matrics._catalogue.description import certified
from matrics._study.certificates.catalogue import STATEMENTS
from matrics.study import Certificate

DOCS = Path(__file__).parents[1] / "docs"
PAGE = (DOCS / "which_measure.md").read_text("utf-8")
HEAD = "| measure | has | of two classes | lacks |"


@functools.cache
def certificate(spec: str) -> Certificate:
    with pytest.MonkeyPatch.context() as patch:
        patch.syspath_prepend(DOCS)
        stored_certificate = importlib.import_module("certificate_tables").stored_certificate
    return stored_certificate(spec) if spec in certified() else matrics.study.certificate(spec, cases=500)


def cited() -> list[tuple[str, str, list[str]]]:
    """The measure, the column and the properties in it, of all tables."""
    found = []
    for table in PAGE.split(HEAD)[1:]:
        for line in table.split("\n\n")[0].strip().splitlines()[1:]:
            measure, *cells = (cell.strip() for cell in line.strip("|").split("|"))
            for column, cell in zip(("has", "of two classes", "lacks"), cells, strict=True):
                found.append((measure.strip("`"), column, re.findall(r"`(\w+)`", cell)))
    return found


def test_five_times_five() -> None:
    assert PAGE.count(HEAD) == 5
    assert len({(i, spec) for i, (spec, *_) in enumerate(cited())}) == 5 * 5 * 3
    for spec, _, names in cited():
        assert set(names) <= set(STATEMENTS), spec


@pytest.mark.sampled(2)
@pytest.mark.parametrize("spec", sorted({spec for spec, *_ in cited()}))
def test_what_is_cited_is_so(spec: str) -> None:
    found = certificate(spec)
    for measure, column, names in cited():
        for name in names if measure == spec else ():
            verdict = found[name]
            said = {
                "has": verdict.holds is True,
                "of two classes": verdict.holds is False and 2 in verdict.classes,
                "lacks": verdict.holds is False,
            }
            assert said[column], (column, str(verdict))


def test_measures_exist() -> None:
    for spec in re.findall(r"(?<!})`([a-z_0-9]+(?:\([^)]*\))?(?::\w+)?)`", PAGE):
        if spec not in STATEMENTS:
            assert matrics.get_metric(spec) is not None


@pytest.mark.parametrize("name", ["scott_pi", "krippendorff_alpha", "gwet_ac1", "bennett_s"])
def test_called_corrected_for_chance(name: str) -> None:
    assert certificate(name)["chance"].holds is False


@pytest.mark.parametrize("name", ["balanced_accuracy", "g_mean", "auc_of_labels:binary", "maurpc_ova", "eve"])
def test_free_of_class_sizes_is_not_symmetric(name: str) -> None:
    assert certificate(name)["transposition"].holds is False
    assert certificate("yule_q:binary")["transposition"].holds
    assert certificate("yule_q:binary")["class_sizes"].holds
