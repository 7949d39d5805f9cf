"""What prices cost a study: asks and tells a second with prices, over those of pulls, in one run.

    python -m benchmarks.prices [PULLS]

Each study is taken in turn, a stretch at a time, so that what else the machine does slows all of
them alike. Batches are large, so that little of it is decisions.
"""

import sys
import tempfile
import time
from pathlib import Path
from typing import Any

import ringfence as rf

ARMS = ("one", "two", "three", "four")
STRETCH = 50
KINDS: dict[str, dict[str, Any]] = {
    "pulls": {"budget": 1_000_000},
    "stated prices": {"budget": "1000000 USD", "price": dict.fromkeys(ARMS, 1)},
    "told prices": {"budget": "1000000 USD", "price": "cost", "price_cap": 1},
}
METRICS = {"loss": 0.5, "risk": 0.25, "cost": 0.75}


def main() -> None:
    """Print pulls a second of each kind, and their ratio to pulls; each is asked and told alone."""
    pulls = int(sys.argv[1]) if len(sys.argv) > 1 else 2_000
    with tempfile.TemporaryDirectory() as folder:
        studies = {
            kind: rf.Study.create(
                "s", arms=ARMS, objective="minimize mean(loss)", constraints="mean(risk) <= 1",
                policy="uniform", storage=f"sqlite:///{Path(folder) / f'{place}.db'}", seed=1,
                metrics=["cost"], **said,
            )
            for place, (kind, said) in enumerate(KINDS.items())
        }  # fmt: skip
        seconds = dict.fromkeys(KINDS, 0.0)
        for stretch in range(-1, pulls // STRETCH):  # the first opens what is opened once
            for kind, study in studies.items():
                start = time.perf_counter()
                for _ in range(STRETCH):
                    (pull,) = study.ask()
                    study.tell(pull, METRICS)
                seconds[kind] += (stretch >= 0) * (time.perf_counter() - start)
    for kind, spent in seconds.items():
        rate, ratio = pulls / spent, seconds["pulls"] / spent
        print(f"{kind}: {rate:,.0f} pulls a second, {ratio:.3f} of those without prices")


if __name__ == "__main__":
    main()
