"""An event, the sentence that tells it and the question about it, as a cell of the design wants them."""

import random
from dataclasses import dataclass

from sample.french.bank import Frame, Unit, frames
from sample.french.cast import Cast
from sample.french.clauses import Verbal
from sample.french.design import CALOR, Cell, Style, asked_role, chosen_roles
from sample.french.events import Event, Filler, Telling, Wording
from sample.french.nominals import Nominal
from sample.french.questions import Question
from sample.french.tree import Line, Node, write

_ATTEMPTS = 60
_MARKERS = ("pour", "pour", "afin_de")
_NOUN = 0.37


@dataclass(frozen=True)
class Asked:
    """A question about an event: the element asked for, the elements named, and the question as a written tree."""

    cell: Cell
    role: str
    given: tuple[str, ...]
    question: Line


@dataclass(frozen=True)
class Told:
    """A sentence of a text: the event it tells, and the question about it if there is one.

    Attributes:
        pronoun: whether a pronoun or a possessive stands for the agent.
    """

    event: Event
    telling: Telling
    asked: Asked | None
    pronoun: bool

    @property
    def subject(self) -> Filler | None:
        """Who the next sentence may call "il": the agent, when it is the subject of the sentence."""
        agent = self.telling.elements.get("agent")
        subjects = [child for relation, child in self.telling.root.left if relation == "nsubj"]
        filler = self.event.fillers.get("agent")
        return filler if filler is not None and filler.is_people and agent in subjects else None


def pronoun_for(filler: Filler) -> Node:
    """Il, elle, ils, elles."""
    head = filler.tree()
    word = ("elle" if head.gender == "f" else "il") + ("s" if head.number == "p" else "")
    return Node(word, "PRON", word, head.gender, head.number)


def draw_unit(frame: Frame, *, noun: bool, rng: random.Random, style: Style = CALOR) -> Unit:
    """A lexical unit by its weight."""
    units = frame.units_of(noun=noun)
    return rng.choices(units, [style.unit(frame, unit) for unit in units])[0]


def ask(cell: Cell, cast: Cast, year: int, agent: Filler | None, style: Style) -> Told | None:
    """Tell and ask as the cell wants it; `agent` is who the pronoun would stand for. None when there is no way."""
    rng = cast.rng
    for attempt in range(_ATTEMPTS):
        if attempt % 6 == 0:
            role = "agent" if cell.chain else asked_role(cell.frame, cast.focus, rng)
        unit = draw_unit(cell.frame, noun=cell.noun, rng=rng, style=style)
        roles = chosen_roles(cell.frame, role, few=cell.few, focus=cast.focus, rng=rng)
        event = Event(cell.frame, unit, cast.fill(cell.frame, unit, roles, year, agent))
        if agent is not None and event.fillers.get("agent") != agent and cell.chain:
            continue
        pronoun = agent is not None and event.fillers.get("agent") == agent and (cell.chain or role != "agent")
        told = tell(event, role, cast, far=cell.far, pronoun=pronoun)
        if told is None or (told.arcs(role) >= 2) != cell.far:
            continue
        asked = _question(cell, event, role, rng)
        if asked is not None:
            return Told(event, told, asked, pronoun and _is_pronoun(told))
    return None


def _is_pronoun(told: Telling) -> bool:
    return told.elements["agent"].part_of_speech in ("PRON", "DET")


def tell(event: Event, role: str, cast: Cast, *, far: bool, pronoun: bool) -> Telling | None:
    """A sentence that tells an event, with an element far from the trigger or near."""
    rng = cast.rng
    wording = Wording(seen=frozenset(cast.mentioned), marker=rng.choice(_MARKERS))
    stand_in = pronoun_for(event.fillers["agent"]) if pronoun else None
    kind = Nominal if event.unit.is_noun else Verbal
    writer = kind(event, wording, rng, stand_in)
    return writer.tell(role, far=far) if writer.possible else None


def tell_aside(cast: Cast, frame: Frame, year: int, agent: Filler | None, style: Style = CALOR) -> Told | None:
    """An event that nobody asks about; with an agent, that agent is its subject."""
    rng = cast.rng
    for _ in range(_ATTEMPTS):
        noun = agent is None and rng.random() < _NOUN
        unit = draw_unit(frame, noun=noun, rng=rng, style=style)
        role = asked_role(frame, cast.focus, rng)
        roles = chosen_roles(frame, role, few=rng.random() < 0.5, focus=cast.focus, rng=rng)
        event = Event(frame, unit, cast.fill(frame, unit, roles, year, agent))
        if agent is not None and (event.fillers.get("agent") != agent or is_mistakable(event, agent)):
            continue
        told = tell(event, role, cast, far=False, pronoun=False)
        if told is not None:
            whole = Told(event, told, None, False)
            if agent is None or whole.subject == agent:
                return whole
    return None


def is_mistakable(event: Event, agent: Filler) -> bool:
    """Whether a pronoun for the agent could mean someone else of the event."""
    head = agent.tree()
    others = [filler.tree() for role, filler in event.fillers.items() if role != "agent" and filler.is_people]
    return any((other.gender, other.number) == (head.gender, head.number) for other in others)


def _question(cell: Cell, event: Event, role: str, rng: random.Random) -> Asked | None:
    others = [each for each in event.fillers if each != role]
    core = [each for each in others if each in ("agent", "theme")]
    given = {each for each in others if rng.random() < 0.65} or {rng.choice(others)}
    if core and not given & {*core}:
        given.add(rng.choice(core))
    named = [event.fillers[each] for each in others if each in given]  # a set's own order differs from run to run
    other = frozenset(filler for filler in named if rng.random() < 0.35)
    wording = Wording(frozenset(named), other, rng.choice(_MARKERS))
    for _ in range(4):
        unit = _unit_of_question(cell, event, rng)
        if unit is None:
            return None
        tree = Question(event.only(given, unit), role, event.fillers[role], wording, rng).tree()
        if tree is None:
            continue
        line = write(tree)
        present = event.unit.lemma in {word.node.lemma for word in line.words}
        if present != cell.absent:
            return Asked(cell, role, tuple(each for each in event.frame.elements if each in given), line)
    return None


def _unit_of_question(cell: Cell, event: Event, rng: random.Random) -> Unit | None:
    """The trigger itself, or another lexical unit of the frame that takes such a theme."""
    if not cell.absent:
        return event.unit
    theme = event.fillers.get("theme")
    units = [
        unit
        for unit in event.frame.units
        if unit.lemma != event.unit.lemma and (theme is None or not unit.kinds or theme.kind in unit.kinds)
    ]
    return rng.choices(units, [unit.weight**0.5 for unit in units])[0] if units else None


def aside_frames(domain: str, taken: set[str]) -> list[Frame]:
    """Frames of a domain that cannot be taken for those that a text has already."""
    return [frame for frame in frames().values() if domain in frame.domains and frame.near not in taken]
