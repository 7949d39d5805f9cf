"""A small task of inspect-ai: sums, judged in two ways."""

# mypy: ignore-errors

from inspect_ai import Task, task
from inspect_ai.dataset import MemoryDataset, Sample
from inspect_ai.scorer import includes, match
from inspect_ai.solver import generate

COUNT = 4


@task
def sums(count: int = COUNT) -> Task:
    """Ask for sums of two neighbours."""
    samples = [
        Sample(id=f"sum-{n}", input=f"What is {n} + {n + 1}?", target=str(2 * n + 1))
        for n in range(1, count + 1)
    ]
    scorers = [match(location="end"), includes()]
    return Task(dataset=MemoryDataset(samples), solver=generate(), scorer=scorers)
