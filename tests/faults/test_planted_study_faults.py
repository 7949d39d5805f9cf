"""Faults planted in what makes a live study hold its word: leases, counts, rounds, verdict, audit.

Each must be noticed by a named test, which is loaded afresh beside the faulty rooms and is itself
the check. The controls run the same tests on the sources as they are. Tests that leave to threads
who is quicker are named only for faults that they notice whoever is.
"""

import importlib
from functools import cache

import pytest

from ringfence.core.errors import InputError, NoAnswerError
from tests.choosing import first_of, some_of
from tests.faults.planting import STUDY_ROOMS, STUDY_TESTS, planted_studies, require_applicable
from tests.faults.test_planted_faults import Fault, Named, Rooms, fault

API, AUDIT, BOOKS, VERDICT = (
    f"tests.unit.test_study_{name}" for name in ("api", "audit", "book", "verdict")
)
CUT = "test_what_was_decided_whole_before_large_batches_were_cut_is_noted"
LEASES = "tests.unit.test_study_leases"
LAGS, LAG = ("tests.contracts.test_lags", "tests.unit.test_study_lag")
ROWS, RESOLVED = ("tests.unit.test_outages", "tests.unit.test_resolving")
BLOCKS, SHARING_TESTS = ("tests.unit.test_blocks", "tests.unit.test_sharing")
HOURS_TESTS, CONSTANCY_TESTS = ("tests.unit.test_hours", "tests.unit.test_constancy")
ORDER, MACHINE, STORAGE, TALLIES, PARDONS, PRICES, PLACES, LARGE, SHARED_ITEMS, HALTED, MONEY = (
    f"tests.contracts.{name}"
    for name in (
        "test_order_does_not_matter",
        "test_study_machine",
        "test_storage",
        "test_tallies",
        "test_pardons",
        "test_prices",
        "places",
        "test_large_studies",
        "test_shared_items",
        "test_halting",
        "test_money",
    )
)


# --------------------------------------------------------------------------------- the checks


def named(home: str, test: str) -> str:
    return f"{home.replace('.', '/')}.py::{test}"


@cache
def of(home: str, test: str, *given: object) -> Named:
    """A test as it stands, with its parameters."""
    return Named(named(home, test), lambda rooms: getattr(rooms[home], test)(*given))


@cache
def refused(group: str, what: str) -> Named:
    """What must be refused and change nothing, in a study with a pull of each fate."""
    test = "test_what_is_refused_is_named_and_changes_nothing"

    def check(rooms: Rooms) -> None:
        api = rooms[API]
        getattr(api, test)(api.make_scene(), *getattr(api, group)[what])

    return Named(named(API, test), check)


@cache
def in_scene(test: str) -> Named:
    return Named(named(API, test), lambda rooms: getattr(rooms[API], test)(rooms[API].make_scene()))


@cache
def in_memory(test: str, *given: object, home: str = STORAGE) -> Named:
    """A contract of every storage, on the one that is planted."""
    return Named(
        named(home, test),
        lambda rooms: getattr(rooms[home], test)(rooms[PLACES].Place("memory", None), *given),
    )


@cache
def tallied(policy: str, batch: int, limit: int, lag: int | None = None) -> Named:
    """A study read by its tally beside the one read by its pulls, at every step."""
    test = "test_a_study_read_by_its_tally_is_the_one_read_by_its_pulls"

    def check(rooms: Rooms) -> None:
        room = rooms[TALLIES]
        place = rooms[PLACES].Place("memory", None)
        getattr(room, test)(place, policy, batch, room.OBJECTIVES[0], room.LIMITS[limit], lag, {})

    return Named(named(TALLIES, test), check)


@cache
def walks(policy: str, batch: int, *seeds: int, lag: int | None = None) -> Named:
    """Some of the walks of the test, in memory."""

    def check(rooms: Rooms) -> None:
        for seed in seeds:
            rooms[MACHINE].walk(rooms[MACHINE].machine_of(policy, batch, None, lag), seed, 120)

    return Named(named(MACHINE, "test_long_walks"), check)


@cache
def raising_arm(policy: str) -> Named:
    test = "test_an_arm_that_cannot_be_evaluated_is_withdrawn"
    return Named(
        named(API, test),
        lambda rooms: getattr(rooms[API], test)(rooms[API]._raises, "ValueError: bad arm", policy),
    )


def damaged(what: str) -> Named:
    return of(AUDIT, "test_what_is_wrong_is_named", what)


def as_the_paper(policy: str) -> Named:
    return of(ORDER, "test_a_study_decides_as_the_paper_does", policy)


def lagging(test: str, *given: object, home: str = LAGS) -> Named:
    return Named(named(home, test), lambda rooms: getattr(rooms[home], test)(*given))


def breaking_arm(policy: str, batch: int, limit: str = "mean(risk) <= 1.0") -> Named:
    test = "test_an_arm_that_breaks_leaves_the_same_in_any_order"
    return of(ORDER, test, policy, batch, limit)


def in_units(case: str) -> Named:
    return of(NOISE, "test_margins_are_in_units_of_what_was_stated", case)


def unstated(case: str) -> Named:
    test = "test_what_cannot_be_stated_is_refused_and_nothing_is_created"
    return of(NOISE, test, case)


def flips(problem: str, seed: int) -> Named:
    return of(VERDICT, "test_the_answer_changes_at_a_flip_and_not_before", problem, seed)


def ending_badly(write: str) -> Named:
    test = "test_a_transaction_that_ends_badly_changes_nothing"
    return in_memory(test, write, RuntimeError)


OF_THE_GONE = of(LEASES, "test_leases_of_the_gone_are_given_out_again_at_once")
KILLING = of(LEASES, "test_a_pull_that_kills_every_process_ends_and_is_issued_alone_on_the_way")
AHEAD = of(LEASES, "test_a_lease_of_a_clock_that_was_ahead_ends_a_lease_after_it_is_seen")
SET_CLOCK = of(LEASES, "test_a_worker_whose_clock_is_ahead_keeps_its_lease_by_extending_it")
SAME_SEED = of(API, "test_a_pull_that_is_issued_again_has_the_same_seed")
KEPT = in_scene("test_a_lease_may_be_kept")
TAKEN_BACK = of(API, "test_leases_of_workers_that_are_gone_can_be_ended")
GIVEN_UP = of(API, "test_a_pull_whose_leases_all_ran_out_has_failed")
GIVEN_BACK = of(API, "test_leases_that_were_given_back_or_failed_did_not_run_out")
ALONE = of(API, "test_a_pull_that_may_have_killed_is_issued_alone")
KILLER = of(API, "test_an_arm_that_nobody_survives_is_withdrawn_and_the_study_goes_on")
TWICE = in_scene("test_telling_twice_is_no_more_than_once")
WHOLE_ROUND = of(API, "test_asking_for_more_than_a_round_gives_the_round")
UNCHARGED = of(API, "test_an_uncharged_failure_costs_nothing")
IN_A_ROW = of(API, "test_failures_break_an_arm_only_in_a_row_whoever_is_quicker")
TOO_LITTLE = of(API, "test_an_arm_of_which_too_little_was_seen_is_withdrawn")
GOES_ON = of(API, "test_a_finished_adaptive_study_goes_on_when_it_is_raised")
BROUGHT = of(API, "test_what_is_brought_along_is_labelled_uncharged_and_seen_from_the_next_round")
PART = of(API, "test_a_part_of_a_study_may_be_run")
SEEDS = of(API, "test_a_seed_depends_on_the_studys_seed_the_arm_and_the_ordinal_alone")
WORKERS = of(API, "test_any_workers_give_the_same_verdict", "constrained-sr", 1)
ANY_ORDER = of(ORDER, "test_any_order_gives_the_same_rounds_and_verdict", "top-two", 5)
BATCH = "test_a_batch_is_what_the_policy_chooses_with_the_stream_of_its_round"
BATCHES, DRAWN_BATCHES = of(ORDER, BATCH, "top-two"), of(ORDER, BATCH, "thompson")
ALL_ADDED = "test_a_book_measures_all_that_was_added_to_an_arm"
KEPT_SAMPLE = of(BOOKS, ALL_ADDED, "turned about")
TURNED = of(BOOKS, "test_evidence_turns_what_must_be_large")
NO_NOISE_YET = of(VERDICT, "test_nothing_is_sure_before_the_noise_of_any_arm_is_known", 3)
EASY = of(VERDICT, "test_an_easy_problem_is_feasible", "uniform")
NO_WAY = of(VERDICT, "test_a_problem_without_a_way_is_infeasible", "uniform")
NOBODY = of(VERDICT, "test_an_arm_that_is_rejected_though_it_looks_best_lost_to_nobody")
WITHDRAWN = of(VERDICT, "test_an_arm_that_is_withdrawn_says_nothing_of_the_answer")
ON_THE_LINE = of(VERDICT, "test_a_metric_that_never_leaves_its_threshold_is_inside")
ONE_IS_ENOUGH = of(VERDICT, "test_one_broken_constraint_is_enough")
SAID = "tests.unit.test_verdict_words"
HARDLY_BEST = of(
    SAID, "test_a_feasible_arm_is_called_the_best_only_where_that_is_likely", 0.31, 1.0,
    "b is feasible, and perhaps the best such arm: more than 99.9% sure that it keeps its limits, "
    "31.0% that it is the best that does.",
)  # fmt: skip
SEEMS_TO_BREAK = of(
    VERDICT, "test_an_answer_that_seems_to_break_a_limit_says_so_and_others_keep_their_looks"
)
NOTHING_VARIED = of(VERDICT, "test_a_world_without_noise_is_known_for_sure_where_that_is_stated")
FAILURES = of(VERDICT, "test_failed_pulls_count_as_bad_as_can_be", "maximize", True)
NO_EVENT_TOLD = of(
    VERDICT, "test_a_failed_pull_may_be_the_event_that_no_pull_has_told",
    "p95(risk) <= 2", 1.0, None, True,
)  # fmt: skip
SURE, SURE_NOT = (of(VERDICT, "test_the_verdict_turns_at_95_percent", s) for s in (1.0, -1.0))
EVERY_STEP = of(AUDIT, "test_a_study_is_sound_at_every_step")
EXPIRED = in_memory("test_leases_that_ran_out_come_by_number")
HARVEST = in_memory("test_a_harvest_is_its_pulls")
TALLY = tallied("top-two", 4, 0)
LITTLE_LEFT = in_memory("test_little_is_left_to_be_read_after_a_tally", home=TALLIES)
READ_ONCE = in_memory(
    "test_what_is_looked_at_again_is_read_once", "mean(risk) <= 1.0", home=TALLIES
)
PULSE = in_memory("test_the_pulse_changes_with_all_that_a_view_shows", home=TALLIES)
AMNESTY = in_memory(
    "test_an_outage_that_ended_a_study_is_forgiven_and_the_study_goes_on",
    "top-two", 4, home=PARDONS,
)  # fmt: skip
STOOD_IN = in_memory(
    "test_what_was_told_in_place_of_failures_is_void_from_the_next_decision_on", home=PARDONS
)
LOST_ANEW = in_memory(
    "test_an_arm_whose_first_pulls_are_all_lost_gets_others",
    "constrained-sr", 1, (0, 1, 2, 3), home=PARDONS,
)  # fmt: skip
NEVER_LOST = in_memory("test_lost_pulls_never_withdraw_an_arm", home=PARDONS)
BASELINES = "tests.unit.test_baseline"
SHARED = of(BASELINES, "test_chances_know_that_all_arms_share_the_baselines_noise")
SPREAD = of(BASELINES, "test_differences_have_the_covariance_of_differences")
COUNTED = of(BASELINES, "test_a_margin_counts_the_baselines_noise")
STAYS = of(BASELINES, "test_a_baseline_is_never_rejected_however_bad", "constrained-sr")
AS_OFTEN = of(BASELINES, "test_an_adaptive_policy_pulls_the_baseline_as_often_as_any_other")
NOISE = "tests.unit.test_stated_noise"
BELIEF_TESTS = "tests.unit.test_beliefs"
WHOLE = of(
    "tests.unit.test_answers", "test_chances_of_both_answers_are_shares_of_draws", (0, 1, 2), None
)
SPREADS_COVER = of(
    BELIEF_TESTS, "test_intervals_of_spreads_of_yes_and_no_cover_on_average", "variance", 30
)
SURE_SPREADS = of(
    BELIEF_TESTS, "test_a_spread_of_yes_and_no_is_as_sure_as_their_share",
    "std(bad)", 0.5, False, 40,
)  # fmt: skip
ROUNDING = "tests.unit.test_rounding"
OUTSIDE = "test_a_value_outside_its_bounds_is_refused_and_changes_nothing"
ARMS_OWN = of(NOISE, "test_a_sigma_may_be_an_arms_own")
SAME_NOISE = of(NOISE, "test_stating_what_was_estimated_changes_nothing_but_its_doubt", 1)
STILL_COVARIANCE = of(NOISE, "test_a_stated_covariance_leaves_a_covariance", 1)
SIGMA_KEEPS = of(NOISE, "test_a_stated_sigma_keeps_the_estimated_correlations")
RESTS_ON_SIGMA = of(NOISE, "test_intervals_and_confidence_rest_on_a_stated_sigma")
NEVER_VARIED = of(NOISE, "test_a_metric_that_never_varied_is_exact_unless_its_sigma_is_stated")
CAPPED = of(NOISE, "test_bounds_cap_a_variance_and_do_no_more")
ONE_PULL = of(NOISE, "test_one_pull_is_enough_where_nothing_is_left_to_be_estimated")
OTHERS_ESTIMATED = of(NOISE, "test_what_is_stated_does_not_speak_of_other_attributes")
IN_TURN = of(SHARING_TESTS, "test_all_arms_meet_all_items_in_one_order_each_so_often", 1)
ONE_ORDER = in_memory("test_arms_meet_the_items_in_one_order_whoever_asks", home=SHARED_ITEMS)
HOURS = in_memory("test_a_pull_that_is_issued_again_keeps_its_hour", home=SHARED_ITEMS)
SEEN_TOO_OFTEN = in_memory(
    "test_an_audit_notices_an_item_that_was_seen_too_often", home=SHARED_ITEMS
)
CAPPED_ACCOUNTS = of(MONEY, "test_caps_are_never_exceeded_whatever_happens", "top-two")
EVERY_TRY = of(MONEY, "test_every_try_is_charged_what_it_told")
ADDED_UP = in_memory("test_what_was_told_is_added_up_exactly", home=MONEY)
CHARGED_FAILURES = of(MONEY, "test_failures_are_charged_what_they_cost")
OUTAGE_COSTS = of(MONEY, "test_an_outage_gives_back_prices_and_not_what_was_told")
AUDITED_AMOUNTS = of(MONEY, "test_a_failure_that_was_charged_otherwise_is_found")
ENDS = of(BLOCKS, "test_an_arm_ends_with_its_items_and_the_study_with_the_last")
NOTHING_BEHIND = of(TALLIES, "test_a_decision_that_was_not_written_leaves_nothing_behind")


@cache
def in_large(test: str, *given: object) -> Named:
    """A contract of large studies, in memory, which says itself what is large."""

    def check(rooms: Rooms) -> None:
        with pytest.MonkeyPatch.context() as patch:
            getattr(rooms[LARGE], test)(rooms[PLACES].Place("memory", None), *given, patch)

    return Named(named(LARGE, test), check)


# --------------------------------------------------------------------------------- the faults

DESK, DECIDING, BOOK, READING = ("study.desk", "study.deciding", "study.book", "study.reading")
PLAN, STANDING, PAYING, PRICING = ("study.plan", "study.standing", "study.paying", "core.pricing")
WORDS, ARMS_ORDER, CLAIMS = ("reports.verdict", "reports.ordering", "reports.sharing")
SHARED_WORDS = "tests.unit.test_shared_words"
SETS = "tests.unit.test_set_verdicts"
BELIEFS, PRIORS, NOT_SEEN = ("core.beliefs", "core.priors", "core.unseen")
SPARSE = "core.sparse"
UNSEEN = "study.unseen"
JUDGING, AUDITING, MEMORY = ("study.verdict", "study.audit", "storage.memory")
ANSWERS, BASELINE, SHARES = ("core.answers", "core.baseline", "core.shares")
KNOWN_NOISE, STATED = ("core.known", "core.stated")
LOOKING, OBSERVING, PACKING = ("study.looking", "study.observing", "study.packing")
HOLDING, STOCK, BEGUN = ("study.holding", "study.stock", "study.begun")
KEPT_VERDICTS, VIEWS = ("interfaces.kept_verdicts", "interfaces.study_views")
STUDIES, WORKING = ("interfaces.studies", "execution.working")
OUTAGES, RESOLVING = ("execution.outages", "execution.resolving")
FACTS, LAGGING, ADVANCING = ("study.facts", "study.lagging", "study.advancing")
FAILING, PARDONING, KEEPING = ("study.failing", "study.pardoning", "study.keeping")
HALTING = "study.halting"
SHARING, ITEMS, EXHAUSTING, SHARING_AUDIT = (
    *("study.sharing", "study.items", "core.exhausting", "study.sharing_audit"),
)
STUDY_EDITED = (
    *(ANSWERS, BASELINE, KNOWN_NOISE, STATED, SHARES, BELIEFS, PRIORS, SPARSE, NOT_SEEN, UNSEEN),
    *(STANDING, PAYING, PRICING),
    *(DESK, PLAN, DECIDING, BOOK, READING, LOOKING, OBSERVING, PACKING, HOLDING),
    *(BEGUN, KEPT_VERDICTS, VIEWS, STOCK),
    *(JUDGING, AUDITING, MEMORY, STUDIES, WORKING, WORDS, ARMS_ORDER, CLAIMS),
    *(FAILING, PARDONING, KEEPING, OUTAGES, RESOLVING, HALTING),
    *(SHARING, ITEMS, EXHAUSTING, SHARING_AUDIT),
    *(FACTS, LAGGING, ADVANCING),
)

FAULTS = [
    # Answers that are sets.
    fault(
        "arms that were settled are in no set", JUDGING,
        "if one.cause == Cause.SETTLED]] = True", "if one.cause == Cause.FAILING]] = True",
        of(SETS, "test_settled_arms_lost_to_nobody_and_stay_in_the_set"),
    ),
    fault(
        "an arm that is settled was rejected", DECIDING,
        "Cause.SETTLED if question.settles else Cause.REJECTED", "Cause.REJECTED",
        of(SETS, "test_settled_arms_lost_to_nobody_and_stay_in_the_set"),
    ),
    fault(
        "limits that some named arm keeps are kept by all", ANSWERS,
        "            kept &= passes\n", "            kept |= passes\n",
        of(SETS, "test_chances_are_those_of_arms_that_are_asked_about_alone"),
    ),
    fault(
        "only the named one is doubted", UNSEEN,
        "named = list(answer.arms)", "named = [answer.named]",
        of(SETS, "test_what_was_not_seen_is_doubted_of_every_named_arm"),
    ),
    fault(
        "another threshold changes the best alone", JUDGING,
        "return found if problem.question.settles else found[:1]", "return found[:1]",
        of(SETS, "test_a_threshold_that_moves_changes_the_set"),
    ),
    # Leases.
    fault(
        "a pull is issued again under its old lease", DESK,
        "lease=pull.lease + (pull.deadline > NOBODYS),", "lease=pull.lease,",
        KEPT, SAME_SEED, refused("TELLS", "a stale lease"),
    ),
    fault(
        "an old lease is as good as a new one", DESK,
        "if pull.lease != lease:", "if pull.lease < lease:",
        KEPT, refused("TELLS", "a stale lease"),
    ),
    fault(
        "a pull that is given back keeps its lease", DESK,
        "lease=pull.lease + 1, deadline=NOBODYS, holder=None)", "deadline=NOBODYS)",
        SAME_SEED, walks("constrained-sr", 1, 0),
    ),
    fault(
        "a pull that is given back waits for its deadline", DESK,
        "lease=pull.lease + 1, deadline=NOBODYS, holder=None)", "lease=pull.lease + 1)",
        SAME_SEED, ANY_ORDER,
    ),
    fault(
        "leases that are taken back stay as they are", DESK,
        "ledger.set_pulls([_given_back(pull) for pull in held])", "pass",
        TAKEN_BACK,
    ),
    fault(
        "leases that ran out are taken back, and do not count", DESK,
        "if pull.deadline > now]", "]",
        walks("constrained-sr", 1, *range(6)),
    ),
    fault(
        "a lease that is kept is not longer", DESK,
        "[replace(pull, deadline=deadline)]", "[pull]",
        KEPT,
    ),
    fault(
        "a lease that ran out uses a retry up", DESK,
        "holder=holder,\n                )\n                for pull",
        "holder=holder, failures=pull.failures + 1)\n                for pull",
        SAME_SEED, walks("constrained-sr", 1, 0),
    ),
    fault(
        "a pull that nobody survives is issued for ever", DESK,
        "if pull.run_out >= most]", "if False]",
        GIVEN_UP, KILLER,
    ),
    fault(
        "a pull has one lease more than it may have", DESK,
        "if pull.run_out >= most]", "if pull.run_out > most]",
        GIVEN_UP,
    ),
    fault(
        "leases that were given back ran out", DESK,
        "run_out=pull.run_out + (pull.deadline > NOBODYS))", "run_out=pull.run_out + 1)",
        GIVEN_BACK,
    ),
    fault(
        "leases that ran out before one was given back are forgotten", DESK,
        "lease=pull.lease + 1, deadline=NOBODYS, holder=None)",
        "lease=pull.lease + 1, deadline=NOBODYS, holder=None, run_out=0)",
        GIVEN_BACK,
    ),
    fault(
        "a pull that may kill takes others with it", DESK,
        "expired, count = alone[:1], 1", "pass",
        ALONE,
    ),
    fault(
        "a lease is over only after its deadline", MEMORY,
        "pull.deadline <= now", "pull.deadline < now",
        EXPIRED, KEPT,
    ),
    fault(
        "the lease that ran out first is issued first", MEMORY,
        "key=lambda pull: pull.number", "key=lambda pull: pull.deadline",
        EXPIRED,
    ),
    fault(
        "leases of the gone are waited for", HOLDING,
        "if pull.holder in gone:", "if False:",
        OF_THE_GONE, KILLING,
    ),
    fault(
        "with one holder all are gone", HOLDING,
        "if pull.holder in gone:", "if gone:",
        OF_THE_GONE,
    ),
    fault(
        "a process that was killed was none of the pull's doing", HOLDING,
        "deadline=min(pull.deadline, now)", "deadline=0.0",
        KILLING,
    ),
    fault(
        "a lease lasts as long as a clock that was ahead said", HOLDING,
        "elif pull.deadline > longest:", "elif False:",
        AHEAD,
    ),
    fault(
        "a lease of a clock that is ahead ends at once", HOLDING,
        "deadline=longest)", "deadline=now)",
        AHEAD, SET_CLOCK,
    ),
    fault(
        "whoever is interrupted keeps the leases", RESOLVING,
        "        with suppress(LeaseError):  # it ran out: another has it\n"
        "            self.desk.release(pull.number, pull.lease)\n", "",
        of(API, "test_an_interrupt_gives_the_leases_back"),
    ),
    # Outages.
    fault(
        "a success settles whatever failed before it", OUTAGES,
        "if one.moment > begun]", "if False]",
        of(ROWS, "test_only_what_began_after_a_failure_settles_it"),
    ),
    fault(
        "one arm that fails is an outage", OUTAGES,
        "and self.arms > 1", "",
        of(ROWS, "test_failures_in_a_row_over_two_arms_are_an_outage"),
    ),
    fault(
        "what failed in an outage stays charged", RESOLVING,
        "self.desk.forgive(sorted(self._recorded))", "pass",
        of(RESOLVED, "test_six_failures_over_two_arms_are_given_back"),
        of(RESOLVED, "test_stand_ins_are_given_back_too"),
    ),
    fault(
        "the last arms are withdrawn in an outage", RESOLVING,
        "return self._calls.is_found(none_left=True) and self._none_left()", "return False",
        of(RESOLVED, "test_the_last_arms_are_not_withdrawn_for_what_nothing_settles", 2, 2),
    ),
    fault(
        "only pulls that failed are tried again", RESOLVING,
        "if turn % 2 == 1 and self._good is not None:", "if turn is None:",
        of(RESOLVED, "test_a_pull_whose_own_seed_fails_does_not_stop_the_study", "uniform"),
    ),
    fault(
        "what fails again after an outage is another one", RESOLVING,
        "if not is_on and pull.number in self._again:", "if pull is None:",
        of(RESOLVED, "test_a_pull_whose_own_seed_fails_does_not_stop_the_study", "uniform"),
    ),
    fault(
        "failures of a process that was killed are forgotten", RESOLVING,
        "self._calls.recall((pull.number, pull.arm) for pull in left)", "pass",
        of(RESOLVED, "test_failures_of_a_process_that_was_killed_count"),
    ),
    # Counts and charges.
    fault(
        "a pull that is told twice counts twice", DESK,
        "            if changed:\n                head = ledger.head\n"
        "                ledger.set_head(replace(head, unresolved=head.unresolved - len(changed)))",
        "            head = ledger.head\n"
        "            ledger.set_head(replace(head, unresolved=head.unresolved - len(reports)))",
        TWICE,
    ),
    fault(
        "other values are the same values", DESK,
        "if pull.values != report.values:", "if pull.values is None:",
        refused("TELLS", "other values"), refused("MANY", "a good one and an other value"),
    ),
    fault(
        "infinity is a number", OBSERVING,
        "found if math.isfinite(found) else None", "None if math.isnan(found) else found",
        refused("TELLS", "infinity"),
    ),
    fault(
        "a retry too few", DESK,
        "pull.failures < self.plan.definition.retries",
        "pull.failures + 1 < self.plan.definition.retries",
        SAME_SEED, ANY_ORDER,
    ),
    fault(
        "a pull that will be tried again is resolved", DESK,
        "                return \"retry\"\n",
        "                ledger.set_head(replace(ledger.head, unresolved=0))\n"
        "                return \"retry\"\n",
        ANY_ORDER,
    ),
    fault(
        "every failure is charged", DESK,
        "charged=charge)", "charged=True)",
        UNCHARGED,
    ),
    fault(
        "what is not charged is spent", READING,
        "is_used = harvest.is_charged & is_over", "is_used = is_over",
        UNCHARGED,
    ),
    fault(
        "failures cost nothing", READING,
        "is_over = harvest.is_told | harvest.is_failed", "is_over = harvest.is_told",
        UNCHARGED,
    ),
    fault(
        "a cancelled pull is charged", DESK,
        "charged=not off", "charged=True",
        walks("constrained-sr", 1, 8),
    ),
    fault(
        "pulls that are only issued are used", READING,
        "is_used = harvest.is_charged & is_over", "is_used = harvest.is_charged",
        walks("constrained-sr", 1, 0),
    ),
    fault(
        "a batch may exceed the budget by one", STANDING,
        "self.budget - self.spent - _sum(self.reserves, self.in_flight)\n",
        "self.budget - self.spent - _sum(self.reserves, self.in_flight) + 1\n",
        GOES_ON, UNCHARGED, ANY_ORDER,
    ),
    # Rounds.
    fault(
        "a round ends with a pull unresolved", ADVANCING,
        "if resolved < least:", "if head.unresolved > 1:",
        WHOLE_ROUND, ANY_ORDER,
    ),
    fault(
        "more pulls than were asked for", DESK,
        "count - len(leased), deadline, holder", "count, deadline, holder",
        walks("constrained-sr", 1, 7),
    ),
    fault(
        "extra pulls go to the first arms listed", DECIDING,
        "there, plan.priority, prices", "there, np.arange(plan.arm_count), prices",
        as_the_paper("uniform"),
    ),
    fault(
        "every batch has the same chance", DECIDING,
        "round_stream(plan.definition.seed, before.number + 1)",
        "round_stream(plan.definition.seed, 1)",
        DRAWN_BATCHES,
    ),
    fault(
        "a batch is chosen as if no pull were left", DECIDING,
        "left=allowance.left(taken))", "left=0)",
        BATCHES,
    ),
    fault(
        "every pull of a batch has the same chance", DECIDING,
        ".random(slots)\n", ".random(1).repeat(slots)\n",
        DRAWN_BATCHES,
    ),
    fault(
        "a budget that is raised late is not taken up", DECIDING,
        'standing.budget != before.seen["budget"] or ', "",
        of(API, "test_a_budget_raised_in_the_last_phase_is_not_ignored", "constrained-sr"),
    ),
    fault(
        "a stopped study issues pulls", DESK, "if head.is_stopped:", "if False:",
        in_memory(
            "test_a_stop_outlives_whoever_made_it_and_is_taken_back", "top-two", home=HALTED
        ),
    ),
    fault(
        "a stopped study decides its first round", DESK, " and not ledger.head.is_stopped", "",
        in_memory(
            "test_a_study_that_is_stopped_before_it_began_decides_no_first_round", home=HALTED
        ),
    ),
    fault(
        "a study is archived while it runs", HALTING, "if not head.is_over:", "if False:",
        in_memory("test_only_what_is_over_is_archived_and_what_goes_on_is_listed", home=HALTED),
    ),
    fault(
        "followers do not hear of a stop", READING,
        '("s", head.stopped_at)', '("s", None)',
        in_memory("test_a_stop_and_an_archive_change_what_followers_hear", home=HALTED),
    ),
    fault(
        "a finished study sleeps on when its budget is raised", HALTING,
        "replace(head, finished=False, archived_at=None)", "replace(head, archived_at=None)",
        GOES_ON,
    ),
    fault(
        "an arm on its threshold is outside", "core.best_feasible",
        "(best >= 0) & (best_margin <= 0.0)", "(best >= 0) & (best_margin < 0.0)",
        as_the_paper("uniform"), flips("one limit", 0),
    ),
    fault(
        "whoever is rejected lost to the best, even the best", DECIDING,
        "rival = None if best in (out, -1) else int(best)", "rival = int(best)",
        NOBODY,
    ),
    # Broken arms.
    fault(
        "failures are counted across a success", FAILING,
        "pull.state not in _SPOKEN:", "pull.state == State.ISSUED:",
        IN_A_ROW,
    ),
    fault(
        "failures are counted across a success when they are read", READING,
        "+ 1 if failed[place] else 0", "+ 1 if failed[place] else self._failing[arm]",
        IN_A_ROW,
    ),
    fault(
        "a success in a round of its own settles nothing", READING,
        "self._failing[arm] *= not says.any()", "pass",
        in_memory("test_a_success_in_a_round_of_its_own_ends_a_run_of_failures", home=PARDONS),
    ),
    fault(
        "an arm whose first pulls were lost is withdrawn", DECIDING,
        "or lost >= lacks)", ")",
        LOST_ANEW,
    ),
    fault(
        "failures are made good like lost pulls", READING,
        "np.count_nonzero(is_lost[good])", "np.count_nonzero(harvest.is_failed[good])",
        in_memory(
            "test_what_failed_is_not_given_again_in_place_of_what_was_lost", home=PARDONS
        ),
    ),
    fault(
        "what was given in place of lost pulls counts twice", READING,
        "self._missing += np.where(is_given & ~self.book.is_seen, self._lost, 0)", "pass",
        LOST_ANEW,
    ),
    fault(
        "only failures that were heard of earlier count", FAILING,
        "for step in (-1, 1):", "for step in (-1,):",
        IN_A_ROW, breaking_arm("constrained-sr", 1),
    ),
    fault(
        "a broken arm is pulled on", DESK,
        "off = arm in head.broken", "off = False",
        raising_arm("constrained-sr"), raising_arm("top-two"),
    ),
    fault(
        "what a broken arm yields beyond is seen", READING,
        "return int(place) + 1", "return len(mine)",
        breaking_arm("constrained-sr", 1),
    ),
    fault(
        "what a broken arm yields beyond is in its sample", KEEPING,
        "mine[ordinals[mine] <= broken[arm]] if arm in broken else mine", "mine",
        breaking_arm("constrained-sr", 1, "p80(risk) <= 1.4"),
    ),
    fault(
        "the rest of a broken arm's round is not spent", READING,
        "is_used[good])) + len(mine) - len(good)", "is_used[good]))",
        breaking_arm("top-two", 5),
    ),
    fault(
        "an arm that was seen once is judged", DECIDING,
        "elif not book.is_seen[arm] and", "elif book.counts[arm] == 0 and",
        TOO_LITTLE,
    ),
    # What is seen, and when.
    fault(
        "half a round is not looked at", LOOKING,
        "            if not is_whole and samples:\n",
        "            if samples:\n                pass\n            elif head.round < 0:\n",
        PART, walks("constrained-sr", 1, 0),
    ),
    fault(
        "looking takes half a round for a whole one", LOOKING,
        "                reader = reader.copied()\n", "",
        PART, BROUGHT,
    ),
    fault(
        "a round is read with all before it", READING,
        "slice(self.read + 1 - first, last + 1 - first)", "slice(0, last + 1 - first)",
        ANY_ORDER,
    ),
    fault(
        "what is brought along is seen twice", READING,
        "            self.past += 1\n", "",
        BROUGHT,
    ),
    fault(
        "what is brought along was there a round before", DESK,
        "after = ledger.head.round\n", "after = ledger.head.round - 1\n",
        BROUGHT,
    ),
    fault(
        "the audit sees what was brought along too early", READING,
        "if past.after > round_number:", "if past.after > round_number + 1:",
        BROUGHT,
    ),
    fault(
        "an arm's sample holds what was brought along for others", READING,
        "earlier.setdefault(one.arm, [])", "earlier.setdefault(0, [])",
        flips("a quantile", 0),
    ),
    fault(
        "pulls are read in the order of their writing", MEMORY,
        "Harvest.of(self.pulls_between(first, last), self.metric_count)",
        "Harvest.of([p for n, p in self._pulls.items() if first <= n <= last], self.metric_count)",
        HARVEST,
    ),
    # Tallies and looks.
    fault(
        "a tally is of the round after", READING,
        "return Tally(self.through, pack(plain, sums, timeless=self.book.is_timeless))",
        "return Tally(self.through + 1, pack(plain, sums))",
        TALLY, LITTLE_LEFT, walks("top-two", 1, 0),
    ),
    fault(
        "a tally forgets failed pulls", READING,
        '"failed": self.failed,', '"failed": 0,',
        TALLY,
    ),
    fault(
        "a tally forgets what was charged", READING,
        '"spent": self._spent,', '"spent": self.told,',
        TALLY,
    ),
    fault(
        "a tally forgets who failed last", READING,
        '"failing": _pairs(self._failing),',
        '"failing": [],',
        tallied("top-two", 9, 1),
    ),
    fault(
        "a tally forgets who is broken", READING,
        '"broken": list(self.broken.items()),', '"broken": [],',
        tallied("top-two", 9, 1),
    ),
    fault(
        "a tally forgets who left", READING,
        "one.phase] for one in self.departures]",
        "one.phase] for one in self.departures[:0]]",
        TALLY, tallied("constrained-sr", 1, 0),
    ),
    fault(
        "a tally forgets what was brought along", READING,
        '"past": self.past,', '"past": 0,',
        TALLY,
    ),
    fault(
        "a tally holds single precision", PACKING,
        '_KINDS = {"f": "<f8", "i": "<i8"}', '_KINDS = {"f": "<f4", "i": "<i8"}',
        TALLY,
    ),
    fault(
        "arms are measured when they are added to, not when they are restored", BOOK,
        "        self._unmeasured = {int(arm) for arm in np.flatnonzero(self.counts)}\n", "",
        TALLY,
    ),
    fault(
        "a tally is never written", DESK,
        "            ledger.set_tally(tally)\n", "            pass\n",
        TALLY, LITTLE_LEFT,
    ),
    fault(
        "a tally is never used", LOOKING,
        "reader.through < tally.through < head.round", "reader.through > tally.through",
        TALLY, LITTLE_LEFT,
    ),
    fault(
        "the last tally is missing", LOOKING,
        "return decided.is_last or ", "return ",
        LITTLE_LEFT,
    ),
    fault(
        "a tally is of any study", MEMORY,
        "        return self._tally\n\n    def set_tally(self, tally: Tally) -> None:\n"
        "        self._tally = tally\n",
        "        return getattr(_Pages, 'shared', None)\n\n"
        "    def set_tally(self, tally: Tally) -> None:\n"
        "        _Pages.shared = tally\n",
        in_memory("test_studies_do_not_see_each_other"),
        in_memory("test_a_study_that_is_deleted_leaves_nothing"),
    ),
    fault(
        "a tally is not put back", MEMORY,
        "self.head, self._tally, rounds, past, pardons = self._saved",
        "self.head, _, rounds, past, pardons = self._saved",
        ending_badly("tally"),
    ),
    fault(
        "what was read is kept before it is written", DESK,
        "                    head, reader = advanced\n",
        "                    head, reader = advanced\n"
        "                    self._lookout.keep(reader)\n",
        NOTHING_BEHIND,
    ),
    fault(
        "a study that was made anew is the old one", DESK,
        "            self._lookout.require_same(ledger)\n            before", "            before",
        in_memory("test_a_study_made_anew_is_not_taken_for_the_old_one", home=TALLIES),
    ),
    fault(
        "every status reads a round from its first pull", BEGUN,
        "return reader, Begun(further), kept", "return reader, known, None",
        in_memory("test_a_round_that_was_begun_is_read_once", home=LARGE),
    ),
    fault(
        "a round in parts is read from its first pull again", READING,
        "first, end, harvest = self.read + 1, 0, None",
        "first, end, harvest = self.read + 1, 0, None\n"
        "        self.read = self.last.through if self.last else 0",
        in_large("test_a_round_read_in_parts_is_the_round", "uniform"),
    ),
    fault(
        "what broken arms yield counts where a round is read in parts", BEGUN,
        "if set(further.broken) != set(start.broken):", "if start is None:",
        in_large("test_a_round_read_in_parts_is_the_round", "uniform"),
    ),
    fault(
        "what another program made of a study is taken for ours", KEPT_VERDICTS,
        'desk.kept(_KIND, _program(), view)', 'desk.kept(_KIND, "", view)',
        in_large("test_a_kept_verdict_is_the_verdict"),
    ),
    fault(
        "a kept verdict is not audited", VIEWS,
        "if found.is_sound and is_another(self.desk):", "if found.is_sound and found is None:",
        in_large("test_a_kept_verdict_that_does_not_follow_is_found"),
    ),
    fault(
        "what was read is forgotten", LOOKING,
        "            self.reader = reader\n", "            pass\n",
        READ_ONCE,
    ),
    fault(
        "pulls that are open are never read again", "study.ahead",
        "rows.part(slice(until))", "rows",
        READ_ONCE,
    ),
    fault(
        "the pulse does not feel what is brought along", READING,
        "len(head.broken), brought, head.", "len(head.broken), head.",
        PULSE,
    ),
    fault(
        "the pulse does not feel what is told", READING,
        "resolved = head.issued - head.unresolved", "resolved = head.issued",
        PULSE,
    ),
    fault(
        "the last round is left out of some", LOOKING,
        "return [*range(0, count - 1, step), count - 1]", "return [*range(0, count, step)]",
        in_memory("test_some_rounds_stand_for_all", 6, home=TALLIES),
    ),
    fault(
        "the audit trusts the tally", AUDITING,
        "tally.through == reader.through and tally != reader.tally()",
        "tally.through == reader.through and tally is None",
        *(of(TALLIES, "test_a_tally_that_is_not_its_pulls_is_named", what)
          for what in ("of the round before", "a bit of a sum", "a pull more")),
    ),
    fault(
        "the audit takes a tally of any round", AUDITING,
        "not 0 <= tally.through < count - 1", "tally.through > 2**40",
        of(TALLIES, "test_a_tally_that_is_not_its_pulls_is_named", "of a round that is not over"),
    ),
    fault(
        "one pull is enough to know the noise", BOOK,
        "1 if noise.is_whole(problem) else 2", "1",
        NO_NOISE_YET, TOO_LITTLE,
    ),
    fault(
        "only the last round is measured", BOOK,
        "sample = np.concatenate(self._samples[arm])", "sample = self._samples[arm][-1]",
        KEPT_SAMPLE,
    ),
    fault(
        "a sample's scatter is of one pull more", BOOK,
        "found.covariance * (count - 1)", "found.covariance * count",
        KEPT_SAMPLE, TURNED,
    ),
    fault(
        "a sample is not turned", BOOK,
        "self._estimates[arm] = signs * found.estimates", "self._estimates[arm] = found.estimates",
        KEPT_SAMPLE, TURNED,
    ),
    fault(
        "a sample's scatter is not turned", BOOK,
        "np.outer(signs, signs) * found.covariance", "found.covariance",
        KEPT_SAMPLE, TURNED,
    ),
    fault(
        "a sample's quantiles have one direction", BOOK,
        "            signs=signs.tolist(),\n", "",
        KEPT_SAMPLE,
    ),
    fault(
        "metrics are taken in the order of their telling", BOOK,
        "[list(metrics).index(metric) for metric in self.problem.metrics]",
        "list(range(len(self.problem.metrics)))",
        KEPT_SAMPLE, of(BOOKS, ALL_ADDED, "added up"),
    ),
    # Seeds.
    fault(
        "a seed depends on the number of the pull", STUDIES,
        "fact.arm, fact.ordinal)", "fact.arm, fact.number)",
        SEEDS, WORKERS,
    ),
    fault(
        "a worker's seed depends on the number of the pull", WORKING,
        "pull.arm, pull.ordinal)", "pull.arm, pull.number)",
        WORKERS,
    ),
    # The verdict.
    fault(
        "sure from 90% on", JUDGING,
        "SURE = 0.95", "SURE = 0.9",
        SURE, SURE_NOT,
    ),
    fault(
        "sure from 99% on", JUDGING,
        "SURE = 0.95", "SURE = 0.99",
        SURE, SURE_NOT,
    ),
    fault(
        "sure of infeasible by the chance of feasible", JUDGING,
        "(keeps if feasible else 1.0 - chance)", "(keeps if feasible else chance)",
        NO_WAY, SURE_NOT,
    ),
    fault(
        "sure of the named arm by the chance that any arm is feasible", JUDGING,
        "(keeps if feasible else 1.0 - chance)", "(chance if feasible else 1.0 - chance)",
        SEEMS_TO_BREAK,
    ),
    fault(
        "a doubt changes nothing", JUDGING,
        "sure = not doubts and", "sure =",
        NOTHING_VARIED,
    ),
    fault(
        "what was not seen is taken not to be there", NOT_SEEN,
        "UNSEEN = 3.0", "UNSEEN = 0.0",
        of(VERDICT, "test_what_was_not_seen_counts_as_far_as_it_is_possible",
           "mean(risk) <= 3.3", None, True),
    ),
    fault(
        "zeros are a share whatever the limit", UNSEEN,
        "beliefs.shares & ~may_be_more(problem, plan.noise.bounds)", "beliefs.shares",
        of(VERDICT, "test_zeros_of_what_may_be_more_are_doubted", "mean(risk) <= 5", None, True),
    ),
    fault(
        "the worst of failed pulls is the best", UNSEEN,
        "[{-1: low, 1: high}[end] for end in sorted(bad)]",
        "[{-1: high, 1: low}[end] for end in sorted(bad)]",
        FAILURES,
    ),
    fault(
        "a failed pull is no worse than those that were told", UNSEEN,
        "if attribute.metric == metric and attribute.bound is not None:", "if False:",
        NO_EVENT_TOLD,
    ),
    fault(
        "a doubt is told as often as an attribute is asked about", UNSEEN,
        "*dict.fromkeys(_unseen(plan, snapshot, judged, answer)),",
        "*_unseen(plan, snapshot, judged, answer),",
        of(VERDICT, "test_an_objective_that_has_a_limit_is_doubted_once"),
    ),
    # What the truth may be.
    fault(
        "a skewed mean is taken for symmetric", BELIEFS,
        "if abs(unit) < _FLAT:", "if unit < 1e9:",
        of(BELIEF_TESTS, "test_halls_cubic_is_solved", 2.0, 10),
    ),
    fault(
        "the upper end of a quantile is the one of its mirror", BELIEFS,
        "_binomial_place(count, 1.0 - level, tail)", "_binomial_place(count, level, tail)",
        of(BELIEF_TESTS, "test_intervals_of_quantiles_cover_and_are_no_longer_than_they_must",
           100, 0.95),
    ),
    fault(
        "a quantile is as sure as its largest pulls lie close", SPARSE,
        "beyond = counts *", "beyond = 1e9 * counts *",
        of(BELIEF_TESTS, "test_a_p95_is_not_certain_where_the_largest_pulls_happen_to_be_alike",
           1, 0.5, 0.85),
    ),
    fault(
        "arms are not pulled to what they have in common", PRIORS,
        "shift = trust * (self.centres - estimate)",
        "shift = 0.0 * trust * (self.centres - estimate)",
        of(BELIEF_TESTS, "test_the_normal_prior_is_that_of_quadrature"),
    ),
    fault(
        "a share learns nothing of the others", PRIORS,
        "events + 0.5 + self.pulls * self.shares", "events + 0.5 + self.pulls * 0.5",
        of(BELIEF_TESTS, "test_the_prior_of_shares_is_that_of_quadrature"),
    ),
    fault(
        "spreads of yes and no are as normal as others", BELIEFS,
        "shares |= binary & are_spreads(problem)", "pass",
        SPREADS_COVER, SURE_SPREADS,
    ),
    fault(
        "a spread is never as great as where half are yes", SHARES,
        "_HIGHEST[statistic] if low <= 0.5 <= high else float(ends.max())", "float(ends.max())",
        SPREADS_COVER,
    ),
    fault(
        "a sample's variance is that of its share", SHARES,
        "product = part * (", "product = (",
        SURE_SPREADS,
    ),
    fault(
        "a share that is turned goes against what it goes with", BELIEFS,
        "scores = self.signs[attribute] * scores  # as written", "pass  # as written",
        of(BELIEF_TESTS, "test_draws_keep_what_goes_with_what", 3, 50, "share(y > 1) >= 0.01"),
        of(BELIEF_TESTS, "test_draws_keep_what_goes_with_what", 40, 100, "share(y > 1) >= 0.01"),
    ),
    # Its words.
    fault(
        "an arm is called the best whatever its chance", WORDS,
        "if sure:\n            return f\"{name} is the best feasible arm\"",
        "if True:\n            return f\"{name} is the best feasible arm\"",
        HARDLY_BEST,
    ),
    fault(
        "an arm is called infeasible by the chance that it is not", WORDS,
        "percent(1.0 - arm.chance_feasible)", "percent(arm.chance_feasible)",
        of(SAID, "test_what_looks_past_a_limit_is_worded_as_an_estimate"),
    ),
    fault(
        "the opposite of what an arm looks is called likelier whatever its chance", WORDS,
        " and verdict.feasible == likely:", ":",
        of(SAID, "test_the_opposite_of_what_it_looks_is_called_likelier_only_where_it_is",
           0.1, 0.14, None),
    ),
    fault(
        "an answer is called likelier than what looks best whatever its chance", WORDS,
        "return (answer.chance_best or 0.0) >= (apparent.chance_best or 0.0)", "return True",
        of(SAID, "test_an_answer_is_called_likelier_only_where_its_chance_is_larger",
           0.2, "is what the policy names", "the policy names b"),
    ),
    fault(
        "one answer to each item is taken for the only one", CLAIMS,
        ' and "evaluation" in blocks', "",
        of(SHARED_WORDS, "test_only_one_answer_each_may_be_answered_otherwise"),
    ),
    fault(
        "pulls on the same items are called independent", CLAIMS,
        "    if blocks is None:\n        return CAVEAT", "    if True:\n        return CAVEAT",
        of(SHARED_WORDS, "test_only_one_answer_each_may_be_answered_otherwise"),
    ),
    fault(
        "what was not seen is certain", WORDS,
        'arm.pulls >= blocks["items"]', "arm.pulls > 0",
        of(SHARED_WORDS, "test_what_was_not_seen_whole_is_not_certain"),
    ),
    fault(
        "of very many arms those that may be the answer are not shown", ARMS_ORDER,
        "_IN_QUESTION = 0.01", "_IN_QUESTION = 1.01",
        of(SAID, "test_of_very_many_arms_those_that_may_be_the_answer_are_shown"),
    ),
    # A baseline.
    fault(
        "the baseline is drawn without its noise", ANSWERS,
        "limits = thresholds + factors * draw[:, 1:]",
        "limits = thresholds + factors * beliefs.estimates[arm, 1:]",
        SHARED,
    ),
    fault(
        "the baseline's noise is left out of a difference", BASELINE,
        "found[i, c, k] = own + counts[i] * shared", "found[i, c, k] = own",
        SPREAD, COUNTED,
    ),
    fault(
        "a difference has the scale of an arm", BASELINE,
        "found[c] = scales[c] / math.sqrt(1.0 + factors[c - 1] * factors[c - 1])",
        "found[c] = scales[c]",
        COUNTED,
    ),
    fault(
        "a baseline may be rejected", "policies.course",
        "if baseline >= 0 and out == baseline and not spared:", "if False:",
        STAYS,
    ),
    fault(
        "nobody stays beside the baseline", BASELINE,
        "return max(keep, 2)", "return keep",
        STAYS,
    ),
    fault(
        "the baseline is pulled as the rules say", BASELINE,
        "fresh[baseline if behind else arm] += 1", "fresh[arm] += 1",
        AS_OFTEN,
    ),
    fault(
        "a withdrawn arm is judged", JUDGING,
        "    judged[withdrawn] = False\n", "",
        WITHDRAWN,
    ),
    fault(
        "the error of a mean is that of a pull", BELIEFS,
        "covariances=covariances / n[:, None, None]", "covariances=covariances",
        SURE, SURE_NOT,
    ),
    fault(
        "an interval of 90%", BELIEFS,
        "LEVEL = 0.95", "LEVEL = 0.9",
        SURE,
    ),
    fault(
        "an arm passes by its best constraint", ANSWERS,
        "(draw[:, 1:] - limits)).max(axis=1, initial=-np.inf)",
        "(draw[:, 1:] - limits)).min(axis=1, initial=np.inf)",
        ONE_IS_ENOUGH,
    ),
    fault(
        "a set is right in part", ANSWERS,
        "agrees &= passes == chosen[arm]", "agrees &= passes | ~chosen[arm]",
        WHOLE,
    ),
    fault(
        "a draw on the threshold is outside", ANSWERS,
        "passes = worst <= 0.0", "passes = worst < 0.0",
        ON_THE_LINE,
    ),
    fault(
        "the right arm with the wrong flag is right", ANSWERS,
        "(np.isin(self.arms, list(right)) & (self.feasible == feasible))",
        "np.isin(self.arms, list(right))",
        SURE,
    ),
    fault(
        "the answer flips on the threshold, not beyond it", JUDGING,
        "np.nextafter(np.unique(values[values <= limit])[::-1], -np.inf)",
        "np.unique(values[values <= limit])[::-1]",
        flips("one limit", 1), flips("one limit from below", 2),
    ),
    fault(
        "a threshold flips whatever the other constraints say", JUDGING,
        "passes = others.all(axis=1)", "passes = np.ones(len(judged), np.bool_)",
        flips("two limits", 0),
    ),
    fault(
        "arms that were rejected may be the answer", JUDGING,
        "    running &= seen\n", "    running = seen\n",
        as_the_paper("infeasible-first"),
    ),
    fault(
        "a quantile is shown from one side", JUDGING,
        "signs=[float(signs[c])]", "signs=[1.0]",
        of(VERDICT, "test_a_quantile_is_shown_from_the_side_of_its_limit", ">= 7.5", 8.0),
    ),
    # The audit.
    fault(
        "a pull more than the budget is overlooked", AUDITING,
        "if taken > head.budget", "if taken > head.budget + 1",
        damaged("a pull more than the budget"),
    ),
    fault(
        "a budget that is spent is overspent", AUDITING,
        "if taken > head.budget", "if taken >= head.budget",
        GOES_ON,
    ),
    fault(
        "a pull that is counted twice is overlooked", AUDITING,
        "(places != wanted).any(axis=0)", "(places != wanted)[::2].any(axis=0)",
        damaged("a pull twice"),
    ),
    fault(
        "open pulls that nobody counts are overlooked", AUDITING,
        "if stock.open != head.unresolved:", "if stock.open < head.unresolved:",
        damaged("a pull open that nobody counts"),
    ),
    fault(
        "another decision is overlooked", AUDITING,
        "if getattr(mine, key.name) != getattr(other, key.name)",
        'if key.name == "seen" and getattr(mine, key.name) != getattr(other, key.name)',
        damaged("another arm left"), damaged("an arm that left is alive"),
        damaged("a last round that is not the last"),
    ),
    fault(
        "another observation is overlooked", AUDITING,
        "if getattr(mine, key.name) != getattr(other, key.name)",
        'if key.name != "seen" and getattr(mine, key.name) != getattr(other, key.name)',
        damaged("an estimate changed"), damaged("a failure that was told"),
    ),
    fault(
        "what another edition chose is taken for a mistake", AUDITING,
        "        if _is_of_another_rule(plan, one):\n", "        if plan is None:\n",
        of(AUDIT, "test_what_another_edition_of_the_rule_chose_is_noted"),
    ),
    fault(
        "what was decided whole is taken for a mistake", AUDITING,
        "if wrong and _is_of_other_batches(one, again):", "if plan is None:",
        of(AUDIT, CUT, pytest.MonkeyPatch()),
    ),
    fault(
        "any choice of a large batch is trusted", AUDITING,
        "return bool(one.seen.get(\"groups\", 1) != again.seen.get(\"groups\", 1))",
        "return bool(again.seen.get(\"groups\", 1) > 1)",
        of(AUDIT, CUT, pytest.MonkeyPatch()),
    ),
    fault(
        "a round does not say that it was decided in groups", "study.deciding",
        "if decided.is_cut:", "if decided is None:",
        of(AUDIT, CUT, pytest.MonkeyPatch()),
    ),
    fault(
        "what another edition saw is trusted", AUDITING,
        "return replace(again, allocation=one.allocation,",
        "return replace(again, seen=one.seen, allocation=one.allocation,",
        of(AUDIT, "test_what_another_edition_of_the_rule_chose_is_noted"),
    ),
    fault(
        "estimates that went by other noise are trusted", AUDITING,
        "if np.allclose(found[0], found[1], rtol=1e-9, atol=rounding):", "if True:",
        of(ROUNDING, "test_rounds_of_another_edition_of_the_noise_are_sound"),
    ),
    fault(
        "an arm given up for nothing is overlooked", AUDITING,
        "if set(broken) != set(head.broken):", "if set(broken) > set(head.broken):",
        damaged("an arm given up for nothing"),
    ),
    fault(
        "a study that ends early is overlooked", AUDITING,
        "if head.finished and not (last and last.is_last):",
        "if head.finished and not last:",
        damaged("finished before its end"),
    ),
    fault(
        "an audit takes every stretch of pulls for a good one", STOCK,
        "if survey is None or not _fits(plan, survey):", "if survey is None:",
        damaged("a told pull without values"), damaged("a failed pull with values"),
        damaged("a value that is NaN"), damaged("a pull that was never leased"),
    ),
    fault(
        "an audit leaves out the pulls beyond the last", STOCK,
        "[*(start - 1 for start in starts[1:]), _LARGEST]",
        "[*(start - 1 for start in starts[1:]), issued]",
        damaged("a pull beyond the last"),
    ),
    # The ledger in memory.
    fault(
        "a changed pull is not put back", MEMORY,
        "            if pull is not None:\n                self._put(pull)\n",
        "            if pull is not None:\n                continue\n",
        ending_badly("changed pull"), ending_badly("half of changed pulls"),
    ),
    fault(
        "a pull is put back as it was before its last change", MEMORY,
        "self._before.setdefault(pull.number, self._pulls[pull.number])",
        "self._before[pull.number] = self._pulls[pull.number]",
        ending_badly("a fresh pull, then changed"),
    ),
    fault(
        "where the study stands is not put back", MEMORY,
        "self.head, self._tally, rounds, past, pardons = self._saved",
        "_, self._tally, rounds, past, pardons = self._saved",
        ending_badly("head"),
    ),
    fault(
        "a pull that is taken back is still its arm's", MEMORY,
        "                del self._places[gone.arm, gone.ordinal]\n", "",
        ending_badly("fresh pulls"),
    ),
    # Noise that was stated.
    fault(
        "a stated sigma is ignored", BOOK,
        "if not self._known.says_nothing:", "if self._known.says_nothing:",
        in_units("sigma"), RESTS_ON_SIGMA, NEVER_VARIED,
    ),
    fault(
        "a stated sigma is of margins only", BOOK,
        "            self._known.replace_covariances(covariances)\n", "",
        RESTS_ON_SIGMA, STILL_COVARIANCE,
    ),
    fault(
        "a stated sigma is taken for a variance", STATED,
        "return self.sigmas[metric] ** 2", "return self.sigmas[metric]",
        in_units("sigma"), SAME_NOISE,
    ),
    fault(
        "a sigma speaks of every statistic", STATED,
        'return attribute.statistic == "mean" and', "return",
        OTHERS_ESTIMATED, unstated("sigma without a mean"),
    ),
    fault(
        "one arm's sigma is every arm's", STATED,
        "by_arm[i, c] = self.own", "by_arm[:, c] = self.own",
        ARMS_OWN,
    ),
    fault(
        "an arm's own sigma is ignored where it says nothing of margins", KNOWN_NOISE,
        " and np.isnan(self.variances).all()", "",
        ARMS_OWN,
    ),
    fault(
        "bounds prove nothing", STATED,
        "constant = proven_constant(attribute, bounds=bounds)", "constant = None",
        in_units("bounds"), in_units("a tail"),
    ),
    fault(
        "bounds cap nothing", KNOWN_NOISE,
        "np.minimum(found, self.ceilings)", "found",
        CAPPED,
    ),
    fault(
        "bounds are taken for the variance", KNOWN_NOISE,
        "np.minimum(found, self.ceilings)",
        "np.where(np.isinf(self.ceilings), found, self.ceilings)",
        CAPPED, NEVER_VARIED,
    ),
    fault(
        "a stated variance forgets the correlations", KNOWN_NOISE,
        "np.where(found > 0.0, np.sqrt(wanted / found), 0.0)", "np.zeros_like(found)",
        SIGMA_KEEPS, SAME_NOISE,
    ),
    fault(
        "a stated covariance stands beside any correlation", KNOWN_NOISE,
        "        if len(others):\n", "        if len(known) == 0:\n",
        STILL_COVARIANCE,
    ),
    fault(
        "a stated covariance is not turned", STATED,
        "stated * np.outer(turns, turns)", "stated * np.abs(np.outer(turns, turns))",
        STILL_COVARIANCE, SAME_NOISE,
    ),
    fault(
        "noise that is stated must still be estimated", BOOK,
        "1 if noise.is_whole(problem) else 2", "2",
        ONE_PULL,
    ),
    fault(
        "a sigma for each metric is all there is to know", STATED,
        "return self.covariance is not None and all(", "return all(",
        ONE_PULL,
    ),
    fault(
        "an edge is outside", STATED,
        "if not low <= value <= high:", "if not low < value < high:",
        of(NOISE, OUTSIDE, "told"),
    ),
    fault(
        "bounds hold from above only", STATED,
        "if not low <= value <= high:", "if not value <= high:",
        of(NOISE, OUTSIDE, "below"),
    ),
    fault(
        "what is told is not held to its bounds", OBSERVING,
        "Observation(inside(plan, values), extras, notes)",
        "Observation(tuple(values), extras, notes)",
        of(NOISE, OUTSIDE, "told"), of(NOISE, OUTSIDE, "among others"),
        of(NOISE, "test_an_evaluation_outside_its_bounds_has_failed"),
    ),
    fault(
        "what is brought along is not held to its bounds", STUDIES,
        "zip(columns[arm], rows_inside(self.desk.plan, rows), strict=True)",
        "zip(columns[arm], map(tuple, rows.tolist()), strict=True)",
        of(NOISE, OUTSIDE, "brought along"),
    ),
    fault(
        "columns are not held to their bounds", OBSERVING,
        "for values, others in zip(rows_inside(plan, rows), further, strict=True)",
        "for values, others in zip(map(tuple, rows.tolist()), further, strict=True)",
        of(NOISE, OUTSIDE, "in columns"),
    ),
    # Lags.
    fault(
        "a decision sees a pull too many", FACTS,
        "self.end + 1 - self.lag", "self.end + 2 - self.lag",
        lagging("test_a_decision_sees_the_pulls_up_to_the_lag_and_no_other", 1, 9),
        lagging("test_as_many_pulls_are_open_as_the_lag_allows", 1, 5),
    ),
    fault(
        "a decision sees less than the one before", FACTS,
        "max(self.through, self.end + 1 - self.lag)", "self.end + 1 - self.lag",
        lagging("test_a_decision_sees_the_pulls_up_to_the_lag_and_no_other", 1, 40),
    ),
    fault(
        "first pulls are not waited for", FACTS,
        "if self.lag == 1 or self.number == 0:", "if self.lag == 1:",
        lagging("test_first_pulls_are_waited_for"),
    ),
    fault(
        "a decision sees what happens to be known", ADVANCING,
        "least = before.seen_next", "least = max(before.seen_next, min(resolved, before.end))",
        lagging("test_any_order_gives_the_same_rounds_and_verdict", "top-two", 1, 7),
    ),
    fault(
        "an end is decided before all is known", ADVANCING,
        "if not decided.is_last:", "if True:",
        lagging("test_what_may_not_be_charged_is_waited_for_before_the_end"),
    ),
    fault(
        "an arm is judged before its pulls are seen", ADVANCING,
        "if not proven.ends and _all_are_seen(before, standing, reader):", "if True:",
        lagging("test_lost_pulls_and_stand_ins_give_the_same_in_any_order", 30, {}),
    ),
    fault(
        "what is in flight is not paid for", STANDING,
        "self.budget - self.spent - _sum(self.reserves, self.in_flight)\n",
        "self.budget - self.spent\n",
        lagging("test_what_may_not_be_charged_is_waited_for_before_the_end"),
    ),
    fault(
        "rules do not hear of pulls in flight", DECIDING,
        "    if standing.in_flight:\n", "    if False:\n",
        lagging("test_within_a_window_the_policy_knows_what_is_in_flight"),
    ),
    fault(
        "a lag is forgotten after first pulls", DECIDING,
        "{\"lag\": before.lag, \"through\": through}", "{\"through\": through}",
        lagging("test_as_many_pulls_are_open_as_the_lag_allows", 1, 5),
    ),
    fault(
        "what was decided of a broken arm counts after all", READING,
        "            if arm in self.broken:\n                self._spent",
        "            if False:\n                self._spent",
        lagging("test_a_withdrawal_acts_on_what_is_not_decided_in_any_order",
                "top-two", 1, 30, "mean(risk) <= 1.0"),
    ),
    fault(
        "what was decided of a broken arm is spent only if evaluated", READING,
        "self._spent += self._prices[arm] * len(mine)",
        "self._spent += self._prices[arm] * int(np.count_nonzero(is_used[mine]))",
        lagging("test_a_withdrawal_acts_on_what_is_not_decided_in_any_order",
                "top-two", 1, 30, "mean(risk) <= 1.0"),
    ),
    fault(
        "a tally forgets what is in flight", READING,
        "            plain[\"read of\"] = _pairs(self._read_of)\n", "            pass\n",
        tallied("top-two", 1, 0, 12),
    ),
    fault(
        "whoever looks has seen what no decision has", LOOKING,
        "until = None if is_over or current is None else current.through", "until = None",
        walks("top-two", 1, *range(4), lag=5),
    ),
    fault(
        "an audit does not ask whether what was seen is open", AUDITING,
        "known = min(then.issued, resolved)", "known = then.issued",
        lagging("test_an_audit_names_a_pull_that_is_open_and_was_seen"),
    ),
    fault(
        "an audit takes any lag", AUDITING,
        "far[0] != (far[0] if stated is None else stated)", "False",
        lagging("test_an_audit_names_a_decision_that_saw_something_else",
                0, {"lag": 6}, "round 0 has a lag of 6"),
    ),
    fault(
        "workers set no lag", WORKING,
        "            self._patiently(partial(self.desk.begin, self.workers))\n", "",
        lagging(
            "test_whoever_begins_a_study_says_its_lag_where_nothing_is_stated",
            {}, 4, 6, home=LAG,
        ),
    ),
    fault(
        "workers set a lag where a batch was stated", LAGGING,
        "or definition.batch > 1:", "or definition.batch > 99:",
        lagging(
            "test_whoever_begins_a_study_says_its_lag_where_nothing_is_stated",
            {"batch": 4}, 4, 1, home=LAG,
        ),
    ),
    fault(
        "a small budget is all in flight", LAGGING,
        "min(OF_A_WORKER * workers, pulls // _PART_OF_BUDGET)", "OF_A_WORKER * workers",
        lagging(
            "test_the_usual_lag_is_six_times_the_workers_within_a_tenth_of_the_budget",
            8, 120, 12, home=LAG,
        ),
    ),
    fault(
        "a study that has begun takes another lag", STUDIES,
        "(other.lag not in (None, self.lag or 1))", "False",
        lagging(
            "test_another_lag_for_a_study_that_exists_is_refused",
            {}, {"lag": 5}, "it has 6, now given 5", home=LAG,
        ),
    ),
    # Pardons.
    fault(
        "what was forgiven still counts", READING,
        "return harvest.without(self._void[start:stop] - first)", "return harvest",
        AMNESTY, STOOD_IN,
    ),
    fault(
        "a reader does not notice a pardon", READING,
        "if count == self.pardons:", "if self._granted or self.through >= 0:",
        AMNESTY,
    ),
    fault(
        "pulls that were read ahead are not read again when they are forgiven", READING,
        "ahead is not None and ahead.pardons != head.pardons", "False",
        walks("top-two", 4, *range(8)),
    ),
    fault(
        "an audit decides as if every pardon had always held", AUDITING,
        "sum(pardon.after < one.number for pardon in pardons)", "len(pardons)",
        STOOD_IN,
    ),
    fault(
        "pulls of the round that is not over stay failed", PARDONING,
        "if pull.number > self._seen]", "if False]",
        in_memory("test_only_what_failed_is_forgiven", home=PARDONS),
    ),
    fault(
        "a lost pull is a failure of its arm", FAILING,
        "int(pull.charged or definition.counts_lost)", "1",
        NEVER_LOST,
    ),
    fault(
        "batches of a study are not held to what is left", DECIDING,
        "if goes_on and slots > 0:", "if goes_on and slots < 0:",
        of(PRICES, "test_no_study_spends_more_than_its_allowance", "top-two"),
    ),
    fault(
        "every pull of a study is charged the same", READING,
        "self._spent += self._prices[arm] * used", "self._spent += used",
        of(PRICES, "test_no_study_spends_more_than_its_allowance", "top-two"),
        of(PRICES, "test_a_study_spends_as_a_simulation_does", "top-two"),
    ),
    fault(
        "arms are gone a phase late", DECIDING,
        "if since <= number]", "if since < number]",
        of(PRICES, "test_a_study_spends_as_a_simulation_does", "constrained-sr"),
    ),
    fault(
        "what an arm lacks is not paid by its price", DECIDING,
        "sum(prices[arm] * pulls[arm] for arm in pulls)", "sum(pulls.values())",
        of(PRICES, "test_arms_that_come_back_together_share_what_is_left"),
    ),
    fault(
        "what comes back is taken to cost as much as another arm", PARDONING,
        "most_pulls(arm, left)", "most_pulls(1, left)",
        of(PRICES, "test_an_arm_comes_back_only_where_its_price_is_left"),
    ),
    fault(
        "an audit counts pulls for amounts", STOCK,
        "np.take(prices, survey.arms[is_charged], mode=\"clip\").sum()", "is_charged.sum()",
        of(PRICES, "test_what_was_overspent_is_found"),
    ),
    fault(
        "an audit does not look at bounds", STOCK,
        "plan.noise.outside(plan.metrics, pull.values) is not None", "False",
        of(NOISE, "test_an_audit_finds_a_value_that_no_tell_accepts"),
    ),
    # What arms share.
    fault(
        "an item is seen twice", SHARING,
        "self.order, ordinals // self.repeats", "self.order, ordinals // (self.repeats + 1)",
        IN_TURN, ONE_ORDER,
    ),
    fault(
        "repeats are spread over the items", SHARING,
        "self.order, ordinals // self.repeats", "self.order, ordinals % self.item_count",
        of(SHARING_TESTS, "test_all_arms_meet_all_items_in_one_order_each_so_often", 3),
    ),
    fault(
        "every arm meets the items in an order of its own", ITEMS,
        "sharing.item_of(pull.ordinal), self._known",
        "sharing.item_of((pull.ordinal + pull.arm) % sharing.most_pulls), self._known",
        ONE_ORDER,
    ),
    fault(
        "items are met in the order of the file", SHARING,
        "order = order_of_items(self.seed, self.item_count)", "order = np.arange(self.item_count)",
        IN_TURN, of(SHARING_TESTS, "test_the_order_is_of_the_seed"),
    ),
    fault(
        "items of a group are met apart", SHARING,
        "return order[np.argsort(self._ranks[order], kind=\"stable\")]", "return order",
        of(SHARING_TESTS, "test_items_of_a_group_follow_each_other_and_are_one_block"),
    ),
    fault(
        "groups are met in the order of the file", SHARING,
        "order_of_groups(self.seed, len(self._sizes))", "np.arange(len(self._sizes))",
        of(SHARING_TESTS,
           "test_groups_are_met_in_an_order_of_their_own_and_items_in_a_group_too"),
    ),
    fault(
        "shared seeds are each arm's own", SHARING,
        "0 if self.blocks.get(\"seeds\") else arm, ordinal", "arm, ordinal",
        of(SHARING_TESTS, "test_shared_seeds_are_those_of_all_arms"),
        in_memory("test_shared_seeds_are_those_of_all_arms", home=SHARED_ITEMS),
    ),
    fault(
        "what hours do is put down to arms", "study.hours_seen",
        "spreads[c] = spread_of_hours(weights, off)", "spreads[c] = 0.0",
        of(HOURS_TESTS, "test_arms_are_compared_within_the_hour"),
    ),
    fault(
        "noise between hours is taken for noise within", "study.hours_seen",
        "own, self._within, freedom, scatters", "own, scatters, pulls - 1, scatters",
        of(HOURS_TESTS, "test_arms_are_compared_within_the_hour"),
    ),
    fault(
        "effects of hours are known when levels are told", "core.hours",
        " + float((parts**2 * borne).sum())", "",
        of(HOURS_TESTS, "test_levels_are_those_of_generalised_least_squares", 0.4),
    ),
    fault(
        "the likelihood is not restricted", "core.hours",
        "return float(found + 2.0 * np.log(np.diagonal(root)).sum() - ", "return float(found - ",
        of(HOURS_TESTS, "test_the_likelihood_is_the_restricted_one"),
    ),
    fault(
        "the hour to come has no effect", "policies.top_two_hours",
        "work.joint[arm_count, arm_count] = hours.spread[0]",
        "work.joint[arm_count, arm_count] = 0.0",
        of(HOURS_TESTS, "test_what_is_promised_adds_to_the_hour_to_come"),
    ),
    fault(
        "no part of a batch goes to all arms", "policies.top_two_hours",
        "EVEN = 0.2", "EVEN = 1e-9",
        of(HOURS_TESTS, "test_a_fifth_of_all_pulls_goes_to_all_living_arms_in_turn", 500),
    ),
    fault(
        "half of the time is forgotten", "core.constancy",
        "half = array[:, 0::2] + array[:, 1::2]", "half = array[:, 0::2]",
        of(CONSTANCY_TESTS, "test_the_parts_in_which_pulls_come_do_not_matter"),
    ),
    fault(
        "luck of arms that go on is taken for change", "core.constancy",
        "GRANTED = 0.5", "GRANTED = 0.0",
        of(CONSTANCY_TESTS, "test_of_one_arm_it_is_the_test_of_kruskal_and_wallis"),
    ),
    fault(
        "no hours are kept", DESK,
        "                    block=hour,\n", "",
        HOURS,
    ),
    fault(
        "a pull that is issued again is of another hour", DESK,
        "holder=holder,\n                )\n                for pull in expired",
        "holder=holder,\n"
        "                    block=self.plan.sharing.hour_of(ledger.created_at, now),\n"
        "                )\n                for pull in expired",
        HOURS,
    ),
    fault(
        "an arm is pulled beyond its items", EXHAUSTING,
        "over = max(fresh[i] - rooms[i], 0)", "over = 0",
        ENDS,
    ),
    fault(
        "what an arm cannot use is lost", EXHAUSTING,
        "    while spare > 0:", "    while spare > 10**9:",
        of(SHARING_TESTS, "test_it_never_costs_more_nor_goes_beyond_the_room"),
    ),
    fault(
        "arms that left are handed what others cannot use", EXHAUSTING,
        "alive[arm] & (fresh[arm] < rooms[arm])", "(fresh[arm] < rooms[arm])",
        of(SHARING_TESTS, "test_it_never_costs_more_nor_goes_beyond_the_room"),
    ),
    fault(
        "phases go on beyond the items", DECIDING,
        "min(int(room[arm]), max(0, lacks, opening.get(arm, 0)))",
        "max(0, lacks, opening.get(arm, 0))",
        ENDS,
    ),
    fault(
        "a study ends while arms have items", DECIDING,
        "is_last = not any(allocation)", "is_last = not all(allocation)",
        of(BLOCKS, "test_a_study_ends_when_all_is_seen"),
    ),
    fault(
        "few items are enough to begin with", PLAN,
        "self.least_pulls if cut.phases else cut.first_pulls", "self.least_pulls",
        of(BLOCKS, "test_items_must_do_for_the_first_pulls"),
    ),
    fault(
        "who changes an item changes it for all", ITEMS,
        "copy.deepcopy(known[number])", "known[number]",
        of(BLOCKS, "test_whoever_changes_an_item_changes_it_for_nobody_else"),
    ),
    fault(
        "a study is loaded with other items", STUDIES,
        "was[\"hash\"] != now[\"hash\"]", "was[\"items\"] != now[\"items\"]",
        of(BLOCKS, "test_a_study_is_loaded_with_the_same_items_and_no_others"),
    ),
    fault(
        "observations without an item are brought along", DESK,
        "        if self.plan.definition.blocks:\n", "        if False:\n",
        of(BLOCKS, "test_what_is_brought_along_has_no_block", "seeds", True),
    ),
    fault(
        "an audit takes any items", SHARING_AUDIT,
        "if hash_of(items) != sharing.blocks[\"hash\"]:", "if False:",
        in_memory("test_an_audit_goes_by_the_hash_of_the_definition", home=SHARED_ITEMS),
    ),
    fault(
        "an audit does not count who saw what", SHARING_AUDIT,
        "        if count > sharing.repeats\n", "        if False\n",
        SEEN_TOO_OFTEN,
    ),
    # Money.
    fault(
        "pulls in flight reserve nothing", STANDING,
        "self.budget - self.spent - _sum(self.reserves, self.in_flight)\n",
        "self.budget - self.spent\n",
        CAPPED_ACCOUNTS,
    ),
    fault(
        "a pull reserves its price, and not its cap", PRICING,
        "reserves[i] = max(caps[i], paid.most[i])", "reserves[i] = prices[i]",
        CAPPED_ACCOUNTS, EVERY_TRY,
    ),
    fault(
        "a pull reserves its cap once, however often it is tried", PLAN,
        "caps * tries", "caps",
        EVERY_TRY,
    ),
    fault(
        "an earlier try is settled twice", PAYING,
        "(pull.paid or 0) + amount_of(pricing, cost)",
        "2 * (pull.paid or 0) + amount_of(pricing, cost)",
        EVERY_TRY,
    ),
    fault(
        "what an earlier try cost is forgotten", PAYING,
        "(pull.paid or 0) + amount_of(pricing, cost)", "amount_of(pricing, cost)",
        EVERY_TRY,
    ),
    fault(
        "amounts are floats that are cut", PRICING,
        "return int(exact.to_integral_value(ROUND_HALF_EVEN))",
        "return int(float(value) * 10**self.digits)",
        ADDED_UP,
    ),
    fault(
        "a failure without a cost is free", PAYING,
        "return replace(pull, paid=price_then(ledger.round(pull.round), pull.arm))",
        "return pull",
        CHARGED_FAILURES,
    ),
    fault(
        "what was told of an outage is given back", PARDONING,
        "sunk=_sunk([*again, *void]) if self.plan.learns_prices else (),", "sunk=(),",
        OUTAGE_COSTS,
    ),
    fault(
        "a decision forgets what was told of an outage", READING,
        "int(self._account.spent.sum()) + sum(amount for _, amount in self._sunk)",
        "int(self._account.spent.sum())",
        OUTAGE_COSTS,
    ),
    fault(
        "an audit believes what a pull is said to have taken", STOCK,
        "return np.asarray(survey.paid != wanted)",
        "return np.zeros(len(survey.paid), np.bool_)",
        AUDITED_AMOUNTS,
    ),
    fault(
        "an audit does not look beyond the items", SHARING_AUDIT,
        "arms[ordinals >= sharing.most_pulls]", "arms[ordinals > 10**9]",
        SEEN_TOO_OFTEN,
    ),
]  # fmt: skip

CASES = [
    pytest.param(one, killer, id=f"{one.name} | {killer.test.split('::')[1]}")
    for one in some_of(FAULTS, step=2)
    for killer in first_of(one.killed_by)
]
CONTROLS = list(dict.fromkeys(killer for one in FAULTS for killer in one.killed_by))
NOTICED = (AssertionError, pytest.fail.Exception, InputError, NoAnswerError, KeyError)


@pytest.mark.parametrize(("one", "killer"), CASES)
def test_fault_is_noticed(one: Fault, killer: Named) -> None:
    """The test fails, or what the fault made is refused or cannot be found again."""
    rooms = planted_studies(one.edit)
    with pytest.raises(NOTICED):
        killer.check(rooms)


@pytest.mark.parametrize("control", some_of(CONTROLS), ids=lambda control: control.test)
def test_control_the_sources_as_they_are_pass(control: Named) -> None:
    control.check(planted_studies())


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
    for room in STUDY_EDITED:
        assert any(one.edit.room == room for one in FAULTS)


def test_planting_leaves_the_real_studies_and_their_tests_alone() -> None:
    names = [*(f"ringfence.{room}" for room in STUDY_ROOMS), *STUDY_TESTS]
    real = {name: importlib.import_module(name) for name in names}
    rooms = planted_studies(FAULTS[0].edit)
    assert {name: importlib.import_module(name) for name in names} == real
    # The fault reaches the tests, and through them nothing but planted rooms.
    desk = rooms[API].make().desk
    assert type(desk) is rooms[DESK].Desk
    assert type(desk.storage) is rooms[MEMORY].MemoryStorage
    assert type(rooms[PLACES].Place("memory", None).open()) is rooms[MEMORY].MemoryStorage
    assert rooms[ORDER].Desk is rooms[MACHINE].Desk is rooms[STORAGE].Desk is rooms[DESK].Desk
