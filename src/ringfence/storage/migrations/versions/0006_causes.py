"""Why arms left: a code with its data, where there was an English sentence.

The column of decisions has another name from here on. A process of an earlier version that has the
database open is then refused, and can neither write sentences nor misread codes.
"""

import json
import re
from typing import Any

import sqlalchemy as sa
from alembic import op

revision = "0006"
down_revision = "0005"

_SENTENCES = {  # as every version up to here wrote them
    "rejected": re.compile(r"rejected by (?P<policy>.+)", re.DOTALL),
    "failing": re.compile(r"withdrawn: (?P<failures>\d+) failed pulls in a row"),
    "unseen": re.compile(r"withdrawn: only (?P<successes>\d+) of its pulls succeeded"),
    "with-baseline": re.compile(
        r"withdrawn: it cannot be compared, since baseline (?P<baseline>.*) was", re.DOTALL
    ),
}
_COUNTS = ("failures", "successes")
_TALLIES_BEFORE, _TALLIES = 4, 5  # the formats of tallies


def upgrade() -> None:
    """Turn sentences into codes; what no version wrote stays as it is, and is found damaged."""
    connection = op.get_bind()
    rounds = sa.table("ringfence_rounds", *map(sa.column, ("study", "number", "decision")))
    some_left = sa.select(rounds).where(rounds.c.decision.not_like('%"left": []%'))
    for study, number, decision in connection.execute(some_left).all():
        mine = sa.and_(rounds.c.study == study, rounds.c.number == number)
        connection.execute(sa.update(rounds).where(mine).values(decision=_decided(decision)))
    op.execute("ALTER TABLE ringfence_rounds RENAME COLUMN decision TO decided")
    tallies = sa.table(
        "ringfence_tallies", sa.column("study"), sa.column("content", sa.LargeBinary)
    )
    for study, content in connection.execute(sa.select(tallies)).all():
        change = sa.update(tallies).where(tallies.c.study == study)
        connection.execute(change.values(content=_tally(bytes(content))))


def _decided(text: str) -> str:
    try:
        plain = json.loads(text)
        return json.dumps({**plain, "left": [_coded(**one) for one in plain["left"]]})
    except (KeyError, TypeError, ValueError):
        return text


def _tally(content: bytes) -> bytes:
    """Return a tally with codes; one of an earlier format is read by nobody."""
    line, end, body = content.partition(b"\n")
    try:
        plain = json.loads(line)
        if plain["format"] != _TALLIES_BEFORE:
            return content
        departures = [
            [_coded(arm, reason, rival, gap), *when]
            for arm, reason, rival, gap, *when in plain["departures"]
        ]
    except (KeyError, TypeError, ValueError):
        return content
    plain |= {"format": _TALLIES, "departures": departures}
    return json.dumps(plain, separators=(",", ":")).encode() + end + body


def _coded(
    arm: int, reason: str, rival: int | None = None, gap: float | None = None
) -> dict[str, Any]:
    for cause, sentence in _SENTENCES.items():
        if found := sentence.fullmatch(reason):
            data = {key: int(x) if key in _COUNTS else x for key, x in found.groupdict().items()}
            return {"arm": arm, "cause": cause, "rival": rival, "gap": gap, **data}
    raise ValueError(f"no version said {reason!r} of an arm that left")
