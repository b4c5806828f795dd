"""What the page to try shows of a matrix: run when the pages are built, and again by Python in the reader's browser.

It imports the library and nothing else, as the browser has no more.
"""

import html
import math
import re
import warnings

import matrics

METRICS = "accuracy, balanced_accuracy, mcc, cohen_kappa, f1:macro, recall:class, precision:class"
LARGEST = 100  # classes; of 200 the measures take half a minute in a browser
COPIED = 12  # classes of a matrix that is short enough to be repeated as code
FAILURES = (ArithmeticError, ImportError, LookupError, TypeError, ValueError)


def answer(text, names="", metrics=METRICS):
    """HTML for what stands in the form, or the message of what is wrong with it; and whether all is well."""
    try:
        cm, found = counts(text)
        if len(cm) > LARGEST:
            raise ValueError(f"{len(cm)} classes are too many for a page; matrics itself takes thousands")
        classes = class_names(names, found, len(cm))
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")  # the remarks of the table say the same
            scores = matrics.interval(cm, metrics, invalid="raise")
    except FAILURES as error:
        return False, f'<p class="try-error">{type(error).__name__}: {html.escape(str(error))}</p>'
    code = f"<p>The same in Python:</p>\n<pre>{html.escape(call(cm, metrics))}</pre>"
    return True, "".join([*parts(cm, classes, scores), code if len(cm) <= COPIED else ""])


# What readers paste ---------------------------------------------------------------------------------------------------


def counts(text):
    """The rows of a pasted matrix, and the names of classes where its first row has them.

    It may come from a spreadsheet, a file of commas, a notebook or the prompt of Python.
    """
    text = re.sub(r"\w*\.?(array|tensor)\(|,?\s*dtype=[\w.]+\)?", "", text).strip()
    # In lists of lists the end of an inner one ends a row; in all others the line does.
    listed = text.startswith(("[", "("))
    lines = [line.lstrip(" \n,[(") for line in re.split(r"[\])]", text)] if listed else text.split("\n")
    apart = r"[,;\t]" if re.search(r"[,;\t]", text) else r"\s+"
    lines = [line.rstrip(",;\t \r\n") for line in lines]
    rows = [[cell.strip(" \"'\r\n") for cell in re.split(apart, line)] for line in lines if line]
    names = []
    while rows and all(number_of(cell) is None for cell in rows[0]):
        names = [cell for cell in rows.pop(0) if cell]
    if rows and all(number_of(row[0]) is None for row in rows):
        # Names at the left as well, where no cell says what the names are.
        names, rows = [row[0] for row in rows], [row[1:] for row in rows]
    if not rows:
        raise ValueError("no counts: expected a row of numbers for each true class")
    return [[cell_of(cell, number) for cell in row] for number, row in enumerate(rows, 1)], names


def number_of(cell):
    """The number that a text is, or None; whole numbers of any size stay whole."""
    for kind in (int, float):
        try:
            return kind(cell)
        except ValueError:
            continue
    return None


def cell_of(cell, row):
    found = number_of(cell)
    if found is None:
        raise ValueError(f"row {row} has {cell!r}, which is no number")
    return found


def class_names(names, found, n):
    """The names of the form, or else those of the matrix, or else numbers."""
    given = [name.strip() for name in names.split(",") if name.strip()] or found
    if given and len(given) != n:
        raise ValueError(f"{n} rows and {len(given)} names of classes: {', '.join(given)}")
    return given or [str(k) for k in range(n)]


# What they get --------------------------------------------------------------------------------------------------------


def parts(cm, names, scores):
    """The picture, the measures of the matrix, those of its classes, and what is to be said of the limits."""
    codes = {int(code) for found in scores.values() for code in each(found.status)}
    remarks = [matrics.IntervalStatus(code).sentence for code in sorted(codes - {0})]
    # A raised number alone would be read as a digit of the limit.
    notes = {code: f" <sup>note {k}</sup>" for k, code in enumerate(sorted(codes - {0}), 1)} if len(codes) > 1 else {}
    whole, of_classes = [], []
    for spec, found in scores.items():
        columns = (each(column) for column in (found.estimate, found.low, found.high, found.status))
        values = [worded(*one, notes) for one in zip(*columns, strict=True)]
        if getattr(found.estimate, "ndim", 0) == 0:
            whole.append([linked(spec), values[0][0], values[0][1] + values[0][2]])
        else:
            of_classes.append([linked(spec), *(f"{value} ({limits}){note}" for value, limits, note in values)])
    yield picture(cm, names)
    if whole:
        yield table("Measures of the matrix", ["measure", "value", "95 % limits"], whole)
    if of_classes:
        heads, *columns = zip(*of_classes, strict=True)
        rows = [[html.escape(name), *cells] for name, cells in zip(names, columns, strict=True)]
        yield table("Measures of each class, with 95 % limits", ["class", *heads], rows)
    if notes:
        yield "\n".join(['<ol class="try-remarks">', *(f"<li>{html.escape(one)}</li>" for one in remarks), "</ol>\n"])
    elif remarks:
        yield f'<p class="try-remarks">All limits: {html.escape(remarks[0])}.</p>\n'


def each(column):
    """The values of a column of an interval, which is one number or has one for each class."""
    return list(column) if getattr(column, "ndim", 0) else [column]


def picture(cm, names):
    """The matrix as a table: the more of its true class a cell has, the stronger is its colour."""
    heads = "".join(f'<th scope="col">{html.escape(name)}</th>' for name in names)
    lines = [
        '<div class="table-wrapper"><table class="try-picture">',
        "<caption>Counts, and their shares of the row</caption>",
        f"<thead><tr><td>true \\ predicted</td>{heads}</tr></thead><tbody>",
    ]
    for k, (name, row) in enumerate(zip(names, cm, strict=True)):
        cells = (cell(count, count / (sum(row) or 1), is_right=(k == j)) for j, count in enumerate(row))
        lines.append(f'<tr><th scope="row">{html.escape(name)}</th>{"".join(cells)}</tr>')
    return "\n".join([*lines, "</tbody></table></div>\n"])


def cell(count, share, *, is_right):
    """A cell; small shares, which errors are, differ more in colour than large ones."""
    words = "&lt;1" if 0 < share < 0.005 else f"{100 * share:.0f}"
    below = f" <span>{words}\N{NO-BREAK SPACE}%</span>" if count else ""
    kind = "right" if is_right else "wrong"
    return f'<td class="{kind}" style="--strength: {math.sqrt(share):.3f}"><b>{count:,}</b>{below}</td>'


def table(caption, heads, rows):
    """A table whose first column has the names of the rows."""
    lines = ['<div class="table-wrapper"><table class="try-measures">', f"<caption>{caption}</caption><thead><tr>"]
    lines += [*(f'<th scope="col">{head}</th>' for head in heads), "</tr></thead><tbody>"]
    for name, *cells in rows:
        lines.append(f'<tr><th scope="row">{name}</th>{"".join(f"<td>{cell}</td>" for cell in cells)}</tr>')
    return "\n".join([*lines, "</tbody></table></div>\n"])


def worded(estimate, low, high, status, notes):
    """A number, its limits, and the note on them."""
    limits = "no limits" if math.isnan(low) else f"{shown(low)} to {shown(high)}"
    return shown(estimate), limits, notes.get(int(status), "")


def linked(spec):
    """A measure, with its place in the catalogue."""
    record = matrics.get_metric(spec)
    place = f"catalogue/{record.family}.html#metric-{record.name.replace('_', '-')}"
    return f'<a href="{place}">{html.escape(spec.removesuffix(":class"))}</a>'


def shown(value):
    if math.isnan(value):
        return "undefined"
    return f"{value:.3f}".replace("-", "−") if abs(value) < 100 else f"{value:,.4g}".replace("-", "−")


def call(cm, metrics):
    """The lines that give the same in Python."""
    rows = ",\n      ".join(map(str, cm))
    return f'import matrics\n\ncm = [{rows}]\nmatrics.interval(cm, "{metrics}")'
