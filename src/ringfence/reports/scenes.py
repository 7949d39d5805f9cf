"""The two scenes of the paper's Figure 2: three arms at the end of a phase, and who must go.

The picture shows what the rules themselves decide. Pure.
"""

from dataclasses import dataclass

import numpy as np

from ringfence.policies.registry import find_phase_policy


@dataclass(frozen=True)
class Scene:
    """Estimates (objective, constraint) of a few arms, with one threshold and unit scales."""

    title: str
    points: tuple[tuple[float, float], ...]
    threshold: float

    def rejected_by(self, policy: str) -> int:
        """Return the arm that a policy drops here."""
        reject = find_phase_policy(policy).course.rule
        arm_count = len(self.points)
        return int(
            reject(
                np.array(self.points),
                np.ones(arm_count, np.int64),
                np.ones(arm_count, np.bool_),
                np.ones(2),
                np.array([self.threshold]),
                np.arange(arm_count),
            )
        )

    def notes(self, arm: int) -> list[str]:
        """Return which of the paper's two policies drop an arm, in words."""
        return [
            f"dropped by {policy}"
            for policy in ("constrained-sr", "infeasible-first")
            if self.rejected_by(policy) == arm
        ]


TIE_RULE = Scene(
    "(a) arm 1 may be infeasible: keep arm 3, its stand-in",
    points=((2.0, 1.4), (1.0, 3.8), (4.0, 1.0)),
    threshold=1.8,
)

NEAR_MISS = Scene(
    "(b) arm 1 may be feasible after all: arm 3 can go",
    points=((0.5, 2.1), (3.0, 0.5), (4.0, 0.5)),
    threshold=1.8,
)
