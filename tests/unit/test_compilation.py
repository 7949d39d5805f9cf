"""The kernel cache is keyed by the code that was loaded, not by files that may have changed."""

import subprocess
import sys
from pathlib import Path
from types import ModuleType
from typing import Any

import numba
import pytest

from ringfence.core import gaps
from ringfence.policies import constrained_sr, infeasible_first
from ringfence.simulation import compilation
from ringfence.simulation.caching import cache_folder


def module(text: str) -> ModuleType:
    made = ModuleType("made")
    exec(text, made.__dict__)
    return made


BASE = """
LIMIT = 3
def helper(x):
    return x + LIMIT
def rule(x):
    return helper(x) * 2
"""


@pytest.mark.parametrize(
    ("old", "new"),
    [("x + LIMIT", "x - LIMIT"), ("* 2", "* 3"), ("LIMIT = 3", "LIMIT = 4")],
)
def test_an_edit_anywhere_below_a_rule_changes_its_fingerprint(old: str, new: str) -> None:
    assert compilation.fingerprint(module(BASE).rule) == compilation.fingerprint(module(BASE).rule)
    edited = module(BASE.replace(old, new))
    assert compilation.fingerprint(edited.rule) != compilation.fingerprint(module(BASE).rule)


def test_fingerprints_are_the_same_in_every_process() -> None:
    code = (
        "from ringfence.policies import constrained_sr\n"
        "from ringfence.simulation.compilation import fingerprint\n"
        "print(fingerprint(constrained_sr.reject))"
    )
    run = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert run.stdout.strip() == compilation.fingerprint(constrained_sr.reject)
    assert run.stdout.strip() != compilation.fingerprint(infeasible_first.reject)


def test_a_file_edited_after_its_import_does_not_name_the_loaded_code(tmp_path: Path) -> None:
    """An old process must not leave its kernels where a new process looks for the new rule's."""
    home = tmp_path / "edited_rule.py"
    home.write_text(BASE, encoding="utf-8")
    code = (
        "import edited_rule\n"
        "from ringfence.simulation.compilation import fingerprint\n"
        "before = fingerprint(edited_rule.rule)\n"
        f"open({str(home)!r}, 'a').write('# edited')\n"
        "print(before == fingerprint(edited_rule.rule))"
    )
    run = subprocess.run(
        [sys.executable, "-c", code], capture_output=True, text=True, check=True, cwd=tmp_path
    )
    assert run.stdout.strip() == "True"


def test_what_numba_knows_is_not_followed() -> None:
    made = module("import numpy as np\ndef rule(x):\n    return np.sum(x) + np.mean(x)\n")
    assert compilation.reachable(made.rule) == [made.rule]


def test_the_users_own_numba_cache_is_left_alone() -> None:
    before = numba.config.CACHE_DIR
    compilation.compile_kernel(lambda x: x)
    assert before == numba.config.CACHE_DIR


def test_a_folder_without_room_means_no_cache(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    """Numba would go on to the folder of the sources."""
    kernel: Any = compilation.compile_kernel(lambda x: x)
    assert kernel.stats.cache_path is not None  # whoever runs this has a folder
    (tmp_path / "file").touch()
    monkeypatch.setattr(compilation, "cache_folder", lambda _: tmp_path / "file" / "full")
    kernel = compilation.compile_kernel(lambda x: x)
    assert kernel.stats.cache_path is None
    assert kernel(3) == 3


def test_no_home_means_no_cache(monkeypatch: pytest.MonkeyPatch) -> None:
    def nowhere() -> Path:
        raise RuntimeError("no home directory")

    monkeypatch.delenv("RINGFENCE_CACHE_DIR", raising=False)
    monkeypatch.delenv("XDG_CACHE_HOME", raising=False)
    monkeypatch.setattr(Path, "home", nowhere)
    assert cache_folder("x") is None


def test_our_rules_are_inlined_without_machine_code_and_others_as_numba_does() -> None:
    """With a Numba that was tried; what comes out of it is run in tests/laws."""
    tried = numba.version_info.short <= (0, 68)
    compiler = compilation.compiler_of(gaps.leader)
    assert (compiler is not None) == tried
    assert compilation.compiler_of(module(BASE).rule) is None


def test_a_numba_that_was_not_tried_compiles_its_own_way() -> None:
    done = subprocess.run(
        [sys.executable, "-c", UNTRIED], capture_output=True, text=True, check=False
    )
    assert done.returncode == 0, done.stderr


UNTRIED = """
import numba
from ringfence.core import gaps
from ringfence.simulation import compilation
numba.version_info = numba.version_info._replace(short=(0, 99))
assert compilation.compiler_of(gaps.leader) is None
def kernel(x):
    return margin(x)
def margin(x):
    return x + 1.0
assert compilation.compile_kernel(kernel)(1.0) == 2.0
"""
