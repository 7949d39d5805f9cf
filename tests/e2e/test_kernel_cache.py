"""Compiled kernels are kept on disk, and an edited rule in any file takes effect."""

import shutil
import sys
from pathlib import Path
from typing import Any

import pytest

import ringfence
from tests.choosing import few_of
from tests.e2e.command_line import process, timeless

# Run from a copy of the sources, so that rules can be edited.
COMMAND = "from ringfence.interfaces.cli.app import main; main()"
SIMULATE = ("simulate", "paper-2", "--budget", "1000", "--replications", "20000", "--json")

# Reading note R2: the rule that the paper's prose describes, without the cap on the gap.
EDIT = """

def gap(lead, arm_margin, best_margin):
    return separation(lead, arm_margin, best_margin)
"""


# Every proportion is the same.
ADAPTIVE_EDIT = """

def standardised(gap, variance):
    return 1.0
"""
KINDS = {
    "phases": ((), "core/gaps.py", EDIT),
    "adaptive": (
        ("--policy", "ocba-co", "--replications", "2000", "--batch", "10"),
        "policies/ocba_co.py",
        ADAPTIVE_EDIT,
    ),
}


class Copy:
    """A copy of the sources, run in processes of its own."""

    def __init__(self, folder: Path) -> None:
        self.sources = folder / "sources"
        home = Path(str(ringfence.__file__)).parent
        ignored = shutil.ignore_patterns("__pycache__")
        shutil.copytree(home, self.sources / "ringfence", ignore=ignored)

    def simulate(self, cache: Path, *more: str) -> Any:
        """Return the document of a simulation with kernels kept in `cache`."""
        variables = {
            "PYTHONPATH": str(self.sources),
            "PYTHONDONTWRITEBYTECODE": "1",
            "RINGFENCE_CACHE_DIR": str(cache),
        }
        done = process(sys.executable, "-c", COMMAND, *SIMULATE, *more, environment=variables)
        assert done.code == 0, done.err
        return timeless(done.document)

    def append(self, file: str, text: str) -> None:
        """Add a definition, which replaces an earlier one of the same name."""
        path = self.sources / "ringfence" / file
        path.write_text(path.read_text(encoding="utf-8") + text, encoding="utf-8")


def kept(cache: Path) -> dict[Path, tuple[int, bytes]]:
    """Return every file of a cache with its time and content."""
    files = (path for path in cache.rglob("*") if path.is_file())
    return {path: (path.stat().st_mtime_ns, path.read_bytes()) for path in files}


@pytest.fixture
def copied(tmp_path: Path) -> Copy:
    return Copy(tmp_path)


# Adaptive rules compile for long, and are cached by the same code.
@pytest.mark.parametrize("kind", few_of(list(KINDS), "phases"))
def test_kernels_are_kept_and_edited_rules_take_effect(
    kind: str, copied: Copy, tmp_path: Path
) -> None:
    more, file, edit = KINDS[kind]
    cache = tmp_path / "cache"
    first = copied.simulate(cache, *more)
    compiled = kept(cache)
    assert [path.suffix for path in compiled].count(".nbc") >= 1
    assert [path.suffix for path in compiled].count(".nbi") >= 1

    assert copied.simulate(cache, *more) == first
    assert kept(cache) == compiled  # nothing was compiled again

    copied.append(file, edit)
    edited = copied.simulate(cache, *more)
    assert edited["errors"] != first["errors"]
    assert edited == copied.simulate(tmp_path / "fresh", *more)
    assert kept(cache).items() >= compiled.items()  # the old kernels are still there, unchanged


def test_a_folder_that_cannot_be_made_does_no_harm(copied: Copy, tmp_path: Path) -> None:
    (tmp_path / "file").touch()
    nowhere = copied.simulate(tmp_path / "file" / "cache")
    assert nowhere["replications"] == 20_000
    # The published rate is 0.4897; six standard errors of 20,000 replications are 0.021.
    assert nowhere["error_rate"] == pytest.approx(0.4897, abs=0.022)
    assert (tmp_path / "file").is_file()
