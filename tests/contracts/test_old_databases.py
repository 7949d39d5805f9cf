"""Databases written by every earlier schema open, are brought up to date, and go on."""

import json
from pathlib import Path
from typing import Any

import pytest
import sqlalchemy as sa
from alembic import command

import ringfence as rf
from ringfence.storage import engines, schema, sql
from tests.contracts.kill_worker import evaluate
from tests.contracts.places import Place

KEPT = sorted(Path(__file__).with_name("kept").glob("*.json"))
SHARED = [one for one in KEPT if one.stem >= "0010"]  # of these a study has items
PRICED = [one for one in KEPT if one.stem >= "0012"]  # and one is told what its pulls cost
ENDING = [one for one in KEPT if one.stem >= "0013"]  # and one was told when it is to end
TODAYS = ("0010", "0011", "0012", "0013")  # decided by the rules and the noise of today


def restore(url: str, kept: Path) -> None:
    """Make the tables as they were then, and fill them with the rows of then."""
    engine = engines.open_engine(url)
    rows = json.loads(kept.read_text(encoding="utf-8"))
    with engine.connect() as connection:
        connection.info["writes"] = True
        with connection.begin():
            command.upgrade(sql.migrations_on(connection), kept.stem)
            for name, content in rows.items():
                table = sa.Table(name, sa.MetaData(), autoload_with=connection)
                binary = [one.name for one in table.c if isinstance(one.type, sa.LargeBinary)]
                for row in content:
                    row.update({key: bytes.fromhex(row[key]) for key in binary})
                connection.execute(sa.insert(table), content)
    engine.dispose()


def test_every_schema_has_its_kept_rows() -> None:
    versions = Path(sql.__file__).parent / "migrations" / "versions"
    numbers = sorted(one.name[:4] for one in versions.glob("[0-9]*.py"))
    assert [one.stem for one in KEPT] == numbers
    assert numbers[-1] == schema.HEAD


@pytest.mark.parametrize("kept", KEPT, ids=lambda one: one.stem)
def test_a_database_of_an_earlier_version_opens_and_goes_on(sql_place: Place, kept: Path) -> None:
    restore(str(sql_place.url), kept)
    storage = sql_place.open()
    further = [*["priced"] * (kept in PRICED), *["shared"] * (kept in SHARED)]
    assert storage.names() == [*["ending"] * (kept in ENDING), "finished", "half way", *further]

    done = rf.Study.load("finished", storage=storage)
    assert (done.doctor().problems, done.doctor().notes) == ((), ())
    assert done.status().finished
    same = rf.Study.create(
        "finished", arms=["one", "two", "three"], objective="minimize mean(loss)",
        constraints=["mean(risk) <= 1.0", "p90(loss) <= 3"], budget=40, policy="constrained-sr",
        seed=7, storage="memory://",
    )  # fmt: skip
    assert same.optimize(evaluate) == done.recommend()

    half = rf.Study.load("half way", storage=storage)
    assert (half.status().told, half.status().failed, half.status().lost) == (56, 0, 1)
    half.optimize(lambda arm, seed: {**evaluate(arm, seed), "watts": 2.5}, workers=2)
    assert half.doctor().problems == ()
    # Of other noise only rounds are told in which it mattered.
    went_by = {
        "0004": "rounds 3 to 4 went by another edition of the noise",
        "0005": "round 4 went by another edition of the noise",
        "0006": "round 4 went by another edition of the noise",
        "0008": "round 4 went by another edition of the noise",
    }
    notes = [note.partition(" than ")[0] for note in half.doctor().notes]
    rule = "rounds 0 to 5 went by another edition of top-two"
    assert notes == ([] if kept.stem in TODAYS else [went_by.get(kept.stem, rule)])
    assert half.view().used == half.status().budget == 80


@pytest.mark.parametrize("kept", SHARED, ids=lambda one: one.stem)
def test_items_of_an_earlier_version_are_gone_on_with(sql_place: Place, kept: Path) -> None:
    restore(str(sql_place.url), kept)
    study = rf.Study.load("shared", storage=sql_place.open())
    told: dict[str, list[int]] = {"one": [], "two": []}

    def answer(arm: str, item: Any) -> Any:
        told[arm].append(item["question"])
        return evaluate(arm, item["question"])

    study.optimize(answer)
    first, *others = told["one"]  # the other half of an item that each arm has seen once
    assert told["two"] == told["one"]
    assert others[0::2] == others[1::2]
    assert len({first, *others}) == 4
    assert study.doctor().problems == ()


@pytest.mark.parametrize("kept", PRICED, ids=lambda one: one.stem)
def test_accounts_of_an_earlier_version_are_gone_on_with(sql_place: Place, kept: Path) -> None:
    restore(str(sql_place.url), kept)
    study = rf.Study.load("priced", storage=sql_place.open())
    before = study.status()
    assert (before.told, before.issued, before.failed) == (6, 1, 1)
    assert before.spent + before.reserved + before.left == pytest.approx(4.0, abs=1e-12)
    study.optimize(lambda arm, seed: {**evaluate(arm, seed), "cost": 0.2})
    assert study.doctor().problems == ()
    assert before.spent < study.status().spent <= 4.0


@pytest.mark.parametrize("kept", ENDING, ids=lambda one: one.stem)
def test_what_was_said_of_the_end_by_an_earlier_version_is_gone_by(
    sql_place: Place, kept: Path
) -> None:
    restore(str(sql_place.url), kept)
    study = rf.Study.load("ending", storage=sql_place.open())
    assert study.status().stop == {"confidence": 0.9, "within": 0.5}
    assert [one.note for one in study.desk.head.stops] == ["", "less would do"]
    study.optimize(evaluate)
    assert (study.certificate().is_proven, study.status().told < 400) == (True, True)
    assert study.doctor().problems == ()
