"""Verbs in every voice, tense and mood, and their phrases."""

from dataclasses import dataclass, replace

from sample.french.events import Event, Telling, Wording
from sample.french.morphology import agree, finite, verb
from sample.french.phrases import governed
from sample.french.tree import Node

ADJUNCTS = ("time", "place", "reason")
_COMPOUND = {"perfect": "present", "pluperfect": "imperfect"}


@dataclass(frozen=True)
class Form:
    """A verb's form: mood is "finite", "infinitive", "past infinitive" or "participle"; gender and number agree."""

    passive: bool
    tense: str = "past"
    mood: str = "finite"
    gender: str = "m"
    number: str = "s"

    def agreeing(self, subject: Node) -> "Form":
        """The same with the gender and number of a subject."""
        return replace(self, gender=subject.gender, number=subject.number)


def verb_group(lemma: str, form: Form, object_before: Node | None = None) -> Node:
    """A verb with its auxiliaries; the participle agrees with the subject after être, else with an object before it."""
    conjugated = verb(lemma)
    root = Node(lemma, "VERB", gender=form.gender, number=form.number)
    with_etre = conjugated.auxiliary == "être"
    participle = agree(conjugated.participle, form.gender, form.number)
    if not form.passive and not with_etre:
        before = object_before or Node("", "X")
        participle = agree(conjugated.participle, before.gender, before.number)
    auxiliary = "être" if with_etre and not form.passive else "avoir"
    compound = form.mood == "past infinitive" or (form.mood == "finite" and form.tense in _COMPOUND)
    if form.mood == "participle":
        root.form = participle
        return root
    if form.passive:
        root.form = participle
        root.open("aux:pass", Node("été" if compound else _simple("être", form), "AUX", "être"))
    elif compound:
        root.form = participle
    else:
        root.form = _simple(lemma, form)
    if compound:
        tense = _COMPOUND.get(form.tense, "present")
        word = auxiliary if form.mood == "past infinitive" else finite(auxiliary, tense, form.number)
        root.open("aux:tense", Node(word, "AUX", auxiliary))
    return root


def _simple(lemma: str, form: Form) -> str:
    return lemma if form.mood == "infinitive" else finite(lemma, form.tense, form.number)


def verb_phrase(
    event: Event, form: Form, wording: Wording, *, without: tuple[str, ...] = (), object_before: Node | None = None
) -> Telling:
    """A verb with everything but its subject; roles in `without` are said elsewhere."""
    root = verb_group(event.unit.lemma, form, object_before)
    elements: dict[str, Node] = {}
    subject = "theme" if form.passive else "agent"
    for role, filler in event.fillers.items():
        if role in (subject, *without) or role in ADJUNCTS:
            continue
        node = wording.tree(filler)
        if role == "theme":
            root.close("obl:arg" if event.unit.of else "obj", governed(event.unit.of, node))
        elif role == "third":
            root.close("obl:arg", governed(event.unit.third, node))
        else:
            root.close("obl:agent", governed("par", node))
        elements[role] = node
    for role in ADJUNCTS:
        if role in event.fillers and role not in without:
            relation, node = wording.adjunct(role, event.fillers[role], noun=False)
            root.close(relation, node)
            elements[role] = node
    return Telling(root, root, elements)


def sentence(telling: Telling, fronted: tuple[str, Node] | None = None) -> Telling:
    """Put something to the front, if anything, and end with a full stop."""
    if fronted is not None:
        telling.root.open("punct", Node(",", "PUNCT")).open(*fronted)
    telling.root.close("punct", Node(".", "PUNCT"))
    return telling
