"""Hours in common: what pulls of different arms show beside what the hour does to all of them.

A pull of arm i in hour t is m_i + B_t + noise. The hour's effect B_t is common to all arms and
drawn anew for each hour with variance b2; the noise of one pull has variance sigma_i^2 within hour
and arm. With d_t the arms' pulls in an hour over their variances, D_t = diag(d_t) and y_t the means
of the hour,

    w_t  = b2 / (1 + b2 sum d_t)
    A    = sum_t (D_t - w_t d_t d_t')        r = sum_t (D_t y_t - w_t d_t (d_t' y_t))
    m    = A^-1 r, with covariance A^-1

and b2 maximises the restricted likelihood (Patterson and Thompson 1971). The level of an arm is
what it would have shown over the hours as they were, by their share of all pulls. Differences do
not depend on them. docs/reference/theory.md derives it. Touches its arguments only, and
`fill_within` writes in what it is asked to fill.
"""

import math
from typing import NamedTuple

import numpy as np

from ringfence.core.arrays import Floats, Integers, Mask
from ringfence.core.noise import fill_covariances, fill_pooled, is_yes_or_no, unseen_event
from ringfence.core.sharing import ENDLESS_ROOM, Sharing
from ringfence.core.variances import BORROWED_PULLS, no_log_variances

LEAST_PART = 4.0**-3  # of the noise of an hour: the least effect of hours that is looked for
COARSE, COARSE_STEPS = 4.0, 14
FINE = (2.0, 2.0**0.5, 2.0**0.25)  # steps about the likeliest of the coarse ones


class Hours(NamedTuple):
    """What a rule must know to foresee the pulls of an hour to come, of the objective.

    `joint` is the covariance of the arms' means apart from the hours, `noise` each arm's variance
    of one pull within an hour, and `spread`, of one number, the variance of an hour's effect.
    """

    joint: Floats
    noise: Floats
    spread: Floats


class Level(NamedTuple):
    """The levels of all arms over hours, their covariance, and that of the means apart."""

    estimates: Floats
    covariance: Floats
    joint: Floats


def fill_within(
    covariances: Floats,
    within: Floats,
    freedom: Integers,
    scatters: Floats,
    counts: Integers,
    estimates: Floats,
    means: Mask,
) -> None:
    """Put the covariance of one pull within an hour, of every arm, into `covariances`.

    `within` are the scatters about the means of arm and hour, with so much `freedom` by arm;
    `scatters` those about the arms' means. Rates are known by the latter, and shrunk as rates are.
    """
    pooled = np.zeros(within.shape[1:])
    fill_pooled(pooled, within, freedom + 1)
    nothing = np.zeros(len(means), np.bool_)
    logs = no_log_variances(*estimates.shape)
    fill_covariances(covariances, within, freedom + 1, pooled, estimates, nothing, logs)
    for c in np.flatnonzero(means).tolist():
        if pooled[c, c] <= 0.0 or not is_yes_or_no(c, estimates, scatters, counts):
            continue
        for i in range(len(counts)):
            wanted = within[i, c, c] + BORROWED_PULLS * pooled[c, c]
            wanted += unseen_event(scatters[i, c, c], counts[i])
            factor = math.sqrt(wanted / (freedom[i] + BORROWED_PULLS) / covariances[i, c, c])
            covariances[i, c, :] *= factor
            covariances[i, :, c] *= factor


def spread_of_hours(weights: Floats, away: Floats) -> float:
    """Return the likeliest variance of an hour's effect: nothing, or one of a geometric grid.

    `weights` [arm, hour] are pulls over variances, `away` how far the arm's mean of the hour lies
    from its mean of all.
    """
    unit = LEAST_PART * weights.shape[1] / float(weights.sum())
    least, likeliest = unlikeliness(weights, away, 0.0), 0.0
    tried = [unit * COARSE**step for step in range(COARSE_STEPS)]
    for step in (None, *FINE):
        if step is not None:
            if likeliest == 0.0:
                break
            tried = [likeliest / step, likeliest * step]
        for spread in tried:
            found = unlikeliness(weights, away, spread)
            if found < least:
                least, likeliest = found, spread
    return likeliest


def unlikeliness(weights: Floats, away: Floats, spread: float) -> float:
    """Return minus twice the log of the restricted likelihood, up to a constant."""
    borne = borne_by_hours(weights, spread)
    precision, pressed = equations(weights, away, borne)
    root = np.linalg.cholesky(precision)
    solved = np.linalg.solve(root, pressed)
    totals = (weights * away).sum(axis=0)
    found = np.log1p(spread * weights.sum(axis=0)).sum() - (borne * totals**2).sum()
    return float(found + 2.0 * np.log(np.diagonal(root)).sum() - (solved**2).sum())


def borne_by_hours(weights: Floats, spread: float) -> Floats:
    """Return w_t of every hour: the variance of its effect once the arms' means are known."""
    return np.asarray(spread / (1.0 + spread * weights.sum(axis=0)))


def equations(weights: Floats, away: Floats, borne: Floats) -> tuple[Floats, Floats]:
    """Return the precision A of the arms' means, and r. An arm without pulls has that of one."""
    own = weights.sum(axis=1)
    precision = np.diag(np.where(own > 0.0, own, 1.0)) - (weights * borne) @ weights.T
    weighted = weights * away
    return precision, weighted.sum(axis=1) - weights @ (borne * weighted.sum(axis=0))


def level_over_hours(weights: Floats, away: Floats, spread: float, parts: Floats) -> Level:
    """Return where arms lie over the hours, which count by their `parts` of all pulls.

    Told from each arm's mean of all its pulls.
    """
    borne = borne_by_hours(weights, spread)
    precision, pressed = equations(weights, away, borne)
    joint = np.linalg.inv(precision)
    joint = 0.5 * (joint + joint.T)
    means = joint @ pressed
    # The hours' effects given the means are w_t (d_t'y_t - d_t'm), each with variance w_t.
    leaning = weights @ (parts * borne)
    common = float((parts * borne * (weights * away).sum(axis=0)).sum() - leaning @ means)
    turn = np.eye(len(means)) - leaning[None, :]
    covariance = turn @ joint @ turn.T + float((parts**2 * borne).sum())
    return Level(means + common, covariance, joint)


def shared_in_hours(covariances: Floats, correlations: Floats) -> Sharing:
    """Return the joint covariance of all attributes [attribute, arm, arm] of all arms, as a root.

    Two attributes go with each other in every arm as one pull's `correlations` [arm, attribute,
    attribute] say: with symmetric roots C_c^(1/2) their covariance is C_c^(1/2) diag(correlations)
    C_k^(1/2). That is positive whatever they are, and of arms apart it is their own.
    """
    width, arm_count, _ = covariances.shape
    values, vectors = np.linalg.eigh(covariances)
    turned = vectors * np.sqrt(np.maximum(values, 0.0))[:, None, :]
    roots = turned @ vectors.transpose(0, 2, 1)
    within = roots_of(correlations)
    whole = np.einsum("cij,jce->icje", roots, within).reshape(arm_count * width, -1)
    triangle: Floats = np.linalg.qr(whole.T, mode="r")  # type: ignore[assignment]
    return Sharing(
        np.ascontiguousarray(triangle.T.reshape(arm_count, width, arm_count * width)),
        np.ones(arm_count),
        np.arange(arm_count),
        np.arange(arm_count),
        np.full(arm_count, ENDLESS_ROOM),
    )


def roots_of(correlations: Floats) -> Floats:
    """Return roots of correlations whose rows have length 1; what cannot be is left out."""
    values, vectors = np.linalg.eigh(correlations)
    found = vectors * np.sqrt(np.maximum(values, 0.0))[:, None, :]
    return np.asarray(found / np.sqrt((found**2).sum(axis=2))[:, :, None])
