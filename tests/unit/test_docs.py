"""The documents keep their promises: links lead somewhere, the skeleton policy works."""

import importlib.util
import math
import re
from pathlib import Path

import pytest

import ringfence as rf
from ringfence.policies.policy import PhasePolicy

ROOT = Path(__file__).parents[2]
PAGES = sorted(
    page
    for page in (*ROOT.glob("*.md"), *(ROOT / "docs").rglob("*.md"), *ROOT.glob("benchmarks/*.md"))
)


def skeleton() -> PhasePolicy:
    spec = importlib.util.spec_from_file_location("skeleton", ROOT / "docs/skeleton_policy.py")
    assert spec is not None
    assert spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    policy = module.POLICY
    assert isinstance(policy, PhasePolicy)
    return policy


@pytest.mark.parametrize("page", PAGES, ids=lambda page: page.relative_to(ROOT).as_posix())
def test_links_lead_to_files(page: Path) -> None:
    text = re.sub(r"^```.*?^```", "", page.read_text("utf-8"), flags=re.DOTALL | re.MULTILINE)
    links = re.findall(r"\]\(([^)#:]+)(?:#[^)]*)?\)", text)
    missing = [link for link in links if not (page.parent / link).exists()]
    assert missing == []


def test_every_policy_has_a_page() -> None:
    pages = {page.stem for page in (ROOT / "docs/policies").glob("*.md")}
    assert pages == {policy.name for policy in rf.POLICIES}


def test_the_readme_lists_every_policy() -> None:
    readme = (ROOT / "README.md").read_text("utf-8")
    for policy in rf.POLICIES:
        assert f"[`{policy.name}`]" in readme


def test_a_policy_from_outside_the_package_runs_compiled() -> None:
    """The skeleton drops the largest margin; while nothing looks feasible, so does the baseline."""
    first, ours = rf.compare(
        "paper-4",
        policies=["infeasible-first", skeleton()],
        budgets=[10_000],
        replications=200_000,
    )
    assert ours.result.policy == "skeleton"
    assert first.result.errors > 0
    assert ours.only_here_wrong + ours.only_first_wrong <= first.result.wrong_flag


def test_a_policy_from_outside_equals_its_reference_run() -> None:
    """Two samples of one error rate, two-sided at alpha = 1e-6."""
    compiled = rf.simulate("paper-4", skeleton(), budget=60, replications=20_000)
    plain = rf.simulate("paper-4", skeleton(), budget=60, replications=400, engine="reference")
    spread = math.hypot(compiled.std_error, plain.std_error)
    assert 0.01 < plain.error_rate < 0.99
    assert abs(compiled.error_rate - plain.error_rate) < 4.9 * spread
