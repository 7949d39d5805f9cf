"""The audit: it finds nothing in a study that is sound, and names what is wrong in one that is not.

What is wrong is written into a copy of the facts: no study would write it.
"""

import json
import math
import re
from collections.abc import Callable
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from ringfence.core.arrays import Floats, Integers
from ringfence.interfaces.cli import output
from ringfence.interfaces.cli.study import doctor
from ringfence.interfaces.studies import Study
from ringfence.policies import groups
from ringfence.policies.evidence import Evidence
from ringfence.policies.policy import AdaptivePolicy
from ringfence.storage.memory import MemoryStorage
from ringfence.study.audit import Audit, audit
from ringfence.study.facts import Head, PullFact, Round, State
from ringfence.study.plan import Plan
from ringfence.study.ports import Ledger
from ringfence.study.stock import AT_ONCE
from ringfence.study.surveying import Survey

MEANS = {"one": (1.0, 0.5), "two": (0.2, 1.6), "three": (0.5, 0.6)}


def make(**changes: Any) -> Study:
    plain: dict[str, Any] = {
        "arms": list(MEANS),
        "objective": "minimize mean(loss)",
        "constraints": "mean(risk) <= 1.0",
        "budget": 60,
        "policy": "sequential-halving",
        "storage": "memory://",
        "seed": 1,
    }
    return Study.create("s", **{**plain, **changes})


def work(study: Study, most: int = 1000) -> Study:
    """Tell up to so many pulls; the fifth of arm two fails."""
    for pull in study.pulls(1):
        if pull.pull == 14:
            study.fail(pull, "no")
        else:
            loss, risk = np.random.default_rng(pull.seed).normal(MEANS[pull.arm], 0.3).tolist()
            study.tell(pull, {"loss": loss, "risk": risk})
        if pull.pull >= most:
            break
    return study


@dataclass(frozen=True)
class Facts:
    """All facts of a study."""

    plan: Plan
    head: Head
    rounds: tuple[Round, ...]
    pulls: tuple[PullFact, ...]

    @classmethod
    def of(cls, study: Study) -> "Facts":
        with study.desk.storage.reading("s") as ledger:
            pulls = ledger.pulls_between(1, ledger.head.issued)
            return cls(study.desk.plan, ledger.head, tuple(ledger.rounds()), tuple(pulls))

    def problems(self) -> tuple[str, ...]:
        return self.audit().problems

    def notes(self) -> tuple[str, ...]:
        return self.audit().notes

    def audit(self, at_once: int = AT_ONCE) -> Audit:
        """Write the facts into a storage of their own, and audit them there."""
        storage = MemoryStorage()
        storage.create(self.plan.definition, self.head)
        with storage.writing("s") as ledger:
            ledger.add_pulls(self.pulls)
            for one in self.rounds:
                ledger.add_round(one)
            return audit(self.plan, ledger, at_once=at_once)

    def with_head(self, **changes: Any) -> "Facts":
        return replace(self, head=replace(self.head, **changes))

    def with_pull(self, number: int, **changes: Any) -> "Facts":
        changed = replace(self.pulls[number - 1], **changes)
        return replace(self, pulls=(*self.pulls[: number - 1], changed, *self.pulls[number:]))

    def with_round(self, number: int, **changes: Any) -> "Facts":
        changed = replace(self.rounds[number], **changes)
        return replace(self, rounds=(*self.rounds[:number], changed, *self.rounds[number + 1 :]))

    def up_to(self, issued: int) -> "Facts":
        return replace(self, pulls=self.pulls[:issued]).with_head(issued=issued)


def is_charged(facts: Facts) -> int:
    return sum(pull.charged and pull.state != State.CANCELLED for pull in facts.pulls)


def other_seen(facts: Facts, key: str) -> dict[str, Any]:
    """Return what the last round saw, with the last bit of one number changed."""
    seen = dict(facts.rounds[-1].seen)
    values = np.array(seen[key], dtype=np.float64)
    values.flat[0] = np.nextafter(values.flat[0], np.inf)
    return seen | {key: values.tolist()}


def beyond(facts: Facts) -> PullFact:
    """Return a pull that was never issued."""
    last = facts.pulls[-1]
    return replace(last, number=last.number + 1, ordinal=last.ordinal + 1)


def in_the_middle(facts: Facts) -> Facts:
    """Return the facts as they were when the first round was over."""
    first = facts.rounds[0]
    earlier = replace(facts, rounds=(first,)).up_to(first.size)
    return earlier.with_head(round=0, round_end=first.size, charged=0, finished=False)


DAMAGES: dict[str, tuple[Callable[[Facts], Facts], str]] = {
    "a pull more than the budget": (
        lambda facts: facts.with_head(budget=is_charged(facts) - 1),
        r"^\d+ is charged, more than the budget of \d+$",
    ),
    "a pull open that nobody counts": (
        lambda facts: facts.with_pull(2, state=State.ISSUED, values=None),
        "^1 pulls are issued, but 0 are said to be$",
    ),
    "a pull counted as open that is told": (
        lambda facts: facts.with_head(unresolved=1, finished=False),
        "^0 pulls are issued, but 1 are said to be$",
    ),
    "a pull open at the end": (
        lambda facts: facts.with_pull(2, state=State.ISSUED, values=None).with_head(unresolved=1),
        "^the study is finished, but 1 pulls are issued$",
    ),
    "a pull missing at the end": (
        lambda facts: replace(facts, pulls=facts.pulls[:-1]),
        r"^the pulls are not numbered from 1 to \d+, each once$",
    ),
    "a pull beyond the last": (
        lambda facts: replace(facts, pulls=(*facts.pulls, beyond(facts))),
        r"^the pulls are not numbered from 1 to \d+, each once$",
    ),
    "a pull of another arm": (
        lambda facts: facts.with_pull(2, arm=(facts.pulls[1].arm + 1) % 3),
        "^pull 2 is not the one that round 0 asks for$",
    ),
    "a pull twice": (
        lambda facts: facts.with_pull(4, arm=facts.pulls[0].arm, ordinal=facts.pulls[0].ordinal),
        "^pull 4 is not the one that round 0 asks for$",
    ),
    "a pull of another round": (
        lambda facts: facts.with_pull(4, round=1),
        "^pull 4 is not the one that round 0 asks for$",
    ),
    "a round missing": (
        lambda facts: replace(facts, rounds=(facts.rounds[0], *facts.rounds[2:])),
        "^round 1 is missing$",
    ),
    "a round missing at the end": (
        lambda facts: replace(facts, rounds=facts.rounds[:1]),
        r"^\d+ pulls are beyond the last round$",
    ),
    "a round left too early": (
        lambda facts: facts.up_to(facts.rounds[0].size - 1),
        "^round 0 was left with 1 pulls not issued$",
    ),
    "a told pull without values": (
        lambda facts: facts.with_pull(2, values=None),
        "^pull 2 is told, and its values say otherwise$",
    ),
    "a failed pull with values": (
        lambda facts: facts.with_pull(14, values=(0.0, 0.0)),
        "^pull 14 is failed, and its values say otherwise$",
    ),
    "a value too few": (
        lambda facts: facts.with_pull(2, values=(0.0,)),
        r"^pull 2 has values \(0.0,\) that no tell accepts$",
    ),
    "a value that is NaN": (
        lambda facts: facts.with_pull(2, values=(0.0, math.nan)),
        "^pull 2 has values .*nan.* that no tell accepts$",
    ),
    "a pull that was never leased": (
        lambda facts: facts.with_pull(2, lease=0),
        "^pull 2 was never leased$",
    ),
    "an observation changed": (
        lambda facts: facts.with_pull(2, values=(99.0, 0.1)),
        "^round 1: decided again, it has another seen$",
    ),
    "a failure that was told": (
        lambda facts: facts.with_pull(14, state=State.TOLD, values=(0.2, 1.6), error=None),
        "^round 1: decided again, it has another seen$",
    ),
    "a failure that is no longer charged": (
        lambda facts: facts.with_pull(14, charged=False),
        "^round 1: decided again, it has another seen$",
    ),
    "an estimate changed": (
        lambda facts: facts.with_round(len(facts.rounds) - 1, seen=other_seen(facts, "estimates")),
        r"^round \d: decided again, it has another seen$",
    ),
    "a scale changed": (
        lambda facts: facts.with_round(len(facts.rounds) - 1, seen=other_seen(facts, "scales")),
        r"^round \d: decided again, it has another seen$",
    ),
    "another arm left": (
        lambda facts: facts.with_round(1, left=(replace(facts.rounds[1].left[0], arm=2),)),
        "^round 1: decided again, it has another left$",
    ),
    "an arm that left is alive": (
        lambda facts: facts.with_round(1, alive=(True, True, True)),
        "^round 1: decided again, it has another alive$",
    ),
    "pulls of an earlier round forgotten": (
        lambda facts: facts.with_round(len(facts.rounds) - 1, before=(0, 0, 0)),
        r"^round \d: decided again, it has another before$",
    ),
    "another phase": (
        lambda facts: facts.with_round(1, phase=0),
        "^round 1: decided again, it has another phase$",
    ),
    "a last round that is not the last": (
        lambda facts: facts.with_round(len(facts.rounds) - 1, is_last=False),
        r"^round \d: decided again, it has another is_last$",
    ),
    "another round's turn": (
        lambda facts: facts.with_head(round=1),
        r"^the study's round is 1, and its rounds say \d$",
    ),
    "a round that ends elsewhere": (
        lambda facts: facts.with_head(round_end=facts.head.round_end + 1),
        r"^the study's round_end is \d+, and its rounds say \d+$",
    ),
    "another number of charged pulls": (
        lambda facts: facts.with_head(charged=facts.head.charged - 1),
        r"^the study's charged is \d+, and its rounds say \d+$",
    ),
    "finished before its end": (
        lambda facts: in_the_middle(facts).with_head(finished=True),
        "^the study is finished, and its last round is not the last$",
    ),
    "an arm given up for nothing": (
        lambda facts: facts.with_head(broken=(1,)),
        r"^arms \[1\] are said to be broken, and by their pulls \[\]$",
    ),
}


@pytest.mark.parametrize("damage", DAMAGES)
def test_what_is_wrong_is_named(damage: str) -> None:
    change, message = DAMAGES[damage]
    facts = Facts.of(work(make()))
    assert facts.problems() == ()
    found = change(facts).problems()
    assert any(re.search(message, problem) for problem in found), found


@pytest.mark.parametrize("at_once", [1, 7, 1000])
def test_what_is_wrong_is_the_same_in_stretches_of_any_length(at_once: int) -> None:
    facts = Facts.of(work(make()))
    assert facts.audit(at_once) == facts.audit()
    for change, _ in DAMAGES.values():
        assert change(facts).audit(at_once) == change(facts).audit()


class Surveyed:
    """A ledger that tells how many pulls were taken as columns, and which one by one."""

    def __init__(self, ledger: Ledger) -> None:
        self.ledger = ledger
        self.surveyed: list[int] = []
        self.one_by_one: list[int] = []

    def __getattr__(self, key: str) -> Any:
        return getattr(self.ledger, key)

    def survey(self, first: int, last: int) -> Survey | None:
        found = self.ledger.survey(first, last)
        self.surveyed.append(0 if found is None else len(found.numbers))
        return found

    def pulls_between(self, first: int, last: int) -> Any:
        found = self.ledger.pulls_between(first, last)
        self.one_by_one += [pull.number for pull in found]
        return found


def test_an_audit_holds_a_stretch_of_pulls_at_a_time_and_says_how_far_it_is() -> None:
    """A sound study is never gone through pull by pull; each is heard of twice."""
    study, heard = work(make()), list[int]()
    with study.desk.storage.reading("s") as ledger:
        issued = ledger.head.issued
        seen: Any = Surveyed(ledger)
        found = audit(study.desk.plan, seen, at_once=10, advance=heard.append)
    assert found.is_sound
    assert (max(seen.surveyed), sum(seen.surveyed), seen.one_by_one) == (10, issued, [])
    assert (sum(heard), min(heard) >= 0) == (2 * issued, True)
    assert len([one for one in heard if one]) > issued / 10
    heard.clear()
    assert study.doctor(progress=heard.append) == found
    assert sum(heard) == 2 * issued


def always_the_first(seen: Evidence, uniforms: Floats, chosen: Integers, work: Any) -> None:
    chosen[:] = 0


def test_what_another_edition_of_the_rule_chose_is_noted() -> None:
    """A later version chooses otherwise: that is no mistake, but the evidence must be right."""
    facts = Facts.of(work(make(policy="top-two", batch=6, budget=40)))
    assert facts.notes() == ()
    policy = facts.plan.policy
    assert isinstance(policy, AdaptivePolicy)
    later = replace(policy, choose=always_the_first)
    found = replace(facts, plan=replace(facts.plan, policy=later)).problems()
    assert "round 1: decided again, it has another allocation" in found
    later = replace(later, edition=policy.edition + 1)
    facts = replace(facts, plan=replace(facts.plan, policy=later))
    assert facts.problems() == ()
    last = len(facts.rounds) - 1
    (note,) = facts.notes()
    assert note == (
        f"rounds 0 to {last} went by another edition of top-two than this version of ringfence "
        "has: the evidence was checked, the choice cannot be made again"
    )
    changed = facts.with_round(last, seen=other_seen(facts, "estimates"))
    assert changed.problems() == (f"round {last}: decided again, it has another seen",)


def test_what_was_decided_whole_before_large_batches_were_cut_is_noted(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    """What another edition chose is no mistake, and what this edition did not choose is one."""
    with monkeypatch.context() as before:
        before.setattr(groups, "LEAST_GROUP", 10**9)
        facts = Facts.of(work(make(policy="top-two", batch=30, budget=100)))
    assert facts.problems() == ()
    (note,) = facts.notes()
    assert re.match("rounds? .* went by another edition of the rule for large batches than", note)
    number = int(note.split()[1])
    this = {**facts.rounds[number].seen, "groups": groups.GROUPS_EDITION}
    wrong = facts.with_round(number, seen=this).problems()
    assert wrong == (f"round {number}: decided again, it has another allocation",)
    now = Facts.of(work(make(policy="top-two", batch=30, budget=100)))
    assert any("groups" in one.seen for one in now.rounds)
    assert now.problems() == now.notes() == ()


def test_a_study_is_sound_at_every_step() -> None:
    """Also half a round, a round that is over, an arm that was given up, and a raised budget."""
    study = make(policy="top-two", batch=4, budget=36, max_failures=1)
    assert Facts.of(study).problems() == ()
    for pulls in (1, 13, 14, 20, 36):
        assert Facts.of(work(study, pulls)).problems() == ()
    work(study)
    assert (study.status().finished, study.status().alive) == (True, ("one", "three"))
    study.raise_budget(40)
    assert Facts.of(study).problems() == ()
    facts = Facts.of(work(study))
    assert facts.problems() == ()
    assert facts.with_head(broken=()).problems() != ()


def test_the_command_says_how_far_it_is_beside_its_document(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    """On standard error, where nobody takes it for a part of the document."""
    storage = f"sqlite:///{tmp_path / 's.db'}"
    work(make(storage=storage))
    monkeypatch.setattr(output, "_PATIENCE_SECONDS", -1.0)
    doctor("s", storage=storage, json=True)
    said = capsys.readouterr()
    assert json.loads(said.out)["ok"] is True
    assert said.err.splitlines() == ["auditing: 50%", "auditing: 75%", "auditing: 100%"]
