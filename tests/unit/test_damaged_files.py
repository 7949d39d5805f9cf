"""Files that are damaged, hostile or no files: an error with their name and what to do, code 2."""

import os
import random
import socket
import subprocess
import sys
import tomllib
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from ringfence.core.errors import InputError
from ringfence.core.strict import DEEPEST, read_json, read_toml
from ringfence.interfaces.study_file import read_study_file
from ringfence.simulation.instance import Instance
from ringfence.simulation.reading import MOST_BYTES
from ringfence.simulation.tables import read_columns
from tests.e2e.command_line import ringfence
from tests.e2e.test_study_commands import document, write_study

INSTANCE = """
objective = "maximize mean(score)"
constraints = ["mean(delay) <= 200"]
metrics = ["score", "delay"]
[noise]
family = "gaussian"
covariance = [[0.04, 0.0], [0.0, 900.0]]
[arms]
small = { mean = [0.70, 120.0] }
large = { mean = [0.81, 240.0] }
"""
DAMAGE: dict[str, bytes] = {
    "not UTF-8": b"name = '\xff\xfe'",
    "UTF-16": "name = 'x'".encode("utf-16"),
    "cut in a character": "name = 'é".encode()[:-1],
    "a NUL byte": b"name = 'a\x00b'",
    "NUL bytes": bytes(4096),
    "deep lists": b"x = " + b"[" * 50_000,
    "deep and closed lists": b"x = " + b"[" * 500 + b"]" * 500,
    "deep tables": b"x = " + b"{a = " * 50_000,
    "a long key": b"a" + b".a" * 20_000 + b" = 1",
    "a long key in quotes": b"a" + b'."a"' * 20_000 + b" = 1",
    "a long key in a table": b"x = {a" + b" . 'a'" * 20_000 + b" = 1}",
    "a long heading": b"[a" + b".a" * 20_000 + b"]",
    "a huge whole number": b"budget = " + b"9" * 5000,
    "a whole number without a float": b"budget = " + b"9" * 400,
    "a whole number beyond 64 bits": b"budget = 1" + b"0" * 20,
    "a picture": b"\x89PNG\r\n\x1a\n\x00\x00",
    "too much": b"# " + b"x" * MOST_BYTES,
}
READERS: dict[str, Callable[[Path], object]] = {
    "study": read_study_file,
    "instance": lambda path: Instance.load(path),
}


@pytest.mark.parametrize("case", DAMAGE)
@pytest.mark.parametrize("kind", READERS)
def test_a_damaged_file_is_named(tmp_path: Path, kind: str, case: str) -> None:
    path = tmp_path / "damaged.toml"
    path.write_bytes(DAMAGE[case])
    with pytest.raises(InputError) as caught:
        READERS[kind](path)
    assert str(path) in str(caught.value)
    assert len(str(caught.value)) < 1000


@pytest.mark.parametrize("command", ["run", "recommend", "plan", "serve", "status", "gaps"])
def test_commands_say_so_and_end_with_2(tmp_path: Path, command: str) -> None:
    path = tmp_path / "damaged.toml"
    for case in ("not UTF-8", "deep lists", "a huge whole number"):
        path.write_bytes(DAMAGE[case])
        options = ("--target-error", "0.1") if command == "plan" else ()
        done = ringfence(command, path, *options)
        assert (done.code, done.out) == (2, ""), done
        assert str(path) in done.err
        assert "Traceback" not in done.err


def _socket(path: Path) -> None:
    made = socket.socket(socket.AF_UNIX)
    made.bind(str(path))
    made.close()


@pytest.mark.parametrize("kind", READERS)
@pytest.mark.parametrize(
    ("make", "words"),
    [
        (os.mkfifo, "is a pipe"),
        (os.mkdir, "is a directory"),
        (lambda path: path.symlink_to("/dev/zero"), "is a device"),
        (_socket, "cannot be read"),
        (lambda path: path.symlink_to(path), "cannot be read"),
    ],
)
def test_what_is_no_ordinary_file_is_not_waited_for(
    tmp_path: Path, kind: str, make: Callable[[Path], object], words: str
) -> None:
    path = tmp_path / "odd.toml"
    make(path)
    with pytest.raises(InputError, match=words) as caught:
        READERS[kind](path)
    assert str(path) in str(caught.value)


@pytest.mark.parametrize("name", ["odd.csv", "odd.parquet"])
def test_tables_are_ordinary_files_too(tmp_path: Path, name: str) -> None:
    path = tmp_path / name
    for make in (os.mkfifo, os.mkdir, lambda path: path.symlink_to("/dev/zero")):
        make(path)
        with pytest.raises(InputError, match="is not a file"):
            read_columns(path, ["arm"])
        path.rmdir() if path.is_dir() else path.unlink()
    with pytest.raises(InputError, match="does not exist"):
        read_columns(tmp_path / "a\x00b.csv", ["arm"])


TABLES: dict[str, bytes] = {
    "not UTF-8": b"arm,x\n\xff\xfe,1\n",
    "UTF-16": "arm,x\na,1\n".encode("utf-16"),
    "cut in a character": "arm,x\né".encode()[:-1],
    "NUL bytes": bytes(64),
    "an endless cell": b'arm,x\n"' + b"a" * 300_000,
    "too many cells": b"arm,x\na,1,2\n",
}


@pytest.mark.parametrize("case", TABLES)
def test_a_damaged_table_is_refused(tmp_path: Path, case: str) -> None:
    for name in ("log.csv", "log.parquet", "log.feather"):
        path = tmp_path / name
        path.write_bytes(TABLES[case])
        with pytest.raises(InputError) as caught:
            read_columns(path, ["arm", "x"])
        assert len(str(caught.value)) < 1000


@pytest.mark.parametrize("name", ["log.parquet", "log.feather"])
def test_bytes_that_differ_are_refused_or_read(tmp_path: Path, name: str) -> None:
    """Arrow files are mapped as they are: one that is not checked has us read beyond its end."""
    import pyarrow as pa
    from pyarrow import feather, parquet

    path = tmp_path / name
    table = pa.table({"arm": [f"ab{one}" for one in range(100)], "x": [1.0, 2.0] * 50})
    if name == "log.feather":
        feather.write_feather(table, path, compression="uncompressed")
    else:
        parquet.write_table(table, path)
    whole = path.read_bytes()
    rng = random.Random(4)
    refused = 0
    for _ in range(300):
        content = bytearray(whole)
        for _ in range(rng.randrange(1, 8)):
            content[rng.randrange(len(content))] = rng.randrange(256)
        path.write_bytes(content[: rng.randrange(len(content))] if rng.random() < 0.2 else content)
        try:
            read_columns(path, ["arm", "x"])
        except InputError:
            refused += 1
    assert refused > 100


ODD: list[Any] = [
    "9" * 300, "-1", "0", "1e999", "-inf", "nan", '""', "[]", "{}", "[[]]", "true", '"\\u0000"',
    '"/dev/zero"', '"a\\nb"', f'"{"x" * 5000}"', "[[[[1]]]]", "{a.b.c = 1}", "1979-05-27",
    "9223372036854775807", "-9223372036854775808", "1e308", "5e-324", '["", ""]', '[1, "a"]',
]  # fmt: skip


def refusal(kind: str, path: Path) -> str | None:
    try:
        READERS[kind](path)
    except InputError as error:
        return str(error)
    return None


def test_whatever_a_key_is_set_to_there_is_an_answer_or_a_refusal(tmp_path: Path) -> None:
    """Each key of a sound file, set to each of these: no other error comes out."""
    study = write_study(tmp_path).read_text("utf-8")
    tried = refused = 0
    for kind, text in (("study", study), ("instance", INSTANCE)):
        path = tmp_path / "odd.toml"
        lines = text.splitlines()
        for place, line in enumerate(lines):
            key, equals, _ = line.partition("=")
            for value in ODD if equals else ():
                path.write_text("\n".join([*lines[:place], f"{key}= {value}", *lines[place + 1 :]]))
                tried += 1
                said = refusal(kind, path)
                refused += said is not None
                assert said is None or str(path) in said
    assert tried > 250
    assert refused > tried // 2


def test_sound_documents_are_as_deep_as_any_file_needs() -> None:
    assert read_toml("a" + ".a" * 9 + " = 1")
    assert read_toml("x = " + "[" * (DEEPEST - 1) + "]" * (DEEPEST - 1))
    numbers = ", ".join(f"{one}.5" for one in range(500))
    assert len(read_toml(f"x = [\n{numbers}\n]")["x"]) == 500
    assert read_toml("x = 9223372036854775807") == {"x": 2**63 - 1}
    assert read_json("[" * DEEPEST + "]" * DEEPEST)
    assert len(read_json("[" + "[1], " * 500 + "[1]]")) == 501
    for text in ("[" * (DEEPEST + 1) + "]" * (DEEPEST + 1), '{"a": ' * 70 + "1" + "}" * 70):
        for given in (text, text.encode()):
            with pytest.raises(ValueError, match="nested too deeply"):
                read_json(given)
    with pytest.raises(tomllib.TOMLDecodeError):
        read_toml("x")


@pytest.mark.parametrize("part", ["a", '"\\""', '"a\\\\"', "'\\'", "'\"' ", '"\\u0041" \t'])
def test_no_spelling_of_a_long_key_is_parsed(part: str, monkeypatch: pytest.MonkeyPatch) -> None:
    """The parser takes the square of its length in time."""
    with monkeypatch.context() as patched:
        patched.setattr(tomllib, "loads", None)
        for text in (f"{part}." * 20_000 + "a = 1", "[" + f"{part} . " * 64 + "a]"):
            with pytest.raises(ValueError, match="nested too deeply"):
                read_toml(text)
    assert read_toml(f"{part}." * 60 + "a = 1")


STANDARD_INPUT: dict[str, bytes] = {
    "not UTF-8": b'{"cost": "\xff"}',
    "deep": b"[" * 100_000,
    "deep and whole": b'{"cost": ' + b"[" * 900 + b"]" * 900 + b"}",
    "a huge number": b'{"cost": ' + b"9" * 5000 + b"}",
    "NUL bytes": bytes(100),
    "nothing": b"",
    "too much": b'{"cost": 1' + b" " * (4 * 2**20) + b"}",
}


@pytest.mark.parametrize("case", STANDARD_INPUT)
def test_metrics_on_standard_input_that_are_none_are_refused(tmp_path: Path, case: str) -> None:
    file = write_study(tmp_path)
    pull = document(ringfence("ask", file, "--json"))["pulls"][0]
    done = subprocess.run(
        [sys.executable, "-c", "from ringfence.interfaces.cli.app import main; main()",
         "tell", str(file), str(pull["pull"]), str(pull["lease"]), "-"],
        input=STANDARD_INPUT[case], capture_output=True, timeout=60, check=False,
    )  # fmt: skip
    assert (done.returncode, done.stdout) == (2, b""), done
    assert b"Traceback" not in done.stderr
    assert b"standard input" in done.stderr or b"cost" in done.stderr
    assert len(done.stderr) < 2000
    assert document(ringfence("status", file, "--json"))["told"] == 0
