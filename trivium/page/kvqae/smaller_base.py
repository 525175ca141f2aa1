"""What stands above every table that was measured on a smaller knowledge base than the paper's."""

from collections.abc import Mapping
from typing import Any

PAPERS_ARTICLES = 1_495_352


def noted(sections: Mapping[str, str], base: Mapping[str, Any] | None) -> dict[str, str]:
    """The sections, with a note above each where the base is a smaller one.

    Args:
        sections: HTML by id.
        base: `kvqae.world.base`; None where all articles are searched.
    """
    if not base:
        return dict(sections)
    articles = f"{base['articles']:,}".replace(",", "\u202f")
    everything = f"{PAPERS_ARTICLES:,}".replace(",", "\u202f")
    note = (
        f'<p class="note" role="note"><strong>A pilot.</strong> {articles} articles are searched, chosen of '
        f"{everything}: the questions’ subjects, hard negatives and a random rest. A smaller base is easier. These "
        "figures are above those that all articles would give, and no verdict stands beside the published ones.</p>\n"
    )
    return {name: note + html for name, html in sections.items()}
