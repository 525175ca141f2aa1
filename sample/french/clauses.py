"""Sentences in which a verb is the trigger."""

import random
from collections.abc import Callable

from sample.french.bank import fillers
from sample.french.events import Event, Telling, Wording
from sample.french.morphology import finite
from sample.french.phrases import predicate
from sample.french.tree import Node
from sample.french.verbs import ADJUNCTS, Form, sentence, verb_phrase

# Verbs that take an infinitive of the same subject, with what stands before it.
_MATRIX = (("réussir", "à"), ("finir", "par"), ("devoir", ""), ("pouvoir", ""), ("commencer", "par"))
_PASSIVE_MATRIX = (("finir", "par"), ("devoir", ""), ("pouvoir", ""), ("sembler", "avoir"))
# Mostly compound ones: questions have the same participle.
_TENSES = ("past",) * 3 + ("perfect",) * 4 + ("pluperfect",) * 2
# Kinds of which something else can be said while the event is told beside it.
_CATEGORIES = {
    **dict.fromkeys(("person", "band", "army", "workers"), "people"),
    **dict.fromkeys(("town", "region"), "place"),
    **dict.fromkeys(("monument", "building", "object", "document", "text", "art", "component"), "thing"),
}


class Verbal:
    """Sentences in which the event's verb is the trigger."""

    def __init__(self, event: Event, wording: Wording, rng: random.Random, pronoun: Node | None = None) -> None:
        self.event, self.wording, self.rng, self.pronoun = event, wording, rng, pronoun
        self.passive = False
        roles = event.fillers
        if "theme" in roles and not event.unit.of:
            self.passive = "agent" not in roles or (pronoun is None and rng.random() < 0.3)
        self.subject = "theme" if self.passive else "agent"
        self.tense = "imperfect" if event.frame.name == "Origin" else rng.choice(_TENSES)

    @property
    def possible(self) -> bool:
        """Whether the verb has all that it cannot do without."""
        needs_theme = "theme" in self.event.frame.elements
        return self.subject in self.event.fillers and (not needs_theme or "theme" in self.event.fillers)

    def tell(self, role: str, *, far: bool) -> Telling | None:
        """A sentence with an element two arcs and more from the trigger (`far`) or one; None when there is no way."""
        located = role == "third" and self.event.fillers[role].is_located
        if far:
            ways: list[Callable[[str], Telling | None]] = []
            ways += [self._matrix] if role == self.subject or role in ADJUNCTS or located else []
            if ways and role != "reason":
                ways.append(self._coordinated)
            if role == self.subject and self.pronoun is None:
                ways.append(self._after)
            return self.rng.choice(ways)(role) if ways and self.event.frame.name != "Origin" else None
        ways = [self._simple, self._simple, self._simple]
        if self.pronoun is None and self.event.frame.name != "Origin":
            ways += [self._relative, self._participle, self._object_relative]
            if role not in (self.subject, *ADJUNCTS):
                ways.append(self._matrix)
        self.rng.shuffle(ways)
        return next((told for way in ways if (told := way("")) is not None), None)

    def _form(self, mood: str = "finite") -> Form:
        return Form(self.passive, self.tense, mood)

    def _subject(self) -> Node:
        return self.pronoun or self.wording.tree(self.event.fillers[self.subject])

    def _fronted(self, role: str) -> tuple[str, Node] | None:
        if role in ADJUNCTS:
            return self.wording.adjunct(role, self.event.fillers[role], noun=False)
        return ("obl:mod", self.wording.tree(self.event.fillers[role])) if role == "third" else None

    def _simple(self, role: str) -> Telling:
        front = [each for each in ("time", "place") if each in self.event.fillers]
        role = self.rng.choice(front) if front and self.rng.random() < 0.45 else ""
        subject, fronted = self._subject(), self._fronted(role)
        told = verb_phrase(self.event, self._form().agreeing(subject), self.wording, without=(role,))
        told.root.open("nsubj:pass" if self.passive else "nsubj", subject)
        return self._done(told, told.root, subject, role, fronted)

    def _done(
        self, told: Telling, root: Node, subject: Node, role: str, fronted: tuple[str, Node] | None = None
    ) -> Telling:
        elements = {**told.elements, self.subject: subject}
        if fronted is not None and role:
            elements[role] = fronted[1]
        return sentence(Telling(root, told.trigger, elements), fronted)

    def _matrix(self, role: str) -> Telling:
        """Le roi réussit à attaquer la ville."""
        lemma, mark = self.rng.choice(_PASSIVE_MATRIX if self.passive else _MATRIX)
        subject, fronted = self._subject(), self._fronted(role)
        mood = "past infinitive" if lemma == "sembler" else "infinitive"
        told = verb_phrase(self.event, self._form(mood).agreeing(subject), self.wording, without=(role,))
        if mark in ("à", "par"):
            told.root.open("mark", Node(mark, "ADP"))
        root = Node(finite(lemma, "imperfect" if lemma == "sembler" else "past", subject.number), "VERB", lemma)
        root.open("nsubj", subject).close("xcomp", told.root)
        return self._done(told, root, subject, role, fronted)

    def _coordinated(self, role: str) -> Telling | None:
        """Le roi franchit le fleuve et attaqua la ville."""
        subject, fronted = self._subject(), self._fronted(role)
        other = self._other(subject.number, acts=True)
        if other is None:
            return None
        form = Form(self.passive).agreeing(subject)
        told = verb_phrase(self.event, form, self.wording, without=(role,))
        told.root.open("cc", Node("et", "CCONJ"))
        other.open("nsubj", subject).close("conj", told.root)
        return self._done(told, other, subject, role, fronted)

    def _after(self, role: str) -> Telling | None:
        """Après avoir attaqué la ville, le roi franchit le fleuve."""
        subject = self._subject()
        other = self._other(subject.number, acts=True)
        if other is None:
            return None
        mood, mark = ("infinitive", "avant_de") if self.rng.random() < 0.4 else ("past infinitive", "après")
        told = verb_phrase(self.event, self._form(mood).agreeing(subject), self.wording)
        first, *rest = mark.split("_")
        marker = Node(first, "ADP")
        for word in rest:
            marker.close("fixed", Node(word, "ADP"))
        told.root.open("mark", marker)
        other.open("nsubj", subject)
        return self._done(told, other, subject, "", ("advcl", told.root))

    def _relative(self, role: str) -> Telling | None:
        """L'armée, qui attaqua la ville, jouissait d'une grande renommée."""
        subject = self._subject()
        other = self._other(subject.number, acts=False)
        if other is None:
            return None
        told = verb_phrase(self.event, self._form().agreeing(subject), self.wording)
        told.root.open("nsubj:pass" if self.passive else "nsubj", Node("qui", "PRON"))
        self._aside(subject, told.root, "acl:relcl")
        other.open("nsubj", subject)
        return self._done(told, other, subject, "")

    def _participle(self, role: str) -> Telling | None:
        """La ville, attaquée par l'armée en 1312, prospéra longtemps."""
        if not self.passive or len(self.event.fillers) < 2:
            return None
        subject = self._subject()
        other = self._other(subject.number, acts=False)
        if other is None:
            return None
        told = verb_phrase(self.event, self._form("participle").agreeing(subject), self.wording)
        self._aside(subject, told.root, "acl")
        other.open("nsubj", subject)
        return self._done(told, other, subject, "")

    def _object_relative(self, role: str) -> Telling | None:
        """La ville, que l'armée avait attaquée, prospéra longtemps."""
        if self.passive or "theme" not in self.event.fillers or self.event.unit.of:
            return None
        theme = self.wording.tree(self.event.fillers["theme"])
        other = self._other(theme.number, acts=False, role="theme")
        if other is None:
            return None
        subject = self._subject()
        form = Form(False, self.rng.choice(("perfect", "pluperfect"))).agreeing(subject)
        told = verb_phrase(self.event, form, self.wording, without=("theme",), object_before=theme)
        told.root.open("nsubj", subject).open("obj", Node("que", "PRON"))
        self._aside(theme, told.root, "acl:relcl")
        other.open("nsubj", theme)
        return sentence(Telling(other, told.trigger, {**told.elements, "agent": subject, "theme": theme}))

    def _aside(self, head: Node, clause: Node, relation: str) -> None:
        clause.apart = True
        clause.open("punct", Node(",", "PUNCT")).close("punct", Node(",", "PUNCT"))
        head.close(relation, clause)

    def _other(self, number: str, *, acts: bool, role: str = "") -> Node | None:
        """Something else that the subject (or `role`) did (`acts`) or was."""
        category = _CATEGORIES.get(self.event.fillers[role or self.subject].kind)
        if category is None:
            return None
        bank = fillers()
        options = bank["acts"] if acts and category == "people" else bank["renown"][category]
        if acts:
            options = [each for each in options if ":vi " not in each]
        lemma = self.event.unit.lemma
        return predicate(self.rng.choice([each for each in options if not each.startswith(f"{lemma}:")]), number)
