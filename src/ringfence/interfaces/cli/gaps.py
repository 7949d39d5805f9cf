"""`ringfence gaps`: the theory of an instance. May touch simulation and core."""

from typing import Annotated, Any

import typer

from ringfence.core.errors import InputError
from ringfence.interfaces.cli import output
from ringfence.interfaces.cli.options import InstanceName, Json, Money

_MOST_SHOWN = 8


def gaps(
    instance: InstanceName,
    *,
    budget: Annotated[
        int | None, typer.Option("--budget", help="Also bound the error at this budget.")
    ] = None,
    money: Money = None,
    json: Json = False,
) -> None:
    """Show what makes an instance hard: kinds of arm, gaps, H1, H2 and the bounds."""
    from ringfence.reports.theory import theory_document
    from ringfence.simulation.instance import Instance

    known = Instance.load(instance)
    if budget is not None and budget <= len(known.arms):
        raise InputError(
            f"budget = {budget} must be more than the {len(known.arms)} arms. Raise it."
        )
    document = theory_document(known, budget, unit=money)
    if json:
        output.print_json(document)
    else:
        _show(document, known.problem)


def _show(document: dict[str, Any], problem: Any) -> None:
    limits = ", ".join(map(str, problem.constraints))
    output.say(f"{problem.objective}, {f'subject to {limits}' if limits else 'without limits'}")
    for written, judged in zip(problem.constraints, problem.judged.constraints, strict=True):
        if written != judged:
            output.say(f"{written} is judged as {judged}, which is the same and less noisy.")
    output.say(_answer(document, problem))
    if document["baseline"] is not None:
        output.say(
            f"Limits are relative to {document['baseline']}: margins and gaps are of what an arm "
            "is beyond it. Rates and bounds are not known then."
        )
    if document["shares_blocks"]:
        output.say(
            "Arms share blocks: what a block does to all of them cancels in their differences, "
            "which gaps do not know. Rates and bounds are of arms that share nothing, and left out."
        )
    if not document["feasible"] and len(problem.constraints) > 1:
        output.say("Violations of different constraints are compared in units of their noise.")
    sizes = ["margin", "delta", "Delta"] if limits else ["delta"]  # one gap is the other
    rows = [
        [
            arm["name"],
            arm["kind"],
            str(arm["rank"]),
            *(output.number(arm[key]) for key in sizes),
        ]
        for arm in sorted(document["arms"], key=lambda arm: arm["rank"])
    ]
    output.show_table("Arms, hardest first", ["arm", "kind", "rank", *sizes], rows)
    facts = [
        ("H1", document["H1"], "sum of 1/Delta^2"),
        ("H2", document["H2"], "largest rank/Delta^2"),
    ]
    if document["conjectured_rate"] is not None:
        why = "conjectured limit of any decay rate, up to a constant"
        facts.append(("1/H1", document["conjectured_rate"], why))
    if document["lower_bound_rate"] is not None:
        facts.append(("Delta^2", document["lower_bound_rate"], "proven limit of any decay rate"))
    if document["budget"] is not None:
        bound = document["upper_bound"]
        why = f"bound on constrained-sr's error at T = {document['budget']}"
        facts.append(("bound", bound, why if bound is not None else why + " (not proven here)"))
    for name, value, why in facts:
        output.say(f"{name:>8}  {output.number(value, 6):<12} {why}")
    if document["oracle_rate"] is not None:
        _show_rates(document)
    if "by_money" in document:
        _show_money(document["by_money"])


def _show_money(found: dict[str, Any]) -> None:
    """Show what pulls cost, and how fast errors fall with money: exp(-B rate), B the budget."""
    unit, shares = found["unit"], found["oracle_allocation"] or {}
    rows = [
        [name, output.number(price, 4), output.number(shares.get(name), 4)]
        for name, price in found["prices"].items()
    ]
    output.show_table(f"Money, {unit}", ["arm", "a pull costs", "best share of the pulls"], rows)
    if found["oracle_rate"] is not None:
        output.say(
            f"Errors fall as exp(-B rate), B the budget in {unit}: at best by "
            f"{output.number(found['oracle_rate'], 4)}, with even pulls by "
            f"{output.number(found['uniform_rate'], 4)}."
        )


def _answer(document: dict[str, Any], problem: Any) -> str:
    """Return the right answer in words."""
    if problem.question.settles:
        inside = [arm["name"] for arm in document["arms"] if arm["kind"] == "optimal"]
        return f"Arms that keep their limits: {', '.join(inside) or 'none'}."
    if not problem.constraints:
        return f"{document['optimal']} is the best arm."
    what = "is the best feasible arm" if document["feasible"] else "is the least infeasible arm"
    return f"{document['optimal']} {what}."


def _show_rates(document: dict[str, Any]) -> None:
    """Show how fast errors fall: e_T = exp(-T rate), for the oracle and for phase policies."""
    best = document["oracle_rate"]
    rows = [["oracle, static", output.number(best, 4), "1"]] + [
        [name, output.number(rate, 4), output.number(rate / best, 3) if best > 0.0 else "-"]
        for name, rate in document["policy_rates"].items()
    ]
    output.show_table(
        "Decay of the error, exp(-T rate); policies by their last phase, which bounds their rate",
        ["allocation", "rate", "/ oracle"],
        rows,
    )
    shares = document["oracle_allocation"]
    if shares is not None:
        most = sorted(shares.items(), key=lambda entry: -entry[1])[:_MOST_SHOWN]
        shown = ", ".join(f"{name} {share:.4f}" for name, share in most)
        output.say(
            f"The oracle's shares of the pulls: {shown}" + ", ..." * (len(shares) > len(most))
        )
    if not document["oracle_is_exact"]:
        output.say("The noise is not gaussian: these rates approximate it by its covariances.")
