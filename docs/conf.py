"""How `make docs` builds the site: Sphinx, MyST and the pydata theme. Every warning is an error."""

import sys
from importlib.metadata import version as installed
from pathlib import Path
from typing import Any

sys.path.insert(0, str(Path(__file__).parent))

from case_pages import run_case
from command_pages import write_command_page
from notebook_pages import write_notebook_pages
from sphinx.application import Sphinx

project = "ringfence"
author = "the ringfence authors"
project_copyright = "the ringfence authors"
release = version = installed("ringfence")

extensions = [
    "myst_parser",
    "sphinx.ext.autodoc",
    "sphinx.ext.autosummary",
    "sphinx.ext.viewcode",
    "sphinx_copybutton",
    "sphinx_design",
]
source_suffix = {".md": "markdown", ".rst": "restructuredtext"}
exclude_patterns = ["_build"]
# Some links lead out of this folder, to files that are not pages; a test follows every link.
suppress_warnings = ["myst.xref_missing"]

myst_enable_extensions = ["dollarmath", "colon_fence", "deflist"]
myst_heading_anchors = 3

# Docstrings are plain English with `names` in backticks.
default_role = "code"
autodoc_typehints = "description"
autodoc_typehints_description_target = "documented"
autodoc_member_order = "bysource"
autodoc_default_options = {"members": True, "show-inheritance": False}
autosummary_generate = False

html_theme = "pydata_sphinx_theme"
html_title = "ringfence"
html_sidebars = {"index": [], "tutorial": []}
html_logo = "../src/ringfence/interfaces/web/static/icon.svg"
html_favicon = "../src/ringfence/interfaces/web/static/icon.svg"
html_show_sourcelink = False
html_theme_options = {
    "show_toc_level": 2,
    "navigation_with_keys": True,
    "secondary_sidebar_items": ["page-toc"],
    "footer_start": ["copyright"],
    "footer_end": [],
    "show_prev_next": True,
}
copybutton_prompt_text = r">>> |\.\.\. |\$ "
copybutton_prompt_is_regexp = True


def plain(*arguments: Any) -> None:
    """Read docstrings as the plain English that they are: bars and stars mean themselves.

    An example is shown to the letter: it begins with a prompt and ends with an empty line.
    """
    lines: list[str] = arguments[-1]
    within = False
    for place, line in enumerate(lines):
        within = bool(line.strip()) and (within or line.lstrip().startswith(">>> "))
        if not within:
            lines[place] = line.replace("|", r"\|").replace("*", r"\*")


def setup(app: Sphinx) -> None:
    """Write the page of all commands, and those of the notebooks, before anything is read."""
    app.connect("autodoc-process-docstring", plain)
    app.connect("source-read", run_case)
    write_command_page(Path(__file__).parent / "reference" / "commands.md")
    write_notebook_pages(Path(__file__).parent / "notebooks")
