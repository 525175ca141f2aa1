"""Texts: sentences about the same people and places, with their frames, chains, questions and syntax."""

from collections.abc import Sequence
from dataclasses import dataclass

from sample.french.asking import Statement, aside_frames, tell_aside, tell_cell
from sample.french.bank import Frame, read
from sample.french.cast import Cast
from sample.french.design import Cell, Style
from sample.french.events import Filler
from sample.french.phrases import phrase
from sample.french.tree import Line, write
from trivium.formats.conllu import Sentence
from trivium.formats.framed_texts import AnnotatedText, Example, FrameElement, FrameInstance, LexicalUnit, Span

LAST = "death"  # the dead do nothing more, so this frame ends a text
_SAME_YEAR, _PRONOUN = 0.3, 0.3


@dataclass(frozen=True)
class Document:
    """Text with its syntax and the questions about it, in the order of the text.

    Attributes:
        combinations: (frame, agent, theme) of each event that is asked about.
    """

    annotated: AnnotatedText
    syntax: list[Sentence]
    examples: list[Example]
    question_syntax: dict[str, list[Sentence]]
    combinations: frozenset[tuple[str, str, str]]


def tell_text(cast: Cast, cells: Sequence[Cell], sentences: int, style: Style) -> list[Statement] | None:
    """Write at least `sentences` sentences: those of the design's cells, and events without questions.

    Returns:
        One statement for each sentence; None when a cell could not be told with this cast.
    """
    rng, plan = cast.rng, _plan(cast, cells, sentences)
    years = _draw_years(cast, len(plan))
    used = {LAST, *(cell.frame.near for cell in cells)}
    statements: list[Statement] = []
    for place, (cell, year) in enumerate(zip(plan, years, strict=True)):
        if cell is not None:
            agent = statements[-1].subject if statements else None
            if cell.chain and agent is None:
                return None
            one = tell_cell(cell, cast, year, agent if cell.chain or rng.random() < _PRONOUN else None, style)
        else:
            free = aside_frames(cast.domain, used)
            following = plan[place + 1] if place + 1 < len(plan) else None
            agent = rng.choice(cast.agents) if following is not None and following.chain else None
            if not free:
                return None
            frame = rng.choices(free, [_weigh(frame, cells, style) for frame in free])[0]
            used.add(frame.near)
            one = tell_aside(cast, frame, year, agent, style)
        if one is None:
            return None
        statements.append(one)
        cast.mentioned.update(one.event.fillers.values())
    return statements


def _plan(cast: Cast, cells: Sequence[Cell], sentences: int) -> list[Cell | None]:
    """Order cells at random, deaths last; None marks events without questions, one of them just before each chain."""
    shuffled = [*cells]
    cast.rng.shuffle(shuffled)
    shuffled.sort(key=lambda cell: cell.frame.near == LAST)
    plan: list[Cell | None] = []
    for cell in shuffled:
        plan += [None] * cell.chain + [cell]
    while len(plan) < sentences:
        places = [place for place, cell in enumerate(plan) if cell is None or not cell.chain]
        if plan[-1] is None or plan[-1].frame.near != LAST:
            places.append(len(plan))
        plan.insert(cast.rng.choice(places), None)
    return plan


def _draw_years(cast: Cast, count: int) -> list[int]:
    """Draw years in order, some of them equal."""
    years = cast.names.years[cast.domain]
    places = [cast.rng.randrange(len(years) - count)]
    for _ in range(count - 1):
        places.append(places[-1] + (cast.rng.random() > _SAME_YEAR))
    return [years[place] for place in places]


def _weigh(frame: Frame, cells: Sequence[Cell], style: Style) -> float:
    """Weigh a frame; it weighs more if it is about the same kinds of things as the cells, so that events share them."""
    kinds = {kind for cell in cells for kind in cell.frame.kinds.get("theme", ())}
    return style.frame(frame) * (8 if kinds & {*frame.kinds.get("theme", ())} else 1)


def draw_title(cast: Cast) -> str:
    """La guerre de Belmar."""
    title = read("words")["titles_of_texts"][cast.domain].format(cast.rng.choice(cast.names.towns))
    return write(phrase(f"le:d {title}")).text


def make_document(identifier: str, title: str, statements: Sequence[Statement]) -> Document:
    """Write events out, one sentence after the other, with frames, chains, syntax and questions."""
    lines: list[Line] = []
    for one in statements:
        lines.append(write(one.telling.root, lines[-1].tokens[-1].span.end + 1 if lines else 0))
    frames = tuple(_instance(one, line) for one, line in zip(statements, lines, strict=True))
    chains = _chains(statements, lines)
    text = " ".join(line.text for line in lines)
    annotated = AnnotatedText(identifier, title, text, frames, tuple(chains))
    examples: list[Example] = []
    syntax: dict[str, list[Sentence]] = {}
    combinations: set[tuple[str, str, str]] = set()
    for one, line, instance in zip(statements, lines, frames, strict=True):
        if one.query is None:
            continue
        event, query = one.event, one.query
        own = line.span(one.telling.elements[query.role])
        chain = next((chain for chain in chains if own in chain), ()) if one.pronoun and query.role == "agent" else ()
        back = tuple(reversed(chain[: chain.index(own) + 1])) if chain else ()
        example = Example(
            id=f"{identifier}-q{len(examples) + 1}",
            text=annotated,
            question=query.question.text,
            answer=back[-1] if back else own,
            frame=instance,
            answer_element=event.frame.elements[query.role],
            context_elements=tuple(event.frame.elements[role] for role in query.given),
            chain=back,
        )
        examples.append(example)
        syntax[example.id] = [query.question.syntax()]
        agent, theme = (event.fillers[role].notation if role in event.fillers else "" for role in ("agent", "theme"))
        combinations.add((event.frame.name, agent, theme))
    return Document(annotated, [line.syntax() for line in lines], examples, syntax, frozenset(combinations))


def _instance(one: Statement, line: Line) -> FrameInstance:
    """Return the frame instance of a sentence, its elements in the order of the text."""
    frame, unit = one.event.frame, one.event.unit
    trigger = line.tokens[line.nodes.index(one.telling.trigger)].span
    elements = [
        FrameElement(frame.elements[role], line.span(node), frame.core_type(role))
        for role, node in one.telling.elements.items()
    ]
    lexical_unit = LexicalUnit(unit.lemma, "noun" if unit.is_noun else "verb", trigger)
    return FrameInstance(frame.name, lexical_unit, tuple(sorted(elements, key=lambda element: element.span)))


def _chains(statements: Sequence[Statement], lines: Sequence[Line]) -> list[tuple[Span, ...]]:
    """Find the mentions of each agent that pronouns refer to; it is the agent of the sentence before."""
    chains: list[list[Span]] = []
    meant: Filler | None = None
    for place, (one, line) in enumerate(zip(statements, lines, strict=True)):
        if not one.pronoun:
            meant = None
            continue
        own = line.span(one.telling.elements["agent"])
        if meant != one.event.fillers["agent"]:
            meant = one.event.fillers["agent"]
            chains.append([lines[place - 1].span(statements[place - 1].telling.elements["agent"])])
        chains[-1].append(own)
    return [tuple(chain) for chain in chains]
