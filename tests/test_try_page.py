"""The page to try: what readers paste, what they are shown, and Python for browsers, which may not be had."""

from __future__ import annotations

import hashlib
import importlib
import io
import json
import re
import tarfile
import zipfile
from collections.abc import Callable, Iterator
from pathlib import Path
from types import ModuleType, SimpleNamespace

import pytest

import matrics

DOCS = Path(__file__).parents[1] / "docs"
CM = [[45, 3], [4, 38]]


@pytest.fixture(scope="module")
def module() -> Iterator[Callable[[str], ModuleType]]:
    """Imports a module of ``docs``."""
    with pytest.MonkeyPatch.context() as patch:
        patch.syspath_prepend(DOCS)
        yield importlib.import_module


@pytest.fixture(scope="module")
def matrix(module: Callable[[str], ModuleType]) -> ModuleType:
    return module("try_matrix")


@pytest.mark.parametrize(
    ("text", "names"),
    [
        ("45 3\n4 38", []),
        ("45,3\r\n4,38,\r\n", []),
        ("45\t3\n4\t38", []),
        ("[[45, 3], [4, 38]]", []),
        ("((45, 3), (4, 38))", []),
        ("[[45  3]\n [ 4 38]]", []),
        ("array([[45,  3],\n       [ 4, 38]], dtype=int32)", []),
        ("tensor([[45,  3],\n        [ 4, 38]])", []),
        ("cat dog\n45 3\n4 38", ["cat", "dog"]),
        (",cat (big),dog\ncat (big),45,3\ndog,4,38", ["cat (big)", "dog"]),
        ("true\\pred\tcat\tdog\ncat\t45\t3\ndog\t4\t38", ["cat", "dog"]),
        ("pred  cat  dog\ntrue\ncat  45  3\ndog  4  38", ["cat", "dog"]),
    ],
)
def test_matrices_are_read_as_readers_have_them(matrix: ModuleType, text: str, names: list[str]) -> None:
    assert matrix.counts(text) == (CM, names)


@pytest.mark.parametrize(
    ("given", "message"),
    [
        (("",), "expected a row of numbers"),
        (("cats",), "expected a row of numbers"),
        (("1 x\n3 4",), "row 1 has 'x', which is no number"),
        (("1 2\n3",), "ragged list"),
        (("1 2 3",), "got shape (1, 3)"),
        (("1 -2\n3 4",), "it has the cell -2 at [0, 1]"),
        (("1 2\n3 4", "cat"), "2 rows and 1 names of classes: cat"),
        (("1 2\n3 4", "", "acuracy"), "did you mean accuracy"),
        (("1 2\n3 4", "", ""), "at least one metric"),
        (("\n".join(["1 " * 101] * 101),), "101 classes are too many"),
    ],
)
def test_errors_are_the_library_s(matrix: ModuleType, given: tuple[str, ...], message: str) -> None:
    is_well, shown = matrix.answer(*given)
    assert not is_well
    assert message in matrix.html.unescape(shown)


def test_measures_are_those_of_interval(matrix: ModuleType) -> None:
    is_well, shown = matrix.answer("5 2\n1 4", "cat, <b>", "accuracy, recall:class, mcc")
    assert is_well
    assert '<th scope="row">&lt;b&gt;</th>' in shown
    assert "<b>cat" not in shown
    found = matrics.interval([[5, 2], [1, 4]], "accuracy, recall:class")
    accuracy, recall = found["accuracy"], found["recall:class"]
    assert f"<td>{accuracy.estimate:.3f}</td><td>{accuracy.low:.3f} to {accuracy.high:.3f}</td>" in shown
    assert f"<td>{recall.estimate[1]:.3f} ({recall.low[1]:.3f} to {recall.high[1]:.3f})</td>" in shown
    assert f"All limits: {matrics.IntervalStatus.FEW_SAMPLES.sentence}." in shown


def test_limits_that_differ_have_notes(matrix: ModuleType) -> None:
    is_well, shown = matrix.answer("5 0\n0 0", "", "accuracy, mcc")
    assert is_well
    status = matrics.interval([[5, 0], [0, 0]], "accuracy, mcc")["accuracy"].status
    assert f"<li>{matrics.IntervalStatus(int(status)).sentence}</li>\n<li>" in shown
    assert "<td>undefined</td><td>no limits <sup>note 2</sup></td>" in shown


def test_undefined_measures_say_so(matrix: ModuleType) -> None:
    is_well, shown = matrix.answer("5 0\n0 0", "", "mcc")
    assert is_well
    assert "<td>undefined</td><td>no limits</td>" in shown
    assert f"All limits: {matrics.IntervalStatus.UNDEFINED.sentence}." in shown


def test_links_lead_to_the_catalogue(matrix: ModuleType) -> None:
    for name in matrics.list_metrics():
        record = matrics.get_metric(name)
        assert f'"catalogue/{record.family}.html#metric-{record.name.replace("_", "-")}"' in matrix.linked(name)


# Python for browsers --------------------------------------------------------------------------------------------------


@pytest.fixture
def page(module: Callable[[str], ModuleType]) -> ModuleType:
    pytest.importorskip("sphinx")
    pytest.importorskip("pyarrow")
    return module("try_page")


def app(folder: Path, kind: str = "html") -> SimpleNamespace:
    """As much of Sphinx as is needed."""
    return SimpleNamespace(config=SimpleNamespace(), builder=SimpleNamespace(format=kind), outdir=folder)


def test_python_comes_from_a_folder(page: ModuleType, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    source = tmp_path / "release"
    source.mkdir()
    wanted = {"pyodide.mjs", "pyodide.asm.wasm", "pyodide-lock.json", "python_stdlib.zip", "numpy-2.9-cp3-x_wasm32.whl"}
    for name in {*wanted, "pyodide.d.ts", "package.json", "pandas-3-cp3-x_wasm32.whl"}:
        (source / name).write_text(name)
    monkeypatch.setenv("MATRICS_PYODIDE", str(source))
    built = app(tmp_path / "html")
    page.write_python(built)
    place, wheel = built.config.try_python["data-python"], built.config.try_python["data-numpy"]
    assert wheel == "numpy-2.9-cp3-x_wasm32.whl"
    assert {one.name for one in (tmp_path / "html" / place).iterdir()} == wanted | {"matrics.zip"}
    names = zipfile.ZipFile(tmp_path / "html" / place / "matrics.zip").namelist()
    assert {"matrics/__init__.py", "array_api_compat/__init__.py", "try_matrix.py", "LICENSE"} <= set(names)
    assert not [name for name in names if "__pycache__" in name]


def test_pages_are_built_without_it(page: ModuleType, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    def fails(made: Path) -> None:
        made.mkdir()
        raise OSError("no network")

    monkeypatch.delenv("MATRICS_PYODIDE", raising=False)
    monkeypatch.setattr(page, "download", fails)
    for kind in ("html", "latex"):
        built = app(tmp_path, kind)
        page.write_python(built)
        assert built.config.try_python == {}
    assert not [*tmp_path.rglob("pyodide*")]
    assert not [*tmp_path.rglob("made")]


@pytest.mark.parametrize("is_whole", [True, False])
def test_downloads_are_checked(
    page: ModuleType, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, *, is_whole: bool
) -> None:
    """What npm and the server would send, the latter with an error of transmission."""
    numpy = {"file_name": "numpy-2.9-cp3-x_wasm32.whl", "sha256": hashlib.sha256(b"wheel").hexdigest()}
    sent = {"pyodide.mjs": "", "pyodide.d.ts": "", "pyodide-lock.json": json.dumps({"packages": {"numpy": numpy}})}

    def npm(command: list[str], **_: object) -> None:
        with tarfile.open(Path(command[-1]) / "pyodide.tgz", "w:gz") as archive:
            for name, text in sent.items():
                member = tarfile.TarInfo(f"package/{name}")
                member.size = len(text)
                archive.addfile(member, io.BytesIO(text.encode()))

    monkeypatch.delenv("MATRICS_PYODIDE", raising=False)
    monkeypatch.setattr(page.shutil, "which", lambda name: name)
    monkeypatch.setattr(page.subprocess, "run", npm)
    monkeypatch.setattr(page.urllib.request, "urlopen", lambda *_, **__: io.BytesIO(b"wheel" if is_whole else b"whe"))
    built = app(tmp_path)
    page.write_python(built)
    names = {one.name for one in tmp_path.rglob("*") if one.is_file()}
    wanted = {"pyodide.mjs", "pyodide-lock.json", "numpy-2.9-cp3-x_wasm32.whl", "matrics.zip"}
    assert names == (wanted if is_whole else set())
    assert bool(built.config.try_python) is is_whole


def test_the_form_and_the_examples_agree(page: ModuleType) -> None:
    """A button has the matrix of the example below whose place it names."""
    titles = re.findall(r"^### (.*)$", page.examples(), re.MULTILINE)
    assert [title.lower().replace(" ", "-") for title in titles] == re.findall(r'data-section="(.*?)"', page.form())
    for rows, example in zip(re.findall(r'data-rows="(.*?)"', page.form(), re.DOTALL), page.EXAMPLES, strict=True):
        assert page.try_matrix.counts(rows)[0] == example[3]


# The gallery ----------------------------------------------------------------------------------------------------------


def test_pages_of_the_gallery_open_with_the_picture(module: Callable[[str], ModuleType]) -> None:
    pytest.importorskip("sphinx_gallery")
    nodes = pytest.importorskip("docutils.nodes")
    gallery = module("gallery_pictures")
    code = [nodes.literal_block(text=f"code {k}") for k in range(3)]
    pictures = [gallery.imgsgnode(uri=f"{k}") for k in range(3)]
    parts = [nodes.section("", nodes.title(text=f"part {k}")) for k in range(2)]
    parts[0] += [code[0], pictures[0]]
    parts[1] += [code[1], pictures[1], nodes.paragraph(text="then"), code[2], pictures[2]]
    page = nodes.section("", nodes.title(text="page"), nodes.paragraph(text="what it shows"), *parts)
    tree = importlib.import_module("docutils.utils").new_document("page")
    tree += page
    for name, moved in (("auto/tutorials/plot_first", False), ("auto/gallery/plot_first", True)):
        gallery.pictures_first(SimpleNamespace(env=SimpleNamespace(docname=name)), tree)
        assert (page.children[1] is pictures[0]) is moved
    assert parts[0].children[1:] == [code[0]]
    assert [parts[1].children[k] for k in (1, 2, 4, 5)] == [pictures[1], code[1], pictures[2], code[2]]
