"""Logs of inspect-ai, lm-eval and promptfoo, as these packages wrote them, read into tables.

`make evaluations` makes the logs anew with the packages of the day, and runs this file on them.
"""

import csv
import json
import os
import shutil
from pathlib import Path
from typing import Any

import pytest

import ringfence as rf
from ringfence.core.errors import InputError
from ringfence.interfaces.logs.importing import import_logs
from tests import evaluations
from tests.e2e.command_line import ringfence

KEPT = Path(str(evaluations.__file__)).parent / "kept"
LOGS = Path(os.environ.get("RINGFENCE_LOGS", KEPT))
SUMS = [3, 5, 9, 12]
RIGHT = {"exact": [1, 1, 1, 1], "hasty": [0, 1, 0, 0]}
"""By test: `hasty` errs where the sum is a multiple of 3 (tests/evaluations/server.py)."""
OF_INSPECT = {"exact": [1, 1, 1, 1], "hasty": [0, 1, 1, 0]}
"""Sums of neighbours: 3, 5, 7 and 9."""


def by_option(logs: rf.ImportedLogs, metric: str) -> dict[str, list[float]]:
    found: dict[str, list[float]] = {}
    for option, value in zip(logs.columns["option"], logs.columns[metric], strict=True):
        found.setdefault(option, []).append(value)
    return found


@pytest.mark.parametrize("kind", ["eval", "json"])
def test_inspect_ai(kind: str) -> None:
    logs = import_logs(LOGS / "inspect-ai" / kind)
    names = [f"openai-api/local/{model}" for model in OF_INSPECT]
    assert logs.options == tuple(names)
    assert logs.items == ("sum-1", "sum-2", "sum-3", "sum-4")
    assert logs.metrics == ("match", "includes", "input_tokens", "output_tokens", "seconds")
    assert by_option(logs, "match") == dict(zip(names, OF_INSPECT.values(), strict=True))
    assert by_option(logs, "output_tokens")[names[0]] == [1, 1, 1, 1]
    assert all(0.0 < one < 600.0 for one in logs.columns["seconds"])
    assert logs.notes == ()


def test_lm_eval() -> None:
    logs = import_logs(LOGS / "lm-eval")
    assert (logs.options, logs.items) == (("exact", "hasty"), ("0", "1", "2", "3"))
    assert logs.metrics == ("exact_match",)
    assert by_option(logs, "exact_match") == RIGHT


def test_promptfoo() -> None:
    logs = import_logs([LOGS / "promptfoo/out.json"], tool="promptfoo")
    assert set(logs.options) == {
        f"openai:chat:{model} | {prompt}"
        for model in RIGHT
        for prompt in ("What is {{a}} + {{b}}?", "brief")
    }
    assert logs.items == ("test-1", "test-2", "test-3", "test-4")
    assert logs.metrics == ("passed", "score", "right", "input_tokens", "output_tokens", "seconds")
    for option, marks in by_option(logs, "right").items():
        assert marks == RIGHT["exact" if "exact" in option else "hasty"]
    assert by_option(logs, "right") == by_option(logs, "passed")


def test_several_logs_become_options_of_one_table_under_given_names(tmp_path: Path) -> None:
    files = {model: LOGS / f"inspect-ai/json/{model}.json" for model in ("hasty", "exact")}
    logs = import_logs(files)
    assert logs.options == ("hasty", "exact")
    assert by_option(logs, "match")["hasty"] == OF_INSPECT["hasty"]
    written = logs.write(tmp_path / "t.parquet")
    from pyarrow import parquet

    assert parquet.read_table(written).to_pydict() == dict(logs.columns)
    with pytest.raises(InputError, match=r"is there already. Name another, or use --force"):
        logs.write(written)
    logs.write(written, force=True)


def inspect_log(folder: Path, name: str, change: Any) -> Path:
    """Write a kept log of inspect-ai, changed."""
    document = json.loads((KEPT / "inspect-ai/json/hasty.json").read_text())
    change(document)
    path = folder / name
    path.write_text(json.dumps(document))
    return path


def test_one_model_with_two_settings_is_two_options(tmp_path: Path) -> None:
    def cool(document: Any) -> None:
        document["eval"]["model_generate_config"] = {"temperature": 0.2}

    def hot(document: Any) -> None:
        document["eval"]["model_generate_config"] = {"temperature": 0.9}

    logs = import_logs([inspect_log(tmp_path, "a", cool), inspect_log(tmp_path, "b", hot)])
    name = "openai-api/local/hasty"
    assert logs.options == (f"{name} temperature=0.2", f"{name} temperature=0.9")


def test_epochs_are_averaged_and_said(tmp_path: Path) -> None:
    def twice(document: Any) -> None:
        again = json.loads(json.dumps(document["samples"]))
        for one in again:
            one["epoch"] = 2
            one["scores"]["match"]["value"] = "C"
        document["samples"] += again

    logs = import_logs(inspect_log(tmp_path, "a", twice))
    assert by_option(logs, "match")["openai-api/local/hasty"] == [0.5, 1.0, 1.0, 0.5]
    assert logs.notes == ("an option answered an item up to 2 times: its answers are averaged",)


def test_what_was_not_judged_is_named_filled_or_left_out(tmp_path: Path) -> None:
    def broken(document: Any) -> None:
        document["samples"][2]["scores"] = None

    path = inspect_log(tmp_path, "a.json", broken)
    with pytest.raises(InputError) as refused:
        import_logs(path)
    said = str(refused.value)
    for part in (f"log = '{path}': samples[2]", "no metric 'match' on item 'sum-3'", "--fill"):
        assert part in said
    logs = import_logs(path, fill={"match": 0, "includes": 0})
    assert logs.columns["match"] == [0, 1, 0, 0]
    common = import_logs(path, only_common_items=True)
    assert common.items == ("sum-1", "sum-2", "sum-4")
    assert common.notes == ("1 of 4 items are left out: sum-3",)
    with pytest.raises(InputError, match=r"'mach' is no metric .* Did you mean 'match'"):
        import_logs(path, fill={"mach": 0})


def test_an_option_without_an_item_is_named(tmp_path: Path) -> None:
    path = inspect_log(tmp_path, "a.json", lambda document: document["samples"].pop(1))
    files = {"less": path, "all": KEPT / "inspect-ai/json/exact.json"}
    with pytest.raises(InputError, match=r"option 'less' has no answer on item 'sum-2'"):
        import_logs(files)
    assert import_logs(files, only_common_items=True).items == ("sum-1", "sum-3", "sum-4")


def test_other_items_under_the_same_names_are_refused(tmp_path: Path) -> None:
    def other(document: Any) -> None:
        document["samples"][0]["target"] = "4"

    files = {"a": inspect_log(tmp_path, "a", other), "b": KEPT / "inspect-ai/json/exact.json"}
    with pytest.raises(InputError, match=r"samples\[0\]: item 'sum-1' is another one than in"):
        import_logs(files)


def test_prices_are_taken_and_left_out_where_one_lacks_them(tmp_path: Path) -> None:
    def priced(document: Any) -> None:
        for at, sample in enumerate(document["samples"]):
            next(iter(sample["model_usage"].values()))["total_cost"] = 0.25 * at

    path = inspect_log(tmp_path, "a", priced)
    assert import_logs(path).columns["price"] == [0, 0.25, 0.5, 0.75]
    both = import_logs({"a": path, "b": KEPT / "inspect-ai/json/exact.json"})
    assert "price" not in both.metrics
    assert both.notes == ("price is left out: 'b' has none",)

    def partly(document: Any) -> None:
        priced(document)
        next(iter(document["samples"][3]["model_usage"].values()))["total_cost"] = None

    part = import_logs(inspect_log(tmp_path, "c", partly))
    assert "price" not in part.metrics
    assert part.notes == (f"price is left out: log = '{tmp_path / 'c'}': samples[3] has none",)


def test_filters_of_lm_eval_have_metrics_of_their_own(tmp_path: Path) -> None:
    (log,) = (KEPT / "lm-eval").rglob("hasty/samples_*.jsonl")
    lines = [json.loads(line) for line in log.read_text().splitlines()]
    strict = [{**one, "filter": "strict-match", "exact_match": 0.0} for one in lines]
    path = tmp_path / log.name
    path.write_text("\n".join(json.dumps(one) for one in lines + strict))
    logs = import_logs(path)
    assert logs.options == (tmp_path.name,), "no results beside it: the folder names it"
    assert logs.metrics == ("exact_match_none", "exact_match_strict_match")
    assert logs.columns["exact_match_strict_match"] == [0, 0, 0, 0]


def test_errors_of_a_provider_are_no_marks(tmp_path: Path) -> None:
    document = json.loads((KEPT / "promptfoo/out.json").read_text())
    document["results"]["results"][0] |= {"failureReason": 2, "error": "503"}
    path = tmp_path / "out.json"
    path.write_text(json.dumps(document))
    with pytest.raises(InputError, match=r"results.results\[0\]: option .* no metric 'passed'"):
        import_logs(path)
    assert len(import_logs(path, only_common_items=True).items) == 3


BROKEN: dict[str, tuple[str, str]] = {
    "no JSON": ("{", "is not JSON"),
    "a list": ("[1, 2]", "is of no known tool"),
    "a line that is none": ('{"doc_id": 0, "filtered_resps": []}\n{', "line 2 is not JSON"),
    "a key twice": ('{"eval": 1, "eval": 2}', "key 'eval' is there twice"),
    "an old log": ('{"doc_id": 0, "filtered_resps": []}\n{"doc_id": 1}', "line 1: metrics is miss"),
    "no samples": ('{"version": 2, "status": "success", "eval": {}}', "samples is missing, and"),
    "a sample": (
        '{"version": 2, "status": "success", "eval": {"model": "m", "task": "t"}, "samples": [{}]}',
        r"samples\[0\]: id is missing, and must be a text or a whole number",
    ),
    "results": ('{"results": {}, "configs": {}}', "sums up a run of lm-eval. Give its folder"),
    "no object": ('{"evalId": "x", "results": {}}', "results: results is missing, and must be a l"),
    "an archive": ("PK\x03\x04none", "is no .eval archive"),
    "nothing": ("", "is of no known tool"),
}


@pytest.mark.parametrize("kind", BROKEN)
def test_errors_name_file_line_and_key(kind: str, tmp_path: Path) -> None:
    content, said = BROKEN[kind]
    path = tmp_path / "log.json"
    path.write_text(content)
    with pytest.raises(InputError, match=said) as refused:
        import_logs(path)
    assert str(path) in str(refused.value)


def test_damaged_archives_are_refused_wherever_they_are_damaged(tmp_path: Path) -> None:
    content = (KEPT / "inspect-ai/eval/exact.eval").read_bytes()
    path = tmp_path / "a.eval"
    for at in range(0, len(content), len(content) // 40):
        for damaged in (content[:at], content[:at] + b"\xff" * 8 + content[at + 8 :]):
            path.write_bytes(damaged)
            try:
                logs = import_logs(path)
            except InputError as error:
                assert "a.eval" in str(error)  # noqa: PT017 - most damage is seen, and then named
            else:
                assert set(logs.columns["match"]) <= {0.0, 1.0}


def test_the_command_says_what_comes_next_and_it_runs(tmp_path: Path) -> None:
    shutil.copytree(LOGS / "inspect-ai/json", tmp_path / "logs")
    done = ringfence("import", tmp_path / "logs", "--to", tmp_path / "t.csv")
    assert done.code == 0, done.err
    assert "2 options on 4 items, 8 rows." in done.out
    commands = [line.strip() for line in done.out.splitlines() if line.startswith("  ringfence")]
    assert [line.split()[1] for line in commands] == ["replay", "init"]
    with (tmp_path / "t.csv").open() as file:
        assert len(list(csv.DictReader(file))) == 8
    again = ringfence("import", tmp_path / "logs", "--to", tmp_path / "t.csv")
    assert (again.code, again.out) == (2, "")
    found = ringfence(
        "import", f"a={tmp_path / 'logs/exact.json'}", f"b={tmp_path / 'logs/hasty.json'}",
        "--to", tmp_path / "t.csv", "--force", "--json",
    ).document  # fmt: skip
    assert found["options"] == ["a", "b"]
    import shlex

    drafted = ringfence(*shlex.split(found["next"][1])[1:])
    assert drafted.code == 0, drafted.err
    ran = ringfence("run", tmp_path / "t.toml", "--json")
    assert ran.document["arm"] == "a", ran.err
    assert ran.document["pulls_used"] == 8


@pytest.mark.parametrize(
    ("words", "said"),
    [
        (["none.json"], "does not exist"),
        (["--from", "inspect", "x"], "Did you mean 'inspect-ai'"),
        (["x", "--to", "t.txt"], "must end in .csv or .parquet"),
        (["a=x", "y"], "log = 'y' has no name, and others have. Write NAME=y."),
        (["a=x", "a=y"], "option 'a' is named twice"),
        (["x", "--fill", "score"], "must be METRIC=NUMBER"),
    ],
)
def test_mistakes_in_the_command_are_refused(
    words: list[str], said: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    done = ringfence("import", *words)
    assert (done.code, done.out) == (2, "")
    assert said in done.err
    assert not list(tmp_path.iterdir())
