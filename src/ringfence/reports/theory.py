"""The theory of an instance as a document: what `ringfence gaps` shows. Pure."""

from typing import Any

from ringfence.simulation.instance import Instance


def theory_document(instance: Instance, budget: int | None = None) -> dict[str, Any]:
    """Return the theory of an instance under the keys that other programs rely on.

    `margin_unit` says in what the violations of different constraints are compared.
    """
    theory = instance.hardness
    return {
        "instance": instance.name,
        "optimal": instance.arms[theory.optimal],
        "feasible": theory.feasible,
        "arms": [
            {"name": name} | vars(arm) for name, arm in zip(instance.arms, theory.arms, strict=True)
        ],
        "margin_unit": "noise",
        "H1": theory.h1,
        "H2": theory.h2,
        "lower_bound_rate": instance.lower_bound_rate,
        "conjectured_rate": theory.conjectured_rate,
        "budget": budget,
        "upper_bound": None if budget is None else instance.upper_bound(budget),
    }
