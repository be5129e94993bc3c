"""Takes the picture of the example notebook: python tools/picture_notebook.py [FOLDER]

It needs Chromium (`make servers` installs it) and nbconvert (pip install nbconvert), whose page has
the style of JupyterLab. The notebook is run anew.
"""

from __future__ import annotations

import base64
import sys
import tempfile
from pathlib import Path

import nbformat
from nbclient import NotebookClient
from nbconvert import HTMLExporter

ROOT = Path(__file__).resolve().parent.parent
sys.path.insert(0, str(ROOT))

from tests.notebook.kernels import environment  # noqa: E402  after the path
from tests.web.browser import Browser  # noqa: E402

#: File, width and height, and the words of the cell at the top of the picture.
PICTURES = (
    ("notebook.png", 900, 640, "ws.references"),
    ("notebook-check.png", 900, 640, "file ="),
)


def main() -> None:
    """Write the pictures."""
    folder = Path(sys.argv[1]) if len(sys.argv) > 1 else ROOT / "docs"
    with tempfile.TemporaryDirectory() as base:
        page = Path(base) / "notebook.html"
        page.write_text(executed_page(Path(base)), encoding="utf-8")
        with Browser(Path(base) / "profile") as browser:
            for name, width, height, words in PICTURES:
                browser.resize(width, height)
                browser.open(page.as_uri())
                browser.wait_for("document.readyState === 'complete'")
                browser.value(
                    "[...document.querySelectorAll('.jp-CodeCell')].find(one => "
                    f"one.innerText.includes('{words}')).scrollIntoView()"
                )
                taken = browser.call("Page.captureScreenshot", format="png")
                (folder / name).write_bytes(base64.b64decode(taken["data"]))


def executed_page(home: Path) -> str:
    """The notebook with its outputs, as a page."""
    notebook = nbformat.read(ROOT / "examples" / "notebook.ipynb", 4)
    where = {"metadata": {"path": str(home)}}
    client = NotebookClient(notebook, timeout=90, kernel_name="python3", resources=where)
    client.execute(env=environment(home))
    exporter = HTMLExporter(template_name="lab")
    # Nothing from elsewhere.
    exporter.require_js_url = exporter.mathjax_url = exporter.mermaid_js_url = ""
    page: str = exporter.from_notebook_node(notebook)[0]
    return page


if __name__ == "__main__":
    main()
