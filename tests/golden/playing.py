"""How golden studies are played: made-up evaluations, and what is noted of a study's course.

Evaluations are whole-number arithmetic on the arm's place and the pull's ordinal: nothing is drawn.
Only the public `Study` is used; what of it has to be translated is in `taking.py`.
"""

from collections.abc import Callable, Mapping
from typing import Any

import ringfence as rf
from tests.golden import taking

Values = Mapping[str, float]
Evaluate = Callable[[int, int], Values]


def unit(arm: int, ordinal: int, metric: int = 0) -> float:
    """Return a number from 0 to below 1, as scattered as if it were drawn."""
    mixed = (7919 * arm + 104729 * ordinal + 1299709 * metric + 12345) * 2654435761
    mixed = ((mixed >> 11) ^ (mixed << 7)) * 2246822519 % 2**32
    return float(mixed >> 22) / 2.0**10


def bell(arm: int, ordinal: int, metric: int = 0) -> float:
    """Return a number about zero with a deviation of one half, nearly normal."""
    return sum(unit(arm, ordinal, 16 * metric + part) for part in range(3)) - 1.5


class Played:
    """A study with all that was done to it: `asked` are the arms of its pulls, in order."""

    def __init__(self, storage: Any, name: str, evaluate: Evaluate, **options: Any) -> None:
        self.now = 1_000_000.0
        usual: dict[str, Any] = {
            "arms": ["v0", "v1", "v2", "v3"],
            "objective": "minimize mean(a)",
            "constraints": ["mean(b) <= 0.5"],
            "budget": 64,
            "seed": 7,
        }
        self._watch(
            rf.Study.create(name, storage=storage, clock=lambda: self.now, **usual | options),
            evaluate,
        )

    @classmethod
    def loaded(cls, study: rf.Study, evaluate: Evaluate) -> "Played":
        """Return a study that was begun before, to go on with."""
        played = cls.__new__(cls)
        played._watch(study, evaluate)
        return played

    def _watch(self, study: rf.Study, evaluate: Evaluate) -> None:
        self.study, self.evaluate = study, evaluate
        self.names = list(study.definition.arm_names)
        self.asked = ""
        self.notes: list[Any] = []

    def ask(self, most: int = 1) -> list[rf.Pull]:
        """Lease pulls, and note their arms."""
        pulls = self.study.ask(most)
        self.asked += "".join(taking.ARMS[self.place(pull)] for pull in pulls)
        return pulls

    def place(self, pull: rf.Pull) -> int:
        """Return the place of a pull's arm."""
        return self.names.index(pull.arm)

    def note(self, *what: Any) -> None:
        """Keep what a call returned."""
        self.notes.append(list(what))

    def tell(self, pull: rf.Pull) -> None:
        """Evaluate a pull and tell it."""
        self.study.tell(pull, self.evaluate(self.place(pull), pull.ordinal))

    def go(
        self,
        *,
        most: int = 1,
        stop: int | None = None,
        fails: Callable[[rf.Pull], bool] = lambda pull: False,
        **failing: Any,
    ) -> "Played":
        """Work until nothing is left, or so many pulls were asked for; some pulls fail.

        A batch of leases is resolved from its end: what comes in another order decides alike.
        """
        while stop is None or len(self.asked) < stop:
            pulls = self.ask(most)
            if not pulls:
                break
            for pull in reversed(pulls):
                if fails(pull):
                    self.note(pull.pull, self.study.fail(pull, "it broke", **failing))
                else:
                    self.tell(pull)
        return self

    def facts(self, *, sound: bool = True) -> dict[str, Any]:
        """Return the study's course, its verdict and what an audit counts, which must be sound."""
        status, audit = self.study.status(), self.study.doctor()
        if sound:
            assert audit.problems == (), audit.problems
            assert audit.notes == (), audit.notes
        return {
            "asked": self.asked,
            "notes": self.notes,
            "rounds": taking.round_facts(self.study),
            "verdict": verdict(self.study),
            "status": [
                status.told, status.issued, status.failed, status.lost, status.budget,
                status.phase, list(status.alive), status.arm, status.feasible, status.finished,
            ],
            "audit": [audit.told, audit.issued, audit.failed, audit.lost, audit.void],
        }  # fmt: skip


def verdict(study: rf.Study) -> dict[str, Any] | str:
    """Return the verdict so far, or that there is none."""
    try:
        return taking.verdict_facts(study.recommend())
    except rf.NoAnswerError:
        return "no answer"


def supposed(study: rf.Study, constraint: int, threshold: float) -> dict[str, Any]:
    """Return what the verdict would be with another threshold."""
    return taking.verdict_facts(study.what_if(constraint, threshold))
