"""What pages load: our own files, and the chart library, built once and kept whole."""

import gzip
import os
import stat
import threading
from importlib import metadata
from pathlib import Path

import pytest

from ringfence.core.errors import MissingExtraError
from ringfence.interfaces.web import assets

SCRIPT = "window.vegaEmbed = 1; // " + "x" * 1000


class Builder:
    """Stands in for the installed library, and counts."""

    def __init__(self) -> None:
        self.times = 0

    def __call__(self) -> bytes:
        self.times += 1
        return SCRIPT.encode()


@pytest.fixture
def builder(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> Builder:
    made = Builder()
    monkeypatch.setattr(assets, "_build", made)
    monkeypatch.setenv("RINGFENCE_CACHE_DIR", str(tmp_path / "cache"))
    return made


def anew() -> assets.Asset:
    """Ask for the library as another process would."""
    assets._chart_library.cache_clear()
    try:
        return assets.chart_library()
    finally:
        assets._chart_library.cache_clear()


def kept(folder: Path) -> Path:
    (file,) = (folder / "cache" / "web").iterdir()
    return file


def test_the_library_is_built_once_and_kept(builder: Builder, tmp_path: Path) -> None:
    first = anew()
    assert first.content == SCRIPT.encode()
    assert first.compressed is not None
    assert gzip.decompress(first.compressed) == first.content
    assert first.media_type == "text/javascript; charset=utf-8"
    assert first.etag == f'W/"{first.digest}"'
    assert anew() == first
    assert builder.times == 1
    assert stat.S_IMODE(kept(tmp_path).stat().st_mode) & 0o077 == 0


@pytest.mark.parametrize(
    "damage",
    [
        lambda content: b"",
        lambda content: content[:-1],
        lambda content: content[:100] + bytes([content[100] ^ 1]) + content[101:],
        lambda content: content.partition(b"\n")[0] + b"\n" + gzip.compress(b"alert(1)"),
        lambda content: b"\xff" * len(content),
    ],
    ids=["empty", "cut short", "one bit", "another script", "noise"],
)
def test_a_damaged_copy_is_built_again(damage: object, builder: Builder, tmp_path: Path) -> None:
    assert callable(damage)
    whole = anew()
    file = kept(tmp_path)
    content = file.read_bytes()
    file.write_bytes(damage(content))
    assert anew() == whole
    assert builder.times == 2
    assert file.read_bytes() == content
    assert anew() == whole
    assert builder.times == 2


@pytest.mark.skipif(not hasattr(os, "getuid"), reason="files have no owner here")
def test_a_copy_of_another_user_is_not_believed(
    builder: Builder, monkeypatch: pytest.MonkeyPatch
) -> None:
    anew()
    monkeypatch.setattr(os, "getuid", lambda: 12_345)
    anew()
    assert builder.times == 2


def test_another_version_is_built_for_itself(
    builder: Builder, monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    before = assets.address(assets.CHART_LIBRARY)
    anew()
    monkeypatch.setattr(metadata, "version", lambda name: "999")
    assets._library_key.cache_clear()
    try:
        assert assets.address(assets.CHART_LIBRARY) != before
        anew()
    finally:
        assets._library_key.cache_clear()
    assert builder.times == 2
    assert len(list((tmp_path / "cache" / "web").iterdir())) == 2


def test_a_folder_that_cannot_be_used_does_no_harm(
    builder: Builder, monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    (tmp_path / "file").touch()
    monkeypatch.setenv("RINGFENCE_CACHE_DIR", str(tmp_path / "file"))
    assert anew().content == SCRIPT.encode()
    assert anew().content == SCRIPT.encode()
    assert builder.times == 2


def test_a_full_disk_leaves_nothing_behind(
    builder: Builder, monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    def full(*_: object) -> None:
        raise OSError(28, "No space left on device")

    monkeypatch.setattr(Path, "replace", full)
    assert anew().content == SCRIPT.encode()
    assert list((tmp_path / "cache" / "web").iterdir()) == []


def test_threads_that_ask_at_once_build_once(builder: Builder) -> None:
    assets._chart_library.cache_clear()
    threads = [threading.Thread(target=assets.chart_library) for _ in range(8)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assets._chart_library.cache_clear()
    assert builder.times == 1


def test_a_missing_library_names_the_extra(monkeypatch: pytest.MonkeyPatch) -> None:
    def missing(name: str) -> str:
        raise metadata.PackageNotFoundError(name)

    monkeypatch.setattr(metadata, "version", missing)
    assets._library_key.cache_clear()
    with pytest.raises(MissingExtraError, match=r"ringfence\[web\]"):
        assets.address(assets.CHART_LIBRARY)


@pytest.mark.parametrize("name", ["charts.js", "interpreter.js"])
def test_our_files_are_found_under_one_digest(name: str) -> None:
    file = assets.static_file(name)
    assert file is not None
    assert file == assets.asset(name)
    assert file.media_type == "text/javascript; charset=utf-8"
    assert file.compressed is not None
    assert gzip.decompress(file.compressed) == file.content
    assert assets.address(name) == assets.address("charts.js").replace("charts.js", name)


@pytest.mark.parametrize(
    "name",
    ["", ".", "..", "../assets.py", "../static/charts.js", "/etc/passwd", "charts.js\0", "x"],
)
def test_other_names_are_not_found(name: str) -> None:
    assert assets.static_file(name) is None
    with pytest.raises(LookupError):
        assets.address(name)
