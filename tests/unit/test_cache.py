"""Answers that are kept: used by another study once, and never twice by one."""

import asyncio
import sqlite3
from collections import Counter
from pathlib import Path
from typing import Any

import pytest

import ringfence as rf
from ringfence.core.errors import InputError
from ringfence.execution.cache import Cache, key_of
from ringfence.execution.orders import Order

ITEMS = [{"n": n} for n in range(6)]
ASKED: Counter[tuple[Any, ...]] = Counter()


def answer(arm: str, item: Any, seed: int) -> dict[str, float]:
    """Count what is asked, and answer each time otherwise."""
    ASKED[(arm, item["n"])] += 1
    return {"loss": ASKED.total() + 0.001 * seed % 1, "risk": 0.5}


def other(arm: str, item: Any, seed: int) -> dict[str, float]:
    return answer(arm, item, seed)


def drawn(arm: str, seed: int) -> dict[str, float]:
    ASKED[(arm, seed)] += 1
    return {"loss": float(ASKED.total()), "risk": 0.5}


def study(seed: int = 1, **changes: Any) -> rf.Study:
    plain: dict[str, Any] = {
        "arms": ["one", "two"],
        "objective": "minimize mean(loss)",
        "constraints": "mean(risk) <= 1.0",
        "budget": 8,
        "policy": "uniform",
        "storage": "memory://",
        "seed": seed,
        "blocks": {"items": ITEMS},
    }
    return rf.Study.create("s", **plain | changes)


@pytest.fixture(autouse=True)
def _afresh() -> None:
    ASKED.clear()


def test_a_study_begun_anew_asks_nothing_again(tmp_path: Path) -> None:
    first, again = study(), study()
    first.optimize(answer, cache=tmp_path / "a.db")
    count = ASKED.total()
    again.optimize(answer, cache=str(tmp_path / "a.db"), workers=3)
    assert ASKED.total() == count == 8
    assert first.recommend().arms == again.recommend().arms


def test_studies_of_other_seeds_share_items_and_a_loop_shares_them_too(tmp_path: Path) -> None:
    study(budget=12).optimize(answer, cache=tmp_path / "a.db")
    assert ASKED.total() == 12

    async def awaited(arm: str, item: Any, seed: int) -> dict[str, float]:
        return answer(arm, item, seed)

    awaited.__qualname__ = "answer"
    known = study(seed=2, budget=12)
    asyncio.run(known.optimize_async(awaited, workers=3, cache=tmp_path / "a.db"))
    assert (ASKED.total(), known.status().told) == (12, 12)


def test_a_second_answer_on_an_item_is_asked_for(tmp_path: Path) -> None:
    """An arm that meets an item twice is asked twice: the first answer is no second one."""
    blocks = {"items": ITEMS[:2], "repeats": 2}
    study(blocks={"items": ITEMS[:2]}, budget=4).optimize(answer, cache=tmp_path / "a.db")
    assert ASKED.total() == 4
    known = study(blocks=blocks, budget=8)
    known.optimize(answer, cache=tmp_path / "a.db")
    assert ASKED.total() == 8
    assert set(ASKED.values()) == {2}
    again = study(blocks=blocks, budget=8, seed=5)
    again.optimize(answer, cache=tmp_path / "a.db")
    assert ASKED.total() == 8, "by now there are two answers of each"


def test_without_items_an_answer_belongs_to_its_seed(tmp_path: Path) -> None:
    for seed, count in ((1, 8), (1, 8), (2, 16)):
        study(seed=seed, blocks=None).optimize(drawn, cache=tmp_path / "a.db")
        assert ASKED.total() == count
    assert set(ASKED.values()) == {1}


def test_another_arm_function_or_metric_is_another_question(tmp_path: Path) -> None:
    path = tmp_path / "a.db"
    study(arms={"one": {"t": 0.1}, "two": {}}).optimize(answer, cache=path)
    study(arms={"one": {"t": 0.2}, "two": {}}).optimize(answer, cache=path)
    assert ASKED.total() == 8 + 4, "arm one has other keys"
    study(arms={"one": {"t": 0.2}, "two": {}}).optimize(other, cache=path)
    assert ASKED.total() == 12 + 8

    def more(arm: str, item: Any, seed: int) -> dict[str, float]:
        return {**answer(arm, item, seed), "price": 1.0}

    more.__qualname__ = "answer"
    dear = study(arms={"one": {"t": 0.2}, "two": {}}, constraints="mean(price) <= 2")
    dear.optimize(more, cache=path)
    assert ASKED.total() == 20 + 8, "answers without the metric are of no use"
    dear = study(arms={"one": {"t": 0.2}, "two": {}}, constraints="mean(price) <= 2", seed=1)
    dear.optimize(more, cache=path)
    assert ASKED.total() == 28


def test_failures_are_not_kept(tmp_path: Path) -> None:
    tries: Counter[str] = Counter()

    def fails_first(arm: str, item: Any) -> dict[str, float]:
        tries[arm] += 1
        if tries[arm] == 2:
            raise ValueError("no")
        return {"loss": 1.0, "risk": 0.0}

    known = study()
    known.optimize(fails_first, cache=tmp_path / "a.db")
    failed = known.status().failed
    with sqlite3.connect(tmp_path / "a.db") as file:
        (kept,) = file.execute("select count(*) from answers").fetchone()
    file.close()
    assert (failed, kept) == (2, 6)


def test_the_first_answer_stays_and_numbers_alone_are_kept(tmp_path: Path) -> None:
    cache = Cache(tmp_path / "a.db", way="w", metrics=("x",))
    order = Order(1, 1, "one", {"k": 1}, 5, {"q": "?"}, 3)
    cache.keep(order, {"x": 1, "note": "long", "nan": float("nan")})
    cache.keep(order, {"x": 2})
    assert cache.find(order) == {"x": 1}
    assert cache.reused == 1
    assert cache.find(Order(9, 4, "one", {"k": 1}, 77, {"q": "?"}, 8)) == {"x": 1}
    assert cache.find(Order(1, 1, "one", {"k": 2}, 5, {"q": "?"}, 3)) is None
    cache.close()


def test_a_key_is_of_the_item_its_repeat_and_the_arm_and_not_of_the_pull() -> None:
    def key(repeats: int = 2, way: str = "w", **changes: Any) -> str:
        plain: dict[str, Any] = {"keys": {"k": 1}, "seed": 5, "item": {"q": "?"}, "ordinal": 4}
        return key_of(Order(1, 1, "one", **plain | changes), repeats=repeats, way=way)[0]

    first = key()
    assert key(seed=6) == key(ordinal=6) == key(item={"q": "?"}) == first
    others = [
        key(ordinal=5), key(item={"q": "!"}), key(keys={"k": 2}), key(way="v"),
        key(item=None), key(item=None, seed=6),
    ]  # fmt: skip
    assert len({first, *others}) == 7
    assert key(item=None, ordinal=9) == key(item=None), "its seed is its own"


def test_what_cannot_be_a_cache_is_refused_before_any_pull(tmp_path: Path) -> None:
    known = study()
    (tmp_path / "no.db").write_text("not a database, but a text that is long enough to be read")
    for path, said in (
        (tmp_path / "no.db", "is no file of answers"),
        (tmp_path / "none" / "a.db", "does not exist. Make it first"),
        (5, "must be the path of a file"),
    ):
        with pytest.raises(InputError, match=said):
            known.optimize(answer, cache=path)  # type: ignore[arg-type]
    assert known.status().issued == 0
