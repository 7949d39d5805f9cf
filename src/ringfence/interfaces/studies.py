"""The public `Study`: ask, tell, run, and hear the verdict. Composes study, storage and execution.

May touch every room.
"""

import secrets
import time
import warnings
from collections.abc import Callable, Iterator, Mapping, Sequence
from concurrent.futures import Executor
from contextlib import closing, nullcontext
from dataclasses import replace
from pathlib import Path
from typing import Any

from ringfence.core.attributes import Functions
from ringfence.core.best_feasible import BEST_FEASIBLE
from ringfence.core.errors import IgnoredWarning, InputError, NameTakenError, nearest
from ringfence.core.streams import whole_seed
from ringfence.core.units import require_known_metrics, units_of
from ringfence.execution.backoff import BACKOFF_SECONDS, OUTAGE_MINUTES, Backoff, Outaged
from ringfence.execution.cache import Cache
from ringfence.execution.evaluating import Command, Evaluate, evaluation_of
from ringfence.execution.functions import AsyncFunction, Function
from ringfence.execution.holders import is_gone
from ringfence.execution.pace import Pace
from ringfence.execution.resolving import Noted
from ringfence.execution.working import Away, Crew, Stops, Told, Waits
from ringfence.interfaces.answers import cache_at
from ringfence.interfaces.asynchronous import POLL_SECONDS, AsyncCalls
from ringfence.interfaces.blocks import NO_BLOCKS, Blocks, blocks_of
from ringfence.interfaces.checking import (
    arms_of,
    at_least,
    columns_of,
    further_rows,
    lag_or_none,
    place_of,
    positive,
    printable,
    rows_of,
    study_name,
    text_of,
    texts_of,
)
from ringfence.interfaces.leases import Held, Pull, lease_of
from ringfence.interfaces.money import budget_in, funds_of, told_cost
from ringfence.interfaces.own_policies import named
from ringfence.interfaces.quickening import quicken
from ringfence.interfaces.stopping import stop_of
from ringfence.interfaces.storages import open_storage
from ringfence.interfaces.study_views import StudyViews
from ringfence.policies.policy import Policy
from ringfence.study.desk import Desk, Report
from ringfence.study.facts import FAILED_METRIC, Definition, Head, PullFact
from ringfence.study.failing import require_stand_in
from ringfence.study.observing import (
    finite,
    observation_of,
    observations_of,
    row_of,
    rows_inside,
)
from ringfence.study.plan import Plan
from ringfence.study.ports import Clock, Storage
from ringfence.study.sharing import Sharing
from ringfence.study.stopping import require_stop
from ringfence.study.verdict import Verdict, in_the_running


class Study(StudyViews, AsyncCalls):
    """A study in a storage: any number of processes may hold the same one.

    >>> import ringfence as rf
    >>> def evaluate(arm, seed):
    ...     score, delay = {"plain": (0.5, 90), "warm": (0.7, 120), "effusive": (0.9, 260)}[arm]
    ...     return {"score": score + 0.1 * (seed % 7 - 3), "latency_ms": delay + seed % 50}
    >>> study = rf.Study.create(
    ...     "greetings",
    ...     arms=["plain", "warm", "effusive"],
    ...     objective="maximize mean(score)",
    ...     constraints="mean(latency_ms) <= 200",
    ...     budget=120,
    ...     storage="memory://",
    ...     seed=7,
    ... )
    >>> verdict = study.optimize(evaluate)
    >>> verdict.arm, verdict.verdict
    ('warm', 'feasible')
    >>> study.status().told, study.doctor().problems
    (120, ())
    """

    def __init__(self, desk: Desk) -> None:
        """Compose a study from its counter; use `Study.create` or `Study.load`."""
        self.desk = desk

    @classmethod
    def create(
        cls,
        name: str,
        *,
        arms: Sequence[str] | Mapping[str, Mapping[str, Any]],
        objective: str,
        budget: int | str,
        constraints: str | Sequence[str] = (),
        price: Any = None,
        price_guess: Any = None,
        price_cap: Any = None,
        policy: str | Policy = "top-two",
        storage: str | Storage | None = None,
        seed: int | None = None,
        batch: int | None = None,
        lag: int | None = None,
        metrics: Sequence[str] | None = None,
        functions: Functions | None = None,
        lease_seconds: float = 600.0,
        retries: int = 0,
        max_failures: int = 3,
        max_leases: int = 10,
        answer: str = BEST_FEASIBLE.name,
        baseline: str | None = None,
        noise: Mapping[str, Any] | None = None,
        on_failure: Mapping[str, float] | None = None,
        on_timeout: Mapping[str, float] | None = None,
        blocks: Mapping[str, Any] | Blocks | None = None,
        stop: Mapping[str, Any] | None = None,
        units: Mapping[str, str] | None = None,
        load_if_exists: bool = False,
        clock: Clock | None = None,
    ) -> "Study":
        """Create a study; it is on disk when this returns.

        The question:

        - `name`: the study's name in its storage.
        - `arms`: names, or a table of names with keys of each.
        - `objective`: such as "maximize mean(score)".
        - `constraints`: limits, such as "p95(latency_ms) <= 200". Without any the best arm is asked
          for.
        - `units`: in which metrics are measured: with {"latency": "ms"} a limit may say
          "latency <= 2s".
        - `answer`: which arms are asked for: the "best feasible" one, or "all feasible".
        - `baseline`: the arm that limits such as "mean(x) <= 1.1 * baseline(mean(x))" are relative
          to. It is never rejected.
        - `functions`: attributes of your own, by name.
        - `metrics`: what is recorded beside the metrics of the expressions.
        - `noise`: what is known of metrics, by name: {"sigma": 12.0}, {"bounds": [0, 1]}, or
          "covariance" of all whose means are judged. Under "arms" stand sigmas of single arms, by
          arm and metric. What is not stated is estimated.
        - `blocks`: what pulls of different arms share: {"items": 500} or a list of items, with
          "scope", "repeats", "group" and "evaluation"; {"seeds": True}; or {"every": "1h"}.

        What it may spend:

        - `budget`: a number of pulls, or an amount with a unit, "50 USD".
        - `price`: what a pull takes of an amount: {"small": 0.03, "large": 1.1}, or the name of a
          metric that tells it with each pull.
        - `price_guess`, `price_cap`: what a price that is told is likely to be, and what no pull
          exceeds; a number, or by arm.
        - `stop`: with {"confidence": 0.95} the study ends as soon as its answer is proven at 95%,
          and the budget is the most that it may take. "within", in the objective's unit, says what
          is as good. "rests_on": "exact" refuses metrics of which nothing can be proven exactly.

        How pulls are decided:

        - `policy`: a name, or a policy of your own, which is kept as "module:name".
        - `seed`: of all chance. Without one, one is drawn and kept.
        - `lag`: an adaptive policy decides pull t from the pulls up to t - `lag`, so that so many
          may be evaluated side by side. Without `lag` and `batch`, `optimize` sets six times its
          workers when it begins the study.
        - `batch`: how many pulls are decided at once.

        What happens to pulls:

        - `lease_seconds`: a pull is issued again when its lease has run out, until `max_leases` of
          them have.
        - `retries`: how often a pull that failed is issued again.
        - `max_failures`: so many failed pulls in a row withdraw an arm.
        - `on_failure`, `on_timeout`: the observation that is told in place of a failure, or of a
          call that took too long. Limits on `failed` count failures: "mean(failed) <= 0.02".

        Where it is kept:

        - `storage`: a URL, by default sqlite:///NAME.db in the current folder, or an open storage.
        - `load_if_exists`: load a study of that name if it is the same one.
        - `clock`: what leases go by, in place of the storage's own.

        >>> import ringfence as rf
        >>> study = rf.Study.create(
        ...     "prompts",
        ...     arms={"v1": {"temperature": 0.2}, "v2": {"temperature": 0.9}},
        ...     objective="maximize mean(score)",
        ...     constraints=["p95(latency_ms) <= 200", "mean(toxic) <= baseline + 0.01"],
        ...     baseline="v1",
        ...     noise={"toxic": {"bounds": [0, 1]}},
        ...     budget=400,
        ...     storage="sqlite:///prompts.db",
        ... )
        >>> rf.Study.load("prompts", storage="sqlite:///prompts.db").status().budget
        400
        """
        policy_name, rule = named(policy)
        named_arms = arms_of(arms)
        funds = funds_of(tuple(named_arms), budget, price, price_guess, price_cap)
        recorded = texts_of("metrics", () if metrics is None else metrics)
        shared = NO_BLOCKS if blocks is None else blocks_of(blocks, Path())
        definition = Definition(
            name=study_name(name),
            objective=text_of("objective", objective),
            constraints=texts_of(
                "constraints", [constraints] if isinstance(constraints, str) else constraints
            ),
            arms=named_arms,
            budget=funds.budget,
            prices=funds.prices,
            pricing=funds.pricing,
            policy=policy_name,
            seed=secrets.randbelow(2**32) if seed is None else whole_seed(seed),
            batch=1 if batch is None else at_least("batch", batch, 1),
            lag=lag_or_none(lag, batch, policy_name, has_phases=rule.has_phases),
            metrics=tuple(dict.fromkeys((*recorded, *funds.metric))),
            functions={key: place_of(function) for key, function in (functions or {}).items()},
            lease_seconds=positive("lease_seconds", lease_seconds),
            retries=at_least("retries", retries, 0),
            max_failures=at_least("max_failures", max_failures, 1),
            max_leases=at_least("max_leases", max_leases, 1),
            answer=text_of("answer", answer),
            baseline=baseline,
            noise={} if noise is None else noise,
            on_failure={} if on_failure is None else on_failure,
            on_timeout={} if on_timeout is None else on_timeout,
            blocks=shared.plain,
            stop=stop_of(stop),
            units={} if units is None else units_of("units", units),
        )
        plan = _plan(definition, functions, rule)
        plan.opening(definition.budget)  # refuses a budget without room
        opened = open_storage(storage if storage is not None else f"sqlite:///{name}.db")
        try:
            opened.create(plan.definition, Head(budget=definition.budget), shared.items)
        except NameTakenError:
            if not load_if_exists:
                raise
            study = cls.load(name, storage=opened, functions=functions, policy=rule, clock=clock)
            study.require_same(plan.definition, seed_matters=seed is not None)
            study.raise_budget(budget)
            return study
        return cls(Desk(plan, opened, clock, is_gone))

    @classmethod
    def load(
        cls,
        name: str,
        *,
        storage: str | Storage | None = None,
        functions: Functions | None = None,
        policy: Policy | None = None,
        clock: Clock | None = None,
    ) -> "Study":
        """Load a study that exists; functions of your own must be given again.

        So must a policy of your own, unless its module was imported.
        """
        place = storage if storage is not None else f"sqlite:///{study_name(name)}.db"
        opened = open_storage(place, exists=True)
        with opened.reading(name) as ledger:
            definition = ledger.definition
        if missing := [one for one in definition.functions if one not in (functions or {})]:
            raise InputError(
                f"study {name!r} has functions of your own: functions = {missing} must be given "
                "again. Use Study.load(..., functions={...}), or name the study's file."
            )
        rule = named(definition.policy)[1] if policy is None else policy
        if policy is not None and (given := named(policy)[0]) != definition.policy:
            raise InputError(
                f"study {name!r} exists with another policy: it has {definition.policy!r}, now "
                f"given {given!r}. Change it back, or begin a study of another name."
            )
        return cls(Desk(Plan.of(definition, functions, rule, quicken), opened, clock, is_gone))

    def ask(self, n: int = 1) -> list[Pull]:
        """Lease up to n pulls.

        Fewer come when the rest of the round is leased to others; none also when the study is
        over: finished (`status().finished`), or stopped.
        """
        return [self._pull(fact) for fact in self.desk.ask(n)]

    def tell(
        self, pull: Pull | int, metrics: Mapping[str, float], *, lease: int | None = None,
        cost: float | None = None,
    ) -> str:  # fmt: skip
        """Record a pull's metrics; when this returns they are on disk.

        Returns `told`, or `already-told` when the same values were told before. Further finite
        numbers are recorded beside the metrics; what else there is comes with a warning.
        """
        became, notes = self.tell_noting(pull, metrics, lease=lease, cost=cost)
        for note in notes:
            warnings.warn(note, IgnoredWarning, stacklevel=2)
        return became

    def tell_noting(
        self, pull: Pull | int, metrics: Mapping[str, Any], *, lease: int | None = None,
        cost: float | None = None,
    ) -> tuple[str, tuple[str, ...]]:  # fmt: skip
        """Record a pull's metrics as `tell` does; return notes on what was ignored as well."""
        number, held = lease_of(pull, lease)
        price = None if cost is None else finite("cost", cost)
        found = observation_of(self.desk.plan, told_cost(self.desk.plan, metrics, cost))
        report = Report(number, held, found.values, price, found.extras)
        return self.desk.tell([report])[0], found.notes

    def tell_many(self, pulls: Sequence[Held], metrics: Any) -> list[str]:
        """Record many pulls at once, all or none.

        `metrics` is a sequence of mappings, a mapping of metrics to arrays, or a data frame
        (pandas, polars, Arrow), with a row a pull in the order of `pulls`.

        >>> import ringfence as rf
        >>> study = rf.Study.create(
        ...     "many",
        ...     arms=["a", "b"],
        ...     objective="minimize mean(cost)",
        ...     constraints="mean(risk) <= 0.5",
        ...     budget=10,
        ...     policy="uniform",
        ...     storage="memory://",
        ... )
        >>> pulls = study.ask(4)
        >>> study.tell_many(pulls, {"cost": [1.0, 1.2, 0.9, 1.1], "risk": [0, 0, 1, 0]})
        ['told', 'told', 'told', 'told']
        """
        became, notes = self.tell_many_noting(pulls, metrics)
        for note in notes:
            warnings.warn(note, IgnoredWarning, stacklevel=2)
        return became

    def tell_many_noting(
        self, pulls: Sequence[Held], metrics: Any
    ) -> tuple[list[str], tuple[str, ...]]:
        """Record many pulls as `tell_many` does; return notes on what was ignored as well."""
        plan = self.desk.plan
        if isinstance(metrics, Sequence) and not isinstance(metrics, str):
            rows = [row_of(plan, place, row) for place, row in enumerate(metrics)]
        else:
            columns = columns_of(metrics, plan.told_metrics)
            rows = observations_of(
                plan,
                rows_of(columns, plan.metrics, plan.untold),
                further_rows(columns, plan.metrics),
            )
        if len(rows) != len(pulls):
            raise InputError(
                f"metrics has {len(rows)} rows for {len(pulls)} pulls. Give one a pull."
            )
        became = self.desk.tell(
            [
                Report(pull.pull, pull.lease, row.values, None, row.extras)
                for pull, row in zip(pulls, rows, strict=True)
            ]
        )
        return became, tuple(dict.fromkeys(note for row in rows for note in row.notes))

    def fail(
        self, pull: Pull | int, error: str = "", *, lease: int | None = None, charge: bool = True,
        retry: bool = True, timed_out: bool = False, cost: float | None = None,
    ) -> str:  # fmt: skip
        """Record that an evaluation failed: `retry` if it will be issued again, else `failed`.

        One that `timed_out` is told as `on_timeout` says, where the study says so. The `cost` of
        what failed is taken from a budget whose prices are told; without it the pull takes the
        price of its arm. The same failure of the same lease said again is `already-failed`, and
        changes nothing.
        """
        number, held = lease_of(pull, lease)
        took = None if cost is None else finite("cost", cost)
        return self.desk.fail(
            number, held, error, charge=charge, retry=retry, timed_out=timed_out, cost=took
        )

    def lost(self, pull: Pull | int, error: str = "", *, lease: int | None = None) -> str:
        """Record that a pull will never report, through no fault of its arm: it is not charged.

        Neither does it count as one of the failures that an arm is withdrawn for. Returns `lost`,
        or `already-lost` when the same was said before.

        >>> import ringfence as rf
        >>> study = rf.Study.create(
        ...     "spot",
        ...     arms=["a", "b"],
        ...     objective="minimize mean(cost)",
        ...     constraints="mean(risk) <= 0.5",
        ...     budget=10,
        ...     storage="memory://",
        ... )
        >>> pull = study.ask()[0]
        >>> study.lost(pull, "the machine was taken away")
        'lost'
        >>> study.status().failed
        0
        """
        number, held = lease_of(pull, lease)
        return self.desk.lose(number, held, error)

    def revive(self, arm: str) -> str:
        """Bring an arm back that was withdrawn; it is pulled again from the next decision on.

        Returns `revived`, or `already-in-the-running`. What failed before no longer counts towards
        too many failures in a row. An arm that a rule rejected does not come back.

        >>> import ringfence as rf
        >>> study = rf.Study.create(
        ...     "again",
        ...     arms=["a", "b"],
        ...     objective="minimize mean(cost)",
        ...     constraints="mean(risk) <= 0.5",
        ...     budget=40,
        ...     max_failures=1,
        ...     storage="memory://",
        ... )
        >>> for pull in study.ask(40):
        ...     _ = study.fail(pull, "503")
        >>> study.ask(), study.status().finished
        ([], True)
        >>> study.revive("a"), [pull.arm for pull in study.ask(2)]
        ('revived', ['a', 'a'])
        """
        return self.desk.revive(self.require_arm(arm))

    def forgive(self, pulls: Sequence[int]) -> int:
        """Give back pulls, by number, that failed because of an outage; return how many were.

        They are not charged, and not held against their arms: those that were withdrawn because of
        them come back with the next decision. The same call again changes nothing.
        """
        return self.desk.forgive(pulls)

    def extend(self, pull: Held) -> float:
        """Keep a lease for an evaluation that takes longer; return its new deadline."""
        return self.desk.extend(pull.pull, pull.lease)

    def take_back(self) -> int:
        """End all leases, of whoever holds them; return how many there were.

        For when workers are known to be gone: their pulls are issued again at once, and not when
        their leases have run out. One that is not gone after all gets a `LeaseError`.
        """
        return self.desk.take_back()

    def pulls(self, n: int = 1) -> Iterator[Pull]:
        """Yield leased pulls until the study is over; tell each before taking the next.

        It waits where the rest of a round is leased to others.

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
        >>> study.recommend().arm
        'new'
        """
        while True:
            asked = self.ask(n)
            yield from asked
            if not asked:
                if self.desk.is_over:
                    return
                time.sleep(POLL_SECONDS)

    def optimize(
        self,
        evaluate: Callable[..., Any] | Evaluate,
        *,
        workers: int | None = None,
        concurrency: int | None = None,
        requests_per_minute: float | None = None,
        cache: str | Path | Cache | None = None,
        executor: Executor | None = None,
        most: int | None = None,
        told: Told | None = None,
        away: Away | None = None,
        waits: Waits | None = None,
        stops: Stops | None = None,
        outage: Outaged | None = None,
        notes: Noted | None = None,
        outage_minutes: float = OUTAGE_MINUTES,
        backoff_seconds: float = BACKOFF_SECONDS,
    ) -> Verdict | None:
        """Evaluate pulls with a function (arm, seed) -> metrics until the study is finished.

        A function, with `async` or without, is given by name what its parameters are called: any
        of `arm`, `item`, `seed`, the arm's own `keys`, and `ordinal`. `workers`, or `concurrency`,
        is how many evaluations are in flight (1); `requests_per_minute` how many may begin in a
        minute, in this process. `cache` is a file of answers that other studies got and may use.
        `executor` is any `concurrent.futures.Executor`;
        without one, threads. `most` stops after so many pulls. A database server that is away is
        waited for five minutes; `away` hears of it. Pulls that others hold are waited for; `waits`
        hears how many, and when the first of their leases runs out. An interrupt ends commands and
        gives their pulls back; functions are waited for and told: `stops` hears how many. A second
        one waits for nothing. What cannot be called, or is no program, is refused before any pull.
        An observation that lacks a metric ends the work. Where evaluations fail in a row, over
        several arms, they are given back uncharged and tried one at a time, with up to
        `backoff_seconds` between; `outage` hears of it, else a warning is logged. After
        `outage_minutes` an `OutageError` is raised: the same call goes on later. Returns the
        verdict, or None while there is nothing to judge; a study that ends without an arm to judge
        is an error. Of what an evaluation tells beside the metrics, and that is no finite number,
        `notes` hears once; else there is a warning.
        """
        if workers is not None and concurrency is not None:
            raise InputError(
                f"workers = {workers!r} and concurrency = {concurrency!r} say the same. Leave one "
                "out."
            )
        key, count = ("workers", workers) if concurrency is None else ("concurrency", concurrency)
        count = 1 if count is None else count
        at_least(key, count, 1)
        pace = Pace(requests_per_minute)
        evaluation = evaluation_of(evaluate)
        if isinstance(evaluation, AsyncFunction) and executor is not None:
            raise InputError(
                f"executor = {executor!r} cannot await {evaluate!r}. Leave it out: a coroutine "
                "function runs on an event loop of its own."
            )
        if isinstance(evaluation, Function | AsyncFunction):
            evaluation.require_items(has_items=self.desk.plan.sharing.has_items)
        if isinstance(evaluation, Command) and executor is None:  # elsewhere are other programs
            evaluation.require_runnable(
                self.definition.arms, has_items=self.desk.plan.sharing.has_items
            )
        backoff = Backoff(outage_minutes, backoff_seconds)
        answers = None if cache is None else cache_at(cache, self.desk.plan, evaluation)
        crew = Crew(
            self.desk,
            evaluation,
            count,
            executor,
            told,
            away,
            waits,
            stops,
            outage,
            notes,
            backoff,
            pace=pace,
            cache=answers,
        )
        with closing(answers) if answers is not None else nullcontext():
            crew.run(most=most)
        view = self.desk.look()
        if not view.head.finished and not in_the_running(view).any():
            return None
        return self.verdict_on(view)

    def stop(self) -> str:
        """Have the study issue nothing more and decide no further round, until it is resumed.

        What is in flight may still be told. Workers end, here and elsewhere, as they do when a
        study is finished. Returns `stopped`, `already-stopped` or `already-finished`.

        >>> import ringfence as rf
        >>> study = rf.Study.create(
        ...     "enough",
        ...     arms=["a", "b"],
        ...     objective="minimize mean(cost)",
        ...     constraints="mean(risk) <= 0.5",
        ...     budget=40,
        ...     storage="memory://",
        ... )
        >>> study.stop(), study.ask(), study.status().stopped_at is not None
        ('stopped', [], True)
        >>> study.archive(), study.resume(), len(study.ask(2))
        ('archived', 'resumed', 2)
        """
        return self.desk.stop()

    def stop_when(self, confidence: float, *, within: float | None = None, note: str = "") -> str:
        """Have the study end when its answer is proven, as with a `stop` from the start.

        It may be said at any time: proofs hold whenever one looks. Without `within` that stays as
        it is. A looser proof than before needs a `note` once pulls were made, and its certificates
        are exploratory. Pulls that are decided already are made first. Returns `set` or
        `unchanged`.

        >>> import ringfence as rf
        >>> study = rf.Study.create(
        ...     "sooner",
        ...     arms=["a", "b"],
        ...     objective="maximize mean(solved)",
        ...     constraints="mean(unsafe) <= 0.5",
        ...     budget=400,
        ...     storage="memory://",
        ...     seed=1,
        ... )
        >>> for pull in study.ask(4):
        ...     _ = study.tell(pull, {"solved": pull.arm == "b", "unsafe": pull.seed % 10 == 0})
        >>> study.stop_when(0.95), study.stop_when(0.95)
        ('set', 'unchanged')
        >>> for pull in study.pulls():
        ...     _ = study.tell(pull, {"solved": pull.arm == "b", "unsafe": pull.seed % 10 == 0})
        >>> study.certificate().status, study.status().told < 400
        ('certified', True)
        """
        return self.desk.stop_when(confidence, within, note)

    def resume(self) -> str:
        """Have a stopped study go on.

        Returns `resumed`, `already-running` or `already-finished`.
        """
        return self.desk.resume()

    def archive(self) -> str:
        """Put a study away that is finished or stopped: it is no longer listed, and all is kept.

        It is listed again when it goes on. Returns `archived` or `already-archived`.
        """
        return self.desk.archive()

    def unarchive(self) -> str:
        """List a study again that was put away. Returns `unarchived` or `already-listed`."""
        return self.desk.unarchive()

    def raise_budget(self, budget: float | str) -> None:
        """Raise the budget; it can never fall, and the one that the study has changes nothing.

        In a study whose budget has a unit it is an amount of that: "60 USD", or 60.
        """
        self.desk.raise_budget(budget_in(self.desk.plan, budget))

    def bring(self, observations: Any, *, arm: str, label: str) -> int:
        """Bring past observations along: a data frame or mapping with a column of arm names.

        They are labelled, uncharged, and seen by decisions from the next round on. Return how
        many are new: the same ones under the same label are brought once.

        >>> import ringfence as rf
        >>> study = rf.Study.create(
        ...     "again",
        ...     arms=["a", "b"],
        ...     objective="minimize mean(cost)",
        ...     constraints="mean(risk) <= 0.5",
        ...     budget=40,
        ...     storage="memory://",
        ... )
        >>> past = {"arm": ["a", "a", "b"], "cost": [1.0, 1.1, 0.7], "risk": [0.1, 0.2, 0.9]}
        >>> study.bring(past, arm="arm", label="last spring")
        3
        >>> study.bring(past, arm="arm", label="last spring")
        0
        """
        from ringfence.simulation.tables import columns_of_frame

        metrics, untold = self.desk.plan.metrics, self.desk.plan.untold
        wanted = [arm, *self.desk.plan.told_metrics]
        table = observations if isinstance(observations, Mapping) else None
        columns = table if table is not None else columns_of_frame(observations, wanted, whole=True)
        for column in wanted:
            if column not in columns:
                raise InputError(
                    f"observations have no column {column!r}. Add it.{nearest(column, columns)}"
                )
        rows = rows_of(columns, metrics, untold)
        if len(columns[arm]) != len(rows):
            raise InputError(
                f"column {arm!r} has {len(columns[arm])} names for {len(rows)} rows. Name each."
            )
        past = [
            (self.require_arm(str(name)), values)
            for name, values in zip(columns[arm], rows_inside(self.desk.plan, rows), strict=True)
        ]
        return self.desk.bring(past, printable("label", label))

    def require_same(self, other: Definition, *, seed_matters: bool) -> None:
        """Refuse to go on with a definition that differs from the stored one; show how."""
        mine, theirs = self.definition.to_dict(), other.to_dict()
        _require_same_items(self.definition, other)
        mine["lag"], theirs["lag"] = self.lag, other.lag
        mine["price"], theirs["price"] = self.definition.written_prices, other.written_prices
        keys = [
            "objective",
            "constraints",
            "answer",
            "arms",
            "policy",
            "batch",
            "metrics",
            "baseline",
        ]
        keys += ["noise", "lease_seconds", "retries", "max_failures", "max_leases"]
        keys += ["on_failure", "on_timeout", "blocks", "stop", "units", "price"]
        keys += ["seed"] * seed_matters
        keys += ["lag"] * (other.lag not in (None, self.lag or 1))
        for key in keys:
            if mine.get(key) != theirs.get(key):
                raise InputError(
                    f"study {self.name!r} exists with another {key}: it has {mine.get(key)!r}, now "
                    f"given {theirs.get(key)!r}. Change it back, or begin a study of another name."
                )

    def _pull(self, fact: PullFact) -> Pull:
        definition = self.definition
        name = definition.arm_names[fact.arm]
        return Pull(
            pull=fact.number,
            lease=fact.lease,
            arm=name,
            seed=self.desk.plan.sharing.seed_of(fact.arm, fact.ordinal),
            deadline=fact.deadline,
            keys=definition.arms[name],
            ordinal=fact.ordinal,
            item=self.desk.items.of(fact),
        )


def _require_same_items(mine: Definition, theirs: Definition) -> None:
    """Refuse other items than a study was begun with."""
    was, now = (Sharing.of(one).blocks for one in (mine, theirs))
    if "hash" in was and "hash" in now and was["hash"] != now["hash"]:
        raise InputError(
            f"study {mine.name!r} exists with other items: it keeps the {was['items']} that it was "
            f"begun with (SHA-256 {was['hash'][:12]}...), and blocks.items now has {now['items']} "
            f"(SHA-256 {now['hash'][:12]}...). Put them back as they were, or begin a study of "
            "another name: nothing of this one was changed."
        )


def _plan(definition: Definition, functions: Functions | None, policy: Policy) -> Plan:
    """Return the plan of a definition whose metrics and noise are written out."""
    plan = Plan.of(definition, functions, policy)
    plan.problem.with_possible_limits().place_of_baseline(definition.baseline, definition.arm_names)
    used = plan.problem.metrics
    further = [metric for metric in definition.metrics if metric not in used]
    written_out = replace(
        definition,
        metrics=tuple(printable("metric", metric) for metric in (*used, *further)),
        noise=plan.noise.plain(),
        counts_failures=FAILED_METRIC in used and FAILED_METRIC not in definition.metrics,
    )
    require_known_metrics(written_out.units, written_out.metrics)
    plan = Plan.of(written_out, functions, policy)
    require_stop(plan)
    if (column := plan.sharing.column) in plan.metrics:
        raise InputError(
            f"metric {column!r} has the name of a column of every export of a study with blocks. "
            "Call it otherwise."
        )
    whole = replace(
        written_out,
        on_failure=require_stand_in(plan, "on_failure", definition.on_failure),
        on_timeout=require_stand_in(plan, "on_timeout", definition.on_timeout),
    )
    return Plan.of(whole, functions, policy, quicken)
