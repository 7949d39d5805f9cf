"""Logs of promptfoo: the JSON of `promptfoo eval -o out.json`. May touch core and the file."""

import json
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any

from ringfence.interfaces.logs.entries import Entry, member, metric_name, named, number_of

NAME = "promptfoo"
_ERROR = 2  # promptfoo's failureReason: the provider failed, nothing was judged
_LONGEST_LABEL = 30


def is_mine(document: Any) -> bool:
    """Tell whether a JSON document is of promptfoo."""
    if not isinstance(document, Mapping) or not isinstance(document.get("results"), Mapping):
        return False
    return "evalId" in document or {"results", "stats"} <= set(document["results"])


def read_log(path: Path, document: Any) -> Iterator[Entry]:
    """Yield the answers of a log: an option is a provider with a prompt, an item a test."""
    place = named(path)
    results = member(document["results"], "results", list, f"{place}: results")
    where = [f"{place}: results.results[{at}]" for at in range(len(results))]
    prompts = _labels([_prompt(one, at) for one, at in zip(results, where, strict=True)])
    providers = [_provider(one, at) for one, at in zip(results, where, strict=True)]
    tests = _tests(results, where)
    has_prompts, has_providers = len(set(prompts)) > 1, len(set(providers)) > 1
    has_price = any(number_of(one.get("cost")) for one in results)
    for at in sorted(range(len(results)), key=lambda at: _place(results[at])):
        one = results[at]
        parts = [providers[at]] if has_providers or not has_prompts else []
        parts += [prompts[at]] if has_prompts else []
        metrics = _metrics(one, has_price=has_price)
        content = json.dumps(one.get("vars"), sort_keys=True)
        yield Entry(" | ".join(parts), tests[at], metrics, where[at], "", content)


def _place(one: Mapping[str, Any]) -> tuple[float, float]:
    """Return the place of an answer: results stand in the order in which they came."""
    return number_of(one.get("promptIdx")) or 0.0, number_of(one.get("testIdx")) or 0.0


def _metrics(one: Mapping[str, Any], *, has_price: bool) -> dict[str, float]:
    found: dict[str, float] = {}
    if one.get("failureReason") != _ERROR:
        for name, value in {"passed": one.get("success"), "score": one.get("score")}.items():
            if (number := number_of(value)) is not None:
                found[name] = number
        scores = one.get("namedScores")
        for name, value in scores.items() if isinstance(scores, Mapping) else ():
            if (number := number_of(value)) is not None:
                found[metric_name(name)] = number
        seconds = number_of(one.get("latencyMs"))
        if seconds is not None:
            found["seconds"] = seconds / 1000.0
        usage = one.get("tokenUsage")
        for key, name in (("prompt", "input_tokens"), ("completion", "output_tokens")):
            tokens = number_of(usage.get(key)) if isinstance(usage, Mapping) else None
            if tokens is not None:
                found[name] = tokens
        price = number_of(one.get("cost"))
        if price is not None and has_price:  # 0 of all: promptfoo knows no price
            found["price"] = price
    return found


def _provider(one: Any, where: str) -> str:
    provider = member(one, "provider", (dict, str), where)
    if isinstance(provider, str):
        return provider
    return str(provider.get("label") or member(provider, "id", str, f"{where}: provider"))


def _prompt(one: Any, where: str) -> str:
    prompt = member(one, "prompt", dict, where)
    return str(prompt.get("label") or prompt.get("raw") or "")


def _labels(prompts: Sequence[str]) -> list[str]:
    """Return names of prompts: their labels, where these are short, else their numbers."""
    known = list(dict.fromkeys(prompts))
    are_short = all(len(one) <= _LONGEST_LABEL and one.isprintable() and one for one in known)
    return [one if are_short else f"prompt {known.index(one) + 1}" for one in prompts]


def _tests(results: Sequence[Any], where: Sequence[str]) -> list[str]:
    """Return names of tests: descriptions, where each test has its own, else numbers."""
    numbers = [member(one, "testIdx", int, at) for one, at in zip(results, where, strict=True)]
    said: dict[int, str] = {}
    for number, one in zip(numbers, results, strict=True):
        test = one.get("testCase")
        about = test.get("description") if isinstance(test, Mapping) else None
        said[number] = about if isinstance(about, str) else ""
    often = Counter(said.values())
    return [
        said[number] if said[number] and often[said[number]] == 1 else f"test-{number + 1}"
        for number in numbers
    ]
