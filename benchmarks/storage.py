"""Completed pulls a second with eight writer processes on one study, beside Optuna's.

    python benchmarks/storage.py [--pulls 60] [--postgres URL]

Needs optuna, which is no dependency of ringfence: `make bench-storage` makes an environment for it.
Both sides write to SQLite with a write-ahead log and full sync, in turn, in one run; with a URL to
PostgreSQL too. Then a million observations: one bulk tell, and what `ask` costs afterwards.
"""

import argparse
import multiprocessing
import statistics
import tempfile
import time
from collections.abc import Callable
from pathlib import Path

WRITERS = 8
MANY = 1_000_000


def ringfence_study(url: str, name: str, budget: int = 10**9) -> object:
    """Create a study whose first round never ends."""
    import ringfence as rf

    return rf.Study.create(
        name,
        arms=["a", "b", "c", "d"],
        objective="minimize mean(loss)",
        constraints="mean(risk) <= 1",
        budget=budget,
        policy="uniform",
        storage=url,
        seed=0,
    )


def ringfence_writer(url: str, name: str, pulls: int, at_once: int, start: object) -> None:
    """Ask and tell, some pulls at once."""
    import ringfence as rf

    study = rf.Study.load(name, storage=url)
    start.wait()  # type: ignore[attr-defined]
    for _ in range(pulls // at_once):
        asked = study.ask(at_once)
        if at_once == 1:
            study.tell(asked[0], {"loss": 0.5, "risk": 0.25})
        else:
            study.tell_many(asked, {"loss": [0.5] * at_once, "risk": [0.25] * at_once})


def optuna_storage(url: str) -> object:
    """Return Optuna's storage, with SQLite set as ours is."""
    import optuna
    import sqlalchemy

    patience = {"timeout": 120} if url.startswith("sqlite") else {}
    storage = optuna.storages.RDBStorage(url, engine_kwargs={"connect_args": patience})
    if patience:

        def prepare(connection: object, _: object) -> None:
            cursor = connection.cursor()  # type: ignore[attr-defined]
            cursor.execute("PRAGMA journal_mode = WAL")
            cursor.execute("PRAGMA synchronous = FULL")
            cursor.close()

        sqlalchemy.event.listen(storage.engine, "connect", prepare)
        storage.engine.dispose()
    return storage


def optuna_writer(url: str, name: str, pulls: int, _: int, start: object) -> None:
    """Ask and tell, one trial at a time."""
    import optuna

    optuna.logging.set_verbosity(optuna.logging.ERROR)
    study = optuna.load_study(
        study_name=name, storage=optuna_storage(url), sampler=optuna.samplers.RandomSampler()
    )
    start.wait()  # type: ignore[attr-defined]
    for _ in range(pulls):
        trial = study.ask()
        trial.suggest_categorical("arm", ["a", "b", "c", "d"])
        study.tell(trial, 0.5)


def rate(writer: Callable[..., None], url: str, name: str, pulls: int, at_once: int) -> float:
    """Return completed pulls a second."""
    context = multiprocessing.get_context("spawn")
    start = context.Barrier(WRITERS + 1)
    writers = [
        context.Process(target=writer, args=(url, name, pulls, at_once, start))
        for _ in range(WRITERS)
    ]
    for one in writers:
        one.start()
    start.wait()
    began = time.perf_counter()
    for one in writers:
        one.join()
    if any(one.exitcode for one in writers):
        raise SystemExit(f"a writer of {name} failed")
    return WRITERS * pulls / (time.perf_counter() - began)


def compare(kind: str, new_url: Callable[[], str], pulls: int) -> None:
    """Print one pull at a time, and sixteen, beside Optuna."""
    import optuna

    optuna.logging.set_verbosity(optuna.logging.ERROR)
    url = new_url()
    optuna.create_study(study_name="theirs", storage=optuna_storage(url))
    theirs = rate(optuna_writer, url, "theirs", pulls, 1)
    url = new_url()
    ringfence_study(url, "one by one")
    one = rate(ringfence_writer, url, "one by one", 4 * pulls, 1)
    url = new_url()
    ringfence_study(url, "sixteen")
    sixteen = rate(ringfence_writer, url, "sixteen", 32 * pulls // 16 * 16, 16)
    print(f"{kind}: Optuna {optuna.__version__}, ask + tell        {theirs:8.1f} a second")
    print(f"{kind}: ringfence, ask + tell           {one:8.1f}   ratio {one / theirs:6.1f}")
    print(f"{kind}: ringfence, ask(16) + bulk tell  {sixteen:8.1f}   ratio {sixteen / theirs:6.1f}")


def many(url: str) -> None:
    """Print what a million observations cost."""
    import numpy as np

    study = ringfence_study(url, "many", 2 * MANY)
    first = asking(study)
    began = time.perf_counter()
    pulls = study.ask(MANY)  # type: ignore[attr-defined]
    asked = time.perf_counter() - began
    rng = np.random.default_rng(0)
    began = time.perf_counter()
    study.tell_many(pulls, {"loss": rng.random(MANY), "risk": rng.random(MANY)})  # type: ignore[attr-defined]
    told = time.perf_counter() - began
    later = asking(study)
    print(f"{MANY:,} observations: ask {asked:.1f} s, one bulk tell {told:.1f} s")
    print(f"ask of one pull, median: {1e3 * first:.2f} ms empty, {1e3 * later:.2f} ms with them")
    print(f"ratio {later / first:.2f}")


def asking(study: object) -> float:
    """Return the median seconds of an ask; what is asked for stays leased."""
    times = []
    for _ in range(50):
        began = time.perf_counter()
        study.ask(1)  # type: ignore[attr-defined]
        times.append(time.perf_counter() - began)
    return statistics.median(times)


def main() -> None:
    """Run everything and print it."""
    options = argparse.ArgumentParser(description=__doc__.partition("\n")[0])
    options.add_argument("--pulls", type=int, default=60, help="pulls of each of Optuna's writers")
    options.add_argument("--postgres", help="URL of an empty PostgreSQL database")
    chosen = options.parse_args()
    with tempfile.TemporaryDirectory() as folder:
        places = iter(range(1000))
        compare("SQLite", lambda: f"sqlite:///{Path(folder) / f'{next(places)}.db'}", chosen.pulls)
        if chosen.postgres:
            compare("PostgreSQL", lambda: chosen.postgres, chosen.pulls)
        many(f"sqlite:///{Path(folder) / 'many.db'}")


if __name__ == "__main__":
    main()
