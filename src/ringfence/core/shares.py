"""Shares of yes-or-no outcomes: what a handful of events, or none at all, can say.

With many events a share is as good as normal. With few it is not: no event in fifty pulls does not
mean that there is none, nor that the next fifty will be like them. What the share may be then is
Beta(events + 1/2, other pulls + 1/2), Jeffreys' posterior. Touches its arguments only.
"""

from dataclasses import dataclass

import numpy as np

from ringfence.core.arrays import Floats, Integers, Mask
from ringfence.core.noise import is_yes_or_no
from ringfence.core.problem import Problem
from ringfence.core.streams import Generator

FEW = 30.0  # events, or pulls without one, from which on a share counts as normal


@dataclass(frozen=True, eq=False)
class Shares:
    """Which oriented attributes are shares, and of how many pulls each arm's are.

    Those `doubted` may be other than nought though no event was seen.
    """

    which: Mask
    doubted: Mask
    signs: Floats
    counts: Integers

    @classmethod
    def among(
        cls, problem: Problem, estimates: Floats, scatters: Floats, counts: Integers
    ) -> "Shares":
        """Find the shares: those written so, and means of nothing but zeros and ones.

        A metric that never varied in any arm may be exact, whatever its value. A limit at the end
        of what a share can be asks for no event at all: none seen is then taken for none.
        """
        signs = problem.signs
        is_share = [
            one.bound is not None
            or (
                one.statistic == "mean"
                and is_yes_or_no(c, estimates, scatters, counts)
                and bool(np.all(signs[c] * estimates[counts > 1, c] >= 0.0))
            )
            for c, one in enumerate(problem.attributes)
        ]
        which = np.array(is_share)
        ends = np.where(signs[1:] > 0.0, 0.0, -1.0)
        at_end = (problem.factors == 0.0) & (problem.thresholds <= ends)
        return cls(which, which & ~np.append(False, at_end), signs, counts)

    def without(self, others: Mask) -> "Shares":
        """Return the same, some attributes not counted as shares."""
        return Shares(self.which & ~others, self.doubted & ~others, self.signs, self.counts)

    def posterior(self, estimates: Floats, arm: int, attribute: int) -> tuple[float, float] | None:
        """Return the parameters of an arm's Beta; None where it is no share, or has many events."""
        if not self.which[attribute]:
            return None
        count = float(self.counts[arm])
        events = count * float(self.signs[attribute] * estimates[arm, attribute])
        if min(events, count - events) >= FEW:
            return None
        return events + 0.5, count - events + 0.5

    def interval(self, estimates: Floats, arm: int, attribute: int) -> tuple[float, float] | None:
        """Return the 95% interval of a share with few events, as written; else None.

        It reaches to 0 where there was no event, and to 1 where there was nothing else.
        """
        found = self.posterior(estimates, arm, attribute)
        if found is None:
            return None
        from scipy.special import betaincinv

        low, high = (float(end) for end in betaincinv(*found, (0.025, 0.975)))
        return (0.0 if found[0] <= 0.5 else low, 1.0 if found[1] <= 0.5 else high)

    def redraw(self, rng: Generator, draw: Floats, estimates: Floats, arm: int) -> None:
        """Put draws from their Betas in the place of normal ones [draw, attribute] of an arm.

        The n-th smallest takes the place of the n-th smallest: what goes with it stays the same.
        """
        for attribute in np.flatnonzero(self.doubted).tolist():
            found = self.posterior(estimates, arm, attribute)
            if found is None:
                continue
            fresh = self.signs[attribute] * rng.beta(*found, size=len(draw))
            column = draw[:, attribute]
            if np.ptp(column) > 0.0:
                column[np.argsort(column)] = np.sort(fresh)
            else:
                column[:] = fresh
