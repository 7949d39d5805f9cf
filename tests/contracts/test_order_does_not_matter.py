"""Whoever is quicker: a study decides as if one worker had done everything in order.

And what it decides from recorded observations is what the slow transcription of the paper decides.
"""

import itertools
import threading
from collections.abc import Callable
from dataclasses import dataclass, replace
from fractions import Fraction
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from ringfence.core.best_feasible import BEST_FEASIBLE
from ringfence.core.errors import LeaseError
from ringfence.core.streams import order_of_arms, round_stream
from ringfence.policies.policy import AdaptivePolicy
from ringfence.policies.registry import ADAPTIVE_POLICIES, PHASE_POLICIES, policies_for
from ringfence.storage.memory import MemoryStorage
from ringfence.storage.sql import SqlStorage
from ringfence.study.audit import audit
from ringfence.study.desk import Desk, Report
from ringfence.study.facts import Cause, Definition, Head, PullFact, Rejection, Round, State
from ringfence.study.plan import Plan
from ringfence.study.ports import Storage
from ringfence.study.verdict import Verdict, verdict_of
from tests.oracle import transcription as paper

LEASE_SECONDS = 10.0
MEANS = np.array([[1.0, 0.6], [0.6, 0.9], [0.2, 1.3], [1.4, 0.2], [0.5, 1.1]])
COURSES = [(policy.name, 1) for policy in policies_for(BEST_FEASIBLE)] + [
    (policy.name, 5) for policy in ADAPTIVE_POLICIES
]


@dataclass(frozen=True)
class World:
    """What every pull yields: fixed by arm and ordinal, whoever evaluates it and when.

    A pull in `stumbling` fails at its first attempt only, one in `failing` always; one in `losing`
    never reports.
    """

    seed: int
    stumbling: frozenset[tuple[int, int]] = frozenset()
    failing: frozenset[tuple[int, int]] = frozenset()
    losing: frozenset[tuple[int, int]] = frozenset()

    def yields(self, pull: PullFact) -> tuple[float, ...]:
        rng = np.random.default_rng([self.seed, pull.arm, pull.ordinal])
        return tuple((MEANS[pull.arm] + rng.normal(0.0, 0.5, 2)).tolist())

    def fails(self, pull: PullFact) -> bool:
        place = (pull.arm, pull.ordinal)
        return place in self.failing or (place in self.stumbling and pull.failures == 0)


class Clock:
    def __init__(self) -> None:
        self.now = 1000.0

    def __call__(self) -> float:
        return self.now


def definition_of(policy: str, batch: int, **changes: Any) -> Definition:
    plain: dict[str, Any] = {
        "name": "s",
        "objective": "minimize mean(loss)",
        "constraints": ("mean(risk) <= 1.0",),
        "arms": {f"arm {arm}": {} for arm in range(len(MEANS))},
        "budget": 70,
        "policy": policy,
        "seed": 3,
        "batch": batch,
        "metrics": ("loss", "risk"),
        "lease_seconds": LEASE_SECONDS,
        "retries": 1,
    }
    return Definition(**{**plain, **changes})


@dataclass(frozen=True)
class Outcome:
    """What a study decided, its verdict, and what an audit finds wrong with it."""

    rounds: tuple[Round, ...]
    verdict: Verdict
    problems: tuple[str, ...]


def outcome_of(definition: Definition, storage: Storage) -> Outcome:
    """Return what was decided by a study that is finished."""
    plan = Plan.of(definition)
    with storage.reading("s") as ledger:
        assert ledger.head.finished
        problems = audit(plan, ledger).problems
    desk = Desk(plan, storage, Clock())
    return Outcome(tuple(desk.rounds()), verdict_of(plan, desk.look()), problems)


def settle(desk: Desk, world: World, pull: PullFact) -> None:
    if (pull.arm, pull.ordinal) in world.losing:
        desk.lose(pull.number, pull.lease, "gone")
    elif world.fails(pull):
        desk.fail(pull.number, pull.lease, "no", charge=True, retry=True)
    else:
        desk.tell([Report(pull.number, pull.lease, world.yields(pull))])


def in_order(definition: Definition, world: World) -> Outcome:
    """Run a study with one worker, one pull at a time."""
    storage = MemoryStorage()
    storage.create(definition, Head(budget=definition.budget))
    desk = Desk(Plan.of(definition), storage, Clock())
    while given := desk.ask(1):
        settle(desk, world, given[0])
    return outcome_of(definition, storage)


class Muddle:
    """Workers that take pulls and settle them in any order, or let them lie."""

    def __init__(
        self, definition: Definition, world: World, open_storage: Callable[[], Storage], seed: int
    ) -> None:
        self.definition, self.world, self.open_storage = definition, world, open_storage
        self.rng = np.random.default_rng(seed)
        self.clock = Clock()
        open_storage().create(definition, Head(budget=definition.budget))
        self.desks = [self.new_desk() for _ in range(4)]
        self.held: list[PullFact] = []
        self.seen = {"late": 0, "again": 0, "crashed": 0}

    def new_desk(self) -> Desk:
        return Desk(Plan.of(self.definition), self.open_storage(), self.clock)

    def run(self) -> Outcome:
        while not self.desks[0].is_finished:
            step = self.rng.random()
            desk = self.desks[int(self.rng.integers(len(self.desks)))]
            if step < 0.5 and len(self.held) < 40:
                given = desk.ask(int(self.rng.integers(1, 9)))
                self.seen["again"] += sum(pull.lease > 1 for pull in given)
                self.held += given
            elif step < 0.9:
                self.settle_some(desk)
            elif step < 0.95:  # whoever holds pulls is slow, or gone
                self.clock.now += LEASE_SECONDS
                self.held = [pull for pull in self.held if self.rng.random() < 0.7]
            else:
                self.desks[int(self.rng.integers(len(self.desks)))] = self.new_desk()
                self.seen["crashed"] += 1
        return outcome_of(self.definition, self.open_storage())

    def settle_some(self, desk: Desk) -> None:
        for _ in range(int(self.rng.integers(1, 9))):
            if not self.held:
                return
            pull = self.held.pop(int(self.rng.integers(len(self.held))))
            try:
                settle(desk, self.world, pull)
            except LeaseError:
                self.seen["late"] += 1
            except ValueError as error:  # under an old lease, of a pull that is over
                if "nothing more can be said" not in str(error):
                    raise
                self.seen["late"] += 1


def assert_same(found: Outcome, wanted: Outcome) -> None:
    for mine, theirs in zip(found.rounds, wanted.rounds, strict=False):
        assert mine == theirs
    assert len(found.rounds) == len(wanted.rounds)
    assert found.verdict == wanted.verdict
    assert found.problems == wanted.problems == ()


def troubled(seed: int) -> World:
    """Return a world in which some pulls fail, none so often that an arm is given up."""
    rng = np.random.default_rng(seed)
    places = [(arm, ordinal) for arm in range(len(MEANS)) for ordinal in range(70)]
    stumbling = frozenset(place for place in places if rng.random() < 0.15)
    failing = frozenset((arm, n) for arm, n in places if n % 7 == 3 and rng.random() < 0.3)
    return World(seed, stumbling, failing)


@pytest.mark.parametrize(("policy", "batch"), COURSES)
def test_any_order_gives_the_same_rounds_and_verdict(policy: str, batch: int) -> None:
    budget = 40 if policy == "thompson" else 70
    definition = definition_of(policy, batch, budget=budget)
    late = again = 0
    for seed in range(3):
        world = troubled(seed)
        wanted = in_order(definition, world)
        assert len(wanted.rounds) >= 2
        for turn in range(3):
            storage = MemoryStorage()
            muddle = Muddle(definition, world, lambda held=storage: held, 10 * seed + turn)  # type: ignore[misc]
            assert_same(muddle.run(), wanted)
            late, again = late + muddle.seen["late"], again + muddle.seen["again"]
    assert late >= 3, "late tells must have occurred"
    assert again >= 10, "pulls must have been issued again"


@pytest.mark.parametrize(("policy", "batch"), [("constrained-sr", 1), ("top-two", 5)])
def test_any_order_gives_the_same_on_disk(policy: str, batch: int, tmp_path: Path) -> None:
    definition = definition_of(policy, batch)
    world = troubled(5)
    opened: list[SqlStorage] = []

    def open_storage() -> Storage:
        opened.append(SqlStorage(f"sqlite:///{tmp_path / 's.db'}"))
        return opened[-1]

    found = Muddle(definition, world, open_storage, 5).run()
    for storage in opened:
        storage.close()
    assert_same(found, in_order(definition, world))


@pytest.mark.parametrize(("policy", "batch"), [("sequential-halving", 1), ("top-two", 5)])
def test_threads_give_the_same(policy: str, batch: int, tmp_path: Path) -> None:
    definition = definition_of(policy, batch)
    world = troubled(6)
    url = f"sqlite:///{tmp_path / 's.db'}"
    first = SqlStorage(url)
    first.create(definition, Head(budget=definition.budget))
    failures: list[BaseException] = []

    def work(number: int) -> None:
        rng = np.random.default_rng(number)
        storage = SqlStorage(url)
        try:
            desk = Desk(Plan.of(definition), storage, Clock())
            while not desk.is_finished:
                given = desk.ask(int(rng.integers(1, 4)))
                for place in rng.permutation(len(given)):
                    settle(desk, world, given[place])
        except BaseException as error:  # noqa: BLE001 - shown below
            failures.append(error)
        finally:
            storage.close()

    threads = [threading.Thread(target=work, args=(number,)) for number in range(4)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert failures == []
    found = outcome_of(definition, first)
    first.close()
    assert_same(found, in_order(definition, world))


BREAKING = frozenset((1, ordinal) for ordinal in range(3, 6))


@pytest.mark.parametrize(("policy", "batch"), COURSES)
@pytest.mark.parametrize("limit", ["mean(risk) <= 1.0", "p80(risk) <= 1.4"])
def test_an_arm_that_breaks_leaves_the_same_in_any_order(
    policy: str, batch: int, limit: str
) -> None:
    """Others may have told pulls of the arm beyond the one that broke it: nobody must see them."""
    budget = 70 if policy == "thompson" else 120
    definition = definition_of(policy, batch, budget=budget, retries=0, constraints=(limit,))
    world = World(1, failing=BREAKING | {(1, 9)})
    wanted = in_order(definition, world)
    left = [(one.arm, one.cause, one.failures) for at in wanted.rounds for one in at.left]
    assert (1, Cause.FAILING, 3) in left
    for turn in range(4):
        storage = MemoryStorage()
        found = Muddle(definition, world, lambda held=storage: held, turn).run()  # type: ignore[misc]
        # How many pulls of the broken arm were evaluated is the one thing that may differ.
        used = replace(
            found.verdict, pulls_used=wanted.verdict.pulls_used, account=wanted.verdict.account
        )
        assert_same(replace(found, verdict=used), wanted)


LOST = frozenset({(1, 4), (1, 5), (1, 7), (0, 2), (0, 3), (0, 4), (2, 5)})
AROUND = frozenset({(1, 3), (1, 6), (1, 8), (0, 1), (0, 6), (3, 4), (3, 5)})


@pytest.mark.parametrize(("policy", "batch"), [("constrained-sr", 1), ("top-two", 5)])
def test_lost_pulls_lengthen_no_run_of_failures_and_end_none(policy: str, batch: int) -> None:
    """Three failures of arm 1 are in a row, lost pulls between them; arm 0 only lost three."""
    definition = definition_of(policy, batch, budget=120, retries=0)
    world = World(2, failing=AROUND, losing=LOST)
    wanted = in_order(definition, world)
    left = [one for at in wanted.rounds for one in at.left if one.is_withdrawal]
    assert left == [Rejection(1, Cause.FAILING, failures=3)]
    for turn in range(4):
        storage = MemoryStorage()
        found = Muddle(definition, world, lambda held=storage: held, turn).run()  # type: ignore[misc]
        used = replace(
            found.verdict, pulls_used=wanted.verdict.pulls_used, account=wanted.verdict.account
        )
        assert_same(replace(found, verdict=used), wanted)


@pytest.mark.parametrize(("policy", "batch"), [("sequential-halving", 1), ("top-two", 5)])
def test_first_pulls_that_are_lost_are_given_anew_in_any_order(policy: str, batch: int) -> None:
    definition = definition_of(policy, batch, budget=120, retries=0)
    first = Plan.of(definition).first_pulls(120)
    whole = frozenset((1, ordinal) for ordinal in range(first))
    world = World(2, losing=LOST | whole | {(1, first + 1)})
    wanted = in_order(definition, world)
    assert not any(one.is_withdrawal for at in wanted.rounds for one in at.left)
    assert wanted.rounds[1].allocation[1] >= first
    assert wanted.problems == ()
    for turn in range(4):
        storage = MemoryStorage()
        found = Muddle(definition, world, lambda held=storage: held, turn).run()  # type: ignore[misc]
        assert_same(found, wanted)


@pytest.mark.parametrize(("policy", "batch"), [("sequential-halving", 1), ("top-two", 5)])
def test_what_is_told_in_place_of_failures_gives_the_same_in_any_order(
    policy: str, batch: int
) -> None:
    """No arm is withdrawn, however often it fails: its failures are observations."""
    definition = definition_of(
        policy, batch, budget=120, retries=0, on_failure={"loss": 3.0, "risk": 2.0}
    )
    world = World(1, failing=BREAKING | AROUND | {(1, 9)}, losing=LOST)
    wanted = in_order(definition, world)
    assert not any(one.is_withdrawal for at in wanted.rounds for one in at.left)
    for turn in range(4):
        storage = MemoryStorage()
        found = Muddle(definition, world, lambda held=storage: held, turn).run()  # type: ignore[misc]
        assert_same(found, wanted)


KINDS = [
    ("minimize mean(loss)", ("p80(risk) <= 1.4",)),
    ("minimize std(loss)", ("mean(risk) <= 1.0", "share(loss > 1.5) <= 0.2")),
    ("maximize mean(loss)", ("cvar(risk, 0.8) <= 2.0",)),
    ("minimize quantile(loss, 0.5)", ("mean(risk) >= 0.5", "variance(risk) <= 1")),
]


@pytest.mark.parametrize(("objective", "constraints"), KINDS)
@pytest.mark.parametrize(("policy", "batch"), [("constrained-sr", 1), ("top-two", 5)])
def test_any_attribute_gives_the_same_in_any_order(
    policy: str, batch: int, objective: str, constraints: tuple[str, ...]
) -> None:
    definition = definition_of(
        policy, batch, budget=150, objective=objective, constraints=constraints
    )
    world = troubled(8)
    wanted = in_order(definition, world)
    for turn in range(2):
        storage = MemoryStorage()
        found = Muddle(definition, world, lambda held=storage: held, turn).run()  # type: ignore[misc]
        assert_same(found, wanted)


def test_the_comparison_notices_another_observation() -> None:
    """A world that differs in a single pull must give other rounds."""
    definition = definition_of("constrained-sr", 1)
    wanted = in_order(definition, World(1))
    other = in_order(definition, World(1, failing=frozenset({(0, 0)})))
    with pytest.raises(AssertionError):
        assert_same(other, wanted)
    with pytest.raises(AssertionError):
        assert_same(replace(wanted, verdict=other.verdict), wanted)


# --------------------------------------------------------------------------------------
# The same as the paper
# --------------------------------------------------------------------------------------

THRESHOLDS = (1, 2)
Samples = list[list[list[int]]]


def scales_of(samples: Samples) -> list[Fraction]:
    """Return sqrt(1/(2 V)) with V pooled within arms, or 1 where nothing varied."""
    width = len(samples[0][0])
    scales = []
    for c in range(width):
        scatter, freedom = Fraction(0), 0
        for rows in samples:
            column = [Fraction(row[c]) for row in rows]
            mean = sum(column, Fraction(0)) / len(column)
            scatter += sum(((x - mean) ** 2 for x in column), Fraction(0))
            freedom += len(column) - 1
        pooled = scatter / max(freedom, 1)
        root = Fraction((0.5 / float(pooled)) ** 0.5) if pooled > 0 else Fraction(1)
        scales.append(root)
    return scales


@dataclass(frozen=True)
class Played:
    """What the transcription did: its answer, and the arms in the order in which they left."""

    answer: int
    flag: bool
    rejected: list[int]
    pulls: list[int]


def play(
    policy: str, budget: int, pull: Callable[[int, int], list[int]], priority: list[int]
) -> Played:
    """Play a phase policy with the paper's own rules and scales estimated from all pulls so far."""
    K = len(priority)
    samples: Samples = [[] for _ in range(K)]
    alive, rejected = set(range(K)), []
    phases: list[tuple[list[int], int]]  # pulls of each survivor by rank, survivors after it
    if policy in paper.SUCCESSIVE_REJECTS_RULES:
        reject = paper.SUCCESSIVE_REJECTS_RULES[policy]
        totals = paper.successive_rejects_schedule(K, budget)
        steps = [now - before for now, before in zip(totals, [0, *totals], strict=False)]
        phases = [([each] * (K - k), K - k - 1) for k, each in enumerate(steps)]
    elif policy in paper.HALVING_RULES:
        reject = paper.HALVING_RULES[policy]
        phases = [
            ([each + (rank < extra) for rank in range(survivors)], after)
            for survivors, each, extra, after in paper.sequential_halving_rounds(K, budget)
        ]
    else:
        reject = paper.constrained_sr_reject
        counts = paper.uniform_pulls(K, budget, priority)
        phases = [([counts[i] for i in sorted(range(K), key=lambda i: priority[i])], K)]
    for counts, after in phases:
        for rank, i in enumerate(sorted(alive, key=lambda i: priority[i])):
            for _ in range(counts[rank]):
                samples[i].append(pull(i, len(samples[i])))
        estimates = [paper.mean_row(rows) for rows in samples]
        scales = scales_of(samples)
        while len(alive) > max(after, 1):
            worst = reject(estimates, alive, scales, THRESHOLDS, priority)
            alive = alive - {worst}
            rejected.append(worst)
    estimates, scales = [paper.mean_row(rows) for rows in samples], scales_of(samples)
    answer = paper.apparent_best(estimates, alive, scales, THRESHOLDS, priority)
    flag = paper.is_feasible(estimates[answer], scales, THRESHOLDS)
    return Played(answer, flag, rejected, [len(rows) for rows in samples])


@pytest.mark.parametrize("policy", [policy.name for policy in PHASE_POLICIES])
def test_a_study_decides_as_the_paper_does(policy: str) -> None:
    """On whole numbers, where ties and estimates on a threshold are frequent."""
    ties = on_threshold = exact = 0
    for seed in range(40):
        rng = np.random.default_rng([11, seed])
        K = int(rng.integers(2, 8))
        budget = int(rng.integers(8 * K, 20 * K))
        spread = [int(rng.integers(0, 3)) for _ in range(3)]
        centres = rng.integers(0, 4, size=(K, 3))
        rows = centres[:, None, :] + rng.integers(-1, 2, size=(K, budget, 3)) * spread
        definition = definition_of(
            policy,
            1,
            seed=seed,
            budget=budget,
            arms={f"arm {arm}": {} for arm in range(K)},
            constraints=("mean(risk) <= 1", "mean(third) <= 2"),
            metrics=("loss", "risk", "third"),
        )
        storage = MemoryStorage()
        storage.create(definition, Head(budget=budget))
        desk = Desk(Plan.of(definition), storage, Clock())
        while given := desk.ask(5):
            desk.tell(
                [
                    Report(pull.number, 1, tuple(float(x) for x in rows[pull.arm, pull.ordinal]))
                    for pull in reversed(given)
                ]
            )
        found = outcome_of(definition, storage)
        priority = order_of_arms(seed, K).tolist()
        played = play(policy, budget, lambda i, n: rows[i, n].tolist(), priority)  # noqa: B023
        left = [one.arm for at in found.rounds for one in at.left]
        assert left == played.rejected
        assert found.verdict.arm == f"arm {played.answer}"
        assert found.verdict.feasible == played.flag
        assert [arm.pulls for arm in found.verdict.arms] == played.pulls
        seen = found.rounds[-1].seen["estimates"]
        ties += len({row[0] for row in seen}) < K
        on_threshold += any(row[1] == 1.0 or row[2] == 2.0 for row in seen)
        exact += len(found.verdict.exact) > 0
    assert min(ties, on_threshold, exact) >= 5, (ties, on_threshold, exact)


# --------------------------------------------------------------------------------------
# The same as the policy
# --------------------------------------------------------------------------------------


@pytest.mark.parametrize("policy", ["top-two", "thompson"])
def test_a_batch_is_what_the_policy_chooses_with_the_stream_of_its_round(policy: str) -> None:
    """Every pull of a batch has chance of its own, and so has every round."""
    definition = definition_of(policy, 4, budget=62, retries=0)
    world, plan = World(2), Plan.of(definition)
    rule = plan.policy
    assert isinstance(rule, AdaptivePolicy)
    rounds = in_order(definition, world).rounds
    assert [one.size for one in rounds] == [30, *[4] * 8, 0]
    book = plan.new_book()
    for before, now in itertools.pairwise(rounds[:-1]):
        for arm, count in enumerate(before.allocation):
            first = before.before[arm]
            pulls = [pull_at(arm, ordinal) for ordinal in range(first, first + count)]
            book.add(arm, np.array([world.yields(pull) for pull in pulls]))
        chosen = np.zeros(now.size, np.int64)
        order, left = order_of_arms(definition.seed, len(MEANS)), 62 - sum(now.before)
        evidence = book.evidence(np.array(now.alive), order, left=left)
        uniforms = round_stream(definition.seed, now.number).random(now.size)
        rule.choose(evidence, uniforms, chosen, rule.make_work(len(MEANS), 2))
        assert np.bincount(chosen, minlength=len(MEANS)).tolist() == list(now.allocation)


def pull_at(arm: int, ordinal: int) -> PullFact:
    return PullFact(1, arm, ordinal, 0, State.ISSUED, 1, 0.0)
