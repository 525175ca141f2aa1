"""Dependency arcs between a trigger and an answer (factor f4, complexity.md §4)."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Literal

from trivium.formats.conllu import Sentence, Token
from trivium.formats.framed_texts import Span

Case = Literal["path", "trigger_in_answer", "other_sentence", "no_token"]


@dataclass(frozen=True)
class Arcs:
    """The way from a trigger to an answer.

    Attributes:
        case: "path"; "trigger_in_answer", when they overlap; "other_sentence", when no tree holds both; "no_token",
            when one of them has no token.
        count: arcs of the undirected path; None where there is none. A trigger inside the answer has one, too (0 when
            it is the answer's head).
    """

    case: Case
    count: int | None


def arcs(sentences: Sequence[Sentence], trigger: Span, answer: Span) -> Arcs:
    """Count the arcs from the trigger's head token to the answer's.

    Where a parser has cut the answer in two, the part in the trigger's sentence stands for it.

    Args:
        sentences: trees of the text in which both stand.
        trigger, answer: characters of the text.
    """
    at_trigger = [tokens for sentence in sentences if (tokens := _inside(sentence, trigger))]
    if not at_trigger or not any(_inside(sentence, answer) for sentence in sentences):
        return Arcs("no_token", None)
    together = next((s for s in sentences if _inside(s, trigger) and _inside(s, answer)), None)
    if together is None:
        return Arcs("other_sentence", None)
    first = head_token(together, _inside(together, trigger))
    second = head_token(together, _inside(together, answer))
    return Arcs("trigger_in_answer" if trigger.overlaps(answer) else "path", distance(together, first, second))


def head_token(sentence: Sentence, tokens: Sequence[Token]) -> Token:
    """The token whose head lies outside the span; of several, the nearest to the root, then the first."""
    inside = {token.id for token in tokens}
    heads = [token for token in tokens if token.head not in inside]
    return min(heads, key=lambda token: (len(_to_root(sentence, token)), token.id))


def distance(sentence: Sentence, first: Token, second: Token) -> int:
    """Arcs of the path between two tokens of a tree, whatever their direction."""
    above, below = _to_root(sentence, first), _to_root(sentence, second)
    shared = next(up for up, token in enumerate(above) if token in below)
    return shared + below.index(above[shared])


def _inside(sentence: Sentence, span: Span) -> list[Token]:
    return [token for token in sentence.tokens if token.span.overlaps(span)]


def _to_root(sentence: Sentence, token: Token) -> list[int]:
    path = [token.id]
    while head := sentence.tokens[path[-1] - 1].head:
        path.append(head)
    return path
