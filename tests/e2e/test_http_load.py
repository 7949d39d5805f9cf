"""Several clients at once on one study: no error, the budget to the pull, a sound course."""

from benchmarks.load import loaded
from tests.e2e.serving import Served, new_name

CLIENTS, PULLS = 8, 400


def test_many_clients_spend_a_budget_to_the_pull(anywhere: Served) -> None:
    load = loaded(anywhere, new_name("load"), CLIENTS, PULLS, policy="top-two", batch=16)
    assert (load.told, load.errors) == (PULLS, [])
    assert len(load.asks) == PULLS
