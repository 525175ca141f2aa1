"""Verbs in every voice, tense and mood, and their phrases."""

from dataclasses import dataclass, replace

from sample.french.events import Event, Telling, Wording
from sample.french.morphology import agree, finite, verb
from sample.french.tree import Node

_COMPOUND = {"perfect": "present", "pluperfect": "imperfect"}


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
