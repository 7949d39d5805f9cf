"""Errors as HTTP answers: the message of Python's own error, with the status that fits it.

May touch core's errors.
"""

from collections.abc import Callable, Iterable, Mapping, Sequence
from http import HTTPStatus
from typing import Any, TypeAlias

from starlette.responses import JSONResponse, Response

from ringfence.core.errors import (
    DamagedError,
    InputError,
    LeaseError,
    MissingExtraError,
    MissingStudyError,
    NameTakenError,
    NoAnswerError,
    RingfenceError,
    StorageError,
    ToldOtherwiseError,
    nearest,
)
from ringfence.core.strict import strict_json

MEDIA_TYPE = "application/problem+json"
RETRY_SECONDS = 5
_LONGEST_SHOWN = 60


class NotHereError(RingfenceError):
    """Nothing is at the address, or not yet."""


class BusyError(RingfenceError):
    """Too much is asked for at once: the same call may be made again later."""


_STATUS: Mapping[type[RingfenceError], int] = {  # the first that fits
    DamagedError: 500,
    StorageError: 503,
    MissingStudyError: 404,
    NotHereError: 404,
    NameTakenError: 409,
    LeaseError: 409,
    ToldOtherwiseError: 409,
    InputError: 422,
    NoAnswerError: 422,
    BusyError: 503,
    MissingExtraError: 501,
    RingfenceError: 500,
}

Known: TypeAlias = Callable[[Sequence[int | str]], Iterable[str]]


class StrictJson(JSONResponse):
    """An answer in strict JSON."""

    def render(self, content: Any) -> bytes:
        """Write the document."""
        return strict_json(content).encode()


def problem(status: int, detail: str, headers: Mapping[str, str] | None = None) -> Response:
    """Return an answer that says what is wrong."""
    document = {"status": status, "title": HTTPStatus(status).phrase, "detail": detail}
    return Response(
        strict_json(document), status_code=status, headers=headers, media_type=MEDIA_TYPE
    )


def problem_of(error: RingfenceError) -> Response:
    """Return the answer for an error of ours."""
    status = next(status for kind, status in _STATUS.items() if isinstance(error, kind))
    is_away = status == HTTPStatus.SERVICE_UNAVAILABLE and type(error) is not StorageError
    return problem(status, str(error), {"Retry-After": str(RETRY_SECONDS)} if is_away else None)


def shape_problem(errors: Sequence[Any], known: Known = lambda _: ()) -> Response:
    """Return the answer for a body or a query of the wrong shape: the first complaint.

    `known` tells which keys there are at a place in the body.
    """
    first = next((one for one in errors if one["type"] == "extra_forbidden"), errors[0])
    if first["type"] == "json_invalid":
        return problem(400, f"the body is not JSON: {first['ctx']['error']}. Send JSON.")
    place = [part for part in first["loc"] if part not in ("body", "query", "path")]
    key = "".join(f"[{part}]" if isinstance(part, int) else f".{part}" for part in place)[1:]
    if not key:
        return problem(422, f"the body {first['msg'].lower()}. Send a JSON object.")
    if first["type"] == "extra_forbidden":
        hint = nearest(place[-1], known(place[:-1]))
        return problem(422, f"unknown key {key!r}. Leave it out, or correct it.{hint}")
    if first["type"] == "missing":
        return problem(422, f"{key} is missing. Add it.")
    shown = repr(first.get("input"))[:_LONGEST_SHOWN]
    status = 404 if first["loc"][0] == "path" else 422  # a part of the address: nothing is there
    return problem(status, f"{key} = {shown} is not right: {first['msg']}. Change it.")
