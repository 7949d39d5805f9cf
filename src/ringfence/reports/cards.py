"""Why each arm was dropped or kept, from what was seen when it was decided. Pure."""

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from ringfence.core.arrays import Floats, Mask
from ringfence.core.gaps import margin, pair
from ringfence.reports.chances import percent
from ringfence.reports.departures import departure, standing
from ringfence.reports.verdict import named, outside, reason
from ringfence.study.facts import Cause, Rejection, Round
from ringfence.study.plan import Plan
from ringfence.study.verdict import ArmVerdict, Verdict

_SAME = 1e-12
_MOST_NAMED = 5


@dataclass(frozen=True)
class Term:
    """One thing that was compared, and its value for each arm of the card, in words."""

    what: str
    values: tuple[str, ...]


@dataclass(frozen=True)
class Card:
    """The story of one arm; `columns` are the arms whose values the terms give."""

    place: int
    arm: str
    left: bool
    headline: str
    lines: tuple[str, ...]
    columns: tuple[str, ...] = ()
    terms: tuple[Term, ...] = ()


def cards_of(
    plan: Plan, verdict: Verdict, decisive: Sequence[Round], shown: Sequence[str]
) -> list[Card]:
    """Return the cards of some arms; `decisive` are the rounds at whose beginning they left."""
    told = {}
    for one in decisive:
        alive = np.array(one.alive)
        for left in one.left:
            alive[left.arm] = True
        for left in one.left:
            told[left.arm] = _dropped(plan, one, left, alive.copy(), verdict.arms[left.arm].error)
            alive[left.arm] = False
    places = {arm.name: place for place, arm in enumerate(verdict.arms)}
    return [
        told.get(places[name]) or _kept(places[name], verdict.arms[places[name]], verdict)
        for name in shown
    ]


def _dropped(plan: Plan, at: Round, left: Rejection, alive: Mask, error: str | None) -> Card:
    name = plan.definition.arm_names[left.arm]
    if left.is_withdrawal or left.gap is None:
        text = f"It was {departure(left)}, at the end of phase {at.number}."
        said = [] if error is None else [f"The last error: {error}"]
        return Card(left.arm, name, left=True, headline="withdrawn", lines=(text, *said))
    estimates, scales = np.array(at.seen["estimates"]), np.array(at.seen["scales"])
    problem, question = plan.problem.judged, plan.problem.question
    reference, _, _ = question.reference(
        estimates, alive, scales, problem.thresholds, plan.priority
    )
    best = left.arm if reference < 0 else int(reference)
    others = [
        (question.gap(*pair(estimates, best, int(arm), scales, problem.thresholds)), int(arm))
        for arm in np.flatnonzero(alive)
        if arm not in (best, left.arm)
    ]
    pulls = at.seen["counts"][left.arm]
    lines = [f"It left at the end of phase {at.number}, with {pulls:,} pulls: {departure(left)}."]
    if left.rival is not None:
        lines.append(_compared(plan, estimates, scales, best, left))
    elif left.cause == Cause.SETTLED:
        side = "over" if margin(estimates, left.arm, scales, problem.thresholds) > 0.0 else "inside"
        lines.append(
            f"It looked {side} its limits, by {left.gap:.3g} in units of noise. Its estimate "
            "counts, but it gets no more pulls."
        )
    if plan.policy.by_gaps:
        lines.extend(_runner_up(plan, others, left))
    shown = [left.arm] + ([best] if best != left.arm else [])
    return Card(
        left.arm,
        name,
        left=True,
        headline="settled" if left.cause == Cause.SETTLED else "dropped",
        lines=tuple(lines),
        columns=tuple(plan.definition.arm_names[arm] for arm in shown),
        terms=tuple(_terms(plan, estimates, scales, shown)),
    )


def _compared(plan: Plan, estimates: Floats, scales: Floats, best: int, left: Rejection) -> str:
    """Return which of the gap's terms decided."""
    thresholds = plan.problem.judged.thresholds
    rival = plan.definition.arm_names[best]
    own = abs(margin(estimates, best, scales, thresholds))
    compared = pair(estimates, best, left.arm, scales, thresholds)
    behind = plan.problem.question.separation(*compared)
    text = (
        f"{rival} looked best. The gap to it was {left.gap:.3g}, in units of noise: the smaller "
        f"of how far this arm trailed ({behind:.3g}) and how far {rival} was from its limits "
        f"({own:.3g})."
    )
    if not plan.policy.by_gaps:
        text += f" What {plan.policy.name} goes by is not the gap: its page has the rule."
    elif own < behind:
        text += " The second decided, so arms further behind count the same."
    return text


def _runner_up(plan: Plan, others: list[tuple[float, int]], left: Rejection) -> list[str]:
    """Return how near another arm was to leaving in its place."""
    if not others or left.gap is None:
        return []
    tied = [arm for distance, arm in others if abs(distance - left.gap) <= _SAME * abs(left.gap)]
    names = plan.definition.arm_names
    if tied:
        listed = ", ".join(names[arm] for arm in tied[:_MOST_NAMED])
        more = " and others" if len(tied) > _MOST_NAMED else ""
        text = f"The same gap had {listed}{more}: among equals the one that looks most infeasible "
        return [text + "goes first, then the one with the worst objective."]
    furthest, arm = max(others)
    return [f"Next in line was {names[arm]}, with a gap of {furthest:.3g}."]


def _terms(plan: Plan, estimates: Floats, scales: Floats, arms: Sequence[int]) -> list[Term]:
    problem = plan.problem.judged
    signs = problem.signs
    rows = []
    for c, attribute in enumerate(problem.attributes):
        label = str(attribute) if c == 0 else str(problem.constraints[c - 1])
        if c > 0 and problem.constraints[c - 1].factor:
            label += ", beyond the baseline"
        unit = problem.unit(str(attribute))
        values = tuple(unit.show(signs[c] * estimates[arm, c] + 0.0) for arm in arms)
        rows.append(Term(label, values))
    if problem.constraints:
        margins = [margin(estimates, arm, scales, problem.thresholds) for arm in arms]
        rows.append(Term("margin, in units of noise", tuple(f"{one:.3g}" for one in margins)))
    return rows


def _kept(place: int, arm: ArmVerdict, verdict: Verdict) -> Card:
    """Return the card of an arm that did not leave."""
    if arm.kind is None:
        why = reason(arm, verdict, alone=True)
        text = f"Too few of its pulls were told to judge it: {arm.pulls}. It is {why}."
        return Card(place, arm.name, left=False, headline="not judged", lines=(text,))
    if verdict.problem.question.settles:
        headline = "in the answer" if arm.name in verdict.answer else "not in the answer"
        text = _which_side(arm, verdict)
        terms = tuple(
            Term(name, (verdict.problem.unit(name).show(one.value),))
            for name, one in arm.estimates.items()
        )
        lines = (text, f"It has {arm.pulls:,} pulls and is {standing(arm)}.")
        return Card(
            place, arm.name, left=False, headline=headline, lines=lines,
            columns=(arm.name,), terms=terms,
        )  # fmt: skip
    best = named(verdict, verdict.arm)
    units = {name: verdict.problem.unit(name) for name in arm.estimates}
    terms = tuple(
        Term(name, tuple(unit.show(one.estimates[name].value) for one in (arm, best)))
        for name, unit in units.items()
    )
    if arm.name in verdict.answer:
        headline, text = "the answer", _why_best(arm, verdict)
        return Card(place, arm.name, left=False, headline=headline, lines=(text,))
    objective, past = verdict.objective, outside(arm, verdict) if arm.blocked_by else ""
    keeps = "It seems to keep every limit"
    if arm.chance_feasible is not None:
        keeps += f" ({percent(arm.chance_feasible)} likely)"
    behind = f"{best.name} looks better by {objective}."
    if verdict.problem.constraints:
        behind = f"{keeps}, but {behind}"
    text = {
        "feasible-suboptimal": behind,
        "deceiver": f"It looks better than {best.name} by {objective}, but {past}.",
        "infeasible-suboptimal": f"It looks {past}. It looks no better by {objective} either.",
        "infeasible": f"It looks {past}. It looks further out than {best.name}.",
    }[arm.kind]
    lines = (text, f"It has {arm.pulls:,} pulls and is {standing(arm)}.")
    return Card(
        place, arm.name, left=False, headline="not the answer", lines=lines,
        columns=(arm.name, best.name), terms=terms,
    )  # fmt: skip


def _which_side(arm: ArmVerdict, verdict: Verdict) -> str:
    """Return on which side of its limits an arm looks, and how likely that is."""
    if arm.blocked_by:
        return f"It looks {outside(arm, verdict)}."
    keeps = "" if arm.chance_feasible is None else f" ({percent(arm.chance_feasible)} likely)"
    return f"It seems to keep every limit{keeps}."


def _why_best(arm: ArmVerdict, verdict: Verdict) -> str:
    sure = f"{100 * verdict.confidence:.1f}% of what the truth may be"
    if verdict.feasible:
        best = f"it has the best {verdict.objective}"
        if not verdict.problem.constraints:
            return f"Of all arms {best}: so in {sure}."
        return f"Of the arms that look feasible {best}: so in {sure}."
    looks = f"It looks {outside(arm, verdict)}"
    return f"No arm looks feasible. {looks}. It comes nearest of all: so in {sure}."
