"""`ringfence run --open`: the page of a study while it runs, read-only, opened in a browser."""

import json
import sys
from pathlib import Path

from tests.e2e.command_line import process

STUDY = """
name = "shown & run"
objective = "maximize mean(score)"
constraints = ["mean(ms) <= 200"]
budget = 40
arms = ["a", "b"]
seed = 3

[pull]
python = "slowly:evaluate"
"""
SLOWLY = """
import time

def evaluate(arm, seed):
    time.sleep(0.05)
    return {"score": seed % 7 + 10 * (arm == "b"), "ms": 100 + seed % 50}
"""
BROWSER = """
import json, sys, urllib.error, urllib.request
from pathlib import Path

address = sys.argv[1]
with urllib.request.urlopen(address) as answer:
    page = answer.read().decode()
write = urllib.request.Request(
    address.split("/studies/")[0] + "/api/studies", b"{}", {"Content-Type": "application/json"}
)
try:
    status = urllib.request.urlopen(write).status
except urllib.error.HTTPError as error:
    status = error.code
Path("seen.json").write_text(json.dumps({"address": address, "page": page, "write": status}))
"""


def test_a_run_shows_its_page_and_takes_it_away(tmp_path: Path) -> None:
    (tmp_path / "study.toml").write_text(STUDY.replace("&", "and"))
    (tmp_path / "slowly.py").write_text(SLOWLY)
    (tmp_path / "browser.py").write_text(BROWSER)
    command = (
        sys.executable, "-c", "from ringfence.interfaces.cli.app import main; main()",
        "run", "study.toml", "--open", "--json",
    )  # fmt: skip
    browser = {"BROWSER": f"{sys.executable} {tmp_path / 'browser.py'} %s"}
    done = process(*command, environment=browser, folder=tmp_path)
    assert done.code == 0, done.err
    assert json.loads(done.out)["pulls_used"] == 40
    seen = json.loads((tmp_path / "seen.json").read_text())
    assert seen["address"] in done.err
    assert seen["address"].startswith("http://127.0.0.1:")
    assert seen["address"].endswith("/studies/shown%20and%20run")
    assert "<h1>shown and run</h1>" in seen["page"]
    assert "in flight" in seen["page"]
    assert seen["write"] == 403
