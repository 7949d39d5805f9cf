"""What requests share: the shelf of studies, the watch over them, forms, and who may change what.

May touch the web's own rooms.
"""

from typing import Annotated, TypeAlias
from urllib.parse import parse_qs

from fastapi import Depends, Request

from ringfence.core.errors import InputError
from ringfence.interfaces.studies import Study
from ringfence.interfaces.web.live import Watch
from ringfence.interfaces.web.shelf import Shelf

_FIELDS = 20


def _shelf(request: Request) -> Shelf:
    found: Shelf = request.app.state.shelf
    return found


def _watch(request: Request) -> Watch:
    found: Watch = request.app.state.watch
    return found


AnyShelf: TypeAlias = Annotated[Shelf, Depends(_shelf)]
AnyWatch: TypeAlias = Annotated[Watch, Depends(_watch)]


def _study(name: str, shelf: AnyShelf) -> Study:
    return shelf.study(name)


AnyStudy: TypeAlias = Annotated[Study, Depends(_study)]


def _leave(request: Request) -> dict[str, bool]:
    """Return what a page that changes something says of it: the guard has seen who asks."""
    return {
        "may_compute": request.scope.get("may_compute", False),
        "read_only": request.app.state.door.read_only,
    }


Leave: TypeAlias = Annotated[dict[str, bool], Depends(_leave)]


async def form_of(request: Request) -> dict[str, str]:
    """Return a form's fields, each once."""
    body = (await request.body()).decode("utf-8", "replace")
    try:
        return {key: values[-1] for key, values in parse_qs(body, max_num_fields=_FIELDS).items()}
    except ValueError:
        raise InputError(
            f"the form has more than {_FIELDS} fields. Send those of the page."
        ) from None


Form: TypeAlias = Annotated[dict[str, str], Depends(form_of)]
