"""What the page consists of: an article a pipeline, its sections in their order, the part that makes each, its frame.

A part is a stage, `{article}-page_{part}`. One, `results`, makes nearly all sections of a pipeline; what stands there
early, or what another pipeline or nobody may run, is a part of its own. It writes `{article}/{part}.json` by
`write_part`; of a family of parts each member writes `{article}/{part}/{member}.json`.
"""

import platform
import re
from collections.abc import Collection, Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from trivium.core.arithmetic import CPUINFO, Portable
from trivium.core.parameters import read_beside
from trivium.core.tables import read_json
from trivium.page.html import render

RESULTS = "results"  # the part that makes whatever no other part makes
FRONT = ("claim", "picture")  # one sentence with its verdict, and a picture that shows it


@dataclass(frozen=True)
class Article:
    """What the page says of a pipeline, see `contents.yaml`."""

    title: str  # up to the colon its name in the list of pages
    question: str  # for somebody who has read none of the papers
    sections: Mapping[str, Mapping[str, Any]]  # by id, in their order: `title`, and where not usual `folded`, `part`
    claim: str = RESULTS  # the part that makes the sentence that stands first
    families: Mapping[str, str] = field(default_factory=dict)  # part → where `params.yaml` lists its members

    @property
    def parts(self) -> list[str]:
        """Each once but families, in the order of their first sections."""
        return [part for part in dict.fromkeys(map(self.part_of, self.sections)) if part not in self.families]

    def part_of(self, name: str) -> str:
        """The part that makes a section, `claim` or `picture`."""
        return self.claim if name == "claim" else self.sections.get(name, {}).get("part", RESULTS)


_CONTENTS = read_beside(__file__, "contents.yaml")
ARITHMETIC: dict[Portable, str] = _CONTENTS["arithmetic"]
GLOSSARY: dict[str, str] = _CONTENTS["glossary"]  # short names that the pages use, in words
TIPS = GLOSSARY | _CONTENTS["tips"]  # and what else heads of tables mean
ARTICLES = {name: Article(**fields) for name, fields in _CONTENTS["articles"].items()}


def stage_of(article: str, part: str) -> str:
    """The stage that makes a part."""
    return f"{article}-page_{part}"


def read_articles(folder: Path, members: Mapping[str, Collection[str]]) -> list[dict[str, Any]]:
    """The articles as the page shows them: `{pipeline, title, question, world, claim, picture, sections, missing}`.

    A section, `{id, title, html, folded}`, says so where its part is not there, or has not written it, and what makes
    it; an article without any part is left out. `claim` and `picture` are HTML or None. `missing` are the stages of
    the parts that are not there; after a stage's name the sections that it has not written.

    Args:
        folder: of the parts.
        members: where families are listed → the members in use; what others have left is not shown.
    """
    articles = []
    for name, article in ARTICLES.items():
        files = {part: folder / name / f"{part}.json" for part in article.parts}
        parts = [read_json(file) for file in files.values() if file.exists()]
        if not parts:
            continue
        made = {key: html for part in parts for key, html in part["sections"].items()}
        missing = [stage_of(name, part) for part, file in files.items() if not file.exists()]
        for key, section in article.sections.items():
            part = article.part_of(key)
            stage = stage_of(name, part)
            for member in members.get(article.families.get(part, ""), ()):
                if (file := folder / name / part / f"{member}.json").exists():
                    made[key] = made.get(key, "") + read_json(file)["sections"][key]
            if key not in made and part not in article.families:
                made[key] = render("absent.html", stage=stage, unwritten=stage not in missing)
                missing += [f"{stage} ({section['title']})"] * (stage not in missing)
        worlds = {part["world"] for part in parts}
        sections = [
            {"folded": False, **section, "id": f"{name}-{key}", "html": made[key]}
            for key, section in article.sections.items()
            if key in made
        ]
        articles.append(
            {"pipeline": name, "title": article.title, "question": article.question, "sections": sections,
             "world": "sample" if "sample" in worlds else min(worlds), **{key: made.get(key) for key in FRONT},
             "missing": missing}
        )  # fmt: skip
    return articles


def render_page(template: str, portable: Portable, **values: Any) -> str:
    """Render a whole self-contained page, on whose lines no number is parted from its unit or its p.

    The page of one pipeline, `page.html`, is of an article of `read_articles`; of one that has not run it says so.

    Its footer says what kind of processor it was made on, and `portable`, `run.portable` of its numbers.
    """
    cpuinfo = CPUINFO.read_text(encoding="utf-8") if CPUINFO.exists() else ""
    maker = "an Intel" if "GenuineIntel" in cpuinfo else "an AMD" if "AuthenticAMD" in cpuinfo else "another"
    processor = f"{maker} processor ({platform.machine()}) {'with' if ' avx512f' in cpuinfo else 'without'} AVX-512"
    arithmetic = f"Made on {processor}. run.portable: {str(portable).lower()}. {ARITHMETIC[portable]}"
    html = render(template, contents=ARTICLES, arithmetic=arithmetic, glossary=GLOSSARY, tips=TIPS, **values)
    joined = re.sub(r"\bp (=|&lt;|≤) (?=\d)", "p\xa0\\1\xa0", str(html))  # Markup would be escaped again
    return re.sub(r"(?<=\d) %", "\xa0%", joined)
