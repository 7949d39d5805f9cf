"""Check a certificate without ringfence: `python check_certificate.py proof.json`."""

import json
import sys
from fractions import Fraction
from pathlib import Path

STAKES = (0.02, 0.08, 0.2, 0.35, 0.5, 0.65, 0.8, 0.95)  # parts of the largest; one more is learned


def is_disproved(values, low, high, limit, strict, size, level):
    """Tell whether E of "the mean of values is at most the limit" has ever reached 1 / level."""
    capital, seen, total, squares = [0.6 / 8] * 8 + [0.4], Fraction(0), 0.0, 0.0
    for place, value in enumerate(values):
        if not low <= value <= high:
            raise ValueError(f"{value} lies beyond its bounds")
        most, left = (size * (limit - low), size - place) if size else (limit - low, 1)
        m = float((most - (seen if size else 0)) / (left * (high - low))) if high > low else 1.0
        seen += value - low
        if size and (seen >= most if strict else seen > most):
            return True
        x = float((value - low) / (high - low or 1))
        mean, square = (0.5 + total) / (place + 1), (0.5 + squares) / (place + 1)
        if 0.0 < m < 1.0:
            learned = (mean - m) * m / max(square - mean**2 + (mean - m) ** 2, 1e-12)
            stakes = (*STAKES, min(max(learned, 0.0), 0.95))
            capital = [c * (1 + f * (x / m - 1)) for c, f in zip(capital, stakes, strict=True)]
        if sum(capital) * level >= 1 - 1e-9:
            return True
        total, squares = total + x, squares + x * x
    return limit <= low if strict else limit < low


def holds(doc, kind, arm, limit):
    """Tell whether an arm keeps or breaks a limit, or is no better than the arm that is named."""
    found, level = doc["certificate"], (1 - Fraction(doc["confidence"])) / len(doc["arms"])
    if kind == "no-better":
        name, sign = doc["objective"]["attribute"], doc["objective"]["direction"] == "minimize"
        terms, bound = {arm: 1, found["arm"]: -1}, -Fraction(doc["within"])
        bound = bound if found["status"] == "equivalent" else 0
        sign = 1 if sign else -1
    else:
        one = doc["limits"][limit]
        name, sign = one["attribute"], 1 if (one["relation"] == "<=") == (kind == "breaks") else -1
        terms, bound = {arm: Fraction(1)}, sign * Fraction(one["threshold"])
        if times := Fraction(one["times_baseline"]):
            terms[doc["baseline"]] = terms.get(doc["baseline"], 0) - times
        level /= len(doc["limits"]) if kind == "breaks" else 1
    terms = {arm: sign * times for arm, times in terms.items()}
    ends = [[times * Fraction(end) for end in doc["bounds"][name]] for times in terms.values()]
    low, high = sum(map(min, ends)), sum(map(max, ends))
    rows = [
        [t * Fraction(x if isinstance(x, str) else x[t < 0]) for x in doc["observations"][a][name]]
        for a, t in terms.items()
    ]
    values = map(sum, zip(*rows, strict=False))  # as far as all of them were seen
    return is_disproved(values, low, high, bound, kind != "breaks", doc["size"], level)


def is_proven(doc):
    """Tell whether the steps that hold are all that the status needs."""
    found, arms, steps = doc["certificate"], set(doc["arms"]), doc["proof"]
    proven = {
        (s["kind"], s["arm"], s["limit"]) for s in steps if s["rival"] in (None, found["arm"])
    }
    proven = {one for one in proven if holds(doc, *one)}
    kept = {a for a in arms if {("keeps", a, c) for c in range(len(doc["limits"]))} <= proven}
    broken = {arm for kind, arm, _ in proven if kind == "breaks"}
    no_better = {arm for kind, arm, _ in proven if kind == "no-better"}
    if found["status"] in ("open", "none-feasible"):
        return found["status"] == "none-feasible" and broken == arms
    if found["arm"] is None:
        return set(found["answer"]) == kept == arms - broken
    return found["arm"] in kept and arms <= broken | no_better | {found["arm"]}


if __name__ == "__main__":
    sys.exit(0 if is_proven(json.loads(Path(sys.argv[1]).read_text())) else "it is not proven")
