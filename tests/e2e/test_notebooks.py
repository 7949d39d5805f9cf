"""The notebooks keep their word: they are executed, and kept without output."""

import importlib.util
from pathlib import Path
from typing import Any

import nbformat
import pytest
from nbclient import NotebookClient
from nbclient.exceptions import CellExecutionError

from tests.choosing import few_of
from tests.e2e.command_line import ROOT

FOLDER = ROOT / "examples" / "notebooks"
NOTEBOOKS = sorted(FOLDER.glob("*.ipynb"))
# What a reader is told in the text, and so has to see: in any output of the notebook.
SHOWN = {
    "first-study": ["warm is the best feasible arm", "400 ms: effusive, feasible"],
    "incentives": ["right by the table: (1,1.5] dollars", "top-two is right 95% of the time with"],
    "models": ["is the best feasible arm", "deceiver", "On these 300 items"],
}
CHARTS = {"first-study": 2, "incentives": 2, "models": 2}
# The kernel itself is not asked to be without warnings; charts are drawn here, not by a browser.
SETUP = """
import warnings

import altair

altair.renderers.enable("svg")
warnings.simplefilter("error")
warnings.filterwarnings("ignore", module="ipykernel|jupyter_client|zmq|tornado")
"""


def read(path: Path) -> Any:
    return nbformat.read(path, as_version=4)


def executed(notebook: Any, folder: Path) -> Any:
    notebook.cells.insert(0, nbformat.v4.new_code_cell(SETUP))
    NotebookClient(notebook, timeout=300, resources={"metadata": {"path": str(folder)}}).execute()
    del notebook.cells[0]
    return notebook


def outputs(notebook: Any) -> list[Any]:
    return [one for cell in notebook.cells if cell.cell_type == "code" for one in cell.outputs]


def pages() -> Any:
    spec = importlib.util.spec_from_file_location("pages", ROOT / "docs/notebook_pages.py")
    assert spec is not None
    assert spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


# `make docs` executes all of them.
@pytest.mark.parametrize(
    "path",
    few_of(NOTEBOOKS, *(path for path in NOTEBOOKS if path.stem != "incentives")),
    ids=lambda path: path.stem,
)
def test_a_notebook_is_executed_without_an_error_or_a_warning(path: Path, tmp_path: Path) -> None:
    for file in (ROOT / "examples").glob("*.py"):
        (tmp_path / file.name).symlink_to(file)
    folder = tmp_path / "notebooks"
    folder.mkdir()
    notebook = executed(read(path), folder)
    assert list(folder.iterdir()) == []
    found = outputs(notebook)
    assert not [one for one in found if one.get("name") == "stderr"]
    assert sum("image/svg+xml" in one.get("data", {}) for one in found) == CHARTS[path.stem]
    text = "\n".join(
        one.get("text", "") + one.get("data", {}).get("text/html", "") for one in found
    )
    for words in SHOWN[path.stem]:
        assert words in text, words

    page, pictures = pages().page_of(notebook, path.stem)
    assert page.startswith("# ")
    assert len(pictures) == CHARTS[path.stem]
    assert all(f"]({name})" in page and "<svg" in one for name, one in pictures.items())
    assert "../../docs" not in page


@pytest.mark.parametrize("path", NOTEBOOKS, ids=lambda path: path.stem)
def test_a_notebook_is_kept_without_output(path: Path) -> None:
    """And without what else an editor leaves: a change of a notebook is a change of its text."""
    notebook = read(path)
    nbformat.validate(notebook)
    assert outputs(notebook) == []
    for cell in notebook.cells:
        assert cell.metadata == {}
        assert cell.get("execution_count") is None
    assert notebook.metadata["language_info"] == {"name": "python"}
    assert notebook.metadata["kernelspec"]["name"] == "python3"
    assert notebook.cells[0].source.startswith("# ")


def test_the_site_lists_every_notebook() -> None:
    listed = (ROOT / "docs/notebooks.md").read_text("utf-8")
    assert [path.stem for path in NOTEBOOKS] == sorted(SHOWN)
    assert all(f"notebooks/{path.stem}\n" in listed for path in NOTEBOOKS)


def test_a_warning_in_a_cell_is_an_error(tmp_path: Path) -> None:
    cell = nbformat.v4.new_code_cell("import warnings\n\nwarnings.warn('look')")
    with pytest.raises(CellExecutionError, match="UserWarning"):
        executed(nbformat.v4.new_notebook(cells=[cell]), tmp_path)
