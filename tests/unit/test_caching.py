"""Caches that others may have written to are not used: who reads a kernel's pickle runs it."""

import os
import pickle
import stat
import sys
import textwrap
import warnings
from collections.abc import Callable
from pathlib import Path

import pytest

from ringfence.interfaces.cli import app
from ringfence.simulation.caching import CacheWarning, cache_folder
from tests.e2e.command_line import Outcome, process, ringfence

NOBODY = 65534
COMPILE = """
from ringfence.core import gaps
from ringfence.simulation import compilation
def kernel(x, y):
    return gaps.separation(x, y) if False else x + y
made = compilation.compile_kernel(kernel)
assert made(1.0, 2.0) == 3.0
print(sum(made.stats.cache_hits.values()), made.stats.cache_path is not None)
"""


@pytest.fixture
def home(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> Path:
    monkeypatch.setenv("RINGFENCE_CACHE_DIR", str(tmp_path / "cache"))
    return tmp_path / "cache"


def mode_of(path: Path) -> int:
    return stat.S_IMODE(path.lstat().st_mode)


def compiled(home: Path, umask: int = 0o022) -> Outcome:
    """Compile a small kernel in a process of its own, with the cache there."""
    home.parent.joinpath("tried.py").write_text(textwrap.dedent(COMPILE), "utf-8")
    script = f"import os; os.umask({umask}); import tried"
    variables = {"RINGFENCE_CACHE_DIR": str(home)}
    done = process(sys.executable, "-c", script, environment=variables, folder=home.parent)
    assert done.code == 0, done.err
    return done


def refused(folder: str = "kernels") -> str:
    with pytest.warns(CacheWarning) as caught:
        assert cache_folder(folder) is None
    assert len(caught) == 1
    return str(caught[0].message)


def test_a_new_cache_is_private(home: Path) -> None:
    folder = cache_folder("kernels")
    assert folder == home / "kernels"
    assert mode_of(home) == mode_of(folder) == 0o700
    assert cache_folder("kernels") == folder


def test_a_folder_that_others_could_read_is_made_private(home: Path) -> None:
    (home / "kernels").mkdir(parents=True)
    home.chmod(0o755)
    (home / "kernels").chmod(0o755)
    assert cache_folder("kernels") is not None
    assert mode_of(home / "kernels") == 0o700
    assert mode_of(home) == 0o755  # the user's own folder, perhaps with more in it


def _file(home: Path) -> Path:
    path = home / "kernels" / "inner" / "kernel.nbc"
    path.parent.mkdir(exist_ok=True)
    path.write_bytes(pickle.dumps("kernel"))
    return path


def _link(home: Path) -> Path:
    path = home / "kernels" / "kernel.nbi"
    path.symlink_to(home.parent / "elsewhere")
    return path


TAMPERED: dict[str, Callable[[Path], Path]] = {
    "the cache": lambda home: home,
    "the folder": lambda home: home / "kernels",
    "a folder in it": lambda home: _file(home).parent,
    "a file in it": _file,
}


def test_a_cache_of_another_user_is_not_used(home: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Only root can give files away: where we are not, all of them are seen as another user."""
    is_root = os.geteuid() == 0
    for what in TAMPERED if is_root else ("the cache",):
        assert cache_folder("kernels") is not None
        path = TAMPERED[what](home)
        assert cache_folder("kernels") is not None
        if is_root:
            os.chown(path, NOBODY, NOBODY)
        else:
            monkeypatch.setattr(os, "geteuid", lambda: NOBODY)
        said = refused()
        assert str(path) in said
        assert "belongs to another user" in said
        assert "RINGFENCE_CACHE_DIR" in said
        if is_root:
            os.chown(path, 0, 0)


@pytest.mark.parametrize("mode", [0o720, 0o702, 0o777])
@pytest.mark.parametrize("what", TAMPERED)
def test_what_others_can_write_to_is_not_used(home: Path, what: str, mode: int) -> None:
    assert cache_folder("kernels") is not None
    path = TAMPERED[what](home)
    path.chmod(mode)
    said = refused()
    assert str(path) in said
    assert "can be written to by others" in said
    assert mode_of(path) == mode, "nothing is made to look sound that may not be"


def test_a_link_in_it_is_not_followed(home: Path) -> None:
    assert cache_folder("kernels") is not None
    path = _link(home)
    assert f"{str(path)!r} is neither a file nor a folder" in refused()


def test_a_link_in_place_of_the_folder_is_not_followed(home: Path) -> None:
    home.mkdir(0o700)
    (home.parent / "elsewhere").mkdir(0o700)
    (home / "kernels").symlink_to(home.parent / "elsewhere")
    assert "neither a file nor a folder" in refused()


def test_a_cache_in_a_folder_of_everybodys_is_not_used(home: Path) -> None:
    """Everybody could put another folder in its place, unless only owners may rename."""
    home.parent.chmod(0o777)
    assert f"{str(home.parent)!r} can be written to by everybody" in refused()
    home.parent.chmod(0o1777)
    assert cache_folder("kernels") is not None


@pytest.mark.parametrize("umask", [0o022, 0o000])
def test_kernels_are_kept_privately_whatever_the_umask(tmp_path: Path, umask: int) -> None:
    home = tmp_path / "cache"
    assert compiled(home, umask).out.split() == ["0", "True"]
    found = [home, *home.rglob("*")]
    assert len(found) > 4
    for path in found:
        assert mode_of(path) == (0o700 if path.is_dir() else 0o600), path
    again = compiled(home, umask)
    assert again.out.split() == ["1", "True"]
    assert again.err == ""


def test_a_planted_kernel_is_not_run(tmp_path: Path) -> None:
    """Its pickle would make a file; the kernel is compiled afresh, and the reason is said."""
    home, proof = tmp_path / "cache", tmp_path / "proof"

    class Planted:
        def __reduce__(self) -> tuple[object, ...]:
            return os.mkdir, (str(proof),)

    compiled(home)
    files = [path for path in home.rglob("*") if path.is_file()]
    for path in files:  # as its owner could: that it would run is what the next lines rest on
        path.write_bytes(pickle.dumps(Planted()) + pickle.dumps(Planted()))
    ran = process(
        sys.executable, "-c", "import tried", environment={"RINGFENCE_CACHE_DIR": str(home)},
        folder=tmp_path,
    )  # fmt: skip
    assert proof.is_dir(), ran
    proof.rmdir()
    for path in files:
        path.write_bytes(pickle.dumps(Planted()) + pickle.dumps(Planted()))
        path.chmod(0o666)
    done = compiled(home)
    assert not proof.exists()
    assert done.out.split() == ["0", "False"]
    assert "compiled code is not kept" in done.err


def test_a_command_says_why_in_one_line(home: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    def command() -> None:
        warnings.simplefilter("always")
        assert cache_folder("kernels") is None

    home.mkdir()
    home.chmod(0o777)
    monkeypatch.setattr(app, "app", command)
    done = ringfence()
    assert (done.code, done.out) == (0, "")
    (line,) = done.err.splitlines()
    assert line.startswith("note: compiled code is not kept: ")


def test_a_cache_that_can_be_trusted_is_used_in_silence(home: Path) -> None:
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        assert cache_folder("kernels") == home / "kernels"
