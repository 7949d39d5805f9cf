"""The pages of the planner and of the paper: they begin work, and show what came of it.

May touch every room.
"""

from typing import Any, Literal
from urllib.parse import parse_qs

from fastapi import APIRouter, Request, Response
from starlette.responses import HTMLResponse, RedirectResponse

from ringfence.core.errors import InputError
from ringfence.interfaces.web.jobs import (
    MOST_REPLICATIONS,
    Job,
    Jobs,
    pasted_instance,
    planning,
    reproduction,
)
from ringfence.interfaces.web.pages import page
from ringfence.interfaces.web.parts import AnyShelf
from ringfence.interfaces.web.problems import NotHereError
from ringfence.policies.registry import POLICIES
from ringfence.simulation.instance import PAPER_INSTANCES, Instance
from ringfence.simulation.planning import whole_target

_REPLICATIONS = 20_000
_EXAMPLE = """objective = "maximize mean(score)"
constraints = ["mean(latency_ms) <= 200"]
metrics = ["score", "latency_ms"]

[noise]
family = "gaussian"
covariance = [[0.04, 0.0], [0.0, 900.0]]

[arms]
small = { mean = [0.70, 120.0] }
medium = { mean = [0.76, 185.0] }
large = { mean = [0.81, 240.0] }
"""

router = APIRouter(include_in_schema=False, default_response_class=HTMLResponse)


def _jobs(request: Request) -> Jobs:
    found: Jobs = request.app.state.jobs
    return found


@router.get("/plan")
def show_planner(shelf: AnyShelf, study: str = "") -> Response:
    """Ask what is to be planned."""
    return _planner(shelf.names(), {"study": study})


@router.post("/plan")
async def begin_plan(request: Request, shelf: AnyShelf) -> Response:
    """Begin to plan."""
    form = await _form(request)
    try:
        source: Any = form.get("source", "")
        if source == "text":
            source = Instance.from_dict(pasted_instance(form.get("text", "")), name="your instance")
        elif source.startswith("study:"):
            source = shelf.study(source.removeprefix("study:"))
        elif source not in PAPER_INSTANCES:
            raise InputError(f"source = {source!r} is unknown. Choose one of the list.")
        policy = form.get("policy") or None
        if policy is not None and policy not in {one.name for one in POLICIES}:
            raise InputError(f"policy = {policy!r} is unknown. Choose one of the list.")
        target = _target(form.get("target", ""))
        work = planning(source, policy, target, brief="brief" in form)
        name = getattr(source, "name", source)
        job = _jobs(request).begin("plan", f"Plan for {name} at an error of {target:g}", work)
    except InputError as error:
        return _planner(shelf.names(), form, problem=str(error))
    return RedirectResponse(f"/jobs/{job.key}", 303)


@router.get("/paper")
def show_paper(request: Request) -> Response:
    """Show the paper's panels if they were drawn, and how to draw them."""
    return page("paper.html", job=_jobs(request).latest("paper"), replications=_REPLICATIONS)


@router.post("/paper")
async def begin_paper(request: Request) -> Response:
    """Begin to draw the paper's panels."""
    text = (await _form(request)).get("replications", "")
    if not text.isdecimal() or not 1 <= int(text) <= MOST_REPLICATIONS:
        raise InputError(
            f"replications = {text!r} must be a whole number from 1 to {MOST_REPLICATIONS}."
        )
    job = _jobs(request).begin("paper", "The paper's four panels", reproduction(int(text)))
    return RedirectResponse(f"/jobs/{job.key}", 303)


@router.get("/jobs/{key}")
def show_job(key: str, request: Request) -> Response:
    """Show how far work is, or what came of it."""
    job = _jobs(request).find(key)
    if job.kind == "paper" and job.result is not None:
        return page("paper.html", job=job, replications=_REPLICATIONS)
    return page("job.html", job=job, plan=_plan_content(job))


@router.get("/jobs/{key}/figure")
def show_figure(
    key: str, request: Request, theme: Literal["light", "dark", "print"] = "light",
    format: Literal["json", "svg", "png", "pdf"] = "json",  # noqa: A002 - a word of the interface
) -> Response:  # fmt: skip
    """Draw what came of work."""
    from ringfence.interfaces.web.downloads import plain_figure
    from ringfence.reports import charts

    job = _jobs(request).find(key)
    if job.result is None:
        raise NotHereError("this work has no result yet. Wait for it.")
    chart = (
        charts.paper_figure(job.result)
        if job.kind == "paper"
        else charts.plan_figure(job.result.to_dict())
    )
    return plain_figure(chart, format, theme)


def _planner(names: list[str], form: dict[str, str], problem: str | None = None) -> Response:
    wanted = form.get("source") or (f"study:{form['study']}" if form.get("study") else "paper-3")
    return page(
        "plan.html",
        code=200 if problem is None else 422,
        instances=PAPER_INSTANCES,
        names=names,
        policies=[policy.name for policy in POLICIES],
        wanted=wanted,
        policy=form.get("policy", ""),
        target=form.get("target", "0.01"),
        brief="brief" in form,
        text=form.get("text") or _EXAMPLE,
        problem=problem,
    )


def _plan_content(job: Job) -> dict[str, Any] | None:
    if job.result is None:
        return None
    document: dict[str, Any] = job.result.to_dict()
    return document


def _target(text: str) -> float:
    try:
        return whole_target(float(text))
    except ValueError as error:
        if isinstance(error, InputError):
            raise
        raise InputError(f"target = {text!r} must be a number, such as 0.01. Mend it.") from None


async def _form(request: Request) -> dict[str, str]:
    """Return a form's fields, each once."""
    body = (await request.body()).decode("utf-8", "replace")
    return {key: values[-1] for key, values in parse_qs(body).items()}
