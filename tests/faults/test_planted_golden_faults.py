"""Golden courses notice a fault of one character in a rule; without a fault they notice nothing."""

import pytest

from tests.faults.planting import Edit, planted_rules
from tests.golden.plain import differences, is_exact, plain, read

MOST_ARMS = 5  # of the kept evidence: enough to notice, and quick


def noticed(*edits: Edit) -> int:
    """Return how many of the kept courses on fixed evidence are others with the edits made."""
    found = planted_rules(*edits)["tests.golden.theory"].on_evidence(MOST_ARMS)
    kept, exactly = read("theory"), is_exact("theory")
    return sum(
        any(differences(plain(one), kept[key], exactly=exactly)) for key, one in found.items()
    )


def test_without_a_fault_every_course_is_as_it_was() -> None:
    assert noticed() == 0


@pytest.mark.parametrize(
    "edit",
    [
        Edit("core.gaps", "    if own_margin <= 0.0:\n", "    if own_margin < 0.0:\n"),
        Edit("core.urgency", "ALONE = 1.4", "ALONE = 2.4"),
        Edit("core.posterior", "SAFETY = 3.0", "SAFETY = 4.0"),
    ],
    ids=lambda edit: edit.room,
)
def test_a_fault_of_one_character_is_noticed(edit: Edit) -> None:
    assert noticed(edit) > 0
