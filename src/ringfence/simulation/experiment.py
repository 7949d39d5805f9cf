"""One policy, one instance, one budget: what is replicated, chunk by chunk.

A chunk is a fixed number of replications with streams of its own, so that its outcome depends on
the seed and its number alone. May touch core, policies and simulation.
"""

import math
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from functools import cached_property
from typing import Any, TypeAlias
from zlib import crc32

import numpy as np

from ringfence.core.arrays import Floats, Mask
from ringfence.core.baseline import Versus, kept_beside
from ringfence.core.errors import InputError, RingfenceError, one_line, one_of
from ringfence.core.schedule import Phase, pulls_used
from ringfence.core.streams import Generator, chunk_key, chunk_streams
from ringfence.policies.policy import AdaptivePolicy, PhasePolicy, Policy
from ringfence.policies.registry import POLICIES
from ringfence.simulation import adaptive_kernels, recorded_kernels
from ringfence.simulation.adaptive_kernels import AdaptiveDesign
from ringfence.simulation.compilation import CompilationError
from ringfence.simulation.instance import Instance
from ringfence.simulation.kernels import MOST_LANES, Design, Tally, kernel_for
from ringfence.simulation.lanes import kernels as lane_kernels
from ringfence.simulation.lanes.kernels import LANES
from ringfence.simulation.lanes.rules import LaneRule
from ringfence.simulation.records import Recording

SCALES = ("known", "estimated")
_CHUNK_WORK = 2**18
_ADAPTIVE_WORK = 2**22
_MOST_ADAPTIVE_WORK = 2**26
_MOST_CHUNK = 2**14
_LANE_WORK = 2**10
_LEAST_LANES = 8
_SLOTS = 8  # choices in which a batch that grows is decided
_Streams: TypeAlias = tuple[Generator, Generator]


@dataclass(frozen=True)
class Experiment:
    """A policy on an instance at a budget. With `shared`, dead arms are drawn too.

    Policies on the same schedule then see identical pulls for the same seed. `scales` says whether
    the policy is given the noise or estimates it; an adaptive policy decides `batch` pulls at once,
    or the share `growth` of its pulls so far if that is more.
    """

    instance: Instance
    policy: Policy
    budget: int
    shared: bool = False
    scales: str = "known"
    batch: int = 1
    growth: float = 0.0
    phases: tuple[Phase, ...] = field(init=False)
    warm_up: int = field(init=False)

    def __post_init__(self) -> None:
        """Cut the budget into phases, or refuse it; an adaptive policy's is one phase."""
        if self.scales not in SCALES:
            raise one_of("scales", self.scales, SCALES)
        problem = self.instance.judged
        least = max(problem.least_pulls, 2 if self.estimated else 1)
        arm_count = len(self.instance.arms)
        if isinstance(self.policy, AdaptivePolicy):
            phases: tuple[Phase, ...] = ()
            first = self.policy.first_pulls(
                arm_count, self.budget, least=least, wanted=problem.first_pulls
            )
        else:
            phases = self.policy.phases(arm_count, self.budget, least=least)
            if self.is_relative:
                phases = self._beside_baseline(phases)
            first = phases[0].pulls
        object.__setattr__(self, "phases", phases)
        object.__setattr__(self, "warm_up", first)
        object.__setattr__(self, "budget", int(self.budget))

    def _beside_baseline(self, phases: tuple[Phase, ...]) -> tuple[Phase, ...]:
        """Return the phases of a policy that keeps the baseline, and an arm beside it."""
        most = len(self.instance.arms)
        kept = tuple(one._replace(keep=min(most, kept_beside(one.keep))) for one in phases)
        if pulls_used(most, kept) > self.budget:
            raise InputError(
                f"policy {self.policy.name!r} goes on pulling when one arm is left, and baseline = "
                f"{self.instance.baseline!r} is never dropped: {pulls_used(most, kept)} pulls are "
                f"more than budget = {self.budget}. Use another policy."
            )
        return kept

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

        Where limits are relative they would, but only these kernels know of a baseline.
        """
        return self.estimated or self.instance.law.needs_pulls or self.is_relative

    @property
    def is_adaptive(self) -> bool:
        """Whether the policy chooses its pulls batch by batch."""
        return isinstance(self.policy, AdaptivePolicy)

    @property
    def pulls_used(self) -> int:
        """The pulls that the policy spends."""
        if self.is_adaptive:
            return self.budget
        return pulls_used(len(self.instance.arms), self.phases)

    @property
    def blocks(self) -> int:
        """How many blocks of pulls one replication draws at the most."""
        return len(self.instance.arms) * len(self.phases)

    @property
    def lanes(self) -> int:
        """How many replications run side by side: fewer where arms are many, to stay in cache."""
        return max(_LEAST_LANES, min(MOST_LANES, _LANE_WORK // len(self.instance.arms)))

    @property
    def chunk_size(self) -> int:
        """How many replications make a chunk: fewer where one costs more, whatever the machine.

        It is the same for every policy, so that a result does not depend on what it is compared
        with.
        """
        law, arm_count = self.instance.law, len(self.instance.arms)
        if self.is_adaptive:
            work = self._choices * (4 + arm_count)
            if not self._fills_lanes:
                return max(1, int(_ADAPTIVE_WORK / work))
            return LANES * math.ceil(_ADAPTIVE_WORK / work / LANES)
        work = arm_count**2 * (2 + law.normals) + self.budget * (
            law.draws_samples or self.is_recorded
        )
        size: int = 2 ** (_CHUNK_WORK // work).bit_length()
        return max(self.lanes, min(_MOST_CHUNK, size))

    @cached_property
    def design(self) -> Design:
        """A phase policy's experiment as arrays."""
        law = self.instance.law
        return Design(
            phases=np.array(self.phases, dtype=np.int64),
            scales=self.instance.scales,
            thresholds=self._thresholds,
            optimal=self._optimal,
            feasible=self.instance.hardness.feasible,
            shuffled=law.has_ties or any(phase.extra for phase in self.phases),
            shared=self.shared,
            lanes=self.lanes,
        )

    @cached_property
    def adaptive_design(self) -> AdaptiveDesign:
        """An adaptive policy's experiment as arrays."""
        return AdaptiveDesign(
            warm_up=self.warm_up,
            budget=self.budget,
            batch=self.batch,
            growth=self.growth,
            slots=self.batch if self.growth == 0.0 else _SLOTS,
            scales=self.instance.scales,
            covariances=self.instance.law.known_covariances,
            means=self.instance.judged.means,
            thresholds=self._thresholds,
            optimal=self._optimal,
            feasible=self.instance.hardness.feasible,
            shuffled=self.instance.law.has_ties,
        )

    @property
    def _fills_lanes(self) -> bool:
        """Whether as many replications of an adaptive policy as there are lanes make a chunk."""
        work = self._choices * (4 + len(self.instance.arms))
        return not self.is_recorded and LANES * work <= _MOST_ADAPTIVE_WORK

    @property
    def lane_rule(self) -> LaneRule | None:
        """What chooses for many replications side by side, where that can be done."""
        if not isinstance(self.policy, AdaptivePolicy) or not self._fills_lanes:
            return None
        return lane_kernels.lane_rule(self.policy.choose, self.adaptive_design.covariances)

    @property
    def _growths(self) -> tuple[float, ...]:
        return (self.growth,) if self.growth > 0.0 else ()

    @property
    def _choices(self) -> float:
        """About how many choices an adaptive policy makes."""
        if self.growth == 0.0:
            return self.budget
        return min(self.budget, _SLOTS * math.log(self.budget) / self.growth)

    @property
    def versus(self) -> Versus:
        """What limits are relative to."""
        return Versus.of(self.instance.baseline_place, self.instance.judged.factors)

    @property
    def _thresholds(self) -> Floats:
        return self.instance.judged.thresholds - self.instance.law.origin[1:]

    @property
    def _optimal(self) -> Mask:
        optimal = np.zeros(len(self.instance.arms), np.bool_)
        optimal[list(self.instance.hardness.optimal_arms)] = True
        return optimal

    def empty_tally(self, replications: int) -> Tally:
        """Return a tally with nothing counted."""
        return Tally(
            wrong=np.zeros(replications, np.bool_),
            flag_wrong=np.zeros(replications, np.bool_),
            lost_in_phase=np.zeros(max(1, len(self.phases)), np.int64),
            pulls=np.zeros(len(self.instance.arms), np.int64),
            chosen=np.zeros((len(self.instance.arms), 2), np.int64),
            misjudged=np.zeros(1, np.int64),
        )

    def streams(self, seed: int, chunk: int) -> _Streams:
        """Return the streams of a chunk, the same for every policy on this schedule."""
        return chunk_streams(seed, self.budget, chunk, schedule=self._schedule)

    def key(self, seed: int, chunk: int) -> tuple[int, int]:
        """Return what names a chunk's draws where they are numbered: on a GPU."""
        return chunk_key(seed, self.budget, chunk, schedule=self._schedule)

    @property
    def _schedule(self) -> int:
        name = repr(self.phases or (self.policy.name, self.batch, *self._growths))
        return crc32(name.encode())

    def require_sound(self, tally: Tally) -> None:
        """Refuse what a faulty rule produced: it must drop an arm that is still alive."""
        if tally.misjudged[0]:
            raise InputError(
                f"policy {self.policy.name!r}: its rule named an arm that is not alive, "
                f"{tally.misjudged[0]} times. Mend the rule: it must name a survivor's index."
            )

    def run_chunk(self, seed: int, chunk: int, replications: int) -> Tally:
        """Run the first `replications` of a chunk, compiled."""
        if self.instance.has_own:
            raise InputError("functions of your own cannot be compiled. Use engine = 'reference'.")
        tally = self.empty_tally(replications)
        streams, policy = self.streams(seed, chunk), self.policy
        law = self.instance.law
        if self.is_recorded:
            self.run_recorded(streams, tally, law.recording, law.arrays)
            return tally
        with self.rules_in_words():
            if not isinstance(policy, AdaptivePolicy):
                self._run_lanes(policy, streams, tally)
            elif (rule := self.lane_rule) is not None:
                self._run_side_by_side(policy, rule, streams, tally)
            else:
                self._run_adaptive(policy, streams, tally, None, law.arrays)
        self.require_sound(tally)
        return tally

    @contextmanager
    def rules_in_words(self) -> Iterator[None]:
        """Say in words that a rule cannot be compiled, or that one from outside raised an error."""
        try:
            yield
        except CompilationError as error:
            raise InputError(
                f"policy {self.policy.name!r}: its rule cannot be compiled. Write it with plain "
                f"loops and numbers, as in docs/skeleton_policy.py. The compiler says: {error}"
            ) from None
        except RingfenceError:
            raise
        except Exception as error:
            if self.policy in POLICIES:
                raise
            what = one_line(f"{type(error).__name__}: {error}")
            raise InputError(
                f"policy {self.policy.name!r}: its rule raised {what}. Mend the rule."
            ) from error

    def _run_lanes(self, policy: PhasePolicy, streams: _Streams, tally: Tally) -> None:
        law = self.instance.law
        kernel = kernel_for(
            policy.reject,
            law.draw_block,
            arm_count=len(self.instance.arms),
            attribute_count=len(self.design.scales),
            normals=law.normals,
        )
        kernel(*streams, law.arrays, self.design, tally)

    def run_recorded(
        self, streams: _Streams, tally: Tally, recording: Recording, arrays: Any
    ) -> None:
        """Run the replications of a tally, with a record of their pulls."""
        with self.rules_in_words():
            if isinstance(self.policy, AdaptivePolicy):
                self._run_adaptive(self.policy, streams, tally, recording, arrays)
            else:
                self._run_phases(self.policy, streams, tally, recording, arrays)
        self.require_sound(tally)

    def _run_phases(
        self,
        policy: PhasePolicy,
        streams: _Streams,
        tally: Tally,
        recording: Recording,
        arrays: Any,
    ) -> None:
        kernel = recorded_kernels.recorded_kernel(
            policy.reject, recording, estimated=self.estimated, relative=self.is_relative
        )
        most = sum(phase.pulls + (phase.extra > 0) for phase in self.phases)
        room = recorded_kernels.make_room(self.design, recording, most, self.versus)
        kernel(*streams, arrays, self.design, room, tally)

    def _run_adaptive(
        self,
        policy: AdaptivePolicy,
        streams: _Streams,
        tally: Tally,
        recording: Recording | None,
        arrays: Any,
    ) -> None:
        law, design = self.instance.law, self.adaptive_design
        if recording is None:
            kernel = adaptive_kernels.adaptive_kernel(policy.choose, policy.answer, law.draw_block)
        else:
            kernel = adaptive_kernels.recorded_kernel(
                policy.choose, policy.answer, recording.forget, recording.add, recording.look,
                estimated=self.estimated, relative=self.is_relative,
            )  # fmt: skip
        room = adaptive_kernels.make_room(design, law.normals, recording, self.versus)
        work = policy.make_work(len(self.instance.arms), len(design.scales))
        kernel(*streams, arrays, design, room, work, tally)

    def _run_side_by_side(
        self, policy: AdaptivePolicy, rule: LaneRule, streams: _Streams, tally: Tally
    ) -> None:
        law, design = self.instance.law, self.adaptive_design
        kernel = lane_kernels.lane_kernel(rule, policy.answer, law.draw_block, law.normals)
        room = lane_kernels.make_room(design, rule, law.normals)
        work = policy.make_work(len(self.instance.arms), len(design.scales))
        kernel(*streams, law.arrays, design, room, work, tally)
