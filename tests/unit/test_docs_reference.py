"""The reference is whole: every key of a study file stands in its table."""

import re
from pathlib import Path

from ringfence.interfaces import study_file

PAGE = Path(__file__).parents[2] / "docs/reference/study-file.md"


def test_every_key_of_a_study_file_is_in_the_reference() -> None:
    page = PAGE.read_text("utf-8")
    opening, *parts = re.split(r"^##+ `\[(\w+)\]`", page, flags=re.MULTILINE)
    sections = {"": opening} | dict(zip(parts[::2], parts[1::2], strict=True))
    for table, keys in study_file._KEYS.items():
        if table == "table":  # written within one line of `pull`
            continue
        written = set(re.findall(r"^\| `(\w+)` \|", sections[table], flags=re.MULTILINE))
        elsewhere = {"pull", "noise", "blocks", "stop"} if not table else set()
        assert set(keys) - elsewhere == written, table
