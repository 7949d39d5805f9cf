"""The pages of the planner and of the paper: they begin work, and show what came of it.

May touch every room.
"""

import math
from typing import Annotated, Any, Literal, TypeAlias
from urllib.parse import quote

from fastapi import APIRouter, Depends, Request, Response
from starlette.responses import HTMLResponse, RedirectResponse

from ringfence.core.errors import InputError
from ringfence.interfaces.web.jobs import Job, Jobs
from ringfence.interfaces.web.lanes import LaneRoute, costly
from ringfence.interfaces.web.pages import page
from ringfence.interfaces.web.parts import AnyShelf, Form, Leave
from ringfence.interfaces.web.problems import BusyError, NotHereError
from ringfence.interfaces.web.work import (
    MOST_REPLICATIONS,
    NamedSource,
    Planning,
    Reproduction,
    TextSource,
    require_short,
)
from ringfence.policies.registry import POLICIES
from ringfence.simulation.instance import PAPER_INSTANCES

_REPLICATIONS = 20_000
_MOST_DIGITS = 9
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

router = APIRouter(
    include_in_schema=False, default_response_class=HTMLResponse, route_class=LaneRoute
)


def _jobs(request: Request) -> Jobs:
    found: Jobs = request.app.state.jobs
    return found


AnyJobs: TypeAlias = Annotated[Jobs, Depends(_jobs)]


@router.get("/plan")
def show_planner(shelf: AnyShelf, leave: Leave, study: str = "") -> Response:
    """Ask what is to be planned."""
    return _planner(shelf.names(), {"study": study}, leave)


@router.post("/plan")
def begin_plan(form: Form, shelf: AnyShelf, jobs: AnyJobs, leave: Leave) -> Response:
    """Begin to plan; what was typed in is read by the process that plans."""
    try:
        name = form.get("source", "")
        if name == "text":
            require_short(form.get("text", ""))
            source: Any = TextSource(form.get("text", ""))
            name = "your instance"
        elif name.startswith("study:"):
            source = shelf.source(name.removeprefix("study:"))
            name = source.name
        elif name in PAPER_INSTANCES:
            source = NamedSource(name)
        else:
            raise InputError(f"source = {name[:200]!r} is unknown. Choose one of the list.")
        policy = form.get("policy") or None
        if policy is not None and policy not in {one.name for one in POLICIES}:
            raise InputError(f"policy = {policy[:200]!r} is unknown. Choose one of the list.")
        target = _target(form.get("target", ""))
        work = Planning(source, policy, target, brief="brief" in form)
        job = jobs.begin("plan", f"Plan for {name} at an error of {target:g}", work, form)
    except (InputError, BusyError) as error:
        code = 503 if isinstance(error, BusyError) else 422
        return _planner(shelf.names(), form, leave, problem=str(error), code=code)
    return RedirectResponse(f"/jobs/{job.key}", 303)


@router.get("/paper")
def show_paper(jobs: AnyJobs, leave: Leave) -> Response:
    """Show the paper's panels if they were drawn, and how to draw them."""
    return page("paper.html", job=jobs.latest("paper"), replications=_REPLICATIONS, **leave)


@router.post("/paper")
def begin_paper(form: Form, jobs: AnyJobs) -> Response:
    """Begin to draw the paper's panels."""
    text = form.get("replications", "")
    is_whole = text.isdecimal() and len(text) <= _MOST_DIGITS
    if not is_whole or not 1 <= int(text) <= MOST_REPLICATIONS:
        raise InputError(
            f"replications = {text[:200]!r} must be a whole number from 1 to {MOST_REPLICATIONS}."
        )
    job = jobs.begin("paper", "The paper's four panels", Reproduction(int(text)), form)
    return RedirectResponse(f"/jobs/{job.key}", 303)


@router.get("/jobs/{key}")
def show_job(key: str, shelf: AnyShelf, jobs: AnyJobs, leave: Leave) -> Response:
    """Show how far work is, or what came of it."""
    job = jobs.find(key)
    if job.kind == "paper" and job.result is not None:
        return page("paper.html", job=job, replications=_REPLICATIONS, **leave)
    if job.kind == "plan" and job.problem is not None:
        return _planner(shelf.names(), dict(job.form), leave, problem=job.problem)
    return page("job.html", job=job, plan=_plan_content(job))


@router.post("/jobs/{key}/stop")
def stop_job(key: str, jobs: AnyJobs) -> Response:
    """End work that is no longer wanted."""
    return RedirectResponse(f"/jobs/{jobs.stop(key).key}", 303)


@router.get("/jobs/{key}/figure")
@costly("documents")
def show_figure(
    key: str, jobs: AnyJobs, theme: Literal["light", "dark", "print"] = "light",
    format: Literal["json", "svg", "png", "pdf"] = "json",  # noqa: A002 - a word of the interface
) -> Response:  # fmt: skip
    """Draw what came of work."""
    from ringfence.interfaces.web.downloads import plain_figure
    from ringfence.reports import charts

    job = jobs.find(key)
    if job.result is None:
        raise NotHereError("this work has no result yet. Wait for it.")
    chart = (
        charts.paper_figure(job.result)
        if job.kind == "paper"
        else charts.plan_figure(job.result.to_dict())
    )
    return plain_figure(chart, format, theme)


def _planner(
    names: list[str], form: dict[str, str], leave: dict[str, bool], problem: str | None = None,
    code: int = 200,
) -> Response:  # fmt: skip
    wanted = form.get("source") or (f"study:{form['study']}" if form.get("study") else "paper-3")
    return page(
        "plan.html",
        code=code,
        instances=PAPER_INSTANCES,
        names=names,
        policies=[policy.name for policy in POLICIES],
        wanted=wanted,
        policy=form.get("policy", ""),
        target=form.get("target", "0.01"),
        brief="brief" in form,
        text=form.get("text") or _EXAMPLE,
        problem=problem,
        onward=f"/plan?study={quote(form['study'])}" if form.get("study") else "/plan",
        **leave,
    )


def _plan_content(job: Job) -> dict[str, Any] | None:
    if job.result is None:
        return None
    document: dict[str, Any] = job.result.to_dict()
    return document


def _target(text: str) -> float:
    try:
        target = float(text)
    except ValueError:
        target = math.nan
    if not 0.0 < target < 1.0:
        raise InputError(f"target = {text[:200]!r} must be a number from 0 to 1, such as 0.01.")
    return target
