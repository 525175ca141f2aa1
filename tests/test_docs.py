"""What docstrings cite as `kvqae.md §2` is there: docs/kvqae.md has a section of that number."""

import re
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[1]
CITED = re.compile(r"\b(kvqae|decorrelation|complexity)\.md((?:,? (?:and )?§\d+(?:(?:–|, )\d+)*)*)")
NUMBERS = re.compile(r"(\d+)(?:–(\d+))?")  # §5–6, §2, 3
WHERE = [
    *(file for folder in ("stages", "bench", "tests") for file in (ROOT / folder).rglob("*.py")),
    *(ROOT / "stages").rglob("*.yaml"),
    *(ROOT / "docs").glob("*.md"),
    *(ROOT / "scales").glob("*.yaml"),
    *(ROOT / name for name in ("README.md", "params.yaml", "dvc.yaml")),
]


def citations() -> list[tuple[str, str, int]]:
    """(file, page, section) of every citation; a range cites all its sections."""
    found = []
    for file in WHERE:
        for page, sections in CITED.findall(" ".join(file.read_text(encoding="utf-8").split())):
            for first, last in NUMBERS.findall(sections):
                place = str(file.relative_to(ROOT))
                found += [(place, page, section) for section in range(int(first), int(last or first) + 1)]
    return found


def test_every_cited_section_is_there():
    cited = citations()
    assert len(cited) > 200
    pages = {page: (ROOT / "docs" / f"{page}.md").read_text(encoding="utf-8") for _, page, _ in cited}
    headings = {page: set(map(int, re.findall(r"^## §(\d+) ", text, re.MULTILINE))) for page, text in pages.items()}
    assert [each for each in cited if each[2] not in headings[each[1]]] == []


@pytest.mark.parametrize("page", sorted((ROOT / "docs").glob("*.md")), ids=lambda page: page.name)
def test_files_that_a_page_names_exist(page):
    text = page.read_text(encoding="utf-8")
    named = set(re.findall(r"`((?:stages|tests|scales|docs|bench)/[\w./-]+\.(?:py|yaml|md))`", text))
    assert sorted(name for name in named if not (ROOT / name).exists()) == []
