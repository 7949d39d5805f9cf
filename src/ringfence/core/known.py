"""Noise that is known, attribute by attribute, in the place of noise that was estimated.

Every covariance stays one: positive semidefinite, whatever is known and whatever was estimated.
Writes in place where its names say `replace`, and touches its arguments only.
"""

from dataclasses import dataclass

import numpy as np

from ringfence.core.arrays import Floats, Mask

LEAST_EIGENVALUE = 1e-12  # of a matrix of correlations: below it, a direction does not vary
LARGEST_FACTOR = 1e150


@dataclass(frozen=True, eq=False)
class KnownNoise:
    """Stated noise by oriented attribute: NaN where nothing is known, infinite ceilings where free.

    `variances` [arm, attribute] may differ by arm; a single row is every arm's. `covariance` is
    that of the attributes with a known variance, among themselves.
    """

    scales: Floats
    variances: Floats
    ceilings: Floats
    covariance: Floats | None

    @property
    def says_nothing(self) -> bool:
        """Whether all is left to be estimated."""
        return bool(np.isnan(self.scales).all() and np.isnan(self.variances).all())

    @property
    def is_known(self) -> Mask:
        """Which variances are known [arm, attribute]."""
        return ~np.isnan(self.variances)

    def replace_scales(self, scales: Floats) -> None:
        """Put the stated scales in the place of estimated ones."""
        scales[...] = np.where(np.isnan(self.scales), scales, self.scales)

    def replace_covariances(self, covariances: Floats) -> None:
        """Put what is known in the place of estimates [arm, attribute, attribute].

        A variance that is known, or capped, leaves correlations as they were estimated. A known
        covariance leaves, of its correlations with the other attributes, what can be true beside
        it: deviations are turned as a whole from the estimated covariance to the known one.
        """
        found = np.diagonal(covariances, axis1=1, axis2=2)
        wanted = np.where(self.is_known, self.variances, np.minimum(found, self.ceilings))
        with np.errstate(divide="ignore", invalid="ignore", over="ignore"):
            factors = np.where(found > 0.0, np.sqrt(wanted / found), 0.0)
        factors = np.minimum(factors, LARGEST_FACTOR)  # beyond it products are no numbers
        factors[wanted == found] = 1.0
        covariances *= factors[:, :, None] * factors[:, None, :]
        width = np.arange(covariances.shape[1])
        covariances[:, width, width] = wanted
        if self.covariance is not None:
            self._replace_block(covariances, self.covariance)

    def _replace_block(self, covariances: Floats, stated: Floats) -> None:
        known, others = np.flatnonzero(self.is_known[0]), np.flatnonzero(~self.is_known[0])
        rows, columns = known[:, None], known[None, :]
        if len(others):
            deviations = np.sqrt(self.variances[0, known])
            units = deviations[:, None] * deviations[None, :]
            found = _root(covariances[:, rows, columns] / units, inverse=True)
            turns = np.matmul(_root(stated / units), found) * units / deviations**2
            crossed = np.matmul(turns, covariances[:, rows, others[None, :]])
            covariances[:, rows, others[None, :]] = crossed
            covariances[:, others[:, None], columns] = crossed.transpose(0, 2, 1)
        covariances[:, rows, columns] = stated


def _root(matrices: Floats, *, inverse: bool = False) -> Floats:
    """Return symmetric roots; an inverse leaves out directions that do not vary."""
    values, vectors = np.linalg.eigh(matrices)
    varies = values > LEAST_EIGENVALUE
    powers = np.where(varies, values, 1.0) ** (-0.5 if inverse else 0.5) * varies
    return np.asarray(np.matmul(vectors * powers[..., None, :], np.swapaxes(vectors, -1, -2)))
