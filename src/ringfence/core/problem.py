"""A problem: one objective and its constraints, turned so that lower is always better.

The turning happens here, once; everything below a problem works on oriented values, everything
people see is in their own units and direction. Touches its arguments only.
"""

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace

import numpy as np

from ringfence.core.arrays import Floats, Mask
from ringfence.core.attributes import Attribute, Constraint, Functions, Objective, complement
from ringfence.core.best_feasible import BEST_FEASIBLE
from ringfence.core.errors import ExpressionError, InputError, one_of
from ringfence.core.expressions import parse_constraint, parse_objective
from ringfence.core.question import Question
from ringfence.core.questions import find_question
from ringfence.core.running import Recipe
from ringfence.core.units import Unit, units_of

UNREACHED = 1e150  # no estimate is as large, nor what is told from a baseline
MOST_TIMES = 1e20
_RANGES = {"share": (0.0, 1.0), "variance": (0.0, math.inf), "std": (0.0, math.inf)}


@dataclass(frozen=True)
class Problem:
    """An objective, its constraints, and the question which arms are the answer.

    Attribute 0 is the objective, 1..m are the constraints. Without constraints every arm is
    feasible, and the best one is asked for. `units` are those of the metrics' values, where stated.

    >>> import ringfence as rf
    >>> problem = rf.Problem.parse("maximize mean(score)", "p95(latency_ms) <= 200")
    >>> problem.metrics
    ('score', 'latency_ms')
    >>> print(problem.judged.constraints[0])
    share(latency_ms > 200) <= 0.05
    """

    objective: Objective
    constraints: tuple[Constraint, ...]
    question: Question = field(default=BEST_FEASIBLE, repr=False)
    units: tuple[tuple[str, str], ...] = ()

    @classmethod
    def parse(
        cls,
        objective: str,
        constraints: str | Sequence[str] = (),
        *,
        functions: Functions | None = None,
        answer: str = BEST_FEASIBLE.name,
        units: Mapping[str, str] | None = None,
    ) -> "Problem":
        """Read a problem from its expressions; an error names the one that cannot be read.

        `functions` are attributes of the user's own, by the name that expressions call them;
        `answer` is which arms are asked for: "best feasible" or "all feasible"; `units` are those
        in which metrics are measured, such as {"latency": "ms"}.

        >>> import ringfence as rf
        >>> problem = rf.Problem.parse(
        ...     "maximize accuracy", ["latency < 2s", "refused <= 3%"], units={"latency": "ms"}
        ... )
        >>> print(*problem.constraints, problem.thresholds.tolist())
        latency <= 2 s refused <= 3% [2000.0, 0.03]
        """
        if isinstance(constraints, str):
            constraints = [constraints]
        stated = units_of("units", units or {})
        try:
            parsed_objective = parse_objective(objective, functions, stated)
        except ExpressionError as error:
            raise _placed("objective", error) from None
        parsed = []
        for place, text in enumerate(constraints):
            try:
                parsed.append(parse_constraint(text, functions, stated))
            except ExpressionError as error:
                raise _placed(f"constraints[{place}]", error) from None
        question = find_question(answer)
        if not parsed and not question.is_like(BEST_FEASIBLE):
            raise InputError(
                f"constraints = [] must hold a limit with answer = {answer!r}: without one every "
                "arm is feasible. Add one, such as 'mean(risk) <= 1.0'."
            )
        return cls(parsed_objective, tuple(parsed), question, tuple(stated.items()))

    def asking(self, answer: str | None) -> "Problem":
        """Return the problem with another question; with its own where none is given."""
        return self if answer is None else replace(self, question=find_question(answer))

    def with_possible_limits(self) -> "Problem":
        """Return the problem; a limit where its attribute can never be is refused.

        For problems that are new: what was stored is read as it is.
        """
        for place, constraint in enumerate(self.constraints):
            name, limit = constraint.attribute.statistic, constraint.threshold
            if abs(constraint.factor) > MOST_TIMES:
                raise InputError(
                    f"constraints[{place}] = '{constraint}': a baseline may count at most "
                    f"{MOST_TIMES:g} times. Write a smaller number."
                )
            low, high = _RANGES.get(name, (-math.inf, math.inf))
            if constraint.factor == 0.0 and not low <= limit <= high:
                rule = f"between {low:g} and {high:g}" if high < math.inf else f"at least {low:g}"
                percent = f" Write: {limit:g}%" if high == 1.0 < limit else ""
                raise InputError(
                    f"constraints[{place}] = '{constraint}': a {name} is {rule}, and so must its "
                    f"limit be.{percent}"
                )
        return self

    @property
    def attributes(self) -> tuple[Attribute, ...]:
        """The objective's attribute, then the constraints' attributes in order."""
        return (self.objective.attribute, *(c.attribute for c in self.constraints))

    @property
    def least_pulls(self) -> int:
        """The pulls of an arm without which an attribute is undefined."""
        return max(attribute.least_pulls for attribute in self.attributes)

    @property
    def first_pulls(self) -> int:
        """The pulls of an arm that tell something of the noise of every attribute."""
        return max(attribute.first_pulls for attribute in self.attributes)

    @property
    def recipe(self) -> Recipe:
        """How the oriented attributes come from the metrics, as arrays."""
        attributes, metrics = self.attributes, self.metrics
        return Recipe(
            kinds=np.array([attribute.kind for attribute in attributes]),
            levels=np.array([attribute.level or 0.0 for attribute in attributes]),
            metric_of=np.array([metrics.index(attribute.metric) for attribute in attributes]),
            other_of=np.array([metrics.index(attribute.metrics[-1]) for attribute in attributes]),
            signs=self.signs,
        )

    @property
    def metrics(self) -> tuple[str, ...]:
        """The metrics that the problem uses, each once, in order of first use."""
        return tuple(
            dict.fromkeys(metric for attribute in self.attributes for metric in attribute.metrics)
        )

    @property
    def judged(self) -> "Problem":
        """The problem as the rules see it: a limit on a quantile is a limit on a share.

        "p95(x) <= 200" and "share(x > 200) <= 0.05" say the same of every sample, to the pull. But
        the share's noise is known without a density, from the first pulls on, and its constant
        is proven.
        """
        return replace(self, constraints=tuple(map(_as_share, self.constraints)))

    @property
    def means(self) -> Mask:
        """Which attributes are means of what each pull contributes."""
        return np.array([attribute.is_mean for attribute in self.attributes])

    @property
    def signs(self) -> Floats:
        """+1 where lower is better as written, -1 where the attribute must be negated."""
        directions = [self.objective.direction == "minimize"]
        directions += [constraint.relation == "<=" for constraint in self.constraints]
        return np.where(directions, 1.0, -1.0)

    @property
    def factors(self) -> Floats:
        """The multiples of the baseline in the limits, one a constraint; 0 where there is none."""
        return np.array([one.factor for one in self.constraints], dtype=np.float64)

    @property
    def is_relative(self) -> bool:
        """Whether any limit is relative to a baseline."""
        return any(constraint.factor for constraint in self.constraints)

    def place_of_baseline(self, name: str | None, arms: Sequence[str]) -> int | None:
        """Return which arm the baseline is; one that is no arm, or that limits miss, is refused."""
        if name is not None and name not in arms:
            raise one_of("baseline", name, arms)
        if name is None:
            for constraint in self.constraints:
                if constraint.factor:
                    raise InputError(
                        f"baseline is missing: the limit {str(constraint)!r} is relative to it. "
                        f"Name an arm, such as baseline = {arms[0]!r}."
                    )
            return None
        return list(arms).index(name)

    def unit(self, name: str) -> Unit:
        """Return the unit in which an attribute, called as it was written, is shown.

        That of the first limit on it that has one, else that of its metric.
        """
        for constraint in self.constraints:
            if str(constraint.attribute) == name and constraint.shown_in.name:
                return constraint.shown_in
        units = dict(self.units)
        return next(
            (Unit(one.unit(units)) for one in self.attributes if str(one) == name), Unit("")
        )

    def require_numbers(self, what: str) -> "Problem":
        """Return the problem if its limits are numbers; what cannot do with others says so."""
        for constraint in self.constraints:
            if constraint.factor:
                raise InputError(
                    f"constraint {str(constraint)!r} is relative to a baseline: {what}. Write the "
                    "limit as a number."
                )
        return self

    @property
    def thresholds(self) -> Floats:
        """The oriented thresholds, one a constraint: an attribute is fine when it is <= its own."""
        written = np.array([float(one.threshold) for one in self.constraints], dtype=np.float64)
        # Adding zero turns -0.0 into 0.0, so that JSON and tables never show a negative zero.
        # No value comes near the end of the numbers: a limit there is one that none reaches.
        reached = np.clip(written, -UNREACHED, UNREACHED)
        return np.asarray(self.signs[1:] * reached + 0.0, dtype=np.float64)


def _as_share(constraint: Constraint) -> Constraint:
    """Return a limit on a quantile as one on the share of pulls beyond it."""
    attribute = constraint.attribute
    if attribute.statistic != "quantile" or attribute.level is None or constraint.factor:
        return constraint
    upper = constraint.relation == "<="
    bound, unit = ">" if upper else "<", constraint.shown_in
    share = Attribute("share", attribute.metric, bound, constraint.threshold, shown_in=unit)
    allowed = complement(attribute.level) if upper else attribute.level
    return Constraint(share, "<=", allowed)


def _placed(key: str, error: ExpressionError) -> ExpressionError:
    return ExpressionError(f"{key} cannot be read: {error.what}", error.text, error.position)
