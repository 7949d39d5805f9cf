"""Comparisons of lane rules with the policies' own, as functions to run a fault through."""

from collections import Counter
from collections.abc import Iterator

import numpy as np

from ringfence.core.arrays import Floats
from ringfence.core.gaps import apparent_best, margin
from ringfence.policies.policy import Evidence
from ringfence.simulation.lanes.rules import LIMIT, OBJECTIVE, PULLS, RANK, LaneRule
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
            seen["pulls"] += len(right)
    return seen
