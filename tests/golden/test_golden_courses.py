"""Courses of simulations and of live studies are those that were kept, to the bit.

`make.py` wrote the files under kept/, from the code before a redesign of the inside; nothing but an
intended change of results changes them, in a commit of its own. Decisions and counts are compared
exactly everywhere. Floats are too, where arithmetic is that of the machine which wrote them:
`plain.py` says how that is known, and what is asked elsewhere.
"""

from pathlib import Path
from typing import Any

import pytest

import ringfence as rf
from tests.choosing import few_of
from tests.golden import cells, databases, make, playing, sets, studies, taking, theory
from tests.golden.plain import check, differences, is_exact, read
from tests.golden.worlds import WORLDS

QUICK_TOGETHER = ("compare",)
QUICK_RARE = ("splitting csr",)


def test_every_course_is_kept_and_every_kept_course_is_run() -> None:
    assert read("traces").keys() == WORLDS.keys()
    assert read("counts").keys() == cells.COUNTED.keys() | cells.TOGETHER.keys()
    assert read("rare").keys() == cells.RARE.keys()
    assert read("studies").keys() == studies.SCRIPTS.keys()
    assert read("gpu").keys() == {cell.key for cell in cells.ON_GPU}


@pytest.mark.parametrize("world", WORLDS)
def test_the_reference_engine_decides_as_it_did(world: str) -> None:
    check(cells.traced(world), "traces", world)


@pytest.mark.parametrize("key", few_of(list(cells.COUNTED), *(cell.key for cell in cells.QUICK)))
def test_compiled_kernels_count_what_they_did(key: str) -> None:
    check(cells.counted(cells.COUNTED[key]), "counts", key)


@pytest.mark.parametrize("key", few_of(list(cells.TOGETHER), *QUICK_TOGETHER))
def test_simulations_side_by_side_count_what_they_did(key: str) -> None:
    check(cells.TOGETHER[key](), "counts", key)


@pytest.mark.parametrize("key", few_of(list(cells.RARE), *QUICK_RARE))
def test_rare_errors_are_estimated_as_they_were(key: str) -> None:
    check(cells.rare(**cells.RARE[key]), "rare", key)


def test_gpus_count_what_they_did() -> None:
    pytest.importorskip("numba_cuda")
    for key, found in make.on_gpu().items():
        check(found, "gpu", key)


def test_rules_and_chances_are_what_they_were() -> None:
    found = theory.on_evidence()
    for key, one in found.items():
        check(one, "theory", key)
    ties = [
        one for one in found.values() if len(set(one["gaps"]["gaps"])) < len(one["gaps"]["gaps"])
    ]
    assert len(ties) > 20  # where a change of a comparison shows


def test_the_theory_of_all_worlds_is_what_it_was() -> None:
    for key, one in theory.of_worlds().items():
        check(one, "theory", key)


@pytest.mark.parametrize("name", studies.SCRIPTS)
def test_a_live_study_goes_as_it_went(name: str) -> None:
    check(studies.SCRIPTS[name]("memory://", name).facts(), "studies", name)


def test_sets_are_found_as_they_were() -> None:
    found = sets.courses()
    assert found.keys() == read("sets").keys()
    for key, one in found.items():
        check(one, "sets", key)
    sizes = {len(read("sets")[f"study by {policy}"]["set"]) for policy in sets.POLICIES}
    assert max(sizes) > 1


@pytest.mark.parametrize("source", databases.of_this_noise(), ids=lambda one: one.stem)
def test_a_kept_database_says_what_it_said(source: Path, tmp_path: Path) -> None:
    """An audit adds up again, to the bit: where arithmetic is another, sums may be too."""
    url, sound = databases.restored(source, tmp_path), is_exact("studies")
    for name in studies.KEPT_ON_DISK:
        study = rf.Study.load(name, storage=url)
        found = playing.Played.loaded(study, studies.near).facts(sound=sound)
        before = read("studies")[name]
        check({**found, "asked": before["asked"], "notes": before["notes"]}, "studies", name)


@pytest.mark.parametrize("source", databases.of_this_noise(), ids=lambda one: one.stem)
def test_a_study_of_a_kept_database_goes_on_as_it_went(source: Path, tmp_path: Path) -> None:
    study = rf.Study.load("stopped half way", storage=databases.restored(source, tmp_path))
    gone_on = read("studies")["stopped and gone on"]
    done = read("studies")["stopped half way"]["asked"]
    found = playing.Played.loaded(study, studies.near).go(most=3).facts(sound=is_exact("studies"))
    check({**found, "asked": done + found["asked"]}, "studies", "stopped and gone on")
    assert len(done) < len(gone_on["asked"])


@pytest.mark.parametrize("source", databases.of_other_noise(), ids=lambda one: one.stem)
def test_a_database_of_another_noise_is_sound_and_goes_on(source: Path, tmp_path: Path) -> None:
    """Its rounds cannot be chosen again; what was told adds up to the evidence as it was."""
    url, notes = databases.restored(source, tmp_path), list[str]()
    for name in studies.KEPT_ON_DISK:
        study = rf.Study.load(name, storage=url)
        audit = study.doctor()
        assert audit.problems == ()
        assert all("another edition of the noise" in note for note in audit.notes)
        notes += audit.notes
    assert notes
    study = rf.Study.load("stopped half way", storage=url)
    playing.Played.loaded(study, studies.near).go(most=3)
    assert study.status().finished
    assert study.doctor().problems == ()


def test_a_database_of_this_noise_was_kept() -> None:
    assert databases.of_this_noise()


def test_courses_cover_what_can_happen() -> None:
    """Every fate of an arm, every verdict and kind, doubts and flips are in some study."""
    verdicts: list[dict[str, Any]] = [
        one["verdict"] for one in read("studies").values() if one["verdict"] != "no answer"
    ]
    arms = [arm for one in verdicts for arm in one["arms"]]
    assert {arm["fate"] for arm in arms} == taking.FATES
    assert {one["verdict"] for one in verdicts} == {"feasible", "infeasible", "too-close-to-call"}
    assert {arm["kind"] for arm in arms} >= {
        "optimal", "feasible-suboptimal", "deceiver", "infeasible", "infeasible-suboptimal",
    }  # fmt: skip
    assert {doubt[0] for one in verdicts for doubt in one["doubts"]} == {"unseen", "failures"}
    assert any(one["flips"] for one in verdicts)
    assert any(one["exact"] for one in verdicts)
    assert any(one["brought"] for one in verdicts)


def test_what_differs_is_said() -> None:
    kept = {"a": [1, 0.5, "0x1.0000000000000p+0"]}
    assert list(differences(kept, kept, exactly=True)) == []
    near = {"a": [1, 0.5 + 2.0**-53, "0x1.0000000000001p+0"]}
    assert len(list(differences(near, kept, exactly=True))) == 2
    assert list(differences(near, kept, exactly=False)) == []
    assert not list(differences({"confidence": 0.9}, {"confidence": 0.91}, exactly=False))
    for other in ({"a": [2, 0.5, kept["a"][2]]}, {"a": [1.0, 0.5, kept["a"][2]]}, {"a": [1]}, {}):
        assert list(differences(other, kept, exactly=False))
