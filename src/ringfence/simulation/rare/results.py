"""The probability of a rare error, with what was done to be sure of it. May touch simulation."""

import math
from dataclasses import dataclass
from typing import Any

from ringfence.core.showing import Rich
from ringfence.simulation.experiment import Experiment
from ringfence.simulation.rare.guards import Check
from ringfence.simulation.rare.importance import Estimate
from ringfence.simulation.rare.splitting import Split, points_of

_LEAST_SHOWN = 1e-3


@dataclass(frozen=True)
class ModeShare:
    """A way to err, and the share of all errors that it explains."""

    what: str
    share: float


@dataclass(frozen=True)
class RareResult(Rich):
    """How likely a policy errs on an instance, estimated by importance sampling or splitting.

    `errors` were seen among `replications`, most of which were drifted towards them: their share
    means nothing by itself.
    """

    instance: str
    policy: str
    budget: int
    pulls_used: int
    replications: int
    errors: int
    error_rate: float
    std_error: float
    interval: tuple[float, float]
    wrong_flag_rate: float | None
    mean_pulls: dict[str, float] | None
    modes: tuple[ModeShare, ...]
    checks: tuple[Check, ...]
    seed: int
    scales: str
    batch: int
    method: str
    seconds: float
    engine: str = "cpu"

    @property
    def warnings(self) -> tuple[str, ...]:
        """What gives reason for doubt; empty when every check is well."""
        return tuple(f"{check.what}: {check.found}" for check in self.checks if not check.ok)

    @property
    def replications_per_second(self) -> float:
        """How fast the replications ran, pilots and checks included in the time."""
        return self.replications / self.seconds if self.seconds > 0 else math.inf

    def to_dict(self) -> dict[str, Any]:
        """Return the result under the keys that other programs rely on."""
        low, high = self.interval
        return {
            "instance": self.instance,
            "policy": self.policy,
            "budget": self.budget,
            "pulls_used": self.pulls_used,
            "error_rate": self.error_rate,
            "std_error": self.std_error,
            "ci_low": low,
            "ci_high": high,
            "replications": self.replications,
            "errors": self.errors,
            "wrong_arm": None,
            "wrong_flag": None,
            "lost_in_phase": None,
            "chosen": None,
            "wrong_flag_rate": self.wrong_flag_rate,
            "mean_pulls": self.mean_pulls,
            "modes": [vars(mode) for mode in self.modes],
            "checks": [vars(check) for check in self.checks],
            "warnings": list(self.warnings),
            "seed": self.seed,
            "scales": self.scales,
            "batch": self.batch,
            "method": self.method,
            "engine": self.engine,
            "seconds": self.seconds,
            "replications_per_second": self.replications_per_second,
        }


def importance_result(
    estimate: Estimate, checks: list[Check], *, seed: int, seconds: float
) -> RareResult:
    """Summarize an estimate by importance sampling."""
    experiment, weighed = estimate.mixture.experiment, estimate.weighed
    mean_pulls = weighed.plain_pulls / max(weighed.plain, 1)
    return RareResult(
        **_common(experiment, seed, seconds),
        replications=weighed.replications,
        errors=weighed.errors,
        error_rate=weighed.error_rate,
        std_error=weighed.std_error,
        interval=estimate.interval,
        wrong_flag_rate=weighed.flag_weight / weighed.replications,
        mean_pulls=dict(zip(experiment.instance.arms, mean_pulls.tolist(), strict=True)),
        modes=_ways(estimate),
        checks=tuple(checks),
        method="importance",
    )


def _ways(estimate: Estimate) -> tuple[ModeShare, ...]:
    """Return the ways to err by their share; a mode and its companion are one."""
    shares: dict[str, float] = {}
    for mode, share in zip(estimate.mixture.modes, estimate.contributions, strict=True):
        shares[mode.what] = shares.get(mode.what, 0.0) + float(share)
    ways = [ModeShare(what, share) for what, share in shares.items() if share >= _LEAST_SHOWN]
    return tuple(sorted(ways, key=lambda one: -one.share))


def splitting_result(
    experiment: Experiment, found: Split, *, seed: int, seconds: float
) -> RareResult:
    """Summarize an estimate by splitting."""
    rate, relative = found.error_rate, found.relative_error
    factor = math.exp(1.96 * relative)
    ended = Check("splitting", rate > 0.0, "it came to no error" if rate <= 0.0 else "it ended")
    return RareResult(
        **_common(experiment, seed, seconds),
        replications=points_of(experiment) * len(found.logs),
        errors=0,
        error_rate=rate,
        std_error=rate * relative if rate > 0.0 else math.nan,
        interval=(rate / factor, min(1.0, rate * factor)) if rate > 0.0 else (0.0, 1.0),
        wrong_flag_rate=None,
        mean_pulls=None,
        modes=(),
        checks=(ended,),
        method="splitting",
    )


def _common(experiment: Experiment, seed: int, seconds: float) -> dict[str, Any]:
    return {
        "instance": experiment.instance.name,
        "policy": experiment.policy.name,
        "budget": experiment.budget,
        "pulls_used": experiment.pulls_used,
        "seed": seed,
        "scales": experiment.scales,
        "batch": experiment.batch,
        "seconds": seconds,
    }
