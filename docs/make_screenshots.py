"""Takes the pictures of the page that the README shows, with the Chromium that is installed.

Run by `make screenshots`: a study on real data is run in part, and its page is looked at.
"""

import shutil
import sys
import tempfile
from pathlib import Path
from typing import Literal

from playwright.sync_api import sync_playwright

from ringfence.interfaces.study_file import read_study_file
from ringfence.interfaces.web.door import Door
from ringfence.interfaces.web.server import served

ROOT = Path(__file__).parent.parent
IMAGES = ROOT / "docs" / "images"
PULLS = 1300
HEIGHT = 1010
PICTURES: tuple[tuple[str, Literal["light", "dark"], int], ...] = (
    ("page", "light", 1240),
    ("page-dark", "dark", 1240),
    ("page-phone", "light", 400),
)


def main() -> None:
    """Take the pictures."""
    command = shutil.which("chromium")
    if command is None:
        sys.exit("Chromium is not installed: the pictures cannot be taken.")
    with tempfile.TemporaryDirectory() as folder:
        storage = f"sqlite:///{folder}/incentives.db"
        file = read_study_file(ROOT / "examples" / "incentives.toml")
        study = file.open(storage=storage)
        study.optimize(file.evaluation(), workers=4, most=PULLS)
        with served(storage, Door.of(read_only=True)) as address, sync_playwright() as playwright:
            chromium = playwright.chromium.launch(executable_path=command, args=["--no-sandbox"])
            for name, theme, width in PICTURES:
                context = chromium.new_context(
                    viewport={"width": width, "height": HEIGHT}, color_scheme=theme
                )
                tab = context.new_page()
                tab.goto(f"{address}studies/{study.name}")
                tab.wait_for_selector(".canvas.map svg")
                tab.wait_for_timeout(500)
                tab.screenshot(path=IMAGES / f"{name}.png")
                context.close()
            chromium.close()


if __name__ == "__main__":
    main()
