"""Sentences whose trigger is a verb."""

import random
from collections.abc import Callable

from sample.french.bank import read
from sample.french.events import ADJUNCTS, Event, Form, Telling, Wording, sentence, verb_phrase
from sample.french.morphology import finite
from sample.french.phrases import adposition, predicate
from sample.french.tree import Node

# Verbs that take an infinitive of the same subject, with what stands before it.
_MATRIX = (("réussir", "à"), ("finir", "par"), ("devoir", ""), ("pouvoir", ""), ("commencer", "par"))
_PASSIVE_MATRIX = (("finir", "par"), ("devoir", ""), ("pouvoir", ""), ("sembler", ""))
# Mostly compound tenses, since questions have the same participle.
_TENSES = ("past",) * 3 + ("perfect",) * 4 + ("pluperfect",) * 2
# Kinds with predicates of their own, for the main clause of a sentence that tells the event in another clause.
_CATEGORIES = {
    **dict.fromkeys(("person", "band", "army", "workers"), "people"),
    **dict.fromkeys(("town", "region"), "place"),
    **dict.fromkeys(("monument", "building", "object", "document", "text", "art", "component"), "thing"),
}


class Verbal:
    """Sentences whose trigger is the event's verb; a pronoun may replace the agent."""

    def __init__(self, event: Event, wording: Wording, rng: random.Random, pronoun: Node | None = None) -> None:
        self.event, self.wording, self.rng, self.pronoun = event, wording, rng, pronoun
        roles, self.passive = event.fillers, False
        if "theme" in roles and not event.unit.of:
            self.passive = "agent" not in roles or (pronoun is None and rng.random() < 0.3)
        self.role, self.relation = ("theme", "nsubj:pass") if self.passive else ("agent", "nsubj")  # of the subject
        self.tense = "imperfect" if event.frame.name == "Origin" else rng.choice(_TENSES)

    def tell(self, role: str, *, far: bool) -> Telling | None:
        """Make a sentence with an element two or more arcs from the trigger (`far`), or one; None: there is no way."""
        event = self.event
        is_origin = event.frame.name == "Origin"
        if self.role not in event.fillers or ("theme" in event.frame.elements and "theme" not in event.fillers):
            return None
        ways: list[Callable[[str], Telling | None]] = []
        if far:
            located = role == "third" and event.fillers[role].is_located
            if role == self.role or role in ADJUNCTS or located:
                ways += [self._tell_matrix] if role == "reason" else [self._tell_matrix, self._tell_coordinated]
            if role == self.role and self.pronoun is None:
                ways.append(self._tell_after)
            return self.rng.choice(ways)(role) if ways and not is_origin else None
        ways += [self._tell_simple] * 3
        if self.pronoun is None and not is_origin:
            ways += [self._tell_relative, self._tell_participle, self._tell_object_relative]
            if role not in (self.role, *ADJUNCTS):
                ways.append(self._tell_matrix)
        self.rng.shuffle(ways)
        return next((clause for way in ways if (clause := way("")) is not None), None)

    def _subject(self) -> Node:
        return self.pronoun or self.wording.tree(self.event.fillers[self.role])

    def _verb(self, subject: Node, mood: str = "finite", without: str = "") -> Telling:
        form = Form(self.passive, self.tense, mood).agreeing(subject)
        return verb_phrase(self.event, form, self.wording, without=(without,))

    def _end(self, root: Node, clause: Telling, subject: Node, role: str = "") -> Telling:
        """End the sentence, with an adjunct or the third element at the front if it is `role`."""
        fronted = None
        if role in ADJUNCTS:
            fronted = self.wording.adjunct(role, self.event.fillers[role], noun=False)
        elif role == "third":
            fronted = ("obl:mod", self.wording.tree(self.event.fillers[role]))
        elements = {self.role: subject} | ({role: fronted[1]} if fronted else {})
        return sentence(root, clause, fronted, **elements)

    def _tell_simple(self, _: str) -> Telling:
        """Le roi attaqua la ville; en 1312, le roi attaqua la ville."""
        front = [role for role in ("time", "place") if role in self.event.fillers]
        role = self.rng.choice(front) if front and self.rng.random() < 0.45 else ""
        subject = self._subject()
        clause = self._verb(subject, without=role)
        clause.root.open(self.relation, subject)
        return self._end(clause.root, clause, subject, role)

    def _tell_matrix(self, role: str) -> Telling:
        """Le roi réussit à attaquer la ville."""
        lemma, mark = self.rng.choice(_PASSIVE_MATRIX if self.passive else _MATRIX)
        mood, tense = ("past infinitive", "imperfect") if lemma == "sembler" else ("infinitive", "past")
        subject = self._subject()
        clause = self._verb(subject, mood, role)
        if mark:
            clause.root.open("mark", Node(mark, "ADP"))
        root = Node(finite(lemma, tense, subject.number), "VERB", lemma)
        root.open("nsubj", subject).close("xcomp", clause.root)
        return self._end(root, clause, subject, role)

    def _tell_coordinated(self, role: str) -> Telling | None:
        """Le roi franchit le fleuve et attaqua la ville."""
        subject = self._subject()
        other = self._say_other(subject, acts=True)
        if other is None:
            return None
        form = Form(self.passive).agreeing(subject)
        clause = verb_phrase(self.event, form, self.wording, without=(role,))
        other.close("conj", clause.root.open("cc", Node("et", "CCONJ")))
        return self._end(other, clause, subject, role)

    def _tell_after(self, _: str) -> Telling | None:
        """Après avoir attaqué la ville, le roi franchit le fleuve."""
        subject = self._subject()
        other = self._say_other(subject, acts=True)
        if other is None:
            return None
        mood, mark = ("infinitive", "avant_de") if self.rng.random() < 0.4 else ("past infinitive", "après")
        clause = self._verb(subject, mood)
        clause.root.open("mark", adposition(mark))
        return sentence(other, clause, ("advcl", clause.root), **{self.role: subject})

    def _tell_relative(self, _: str) -> Telling | None:
        """L'armée, qui attaqua la ville, jouissait d'une grande renommée."""
        subject = self._subject()
        other = self._say_other(subject, acts=False)
        if other is None:
            return None
        clause = self._verb(subject)
        clause.root.open(self.relation, Node("qui", "PRON"))
        _set_apart(subject, clause.root, "acl:relcl")
        return self._end(other, clause, subject)

    def _tell_participle(self, _: str) -> Telling | None:
        """La ville, attaquée par l'armée en 1312, prospéra longtemps."""
        if not self.passive or len(self.event.fillers) < 2:
            return None
        subject = self._subject()
        other = self._say_other(subject, acts=False)
        if other is None:
            return None
        clause = self._verb(subject, "participle")
        _set_apart(subject, clause.root, "acl")
        return self._end(other, clause, subject)

    def _tell_object_relative(self, _: str) -> Telling | None:
        """La ville, que l'armée avait attaquée, prospéra longtemps."""
        if self.passive or "theme" not in self.event.fillers or self.event.unit.of:
            return None
        theme = self.wording.tree(self.event.fillers["theme"])
        other = self._say_other(theme, acts=False, role="theme")
        if other is None:
            return None
        subject = self._subject()
        form = Form(False, self.rng.choice(("perfect", "pluperfect"))).agreeing(subject)
        clause = verb_phrase(self.event, form, self.wording, without=("theme",), object_before=theme)
        clause.root.open("nsubj", subject).open("obj", Node("que", "PRON"))
        _set_apart(theme, clause.root, "acl:relcl")
        return sentence(other, clause, agent=subject, theme=theme)

    def _say_other(self, subject: Node, *, acts: bool, role: str = "") -> Node | None:
        """Make another clause about a subject (the filler of `role`): what it did (`acts`) or was."""
        category = _CATEGORIES.get(self.event.fillers[role or self.role].kind)
        if category is None:
            return None
        options = read("fillers")["acts"] if acts and category == "people" else read("fillers")["renown"][category]
        own = f"{self.event.unit.lemma}:"
        options = [option for option in options if not option.startswith(own) and not (acts and ":vi " in option)]
        return predicate(self.rng.choice(options), subject.number).open("nsubj", subject)


def _set_apart(head: Node, clause: Node, relation: str) -> None:
    """Attach a clause between commas behind the noun that it modifies."""
    clause.apart = True
    clause.open("punct", Node(",", "PUNCT")).close("punct", Node(",", "PUNCT"))
    head.close(relation, clause)
