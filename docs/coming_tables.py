"""The tables of the pages "Coming from ...": the calls of two libraries and those here, all of them run.

``conf.py`` puts them into the pages; ``python docs/coming_tables.py`` prints them. The rows are in ``coming/``. Tables
of calls are HTML, so that long calls break at brackets and dots, and rows become cards on a phone.
"""

import functools
import html
import re
import sys
from importlib import metadata
from pathlib import Path

sys.path.insert(0, str(Path(__file__).parent))
from coming import absent, data, libraries, run

from matrics._tables.markdown import table

CALLS = ["there", "here", "same?", "to get theirs"]
DATA = ["kind", "name", "what is odd", "arrays"]
SHOWN = 2  # cases of a difference; more would hide it
LONG = 70  # characters of a case, with which it is the only one


def tables():
    """All tables by the names under which the pages ask for them."""
    return {f"coming_{name}_{part}": text for name in libraries.LIBRARIES for part, text in parts(name).items()}


def parts(name):
    """The tables of a page, and how many calls were compared."""
    topics = results(name)
    return {
        "version": metadata.version(libraries.PACKAGES[name]),
        "count": count([found for _, some in topics for found in some]),
        "data": as_html("coming-data", "The data sets", DATA, data_sets(name, topics)),
        "calls": "\n".join(section(topic, some) for topic, some in topics),
        "absent": table(["there", "use instead"], absent_rows(name)),
    }


@functools.cache
def results(name):
    """Every topic of a library with what running its rows has shown."""
    library = libraries.LIBRARIES[name]()
    return [(topic, [run.find(library, topic, row) for row in topic.rows]) for topic in libraries.topics(name)]


def count(rows):
    """How many calls were run, on how many data sets, and how many of them differ."""
    same = sum(not found.differences for found in rows)
    mended = sum(found.mended for found in rows)
    pairs = sum(found.number for found in rows)
    return (
        f"**{len(rows)} calls**, each run with its counterpart here on all data sets of its kind: {pairs} "
        f"comparisons. {same} calls give the same numbers on all of them. Of the {len(rows) - same} others, {mended} "
        f"have a call here that gives exactly theirs, and {len(rows) - same - mended} have none."
    )


def section(topic, rows):
    """The heading and the table of a topic."""
    shown = as_html("coming-calls", topic.title, CALLS, (cells(topic, found) for found in rows))
    return f"## {topic.title}\n\nData sets: {topic.kind}.\n\n{shown}\n"


def cells(topic, found):
    """A row of the table: two calls, whether they agree, and how to get their number."""
    row = found.row
    there = code(row.there) + (f"<p>data sets: {row.kind}</p>" if row.kind not in {"", topic.kind} else "")
    if not found.differences:
        return [there, code(row.here), '<span title="the same numbers">✓</span>', ""]
    shown = [f"<b>≠</b> {html.escape(row.why)}"]
    pairs = [f"{run.text(one.there)} → {run.text(one.here)}" for one in found.differences]
    number = SHOWN if len(pairs[0]) <= LONG else 1
    for one, pair in list(zip(found.differences, pairs, strict=True))[:number]:
        shown.append(f"<p><i>{one.case}</i>: {html.escape(pair)}</p>")
    more = len(pairs) - number
    if more > 0:
        shown.append(f"<p>and on {'one other' if more == 1 else f'{more} others'}</p>")
    return [there, code(row.here), "".join(shown), code(row.theirs) if found.mended else "none"]


def code(text):
    """A call, which may break after a bracket or a dot, and in long names, before it breaks anywhere else."""
    breakable = re.sub(r"(?<=[(\[.])(?![\d)\]:])", "<wbr>", html.escape(text, quote=False))
    breakable = re.sub(r"\w{22,}", lambda name: name[0].replace("_", "_<wbr>"), breakable)
    return f"<code>{breakable}</code>"


def as_html(name, caption, head, rows):
    """A table in a directive for raw HTML; the cells know their column, for pages that show rows as cards."""
    lines = [f'<table class="coming {name}">', f"<caption>{caption}</caption>", "<thead><tr>"]
    lines += [f'<th scope="col">{title}</th>' for title in head]
    lines += ["</tr></thead>", "<tbody>"]
    for row in rows:
        labelled = zip(head, row, strict=True)
        lines.append("<tr>" + "".join(f'<td data-column="{title}">{cell}</td>' for title, cell in labelled) + "</tr>")
    return "\n".join(["```{raw} html", *lines, "</tbody></table>", "```"])


def data_sets(library, topics):
    """The data sets on which a library's calls are run, with their arrays."""
    kinds = dict.fromkeys(found.row.kind or topic.kind for topic, some in topics for found in some)
    for kind in kinds:
        for case in data.CASES[kind]:
            arrays = {name: array for name, array in case.arrays.items() if name not in {"weight", "groups"}}
            names = data.tensor_names(arrays) if library == "torchmetrics" else {name: name for name in arrays}
            shown = [f"<p>{code(names[name])} {_short(array)}</p>" for name, array in arrays.items()]
            yield [kind, case.name, html.escape(case.what), "".join(shown)]


def _short(array):
    """An array in one line, in which slashes end the rows."""
    if array.ndim == 1:
        return " ".join(f"{one:.4g}".replace("-", "−") for one in array)
    return " / ".join(_short(row) for row in array)


def absent_rows(name):
    """What is not here."""
    for names, instead in absent.ABSENT[name].items():
        yield [", ".join(f"`{one}`" for one in names.split()), instead]


def add_style(app):
    """Give the pages the style sheet of these tables, from the folder of such files."""
    if "_static" not in app.config.html_static_path:
        app.config.html_static_path.append("_static")
    app.add_css_file("coming.css")


if __name__ == "__main__":
    for title, text in tables().items():
        print(f"{title}\n\n{text}\n")
