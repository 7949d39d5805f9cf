"""The paper's experiments, run again beside what was published. May touch everything below."""

from ringfence.execution.chunks import Progress
from ringfence.interfaces.rare import Hands, by_importance
from ringfence.interfaces.wiring import compare
from ringfence.policies.registry import find_policy
from ringfence.reports.paper import (
    BUDGETS,
    POLICY_NAMES,
    UNPUBLISHED_BUDGETS,
    UNPUBLISHED_INSTANCE,
    PaperReport,
    paper_report,
)
from ringfence.simulation.experiment import Experiment
from ringfence.simulation.instance import PAPER_INSTANCES, Instance
from ringfence.simulation.rare.importance import with_pilots

UNPUBLISHED_REPLICATIONS = 100_000


def reproduce_paper(
    *,
    replications: int = 100_000,
    seed: int = 0,
    threads: int | None = None,
    progress: Progress | None = None,
) -> PaperReport:
    """Return the paper's four panels beside its published points, with fitted decay rates.

    The points that the paper could only give as minus infinity are filled by importance sampling.

    >>> import ringfence as rf
    >>> report = rf.reproduce_paper(replications=1000)
    >>> len(report.points), sum(statement.holds is False for statement in report.statements)
    (80, 0)
    >>> rf.save_chart(rf.paper_figure(report), "paper.svg").name
    'paper.svg'
    """
    instances = [Instance.load(name) for name in PAPER_INSTANCES]
    rows = compare(
        instances,
        policies=POLICY_NAMES,
        budgets=BUDGETS,
        replications=replications,
        seed=seed,
        threads=threads,
        progress=progress,
    )
    hands = Hands(seed, threads, progress=progress)
    beyond = [
        by_importance(
            Experiment(instances[UNPUBLISHED_INSTANCE - 1], find_policy(policy), budget),
            UNPUBLISHED_REPLICATIONS,
            hands,
            cross_check=False,
        )
        for budget in UNPUBLISHED_BUDGETS
        for policy in POLICY_NAMES
    ]
    return paper_report([row.result for row in rows], beyond, instances)


def paper_replications(replications: int) -> int:
    """Return how many replications `reproduce_paper` runs in all, for a progress bar."""
    points = len(PAPER_INSTANCES) * len(BUDGETS)
    beyond = len(UNPUBLISHED_BUDGETS) * len(POLICY_NAMES) * with_pilots(UNPUBLISHED_REPLICATIONS)
    return points * replications + beyond
