"""A slow, literal transcription of the paper's rules, in exact arithmetic.

Everything else is compared with this file, so it is written to be checked by eye against the
paper rather than to be fast or reusable: sets, lists, loops and fractions, one definition at a
time. It shares no code with the package.

Conventions, the same in every function:

- ``estimates`` (or ``means``, where the true attributes are meant) has one row per arm: the
  objective first, then the constraint attributes. Lower is better everywhere, and constraint
  ``c`` asks that ``row[c] <= thresholds[c - 1]``. Arms are numbered from 0.
- ``alive`` is the set of arms still in play, the paper's A_k.
- ``scales[c]`` is the square root of the concentration constant a_c, given as a rational number.
- ``priority[i]`` is the rank of arm i; a lower rank comes earlier.

What the paper calls mu_1, mu_2, a_1 and a_2 is column 0, column 1, index 0 and index 1 here.
"R1" to "R8" are the project's readings of passages where the paper is unclear.
"""

from collections.abc import Callable, Sequence
from fractions import Fraction
from math import ceil

Number = Fraction | int
Row = Sequence[Number]
Table = Sequence[Row]
Pull = Callable[[int, int], Row]
RejectRule = Callable[[Table, set[int], Sequence[Number], Sequence[Number], Sequence[int]], int]


# --------------------------------------------------------------------------------------
# Feasibility (section "Problem formulation")
# --------------------------------------------------------------------------------------


def margin(row: Row, scales: Sequence[Number], thresholds: Sequence[Number]) -> Fraction:
    """Return the largest scaled violation of a row; it is negative inside every limit.

    With one constraint this is sqrt(a_2) (mu_2 - tau). With several it is the worst of them.
    """
    m = len(thresholds)
    if len(row) != 1 + m or len(scales) != 1 + m:
        raise ValueError("a row and the scales must have one entry more than the thresholds")
    if m == 0:
        raise ValueError("the margin needs at least one constraint")
    return max(
        Fraction(scales[c]) * (Fraction(row[c]) - Fraction(thresholds[c - 1]))
        for c in range(1, m + 1)
    )


def is_feasible(row: Row, scales: Sequence[Number], thresholds: Sequence[Number]) -> bool:
    """Tell whether a row meets every constraint; a value on the threshold meets it."""
    # The paper: mu_2(i) <= tau. Scales are positive, so the sign of the margin decides.
    return margin(row, scales, thresholds) <= 0


# --------------------------------------------------------------------------------------
# The arm that looks best, equation (eq:emp_opt_arm)
# --------------------------------------------------------------------------------------


def apparent_best(
    estimates: Table,
    alive: set[int],
    scales: Sequence[Number],
    thresholds: Sequence[Number],
    priority: Sequence[int],
) -> int:
    """Return the arm that looks optimal among the survivors, the paper's J-hat(A_k)."""
    feasible_looking = {i for i in alive if is_feasible(estimates[i], scales, thresholds)}

    if feasible_looking != set():
        # First case of the equation: least objective among those that look feasible.
        # Remaining ties: least margin, then the first in priority.
        return min(
            feasible_looking,
            key=lambda i: (
                Fraction(estimates[i][0]),
                margin(estimates[i], scales, thresholds),
                priority[i],
            ),
        )

    # Second case: nothing looks feasible, so the least infeasible of all survivors.
    # Remaining ties: the first in priority.
    return min(alive, key=lambda i: (margin(estimates[i], scales, thresholds), priority[i]))


# --------------------------------------------------------------------------------------
# Gaps of a pair of arms (section "Lower bound", equation (eq:delta_def) and the next one)
# --------------------------------------------------------------------------------------


def delta(
    estimates: Table, i: int, j: int, scales: Sequence[Number], thresholds: Sequence[Number]
) -> Fraction:
    """Return the gap delta(i, j), where arm i must be the better of the two."""
    pair = [estimates[i], estimates[j]]
    if 0 not in optimal_arms(pair, scales, thresholds):
        raise ValueError(f"delta({i}, {j}) needs arm {i} to be the better one")

    i_feasible = is_feasible(estimates[i], scales, thresholds)
    j_feasible = is_feasible(estimates[j], scales, thresholds)
    margin_i = margin(estimates[i], scales, thresholds)
    margin_j = margin(estimates[j], scales, thresholds)
    objective_i = Fraction(estimates[i][0])
    objective_j = Fraction(estimates[j][0])
    objective_gap = Fraction(scales[0]) * (objective_j - objective_i)

    if i_feasible and j_feasible:
        return objective_gap
    if i_feasible and not j_feasible and objective_j <= objective_i:
        # j is a deceiver as far as i is concerned; an equal objective counts as deceiving.
        return margin_j
    if i_feasible and not j_feasible and objective_j > objective_i:
        # j loses on both attributes: the more visible of the two reasons counts.
        return max(margin_j, objective_gap)
    # Neither is feasible; the case "i infeasible, j feasible" was refused above.
    return margin_j - margin_i


def Delta(
    estimates: Table, i: int, j: int, scales: Sequence[Number], thresholds: Sequence[Number]
) -> Fraction:
    """Return the gap Delta(i, j), where arm i must be the better of the two."""
    return min(
        abs(margin(estimates[i], scales, thresholds)),
        delta(estimates, i, j, scales, thresholds),
    )


# --------------------------------------------------------------------------------------
# Which arm to reject
# --------------------------------------------------------------------------------------


def most_infeasible(
    candidates: set[int],
    estimates: Table,
    scales: Sequence[Number],
    thresholds: Sequence[Number],
    priority: Sequence[int],
) -> int:
    """Return the candidate of largest margin, then largest objective, then last in priority."""
    return max(
        candidates,
        key=lambda i: (
            margin(estimates[i], scales, thresholds),
            Fraction(estimates[i][0]),
            priority[i],
        ),
    )


def most_suboptimal(
    candidates: set[int],
    estimates: Table,
    scales: Sequence[Number],
    thresholds: Sequence[Number],
    priority: Sequence[int],
) -> int:
    """Return the candidate of largest objective, then largest margin, then last in priority."""
    return max(
        candidates,
        key=lambda i: (
            Fraction(estimates[i][0]),
            margin(estimates[i], scales, thresholds),
            priority[i],
        ),
    )


def constrained_sr_reject(
    estimates: Table,
    alive: set[int],
    scales: Sequence[Number],
    thresholds: Sequence[Number],
    priority: Sequence[int],
) -> int:
    """Return the arm that Algorithm 1 rejects at the end of a phase."""
    # Line 7: the arm that looks best.
    best = apparent_best(estimates, alive, scales, thresholds, priority)

    # Line 8: its gap to every other survivor. R2: by Delta, not by delta.
    others = {i for i in alive if i != best}
    gap = {i: Delta(estimates, best, i, scales, thresholds) for i in others}

    # Line 9: the set of all arms that attain the largest gap.
    largest = max(gap.values())
    D = {i for i in others if gap[i] == largest}

    # Lines 10 and 11. R1: the test printed as "< 1" means "exactly one arm".
    if len(D) == 1:
        (only,) = D
        return only

    # Line 13: those of D that look feasible, and the rest of D.
    feasible_in_D = {i for i in D if is_feasible(estimates[i], scales, thresholds)}
    infeasible_in_D = D - feasible_in_D

    # Lines 14 to 17.
    if infeasible_in_D == set():
        return most_suboptimal(feasible_in_D, estimates, scales, thresholds, priority)
    return most_infeasible(infeasible_in_D, estimates, scales, thresholds, priority)


def infeasible_first_reject(
    estimates: Table,
    alive: set[int],
    scales: Sequence[Number],
    thresholds: Sequence[Number],
    priority: Sequence[int],
) -> int:
    """Return the arm that Infeasible First rejects at the end of a phase."""
    # R3: the prose of the appendix decides, not the set names of its pseudocode.
    infeasible_looking = {i for i in alive if not is_feasible(estimates[i], scales, thresholds)}
    if infeasible_looking != set():
        return most_infeasible(infeasible_looking, estimates, scales, thresholds, priority)
    return most_suboptimal(alive, estimates, scales, thresholds, priority)


def successive_rejects_reject(
    estimates: Table,
    alive: set[int],
    scales: Sequence[Number],
    thresholds: Sequence[Number],
    priority: Sequence[int],
) -> int:
    """Return the arm that plain Successive Rejects drops: the largest objective.

    The constraints play no part, except that the margin separates equal objectives.
    """
    return most_suboptimal(alive, estimates, scales, thresholds, priority)


def scalarised_reject(
    estimates: Table,
    alive: set[int],
    scales: Sequence[Number],
    thresholds: Sequence[Number],
    priority: Sequence[int],
) -> int:
    """Return the arm with the largest sum of scaled objective and scaled violations.

    Ties: the largest margin, then the last in priority.
    """

    def badness(i: int) -> tuple[Number, Number, int]:
        violations = [
            a * (value - limit)
            for a, value, limit in zip(scales[1:], estimates[i][1:], thresholds, strict=True)
        ]
        return scales[0] * estimates[i][0] + sum(violations), max(violations), priority[i]

    return max(alive, key=badness)


def glr_reject(
    estimates: Table,
    alive: set[int],
    scales: Sequence[Number],
    thresholds: Sequence[Number],
    priority: Sequence[int],
) -> int:
    """Return the arm whose being the answer costs most likelihood; never the apparent best.

    A loss of (a d)^2 for every mean that moves by d. To be the answer an arm must meet each
    constraint that it misses; and every arm that looks feasible and is better must fail one of
    its constraints, or the two must meet halfway, which costs half. Where nothing looks feasible
    the arm that is farthest from it goes.
    """
    best = apparent_best(estimates, alive, scales, thresholds, priority)
    if not is_feasible(estimates[best], scales, thresholds):
        return most_infeasible(alive - {best}, estimates, scales, thresholds, priority)

    def slacks(i: int) -> list[Number]:
        columns = zip(scales[1:], estimates[i][1:], thresholds, strict=True)
        return [a * (limit - value) for a, value, limit in columns]

    def loss(i: int) -> Number:
        total = sum((slack**2 for slack in slacks(i) if slack < 0), Fraction(0))
        for k in alive:
            trail = scales[0] * (estimates[i][0] - estimates[k][0])
            if trail > 0 and is_feasible(estimates[k], scales, thresholds):
                total += min(Fraction(1, 2) * trail**2, min(slack**2 for slack in slacks(k)))
        return total

    losses = {i: loss(i) for i in alive - {best}}
    largest = {i for i in losses if losses[i] == max(losses.values())}
    infeasible = {i for i in largest if not is_feasible(estimates[i], scales, thresholds)}
    if infeasible:
        return most_infeasible(infeasible, estimates, scales, thresholds, priority)
    return most_suboptimal(largest, estimates, scales, thresholds, priority)


# --------------------------------------------------------------------------------------
# How many pulls
# --------------------------------------------------------------------------------------


def log_bar(K: int) -> Fraction:
    """Return one half plus 1/2 + 1/3 + ... + 1/K (Algorithm 1, line 3)."""
    return Fraction(1, 2) + sum((Fraction(1, i) for i in range(2, K + 1)), Fraction(0))


def successive_rejects_schedule(K: int, T: int) -> list[int]:
    """Return n_1, ..., n_{K-1}: how often a survivor has been pulled by the end of each phase.

    A single arm has one phase of all T pulls.
    """
    if K == 1:
        return [T]
    # Algorithm 1, line 4. The ceiling of a Fraction is exact.
    return [ceil(Fraction(T - K) / (log_bar(K) * (K + 1 - k))) for k in range(1, K)]


def sequential_halving_rounds(K: int, T: int) -> list[tuple[int, int, int, int]]:
    """Return the rounds of sequential halving, which together spend T pulls exactly.

    Each round is (survivors at its start, pulls of each of them, extra, survivors after it):
    ``extra`` of the survivors, the first in priority, are pulled once more.
    """
    if K == 1:
        return [(1, T, 0, 1)]

    # The base-two logarithm of K, rounded up, without floating point.
    number_of_rounds = min(r for r in range(K) if 2**r >= K)

    rounds: list[tuple[int, int, int, int]] = []
    survivors = K
    left = T
    for r in range(1, number_of_rounds + 1):
        after = ceil(Fraction(survivors, 2))
        if r < number_of_rounds:
            each = T // (survivors * number_of_rounds)
            extra = 0
        else:
            # The last round takes all that is left.
            each = left // survivors
            extra = left % survivors
        rounds.append((survivors, each, extra, after))
        left = left - survivors * each - extra
        survivors = after
    return rounds


def uniform_pulls(K: int, T: int, priority: Sequence[int]) -> list[int]:
    """Return the pulls of every arm when T is divided evenly.

    What does not divide goes to the first arms in priority, one pull each.
    """
    first_in_priority = sorted(range(K), key=lambda i: priority[i])[: T % K]
    return [T // K + (1 if i in first_in_priority else 0) for i in range(K)]


# --------------------------------------------------------------------------------------
# A whole run
# --------------------------------------------------------------------------------------

SUCCESSIVE_REJECTS_RULES: dict[str, RejectRule] = {
    "constrained-sr": constrained_sr_reject,
    "infeasible-first": infeasible_first_reject,
    "successive-rejects": successive_rejects_reject,
    "scalarised": scalarised_reject,
}

HALVING_RULES: dict[str, RejectRule] = {
    "sequential-halving": constrained_sr_reject,
    "glr-halving": glr_reject,
}


def mean_row(rows: Sequence[Row]) -> list[Fraction]:
    """Return the exact mean of the samples of one arm, column by column."""
    if len(rows) == 0:
        raise ValueError("an arm that was never pulled has no estimate")
    return [
        sum((Fraction(row[c]) for row in rows), Fraction(0)) / len(rows)
        for c in range(len(rows[0]))
    ]


def run(
    policy_name: str,
    K: int,
    T: int,
    pull: Pull,
    scales: Sequence[Number],
    thresholds: Sequence[Number],
    priority: Sequence[int],
) -> tuple[int, bool, list[int], list[int]]:
    """Play one policy to the end.

    ``pull(arm, ordinal)`` is the sample of the arm's pull number ``ordinal``, counted from 0.
    The answer is (arm, flag, rejected arms in order, pulls by arm); the flag says whether the
    arm looks feasible.
    """
    if T < K + 1:
        raise ValueError(f"a budget of {T} is too small for {K} arms: at least {K + 1}")

    samples: list[list[Row]] = [[] for _ in range(K)]
    alive = set(range(K))  # Algorithm 1, line 2
    rejected: list[int] = []

    def pull_times(arm: int, times: int) -> None:
        for _ in range(times):
            samples[arm].append(pull(arm, len(samples[arm])))

    if policy_name in SUCCESSIVE_REJECTS_RULES:
        reject = SUCCESSIVE_REJECTS_RULES[policy_name]
        n_before = 0
        for n_k in successive_rejects_schedule(K, T):
            for i in sorted(alive):
                pull_times(i, n_k - n_before)
            n_before = n_k
            if len(alive) > 1:  # a single arm is never rejected
                estimates = [mean_row(rows) for rows in samples]
                worst = reject(estimates, alive, scales, thresholds, priority)
                alive = alive - {worst}
                rejected.append(worst)
        # R8: pulls left over by the schedule stay unspent.

    elif policy_name in HALVING_RULES:
        reject = HALVING_RULES[policy_name]
        for survivors, each, extra, after in sequential_halving_rounds(K, T):
            assert len(alive) == survivors
            for i in sorted(alive):
                pull_times(i, each)
            for i in sorted(alive, key=lambda i: priority[i])[:extra]:
                pull_times(i, 1)
            estimates = [mean_row(rows) for rows in samples]
            while len(alive) > after:
                worst = reject(estimates, alive, scales, thresholds, priority)
                alive = alive - {worst}
                rejected.append(worst)

    elif policy_name == "uniform":
        for i, times in enumerate(uniform_pulls(K, T, priority)):
            pull_times(i, times)

    else:
        raise ValueError(f"unknown policy {policy_name!r}")

    estimates = [mean_row(rows) for rows in samples]
    answer = apparent_best(estimates, alive, scales, thresholds, priority)
    flag = is_feasible(estimates[answer], scales, thresholds)
    return answer, flag, rejected, [len(rows) for rows in samples]


# --------------------------------------------------------------------------------------
# Theory, on true attributes
# --------------------------------------------------------------------------------------


def instance_is_feasible(
    means: Table, scales: Sequence[Number], thresholds: Sequence[Number]
) -> bool:
    """Tell whether at least one arm is feasible."""
    return any(is_feasible(row, scales, thresholds) for row in means)


def optimal_arms(means: Table, scales: Sequence[Number], thresholds: Sequence[Number]) -> set[int]:
    """Return every optimal arm.

    In a feasible instance: the feasible arms of least objective. Otherwise: the arms of least
    margin.
    """
    arms = range(len(means))
    feasible = {i for i in arms if is_feasible(means[i], scales, thresholds)}
    if feasible != set():
        least_objective = min(Fraction(means[i][0]) for i in feasible)
        return {i for i in feasible if Fraction(means[i][0]) == least_objective}
    least_margin = min(margin(means[i], scales, thresholds) for i in arms)
    return {i for i in arms if margin(means[i], scales, thresholds) == least_margin}


def kind(means: Table, i: int, scales: Sequence[Number], thresholds: Sequence[Number]) -> str:
    """Name what kind of arm i is (Figure 1)."""
    optimal = optimal_arms(means, scales, thresholds)
    if i in optimal:
        return "optimal"
    if not instance_is_feasible(means, scales, thresholds):
        return "infeasible"
    if is_feasible(means[i], scales, thresholds):
        return "feasible-suboptimal"
    # All optimal arms of a feasible instance have the same objective. R4: the definition
    # decides who deceives, also for the paper's second instance.
    optimal_objective = min(Fraction(means[j][0]) for j in optimal)
    if Fraction(means[i][0]) <= optimal_objective:
        return "deceiver"
    return "infeasible-suboptimal"


def ordered_arms(
    means: Table,
    scales: Sequence[Number],
    thresholds: Sequence[Number],
    priority: Sequence[int],
) -> list[int]:
    """Return J and then the suboptimal arms, the hardest to tell from J first.

    This is the numbering that precedes the theorem (thm: ub). J is the optimal arm that the
    tie rules prefer; other optimal arms are left out.
    """
    arms = set(range(len(means)))
    J = apparent_best(means, arms, scales, thresholds, priority)

    def key(i: int) -> tuple[Fraction, bool, Fraction, Fraction, int]:
        gap = Delta(means, J, i, scales, thresholds)
        objective = Fraction(means[i][0])
        excess = margin(means[i], scales, thresholds)
        # Equal gaps: feasible arms first, by objective; then infeasible ones, by margin.
        # What is still equal: the other attribute, then priority, as for rejections.
        if is_feasible(means[i], scales, thresholds):
            return (gap, False, objective, excess, priority[i])
        return (gap, True, excess, objective, priority[i])

    return [J, *sorted(arms - optimal_arms(means, scales, thresholds), key=key)]


def hardness(
    means: Table,
    scales: Sequence[Number],
    thresholds: Sequence[Number],
    priority: Sequence[int],
) -> tuple[Fraction | None, Fraction | None]:
    """Return (H1, H2); None stands for infinity, which a zero gap causes.

    Both are 0 when there is no suboptimal arm.
    """
    order = ordered_arms(means, scales, thresholds, priority)
    J = order[0]
    gaps = [Delta(means, J, i, scales, thresholds) for i in order[1:]]
    if any(gap == 0 for gap in gaps):
        return None, None
    # J has rank 1, so the first of the others has rank 2.
    H1 = sum((1 / gap**2 for gap in gaps), Fraction(0))
    H2 = max((rank / gap**2 for rank, gap in enumerate(gaps, start=2)), default=Fraction(0))
    return H1, H2
