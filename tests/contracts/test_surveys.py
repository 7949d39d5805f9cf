"""Surveys: columns that say what the pulls say one by one, or nothing where one is damaged."""

from dataclasses import fields
from typing import Any

import numpy as np
import pytest
import sqlalchemy as sa

import ringfence as rf
from ringfence.core.errors import DamagedError
from ringfence.storage import schema
from ringfence.storage.sql import SqlStorage
from ringfence.study.surveying import Survey
from tests.contracts.places import Place


def make(storage: Any) -> rf.Study:
    """Make a study with pulls of all kinds: told, stood in for, failed, lost, open, cancelled."""
    study = rf.Study.create(
        "s", arms=["a", "b"], objective="minimize mean(loss)", constraints="mean(risk) <= 1",
        budget=40, policy="uniform", storage=storage, seed=3, max_failures=1,
    )  # fmt: skip
    for place, pull in enumerate(study.ask(12)):
        if place == 3:
            study.fail(pull, "broke", retry=False)
        elif place == 4:
            study.lost(pull, "gone")
        elif place != 6:
            study.tell(pull, {"loss": 0.1 + place / 3, "risk": 1e-7 * place, "extra": 2.5})
    study.ask(4)
    return study


def columns(survey: Survey | None) -> dict[str, Any]:
    assert survey is not None
    found = {one.name: getattr(survey, one.name) for one in fields(survey)}
    return {key: one.tolist() if isinstance(one, np.ndarray) else one for key, one in found.items()}


def test_a_survey_says_what_the_pulls_say(place: Place) -> None:
    study = make(place.open())
    with study.desk.storage.reading("s") as ledger:
        for first, last in ((0, 2**62), (1, 16), (4, 9), (40, 50)):
            pulls = ledger.pulls_between(first, last)
            assert str(columns(ledger.survey(first, last))) == str(columns(Survey.of(pulls, 2)))
        found = ledger.survey(0, 2**62)
    assert found is not None
    kinds = (found.is_issued, found.is_told, found.is_failed, found.is_cancelled)
    assert all(one.any() for one in (*kinds, found.has_values, ~found.is_charged))
    assert found.values[found.has_values].tolist()[1] == [0.1 + 1 / 3, 1e-7]


DAMAGES = {
    "arm": "x", "state": "lost", "values": "nonsense", "extras": "[1]",
    "no row of numbers": '["1", "2"]', "a row in a row": "[[1, 2]]", "two rows": "[1, 2], [3, 4]",
    "a row too short": "[1]", "further words": '{"a": "b"}',
}  # fmt: skip
COLUMNS = {"further words": "extras"}


@pytest.mark.parametrize("damage", DAMAGES)
def test_what_no_study_wrote_gives_no_survey(damage: str, tmp_path: Any) -> None:
    """SQLite keeps any of it. One by one it is damaged as well, or too short."""
    storage = SqlStorage(f"sqlite:///{tmp_path / 's.db'}")
    study = make(storage)
    column = damage if damage in schema.pulls.c else COLUMNS.get(damage, "values")
    with storage.engine.begin() as connection:
        connection.execute(
            sa.text(f'UPDATE ringfence_pulls SET "{column}" = :new WHERE number = 2'),
            {"new": DAMAGES[damage]},
        )
    with storage.reading("s") as ledger:
        assert ledger.survey(1, 16) is None
        assert ledger.survey(3, 16) is not None
        try:
            values = ledger.pulls([2])[0].values
        except DamagedError:
            pass
        else:
            assert values is not None
            assert len(values) != 2
    problems = study.doctor().problems
    assert any("pull 2 " in one for one in problems), problems
