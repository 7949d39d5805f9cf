"""Live studies err as often as was planned: by the very rules that run them, from estimated noise.

`python -m benchmarks.planned` runs more of them; docs/howto/planning.md shows what it found.
"""

import pytest
from scipy import stats

import ringfence as rf
from benchmarks.planned import INSTANCES, wrong_studies
from tests.choosing import LONG, first_of

ALPHA = 1e-6
TARGET, FACTOR = 0.05, 1.5


def is_held(wrong: int, count: int) -> bool:
    """Tell whether so many wrong studies go with an error within the factor of the target."""
    too_few = stats.binom.cdf(wrong, count, TARGET / FACTOR) < ALPHA / 2.0
    too_many = stats.binom.sf(wrong - 1, count, TARGET * FACTOR) < ALPHA / 2.0
    return not too_few and not too_many


@pytest.mark.parametrize("name", first_of(["a p95 limit", "mixed", "a limit of 1%"]))
def test_studies_err_as_often_as_was_planned(name: str) -> None:
    found = rf.plan(INSTANCES[name], "top-two", target_error=TARGET, brief=True)
    assert found.scales == "estimated"
    assert found.point.error_rate <= TARGET
    count = 1000 if LONG else 100
    assert is_held(wrong_studies(INSTANCES[name], "top-two", found.point.budget, count), count)


@pytest.mark.skipif(not LONG, reason="a control, of studies that take a minute")
def test_a_plan_that_is_told_the_noise_does_not_describe_studies() -> None:
    """The fault that the check must see: its error is a fifteenth of what was planned."""
    instance = INSTANCES["a limit of 1%"]
    found = rf.plan(instance, "top-two", target_error=TARGET, scales="known", brief=True)
    assert not is_held(wrong_studies(instance, "top-two", found.point.budget, 1000), 1000)
