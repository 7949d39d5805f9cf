"""How often policies err where all feasible arms are asked for.

    python benchmarks/sets.py

The paper's third instance, and ten arms on both sides of one limit: the thresholding problem of
Locatelli, Gutzeit and Carpentier (2016). Noise is normal and known. Half a minute on one core.
"""

import sys

import ringfence as rf
from ringfence.policies.registry import policies_for

BUDGETS = (2000, 5000)
RISKS = (0.1, 0.2, 0.3, 0.35, 0.45, 0.55, 0.65, 0.7, 0.8, 0.9)
TEN_ARMS = rf.Instance.from_dict(
    {
        "objective": "minimize mean(loss)",
        "constraints": ["mean(risk) <= 0.5"],
        "answer": "all feasible",
        "metrics": ["loss", "risk"],
        "noise": {"family": "gaussian", "covariance": [[1.0, 0.0], [0.0, 1.0]]},
        "arms": {f"risk {risk}": {"mean": [0.0, risk]} for risk in RISKS},
    },
    name="ten arms",
)


def main() -> None:
    """Print a row for each instance and budget."""
    for instance in (rf.Instance.load("paper-3").asking("all feasible"), TEN_ARMS):
        for budget in BUDGETS:
            rates = []
            for policy in policies_for(instance.problem.question):
                size = 100_000 if policy.has_phases else 10_000
                found = rf.simulate(instance, policy, budget=budget, replications=size)
                rates.append(f"{policy.name} {found.error_rate:.4f} +- {found.std_error:.4f}")
            sys.stdout.write(f"{instance.name}, T = {budget}: {', '.join(rates)}\n")


if __name__ == "__main__":
    main()
