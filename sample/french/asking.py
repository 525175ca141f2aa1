"""Tell and ask for events: the sentence for an event, and the question, as a cell of the design requires."""

import random
from dataclasses import dataclass

from sample.french.bank import Frame, Unit, frames
from sample.french.cast import Cast
from sample.french.clauses import Verbal
from sample.french.design import CALOR, Cell, Style, choose_roles, draw_role
from sample.french.events import Event, Filler, Telling, Wording
from sample.french.nominals import Nominal
from sample.french.questions import Question
from sample.french.tree import Line, Node, write

_ATTEMPTS = 60
_MARKERS = ("pour", "pour", "afin_de")
_NOUN = 0.37


@dataclass(frozen=True)
class Query:
    """A question about an event: the element asked for, the elements named, and the question as it is written."""

    role: str
    given: tuple[str, ...]
    question: Line


@dataclass(frozen=True)
class Statement:
    """A sentence of a text: the event it tells, and the question about it if there is one.

    Attributes:
        pronoun: whether a pronoun or a possessive stands for the agent.
    """

    event: Event
    telling: Telling
    query: Query | None = None
    pronoun: bool = False

    @property
    def subject(self) -> Filler | None:
        """The filler that the next sentence may call "il": the agent, when it is the subject of the sentence."""
        agent = self.telling.elements.get("agent")
        subjects = [child for relation, child in self.telling.root.left if relation == "nsubj"]
        filler = self.event.fillers.get("agent")
        return filler if filler is not None and filler.is_people and agent in subjects else None


def pronoun_for(filler: Filler) -> Node:
    """Make the pronoun of a subject: il, elle, ils or elles."""
    head = Wording().tree(filler)
    word = ("elle" if head.gender == "f" else "il") + ("s" if head.number == "p" else "")
    return Node(word, "PRON", word, head.gender, head.number)


def is_mistakable(event: Event, agent: Filler) -> bool:
    """Whether a pronoun for the agent could mean someone else of the event."""
    others = [filler for role, filler in event.fillers.items() if role != "agent" and filler.is_people]
    return pronoun_for(agent).form in {pronoun_for(other).form for other in others}


def draw_unit(frame: Frame, *, noun: bool, rng: random.Random, style: Style = CALOR) -> Unit:
    """Draw a lexical unit by its weight."""
    units = frame.units_of(noun=noun)
    return rng.choices(units, [style.unit(frame, unit) for unit in units])[0]


def draw_given(event: Event, role: str, rng: random.Random) -> tuple[str, ...]:
    """Draw the elements that a question names besides the one asked for; at least one is core where there is one."""
    others = [other for other in event.fillers if other != role]
    core = [other for other in others if other in ("agent", "theme")]
    given = {other for other in others if rng.random() < 0.65} or {rng.choice(others)}
    if core and not given & {*core}:
        given.add(rng.choice(core))
    return tuple(other for other in others if other in given)


def tell(
    event: Event, role: str, wording: Wording, rng: random.Random, *, far: bool = False, stand_in: Node | None = None
) -> Telling | None:
    """Make a sentence that tells an event, with an element far from the trigger or near it; None when there is none.

    Args:
        stand_in: word that replaces the agent, mostly a pronoun.
    """
    kind = Nominal if event.unit.is_noun else Verbal
    return kind(event, wording, rng, stand_in).tell(role, far=far)


def ask(
    event: Event, unit: Unit, role: str, given: tuple[str, ...], wording: Wording, rng: random.Random
) -> Query | None:
    """Ask for an element by a lexical unit and name others; None where the unit cannot ask for it."""
    tree = Question(event.only(given, unit), role, event.fillers[role], wording, rng).tree()
    return None if tree is None else Query(role, given, write(tree))


def tell_cell(cell: Cell, cast: Cast, year: int, agent: Filler | None, style: Style) -> Statement | None:
    """Tell and ask as a cell requires, a pronoun perhaps standing for `agent`; None when there is no way."""
    rng, frame = cast.rng, cell.frame
    for attempt in range(_ATTEMPTS):
        if attempt % 6 == 0:
            role = "agent" if cell.chain else draw_role(frame, cast.focus, rng)
        unit = draw_unit(frame, noun=cell.noun, rng=rng, style=style)
        roles = choose_roles(frame, role, few=cell.few, focus=cast.focus, rng=rng)
        event = cast.make_event(frame, unit, roles, year, agent)
        acts = agent is not None and event.fillers.get("agent") == agent
        if cell.chain and not acts:
            continue
        pronoun = acts and (cell.chain or role != "agent")
        stand_in = pronoun_for(event.fillers["agent"]) if pronoun else None
        wording = Wording(frozenset(cast.mentioned), marker=rng.choice(_MARKERS))
        telling = tell(event, role, wording, rng, far=cell.far, stand_in=stand_in)
        if telling is None or (telling.arcs(role) >= 2) != cell.far:
            continue
        query = _ask_cell(cell, event, role, rng)
        if query is not None:
            return Statement(event, telling, query, pronoun)
    return None


def tell_aside(cast: Cast, frame: Frame, year: int, agent: Filler | None, style: Style = CALOR) -> Statement | None:
    """Tell an event without a question; its subject is the agent, if one is given. None when there is no way."""
    rng = cast.rng
    for _ in range(_ATTEMPTS):
        noun = agent is None and rng.random() < _NOUN
        unit = draw_unit(frame, noun=noun, rng=rng, style=style)
        role = draw_role(frame, cast.focus, rng)
        roles = choose_roles(frame, role, few=rng.random() < 0.5, focus=cast.focus, rng=rng)
        event = cast.make_event(frame, unit, roles, year, agent)
        if agent is not None and (event.fillers.get("agent") != agent or is_mistakable(event, agent)):
            continue
        wording = Wording(frozenset(cast.mentioned), marker=rng.choice(_MARKERS))
        telling = tell(event, role, wording, rng)
        if telling is not None:
            statement = Statement(event, telling)
            if agent is None or statement.subject == agent:
                return statement
    return None


def aside_frames(domain: str, used: set[str]) -> list[Frame]:
    """Return the frames of a domain that cannot be mistaken for those that a text already has."""
    return [frame for frame in frames().values() if domain in frame.domains and frame.near not in used]


def _ask_cell(cell: Cell, event: Event, role: str, rng: random.Random) -> Query | None:
    given = draw_given(event, role, rng)
    named = [event.fillers[name] for name in given]
    other = frozenset(filler for filler in named if rng.random() < 0.35)
    wording = Wording(frozenset(named), other, rng.choice(_MARKERS))
    units = [unit for unit in event.frame.units if unit.lemma != event.unit.lemma and event.suits(unit)]
    for _ in range(4):
        unit = event.unit
        if cell.absent:
            if not units:
                return None
            unit = rng.choices(units, [unit.weight**0.5 for unit in units])[0]
        query = ask(event, unit, role, given, wording, rng)
        if query is not None:
            present = event.unit.lemma in {token.lemma for token in query.question.tokens}
            if present != cell.absent:
                return query
    return None
