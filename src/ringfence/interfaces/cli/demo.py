"""`ringfence demo`: a small story in a few seconds, with a study in it that is as real as any.

Its numbers are drawn here, by the seed; rules run as plain Python, so nothing is compiled.
May touch every room.
"""

import shlex
import sys
import tempfile
import time
from collections.abc import Callable, Iterator
from contextlib import AbstractContextManager, contextmanager, nullcontext
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any, NamedTuple

import typer

from ringfence.core.errors import InputError
from ringfence.interfaces.cli import output
from ringfence.interfaces.cli.options import Json, Seed
from ringfence.interfaces.cli.serve import page_beside, require_web

if TYPE_CHECKING:
    from ringfence.study.verdict import ArmVerdict, Verdict


class _Version(NamedTuple):
    """What is true of a version, and unknown to the study."""

    rating: float
    deviation: float
    latency_ms: float


NAME, BUDGET = "assistants", 300
LIMIT_MS = 200
OBJECTIVE, LIMIT = "maximize mean(rating)", f"mean(latency_ms) <= {LIMIT_MS}"
ANSWER = "large"
VERSIONS = {
    "small": _Version(6.2, 1.0, 60.0),
    "medium": _Version(6.8, 1.0, 110.0),
    "large": _Version(7.6, 1.0, 165.0),
    "giant": _Version(8.4, 1.0, 250.0),  # the deceiver: best if nobody looks at the limit
    "moody": _Version(6.0, 3.0, 120.0),  # sometimes brilliant: it has the best single rating
}
_PAUSES = {"page": 0.02, "terminal": 0.008, "nobody": 0.0}


def demo(
    *,
    open_page: Annotated[
        bool, typer.Option("--open", help="Show the page of the study while it runs.")
    ] = False,
    keep: Annotated[
        Path | None, typer.Option("--keep", help="Keep the study in this file (.db).")
    ] = None,
    seed: Seed = 0,
    json: Json = False,
) -> None:
    """Watch a small study, in a few seconds: what luck would pick, and what ringfence picks."""
    from ringfence.core.streams import whole_seed
    from ringfence.interfaces.studies import Study

    whole_seed(seed)
    if keep is not None and keep.exists():
        raise InputError(f"keep = {str(keep)!r} exists already. Choose another file.")
    if open_page:
        require_web()
    naive = _naive(seed)
    if not json:
        _introduce(naive)
    with _storage(keep, on_disk=open_page) as storage:
        study = Study.create(
            NAME, arms=list(VERSIONS), objective=OBJECTIVE, constraints=LIMIT, budget=BUDGET,
            storage=storage, seed=seed, batch=5,
        )  # fmt: skip
        verdict = _run(study, storage, open_page=open_page, quiet=json)
    if json:
        from ringfence.reports.verdict import verdict_document

        document: dict[str, Any] = {
            "truth": ANSWER,
            "right": verdict.arm == ANSWER and verdict.feasible,
            "naive": naive,
            "why": {arm.name: _why(arm, verdict) for arm in verdict.arms},
            "verdict": verdict_document(verdict),
        }
        output.print_json(document)
    else:
        _conclude(study, verdict, keep)


def _evaluate(arm: str, seed: int) -> dict[str, float]:
    """Let a version answer once."""
    from ringfence.core.streams import pull_stream

    truth, chance = VERSIONS[arm], pull_stream(seed)
    return {
        "rating": float(chance.normal(truth.rating, truth.deviation)),
        "latency_ms": float(chance.normal(truth.latency_ms, 0.25 * truth.latency_ms)),
    }


def _naive(seed: int) -> dict[str, Any]:
    """Return what one might pick without ringfence, from equal shares of the same budget."""
    from ringfence.core.streams import pull_seed

    each = BUDGET // len(VERSIONS)
    seen = {
        # Numbered past the study's own pulls: other answers than it will see.
        arm: [_evaluate(arm, pull_seed(seed, place, BUDGET + k)) for k in range(each)]
        for place, arm in enumerate(VERSIONS)
    }
    means = {
        arm: {key: sum(one[key] for one in rows) / each for key in rows[0]}
        for arm, rows in seen.items()
    }
    best, lucky = max(
        ((arm, one) for arm, rows in seen.items() for one in rows), key=lambda at: at[1]["rating"]
    )
    top = max(means, key=lambda arm: means[arm]["rating"])
    return {
        "pulls": each * len(VERSIONS),
        "best_single": {"arm": best, "rating": lucky["rating"], "mean": means[best]["rating"]},
        "best_mean": {"arm": top, **means[top]},
    }


def _introduce(naive: dict[str, Any]) -> None:
    single, mean = naive["best_single"], naive["best_mean"]
    words = "inside" if mean["latency_ms"] <= LIMIT_MS else "outside"
    output.say(
        f"{len(VERSIONS)} versions of an assistant: {', '.join(VERSIONS)}. Whenever one answers,\n"
        "its rating and its response time are measured, and both are noisy. Which has the best\n"
        f"mean rating, if the mean response time must be at most {LIMIT_MS} ms?\n\n"
        f"Without ringfence, from {naive['pulls']} answers, equally many of each:\n"
        f"  the best single rating is {single['arm']}'s: {single['rating']:.1f} once, "
        f"{single['mean']:.1f} on average\n"
        f"  the best mean rating is {mean['arm']}'s: {mean['rating']:.1f}, in "
        f"{mean['latency_ms']:.0f} ms: {words} the limit\n\n"
        "With ringfence, as many answers, asked for where they tell most:"
    )
    sys.stdout.flush()


def _run(study: Any, storage: str, *, open_page: bool, quiet: bool) -> "Verdict":
    from ringfence.interfaces.cli.display import Display

    beside: AbstractContextManager[None] = nullcontext()
    if open_page:
        beside = page_beside(storage, study.name, None)
    seen_by = "page" if open_page else "terminal" if sys.stderr.isatty() else "nobody"
    display = Display(study, quiet=quiet)
    try:
        with beside:
            verdict: Verdict = study.optimize(
                _paced(0.0 if quiet else _PAUSES[seen_by]), told=display.told
            )
    finally:
        display.close()
    return verdict


def _paced(seconds: float) -> Callable[[str, int], dict[str, float]]:
    """Return the evaluation, slowed down where someone watches."""

    def evaluate(arm: str, seed: int) -> dict[str, float]:
        time.sleep(seconds)
        return _evaluate(arm, seed)

    return evaluate


def _conclude(study: Any, verdict: "Verdict", keep: Path | None) -> None:
    from ringfence.interfaces.cli.verdicts import show_verdict

    show_verdict(verdict)
    output.say("\nWhy the others lost:")
    for arm in verdict.arms:
        if arm.name != verdict.arm:
            output.say(f"  {arm.name}: {_why(arm, verdict)}")
    right = verdict.arm == ANSWER and verdict.feasible
    output.say(
        f"\nHere the truth is known: it is {ANSWER}"
        f"{', as found' if right else ', so this verdict errs: more pulls would help'}.\n\nNext:\n"
        "  ringfence init           a study of your own: three questions, one file\n"
        "  ringfence demo --open    this one on its page, live (pip install 'ringfence[web]')\n"
        "  docs/glossary.md         what the words mean, such as deceiver (in the repository)"
    )
    if keep is not None:
        url = shlex.quote(f"sqlite:///{keep}")
        output.say(f"  ringfence explain {NAME} --storage {url}")
        output.say(f"  ringfence serve --storage {url}")


def _why(arm: "ArmVerdict", verdict: "Verdict") -> str:
    """Return why an arm is not the answer, in a few words."""
    if arm.name == verdict.arm:
        return "the answer"
    if arm.blocked_by:
        took, limit = arm.estimates["mean(latency_ms)"].value, arm.blocked_by[0]
        better = "the better rating, but " if arm.kind == "deceiver" else ""
        return f"{better}{took:.0f} ms: it looks over {limit}"
    chosen = next(one for one in verdict.arms if one.name == verdict.arm)
    mine, best = (one.estimates["mean(rating)"].value for one in (arm, chosen))
    return f"inside the limit, with a mean rating of {mine:.1f} to {verdict.arm}'s {best:.1f}"


@contextmanager
def _storage(keep: Path | None, *, on_disk: bool) -> Iterator[str]:
    if keep is not None:
        yield f"sqlite:///{keep}"
    elif on_disk:
        with tempfile.TemporaryDirectory(prefix="ringfence-") as folder:
            yield f"sqlite:///{folder}/{NAME}.db"
    else:
        yield "memory://"
