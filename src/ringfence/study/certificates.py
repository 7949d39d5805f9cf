"""What a certificate says: what is proven of a study, what it rests on, and what is open.

Values only. May touch core.
"""

from collections.abc import Mapping
from dataclasses import dataclass, field

from ringfence.core.certificate import Kind, Status
from ringfence.core.codes import Code
from ringfence.core.grounds import Basis
from ringfence.core.proving import Hindrance
from ringfence.study.paths import Held


class Assumed(Code):
    """What a certificate rests on besides what was told."""

    STEADY = "steady"  # an arm's pulls do not depend on when they were made
    SAMPLE = "sample"  # the items are a sample of those that it is about
    BOUNDS = "bounds"
    YES_OR_NO = "yes-or-no"
    CONSTANT = "constant"
    NORMAL = "normal"
    MANY = "many"  # so many values that the tests are nearly right
    ONE_ANSWER = "one-answer"  # it speaks of these items as they were answered


class Explored(Code):
    """Why a certificate is exploratory: something may have been chosen after looking."""

    BROUGHT = "brought"
    LEVEL = "level"


@dataclass(frozen=True)
class ProofStep:
    """One test of a certificate: `arm` keeps or breaks a `limit`, or is no better than `rival`.

    `e` is its e-value as it is now; it is `settled` once that has reached one over the `level`, at
    any time. `blocks` of evidence were seen, and it `needs` so many more pulls if it goes on as so
    far; None where nobody can tell. `held` names what its arms' paths wait for. One that is
    `certain` is disproved whatever is still to come, and has no e-value.
    """

    kind: Kind
    arm: str
    limit: str | None
    rival: str | None
    e: float | None
    level: float
    settled: bool
    certain: bool
    blocks: int
    needs: int | None
    hindrance: Hindrance | None
    held: Mapping[str, Held] = field(default_factory=dict)


@dataclass(frozen=True)
class Certificate:
    """What is proven of a study, at a `confidence`, and which questions are `open`.

    `answer` are the arms that it names; without a proof those that the questions are about.
    `rests_on` is by metric: exact, gaussian or asymptotic, and None where nothing can be proven.
    `assumes` names what else it rests on, with the metric that it is about. With an `exploratory`
    reason the confidence is no longer what it says.

    >>> import ringfence as rf
    >>> study = rf.Study.create(
    ...     "pair",
    ...     arms=["old", "new"],
    ...     objective="maximize mean(solved)",
    ...     constraints="mean(unsafe) <= 0.5",
    ...     noise={"solved": {"bounds": [0, 1]}, "unsafe": {"bounds": [0, 1]}},
    ...     budget=80,
    ...     policy="uniform",
    ...     storage="memory://",
    ...     seed=1,
    ... )
    >>> for pull in study.pulls():
    ...     _ = study.tell(pull, {"solved": pull.arm == "new", "unsafe": pull.seed % 10 == 0})
    >>> found = study.certificate()
    >>> found.status, found.arm, found.rests_on
    ('certified', 'new', {'solved': 'exact', 'unsafe': 'exact'})
    """

    study: str
    status: Status
    confidence: float
    within: float
    arm: str | None
    answer: tuple[str, ...]
    rests_on: Mapping[str, Basis | None]
    assumes: tuple[tuple[Assumed, str | None], ...]
    exploratory: tuple[Explored, ...]
    open: tuple[ProofStep, ...]
    settled: tuple[ProofStep, ...]
    pulls_used: int
    blocks: int | None

    @property
    def is_proven(self) -> bool:
        """Whether an arm, or a set of arms, is proven to be the answer."""
        return self.status in (Status.CERTIFIED, Status.EQUIVALENT)
