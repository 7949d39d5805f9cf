"""What a lag costs in errors, and how busy it keeps workers.

`python -m benchmarks.lags busy` runs live studies whose calls last as long as drawn; `errors`
plays `top-two` on instances of the family `uniform`, with known noise, a lag beside batches. The
same pulls and uniforms are drawn for all, so that ratios are surer than either. Tables in decision
28.
"""

import argparse
import time
from collections.abc import Callable, Sequence
from typing import Any

import numpy as np

import ringfence as rf
from ringfence.core.arrays import Floats, Mask
from ringfence.core.streams import pull_stream, round_stream
from ringfence.policies.course import Course
from ringfence.policies.registry import find_policy
from ringfence.simulation.compilation import compile_kernel
from ringfence.simulation.experiment import Experiment
from ringfence.simulation.families import find_family
from ringfence.study.lagging import OF_A_WORKER

INSTANCES = 8
CELLS = ((3, 1000), (8, 1300), (20, 3500))
WORKERS = 8


def draw_all(rng: Any, normals: Floats, uniforms: Floats) -> None:
    """Draw a uniform for every choice, and the noise of every pull that may be chosen."""
    for t in range(uniforms.shape[0]):
        uniforms[t] = rng.random()
        for i in range(normals.shape[0]):
            for c in range(normals.shape[2]):
                normals[i, t, c] = rng.standard_normal()


def see(arm: int, means: Floats, factors: Floats, normals: Floats, seen: Any) -> None:
    """Add the next pull of an arm to what is seen."""
    seen.counts[arm] += 1
    for c in range(means.shape[1]):
        value = means[arm, c]
        for d in range(means.shape[1]):
            value += factors[arm, c, d] * normals[arm, seen.counts[arm] - 1, d]
        seen.estimates[arm, c] += (value - seen.estimates[arm, c]) / seen.counts[arm]


def seen_by_next(known: int, decided: int, first: int, budget: int, lag: int) -> int:
    """Return how many pulls the next decision sees: all, without a lag and after first pulls."""
    if lag == 1 or decided in (first, budget):
        return decided
    return max(known, decided + 1 - lag)


def make_kernel(course: Course) -> Callable[..., None]:
    """Return what plays replications with a lag, or in batches, and marks those that err."""
    decide, answer, right = course.decide, course.answer, course.question.right

    def kernel(
        rng: Any, means: Floats, factors: Floats, design: Any, seen: Any, state: Any,
        lag: int, batch: int, normals: Floats, uniforms: Floats, arms: Any, marked: Mask,
        fresh: Any, wrong: Mask,
    ) -> None:  # fmt: skip
        arm_count, budget, in_flight = means.shape[0], uniforms.shape[0], seen.in_flight
        first = arm_count * design.warm_up
        for t in range(first):
            arms[t] = t % arm_count
        for replication in range(wrong.shape[0]):
            draw_all(rng, normals, uniforms)
            seen.counts[:] = 0
            seen.estimates[:, :] = 0.0
            known, decided = 0, first
            while known < budget:
                until = seen_by_next(known, decided, first, budget, lag)
                while known < until:
                    see(arms[known], means, factors, normals, seen)
                    known += 1
                in_flight[:] = 0
                for t in range(known, decided):
                    in_flight[arms[t]] += 1
                size = min(batch, budget - decided)
                if size > 0:
                    seen.left[0] = budget - decided
                    decide(seen, state, uniforms[decided : decided + size], size, fresh)
                for i in range(arm_count):
                    arms[decided : decided + fresh[i]] = i
                    decided += fresh[i]
                    fresh[i] = 0
            _, flag = answer(seen, state, marked)
            wrong[replication] = not right(design.optimal, design.feasible, marked, flag)

    return compile_kernel(kernel, allocates=False)


def wrong_of(
    arm_count: int, budget: int, way: tuple[int, int], number: int, count: int, kernel: Any
) -> Mask:
    """Return which of so many replications on an instance are wrong; a way is (lag, batch)."""
    instance = find_family("uniform").draw(number, arm_count=arm_count)
    experiment = Experiment(instance, find_policy("top-two"), budget, batch=way[1])
    design, law = experiment.design, instance.law
    room = experiment.new_room(experiment.recording)
    width, wrong = len(design.scales), np.zeros(count, np.bool_)
    kernel(
        round_stream(number, arm_count), law.means, law.factors, design, room.seen,
        experiment.new_state(), *way, np.zeros((arm_count, budget, width)), np.zeros(budget),
        np.zeros(budget, np.int64), np.zeros(arm_count, np.bool_), np.zeros(arm_count, np.int64),
        wrong,
    )  # fmt: skip
    return wrong


def errors(count: int, lag: int, cells: Sequence[tuple[int, int]]) -> None:
    """Print the errors of a lag, of batches of half of it, and of batches of one."""
    ways = {"lag": (lag, 1), "batches": (1, lag // 2), "one": (1, 1)}
    kernel = make_kernel(find_policy("top-two").course)
    print("arms", "budget", "lag", *ways, "lag/batches", "+-", "lag/one", sep="\t")
    for arm_count, budget in cells:
        found = {
            name: np.concatenate(
                [
                    wrong_of(arm_count, budget, way, number, count // INSTANCES, kernel)
                    for number in range(INSTANCES)
                ]
            )
            for name, way in ways.items()
        }
        rate = {name: wrong.mean() for name, wrong in found.items()}
        apart = found["lag"] / rate["lag"] - found["batches"] / rate["batches"]
        ratio = rate["lag"] / rate["batches"]
        doubt = 1.96 * ratio * apart.std() / len(apart) ** 0.5
        said = [f"{rate[name]:.4f}" for name in ways]
        said += [f"{ratio:.3f}", f"{doubt:.3f}", f"{rate['lag'] / rate['one']:.3f}"]
        print(arm_count, budget, lag, *said, sep="\t", flush=True)


def busy(budget: int, mean_seconds: float, spreads: Sequence[float], storage: str) -> None:
    """Print how much of their time workers evaluate, by how the study decides."""
    ways: dict[str, dict[str, int]] = {
        "a lag of six times the workers": {},
        "a lag of the workers": {"lag": WORKERS},
        "batches of the workers": {"batch": WORKERS},
        "batches of twice the workers": {"batch": 2 * WORKERS},
        "one by one": {"batch": 1},
    }
    _run(50, 0.0, 0.0, storage, {})  # what happens once in a process takes a second
    for spread in spreads:
        for name, way in ways.items():
            share, seconds = _run(budget, mean_seconds, spread, storage, way)
            print(f"sigma {spread:g}, {name}: {share:.0%} busy, {seconds:.1f} s", flush=True)


def _run(
    budget: int, mean_seconds: float, spread: float, storage: str, way: dict[str, int]
) -> tuple[float, float]:
    worked = []

    def evaluate(arm: str, seed: int) -> dict[str, float]:
        rng = pull_stream(seed)
        lasts = mean_seconds * float(np.exp(spread * rng.standard_normal() - spread**2 / 2))
        time.sleep(lasts)
        worked.append(lasts)
        loss, risk = rng.standard_normal(2).tolist()
        return {"loss": int(arm) / 3 + loss, "risk": risk}

    study = rf.Study.create(
        f"busy-{time.time_ns()}", arms=[str(one) for one in range(4)], budget=budget, seed=1,
        objective="minimize mean(loss)", constraints="mean(risk) <= 0.5", storage=storage,
        **way,  # type: ignore[arg-type]
    )  # fmt: skip
    began = time.perf_counter()
    study.optimize(evaluate, workers=WORKERS)
    seconds = time.perf_counter() - began
    return sum(worked) / (WORKERS * seconds), seconds


def main() -> None:
    """Run what was asked for."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("what", choices=["busy", "errors"])
    parser.add_argument("--count", type=int, default=40_000)
    parser.add_argument("--lag", type=int, default=OF_A_WORKER * WORKERS)
    parser.add_argument("--arms", type=int, nargs="*", default=[cell[0] for cell in CELLS])
    parser.add_argument("--budget", type=int, default=1000)
    parser.add_argument("--seconds", type=float, default=0.1)
    parser.add_argument("--sigma", type=float, nargs="*", default=[1.0, 0.0])
    parser.add_argument("--storage", default="memory://")
    given = parser.parse_args()
    if given.what == "busy":
        busy(given.budget, given.seconds, given.sigma, given.storage)
    else:
        errors(given.count, given.lag, [cell for cell in CELLS if cell[0] in given.arms])


if __name__ == "__main__":
    main()
