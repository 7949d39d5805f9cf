"""Starting costs little: what is heavy is loaded by the commands that need it, and only then."""

import json
import sys

import pytest

from tests.e2e.command_line import Outcome, process

HEAVY = {"numba", "llvmlite", "scipy", "altair", "vl_convert", "pyarrow", "pandas"}

# Runs the command as its entry point would, then tells which top-level packages were loaded.
COMMAND = """
import sys
from ringfence.interfaces.cli.app import main
sys.argv = ["ringfence", *sys.argv[1:]]
code = 0
try:
    main()
except SystemExit as end:
    code = end.code or 0
import json
sys.stderr.write(json.dumps(sorted({name.partition(".")[0] for name in sys.modules})))
raise SystemExit(code)
"""

LIBRARY = """
import sys
before = {name.partition(".")[0] for name in sys.modules}
import ringfence
loaded = {name.partition(".")[0] for name in sys.modules} - before
dir(ringfence), ringfence.__doc__
import json
sys.stderr.write(json.dumps(sorted(loaded)))
"""


def loaded(done: Outcome) -> set[str]:
    assert done.code == 0, done.err
    return set(json.loads(done.err.splitlines()[-1]))  # progress may come before


@pytest.mark.parametrize(
    "arguments",
    [
        ["--help"],
        ["--version"],
        ["gaps", "paper-1", "--json"],
        ["gaps", "paper-1", "--budget", "1000"],
        ["simulate", "--help"],
        ["paper", "--help"],
    ],
    ids=" ".join,
)
def test_light_commands_load_nothing_heavy(arguments: list[str]) -> None:
    packages = loaded(process(sys.executable, "-c", COMMAND, *arguments))
    assert "ringfence" in packages
    assert not packages & HEAVY


def test_the_probe_notices_what_is_heavy() -> None:
    """The check above is awake: a simulation does load the compiler, though no chart library."""
    arguments = ["simulate", "paper-1", "--budget", "10", "--replications", "1", "--json"]
    packages = loaded(process(sys.executable, "-c", COMMAND, *arguments))
    assert "numba" in packages
    assert not packages & {"altair", "vl_convert", "pyarrow", "pandas"}


@pytest.mark.parametrize("arguments", [["--help"], ["--version"]], ids=" ".join)
def test_help_reads_no_instance_and_no_policy(arguments: list[str]) -> None:
    packages = loaded(process(sys.executable, "-c", COMMAND, *arguments))
    assert not packages & {"numpy", "sqlalchemy", "pydantic", "narwhals"}


def test_importing_the_library_loads_nothing_but_itself() -> None:
    packages = loaded(process(sys.executable, "-c", LIBRARY))
    assert "ringfence" in packages
    assert not packages & (HEAVY | {"numpy", "pydantic", "typer", "click", "rich", "narwhals"})


def test_every_public_name_is_found() -> None:
    code = (
        "import ringfence, json, sys\n"
        "for name in dir(ringfence): getattr(ringfence, name)\n"
        "assert set(dir(ringfence)) - set(ringfence.__all__) "
        "== {'__version__', 'ConstrainedSearchCV'}\n"
        "sys.stderr.write(json.dumps(sorted(ringfence.__all__)))"
    )
    names = loaded(process(sys.executable, "-c", code))
    assert {"Instance", "simulate", "compare", "reproduce_paper"} <= names


def test_all_names_can_be_imported_without_scikit_learn() -> None:
    code = (
        "import sys, json\n"
        "sys.modules['sklearn'] = None\n"
        "from ringfence import *\n"
        "assert Study and from_optuna\n"
        "sys.stderr.write(json.dumps([]))"
    )
    assert loaded(process(sys.executable, "-c", code)) == set()


def test_an_unknown_name_is_an_attribute_error() -> None:
    import ringfence

    with pytest.raises(AttributeError, match="'ringfence' has no attribute 'simulat'"):
        ringfence.simulat  # type: ignore[attr-defined]  # noqa: B018 - the look-up is tested
