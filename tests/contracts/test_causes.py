"""Why arms left, in databases of versions that wrote it as an English sentence."""

import json
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest
import sqlalchemy as sa

import ringfence as rf
from ringfence.core.errors import DamagedError
from ringfence.storage.sql import SqlStorage
from ringfence.study.facts import Cause, Departure, Rejection, Tally
from ringfence.study.plan import Plan
from ringfence.study.reading import Reader
from tests.contracts.places import Place
from tests.contracts.test_old_databases import restore

KEPT = Path(__file__).with_name("kept") / "0005.json"
SENTENCES = {
    "rejected by constrained-sr": Rejection(
        1, Cause.REJECTED, rival=0, gap=0.25, policy="constrained-sr"
    ),
    "withdrawn: 3 failed pulls in a row": Rejection(1, Cause.FAILING, 0, 0.25, failures=3),
    "withdrawn: only 1 of its pulls succeeded": Rejection(1, Cause.UNSEEN, 0, 0.25, successes=1),
    "withdrawn: it cannot be compared, since baseline old\nwas was": Rejection(
        1, Cause.WITH_BASELINE, 0, 0.25, baseline="old\nwas"
    ),
}
OLD_WRITE = (
    "INSERT INTO ringfence_rounds (study, number, first, decision) VALUES (1, 99, 999, '{}')"
)
OLD_READ = "SELECT number, decision FROM ringfence_rounds"


def with_sentence(folder: Path, sentence: str) -> tuple[Path, int]:
    """Return kept rows in which an arm of the study "finished" left so, and in which round."""
    rows = json.loads(KEPT.read_text(encoding="utf-8"))
    study = next(one["id"] for one in rows["ringfence_studies"] if one["name"] == "finished")
    mine = [one for one in rows["ringfence_rounds"] if one["study"] == study]
    changed = next(one for one in mine if json.loads(one["decision"])["left"])
    decision = json.loads(changed["decision"])
    decision["left"] = [{"arm": 1, "reason": sentence, "rival": 0, "gap": 0.25}]
    changed["decision"] = json.dumps(decision)
    path = folder / "0005.json"
    path.write_text(json.dumps(rows), encoding="utf-8")
    return path, changed["number"]


@pytest.mark.parametrize("sentence", SENTENCES)
def test_a_sentence_becomes_a_code_with_its_data(
    sql_place: Place, tmp_path: Path, sentence: str
) -> None:
    path, number = with_sentence(tmp_path, sentence)
    restore(str(sql_place.url), path)
    with sql_place.open().reading("finished") as ledger:
        assert ledger.round(number).left == (SENTENCES[sentence],)


def test_what_no_version_said_is_damaged_and_the_rest_is_read(
    sql_place: Place, tmp_path: Path
) -> None:
    path, number = with_sentence(tmp_path, "it went home")
    restore(str(sql_place.url), path)
    storage = sql_place.open()
    with storage.reading("finished") as ledger:
        with pytest.raises(DamagedError, match=f"round {number} cannot be read: its decision is"):
            ledger.round(number)
        assert ledger.round(0).number == 0
    assert rf.Study.load("half way", storage=storage).doctor().is_sound


def test_a_tally_of_before_is_taken_up(sql_place: Place, tmp_path: Path) -> None:
    """Else a large study that is finished would be read pull by pull whenever it is opened."""
    rows = json.loads(KEPT.read_text(encoding="utf-8"))
    for one in rows["ringfence_tallies"]:
        line, end, body = bytes.fromhex(one["content"]).partition(b"\n")
        gone = [[1, sentence, 0, 0.25, number, 2] for number, sentence in enumerate(SENTENCES)]
        plain = json.loads(line) | {"format": 4, "losing": [], "departures": gone}
        one["content"] = (json.dumps(plain).encode() + end + body).hex()
    path = tmp_path / "0005.json"
    path.write_text(json.dumps(rows), encoding="utf-8")
    restore(str(sql_place.url), path)
    with sql_place.open().reading("finished") as ledger:
        plan, tally = Plan.of(ledger.definition), ledger.tally()
    assert tally is not None
    taken = Reader.restored(plan, tally, ())
    assert taken is not None
    wanted = [Departure(left, number, 2) for number, left in enumerate(SENTENCES.values())]
    assert list(taken.departures) == wanted


@pytest.mark.parametrize("content", [b"", b"\n", b"\xff", b"[1]\n", b'{"format":4}\nx'])
def test_what_is_no_tally_stays_as_it_is(sql_place: Place, tmp_path: Path, content: bytes) -> None:
    rows = json.loads(KEPT.read_text(encoding="utf-8"))
    for one in rows["ringfence_tallies"]:
        one["content"] = content.hex()
    path = tmp_path / "0005.json"
    path.write_text(json.dumps(rows), encoding="utf-8")
    restore(str(sql_place.url), path)
    storage = sql_place.open()
    with storage.reading("finished") as ledger:
        assert ledger.tally() == replace(ledger.tally() or Tally(0, b""), content=content)
    assert rf.Study.load("finished", storage=storage).recommend().finished


@pytest.mark.parametrize("statement", [OLD_WRITE, OLD_READ])
def test_a_process_of_before_is_refused(sql_place: Place, statement: str) -> None:
    """It has the database open from before: it would write sentences, and misread codes."""
    restore(str(sql_place.url), KEPT)
    storage: Any = sql_place.open()
    assert isinstance(storage, SqlStorage)
    with pytest.raises(sa.exc.DBAPIError, match="decision"), storage.engine.connect() as one:
        one.execute(sa.text(statement))
    study = rf.Study.load("finished", storage=storage)
    assert study.doctor().is_sound
    assert {one.left.cause for one in study.recommend().arms if one.left} == {Cause.REJECTED}
