"""Composes the web application: the guard before it, the routes, and what becomes of errors.

May touch every room.
"""

from collections.abc import AsyncIterator, Mapping
from contextlib import asynccontextmanager
from functools import partial
from http import HTTPStatus

from fastapi import FastAPI, Request, Response
from fastapi.exceptions import RequestValidationError
from starlette.exceptions import HTTPException
from starlette.middleware import Middleware
from starlette.middleware.gzip import GZipMiddleware

from ringfence.core.attributes import Functions
from ringfence.core.errors import RingfenceError
from ringfence.interfaces.web import api, managing, pages, shapes, workshop
from ringfence.interfaces.web.assets import address, asset
from ringfence.interfaces.web.door import Door
from ringfence.interfaces.web.guard import Guard
from ringfence.interfaces.web.jobs import Jobs
from ringfence.interfaces.web.lanes import Lanes
from ringfence.interfaces.web.live import Watch
from ringfence.interfaces.web.problems import problem, problem_of, shape_problem
from ringfence.interfaces.web.shelf import Shelf

_ABOUT = """Create studies, ask for pulls, tell what they gave, hear the verdict.

The same rules and words as in Python: errors name key, value, rule and remedy; nothing changes."""

_FOR_EVER = "public, max-age=31536000, immutable"


def make_app(storage: str, door: Door, functions: Mapping[str, Functions] | None = None) -> FastAPI:
    """Return the application over a storage; `functions` are users' own attributes, by study."""
    shelf = Shelf(storage, functions, exists=door.read_only)

    @asynccontextmanager
    async def lifespan(app: FastAPI) -> AsyncIterator[None]:
        app.state.watch, app.state.lanes, app.state.jobs = Watch(shelf), Lanes(), Jobs()
        try:
            yield
        finally:
            app.state.jobs.close()

    from importlib.metadata import version

    app = FastAPI(
        title="ringfence",
        version=version("ringfence"),
        description=_ABOUT,
        docs_url=None,  # its pages load scripts from elsewhere
        redoc_url=None,
        lifespan=lifespan,
        middleware=[Middleware(Guard, door=door), Middleware(GZipMiddleware, minimum_size=1000)],
    )
    app.state.shelf, app.state.door = shelf, door
    app.include_router(api.router)
    app.include_router(pages.router)
    app.include_router(workshop.router)
    app.include_router(managing.router)
    app.add_api_route("/static/{mark}/{name}", _static, include_in_schema=False)
    app.add_exception_handler(RingfenceError, _ours)
    app.add_exception_handler(RequestValidationError, _shape)
    app.add_exception_handler(HTTPException, _plain)
    app.add_exception_handler(Exception, _unforeseen)
    _document(app)
    return app


def _document(app: FastAPI) -> None:
    """Put the shape of errors into the OpenAPI document, in place of FastAPI's own."""
    made = FastAPI.openapi(app)
    schemas = made["components"]["schemas"]
    schemas["Problem"] = shapes.Problem.model_json_schema()
    for unused in ("HTTPValidationError", "ValidationError"):
        schemas.pop(unused, None)
    app.openapi_schema = made


def _static(mark: str, name: str, request: Request) -> Response:
    """Send a file of ours, or the chart library: what an address holds never changes."""
    found = asset(name)
    if found is None or mark not in address(name):
        raise HTTPException(HTTPStatus.NOT_FOUND)
    headers = {"Cache-Control": _FOR_EVER, "ETag": found.etag, "Vary": "Accept-Encoding"}
    if request.headers.get("if-none-match") == found.etag:
        return Response(status_code=304, headers=headers)
    content = found.content
    if found.compressed is not None and "gzip" in request.headers.get("accept-encoding", ""):
        content = found.compressed
        headers["Content-Encoding"] = "gzip"
    return Response(content, media_type=found.media_type, headers=headers)


def _ours(request: Request, error: Exception) -> Response:
    answer = problem_of(error) if isinstance(error, RingfenceError) else problem(500, "failed")
    return _for_people(request, answer, str(error))


def _shape(request: Request, error: Exception) -> Response:
    found = error.errors() if isinstance(error, RequestValidationError) else []
    answer = shape_problem(found, partial(shapes.keys_at, request.scope["endpoint"]))
    return _for_people(request, answer, "The address has a value that cannot be used.")


def _plain(request: Request, error: Exception) -> Response:
    if not isinstance(error, HTTPException):
        return problem(500, "failed")
    detail = {
        HTTPStatus.NOT_FOUND: "There is nothing at this address.",
        HTTPStatus.METHOD_NOT_ALLOWED: f"{request.method} cannot be used at this address.",
        HTTPStatus.BAD_REQUEST: "the body is not JSON that can be read. Send JSON.",
    }.get(HTTPStatus(error.status_code), error.detail)
    return _for_people(request, problem(error.status_code, detail, error.headers), detail)


def _unforeseen(_: Request, __: Exception) -> Response:
    """Answer for a fault of ours; the server's log has the rest."""
    return problem(500, "this is a fault of ringfence: the server's log says more.")


def _for_people(request: Request, answer: Response, detail: str) -> Response:
    """Return an error as a page where a page was asked for."""
    if request.url.path.startswith(("/api/", "/static/", "/openapi.json")):
        return answer
    title = HTTPStatus(answer.status_code).phrase
    page = pages.page("problem.html", code=answer.status_code, title=title, detail=detail)
    for name in ("Allow", "Retry-After"):
        if name in answer.headers:
            page.headers[name] = answer.headers[name]
    return page
