"""What the page consists of: an article a pipeline, its sections in their order, and the part that makes each.

A part is a stage, `{article}-page_{part}`. One, `results`, makes nearly all sections of a pipeline; what stands there
early, or what another pipeline or nobody may run, is a part of its own. It writes `{article}/{part}.json` by
`write_part`; the shell, stage `report`, asks `read_articles` for those that exist. Of a part that is a family each
member writes `{article}/{part}/{member}.json`.
"""

from collections.abc import Collection, Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from trivium.core.errors import BadInput
from trivium.core.tables import read_json
from trivium.page.html import render

RESULTS = "results"  # the part that makes whatever no other part makes
FRONT = frozenset({"claim", "picture"})  # one sentence with its verdict, and a picture that shows it


@dataclass(frozen=True)
class Article:
    """What the page says of a pipeline.

    Attributes:
        title: its heading; up to the colon its name in the list of sections.
        question: what it asks, for somebody who has read none of the papers.
        sections: id → title, in their order.
        folded: sections that are closed at first: what few readers look for.
        others: sections, and what stands first, that another part than `results` makes → that part.
        optional: sections that a part leaves out where there is nothing to show.
        families: parts that any number of members make, or none: then their sections are not there. Part → where
            `params.yaml` lists the members.
    """

    title: str
    question: str
    sections: Mapping[str, str]
    folded: frozenset[str]
    others: Mapping[str, str] = field(default_factory=dict)
    optional: frozenset[str] = frozenset()
    families: Mapping[str, str] = field(default_factory=dict)

    @property
    def parts(self) -> list[str]:
        """Each once but families, in the order of their first sections."""
        return list(dict.fromkeys(part for part in map(self.part_of, self.sections) if part not in self.families))

    def part_of(self, section: str) -> str:
        """The part that makes a section, or what stands first."""
        return self.others.get(section, RESULTS)

    def made_by(self, part: str) -> set[str]:
        """What a part makes: sections, and what stands first."""
        return {name for name in (*self.sections, *FRONT) if self.part_of(name) == part}


ARTICLES = {
    "kvqae": Article(
        "KVQAE: answering questions about the named entity in an image",
        "Who is in this picture, and what do articles say about them?",
        {
            "table-2": "Table 2: first-stage retrieval, article level",
            "table-3": "Table 3: first-stage retrieval, passage level",
            "table-4": "Table 4: persons and non-persons",
            "table-5": "Table 5: re-ranking by the image, article level",
            "table-6": "Table 6: re-ranking by text and image, passage level",
            "table-7": "Table 7: reading",
            "prompted": "Models behind an endpoint",
            "figure-4": "Figure 4: lexical overlap",
            "gallery": "Figure 5: questions and their first results",
            "difficulty": "What makes questions hard",
            "overlap": "Overlap with the encoders’ pretraining",
            "table-1": "Table 1: the data set",
            "construction": "From TriviaQA to the data set",
            "sizes": "Sizes used",
        },
        frozenset({"table-2", "table-4", "table-5", "difficulty", "overlap", "table-1", "construction", "sizes"}),
        {
            **dict.fromkeys(("claim", "table-2", "table-3", "table-4"), "retrieval"),
            **dict.fromkeys(("table-1", "construction"), "construction"),
            "prompted": "prompted",
        },
        frozenset({"overlap"}),
        {"prompted": "kvqae.prompted_readers"},
    ),
    "decorrelation": Article(
        "Decorrelation: does image-text retrieval look at the image, or say what usually stands together",
        "Does a model look at the picture, or does it say what usually stands together?",
        {
            "table-1": "Table 1: who is fooled",
            "findings": "What it shows",
            "gallery": "Figure 3: gallery",
            "table-2": "Table 2: retrieval",
            "table-3": "Table 3: text × image synthesis",
            "figure-4": "Figure 4: how much is needed",
            "appendix-b": "Appendix B: equal sizes",
            "entities": "Into KVQAE",
            "classes": "By removed class",
            "co-occurrence": "What stands together",
            "removals": "Removals",
            "sizes": "Sizes used",
        },
        frozenset({"table-2", "table-3", "appendix-b", "entities", "classes", "co-occurrence", "removals", "sizes"}),
        {"entities": "entities"},
    ),
    "complexity": Article(
        "Complexity: which semantic factors make French reading comprehension hard",
        "What makes a question about a text hard, whichever model answers it?",
        {
            "table-1": "Table 1: models",
            "figure-2": "Figure 2: frames",
            "forest": "All factors together",
            "table-2": "Table 2: what factors cost",
            "examples": "Examples",
            "factors": "Factors",
            "findings": "What it says",
            "instrument": "Does the analysis work?",
            "agreement": "Do models agree?",
            "parsers": "Frames and syntax",
            "partitions": "Easiest to hardest",
            "illustrations": "Hard and easy frames",
            "sizes": "Sizes used",
        },
        frozenset(
            {"factors", "findings", "instrument", "agreement", "parsers", "partitions", "illustrations", "sizes"}
        ),
    ),
}
# A part that a pipeline of another name makes.
OTHER_PIPELINES = {("kvqae", "construction"): "construction"}


def stage_of(article: str, part: str) -> str:
    """The stage that makes a part."""
    return f"{article}-page_{part}"


def read_articles(folder: Path, members: Mapping[str, Collection[str]]) -> list[dict[str, Any]]:
    """The articles as the page shows them: `{pipeline, title, question, world, claim, picture, sections, missing}`.

    A section, `{id, title, html, folded}`, whose part is not there says so, and what makes it; an article without any
    part is left out. `claim` and `picture` are HTML, None where their part is not there; `missing` are the stages of
    the parts that are not there.

    Args:
        folder: of the parts.
        members: where families are listed → the members in use; what others have left is not shown.

    Raises:
        BadInput: a part lacks a section, has one that the page does not know, or is none.
    """
    found = []
    for name, article in ARTICLES.items():
        parts = {part: _read(folder / name / f"{part}.json", article, part) for part in article.parts}
        worlds = {part["world"] for part in parts.values() if part is not None}
        if not worlds:
            continue
        sections = []
        for section, title in article.sections.items():
            part = article.part_of(section)
            if part in article.families:
                files = [folder / name / part / f"{member}.json" for member in members.get(article.families[part], ())]
                made = [_read(file, article, part) for file in files]
                html = "".join(member["sections"][section] for member in made if member is not None) or None
            elif (there := parts[part]) is not None:
                html = there["sections"].get(section)
            else:
                pipeline = OTHER_PIPELINES.get((name, part))
                html = render("absent.html", stage=stage_of(name, part), pipeline=pipeline)
            if html is not None:
                folded = section in article.folded
                sections.append({"id": f"{name}-{section}", "title": title, "html": html, "folded": folded})
        first = {key: (parts[article.part_of(key)] or {"sections": {}})["sections"].get(key) for key in FRONT}
        found.append(
            {
                "pipeline": name,
                "title": article.title,
                "question": article.question,
                "world": "sample" if "sample" in worlds else min(worlds),
                **first,
                "sections": sections,
                "missing": [stage_of(name, part) for part, made in parts.items() if made is None],
            }
        )
    return found


def _read(file: Path, article: Article, part: str) -> dict[str, Any] | None:
    """What a part wrote, or None."""
    if not file.exists():
        return None
    made = read_json(file)
    if not isinstance(made, dict) or set(made) != {"world", "sections"}:
        raise BadInput("not a part of the page", file=file, expected="world and sections")
    wanted = article.made_by(part)
    if missing := wanted - article.optional - set(made["sections"]):
        raise BadInput("a part of the page lacks sections", file=file, got=sorted(missing))
    if unknown := set(made["sections"]) - wanted:
        raise BadInput("no such section of this part", file=file, got=sorted(unknown), choices=sorted(wanted))
    return made
