"""Instance files: what a good one means, and what is said about a bad one."""

import copy
import json
import math
import re
import shutil
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import pyarrow as pa
import pytest
from numpy.testing import assert_allclose
from pyarrow import parquet

from ringfence.core.errors import ExpressionError, InputError, MissingExtraError
from ringfence.simulation.draws import BERNOULLI, EXPONENTIAL, GAUSSIAN, POISSON
from ringfence.simulation.instance import PAPER_INSTANCES, Instance
from ringfence.simulation.laws import GaussianLaw, MixedLaw, TableLaw

Content = dict[str, Any]

GOOD: Content = {
    "objective": "minimize mean(loss)",
    "constraints": ["mean(risk) <= 1.0"],
    "metrics": ["loss", "risk"],
    "noise": {"family": "gaussian", "covariance": [[1.0, 0.5], [0.5, 1.0]]},
    "arms": {"one": {"mean": [1.0, 0.95]}, "two": {"mean": [5.0, 0.001]}},
}

TABLE_NOISE = "family = 'table'\npath = 'rows.csv'\narm = 'who'"
TABLE_FILE = """
objective = "minimize mean(loss)"
constraints = ["mean(risk) <= 1.0"]
{top}
[noise]
{noise}
"""
ROWS = "who,loss,risk\na,1,0.5\nb,3,4\na,2,0\n"

# A remedy tells the reader what to do, or states the one form that would be right.
REMEDY = re.compile(
    r"\b(Add|Change|Choose|Correct|Did you mean|Drop|Fill|Give|Make|Name|Put|Raise|Remove)\b"
    r"|\b(Use|Write)\b"
    r"|must (be|have|name) (a list|a number|a table|text|one|between|0 or more|more than|\d x \d)"
)

ABSENT = object()


def changed(**changes: Any) -> Content:
    """Return the good content with keys such as noise__family changed, or removed if ABSENT."""
    content = copy.deepcopy(GOOD)
    for path, value in changes.items():
        *parents, key = path.split("__")
        place = content
        for parent in parents:
            place = place[parent]
        if value is ABSENT:
            del place[key]
        else:
            place[key] = value
    return content


def with_family(family: Any, *mean: float, **noise: Any) -> Content:
    return changed(noise={"family": family, **noise}, arms={"one": {"mean": list(mean)}})


# What is wrong: the content, and the words that the message must hold: key, value, rule.
BAD: dict[str, tuple[Content, list[str]]] = {
    "unknown key": (
        changed(objectve="x"),
        ["unknown key 'objectve'", "constraints", "Did you mean 'objective'?"],
    ),
    "unknown key of noise": (
        changed(noise__covarience=[[1.0]]),
        ["unknown key 'noise.covarience'", "family", "Did you mean 'covariance'?"],
    ),
    "unknown key of an arm": (
        changed(arms__one__means=[1.0]),
        ["unknown key 'arms.one.means'", "Did you mean 'mean'?"],
    ),
    "no objective": (changed(objective=ABSENT), ["objective is missing"]),
    "constraints as text": (
        changed(constraints="mean(risk) <= 1"),
        ["constraints = 'mean(risk) <= 1'", "must be a list"],
    ),
    "a constraint as number": (changed(constraints=[3]), ["constraints", "3", "must be text"]),
    "objective as number": (changed(objective=3), ["objective = 3", "must be text"]),
    "no metrics": (changed(metrics=ABSENT), ["metrics is missing", "['loss', 'risk']"]),
    "empty metrics": (changed(metrics=[]), ["metric 'loss'", "metrics = []"]),
    "misspelt metric": (
        changed(constraints=["mean(rsk) <= 1"]),
        ["metric 'rsk'", "metrics = ['loss', 'risk']", "Did you mean 'risk'?"],
    ),
    "duplicate metric": (
        changed(metrics=["loss", "risk", "loss"]),
        ["metrics[2] = 'loss'", "twice"],
    ),
    "no noise": (changed(noise=ABSENT), ["noise is missing", "[noise]"]),
    "noise as text": (changed(noise="gaussian"), ["noise = 'gaussian'", "must be a table"]),
    "no family": (changed(noise__family=ABSENT), ["noise.family is missing", "gaussian"]),
    "misspelt family": (
        changed(noise__family="gausian"),
        ["noise.family = 'gausian'", "must be one of", "Did you mean 'gaussian'?"],
    ),
    "misspelt family in a list": (
        changed(noise__family=["gaussian", "bernuli"]),
        ["noise.family[1] = 'bernuli'", "must be one of", "Did you mean 'bernoulli'?"],
    ),
    "too few families": (
        changed(noise__family=["gaussian"]),
        ["noise.family = ['gaussian']", "one family a metric: 2, not 1"],
    ),
    "too many families": (
        changed(noise__family=["gaussian"] * 3),
        ["noise.family = ", "one family a metric: 2, not 3"],
    ),
    "table among families": (
        changed(noise__family=["gaussian", "table"]),
        ["noise.family[1] = 'table'", "must be one of"],
    ),
    "path without a table": (
        changed(noise__path="rows.csv"),
        ["noise.path = 'rows.csv'", "family = 'table'"],
    ),
    "arm column without a table": (changed(noise__arm="who"), ["noise.arm = 'who'", "'table'"]),
    "no arms": (changed(arms=ABSENT), ["arms", "at least one arm"]),
    "empty arms": (changed(arms={}), ["arms", "at least one arm"]),
    "arms as list": (changed(arms=["one"]), ["arms = ['one']", "must be a table"]),
    "arm as list": (changed(arms__one=[1.0, 2.0]), ["arms.one = [1.0, 2.0]", "must be a table"]),
    "arm without a name": (changed(arms={" ": {"mean": [1.0, 2.0]}}), ["arms", "without a name"]),
    "arm that rings": (
        changed(arms={"\x1b[31mred": {"mean": [1.0, 2.0]}}),
        ["arms holds '\\x1b[31mred'", "must be printable text", "Give it another name"],
    ),
    "no mean": (changed(arms__one__mean=ABSENT), ["arms.one.mean is missing"]),
    "mean as number": (changed(arms__one__mean=1.0), ["arms.one.mean = 1.0", "must be a list"]),
    "short mean": (
        changed(arms__two__mean=[1.0]),
        ["arms.two.mean = [1.0]", "one number a metric: 2 (loss, risk), not 1"],
    ),
    "long mean": (
        changed(arms__two__mean=[1.0, 2.0, 3.0]),
        ["arms.two.mean = [1.0, 2.0, 3.0]", "one number a metric: 2 (loss, risk), not 3"],
    ),
    "mean nan": (changed(arms__one__mean=[1.0, math.nan]), ["arms.one.mean[1] = nan", "finite"]),
    "mean inf": (changed(arms__one__mean=[math.inf, 1.0]), ["arms.one.mean[0] = inf", "finite"]),
    "mean -inf": (changed(arms__one__mean=[-math.inf, 1.0]), ["arms.one.mean[0] = -inf", "finite"]),
    "mean as boolean": (
        changed(arms__one__mean=[True, 1.0]),
        ["arms.one.mean[0] = True", "must be a number"],
    ),
    "mean as text": (
        changed(arms__one__mean=[1.0, "0.95"]),
        ["arms.one.mean[1] = '0.95'", "must be a number"],
    ),
    "no covariance": (
        changed(noise__covariance=ABSENT),
        ["noise.covariance is missing", "'one'", "2 x 2", "loss, risk"],
    ),
    "covariance for one arm only": (
        changed(noise__covariance=ABSENT, arms__one__covariance=[[1.0, 0.0], [0.0, 1.0]]),
        ["noise.covariance is missing", "'two'", "2 x 2"],
    ),
    "covariance as number": (
        changed(noise__covariance=1.0),
        ["noise.covariance = 1.0", "must be a list"],
    ),
    "covariance of one row": (
        changed(noise__covariance=[1.0, 1.0]),
        ["noise.covariance[0] = 1.0", "must be a list"],
    ),
    "covariance too small": (
        changed(noise__covariance=[[1.0]]),
        ["noise.covariance = [[1.0]]", "must be 2 x 2", "loss, risk"],
    ),
    "covariance ragged": (
        changed(noise__covariance=[[1.0, 0.5], [0.5]]),
        ["noise.covariance = [[1.0, 0.5], [0.5]]", "must be 2 x 2"],
    ),
    "covariance empty": (changed(noise__covariance=[]), ["noise.covariance = []", "must be 2 x 2"]),
    "covariance not symmetric": (
        changed(noise__covariance=[[1.0, 0.5], [0.4, 1.0]]),
        ["noise.covariance = [[1.0, 0.5], [0.4, 1.0]]", "must be symmetric"],
    ),
    "covariance not positive definite": (
        changed(noise__covariance=[[1.0, 2.0], [2.0, 1.0]]),
        ["noise.covariance = [[1.0, 2.0], [2.0, 1.0]]", "must be positive definite", "is -1"],
    ),
    "covariance singular": (
        changed(noise__covariance=[[1.0, 1.0], [1.0, 1.0]]),
        ["noise.covariance = [[1.0, 1.0], [1.0, 1.0]]", "must be positive definite"],
    ),
    "covariance zero": (
        changed(noise__covariance=[[0.0, 0.0], [0.0, 0.0]]),
        ["noise.covariance", "must be positive definite"],
    ),
    "covariance nan": (
        changed(noise__covariance=[[math.nan, 0.0], [0.0, 1.0]]),
        ["noise.covariance = [[nan, 0.0], [0.0, 1.0]]", "must be finite"],
    ),
    "covariance inf": (
        changed(noise__covariance=[[math.inf, 0.0], [0.0, 1.0]]),
        ["noise.covariance = [[inf, 0.0], [0.0, 1.0]]", "must be finite"],
    ),
    "covariance as booleans": (
        changed(noise__covariance=[[True, 0.0], [0.0, 1.0]]),
        ["noise.covariance[0][0] = True", "must be a number"],
    ),
    "an arm's covariance": (
        changed(arms__two__covariance=[[1.0, 2.0], [2.0, 1.0]]),
        ["arms.two.covariance = [[1.0, 2.0], [2.0, 1.0]]", "must be positive definite"],
    ),
    "bernoulli above one": (
        with_family("bernoulli", 0.5, 1.2),
        ["arms.one.mean[1] = 1.2", "between 0 and 1", "bernoulli"],
    ),
    "bernoulli below zero": (
        with_family("bernoulli", -0.1, 0.5),
        ["arms.one.mean[0] = -0.1", "between 0 and 1", "bernoulli"],
    ),
    "poisson below zero": (
        with_family("poisson", -1.0, 0.5),
        ["arms.one.mean[0] = -1", "0 or more", "poisson"],
    ),
    "exponential zero": (
        with_family("exponential", 1.0, 0.0),
        ["arms.one.mean[1] = 0", "more than 0", "exponential"],
    ),
    "exponential too small": (
        with_family("exponential", 1.0, 1e-308),
        ["arms.one.mean[1] = 1e-308", "at least 2.23e-308", "exponential"],
    ),
    "covariance of bernoulli": (
        with_family("bernoulli", 0.5, 0.5, covariance=[[1.0, 0.0], [0.0, 1.0]]),
        ["noise.covariance", "gaussian"],
    ),
    "covariance of all of a mixture": (
        with_family(["gaussian", "bernoulli"], 0.5, 0.5, covariance=[[1.0, 0.0], [0.0, 1.0]]),
        ["noise.covariance", "must be 1 x 1", "(loss)"],
    ),
    "no covariance in a mixture": (
        with_family(["gaussian", "bernoulli"], 0.5, 0.5),
        ["noise.covariance is missing", "1 x 1", "for loss"],
    ),
}


@pytest.mark.parametrize("case", BAD)
def test_bad_content_is_refused_with_key_value_and_rule(case: str) -> None:
    content, words = BAD[case]
    with pytest.raises(InputError) as caught:
        Instance.from_dict(content)
    for word in words:
        assert word in str(caught.value)


@pytest.mark.parametrize("case", BAD)
def test_bad_content_is_answered_with_a_remedy(case: str) -> None:
    with pytest.raises(InputError) as caught:
        Instance.from_dict(BAD[case][0])
    assert REMEDY.search(str(caught.value)), str(caught.value)


@pytest.mark.parametrize("case", BAD)
def test_a_bad_file_is_named_first(case: str, tmp_path: Path) -> None:
    path = tmp_path / "bad.toml"
    path.write_text(as_toml(BAD[case][0]), encoding="utf-8")
    with pytest.raises(InputError) as caught:
        Instance.load(path)
    assert str(caught.value).startswith(f"{path}: ")
    for word in BAD[case][1]:
        assert word in str(caught.value)


def test_the_good_content_is_good(tmp_path: Path) -> None:
    path = tmp_path / "good.toml"
    path.write_text(as_toml(GOOD), encoding="utf-8")
    same(Instance.from_dict(GOOD, name="good"), Instance.load(path))


@pytest.mark.parametrize(
    ("objective", "constraint", "key", "text"),
    [
        ("minimize (loss", "mean(risk) <= 1", "objective", "minimize (loss"),
        ("minimize mean(loss)", "mean(risk) <=", "constraints[0]", "mean(risk) <="),
        ("minimize mean(loss)", "p950(risk) <= 1", "constraints[0]", "p950(risk) <= 1"),
    ],
)
def test_an_unreadable_expression_is_placed_and_pointed_at(
    objective: str, constraint: str, key: str, text: str, tmp_path: Path
) -> None:
    path = tmp_path / "bad.toml"
    content = changed(objective=objective, constraints=[constraint])
    path.write_text(as_toml(content), encoding="utf-8")
    with pytest.raises(ExpressionError) as caught:
        Instance.load(path)
    first, shown, caret = str(caught.value).splitlines()
    assert first.startswith(f"{path}: {key} cannot be read: ")
    assert shown == f"    {text}"
    assert caret == "    " + " " * caught.value.position + "^"


# ------------------------------------------------------------------ files that are no files


def test_a_missing_file_is_named(tmp_path: Path) -> None:
    path = tmp_path / "nowhere.toml"
    refused(path, [f"instance = {str(path)!r}", "does not exist", "Give a TOML file"])


@pytest.mark.parametrize("typed", ["paper1", "paper-5", "Paper-1"])
def test_the_nearest_paper_instance_is_offered(typed: str) -> None:
    refused(Path(typed), [f"instance = {typed!r}", "paper-1, paper-2", "Did you mean 'paper-"])


def test_a_folder_is_no_instance(tmp_path: Path) -> None:
    refused(tmp_path, [f"instance = {str(tmp_path)!r}", "cannot be read", "directory"])


@pytest.mark.parametrize(
    ("raw", "words"),
    [
        (b"objective = ", ["not a TOML file"]),
        (b"{}", ["not a TOML file"]),
        (b"objective = '\xff\xfe'", ["not a TOML file", "utf-8"]),
        (b"objective = 'a'\nobjective = 'b'", ["not a TOML file", "used twice"]),
        (b"[arms]\none = {mean = [1.0]}\none = {mean = [2.0]}", ["used twice", "every arm"]),
        (b"[arms.one]\nmean = [1.0]\n[arms.one]\nmean = [2.0]", ["used twice", "every arm"]),
        (b"", ["objective is missing", "Add one"]),
    ],
)
def test_what_is_not_toml_is_refused(raw: bytes, words: list[str], tmp_path: Path) -> None:
    path = tmp_path / "bad.toml"
    path.write_bytes(raw)
    refused(path, [f"{path}: ", *words])


# ------------------------------------------------------------------ tables


BAD_TABLES: dict[str, tuple[str, str, str, list[str]]] = {
    # what is wrong: the top of the file, its noise, the rows, the words
    "no path": ("", "family = 'table'\narm = 'who'", ROWS, ["noise.path is missing", "CSV"]),
    "no arm": (
        "",
        "family = 'table'\npath = 'rows.csv'",
        ROWS,
        ["noise.arm is missing", "the column that names the arm"],
    ),
    "missing file": (
        "",
        "family = 'table'\npath = 'nowhere.csv'\narm = 'who'",
        ROWS,
        ["noise.path = ", "nowhere.csv", "does not exist", "Give a CSV or Parquet file"],
    ),
    "wrong suffix": (
        "",
        "family = 'table'\npath = 'table.toml'\narm = 'who'",
        ROWS,
        ["noise.path = ", "table.toml", "must end in .csv or .parquet"],
    ),
    "arm column that is a metric": (
        "",
        "family = 'table'\npath = 'rows.csv'\narm = 'loss'",
        ROWS,
        ["arm = 'loss'", "must name another column than the metrics"],
    ),
    "missing arm column": (
        "",
        "family = 'table'\npath = 'rows.csv'\narm = 'whom'",
        ROWS,
        ["no column 'whom'", "who, loss, risk", "Did you mean 'who'?"],
    ),
    "missing metric column": (
        "",
        TABLE_NOISE,
        "who,loss,rsik\na,1,2\n",
        ["no column 'risk'", "who, loss, rsik", "Did you mean 'rsik'?"],
    ),
    "metrics without one that is used": (
        "metrics = ['loss', 'rsik']",
        TABLE_NOISE,
        ROWS,
        ["metric 'risk'", "metrics = ['loss', 'rsik']", "Did you mean 'rsik'?"],
    ),
    "text in a cell": (
        "",
        TABLE_NOISE,
        "who,loss,risk\na,1,2\nb,high,2\n",
        ["Column 'loss', row 2 = 'high'", "finite number", "Change it or drop the row"],
    ),
    "empty cell": (
        "",
        TABLE_NOISE,
        "who,loss,risk\na,1,\n",
        ["Column 'risk', row 1 = ''", "finite number", "Change it or drop the row"],
    ),
    "nan in a cell": (
        "",
        TABLE_NOISE,
        "who,loss,risk\na,nan,1\n",
        ["Column 'loss', row 1 = 'nan'", "finite number"],
    ),
    "inf in a cell": (
        "",
        TABLE_NOISE,
        "who,loss,risk\na,1,-inf\n",
        ["Column 'risk', row 1 = '-inf'", "finite number"],
    ),
    "short row": (
        "",
        TABLE_NOISE,
        "who,loss,risk\na,1\n",
        ["Column 'risk', row 1", "finite number"],
    ),
    "long row": ("", TABLE_NOISE, "who,loss,risk\na,1,2,3\n", ["row 1"]),
    "column named twice": ("", TABLE_NOISE, "who,loss,loss,risk\na,1,2,3\n", ["'loss'"]),
    "arm without a name": (
        "",
        TABLE_NOISE,
        "who,loss,risk\n ,1,2\n",
        ["Column 'who', row 1", "names no arm", "Fill it or drop the row"],
    ),
    "no rows": ("", TABLE_NOISE, "who,loss,risk\n", ["no rows", "'who'"]),
    "empty file": ("", TABLE_NOISE, "", ["no column 'who'"]),
    "open quote": ("", TABLE_NOISE, 'who,loss,risk\na,"1,2\n', ["rows.csv", "cannot be read"]),
    "arms with a table": (
        "",
        TABLE_NOISE + "\n[arms]\na = { mean = [1.0, 2.0] }",
        ROWS,
        ["arms must not be given with family = 'table'"],
    ),
    "covariance with a table": (
        "",
        TABLE_NOISE + "\ncovariance = [[1.0]]",
        ROWS,
        ["noise.covariance must not be given with family = 'table'"],
    ),
}


@pytest.mark.parametrize("case", BAD_TABLES)
def test_a_bad_table_is_refused(case: str, tmp_path: Path) -> None:
    top, noise, rows, words = BAD_TABLES[case]
    path = table_file(tmp_path, rows, top=top, noise=noise)
    refused(path, [f"{path}: ", *words])


@pytest.mark.parametrize(
    "content",
    [b"", b"garbage" * 30, b"PAR1" + b"\0" * 40 + b"PAR1"],
    ids=["empty", "garbage", "hollow"],
)
def test_a_corrupt_parquet_file_is_refused(content: bytes, tmp_path: Path) -> None:
    path = table_file(tmp_path, "", noise=TABLE_NOISE.replace("csv", "parquet"))
    (tmp_path / "rows.parquet").write_bytes(content)
    refused(path, ["noise.path = ", "rows.parquet", "not a Parquet file"])


def test_a_damaged_parquet_file_is_refused(tmp_path: Path) -> None:
    path = table_file(tmp_path, "", noise=TABLE_NOISE.replace("csv", "parquet"))
    table = tmp_path / "rows.parquet"
    parquet.write_table(pa.table({"who": ["a"], "loss": [1.0], "risk": [2.0]}), table)
    whole = table.read_bytes()
    half = len(whole) // 2
    table.write_bytes(whole[:half] + whole[half + 9 :])
    refused(path, ["noise.path = ", "rows.parquet", "Parquet"])


def test_a_csv_of_other_bytes_is_refused(tmp_path: Path) -> None:
    path = table_file(tmp_path, "")
    (tmp_path / "rows.csv").write_bytes(b"who,loss,risk\n\xff\xfe,1,2\n")
    refused(path, ["noise.path = ", "rows.csv", "cannot be read as CSV", "utf-8"])


def test_parquet_without_its_library_names_the_extra(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    path = table_file(tmp_path, "", noise=TABLE_NOISE.replace("csv", "parquet"))
    (tmp_path / "rows.parquet").write_bytes(b"PAR1")
    monkeypatch.setitem(sys.modules, "pyarrow", None)
    with pytest.raises(MissingExtraError, match=r"rows.parquet.*ringfence\[parquet\]"):
        Instance.load(path)


def test_a_table_is_grouped_by_arm(tmp_path: Path) -> None:
    instance = Instance.load(table_file(tmp_path, ROWS))
    assert instance.arms == ("a", "b")
    assert isinstance(instance.law, TableLaw)
    rows = instance.law.rows + instance.law.origin
    assert rows.tolist() == [[1.0, 0.5], [2.0, 0.0], [3.0, 4.0]]
    assert instance.law.starts.tolist() == [0, 2, 3]
    assert instance.means.tolist() == [[1.5, 0.25], [3.0, 4.0]]
    # Variances 1/4 and 0, 1/16 and 0: averaged over arms 1/8 and 1/32, so a = 4 and 16.
    assert instance.scales.tolist() == [2.0, 4.0]
    assert instance.upper_bound(1000) is None
    assert instance.lower_bound_rate is None


def test_a_table_is_oriented(tmp_path: Path) -> None:
    path = table_file(tmp_path, ROWS)
    text = path.read_text(encoding="utf-8")
    text = text.replace("minimize", "maximize").replace("<= 1.0", ">= 0.0")
    path.write_text(text, encoding="utf-8")
    instance = Instance.load(path)
    assert instance.means.tolist() == [[-1.5, -0.25], [-3.0, -4.0]]
    assert isinstance(instance.law, TableLaw)
    assert not np.signbit(instance.law.rows[1, 1])


def test_a_spreadsheet_byte_order_mark_is_no_part_of_a_name(tmp_path: Path) -> None:
    path = table_file(tmp_path, "\ufeff" + ROWS)
    assert Instance.load(path).arms == ("a", "b")


def test_the_path_is_relative_to_the_file(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    path = table_file(tmp_path, ROWS)
    (tmp_path / "elsewhere").mkdir()
    monkeypatch.chdir(tmp_path / "elsewhere")
    assert Instance.load(path).arms == ("a", "b")


def test_frames_and_files_give_the_same_instance(tmp_path: Path) -> None:
    columns = {"who": ["a", "b", "a"], "loss": [1.0, 3.0, 2.0], "risk": [0.5, 4.0, 0.0]}
    expected = Instance.load(table_file(tmp_path, ROWS))
    in_parquet = table_file(tmp_path, "", noise=TABLE_NOISE.replace("csv", "parquet"))
    parquet.write_table(pa.table(columns), tmp_path / "rows.parquet")
    same(Instance.load(in_parquet), expected)
    for frame in (pd.DataFrame(columns), pa.table(columns)):
        made = Instance.from_frame(
            frame,
            arm="who",
            objective="minimize mean(loss)",
            constraints=["mean(risk) <= 1.0"],
            name="table",
        )
        same(made, expected)


@pytest.mark.parametrize("make", [pd.DataFrame, pa.table])
def test_a_bad_frame_is_refused(make: Callable[[Content], Any]) -> None:
    good = {"who": ["a", "b"], "loss": [1.0, 2.0], "risk": [1.0, 2.0]}
    for change, words in (
        ({"loss": [1.0, None]}, ["Column 'loss', row 2", "finite number"]),
        ({"loss": [1.0, math.inf]}, ["Column 'loss', row 2", "finite number"]),
        ({"loss": [1.0, -1e61]}, ["Column 'loss', row 2 = -1e+61", "at most 1e+60 in size"]),
        ({"loss": ["x", "y"]}, ["Column 'loss', row 1 = 'x'", "finite number"]),
        ({"who": ["a", None]}, ["Column 'who', row 2", "names no arm"]),
    ):
        with pytest.raises(InputError) as caught:
            from_frame(make(good | change))
        for word in words:
            assert word in str(caught.value)
    with pytest.raises(InputError, match="no column 'risk'; it has who, loss, rsik"):
        from_frame(make({"who": ["a"], "loss": [1.0], "rsik": [1.0]}))


@pytest.mark.parametrize("frame", [None, 3, {"who": ["a"], "loss": [1.0], "risk": [2.0]}])
def test_what_is_no_frame_is_refused(frame: object) -> None:
    with pytest.raises(InputError, match="frame"):
        from_frame(frame)


def test_a_frame_may_have_columns_without_names() -> None:
    frame = pd.DataFrame({"who": ["a"], "loss": [1.0], 0: [1.0]})
    with pytest.raises(InputError, match="no column 'risk'"):
        from_frame(frame)


# ------------------------------------------------------------------ good content


def test_means_thresholds_and_covariance_are_oriented() -> None:
    instance = Instance.from_dict(
        changed(
            objective="maximize mean(loss)",
            constraints=["mean(risk) >= 0.5"],
            noise__covariance=[[4.0, 1.0], [1.0, 9.0]],
            arms={"one": {"mean": [1.0, 0.0]}, "two": {"mean": [-2.0, 3.0]}},
        )
    )
    assert instance.means.tolist() == [[-1.0, 0.0], [2.0, -3.0]]
    assert not np.signbit(instance.means[0, 1])
    assert instance.problem.thresholds.tolist() == [-0.5]
    assert_covariances(instance, [[[4.0, 1.0], [1.0, 9.0]]] * 2)
    assert_allclose(instance.scales, [math.sqrt(1 / 8), math.sqrt(1 / 18)], rtol=1e-15)


def test_one_turned_attribute_turns_the_correlation() -> None:
    instance = Instance.from_dict(changed(constraints=["mean(risk) >= 0.5"]))
    assert instance.means.tolist() == [[1.0, -0.95], [5.0, -0.001]]
    assert_covariances(instance, [[[1.0, -0.5], [-0.5, 1.0]]] * 2)


def test_an_arm_may_have_its_own_covariance() -> None:
    instance = Instance.from_dict(changed(arms__two__covariance=[[3.0, 0.0], [0.0, 7.0]]))
    assert_covariances(instance, [[[1.0, 0.5], [0.5, 1.0]], [[3.0, 0.0], [0.0, 7.0]]])
    assert_allclose(instance.scales**2, [1 / (2 * 2.0), 1 / (2 * 4.0)], rtol=1e-15)
    assert instance.upper_bound(10**9) is None
    assert instance.lower_bound_rate is None


def test_every_arm_may_have_its_own_covariance() -> None:
    own = {"covariance": [[1.0, 0.0], [0.0, 1.0]]}
    arms = {"one": {"mean": [1.0, 0.95], **own}, "two": {"mean": [2.0, 0.5], **own}}
    instance = Instance.from_dict(changed(noise={"family": "gaussian"}, arms=arms))
    assert_covariances(instance, [[[1.0, 0.0], [0.0, 1.0]]] * 2)
    assert instance.upper_bound(10**9) == pytest.approx(0.0)


def test_unused_metrics_are_dropped() -> None:
    instance = Instance.from_dict(
        changed(
            metrics=["risk", "spare", "loss"],
            noise__covariance=[[4.0, 0.3, 1.0], [0.3, 5.0, 0.2], [1.0, 0.2, 9.0]],
            arms={"one": {"mean": [0.5, 99.0, 1.0]}},
        )
    )
    assert instance.means.tolist() == [[1.0, 0.5]]
    assert_covariances(instance, [[[9.0, 1.0], [1.0, 4.0]]])


def test_an_unused_metric_of_another_family_leaves_a_gaussian_law() -> None:
    content = with_family(
        ["gaussian", "gaussian", "poisson"], 1.0, 0.5, 3.0, covariance=[[1.0, 0.5], [0.5, 1.0]]
    )
    instance = Instance.from_dict(content | {"metrics": ["loss", "risk", "spare"]})
    assert_covariances(instance, [[[1.0, 0.5], [0.5, 1.0]]])


def test_one_metric_may_serve_two_constraints() -> None:
    instance = Instance.from_dict(
        changed(constraints=["mean(risk) <= 1.0", "mean(risk) >= 0.25", "mean(loss) <= 3"])
    )
    assert instance.means.tolist() == [[1.0, 0.95, -0.95, 1.0], [5.0, 0.001, -0.001, 5.0]]
    assert instance.problem.thresholds.tolist() == [1.0, -0.25, 3.0]
    expected = [
        [1.0, 0.5, -0.5, 1.0],
        [0.5, 1.0, -1.0, 0.5],
        [-0.5, -1.0, 1.0, -0.5],
        [1.0, 0.5, -0.5, 1.0],
    ]
    assert_covariances(instance, [expected] * 2)


@pytest.mark.parametrize(
    ("family", "code", "mean", "constants"),
    [
        ("bernoulli", BERNOULLI, [0.25, 0.5], [2.0, 2.0]),
        ("poisson", POISSON, [4.0, 2.0], [1 / 8, 1 / 4]),
        ("exponential", EXPONENTIAL, [2.0, 1.0], [1 / 8, 1 / 2]),
    ],
)
def test_one_family_for_all_metrics(
    family: str, code: int, mean: list[float], constants: list[float]
) -> None:
    instance = Instance.from_dict(with_family(family, *mean))
    assert isinstance(instance.law, MixedLaw)
    assert instance.law.families.tolist() == [code, code]
    assert instance.law.factors.shape == (1, 2, 0)
    assert instance.means.tolist() == [mean]
    assert_allclose(instance.scales**2, constants, rtol=1e-15)


@pytest.mark.parametrize(("family", "mean"), [("bernoulli", [0.0, 1.0]), ("poisson", [0.0, 0.0])])
def test_means_on_the_edge_of_their_family_are_fine(family: str, mean: list[float]) -> None:
    assert Instance.from_dict(with_family(family, *mean)).means.tolist() == [mean]


def test_families_may_be_mixed() -> None:
    instance = Instance.from_dict(
        {
            "objective": "maximize mean(profit)",
            "constraints": ["mean(failed) <= 0.1", "mean(calls) <= 5", "mean(wait) <= 2"],
            "metrics": ["failed", "size", "calls", "profit", "wait"],
            "noise": {
                "family": ["bernoulli", "gaussian", "poisson", "gaussian", "exponential"],
                "covariance": [[9.0, 1.0], [1.0, 4.0]],
            },
            "arms": {"one": {"mean": [0.05, 7.0, 4.0, 3.0, 1.0]}},
        }
    )
    law = instance.law
    assert isinstance(law, MixedLaw)
    assert law.families.tolist() == [GAUSSIAN, BERNOULLI, POISSON, EXPONENTIAL]
    assert law.metric_means.tolist() == [[3.0, 0.05, 4.0, 1.0]]
    assert law.factors.tolist() == [[[2.0], [0.0], [0.0], [0.0]]]
    assert instance.means.tolist() == [[-3.0, 0.05, 4.0, 1.0]]
    assert_allclose(instance.scales**2, [1 / 8, 2.0, 1 / 8, 1 / 2], rtol=1e-15)


def test_correlated_gaussian_metrics_among_others() -> None:
    content = with_family(
        ["gaussian", "bernoulli", "gaussian"], 1.0, 0.5, 2.0, covariance=[[1.0, 0.5], [0.5, 1.0]]
    )
    content |= {"metrics": ["loss", "failed", "risk"]}
    content |= {"constraints": ["mean(risk) <= 1", "mean(failed) <= 0.1"]}
    law = Instance.from_dict(content).law
    assert isinstance(law, MixedLaw)
    assert_allclose(
        law.factors[0] @ law.factors[0].T, [[1.0, 0.5, 0.0], [0.5, 1.0, 0.0], [0.0, 0.0, 0.0]]
    )


def test_metrics_in_very_different_units_are_fine() -> None:
    """Positive definite is a claim about correlations: seconds beside bytes must not break it."""
    instance = Instance.from_dict(changed(noise__covariance=[[1e-8, 0.0], [0.0, 1e8]]))
    assert_covariances(instance, [[[1e-8, 0.0], [0.0, 1e8]]] * 2)


def test_whole_numbers_are_numbers() -> None:
    whole = changed(
        noise__covariance=[[1, 0], [0, 1]], arms={"one": {"mean": [1, 2]}, "two": {"mean": [3, 4]}}
    )
    assert Instance.from_dict(whole).means.tolist() == [[1.0, 2.0], [3.0, 4.0]]


def test_content_is_left_alone() -> None:
    content = copy.deepcopy(GOOD)
    Instance.from_dict(content)
    assert content == GOOD


PAPER = {
    "paper-1": (1.0, [[1.0, 0.95], [5.0, 0.001], [10.0, 0.001]]),
    "paper-2": (1.0, [[1.0, 0.995], [2.0, 1.005], [12.0, 0.001]]),
    "paper-3": (0.5, [[0.3, 0.45], [0.35, 0.45], [0.2, 0.8], [0.5, 0.8]]),
    "paper-4": (1.0, [[0.3, 1.6], [0.4, 1.7], [0.2, 1.1], [0.5, 1.2]]),
}


@pytest.mark.parametrize("name", PAPER_INSTANCES)
def test_the_papers_instances_have_the_papers_numbers(name: str) -> None:
    threshold, means = PAPER[name]
    instance = Instance.load(name)
    assert instance.name == name
    assert instance.arms == ("one", "two", "three", "four")[: len(means)]
    assert instance.means.tolist() == means
    assert instance.problem.thresholds.tolist() == [threshold]
    assert instance.problem.signs.tolist() == [1.0, 1.0]
    assert_covariances(instance, [[[1.0, 0.5], [0.5, 1.0]]] * len(means))
    assert_allclose(instance.scales, [math.sqrt(0.5)] * 2, rtol=1e-15)


def test_a_name_is_a_name_even_as_a_path() -> None:
    same(Instance.load(Path("paper-1")), Instance.load("paper-1"))


def test_a_file_may_carry_a_paper_instances_name(tmp_path: Path) -> None:
    path = tmp_path / "paper-1.toml"
    path.write_text(as_toml(GOOD), encoding="utf-8")
    assert len(Instance.load(path).arms) == 2


# ------------------------------------------------------------------ tools


def refused(path: Path, words: list[str]) -> None:
    with pytest.raises(InputError) as caught:
        Instance.load(path)
    for word in words:
        assert word in str(caught.value)


def from_frame(frame: object) -> Instance:
    return Instance.from_frame(
        frame, arm="who", objective="minimize mean(loss)", constraints=["mean(risk) <= 1.0"]
    )


def table_file(folder: Path, rows: str, *, top: str = "", noise: str = TABLE_NOISE) -> Path:
    (folder / "rows.csv").write_text(rows, encoding="utf-8")
    path = folder / "table.toml"
    path.write_text(TABLE_FILE.format(top=top, noise=noise), encoding="utf-8")
    return path


def assert_covariances(instance: Instance, expected: list[list[list[float]]]) -> None:
    law = instance.law
    assert isinstance(law, GaussianLaw)
    assert law.covariance.tolist() == expected
    assert_allclose(law.factors @ law.factors.transpose(0, 2, 1), expected, rtol=1e-12, atol=1e-15)


def same(first: Instance, second: Instance) -> None:
    """Check that two instances are equal, number by number."""
    assert first.name == second.name
    assert first.problem == second.problem
    assert first.arms == second.arms
    assert type(first.law) is type(second.law)
    left, right = vars(first.law), vars(second.law)
    assert left.keys() == right.keys()
    for key, value in left.items():
        assert np.array_equal(value, right[key]), key


def as_toml(content: Content) -> str:
    """Write content as TOML: inline tables below the top, so that any shape can be written."""
    return "".join(f"{key} = {_toml_value(value)}\n" for key, value in content.items())


def _toml_value(value: object) -> str:
    if isinstance(value, dict):
        inside = ", ".join(f"{json.dumps(key)} = {_toml_value(v)}" for key, v in value.items())
        return f"{{{inside}}}"
    if isinstance(value, list):
        return f"[{', '.join(map(_toml_value, value))}]"
    if isinstance(value, float):
        return repr(value)
    return json.dumps(value)


def test_paper_files_are_found_from_any_folder(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    shutil.copy(Path(__file__), tmp_path / "paper-1")  # a file of that name does not hide it
    monkeypatch.chdir(tmp_path)
    assert Instance.load("paper-1").arms == ("one", "two", "three")


def test_a_share_of_a_table_is_the_mean_of_an_indicator(tmp_path: Path) -> None:
    (tmp_path / "rows.csv").write_text(
        "arm,ms\n" + "".join(f"a,{ms}\n" for ms in (100, 150, 200, 900))
        + "".join(f"b,{ms}\n" for ms in (300, 301, 302, 303)),
        encoding="utf-8",
    )  # fmt: skip
    file = tmp_path / "study.toml"
    file.write_text(
        'objective = "minimize mean(ms)"\n'
        'constraints = ["share(ms >= 200) <= 0.5", "share(ms < 150) >= 0.2"]\n'
        '[noise]\nfamily = "table"\npath = "rows.csv"\narm = "arm"\n',
        encoding="utf-8",
    )
    instance = Instance.load(file)
    # On the threshold: two of a's four rows are 200 or more. Shares that must be large are turned.
    assert_allclose(instance.means, [[337.5, 0.5, -0.25], [301.5, 1.0, 0.0]])
    assert instance.hardness.feasible
    assert [arm.kind for arm in instance.hardness.arms] == ["optimal", "deceiver"]
