"""Factor f4, distance: many dependency arcs lie between trigger and answer (complexity.md §4)."""

from collections import Counter
from collections.abc import Sequence
from typing import Any, Literal, get_args

import pyarrow as pa
from pydantic import Field

from trivium.complexity.factors.corpora import Corpora
from trivium.complexity.factors.factor import Factor, Judged, count_in_words
from trivium.core.parameters import Parameters
from trivium.formats.conllu import Sentence, Token
from trivium.formats.framed_texts import Example, Span

Case = Literal["path", "trigger_in_answer", "other_sentence", "no_token"]


def arcs(sentences: Sequence[Sentence], trigger: Span, answer: Span) -> tuple[Case, int | None]:
    """The case, and how many arcs the undirected path from a trigger's head token to an answer's has, None without.

    It is "other_sentence" when no tree holds both, and "no_token" when one of them has no token. A trigger inside the
    answer has a path, too (of 0 arcs when it is the answer's head). Where a parser has cut the answer in two, the part
    in the trigger's sentence stands for it.
    """
    at_trigger = [tokens for sentence in sentences if (tokens := _inside(sentence, trigger))]
    if not at_trigger or not any(_inside(sentence, answer) for sentence in sentences):
        return "no_token", None
    together = next((s for s in sentences if _inside(s, trigger) and _inside(s, answer)), None)
    if together is None:
        return "other_sentence", None
    first = head_token(together, _inside(together, trigger))
    second = head_token(together, _inside(together, answer))
    return "trigger_in_answer" if trigger.overlaps(answer) else "path", distance(together, first, second)


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


class DistanceParameters(Parameters):
    """Parameters of f4."""

    arcs: int = Field(ge=1, description="Fewest dependency arcs between trigger and answer that count as far")


class Distance(Factor):
    """Yes where the path in the tree has at least `arcs` arcs."""

    name = "f4"
    description = "Are trigger and answer far apart in the dependency tree?"
    settings = DistanceParameters
    columns = {  # noqa: RUF012 - declared a class variable by Factor
        "f4_arcs": pa.int64(),
        "f4_case": pa.string(),
        "trigger_in_answer": pa.bool_(),
    }
    tiny = (False, False, None, False, True, None)
    parameters: DistanceParameters

    @property
    def label(self) -> str:
        """Name how many arcs are far."""
        return f"{count_in_words(self.parameters.arcs, 'arc')} or more between trigger and answer"

    def judge(self, examples: Sequence[Example], corpora: Corpora) -> Judged:
        """Judge by arcs; neither (None) without a path, or with the trigger in the answer; metrics count both."""
        ways = [arcs(corpora.syntax.get(e.text.id, ()), e.frame.lexical_unit.span, e.answer) for e in examples]
        counts = Counter[str](case for case, _ in ways)
        columns: dict[str, list[Any]] = {
            "f4_arcs": [count for _, count in ways],
            "f4_case": [case for case, _ in ways],
            "trigger_in_answer": [case == "trigger_in_answer" for case, _ in ways],
        }
        metrics = {f"f4_{case}": float(counts[case]) for case in get_args(Case) if case != "path"}
        metrics["f4_threshold"] = float(self.parameters.arcs)
        far = self.parameters.arcs
        return Judged([(count or 0) >= far if case == "path" else None for case, count in ways], columns, metrics)
