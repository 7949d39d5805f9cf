"""What tells a good estimate of a rare error from one that missed a way to err.

A missed mode makes an estimate too low, silently: its standard error looks fine. So the estimate is
looked at from outside: the weights, a budget at which plain replications can see errors too, how
fast errors fall with the budget, and an estimator that knows no modes. May touch core and
simulation.
"""

import math
from dataclasses import dataclass

from ringfence.simulation.rare.importance import Estimate
from ringfence.simulation.rare.splitting import Split

_LARGEST_SHARE = 0.01
_LEAST_EFFECTIVE = 100.0
_SURELY = 4.0  # standard errors
_SLOPE_SLACK = 0.35
_NEARLY_ALL = 0.8
_ROUNDING = 1e-3  # of a mean weight that hardly varies
_SPLIT_SLACK = math.log(1.5)
OVERLAP_RATE = 0.02
RARE_RATE = 2e-3
EFFECTIVE = "effective errors"  # the check that the errors seen are worth enough equal ones


@dataclass(frozen=True)
class Check:
    """One look at an estimate: what was looked at, whether it is well, and what was found."""

    what: str
    ok: bool
    found: str


@dataclass(frozen=True)
class Overlap:
    """A smaller budget, at which plain replications see errors: both estimates of it."""

    budget: int
    estimate: Estimate
    errors: int
    replications: int

    @property
    def rate(self) -> float:
        """The share of errors among plain replications."""
        return self.errors / self.replications

    @property
    def plain_error(self) -> float:
        """Its standard error; as of one error where there was none."""
        return math.sqrt(max(self.errors, 1)) / self.replications


def weight_checks(estimate: Estimate) -> list[Check]:
    """Look at the weights of the run itself."""
    weighed = estimate.weighed
    count = weighed.replications
    mean = weighed.all_weight / count
    spread = math.sqrt(max(weighed.all_squares / count - mean**2, 0.0) / count)
    effective, largest = estimate.effective_errors, estimate.largest_share
    rate = weighed.error_rate
    expected = weighed.plain * rate
    far = weighed.plain_errors - expected > _SURELY * math.sqrt(expected) + 1.0
    return [
        Check(
            "largest weight",
            largest < _LARGEST_SHARE,
            f"the heaviest error is {100 * largest:.2g}% of the estimate (at most "
            f"{100 * _LARGEST_SHARE:g}%)",
        ),
        Check(
            EFFECTIVE,
            effective >= _LEAST_EFFECTIVE,
            f"{weighed.errors} errors are worth {effective:.0f} equal ones (at least "
            f"{_LEAST_EFFECTIVE:.0f})",
        ),
        Check(
            "mean weight",
            abs(mean - 1.0) <= _SURELY * spread + _ROUNDING,
            f"weights average {mean:.4f} +- {spread:.2g} (must be 1)",
        ),
        Check(
            "undrifted replications",
            not far,
            f"{weighed.plain_errors} of {weighed.plain} erred, {expected:.3g} expected",
        ),
    ]


def overlap_check(overlap: Overlap) -> Check:
    """Look at a budget at which plain replications see errors too."""
    weighed = overlap.estimate.weighed
    distance = math.hypot(weighed.std_error, overlap.plain_error)
    z = (weighed.error_rate - overlap.rate) / distance
    return Check(
        "overlap with plain replications",
        abs(z) <= _SURELY,
        f"at T = {overlap.budget}: {weighed.error_rate:.3g} here, {overlap.rate:.3g} by "
        f"{overlap.replications} plain replications (z = {z:+.1f})",
    )


def slope_check(estimate: Estimate, overlap: Overlap) -> Check | None:
    """Look at how much rarer errors are than at the smaller budget, beside what theory says.

    None where no single mode with an exact cost explains the errors of both.
    """
    seen = math.log(overlap.estimate.weighed.error_rate / estimate.weighed.error_rate)
    here, there = _energy(estimate), _energy(overlap.estimate)
    if here is None or there is None:
        return None
    told = here - there + 0.5 * math.log(here / there)
    return Check(
        "slope",
        abs(seen - told) <= _SLOPE_SLACK * abs(told) + 0.5,
        f"from T = {overlap.budget} on, ln(error) falls by {seen:.2f}; theory says {told:.2f}",
    )


def split_check(estimate: Estimate, split: Split) -> Check:
    """Look at what splitting says, which knows no modes."""
    rate = estimate.weighed.error_rate
    if split.error_rate <= 0.0 or rate <= 0.0:
        return Check("splitting", ok=False, found="splitting did not come to an end")
    apart = math.log(rate / split.error_rate)
    slack = _SURELY * math.hypot(split.relative_error, estimate.weighed.std_error / rate)
    return Check(
        "splitting",
        abs(apart) <= max(slack, _SPLIT_SLACK),
        f"{split.error_rate:.3g} +- {100 * split.relative_error:.0f}%, without modes",
    )


def overlap_budget(estimate: Estimate) -> int:
    """Return a budget at which errors can be seen, if they fall as fast as theory says."""
    budget, rate = estimate.mixture.experiment.budget, estimate.weighed.error_rate
    return int(budget * math.log(OVERLAP_RATE) / math.log(rate))


def _energy(estimate: Estimate) -> float | None:
    """Return the exact cost of the mode that explains nearly all errors, if there is one."""
    shares: dict[str, float] = {}
    for mode, share in zip(estimate.mixture.modes, estimate.contributions, strict=True):
        shares[mode.what] = shares.get(mode.what, 0.0) + float(share)
    leading = max(shares, key=lambda what: shares[what])
    mode = next(mode for mode in estimate.mixture.modes if mode.what == leading)
    return mode.energy if mode.is_exact and shares[leading] >= _NEARLY_ALL else None
