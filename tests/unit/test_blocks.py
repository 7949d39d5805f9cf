"""What users give as blocks: read once at the door, and refused by name with nothing changed."""

import asyncio
import json
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import pytest

from ringfence.core.errors import InputError
from ringfence.execution.evaluating import Command
from ringfence.interfaces.blocks import blocks_of, seconds_of
from ringfence.interfaces.studies import Study
from ringfence.interfaces.study_file import read_study_file
from ringfence.storage.memory import MemoryStorage

QUESTIONS = [{"text": f"What is {n}?", "document": n // 3} for n in range(12)]
ARMS = ("one", "two", "three")


def make(storage: Any = "memory://", **changes: Any) -> Study:
    plain: dict[str, Any] = {
        "arms": list(ARMS),
        "objective": "maximize mean(score)",
        "constraints": "mean(seconds) <= 9",
        "budget": 30,
        "policy": "uniform",
        "seed": 7,
        "blocks": {"items": QUESTIONS},
    }
    return Study.create("s", storage=storage, **plain | changes)


def answer(arm: str, item: Any, seed: int) -> dict[str, float]:
    return {"score": len(item["text"]) % 5 + ARMS.index(arm) + seed % 2, "seconds": seed % 7}


def written(folder: Path, items: Sequence[Any] = QUESTIONS) -> Path:
    path = folder / "questions.jsonl"
    path.write_text("".join(json.dumps(one) + "\n" for one in items), encoding="utf-8")
    return path


# ------------------------------------------------------------------------------ what is read


def test_a_file_a_list_and_whatever_stands_between_are_the_same(tmp_path: Path) -> None:
    written(tmp_path)
    of_list, of_file = (
        blocks_of({"items": one}, tmp_path) for one in (QUESTIONS, "questions.jsonl")
    )
    assert of_file == of_list
    text = "\ufeff\n" + "\n\n".join(json.dumps(dict(reversed(one.items()))) for one in QUESTIONS)
    (tmp_path / "questions.jsonl").write_text(text, encoding="utf-8")
    assert blocks_of({"items": "questions.jsonl"}, tmp_path).plain == of_list.plain
    other = blocks_of({"items": QUESTIONS[::-1]}, tmp_path)
    assert other.plain["hash"] != of_list.plain["hash"]


def test_a_definition_says_what_was_given_and_no_path(tmp_path: Path) -> None:
    written(tmp_path)
    said = {"items": "questions.jsonl", "scope": "these", "evaluation": "deterministic"}
    plain = blocks_of(said, tmp_path).plain
    assert plain.pop("hash")  # type: ignore[attr-defined]
    assert plain == {"items": 12, "scope": "these", "repeats": 1, "evaluation": "deterministic"}
    assert blocks_of({"items": 500}, tmp_path).plain == {
        "items": 500, "scope": "such", "repeats": 1
    }  # fmt: skip
    assert blocks_of({"seeds": True}, tmp_path).plain == {"seeds": True}


def test_items_of_a_group_are_kept_beside_each_other(tmp_path: Path) -> None:
    mixed = [*QUESTIONS[::2], *QUESTIONS[1::2]]
    found = blocks_of({"items": mixed, "group": "document"}, tmp_path)
    assert [one["document"] for one in found.items] == [0, 0, 0, 1, 1, 1, 2, 2, 2, 3, 3, 3]
    assert found.plain["groups"] == [3, 3, 3, 3]


@pytest.mark.parametrize(
    ("text", "seconds"), [("30m", 1800), ("1h", 3600), ("1d", 86_400), ("90s", 90), ("0.5h", 1800)]
)
def test_times_are_seconds(text: str, seconds: int) -> None:
    assert seconds_of("blocks.every", text) == seconds


# ------------------------------------------------------------------------------ what is refused

TWICE = [*QUESTIONS, QUESTIONS[4]]
REFUSED: dict[str, tuple[Any, str]] = {
    "no table": (["items"], r"blocks = \['items'\] must be a table"),
    "a typing error": ({"itmes": 5}, r"blocks\.itmes is unknown.*Did you mean 'items'"),
    "nothing": ({}, "exactly one of items, seeds and every, and has none of them"),
    "two ways": ({"items": 50, "seeds": True}, "exactly one.*has items and seeds"),
    "seeds that are not": ({"seeds": False}, r"blocks\.seeds = False must be true"),
    "a scope of seeds": (
        {"seeds": True, "scope": "such"},
        r"blocks\.scope = 'such' is about items",
    ),
    "a scope": ({"items": 50, "scope": "thees"}, r"blocks\.scope = 'thees'.*Did you mean 'these'"),
    "no repeats": (
        {"items": 50, "repeats": 0},
        r"blocks\.repeats = 0 must be a whole number, 1 or",
    ),
    "half a repeat": ({"items": 50, "repeats": 1.5}, r"blocks\.repeats = 1\.5 must be"),
    "an evaluation": (
        {"items": 50, "evaluation": "exact"},
        r"blocks\.evaluation = 'exact' must be",
    ),
    "the same again": (
        {"items": 50, "evaluation": "deterministic", "repeats": 2},
        r"blocks\.repeats = 2 must be 1 with evaluation",
    ),
    "no items": ({"items": 0}, r"blocks\.items = 0 must be 1 to"),
    "an empty list": ({"items": []}, r"blocks\.items has no items"),
    "truth": ({"items": True}, r"blocks\.items = True must be a file, a number or a list"),
    "one item": ({"items": 1}, r"blocks\.items: 1 of items must be at least 2"),
    "one group": (
        {"items": [{"q": n, "d": 1} for n in range(20)], "group": "d"},
        "1 of groups must be at least 2",
    ),
    "no objects": ({"items": [{"q": 1}, None]}, r"blocks\.items: item 1 = None must be an object"),
    "no number": ({"items": [{"q": float("nan")}]}, r"blocks\.items: item 0 = .*JSON can hold"),
    "an item twice": ({"items": TWICE}, r"blocks\.items: item 12 is the same item as item 4\."),
    "a key of numbers": ({"items": 50, "group": "d"}, r"blocks\.group = 'd' must be a key of"),
    "a key of texts": ({"items": ["a", "b"], "group": "d"}, r"blocks\.group = 'd' must be a key"),
    "a key that one lacks": (
        {"items": [*QUESTIONS, {"text": "?"}], "group": "document"},
        r"blocks\.group = 'document'.*blocks\.items: item 12 has text\. Add it",
    ),
    "no time": ({"every": "1 week"}, r"blocks\.every = '1 week' must be a time.*'1h'"),
    "no time at all": ({"every": "0h"}, r"blocks\.every = '0h' must be a time"),
    "a number of seconds": ({"every": 3600}, r"blocks\.every = 3600 must be a time"),
    "a file that is not there": ({"items": "none.jsonl"}, r"none\.jsonl' does not exist"),
}


@pytest.mark.parametrize("what", REFUSED)
def test_what_cannot_be_is_named_and_nothing_is_made(what: str) -> None:
    storage = MemoryStorage()
    blocks, named = REFUSED[what]
    with pytest.raises(InputError, match=named):
        make(storage, blocks=blocks)
    assert storage.names() == []


LINES = {
    "no object": ('{"q": 1}\n[2]\n', r"line 2 is '\[2\]', and no JSON object"),
    "no JSON": ('{"q": 1}\n\n{"q": \n', r"line 3 is '\{\"q\":', and no JSON object"),
    "a key twice": ('{"q": 1, "q": 2}\n', "line 1: key 'q' is there twice"),
    "no number": ('{"q": NaN}\n', "line 1 is .*and no JSON object"),
    "no text": ('{"q": 1}\n\udcff\n', "line 2 is .*and no JSON object"),
    "nothing": ("\n\n", "has no items"),
    "a line twice": ('{"q": 1}\n\n{"q": 2}\n{ "q":1 }\n', "line 4 is the same item as line 1"),
}


@pytest.mark.parametrize("what", LINES)
def test_a_bad_line_is_named(what: str, tmp_path: Path) -> None:
    text, named = LINES[what]
    path = tmp_path / "items.jsonl"
    path.write_bytes(text.encode("utf-8", "surrogateescape"))
    storage = MemoryStorage()
    with pytest.raises(InputError, match=rf"items\.jsonl'.*{named}"):
        make(storage, blocks={"items": str(path)})
    assert storage.names() == []


@pytest.mark.parametrize(("policy", "items"), [("top-two", 5), ("uniform", 2)])
def test_items_that_do_for_the_first_pulls_are_enough(policy: str, items: int) -> None:
    """Adaptive policies begin with five pulls an arm or more; phases end with the items."""
    study = make(policy=policy, budget=300, blocks={"items": items})
    study.optimize(lambda arm, item: {"score": item, "seconds": 1.0})
    assert study.status().told == 3 * items


def test_items_must_do_for_the_first_pulls() -> None:
    with pytest.raises(InputError, match=r"4 items, each shown 1 times.*the first 5 pulls"):
        make(policy="top-two", budget=300, blocks={"items": 4})
    make(policy="top-two", budget=300, blocks={"items": 4, "repeats": 2})


def test_a_metric_may_not_have_the_name_of_a_column_of_exports() -> None:
    with pytest.raises(InputError, match="metric 'item' has the name of a column"):
        make(objective="maximize mean(item)")
    assert make(objective="maximize mean(item)", blocks=None)


@pytest.mark.parametrize(("way", "value"), [("items", QUESTIONS), ("seeds", True), ("every", "1h")])
def test_what_is_brought_along_has_no_block(way: str, value: Any) -> None:
    study = make(blocks={way: value})
    past = {"arm": ["one"], "score": [1.0], "seconds": [2.0]}
    with pytest.raises(InputError, match=r"has blocks, and what is brought along has none"):
        study.bring(past, arm="arm", label="before")
    assert study.desk.look().brought == 0


# ------------------------------------------------------------------------------ a study with them


def test_a_study_is_loaded_with_the_same_items_and_no_others() -> None:
    storage = MemoryStorage()
    study = make(storage)
    study.optimize(answer, most=9)
    before = study.status()
    for others in (QUESTIONS[:-1], QUESTIONS[::-1], [*QUESTIONS[:-1], {"text": "new"}]):
        with pytest.raises(
            InputError, match=r"exists with other items.*Put them back.*another name"
        ):
            make(storage, blocks={"items": others}, load_if_exists=True)
    for changes in ({"repeats": 2}, {"scope": "these"}):
        with pytest.raises(InputError, match="exists with another blocks"):
            make(storage, blocks={"items": QUESTIONS, **changes}, load_if_exists=True)
    with pytest.raises(InputError, match="exists with another blocks"):
        make(storage, blocks=None, load_if_exists=True)
    again = make(storage, load_if_exists=True)
    assert again.status() == before


def test_a_study_without_blocks_says_nothing_of_them() -> None:
    assert "blocks" not in make(blocks=None).definition.to_dict()
    assert make(blocks=None).status().blocks is None
    assert [pull.item for pull in make(blocks=None).ask(2)] == [None, None]


def test_functions_and_coroutines_get_the_item() -> None:
    async def awaited(arm: str, item: Any, seed: int) -> dict[str, float]:
        return answer(arm, item, seed)

    plain, coroutines = make(), make()
    wanted = plain.optimize(answer)
    assert asyncio.run(coroutines.optimize_async(awaited, workers=3)) == wanted
    assert wanted is not None


def test_items_asked_for_where_there_are_none_are_refused_before_any_pull() -> None:
    study = make(blocks={"seeds": True})

    async def awaited(item: Any) -> dict[str, float]:
        raise AssertionError(item)

    with pytest.raises(InputError, match="asks for an item, and the study has none"):
        study.optimize(answer)
    with pytest.raises(InputError, match="asks for an item, and the study has none"):
        asyncio.run(study.optimize_async(awaited))
    command = Command(["echo", "{arm}", "{item}"])
    with pytest.raises(InputError, match=r"names \{item\}, and the study has no items"):
        study.optimize(command)
    assert study.desk.head.issued == 0


def test_a_key_of_arms_may_be_called_item_unless_the_study_has_some() -> None:
    arms = {"one": {"item": "x", "ordinal": "y"}, "two": {"item": "z", "ordinal": "w"}}
    command = Command(["echo", "{item}", "{ordinal}"])
    command.require_runnable(arms)
    with pytest.raises(InputError, match=r"\{item\}, which is the pull's own and a key of arms"):
        command.require_runnable(arms, has_items=True)


def test_whoever_changes_an_item_changes_it_for_nobody_else() -> None:
    def careless(arm: str, item: dict[str, Any]) -> dict[str, float]:
        length = len(item["text"])
        item["text"] += arm
        return {"score": length, "seconds": 1.0}

    study = make()
    study.optimize(careless)
    columns = study.observations()
    scores: dict[int, set[float]] = {}
    for item, score in zip(columns["item"], columns["score"], strict=True):
        scores.setdefault(item, set()).add(score)
    assert all(len(one) == 1 for one in scores.values())


def test_an_arm_ends_with_its_items_and_the_study_with_the_last() -> None:
    for policy in ("top-two", "uniform", "constrained-sr", "sequential-halving"):
        study = make(policy=policy, budget=200, batch=5)
        study.optimize(answer, workers=2)
        status = study.status()
        assert (status.finished, status.told) == (True, 36), policy
        assert status.blocks is not None
        assert set(status.blocks["exhausted"]) == set(status.alive)
        assert study.doctor().problems == ()
        if policy == "top-two":
            study.raise_budget(300)
        assert study.ask(5) == []


def test_an_arm_without_further_items_does_not_come_back() -> None:
    """It failed on all of them."""
    study = make(policy="uniform", budget=60, max_failures=1)
    while pulls := study.ask(3):
        for pull in pulls:
            if pull.arm == "two" and pull.ordinal == 11:
                study.fail(pull, "503", retry=False)
            elif pull.arm == "two":
                study.lost(pull)
            else:
                study.tell(pull, answer(pull.arm, pull.item, pull.seed))
    assert "two" not in study.status().alive
    with pytest.raises(InputError, match=r"'two' needs 2 more.*items have 0 more pulls"):
        study.revive("two")
    assert "two" not in study.status().alive
    assert study.doctor().problems == ()


@pytest.mark.parametrize("broken", ["one", "two", "three"])
def test_a_study_ends_when_all_arms_but_a_withdrawn_one_have_seen_all(broken: str) -> None:
    def failing(arm: str, item: Any, seed: int) -> dict[str, float]:
        if arm == broken:
            raise ValueError("503")
        return answer(arm, item, seed)

    study = make(policy="top-two", budget=200)
    study.optimize(failing)
    status = study.status()
    assert (status.finished, status.told) == (True, 24)
    assert broken not in status.alive
    assert study.doctor().problems == ()


def test_a_study_ends_when_all_is_seen() -> None:
    """An adaptive one: its last round has no pulls, and says that it is the last."""
    study = make(policy="top-two", budget=100)
    study.optimize(answer, most=36)
    assert study.ask() == []
    last = study.rounds()[-1]
    assert (last.size, last.is_last, last.number) == (0, True, study.desk.head.round)
    assert sum(one.size == 0 for one in study.rounds()) == 1


# ------------------------------------------------------------------------------ tables

TABLE = """\
agent,task,score,seconds
one,a,1,2
one,b,0,3
one,c,1,4
two,c,1,2
two,a,1,1
two,b,1,1
three,a,0,9
three,b,0,9
three,c,0,8
"""
FILE = """\
name = "s"
objective = "maximize mean(score)"
constraints = ["mean(seconds) <= 9"]
budget = 90
policy = "uniform"
seed = 7
arms = ["one", "two", "three"]
storage = "memory://"
[pull]
table = {{ path = "log.csv", arm = "agent" }}
[blocks]
{blocks}
"""


def tabled(folder: Path, table: str = TABLE, blocks: str = 'items = "task"') -> Any:
    (folder / "log.csv").write_text(table, encoding="utf-8")
    (folder / "s.toml").write_text(FILE.format(blocks=blocks), encoding="utf-8")
    return read_study_file(folder / "s.toml")


def test_a_table_gives_the_row_of_an_arm_on_an_item(tmp_path: Path) -> None:
    file = tabled(tmp_path)
    study = file.open()
    verdict = study.optimize(file.evaluation())
    rows = [line.split(",") for line in TABLE.splitlines()[1:]]
    wanted = {(arm, task): (float(score), float(s)) for arm, task, score, s in rows}
    columns = study.observations()
    names = ["a", "b", "c"]
    found = {
        (arm, names[item]): (score, seconds)
        for arm, item, score, seconds in zip(
            columns["arm"], columns["item"], columns["score"], columns["seconds"], strict=True
        )
    }
    assert found == wanted
    assert verdict is not None
    assert verdict.arm == "two"


@pytest.mark.parametrize(
    ("table", "blocks", "named"),
    [
        (TABLE + "two,d,1,1\n", 'items = "task"', "arm 'two' has item 'd'.*before it lack it"),
        (TABLE.replace("two,b,1,1\n", ""), 'items = "task"', "arm 'two' lacks item 'b'.*have it"),
        (TABLE + "one,a,1,1\n", 'items = "task"', "two rows of arm 'one' on item 'a'"),
        (TABLE, 'items = "tsak"', "tsak.*task"),
        (TABLE, "items = 3", "blocks.items = 3 must be the name of a column"),
        (TABLE, 'items = "task"\nrepeats = 2', "blocks.repeats = 2 must be 1 with a table"),
        (TABLE, 'items = "task"\ngroup = "x"', "blocks.group = 'x' must be a key"),
    ],
)
def test_a_table_that_does_not_fit_is_refused(
    tmp_path: Path, table: str, blocks: str, named: str
) -> None:
    file = tabled(tmp_path, table, blocks)
    with pytest.raises(InputError, match=named):
        file.open()
