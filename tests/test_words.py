"""Words that make text hard to read do not become more; CONTRIBUTING.md has them under "Style"."""

from __future__ import annotations

import importlib.util
import json
from pathlib import Path
from types import ModuleType

import pytest

ROOT = Path(__file__).parents[1]


@pytest.fixture(scope="module")
def words() -> ModuleType:
    spec = importlib.util.spec_from_file_location("words", ROOT / "tools/words.py")
    assert spec is not None
    assert spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


def test_words_are_counted_in_text_and_in_names(words: ModuleType) -> None:
    assert dict(words.count("found, Found_there and profound; what is_there, what_is, ones and one-vs-rest")) == {
        "found": 2,
        "what is": 2,
        "ones": 1,
        "one": 1,
    }


@pytest.mark.exhaustive
def test_there_are_not_more_than_before(words: ModuleType) -> None:
    before = json.loads(words.FILE.read_text("utf-8"))
    more = {
        (part, word): (number, before[part][word])
        for part, numbers in words.totals().items()
        for word, number in numbers.items()
        if number > before[part][word]
    }
    assert not more, "python tools/words.py lists the files; write these sentences and names in other words"


def test_the_guide_names_the_words(words: ModuleType) -> None:
    guide = (ROOT / "CONTRIBUTING.md").read_text("utf-8").partition("## Style")[2].partition("\n## ")[0]
    assert all(f"`{word}`" in guide for word in words.WORDS)
