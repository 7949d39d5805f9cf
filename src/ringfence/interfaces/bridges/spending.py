"""Spends the budget of a search: fits on any number of workers, told in the order of their pulls.

May touch every room, and scikit-learn.
"""

import time
from collections.abc import Mapping, Sequence
from contextlib import suppress
from typing import Any

import joblib
from sklearn.utils.parallel import Parallel, delayed

from ringfence.core.errors import InputError, LeaseError, ToldOtherwiseError
from ringfence.core.streams import pull_seed
from ringfence.interfaces.asynchronous import POLL_SECONDS
from ringfence.interfaces.bridges.fitting import Bench, Outcome
from ringfence.interfaces.bridges.splitting import Splits
from ringfence.interfaces.leases import Pull
from ringfence.interfaces.studies import Study

_AHEAD = 4  # fits for each of several workers, handed out at once


def spend(
    study: Study,
    settings: Sequence[Mapping[str, Any]],
    splits: Splits,
    bench: Bench,
    *,
    n_jobs: int | None,
    paired: bool,
) -> list[str]:
    """Fit until the study is finished; return what went wrong.

    When it is interrupted, what was not told is given back.
    """
    of_arm = dict(zip(study.definition.arm_names, settings, strict=True))
    errors: list[str] = []

    def split(pull: Pull) -> tuple[Any, Any]:
        """Return a pull's split: paired ones are those of the first arm's pull of that ordinal."""
        seed = pull_seed(study.definition.seed, 0, pull.ordinal) if paired else pull.seed
        return splits.draw(seed)

    with Parallel(n_jobs=n_jobs) as parallel:
        workers = joblib.effective_n_jobs(n_jobs)
        while pulls := _next(study, workers if workers == 1 else _AHEAD * workers):
            try:
                outcomes = parallel(
                    delayed(bench.pull)(of_arm[pull.arm], pull.seed, *split(pull)) for pull in pulls
                )
                for pull, outcome in zip(pulls, outcomes, strict=True):
                    errors += _tell(study, pull, outcome, raises=bench.raises)
            except BaseException:
                _give_back(study, pulls)
                raise
    return errors


def _next(study: Study, count: int) -> list[Pull]:
    """Return up to so many pulls, none when all is done.

    It waits where other processes hold the rest.
    """
    while not (pulls := study.ask(count)) and not study.desk.is_over:
        time.sleep(POLL_SECONDS)
    return pulls


def _tell(study: Study, pull: Pull, outcome: Outcome, *, raises: bool) -> list[str]:
    """Record what a fit gave; return what went wrong, if anything did."""
    wanted = study.desk.plan.metrics
    error = outcome.error
    try:
        if outcome.metrics is not None:
            found = {key: value for key, value in outcome.metrics.items() if key in wanted}
            study.tell(pull, found)
            return []
    except (LeaseError, ToldOtherwiseError):  # it took so long that another process did it
        return []
    except InputError as refused:  # such as a score that is not a number
        if raises:
            raise
        error = str(refused)
    with suppress(LeaseError):
        study.fail(pull, error)
    return [error]


def _give_back(study: Study, pulls: Sequence[Pull]) -> None:
    """Give leases back, so that a resumed search has them at once."""
    for pull in pulls:
        with suppress(InputError):
            study.desk.release(pull.pull, pull.lease)
