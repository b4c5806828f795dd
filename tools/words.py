"""Count words that make text hard to read, by file: ``python tools/words.py``.

The section "Style" of CONTRIBUTING.md says why each word needs a reason. ``tests/test_words.py`` fails where there are
more than ``tests/data/words.json`` has; ``python tools/words.py --write`` lowers these numbers after a revision.
"""

from __future__ import annotations

import json
import re
import sys
from collections import Counter
from pathlib import Path

ROOT = Path(__file__).parents[1]
#: Where the totals are.
FILE = ROOT / "tests/data/words.json"
#: Each word or phrase, and how it is matched. In names of the code words are joined by underscores.
WORDS = {
    word: re.compile(rf"(?<![A-Za-z]){word.replace(' ', '[ _]')}(?![A-Za-z])", re.IGNORECASE)
    for word in (
        *("found", "asked", "wanted", "manner", "told", "beside", "seen", "one", "ones"),
        *("what is", "those that", "of it"),
    )
}
#: The files of each part of the project.
PARTS = {"src": ("src/**/*.py",), "docs": ("docs/*.md", "docs/api/*.md", "README.md", "CONTRIBUTING.md")}
#: Pages that are written when the documentation is built.
WRITTEN = {"catalogue.md"}


def counts(part: str) -> dict[Path, Counter[str]]:
    """The words of each file of a part, without files that have none."""
    files = sorted({file for pattern in PARTS[part] for file in ROOT.glob(pattern) if file.name not in WRITTEN})
    every = {file: count(file.read_text("utf-8")) for file in files}
    return {file: words for file, words in every.items() if words}


def count(text: str) -> Counter[str]:
    """How often each word is in a text."""
    return Counter({word: number for word, pattern in WORDS.items() if (number := len(pattern.findall(text)))})


def totals() -> dict[str, dict[str, int]]:
    """The words of all files, by part."""
    return {part: {word: sum(one[word] for one in counts(part).values()) for word in WORDS} for part in PARTS}


def main() -> None:
    """Print the words of each file, the most first; with ``--write``, keep the totals."""
    if "--write" in sys.argv[1:]:
        FILE.write_text(json.dumps(totals(), indent=1) + "\n", "utf-8")
        return
    for part in PARTS:
        for file, words in sorted(counts(part).items(), key=lambda item: -item[1].total()):
            print(
                f"{words.total():6} {file.relative_to(ROOT)}: {', '.join(f'{n} {w}' for w, n in words.most_common())}"
            )


if __name__ == "__main__":
    main()
