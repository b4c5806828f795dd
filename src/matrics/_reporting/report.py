"""report(): a page about the predictions of a single model or of several models."""

from __future__ import annotations

import html
import importlib
from collections.abc import Hashable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from functools import cached_property
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

from matrics._catalogue.record import Metric
from matrics._engine.results import Result, frame_of, to_dict
from matrics._errors import ArgumentError
from matrics._extras import __version__, requires
from matrics._plot.display import Display
from matrics._quoting import quoted
from matrics._reporting.calls import are_labels, call_of, table_of_models
from matrics._reporting.changes import Changes, changes_since
from matrics._reporting.data import Data, data_of_matrices, data_of_table
from matrics._reporting.findings import Findings, compute_findings
from matrics._reporting.leaderboard import IntervalSettings, read_settings
from matrics._reporting.markdown import markdown_of
from matrics._reporting.origin import Origin
from matrics._reporting.page import kind_of, pdf_of, rendered
from matrics._reporting.pictures import Picture, draw
from matrics._reporting.report_columns import ReportColumns
from matrics._tables.any_table import names_of_columns
from matrics._tables.counts import warn_of_odd_labels
from matrics._wording import number, short
from matrics.typing import ArrayLike

if TYPE_CHECKING:
    from matrics._reporting.from_file import FileData

__all__ = ["Report", "make_report", "report"]


@dataclass(frozen=True, eq=False)
class Report(Result):
    """A report on predictions, as from :func:`matrics.report`; a notebook shows it as a page.

    Parameters
    ----------
    data : Data
        The data: models, classes, matrices.
    findings : Findings
        The results as plain values: ``leaderboard``, ``classes``, ``winners``, ``cautions``, ….
    settings : IntervalSettings
        The settings of intervals and comparisons: ``level``, ``num``, ``seed``.
    version : str
        The version of this library.
    title : str
        The title of the page.
    call : str
        The Python call that makes this report.
    changes : Changes or None
        The changes since an older report, or None without ``compare``.
    """

    data: Data = field(repr=False)
    findings: Findings = field(repr=False)
    settings: IntervalSettings = field(repr=False)
    version: str = field(repr=False)
    title: str = field(repr=False)
    call: str = field(repr=False)
    changes: Changes | None = field(repr=False)

    def __repr__(self) -> str:
        return f"<Report: {' '.join(self.findings.summary[:2])}>"

    def to_dict(self) -> dict[str, Any]:
        """The results as plain numbers, lists and texts, as from :func:`matrics.to_dict`."""
        return {"models": list(self.data.models), "classes": list(self.data.classes), **to_dict(self.findings)}

    def to_frame(self) -> Any:
        """The leaderboard as a pandas data frame: a row for each model and measure, the best models first."""
        board = self.findings.leaderboard
        rows = [(k, verdict) for k in board.order for verdict in board.verdicts.values()]
        named = {"model": [self.data.models[k] for k, _ in rows], "measure": [verdict.label for _, verdict in rows]}
        parts = {"value": "estimate", "low": "low", "high": "high", "is_tied": "tied"}
        values = {name: [getattr(verdict, part)[k] for k, verdict in rows] for name, part in parts.items()}
        return frame_of(named | values, indexed=False)

    @cached_property
    def _drawn(self) -> dict[str, list[Picture]]:
        return draw(self.data, self.findings, self.settings)

    @property
    def pictures(self) -> dict[str, Display]:
        """The pictures by their names on the page, such as ``"roc"``, to save them in other formats."""
        return {picture.name: picture.display for pictures in self._drawn.values() for picture in pictures}

    def _rendered(self, *, printed: bool) -> str:
        return rendered(
            self.data,
            self.findings,
            self.settings,
            version=self.version,
            pictures=self._drawn,
            title=self.title,
            call=self.call,
            changes=self.changes,
            printed=printed,
        )

    @cached_property
    def _page(self) -> str:
        return self._rendered(printed=False)

    def html(self) -> str:
        """The report as an HTML page that needs no other file and no network."""
        return self._page

    def markdown(self) -> str:
        """The summary, the tables of models and groups, the errors and the warnings of the page as Markdown."""
        return markdown_of(self.title, self.data, self.findings, self.changes)

    def pdf(self) -> bytes:
        """The page as a PDF, printed by a headless browser or WeasyPrint.

        Raises
        ------
        ImportError
            Neither of them is installed.
        """
        return pdf_of(self._rendered(printed=True))

    def save(self, path: str | Path) -> Path:
        """Write the report to a file, whose format is the ending of its name.

        Parameters
        ----------
        path : str or Path
            The file; its name ends in .html, .md or .pdf.

        Returns
        -------
        Path
            The file.

        Raises
        ------
        ImportError
            A PDF needs a browser, such as Chromium, or WeasyPrint, and neither is installed.
        ValueError
            The name of the file has another ending.
        """
        path = Path(path)
        path.write_bytes(self.encoded(kind_of(path, "path")))
        return path

    def encoded(self, kind: str) -> bytes:
        """The bytes of the report as a file.

        Parameters
        ----------
        kind : {"html", "md", "pdf"}
            The format of the file.
        """
        if kind == "pdf":
            return self.pdf()
        return (self.html() if kind == "html" else self.markdown()).encode()

    def describe(self) -> str:
        """The report as plain text: the summary, the leaderboard, the errors and the warnings."""
        findings = self.findings
        board = findings.leaderboard
        parts = ["\n".join(findings.summary), "\n".join(findings.read)]
        parts.append(
            "\n".join(
                f"{rank + 1}. {short(self.data.models[k])}: {board.title} {number(float(board.verdict.estimate[k]))}"
                + (" (not significantly different from the best)" if rank and k in board.tied else "")
                for rank, k in enumerate(board.order)
            )
        )
        parts += [
            "\n".join([f"{short(of_model.model)}:", *(f"  {line}" for line in of_model.sentences)])
            for of_model in findings.classes
        ]
        parts += [f"{short(groups.model)}: {groups.sentence}" for groups in findings.groups]
        words = {"warning": "Warning", "note": "Note"}
        parts.append("\n".join(f"{words[caution.severity]}: {caution.text}" for caution in findings.cautions))
        parts.append(findings.methods)
        return "\n\n".join(part for part in parts if part)

    def _repr_html_(self) -> str:
        """The page in a frame for notebooks, which keeps its styles apart from those of the notebook."""
        page = html.escape(self.html(), quote=True)
        # The frame takes most of the height of the window and can be resized. The page adapts to its width.
        style = "width: 100%; height: 80vh; min-height: 24rem; resize: vertical; border: 1px solid #bbbbbb"
        return f'<iframe title="Report" sandbox="allow-scripts" style="{style}" srcdoc="{page}"></iframe>'


def report(
    data: Any,
    *,
    by: Hashable | Iterable[Hashable] | None = None,
    y_true: Hashable | ArrayLike = "y_true",
    y_pred: Hashable = "y_pred",
    paired_on: Hashable | None = None,
    groups: Hashable | None = None,
    y_score: Hashable | Mapping[Any, Hashable] | None = None,
    positive: Hashable = None,
    sample_weight: Hashable | None = None,
    metrics: str | Metric | Iterable[str | Metric] | None = None,
    class_names: Sequence[str] | None = None,
    level: float = 0.95,
    num: int | None = None,
    rng: Any = 0,
    title: str | None = None,
    compare: str | Path | None = None,
) -> Report:
    """A report on the predictions of a single model or several models: the best model, the errors, and warnings.

    Parameters
    ----------
    data : data frame or other table, mapping, str or Path
        A table of labels with a single prediction in each row: a data frame of pandas or Polars, a table of pyarrow, a
        mapping of names to columns, an object with ``__arrow_c_stream__``, such as a relation of DuckDB, or the path of
        a file (needs the extra ``cli``). Or a mapping of names of models to confusion matrices (n, n), where rows are
        true classes; ``by`` and the names of columns are then ignored. Or a mapping of names of models to their
        predicted labels (N,) for the same samples, with the true labels as ``y_true``.
    by : column name or several, optional
        The columns that identify the model; if left out, all rows belong to a single model.
    y_true, y_pred : column name, default "y_true" and "y_pred"
        The columns of the true and of the predicted labels. If ``data`` maps names of models to predictions,
        ``y_true`` are the true labels (N,) themselves. Without a column of predicted labels, these are predicted from
        ``y_score``: the class with the highest score, or the positive class for scores of at least 0.5.
    paired_on : column name, optional
        The column that identifies the samples, if all models predicted the same samples. Models are then compared on
        the same samples, and several rows of a sample are not treated as independent.
    groups : column name, optional
        The column of the groups to compare, such as sites.
    y_score : column name or mapping of labels to column names, optional
        The column of the scores of the positive class, or the column of each class by its label.
    positive : label, optional
        The positive class: a label, a class name, or the index of a class without a name. It is the class of the
        scores, of ``:binary``, of the parities of groups, and of per-class measures without an average, also with
        more than two classes. If left out, it is class 1 of two classes whose labels are numbers or booleans, and of
        matrices. Two text labels have no default positive class: measures are then means over the classes, as for more
        than two classes, and ``recall:binary`` raises an error.
    sample_weight : column name, optional
        The column of the weights of samples; limits and comparisons account for the weights. It cannot be combined
        with ``groups`` or ``y_score``, and there are no tests of single cells and of class sizes.
    metrics : str, Metric, or several of them, optional
        Names, aliases, groups (``core``, ``overall``, ``all``, ``on_host``, or a family of
        :func:`matrics.list_metrics`), specs (``"recall:class"``, ``"recall[1]"``, ``"fbeta(beta=2):weighted"``; see
        :func:`matrics.get_metric`), or metrics. A string may contain several of these, separated by commas. The first
        ranks the models. MCC and the group ``core`` if left out.
    class_names : sequence of str, optional
        The names of the classes of confusion matrices; their numbers if left out.
    level : float, default 0.95
        The confidence level of the intervals.
    num : int, optional
        Number of replicates of paired comparisons; 10,000 if left out, and fewer for many models and samples.
    rng : int, numpy.random.Generator or None, default 0
        The seed of the replicates: an integer, a generator that draws the seed, or None for a random seed. The page
        contains the seed. The same data and seed give the same page, byte by byte.
    title : str, optional
        The title of the page; ``Report on`` and the name of the data if left out.
    compare : str or Path, optional
        The page of an older report, such as that of last week's models; the new page then lists the changes.

    Returns
    -------
    Report
        The report, with ``findings``, ``html()``, ``save("report.html")`` and ``describe()``; a notebook shows the
        page.

    Raises
    ------
    ImportError
        jinja2, Matplotlib or SciPy is not installed, or, for files, a package of the extra ``cli``.
    TypeError, ValueError
        A column does not exist or has values of another kind, paired models have different samples, or
        a measure has a value for each class or no better direction.

    Notes
    -----
    With more than 30 models, only the best 30 are compared. With many classes (about 40 for 30 models), limits and
    comparisons are computed for accuracy only. The page mentions both.

    Examples
    --------
    >>> import matrics
    >>> report = matrics.report(
    ...     {"net": [[40, 10], [5, 45]], "tree": [[25, 25], [20, 30]]}, class_names=["cat", "dog"], metrics="accuracy"
    ... )
    >>> for sentence in report.findings.summary:
    ...     print(sentence)
    200 predictions of 2 models over 2 classes were scored.
    net is best, with accuracy 0.850 (0.767 to 0.907), significantly better than every other model.
    Beware: not significantly better than guessing: tree.

    Predictions of named models, compared on the same samples:

    >>> y_true = ["cat", "dog"] * 50
    >>> predictions = {"net": ["cat", "dog"] * 45 + ["dog"] * 10, "coin": ["cat"] * 50 + ["dog"] * 50}
    >>> matrics.report(predictions, y_true=y_true, num=200).findings.summary[0]
    '200 predictions of 2 models over 2 classes were scored, on the same 100 samples.'
    """
    columns = ReportColumns(
        by=() if by is None else names_of_columns(by),
        y_true=y_true,
        y_pred=y_pred,
        paired_on=paired_on,
        groups=groups,
        y_score=_columns(y_score),
        positive=positive,
        sample_weight=sample_weight,
    )
    settings = read_settings(level, num, rng)
    return make_report(data, columns, metrics, settings, class_names=class_names, title=title, compare=compare)


def make_report(
    data: Any,
    columns: ReportColumns,
    metrics: Any,
    settings: IntervalSettings,
    *,
    class_names: Sequence[str] | None = None,
    origin: Origin | None = None,
    title: str | None = None,
    compare: str | Path | None = None,
) -> Report:
    """Make the report of the function and of the command; ``origin`` is None for data in memory."""
    _check_packages()
    if title is not None and (not isinstance(title, str) or not title.strip()):
        raise ArgumentError("title", f"expected a text, got {quoted(title)}")
    source = "data" if origin is None else repr(origin.path)
    if metrics is not None and not isinstance(metrics, (str, Metric)):
        metrics = list(metrics)
    if isinstance(data, (str, Path)):
        source = repr(str(data))
        data, origin, of_file, sides, of_log = _read_file(Path(data), columns, settings.level)
        columns = of_log or columns
        if sides is not None:
            warn_of_odd_labels(*sides, advice="")
        if class_names is None and of_file != tuple(map(str, range(len(of_file or ())))):
            class_names = of_file  # numbers are no names, as the report uses them as positions
    columns_of_call, named = columns, None if origin is not None else class_names
    if are_labels(columns.y_true):
        data, columns = table_of_models(data, columns)
    read = data if isinstance(data, Data) else _read(data, columns, class_names, origin)
    findings = compute_findings(read, metrics, settings, __version__)
    return Report(
        read,
        findings,
        settings,
        __version__,
        f"Report on {short(read.origin.name)}" if title is None else short(title, len(title)),
        call_of(source, columns_of_call, metrics, settings, named),
        None if compare is None else changes_since(compare, read, findings),
    )


def _read(data: Any, columns: ReportColumns, class_names: Sequence[str] | None, origin: Origin | None) -> Data:
    """The data of matrices, or of a table."""
    is_matrices = isinstance(data, Mapping) and any(np.ndim(value) > 1 for value in data.values())
    if is_matrices and columns.sample_weight is not None:
        raise ArgumentError("sample_weight", "expected no weights with confusion matrices, which contain no samples")
    if is_matrices:
        return data_of_matrices(data, class_names, origin, positive=columns.positive)
    if class_names is not None:
        raise ArgumentError(
            "class_names",
            "expected None for labels, which are the names of the classes; pass it with confusion matrices only",
        )
    return data_of_table(data, columns, origin)


def _read_file(path: Path, columns: ReportColumns, level: float) -> FileData:
    """The data of a file, read as by the command line."""
    try:
        from matrics._reporting.from_file import read_file
    except ModuleNotFoundError as error:
        raise ImportError('files need typer, rich and pyarrow: python -m pip install "matrics[cli]"') from error
    return read_file(path, columns, level=level)


def _check_packages() -> None:
    """Raise an error if a package is missing, before anything is computed."""
    for name in ("jinja2", "matplotlib", "scipy"):
        with requires("reports need", name, extra="report"):
            importlib.import_module(name)


def _columns(y_score: Any) -> dict[Any, Hashable]:
    if not isinstance(y_score, Mapping):
        return {} if y_score is None else {None: y_score}
    if not y_score:
        raise ArgumentError("y_score", "expected at least one column, got an empty mapping")
    return dict(y_score)
