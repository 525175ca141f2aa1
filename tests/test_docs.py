"""What docstrings cite as `kvqae.md §2` is there, and what README and docs link to; README fits a first screen."""

import re
from pathlib import Path

import pytest

from trivium.commands.cli import COMMANDS

ROOT = Path(__file__).parents[1]
CITED = re.compile(r"\b(kvqae|decorrelation|complexity)\.md((?:,? (?:and )?§\d+(?:(?:–|, )\d+)*)*)")
NUMBERS = re.compile(r"(\d+)(?:–(\d+))?")  # §5–6, §2, 3
WHERE = [
    *(file for folder in ("stages", "trivium", "sample", "bench", "tests") for file in (ROOT / folder).rglob("*.py")),
    *(file for folder in ("trivium", "sample") for file in (ROOT / folder).rglob("*.yaml")),
    *(ROOT / "docs").rglob("*.md"),
    *(ROOT / "scales").glob("*.yaml"),
    *(ROOT / name for name in ("README.md", "params.yaml", "dvc.yaml")),
]
PAGES = [ROOT / "README.md", ROOT / "CONTRIBUTING.md", *sorted((ROOT / "docs").rglob("*.md"))]
LINK = re.compile(r"\]\(([^)\s#]*)(?:#([^)\s]*))?\)")
FENCED = re.compile(r"^```.*?^```", re.MULTILINE | re.DOTALL)
CONSOLE = re.compile(r"^```console\n(.*?)^```", re.MULTILINE | re.DOTALL)
README_BYTES = 8192


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


@pytest.mark.parametrize("page", sorted((ROOT / "docs").rglob("*.md")), ids=lambda page: page.name)
def test_files_that_a_page_names_exist(page):
    text = page.read_text(encoding="utf-8")
    named = set(re.findall(r"`((?:stages|trivium|sample|tests|scales|docs|bench)/[\w./-]+\.(?:py|yaml|md))`", text))
    assert sorted(name for name in named if not (ROOT / name).exists()) == []


def anchors(page: Path) -> set[str]:
    """The anchors that GitHub gives to a page's headings: small letters, digits, `-` and `_`."""
    headings = re.findall(r"^#+ (.*)$", FENCED.sub("", page.read_text(encoding="utf-8")), re.MULTILINE)
    return {re.sub(r"[^\w\- ]", "", heading.lower()).replace(" ", "-") for heading in headings}


@pytest.mark.parametrize("page", PAGES, ids=lambda page: page.name)
def test_relative_links_resolve(page):
    broken = []
    for target, anchor in LINK.findall(FENCED.sub("", page.read_text(encoding="utf-8"))):
        if target.startswith(("http://", "https://")):
            continue
        file = page.parent / target if target else page
        if not file.exists() or (anchor and anchor not in anchors(file)):
            broken.append(f"{target}#{anchor}" if anchor else target)
    assert broken == []


def test_a_link_to_a_heading_is_checked(tmp_path):
    page = tmp_path / "page.md"
    page.write_text("# What *sees* an edit, `code`?\n```\n# no heading\n```\n## §8 Public sources\n", encoding="utf-8")
    assert anchors(page) == {"what-sees-an-edit-code", "8-public-sources"}


def test_commands_that_pages_show_are_there():
    blocks = [block for page in PAGES for block in CONSOLE.findall(page.read_text(encoding="utf-8"))]
    shown = re.sub(r"(^|\s)#.*", "", "".join(blocks))
    targets = set(re.findall(r"^([a-z-]+):", (ROOT / "Makefile").read_text(encoding="utf-8"), re.MULTILINE))
    asked, called = (set(re.findall(rf"\b{tool} ([a-z-]+)", shown)) for tool in ("make", "python -m trivium"))
    assert len(asked) > 10
    assert len(called) > 5
    assert sorted(asked - targets) == []
    assert sorted(called - set(COMMANDS)) == []
    scales = set(re.findall(r"\bS=(\w+)", shown))
    assert sorted(name for name in scales if not (ROOT / "scales" / f"{name}.yaml").is_file()) == []


def test_readme_is_short():
    assert (ROOT / "README.md").stat().st_size <= README_BYTES


def test_index_lists_every_page():
    index = (ROOT / "docs" / "README.md").read_text(encoding="utf-8")
    docs = ROOT / "docs"
    pages = [page.relative_to(docs).as_posix() for page in docs.rglob("*.md") if page != docs / "README.md"]
    assert [name for name in pages if index.count(f"- [{name}]({name}): ") != 1] == []
