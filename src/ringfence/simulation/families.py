"""Families of random instances: the unit of a tournament, drawn from a seed.

What a policy achieves depends on the family by factors, so results always name theirs. An instance
of a family is redrawn while its answer is nearly a matter of taste: the right arm within 0.05 of a
threshold, or another arm that 0.05 (in raw units) would make the right one. May touch core and
simulation's instances.
"""

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from ringfence.core.arrays import Floats
from ringfence.core.errors import InputError, one_of
from ringfence.core.hardness import hardness
from ringfence.core.streams import Generator, family_stream
from ringfence.simulation.instance import Instance

LEAST_GAP = 0.05
SHARES_FEASIBLE = (0.5, 0.3, 0.8, None)  # in turn; None: every arm violates every constraint
_MOST_DRAWS = 100_000


@dataclass(frozen=True)
class Family:
    """A documented way to draw instances: means uniform on [0, 1], noise as the family says.

    `noise(rng, arm_count)` returns the [noise] table and each arm's own covariance, or None.
    """

    name: str
    summary: str
    constraint_count: int
    noise: Callable[[Generator, int], tuple[dict[str, Any], list[Any] | None]]

    def draw(
        self,
        number: int,
        *,
        arm_count: int,
        seed: int = 0,
        correlation: float = 0.0,
        prices: Sequence[float] = (),
    ) -> Instance:
        """Return instance `number` of the family; it depends on the seed and the number alone.

        With a `correlation` arms share blocks, whose effects come on top of the noise: two pulls of
        equal noise on a block have that correlation, and their difference is as noisy as without.
        With `prices` arms have one of these each, as evenly as they go, in a random order.
        """
        if not 0.0 <= correlation < 1.0:
            raise InputError(
                f"correlation = {correlation!r} must be at least 0 and less than 1. Use 0.5."
            )
        if arm_count < 2:
            raise InputError(f"arms = {arm_count} must be at least 2. Raise it.")
        rng = family_stream(seed, self.name, arm_count, number)
        share = SHARES_FEASIBLE[number % len(SHARES_FEASIBLE)]
        threshold = -0.1 if share is None else share ** (1.0 / self.constraint_count)
        thresholds = np.full(self.constraint_count, threshold)
        noise, covariances = self.noise(rng, arm_count)
        if noise["family"] != "gaussian" and correlation > 0.0:
            raise InputError(
                f"correlation = {correlation!r}: family {self.name!r} is not gaussian, and what "
                "its pulls share has no one form. Use another family, or 0."
            )
        if noise["family"] == "bernoulli" and share is None:
            thresholds[:] = -LEAST_GAP  # means are shares and cannot be moved below zero
        for _ in range(_MOST_DRAWS):
            means = rng.random((arm_count, 1 + self.constraint_count))
            if _is_clear(means, thresholds):
                content = self._content(means, thresholds, noise, covariances, correlation)
                if prices:
                    content["price"] = drawn_prices(rng, prices, list(content["arms"]))
                return Instance.from_dict(content, name=f"{self.name}-{arm_count}-{number}")
        raise InputError(
            f"family {self.name!r} has no clear instance with {arm_count} arms in {_MOST_DRAWS} "
            "draws. Lower the number of arms."
        )

    def _content(
        self,
        means: Floats,
        thresholds: Floats,
        noise: dict[str, Any],
        covariances: list[Any] | None,
        correlation: float,
    ) -> dict[str, Any]:
        """Return what the instance's file would hold."""
        limits = [f"limit_{c}" for c in range(1, 1 + self.constraint_count)]
        arms: dict[str, dict[str, Any]] = {
            f"arm-{i + 1}": {"mean": [float(x) for x in row]} for i, row in enumerate(means)
        }
        if covariances is not None:
            for arm, covariance in zip(arms.values(), covariances, strict=True):
                arm["covariance"] = covariance.tolist()
        content: dict[str, Any] = {
            "objective": "minimize mean(loss)",
            "constraints": [
                f"mean({limit}) <= {float(threshold)!r}"
                for limit, threshold in zip(limits, thresholds, strict=True)
            ],
            "metrics": ["loss", *limits],
            "noise": noise,
            "arms": arms,
        }
        if correlation > 0.0:
            own = np.array([noise["covariance"]] if covariances is None else covariances)
            variances = np.diagonal(own, axis1=1, axis2=2).mean(axis=0)
            shared = correlation / (1.0 - correlation) * variances
            content["blocks"] = {"variance": shared.tolist()}
        return content


def drawn_prices(rng: Generator, prices: Sequence[float], arms: Sequence[str]) -> dict[str, float]:
    """Return a price of each arm, of classes as even as they go, in a random order."""
    order = rng.permutation(len(arms)).tolist()
    return {arm: prices[place % len(prices)] for arm, place in zip(arms, order, strict=True)}


def _is_clear(means: Floats, thresholds: Floats) -> bool:
    theory = hardness(means, np.ones(means.shape[1]), thresholds)
    nearest = float(np.abs(means[theory.optimal, 1:] - thresholds).min())
    return nearest >= LEAST_GAP and all(
        arm.delta is not None and arm.delta >= LEAST_GAP
        for i, arm in enumerate(theory.arms)
        if i != theory.optimal
    )


def _equicorrelated(correlation: float, deviations: Floats) -> Floats:
    matrix = np.full((len(deviations), len(deviations)), correlation)
    np.fill_diagonal(matrix, 1.0)
    return np.asarray(matrix * np.outer(deviations, deviations), dtype=np.float64)


def _one_covariance(width: int, least: float) -> Callable[..., tuple[dict[str, Any], None]]:
    def noise(rng: Generator, arm_count: int) -> tuple[dict[str, Any], None]:
        covariance = _equicorrelated(rng.uniform(least, 0.8), np.ones(width))
        return {"family": "gaussian", "covariance": covariance.tolist()}, None

    return noise


def _own_covariances(rng: Generator, arm_count: int) -> tuple[dict[str, Any], list[Any]]:
    own = [
        _equicorrelated(rng.uniform(-0.8, 0.8), 2.0 ** rng.uniform(-1.0, 1.0, 2))
        for _ in range(arm_count)
    ]
    return {"family": "gaussian"}, own


def _bernoulli(rng: Generator, arm_count: int) -> tuple[dict[str, Any], None]:
    return {"family": "bernoulli"}, None


FAMILIES: tuple[Family, ...] = (
    Family(
        "uniform",
        "one constraint, unit variances, one correlation uniform on [-0.8, 0.8]",
        1,
        _one_covariance(2, -0.8),
    ),
    Family(
        "unequal",
        "one constraint, each arm with its own deviations (0.5 to 2) and correlation",
        1,
        _own_covariances,
    ),
    Family(
        "two-constraints",
        "two constraints, unit variances, one correlation uniform on [-0.4, 0.8]",
        2,
        _one_covariance(3, -0.4),
    ),
    Family(
        "three-constraints",
        "three constraints, unit variances, one correlation uniform on [-0.3, 0.8]",
        3,
        _one_covariance(4, -0.3),
    ),
    Family("bernoulli", "one constraint, yes-or-no outcomes, independent", 1, _bernoulli),
)


def find_family(name: str) -> Family:
    """Return the family of that name; an unknown name is answered with the nearest one."""
    for family in FAMILIES:
        if family.name == name:
            return family
    raise one_of("family", name, (family.name for family in FAMILIES))
