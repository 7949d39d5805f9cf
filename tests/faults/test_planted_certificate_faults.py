"""Faults planted in what proves an answer: each breaks a rule that its proof rests on.

Each must be noticed by a named test, which is loaded afresh beside the faulty rooms and is itself
the check. The controls run the same tests on the sources as they are.
"""

import importlib
from functools import cache

import pytest

from ringfence.core.errors import RingfenceError
from tests.choosing import first_of, some_of
from tests.contracts.places import Place
from tests.faults.planting import CERTIFICATE_ROOMS, planted_certificates, require_applicable
from tests.faults.test_planted_faults import Fault, Named, fault

LIMITS = ("mean(risk) <= 0.3", "mean(cost) <= 0.5")
SETTLING = "tests.unit.test_settling"
WAGERS, MIXTURE, STUDIES, RATES, STOPS, GATES, VERDICTS = (
    "tests.unit.test_wagers",
    "tests.unit.test_t_mixture",
    "tests.unit.test_certificates",
    "tests.statistical.test_certificates",
    "tests.unit.test_stopping",
    "tests.unit.test_gate",
    "tests.unit.test_proven_verdicts",
)
BETS, DECIMALS, PROVING, LEVELS, PATHS, CERTIFYING, TREND = (
    "core.wagers", "core.decimals", "core.proving", "core.certificate", "study.paths",
    "study.certifying", "core.t_mixture",
)  # fmt: skip


@cache
def of(home: str, test: str, *given: object) -> Named:
    """A test as it stands, with its parameters."""
    place = f"{home.replace('.', '/')}.py::{test}"
    return Named(place, lambda rooms: getattr(rooms[home], test)(*given))


@cache
def ending(test: str, *given: object) -> Named:
    """A contract of every storage, in memory."""
    home = "tests.contracts.test_ending"
    return Named(
        f"{home.replace('.', '/')}.py::{test}",
        lambda rooms: getattr(rooms[home], test)(Place("memory", None), *given),
    )


IN_ORDERS = of(
    WAGERS, "test_no_order_of_a_set_gains_on_average_where_the_claim_holds", "halves", False
)
TIES = of(WAGERS, "test_a_tie_that_was_seen_whole_is_a_tie_in_every_order", 29, 100, "0.29")
WHOLE_TIE = of(STUDIES, "test_a_tie_of_all_items_is_certified")
IN_FLIGHT = of(STUDIES, "test_a_pull_in_flight_holds_up_all_that_came_after_it")
LOST = of(STUDIES, "test_a_lost_pull_holds_its_arm_up_for_good")
SPLIT = of(STUDIES, "test_levels_are_split_between_arms_and_limits")
BEST = of(STUDIES, "test_the_best_feasible_arm_is_certified")
APART = of(STUDIES, "test_evidence_on_several_limits_is_not_multiplied")
FAILED = of(STUDIES, "test_failures_without_a_stand_in_count_as_the_worst_for_each_test")
BROUGHT = of(
    STUDIES, "test_observations_that_were_brought_along_are_not_evidence_and_make_it_exploratory"
)
RARELY = of(
    RATES, "test_wrong_certificates_are_rare_whatever_the_sampler_knows",
    "all infeasible by a hair",
)  # fmt: skip

ADDED = ending("test_a_running_study_is_told_to_end_when_its_answer_is_proven", "top-two", None)
LOOSER = ending("test_a_looser_proof_needs_a_note_that_is_kept_and_makes_certificates_exploratory")
FAULTS = [
    fault(
        "what was said later of the end is not gone by", "study.desk",
        "plan = self.plan.under(head.stops)", "plan = self.plan",
        ADDED,
    ),
    fault(
        "an audit goes by what was said after a round", "study.audit",
        "if stop.after < one.number", "if True",
        ADDED,
    ),
    fault(
        "a change of what ends a study does not lead to a look", "study.stopping",
        "is_other or PROVEN in before.seen or", "False and PROVEN in before.seen or",
        ending("test_a_change_leads_to_a_look_at_once"),
    ),
    fault(
        "a looser proof needs no note", "study.ending",
        "if is_looser and change.looking and not change.note:", "if False:",
        LOOSER,
    ),
    fault(
        "a looser proof is not said to be exploratory", CERTIFYING,
        "is_looser = confidence < level or within > distance", "is_looser = False",
        LOOSER,
    ),
    fault(
        "a wider distance is not looser", "study.ending",
        "change.confidence < level or change.within > distance", "change.confidence < level",
        LOOSER,
    ),
    fault(
        "a stricter proof leaves a study ended", "study.ending",
        "head = halting.going_on(head)", "pass",
        ending("test_a_stricter_proof_has_a_study_go_on_that_a_laxer_one_ended"),
    ),
    fault(
        "a test advances in order of arrival", PATHS,
        "end = len(mine) if goes_on.all() else int(goes_on.argmin())",
        "mine = mine[goes_on]; end = len(mine)",
        IN_FLIGHT, LOST,
    ),
    fault(
        "lost pulls are passed over", PATHS,
        "harvest.is_told | (harvest.is_failed & harvest.is_charged)",
        "harvest.is_told | harvest.is_failed",
        LOST,
    ),
    fault(
        "a bet looks at the value that it bets on", BETS,
        "first = wager.sums[0] + np.concatenate([[0.0], np.cumsum(scaled)[:-1]])[: len(scaled)]",
        "first = wager.sums[0] + np.cumsum(scaled)",
        IN_ORDERS,
    ),
    fault(
        "e-values of different paths are multiplied", LEVELS,
        "broken = {arm: [one for one in levels.breaks(arm) if one.is_settled] for arm in arms}",
        "broken = {arm: [one for one in levels.breaks(arm) if sum(x.evidence.peak for x in "
        "levels.breaks(arm)) >= -math.log(one.level)] for arm in arms}",
        APART,
    ),
    fault(
        "one limit that is kept is enough", LEVELS,
        "not broken[arm] and all(x.is_settled for x in kept[arm])",
        "not broken[arm] and any(x.is_settled for x in kept[arm])",
        APART,
    ),
    fault(
        "a failure enters as the best for a test", PROVING,
        "worst = float(ground.low if at_worst_low else ground.high)",
        "worst = float(ground.high if at_worst_low else ground.low)",
        FAILED,
    ),
    fault(
        "failures of metrics without bounds are passed over", PROVING,
        "if has_failed and (ground.constant or ground.basis != Basis.EXACT):",
        "if has_failed and ground.constant:",
        of(STUDIES, "test_failures_of_a_metric_without_bounds_leave_the_test_open_and_say_so"),
    ),
    fault(
        "values beyond their bounds are clipped", BETS, "if not within:", "if False:",
        of(WAGERS, "test_a_value_beyond_its_bounds_is_refused_and_not_clipped", 1.001, None),
        of(WAGERS, "test_a_value_beyond_its_bounds_is_refused_and_not_clipped", -0.001, 50),
    ),
    fault(
        "stored values beyond their bounds are taken", PATHS, "if beyond.any():", "if False:",
        of(STUDIES, "test_a_stored_value_beyond_its_bounds_is_refused_and_not_clipped"),
    ),
    fault(
        "hours are taken for blocks", CERTIFYING, "if plan.sharing.has_hours:", "if False:",
        of(STUDIES, "test_hours_are_refused"),
    ),
    fault(
        "levels are not split between arms", LEVELS,
        "self.each = float(doubt / self.arm_count)", "self.each = float(doubt)",
        RARELY, SPLIT,
    ),
    fault(
        "levels are not split between limits", LEVELS,
        "self.per_break = float(doubt / (self.arm_count * max(self.limit_count, 1)))",
        "self.per_break = float(doubt / self.arm_count)",
        SPLIT,
    ),
    fault(
        "the size of the set is forgotten", CERTIFYING,
        "size=plan.sharing.blocks_of_truth or None", "size=None",
        WHOLE_TIE,
    ),
    fault(
        "what is left of a set is taken for all of it", BETS,
        "levels = (rest / (left * width)).astype(np.float64)",
        "levels = (rest * 0 + most / (size * width)).astype(np.float64)",
        IN_ORDERS,
    ),
    fault(
        "an item counts before all its repeats were seen", PATHS,
        "sizes[np.cumsum(sizes) <= count]", "sizes[np.cumsum(sizes) - sizes < count]",
        of(STUDIES, "test_repeats_of_an_item_are_one_average"),
    ),
    fault(
        "items are skipped", PATHS,
        "is_there = harvest.ordinals[mine] == np.arange(len(mine))",
        "is_there = harvest.ordinals[mine] >= 0",
        of(STUDIES, "test_a_pull_that_is_not_there_is_not_skipped"),
    ),
    fault(
        "limits are floats", DECIMALS,
        "return Fraction(repr(float(value)))", "return Fraction(float(value))",
        WHOLE_TIE,
    ),
    fault(
        "sums are floats", BETS,
        "most = size * _whole(claim.limit - claim.low, common)",
        "most = size * float(claim.limit - claim.low) * common",
        TIES,
    ),
    fault(
        "a tie does not end a strict claim", BETS,
        "falls = (sums >= most if claim.strict else sums > most).astype(np.bool_)",
        "falls = (sums > most).astype(np.bool_)",
        TIES, WHOLE_TIE,
    ),
    fault(
        "a tie disproves that a mean is at most the limit", BETS,
        "falls = (sums >= most if claim.strict else sums > most).astype(np.bool_)",
        "falls = (sums >= most).astype(np.bool_)",
        TIES,
    ),
    fault(
        "the prior of the t-statistic is not normed", TREND,
        "math.log(2.0) - 0.5 * np.log(spread)", "math.log(2.0) - 0.4 * np.log(spread)",
        of(MIXTURE, "test_it_gains_nothing_on_average_where_the_mean_is_the_limit"),
    ),
    fault(
        "both sides of the t-statistic count", TREND,
        "parts.append(np.where(b < 0.0, np.minimum(part, -0.5 * np.log(spread)), part))",
        "parts.append(part - log_below + np.log(0.5))",
        of(MIXTURE, "test_a_lower_mean_lowers_it_at_every_step"),
    ),
    fault(
        "values that never varied prove a normal mean", TREND,
        "says = trend.varies | np.logical_or.accumulate(values != begun)",
        "says = trend.varies | np.logical_or.accumulate(values == values)",
        of(MIXTURE, "test_values_in_parts_are_as_at_once_and_constants_say_nothing"),
    ),
    fault(
        "skewness that flatters is passed over", TREND,
        "np.minimum(third / spread**3, 0.0)", "np.maximum(third / spread**3, 0.0)",
        of(MIXTURE, "test_costs_are_not_said_to_be_low_because_the_dear_ones_have_not_come",
           "lognormal"),
    ),
    fault(
        "the better arm is said to be no better", PROVING,
        "((rival, sign), (arm, -sign))", "((rival, -sign), (arm, sign))",
        BEST,
    ),
    fault(
        "what was brought along is not said", CERTIFYING,
        "[Explored.BROUGHT] * bool(brought)", "[Explored.BROUGHT] * False",
        BROUGHT,
    ),
    fault(
        "metrics that changed are proven", CERTIFYING,
        "if chance_of_change(seen, c)[0] < RARE", "if chance_of_change(seen, c)[0] < 0.0",
        of(STUDIES, "test_a_metric_that_changed_while_the_study_ran_leaves_its_questions_open"),
    ),
    fault(
        "zeros alone are taken for yes or no", "core.grounds",
        "both=not _limits_share(problem, attribute.metric)", "both=False",
        of(STUDIES, "test_yes_or_no_is_what_nobody_takes_for_more",
           "mean(unsafe) <= baseline", 0.0, "asymptotic"),
    ),
    fault(
        "a gate's breaks are not split", LEVELS,
        "self.per_break = float(doubt / (self.arm_count * max(self.limit_count, 1)))",
        "self.per_break = self.each",
        of(GATES, "test_a_gate_is_rarely_wrong_whenever_one_looks", "on all its limits"),
        of(GATES, "test_levels_are_those_of_one_arm_and_split_between_its_breaks_alone"),
    ),
    fault(
        "one limit that is kept lets pass", LEVELS,
        "ways = _soonest([kept, *([one] for one in broken)])",
        "ways = _soonest([kept[:1], *([one] for one in broken)])",
        of(GATES, "test_all_limits_must_be_proven_to_be_kept"),
    ),
    fault(
        "a study ends by pulls that came after a decision", "study.stopping",
        "ledger.harvest(1, through)", "ledger.harvest(1, ledger.head.issued)",
        of(STOPS, "test_a_study_ends_when_its_answer_is_proven", "top-two", 12),
    ),
    fault(
        "a study ends while questions are open", "study.stopping",
        "if found.status != Status.OPEN:", "if found.status:",
        of(STOPS, "test_it_goes_on_while_a_question_is_open_and_ends_with_its_budget"),
    ),
    fault(
        "a study ends at another level than it was begun with", CERTIFYING,
        'stop.get("confidence", CONFIDENCE), ', "CONFIDENCE, ",
        of(STOPS, "test_its_own_level_is_no_choice_after_looking"),
    ),
    fault(
        "arms that an open question is about get nothing", "study.stopping",
        "if arm not in about)", "if arm in about)",
        of(STOPS, "test_an_arm_that_is_settled_gets_nothing_more", "top-two", 400),
    ),
    fault(
        "a study ends with pulls in flight", "study.advancing",
        "if not proven.ends and _all_are_seen(before, standing, reader):",
        "if proven.ends:\n"
        "            return last_round(plan, before, standing, {PROVEN: proven.ends.value}, "
        "through=least)\n"
        "        if _all_are_seen(before, standing, reader):",
        of(STOPS, "test_it_ends_no_sooner_than_all_that_was_asked_for_is_told"),
    ),
    fault(
        "a chance that is rounding counts as proof", TREND,
        "np.where(b < 0.0, np.minimum(part, -0.5 * np.log(spread)), part)", "part",
        of(MIXTURE, "test_values_far_on_the_other_side_prove_nothing"),
    ),
    fault(
        "what no arm has shown yet is thought impossible", TREND,
        " - UNSEEN * width / counts", "",
        of(MIXTURE, "test_rare_values_far_out_are_waited_for"),
    ),
    fault(
        "a test of any law speaks after thirty values", TREND, "PATIENCE = 150", "PATIENCE = 30",
        of(MIXTURE, "test_rare_values_far_out_are_waited_for"),
    ),
    fault(
        "value by value, a bet looks at the value that it bets on", "core.bets",
        "mean = (0.5 + facts[test, FIRST]) / (n + 1.0)",
        "mean = (0.5 + facts[test, FIRST] + scaled) / (n + 1.0)",
        of(SETTLING, "test_a_wager_is_the_same_value_by_value", 0, False),
    ),
    fault(
        "value by value, the size of a set is forgotten", "core.bets",
        "level = rest / ((size - n) * width) if width > 0.0 else 1.0", "pass",
        of(SETTLING, "test_a_wager_is_the_same_value_by_value", 60, False),
    ),
    fault(
        "value by value, a tie is no tie", "core.bets",
        "if rest < above or (strict and rest <= above):", "if rest < above:",
        of(SETTLING, "test_a_tie_that_was_seen_whole_is_a_tie"),
    ),
    fault(
        "in simulations levels are not split", "core.settling",
        "each = (1.0 - confidence) / arm_count", "each = 1.0 - confidence",
        of(SETTLING, "test_conclusions_are_those_of_a_certificate", LIMITS, False, False),
    ),
    fault(
        "in simulations one limit that is kept is enough", "core.settling",
        "kept &= facts[test, PEAK] >= proof.wanted", "kept = facts[test, PEAK] >= proof.wanted",
        of(SETTLING, "test_conclusions_are_those_of_a_certificate", LIMITS, False, False),
    ),
    fault(
        "in simulations a broken arm is compared with", "core.settling",
        "if rival == arm or proof.broken[rival]:", "if rival == arm:",
        of(SETTLING, "test_conclusions_are_those_of_a_certificate", LIMITS, False, False),
    ),
    fault(
        "an answer that is open decides", "study.proven",
        "if certificate.status == Status.OPEN:", "if certificate.status == Status.EQUIVALENT:",
        of(VERDICTS, "test_an_open_one_decides_nothing_and_says_what_is_open"),
    ),
]  # fmt: skip

CASES = [
    pytest.param(one, killer, id=f"{one.name} | {killer.test.split('::')[1]}")
    for one in FAULTS
    for killer in first_of(one.killed_by)
]
CONTROLS = list(dict.fromkeys(killer for one in FAULTS for killer in one.killed_by))
NOTICED = (AssertionError, pytest.fail.Exception, RingfenceError, ValueError, StopIteration)


@pytest.mark.parametrize(("one", "killer"), CASES)
def test_fault_is_noticed(one: Fault, killer: Named) -> None:
    """The test fails, or what the fault made is refused or cannot be found."""
    rooms = planted_certificates(one.edit)
    with pytest.raises(NOTICED):
        killer.check(rooms)


@pytest.mark.parametrize("control", some_of(CONTROLS), ids=lambda control: control.test)
def test_control_the_sources_as_they_are_pass(control: Named) -> None:
    control.check(planted_certificates())


def test_every_fault_can_be_planted_and_every_named_test_exists() -> None:
    for one in FAULTS:
        require_applicable(one.edit)
        assert one.edit.room in CERTIFICATE_ROOMS
    for killer in CONTROLS:
        path, name = killer.test.split("::")
        module = importlib.import_module(path.removesuffix(".py").replace("/", "."))
        assert callable(getattr(module, name)), killer.test
    names = [one.name for one in FAULTS]
    assert len(set(names)) == len(names)
