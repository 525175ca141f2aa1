"""How surely a file of Commons shows an entity, by what people wrote about the file (kvqae.md §2, step 4)."""

from trivium.kvqae.construction.handed_on import CommonsFile
from trivium.measures.answers import AnswerMatcher


def image_score(file: CommonsFile, label: str, wikidata_id: str) -> int:
    """In how many of four places the entity appears: every category, the description, the title, what it depicts.

    Args:
        file: with its metadata; a file without categories has none that names the entity.
        label: the entity's name; normalised as answers are, found at word boundaries.
        wikidata_id: of the entity, looked for in `depicts`.

    Returns:
        0 to 4.
    """
    matcher = AnswerMatcher([label])
    title = file.name.rpartition(".")[0] or file.name
    named = [matcher.matches(text.replace("_", " ")) for text in file.categories]
    return (
        (bool(named) and all(named))
        + matcher.matches(file.description)
        + matcher.matches(title.replace("_", " "))
        + (wikidata_id in file.depicts)
    )
