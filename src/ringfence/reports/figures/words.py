"""Names for pictures: kinds of arm in words, long names cut short, counts and times. Pure."""

from datetime import UTC, datetime

from ringfence.study.verdict import ArmVerdict, Verdict

BEST, NEAREST, INSIDE = "best feasible", "least infeasible", "feasible"
DECEIVER = "deceiver"
SUBOPTIMAL = "feasible suboptimal"
INFEASIBLE_SUBOPTIMAL = "infeasible suboptimal"
INFEASIBLE = "infeasible"
KINDS = (BEST, DECEIVER, SUBOPTIMAL, INFEASIBLE_SUBOPTIMAL, NEAREST, INFEASIBLE)
LEGEND = (BEST, NEAREST, SUBOPTIMAL, DECEIVER, INFEASIBLE_SUBOPTIMAL, INFEASIBLE)
_WORDS = {
    "deceiver": DECEIVER,
    "feasible-suboptimal": SUBOPTIMAL,
    "infeasible-suboptimal": INFEASIBLE_SUBOPTIMAL,
    "infeasible": INFEASIBLE,
}
IN_TITLE, IN_LABEL = 40, 22


def kinds_of(verdict: Verdict) -> tuple[str, ...]:
    """Return the kinds that arms may be of, in the order of shapes and colours."""
    if not verdict.problem.question.settles:
        return KINDS
    return tuple(INSIDE if kind == SUBOPTIMAL else kind for kind in KINDS)


def kind_in_words(verdict: Verdict, arm: ArmVerdict) -> str | None:
    """Return what an arm looks like, as legends call it; None where it could not be judged."""
    if arm.kind is None:
        return None
    if arm.kind == "optimal":
        if verdict.problem.question.settles:
            return INSIDE
        return BEST if verdict.feasible else NEAREST
    return _WORDS[arm.kind]


def shortened(name: str, most: int = IN_TITLE) -> str:
    """Return a name of at most so many characters, cut in the middle: ends tell variants apart."""
    if len(name) <= most:
        return name
    tail = (most - 1) // 3
    return f"{name[: most - 1 - tail]}…{name[len(name) - tail :]}"


def counted(count: int, one: str, many: str | None = None) -> str:
    """Return "1 arm", "3 arms", "1,200 arms"."""
    return f"{count:,} {one if count == 1 else many or one + 's'}"


def moment(seconds: float) -> str:
    """Return a time, in seconds since the epoch, as people read it."""
    return datetime.fromtimestamp(seconds, UTC).strftime("%Y-%m-%d %H:%M UTC")


def answer_of(verdict: Verdict) -> ArmVerdict | None:
    """Return the arm that the verdict names, if it names one."""
    return next((arm for arm in verdict.arms if arm.name == verdict.arm), None)
