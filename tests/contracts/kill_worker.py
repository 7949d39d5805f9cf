"""A worker that is killed: asks, evaluates, tells, and prints what it took and what it told.

python kill_worker.py URL NAME [ARM]

Whoever evaluates that arm is killed at once, as by a system that is out of memory.
"""

import json
import os
import signal
import sys
import time

import numpy as np

from ringfence.core.errors import LeaseError
from ringfence.interfaces.studies import Study

MEANS = {"one": (1.0, 0.5), "two": (0.2, 1.6), "three": (0.5, 0.6), "four": (0.6, 0.9)}
PRICES = {"one": 0.013, "two": 0.4, "three": 0.05, "four": 1.1}
CAPS = {arm: round(5.0 * price, 4) for arm, price in PRICES.items()}
EVALUATION_SECONDS = 0.02


def evaluate(arm: str, seed: int) -> dict[str, float]:
    """Return metrics that depend on the arm and the seed alone."""
    loss, risk = np.random.default_rng(seed).normal(MEANS[arm], 0.5).tolist()
    return {"loss": loss, "risk": risk}


def cost_of(arm: str, seed: int) -> float:
    """Return what a pull costs: with long tails, many digits, and never more than its cap."""
    chance = np.random.default_rng([3, seed])
    return min(CAPS[arm], PRICES[arm] * float(chance.exponential()))


def say(*words: object) -> None:
    """Print a line at once."""
    sys.stdout.write(json.dumps(words) + "\n")
    sys.stdout.flush()


def work(url: str, name: str, deadly: str = "") -> None:
    """Work until the study is finished."""
    study = Study.load(name, storage=url)
    for pull in study.pulls(2):
        say("took", pull.pull)
        time.sleep(EVALUATION_SECONDS)
        if pull.arm == deadly:
            os.kill(os.getpid(), signal.SIGKILL)
        metrics = evaluate(pull.arm, pull.seed)
        if "cost" in study.definition.metrics:
            metrics["cost"] = cost_of(pull.arm, pull.seed)
        try:
            study.tell(pull, metrics)
        except LeaseError:
            continue
        say("told", pull.pull, metrics["loss"], metrics["risk"])


if __name__ == "__main__":
    work(*sys.argv[1:])
