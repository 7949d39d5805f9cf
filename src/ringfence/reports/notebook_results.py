"""What notebooks show of simulations and plans: a sentence and small tables. Pure."""

from collections.abc import Sequence

from ringfence.core.showing import html_of
from ringfence.reports.html import items, table
from ringfence.reports.notebook import block
from ringfence.simulation.planning import Hard, Point
from ringfence.simulation.rare.results import RareResult
from ringfence.simulation.results import SimulationResult

_MOST_ARMS = 12
_MOST_REASONS = 5


@html_of.register
def simulation_html(result: SimulationResult) -> str:
    """Return an error rate with its interval, and where the pulls went."""
    return _result_html(result, f"{result.errors:,} errors in {result.replications:,} replications")


@html_of.register
def rare_html(result: RareResult) -> str:
    """Return a rare error's probability, with what gives reason for doubt."""
    return _result_html(result, f"by {result.method}", result.warnings)


def _result_html(
    result: SimulationResult | RareResult, how: str, warnings: Sequence[str] = ()
) -> str:
    low, high = result.interval
    headline = (
        f"{result.policy} errs on {result.instance} with a probability of {result.error_rate:.4g} "
        f"after {result.budget:,} pulls (95% interval {low:.4g} to {high:.4g}; {how})."
    )
    pulls = list((result.mean_pulls or {}).items())[:_MOST_ARMS]
    parts = [table(["arm", "mean pulls"], [[arm, f"{count:.1f}"] for arm, count in pulls])]
    return block(headline, *parts * bool(pulls), *[items(warnings)] * bool(warnings))


def plan_html(
    headline: str, curve: Sequence[Point], bounds: Sequence[float | None], hardest: Sequence[Hard]
) -> str:
    """Return a plan: the budget in a sentence, what makes it hard, the errors at other budgets."""
    rows = [
        [f"{one.budget:,}", f"{one.error_rate:.3g}", "-" if bound is None else f"{bound:.3g}"]
        for one, bound in zip(curve, bounds, strict=True)
    ]
    reasons = [f"{one.share:.0%} of the difficulty is {one.what}" for one in hardest]
    return block(
        headline, items(reasons[:_MOST_REASONS]), table(["budget", "error", "proven bound"], rows)
    )
