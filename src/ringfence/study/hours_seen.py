"""What arms were seen to do, hour by hour, and what that tells of them beside the hours.

May touch core.
"""

from collections.abc import Mapping
from typing import Any

import numpy as np

from ringfence.core.arrays import Floats, Integers, Mask
from ringfence.core.hours import (
    Hours,
    fill_within,
    level_over_hours,
    shared_in_hours,
    spread_of_hours,
)
from ringfence.study.together import Alone, Together

_LEAST = 16  # hours that there is room for


class HoursSeen:
    """Numbers and sums of pulls by arm and hour, and each arm's scatter within its hours."""

    def __init__(self, arm_count: int, width: int) -> None:
        """Begin without pulls."""
        self._places: dict[int, int] = {}
        self._counts = np.zeros((arm_count, _LEAST), np.int64)
        self._means = np.zeros((arm_count, _LEAST, width))
        self._within = np.zeros((arm_count, width, width))

    def add(self, arm: int, hours: Integers, values: Floats) -> None:
        """Add what pulls of an arm contributed [pull, attribute], each in its hour."""
        for hour in np.unique(hours).tolist():
            place = self._place_of(hour)
            fresh = values[hours == hour]
            before, mean = self._counts[arm, place], fresh.mean(axis=0)
            apart, off = fresh - mean, mean - self._means[arm, place]
            count = before + len(fresh)
            self._within[arm] += apart.T @ apart
            self._within[arm] += before * len(fresh) / count * np.outer(off, off)
            self._means[arm, place] += off * len(fresh) / count
            self._counts[arm, place] = count

    def _place_of(self, hour: int) -> int:
        """Return where an hour is kept; there may be long times between them."""
        place = self._places.setdefault(hour, len(self._places))
        if place >= self._counts.shape[1]:
            self._counts = np.concatenate([self._counts, np.zeros_like(self._counts)], axis=1)
            self._means = np.concatenate([self._means, np.zeros_like(self._means)], axis=1)
        return place

    def unseen(self, arm: int, count: int) -> Integers:
        """Return hours that so many pulls of an arm may have been in: those of its others."""
        found: Integers = np.array(sorted(self._places), np.int64)
        pulls = self._counts[arm, [self._places[hour] for hour in found.tolist()]]
        mine = np.repeat(found, pulls) if pulls.any() else found
        return mine[np.arange(count) * len(mine) // max(count, 1)] if len(mine) else mine

    def copied(self) -> "HoursSeen":
        """Return one that can go on without this one."""
        other = HoursSeen(0, 0)
        other._places = dict(self._places)
        other._counts, other._means = self._counts.copy(), self._means.copy()
        other._within = self._within.copy()
        return other

    @property
    def counts(self) -> Integers:
        """How many pulls each arm had in each hour, in the order of hours."""
        return self._counts[:, self._order]

    @property
    def _order(self) -> list[int]:
        return [self._places[hour] for hour in sorted(self._places)]

    def together(self, alone: Alone) -> Together:
        """Return what arms are apart from the hours.

        What is known of each arm alone stands where hours show no effect, and where no arm was
        pulled twice in one of them. Noise that is `known` is that within hours.
        """
        estimates, covariances, scatters, pulls, shared, means, known, _ = alone
        counts = self.counts
        freedom = np.maximum(counts - 1, 0).sum(axis=1)
        noise, found = covariances, estimates.copy()
        width = estimates.shape[1]
        joint = np.zeros((width, len(pulls), len(pulls)))
        joint[:] = [np.diag(one) for one in _per_pull(covariances, pulls).T]
        spreads, apart = np.zeros(width), joint[0]
        if freedom.any():
            own = np.empty_like(covariances)
            fill_within(own, self._within, freedom, scatters, pulls, estimates, means & shared)
            if not known.says_nothing:
                known.replace_covariances(own)
            away = self._means[:, self._order] - estimates[:, None, :]
            parts = counts.sum(axis=0) / counts.sum()
            for c in np.flatnonzero(shared).tolist():
                variances = own[:, c, c]
                if not (variances > 0.0).all():
                    continue
                weights = counts / variances[:, None]
                off = np.where(counts > 0, away[:, :, c], 0.0)
                spreads[c] = spread_of_hours(weights, off)
                if spreads[c] > 0.0:
                    level = level_over_hours(weights, off, float(spreads[c]), parts)
                    found[:, c] += level.estimates
                    joint[c] = level.covariance
                    apart = level.joint if c == 0 else apart
            if spreads.any():
                noise = _beside(covariances, own, shared, spreads > 0.0)
        return Together(
            found,
            shared_in_hours(joint, _correlations(noise)),
            Hours(apart, np.ascontiguousarray(noise[:, 0, 0]), spreads[:1].copy()),
        )

    def trials(self, pulls: Integers) -> Integers:
        """Return that every pull counts."""
        return pulls

    def sums(self) -> dict[str, Any]:
        """Return the hours in the order in which they were met, and what was seen in each."""
        count = len(self._places)
        return {
            "hours": np.array(list(self._places), np.int64),
            "counts": self._counts[:, :count],
            "means": self._means[:, :count],
            "within": self._within,
        }

    def restore(self, sums: Mapping[str, Any]) -> None:
        """Take up what `sums` gave, without anything seen so far."""
        for hour in sums["hours"].tolist():
            self._place_of(hour)
        count = len(self._places)
        self._counts[:, :count], self._means[:, :count] = sums["counts"], sums["means"]
        self._within[...] = sums["within"]


def _per_pull(covariances: Floats, pulls: Integers) -> Floats:
    """Return the variances of estimates [arm, attribute] of arms that share nothing."""
    return np.diagonal(covariances, axis1=1, axis2=2) / np.maximum(pulls, 1)[:, None]


def _beside(plain: Floats, within: Floats, shared: Mask, moved: Mask) -> Floats:
    """Return the noise of one pull: within hours of attributes that hours move, else as it was.

    Means go with each other as they do within hours, and with what is no mean as they did.
    """
    found = np.where(shared[:, None] & shared[None, :], _correlations(within), _correlations(plain))
    deviations = np.sqrt(
        np.where(
            moved[None, :],
            np.diagonal(within, axis1=1, axis2=2),
            np.diagonal(plain, axis1=1, axis2=2),
        )
    )
    return np.asarray(found * deviations[:, :, None] * deviations[:, None, :])


def _correlations(covariances: Floats) -> Floats:
    """Return correlations; what does not vary goes with nothing but itself."""
    deviations = np.sqrt(np.diagonal(covariances, axis1=1, axis2=2))
    units = np.where(deviations > 0.0, deviations, 1.0)
    found = covariances / units[:, :, None] / units[:, None, :]
    width = np.arange(covariances.shape[1])
    found[:, width, width] = 1.0
    return np.asarray(found)
