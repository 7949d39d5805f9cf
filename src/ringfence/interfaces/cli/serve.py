"""`ringfence serve`: the live page and the HTTP interface. May touch the web's rooms."""

import os
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from importlib.util import find_spec
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any
from urllib.parse import quote

import typer

from ringfence.core.errors import InputError, MissingExtraError
from ringfence.interfaces.cli import output
from ringfence.interfaces.cli.options import Json
from ringfence.interfaces.web.door import TOKEN_VARIABLE

if TYPE_CHECKING:
    from ringfence.core.attributes import Functions

_MOST_PORT = 65_535
_USUAL = "sqlite:///ringfence.db"


def serve(
    study: Annotated[
        str | None,
        typer.Argument(metavar="[STUDY]", help="A study file (.toml), or a database file."),
    ] = None,
    *,
    storage: Annotated[
        str | None,
        typer.Option("--storage", help="The studies to show: sqlite:/// or postgresql://."),
    ] = None,
    host: Annotated[str, typer.Option("--host", help="Where to listen.")] = "127.0.0.1",
    port: Annotated[
        int, typer.Option("--port", min=0, max=_MOST_PORT, help="0 takes a free one.")
    ] = 8765,
    token: Annotated[
        str | None,
        typer.Option("--token", help="What writes need; better set by RINGFENCE_TOKEN."),
    ] = None,
    allow_host: Annotated[
        list[str] | None, typer.Option("--allow-host", help="A further name of this server.")
    ] = None,
    read_only: Annotated[bool, typer.Option("--read-only", help="Refuse every write.")] = False,
    open_page: Annotated[bool, typer.Option("--open", help="Open the page in a browser.")] = False,
    json: Json = False,
) -> None:
    """Show studies on a live page, and let programs ask and tell over HTTP."""
    server, door_kind = _web()
    given = token or os.environ.get(TOKEN_VARIABLE) or None
    door = door_kind.of(host, token=given, names=tuple(allow_host or ()), read_only=read_only)
    place, functions = _place(study, storage)
    ready = server.make_server(place, door, functions)
    listening = server.listen(host, port)
    page = server.address_of(listening, host)
    shown = None if given is not None or read_only else door.token
    if json:
        output.print_line({"page": page, "token": shown})
    else:
        output.say(f"page:  {page}")
        held = shown or ("as given" if token else f"from {TOKEN_VARIABLE}")
        output.say(f"token: {_needed(held, door)}")
    sys.stdout.flush()
    if open_page:
        _show(page)
    ready.run(sockets=[listening])


def _needed(token: str, door: Any) -> str:
    """Return which token is needed, and for what where that is not writing."""
    if not door.read_only:
        return token
    if not door.guards_pages:
        return "none needed: this server is read-only"
    return f"{token}; reading needs it at this address, and writing is refused: it is read-only"


def _place(study: str | None, storage: str | None) -> tuple[str, "dict[str, Functions]"]:
    """Return the storage to show, and the attributes of a study file's own."""
    if study is None:
        return storage or _USUAL, {}
    path = Path(study)
    if path.suffix == ".toml":
        from ringfence.interfaces.study_file import read_study_file

        file = read_study_file(path)
        return storage or file.storage, {file.content.name: file.functions}
    if storage is None and not path.exists():
        raise InputError(
            f"study = {study!r} does not exist. Give a study file (.toml), or a database file."
        )
    if storage is not None or not path.is_file():
        raise InputError(
            f"study = {study!r} must be a study file (.toml), or a database file. "
            "Give one of them, a database file without --storage."
        )
    return f"sqlite:///{path}", {}


@contextmanager
def page_beside(storage: str, name: str, functions: Any) -> Iterator[None]:
    """Show a study's page, read-only, while the block runs."""
    server, door = _web()
    with server.served(storage, door.of(read_only=True), {name: functions}) as address:
        page = f"{address}studies/{quote(name, safe='')}"
        sys.stderr.write(f"page: {page}\n")
        sys.stderr.flush()
        _show(page)
        yield


def _show(page: str) -> None:
    """Open a page in the reader's browser, where there is one."""
    import webbrowser

    webbrowser.open(page)


def require_web() -> None:
    """Refuse to go on where the page cannot be shown, before the work that leads to it."""
    _web()


def _web() -> Any:
    if not all(map(find_spec, ("fastapi", "uvicorn", "jinja2", "vl_convert", "altair"))):
        raise MissingExtraError("The page", "web")
    from ringfence.interfaces.web import server
    from ringfence.interfaces.web.door import Door

    return server, Door
