"""Texts: sentences about the same people and places, written out with their frames, chains, questions and syntax."""

import random
from collections.abc import Sequence
from dataclasses import dataclass

from sample.french.asking import Told, aside_frames, ask, tell_aside
from sample.french.bank import Frame, core_type
from sample.french.cast import Cast, Names
from sample.french.design import Cell, Style
from sample.french.events import Filler
from sample.french.phrases import phrase, the
from sample.french.tree import Line, write
from trivium.formats.conllu import Sentence, Token
from trivium.formats.framed_texts import AnnotatedText, Example, FrameElement, FrameInstance, LexicalUnit, Span

_TITLES = {"war": "guerre:f de {}:Pf", "city": "cité:f de {}:Pf", "dig": "fouille:fp de {}:Pf"}
_SAME_YEAR, _PRONOUN = 0.3, 0.3
_LAST = "death"  # who has died does nothing more


@dataclass(frozen=True)
class Document:
    """A text with its syntax and the questions about it, in the order of the text."""

    annotated: AnnotatedText
    syntax: list[Sentence]
    examples: list[Example]
    question_syntax: dict[str, list[Sentence]]
    combinations: frozenset[tuple[str, str, str]]


class TextWriter:
    """Writes texts about cells of the design and, beside them, about events that nobody asks about.

    Args:
        style: how often a frame is told of without being asked about, and by which lexical unit.
    """

    def __init__(self, names: Names, rng: random.Random, style: Style) -> None:
        self.names, self.rng, self.style = names, rng, style

    def write(self, identifier: str, domain: str, cells: Sequence[Cell], sentences: int) -> Document | None:
        """One text of so many sentences at least; None when a cell could not be told with this cast."""
        rng = self.rng
        cast = Cast(domain, self.names, rng)
        told = self._tell(cast, list(cells), sentences)
        if told is None:
            return None
        return make_document(identifier, make_title(domain, rng.choice(self.names.towns)), told)

    def _tell(self, cast: Cast, cells: list[Cell], sentences: int) -> list[Told] | None:
        rng = self.rng
        rng.shuffle(cells)
        cells.sort(key=lambda cell: cell.frame.near == _LAST)
        plan: list[Cell | None] = []
        for cell in cells:
            plan += [None] * cell.chain + [cell]
        while len(plan) < sentences:
            ends = bool(plan) and (last := plan[-1]) is not None and last.frame.near == _LAST
            places = [p for p in range(len(plan) + (not ends)) if not (p < len(plan) and (c := plan[p]) and c.chain)]
            plan.insert(rng.choice(places), None)
        years = self._years(cast.domain, len(plan))
        taken = {_LAST, *(cell.frame.near for cell in cells)}
        told: list[Told] = []
        for place, planned in enumerate(plan):
            following = plan[place + 1] if place + 1 < len(plan) else None
            agent = told[-1].subject if told else None
            if planned is not None:
                if planned.chain and agent is None:
                    return None
                meant = agent if planned.chain or rng.random() < _PRONOUN else None
                one = ask(planned, cast, years[place], meant, self.style)
            else:
                free = aside_frames(cast.domain, taken)
                agent = rng.choice(cast.agents) if following is not None and following.chain else None
                if not free:
                    return None
                frame = rng.choices(free, [self._fitness(frame, cells) for frame in free])[0]
                taken.add(frame.near)
                one = tell_aside(cast, frame, years[place], agent, self.style)
            if one is None:
                return None
            told.append(one)
            cast.mentioned.update(one.event.fillers.values())
        return told

    def _fitness(self, frame: Frame, cells: Sequence[Cell]) -> float:
        """The weight of a frame; more when it is about such things as the cells are, so that events share them."""
        asked = {kind for cell in cells for kind in cell.frame.kinds.get("theme", ())}
        return self.style.frame(frame) * (8 if asked & {*frame.kinds.get("theme", ())} else 1)

    def _years(self, domain: str, count: int) -> list[int]:
        """Years in order, some of them the same."""
        start = self.rng.randrange(len(self.names.years[domain]) - count)
        years = [self.names.years[domain][start]]
        place = start
        for _ in range(count - 1):
            place += self.rng.random() > _SAME_YEAR
            years.append(self.names.years[domain][place])
        return years


def sentence_of(line: Line) -> Sentence:
    """A written line as syntax."""
    tokens = tuple(
        Token(number, word.form, word.node.lemma, word.node.part_of_speech, word.head + 1, word.relation, word.span)
        for number, word in enumerate(line.words, 1)
    )
    return Sentence(tokens, Span(tokens[0].span.start, tokens[-1].span.end))


def make_title(domain: str, town: str) -> str:
    """La guerre de Belmar."""
    title = phrase(_TITLES[domain].format(town))
    return write(title.open("det", the("le", title))).text


def make_document(identifier: str, title: str, told: list[Told]) -> Document:
    """Write events out, one sentence after the other, with frames, chains, syntax and the questions about them."""
    lines: list[Line] = []
    for one in told:
        lines.append(write(one.telling.root, lines[-1].words[-1].span.end + 1 if lines else 0))
    frames = tuple(_instance(one, line) for one, line in zip(told, lines, strict=True))
    chains = _chains(told, lines)
    text = " ".join(line.text for line in lines)
    annotated = AnnotatedText(identifier, title, text, frames, tuple(chains))
    examples: list[Example] = []
    syntax: dict[str, list[Sentence]] = {}
    combinations: set[tuple[str, str, str]] = set()
    for place, one in enumerate(told):
        if one.asked is None:
            continue
        event, asked, frame = one.event, one.asked, frames[place]
        own = lines[place].span(one.telling.elements[asked.role])
        chain = next((chain for chain in chains if own in chain), ()) if one.pronoun and asked.role == "agent" else ()
        back = tuple(reversed(chain[: chain.index(own) + 1])) if chain else ()
        example = Example(
            id=f"{identifier}-q{len(examples) + 1}",
            text=annotated,
            question=asked.question.text,
            answer=back[-1] if back else own,
            frame=frame,
            answer_element=event.frame.elements[asked.role],
            context_elements=tuple(event.frame.elements[role] for role in asked.given),
            chain=back,
        )
        examples.append(example)
        syntax[example.id] = [sentence_of(asked.question)]
        agent, theme = (event.fillers[role].notation if role in event.fillers else "" for role in ("agent", "theme"))
        combinations.add((event.frame.name, agent, theme))
    return Document(annotated, [sentence_of(line) for line in lines], examples, syntax, frozenset(combinations))


def _instance(one: Told, line: Line) -> FrameInstance:
    event = one.event
    unit = LexicalUnit(event.unit.lemma, event.unit.part_of_speech, line.word(one.telling.trigger).span)
    elements = [
        FrameElement(event.frame.elements[role], line.span(node), core_type(role, event.frame))
        for role, node in one.telling.elements.items()
    ]
    return FrameInstance(event.frame.name, unit, tuple(sorted(elements, key=lambda element: element.span)))


def _chains(told: list[Told], lines: list[Line]) -> list[tuple[Span, ...]]:
    """Who is meant by pronouns: the agent of the sentence before, mention by mention."""
    chains: list[list[Span]] = []
    meant: Filler | None = None
    for place, (one, line) in enumerate(zip(told, lines, strict=True)):
        if not one.pronoun:
            meant = None
            continue
        own = line.span(one.telling.elements["agent"])
        if meant != one.event.fillers["agent"]:
            meant = one.event.fillers["agent"]
            chains.append([lines[place - 1].span(told[place - 1].telling.elements["agent"])])
        chains[-1].append(own)
    return [tuple(chain) for chain in chains]
