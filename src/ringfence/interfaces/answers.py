"""The cache of answers that a user named, for the pulls of one study.

May touch study, execution, and the file that was named.
"""

from pathlib import Path
from typing import Any

from ringfence.core.errors import InputError
from ringfence.execution.cache import Cache
from ringfence.execution.evaluating import LoggedRows
from ringfence.execution.ways import way_of
from ringfence.study.plan import Plan


def cache_at(path: Any, plan: Plan, evaluate: Any) -> Cache:
    """Open the cache for a study whose pulls are evaluated so; an open one stays as it is."""
    if isinstance(path, Cache):
        return path
    if not isinstance(path, str | Path) or not str(path):
        raise InputError(f"cache = {path!r} must be the path of a file. Write 'answers.db'.")
    if isinstance(evaluate, LoggedRows):
        raise InputError(
            f"cache = {str(path)!r} has no effect with a table, whose answers cost nothing. Leave "
            "it out."
        )
    place = Path(path)
    if not place.parent.is_dir():
        raise InputError(
            f"cache = {str(path)!r}: folder {str(place.parent)!r} does not exist. Make it first."
        )
    metrics, repeats = plan.told_metrics, plan.sharing.repeats
    return Cache(place, way=way_of(evaluate), metrics=metrics, repeats=repeats)
