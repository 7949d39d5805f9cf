"""A model server faked on loopback, with the interface that many tools speak.

It answers sums. `exact` is right, `hasty` is wrong where the sum is a multiple of 3; a model with
`flaky` in its name has its first requests refused (429), one with `down` all of them (503), and one
with `slow` takes half a minute. `GET /` says how often each was asked.
"""

import json
import re
import sys
import threading
import time
from contextlib import suppress
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any

SLOW_SECONDS = 30.0
REFUSED = 4  # more than a client tries by itself


class ModelServer(ThreadingHTTPServer):
    """Counts the requests of each model."""

    daemon_threads = True

    def __init__(self, port: int = 0) -> None:
        super().__init__(("127.0.0.1", port), Handler)
        self.lock = threading.Lock()
        self.asked: dict[str, int] = {}

    @property
    def url(self) -> str:
        """Where models are asked."""
        return f"http://127.0.0.1:{self.server_address[1]}/v1"


def answer_to(model: str, text: str) -> str:
    """Return the answer of a model to the last sum in a text."""
    found = re.findall(r"(\d+)\s*\+\s*(\d+)", text)
    if not found:
        return "no sum"
    total = sum(map(int, found[-1]))
    return str(total + ("hasty" in model and total % 3 == 0))


class Handler(BaseHTTPRequestHandler):
    """One request."""

    protocol_version = "HTTP/1.1"
    server: ModelServer

    def log_message(self, format: str, *args: Any) -> None:  # noqa: A002 - as it is called there
        """Say nothing."""

    def do_POST(self) -> None:
        """Answer as a chat model."""
        asked = json.loads(self.rfile.read(int(self.headers["content-length"])))
        model = asked["model"]
        with self.server.lock:
            self.server.asked[model] = count = self.server.asked.get(model, 0) + 1
        if "down" in model:
            self.say(503, {"error": {"message": "down"}})
            return
        if "flaky" in model and count <= REFUSED:
            self.say(429, {"error": {"message": "too many"}}, {"Retry-After": "0"})
            return
        if "slow" in model:
            time.sleep(SLOW_SECONDS)
        last = asked["messages"][-1]["content"]
        text = last if isinstance(last, str) else " ".join(part.get("text", "") for part in last)
        said = answer_to(model, text)
        usage = {"prompt_tokens": len(text.split()), "completion_tokens": len(said)}
        usage["total_tokens"] = sum(usage.values())
        message = {"role": "assistant", "content": said}
        choice = {"index": 0, "finish_reason": "stop", "message": message}
        body = {"id": "x", "object": "chat.completion", "created": 1, "model": model}
        self.say(200, {**body, "choices": [choice], "usage": usage})

    def do_GET(self) -> None:
        """Say how often each model was asked."""
        self.say(200, self.server.asked)

    def say(self, code: int, body: Any, headers: dict[str, str] | None = None) -> None:
        """Send JSON."""
        content = json.dumps(body).encode()
        self.send_response(code)
        self.send_header("content-type", "application/json")
        self.send_header("content-length", str(len(content)))
        for key, value in (headers or {}).items():
            self.send_header(key, value)
        self.end_headers()
        with suppress(ConnectionError):  # who asked has given up
            self.wfile.write(content)


if __name__ == "__main__":
    ModelServer(int(sys.argv[1])).serve_forever()
