"""Policies of users' own in live studies: kept by their place, found again, audited."""

import sys
from dataclasses import replace
from pathlib import Path
from types import ModuleType
from typing import Any

import pytest

import ringfence as rf
from ringfence.core.arrays import Floats, Integers
from ringfence.core.errors import InputError
from ringfence.interfaces.study_file import read_study_file
from ringfence.policies import constrained_sr, top_two
from ringfence.policies.evidence import Evidence
from ringfence.storage.memory import MemoryStorage

PHASED = replace(constrained_sr.POLICY, name="mine")
FAULTY = replace(constrained_sr.POLICY, name="faulty", reject=lambda *_: -1)
RAISING = replace(constrained_sr.POLICY, name="raising", reject=lambda *_: 1 // 0)


def in_turn(seen: Evidence, uniforms: Floats, chosen: Integers, work: Any) -> None:
    """Pull arms in their order, one after the other."""
    for k in range(chosen.shape[0]):
        chosen[k] = (int(seen.counts.sum()) + k) % seen.counts.shape[0]


TURNS = replace(top_two.POLICY, name="turns", choose=in_turn)


def created(policy: Any, storage: Any = None, **options: Any) -> rf.Study:
    return rf.Study.create(
        "own", arms=["a", "b", "c", "d"], objective="minimize mean(x)",
        constraints="mean(y) <= 1", budget=48, seed=3, policy=policy,
        storage=MemoryStorage() if storage is None else storage, **options,
    )  # fmt: skip


def evaluate(arm: str, seed: int) -> dict[str, float]:
    place = "abcd".index(arm)
    return {"x": place + 0.1 * (seed % 7), "y": 1.4 - 0.3 * place + 0.1 * (seed % 5)}


@pytest.mark.parametrize("policy", [PHASED, TURNS], ids=lambda policy: policy.name)
def test_a_policy_of_ones_own_runs_a_study_that_can_be_audited(policy: Any) -> None:
    study = created(policy)
    verdict = study.optimize(evaluate)
    assert verdict is not None
    assert verdict.pulls_used > 40
    assert study.doctor().problems == ()
    assert study.definition.policy == f"{__name__}:{'TURNS' if policy is TURNS else 'PHASED'}"


def test_it_decides_as_the_same_policy_of_ours_does() -> None:
    mine, ours = created(PHASED), created("constrained-sr")
    one, other = mine.optimize(evaluate), ours.optimize(evaluate)
    assert one is not None
    assert other is not None
    assert (one.arm, one.confidence) == (other.arm, other.confidence)
    same = [[one.allocation for one in study.rounds()] for study in (mine, ours)]
    assert same[0] == same[1]
    assert len(same[0]) == 4
    left = [gone for round_ in mine.rounds() for gone in round_.left]
    assert len(left) == 3
    assert all(gone.gap is not None for gone in left)


def test_an_audit_notices_another_rule() -> None:
    """The rule at the place is another one when the study is looked at again."""
    storage = MemoryStorage()
    created(PHASED, storage).optimize(evaluate)
    worst_stays = replace(PHASED, reject=lambda *seen: int(seen[2].nonzero()[0][-1]))
    place = vars(sys.modules[__name__])
    place["PHASED"], kept = worst_stays, PHASED
    try:
        assert rf.Study.load("own", storage=storage).doctor().problems
    finally:
        place["PHASED"] = kept
    assert rf.Study.load("own", storage=storage).doctor().problems == ()


def test_a_policy_of_ours_is_kept_by_its_name() -> None:
    assert created(rf.find_policy("uniform")).definition.policy == "uniform"


def test_a_policy_without_a_place_is_refused() -> None:
    with pytest.raises(InputError, match=r"'mine' cannot be found again .* at the top of a module"):
        created(replace(PHASED))


@pytest.mark.parametrize("wrong", [constrained_sr.reject, 3, None])
def test_what_is_no_policy_is_refused(wrong: Any) -> None:
    with pytest.raises(InputError, match="must be a name, a PhasePolicy or an AdaptivePolicy"):
        created(wrong)


def test_nothing_is_imported_because_a_database_says_so(monkeypatch: pytest.MonkeyPatch) -> None:
    storage, home = MemoryStorage(), ModuleType("gone_later")
    vars(home)["RULE"] = rule = replace(TURNS, name="gone")
    monkeypatch.setitem(sys.modules, "gone_later", home)
    created(rule, storage)
    assert rf.Study.load("own", storage=storage).definition.policy == "gone_later:RULE"
    monkeypatch.delitem(sys.modules, "gone_later")
    with pytest.raises(InputError, match=r"'gone_later:RULE' .* Import gone_later first"):
        rf.Study.load("own", storage=storage)


def test_a_study_goes_on_with_its_policy_alone() -> None:
    storage = MemoryStorage()
    created(PHASED, storage)
    assert rf.Study.load("own", storage=storage, policy=PHASED).desk.plan.policy is PHASED
    with pytest.raises(InputError, match=r"exists with another policy: it has '.*:PHASED'"):
        rf.Study.load("own", storage=storage, policy=TURNS)
    assert created(PHASED, storage, load_if_exists=True).desk.plan.policy is PHASED
    with pytest.raises(InputError, match="exists with another policy"):
        created("uniform", storage, load_if_exists=True)


def test_a_place_that_holds_no_policy_is_refused() -> None:
    with pytest.raises(InputError, match="has no such policy 'PHASE'"):
        created(f"{__name__}:PHASE")


@pytest.mark.parametrize(
    ("policy", "words"),
    [(FAULTY, "named an arm that is not alive"), (RAISING, "its rule raised ZeroDivisionError")],
    ids=["faulty", "raising"],
)
def test_a_faulty_rule_is_said(policy: Any, words: str) -> None:
    with pytest.raises(InputError, match=words):
        created(policy).optimize(evaluate)


FILE = """
name = "filed"
objective = "minimize mean(x)"
constraints = ["mean(y) <= 1"]
budget = 48
seed = 3
arms = ["a", "b", "c", "d"]
policy = "{policy}"
[pull]
python = "filed_rules:evaluate"
"""
RULES = """
from dataclasses import replace
from ringfence.policies.constrained_sr import POLICY
MINE = replace(POLICY, name="mine")
def evaluate(arm, seed):
    return {"x": "abcd".index(arm) + seed % 3, "y": 0.5}
"""


def test_a_study_file_names_a_policy(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(sys, "path", [*sys.path])
    (tmp_path / "filed_rules.py").write_text(RULES, encoding="utf-8")
    path = tmp_path / "filed.toml"
    path.write_text(FILE.format(policy="filed_rules:MINE"), encoding="utf-8")
    file = read_study_file(path)
    study = file.open()
    study.optimize(file.evaluation())
    assert study.desk.plan.policy.name == "mine"
    assert file.open().status().finished
    assert file.differs_from(study.definition) == []
    for wrong, words in (
        ("filed_rules:MINT", "cannot be loaded: AttributeError"),
        ("filed_rulez:MINE", "cannot be loaded: ModuleNotFoundError"),
        ("filed_rules:", "must read 'package.module:name'"),
        ("filed_rules:evaluate", "must be a PhasePolicy or an AdaptivePolicy"),
    ):
        path.write_text(FILE.format(policy=wrong), encoding="utf-8")
        with pytest.raises(InputError, match=words):
            read_study_file(path)
    sys.modules.pop("filed_rules")
