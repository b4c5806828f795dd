"""A page of HTML as a PDF, by a browser without a window, or by WeasyPrint."""

from __future__ import annotations

import importlib
import os
import shutil
import subprocess
import tempfile
from pathlib import Path

__all__ = ["pdf_of"]

BROWSERS = ("chromium", "chromium-browser", "google-chrome", "google-chrome-stable", "chrome", "msedge")
SECONDS = 120


def pdf_of(page: str) -> bytes:
    """The bytes of a PDF of this page.

    Raises
    ------
    ImportError
        Neither a browser nor WeasyPrint is there.
    OSError
        The browser did not write the file.
    """
    browser = next((found for name in BROWSERS if (found := shutil.which(name))), None)
    if browser is not None:
        return _by_browser(browser, page)
    try:
        weasyprint = importlib.import_module("weasyprint")
    except (ImportError, OSError) as error:  # OSError: libraries that it loads are missing
        raise ImportError(
            f"a PDF needs a browser ({', '.join(BROWSERS[:3])}, …) on the path, or WeasyPrint: "
            "python -m pip install weasyprint"
        ) from error
    made: bytes = weasyprint.HTML(string=page).write_pdf()
    return made


def _by_browser(browser: str, page: str) -> bytes:
    with tempfile.TemporaryDirectory() as folder:
        source, target = Path(folder, "report.html"), Path(folder, "report.pdf")
        source.write_text(page, "utf-8")
        command = [
            browser, "--headless", "--disable-gpu", "--no-pdf-header-footer", f"--user-data-dir={folder}/profile",
            f"--print-to-pdf={target}",
        ]  # fmt: skip
        if hasattr(os, "geteuid") and os.geteuid() == 0:
            command.append("--no-sandbox")  # which a browser of the root user refuses; the page is our own
        told = subprocess.run([*command, source.as_uri()], capture_output=True, timeout=SECONDS, check=False)  # noqa: S603
        if not target.exists():
            last = told.stderr.decode(errors="replace").strip().splitlines()[-1:]
            raise OSError(f"{Path(browser).name} wrote no PDF: {' '.join(last) or f'exit status {told.returncode}'}")
        return target.read_bytes()
