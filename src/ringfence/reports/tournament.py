"""What a tournament says: means and worst ratios of errors to the first policy's. Pure."""

import math
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from ringfence.core.arrays import Floats
from ringfence.core.streams import bootstrap_stream
from ringfence.simulation.cells import Cell

RESAMPLES = 2000
HARM = 1.1  # a ratio whose interval lies wholly above this is a harm, not chance


@dataclass(frozen=True)
class Duel:
    """A policy against the first one on one instance."""

    cell: Cell
    base: Cell

    @property
    def ratio(self) -> float:
        """The ratio of the two error rates."""
        return self.cell.error_rate / self.base.error_rate

    @property
    def interval(self) -> tuple[float, float]:
        """The 95% interval of the ratio, by the errors' Poisson noise on the log scale."""
        if self.cell.policy == self.base.policy:
            return 1.0, 1.0
        spread = math.sqrt(1.0 / max(self.cell.errors, 0.5) + 1.0 / max(self.base.errors, 0.5))
        factor = math.exp(1.96 * spread)
        return self.ratio / factor, self.ratio * factor

    def to_dict(self) -> dict[str, Any]:
        """Return the duel for other programs."""
        low, high = self.interval
        return vars(self.cell) | {
            "error_rate": self.cell.error_rate,
            "ratio": self.ratio,
            "low": low,
            "high": high,
        }


@dataclass(frozen=True)
class Standing:
    """A policy's place among instances of one size.

    The interval of the geometric mean resamples instances: it says what another draw of the
    family would give. One instance cannot say that: the interval is then that of its own ratio.
    """

    arms: int
    policy: str
    instances: int
    geometric_mean: float
    low: float
    high: float
    worst: float
    worst_low: float
    worst_instance: str
    harmed: int


@dataclass(frozen=True)
class Tournament:
    """Every policy on every instance, and who stands where."""

    family: str
    seed: int
    target_error: float
    scales: str
    duels: tuple[Duel, ...]
    standings: tuple[Standing, ...]
    correlation: float = 0.0
    prices: tuple[float, ...] = ()

    @property
    def ranking(self) -> list[str]:
        """The policies, best first, each by the largest size that it was fought at."""
        by_size = sorted(self.standings, key=lambda standing: standing.arms)
        means = {standing.policy: standing.geometric_mean for standing in by_size}
        return sorted(means, key=lambda policy: means[policy])

    def to_dict(self) -> dict[str, Any]:
        """Return the tournament for other programs; `rows` are the standings."""
        return {
            "family": self.family,
            "seed": self.seed,
            "target_error": self.target_error,
            "scales": self.scales,
            "correlation": self.correlation,
            "prices": list(self.prices),
            "rows": [vars(standing) for standing in self.standings],
            "cells": [duel.to_dict() for duel in self.duels],
        }


def tournament_report(
    cells: Sequence[Cell],
    *,
    family: str,
    seed: int,
    target_error: float,
    scales: str,
    correlation: float = 0.0,
    prices: tuple[float, ...] = (),
) -> Tournament:
    """Return the tournament of some cells; the first policy of each instance is its base."""
    bases: dict[str, Cell] = {}
    for cell in cells:
        bases.setdefault(cell.instance, cell)
    duels = tuple(Duel(cell, bases[cell.instance]) for cell in cells)
    groups: dict[tuple[int, str], list[Duel]] = {}
    for duel in duels:
        groups.setdefault((duel.cell.arms, duel.cell.policy), []).append(duel)
    standings = tuple(_standing(key, group, seed) for key, group in groups.items())
    return Tournament(family, seed, target_error, scales, duels, standings, correlation, prices)


def _standing(key: tuple[int, str], duels: list[Duel], seed: int) -> Standing:
    logs = np.log([duel.ratio for duel in duels])
    low, high = _resampled(logs, seed) if len(duels) > 1 else duels[0].interval
    worst = max(duels, key=lambda duel: duel.ratio)
    return Standing(
        arms=key[0],
        policy=key[1],
        instances=len(duels),
        geometric_mean=float(np.exp(logs.mean())),
        low=low,
        high=high,
        worst=worst.ratio,
        worst_low=worst.interval[0],
        worst_instance=worst.cell.instance,
        harmed=sum(duel.interval[0] > HARM for duel in duels),
    )


def _resampled(logs: Floats, seed: int) -> tuple[float, float]:
    """Return the 95% interval of a geometric mean, from resampled instances."""
    picks = bootstrap_stream(seed).integers(0, len(logs), (RESAMPLES, len(logs)))
    low, high = np.exp(np.quantile(logs[picks].mean(axis=1), [0.025, 0.975]))
    return float(low), float(high)
