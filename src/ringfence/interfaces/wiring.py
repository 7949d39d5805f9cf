"""Composes the rooms into the public functions; it and two neighbours know them all.

The neighbours are `tournaments.py`, for families, and `reproducing.py`, for the paper. May touch
every room.
"""

import time
from collections.abc import Mapping, Sequence
from concurrent.futures import Executor
from functools import partial
from typing import Any, Literal, overload

from ringfence.core.attributes import Functions
from ringfence.core.errors import InputError, one_of
from ringfence.core.money import PULLS
from ringfence.core.streams import whole_seed
from ringfence.execution.chunks import Progress, run_chunks
from ringfence.interfaces.accepting import (
    ONE_BUDGET,
    ONE_INSTANCE,
    AnyBudget,
    AnyInstance,
    AnyPolicy,
    instance_of,
    policies_of,
    policy_of,
    positive,
    threads_of,
)
from ringfence.interfaces.checking import listed
from ringfence.interfaces.comparing import side_by_side
from ringfence.interfaces.planning import Advance, Plan, plan_instance
from ringfence.interfaces.planning_proofs import target_of, with_proof
from ringfence.interfaces.rare import (
    Hands,
    best_method,
    by_importance,
    by_splitting,
    no_replications,
    require_counting,
)
from ringfence.interfaces.replaying import Rerun, budgets_by_price, replay_log
from ringfence.interfaces.stopping import AnyStop, stop_in
from ringfence.interfaces.studies import Study
from ringfence.interfaces.study_plans import plan_from_study
from ringfence.policies.policy import Policy
from ringfence.policies.registry import QUICK_POLICIES, quick_policies_for
from ringfence.reports.replay import Replay
from ringfence.simulation.counts import chunk_sizes, total
from ringfence.simulation.engines import CPU, find_engine, is_worth_a_gpu
from ringfence.simulation.experiment import SCALES, Experiment, scales_for
from ringfence.simulation.instance import Instance
from ringfence.simulation.logs import read_log
from ringfence.simulation.planning import whole_target
from ringfence.simulation.proving import require_provable
from ringfence.simulation.rare.results import RareResult
from ringfence.simulation.results import ComparisonRow, SimulationResult

REPLICATIONS = 100_000
METHODS = ("monte-carlo", "importance", "splitting", "auto")


@overload
def simulate(
    instance: AnyInstance,
    policy: AnyPolicy = ...,
    *,
    budget: AnyBudget,
    answer: str | None = ...,
    replications: int = ...,
    seed: int = ...,
    scales: str | None = ...,
    batch: int = ...,
    stop: AnyStop = ...,
    engine: str = ...,
    method: Literal["monte-carlo"] = ...,
    threads: int | None = ...,
    executor: Executor | None = ...,
    progress: Progress | None = ...,
) -> SimulationResult: ...


@overload
def simulate(
    instance: AnyInstance,
    policy: AnyPolicy = ...,
    *,
    budget: AnyBudget,
    answer: str | None = ...,
    replications: int = ...,
    seed: int = ...,
    scales: str | None = ...,
    batch: int = ...,
    stop: AnyStop = ...,
    engine: str = ...,
    method: str,
    threads: int | None = ...,
    executor: Executor | None = ...,
    progress: Progress | None = ...,
) -> SimulationResult | RareResult: ...


def simulate(
    instance: AnyInstance,
    policy: AnyPolicy = "constrained-sr",
    *,
    budget: AnyBudget,
    answer: str | None = None,
    replications: int = REPLICATIONS,
    seed: int = 0,
    scales: str | None = None,
    batch: int = 1,
    stop: AnyStop = None,
    engine: str = "cpu",
    method: str = "monte-carlo",
    threads: int | None = None,
    executor: Executor | None = None,
    progress: Progress | None = None,
) -> SimulationResult | RareResult:
    """Return how often a policy errs on an instance at a budget.

    The budget is a number of pulls, or an amount such as "50 USD" where the instance has prices.
    `answer` is which arms are asked for, "best feasible" or "all feasible": as the instance says
    unless it is given. The result for a seed is the same on any number of threads. With
    `scales="estimated"` the policy learns the noise from its pulls, as in a study; with "known" it
    is told. Unless stated, adaptive policies learn it where errors are counted, and all others are
    told. `batch` is how many pulls an adaptive policy decides at once. `engine="reference"` pulls
    one sample at a time in plain Python, `"cuda"` runs on all NVIDIA GPUs there are, and `"auto"`
    on these where it is worth it. `executor`, if given, takes the place of threads: processes, or a
    cluster (Dask's
    client.get_executor()). `progress` is told of finished replications as they come.

    With `stop`, a confidence such as 0.95 or a table {"confidence": 0.95, "within": 0.01}, pulls
    end as soon as the answer is proven, as in a study with [stop].

    `method="importance"` estimates errors too rare to be counted, and `"splitting"` likewise but
    roughly, without a notion of where they come from, and by as many replications as it needs;
    `"auto"` counts errors if they can be seen. Their results say in `warnings` what gives reason
    for doubt.

    >>> import ringfence as rf
    >>> result = rf.simulate("paper-3", "constrained-sr", budget=2000, replications=20_000)
    >>> print(f"{result.error_rate:.2f}, {result.pulls_used} pulls")
    0.25, 1999 pulls
    >>> max(result.chosen, key=lambda arm: result.chosen[arm]["feasible"])
    'one'
    """
    if method not in METHODS:
        raise one_of("method", method, METHODS)
    replications, threads = positive("replications", replications), threads_of(threads)
    if method == "splitting" and replications != REPLICATIONS:
        raise no_replications(replications)
    seed = whole_seed(seed)
    loaded, ruled_by = instance_of(instance), policy_of(policy)
    if scales is None and method != "monte-carlo":
        scales = "known"  # the rare methods have no others
    experiment = Experiment.funded(
        loaded.asking(answer),
        ruled_by,
        budget,
        scales=scales_for(scales, [ruled_by]),
        batch=positive("batch", batch),
        stop=stop_in(stop, method),
    )
    if experiment.unit != PULLS:
        method = require_counting(experiment, method)
    if engine == "auto":
        counting = method == "monte-carlo" and is_worth_a_gpu(experiment, replications)
        engine = "cuda" if counting else "cpu"
    chosen = find_engine(engine, experiment, here=executor is None)
    if method != "monte-carlo" and engine != CPU.name:
        raise InputError(
            f"engine = {engine!r} counts errors: method = {method!r} needs 'cpu'. Leave one out."
        )
    hands = Hands(seed, threads, executor, progress)
    if method == "auto":
        method = best_method(experiment, replications, hands)
    if method == "importance":
        return by_importance(experiment, replications, hands)
    if method == "splitting":
        return by_splitting(experiment, hands)
    if executor is None or not chosen.is_compiled_here:
        chosen.count(experiment, seed, 0, 0)  # compiles, so that what is timed is replications
    started = time.perf_counter()
    counts = total(
        run_chunks(
            partial(chosen.count, experiment, seed),
            chunk_sizes(replications, chosen.chunk_size(experiment)),
            threads=chosen.workers(threads),
            executor=executor,
            progress=progress,
        )
    )
    seconds = time.perf_counter() - started
    return SimulationResult.of(experiment, counts, seed=seed, engine=chosen.name, seconds=seconds)


def compare(
    instances: AnyInstance | Sequence[AnyInstance],
    *,
    policies: AnyPolicy | Sequence[AnyPolicy] | None = None,
    budgets: AnyBudget | Sequence[AnyBudget],
    answer: str | None = None,
    replications: int = 100_000,
    seed: int = 0,
    scales: str | None = None,
    batch: int = 1,
    stop: AnyStop = None,
    threads: int | None = None,
    executor: Executor | None = None,
    progress: Progress | None = None,
) -> list[ComparisonRow]:
    """Return a row for every instance, budget and policy, on common random numbers.

    Unless `policies` are given these are all quick ones that answer what is asked: by each
    instance, or by `answer`. All policies learn the noise (`scales="estimated"`) or all are told it
    ("known"). Unless stated, they learn it if one of them is adaptive, as in a study. Policies on
    the same schedule see identical pulls, if the noise is known and no limit is relative to a
    baseline; adaptive policies go their own ways. Every ratio is to the first policy. With `stop`
    pulls end when the answer is proven, as in `simulate`.

    >>> import ringfence as rf
    >>> rows = rf.compare(
    ...     "paper-1", policies=["constrained-sr", "uniform"], budgets=500, replications=20_000
    ... )
    >>> for row in rows:
    ...     print(row.result.policy, f"{row.result.error_rate:.2f}")
    constrained-sr 0.24
    uniform 0.27
    """
    replications, threads = positive("replications", replications), threads_of(threads)
    seed, batch = whole_seed(seed), positive("batch", batch)
    sources = listed("instances", instances, ONE_INSTANCE)
    loaded = [instance_of(source).asking(answer) for source in sources]
    chosen = policies_of(_usual(loaded) if policies is None else policies)
    amounts = listed("budgets", budgets, ONE_BUDGET)
    scales = scales_for(scales, chosen)
    ends = stop_in(stop)
    plans = [
        [
            Experiment.funded(
                one, policy, budget, shared=True, scales=scales, batch=batch, stop=ends
            )
            for policy in chosen
        ]
        for one in loaded
        for budget in amounts
    ]
    return [
        row
        for experiments in plans
        for row in side_by_side(
            experiments,
            replications,
            seed=seed,
            threads=threads,
            executor=executor,
            progress=progress,
        )
    ]


def _usual(instances: Sequence[Instance]) -> list[Policy]:
    """Return the quick policies that answer what all of some instances ask."""
    first, *others = [quick_policies_for(one.problem.question) for one in instances]
    return [policy for policy in first if all(policy in each for each in others)]


def plan(
    instance: AnyInstance | Study,
    policy: AnyPolicy | None = None,
    *,
    target_error: float | None = None,
    stop: AnyStop = None,
    money: str | None = None,
    answer: str | None = None,
    seed: int = 0,
    scales: str | None = None,
    brief: bool = False,
    threads: int | None = None,
    executor: Executor | None = None,
    advance: Advance | None = None,
) -> Plan:
    """Return the least budget at which a policy's error is at most a target, and why.

    It is the least where the error falls steadily with the budget; where it goes up and down
    (limits on quantiles, few pulls), it is one that suffices. With a `Study` in place of an
    instance, its estimates are taken for the truth, and its own policy unless another is named;
    else the policy is constrained-sr. `answer` is which arms are asked for, unless as the instance
    or the study says. With `scales="estimated"` policies learn the noise from their pulls, with
    "known" they are told it; unless stated, an adaptive policy learns it, as in a study, if the
    target is not too rare to be counted (1e-3). A brief plan leaves out what other policies need,
    and what a looser limit or fewer arms would save. An adaptive policy decides up to a hundredth
    of its pulls so far at once, and up to 3% where it learns the noise. `advance` hears what is
    being done: a first estimate at once, and then each budget. With a `stop`, as in `simulate`, the
    plan also says how many pulls a proof takes; the target is then 1 - confidence unless given.
    With `money`, a unit such as "USD", budgets are amounts, of which pulls take what the instance's
    price says.

    >>> import ringfence as rf
    >>> plan = rf.plan("paper-3", target_error=0.01, brief=True)
    >>> print(f"{plan.policy} needs about {round(plan.point.budget, -3):,} pulls")
    constrained-sr needs about 14,000 pulls
    """
    hands = Hands(whole_seed(seed), threads_of(threads), executor)
    ends = stop_in(stop)
    target_error = whole_target(target_of(target_error, ends))
    if money is not None and (ends is not None or isinstance(instance, Study)):
        raise InputError(
            f"money = {money!r} is for plans of instances without stop. Leave one of them out."
        )
    if isinstance(instance, Study):
        if ends is not None:
            raise InputError(
                "stop: a study says itself what each open question needs. Ask it for a certificate "
                "(ringfence certify), or leave stop out."
            )
        chosen = None if policy is None else policy_of(policy)
        return plan_from_study(
            instance, target_error, hands, advance,
            policy=chosen, scales=scales, brief=brief, answer=answer,
        )  # fmt: skip
    chosen = policy_of("constrained-sr" if policy is None else policy)
    loaded = instance_of(instance).asking(answer)
    if ends is not None:
        require_provable(loaded, ends)
    found = plan_instance(
        loaded, chosen, target_error, hands, advance, scales=scales, brief=brief, unit=money
    )
    return found if ends is None else with_proof(found, loaded, chosen, ends, hands, advance)


def replay(
    table: Any,
    *,
    arm: str,
    objective: str,
    constraints: str | Sequence[str] = (),
    baseline: str | None = None,
    item: str | None = None,
    price: str | None = None,
    budgets: float | str | Sequence[float | str] | None = None,
    policies: AnyPolicy | Sequence[AnyPolicy] = QUICK_POLICIES,
    replications: int = 1000,
    seed: int = 0,
    scales: str = "estimated",
    batch: int | None = None,
    stop: AnyStop = None,
    threads: int | None = None,
    functions: Functions | None = None,
    units: Mapping[str, str] | None = None,
    force: bool = False,
    progress: Progress | None = None,
) -> Replay:
    """Return what policies would have chosen on logged data, and how often that is right.

    `table` is a CSV, Parquet or Arrow file, a data frame (pandas, polars, Arrow) or a mapping of
    columns; `arm` the column that names the arm. `baseline` is the arm that limits such as
    "mean(x) <= 1.1 * baseline" are relative to: it is never rejected, and its noise counts. Right
    is the truth of the table; rows are drawn with replacement, as if independent. Where all arms
    were tried on the same items, `item` is the column that names them: arms then meet the items in
    one order, drawn anew in each replication, and none twice. Budgets are, unless given, a grid
    from the least possible to the number of rows. With `price`, the column of what each pull cost,
    they are amounts, and a pull takes what its row says; policies learn the prices of arms as they
    go. A unit may be written with a budget ("50 USD"). An adaptive policy decides `batch` pulls at
    once, or up to a hundredth of its pulls so far. A table that cannot answer is refused with
    reasons, or shown with them if `force` is set. `progress` is told of finished replications. With
    `stop` pulls end when the answer is proven, as in `simulate`; bounds are those of the table, and
    the budget is that of all its rows unless others are given. `units` are those of the metrics,
    such as {"seconds": "s"}, where limits say some.

    >>> import ringfence as rf
    >>> log = {
    ...     "variant": ["old", "new", "bold"] * 100,
    ...     "sold": [0, 1, 1, 0, 0, 1] * 50,
    ...     "seconds": [1.0, 1.4, 2.5, 1.2, 1.6, 2.9] * 50,
    ... }
    >>> found = rf.replay(
    ...     log,
    ...     arm="variant",
    ...     objective="maximize mean(sold)",
    ...     constraints="mean(seconds) <= 2",
    ...     budgets=[40, 80],
    ...     policies=["top-two", "uniform"],
    ...     replications=200,
    ... )
    >>> found.log.answer.name
    'new'
    >>> [row.right_rate > 0.9 for row in found.rows]
    [True, True, True, True]
    """
    replications, threads, seed = (
        positive("replications", replications),
        threads_of(threads),
        whole_seed(seed),
    )
    wanted, unit = budgets_by_price(listed("budgets", budgets, (str,)), price)
    if scales not in SCALES:
        raise one_of("scales", scales, SCALES)
    rerun = Rerun(
        policies=policies_of(policies),
        replications=replications,
        seed=seed,
        scales=scales,
        batch=None if batch is None else positive("batch", batch),
        stop=stop_in(stop),
        threads=threads,
        progress=progress,
        unit=unit,
    )
    log = read_log(
        table,
        arm=arm,
        objective=objective,
        constraints=constraints,
        baseline=None if baseline is None else str(baseline),
        item=item,
        price=price,
        functions=functions,
        units=units,
        seed=seed,
    )
    return replay_log(log, rerun, budgets=wanted or None, force=force)
