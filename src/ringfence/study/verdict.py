"""The verdict: which arms, whether any is feasible, how sure that is, what speaks against others.

One path serves the Python interface, the command line and the reports. Probabilities are shares of
draws of what the truth may be, normal around the estimates (shares with few events: Beta):
approximate, the more so because pulls were chosen by what was seen. May touch policies and core.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

import numpy as np

from ringfence.core.answers import Answers, drawn_answers
from ringfence.core.arrays import Floats, Mask
from ringfence.core.attributes import Constraint
from ringfence.core.beliefs import Beliefs, quantile_interval
from ringfence.core.codes import Code
from ringfence.core.errors import NoAnswerError
from ringfence.core.gaps import margin
from ringfence.core.hardness import Kind
from ringfence.core.measurement import measure_sample
from ringfence.core.problem import Problem
from ringfence.core.showing import Rich
from ringfence.core.streams import verdict_stream
from ringfence.policies.evidence import Evidence
from ringfence.study.accounts import NOTHING_SPENT, Account, account_on
from ringfence.study.book import Book
from ringfence.study.certificates import Certificate
from ringfence.study.certifying import proof_of
from ringfence.study.changing import Change, changes_of
from ringfence.study.deciding import Answer, answer_of, apparent_answer
from ringfence.study.facts import Cause, Rejection
from ringfence.study.plan import Plan
from ringfence.study.proven import at_least_as_sure, doubts_beside, proven_answer
from ringfence.study.reading import View
from ringfence.study.snapshot import Snapshot
from ringfence.study.unseen import Doubt, doubts_of

SURE = 0.95
MOST_BY_ONE_ANSWER = 0.999  # sure, where another answer to the same item may be another one
_REACH = 1.959963984540054  # of a 95% interval, in standard errors


class Status(Code):
    """Whether an arm is still in the running."""

    RUNNING = "in the running"
    REJECTED = "rejected"
    SETTLED = "settled"
    WITHDRAWN = "withdrawn"


class Outcome(Code):
    """What a verdict says of the named arms, or that it cannot say it surely enough."""

    FEASIBLE = "feasible"
    INFEASIBLE = "infeasible"
    TOO_CLOSE = "too-close-to-call"


@dataclass(frozen=True)
class Estimate:
    """An attribute as written, with its 95% interval."""

    value: float
    low: float
    high: float


@dataclass(frozen=True)
class ArmVerdict:
    """What is known of one arm. `status` says whether it is still in the running, `left` why not.

    `margin` is its largest violation in units of the noise, with the 95% interval of the constraint
    that it belongs to; `blocked_by` the constraints that it seems to break. `error` is what the
    last failed pull said, on one line, of an arm that was withdrawn for failing. `failed` are its
    failed pulls, `untold` those in place of which nothing was told. `chance_feasible` is the share
    of draws in which it keeps all its limits, `chance_best` that in which it is the answer, or
    belongs to it; None where it was seen too rarely to judge. `differences` are by how much it
    exceeds the best of the answer, attribute by attribute.
    """

    name: str
    pulls: int
    estimates: Mapping[str, Estimate]
    margin: float | None
    kind: Kind | None
    status: Status
    blocked_by: tuple[str, ...] = ()
    phase: int | None = None
    rival: str | None = None
    gap: float | None = None
    margin_low: float | None = None
    margin_high: float | None = None
    error: str | None = None
    failed: int = 0
    untold: int = 0
    chance_feasible: float | None = None
    chance_best: float | None = None
    left: Rejection | None = None
    differences: Mapping[str, Estimate] = field(default_factory=dict)


@dataclass(frozen=True)
class Flip:
    """Where with another threshold of one constraint other arms would look right and feasible.

    By estimates alone: `answer` is the best of them, or None where none would look feasible, and
    `arms` are all of them, where sets are asked for; else that one. Where a limit
    has to exclude an arm, `beyond` is that arm's own value, and the threshold the next number on
    the other side of it. Post hoc, and so exploratory: thresholds are to be fixed before the data.
    """

    constraint: str
    threshold: float
    answer: str | None
    beyond: float | None = None
    arms: tuple[str, ...] = ()

    @property
    def side(self) -> str:
        """Where thresholds with that answer begin: at one, or only below or above `beyond`."""
        if self.beyond is None:
            return "at"
        return "below" if self.threshold < self.beyond else "above"


@dataclass(frozen=True)
class Verdict(Rich):
    """The answer of a study, so far or at its end.

    - `arm`: the named arm, or None. `answer`: all named ones, where a set is asked for.
    - `verdict`: "feasible" where the named arms keep all their limits in at least 95% of draws of
      what the truth may be (`chance_keeps_limits`). "infeasible" where no arm does in at least 95%
      of them. Else "too-close-to-call", and also where there are `doubts`.
    - `confidence`: the share of draws in which the answer is right as a whole.
    - `chance_feasible`: the share in which some arm keeps its limits.
    - `problem`: what was asked: the objective, the limits, and the question.
    - `blocks`: what pulls share, as `Sharing.plain` has it.
    - `changes`: the metrics that changed while the study ran.
    - `certificate`: what is proven, in a study with a `stop`. Where anything is, it decides.

    >>> import ringfence as rf
    >>> study = rf.Study.create(
    ...     "pair",
    ...     arms=["old", "new"],
    ...     objective="maximize mean(score)",
    ...     constraints="mean(seconds) <= 1",
    ...     budget=20,
    ...     policy="uniform",
    ...     storage="memory://",
    ...     seed=1,
    ... )
    >>> for pull in study.pulls():
    ...     good = 0.8 if pull.arm == "new" else 0.6
    ...     _ = study.tell(pull, {"score": good, "seconds": 0.5 + 0.1 * (pull.seed % 3)})
    >>> verdict = study.recommend()
    >>> verdict.arm, verdict.feasible, verdict.confidence > 0.99
    ('new', True, True)
    >>> [(arm.name, arm.pulls, arm.kind) for arm in verdict.arms]
    [('old', 10, 'feasible-suboptimal'), ('new', 10, 'optimal')]
    >>> round(verdict.arms[1].estimates["mean(score)"].value, 3)
    0.8
    """

    study: str
    arm: str | None
    feasible: bool
    verdict: Outcome
    confidence: float
    chance_feasible: float
    chance_keeps_limits: float
    pulls_used: int
    budget: float
    finished: bool
    arms: tuple[ArmVerdict, ...]
    flips: tuple[Flip, ...]
    exact: tuple[str, ...]
    brought: int
    apparent: str | None
    answer: tuple[str, ...]
    problem: Problem = field(repr=False)
    doubts: tuple[Doubt, ...] = ()
    blocks: Mapping[str, Any] | None = field(default=None, repr=False)
    changes: tuple[Change, ...] = ()
    certificate: Certificate | None = field(default=None, repr=False)
    account: Account = field(default=NOTHING_SPENT, repr=False)

    @property
    def objective(self) -> str:
        """The objective's attribute, as arms' estimates name it."""
        return str(self.problem.objective.attribute)

    def limit(self, name: str) -> Constraint:
        """Return the constraint that `blocked_by` of an arm, or a flip, names."""
        return next(one for one in self.problem.constraints if str(one) == name)


def verdict_of(plan: Plan, view: View, *, among: Mask | None = None) -> Verdict:
    """Return the verdict on what a study has seen, of the arms in the running or `among` some.

    There must be such an arm: reports say in words why there is none. What is proven decides, but
    `among` some arms nothing is looked for.
    """
    plan = plan.under(view.head.stops)
    head, book, snapshot = view.head, view.book, view.snapshot
    alive = in_the_running(view) if among is None else among
    if not alive.any():
        name = plan.definition.name
        raise NoAnswerError(
            f"study {name!r} has no arm with enough observations to judge it by. Tell more pulls."
        )
    certificate = None
    if view.harvest is not None and among is None:
        certificate = proof_of(plan, view.harvest, brought=view.brought).certificate
    answer, question = answer_of(plan, alive, snapshot), plan.problem.question
    proven = None if certificate is None else proven_answer(plan, alive, snapshot, certificate)
    if proven is not None:
        answer = proven
        alive = alive | answer.marks(plan.arm_count)
    feasible, marked = answer.feasible, answer.marks(plan.arm_count)
    apparent = apparent_answer(plan, snapshot.evidence(alive, plan.priority)).named
    withdrawn = [one.rejection.arm for one in view.departures if one.rejection.is_withdrawal]
    judged = book.is_comparable.copy()
    judged[withdrawn] = False
    judged |= alive
    evidence, beliefs = snapshot.evidence(judged, plan.priority), snapshot.beliefs
    answers = answers_drawn(plan, snapshot, judged, answer)
    chance, keeps = answers.some, answers.kept
    doubts = doubts_of(plan, snapshot, judged, answer)
    sure = not doubts and (keeps if feasible else 1.0 - chance) >= SURE
    confidence, chances = question.chance(answers, marked, feasible), question.arm_chances(answers)
    confidence = min(confidence, keeps if feasible else 1.0 - chance)
    if plan.sharing.answers_once:
        confidence = min(confidence, MOST_BY_ONE_ANSWER)
    if certificate is not None and proven is not None:
        sure, doubts = True, doubts_beside(certificate, doubts)
        keeps, chance, confidence = at_least_as_sure(
            certificate, keeps, chance, confidence, feasible=feasible
        )
    outcome = Outcome.FEASIBLE if feasible else Outcome.INFEASIBLE
    written = _written(plan.problem, book, beliefs, view.samples)
    gone = {one.rejection.arm: (one.rejection, one.round) for one in view.departures}
    arms = []
    for arm, name in enumerate(plan.definition.arm_names):
        left, phase = gone.get(arm, (None, None))
        seen = bool(judged[arm])
        low, worst, high = (
            _margin_interval(plan.problem, evidence, beliefs, arm)
            if seen and plan.problem.constraints
            else (None,) * 3
        )
        arms.append(
            ArmVerdict(
                name=name,
                pulls=int(book.counts[arm]),
                estimates=written[arm],
                margin=worst,
                kind=_kind(plan, evidence, answer, arm) if seen else None,
                status=_status(left),
                blocked_by=_blocked_by(plan.problem, evidence, arm) if seen else (),
                phase=phase,
                rival=None
                if left is None or left.rival is None
                else plan.definition.arm_names[left.rival],
                gap=None if left is None else left.gap,
                margin_low=low,
                margin_high=high,
                error=view.errors.get(arm),
                failed=int(view.failures[arm]),
                untold=int(book.failures[arm]),
                chance_feasible=float(answers.passing[arm]) if seen else None,
                chance_best=float(chances[arm]) if seen else None,
                left=left,
                differences=_differences(plan.problem, beliefs, arm, answer.named) if seen else {},
            )
        )
    account = account_on(plan, view)
    return Verdict(
        study=plan.definition.name,
        arm=_name(plan, answer.named),
        feasible=feasible,
        verdict=outcome if sure else Outcome.TOO_CLOSE,
        confidence=min(confidence, SURE) if doubts and proven is None else confidence,
        chance_feasible=chance,
        chance_keeps_limits=keeps,
        pulls_used=view.used,
        budget=account.budget,
        finished=head.finished,
        arms=tuple(arms),
        flips=_flips(plan, evidence, written, answer.arms if feasible else ()),
        exact=tuple(
            str(attribute)
            for attribute, silent in zip(
                plan.problem.attributes, _never_varies(plan, book, beliefs, judged), strict=True
            )
            if silent
        ),
        brought=view.brought,
        apparent=_name(plan, apparent),
        answer=tuple(plan.definition.arm_names[arm] for arm in answer.arms),
        problem=plan.problem,
        doubts=doubts,
        blocks=plan.sharing.plain(),
        changes=changes_of(book),
        certificate=certificate,
        account=account,
    )


def _differences(problem: Problem, beliefs: Beliefs, arm: int, named: int) -> dict[str, Estimate]:
    """Return by how much an arm exceeds another, of the attributes that are shown as judged."""
    if named in (arm, -1):
        return {}
    judged = problem.judged.attributes
    return {
        str(attribute): Estimate(*beliefs.difference(arm, named, c))
        for c, attribute in enumerate(problem.attributes)
        if attribute == judged[c] and attribute.statistic != "quantile"
    }


def _status(left: Rejection | None) -> Status:
    if left is None:
        return Status.RUNNING
    if left.is_withdrawal:
        return Status.WITHDRAWN
    return Status.SETTLED if left.cause == Cause.SETTLED else Status.REJECTED


def _name(plan: Plan, arm: int) -> str | None:
    return plan.definition.arm_names[arm] if arm >= 0 else None


def _never_varies(plan: Plan, book: Book, beliefs: Beliefs, judged: Mask) -> Mask:
    """Tell which attributes never varied, where more pulls would not show any event either.

    An arm that has seen all of given items is known exactly, however much they vary.
    """
    silent = np.asarray((beliefs.variances[judged].max(axis=0) == 0.0) & ~beliefs.shares)
    if plan.sharing.answers_once:
        silent &= ~np.diagonal(book.scatters[judged], axis1=1, axis2=2).any(axis=0)
    return silent


def _margin(evidence: Evidence, arm: int) -> float:
    return margin(evidence.estimates, arm, evidence.scales, evidence.thresholds)


def _margin_interval(
    problem: Problem, evidence: Evidence, beliefs: Beliefs, arm: int
) -> tuple[float, float, float]:
    """Return the low end, the margin itself and the high end, at the constraint that binds."""
    scales = evidence.scales[1:]
    violations = scales * (evidence.estimates[arm, 1:] - evidence.thresholds)
    binding = int(np.argmax(violations))
    at = float(_margin(evidence, arm))
    if problem.factors[binding] == 0.0:
        sign, limit = beliefs.signs[binding + 1], evidence.thresholds[binding]
        ends = beliefs.interval(arm, binding + 1)
        low, high = sorted(float(scales[binding] * (sign * end - limit)) for end in ends)
        return low, at, high
    variance = evidence.covariances[arm, binding + 1, binding + 1] / evidence.counts[arm]
    reach = _REACH * float(scales[binding]) * float(variance) ** 0.5
    return at - reach, at, at + reach


def _kind(plan: Plan, evidence: Evidence, answer: Answer, arm: int) -> Kind:
    """Return what an arm looks like beside the answer, which may look otherwise itself."""
    objectives = evidence.estimates[:, 0]
    return plan.problem.question.kind(
        arm in answer.arms,
        answer.feasible,
        _margin(evidence, arm),
        float(objectives[arm]),
        float(objectives[answer.named]),
    )


def _blocked_by(problem: Problem, evidence: Evidence, arm: int) -> tuple[str, ...]:
    broken = evidence.estimates[arm, 1:] > evidence.thresholds
    return tuple(
        str(constraint) for constraint, one in zip(problem.constraints, broken, strict=True) if one
    )


def answers_drawn(plan: Plan, snapshot: Snapshot, judged: Mask, answer: Answer) -> Answers:
    """Return the answers of draws of what the truth may be, of the arms that are judged."""
    evidence = snapshot.evidence(judged, plan.priority)
    return drawn_answers(
        verdict_stream(plan.definition.seed),
        snapshot.beliefs,
        evidence.scales,
        evidence.thresholds,
        arms=np.flatnonzero(judged),
        baseline=snapshot.book.baseline,
        factors=plan.problem.factors,
        favoured=answer.named,
        marked=answer.marks(plan.arm_count),
    )


def _written(
    problem: Problem, book: Book, beliefs: Beliefs, samples: Sequence[Floats]
) -> list[dict[str, Estimate]]:
    """Return every arm's attributes as the user wrote them, in the user's units."""
    signs = problem.signs
    judged = problem.judged.attributes
    result: list[dict[str, Estimate]] = []
    for arm in range(len(book.counts)):
        found: dict[str, Estimate] = {}
        if not book.is_seen[arm]:
            result.append(found)
            continue
        for c, attribute in enumerate(problem.attributes):
            if attribute == judged[c] and attribute.statistic != "quantile":
                value = float(signs[c] * beliefs.estimates[arm, c]) + 0.0
                ends = beliefs.interval(arm, c)
            else:
                sample = samples[arm][:, book.columns] if len(samples) else book.sample(arm)
                columns = dict(zip(problem.metrics, sample.T, strict=True))
                metric = attribute.metric
                columns[metric] = np.append(columns[metric], book.silent_failures(arm, metric))
                one = measure_sample(
                    attribute, columns, arm=book.arms[arm], signs=[float(signs[c])]
                )
                value = float(one.estimates[0])
                low, high = book.possible_range(attribute.metric)
                ends = quantile_interval(columns[attribute.metric], float(attribute.level or 0.0))
                ends = max(ends[0], low), min(ends[1], high)
                if book.is_constant[c]:
                    ends = value, value
            found[str(attribute)] = Estimate(value, *ends)
        result.append(found)
    return result


def _flips(
    plan: Plan,
    evidence: Evidence,
    written: Sequence[Mapping[str, Estimate]],
    answer: tuple[int, ...],
) -> tuple[Flip, ...]:
    """Return the nearest tighter and looser threshold of each constraint with another answer.

    Another answer has other feasible arms, or none where there were some, or some where there were
    none. It changes at arms' own estimates only: where these do not make the `answer` what it is,
    there is nothing to say.
    """
    problem, judged = plan.problem, np.flatnonzero(evidence.alive)
    margins = np.array([_margin(evidence, int(arm)) for arm in judged])
    objectives, priority = evidence.estimates[judged, 0], evidence.priority[judged]
    ranked = np.lexsort((priority, margins, objectives))  # ties as the rules break them

    def named_of(passing: Mask) -> list[int]:
        found: list[int] = judged[ranked[passing[ranked]]].tolist()
        return found if problem.question.settles else found[:1]

    flips = []
    for c, constraint in enumerate(problem.constraints):
        if constraint.factor:
            continue  # its threshold is another for every draw of the baseline
        sign, name = float(problem.signs[c + 1]), str(constraint.attribute)
        values = np.array([sign * written[int(arm)][name].value for arm in judged])
        limit = float(problem.thresholds[c])
        others = np.delete(evidence.estimates[judged, 1:] <= evidence.thresholds, c, axis=1)
        passes = others.all(axis=1)
        now = named_of(passes & (values <= limit))
        if set(now) != set(answer):
            return ()
        tighter = np.nextafter(np.unique(values[values <= limit])[::-1], -np.inf)
        looser = np.unique(values[values > limit])
        for candidates, excludes in ((tighter, True), (looser, False)):
            for value in candidates.tolist():
                then = named_of(passes & (values <= value))
                if then != now:
                    named = tuple(plan.definition.arm_names[arm] for arm in then)
                    beyond = sign * float(np.nextafter(value, np.inf)) + 0.0 if excludes else None
                    at, best = sign * value + 0.0, named[0] if named else None
                    flips.append(Flip(str(constraint), at, best, beyond, named))
                    break
    return tuple(flips)


def in_the_running(view: View) -> Mask:
    """Return the arms that may be the answer: not gone but for settled ones, and seen often enough.

    Where none is left, those that were withdrawn are judged by what was told of them.
    """
    seen = view.book.is_comparable
    if view.last is None:
        return seen
    running = np.array(view.alive)
    gone = [one.rejection for one in view.departures]
    running[[one.arm for one in gone if one.cause == Cause.SETTLED]] = True
    running &= seen
    if running.any():
        return running
    withdrawn = [one.rejection.arm for one in view.departures if one.rejection.is_withdrawal]
    return np.isin(np.arange(len(seen)), withdrawn) & seen
