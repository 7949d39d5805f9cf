"""Bodies of requests, read as strictly as all JSON is. May touch core."""

from collections.abc import Callable, Coroutine
from typing import Any

from fastapi import HTTPException, Request, Response
from fastapi.routing import APIRoute

from ringfence.core.errors import InputError
from ringfence.core.strict import read_json


class _StrictRequest(Request):
    async def json(self) -> Any:
        try:
            return read_json(await self.body())
        except InputError as error:  # FastAPI would forget what any other error says
            raise HTTPException(422, str(error)) from None


class StrictRoute(APIRoute):
    """A route whose body may not have a key twice."""

    def get_route_handler(self) -> Callable[[Request], Coroutine[Any, Any, Response]]:
        """Return what answers a request."""
        answer = super().get_route_handler()

        async def answer_strictly(request: Request) -> Response:
            return await answer(_StrictRequest(request.scope, request.receive))

        return answer_strictly
