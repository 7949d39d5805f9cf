"""Whether outcomes stayed what they were: what pulls told by and by, with the arms taken out.

Each pull is told by its rank among the first few of its own arm, so that neither the arm's level
nor a heavy tail matters. Pulls fall into stretches of their numbers. If outcomes did not change, an
arm's ranks are as good as shuffled over its pulls, and their sums by stretch, added up over arms,
are off by chance alone: the test is Kruskal and Wallis's, with arms as blocks. But pulls were
chosen by what was seen: early ones of arms that go on were lucky, in all of these arms alike. Some
of what stretches are off by is granted to that. Touches its arguments only, and `add_pulls` writes
in what it is given.
"""

from typing import NamedTuple

import numpy as np

from ringfence.core.arrays import Floats, Integers

FIRST = 16  # pulls of an arm that others are ranked among
MOST_KEPT = 24  # stretches that sums are kept of: when they are full, two become one
MOST = 12  # stretches that are compared
ENOUGH = 25.0  # pulls in a stretch; of yes or no, events
GRANTED = 0.5  # of the square of a deviation, for every arm: luck of those that went on
RARE = 1e-5  # the chance below which outcomes are said to have changed


class OverTime(NamedTuple):
    """What pulls told, by stretches of their numbers, a stretch being so `wide`.

    `firsts` [arm, place, metric] are those that ranks are among, `known` their number by arm.
    `counts` [arm, stretch] are the ranked pulls; `ranks` and `squares` add these up, as parts of 1.
    All are multiples of small powers of two, so that sums do not depend on their order.
    """

    wide: Integers
    known: Integers
    firsts: Floats
    counts: Integers
    ranks: Floats
    squares: Floats


def nothing_told(arm_count: int, metric_count: int) -> OverTime:
    """Return what is known before any pull."""
    return OverTime(
        np.ones(1, np.int64),
        np.zeros(arm_count, np.int64),
        np.zeros((arm_count, FIRST, metric_count)),
        np.zeros((arm_count, MOST_KEPT), np.int64),
        np.zeros((arm_count, MOST_KEPT, metric_count)),
        np.zeros((arm_count, metric_count)),
    )


def copied(told: OverTime) -> OverTime:
    """Return what can go on without this."""
    wide, known, firsts, counts, ranks, squares = told
    return OverTime(
        wide.copy(), known.copy(), firsts.copy(), counts.copy(), ranks.copy(), squares.copy()
    )


def add_pulls(told: OverTime, arm: int, numbers: Integers, values: Floats) -> None:
    """Add pulls of an arm [pull, metric] by their numbers, which count from 1 and rise."""
    more = min(FIRST - int(told.known[arm]), len(values))
    if more > 0:
        start = int(told.known[arm])
        told.firsts[arm, start : start + more] = values[:more]
        told.known[arm] += more
        numbers, values = numbers[more:], values[more:]
    if len(values) == 0:
        return
    while numbers[-1] > MOST_KEPT * told.wide[0]:
        _widen(told)
    among = told.firsts[arm]
    below = (values[:, None, :] > among).sum(axis=1) + 0.5 * (values[:, None, :] == among).sum(
        axis=1
    )
    ranks, places = below / FIRST, (numbers - 1) // told.wide[0]
    np.add.at(told.counts[arm], places, 1)
    np.add.at(told.ranks[arm], places, ranks)
    told.squares[arm] += (ranks * ranks).sum(axis=0)


def _widen(told: OverTime) -> None:
    """Let a stretch be twice as wide."""
    told.wide[0] *= 2
    for array in (told.counts, told.ranks):
        half = array[:, 0::2] + array[:, 1::2]
        array[:, : MOST_KEPT // 2] = half
        array[:, MOST_KEPT // 2 :] = 0


def chance_of_change(told: OverTime, metric: int) -> tuple[float, int]:
    """Return how likely chance alone changes outcomes as much, and how many stretches it was over.

    Where too little was seen to tell, there is one stretch.
    """
    pulls = told.counts.sum(axis=1)
    means = told.ranks[:, :, metric].sum(axis=1) / np.maximum(pulls, 1)
    scatters = told.squares[:, metric] - pulls * means**2
    some = (pulls > 1) & (scatters > 0.0)
    if not some.any():
        return 1.0, 1
    counts, means = told.counts[some], means[some]
    deviations = np.sqrt(scatters[some] / (pulls[some] - 1))
    rarest = float((np.maximum(means, 1.0 - means) / deviations).max()) ** 2
    stretches = int(min(MOST, counts.sum() // (ENOUGH * rarest)))
    if stretches < 2:
        return 1.0, 1
    off = (told.ranks[some, :, metric] - counts * means[:, None]) / deviations[:, None]
    ends = np.cumsum(counts.sum(axis=0))
    places = np.minimum((ends - 1) * stretches // ends[-1], stretches - 1)
    members = np.equal.outer(np.arange(stretches), np.maximum(places, 0)).astype(np.float64)
    by_stretch, held = members @ off.sum(axis=0), counts @ members.T
    covariance = np.diag(held.sum(axis=0)) - held.T @ (held / held.sum(axis=1)[:, None])
    return _tail(by_stretch, covariance, GRANTED * len(counts)), stretches


def _tail(sums: Floats, covariance: Floats, granted: float) -> float:
    """Return the chance that normal sums of this covariance are as far off as these.

    Their means may be off too: the squares of that add up to `granted`.
    """
    from scipy.special import chndtr

    values, vectors = np.linalg.eigh(covariance)
    varies = values > 1e-9 * values[-1]
    turned = vectors[:, varies].T @ sums
    freedom = int(np.count_nonzero(varies))
    if freedom == 0:
        return 1.0
    found = 1.0 - float(chndtr(float((turned**2 / values[varies]).sum()), freedom, granted))
    return max(found, 0.0)
