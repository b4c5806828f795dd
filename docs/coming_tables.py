"""The tables of the pages "Coming from ...": the calls of two libraries beside those here, all of them run.

``conf.py`` puts them into the pages; ``python docs/coming_tables.py`` prints them. The rows are in ``coming/``.
"""

import functools
import sys
from importlib import metadata
from pathlib import Path

import numpy as np

sys.path.insert(0, str(Path(__file__).parent))
from coming import absent, data, libraries, run

from matrics.cli.markdown import escape, table

HEAD = ["there", "here", "same?", "to get theirs"]
SHOWN = 2  # cases of a difference; more would hide it


def tables():
    """All tables by the names under which the pages ask for them."""
    return {f"coming_{name}_{part}": text for name in libraries.LIBRARIES for part, text in parts(name).items()}


def parts(name):
    """The tables of a page, and how many calls were compared."""
    topics = list(results(name))
    rows = [found for _, some in topics for found in some]
    return {
        "version": metadata.version(libraries.PACKAGES[name]),
        "count": count(rows),
        "data": boxed("coming-data", ["kind", "name", "what is odd", "arrays"], data_sets(name, topics)),
        "calls": "\n".join(f"## {topic.title}\n\n{_kind(topic)}\n\n{calls(topic, some)}\n" for topic, some in topics),
        "absent": boxed("coming-absent", ["there", "use instead"], absent_rows(name)),
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
        f"{len(rows)} calls, each run beside its counterpart here on all data sets of its kind: {pairs} comparisons. "
        f"{same} calls give the same numbers on all of them. Of the {len(rows) - same} others, {mended} have a call "
        f"here that gives exactly theirs, and {len(rows) - same - mended} have none."
    )


def calls(topic, rows):
    """The table of a topic."""
    return boxed("coming-calls", HEAD, (cells(topic, found) for found in rows))


def boxed(name, head, rows):
    """A table in a box whose class the style sheet knows."""
    return f":::{{container}} coming {name}\n\n{table(head, rows)}\n\n:::"


def cells(topic, found):
    """A row of the table: two calls, whether they agree, and how to get their number."""
    row = found.row
    there = code(row.there) + (f"<br>(data: {row.kind})" if row.kind not in {"", topic.kind} else "")
    if not found.differences:
        return [there, code(row.here), "✓", ""]
    shown = [
        f"{one.case}: {escape(run.text(one.there))} → {escape(run.text(one.here))}" for one in found.differences[:SHOWN]
    ]
    more = len(found.differences) - SHOWN
    if more > 0:
        shown.append("and on " + ("one other" if more == 1 else f"{more} others"))
    return [there, code(row.here), "<br>".join([f"**≠** {escape(row.why)}", *shown]), how(found)]


def how(found):
    return code(found.row.theirs) if found.mended else "–"


def code(text):
    return "`" + text.replace("|", r"\|") + "`"


def _kind(topic):
    return f"Data sets of the kind “{topic.kind}”."


def absent_rows(name):
    """What is not here."""
    for names, instead in absent.ABSENT[name].items():
        yield [", ".join(code(one) for one in names.split()), instead]


def data_sets(library, topics):
    """The data sets on which a library's calls are run, with their arrays."""
    kinds = dict.fromkeys(found.row.kind or topic.kind for topic, some in topics for found in some)
    for kind in kinds:
        for case in data.CASES[kind]:
            arrays = {name: array for name, array in case.arrays.items() if name not in {"weight", "groups"}}
            names = data.tensor_names(arrays) if library == "torchmetrics" else {name: name for name in arrays}
            shown = [f"{code(names[name])} {_short(array)}" for name, array in arrays.items()]
            yield [kind, case.name, escape(case.what), "<br>".join(shown)]


def _short(array):
    """An array in one line, of labels without commas."""
    if array.ndim == 1:
        numbers = [f"{one:.4g}".replace("-", "−") for one in array]
        return "".join(numbers) if array.dtype.kind == "i" and array.min() >= 0 else " ".join(numbers)
    return " / ".join(_short(row) for row in np.asarray(array))


def add_style(app):
    """Give the pages the style sheet of these tables, from the folder of such files."""
    if "_static" not in app.config.html_static_path:
        app.config.html_static_path.append("_static")
    app.add_css_file("coming.css")


if __name__ == "__main__":
    for title, text in tables().items():
        print(f"{title}\n\n{text}\n")
