"""The instances that golden courses are about: written out by hand, never drawn.

They are a question each, in a row: laws of noise, numbers of arms and limits, a baseline, tables on
integer grids, attributes that are no means. Public surface only.
"""

from collections.abc import Callable, Sequence
from typing import Any

import numpy as np
import pandas as pd

import ringfence as rf

Make = Callable[[], rf.Instance]


def from_means(
    objective: str,
    constraints: Sequence[str],
    noise: dict[str, Any],
    arms: Sequence[Sequence[float]],
    *,
    own: dict[int, list[list[float]]] | None = None,
    baseline: str | None = None,
    name: str = "world",
) -> rf.Instance:
    """Return an instance of metrics a, b, c, d with arms v0, v1, and so on."""
    table: dict[str, dict[str, Any]] = {
        f"v{place}": {"mean": list(means)} for place, means in enumerate(arms)
    }
    for place, covariance in (own or {}).items():
        table[f"v{place}"]["covariance"] = covariance
    content: dict[str, Any] = {
        "objective": objective,
        "constraints": list(constraints),
        "metrics": list("abcd"[: len(arms[0])]),
        "noise": noise,
        "arms": table,
    }
    if baseline is not None:
        content["baseline"] = baseline
    return rf.Instance.from_dict(content, name=name)


def gaussian_noise(width: int, correlation: float = 0.5) -> dict[str, Any]:
    """Return unit variances with one correlation."""
    rows = [[1.0 if i == j else correlation for j in range(width)] for i in range(width)]
    return {"family": "gaussian", "covariance": rows}


ONE = ("minimize mean(a)", ["mean(b) <= 0.5"])
TWO = ("maximize mean(a)", ["mean(b) <= 0.5", "mean(c) >= 0.2"])
THREE = ("minimize mean(a)", ["mean(b) <= 0.5", "mean(c) <= 0.75", "mean(d) >= 0.125"])
SPREAD = [(7 * place % 20, 3 * place % 7) for place in range(20)]
UNEQUAL = [[3.0, -1.0], [-1.0, 1.0]]
FOUR_ARMS = [[0.9, 0.2, 0.5], [0.5, 0.1, 0.9], [1.2, 0.8, 0.4], [0.7, 0.3, -0.3]]
RISKS = [[0.3, 0.5], [0.5, 0.3], [0.1, 0.9], [0.45, 0.45]]


def table_rows() -> pd.DataFrame:
    """Return rows on a small integer grid: ties are everywhere, and so are means on a limit."""
    rows = [
        (f"v{arm}", (3 * i + arm) % 4 + arm // 2, (5 * i + 2 * arm) % 4, (i * i + arm) % 3)
        for arm in range(5)
        for i in range(8 + arm)
    ]
    return pd.DataFrame(rows, columns=["variant", "a", "b", "c"])


def ratio(a: Any, b: Any) -> float:
    """Return an attribute of one's own: a function of two metrics."""
    return float(np.sum(a) / (1.0 + np.sum(b)))


def table(
    objective: str,
    *constraints: str,
    baseline: str | None = None,
    functions: dict[str, Any] | None = None,
) -> rf.Instance:
    """Return the instance whose truth are the rows on the grid."""
    return rf.Instance.from_frame(
        table_rows(), arm="variant", objective=objective, constraints=constraints,
        baseline=baseline, functions=functions, name="grid",
    )  # fmt: skip


WORLDS: dict[str, Make] = {
    "gauss-2": lambda: from_means(*ONE, gaussian_noise(2), [[0.2, 0.3], [0.0, 0.9]]),
    "gauss-3-own": lambda: from_means(
        *ONE, gaussian_noise(2, -0.4), [[0.4, 0.2], [0.0, 0.8], [0.6, 0.4]], own={1: UNEQUAL}
    ),
    "gauss-3-infeasible": lambda: from_means(
        *ONE, gaussian_noise(2), [[0.4, 0.9], [0.0, 1.0], [0.6, 0.7]]
    ),
    "gauss-3-one-metric": lambda: from_means(
        "minimize mean(a)", ["mean(a) >= 0.1"], gaussian_noise(1), [[0.0], [0.3], [0.6]]
    ),
    "gauss-4-two": lambda: from_means(*TWO, gaussian_noise(3, 0.3), FOUR_ARMS),
    "gauss-8-three": lambda: from_means(
        *THREE,
        gaussian_noise(4, 0.2),
        [[0.1 * i, 0.9 - 0.1 * i, 0.5 + 0.05 * (i % 4), 0.25] for i in range(8)],
    ),
    "gauss-20": lambda: from_means(
        *ONE, gaussian_noise(2, -0.25), [[0.1 * x, 0.2 * y] for x, y in SPREAD]
    ),
    "bernoulli-3": lambda: from_means(
        *ONE, {"family": "bernoulli"}, [[0.5, 0.3], [0.25, 0.75], [0.5, 0.45]]
    ),
    "bernoulli-4-two": lambda: from_means(
        *TWO,
        {"family": "bernoulli"},
        [[0.5, 0.6, 0.4], [0.6, 0.65, 0.9], [0.45, 0.7, 0.1], [0.4, 0.9, 0.5]],
    ),
    "poisson-4-two": lambda: from_means(
        *TWO,
        {"family": "poisson"},
        [[1.0, 0.3, 0.6], [1.0, 0.2, 0.5], [1.6, 1.0, 0.9], [0.6, 0.1, 2.0]],
    ),
    "exponential-4-two": lambda: from_means(
        *TWO,
        {"family": "exponential"},
        [[0.8, 0.4, 0.5], [1.1, 0.8, 0.3], [0.5, 0.2, 0.9], [0.9, 0.45, 0.15]],
    ),
    "mixed-4-two": lambda: from_means(
        *TWO,
        {"family": ["gaussian", "bernoulli", "poisson"], "covariance": [[2.0]]},
        [[0.9, 0.4, 0.5], [0.6, 0.3, 0.9], [1.2, 0.7, 0.4], [1.1, 0.45, 0.1]],
    ),
    "grid": lambda: table("maximize mean(a)", "mean(b) <= 1.5", "mean(c) <= 1.0"),
    "gauss-relative": lambda: from_means(
        "minimize mean(a)",
        ["mean(b) <= 1.1 * baseline", "mean(b) <= 0.9"],
        gaussian_noise(2),
        [[0.5, 0.5], [0.2, 0.8], [0.3, 0.45], [0.6, 0.3]],
        baseline="v0",
    ),
    "bernoulli-relative": lambda: from_means(
        "maximize mean(a)",
        ["mean(b) <= baseline + 0.1"],
        {"family": "bernoulli"},
        [[0.5, 0.3], [0.75, 0.6], [0.6, 0.35]],
        baseline="v2",
    ),
    "grid-relative": lambda: table(
        "maximize mean(a)", "mean(b) <= 1.25 * baseline", "mean(c) <= 1.0", baseline="v1"
    ),
    "exponential-p95": lambda: from_means(
        "minimize mean(a)", ["p95(b) <= 1.5"], {"family": "exponential"}, RISKS
    ),
    "gauss-share": lambda: from_means(
        "minimize mean(a)", ["share(b > 1) <= 0.35"], gaussian_noise(2), RISKS
    ),
    "gauss-std": lambda: from_means(
        "minimize mean(a)", ["std(b) <= 1.2"], gaussian_noise(2), RISKS[:3], own={2: UNEQUAL}
    ),
    "poisson-variance": lambda: from_means(
        "minimize mean(a)", ["variance(b) <= 0.5"], {"family": "poisson"}, RISKS
    ),
    "gauss-cvar": lambda: from_means(
        "minimize cvar(a, 0.75)", ["lower_cvar(b, 0.25) >= -1.0"], gaussian_noise(2), RISKS
    ),
    "grid-tails": lambda: table("minimize robust_mean(a)", "p75(b) <= 2", "cvar(c, 0.75) <= 1.9"),
    "gauss-p90-relative": lambda: from_means(
        "minimize mean(a)", ["std(b) <= 1.1 * baseline"], gaussian_noise(2), RISKS, baseline="v3"
    ),
    "grid-ratio": lambda: table(
        "maximize ratio(a, b)", "mean(c) <= 1.0", functions={"ratio": ratio}
    ),
}
