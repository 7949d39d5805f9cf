"""Writes the facts of two studies as rows, as a database of today's schema holds them.

    python -m tests.contracts.kept.make > tests/contracts/kept/NUMBER.json

To be run once when the schema has a new number, before the next one exists; the file then stays as
it is. Later versions must open such a database: `test_old_databases.py` sees to it.
"""

import json
import sys
import tempfile
from pathlib import Path
from typing import Any

import sqlalchemy as sa

import ringfence as rf
from ringfence.storage import schema
from ringfence.storage.sql import SqlStorage
from ringfence.study.facts import Kept
from tests.contracts.kill_worker import evaluate


def make_studies(url: str) -> None:
    """Make a study that is finished, and one in the middle of its work, with all kinds of facts.

    A third shares items among its arms, a fourth is told what its pulls cost, and a fifth was told
    twice when it is to end.
    """
    common: dict[str, Any] = {
        "objective": "minimize mean(loss)",
        "constraints": ["mean(risk) <= 1.0", "p90(loss) <= 3"],
        "storage": url,
        "seed": 7,
    }
    done = rf.Study.create(
        "finished", arms=["one", "two", "three"], budget=40, policy="constrained-sr", **common
    )
    done.optimize(evaluate)
    done.archive()
    half = rf.Study.create(
        "half way", arms={"one": {"model": "x"}, "two": {}, "three": {}, "four": {}},
        budget=80, policy="top-two", batch=4, retries=1, lease_seconds=1.0,
        metrics=["loss", "risk", "watts"], **common,
    )  # fmt: skip
    past = {"arm": ["one", "two"], "loss": [1.0, 0.5], "risk": [0.5, 1.5], "watts": [3.0, 4.0]}
    half.bring(past, arm="arm", label="last year")
    for _ in range(14):
        for pull in half.ask(4):
            found = {**evaluate(pull.arm, pull.seed), "watts": 2.5, "tokens": 812}
            half.tell(pull, found, cost=0.25)
    failed, again, forgiven = half.ask(3)
    half.fail(failed, "it broke", retry=False, charge=False)
    half.fail(again, "it may work")
    half.fail(forgiven, "an outage", retry=False)
    half.forgive([forgiven.pull])
    shared = rf.Study.create(
        "shared", arms=["one", "two"], budget=20, policy="uniform",
        blocks={"items": [{"question": n} for n in range(8)], "repeats": 2}, **common,
    )  # fmt: skip
    for pull in shared.ask(6):
        shared.tell(pull, evaluate(pull.arm, pull.item["question"]))
    priced = rf.Study.create(
        "priced", arms=["one", "two"], budget="4 USD", price="cost", price_cap=0.25,
        policy="top-two", retries=1, **common,
    )  # fmt: skip
    for pull in priced.ask(6):
        priced.tell(pull, evaluate(pull.arm, pull.seed), cost=0.1 + 0.01 * pull.pull)
    tried, dropped = priced.ask(2)
    priced.fail(tried, "it may work", cost=0.07)
    priced.fail(dropped, "it broke", retry=False)
    ending = rf.Study.create(
        "ending", arms=["one", "two"], budget=400, policy="top-two",
        noise={"loss": {"bounds": [-9, 9]}, "risk": {"bounds": [-9, 9]}}, **common,
    )  # fmt: skip
    ending.stop_when(0.99)
    for pull in ending.ask(12):
        ending.tell(pull, evaluate(pull.arm, pull.seed))
    ending.stop_when(0.9, within=0.5, note="less would do")
    half.desk.storage.keep("half way", Kept("verdict", "of another moment", b"{}"))


def rows_of(url: str) -> dict[str, list[dict[str, Any]]]:
    """Return every row of our tables."""
    storage = SqlStorage(url)
    found = {}
    with storage.engine.connect() as connection:
        for table in schema.metadata.sorted_tables:
            query = sa.text(f"SELECT * FROM {table.name}")
            found[table.name] = [dict(row) for row in connection.execute(query).mappings()]
    storage.close()
    return found


if __name__ == "__main__":
    with tempfile.TemporaryDirectory() as folder:
        place = f"sqlite:///{Path(folder) / 'kept.db'}"
        make_studies(place)
        lines = [
            f"{json.dumps(name)}: [\n  "
            + ",\n  ".join(json.dumps(row, default=bytes.hex) for row in rows)
            + "\n]"
            for name, rows in rows_of(place).items()
        ]
        sys.stdout.write("{\n" + ",\n".join(lines) + "\n}\n")
