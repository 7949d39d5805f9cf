"""The HTTP interface: the calls of Python's `Study`, with its rules and its words.

May touch every room.
"""

from collections.abc import Container, Mapping
from dataclasses import asdict
from typing import Annotated, Any, Literal

from fastapi import APIRouter, Depends, Query, Response
from fastapi.security import HTTPBearer
from starlette.responses import StreamingResponse

from ringfence.core.errors import InputError, nearest
from ringfence.core.money import PULLS
from ringfence.interfaces.studies import Study
from ringfence.interfaces.web import downloads, shapes
from ringfence.interfaces.web.items import item_results
from ringfence.interfaces.web.lanes import LaneRoute, costly
from ringfence.interfaces.web.parts import AnyShelf, AnyStudy, AnyWatch
from ringfence.interfaces.web.problems import MEDIA_TYPE, NotHereError, StrictJson
from ringfence.reports.verdict import explanation, sentence, verdict_document
from ringfence.study.facts import PullFact

MOST_ROWS = 1000


def _errors(*statuses: int) -> dict[int | str, dict[str, Any]]:
    shape = {"schema": {"$ref": "#/components/schemas/Problem"}}
    return {status: {"content": {MEDIA_TYPE: shape}} for status in statuses}


def _any_of(kinds: Mapping[str, str]) -> dict[str, dict[str, Any]]:
    return {kind: {} for kind in kinds.values()}


_READ = _errors(400, 401, 403, 404, 422, 503)
_WRITE = _errors(400, 401, 403, 404, 409, 413, 415, 422, 503)
_TOKEN = [Depends(HTTPBearer(auto_error=False, description="The token that writes need."))]

router = APIRouter(prefix="/api", default_response_class=StrictJson, route_class=LaneRoute)


@router.get(
    "/studies",
    tags=["read"],
    summary="List the studies of the storage",
    response_model=shapes.Listing,
    responses=_READ,
)
def list_studies(
    shelf: AnyShelf,
    *,
    archived: Annotated[bool, Query(description="Those that were put away, too.")] = False,
) -> Response:
    """Return every study's name and where it stands; archived ones only if they are asked for."""
    listed = shelf.listing()
    return StrictJson(
        {"studies": [one for one in listed if archived or one["archived_at"] is None]}
    )


@router.post(
    "/studies",
    tags=["write"],
    summary="Create a study",
    status_code=201,
    response_model=shapes.Definition,
    responses=_WRITE | {200: {"model": shapes.Definition, "description": "It was loaded."}},
    dependencies=_TOKEN,
)
def create_study(body: shapes.NewStudy, shelf: AnyShelf) -> Response:
    """Fix what a study is about; it is on disk when this is answered.

    With `load_if_exists` a study of that name is taken if it is the same one.
    """
    existed = body.load_if_exists and body.name in shelf.names()
    study = Study.create(storage=shelf.storage, **body.model_dump())
    return StrictJson(_definition(study), status_code=200 if existed else 201)


@router.get(
    "/studies/{name}",
    tags=["read"],
    summary="Say where a study stands",
    response_model=shapes.Status,
    responses=_READ,
)
def show_status(study: AnyStudy) -> Response:
    """Return what `ringfence status --json` prints."""
    return StrictJson(asdict(study.status()))


@router.get(
    "/studies/{name}/definition",
    tags=["read"],
    summary="Say what was fixed before the data",
    response_model=shapes.Definition,
    responses=_READ,
)
def show_definition(study: AnyStudy) -> Response:
    """Return objective, limits, arms, policy and seed as they are kept."""
    return StrictJson(_definition(study))


@router.post(
    "/studies/{name}/ask",
    tags=["write"],
    summary="Lease pulls",
    response_model=shapes.Asked,
    responses=_WRITE,
    dependencies=_TOKEN,
)
def ask(body: shapes.Ask, study: AnyStudy) -> Response:
    """Return up to `n` pulls to evaluate, each under a lease."""
    pulls = study.ask(body.n)
    head = None if pulls else study.desk.head
    return StrictJson(
        {
            "pulls": [asdict(pull) for pull in pulls],
            "finished": head is not None and head.is_over,
            "stopped": head is not None and head.is_stopped,
        }
    )


@router.post(
    "/studies/{name}/tell",
    tags=["write"],
    summary="Tell what a pull gave",
    response_model=shapes.BecameTold,
    responses=_WRITE,
    dependencies=_TOKEN,
)
def tell(body: shapes.ToldWithCost, study: AnyStudy) -> Response:
    """Record metrics; they are on disk when this is answered. The same again changes nothing.

    Further finite numbers are recorded beside them; `notes` say what was ignored.
    """
    metrics = _numbers(study, body.metrics)
    became, notes = study.tell_noting(body.pull, metrics, lease=body.lease, cost=body.cost)
    return StrictJson({"status": became, "notes": list(notes)})


@router.post(
    "/studies/{name}/tell-many",
    tags=["write"],
    summary="Tell what many pulls gave",
    response_model=shapes.BecameMany,
    responses=_WRITE,
    dependencies=_TOKEN,
)
def tell_many(body: shapes.ToldMany, study: AnyStudy) -> Response:
    """Record the metrics of many pulls: all of them, or none."""
    metrics = [_numbers(study, told.metrics) for told in body.pulls]
    became, notes = study.tell_many_noting(body.pulls, metrics)
    return StrictJson({"statuses": became, "notes": list(notes)})


@router.post(
    "/studies/{name}/fail",
    tags=["write"],
    summary="Tell that an evaluation failed",
    response_model=shapes.Became,
    responses=_WRITE,
    dependencies=_TOKEN,
)
def fail(body: shapes.Failed, study: AnyStudy) -> Response:
    """Record a failure: the pull is issued again while it has retries left.

    The same again changes nothing.
    """
    became = study.fail(
        body.pull, body.error, lease=body.lease, charge=body.charge, retry=body.retry,
        timed_out=body.timed_out, cost=body.cost,
    )  # fmt: skip
    return StrictJson({"status": became})


@router.post(
    "/studies/{name}/lost",
    tags=["write"],
    summary="Tell that a pull will never report",
    response_model=shapes.BecameLost,
    responses=_WRITE,
    dependencies=_TOKEN,
)
def lost(body: shapes.Lost, study: AnyStudy) -> Response:
    """Record that no answer will come, through no fault of the arm: it is not charged.

    The same again changes nothing.
    """
    return StrictJson({"status": study.lost(body.pull, body.error, lease=body.lease)})


@router.post(
    "/studies/{name}/revive",
    tags=["write"],
    summary="Bring back an arm that was withdrawn",
    response_model=shapes.Revived,
    responses=_WRITE,
    dependencies=_TOKEN,
)
def revive(body: shapes.Revival, study: AnyStudy) -> Response:
    """Have an arm pulled again from the next decision on; one that a rule rejected stays out."""
    return StrictJson({"status": study.revive(body.arm)})


@router.post(
    "/studies/{name}/extend",
    tags=["write"],
    summary="Keep a lease for longer",
    response_model=shapes.Extended,
    responses=_WRITE,
    dependencies=_TOKEN,
)
def extend(body: shapes.Leased, study: AnyStudy) -> Response:
    """Give an evaluation that is still running another lease time from now."""
    return StrictJson({"deadline": study.extend(body)})


@router.post(
    "/studies/{name}/budget",
    tags=["write"],
    summary="Raise the budget",
    response_model=shapes.Status,
    responses=_WRITE,
    dependencies=_TOKEN,
)
def raise_budget(body: shapes.Budget, study: AnyStudy) -> Response:
    """Set a larger budget, in its unit; it can never fall. The same again changes nothing."""
    study.raise_budget(body.budget)
    return StrictJson(asdict(study.status()))


@router.post(
    "/studies/{name}/stop",
    tags=["write"],
    summary="Stop a study",
    response_model=shapes.BecameStopped,
    responses=_WRITE,
    dependencies=_TOKEN,
)
def stop(body: shapes.Nothing, study: AnyStudy) -> Response:
    """Issue no further pull and decide no further round; what is in flight may still be told."""
    return StrictJson({"status": study.stop()})


@router.post(
    "/studies/{name}/stop-when",
    tags=["write"],
    summary="End a study by proof",
    response_model=shapes.BecameEnding,
    responses=_WRITE,
    dependencies=_TOKEN,
)
def stop_when(body: shapes.StopWhen, study: AnyStudy) -> Response:
    """End it when its answer is proven so; a looser proof than before needs a note."""
    became = study.stop_when(body.confidence, within=body.within, note=body.note)
    return StrictJson({"status": became})


@router.post(
    "/studies/{name}/resume",
    tags=["write"],
    summary="Have a stopped study go on",
    response_model=shapes.BecameResumed,
    responses=_WRITE,
    dependencies=_TOKEN,
)
def resume(body: shapes.Nothing, study: AnyStudy) -> Response:
    """Take a stop back."""
    return StrictJson({"status": study.resume()})


@router.post(
    "/studies/{name}/archive",
    tags=["write"],
    summary="Put a study away",
    response_model=shapes.BecameArchived,
    responses=_WRITE,
    dependencies=_TOKEN,
)
def archive(body: shapes.Nothing, study: AnyStudy) -> Response:
    """List a study no more that is finished or stopped; nothing of it is deleted."""
    return StrictJson({"status": study.archive()})


@router.post(
    "/studies/{name}/unarchive",
    tags=["write"],
    summary="List a study again",
    response_model=shapes.BecameListed,
    responses=_WRITE,
    dependencies=_TOKEN,
)
def unarchive(body: shapes.Nothing, study: AnyStudy) -> Response:
    """List a study again that was put away."""
    return StrictJson({"status": study.unarchive()})


@router.get(
    "/studies/{name}/recommend",
    tags=["read"],
    summary="Give the verdict so far",
    response_model=shapes.Verdict,
    responses=_READ,
)
@costly("verdicts")
def recommend(study: AnyStudy) -> Response:
    """Return what `ringfence recommend --json` prints."""
    return StrictJson(verdict_document(study.recommend()))


@router.get(
    "/studies/{name}/explain",
    tags=["read"],
    summary="Say why each arm was dropped or kept",
    response_model=shapes.Explanation,
    responses=_READ,
)
@costly("verdicts")
def explain(study: AnyStudy, arm: str | None = None) -> Response:
    """Return what `ringfence explain --json` prints, of one arm or of all."""
    if arm is not None and arm not in study.definition.arms:
        raise NotHereError(
            f"arm {arm!r} is not in study {study.name!r}. Use one of its arms."
            f"{nearest(arm, study.definition.arms)}"
        )
    return StrictJson(explanation(study.recommend(), arm))


@router.get(
    "/studies/{name}/what-if",
    tags=["read"],
    summary="Say what the answer would be with another threshold",
    response_model=shapes.WhatIf,
    responses=_READ,
)
@costly("verdicts")
def what_if(
    study: AnyStudy,
    threshold: Annotated[float, Query(allow_inf_nan=False)],
    constraint: Annotated[int, Query(ge=0, description="Which one, counted from 0.")] = 0,
) -> Response:
    """Return the verdict under another threshold, exploratory: it was chosen after the data."""
    found = study.what_if(constraint, threshold)
    return StrictJson(
        verdict_document(found)
        | {
            "constraint": study.definition.constraints[constraint],
            "threshold": threshold,
            "sentence": sentence(found),
            "exploratory": True,
        }
    )


@router.get(
    "/studies/{name}/pulls",
    tags=["read"],
    summary="List raw pulls, the latest first",
    response_model=shapes.RawPulls,
    responses=_READ,
)
def list_pulls(
    study: AnyStudy,
    before: Annotated[int | None, Query(ge=1, description="Only pulls before this one.")] = None,
    limit: Annotated[int, Query(ge=1, le=MOST_ROWS)] = 50,
) -> Response:
    """Return a page of pulls as they are kept."""
    return StrictJson(raw_pulls(study, before, limit))


@router.get(
    "/studies/{name}/items",
    tags=["read"],
    summary="List what every arm did on every item",
    response_model=shapes.Results,
    responses=_READ,
)
@costly("documents")
def list_items(
    study: AnyStudy,
    first: Annotated[int, Query(ge=0, description="Only items from this one on.")] = 0,
    limit: Annotated[int, Query(ge=1, le=MOST_ROWS)] = 100,
) -> Response:
    """Return results by item: the mean of what each arm was told on it."""
    return StrictJson(item_results(study.desk, first, limit))


@router.get(
    "/studies/{name}/export",
    tags=["read"],
    summary="Download every observation",
    response_class=Response,
    responses=_READ | {200: {"content": _any_of(downloads.TABLES)}},
)
@costly("documents")
def export(study: AnyStudy, format: Literal["csv", "parquet", "json"] = "csv") -> Response:  # noqa: A002 - a word of the interface
    """Return pull, arm, seed and the metrics of every told pull."""
    return downloads.observations(study, format)


@router.get(
    "/studies/{name}/record",
    tags=["read"],
    summary="Download the decision record",
    response_class=Response,
    responses=_READ | {200: {"content": {"text/html": {}}}},
)
@costly("documents")
def record(study: AnyStudy) -> Response:
    """Return one HTML file with all that a reader needs to check the verdict."""
    return downloads.record(study)


@router.get(
    "/studies/{name}/figures/{kind}",
    tags=["read"],
    summary="Draw a chart",
    response_class=Response,
    responses=_READ | {200: {"content": _any_of(downloads.PICTURES)}},
)
@costly("documents")
def figure(
    kind: Literal["map", "timeline", "allocation", "evidence", "differences", "items", "hours"],
    shelf: AnyShelf,
    name: str,
    format: Literal["json", "svg", "png", "pdf"] = "json",  # noqa: A002 - a word of the interface
    theme: Literal["light", "dark", "print"] = "light",
    threshold: Annotated[float | None, Query(allow_inf_nan=False)] = None,
    constraint: Annotated[int, Query(ge=0)] = 0,
) -> Response:
    """Return a chart of the study, as Vega-Lite or as a picture; perhaps of what would be if."""
    return downloads.figure(
        shelf.look(name), kind, format, theme, constraint=constraint, threshold=threshold
    )


@router.get(
    "/studies/{name}/events",
    tags=["read"],
    summary="Follow a study",
    response_class=StreamingResponse,
    responses=_READ | {200: {"content": {"text/event-stream": {}}}},
)
def events(study: AnyStudy, watch: AnyWatch) -> Response:
    """Send an event `change` whenever something was told, failed, issued or decided."""
    watch.require_room()
    return StreamingResponse(watch.events(study.name), media_type="text/event-stream")


def _numbers(study: Study, metrics: dict[str, Any]) -> dict[str, Any]:
    """Return metrics without `true` and `false`, which are numbers to Python and not to JSON."""
    for name in study.desk.plan.metrics:
        if isinstance(metrics.get(name), bool):
            word = str(metrics[name]).lower()
            raise InputError(f"metric {name!r} = {word} must be a finite number. Write 1 or 0.")
    return metrics


def raw_pulls(study: Study, before: int | None, limit: int) -> dict[str, Any]:
    """Return a page of pulls, the latest first, and where the next page begins."""
    with study.desk.storage.reading(study.name) as ledger:
        end = ledger.head.issued if before is None else min(before - 1, ledger.head.issued)
        found = ledger.pulls_between(max(1, end - limit + 1), end) if end > 0 else []
        pardons = ledger.pardons() if ledger.head.pardons else ()
    void = {number for one in pardons for number in one.void}
    rows = [_raw_pull(study, pull, void) for pull in reversed(found)]
    more = bool(rows) and rows[-1]["pull"] > 1
    return {"pulls": rows, "before": rows[-1]["pull"] if more else None}


def _raw_pull(study: Study, pull: PullFact, void: Container[int]) -> dict[str, Any]:
    metrics = None
    if pull.values is not None:
        metrics = dict(zip(study.desk.plan.metrics, pull.values, strict=True))
    return {
        "pull": pull.number,
        "arm": study.definition.arm_names[pull.arm],
        "round": pull.round,
        "state": "void" if pull.number in void else pull.state.value,
        "lease": pull.lease,
        "metrics": metrics,
        "extras": None if pull.extras is None else dict(pull.extras),
        "cost": pull.cost,
        "error": pull.error,
    }


def _definition(study: Study) -> dict[str, Any]:
    definition = study.definition
    plain = definition.to_dict()
    for inner in ("prices", "pricing"):
        plain.pop(inner, None)
    return plain | {
        "budget": study.desk.plan.in_unit(definition.budget),
        **dict.fromkeys(("price", "price_guess", "price_cap")),
        "unit": PULLS,
        **definition.written_prices,
        "arms": {name: dict(keys) for name, keys in definition.arms.items()},
        "lag": study.lag,
        "created_at": study.created_at,
    }
