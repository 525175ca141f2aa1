"""What the page consists of: an article a pipeline, its sections in their order, and the part that makes each.

A part is a stage of its own, `{article}-page_{part}`, for the sections that read the same files. It writes
`{article}/{part}.json` by `write_part`; the shell, stage `report`, asks `read_articles` for those that exist.
"""

from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from trivium.errors import BadInput
from trivium.files.tables import read_json
from trivium.page.common import environment


@dataclass(frozen=True)
class Article:
    """What the page says of a pipeline.

    Attributes:
        title: its heading; up to the colon its name in the list of sections.
        sections: id → title and part, in their order.
        optional: sections that a part leaves out where there is nothing to show.
    """

    title: str
    sections: Mapping[str, tuple[str, str]]
    optional: frozenset[str] = frozenset()

    @property
    def parts(self) -> list[str]:
        """Each once, in the order of the first section that it makes."""
        return list(dict.fromkeys(part for _, part in self.sections.values()))


ARTICLES = {
    "kvqae": Article(
        "KVQAE: answering questions about the named entity in an image",
        {
            "table-1": ("Table 1: the data set", "construction"),
            "construction": ("From TriviaQA to the data set", "construction"),
            "table-2": ("Table 2: first-stage retrieval, article level", "retrieval"),
            "table-3": ("Table 3: first-stage retrieval, passage level", "retrieval"),
            "table-4": ("Table 4: persons and non-persons", "retrieval"),
            "table-5": ("Table 5: re-ranking by the image, article level", "reranking"),
            "table-6": ("Table 6: re-ranking by text and image, passage level", "reranking"),
            "overlap": ("Overlap with the encoders’ pretraining", "reranking"),
            "table-7": ("Table 7: reading", "reading"),
            "figure-4": ("Figure 4: lexical overlap", "lexical_overlap"),
            "gallery": ("Figure 5: questions and their first results", "gallery"),
            "difficulty": ("What makes questions hard", "difficulty"),
            "sizes": ("Sizes used", "sizes"),
        },
        frozenset({"overlap"}),
    ),
    "decorrelation": Article(
        "Decorrelation: does image-text retrieval look at the image, or say what usually stands together",
        {
            "table-1": ("Table 1: who is fooled", "tables"),
            "findings": ("What it shows", "findings"),
            "table-2": ("Table 2: retrieval", "tables"),
            "gallery": ("Figure 3: gallery", "gallery"),
            "table-3": ("Table 3: text × image synthesis", "tables"),
            "figure-4": ("Figure 4: how much is needed", "tables"),
            "appendix-b": ("Appendix B: equal sizes", "tables"),
            "entities": ("Into KVQAE", "entities"),
            "classes": ("By removed class", "corpus"),
            "co-occurrence": ("What stands together", "corpus"),
            "removals": ("Removals", "corpus"),
            "sizes": ("Sizes used", "sizes"),
        },
    ),
    "complexity": Article(
        "Complexity: which semantic factors make French reading comprehension hard",
        {
            "table-1": ("Table 1: models", "models"),
            "figure-2": ("Figure 2: frames", "models"),
            "factors": ("Factors", "factors"),
            "table-2": ("Table 2: what factors cost", "factors"),
            "findings": ("What it says", "factors"),
            "forest": ("All factors together", "factors"),
            "instrument": ("Does the analysis work?", "instrument"),
            "agreement": ("Do models agree?", "instrument"),
            "parsers": ("Frames and syntax", "parsers"),
            "partitions": ("Easiest to hardest", "partitions"),
            "illustrations": ("Hard and easy frames", "partitions"),
            "examples": ("Examples", "examples"),
            "sizes": ("Sizes used", "sizes"),
        },
    ),
}
# A part that a pipeline of another name makes.
OTHER_PIPELINES = {("kvqae", "construction"): "construction"}


def stage_of(article: str, part: str) -> str:
    """The stage that makes a part."""
    return f"{article}-page_{part}"


def read_articles(folder: Path) -> list[dict[str, Any]]:
    """The articles as the page shows them: `{pipeline, title, world, sections: [{id, title, html}], missing}`.

    A section whose part is not there says so, and what makes it; an article without any part is left out. `missing` are
    the stages of the parts that are not there.

    Raises:
        BadInput: a part lacks a section, has one that the page does not know, or is none.
    """
    found = []
    for name, article in ARTICLES.items():
        parts = {part: _read(folder / name / f"{part}.json", article, part) for part in article.parts}
        there = [part for part in parts.values() if part is not None]
        if not there:
            continue
        sections = []
        for section, (title, part) in article.sections.items():
            made = parts[part]
            html = _absent(name, part) if made is None else made["sections"].get(section)
            if html is not None:
                sections.append({"id": f"{name}-{section}", "title": title, "html": html})
        worlds = {part["world"] for part in there}
        world = "sample" if "sample" in worlds else min(worlds)
        missing = [stage_of(name, part) for part, made in parts.items() if made is None]
        found.append({"pipeline": name, "title": article.title, "world": world, "sections": sections})
        found[-1]["missing"] = missing
    return found


def _absent(article: str, part: str) -> str:
    """What stands in place of a section that is not there."""
    template = environment().get_template("absent.html")
    return template.render(stage=stage_of(article, part), pipeline=OTHER_PIPELINES.get((article, part)))


def _read(file: Path, article: Article, part: str) -> dict[str, Any] | None:
    """What a part wrote, or None."""
    if not file.exists():
        return None
    made = read_json(file)
    if not isinstance(made, dict) or set(made) != {"world", "sections"}:
        raise BadInput("not a part of the page", file=file, expected="world and sections")
    wanted = {section for section, (_, by) in article.sections.items() if by == part}
    if missing := wanted - article.optional - set(made["sections"]):
        raise BadInput("a part of the page lacks sections", file=file, got=sorted(missing))
    if unknown := set(made["sections"]) - wanted:
        raise BadInput("no such section of this part", file=file, got=sorted(unknown), choices=sorted(wanted))
    return made
