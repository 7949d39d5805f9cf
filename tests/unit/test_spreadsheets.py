"""Tables in CSV: no text is a formula to a spreadsheet, and all of it reads back as it was."""

import csv
import io
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

import ringfence as rf
from ringfence.core.spreadsheets import inert, meant
from ringfence.reports.tables import table_bytes, write_table
from ringfence.simulation.tables import read_columns

EVIL = ["=cmd|' /C calc'!A0", "+1+1", "-2+3", "@SUM(A1)", "\t=1", "\r=1", "'=1", "''@x", "\uff1d1"]
PLAIN = ["plain", "a=b", "'quoted'", "", "1-2", "it's", "'"]
COLUMNS: dict[str, list[Any]] = {
    "=metric": [-1.5, float("nan")],
    "arm": ["=A1", "plain"],
    "pull": [1, -2],
}


def rows_of(text: bytes) -> list[list[str]]:
    return list(csv.reader(io.StringIO(text.decode(), newline="")))


@pytest.mark.parametrize("text", EVIL)
def test_a_text_that_begins_like_a_formula_is_made_one_no_longer(text: str) -> None:
    assert inert(text) == f"'{text}"
    assert meant(inert(text)) == text


@pytest.mark.parametrize("text", PLAIN)
def test_any_other_text_stays_as_it_is(text: str) -> None:
    assert inert(text) == meant(text) == text


@pytest.mark.parametrize("number", [-1.5, -3, 0, 1e-300, None, True])
def test_numbers_stay_numbers(number: object) -> None:
    assert inert(number) is number
    assert meant(number) is number


@given(st.text(alphabet="'=+-@\t\r\nab ", max_size=8))
def test_what_is_written_reads_back(text: str) -> None:
    assert meant(inert(text)) == text
    assert inert(text)[:1] not in {*"=+-@\t\r\n"} - {""}


def test_columns_and_cells_of_a_table_are_inert_and_numbers_as_they_were() -> None:
    names, first, second = rows_of(table_bytes("csv", COLUMNS))
    assert names == ["'=metric", "arm", "pull"]
    assert first == ["-1.5", "'=A1", "1"]
    assert second == ["nan", "plain", "-2"]


def test_other_formats_hold_text_as_it_is(tmp_path: Path) -> None:
    from pyarrow import parquet

    write_table(tmp_path / "all.parquet", COLUMNS)
    assert parquet.read_table(tmp_path / "all.parquet").column_names == list(COLUMNS)
    found = parquet.read_table(tmp_path / "all.parquet")["arm"].to_pylist()
    assert found == COLUMNS["arm"]


def test_an_export_replays_under_the_names_that_it_came_from(tmp_path: Path) -> None:
    study = rf.Study.create(
        "evil", arms=[*EVIL[:1], EVIL[3], "plain"], objective="maximize mean(score)",
        constraints=["mean(score) <= 90"], budget=60, storage="memory://", policy="uniform", seed=3,
    )  # fmt: skip
    study.optimize(lambda arm, seed: {"score": len(arm) + np.sin(seed)})
    write_table(tmp_path / "log.csv", study.observations())
    raw = rows_of((tmp_path / "log.csv").read_bytes())
    assert not [cell for row in raw for cell in row if cell.startswith(("=", "@", "+"))]
    assert read_columns(tmp_path / "log.csv", ["arm", "score"]) == {
        "arm": study.observations()["arm"],
        "score": [str(value) for value in study.observations()["score"]],
    }
