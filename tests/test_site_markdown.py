"""Pages as Markdown: of a small site that has what the pages have, built by Sphinx, and the list of them."""

from __future__ import annotations

import importlib
import subprocess
import sys
from pathlib import Path

import pytest

pytest.importorskip("sphinx")
pytest.importorskip("myst_parser")

DOCS = Path(__file__).parents[1] / "docs"

INDEX = """\
# Things

**Things of all kinds**, counted. See {doc}`more/page`.

```{toctree}
:hidden:
:caption: First

more/page
reference
```

```{toctree}
:hidden:
:caption: Second

plain
```
"""

PAGE = """\
(here)=
# A page

<!-- Hidden from readers:

>>> import pytest

-->

Its first sentence is this. Its second has a formula, $a|b$, a `literal`, *emphasis* and a [link](../plain.rst#below).
And {func}`matrics.stats.mcnemar`, and <https://example.org/page.html>.

$$
\\frac{a}{b}
$$

| name | value |
|---|---|
| `a\\|b` | one |
| two | **three** |

- An item
  of two lines

  ```python
  >>> 1 + 1
  2
  ```
- another

1. first
2. second

```{note}
Beware.
```

```{raw} html
<form><label>not for readers</label></form>
<table><tr><th>head</th></tr><tr><td>cell <br/>more</td></tr></table>
```

## Below

```{figure} picture.svg
:alt: What is to be seen.

Its caption.
```
"""

PLAIN = """\
Plain
=====

An older format: it says ``x`` in a paragraph.

term
    What it means.

.. _below:

Below
-----

.. code-block:: Python

    x = 1
"""

CONF = """\
import sys

sys.path.insert(0, {docs!r})
project = "Things"
extensions = ["myst_parser", "sphinx.ext.autodoc", "sphinx.ext.napoleon", "markdown_pages"]
myst_enable_extensions = ["dollarmath"]
myst_heading_anchors = 3
napoleon_use_rtype = False
autodoc_typehints = "none"
html_theme = "basic"
"""

REFERENCE = """\
# Reference

```{eval-rst}
.. autofunction:: matrics.stats.mcnemar
```
"""


@pytest.fixture(scope="module")
def site(tmp_path_factory: pytest.TempPathFactory) -> dict[str, str]:
    """The texts that the build has written, by their names."""
    source = tmp_path_factory.mktemp("site")
    (source / "more").mkdir()
    for name, text in {
        "conf.py": CONF.format(docs=str(DOCS)),
        "index.md": INDEX,
        "more/page.md": PAGE,
        "more/picture.svg": '<svg xmlns="http://www.w3.org/2000/svg" width="1" height="1"/>',
        "plain.rst": PLAIN,
        "reference.md": REFERENCE,
    }.items():
        (source / name).write_text(text, "utf-8")
    # In a process of its own: Sphinx changes docutils for all that come after it.
    command = [sys.executable, "-m", "sphinx", "-q", "-b", "html", str(source), str(source / "html")]
    done = subprocess.run(command, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr
    html = source / "html"
    assert (html / "more" / "page.html").exists()
    return {
        found.relative_to(html).as_posix(): found.read_text("utf-8")
        for pattern in ("**/*.md", "llms.txt")
        for found in html.glob(pattern)
    }


def test_each_page_is_there(site: dict[str, str]) -> None:
    assert set(site) == {"index.md", "more/page.md", "plain.md", "reference.md", "llms.txt"}


def test_a_page(site: dict[str, str]) -> None:
    page = site["more/page.md"]
    intro = (
        "# A page\n\nIts first sentence is this. Its second has a formula, $a|b$, a `literal`, *emphasis* and a "
        "[link](../plain.md). And [`matrics.stats.mcnemar()`](../reference.md), and "
        "[https://example.org/page.html](https://example.org/page.html)."
    )
    assert page.startswith(intro)
    for part in (
        "\n\n$$\n\\frac{a}{b}\n$$\n\n",
        "| name | value |\n|---|---|\n| `a\\|b` | one |\n| two | **three** |\n",
        "- An item of two lines\n\n  ```python\n  >>> 1 + 1\n  2\n  ```\n- another\n",
        "1. first\n2. second\n",
        "> **Note:** Beware.\n",
        "| head |\n|---|\n| cell ; more |\n",
        "\n## Below\n\n![What is to be seen.](../_images/picture.svg)\n\nIts caption.\n",
    ):
        assert part in page
    assert "importorskip" not in page
    assert "Hidden" not in page
    assert "not for readers" not in page


def test_a_page_of_another_format(site: dict[str, str]) -> None:
    assert site["plain.md"] == (
        "# Plain\n\nAn older format: it says `x` in a paragraph.\n\n- **term**: What it means.\n\n## Below\n\n"
        "```python\nx = 1\n```\n"
    )


def test_the_reference_has_signatures_and_docstrings(site: dict[str, str]) -> None:
    page = site["reference.md"]
    assert "## `matrics.stats.mcnemar(joint, *, exact=True, mid_p=False)`" in page
    assert "- **exact** (bool, default True) – Whether to compute the p-value from the binomial" in page
    assert "```python\n>>> import matrics\n" in page


def test_the_list(site: dict[str, str]) -> None:
    """A title, a summary, and sections of links with what is said of each: https://llmstxt.org."""
    assert site["llms.txt"] == (
        "# Things\n\n> **Things of all kinds**, counted. See A page.\n\n## First\n\n"
        "- [A page](more/page.md): Its first sentence is this.\n- [Reference](reference.md)\n\n## Second\n\n"
        "- [Plain](plain.md): An older format: it says `x` in a paragraph.\n"
    )


def test_the_site_has_it() -> None:
    assert '"markdown_pages"' in (DOCS / "conf.py").read_text("utf-8")


def test_first_sentences(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.syspath_prepend(DOCS)
    sentence = importlib.import_module("markdown_pages").sentence
    assert sentence("One of 1.5 kinds. Another.") == "One of 1.5 kinds."
    assert sentence("word " * 100).endswith("word …")
    assert len(sentence("word " * 100)) <= 162
