"""The pages that create studies, stop them and put them away: for who has the token.

The guard has refused everybody else, and forms of other origins. What is right is decided where
Python decides it. May touch every room.
"""

from collections.abc import Callable
from typing import Any, Literal

from fastapi import APIRouter, Response
from starlette.responses import HTMLResponse, RedirectResponse

from ringfence.core.errors import InputError, NameTakenError
from ringfence.core.questions import QUESTIONS
from ringfence.interfaces.studies import Study
from ringfence.interfaces.web.lanes import LaneRoute
from ringfence.interfaces.web.pages import page, quoted
from ringfence.interfaces.web.parts import AnyShelf, AnyStudy, Form, Leave
from ringfence.policies.registry import POLICIES

_EXAMPLE = {
    "objective": "maximize mean(score)",
    "limits": "p95(latency_ms) <= 200",
    "budget": "600",
}
_ACTS: dict[str, Callable[[Study], str]] = {
    "stop": Study.stop,
    "resume": Study.resume,
    "archive": Study.archive,
    "unarchive": Study.unarchive,
}

router = APIRouter(
    include_in_schema=False, default_response_class=HTMLResponse, route_class=LaneRoute
)


@router.get("/new")
def show_form(leave: Leave) -> Response:
    """Ask what a study is to be about."""
    return _form(_EXAMPLE, leave)


@router.post("/new")
def create(form: Form, shelf: AnyShelf, leave: Leave) -> Response:
    """Create a study; it is on disk when its page is shown."""
    try:
        made = Study.create(storage=shelf.storage, **_wanted(form))
    except InputError as error:
        code = 409 if isinstance(error, NameTakenError) else 422
        return _form(form, leave, problem=str(error), code=code)
    return RedirectResponse(f"/studies/{quoted(made.name)}", 303)


@router.post("/studies/{name}/{act}")
def act_on(
    act: Literal["stop", "resume", "archive", "unarchive"], study: AnyStudy, form: Form
) -> Response:
    """Stop a study, have it go on, put it away or list it again."""
    _ACTS[act](study)
    stays = form.get("from") == "study" and act != "archive"
    return RedirectResponse(f"/studies/{quoted(study.name)}" if stays else "/", 303)


def _wanted(form: dict[str, str]) -> dict[str, Any]:
    """Return what a form says of a study, without what it leaves empty."""
    found: dict[str, Any] = {
        "name": form.get("name", "").strip(),
        "arms": _lines(form.get("arms", "")),
        "objective": form.get("objective", "").strip(),
        "constraints": _lines(form.get("limits", "")),
        "budget": _number("budget", form.get("budget", "")),
    }
    for key in ("policy", "answer", "baseline"):
        if text := form.get(key, "").strip():
            found[key] = text
    if text := form.get("seed", "").strip():
        found["seed"] = _number("seed", text)
    return found


def _lines(text: str) -> list[str]:
    return [line.strip() for line in text.splitlines() if line.strip()]


def _number(key: str, text: str) -> int:
    plain = text.strip().replace(",", "")
    if not plain.isdecimal() or len(plain) > 18:
        raise InputError(f"{key} = {text[:60]!r} must be a whole number. Write digits.")
    return int(plain)


def _form(
    form: dict[str, str], leave: dict[str, bool], problem: str | None = None, code: int = 200
) -> Response:
    keys = ("name", "arms", "objective", "limits", "budget", "policy", "answer", "baseline", "seed")
    return page(
        "new.html",
        code=code,
        form={key: form.get(key, "") for key in keys},
        policies=[policy.name for policy in POLICIES],
        answers=[question.name for question in QUESTIONS],
        problem=problem,
        onward="/new",
        **leave,
    )
