"""What can be seen of a study: where it stands, the verdict, charts, tables and records.

Nothing here changes it. May touch every room.
"""

from contextlib import suppress
from dataclasses import replace
from typing import Any

import numpy as np

from ringfence.core.errors import (
    EstimateError,
    InputError,
    NoAnswerError,
    RingfenceError,
    nearest,
    one_of,
)
from ringfence.execution.chunks import Progress
from ringfence.interfaces.checking import at_least
from ringfence.interfaces.kept_verdicts import is_another, latest_verdict, verdict_on
from ringfence.interfaces.leases import Status
from ringfence.interfaces.proofs import gate_on, proof_on
from ringfence.interfaces.shared_views import (
    SHARED_KINDS,
    contents_drawn,
    kind_shared,
    outcomes_in,
    require_shared,
    shared_chart_of,
)
from ringfence.reports.departures import no_answer
from ringfence.reports.notebook import study_html
from ringfence.study.accounts import account_on
from ringfence.study.audit import Audit, audit
from ringfence.study.certificates import Certificate
from ringfence.study.deciding import answer_of
from ringfence.study.desk import Desk
from ringfence.study.exploring import what_if
from ringfence.study.facts import Definition, Round
from ringfence.study.gating import Gate
from ringfence.study.reading import View
from ringfence.study.verdict import ArmVerdict, Verdict, in_the_running

ROUNDS_DRAWN = 200  # of a study that has more: evenly spread, the first and the last among them


class StudyViews:
    """The side of a study that is looked at."""

    desk: Desk

    @property
    def name(self) -> str:
        """The study's name."""
        return self.desk.name

    @property
    def definition(self) -> Definition:
        """What was fixed before the first pull."""
        return self.desk.plan.definition

    @property
    def created_at(self) -> float:
        """When the study was created, in seconds since the epoch."""
        with self.desk.storage.reading(self.name) as ledger:
            return ledger.created_at

    @property
    def lag(self) -> int | None:
        """How far decisions are behind: as it was stated, or set when the study began.

        None where nobody has said it yet; 1 where a decision waits for all pulls before it.
        """
        with self.desk.storage.reading(self.name) as ledger:
            begun = [one.lag for one in ledger.rounds(0, 1)]
        return begun[0] if begun else self.definition.lag

    def recommend(self) -> Verdict:
        """Return the verdict on all that was told so far."""
        return latest_verdict(self.desk) or self.verdict_on(self.desk.look())

    def verdict_on(self, view: View) -> Verdict:
        """Return the verdict on what was viewed; the error says why there is none."""
        if not in_the_running(view).any():
            raise NoAnswerError(no_answer(self.desk.plan, view))
        return verdict_on(self.desk, view)

    def certificate(
        self, confidence: float | None = None, *, within: float | None = None
    ) -> Certificate:
        """Return what is proven of the answer by now, whatever chose the pulls.

        It may be asked for at any time, and as often as one likes: at the confidence of the study's
        `stop`, or at 0.95. With `within`, in the unit of
        the objective, an arm is enough that no other betters by more than that.
        """
        return proof_on(self.desk, confidence, within=within).certificate

    def gate(self, candidate: str, confidence: float | None = None) -> Gate:
        """Return whether one arm is proven to keep all its limits, or to break one.

        Name it before you look: whoever tries several arms is wrong more often than stated.
        """
        return gate_on(self.desk, self.require_arm(candidate), confidence)

    def explain(self, arm: str | None = None) -> list[ArmVerdict]:
        """Return why each arm was dropped or kept, or one of them."""
        if arm is not None:
            self.require_arm(arm)
        return [one for one in self.recommend().arms if arm in (None, one.name)]

    def what_if(self, constraint: int | str, threshold: float) -> Verdict:
        """Return what the verdict would be with another threshold for one constraint.

        The constraint is named by its text or by its place, counted from 0. Exploratory: a
        threshold is to be fixed before the data, so this one's confidence flatters.

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
        >>> study.recommend().feasible, study.what_if("mean(seconds) <= 1", 0.4).feasible
        (True, False)
        """
        texts = [str(one) for one in self.desk.plan.problem.constraints]
        known = [*texts, *self.definition.constraints]
        if isinstance(constraint, str):
            if constraint not in known:
                raise one_of("constraint", constraint, texts)
            constraint = known.index(constraint) % len(texts)
        view = self.desk.look()
        try:
            return what_if(self.desk.plan, view, constraint, threshold)
        except NoAnswerError:
            raise NoAnswerError(no_answer(self.desk.plan, view)) from None

    def figure(self, kind: str = "map", *, theme: str = "light") -> Any:
        """Return a chart of the study, shown as it is in notebooks; `rf.save_chart` writes it.

        Kinds are `map`, `timeline`, `allocation`, `evidence` and `differences`, and `items` or
        `hours` where arms share them; themes are `light`, `dark` and `print`.

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
        >>> rf.save_chart(study.figure("map"), "map.svg").name
        'map.svg'
        """
        from ringfence.reports.charts import require_study_chart, study_chart

        require_study_chart(kind, theme)
        if kind in SHARED_KINDS:
            require_shared(self.desk.plan, kind)
            return shared_chart_of(self.desk, self.recommend(), kind, theme=theme)
        verdict, rounds = self.recommend(), self.rounds(most=ROUNDS_DRAWN)
        return study_chart(kind, self.desk.plan, verdict, rounds, theme=theme)

    def record(self, *, verdict: Verdict | None = None) -> str:
        """Return the decision record: one HTML page to keep, which loads nothing.

        A `verdict` that is at hand need not be computed again.
        """
        from ringfence.reports.record import record_html

        rounds = {one.number: one for one in (*self.rounds(most=ROUNDS_DRAWN), *self.desk.turns())}
        verdict = verdict or self.recommend()
        shared = None
        if kind_shared(self.desk.plan):
            outcomes = outcomes_in(self.desk)
            shared = outcomes, contents_drawn(self.desk, verdict, outcomes)
        return record_html(
            self.desk.plan.under(self.desk.head.stops),
            verdict,
            [rounds[number] for number in sorted(rounds)],
            self.observations(),
            created_at=self.created_at,
            shared=shared,
        )

    def frame(self, what: str = "pulls", *, backend: str | None = None) -> Any:
        """Return a data frame of all told `pulls`, or of the `arms` in the verdict.

        `backend` is pandas, polars or pyarrow, by default the first that is installed.
        """
        from ringfence.interfaces.bridges.frames import to_frame

        if what not in ("pulls", "arms"):
            raise one_of("what", what, ("pulls", "arms"))
        return to_frame(self if what == "pulls" else self.recommend(), backend=backend)

    def __repr__(self) -> str:
        """Return the name, how far the study has come, and its policy: one row is read."""
        try:
            head = self.desk.head
        except RingfenceError as error:
            stands = f"not to be read: {type(error).__name__}"
        else:
            over = head.issued - head.unresolved
            stands = f"{min(over, head.budget):,} of {head.budget:,} pulls"
            if self.desk.plan.pricing is not None:
                stands = f"{over:,} pulls, of a budget of {self.desk.plan.in_words(head.budget)}"
            stands += ", finished" * head.finished + ", stopped" * head.is_stopped
        return f"<Study {self.name!r}: {self.definition.policy}, {stands}>"

    def _repr_html_(self) -> str:
        """Return what notebooks show: where the study stands, and the verdict so far."""
        view = self.desk.look()
        verdict: Verdict | None = None
        if in_the_running(view).any():
            verdict = verdict_on(self.desk, view)
        found: Verdict | str = verdict or "Nothing to judge yet."
        if verdict is None and view.head.finished:
            found = no_answer(self.desk.plan, view)
        return study_html(self.definition, vars(self.status(view, verdict)), found)

    def status(self, view: View | None = None, verdict: Verdict | None = None) -> Status:
        """Return where the study stands, now or when it was viewed.

        Counts need no estimate: where a function of one's own fails, no arm is named. The answer
        is that of the `verdict` on this view, if it is at hand.
        """
        view, names = view or self.desk.look(samples=False), self.definition.arm_names
        running = in_the_running(view)
        best, flag = None, None
        if verdict is not None:
            best, flag = verdict.arm, verdict.feasible
        elif running.any():
            with suppress(EstimateError):
                found = answer_of(self.desk.plan, running, view.snapshot)
                best, flag = names[found.named] if found.named >= 0 else None, found.feasible
        account = account_on(self.desk.plan, view)
        return Status(
            study=self.name,
            told=view.told,
            issued=view.head.unresolved,
            failed=view.failed,
            lost=view.lost,
            budget=account.budget,
            unit=account.unit,
            spent=account.spent,
            reserved=account.reserved,
            left=account.left,
            phase=view.head.round,
            alive=tuple(name for name, one in zip(names, view.alive, strict=True) if one),
            arm=best,
            feasible=flag,
            finished=view.head.finished,
            seed=self.definition.seed,
            stopped_at=view.head.stopped_at,
            archived_at=view.head.archived_at,
            stop=dict(self.desk.plan.under(view.head.stops).stop) or None,
            blocks=self._blocks(view),
            accounts=account.arms,
        )

    def _blocks(self, view: View) -> dict[str, Any] | None:
        """Return what pulls share, and which arms in the running have no more items."""
        plan = self.desk.plan
        plain, names = plan.sharing.plain(), self.definition.arm_names
        if plain is None or not plan.sharing.has_items:
            return plain
        room = plan.room(view.last)
        out = [names[arm] for arm, one in enumerate(view.alive) if one and not room[arm]]
        return {**plain, "exhausted": out}

    def observations(self) -> dict[str, list[Any]]:
        """Return every told pull by column: pull, arm, seed, the metrics, then further numbers.

        None stands where a pull told none of these. Void pulls are left out.
        """
        with self.desk.storage.reading(self.name) as ledger:
            found = ledger.harvest(1, ledger.head.issued)
            pardons = ledger.pardons() if ledger.head.pardons else ()
            extras = ledger.extras()
        void = [number - 1 for one in pardons for number in one.void]
        told = found.without(np.array(void, dtype=np.int64)).is_told
        names, sharing = self.definition.arm_names, self.desk.plan.sharing
        arms, numbers = found.arms[told], (np.flatnonzero(told) + 1).tolist()
        columns: dict[str, list[Any]] = {
            "pull": numbers,
            "arm": [names[arm] for arm in arms.tolist()],
            "seed": sharing.seeds_of(arms, found.ordinals[told]),
        }
        columns |= zip(self.desk.plan.metrics, found.values[told].T.tolist(), strict=True)
        further = dict.fromkeys(name for number in numbers for name in extras.get(number, ()))
        if sharing.column is not None:
            hours, ordinals = found.hours[told], found.ordinals[told]
            is_of = hours if sharing.has_hours else sharing.items_of(ordinals)
            columns[sharing.column] = is_of.tolist()
        columns |= {
            name: [extras.get(number, {}).get(name) for number in numbers] for name in further
        }
        return columns

    def doctor(self, *, progress: Progress | None = None) -> Audit:
        """Audit the study from its stored facts.

        `progress` is told of so many more pulls: of each when it was read, and once more when what
        it led to was decided again.
        """
        with self.desk.storage.reading(self.name) as ledger:
            found = audit(self.desk.plan, ledger, advance=progress or (lambda _: None))
        if found.is_sound and is_another(self.desk):
            found = replace(found, problems=("the verdict that was kept is not what follows",))
        return found

    def view(self) -> View:
        """Return where the study stands and all that it has seen, for reports."""
        return self.desk.look()

    def rounds(self, *, most: int | None = None) -> list[Round]:
        """Return all rounds, or at most so many: the first, the last, and some evenly between."""
        return self.desk.rounds(most=None if most is None else at_least("most", most, 2))

    def version(self) -> str:
        """Return a word that changes with all that the verdict rests on, and is read at once."""
        return self.desk.pulse()

    def require_arm(self, name: str) -> int:
        """Return an arm's place; a name that is not there is refused."""
        names = self.definition.arm_names
        if name not in names:
            raise InputError(
                f"arm {name!r} is not in study {self.name!r}. It has {', '.join(names)}."
                f"{nearest(name, names)}"
            )
        return names.index(name)
