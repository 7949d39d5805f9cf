"""Planted faults: each breaks the real source in one place and must be noticed by a named check.

A fault that no check notices is a hole in the tests. The control runs every check on the sources
as they are, through the same machinery, so that a check cannot pass by failing always.
"""

import importlib
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from functools import cache
from types import ModuleType
from typing import Any

import pytest

from ringfence.core.errors import InputError
from ringfence.policies.registry import find_phase_policy
from tests.choosing import first_of, some_of
from tests.faults.planting import Edit, leave_uncompiled, planted, require_applicable
from tests.laws import adaptive_checks, checks, question_checks, set_checks
from tests.laws import test_policy_laws as laws
from tests.laws.lane_checks import check_lane_courses, check_lanes
from tests.laws.recorded import check_engine, check_noiseless, shuffled
from tests.laws.relative import check_relative
from tests.laws.test_allowances import check_learning, check_schedules, check_spending
from tests.laws.test_batches_in_groups import check_decided, check_like_arms, check_looked_ahead
from tests.laws.test_degenerate_evidence import check_adaptive
from tests.laws.test_sharing import check_joint, check_rooms
from tests.statistical import test_error_rates as rates
from tests.statistical import test_laws_of_noise as noise
from tests.statistical.sampling import block_sums
from tests.statistical.test_batches_in_groups import check_ahead, check_errors
from tests.statistical.test_shared_blocks import check_effects, check_items, check_variances
from tests.unit.test_noise import check_covariances, check_rates
from tests.unit.test_rounding import check_rounding
from tests.unit.test_variances import check_forgotten, check_kept

Rooms = Mapping[str, ModuleType]
Check = Callable[[Rooms], object]


# --------------------------------------------------------------------------------- the checks


@dataclass(frozen=True)
class Named:
    """A check, and the test that runs it on the real sources."""

    test: str
    check: Check


RULES = "tests/laws/test_rules_equal_the_transcription.py"
LAWS = "tests/laws/test_policy_laws.py"
THEORY = "tests/laws/test_theory.py"
NOISE = "tests/statistical/test_laws_of_noise.py"
RATES = "tests/statistical/test_error_rates.py"


def rejections(name: str) -> Named:
    room = f"policies.{name.replace('-', '_')}"
    return Named(
        f"{RULES}::test_rejections",
        lambda rooms: checks.check_rejections(rooms[room].reject, name),
    )


ADAPTIVE = "tests/laws/test_adaptive_rules.py"


def batches_of(name: str, check: Callable[..., object]) -> Named:
    def run(rooms: Rooms) -> None:
        home = rooms[f"policies.{name.replace('-', '_')}"]
        check(home.choose, home.make_work)

    return Named(f"{ADAPTIVE}::test_{name.replace('-', '_')}_equals_the_transcription", run)


def answers_of_top_two(rooms: Rooms) -> None:
    home = rooms["policies.top_two"]
    adaptive_checks.check_likeliest(home.answer, home.make_work)


def variances_of_rates(rooms: Rooms) -> None:
    check_rates(rooms["core.noise"].fill_covariances)


def variances_by_arm(rooms: Rooms) -> None:
    check_covariances(rooms["core.noise"].fill_covariances)


def side_by_side(rooms: Rooms) -> None:
    check_lanes(
        rooms["simulation.lanes.top_two"].RULE, rooms["policies.top_two"].make_work, size=60
    )


def lane_courses(rooms: Rooms) -> None:
    rule = rooms["simulation.lanes.top_two"].RULE
    check_lane_courses(rooms["simulation.lanes.choices"], rule, rooms["policies.top_two"].POLICY)


TOP_TWO = batches_of("top-two", adaptive_checks.check_top_two)
SIDE_BY_SIDE = Named(
    "tests/laws/test_lanes.py::test_top_two_chooses_side_by_side_as_one_by_one", side_by_side
)
LANE_COURSES = Named("tests/laws/test_lanes.py::test_courses_are_those_of_one_lane", lane_courses)
LANES, LANE_KERNELS = "simulation.lanes.top_two", "simulation.lanes.choices"
OCBA = batches_of("ocba-co", adaptive_checks.check_ocba)
THOMPSON = batches_of("thompson", adaptive_checks.check_thompson)


def policy_in(rooms: Rooms, name: str) -> Any:
    return rooms["policies.registry"].find_phase_policy(name)


@cache
def phases(name: str) -> Named:
    return Named(f"{RULES}::test_phases", lambda rooms: checks.check_phases(policy_in(rooms, name)))


@cache
def whole_runs(name: str) -> Named:
    return Named(
        f"{RULES}::test_whole_runs_on_recorded_samples",
        lambda rooms: checks.check_whole_runs(policy_in(rooms, name)),
    )


@cache
def law(test: str, name: str) -> Named:
    """A law of every policy, run on one of them by Hypothesis."""
    return Named(f"{LAWS}::{test}", lambda rooms: getattr(laws, test)(policy_in(rooms, name)))


def compiled_engine(name: str) -> Named:
    def check(rooms: Rooms) -> None:
        leave_uncompiled(rooms)
        Experiment = rooms["simulation.experiment"].Experiment
        check_engine(
            rooms["simulation.cpu"].run_chunk,
            find_phase_policy(name),
            shuffled,
            most=6,
            arm_counts=(5,),
            count=60,
            experiment_type=Experiment,
        )

    return Named(f"{RULES}::test_engines_on_recorded_samples", check)


def compiled_without_noise(rooms: Rooms) -> None:
    leave_uncompiled(rooms)
    Experiment = rooms["simulation.experiment"].Experiment
    check_noiseless(
        rooms["simulation.cpu"].run_chunk,
        find_phase_policy("constrained-sr"),
        replications=300,
        arm_counts=(4,),
        count=20,
        experiment_type=Experiment,
    )


def reference_engine(name: str) -> Named:
    return Named(
        f"{RULES}::test_engines_on_recorded_samples",
        lambda rooms: check_engine(
            rooms["simulation.reference"].run_chunk, policy_in(rooms, name), shuffled, most=1
        ),
    )


@cache
def relative(name: str) -> Named:
    """Limits relative to a baseline: the body of all simulations against its transcription."""
    return Named(
        "tests/laws/test_relative_limits.py::test_the_body_is_its_transcription_to_the_pull",
        lambda rooms: check_relative(
            rooms, rooms["policies.registry"].find_policy(name), constraints=1, count=16
        ),
    )


def fair_order(rooms: Rooms) -> None:
    Experiment = rooms["simulation.experiment"].Experiment
    experiment = Experiment(rates.identical_arms(), find_phase_policy("constrained-sr"), 20)
    rates.check_fair(
        rates.answers(
            rooms["simulation.cpu"].run_chunk, experiment, 60_000, experiment_type=Experiment
        )
    )


def gaussian_law(rooms: Rooms) -> Any:
    real: Any = noise.gaussian_law()
    return rooms["simulation.laws"].GaussianLaw(real.means, real.covariance, real.factors)


@cache
def gaussian_blocks(arm: int, pulls: int) -> Named:
    return Named(
        f"{NOISE}::test_gaussian_blocks",
        lambda rooms: noise.check_gaussian(
            block_sums(gaussian_law(rooms), arm, pulls, size=noise.SIZE), arm, pulls
        ),
    )


SINGLE_FLAG = Named(
    f"{RATES}::test_flag_of_a_single_arm",
    lambda rooms: rates.check_closed_form(
        rooms["simulation.reference"].run_chunk, *rates.single_arm(0.7), size=4000, flag_only=True
    ),
)
MARGIN = Named(
    f"{RULES}::test_margin", lambda rooms: checks.check_margin(rooms["core.gaps"].margin)
)
BEST = Named(
    f"{RULES}::test_apparent_best",
    lambda rooms: checks.check_apparent_best(rooms["core.gaps"].apparent_best),
)
SEPARATION = Named(
    f"{RULES}::test_gaps_of_pairs",
    lambda rooms: checks.check_separation(rooms["core.gaps"].pair, rooms["core.gaps"].separation),
)
GAP = Named(
    f"{RULES}::test_gaps_of_pairs",
    lambda rooms: checks.check_gap(rooms["core.gaps"].pair, rooms["core.gaps"].gap),
)
TOTALS = Named(
    f"{RULES}::test_totals_of_successive_rejects",
    lambda rooms: checks.check_totals(rooms["core.schedule"].successive_rejects_totals),
)
SPENT = Named(
    f"{RULES}::test_pulls_used_is_what_a_run_spends",
    lambda rooms: checks.check_pulls_used(
        rooms["core.schedule"].pulls_used, find_phase_policy("sequential-halving")
    ),
)
HARDNESS = Named(
    f"{THEORY}::test_theory_equals_the_transcription",
    lambda rooms: checks.check_hardness(rooms["core.hardness"].hardness),
)
SETS = Named(
    f"{THEORY}::test_theory_of_sets_equals_sums_over_margins",
    lambda rooms: checks.check_hardness_of_sets(rooms["core.hardness"].hardness),
)
NO_NOISE = Named(f"{RULES}::test_engines_without_noise", compiled_without_noise)
FAIR = Named(f"{RATES}::test_no_arm_gains_from_being_listed_first", fair_order)
STREAMS = Named(
    f"{RATES}::test_chunks_seeds_and_budgets_have_streams_of_their_own",
    lambda rooms: rates.check_streams(rooms["simulation.experiment"].Experiment),
)
CSR, IF, SR, GLR = (
    rejections(n)
    for n in ("constrained-sr", "infeasible-first", "successive-rejects", "glr-halving")
)
COMPILED, COMPILED_HALVING, COMPILED_UNIFORM = (
    compiled_engine(n) for n in ("constrained-sr", "sequential-halving", "uniform")
)
RATIONS = Named(
    "tests/laws/test_allowances.py::test_no_schedule_spends_more_than_its_allowance",
    lambda rooms: check_schedules(policy_in(rooms, "constrained-sr")),
)
SPENDING = Named(
    "tests/laws/test_allowances.py::test_no_replication_spends_more_than_its_allowance",
    lambda rooms: check_spending(
        rooms["simulation.reference"].run_chunk,
        rooms["policies.top_two"].POLICY,
        "known",
        count=4,
        experiment_type=rooms["simulation.experiment"].Experiment,
    ),
)
LEARNING = Named(
    "tests/laws/test_allowances.py::test_learned_prices_are_paid_and_gone_by",
    lambda rooms: check_learning(
        rooms["simulation.reference"].run_chunk,
        [rooms[f"policies.{name}"].POLICY for name in ("top_two", "constrained_sr", "uniform")],
        experiment_type=rooms["simulation.experiment"].Experiment,
    ),
)
REFERENCE, REFERENCE_UNIFORM = (reference_engine(n) for n in ("constrained-sr", "uniform"))


# --------------------------------------------------------------------------------- the faults


@dataclass(frozen=True)
class Fault:
    """What is broken, where, and by which checks it must be noticed."""

    name: str
    edit: Edit
    killed_by: tuple[Named, ...]


def fault(name: str, room: str, old: str, new: str, *killed_by: Named) -> Fault:
    return Fault(name, Edit(room, old, new), killed_by)


GAPS, SCHEDULE, THE_THEORY, NOISE_ROOM, DRAWS = (
    "core.gaps", "core.schedule", "core.hardness", "simulation.laws", "simulation.draws",
)  # fmt: skip
CONSTRAINED, INFEASIBLE, SUCCESSIVE, HALVING, UNIFORM, LIKELIHOOD = (
    "policies.constrained_sr",
    "policies.infeasible_first",
    "policies.successive_rejects",
    "policies.sequential_halving",
    "policies.uniform",
    "policies.glr_halving",
)
KERNEL, BODY, TALLY = "simulation.lanes.phases", "simulation.course", "simulation.tally"
COURSE, ALLOWANCE = "policies.course", "core.allowance"
BEST_FEASIBLE, ALL_FEASIBLE, THREATS = "core.best_feasible", "core.all_feasible", "core.threats"
COST, POSTERIOR, TOP = "core.cost", "core.posterior", "policies.top_two"
URGENCY = "core.urgency"
SHRINKAGE = "core.shrinkage"
SHARING, SHARED = "core.sharing", "simulation.shared_records"
EXHAUSTING = "core.exhausting"
SHARED_LAWS, SHARED_DRAWS = "tests/laws/test_sharing.py", "tests/statistical/test_shared_blocks.py"
JOINT = Named(
    f"{SHARED_LAWS}::test_estimates_equal_weighted_least_squares_over_prefixes",
    lambda rooms: check_joint(rooms[SHARING]),
)
LAST_BLOCKS = Named(
    f"{SHARED_LAWS}::test_what_an_exhausted_arm_cannot_use_goes_to_others",
    lambda rooms: check_rooms(rooms[EXHAUSTING]),
)


def varying(blocks: int) -> Named:
    return Named(
        f"{SHARED_DRAWS}::test_levels_and_differences_vary_as_stated",
        lambda rooms: check_variances(rooms[SHARING], 0.9, blocks),
    )


FEW_BLOCKS, MANY_BLOCKS = varying(500), varying(0)
ITEMS = Named(
    f"{SHARED_DRAWS}::test_all_arms_meet_the_items_in_one_order_and_none_twice",
    lambda rooms: check_items(rooms[SHARED]),
)
EFFECTS = Named(
    f"{SHARED_DRAWS}::test_pulls_on_a_block_share_its_effect",
    lambda rooms: check_effects(rooms[SHARED]),
)
ROUNDING = Named(
    "tests/unit/test_rounding.py::test_where_rounding_ends",
    lambda rooms: check_rounding(rooms["core.noise"].is_rounding),
)
DEGENERATE = Named(
    "tests/laws/test_degenerate_evidence.py::test_adaptive_rules_choose_and_answer",
    lambda rooms: check_adaptive(rooms["policies.top_two"].POLICY),
)
OWN_NOISE = Named("tests/unit/test_noise.py::test_covariances_equal_the_formulas", variances_by_arm)
KEPT_NOISE = Named(
    "tests/unit/test_variances.py::test_arms_that_were_not_pulled_since_need_no_new_look",
    lambda rooms: check_kept(rooms["core.noise"].fill_covariances),
)
FORGOTTEN = Named(
    "tests/unit/test_variances.py::test_a_replication_knows_nothing_of_the_one_before",
    lambda rooms: check_forgotten(
        rooms["simulation.reference"].run_chunk, rooms["simulation.experiment"].Experiment
    ),
)
GROUPS = "policies.groups"
GROUPED = Named(
    "tests/laws/test_batches_in_groups.py::test_batches_are_decided_as_transcribed",
    lambda rooms: check_decided(rooms["policies.top_two"].POLICY),
)
LOOKED_AHEAD = Named(
    "tests/laws/test_batches_in_groups.py::test_what_is_looked_ahead_at_is_as_transcribed",
    lambda rooms: check_looked_ahead(rooms[GROUPS]),
)
LIKE_ARMS = Named(
    "tests/laws/test_batches_in_groups.py::test_no_arm_of_six_like_ones_gets_most_of_a_large_batch",
    lambda rooms: check_like_arms(rooms["policies.top_two"].POLICY),
)
HALF_A_BUDGET = Named(
    "tests/statistical/test_batches_in_groups.py::test_batches_of_half_the_budget_err_little",
    lambda rooms: check_errors(
        rooms["simulation.reference"].run_chunk, rooms["simulation.experiment"].Experiment
    ),
)
AHEAD = Named(
    "tests/statistical/test_batches_in_groups.py"
    "::test_what_is_looked_ahead_at_is_what_may_be_seen_by_then",
    lambda rooms: check_ahead(rooms[GROUPS]),
)
EVENTS = Named("tests/unit/test_noise.py::test_the_noise_of_rates", variances_of_rates)
LIKELIEST = Named(f"{ADAPTIVE}::test_top_two_answers_as_the_transcription", answers_of_top_two)


def question_in(rooms: Rooms, name: str) -> Any:
    return rooms["core.questions"].find_question(name)


@cache
def asking(what: str, name: str) -> Named:
    check = getattr(question_checks, f"check_{what}")
    return Named(
        f"tests/laws/test_questions.py::test_{what}_equal_the_transcription",
        lambda rooms: check(question_in(rooms, name)),
    )


BEST_ANSWERS, ALL_ANSWERS = (asking("answers", f"{n} feasible") for n in ("best", "all"))
BEST_THREATS, ALL_THREATS = (asking("threats", f"{n} feasible") for n in ("best", "all"))
ALL_GAPS = asking("gaps", "all feasible")

SETTLING = Named(
    "tests/laws/test_sets.py::test_constrained_sr_settles_arms_as_the_transcription_does",
    lambda rooms: set_checks.check_settling(
        rooms["simulation.reference"].run_chunk, policy_in(rooms, "constrained-sr")
    ),
)
APT = Named(
    "tests/laws/test_sets.py::test_apt_pulls_as_the_transcription_does",
    lambda rooms: set_checks.check_apt(
        rooms["simulation.reference"].run_chunk, rooms["policies.apt"].POLICY, batch=3
    ),
)


FAULTS = [
    # Courses whose answer is a set.
    fault(
        "settled arms are left out of the set", BODY,
        "            if settles and drops:\n", "            if False:\n",
        SETTLING,
    ),
    fault(
        "nothing is lost before the last phase", BODY,
        "if is_lost(optimal, alive, marked):", "if False:",
        SETTLING,
    ),
    fault(
        "arms outside are no nearer to their limits than arms inside", "policies.apt",
        "distance = abs(margin(", "distance = max(0.0, margin(",
        APT,
    ),
    fault(
        "a batch goes to one arm", "policies.apt",
        "pulls[arm] += 1", "pulls[arm] += 0",
        APT,
    ),
    # The questions.
    fault(
        "an arm on its limit is left out of a set", ALL_FEASIBLE,
        "seen[i] & (margin(estimates, i, scales, thresholds) <= 0.0)",
        "seen[i] & (margin(estimates, i, scales, thresholds) < 0.0)",
        ALL_ANSWERS,
    ),
    fault(
        "arms that were withdrawn are part of a set", ALL_FEASIBLE,
        "seen[i] & (margin(", "(margin(",
        ALL_ANSWERS,
    ),
    fault(
        "a set is right if its arms are", ALL_FEASIBLE,
        "same &= marked[i] == optimal[i]", "same &= optimal[i] | (not marked[i])",
        ALL_ANSWERS,
    ),
    fault(
        "a set is lost with any of its arms", ALL_FEASIBLE,
        "(not alive[i]) & (marked[i] != optimal[i])", "(not alive[i]) & optimal[i]",
        ALL_ANSWERS,
    ),
    fault(
        "arms inside the limits are never clear", ALL_FEASIBLE,
        "return abs(own_margin)", "return own_margin",
        ALL_GAPS,
    ),
    fault(
        "a marked arm cannot fail", ALL_FEASIBLE,
        "count = add_failing(threats, count, i, c, thresholds, versus)", "pass",
        ALL_THREATS,
    ),
    fault(
        "one of several right arms is right", BEST_FEASIBLE,
        "value == least", "(value == least) & (not marked[:i].any())",
        BEST_ANSWERS,
    ),
    fault(
        "a right arm with the wrong flag is right", BEST_FEASIBLE,
        "& (right_count == 1) & (feasible == truly_feasible)", "& (right_count == 1)",
        BEST_ANSWERS,
    ),
    fault(
        "an answer is lost with the last of the right arms", BEST_FEASIBLE,
        "lost &= not (optimal[i] & alive[i])", "lost = not (optimal[i] & alive[i])",
        BEST_ANSWERS,
    ),
    fault(
        "nobody comes closer than the named arm", BEST_FEASIBLE,
        "for b in range(1, scales.shape[0]):", "for b in range(2, scales.shape[0]):",
        BEST_THREATS,
    ),
    fault(
        "the baseline's part in a limit is left out", THREATS,
        "threats.bounds[t, d] += scale * factor * limits[c - 1]", "pass",
        BEST_THREATS, ALL_THREATS,
    ),
    fault(
        "the baseline of limits is nobody's", THREATS,
        "threats.arms[t, REFERENCE] = baseline", "pass",
        BEST_THREATS,
    ),
    fault(
        "what is known exactly fails where it is on its limit", THREATS,
        "threats.strict[t] = True", "threats.strict[t] = False",
        BEST_THREATS, ALL_THREATS,
    ),
    fault(
        "threats begin with what was there", THREATS,
        "threats.rows[t, d, place, c] = 0.0", "pass",
        BEST_THREATS, ALL_THREATS,
    ),
    # The gaps.
    fault(
        "delta instead of Delta", GAPS,
        "return min(abs(best_margin), separation(lead, arm_margin, best_margin))",
        "return separation(lead, arm_margin, best_margin)",
        GAP, CSR, whole_runs("constrained-sr"), whole_runs("sequential-halving"),
    ),
    fault(
        "the cap has a sign", GAPS,
        "abs(best_margin)", "-best_margin",
        GAP,
    ),
    fault(
        "max over constraints is the last constraint", GAPS,
        "worst = max(worst, scales[c] * (estimates[arm, c] - thresholds[c - 1]))",
        "worst = scales[c] * (estimates[arm, c] - thresholds[c - 1])",
        MARGIN, CSR, IF, BEST,
    ),
    fault(
        "max over constraints is the first constraint", GAPS,
        "range(2, estimates.shape[1])", "range(2, 2)",
        MARGIN, CSR, IF, BEST,
    ),
    fault(
        "constraints are not scaled", GAPS,
        "worst: float = scales[1] * (estimates[arm, 1] - thresholds[0])",
        "worst: float = estimates[arm, 1] - thresholds[0]",
        MARGIN, CSR,
    ),
    fault(
        "the scale misses the threshold", GAPS,
        "worst: float = scales[1] * (estimates[arm, 1] - thresholds[0])",
        "worst: float = scales[1] * estimates[arm, 1] - thresholds[0]",
        MARGIN,
        law("test_shifting_constraints_with_their_thresholds", "infeasible-first"),
        law("test_rescaling_attributes_with_their_scales", "constrained-sr"),
    ),
    fault(
        "< for <= at the threshold, in the apparent best", GAPS,
        "if own_margin <= 0.0:", "if own_margin < 0.0:",
        BEST, CSR,
    ),
    fault(
        ">= for > at the threshold, for the best arm", GAPS,
        "if best_margin > 0.0:", "if best_margin >= 0.0:",
        SEPARATION,
    ),
    fault(
        ">= for > at the threshold, in the tie rule", GAPS,
        "infeasible = own_margin > 0.0\n    if infeasible != (other_margin > 0.0):",
        "infeasible = own_margin >= 0.0\n    if infeasible != (other_margin >= 0.0):",
        CSR, IF,
    ),
    fault(
        "the tie rule drops the feasible-looking first", GAPS,
        "        return infeasible\n", "        return not infeasible\n",
        CSR, IF,
    ),
    fault(
        "the tie rule compares infeasible arms by objective", GAPS,
        "return precedes(other_margin, other_objective, other_rank, own_margin, objective, rank)",
        "return precedes(other_objective, other_margin, other_rank, objective, own_margin, rank)",
        CSR, IF,
    ),
    fault(
        "the tie rule compares feasible arms by margin", GAPS,
        "return precedes(other_objective, other_margin, other_rank, objective, own_margin, rank)",
        "return precedes(other_margin, other_objective, other_rank, own_margin, objective, rank)",
        CSR, IF,
    ),
    fault(
        "priority ignored", GAPS,
        "& (rank < other_rank)", "& False",
        BEST, CSR, IF, SR,
        law("test_relabelling_arms", "constrained-sr"),
        law("test_relabelling_arms_of_a_whole_run", "infeasible-first"),
    ),
    fault(
        "priority backwards", GAPS,
        "& (rank < other_rank)", "& (rank > other_rank)",
        BEST, CSR, IF, SR,
    ),
    fault(
        "priority ignored among infeasible-looking arms", GAPS,
        "precedes(own_margin, 0.0, rank, best_margin, 0.0, best_rank)", "own_margin < best_margin",
        BEST,
    ),
    fault(
        "the second attribute never breaks a tie", GAPS,
        "(second < other_second) | ((second == other_second) & (rank < other_rank))",
        "rank < other_rank",
        BEST, CSR, IF, SR,
    ),
    fault(
        "the least margin is best among feasible-looking arms", GAPS,
        "\n            objective, own_margin, rank, best_objective, best_margin, best_rank",
        "own_margin, own_margin, rank, best_margin, best_margin, best_rank",
        BEST, CSR,
    ),
    fault(
        "dead arm revived as the apparent best", GAPS,
        "alive[i] & ((best < 0) | better)", "(best < 0) | better",
        BEST, CSR,
    ),
    fault(
        "an arm that loses twice counts by its margin", GAPS,
        "return max(arm_margin, lead)", "return arm_margin",
        SEPARATION, GAP, CSR,
    ),
    fault(
        "an arm that loses twice counts by its objective", GAPS,
        "return max(arm_margin, lead)", "return lead",
        SEPARATION, GAP, CSR,
    ),
    fault(
        "infeasible arms are measured from the threshold", GAPS,
        "return arm_margin - best_margin", "return arm_margin",
        SEPARATION, GAP,
    ),
    fault(
        "the objective is measured from zero", GAPS,
        "scales[0] * (estimates[arm, 0] - estimates[best, 0])", "scales[0] * estimates[arm, 0]",
        SEPARATION, GAP,
    ),
    fault(
        "constrained-sr measures the objective from zero", CONSTRAINED,
        "scales[0] * (objective - best_objective)", "scales[0] * objective",
        CSR, law("test_shifting_the_objective", "constrained-sr"),
    ),
    fault(
        "the objective is not scaled", GAPS,
        "lead: float = scales[0] * (estimates[arm, 0] - estimates[best, 0])",
        "lead: float = estimates[arm, 0] - estimates[best, 0]",
        SEPARATION, GAP,
    ),
    fault(
        "constrained-sr does not scale the objective", CONSTRAINED,
        "scales[0] * (objective - best_objective)", "objective - best_objective",
        CSR, law("test_rescaling_attributes_with_their_scales", "constrained-sr"),
    ),
    # The rejection rules.
    fault(
        "tie rule dropped: the first comer stays worst", CONSTRAINED,
        "((own_gap == worst_gap) & tie_goes)", "False",
        CSR, whole_runs("constrained-sr"), law("test_relabelling_arms", "constrained-sr"),
    ),
    fault(
        "argmin for argmax in the rejection", CONSTRAINED,
        "(own_gap > worst_gap)", "(own_gap < worst_gap)",
        CSR, whole_runs("constrained-sr"), whole_runs("sequential-halving"),
    ),
    fault(
        "the apparent best may be dropped", CONSTRAINED,
        "& (i != best) ", "",
        CSR,
    ),
    fault(
        "dead arm revived in constrained-sr", CONSTRAINED,
        "if alive[i] & (i != best)", "if (i != best)",
        CSR, whole_runs("constrained-sr"), law("test_dead_arms_are_inert", "constrained-sr"),
    ),
    fault(
        "dead arm revived in infeasible-first", INFEASIBLE,
        "alive[i] & ((worst < 0) | goes)", "(worst < 0) | goes",
        IF, whole_runs("infeasible-first"), law("test_dead_arms_are_inert", "infeasible-first"),
    ),
    fault(
        "dead arm revived in successive-rejects", SUCCESSIVE,
        "alive[i] & ((worst < 0) | goes)", "(worst < 0) | goes",
        SR, whole_runs("successive-rejects"), law("test_dead_arms_are_inert", "successive-rejects"),
    ),
    fault(
        "the rule kills its arm itself", CONSTRAINED,
        "        return worst\n", "        alive[worst] = False\n        return worst\n",
        law("test_inputs_are_not_mutated", "constrained-sr"),
    ),
    fault(
        "the least infeasible goes first", INFEASIBLE,
        "goes_first(objective, own_margin, rank, worst_objective, worst_margin, worst_rank)",
        "goes_first(worst_objective, worst_margin, worst_rank, objective, own_margin, rank)",
        IF, whole_runs("infeasible-first"),
    ),
    fault(
        "successive-rejects drops the best", SUCCESSIVE,
        "worst_objective, worst_margin, worst_rank, objective, own_margin, rank",
        "objective, own_margin, rank, worst_objective, worst_margin, worst_rank",
        SR, whole_runs("successive-rejects"),
    ),
    fault(
        "glr-halving counts two arms that meet as one that comes", LIKELIHOOD,
        "0.5 * lead * lead", "lead * lead",
        GLR, whole_runs("glr-halving"),
    ),
    fault(
        "glr-halving counts one constraint", LIKELIHOOD,
        "cost += excess * excess", "cost = max(cost, excess * excess)",
        GLR,
    ),
    fault(
        "glr-halving drops the likeliest", LIKELIHOOD,
        "(cost > worst_cost)", "(cost < worst_cost)",
        GLR, whole_runs("glr-halving"),
    ),
    fault(
        "glr-halving goes by limits that nobody meets", LIKELIHOOD,
        "if best_margin <= 0.0:", "if True:",
        GLR,
    ),
    fault(
        "glr-halving counts dead arms as obstacles", LIKELIHOOD,
        "more if alive[k] else 0.0", "more",
        GLR, law("test_dead_arms_are_inert", "glr-halving"),
    ),
    fault(
        "glr-halving takes the best arm's feasibility for granted", LIKELIHOOD,
        "more = min(0.5 * lead * lead, slack * slack)", "more = 0.5 * lead * lead",
        GLR,
    ),
    fault(
        "dead arm revived in glr-halving", LIKELIHOOD,
        "if alive[i] & (i != best)", "if (i != best)",
        GLR, law("test_dead_arms_are_inert", "glr-halving"),
    ),
    # The schedules.
    fault(
        "schedule in floats", SCHEDULE,
        "[-(-spare // (scale.numerator * (arm_count + 1 - k))) for k in range(1, arm_count)]",
        "[int(-(-1 / float(scale) * (budget - arm_count) / (arm_count + 1 - k) // 1))"
        " for k in range(1, arm_count)]",
        TOTALS, phases("constrained-sr"),
    ),
    fault(
        "schedule in floats, rounded but once", SCHEDULE,
        "[-(-spare // (scale.numerator * (arm_count + 1 - k))) for k in range(1, arm_count)]",
        "[int(-(-(budget - arm_count) / (float(scale) * (arm_count + 1 - k)) // 1))"
        " for k in range(1, arm_count)]",
        TOTALS, phases("constrained-sr"),
    ),
    fault(
        "the schedule rounds down", SCHEDULE,
        "[-(-spare // (scale.numerator * (arm_count + 1 - k))) for",
        "[spare // (scale.numerator * (arm_count + 1 - k)) for",
        TOTALS,
    ),
    fault(
        "the schedule spends T, not T - K", SCHEDULE,
        "spare = (budget - arm_count) * scale.denominator", "spare = budget * scale.denominator",
        TOTALS, law("test_budget_is_never_exceeded", "constrained-sr"),
        law("test_schedules_fit_any_budget", "infeasible-first"),
    ),
    fault(
        "logbar begins with 1", SCHEDULE,
        "return Fraction(1, 2) + sum(", "return Fraction(1) + sum(",
        TOTALS, phases("successive-rejects"),
    ),
    fault(
        "phases repeat the pulls of earlier phases", SCHEDULE,
        "Phase(total - earlier, 0, max(1, arm_count - k))",
        "Phase(total, 0, max(1, arm_count - k))",
        phases("constrained-sr"), whole_runs("constrained-sr"),
    ),
    fault(
        "extra pulls are not counted", SCHEDULE,
        "alive * phase.pulls + phase.extra", "alive * phase.pulls",
        SPENT,
    ),
    fault(
        "halving rounds its survivors down", HALVING,
        "phases.append(Phase(pulls, 0, -(-alive // 2)))",
        "phases.append(Phase(pulls, 0, alive // 2))",
        phases("sequential-halving"),
    ),
    fault(
        "halving loses its remainder", HALVING,
        "return (*phases, Phase(pulls, extra, 1))", "return (*phases, Phase(pulls, 0, 1))",
        phases("sequential-halving"), whole_runs("sequential-halving"),
        law("test_budget_is_never_exceeded", "sequential-halving"),
    ),
    fault(
        "halving has a round too many at powers of two", HALVING,
        "return (arm_count - 1).bit_length()", "return arm_count.bit_length()",
        phases("sequential-halving"),
    ),
    fault(
        "uniform loses its remainder", UNIFORM,
        "return (Phase(pulls, extra, arm_count),)", "return (Phase(pulls, 0, arm_count),)",
        phases("uniform"), whole_runs("uniform"), law("test_budget_is_never_exceeded", "uniform"),
    ),
    # The theory.
    fault(
        "gaps from the optimal arm with the most slack", THE_THEORY,
        "key=lambda i: (abs(margins[i]), i)", "key=lambda i: (-abs(margins[i]), i)",
        HARDNESS,
    ),
    fault(
        "the hardest arm has rank 1", THE_THEORY,
        "1 + (len(leaders) > 0)", "1",
        HARDNESS,
    ),
    fault(
        "an equal objective does not deceive", BEST_FEASIBLE,
        '"deceiver" if objective <= best_objective', '"deceiver" if objective < best_objective',
        HARDNESS,
    ),
    fault(
        "infeasible arms come first in the paper's order", THE_THEORY,
        "return (own_gap, False, objective, own_margin, arm)",
        "return (own_gap, True, objective, own_margin, arm)",
        HARDNESS,
    ),
    fault(
        "H1 sums gaps, not their squares", THE_THEORY,
        "return 1.0 / (value * value)", "return 1.0 / value",
        HARDNESS,
    ),
    fault(
        "feasible arms rank before all others", THE_THEORY,
        "best, leaders = int(named), []", "best, leaders = int(named), optimal_arms",
        SETS,
    ),
    # The noise of rates.
    fault(
        "an event that was not seen is taken for impossible", "core.noise",
        "+= weight * unseen_event(scatters[i, c, c], counts[i])", "+= 0.0",
        EVENTS,
    ),
    fault(
        "a common event is one that was not seen", "core.noise",
        "return 1.0 - 4.0 * scatter / max(count, 1)", "return 1.0",
        EVENTS,
    ),
    fault(
        "whatever has a mean between 0 and 1 is a rate", "core.noise",
        "if not abs(scatter - n * mean * (1.0 - mean)) <= TINY * n:", "if not mean <= 1.0:",
        EVENTS,
    ),
    # Variances that differ by arm.
    fault(
        "arms borrow alike however unlike they are", "core.variances",
        "min(2.0 / between, BORROWED_PULLS)", "BORROWED_PULLS",
        OWN_NOISE,
    ),
    fault(
        "heavy tails are taken for arms that differ", "core.variances",
        "TAILS = 3.0", "TAILS = 1.0",
        OWN_NOISE,
    ),
    fault(
        "the log of a few pulls' variance is taken as it comes", "core.variances",
        "0.5 * scatters[i, c, c]) - mean if", "0.5 * scatters[i, c, c] / half) if",
        OWN_NOISE,
    ),
    fault(
        "the loudest arm's correlation is every arm's", "core.noise",
        "both += scatters[i, c, k] / roots[0] / roots[1]", "both += scatters[i, c, k]",
        OWN_NOISE,
    ),
    fault(
        "an arm that has not varied yet is as noisy as the others", "core.variances",
        "= math.exp(centre) / max(count, 1)", "= math.exp(centre)",
        OWN_NOISE,
    ),
    fault(
        "an arm's own variance is that of its first pulls", "core.variances",
        "if logs.counts[i] == counts[i]:", "if logs.counts[i] >= 0:",
        KEPT_NOISE,
    ),
    fault(
        "variances are still those of the replication before", BODY,
        "room.log_variances.counts[:] = -1", "pass",
        FORGOTTEN,
    ),
    fault(
        "what was borrowed before is left when more is borrowed", "core.variances",
        "if is_new or logs.rests[i, c] < 0.0:", "if logs.rests[i, c] < 0.0:",
        KEPT_NOISE,
    ),
    # Large batches.
    fault(
        "a batch is decided whole, however large", GROUPS,
        "LEAST_GROUP = 16", "LEAST_GROUP = 10**9",
        GROUPED, LIKE_ARMS, HALF_A_BUDGET,
    ),
    fault(
        "small batches are cut", GROUPS,
        "LEAST_GROUP = 16", "LEAST_GROUP = 1",
        GROUPED,
    ),
    fault(
        "groups do not grow with what is promised", GROUPS,
        "known += start * (size // slots) + min(start, size % slots)", "pass",
        GROUPED,
    ),
    fault(
        "every group is decided from what was seen at first", GROUPS,
        "ahead.estimates[i, c] += ahead.roots[i, c, d] * move", "pass",
        GROUPED, AHEAD, LIKE_ARMS,
    ),
    fault(
        "promised pulls are not counted", GROUPS,
        "ahead.counts[i] = seen.counts[i] + fresh[i]", "ahead.counts[i] = seen.counts[i]",
        GROUPED, AHEAD, LIKE_ARMS,
    ),
    fault(
        "an estimate may move by all that it is off", GROUPS,
        "reach = (1.0 / n - 1.0 / (n + fresh[i])) ** 0.5", "reach = (1.0 / n) ** 0.5",
        GROUPED, AHEAD,
    ),
    fault(
        "attributes move on their own", GROUPS,
        "for c in range(d, width):", "for c in range(d, d + 1):",
        GROUPED, AHEAD,
    ),
    fault(
        "what is promised is not spent", GROUPS,
        "max(seen.left[0] - spent, 0.0)", "seen.left[0]",
        GROUPED, AHEAD,
    ),
    fault(
        "dear pulls cost what others do", GROUPS,
        "spent += fresh[i] * price_of(seen.prices, i)", "spent += fresh[i]",
        LOOKED_AHEAD,
    ),
    fault(
        "moves add up over groups", GROUPS,
        "            ahead.estimates[i, c] = seen.estimates[i, c]\n        for d",
        "            pass\n        for d",
        GROUPED,
    ),
    fault(
        "draws go by the uniform that a pull is chosen by", GROUPS,
        "name - 1.0 if name >= 1.0 else name", "uniforms[0]",
        GROUPED,
    ),
    # What rounding leaves, and evidence that no sane study has.
    fault(
        "what rounding leaves is taken for noise", "core.noise",
        "return scatter <= count * max(most * most, LEAST_VARIANCE)", "return scatter <= 0.0",
        ROUNDING,
    ),
    fault(
        "a variation that is real is taken for rounding", "core.noise",
        "ROUNDING = 16.0 * 2.0**-52", "ROUNDING = 1e-9",
        ROUNDING,
    ),
    fault(
        "what hinders nothing weighs nothing, by rounding", COST,
        "min(max(z, -_NO_HINDRANCE), _FAR)", "z",
        DEGENERATE,
    ),
    fault(
        "costs are found in units in which they overflow", COST,
        "units[i] = about_one_over_root(tableau[i, i])", "units[i] = 1.0",
        DEGENERATE,
    ),
    # The costs, and the rules that weigh them.
    fault(
        "correlation ignored in the cost of beating", COST,
        "slope = crossed * per_lead * per_limit", "slope = 0.0",
        TOP_TWO,
    ),
    fault(
        "the best arm's noise forgotten", COST,
        "math.sqrt(lead_variance + best_part)", "math.sqrt(lead_variance)",
        TOP_TWO,
    ),
    fault(
        "costs of failing taken over the largest slack", COST,
        "least = min(least, moving_cost(room, variance, n))",
        "least = moving_cost(room, variance, n)",
        TOP_TWO,
    ),
    fault(
        "a best arm over its limit is doubted the less the farther it is over", COST,
        "room = max(thresholds[c - 1] - estimates[arm, c], 0.0)",
        "room = thresholds[c - 1] - estimates[arm, c]",
        TOP_TWO,
    ),
    fault(
        "threats are weighed whatever a pull that meets them costs", URGENCY,
        "    rests_on *= mean_price\n", "",
        TOP_TWO,
    ),
    fault(
        "the dearer arm of a threat has more pulls", URGENCY,
        "share / best_price, (1.0 - share) / price", "share / price, (1.0 - share) / best_price",
        TOP_TWO,
    ),
    fault(
        "only arms that look feasible may lead", GAPS,
        "return (excess <= 0.0) | (over * over * n <= variance)", "return excess <= 0.0",
        TOP_TWO,
    ),
    fault(
        "an arm that keeps one limit may lead", GAPS,
        "passes &= may_pass(", "passes = may_pass(",
        TOP_TWO,
    ),
    fault(
        "of arms that may lead, none is safer than another", GAPS,
        "return min(own, 0.0) if passes else own", "return 0.0 if passes else own",
        TOP_TWO,
    ),
    fault(
        "arms are believed as they are", SHRINKAGE,
        "BELIEF = 0.5", "BELIEF = 0.0",
        TOP_TWO,
    ),
    fault(
        "three arms are shrunk, too", SHRINKAGE,
        "max(arm_count - 3.0, 0.0)", "max(arm_count - 1.0, 0.0)",
        TOP_TWO,
    ),
    fault(
        "arms that agree by accident are taken for alike", SHRINKAGE,
        "max(0.5 * noise, between * n)", "max(1e-9 * noise, between * n)",
        TOP_TWO,
    ),
    fault(
        "dead arms take part in the mean", SHRINKAGE,
        "arm_count += 1.0 if alive[i] else 0.0", "arm_count += 1.0",
        TOP_TWO,
    ),
    fault(
        "shrunk estimates rest on no more pulls", SHRINKAGE,
        "max(counts[i], 1) / (1.0 - added)", "max(counts[i], 1)",
        TOP_TWO,
    ),
    fault(
        "shrunk estimates rest on what was added to the last attribute", SHRINKAGE,
        "min(backing[i], weight) if noise > 0.0", "weight if noise > 0.0",
        TOP_TWO,
    ),
    fault(
        "the best arm is spared nothing", URGENCY,
        "share * (1.0 - SPARED * (1.0 - share))", "share",
        TOP_TWO,
    ),
    fault(
        "the best arm is pulled by the other's share", TOP,
        "uniforms[k] < work.shares[arm]", "uniforms[k] >= work.shares[arm]",
        TOP_TWO,
    ),
    fault(
        "pulls in flight ignored", TOP,
        "for _ in range(seen.in_flight[i]):", "for _ in range(0):",
        TOP_TWO,
    ),
    fault(
        "pulls of the best arm meet no other threats", TOP,
        "            met += 1.0", "            met += 0.0",
        TOP_TWO,
    ),
    fault(
        "no hurry at the end of the budget", TOP,
        "fill_values(seen.alive, best, seen.prices, HASTE / max(seen.left[0], 1), work)",
        "fill_values(seen.alive, best, seen.prices, 0.0, work)",
        TOP_TWO,
    ),
    fault(
        "the end of the budget counts whole", URGENCY,
        "HASTE = 0.7", "HASTE = 1.0",
        TOP_TWO,
    ),
    fault(
        "the end of the budget counts for little", URGENCY,
        "cost * (1.0 + rests_on * hurry)", "cost + min(cost * rests_on * hurry, 4.0)",
        TOP_TWO,
    ),
    fault(
        "a threat rests on its arm's pulls alone", URGENCY,
        "rests_on = n / (share * share * n * per_best + (1.0 - share) * (1.0 - share))",
        "rests_on = n",
        TOP_TWO,
    ),
    fault(
        "a tie is settled by the challenger alone", URGENCY,
        "share = n * per_best / (n * per_best + 1.0)", "share = 0.0",
        TOP_TWO,
    ),
    fault(
        "what hinders a threat beyond its cost is forgotten", URGENCY,
        "hindrance * math.sqrt(math.sqrt(hindrance)) if rival", "1.0 if rival",
        TOP_TWO,
    ),
    fault(
        "what hinders a threat counts for its factor and no more", URGENCY,
        "hindrance * math.sqrt(math.sqrt(hindrance))", "hindrance",
        TOP_TWO,
    ),
    fault(
        "a threat by one arm alone is taken for as hindered as one by a pair", URGENCY,
        "sole = SOLE if", "sole = 1.0 if",
        TOP_TWO,
    ),
    fault(
        "pulls for rivals' sake do not settle the best arm's own doubt", URGENCY,
        "else crowd * crowd", "else 1.0",
        TOP_TWO,
    ),
    fault(
        "a best arm of few pulls is doubted for their number", URGENCY,
        "crowd = max(work.pulls[best] * arm_count / pull_count, 1.0)",
        "crowd = work.pulls[best] * arm_count / pull_count",
        TOP_TWO,
    ),
    fault(
        "promised pulls of the best arm do not settle its own doubt", URGENCY,
        "(3.0 if crowd > 1.0 else 1.0)", "1.0",
        TOP_TWO,
    ),
    fault(
        "what hinders a threat is found as if metrics were independent", COST,
        "slope = covariances[arm, c, hardest] / n / spread", "slope = 0.0",
        TOP_TWO,
    ),
    fault(
        "the hardest demand is taken for a hindrance", COST,
        "verge = limit_left if ahead >= over else lead_left",
        "verge = lead_left if ahead >= over else limit_left",
        TOP_TWO,
    ),
    fault(
        "a promised pull counts for the log alone", URGENCY,
        "slope = hasty * (2.0 - share) - cost + (", "slope = (",
        TOP_TWO,
    ),
    fault(
        "a challenger's pull grows its whole cost", URGENCY,
        "hasty * (2.0 - share) - cost", "hasty * 2.0 - cost",
        TOP_TWO,
    ),
    fault(
        "the best arm's own doubt counts as its rivals' threats do", TOP,
        "ALONE * own", "1.0 * own",
        TOP_TWO,
    ),
    fault(
        "side by side, the first arm always leads", LANES,
        "better = (i == 0) | looks_better(", "better = (i == 0) | (i < 0) & looks_better(",
        SIDE_BY_SIDE,
    ),
    fault(
        "side by side, only arms that look feasible may lead", LANES,
        "lenient if may_pass(excess, variance, arms[i, PULLS, lane]) else margin", "margin",
        SIDE_BY_SIDE,
    ),
    fault(
        "side by side, arms are told from the wrong mean", LANES,
        "total_excess / arm_count + front[LEAST_EXCESS, lane]", "total_excess / arm_count",
        SIDE_BY_SIDE,
    ),
    fault(
        "side by side, shrunk estimates rest on what was added to the limit", LANES,
        "n / (1.0 - min(weight, other))", "n / (1.0 - other)",
        SIDE_BY_SIDE,
    ),
    fault(
        "side by side, a best arm over its limit is doubted the less the farther it is over", LANES,
        "-excess if front[BEST_MARGIN, lane] <= 0.0 else excess", "abs(excess)",
        SIDE_BY_SIDE,
    ),
    fault(
        "side by side, none is ever taken for infeasible", LANES,
        "feasible = front[BEST_MARGIN, lane] <= 0.0", "feasible = True",
        SIDE_BY_SIDE,
    ),
    fault(
        "side by side, the best arm's own doubt counts as its rivals' threats do", LANES,
        "own = ALONE * moving_cost(", "own = moving_cost(",
        SIDE_BY_SIDE,
    ),
    fault(
        "side by side, pulls for rivals' sake do not settle the best arm's own doubt", LANES,
        "max(n * arms.shape[0] / front[CROWD, lane], 1.0)", "1.0",
        SIDE_BY_SIDE,
    ),
    fault(
        "side by side, pulls of the best arm meet no other threats", LANES,
        "1.0 if to_best else 0.0", "0.0",
        SIDE_BY_SIDE,
    ),
    fault(
        "side by side, ties go to the first arm", LANES,
        "| ((value == least) & (rank < held_rank))", "| False",
        SIDE_BY_SIDE,
    ),
    fault(
        "side by side, a promised pull is forgotten", LANES,
        "arms[arm, PROMISED, lane] += 1.0", "pass",
        SIDE_BY_SIDE,
    ),
    fault(
        "side by side, the batch's remainder is not pulled", LANE_KERNELS,
        "pulls = size // slots + int(k < size % slots)", "pulls = size // slots",
        LANE_COURSES,
    ),
    fault(
        "side by side, the last lane is not counted", LANE_KERNELS,
        "min(LANES, replications - first)", "min(LANES, replications - first) - 1",
        LANE_COURSES,
    ),
    fault(
        "side by side, a lane begins with the sums of the one before", LANE_KERNELS,
        "sums[:] = 0.0", "pass",
        LANE_COURSES,
    ),
    fault(
        "a safer answer need not be safe", POSTERIOR,
        "own /= 1.0 + SAFETY * (1.0 - reached[i, NODES])", "own /= 1.0",
        LIKELIEST,
    ),
    fault(
        "an answer that is in doubt is not weighed", POSTERIOR,
        "EVEN = 0.45", "EVEN = 0.9",
        LIKELIEST,
    ),
    fault(
        "of what casts doubt on an answer, passing after all is forgotten", POSTERIOR,
        "            total += passes\n", "            total += 0.0\n",
        LIKELIEST,
    ),
    fault(
        "an arm that is as good without noise is better", POSTERIOR,
        "if lead <= -REACH * deviation:", "if lead < -REACH * deviation:",
        LIKELIEST,
    ),
    fault(
        "the likeliest answer takes metrics for independent", POSTERIOR,
        "slope = covariances[arm, 0, c] / covariances[arm, 0, 0] if deviation > 0.0 else 0.0",
        "slope = 0.0",
        LIKELIEST,
    ),
    fault(
        "the likeliest answer ignores rivals' feasibility", POSTERIOR,
        "return float(reached[arm, cell] + passing[arm, cell] * within)",
        "return chance_below(-z, 1.0)",
        LIKELIEST,
    ),
    fault(
        "the best arm's proportion forgets what it costs", "policies.ocba_co",
        "root(best_variance, squares / price_of(seen.prices, best))",
        "root(best_variance, squares)",
        OCBA,
    ),
    fault(
        "proportions by the leader's objective alone", "policies.ocba_co",
        "weights[best] = max(weights[best], 1.0 / standardised(slack, covariances[best, c, c]))",
        "weights[best] = max(weights[best], 0.0)",
        OCBA,
    ),
    fault(
        "the second answer is the first", "policies.thompson",
        "if arm != leader:\n                    break",
        "if arm == leader:\n                    break",
        THOMPSON,
    ),
    fault(
        "draws without correlation", POSTERIOR,
        "factors[i, c, k] = rest / root if root > 0.0 else 0.0", "factors[i, c, k] = 0.0",
        THOMPSON,
    ),
    # The laws of noise.
    fault(
        "covariance ignored", DRAWS,
        "block[c, lane] += factor * noise[d, lane]",
        "block[c, lane] += factor * rng.standard_normal()",
        gaussian_blocks(0, 7),
    ),
    fault(
        "covariance replaced by that of independent attributes", NOISE_ROOM,
        "return GaussianArrays(self.means, self.factors)",
        "return GaussianArrays(self.means, "
        "np.stack([np.diag(np.sqrt(np.diag(c))) for c in self.covariance]))",
        gaussian_blocks(0, 7), gaussian_blocks(1, 1),
    ),
    fault(
        "n^2 for n in the variance of a block", DRAWS,
        "root = math.sqrt(pulls)", "root = float(pulls)",
        gaussian_blocks(0, 7),
    ),
    fault(
        "1 for n in the variance of a block", DRAWS,
        "root = math.sqrt(pulls)", "root = 1.0",
        gaussian_blocks(1, 7),
    ),
    # The engines.
    fault(
        "flag inverted in the body", BODY,
        "judge(tally, replication, marked, flag,", "judge(tally, replication, marked, not flag,",
        SINGLE_FLAG, REFERENCE,
    ),
    fault(
        "extra pulls go to the last in priority", ALLOWANCE,
        "priority[i] < priority[found]", "priority[i] > priority[found]",
        REFERENCE_UNIFORM,
    ),
    fault(
        "arms come back in the next phase", COURSE,
        "            alive[out] = False\n", "            alive[out] = state.phase[0] == 1\n",
        REFERENCE,
    ),
    fault(
        "extra pulls are not made", COURSE,
        "    if extra > 0:\n", "    if extra < 0:\n",
        REFERENCE_UNIFORM,
    ),
    fault(
        "what a phase leaves is lost", ALLOWANCE,
        "total * (count * pulls + min(extra, count)) + rest",
        "total * (count * pulls + min(extra, count))",
        RATIONS,
    ),
    fault(
        "a phase has as much for those that are gone", ALLOWANCE,
        "        if alive[i]:\n            count += 1\n",
        "        count += 1\n        if alive[i]:\n",
        RATIONS,
    ),
    fault(
        "batches are not held to what is left", BODY,
        "goes_on = keep_paid(fresh, prices, left, priority)", "pass",
        SPENDING,
    ),
    fault(
        "every pull is charged the same", BODY,
        "spent += prices[i] * fresh[i]", "spent += fresh[i]",
        SPENDING,
    ),
    fault(
        "rounds that nothing chooses are held to no budget", "simulation.learning",
        "ration - spent, budget - spent, priority", "ration, budget, priority",
        LEARNING,
    ),
    fault(
        "what was learned of prices is not shown", "simulation.learning",
        "relative[i] = prices[i] * arm_count / total", "relative[i] = 1.0",
        LEARNING,
    ),
    fault(
        "what was paid is forgotten", BODY,
        "                    spent = settle(", "                    settle(",
        LEARNING,
    ),
    fault(
        "flag inverted in the compiled engine", KERNEL,
        "flag = answers[lane], margins[lane] <= 0.0", "flag = answers[lane], margins[lane] > 0.0",
        COMPILED,
    ),
    fault(
        "samples of earlier phases forgotten", KERNEL,
        "sums[i, c, lane] += block[c, lane] if counted[i, lane] else 0.0",
        "sums[i, c, lane] = block[c, lane] if counted[i, lane] else 0.0",
        COMPILED,
    ),
    fault(
        "dead arm revived in the compiled engine", KERNEL,
        "survives[out, lane] = False", "survives[out, lane] = True",
        COMPILED_HALVING,
    ),
    fault(
        "extra pulls go to the first arms listed", KERNEL,
        "priorities[j, lane] < priorities[arm, lane]", "j < arm",
        COMPILED_UNIFORM,
    ),
    fault(
        "every lost optimal arm counts, not the last one", KERNEL,
        "if optimal_left[lane] == 0 and first + lane < replications:",
        "if first + lane < replications:",
        COMPILED,
    ),
    fault(
        "an answer is counted under the other flag", KERNEL,
        "tally.chosen[answer, int(flag)] += 1", "tally.chosen[answer, int(not flag)] += 1",
        COMPILED, NO_NOISE,
    ),
    fault(
        "answers of lanes beyond the last replication are counted", KERNEL,
        "            for lane in range(min(lanes, replications - first)):\n                answer,",
        "            for lane in range(replications - first, lanes):\n"
        "                tally.chosen[0, 0] += 1\n"
        "            for lane in range(min(lanes, replications - first)):\n                answer,",
        COMPILED,
    ),
    fault(
        "sums leak into the next batch of lanes", KERNEL,
        "            sums[:] = 0.0\n",
        "            if first == 0:\n                sums[:] = 0.0\n",
        NO_NOISE,
    ),
    fault(
        "the order of arms is not uniform", BODY,
        "j = int(rng.random() * (i + 1))", "j = int(rng.random() * i)",
        FAIR,
    ),
    # Limits relative to a baseline.
    fault(
        "a baseline may be rejected", COURSE,
        "if baseline >= 0 and out == baseline and not spared:", "if False:",
        relative("constrained-sr"),
    ),
    fault(
        "a baseline that was spared is not pulled again", COURSE,
        "                alive[baseline] = True\n", "                pass\n",
        relative("infeasible-first"),
    ),
    fault(
        "a simulated phase leaves a baseline alone", "simulation.experiment",
        "keep=min(most, kept_beside(one.keep))", "keep=one.keep",
        relative("constrained-sr"),
    ),
    fault(
        "a simulated limit is not relative", BODY,
        "fill_differences(seen.estimates, estimates, baseline, factors)",
        "seen.estimates[:] = estimates",
        relative("uniform"),
    ),
    fault(
        "a simulated difference has the scale of an arm", BODY,
        "fill_difference_scales(seen.scales, seen.scales, factors)", "pass",
        relative("scalarised"),
    ),
    fault(
        "the baseline's noise is left out of a simulated difference", BODY,
        "fill_difference_covariances(\n                            seen.covariances, covariances, "
        "counts, baseline, factors\n                        )",
        "seen.covariances[:] = covariances",
        relative("ocba-co"), relative("top-two"),
    ),
    fault(
        "a simulated baseline is pulled as the rules say", COURSE,
        "add_choice(fresh, seen.counts, baseline, arm, pulls)", "fresh[arm] += pulls",
        relative("ocba-co"),
    ),
    fault(
        "every chunk has the same stream", "core.streams",
        "_stream(seed, _PULLS, *names)", "_stream(seed, _PULLS, budget)",
        STREAMS,
    ),
    fault(
        "the finite set is forgotten", SHARING,
        "unseen = 1.0 / blocks if blocks > 0 else 0.0", "unseen = 0.0",
        JOINT, FEW_BLOCKS,
    ),
    fault(
        "independent variances are used", SHARING,
        "for rank in range(min(sharing.ranks[i], sharing.ranks[j]) + 1):",
        "for rank in range(min(sharing.ranks[i], sharing.ranks[j]) + 1 if i == j else 0):",
        JOINT, MANY_BLOCKS,
    ),
    fault(
        "estimates are left as arms' own means", SHARING,
        "            estimates[i, c] += shifts[0, i, c]", "            estimates[i, c] += 0.0",
        JOINT, MANY_BLOCKS,
    ),
    fault(
        "pairs lend each other no correlation", SHARING,
        "+ LENT_BLOCKS * lent[c, k]", "+ 0.0 * lent[c, k]",
        JOINT,
    ),
    fault(
        "an arm goes on beyond the last block", EXHAUSTING,
        "over = max(fresh[i] - rooms[i], 0)", "over = 0",
        LAST_BLOCKS,
    ),
    fault(
        "what an exhausted arm cannot use is lost", EXHAUSTING,
        "while spare > 0", "while spare > 1000",
        LAST_BLOCKS,
    ),
    fault(
        "an item is seen twice", SHARED,
        "        order[place] = order[block]\n", "",
        ITEMS,
    ),
    fault(
        "the order of items differs by arm", SHARED,
        "arrays.rows[arm, order[block], c]",
        "arrays.rows[arm, order[(block + arm) % order.shape[0]], c]",
        ITEMS,
    ),
    fault(
        "every arm has an effect of its own on a block", SHARED,
        "    if block == record.drawn[0]:\n        for c",
        "    if block >= 0:\n        for c",
        EFFECTS,
    ),
]  # fmt: skip

CASES = [
    pytest.param(one, killer, id=f"{one.name} | {killer.test.split('::')[1]}")
    for one in some_of(FAULTS, step=2)
    for killer in first_of(one.killed_by)
]
CONTROLS = list(dict.fromkeys(killer for one in FAULTS for killer in one.killed_by))


@pytest.mark.parametrize(("one", "killer"), CASES)
def test_fault_is_noticed(one: Fault, killer: Named) -> None:
    """The check fails, or the package itself refuses what the fault made of a schedule."""
    rooms = planted(one.edit)
    noticed = (AssertionError, InputError) if one.edit.room == SCHEDULE else AssertionError
    with pytest.raises(noticed):
        killer.check(rooms)


@pytest.mark.parametrize("control", some_of(CONTROLS), ids=lambda control: control.test)
def test_control_the_sources_as_they_are_pass(control: Named) -> None:
    control.check(planted())


def test_every_fault_can_be_planted() -> None:
    """Those too that wait for `make faults`."""
    for one in FAULTS:
        require_applicable(one.edit)


def test_every_named_test_exists() -> None:
    for killer in CONTROLS:
        path, name = killer.test.split("::")
        module = importlib.import_module(path.removesuffix(".py").replace("/", "."))
        assert callable(getattr(module, name)), killer.test


def test_faults_have_names_of_their_own() -> None:
    names = [one.name for one in FAULTS]
    assert len(set(names)) == len(names)
    assert len(names) >= 50


def test_planting_leaves_the_real_modules_alone() -> None:
    gaps = importlib.import_module("ringfence.core.gaps")
    registry = importlib.import_module("ringfence.policies.registry")
    rooms = planted(FAULTS[0].edit)
    assert importlib.import_module("ringfence.core.gaps") is gaps
    assert importlib.import_module("ringfence.policies.registry") is registry
    assert registry.constrained_sr.__name__ == "ringfence.policies.constrained_sr"
    assert rooms["core.gaps"] is not gaps
    # A fault in core reaches the policies beside it, and nothing planted is kept on disk.
    reject = rooms["policies.registry"].find_phase_policy("constrained-sr").reject
    assert reject.__globals__["margin"] is rooms["core.gaps"].margin
    assert rooms["core.best_feasible"].BEST_FEASIBLE.gap is rooms["core.gaps"].gap
    assert reject.__module__.startswith("planted.")
