"""Some thirty live studies: every policy, and all that may happen to pulls, arms and budgets.

A script plays one study in a storage, and returns it. Evaluations are those of `playing.py`.
"""

from collections.abc import Callable
from typing import Any

import numpy as np

import ringfence as rf
from tests.golden.cells import ADAPTIVE, POLICIES
from tests.golden.playing import Played, bell, supposed, unit

Script = Callable[[Any, str], Played]
SCRIPTS: dict[str, Script] = {}
KEPT_ON_DISK: list[str] = []  # studies of which the database is kept too


def script(*, on_disk: bool = False) -> Callable[[Script], Script]:
    """Enter a function among the scripts, under its own name."""

    def enter(play: Script) -> Script:
        name = play.__name__.replace("_", " ")
        SCRIPTS[name] = play
        if on_disk:
            KEPT_ON_DISK.append(name)
        return play

    return enter


def near(arm: int, ordinal: int) -> dict[str, float]:
    """Return two normal metrics; the arm that is better on average breaks the limit."""
    return {
        "a": (0.5, 0.2, 0.4, 0.7)[arm % 4] + bell(arm, ordinal),
        "b": (0.3, 0.8, 0.45, 0.1)[arm % 4] + bell(arm, ordinal, 1),
    }


def grid(arm: int, ordinal: int) -> dict[str, float]:
    """Return small whole numbers, with ties between arms and on limits."""
    return {"a": float((ordinal + arm // 2) % 3), "b": float((ordinal + arm) % 2)}


def waits(arm: int, ordinal: int) -> dict[str, float]:
    """Return yes or no, and a waiting time with a long tail."""
    long = unit(arm, ordinal, 2)
    return {
        "a": float(unit(arm, ordinal) < (0.5, 0.8, 0.65, 0.7)[arm % 4]),
        "b": (0.2, 0.5, 0.3, 0.25)[arm % 4] / (1.05 - long),
    }


def _policy(name: str) -> Script:
    def play(storage: Any, title: str) -> Played:
        two = ["mean(b) <= 0.5", "mean(b) >= 0.05"]
        batch = 3 if name in ADAPTIVE else 1
        return Played(
            storage, title, near, policy=name, constraints=two, batch=batch, budget=70, seed=3
        ).go(most=batch)

    return play


SCRIPTS |= {f"by {name}": _policy(name) for name in POLICIES}


@script()
def ties_on_a_grid(storage: Any, title: str) -> Played:
    return Played(storage, title, grid, policy="infeasible-first", budget=61).go(most=5)


@script()
def ties_on_a_grid_by_batches(storage: Any, title: str) -> Played:
    return Played(storage, title, grid, policy="ocba-co", budget=61, batch=4).go(most=2)


@script()
def twenty_arms(storage: Any, title: str) -> Played:
    def spread(arm: int, ordinal: int) -> dict[str, float]:
        return {"a": arm % 7 / 4.0 + bell(arm, ordinal), "b": arm % 3 / 4.0 + bell(arm, ordinal, 1)}

    arms = [f"v{place}" for place in range(20)]
    return Played(storage, title, spread, arms=arms, budget=260, batch=9).go(most=9)


@script()
def large_batches(storage: Any, title: str) -> Played:
    return Played(storage, title, near, policy="top-two", batch=50, budget=190).go(most=9)


@script(on_disk=True)
def stopped_half_way(storage: Any, title: str) -> Played:
    return Played(storage, title, near, batch=3, seed=9).go(most=3, stop=50)


@script()
def stopped_and_gone_on(storage: Any, title: str) -> Played:
    return stopped_half_way(storage, title).go(most=3)


@script()
def stopped_in_a_phase(storage: Any, title: str) -> Played:
    return Played(storage, title, near, policy="sequential-halving").go(stop=50)


@script(on_disk=True)
def a_budget_raised_in_a_phase(storage: Any, title: str) -> Played:
    played = Played(storage, title, near, policy="constrained-sr", budget=40).go(stop=25)
    played.study.raise_budget(70)
    return played.go()


@script()
def a_budget_raised_at_the_end(storage: Any, title: str) -> Played:
    """Nothing is left to be done for a study that is finished; top-two goes on before its end."""
    played = Played(storage, title, near, policy="top-two", budget=50, batch=4).go(stop=48)
    played.study.raise_budget(75)
    played.go(most=4)
    return played


@script(on_disk=True)
def failures_retries_and_a_withdrawal(storage: Any, title: str) -> Played:
    def fails(pull: rf.Pull) -> bool:
        dead = pull.arm == "v1" and pull.ordinal > 5
        return dead or (pull.ordinal % 6 == 2 and pull.lease == 1)

    played = Played(
        storage, title, near, policy="top-two", batch=4, retries=1, max_failures=2, seed=5
    )
    return played.go(most=4, fails=fails)


@script()
def a_withdrawal_in_a_phase(storage: Any, title: str) -> Played:
    played = Played(storage, title, near, policy="successive-rejects", max_failures=2)
    return played.go(fails=lambda pull: pull.arm == "v2" and pull.ordinal > 4, retry=False)


@script(on_disk=True)
def withdrawn_and_revived(storage: Any, title: str) -> Played:
    played = Played(storage, title, near, batch=4, max_failures=2)
    played.go(stop=34, fails=lambda pull: pull.arm == "v2" and pull.ordinal in (3, 4), retry=False)
    played.note(played.study.revive("v2"), played.study.revive("v0"))
    return played.go(most=2)


@script()
def revived_in_a_phase(storage: Any, title: str) -> Played:
    played = Played(storage, title, near, policy="glr-halving", max_failures=1)
    played.go(stop=30, fails=lambda pull: pull.arm == "v0" and pull.ordinal == 2, retry=False)
    played.note(played.study.revive("v0"))
    return played.go()


@script()
def an_arm_that_was_never_seen(storage: Any, title: str) -> Played:
    played = Played(storage, title, near, policy="infeasible-first", max_failures=64)
    for pull in played.ask(64):
        if pull.arm == "v1":
            played.note(played.study.fail(pull, "no", retry=False))
        else:
            played.tell(pull)
    return played.go()


@script()
def first_pulls_that_are_lost(storage: Any, title: str) -> Played:
    played = Played(storage, title, near, policy="infeasible-first")
    for pull in played.ask(64):
        if pull.arm == "v1":
            played.note(played.study.lost(pull))
        else:
            played.tell(pull)
    return played.go()


@script()
def none_is_feasible(storage: Any, title: str) -> Played:
    return Played(storage, title, near, constraints="mean(b) <= -0.25", batch=2).go(most=2)


@script()
def nobody_left(storage: Any, title: str) -> Played:
    played = Played(storage, title, near, max_failures=2)
    return played.go(fails=lambda pull: True, retry=False)


@script(on_disk=True)
def stand_ins_for_failures(storage: Any, title: str) -> Played:
    played = Played(
        storage, title, near, constraints=["mean(b) <= 0.5", "mean(failed) <= 0.1"],
        on_failure={"a": 2.0, "b": 1.0}, on_timeout={"a": 3.0, "b": 2.0}, batch=3,
    )  # fmt: skip
    played.go(stop=30, fails=lambda pull: pull.ordinal % 7 == 3, retry=False)
    return played.go(most=3, fails=lambda pull: pull.ordinal % 5 == 2, retry=False, timed_out=True)


@script()
def failures_that_could_matter(storage: Any, title: str) -> Played:
    played = Played(storage, title, near, policy="uniform", max_failures=9)
    return played.go(fails=lambda pull: pull.arm == "v2" and pull.ordinal % 3 == 1, retry=False)


@script(on_disk=True)
def lost_and_forgiven(storage: Any, title: str) -> Played:
    played = Played(storage, title, near, batch=4, max_failures=3, budget=80)
    played.go(stop=44)
    down = [pull for _ in range(2) for pull in played.ask(2)]
    for pull in down[:3]:
        played.note(played.study.fail(pull, "503", retry=False))
    played.note(played.study.lost(down[3], "the machine was taken away"))
    played.note(played.study.forgive([pull.pull for pull in down[:2]]))
    played.go(stop=60, fails=lambda pull: pull.arm == "v0", retry=False)
    failed = [note[0] for note in played.notes if len(note) == 2]
    played.go(stop=64)
    played.note(played.study.forgive(failed))
    return played.go(most=4)


@script()
def an_outage_in_a_phase(storage: Any, title: str) -> Played:
    played = Played(storage, title, near, policy="sequential-halving", max_failures=2)
    played.go(stop=36, fails=lambda pull: 5 <= pull.ordinal <= 7, retry=False)
    played.note(played.study.forgive([note[0] for note in played.notes]))
    return played.go()


@script()
def leases_that_run_out(storage: Any, title: str) -> Played:
    played = Played(storage, title, near, batch=4, budget=80, lease_seconds=60.0, max_leases=2)
    played.go(most=4, stop=48)
    silent, slow = played.ask(2)
    played.now += 45.0
    played.note(played.study.extend(slow) - played.now)
    played.now += 30.0
    played.tell(slow)
    for _ in range(3):
        played.note([pull.pull == silent.pull for pull in played.ask(1)])
        played.now += 61.0
    played.go(stop=58)
    played.ask(2)
    played.note(played.study.take_back())
    return played.go(most=4)


@script()
def limits_relative_to_a_baseline(storage: Any, title: str) -> Played:
    return Played(
        storage, title, near, constraints=["mean(b) <= 1.2 * baseline", "mean(b) <= 0.9"],
        baseline="v2", batch=3,
    ).go(most=3)  # fmt: skip


@script(on_disk=True)
def phases_beside_a_baseline(storage: Any, title: str) -> Played:
    return Played(
        storage, title, near, constraints="mean(b) <= baseline + 0.1", baseline="v0",
        policy="constrained-sr",
    ).go()  # fmt: skip


@script()
def a_baseline_that_is_withdrawn(storage: Any, title: str) -> Played:
    played = Played(
        storage, title, near, constraints="mean(b) <= baseline + 0.1", baseline="v3",
        max_failures=2,
    )  # fmt: skip
    return played.go(fails=lambda pull: pull.arm == "v3" and pull.ordinal > 10, retry=False)


@script()
def stated_deviations(storage: Any, title: str) -> Played:
    noise = {"a": {"sigma": 0.5}, "b": {"sigma": 0.5, "bounds": [-9, 9]}}
    return Played(storage, title, near, noise=noise, policy="ocba-co", batch=2).go(most=2)


@script()
def a_stated_covariance(storage: Any, title: str) -> Played:
    noise = {"covariance": [[0.25, 0.05], [0.05, 0.25]]}
    return Played(storage, title, near, noise=noise, policy="scalarised").go()


@script()
def yes_or_no_within_bounds(storage: Any, title: str) -> Played:
    return Played(
        storage, title, waits, objective="maximize mean(a)", constraints="mean(b) <= 1.5",
        noise={"a": {"bounds": [0, 1]}}, batch=4, budget=100,
    ).go(most=4)  # fmt: skip


@script()
def an_exact_metric(storage: Any, title: str) -> Played:
    def priced(arm: int, ordinal: int) -> dict[str, float]:
        return {"a": near(arm, ordinal)["a"], "b": (0.5, 0.75, 0.25, 0.5)[arm]}

    return Played(storage, title, priced, noise={"exact": ["b"]}).go()


@script()
def what_never_varied(storage: Any, title: str) -> Played:
    def silent(arm: int, ordinal: int) -> dict[str, float]:
        return {"a": near(arm, ordinal)["a"], "b": 0.25}

    return Played(storage, title, silent, constraints="mean(b) <= 0.3", policy="uniform").go()


@script()
def rare_events(storage: Any, title: str) -> Played:
    def rare(arm: int, ordinal: int) -> dict[str, float]:
        return {"a": near(arm, ordinal)["a"], "b": float(arm == 1 and ordinal % 9 == 4)}

    return Played(storage, title, rare, constraints="mean(b) <= 0.02", policy="uniform").go()


@script(on_disk=True)
def limits_on_a_quantile_and_a_share(storage: Any, title: str) -> Played:
    return Played(
        storage, title, waits, objective="maximize mean(a)",
        constraints=["p75(b) <= 1.0", "share(b > 3) <= 0.1"], budget=110, batch=10,
        arms=["v0", "v1"],
    ).go(most=10)  # fmt: skip


@script()
def limits_on_tails_and_spreads(storage: Any, title: str) -> Played:
    return Played(
        storage, title, near, objective="minimize robust_mean(a)",
        constraints=["cvar(b, 0.8) <= 1.2", "std(a) <= 0.7", "variance(b) <= 0.6"],
        policy="constrained-sr", budget=160,
    ).go()  # fmt: skip


def ratio(a: Any, b: Any) -> float:
    """Return an attribute of one's own."""
    return float(np.sum(a) / np.sum(b))


@script()
def an_attribute_of_ones_own(storage: Any, title: str) -> Played:
    return Played(
        storage, title, waits, objective="maximize ratio(a, b)", constraints="mean(b) <= 1.5",
        functions={"ratio": ratio}, budget=60, batch=5,
    ).go(most=5)  # fmt: skip


@script(on_disk=True)
def brought_along_with_further_numbers(storage: Any, title: str) -> Played:
    played = Played(storage, title, near, metrics=["a", "b", "watts"], batch=4)
    past = {
        "arm": ["v0", "v1", "v1", "v3"], "a": [0.5, 0.25, 0.125, 1.0], "b": [0.25, 0.5, 1.0, 0.0],
        "watts": [1.0, 2.0, 3.0, 4.0],
    }  # fmt: skip
    played.note(played.study.bring(past, arm="arm", label="last spring"))
    played.note(played.study.bring(past, arm="arm", label="last spring"))
    while pulls := played.ask(4):
        values = [played.evaluate(played.place(one), one.ordinal) for one in pulls]
        rows = [dict(one) | {"watts": 2.5, "tokens": 812} for one in values]
        played.note(*played.study.tell_many(pulls, rows))
    return played


@script()
def other_thresholds(storage: Any, title: str) -> Played:
    played = Played(
        storage, title, waits, objective="maximize mean(a)",
        constraints=["p80(b) <= 1.25", "mean(b) <= 1.0"], policy="infeasible-first", budget=160,
    ).go()  # fmt: skip
    for place, threshold in ((0, 2.5), (1, 0.4)):
        played.note(supposed(played.study, place, threshold))
    return played
