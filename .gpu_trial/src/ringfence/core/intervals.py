"""Intervals for shares. Touches its arguments only."""


def binomial_interval(
    errors: int, replications: int, *, level: float = 0.95
) -> tuple[float, float]:
    """Return the exact (Clopper-Pearson) interval of a share, never narrower than its level."""
    from scipy.special import betaincinv

    tail = (1.0 - level) / 2.0
    low = betaincinv(errors, replications - errors + 1, tail) if errors > 0 else 0.0
    high = (
        betaincinv(errors + 1, replications - errors, 1.0 - tail) if errors < replications else 1.0
    )
    return float(low), float(high)
