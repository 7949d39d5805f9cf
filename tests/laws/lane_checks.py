"""Comparisons of lane rules with the policies' own, as functions to run a fault through."""

from collections import Counter
from collections.abc import Iterator
from typing import Any

import numpy as np

from ringfence.core.arrays import Floats, Mask
from ringfence.core.gaps import apparent_best, margin
from ringfence.core.streams import Generator, chunk_streams
from ringfence.policies.course import Opening
from ringfence.policies.evidence import Evidence
from ringfence.policies.policy import AdaptivePolicy
from ringfence.simulation.course import Design, shuffle
from ringfence.simulation.lanes.rules import LIMIT, OBJECTIVE, PULLS, RANK, LaneRule
from ringfence.simulation.tally import Tally
from tests.laws.adaptive_checks import MakeWork, chosen_by, random_covariances

LANES = 12
PULLS_OF_A_BATCH = 6


def worlds(size: int) -> Iterator[list[Evidence]]:
    """Yield studies with the same arms, noise and limits; half of them lie on a coarse grid.

    In half of these limits, or in half of the lanes, no arm is feasible. Some arms are copies.
    """
    rng = np.random.default_rng(88)
    for number in range(size):
        on_grid, arm_count = number % 2 == 0, int(rng.integers(1, 8))
        covariances = random_covariances(rng, arm_count, 2, on_grid=on_grid)
        copied = rng.integers(0, arm_count, arm_count) if number % 3 == 0 else np.arange(arm_count)
        covariances = covariances[copied]
        scales, thresholds = rng.choice([0.5, 1.0, 2.0], 2), rng.integers(-1, 2, 1).astype(float)
        left = np.array([int(2.0 ** rng.uniform(0.0, 12.0))])
        lanes = []
        for lane in range(LANES):
            estimates = rng.normal(scale=0.7, size=(arm_count, 2))
            if on_grid:
                estimates = rng.integers(-2, 3, (arm_count, 2)).astype(float)
            if (lane + number) % 3 == 0 or number % 5 == 0:
                estimates[:, 1] = thresholds[0] + 0.5 * rng.integers(1, 4, arm_count)
            seen = Evidence(
                estimates[copied], rng.integers(1, 41, arm_count)[copied],
                np.zeros(arm_count, np.int64), np.ones(arm_count, np.bool_), covariances,
                scales, thresholds, rng.permutation(arm_count), left,
            )  # fmt: skip
            lanes.append(seen)
        yield lanes


def chosen_side_by_side(rule: LaneRule, lanes: list[Evidence], uniforms: Floats) -> list[list[int]]:
    """Return the batch of every lane; what a rule has not written is no number."""
    one = lanes[0]
    arms = np.full((len(one.counts), rule.arm_rows, len(lanes)), np.nan)
    for lane, seen in enumerate(lanes):
        arms[:, OBJECTIVE, lane], arms[:, LIMIT, lane] = seen.estimates.T
        arms[:, PULLS, lane], arms[:, RANK, lane] = seen.counts, seen.priority
    front = np.full((rule.front_rows, len(lanes)), np.nan)
    chosen = np.full(uniforms.shape, -1)
    rule.choose(
        arms, front, one.covariances, one.scales, one.thresholds, int(one.left[0]), uniforms, chosen
    )
    return [[int(arm) for arm in batch] for batch in chosen.T]


def check_lanes(rule: LaneRule, make_work: MakeWork, *, size: int) -> Counter[str]:
    """Compare a rule for many replications with the one for one of them, to the last bit."""
    seen: Counter[str] = Counter()
    rng = np.random.default_rng(89)
    for lanes in worlds(size):
        if not rule.suits(lanes[0].covariances):
            seen["unsuited"] += 1
            continue
        uniforms = rng.random((int(rng.integers(1, PULLS_OF_A_BATCH + 1)), len(lanes)))
        found = chosen_side_by_side(rule, lanes, uniforms)
        for lane, study in enumerate(lanes):
            right = chosen_by(rule.alike, make_work, study, uniforms[:, lane].copy())
            assert found[lane] == right, f"lane {lane}: {found[lane]}, not {right}: {study}"
            given = study.scales, study.thresholds
            best = apparent_best(study.estimates, study.alive, *given, study.priority)
            feasible = margin(study.estimates, best, *given) <= 0.0
            seen["feasible" if feasible else "none feasible"] += 1
            seen["best arm pulled"] += best in right
            seen["several arms"] += len(set(right)) > 1
            excess = study.estimates[:, 1] - study.thresholds[0]
            over = (excess > 0.0) & (excess**2 * study.counts <= study.covariances[:, 1, 1])
            seen["lenient"] += bool(over.any())
            seen["shrunk"] += len(study.alive) > 3
            seen["pulls"] += len(right)
    return seen


# ---------------------------------------------------------------------------------- the courses


def settled_sums(
    rng: Generator, arrays: Floats, noise: Floats, drawn: Mask, arm: int, pulls: int, block: Floats
) -> None:
    """Stand in for a law: a block's sum follows from its arm and length alone."""
    for c in range(block.shape[0]):
        block[c, 0] = pulls * arrays[arm, c] + ((7 * arm + 3 * pulls + 5 * c) % 5 - 2)


def tally_of(replications: int) -> Tally:
    return Tally(
        wrong=np.zeros(replications, np.bool_), flag_wrong=np.zeros(replications, np.bool_),
        lost_in_phase=np.zeros(1, np.int64), pulls=np.zeros(3, np.int64),
        chosen=np.zeros((3, 2), np.int64), misjudged=np.zeros(1, np.int64),
        paid=np.zeros(1, np.int64),
        pulled=np.zeros(replications, np.int64), proven=np.zeros(replications, np.int64),
    )  # fmt: skip


def check_lane_courses(kernels: Any, rule: LaneRule, policy: AdaptivePolicy) -> int:
    """Compare whole courses in lanes with each lane's own, decided one by one.

    Return how many different courses there were.
    """
    means = np.array([[0.3, -0.2], [0.1, 0.1], [0.2, -0.1]])
    different = 0
    for budget, growth, slots in ((65, 0.0, 4), (150, 0.3, 8)):
        design = Design(
            warm_up=5, budget=budget, prices=np.ones(3, np.int64), cheapest=1, dearest=1, total=3,
            batch=4, growth=growth, slots=slots, scales=np.ones(2),
            covariances=np.tile([[4.0, 1.0], [1.0, 4.0]], (3, 1, 1)), means=np.ones(2, np.bool_),
            thresholds=np.zeros(1), optimal=np.array([False, False, True]), feasible=True,
            shuffled=True,
        )  # fmt: skip
        found = tally_of(kernels.LANES + 6)
        answer = policy.course.answer
        kernel = kernels.make_kernel(rule.choose, answer, settled_sums, rule.arm_rows, 0)
        room = kernels.make_room(design, rule, 0)
        state = policy.course.make_state(Opening(5), 3, 2, slots)
        kernel(*chunk_streams(1, budget, 0), means, design, room, state, found)
        right = tally_of(len(found.wrong))
        _, order_rng = chunk_streams(1, budget, 0)
        courses = set()
        for first in (0, kernels.LANES):
            courses |= set(
                one_by_one(design, means, order_rng, policy, kernels.LANES, first, right)
            )
        for name, here, there in zip(Tally._fields, found, right, strict=True):
            np.testing.assert_array_equal(here, there, name)
        different += len(courses)
    return different


def one_by_one(
    design: Design,
    means: Floats,
    order_rng: Generator,
    policy: AdaptivePolicy,
    lanes: int,
    first: int,
    tally: Tally,
) -> list[tuple[int, ...]]:
    """Run as many replications as there are lanes, count those asked for, return their pulls."""
    priorities = np.zeros((3, lanes), np.int64)
    for lane in range(lanes):
        shuffle(order_rng, priorities, lane)
    sums, counts = np.zeros((lanes, 3, 2)), np.zeros((lanes, 3), np.int64)
    fresh, block = np.full((lanes, 3), design.warm_up), np.zeros((2, 1))
    work = policy.make_work(3, 2)
    seen: list[Evidence] = []
    while True:
        for lane, arm in zip(*np.nonzero(fresh), strict=True):
            settled_sums(order_rng, means, block, block > 0, int(arm), int(fresh[lane, arm]), block)
            sums[lane, arm] += block[:, 0]
        counts += fresh
        left = design.budget - int(counts[0].sum())
        nothing, alive = np.zeros(3, np.int64), np.ones(3, np.bool_)
        seen = [
            Evidence(
                sums[lane] / counts[lane][:, None], counts[lane], nothing, alive,
                design.covariances, design.scales, design.thresholds, priorities[:, lane],
                np.array([left]),
            )
            for lane in range(lanes)
        ]  # fmt: skip
        size = min(max(design.batch, int(design.growth * (design.budget - left))), left)
        if size == 0:
            break
        slots = min(size, design.slots)
        uniforms = np.array([[order_rng.random() for _ in range(lanes)] for _ in range(slots)])
        fresh[:] = 0
        for lane in range(lanes):
            batch = chosen_by(policy.choose, policy.make_work, seen[lane], uniforms[:, lane].copy())
            for k, arm in enumerate(batch):
                fresh[lane, arm] += len(range(k, size, slots))
    for lane in range(min(lanes, len(tally.wrong) - first)):
        arm, flag = policy.answer(seen[lane], work)
        tally.flag_wrong[first + lane] = not flag
        tally.wrong[first + lane] = arm != 2 or not flag
        tally.chosen[arm, int(flag)] += 1
        tally.lost_in_phase[0] += arm != 2
        tally.pulls[:] += counts[lane]
    return [tuple(map(int, pulled)) for pulled in counts]
