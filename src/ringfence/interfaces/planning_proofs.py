"""How many pulls a proof takes: a policy that stops by it, with more and more pulls in hand.

May touch every room.
"""

from dataclasses import replace

from ringfence.core.errors import InputError
from ringfence.core.stop import Stop
from ringfence.interfaces.planning import Advance, Plan
from ringfence.interfaces.rare import Hands
from ringfence.policies.policy import Policy
from ringfence.simulation.engines import CPU
from ringfence.simulation.experiment import Experiment
from ringfence.simulation.instance import Instance
from ringfence.simulation.results import SimulationResult

REPLICATIONS = 200
_FIRST = 4  # times the budget of the plan
_MORE = 4
_ENOUGH = 0.9  # of replications that end with a proof
_MOST = 2_000_000


def target_of(target: float | None, stop: Stop | None) -> float:
    """Return a target error; with a stop it may be left out, and is how often proofs may err."""
    if target is not None:
        return target
    if stop is None:
        raise InputError("target_error is missing. Write one, such as 0.01, or stop = 0.95.")
    return round(1.0 - stop.confidence, 12)


def with_proof(
    found: Plan, instance: Instance, policy: Policy, stop: Stop, hands: Hands,
    advance: Advance | None,
) -> Plan:  # fmt: skip
    """Return a plan that also says what a proof takes."""
    budget = _FIRST * found.point.budget
    while True:
        if advance is not None:
            advance(f"proving: up to {budget:,} pulls")
        growth = found.growth or 0.0
        experiment = Experiment(
            instance, policy, budget, growth=growth, scales=found.scales, stop=stop
        )
        counts = hands.count(experiment, REPLICATIONS)
        proof = SimulationResult.of(
            experiment, counts, seed=hands.seed, engine=CPU.name, seconds=0.0
        )
        if proof.certified_rate >= _ENOUGH or budget * _MORE > _MOST:
            return replace(found, proof=proof)
        budget *= _MORE
