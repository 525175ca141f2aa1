"""What a prompted model said, told apart: an extract of the document, an extract in wrapping, or talk.

Only wrapping that the prompt's own format suggests is taken off; talk is scored as it is, as the paper's scores were.
"""

from dataclasses import dataclass

from trivium.complexity.prompting.prompts import ANSWER
from trivium.formats.framed_texts import end_of, unify

KINDS = ("verbatim", "unwrapped", "talked", "empty")
_LABEL = ANSWER.rstrip(" :")
_QUOTES = (("«", "»"), ("“", "”"), ("‘", "’"), ('"', '"'), ("'", "'"), ("`", "`"))


@dataclass(frozen=True)
class Extract:
    """An answer and what was said.

    Attributes:
        answer: what is scored.
        kind: `verbatim` (stands in the document), `unwrapped` (does so after the label "Réponse :" or quotation marks
            around it were taken off), `talked` (does not: kept as it is), `empty`.
    """

    answer: str
    kind: str


def extract(said: str, document: str) -> Extract:
    """What of a reply is scored.

    Standing in the document means: up to case, Unicode normal form, kinds of space, and a final full stop.
    """
    said = said.strip()
    if not said:
        return Extract("", "empty")
    if _stands_in(said, document):
        return Extract(said, "verbatim")
    bare = _unwrap(said)
    if bare and _stands_in(bare, document):
        return Extract(bare, "unwrapped")
    return Extract(said, "talked")


def _stands_in(answer: str, document: str) -> bool:
    wanted = unify(answer).casefold().removesuffix(".").rstrip()
    return bool(wanted) and wanted in unify(document).casefold()


def _unwrap(said: str) -> str:
    label = end_of(said, 0, _LABEL)
    if label is not None and said[label:].lstrip().startswith(":"):
        said = said[label:].lstrip()[1:].strip()
    bare = said.removesuffix(".").rstrip()
    for left, right in _QUOTES:
        if len(bare) > 1 and bare.startswith(left) and bare.endswith(right):
            return bare[1:-1].strip()
    return said
