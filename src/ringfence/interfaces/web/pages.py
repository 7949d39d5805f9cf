"""The pages for people to look at: studies, one study, its pulls, what if. They only read.

May touch every room.
"""

import re
from collections.abc import Sequence
from pathlib import Path
from typing import Annotated, Any
from urllib.parse import quote

from fastapi import APIRouter, Query, Request, Response
from jinja2 import Environment, FileSystemLoader, StrictUndefined
from starlette.responses import HTMLResponse

from ringfence.core.problem import Problem
from ringfence.execution.holders import is_gone, number_of
from ringfence.interfaces.shared_views import kind_shared
from ringfence.interfaces.web import assets
from ringfence.interfaces.web.api import MOST_ROWS, raw_pulls
from ringfence.interfaces.web.door import Door
from ringfence.interfaces.web.guard import admission
from ringfence.interfaces.web.items import items_content
from ringfence.interfaces.web.lanes import LaneRoute, costly
from ringfence.interfaces.web.parts import AnyShelf, AnyStudy, Leave, form_of
from ringfence.interfaces.web.problems import NotHereError
from ringfence.interfaces.web.shelf import Look
from ringfence.reports import verdict as words
from ringfence.reports.accounts import HEADINGS, account_in_words, account_rows, shown_amount
from ringfence.reports.arms_table import brief_chance
from ringfence.reports.cards import cards_of
from ringfence.reports.departures import no_answer, standing
from ringfence.reports.differences import attributes_of, compared_arms
from ringfence.reports.endings import ending_in_words
from ringfence.reports.figures.words import moment
from ringfence.reports.ordering import shown_arms
from ringfence.reports.sharing import shared_in_words
from ringfence.reports.sheet import KIND_WORDS, limits_of
from ringfence.study.accounts import account_on
from ringfence.study.exploring import what_if
from ringfence.study.facts import Round
from ringfence.study.verdict import ArmVerdict

MOST_ARMS = 40
_PAGE_PATH = re.compile(r"/(?:plan|new|paper|jobs/[\w-]+|studies/[\w.%-]+)?(?:\?[\w.=%&+-]*)?")
_PAGE = 50
_WAITING = "Nothing to judge yet: too few pulls were told."
FIGURES = {
    "map": "Deceiver map",
    "timeline": "The course of the study",
    "allocation": "Where the pulls went",
    "evidence": "Evidence against each challenger",
    "differences": "Differences from the answer",
    "items": "Results by item",
    "hours": "The objective by hour",
}

router = APIRouter(
    include_in_schema=False, default_response_class=HTMLResponse, route_class=LaneRoute
)


def quoted(text: str) -> str:
    """Return a text as a part of an address."""
    return quote(text, safe="")


def _environment() -> Environment:
    made = Environment(
        loader=FileSystemLoader(Path(__file__).parent / "templates"),
        autoescape=True,
        undefined=StrictUndefined,
        trim_blocks=True,
        lstrip_blocks=True,
    )
    made.filters["quoted"] = quoted
    made.filters["amount"] = shown_amount
    made.filters["brief"] = lambda value: f"{value:.4g}"
    made.filters["chance"] = brief_chance
    made.filters["interval"] = lambda one, unit: words.interval(one.low, one.high, unit)
    made.filters["moment"] = moment
    made.globals["address"] = assets.address
    made.globals["kind_words"] = KIND_WORDS
    return made


_TEMPLATES = _environment()


def page(template: str, code: int = 200, **content: Any) -> HTMLResponse:
    """Return a page from its template; whatever it shows is text."""
    return HTMLResponse(_TEMPLATES.get_template(template).render(**content), status_code=code)


@router.get("/")
def show_studies(shelf: AnyShelf, leave: Leave, *, archived: bool = False) -> Response:
    """Show all studies, or those that were put away."""
    listed = sorted(shelf.listing(), key=lambda one: -one["created_at"])
    away = [one for one in listed if one["archived_at"] is not None]
    shown = away if archived else [one for one in listed if one["archived_at"] is None]
    return page(
        "studies.html", studies=shown, away=len(away), archived=archived,
        storage=shelf.storage.url, **leave,
    )  # fmt: skip


@router.get("/studies/{name}")
@costly("verdicts")
def show_study(name: str, shelf: AnyShelf, leave: Leave, *, show: str = "some") -> Response:
    """Show one study: the verdict first."""
    content = _study_content(shelf.look(name), every_arm=show == "all")
    return page("study.html", storage=shelf.storage.url, **content, **leave)


@router.get("/studies/{name}/what-if")
@costly("verdicts")
def show_what_if(
    study: AnyStudy,
    shelf: AnyShelf,
    threshold: Annotated[float, Query(allow_inf_nan=False)],
    constraint: Annotated[int, Query(ge=0)] = 0,
) -> Response:
    """Show what the answer would be with another threshold."""
    look = shelf.look(study.name)
    if look.verdict is None:
        raise NotHereError("there is nothing to judge yet: too few pulls were told. Wait.")
    found = what_if(study.desk.plan, look.view, constraint, threshold)
    limit = limits_of(study.desk.plan.problem, found)[constraint]
    fixed = limits_of(study.desk.plan.problem, look.verdict)[constraint]
    return page(
        "what_if.html", look=look, found=found, sentence=words.sentence(found, within=True),
        limit=limit, fixed=fixed,
        threshold=threshold, fixed_sentence=words.sentence(look.verdict, within=True),
    )  # fmt: skip


@router.get("/studies/{name}/pulls")
def show_pulls(
    study: AnyStudy,
    before: Annotated[int | None, Query(ge=1)] = None,
    limit: Annotated[int, Query(ge=1, le=MOST_ROWS)] = _PAGE,
) -> Response:
    """Show raw pulls, the latest first."""
    found = raw_pulls(study, before, limit)
    return page(
        "pulls.html",
        name=study.name,
        metrics=study.desk.plan.metrics,
        pulls=found["pulls"],
        is_latest=before is None,
        earlier=found["before"],
    )


@router.get("/studies/{name}/items")
@costly("verdicts")
def show_items(
    name: str, shelf: AnyShelf, arm: str | None = None, rival: str | None = None
) -> Response:
    """Show what arms did on the items that they share, and what one of two wins of the other."""
    found = items_content(shelf.look(name), arm, rival)
    return page("items.html", **found, figures=FIGURES)


@router.get("/token")
def show_token_form(*, wrong: bool = False, needed: bool = False, next: str = "/") -> Response:  # noqa: A002 - a word of the address
    """Ask for the token; `next` is the page to go on to."""
    code = 401 if wrong or needed else 200
    return page("token.html", code=code, wrong=wrong, next=_own_page(next))


@router.post("/token")
async def take_token(request: Request) -> Response:
    """Let a browser in that has the token."""
    form = await form_of(request)
    door: Door = request.app.state.door
    onward = _own_page(form.get("next", "/"))
    if door.is_token(form.get("token", "")):
        return admission(door, onward)
    return show_token_form(wrong=True, next=onward)


def _own_page(path: str) -> str:
    return path if _PAGE_PATH.fullmatch(path) else "/"


def _study_content(look: Look, *, every_arm: bool) -> dict[str, Any]:
    plan, verdict = look.study.desk.plan, look.verdict
    content = {
        "name": look.study.name,
        "definition": look.study.definition,
        "created_at": look.study.created_at,
        "version": look.pulse,
        "status": look.status,
        "verdict": verdict,
        "figures": FIGURES,
        "metrics": plan.told_metrics,
        "waits": _waits(look),
        "failures": look.failures,
        "can_be_planned": look.can_be_planned,
        "most_arms": MOST_ARMS,
        "every_arm": every_arm,
        "shared": kind_shared(plan),
        "shares": shared_in_words(plan.sharing.plain()),
        "account": _account(look),
        "endings": ending_in_words(
            plan, look.view, account_on(plan, look.view), look.status.blocks
        ),
    }
    if verdict is None:
        is_over = look.status.finished
        return content | {"waiting": no_answer(plan, look.view) if is_over else _WAITING}
    shown = shown_arms(verdict, len(verdict.arms) if every_arm else MOST_ARMS)
    compared = compared_arms(verdict, shown)
    return content | {
        "sentence": words.sentence(verdict),
        "findings": words.findings(verdict),
        "cautions": words.cautions(verdict),
        "arms": shown,
        "attributes": list(dict.fromkeys(name for arm in shown for name in arm.estimates)),
        "chances": _chances(plan.problem, shown, compared),
        "left_out": len(verdict.arms) - len(shown),
        "limits": limits_of(plan.problem, verdict),
        "cards": cards_of(plan, verdict, _decisive(look, shown), [arm.name for arm in shown]),
        "standing": standing,
        "shown": words.shown,
    }


def _account(look: Look) -> dict[str, Any] | None:
    """Return what became of a budget in which pulls have a price."""
    found = account_on(look.study.desk.plan, look.view)
    if not found.arms:
        return None
    rows = account_rows(found.arms)
    return {"sentence": account_in_words(found), "headings": HEADINGS, "rows": rows}


def _chances(
    problem: Problem, shown: Sequence[ArmVerdict], compared: Sequence[ArmVerdict]
) -> dict[str, Any]:
    """Return how likely each arm is the answer, and how far it is from it by every attribute."""
    names = attributes_of(compared)
    rows = []
    for arm in shown:
        apart = [(problem.unit(name), arm.differences.get(name)) for name in names]
        rows.append({
            "arm": arm,
            "apart": [
                None if one is None else (unit.show(one.value, 3, sign="+"), one, unit)
                for unit, one in apart
            ],
        })  # fmt: skip
    return {"names": names, "rows": rows}


def _waits(look: Look) -> list[dict[str, Any]]:
    """Return who holds the pulls that the next decision waits for."""
    if look.status.issued == 0:
        return []
    found = []
    for one in look.study.desk.waits_for():
        number = None if one.holder is None else number_of(one.holder)
        gone = one.holder is not None and is_gone(one.holder)
        who = "a worker that does not say who it is" if number is None else f"process {number}"
        if one.until is None:
            who = "nobody; whoever asks next is given them"
        found.append({"who": f"{who}, which is gone" if gone else who, **vars(one)})
    return found


def _decisive(look: Look, shown: Sequence[ArmVerdict]) -> list[Round]:
    """Return the rounds at whose beginning the shown arms left."""
    names = {arm.name for arm in shown}
    arm_names = look.study.definition.arm_names
    numbers = {
        departure.round
        for departure in look.view.departures
        if arm_names[departure.rejection.arm] in names
    }
    with look.study.desk.storage.reading(look.study.name) as ledger:
        return [ledger.round(number) for number in sorted(numbers)]
