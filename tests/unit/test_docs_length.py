"""Pages stay short, and so do their sentences: what is longer belongs to reference or research."""

import re
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[2]
LONG_PAGES = ("docs/reference/", "docs/research/", "docs/policies/", "benchmarks/")
GROWING = ("CHANGELOG.md", "ARCHITECTURE.md")  # tables that are looked up
MOST_WORDS, MOST_IN_A_SENTENCE = 1500, 35
PAGES = [
    page
    for page in sorted((*ROOT.glob("*.md"), *(ROOT / "docs").rglob("*.md")))
    if not page.relative_to(ROOT).as_posix().startswith((*LONG_PAGES, "docs/_build/"))
]


def paragraphs(markdown: str) -> list[str]:
    """Return what is read as text: paragraphs, items of lists, cells of tables; no code."""
    text = re.sub(r"^[ ]*(```+|~~~+).*?^[ ]*\1[ ]*$", "\n", markdown, flags=re.S | re.M)
    text = re.sub(r"!\[[^\]]*\]\([^)]*\)|<[^>\n]*>", "", text)
    text = re.sub(r"\[([^\]]*)\]\([^)\s]*\)", r"\1", text)
    text = re.sub(r"`+[^`]*`+", "code", text)
    found: list[str] = [""]
    for line in (line.strip() for line in text.splitlines()):
        if line.startswith("|"):
            found += [*line.split("|"), ""]
        elif not line or line.startswith(("#", ":", ">")):  # ">": what a program said
            found.append("")
        elif mark := re.match(r"([-*]|\d+\.) ", line):
            found.append(line[mark.end() :])
        else:
            found[-1] += " " + line
    return [one for one in found if one.strip()]


def sentences(paragraph: str) -> list[str]:
    """Return the sentences of a paragraph: a colon ends none, and neither does "e.g. this"."""
    return re.split(r"(?<=[.!?])[\"')*]*\s+(?=[A-Z0-9\"'(*]|code\b)", paragraph.replace("**", ""))


def length(sentence: str) -> int:
    """Return the number of words."""
    return len([word for word in sentence.split() if re.search(r"\w", word)])


def too_long(markdown: str) -> list[str]:
    """Return the sentences that are longer than they may be."""
    found = [one for part in paragraphs(markdown) for one in sentences(part)]
    return [one.strip() for one in found if length(one) > MOST_IN_A_SENTENCE]


@pytest.mark.parametrize("page", PAGES, ids=lambda page: page.relative_to(ROOT).as_posix())
def test_a_page_can_be_read_at_a_sitting(page: Path) -> None:
    text = page.read_text("utf-8")
    if page.name not in GROWING:
        assert len(text.split()) <= MOST_WORDS
    assert too_long(text) == []


def test_the_count_is_awake() -> None:
    words = " ".join(["word"] * 35)
    assert too_long(f"# A title\n\n{words}.\n\n- {words}.\n") == []
    assert too_long(f"One {words}. Short.\n") == [f"One {words}."]
    assert too_long(f"- One\n  {words}\n") == [f"One {words}"]
    assert too_long(f"| a | One {words} |\n") == [f"One {words}"]
    assert too_long(f"```text\nOne {words}\n```\n[{words}](a.md) `{words}`.\n") == [
        f"{words} code."
    ]
    assert too_long(f"Half `x. y` {words[:60]}. The other {words[:60]}.\n") == []


def test_errors_say_what_to_write_and_not_to_mend() -> None:
    found = [
        f"{path.relative_to(ROOT)}: {line.strip()}"
        for path in (*(ROOT / "src").rglob("*.py"), *PAGES)
        for line in path.read_text("utf-8").splitlines()
        if re.search(r"\bmend(s|ed|ing)?\b", line, re.IGNORECASE)
    ]
    assert found == []
