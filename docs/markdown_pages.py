"""Writes each page as Markdown beside its HTML, and ``llms.txt``, the list of these pages (https://llmstxt.org)."""

import re
from pathlib import Path

from docutils import nodes
from markdown_nodes import markdown
from sphinx import addnodes

LONGEST = 160  # characters of what the list says of a page


def write_page(app, tree, name):
    """Write a page when its HTML is written, with the links resolved."""
    if app.builder.format != "html":
        return
    tree = tree.deepcopy()
    for image in tree.findall(lambda node: isinstance(node, nodes.Element) and "uri" in node):
        # Those of the gallery, whose nodes are of its own kind, keep their names.
        known = app.env.images[image["uri"]][1] if image["uri"] in app.env.images else Path(image["uri"]).name
        image["uri"] = "../" * name.count("/") + f"{app.builder.imagedir}/{known}"
    path = Path(app.outdir) / f"{name}.md"
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(markdown(tree), encoding="utf-8", newline="\n")


def write_list(app, error):
    """Write the list of all pages, by the captions of the contents of the first page."""
    if error is not None or app.builder.format != "html":
        return
    env, root = app.env, app.config.root_doc
    lines = [f"# {app.config.project}", "", f"> {paragraph(app, root)}"]
    for contents in env.get_doctree(root).findall(addnodes.toctree):
        lines += ["", f"## {contents['caption'] or 'Pages'}", ""]
        for name in contents["includefiles"]:
            lines += entries(app, name, 0, {root})
    (Path(app.outdir) / "llms.txt").write_text("\n".join(lines) + "\n", encoding="utf-8", newline="\n")


def entries(app, name, depth, above):
    """A line for a page, and one for each page below it."""
    title, what = app.env.titles[name].astext(), sentence(paragraph(app, name))
    lines = [f"{'  ' * depth}- [{title}]({name}.md)" + (f": {what}" if what else "")]
    for child in app.env.toctree_includes.get(name, []):
        if child not in above:
            lines += entries(app, child, depth + 1, {*above, name})
    return lines


def paragraph(app, name):
    """The first paragraph of a page, before its first part."""
    text = (Path(app.outdir) / f"{name}.md").read_text(encoding="utf-8")
    parts = text.partition("\n## ")[0].split("\n\n")
    found = (part for part in parts if not part.startswith(("#", "|", "```", "$$", "!", "- ", ">", "**Note")))
    # Links of a page in a folder would lead astray from here.
    return " ".join(re.sub(r"\[([^]]*)\]\([^)]*\)", r"\1", next(found, "")).split())


def sentence(text):
    """The first sentence, or as many words of it as there is room for."""
    first = re.split(r"(?<=[.?!:]) (?=[A-Z`])", text)[0].rstrip(":")
    return first if len(first) <= LONGEST else first[:LONGEST].rsplit(" ", 1)[0] + " …"


def setup(app):
    app.connect("doctree-resolved", write_page, priority=900)
    app.connect("build-finished", write_list)
    return {"parallel_read_safe": True, "parallel_write_safe": True}
