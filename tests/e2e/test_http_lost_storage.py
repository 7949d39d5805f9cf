"""A server whose database file is lost says so, and acknowledges nothing; put back, it goes on."""

from pathlib import Path

from tests.e2e.serving import create, feed, refused, reported, serve, strict

WORDS = ("was deleted or moved", "may not be kept: say it again")


def test_a_server_acknowledges_nothing_in_a_file_that_was_moved(tmp_path: Path) -> None:
    file, aside = tmp_path / "studies.db", tmp_path / "aside.db"
    with serve(f"sqlite:///{file}", tmp_path / "served") as running:
        client = running.client
        at = create(running, "kept")
        feed(client, at, 8)
        held, other = strict(client.post(f"{at}/ask", json={"n": 2}))["pulls"]
        file.rename(aside)
        for path, body in (
            ("tell", reported(held)),
            ("fail", {"pull": held["pull"], "lease": held["lease"]}),
            ("ask", {"n": 1}),
            ("budget", {"budget": 99}),
        ):
            answer = client.post(f"{at}/{path}", json=body)
            refused(answer, 503, *WORDS)
            assert "Retry-After" not in answer.headers, "it does not come back by itself"
        refused(client.get(at), 503, *WORDS)
        refused(client.post("/api/studies", json={**_body(), "name": "fresh"}), 503, *WORDS)
        assert client.get("/").status_code == 503
        assert not file.exists()
        aside.rename(file)
        assert strict(client.post(f"{at}/tell", json=reported(other)))["status"] == "told"
        assert strict(client.get(at))["told"] == 9


def _body() -> dict[str, object]:
    return {
        "objective": "maximize mean(score)",
        "constraints": ["mean(latency_ms) <= 200"],
        "arms": ["plain", "warm"],
        "budget": 60,
    }
