"""The OpenAPI document says what the interface does: calls drawn from it, good and bad ones."""

from typing import Any

import pytest
import schemathesis
from hypothesis import HealthCheck, given, settings
from schemathesis import GenerationMode
from schemathesis.checks import not_a_server_error
from schemathesis.specs.openapi import checks

from tests.e2e.serving import Served, create, feed, strict

EXAMPLES = 12
CHECKS = [
    not_a_server_error,
    checks.status_code_conformance,
    checks.content_type_conformance,
    checks.response_headers_conformance,
    checks.response_schema_conformance,
]
# As in the contract: what every write, every call on a study and every question may answer.
WRITES = ("400", "401", "403", "409", "413", "415", "422")
CALLS = {
    ("get", ""), ("post", ""), ("get", "/{name}"), ("get", "/{name}/definition"),
    ("post", "/{name}/ask"), ("post", "/{name}/tell"), ("post", "/{name}/tell-many"),
    ("post", "/{name}/fail"), ("post", "/{name}/lost"), ("post", "/{name}/revive"),
    ("post", "/{name}/extend"), ("post", "/{name}/budget"),
    ("post", "/{name}/stop"), ("post", "/{name}/stop-when"), ("post", "/{name}/resume"),
    ("post", "/{name}/archive"), ("post", "/{name}/unarchive"),
    ("get", "/{name}/recommend"), ("get", "/{name}/explain"), ("get", "/{name}/what-if"),
    ("get", "/{name}/pulls"), ("get", "/{name}/export"), ("get", "/{name}/record"),
    ("get", "/{name}/figures/{kind}"), ("get", "/{name}/events"), ("get", "/{name}/items"),
}  # fmt: skip

# Names are any text, so that only bodies and questions can be of a wrong kind.
ASKING = (
    "/{name}/what-if", "/{name}/pulls", "/{name}/export", "/{name}/figures/{kind}", "/{name}/items",
)  # fmt: skip
DRAWN = [
    *((GenerationMode.POSITIVE, *call) for call in sorted(CALLS - {("get", "/{name}/events")})),
    *((GenerationMode.NEGATIVE, *call) for call in sorted(CALLS) if call[0] == "post"),
    *((GenerationMode.NEGATIVE, "get", rest) for rest in ASKING),
]


@pytest.fixture(scope="module")
def document(served: Served) -> dict[str, Any]:
    found: dict[str, Any] = strict(served.anyone.get("/openapi.json"))
    return found


@pytest.fixture(scope="module")
def study(served: Served) -> str:
    """A study in its midst: told, failed and leased pulls."""
    at = create(served, budget=5000)
    feed(served.client, at, 40)
    strict(served.client.post(f"{at}/ask", json={"n": 20}))
    return at.rpartition("/")[2]


def operations(document: dict[str, Any]) -> list[tuple[str, str, dict[str, Any]]]:
    return [
        (method, path, operation)
        for path, item in document["paths"].items()
        for method, operation in item.items()
        if method in ("get", "post", "put", "patch", "delete")
    ]


def test_the_document_is_sound_and_holds_every_call(document: dict[str, Any]) -> None:
    schemathesis.openapi.from_dict(document).validate()
    assert document["openapi"].startswith("3.")
    found = {(method, path) for method, path, _ in operations(document)}
    assert found == {(method, f"/api/studies{rest}") for method, rest in CALLS}
    identifiers = [operation["operationId"] for *_, operation in operations(document)]
    assert len(set(identifiers)) == len(identifiers)


def test_every_call_is_described_with_its_errors(document: dict[str, Any]) -> None:
    for method, path, operation in operations(document):
        where = f"{method} {path}"
        assert operation["summary"], where
        assert operation["tags"], where
        answers = operation["responses"]
        wanted = {"400", "503"} | ({"404"} if "{name}" in path else set())
        wanted |= set(WRITES) - {"409"} if method == "post" else set()
        assert answers.keys() >= wanted, (where, wanted - answers.keys())
        for status, answer in answers.items():
            assert answer["description"], (where, status)
            if status >= "400":
                assert list(answer["content"]) == ["application/problem+json"], (where, status)
                assert answer["content"]["application/problem+json"]["schema"], (where, status)
        if method == "post":
            assert list(operation["requestBody"]["content"]) == ["application/json"], where
            assert operation["security"], where


def test_writes_are_described_strictly(document: dict[str, Any]) -> None:
    """An unknown key is refused, so that a client made from the document never sends one."""
    for _, path, operation in operations(document):
        if "requestBody" not in operation:
            continue
        schema = operation["requestBody"]["content"]["application/json"]["schema"]
        while "$ref" in schema:
            schema = document["components"]["schemas"][schema["$ref"].rpartition("/")[2]]
        assert schema["additionalProperties"] is False, path


@pytest.mark.parametrize("known", [True, False], ids=["of a study", "of any name"])
@pytest.mark.parametrize(("mode", "method", "rest"), DRAWN)
def test_calls_are_answered_as_described(
    served: Served, document: dict[str, Any], study: str, mode: GenerationMode, method: str,
    rest: str, known: bool,
) -> None:  # fmt: skip
    if not known and "{name}" not in rest:
        return
    loaded = schemathesis.openapi.from_dict(document)
    loaded.config.update(base_url=served.url)
    operation = loaded[f"/api/studies{rest}"][method.upper()]
    fixed = {"name": study} if known and "{name}" in rest else None

    @settings(
        max_examples=EXAMPLES if known else EXAMPLES // 3, derandomize=True, database=None,
        deadline=None, suppress_health_check=list(HealthCheck),
    )  # fmt: skip
    @given(case=operation.as_strategy(generation_mode=mode, path_parameters=fixed))
    def called(case: Any) -> None:
        headers = {"Authorization": f"Bearer {served.token}"}
        case.call_and_validate(base_url=served.url, headers=headers, checks=CHECKS)

    called()
