"""Plants a fault: the real source with one snippet exchanged, loaded beside the real modules.

The rooms that hold rules, laws and engines are all loaded afresh, in the order of their imports,
so that a fault in core reaches the policies and the engines that use it. So are those of live
studies, and after them the tests that hold them to their word: a test that is loaded afresh meets
the faulty rooms and is otherwise as it is. Nothing that was already imported changes. The copies
are called `planted.*`: compiled code made from them is never kept on disk under the name of the
real sources.
"""

import importlib
import sys
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from types import CodeType, ModuleType

POLICY_ROOMS = (
    "policies.evidence",
    "policies.groups",
    "policies.course",
    "policies.policy",
    "policies.constrained_sr",
    "policies.glr_halving",
    "policies.infeasible_first",
    "policies.successive_rejects",
    "policies.sequential_halving",
    "policies.ocba_co",
    "policies.scalarised",
    "policies.thompson",
    "policies.top_two_room",
    "policies.top_two_sharing",
    "policies.top_two_hours",
    "policies.top_two",
    "policies.uniform",
    "policies.apt",
    "policies.registry",
)
ROOMS = (
    "core.gaps",
    "core.schedule",
    "core.allowance",
    "core.baseline",
    "core.cost",
    "core.threats",
    "core.question",
    "core.best_feasible",
    "core.all_feasible",
    "core.questions",
    "core.hardness",
    "core.streams",
    "core.variances",
    "core.noise",
    "core.statistics",
    "core.running",
    "core.chance",
    "core.posterior",
    "core.shrinkage",
    "core.sharing",
    "core.exhausting",
    "core.urgency",
    *POLICY_ROOMS,
    "simulation.draws",
    "simulation.truths",
    "simulation.records",
    "simulation.shared_records",
    "simulation.laws",
    "simulation.shared_laws",
    "simulation.tables",
    "simulation.tally",
    "simulation.learning",
    "simulation.course",
    "simulation.experiment",
    "simulation.lanes.rules",
    "simulation.lanes.top_two",
    "simulation.lanes.phases",
    "simulation.lanes.choices",
    "simulation.cpu",
    "simulation.reference",
)
STUDY_ROOMS = (
    "core.hours",
    "core.constancy",
    "core.priors",
    "core.unseen",
    "core.sparse",
    "core.shares",
    "core.beliefs",
    "core.answers",
    "core.allowance",
    "core.pricing",
    "core.baseline",
    "core.known",
    "core.stated",
    "core.best_feasible",
    "core.all_feasible",
    "core.questions",
    *POLICY_ROOMS,
    "study.facts",
    "study.sharing",
    "core.exhausting",
    "study.exhausting",
    "study.surveying",
    "study.ports",
    "study.hours_seen",
    "study.book",
    "study.changing",
    "study.snapshot",
    "study.plan",
    "study.paying",
    "study.standing",
    "study.rationing",
    "study.deciding",
    "study.lagging",
    "study.packing",
    "study.keeping",
    "study.ahead",
    "study.reading",
    "study.accounts",
    "study.advancing",
    "study.begun",
    "study.looking",
    "study.holding",
    "study.observing",
    "study.failing",
    "study.halting",
    "study.pardoning",
    "study.items",
    "study.waiting",
    "study.desk",
    "study.unseen",
    "study.verdict",
    "study.stock",
    "study.sharing_audit",
    "study.audit",
    "storage.memory",
    "execution.outages",
    "execution.resolving",
    "execution.working",
    "reports.departures",
    "reports.ordering",
    "reports.sets",
    "reports.sharing",
    "reports.accounts",
    "reports.verdict",
    "interfaces.own_policies",
    "interfaces.storages",
    "interfaces.own_policies",
    "interfaces.kept_verdicts",
    "interfaces.blocks",
    "interfaces.money",
    "interfaces.study_views",
    "interfaces.studies",
)
STUDY_TESTS = (
    "tests.contracts.places",
    "tests.contracts.test_storage",
    "tests.contracts.test_study_machine",
    "tests.contracts.test_order_does_not_matter",
    "tests.contracts.test_tallies",
    "tests.contracts.test_lags",
    "tests.contracts.test_large_studies",
    "tests.contracts.test_pardons",
    "tests.contracts.test_halting",
    "tests.contracts.test_prices",
    "tests.contracts.test_money",
    "tests.contracts.test_shared_items",
    "tests.unit.test_sharing",
    "tests.unit.test_hours",
    "tests.unit.test_constancy",
    "tests.unit.test_blocks",
    "tests.unit.test_study_api",
    "tests.unit.test_study_lag",
    "tests.unit.test_study_leases",
    "tests.unit.test_study_audit",
    "tests.unit.test_study_book",
    "tests.unit.test_study_verdict",
    "tests.unit.test_verdict_words",
    "tests.unit.test_shared_words",
    "tests.unit.test_set_verdicts",
    "tests.unit.test_baseline",
    "tests.unit.test_stated_noise",
    "tests.unit.test_beliefs",
    "tests.unit.test_answers",
    "tests.unit.test_rounding",
    "tests.unit.test_outages",
    "tests.unit.test_resolving",
)
CERTIFICATE_ROOMS = (
    "core.decimals",
    "core.wagers",
    "core.t_mixture",
    "core.grounds",
    "core.proving",
    "core.certificate",
    "core.bets",
    "core.settling",
    "study.paths",
    "study.certificates",
    "study.certifying",
    "study.gating",
    "study.stopping",
    "study.ending",
    "study.proven",
    "study.verdict",
    "study.advancing",
    "study.desk",
    "study.audit",
    "reports.certificate",
    "reports.proof",
    "interfaces.proofs",
    "interfaces.kept_verdicts",
    "interfaces.study_views",
    "interfaces.studies",
)
CERTIFICATE_TESTS = (
    "tests.unit.test_decimals",
    "tests.unit.test_wagers",
    "tests.unit.test_t_mixture",
    "tests.unit.test_certificates",
    "tests.unit.test_stopping",
    "tests.contracts.test_ending",
    "tests.unit.test_gate",
    "tests.unit.test_proven_verdicts",
    "tests.statistical.test_certificates",
    "tests.unit.test_settling",
)
GOLDEN_TESTS = ("tests.golden.taking", "tests.golden.theory")
WEB_ROOMS = (
    "core.spreadsheets",
    "core.strict",
    "interfaces.web.door",
    "interfaces.web.guard",
    "interfaces.web.work",
)
WEB_TESTS = (
    "tests.unit.test_spreadsheets",
    "tests.unit.test_web_guard",
    "tests.unit.test_web_jobs",
)


CALLING_ROOMS = (
    "execution.failures",
    "execution.pace",
    "execution.cache",
    "execution.resolving",
    "interfaces.logs.entries",
    "interfaces.logs.inspect_ai",
    "interfaces.logs.lm_eval",
    "interfaces.logs.promptfoo",
    "interfaces.logs.detecting",
    "interfaces.logs.tables",
    "interfaces.logs.importing",
)
CALLING_TESTS = (
    "tests.unit.test_resolving",
    "tests.unit.test_pace",
    "tests.unit.test_unavailable",
    "tests.unit.test_cache",
    "tests.unit.test_import_logs",
)


@dataclass(frozen=True)
class Edit:
    """One snippet of a room's source, which must occur exactly once, and what takes its place."""

    room: str
    old: str
    new: str

    def applied_to(self, source: str) -> str:
        """Return the source with the fault in it."""
        count = source.count(self.old)
        assert count == 1, f"{self.room} has {count} times, not once: {self.old!r}"
        assert self.old != self.new
        return source.replace(self.old, self.new)


def require_applicable(edit: Edit) -> None:
    """Refuse an edit whose snippet is not in its room, or not once: the source has changed."""
    whole = edit.room if edit.room.startswith("tests.") else f"ringfence.{edit.room}"
    origin = importlib.import_module(whole).__file__
    assert origin is not None
    edit.applied_to(Path(origin).read_text(encoding="utf-8"))


def planted(*edits: Edit) -> Mapping[str, ModuleType]:
    """Return fresh copies of all rooms, by name, with the edits made; none is a control."""
    return _planted({room: f"ringfence.{room}" for room in ROOMS}, edits)


def planted_rules(*edits: Edit) -> Mapping[str, ModuleType]:
    """Return fresh copies of all rooms, and of what takes golden courses of their rules."""
    rooms = {room: f"ringfence.{room}" for room in ROOMS}
    return _planted(rooms | {test: test for test in GOLDEN_TESTS}, edits)


def planted_studies(*edits: Edit) -> Mapping[str, ModuleType]:
    """Return fresh copies of the rooms of live studies, and of the tests that use them.

    What they stand on, most of core, is the real one.
    """
    rooms = {room: f"ringfence.{room}" for room in STUDY_ROOMS}
    return _planted(rooms | {test: test for test in STUDY_TESTS}, edits)


def planted_certificates(*edits: Edit) -> Mapping[str, ModuleType]:
    """Return fresh copies of the rooms that prove an answer, and of the tests that use them."""
    rooms = {room: f"ringfence.{room}" for room in CERTIFICATE_ROOMS}
    return _planted(rooms | {test: test for test in CERTIFICATE_TESTS}, edits)


def planted_pages(*edits: Edit) -> Mapping[str, ModuleType]:
    """Return fresh copies of the rooms that others may attack, and of the tests that do."""
    rooms = {room: f"ringfence.{room}" for room in WEB_ROOMS}
    return _planted(rooms | {test: test for test in WEB_TESTS}, edits)


def planted_calls(*edits: Edit) -> Mapping[str, ModuleType]:
    """Return fresh copies of the rooms where models are called and logs read, and their tests."""
    rooms = {room: f"ringfence.{room}" for room in CALLING_ROOMS}
    return _planted(rooms | {test: test for test in CALLING_TESTS}, edits)


def leave_uncompiled(rooms: Mapping[str, ModuleType]) -> None:
    """Have planted kernels run as the plain Python that they are: they need few replications."""
    for room in (
        "simulation.cpu",
        "simulation.lanes.phases",
        "simulation.lanes.choices",
    ):
        vars(rooms[room])["compile_kernel"] = lambda kernel, *parts, **options: kernel


def _planted(modules: Mapping[str, str], edits: Sequence[Edit]) -> Mapping[str, ModuleType]:
    """Load modules, whose whole names are the values, afresh and in their order."""
    unknown = {edit.room for edit in edits} - set(modules)
    assert not unknown, f"not a room that can be loaded afresh: {unknown}"
    fresh: dict[str, ModuleType] = {}
    with _restored(tuple(modules.values())):
        for name, whole in modules.items():
            real = importlib.import_module(whole)
            assert real.__file__ is not None
            source = Path(real.__file__).read_text(encoding="utf-8")
            for edit in edits:
                if edit.room == name:
                    source = edit.applied_to(source)
            fresh[name] = _load(name, whole, source)
    return fresh


def _load(name: str, whole: str, source: str) -> ModuleType:
    module = ModuleType(f"planted.{name}")
    exec(_compiled(source, f"<planted {name}>"), module.__dict__)
    _put(whole, module)
    return module


@cache
def _compiled(source: str, name: str) -> CodeType:
    return compile(source, name, "exec")


def _put(whole: str, module: ModuleType) -> None:
    """Make a module the one that others find under a name."""
    parent, _, name = whole.rpartition(".")
    sys.modules[whole] = module
    setattr(sys.modules[parent], name, module)


@contextmanager
def _restored(names: Sequence[str]) -> Iterator[None]:
    """Put the real modules back, in the table of modules and in their packages."""
    real = {whole: importlib.import_module(whole) for whole in names}
    try:
        yield
    finally:
        for whole, module in real.items():
            _put(whole, module)
