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

import yaml

from trivium.core.tables import read_json
from trivium.page.html import render

RESULTS = "results"  # the part that makes whatever no other part makes
FRONT = ("claim", "picture")  # one sentence with its verdict, and a picture that shows it


@dataclass(frozen=True)
class Section:
    """A section of an article.

    Attributes:
        title: its heading.
        folded: closed at first: what few readers look for.
        part: that makes it.
    """

    title: str
    folded: bool = False
    part: str = RESULTS


@dataclass(frozen=True)
class Article:
    """What the page says of a pipeline.

    Attributes:
        title: its heading; up to the colon its name in the list of sections.
        question: what it asks, for somebody who has read none of the papers.
        sections: by id, in their order.
        claim: the part that makes the sentence that stands first; `results` makes the picture beside it.
        families: parts that any number of members make, or none: then their sections are not there. Part → where
            `params.yaml` lists the members.
    """

    title: str
    question: str
    sections: Mapping[str, Section]
    claim: str = RESULTS
    families: Mapping[str, str] = field(default_factory=dict)

    @property
    def parts(self) -> list[str]:
        """Each once but families, in the order of their first sections."""
        return list(
            dict.fromkeys(section.part for section in self.sections.values() if section.part not in self.families)
        )

    def part_of(self, name: str) -> str:
        """The part that makes a section, `claim` or `picture`."""
        return {"claim": self.claim, "picture": RESULTS}.get(name) or self.sections[name].part


_CONTENTS = yaml.safe_load(Path(__file__).with_name("contents.yaml").read_text(encoding="utf-8"))
GLOSSARY: dict[str, str] = _CONTENTS["glossary"]  # short names that the pages use, in words
ARTICLES = {
    name: Article(**{**fields, "sections": {key: Section(**section) for key, section in fields["sections"].items()}})
    for name, fields in _CONTENTS["articles"].items()
}
# A part that a pipeline of another name makes.
OTHER_PIPELINES = {("kvqae", "construction"): "construction"}


def stage_of(article: str, part: str) -> str:
    """The stage that makes a part."""
    return f"{article}-page_{part}"


def read_articles(folder: Path, members: Mapping[str, Collection[str]]) -> list[dict[str, Any]]:
    """The articles as the page shows them: `{pipeline, title, question, world, claim, picture, sections, missing}`.

    A section, `{id, title, html, folded}`, says so where its part is not there, or has not written it, and what makes
    it; an article without any part is left out. `claim` and `picture` are HTML, None where their part is not there.
    `missing` are the stages of the parts that are not there; after a stage's name the sections that it has not written.

    Args:
        folder: of the parts.
        members: where families are listed → the members in use; what others have left is not shown.
    """
    articles = []
    for name, article in ARTICLES.items():
        parts = {part: _read(folder / name / f"{part}.json") for part in article.parts}
        missing = [part for part, made in parts.items() if made is None]
        there = {part: made for part, made in parts.items() if made is not None}
        if not there:
            continue
        unwritten: list[str] = []
        made: dict[str, str] = {key: html for part in there.values() for key, html in part["sections"].items()}
        for key, section in article.sections.items():
            if section.part in missing:
                pipeline = OTHER_PIPELINES.get((name, section.part))
                made[key] = render(
                    "absent.html", stage=stage_of(name, section.part), pipeline=pipeline, unwritten=False
                )
            elif section.part in article.families:
                files = (
                    folder / name / section.part / f"{member}.json"
                    for member in members.get(article.families[section.part], ())
                )
                if html := "".join(part["sections"][key] for part in map(_read, files) if part is not None):
                    made[key] = html
            elif key not in made:
                stage = stage_of(name, section.part)
                made[key] = render("absent.html", stage=stage, pipeline=None, unwritten=True)
                unwritten.append(f"{stage} ({section.title})")
        worlds = {part["world"] for part in there.values()}
        articles.append(
            {
                "pipeline": name,
                "title": article.title,
                "question": article.question,
                "world": "sample" if "sample" in worlds else min(worlds),
                **{first: made.get(first) for first in FRONT},
                "sections": [
                    {"id": f"{name}-{key}", "title": section.title, "folded": section.folded, "html": made[key]}
                    for key, section in article.sections.items()
                    if key in made
                ],
                "missing": [*(stage_of(name, part) for part in missing), *unwritten],
            }
        )
    return articles


def _read(file: Path) -> dict[str, Any] | None:
    """What a part wrote, or None."""
    made: dict[str, Any] | None = read_json(file) if file.exists() else None
    return made
