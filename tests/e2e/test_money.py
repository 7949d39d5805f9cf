"""Budgets with a unit from the command line and over HTTP, as users say and see them."""

import sys
from pathlib import Path

import pytest

from tests.e2e.command_line import ringfence
from tests.e2e.serving import Served, body_of, new_name, refused, strict

FLAGS = ("--arms", "a,b", "--objective", "maximize mean(x)", "--constraint", "mean(y) <= 2")
COSTLY = """\
import json, random, sys
arm, seed = sys.argv[1], int(sys.argv[2])
chance = random.Random(seed)
told = {"x": chance.gauss({"a": 1.0, "b": 1.3}[arm], 0.2), "y": 1.0, "usd": 0.05}
if chance.random() < 0.1:
    print(json.dumps({"usd": 0.02}))
    sys.exit("no answer")
print(json.dumps(told))
"""
STUDY = f"""\
name = "paid"
objective = "maximize mean(x)"
constraints = ["mean(y) <= 2"]
budget = "3 USD"
price = "usd"
price_cap = {{ a = 0.05, b = "0.1 USD" }}
arms = ["a", "b"]
seed = 5
[pull]
command = [{sys.executable!r}, "-IS", "evaluate.py", "{{arm}}", "{{seed}}"]
"""


def test_a_study_file_spends_money(tmp_path: Path) -> None:
    """To its end, with failures that cost less, a larger budget, and every view of it."""
    file = tmp_path / "paid.toml"
    file.write_text(STUDY, encoding="utf-8")
    (tmp_path / "evaluate.py").write_text(COSTLY, encoding="utf-8")
    done = ringfence("run", file, "--workers", "2", "--json")
    assert done.code in (0, 4)  # perhaps too close to call: some pulls failed
    verdict = done.document
    assert (verdict["unit"], verdict["budget"]) == ("USD", 3.0)
    assert verdict["spent"] + verdict["left"] == pytest.approx(3.0, abs=1e-12)
    status = ringfence("status", file, "--json").document
    assert status["failed"] > 0
    assert status["spent"] == pytest.approx(0.05 * status["told"] + 0.02 * status["failed"])
    assert [one["name"] for one in status["accounts"]] == ["a", "b"]
    assert status["accounts"] == verdict["accounts"]
    shown = ringfence("status", file).out
    assert "of 3 USD spent, 0 reserved for pulls in flight" in shown
    assert "dearest pull" in shown

    file.write_text(STUDY.replace("3 USD", "3.5 USD"), encoding="utf-8")
    raised = ringfence("run", file, "--workers", "2", "--record", tmp_path / "r.html")
    assert "of 3.50 USD" in raised.out
    assert "<h2>What was spent</h2>" in (tmp_path / "r.html").read_text(encoding="utf-8")
    assert "of 3.5 USD; every decision is the same" in ringfence("doctor", file).out
    file.write_text(STUDY.replace("3 USD", "4 EUR"), encoding="utf-8")
    assert "price_cap.b" in ringfence("run", file).err
    file.write_text(STUDY.replace("3 USD", "2 USD"), encoding="utf-8")
    assert "A budget can only rise" in ringfence("run", file).err


@pytest.mark.parametrize(
    ("flags", "written"),
    [
        (("--price", "a=0.03,b=1.1"), 'price = { "a" = 0.03, "b" = 1.1 }'),
        (("--price", "cost", "--price-cap", "2"), 'price = "cost"\nprice_cap = 2'),
    ],
)
def test_init_writes_a_budget_in_money(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, flags: tuple[str, ...], written: str
) -> None:
    monkeypatch.chdir(tmp_path)
    file = f"{flags[1][:1]}.toml"  # each with a module of its own
    assert ringfence("init", file, *FLAGS, "--budget", "20 USD", *flags).code == 0
    text = (tmp_path / file).read_text(encoding="utf-8")
    assert 'budget = "20 USD"' in text
    assert written in text
    assert ringfence("run", file, "--json").document["unit"] == "USD"


def test_init_refuses_a_budget_in_money_without_a_price(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    done = ringfence("init", "m.toml", *FLAGS, "--budget", "20 USD")
    assert (done.code, list(tmp_path.iterdir())) == (2, [])
    assert "needs the price of a pull" in done.err


def test_money_over_http(served: Served) -> None:
    client, name = served.client, new_name()
    body = body_of(name, policy="uniform", budget="5 USD", price="usd", price_guess=0.25)
    definition = strict(client.post("/api/studies", json=body), 201)
    assert (definition["budget"], definition["unit"], definition["price"]) == (5.0, "USD", "usd")
    assert set(definition["price_guess"].values()) == {0.25}
    assert definition["price_cap"] is None
    at = f"/api/studies/{name}"
    first, second = strict(client.post(f"{at}/ask", json={"n": 2}))["pulls"]
    status = strict(client.get(at))
    assert (status["unit"], status["spent"], status["reserved"], status["left"]) == (
        *("USD", 0.0), *(2.5, 2.5),
    )  # fmt: skip
    metrics = {"score": 1.0, "latency_ms": 90.0}
    told = {"pull": first["pull"], "lease": first["lease"], "metrics": metrics}
    refused(client.post(f"{at}/tell", json=told), 422, "metric 'usd' is missing")
    told["metrics"] = metrics | {"usd": -1.0}
    refused(client.post(f"{at}/tell", json=told), 422, "must be 0 or more")
    told["metrics"] = metrics
    assert strict(client.post(f"{at}/tell", json=told | {"cost": 0.5}))["status"] == "told"
    failed = {"pull": second["pull"], "lease": second["lease"], "cost": 0.125, "retry": False}
    assert strict(client.post(f"{at}/fail", json=failed))["status"] == "failed"
    assert strict(client.get(at))["spent"] == 0.625
    refused(client.post(f"{at}/budget", json={"budget": "6 EUR"}), 422, "is in EUR")
    assert strict(client.post(f"{at}/budget", json={"budget": "6.5 USD"}))["budget"] == 6.5
    listed = strict(client.get("/api/studies"))["studies"]
    assert next(one for one in listed if one["name"] == name)["unit"] == "USD"
    page = client.get(f"/studies/{name}").text
    assert "reserved for pulls in flight" in page
    for changes, complaint in (
        ({"price": None}, "needs the price of a pull"),
        ({"budget": 5}, "counts pulls, which have no price"),
        ({"price_cap": {"plan": 1}}, "price_cap has a price of arm"),
    ):
        refused(
            client.post("/api/studies", json=body | {"name": new_name()} | changes), 422, complaint
        )
