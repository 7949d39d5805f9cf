"""What requests share: the shelf of studies, the watch over them, the page's templates.

May touch the web's own rooms.
"""

from typing import Annotated, TypeAlias

from fastapi import Depends, Request

from ringfence.interfaces.studies import Study
from ringfence.interfaces.web.live import Watch
from ringfence.interfaces.web.shelf import Shelf


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
