"""A page as Markdown, from its document tree: what Sphinx has made of MyST, of reStructuredText, and of docstrings.

Plain Markdown with tables and formulas between dollars, as programs and language models read it: without the roles,
directives and hidden blocks of the sources, and with the signatures and docstrings that these only name.
"""

import re
from html.parser import HTMLParser

from docutils import nodes

#: Nodes that say nothing to a reader of the text.
SILENT = {"comment", "target", "index", "toctree", "tabular_col_spec", "colspec", "substitution_definition", "meta"}
#: Classes of what has a use on the page alone.
HIDDEN = {"sphx-glr-download-link-note", "sphx-glr-footer", "sphx-glr-signature"}
SIGNS = {"strong": "**", "emphasis": "*", "literal_strong": "**"}
LANGUAGES = {"default": "", "none": "", "pycon": "python", "python3": "python"}


def markdown(tree):
    """The text of a document or of a part of it; blocks are separated by an empty line."""
    return re.sub(r"\n{3,}", "\n\n", "\n\n".join(blocks(tree.children, 1))).strip() + "\n"


def blocks(children, level):
    """The text of each block; ``level`` is that of the next title."""
    return [text for child in children for text in block(child, level) if text.strip()]


def block(node, level):
    """The blocks of one node."""
    name = type(node).__name__
    if name in SILENT or HIDDEN & set(node.get("classes", ()) if isinstance(node, nodes.Element) else ()):
        return []
    if name in BLOCKS:
        return [BLOCKS[name](node, level)]
    if name == "section":
        return blocks(node.children, level + 1)
    if isinstance(node, (nodes.TextElement, nodes.Text, nodes.image)):
        return [inline([node])]
    return blocks(node.children, level)


def title(node, level):
    return f"{'#' * min(level - 1 or 1, 6)} {inline(node.children)}"


def code(node, _):
    text, language = node.astext(), node.get("language", "python" if ">>> " in node.astext() else "")
    fence = "`" * max(3, *(len(run) + 1 for run in re.findall(r"^`+", text, re.MULTILINE)), 3)
    return f"{fence}{LANGUAGES.get(language.lower(), language.lower())}\n{text.rstrip()}\n{fence}"


def listed(node, level):
    """A list; further lines of an item are indented as its first."""
    is_numbered = isinstance(node, nodes.enumerated_list)
    items = []
    for number, item in enumerate(node.children, 1):
        mark = f"{number}. " if is_numbered else "- "
        text = "\n\n".join(blocks(item.children, level))
        items.append(mark + text.replace("\n", "\n" + " " * len(mark)))
    return re.sub(r"\n +\n", "\n\n", "\n".join(items))


def quote(node, level):
    kind = {"block_quote": ""}.get(type(node).__name__, f"**{type(node).__name__.capitalize()}:** ")
    return "> " + (kind + "\n\n".join(blocks(node.children, level))).replace("\n", "\n> ")


def definitions(node, level):
    """Terms in bold with what they mean; the fields of a docstring likewise, as lists of their own."""
    found = []
    for item in node.children:
        head, body = inline(item.children[0].children), "\n\n".join(blocks(item.children[-1].children, level))
        found.append(f"**{head}**\n\n{body}" if "\n" in body else f"- **{head}**: {body}")
    return re.sub(r"(?m)(^- .*\n)\n(?=- )", r"\1", "\n\n".join(found))


def described(node, level):
    """A function or class of the reference: its signature as a title, then its docstring."""
    signatures = [" ".join(one.astext().split()) for one in node.children if type(one).__name__ == "desc_signature"]
    heads = [f"{'#' * min(level, 6)} `{signature}`" for signature in signatures]
    return "\n\n".join([*heads, *blocks(node.children[-1].children, level + 1)])


def table(node, level):
    """A table with pipes; its title stands above it."""
    rows = [[cell_of(entry, level) for entry in row.children] for row in node.findall(nodes.row)]
    heads = [inline(one.children) for one in node.children if isinstance(one, nodes.title)]
    return "\n\n".join([*(f"**{head}**" for head in heads), piped(rows)])


def cell_of(entry, level):
    return " ".join("<br>".join(blocks(entry.children, level)).split())


def piped(rows):
    """Rows of texts as a table, the first of them its head."""
    if not rows:
        return ""
    width = max(map(len, rows))
    lines = [
        "| " + " | ".join(cell.replace("|", "\\|") for cell in row + [""] * (width - len(row))) + " |" for row in rows
    ]
    return "\n".join([lines[0], "|" + "---|" * width, *lines[1:]])


class Tables(HTMLParser):
    """The tables of a piece of HTML, as rows of texts."""

    def __init__(self):
        super().__init__()
        self.rows, self._words = [], None

    def handle_starttag(self, tag, attrs):
        if tag == "tr":
            self.rows.append([])
        elif tag in {"td", "th"}:
            self._words = []
        elif tag == "br" and self._words is not None:
            self._words.append("; ")
        elif tag == "span" and self._words:
            self._words.append(": " if dict(attrs).get("class") is None else "; ")

    def handle_endtag(self, tag):
        if tag in {"td", "th"} and self._words is not None and self.rows:
            self.rows[-1].append(" ".join("".join(self._words).split()))
            self._words = None

    def handle_data(self, data):
        if self._words is not None:
            self._words.append(data)


def raw(node, _):
    """Of HTML the tables; the rest is the frame of a page, or hidden."""
    if "html" not in node.get("format", "") or "<table" not in node.astext():
        return ""
    tables = Tables()
    tables.feed(node.astext())
    return piped([row for row in tables.rows if row])


def picture(node, _):
    return f"![{node.get('alt', '')}]({node['uri']})"


BLOCKS = {
    "title": title,
    "literal_block": code,
    "doctest_block": code,
    "desc": described,
    "table": table,
    "raw": raw,
    **dict.fromkeys(("bullet_list", "enumerated_list"), listed),
    **dict.fromkeys(("field_list", "definition_list"), definitions),
    **dict.fromkeys(("block_quote", "note", "seealso", "warning", "tip", "important", "admonition"), quote),
    "math_block": lambda node, _: f"$$\n{node.astext().strip()}\n$$",
    "rubric": lambda node, _: f"**{inline(node.children)}**",
    **dict.fromkeys(("image", "imgsgnode"), picture),
}


def inline(children):
    """The text of a line, with its marks."""
    return "".join(map(piece, children))


def piece(node):
    name = type(node).__name__
    if isinstance(node, nodes.Text):
        return re.sub(r"\s*\n\s*", " ", node.astext())
    if name == "literal":
        text = " ".join(node.astext().split())
        return f"`` {text} ``" if "`" in text else f"`{text}`"
    if name == "math":
        return f"${node.astext()}$"
    if name == "raw":
        return " " if "html" in node.get("format", "") and "<br" in node.astext() else ""
    if name in {"image", "imgsgnode"}:
        return picture(node, 0)
    if name in SILENT:
        return ""
    text = inline(node.children)
    if name == "reference":
        return f"[{text}]({address(node)})" if address(node) else text
    sign = SIGNS.get(name, "")
    return f"{sign}{text.strip()}{sign}" if sign and text.strip() else text


def address(node):
    """Where a link leads: within the pages to their Markdown."""
    found = node.get("refuri", "")
    if node.get("internal") or not re.match(r"\w+:", found):
        return re.sub(r"\.html(#.*)?$", ".md", found)
    return found
