"""Why a table of logged rows cannot answer a question: reasons, each with a remedy.

A replay of such a table would measure how well policies find out an accident. May touch core and
simulation's logs.
"""

import math
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass

import numpy as np

from ringfence.core.arrays import Floats
from ringfence.core.statistics import differ
from ringfence.core.unseen import UNSEEN, reach_of_unseen
from ringfence.simulation.logs import Log

LEAST_ROWS = 30
LEAST_CONFIDENCE = 0.8
_SURE = 0.95  # that an answer keeps its limits, from where on nothing is said of it
_TAIL_ROWS = 5  # beyond a quantile, or the limit of a share
_REACH = 1.959963984540054  # of a 95% interval, in standard errors
_MOST_NAMED = 5


@dataclass(frozen=True)
class Doubt:
    """One reason why a table cannot answer, and what would help.

    `kind` is one of "missing", "few-rows", "no-variation", "too-close".
    """

    kind: str
    what: str
    remedy: str
    arms: tuple[str, ...] = ()

    def __str__(self) -> str:
        return f"{self.what}. {self.remedy}"


def doubts_of(log: Log) -> tuple[Doubt, ...]:
    """Return every reason for which the table cannot answer; of its own items it always can."""
    if log.item is not None:
        return ()
    return (*_missing(log), *_few_rows(log), *_no_variation(log), *_too_close(log))


def notes_of(log: Log) -> tuple[str, ...]:
    """Return what a reader should know though it speaks against nothing."""
    notes = []
    for c, attribute in enumerate(log.instance.judged.attributes):
        constant = _constant(log, c)
        if len(constant) == len(log.arms) and len(set(_values(log, c))) > 1:
            notes.append(f"{attribute} never varies within an arm: it is taken to be exact")
        elif 0 < len(constant) < len(log.arms) and log.item is None:
            harmless = [i for i in constant if not _matters(log, i, c)]
            if harmless:
                notes.append(
                    f"{attribute} never varies in {_named(log, harmless)}, which cannot change "
                    "the answer"
                )
    return tuple(notes)


def _missing(log: Log) -> Iterator[Doubt]:
    total = log.rows + log.dropped
    for column in log.unusable:
        verb = "rows hold" if column.cells > 1 else "row holds"
        yield Doubt(
            "missing",
            f"column {column.column!r}: {column.cells} of {total} {verb} nothing usable "
            f"(row {column.first_row}: {column.first_value})",
            "Fill or drop them yourself: why they are missing may matter.",
        )


def _few_rows(log: Log) -> Iterator[Doubt]:
    needed, why = LEAST_ROWS, "to know an arm's noise"
    problem = log.instance.problem
    tails = [(attribute, attribute.first_pulls) for attribute in problem.attributes]
    tails += [
        (constraint.attribute, _beyond(float(sign * limit)))
        for constraint, sign, limit in zip(
            problem.constraints, problem.signs[1:], log.limits, strict=True
        )
        if constraint.attribute.statistic == "share"
    ]
    for attribute, rows in tails:
        if rows > needed:
            needed, why = rows, f"for {_TAIL_ROWS} beyond the level of {attribute}"
    few = [i for i, arm in enumerate(log.arms) if arm.rows < needed]
    if few:
        counts = _listed([f"{log.arms[i].name!r} has {log.arms[i].rows}" for i in few])
        yield Doubt(
            "few-rows",
            f"{len(few)} of {len(log.arms)} arms have fewer than {needed} rows, which it takes "
            f"{why}: {counts}",
            "Log more rows of them, or leave these arms out.",
            _names(log, few),
        )


def _beyond(share: float) -> int:
    """Return the rows of which a few lie beyond the limit of a share, on its rarer side."""
    rare = min(share, 1.0 - share)
    return math.ceil(_TAIL_ROWS / rare) if 0.0 < rare < 1.0 else 0


def _no_variation(log: Log) -> Iterator[Doubt]:
    """Yield attributes that say nothing of their noise, where that may change the answer."""
    silent = 0
    for c, attribute in enumerate(log.instance.judged.attributes):
        constant = _constant(log, c)
        if len(constant) == len(log.arms):
            silent += 1
            if len(set(_values(log, c))) == 1:
                yield Doubt(
                    "no-variation",
                    f"{attribute} is the same in every row of the table, which says nothing of it",
                    "Name another metric, or leave it out of the question.",
                )
            continue
        risky = [i for i in constant if _matters(log, i, c)]
        if risky:
            yield Doubt(
                "no-variation",
                f"{attribute} never varies in {len(risky)} of {len(log.arms)} arms "
                f"({_named(log, risky)}), and what their rows do not show may still be frequent "
                f"enough ({UNSEEN:g} in {min(log.arms[i].rows for i in risky)}) to change the "
                "answer",
                "Log more rows of these arms.",
                _names(log, risky),
            )
    if silent == len(log.instance.judged.attributes):
        yield Doubt(
            "no-variation",
            "nothing varies within any arm: one row of each would do, and policies do not differ",
            "Give rows of single evaluations, not of averages.",
        )


def _too_close(log: Log) -> Iterator[Doubt]:
    if log.confidence >= LEAST_CONFIDENCE:
        return
    right, flag = log.answer, "feasible" if log.feasible else "least infeasible"
    theory = log.instance.hardness
    rivals = [i for i in range(len(log.arms)) if i not in theory.optimal_arms]
    rivals.sort(key=lambda i: -log.arms[i].chance)
    rivals = [i for i in rivals if log.arms[i].chance > 0.0]
    shares = [f"{log.arms[i].name!r} in {log.arms[i].chance:.0%}" for i in rivals]
    if theory.feasible != (log.answers.some == 1.0):
        none = 1.0 - log.answers.some
        shares.append(f"no arm is feasible in {none:.0%}")
    yield Doubt(
        "too-close",
        f"the table itself cannot say who is right: {right.name!r} ({flag}) is so in "
        f"{log.confidence:.0%} of the truths that its noise allows{_keeping(log)}, and "
        f"{LEAST_CONFIDENCE:.0%} are asked for; {_listed(shares)}{_closest(log, rivals)}",
        "Log more rows of these arms, move the threshold, or leave out what need not be told "
        "apart.",
        (right.name, *_names(log, rivals[:_MOST_NAMED])),
    )


def _keeping(log: Log) -> str:
    """Return in words how often the answer keeps its limits, where that is what is in doubt.

    Its estimates may lie well within them: of an arm that stands out by few rows what the others
    show is believed too.
    """
    keeps = float(log.answers.passing[log.instance.hardness.optimal])
    return f" (it keeps its limits in {keeps:.0%})" if log.feasible and keeps < _SURE else ""


def _closest(log: Log, rivals: Sequence[int]) -> str:
    """Return in words what lies nearest: an arm to a limit, or a rival to the answer."""
    problem, means, errors = log.instance.judged, log.instance.compared, log.compared_errors
    best = log.instance.hardness.optimal
    near: list[tuple[float, str]] = []
    for i in (best, *rivals[:_MOST_NAMED]):
        for c, constraint in enumerate(log.instance.problem.constraints):
            if i == log.instance.baseline_place and constraint.factor == 1.0:
                continue  # its distance from itself is known
            gap = abs(float(means[i, c + 1] - problem.thresholds[c]))
            near.append(
                (
                    _in_errors(gap, errors[i, c + 1, c + 1]),
                    f"{log.arms[i].name!r} from {constraint}",
                )
            )
        if i != best and log.feasible:
            gap = abs(float(means[i, 0] - means[best, 0]))
            both = errors[i, 0, 0] + errors[best, 0, 0]
            what = f"{log.arms[i].name!r} from {log.arms[best].name!r} in {problem.attributes[0]}"
            near.append((_in_errors(gap, both), what))
    distance, what = min(near)
    return f"; {what} is {distance:.1f} standard errors" if math.isfinite(distance) else ""


def _in_errors(gap: float, variance: float) -> float:
    if variance > 0.0:
        return gap / math.sqrt(variance)
    return 0.0 if gap == 0.0 else math.inf


def _matters(log: Log, arm: int, c: int) -> bool:
    """Tell whether what an arm's rows do not show of an attribute may change the answer.

    The rows that were not seen are as many as may be, and as far out as the table's own. Who it
    is compared with, a baseline too, has the noise that its own rows show.
    """
    theory, means = log.instance.hardness, log.instance.means
    low, high = _reach(log, arm, c)
    own, reach = theory.arms[arm], _REACH * np.sqrt(log.errors[:, 0, 0])
    if c > 0:
        return _crosses_limit(log, arm, c, (low, high))
    if not theory.feasible or own.margin > 0.0:
        return False
    if own.kind != "optimal":
        return bool(low < means[theory.optimal, 0] + reach[theory.optimal])
    others = [
        means[i, 0] - reach[i]
        for i, other in enumerate(theory.arms)
        if other.margin <= 0.0 and other.kind != "optimal"
    ]
    return bool(others) and bool(high > min(others))


def _crosses_limit(log: Log, arm: int, c: int, ends: tuple[float, float]) -> bool:
    """Tell whether an arm may be on either side of a limit if its attribute lies between `ends`.

    A baseline between them moves the limit of every arm that is compared with it.
    """
    theory, judged = log.instance.hardness, log.instance.judged
    asked = [
        i
        for i, one in enumerate(theory.arms)
        if not theory.feasible or one.kind in ("optimal", "deceiver")
    ]
    factor, threshold = float(judged.factors[c - 1]), float(judged.thresholds[c - 1])
    place = log.instance.baseline_place if factor else None
    reach = _REACH * np.sqrt(log.errors[:, c, c])
    low, high = ends
    if arm != place:
        limit, slack = float(log.limits[c - 1]), 0.0 if place is None else factor * reach[place]
        return arm in asked and bool(low <= limit + slack and high > limit - slack)
    for i in asked:
        if i == place:
            sides = [(1.0 - factor) * end <= threshold for end in ends]
            moves = sides[0] != sides[1]
        else:
            at = float(log.instance.means[i, c])
            moves = bool(
                at - reach[i] <= threshold + factor * high
                and at + reach[i] > threshold + factor * low
            )
        if moves:
            return True
    return False


def _reach(log: Log, arm: int, c: int) -> tuple[float, float]:
    """Return the oriented values that an attribute without variation may have after all."""
    attribute, sign = log.instance.judged.attributes[c], float(log.instance.judged.signs[c])
    values = np.concatenate([sample[attribute.metric] for sample in log.samples])
    ends = float(values.min()), float(values.max())
    return reach_of_unseen(
        attribute, sign, float(log.instance.means[arm, c]), log.arms[arm].rows, ends
    )


def _constant(log: Log, c: int) -> list[int]:
    """Return the arms in which an attribute never varies."""
    scatter: Floats = log.scatters[:, c, c]
    metrics = log.instance.judged.attributes[c].metrics
    return [
        i
        for i in range(len(log.arms))
        if scatter[i] == 0.0
        and (
            log.instance.judged.attributes[c].is_mean
            or not any(differ(log.samples[i][metric]) for metric in metrics)
        )
    ]


def _values(log: Log, c: int) -> list[float]:
    return [float(value) for value in log.instance.means[:, c]]


def _names(log: Log, arms: Iterable[int]) -> tuple[str, ...]:
    return tuple(log.arms[i].name for i in arms)


def _named(log: Log, arms: Sequence[int]) -> str:
    return _listed([repr(log.arms[i].name) for i in arms])


def _listed(parts: Sequence[str]) -> str:
    more = len(parts) - _MOST_NAMED
    return ", ".join(parts[:_MOST_NAMED]) + (f" and {more} more" if more > 0 else "")
