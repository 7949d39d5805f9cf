"""One policy, one instance, one budget: what is replicated, chunk by chunk.

A chunk is a fixed number of replications with streams of its own, so that its outcome depends on
the seed and its number alone. Engines run them. May touch core, policies and simulation.
"""

import math
from collections.abc import Iterable
from dataclasses import dataclass, field
from fractions import Fraction
from functools import cached_property
from typing import Any
from zlib import crc32

import numpy as np

from ringfence.core.allowance import Allowance, require_whole
from ringfence.core.arrays import Floats
from ringfence.core.baseline import kept_beside
from ringfence.core.errors import InputError, one_of
from ringfence.core.money import PULLS
from ringfence.core.pricing import Pricing, ration_through
from ringfence.core.question import Question
from ringfence.core.schedule import Phase, pulls_used
from ringfence.core.sharing import ENDLESS
from ringfence.core.stop import Stop
from ringfence.core.streams import Generator, chunk_key, chunk_streams
from ringfence.policies.course import Course, Opening
from ringfence.policies.policy import Policy
from ringfence.policies.proving import until_proven
from ringfence.policies.registry import require_answer
from ringfence.simulation.course import Design, Room, make_room
from ringfence.simulation.funding import funds_of, in_words, number_of
from ringfence.simulation.instance import Instance
from ringfence.simulation.proving import (
    as_good,
    proof_of,
    recording_of_paths,
    require_provable,
)
from ringfence.simulation.records import Recording, sums_recording
from ringfence.simulation.tally import Tally

SCALES = ("known", "estimated")
_SLOTS = 8  # choices in which a batch that grows is decided


def scales_for(stated: str | None, policies: Iterable[Policy]) -> str:
    """Return the scales that were stated, else those that describe a study: estimated by choosers.

    Policies that are compared get the same, so one that is adaptive decides for all.
    """
    if stated is not None:
        return stated
    return "known" if all(policy.has_phases for policy in policies) else "estimated"


@dataclass(frozen=True)
class Experiment:
    """A policy on an instance at a budget. With `shared`, dead arms are drawn too.

    Policies on the same schedule then see identical pulls for the same seed. `scales` says whether
    the policy is given the noise or estimates it; an adaptive policy decides `batch` pulls at once,
    or the share `growth` of its pulls so far if that is more. The `budget` is one of pulls, unless
    there are `prices` of a pull by arm: then both are in the smallest amount that counts, a `part`
    of a `unit`. With a `pricing` policies learn what pulls cost, and `prices` are the truth, by
    which schedules are cut. With a `stop` a replication ends as soon as its answer is proven.
    """

    instance: Instance
    policy: Policy
    budget: int
    shared: bool = False
    scales: str = "known"
    batch: int = 1
    growth: float = 0.0
    prices: tuple[int, ...] = ()
    stop: Stop | None = None
    unit: str = PULLS
    part: Fraction = Fraction(1)
    pricing: Pricing | None = None
    phases: tuple[Phase, ...] = field(init=False)
    warm_up: int = field(init=False)

    def __post_init__(self) -> None:
        """Cut the budget into phases, if the policy has any, or refuse it."""
        if self.scales not in SCALES:
            raise one_of("scales", self.scales, SCALES)
        require_answer(self.policy, self.question)
        if self.stop is not None:
            require_provable(self.instance, self.stop)
            if self.learns:
                raise InputError(
                    "stop is not simulated with prices that are learned. State prices by arm, or "
                    "leave stop out."
                )
        problem = self.instance.judged
        object.__setattr__(self, "budget", require_whole(self.budget))
        least = max(problem.least_pulls, 2 if self.estimated else 1)
        opening = self._opened(least, problem.first_pulls)
        phases = opening.phases
        if self.is_relative and phases:
            phases = self._beside_baseline(phases)
        object.__setattr__(self, "phases", phases)
        object.__setattr__(self, "warm_up", opening.first_pulls)

    @classmethod
    def funded(cls, instance: Instance, policy: Policy, budget: Any, **how: Any) -> "Experiment":
        """Return it for a budget as users write one: pulls, or an amount of a unit."""
        return cls(instance, policy, **funds_of(instance, budget)._asdict(), **how)

    def _opened(self, least: int, wanted: int) -> Opening:
        """Return what the policy makes of the pulls that the budget pays for on average."""
        arm_count, pulls = len(self.instance.arms), self.allowance.pulls
        try:
            return self.policy.opening(
                arm_count, pulls, least=least, wanted=wanted, shares=self.shares
            )
        except InputError as error:
            if self.unit == PULLS:
                raise
            paid = in_words(self.amount, self.unit)
            raise InputError(
                f'budget = "{paid}" pays for {pulls} pulls at the mean price. {error}'
            ) from None

    def _beside_baseline(self, phases: tuple[Phase, ...]) -> tuple[Phase, ...]:
        """Return the phases of a policy that keeps the baseline, and an arm beside it."""
        most = len(self.instance.arms)
        kept = tuple(one._replace(keep=min(most, kept_beside(one.keep))) for one in phases)
        if pulls_used(most, kept) > self.allowance.pulls:
            raise InputError(
                f"policy {self.policy.name!r} goes on pulling when one arm is left, and baseline = "
                f"{self.instance.baseline!r} is never dropped: {pulls_used(most, kept)} pulls are "
                f"more than budget = {self.budget}. Use another policy."
            )
        return kept

    @cached_property
    def allowance(self) -> Allowance:
        """The budget, and what a pull of each arm takes of it."""
        return Allowance.or_pulls(self.budget, self.prices, len(self.instance.arms))

    @property
    def amount(self) -> float:
        """The budget in its unit."""
        return number_of(self.budget * self.part)

    @property
    def learns(self) -> bool:
        """Whether policies learn what pulls cost."""
        return self.pricing is not None

    def spent(self, pulls: Floats, paid: int) -> float:
        """Return what pulls by arm cost, in the unit; what was `paid` where that is drawn."""
        amount = paid if self.learns else self.allowance.cost(pulls.astype(np.int64).tolist())
        return float(amount * self.part)

    @property
    def question(self) -> Question:
        """What is asked of the arms."""
        return self.instance.problem.question

    @property
    def course(self) -> Course:
        """The course of the policy, for that question."""
        proves = self.stop is not None
        course = self.policy.course_for(self.question, shares=self.shares, proves=proves)
        return until_proven(course, shares=self.shares) if proves else course

    @property
    def shares(self) -> bool:
        """Whether arms share blocks: what they are tried on."""
        return self.instance.shares

    @property
    def is_relative(self) -> bool:
        """Whether limits are relative to a baseline: rules then see differences."""
        return self.instance.baseline is not None

    @property
    def estimated(self) -> bool:
        """Whether the policy estimates the noise."""
        return self.scales == "estimated"

    @property
    def is_recorded(self) -> bool:
        """Whether estimates come from a record of the pulls: their sums do not suffice.

        Where limits are relative, or prices differ, they would, but only these kernels know of a
        baseline and of prices.
        """
        return (
            self.estimated
            or self.instance.law.needs_pulls
            or self.is_relative
            or not self.allowance.is_even
            or self.learns
            or self.stop is not None
        )

    @property
    def is_adaptive(self) -> bool:
        """Whether the policy chooses its pulls batch by batch."""
        return not self.policy.has_phases

    @property
    def pulls_used(self) -> int:
        """The pulls that the policy spends, at the reference price."""
        if not self.phases:
            return self.allowance.pulls
        return pulls_used(len(self.instance.arms), self.phases)

    @property
    def most_pulls(self) -> int:
        """The pulls that one arm can have at the most."""
        blocks = self.instance.law.blocks or self.allowance.limit
        if self.phases and self.allowance.is_even:
            return min(blocks, sum(phase.pulls + (phase.extra > 0) for phase in self.phases))
        prices, first = self.allowance.prices, self.warm_up
        spare = self.budget - first * self.allowance.total
        most = first + max(0, spare) // min(prices)
        if self.learns:  # what is drawn may cost less, to begin with
            most = 4 * most + 100
        return min(blocks, most)

    @property
    def blocks(self) -> int:
        """How many blocks of pulls one replication of a policy with phases draws at the most."""
        return len(self.instance.arms) * len(self.phases)

    @property
    def choices(self) -> float:
        """About how many choices an adaptive policy makes."""
        if self.growth == 0.0:
            return self.allowance.pulls
        pulls = self.allowance.pulls
        return min(pulls, _SLOTS * math.log(pulls) / self.growth)

    @cached_property
    def design(self) -> Design:
        """What stays the same over replications, as arrays."""
        instance, law, allowance = self.instance, self.instance.law, self.allowance
        optimal = np.zeros(len(instance.arms), np.bool_)
        optimal[list(instance.hardness.optimal_arms)] = True
        if self.stop is not None:
            optimal |= as_good(instance, self.stop)
        slots = self.batch if self.growth == 0.0 else _SLOTS
        return Design(
            warm_up=self.warm_up,
            budget=self.budget if self.learns else allowance.spendable,
            prices=allowance.array,
            cheapest=min(allowance.prices),
            dearest=max(allowance.prices),
            total=allowance.total,
            batch=self.batch,
            growth=self.growth,
            slots=slots if self.is_adaptive else 0,
            scales=instance.scales,
            covariances=law.known_covariances,
            means=instance.judged.means,
            thresholds=instance.judged.thresholds - law.origin[1:],
            optimal=optimal,
            feasible=instance.hardness.feasible,
            shuffled=law.has_ties or any(phase.extra for phase in self.phases),
            blocks=law.blocks or ENDLESS,
            **(self._learned() if self.learns else {}),
        )

    def _learned(self) -> dict[str, Any]:
        """Return what a design has beside, where prices are learned."""
        arm_count = len(self.instance.arms)
        rations = [
            ration_through(self.budget, self.phases, phase, arm_count)
            for phase in range(len(self.phases))
        ]
        return {
            "unstated": np.zeros(arm_count, np.int64),
            "rations": np.array(rations, np.int64),
            "most": self.most_pulls,
            "step": self.instance.judged.least_pulls,
        }

    @property
    def recording(self) -> Recording:
        """How a replication remembers its pulls: by their sums where these suffice."""
        law = self.instance.law
        if self.pricing is not None and self.instance.tariff is not None:
            return self.instance.tariff.recording(10.0**self.pricing.digits)
        if self.stop is not None:
            return recording_of_paths(self.instance)
        if self.is_recorded:
            return law.recording
        return sums_recording(law.draw_block, len(law.constants), law.normals)

    @property
    def arrays(self) -> Any:
        """What pulls are drawn from."""
        if self.learns and self.instance.tariff is not None:
            return self.instance.tariff.arrays
        return self.instance.law.arrays

    def new_room(self, recording: Recording, *, most_pulls: int | None = None) -> Room:
        """Return the arrays of one replication; see `make_room`."""
        most = self.most_pulls if most_pulls is None else most_pulls
        room = make_room(
            self.design,
            recording,
            most,
            baseline=self.instance.baseline_place,
            factors=self.instance.judged.factors,
            shares=self.shares,
            learns=self.learns,
        )
        if self.stop is None:
            return room
        proof = proof_of(self.instance, self.stop, room.record, most)
        return room._replace(seen=room.seen._replace(asked=proof.asked, proof=proof))

    @property
    def opening(self) -> Opening:
        """What the policy makes of the allowance."""
        return Opening(self.warm_up, self.phases, self.allowance.prices)

    def new_state(self) -> Any:
        """Return the state of the policy's course."""
        arm_count, width = len(self.design.optimal), len(self.design.scales)
        return self.course.make_state(self.opening, arm_count, width, self.design.slots)

    def empty_tally(self, replications: int) -> Tally:
        """Return a tally with nothing counted."""
        return Tally(
            wrong=np.zeros(replications, np.bool_),
            flag_wrong=np.zeros(replications, np.bool_),
            lost_in_phase=np.zeros(max(1, len(self.phases)), np.int64),
            pulls=np.zeros(len(self.instance.arms), np.int64),
            chosen=np.zeros((len(self.instance.arms), 2), np.int64),
            misjudged=np.zeros(1, np.int64),
            paid=np.zeros(1, np.int64),
            pulled=np.zeros(replications, np.int64),
            proven=np.zeros(replications, np.int64),
        )

    def streams(self, seed: int, chunk: int) -> tuple[Generator, Generator]:
        """Return the streams of a chunk, the same for every policy on this schedule."""
        return chunk_streams(seed, self.budget, chunk, schedule=self._schedule)

    def key(self, seed: int, chunk: int) -> tuple[int, int]:
        """Return what names a chunk's draws where they are numbered: on a GPU."""
        return chunk_key(seed, self.budget, chunk, schedule=self._schedule)

    @property
    def _schedule(self) -> int:
        growths = (self.growth,) if self.growth > 0.0 else ()
        name = repr(self.phases or (self.policy.name, self.batch, *growths))
        return crc32(name.encode())

    def require_sound(self, tally: Tally) -> None:
        """Refuse what a faulty rule produced: it must drop an arm that is still alive."""
        if tally.misjudged[0]:
            raise InputError(
                f"policy {self.policy.name!r}: its rule named an arm that is not alive, "
                f"{tally.misjudged[0]} times. Change the rule: it must name a survivor's index."
            )
