"""The shapes of bodies and answers, for checking them and for the OpenAPI document.

What a value must be beyond its shape is decided where Python decides it, with the same words.
"""

from collections.abc import Callable, Sequence
from typing import Annotated, Any, Literal, TypeAlias, get_args, get_type_hints

from pydantic import BaseModel, ConfigDict, Field

from ringfence.core.best_feasible import BEST_FEASIBLE

MOST_PULLS = 10_000
MOST_ARMS = 10_000
_BODY = ConfigDict(extra="forbid", strict=True)
_LONGEST_TEXT = 2000
_WHEN_STOPPED = "When it was stopped, in seconds since the epoch; null while it may go on."
_WHEN_ARCHIVED = "When it was put away, in seconds since the epoch; null while it is listed."

Number = Annotated[float, Field(allow_inf_nan=False)]
Text = Annotated[str, Field(max_length=_LONGEST_TEXT)]
Numbered = Annotated[int, Field(ge=1, description="A pull's number, as ask gave it.")]
Lease = Annotated[int, Field(ge=1, description="The pull's lease, as ask gave it.")]
Metrics = Annotated[
    dict[str, Any],
    Field(description="A number for each of the metrics. Further finite numbers are recorded."),
]

StandIn = Annotated[
    dict[str, Number],
    Field(max_length=200, description="A number for each metric, told in place of a failure."),
]


def keys_at(endpoint: Callable[..., Any], place: Sequence[int | str]) -> tuple[str, ...]:
    """Return the keys that a call's body has at a place: at [], or below ["pulls", 3]."""
    hints = get_type_hints(endpoint).values()
    shape: Any = next((one for one in hints if _is_shape(one)), None)
    for part in place:
        if isinstance(part, int):
            shape = next(iter(get_args(shape)), None)
        elif _is_shape(shape) and part in shape.model_fields:
            shape = shape.model_fields[part].annotation
        else:
            return ()
    return tuple(shape.model_fields) if _is_shape(shape) else ()


def _is_shape(one: Any) -> bool:
    return isinstance(one, type) and issubclass(one, BaseModel)


class Blocks(BaseModel):
    """What pulls of different arms share: items, seeds, or the hours in which they are made."""

    model_config = _BODY
    items: Annotated[
        Annotated[int, Field(ge=1)] | list[dict[str, Any] | str | int | Number] | None,
        Field(description="How many there are, or what each is.", examples=[500]),
    ] = None
    scope: Annotated[
        str | None, Field(description="What is claimed: of items like these, or of these alone.")
    ] = None
    repeats: Annotated[
        int | None, Field(description="How often an arm may be told of an item.")
    ] = None
    group: Annotated[
        str | None, Field(description="A key of the items: those of a value belong together.")
    ] = None
    evaluation: Annotated[
        str | None, Field(description="deterministic: an item answered twice gives the same.")
    ] = None
    seeds: bool | None = None
    every: Annotated[str | None, Field(examples=["30m", "1h", "1d"])] = None


class Stop(BaseModel):
    """How sure a proof must be for the study to end by it, whatever is left of the budget."""

    model_config = _BODY
    confidence: Annotated[Number, Field(examples=[0.95])]
    within: Annotated[
        Number | None, Field(description="What is as good, in the unit of the objective.")
    ] = None
    rests_on: Annotated[
        str | None,
        Field(description="exact: refuse metrics of which nothing can be proven exactly."),
    ] = None


Prices: TypeAlias = Number | Text | dict[str, Number | Text] | None


class NewStudy(BaseModel):
    """What is fixed before the first pull."""

    model_config = _BODY
    name: str
    objective: Annotated[Text, Field(examples=["maximize mean(score)"])]
    constraints: Annotated[
        list[Text],
        Field(
            max_length=100,
            description="Limits; without any the best arm is asked for.",
            examples=[["p95(latency_ms) <= 200"]],
        ),
    ] = []
    arms: Annotated[
        Annotated[list[str], Field(max_length=MOST_ARMS)]
        | Annotated[dict[str, dict[str, Any]], Field(max_length=MOST_ARMS)],
        Field(examples=[["v1", "v2", "v3"]]),
    ]
    budget: Annotated[
        int | str,
        Field(description="Pulls, or an amount with its unit.", examples=[600, "50 USD"]),
    ]
    price: Annotated[
        Number | Text | dict[str, Number | Text] | None,
        Field(
            description="What a pull takes of such an amount: by arm, or the metric that tells it.",
            examples=[{"v1": 0.03, "v2": 1.1}, "cost"],
        ),
    ] = None
    price_guess: Annotated[
        Prices, Field(description="What it is likely to be at first, of all arms or by arm.")
    ] = None
    price_cap: Annotated[
        Prices, Field(description="What no pull exceeds, of all arms or by arm.")
    ] = None
    answer: Annotated[str, Field(examples=["best feasible", "all feasible"])] = BEST_FEASIBLE.name
    policy: str = "top-two"
    seed: int | None = None
    batch: int | None = None
    lag: Annotated[
        int | None,
        Field(description="With a lag of L, pull t is decided from the pulls up to t - L."),
    ] = None
    metrics: Annotated[list[str], Field(max_length=100)] | None = None
    lease_seconds: Number = 600.0
    retries: int = 0
    max_failures: int = 3
    max_leases: int = 10
    baseline: str | None = None
    noise: (
        Annotated[
            dict[str, Any],
            Field(
                max_length=100,
                description="What is known of metrics: sigma or bounds of each, or a covariance; "
                "in `arms`, sigmas of single arms.",
                examples=[{"latency_ms": {"sigma": 12.0}, "toxic": {"bounds": [0, 1]}}],
            ),
        ]
        | None
    ) = None
    on_failure: StandIn | None = None
    on_timeout: StandIn | None = None
    blocks: Blocks | None = None
    stop: Stop | None = None
    units: Annotated[
        dict[str, str] | None,
        Field(
            max_length=100,
            description="The units in which metrics are measured.",
            examples=[{"latency": "ms"}],
        ),
    ] = None
    load_if_exists: bool = False


class Definition(BaseModel):
    """What was fixed before the first pull, as it is kept."""

    name: str
    objective: str
    constraints: list[str]
    answer: Annotated[str, Field(description="Which arms are asked for.")]
    arms: dict[str, dict[str, Any]]
    budget: Annotated[float, Field(description="At first, in its unit.")]
    unit: Annotated[str, Field(description="Of the budget: `pulls`, or as it was written.")]
    price: Annotated[
        dict[str, float] | str | None, Field(description="Of a pull, by arm or as a metric.")
    ]
    price_guess: dict[str, float] | None
    price_cap: dict[str, float] | None
    policy: str
    seed: int
    batch: int
    lag: Annotated[
        int | None, Field(description="How far decisions lag behind; null until somebody says it.")
    ]
    metrics: list[str]
    functions: dict[str, str]
    lease_seconds: float
    retries: int
    max_failures: int
    max_leases: int
    baseline: str | None
    noise: dict[str, Any]
    on_failure: dict[str, float]
    on_timeout: dict[str, float]
    counts_failures: Annotated[bool, Field(description="Whether `failed` is built in.")]
    counts_lost: Annotated[bool, Field(description="Whether lost pulls withdraw an arm.")]
    blocks: Annotated[
        dict[str, Any] | None, Field(description="What pulls of different arms share, if anything.")
    ] = None
    stop: Annotated[
        dict[str, Any] | None, Field(description="When it ends before its budget, if ever.")
    ] = None
    units: Annotated[
        dict[str, str] | None, Field(description="The units of metrics, where stated.")
    ] = None
    created_at: Annotated[float, Field(description="Seconds since the epoch.")]


class Listed(BaseModel):
    """Where one of many studies stands."""

    name: str
    done: Annotated[int, Field(description="Pulls that were told, failed or cancelled.")]
    in_flight: Annotated[int, Field(description="Pulls that are leased.")]
    budget: float
    unit: str
    spent: Annotated[
        float, Field(description="What the pulls took that the latest decision was made from.")
    ]
    finished: bool
    stopped_at: Annotated[float | None, Field(description=_WHEN_STOPPED)]
    archived_at: Annotated[float | None, Field(description=_WHEN_ARCHIVED)]
    created_at: float


class Listing(BaseModel):
    """All studies of the storage."""

    studies: list[Listed]


class ArmAccount(BaseModel):
    """What an arm took of the budget, in its unit."""

    name: str
    pulls: Annotated[int, Field(description="Of these it was charged.")]
    price: Annotated[float, Field(description="What a pull of it costs by now.")]
    spent: float
    reserved: float
    most: Annotated[float, Field(description="What its dearest pull cost.")]
    cap: Annotated[float | None, Field(description="What none should have exceeded.")]
    is_over_cap: bool


class Status(BaseModel):
    """Where a study stands."""

    study: str
    told: int
    issued: int
    failed: int
    lost: Annotated[int, Field(description="Pulls that will never report: not charged.")]
    budget: Annotated[float, Field(description="In its unit; so is what follows.")]
    unit: Annotated[str, Field(description="`pulls`, or as it was written.")]
    spent: float
    reserved: Annotated[float, Field(description="For pulls in flight.")]
    left: float
    phase: int
    alive: list[str]
    arm: str | None
    feasible: bool | None
    finished: bool
    seed: int
    stopped_at: Annotated[float | None, Field(description=_WHEN_STOPPED)]
    archived_at: Annotated[float | None, Field(description=_WHEN_ARCHIVED)]
    stop: Annotated[
        dict[str, Any] | None, Field(description="What ends it by proof, as that is now.")
    ]
    blocks: Annotated[
        dict[str, Any] | None,
        Field(
            description="What pulls share; `exhausted` are arms in the running without further "
            "items."
        ),
    ]
    accounts: Annotated[
        list[ArmAccount], Field(description="By arm, where pulls have a price; else none.")
    ]


class Ask(BaseModel):
    """How many pulls are wanted."""

    model_config = _BODY
    n: Annotated[int, Field(ge=1, le=MOST_PULLS)] = 1


class Pull(BaseModel):
    """A leased pull: evaluate the arm with the seed, then tell the metrics before the deadline."""

    pull: int
    lease: int
    arm: str
    seed: int
    deadline: float
    keys: dict[str, Any]
    ordinal: Annotated[int, Field(description="How often the arm was pulled before.")]
    item: Annotated[Any, Field(description="What it is evaluated on; null without items.")]


class Asked(BaseModel):
    """Leased pulls; none while others must be told first, or when nothing more will come."""

    pulls: list[Pull]
    finished: Annotated[bool, Field(description="No pull comes any more: it is over, or stopped.")]
    stopped: Annotated[bool, Field(description="It was stopped, and can be resumed.")]


class Leased(BaseModel):
    """A pull under a lease."""

    model_config = _BODY
    pull: Numbered
    lease: Lease


class Told(Leased):
    """What a pull gave."""

    metrics: Metrics


class ToldWithCost(Told):
    """What a pull gave, and what it cost: its price, where that is a metric."""

    cost: Number | None = None


class ToldMany(BaseModel):
    """What many pulls gave: all are told, or none."""

    model_config = _BODY
    pulls: Annotated[list[Told], Field(max_length=MOST_PULLS)]


class Failed(Leased):
    """A pull that could not be evaluated."""

    error: str = ""
    charge: bool = True
    retry: bool = True
    timed_out: bool = False
    cost: Annotated[
        Number | None, Field(description="What it cost, where the price is a metric.")
    ] = None


class Lost(Leased):
    """A pull that will never report, through no fault of its arm."""

    error: str = ""


class Revival(BaseModel):
    """An arm that is to come back."""

    model_config = _BODY
    arm: str


class Revived(BaseModel):
    """What became of an arm."""

    status: Literal["revived", "already-in-the-running"]


class Nothing(BaseModel):
    """An empty object: the address says it all."""

    model_config = _BODY


class StopWhen(BaseModel):
    """What is to end a study by proof from now on."""

    model_config = _BODY
    confidence: Annotated[Number, Field(examples=[0.95])]
    within: Annotated[
        Number | None, Field(description="What is as good; null leaves it as it is.")
    ] = None
    note: Annotated[Text, Field(description="Why it may be looser than before.")] = ""


class BecameEnding(BaseModel):
    """What became of a study that is to end by proof."""

    status: Literal["set", "unchanged"]


class BecameStopped(BaseModel):
    """What became of a study that was to stop."""

    status: Literal["stopped", "already-stopped", "already-finished"]


class BecameResumed(BaseModel):
    """What became of a study that was to go on."""

    status: Literal["resumed", "already-running", "already-finished"]


class BecameArchived(BaseModel):
    """What became of a study that was to be put away."""

    status: Literal["archived", "already-archived"]


class BecameListed(BaseModel):
    """What became of a study that was to be listed again."""

    status: Literal["unarchived", "already-listed"]


class Became(BaseModel):
    """What became of a pull that failed."""

    status: Literal["failed", "retry", "already-failed"]


Notes = Annotated[list[str], Field(description="What was told beside the metrics and ignored.")]


class BecameTold(BaseModel):
    """What became of a pull that was told."""

    status: Literal["told", "already-told"]
    notes: Notes


class BecameLost(BaseModel):
    """What became of a pull that was lost."""

    status: Literal["lost", "already-lost"]


class BecameMany(BaseModel):
    """What became of many pulls, in their order."""

    statuses: list[Literal["told", "already-told"]]
    notes: Notes


class Extended(BaseModel):
    """How long the lease holds now, in seconds since the epoch."""

    deadline: float


class Budget(BaseModel):
    """The new budget in all: pulls, or an amount of its unit."""

    model_config = _BODY
    budget: Annotated[int | Number | str, Field(examples=[800, "60 USD"])]


class Estimate(BaseModel):
    """An attribute with its 95% interval."""

    value: float | None
    low: float | None
    high: float | None


class Arm(BaseModel):
    """What is known of one arm."""

    model_config = ConfigDict(extra="allow")
    name: str
    pulls: int
    estimates: dict[str, Estimate]
    margin: float | None
    kind: str | None
    status: Literal["in the running", "rejected", "settled", "withdrawn"]
    cause: Annotated[
        Literal["rejected", "settled", "failing", "unseen", "with-baseline"] | None,
        Field(description="Why it left: a code; null of an arm in the running."),
    ]
    reason: Annotated[str, Field(description="Why it was dropped or kept, in words.")]
    blocked_by: list[str]
    phase: int | None
    rival: str | None
    gap: float | None
    error: Annotated[str | None, Field(description="The last one, of an arm that failed.")]
    failed: Annotated[int, Field(description="How many of its pulls failed.")]
    untold: Annotated[int, Field(description="Of these, those with nothing told in their place.")]
    chance_feasible: Annotated[
        float | None, Field(description="The chance that it keeps all its limits.")
    ]
    chance_best: Annotated[float | None, Field(description="The chance that it is in the answer.")]
    differences: Annotated[
        dict[str, Estimate],
        Field(description="By how much it exceeds the answer's best arm, with 95% intervals."),
    ]


class Flip(BaseModel):
    """A threshold at which another arm would look best; None: no arm would look feasible.

    `arms` are all that would be named: one, or those of a set.
    Where it must exclude an arm, `beyond` is that arm's value, and the threshold the next number.
    """

    constraint: str
    threshold: float | None
    answer: str | None
    beyond: float | None
    side: Annotated[
        Literal["at", "below", "above"],
        Field(description="On which side of `beyond` such thresholds lie, or at the threshold."),
    ]
    arms: list[str]


class Doubt(BaseModel):
    """Why a verdict is too close to call although the draws are sure: what was not seen."""

    kind: Literal["unseen", "failures"]
    arm: str
    attribute: str | None
    pulls: int
    failed: int


class Change(BaseModel):
    """A metric that was another at some times than at others, whatever the arm."""

    metric: str
    stretches: int
    chance: Annotated[float, Field(description="How likely that is if it did not change.")]


class ProofStep(BaseModel):
    """One question of a certificate: a claim that is proven once its e-value reaches 1/level."""

    question: str
    kind: Literal["keeps", "breaks", "no-better"]
    arm: str
    limit: str | None
    rival: str | None
    e: Annotated[float | None, Field(description="The e-value now; null where it is certain.")]
    level: float
    crossed: Annotated[bool, Field(description="Whether it has ever reached 1/level.")]
    certain: bool
    seen: Annotated[int, Field(description="Blocks, or pulls, that the test went through.")]
    needs: Annotated[int | None, Field(description="Pulls that it may still take, if known.")]
    why: Annotated[str | None, Field(description="Why nothing can be proven of it, if so.")]
    held: Annotated[dict[str, str], Field(description="What holds it up, by arm.")]


class Certificate(BaseModel):
    """What is proven by the stored pulls, whatever chose them."""

    study: str
    status: Literal["certified", "equivalent", "none-feasible", "open"]
    confidence: float
    within: float | None
    arm: str | None
    answer: list[str]
    rests_on: dict[str, Literal["exact", "gaussian", "asymptotic"] | None]
    assumes: list[str]
    exploratory: list[str]
    open: list[ProofStep]
    settled: list[ProofStep]
    pulls_used: int
    blocks: int | None


class Verdict(BaseModel):
    """The answer of a study, so far or at its end."""

    study: str
    arm: Annotated[str | None, Field(description="The best of the named arms; null if none is.")]
    answer: Annotated[list[str], Field(description="The named arms.")]
    feasible: bool
    verdict: Literal["feasible", "infeasible", "too-close-to-call"]
    confidence: float
    chance_feasible: Annotated[
        float, Field(description="The chance that any arm keeps all its limits.")
    ]
    chance_keeps_limits: Annotated[
        float, Field(description="The chance that all named arms keep their limits.")
    ]
    pulls_used: int
    budget: float
    unit: str
    spent: float
    reserved: float
    left: float
    accounts: list[ArmAccount]
    finished: bool
    arms: list[Arm]
    flips: list[Flip]
    exact: list[str]
    brought: int
    apparent: str | None
    doubts: list[Doubt]
    changes: list[Change]
    certificate: Annotated[
        Certificate | None, Field(description="What is proven, in a study with a `stop`.")
    ]


class WhatIf(Verdict):
    """The answer with another threshold: exploratory, since it is chosen after the data."""

    constraint: str
    threshold: float
    sentence: str
    exploratory: Literal[True]


class Reason(BaseModel):
    """Why an arm was dropped or kept."""

    name: str
    reason: str
    phase: int | None
    rival: str | None
    gap: float | None
    differences: Annotated[
        dict[str, Estimate], Field(description="By how much it exceeds the answer.")
    ]


class Explanation(BaseModel):
    """Why each arm was dropped or kept."""

    study: str
    arms: list[Reason]


class RawPull(BaseModel):
    """A pull as it is kept."""

    pull: int
    arm: str
    round: int
    state: Literal["issued", "told", "failed", "cancelled", "void"]
    lease: int
    metrics: dict[str, float] | None
    extras: Annotated[dict[str, float] | None, Field(description="Further numbers.")]
    cost: float | None
    error: str | None


class RawPulls(BaseModel):
    """Pulls, the latest first; `before` asks for the next page, null if there is none."""

    pulls: list[RawPull]
    before: int | None


class Result(BaseModel):
    """What an arm was told on an item: means of its pulls there."""

    arm: str
    item: int
    values: dict[str, float]
    pulls: int


class Item(BaseModel):
    """An item that some arm was told on."""

    item: Annotated[int, Field(description="Its number, as exports have it.")]
    content: Annotated[Any, Field(description="What it is; its number where that is all.")]


class Results(BaseModel):
    """Results by item; `next` asks for further items, null if there are none."""

    items: list[Item]
    results: list[Result]
    next: int | None


class Problem(BaseModel):
    """What is wrong: `detail` has key, value, rule and remedy. Nothing was changed."""

    status: int
    title: str
    detail: str
