"""Events, each a frame with a lexical unit and fillers of its elements, and the verb phrases that tell them."""

from collections.abc import Collection
from dataclasses import dataclass, replace

from sample.french.bank import Frame, Unit
from sample.french.morphology import agree, finite, verb
from sample.french.phrases import adposition, govern, phrase
from sample.french.tree import Node

ADJUNCTS = ("time", "place", "reason")
_PEOPLE = ("person", "band", "army", "workers")
_COMPOUND = {"perfect": "present", "pluperfect": "imperfect"}
_ONCE_INDEFINITE = ("object", "document", "text", "building", "art", "component", "tool")


@dataclass(frozen=True)
class Filler:
    """Filler of an element.

    Attributes:
        kind: key of fillers.yaml.
        notation: the phrase, in the bank's notation, without its determiner.
        determiner: "le", "un" or "".
        other: another wording with its determiner, which questions may use; "" when there is none.
        names: names that it contains; two elements of an event never share one.
    """

    kind: str
    notation: str
    determiner: str = ""
    other: str = ""
    names: frozenset[str] = frozenset()

    @property
    def is_people(self) -> bool:
        """Whether questions ask for it with "qui"."""
        return self.kind in _PEOPLE

    @property
    def is_located(self) -> bool:
        """Whether it is a place whose phrase includes its preposition."""
        return self.kind in ("site", "hideout")


@dataclass(frozen=True)
class Event:
    """Frame instance to be told; `fillers` are by role."""

    frame: Frame
    unit: Unit
    fillers: dict[str, Filler]

    def only(self, roles: Collection[str], unit: Unit | None = None) -> "Event":
        """Return the same event with some of its elements, perhaps with another lexical unit."""
        kept = {role: filler for role, filler in self.fillers.items() if role in roles}
        return Event(self.frame, unit or self.unit, kept)

    def suits(self, unit: Unit) -> bool:
        """Whether a lexical unit of the frame can take the event's theme."""
        theme = self.fillers.get("theme")
        return theme is None or not unit.kinds or theme.kind in unit.kinds


@dataclass(frozen=True)
class Wording:
    """How phrases are worded: fillers `seen` before, those with their `other` wording, and the `marker` of purpose."""

    seen: frozenset[Filler] = frozenset()
    other: frozenset[Filler] = frozenset()
    marker: str = "pour"

    def tree(self, filler: Filler) -> Node:
        """Return the phrase of a filler; it is definite ("le vase") if the filler has been mentioned."""
        if filler in self.other and filler.other:
            return phrase(filler.other)
        is_known = filler in self.seen and filler.kind in _ONCE_INDEFINITE
        determiner = "le" if filler.determiner and is_known else filler.determiner
        return phrase(f"{determiner}:d {filler.notation}" if determiner else filler.notation)

    def adjunct(self, role: str, filler: Filler, *, noun: bool) -> tuple[str, Node]:
        """Return the phrase of a time, place or reason, with its relation to a verb or a noun."""
        if role == "reason" and filler.kind == "purpose":
            marker = "en_vue_de" if noun and self.marker == "pour" else self.marker
            return ("acl" if noun else "advcl"), self.tree(filler).open("mark", adposition(marker))
        return ("nmod" if noun else "obl:mod"), self.tree(filler)

    def complete(
        self, root: Node, event: Event, arguments: dict[str, tuple[str, str]], without: tuple[str, ...], *, noun: bool
    ) -> dict[str, Node]:
        """Attach elements behind a verb or a noun and return them by role.

        Args:
            arguments: relation and preposition of each core element, in the order of the text; adjuncts follow.
            without: roles that are expressed elsewhere.
        """
        elements: dict[str, Node] = {}
        for role in (*arguments, *ADJUNCTS):
            if role not in event.fillers or role in without:
                continue
            if role in ADJUNCTS:
                relation, node = self.adjunct(role, event.fillers[role], noun=noun)
            else:
                relation, preposition = arguments[role]
                node = govern(preposition, self.tree(event.fillers[role]))
            root.close(relation, node)
            elements[role] = node
        return elements


@dataclass(frozen=True)
class Telling:
    """Tree that tells an event: its root, the trigger, and the head of each element by role."""

    root: Node
    trigger: Node
    elements: dict[str, Node]

    def arcs(self, role: str) -> int:
        """Count the arcs between the trigger and the head of an element."""
        above = {node: head for node, _, head in self.root.walk()}

        def path(node: Node | None) -> list[Node]:
            return [] if node is None else [node, *path(above[node])]

        first, second = path(self.trigger), path(self.elements[role])
        shared = next(place for place, node in enumerate(first) if node in second)
        return shared + second.index(first[shared])


@dataclass(frozen=True)
class Form:
    """Form of a verb: mood is "finite", "infinitive", "past infinitive" or "participle"; gender and number agree."""

    passive: bool
    tense: str = "past"
    mood: str = "finite"
    gender: str = "m"
    number: str = "s"

    def agreeing(self, subject: Node) -> "Form":
        """Return the same form with the gender and number of a subject."""
        return replace(self, gender=subject.gender, number=subject.number)


def verb_group(lemma: str, form: Form, object_before: Node | None = None) -> Node:
    """Make a verb with auxiliaries; a participle agrees with the subject after être, else with an object before it."""

    def inflect(infinitive: str, tense: str) -> str:
        return infinitive if "infinitive" in form.mood else finite(infinitive, tense, form.number)

    forms = verb(lemma)
    root = Node(lemma, "VERB", gender=form.gender, number=form.number)
    agreeing = form if form.passive or forms.with_etre else object_before or Form(False)
    participle = agree(forms.participle, agreeing.gender, agreeing.number)
    compound = form.mood == "past infinitive" or (form.mood == "finite" and form.tense in _COMPOUND)
    is_participle = form.passive or compound or form.mood == "participle"
    root.form = participle if is_participle else inflect(lemma, form.tense)
    if form.passive and form.mood != "participle":
        root.open("aux:pass", Node("été" if compound else inflect("être", form.tense), "AUX", "être"))
    if compound:
        auxiliary = "être" if forms.with_etre and not form.passive else "avoir"
        tense = _COMPOUND.get(form.tense, "present")
        root.open("aux:tense", Node(inflect(auxiliary, tense), "AUX", auxiliary))
    return root


def verb_phrase(
    event: Event, form: Form, wording: Wording, *, without: tuple[str, ...] = (), object_before: Node | None = None
) -> Telling:
    """Make a verb with all its elements but its subject; roles in `without` are expressed elsewhere."""
    unit, subject = event.unit, "theme" if form.passive else "agent"
    root = verb_group(unit.lemma, form, object_before)
    arguments = {
        "agent": ("obl:agent", "par"),
        "theme": ("obl:arg" if unit.of else "obj", unit.of),
        "third": ("obl:arg", unit.third),
    }
    return Telling(root, root, wording.complete(root, event, arguments, (subject, *without), noun=False))


def sentence(root: Node, telling: Telling, fronted: tuple[str, Node] | None = None, **elements: Node) -> Telling:
    """End a tree as a sentence, perhaps with a fronted phrase; it tells `telling` and `elements`."""
    if fronted is not None:
        root.open("punct", Node(",", "PUNCT")).open(*fronted)
    root.close("punct", Node(".", "PUNCT"))
    return Telling(root, telling.trigger, {**telling.elements, **elements})
