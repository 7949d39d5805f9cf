"""Which simulations golden courses are kept of, and how each is run: by the public surface alone.

Every policy meets every world under the reference engine, which compiles nothing. Compiled kernels
take seconds each: cells are chosen so that every loop and every branch of one is run by some, and
cells that share a kernel cost nothing more.
"""

from typing import Any, NamedTuple

import ringfence as rf
from tests.golden import taking
from tests.golden.worlds import WORLDS, table_rows

SEED = 11
BATCHES = (1, 3, 8)
# By name, and in this order: a further policy changes no course that was kept.
POLICIES = (
    "constrained-sr", "infeasible-first", "sequential-halving", "glr-halving",
    "successive-rejects", "uniform", "scalarised", "top-two", "ocba-co", "thompson",
)  # fmt: skip
ADAPTIVE = POLICIES[7:]


class Cell(NamedTuple):
    """A simulation whose counts are kept."""

    world: str
    policy: str
    budget: int
    scales: str = "known"
    batch: int = 1
    replications: int = 96

    @property
    def key(self) -> str:
        """The cell's name in the kept file."""
        return f"{self.world} {self.policy} {self.budget} {self.scales} {self.batch}"


# ---------------------------------------------------------------- the reference engine's courses

TRACED = [
    (world, policy, scales)
    for world in WORLDS
    for policy in POLICIES
    for scales in ("known", "estimated")
]


def traced(world: str) -> dict[str, Any]:
    """Return a course or two of every policy in a world: budgets and batches take turns."""
    instance = WORLDS[world]()
    found: dict[str, Any] = {}
    for place, (where, policy, scales) in enumerate(TRACED):
        if where != world:
            continue
        per_arm = 12 if len(instance.arms) == 20 else (12, 16, 21)[place % 3]
        options = {
            "budget": per_arm * len(instance.arms) + place % 4,
            "batch": BATCHES[place // 2 % 3],
            "scales": scales,
        }
        courses = taking.courses(
            instance,
            policy,
            replications=2 if len(instance.arms) <= 5 else 1,
            seed=place,
            **options,
        )
        for one in courses[1:]:
            del one["estimates"]  # those of the first will do
        if len(instance.arms) > 5:  # and where arms are many, those of the answer
            rows = courses[0]["estimates"]
            courses[0]["estimates"] = rows[taking.ARMS.index(courses[0]["answer"])]
        adaptive = policy in ADAPTIVE
        for one in courses:
            # Pulls by round are what was chosen, but where a baseline takes some of them.
            for key in ("out",) if adaptive else ("chosen",):
                del one[key]
            if adaptive and instance.baseline is None:
                del one["pulls"]
            elif not adaptive:
                del one["counts"]
        found[f"{policy} {scales}"] = {**options, "courses": courses}
    return found


# ----------------------------------------------------------------------------- compiled kernels

LANES = ("gauss-2", "gauss-3-own", "gauss-3-infeasible", "gauss-20")
QUICK = (
    # The lanes of top-two, in one kernel.
    *(Cell(world, "top-two", 120, batch=batch) for world in LANES[:3] for batch in (1, 4)),
    Cell("gauss-20", "top-two", 240, batch=7),
    # Phase policies in lanes: unrolled, and not.
    Cell("gauss-3-own", "constrained-sr", 100),
    Cell("gauss-3-infeasible", "constrained-sr", 101, replications=400),
    Cell("gauss-20", "constrained-sr", 333),
    # One replication after the other: with records, with a baseline, by batches.
    Cell("gauss-4-two", "constrained-sr", 90, "estimated"),
    Cell("gauss-8-three", "constrained-sr", 301, "estimated"),
    Cell("gauss-relative", "constrained-sr", 91),
    Cell("gauss-4-two", "ocba-co", 90, batch=5),
    Cell("gauss-8-three", "ocba-co", 200),
    Cell("grid", "uniform", 77),
)
SLOW = (
    # Every other phase policy, in lanes and with a record.
    *(Cell("gauss-3-own", policy, 100 + place) for place, policy in enumerate(POLICIES[1:7])),
    *(
        Cell("gauss-4-two", policy, 90 + place, "estimated")
        for place, policy in enumerate(POLICIES[1:7])
    ),
    Cell("gauss-2", "constrained-sr", 40),
    Cell("gauss-4-two", "constrained-sr", 91),
    Cell("gauss-8-three", "constrained-sr", 203),
    Cell("gauss-20", "sequential-halving", 333),
    # Every law, ties among them.
    Cell("bernoulli-3", "constrained-sr", 80),
    Cell("bernoulli-4-two", "successive-rejects", 81),
    Cell("bernoulli-3", "top-two", 80, batch=2),
    Cell("poisson-4-two", "infeasible-first", 82),
    Cell("exponential-4-two", "glr-halving", 83),
    Cell("mixed-4-two", "constrained-sr", 84),
    Cell("mixed-4-two", "ocba-co", 84, "estimated", batch=3),
    Cell("grid", "constrained-sr", 100),
    Cell("grid", "top-two", 100, batch=4),
    Cell("grid", "constrained-sr", 100, "estimated"),
    # Adaptive policies one by one: several limits, a single metric, known and estimated noise.
    Cell("gauss-4-two", "top-two", 90),
    Cell("gauss-8-three", "top-two", 160, batch=8),
    Cell("gauss-3-one-metric", "top-two", 60),
    Cell("gauss-4-two", "top-two", 90, "estimated", batch=3),
    Cell("gauss-3-own", "top-two", 64, "estimated"),
    Cell("gauss-4-two", "thompson", 60, batch=3),
    Cell("gauss-3-one-metric", "thompson", 40),
    Cell("gauss-4-two", "thompson", 60, "estimated", batch=3),
    Cell("gauss-4-two", "ocba-co", 90, "estimated"),
    # Limits that are relative to a baseline.
    Cell("gauss-relative", "sequential-halving", 92, "estimated"),
    Cell("gauss-relative", "top-two", 93, batch=2),
    Cell("gauss-relative", "ocba-co", 94, "estimated", batch=2),
    Cell("bernoulli-relative", "successive-rejects", 61, "estimated"),
    Cell("grid-relative", "constrained-sr", 120),
    # Large batches, in groups.
    Cell("gauss-4-two", "top-two", 400, "estimated", batch=100),
    Cell("gauss-relative", "ocba-co", 300, "estimated", batch=90),
    Cell("gauss-4-two", "thompson", 120, batch=40),
    # Attributes that are no means, by features and by all pulls.
    Cell("gauss-std", "top-two", 60, "estimated", batch=4),
    Cell("gauss-share", "infeasible-first", 90),
    Cell("exponential-p95", "constrained-sr", 200, "estimated"),
    Cell("poisson-variance", "glr-halving", 90, "estimated"),
    Cell("gauss-cvar", "ocba-co", 100, "estimated", batch=4),
    Cell("grid-tails", "constrained-sr", 150, "estimated"),
    Cell("gauss-p90-relative", "constrained-sr", 100, "estimated"),
)
COUNTED = {cell.key: cell for cell in (*QUICK, *SLOW)}


def counted(cell: Cell, *, engine: str = "cpu") -> dict[str, Any]:
    """Return what was counted, in whole numbers."""
    result = rf.simulate(
        WORLDS[cell.world](), cell.policy, budget=cell.budget, replications=cell.replications,
        seed=SEED, scales=cell.scales, batch=cell.batch, engine=engine,
    )  # fmt: skip
    return counts_of(result)


def counts_of(result: rf.SimulationResult) -> dict[str, Any]:
    """Return a result as whole numbers: mean pulls are the ratio of two."""
    pulls = [mean * result.replications for mean in result.mean_pulls.values()]
    whole = [round(one) for one in pulls]
    assert all(abs(a - b) < 1e-6 for a, b in zip(pulls, whole, strict=True))
    return {
        "errors": result.errors,
        "wrong_arm": result.wrong_arm,
        "wrong_flag": result.wrong_flag,
        "lost": list(result.lost_in_phase),
        "used": result.pulls_used,
        "pulls": whole,
        "chosen": [[one["feasible"], one["infeasible"]] for one in result.chosen.values()],
    }


# ----------------------------------------------------------------- several simulations at a time


def compared() -> dict[str, Any]:
    """Return policies on common random numbers."""
    rows = rf.compare(
        [WORLDS["gauss-3-own"](), WORLDS["gauss-3-infeasible"]()],
        policies=["constrained-sr", "top-two"], budgets=[61, 100], replications=300, seed=SEED,
        batch=2, scales="known",
    )  # fmt: skip
    return {
        f"{place}": {
            "counts": counts_of(row.result),
            "only": [row.only_here_wrong, row.only_first_wrong],
        }
        for place, row in enumerate(rows)
    }


def replayed() -> dict[str, Any]:
    """Return what policies would have done on a table; their batches grow."""
    found = rf.replay(
        table_rows(), arm="variant", objective="maximize mean(a)",
        constraints=["mean(b) <= 1.5", "mean(c) <= 1.0"], budgets=[60, 240],
        policies=["constrained-sr", "top-two"], replications=64, seed=SEED, force=True,
    )  # fmt: skip
    return {
        "rows": [counts_of(row.result) for row in found.rows],
        "needs": [row.uniform.to_dict() for row in found.rows],
    }


def fought() -> dict[str, Any]:
    """Return a small tournament."""
    found = rf.tournament(
        arm_counts=3, count=3, policies=["constrained-sr", "top-two"], target_error=0.2,
        least_errors=10, most_replications=400, seed=SEED,
    )  # fmt: skip
    return {
        f"{duel.cell.instance} {duel.cell.policy}": [
            duel.cell.budget, duel.cell.errors, duel.cell.replications,
        ]
        for duel in found.duels
    }  # fmt: skip


TOGETHER = {"compare": compared, "replay": replayed, "tournament": fought}


# ----------------------------------------------------------------------------------- rare errors


def rare(world: str, policy: str, method: str, **options: Any) -> dict[str, Any]:
    """Return an estimate of a rare error, to the last bit."""
    found = rf.simulate(WORLDS[world](), policy, method=method, seed=SEED, **options).to_dict()
    same = ["errors", "replications", "error_rate", "std_error", "ci_low", "ci_high"]
    kept = {key: found[key] for key in [*same, "wrong_flag_rate"]}
    kept["pulls"] = None if found["mean_pulls"] is None else list(found["mean_pulls"].values())
    kept["shares"] = [mode["share"] for mode in found["modes"]]
    kept["checks"] = [check["ok"] for check in found["checks"]]
    return kept


RARE: dict[str, dict[str, Any]] = {
    "splitting csr": {
        "world": "gauss-2", "policy": "constrained-sr", "method": "splitting", "budget": 300,
    },
    "importance csr": {
        "world": "gauss-2", "policy": "constrained-sr", "method": "importance", "budget": 400,
        "replications": 4000,
    },
    "importance top-two": {
        "world": "gauss-3-own", "policy": "top-two", "method": "importance", "budget": 200,
        "replications": 4000, "batch": 10,
    },
    "importance halving": {
        "world": "gauss-4-two", "policy": "sequential-halving", "method": "importance",
        "budget": 300, "replications": 4000,
    },
    "importance bernoulli": {
        "world": "bernoulli-4-two", "policy": "infeasible-first", "method": "importance",
        "budget": 300, "replications": 4000,
    },
    "splitting halving": {
        "world": "gauss-4-two", "policy": "sequential-halving", "method": "splitting",
        "budget": 300,
    },
}  # fmt: skip


# ------------------------------------------------------- GPUs, under numba-cuda's simulator

ON_GPU = (
    Cell("gauss-3-own", "constrained-sr", 63, replications=24),
    Cell("gauss-2", "sequential-halving", 40, replications=24),
    Cell("gauss-4-two", "infeasible-first", 43, "estimated", replications=12),
    Cell("bernoulli-3", "uniform", 31, replications=12),
    Cell("gauss-3-own", "top-two", 45, batch=9, replications=12),
    Cell("gauss-4-two", "ocba-co", 44, "estimated", batch=8, replications=12),
    Cell("gauss-4-two", "ocba-co", 99, "estimated", batch=40, replications=12),
)
