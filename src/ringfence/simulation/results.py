"""What replications say: error rates with exact intervals, by policy, ready to show or to store.

May touch core and simulation.
"""

import math
from dataclasses import dataclass, field
from functools import cached_property
from typing import Any

from ringfence.core.intervals import binomial_interval
from ringfence.core.money import PULLS
from ringfence.core.showing import Rich
from ringfence.core.stop import Stop
from ringfence.simulation.counts import Counts, Proofs
from ringfence.simulation.experiment import Experiment

QUANTILES = (0.1, 0.5, 0.9)  # of the pulls that replications used


@dataclass(frozen=True)
class SimulationResult(Rich):
    """How often a policy erred on an instance.

    An error is a wrong arm or a wrong flag. `lost_in_phase[k]` counts the replications in which
    phase k dropped the last right arm; the final choice counts with the last phase, so that
    the entries sum to `wrong_arm`. `chosen` counts the answers: by arm, how often it was named and
    called feasible, or infeasible. The budget is of a `unit`, of which a replication `spent` so
    much on average. With a `stop` pulls ended when the answer was proven: `proofs`
    counts these, and the pulls that each replication used.
    """

    instance: str
    policy: str
    budget: float
    pulls_used: int
    replications: int
    errors: int
    wrong_arm: int
    wrong_flag: int
    lost_in_phase: tuple[int, ...]
    mean_pulls: dict[str, float]
    chosen: dict[str, dict[str, int]]
    seed: int
    scales: str
    batch: int
    engine: str
    seconds: float
    unit: str = PULLS
    spent: float = 0.0
    stop: Stop | None = None
    proofs: Proofs = field(default_factory=Proofs)

    @classmethod
    def of(
        cls, experiment: Experiment, counts: Counts, *, seed: int, engine: str, seconds: float
    ) -> "SimulationResult":
        """Summarize what was counted."""
        return cls(
            instance=experiment.instance.name,
            policy=experiment.policy.name,
            budget=experiment.amount,
            pulls_used=experiment.pulls_used,
            replications=counts.replications,
            errors=counts.errors,
            wrong_arm=int(counts.lost_in_phase.sum()),
            wrong_flag=counts.wrong_flag,
            lost_in_phase=tuple(int(lost) for lost in counts.lost_in_phase),
            mean_pulls={
                arm: float(pulls) / counts.replications
                for arm, pulls in zip(experiment.instance.arms, counts.pulls, strict=True)
            },
            chosen={
                arm: {"feasible": int(feasible), "infeasible": int(infeasible)}
                for arm, (infeasible, feasible) in zip(
                    experiment.instance.arms, counts.chosen, strict=True
                )
            },
            seed=seed,
            scales=experiment.scales,
            batch=experiment.batch,
            engine=engine,
            seconds=seconds,
            unit=experiment.unit,
            spent=experiment.spent(counts.pulls, counts.paid) / counts.replications,
            stop=experiment.stop,
            proofs=counts.proofs,
        )

    @property
    def certified_rate(self) -> float:
        """The share of replications whose answer was proven."""
        return self.proofs.certified / self.replications

    @property
    def wrong_certified_rate(self) -> float:
        """The share of replications in which a wrong answer was proven."""
        return self.proofs.wrong / self.replications

    @property
    def pulls_used_mean(self) -> float:
        """The mean of the pulls that replications used."""
        return self.proofs.mean_pulls if self.stop is not None else float(self.pulls_used)

    def stop_facts(self) -> dict[str, Any]:
        """Return what is told where pulls end when the answer is proven; else nothing."""
        if self.stop is None:
            return {}
        return {
            "stop": {"confidence": self.stop.confidence, "within": self.stop.within},
            "certified_rate": self.certified_rate,
            "wrong_certified_rate": self.wrong_certified_rate,
            "pulls_used_mean": self.pulls_used_mean,
            "pulls_used_quantiles": {
                f"{share:g}": self.proofs.quantile(share) for share in QUANTILES
            },
        }

    @property
    def error_rate(self) -> float:
        """The share of replications with a wrong answer."""
        return self.errors / self.replications

    @property
    def std_error(self) -> float:
        """The standard error of the error rate."""
        return math.sqrt(self.error_rate * (1.0 - self.error_rate) / self.replications)

    @cached_property
    def interval(self) -> tuple[float, float]:
        """The exact 95% interval of the error rate."""
        return binomial_interval(self.errors, self.replications)

    @property
    def replications_per_second(self) -> float:
        """How fast the replications ran."""
        return self.replications / self.seconds if self.seconds > 0 else math.inf

    def to_dict(self) -> dict[str, Any]:
        """Return the result under the keys that other programs rely on."""
        low, high = self.interval
        return {
            "instance": self.instance,
            "policy": self.policy,
            "budget": self.budget,
            "unit": self.unit,
            "spent": self.spent,
            "pulls_used": self.pulls_used,
            "error_rate": self.error_rate,
            "std_error": self.std_error,
            "ci_low": low,
            "ci_high": high,
            "replications": self.replications,
            "errors": self.errors,
            "wrong_arm": self.wrong_arm,
            "wrong_flag": self.wrong_flag,
            "lost_in_phase": list(self.lost_in_phase),
            "mean_pulls": self.mean_pulls,
            "chosen": self.chosen,
            "seed": self.seed,
            "scales": self.scales,
            "batch": self.batch,
            "method": "monte-carlo",
            "engine": self.engine,
            "seconds": self.seconds,
            "replications_per_second": self.replications_per_second,
            **self.stop_facts(),
        }


@dataclass(frozen=True)
class ComparisonRow:
    """A policy's result beside the first policy's, on common random numbers.

    `only_here_wrong` and `only_first_wrong` count the replications on which the two differ.
    """

    result: SimulationResult
    ratio_to_first: float
    only_here_wrong: int
    only_first_wrong: int

    @property
    def difference_std_error(self) -> float:
        """The standard error of the difference of the two error rates, from the pairs."""
        n = self.result.replications
        here, first = self.only_here_wrong / n, self.only_first_wrong / n
        return math.sqrt(max(0.0, here + first - (here - first) ** 2) / n)

    def to_dict(self) -> dict[str, Any]:
        """Return the row under the keys that other programs rely on."""
        low, high = self.result.interval
        return {
            "instance": self.result.instance,
            "policy": self.result.policy,
            "budget": self.result.budget,
            "unit": self.result.unit,
            "spent": self.result.spent,
            "error_rate": self.result.error_rate,
            "std_error": self.result.std_error,
            "ci_low": low,
            "ci_high": high,
            "ratio_to_first": self.ratio_to_first,
            "errors": self.result.errors,
            "replications": self.result.replications,
            "scales": self.result.scales,
            "only_here_wrong": self.only_here_wrong,
            "only_first_wrong": self.only_first_wrong,
            "difference_std_error": self.difference_std_error,
            **self.result.stop_facts(),
        }


def compared(result: SimulationResult, first: SimulationResult, counts: Counts) -> ComparisonRow:
    """Return the row of a result; the ratio is undefined (NaN) when the first never erred."""
    ratio = result.errors / first.errors if first.errors else math.nan
    return ComparisonRow(result, ratio, counts.only_here_wrong, counts.only_first_wrong)
