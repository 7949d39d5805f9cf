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


def test_the_reference_has_every_policy_in_its_table_and_in_its_tree() -> None:
    page = (ROOT / "docs/reference/policies.md").read_text("utf-8")
    for policy in rf.POLICIES:
        assert f"| [`{policy.name}`](../policies/{policy.name}.md) |" in page
        assert f"\n../policies/{policy.name}\n" in page


def test_the_readme_can_be_read_at_a_sitting() -> None:
    readme = (ROOT / "README.md").read_text("utf-8")
    assert len(readme.splitlines()) <= 120
    assert len(readme.split()) <= 900
    twelve = readme.partition("```python\n")[2].partition("```")[0]
    assert len([line for line in twelve.splitlines() if line.strip()]) == 12


def test_what_is_said_of_a_case_elsewhere_is_what_its_page_says() -> None:
    page = (ROOT / "docs/cases/incentives.md").read_text("utf-8")
    needed = {
        policy: re.findall(rf"^\| `{policy}` .*\| ([\d,]+) \([^|]*\) \|$", page, re.MULTILINE)[0]
        for policy in ("top-two", "uniform")
    }
    ours, equal = needed["top-two"], needed["uniform"]
    for name, said in (
        ("README.md", rf"{ours} draws were right as often as\s+{equal} in equal shares"),
        ("docs/howto/simulating.md", rf"with {ours} pulls; uniform needs {equal} "),
        ("docs/cases/README.md", rf"\| {ours} and {equal} \|"),
    ):
        assert re.search(said, (ROOT / name).read_text("utf-8")), name


def test_every_page_is_in_a_tree_of_contents() -> None:
    """A page that no tree names is a warning, and so an error, where the site is built."""
    written = [ROOT / "docs/index.md"]
    reached = set()
    while written:
        page = written.pop()
        reached.add(page)
        trees = re.findall(r"```\{toctree\}\n(.*?)```", page.read_text("utf-8"), flags=re.DOTALL)
        for name in (line for tree in trees for line in tree.splitlines() if line[:1] not in ":"):
            written += [at for at in page.parent.glob(f"{name}.md") if at.resolve() not in reached]
        reached |= {page.resolve()}
    pages = {page.resolve() for page in PAGES if page.is_relative_to(ROOT / "docs")}
    assert {page.relative_to(ROOT).as_posix() for page in pages - reached} == set()


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
