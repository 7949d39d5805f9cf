"""Plain values: how golden courses are written and compared. Nothing of ringfence is touched.

Whole numbers, names and flags are equal or they are not. Floats are equal to the last bit where
arithmetic is the one that they were made with. Other processors, and other releases of NumPy, may
compute exponentials, logarithms and matrix products with another last bit, and so does linear
algebra on more threads; a few sums that every kept file begins with tell. There floats are held to
nine digits, shares of draws to three hundredths, and all decisions still exactly.
"""

import json
import math
from collections.abc import Iterable, Iterator
from functools import cache
from pathlib import Path
from typing import Any

import numpy as np
from scipy import special, stats

HERE = Path(__file__).with_name("kept")
_DIGITS, _NOTHING = 1e-9, 1e-12  # what may differ under another arithmetic
_DRAWN = ("chance_best", "chance_feasible", "chance_keeps_limits", "confidence")
_LUCK = 0.03  # six deviations of a share of draws: eigenvectors may be turned, and so other draws


def hexes(numbers: Iterable[Any]) -> list[str]:
    """Return floats to the last bit."""
    return [float(number).hex() for number in numbers]


@cache
def arithmetic() -> str:
    """Return what this machine and its libraries compute, to the last bit, as one word."""
    x = np.arange(1.0, 258.0) / 7.0
    grid = np.cos(np.outer(x[:6], x[:6])) + 6.0 * np.eye(6)
    rng = np.random.default_rng(0)
    long = rng.random((4, 40_000))  # long enough to be shared out among threads
    sums = [
        *(row @ row for row in long), (long @ long.T).sum(), long.sum(),
        np.exp(-x).sum(), np.log(x).sum(), np.sin(x).sum(), (x @ x) / 3.0,
        np.linalg.cholesky(grid).sum(), np.linalg.inv(grid).sum(), np.linalg.eigvalsh(grid)[0],
        np.linalg.pinv(grid, hermitian=True).sum(), special.ndtr(-x / 9.0).sum(),
        stats.beta.ppf(0.025, 3.0, 9.5), stats.t.ppf(0.975, 11.5),
        rng.standard_normal(999).sum(), rng.standard_exponential(999).sum(),
        rng.beta(2.5, 7.5, 99).sum(), math.erfc(0.3), math.exp(-0.7), math.sqrt(0.7),
    ]  # fmt: skip
    return "".join(f"{np.float64(one).view(np.uint64) & 0xFFFF:04x}" for one in sums)


def read(name: str) -> dict[str, Any]:
    """Return the courses of a kept file, by name."""
    return dict(_content(name)["courses"])


@cache
def _content(name: str) -> dict[str, Any]:
    content: dict[str, Any] = json.loads((HERE / f"{name}.json").read_text(encoding="utf-8"))
    return content


def is_exact(name: str) -> bool:
    """Tell whether a file was made by arithmetic that is this machine's, to the last bit."""
    return bool(_content(name)["arithmetic"] == arithmetic())


def text_of(courses: dict[str, Any]) -> str:
    """Return what a kept file says: one course a line, so that a change shows which."""
    lines = ",\n".join(f'"{key}":{_compact(courses[key])}' for key in sorted(courses))
    return f'{{"arithmetic":"{arithmetic()}","courses":{{\n{lines}\n}}}}\n'


def _compact(value: Any) -> str:
    return json.dumps(plain(value), separators=(",", ":"), sort_keys=True, allow_nan=False)


def plain(value: Any) -> Any:
    """Return a value as JSON has it: what is infinite or undefined is a word."""
    if isinstance(value, dict):
        return {str(key): plain(one) for key, one in value.items()}
    if isinstance(value, list | tuple):
        return [plain(one) for one in value]
    if isinstance(value, np.generic):
        return plain(value.item())
    if isinstance(value, float) and not math.isfinite(value):
        return value.hex()
    return value


def differences(found: Any, kept: Any, *, exactly: bool, at: str = "") -> Iterator[str]:
    """Yield in what two plain values differ, and where."""
    if isinstance(found, dict) and isinstance(kept, dict) and found.keys() == kept.keys():
        for key in kept:
            yield from differences(found[key], kept[key], exactly=exactly, at=f"{at}/{key}")
    elif isinstance(found, list) and isinstance(kept, list) and len(found) == len(kept):
        for place, pair in enumerate(zip(found, kept, strict=True)):
            yield from differences(*pair, exactly=exactly, at=f"{at}/{place}")
    elif type(found) is not type(kept) or not (
        found == kept or (not exactly and _nearly(found, kept, at))
    ):
        yield f"{at}: {_brief(found)} is not {_brief(kept)}, as was kept"


def _nearly(found: Any, kept: Any, at: str) -> bool:
    """Tell whether two floats are as near as two arithmetics may be."""
    one, other = _number(found), _number(kept)
    if one is None or other is None:
        return False
    nothing = _LUCK if at.rpartition("/")[2] in _DRAWN else _NOTHING
    return math.isclose(one, other, rel_tol=_DIGITS, abs_tol=nothing)


def _number(value: Any) -> float | None:
    if isinstance(value, float):
        return value
    if isinstance(value, str) and value.lstrip("-").startswith("0x"):
        return float.fromhex(value)
    return None


def _brief(value: Any) -> str:
    text = json.dumps(value, sort_keys=True)
    return text if len(text) <= 80 else f"{text[:77]}..."


def check(found: Any, name: str, key: str) -> None:
    """Require that a course is the one that was kept."""
    wrong = list(differences(plain(found), read(name)[key], exactly=is_exact(name), at=key))
    assert not wrong, "\n".join(["The course is another one:", *wrong[:8]])
