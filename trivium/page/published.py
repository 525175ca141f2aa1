"""Which measured rows stand beside which published ones, and under which names.

Nothing here knows what encoders, re-rankers and models there are: what reads only this does not depend on them.
"""

from collections.abc import Mapping
from typing import Any, ClassVar, NamedTuple

from markupsafe import Markup
from pydantic import Field

from trivium.core.parameters import Parameters, read_beside
from trivium.page.html import render

_NAMES = read_beside(__file__, "published.yaml")
DATASETS: dict[str, str] = _NAMES["datasets"]
VARIANTS: dict[str, str] = _NAMES["variants"]
DIRECTIONS: dict[str, str] = _NAMES["directions"]
MEASURES: dict[str, str] = _NAMES["measures"]
_READ = _NAMES["reading_rows"].items()
READING_ROWS: dict[str, str] = {row: names["paper"] for row, names in _READ if "paper" in names}  # ours → the paper's
READING_LABELS: dict[str, str] = {row: names.get("label", "") for row, names in _READ}  # empty: the paper's label


class SearchedParameters(Parameters):
    """What all parts of KVQAE's page that show a search read."""

    places: ClassVar = {"world": "world.kvqae", "base": "kvqae.world.base"}
    world: str = Field(description="Where the data comes from")
    base: dict[str, Any] | None = Field(default=None, description="Of the hub's articles those searched; null: all")


class Shown(NamedTuple):
    """A block of KVQAE's measured rows, and what the paper prints about it."""

    block: str  # its key
    published: str | None = None  # the published table that stands beside it
    names: Mapping[str, str] = {}  # our row → the published one; empty where they have the same names


TABLES, RERANKED_TABLES = (  # section → its blocks
    {section: [Shown(**block) for block in blocks] for section, blocks in _NAMES[name].items()}
    for name in ("tables", "reranked_tables")
)


def add_base_note(sections: Mapping[str, Markup], base: Mapping[str, Any] | None) -> dict[str, Markup]:
    """Put a note above each of KVQAE's sections where `base`, `kvqae.world.base`, is not all articles (None)."""
    if not base:
        return dict(sections)
    note = render("kvqae_pilot.html", articles=base["articles"], everything=_NAMES["articles"])
    return {name: note + html for name, html in sections.items()}
