"""What proofs take, in words and as facts: of simulations that end by them. Pure."""

from typing import Any

from ringfence.simulation.results import QUANTILES, SimulationResult


def needs_of_proofs(result: SimulationResult) -> str:
    """Return in a sentence how many pulls a proof takes, and how often there is none."""
    if result.stop is None:
        raise ValueError("nothing was to be proven")
    level = f"{100 * result.stop.confidence:g}%"
    if not result.proofs.certified:
        return f"a certificate at {level} takes more than {result.budget:,} pulls"
    low, _, high = (result.proofs.quantile(share) for share in QUANTILES)
    said = f"a certificate at {level} takes {pulls_in_words(result)} pulls"
    said += f" ({low:,} to {high:,} in 80% of replications)" if low < high else ""
    if result.certified_rate < 1.0:
        said += f"; {result.certified_rate:.1%} have one within {result.budget:,}"
    return said


def pulls_in_words(result: SimulationResult) -> str:
    """Return the mean of the pulls that were used, which the budget cuts off."""
    mean = f"{result.pulls_used_mean:,.0f}"
    return mean if result.certified_rate == 1.0 else f"at least {mean}"


def counted_proofs(result: SimulationResult) -> list[tuple[str, str]]:
    """Return what is told of proofs, line by line; nothing where none were asked for."""
    if result.stop is None:
        return []
    quantiles = [f"{result.proofs.quantile(share):,}" for share in QUANTILES]
    of = f"of {result.replications}"
    return [
        ("certified", f"{result.certified_rate:.4g} ({result.proofs.certified} {of})"),
        ("wrongly", f"{result.wrong_certified_rate:.4g} ({result.proofs.wrong} {of})"),
        (
            "pulls used",
            f"{result.pulls_used_mean:,.0f} on average; 10%, 50%, 90%: {', '.join(quantiles)}",
        ),
    ]


def proof_facts(result: SimulationResult) -> dict[str, Any]:
    """Return what is told of proofs under the keys that other programs rely on."""
    return result.stop_facts() | {"budget": result.budget, "replications": result.replications}
