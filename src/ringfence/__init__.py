"""ringfence: the best option that stays inside its limits, on a fixed budget.

>>> import ringfence as rf
>>> result = rf.simulate("paper-3", "constrained-sr", budget=2000, replications=20_000)
>>> print(f"wrong in {result.error_rate:.0%} of replications")
wrong in 25% of replications

The public names are loaded on first use, so that importing ringfence costs next to nothing.
"""

from importlib import import_module
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from ringfence.core.attributes import Attribute, Own
    from ringfence.core.errors import (
        EstimateError,
        ExpressionError,
        IgnoredWarning,
        InfeasibleWarning,
        InputError,
        LeaseError,
        MissingExtraError,
        MissingStudyError,
        NameTakenError,
        NoAnswerError,
        OutageError,
        RingfenceError,
        ShapeError,
        StorageAwayError,
        StorageError,
        ToldOtherwiseError,
    )
    from ringfence.core.expressions import parse_attribute
    from ringfence.core.hardness import ArmTheory, Hardness
    from ringfence.core.measurement import Measurement, measure_sample, proven_constant
    from ringfence.core.oracle import Oracle
    from ringfence.core.problem import Problem
    from ringfence.core.schedule import Phase, successive_rejects_phases
    from ringfence.execution.evaluating import Command, LoggedRows
    from ringfence.execution.failures import UnavailableError
    from ringfence.execution.functions import AsyncFunction, Function
    from ringfence.interfaces.bridges.frames import to_frame
    from ringfence.interfaces.bridges.inspect_task import InspectTask
    from ringfence.interfaces.bridges.mlflow import log_to_mlflow
    from ringfence.interfaces.bridges.review import OptunaReview, from_optuna
    from ringfence.interfaces.bridges.search import ConstrainedSearchCV as ConstrainedSearchCV
    from ringfence.interfaces.leases import Pull, Status
    from ringfence.interfaces.logs.importing import import_logs
    from ringfence.interfaces.logs.tables import ImportedLogs
    from ringfence.interfaces.reproducing import reproduce_paper
    from ringfence.interfaces.studies import Study
    from ringfence.interfaces.tournaments import tournament
    from ringfence.interfaces.wiring import compare, plan, replay, simulate
    from ringfence.policies.evidence import Evidence
    from ringfence.policies.policy import AdaptivePolicy, PhasePolicy
    from ringfence.policies.registry import POLICIES, find_policy
    from ringfence.reports.charts import (
        paper_figure,
        replay_figure,
        save_chart,
        tournament_figure,
    )
    from ringfence.reports.paper import Curve, PaperPoint, PaperReport, Statement
    from ringfence.reports.replay import Replay, ReplayRow
    from ringfence.reports.tournament import Duel, Standing, Tournament
    from ringfence.simulation.instance import Instance
    from ringfence.simulation.results import ComparisonRow, SimulationResult
    from ringfence.study.audit import Audit
    from ringfence.study.certificates import Certificate, ProofStep
    from ringfence.study.gating import Gate
    from ringfence.study.verdict import ArmVerdict, Estimate, Flip, Verdict

    __version__: str

_HOMES = {
    "AdaptivePolicy": "policies.policy",
    "ArmTheory": "core.hardness",
    "ArmVerdict": "study.verdict",
    "AsyncFunction": "execution.functions",
    "Attribute": "core.attributes",
    "Audit": "study.audit",
    "Certificate": "study.certificates",
    "Command": "execution.evaluating",
    "ComparisonRow": "simulation.results",
    "ConstrainedSearchCV": "interfaces.bridges.search",
    "Curve": "reports.paper",
    "Duel": "reports.tournament",
    "Estimate": "study.verdict",
    "EstimateError": "core.errors",
    "Evidence": "policies.evidence",
    "ExpressionError": "core.errors",
    "Flip": "study.verdict",
    "Gate": "study.gating",
    "Function": "execution.functions",
    "Hardness": "core.hardness",
    "IgnoredWarning": "core.errors",
    "ImportedLogs": "interfaces.logs.tables",
    "InfeasibleWarning": "core.errors",
    "InputError": "core.errors",
    "InspectTask": "interfaces.bridges.inspect_task",
    "Instance": "simulation.instance",
    "LeaseError": "core.errors",
    "LoggedRows": "execution.evaluating",
    "Measurement": "core.measurement",
    "MissingExtraError": "core.errors",
    "MissingStudyError": "core.errors",
    "NameTakenError": "core.errors",
    "NoAnswerError": "core.errors",
    "OutageError": "core.errors",
    "OptunaReview": "interfaces.bridges.review",
    "Oracle": "core.oracle",
    "Own": "core.attributes",
    "POLICIES": "policies.registry",
    "PaperPoint": "reports.paper",
    "PaperReport": "reports.paper",
    "Phase": "core.schedule",
    "PhasePolicy": "policies.policy",
    "Problem": "core.problem",
    "ProofStep": "study.certificates",
    "Pull": "interfaces.leases",
    "Replay": "reports.replay",
    "ReplayRow": "reports.replay",
    "RingfenceError": "core.errors",
    "ShapeError": "core.errors",
    "SimulationResult": "simulation.results",
    "Standing": "reports.tournament",
    "Statement": "reports.paper",
    "Status": "interfaces.leases",
    "StorageAwayError": "core.errors",
    "StorageError": "core.errors",
    "Study": "interfaces.studies",
    "ToldOtherwiseError": "core.errors",
    "Tournament": "reports.tournament",
    "UnavailableError": "execution.failures",
    "Verdict": "study.verdict",
    "compare": "interfaces.wiring",
    "find_policy": "policies.registry",
    "from_optuna": "interfaces.bridges.review",
    "import_logs": "interfaces.logs.importing",
    "log_to_mlflow": "interfaces.bridges.mlflow",
    "measure_sample": "core.measurement",
    "paper_figure": "reports.charts",
    "parse_attribute": "core.expressions",
    "proven_constant": "core.measurement",
    "replay": "interfaces.wiring",
    "replay_figure": "reports.charts",
    "reproduce_paper": "interfaces.reproducing",
    "save_chart": "reports.charts",
    "plan": "interfaces.wiring",
    "simulate": "interfaces.wiring",
    "successive_rejects_phases": "core.schedule",
    "to_frame": "interfaces.bridges.frames",
    "tournament": "interfaces.tournaments",
    "tournament_figure": "reports.charts",
}

# Without ConstrainedSearchCV, which needs scikit-learn: `import *` has to work without it.
__all__ = [
    "POLICIES",
    "AdaptivePolicy",
    "ArmTheory",
    "ArmVerdict",
    "AsyncFunction",
    "Attribute",
    "Audit",
    "Certificate",
    "Command",
    "ComparisonRow",
    "Curve",
    "Duel",
    "Estimate",
    "EstimateError",
    "Evidence",
    "ExpressionError",
    "Flip",
    "Function",
    "Gate",
    "Hardness",
    "IgnoredWarning",
    "ImportedLogs",
    "InfeasibleWarning",
    "InputError",
    "InspectTask",
    "Instance",
    "LeaseError",
    "LoggedRows",
    "Measurement",
    "MissingExtraError",
    "MissingStudyError",
    "NameTakenError",
    "NoAnswerError",
    "OptunaReview",
    "Oracle",
    "OutageError",
    "Own",
    "PaperPoint",
    "PaperReport",
    "Phase",
    "PhasePolicy",
    "Problem",
    "ProofStep",
    "Pull",
    "Replay",
    "ReplayRow",
    "RingfenceError",
    "ShapeError",
    "SimulationResult",
    "Standing",
    "Statement",
    "Status",
    "StorageAwayError",
    "StorageError",
    "Study",
    "ToldOtherwiseError",
    "Tournament",
    "UnavailableError",
    "Verdict",
    "compare",
    "find_policy",
    "from_optuna",
    "import_logs",
    "log_to_mlflow",
    "measure_sample",
    "paper_figure",
    "parse_attribute",
    "plan",
    "proven_constant",
    "replay",
    "replay_figure",
    "reproduce_paper",
    "save_chart",
    "simulate",
    "successive_rejects_phases",
    "to_frame",
    "tournament",
    "tournament_figure",
]


if not TYPE_CHECKING:  # type checkers read the imports above, and notice a misspelt name

    def __getattr__(name: str) -> Any:
        """Load a public name from its home."""
        if name == "__version__":
            from importlib.metadata import version

            return version("ringfence")
        if name not in _HOMES:
            from ringfence.core.errors import nearest

            hint = "" if name.startswith("_") else nearest(name, __all__)
            raise AttributeError(f"module 'ringfence' has no attribute {name!r}.{hint}")
        value = getattr(import_module(f"ringfence.{_HOMES[name]}"), name)
        globals()[name] = value
        return value


def __dir__() -> list[str]:
    return sorted([*_HOMES, "__version__"])
