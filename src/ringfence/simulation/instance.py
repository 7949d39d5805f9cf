"""An instance: a known problem, to simulate on and to reason about.

May touch core; reads instance files through `instance_file`.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from importlib import resources
from pathlib import Path
from typing import Any

import numpy as np

from ringfence.core.arrays import Floats
from ringfence.core.attributes import BASELINE, Functions
from ringfence.core.baseline import difference_scales, differences
from ringfence.core.best_feasible import BEST_FEASIBLE
from ringfence.core.errors import InputError
from ringfence.core.hardness import Hardness, hardness, lower_bound_rate, upper_bound
from ringfence.core.oracle import Oracle, Truth, oracle
from ringfence.core.problem import Problem
from ringfence.simulation.laws import Law
from ringfence.simulation.tariffs import Tariff

PAPER_INSTANCES = ("paper-1", "paper-2", "paper-3", "paper-4")


@dataclass(frozen=True, eq=False)
class Instance:
    """A problem with named arms whose distributions are known.

    `baseline` is the arm that limits are relative to; where there are such limits it must be named.
    `price` is what a pull costs, as it was written: by arm, or a metric of which there is a
    `tariff` then.

    >>> import ringfence as rf
    >>> instance = rf.Instance.load("paper-3")
    >>> print(instance.problem.objective, instance.problem.constraints[0])
    minimize mean(loss) mean(risk) <= 0.5
    >>> instance.arms[instance.hardness.optimal]
    'one'
    """

    name: str
    problem: Problem
    arms: tuple[str, ...]
    law: Law
    baseline: str | None = None
    price: Any = None
    tariff: Tariff | None = None

    def __post_init__(self) -> None:
        """Refuse a baseline that is no arm, that limits miss, or that nothing is relative to."""
        self.problem.place_of_baseline(self.baseline, self.arms)
        if self.baseline is not None and not self.problem.is_relative:
            raise InputError(
                f"baseline = {self.baseline!r}: no limit is relative to it. Write one, such as "
                f"{self._example()!r}, or leave the baseline out."
            )

    def _example(self) -> str:
        limits = self.problem.constraints
        what = f"{limits[0].attribute} {limits[0].relation}" if limits else "mean(seconds) <="
        return f"{what} 1.1 * {BASELINE}"

    @classmethod
    def load(cls, source: str | Path) -> "Instance":
        """Return one of the paper's instances by name (paper-1 to paper-4), or read a TOML file."""
        from ringfence.simulation.instance_file import read_instance

        if str(source) in PAPER_INSTANCES:
            folder = resources.files("ringfence.simulation") / "instances"
            with resources.as_file(folder / f"{source}.toml") as path:
                return read_instance(path)
        return read_instance(Path(source))

    @classmethod
    def from_dict(cls, content: Mapping[str, Any], *, name: str = "instance") -> "Instance":
        """Return the instance that a TOML file of this content would give.

        >>> import ringfence as rf
        >>> instance = rf.Instance.from_dict(
        ...     {
        ...         "objective": "minimize mean(cost)",
        ...         "constraints": ["mean(failed) <= 0.1"],
        ...         "metrics": ["cost", "failed"],
        ...         "noise": {"family": ["exponential", "bernoulli"]},
        ...         "arms": {"cheap": {"mean": [1.0, 0.3]}, "solid": {"mean": [2.0, 0.05]}},
        ...     }
        ... )
        >>> instance.arms[instance.hardness.optimal]
        'solid'
        """
        from ringfence.simulation.instance_file import build_instance

        return build_instance(content, name=name, folder=Path())

    @classmethod
    def from_frame(
        cls,
        frame: Any,
        *,
        arm: str,
        objective: str,
        constraints: str | Sequence[str] = (),
        baseline: str | None = None,
        answer: str = BEST_FEASIBLE.name,
        name: str = "table",
        functions: Functions | None = None,
        units: Mapping[str, str] | None = None,
    ) -> "Instance":
        """Return the instance whose truth is a data frame (pandas, polars, Arrow): a row a pull.

        - `arm`: the column that names the arm.
        - `baseline`: the arm that limits such as "mean(x) <= 1.1 * baseline" are relative to.
        - `answer`: which arms are asked for.
        - `functions`: attributes of your own, by the name that expressions call them.
        - `units`: those of the metrics, where limits say some.

        >>> import pandas as pd
        >>> import ringfence as rf
        >>> log = pd.DataFrame(
        ...     {
        ...         "variant": ["a", "a", "a", "b", "b", "b"],
        ...         "score": [0.9, 0.8, 0.95, 0.6, 0.7, 0.65],
        ...         "latency_ms": [240.0, 260.0, 250.0, 120.0, 110.0, 130.0],
        ...     }
        ... )
        >>> table = rf.Instance.from_frame(
        ...     log,
        ...     arm="variant",
        ...     objective="maximize mean(score)",
        ...     constraints=["mean(latency_ms) <= 200"],
        ... )
        >>> [(name, arm.kind) for name, arm in zip(table.arms, table.hardness.arms)]
        [('a', 'deceiver'), ('b', 'optimal')]
        """
        from ringfence.simulation.tables import (
            columns_of_frame,
            table_instance,
            wanted_columns,
        )

        problem = Problem.parse(
            objective, constraints, functions=functions, answer=answer, units=units
        ).with_possible_limits()
        columns = columns_of_frame(frame, wanted_columns(arm, problem))
        return table_instance(name, problem, columns, arm, baseline=baseline)

    def asking(self, answer: str | None) -> "Instance":
        """Return the instance with another question; with its own where none is given.

        >>> import ringfence as rf
        >>> instance = rf.Instance.load("paper-3").asking("all feasible")
        >>> [name for name, arm in zip(instance.arms, instance.hardness.arms) if arm.margin <= 0]
        ['one', 'two']
        """
        return self if answer is None else replace(self, problem=self.problem.asking(answer))

    @cached_property
    def judged(self) -> Problem:
        """The problem as the rules see it: limits on quantiles are limits on shares."""
        return self.problem.judged

    @property
    def shares(self) -> bool:
        """Whether arms share blocks: what they are tried on."""
        return self.law.blocks is not None

    @property
    def has_own(self) -> bool:
        """Whether a function of the user's own is called on every sample of pulls."""
        return self.law.needs_pulls and any(
            attribute.own is not None for attribute in self.problem.attributes
        )

    @property
    def means(self) -> Floats:
        """The true attributes [arm, attribute], oriented so that lower is better."""
        return self.law.means

    @cached_property
    def baseline_place(self) -> int | None:
        """Which arm the baseline is."""
        return self.problem.place_of_baseline(self.baseline, self.arms)

    @cached_property
    def compared(self) -> Floats:
        """The true attributes as limits see them: less the baseline's multiple, if relative."""
        if self.baseline_place is None:
            return self.means
        return differences(self.means, self.baseline_place, self.judged.factors)

    @property
    def scales(self) -> Floats:
        """sqrt(a) of each attribute, as a policy that knows the noise is given them.

        Where a limit is relative, of a difference between arms that were pulled equally often.
        """
        scales = np.sqrt(self.law.constants)
        return scales if self.baseline is None else difference_scales(scales, self.judged.factors)

    @cached_property
    def hardness(self) -> Hardness:
        """The theory of the instance."""
        return hardness(self.compared, self.scales, self.judged.thresholds, self.problem.question)

    @property
    def truth(self) -> Truth:
        """What the costs of a wrong answer depend on."""
        return Truth(
            self.hardness,
            self.means,
            self.law.true_covariances,
            self.scales,
            self.judged.thresholds,
            self.problem.question,
        )

    @cached_property
    def oracle(self) -> Oracle | None:
        """The best static allocation and its rate; None where several arms are right.

        It is exact for gaussian noise, and an approximation by its covariances otherwise. Where
        limits are relative or arms share blocks there is none: it takes arms for independent.
        """
        return None if self.baseline is not None or self.shares else oracle(self.truth)

    @property
    def lower_bound_rate(self) -> float | None:
        """The decay that no consistent policy beats, where it is proven."""
        if self.baseline is not None or self.shares:
            return None
        return lower_bound_rate(self.hardness, self.law.covariances)

    def upper_bound(self, budget: int) -> float | None:
        """Bound Constrained-SR's error; None where it, or a constant, is not proven."""
        if not self.problem.question.is_like(BEST_FEASIBLE):
            return None
        if not self.law.constants_are_proven or self.baseline is not None or self.shares:
            return None
        return upper_bound(self.hardness, budget, constraint_count=len(self.problem.constraints))


def require_sound(instance: Instance) -> Instance:
    """Refuse numbers so large or small that scales and gaps cannot be computed."""
    with np.errstate(all="ignore"):
        scales, means = instance.scales, instance.means
    if not (np.isfinite(scales).all() and (scales > 0.0).all() and np.isfinite(means).all()):
        raise InputError(
            "the means or variances are too large or too small for floating-point numbers. "
            "Measure the metrics in other units."
        )
    return instance
