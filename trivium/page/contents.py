"""What the page consists of: an article a pipeline, its sections in their order, and the part that makes each.

A part is a stage of its own, `{article}-page_{part}`, for the sections that read the same files. It writes
`{article}/{part}.json` by `write_part`; the shell, stage `report`, asks `read_articles` for those that exist. Of a part
that is a family each member writes `{article}/{part}/{member}.json`.
"""

from collections.abc import Collection, Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from trivium.core.errors import BadInput
from trivium.core.tables import read_json
from trivium.page.common import environment


@dataclass(frozen=True)
class Article:
    """What the page says of a pipeline.

    Attributes:
        title: its heading; up to the colon its name in the list of sections.
        question: what it asks, for somebody who has read none of the papers.
        front: the parts that make what stands first: the `claim`, one sentence with its verdict, and a `picture` that
            shows it.
        sections: id → title and part, in their order.
        folded: sections that are closed at first: what few readers look for.
        optional: sections that a part leaves out where there is nothing to show.
        families: parts that any number of members make, or none: then their sections are not there. Part → where
            `params.yaml` lists the members.
    """

    title: str
    question: str
    front: Mapping[str, str]
    sections: Mapping[str, tuple[str, str]]
    folded: frozenset[str] = frozenset()
    optional: frozenset[str] = frozenset()
    families: Mapping[str, str] = field(default_factory=dict)

    @property
    def parts(self) -> list[str]:
        """Each once but families, in the order of their first sections; on a GPU their stages run in this order."""
        return list(dict.fromkeys(part for _, part in self.sections.values() if part not in self.families))

    def made_by(self, part: str) -> set[str]:
        """What a part makes: sections, and what stands first."""
        return {name for name, (_, by) in self.sections.items() if by == part} | {
            name for name, by in self.front.items() if by == part
        }


ARTICLES = {
    "kvqae": Article(
        "KVQAE: answering questions about the named entity in an image",
        "Who is in this picture, and what do articles say about them?",
        {"claim": "retrieval", "picture": "gallery"},
        {
            "table-2": ("Table 2: first-stage retrieval, article level", "retrieval"),
            "table-3": ("Table 3: first-stage retrieval, passage level", "retrieval"),
            "table-4": ("Table 4: persons and non-persons", "retrieval"),
            "table-5": ("Table 5: re-ranking by the image, article level", "reranking"),
            "table-6": ("Table 6: re-ranking by text and image, passage level", "reranking"),
            "table-7": ("Table 7: reading", "reading"),
            "prompted": ("Models behind an endpoint", "prompted"),
            "figure-4": ("Figure 4: lexical overlap", "lexical_overlap"),
            "gallery": ("Figure 5: questions and their first results", "gallery"),
            "difficulty": ("What makes questions hard", "difficulty"),
            "overlap": ("Overlap with the encoders’ pretraining", "reranking"),
            "table-1": ("Table 1: the data set", "construction"),
            "construction": ("From TriviaQA to the data set", "construction"),
            "sizes": ("Sizes used", "sizes"),
        },
        frozenset({"table-2", "table-4", "table-5", "difficulty", "overlap", "table-1", "construction", "sizes"}),
        frozenset({"overlap"}),
        {"prompted": "kvqae.prompted_readers"},
    ),
    "decorrelation": Article(
        "Decorrelation: does image-text retrieval look at the image, or say what usually stands together",
        "Does a model look at the picture, or does it say what usually stands together?",
        {"claim": "findings", "picture": "gallery"},
        {
            "table-1": ("Table 1: who is fooled", "tables"),
            "findings": ("What it shows", "findings"),
            "gallery": ("Figure 3: gallery", "gallery"),
            "table-2": ("Table 2: retrieval", "tables"),
            "table-3": ("Table 3: text × image synthesis", "tables"),
            "figure-4": ("Figure 4: how much is needed", "tables"),
            "appendix-b": ("Appendix B: equal sizes", "tables"),
            "entities": ("Into KVQAE", "entities"),
            "classes": ("By removed class", "corpus"),
            "co-occurrence": ("What stands together", "corpus"),
            "removals": ("Removals", "corpus"),
            "sizes": ("Sizes used", "sizes"),
        },
        frozenset({"table-2", "table-3", "appendix-b", "entities", "classes", "co-occurrence", "removals", "sizes"}),
    ),
    "complexity": Article(
        "Complexity: which semantic factors make French reading comprehension hard",
        "What makes a question about a text hard, whichever model answers it?",
        {"claim": "factors", "picture": "examples"},
        {
            "table-1": ("Table 1: models", "models"),
            "figure-2": ("Figure 2: frames", "models"),
            "forest": ("All factors together", "factors"),
            "table-2": ("Table 2: what factors cost", "factors"),
            "examples": ("Examples", "examples"),
            "factors": ("Factors", "factors"),
            "findings": ("What it says", "factors"),
            "instrument": ("Does the analysis work?", "instrument"),
            "agreement": ("Do models agree?", "instrument"),
            "parsers": ("Frames and syntax", "parsers"),
            "partitions": ("Easiest to hardest", "partitions"),
            "illustrations": ("Hard and easy frames", "partitions"),
            "sizes": ("Sizes used", "sizes"),
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
    part is left out. `claim` and `picture` are HTML, None where their parts are not there; `missing` are the stages of
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
        there = [part for part in parts.values() if part is not None]
        if not there:
            continue
        sections = []
        for section, (title, part) in article.sections.items():
            if part in article.families:
                html = _members_html(
                    folder / name / part, article, part, section, members.get(article.families[part], ())
                )
            else:
                made = parts[part]
                html = _absent(name, part) if made is None else made["sections"].get(section)
            if html is not None:
                folded = section in article.folded
                sections.append({"id": f"{name}-{section}", "title": title, "html": html, "folded": folded})
        worlds = {part["world"] for part in there}
        world = "sample" if "sample" in worlds else min(worlds)
        missing = [stage_of(name, part) for part, made in parts.items() if made is None]
        front = {each: (parts[part] or {"sections": {}})["sections"].get(each) for each, part in article.front.items()}
        found.append(
            {
                "pipeline": name,
                "title": article.title,
                "question": article.question,
                "world": world,
                **front,
                "sections": sections,
                "missing": missing,
            }
        )
    return found


def _absent(article: str, part: str) -> str:
    """What stands in place of a section that is not there."""
    template = environment().get_template("absent.html")
    return template.render(stage=stage_of(article, part), pipeline=OTHER_PIPELINES.get((article, part)))


def _members_html(folder: Path, article: Article, part: str, section: str, members: Collection[str]) -> str | None:
    """What the members of a family have made of a section, in their order; None where nobody has."""
    made = [_read(folder / f"{member}.json", article, part) for member in members]
    return "".join(each["sections"][section] for each in made if each is not None) or None


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
