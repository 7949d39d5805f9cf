"""Writes a page of the site from each notebook in examples: executed, and with its output.

Notebooks are kept without output, so that what a page shows is what this version does. An error in
a cell ends the build. Charts become SVG files beside the page.
"""

import hashlib
from pathlib import Path
from typing import Any

import nbformat
from nbclient import NotebookClient

ROOT = Path(__file__).parents[1]
NOTEBOOKS = ROOT / "examples" / "notebooks"
# Charts are drawn here and not by a script from the network.
SETUP = "import altair\n\n_ = altair.renderers.enable('svg')"
ELSEWHERE = {"](../../docs/": "](../"}  # links that are right where the notebook is


def write_notebook_pages(folder: Path) -> None:
    """Write all pages, where the notebook or the package have changed since."""
    folder.mkdir(exist_ok=True)
    for path in sorted(NOTEBOOKS.glob("*.ipynb")):
        page, mark = folder / f"{path.stem}.md", f"% {_fingerprint(path)}\n"
        if page.exists() and page.read_text("utf-8").startswith(mark):
            continue
        notebook = nbformat.read(path, as_version=4)
        execute(notebook, path.parent)
        text, pictures = page_of(notebook, path.stem)
        for name, picture in pictures.items():
            (folder / name).write_text(picture, encoding="utf-8")
        page.write_text(mark + text, encoding="utf-8")


def execute(notebook: Any, folder: Path) -> None:
    """Run all cells in a folder, and keep what they show."""
    notebook.cells.insert(0, nbformat.v4.new_code_cell(SETUP))
    NotebookClient(notebook, timeout=600, resources={"metadata": {"path": str(folder)}}).execute()
    del notebook.cells[0]


def page_of(notebook: Any, name: str) -> tuple[str, dict[str, str]]:
    """Return the page of an executed notebook, and its pictures by the names of their files."""
    parts: list[str] = []
    pictures: dict[str, str] = {}
    for cell in notebook.cells:
        if cell.cell_type == "markdown":
            parts.append(_relinked(cell.source))
            continue
        parts.append(f"```python\n{cell.source}\n```")
        for output in cell.outputs:
            data = output.get("data", {"text/plain": output.get("text", "")})
            if "image/svg+xml" in data:
                file = f"{name}-{len(pictures) + 1}.svg"
                pictures[file] = data["image/svg+xml"]
                parts.append(f"![The chart that the cell above shows]({file})")
            elif "text/html" in data:
                html = f'<div style="overflow-x: auto">{data["text/html"]}</div>'
                parts.append(f"````{{raw}} html\n{html}\n````")
            else:
                parts.append(f"```text\n{data['text/plain'].rstrip()}\n```")
    where = f"[`examples/notebooks/{name}.ipynb`](../../examples/notebooks/{name}.ipynb)"
    return "\n\n".join([*parts, f"The notebook: {where}.", ""]), pictures


def _relinked(text: str) -> str:
    for here, there in ELSEWHERE.items():
        text = text.replace(here, there)
    return text


def _fingerprint(path: Path) -> str:
    sources = sorted((ROOT / "src" / "ringfence").rglob("*.py"))
    digest = hashlib.sha256()
    for source in (path, Path(__file__), *sources):
        digest.update(source.read_bytes())
    return digest.hexdigest()
