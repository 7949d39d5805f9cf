"""Instance files: TOML in, an Instance out, or an error that names key, value, rule and remedy.

May touch core and the files that were named.
"""

import importlib
import sys
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

import numpy as np
from pydantic import BaseModel, ConfigDict, ValidationError

from ringfence.core.arrays import Floats
from ringfence.core.attributes import Own
from ringfence.core.best_feasible import BEST_FEASIBLE
from ringfence.core.errors import (
    ExpressionError,
    InputError,
    MissingExtraError,
    closest,
    nearest,
    one_line,
    one_of,
)
from ringfence.core.problem import Problem
from ringfence.core.stated import require_covariance
from ringfence.core.units import require_known_metrics
from ringfence.simulation.draws import FAMILIES, MixedArrays, draw_mixed_pull
from ringfence.simulation.instance import PAPER_INSTANCES, Instance, require_sound
from ringfence.simulation.laws import GaussianLaw, Law, MixedLaw, SampledLaw, recording_of
from ringfence.simulation.reading import toml_file
from ringfence.simulation.shared_laws import on_blocks
from ringfence.simulation.tables import (
    read_columns,
    require_divisor,
    table_instance,
    wanted_columns,
)
from ringfence.simulation.tariffs import (
    is_amount,
    require_costs,
    require_prices,
    tariff_of_metrics,
)
from ringfence.simulation.truths import true_attributes

_SHAPE = ConfigDict(extra="forbid", strict=True)
_LEAST = float(np.finfo(float).tiny)  # smaller numbers lose digits


class _Noise(BaseModel):
    model_config = _SHAPE
    family: str | list[str]
    covariance: list[list[float]] | None = None
    path: str | None = None
    arm: str | None = None


class _Arm(BaseModel):
    model_config = _SHAPE
    mean: list[float]
    covariance: list[list[float]] | None = None


class _Blocks(BaseModel):
    model_config = _SHAPE
    variance: list[float]


class _File(BaseModel):
    model_config = _SHAPE
    objective: str
    constraints: list[str] = []
    answer: str = BEST_FEASIBLE.name
    baseline: str | None = None
    units: dict[str, str] | None = None
    metrics: list[str] | None = None
    functions: dict[str, str] | None = None
    price: dict[str, float | int | str] | str | float | int | None = None
    noise: _Noise
    blocks: _Blocks | None = None
    arms: dict[str, _Arm] | None = None


_KEYS = {
    "": tuple(_File.model_fields),
    "noise": tuple(_Noise.model_fields),
    "blocks": tuple(_Blocks.model_fields),
    "arms": tuple(_Arm.model_fields),
}

_RULES = {
    "string_type": "must be text in quotes",
    "float_type": "must be a number",
    "int_type": "must be a whole number. Write 60, not '60' or 60.5",
    "int_from_float": "must be a whole number. Write 60, not '60' or 60.5",
    "list_type": "must be a list in square brackets",
    "dict_type": "must be a table of key = value",
    "model_type": "must be a table of key = value",
}

_MISSING = {
    "objective": "Add one, such as objective = 'minimize mean(loss)'.",
    "noise": "Add a table [noise] with a family.",
    "family": f"Add one of {', '.join(FAMILIES)} or table.",
    "mean": "Add one number a metric, such as mean = [1.0, 0.95].",
    "variance": "Add one number a metric, such as variance = [0.5, 0.2].",
}


def read_instance(path: Path) -> Instance:
    """Return the instance in a TOML file; every error begins with the file's name."""
    try:
        content = toml_file(path, key="instance", advice="Give a TOML file.")
    except FileNotFoundError:
        hint = nearest(path.name, PAPER_INSTANCES) or nearest_file(path)
        raise InputError(
            f"instance = {str(path)!r} does not exist. Give a TOML file, or one of "
            f"{', '.join(PAPER_INSTANCES)}.{hint}"
        ) from None
    try:
        return build_instance(content, name=path.stem, folder=path.parent)
    except ExpressionError as error:
        raise ExpressionError(f"{path}: {error.what}", error.text, error.position) from None
    except InputError as error:
        raise InputError(f"{path}: {error}") from None


def nearest_file(path: Path) -> str:
    """Return " Did you mean 'x'?" for the TOML file beside a missing one with the closest name."""
    files = {file.stem: str(file) for file in sorted(path.parent.glob("*.toml"))}
    near = closest(path.stem, files)
    return "" if near is None else f" Did you mean {files[near]!r}?"


def build_instance(content: Mapping[str, Any], *, name: str, folder: Path) -> Instance:
    """Return the instance described by the content of a file; paths are relative to `folder`."""
    try:
        file = _File.model_validate(dict(content))
    except ValidationError as error:
        raise complaint(error, _KEYS, _MISSING) from None
    functions = {
        key: loaded_function(f"functions.{key}", text, folder)
        for key, text in (file.functions or {}).items()
    }
    problem = Problem.parse(
        file.objective,
        file.constraints,
        functions=functions,
        answer=file.answer,
        units=file.units,
    ).with_possible_limits()
    require_known_metrics(file.units or {}, (*problem.metrics, *(file.metrics or ())))
    if file.noise.family == "table":
        return _table(file, problem, name=name, folder=folder)
    for key in ("path", "arm"):
        if getattr(file.noise, key) is not None:
            raise InputError(
                f"noise.{key} = {getattr(file.noise, key)!r} belongs to family = 'table'. "
                "Remove it or change the family."
            )
    _require_closed_forms(problem)
    metrics = _metrics(file, problem)
    families = _families(file.noise, metrics)
    if not file.arms:
        raise InputError("arms must hold at least one arm. Add one under [arms].")
    means = np.array([_mean(arm, label, metrics, families) for label, arm in file.arms.items()])
    covariances = _covariances(file, metrics, families)
    law = _law(problem.judged, metrics, families, means, covariances, list(file.arms))
    if file.blocks is not None:
        law = _law_on_blocks(law, file.blocks.variance, problem.judged, metrics)
    arms, tariff = tuple(file.arms), None
    require_prices(file.price, arms, metrics)
    if file.price in metrics and file.blocks is None:
        place = metrics.index(str(file.price))
        if families[place] == "gaussian":
            raise InputError(
                f"price = {file.price!r} is gaussian, and would be below 0 at times. Change its "
                "family to exponential, or state prices by arm."
            )
        used = list(dict.fromkeys([*problem.judged.metrics, str(file.price)]))
        arrays = _arrays(problem.judged, used, metrics, families, means, covariances)
        recording = recording_of(draw_mixed_pull, problem.judged.recipe, len(used))
        require_costs(str(file.price), arms, means[:, place], 0.0)
        tariff = tariff_of_metrics(
            str(file.price), means[:, place], arrays, recording, used.index(str(file.price))
        )
    return require_sound(Instance(name, problem, arms, law, file.baseline, file.price, tariff))


def _law_on_blocks(
    law: Law, variances: Sequence[float], problem: Problem, metrics: Sequence[str]
) -> Law:
    """Return the law with effects that the arms' n-th pulls share, of such variances by metric."""
    key = f"blocks.variance = {list(variances)}"
    if not isinstance(law, GaussianLaw):
        raise InputError(
            f"{key} is for means of gaussian metrics: what other pulls share has no one form. "
            "Remove [blocks], or change noise.family and the attributes."
        )
    if len(variances) != len(metrics):
        raise InputError(
            f"{key} must have one number a metric: {len(metrics)} ({', '.join(metrics)}), "
            f"not {len(variances)}."
        )
    for place, value in enumerate(variances):
        if not (np.isfinite(value) and value >= 0.0):
            raise InputError(
                f"blocks.variance[{place}] = {value} must be finite and at least 0. Give the "
                "variance of what all arms share."
            )
    used = list(problem.metrics)
    effects = np.zeros((len(problem.attributes), len(used)))
    for c, attribute in enumerate(problem.attributes):
        variance = variances[metrics.index(attribute.metric)]
        effects[c, used.index(attribute.metric)] = problem.signs[c] * np.sqrt(variance)
    return on_blocks(law, effects)


def _table(file: _File, problem: Problem, *, name: str, folder: Path) -> Instance:
    if file.noise.covariance is not None or file.arms is not None:
        key = "arms" if file.arms is not None else "noise.covariance"
        raise InputError(f"{key} must not be given with family = 'table': the table has them.")
    if file.blocks is not None:
        raise InputError(
            "blocks must not be given with family = 'table'. Replay the table with its column of "
            "items, or remove [blocks]."
        )
    if file.noise.path is None or file.noise.arm is None:
        key = "path" if file.noise.path is None else "arm"
        raise InputError(
            f"noise.{key} is missing: family = 'table' needs path (a CSV or Parquet file) "
            "and arm (the column that names the arm)."
        )
    if file.metrics is not None:
        _metrics(file, problem)
    price = file.price if isinstance(file.price, str) and not is_amount(file.price) else None
    wanted = wanted_columns(file.noise.arm, problem, price)
    columns = read_columns(folder / file.noise.path, wanted)
    found = table_instance(
        name, problem, columns, file.noise.arm, baseline=file.baseline, price=file.price
    )
    require_prices(file.price, found.arms, () if price is None else [price])
    return found


def loaded_function(key: str, text: str, folder: Path) -> Any:
    """Return the user's function, or Own, that "package.module:function" names."""
    found = loaded_object(key, text, folder, "function")
    if not (callable(found) or isinstance(found, Own)):
        raise InputError(f"{key} = {text!r} must be a function. Name one.")
    return found


def loaded_object(key: str, text: str, folder: Path, what: str) -> Any:
    """Return what "package.module:name" names in a file; `what` errors call the name.

    Modules in `folder`, where the file is, are found too.
    """
    key = f"{key} = {text!r}"
    module, colon, attribute = text.partition(":")
    if not (module and colon and attribute):
        raise InputError(f"{key} must read 'package.module:{what}'. Name both.")
    place = str(folder.resolve())
    if place not in sys.path:
        sys.path.insert(0, place)
    home = None
    try:
        home = importlib.import_module(module)
        found = getattr(home, attribute)
    except MissingExtraError:
        raise  # it says what to install
    except Exception as error:
        why = f"{type(error).__name__}: {error}"
        hint = ""
        if isinstance(error, AttributeError) and home is not None:
            hint = nearest(attribute, (name for name in vars(home) if not name.startswith("_")))
        elif isinstance(error, ModuleNotFoundError) and error.name == module:
            hint = nearest(module, (file.stem for file in folder.glob("*.py")))
        raise InputError(f"{key} cannot be loaded: {why}. Correct or install it.{hint}") from error
    return found


def _require_closed_forms(problem: Problem) -> None:
    for attribute in problem.attributes:
        if attribute.own is not None:
            raise InputError(
                f"{attribute} is a function of your own: its truth is known for family = 'table' "
                "only. Use a table of pulls."
            )


def _metrics(file: _File, problem: Problem) -> list[str]:
    if file.metrics is None:
        raise InputError(
            f"metrics is missing: it names the numbers in every mean, in their order. "
            f"Add metrics = {list(problem.metrics)}."
        )
    for place, metric in enumerate(file.metrics):
        if metric in file.metrics[:place]:
            raise InputError(
                f"metrics[{place}] = {metric!r} is named twice. Name each metric once."
            )
    for metric in problem.metrics:
        if metric not in file.metrics:
            raise InputError(
                f"metric {metric!r} is used in an expression but metrics = {file.metrics} does "
                f"not hold it. Correct the name or add it.{nearest(metric, file.metrics)}"
            )
    return file.metrics


def _families(noise: _Noise, metrics: Sequence[str]) -> list[str]:
    listed = isinstance(noise.family, list)
    families = noise.family if isinstance(noise.family, list) else [noise.family] * len(metrics)
    if len(families) != len(metrics):
        raise InputError(
            f"noise.family = {families} must name one family a metric: {len(metrics)}, "
            f"not {len(families)}."
        )
    for place, family in enumerate(families):
        if family not in FAMILIES:
            key = f"noise.family[{place}]" if listed else "noise.family"
            raise one_of(key, family, FAMILIES if listed else (*FAMILIES, "table"))
    return families


def _mean(arm: _Arm, label: str, metrics: Sequence[str], families: Sequence[str]) -> list[float]:
    key = f"arms.{label}.mean"
    if not label.strip():
        raise InputError("arms holds an arm without a name. Give it one.")
    if not label.isprintable():
        raise InputError(
            f"arms holds {label!r}, which must be printable text. Give it another name."
        )
    if len(arm.mean) != len(metrics):
        raise InputError(
            f"{key} = {arm.mean} must have one number a metric: {len(metrics)} "
            f"({', '.join(metrics)}), not {len(arm.mean)}."
        )
    limits = {
        "bernoulli": (0.0, 1.0, "between 0 and 1: it is a share"),
        "poisson": (0.0, np.inf, "0 or more: it is a count"),
        "exponential": (
            _LEAST,
            np.inf,
            f"more than 0, at least {_LEAST:.3g}: it is a waiting time",
        ),
    }
    for place, (value, family) in enumerate(zip(arm.mean, families, strict=True)):
        if not np.isfinite(value):
            raise InputError(f"{key}[{place}] = {value} must be finite. Give the metric's mean.")
        low, high, rule = limits.get(family, (-np.inf, np.inf, ""))
        if not low <= value <= high:
            raise InputError(f"{key}[{place}] = {value:g} must be {rule} ({family}).")
    return arm.mean


def _covariances(file: _File, metrics: Sequence[str], families: Sequence[str]) -> list[Floats]:
    """Return each arm's covariance of the gaussian metrics, in the order of the metrics."""
    gaussian = [m for m, family in zip(metrics, families, strict=True) if family == "gaussian"]
    shared = file.noise.covariance
    if shared is not None:
        _require_covariance("noise.covariance", shared, gaussian)
    result = []
    for label, arm in (file.arms or {}).items():
        if arm.covariance is not None:
            _require_covariance(f"arms.{label}.covariance", arm.covariance, gaussian)
        chosen = arm.covariance if arm.covariance is not None else shared
        if chosen is None and gaussian:
            raise InputError(
                f"noise.covariance is missing and arm {label!r} has none of its own. "
                f"Add one of size {len(gaussian)} x {len(gaussian)} for {', '.join(gaussian)}."
            )
        result.append(
            np.array(chosen or [], dtype=np.float64).reshape(len(gaussian), len(gaussian))
        )
    return result


def _require_covariance(key: str, rows: list[list[float]], gaussian: Sequence[str]) -> None:
    size = len(gaussian)
    if not gaussian:
        raise InputError(f"{key} belongs to gaussian metrics, and there is none. Remove it.")
    if len(rows) != size or any(len(row) != size for row in rows):
        raise InputError(
            f"{key} = {rows} must be {size} x {size}, one row and column a gaussian metric "
            f"({', '.join(gaussian)})."
        )
    require_covariance(f"{key} = {rows}", np.array(rows))


def _law(
    problem: Problem,
    metrics: Sequence[str],
    families: Sequence[str],
    means: Floats,
    covariances: Sequence[Floats],
    arms: Sequence[str],
) -> Law:
    """Return the law of the oriented attributes; metrics that no expression uses are dropped."""
    arrays = _arrays(problem, list(problem.metrics), metrics, families, means, covariances)
    metric_of, factors = arrays.metric_of, arrays.factors
    if not all(attribute.statistic == "mean" for attribute in problem.attributes):
        return _sampled_law(problem, arrays, arms)
    if (arrays.families == FAMILIES.index("gaussian")).all():
        signs = problem.signs
        parts = _used_parts(list(problem.metrics), metrics, families, covariances)
        oriented = [part[np.ix_(metric_of, metric_of)] * np.outer(signs, signs) for part in parts]
        return GaussianLaw(
            means=np.ascontiguousarray(arrays.means[:, metric_of] * signs + 0.0),
            covariance=np.array(oriented),
            factors=np.ascontiguousarray(factors[:, metric_of, :] * signs[:, None]),
        )
    return MixedLaw(
        families=arrays.families,
        metric_means=arrays.means,
        factors=factors,
        metric_of=metric_of,
        signs=problem.signs,
    )


def _used_parts(
    used: Sequence[str],
    metrics: Sequence[str],
    families: Sequence[str],
    covariances: Sequence[Floats],
) -> list[Floats]:
    """Return each arm's covariance of the gaussian metrics in use, in their order."""
    gaussian = [m for m, family in zip(metrics, families, strict=True) if family == "gaussian"]
    chosen = [gaussian.index(metric) for metric in used if metric in gaussian]
    return [covariance[np.ix_(chosen, chosen)] for covariance in covariances]


def _arrays(
    problem: Problem,
    used: Sequence[str],
    metrics: Sequence[str],
    families: Sequence[str],
    means: Floats,
    covariances: Sequence[Floats],
) -> MixedArrays:
    """Return what pulls of the metrics in use are drawn from."""
    columns = [metrics.index(metric) for metric in used]
    kinds = [families[column] for column in columns]
    metric_of = np.array([used.index(attribute.metric) for attribute in problem.attributes])
    parts = _used_parts(used, metrics, families, covariances)
    rows = [place for place, kind in enumerate(kinds) if kind == "gaussian"]
    factors = np.zeros((len(means), len(used), len(rows)))
    for arm, part in enumerate(parts):
        factors[arm, rows, :] = np.linalg.cholesky(part)
    kind_numbers = np.array([FAMILIES.index(kind) for kind in kinds])
    return MixedArrays(
        kind_numbers, np.ascontiguousarray(means[:, columns]), factors, metric_of, problem.signs
    )


def _sampled_law(problem: Problem, arrays: MixedArrays, arms: Sequence[str]) -> SampledLaw:
    """Return the law of attributes that are measured on a record of pulls."""
    recipe = problem.recipe
    for attribute in problem.attributes:
        if attribute.is_ratio:
            column = arrays.means[:, problem.metrics.index(attribute.others[0])]
            for arm in np.flatnonzero(column == 0.0)[:1]:
                require_divisor(attribute, 0.0, f"arm {arms[arm]!r}")
    truths = [
        true_attributes(recipe, arrays.families, *of)
        for of in zip(arrays.means, arrays.factors, strict=True)
    ]
    lattice = np.isin(arrays.families, [FAMILIES.index(name) for name in ("bernoulli", "poisson")])
    shares = any(attribute.statistic == "share" for attribute in problem.attributes)
    return SampledLaw(
        arrays=arrays,
        draw_pull=draw_mixed_pull,
        metrics=problem.metrics,
        attributes=problem.attributes,
        recipe=recipe,
        means=np.array([values for values, _ in truths]),
        true_covariances=np.array([covariance for _, covariance in truths]),
        has_ties=bool(lattice.any()) or shares,
    )


def complaint(
    error: ValidationError, keys: Mapping[str, Sequence[str]], missing: Mapping[str, str]
) -> InputError:
    """Return the first complaint about a file's shape, in the house's form.

    `keys` are the known ones by table, `missing` the advice for keys that must be there.
    """
    # A misspelt key also leaves its right name missing: the misspelling is what to correct.
    found = error.errors()
    first = next((one for one in found if one["type"] == "extra_forbidden"), found[0])
    place = list(first["loc"])
    length = 2 if place[:2] == ["noise", "family"] else 1 if place[:1] == ["budget"] else len(place)
    place = place[:length]  # what follows names the alternatives of its type, not keys
    key = "".join(f"[{part}]" if isinstance(part, int) else f".{part}" for part in place)[1:]
    if first["type"] == "extra_forbidden":
        known = keys.get(str(place[-2]) if len(place) > 1 else "", keys.get(str(place[0]), ()))
        return InputError(
            f"unknown key {key!r}. Known here: {', '.join(known)}.{nearest(place[-1], known)}"
        )
    if first["type"] == "missing":
        return InputError(f"{key} is missing. {missing.get(str(place[-1]), '')}".rstrip())
    rule = _RULES.get(str(first["type"]), f"is not right: {first['msg']}")
    return InputError(f"{key} = {one_line(repr(first['input']))} {rule}.")
